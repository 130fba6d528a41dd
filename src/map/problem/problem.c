/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a complete problem from the options of a call. If the ranks do not fit
 * on the hosts, the error message says how many would. */
#include "map/problem/problem.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/topology.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns NW_EINVAL if numbers in the options are out of range or cannot be
 * combined. */
static nw_status problem_check_options(const struct nw_map_options *options)
{
    if (options->cores_per_rank < 0 || options->ranks_per_gpu < 0 ||
        options->gpus_per_rank < 0)
        return nw_fail(NW_EINVAL, "cores per rank, GPUs per rank and ranks per "
                                  "GPU must be at least 1");
    if (!(options->affinity >= 0))
        return nw_fail(NW_EINVAL, "affinity is a weight from 0");
    if (options->capacity < 0 || isnan(options->imbalance) ||
        !(options->seconds >= 0))
        return nw_fail(NW_EINVAL, "the capacity must be at least 1, and "
                                  "imbalance and time at least 0");
    if (options->gpus_per_rank > 1 && options->ranks_per_gpu > 1)
        return nw_fail(NW_EINVAL, "several GPUs per rank and several ranks per "
                                  "GPU exclude each other");
    return NW_OK;
}

struct nw_map_options nw_problem_options(const struct nw_map_options *options)
{
    struct nw_map_options mine = NW_MAP_OPTIONS_INIT;
    size_t size = sizeof mine;

    if (options)
        memcpy(&mine, options, options->size < size ? options->size : size);
    mine.size = size;
    return mine;
}

/* Copies the options, with defaults for those that are 0, and checks them. */
static nw_status problem_read_options(struct nw_problem *problem,
                                      const struct nw_map_options *options)
{
    struct nw_map_options *mine = &problem->options;

    *mine = nw_problem_options(options);
    if (!mine->cores_per_rank)
        mine->cores_per_rank = 1;
    if (!mine->ranks_per_gpu)
        mine->ranks_per_gpu = 1;
    if (!mine->capacity)
        mine->capacity = 1;
    return problem_check_options(mine);
}

void nw_problem_mark_gpu_ends(const nw_pattern *pattern, bool *marks)
{
    for (int32_t i = 0; i < pattern->rank_count; i++)
        for (size_t e = pattern->row[i]; e < pattern->row[i + 1]; e++) {
            marks[i] |= nw_problem_is_gpu_end(pattern->kind[e], 0);
            marks[pattern->dst[e]] |=
                nw_problem_is_gpu_end(pattern->kind[e], 1);
        }
}

/* Returns how many ranks with GPUs fit on all hosts together if no rank is
 * fixed and no two ranks share a core. */
static int32_t problem_gpu_ranks_that_fit(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    int32_t size = options->gpus_per_rank ? options->gpus_per_rank : 1;
    int64_t total = 0;

    for (int32_t h = 0; h < problem->host_count; h++) {
        int32_t node = problem->host[h];
        int64_t cores =
            nw_topology_node_elements(problem->topology, node).count /
            options->cores_per_rank;
        int64_t gpus =
            (int64_t)(nw_topology_node_gpus(problem->topology, node).count /
                      size) *
            options->ranks_per_gpu;

        if (options->slots && options->slots[h] < cores)
            cores = options->slots[h];
        total += cores < gpus ? cores : gpus;
    }
    return total > INT32_MAX ? INT32_MAX : (int32_t)total;
}

/* Decides which ranks get a GPU (wants_gpu). All do if the options ask for
 * GPUs, or if the pattern has GPU traffic and all ranks fit on the hosts with a
 * GPU each. Otherwise only the ranks that send from a GPU or receive on one do.
 * Returns NW_EINVAL if ranks use GPUs and the machine has none. */
