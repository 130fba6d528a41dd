/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rounds of k-way annealing with falling temperature: first single
 * moves of vertices if parts are large (without the gain table), then swaps;
 * see anneal_kway.h. */
#include "map/graph/anneal_kway_internal.h"
#include "map/graph/rebalance.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-3 /* rounding error of a cut, relative to all bytes */
#define LINE 16       /* floats in a cache line */

bool nw_anneal_kway_fits(int32_t n, int32_t parts)
{
    return (double)n * (double)parts <= nw_tuned.anneal_kway.table_max;
}

/* --- rounds --- */

/* Stores the present partition in `best` if it is the best one so far. Called
 * after the last round; before, the teams (anneal_kway_teams.c) store it at the
 * beginning of the next round. */
static void anneal_kway_keep_best(struct anneal_kway_work *work)
{
    for (int32_t p = 0; work->is_best && p < work->anneal->parts; p++)
        for (int32_t i = 0; i < work->size[p]; i++)
            work->best[work->list[work->column[p].begin + i]] = p;
    work->is_best = false;
}

/* Runs one round in which two teams anneal disjoint parts. `tries`: trials per
 * vertex in all rounds together. */
static void anneal_kway_run_round(struct anneal_kway_work *work, uint64_t tries,
                                  struct nw_random *random)
{
    uint64_t seed;

    nw_anneal_kway_draw_teams(work, random);
    seed = nw_random_next(random);
    for (int t = 0; t < TEAMS; t++) {
        struct nw_anneal_parallel *team = &work->team[t];

        team->seed = seed + (uint64_t)t;
        team->tries =
            nw_anneal_kway_share_of(work, t, tries) / (uint64_t)work->rounds +
            1;
        team->temperature = work->temperature;
        team->imbalance_cost =
            work->single_moves
                ? nw_tuned.anneal_kway.imbalance_cost * work->temperature
                : 0;
    }
    nw_parallel_run(nw_anneal_kway_run_team, work, TEAMS,
                    work->anneal->threads);
    for (int t = 0; t < TEAMS; t++) {
        work->cut += work->team[t].change;
        if (work->single_moves)
            nw_anneal_kway_read_sizes(work, t);
    }
    work->is_best = !work->single_moves && work->cut < work->best_cut;
    if (work->is_best)
        work->best_cut = work->cut;
}

/* Runs one round with the gain table. `tries`: trials per vertex in all rounds
 * together. */
static void anneal_kway_run_table(struct anneal_kway_work *work, uint64_t tries,
                                  struct nw_random *random)
{
    uint64_t n = (uint64_t)work->anneal->graph->n;

    work->cut += nw_gain_table_run(
        &work->near,
        tries * n / nw_tuned.anneal_kway.at_once / (uint64_t)work->rounds + 1,
        work->temperature, random);
    if (work->cut < work->best_cut) {
        work->best_cut = work->cut;
        memcpy(work->best, work->anneal->part, n * sizeof *work->best);
    }
}

/* Returns true if the budget ended the search. */
static bool anneal_kway_is_stopped(const struct anneal_kway_work *work)
{
    return work->anneal->budget && work->anneal->budget->stopped;
}

/* Returns the typical change of the cut, in bytes, if a vertex changes its
 * part: the root of the mean, over all vertices, of the sum of squares of the
 * vertex's arcs. It is at most nw_tuned.anneal_kway.crossing times the mean
 * bytes between a border vertex and other parts, which is smaller if a few arcs
 * are much heavier than the others. */
static double anneal_kway_strength(const struct nw_anneal_kway *anneal,
                                   double cut)
{
    const struct nw_graph *graph = anneal->graph;
    double sum = 0, border = 0;

    for (int32_t v = 0; v < graph->n; v++) {
        bool crosses = false;

        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            sum += (double)graph->arc[a].weight * (double)graph->arc[a].weight;
            crosses |= anneal->part[graph->arc[a].to] != anneal->part[v];
        }
        border += crosses;
    }
    return fmin(sqrt(sum / graph->n),
                nw_tuned.anneal_kway.crossing * 2 * cut / border);
}

/* Returns the number of rounds of an annealing. Each round of teams permutes
 * the table, so there are fewer and longer rounds if the table is large, or if
 * the annealing is the short trial run before the full one. */
static int anneal_kway_rounds_of(const struct anneal_kway_work *work,
                                 bool trial)
{
    double cells = (double)work->anneal->graph->n * work->anneal->parts;

    if (work->is_near)
        return nw_tuned.anneal_kway.rounds;
    if (trial)
        return nw_tuned.anneal_kway.team_rounds_min;
    return (int)fmax(nw_tuned.anneal_kway.team_rounds_min,
                     fmin(nw_tuned.anneal_kway.team_rounds,
                          nw_tuned.anneal_kway.team_cells / cells));
}

