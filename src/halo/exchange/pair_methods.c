/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the method of each transfer in a scheme. Transfers of one phase between
 * the same two ends share a method. An end is a piece for GPU memory, and a
 * rank for host memory. Both ends compute the methods from the same data, so
 * they get the same result. */
#include "halo/exchange/choose.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"

/* Returns the index of the first transfer that shares the method of item[i]. */
static size_t pair_methods_first(const nw_halo *halo,
                                 const struct nw_halo_transfer *item, size_t i)
{
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
 * fastest for the transfers that share the method of item[first], the first of
 * them. Returns false if the model knows none of the methods. */
static bool pair_methods_model(const nw_halo *halo,
                               const struct nw_halo_transfer *item,
                               size_t first, size_t count, uint32_t methods,
                               enum nw_halo_method *out)
{
    struct nw_halo_traffic traffic =
        pair_methods_traffic(halo, nw_halo_pair_of(halo, &item[first]));

    for (size_t i = first; i < count; i++)
        if (pair_methods_first(halo, item, i) == first)
            pair_methods_add(halo, &item[i], &traffic);
    return nw_halo_model_best(methods, &traffic, out);
}

/* Returns the method of the transfers that share it with transfer `first`, the
 * first of them; NULL if no method fits. */
static const struct nw_halo_method_ops *pair_methods_choose(const nw_halo *halo,
                                                            size_t first)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    struct nw_halo_pair pair = nw_halo_pair_of(halo, &item[first]);
    uint32_t fits = nw_halo_fitting(halo, &pair);
    uint32_t methods =
        fits & halo->scheme.methods[nw_halo_class_of(halo, &pair)];
    enum nw_halo_method method;

    if (halo->scheme.modelled &&
        pair_methods_model(halo, item, first, halo->transfers.count, fits,
                           &method))
        return nw_halo_methods[method];
    methods = methods ? methods : fits;
    return methods ? nw_halo_methods[__builtin_ctz(methods)] : NULL;
}

void nw_halo_pair_methods(const nw_halo *halo,
                          const struct nw_halo_method_ops **out)
{
    const struct nw_halo_transfer *item = halo->transfers.item;

    for (size_t i = 0; i < halo->transfers.count; i++) {
        size_t first = pair_methods_first(halo, item, i);

        out[i] = first < i ? out[first] : pair_methods_choose(halo, i);
    }
}

nw_status nw_halo_is_modelled(const nw_halo *halo, bool *out)
{
    int own = 0, any = 0;
    nw_status status;

    for (size_t i = 0; i < halo->connection_count; i++) {
        const struct nw_halo_connection *connection = &halo->connection[i];
        const struct nw_halo_transfer *item = connection->transfer;

        for (size_t k = 0; k < connection->count; k++) {
            struct nw_halo_pair pair = nw_halo_pair_of(halo, &item[k]);
            enum nw_halo_method method;

            if (pair_methods_first(halo, item, k) == k &&
                pair_methods_model(halo, item, k, connection->count,
                                   nw_halo_fitting(halo, &pair), &method))
                own |= method != connection->ops->id;
        }
    }
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