static nw_status problem_choose_gpu_ranks(struct nw_problem *problem)
{
    struct nw_map_options *options = &problem->options;
    int32_t n = problem->pattern->rank_count;
    nw_status status =
        nw_alloc((size_t)n, sizeof *problem->wants_gpu, &problem->wants_gpu);

    if (status)
        return status;
    problem->uses_gpus =
        options->gpus_per_rank || nw_pattern_has_gpu(problem->pattern);
    if (!problem->uses_gpus)
        return NW_OK;
    if (options->gpus_per_rank || problem_gpu_ranks_that_fit(problem) >= n)
        memset(problem->wants_gpu, true, (size_t)n);
    else
        nw_problem_mark_gpu_ends(problem->pattern, problem->wants_gpu);
    if (!options->gpus_per_rank)
        options->gpus_per_rank = 1;
    if (nw_topology_gpu_count(problem->topology))
        return NW_OK;
    if (!nw_pattern_has_gpu(problem->pattern))
        return nw_fail(NW_EINVAL, "%s has no GPUs for its ranks",
                       nw_topology_name(problem->topology));
    return nw_fail(NW_EINVAL,
                   "the pattern has a GPU layer and %s has no GPUs; use a "
                   "pattern of host messages only",
                   nw_topology_name(problem->topology));
}

/* Sets the host of a rank in fixed_host, -1 if the rank is not fixed.
 * host_of[node] is the host of a node of the topology; -1: the node is not
 * used. Returns NW_EINVAL if the rank is fixed to a node that is unknown or not
 * used, or to a GPU of another node. */
static nw_status problem_fix_rank(struct nw_problem *problem,
                                  const int32_t *host_of, int32_t rank)
{
    const nw_mapping *fixed = problem->options.fixed;
    const char *name;
    int32_t node;

    problem->fixed_host[rank] = -1;
    if (fixed->node[rank] < 0)
        return NW_OK;
    name = fixed->node_name[fixed->node[rank]];
    node = nw_topology_node_find(problem->topology, name);
    if (node < 0)
        return nw_fail_about(NW_FIXED(rank), NW_EINVAL,
                             "rank %d is fixed on %s, a node that %s lacks",
                             rank, name, nw_topology_name(problem->topology));
    if (host_of[node] < 0)
        return nw_fail_about(
            NW_FIXED(rank), NW_EINVAL,
            "rank %d is fixed on %s, which is not among the hosts "
            "to use",
            rank, name);
    if (fixed->gpu_node && fixed->gpu_node[rank] >= 0 &&
        strcmp(fixed->node_name[fixed->gpu_node[rank]], name))
        return nw_fail_about(
            NW_FIXED(rank), NW_EINVAL,
            "rank %d is fixed on a GPU of %s but runs on %s: a fixed "
            "GPU must be on the rank's own node",
            rank, fixed->node_name[fixed->gpu_node[rank]], name);
    problem->fixed_host[rank] = host_of[node];
    return NW_OK;
}

/* If the options fix ranks, allocates fixed_host and sets the host of each
 * fixed rank. Returns NW_EINVAL if the list of fixed ranks has another number
 * of ranks than the pattern. */
static nw_status problem_read_fixed(struct nw_problem *problem)
{
    const nw_mapping *fixed = problem->options.fixed;
    int32_t n = problem->pattern->rank_count, *host_of = NULL;
    nw_status status;

    if (!fixed)
        return NW_OK;
    if (fixed->rank_count != n)
        return nw_fail_about(
            NW_FIXED(-1), NW_EINVAL,
            "the list of fixed ranks is for %d rank%s, the pattern has %d",
            fixed->rank_count, nw_plural((uint64_t)fixed->rank_count), n);
    status = nw_problem_hosts_of_nodes(problem, &host_of);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *problem->fixed_host,
                          &problem->fixed_host);
    for (int32_t r = 0; !status && r < n; r++)
        status = problem_fix_rank(problem, host_of, r);
    free(host_of);
    return status;
}

/* Returns the number of ranks that neither send nor receive; 0 if memory for
 * counting them is missing. */
