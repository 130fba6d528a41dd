/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds of swaps between parts and of moves, from hot to cold; see
 * anneal_kway.h. */
#include "map/graph/anneal_kway.h"
#include "map/graph/rebalance.h"
#include "map/graph/anneal_gain_table.h"
#include "map/graph/anneal_parallel.h"
#include "base/array.h"
#include "map/common/metropolis.h"
#include "base/crew.h"

#include <assert.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 400
/* Of teams, which move the table in each, and take more tries for it. */
#define TEAM_ROUNDS 160
#define TEAM_ROUNDS_LEAST 40
#define TEAM_CELLS 8e8 /* that are moved in all rounds together */
#define TEAM_TRIES 1.125
/* The first and the last heat, of what a vertex's arcs amount to. */
#define HOT 0.25
#define COLD 0.06
/* Vertices that move alone go where their peers are and come back less often:
 * as cold as swaps that are colder. The last rounds are swaps, without heat. */
#define ALONE_HOT 0.2
#define ALONE_COLD 0.02
#define ALONE_SHARE 0.97 /* of the rounds */
#define EXCESS_COST 0.05 /* in heats; parts deviate by about three vertices */
#define ALONE_LEAST 64   /* vertices of a part in the mean */
#define ALONE_MOST 65536 /* vertices of all; larger ones were not measured */
#define NEAR_HOT 0.2
#define NEAR_COLD 0.05
#define AT_ONCE 5       /* tries that one of all partners together replaces */
#define TRIAL 8         /* a short trial has one of so many tries */
#define NEAR 1.12       /* of the first cut, by the trial: go on */
#define COOLER_TRIALS 3 /* of small ones, each from the best, half as hot */
#define CROSSING 2      /* heat at most, in what crosses at a vertex */
#define FORMLESS 0.25   /* of all bytes are cut */
#define TABLE_MOST 4e7  /* cells */
#define ROUNDING 1e-3   /* of sums of floats, of all bytes */
#define TEAMS 2
#define TEAMED_LEAST 8192 /* vertices */
#define TRY 60     /* arcs that take as long as a vertex's tries do else */
#define MORE 1.2   /* tries of a vertex that takes less than others */
#define WEIGHED 20 /* rounds from weighing parts to weighing them again */
#define LINE 16    /* floats in a cache line */

#define TURNED 64 /* blocks that a thread turns at a time */

/* Where a part's column stands in each block of the table, and its vertices in
 * the list. */
struct column {
    int32_t first, stride, begin;
};

struct sifting {
    struct nw_sift *sift;
    double chance[NW_CHANCES];
    bool is_near; /* one table of all, no teams: the rest up to
                     `best` is not used */
    int rounds;
    struct nw_sift_near near;
    float *noise;                /* where none was given */
    float *memory, *table;       /* the second begins a cache line */
    struct column *column, *was; /* [parts], now and in the last round */
    float *scratch;              /* [TEAMS] blocks */
    int32_t *source;             /* of one: where each cell was */
    int32_t taken, turned;       /* blocks, in this round */
    int32_t *list, *old;         /* [n] vertices, those of a part together */
    int32_t *size;               /* [parts] vertices */
    int32_t *aim;                /* [parts] as many as in the end */
    int32_t *excess;             /* [parts] those of a team together */
    int32_t *spare;              /* [n] */
    bool alone;                  /* vertices move, they do not swap */
    int32_t *first;              /* [parts + TEAMS] those of the teams */
    int16_t *own;                /* [TEAMS * n] */
    int32_t *best;               /* [n] parts */
    bool is_best;                /* the parts as they are: not there yet */
    double best_cut, cut;
    double strength; /* heat is this, first x HOT */
    double heat;
    int32_t *deal; /* [parts] shuffled, those of a team together */
    int32_t deal_end[TEAMS + 1];
    double *weight; /* [parts] how long they take, in arcs */
    struct nw_sift_team team[TEAMS];
};

bool nw_sift_fits(int32_t n, int32_t parts)
{
    return (double)n * (double)parts <= TABLE_MOST;
}

static int32_t blocks_of(const struct sifting *work)
{
    return (work->sift->graph->n + NW_SIFT_BLOCK - 1) / NW_SIFT_BLOCK;
}