/* Returns the number of trials per vertex in all rounds together:
 * anneal->tries, more by the factor team_tries if a run by teams
 * (anneal_parallel.h) has the most rounds, team_rounds, as for small graphs. */
static uint64_t anneal_kway_tries_of(const struct anneal_kway_work *work)
{
    double tries = (double)work->anneal->tries;

    return (uint64_t)(work->rounds == nw_tuned.anneal_kway.team_rounds
                          ? nw_tuned.anneal_kway.team_tries * tries
                          : tries);
}

/* Fills the table with the bytes from each vertex to each part, as if a single
 * team had all parts in ascending order. */
static void anneal_kway_fill_table(struct anneal_kway_work *work)
{
    const struct nw_graph *graph = work->anneal->graph;
    const int32_t *part = work->anneal->part;
    size_t parts = (size_t)work->anneal->parts;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            work->table[(size_t)v * parts + (size_t)part[graph->arc[a].to]] +=
                graph->arc[a].weight;
    for (int32_t p = 0; p < work->anneal->parts; p++)
        work->column[p] =
            (struct anneal_kway_column){p, work->anneal->parts, 0};
}

/* Lists the vertices in `list` part by part. Each part is filled backwards from
 * its end, so that its `begin` is correct when it is full. */
static void anneal_kway_fill_list(struct anneal_kway_work *work)
{
    const int32_t *part = work->anneal->part;
    int32_t at = 0;

    for (int32_t v = 0; v < work->anneal->graph->n; v++)
        work->size[part[v]]++;
    for (int32_t p = 0; p < work->anneal->parts; p++)
        work->column[p].begin = at += work->size[p];
    for (int32_t v = 0; v < work->anneal->graph->n; v++)
        work->list[--work->column[part[v]].begin] = v;
}

/* Ends the rounds of single moves: moves vertices until all parts have their
 * initial sizes, and recomputes table and cut. The swaps of the later rounds
 * keep the sizes. */
static void anneal_kway_end_single_moves(struct anneal_kway_work *work)
{
    struct nw_anneal_kway *anneal = work->anneal;
    size_t parts = (size_t)anneal->parts;
    size_t cells =
        (size_t)anneal_kway_blocks_of(work) * parts * NW_ANNEAL_PARALLEL_BLOCK;

    for (int32_t p = 0; p < anneal->parts; p++) {
        work->imbalance[p] = work->size[p] - work->target[p];
        for (int32_t i = 0; i < work->size[p]; i++)
            anneal->part[work->list[work->column[p].begin + i]] = p;
    }
    nw_rebalance(anneal->graph, anneal->part, anneal->parts, work->imbalance);
    memset(work->table, 0, cells * sizeof *work->table);
    memset(work->size, 0, parts * sizeof *work->size);
    anneal_kway_fill_table(work);
    anneal_kway_fill_list(work);
    work->cut = nw_anneal_kway_cut(anneal->graph, anneal->part);
    work->single_moves = false;
    work->is_best = work->cut < work->best_cut;
    if (work->is_best)
        work->best_cut = work->cut;
}

/* Runs round i. Before it, ends the single moves if that is due, and, if that
 * is due, estimates again how long the trials in each part take
 * (nw_anneal_kway_weigh_parts). */
static void anneal_kway_run_round_of(struct anneal_kway_work *work, int i,
                                     uint64_t tries, struct nw_random *random)
{
    int weighed = (nw_tuned.anneal_kway.reweighed * work->rounds +
                   nw_tuned.anneal_kway.rounds - 1) /
                  nw_tuned.anneal_kway.rounds;

    if (work->is_near) {
        anneal_kway_run_table(work, tries, random);
        return;
    }
    if (work->single_moves &&
        i >= (int)(nw_tuned.anneal_kway.single_move_share * work->rounds))
        anneal_kway_end_single_moves(work);
    if (i % weighed == 0)
        nw_anneal_kway_weigh_parts(work);
    anneal_kway_run_round(work, tries, random);
}

/* Temperatures of the first and the last round, in units of
 * anneal_kway_work.strength. */
struct anneal_kway_temperatures {
    double hot, cold;
};

/* Returns the temperatures for the kind of rounds: with the gain table, with
 * single moves, or with swaps in teams. */
