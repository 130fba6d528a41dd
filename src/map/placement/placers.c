/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of the placers that a phase can use. `magc` is Scotch if the library is
 * present, otherwise Algorithm 1 of the MAGC paper. */
#include "map/placement/placement.h"

#include <string.h>

static const struct {
    const char *name;
    nw_placer *placer;
} placers[] = {
    [NW_PLACER_BLOCK] = {"block", nw_place_block},
    [NW_PLACER_CYCLIC] = {"cyclic", nw_place_cyclic},
    [NW_PLACER_RANDOM] = {"random", nw_place_random},
    [NW_PLACER_SCOTCH] = {"scotch", nw_place_scotch},
    [NW_PLACER_RASHTI] = {"rashti", nw_place_rashti},
    [NW_PLACER_GREEDY] = {"greedy", nw_place_greedy},
    [NW_PLACER_PARTITION] = {"partition", nw_place_partition},
    [NW_PLACER_MAGC] = {"magc", NULL},
};

nw_placer *nw_placer_get(enum nw_placer_id id)
{
    if (id == NW_PLACER_MAGC)
        id = nw_scotch_is_here() ? NW_PLACER_SCOTCH : NW_PLACER_GREEDY;
    return placers[id].placer;
}

nw_placer *nw_placer_find(const char *name)
{
    if (!strncmp(name, "magc-", 5))
        name += 5;
    for (size_t i = 1; i < sizeof placers / sizeof *placers; i++)
        if (!strcmp(name, placers[i].name))
            return nw_placer_get((enum nw_placer_id)i);
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
