/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Numbers the ranks of a job, and finds the ranks of the job in each
 * communicator. Each GPU of a process is one rank of the job. The GPUs are
 * numbered first. Then each communicator gets a table that maps its own ranks
 * to ranks of the job.
 */
#include "pattern/nccl/group.h"

#include "base/array.h"
#include "base/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A GPU of a process, and its rank in the job. */
struct nccl_gpu {
    int32_t process;
    int64_t device;
    int32_t rank;
};

/* Data that the steps of nw_nccl_groups_init share. */
struct nccl_build {
    const struct nccl_lists *lists;
    struct nccl_groups *groups;
    struct nccl_member **member; /* sorted by GPU, later by communicator */
    struct nccl_gpu *gpu;
    size_t gpu_count;
};

static int nccl_by_gpu(const void *a, const void *b)
{
    const struct nccl_member *x = *(struct nccl_member *const *)a;
    const struct nccl_member *y = *(struct nccl_member *const *)b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return (x->device > y->device) - (x->device < y->device);
}

static int nccl_by_comm(const void *a, const void *b)
{
    const struct nccl_member *x = *(struct nccl_member *const *)a;
    const struct nccl_member *y = *(struct nccl_member *const *)b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->gpu > y->gpu) - (x->gpu < y->gpu);
}

static int nccl_by_owner(const void *a, const void *b)
{
    const struct nccl_member *x = *(struct nccl_member *const *)a;
    const struct nccl_member *y = *(struct nccl_member *const *)b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return nccl_by_comm(a, b);
}

/* Returns true if a process has two ranks in a communicator on GPUs that its
 * files do not name. */
static bool nccl_are_unnamed(const struct nccl_member *a,
                             const struct nccl_member *b)
{
    return a->comm == b->comm && a->device < 0 && b->device < 0;
}

/* Tells apart the GPUs of a process, which owns the `count` members, if its
 * files do not name them: by their ranks in the only communicator. Fails if the
 * process has several communicators. */
static nw_status nccl_name_gpus(const struct nccl_lists *lists,
                                struct nccl_member *const *member, size_t count)
{
    bool unnamed = false, several = false;

    for (size_t i = 1; i < count; i++) {
        unnamed |= nccl_are_unnamed(member[i - 1], member[i]);
        several |= member[i]->comm != member[i - 1]->comm;
    }
    if (unnamed && several)
        return nw_fail(NW_EUNSUPPORTED,
                       "%s: a process has several GPUs in several "
                       "communicators, and the file does not tell which GPU "
                       "has which rank",
                       lists->process[member[0]->process]->file);
    for (size_t i = 0; unnamed && i < count; i++)
        if (member[i]->device < 0)
            member[i]->device = member[i]->rank;
    return NW_OK;
}

static nw_status nccl_tell_apart(struct nccl_build *build)
{
    struct nccl_member **member = build->member;
    size_t count = build->lists->member_count;
    nw_status status = NW_OK;

    qsort(member, count, sizeof *member, nccl_by_owner);
    for (size_t i = 0, next; !status && i < count; i = next) {
        for (next = i + 1; next < count; next++)
            if (member[next]->process != member[i]->process)
                break;
        status = nccl_name_gpus(build->lists, &member[i], next - i);
    }
    return status;
}

/* Lists the different GPUs, and stores in each member the index of its GPU. */
static void nccl_find_gpus(struct nccl_build *build)
{
    struct nccl_member **member = build->member;

    qsort(member, build->lists->member_count, sizeof *member, nccl_by_gpu);
    for (size_t i = 0; i < build->lists->member_count; i++) {
        if (!i || nccl_by_gpu(&member[i - 1], &member[i]))
            build->gpu[build->gpu_count++] =
                (struct nccl_gpu){member[i]->process, member[i]->device, -1};
        member[i]->gpu = build->gpu_count - 1;
    }
}

/* --- ranks of the job --- */

/* Returns true if each process has one GPU and knows its RANK, which is less
 * than WORLD_SIZE, and all have the same WORLD_SIZE. */
static bool nccl_ranks_are_known(const struct nccl_build *build)
{
    const struct nccl_lists *lists = build->lists;
    int32_t world = lists->process[0]->world;

    for (size_t i = 0; i < build->gpu_count; i++) {
        const struct nccl_process *process =
            lists->process[build->gpu[i].process];

        if (process->rank < 0 || process->world != world ||
            process->rank >= world ||
            (i && build->gpu[i].process == build->gpu[i - 1].process))
            return false;
    }
    return true;
}

