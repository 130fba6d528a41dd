/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive bisection along the hierarchy, for any pattern: the processes of a
 * cluster are bisected with the children of the cluster, level by level. Pieces
 * of one level are independent and run on any number of threads. The processes
 * of all children of a cluster may be annealed before the children are
 * bisected. */
#ifndef NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H
#define NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H

#include "map/common/budget.h"
#include "map/stencil/grid.h"

/* Kinds of initial cuts of a piece of a grid, as bits. STRIPES: across each
 * dimension. FIRST, LAST, ANY: a region grown from the first, the last or a
 * random cell. STRAIGHT: only the least cut across a dimension. PACKED: fill
 * clusters one after the other. LAYERS: split clusters where whole layers of a
 * box split. */
enum nw_rb_start {
    NW_RB_START_STRIPES = 1,
    NW_RB_START_FIRST = 2,
    NW_RB_START_LAST = 4,
    NW_RB_START_ANY = 8,
    NW_RB_START_GROWN = NW_RB_START_FIRST | NW_RB_START_LAST | NW_RB_START_ANY,
    NW_RB_START_PACKED = 16,
    NW_RB_START_STRAIGHT = 32,
    NW_RB_START_LAYERS = 64,
};

/* The input, the settings and the results of nw_recursive_bisection. */
struct nw_recursive_bisection {
    const struct nw_assignment *assignment; /* fixed processes stay */
    uint64_t seed;
    int repeats; /* multilevel bisections of each piece; the best is taken */
    int tries;   /* initial cuts in each of them */
    /* For a grid: `kinds` are bits of enum nw_rb_start. The least of these cuts
     * is taken, after each cut was increased by a random fraction up to
     * `loose`. */
    const struct nw_stencil *stencil;
    int kinds;
    double loose;
    int32_t threads;
    uint64_t anneal; /* annealing trials for each process and level; 0: none */
    bool pairwise;   /* refine pairs of parts after annealing */
    bool rounded;    /* use power diagrams on a grid before annealing */
    /* the call does nothing unless the pattern is expander-like: no small
     * separator divides it */
    bool only_expander_like;
    bool only_separable; /* does nothing if the pattern is expander-like */
    bool top_cut;        /* divide among the children of the root only */
    /* Counts one step per level. After it stopped, pieces are split in their
     * present order. */
    struct nw_budget *budget;
    int32_t *slot;      /* [count] out: slot of each process */
    bool expander_like; /* out: much of the traffic crosses the children of the
                           root */
};
NW_MUST_CHECK nw_status
nw_recursive_bisection(struct nw_recursive_bisection *bisection);

/* Runs both bisections, at the same time if there are two threads and neither
 * --time nor --steps is given. Sets *both if the second result counts, which
 * requires that neither finds the pattern expander-like. */
NW_MUST_CHECK nw_status
nw_two_starts(struct nw_recursive_bisection bisection[2], bool *both);

#endif
