/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of the CUDA driver, libcuda.so.1, with the signatures of the
 * real one; this file has the GPUs and their contexts. FAKE_CUDA_DEVICES is the
 * number of GPUs (default 1); with FAKE_CUDA_PEERS=0, GPUs have no peer access
 * to each other. Starting the driver and making a context take time, as with
 * the real driver. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t fake_news = PTHREAD_COND_INITIALIZER;
int fake_broken;
long fake_live;

static int initialised;
static pid_t fake_process; /* the process that called cuInit */
/* The primary context of each GPU. */
static struct context contexts[GPUS] = {
#define AT(i)                                                                  \
    {                                                                          \
        .gpu = (i)                                                             \
    }
    AT(0), AT(1), AT(2),  AT(3),  AT(4),  AT(5),  AT(6),  AT(7),
    AT(8), AT(9), AT(10), AT(11), AT(12), AT(13), AT(14), AT(15),
};
/* The context that is current for this thread. */
static _Thread_local struct context *current;

int fake_gpus(void)
{
    const char *word = getenv("FAKE_CUDA_DEVICES");
    int count = word ? atoi(word) : 1;

    return count < 1 ? 0 : count < GPUS ? count : GPUS;
}

struct context *fake_current(void)
{
    return current;
}

struct context *fake_context(int gpu)
{
    return &contexts[gpu];
}

int fake_gpu_of(const struct context *context)
{
    return context->gpu;
}

/* Whether the context exists: it was not reset or destroyed. */
static bool lives(const struct context *context)
{
    return __atomic_load_n(&context->life, __ATOMIC_ACQUIRE) & 1;
}

bool fake_is_forked(void)
{
    return fake_process && fake_process != getpid();
}

int fake_no_context(void)
{
    if (fake_is_forked())
        return NOT_INITIALIZED;
    if (!current)
        return INVALID_CONTEXT;
    return lives(current) ? SUCCESS : CONTEXT_DESTROYED;
}

struct owner fake_owner(void)
{
    return (struct owner){current, current ? current->life : 0};
}

void fake_must_live(const struct owner *owner, const char *what)
{
    if (!owner->context ||
        __atomic_load_n(&owner->context->life, __ATOMIC_ACQUIRE) == owner->life)
        return;
    fprintf(stderr, "fake CUDA: %s of a context that was reset is used\n",
            what);
    abort();
}

/* Ends the lifetime of the context and frees its memory. */
static void end_life(struct context *context)
{
    fake_drain();
    __atomic_add_fetch(&context->life, 1, __ATOMIC_ACQ_REL);
    context->reached = 0;
    __atomic_sub_fetch(&fake_live, context->things, __ATOMIC_RELAXED);
    context->things = 0;
    fake_forget_memory(context);
}

/* Waits for a time like that of the real driver's start. */
static void take_time(void)
{
    struct timespec time = {.tv_nsec = 20 * 1000 * 1000};

    nanosleep(&time, NULL);
}

API int cuInit(unsigned flags)
{
    FAULT();
    if (flags)
        return INVALID_VALUE;
    pthread_mutex_lock(&fake_lock);
    if (!initialised) {
        take_time();
        initialised = 1;
        fake_process = getpid();
    }
    pthread_mutex_unlock(&fake_lock);
    return SUCCESS;
}

API int cuDeviceGetCount(int *count)
{
    FAULT();
    *count = fake_gpus();
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuDeviceGet(int *device, int ordinal)
{
    FAULT();
    if (ordinal < 0 || ordinal >= fake_gpus())
        return INVALID_DEVICE;
    *device = ordinal;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuDeviceGetName(char *name, int size, int device)
{
    snprintf(name, (size_t)size, "fake GPU %d", device);
    return SUCCESS;
}

API int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    const char *word = getenv("FAKE_CUDA_UUID");

    memset(uuid, 0, 16);
    for (int i = 0; word && i < 16; i++)
        if (sscanf(word + 2 * (size_t)i, "%2hhx", &uuid[i]) != 1)
            return INVALID_VALUE;
    uuid[15] = (unsigned char)(uuid[15] + device);
    return SUCCESS;
}

API int cuDeviceGetPCIBusId(char *id, int size, int device)
{
    snprintf(id, (size_t)size, "0000:%02x:00.0", 16 + device);
    return SUCCESS;
}

API int cuDevicePrimaryCtxRetain(void **context, int device)
{
    FAULT();
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || device >= fake_gpus())
        return INVALID_DEVICE;
    pthread_mutex_lock(&fake_lock);
    if (!lives(&contexts[device])) {
        take_time();
        __atomic_add_fetch(&contexts[device].life, 1, __ATOMIC_ACQ_REL);
    }
    __atomic_add_fetch(&contexts[device].retained, 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&fake_lock);
    *context = &contexts[device];
    return SUCCESS;
}

