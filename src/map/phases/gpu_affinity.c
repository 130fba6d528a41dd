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

/* The ranks of one node that are placed. */
struct gpu_affinity_work {
    const struct nw_problem *problem;
    const struct nw_answer *answer;
    struct nw_ints ranks;
    bool gpus; /* the ranks are placed on GPUs, not on cores */
    struct gpu_affinity_own_bytes *own; /* [all ranks] */
    uint32_t *hops;                     /* scratch for a route */
};

/* Fills own[rank] for all ranks, in one pass over the pattern. */
static void gpu_affinity_count_own(struct gpu_affinity_work *work)
{
    const nw_pattern *pattern = work->problem->pattern;
    const int32_t *host = work->answer->host;

    for (int32_t i = 0; i < pattern->rank_count; i++)
        for (size_t e = pattern->row[i]; e < pattern->row[i + 1]; e++) {
            int32_t end[2] = {i, pattern->dst[e]};

            for (int k = 0; k < 2; k++) {
                bool gpu = nw_problem_is_gpu_end(pattern->kind[e], k);
                double bytes = (double)pattern->bytes[e];

                if (gpu == work->gpus && host[end[0]] != host[end[1]])
                    work->own[end[k]].leaving += bytes;
                if (gpu)
                    work->own[end[k]].device += bytes;
            }
        }
}

/* Returns the time of one byte on the route from a to b: the sum over its
 * links, in seconds. */
static double gpu_affinity_route_seconds(struct gpu_affinity_work *work,
                                         struct nw_end a, struct nw_end b)
{
    const nw_topology *topology = work->problem->topology;
    size_t count = nw_topology_route(topology, a, b, work->hops);
    double seconds = 0;

    for (size_t i = 0; i < count; i++)
        seconds += 1 / nw_topology_link(topology, (int32_t)(work->hops[i] / 2))
                           .bandwidth[work->hops[i] & 1];
    return seconds;
}

/* Returns the first core of a rank as an end of routes. */
static struct nw_end gpu_affinity_core_of(const struct gpu_affinity_work *work,
                                          int32_t rank)
{
    struct nw_ints cores = nw_problem_fixed(work->problem, false, rank);

    if (!cores.count)
        cores =
            nw_units_members(&work->problem->core, work->answer->core[rank]);
    return nw_problem_core_end(work->problem, work->answer->host[rank],
                               cores.values[0]);
}

/* Fills affinity[ranks.count x places]: the affinity cost, in seconds, of each
 * of the ranks, which are on one node, on each place of this node. */
static void gpu_affinity_fill(struct gpu_affinity_work *work,
                              const struct nw_places *places, double *affinity)
{
    const struct nw_problem *problem = work->problem;
    struct nw_ints ranks = work->ranks;
    size_t count = (size_t)places->count;

    for (size_t q = 0; q < count; q++) {
        struct nw_end end = places->end[q];
        double to_nic = 0; /* time of one byte on the route to its NIC */
        int32_t nic;

        end.node = problem->host[work->answer->host[ranks.values[0]]];
        nic = nw_end_card(problem->topology, end);
        if (nic >= 0)
            to_nic = gpu_affinity_route_seconds(
                work, end,
                nw_topology_nic_end(problem->topology, end.node, nic));
        for (size_t p = 0; p < ranks.count; p++) {
            int32_t rank = ranks.values[p];
            double seconds = work->own[rank].leaving * to_nic;

            if (work->gpus)
                seconds += work->own[rank].device *
                           gpu_affinity_route_seconds(
                               work, end, gpu_affinity_core_of(work, rank));
            affinity[p * count + q] = problem->options.affinity * seconds;
        }
    }
}

nw_status nw_gpu_affinity(const struct nw_problem *problem,
                          const struct nw_answer *answer, struct nw_ints ranks,
                          bool gpus, struct nw_placement *placement)
{
    struct gpu_affinity_work work = {
        .problem = problem, .answer = answer, .ranks = ranks, .gpus = gpus};
    const struct nw_places *places = placement->places;
    nw_status status;

    if (problem->options.affinity <= 0 ||
        !nw_topology_has_links(problem->topology))
        return NW_OK;
    status = NW_ALLOC_ALL(
        NW_ARRAY((size_t)problem->pattern->rank_count, work.own),
        NW_ARRAY(nw_topology_route_max(problem->topology), work.hops),
        NW_ARRAY(ranks.count * (size_t)places->count, placement->affinity));
    if (!status) {
        gpu_affinity_count_own(&work);
        gpu_affinity_fill(&work, places, placement->affinity);
    }
    free(work.own);
    free(work.hops);
    return status;
}
