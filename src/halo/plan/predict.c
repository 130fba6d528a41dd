/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts the method and the time of an exchange for every pair of pieces of a
 * layout, without an MPI job. The time is that of the model; the method is that
 * of the model or of the fixed order, as the options ask. */
#include "halo/plan/model.h"

#include "base/array.h"

#include <stdlib.h>

struct predicting {
    const nw_halo_layout *layout;
    const struct nw_halo_options *options;
    struct nw_halo_paths paths;
    /* sorted by source, then target piece */
    struct nw_halo_transfers transfers;
};

static int by_pair(const void *a, const void *b)
{
    const struct nw_halo_transfer *x = a, *y = b;

    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return (x->to > y->to) - (x->to < y->to);
}

static int32_t slots_per_rank(const struct predicting *work)
{
    return work->options->pieces_per_rank > 0 ? work->options->pieces_per_rank
                                              : 1;
}

static struct nw_halo_traffic traffic_of(const struct predicting *work,
                                         int32_t from, int32_t to)
{
    const struct nw_halo_piece *a = &work->layout->piece[from];
    const struct nw_halo_piece *b = &work->layout->piece[to];
    int32_t each = slots_per_rank(work);
    bool same = a->node == b->node;

    return (struct nw_halo_traffic){
        .gpu = work->layout->gpus,
        .same_node = same,
        .same_rank = same && a->slot / each == b->slot / each,
        .same_gpu = same && a->slot == b->slot,
        .path = nw_halo_path_of(&work->paths, from, to),
    };
}

/* Returns the methods (bits) that may fit a pair, for host and for GPU memory.
 * NW_HALO_AWARE is left out, since only a running job knows whether its MPI
 * accepts GPU memory. NW_HALO_NODES is left out, since it joins pairs. */
static uint32_t predict_fitting(const struct nw_halo_traffic *traffic)
{
    uint32_t bits = 0;

    if (traffic->same_gpu)
        bits |= NW_HALO_BIT(NW_HALO_KERNEL);
    if (traffic->same_rank)
        return bits | NW_HALO_BIT(NW_HALO_SELF) | NW_HALO_BIT(NW_HALO_PEER) |
               NW_HALO_BIT(NW_HALO_WRITE) | NW_HALO_BIT(NW_HALO_PEER3D);
    if (traffic->same_node)
        bits |= NW_HALO_BIT(NW_HALO_DIRECT) | NW_HALO_BIT(NW_HALO_SHARED) |
                NW_HALO_BIT(NW_HALO_ATTACH) | NW_HALO_BIT(NW_HALO_WRITE) |
                NW_HALO_BIT(NW_HALO_PEER3D) | NW_HALO_BIT(NW_HALO_COLOCATED);
    return bits | NW_HALO_BIT(NW_HALO_PACKED) | NW_HALO_BIT(NW_HALO_TYPES) |
           NW_HALO_BIT(NW_HALO_STAGED) | NW_HALO_BIT(NW_HALO_PINNED);
}

static void predict_decide(const struct predicting *work,
                           const struct nw_halo_traffic *traffic,
                           struct nw_halo_prediction *out)
{
    uint32_t allowed = work->options->methods ? work->options->methods : ~0u;

    out->method = nw_halo_layout_method(work->layout, out->from, out->to,
                                        slots_per_rank(work));
    if (work->options->choice != NW_HALO_CHOOSE_ORDER)
        nw_halo_model_best(predict_fitting(traffic) & allowed, traffic,
                           &out->method);
    out->bytes = (uint64_t)traffic->bytes;
    out->seconds = nw_halo_model(out->method, traffic);
}

/* Predicts method, bytes and time for one pair of pieces, whose transfers begin
 * at index `first`. Returns the index of the first transfer of the next pair.
 */
static size_t predict_pair(const struct predicting *work, size_t first,
                           struct nw_halo_prediction *out)
{
    const struct nw_halo_transfer *item = work->transfers.item;
    struct nw_halo_traffic traffic =
        traffic_of(work, item[first].from, item[first].to);
    size_t i = first;

    for (int32_t q = 0; q < work->options->quantity_count; q++) {
        const struct nw_halo_quantity *quantity = &work->options->quantity[q];

        traffic.gaps = traffic.gaps || (quantity->stride &&
                                        quantity->stride != quantity->bytes);
    }
    for (; i < work->transfers.count && !by_pair(&item[i], &item[first]); i++)
        for (int32_t q = 0; q < work->options->quantity_count; q++)
            nw_halo_traffic_add(&traffic, &item[i],
                                work->options->quantity[q].bytes);
    *out = (struct nw_halo_prediction){.from = item[first].from,
                                       .to = item[first].to};
    predict_decide(work, &traffic, out);
    return i;
}

static size_t predict_count_pairs(const struct nw_halo_transfers *transfers)
{
    size_t count = transfers->count > 0;

    for (size_t i = 1; i < transfers->count; i++)
        count += by_pair(&transfers->item[i - 1], &transfers->item[i]) != 0;
    return count;
}

static nw_status predict_run(const struct predicting *work,
                             struct nw_halo_prediction **out, size_t *count)
{
    struct nw_halo_prediction *pair = NULL;
    size_t pairs = predict_count_pairs(&work->transfers), at = 0;
    nw_status status = nw_alloc(pairs, sizeof *pair, &pair);

    if (status)
        return status;
    for (size_t i = 0; i < pairs; i++)
        at = predict_pair(work, at, &pair[i]);
    *out = pair;
    *count = pairs;
    return NW_OK;
}

nw_status nw_halo_layout_predict(const nw_halo_layout *layout,
                                 const struct nw_halo_options *options,
                                 struct nw_halo_prediction **out, size_t *count)
{
    struct predicting work = {.layout = layout, .options = options};
    struct nw_halo_wanted all = {.layout = layout, .rank = -1};
    nw_status status = nw_halo_transfers_find(&all, &work.transfers);

    if (!status)
        status = nw_halo_paths_open(layout, options->topology, &work.paths);
    if (!status) {
        if (work.transfers.count) /* without transfers, the array is NULL */
            qsort(work.transfers.item, work.transfers.count,
                  sizeof *work.transfers.item, by_pair);
        status = predict_run(&work, out, count);
    }
    nw_halo_paths_close(&work.paths);
    nw_halo_transfers_fini(&work.transfers);
    return status;
}
