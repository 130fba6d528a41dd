/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the placers that a phase can use. `magc` is Scotch if the library is
 * present, otherwise Algorithm 1 of the MAGC paper. */
#include "map/placement/placement.h"

#include <string.h>

static const struct {
    const char *name;
    nw_placer *placer;
} placers[] = {
    {"block", nw_place_block},         {"cyclic", nw_place_cyclic},
    {"random", nw_place_random},       {"scotch", nw_place_scotch},
    {"rashti", nw_place_rashti},       {"greedy", nw_place_greedy},
    {"partition", nw_place_partition}, {"magc", nw_place_magc},
};

nw_status nw_place_magc(struct nw_placement *placement)
{
    return nw_scotch_is_here() ? nw_place_scotch(placement)
                               : nw_place_greedy(placement);
}

nw_placer *nw_placer_find(const char *name)
{
    if (!strncmp(name, "magc-", 5))
        name += 5;
    for (size_t i = 0; i < sizeof placers / sizeof *placers; i++)
        if (!strcmp(name, placers[i].name))
            return placers[i].placer;
    return NULL;
}

const char *nw_map_phase_names(void)
{
    return "block, cyclic, random, scotch, rashti, greedy, partition";
}

bool nw_map_phase_known(const char *name)
{
    return nw_placer_find(name);
}
