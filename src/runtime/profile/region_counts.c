/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the counts at the beginning of a region. A copy of the records is
 * enough, since records are never removed and keep their index. */

#include "runtime/profile/region.h"

#include "base/array.h"
#include "runtime/profile/count.h"

#include <stdlib.h>

static struct {
    struct nw_part_record *record;
    size_t count;
    uint64_t outside_bytes, outside_messages;
    bool is_written;
} region;

void nw_region_subtract(size_t index, struct nw_part_record *record)
{
    const struct nw_part_record *before = region.record + index;

    if (!region.is_written || index >= region.count)
        return;
    record->bytes -= before->bytes;
    record->messages -= before->messages;
    for (int b = 0; b < NW_PART_SIZES && record->class != NW_PART_TIME; b++)
        record->sizes[b] -= before->sizes[b];
}

void nw_region_subtract_outside(uint64_t *bytes, uint64_t *messages)
{
    if (!region.is_written)
        return;
    *bytes -= region.outside_bytes;
    *messages -= region.outside_messages;
}

nw_status nw_region_keep_counts(void)
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

void nw_region_drop_counts(void)
{
    free(region.record);
    region.record = NULL;
}

bool nw_region_is_written(void)
{
    return region.is_written;
}

void nw_region_set_written(bool is_written)
{
    region.is_written = is_written;
}