/* Numbers the GPUs by their ranks in a communicator that contains all GPUs.
 * Returns false if no communicator contains all GPUs. Members are sorted by
 * communicator. */
static bool nccl_number_by_world(struct nccl_build *build)
{
    struct nccl_member *const *member = build->member;
    size_t count = build->lists->member_count, n = build->gpu_count;

    for (size_t i = 0; i + n <= count; i++) {
        if (i && member[i]->comm == member[i - 1]->comm)
            continue;
        if (member[i + n - 1]->comm != member[i]->comm ||
            (i + n < count && member[i + n]->comm == member[i]->comm) ||
            member[i]->rank || member[i + n - 1]->rank != (int32_t)n - 1)
            continue;
        for (size_t k = 0; k < n; k++)
            build->gpu[member[i + k]->gpu].rank = member[i + k]->rank;
        return true;
    }
    return false;
}

/* A GPU and its process, for sorting. */
struct nccl_order {
    const struct nccl_process *process;
    struct nccl_gpu *gpu;
};

static int nccl_by_place(const void *a, const void *b)
{
    const struct nccl_order *x = a, *y = b;
    int order;

    if (x->process->rank != y->process->rank)
        return x->process->rank < y->process->rank ? -1 : 1;
    order = strcmp(x->process->host, y->process->host);
    if (order)
        return order;
    if (x->process->pid != y->process->pid)
        return x->process->pid < y->process->pid ? -1 : 1;
    return (x->gpu->device > y->gpu->device) -
           (x->gpu->device < y->gpu->device);
}

/* Numbers the GPUs by rank of their process, host, process id and GPU. The
 * numbers are guessed if no process knows its rank. */
static nw_status nccl_number_by_place(struct nccl_build *build)
{
    struct nccl_order *order = NULL;
    nw_status status = nw_alloc(build->gpu_count, sizeof *order, &order);

    if (status)
        return status;
    build->groups->is_guessed = true;
    for (size_t i = 0; i < build->gpu_count; i++) {
        const struct nccl_process *process =
            build->lists->process[build->gpu[i].process];

        order[i] = (struct nccl_order){process, &build->gpu[i]};
        if (process->rank >= 0)
            build->groups->is_guessed = false;
    }
    qsort(order, build->gpu_count, sizeof *order, nccl_by_place);
    for (size_t i = 0; i < build->gpu_count; i++)
        order[i].gpu->rank = (int32_t)i;
    free(order);
    return NW_OK;
}

