/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides the parts at random between two teams in each round, and permutes the
 * table so that the columns of a team's parts are adjacent. */
#include "map/graph/anneal_kway_internal.h"
#include "map/common/parameters.h"
#include "base/parallel.h"

#include <math.h>
#include <string.h>

void nw_anneal_kway_weigh_parts(struct anneal_kway_work *work)
{
    for (int32_t p = 0; p < work->anneal->parts; p++) {
        const int32_t *list = work->list + work->column[p].begin;

        work->weight[p] = 0;
        for (int32_t i = 0; i < work->size[p]; i++)
            work->weight[p] += nw_tuned.anneal_kway.trial_arcs +
                               nw_graph_degree(work->anneal->graph, list[i]);
    }
}

/* Shuffles the parts. If one part has far more work than the mean, because it
 * holds the hubs of the graph, it comes first, so that its team gets fewer
 * other parts. Returns the work of all parts together. */
static double anneal_kway_shuffle_parts(struct anneal_kway_work *work,
                                        struct nw_random *random)
{
    int32_t parts = work->anneal->parts, heaviest = 0, *deal = work->deal;
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

/* Returns the end of a team's parts in the shuffled list. It is as near as
 * possible to the team's share of the work `sum` of all parts, but each team
 * gets at least about a quarter of all parts, so that it can swap vertices. */
static int32_t anneal_kway_end_of(const struct anneal_kway_work *work, int team,
                                  double sum)
{
    int32_t parts = work->anneal->parts;
    int32_t even = (int32_t)((int64_t)parts * (team + 1) / TEAMS);
    int32_t least = even - parts / 4, end = 0;
    double target = sum * (team + 1) / TEAMS, here = 0;

    if (team + 1 == TEAMS)
        return parts;
    while (end < least || (end < even + parts / 4 &&
                           here + work->weight[work->deal[end]] / 2 < target))
        here += work->weight[work->deal[end++]];
    return end;
}

/* Sets the positions of the columns and of the vertices of team t's parts, one
 * part after the other. *at is the number of vertices in the teams before t,
 * and becomes that including t. */
static void anneal_kway_place_team(struct anneal_kway_work *work, int t,
                                   int32_t *at)
{
    struct nw_anneal_parallel *team = &work->team[t];
    int32_t from = work->deal_end[t];

    team->parts = work->deal_end[t + 1] - from;
    team->first = work->first + from + t;
    team->list = work->list + *at;
    team->connection = work->table + NW_ANNEAL_PARALLEL_BLOCK * from;
    team->first[0] = 0;
    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[from + i];

        work->column[p] = (struct anneal_kway_column){
            NW_ANNEAL_PARALLEL_BLOCK * from + i, team->parts, *at};
        *at += work->size[p];
        team->first[i + 1] = team->first[i] + work->size[p];
        work->imbalance[from + i] = work->size[p] - work->target[p];
    }
    team->imbalance = work->imbalance + from;
    team->spare = work->spare + (team->list - work->list);
}

/* Fills `source`: the index in the last round of each cell of a table block. */
static void anneal_kway_find_sources(struct anneal_kway_work *work)
{
    for (int32_t p = 0; p < work->anneal->parts; p++) {
        struct anneal_kway_column from = work->was[p], to = work->column[p];

        for (int32_t i = 0; i < NW_ANNEAL_PARALLEL_BLOCK; i++)
            work->source[to.first + i * to.stride] =
                from.first + i * from.stride;
    }
}

/* Moves the columns in a team's share of the blocks of the table from their
 * positions in the last round to those in this round. A task for
 * nw_parallel_run; `user` is a struct anneal_kway_work. */
static void anneal_kway_permute_blocks(void *user, int32_t team)
{
    struct anneal_kway_work *work = user;
    int32_t cells = work->anneal->parts * NW_ANNEAL_PARALLEL_BLOCK;
    int64_t blocks = anneal_kway_blocks_of(work);
    const int32_t *source = work->source;
    float *scratch = work->scratch + (size_t)team * (size_t)cells;

    for (int64_t b = blocks * team / TEAMS; b < blocks * (team + 1) / TEAMS;
         b++) {
        float *block = work->table + b * cells;

        memcpy(scratch, block, (size_t)cells * sizeof *scratch);
        for (int32_t i = 0; i < cells; i++)
            block[i] = scratch[source[i]];
    }
}

