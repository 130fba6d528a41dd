/* SPDX-License-Identifier: BSD-3-Clause */
/* FM bisection (Fiduccia and Mattheyses 1982) of processes into two parts of
 * exact sizes, where ranks with and without GPUs are counted separately. */
#ifndef NW_MAP_PLACEMENT_EXACT_FM_H
#define NW_MAP_PLACEMENT_EXACT_FM_H

#include "map/common/addressable_heap.h"
#include "map/placement/placement.h"

/* Classes of ranks, without and with a GPU, that are counted separately. */
enum { NW_CLASS_PLAIN, NW_CLASS_GPU, NW_CLASS_COUNT };

/* How the initial cut of a bisection is made. */
enum nw_seed_kind {
    NW_SEED_NONE,
    NW_SEED_ORDER,  /* the first processes form the left part */
    NW_SEED_FIRST,  /* grown around the first process */
    NW_SEED_RANDOM, /* grown around a random process */
    NW_SEED_GIVEN,  /* `side` is set, with correct sizes */
};

/* Memory for any number of bisections of one placement. */
struct nw_exact_fm {
    const struct nw_placement *placement;
    int8_t *side; /* [processes] 0 left, 1 right, -1 outside */
    double *gain; /* [processes] decrease of the cut by a move */
    bool *moved;  /* [processes] locked in this pass */
    int32_t *at;  /* [processes] nw_heap.at of all heaps */
    struct nw_heap heap[2][NW_CLASS_COUNT]; /* by side and class */
    int32_t *moves;                         /* processes moved in this pass */
    int32_t imbalance[NW_CLASS_COUNT];      /* left part minus its target */
    uint64_t steps;                         /* moves of all bisections */
};

/* Allocates the memory; side[] is -1 everywhere between bisections. The caller
 * calls nw_exact_fm_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_exact_fm_init(struct nw_exact_fm *fm,
                                         const struct nw_placement *placement);
void nw_exact_fm_fini(struct nw_exact_fm *fm);

/* Gives each process of `list` side 0 or 1, so that target[class] processes of
 * each class are on side 0. Processes outside `list` whose side is set keep it
 * and attract their peers. */
void nw_exact_fm_bisect(struct nw_exact_fm *fm, struct nw_ints list,
                        const int32_t target[NW_CLASS_COUNT],
                        enum nw_seed_kind seed);

#endif
