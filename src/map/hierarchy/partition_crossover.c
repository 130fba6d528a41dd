/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of moves that do not feel each other; see partition_crossover.h. */
#include "map/hierarchy/partition_crossover.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct grafting {
    struct nw_layout *layout;
    int32_t *to;     /* [count] seats in the other seating */
    int32_t *leader; /* [count] of the part; -1: did not move */
    double *change;  /* [count] of the cost by the part of a leader */
};

static int32_t leader_of(struct grafting *work, int32_t p)
{
    int32_t *leader = work->leader;

    while (leader[p] != p)
        p = leader[p] = leader[leader[p]];
    return p;
}

static void join(struct grafting *work, int32_t p, int32_t q)
{
    p = leader_of(work, p);
    q = leader_of(work, q);
    if (p < q)
        work->leader[q] = p;
    else
        work->leader[p] = q;
}

static double apart(const struct nw_layout *layout, int32_t a, int32_t b)
{
    return nw_tree_apart(layout->tree, layout->tree->code[a],
                         layout->tree->code[b]);
}

/* Whether what one of two costs by moving is up to where the other one is. */
static bool feels(const struct grafting *work, int32_t p, int32_t q)
{
    const struct nw_layout *layout = work->layout;
    int32_t a = layout->seat[p], b = layout->seat[q];
    int32_t to = work->to[p], its = work->to[q];

    return apart(layout, a, b) + apart(layout, to, its) !=
           apart(layout, to, b) + apart(layout, a, its);
}

static void find_parts(struct grafting *work)
{
    const struct nw_layout *layout = work->layout;

    for (int32_t p = 0; p < layout->count; p++)
        work->leader[p] = work->to[p] == layout->seat[p] ? -1 : p;
    for (int32_t p = 0; p < layout->count; p++) {
        int32_t there = layout->process[work->to[p]];

        if (work->leader[p] < 0)
            continue;
        if (there >= 0)
            join(work, p, there);
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            int32_t peer = layout->bond[b].peer;

            if (peer > p && work->leader[peer] >= 0 && feels(work, p, peer))
                join(work, p, peer);
        }
    }
}

static void price_parts(struct grafting *work)
{
    const struct nw_layout *layout = work->layout;

    for (int32_t p = 0; p < layout->count; p++) {
        int32_t leader = work->leader[p] < 0 ? -1 : leader_of(work, p);
        double change = 0;

        if (leader < 0)
            continue;
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            int32_t q = layout->bond[b].peer, its = layout->seat[q];
            double was = apart(layout, layout->seat[p], its);

            if (work->leader[q] >= 0 && leader_of(work, q) == leader)
                change += layout->bond[b].bytes / 2 *
                          (apart(layout, work->to[p], work->to[q]) - was);
            else
                change += layout->bond[b].bytes *
                          (apart(layout, work->to[p], its) - was);
        }
        work->change[leader] += change;
    }
}

/* Who stays in a smallest subtree keeps the seat there, the others take what is
 * left of it. taken[seats] and next[clusters] are zero. */
static void keep_seats(struct grafting *work, bool *taken, int32_t *next)
{
    const struct nw_layout *layout = work->layout;
    const struct nw_tree *tree = layout->tree;
    int32_t level = tree->count[0] == tree->seats && tree->levels > 1;
    const int32_t *cluster = tree->cluster[level];

    for (int32_t p = 0; p < layout->count; p++) {
        int32_t seat = layout->seat[p];

        if (cluster[seat] != cluster[work->to[p]])
            continue;
        work->to[p] = seat;
        taken[seat] = true;
    }
    for (int32_t p = 0; p < layout->count; p++) {
        int32_t c = cluster[work->to[p]], seat;

        if (cluster[layout->seat[p]] == c)
            continue;
        do
            seat = tree->first[level][c] + next[c]++;
        while (taken[seat] || layout->fixed[seat]);
        work->to[p] = seat;
    }
}

static void take_parts(struct grafting *work)
{
    const struct nw_layout *layout = work->layout;

    for (int32_t p = 0; p < layout->count; p++)
        if (work->leader[p] < 0 || work->change[leader_of(work, p)] >= 0)
            work->to[p] = layout->seat[p];
}

nw_status nw_graft(struct nw_layout *layout, const int32_t *seat, double *cost)
{
    struct grafting work = {.layout = layout};
    size_t n = (size_t)layout->count, seats = (size_t)layout->tree->seats;
    bool *taken = NULL;
    int32_t *next = NULL;
    nw_status status = nw_alloc(n, sizeof *work.to, &work.to);

    if (!status)
        status = nw_alloc(n, sizeof *work.leader, &work.leader);
    if (!status)
        status = nw_alloc(n, sizeof *work.change, &work.change);
    if (!status)
        status = nw_alloc(seats, sizeof *taken, &taken);
    if (!status)
        status = nw_alloc(seats, sizeof *next, &next);
    if (!status) {
        memcpy(work.to, seat, n * sizeof *seat);
        keep_seats(&work, taken, next);
        find_parts(&work);
        price_parts(&work);
        take_parts(&work);
        status = nw_layout_take_if_better(layout, work.to, cost);
    }
    free(work.to);
    free(work.leader);
    free(work.change);
    free(taken);
    free(next);
    return status;
}
