/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An answer as slots: every rank has an endpoint on a core slot, and one on a
 * GPU slot if it uses a GPU. Messages go between endpoints over the routes
 * between their slots. Host, GPU and mixed traffic have their real ends, so the
 * change of a move equals what nw_cost_evaluate would say.
 */
#ifndef NW_MAP_CONGESTION_SLOTS_H
#define NW_MAP_CONGESTION_SLOTS_H

#include "map/problem/problem.h"

/* Traffic between an endpoint and a peer. */
struct nw_directed_edge {
    int32_t peer;
    double out, in; /* bytes */
    double out_messages, in_messages;
};

struct nw_slots {
    const struct nw_problem *problem;
    bool remote;               /* the GPU of a rank may be on any host */
    int32_t count, core_count; /* slots; those of cores come first */
    struct nw_end *end;        /* [count] */
    int32_t *host, *unit;      /* [count]; unit -1: belongs to a fixed rank */
    int32_t
        *first; /* [2 x (hosts + 1)] core slots of host h are first[h] ..
                   first[h + 1] - 1; GPU slots begin at first[hosts + 1 + h] */
    int32_t rank_count; /* endpoints of rank r: core r, GPU rank_count + r */
    size_t *row;        /* [2 x ranks + 1] */
    struct nw_directed_edge *edge; /* sorted by peer, each peer once; traffic
                                      with itself counts as `out` */
    int32_t *slot;  /* [2 x ranks] slot of an endpoint, -1: none */
    int32_t *owner; /* [count] endpoint on a slot, -1: free */
    bool *locked;   /* [ranks] does not move */
    bool *held;     /* [ranks] stays on its host */
    bool *half; /* [ranks] either its core or its GPU is fixed; the other moves
                   on the host */
    int32_t *used, *gpu_used; /* [hosts] ranks on it, and ranks with GPUs */
    int32_t *node_class;  /* [hosts] kind of the node, -1: none; moves exchange
                             two nodes of a kind. NULL outside node_swaps.h */
    const int32_t *group; /* [hosts] moves stay within one group; NULL: no
                             groups (switch_groups.h) */
    int32_t width;        /* endpoints per host, if node_class is set */
};

/* Makes the slots of a complete answer. NW_EUNSUPPORTED if a GPU is on another
 * node than its rank and the options forbid that. The caller calls
 * nw_slots_fini. */
NW_MUST_CHECK nw_status nw_slots_init(struct nw_slots *slots,
                                      const struct nw_problem *problem,
                                      const struct nw_answer *answer);
void nw_slots_fini(struct nw_slots *slots);
/* Sorts the edges of each row by peer and sums those of one peer. */
void nw_slots_merge_edges(struct nw_slots *slots);
/* True if every rank may go to any free slot and no rank uses a GPU. */
bool nw_slots_are_free(const struct nw_slots *slots);
/* True if in addition every core has a rank. */
bool nw_slots_are_full(const struct nw_slots *slots);
/* Writes the slots back into the answer. The answer has a gpu_host if GPUs may
 * be remote. */
void nw_slots_to_answer(const struct nw_slots *slots, struct nw_answer *answer);

/* Assigns every endpoint. slot: [2 x ranks], -1: none; may be the array of
 * `slots` itself. */
void nw_slots_assign(struct nw_slots *slots, const int32_t *slot);

/* The parts of a move: up to two ranks with a core and a GPU endpoint each, or
 * two nodes. */
#define NW_MOVE_MOST 32
struct nw_move {
    int count;
    struct nw_moving {
        int32_t endpoint, from, to;
    } part[NW_MOVE_MOST];
};
void nw_slots_apply(struct nw_slots *slots, const struct nw_move *move);

/* Draws a random valid move of `rank`, which is not locked; count is 0 if the
 * draw gave none. Most draws bring the rank near one of its peers. */
struct nw_random;
void nw_slots_draw_move(const struct nw_slots *slots, struct nw_random *random,
                        int32_t rank, struct nw_move *move);

static inline bool nw_slots_has_gpu(const struct nw_slots *slots, int32_t rank)
{
    return slots->slot[slots->rank_count + rank] >= 0;
}

#endif
