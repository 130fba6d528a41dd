/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an answer to an assignment of slots and back. A unit has as many
 * slots as it takes ranks. Each fixed core or GPU has a slot of its own. */
#include "map/congestion/slots.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static int32_t slots_endpoint_of(const struct nw_slots *slots, int32_t rank,
                                 bool gpu)
{
    return gpu ? slots->rank_count + rank : rank;
}

/* Adds a free slot of a unit (-1: of a fixed rank), whose first core or GPU is
 * `end`, and returns the slot's number. */
static int32_t slots_add_slot(struct nw_slots *slots, int32_t host,
                              int32_t unit, struct nw_end end)
{
    int32_t slot = slots->count++;

    slots->host[slot] = host;
    slots->unit[slot] = unit;
    slots->end[slot] = end;
    slots->owner[slot] = -1;
    return slot;
}

/* Adds the slots of all units of cores, or of GPUs if `gpu` is set, host by
 * host, and fills their part of slots->first. at[u] becomes the first slot of
 * unit u. */
static void slots_add_slots(struct nw_slots *slots, bool gpu, int32_t *at)
{
    const struct nw_problem *problem = slots->problem;
    const struct nw_units *units = gpu ? &problem->gpu : &problem->core;
    int32_t hosts = problem->host_count;
    int32_t *first = slots->first + (gpu ? hosts + 1 : 0);

    for (int32_t h = 0; h < hosts; h++) {
        first[h] = slots->count;
        for (int32_t u = units->first[h]; u < units->first[h + 1]; u++) {
            int32_t member = units->member[(size_t)u * (size_t)units->size];

            at[u] = slots->count;
            for (int32_t k = 0; k < units->capacity[u]; k++)
                slots_add_slot(slots, h, u,
                               nw_problem_end(problem, gpu, h, member));
        }
    }
    first[hosts] = slots->count;
}

/* Assigns the core, or the GPU if `gpu` is set, of each rank to the next slot
 * of its unit, or to a new slot if it is fixed. A rank without a GPU gets no
 * GPU slot. at[u] is the next slot of unit u, and is increased. */
static void slots_assign_ranks(struct nw_slots *slots,
                               const struct nw_answer *answer, bool gpu,
                               int32_t *at)
{
    const struct nw_problem *problem = slots->problem;

    for (int32_t r = 0; r < slots->rank_count; r++) {
        int32_t unit = gpu ? answer->gpu[r] : answer->core[r], slot;
        int32_t host = answer->host[r];
        struct nw_ints fixed = nw_problem_fixed(problem, gpu, r);

        if (unit >= 0)
            slot = at[unit]++;
        else if (fixed.count)
            slot = slots_add_slot(
                slots, host, -1,
                nw_problem_end(problem, gpu, host, fixed.values[0]));
        else
            continue;
        slots->slot[slots_endpoint_of(slots, r, gpu)] = slot;
        slots->owner[slot] = slots_endpoint_of(slots, r, gpu);
    }
}

/* Makes the slots of the cores, or of the GPUs if `gpu` is set, and assigns the
 * ranks to them. */
static nw_status slots_make_slots(struct nw_slots *slots,
                                  const struct nw_answer *answer, bool gpu)
{
    const struct nw_problem *problem = slots->problem;
    const struct nw_units *units = gpu ? &problem->gpu : &problem->core;
    int32_t *at = NULL;
    nw_status status =
        nw_alloc((size_t)units->first[problem->host_count], sizeof *at, &at);

    if (status)
        return status;
    slots_add_slots(slots, gpu, at);
    slots_assign_ranks(slots, answer, gpu, at);
    free(at);
    return NW_OK;
}

/* Returns the number of slots of all units. */
static size_t slots_of(const struct nw_units *units, int32_t hosts)
{
    size_t sum = 0;

    for (int32_t u = 0; u < units->first[hosts]; u++)
        sum += (size_t)units->capacity[u];
    return sum;
}

