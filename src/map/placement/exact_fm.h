/* SPDX-License-Identifier: BSD-3-Clause */
/* FM bisection (Fiduccia and Mattheyses 1982) of processes into a left and a
 * right part of exact sizes. Processes with and without a GPU are counted
 * separately. */
#ifndef NW_MAP_PLACEMENT_EXACT_FM_H
#define NW_MAP_PLACEMENT_EXACT_FM_H

#include "map/common/addressable_heap.h"
#include "map/placement/placement.h"

/* Classes of processes, without and with a GPU (nw_placement_wants_gpu). Each
 * class has its own target size on each side. */
enum { NW_CLASS_PLAIN, NW_CLASS_GPU, NW_CLASS_COUNT };

/* How nw_exact_fm_bisect makes its initial cut. */
enum nw_seed_kind {
    NW_SEED_NONE,
    NW_SEED_ORDER,  /* first processes of the list go left */
    NW_SEED_FIRST,  /* left part grows from the list's first process */
    NW_SEED_RANDOM, /* left part grows from a random process */
    NW_SEED_GIVEN,  /* the caller has set `side`, with the target sizes */
};

/* State that can be used for any number of bisections of one placement. */
struct nw_exact_fm {
    const struct nw_placement *placement;
    int8_t *side; /* [processes] 0 left, 1 right, -1 not in the bisection */
    double *gain; /* [processes] decrease of the cut bytes by a change of
                     side */
    int32_t *at;  /* [processes] 1 + position of a process in its heap
                     (nw_heap.at); 0: it is in none */
    struct nw_heap heap[2][NW_CLASS_COUNT]; /* [side][class] processes that may
                                               move */
    int32_t *moves;                         /* processes moved in this pass, in
                                               order */
    int32_t imbalance[NW_CLASS_COUNT];      /* processes of a class on the left
                                               beyond the target */
    uint64_t steps;                         /* out: moves made in all
                                               bisections */
};

/* Allocates the memory and sets side[] to -1 for all processes, as the caller
 * does after each bisection. The caller calls nw_exact_fm_fini, also after a
 * failure. */
NW_MUST_CHECK nw_status nw_exact_fm_init(struct nw_exact_fm *fm,
                                         const struct nw_placement *placement);
void nw_exact_fm_fini(struct nw_exact_fm *fm);

/* Sets side[p] to 0 or 1 for each process p of `list`, so that exactly
 * target[class] processes of each class are on side 0 and few bytes are cut. If
 * the time of the budget is over, only the initial cut is made. A process
 * outside `list` whose side is already 0 or 1 keeps it and attracts its peers
 * to that side. `seed`: how the initial cut is made. */
void nw_exact_fm_bisect(struct nw_exact_fm *fm, struct nw_ints list,
                        const int32_t target[NW_CLASS_COUNT],
                        enum nw_seed_kind seed);

#endif
