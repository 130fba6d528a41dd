/* SPDX-License-Identifier: BSD-3-Clause */
/* Hands an assignment to the QAP searches: for small machines, and for
 * distances that are a matrix. */
#ifndef NW_MAP_CONGESTION_QAP_BRIDGE_H
#define NW_MAP_CONGESTION_QAP_BRIDGE_H

#include "map/qap/qap.h"
#include "map/congestion/slots.h"

struct nw_qap_bridge {
    struct nw_qap qap;
    struct nw_slots *slots;
    int32_t *endpoint; /* [n] endpoint of an item, -1 if the item stands for a
                          free slot */
    int32_t *place;    /* [n] slot of an item */
    uint64_t reported; /* nodes of the branch and bound already reported to the
                          budget */
    bool open; /* a rank that is fixed to a node only was kept on its core: a
                  proof here does not hold for all assignments */
};

/* True if the objective is a sum over pairs, no rank has a GPU slot, every host
 * takes as many ranks as it has cores, and no load is limited. */
bool nw_qap_bridge_fits(const struct nw_slots *slots);
NW_MUST_CHECK nw_status nw_qap_bridge_init(struct nw_qap_bridge *bridge,
                                           struct nw_slots *slots);
void nw_qap_bridge_fini(struct nw_qap_bridge *bridge);
/* Assigns the ranks as `place` says. */
void nw_qap_bridge_finish(struct nw_qap_bridge *bridge);

/* Lower the cost of `place` within the budget. */
NW_MUST_CHECK nw_status nw_qap_bridge_tabu(struct nw_qap_bridge *bridge);
NW_MUST_CHECK nw_status nw_qap_bridge_anneal(struct nw_qap_bridge *bridge);
/* Sets *proven if `place` is optimal. `nodes`: most nodes to visit, 0: until
 * the budget ends. */
NW_MUST_CHECK nw_status nw_qap_bridge_exact(struct nw_qap_bridge *bridge,
                                            uint64_t nodes, bool *proven);

#endif
