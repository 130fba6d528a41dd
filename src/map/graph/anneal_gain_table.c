/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated annealing with a gain table: in each trial, a vertex at the border
 * of its part may swap with the best of many vertices of another part; see
 * anneal_gain_table.h. */
#include "map/graph/anneal_gain_table.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdbool.h>
#include <string.h>

#define LINE 16 /* floats in a cache line */
#define NEVER                                                                  \
    1e30F /* table entry of an unused place, so large that no trial            \
             chooses it */

/* The vertices with which vertex u may swap in a trial: those at the places
 * (rows of the table) first .. first + count - 1. For the vertex at place i,
 * there[i] and here[i] are its bytes to the part to which u would go and to the
 * part of u; between[i] is nw_gain_table.between. */
struct gain_table_candidates {
    const float *there, *here, *between;
    int32_t first, count;
};

/* Returns a part's column of the table: the bytes from the vertex at each place
 * to the part. */
static float *gain_table_column(const struct nw_gain_table *near, int32_t part)
{
    return near->connection + (size_t)part * near->stride;
}

/* --- the border --- */

/* Adds a vertex to the border if it has arcs to other parts; otherwise removes
 * it from the border. The caller calls it only if that changed. */
static void gain_table_update_border(struct nw_gain_table *near, int32_t v)
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

/* Sets the number of arcs of v to other parts and updates the border. */
static inline void gain_table_set_beyond(struct nw_gain_table *near, int32_t v,
                                         int32_t count)
{
    bool was = near->beyond[v] > 0;

    near->beyond[v] = count;
    if (was != (count > 0))
        gain_table_update_border(near, v);
}

/* --- swaps --- */

/* Moves v to part `to`: updates the table rows, the numbers of outside arcs and
 * the border of v and its peers. Places do not change. */
static void gain_table_enter(struct nw_gain_table *near, int32_t v, int32_t to)
{
    const struct nw_graph *graph = near->graph;
    int32_t from = near->part[v], beyond = near->beyond[v];
    float *left = gain_table_column(near, from),
          *right = gain_table_column(near, to);

    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        int32_t peer = graph->arc[a].to, its = near->part[peer];
        int32_t change = (its == from) - (its == to);

        left[near->at[peer]] -= graph->arc[a].weight;
        right[near->at[peer]] += graph->arc[a].weight;
        beyond += change;
        gain_table_set_beyond(near, peer, near->beyond[peer] + change);
    }
    near->part[v] = to;
    gain_table_set_beyond(near, v, beyond);
}

/* Exchanges the places of vertices u and v in all columns of the table. */
static void gain_table_change_places(struct nw_gain_table *near, int32_t u,
                                     int32_t v)
{
    int32_t a = near->at[u], b = near->at[v];

    for (int32_t p = 0; p < near->parts; p++) {
        float *connection = gain_table_column(near, p), kept = connection[a];

        connection[a] = connection[b];
        connection[b] = kept;
    }
    near->vertex[a] = v;
    near->vertex[b] = u;
    near->at[u] = b;
    near->at[v] = a;
}

/* Sets `between` of each peer of u to `times` x the bytes between u and the
 * peer: 2 before a trial, because these bytes stay cut if the two swap; 0 after
 * it. */
static inline void gain_table_mark_peers(struct nw_gain_table *near, int32_t u,
                                         float times)
{
    const struct nw_graph *graph = near->graph;

    for (size_t a = graph->row[u]; a < graph->row[u + 1]; a++)
        near->between[near->at[graph->arc[a].to]] =
            times * graph->arc[a].weight;
}

/* Fills change[i] for candidate i: by how many bytes the cut changes by the
 * candidate's move in a swap, less a random threshold x temperature. Returns
 * the smallest entry. */
static inline float
gain_table_weigh(const struct gain_table_candidates *candidates,
                 const float *thresholds, float temperature,
                 float change[NW_METROPOLIS_WIDTH])
{
    nw_simd4 least = {NEVER, NEVER, NEVER, NEVER};
    const float *there = candidates->there + candidates->first;
    const float *here = candidates->here + candidates->first;
    const float *between = candidates->between + candidates->first;

    for (int32_t i = 0; i < candidates->count; i += NW_SIMD4_WIDTH) {
        nw_simd4 now = *(const nw_simd4 *)(there + i) -
                       *(const nw_simd4 *)(here + i) +
                       *(const nw_simd4 *)(between + i) -
                       temperature * *(const nw_simd4 *)(thresholds + i);

        *(nw_simd4 *)(change + i) = now;
        least = nw_simd4_min(now, least);
    }
    return nw_simd4_least(least);
}

/* Returns the candidates of part `to` for a swap with a vertex of part `from`:
 * all vertices of `to`, or NW_METROPOLIS_WIDTH places of it from a random
 * position on if it has more. */
static inline struct gain_table_candidates
gain_table_evaluate(const struct nw_gain_table *near, int32_t from, int32_t to,
                    uint64_t bits)
{
    int32_t first = near->begin[to], count = near->begin[to + 1] - first;

    if (count > NW_METROPOLIS_WIDTH) {
        first += NW_SIMD4_WIDTH *
                 nw_random_index(
                     bits, (count - NW_METROPOLIS_WIDTH) / NW_SIMD4_WIDTH + 1);
        count = NW_METROPOLIS_WIDTH;
    }
    return (struct gain_table_candidates){gain_table_column(near, to),
                                          gain_table_column(near, from),
                                          near->between, first, count};
}

