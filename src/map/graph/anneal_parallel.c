/* SPDX-License-Identifier: BSD-3-Clause */
/* Swaps and moves the vertices among the parts of one team, the work of one
 * thread; see anneal_parallel.h. Most trials end after three lookups in memory
 * that is not in the cache, so the data of the next trials are prefetched. */
#include "map/graph/anneal_parallel.h"
#include "map/common/metropolis.h"
#include "map/common/parameters.h"

#include <string.h>

/* Length of the ring of trials that are drawn ahead. A vertex's row index, arcs
 * and peer are prefetched LEAD, LEAD_ARC and LEAD_PEER trials before their use.
 */
#define RING 16
#define LEAD 12
#define LEAD_ARC 8
#define LEAD_PEER 4

/* Random bits of a trial. `whom` chooses the vertex and its peer, `where` the
 * vertex with which it swaps and the threshold. */
struct anneal_parallel_draw {
    uint64_t whom, where;
};

/* Returns the bytes on the arcs between vertices u and v. */
static double anneal_parallel_between(const struct nw_graph *graph, int32_t u,
                                      int32_t v)
{
    double bytes = 0;

    if (nw_graph_degree(graph, u) > nw_graph_degree(graph, v))
        return anneal_parallel_between(graph, v, u);
    for (size_t a = graph->row[u]; a < graph->row[u + 1]; a++)
        if (graph->arc[a].to == v)
            bytes += (double)graph->arc[a].weight;
    return bytes;
}

/* Moves a vertex to part `to` of the team and updates the table rows of its
 * peers. */
static void anneal_parallel_enter(struct nw_anneal_parallel *team, int32_t v,
                                  int32_t to)
{
    const struct nw_graph *graph = team->graph;
    int32_t from = team->own[v];

    for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        float *row = nw_anneal_parallel_row(team, graph->arc[a].to);

        row[from] -= graph->arc[a].weight;
        row[to] += graph->arc[a].weight;
    }
    team->own[v] = (int16_t)to;
}

/* Draws random peers of u, at most `team_picks`, until one is in the same team
 * as u. Returns the part of this peer. Returns -1 if no drawn peer is in that
 * team, or if the peer is in the part of u. */
static inline int32_t
anneal_parallel_propose(const struct nw_anneal_parallel *team, int32_t u,
                        uint64_t bits)
{
    const struct nw_graph *graph = team->graph;
    int32_t degree = nw_graph_degree(graph, u);

    for (int i = 0; degree && i < nw_tuned.anneal_kway.team_picks;
         i++, bits *= 0x9e3779b97f4a7c15) {
        int32_t pick = nw_random_index(bits >> 32, degree);
        int32_t to = team->own[graph->arc[graph->row[u] + (size_t)pick].to];

        if (to >= 0)
            return to == team->own[u] ? -1 : to;
    }
    return -1;
}

/* Returns a pointer to a random vertex in the team's `list`. */
static inline int32_t *
anneal_parallel_pick_of(const struct nw_anneal_parallel *team, uint64_t bits)
{
    return team->list + nw_random_index(bits, team->first[team->parts]);
}

/* Makes one trial: a random vertex may swap with a random vertex of the part of
 * one of its peers. Returns the change of the cut in bytes; 0 without a swap.
 */
static inline double
anneal_parallel_try_one(struct nw_anneal_parallel *team,
                        const struct anneal_parallel_draw *draw)
{
    int32_t *u = anneal_parallel_pick_of(team, draw->whom), *v;
    int32_t from = team->own[*u],
            to = anneal_parallel_propose(team, *u, draw->whom);
    int32_t other;
    double change, limit;

    if (to < 0)
        return 0;
    change = (double)(nw_anneal_parallel_row(team, *u)[from] -
                      nw_anneal_parallel_row(team, *u)[to]);
    if (change > nw_tuned.anneal_kway.hopeless * team->temperature)
        return 0;
    v = team->list + team->first[to] +
        nw_random_index(draw->where, team->first[to + 1] - team->first[to]);
    change += (double)(nw_anneal_parallel_row(team, *v)[to] -
                       nw_anneal_parallel_row(team, *v)[from]);
    limit = team->temperature *
            team->metropolis[draw->where >> 32 & (NW_METROPOLIS_SIZE - 1)];
    if (change >= limit)
        return 0;
    change += 2 * anneal_parallel_between(team->graph, *u, *v);
    if (change >= limit)
        return 0;
    anneal_parallel_enter(team, *u, to);
    anneal_parallel_enter(team, *v, from);
    other = *u;
    *u = *v;
    *v = other;
    return change;
}

/* Makes one trial: a random vertex may move to the part of one of its peers,
 * which changes the sizes of two parts. Returns the change of the cut in bytes;
 * 0 without a move. */
