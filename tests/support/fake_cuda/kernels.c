/* SPDX-License-Identifier: BSD-3-Clause */
/* The kernels of the double: the same source that is compiled for GPUs,
 * compiled for the host and run block by block and thread by thread. A kernel
 * is found only if the text of the module has an entry with its name. Addresses
 * are checked as a GPU would check them: memory of another GPU must have been
 * opened. */
#include "fake.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The address by which the host can read the bytes. */
static const void *real(const void *device)
{
    return fake_real((uintptr_t)device);
}

#define NW_KERNELS_ON_HOST
#define LOAD(type, at) (*(const type *)fake_real(at))
#define STORE(type, at, value) (*(type *)fake_real(at) = (value))
#include "gpu/kernels/boxes.cu"

/* The factor by which resident kernels wait longer than they would without
 * FAKE_CUDA_STAY; 0 if that is not set. It is for tests in which the host may
 * be slow to give the next order. */
static unsigned patience(void)
{
    const char *word = getenv("FAKE_CUDA_STAY");

    return word ? (unsigned)atoi(word) : 0;
}

/* The clock of resident kernels. It yields first, because the kernel shares a
 * core with the threads that wait for it. */
static uint64_t clock_ns(void)
{
    struct timespec now;
    uint64_t ns;

    (void)sched_yield();
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    ns = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    return patience() ? ns / patience() : ns;
}

/* Number of pieces that resident kernels have moved. The real driver has no
 * such counter. */
static unsigned long pieces;

API unsigned long fake_cuda_pieces(void)
{
    return __atomic_load_n(&pieces, __ATOMIC_RELAXED);
}

/* Counts a piece, and returns the address by which the host can access it. */
static void *relay_to(uint64_t at)
{
    (void)__atomic_add_fetch(&pieces, 1, __ATOMIC_RELAXED);
    return fake_real(at);
}

#define NW_CLOCK() clock_ns()
#define NW_PEEK(at)                                                            \
    __atomic_load_n((const uint64_t *)fake_real(at), __ATOMIC_ACQUIRE)
#define NW_POKE(at, value)                                                     \
    __atomic_store_n((uint64_t *)fake_real(at), value, __ATOMIC_RELEASE)
#define NW_RELAY(type, to, from)                                               \
    (*(type *)relay_to(to) = *(const type *)fake_real(from))
#include "gpu/kernels/resident.cu"

#define HEAT_KERNEL static void
#define HEAT_INLINE static inline
#define HEAT_AT(u) (*(const double *)real(u))
#define HEAT_STORE(at, value) (*(double *)fake_real(at) = (value))
#define HEAT_THREAD ((int64_t)nw_block * NW_GPU_THREADS + nw_thread)
#include "../../../examples/heat/step.cu"

#define NAMES(X, name)                                                         \
    X(name##_1) X(name##_2) X(name##_4) X(name##_8) X(name##_16)
#define KERNELS(X) NAMES(X, nw_pack) NAMES(X, nw_unpack) NAMES(X, nw_move)

/* A kernel that exists in the double. */
struct function {
    const char *name;
    size_t bytes; /* size of its only argument */
    void (*run)(struct nw_gpu_boxes boxes);
};

/* The name of a kernel whose argument is not a struct nw_gpu_boxes. */
#define HEAT "heat_step"

static const struct function functions[] = {
#define ROW(name) {#name, sizeof(struct nw_gpu_boxes), name},
    KERNELS(ROW)
#undef ROW
        {HEAT, sizeof(struct heat_step), NULL},
    {NW_RESIDENT_KERNEL, sizeof(struct nw_resident), NULL},
};

/* Modules and kernels exist until the process ends. They are kept in these
 * lists so that a leak checker finds them, since the reset of a GPU does not
 * free them. */
struct module {
    char *text;
    struct owner owner;
    struct module *next;
};
static struct module *modules;

/* A kernel of a loaded module. It belongs to the context that loaded the
 * module. */
struct loaded {
    const struct function *function;
    struct owner owner;
    struct loaded *next;
};
static struct loaded *kernels;

API int cuModuleLoadData(struct module **out, const char *text)
{
    struct module *module;

    FAULT();
    UNSAFE();
    if (fake_no_context())
        return fake_no_context();
    if (!strstr(text, ".version") || !strstr(text, ".target sm_"))
        return INVALID_PTX;
    module = malloc(sizeof *module);
    if (!module)
        return OUT_OF_MEMORY;
    module->owner = fake_owner();
    module->text = strdup(text);
    module->next = modules;
    *out = modules = module;
    return module->text ? SUCCESS : OUT_OF_MEMORY;
}

/* Whether the text of a module has an entry with the name. */
static bool has_entry(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *at = text; (at = strstr(at, ".entry ")) != NULL;) {
        at += strlen(".entry ");
        if (!strncmp(at, name, length) && at[length] == '(')
            return true;
    }
    return false;
}

API int cuModuleGetFunction(struct loaded **out, const struct module *module,
                            const char *name)
{
    FAULT();
    fake_must_live(&module->owner, "a module");
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(functions[i].name, name) && has_entry(module->text, name)) {
            *out = malloc(sizeof **out);
            if (!*out)
                return OUT_OF_MEMORY;
            **out = (struct loaded){&functions[i], module->owner, kernels};
            kernels = *out;
            return SUCCESS;
        }
    return NOT_FOUND;
}