static int nccl_by_rank(const void *a, const void *b)
{
    const struct nccl_process *x = *(struct nccl_process *const *)a;
    const struct nccl_process *y = *(struct nccl_process *const *)b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Fails if two processes have the same RANK in the job, as in a folder with the
 * files of two runs. */
static nw_status nccl_check_ranks(const struct nccl_lists *lists)
{
    struct nccl_process **process = NULL;
    size_t count = lists->process_count;
    nw_status status = nw_alloc(count, sizeof *process, &process);

    if (status)
        return status;
    memcpy(process, lists->process, count * sizeof *process);
    qsort(process, count, sizeof *process, nccl_by_rank);
    for (size_t i = 1; !status && i < count; i++)
        if (process[i]->rank >= 0 && process[i]->rank == process[i - 1]->rank)
            status = nw_fail(NW_EFORMAT,
                             "%s: rank %d is in '%s', too; remove the files "
                             "of the earlier run",
                             process[i]->file, process[i]->rank,
                             process[i - 1]->file);
    free(process);
    return status;
}

static nw_status nccl_number(struct nccl_build *build)
{
    const struct nccl_lists *lists = build->lists;
    nw_status status = nccl_check_ranks(lists);

    build->groups->rank_count = (int32_t)build->gpu_count;
    if (status)
        return status;
    if (nccl_ranks_are_known(build)) {
        build->groups->rank_count = lists->process[0]->world;
        for (size_t i = 0; i < build->gpu_count; i++)
            build->gpu[i].rank = lists->process[build->gpu[i].process]->rank;
        return NW_OK;
    }
    return nccl_number_by_world(build) ? NW_OK : nccl_number_by_place(build);
}

/* --- communicators --- */

static nw_status nccl_shape_alloc(struct nccl_group *group, int32_t size)
{
    struct nw_nccl_group *shape = &group->shape;
    size_t n = (size_t)size;
    nw_status status = nw_alloc(n, sizeof *group->rank, &group->rank);

    shape->size = size;
    if (!status)
        status = nw_alloc(n, sizeof *shape->node, &shape->node);
    if (!status)
        status = nw_alloc(n, sizeof *shape->local, &shape->local);
    if (!status)
        status = nw_alloc(n + 1, sizeof *shape->first, &shape->first);
    if (!status)
        status = nw_alloc(n, sizeof *shape->member, &shape->member);
    return status;
}

/* The host of a rank of a communicator, for sorting. */
struct nccl_host {
    const char *host;
    int32_t rank;
};

static int nccl_by_name(const void *a, const void *b)
{
    const struct nccl_host *x = a, *y = b;
    int order = strcmp(x->host, y->host);

    return order ? order : (x->rank > y->rank) - (x->rank < y->rank);
}

/* Sets shape->node[r] to the lowest rank on the host of rank r. */
static nw_status nccl_find_firsts(const struct nccl_build *build,
                                  struct nccl_member *const *member,
                                  struct nw_nccl_group *shape)
{
    struct nccl_host *host = NULL;
    nw_status status = nw_alloc((size_t)shape->size, sizeof *host, &host);

    if (status)
        return status;
    for (int32_t r = 0; r < shape->size; r++)
        host[r] = (struct nccl_host){
            build->lists->process[member[r]->process]->host, r};
    qsort(host, (size_t)shape->size, sizeof *host, nccl_by_name);
    for (int32_t i = 0, first = 0; i < shape->size; i++) {
        if (!i || strcmp(host[i].host, host[i - 1].host))
            first = host[i].rank;
        shape->node[host[i].rank] = first;
    }
    free(host);
    return NW_OK;
}

/* Numbers nodes by their lowest ranks, and lists each node's ranks. */
static nw_status nccl_find_nodes(const struct nccl_build *build,
                                 struct nccl_member *const *member,
                                 struct nw_nccl_group *shape)
{
    nw_status status = nccl_find_firsts(build, member, shape);
    int32_t *seen = NULL; /* [node] ranks counted so far */

    if (status)
        return status;
    for (int32_t r = 0; r < shape->size; r++) {
        int32_t first = shape->node[r];

        shape->node[r] = first == r ? shape->node_count++ : shape->node[first];
        shape->first[shape->node[r] + 1]++;
    }
    for (int32_t n = 0; n < shape->node_count; n++)
        shape->first[n + 1] += shape->first[n];
    status = nw_alloc((size_t)shape->node_count, sizeof *seen, &seen);
    for (int32_t r = 0; !status && r < shape->size; r++) {
        shape->local[r] = seen[shape->node[r]]++;
        shape->member[shape->first[shape->node[r]] + shape->local[r]] = r;
    }
    free(seen);
    return status;
}

/* Sets *is_complete to whether the members, sorted by rank, are all ranks of a
 * communicator. If the files do not give its size, members with ranks 0, 1, 2,
 * ... count as all. Fails if a rank occurs twice. */
static nw_status nccl_check_comm(const struct nccl_build *build,
                                 struct nccl_member *const *member,
                                 size_t count, bool *is_complete)
{
    int32_t size = 0;

    *is_complete = true;
    for (size_t i = 0; i < count; i++) {
        size = member[i]->size > size ? member[i]->size : size;
        if (i && member[i]->rank == member[i - 1]->rank)
            return nw_fail(NW_EFORMAT,
                           "%s: rank %d of communicator 0x%" PRIx64
                           " is in '%s', too",
                           build->lists->process[member[i]->process]->file,
                           member[i]->rank, member[i]->comm,
                           build->lists->process[member[i - 1]->process]->file);
        *is_complete = *is_complete && member[i]->rank == (int32_t)i;
    }
    *is_complete = *is_complete && (!size || (size_t)size == count);
    return NW_OK;
}

static nw_status nccl_add_comm(struct nccl_build *build,
                               struct nccl_member *const *member, size_t count)
{
    struct nccl_groups *groups = build->groups;
    struct nccl_group *group = &groups->group[groups->count];
    bool is_complete;
    nw_status status = nccl_check_comm(build, member, count, &is_complete);

    if (status)
        return status;
    if (!is_complete) {
        groups->incomplete++;
        return NW_OK;
    }
    groups->count++;
    group->comm = member[0]->comm;
    status = nccl_shape_alloc(group, (int32_t)count);
    for (size_t i = 0; !status && i < count; i++)
        group->rank[i] = build->gpu[member[i]->gpu].rank;
    return status ? status : nccl_find_nodes(build, member, &group->shape);
}

static nw_status nccl_add_comms(struct nccl_build *build)
{
    size_t count = build->lists->member_count;
    nw_status status =
        nw_alloc(count, sizeof *build->groups->group, &build->groups->group);

    for (size_t i = 0, next; !status && i < count; i = next) {
        for (next = i + 1; next < count; next++)
            if (build->member[next]->comm != build->member[i]->comm)
                break;
        status = nccl_add_comm(build, &build->member[i], next - i);
    }
    return status;
}

/* Adds a ring to a communicator. A ring that has another size or is not a
 * permutation of the ranks is skipped, because a log may lack lines. */
static nw_status nccl_add_ring(struct nw_nccl_group *shape,
                               const struct nccl_ring *ring)
{
    size_t n = (size_t)shape->size, c = (size_t)shape->channel_count;
    int32_t *next;

    if (ring->size != shape->size)
        return NW_OK;
    next = realloc(shape->next, (c + 1) * n * sizeof *next);
    if (!next)
        return nw_fail(NW_ENOMEM, "out of memory for a ring of NCCL");
    shape->next = next;
    for (size_t i = 0; i < n; i++)
        next[c * n + i] = -1;
    for (size_t i = 0; i < n; i++) {
        int32_t from = ring->order[i];

        if (from < 0 || from >= shape->size || next[c * n + (size_t)from] >= 0)
            return NW_OK;
        next[c * n + (size_t)from] = ring->order[(i + 1) % n];
    }
    shape->channel_count++;
    return NW_OK;
}

static int nccl_find_comm(const void *key, const void *element)
{
    uint64_t comm = *(const uint64_t *)key;
    const struct nccl_group *group = element;

    return (comm > group->comm) - (comm < group->comm);
}

static struct nccl_group *nccl_group_find(const struct nccl_groups *groups,
                                          uint64_t comm)
{
    return bsearch(&comm, groups->group, groups->count, sizeof *groups->group,
                   nccl_find_comm);
}

const struct nccl_group *nw_nccl_group_of(const struct nccl_groups *groups,
                                          uint64_t comm)
{
    return nccl_group_find(groups, comm);
}

static nw_status nccl_add_rings(struct nccl_build *build)
{
    const struct nccl_lists *lists = build->lists;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < lists->ring_count; i++) {
        struct nccl_group *group =
            nccl_group_find(build->groups, lists->ring[i].comm);

        if (group)
            status = nccl_add_ring(&group->shape, &lists->ring[i]);
    }
    for (size_t i = 0; i < build->groups->count; i++) {
        struct nw_nccl_group *shape = &build->groups->group[i].shape;

        if (!shape->channel_count) {
            free(shape->next);
            shape->next = NULL;
        }
    }
    return status;
}

