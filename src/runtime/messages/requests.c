/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a request of ours still has to do, by its handle, until the program
 * sees its end. An MPI library may give the same handle to several requests
 * that were done at once: then all of them are.
 */
#include "runtime/messages/staging.h"

#include "runtime/warn.h"

#include <nodewise/status.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { BUCKETS = 256 };

struct kept {
    struct kept *next;
    MPI_Request request;
    bool persistent, active, whole;
    struct nw_whose whose;
    const char *call;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    bool owned; /* its datatype */
    /* what the status of a message that went the direct way, or was set aside,
     * is to say: MPI tells of the envelope */
    bool opened;
    bool held; /* a persistent receive that is done, and MPI knows nothing of */
    int source, tag;
    MPI_Count bytes;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct kept *table[BUCKETS];
static struct kept *orphans; /* freed by the program while under way */
static int held_count;
int nw_kept_count;

bool nw_requests_are_kept(void)
{
    return __builtin_expect(__atomic_load_n(&nw_kept_count, __ATOMIC_RELAXED),
                            0);
}

static struct kept **bucket_of(MPI_Request request)
{
    uint64_t key = (uint64_t)(uintptr_t)request;

    return &table[(key ^ key >> 7 ^ key >> 15) % BUCKETS];
}

static void let_go(struct kept *kept)
{
    if (kept->held)
        __atomic_sub_fetch(&held_count, 1, __ATOMIC_RELAXED);
    kept->held = false;
}

static void kept_free(struct kept *kept)
{
    for (int i = 0; i < kept->count; i++)
        nw_buffer_free(kept->buffer[i]);
    nw_given_end(kept->caught.from, NULL);
    let_go(kept);
    if (kept->owned)
        NW_PMPI(Type_free)(&kept->caught.type);
    free(kept);
}

/* The program may free its datatype before the request is done. */
static void keep_type(struct kept *kept)
{
    struct nw_catch *caught = &kept->caught;
    MPI_Datatype type = caught->type;
    int ints, addresses, types, combiner = MPI_COMBINER_NAMED;

    if (caught->on)
        NW_PMPI(Type_get_envelope)(type, &ints, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED ||
        NW_PMPI(Type_dup)(type, &caught->type))
        return;
    kept->owned = true;
    if (caught->as == type)
        caught->as = caught->type;
}

static void reap(void);

int nw_stage_keep(struct nw_stage *stage, int rc, MPI_Request request,
                  struct nw_whose whose)
{
    struct kept *kept = rc ? NULL : calloc(1, sizeof *kept);

    if (!kept) {
        nw_direct_unsent(stage->buffer, stage->count);
        nw_given_end(stage->caught.from, NULL);
        for (int i = 0; i < stage->count; i++)
            nw_buffer_free(stage->buffer[i]);
        return rc ? rc : MPI_ERR_NO_MEM;
    }
    reap();
    *kept = (struct kept){.request = request,
                          .persistent = stage->persistent,
                          .active = !stage->persistent,
                          .whole = stage->whole,
                          .whose = whose,
                          .call = stage->call,
                          .count = stage->count,
                          .caught = stage->caught};
    keep_type(kept);
    memcpy(kept->buffer, stage->buffer, sizeof kept->buffer);
    pthread_mutex_lock(&lock);
    kept->next = *bucket_of(request);
    *bucket_of(request) = kept;
    __atomic_add_fetch(&nw_kept_count, 1, __ATOMIC_RELAXED);
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

/* Out of the table; those of persistent requests only where `all`. */
static struct kept *take(MPI_Request request, bool all)
{
    struct kept *taken = NULL, **at = bucket_of(request);

    pthread_mutex_lock(&lock);
    while (*at) {
        struct kept *kept = *at;

        if (kept->request == request && (all || !kept->persistent)) {
            *at = kept->next;
            kept->next = taken;
            taken = kept;
            __atomic_sub_fetch(&nw_kept_count, 1, __ATOMIC_RELAXED);
        } else {
            at = &kept->next;
        }
    }
    pthread_mutex_unlock(&lock);
    return taken;
}

static bool is_persistent(const struct kept *kept)
{
    return kept->persistent;
}

static bool is_active(const struct kept *kept)
{
    return kept->active;
}

static bool is_opened(const struct kept *kept)
{
    return kept->opened;
}

static bool is_held(const struct kept *kept)
{
    return kept->held;
}

static struct kept *find(MPI_Request request, bool (*is)(const struct kept *))
{
    struct kept *kept;

