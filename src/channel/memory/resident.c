/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies into and out of GPU memory by a kernel that stays on the GPU
 * ("resident"). The CPU writes the bytes and an order into the kernel's inbox,
 * which is memory that the GPU can read. The kernel moves the bytes, in either
 * direction, and reports the end in its outbox. This needs only the CUDA
 * driver.
 *
 * The kernel occupies one block on one GPU. It ends after IDLE_NS without an
 * order, and after LEASE_NS in any case: a call that waits for the whole GPU
 * (such as cuCtxSynchronize or cuMemFree) waits at most that long. It is
 * launched when two messages come within IDLE_NS of each other. The launch may
 * be delayed, because the application's kernels may occupy the whole GPU and
 * wait for our message. So no call waits for the launch: until the kernel runs,
 * the driver copies.
 *
 * The kernel is not launched if others would wait for it. If several processes
 * use the GPU without MPS, their kernels take turns with ours; then the kernel
 * is launched only if the user has selected this way of copying by name
 * (NODEWISE_CHANNEL_MAPPING=resident). If CUDA_LAUNCH_BLOCKING is set, the
 * launch would wait for the kernel's end, so this GPU mapping (mapping.h) is
 * not opened. A channel that opens it allocates the resources for the GPU in
 * use.
 */
#include "channel/memory/mapping.h"

#include "base/clock.h"
#include "base/status.h"
#include "channel/memory/memory.h"
#include "channel/memory/sharing.h"
#include "channel/memory/vulkan.h"
#include "gpu/gpu.h"
#include "gpu/resident.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

enum {
    IDLE_NS = 50000,
    LEASE_NS = 1000000,
    /* Polls before the kernel's state is checked and the core is yielded. Both
     * take longer than a poll, and a running kernel answers earlier. */
    LOOKS = 2048,
};
static const uint64_t LOST_NS = UINT64_C(10000000000);

struct resident {
    pthread_mutex_t lock;
    nw_gpu_stream stream;    /* NULL: no resources allocated yet */
    struct nw_gpu_life life; /* of the context that owns these resources */
    struct nw_resident_inbox *inbox;
    void *inbox_gpu; /* address of the inbox on the GPU */
    struct nw_resident_outbox *outbox;
    uint64_t epoch; /* number of the last launched kernel; 0: none */
    uint64_t turn;  /* number of the last order given to the kernel */
    uint64_t asked; /* time of the last message in ns */
    bool beside;    /* inbox is in GPU memory: stores need a fence */
    bool barred;    /* a kernel has failed: use the driver only */
};

static const struct nw_gpu *const gpus = &nw_gpu_cuda;
static struct resident residents[NW_GPUS] = {
    [0 ... NW_GPUS - 1] = {.lock = PTHREAD_MUTEX_INITIALIZER}};
static struct nw_resident_counts counts;
static pthread_mutex_t users_lock = PTHREAD_MUTEX_INITIALIZER;
static int users;

static void resident_count(uint64_t *what)
{
    (void)__atomic_add_fetch(what, 1, __ATOMIC_RELAXED);
}

void nw_resident_count(struct nw_resident_counts *out)
{
    out->launched = __atomic_load_n(&counts.launched, __ATOMIC_RELAXED);
    out->beside = __atomic_load_n(&counts.beside, __ATOMIC_RELAXED);
    out->served = __atomic_load_n(&counts.served, __ATOMIC_RELAXED);
    out->driven = __atomic_load_n(&counts.driven, __ATOMIC_RELAXED);
}