API int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    FAULT();
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || device >= fake_gpus())
        return INVALID_DEVICE;
    *flags = 0;
    *active = lives(&contexts[device]);
    return SUCCESS;
}

/* The call by which cudaDeviceReset resets a GPU. */
API int cuDevicePrimaryCtxReset_v2(int device)
{
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || device >= fake_gpus())
        return INVALID_DEVICE;
    if (lives(&contexts[device]))
        end_life(&contexts[device]);
    return SUCCESS;
}

API int cuCtxCreate_v2(struct context **out, unsigned flags, int device)
{
    struct context *context;

    FAULT();
    (void)flags;
    if (!initialised)
        return NOT_INITIALIZED;
    if (device < 0 || device >= fake_gpus())
        return INVALID_DEVICE;
    context = calloc(1, sizeof *context);
    if (!context)
        return OUT_OF_MEMORY;
    take_time();
    *context = (struct context){.gpu = device, .life = 1};
    *out = current = context;
    return SUCCESS;
}

API int cuCtxCreate_v4(struct context **out, const void *parameters,
                       unsigned flags, int device)
{
    return parameters ? NOT_SUPPORTED : cuCtxCreate_v2(out, flags, device);
}

/* The handle stays invalid afterwards; it is not given to another context. */
API int cuCtxDestroy_v2(struct context *context)
{
    if (!context || !lives(context))
        return INVALID_CONTEXT;
    end_life(context);
    if (current == context)
        current = NULL;
    return SUCCESS;
}

API int cuCtxSetCurrent(void *context)
{
    FAULT();
    current = context;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuCtxGetCurrent(void **context)
{
    FAULT();
    *context = current;
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

API int cuCtxGetDevice(int *device)
{
    if (!fake_no_context())
        *device = fake_gpu_of(current);
    return fake_no_context();
}

API int cuDeviceCanAccessPeer(int *can, int from, int to)
{
    const char *word = getenv("FAKE_CUDA_PEERS");

    *can = from != to && !(word && !strcmp(word, "0"));
    return SUCCESS;
}

API int cuCtxEnablePeerAccess(void *to, unsigned flags)
{
    const struct context *peer = to;
    int can;

    FAULT();
    if (fake_no_context() || flags || peer == current)
        return INVALID_CONTEXT;
    (void)cuDeviceCanAccessPeer(&can, fake_gpu_of(current), fake_gpu_of(peer));
    if (!can)
        return NO_PEER;
    if (current->reached >> fake_gpu_of(peer) & 1)
        return ALREADY_REACHED;
    current->reached |= 1u << fake_gpu_of(peer);
    return SUCCESS;
}

API int cuGetErrorString(int code, const char **text)
{
    static const struct {
        int code;
        const char *text;
    } texts[] = {
        {INVALID_VALUE, "invalid argument"},
        {OUT_OF_MEMORY, "out of memory"},
        {INVALID_CONTEXT, "invalid device context"},
        {CONTEXT_DESTROYED, "context is destroyed"},
        {INVALID_HANDLE, "invalid resource handle"},
        {ILLEGAL_ADDRESS, "an illegal memory access was encountered"},
        {LAUNCH_FAILED, "unspecified launch failure"},
        {NOT_SUPPORTED, "operation not supported"},
        {999, "unknown error"},
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (texts[i].code == code) {
            *text = texts[i].text;
            return SUCCESS;
        }
    *text = NULL;
    return INVALID_VALUE;
}

/* Number of allocations, streams, events and graphs that exist. The real driver
 * has no such function. */
API long fake_cuda_live(void)
{
    return __atomic_load_n(&fake_live, __ATOMIC_RELAXED);
}
