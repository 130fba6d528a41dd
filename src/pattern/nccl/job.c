/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the processes and communicators of a job, and builds the pattern. */
#include "pattern/nccl/job.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/nccl/group.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* The maximum number of ranks, as in other formats. */
#define NCCL_MOST_RANKS (1 << 24)

/* Calls of the member with this number. */
struct nccl_call {
    size_t member;
    struct nw_nccl_call call;
};

/* All that was read from the files of a job. */
struct nw_nccl_job {
    struct nccl_process **process;
    size_t process_count, process_capacity;
    struct nccl_member **member;
    size_t member_count, member_capacity;
    struct nccl_call *call;
    size_t call_count, call_capacity;
    struct nccl_ring *ring;
    size_t ring_count, ring_capacity;
    uint64_t skipped;
    void *process_tree, *member_tree; /* trees of tsearch(3) */
};

nw_status nw_nccl_job_new(struct nw_nccl_job **out)
{
    return nw_alloc(1, sizeof **out, out);
}

/* Frees nothing: the tree's elements belong to the job's arrays. */
static void nccl_keep(void *node)
{
    (void)node;
}

void nw_nccl_job_free(struct nw_nccl_job *job)
{
    if (!job)
        return;
    tdestroy(job->process_tree, nccl_keep);
    tdestroy(job->member_tree, nccl_keep);
    for (size_t i = 0; i < job->process_count; i++) {
        free(job->process[i]->host);
        free(job->process[i]);
    }
    for (size_t i = 0; i < job->member_count; i++)
        free(job->member[i]);
    for (size_t i = 0; i < job->ring_count; i++)
        free(job->ring[i].order);
    free(job->process);
    free(job->member);
    free(job->call);
    free(job->ring);
    free(job);
}

static int nccl_by_host(const void *a, const void *b)
{
    const struct nccl_process *x = a, *y = b;
    int order = strcmp(x->host, y->host);

    return order ? order : (x->pid > y->pid) - (x->pid < y->pid);
}

static int nccl_by_process(const void *a, const void *b)
{
    const struct nccl_member *x = a, *y = b;

    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Looks up `made` in the tree by compare(), and inserts it if no equal element
 * exists. *found is the element in the tree. */
static nw_status nccl_intern(void **tree, void *made,
                             int (*compare)(const void *, const void *),
                             void ***found)
{
    *found = tsearch(made, tree, compare);
    return *found ? NW_OK : nw_fail(NW_ENOMEM, "out of memory for NCCL calls");
}

nw_status nw_nccl_job_process(struct nw_nccl_job *job,
                              const struct nw_nccl_process *process,
                              int32_t *out)
{
    struct nccl_process *made = NULL;
    void **found = NULL;
    nw_status status = nw_grow(&job->process, &job->process_capacity,
                               job->process_count + 1, sizeof *job->process);

    if (!status)
        status = nw_alloc(1, sizeof *made, &made);
    if (!status)
        status = nw_strdup(process->host, &made->host);
    if (!status) {
        made->pid = process->pid;
        made->rank = process->rank;
        made->world = process->world;
        made->file = process->file;
        made->index = (int32_t)job->process_count;
        status = nccl_intern(&job->process_tree, made, nccl_by_host, &found);
    }
    if (!status && *found == made) {
        job->process[job->process_count++] = made;
        *out = made->index;
        return NW_OK;
    }
    if (!status)
        *out = ((const struct nccl_process *)*found)->index;
    if (made)
        free(made->host);
    free(made);
    return status;
}

nw_status nw_nccl_job_member(struct nw_nccl_job *job,
                             const struct nw_nccl_member *member, size_t *out)
{
    struct nccl_member *made = NULL;
    void **found = NULL;
    nw_status status = nw_grow(&job->member, &job->member_capacity,
                               job->member_count + 1, sizeof *job->member);

    if (!status)
        status = nw_alloc(1, sizeof *made, &made);
    if (!status) {
        made->comm = member->comm;
        made->process = member->process;
        made->rank = member->rank;
        made->size = member->size;
        made->device = member->device;
        made->index = job->member_count;
        status = nccl_intern(&job->member_tree, made, nccl_by_process, &found);
    }
    if (!status && *found == made) {
        job->member[job->member_count++] = made;
        *out = made->index;
        return NW_OK;
    }
    if (!status)
        *out = ((const struct nccl_member *)*found)->index;
    free(made);
    return status;
}

nw_status nw_nccl_job_call(struct nw_nccl_job *job, size_t member,
                           const struct nw_nccl_call *call)
{
    nw_status status = nw_grow(&job->call, &job->call_capacity,
                               job->call_count + 1, sizeof *job->call);

    if (!status)
        job->call[job->call_count++] = (struct nccl_call){member, *call};
    return status;
}

void nw_nccl_job_skip(struct nw_nccl_job *job, uint64_t calls)
{
    job->skipped += calls;
}

nw_status nw_nccl_job_ring(struct nw_nccl_job *job, uint64_t comm, int32_t size,
                           int32_t *take_order)
{
    nw_status status = nw_grow(&job->ring, &job->ring_capacity,
                               job->ring_count + 1, sizeof *job->ring);

    if (status)
        free(take_order);
    else
        job->ring[job->ring_count++] =
            (struct nccl_ring){comm, size, take_order};
    return status;
}

/* --- building the pattern --- */

/* The communicator and the job's rank whose messages are being added. */
struct nccl_send {
    const struct nccl_group *group;
    nw_pattern_builder *builder;
    int32_t from;
};

static nw_status nccl_add(void *context, int32_t to, uint64_t bytes,
                          uint64_t messages)
{
    struct nccl_send *send = context;

    return nw_pattern_builder_add(send->builder, send->from,
                                  send->group->rank[to], NW_KIND_GG, bytes,
                                  messages);
}

static nw_status nccl_add_calls(const struct nw_nccl_job *job,
                                const struct nccl_groups *groups,
                                nw_pattern_builder *builder)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < job->call_count; i++) {
        const struct nccl_member *member = job->member[job->call[i].member];
        const struct nccl_group *group = nw_nccl_group_of(groups, member->comm);
        struct nccl_send send = {group, builder, 0};

        if (!group)
            continue;
        send.from = group->rank[member->rank];
        status = nw_nccl_sends(&group->shape, member->rank, &job->call[i].call,
                               &(struct nw_nccl_sink){nccl_add, &send});
    }
    return status;
}

