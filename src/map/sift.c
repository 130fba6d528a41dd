/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of swaps between parts, from hot to cold; see sift.h. */
#include "map/sift.h"
#include "base/array.h"
#include "map/chance.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 400
#define HOT 0.25 /* of what a vertex's arcs amount to */
#define COLD 0.06
#define HOPELESS 14    /* heats for the worse by one of the two alone */
#define TRIAL 8        /* a short trial has one of so many tries */
#define NEAR 1.12      /* of the first cut, by the trial: go on */
#define FORMLESS 0.25  /* of all bytes are cut */
#define TABLE_MOST 4e7 /* cells */
#define TEAMS 2
#define TEAMED_LEAST 8192 /* vertices */
#define PICKS 3           /* of peers, until one is in the same team */
#define TRY 38     /* arcs that take as long as a vertex's tries do else */
#define WEIGHED 20 /* rounds from weighing parts to weighing them again */

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
    int teams;
    int32_t *deal;  /* [parts] shuffled */
    int32_t *team;  /* [parts] */
    double *weight; /* [parts] how long they take, in arcs */
    int32_t *list;  /* [n] vertices, those of a team together */
    int32_t begin[TEAMS + 1];
    uint64_t seed, tries; /* of the round */
    double change[TEAMS];
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
    __atomic_store_n(&work->sift->part[v], to, __ATOMIC_RELAXED);
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

/* Vertices of another team may move meanwhile, inside that team. */
static inline int32_t part_of(const struct sifting *work, int32_t v)
{
    return __atomic_load_n(&work->sift->part[v], __ATOMIC_RELAXED);
}

/* The part of a random peer of u; another than u's, of the same team, or -1. */
static int32_t propose(const struct sifting *work, int32_t u, uint64_t bits)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    int32_t degree = graph->row[u + 1] - graph->row[u];
    int32_t from = work->sift->part[u];

    for (int i = 0; degree && i < PICKS; i++, bits *= 0x9e3779b97f4a7c15) {
        int32_t pick = nw_chance_pick(bits, degree);
        int32_t to = part_of(work, graph->arc[graph->row[u] + pick].to);

        if (to == from)
            return -1;
        if (work->team[to] == work->team[from])
            return to;
    }
    return -1;
}

/* u goes where a peer of it is, for a random vertex there. */
static double try_one(struct sifting *work, int32_t u, struct nw_random *random)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    uint64_t bits = nw_random_next(random);
    int32_t from = work->sift->part[u], to = propose(work, u, bits), v;
    double change, limit;

    if (to < 0)
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

static void run_team(void *user, int32_t team)
{
    struct sifting *work = user;
    int32_t begin = work->begin[team];
    int32_t count = work->begin[team + 1] - begin;
    struct nw_random random;
    double change = 0;

    nw_random_init(&random, work->seed + (uint64_t)team);
    for (uint64_t i = 0; i < work->tries * (uint64_t)count; i++) {
        int32_t at = nw_chance_pick(nw_random_next(&random), count);

        change += try_one(work, work->list[begin + at], &random);
    }
    work->change[team] = change;
}

static void weigh_parts(struct sifting *work)
{
    const int32_t *row = work->sift->graph->row;

    for (int32_t p = 0; p < work->sift->parts; p++) {
        work->weight[p] = 0;
        for (int32_t i = work->first[p]; i < work->first[p + 1]; i++) {
            int32_t v = work->member[i];

            work->weight[p] += TRY + (double)(row[v + 1] - row[v]);
        }
    }
}

/* Shuffled; a part that holds the hubs of a graph stands first, so that its
 * team gets as many fewer others. Returns what all weigh. */
static double shuffle_parts(struct sifting *work, struct nw_random *random)
{
    int32_t parts = work->sift->parts, heaviest = 0, *deal = work->deal;
    double sum = 0;

    nw_random_shuffle(random, deal, (size_t)parts);
    for (int32_t i = 0; i < parts; i++) {
        sum += work->weight[deal[i]];
        if (work->weight[deal[i]] > work->weight[deal[heaviest]])
            heaviest = i;
    }
    if (work->weight[deal[heaviest]] * parts > 2 * sum) {
        int32_t hubs = deal[heaviest];

        deal[heaviest] = deal[0];
        deal[0] = hubs;
    }
    return sum;
}

/* Where a team's parts end in the deal: as near to its share of the weight as
 * may be, but each team has enough parts to swap between. */
static int32_t end_of(const struct sifting *work, int team, double sum)
{
    int32_t parts = work->sift->parts;
    int32_t even = (int32_t)((int64_t)parts * (team + 1) / work->teams);
    int32_t least = even - parts / 4, end = 0;
    double aim = sum * (team + 1) / work->teams, here = 0;

    if (team + 1 == work->teams)
        return parts;
    while (end < least || (end < even + parts / 4 &&
                           here + work->weight[work->deal[end]] / 2 < aim))
        here += work->weight[work->deal[end++]];
    return end;
}

static void deal_teams(struct sifting *work, struct nw_random *random)
{
    double sum = shuffle_parts(work, random);
    int32_t at = 0, i = 0;

    for (int t = 0; t < work->teams; t++) {
        int32_t end = end_of(work, t, sum);

        work->begin[t] = at;
        for (; i < end; i++) {
            int32_t p = work->deal[i];
            int32_t size = work->first[p + 1] - work->first[p];

            work->team[p] = t;
            memcpy(work->list + at, work->member + work->first[p],
                   (size_t)size * sizeof *work->list);
            at += size;
        }
    }
    work->begin[work->teams] = at;
}

static void run_round(struct sifting *work, uint64_t tries,
                      struct nw_random *random)
{
    deal_teams(work, random);
    work->seed = nw_random_next(random);
    work->tries = tries;
    nw_crew_run(run_team, work, work->teams, work->sift->threads);
    for (int t = 0; t < work->teams; t++)
        work->cut += work->change[t];
    if (work->cut >= work->best_cut)
        return;
    work->best_cut = work->cut;
    memcpy(work->best, work->sift->part,
           (size_t)work->sift->graph->n * sizeof *work->best);
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
        if (i % WEIGHED == 0)
            weigh_parts(work);
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
    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);
    if (!status)
        status = nw_alloc(parts, sizeof *work->deal, &work->deal);
    if (!status)
        status = nw_alloc(parts, sizeof *work->team, &work->team);
    if (!status)
        status = nw_alloc(parts, sizeof *work->weight, &work->weight);
    for (size_t p = 0; !status && p < parts; p++)
        work->deal[p] = (int32_t)p;
    return status;
}

static void free_sifting(struct sifting *work)
{
    free(work->pull);
    free(work->first);
    free(work->member);
    free(work->at);
    free(work->best);
    free(work->list);
    free(work->deal);
    free(work->team);
    free(work->weight);
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
    work->teams =
        sift->graph->n < TEAMED_LEAST || sift->parts < 2 * TEAMS ? 1 : TEAMS;
    nw_chances_fill(work->chance);
    status = alloc_sifting(work);
    if (!status)
        search(work);
    free_sifting(work);
    free(work);
    return status;
}
