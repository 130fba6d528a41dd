/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks that all ranks see the same machine, and whether the model would
 * choose other methods than those in use. */
#include "halo/exchange/model_check.h"
#include "halo/exchange/yielding_collectives.h"
#include "halo/exchange/groups.h"

#include "base/hash.h"

#include <stdlib.h>

/* Hashes the paths that the model uses. */
static uint64_t mix_roads(const nw_halo *halo,
                          const struct nw_halo_paths *paths)
{
    uint64_t hash = NW_HASH_START;
    int32_t count = halo->layout->piece_count;

    for (int32_t i = 0; paths->topology && i < count; i++) {
        struct nw_halo_path_parameters path = nw_halo_path_of(paths, 0, i);

        hash = nw_hash(hash, &path, sizeof path);
        path = nw_halo_path_of(paths, i, (i + 1) % count);
        hash = nw_hash(hash, &path, sizeof path);
    }
    return hash;
}

nw_status nw_halo_model_check_open(nw_halo *halo, const char *source,
                                   struct nw_halo_paths *out)
{
    struct nw_halo_paths paths = {0}, none = {.layout = halo->layout};
    uint64_t own[2] = {0}, most[2];
    nw_status status = nw_halo_agree(
        halo->comm, nw_halo_paths_open(halo->layout, source, &paths));
    int code;

    if (!status) {
        own[0] = mix_roads(halo, &paths);
        own[1] = ~own[0];
        code =
            nw_halo_allreduce(halo->comm, own, most, 2, MPI_UINT64_T, MPI_MAX);
        status = nw_halo_mpi(code, "compare machines");
    }
    if (status || most[0] != ~most[1]) {
        nw_halo_paths_close(&paths);
        paths = none;
    }
    *out = paths;
    return status;
}

nw_status nw_halo_model_check_differs(const nw_halo *halo, bool *out)
{
    const struct nw_halo_method_ops **ops = NULL;
    struct nw_halo_scheme model = {.modelled = true};
    int own = 0, any = 0;
    nw_status status =
        nw_alloc(halo->transfers.count, sizeof(const void *), &ops);

    if (!status)
        status = nw_halo_groups_methods(halo, &model, ops);
    for (size_t i = 0; !status && i < halo->connection_count; i++) {
        const struct nw_halo_connection *connection = &halo->connection[i];
        size_t first = (size_t)(connection->transfer - halo->transfers.item);

        for (size_t k = 0; k < connection->count; k++)
            own |= ops[first + k] && ops[first + k] != connection->ops;
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
