/* SPDX-License-Identifier: BSD-3-Clause */
/* A library that is preloaded into MPICH programs on simulated hosts, together
 * with mpich_yields.c. MPICH 4.0.2 over UCX's TCP hangs in MPI_Finalize if one
 * rank still disconnects from another rank that already waits for all ranks.
 * This library therefore makes the disconnection do nothing. A program must end
 * with a barrier, so that no message is in flight. */
#include <stddef.h>

void *ucp_disconnect_nb(void *endpoint);

void *ucp_disconnect_nb(void *endpoint)
{
    (void)endpoint;
    return NULL;
}
