/* SPDX-License-Identifier: BSD-3-Clause */
/* Chooses the context that this library uses on each NVIDIA GPU: the program's
 * own if it has one, else the primary context. In each context the library has
 * a stream, and 8 bytes of memory that show whether the context still exists: a
 * program may reset a GPU or destroy a context at any time. */
#include "gpu/cuda.h"

#include "base/status.h"

#include <pthread.h>

enum {
    WITNESS = 8, /* bytes of the witness */
    STREAM_BLOCKING = 0,
    ABOUT_CONTEXT = 1,
    ABOUT_ID = 7,
    ABOUT_GPU = 9,
    /* the driver's errors for memory that has been freed */
    NOT_ITS_OWN = 1,
    DEINITIALIZED = 4,
    INVALID_CONTEXT = 201,
    CONTEXT_DESTROYED = 709,
};

/* The context that the library uses on a GPU. */
struct cuda_context_known {
    cu_context context;
    nw_gpu_stream stream;
    cu_memory witness; /* memory that is freed with the context */
    uint64_t id;       /* id of `witness`, never reused by the driver; 0: no
                          witness */
};

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cuda_context_known context_known[NW_GPUS];

/* Returns whether the context still exists. The context counts as existing if
 * it has no witness, or if the driver has a fatal error, after which every
 * query fails. */
static bool context_lives(const struct cuda_context_known *known)
{
    uint64_t id = 0;
    int code;

    if (!known->id)
        return true;
    code = nw_cuda.attribute(&id, ABOUT_ID, known->witness);
    return code ? code != NOT_ITS_OWN && code != DEINITIALIZED &&
                      code != INVALID_CONTEXT && code != CONTEXT_DESTROYED
                : id == known->id;
}

/* Creates the library's stream and the witness in a context. Without the stream
 * the library is slower; without the witness it does not notice that the
 * context was destroyed. */
static void context_furnish(struct cuda_context_known *known)
{
    cu_context before = NULL;
    int mode = nw_cuda_relax();

    (void)nw_cuda.get_current(&before);
    if (!nw_cuda.set_current(known->context)) {
        /* blocking, so that it waits for the program's default stream */
        if (nw_cuda.stream_new(&known->stream, STREAM_BLOCKING))
            known->stream = NULL;
        if (nw_cuda.alloc(&known->witness, WITNESS) ||
            nw_cuda.attribute(&known->id, ABOUT_ID, known->witness))
            known->id = 0;
    }
    (void)nw_cuda.set_current(before);
    nw_cuda_unrelax(mode);
}

/* Chooses the context of a GPU: *out if not NULL, else the current context if
 * it is on this GPU, else the primary context. If the GPU's primary context is
 * active, retains it, so that it is not destroyed. Creates a primary context
 * only if the other two are missing. */
static int context_choose(int32_t gpu, cu_context *out)
{
    cu_context current = *out, primary = NULL;
    int device = 0, whose = -1, active = 0;
    unsigned flags;
    int code = nw_cuda.get_device(&device, gpu);

    if (!current && !nw_cuda.get_current(&current) && current &&
        (nw_cuda.context_device(&whose) || whose != device))
        current = NULL;
    if (!code && current &&
        (nw_cuda.context_state(device, &flags, &active) || !active)) {
        *out = current;
        return 0;
    }
    if (!code)
        code = nw_cuda.retain(&primary, device);
    *out = current ? current : primary;
    return code;
}

static int context_make(int32_t gpu, struct cuda_context_known *known,
                        cu_context wanted)
{
    struct cuda_context_known made = {.context = wanted};
    int device = 0, code = context_choose(gpu, &made.context);

    if (!code)
        context_furnish(&made);
    /* the current context may have been reset: use a new primary context */
    if (!code && !made.stream)
        code = nw_cuda.get_device(&device, gpu);
    if (!code && !made.stream)
        code = nw_cuda.retain(&made.context, device);
    if (code)
        return code;
    if (!made.stream)
        context_furnish(&made);
    *known = made;
    nw_cuda_forget_kernels(gpu);
    return 0;
}

