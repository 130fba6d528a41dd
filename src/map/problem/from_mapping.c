/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts the mapping of --from to the answer from which a search begins: the
 * host, core unit and GPU unit of each rank. A rank with a fixed core gets no
 * core unit, one with a fixed GPU no GPU unit. nw_answer_check_complete decides
 * if the answer is valid as it is. */
#include "map/problem/problem.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

/* Returns the unit of a host that contains the core or GPU with index `member`
 * in the node; -1 if no unit does. */
static int32_t from_mapping_unit_of(const struct nw_units *units, int32_t host,
                                    int32_t member)
{
    size_t size = (size_t)units->size;

    for (int32_t u = units->first[host]; u < units->first[host + 1]; u++)
        for (size_t i = 0; i < size; i++)
            if (units->member[(size_t)u * size + i] == member)
                return u;
    return -1;
}

/* Returns the unit of a host that contains the first core or GPU of `set`; -1
 * if the set is empty or no unit does. In the usual case unit i of a host is
 * core i, so that unit is tried first. */
static int32_t from_mapping_find_unit(const struct nw_units *units,
                                      int32_t host, struct nw_ints set)
{
    int32_t first = units->first[host], guess;

    if (!set.count || set.values[0] < 0)
        return -1;
    guess = first + set.values[0];
    if (units->size == 1 && guess < units->first[host + 1] &&
        units->member[guess] == set.values[0])
        return guess;
    return from_mapping_unit_of(units, host, set.values[0]);
}

/* Sets and returns the host of a rank's GPU. The GPU may be on another host
 * than the rank. The host is -1 if the GPU's node is not among the hosts to
 * use. host_of[i] is the host of node i of the topology; -1: not used. */
static int32_t from_mapping_read_gpu_host(const struct nw_problem *problem,
                                          const int32_t *host_of, int32_t rank,
                                          struct nw_answer *answer)
{
    const nw_mapping *start = problem->options.start;
    int32_t node = start->gpu_node ? start->gpu_node[rank] : -1;

    answer->gpu_host[rank] = answer->host[rank];
    if (node < 0)
        return answer->host[rank];
    node = nw_topology_node_find(problem->topology, start->node_name[node]);
    answer->gpu_host[rank] = node < 0 ? -1 : host_of[node];
    return answer->gpu_host[rank];
}

/* Sets the host and the units of one rank from the mapping of --from; they stay
 * unset if the mapping has no node for the rank. Returns NW_EINVAL if the
 * rank's node is not among the hosts to use. host_of[i] is the host of node i
 * of the topology; -1: not used. */
static nw_status from_mapping_read_rank(const struct nw_problem *problem,
                                        const int32_t *host_of, int32_t rank,
                                        struct nw_answer *answer)
{
    const nw_mapping *start = problem->options.start;
    int32_t node = start->node[rank];
    int32_t host;

    if (node < 0)
        return NW_OK;
    node = nw_topology_node_find(problem->topology, start->node_name[node]);
    host = node < 0 ? -1 : host_of[node];
    if (host < 0)
        return nw_fail_about(
            NW_MAPPED(-1), NW_EINVAL,
            "the mapping to begin from has rank %d on %s, which is "
            "not among the hosts to use; --without names lost nodes",
            rank, start->node_name[start->node[rank]]);
    answer->host[rank] = host;
    if (nw_problem_needs_core(problem, rank))
        answer->core[rank] = from_mapping_find_unit(
            &problem->core, host, nw_mapping_cores(start, rank));
    if (answer->gpu_host)
        host = from_mapping_read_gpu_host(problem, host_of, rank, answer);
    if (nw_problem_needs_gpu(problem, rank) && host >= 0)
        answer->gpu[rank] = from_mapping_find_unit(
            &problem->gpu, host, nw_mapping_gpus(start, rank));
    return NW_OK;
}

nw_status nw_answer_from_mapping(const struct nw_problem *problem,
                                 struct nw_answer *answer)
{
    const nw_mapping *start = problem->options.start;
    int32_t n = problem->pattern->rank_count, *host_of = NULL;
    nw_status status;

    *answer = (struct nw_answer){0};
    if (!start)
        return NW_OK;
    if (start->rank_count != n)
        return nw_fail_about(
            NW_MAPPED(-1), NW_EINVAL,
            "the mapping to begin from has %d rank%s, the pattern %d",
            start->rank_count, nw_plural((uint64_t)start->rank_count), n);
    status = nw_answer_init(answer, n);
    if (!status && start->gpu_node)
        status = nw_answer_allow_remote(answer, n);
    if (!status)
        status = nw_problem_hosts_of_nodes(problem, &host_of);
    for (int32_t r = 0; !status && r < n; r++)
        status = from_mapping_read_rank(problem, host_of, r, answer);
    free(host_of);
    if (status)
        nw_answer_fini(answer);
    return status;
}