/* Divides the parts between the two teams at random, for a new round, and
 * permutes the table accordingly. */
static void anneal_kway_draw_teams(struct anneal_kway_work *work,
                                   struct nw_random *random)
{
    double sum = anneal_kway_shuffle_parts(work, random);
    struct anneal_kway_column *column = work->was;
    int32_t at = 0, *list = work->old;

    work->was = work->column;
    work->column = column;
    work->old = work->list;
    work->list = list;
    for (int t = 0; t < TEAMS; t++) {
        work->deal_end[t + 1] = anneal_kway_end_of(work, t, sum);
        anneal_kway_place_team(work, t, &at);
    }
    anneal_kway_find_sources(work);
    nw_parallel_run(anneal_kway_permute_blocks, work, TEAMS,
                    work->anneal->threads);
}

/* Copies the vertices of team t from the list of the last round, and marks them
 * in `own`. */
static void anneal_kway_take_vertices(struct anneal_kway_work *work, int32_t t)
{
    struct nw_anneal_parallel *team = &work->team[t];

    memset(team->own, -1, (size_t)work->anneal->graph->n * sizeof *team->own);
    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[work->deal_end[t] + i];
        int32_t *list = team->list + team->first[i];

        memcpy(list, work->old + work->was[p].begin,
               (size_t)work->size[p] * sizeof *list);
        for (int32_t k = 0; k < work->size[p]; k++)
            team->own[list[k]] = (int16_t)i;
    }
}

/* Runs team `team` for one round. A task for nw_parallel_run; `user` is a
 * struct anneal_kway_work. */
static void anneal_kway_run_team(void *user, int32_t team)
{
    struct anneal_kway_work *work = user;

    anneal_kway_take_vertices(work, team);
    nw_anneal_parallel_run(&work->team[team]);
}

/* Returns how many trials a team would make in all rounds together with its
 * present parts; `tries` is the number per vertex of the graph. The trials are
 * in proportion to the team's vertices, but fewer or more (by at most the
 * factor trials_more) if trials of these vertices take longer or shorter. Both
 * teams then end a round at about the same time. */
static uint64_t anneal_kway_share_of(const struct anneal_kway_work *work,
                                     int team, uint64_t tries)
{
    double n = work->anneal->graph->n, all = 0, rate[TEAMS];
    double here = work->team[team].first[work->team[team].parts];

    for (int t = 0; t < TEAMS; t++) {
        double weight = 0;

        for (int32_t i = work->deal_end[t]; i < work->deal_end[t + 1]; i++)
            weight += work->weight[work->deal[i]];
        rate[t] = work->team[t].first[work->team[t].parts] / weight;
        all += rate[t];
    }
    return (uint64_t)((double)tries *
                      fmin(here * nw_tuned.anneal_kway.trials_more,
                           fmax(here / nw_tuned.anneal_kway.trials_more,
                                n * rate[team] / all)));
}

/* Updates `size` and `column` of the parts of team t after a round. */
static void anneal_kway_read_sizes(struct anneal_kway_work *work, int t)
{
    const struct nw_anneal_parallel *team = &work->team[t];
    int32_t before = (int32_t)(team->list - work->list);

    for (int32_t i = 0; i < team->parts; i++) {
        int32_t p = work->deal[work->deal_end[t] + i];

        work->column[p].begin = before + team->first[i];
        work->size[p] = team->first[i + 1] - team->first[i];
    }
}

void nw_anneal_kway_run_round(struct anneal_kway_work *work, uint64_t tries,
                              struct nw_random *random)
{
    uint64_t seed;

    anneal_kway_draw_teams(work, random);
    seed = nw_random_next(random);
    for (int t = 0; t < TEAMS; t++) {
        struct nw_anneal_parallel *team = &work->team[t];

        team->seed = seed + (uint64_t)t;
        team->tries =
            anneal_kway_share_of(work, t, tries) / (uint64_t)work->rounds + 1;
        team->temperature = work->temperature;
        team->imbalance_cost =
            work->single_moves
                ? nw_tuned.anneal_kway.imbalance_cost * work->temperature
                : 0;
    }
    nw_parallel_run(anneal_kway_run_team, work, TEAMS, work->anneal->threads);
    for (int t = 0; t < TEAMS; t++) {
        work->cut += work->team[t].change;
        anneal_kway_read_sizes(work, t);
    }
}
