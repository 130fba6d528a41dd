/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * K-way partitioning with many vertices per element: the vertices of a graph
 * are divided into k parts, part q for element q of a machine. The sum of bytes
 * x distance over all edges is to be low, and no element may get more load than
 * its limit. A graph is the input graph or a coarser graph made from it; a
 * coarse vertex stands for several vertices of the finest (input) graph.
 * README.md lists the files in reading order.
 */
#ifndef NW_MAP_KWAY_KWAY_H
#define NW_MAP_KWAY_KWAY_H

#include "base/random.h"
#include "map/common/budget.h"
#include "map/graph/graph.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns true if vertex v may be on element q. */
static inline bool nw_kway_allows(const struct nw_graph *graph, int32_t v,
                                  int32_t q)
{
    return !graph->range ||
           (graph->range[v].low <= q && q < graph->range[v].high);
}

/* The elements of the machine (cores, hardware threads, or groups of them),
 * numbered so that near elements have near numbers. */
struct nw_kway_machine {
    int32_t k; /* number of elements */
    /* Symmetric distances between elements: `table` is [elements x elements];
     * if it is NULL, nw_kway_distance calls `distance`. */
    const double *table;
    double (*distance)(const struct nw_kway_machine *machine, int32_t a,
                       int32_t b);
    const void *user;     /* for the function `distance`; not read by kway/ */
    double *step;         /* [elements] step[i] is the distance between elements
                             i - 1 and i; step[0] is not used */
    double *share;        /* [elements] load that an element should get */
    nw_graph_load *limit; /* [elements] largest load that an element may get */
    int32_t *capacity;    /* [elements] most vertices of the finest graph that
                             an element may get */
};
/* Allocates the arrays step, share, limit and capacity for k elements, filled
 * with 0; other members are not changed. The caller calls nw_kway_machine_fini,
 * also after a failure. */
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

/* How much work a search does, set by the effort that the user chose. */
struct nw_kway_effort {
    int starts;       /* number of partitions that a generation makes from
                         scratch and then combines; 0: only nw_kway_run.given is
                         refined */
    int cycles;       /* how often the best partition is coarsened and refined
                         again (V-cycles) */
    int repeats;      /* most repetitions of a bisection, of which the best cut
                         is kept; a range of few elements is bisected only
                         once */
    int tries;        /* initial cuts of the coarsest graph in each bisection;
                         the best is kept */
    int searches;     /* most rounds of local search on each level */
    int patience;     /* a local search ends after this many moves without a new
                         best */
    int group_starts; /* in every second start, elements are divided into groups
                         of near elements if possible, and this many partitions
                         among the groups are made and combined; 0: only
                         bisection */
    /* Partitions a graph among groups of elements for the initial bisection.
     * nw_kway sets it to nw_kway_unlimited; a pointer because the initial
     * bisection comes before the memetic algorithm in the order of the files.
     */
    nw_status (*partition)(struct nw_kway_run *run, int32_t *part);
};

/* One call of nw_kway: the graph, the machine and how much work is done. */
struct nw_kway_run {
    const struct nw_graph *graph;
    const struct nw_kway_machine *machine;
    struct nw_kway_effort effort;
    uint64_t seed;
    struct nw_budget *budget; /* limits the search; gets one step for each
                                 partition made, combined or refined again.
                                 Once it is overdue, the initial bisection
                                 assigns the remaining vertices to elements in
                                 order. NULL: no limit, only allowed for
                                 nw_kway_bisect_elements */
    const int32_t *given;     /* [vertices] partition that is refined if
                                 effort.starts is 0, otherwise combined with the
                                 result of the starts if both cost about the
                                 same. If it keeps the limits, the result is not
                                 worse. May be NULL only with starts */
    const double *share;      /* [elements] wanted loads that replace
                                 machine->share in every second start, or
                                 NULL */
    int per_part;             /* coarsening stops when at most this many
                                 vertices per part are left; 0:
                                 nw_tuned.kway.vertices_per_part */
    int wholes;               /* the first `wholes` starts are partitioned
                                 without coarsening */
    bool given_fits;          /* out: true if `given` exceeds no limit, capacity
                                 or range */
};

