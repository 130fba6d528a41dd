/* SPDX-License-Identifier: BSD-3-Clause */
/* Swaps over a border, all partners at once; see anneal_gain_table.h. */
#include "map/graph/anneal_gain_table.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define HOPELESS 14 /* heats for the worse by one of the two alone */
#define PICKS 4     /* of arcs, until one leaves the part */
#define LINE 16     /* floats in a cache line */
#define NEVER 1e30F /* what a swap with nobody costs */

/* The places of partners, what these send to the part that u would go to, and
 * to the one that it would leave. */
struct sight {
    const float *there, *here, *between;
    int32_t first, count;
};

static float *column(const struct nw_sift_near *near, int32_t part)
{
    return near->pull + (size_t)part * near->stride;
}

/* --- the border --- */

static void turn_border(struct nw_sift_near *near, int32_t v)
{
    if (near->beyond[v] > 0) {
        near->at_border[v] = near->border_count;
        near->border[near->border_count++] = v;
    } else {
        int32_t last = near->border[--near->border_count];

        near->border[near->at_border[v]] = last;
        near->at_border[last] = near->at_border[v];
    }
}

static inline void set_beyond(struct nw_sift_near *near, int32_t v,
                              int32_t count)
{
    bool was = near->beyond[v] > 0;

    near->beyond[v] = count;
    if (was != (count > 0))
        turn_border(near, v);
}

/* --- swaps --- */

/* Its peers see v in another part. */
static void enter(struct nw_sift_near *near, int32_t v, int32_t to)
{
    const struct nw_halve_graph *graph = near->graph;
    int32_t from = near->part[v], beyond = near->beyond[v];
    float *left = column(near, from), *right = column(near, to);

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        int32_t peer = graph->arc[a].to, its = near->part[peer];
        int32_t change = (its == from) - (its == to);

        left[near->at[peer]] -= graph->arc[a].bytes;
        right[near->at[peer]] += graph->arc[a].bytes;
        beyond += change;
        set_beyond(near, peer, near->beyond[peer] + change);
    }
    near->part[v] = to;
    set_beyond(near, v, beyond);
}

static void change_places(struct nw_sift_near *near, int32_t u, int32_t v)
{
    int32_t a = near->at[u], b = near->at[v];

    for (int32_t p = 0; p < near->parts; p++) {
        float *pull = column(near, p), kept = pull[a];

        pull[a] = pull[b];
        pull[b] = kept;
    }
    near->vertex[a] = v;
    near->vertex[b] = u;
    near->at[u] = b;
    near->at[v] = a;
}

/* What u and a peer exchange stays between the parts when they swap. */
static inline void mark_peers(struct nw_sift_near *near, int32_t u, float times)
{
    const struct nw_halve_graph *graph = near->graph;

    for (int32_t a = graph->row[u]; a < graph->row[u + 1]; a++)
        near->between[near->at[graph->arc[a].to]] = times * graph->arc[a].bytes;
}

/* Fills change[] for the places in sight, less what chance allows; returns the
 * least. */
static inline float weigh(const struct sight *sight, const float *noise,
                          float heat, float change[NW_SIFT_WIDE])
{
    nw_lanes least = {NEVER, NEVER, NEVER, NEVER};
    const float *there = sight->there + sight->first;
    const float *here = sight->here + sight->first;
    const float *between = sight->between + sight->first;

    for (int32_t i = 0; i < sight->count; i += NW_LANES) {
        nw_lanes now = *(const nw_lanes *)(there + i) -
                       *(const nw_lanes *)(here + i) +
                       *(const nw_lanes *)(between + i) -
                       heat * *(const nw_lanes *)(noise + i);

        *(nw_lanes *)(change + i) = now;
        least = nw_lanes_lesser(now, least);
    }
    return nw_lanes_least(least);
}

/* A window of a part. */
static inline struct sight look(const struct nw_sift_near *near, int32_t from,
                                int32_t to, uint64_t bits)
{
    int32_t first = near->begin[to], count = near->begin[to + 1] - first;

    if (count > NW_SIFT_WIDE) {
        first += NW_LANES *
                 nw_chance_pick(bits, (count - NW_SIFT_WIDE) / NW_LANES + 1);
        count = NW_SIFT_WIDE;
    }
    return (struct sight){column(near, to), column(near, from), near->between,
                          first, count};
}

/* The part beyond a random arc of u that leaves its own; -1: none found. */
static inline int32_t propose(const struct nw_sift_near *near, int32_t u,
                              uint64_t bits)
{
    const struct nw_halve_graph *graph = near->graph;
    int32_t begin = graph->row[u], degree = graph->row[u + 1] - begin;

    for (int i = 0; i < PICKS; i++, bits *= 0x9e3779b97f4a7c15) {
        int32_t pick = nw_chance_pick(bits >> 32, degree);
        int32_t to = near->part[graph->arc[begin + pick].to];

        if (to != near->part[u])
            return to;
    }
    return -1;
}

static inline double try_one(struct nw_sift_near *near, float heat,
                             struct nw_random *random)
{
    uint64_t whom = nw_random_next(random), where;
    int32_t u = near->border[nw_chance_pick(whom, near->border_count)], v;
    int32_t from = near->part[u], to = propose(near, u, whom), at;
    struct sight sight;
    float gain, least, change[NW_SIFT_WIDE], sum;