/* Allocates the arrays of slots, hosts and ranks. */
static nw_status slots_alloc_slots(struct nw_slots *slots)
{
    const struct nw_problem *problem = slots->problem;
    size_t hosts = (size_t)problem->host_count;
    size_t ranks = (size_t)slots->rank_count;
    size_t most = slots_of(&problem->core, problem->host_count) +
                  slots_of(&problem->gpu, problem->host_count) + 2 * ranks;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(most, slots->end), NW_ARRAY(most, slots->host),
        NW_ARRAY(most, slots->unit), NW_ARRAY(most, slots->owner),
        NW_ARRAY(2 * hosts + 2, slots->first), NW_ARRAY(2 * ranks, slots->slot),
        NW_ARRAY(ranks, slots->locked), NW_ARRAY(ranks, slots->held),
        NW_ARRAY(ranks, slots->half), NW_ARRAY(hosts, slots->used),
        NW_ARRAY(hosts, slots->gpu_used));

    for (size_t a = 0; !status && a < 2 * ranks; a++)
        slots->slot[a] = -1;
    return status;
}

/* Counts the ranks on each host and marks the ranks that may not move freely.
 */
static void slots_count_ranks(struct nw_slots *slots,
                              const struct nw_answer *answer)
{
    const int32_t *fixed = slots->problem->fixed_host;

    for (int32_t r = 0; r < slots->rank_count; r++) {
        bool here = fixed && fixed[r] >= 0, core, gpu;

        slots->held[r] = here && slots->problem->host_count > 1;
        core = here && nw_problem_fixed(slots->problem, false, r).count;
        gpu = here && nw_problem_fixed(slots->problem, true, r).count;
        slots->locked[r] = core && (gpu || !nw_slots_has_gpu(slots, r));
        slots->half[r] =
            !slots->locked[r] && (core || (gpu && nw_slots_has_gpu(slots, r)));
        slots->used[answer->host[r]]++;
        if (nw_slots_has_gpu(slots, r))
            slots->gpu_used[slots->host[slots->slot[slots->rank_count + r]]]++;
    }
}

/* --- edges --- */

/* Endpoints of an edge of the pattern: each is the core or the GPU of a rank,
 * by the kind of traffic. */
struct slots_ends {
    int32_t from, to;
};

/* Returns the endpoints of edge e of the pattern, which rank `src` sends. */
static struct slots_ends slots_ends_of(const struct nw_slots *slots,
                                       int32_t src, size_t e)
{
    const nw_pattern *pattern = slots->problem->pattern;
    enum nw_kind kind = pattern->kind[e];

    return (struct slots_ends){
        slots_endpoint_of(slots, src, nw_problem_is_gpu_end(kind, 0)),
        slots_endpoint_of(slots, pattern->dst[e],
                          nw_problem_is_gpu_end(kind, 1))};
}

/* Counts the edges of the pattern at both of their endpoints a, in row[a + 1].
 * If `write` is set, stores them instead: row[a] is the index for the next edge
 * of endpoint a, and is increased. */
static void slots_spread_edges(struct nw_slots *slots, bool write)
{
    const nw_pattern *pattern = slots->problem->pattern;

    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            struct slots_ends ends = slots_ends_of(slots, r, e);
            double bytes = (double)pattern->bytes[e];
            double messages = (double)pattern->messages[e];

            if (!write) {
                slots->row[ends.from + 1]++;
                slots->row[ends.to + 1] += ends.from != ends.to;
                continue;
            }
            slots->edge[slots->row[ends.from]++] =
                (struct nw_directed_edge){ends.to, bytes, 0, messages, 0};
            if (ends.from == ends.to)
                continue;
            slots->edge[slots->row[ends.to]++] =
                (struct nw_directed_edge){ends.from, 0, bytes, 0, messages};
        }
}

/* Compares edges by their peers, for qsort. */
static int slots_by_peer(const void *left, const void *right)
{
    const struct nw_directed_edge *a = left, *b = right;

    return (a->peer > b->peer) - (a->peer < b->peer);
}

/* Writes n sorted edges to `to` and sums those with the same peer. Returns the
 * number written. */
static size_t slots_merge(struct nw_directed_edge *to,
                          const struct nw_directed_edge *edge, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (!kept || to[kept - 1].peer != edge[i].peer) {
            to[kept++] = edge[i];
            continue;
        }
        to[kept - 1].out += edge[i].out;
        to[kept - 1].in += edge[i].in;
        to[kept - 1].out_messages += edge[i].out_messages;
        to[kept - 1].in_messages += edge[i].in_messages;
    }
    return kept;
}

