/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An answer as a seating: every rank has an actor on a core seat, and one on a
 * GPU seat where it wants a GPU; messages go between actors over the routes
 * between their seats. Host, GPU and mixed traffic are priced from their real
 * ends, so what a swap changes here is what evaluate will say.
 */
#ifndef NW_MAP_CONGESTION_SLOTS_H
#define NW_MAP_CONGESTION_SLOTS_H

#include "map/problem/problem.h"

/* What an actor exchanges with another. */
struct nw_directed_edge {
    int32_t peer;
    double out, in; /* bytes */
    double out_messages, in_messages;
};

struct nw_slots {
    const struct nw_problem *problem;
    bool remote;               /* a rank's GPU may be on any host */
    int32_t count, core_count; /* seats; those of cores come first */
    struct nw_end *end;        /* [count] */
    int32_t *host, *unit;      /* [count]; unit -1: a fixed rank's own */
    int32_t *first;            /* [2 x (hosts + 1)] core seats of host h are
                                  first[h] .. first[h + 1] - 1, GPU seats from
                                  first[hosts + 1 + h] likewise */
    int32_t rank_count;        /* actor of rank r: core r, GPU rank_count + r */
    size_t *row;               /* [2 x ranks + 1] */
    struct nw_directed_edge *edge; /* by peer, each once; its own as out */
    int32_t *slot;                 /* [2 x ranks] of an actor, -1 none */
    int32_t *owner;                /* [count] actor or -1 */
    bool *locked;                  /* [ranks] stays where it is */
    bool *held;                    /* [ranks] stays on its host */
    bool *half;               /* [ranks] its core or its GPU stays, the other
                                 one moves on the host */
    int32_t *used, *gpu_used; /* [hosts] ranks there, and those with GPUs */
    int32_t *node_class; /* NULL, or node_swaps.h: [hosts] -1 or its kind; moves
                     exchange two hosts of one kind */
    const int32_t
        *group;    /* NULL, or switch_groups.h: [hosts] moves stay within one */
    int32_t width; /* then: actors of a host, seats alike */
};

/* From a complete answer. NW_EUNSUPPORTED where GPUs are on other nodes than
 * their ranks and the options do not let them. The caller calls nw_slots_fini.
 */
NW_MUST_CHECK nw_status nw_slots_init(struct nw_slots *slots,
                                      const struct nw_problem *problem,
                                      const struct nw_answer *answer);
void nw_slots_fini(struct nw_slots *slots);
/* Sorts the ties of each row by peer and adds up those of one peer. */
void nw_slots_merge_edges(struct nw_slots *slots);
/* True where every rank may go to any free seat and GPUs play no part. */
bool nw_slots_are_free(const struct nw_slots *slots);
/* And each core has one. */
bool nw_slots_are_full(const struct nw_slots *slots);
/* Back into the answer it was made from, which has a gpu_host where GPUs may be
 * remote. */
void nw_slots_to_answer(const struct nw_slots *slots, struct nw_answer *answer);

/* All actors anew, each on its seat, -1 none. seat: [2 x ranks], may be that of
 * the seats themselves */
void nw_slots_assign(struct nw_slots *slots, const int32_t *slot);

/* Up to two ranks, each with a core and a GPU actor; or two nodes. */
#define NW_MOVE_MOST 32
struct nw_move {
    int count;
    struct nw_moving {
        int32_t endpoint, from, to;
    } part[NW_MOVE_MOST];
};
void nw_slots_apply(struct nw_slots *slots, const struct nw_move *move);

/* A random move that keeps the answer valid; count 0 where the draw gave
 * none. `rank` is the one to move, not locked. Most draws bring it near one it
 * talks with. */
struct nw_random;
void nw_slots_draw_move(const struct nw_slots *slots, struct nw_random *random,
                        int32_t rank, struct nw_move *move);

static inline bool nw_slots_has_gpu(const struct nw_slots *slots, int32_t rank)
{
    return slots->slot[slots->rank_count + rank] >= 0;
}

#endif