/* Draws up to `picks` random arcs of u and returns the part at the other end of
 * the first one that leads to another part; -1 if none does. */
static inline int32_t gain_table_propose(const struct nw_gain_table *near,
                                         int32_t u, uint64_t bits)
{
    const struct nw_graph *graph = near->graph;
    int32_t degree = nw_graph_degree(graph, u);

    for (int i = 0; i < nw_tuned.anneal_kway.picks;
         i++, bits *= 0x9e3779b97f4a7c15) {
        int32_t pick = nw_random_index(bits >> 32, degree);
        int32_t to = near->part[graph->arc[graph->row[u] + (size_t)pick].to];

        if (to != near->part[u])
            return to;
    }
    return -1;
}

/* Makes one trial: draws a random border vertex u and the part of a random peer
 * of u, and swaps u with the best candidate of that part if the temperature
 * allows. Returns the change of the cut in bytes; 0 without a swap. */
static inline double gain_table_try_one(struct nw_gain_table *near,
                                        float temperature,
                                        struct nw_random *random)
{
    uint64_t whom = nw_random_next(random), where;
    int32_t u = near->border[nw_random_index(whom, near->border_count)], v;
    int32_t from = near->part[u], to = gain_table_propose(near, u, whom), at;
    struct gain_table_candidates candidates;
    float gain, least, change[NW_METROPOLIS_WIDTH], sum;

    if (to < 0)
        return 0;
    gain = gain_table_column(near, from)[near->at[u]] -
           gain_table_column(near, to)[near->at[u]];
    if (gain > nw_tuned.anneal_kway.hopeless * temperature)
        return 0;
    where = nw_random_next(random);
    candidates = gain_table_evaluate(near, from, to, where);
    gain_table_mark_peers(near, u, 2);
    least = gain_table_weigh(
        &candidates, near->thresholds + (where >> 32) % NW_METROPOLIS_SIZE,
        temperature, change);
    if (gain + least >= 0) {
        gain_table_mark_peers(near, u, 0);
        return 0;
    }
    for (at = 0; change[at] > least;)
        at++;
    at += candidates.first;
    sum =
        gain + (candidates.there[at] - candidates.here[at] + near->between[at]);
    gain_table_mark_peers(near, u, 0);
    v = near->vertex[at];
    gain_table_enter(near, u, to);
    gain_table_enter(near, v, from);
    gain_table_change_places(near, u, v);
    return (double)sum;
}

double nw_gain_table_run(struct nw_gain_table *near, uint64_t tries,
                         double temperature, struct nw_random *random)
{
    double change = 0;

    for (uint64_t i = 0; i < tries && near->border_count; i++)
        change += gain_table_try_one(near, (float)temperature, random);
    return change;
}

/* --- making the table --- */

/* Assigns a place (row of the table) to each vertex, part by part. Each part
 * begins at a multiple of the vector width. */
static void gain_table_place(struct nw_gain_table *near)
{
    for (int32_t v = 0; v < near->graph->n; v++)
        near->end[near->part[v]]++;
    for (int32_t p = 0; p < near->parts; p++) {
        int32_t vectors = (near->end[p] + NW_SIMD4_WIDTH - 1) / NW_SIMD4_WIDTH;

        near->begin[p + 1] = near->begin[p] + vectors * NW_SIMD4_WIDTH;
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

/* Fills the columns of the table and the border. Places without a vertex get a
 * cost that no trial accepts. */
static void gain_table_fill(struct nw_gain_table *near)
{
    const struct nw_graph *graph = near->graph;

    for (int32_t v = 0; v < graph->n; v++) {
        int32_t beyond = 0;

        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t its = near->part[graph->arc[a].to];

            gain_table_column(near, its)[near->at[v]] += graph->arc[a].weight;
            beyond += its != near->part[v];
        }
        gain_table_set_beyond(near, v, beyond);
    }
    for (int32_t p = 0; p < near->parts; p++)
        for (int32_t i = near->end[p]; i < near->begin[p + 1]; i++)
            gain_table_column(near, p)[i] = NEVER;
}

nw_status nw_gain_table_init(struct nw_gain_table *near,
                             const struct nw_graph *graph, int32_t *part,
                             int32_t parts)
{
    size_t n = (size_t)graph->n, places = n + (size_t)parts * NW_SIMD4_WIDTH;
    nw_status status;

    *near = (struct nw_gain_table){.graph = graph,
                                   .part = part,
                                   .parts = parts,
                                   .thresholds = nw_metropolis_thresholds()};
    status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)parts + 1, near->begin),
                     NW_ARRAY((size_t)parts, near->end), NW_ARRAY(n, near->at),
                     NW_ARRAY(places, near->vertex), NW_ARRAY(n, near->beyond),
                     NW_ARRAY(n, near->border), NW_ARRAY(n, near->at_border));
    if (!status)
        gain_table_place(near);
    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY(near->stride * (size_t)parts, near->connection),
            NW_ARRAY((size_t)near->places, near->between));
    if (!status)
        gain_table_fill(near);
    return status;
}

void nw_gain_table_fini(struct nw_gain_table *near)
{
    NW_FREE_ALL(near->begin, near->end, near->at, near->vertex,
                near->connection, near->between, near->beyond, near->border,
                near->at_border);
    *near = (struct nw_gain_table){0};
}