static struct anneal_kway_temperatures
anneal_kway_temperatures_of(const struct anneal_kway_work *work)
{
    if (work->is_near)
        return (struct anneal_kway_temperatures){
            nw_tuned.anneal_kway.table_hot, nw_tuned.anneal_kway.table_cold};
    if (work->single_moves)
        return (struct anneal_kway_temperatures){
            nw_tuned.anneal_kway.single_move_hot,
            nw_tuned.anneal_kway.single_move_cold};
    return (struct anneal_kway_temperatures){nw_tuned.anneal_kway.hot,
                                             nw_tuned.anneal_kway.cold};
}

/* Runs all rounds; `tries` is the number of trials per vertex in all of them
 * together. The temperature falls by the same factor after each round. It is 0
 * in the last round and in the rounds of swaps after single moves. */
static void anneal_kway_run_rounds(struct anneal_kway_work *work,
                                   uint64_t tries, uint64_t seed)
{
    struct anneal_kway_temperatures temperatures =
        anneal_kway_temperatures_of(work);
    double cool =
        pow(temperatures.cold / temperatures.hot, 1.0 / (work->rounds - 1));
    int last =
        work->single_moves
            ? (int)(nw_tuned.anneal_kway.single_move_share * work->rounds)
            : work->rounds - 1;
    struct nw_random random;

    nw_random_init(&random, seed);
    work->temperature = temperatures.hot * work->strength;
    for (int i = 0; i < work->rounds && !anneal_kway_is_stopped(work); i++) {
        if (i >= last)
            work->temperature = 0;
        anneal_kway_run_round_of(work, i, tries, &random);
        work->temperature *= cool;
        if (work->anneal->budget)
            nw_budget_spend(work->anneal->budget, 1);
    }
    if (work->single_moves)
        anneal_kway_end_single_moves(work);
    anneal_kway_keep_best(work);
}

/* --- the table --- */

/* Allocates the table of the teams, which begins at a cache line. */
static nw_status anneal_kway_alloc_table(struct anneal_kway_work *work)
{
    size_t block = (size_t)work->anneal->parts * NW_ANNEAL_PARALLEL_BLOCK;
    size_t cells = (size_t)anneal_kway_blocks_of(work) * block + LINE;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(cells, work->memory),
                                    NW_ARRAY(TEAMS * block, work->scratch),
                                    NW_ARRAY(block, work->source));

    if (!status) {
        size_t line = LINE * sizeof *work->memory;
        size_t over = (uintptr_t)work->memory % line;

        work->table =
            work->memory + (over ? line - over : 0) / sizeof *work->memory;
    }
    return status;
}

static nw_status anneal_kway_alloc_parts(struct anneal_kway_work *work)
{
    size_t parts = (size_t)work->anneal->parts;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(parts, work->column), NW_ARRAY(parts, work->was),
        NW_ARRAY(parts, work->size), NW_ARRAY(parts, work->target),
        NW_ARRAY(parts, work->imbalance), NW_ARRAY(parts + TEAMS, work->first),
        NW_ARRAY(parts, work->deal), NW_ARRAY(parts, work->weight));

    for (size_t p = 0; !status && p < parts; p++)
        work->deal[p] = (int32_t)p;
    return status;
}

/* Allocates the arrays for rounds with teams. */
static nw_status anneal_kway_alloc_teams(struct anneal_kway_work *work)
{
    size_t n = (size_t)work->anneal->graph->n;
    nw_status status = anneal_kway_alloc_table(work);

    if (!status)
        status = anneal_kway_alloc_parts(work);
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY(n, work->list), NW_ARRAY(n, work->old),
                              NW_ARRAY(n, work->spare),
                              NW_ARRAY(n * TEAMS, work->own));
    for (int t = 0; !status && t < TEAMS; t++)
        work->team[t] = (struct nw_anneal_parallel){
            .graph = work->anneal->graph,
            .metropolis = nw_metropolis_table(),
            .own = work->own + (size_t)t * n,
            .block = (size_t)work->anneal->parts * NW_ANNEAL_PARALLEL_BLOCK};
    return status;
}

/* Allocates the arrays and fills the table: the gain table or that of the
 * teams. */
static nw_status anneal_kway_prepare(struct anneal_kway_work *work)
{
    struct nw_anneal_kway *anneal = work->anneal;
    size_t n = (size_t)anneal->graph->n;
    nw_status status = nw_alloc(n, sizeof *work->best, &work->best);

    if (status)
        return status;
    memcpy(work->best, anneal->part, n * sizeof *work->best);
    if (work->is_near)
        return nw_gain_table_init(&work->near, anneal->graph, anneal->part,
                                  anneal->parts);
    status = anneal_kway_alloc_teams(work);
    if (!status) {
        anneal_kway_fill_table(work);
        anneal_kway_fill_list(work);
        memcpy(work->target, work->size,
               (size_t)anneal->parts * sizeof *work->target);
    }
    return status;
}

