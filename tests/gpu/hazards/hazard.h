/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Declares the functions that the hazard programs share: they open the driver
 * as a program without the CUDA toolkit does, and they end a program. On rank
 * 0, each program prints "ok NAME" or "FAULT NAME: ..."; its exit status
 * agrees, and is 77 without a driver or a GPU, or for a driver that lacks what
 * the program tests.
 */
#ifndef NW_TESTS_GPU_HAZARD_H
#define NW_TESTS_GPU_HAZARD_H

#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HAZARD_CALLS(X)                                                        \
    X(init, "cuInit", (unsigned flags))                                        \
    X(count, "cuDeviceGetCount", (int *count))                                 \
    X(retain, "cuDevicePrimaryCtxRetain", (void **context, int device))        \
    X(reset, "cuDevicePrimaryCtxReset_v2", (int device))                       \
    X(create, "cuCtxCreate_v2", (void **context, unsigned flags, int device))  \
    X(destroy, "cuCtxDestroy_v2", (void *context))                             \
    X(set, "cuCtxSetCurrent", (void *context))                                 \
    X(get, "cuCtxGetCurrent", (void **context))                                \
    X(alloc, "cuMemAlloc_v2", (uint64_t * memory, size_t bytes))               \
    X(free, "cuMemFree_v2", (uint64_t memory))                                 \
    X(in, "cuMemcpyHtoD_v2", (uint64_t to, const void *from, size_t bytes))    \
    X(out, "cuMemcpyDtoH_v2", (void *to, uint64_t from, size_t bytes))         \
    X(copy, "cuMemcpyAsync",                                                   \
      (uint64_t to, uint64_t from, size_t bytes, void *stream))                \
    X(fill, "cuMemsetD8Async",                                                 \
      (uint64_t to, unsigned char byte, size_t bytes, void *stream))           \
    X(pin, "cuMemHostAlloc", (void **host, size_t bytes, unsigned flags))      \
    X(stream_new, "cuStreamCreate", (void **stream, unsigned flags))           \
    X(wait, "cuStreamSynchronize", (void *stream))

enum { HAZARD_NON_BLOCKING = 1 }; /* a flag of cuStreamCreate */

static struct {
    const char *name;
    int rank, ranks;
    void *driver, *context;
#define HAZARD_MEMBER(member, symbol, arguments) int(*member) arguments;
    HAZARD_CALLS(HAZARD_MEMBER)
#undef HAZARD_MEMBER
} hazard;

static inline void hazard_absent(const char *what)
{
    if (!hazard.rank)
        printf("absent %s: %s\n", hazard.name, what);
    MPI_Finalize();
    exit(77);
}

/* Ends the job if `code`, a driver's or MPI's, is not 0. */
static inline void hazard_must(int code, const char *what)
{
    if (!code)
        return;
    printf("FAULT %s: rank %d: %s answers %d\n", hazard.name, hazard.rank, what,
           code);
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static inline void hazard_begin(const char *name, int threads)
{
    int provided = 0, gpus = 0;

    hazard.name = name;
    MPI_Init_thread(NULL, NULL, threads, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &hazard.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &hazard.ranks);
    if (provided < threads)
        hazard_absent("this MPI lacks MPI_THREAD_MULTIPLE");
    hazard.driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!hazard.driver)
        hazard_absent("no CUDA driver (libcuda.so.1)");
#define HAZARD_FIND(member, symbol, arguments)                                 \
    *(void **)&hazard.member = dlsym(hazard.driver, symbol);
    HAZARD_CALLS(HAZARD_FIND)
#undef HAZARD_FIND
    if (hazard.init(0) || hazard.count(&gpus) || !gpus)
        hazard_absent("no GPU");
}

/* Makes the primary context current, which the runtime library also uses. */
static inline void hazard_primary(void)
{
    hazard_must(hazard.retain(&hazard.context, 0), "cuDevicePrimaryCtxRetain");
    hazard_must(hazard.set(hazard.context), "cuCtxSetCurrent");
}

static inline uint64_t hazard_memory(size_t bytes)
{
    uint64_t memory = 0;

    hazard_must(hazard.alloc(&memory, bytes), "cuMemAlloc");
    return memory;
}

static inline char hazard_byte(long turn, int from, size_t i)
{
    return (char)(i * 7 + i / 251 + (size_t)turn * 13 + (size_t)from * 101 + 1);
}

/* Prints the result by the number of wrong bytes of all ranks; returns the exit
 * status. Collective. */
static inline int hazard_result(long wrong)
{
    long all = 0;

    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (!hazard.rank && all)
        printf("FAULT %s: %ld bytes are wrong\n", hazard.name, all);
    if (!hazard.rank && !all)
        printf("ok %s\n", hazard.name);
    fflush(stdout);
    return all != 0;
}

/* Calls hazard_result and MPI_Finalize; returns the exit status. */
static inline int hazard_end(long wrong)
{
    int code = hazard_result(wrong);

    MPI_Finalize();
    return code;
}

#endif