/* --- dealing parts to teams --- */

static void weigh_parts(struct sifting *work)
{
    const int32_t *row = work->sift->graph->row;

    for (int32_t p = 0; p < work->sift->parts; p++) {
        const int32_t *list = work->list + work->column[p].begin;

        work->weight[p] = 0;
        for (int32_t i = 0; i < work->size[p]; i++)
            work->weight[p] += TRY + (double)(row[list[i] + 1] - row[list[i]]);
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
    int32_t even = (int32_t)((int64_t)parts * (team + 1) / TEAMS);
    int32_t least = even - parts / 4, end = 0;
    double aim = sum * (team + 1) / TEAMS, here = 0;

    if (team + 1 == TEAMS)
        return parts;
    while (end < least || (end < even + parts / 4 &&
                           here + work->weight[work->deal[end]] / 2 < aim))
        here += work->weight[work->deal[end++]];
    return end;
}

/* Where a team's columns and vertices will stand, one part after the other. */
static void seat_team(struct sifting *work, int t, int32_t *at)
{
    struct nw_sift_team *team = &work->team[t];
    int32_t from = work->deal_end[t];

    team->parts = work->deal_end[t + 1] - from;
    team->first = work->first + from + t;
    team->list = work->list + *at;
    team->pull = work->table + NW_SIFT_BLOCK * from;
    team->first[0] = 0;
    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[from + i];

        work->column[p] =
            (struct column){NW_SIFT_BLOCK * from + i, team->parts, *at};
        *at += work->size[p];
        team->first[i + 1] = team->first[i] + work->size[p];
        work->excess[from + i] = work->size[p] - work->aim[p];
    }
    team->excess = work->excess + from;
    team->spare = work->spare + (team->list - work->list);
}

/* After vertices moved alone. */
static void read_sizes(struct sifting *work, int t)
{
    const struct nw_sift_team *team = &work->team[t];
    int32_t before = (int32_t)(team->list - work->list);

    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[work->deal_end[t] + i];

        work->column[p].begin = before + team->first[i];
        work->size[p] = team->first[i + 1] - team->first[i];
    }
}

static void find_sources(struct sifting *work)
{
    for (int32_t p = 0; p < work->sift->parts; p++) {
        struct column from = work->was[p], to = work->column[p];

        for (int32_t i = 0; i < NW_SIFT_BLOCK; i++)
            work->source[to.first + i * to.stride] =
                from.first + i * from.stride;
    }
}

static void deal_teams(struct sifting *work, struct nw_random *random)
{
    double sum = shuffle_parts(work, random);
    struct column *column = work->was;
    int32_t at = 0, *list = work->old;

    work->was = work->column;
    work->column = column;
    work->old = work->list;
    work->list = list;
    for (int t = 0; t < TEAMS; t++) {
        work->deal_end[t + 1] = end_of(work, t, sum);
        seat_team(work, t, &at);
    }
    find_sources(work);
    work->taken = work->turned = 0;
}

/* Moves the columns of a block from where they were to where they are. */
static void turn_block(const struct sifting *work, float *block, float *scratch)
{
    int32_t cells = work->sift->parts * NW_SIFT_BLOCK;
    const int32_t *source = work->source;

    memcpy(scratch, block, (size_t)cells * sizeof *scratch);
    for (int32_t i = 0; i < cells; i++)
        block[i] = scratch[source[i]];
}

/* Together with the other team's thread, if it has one. */
static void turn_blocks(struct sifting *work, float *scratch)
{
    int32_t all = blocks_of(work), b;
    size_t block = (size_t)work->sift->parts * NW_SIFT_BLOCK;

    while ((b = __atomic_fetch_add(&work->taken, TURNED, __ATOMIC_RELAXED)) <
           all) {
        int32_t end = all - b < TURNED ? all : b + TURNED;

        for (int32_t i = b; i < end; i++)
            turn_block(work, work->table + (size_t)i * block, scratch);
        __atomic_fetch_add(&work->turned, end - b, __ATOMIC_RELEASE);
    }
}

/* What is taken and not yet turned is another thread's that runs. */
static void wait_for_blocks(const struct sifting *work)
{
    while (__atomic_load_n(&work->turned, __ATOMIC_ACQUIRE) < blocks_of(work))
        sched_yield();
}

