/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A placement assigns processes to places; all three phases of MAGC use this
 * form. Phase 1 places ranks on nodes, phase 2 the ranks of a node on its core
 * units, phase 3 on its GPU units. Any placer may serve any phase. Other
 * algorithms place ranks on the units of all nodes at once
 * (phases/all_units.h).
 */
#ifndef NW_MAP_PLACEMENT_PLACEMENT_H
#define NW_MAP_PLACEMENT_PLACEMENT_H

#include "base/random.h"
#include "map/problem/arcs.h"
#include "map/problem/free_slots.h"
#include "map/problem/problem.h"

/* Places (nodes, core units or GPU units) and the routes between them. A hop is
 * one direction of a link. Hop numbers are 2 x link + direction in the
 * topology, minus `hop_base`. Two nodes can share one nw_places if they have
 * the same type and their units contain the same cores or GPUs, numbered inside
 * the node. */
struct nw_places {
    const nw_topology *topology;
    int32_t count;
    struct nw_end *end;           /* [count] each place as an end of routes */
    uint32_t hop_base, hop_count; /* hop_base: first hop number in the topology;
                                     hop_count: number of hops, two per link */
    double *bandwidth; /* [hop_count] bytes/s of each hop; NULL: the machine is
                          a matrix of distances without links */
    /* Table of routes; NULL if there are too many places or no links. The hops
     * of the route from place a to b are route[route_row[i]] ..
     * route[route_row[i + 1] - 1] with i = a * count + b. */
    size_t *route_row; /* [count^2 + 1] first entry of each pair in route[] */
    uint32_t *route;
};

/* The hops (directions of links) of one route. */
struct nw_hops {
    const uint32_t *hop;
    size_t count;
};

/* Makes the places from their ends of routes; takes over `end` and frees it,
 * also on failure. The hops are the links inside node `node`, or those of the
 * whole machine if `node` is -1. The caller calls nw_places_fini unless this
 * fails. */
NW_MUST_CHECK nw_status nw_places_init(struct nw_places *places,
                                       const nw_topology *topology,
                                       struct nw_end *end, int32_t count,
                                       int32_t node);
void nw_places_fini(struct nw_places *places);
/* Computes the route from place a to place b from the topology, not from the
 * table, and stores its hops in `buffer`, which must have
 * nw_topology_route_max() entries. Without links the route has no hops. */
struct nw_hops nw_places_find_route(const struct nw_places *places, int32_t a,
                                    int32_t b, uint32_t *buffer);
/* Returns the hops of the route from place a to place b. If the places have no
 * table of routes, computes the route in `buffer`, which must have
 * nw_topology_route_max() entries. */
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
/* Returns the distance from place a to place b: the number of links on the
 * route, or the distance that the topology gives (by levels or as a matrix). It
 * is 0 for a = b. */
double nw_places_distance(const struct nw_places *places, int32_t a, int32_t b);

struct nw_budget;

/* Processes, the traffic between them, and the place of each so far. */
struct nw_placement {
    const struct nw_places *places;
    int32_t count;      /* processes, in the order of their ranks */
    size_t *row;        /* [count + 1] index in arc[] of each process's first
                           arc */
    struct nw_arc *arc; /* arcs of each process, one per peer, sorted by peer;
                           no arc leads to the process itself */
    struct nw_free_slots free_slots; /* free slots of each place */
    const bool *gpu;                 /* [count] the process needs a GPU; NULL:
                                        none does */
    int32_t *place; /* [count] place of a process; -1: not yet placed */
    bool *fixed;    /* [count] the caller has placed the process and it must not
                       move; NULL: none is fixed */
    /* [count] place of each process in the initial solution, -1 if it has none
     * there; NULL: no initial solution */
    const int32_t *initial;
    double *affinity; /* [count x places] affinity cost of a process on a
                               place, in seconds; NULL: no affinity */
    struct nw_random *random;
    /* Borrowed: load of each process and largest load allowed on each place;
     * NULL if loads are not limited. Only annealing on hierarchies (hierarchy/)
     * respects the limits. */
    const int64_t *load, *limit;
    bool by_distance; /* true: nw_place_partition prefers fewer hop-bytes and,
                         if they are equal, less congestion; false: less
                         congestion and, if it is equal, fewer hop-bytes */
    struct nw_budget *budget; /* limits the search; NULL: no limit */
    bool in_reduced_effort;   /* less work: nw_place_partition leaves out some
                                 starts and initial cuts */
    const struct nw_map_options *options; /* objectives and seed; may be NULL */
    uint64_t steps;                       /* out: number of trials that the
                                             placer made */
    bool counts_affinity; /* out: the placer has lowered `affinity`, too */
    bool approximate; /* out: the placer used an approximation of the machine's
                         distances */
    bool grid_found;  /* out: the placer found a grid in the traffic */
};