    pthread_mutex_lock(&lock);
    kept = *bucket_of(request);
    while (kept && (kept->request != request || !is(kept)))
        kept = kept->next;
    pthread_mutex_unlock(&lock);
    return kept;
}

/* Its end was looked at before, where MPI tells of the envelope. */
static void see_again(const struct kept *kept, MPI_Status *status)
{
    if (!kept->opened)
        return;
    status->MPI_SOURCE = kept->source;
    status->MPI_TAG = kept->tag;
    NW_PMPI(Status_set_elements_x)(status, MPI_BYTE, kept->bytes);
}

static void remember(struct kept *kept, const MPI_Status *status)
{
    kept->opened = true;
    kept->source = status->MPI_SOURCE;
    kept->tag = status->MPI_TAG;
    kept->bytes = (MPI_Count)nw_stage_received(status);
}

/* Whether an envelope was opened. */
static bool open_caught(struct kept *kept, MPI_Status *status, int *rc)
{
    bool opened, given = kept->caught.from != NULL;

    nw_given_end(kept->caught.from, status);
    kept->caught.from = NULL;
    opened = nw_envelope_open(&kept->caught, status, rc);
    if (opened || given)
        remember(kept, status);
    return opened;
}

/* The program sees the end of it: what came goes where it belongs. */
static int finish(struct kept *kept, MPI_Status *status)
{
    nw_status bad = NW_OK;
    int cancelled = 0, rc = MPI_SUCCESS;
    uint64_t most;

    if (!kept->active) {
        see_again(kept, status);
        return MPI_SUCCESS;
    }
    kept->active = false;
    if (!kept->whole) // what cannot be cancelled may say anything
        NW_PMPI(Test_cancelled)(status, &cancelled);
    if (cancelled)
        nw_direct_unsent(kept->buffer, kept->count);
    else if (kept->caught.on && open_caught(kept, status, &rc))
        return nw_stage_raise(kept->whose, rc);
    most = kept->whole ? UINT64_MAX : nw_stage_received(status);
    for (int i = 0; i < kept->count && !bad && !cancelled; i++)
        if (kept->buffer[i]->way & NW_WRITE)
            bad = nw_buffer_empty(kept->buffer[i], most);
    return bad ? nw_stage_error(kept->whose, kept->call, nw_error_text())
               : MPI_SUCCESS;
}

static int finish_all(struct kept *kept, MPI_Status *status)
{
    struct kept *next;
    int rc = MPI_SUCCESS;

    for (; kept; kept = next) {
        int one = status ? finish(kept, status) : MPI_SUCCESS;

        next = kept->next;
        kept_free(kept);
        rc = rc ? rc : one;
    }
    return rc;
}

int nw_request_end(MPI_Request request, MPI_Status *status)
{
    struct kept *persistent;
    int paired;

    if (request == MPI_REQUEST_NULL)
        return MPI_SUCCESS;
    if (nw_pair_end(request, status, &paired))
        return paired;
    persistent = find(request, is_persistent);
    if (persistent && !status) {
        persistent->active = false;
    } else if (persistent) {
        int rc = finish(persistent, status);

        persistent->opened = false;
        let_go(persistent);
        return rc;
    }
    return finish_all(take(request, false), status);
}

int nw_message_wait(__typeof__(&MPI_Wait) next, MPI_Request *request,
                    MPI_Status *status)
{
    MPI_Request handle = *request;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad;

    nw_pairs_await(1, request);
    rc = next(request, seen);
    bad = nw_request_end(handle, rc ? NULL : seen);
    return rc ? rc : bad;
}

int nw_message_test(__typeof__(&MPI_Test) next, MPI_Request *request, int *flag,
                    MPI_Status *status)
{
    MPI_Request handle = *request;
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad = MPI_SUCCESS;

    nw_pairs_look();
    rc = next(request, flag, seen);
    if (rc || *flag)
        bad = nw_request_end(handle, rc ? NULL : seen);
    return rc ? rc : bad;
}

int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status)
{
    if (!__atomic_load_n(&held_count, __ATOMIC_RELAXED))
        return -1;
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL && find(requests[i], is_held)) {
            NW_PMPI(Status_set_cancelled)(status, 0);
            status->MPI_ERROR = MPI_SUCCESS;
            (void)nw_request_end(requests[i], status);
            return i;
        }
    return -1;
}

/* Those of a request that lives on stay, for its status. */
static int look(MPI_Request request, MPI_Status *status)
{
    struct kept *kept;
    int rc = MPI_SUCCESS;

    while ((kept = find(request, is_active)) != NULL) {
        int one = finish(kept, status);

        rc = rc ? rc : one;
    }
    kept = find(request, is_opened);
    if (kept)
        see_again(kept, status);
    return rc;
}

