/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts placements to assignments and back, computes the cost of an
 * assignment from scratch, and builds assignments of whole subtrees. */
#include "map/hierarchy/assignment.h"
#include "base/array.h"
#include "base/parallel.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

/* Allocates an assignment of `count` processes that have no slots yet, with
 * memory for `edges` edges. */
static nw_status assignment_alloc(struct nw_assignment *assignment,
                                  const struct nw_hierarchy *hierarchy,
                                  int32_t count, size_t edges)
{
    size_t n = (size_t)count, slots = (size_t)hierarchy->slots;
    nw_status status;

    *assignment =
        (struct nw_assignment){.hierarchy = hierarchy, .count = count};
    status = NW_ALLOC_ALL(
        NW_ARRAY(n + 1, assignment->row), NW_ARRAY(n, assignment->slot),
        NW_ARRAY(n, assignment->at), NW_ARRAY(slots, assignment->process),
        NW_ARRAY(slots, assignment->fixed));
    if (!status)
        status =
            nw_alloc_raw(edges, sizeof *assignment->edge, &assignment->edge);
    for (size_t s = 0; !status && s < slots; s++)
        assignment->process[s] = -1;
    return status;
}

void nw_assignment_fini(struct nw_assignment *assignment)
{
    NW_FREE_ALL(assignment->row, assignment->edge, assignment->slot,
                assignment->at, assignment->process, assignment->fixed,
                assignment->name, assignment->limit);
    *assignment = (struct nw_assignment){0};
}

void nw_assignment_copy_fini(struct nw_assignment *copy)
{
    NW_FREE_ALL(copy->slot, copy->at, copy->process);
    *copy = (struct nw_assignment){0};
}

nw_status nw_assignment_copy(const struct nw_assignment *assignment,
                             struct nw_assignment *out)
{
    size_t n = (size_t)assignment->count,
           slots = (size_t)assignment->hierarchy->slots;
    nw_status status;

    *out = *assignment;
    status = NW_ALLOC_ALL(NW_ARRAY(n, out->slot), NW_ARRAY(n, out->at),
                          NW_ARRAY(slots, out->process));
    if (status) {
        nw_assignment_copy_fini(out);
        return status;
    }
    memcpy(out->slot, assignment->slot, n * sizeof *out->slot);
    memcpy(out->at, assignment->at, n * sizeof *out->at);
    memcpy(out->process, assignment->process, slots * sizeof *out->process);
    return NW_OK;
}

/* Calls task(user, i) for each range i of consecutive processes
 * (nw_parallel_range). Several threads share the ranges if all of them together
 * visit enough edges: `work`. */
static void assignment_run(const struct nw_assignment *assignment, size_t work,
                           void (*task)(void *user, int32_t i), void *user)
{
    nw_parallel_run(task, user, NW_PARALLEL_RANGES,
                    work < nw_tuned.threads.edges_min ? 1
                                                      : assignment->threads);
}

/* Argument of the tasks that make the edges of an assignment from the arcs of a
 * placement. */
struct assignment_reading {
    struct nw_assignment *assignment;
    const struct nw_placement *placement;
};

/* Counts the edges of each process in range i; a task for threads. */
static void assignment_count_edges(void *user, int32_t i)
{
    const struct assignment_reading *reading = user;
    const struct nw_placement *placement = reading->placement;
    struct nw_parallel_range range = nw_parallel_range(placement->count, i);

    for (int64_t p = range.first; p < range.end; p++) {
        size_t count = 0;

        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++)
            count += placement->arc[a].out + placement->arc[a].in > 0;
        reading->assignment->row[p + 1] = count;
    }
}

/* Stores the edges of the processes in range i; a task for threads. */
static void assignment_fill_edges(void *user, int32_t i)
{
    const struct assignment_reading *reading = user;
    const struct nw_placement *placement = reading->placement;
    struct nw_assignment *assignment = reading->assignment;
    struct nw_parallel_range range = nw_parallel_range(assignment->count, i);
    size_t at = assignment->row[range.first];

    for (int64_t p = range.first; p < range.end; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
            double bytes = placement->arc[a].out + placement->arc[a].in;

            if (bytes > 0)
                assignment->edge[at++] =
                    (struct nw_undirected_edge){placement->arc[a].peer, bytes};
        }
}

/* Puts a process on a slot, which must be free. */
static void assignment_assign(struct nw_assignment *assignment, int32_t process,
                              int32_t slot)
{
    assignment->slot[process] = slot;
    assignment->at[process] = assignment->hierarchy->code[slot];
    assignment->process[slot] = process;
}