/* Reads the processes and their traffic from a pattern; no process has a place
 * yet. The caller then fills the other members. nw_placement_fini frees row,
 * arc, free_slots, place, fixed and affinity; the caller owns all others. */
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
/* Returns true if a place has a free slot for a process, with a GPU if the
 * process needs one. */
bool nw_placement_fits(const struct nw_placement *placement, int32_t process,
                       int32_t place);
/* Assigns a process to a place and takes one of its free slots. */
void nw_placement_put(struct nw_placement *placement, int32_t process,
                      int32_t place);

/* Returns the sum of bytes x distance between a process, if it were on `place`,
 * and those of its peers that have a place. */
double nw_placement_distance_cost(const struct nw_placement *placement,
                                  int32_t process, int32_t place);

/* Fails with NW_EINVAL: no free slot is left for this process. */
NW_MUST_CHECK nw_status nw_placement_full(int32_t process);

/* The placers. Each one assigns every process that has no place yet, or returns
 * NW_EINVAL if too few slots are free. */
typedef nw_status nw_placer(struct nw_placement *placement);
nw_placer nw_place_block, nw_place_cyclic, nw_place_random;
nw_placer nw_place_greedy;    /* Algorithm 1 of MAGC */
nw_placer nw_place_partition; /* recursive bisection of processes and places,
                                 then congestion_swaps.h */
nw_placer nw_place_scotch;    /* by Scotch; NW_ENODEV: Scotch is absent, or the
                                 program itself is linked to Scotch */
nw_placer nw_place_magc;      /* nw_place_scotch if Scotch is present, otherwise
                                 nw_place_greedy */
nw_placer nw_place_rashti;    /* like nw_place_scotch, with rashti_weights.h;
                                 NW_EUNSUPPORTED: more than 1024 places */

/* Placers that see the machine as a hierarchy (hierarchy/hierarchy.h), which
 * may approximate its distances. If the hierarchy would be too deep, they
 * return NW_EUNSUPPORTED. They search from placement->initial, or if that is
 * NULL from the result of nw_place_block. Whatever the objectives are, they
 * lower hop-bytes only, by the distances of the hierarchy; the result never has
 * more of them than this start. They need `budget` and `options`, count steps
 * in the budget, stop when it ends, and keep fixed processes and capacities. A
 * row of portfolio/algorithms.c registers each of them. */
/* Assigns each process to its place in placement->initial. Processes without
 * one, and those whose place has no free slot, are assigned as nw_place_block
 * does. */
nw_status nw_placement_initial(struct nw_placement *placement);
nw_placer nw_place_multilevel; /* lowers hop-bytes on hierarchies */
nw_placer nw_place_section;    /* quick: one embedding of a grid, or few
                                  bisections */
nw_placer nw_place_tile;       /* best embedding; NW_EUNSUPPORTED: the processes
                                  do not form a grid */
nw_placer nw_place_refine;     /* improves placement->initial */

/* Swaps and moves the processes of a complete placement, except fixed ones, to
 * lower the sum of two costs: `affinity`, which must not be NULL, and bytes x
 * seconds per byte on the routes. */
NW_MUST_CHECK nw_status
nw_placement_affinity_swaps(struct nw_placement *placement);

/* Returns the placer with this name (such as "greedy" or "magc-greedy"); NULL
 * if no placer has it. */
nw_placer *nw_placer_find(const char *name);
/* Returns true if the Scotch library can be used; loads the library at the
 * first call. Returns false if the program itself is linked to Scotch. */
bool nw_scotch_is_here(void);

#endif
