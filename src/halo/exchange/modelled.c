/* SPDX-License-Identifier: BSD-3-Clause */
/* Transfers grouped as channels hold them, pair by pair, and the model asked
 * for each group. Both ends ask with the same figures, and so get the same
 * answer. */
#include "halo/exchange/modelled.h"
#include "halo/exchange/classes.h"
#include "halo/exchange/gpus.h"

#include "base/hash.h"

#include <stdlib.h>
#include <string.h>

/* --- the machine, as all ranks see it --- */

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
            NW_PMPI(Allreduce)(own, most, 2, MPI_UINT64_T, MPI_MAX, halo->comm);
        status = nw_halo_mpi(code, "compare machines");
    }
    if (status || most[0] != ~most[1]) {
        nw_halo_roads_close(&roads);
        roads = none;
    }
    *out = roads;
    return status;
}

/* --- groups of transfers --- */

struct entry {
    int64_t key[3]; /* phase; from, to: pieces, or in host memory ranks */
    size_t number;  /* of the transfer */
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

static bool same_group(const struct entry *a, const struct entry *b)
{
    return !memcmp(a->key, b->key, sizeof a->key);
}

static struct entry entry_of(const nw_halo *halo, size_t number)
{
    const struct nw_halo_transfer *transfer = &halo->transfers.item[number];
    struct nw_halo_pair pair = nw_halo_pair_of(halo, transfer);
    bool pieces = halo->gpu_memory;

    return (struct entry){
        .key = {transfer->phase, pieces ? pair.from : pair.from_rank,
                pieces ? pair.to : pair.to_rank},
        .number = number,
    };
}

static struct nw_halo_traffic begin(const nw_halo *halo,
                                    const struct nw_halo_pair *pair)
{
    const uint64_t *where = halo->gpu_memory ? halo->gpus->where : NULL;

    return (struct nw_halo_traffic){
        .gpu = halo->gpu_memory,
        .same_rank = pair->same_rank,
        .same_node = pair->same_node,
        .same_gpu = where && where[pair->from] == where[pair->to],
        .road = nw_halo_road_of(halo->roads, pair->from, pair->to),
    };
}

static void add(const nw_halo *halo, const struct nw_halo_transfer *transfer,
                struct nw_halo_traffic *traffic)
{
    for (int32_t i = 0; i < halo->joined_count; i++) {
        const struct nw_halo_field *field = &halo->field[i];

        nw_halo_traffic_add(traffic, transfer, field->bytes);
        traffic->gaps = traffic->gaps || field->bytes != field->stride;
    }
}

static const struct nw_halo_method_ops *
best_of(const nw_halo *halo, const struct nw_halo_pair *pair,
        const struct nw_halo_traffic *traffic)
{
    enum nw_halo_method method;

    return nw_halo_model_best(nw_halo_fitting(halo, pair), traffic, &method)
               ? nw_halo_methods[method]
               : NULL;
}

/* The group that begins at `first`; returns where the next begins. */
static size_t choose_group(const nw_halo *halo, const struct entry *entry,
                           size_t first, const struct nw_halo_method_ops **out)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    struct nw_halo_pair pair =
        nw_halo_pair_of(halo, &item[entry[first].number]);
    struct nw_halo_traffic traffic = begin(halo, &pair);
    const struct nw_halo_method_ops *best;
    size_t last = first;

    for (; last < halo->transfers.count &&
           same_group(&entry[first], &entry[last]);
         last++)
        add(halo, &item[entry[last].number], &traffic);
    best = best_of(halo, &pair, &traffic);
    for (size_t i = first; i < last; i++)
        out[entry[i].number] = best;
    return last;
}

nw_status nw_halo_modelled_methods(const nw_halo *halo,
                                   const struct nw_halo_method_ops **out)
{
    size_t count = halo->transfers.count;
    struct entry *entry = NULL;
    nw_status status = nw_alloc(count, sizeof *entry, &entry);

    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        entry[i] = entry_of(halo, i);
    qsort(entry, count, sizeof *entry, compare);
    for (size_t i = 0; i < count;)
        i = choose_group(halo, entry, i, out);
    free(entry);
    return NW_OK;
}

nw_status nw_halo_modelled_differs(const nw_halo *halo, bool *out)
{
    const struct nw_halo_method_ops **ops = NULL;
    int own = 0, any = 0;
    nw_status status =
        nw_alloc(halo->transfers.count, sizeof(const void *), &ops);

    if (!status)
        status = nw_halo_modelled_methods(halo, ops);
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
            NW_PMPI(Allreduce)(&own, &any, 1, MPI_INT, MPI_MAX, halo->comm),
            "compare methods");
    *out = any;
    return status;
}

double nw_halo_modelled_seconds(const struct nw_halo_channel *channel)
{
    const nw_halo *halo = channel->halo;
    struct nw_halo_pair pair = nw_halo_pair_of(halo, channel->transfer);
    struct nw_halo_traffic traffic = begin(halo, &pair);

    for (size_t i = 0; i < channel->count; i++)
        add(halo, &channel->transfer[i], &traffic);
    return nw_halo_model(channel->ops->id, &traffic);
}
