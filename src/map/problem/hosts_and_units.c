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
            status = nw_fail(NW_EINVAL, "host %d is not one of %zu nodes", node,
                             nodes);
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
    int32_t *capacity; /* [most members of any node] how many more ranks each
                          member of the present node takes */
    /* [most members of any node] scratch: members that take more ranks */
    int32_t *free_members;
    /* how many ranks a member takes if none is fixed to it */
    int32_t capacity_each;
    bool gpus; /* true: members are GPUs; false: they are cores */
};

/* Returns the number of cores, or GPUs, of a host. */
static int32_t
hosts_and_units_member_count(const struct hosts_and_units_work *cut,
                             int32_t host)
{
    const struct nw_problem *problem = cut->problem;
    int32_t node = problem->host[host];

    return cut->gpus ? nw_topology_node_gpus(problem->topology, node).count
                     : nw_topology_node_elements(problem->topology, node).count;
}

/* Returns the package of member m (a core or GPU) of a host, so that units can
 * be kept within one package. */
static int32_t
hosts_and_units_member_package(const struct hosts_and_units_work *cut,
                               int32_t host, int32_t m)
{
    const nw_topology *topology = cut->problem->topology;
    int32_t node = cut->problem->host[host];

    if (cut->gpus)
        return nw_topology_gpu_package(
            topology, nw_topology_node_gpus(topology, node).first + m);
    return nw_topology_element_package(
        topology, nw_topology_node_elements(topology, node).first + m);
}

/* Adds a unit that consists of the units->size cores, or GPUs, in members[].
 * The capacity of the unit is the smallest capacity of its members. Increases
 * *count, the number of units so far. */
static void hosts_and_units_add_unit(struct hosts_and_units_work *cut,
                                     int32_t *count, const int32_t *members)
{
    struct nw_units *units = cut->units;
    int32_t capacity = cut->capacity_each;

    for (int32_t i = 0; i < units->size; i++) {
        units->member[(size_t)*count * (size_t)units->size + (size_t)i] =
            members[i];
        capacity = cut->capacity[members[i]] < capacity
                       ? cut->capacity[members[i]]
                       : capacity;
    }
    units->capacity[(*count)++] = capacity;
}

/* Divides the first free_count entries of cut->free_members (cores or GPUs of a
 * host) into units of units->size members. First makes units of members that
 * follow each other in one package, then units across packages from the other
 * members. Members that are too few for another unit stay unused. Overwrites
 * cut->free_members, and increases *count, the number of units so far. */
static void hosts_and_units_cut_free(struct hosts_and_units_work *cut,
                                     int32_t host, int32_t free_count,
                                     int32_t *count)
{
    int32_t *members = cut->free_members, size = cut->units->size;
    int32_t left = 0, begin = 0;

    while (begin < free_count) {
        int32_t package =
            hosts_and_units_member_package(cut, host, members[begin]);
        int32_t end = begin + 1;

        while (end < free_count && end - begin < size &&
               hosts_and_units_member_package(cut, host, members[end]) ==
                   package)
            end++;
        if (end - begin == size)
            hosts_and_units_add_unit(cut, count, members + begin);
        else
            while (begin < end)
                members[left++] = members[begin++];
        begin = end;
    }
    for (int32_t i = 0; size <= left - i; i += size)
        hosts_and_units_add_unit(cut, count, members + i);
}

/* Makes each core, or GPU, of a host a unit. Used for hosts without fixed ranks
 * if a unit has one member, which is the usual case. Increases *count, the
 * number of units so far. */
static void hosts_and_units_cut_plain(struct hosts_and_units_work *cut,
                                      int32_t host, int32_t *count)
{
    struct nw_units *units = cut->units;
    int32_t members = hosts_and_units_member_count(cut, host), at = *count;

    for (int32_t m = 0; m < members; m++) {
        units->member[at + m] = m;
        units->capacity[at + m] = cut->capacity_each;
    }
    *count += members;
}

/* Divides the cores, or GPUs, of a host into units. Leaves out those that take
 * no more ranks because fixed ranks use them. Increases *count, the number of
 * units so far. */
