/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a seating costs, kept up to date move by move: hop-bytes, latency and
 * the load of every link. A trial says what a move would change; keeping it
 * makes it so.
 */
#ifndef NW_MAP_CONGESTION_LINK_LOADS_H
#define NW_MAP_CONGESTION_LINK_LOADS_H

#include "map/congestion/slots.h"
#include "map/congestion/route_cache.h"

/* Figures of a seating, or their changes. */
struct nw_load_figures {
    double hop_bytes;
    double latency; /* s, as nw_cost */
    double busy;    /* s: sum of all links' congestion */
    double power;   /* sum of the eighth powers of congestion / scale: it falls
                       where one of several equal links is relieved */
    double over;    /* s: sum of what links have beyond the target */
};

struct nw_link_load {
    double now;   /* bytes */
    double slow;  /* s per byte */
    double more;  /* bytes, by the trial */
    double power; /* as in the figures: its part of the sum */
    uint64_t touched;
};

/* Bytes and messages, out of an actor and into it. */
struct nw_endpoint_flow {
    double out, in, out_messages, in_messages;
};

struct nw_link_loads {
    const struct nw_slots *slots;
    struct nw_route_cache routes;
    bool has_links;
    bool follows;              /* ways, link by link */
    uint32_t link_count;       /* 2 x links */
    struct nw_link_load *link; /* [link_count] */
    double *peak;              /* [2 x leaves] a tree of largest congestions */
    uint32_t leaves;
    double scale;  /* s */
    double target; /* s, or 0: no link is to have more; see
                      nw_link_loads_set_target */
    struct nw_load_figures now;
    /* the trial */
    struct nw_load_figures change;
    double touched_most; /* s: largest congestion of the links that it loads */
    uint32_t *touch;
    size_t touch_count;
    struct nw_endpoint_flow *all; /* [actors] with all others */
    struct nw_endpoint_flow
        *flow; /* [nooks] of those that move, with others there */
    bool *met; /* [nooks] */
    int32_t *meet;
    size_t meet_count;
    uint8_t *mark; /* [actors] 1 + index among the parts of the move */
};

struct nw_link_loads_wants {
    bool links, latency, hop_bytes;
};
/* From scratch. The caller calls nw_link_loads_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_link_loads_init(struct nw_link_loads *loads,
                                           const struct nw_slots *slots,
                                           struct nw_link_loads_wants wants);
void nw_link_loads_fini(struct nw_link_loads *loads);
/* Everything again from the seats as they are now. */
void nw_link_loads_recount(struct nw_link_loads *loads);

/* Sets the target. */
void nw_link_loads_set_target(struct nw_link_loads *loads, double target);

/* Fills change and touched_most for a move of the seats as they are. */
void nw_link_loads_try(struct nw_link_loads *loads, const struct nw_move *move);
/* The hop-bytes and the latency of the change alone, sooner; no trial. */
void nw_link_loads_try_distance(struct nw_link_loads *loads,
                                const struct nw_move *move);
/* Ends the trial: takes it over, where kept. The seats are the caller's to
 * move. */
void nw_link_loads_end(struct nw_link_loads *loads, bool keep);

/* s: the largest congestion of all links. */
double nw_link_loads_max(const struct nw_link_loads *loads);

#endif
