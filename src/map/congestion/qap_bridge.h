/* SPDX-License-Identifier: BSD-3-Clause */
/* A seating as a dense assignment problem: small machines, and distances that
 * are a matrix. */
#ifndef NW_MAP_CONGESTION_QAP_BRIDGE_H
#define NW_MAP_CONGESTION_QAP_BRIDGE_H

#include "map/qap/qap.h"
#include "map/congestion/slots.h"

struct nw_qap_bridge {
    struct nw_qap qap;
    struct nw_slots *slots;
    int32_t
        *endpoint;  /* [n] of an item, -1 for one that stands for a free seat */
    int32_t *place; /* [n] seat of an item */
    uint64_t reported; /* of exact's nodes, to the budget */
    bool open;         /* a rank was left where it is though only its node is
                          fixed: what is proven here is not proven of all */
};

/* True where the objective is a sum over pairs, no rank has a GPU seat, no
 * host takes fewer ranks than it has cores and no load is limited. */
bool nw_qap_bridge_fits(const struct nw_slots *slots);
NW_MUST_CHECK nw_status nw_qap_bridge_init(struct nw_qap_bridge *bridge,
                                           struct nw_slots *slots);
void nw_qap_bridge_fini(struct nw_qap_bridge *bridge);
/* Seats the ranks as `place` says. */
void nw_qap_bridge_finish(struct nw_qap_bridge *bridge);

/* Lower the cost of `place` within the budget. */
NW_MUST_CHECK nw_status nw_qap_bridge_tabu(struct nw_qap_bridge *bridge);
NW_MUST_CHECK nw_status nw_qap_bridge_anneal(struct nw_qap_bridge *bridge);
/* *proven where it is an optimum. `nodes` as nw_qap_exact_search, 0 for no end
 * but the budget's. */
NW_MUST_CHECK nw_status nw_qap_bridge_exact(struct nw_qap_bridge *bridge,
                                            uint64_t nodes, bool *proven);

#endif