static int32_t problem_count_silent(const nw_pattern *pattern)
{
    int32_t n = pattern->rank_count, silent = 0;
    bool *heard;

    if (nw_alloc((size_t)n, sizeof *heard, &heard))
        return 0;
    for (size_t e = 0; e < pattern->row[n]; e++)
        heard[pattern->dst[e]] = true;
    for (int32_t r = 0; r < n; r++)
        silent += !heard[r] && pattern->row[r] == pattern->row[r + 1];
    free(heard);
    return silent;
}

/* Returns the rest of the advice if ranks do not fit: the text after "use more
 * nodes", which may be empty. */
static const char *problem_remedy(const struct nw_problem *problem)
{
    const int32_t *slots = problem->options.slots;
    int32_t bound = 0;

    for (int32_t h = 0; slots && h < problem->host_count; h++)
        bound += problem->capacity[h] == slots[h];
    if (bound == problem->host_count)
        return ", or more slots on each";
    if (problem->uses_gpus)
        return "";
    if (problem->options.cores_per_rank > 1)
        return ", or a smaller --cores-per-rank";
    return ", or let ranks share cores by options of nodewise map: --capacity "
           "N for N ranks on each core, or --imbalance 3% to divide them "
           "evenly";
}

/* Returns NW_EINVAL with a message that at most `capacity` ranks would fit. */
static nw_status problem_fail_capacity(const struct nw_problem *problem,
                                       int64_t capacity)
{
    int32_t n = problem->pattern->rank_count;
    int32_t silent = problem_count_silent(problem->pattern);
    char initial[120] = "";

    if (silent > n - n / 4)
        snprintf(initial, sizeof initial,
                 "; %d of them send and receive nothing: --compact renumbers "
                 "the sparse ids of a list",
                 silent);
    return nw_fail_about(NW_HOSTS, NW_EINVAL,
                         "%d rank%s not fit on %d host%s: at most %lld would "
                         "fit%s; use more nodes%s",
                         n, nw_by_count((uint64_t)n, " does", "s do"),
                         problem->host_count,
                         nw_plural((uint64_t)problem->host_count),
                         (long long)capacity, initial, problem_remedy(problem));
}

/* Returns NW_EINVAL if the hosts together take too few ranks, or too few ranks
 * with GPUs. */
static nw_status problem_check_capacity(const struct nw_problem *problem)
{
    int64_t capacity = 0, both = 0, gpu_ranks = 0;
    int32_t n = problem->pattern->rank_count;

    for (int32_t h = 0; h < problem->host_count; h++) {
        int32_t cores = problem->capacity[h], gpus = problem->gpu_capacity[h];

        capacity += cores;
        both += cores < gpus ? cores : gpus;
    }
    for (int32_t r = 0; r < n; r++)
        gpu_ranks += problem->wants_gpu[r];
    if (n > capacity)
        return problem_fail_capacity(problem, capacity);
    if (gpu_ranks > both)
        return nw_fail_about(
            NW_HOSTS, NW_EINVAL,
            "%lld ranks with GPUs do not fit on %d host%s: at most %lld would "
            "fit; use more nodes, or --ranks-per-gpu N for N ranks on each GPU",
            (long long)gpu_ranks, problem->host_count,
            nw_plural((uint64_t)problem->host_count), (long long)both);
    return NW_OK;
}

nw_status nw_problem_init(struct nw_problem *problem,
                          const nw_topology *topology,
                          const nw_pattern *pattern,
                          const struct nw_map_options *options)
{
    nw_status status;

    *problem = (struct nw_problem){.topology = topology, .pattern = pattern};
    status = problem_read_options(problem, options);
    if (!status)
        status = nw_problem_list_hosts(problem);
    if (!status)
        status = problem_choose_gpu_ranks(problem);
    if (!status)
        status = problem_read_fixed(problem);
    if (!status)
        status = nw_problem_cut_units(problem);
    if (!status)
        status = problem_check_capacity(problem);
    if (!status)
        status = nw_pattern_find_phases(pattern, &problem->phases);
    /* With phases, `careful` is off: it limits hop-bytes and congestion of the
     * whole pattern, which says nothing about a single phase. */
    if (!status)
        problem->options.careful &= !problem->phases->found;
    if (status)
        nw_problem_fini(problem);
    return status;
}