/* Fills part[vertices] with the element of each vertex. The result respects
 * limits, capacities and ranges; the function returns NW_EINVAL if it finds no
 * such partition. If time is over before the first partition is finished, the
 * result is run->given, if that keeps all limits. Otherwise, the remaining
 * vertices are assigned to elements in order and the loads are rebalanced. If
 * that result exceeds a limit, a partition is computed in full regardless of
 * time. */
NW_MUST_CHECK nw_status nw_kway(struct nw_kway_run *run, int32_t *part);

/* Fills part[vertices] with the element of each vertex, but may exceed limits.
 * Runs one generation: makes run->effort.starts partitions and combines them.
 */
NW_MUST_CHECK nw_status nw_kway_unlimited(struct nw_kway_run *run,
                                          int32_t *part);

/* Returns the cost of a partition: the sum of weight x distance over all edges,
 * counting each edge once. */
double nw_kway_cost(const struct nw_graph *graph,
                    const struct nw_kway_machine *machine, const int32_t *part);

/* --- shares of time --- */

/* Divides a time limit among stages of work. A stage has no end if the budget
 * has no time limit or if a partition was already made. */
struct nw_time_shares {
    struct nw_budget *budget;
    uint64_t begun_ns; /* time in ns when the stage began */
    /* window_ns: length of the stage in ns, 0: no end; done: units of work that
     * were begun so far; all: units of work of the whole stage */
    double window_ns, done, all;
};
/* Begins a stage with `all` units of work (for example vertices to refine). The
 * stage may use the fraction `share` (0 .. 1) of the time left in the budget.
 * If `budget` is NULL, the stage has no end. */
void nw_time_shares_begin(struct nw_time_shares *pace, struct nw_budget *budget,
                          double share, double all);
/* Adds `work` units to the work that was begun and returns the time in ns at
 * which that work should be finished, for nw_budget_is_past; 0: never. If the
 * stage has no end, any thread may call this function. */
uint64_t nw_time_shares_until(struct nw_time_shares *pace, double work);

/* --- recursive bisection along the order of the elements --- */

/* Fills part[vertices] with the element of each vertex, by recursive bisection
 * of the graph and, if run->effort.group_starts is not 0, multisection.
 * Elements may get more load than their limits. */
NW_MUST_CHECK nw_status nw_kway_bisect_elements(const struct nw_kway_run *run,
                                                int32_t *part);

/* --- multisection: elements low .. high - 1 are divided into groups at the
 * widest gaps between neighbouring elements (nw_kway_machine.step) --- */

/* Elements of a machine, divided into groups of consecutive elements. */
struct nw_kway_multisection {
    struct nw_kway_machine machine; /* a machine whose elements are the
                                       groups */
    /* [groups + 1] first element of each group; the last entry is the end of
     * the last group */
    int32_t *first;
};
/* Returns true if elements low .. high - 1 are worth dividing into groups:
 * cutting them at all widest gaps gives more than two groups, at most
 * nw_tuned.kway.groups_max, and fewer groups than elements. */
bool nw_kway_multisection_apply(const struct nw_kway_machine *machine,
                                int32_t low, int32_t high);
/* Divides elements low .. high - 1 into groups. `load` is the total load of the
 * vertices that the groups will get. The load limits of groups are lowered so
 * that later bisections within a group keep some tolerance. Call
 * nw_kway_multisection_fini afterwards, also after a failure. */
NW_MUST_CHECK nw_status nw_kway_multisection_init(
    struct nw_kway_multisection *groups, const struct nw_kway_machine *machine,
    int32_t low, int32_t high, double load);
void nw_kway_multisection_fini(struct nw_kway_multisection *groups);

/* --- state --- */

/* A partition that is changed by moves of vertices. On coarse levels the limits
 * in this struct may be wider than the machine's, because otherwise no heavy
 * coarse vertex could move. */