static uint64_t resident_answer(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static bool is_gone(const struct resident *one)
{
    return resident_answer(&one->outbox->gone) == one->epoch;
}

static bool is_here(const struct resident *one)
{
    return one->epoch && resident_answer(&one->outbox->alive) == one->epoch &&
           !is_gone(one);
}

/* -- start and end of the kernel; the caller makes the GPU current -- */

/* Allocates the inbox, in GPU memory if possible: the kernel then polls and
 * reads local memory instead of host memory across the bus. */
static nw_status make_inbox(struct resident *one, int32_t gpu, void **inbox)
{
    nw_status status;

    one->beside = nw_vulkan_is_used() && !nw_vulkan_new(gpu, sizeof *one->inbox,
                                                        &one->inbox_gpu, inbox);
    if (one->beside)
        return NW_OK;
    status = gpus->alloc_pinned(sizeof *one->inbox, inbox);
    one->inbox_gpu = *inbox;
    return status;
}

static void drop_inbox(struct resident *one)
{
    if (!nw_vulkan_free(one->inbox_gpu))
        gpus->free_pinned(one->inbox_gpu);
    one->inbox_gpu = NULL;
}

static nw_status resident_begin(struct resident *one, int32_t gpu)
{
    void *inbox = NULL, *outbox = NULL;
    nw_status status = gpus->load(NW_RESIDENT_KERNEL);

    one->life = gpus->life();
    if (!status)
        status = make_inbox(one, gpu, &inbox);
    if (!status)
        status = gpus->alloc_pinned(sizeof *one->outbox, &outbox);
    if (!status)
        status = gpus->stream_new(&one->stream);
    if (status) {
        drop_inbox(one);
        gpus->free_pinned(outbox);
        return status;
    }
    one->inbox = memset(inbox, 0, sizeof *one->inbox);
    one->outbox = memset(outbox, 0, sizeof *one->outbox);
    nw_sharing_join(gpu);
    return NW_OK;
}

/* Forgets resources that the driver freed when the program reset the GPU. They
 * must be neither used nor freed. */
static void resident_forget_dead(struct resident *one)
{
    if (!one->stream || gpus->lives(&one->life))
        return;
    one->stream = NULL;
    one->inbox = NULL;
    one->inbox_gpu = NULL;
    one->outbox = NULL;
    one->epoch = one->turn = 0;
}

/* Allocates the resources on this GPU, and makes the caller's GPU current
 * again. Sets `barred` if that fails. */
static void resident_make_ready(struct resident *one, int32_t gpu)
{
    void *context = gpus->context();
    nw_status status = gpus->select(gpu);

    if (!status && !one->stream)
        status = resident_begin(one, gpu);
    one->barred |= status != NW_OK;
    gpus->restore(context);
}

/* Launches a new kernel. Orders have ascending numbers ("turns"), and the
 * kernel starts with the next one, so it ignores orders that the previous
 * kernel did not execute. */
static nw_status resident_launch(struct resident *one)
{
    struct nw_resident call = {.inbox = (uintptr_t)one->inbox_gpu,
                               .outbox = (uintptr_t)one->outbox,
                               .epoch = one->epoch + 1,
                               .turn = one->turn + 1,
                               .idle_ns = IDLE_NS,
                               .lease_ns = LEASE_NS};
    nw_status status = gpus->launch(NW_RESIDENT_KERNEL, 1, &call, one->stream);

    if (!status) {
        one->epoch++;
        resident_count(&counts.launched);
        if (one->beside)
            resident_count(&counts.beside);
    }
    return status;
}

static bool takes_turns(int32_t gpu)
{
    const char *asked = getenv("NODEWISE_CHANNEL_MAPPING");

    return (!asked || strcmp(asked, "resident")) && nw_sharing_takes_turns(gpu);
}

/* Launches a kernel if messages come close together and no kernel runs, unless
 * a kernel has failed or other processes would have to wait. */
static void resident_call(struct resident *one, int32_t gpu)
{
    uint64_t now = nw_clock_ns(), before = one->asked;
    void *context;

    one->asked = now;
    if (one->barred || now - before > IDLE_NS || (one->epoch && !is_gone(one)))
        return;
    /* no resources on this GPU: it was not in use when the mapping was opened,
     * or was reset since */
    if (!one->stream)
        resident_make_ready(one, gpu);
    if (one->barred || takes_turns(gpu))
        return;
    context = gpus->context();
    one->barred = gpus->select(gpu) || resident_launch(one);
    gpus->restore(context);
}

/* -- orders -- */

struct resident_move {
    char *gpu, *host; /* `host` is only read if `out` is false */
    size_t bytes;
    bool out;
};

static size_t resident_lean(const char *gpu)
{
    return (uintptr_t)gpu % NW_RESIDENT_ALIGN;
}

static void resident_order(struct resident *one, const char *gpu, size_t bytes,
                           enum nw_resident_work work)
{
    uint64_t turn = ++one->turn, at = (uintptr_t)gpu;
    struct nw_resident_order *to = &one->inbox->order[turn % NW_RESIDENT_DEPTH];

    __atomic_store_n(&to->low, nw_resident_word(at, bytes, turn),
                     __ATOMIC_RELEASE);
    __atomic_store_n(&to->high, nw_resident_word(at >> 32, work, turn),
                     __ATOMIC_RELEASE);
    if (one->beside)
        nw_stores_fence();
}

static nw_status give_up(struct resident *one, nw_status status)
{
    one->barred = true;
    return status;
}

/* Waits until the kernel has executed order number `turn`. Sets *done to false
 * if the kernel ended before this order, else to true. */
static nw_status resident_await(struct resident *one, uint64_t turn, bool *done)
{
    uint64_t start = 0;

    for (unsigned i = 1; resident_answer(&one->outbox->done) < turn; i++) {
        nw_status status;
        bool over = false;

        if (is_gone(one))
            break;
        if (i % LOOKS)
            continue;
        status = gpus->stream_test(one->stream, &over);
        if (status)
            return give_up(one, status);
        start = start ? start : nw_clock_ns();
        if (nw_clock_ns() - start > LOST_NS)
            return give_up(one, nw_fail(NW_ECUDA, "the resident kernel does "
                                                  "not answer"));
        (void)sched_yield();
    }
    *done = resident_answer(&one->outbox->done) >= turn;
    return NW_OK;
}

static size_t piece_of(const struct resident_move *move, size_t at)
{
    return move->bytes - at < NW_RESIDENT_PIECE ? move->bytes - at
                                                : NW_RESIDENT_PIECE;
}

static size_t order_some(struct resident *one, const struct resident_move *move,
                         size_t at)
{
    for (int i = 0; i < NW_RESIDENT_DEPTH && at < move->bytes; i++) {
        size_t bytes = piece_of(move, at);
        char *slot = one->inbox->payload[(one->turn + 1) % NW_RESIDENT_DEPTH];

        if (!move->out && one->beside)
            nw_stores(slot + resident_lean(move->gpu + at), move->host + at,
                      bytes);
        else if (!move->out)
            memcpy(slot + resident_lean(move->gpu + at), move->host + at,
                   bytes);
        resident_order(one, move->gpu + at, bytes,
                       move->out ? NW_RESIDENT_OUT : NW_RESIDENT_IN);
        at += bytes;
    }
    return at;
}

static void take_some(struct resident *one, const struct resident_move *move,
                      size_t at, uint64_t turn)
{
    for (; turn <= one->turn; turn++) {
        size_t bytes = piece_of(move, at);

        memcpy(move->host + at,
               one->outbox->payload[turn % NW_RESIDENT_DEPTH] +
                   resident_lean(move->gpu + at),
               bytes);
        at += bytes;
    }
}

/* Copies a message by the running kernel. Sets *done to false if the kernel
 * ended before it had copied everything. */
static nw_status resident_serve(struct resident *one,
                                const struct resident_move *move, bool *done)
{
    *done = true;
    for (size_t at = 0; at < move->bytes && *done;) {
        uint64_t first = one->turn + 1;
        size_t next = order_some(one, move, at);
        nw_status status = resident_await(one, one->turn, done);

        if (status)
            return status;
        if (move->out && *done)
            take_some(one, move, at, first);
        at = next;
    }
    return NW_OK;
}

static nw_status resident_drive(int32_t gpu, const struct resident_move *move)
{
    resident_count(&counts.driven);
    return move->out
               ? nw_memory_copy_out(gpu, move->host, move->gpu, move->bytes)
               : nw_memory_copy_in(gpu, move->gpu, move->host, move->bytes);
}

/* Returns true if the kernel may access the whole buffer. For all other memory
 * the driver copies: for freed memory, since the driver reports the error; for
 * memory that the driver cannot describe or synchronise; and for memory of
 * another context. */
static bool resident_is_whole(const struct resident_move *move)
{
    struct nw_memory_range range = {0};

    return gpus->serves(move->gpu) && !nw_memory_keep_in_step(move->gpu) &&
           !nw_memory_range(move->gpu, &range) &&
           move->bytes <=
               range.bytes - (size_t)(move->gpu - (char *)range.start);
}

static nw_status memory_resident_move(const struct resident_move *move)
{
    nw_status status = NW_OK;
    int32_t gpu = nw_memory_gpu(move->gpu);
    struct resident *one;
    bool done = false;

    if (gpu < 0)
        return nw_fail(
            NW_ECUDA,
            "%zu bytes at %p are not GPU memory (freed, or the GPU was reset)",
            move->bytes, (void *)move->gpu);
    if (gpu >= NW_GPUS || !resident_is_whole(move))
        return resident_drive(gpu, move);
    one = &residents[gpu];
    (void)pthread_mutex_lock(&one->lock);
    resident_forget_dead(one);
    resident_call(one, gpu);
    if (is_here(one) && !one->barred)
        status = resident_serve(one, move, &done);
    (void)pthread_mutex_unlock(&one->lock);
    if (done)
        resident_count(&counts.served);
    return status || done ? status : resident_drive(gpu, move);
}

static nw_status resident_store(void *gpu, const void *from, size_t bytes)
{
    const struct resident_move in = {
        .gpu = gpu, .host = (char *)from, .bytes = bytes};

    return memory_resident_move(&in);
}

static nw_status resident_load(void *to, const void *gpu, size_t bytes)
{
    const struct resident_move out = {
        .gpu = (char *)gpu, .host = to, .bytes = bytes, .out = true};

    return memory_resident_move(&out);
}

/* -- opening and closing -- */

static bool launches_wait(void)
{
    const char *word = getenv("CUDA_LAUNCH_BLOCKING");

    return word && atoi(word);
}

static bool resident_open(void)
{
    if (launches_wait()) {
        (void)nw_fail(NW_ENODEV, "CUDA_LAUNCH_BLOCKING keeps kernels from "
                                 "running beside the program");
        return false;
    }
    (void)pthread_mutex_lock(&users_lock);
    users++;
    (void)pthread_mutex_unlock(&users_lock);
    return true;
}

static void resident_prepare(int32_t gpu)
{
    struct resident *one;

    if (gpu >= NW_GPUS)
        return;
    one = &residents[gpu];
    (void)pthread_mutex_lock(&one->lock);
    resident_forget_dead(one);
    if (!one->stream && !one->barred)
        resident_make_ready(one, gpu);
    (void)pthread_mutex_unlock(&one->lock);
}

static void resident_end(struct resident *one, int32_t gpu)
{
    void *context;

    (void)pthread_mutex_lock(&one->lock);
    resident_forget_dead(one);
    if (one->stream) {
        context = gpus->context();
        if (!gpus->select(gpu)) {
            resident_order(one, NULL, 0, NW_RESIDENT_LEAVE);
            (void)gpus->stream_wait(one->stream);
            gpus->stream_free(one->stream);
            drop_inbox(one);
            gpus->free_pinned(one->outbox);
        }
        gpus->restore(context);
        one->stream = NULL;
        one->epoch = one->turn = 0;
    }
    one->barred = false;
    (void)pthread_mutex_unlock(&one->lock);
}

/* Ends one use of the resident kernels; the last user stops the kernels and
 * frees all resources. */
static void close_all(void)
{
    (void)pthread_mutex_lock(&users_lock);
    if (!--users)
        for (int32_t gpu = 0; gpu < NW_GPUS; gpu++)
            resident_end(&residents[gpu], gpu);
    (void)pthread_mutex_unlock(&users_lock);
}

const struct nw_gpu_mapping nw_gpu_mapping_resident = {
    .name = "resident",
    .open = resident_open,
    .close = close_all,
    .prepare = resident_prepare,
    .store = resident_store,
    .load = resident_load,
};