static void hosts_and_units_cut_node(struct hosts_and_units_work *cut,
                                     int32_t host, int32_t *count)
{
    int32_t members = hosts_and_units_member_count(cut, host), free_count = 0;

    for (int32_t m = 0; m < members; m++)
        if (cut->capacity[m] > 0)
            cut->free_members[free_count++] = m;
    if (cut->units->size > 1) {
        hosts_and_units_cut_free(cut, host, free_count, count);
        return;
    }
    for (int32_t i = 0; i < free_count; i++)
        hosts_and_units_add_unit(cut, count, cut->free_members + i);
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

    if (m < 0 || m >= hosts_and_units_member_count(cut, host))
        return nw_fail_about(NW_FIXED(rank), NW_EINVAL,
                             "rank %d is fixed on %s %d, which %s lacks", rank,
                             what, m, name);
    if (--cut->capacity[m] < 0)
        return nw_fail_about(
            NW_FIXED(rank), NW_EINVAL,
            "rank %d is fixed on %s %d of %s, which other fixed ranks fill",
            rank, what, m, name);
    return NW_OK;
}

/* Lowers the capacities of the cores, or GPUs, of a host to which ranks are
 * fixed. `ranks` lists the ranks that are fixed on the host. */
static nw_status hosts_and_units_take_fixed(struct hosts_and_units_work *cut,
                                            int32_t host,
                                            const struct nw_ints *ranks)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < ranks->count; i++) {
        int32_t rank = ranks->values[i];
        struct nw_ints set = cut->gpus
                                 ? nw_problem_fixed_gpus(cut->problem, rank)
                                 : nw_problem_fixed_cores(cut->problem, rank);

        for (size_t k = 0; !status && k < set.count; k++)
            status = hosts_and_units_take_one(cut, rank, host, set.values[k]);
    }
    return status;
}

/* The ranks fixed on host h are rank[row[h]] .. rank[row[h + 1] - 1]. */
struct hosts_and_units_fixed_ranks {
    int32_t *row, *rank;
};

/* Lists the ranks that are fixed on each host. */
static nw_status
hosts_and_units_list_fixed(const struct nw_problem *problem,
                           struct hosts_and_units_fixed_ranks *list)
{
    size_t hosts = (size_t)problem->host_count;
    int32_t n = problem->fixed_host ? problem->pattern->rank_count : 0;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(hosts + 2, list->row),
                                    NW_ARRAY((size_t)n, list->rank));

    if (!status)
        nw_list_by_group(problem->fixed_host, n, problem->host_count, list->row,
                         list->rank);
    return status;
}

/* Allocates as many units as there are cores, or GPUs, in all hosts, which is
 * the largest number that can be needed, and the arrays of `cut`. */
static nw_status hosts_and_units_size_units(struct hosts_and_units_work *cut)
{
    struct nw_units *units = cut->units;
    int32_t hosts = cut->problem->host_count, most = 0;
    size_t total = 0;

    for (int32_t h = 0; h < hosts; h++) {
        int32_t members = hosts_and_units_member_count(cut, h);

        most = members > most ? members : most;
        total += (size_t)members;
    }
    return NW_ALLOC_ALL(NW_ARRAY((size_t)hosts + 1, units->first),
                        NW_ARRAY_RAW(total, units->member),
                        NW_ARRAY_RAW(total, units->capacity),
                        NW_ARRAY((size_t)most, cut->capacity),
                        NW_ARRAY((size_t)most, cut->free_members));
}

/* Divides the cores, or GPUs, of a host into units if ranks are fixed on it or
 * if a unit has several members. `fixed` lists the ranks that are fixed on the
 * host. Increases *count, the number of units so far. */
static nw_status hosts_and_units_cut_among(struct hosts_and_units_work *cut,
                                           int32_t host,
                                           const struct nw_ints *fixed,
                                           int32_t *count)
{
    int32_t members = hosts_and_units_member_count(cut, host);
    nw_status status;

    for (int32_t m = 0; m < members; m++)
        cut->capacity[m] = cut->capacity_each;
    status = hosts_and_units_take_fixed(cut, host, fixed);
    if (!status)
        hosts_and_units_cut_node(cut, host, count);
    return status;
}

