/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams and events of the double. One thread of each process does the work of
 * all streams. It does the work of one stream in order, but chooses the next
 * stream at random. If no event orders two pieces of work, they therefore
 * happen in any order. If FAKE_CUDA_COSTS charges a stream for its work, the
 * work is not complete before that time. The default stream and the blocking
 * streams of its context wait for each other's earlier work. During a capture,
 * the calls fail that fail with the real driver. */
#include "fake.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* The handles cudaStreamLegacy and cudaStreamPerThread, which here are the same
 * stream. */
#define LEGACY ((struct stream *)1)
#define PER_THREAD ((struct stream *)2)

enum { EVENT_SHARED = 4, STREAM_NON_BLOCKING = 1 };

/* How often an event was recorded, and how many of the recordings were reached.
 * The counts of a shared event are on a page that all processes map. */
struct counts {
    uint64_t recorded, reached;
    int32_t pid;    /* process that recorded it last */
    int32_t broken; /* its context failed, so that contexts which wait for it
                       fail, too */
    struct sharers sharers;
};

struct event {
    struct counts *counts;
    struct counts own;
    bool imported;
    struct owner owner;
    uint64_t captured; /* number of the capture in which it was recorded last */
    int fd;            /* descriptor of the page; -1 without a page, or if
                          another process made the page */
    bool page;         /* the counts are on a shared page */
};

struct stream {
    struct stream *next;
    struct op *first, **last;
    struct op *captured, **captured_last;
    bool capturing, working;
    bool blocking, is_default;
    bool invalid; /* the capture is invalid */
    int mode;
    pthread_t capturer;
    uint64_t capture; /* number of the current capture */
    int awaited;      /* number of threads that wait for it */
    struct owner owner;
    double busy_until;
};

struct handle {
    char bytes[64];
};
struct exported {
    int32_t pid, fd;
    uint32_t magic;
};
static const uint32_t MAGIC = 0x6e776576;

static struct stream *streams;
static bool started;
static uint64_t turns, captures;
static uint64_t dice = 88172645463325252u;

/* A pseudorandom number. */
static uint64_t throw_dice(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice;
}

/* Whether the recording for which the operation waits was reached. */
static bool is_reached(const struct op *op)
{
    const struct counts *counts = op->event->counts;

    return __atomic_load_n(&counts->reached, __ATOMIC_ACQUIRE) >= op->count;
}

/* Whether the event will never be reached, since its process failed or
 * ended. */
static bool is_lost(const struct event *event)
{
    return __atomic_load_n(&event->counts->broken, __ATOMIC_ACQUIRE) ||
           (event->page && kill(event->counts->pid, 0) && errno == ESRCH);
}

static bool full;

/* Makes the double behave like a GPU that other processes fill: resident
 * kernels do not begin. */
API void fake_cuda_fill(int others)
{
    pthread_mutex_lock(&fake_lock);
    full = others != 0;
    pthread_cond_broadcast(&fake_news);
    pthread_mutex_unlock(&fake_lock);
}

/* Whether the operation is a resident kernel. */
static bool stays(const struct op *op)
{
    return op->work == WORK_KERNEL && fake_stays(op->function);
}

/* The default stream of a context; the first call makes it. */
static struct stream *default_of(struct context *context)
{
    struct stream *stream = context->standard;

    if (stream)
        return stream;
    stream = calloc(1, sizeof *stream);
    if (!stream)
        abort();
    stream->last = &stream->first;
    stream->is_default = true;
    stream->owner.context = context;
    stream->next = streams;
    streams = context->standard = stream;
    return stream;
}

/* Whether earlier work holds up the work with number `turn`: for a blocking
 * stream, earlier work of the default stream, and the other way round. */
static bool is_held_up(const struct stream *stream, uint64_t turn)
{
    const struct stream *mine = stream->owner.context->standard;

    if (!stream->is_default)
        return stream->blocking && mine && mine->first &&
               mine->first->turn < turn;
    for (const struct stream *s = streams; s; s = s->next)
        if (s->blocking && s->first &&
            s->owner.context == stream->owner.context && s->first->turn < turn)
            return true;
    return false;
}

