/* SPDX-License-Identifier: BSD-3-Clause */
/* The embedded kernels on NVIDIA GPUs: the driver compiles their PTX code at
 * the first load or launch on a GPU, and again after the GPU was reset. */
#include "gpu/cuda.h"

#include "base/status.h"
#include "gpu/kernels.h"
#include "gpu/resident.h"

#include <pthread.h>
#include <string.h>

enum {
    BOXES = NW_GPU_WORK_COUNT * NW_GPU_WIDTHS,
    /* BOXES kernels, then the resident kernel, which has its own PTX code */
    KERNELS,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static cu_module modules[NW_GPUS][2];
static cu_function functions[NW_GPUS][KERNELS];

static const char *cuda_kernels_name_of(int index)
{
    return index == BOXES ? NW_RESIDENT_KERNEL
                          : nw_gpu_kernel_name[index / NW_GPU_WIDTHS]
                                              [index % NW_GPU_WIDTHS];
}

static int index_of(const char *kernel)
{
    for (int i = 0; i < KERNELS; i++)
        if (!strcmp(kernel, cuda_kernels_name_of(i)))
            return i;
    return -1;
}

/* Compiles PTX code, even while other threads capture streams. */
static int load_module(cu_module *module, const char *text)
{
    int mode = nw_cuda_relax();
    int code = nw_cuda.module_load(module, text);

    nw_cuda_unrelax(mode);
    return code;
}

void nw_cuda_forget_kernels(int32_t gpu)
{
    if (gpu >= NW_GPUS)
        return;
    pthread_mutex_lock(&lock);
    memset(modules[gpu], 0, sizeof modules[gpu]);
    memset(functions[gpu], 0, sizeof functions[gpu]);
    pthread_mutex_unlock(&lock);
}

static int cuda_kernels_find(int gpu, int index, cu_function *out)
{
    cu_module *module = &modules[gpu][index == BOXES];
    const char *text = index == BOXES ? nw_gpu_resident_ptx : nw_gpu_ptx;
    int code = 0;

    pthread_mutex_lock(&lock);
    if (!*module)
        code = load_module(module, text);
    if (!code && !functions[gpu][index])
        code = nw_cuda.module_get(&functions[gpu][index], *module,
                                  cuda_kernels_name_of(index));
    *out = functions[gpu][index];
    pthread_mutex_unlock(&lock);
    return code;
}

static nw_status kernel_get(const char *kernel, cu_function *out)
{
    int gpu = 0, index = index_of(kernel);
    int code = nw_cuda.context_device(&gpu);

    if (index < 0 || gpu >= NW_GPUS)
        return nw_fail(NW_EINVAL, "no kernel '%s' for GPU %d", kernel, gpu);
    if (!code)
        code = cuda_kernels_find(gpu, index, out);
    return nw_cuda_check(code, "load a kernel");
}

nw_status nw_cuda_load(const char *kernel)
{
    cu_function function = NULL;

    return kernel_get(kernel, &function);
}

nw_status nw_cuda_launch(const char *kernel, uint32_t blocks, void *argument,
                         nw_gpu_stream stream)
{
    void *arguments[] = {argument};
    cu_function function = NULL;
    nw_status status = kernel_get(kernel, &function);
    int code = 0;

    if (!status)
        code = nw_cuda.launch(function, blocks, 1, 1, NW_GPU_THREADS, 1, 1, 0,
                              stream, arguments, NULL);
    return status ? status : nw_cuda_check(code, "launch a kernel");
}
