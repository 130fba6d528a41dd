/* SPDX-License-Identifier: BSD-3-Clause */
/* A start for any pattern on a tree: the processes of a cluster are halved with
 * its children, again and again, generation by generation. Pieces of one
 * generation share nothing and run on any number of threads. What a cluster's
 * children hold may be sifted before they are cut themselves. */
#ifndef NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H
#define NW_MAP_MULTILEVEL_RECURSIVE_BISECTION_H

#include "map/common/budget.h"
#include "map/stencil/grid.h"

/* First cuts of a piece of a grid, together: across each dimension, grown from
 * its first cell, its last, any one. Straight: only the least of those across.
 * Packed: clusters filled one after the other instead of evenly; spread: over
 * all of them instead of as few as hold the cells. Layers: clusters parted
 * where whole layers of a box part instead of in the middle. */
enum nw_rb_start {
    NW_RB_START_STRIPES = 1,
    NW_RB_START_FIRST = 2,
    NW_RB_START_LAST = 4,
    NW_RB_START_ANY = 8,
    NW_RB_START_GROWN = NW_RB_START_FIRST | NW_RB_START_LAST | NW_RB_START_ANY,
    NW_RB_START_PACKED = 16,
    NW_RB_START_SPREAD = 32,
    NW_RB_START_STRAIGHT = 64,
    NW_RB_START_LAYERS = 128,
};

struct nw_recursive_bisection {
    const struct nw_assignment *assignment; /* what is fixed there stays */
    uint64_t seed;
    int repeats; /* ways down and up for each piece, the best taken */
    int tries;   /* first cuts in each of them */
    /* Where there is a grid, ways of enum nw_rb_start instead, the least cut
     * of each piece taken, each seen as larger by up to `loose` of it. */
    const struct nw_stencil *stencil;
    int kinds;
    double loose;
    int32_t threads;
    uint64_t anneal;         /* tries for each process and level; 0: none */
    bool pairwise;           /* pairs of parts, after they are sifted */
    bool rounded;            /* of a grid, before it is sifted */
    bool only_expander_like; /* no seats where the pattern is not */
    bool only_separable;     /* none where it is */
    bool top_cut;            /* cut between the top's children alone */
    /* Counts a step a generation; once it stopped, pieces are split as they
     * stand. */
    struct nw_budget *budget;
    int32_t *slot; /* [count] out */
    bool
        expander_like; /* out: much of the traffic crosses the top's children */
};
NW_MUST_CHECK nw_status
nw_recursive_bisection(struct nw_recursive_bisection *bisection);

/* Both, at once where there are two threads and nothing but effort ends them.
 * The second one only where both see a shape: *both, else it has no seats. */
NW_MUST_CHECK nw_status
nw_two_starts(struct nw_recursive_bisection bisection[2], bool *both);

#endif
