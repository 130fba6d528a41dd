/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes a graph of about half the size: pairs of vertices with much traffic
 * between them and little load are contracted to one coarse vertex. The rating
 * of an edge, w^2 / (load x load), keeps the loads of coarse vertices similar
 * (Holtgrewe, Sanders and Schulz, 2010). If too few pairs are found, as happens
 * around vertices of high degree, the remaining vertices join the groups of
 * their best neighbours. A group is a set of vertices that becomes one coarse
 * vertex.
 */
#include "base/array.h"
#include "map/kway/memetic.h"

#include <stdlib.h>

/* State of one call of nw_kway_coarsen. */
struct kway_coarsen_work {
    const struct nw_graph *graph;
    const struct nw_kway_merge *merge;
    int32_t *leader; /* [n] group of a vertex, named by one vertex of the group;
                        -1: none yet */
    int64_t *load;   /* [n] load of a group, stored at the index of its
                        leader */
    int32_t *order;  /* [n] vertices to be paired in this round */
    int32_t *wish;   /* [n] neighbour with which a vertex prefers to be paired;
                        -1: none */
    uint64_t salt;   /* random bits that make kway_coarsen_mix differ between
                        calls */
    bool late;       /* time is over: nothing is contracted */
};

/* Returns true if v and u may be contracted to one vertex: they are in the same
 * part of each partition in c->merge and may be on the same elements. */
static bool kway_coarsen_may_join(const struct kway_coarsen_work *c, int32_t v,
                                  int32_t u)
{
    const struct nw_kway_merge *merge = c->merge;
    const struct nw_graph_range *range = c->graph->range;

    if (merge->part && merge->part[v] != merge->part[u])
        return false;
    if (merge->other && merge->other[v] != merge->other[u])
        return false;
    return !range ||
           (range[v].low == range[u].low && range[v].high == range[u].high);
}

/* Returns a pseudo-random number for the edge between v and u that decides
 * between edges of equal rating; v and u may be exchanged. */
static uint32_t kway_coarsen_mix(const struct kway_coarsen_work *c, int32_t v,
                                 int32_t u)
{
    uint64_t low = (uint64_t)(v < u ? v : u), high = (uint64_t)(v < u ? u : v);
    uint64_t x = (low << 32 | high) ^ c->salt;

    x *= 0x9e3779b97f4a7c15u;
    x ^= x >> 29;
    x *= 0xbf58476d1ce4e5b9u;
    return (uint32_t)(x >> 32);
}

/* Returns the neighbour of v with the best rating among those that v may be
 * paired with: they are in no group yet, and the pair's load is not too large.
 * Returns -1 if v has no such neighbour. */
static int32_t kway_coarsen_best_partner(const struct kway_coarsen_work *c,
                                         int32_t v)
{
    const struct nw_graph *g = c->graph;
    double best = 0;
    uint32_t best_mix = 0;
    int32_t partner = -1;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        int32_t u = g->arc[e].to;
        double rating;
        uint32_t now;

        if (c->leader[u] >= 0 || g->load[v] > c->merge->load_max - g->load[u])
            continue;
        rating = (double)g->arc[e].weight * (double)g->arc[e].weight /
                 (((double)g->load[u] + 1) * ((double)g->load[v] + 1));
        if (rating < best || !kway_coarsen_may_join(c, v, u))
            continue;
        now = kway_coarsen_mix(c, v, u);
        if (rating > best || now > best_mix ||
            (now == best_mix && u > partner)) {
            best = rating;
            best_mix = now;
            partner = u;
        }
    }
    return partner;
}

/* Returns the leader of the group that v should join: the group that contains
 * the neighbour with the best rating. Returns -1 if v may not join the group of
 * any neighbour. */
static int32_t kway_coarsen_best_group(const struct kway_coarsen_work *c,
                                       int32_t v)
{
    const struct nw_graph *g = c->graph;
    double best = 0;
    int32_t group = -1;

    for (size_t e = g->row[v]; e < g->row[v + 1]; e++) {
        int32_t leader = c->leader[g->arc[e].to];
        double rating;

        if (leader == v || g->load[v] > c->merge->load_max - c->load[leader])
            continue;
        rating = (double)g->arc[e].weight * (double)g->arc[e].weight /
                 ((double)c->load[leader] + 1);
        if (rating > best && kway_coarsen_may_join(c, v, leader)) {
            best = rating;
            group = leader;
        }
    }
    return group;
}

/* Makes a group of vertices v and u; the lower number becomes its leader. */
static void kway_coarsen_pair(struct kway_coarsen_work *c, int32_t v, int32_t u)
{
    int32_t leader = v < u ? v : u;

    c->leader[v] = c->leader[u] = leader;
    c->load[leader] = c->graph->load[v] + c->graph->load[u];
}

/* Pairs the vertices of the list that prefer each other. Appends both vertices
 * of each pair to `taken` and returns how many vertices were appended. */
static int32_t kway_coarsen_pair_wishes(struct kway_coarsen_work *c,
                                        const int32_t *list, int32_t count,
                                        int32_t *taken)
{
    int32_t made = 0;

    for (int32_t i = 0; i < count; i++) {
        int32_t v = list[i], u = c->wish[v];

        if (c->leader[v] >= 0 || u < 0 || c->wish[u] != v)
            continue;
        kway_coarsen_pair(c, v, u);
        taken[made++] = v;
        taken[made++] = u;
    }
    return made;
}