/* Puts each process on the next free slot of its place in the placement, and
 * marks the slots of fixed processes. The slots of a place are consecutive. */
static nw_status assignment_take_slots(struct nw_assignment *assignment,
                                       const struct nw_placement *placement)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int32_t *next = NULL;
    nw_status status =
        nw_alloc_raw((size_t)placement->places->count, sizeof *next, &next);

    for (int32_t s = hierarchy->slots; !status && s-- > 0;)
        next[hierarchy->place[s]] = s;
    for (int32_t p = 0; !status && p < placement->count; p++) {
        int32_t slot = next[placement->place[p]]++;

        assignment_assign(assignment, p, slot);
        assignment->fixed[slot] = nw_placement_is_fixed(placement, p);
    }
    free(next);
    return status;
}

nw_status nw_assignment_init(struct nw_assignment *assignment,
                             const struct nw_hierarchy *hierarchy,
                             const struct nw_placement *placement)
{
    struct assignment_reading reading = {assignment, placement};
    size_t arcs = placement->row[placement->count];
    size_t slots = placement->load ? (size_t)hierarchy->slots : 0;
    nw_status status =
        assignment_alloc(assignment, hierarchy, placement->count, arcs);

    if (!status) {
        assignment->threads =
            placement->budget ? placement->budget->threads : 1;
        assignment_run(assignment, arcs, assignment_count_edges, &reading);
        for (int32_t p = 0; p < assignment->count; p++)
            assignment->row[p + 1] += assignment->row[p];
        assignment_run(assignment, arcs, assignment_fill_edges, &reading);
        status = assignment_take_slots(assignment, placement);
    }
    assignment->load = placement->load;
    if (!status)
        status = nw_alloc(slots, sizeof *assignment->limit, &assignment->limit);
    for (size_t s = 0; !status && s < slots; s++)
        assignment->limit[s] = placement->limit[hierarchy->place[s]];
    if (status)
        nw_assignment_fini(assignment);
    return status;
}

void nw_assignment_store(const struct nw_assignment *assignment,
                         struct nw_placement *placement)
{
    for (int32_t p = 0; p < assignment->count; p++)
        nw_free_slots_give(&placement->free_slots, placement->place[p], false);
    for (int32_t p = 0; p < assignment->count; p++)
        nw_placement_put(placement, assignment->name ? assignment->name[p] : p,
                         assignment->hierarchy->place[assignment->slot[p]]);
}

/* --- renumbering the processes --- */

/* Sorts the edges of a process by peer. */
static void assignment_sort_edges(struct nw_undirected_edge *edge, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct nw_undirected_edge moved = edge[i];
        size_t at = i;

        for (; at && edge[at - 1].peer > moved.peer; at--)
            edge[at] = edge[at - 1];
        edge[at] = moved;
    }
}

/* Argument of the tasks that renumber: process order[i] gets number i, and
 * number[order[i]] = i. */
struct assignment_renumbering {
    const struct nw_assignment *from;
    const int32_t *order, *number;
    struct nw_assignment *to;
};

/* Task for threads: stores the edges of the processes whose new numbers are in
 * a range. The edges get the new numbers of their peers and are sorted by them.
 */
static void assignment_renumber_range(void *user, int32_t part)
{
    const struct assignment_renumbering *of = user;
    const struct nw_assignment *from = of->from;
    struct nw_parallel_range range = nw_parallel_range(from->count, part);

    for (int64_t i = range.first; i < range.end; i++) {
        struct nw_undirected_edge *edge = of->to->edge + of->to->row[i];
        size_t first = from->row[of->order[i]];
        size_t count = from->row[of->order[i] + 1] - first;

        for (size_t b = 0; b < count; b++) {
            edge[b] = from->edge[first + b];
            edge[b].peer = of->number[edge[b].peer];
        }
        assignment_sort_edges(edge, count);
    }
}

