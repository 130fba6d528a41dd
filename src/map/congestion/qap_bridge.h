/* SPDX-License-Identifier: BSD-3-Clause */
/* A seating as a dense assignment problem: small machines, and distances that
 * are a matrix. */
#ifndef NW_MAP_CONGESTION_QAP_BRIDGE_H
#define NW_MAP_CONGESTION_QAP_BRIDGE_H

#include "map/qap/qap.h"
#include "map/congestion/slots.h"

struct nw_dense {
    struct nw_qap qap;
    struct nw_seats *seats;
    int32_t *actor; /* [n] of an item, -1 for one that stands for a free seat */
    int32_t *place; /* [n] seat of an item */
    uint64_t told;  /* of exact's nodes, to the budget */
    bool open;      /* a rank was left where it is though only its node is
                       fixed: what is proven here is not proven of all */
};

/* True where the objective is a sum over pairs, no rank has a GPU seat, no
 * host takes fewer ranks than it has cores and no load is limited. */
bool nw_dense_fits(const struct nw_seats *seats);
NW_MUST_CHECK nw_status nw_dense_init(struct nw_dense *dense,
                                      struct nw_seats *seats);
void nw_dense_fini(struct nw_dense *dense);
/* Seats the ranks as `place` says. */
void nw_dense_finish(struct nw_dense *dense);

/* Lower the cost of `place` within the budget. */
NW_MUST_CHECK nw_status nw_dense_tabu(struct nw_dense *dense);
NW_MUST_CHECK nw_status nw_dense_anneal(struct nw_dense *dense);
/* *proven where it is an optimum. `nodes` as nw_exact, 0 for no end but the
 * budget's. */
NW_MUST_CHECK nw_status nw_dense_exact(struct nw_dense *dense, uint64_t nodes,
                                       bool *proven);

#endif
