/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups transfers by their ends, and finds the methods of groups that do not
 * use the method of their class. Both ends have the same data and so get the
 * same result. */
#include "halo/exchange/groups.h"
#include "halo/exchange/classes.h"
#include "halo/exchange/gpus.h"

#include "base/hash.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- grouping --- */

struct entry {
    int64_t key[3]; /* phase; from, to: pieces, or ranks for host memory */
    size_t number;  /* index of the transfer */
};

static int compare(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    for (int i = 0; i < 3; i++)
        if (x->key[i] != y->key[i])
            return x->key[i] < y->key[i] ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
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
        .path = nw_halo_path_of(halo->paths, pair->from, pair->to),
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

/* Rounds to a power of two, so that similar sizes give the same kind. */
static int64_t about(double value)
{
    return value > 0 ? lround(log2(value)) : -1000;
}

static uint64_t kind_of(const struct nw_halo_group *group)
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

/* Fills a group from the entries that have the key of the first entry. */
static void fill(const nw_halo *halo, const struct entry *entry,
                 struct nw_halo_groups *groups, size_t first)
{
    const struct nw_halo_transfer *item = halo->transfers.item;
    struct nw_halo_group *group = &groups->item[groups->count++];

    *group = (struct nw_halo_group){
        .pair = nw_halo_pair_of(halo, &item[entry[first].number]),
        .first = first,
    };
    group->traffic = begin(halo, &group->pair);
    group->class = nw_halo_class_of(halo, &group->pair);
    for (size_t i = first;
         i < halo->transfers.count &&
         !memcmp(entry[first].key, entry[i].key, sizeof entry->key);
         i++) {
        groups->number[i] = entry[i].number;
        add(halo, &item[entry[i].number], &group->traffic);
        group->count++;
    }
    group->kind = kind_of(group);
}

nw_status nw_halo_groups_make(const nw_halo *halo, struct nw_halo_groups *out)
{
    struct nw_halo_groups groups = {.count = 0};
    size_t count = halo->transfers.count;
    struct entry *entry = NULL;
    nw_status status = nw_alloc(count, sizeof *entry, &entry);

    if (!status)
        status = nw_alloc(count, sizeof *groups.item, &groups.item);
    if (!status)
        status = nw_alloc(count, sizeof *groups.number, &groups.number);
    for (size_t i = 0; !status && i < count; i++)
        entry[i] = entry_of(halo, i);
    if (!status && count)
        qsort(entry, count, sizeof *entry, compare);
    for (size_t i = 0; !status && i < count;
         i += groups.item[groups.count - 1].count)
        fill(halo, entry, &groups, i);
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

static uint32_t wish_for(const struct nw_halo_scheme *scheme, uint64_t kind)
{
    for (int i = 0; i < scheme->wish_count; i++)
        if (scheme->wish[i].kind == kind)
            return scheme->wish[i].methods;
    return 0;
}

static const struct nw_halo_method_ops *
method_of(const nw_halo *halo, const struct nw_halo_scheme *scheme,
          const struct nw_halo_group *group)
{
    uint32_t fitting = nw_halo_fitting(halo, &group->pair);
    uint32_t wished = fitting & wish_for(scheme, group->kind);
    enum nw_halo_method method;

    if (wished)
        return nw_halo_methods[__builtin_ctz(wished)];
    if (scheme->modelled &&
        nw_halo_model_best(fitting, &group->traffic, &method))
        return nw_halo_methods[method];
    return NULL;
}

nw_status nw_halo_groups_methods(const nw_halo *halo,
                                 const struct nw_halo_scheme *scheme,
                                 const struct nw_halo_method_ops **out)
{
    struct nw_halo_groups groups;
    nw_status status;

    if (!scheme->modelled && !scheme->wish_count)
        return NW_OK;
    status = nw_halo_groups_make(halo, &groups);
    if (status)
        return status;
    for (size_t i = 0; i < groups.count; i++) {
        const struct nw_halo_group *group = &groups.item[i];
        const struct nw_halo_method_ops *ops = method_of(halo, scheme, group);

        for (size_t k = 0; k < group->count; k++)
            out[groups.number[group->first + k]] = ops;
    }
    nw_halo_groups_fini(&groups);
    return NW_OK;
}

double nw_halo_connection_seconds(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_pair pair = nw_halo_pair_of(halo, connection->transfer);
    struct nw_halo_traffic traffic = begin(halo, &pair);

    for (size_t i = 0; i < connection->count; i++)
        add(halo, &connection->transfer[i], &traffic);
    return nw_halo_model(connection->ops->id, &traffic);
}
