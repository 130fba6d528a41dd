/* SPDX-License-Identifier: BSD-3-Clause */
/* Recursive bisection along the hierarchy, for any pattern: the processes on a
 * cluster are bisected among halves of the cluster's children, level by level,
 * until each process has a slot. Pieces (a set of processes and the clusters
 * they go to) of one level are independent and run on any number of threads.
 * The processes on all children of a cluster may be annealed before the
 * children are bisected. */
#ifndef NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H
#define NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H

#include "map/common/budget.h"
#include "map/stencil/grid.h"

/* Kinds of initial cuts of a piece of a grid, as bits. Each cut is refined and
 * the best one is taken.
 * - STRIPES: straight cuts, one across each dimension.
 * - FIRST, LAST, ANY: a region grown from the first, the last or a random cell.
 * - STRAIGHT: only the straight cut with the fewest bytes.
 * Three bits are not cuts but change how a piece is split:
 * - PACKED: clusters are filled one after the other instead of evenly.
 * - SPREAD: all clusters are used, also if fewer have slots enough.
 * - LAYERS: the clusters of a box are split so that the cut lies between whole
 *   layers of its cells. */
enum nw_rb_start {
    NW_RB_START_STRIPES = 1,
    NW_RB_START_FIRST = 2,
    NW_RB_START_LAST = 4,
    NW_RB_START_ANY = 8,
    NW_RB_START_GROWN = NW_RB_START_FIRST | NW_RB_START_LAST | NW_RB_START_ANY,
    NW_RB_START_PACKED = 16,
    NW_RB_START_STRAIGHT = 32,
    NW_RB_START_LAYERS = 64,
    NW_RB_START_SPREAD = 128,
};

/* The input, the settings and the results of nw_recursive_bisection. */
struct nw_recursive_bisection {
    const struct nw_assignment *assignment; /* the processes, their edges, and
                                               their present slots; fixed
                                               processes stay on these */
    uint64_t seed;
    int repeats; /* bisections of each piece, by coarsening; the best cut is
                    taken */
    int tries;   /* initial cuts in each of these bisections */
    /* `stencil` describes the pattern's grid (NULL: no grid), and `kinds` has
     * the bits of enum nw_rb_start of the initial cuts and of the ways to split
     * pieces. Each initial cut is refined, and its bytes are raised by a random
     * fraction of at most `loose`; the cut with the fewest bytes is taken. */
    const struct nw_stencil *stencil;
    int kinds;
    double loose;
    int32_t threads;
    uint64_t anneal; /* annealing trials per process and level; 0: no
                        annealing */
    bool pairwise;   /* refine each pair of parts after annealing */
    bool rounded;    /* divide a grid by power diagrams before annealing */
    /* end without a result unless the pattern turns out to be expander-like
     * (see `expander_like`) */
    bool only_expander_like;
    bool only_separable; /* end without a result if the pattern is
                            expander-like */
    bool top_cut;        /* divide only among the children of the root */
    /* Gets one step per generation of pieces. After it has ended, pieces are
     * split in their present order, without a search. */
    struct nw_budget *budget;
    int32_t *slot;      /* [processes] out: slot of each process; the caller
                           frees it, also after a failure */
    bool expander_like; /* out: the pattern is expander-like (has no small
                           separators), because much of its traffic crosses
                           between children of the root */
};
NW_MUST_CHECK nw_status
nw_recursive_bisection(struct nw_recursive_bisection *bisection);

#endif
