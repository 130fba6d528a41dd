/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of swaps between parts, from hot to cold; see sift.h. */
#include "map/sift.h"
#include "base/array.h"
#include "map/chance.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 200
#define HOT 0.25 /* of what a vertex's arcs amount to */
#define COLD 0.06
#define HOPELESS 14    /* heats for the worse by one of the two alone */
#define TRIAL 8        /* a short trial has one of so many tries */
#define NEAR 1.12      /* of the first cut, by the trial: go on */
#define FORMLESS 0.25  /* of all bytes are cut */
#define TABLE_MOST 4e7 /* cells */

struct sifting {
    struct nw_sift *sift;
    double chance[NW_CHANCES];
    float *pull;     /* [n * parts] bytes from a vertex to a part */
    int32_t *first;  /* [parts + 1] into member */
    int32_t *member; /* [n] vertices, those of a part together */
    int32_t *at;     /* [n] where a vertex stands there */
    int32_t *best;   /* [n] parts */
    double best_cut, cut;
    double heat;
};

bool nw_sift_fits(int32_t n, int32_t parts)
{
    return (double)n * (double)parts <= TABLE_MOST;
}

/* --- one swap --- */

static inline float *pull_of(const struct sifting *work, int32_t v)
{
    return work->pull + (size_t)v * (size_t)work->sift->parts;
}

static double between(const struct nw_halve_graph *graph, int32_t u, int32_t v)
{
    int32_t degree = graph->row[u + 1] - graph->row[u];
    double bytes = 0;

    if (degree > graph->row[v + 1] - graph->row[v])
        return between(graph, v, u);
    for (int32_t a = graph->row[u]; a < graph->row[u + 1]; a++)
        if (graph->arc[a].to == v)
            bytes += (double)graph->arc[a].bytes;
    return bytes;
}

static void enter(struct sifting *work, int32_t v, int32_t to)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    int32_t from = work->sift->part[v];

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        float *pull = pull_of(work, graph->arc[a].to);

        pull[from] -= graph->arc[a].bytes;
        pull[to] += graph->arc[a].bytes;
    }
    work->sift->part[v] = to;
}

static void swap(struct sifting *work, int32_t u, int32_t v)
{
    int32_t from = work->sift->part[u], to = work->sift->part[v];
    int32_t at = work->at[u];

    work->at[u] = work->at[v];
    work->at[v] = at;
    work->member[work->at[u]] = u;
    work->member[at] = v;
    enter(work, u, to);
    enter(work, v, from);
}

/* u goes where a peer of it is, for a random vertex there. */
static double try_one(struct sifting *work, int32_t u, struct nw_random *random)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    int32_t degree = graph->row[u + 1] - graph->row[u], from, to, v;
    uint64_t bits = nw_random_next(random);
    double change, limit;

    if (!degree)
        return 0;
    from = work->sift->part[u];
    v = graph->arc[graph->row[u] + nw_chance_pick(bits, degree)].to;
    to = work->sift->part[v];
    if (to == from)
        return 0;
    change = (double)(pull_of(work, u)[from] - pull_of(work, u)[to]);
    if (change > HOPELESS * work->heat)
        return 0;
    v = work->member[work->first[to] +
                     nw_chance_pick(bits >> 32,
                                    work->first[to + 1] - work->first[to])];
    change += (double)(pull_of(work, v)[to] - pull_of(work, v)[from]);
    limit = work->heat * work->chance[nw_random_next(random) % NW_CHANCES];
    if (change >= limit)
        return 0;
    change += 2 * between(graph, u, v);
    if (change >= limit)
        return 0;
    swap(work, u, v);
    return change;
}

/* --- rounds --- */

static void run_round(struct sifting *work, uint64_t tries,
                      struct nw_random *random)
{
    int32_t n = work->sift->graph->n;

    for (uint64_t i = 0; i < tries * (uint64_t)n; i++) {
        int32_t u = nw_chance_pick(nw_random_next(random), n);

        work->cut += try_one(work, u, random);
    }
    if (work->cut >= work->best_cut)
        return;
    work->best_cut = work->cut;
    memcpy(work->best, work->sift->part, (size_t)n * sizeof *work->best);
}

