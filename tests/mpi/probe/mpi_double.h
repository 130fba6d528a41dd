/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces MPI in a test of a part of nodewise-probe: the test defines how
 * messages are sent and received, and says here which requests stay pending.
 * Nothing is started by a launcher, and MPI is not initialised. */
#ifndef NW_TEST_MPI_DOUBLE_H
#define NW_TEST_MPI_DOUBLE_H

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* A message whose sending never ends: MPI may read it at any time, even after
 * MPI_Request_free, so that its memory must never be freed. */
struct mpi_double_pending {
    const void *memory;
    char copy[256];
    size_t bytes;
};
static struct mpi_double_pending mpi_double_pending[16];
static int mpi_double_pending_count;

/* Two kinds of requests are enough, besides MPI_REQUEST_NULL. */
#define MPI_DOUBLE_DONE ((MPI_Request)(uintptr_t)0x51)
#define MPI_DOUBLE_NEVER ((MPI_Request)(uintptr_t)0x52)

static MPI_Request mpi_double_never(const void *memory, size_t bytes)
{
    struct mpi_double_pending *it =
        &mpi_double_pending[mpi_double_pending_count++];

    it->memory = memory;
    it->bytes = bytes;
    memcpy(it->copy, memory, bytes);
    return MPI_DOUBLE_NEVER;
}

/* Returns true if no pending message was changed. */
static bool mpi_double_is_unchanged(void)
{
    for (int i = 0; i < mpi_double_pending_count; i++)
        if (memcmp(mpi_double_pending[i].memory, mpi_double_pending[i].copy,
                   mpi_double_pending[i].bytes) != 0)
            return false;
    return true;
}

int MPI_Cancel(MPI_Request *request)
{
    (void)request;
    return MPI_SUCCESS;
}

int MPI_Request_free(MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

#endif