    if (to < 0)
        return 0;
    gain = column(near, from)[near->at[u]] - column(near, to)[near->at[u]];
    if (gain > HOPELESS * heat)
        return 0;
    where = nw_random_next(random);
    sight = look(near, from, to, where);
    mark_peers(near, u, 2);
    least =
        weigh(&sight, near->noise + (where >> 32) % NW_CHANCES, heat, change);
    if (gain + least >= 0) {
        mark_peers(near, u, 0);
        return 0;
    }
    for (at = 0; change[at] > least;)
        at++;
    at += sight.first;
    sum = gain + (sight.there[at] - sight.here[at] + near->between[at]);
    mark_peers(near, u, 0);
    v = near->vertex[at];
    enter(near, u, to);
    enter(near, v, from);
    change_places(near, u, v);
    return (double)sum;
}

double nw_sift_near_run(struct nw_sift_near *near, uint64_t tries, double heat,
                        struct nw_random *random)
{
    double change = 0;

    for (uint64_t i = 0; i < tries && near->border_count; i++)
        change += try_one(near, (float)heat, random);
    return change;
}

/* --- the beginning --- */

static void seat(struct nw_sift_near *near)
{
    for (int32_t v = 0; v < near->graph->n; v++)
        near->end[near->part[v]]++;
    for (int32_t p = 0; p < near->parts; p++) {
        int32_t vectors = (near->end[p] + NW_LANES - 1) / NW_LANES;

        near->begin[p + 1] = near->begin[p] + vectors * NW_LANES;
    }
    near->places = near->begin[near->parts];
    near->stride = LINE * (((size_t)near->places / LINE + 1) | 1);
    for (int32_t p = 0; p < near->parts; p++)
        near->end[p] = near->begin[p];
    for (int32_t v = 0; v < near->graph->n; v++) {
        near->at[v] = near->end[near->part[v]]++;
        near->vertex[near->at[v]] = v;
    }
}

static void fill(struct nw_sift_near *near)
{
    const struct nw_halve_graph *graph = near->graph;

    for (int32_t v = 0; v < graph->n; v++) {
        int32_t beyond = 0;

        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t its = near->part[graph->arc[a].to];

            column(near, its)[near->at[v]] += graph->arc[a].bytes;
            beyond += its != near->part[v];
        }
        set_beyond(near, v, beyond);
    }
    for (int32_t p = 0; p < near->parts; p++)
        for (int32_t i = near->end[p]; i < near->begin[p + 1]; i++)
            column(near, p)[i] = NEVER;
}

nw_status nw_sift_noise_new(float **out)
{
    double chance[NW_CHANCES];
    int32_t order[NW_CHANCES];
    struct nw_random random;
    float *noise = NULL;
    nw_status status =
        nw_alloc(NW_CHANCES + NW_SIFT_WIDE, sizeof *noise, &noise);

    if (status)
        return status;
    nw_chances_fill(chance);
    for (int32_t i = 0; i < NW_CHANCES; i++)
        order[i] = i;
    nw_random_init(&random, 1);
    nw_random_shuffle(&random, order, NW_CHANCES);
    for (int32_t i = 0; i < NW_CHANCES + NW_SIFT_WIDE; i++)
        noise[i] = (float)chance[order[i % NW_CHANCES]];
    *out = noise;
    return NW_OK;
}

nw_status nw_sift_near_init(struct nw_sift_near *near,
                            const struct nw_halve_graph *graph, int32_t *part,
                            int32_t parts)
{
    size_t n = (size_t)graph->n, places = n + (size_t)parts * NW_LANES;
    nw_status status;

    *near = (struct nw_sift_near){.graph = graph, .part = part, .parts = parts};
    status = nw_alloc((size_t)parts + 1, sizeof *near->begin, &near->begin);
    if (!status)
        status = nw_alloc((size_t)parts, sizeof *near->end, &near->end);
    if (!status)
        status = nw_alloc(n, sizeof *near->at, &near->at);
    if (!status)
        status = nw_alloc(places, sizeof *near->vertex, &near->vertex);
    if (!status)
        status = nw_alloc(n, sizeof *near->beyond, &near->beyond);
    if (!status)
        status = nw_alloc(n, sizeof *near->border, &near->border);
    if (!status)
        status = nw_alloc(n, sizeof *near->at_border, &near->at_border);
    if (!status)
        seat(near);
    if (!status)
        status = nw_alloc(near->stride * (size_t)parts, sizeof *near->pull,
                          &near->pull);
    if (!status)
        status = nw_alloc((size_t)near->places, sizeof *near->between,
                          &near->between);
    if (!status)
        fill(near);
    return status;
}

void nw_sift_near_fini(struct nw_sift_near *near)
{
    free(near->begin);
    free(near->end);
    free(near->at);
    free(near->vertex);
    free(near->pull);
    free(near->between);
    free(near->beyond);
    free(near->border);
    free(near->at_border);
    *near = (struct nw_sift_near){0};
}