/* Returns NW_EINVAL if a rank has no host, or lacks a core unit or GPU unit
 * that it needs. */
static nw_status from_mapping_check_open(const struct nw_problem *problem,
                                         const struct nw_answer *answer,
                                         int32_t rank)
{
    if (answer->host[rank] >= 0 &&
        (answer->core[rank] >= 0 || !nw_problem_needs_core(problem, rank)) &&
        (answer->gpu[rank] >= 0 || !nw_problem_needs_gpu(problem, rank)))
        return NW_OK;
    return nw_fail_about(
        NW_MAPPED(-1), NW_EINVAL,
        "the mapping to begin from leaves rank %d open or on cores "
        "or GPUs that are not to be used",
        rank);
}

/* Returns NW_EINVAL if a rank that is fixed to a host is on another host. */
static nw_status from_mapping_check_fixed(const struct nw_problem *problem,
                                          const struct nw_answer *answer,
                                          int32_t rank)
{
    const nw_topology *topology = problem->topology;
    int32_t host = answer->host[rank];
    int32_t fixed = problem->fixed_host ? problem->fixed_host[rank] : -1;

    if (fixed < 0 || fixed == host)
        return NW_OK;
    return nw_fail_about(
        NW_MAPPED(-1), NW_EINVAL,
        "the mapping to begin from has rank %d on %s, and it is "
        "fixed on %s",
        rank, nw_topology_node_name(topology, problem->host[host]),
        nw_topology_node_name(topology, problem->host[fixed]));
}

/* The units of cores, or of GPUs, while the ranks on each of them are counted.
 */
struct from_mapping_work {
    const struct nw_units *units;
    const int32_t *unit; /* [ranks] unit of each rank; -1: none */
    const char *what;    /* "core" or "GPU", for messages */
    int32_t *taken;      /* [units] ranks counted so far on each unit */
};

/* Counts a rank on its unit. Returns NW_EINVAL if the unit then has more ranks
 * than its capacity. */
static nw_status from_mapping_take(const struct from_mapping_work *work,
                                   int32_t rank)
{
    int32_t unit = work->unit[rank];

    if (unit < 0 || ++work->taken[unit] <= work->units->capacity[unit])
        return NW_OK;
    return nw_fail_about(
        NW_MAPPED(-1), NW_EINVAL,
        "the mapping to begin from has more ranks on the %s of rank %d than "
        "that %s takes",
        work->what, rank, work->what);
}

/* Counts a rank on its host in taken[]. Returns NW_EINVAL if the host then has
 * more ranks than its capacity. */
static nw_status from_mapping_take_host(const struct nw_problem *problem,
                                        int32_t host, int32_t *taken)
{
    if (++taken[host] <= problem->capacity[host])
        return NW_OK;
    return nw_fail_about(
        NW_MAPPED(-1), NW_EINVAL,
        "the mapping to begin from has more ranks on %s than the %d it takes",
        nw_topology_node_name(problem->topology, problem->host[host]),
        problem->capacity[host]);
}

nw_status nw_answer_check_complete(const struct nw_problem *problem,
                                   const struct nw_answer *answer)
{
    struct from_mapping_work core = {&problem->core, answer->core, "core",
                                     NULL};
    struct from_mapping_work gpu = {&problem->gpu, answer->gpu, "GPU", NULL};
    size_t hosts = (size_t)problem->host_count;
    int32_t *taken = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(hosts, taken),
                     NW_ARRAY((size_t)problem->core.first[hosts], core.taken),
                     NW_ARRAY((size_t)problem->gpu.first[hosts], gpu.taken));

    for (int32_t r = 0; !status && r < problem->pattern->rank_count; r++) {
        status = from_mapping_check_open(problem, answer, r);
        if (!status)
            status = from_mapping_check_fixed(problem, answer, r);
        if (!status)
            status = from_mapping_take(&core, r);
        if (!status)
            status = from_mapping_take(&gpu, r);
        if (!status)
            status = from_mapping_take_host(problem, answer->host[r], taken);
    }
    NW_FREE_ALL(taken, core.taken, gpu.taken);
    return status;
}