static void take_vertices(struct sifting *work, int32_t t)
{
    struct nw_sift_team *team = &work->team[t];

    memset(team->own, -1, (size_t)work->sift->graph->n * sizeof *team->own);
    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[work->deal_end[t] + i];
        int32_t *list = team->list + team->first[i];

        memcpy(list, work->old + work->was[p].begin,
               (size_t)work->size[p] * sizeof *list);
        for (int32_t k = 0; k < work->size[p]; k++)
            team->own[list[k]] = (int16_t)i;
        for (int32_t k = 0; work->is_best && k < work->size[p]; k++)
            work->best[list[k]] = p;
    }
}

/* --- rounds --- */

static void run_team(void *user, int32_t team)
{
    struct sifting *work = user;
    size_t block = (size_t)work->sift->parts * NW_SIFT_BLOCK;

    turn_blocks(work, work->scratch + (size_t)team * block);
    take_vertices(work, team);
    wait_for_blocks(work);
    nw_sift_team_run(&work->team[team]);
}

/* What the teams do at the beginning of the next round, if there is one. */
static void keep_best(struct sifting *work)
{
    for (int32_t p = 0; work->is_best && p < work->sift->parts; p++)
        for (int32_t i = 0; i < work->size[p]; i++)
            work->best[work->list[work->column[p].begin + i]] = p;
    work->is_best = false;
}

/* A team's tries: as many for each vertex, but a few less where its vertices
 * take longer, so that all teams end together. */
static uint64_t share_of(const struct sifting *work, int team, uint64_t tries)
{
    double n = work->sift->graph->n, all = 0, rate[TEAMS];
    double here = work->team[team].first[work->team[team].parts];

    for (int t = 0; t < TEAMS; t++) {
        double weight = 0;

        for (int32_t i = work->deal_end[t]; i < work->deal_end[t + 1]; i++)
            weight += work->weight[work->deal[i]];
        rate[t] = work->team[t].first[work->team[t].parts] / weight;
        all += rate[t];
    }
    return (
        uint64_t)((double)tries *
                  fmin(here * MORE, fmax(here / MORE, n * rate[team] / all)));
}

static void run_round(struct sifting *work, uint64_t tries,
                      struct nw_random *random)
{
    uint64_t seed;

    deal_teams(work, random);
    seed = nw_random_next(random);
    for (int t = 0; t < TEAMS; t++) {
        struct nw_sift_team *team = &work->team[t];

        team->seed = seed + (uint64_t)t;
        team->tries = share_of(work, t, tries) / (uint64_t)work->rounds + 1;
        team->heat = work->heat;
        team->excess_cost = work->alone ? EXCESS_COST * work->heat : 0;
    }
    nw_crew_run(run_team, work, TEAMS, work->sift->threads);
    for (int t = 0; t < TEAMS; t++) {
        work->cut += work->team[t].change;
        if (work->alone)
            read_sizes(work, t);
    }
    work->is_best = !work->alone && work->cut < work->best_cut;
    if (work->is_best)
        work->best_cut = work->cut;
}

static void run_near(struct sifting *work, uint64_t tries,
                     struct nw_random *random)
{
    uint64_t n = (uint64_t)work->sift->graph->n;

    work->cut += nw_sift_near_run(
        &work->near, tries * n / AT_ONCE / (uint64_t)work->rounds + 1,
        work->heat, random);
    if (work->cut < work->best_cut) {
        work->best_cut = work->cut;
        memcpy(work->best, work->sift->part, n * sizeof *work->best);
    }
}

static bool is_stopped(const struct sifting *work)
{
    return work->sift->budget && work->sift->budget->stopped;
}

/* What the arcs of a vertex amount to when they pull at random; where few
 * outweigh all others by far, no more than those to other parts do. */
static double strength(const struct nw_sift *sift, double cut)
{
    const struct nw_halve_graph *graph = sift->graph;
    double sum = 0, border = 0;

    for (int32_t v = 0; v < graph->n; v++) {
        bool crosses = false;

        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            sum += (double)graph->arc[a].bytes * (double)graph->arc[a].bytes;
            crosses |= sift->part[graph->arc[a].to] != sift->part[v];
        }
        border += crosses;
    }
    return fmin(sqrt(sum / graph->n), CROSSING * 2 * cut / border);
}

