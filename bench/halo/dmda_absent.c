/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces dmda.c if PETSc is not available, or is built for the other MPI
 * library. */
#include "peers.h"

static void *open(const struct setup *setup)
{
    (void)setup;
    return NULL;
}

const struct peer peer_dmda = {.name = "PETSc DMDA", .open = open};
