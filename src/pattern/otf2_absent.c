/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces otf2.c if the build found no OTF2 headers. */
#include "base/status.h"
#include "pattern/format.h"

nw_status nw_otf2_read(const char *path, nw_pattern **out)
{
    return nw_otf2_open(path, out);
}

nw_status nw_otf2_open(const char *path, nw_pattern **out)
{
    (void)out;
    return nw_fail(NW_ENODEV, "%s: built without support for OTF2 traces",
                   path);
}
