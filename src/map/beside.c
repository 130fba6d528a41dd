/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks whose messages are all of GPU memory cost the same on every core of
 * their node. They get the free cores nearest to their GPUs: what they compute
 * and start there goes that way. */
#include "map/algorithm.h"
#include "base/array.h"

#include <stdlib.h>

struct beside {
    const struct nw_problem *problem;
    const nw_mapping *mapping;
    bool *free_rank;       /* [rank_count] no message of its host memory */
    int32_t *host_of;      /* [nodes] */
    int32_t *next, *first; /* [ranks], [hosts]: ranks of each host, ascending */
    int32_t *core;         /* [ranks] the answer */
    bool *taken;           /* [units] */
    double before, after;  /* sums of distances */
};

static void find_free_ranks(struct beside *work)
{
    const nw_pattern *pattern = work->problem->pattern;

    for (int32_t r = 0; r < pattern->rank_count; r++)
        work->free_rank[r] = work->mapping->gpu[r] >= 0 &&
                             !nw_problem_fixed_cores(work->problem, r).count;
    for (int32_t r = 0; r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; e < pattern->row[r + 1]; e++) {
            int kind = pattern->kind[e];

            if (kind == NW_KIND_HH || kind == NW_KIND_HG)
                work->free_rank[r] = false;
            if (kind == NW_KIND_HH || kind == NW_KIND_GH)
                work->free_rank[pattern->dst[e]] = false;
        }
}

static double distance(const struct beside *work, int32_t host, int32_t core,
                       int32_t gpu)
{
    return nw_topology_distance(work->problem->topology,
                                nw_problem_core_end(work->problem, host, core),
                                nw_problem_gpu_end(work->problem, host, gpu));
}

/* Cores of ranks that stay are taken; false where two ranks share one. */
static bool take_cores(struct beside *work, int32_t host)
{
    const struct nw_units *units = &work->problem->core;
    int32_t from = units->first[host], to = units->first[host + 1];

    for (int32_t u = from; u < to; u++)
        work->taken[u] = units->room[u] < 1;
    for (int pass = 0; pass < 2; pass++) {
        for (int32_t r = work->first[host]; r >= 0; r = work->next[r]) {
            int32_t u = from;

            while (u < to && units->member[u] != work->mapping->core[r])
                u++;
            if (u == to || (!pass && work->taken[u]))
                return false;
            work->taken[u] = !pass || !work->free_rank[r];
        }
    }
    return true;
}

static void choose_core(struct beside *work, int32_t host, int32_t rank)
{
    const struct nw_units *units = &work->problem->core;
    int32_t gpu = work->mapping->gpu[rank], best = -1;
    double nearest = 0;

    for (int32_t u = units->first[host]; u < units->first[host + 1]; u++) {
        double far =
            work->taken[u] ? 0 : distance(work, host, units->member[u], gpu);

        if (work->taken[u] || (best >= 0 && far >= nearest))
            continue;
        best = u;
        nearest = far;
    }
    work->before += distance(work, host, work->mapping->core[rank], gpu);
    work->after += nearest;
    work->taken[best] = true;
    work->core[rank] = units->member[best];
}

static void place_host(struct beside *work, int32_t host)
{
    work->before = work->after = 0;
    if (!take_cores(work, host))
        return;
    for (int32_t r = work->first[host]; r >= 0; r = work->next[r])
        if (work->free_rank[r])
            choose_core(work, host, r);
    for (int32_t r = work->first[host]; r >= 0; r = work->next[r])
        if (work->after >= work->before)
            work->core[r] = work->mapping->core[r];
}

static nw_status list_ranks(struct beside *work)
{
    const struct nw_problem *problem = work->problem;
    int32_t n = problem->pattern->rank_count;
    size_t units = (size_t)problem->core.first[problem->host_count];
    nw_status status = nw_alloc((size_t)n, sizeof *work->next, &work->next);

    if (!status)
        status = nw_alloc((size_t)problem->host_count, sizeof *work->first,
                          &work->first);
    if (!status)
        status = nw_alloc((size_t)nw_topology_node_count(problem->topology),
                          sizeof *work->host_of, &work->host_of);
    if (!status)
        status = nw_alloc(units, sizeof *work->taken, &work->taken);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *work->core, &work->core);
    for (int32_t h = 0; !status && h < problem->host_count; h++) {
        work->host_of[problem->host[h]] = h;
        work->first[h] = -1;
    }
    for (int32_t r = n; !status && r-- > 0;) {
        int32_t h = work->host_of[work->mapping->node[r]];

        work->core[r] = work->mapping->core[r];
        work->next[r] = work->first[h];
        work->first[h] = r;
    }
    return status;
}

static bool suits(const struct nw_problem *problem, const nw_mapping *mapping)
{
    return problem->uses_gpus && !problem->load && problem->core.size == 1 &&
           !mapping->core_row && !mapping->gpu_row && !mapping->gpu_node;
}

nw_status nw_place_beside_gpus(const struct nw_problem *problem,
                               nw_mapping *mapping)
{
    struct beside work = {.problem = problem, .mapping = mapping};
    nw_status status = NW_OK;

    if (!suits(problem, mapping))
        return NW_OK;
    status = nw_alloc((size_t)mapping->rank_count, sizeof *work.free_rank,
                      &work.free_rank);
    if (!status)
        status = list_ranks(&work);
    if (!status)
        find_free_ranks(&work);
    for (int32_t h = 0; !status && h < problem->host_count; h++)
        place_host(&work, h);
    for (int32_t r = 0; !status && r < mapping->rank_count; r++)
        mapping->core[r] = work.core[r];
    free(work.free_rank);
    free(work.host_of);
    free(work.next);
    free(work.first);
    free(work.core);
    free(work.taken);
    return status;
}
