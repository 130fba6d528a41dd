/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * K-way partitioning with many vertices per element: a graph is divided into k
 * parts for the k elements of a machine, so that the sum of bytes x distance is
 * low and no element has more load than its limit. README.md lists the files in
 * the order of the work.
 */
#ifndef NW_MAP_KWAY_MEMETIC_H
#define NW_MAP_KWAY_MEMETIC_H

#include "base/random.h"
#include "map/common/budget.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Type of sums of loads: the sum over all vertices may reach 2^63. */
__extension__ typedef __int128 nw_kway_load;

/* The elements low .. high - 1. */
struct nw_kway_range {
    int32_t low, high;
};

/* An undirected graph: each edge is stored with both its ends, with the sum of
 * the bytes of both directions. No edge joins a vertex with itself or has
 * weight 0. */
struct nw_kway_graph {
    int32_t n;                   /* number of vertices */
    size_t *row;                 /* [n + 1] arcs of vertex v: row[v] ..
                                    row[v + 1] - 1 */
    int32_t *to;                 /* [row[n]] other end of an arc */
    double *weight;              /* [row[n]] bytes or messages of an arc */
    int64_t *load;               /* [n] load (computation) of a vertex */
    int32_t *count;              /* [n] vertices of the finest graph that a
                                    vertex contains */
    struct nw_kway_range *range; /* [n] elements that a vertex may be on; NULL:
                                    any */
};

void nw_kway_graph_fini(struct nw_kway_graph *graph);
NW_MUST_CHECK nw_status nw_kway_graph_alloc(struct nw_kway_graph *graph,
                                            int32_t n, size_t arcs);

/* Returns true if vertex v may be on element q. */
static inline bool nw_kway_allows(const struct nw_kway_graph *graph, int32_t v,
                                  int32_t q)
{
    return !graph->range ||
           (graph->range[v].low <= q && q < graph->range[v].high);
}

/* The elements of the machine, numbered so that near elements have near
 * numbers. */
struct nw_kway_machine {
    int32_t k; /* number of elements */
    /* Symmetric distances: `table` is [k x k]; if it is NULL, `distance` is
     * called. */
    const double *table;
    double (*distance)(const struct nw_kway_machine *machine, int32_t a,
                       int32_t b);
    const void *user;    /* for the caller's function `distance` */
    double *step;        /* [k] distance from element i - 1 to i; step[0] is not
                            used */
    double *share;       /* [k] wanted load */
    nw_kway_load *limit; /* [k] largest load */
    int32_t *capacity;   /* [k] most vertices */
};
/* Allocates the arrays for k elements, filled with 0; the other fields stay.
 * The caller calls nw_kway_machine_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_kway_machine_alloc(struct nw_kway_machine *machine,
                                              int32_t k);
void nw_kway_machine_fini(struct nw_kway_machine *machine);

/* Returns the distance between elements a and b. */
static inline double nw_kway_distance(const struct nw_kway_machine *machine,
                                      int32_t a, int32_t b)
{
    if (machine->table)
        return machine->table[(size_t)a * (size_t)machine->k + (size_t)b];
    return machine->distance(machine, a, b);
}

struct nw_kway_run;

/* How much work a search does. */
struct nw_kway_effort {
    int starts;       /* partitions made from scratch and then combined; 0: only
                         the given partition is refined */
    int cycles;       /* times that the best partition is coarsened and refined
                         again */
    int repeats;      /* repetitions of each bisection, of which the best is
                         kept */
    int tries;        /* initial cuts of the coarsest graph in each bisection */
    int searches;     /* rounds of local search on each level */
    int patience;     /* moves without gain before a local search ends */
    int group_starts; /* partitions of the vertices of a range among groups of
                         elements, made and combined in every second start; 0:
                         bisection only */
    /* if overdue, the remaining vertices are assigned in order; NULL: never */
    struct nw_budget *budget;
    /* Always nw_kway_unlimited. The initial bisection calls it to partition a
     * graph among groups of elements; the memetic algorithm sets it. */
    nw_status (*partition)(struct nw_kway_run *run, int32_t *part);
};

/* One call of the engine: what is partitioned, and with how much work. */
struct nw_kway_run {
    const struct nw_kway_graph *graph;
    const struct nw_kway_machine *machine;
    struct nw_kway_effort effort;
    uint64_t seed;
    struct nw_budget *budget; /* counts a step for each partition made or
                                 refined again */
    const int32_t *given;     /* [n] initial partition to improve, or NULL */
    const double *share;      /* [k] wanted loads for every second start; NULL:
                                 the machine's for all starts */
    int per_part;             /* coarsening stops at this many vertices per
                                 part; 0: default */
    int wholes;               /* number of starts that are partitioned without
                                 coarsening */
    bool given_fits;          /* out: `given` keeps every limit */
};

