/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums messages between cores of a node, source rank by source rank;
 * intranode.h describes the method. */
#include "cost/intranode.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

/* Returns true if all cores have the same depth, at most NW_INTRANODE_DEPTHS,
 * and the same latencies up to the root, and no direct links. Returns false for
 * a distance matrix. */
static bool is_even(const nw_topology *topology,
                    const struct nw_node_type *type)
{
    if (topology->matrix || !type->element_count ||
        type->depth[type->element[0]] > NW_INTRANODE_DEPTHS)
        return false;
    for (int32_t i = 0; i < type->element_count; i++) {
        int32_t v = type->element[i], u = type->element[0];

        if (type->depth[v] != type->depth[u] ||
            (type->end_of && type->end_of[v] >= 0))
            return false;
        while (u != v) {
            if (topology->class[type->class[u]].latency !=
                topology->class[type->class[v]].latency)
                return false;
            u = type->parent[u];
            v = type->parent[v];
        }
    }
    return true;
}

/* Numbers the children of each vertex: child[v] is the index of v among its
 * parent's children; most[d] is the largest number of children with depth d
 * that a vertex has. */
static nw_status number_children(const struct nw_node_type *type,
                                 int32_t *child, int32_t most[256])
{
    int32_t *next;
    nw_status status =
        nw_alloc((size_t)type->vertex_count, sizeof *next, &next);

    if (status)
        return status;
    for (int32_t v = 1; v < type->vertex_count; v++) {
        int32_t *many = &most[type->depth[v]];

        if (type->parent[v] < 0)
            continue;
        child[v] = next[type->parent[v]]++;
        *many = child[v] + 1 > *many ? child[v] + 1 : *many;
    }
    free(next);
    return NW_OK;
}

/* Assigns bits of the code to each depth, the lowest bits to the deepest, so
 * that the numbers of a vertex's children fit. Returns false if 63 bits are not
 * enough. shift[d] is the position of the bits of depth d. */
static bool share_bits(struct nw_intranode_type *codes, int depths,
                       const int32_t most[256], int shift[256])
{
    int bits = 0;

    for (int d = depths; d > 0; d--) {
        shift[d] = bits;
        for (int64_t values = 1; values < most[d]; values *= 2) {
            if (bits == 63)
                return false;
            codes->depth_of[bits++] = (uint8_t)(d - 1);
        }
    }
    return true;
}

static nw_status write_codes(const struct nw_node_type *type,
                             struct nw_intranode_type *codes)
{
    int depths = type->depth[type->element[0]], shift[256] = {0};
    int32_t most[256] = {0}, *child = NULL;
    size_t n = (size_t)type->vertex_count;
    nw_status status = nw_alloc(n, sizeof *child, &child);

    if (!status)
        status = number_children(type, child, most);
    if (!status && share_bits(codes, depths, most, shift))
        status = nw_alloc(n, sizeof *codes->code, &codes->code);
    for (int32_t v = 1; !status && codes->code && v < type->vertex_count; v++)
        if (type->parent[v] >= 0 && type->depth[v] <= depths)
            codes->code[v] = codes->code[type->parent[v]] |
                             (uint64_t)child[v] << shift[type->depth[v]];
    free(child);
    return status;
}

nw_status nw_intranode_types_init(struct nw_intranode_types *types,
                                  const nw_topology *topology)
{
    nw_status status = nw_alloc((size_t)topology->type_count,
                                sizeof *types->type, &types->type);

    types->count = status ? 0 : topology->type_count;
    for (int32_t t = 0; !status && t < types->count; t++)
        if (is_even(topology, topology->type[t]))
            status = write_codes(topology->type[t], &types->type[t]);
    return status;
}

void nw_intranode_types_fini(struct nw_intranode_types *types)
{
    for (int32_t t = 0; t < types->count; t++)
        free(types->type[t].code);
    free(types->type);
    *types = (struct nw_intranode_types){0};
}

