/* SPDX-License-Identifier: BSD-3-Clause */
/* Anneals divisions of the ranks over dragonfly groups. The load of an ordered
 * pair of groups is the seconds that its own links need for the bytes from one
 * group to the other. Keeps the best few divisions. */
#include "map/groups/dragonfly_internal.h"
#include "map/common/parameters.h"

#include <math.h>

/* Function nw_division_annealing.count: adds up the loads of all pairs of
 * groups. */
static void dragonfly_anneal_count_loads(void *user)
{
    struct nw_dragonfly_search *work = user;
    const struct nw_slots *slots = work->of.slots;

    for (int32_t r = 0; r < slots->rank_count; r++)
        for (size_t t = slots->row[r]; t < slots->row[r + 1]; t++) {
            int pair = nw_dragonfly_pair(work, work->of.part[r],
                                         work->of.part[slots->edge[t].peer]);

            work->of.load[pair] += slots->edge[t].out * work->slow[pair];
        }
}

/* Adds `bytes` from one group to another to the change of the pair's load by
 * the swap on trial. */
static void dragonfly_anneal_add(struct nw_dragonfly_search *work, int32_t from,
                                 int32_t to, double bytes)
{
    int pair = nw_dragonfly_pair(work, from, to);

    if (from != to)
        nw_division_add(&work->of, pair, bytes * work->slow[pair]);
}

/* Adds the changes of the loads by the edges of `rank` if it is swapped with
 * `other`. The edge between the two ranks is counted only if rank < other,
 * because this function is called for both. */
static void dragonfly_anneal_add_change(struct nw_dragonfly_search *work,
                                        int32_t rank, int32_t other)
{
    const struct nw_directed_edge *edge = NULL;
    size_t edges = nw_division_edges(&work->of, rank, &edge);
    int32_t from = work->of.part[rank], to = work->of.part[other];

    for (; edges--; edge++) {
        int32_t before = work->of.part[edge->peer], after = before;

        if (edge->peer == rank || (edge->peer == other && rank > other))
            continue;
        if (edge->peer == other)
            after = from;
        dragonfly_anneal_add(work, from, before, -edge->out);
        dragonfly_anneal_add(work, before, from, -edge->in);
        dragonfly_anneal_add(work, to, after, edge->out);
        dragonfly_anneal_add(work, after, to, edge->in);
    }
}

/* Function nw_division_annealing.change: adds the changes of the loads if
 * members a and b are swapped. */
static void dragonfly_anneal_change(void *user, int32_t a, int32_t b)
{
    dragonfly_anneal_add_change(user, a, b);
    dragonfly_anneal_add_change(user, b, a);
}

/* --- rounds --- */

/* Returns the initial temperature: the seconds that an edge of mean bytes needs
 * on the links of the first pair of groups. */
static double
dragonfly_anneal_first_temperature(const struct nw_dragonfly_search *work)
{
    const struct nw_slots *slots = work->of.slots;
    size_t edges = slots->row[slots->rank_count];
    double sum = 0;

    for (size_t t = 0; t < edges; t++)
        sum += slots->edge[t].out;
    return edges ? sum / (double)edges * work->slow[1] : 0;
}

/* Returns true if b is a division (not an empty entry) and neither of a and b
 * is better, so that they count as equal. */
static bool dragonfly_anneal_is_like(const struct nw_best_division *a,
                                     const struct nw_best_division *b)
{
    return !isinf(b->least) && !nw_best_division_is_less(a, b) &&
           !nw_best_division_is_less(b, a);
}

/* Inserts the best division of a round into work->best[], which is sorted from
 * best to worst, unless an equal one is there. */
static void dragonfly_anneal_list_round(struct nw_dragonfly_search *work)
{
    for (int i = 0; i < NW_DRAGONFLY_PAIRS_KEPT; i++)
        if (dragonfly_anneal_is_like(&work->of.best, &work->best[i]))
            return;
    for (int i = 0; i < NW_DRAGONFLY_PAIRS_KEPT; i++)
        if (nw_best_division_is_less(&work->of.best, &work->best[i])) {
            struct nw_best_division worse = work->best[i];

            work->best[i] = work->of.best;
            work->of.best = worse;
        }
}

bool nw_dragonfly_anneal(struct nw_dragonfly_search *work, double below)
{
    int32_t ranks = work->of.slots->rank_count, parts = work->of.groups.parts;
    uint64_t draws = (uint64_t)ranks * nw_tuned.dragonfly.draws_each;
    struct nw_division_annealing annealing = {
        .mean = nw_tuned.dragonfly.mean,
        .loads = parts * (parts - 1),
        .draws = draws < nw_tuned.dragonfly.draws_max
                     ? draws
                     : nw_tuned.dragonfly.draws_max,
        .temperature = dragonfly_anneal_first_temperature(work),
        .user = work,
        .count = dragonfly_anneal_count_loads,
        .change = dragonfly_anneal_change};

    for (int i = 0; i < nw_tuned.dragonfly.rounds; i++) {
        work->of.best.parts = parts * parts;
        work->of.best.least = INFINITY;
        if (!nw_division_anneal(&work->of, &annealing))
            break;
        dragonfly_anneal_list_round(work);
    }
    return work->best[0].least < below * (1 - 1e-9);
}
