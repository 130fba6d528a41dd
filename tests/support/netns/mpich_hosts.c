/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded under MPICH programs on pretended hosts, with mpich_yields.c. MPICH
 * 4.0.2 over UCX's TCP hangs in MPI_Finalize where one rank still takes leave
 * of another that already waits for all: here nobody takes leave. A program
 * must end with a barrier, so that no message is under way.
 */
#include <stddef.h>

void *ucp_disconnect_nb(void *endpoint);

void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}
