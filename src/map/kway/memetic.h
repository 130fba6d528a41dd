/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Many vertices per element: a graph cut into k parts that lie on the k
 * elements of a machine, so that the sum of bytes x distance is low and no
 * element has more load than its limit. README.md lists the files in the order
 * of the work.
 */
#ifndef NW_MAP_KWAY_MEMETIC_H
#define NW_MAP_KWAY_MEMETIC_H

#include "base/random.h"
#include "map/common/budget.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sums of loads: those of all vertices may be 2^63. */
__extension__ typedef __int128 nw_kway_load;

/* Elements low .. high - 1. */
struct nw_kway_range {
    int32_t low, high;
};

/* Undirected: each edge stands with both its ends, with the bytes of both
 * directions. No self edges, no weights of 0. */
struct nw_kway_graph {
    int32_t n;
    size_t *row;                 /* [n + 1] */
    int32_t *to;                 /* [row[n]] */
    double *weight;              /* [row[n]] */
    int64_t *load;               /* [n] computation */
    int32_t *count;              /* [n] vertices of the finest graph in it */
    struct nw_kway_range *range; /* [n] where it must lie; NULL: anywhere */
};

void nw_kway_graph_fini(struct nw_kway_graph *graph);
NW_MUST_CHECK nw_status nw_kway_graph_alloc(struct nw_kway_graph *graph,
                                            int32_t n, size_t arcs);

/* Whether v may lie on element q. */
static inline bool nw_kway_allows(const struct nw_kway_graph *graph, int32_t v,
                                  int32_t q)
{
    return !graph->range ||
           (graph->range[v].low <= q && q < graph->range[v].high);
}

/* The elements, in an order where near ones are neighbours. */
struct nw_kway_machine {
    int32_t k;
    /* Symmetric. `table` is [k x k]; where NULL the function is asked. */
    const double *table;
    double (*distance)(const struct nw_kway_machine *machine, int32_t a,
                       int32_t b);
    const void *user;    /* of `distance` */
    double *step;        /* [k] from element i - 1 to i; step[0] is not used */
    double *share;       /* [k] load to aim at */
    nw_kway_load *limit; /* [k] most load */
    int32_t *capacity;   /* [k] most vertices */
};
/* Arrays for k elements, all 0; to be freed by nw_kway_machine_fini, failed or
 * not. The rest stays as it is. */
NW_MUST_CHECK nw_status nw_kway_machine_alloc(struct nw_kway_machine *machine,
                                              int32_t k);
void nw_kway_machine_fini(struct nw_kway_machine *machine);

static inline double nw_kway_distance(const struct nw_kway_machine *machine,
                                      int32_t a, int32_t b)
{
    if (machine->table)
        return machine->table[(size_t)a * (size_t)machine->k + (size_t)b];
    return machine->distance(machine, a, b);
}

struct nw_kway_run;

/* How much work to do. */
struct nw_kway_effort {
    int starts;       /* whole answers made, then combined; 0: what is given is
                         refined alone */
    int cycles;       /* times the best is coarsened and refined again */
    int repeats;      /* bisections made, the best of which is kept */
    int tries;        /* first cuts of each */
    int searches;     /* rounds of local search on each level */
    int patience;     /* moves without gain before a local search ends */
    int group_starts; /* answers made of what each group of elements takes, then
                         combined, in every second start; 0: halves alone */
    struct nw_budget
        *budget; /* overdue, the rest is cut in order; NULL: never */
    /* Partitions the graph among groups of elements: nw_kway_unlimited; set by
     * the memetic algorithm, which calls the initial bisection. */
    nw_status (*partition)(struct nw_kway_run *run, int32_t *part);
};

