/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of an assignment, updated after each move: hop-bytes, latency and
 * the load of every link. A trial computes how a move would change the cost;
 * ending the trial with `keep` applies the change.
 */
#ifndef NW_MAP_CONGESTION_LINK_LOADS_H
#define NW_MAP_CONGESTION_LINK_LOADS_H

#include "map/congestion/slots.h"
#include "map/congestion/route_cache.h"

#include <math.h>

/* Cost figures of an assignment, or their changes by a move. */
struct nw_load_figures {
    double hop_bytes;
    double latency; /* s: sum of the latencies of all messages; if the topology
                       gives only distances: sum of messages x distance */
    double busy;    /* s: sum over all links of their congestion */
    double power; /* sum over the links of (congestion / nw_link_loads.scale)^8:
                     unlike the maximum, it falls if one of several equally
                     loaded links is relieved */
    double over;  /* s: sum over the links of their congestion beyond
                     nw_link_loads.target */
};

static inline void nw_load_figures_add(struct nw_load_figures *sum,
                                       const struct nw_load_figures *more)
{
    sum->hop_bytes += more->hop_bytes;
    sum->latency += more->latency;
    sum->busy += more->busy;
    sum->power += more->power;
    sum->over += more->over;
}

/* Returns x^8. The eighth root of the sum of eighth powers of loads
 * approximates their maximum. */
static inline double nw_eighth_power(double x)
{
    x *= x;
    x *= x;
    return x * x;
}

/* Returns the eighth root of x; 0 if x is negative by a rounding error. */
static inline double nw_eighth_root(double x)
{
    return sqrt(sqrt(sqrt(fmax(0, x))));
}

/* A directed link: its load and the change of the load by the present trial. */
struct nw_link_load {
    double now;   /* bytes of the present assignment on the link */
    double slow;  /* time in s that the link needs for a byte */
    double more;  /* bytes that the present trial adds (negative: removes) */
    double power; /* term of this link, (congestion / scale)^8, in the sum
                     nw_load_figures.power */
    uint64_t touched; /* 1: the present trial lists the link in
                         nw_link_loads.touch */
};

/* Bytes and messages that an endpoint sends (`out`) and receives (`in`). */
struct nw_endpoint_flow {
    double out, in, out_messages, in_messages;
};

/* The cost of an assignment, the load of each link, and the present trial. */
struct nw_link_loads {
    const struct nw_slots *slots;
    struct nw_route_cache routes;
    bool has_links;
    /* trials follow routes to update link loads; false: they update hop-bytes
     * and latency only */
    bool follows;
    uint32_t link_count;       /* number of directed links: 2 x links */
    struct nw_link_load *link; /* [link_count] directed links by hop number */
    double *peak; /* [2 x leaves] tournament tree: peak[leaves + i] is the
                     congestion of directed link i in s, peak[1] the largest of
                     all */
    uint32_t leaves;
    double scale;  /* s: divisor of all congestion in nw_load_figures.power */
    double target; /* s: target of nw_load_figures.over, the most congestion
                      wanted on any link; 0: none */
    struct nw_load_figures now; /* figures of the present assignment */
    /* The fields from here on describe the present trial. */
    struct nw_load_figures change;
    double touched_most; /* s: largest congestion, after the move, of the links
                            to which the move adds load */
    uint32_t *touch;     /* [touch_count] directed links whose load the present
                            trial may change */
    size_t touch_count;
    /* [endpoints] bytes of each endpoint to and from all other endpoints */
    struct nw_endpoint_flow *all;
    /* [route classes] traffic of the part of the move under examination with
     * the endpoints of each class that do not move */
    struct nw_endpoint_flow *flow;
    bool *met;     /* [route classes] true if the class is listed in `meet` */
    int32_t *meet; /* [meet_count] route classes with an entry in `flow` */
    size_t meet_count;
    /* [endpoints] 1 + index of the endpoint among the parts of the move; 0: it
     * does not move */
    uint8_t *mark;
};

/* Computes the figures in `wants` and the link loads of the present assignment,
 * which later calls keep up to date; other figures stay 0. The caller calls
 * nw_link_loads_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_link_loads_init(struct nw_link_loads *loads,
                                           const struct nw_slots *slots,
                                           struct nw_link_loads_wants wants);
void nw_link_loads_fini(struct nw_link_loads *loads);
/* Recomputes all figures and link loads from the present slots; `scale` becomes
 * the largest congestion. */
void nw_link_loads_recount(struct nw_link_loads *loads);

/* Sets nw_link_loads.target in seconds (0: no target) and recomputes the excess
 * over it, nw_load_figures.over. */
void nw_link_loads_set_target(struct nw_link_loads *loads, double target);

/* Starts a trial: fills `change` and `touched_most` for a move from the present
 * slots. */
void nw_link_loads_try(struct nw_link_loads *loads, const struct nw_move *move);
/* Fills only hop_bytes and latency of `change` and sets its other figures to 0,
 * which is faster. Starts no trial, so nw_link_loads_end is not called. */
void nw_link_loads_try_distance(struct nw_link_loads *loads,
                                const struct nw_move *move);
/* Ends the trial. If `keep` is set, adds its changes to the figures and link
 * loads, and the caller then moves the endpoints with nw_slots_apply. */
void nw_link_loads_end(struct nw_link_loads *loads, bool keep);

/* Returns the congestion of directed link `hop` in seconds. */
static inline double nw_link_loads_congestion(const struct nw_link_loads *loads,
                                              uint32_t hop)
{
    return loads->link[hop].now * loads->link[hop].slow;
}

/* Returns the largest congestion of any link, in seconds; 0 if link loads are
 * not wanted or the machine has no links. */
double nw_link_loads_max(const struct nw_link_loads *loads);

#endif
