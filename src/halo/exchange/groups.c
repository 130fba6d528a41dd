/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups transfers by their two ends, and finds the method of each group in a
 * scheme. Both ends compute this from the same data, so they get the same
 * result. */
#include "halo/exchange/groups.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>

/* --- grouping --- */

enum { KEY_NUMBER = 3 };

struct groups_entry {
    /* phase; source and target (pieces for GPU memory, else ranks); index of
     * the transfer */
    int64_t key[KEY_NUMBER + 1];
};

static int halo_groups_compare(const void *a, const void *b)
{
    const struct groups_entry *x = a, *y = b;

    return nw_halo_keys_compare(x->key, y->key, KEY_NUMBER + 1);
}

static struct groups_entry entry_of(const nw_halo *halo, size_t number)
{
    const struct nw_halo_transfer *transfer = &halo->transfers.item[number];
    struct nw_halo_pair pair = nw_halo_pair_of(halo, transfer);
    bool pieces = halo->gpu_memory;

    return (struct groups_entry){
        .key = {transfer->phase, pieces ? pair.from : pair.from_rank,
                pieces ? pair.to : pair.to_rank, (int64_t)number},
    };
}

static struct nw_halo_traffic halo_groups_begin(const nw_halo *halo,
                                                const struct nw_halo_pair *pair)
{
    const uint64_t *where = halo->gpu_memory ? halo->gpus->where : NULL;

    return (struct nw_halo_traffic){
        .gpu = halo->gpu_memory,
        .same_rank = pair->same_rank,
        .same_node = pair->same_node,
        .same_gpu = where && where[pair->from] == where[pair->to],
        .path = nw_halo_path_of(halo->paths, pair->from, pair->to),
    };
}

static void halo_groups_add(const nw_halo *halo,
                            const struct nw_halo_transfer *transfer,
                            struct nw_halo_traffic *traffic)
{
    for (int32_t i = 0; i < halo->joined_count; i++) {
        const struct nw_halo_field *field = &halo->field[i];

        nw_halo_traffic_add(traffic, transfer, field->bytes);
        traffic->gaps = traffic->gaps || field->bytes != field->stride;
    }
}

/* Returns the rounded binary logarithm, so that groups of similar size are of
 * the same kind. */
static int64_t about(double value)
{
    return value > 0 ? lround(log2(value)) : -1000;
}

static uint64_t halo_groups_kind_of(const struct nw_halo_group *group)
{
    const struct nw_halo_traffic *traffic = &group->traffic;
    const struct nw_halo_path_parameters *path = &traffic->path;
    int64_t words[] = {
        (int64_t)group->class,
        traffic->same_gpu,
        traffic->gaps,
        about(traffic->bytes),
        about(traffic->bytes / traffic->rows),
        about(traffic->boxes),
        about(path->link),
        about(path->out),
        about(path->in),
        about(path->wire),
        about(path->latency),
    };

    return nw_hash(NW_HASH_START, words, sizeof words);
}

/* Returns the method of the open connection that holds the transfer, or NULL
 * if no connection is open. */
static const struct nw_halo_method_ops *
open_method(const nw_halo *halo, const struct nw_halo_transfer *transfer)
{
    for (size_t i = 0; i < halo->connection_count; i++) {
        const struct nw_halo_connection *connection = &halo->connection[i];

        if (transfer >= connection->transfer &&
            transfer < connection->transfer + connection->count)
            return connection->ops;
    }
    return NULL;
}

/* Fills a group from the entries that have the key of the first entry. */
static void halo_groups_fill(const nw_halo *halo,
                             const struct groups_entry *entry,
                             struct nw_halo_groups *groups, size_t first)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    struct nw_halo_group *group = &groups->item[groups->count++];

    *group = (struct nw_halo_group){
        .pair = nw_halo_pair_of(halo, &item[entry[first].key[KEY_NUMBER]]),
        .first = first,
    };
    group->traffic = halo_groups_begin(halo, &group->pair);
    group->class = nw_halo_class_of(halo, &group->pair);
    group->methods = nw_halo_fitting(halo, &group->pair);
    group->current = open_method(halo, &item[entry[first].key[KEY_NUMBER]]);
    for (size_t i = first;
         i < halo->transfers.count &&
         !nw_halo_keys_compare(entry[first].key, entry[i].key, KEY_NUMBER);
         i++) {
        groups->number[i] = (size_t)entry[i].key[KEY_NUMBER];
        halo_groups_add(halo, &item[groups->number[i]], &group->traffic);
        group->count++;
    }
    group->kind = halo_groups_kind_of(group);
}

