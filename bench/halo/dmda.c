/* SPDX-License-Identifier: BSD-3-Clause */
/* PETSc's distributed arrays: each cell has two doubles, which are as many
 * bytes, and the ghost cells of a local vector are updated. */
#include "peers.h"

#include <petscdmda.h>

struct dmda {
    DM grid;
    Vec local, other;
};

static void *open(const struct setup *setup)
{
    struct dmda *dmda = calloc(1, sizeof *dmda);
    const DMBoundaryType around = DM_BOUNDARY_PERIODIC;
    const PetscInt *d =
        (const PetscInt[]){setup->dims[0], setup->dims[1], setup->dims[2]};
    PetscBool running;

    if (PetscInitialized(&running) || !running)
        if (PetscInitializeNoArguments())
            return NULL;
    if (DMDACreate3d(setup->grid, around, around, around, DMDA_STENCIL_BOX,
                     setup->n * d[2], setup->n * d[1], setup->n * d[0], d[2],
                     d[1], d[0], QUANTITIES / 2, setup->radius, NULL, NULL,
                     NULL, &dmda->grid) ||
        DMSetUp(dmda->grid) || DMCreateLocalVector(dmda->grid, &dmda->local) ||
        DMCreateLocalVector(dmda->grid, &dmda->other)) {
        free(dmda);
        return NULL;
    }
    return dmda;
}

static void exchange(void *state)
{
    struct dmda *dmda = state;

    DMLocalToLocalBegin(dmda->grid, dmda->local, INSERT_VALUES, dmda->local);
    DMLocalToLocalEnd(dmda->grid, dmda->local, INSERT_VALUES, dmda->local);
}

static void close_dmda(void *state)
{
    struct dmda *dmda = state;

    VecDestroy(&dmda->local);
    VecDestroy(&dmda->other);
    DMDestroy(&dmda->grid);
    free(dmda);
}

const struct peer peer_dmda = {"PETSc DMDA", open, NULL, exchange, close_dmda};