nw_status nw_nccl_groups_init(struct nccl_groups *groups,
                              const struct nccl_lists *lists)
{
    struct nccl_build build = {lists, groups, NULL, NULL, 0};
    size_t count = lists->member_count;
    nw_status status = nw_alloc(count, sizeof *build.member, &build.member);

    if (!status)
        status = nw_alloc(count, sizeof *build.gpu, &build.gpu);
    if (!status) {
        if (count)
            memcpy(build.member, lists->member, count * sizeof *build.member);
        status = nccl_tell_apart(&build);
    }
    if (!status) {
        nccl_find_gpus(&build);
        qsort(build.member, count, sizeof *build.member, nccl_by_comm);
        status = nccl_number(&build);
    }
    if (!status)
        status = nccl_add_comms(&build);
    if (!status)
        status = nccl_add_rings(&build);
    free(build.member);
    free(build.gpu);
    return status;
}

void nw_nccl_groups_fini(struct nccl_groups *groups)
{
    for (size_t i = 0; groups->group && i < groups->count; i++) {
        struct nccl_group *group = &groups->group[i];

        free(group->rank);
        free(group->shape.node);
        free(group->shape.local);
        free(group->shape.first);
        free(group->shape.member);
        free(group->shape.next);
    }
    free(groups->group);
    *groups = (struct nccl_groups){0};
}