nw_status nw_halo_groups_make(const nw_halo *halo, struct nw_halo_groups *out)
{
    struct nw_halo_groups groups = {.count = 0};
    size_t count = halo->transfers.count;
    struct groups_entry *entry = NULL;
    nw_status status = nw_alloc(count, sizeof *entry, &entry);

    if (!status)
        status = nw_alloc(count, sizeof *groups.item, &groups.item);
    if (!status)
        status = nw_alloc(count, sizeof *groups.number, &groups.number);
    for (size_t i = 0; !status && i < count; i++)
        entry[i] = entry_of(halo, i);
    if (!status && count)
        qsort(entry, count, sizeof *entry, halo_groups_compare);
    for (size_t i = 0; !status && i < count;
         i += groups.item[groups.count - 1].count)
        halo_groups_fill(halo, entry, &groups, i);
    free(entry);
    if (status)
        nw_halo_groups_fini(&groups);
    else
        *out = groups;
    return status;
}

void nw_halo_groups_fini(struct nw_halo_groups *groups)
{
    free(groups->item);
    free(groups->number);
    *groups = (struct nw_halo_groups){.count = 0};
}

/* --- the methods of groups --- */

uint32_t *nw_halo_wish_find(struct nw_halo_scheme *scheme, uint64_t kind)
{
    for (int i = 0; i < scheme->wish_count; i++)
        if (scheme->wish[i].kind == kind)
            return &scheme->wish[i].methods;
    return NULL;
}

/* Returns the method that the model predicts to be fastest for a group, or NULL
 * if the model knows none of its methods. */
static const struct nw_halo_method_ops *
modelled_method(const struct nw_halo_group *group)
{
    enum nw_halo_method method;

    return nw_halo_model_best(group->methods, &group->traffic, &method)
               ? nw_halo_methods[method]
               : NULL;
}

static const struct nw_halo_method_ops *
method_of(struct nw_halo_scheme *scheme, const struct nw_halo_group *group)
{
    const uint32_t *wish = nw_halo_wish_find(scheme, group->kind);
    uint32_t methods = wish ? group->methods & *wish : 0;
    const struct nw_halo_method_ops *ops = NULL;

    if (!methods && scheme->modelled)
        ops = modelled_method(group);
    if (!methods)
        methods = group->methods & scheme->methods[group->class];
    if (!methods)
        methods = group->methods;
    return ops || !methods ? ops : nw_halo_methods[__builtin_ctz(methods)];
}

nw_status nw_halo_groups_methods(nw_halo *halo,
                                 const struct nw_halo_method_ops **out)
{
    struct nw_halo_groups groups;
    nw_status status = nw_halo_groups_make(halo, &groups);

    if (status)
        return status;
    for (size_t i = 0; i < groups.count; i++) {
        const struct nw_halo_group *group = &groups.item[i];

        for (size_t k = 0; k < group->count; k++)
            out[groups.number[group->first + k]] =
                method_of(&halo->scheme, group);
    }
    nw_halo_groups_fini(&groups);
    return NW_OK;
}

nw_status nw_halo_groups_modelled(const nw_halo *halo, bool *out)
{
    struct nw_halo_groups groups = {.count = 0};
    int own = 0, any = 0;
    nw_status status =
        nw_halo_agree(halo->comm, nw_halo_groups_make(halo, &groups));

    for (size_t i = 0; i < groups.count; i++) {
        const struct nw_halo_group *group = &groups.item[i];
        const struct nw_halo_method_ops *ops = modelled_method(group);

        own |= ops && ops != group->current;
    }
    nw_halo_groups_fini(&groups);
    if (!status)
        status = nw_halo_mpi(
            nw_halo_allreduce(halo->comm, &own, &any, 1, MPI_INT, MPI_MAX),
            "compare methods");
    *out = !any;
    return status;
}

double nw_halo_connection_seconds(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_pair pair = nw_halo_pair_of(halo, connection->transfer);
    struct nw_halo_traffic traffic = halo_groups_begin(halo, &pair);

    for (size_t i = 0; i < connection->count; i++)
        halo_groups_add(halo, &connection->transfer[i], &traffic);
    return nw_halo_model(connection->ops->id, &traffic);
}
