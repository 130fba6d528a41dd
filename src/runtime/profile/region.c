/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions: nw_profile_begin, nw_profile_end and nw_profile_discard. Records are
 * only ever added and keep their index, so a copy of them is all that must be
 * kept. */
#include "runtime/profile/region.h"

#include "runtime/profile/profile.h"

#include "base/array.h"
#include "base/status.h"
#include "runtime/profile/count.h"

#include <nodewise/profile.h>
#include <stdlib.h>

static struct {
    struct nw_part_record *record;
    size_t count;
    uint64_t outside_bytes, outside_messages;
    bool is_open, is_written;
} region;

void nw_region_subtract(size_t index, struct nw_part_record *record)
{
    const struct nw_part_record *before = region.record + index;

    if (!region.is_written || index >= region.count)
        return;
    record->bytes -= before->bytes;
    record->messages -= before->messages;
    for (int b = 0; b < NW_PART_SIZES; b++)
        record->sizes[b] -= before->sizes[b];
}

void nw_region_subtract_outside(uint64_t *bytes, uint64_t *messages)
{
    if (!region.is_written)
        return;
    *bytes -= region.outside_bytes;
    *messages -= region.outside_messages;
}

static nw_status keep_counts(void)
{
    size_t count = nw_count_count();
    nw_status status = nw_alloc(count, sizeof *region.record, &region.record);

    if (status)
        return status;
    for (size_t i = 0; i < count; i++)
        region.record[i] = *nw_count_record(i);
    region.count = count;
    region.outside_bytes = nw_count_header()->outside_bytes;
    region.outside_messages = nw_count_header()->outside_messages;
    return NW_OK;
}

nw_status nw_profile_begin(void)
{
    nw_status status;

    if (!nw_is_active())
        return nw_fail(NW_ENODEV, "nothing is recorded: start the program "
                                  "with 'nodewise profile -o FILE -- ...'");
    if (region.is_open)
        return nw_fail(NW_EINVAL, "a profiled region is open already");
    status = keep_counts();
    region.is_open = !status;
    return status;
}

void nw_profile_discard(void)
{
    free(region.record);
    region.record = NULL;
    region.is_open = false;
}

nw_status nw_profile_end(const char *path)
{
    bool written;

    if (!region.is_open)
        return nw_fail(NW_EINVAL, "no profiled region is open");
    nw_depth++;
    region.is_written = true;
    written = nw_is_active() && nw_profile_gather_all(path);
    region.is_written = false;
    nw_depth--;
    nw_profile_discard();
    if (!written)
        return nw_fail(NW_EIO,
                       "%s: the profile of the region could not be "
                       "written",
                       path);
    return NW_OK;
}
