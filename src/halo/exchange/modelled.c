/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine as all ranks see it, and whether the model would choose otherwise
 * than was chosen. */
#include "halo/exchange/modelled.h"
#include "halo/exchange/patience.h"
#include "halo/exchange/groups.h"

#include "base/hash.h"

#include <stdlib.h>

/* Of everything that the model looks up. */
static uint64_t mix_roads(const nw_halo *halo,
                          const struct nw_halo_roads *roads)
{
    uint64_t hash = NW_HASH_START;
    int32_t count = halo->layout->piece_count;

    for (int32_t i = 0; roads->topology && i < count; i++) {
        struct nw_halo_road road = nw_halo_road_of(roads, 0, i);

        hash = nw_hash(hash, &road, sizeof road);
        road = nw_halo_road_of(roads, i, (i + 1) % count);
        hash = nw_hash(hash, &road, sizeof road);
    }
    return hash;
}

nw_status nw_halo_modelled_open(nw_halo *halo, const char *source,
                                struct nw_halo_roads *out)
{
    struct nw_halo_roads roads = {0}, none = {.layout = halo->layout};
    uint64_t own[2] = {0}, most[2];
    nw_status status = nw_halo_agree(
        halo->comm, nw_halo_roads_open(halo->layout, source, &roads));
    int code;

    if (!status) {
        own[0] = mix_roads(halo, &roads);
        own[1] = ~own[0];
        code =
            nw_halo_allreduce(halo->comm, own, most, 2, MPI_UINT64_T, MPI_MAX);
        status = nw_halo_mpi(code, "compare machines");
    }
    if (status || most[0] != ~most[1]) {
        nw_halo_roads_close(&roads);
        roads = none;
    }
    *out = roads;
    return status;
}

nw_status nw_halo_modelled_differs(const nw_halo *halo, bool *out)
{
    const struct nw_halo_method_ops **ops = NULL;
    struct nw_halo_scheme model = {.modelled = true};
    int own = 0, any = 0;
    nw_status status =
        nw_alloc(halo->transfers.count, sizeof(const void *), &ops);

    if (!status)
        status = nw_halo_groups_methods(halo, &model, ops);
    for (size_t i = 0; !status && i < halo->channel_count; i++) {
        const struct nw_halo_channel *channel = &halo->channel[i];
        size_t first = (size_t)(channel->transfer - halo->transfers.item);

        for (size_t k = 0; k < channel->count; k++)
            own |= ops[first + k] && ops[first + k] != channel->ops;
    }
    free(ops);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status = nw_halo_mpi(
            nw_halo_allreduce(halo->comm, &own, &any, 1, MPI_INT, MPI_MAX),
            "compare methods");
    *out = any;
    return status;
}
