/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the CUDA driver or of its test double that these programs
 * use. They are found at run time, so that the programs are compiled and linked
 * without them. */
#ifndef NW_TEST_MESSAGES_DRIVER_H
#define NW_TEST_MESSAGES_DRIVER_H

#include <mpi.h>
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include <dlfcn.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>

static struct {
    int (*alloc)(uint64_t *, size_t);
    int (*in)(uint64_t, const void *, size_t);
    int (*out)(void *, uint64_t, size_t);
    unsigned long (*uses)(const char *); /* NULL with the real driver, as is
                                            `pieces` */
    unsigned long (*pieces)(void);
} cuda;

static void need(int failed, const char *what)
{
    if (!failed)
        return;
    fprintf(stderr, "%s: %s fails\n", program_invocation_short_name, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static void open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);

    need(!driver, "dlopen");
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&cuda.alloc = dlsym(driver, "cuMemAlloc_v2");
    *(void **)&cuda.in = dlsym(driver, "cuMemcpyHtoD_v2");
    *(void **)&cuda.out = dlsym(driver, "cuMemcpyDtoH_v2");
    *(void **)&cuda.uses = dlsym(driver, "fake_cuda_uses");
    *(void **)&cuda.pieces = dlsym(driver, "fake_cuda_pieces");
    need(init(0) || retain(&context, 0) || set(context), "cuInit");
}

#endif