void nw_problem_fini(struct nw_problem *problem)
{
    struct nw_units *core = &problem->core, *gpu = &problem->gpu;

    NW_FREE_ALL(problem->wants_gpu, problem->host, problem->capacity,
                problem->gpu_capacity, problem->fixed_host, core->first,
                core->member, core->capacity, gpu->first, gpu->member,
                gpu->capacity);
    *problem = (struct nw_problem){0};
}

struct nw_end nw_problem_end(const struct nw_problem *problem, bool gpus,
                             int32_t host, int32_t member)
{
    int32_t node = problem->host[host];
    const struct nw_node_type *type =
        nw_topology_type_of(problem->topology, node);

    return (struct nw_end){node, (gpus ? type->gpu : type->element)[member],
                           -1};
}

struct nw_end nw_problem_nic_end(const struct nw_problem *problem, int32_t host,
                                 int32_t nic)
{
    int32_t node = problem->host[host];

    if (nic < nw_topology_node_nic_count(problem->topology, node))
        return nw_topology_nic_end(problem->topology, node, nic);
    return (struct nw_end){node, 0, -1};
}

int32_t nw_problem_most(const struct nw_problem *problem,
                        int32_t (*count)(const nw_topology *, int32_t node))
{
    int32_t most = 1;

    for (int32_t h = 0; h < problem->host_count; h++) {
        int32_t here = count(problem->topology, problem->host[h]);

        most = here > most ? here : most;
    }
    return most;
}

struct nw_ints nw_units_members(const struct nw_units *units, int32_t unit)
{
    size_t size = (size_t)units->size;

    if (unit < 0)
        return (struct nw_ints){NULL, 0};
    return (struct nw_ints){units->member + (size_t)unit * size, size};
}

nw_status nw_problem_hosts_of_nodes(const struct nw_problem *problem,
                                    int32_t **host_of)
{
    size_t nodes = (size_t)nw_topology_node_count(problem->topology);
    nw_status status = nw_alloc_raw(nodes, sizeof **host_of, host_of);

    for (size_t i = 0; !status && i < nodes; i++)
        (*host_of)[i] = -1;
    for (int32_t h = 0; !status && h < problem->host_count; h++)
        (*host_of)[problem->host[h]] = h;
    return status;
}

double nw_problem_gpu_distance(const struct nw_problem *problem, int32_t host,
                               struct nw_ints cores, struct nw_ints gpus)
{
    double sum = 0;

    for (size_t i = 0; i < cores.count; i++)
        for (size_t j = 0; j < gpus.count; j++)
            sum += nw_topology_distance(
                problem->topology,
                nw_problem_core_end(problem, host, cores.values[i]),
                nw_problem_gpu_end(problem, host, gpus.values[j]));
    return sum / (double)(cores.count * gpus.count);
}

int32_t nw_problem_core_package(const struct nw_problem *problem, int32_t host,
                                int32_t unit)
{
    const struct nw_units *units = &problem->core;
    int32_t core = units->member[(size_t)unit * (size_t)units->size];
    int32_t first =
        nw_topology_node_elements(problem->topology, problem->host[host]).first;

    return nw_topology_element_package(problem->topology, first + core);
}

/* Returns true if the objective depends on the loads of links. */
static bool problem_needs_link(enum nw_objective objective)
{
    return objective == NW_OBJECTIVE_CONGESTION ||
           objective == NW_OBJECTIVE_TIME;
}

nw_status nw_problem_check_links(const nw_topology *topology,
                                 const struct nw_map_options *options)
{
    bool needs = problem_needs_link(options->objective) ||
                 (options->has_second && problem_needs_link(options->second));

    if (!needs || nw_topology_has_links(topology))
        return NW_OK;
    return nw_fail(NW_EINVAL,
                   "%s is a matrix of distances: it has no links and no "
                   "congestion",
                   nw_topology_name(topology));
}