/* Fills part[n] with the element of each vertex. The result respects limits,
 * capacities and ranges; NW_EINVAL if no such partition was found. If time is
 * over before the first partition, the vertices are assigned in order and
 * rebalanced; if that does not meet the limits, a partition is computed in full
 * regardless of time. */
NW_MUST_CHECK nw_status nw_kway(struct nw_kway_run *run, int32_t *part);

/* Fills part[n] like nw_kway, but the result may exceed limits. Runs one
 * generation of starts and combinations. */
NW_MUST_CHECK nw_status nw_kway_unlimited(struct nw_kway_run *run,
                                          int32_t *part);

/* Returns the sum of weight x distance over all edges, counting each edge once.
 */
double nw_kway_cost(const struct nw_kway_graph *graph,
                    const struct nw_kway_machine *machine, const int32_t *part);

/* --- shares of time --- */

/* Divides the time limit among the stages of the first partition. Without a
 * time limit, and for later partitions, stages have no end. */
struct nw_time_shares {
    struct nw_budget *budget;
    uint64_t begun_ns; /* time when the stage began */
    /* time of the stage in ns, 0: no end; work begun, and all work of the stage
     */
    double window_ns, done, all;
};
/* Begins a stage with `all` units of work, which gets the fraction `share` of
 * the time that is left. budget NULL: no end. */
void nw_time_shares_begin(struct nw_time_shares *pace, struct nw_budget *budget,
                          double share, double all);
/* Adds `work` units to the work done and returns the time at which they should
 * be finished, for nw_budget_is_past; 0: never. If the stage has no end, any
 * thread may call it. */
uint64_t nw_time_shares_until(struct nw_time_shares *pace, double work);

/* --- coarsen --- */

/* Which vertices may be contracted to one. */
struct nw_kway_merge {
    int64_t load_max;         /* largest load of a coarse vertex */
    const int32_t *part;      /* [n] only vertices of the same part may join, or
                                 NULL */
    const int32_t *other;     /* [n] a second partition that must agree
                                 likewise, or NULL */
    struct nw_budget *budget; /* stops coarsening when overdue, or NULL */
};
/* Makes the coarser graph *coarse and (*into)[n], the coarse vertex of each
 * vertex; the caller frees both. Coarse vertices are ordered by their first
 * members. If time is over, *into is NULL. */
NW_MUST_CHECK nw_status nw_kway_coarsen(const struct nw_kway_graph *graph,
                                        const struct nw_kway_merge *merge,
                                        struct nw_random *random,
                                        struct nw_kway_graph *coarse,
                                        int32_t **into);

/* --- bisect --- */

/* The parameters of a bisection. */
struct nw_kway_bisection {
    double target[2];      /* wanted load of each side */
    nw_kway_load limit[2]; /* largest load of each side */
    int64_t capacity[2];   /* most vertices of the finest graph on each side */
    int tries;             /* initial cuts of the coarsest graph */
    int repeats;           /* times that the finest graph is coarsened and
                              refined */
    struct nw_budget *budget; /* if overdue, the present cut is the last */
    uint64_t until; /* time after which no tries and repeats begin; 0: none */
};
/* Bisects the graph. On input side[v] is 0 or 1 for a fixed vertex and -1 for a
 * free one; on return it is 0 or 1. The sides are within their limits if such a
 * cut is found. */
NW_MUST_CHECK nw_status nw_kway_bisect(const struct nw_kway_graph *graph,
                                       const struct nw_kway_bisection *cut,
                                       int8_t *side, struct nw_random *random);

/* --- recursive bisection along the order of the elements --- */

/* Fills part[n] with the element of each vertex, by recursive bisection of the
 * graph. The result may exceed limits. */
NW_MUST_CHECK nw_status nw_kway_initial_bisection(
    const struct nw_kway_graph *graph, const struct nw_kway_machine *machine,
    const struct nw_kway_effort *effort, uint64_t seed, int32_t *part);

/* --- multisection: elements low .. high - 1 are divided into groups at the
 * widest gaps between neighbouring elements --- */

/* Groups of elements. */
struct nw_kway_multisection {
    struct nw_kway_machine machine; /* each group as one element */
    /* [k + 1] first element of each group; first[k] is the end */
    int32_t *first;
};
/* Returns true if the widest gaps give more than two groups, few enough, and
 * not one group for each element. */
bool nw_kway_multisection_apply(const struct nw_kway_machine *machine,
                                int32_t low, int32_t high);
