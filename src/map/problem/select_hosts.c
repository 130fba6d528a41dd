/* SPDX-License-Identifier: BSD-3-Clause */
/* Which nodes take part, and what ranks are put on in them: the cores and GPUs
 * left by fixed ranks, cut into units of the size a rank takes. */
#include "map/problem/problem.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

static nw_status check_hosts(const struct nw_problem *problem)
{
    const nw_topology *topology = problem->topology;
    int32_t nodes = nw_topology_node_count(topology);
    bool *seen;
    nw_status status = nw_alloc((size_t)nodes, sizeof *seen, &seen);

    for (int32_t h = 0; !status && h < problem->host_count; h++) {
        int32_t node = problem->host[h];

        if (node < 0 || node >= nodes)
            status = nw_fail(NW_EINVAL, "host %d is not one of %d nodes", node,
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

nw_status nw_problem_choose_hosts(struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    size_t count = options->hosts
                       ? options->host_count
                       : (size_t)nw_topology_node_count(problem->topology);
    nw_status status;

    if (!count)
        return nw_fail(NW_EINVAL, "there is no host to map onto");
    if (count > (size_t)nw_topology_node_count(problem->topology))
        return nw_fail(NW_EINVAL, "more hosts than %s has nodes",
                       nw_topology_name(problem->topology));
    status = nw_alloc(count, sizeof *problem->host, &problem->host);
    if (status)
        return status;
    problem->host_count = (int32_t)count;
    for (size_t h = 0; h < count; h++)
        problem->host[h] = options->hosts ? options->hosts[h] : (int32_t)h;
    return options->hosts ? check_hosts(problem) : NW_OK;
}

/* What is being cut: one node's cores or GPUs. */
struct cutting {
    struct nw_problem *problem;
    struct nw_units *units;
    int32_t *room; /* [most in a node] ranks each member still takes */
    int32_t *free_members;
    int32_t room_each;
    bool gpus;
};

static int32_t member_count(const struct cutting *cut, int32_t host)
{
    const struct nw_problem *problem = cut->problem;
    int32_t node = problem->host[host];

    return cut->gpus ? nw_topology_node_gpus(problem->topology, node).count
                     : nw_topology_node_elements(problem->topology, node).count;
}

/* Package of member m of a node, so that no unit spans two without need. */
static int32_t member_package(const struct cutting *cut, int32_t host,
                              int32_t m)
{
    const nw_topology *topology = cut->problem->topology;
    int32_t node = cut->problem->host[host];

    if (cut->gpus)
        return nw_topology_gpu_package(
            topology, nw_topology_node_gpus(topology, node).first + m);
    return nw_topology_element_package(
        topology, nw_topology_node_elements(topology, node).first + m);
}

static void add_unit(struct cutting *cut, int32_t *count,
                     const int32_t *members)
{
    struct nw_units *units = cut->units;
    int32_t room = cut->room_each;

    for (int32_t i = 0; i < units->size; i++) {
        units->member[(size_t)*count * (size_t)units->size + (size_t)i] =
            members[i];
        room = cut->room[members[i]] < room ? cut->room[members[i]] : room;
    }
    units->room[(*count)++] = room;
}

/* Whole units of one package first; what is left of the packages together. */
static void cut_free(struct cutting *cut, int32_t host, int32_t free_count,
                     int32_t *count)
{
    int32_t *members = cut->free_members, size = cut->units->size;
    int32_t left = 0, begin = 0;

    while (begin < free_count) {
        int32_t package = member_package(cut, host, members[begin]);
        int32_t end = begin + 1;

        while (end < free_count && end - begin < size &&
               member_package(cut, host, members[end]) == package)
            end++;
        if (end - begin == size)
            add_unit(cut, count, members + begin);
        else
            while (begin < end)
                members[left++] = members[begin++];
        begin = end;
    }
    for (int32_t i = 0; size <= left - i; i += size)
        add_unit(cut, count, members + i);
}

/* Nearly always: all members of a host, one a unit. */
static void cut_plain(struct cutting *cut, int32_t host, int32_t *count)
{
    struct nw_units *units = cut->units;
    int32_t members = member_count(cut, host), at = *count;

    for (int32_t m = 0; m < members; m++) {
        units->member[at + m] = m;
        units->room[at + m] = cut->room_each;
    }
    *count += members;
}

static void cut_node(struct cutting *cut, int32_t host, int32_t *count)
{
    int32_t members = member_count(cut, host), free_count = 0;

    for (int32_t m = 0; m < members; m++)
        if (cut->room[m] > 0)
            cut->free_members[free_count++] = m;
    if (cut->units->size > 1) {
        cut_free(cut, host, free_count, count);
        return;
    }
    for (int32_t i = 0; i < free_count; i++)
        add_unit(cut, count, cut->free_members + i);
}

static nw_status take_one(struct cutting *cut, int32_t rank, int32_t host,
                          int32_t m)
{
    const nw_topology *topology = cut->problem->topology;
    const char *what = cut->gpus ? "GPU" : "core";
    const char *name =
        nw_topology_node_name(topology, cut->problem->host[host]);

    if (m < 0 || m >= member_count(cut, host))
        return nw_fail_about(NW_FIXED(rank), NW_EINVAL,
                             "rank %d is fixed on %s %d, which %s has not",
                             rank, what, m, name);
    if (--cut->room[m] < 0)
        return nw_fail_about(NW_FIXED(rank), NW_EINVAL,
                             "rank %d is fixed on %s %d of %s, which is taken",
                             rank, what, m, name);
    return NW_OK;
}

static nw_status take_fixed(struct cutting *cut, int32_t host,
                            const struct nw_ints *ranks)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < ranks->count; i++) {
        int32_t rank = ranks->values[i];
        struct nw_ints set = cut->gpus
                                 ? nw_problem_fixed_gpus(cut->problem, rank)
                                 : nw_problem_fixed_cores(cut->problem, rank);

        for (size_t k = 0; !status && k < set.count; k++)
            status = take_one(cut, rank, host, set.values[k]);
    }
    return status;
}

/* Ranks fixed on each host: row h of a table in compressed rows. */
struct fixed_ranks {
    size_t *row;
    int32_t *rank;
};

static nw_status list_fixed(const struct nw_problem *problem,
                            struct fixed_ranks *list)
{
    size_t hosts = (size_t)problem->host_count;
    int32_t n = problem->fixed_host ? problem->pattern->rank_count : 0;
    nw_status status = nw_alloc(hosts + 2, sizeof *list->row, &list->row);

    if (!status)
        status = nw_alloc((size_t)n, sizeof *list->rank, &list->rank);
    if (status)
        return status;
    for (int32_t r = 0; r < n; r++)
        if (problem->fixed_host[r] >= 0)
            list->row[problem->fixed_host[r] + 2]++;
    for (size_t h = 2; h < hosts + 2; h++)
        list->row[h] += list->row[h - 1];
    for (int32_t r = 0; r < n; r++)
        if (problem->fixed_host[r] >= 0)
            list->rank[list->row[problem->fixed_host[r] + 1]++] = r;
    return NW_OK;
}

static nw_status size_units(struct cutting *cut)
{
    struct nw_units *units = cut->units;
    int32_t hosts = cut->problem->host_count, most = 0;
    size_t total = 0;
    nw_status status;

    for (int32_t h = 0; h < hosts; h++) {
        int32_t members = member_count(cut, h);

        most = members > most ? members : most;
        total += (size_t)members;
    }
    status = nw_alloc((size_t)hosts + 1, sizeof *units->first, &units->first);
    if (!status)
        status = nw_alloc_raw(total, sizeof *units->member, &units->member);
    if (!status)
        status = nw_alloc_raw(total, sizeof *units->room, &units->room);
    if (!status)
        status = nw_alloc((size_t)most, sizeof *cut->room, &cut->room);
    if (!status)
        status = nw_alloc((size_t)most, sizeof *cut->free_members,
                          &cut->free_members);
    return status;
}

static nw_status cut_among(struct cutting *cut, int32_t host,
                           const struct nw_ints *fixed, int32_t *count)
{
    int32_t members = member_count(cut, host);
    nw_status status;

    for (int32_t m = 0; m < members; m++)
        cut->room[m] = cut->room_each;
    status = take_fixed(cut, host, fixed);
    if (!status)
        cut_node(cut, host, count);
    return status;
}

static nw_status cut_all(struct cutting *cut, const struct fixed_ranks *fixed)
{
    int32_t count = 0;
    nw_status status = size_units(cut);

    for (int32_t h = 0; !status && h < cut->problem->host_count; h++) {
        struct nw_ints ranks = {fixed->rank + fixed->row[h],
                                fixed->row[h + 1] - fixed->row[h]};

        if (!ranks.count && cut->units->size == 1)
            cut_plain(cut, h, &count);
        else
            status = cut_among(cut, h, &ranks, &count);
        cut->units->first[h + 1] = count;
    }
    free(cut->room);
    free(cut->free_members);
    return status;
}

/* Room of a host: its units and the ranks that bring their own, at most its
 * slots. */
static nw_status count_room(struct nw_problem *problem,
                            const struct fixed_ranks *fixed)
{
    size_t hosts = (size_t)problem->host_count;
    const int32_t *slots = problem->options.slots;
    nw_status status = nw_alloc(hosts, sizeof *problem->room, &problem->room);

    if (!status)
        status = nw_alloc(hosts, sizeof *problem->gpu_room, &problem->gpu_room);
    for (size_t h = 0; !status && h < hosts; h++) {
        int64_t room = 0, gpu_room = 0;

        for (int32_t u = problem->core.first[h]; u < problem->core.first[h + 1];
             u++)
            room += problem->core.room[u];
        for (int32_t u = problem->gpu.first[h]; u < problem->gpu.first[h + 1];
             u++)
            gpu_room += problem->gpu.room[u];
        for (size_t i = fixed->row[h]; i < fixed->row[h + 1]; i++) {
            room += !nw_problem_needs_core(problem, fixed->rank[i]);
            gpu_room += problem->wants_gpu[fixed->rank[i]] &&
                        !nw_problem_needs_gpu(problem, fixed->rank[i]);
        }
        if (slots && slots[h] < room)
            room = slots[h];
        problem->room[h] = room < INT32_MAX ? (int32_t)room : INT32_MAX;
        problem->gpu_room[h] =
            gpu_room < INT32_MAX ? (int32_t)gpu_room : INT32_MAX;
    }
    return status;
}

static nw_status check_fixed(const struct nw_problem *problem,
                             const struct fixed_ranks *fixed)
{
    for (int32_t h = 0; h < problem->host_count; h++) {
        size_t count = fixed->row[h + 1] - fixed->row[h];

        if (count > (size_t)problem->room[h])
            return nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "%zu ranks are fixed on %s, which has room for %d", count,
                nw_topology_node_name(problem->topology, problem->host[h]),
                problem->room[h]);
    }
    return NW_OK;
}

/* Each rank that a GPU takes is a seat to searches: no more than there are. */
static int32_t ranks_of_gpu(const struct nw_problem *problem)
{
    int32_t most = problem->pattern->rank_count;
    int32_t asked = problem->options.ranks_per_gpu;

    return asked < most ? asked : most;
}

nw_status nw_problem_cut_units(struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    struct cutting cores = {.problem = problem,
                            .units = &problem->core,
                            .room_each = options->capacity};
    struct cutting gpus = {.problem = problem,
                           .units = &problem->gpu,
                           .room_each = ranks_of_gpu(problem),
                           .gpus = true};
    struct fixed_ranks fixed = {0};
    nw_status status = list_fixed(problem, &fixed);

    problem->core.size = options->cores_per_rank;
    problem->gpu.size = problem->uses_gpus ? options->gpus_per_rank : 1;
    if (!status)
        status = cut_all(&cores, &fixed);
    if (!status)
        status = cut_all(&gpus, &fixed);
    if (!status)
        status = count_room(problem, &fixed);
    if (!status)
        status = check_fixed(problem, &fixed);
    free(fixed.row);
    free(fixed.rank);
    return status;
}
