/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of an assignment, kept up to date move by move: hop-bytes, latency
 * and the load of every link. A trial computes what a move would change; a
 * commit applies it.
 */
#ifndef NW_MAP_CONGESTION_LINK_LOADS_H
#define NW_MAP_CONGESTION_LINK_LOADS_H

#include "map/congestion/slots.h"
#include "map/congestion/route_cache.h"

/* Figures of an assignment, or their changes. */
struct nw_load_figures {
    double hop_bytes;
    double latency; /* s, as in nw_cost */
    double busy;    /* s: sum of the congestion of all links */
    double power; /* sum of (congestion / scale)^8: unlike the maximum, it falls
                     if one of several equally loaded links is relieved */
    double
        over; /* s: sum over the links of their congestion beyond the target */
};

struct nw_link_load {
    double now;   /* bytes */
    double slow;  /* s per byte */
    double more;  /* bytes that the trial adds */
    double power; /* the part of this link in load_figures.power */
    uint64_t touched;
};

/* Bytes and messages out of an endpoint and into it. */
struct nw_endpoint_flow {
    double out, in, out_messages, in_messages;
};

struct nw_link_loads {
    const struct nw_slots *slots;
    struct nw_route_cache routes;
    bool has_links;
    bool follows;              /* routes are followed link by link */
    uint32_t link_count;       /* 2 x links */
    struct nw_link_load *link; /* [link_count] */
    double *peak; /* [2 x leaves] tournament tree of the largest congestion */
    uint32_t leaves;
    double scale;  /* s */
    double target; /* s: most congestion wanted on any link, 0: none;
                      nw_link_loads_set_target */
    struct nw_load_figures now;
    /* the trial: */
    struct nw_load_figures change;
    double touched_most; /* s: largest congestion of the links that the move
                            loads */
    uint32_t *touch;
    size_t touch_count;
    struct nw_endpoint_flow *all; /* [endpoints] flow with all others */
    struct nw_endpoint_flow *
        flow; /* [route classes] flow of the moving endpoints with each class */
    bool *met; /* [route classes] */
    int32_t *meet;
    size_t meet_count;
    uint8_t
        *mark; /* [endpoints] 1 + index among the parts of the move, 0: none */
};

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

/* Sets the target of load_figures.over. */
void nw_link_loads_set_target(struct nw_link_loads *loads, double target);

/* Fills `change` and `touched_most` for a move from the present slots. */
void nw_link_loads_try(struct nw_link_loads *loads, const struct nw_move *move);
/* Computes only the changes of hop-bytes and latency, which is faster; starts
 * no trial. */
void nw_link_loads_try_distance(struct nw_link_loads *loads,
                                const struct nw_move *move);
/* Ends the trial; applies it if `keep` is set. The caller moves the slots. */
void nw_link_loads_end(struct nw_link_loads *loads, bool keep);

/* s: the largest congestion of any link. */
double nw_link_loads_max(const struct nw_link_loads *loads);

#endif