/* Whether a thread waits for the stream, or for a blocking stream whose work it
 * holds up. Late work is then done at once. */
static bool is_awaited(const struct stream *stream)
{
    if (stream->awaited)
        return true;
    for (const struct stream *s = streams; stream->is_default && s; s = s->next)
        if (s->blocking && s->awaited &&
            s->owner.context == stream->owner.context)
            return true;
    return false;
}

/* Whether the first operation of the stream can be done now. */
static bool can_work(const struct stream *stream, double now)
{
    const struct op *op = stream->first;

    return op && !stream->working && now >= stream->busy_until &&
           (now >= op->late || is_awaited(stream) || fake_broken) &&
           !is_held_up(stream, op->turn) && !(full && stays(op)) &&
           (fake_broken || op->work != WORK_WAIT || is_reached(op) ||
            is_lost(op->event));
}

/* Chooses one of the streams that can work at random; NULL if none can. */
static struct stream *choose(double now)
{
    struct stream *chosen = NULL;
    uint64_t seen = 0;

    for (struct stream *s = streams; s; s = s->next)
        if (can_work(s, now) && throw_dice() % ++seen == 0)
            chosen = s;
    return chosen;
}

static bool is_pageable(uint64_t address)
{
    int gpu;

    return !fake_is_device(address) && !fake_holds(address, 1, &gpu);
}

/* The code with which the operation fails, by FAKE_CUDA_FAIL; 0 if it does
 * not. */
static int broken_by(const struct op *op)
{
    if (op->work == WORK_KERNEL)
        return fake_fault("kernel") ? LAUNCH_FAILED : SUCCESS;
    if (op->work == WORK_COPY)
        return fake_fault("copy") ||
                       ((is_pageable(op->to.at) || is_pageable(op->from.at)) &&
                        fake_fault("pageable"))
                   ? LAUNCH_FAILED
                   : SUCCESS;
    return SUCCESS;
}

static enum cost kind_of_copy(const struct op *op)
{
    int from = 0, to = 0;

    if (!fake_is_device(op->to.at) || !fake_is_device(op->from.at))
        return COST_COPY;
    fake_holds(op->from.at, 1, &from);
    fake_holds(op->to.at, 1, &to);
    return from / 2 == to / 2 ? COST_DEVICE : COST_FAR;
}

/* The time in seconds that the operation takes. */
static double price(const struct op *op)
{
    size_t bytes = op->row_bytes * op->rows * op->planes;

    if (op->staged) /* the end of a copy, for which its caller has already
                       spent the time */
        return 0;
    if (op->work == WORK_KERNEL)
        return fake_cost(COST_KERNEL, fake_run_bytes(op->function, op->argument,
                                                     op->blocks));
    if (op->work == WORK_FILL)
        return fake_cost(COST_DEVICE, bytes);
    if (op->work == WORK_COPY)
        return fake_cost(kind_of_copy(op), bytes);
    return 0;
}

/* Does the work of an operation; returns the code of a failure. */
static int work_on(const struct op *op, const struct context *context)
{
    int code = broken_by(op);

    if (code)
        return code;
    if (op->work == WORK_WAIT)
        return is_reached(op) ? SUCCESS : LAUNCH_FAILED;
    if (op->work == WORK_COPY)
        fake_do_copy(op);
    if (op->work == WORK_KERNEL)
        return fake_run(op->function, op->blocks, op->argument, context);
    if (op->work == WORK_FILL)
        memset(fake_real(op->to.at), op->byte, op->row_bytes);
    return SUCCESS;
}

/* Marks the recording of an event as reached, if the operation is one. */
static void reach(const struct op *op)
{
    if (op->work == WORK_RECORD &&
        __atomic_load_n(&op->event->counts->reached, __ATOMIC_RELAXED) <
            op->count)
        __atomic_store_n(&op->event->counts->reached, op->count,
                         __ATOMIC_RELEASE);
}

/* Takes the turn of this process on the GPU for the operation. Returns the
 * argument of fake_turn_end after the work. */
static int take_turn(const struct op *op, int gpu)
{
    if (stays(op))
        return fake_turn_begin(gpu);
    if (op->work == WORK_COPY || op->work == WORK_FILL ||
        op->work == WORK_KERNEL)
        fake_turn_wait(gpu);
    return -1;
}