static bool is_stopped(const struct sifting *work)
{
    return work->sift->budget && work->sift->budget->stopped;
}

/* What the arcs of a vertex amount to when they pull at random. */
static double strength(const struct nw_halve_graph *graph)
{
    double sum = 0;

    for (int32_t a = 0; a < graph->row[graph->n]; a++)
        sum += (double)graph->arc[a].bytes * (double)graph->arc[a].bytes;
    return sqrt(sum / graph->n);
}

static void run_rounds(struct sifting *work, uint64_t tries, uint64_t seed)
{
    double unit = strength(work->sift->graph);
    double cool = pow(COLD / HOT, 1.0 / (ROUNDS - 1));
    struct nw_random random;

    nw_random_init(&random, seed);
    work->heat = HOT * unit;
    for (int i = 0; i < ROUNDS && !is_stopped(work); i++) {
        if (i == ROUNDS - 1)
            work->heat = 0;
        run_round(work, tries / ROUNDS + 1, &random);
        work->heat *= cool;
        if (work->sift->budget)
            nw_budget_go(work->sift->budget, 1, work->sift->budget->best);
    }
}

/* --- the table --- */

static double fill_pull(struct sifting *work)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    const int32_t *part = work->sift->part;
    double cut = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t to = part[graph->arc[a].to];

            pull_of(work, v)[to] += graph->arc[a].bytes;
            cut += to == part[v] ? 0 : (double)graph->arc[a].bytes;
        }
    return cut / 2;
}

/* Backwards from the ends of the parts: `first` ends as their beginnings. */
static void fill_members(struct sifting *work)
{
    const int32_t *part = work->sift->part;

    for (int32_t v = 0; v < work->sift->graph->n; v++)
        work->first[part[v]]++;
    for (int32_t p = 0; p < work->sift->parts; p++)
        work->first[p + 1] += work->first[p];
    for (int32_t v = 0; v < work->sift->graph->n; v++) {
        work->at[v] = --work->first[part[v]];
        work->member[work->at[v]] = v;
    }
}

static nw_status alloc_sifting(struct sifting *work)
{
    size_t n = (size_t)work->sift->graph->n;
    size_t parts = (size_t)work->sift->parts;
    nw_status status = nw_alloc(n * parts, sizeof *work->pull, &work->pull);

    if (!status)
        status = nw_alloc(parts + 1, sizeof *work->first, &work->first);
    if (!status)
        status = nw_alloc(n, sizeof *work->member, &work->member);
    if (!status)
        status = nw_alloc(n, sizeof *work->at, &work->at);
    if (!status)
        status = nw_alloc(n, sizeof *work->best, &work->best);
    return status;
}

static void free_sifting(struct sifting *work)
{
    free(work->pull);
    free(work->first);
    free(work->member);
    free(work->at);
    free(work->best);
}

static double bytes_of(const struct nw_halve_graph *graph)
{
    double sum = 0;

    for (int32_t a = 0; a < graph->row[graph->n]; a++)
        sum += (double)graph->arc[a].bytes;
    return sum / 2;
}

/* A short trial first: where it stays far from the start, there is a shape. */
static void search(struct sifting *work)
{
    struct nw_sift *sift = work->sift;
    size_t size = (size_t)sift->graph->n * sizeof *work->best;
    double begun = work->cut = work->best_cut = fill_pull(work);

    sift->formless = begun > FORMLESS * bytes_of(sift->graph);
    if (sift->only_formless && !sift->formless)
        return;
    fill_members(work);
    memcpy(work->best, sift->part, size);
    run_rounds(work, sift->tries / TRIAL, sift->seed);
    if (work->cut <= NEAR * begun)
        run_rounds(work, sift->tries, sift->seed + 1);
    memcpy(sift->part, work->best, size);
}

nw_status nw_sift(struct nw_sift *sift)
{
    struct sifting *work = NULL;
    nw_status status = nw_alloc(1, sizeof *work, &work);

    if (status)
        return status;
    work->sift = sift;
    nw_chances_fill(work->chance);
    status = alloc_sifting(work);
    if (!status)
        search(work);
    free_sifting(work);
    free(work);
    return status;
}