/* A round of teams moves the table: fewer rounds, of more tries, where it is
 * large, and in the trial. */
static int rounds_of(const struct sifting *work, bool trial)
{
    double cells = (double)work->sift->graph->n * work->sift->parts;

    if (work->is_near)
        return ROUNDS;
    if (trial)
        return TEAM_ROUNDS_LEAST;
    return (int)fmax(TEAM_ROUNDS_LEAST, fmin(TEAM_ROUNDS, TEAM_CELLS / cells));
}

static uint64_t tries_of(const struct sifting *work)
{
    double tries = (double)work->sift->tries;

    return (uint64_t)(work->rounds == TEAM_ROUNDS ? TEAM_TRIES * tries : tries);
}

/* As one team would have it. */
static void fill_table(struct sifting *work)
{
    const struct nw_halve_graph *graph = work->sift->graph;
    const int32_t *part = work->sift->part;
    size_t parts = (size_t)work->sift->parts;

    for (int32_t v = 0; v < graph->n; v++)
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            work->table[(size_t)v * parts + (size_t)part[graph->arc[a].to]] +=
                graph->arc[a].bytes;
    for (int32_t p = 0; p < work->sift->parts; p++)
        work->column[p] = (struct column){p, work->sift->parts, 0};
}

/* Backwards from the ends of the parts: `begin` ends as their beginnings. */
static void fill_list(struct sifting *work)
{
    const int32_t *part = work->sift->part;
    int32_t at = 0;

    for (int32_t v = 0; v < work->sift->graph->n; v++)
        work->size[part[v]]++;
    for (int32_t p = 0; p < work->sift->parts; p++)
        work->column[p].begin = at += work->size[p];
    for (int32_t v = 0; v < work->sift->graph->n; v++)
        work->list[--work->column[part[v]].begin] = v;
}

/* Back to swaps, which need the sizes there were at first. */
static void end_alone(struct sifting *work)
{
    struct nw_sift *sift = work->sift;
    size_t parts = (size_t)sift->parts;
    size_t cells = (size_t)blocks_of(work) * parts * NW_SIFT_BLOCK;

    for (int32_t p = 0; p < sift->parts; p++) {
        work->excess[p] = work->size[p] - work->aim[p];
        for (int32_t i = 0; i < work->size[p]; i++)
            sift->part[work->list[work->column[p].begin + i]] = p;
    }
    nw_sift_level(sift->graph, sift->part, sift->parts, work->excess);
    memset(work->table, 0, cells * sizeof *work->table);
    memset(work->size, 0, parts * sizeof *work->size);
    fill_table(work);
    fill_list(work);
    work->cut = nw_sift_cut(sift->graph, sift->part);
    work->alone = false;
    work->is_best = work->cut < work->best_cut;
    if (work->is_best)
        work->best_cut = work->cut;
}

static void run_round_of(struct sifting *work, int i, uint64_t tries,
                         struct nw_random *random)
{
    int weighed = (WEIGHED * work->rounds + ROUNDS - 1) / ROUNDS;

    if (work->is_near) {
        run_near(work, tries, random);
        return;
    }
    if (work->alone && i >= (int)(ALONE_SHARE * work->rounds))
        end_alone(work);
    if (i % weighed == 0)
        weigh_parts(work);
    run_round(work, tries, random);
}

/* Of the first and the last round. */
struct heats {
    double hot, cold;
};

static struct heats heats_of(const struct sifting *work)
{
    if (work->is_near)
        return (struct heats){NEAR_HOT, NEAR_COLD};
    if (work->alone)
        return (struct heats){ALONE_HOT, ALONE_COLD};
    return (struct heats){HOT, COLD};
}