/* Does the first operation of the stream and removes it. The caller holds the
 * lock, which is released during the work. */
static void finish_one(struct stream *stream)
{
    struct op *op = stream->first;
    int code = 0, before = fake_broken, turn;
    double cost;

    pthread_mutex_unlock(&fake_lock);
    turn = take_turn(op, fake_gpu_of(stream->owner.context));
    cost = price(op);
    if (!before)
        code = work_on(op, stream->owner.context);
    fake_turn_end(turn);
    pthread_mutex_lock(&fake_lock);
    if (code && !fake_broken)
        fake_broken = code;
    /* charged before it is done, so that waiting for an event takes as long */
    if (cost > 0 && op->work != WORK_RECORD)
        stream->busy_until = fake_clock() + cost;
    if (!fake_broken)
        reach(op);
    else if (op->work == WORK_RECORD)
        __atomic_store_n(&op->event->counts->broken, 1, __ATOMIC_RELEASE);
    stream->first = op->next;
    if (!stream->first)
        stream->last = &stream->first;
    stream->working = false;
    free(op->staged);
    free(op);
    pthread_cond_broadcast(&fake_news);
}

/* The thread of a resident kernel. */
static void *stay(void *stream)
{
    pthread_mutex_lock(&fake_lock);
    finish_one(stream);
    pthread_mutex_unlock(&fake_lock);
    return NULL;
}

/* Does the first operation of the stream. A resident kernel gets a thread of
 * its own, so that other work of the GPU goes on. */
static void do_one(struct stream *stream)
{
    pthread_t thread;

    stream->working = true;
    if (stays(stream->first) && !pthread_create(&thread, NULL, stay, stream))
        (void)pthread_detach(thread);
    else
        finish_one(stream);
}

/* The thread that does the work of all streams. */
static void *engine(void *unused)
{
    struct timespec until;
    struct stream *stream;
    bool pending;

    (void)unused;
    pthread_mutex_lock(&fake_lock);
    for (;;) {
        stream = choose(fake_clock());
        if (stream) {
            do_one(stream);
            continue;
        }
        pending = false;
        for (stream = streams; stream; stream = stream->next)
            pending |= stream->first || fake_clock() < stream->busy_until;
        if (!pending) {
            pthread_cond_broadcast(&fake_news);
            pthread_cond_wait(&fake_news, &fake_lock);
            continue;
        }
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 20000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_sec++;
            until.tv_nsec -= 1000000000;
        }
        pthread_cond_broadcast(&fake_news);
        pthread_cond_timedwait(&fake_news, &fake_lock, &until);
    }
    return unused;
}

static void start(void)
{
    pthread_t thread;

    if (started)
        return;
    dice += (uint64_t)getpid();
    if (!pthread_create(&thread, NULL, engine, NULL))
        pthread_detach(thread);
    started = true;
}

/* The stream that a handle means, which may be a default stream; NULL if the
 * handle needs a context and none is current. */
static struct stream *stream_of(struct stream *stream)
{
    start();
    if (stream == LEGACY || stream == PER_THREAD)
        stream = NULL;
    if (stream && !stream->is_default)
        fake_must_live(&stream->owner, "a stream");
    if (stream)
        return stream;
    return !fake_no_context() ? default_of(fake_current()) : NULL;
}

static bool is_idle(const struct stream *stream)
{
    return !stream->first && !stream->working &&
           fake_clock() >= stream->busy_until;
}

/* --- captures: callers hold the lock --- */

static _Thread_local int heeds; /* which captures this thread respects;
                                   CAPTURE_GLOBAL: all */

/* Whether this thread began the capture. */
static bool is_mine(const struct stream *stream)
{
    return pthread_equal(stream->capturer, pthread_self());
}

/* Whether the capture forbids this thread the calls that might disturb it. */
static bool forbids(const struct stream *stream)
{
    return stream->capturing && heeds != CAPTURE_RELAXED &&
           stream->mode != CAPTURE_RELAXED &&
           (is_mine(stream) ||
            (stream->mode == CAPTURE_GLOBAL && heeds == CAPTURE_GLOBAL));
}

