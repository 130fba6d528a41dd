/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an assignment to a quadratic assignment problem (QAP) and back: for
 * small machines, also those given by a distance matrix. */
#ifndef NW_MAP_CONGESTION_QAP_BRIDGE_H
#define NW_MAP_CONGESTION_QAP_BRIDGE_H

#include "map/qap/qap.h"
#include "map/congestion/slots.h"

/* The QAP and the assignment that it stands for. */
struct nw_qap_bridge {
    struct nw_qap qap;
    struct nw_slots *slots;
    int32_t *endpoint; /* [items] endpoint that an item stands for; -1: the item
                          stands for a free slot */
    int32_t *place;    /* [items] slot of each item */
    uint64_t reported; /* search nodes of the branch and bound that are already
                          counted in the budget */
    bool open; /* a rank that is fixed to a node, not to a core, was kept on its
                  core, so that a proof does not cover all assignments */
};

/* Returns true if the assignment can be a QAP. The first objective must be a
 * sum over pairs of ranks, all slots must be core slots, and every host must
 * take as many ranks as it has slots. Loads must not be limited. */
bool nw_qap_bridge_fits(const struct nw_slots *slots);
NW_MUST_CHECK nw_status nw_qap_bridge_init(struct nw_qap_bridge *bridge,
                                           struct nw_slots *slots);
void nw_qap_bridge_fini(struct nw_qap_bridge *bridge);
/* Assigns the ranks to the slots in `place`. */
void nw_qap_bridge_finish(struct nw_qap_bridge *bridge);

/* Lower the cost of the assignment `place` within the budget, by tabu search or
 * by annealing. */
NW_MUST_CHECK nw_status nw_qap_bridge_tabu(struct nw_qap_bridge *bridge);
NW_MUST_CHECK nw_status nw_qap_bridge_anneal(struct nw_qap_bridge *bridge);
/* Runs branch and bound; sets *proven to whether `place` is proved to be
 * optimal. `nodes`: largest number of search nodes to visit; 0: until the
 * budget ends. */
NW_MUST_CHECK nw_status nw_qap_bridge_exact(struct nw_qap_bridge *bridge,
                                            uint64_t nodes, bool *proven);

#endif
