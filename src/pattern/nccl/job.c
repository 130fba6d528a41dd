/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores the processes and communicators of a job, and builds the pattern. */
#include "pattern/nccl/job.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
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
    /* nccl_find_phases sets `group` and `phase`. The group is NULL if not all
     * of its ranks are known; the call then has no phase. */
    const struct nccl_group *group;
    enum nw_phase phase;
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
    uint64_t skipped, lost;
    void *process_tree, *member_tree; /* trees of tsearch(3) that find a process
                                         or member */
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
        job->call[job->call_count++] =
            (struct nccl_call){.member = member, .call = *call};
    return status;
}

void nw_nccl_job_skip(struct nw_nccl_job *job, uint64_t calls)
{
    job->skipped += calls;
}

void nw_nccl_job_lose(struct nw_nccl_job *job)
{
    job->lost++;
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

/* Adds the messages of the calls of one phase. Leaves out calls whose group is
 * not known. */
static nw_status nccl_add_calls(const struct nw_nccl_job *job,
                                enum nw_phase phase,
                                nw_pattern_builder *builder)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < job->call_count; i++) {
        const struct nccl_call *call = &job->call[i];
        int32_t rank = job->member[call->member]->rank;
        struct nccl_send send = {call->group, builder, 0};

        if (!call->group || call->phase != phase)
            continue;
        send.from = call->group->rank[rank];
        status = nw_nccl_sends(&call->group->shape, rank, &call->call,
                               &(struct nw_nccl_sink){nccl_add, &send});
    }
    return status;
}

/* --- phases --- */

/* Other ranks to which a member sends; of more than two, only the number 3 is
 * kept. */
struct nccl_peers {
    int32_t rank[2];
    int count;
};

static void nccl_peers_add(struct nccl_peers *peers, int32_t rank)
{
    for (int i = 0; i < peers->count && i < 2; i++)
        if (peers->rank[i] == rank)
            return;
    if (peers->count < 2)
        peers->rank[peers->count] = rank;
    if (peers->count < 3)
        peers->count++;
}

/* Returns the kind of group that makes a call. Old versions of NCCL report an
 * all-to-all as sends to all ranks; a pipeline stage sends to two ranks at
 * most. Frameworks give consecutive ranks to the tensor groups. */
static enum nw_phase nccl_phase(const struct nccl_call *call,
                                const struct nccl_peers *peers, int32_t ranks)
{
    const struct nccl_group *group = call->group;
    enum nw_nccl_function function = call->call.function;
    int32_t size = group->shape.size;

    if (function == NW_NCCL_ALL_TO_ALL ||
        (function == NW_NCCL_SEND && peers->count > 2))
        return NW_PHASE_EXPERT;
    if (function == NW_NCCL_SEND)
        return NW_PHASE_PIPELINE;
    if (size >= ranks)
        return NW_PHASE_DATA;
    for (int32_t i = 1; i < size; i++)
        if (group->rank[i] != group->rank[0] + i)
            return NW_PHASE_DATA;
    return NW_PHASE_TENSOR;
}

/* Sets the group and the phase of each call. */
static nw_status nccl_find_phases(struct nw_nccl_job *job,
                                  const struct nccl_groups *groups)
{
    struct nccl_peers *peers = NULL;
    nw_status status = nw_alloc(job->member_count, sizeof *peers, &peers);

    for (size_t i = 0; !status && i < job->call_count; i++) {
        const struct nccl_call *call = &job->call[i];

        if (call->call.function == NW_NCCL_SEND &&
            call->call.root != job->member[call->member]->rank)
            nccl_peers_add(&peers[call->member], call->call.root);
    }
    for (size_t i = 0; !status && i < job->call_count; i++) {
        struct nccl_call *call = &job->call[i];

        call->group = nw_nccl_group_of(groups, job->member[call->member]->comm);
        if (call->group)
            call->phase =
                nccl_phase(call, &peers[call->member], groups->rank_count);
    }
    free(peers);
    return status;
}

/* Which phase sends the most bytes over each edge of a pattern. */
struct nccl_edges {
    const nw_pattern *pattern;
    uint8_t *phase_of; /* [edges] the phase that sends the most bytes over the
                          edge */
    uint64_t *most;    /* [edges] the bytes that this phase sends over the
                          edge */
};

/* Enters `phase` as the phase of the edges over which no phase before it sends
 * more bytes. `part` has the messages of this phase. */
static void nccl_claim_edges(const struct nccl_edges *edges, int phase,
                             const nw_pattern *part)
{
    for (int32_t r = 0; r < part->rank_count; r++)
        for (size_t e = part->row[r]; e < part->row[r + 1]; e++) {
            size_t at = nw_pattern_find(edges->pattern, r, part->dst[e]);

            if (part->bytes[e] < edges->most[at])
                continue;
            edges->most[at] = part->bytes[e];
            edges->phase_of[at] = (uint8_t)phase;
        }
}

