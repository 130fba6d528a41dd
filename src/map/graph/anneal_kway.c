/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the rounds of k-way annealing with falling temperature: first single
 * moves of vertices if parts are large (without the gain table), then swaps;
 * see anneal_kway.h. */
#include "map/graph/anneal_kway_internal.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define ROUNDING 1e-3 /* rounding error of a cut, relative to all bytes */
#define LINE 16       /* floats in a cache line */

bool nw_anneal_kway_fits(int32_t n, int32_t parts)
{
    return (double)n * (double)parts <= nw_tuned.anneal_kway.table_max;
}

/* --- rounds --- */

/* Stores the present partition in `best` if it is the best one so far. */
static void anneal_kway_keep_best(struct anneal_kway_work *work)
{
    const struct nw_anneal_kway *anneal = work->anneal;

    if (work->cut >= work->best_cut)
        return;
    work->best_cut = work->cut;
    if (work->is_near) {
        memcpy(work->best, anneal->part,
               (size_t)anneal->graph->n * sizeof *work->best);
        return;
    }
    for (int32_t p = 0; p < anneal->parts; p++)
        for (int32_t i = 0; i < work->size[p]; i++)
            work->best[work->list[work->column[p].begin + i]] = p;
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
    int most = nw_tuned.anneal_kway.team_rounds;

    if (work->is_near)
        return nw_tuned.anneal_kway.rounds;
    if (trial)
        return most / 4;
    return (int)fmax(most / 4,
                     fmin(most, nw_tuned.anneal_kway.team_cells / cells));
}

/* Fills the table with the bytes from each vertex to each part, and lists the
 * vertices in `list` part by part, as if a single team had all parts in
 * ascending order. Each part is filled backwards from its end, so that its
 * `begin` is correct when it is full. */
static void anneal_kway_fill_table(struct anneal_kway_work *work)
{
    const struct nw_graph *graph = work->anneal->graph;
    const int32_t *part = work->anneal->part;
    int32_t parts = work->anneal->parts, end = 0;

    for (int32_t p = 0; p < parts; p++) {
        end += work->size[p];
        work->column[p] = (struct anneal_kway_column){p, parts, end};
    }
    for (int32_t v = 0; v < graph->n; v++) {
        float *row = work->table + (size_t)v * (size_t)parts;

        work->list[--work->column[part[v]].begin] = v;
        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            row[part[graph->arc[a].to]] += graph->arc[a].weight;
    }
}

/* Returns by how many bytes the cut falls if vertex v moves to part `to`. */
static double anneal_kway_gain_of(const struct nw_anneal_kway *anneal,
                                  int32_t v, int32_t to)
{
    const struct nw_graph *graph = anneal->graph;
    double gain = 0;

    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        int32_t there = anneal->part[graph->arc[a].to];

        if (there == to)
            gain += (double)graph->arc[a].weight;
        if (there == anneal->part[v])
            gain -= (double)graph->arc[a].weight;
    }
    return gain;
}

/* Moves the vertex with the largest gain from part `from` to part `to`. */
static void anneal_kway_move_best(struct nw_anneal_kway *anneal, int32_t from,
                                  int32_t to)
{
    int32_t best = -1;
    double most = 0;

    for (int32_t v = 0; v < anneal->graph->n; v++) {
        double gain;

        if (anneal->part[v] != from)
            continue;
        gain = anneal_kway_gain_of(anneal, v, to);
        if (best < 0 || gain > most) {
            best = v;
            most = gain;
        }
    }
    anneal->part[best] = to;
}

/* Ends the rounds of single moves: moves one vertex at a time from a part that
 * is too large to one that is too small, until all parts have their initial
 * sizes, and recomputes table and cut. The swaps of the later rounds keep the
 * sizes. */