static inline double
anneal_parallel_move_one(struct nw_anneal_parallel *team,
                         const struct anneal_parallel_draw *draw)
{
    int32_t u = *anneal_parallel_pick_of(team, draw->whom);
    int32_t from = team->own[u],
            to = anneal_parallel_propose(team, u, draw->whom);
    double change, imbalance;

    if (to < 0)
        return 0;
    change = (double)(nw_anneal_parallel_row(team, u)[from] -
                      nw_anneal_parallel_row(team, u)[to]);
    imbalance = 2 * team->imbalance_cost *
                (team->imbalance[to] - team->imbalance[from] + 1);
    if (change + imbalance >=
        team->temperature *
            team->metropolis[draw->where >> 32 & (NW_METROPOLIS_SIZE - 1)])
        return 0;
    anneal_parallel_enter(team, u, to);
    team->imbalance[to]++;
    team->imbalance[from]--;
    return change;
}

/* Draws the random bits of a trial. */
static inline struct anneal_parallel_draw
anneal_parallel_fill_draws(struct nw_random *random)
{
    uint64_t whom = nw_random_next(random);

    return (struct anneal_parallel_draw){whom, nw_random_next(random)};
}

/* Prefetches the part of the peer that the trial with these random bits will
 * draw. */
static inline void
anneal_parallel_prefetch_peer(const struct nw_anneal_parallel *team,
                              uint64_t bits)
{
    const struct nw_graph *graph = team->graph;
    int32_t u = *anneal_parallel_pick_of(team, bits);
    int32_t degree = nw_graph_degree(graph, u);
    int32_t pick = nw_random_index(bits >> 32, degree);

    if (degree)
        __builtin_prefetch(
            &team->own[graph->arc[graph->row[u] + (size_t)pick].to]);
}

/* Prefetches the arc, the row of the table and the part that the trial with
 * these random bits will read. */
static inline void
anneal_parallel_prefetch_arc(const struct nw_anneal_parallel *team,
                             uint64_t bits)
{
    const struct nw_graph *graph = team->graph;
    int32_t u = *anneal_parallel_pick_of(team, bits);
    int32_t pick = nw_random_index(bits >> 32, nw_graph_degree(graph, u));

    __builtin_prefetch(&graph->arc[graph->row[u] + (size_t)pick]);
    __builtin_prefetch(nw_anneal_parallel_row(team, u));
    __builtin_prefetch(&team->own[u]);
}

/* Makes the trials of the team's round. Returns the change of the cut in bytes.
 */
static double anneal_parallel_run(struct nw_anneal_parallel *team,
                                  struct nw_random *random)
{
    struct anneal_parallel_draw ring[RING];
    double change = 0;

    for (uint64_t i = 0; i < LEAD; i++)
        ring[i] = anneal_parallel_fill_draws(random);
    for (uint64_t i = 0; i < team->tries; i++) {
        struct anneal_parallel_draw next = anneal_parallel_fill_draws(random);

        ring[(i + LEAD) % RING] = next;
        __builtin_prefetch(
            &team->graph->row[*anneal_parallel_pick_of(team, next.whom)]);
        anneal_parallel_prefetch_arc(team, ring[(i + LEAD_ARC) % RING].whom);
        anneal_parallel_prefetch_peer(team, ring[(i + LEAD_PEER) % RING].whom);
        change += team->imbalance_cost > 0
                      ? anneal_parallel_move_one(team, &ring[i % RING])
                      : anneal_parallel_try_one(team, &ring[i % RING]);
    }
    return change;
}

/* Sorts `list` by part again after single moves, and updates `first`. */
static void anneal_parallel_regroup(struct nw_anneal_parallel *team)
{
    int32_t count = team->first[team->parts], *first = team->first;

    memcpy(team->spare, team->list, (size_t)count * sizeof *team->spare);
    memset(first, 0, ((size_t)team->parts + 1) * sizeof *first);
    for (int32_t k = 0; k < count; k++)
        first[team->own[team->spare[k]] + 1]++;
    for (int32_t i = 0; i < team->parts; i++)
        first[i + 1] += first[i];
    for (int32_t k = count; k-- > 0;)
        team->list[--first[team->own[team->spare[k]] + 1]] = team->spare[k];
    memmove(first, first + 1, (size_t)team->parts * sizeof *first);
    first[team->parts] = count;
}

void nw_anneal_parallel_run(struct nw_anneal_parallel *team)
{
    struct nw_random random;

    nw_random_init(&random, team->seed);
    team->change = anneal_parallel_run(team, &random);
    if (team->imbalance_cost > 0)
        anneal_parallel_regroup(team);
}