/* Divides the cores, or GPUs, of all hosts into units. */
static nw_status
hosts_and_units_cut_all(struct hosts_and_units_work *cut,
                        const struct hosts_and_units_fixed_ranks *fixed)
{
    int32_t count = 0;
    nw_status status = hosts_and_units_size_units(cut);

    for (int32_t h = 0; !status && h < cut->problem->host_count; h++) {
        struct nw_ints ranks = {fixed->rank + fixed->row[h],
                                (size_t)(fixed->row[h + 1] - fixed->row[h])};

        if (!ranks.count && cut->units->size == 1)
            hosts_and_units_cut_plain(cut, h, &count);
        else
            status = hosts_and_units_cut_among(cut, h, &ranks, &count);
        cut->units->first[h + 1] = count;
    }
    free(cut->capacity);
    free(cut->free_members);
    return status;
}

/* Computes how many ranks (capacity), and how many ranks with GPUs
 * (gpu_capacity), each host takes: the sum of the capacities of its core (GPU)
 * units plus the number of ranks with a fixed core (GPU). `capacity` is at most
 * the host's slots. */
static nw_status
hosts_and_units_count_capacity(struct nw_problem *problem,
                               const struct hosts_and_units_fixed_ranks *fixed)
{
    size_t hosts = (size_t)problem->host_count;
    const int32_t *slots = problem->options.slots;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(hosts, problem->capacity),
                                    NW_ARRAY(hosts, problem->gpu_capacity));

    for (size_t h = 0; !status && h < hosts; h++) {
        int64_t capacity = 0, gpu_capacity = 0;

        for (int32_t u = problem->core.first[h]; u < problem->core.first[h + 1];
             u++)
            capacity += problem->core.capacity[u];
        for (int32_t u = problem->gpu.first[h]; u < problem->gpu.first[h + 1];
             u++)
            gpu_capacity += problem->gpu.capacity[u];
        for (int32_t i = fixed->row[h]; i < fixed->row[h + 1]; i++) {
            capacity += !nw_problem_needs_core(problem, fixed->rank[i]);
            gpu_capacity += problem->wants_gpu[fixed->rank[i]] &&
                            !nw_problem_needs_gpu(problem, fixed->rank[i]);
        }
        if (slots && slots[h] < capacity)
            capacity = slots[h];
        problem->capacity[h] =
            capacity < INT32_MAX ? (int32_t)capacity : INT32_MAX;
        problem->gpu_capacity[h] =
            gpu_capacity < INT32_MAX ? (int32_t)gpu_capacity : INT32_MAX;
    }
    return status;
}

/* Returns NW_EINVAL if more ranks are fixed on a host than it takes. */
static nw_status
hosts_and_units_check_fixed(const struct nw_problem *problem,
                            const struct hosts_and_units_fixed_ranks *fixed)
{
    for (int32_t h = 0; h < problem->host_count; h++) {
        int32_t count = fixed->row[h + 1] - fixed->row[h];

        if (count > problem->capacity[h])
            return nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "%d ranks are fixed on %s, which has %d slots", count,
                nw_topology_node_name(problem->topology, problem->host[h]),
                problem->capacity[h]);
    }
    return NW_OK;
}

/* Returns how many ranks may share a GPU. The searches make a slot for each of
 * them, so more than the number of ranks would waste memory. */
static int32_t hosts_and_units_ranks_of_gpu(const struct nw_problem *problem)
{
    int32_t most = problem->pattern->rank_count;
    int32_t asked = problem->options.ranks_per_gpu;

    return asked < most ? asked : most;
}

nw_status nw_problem_cut_units(struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    struct hosts_and_units_work cores = {.problem = problem,
                                         .units = &problem->core,
                                         .capacity_each = options->capacity};
    struct hosts_and_units_work gpus = {
        .problem = problem,
        .units = &problem->gpu,
        .capacity_each = hosts_and_units_ranks_of_gpu(problem),
        .gpus = true};
    struct hosts_and_units_fixed_ranks fixed = {0};
    nw_status status = hosts_and_units_list_fixed(problem, &fixed);

    problem->core.size = options->cores_per_rank;
    problem->gpu.size = problem->uses_gpus ? options->gpus_per_rank : 1;
    if (!status)
        status = hosts_and_units_cut_all(&cores, &fixed);
    if (!status)
        status = hosts_and_units_cut_all(&gpus, &fixed);
    if (!status)
        status = hosts_and_units_count_capacity(problem, &fixed);
    if (!status)
        status = hosts_and_units_check_fixed(problem, &fixed);
    free(fixed.row);
    free(fixed.rank);
    return status;
}