static void anneal_kway_end_single_moves(struct anneal_kway_work *work)
{
    struct nw_anneal_kway *anneal = work->anneal;
    size_t cells = (size_t)anneal_kway_blocks_of(work) * (size_t)anneal->parts *
                   NW_ANNEAL_PARALLEL_BLOCK;
    int32_t to = 0;

    for (int32_t p = 0; p < anneal->parts; p++)
        for (int32_t i = 0; i < work->size[p]; i++)
            anneal->part[work->list[work->column[p].begin + i]] = p;
    for (int32_t p = 0; p < anneal->parts; p++)
        for (; work->size[p] > work->target[p]; work->size[p]--) {
            while (work->size[to] >= work->target[to])
                to++;
            anneal_kway_move_best(anneal, p, to);
            work->size[to]++;
        }
    memset(work->table, 0, cells * sizeof *work->table);
    anneal_kway_fill_table(work);
    work->cut = nw_anneal_kway_cut(anneal->graph, anneal->part);
    work->single_moves = false;
}

/* Runs all rounds; `tries` is the number of trials per vertex in all of them
 * together. The temperature falls by the same factor after each round. It is 0
 * in the last round and in the rounds of swaps after single moves. */
static void anneal_kway_run_rounds(struct anneal_kway_work *work,
                                   uint64_t tries, uint64_t seed)
{
    const struct nw_tuned_anneal_kway *tuned = &nw_tuned.anneal_kway;
    double hot = tuned->hot, cold = tuned->cold, cool;
    int last = work->rounds - 1;
    /* rounds after which the work in each part is estimated again */
    int weighed = (work->rounds + tuned->reweighed - 1) / tuned->reweighed;
    uint64_t at_once =
        tries * (uint64_t)work->anneal->graph->n / tuned->at_once;
    struct nw_budget *budget = work->anneal->budget;
    struct nw_random random;

    if (work->is_near) {
        hot = tuned->other_hot;
        cold = tuned->table_cold;
    } else if (work->single_moves) {
        hot = tuned->other_hot;
        cold = tuned->single_move_cold;
        last = (int)(tuned->single_move_share * work->rounds);
    }
    cool = pow(cold / hot, 1.0 / (work->rounds - 1));
    nw_random_init(&random, seed);
    work->temperature = hot * work->strength;
    for (int i = 0; i < work->rounds && !(budget && budget->stopped); i++) {
        if (i >= last) {
            work->temperature = 0;
            if (work->single_moves)
                anneal_kway_end_single_moves(work);
        }
        if (work->is_near) {
            work->cut += nw_gain_table_run(&work->near,
                                           at_once / (uint64_t)work->rounds + 1,
                                           work->temperature, &random);
        } else {
            if (i % weighed == 0)
                nw_anneal_kway_weigh_parts(work);
            nw_anneal_kway_run_round(work, tries, &random);
        }
        if (!work->single_moves)
            anneal_kway_keep_best(work);
        work->temperature *= cool;
        if (budget)
            nw_budget_spend(budget, 1);
    }
    if (work->single_moves) {
        anneal_kway_end_single_moves(work);
        anneal_kway_keep_best(work);
    }
}

/* --- the table --- */

/* Allocates the arrays for rounds with teams. The table begins at a cache line.
 */
static nw_status anneal_kway_alloc_teams(struct anneal_kway_work *work)
{
    const struct nw_graph *graph = work->anneal->graph;
    size_t n = (size_t)graph->n, parts = (size_t)work->anneal->parts;
    size_t block = parts * NW_ANNEAL_PARALLEL_BLOCK;
    size_t cells = (size_t)anneal_kway_blocks_of(work) * block + LINE;
    size_t line = LINE * sizeof *work->memory;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(cells, work->memory), NW_ARRAY(TEAMS * block, work->scratch),
        NW_ARRAY(block, work->source), NW_ARRAY(parts, work->column),
        NW_ARRAY(parts, work->was), NW_ARRAY(parts, work->size),
        NW_ARRAY(parts, work->target), NW_ARRAY(parts, work->imbalance),
        NW_ARRAY(parts + TEAMS, work->first), NW_ARRAY(parts, work->deal),
        NW_ARRAY(parts, work->weight), NW_ARRAY(n, work->list),
        NW_ARRAY(n, work->old), NW_ARRAY(n, work->spare),
        NW_ARRAY(n * TEAMS, work->own));

    if (status)
        return status;
    work->table = (float *)(((uintptr_t)work->memory + line - 1) / line * line);
    for (int32_t p = 0; p < work->anneal->parts; p++)
        work->deal[p] = p;
    for (size_t t = 0; t < TEAMS; t++)
        work->team[t] =
            (struct nw_anneal_parallel){.graph = graph,
                                        .metropolis = nw_metropolis_table(),
                                        .own = work->own + t * n,
                                        .block = block};
    return NW_OK;
}