static void run_rounds(struct sifting *work, uint64_t tries, uint64_t seed)
{
    struct heats heats = heats_of(work);
    double cool = pow(heats.cold / heats.hot, 1.0 / (work->rounds - 1));
    int last =
        work->alone ? (int)(ALONE_SHARE * work->rounds) : work->rounds - 1;
    struct nw_random random;

    nw_random_init(&random, seed);
    work->heat = heats.hot * work->strength;
    for (int i = 0; i < work->rounds && !is_stopped(work); i++) {
        if (i >= last)
            work->heat = 0;
        run_round_of(work, i, tries, &random);
        work->heat *= cool;
        if (work->sift->budget)
            nw_budget_go(work->sift->budget, 1, work->sift->budget->best);
    }
    if (work->alone)
        end_alone(work);
    keep_best(work);
}

/* --- the table --- */

static nw_status alloc_table(struct sifting *work)
{
    size_t block = (size_t)work->sift->parts * NW_SIFT_BLOCK;
    size_t cells = (size_t)blocks_of(work) * block + LINE;
    nw_status status = nw_alloc(cells, sizeof *work->memory, &work->memory);

    if (!status)
        status = nw_alloc(TEAMS * block, sizeof *work->scratch, &work->scratch);
    if (!status)
        status = nw_alloc(block, sizeof *work->source, &work->source);
    if (!status) {
        size_t line = LINE * sizeof *work->memory;
        size_t over = (uintptr_t)work->memory % line;

        work->table =
            work->memory + (over ? line - over : 0) / sizeof *work->memory;
    }
    return status;
}

static nw_status alloc_parts(struct sifting *work)
{
    size_t parts = (size_t)work->sift->parts;
    nw_status status = nw_alloc(parts, sizeof *work->column, &work->column);

    if (!status)
        status = nw_alloc(parts, sizeof *work->was, &work->was);
    if (!status)
        status = nw_alloc(parts, sizeof *work->size, &work->size);
    if (!status)
        status = nw_alloc(parts, sizeof *work->aim, &work->aim);
    if (!status)
        status = nw_alloc(parts, sizeof *work->excess, &work->excess);
    if (!status)
        status = nw_alloc(parts + TEAMS, sizeof *work->first, &work->first);
    if (!status)
        status = nw_alloc(parts, sizeof *work->deal, &work->deal);
    if (!status)
        status = nw_alloc(parts, sizeof *work->weight, &work->weight);
    for (size_t p = 0; !status && p < parts; p++)
        work->deal[p] = (int32_t)p;
    return status;
}

static nw_status alloc_teams(struct sifting *work)
{
    size_t n = (size_t)work->sift->graph->n;
    nw_status status = alloc_table(work);

    if (!status)
        status = alloc_parts(work);
    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);
    if (!status)
        status = nw_alloc(n, sizeof *work->old, &work->old);
    if (!status)
        status = nw_alloc(n, sizeof *work->spare, &work->spare);
    if (!status)
        status = nw_alloc(n * TEAMS, sizeof *work->own, &work->own);
    for (int t = 0; !status && t < TEAMS; t++)
        work->team[t] = (struct nw_sift_team){
            .graph = work->sift->graph,
            .chance = work->chance,
            .own = work->own + (size_t)t * n,
            .block = (size_t)work->sift->parts * NW_SIFT_BLOCK};
    return status;
}

/* At the parts as they are. */
static nw_status begin_near(struct sifting *work)
{
    struct nw_sift *sift = work->sift;
    nw_status status =
        nw_sift_near_init(&work->near, sift->graph, sift->part, sift->parts);

    work->near.noise = sift->noise ? sift->noise : work->noise;
    return status;
}

static nw_status ready_near(struct sifting *work)
{
    nw_status status =
        work->sift->noise ? NW_OK : nw_sift_noise_new(&work->noise);

    return status ? status : begin_near(work);
}

static nw_status ready(struct sifting *work)
{
    struct nw_sift *sift = work->sift;
    size_t n = (size_t)sift->graph->n;
    nw_status status = nw_alloc(n, sizeof *work->best, &work->best);

    if (status)
        return status;
    memcpy(work->best, sift->part, n * sizeof *work->best);
    if (work->is_near)
        return ready_near(work);
    status = alloc_teams(work);
    if (!status) {
        nw_chances_fill(work->chance);
        fill_table(work);
        fill_list(work);
        memcpy(work->aim, work->size, (size_t)sift->parts * sizeof *work->aim);
    }
    return status;
}