struct nw_kway_state {
    const struct nw_graph *graph;
    const struct nw_kway_machine *machine;
    int32_t *part;               /* [vertices] part of a vertex; the array is
                                    the caller's */
    nw_graph_load *load, *limit; /* [parts] present load of a part; largest
                                    allowed load */
    int64_t *count; /* [parts] number of vertices of the finest graph in a
                       part */
    int64_t *most;  /* [parts] largest allowed value of `count` */
    int32_t *first; /* [parts] first vertex in the list of a part, -1: none */
    int32_t *next;  /* [vertices] next vertex of the same part, -1: none */
    int32_t *back;  /* [vertices] previous vertex of the same part, -1: none */
    double *bound;  /* [parts] bytes between the gathered vertex v
                       (nw_kway_state_gather) and its neighbours in each part;
                       all 0 if no vertex is gathered */
    int32_t *near;  /* [near_count] parts in which the gathered vertex has
                       neighbours, that is, whose `bound` is not 0 */
    int32_t near_count;
    double gained;            /* sum of the gains of all moves so far */
    uint64_t looked;          /* number of vertices and arcs visited so far */
    uint64_t look;            /* when `looked` reaches this, the clock is read
                                 again */
    bool late;                /* time is over: every sweep and search ends */
    uint64_t until;           /* time (ns) at which `late` becomes true even if
                                 the budget is not overdue; 0: no such time */
    struct nw_budget *budget; /* if the budget is overdue, `late` becomes
                                 true; NULL: `late` stays false, whatever
                                 `until` is */
};
NW_MUST_CHECK nw_status
nw_kway_state_init(struct nw_kway_state *state, const struct nw_graph *graph,
                   const struct nw_kway_machine *machine, int32_t *part);
void nw_kway_state_fini(struct nw_kway_state *state);

/* Returns true if part q stays within its limits of load and vertices with
 * vertex v added. */
static inline bool nw_kway_state_fits(const struct nw_kway_state *state,
                                      int32_t v, int32_t q)
{
    return state->load[q] + state->graph->load[v] <= state->limit[q] &&
           state->count[q] + state->graph->size[v] <= state->most[q];
}
/* Returns true if part q exceeds its limit of load or of vertices. */
static inline bool nw_kway_state_over(const struct nw_kway_state *state,
                                      int32_t q)
{
    return state->load[q] > state->limit[q] || state->count[q] > state->most[q];
}

/* Returns true if time is over, and sets state->late. Reads the clock only once
 * for many visited arcs. */
bool nw_kway_state_is_late(struct nw_kway_state *state);

/* These functions compute the cost of a vertex in several parts:
 * - nw_kway_state_gather fills `near` and `bound` with the parts in which
 *   vertex v has neighbours.
 * - nw_kway_state_cost then returns the cost of v's edges (bytes x distance) as
 *   if v were in part q.
 * - nw_kway_state_forget must be called before the next vertex is gathered. */
void nw_kway_state_gather(struct nw_kway_state *state, int32_t v);
double nw_kway_state_cost(const struct nw_kway_state *state, int32_t q);
void nw_kway_state_forget(struct nw_kway_state *state);

/* A move of one vertex to another part. */
struct nw_kway_move {
    int32_t to;  /* part to move to; -1: no move */
    double gain; /* amount by which the cost falls */
};
/* The best moves of a vertex to another part where it has neighbours and may
 * be; if these parts are many, only the few with the most bytes are compared.
 * `fit` is the best move that keeps the limits of that part, `any` the best
 * move regardless of the limits. */
struct nw_kway_moves {
    struct nw_kway_move fit, any;
};
struct nw_kway_moves nw_kway_state_best(struct nw_kway_state *state, int32_t v);
/* Moves vertex v to part move.to and adds move.gain to `gained`. */
void nw_kway_state_move(struct nw_kway_state *state, int32_t v,
                        struct nw_kway_move move);

/* --- label propagation, local search, rebalancing --- */

/* Moves each vertex to the best adjacent part where it fits, if that lowers the
 * cost, or keeps the cost and makes the loads more equal. Makes a few passes.
 * Ends earlier after a pass that moves few vertices, or if time is over. */
NW_MUST_CHECK nw_status nw_kway_label_propagation(struct nw_kway_state *state,
                                                  struct nw_random *random);
/* Starts a local search at every vertex that no earlier search has moved, in
 * random order, until time is over. A search also makes moves that increase the
 * cost and ends after `patience` moves without a new best; then it undoes the
 * moves after the best state. */
NW_MUST_CHECK nw_status nw_kway_multitry_fm(struct nw_kway_state *state,
                                            int patience,
                                            struct nw_random *random);
/* Moves vertices out of parts that exceed their limits. Sets *balanced to true
 * if no part exceeds a limit at the end, otherwise to false. */
NW_MUST_CHECK nw_status nw_kway_rebalance(struct nw_kway_state *state,
                                          bool *balanced);

#endif
