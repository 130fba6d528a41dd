/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement: processes onto places, the form that all three phases of MAGC
 * share. Phase 1 places ranks on nodes, phase 2 the ranks of a node on its core
 * units, phase 3 on its GPU units. Any placer may serve any phase.
 */
#ifndef NW_MAP_PLACEMENT_PLACEMENT_H
#define NW_MAP_PLACEMENT_PLACEMENT_H

#include "base/random.h"
#include "map/problem/arcs.h"
#include "map/problem/free_slots.h"
#include "map/problem/problem.h"

/* Places and the routes between them. Hops are numbered from 0: 2 x link +
 * direction of the topology, minus `hop_base`. Nodes of one type share one of
 * these. */
struct nw_places {
    const nw_topology *topology;
    int32_t count;
    struct nw_end *end; /* [count] */
    uint32_t hop_base, hop_count;
    double *bandwidth; /* [hop_count] bytes/s; NULL for matrices */
    size_t *route_row; /* [count^2 + 1] and the hops of all routes, if */
    uint32_t *route;   /* count is small; otherwise NULL */
};

struct nw_hops {
    const uint32_t *hop;
    size_t count;
};

/* Takes `end` (freed here also on failure). Hops are those of `node`, or of
 * the whole machine where node is -1. */
NW_MUST_CHECK nw_status nw_places_init(struct nw_places *places,
                                       const nw_topology *topology,
                                       struct nw_end *end, int32_t count,
                                       int32_t node);
void nw_places_fini(struct nw_places *places);
/* Computes a route that is not in the table. */
struct nw_hops nw_places_find_route(const struct nw_places *places, int32_t a,
                                    int32_t b, uint32_t *buffer);
/* `buffer` holds nw_topology_route_max() entries; used without a table. */
static inline struct nw_hops nw_places_route(const struct nw_places *places,
                                             int32_t a, int32_t b,
                                             uint32_t *buffer)
{
    const size_t *row;

    if (!places->route_row)
        return nw_places_find_route(places, a, b, buffer);
    row = places->route_row + (size_t)a * (size_t)places->count + (size_t)b;
    return (struct nw_hops){places->route + row[0], row[1] - row[0]};
}
double nw_places_distance(const struct nw_places *places, int32_t a, int32_t b);

struct nw_budget;

struct nw_placement {
    const struct nw_places *places;
    int32_t count;      /* processes, in the order of their ranks */
    size_t *row;        /* [count + 1] */
    struct nw_arc *arc; /* sorted by peer, each peer once, no self */
    struct nw_free_slots free_slots;
    bool *gpu;      /* [count] uses a GPU; NULL: none does */
    int32_t *place; /* [count] the result; -1 before */
    bool *fixed;    /* [count] placed before, does not move; NULL: none */
    const int32_t *initial; /* [count] initial solution, or NULL */
    const double *affinity; /* [count x places] s added to a place, or NULL */
    struct nw_random *random;
    /* Borrowed, NULL if not limited: load of a process, limit of a place. Only
     * swaps on hierarchies respect them. */
    const int64_t *load, *limit;
    bool by_distance; /* refinements lower hop-bytes before congestion */
    struct nw_budget *budget; /* how long to search; NULL: no limit */
    bool in_reduced_effort;   /* fewer starts */
    const struct nw_map_options *options; /* for objectives and seed; or NULL */
    uint64_t steps;
    bool approximate; /* out: the search used an approximation of the machine */
    bool grid_found;  /* out: the search found a grid in the pattern */
};

/* The processes and their traffic. The caller fills free_slots, fixed and
 * place; fini frees all but `places`. */
NW_MUST_CHECK nw_status nw_placement_init(struct nw_placement *placement,
                                          const struct nw_arcs_of *of);
void nw_placement_fini(struct nw_placement *placement);

static inline bool nw_placement_wants_gpu(const struct nw_placement *placement,
                                          int32_t process)
{
    return placement->gpu && placement->gpu[process];
}
static inline bool nw_placement_is_fixed(const struct nw_placement *placement,
                                         int32_t process)
{
    return placement->fixed && placement->fixed[process];
}
bool nw_placement_fits(const struct nw_placement *placement, int32_t process,
                       int32_t place);
void nw_placement_put(struct nw_placement *placement, int32_t process,
                      int32_t place);

/* The placers. Each places every process without a place. */
typedef nw_status nw_placer(struct nw_placement *placement);
nw_placer nw_place_block, nw_place_cyclic, nw_place_random;
nw_placer nw_place_greedy;    /* Algorithm 1 of MAGC */
nw_placer nw_place_partition; /* bisection, then congestion swaps */
nw_placer nw_place_scotch;    /* NW_ENODEV if Scotch is absent */
nw_placer nw_place_rashti;    /* Scotch on rashti_weights.h */

/* Searches: placers that begin with `initial`, or with nw_place_block without
 * one. The result is never worse than the beginning in the options' objective,
 * nor in the second if the first is equal. They count steps in the budget and
 * stop when it ends. Fixed processes and capacities are kept. A row of
 * portfolio/algorithms.c registers one. */
nw_status nw_placement_initial(struct nw_placement *placement);
nw_placer nw_place_multilevel; /* hop-bytes on hierarchies */
nw_placer nw_place_section;    /* one embedding or one bisection */
nw_placer nw_place_tile;       /* grids only */
nw_placer nw_place_refine;     /* from the initial solution */

/* Swaps within a complete placement that lower `affinity`. */
NW_MUST_CHECK nw_status
nw_placement_affinity_swaps(struct nw_placement *placement);

/* The placers that may stand in a phase; placers.c has their names. */
enum nw_placer_id {
    NW_PLACER_NONE,
    NW_PLACER_BLOCK,
    NW_PLACER_CYCLIC,
    NW_PLACER_RANDOM,
    NW_PLACER_SCOTCH,
    NW_PLACER_RASHTI,
    NW_PLACER_GREEDY,
    NW_PLACER_PARTITION,
    NW_PLACER_MAGC
};
/* NULL for NW_PLACER_NONE. */
nw_placer *nw_placer_get(enum nw_placer_id id);
/* The placer of that name ("greedy" or "magc-greedy", ...), or NULL. */
nw_placer *nw_placer_find(const char *name);
bool nw_scotch_is_here(void);
/* The file that was loaded, NULL if Scotch is absent. */
const char *nw_scotch_library(void);

#endif
