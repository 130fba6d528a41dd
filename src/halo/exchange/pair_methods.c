/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the method of each transfer in a scheme. Transfers of one phase between
 * the same two ends share a method. An end is a piece for GPU memory, and a
 * rank for host memory. Both ends compute the methods from the same data, so
 * they get the same result. */
#include "halo/exchange/choose.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"

/* Returns the index of the first transfer that shares the method of transfer
 * `i`. */
static size_t pair_methods_first(const nw_halo *halo, size_t i)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    const struct nw_halo_piece *piece = halo->layout->piece;
    const struct nw_halo_transfer *one = &item[i];
    size_t first = 0;

    for (; first < i; first++) {
        const struct nw_halo_transfer *at = &item[first];

        if (at->phase != one->phase)
            continue;
        if (halo->gpu_memory ? at->from == one->from && at->to == one->to
                             : piece[at->from].rank == piece[one->from].rank &&
                                   piece[at->to].rank == piece[one->to].rank)
            break;
    }
    return first;
}

static struct nw_halo_traffic pair_methods_traffic(const nw_halo *halo,
                                                   struct nw_halo_pair pair)
{
    const uint64_t *where = halo->gpu_memory ? halo->gpus->where : NULL;

    return (struct nw_halo_traffic){
        .gpu = halo->gpu_memory,
        .same_rank = pair.same_rank,
        .same_node = pair.same_node,
        .same_gpu = where && where[pair.from] == where[pair.to],
        .path = nw_halo_path_of(halo->paths, pair.from, pair.to),
    };
}

static void pair_methods_add(const nw_halo *halo,
                             const struct nw_halo_transfer *transfer,
                             struct nw_halo_traffic *traffic)
{
    for (int32_t i = 0; i < halo->joined_count; i++) {
        const struct nw_halo_field *field = &halo->field[i];

        nw_halo_traffic_add(traffic, transfer, field->bytes);
        traffic->gaps = traffic->gaps || field->bytes != field->stride;
    }
}

/* Sets *out to the method of `methods` (bits) that the model predicts to be
 * fastest for the transfers that share the method of transfer `first`, the
 * first of them. Returns false if the model knows none of the methods. */
static bool pair_methods_model(const nw_halo *halo, size_t first,
                               uint32_t methods, enum nw_halo_method *out)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    struct nw_halo_traffic traffic =
        pair_methods_traffic(halo, nw_halo_pair_of(halo, &item[first]));

    for (size_t i = first; i < halo->transfers.count; i++)
        if (pair_methods_first(halo, i) == first)
            pair_methods_add(halo, &item[i], &traffic);
    return nw_halo_model_best(methods, &traffic, out);
}

/* Returns the method, in a scheme, of the transfers that share it with transfer
 * `first`, the first of them; NULL if no method fits. */
static const struct nw_halo_method_ops *
pair_methods_choose(const nw_halo *halo, const struct nw_halo_scheme *scheme,
                    size_t first)
{
    struct nw_halo_pair pair =
        nw_halo_pair_of(halo, &halo->transfers.item[first]);
    uint32_t fits = nw_halo_fitting(halo, &pair);
    uint32_t methods = fits & scheme->methods[nw_halo_class_of(halo, &pair)];
    enum nw_halo_method method;

    if (scheme->modelled && pair_methods_model(halo, first, fits, &method))
        return nw_halo_methods[method];
    methods = methods ? methods : fits;
    return methods ? nw_halo_methods[__builtin_ctz(methods)] : NULL;
}

void nw_halo_pair_methods(const nw_halo *halo,
                          const struct nw_halo_method_ops **out)
{
    for (size_t i = 0; i < halo->transfers.count; i++) {
        size_t first = pair_methods_first(halo, i);

        out[i] = first < i ? out[first]
                           : pair_methods_choose(halo, &halo->scheme, i);
    }
}

nw_status nw_halo_is_modelled(const nw_halo *halo, bool *out)
{
    struct nw_halo_scheme model = halo->scheme;
    int own = 0, any = 0;
    nw_status status;

    model.modelled = true;
    for (size_t i = 0; i < halo->transfers.count; i++)
        own |= pair_methods_first(halo, i) == i &&
               pair_methods_choose(halo, &model, i) !=
                   pair_methods_choose(halo, &halo->scheme, i);
    status = nw_halo_mpi(
        nw_halo_allreduce(halo->comm, &own, &any, 1, MPI_INT, MPI_MAX),
        "compare methods");
    *out = !any;
    return status;
}

double nw_halo_connection_seconds(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_traffic traffic =
        pair_methods_traffic(halo, nw_halo_pair_of(halo, connection->transfer));

    for (size_t i = 0; i < connection->count; i++)
        pair_methods_add(halo, &connection->transfer[i], &traffic);
    return nw_halo_model(connection->ops->id, &traffic);
}
