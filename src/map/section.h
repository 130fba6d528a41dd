/* SPDX-License-Identifier: BSD-3-Clause */
/* A start for any pattern on a tree: the processes of a cluster are halved with
 * its children, again and again, generation by generation. Pieces of one
 * generation share nothing and run on any number of threads. What a cluster's
 * children hold may be sifted before they are cut themselves. */
#ifndef NW_MAP_SECTION_H
#define NW_MAP_SECTION_H

#include "map/budget.h"
#include "map/layout.h"

struct nw_section {
    const struct nw_layout *layout; /* what is fixed there stays */
    uint64_t seed;
    int repeats; /* ways down and up for each piece, the best taken */
    int tries;   /* first cuts in each of them */
    int32_t threads;
    uint64_t sift;      /* tries for each process and level; 0: none */
    bool only_formless; /* no seats where the pattern is not */
    /* Counts a step a generation; once it stopped, pieces are split as they
     * stand. */
    struct nw_budget *budget;
    int32_t *seat; /* [count] out */
    bool formless; /* out: much of the traffic crosses the top's children */
};
NW_MUST_CHECK nw_status nw_section(struct nw_section *section);

#endif