/* Sets *out to the context of a GPU. The context is chosen at the first call,
 * and again after it was destroyed. `wanted` is NULL, or the context in which
 * the program allocated memory on this GPU. */
static int context_of(int32_t gpu, cu_context wanted,
                      struct cuda_context_known *out)
{
    struct cuda_context_known *known;
    int code = 0;

    if (gpu < 0 || gpu >= NW_GPUS)
        return nw_cuda.get_device(&(int){0}, gpu);
    known = &context_known[gpu];
    pthread_mutex_lock(&context_lock);
    if (!known->context || !context_lives(known))
        code = context_make(gpu, known, wanted);
    if (!code)
        *out = *known;
    pthread_mutex_unlock(&context_lock);
    return code;
}

int nw_cuda_context(int32_t gpu, cu_context *out)
{
    struct cuda_context_known known;
    int code = context_of(gpu, NULL, &known);

    if (!code)
        *out = known.context;
    return code;
}

bool nw_cuda_serves(const void *memory)
{
    cu_context theirs = NULL;
    struct cuda_context_known ours;
    int gpu = -1;

    if (nw_cuda.attribute(&theirs, ABOUT_CONTEXT, (cu_memory)memory) ||
        !theirs || nw_cuda.attribute(&gpu, ABOUT_GPU, (cu_memory)memory))
        return true; /* memory pools and mapped memory belong to no context */
    return context_of(gpu, theirs, &ours) || ours.context == theirs;
}

bool nw_cuda_lives(const struct nw_gpu_life *life)
{
    bool lives;

    if (life->gpu < 0 || life->gpu >= NW_GPUS || !life->id)
        return true;
    pthread_mutex_lock(&context_lock);
    lives = context_known[life->gpu].id == life->id &&
            context_lives(&context_known[life->gpu]);
    pthread_mutex_unlock(&context_lock);
    return lives;
}

int32_t nw_cuda_home(void)
{
    cu_context current = NULL;
    int count = 0, device = 0, gpu = 0, active = 0;
    unsigned flags;

    if (!nw_cuda.get_current(&current) && current &&
        !nw_cuda.context_device(&gpu))
        return gpu;
    if (nw_cuda.get_count(&count))
        return 0;
    for (gpu = 0; gpu < count; gpu++)
        if (!nw_cuda.get_device(&device, gpu) &&
            !nw_cuda.context_state(device, &flags, &active) && active)
            return gpu;
    return 0;
}

/* --- calls that need a context, and the library's own stream --- */

static struct cuda_context_known context_find(cu_context context)
{
    struct cuda_context_known found = {.context = context};

    pthread_mutex_lock(&context_lock);
    for (int i = 0; i < NW_GPUS; i++)
        if (context_known[i].context == context &&
            context_lives(&context_known[i]))
            found = context_known[i];
    pthread_mutex_unlock(&context_lock);
    return found;
}

int nw_cuda_enter(struct nw_cuda_stay *stay)
{
    cu_context current = NULL;
    struct cuda_context_known known = {0};
    int code = nw_cuda.get_current(&current);

    *stay = (struct nw_cuda_stay){.mode = nw_cuda_relax()};
    if (!code && current) {
        known = context_find(current);
    } else if (!code) {
        code = context_of(nw_cuda_home(), NULL, &known);
        if (!code)
            code = nw_cuda.set_current(known.context);
        stay->moved = !code;
    }
    stay->stream = known.stream;
    return code;
}

void nw_cuda_leave(const struct nw_cuda_stay *stay)
{
    if (stay->moved)
        (void)nw_cuda.set_current(NULL);
    nw_cuda_unrelax(stay->mode);
}

struct nw_gpu_life nw_cuda_life(void)
{
    struct nw_gpu_life life = {0, 0};
    cu_context current = NULL;
    int gpu = 0;

    if (nw_cuda.get_current(&current) || !current ||
        nw_cuda.context_device(&gpu))
        return life;
    life.gpu = gpu;
    life.id = context_find(current).id;
    return life;
}

nw_gpu_stream nw_cuda_own(void)
{
    cu_context current = NULL;

    return nw_cuda.get_current(&current) || !current
               ? NULL
               : context_find(current).stream;
}