nw_status nw_assignment_renumber(struct nw_assignment *assignment,
                                 const int32_t *order)
{
    size_t n = (size_t)assignment->count;
    struct nw_assignment out;
    struct assignment_renumbering of = {assignment, order, NULL, &out};
    int32_t *number = NULL;
    nw_status status = assignment_alloc(&out, assignment->hierarchy,
                                        assignment->count, assignment->row[n]);

    out.threads = assignment->threads;
    if (!status)
        status = nw_alloc_raw(n, sizeof *out.name, &out.name);
    if (!status)
        status = nw_alloc_raw(n, sizeof *number, &number);
    if (status) {
        nw_assignment_fini(&out);
        return status;
    }
    for (size_t i = 0; i < n; i++) {
        out.name[i] = assignment->name ? assignment->name[order[i]] : order[i];
        number[order[i]] = (int32_t)i;
        assignment_assign(&out, (int32_t)i, assignment->slot[order[i]]);
        out.row[i + 1] = out.row[i] + assignment->row[order[i] + 1] -
                         assignment->row[order[i]];
    }
    of.number = number;
    assignment_run(assignment, assignment->row[n], assignment_renumber_range,
                   &of);
    free(number);
    nw_assignment_fini(assignment);
    *assignment = out;
    return NW_OK;
}

/* Argument of the tasks that compute the cost. sum[i] is the sum of range i.
 * Each edge is counted at both of its ends, so all sums together are twice the
 * cost. */
struct assignment_costing {
    const struct nw_assignment *assignment;
    double sum[NW_PARALLEL_RANGES];
};

/* Sums the hop-bytes of all edges of each process in range i; a task for
 * threads. */
static void assignment_cost_range(void *user, int32_t i)
{
    struct assignment_costing *costing = user;
    const struct nw_assignment *assignment = costing->assignment;
    struct nw_parallel_range range = nw_parallel_range(assignment->count, i);
    double sum = 0;

    for (int64_t p = range.first; p < range.end; p++)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            sum +=
                assignment->edge[b].bytes *
                nw_hierarchy_distance(assignment->hierarchy, assignment->at[p],
                                      assignment->at[assignment->edge[b].peer]);
    costing->sum[i] = sum;
}

/* The sums of the ranges are added in a fixed order, so that the result is the
 * same for any number of threads. */
double nw_assignment_cost(const struct nw_assignment *assignment)
{
    struct assignment_costing costing = {.assignment = assignment};
    double sum = 0;

    assignment_run(assignment, assignment->row[assignment->count],
                   assignment_cost_range, &costing);
    for (int32_t i = 0; i < NW_PARALLEL_RANGES; i++)
        sum += costing.sum[i];
    return sum / 2;
}

double nw_assignment_bytes(const struct nw_assignment *assignment)
{
    size_t edges = assignment->row[assignment->count];
    double bytes = 0;

    for (size_t b = 0; b < edges; b++)
        bytes += assignment->edge[b].bytes;
    return bytes;
}

double nw_assignment_cost_bound(const struct nw_assignment *assignment)
{
    return nw_assignment_bytes(assignment) *
           assignment->hierarchy->distance[assignment->hierarchy->levels - 1];
}

/* Argument of the tasks that put all processes on new slots. */
struct assignment_assigning {
    struct nw_assignment *assignment;
    const int32_t *slot;
};

/* Puts the processes in range i on their slots; a task for threads. */
static void assignment_assign_range(void *user, int32_t i)
{
    const struct assignment_assigning *assigning = user;
    struct nw_parallel_range range =
        nw_parallel_range(assigning->assignment->count, i);

    for (int32_t p = (int32_t)range.first; p < range.end; p++)
        assignment_assign(assigning->assignment, p, assigning->slot[p]);
}

void nw_assignment_set(struct nw_assignment *assignment, const int32_t *slot)
{
    struct assignment_assigning assigning = {assignment, slot};
    int32_t slots = assignment->hierarchy->slots;

    if (slots > assignment->count)
        for (int32_t s = 0; s < slots; s++)
            assignment->process[s] = -1;
    assignment_run(assignment, nw_tuned.tiling.cell_looks * (size_t)slots,
                   assignment_assign_range, &assigning);
}

nw_status nw_assignment_take_if_better(struct nw_assignment *assignment,
                                       const int32_t *slot, double *cost)
{
    size_t n = (size_t)assignment->count;
    int32_t *old = NULL;
    nw_status status = nw_alloc_raw(n, sizeof *old, &old);
    double mine;

    if (status)
        return status;
    memcpy(old, assignment->slot, n * sizeof *old);
    nw_assignment_set(assignment, slot);
    mine = nw_assignment_cost(assignment);
    if (mine < *cost)
        *cost = mine;
    else
        nw_assignment_set(assignment, old);
    free(old);
    return NW_OK;
}

/* --- whole subtrees --- */

/* Returns the number of slots that more than half of the clusters of a level
 * have, by the majority vote of Boyer and Moore. If no number has such a
 * majority, returns the number of slots of some cluster. */