/* The request lives on, but its end was seen: the buffer must be right. */
int nw_message_look(__typeof__(&MPI_Request_get_status) next,
                    MPI_Request request, int *flag, MPI_Status *status)
{
    MPI_Status own, *seen = status == MPI_STATUS_IGNORE ? &own : status;
    int rc, bad = MPI_SUCCESS;

    nw_pairs_look();
    rc = next(request, flag, seen);
    if (!rc && *flag && !nw_pair_see(request, seen, &bad))
        bad = look(request, seen);
    return rc ? rc : bad;
}

/* Freed while under way: we wait for it in the program's place. */
int nw_message_free(__typeof__(&MPI_Request_free) next, MPI_Request *request)
{
    struct kept *kept;
    bool under_way;

    if (nw_pair_free(request))
        return MPI_SUCCESS;
    kept = *request == MPI_REQUEST_NULL ? NULL : take(*request, true);
    under_way = kept && kept->active && !kept->next;
    if (!under_way) {
        (void)finish_all(kept, NULL);
        return next(request);
    }
    pthread_mutex_lock(&lock);
    kept->next = orphans;
    orphans = kept;
    pthread_mutex_unlock(&lock);
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
}

/* Those orphans that are done; all sends among them where `wait`. */
static void settle(bool wait)
{
    struct kept **at = &orphans;

    while (*at) {
        struct kept *kept = *at;
        MPI_Request handle = kept->request;
        MPI_Status status;
        int flag = 0;

        if (wait && kept->count && kept->buffer[0]->way & NW_READ)
            flag = !NW_PMPI(Wait)(&handle, &status);
        else if (NW_PMPI(Test)(&handle, &flag, &status))
            flag = 0;
        if (!flag) {
            at = &kept->next;
            continue;
        }
        *at = kept->next;
        (void)finish(kept, &status);
        if (kept->persistent)
            NW_PMPI(Request_free)(&handle);
        kept_free(kept);
    }
}

static void reap(void)
{
    if (!__atomic_load_n(&orphans, __ATOMIC_RELAXED))
        return;
    pthread_mutex_lock(&lock);
    settle(false);
    pthread_mutex_unlock(&lock);
}

void nw_requests_finish(void)
{
    settle(true);
    nw_pairs_finish();
}

static int fill(struct kept *kept)
{
    nw_status bad = NW_OK;

    for (int i = 0; i < kept->count && !bad; i++)
        if (kept->buffer[i]->slot)
            bad = nw_direct_again(kept->buffer[i]);
        else if (kept->buffer[i]->way & NW_READ)
            bad = nw_buffer_fill(kept->buffer[i], false);
    kept->active = !bad;
    return bad ? nw_stage_error(kept->whose, kept->call, nw_error_text())
               : MPI_SUCCESS;
}

/* A persistent receive of a message that a probe set aside is done at once, and
 * MPI's request stays as it is. */
static int hold(struct kept *kept, MPI_Message message)
{
    MPI_Status status;
    int rc = NW_LARGE(Mrecv)(kept->caught.buffer, (nw_units)kept->caught.count,
                             kept->caught.type, &message, &status);

    remember(kept, &status);
    kept->held = true;
    __atomic_add_fetch(&held_count, 1, __ATOMIC_RELAXED);
    return rc;
}

/* What is done of it before MPI starts it. */
struct begun {
    struct kept *kept; /* NULL: none of ours */
    bool held, was_active;
};

static int begin(MPI_Request request, struct begun *out)
{
    struct kept *kept = find(request, is_persistent);
    MPI_Message message;

    *out = (struct begun){.kept = kept, .was_active = kept && kept->active};
    if (!kept)
        return MPI_SUCCESS;
    out->held = kept->caught.on &&
                __atomic_load_n(&nw_asides, __ATOMIC_RELAXED) &&
                nw_aside_take(kept->caught.match, &message);
    return out->held ? hold(kept, message) : fill(kept);
}

/* MPI did not start it: nobody will fetch what it was to send. */
static int end_start(const struct begun *one, int rc)
{
    if (rc && one->kept) {
        nw_direct_unsent(one->kept->buffer, one->kept->count);
        one->kept->active = one->was_active;
    }
    return rc;
}

int nw_message_start(__typeof__(&MPI_Start) next, MPI_Request *request)
{
    struct begun one;
    int rc = begin(*request, &one);

    return rc || one.held ? rc : end_start(&one, next(request));
}

/* One at a time: where one fails it must be known which did start. */
int nw_message_startall(__typeof__(&MPI_Startall) next, int count,
                        MPI_Request *requests)
{
    struct begun one;
    int rc = MPI_SUCCESS;

    for (int i = 0; i < count && !rc; i++) {
        rc = begin(requests[i], &one);
        if (!rc && !one.held)
            rc = end_start(&one, next(1, &requests[i]));
    }
    return rc;
}