/* Waits until the resident kernel has begun, so that it is there for the next
 * order of the host. */
static void await_begin(const void *argument)
{
    struct nw_resident me;
    double since = fake_clock();

    memcpy(&me, argument, sizeof me);
    while (NW_PEEK(me.outbox) != me.epoch && !fake_broken &&
           fake_clock() - since < 10)
        (void)sched_yield();
}

API int cuLaunchKernel(const struct loaded *loaded, unsigned x, unsigned y,
                       unsigned z, unsigned thread_x, unsigned thread_y,
                       unsigned thread_z, unsigned shared,
                       struct stream *stream, void **arguments, void **more)
{
    const struct function *function = loaded->function;
    struct op op = {.work = WORK_KERNEL, .function = function, .blocks = x};
    int code;

    FAULT();
    fake_must_live(&loaded->owner, "a kernel");
    if (!x || y != 1 || z != 1 || thread_x != NW_GPU_THREADS || thread_y != 1 ||
        thread_z != 1 || shared || more || !arguments)
        return INVALID_VALUE;
    memcpy(op.argument, arguments[0], function->bytes);
    code = fake_push(stream, &op);
    if (!code && fake_stays(function) && patience())
        await_begin(op.argument);
    return code;
}

/* Whether a kernel of the context can access the address. Memory of another
 * context of the same GPU is not accessible. */
static bool within_reach(uint64_t address, const struct context *context)
{
    int whose;

    return fake_holds(address, 1, &whose) &&
           (whose < 0 || fake_context_of(address) == context ||
            (fake_is_opened(address) && context->reached >> whose & 1) ||
            (whose != fake_gpu_of(context) && context->reached >> whose & 1));
}

/* Reads the boxes that the argument describes and checks all of their
 * memory. */
static int boxes_of(const void *argument, uint32_t blocks,
                    struct nw_gpu_boxes *out)
{
    struct nw_gpu_boxes boxes;

    memcpy(&boxes, argument, sizeof boxes);
    boxes.box = real(boxes.box);
    boxes.owner = real(boxes.owner);
    boxes.shift = real(boxes.shift);
    *out = boxes;
    return (int)boxes.owner[blocks - 1] + 1;
}

static size_t bytes_of_boxes(const void *argument, uint32_t blocks)
{
    struct nw_gpu_boxes boxes;
    size_t bytes = 0;
    int count = boxes_of(argument, blocks, &boxes);

    for (int i = 0; i < count; i++)
        bytes += (size_t)boxes.box[i].x * boxes.box[i].y * boxes.box[i].z *
                 boxes.box[i].quantities * 4;
    return bytes;
}

bool fake_stays(const struct function *function)
{
    return !strcmp(function->name, NW_RESIDENT_KERNEL);
}

size_t fake_run_bytes(const struct function *function, const void *argument,
                      uint32_t blocks)
{
    if (fake_stays(function))
        return 0;
    return function->run ? bytes_of_boxes(argument, blocks)
                         : (size_t)blocks * NW_GPU_THREADS * sizeof(double);
}

/* Runs a kernel that packs, unpacks or copies boxes. */
static int run_boxes(const struct function *function, uint32_t blocks,
                     const void *argument, const struct context *context)
{
    struct nw_gpu_boxes boxes;
    int count = boxes_of(argument, blocks, &boxes), gpu;
    struct nw_gpu_boxes given;

    memcpy(&given, argument, sizeof given);
    /* if the table has not arrived yet, its contents are arbitrary */
    if (count < 1 || !fake_holds((uintptr_t)given.box,
                                 (size_t)count * sizeof *given.box, &gpu))
        return ILLEGAL_ADDRESS;
    for (int i = 0; i < count; i++)
        if (!within_reach(boxes.box[i].to, context) ||
            !within_reach(boxes.box[i].from, context))
            return ILLEGAL_ADDRESS;
    for (nw_block = 0; nw_block < blocks; nw_block++)
        for (nw_thread = 0; nw_thread < NW_GPU_THREADS; nw_thread++)
            function->run(boxes);
    return SUCCESS;
}

/* Runs the kernel of the example program. */
static int run_heat(uint32_t blocks, const void *argument,
                    const struct context *context)
{
    struct heat_step step;

    memcpy(&step, argument, sizeof step);
    if (!within_reach(step.to, context) || !within_reach(step.from, context))
        return ILLEGAL_ADDRESS;
    for (nw_block = 0; nw_block < blocks; nw_block++)
        for (nw_thread = 0; nw_thread < NW_GPU_THREADS; nw_thread++)
            heat_step(step);
    return SUCCESS;
}

/* Runs the resident kernel until the host ends it. */
static int run_resident(const void *argument, const struct context *context)
{
    struct nw_resident me;

    memcpy(&me, argument, sizeof me);
    if (!within_reach(me.inbox, context) || !within_reach(me.outbox, context))
        return ILLEGAL_ADDRESS;
    nw_block = nw_thread = 0;
    nw_resident(me);
    return SUCCESS;
}

int fake_run(const struct function *function, uint32_t blocks,
             const void *argument, const struct context *context)
{
    if (fake_stays(function))
        return run_resident(argument, context);
    return function->run ? run_boxes(function, blocks, argument, context)
                         : run_heat(blocks, argument, context);
}
