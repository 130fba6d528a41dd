/* SPDX-License-Identifier: BSD-3-Clause */
/* The heat example in GPU memory: the user's own kernel, launched in the
 * user's own stream. The driver is loaded at run time, so that one program
 * serves machines with and without GPUs. */
#include "heat.h"

#include "step_ptx.h"

#include <dlfcn.h>
#include <stddef.h>

static struct {
    int (*init)(unsigned), (*count)(int *), (*retain)(void **, int),
        (*use)(void *), (*load)(void **, const void *),
        (*get)(void **, void *, const char *), (*stream)(void **, unsigned),
        (*wait)(void *), (*in)(uintptr_t, const void *, size_t),
        (*out)(void *, uintptr_t, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                  unsigned, unsigned, void *, void **, void **);
} cuda;
static void *kernel, *stream;
static int32_t gpu;

static void find(void *out, const char *name)
{
    static void *driver;

    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        fail("libcuda.so.1 was not found");
    *(void **)out = dlsym(driver, name);
    if (!*(void **)out)
        fail(name);
}

static void find_all(void)
{
    find(&cuda.init, "cuInit");
    find(&cuda.count, "cuDeviceGetCount");
    find(&cuda.retain, "cuDevicePrimaryCtxRetain");
    find(&cuda.use, "cuCtxSetCurrent");
    find(&cuda.load, "cuModuleLoadData");
    find(&cuda.get, "cuModuleGetFunction");
    find(&cuda.stream, "cuStreamCreate");
    find(&cuda.wait, "cuStreamSynchronize");
    find(&cuda.in, "cuMemcpyHtoD_v2");
    find(&cuda.out, "cuMemcpyDtoH_v2");
    find(&cuda.launch, "cuLaunchKernel");
}

/* Ranks of a node take its GPUs in turn. */
static int place_on_node(void)
{
    MPI_Comm node;
    int place;

    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &place);
    MPI_Comm_free(&node);
    return place;
}

void gpu_open(struct nw_halo_options *options)
{
    void *context = NULL, *module = NULL;
    int count = 0;

    find_all();
    if (cuda.init(0) || cuda.count(&count) || !count)
        fail("no GPU here");
    gpu = place_on_node() % count;
    if (cuda.retain(&context, gpu) || cuda.use(context) ||
        cuda.load(&module, step_ptx) ||
        cuda.get(&kernel, module, "heat_step") || cuda.stream(&stream, 1))
        fail("the GPU does not take the kernel");
    options->memory_kind = NW_HALO_MEMORY_GPU;
    options->gpu = &gpu;
    options->stream = &stream;
}

void gpu_step(const struct run *run, const struct nw_halo_box *box,
              struct field to, struct field from)
{
    struct heat_step step = {.to = (uintptr_t)to.at,
                             .from = (uintptr_t)from.at,
                             .y = from.y,
                             .z = from.z,
                             .corners = run->corners};
    void *arguments[] = {&step};
    int64_t cells = 1;

    for (int axis = 0; axis < 3; axis++) {
        step.low[axis] = (int32_t)box->low[axis];
        step.count[axis] = (int32_t)(box->high[axis] - box->low[axis]);
        cells *= step.count[axis];
    }
    if (cells > 0 && cuda.launch(kernel, (unsigned)((cells + 255) / 256), 1, 1,
                                 256, 1, 1, 0, stream, arguments, NULL))
        fail("a launch failed");
}

void gpu_wait(void)
{
    if (cuda.wait(stream))
        fail("the GPU failed");
}

void gpu_put(struct field to, const struct field *host, int64_t planes)
{
    /* The copy comes from pageable memory, so it may end after its call. */
    if (cuda.in((uintptr_t)to.at, host->at,
                (size_t)(to.z * planes) * sizeof(double)) ||
        cuda.wait(NULL))
        fail("a copy to the GPU failed");
}

void gpu_get(struct field *host, struct field from, int64_t planes)
{
    gpu_wait();
    if (cuda.out(host->at, (uintptr_t)from.at,
                 (size_t)(from.z * planes) * sizeof(double)))
        fail("a copy from the GPU failed");
}
