/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes switches from Slurm's blocks. A block becomes a switch. BlockSizes
 * gives the number of consecutive blocks that form a larger block, which
 * becomes a switch above them. One more switch connects the largest blocks. */
#include "base/array.h"
#include "base/status.h"
#include "topology/slurm/slurm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The switches of one level, which have consecutive numbers. */
struct block_level {
    size_t first, count;
};

static nw_status block_add_above(struct nw_slurm *slurm,
                                 const struct block_level *below, size_t first,
                                 size_t each)
{
    size_t end = first + each < below->count ? first + each : below->count;
    struct nw_hostlist names = {0};
    char *name = NULL, *copy;
    nw_status status = NW_OK;
    const char *one = slurm->at[below->first + first].name;
    const char *last = slurm->at[below->first + end - 1].name;
    const char *dots = strstr(last, "..");

    /* the new name is FIRST..LAST: the names of the first and last of the
     * smallest blocks */
    if (asprintf(&name, "%.*s..%s",
                 (int)(strstr(one, "..") ? strstr(one, "..") - one
                                         : (ptrdiff_t)strlen(one)),
                 one, dots ? dots + 2 : last) < 0)
        return nw_fail(NW_ENOMEM, "out of memory for the name of a block");
    for (size_t i = first; !status && i < end; i++) {
        status = nw_grow(&names.name, &names.capacity, names.count + 1,
                         sizeof *names.name);
        if (!status)
            status = nw_strdup(slurm->at[below->first + i].name, &copy);
        if (!status)
            names.name[names.count++] = copy;
    }
    if (status)
        free(name);
    else
        status =
            nw_slurm_add(slurm, name, slurm->at[below->first + first].line);
    if (status)
        nw_hostlist_fini(&names);
    else
        slurm->at[slurm->count - 1].below = names;
    return status;
}

static nw_status group_level(struct nw_slurm *slurm, struct block_level *level,
                             size_t each)
{
    struct block_level above = {slurm->count, 0};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < level->count; i += each)
        status = block_add_above(slurm, level, i, each);
    above.count = slurm->count - above.first;
    *level = above;
    return status;
}

bool nw_slurm_size_fits(const int32_t *sizes, size_t count, int32_t size)
{
    return !count || (size > sizes[count - 1] && size % sizes[count - 1] == 0);
}

nw_status nw_slurm_group(struct nw_slurm *slurm, const int32_t *sizes,
                         size_t count)
{
    struct block_level level = {0, slurm->count};
    nw_status status = NW_OK;

    for (size_t i = 1; !status && i < count && level.count > 1; i++)
        status = group_level(slurm, &level, (size_t)(sizes[i] / sizes[i - 1]));
    if (!status && level.count > 1)
        status = group_level(slurm, &level, level.count);
    return status;
}