/* Allocates the arrays and fills the table: the gain table or that of the
 * teams. */
static nw_status anneal_kway_prepare(struct anneal_kway_work *work)
{
    struct nw_anneal_kway *anneal = work->anneal;
    size_t n = (size_t)anneal->graph->n;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n, work->start), NW_ARRAY(n, work->best));

    if (status)
        return status;
    memcpy(work->start, anneal->part, n * sizeof *work->start);
    memcpy(work->best, anneal->part, n * sizeof *work->best);
    if (work->is_near)
        return nw_gain_table_init(&work->near, anneal->graph, anneal->part,
                                  anneal->parts);
    status = anneal_kway_alloc_teams(work);
    if (status)
        return status;
    for (size_t v = 0; v < n; v++)
        work->size[anneal->part[v]]++;
    memcpy(work->target, work->size,
           (size_t)anneal->parts * sizeof *work->target);
    anneal_kway_fill_table(work);
    return NW_OK;
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
 * above `begun`, the initial one. anneal->part becomes the best partition
 * found. The cut stays high on graphs with small separators, on which annealing
 * finds nothing better. The cut of the result is computed from scratch, because
 * rounding errors of floats may hide small differences; if it is larger than
 * the initial one, the initial partition is restored. */
static void anneal_kway_search(struct anneal_kway_work *work, double begun)
{
    struct nw_anneal_kway *anneal = work->anneal;
    size_t bytes = (size_t)anneal->graph->n * sizeof *work->best;
    double tries = (double)anneal->tries, cut;

    work->cut = work->best_cut = begun;
    work->strength = anneal_kway_strength(anneal, begun);
    work->rounds = anneal_kway_rounds_of(work, true);
    anneal_kway_run_rounds(work, anneal->tries / nw_tuned.anneal_kway.trial,
                           anneal->seed);
    work->rounds = anneal_kway_rounds_of(work, false);
    work->single_moves = anneal_kway_uses_single_moves(work);
    if (work->rounds == nw_tuned.anneal_kway.team_rounds)
        tries *= nw_tuned.anneal_kway.team_tries; /* teams, a small graph */
    if (work->cut <= nw_tuned.anneal_kway.trial_cut * begun)
        anneal_kway_run_rounds(work, (uint64_t)tries, anneal->seed + 1);
    memcpy(anneal->part, work->best, bytes);
    cut = nw_anneal_kway_cut(anneal->graph, anneal->part);
    assert(fabs(cut - work->best_cut) <=
           ROUNDING * anneal_kway_bytes_of(anneal->graph));
    if (cut > begun)
        memcpy(anneal->part, work->start, bytes);
}

nw_status nw_anneal_kway(struct nw_anneal_kway *anneal)
{
    struct anneal_kway_work work = {.anneal = anneal};
    double begun = nw_anneal_kway_cut(anneal->graph, anneal->part);
    nw_status status;

    anneal->expander_like = begun > nw_tuned.anneal_kway.expander_like_cut *
                                        anneal_kway_bytes_of(anneal->graph);
    if (begun <= 0 || (anneal->expander_like ? anneal->only_separable
                                             : anneal->only_expander_like))
        return NW_OK;
    work.is_near = anneal->near ||
                   anneal->graph->n < nw_tuned.anneal_kway.teamed_min ||
                   anneal->parts < 2 * TEAMS;
    status = anneal_kway_prepare(&work);
    if (!status)
        anneal_kway_search(&work, begun);
    nw_gain_table_fini(&work.near);
    NW_FREE_ALL(work.memory, work.scratch, work.source, work.column, work.was,
                work.size, work.target, work.imbalance, work.spare, work.first,
                work.deal, work.weight, work.list, work.old, work.start,
                work.best, work.own);
    return status;
}
