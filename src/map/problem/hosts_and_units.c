/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists the hosts: the nodes of --hosts, or all nodes, without the spare ones
 * at the end. Then divides their cores and GPUs into units: groups of as many
 * cores, or GPUs, as one rank needs. Cores and GPUs that fixed ranks fill are
 * left out. */
#include "map/problem/problem.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_problem_check_hosts(const nw_topology *topology,
                                 const struct nw_map_options *options)
{
    size_t nodes = (size_t)nw_topology_node_count(topology);
    bool *seen;
    nw_status status;

    if (!options->hosts)
        return NW_OK;
    if (options->host_count > nodes)
        return nw_fail(NW_EINVAL, "more hosts than %s has nodes",
                       nw_topology_name(topology));
    status = nw_alloc(nodes, sizeof *seen, &seen);
    for (size_t h = 0; !status && h < options->host_count; h++) {
        int32_t node = options->hosts[h];

        if (node < 0 || (size_t)node >= nodes)
            status = nw_fail(NW_EINVAL, "host %d is not one of %zu node%s",
                             node, nodes, nw_plural((uint64_t)nodes));
        else if (seen[node])
            status = nw_fail(NW_EINVAL, "host %s is given twice",
                             nw_topology_node_name(topology, node));
        else
            seen[node] = true;
    }
    free(seen);
    return status;
}

nw_status nw_problem_list_hosts(struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    size_t count = options->hosts
                       ? options->host_count
                       : (size_t)nw_topology_node_count(problem->topology);
    nw_status status;

    if (!count)
        return nw_fail(NW_EINVAL, "no hosts to map onto");
    if (options->spare < 0 || (size_t)options->spare >= count)
        return nw_fail_about(
            NW_HOSTS, NW_EINVAL,
            "%d spare node%s of %zu leave%s no node for the ranks",
            options->spare, nw_plural((uint64_t)options->spare), count,
            options->spare == 1 ? "s" : "");
    status = nw_problem_check_hosts(problem->topology, options);
    if (!status)
        status = nw_alloc(count, sizeof *problem->host, &problem->host);
    if (status)
        return status;
    count -= (size_t)options->spare;
    problem->host_count = (int32_t)count;
    for (size_t h = 0; h < count; h++)
        problem->host[h] = options->hosts ? options->hosts[h] : (int32_t)h;
    return NW_OK;
}

/* State while the cores, or the GPUs, of the problem's hosts are divided into
 * units. A member is one core or one GPU of a host. */
struct hosts_and_units_work {
    struct nw_problem *problem;
    struct nw_units *units;
    size_t *begin;     /* [hosts + 1] index in `capacity` of the first member of
                          each host */
    int32_t *capacity; /* [members of all hosts] how many more ranks each member
                          takes */
    /* [members of all hosts] scratch: members of a host that take more ranks */
    int32_t *free_members;
    /* how many ranks a member takes if none is fixed to it */
    int32_t capacity_each;
    int32_t count; /* number of units so far */
    bool gpus;     /* true: members are GPUs; false: they are cores */
};

/* Returns the cores, or GPUs, of a host. */
static struct nw_range
hosts_and_units_members(const struct hosts_and_units_work *cut, int32_t host)
{
    const nw_topology *topology = cut->problem->topology;
    int32_t node = cut->problem->host[host];

    return cut->gpus ? nw_topology_node_gpus(topology, node)
                     : nw_topology_node_elements(topology, node);
}

/* Returns the package of member m (a core or GPU) of a host, so that units can
 * be kept within one package. */
static int32_t
hosts_and_units_member_package(const struct hosts_and_units_work *cut,
                               int32_t host, int32_t m)
{
    int32_t number = hosts_and_units_members(cut, host).first + m;

    return (cut->gpus ? nw_topology_gpu_package : nw_topology_element_package)(
        cut->problem->topology, number);
}

/* Adds a unit that consists of the units->size cores, or GPUs, of a host in
 * members[]. The capacity of the unit is the smallest capacity of its members.
 */
