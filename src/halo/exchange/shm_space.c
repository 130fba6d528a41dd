/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that a node has enough shared memory for its ranks before it is
 * allocated. MPI allocates it in /dev/shm, which is small in containers. If the
 * space does not suffice, some ranks hang in Open MPI after the first rank has
 * failed, and MPICH ends with SIGBUS. */
#include "halo/exchange/exchange.h"
#include "halo/exchange/yielding_collectives.h"

#include <sys/statvfs.h>

#define FOLDER "/dev/shm"
/* bytes that MPI itself uses in a window for each rank: a few pages */
#define OWN ((unsigned long long)16 << 10)

nw_status nw_halo_shm_space_find(const nw_halo *halo, size_t bytes,
                                 struct nw_halo_shm_space *out)
{
    unsigned long long own = bytes + OWN, need = 0, left = ~0ull;
    struct statvfs about;
    int code = nw_halo_allreduce(halo->node_comm, &own, &need, 1,
                                 MPI_UNSIGNED_LONG_LONG, MPI_SUM);

    if (!statvfs(FOLDER, &about))
        left = (unsigned long long)about.f_bavail * about.f_frsize;
    own = left;
    if (code == MPI_SUCCESS)
        code = nw_halo_allreduce(halo->node_comm, &own, &left, 1,
                                 MPI_UNSIGNED_LONG_LONG, MPI_MIN);
    out->need = need;
    out->left = left;
    return nw_halo_mpi(code, "look for shared memory");
}

nw_status nw_halo_shm_space_need(const nw_halo *halo, size_t bytes)
{
    struct nw_halo_shm_space room;
    nw_status status = nw_halo_shm_space_find(halo, bytes, &room);

    if (status || room.need <= room.left)
        return status;
    return nw_fail(NW_ENOMEM,
                   "the halos of a node's ranks need %llu KiB in " FOLDER
                   ", but %llu KiB are free: remove files of ended jobs, or "
                   "make it larger (docker run --shm-size)",
                   (room.need + 1023) >> 10, room.left >> 10);
}
