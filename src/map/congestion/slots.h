/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An answer as slots: every rank has an endpoint on a core slot, and another
 * one on a GPU slot if the rank uses a GPU. Messages go between endpoints over
 * the routes between their slots. Host, GPU and mixed traffic start and end at
 * the core or GPU that the message uses, so the predicted change of a move
 * equals the change of nw_cost_evaluate.
 */
#ifndef NW_MAP_CONGESTION_SLOTS_H
#define NW_MAP_CONGESTION_SLOTS_H

#include "map/problem/problem.h"

/* Traffic between an endpoint and a peer. */
struct nw_directed_edge {
    int32_t peer;   /* endpoint at the other end */
    double out, in; /* bytes to the peer and from it; messages follow */
    double out_messages, in_messages;
};

/* The slots of all hosts, the ranks on them and their traffic. */
struct nw_slots {
    const struct nw_problem *problem;
    bool remote; /* the GPU of a rank may be on another host */
    /* number of all slots; number of core slots, which come first */
    int32_t count, core_count;
    /* [count] each slot as an end of routes */
    struct nw_end *end;
    int32_t *host, *unit; /* [count] host and unit of a slot; unit -1: the slot
                             is the fixed core or GPU of a rank */
    /* [2 x (hosts + 1)] core slots of host h are first[h] .. first[h + 1] - 1;
     * its GPU slots begin at first[hosts + 1 + h]. Slots of fixed cores and
     * GPUs are outside these ranges */
    int32_t *first;
    int32_t rank_count; /* rank r has endpoint r on its core and rank_count + r
                           on its GPU */
    size_t *row;        /* [2 x ranks + 1] edges of endpoint a: edge[row[a]] ..
                           edge[row[a + 1] - 1] */
    struct nw_directed_edge *edge; /* sorted by peer, each peer once; traffic of
                                      an endpoint with itself counts as `out` */
    int32_t *slot;  /* [2 x ranks] slot of an endpoint, -1: none */
    int32_t *owner; /* [count] endpoint on a slot, -1: free */
    bool *locked;   /* [ranks] the rank is fixed to its core and, if it has one,
                       its GPU, and does not move */
    bool *held;     /* [ranks] the rank is fixed to its host and stays there;
                       false if there is only one host */
    bool *half; /* [ranks] either the core or the GPU of the rank is fixed; the
                   other one moves within the host */
    /* [hosts] number of ranks whose core is on each host; number of ranks whose
     * GPU is there */
    int32_t *used, *gpu_used;
    int32_t *node_class;  /* [hosts] kind of the node; a move swaps two nodes of
                             one kind; -1: not swapped. NULL outside
                             node_swaps.c */
    const int32_t *group; /* [hosts] group of the host (switch_groups.h): moves
                             stay within a group; NULL: no groups */
    int32_t width;        /* endpoints per host, if node_class is set */
};

/* Makes the slots of a complete answer. Returns NW_EUNSUPPORTED if the GPU of a
 * rank is on another node than the rank and the options forbid that. The caller
 * calls nw_slots_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_slots_init(struct nw_slots *slots,
                                      const struct nw_problem *problem,
                                      const struct nw_answer *answer);
void nw_slots_fini(struct nw_slots *slots);
/* Allocates `edge`. On entry, row[a + 1] is the number of edges of endpoint a;
 * on return, row[a] is the index of its first edge. */
NW_MUST_CHECK nw_status nw_slots_alloc_edges(struct nw_slots *slots);
/* Sorts the edges of each endpoint by peer and sums the edges with the same
 * peer. On entry, row[a] is the end of the edges of endpoint a. */
void nw_slots_merge_edges(struct nw_slots *slots);
/* Returns true if every rank may move to any free slot (limits of load are
 * ignored) and no rank uses a GPU. */
bool nw_slots_are_free(const struct nw_slots *slots);
/* Writes the hosts and units of the slots into the answer, which must have
 * gpu_host if GPUs may be on other nodes. */
void nw_slots_to_answer(const struct nw_slots *slots, struct nw_answer *answer);

/* Moves every endpoint to its entry of slot[2 x ranks] (-1: none); `slot` may
 * be slots->slot. */
void nw_slots_assign(struct nw_slots *slots, const int32_t *slot);

/* Largest number of endpoints whose slots one move changes. A rank move changes
 * the core and GPU endpoints of up to two ranks. A node swap changes all
 * endpoints of two nodes. */
#define NW_MOVE_MOST 32
struct nw_move {
    int count;
    struct nw_moving {
        int32_t endpoint, from, to;
    } part[NW_MOVE_MOST];
};
void nw_slots_apply(struct nw_slots *slots, const struct nw_move *move);
/* Adds to a move that slots a and b exchange their endpoints; if both are free,
 * adds nothing. */
void nw_slots_exchange(const struct nw_slots *slots, int32_t a, int32_t b,
                       struct nw_move *move);
/* Returns true if the load of each moving rank is within the limit of its new
 * core. GPUs have no limits of load, so the parts of a move for GPUs are
 * skipped. */
bool nw_slots_within_limits(const struct nw_slots *slots,
                            const struct nw_move *move);

/* Draws a random valid move of `rank`, which must not be locked; move->count is
 * 0 if the draw gave none. Many draws bring the rank to the host of a peer or
 * to a slot with a number similar to that of a peer's slot. If node_class is
 * set, `rank` is a NIC, and its node exchanges all slots with another node. */
struct nw_random;
void nw_slots_draw_move(const struct nw_slots *slots, struct nw_random *random,
                        int32_t rank, struct nw_move *move);

static inline bool nw_slots_has_gpu(const struct nw_slots *slots, int32_t rank)
{
    return slots->slot[slots->rank_count + rank] >= 0;
}

#endif