static void hosts_and_units_add_unit(struct hosts_and_units_work *cut,
                                     int32_t host, const int32_t *members)
{
    struct nw_units *units = cut->units;
    const int32_t *takes = cut->capacity + cut->begin[host];
    int32_t capacity = cut->capacity_each;
    size_t first = (size_t)cut->count * (size_t)units->size;

    for (int32_t i = 0; i < units->size; i++) {
        units->member[first + (size_t)i] = members[i];
        capacity = takes[members[i]] < capacity ? takes[members[i]] : capacity;
    }
    units->capacity[cut->count++] = capacity;
}

/* Divides the cores, or GPUs, of a host into units of units->size members.
 * Leaves out those that take no more ranks because fixed ranks use them. First
 * makes units of members that follow each other in one package, then units
 * across packages from the other members. Members that are too few for another
 * unit stay unused. */
static void hosts_and_units_cut_host(struct hosts_and_units_work *cut,
                                     int32_t host)
{
    const int32_t *takes = cut->capacity + cut->begin[host];
    int32_t members = (int32_t)(cut->begin[host + 1] - cut->begin[host]);
    int32_t *list = cut->free_members, size = cut->units->size;
    int32_t count = 0, left = 0, begin = 0;

    for (int32_t m = 0; m < members; m++)
        if (takes[m] > 0)
            list[count++] = m;
    while (begin < count) {
        int32_t end = begin + 1;

        while (end < count && end - begin < size &&
               hosts_and_units_member_package(cut, host, list[end]) ==
                   hosts_and_units_member_package(cut, host, list[begin]))
            end++;
        if (end - begin == size)
            hosts_and_units_add_unit(cut, host, list + begin);
        else
            while (begin < end)
                list[left++] = list[begin++];
        begin = end;
    }
    for (int32_t i = 0; size <= left - i; i += size)
        hosts_and_units_add_unit(cut, host, list + i);
}

/* Lowers the capacity of member m (a core or GPU) of a host by a rank that is
 * fixed to it. Returns NW_EINVAL if the member does not exist or takes no more
 * ranks. */
static nw_status hosts_and_units_take_one(struct hosts_and_units_work *cut,
                                          int32_t rank, int32_t host, int32_t m)
{
    const nw_topology *topology = cut->problem->topology;
    const char *what = cut->gpus ? "GPU" : "core";
    const char *name =
        nw_topology_node_name(topology, cut->problem->host[host]);

    if (m < 0 || (size_t)m >= cut->begin[host + 1] - cut->begin[host])
        return nw_fail_about(NW_FIXED(rank), NW_EINVAL,
                             "rank %d is fixed on %s %d, which %s lacks", rank,
                             what, m, name);
    if (--cut->capacity[cut->begin[host] + (size_t)m] < 0)
        return nw_fail_about(
            NW_FIXED(rank), NW_EINVAL,
            "rank %d is fixed on %s %d of %s, which other fixed ranks fill",
            rank, what, m, name);
    return NW_OK;
}

/* Lowers the capacities of the cores, or GPUs, to which ranks are fixed. */
static nw_status hosts_and_units_take_fixed(struct hosts_and_units_work *cut)
{
    const struct nw_problem *problem = cut->problem;
    int32_t n = problem->fixed_host ? problem->pattern->rank_count : 0;
    nw_status status = NW_OK;

    for (int32_t r = 0; r < n; r++) {
        struct nw_ints set = nw_problem_fixed(problem, cut->gpus, r);

        for (size_t k = 0; !status && k < set.count; k++)
            status = hosts_and_units_take_one(cut, r, problem->fixed_host[r],
                                              set.values[k]);
    }
    return status;
}

/* Divides the cores, or GPUs, of all hosts into units; there are at most as
 * many as cores, or GPUs. */