API int cuThreadExchangeStreamCaptureMode(int *mode)
{
    int before = heeds;

    FAULT();
    heeds = *mode;
    *mode = before;
    return SUCCESS;
}

int fake_unsafe(void)
{
    int code = SUCCESS;

    pthread_mutex_lock(&fake_lock);
    for (struct stream *s = streams; s; s = s->next)
        if (forbids(s)) {
            s->invalid = true;
            code = CAPTURING;
        }
    pthread_mutex_unlock(&fake_lock);
    return code;
}

/* The code of a failure if work in this stream would disturb a capture: work in
 * the default stream would wait for captured work of a blocking stream. The
 * capture becomes invalid. */
static int disturbs(const struct stream *stream)
{
    int code = SUCCESS;

    for (struct stream *s = streams; stream->is_default && s; s = s->next)
        if (s->capturing && s->blocking &&
            s->owner.context == stream->owner.context) {
            s->invalid = true;
            code = CAPTURE_IMPLICIT;
        }
    return code;
}

/* Whether the operation may become a part of the capture; returns a code. */
static int may_capture(struct stream *stream, const struct op *op)
{
    if (op->work == WORK_WAIT && op->event->captured != stream->capture) {
        stream->invalid = true;
        return CAPTURE_ISOLATION;
    }
    return stream->invalid ? CAPTURE_INVALIDATED : SUCCESS;
}

/* Whether the operation may be put into the stream; returns a code. */
static int may_push(struct stream *stream, const struct op *op)
{
    if (fake_broken)
        return fake_broken;
    if (!stream)
        return fake_no_context();
    return stream->capturing ? may_capture(stream, op) : disturbs(stream);
}

static int push(struct stream *stream, const struct op *op)
{
    struct op *copy = malloc(sizeof *copy);
    int code = may_push(stream, op);

    if (!copy)
        return OUT_OF_MEMORY;
    *copy = *op;
    copy->next = NULL;
    if (!code && op->work == WORK_RECORD)
        op->event->captured = stream->capturing ? stream->capture : 0;
    copy->turn = ++turns;
    if (code) {
        free(copy);
    } else if (stream->capturing) {
        *stream->captured_last = copy;
        stream->captured_last = &copy->next;
    } else {
        *stream->last = copy;
        stream->last = &copy->next;
    }
    pthread_cond_broadcast(&fake_news);
    return code;
}

int fake_push(struct stream *stream, const struct op *op)
{
    int code;

    pthread_mutex_lock(&fake_lock);
    code = push(stream_of(stream), op);
    pthread_mutex_unlock(&fake_lock);
    return code;
}

int fake_push_late(uint64_t to, const void *from, size_t size)
{
    const double LATE = 2e-3;
    struct context *context = fake_context_of(to);
    struct op op = {.work = WORK_COPY,
                    .to = {.at = to},
                    .row_bytes = size,
                    .rows = 1,
                    .planes = 1,
                    .late = fake_clock() + LATE};
    int code;

    op.staged = malloc(size);
    if (!op.staged)
        return OUT_OF_MEMORY;
    memcpy(op.staged, from, size);
    op.from.at = (uintptr_t)op.staged;
    pthread_mutex_lock(&fake_lock);
    start();
    code = push(default_of(context), &op);
    pthread_mutex_unlock(&fake_lock);
    if (code)
        free(op.staged);
    return code;
}

int fake_capture_begin(struct stream *stream, int mode)
{
    int code = INVALID_VALUE;

    pthread_mutex_lock(&fake_lock);
    stream = stream_of(stream);
    if (stream && !stream->is_default && !stream->capturing) {
        stream->capturing = true;
        stream->invalid = false;
        stream->mode = mode;
        stream->capturer = pthread_self();
        stream->capture = ++captures;
        stream->captured = NULL;
        stream->captured_last = &stream->captured;
        code = SUCCESS;
    }
    pthread_mutex_unlock(&fake_lock);
    return code;
}