/* Divides the pattern into phases. part[p] has the messages of phase p. */
static nw_status nccl_set_phases(nw_pattern *const part[NW_PHASE_COUNT],
                                 nw_pattern *pattern)
{
    struct nccl_edges edges = {.pattern = pattern};
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(pattern->edge_count, edges.most),
                     NW_ARRAY(pattern->edge_count, edges.phase_of));

    for (int p = 0; !status && p < NW_PHASE_COUNT; p++)
        nccl_claim_edges(&edges, p, part[p]);
    if (!status)
        status = nw_pattern_set_phases(pattern, edges.phase_of);
    NW_FREE_ALL(edges.most, edges.phase_of);
    return status;
}

/* --- the pattern --- */

static nw_status nccl_add_part(nw_pattern_builder *builder,
                               const nw_pattern *part)
{
    nw_status status = NW_OK;

    for (int32_t r = 0; r < part->rank_count; r++)
        for (size_t e = part->row[r]; !status && e < part->row[r + 1]; e++)
            status =
                nw_pattern_builder_add(builder, r, part->dst[e], NW_KIND_GG,
                                       part->bytes[e], part->messages[e]);
    return status;
}

/* Builds a pattern for each phase, then their sum, the pattern of the job, and
 * divides this pattern into the phases. */
static nw_status nccl_make_pattern(const struct nw_nccl_job *job,
                                   nw_pattern_builder *builder,
                                   nw_pattern **pattern)
{
    nw_pattern *part[NW_PHASE_COUNT] = {NULL};
    nw_status status = NW_OK;

    for (int p = 0; !status && p < NW_PHASE_COUNT; p++) {
        status = nccl_add_calls(job, (enum nw_phase)p, builder);
        if (!status)
            status = nw_pattern_builder_build(builder, &part[p]);
    }
    for (int p = 0; !status && p < NW_PHASE_COUNT; p++)
        status = nccl_add_part(builder, part[p]);
    if (!status)
        status = nw_pattern_builder_build(builder, pattern);
    if (!status && (*pattern)->edge_count)
        status = nccl_set_phases(part, *pattern);
    for (int p = 0; p < NW_PHASE_COUNT; p++)
        nw_pattern_free(part[p]);
    return status;
}

static nw_status nccl_describe(const struct nw_nccl_job *job,
                               const struct nccl_groups *groups,
                               nw_pattern *pattern)
{
    struct nw_text text = {0};
    nw_status status;

    nw_text_format(&text, "NCCL calls of %zu process%s in %zu communicator%s",
                   job->process_count,
                   nw_by_count((uint64_t)job->process_count, "", "es"),
                   groups->count, nw_plural((uint64_t)groups->count));
    if (groups->is_guessed)
        nw_text_add(&text, "; without RANK, ranks are in the order of hosts, "
                           "processes and GPUs");
    if (job->skipped)
        nw_text_format(&text, "; %llu call%s of functions without a model",
                       (unsigned long long)job->skipped,
                       nw_plural((uint64_t)job->skipped));
    status = nw_text_take(&text, &pattern->note);
    if (status || (!groups->incomplete && !job->lost))
        return status;
    if (groups->incomplete)
        nw_text_format(&text,
                       "%zu communicator%s ranks whose processes left no "
                       "file, and %s not counted",
                       groups->incomplete,
                       nw_by_count(groups->incomplete, " lacks", "s lack"),
                       nw_by_count(groups->incomplete, "is", "are"));
    if (job->lost)
        nw_text_format(&text,
                       "%scalls that could not be read, or whose communicator "
                       "starts outside the log: %llu",
                       groups->incomplete ? "; " : "",
                       (unsigned long long)job->lost);
    return nw_text_take(&text, &pattern->partial);
}

nw_status nw_nccl_job_build(struct nw_nccl_job *job, const char *path,
                            const char *remedy, nw_pattern **out)
{
    struct nccl_groups groups = {0};
    nw_pattern_builder *builder = NULL;
    nw_pattern *pattern = NULL;
    struct nccl_lists lists = {job->process, job->process_count,
                               job->member,  job->member_count,
                               job->ring,    job->ring_count};
    nw_status status;

    if (!job->member_count)
        return nw_fail(NW_EFORMAT, "%s: no communicator of NCCL%s", path,
                       remedy);
    status = nw_nccl_groups_init(&groups, &lists);
    if (!status && groups.rank_count > NCCL_MOST_RANKS)
        status =
            nw_fail(NW_EFORMAT, "%s: a job of %d rank%s is too large", path,
                    groups.rank_count, nw_plural((uint64_t)groups.rank_count));
    if (!status)
        status = nw_pattern_builder_new(groups.rank_count, &builder);
    if (!status)
        status = nccl_find_phases(job, &groups);
    if (!status)
        status = nccl_make_pattern(job, builder, &pattern);
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
