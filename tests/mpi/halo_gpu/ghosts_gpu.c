/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests every ghost cell in GPU memory. The program is the one for host memory,
 * but the arrays have mirrors on the host. Just before an exchange, the
 * caller's own stream copies the mirrors to the GPU, and the program does not
 * wait for that. After the exchange, the arrays are copied back. It works with
 * the test double of the driver and on a GPU. */
#include <mpi.h>

#include <nodewise/halo.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int call();

static struct {
    call *init, *get_count, *retain, *set, *alloc, *free, *in, *out, *copy,
        *stream_new, *wait;
    long (*live)(void);
} cuda;

struct mirror {
    char *host, *gpu;
    size_t bytes;
    bool ours; /* allocated by this program, not by the library */
};

enum { MIRRORS = 64 };
static struct mirror mirrors[MIRRORS];
static int mirror_count;
static void *context, *stream;
static void *streams[8];
static int32_t gpus[8];

static void need(int failed, const char *what)
{
    if (!failed)
        return;
    fprintf(stderr, "%s failed\n", what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void find(void *out, const char *name)
{
    static void *driver;

    if (!driver)
        driver = dlopen("libcuda.so.1", RTLD_NOW);
    need(!driver, "dlopen of libcuda.so.1");
    *(void **)out = dlsym(driver, name);
}

static void open_driver(void)
{
    int rank, count = 0;

    find(&cuda.init, "cuInit");
    find(&cuda.get_count, "cuDeviceGetCount");
    find(&cuda.retain, "cuDevicePrimaryCtxRetain");
    find(&cuda.set, "cuCtxSetCurrent");
    find(&cuda.alloc, "cuMemAlloc_v2");
    find(&cuda.free, "cuMemFree_v2");
    find(&cuda.in, "cuMemcpyHtoD_v2");
    find(&cuda.out, "cuMemcpyDtoH_v2");
    find(&cuda.copy, "cuMemcpyAsync");
    find(&cuda.stream_new, "cuStreamCreate");
    find(&cuda.wait, "cuStreamSynchronize");
    find(&cuda.live, "fake_cuda_live");
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    need(cuda.init(0) || cuda.get_count(&count), "cuInit");
    for (int i = 0; i < 8; i++)
        gpus[i] = rank % count;
    need(cuda.retain(&context, gpus[0]) || cuda.set(context) ||
             cuda.stream_new(&stream, 1),
         "a context");
    for (int i = 0; i < 8; i++)
        streams[i] = stream;
}

static struct mirror *add_mirror(char *gpu, size_t bytes, bool ours)
{
    struct mirror *mirror = &mirrors[mirror_count++];

    need(mirror_count > MIRRORS, "room for a mirror");
    *mirror = (struct mirror){malloc(bytes), gpu, bytes, ours};
    need(!mirror->host, "malloc");
    return mirror;
}

static void *gpu_malloc(size_t bytes)
{
    uintptr_t pointer = 0;

    need(cuda.alloc(&pointer, bytes), "cuMemAlloc");
    return add_mirror((char *)pointer, bytes, true)->gpu;
}

static void gpu_free(void *host)
{
    for (int i = 0; i < mirror_count; i++)
        if (mirrors[i].host == host && mirrors[i].ours)
            need(cuda.free((uintptr_t)mirrors[i].gpu), "cuMemFree");
}

static void *gpu_base(const nw_halo *halo, int32_t piece, int32_t quantity)
{
    char *base = nw_halo_base(halo, piece, quantity);
    const int64_t *n = nw_halo_piece(halo, piece)->allocated;

    for (int i = 0; i < mirror_count; i++)
        if ((size_t)(base - mirrors[i].gpu) < mirrors[i].bytes)
            return mirrors[i].host + (base - mirrors[i].gpu);
    return add_mirror(base,
                      nw_halo_pitch(halo, piece, quantity) *
                          (size_t)(n[1] * n[2]),
                      false)
        ->host;
}

static nw_status gpu_plan(MPI_Comm comm, struct nw_halo_options *options,
                          nw_halo **out)
{
    if (!context)
        open_driver();
    for (int i = 0; i < mirror_count; i++)
        free(mirrors[i].host);
    mirror_count = 0;
    options->memory_kind = NW_HALO_MEMORY_GPU;
    options->gpu = options->memory ? gpus : NULL;
    options->stream = options->memory ? streams : NULL;
    return nw_halo_plan(comm, options, out);
}

static nw_status gpu_start(nw_halo *halo, const int32_t *subset, int32_t count)
{
    for (int i = 0; i < mirror_count; i++) {
        const struct mirror *mirror = &mirrors[i];
        uintptr_t gpu = (uintptr_t)mirror->gpu;

        need(mirror->ours ? cuda.copy(gpu, mirror->host, mirror->bytes, stream)
                          : cuda.in(gpu, mirror->host, mirror->bytes),
             "a copy to the GPU");
    }
    return nw_halo_start(halo, subset, count);
}

static nw_status gpu_wait(nw_halo *halo)
{
    nw_status status = nw_halo_wait(halo);

    for (int i = 0; !status && i < mirror_count; i++)
        need(cuda.out(mirrors[i].host, (uintptr_t)mirrors[i].gpu,
                      mirrors[i].bytes),
             "a copy from the GPU");
    return status;
}

#define malloc gpu_malloc
#define free gpu_free
#define nw_halo_base gpu_base
#define nw_halo_plan gpu_plan
#define nw_halo_start gpu_start
#define nw_halo_wait gpu_wait
#include "../halo/ghosts.c"