int fake_capture_end(struct stream *stream, struct op **out)
{
    int code = INVALID_VALUE;

    pthread_mutex_lock(&fake_lock);
    if (stream && stream->capturing) {
        code = stream->mode != CAPTURE_RELAXED && !is_mine(stream)
                   ? CAPTURE_WRONG_THREAD
               : stream->invalid ? CAPTURE_INVALIDATED
                                 : SUCCESS;
        stream->capturing = code == CAPTURE_WRONG_THREAD;
    }
    if (!code)
        *out = stream->captured;
    for (struct op *next, *op = code && stream ? stream->captured : NULL;
         op && !stream->capturing; op = next) {
        next = op->next;
        free(op);
    }
    pthread_mutex_unlock(&fake_lock);
    return code;
}

static void wait_for(struct stream *stream)
{
    stream->awaited++;
    pthread_cond_broadcast(&fake_news);
    while (!is_idle(stream))
        pthread_cond_wait(&fake_news, &fake_lock);
    stream->awaited--;
}

int fake_settle(struct context *context)
{
    if (!context)
        return fake_broken;
    pthread_mutex_lock(&fake_lock);
    start();
    wait_for(default_of(context));
    pthread_mutex_unlock(&fake_lock);
    return fake_broken;
}

int fake_sync_default(struct context *context)
{
    struct stream *mine;
    int code;

    if (!context)
        return fake_broken;
    pthread_mutex_lock(&fake_lock);
    start();
    mine = default_of(context);
    code = disturbs(mine);
    wait_for(mine);
    for (struct stream *s = streams; !code && s; s = s->next)
        if (s->blocking && s->owner.context == context)
            wait_for(s);
    pthread_mutex_unlock(&fake_lock);
    return code ? code : fake_broken;
}

void fake_drain(void)
{
    pthread_mutex_lock(&fake_lock);
    for (struct stream *s = streams; s; s = s->next)
        wait_for(s);
    pthread_mutex_unlock(&fake_lock);
}

API int cuStreamCreate(struct stream **out, unsigned flags)
{
    struct stream *stream;

    FAULT();
    if (fake_no_context())
        return fake_no_context();
    stream = calloc(1, sizeof *stream);
    if (!stream)
        return OUT_OF_MEMORY;
    stream->last = &stream->first;
    stream->blocking = !(flags & STREAM_NON_BLOCKING);
    stream->owner = fake_owner();
    pthread_mutex_lock(&fake_lock);
    start();
    stream->owner.context->things++;
    stream->next = streams;
    streams = stream;
    fake_live++;
    pthread_mutex_unlock(&fake_lock);
    *out = stream;
    return SUCCESS;
}

API int cuStreamDestroy_v2(struct stream *stream)
{
    struct stream **at = &streams;

    fake_must_live(&stream->owner, "a stream");
    pthread_mutex_lock(&fake_lock);
    wait_for(stream);
    stream->owner.context->things--;
    while (*at != stream)
        at = &(*at)->next;
    *at = stream->next;
    fake_live--;
    pthread_mutex_unlock(&fake_lock);
    free(stream);
    return SUCCESS;
}

API int cuStreamQuery(struct stream *stream)
{
    int code;

    FAULT();
    pthread_mutex_lock(&fake_lock);
    stream = stream_of(stream);
    code = !stream             ? INVALID_CONTEXT
           : fake_broken       ? fake_broken
           : stream->capturing ? CAPTURING
           : !is_idle(stream)  ? NOT_READY
                               : SUCCESS;
    pthread_mutex_unlock(&fake_lock);
    return code;
}

/* This query for the default stream does not make a capture invalid. */
API int cuStreamIsCapturing(struct stream *stream, int *status)
{
    int code;

    FAULT();
    pthread_mutex_lock(&fake_lock);
    stream = stream_of(stream);
    code = stream ? SUCCESS : fake_no_context();
    *status = 0;
    if (stream)
        *status = stream->capturing ? 1 + stream->invalid : 0;
    for (struct stream *s = streams; stream && stream->is_default && s;
         s = s->next)
        if (s->capturing && s->blocking &&
            s->owner.context == stream->owner.context)
            code = CAPTURE_IMPLICIT;
    pthread_mutex_unlock(&fake_lock);
    return code;
}

