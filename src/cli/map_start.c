/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the file of --from. It may be a list of hosts, which has no cores, or a
 * rankfile, which has no GPUs. These cores and GPUs are taken from the default
 * mapping. */
#include "cli/map_start.h"
#include "cli/hosts.h"

#include <nodewise/launch.h>

/* Returns true if a rank has a node but its cores or GPUs are open (-2: GPU
 * open). */
static bool map_start_is_open(const nw_mapping *start)
{
    for (int32_t r = 0; r < start->rank_count; r++) {
        struct nw_ints cores = nw_mapping_cores(start, r);
        struct nw_ints gpus = nw_mapping_gpus(start, r);

        if (start->node[r] >= 0 &&
            (!cores.count || (gpus.count && gpus.values[0] == -2)))
            return true;
    }
    return false;
}

nw_status nw_cli_start_read(const char *path, const nw_topology *topology,
                            const nw_pattern *pattern,
                            const struct nw_map_options *options,
                            nw_mapping **out)
{
    struct nw_map_options mine = *options;
    nw_mapping *start;
    nw_status status = nw_launch_placement_read(path, topology, &start);

    if (status)
        return status;
    if (start->rank_count != pattern->rank_count || !map_start_is_open(start)) {
        *out = start;
        return NW_OK;
    }
    mine.fixed = start;
    mine.start = NULL;
    status = nw_map_default(topology, pattern, &mine, out);
    nw_mapping_free(start);
    return status ? nw_cli_blame_fix(path, status) : NW_OK;
}