struct nw_kway_run {
    const struct nw_kway_graph *graph;
    const struct nw_kway_machine *machine;
    struct nw_kway_effort effort;
    uint64_t seed;
    struct nw_budget *budget; /* a step is an answer made or refined again */
    const int32_t *given;     /* [n] an answer to improve on, or NULL */
    const double *share;      /* [k] other loads to aim at, for every second
                                 start; NULL: always the machine's */
    int per_part;             /* vertices a part to coarsen to; 0: a default */
    int wholes;               /* starts that are cut without coarsening */
    bool given_fits;          /* found out: it keeps every limit */
};

/* Fills part[n] with elements. The result respects limits, capacities and
 * ranges, or NW_EINVAL says that none was found. If time is over, the first
 * result is the order, brought within the limits; if that fails, it is computed
 * in full. */
NW_MUST_CHECK nw_status nw_kway(struct nw_kway_run *run, int32_t *part);

/* The same, but limits may be passed by. */
NW_MUST_CHECK nw_status nw_kway_unlimited(struct nw_kway_run *run,
                                          int32_t *part);

/* The sum over all edges of weight x distance, each edge once. */
double nw_kway_cost(const struct nw_kway_graph *graph,
                    const struct nw_kway_machine *machine, const int32_t *part);

/* --- pace --- */

/* Of a time that is given, the first answer's; none elsewhere. */
struct nw_time_shares {
    struct nw_budget *budget;
    uint64_t begun_ns;
    double window_ns, done, all;
};
/* `all` work in a share of the time that is left. budget NULL: no end. */
void nw_time_shares_begin(struct nw_time_shares *pace, struct nw_budget *budget,
                          double share, double all);
/* The clock by which `work` more is due, for nw_budget_is_past; 0: never.
 * Without an end for any thread. */
uint64_t nw_time_shares_until(struct nw_time_shares *pace, double work);

/* --- coarsen --- */

/* Which vertices may be contracted to one. */
struct nw_kway_merge {
    int64_t load_max;         /* of a coarse vertex */
    const int32_t *part;      /* only within a part, or NULL */
    const int32_t *other;     /* nor across these parts, or NULL */
    struct nw_budget *budget; /* or NULL */
};
/* Contracts: the coarser graph, and the coarse vertex of each vertex (the
 * caller frees both). Coarse vertices keep the order of their first members. If
 * time is over, *into is NULL. */
NW_MUST_CHECK nw_status nw_kway_coarsen(const struct nw_kway_graph *graph,
                                        const struct nw_kway_merge *merge,
                                        struct nw_random *random,
                                        struct nw_kway_graph *coarse,
                                        int32_t **into);

/* --- bisect --- */

struct nw_kway_bisection {
    double target[2];
    nw_kway_load limit[2];
    int64_t capacity[2];
    int tries;                /* first cuts on the coarsest level */
    int repeats;              /* from the finest down and back */
    struct nw_budget *budget; /* if overdue, the present cut is the last */
    uint64_t until; /* no more tries and repeats past it; 0: no such time */
};
/* side[v] is 0 or 1 where fixed, -1 where free; all 0 or 1 afterwards. Limits
 * are kept where that is found possible. */
NW_MUST_CHECK nw_status nw_kway_bisect(const struct nw_kway_graph *graph,
                                       const struct nw_kway_bisection *cut,
                                       int8_t *side, struct nw_random *random);

/* --- bisection: part[n] by bisection along the machine --- */

NW_MUST_CHECK nw_status nw_kway_initial_bisection(
    const struct nw_kway_graph *graph, const struct nw_kway_machine *machine,
    const struct nw_kway_effort *effort, uint64_t seed, int32_t *part);

/* --- groups: elements low .. high - 1 by their widest gaps --- */

struct nw_kway_multisection {
    struct nw_kway_machine machine; /* of the groups */
    int32_t *first; /* [k + 1] element of each group, and the end */
};
/* Whether there are more than two, not too many, and not single elements. */
bool nw_kway_multisection_apply(const struct nw_kway_machine *machine,
                                int32_t low, int32_t high);
