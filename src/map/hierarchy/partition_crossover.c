/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of moves that do not feel each other; see partition_crossover.h. */
#include "map/hierarchy/partition_crossover.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct crossover_work {
    struct nw_assignment *assignment;
    int32_t *to;     /* [count] slots in the other assignment */
    int32_t *leader; /* [count] of the part; -1: did not move */
    double *change;  /* [count] of the cost by the part of a leader */
};

static int32_t crossover_leader_of(struct crossover_work *work, int32_t p)
{
    int32_t *leader = work->leader;

    while (leader[p] != p)
        p = leader[p] = leader[leader[p]];
    return p;
}

static void crossover_join(struct crossover_work *work, int32_t p, int32_t q)
{
    p = crossover_leader_of(work, p);
    q = crossover_leader_of(work, q);
    if (p < q)
        work->leader[q] = p;
    else
        work->leader[p] = q;
}

static double crossover_apart(const struct nw_assignment *assignment, int32_t a,
                              int32_t b)
{
    return nw_hierarchy_distance(assignment->hierarchy,
                                 assignment->hierarchy->code[a],
                                 assignment->hierarchy->code[b]);
}

/* Whether what one of two costs by moving is up to where the other one is. */
static bool crossover_moves_interact(const struct crossover_work *work,
                                     int32_t p, int32_t q)
{
    const struct nw_assignment *assignment = work->assignment;
    int32_t a = assignment->slot[p], b = assignment->slot[q];
    int32_t to = work->to[p], its = work->to[q];

    return crossover_apart(assignment, a, b) +
               crossover_apart(assignment, to, its) !=
           crossover_apart(assignment, to, b) +
               crossover_apart(assignment, a, its);
}

static void crossover_find_parts(struct crossover_work *work)
{
    const struct nw_assignment *assignment = work->assignment;

    for (int32_t p = 0; p < assignment->count; p++)
        work->leader[p] = work->to[p] == assignment->slot[p] ? -1 : p;
    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t there = assignment->process[work->to[p]];

        if (work->leader[p] < 0)
            continue;
        if (there >= 0)
            crossover_join(work, p, there);
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++) {
            int32_t peer = assignment->edge[b].peer;

            if (peer > p && work->leader[peer] >= 0 &&
                crossover_moves_interact(work, p, peer))
                crossover_join(work, p, peer);
        }
    }
}

static void crossover_evaluate_parts(struct crossover_work *work)
{
    const struct nw_assignment *assignment = work->assignment;

    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t leader =
            work->leader[p] < 0 ? -1 : crossover_leader_of(work, p);
        double change = 0;

        if (leader < 0)
            continue;
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++) {
            int32_t q = assignment->edge[b].peer, its = assignment->slot[q];
            double was = crossover_apart(assignment, assignment->slot[p], its);

            if (work->leader[q] >= 0 && crossover_leader_of(work, q) == leader)
                change +=
                    assignment->edge[b].bytes / 2 *
                    (crossover_apart(assignment, work->to[p], work->to[q]) -
                     was);
            else
                change += assignment->edge[b].bytes *
                          (crossover_apart(assignment, work->to[p], its) - was);
        }
        work->change[leader] += change;
    }
}

/* A process that stays in its smallest subtree keeps its slot; the others take
 * the slots that are left in theirs. taken[slots] and next[clusters] are zero.
 */
static void crossover_keep_slots(struct crossover_work *work, bool *taken,
                                 int32_t *next)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int32_t level =
        hierarchy->count[0] == hierarchy->slots && hierarchy->levels > 1;
    const int32_t *cluster = hierarchy->cluster[level];

    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t slot = assignment->slot[p];

        if (cluster[slot] != cluster[work->to[p]])
            continue;
        work->to[p] = slot;
        taken[slot] = true;
    }
    for (int32_t p = 0; p < assignment->count; p++) {
        int32_t c = cluster[work->to[p]], slot;

        if (cluster[assignment->slot[p]] == c)
            continue;
        do
            slot = hierarchy->first[level][c] + next[c]++;
        while (taken[slot] || assignment->fixed[slot]);
        work->to[p] = slot;
    }
}

static void crossover_take_parts(struct crossover_work *work)
{
    const struct nw_assignment *assignment = work->assignment;

    for (int32_t p = 0; p < assignment->count; p++)
        if (work->leader[p] < 0 ||
            work->change[crossover_leader_of(work, p)] >= 0)
            work->to[p] = assignment->slot[p];
}

nw_status nw_partition_crossover(struct nw_assignment *assignment,
                                 const int32_t *slot, double *cost)
{
    struct crossover_work work = {.assignment = assignment};
    size_t n = (size_t)assignment->count,
           slots = (size_t)assignment->hierarchy->slots;
    bool *taken = NULL;
    int32_t *next = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, work.to), NW_ARRAY(n, work.leader),
                     NW_ARRAY(n, work.change), NW_ARRAY(slots, taken),
                     NW_ARRAY(slots, next));

    if (!status) {
        memcpy(work.to, slot, n * sizeof *slot);
        crossover_keep_slots(&work, taken, next);
        crossover_find_parts(&work);
        crossover_evaluate_parts(&work);
        crossover_take_parts(&work);
        status = nw_assignment_take_if_better(assignment, work.to, cost);
    }
    NW_FREE_ALL(work.to, work.leader, work.change, taken, next);
    return status;
}
