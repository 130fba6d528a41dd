/* SPDX-License-Identifier: BSD-3-Clause */
/* An undirected weighted graph in compressed sparse rows (CSR), and the
 * contraction of groups of its vertices to a coarser graph. */
#ifndef NW_MAP_GRAPH_GRAPH_H
#define NW_MAP_GRAPH_GRAPH_H

#include "base/random.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Type of sums of loads. 128 bits, because the sum over all vertices may reach
 * 2^63. */
__extension__ typedef __int128 nw_graph_load;

/* One direction of an edge: from its vertex to vertex `to`, with the edge's
 * weight in bytes or messages. */
struct nw_graph_arc {
    int32_t to;
    float weight;
};

/* The elements low .. high - 1 of a machine. */
struct nw_graph_range {
    int32_t low, high;
};

/* A graph of n vertices. Each edge is stored as two arcs, one at each of its
 * ends; no edge joins a vertex with itself. The graph is the finest (input)
 * graph or a coarser one, whose vertices stand for several of the finest. */
struct nw_graph {
    int32_t n;
    size_t *row; /* [vertices + 1] vertex v has the arcs row[v] .. row[v + 1] -
                    1 */
    struct nw_graph_arc *arc; /* arcs of all vertices, one vertex after the
                                 other */
    /* [vertices] number of vertices of the finest graph in each vertex */
    int32_t *size;
    int64_t *load; /* [vertices] load (computation) that a vertex adds to its
                      part */
    struct nw_graph_range *range; /* [vertices] elements on which a vertex may
                                     be placed; NULL: on all */
};
/* Allocates the arrays, except `range`; `row`, `size` and `load` are 0. */
NW_MUST_CHECK nw_status nw_graph_init(struct nw_graph *graph, int32_t n,
                                      size_t arcs);
void nw_graph_fini(struct nw_graph *graph);

/* Returns the number of arcs of vertex v. */
static inline int32_t nw_graph_degree(const struct nw_graph *graph, int32_t v)
{
    return (int32_t)(graph->row[v + 1] - graph->row[v]);
}

/* Makes *part, the graph of `count` vertices of `graph` and of the edges
 * between them: vertex i of *part is vertex[i] of `graph`. Does not copy
 * `range`. place[vertices] is scratch; on entry no number in it may be
 * negative. Several threads may use the same place[] if their lists of vertices
 * have no vertex in common. The caller calls nw_graph_fini, also after a
 * failure. */
NW_MUST_CHECK nw_status nw_graph_subgraph(const struct nw_graph *graph,
                                          const int32_t *vertex, int32_t count,
                                          int32_t *place,
                                          struct nw_graph *part);

/* Makes the coarser graph *coarse, in which vertex into[v] < n contains vertex
 * v of `fine`. Vertices with the same into[v] must have the same range. The
 * caller calls nw_graph_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_graph_contract(const struct nw_graph *fine,
                                          const int32_t *into, int32_t n,
                                          struct nw_graph *coarse);

/* Which vertices may be contracted to one coarse vertex: those of the same
 * range whose loads sum to at most load_max. */
struct nw_graph_merge {
    int64_t load_max;
    const int32_t *part;  /* [vertices] only vertices of the same part are
                             joined; NULL: of any parts */
    const int32_t *other; /* [vertices] second partition; joined vertices are in
                             the same part of it, too. NULL: none */
    const int8_t *side;   /* [vertices] a bisection, as `other`; NULL: none */
};
/* Coarsens a graph by one level: contracts pairs of vertices that `merge`
 * allows. Most pairs have an edge between them; vertices without such a partner
 * are paired if they have the same heaviest neighbour or no arcs. Makes the
 * coarser graph *coarse and fills into[vertices] with the coarse vertex of each
 * vertex. Coarse vertices are numbered in the order of their lowest vertices.
 * The caller calls nw_graph_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_graph_coarsen(const struct nw_graph *graph,
                                         const struct nw_graph_merge *merge,
                                         struct nw_random *random,
                                         struct nw_graph *coarse,
                                         int32_t *into);

#endif
