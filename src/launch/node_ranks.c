/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the ranks of each node, since launchers count ranks by node. */
#include "launch/job.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

static void node_ranks_count_ranks(struct nw_launch_node_ranks *places,
                                   const nw_mapping *mapping, int32_t *index)
{
    for (int32_t r = 0; r < mapping->rank_count; r++)
        index[mapping->node[r]]++;
    for (int32_t n = 0; n < mapping->node_count; n++) {
        int32_t count = index[n], i = places->node_count;

        if (!count)
            continue;
        places->node[i] = n;
        places->first[i + 1] = places->first[i] + count;
        index[n] = i;
        if (count > nw_launch_node_ranks_count(places, places->fullest))
            places->fullest = i;
        places->node_count++;
    }
}

nw_status nw_launch_node_ranks_init(struct nw_launch_node_ranks *places,
                                    const nw_mapping *mapping)
{
    size_t nodes = (size_t)mapping->node_count;
    int32_t *index = NULL, *fill = NULL;
    nw_status status = nw_alloc(nodes, sizeof *index, &index);

    if (!status)
        status = nw_alloc(nodes + 1, sizeof *fill, &fill);
    if (!status)
        status = nw_alloc(nodes, sizeof *places->node, &places->node);
    if (!status)
        status = nw_alloc(nodes + 2, sizeof *places->first, &places->first);
    if (!status)
        status = nw_alloc((size_t)mapping->rank_count, sizeof *places->rank,
                          &places->rank);
    if (!status) {
        node_ranks_count_ranks(places, mapping, index);
        memcpy(fill, places->first, (size_t)places->node_count * sizeof *fill);
        for (int32_t r = 0; r < mapping->rank_count; r++)
            places->rank[fill[index[mapping->node[r]]]++] = r;
    }
    free(index);
    free(fill);
    return status;
}

void nw_launch_node_ranks_fini(struct nw_launch_node_ranks *places)
{
    free(places->node);
    free(places->first);
    free(places->rank);
}

int32_t nw_launch_node_ranks_count(const struct nw_launch_node_ranks *places,
                                   int32_t index)
{
    return places->first[index + 1] - places->first[index];
}

int32_t nw_launch_node_ranks_find(const struct nw_launch_node_ranks *places,
                                  int32_t node)
{
    int32_t from = 0, to = places->node_count - 1;

    while (from < to) {
        int32_t middle = (from + to) / 2;

        if (places->node[middle] < node)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

bool nw_launch_node_ranks_even(const struct nw_launch_node_ranks *places)
{
    int32_t last = places->node_count - 1,
            most = nw_launch_node_ranks_count(places, 0);

    for (int32_t i = 1; i < last; i++)
        if (nw_launch_node_ranks_count(places, i) != most)
            return false;
    return nw_launch_node_ranks_count(places, last) <= most;
}

static int by_core(const void *a, const void *b, void *data)
{
    const nw_mapping *mapping = data;
    int32_t r = *(const int32_t *)a, s = *(const int32_t *)b;
    int32_t c = nw_mapping_cores(mapping, r).values[0],
            d = nw_mapping_cores(mapping, s).values[0];

    return c != d ? (c > d) - (c < d) : (r > s) - (r < s);
}

void nw_launch_node_ranks_sort_by_core(struct nw_launch_node_ranks *places,
                                       const nw_mapping *mapping)
{
    for (int32_t i = 0; i < places->node_count; i++)
        qsort_r(places->rank + places->first[i],
                (size_t)nw_launch_node_ranks_count(places, i),
                sizeof *places->rank, by_core, (void *)(uintptr_t)mapping);
}

struct row {
    int32_t node, first, count, lowest;
};

static int node_ranks_by_lowest(const void *a, const void *b)
{
    int32_t x = ((const struct row *)a)->lowest,
            y = ((const struct row *)b)->lowest;

    return (x > y) - (x < y);
}

static void gather_rows(const struct nw_launch_node_ranks *places,
                        struct row *rows)
{
    for (int32_t i = 0; i < places->node_count; i++)
        rows[i] = (struct row){places->node[i], places->first[i],
                               nw_launch_node_ranks_count(places, i),
                               places->rank[places->first[i]]};
}

nw_status nw_launch_node_ranks_sort_nodes(struct nw_launch_node_ranks *places)
{
    size_t count = (size_t)places->node_count,
           ranks = (size_t)places->first[count];
    struct row *rows = NULL;
    int32_t *old = NULL, fill = 0;
    nw_status status = nw_alloc(count, sizeof *rows, &rows);

    if (!status)
        status = nw_alloc(ranks, sizeof *old, &old);
    if (status)
        goto out;
    memcpy(old, places->rank, ranks * sizeof *old);
    gather_rows(places, rows);
    qsort(rows, count, sizeof *rows, node_ranks_by_lowest);
    places->fullest = 0;
    for (int32_t i = 0; i < places->node_count; i++) {
        places->node[i] = rows[i].node;
        places->first[i] = fill;
        memcpy(places->rank + fill, old + rows[i].first,
               (size_t)rows[i].count * sizeof *old);
        fill += rows[i].count;
        places->first[i + 1] = fill;
        if (rows[i].count > nw_launch_node_ranks_count(places, places->fullest))
            places->fullest = i;
    }
out:
    free(rows);
    free(old);
    return status;
}