/* Makes the groups. `load` is the total load of the vertices to distribute.
 * Limits of groups are tightened so that later cuts within a group keep some
 * tolerance. Call nw_kway_multisection_fini afterwards, also after a failure.
 */
NW_MUST_CHECK nw_status nw_kway_multisection_init(
    struct nw_kway_multisection *groups, const struct nw_kway_machine *machine,
    int32_t low, int32_t high, double load);
void nw_kway_multisection_fini(struct nw_kway_multisection *groups);

/* --- state --- */

/* A partition that moves change. On coarse levels its limits may be wider than
 * the machine's, because otherwise no vertex could move. */
struct nw_kway_state {
    const struct nw_kway_graph *graph;
    const struct nw_kway_machine *machine;
    int32_t *part;              /* [n] part of a vertex, borrowed */
    nw_kway_load *load, *limit; /* [k] load of a part; its largest load */
    int64_t *count;             /* [k] vertices of the finest graph in a part */
    int64_t *most;              /* [k] most vertices */
    int32_t *first;             /* [k] first vertex in the list of a part, -1:
                                   none */
    int32_t *next;              /* [n] next vertex of the same part, -1: none */
    int32_t *back;              /* [n] previous vertex of the same part, -1:
                                   none */
    double *bound; /* [k] bytes between one vertex and each part; 0 for other
                      parts */
    int32_t *near; /* [k] list of parts whose `bound` is not 0 */
    int32_t near_count;
    double gained;            /* decrease of the cost by all moves so far */
    uint64_t looked;          /* arcs looked at */
    uint64_t look;            /* value of `looked` at which the clock is read
                                 again */
    bool late;                /* time is over: sweeps and searches end */
    uint64_t until;           /* time at which `late` becomes true; 0: never */
    struct nw_budget *budget; /* sets `late` if overdue; NULL: never */
};
NW_MUST_CHECK nw_status nw_kway_state_init(
    struct nw_kway_state *state, const struct nw_kway_graph *graph,
    const struct nw_kway_machine *machine, int32_t *part);
void nw_kway_state_fini(struct nw_kway_state *state);

/* Returns true if part q stays within its limits with vertex v added. */
static inline bool nw_kway_state_fits(const struct nw_kway_state *state,
                                      int32_t v, int32_t q)
{
    return state->load[q] + state->graph->load[v] <= state->limit[q] &&
           state->count[q] + state->graph->count[v] <= state->most[q];
}
/* Returns true if part q exceeds one of its limits. */
static inline bool nw_kway_state_over(const struct nw_kway_state *state,
                                      int32_t q)
{
    return state->load[q] > state->limit[q] || state->count[q] > state->most[q];
}

/* Returns true if time is over; reads the clock only now and then. */
bool nw_kway_state_is_late(struct nw_kway_state *state);

/* nw_kway_state_gather fills `near` and `bound` with the parts that vertex v
 * has edges to. nw_kway_state_cost then returns the sum of bytes x distance
 * over the edges of v if v were on part q. nw_kway_state_forget clears `near`
 * and `bound` before the next vertex. */
void nw_kway_state_gather(struct nw_kway_state *state, int32_t v);
double nw_kway_state_cost(const struct nw_kway_state *state, int32_t q);
void nw_kway_state_forget(struct nw_kway_state *state);

/* A move of a vertex. */
struct nw_kway_move {
    int32_t to;  /* part to move to; -1: no move */
    double gain; /* decrease of the cost */
};
/* The best moves of a vertex to a part that it has edges to: `fit` among the
 * parts where the vertex fits, `any` among all of them. */
struct nw_kway_moves {
    struct nw_kway_move fit, any;
};
struct nw_kway_moves nw_kway_state_best(struct nw_kway_state *state, int32_t v);
/* Moves vertex v and updates loads, lists and `gained`. */
void nw_kway_state_move(struct nw_kway_state *state, int32_t v,
                        struct nw_kway_move move);

/* --- label propagation, local search, rebalancing --- */

/* Moves each vertex to the best adjacent part, pass after pass, until a pass
 * moves few vertices. */
NW_MUST_CHECK nw_status nw_kway_label_propagation(struct nw_kway_state *state,
                                                  int passes,
                                                  struct nw_random *random);
/* Starts a local search from every border vertex: it also makes moves that
 * increase the cost, then undoes the moves after the best state. */
NW_MUST_CHECK nw_status nw_kway_multitry_fm(struct nw_kway_state *state,
                                            int patience,
                                            struct nw_random *random);
/* Moves vertices out of parts that exceed their limits; sets *balanced if all
 * parts are within them at the end. */
NW_MUST_CHECK nw_status nw_kway_rebalance(struct nw_kway_state *state,
                                          bool *balanced);

#endif
