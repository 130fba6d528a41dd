/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges all ranks of two subtrees of a node, such as two NUMA nodes. Ranks
 * with much traffic among them must move together, because a move of only one
 * of them would raise the cost. */
#include "map/portfolio/near_gpus_internal.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

/* The subtrees of a host at one depth of its tree, and the core slots (or the
 * GPU slots) of the host in each. Slots are numbered from 0 for the host's
 * first core (or GPU) slot. */
struct near_gpus_subtrees {
    int32_t count; /* number of subtrees */
    int32_t *head; /* [count] first slot of each subtree */
    int32_t *next; /* [slots] next slot of the same subtree, or -1 */
    int32_t *last; /* [vertices] scratch: last slot found so far in the subtree
                      of a vertex; -1: none */
    /* index in nw_slots of the host's first core (or GPU) slot; number of the
     * host's core (or GPU) slots */
    int32_t first, slots;
};

/* Fills the lists for the subtrees at `depth`. end[] says for each slot at
 * which vertex of the tree its routes end. */
static void near_gpus_find_subtrees(struct near_gpus_subtrees *subtrees,
                                    const struct nw_node_type *type,
                                    const struct nw_end *end, int depth)
{
    subtrees->count = 0;
    for (int32_t v = 0; v < type->vertex_count; v++)
        subtrees->last[v] = -1;
    for (int32_t i = 0; i < subtrees->slots; i++) {
        int32_t vertex = end[i].vertex;

        while (type->depth[vertex] > depth)
            vertex = type->parent[vertex];
        subtrees->next[i] = -1;
        if (subtrees->last[vertex] < 0)
            subtrees->head[subtrees->count++] = i;
        else
            subtrees->next[subtrees->last[vertex]] = i;
        subtrees->last[vertex] = i;
    }
}

/* Returns by how much the distances of ranks to their GPUs and NICs decrease if
 * the ranks of two subtrees are exchanged. Returns 0 if the subtrees have
 * different numbers of slots, or if the load of a core would exceed its limit.
 * `a` and `b` are the first slots of the subtrees. */
static double near_gpus_gain_of_pair(const struct near_gpus_work *work,
                                     const struct near_gpus_subtrees *subtrees,
                                     int32_t a, int32_t b)
{
    int32_t first = subtrees->first;
    double gain = 0;

    while (a >= 0 && b >= 0) {
        struct nw_move move = {.count = 0};

        nw_slots_exchange(&work->slots, first + a, first + b, &move);
        if (!nw_slots_within_limits(&work->slots, &move))
            return 0;
        gain += nw_near_gpus_gain_of(work, &move);
        a = subtrees->next[a];
        b = subtrees->next[b];
    }
    return a == b ? gain : 0;
}

/* Exchanges the ranks of two subtrees, slot by slot. A second call undoes the
 * exchange. `a` and `b` are the first slots of the subtrees. */
static nw_status near_gpus_exchange(struct near_gpus_work *work,
                                    const struct near_gpus_subtrees *subtrees,
                                    int32_t a, int32_t b)
{
    nw_status status = NW_OK;

    for (; !status && a >= 0; a = subtrees->next[a], b = subtrees->next[b]) {
        struct nw_move move = {.count = 0};

        nw_slots_exchange(&work->slots, subtrees->first + a,
                          subtrees->first + b, &move);
        status = nw_near_gpus_make_move(work, &move);
    }
    return status;
}

/* Exchanges the ranks of two subtrees if that brings them nearer to their GPUs
 * and NICs and no cost figure of the mapping gets worse. `a` and `b` are the
 * first slots of the subtrees. */
static nw_status
near_gpus_settle_pair(struct near_gpus_work *work,
                      const struct near_gpus_subtrees *subtrees, int32_t a,
                      int32_t b)
{
    struct near_gpus_figures before, now;
    nw_status status;

    if (near_gpus_gain_of_pair(work, subtrees, a, b) <= NEAR_GPUS_EQUAL)
        return NW_OK;
    status = nw_near_gpus_figures(work, &before);
    if (!status)
        status = near_gpus_exchange(work, subtrees, a, b);
    if (!status)
        status = nw_near_gpus_figures(work, &now);
    if (status)
        return status;
    if (nw_near_gpus_is_worse(work, &now, &before))
        return near_gpus_exchange(work, subtrees, a, b);
    work->moved = true;
    return NW_OK;
}

nw_status nw_near_gpus_exchange_subtrees(struct near_gpus_work *work,
                                         int32_t host, bool gpus)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_node_type *type =
        nw_topology_type_of(problem->topology, problem->host[host]);
    struct near_gpus_slot_range range = nw_near_gpus_slots_of(work, host, gpus);
    const struct nw_end *end = work->slots.end + range.first;
    size_t slots = (size_t)(range.end - range.first);
    struct near_gpus_subtrees subtrees = {.first = range.first,
                                          .slots = range.end - range.first};
    int deepest = 0;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(slots, subtrees.head), NW_ARRAY(slots, subtrees.next),
        NW_ARRAY((size_t)type->vertex_count, subtrees.last));

    for (int32_t i = 0; i < subtrees.slots; i++)
        if (type->depth[end[i].vertex] > deepest)
            deepest = type->depth[end[i].vertex];
    for (int depth = 1; !status && depth <= deepest; depth++) {
        near_gpus_find_subtrees(&subtrees, type, end, depth);
        /* Subtrees of one slot each are exchanged by moves of single ranks. */
        if (subtrees.count == subtrees.slots)
            continue;
        for (int32_t i = 0; i < subtrees.count; i++)
            for (int32_t j = i + 1; !status && j < subtrees.count; j++)
                status = near_gpus_settle_pair(
                    work, &subtrees, subtrees.head[i], subtrees.head[j]);
    }
    NW_FREE_ALL(subtrees.head, subtrees.next, subtrees.last);
    return status;
}
