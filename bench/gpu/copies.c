/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time of the driver's own copies and kernel launches, without
 * Nodewise. Copies are from host to GPU and from GPU to host, with pinned and
 * with pageable memory, and inside the GPU. The program prints medians as rows
 * "NAME VALUE"; the name contains the unit, us or GB/s.
 *
 *     gpu-copies [BYTES]      (of a large copy: 268435456)
 *
 * Exit status 77: the driver or the GPU is missing.
 */
#include "base/clock.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALL_TURNS = 2000, LARGE_TURNS = 15, MOST_TURNS = 2000 };

static struct {
    int (*init)(unsigned flags);
    int (*count)(int *gpus);
    int (*retain)(void **context, int device);
    int (*set)(void *context);
    int (*alloc)(uint64_t *memory, size_t bytes);
    int (*pin)(void **host, size_t bytes, unsigned flags);
    int (*in)(uint64_t to, const void *from, size_t bytes);
    int (*out)(void *to, uint64_t from, size_t bytes);
    int (*copy)(uint64_t to, uint64_t from, size_t bytes, void *stream);
    int (*stream_new)(void **stream, unsigned flags);
    int (*wait)(void *stream);
} cuda;

static uint64_t gpu[2];
static void *stream;

static void must(int code, const char *what)
{
    if (!code)
        return;
    fprintf(stderr, "gpu-copies: %s answers %d\n", what, code);
    exit(1);
}

static void open_gpu(void)
{
    static const char *const names[] = {
        "cuInit",          "cuDeviceGetCount",   "cuDevicePrimaryCtxRetain",
        "cuCtxSetCurrent", "cuMemAlloc_v2",      "cuMemHostAlloc",
        "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2",    "cuMemcpyAsync",
        "cuStreamCreate",  "cuStreamSynchronize"};
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int gpus = 0;

    for (size_t i = 0; driver && i < sizeof names / sizeof *names; i++) {
        void *found = dlsym(driver, names[i]);

        memcpy((char *)&cuda + i * sizeof found, &found, sizeof found);
    }
    if (!driver || cuda.init(0) || cuda.count(&gpus) || !gpus) {
        fprintf(stderr, "gpu-copies: no CUDA driver or no GPU\n");
        exit(77);
    }
    must(cuda.retain(&context, 0) || cuda.set(context), "the context");
    must(cuda.stream_new(&stream, 1), "cuStreamCreate");
}

static int compare_times(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

enum direction { IN, OUT, INSIDE };

static void copy_once(enum direction direction, void *host, size_t bytes)
{
    int code = direction == IN    ? cuda.in(gpu[0], host, bytes)
               : direction == OUT ? cuda.out(host, gpu[0], bytes)
                                  : cuda.copy(gpu[1], gpu[0], bytes, stream);

    must(code, "a copy");
    /* a copy from pageable memory may still be in progress */
    must(cuda.wait(direction == INSIDE ? stream : NULL), "the wait");
}

static void measure(const char *name, enum direction direction, void *host,
                    size_t bytes)
{
    static uint64_t times[MOST_TURNS];
    bool large = bytes > 65536;
    int turns = large ? LARGE_TURNS : SMALL_TURNS;
    double us;

    for (int i = -3; i < turns; i++) {
        uint64_t since = nw_clock_ns();

        copy_once(direction, host, bytes);
        if (i >= 0)
            times[i] = nw_clock_ns() - since;
    }
    qsort(times, (size_t)turns, sizeof *times, compare_times);
    us = (double)times[turns / 2] * 1e-3;
    printf("%s.%s %.3f\n", name, large ? "GBs" : "8B.us",
           large ? (double)bytes * 1e-3 / us : us);
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 268435456;
    char *pageable = malloc(bytes), *pinned;

    open_gpu();
    if (!pageable)
        return 1;
    memset(pageable, 1, bytes);
    must(cuda.pin((void **)&pinned, bytes, 0), "cuMemHostAlloc");
    for (int i = 0; i < 2; i++)
        must(cuda.alloc(&gpu[i], bytes), "cuMemAlloc");
    for (int i = 0; i < 2; i++) {
        size_t size = i ? bytes : 8;

        measure("in.pinned", IN, pinned, size);
        measure("in.pageable", IN, pageable, size);
        measure("out.pinned", OUT, pinned, size);
        measure("out.pageable", OUT, pageable, size);
        measure("inside", INSIDE, NULL, size);
    }
    free(pageable);
    return 0;
}