static int32_t assignment_common_size(const struct nw_hierarchy *hierarchy,
                                      int32_t level)
{
    const int32_t *first = hierarchy->first[level];
    int32_t votes = 0, size = 0;

    for (int32_t c = 0; c < hierarchy->count[level]; c++) {
        int32_t mine = first[c + 1] - first[c];

        if (!votes)
            size = mine;
        votes += mine == size ? 1 : -1;
    }
    return size;
}

/* Makes *out, the tree above the clusters of a level; each cluster becomes a
 * slot. */
static nw_status
assignment_contract_hierarchy(const struct nw_hierarchy *hierarchy,
                              int32_t level, struct nw_hierarchy *out)
{
    const int32_t *first = hierarchy->first[level];
    int32_t count = hierarchy->count[level];
    double *gap = NULL;
    bool is_hierarchy = true;
    nw_status status = nw_alloc((size_t)count, sizeof *gap, &gap);

    *out = (struct nw_hierarchy){0}; /* the caller frees it after a failure */
    for (int32_t c = 0; !status && c + 1 < count; c++)
        gap[c] = nw_hierarchy_distance(hierarchy, hierarchy->code[first[c]],
                                       hierarchy->code[first[c + 1]]);
    if (!status)
        status = nw_hierarchy_from_gaps(out, gap, first, count, &is_hierarchy);
    free(gap);
    return status;
}

/* Makes the edges of *out between clusters of a level: the sums of the bytes
 * between their processes. slot[clusters] is scratch; it is 0 before and after
 * the call. */
static void assignment_merge_edges(const struct nw_assignment *assignment,
                                   int32_t level, struct nw_assignment *out,
                                   size_t *slot)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    const int32_t *cluster = hierarchy->cluster[level];
    size_t at = 0;

    for (int32_t c = 0; c < hierarchy->count[level]; c++) {
        for (int32_t s = hierarchy->first[level][c];
             s < hierarchy->first[level][c + 1]; s++) {
            int32_t p = assignment->process[s];

            for (size_t b = p < 0 ? 0 : assignment->row[p];
                 p >= 0 && b < assignment->row[p + 1]; b++) {
                int32_t peer =
                    cluster[assignment->slot[assignment->edge[b].peer]];

                if (peer == c)
                    continue;
                if (!slot[peer]) {
                    out->edge[at] = (struct nw_undirected_edge){peer, 0};
                    slot[peer] = ++at;
                }
                out->edge[slot[peer] - 1].bytes += assignment->edge[b].bytes;
            }
        }
        for (size_t b = out->row[c]; b < at; b++)
            slot[out->edge[b].peer] = 0;
        out->row[c + 1] = at;
    }
}

nw_status nw_assignment_contract(const struct nw_assignment *assignment,
                                 int32_t level, struct nw_assignment *out,
                                 struct nw_hierarchy *hierarchy)
{
    const int32_t *first = assignment->hierarchy->first[level];
    size_t *slot = NULL;
    int32_t count = assignment->hierarchy->count[level];
    int32_t usual = assignment_common_size(assignment->hierarchy, level);
    nw_status status =
        assignment_contract_hierarchy(assignment->hierarchy, level, hierarchy);

    *out = (struct nw_assignment){0};
    if (!status)
        status = nw_alloc((size_t)count, sizeof *slot, &slot);
    if (!status)
        status = assignment_alloc(out, hierarchy, count,
                                  assignment->row[assignment->count]);
    if (!status)
        assignment_merge_edges(assignment, level, out, slot);
    /* Cluster c is on slot c. */
    for (int32_t c = 0; !status && c < count; c++) {
        out->fixed[c] = first[c + 1] - first[c] != usual;
        for (int32_t s = first[c]; s < first[c + 1]; s++)
            out->fixed[c] |= assignment->fixed[s];
        assignment_assign(out, c, c);
    }
    free(slot);
    if (status) {
        nw_assignment_fini(out);
        nw_hierarchy_fini(hierarchy);
    }
    return status;
}

nw_status nw_assignment_project(struct nw_assignment *assignment, int32_t level,
                                const struct nw_assignment *contracted)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    const int32_t *first = hierarchy->first[level];
    int32_t *slot = NULL;
    nw_status status = nw_alloc((size_t)assignment->count, sizeof *slot, &slot);

    for (int32_t p = 0; !status && p < assignment->count; p++) {
        int32_t c = hierarchy->cluster[level][assignment->slot[p]];

        slot[p] = assignment->slot[p] - first[c] + first[contracted->slot[c]];
    }
    if (!status)
        nw_assignment_set(assignment, slot);
    free(slot);
    return status;
}