static nw_status hosts_and_units_cut_all(struct hosts_and_units_work *cut)
{
    struct nw_units *units = cut->units;
    int32_t hosts = cut->problem->host_count;
    size_t total = 0;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)hosts + 1, units->first),
                                    NW_ARRAY((size_t)hosts + 1, cut->begin));

    for (int32_t h = 0; !status && h < hosts; h++) {
        total += (size_t)hosts_and_units_members(cut, h).count;
        cut->begin[h + 1] = total;
    }
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY_RAW(total, units->member),
                              NW_ARRAY_RAW(total, units->capacity),
                              NW_ARRAY_RAW(total, cut->capacity),
                              NW_ARRAY_RAW(total, cut->free_members));
    for (size_t m = 0; !status && m < total; m++)
        cut->capacity[m] = cut->capacity_each;
    if (!status)
        status = hosts_and_units_take_fixed(cut);
    for (int32_t h = 0; !status && h < hosts; h++) {
        hosts_and_units_cut_host(cut, h);
        units->first[h + 1] = cut->count;
    }
    NW_FREE_ALL(cut->begin, cut->capacity, cut->free_members);
    return status;
}

void nw_problem_count_capacity(struct nw_problem *problem)
{
    const int32_t *slots = problem->options.slots;
    int32_t n = problem->fixed_host ? problem->pattern->rank_count : 0;
    int32_t *capacity = problem->capacity, *gpus = problem->gpu_capacity;

    memset(capacity, 0, (size_t)problem->host_count * sizeof *capacity);
    memset(gpus, 0, (size_t)problem->host_count * sizeof *gpus);
    for (int32_t r = 0; r < n; r++) {
        int32_t h = problem->fixed_host[r];

        if (h < 0)
            continue;
        capacity[h] += !nw_problem_needs_core(problem, r);
        gpus[h] += problem->wants_gpu[r] && !nw_problem_needs_gpu(problem, r);
    }
    for (int32_t h = 0; h < problem->host_count; h++) {
        int64_t most = slots ? slots[h] : INT32_MAX;
        int64_t cores = capacity[h] + nw_units_capacity(&problem->core, h);
        int64_t all_gpus = gpus[h] + nw_units_capacity(&problem->gpu, h);

        capacity[h] = (int32_t)(cores < most ? cores : most);
        gpus[h] = all_gpus < INT32_MAX ? (int32_t)all_gpus : INT32_MAX;
    }
}

/* Returns NW_EINVAL if more ranks are fixed on a host than it takes. */
static nw_status hosts_and_units_check_fixed(const struct nw_problem *problem)
{
    int32_t n = problem->fixed_host ? problem->pattern->rank_count : 0;
    int32_t hosts = problem->host_count, *count = NULL;
    nw_status status = nw_alloc((size_t)hosts, sizeof *count, &count);

    for (int32_t r = 0; !status && r < n; r++)
        if (problem->fixed_host[r] >= 0)
            count[problem->fixed_host[r]]++;
    for (int32_t h = 0; !status && h < hosts; h++)
        if (count[h] > problem->capacity[h])
            status = nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "%d rank%s fixed on %s, which has %d slot%s", count[h],
                nw_by_count((uint64_t)count[h], " is", "s are"),
                nw_topology_node_name(problem->topology, problem->host[h]),
                problem->capacity[h],
                nw_plural((uint64_t)problem->capacity[h]));
    free(count);
    return status;
}

nw_status nw_problem_cut_units(struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    int32_t most = problem->pattern->rank_count;
    struct hosts_and_units_work cores = {.problem = problem,
                                         .units = &problem->core,
                                         .capacity_each = options->capacity};
    /* The searches make a slot for each rank that may share a GPU, so more than
     * the number of ranks would waste memory. */
    struct hosts_and_units_work gpus = {
        .problem = problem,
        .units = &problem->gpu,
        .capacity_each =
            options->ranks_per_gpu < most ? options->ranks_per_gpu : most,
        .gpus = true};
    size_t hosts = (size_t)problem->host_count;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(hosts, problem->capacity),
                                    NW_ARRAY(hosts, problem->gpu_capacity));

    problem->core.size = options->cores_per_rank;
    problem->gpu.size = problem->uses_gpus ? options->gpus_per_rank : 1;
    if (!status)
        status = hosts_and_units_cut_all(&cores);
    if (!status)
        status = hosts_and_units_cut_all(&gpus);
    if (status)
        return status;
    nw_problem_count_capacity(problem);
    return hosts_and_units_check_fixed(problem);
}
