/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces scotch.c if the build found no Scotch header. */
#include "map/placement/placement.h"
#include "base/status.h"

bool nw_scotch_is_here(void)
{
    return false;
}

nw_status nw_place_scotch(struct nw_placement *placement)
{
    (void)placement;
    return nw_fail(NW_ENODEV, "this Nodewise was built without Scotch");
}

nw_status nw_place_rashti(struct nw_placement *placement)
{
    return nw_place_scotch(placement);
}
