/* SPDX-License-Identifier: BSD-3-Clause */
/* Anneals by swaps. Each round divides the subtrees below the root into groups;
 * only slots of one group are swapped, so groups run in parallel. See
 * anneal_swaps.h. */
#include "map/hierarchy/anneal_swaps.h"
#include "base/array.h"
#include "map/common/metropolis.h"
#include "map/common/parameters.h"
#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one call of nw_anneal_swaps. */
struct anneal_swaps_work {
    struct nw_anneal_swaps *anneal_swaps;
    struct nw_assignment *assignment; /* that of anneal_swaps */
    uint64_t long_arcs; /* swaps of two processes with more edges than this
                           together are tried less often; UINT64_MAX: no such
                           limit */
    const double *metropolis; /* nw_metropolis_table */
    int32_t groups;           /* number of groups in each round */
    int32_t *deal;            /* the subtrees below the root, in random order */
    int32_t *best; /* [count] slot of each process in the best assignment so
                      far */
    double best_cost;
    /* The fields from here on describe the present round. */
    int32_t *group;       /* [slots] group of each slot */
    int32_t *first;       /* [groups + 1] index in list[] at which each group
                             begins */
    int32_t *list;        /* processes that may move, sorted by group */
    uint64_t seed, steps; /* seed: of random numbers; steps: trials of all
                             groups together */
    double temperature;
    double *change; /* [groups] change of the hop-bytes by each group */
};

/* Returns the change of hop-bytes if p moves from the slot with code way[0] to
 * that with code way[1]. Leaves out p's edge to process `but`, which swaps with
 * p. If a peer is in another group, the thread of that group may change the
 * code of the peer's slot at the same time. Any value read is right, because
 * the peer stays within its group, whose slots are all equally far from this
 * group's. */
static inline double anneal_swaps_shift(const struct nw_assignment *assignment,
                                        int32_t p, const uint64_t way[2],
                                        int32_t but)
{
    const struct nw_undirected_edge *edge =
        assignment->edge + assignment->row[p];
    const struct nw_undirected_edge *end =
        assignment->edge + assignment->row[p + 1];
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    double sum = 0;

    for (; edge < end; edge++) {
        uint64_t there =
            __atomic_load_n(&assignment->at[edge->peer], __ATOMIC_RELAXED);

        if (edge->peer != but)
            sum +=
                edge->bytes * (nw_hierarchy_distance(hierarchy, way[1], there) -
                               nw_hierarchy_distance(hierarchy, way[0], there));
    }
    return sum;
}

/* Returns a random slot in a subtree that contains a random peer of p; small
 * subtrees are more likely. Returns -1 if that peer is in another group or p
 * has none. */
static int32_t anneal_swaps_propose(const struct anneal_swaps_work *work,
                                    int32_t p, int32_t group,
                                    struct nw_random *random)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    size_t row = assignment->row[p];
    int32_t degree = (int32_t)(assignment->row[p + 1] - row);
    uint64_t bits = nw_random_next(random);
    int32_t level = 1, near, cluster;

    if (!degree)
        return -1;
    near = __atomic_load_n(
        &assignment->slot[assignment
                              ->edge[row + (size_t)nw_random_index(bits >> 32,
                                                                   degree)]
                              .peer],
        __ATOMIC_RELAXED);
    if (work->group[near] != group)
        return -1;
    while (level < hierarchy->levels - 2 && (bits >> level & 3) == 0)
        level++;
    cluster = hierarchy->cluster[level][near];
    return hierarchy->first[level][cluster] +
           nw_random_index(nw_random_next(random),
                           hierarchy->first[level][cluster + 1] -
                               hierarchy->first[level][cluster]);
}

/* Returns true if the contents of slots a and b may be swapped. A swap within a
 * cluster of level 1 changes no distance if each place has one slot, so it is
 * only allowed if loads are limited. */
static inline bool anneal_swaps_may_swap(const struct nw_assignment *assignment,
                                         int32_t a, int32_t b)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;

    if (!assignment->load)
        return hierarchy->cluster[1][a] != hierarchy->cluster[1][b];
    return a != b &&
           nw_assignment_within_limit(assignment, b, assignment->process[a]) &&
           nw_assignment_within_limit(assignment, a, assignment->process[b]);
}