API int cuStreamSynchronize(struct stream *stream)
{
    int code;

    FAULT();
    pthread_mutex_lock(&fake_lock);
    stream = stream_of(stream);
    code = !stream             ? fake_no_context()
           : stream->capturing ? CAPTURING
                               : SUCCESS;
    if (code == CAPTURING)
        stream->invalid = true;
    if (!code)
        wait_for(stream);
    code = code ? code : fake_broken;
    pthread_mutex_unlock(&fake_lock);
    return code;
}

API int cuEventCreate(struct event **out, unsigned flags)
{
    struct event *event;

    FAULT();
    if (fake_no_context())
        return fake_no_context();
    event = calloc(1, sizeof *event);
    if (!event)
        return OUT_OF_MEMORY;
    event->fd = -1;
    event->owner = fake_owner();
    event->counts = &event->own;
    if (flags & EVENT_SHARED) {
        event->counts = fake_page_new(&event->fd);
        event->page = true;
    }
    if (!event->counts) {
        free(event);
        return OUT_OF_MEMORY;
    }
    __atomic_add_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&event->owner.context->things, 1, __ATOMIC_RELAXED);
    *out = event;
    return SUCCESS;
}

API int cuEventDestroy_v2(struct event *event)
{
    fake_must_live(&event->owner, "an event");
    if (event->owner.context)
        __atomic_sub_fetch(&event->owner.context->things, 1, __ATOMIC_RELAXED);
    fake_drain(); /* the real driver completes the recorded work */
    if (event->imported)
        fake_share(&event->counts->sharers, getpid(), 0);
    else if (event->page)
        fake_unshared(&event->counts->sharers, "an event");
    if (event->page)
        fake_page_close(event->counts);
    if (event->fd >= 0)
        close(event->fd);
    free(event);
    __atomic_sub_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    return SUCCESS;
}

API int cuEventRecord(struct event *event, struct stream *stream)
{
    struct op op = {.work = WORK_RECORD, .event = event};

    FAULT();
    fake_must_live(&event->owner, "an event");
    event->counts->pid = getpid();
    op.count =
        __atomic_add_fetch(&event->counts->recorded, 1, __ATOMIC_ACQ_REL);
    return fake_push(stream, &op);
}

API int cuEventQuery(struct event *event)
{
    FAULT();
    fake_must_live(&event->owner, "an event");
    if (fake_broken)
        return fake_broken;
    if (event->page && is_lost(event))
        return LAUNCH_FAILED;
    return __atomic_load_n(&event->counts->reached, __ATOMIC_ACQUIRE) >=
                   __atomic_load_n(&event->counts->recorded, __ATOMIC_ACQUIRE)
               ? SUCCESS
               : NOT_READY;
}

API int cuStreamWaitEvent(struct stream *stream, struct event *event,
                          unsigned flags)
{
    struct op op = {.work = WORK_WAIT, .event = event};

    FAULT();
    fake_must_live(&event->owner, "an event");
    (void)flags;
    op.count = __atomic_load_n(&event->counts->recorded, __ATOMIC_ACQUIRE);
    return fake_push(stream, &op);
}

API int cuIpcGetEventHandle(struct handle *handle, struct event *event)
{
    struct exported exported = {getpid(), event->fd, MAGIC};

    FAULT();
    if (event->fd < 0)
        return INVALID_HANDLE;
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &exported, sizeof exported);
    return SUCCESS;
}

API int cuIpcOpenEventHandle(struct event **out, struct handle handle)
{
    struct exported exported;
    struct event *event;

    FAULT();
    memcpy(&exported, &handle, sizeof exported);
    if (exported.magic != MAGIC)
        return INVALID_VALUE;
    if (exported.pid == getpid())
        return INVALID_CONTEXT;
    event = calloc(1, sizeof *event);
    if (!event)
        return OUT_OF_MEMORY;
    event->fd = -1;
    event->page = event->imported = true;
    event->owner = fake_owner();
    event->counts = fake_page_open(exported.pid, exported.fd);
    if (!event->counts) {
        free(event);
        return INVALID_HANDLE;
    }
    fake_share(&event->counts->sharers, 0, getpid());
    __atomic_add_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    if (event->owner.context)
        __atomic_add_fetch(&event->owner.context->things, 1, __ATOMIC_RELAXED);
    *out = event;
    return SUCCESS;
}
