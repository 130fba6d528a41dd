/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions for regions: nw_profile_begin, nw_profile_end and
 * nw_profile_discard. */
#include "runtime/profile/region.h"

#include "base/status.h"
#include "runtime/profile/profile.h"

#include <nodewise/profile.h>

static bool region_is_open;

nw_status nw_profile_begin(void)
{
    nw_status status;

    if (!nw_is_active())
        return nw_fail(NW_ENODEV, "nothing is recorded: start the program "
                                  "with 'nodewise profile -o FILE -- ...'");
    if (region_is_open)
        return nw_fail(NW_EINVAL, "a profiled region is open already");
    status = nw_region_keep_counts();
    region_is_open = !status;
    return status;
}

void nw_profile_discard(void)
{
    nw_region_drop_counts();
    region_is_open = false;
}

nw_status nw_profile_end(const char *path)
{
    bool written;

    if (!region_is_open)
        return nw_fail(NW_EINVAL, "no profiled region is open");
    nw_depth++;
    nw_region_set_written(true);
    written = nw_is_active() && nw_profile_gather(nw_profile_comm, path);
    nw_region_set_written(false);
    nw_depth--;
    nw_profile_discard();
    if (!written)
        return nw_fail(NW_EIO,
                       "%s: the profile of the region could not be "
                       "written",
                       path);
    return NW_OK;
}