void nw_slots_merge_edges(struct nw_slots *slots)
{
    size_t begin = 0, at = 0;

    for (int32_t a = 0; a < 2 * slots->rank_count; a++) {
        size_t end = slots->row[a];

        qsort(slots->edge + begin, end - begin, sizeof *slots->edge,
              slots_by_peer);
        slots->row[a] = at;
        at += slots_merge(slots->edge + at, slots->edge + begin, end - begin);
        begin = end;
    }
    slots->row[2 * slots->rank_count] = at;
}

nw_status nw_slots_alloc_edges(struct nw_slots *slots)
{
    size_t ends = 2 * (size_t)slots->rank_count;

    for (size_t a = 0; a < ends; a++)
        slots->row[a + 1] += slots->row[a];
    return nw_alloc(slots->row[ends], sizeof *slots->edge, &slots->edge);
}

/* Makes the edges of all endpoints from the pattern. */
static nw_status slots_make_edges(struct nw_slots *slots)
{
    nw_status status = nw_alloc(2 * (size_t)slots->rank_count + 1,
                                sizeof *slots->row, &slots->row);

    if (status)
        return status;
    slots_spread_edges(slots, false);
    status = nw_slots_alloc_edges(slots);
    if (status)
        return status;
    slots_spread_edges(slots, true);
    nw_slots_merge_edges(slots);
    return NW_OK;
}

nw_status nw_slots_init(struct nw_slots *slots,
                        const struct nw_problem *problem,
                        const struct nw_answer *answer)
{
    nw_status status;

    *slots = (struct nw_slots){.problem = problem,
                               .remote = problem->options.remote_gpus &&
                                         problem->uses_gpus,
                               .rank_count = problem->pattern->rank_count};
    for (int32_t r = 0;
         !slots->remote && answer->gpu_host && r < slots->rank_count; r++)
        if (answer->gpu_host[r] >= 0 && answer->gpu_host[r] != answer->host[r])
            return nw_fail(NW_EUNSUPPORTED,
                           "rank %d has its GPU on another node", r);
    status = slots_alloc_slots(slots);
    if (!status)
        status = slots_make_slots(slots, answer, false);
    slots->core_count = slots->count;
    if (!status && problem->uses_gpus)
        status = slots_make_slots(slots, answer, true);
    if (!status) {
        slots_count_ranks(slots, answer);
        status = slots_make_edges(slots);
    }
    if (status)
        nw_slots_fini(slots);
    return status;
}

void nw_slots_fini(struct nw_slots *slots)
{
    NW_FREE_ALL(slots->end, slots->host, slots->unit, slots->first, slots->row,
                slots->edge, slots->slot, slots->owner, slots->locked,
                slots->held, slots->half, slots->used, slots->gpu_used,
                slots->node_class);
    *slots = (struct nw_slots){0};
}

bool nw_slots_are_free(const struct nw_slots *slots)
{
    for (int32_t r = 0; r < slots->rank_count; r++)
        if (slots->locked[r] || slots->held[r] || slots->half[r])
            return false;
    for (int32_t h = 0; h < slots->problem->host_count; h++)
        if (slots->problem->capacity[h] < slots->first[h + 1] - slots->first[h])
            return false;
    return slots->count == slots->core_count &&
           slots->row[slots->rank_count] == slots->row[2 * slots->rank_count];
}

void nw_slots_assign(struct nw_slots *slots, const int32_t *slot)
{
    size_t hosts = (size_t)slots->problem->host_count;

    for (int32_t s = 0; s < slots->count; s++)
        slots->owner[s] = -1;
    memset(slots->used, 0, hosts * sizeof *slots->used);
    memset(slots->gpu_used, 0, hosts * sizeof *slots->gpu_used);
    for (int32_t a = 0; a < 2 * slots->rank_count; a++) {
        slots->slot[a] = slot[a];
        if (slot[a] < 0)
            continue;
        slots->owner[slot[a]] = a;
        (a < slots->rank_count ? slots->used
                               : slots->gpu_used)[slots->host[slot[a]]]++;
    }
}

void nw_slots_to_answer(const struct nw_slots *slots, struct nw_answer *answer)
{
    for (int32_t r = 0; r < slots->rank_count; r++) {
        int32_t core = slots->slot[r];
        int32_t gpu = slots->slot[slots->rank_count + r];

        answer->host[r] = slots->host[core];
        answer->core[r] = slots->unit[core];
        answer->gpu[r] = gpu < 0 ? -1 : slots->unit[gpu];
        if (answer->gpu_host)
            answer->gpu_host[r] = gpu < 0 ? -1 : slots->host[gpu];
    }
}