/* Limits leave a margin for the cuts below; `load` is distributed. Call
 * nw_kway_multisection_fini afterwards, also after a failure. */
NW_MUST_CHECK nw_status nw_kway_multisection_init(
    struct nw_kway_multisection *groups, const struct nw_kway_machine *machine,
    int32_t low, int32_t high, double load);
void nw_kway_multisection_fini(struct nw_kway_multisection *groups);

/* --- state --- */

/* A partition under change. Limits may be wider here than the machine's: on
 * coarse levels nothing would move otherwise. */
struct nw_kway_state {
    const struct nw_kway_graph *graph;
    const struct nw_kway_machine *machine;
    int32_t *part;              /* [n] borrowed */
    nw_kway_load *load, *limit; /* [k] */
    int64_t *count;             /* [k] vertices */
    int64_t *most;              /* [k] most vertices */
    int32_t *first;             /* [k] a vertex of each part, -1 none */
    int32_t *next;              /* [n] the next of the same part, -1 none */
    int32_t *back;              /* [n] the one before */
    double *bound; /* [k] bytes of one vertex to each part; 0 elsewhere */
    int32_t *near; /* [k] the parts where bound is not 0 */
    int32_t near_count;
    double gained;            /* by all moves so far */
    uint64_t looked;          /* arcs looked at */
    uint64_t look;            /* how many, before the clock is */
    bool late;                /* sweeps and searches end */
    uint64_t until;           /* past it they are late, too; 0: never */
    struct nw_budget *budget; /* that says so when overdue; NULL: never */
};
NW_MUST_CHECK nw_status nw_kway_state_init(
    struct nw_kway_state *state, const struct nw_kway_graph *graph,
    const struct nw_kway_machine *machine, int32_t *part);
void nw_kway_state_fini(struct nw_kway_state *state);

/* Whether v fits on part q as well. */
static inline bool nw_kway_state_fits(const struct nw_kway_state *state,
                                      int32_t v, int32_t q)
{
    return state->load[q] + state->graph->load[v] <= state->limit[q] &&
           state->count[q] + state->graph->count[v] <= state->most[q];
}
static inline bool nw_kway_state_over(const struct nw_kway_state *state,
                                      int32_t q)
{
    return state->load[q] > state->limit[q] || state->count[q] > state->most[q];
}

/* Whether the budget was overdue; asks it now and then. */
bool nw_kway_state_is_late(struct nw_kway_state *state);

/* Fills near and bound with the parts around v, by the first edge to each;
 * then the price of v on part q, what lies between it and all its neighbours.
 * Forgotten before the next. */
void nw_kway_state_gather(struct nw_kway_state *state, int32_t v);
double nw_kway_state_cost(const struct nw_kway_state *state, int32_t q);
void nw_kway_state_forget(struct nw_kway_state *state);

struct nw_kway_move {
    int32_t to; /* -1: none */
    double gain;
};
/* The best parts among its neighbours' for v: [0] of those where it fits, [1]
 * of all. */
struct nw_kway_moves {
    struct nw_kway_move fit, any;
};
struct nw_kway_moves nw_kway_state_best(struct nw_kway_state *state, int32_t v);
void nw_kway_state_move(struct nw_kway_state *state, int32_t v,
                        struct nw_kway_move move);

/* --- sweep, search, balance --- */

/* Moves vertices that gain, until a pass moves few. */
NW_MUST_CHECK nw_status nw_kway_label_propagation(struct nw_kway_state *state,
                                                  int passes,
                                                  struct nw_random *random);
/* Local searches from every vertex at a border: moves that lose are taken
 * too, and taken back after the best. */
NW_MUST_CHECK nw_status nw_kway_multitry_fm(struct nw_kway_state *state,
                                            int patience,
                                            struct nw_random *random);
/* Brings loads within limits where it finds a way. */
NW_MUST_CHECK nw_status nw_kway_rebalance(struct nw_kway_state *state,
                                          bool *balanced);

#endif