nw_status nw_intranode_init(struct nw_intranode *sums,
                            const nw_topology *topology,
                            const struct nw_intranode_types *types,
                            int32_t threads)
{
    size_t links = (size_t)nw_topology_link_count(topology);
    uint64_t **arrays[] = {&sums->bytes, &sums->messages, &sums->begun,
                           &sums->ended};
    nw_status status = NW_OK;

    *sums = (struct nw_intranode){.topology = topology, .types = types};
    for (size_t i = 0; !status && i < sizeof arrays / sizeof *arrays; i++)
        status =
            nw_parallel_alloc(links, sizeof **arrays[i], threads, arrays[i]);
    return status;
}

void nw_intranode_fini(struct nw_intranode *sums)
{
    free(sums->bytes);
    free(sums->messages);
    free(sums->begun);
    free(sums->ended);
    *sums = (struct nw_intranode){0};
}

static void intranode_add(uint64_t *to, uint64_t amount,
                          struct nw_intranode *sums)
{
    sums->overflows |= __builtin_add_overflow(*to, amount, to);
}

/* The addition of one nw_intranode to another, in parts that threads take. */
struct merging {
    struct nw_intranode *to;
    const struct nw_intranode *from;
    bool overflows[NW_PARALLEL_RANGES];
};

static void intranode_merge_part(void *user, int32_t part)
{
    struct merging *merging = user;
    struct nw_intranode *to = merging->to;
    const struct nw_intranode *from = merging->from;
    uint64_t *sum[] = {to->bytes, to->messages, to->begun, to->ended};
    const uint64_t *more[] = {from->bytes, from->messages, from->begun,
                              from->ended};
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(to->topology), part);

    for (int i = 0; i < 4; i++)
        for (int64_t l = mine.first; l < mine.end; l++)
            merging->overflows[part] |=
                __builtin_add_overflow(sum[i][l], more[i][l], &sum[i][l]);
}

void nw_intranode_merge(struct nw_intranode *to,
                        const struct nw_intranode *from, int32_t threads)
{
    struct merging merging = {.to = to, .from = from};

    nw_parallel_run(intranode_merge_part, &merging, NW_PARALLEL_RANGES,
                    threads);
    to->overflows |= from->overflows;
    for (int i = 0; i < NW_PARALLEL_RANGES; i++)
        to->overflows |= merging.overflows[i];
}

void nw_intranode_begin(struct nw_intranode *sums, struct nw_end from,
                        struct nw_intranode_row *row)
{
    const nw_topology *topology = sums->topology;

    row->sums = sums;
    row->from = from;
    row->type = &sums->types->type[topology->node_type[from.node]];
    row->ended = sums->ended + topology->link_first[from.node];
    row->overflows = false;
    if (row->type->code)
        row->code = row->type->code[from.vertex];
}

/* Adds the row's sums by depth to the ancestors of the source core: the
 * ancestor at depth d is the common vertex of all messages that were counted at
 * depth d. */
void nw_intranode_end(struct nw_intranode_row *row)
{
    struct nw_intranode *sums = row->sums;
    const struct nw_node_type *type =
        nw_topology_type_of(sums->topology, row->from.node);
    int32_t first = sums->topology->link_first[row->from.node];
    int32_t v = row->from.vertex;
    uint64_t sum = 0;

    if (!row->type->code)
        return;
    for (int d = type->depth[v]; d-- > 0;) {
        v = type->parent[v];
        if (!row->bytes[d] && !row->messages[d])
            continue;
        intranode_add(&sums->bytes[first + v], row->bytes[d], sums);
        intranode_add(&sums->messages[first + v], row->messages[d], sums);
        intranode_add(&sum, row->bytes[d], sums);
        row->bytes[d] = row->messages[d] = 0;
    }
    intranode_add(&sums->begun[first + row->from.vertex], sum, sums);
    sums->overflows |= row->overflows;
}