static nw_status nccl_describe(const struct nw_nccl_job *job,
                               const struct nccl_groups *groups,
                               nw_pattern *pattern)
{
    struct nw_text text = {0};
    nw_status status;

    nw_text_format(&text, "NCCL calls of %zu processes in %zu communicators",
                   job->process_count, groups->count);
    if (groups->is_guessed)
        nw_text_add(&text, "; without RANK, ranks are in the order of hosts, "
                           "processes and GPUs");
    if (job->skipped)
        nw_text_format(&text, "; %llu calls of functions without a model",
                       (unsigned long long)job->skipped);
    status = nw_text_take(&text, &pattern->note);
    if (status || !groups->incomplete)
        return status;
    nw_text_format(&text,
                   "%zu communicators lack ranks whose processes left no file, "
                   "and are not counted",
                   groups->incomplete);
    return nw_text_take(&text, &pattern->partial);
}

nw_status nw_nccl_job_build(struct nw_nccl_job *job, const char *path,
                            nw_pattern **out)
{
    struct nccl_groups groups = {0};
    nw_pattern_builder *builder = NULL;
    nw_pattern *pattern = NULL;
    struct nccl_lists lists = {job->process, job->process_count,
                               job->member,  job->member_count,
                               job->ring,    job->ring_count};
    nw_status status;

    if (!job->member_count)
        return nw_fail(NW_EFORMAT, "%s: no communicator of NCCL", path);
    status = nw_nccl_groups_init(&groups, &lists);
    if (!status && groups.rank_count > NCCL_MOST_RANKS)
        status = nw_fail(NW_EFORMAT, "%s: a job of %d ranks is too large", path,
                         groups.rank_count);
    if (!status)
        status = nw_pattern_builder_new(groups.rank_count, &builder);
    if (!status)
        status = nccl_add_calls(job, &groups, builder);
    if (!status)
        status = nw_pattern_builder_build(builder, &pattern);
    if (!status)
        status = nccl_describe(job, &groups, pattern);
    if (!status)
        *out = pattern;
    else
        nw_pattern_free(pattern);
    nw_pattern_builder_free(builder);
    nw_nccl_groups_fini(&groups);
    return status;
}
