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

/* Cost figures of an assignment, or their changes by a move. */
struct nw_load_figures {
    double hop_bytes;
    double latency; /* s, as in nw_cost */
    double busy;    /* s: sum over all links of their congestion */
    double power; /* sum of (congestion / scale)^8: unlike the maximum, it falls
                     if one of several equally loaded links is relieved */
    double
        over; /* s: sum over the links of their congestion beyond the target */
};

/* A directed link: its load and the change of the load by the present trial. */
struct nw_link_load {
    double now;       /* bytes on the link */
    double slow;      /* s per byte */
    double more;      /* bytes that the trial adds */
    double power;     /* term of this link in nw_load_figures.power */
    uint64_t touched; /* 1: the link is listed in `touch` */
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
    uint32_t link_count;       /* 2 x links */
    struct nw_link_load *link; /* [link_count] directed links by hop number */
    double *peak; /* [2 x leaves] tournament tree of the largest congestion */
    uint32_t leaves;
    double scale;  /* s: congestion that divides all others in `power` */
    double target; /* s: target of nw_load_figures.over, the most congestion
                      wanted on any link; 0: none */
    struct nw_load_figures now; /* figures of the present assignment */
    /* The fields from here on describe the present trial. */
    struct nw_load_figures change;
    double touched_most; /* s: largest congestion of the links that the move
                            loads */
    uint32_t *touch; /* [touch_count] directed links whose load may change */
    size_t touch_count;
    struct nw_endpoint_flow *all; /* [endpoints] flow with all other
                                     endpoints */
    struct nw_endpoint_flow *
        flow; /* [route classes] flow of the moving endpoints with each class */
    bool *met;     /* [route classes] the class is listed in `meet` */
    int32_t *meet; /* [meet_count] route classes with an entry in `flow` */
    size_t meet_count;
    /* [endpoints] 1 + index of the endpoint among the parts of the move; 0: it
     * does not move */
    uint8_t *mark;
};

/* Which figures are kept; the others stay 0. */
struct nw_link_loads_wants {
    bool links, latency, hop_bytes;
};
/* Computes everything from scratch. The caller calls nw_link_loads_fini, also
 * after a failure. */
NW_MUST_CHECK nw_status nw_link_loads_init(struct nw_link_loads *loads,
                                           const struct nw_slots *slots,
                                           struct nw_link_loads_wants wants);
void nw_link_loads_fini(struct nw_link_loads *loads);
/* Recomputes everything from the present slots. */
void nw_link_loads_recount(struct nw_link_loads *loads);

/* Sets the target congestion, in seconds, of nw_load_figures.over; 0: none. */
void nw_link_loads_set_target(struct nw_link_loads *loads, double target);

/* Starts a trial: fills `change` and `touched_most` for a move from the present
 * slots. */
void nw_link_loads_try(struct nw_link_loads *loads, const struct nw_move *move);
/* Computes only the changes of hop-bytes and latency, which is faster; starts
 * no trial. */
void nw_link_loads_try_distance(struct nw_link_loads *loads,
                                const struct nw_move *move);
/* Ends the trial; adds its changes to the loads if `keep` is set. The caller
 * then moves the slots with nw_slots_apply. */
void nw_link_loads_end(struct nw_link_loads *loads, bool keep);

/* Returns the largest congestion of any link, in seconds. */
double nw_link_loads_max(const struct nw_link_loads *loads);

#endif
