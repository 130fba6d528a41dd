/* SPDX-License-Identifier: BSD-3-Clause */
/* The default mapping that others are compared with. If the pattern has more
 * ranks than the options allow, more ranks share a GPU (in patterns with GPU
 * traffic) or a core than the options say. */
#include "base/array.h"
#include "map/problem/problem.h"

#include <stdlib.h>

/* Returns the smallest number of ranks per GPU for which `ranks` ranks fit on
 * the nodes, each with a core of its own on the node of its GPU. Returns 0 if
 * they never fit or if `ranks` is 0. */
static int32_t reference_least_share(const struct nw_problem *problem,
                                     int32_t ranks)
{
    const nw_topology *topology = problem->topology;
    int64_t fit = 0, before = -1;
    int32_t share = 0;

    while (fit < ranks && fit > before) {
        before = fit;
        fit = 0;
        share++;
        for (int32_t h = 0; h < problem->host_count; h++) {
            int32_t n = problem->host[h];
            int64_t cores = nw_topology_node_elements(topology, n).count;
            int64_t room =
                (int64_t)share * nw_topology_node_gpus(topology, n).count;

            fit += cores < room ? cores : room;
        }
    }
    return fit < ranks ? 0 : share;
}

nw_status nw_map_reference(const nw_topology *topology,
                           const nw_pattern *pattern,
                           const struct nw_map_options *options,
                           nw_mapping **out)
{
    struct nw_map_options mine = nw_problem_options(options);
    struct nw_problem problem = {
        .topology = topology,
        .options = {.hosts = mine.hosts, .host_count = mine.host_count}};
    nw_status status = nw_problem_list_hosts(&problem);
    int32_t n = pattern->rank_count, ranks = 0, share;
    int64_t elements = 0;
    bool *gpu = NULL; /* [ranks] true: sends from or receives into GPU memory */

    for (int32_t h = 0; !status && h < problem.host_count; h++)
        elements += nw_topology_node_elements(topology, problem.host[h]).count;
    if (!status)
        status = nw_alloc((size_t)n, sizeof *gpu, &gpu);
    if (!status && nw_pattern_has_gpu(pattern)) {
        nw_problem_mark_gpu_ends(pattern, gpu);
        for (int32_t r = 0; r < n; r++)
            ranks += gpu[r];
        share = reference_least_share(&problem, ranks);
        if (share > mine.ranks_per_gpu)
            mine.ranks_per_gpu = share;
    } else if (pattern->rank_count > elements) {
        mine.imbalance = 0;
    }
    free(gpu);
    nw_problem_fini(&problem);
    return status ? status : nw_map_default(topology, pattern, &mine, out);
}