/* Decides at random whether to try a swap of p and q (-1: free slot). If both
 * together have more than work->long_arcs edges, the probability is long_arcs
 * / edges, so that such swaps take no more time than others. */
static inline bool anneal_swaps_is_tried(const struct anneal_swaps_work *work,
                                         int32_t p, int32_t q,
                                         struct nw_random *random)
{
    const size_t *row = work->assignment->row;
    uint64_t arcs = row[p + 1] - row[p] + (q < 0 ? 0 : row[q + 1] - row[q]);

    return arcs <= work->long_arcs ||
           (nw_random_next(random) >> 32) * arcs < work->long_arcs << 32;
}

/* Tries to swap p with the content of a slot near one of its peers; annealing
 * accepts or rejects it. Returns the change of the hop-bytes, 0 without a swap.
 */
static double anneal_swaps_try_one(const struct anneal_swaps_work *work,
                                   int32_t p, int32_t group,
                                   struct nw_random *random)
{
    struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int32_t home = assignment->slot[p];
    int32_t slot = anneal_swaps_propose(work, p, group, random);
    uint64_t way[2], back[2];
    double change;

    if (slot < 0 || assignment->fixed[slot] ||
        !anneal_swaps_may_swap(assignment, home, slot) ||
        !anneal_swaps_is_tried(work, p, assignment->process[slot], random))
        return 0;
    way[0] = back[1] = hierarchy->code[home];
    way[1] = back[0] = hierarchy->code[slot];
    change = anneal_swaps_shift(assignment, p, way, assignment->process[slot]);
    if (assignment->process[slot] >= 0)
        change +=
            anneal_swaps_shift(assignment, assignment->process[slot], back, p);
    if (change > 0 &&
        change >=
            work->temperature *
                work->metropolis[nw_random_next(random) % NW_METROPOLIS_SIZE])
        return 0;
    nw_assignment_swap(assignment, home, slot);
    return change;
}

/* Makes all trials of one group in this round; a task for nw_parallel_run. */
static void anneal_swaps_run_group(void *user, int32_t group)
{
    const struct anneal_swaps_work *work = user;
    int32_t first = work->first[group];
    int32_t count = work->first[group + 1] - first;
    struct nw_random random;
    uint64_t steps;
    double sum = 0;

    nw_random_init(&random, work->seed + (uint64_t)group);
    steps = count ? work->steps * (uint64_t)count /
                        (uint64_t)work->assignment->count
                  : 0;
    for (uint64_t i = 0; i < steps; i++) {
        int32_t at = first + nw_random_index(nw_random_next(&random), count);

        sum += anneal_swaps_try_one(work, work->list[at], group, &random);
    }
    work->change[group] = sum;
}

/* --- rounds --- */

/* Allocates the arrays and sets the number of groups of each round. */
static nw_status anneal_swaps_alloc_work(struct anneal_swaps_work *work)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int32_t below = hierarchy->count[hierarchy->levels - 2];
    size_t n = (size_t)assignment->count;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY((size_t)below, work->deal),
        NW_ARRAY((size_t)hierarchy->slots, work->group),
        NW_ARRAY((size_t)below + 2, work->first), NW_ARRAY(n, work->list),
        NW_ARRAY(n, work->best), NW_ARRAY((size_t)below, work->change));

    if (status)
        return status;
    for (int32_t i = 0; i < below; i++)
        work->deal[i] = i;
    work->groups = below / 2;
    if (work->groups > assignment->count / nw_tuned.swaps.group_min)
        work->groups = assignment->count / nw_tuned.swaps.group_min;
    if (work->groups < 1)
        work->groups = 1;
    return NW_OK;
}

/* Shuffles the subtrees below the root and divides them into groups. */
static void anneal_swaps_draw_groups(struct anneal_swaps_work *work,
                                     struct nw_random *random)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int32_t level = hierarchy->levels - 2, below = hierarchy->count[level];
    int32_t at = 0;

    nw_random_shuffle(random, work->deal, (size_t)below);
    for (int32_t g = 0; g < work->groups; g++) {
        int32_t end = (int32_t)((int64_t)below * (g + 1) / work->groups);

        work->first[g] = at;
        for (int32_t i = (int32_t)((int64_t)below * g / work->groups); i < end;
             i++) {
            int32_t c = work->deal[i];

            for (int32_t s = hierarchy->first[level][c];
                 s < hierarchy->first[level][c + 1]; s++) {
                work->group[s] = g;
                if (assignment->process[s] >= 0 && !assignment->fixed[s])
                    work->list[at++] = assignment->process[s];
            }
        }
    }
    work->first[work->groups] = at;
}