/* Fills `list` with the vertices without a group whose preferred partner was
 * just paired with another vertex. Returns the number of vertices in `list`. */
static int32_t kway_coarsen_find_left(const struct kway_coarsen_work *c,
                                      const int32_t *taken, int32_t count,
                                      int32_t *list)
{
    const struct nw_graph *g = c->graph;
    int32_t left = 0;

    for (int32_t i = 0; i < count; i++)
        for (size_t e = g->row[taken[i]]; e < g->row[taken[i] + 1]; e++) {
            int32_t v = g->arc[e].to;

            if (c->leader[v] < 0 && c->wish[v] == taken[i])
                list[left++] = v;
        }
    return left;
}

/* Pairs vertices that prefer each other, in rounds, until no such pair is left.
 * Only vertices whose preferred partner was paired with another one choose
 * again in the next round. That keeps the work low even if each round makes few
 * pairs, as on a chain of rising weights. Vertices without a partner become
 * groups of one. */
static void kway_coarsen_make_pairs(struct kway_coarsen_work *c, int32_t *taken,
                                    int32_t *groups)
{
    const struct nw_graph *g = c->graph;
    int32_t left = g->n;

    *groups = g->n;
    while (left) {
        int32_t made;

        c->late = nw_budget_is_overdue(c->merge->budget);
        if (c->late)
            return;
        for (int32_t i = 0; i < left; i++)
            c->wish[c->order[i]] = kway_coarsen_best_partner(c, c->order[i]);
        made = kway_coarsen_pair_wishes(c, c->order, left, taken);
        *groups -= made / 2;
        left = kway_coarsen_find_left(c, taken, made, c->order);
    }
    for (int32_t v = 0; v < g->n; v++)
        if (c->leader[v] < 0) {
            c->leader[v] = v;
            c->load[v] = g->load[v];
        }
}

/* Lets vertices that are alone in their group join the group of a neighbour. A
 * vertex counts as alone if it leads a group whose load equals its own load.
 * *groups is the number of groups and is lowered by each joining. */
static void kway_coarsen_join_groups(struct kway_coarsen_work *c,
                                     int32_t *groups)
{
    const struct nw_graph *g = c->graph;

    for (int32_t i = 0; i < g->n; i++) {
        int32_t v = c->order[i], leader;

        if (c->leader[v] != v || c->load[v] != g->load[v])
            continue;
        leader = kway_coarsen_best_group(c, v);
        if (leader < 0)
            continue;
        c->leader[v] = leader;
        c->load[leader] += g->load[v];
        /* A group with a second vertex of load 0 must not look like a vertex
         * alone. */
        if (c->load[leader] == g->load[leader])
            c->load[leader]++;
        --*groups;
    }
}

/* Numbers the groups in the order of their lowest vertices and sets into[v] to
 * the number of v's group. Returns the number of groups. */
static int32_t kway_coarsen_number_groups(const struct kway_coarsen_work *c,
                                          int32_t *into)
{
    int32_t count = 0, n = c->graph->n;

    for (int32_t v = 0; v < n; v++)
        into[v] = -1;
    for (int32_t v = 0; v < n; v++) {
        int32_t leader = c->leader[v];

        if (into[leader] < 0)
            into[leader] = count++;
        into[v] = into[leader];
    }
    return count;
}

/* Divides the vertices into groups, of which each becomes one coarse vertex.
 * Sets *groups to the number of groups. */
static nw_status kway_coarsen_group(struct kway_coarsen_work *c,
                                    struct nw_random *random, int32_t *groups)
{
    size_t n = (size_t)c->graph->n;
    int32_t *taken = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, c->leader),
                                    NW_ARRAY(n, c->load), NW_ARRAY(n, c->order),
                                    NW_ARRAY(n, c->wish), NW_ARRAY(n, taken));

    if (status)
        return status;
    for (size_t v = 0; v < n; v++) {
        c->leader[v] = -1;
        c->order[v] = (int32_t)v;
    }
    c->salt = nw_random_next(random);
    kway_coarsen_make_pairs(c, taken, groups);
    free(taken);
    if (c->late)
        return NW_OK;
    for (size_t v = 0; v < n; v++)
        c->order[v] = (int32_t)v;
    if (*groups > c->graph->n / 5 * 3)
        kway_coarsen_join_groups(c, groups);
    return NW_OK;
}

nw_status nw_kway_coarsen(const struct nw_graph *graph,
                          const struct nw_kway_merge *merge,
                          struct nw_random *random, struct nw_graph *coarse,
                          int32_t **into)
{
    struct kway_coarsen_work c = {.graph = graph, .merge = merge};
    int32_t groups = 0, *map = NULL;
    nw_status status = nw_alloc((size_t)graph->n, sizeof *map, &map);

    *coarse = (struct nw_graph){0};
    if (!status)
        status = kway_coarsen_group(&c, random, &groups);
    if (!status && !c.late) {
        groups = kway_coarsen_number_groups(&c, map);
        status = nw_graph_contract(graph, map, groups, coarse);
    }
    NW_FREE_ALL(c.leader, c.load, c.order, c.wish);
    if (!status)
        *into = c.late ? NULL : map;
    if (status || c.late)
        free(map);
    return status;
}