static void anneal_kway_free_work(struct anneal_kway_work *work)
{
    nw_gain_table_fini(&work->near);
    NW_FREE_ALL(work->memory, work->scratch, work->source, work->column,
                work->was, work->size, work->target, work->imbalance,
                work->spare, work->first, work->deal, work->weight, work->list,
                work->old, work->best, work->own, work);
}

/* --- the search --- */

double nw_anneal_kway_cut(const struct nw_graph *graph, const int32_t *part)
{
    double cut = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (part[graph->arc[a].to] != part[v])
                cut += (double)graph->arc[a].weight;
    return cut / 2;
}

/* Returns the bytes of all edges, counting each edge once. */
static double anneal_kway_bytes_of(const struct nw_graph *graph)
{
    double sum = 0;

    for (size_t a = 0; a < graph->row[graph->n]; a++)
        sum += (double)graph->arc[a].weight;
    return sum / 2;
}

/* Returns true if vertices may move singly, without a swap, in the first
 * rounds. Teams must anneal a graph that is not too large, with parts whose
 * size a few more vertices change little. */
static bool anneal_kway_uses_single_moves(const struct anneal_kway_work *work)
{
    const struct nw_anneal_kway *anneal = work->anneal;

    return !work->is_near &&
           anneal->graph->n <= nw_tuned.anneal_kway.single_move_max &&
           anneal->graph->n / anneal->parts >=
               nw_tuned.anneal_kway.single_move_part_min;
}

/* Runs a short annealing, and then the full one unless the cut is still far
 * above the initial one. anneal->part becomes the best partition found. The cut
 * stays high on graphs with small separators, on which annealing finds nothing
 * better. `begun` is the initial cut in bytes. */
static void anneal_kway_search(struct anneal_kway_work *work, double begun)
{
    struct nw_anneal_kway *anneal = work->anneal;

    work->cut = work->best_cut = begun;
    work->strength = anneal_kway_strength(anneal, begun);
    work->rounds = anneal_kway_rounds_of(work, true);
    anneal_kway_run_rounds(work, anneal->tries / nw_tuned.anneal_kway.trial,
                           anneal->seed);
    work->rounds = anneal_kway_rounds_of(work, false);
    work->single_moves = anneal_kway_uses_single_moves(work);
    if (work->cut <= nw_tuned.anneal_kway.trial_cut * begun)
        anneal_kway_run_rounds(work, anneal_kway_tries_of(work),
                               anneal->seed + 1);
    memcpy(anneal->part, work->best,
           (size_t)anneal->graph->n * sizeof *work->best);
}

/* Computes the cut of the result from scratch, because rounding errors of
 * floats may hide small differences, and restores the partition `start` if the
 * cut is larger than `begun`, the cut of `start`. */
static void anneal_kway_end_round(struct anneal_kway_work *work,
                                  const int32_t *start, double begun)
{
    struct nw_anneal_kway *anneal = work->anneal;
    double cut = nw_anneal_kway_cut(anneal->graph, anneal->part);

    assert(fabs(cut - work->best_cut) <=
           ROUNDING * anneal_kway_bytes_of(anneal->graph));
    if (cut > begun)
        memcpy(anneal->part, start, (size_t)anneal->graph->n * sizeof *start);
}

nw_status nw_anneal_kway(struct nw_anneal_kway *anneal)
{
    struct anneal_kway_work *work = NULL;
    size_t n = (size_t)anneal->graph->n;
    double begun = nw_anneal_kway_cut(anneal->graph, anneal->part);
    int32_t *start = NULL;
    nw_status status;

    anneal->expander_like = begun > nw_tuned.anneal_kway.expander_like_cut *
                                        anneal_kway_bytes_of(anneal->graph);
    if (begun <= 0 || (anneal->expander_like ? anneal->only_separable
                                             : anneal->only_expander_like))
        return NW_OK;
    status = nw_alloc(1, sizeof *work, &work);
    if (status)
        return status;
    work->anneal = anneal;
    work->is_near = anneal->near ||
                    anneal->graph->n < nw_tuned.anneal_kway.teamed_min ||
                    anneal->parts < 2 * TEAMS;
    status = nw_alloc(n, sizeof *start, &start);
    if (!status)
        status = anneal_kway_prepare(work);
    if (!status) {
        memcpy(start, anneal->part, n * sizeof *start);
        anneal_kway_search(work, begun);
        anneal_kway_end_round(work, start, begun);
    }
    free(start);
    anneal_kway_free_work(work);
    return status;
}