/* Runs one round: divides the subtrees into new groups, anneals each group, and
 * stores the assignment if it is the best so far. */
static void anneal_swaps_run_round(struct anneal_swaps_work *work,
                                   struct nw_random *random)
{
    struct nw_anneal_swaps *anneal_swaps = work->anneal_swaps;
    int32_t count = work->assignment->count;

    work->seed = nw_random_next(random);
    anneal_swaps_draw_groups(work, random);
    nw_parallel_run(anneal_swaps_run_group, work, work->groups,
                    count < 2 * nw_tuned.swaps.group_min
                        ? 1
                        : anneal_swaps->budget->threads);
    for (int32_t g = 0; g < work->groups; g++)
        anneal_swaps->cost += work->change[g];
    if (anneal_swaps->cost < work->best_cost) {
        work->best_cost = anneal_swaps->cost;
        memcpy(work->best, work->assignment->slot,
               (size_t)count * sizeof *work->best);
    }
}

/* Runs all rounds. The temperature falls by the same factor from round to
 * round, and is 0 in the last round. */
static void anneal_swaps_run_rounds(struct anneal_swaps_work *work)
{
    const struct nw_anneal_swaps *anneal_swaps = work->anneal_swaps;
    int32_t rounds = nw_tuned.multilevel.swap_rounds;
    size_t edges = work->assignment->row[work->assignment->count];
    double cool = pow(nw_tuned.swaps.coldest, 1.0 / (rounds - 1));
    struct nw_random random;

    nw_random_init(&random, anneal_swaps->seed);
    /* The mean bytes of an edge times the second smallest distance above 0 is
     * about the cost increase of a small bad swap. Annealing from much higher
     * temperatures would not cool down in the given steps. */
    if (edges)
        work->temperature =
            anneal_swaps->temperature *
            (nw_assignment_bytes(work->assignment) / (double)edges) *
            work->assignment->hierarchy->distance[2];
    for (int32_t i = 0; i < rounds; i++, work->temperature *= cool) {
        work->steps = nw_budget_slice(
            anneal_swaps->budget, anneal_swaps->steps / (uint64_t)rounds + 1);
        if (i == rounds - 1)
            work->temperature = 0;
        anneal_swaps_run_round(work, &random);
        if (!nw_budget_spend(anneal_swaps->budget, work->steps))
            break;
    }
}

nw_status nw_anneal_swaps(struct nw_anneal_swaps *anneal_swaps)
{
    struct nw_assignment *assignment = anneal_swaps->assignment;
    struct anneal_swaps_work work = {.anneal_swaps = anneal_swaps,
                                     .assignment = assignment,
                                     .metropolis = nw_metropolis_table(),
                                     .best_cost = anneal_swaps->cost};
    double begun = anneal_swaps->cost;
    nw_status status;

    if (assignment->hierarchy->levels < 3 || !assignment->count)
        return NW_OK;
    work.long_arcs = 2 * nw_tuned.swaps.hub_means *
                     assignment->row[assignment->count] /
                     (uint64_t)assignment->count;
    if (work.long_arcs < nw_tuned.swaps.hub_arcs)
        work.long_arcs = nw_tuned.swaps.hub_arcs;
    if (!anneal_swaps->sparing)
        work.long_arcs = UINT64_MAX;
    status = anneal_swaps_alloc_work(&work);
    if (!status) {
        memcpy(work.best, assignment->slot,
               (size_t)assignment->count * sizeof *work.best);
        anneal_swaps_run_rounds(&work);
        nw_assignment_set(assignment, work.best);
        anneal_swaps->cost = work.best_cost;
        (void)begun;
        assert(fabs(nw_assignment_cost(assignment) - anneal_swaps->cost) <=
               1e-9 * (1 + begun) +
                   1e-12 * nw_assignment_cost_bound(assignment));
    }
    NW_FREE_ALL(work.deal, work.group, work.first, work.list, work.best,
                work.change);
    return status;
}
