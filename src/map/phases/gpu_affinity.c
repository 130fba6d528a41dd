/* SPDX-License-Identifier: BSD-3-Clause */
/* Affinity of a rank's core, GPU and NIC, which MAGC ignores. The affinity cost
 * of a rank on a place is the weight of --affinity times a sum of seconds.
 * These are the times of the rank's own bytes on the links to its NIC and, if
 * the place is a GPU unit, between its core and this GPU. */
#include "map/phases/phases.h"
#include "base/array.h"
#include "topology/topology.h"

#include <stdlib.h>

/* Bytes of one rank that take a route inside its node which depends only on
 * where this rank is placed, not on its peers. */
struct gpu_affinity_own_bytes {
    double leaving; /* bytes sent to and received from other nodes, from its GPU
                       if GPUs are placed, else from its host memory */
    double device;  /* bytes sent from or received in its GPU */
};

/* Returns true if a message of this kind ends at a GPU: at its receiver's end
 * if `receiver` is true, else at its sender's end. */
static bool gpu_affinity_on_gpu(enum nw_kind kind, bool receiver)
{
    if (receiver)
        return kind == NW_KIND_GG || kind == NW_KIND_HG;
    return kind == NW_KIND_GG || kind == NW_KIND_GH;
}

/* Fills own[rank] for all ranks, in one pass over the pattern. `gpus`: the
 * ranks are placed on GPUs, not on cores. */
static void gpu_affinity_count_own(const struct nw_problem *problem,
                                   const struct nw_answer *answer,
                                   struct gpu_affinity_own_bytes *own,
                                   bool gpus)
{
    const nw_pattern *pattern = problem->pattern;

    for (int32_t i = 0; i < pattern->rank_count; i++)
        for (size_t e = pattern->row[i]; e < pattern->row[i + 1]; e++) {
            int32_t end[2] = {i, pattern->dst[e]};
            bool leaves = answer->host[end[0]] != answer->host[end[1]];

            for (int k = 0; k < 2; k++) {
                bool gpu = gpu_affinity_on_gpu(pattern->kind[e], k);
                double bytes = (double)pattern->bytes[e];

                if (gpu == gpus && leaves)
                    own[end[k]].leaving += bytes;
                if (gpu)
                    own[end[k]].device += bytes;
            }
        }
}

/* Returns the time of one byte on the route from a to b: the sum over its
 * links, in seconds. hops[] is scratch for a route. */
static double gpu_affinity_route_seconds(const nw_topology *topology,
                                         struct nw_end a, struct nw_end b,
                                         uint32_t *hops)
{
    size_t count = nw_topology_route(topology, a, b, hops);
    double seconds = 0;

    for (size_t i = 0; i < count; i++)
        seconds += 1 / nw_topology_link(topology, (int32_t)(hops[i] / 2))
                           .bandwidth[hops[i] & 1];
    return seconds;
}

/* Returns the time of one byte on the route from `end` to the NIC that belongs
 * to it, in seconds; 0 if `end` has no NIC. hops[] is scratch for a route. */
static double gpu_affinity_to_card(const nw_topology *topology,
                                   struct nw_end end, uint32_t *hops)
{
    int32_t card = nw_end_card(topology, end);

    if (card < 0)
        return 0;
    return gpu_affinity_route_seconds(
        topology, end, nw_topology_nic_end(topology, end.node, card), hops);
}

/* Returns the first core of a rank as an end of routes. */
static struct nw_end gpu_affinity_core_of(const struct nw_problem *problem,
                                          const struct nw_answer *answer,
                                          int32_t rank)
{
    const struct nw_units *units = &problem->core;
    struct nw_ints fixed = nw_problem_fixed_cores(problem, rank);
    int32_t core =
        fixed.count
            ? fixed.values[0]
            : units->member[(size_t)answer->core[rank] * (size_t)units->size];

    return nw_problem_core_end(problem, answer->host[rank], core);
}

/* Fills affinity[ranks.count x places]: the affinity cost, in seconds, of each
 * of the ranks, which are on one node, on each place of this node. */
static void gpu_affinity_fill(const struct nw_problem *problem,
                              const struct nw_answer *answer,
                              const struct nw_placement *placement,
                              struct nw_ints ranks,
                              const struct gpu_affinity_own_bytes *own,
                              bool gpus, uint32_t *hops, double *affinity)
{
    const struct nw_places *places = placement->places;
    size_t count = (size_t)places->count;
    int32_t node =
        ranks.count ? problem->host[answer->host[ranks.values[0]]] : 0;

    for (size_t q = 0; q < count; q++) {
        struct nw_end end = places->end[q];
        double card;

        end.node = node;
        card = gpu_affinity_to_card(problem->topology, end, hops);
        for (size_t p = 0; p < ranks.count; p++) {
            int32_t rank = ranks.values[p];
            double seconds = own[rank].leaving * card;

            if (gpus)
                seconds +=
                    own[rank].device *
                    gpu_affinity_route_seconds(
                        problem->topology, end,
                        gpu_affinity_core_of(problem, answer, rank), hops);
            affinity[p * count + q] = problem->options.affinity * seconds;
        }
    }
}

nw_status nw_gpu_affinity(const struct nw_problem *problem,
                          const struct nw_answer *answer,
                          const struct nw_placement *placement,
                          struct nw_ints ranks, bool gpus, double **out)
{
    size_t n = (size_t)problem->pattern->rank_count;
    struct gpu_affinity_own_bytes *own = NULL;
    uint32_t *hops = NULL;
    double *affinity;
    nw_status status;

    *out = NULL;
    if (problem->options.affinity <= 0 ||
        !nw_topology_has_links(problem->topology))
        return NW_OK;
    status = NW_ALLOC_ALL(
        NW_ARRAY(n, own),
        NW_ARRAY(nw_topology_route_max(problem->topology), hops),
        NW_ARRAY(ranks.count * (size_t)placement->places->count, affinity));
    if (!status) {
        gpu_affinity_count_own(problem, answer, own, gpus);
        gpu_affinity_fill(problem, answer, placement, ranks, own, gpus, hops,
                          affinity);
        *out = affinity;
    }
    free(own);
    free(hops);
    return status;
}
