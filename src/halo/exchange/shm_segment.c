/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that the ranks of a node share, for counters and packed halos. While
 * connections are opened, they reserve parts of the segment of their rank. Then
 * all segments are allocated together, since this is collective. */
#include "halo/exchange/exchange.h"
#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>
#include <string.h>

#define LINE ((size_t)64)

struct segment {
    size_t bytes; /* handed out so far of this rank's segment; its size when it
                     is allocated */
    MPI_Win window;
    bool made;
    char **start; /* [node_size] start of each rank's segment */
};

static nw_status shm_segment_get(nw_halo *halo, struct segment **out)
{
    struct segment *segment = halo->segment;
    nw_status status = NW_OK;

    if (!segment) {
        status = nw_alloc(1, sizeof *segment, &segment);
        halo->segment = segment;
    }
    *out = segment;
    return status;
}

nw_status nw_halo_segment_reserve(nw_halo *halo, size_t bytes,
                                  struct nw_halo_spot *out)
{
    struct segment *segment;
    nw_status status = shm_segment_get(halo, &segment);

    if (status)
        return status;
    *out = (struct nw_halo_spot){.rank = halo->rank, .offset = segment->bytes};
    segment->bytes += (bytes + LINE - 1) / LINE * LINE;
    return NW_OK;
}

static char *on_line(char *at)
{
    return at + (LINE - (uintptr_t)at % LINE) % LINE;
}

static nw_status map_all(nw_halo *halo, struct segment *segment)
{
    int code = MPI_SUCCESS;

    for (int i = 0; code == MPI_SUCCESS && i < halo->node_size; i++) {
        MPI_Aint bytes;
        int unit;
        char *start = NULL;

        code = NW_PMPI(Win_shared_query)(segment->window, i, &bytes, &unit,
                                         &start);
        /* on_line shifts the start by the same bytes on all ranks, since whole
         * pages are mapped */
        segment->start[i] = on_line(start);
    }
    return nw_halo_mpi(code, "find shared memory");
}

nw_status nw_halo_share(nw_halo *halo, size_t bytes, char **out,
                        MPI_Win *window)
{
    MPI_Info info;
    int code = NW_PMPI(Info_create)(&info);

    if (code == MPI_SUCCESS) {
        NW_PMPI(Info_set)(info, "alloc_shared_noncontig", "true");
        code = NW_PMPI(Win_allocate_shared)((MPI_Aint)bytes, 1, info,
                                            halo->node_comm, out, window);
        NW_PMPI(Info_free)(&info);
    }
    if (code == MPI_SUCCESS)
        memset(*out, 0, bytes);
    else
        *window = MPI_WIN_NULL;
    return nw_halo_mpi(code, "share memory");
}

static nw_status shm_segment_make(nw_halo *halo, struct segment *segment)
{
    char *base = NULL;
    nw_status status =
        nw_halo_share(halo, segment->bytes + 2 * LINE, &base, &segment->window);
    int code;

    if (status)
        return status;
    segment->made = true;
    code = nw_halo_barrier(halo->node_comm);
    return code == MPI_SUCCESS ? map_all(halo, segment)
                               : nw_halo_mpi(code, "share memory");
}

void nw_halo_unshare(nw_halo *halo, MPI_Win *window)
{
    int own = halo->has_pending, any = 1;

    if (!halo->peer_lost &&
        nw_halo_allreduce(halo->node_comm, &own, &any, 1, MPI_INT, MPI_MAX) ==
            MPI_SUCCESS &&
        !any)
        NW_PMPI(Win_free)(window);
}

nw_status nw_halo_segment_make(nw_halo *halo)
{
    struct segment *segment = NULL;
    unsigned long long own, all = 0;
    nw_status status = shm_segment_get(halo, &segment);
    int code;

    if (!status)
        status = nw_alloc((size_t)halo->node_size, sizeof *segment->start,
                          &segment->start);
    status = nw_halo_agree(halo->node_comm, status);
    if (status)
        return status;
    own = segment->bytes;
    code = nw_halo_allreduce(halo->node_comm, &own, &all, 1,
                             MPI_UNSIGNED_LONG_LONG, MPI_SUM);
    if (code != MPI_SUCCESS || !all)
        return nw_halo_mpi(code, "share memory");
    status = nw_halo_shm_space_need(halo, segment->bytes + 2 * LINE);
    return status ? status : shm_segment_make(halo, segment);
}

void *nw_halo_segment_at(const nw_halo *halo, const struct nw_halo_spot *spot)
{
    const struct segment *segment = halo->segment;

    return segment->start[halo->node_rank_of[spot->rank]] + spot->offset;
}

void nw_halo_segment_free(nw_halo *halo)
{
    struct segment *segment = halo->segment;

    if (!segment)
        return;
    if (segment->made)
        nw_halo_unshare(halo, &segment->window);
    free(segment->start);
    free(segment);
    halo->segment = NULL;
}