static void free_sifting(struct sifting *work)
{
    nw_sift_near_fini(&work->near);
    free(work->noise);
    free(work->memory);
    free(work->scratch);
    free(work->source);
    free(work->column);
    free(work->was);
    free(work->size);
    free(work->aim);
    free(work->excess);
    free(work->spare);
    free(work->first);
    free(work->deal);
    free(work->weight);
    free(work->list);
    free(work->old);
    free(work->best);
    free(work->own);
    free(work);
}

/* --- the search --- */

double nw_sift_cut(const struct nw_halve_graph *graph, const int32_t *part)
{
    double cut = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (part[graph->arc[a].to] != part[v])
                cut += (double)graph->arc[a].bytes;
    return cut / 2;
}

static double bytes_of(const struct nw_halve_graph *graph)
{
    double sum = 0;

    for (int32_t a = 0; a < graph->row[graph->n]; a++)
        sum += (double)graph->arc[a].bytes;
    return sum / 2;
}

/* What melts may be cut well already, or be light beside a few arcs: from the
 * best parts, not as hot. */
static nw_status try_cooler(struct sifting *work, double begun)
{
    struct nw_sift *sift = work->sift;
    size_t n = (size_t)sift->graph->n;
    nw_status status = NW_OK;

    for (int i = 0; !status && i < COOLER_TRIALS && work->cut > NEAR * begun;
         i++) {
        memcpy(sift->part, work->best, n * sizeof *work->best);
        nw_sift_near_fini(&work->near);
        status = begin_near(work);
        if (status)
            break;
        work->cut = work->best_cut;
        work->strength /= 2;
        run_rounds(work, sift->tries / TRIAL, sift->seed + 2 + (uint64_t)i);
    }
    return status;
}

/* With parts large enough that a few vertices more are little. */
static bool goes_alone(const struct sifting *work)
{
    const struct nw_sift *sift = work->sift;

    return !work->is_near && sift->graph->n <= ALONE_MOST &&
           sift->graph->n / sift->parts >= ALONE_LEAST;
}

/* A short trial first: where it stays far from the start, there is a shape. */
static nw_status search(struct sifting *work, double begun)
{
    struct nw_sift *sift = work->sift;
    nw_status status = NW_OK;

    work->cut = work->best_cut = begun;
    work->strength = strength(sift, begun);
    work->rounds = rounds_of(work, true);
    run_rounds(work, sift->tries / TRIAL, sift->seed);
    if (work->is_near)
        status = try_cooler(work, begun);
    work->rounds = rounds_of(work, false);
    work->alone = goes_alone(work);
    if (!status && work->cut <= NEAR * begun)
        run_rounds(work, tries_of(work), sift->seed + 1);
    memcpy(sift->part, work->best, (size_t)sift->graph->n * sizeof *work->best);
    return status;
}

/* Floats tell nothing of differences far below the largest of them: the cut is
 * found again. */
static void settle(struct sifting *work, const int32_t *start, double begun)
{
    struct nw_sift *sift = work->sift;
    double cut = nw_sift_cut(sift->graph, sift->part);

    assert(fabs(cut - work->best_cut) <= ROUNDING * bytes_of(sift->graph));
    if (cut > begun)
        memcpy(sift->part, start, (size_t)sift->graph->n * sizeof *start);
}

nw_status nw_sift(struct nw_sift *sift)
{
    struct sifting *work = NULL;
    size_t n = (size_t)sift->graph->n;
    double begun = nw_sift_cut(sift->graph, sift->part);
    int32_t *start = NULL;
    nw_status status;

    sift->formless = begun > FORMLESS * bytes_of(sift->graph);
    if (begun <= 0 ||
        (sift->formless ? sift->only_shaped : sift->only_formless))
        return NW_OK;
    status = nw_alloc(1, sizeof *work, &work);
    if (status)
        return status;
    work->sift = sift;
    work->is_near =
        sift->near || sift->graph->n < TEAMED_LEAST || sift->parts < 2 * TEAMS;
    status = nw_alloc(n, sizeof *start, &start);
    if (!status)
        status = ready(work);
    if (!status) {
        memcpy(start, sift->part, n * sizeof *start);
        status = search(work, begun);
        settle(work, start, begun);
    }
    free(start);
    free_sifting(work);
    return status;
}
