/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * GPU operations behind one table, whoever made the GPU. Calls whose names end
 * in nothing special are done when they return; those that take a stream only
 * put work into it, and never wait for the GPU. Calls that make something act
 * on the GPU that is current for the calling thread.
 */
#ifndef NW_GPU_GPU_H
#define NW_GPU_GPU_H

#include <nodewise/gpu.h>
#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The driver's own handles: what cuStreamCreate or cudaStreamCreate gave fits
 * too. NULL is the default stream. */
typedef struct nw_gpu_stream *nw_gpu_stream;
typedef struct nw_gpu_event *nw_gpu_event;
typedef struct nw_gpu_graph *nw_gpu_graph;

/* What another process needs to open memory or an event. */
struct nw_gpu_handle {
    char bytes[64];
};

/* The allocation that memory lies in. */
struct nw_gpu_range {
    void *start;
    size_t bytes;
    uint64_t id; /* never that of another, earlier or later */
};

/* A copy of a box of bytes between any two memories. Distances are in bytes;
 * those of planes are multiples of those of rows. */
struct nw_gpu_copy {
    void *to;
    const void *from;
    size_t row_bytes, rows, planes;
    size_t to_row, to_plane, from_row, from_plane;
    int32_t to_gpu, from_gpu; /* where they differ, both are memory of GPUs */
};

/* One life of the context in which the library works on a GPU. */
struct nw_gpu_life {
    int32_t gpu;
    uint64_t id; /* 0: not known, taken for living */
};

/* GPUs of a process, at most: the driver shows no more. */
enum { NW_GPUS = 64 };

struct nw_gpu {
    const char *name;
    /* Loads the driver; the number of GPUs, at least one. NW_ENODEV where
     * there is no driver or no GPU. Every other call comes after it. */
    nw_status (*open)(int32_t *count);
    /* Makes a GPU current for the calling thread. */
    nw_status (*select)(int32_t gpu);
    /* The context that is current, and back to it: around calls made on behalf
     * of a caller who has his own. */
    void *(*context)(void);
    void (*restore)(void *context);
    /* Whether kernels of this library may touch the memory: not where the
     * program allocated it in another context than the one used on its GPU. */
    bool (*serves)(const void *memory);
    /* Of the current context. It ends when the program resets the GPU or
     * destroys the context. What was made in that life must not be touched
     * then, not even freed. */
    struct nw_gpu_life (*life)(void);
    bool (*lives)(const struct nw_gpu_life *life);
    nw_status (*facts)(int32_t gpu, struct nw_gpu_properties *out);

    /* NW_ENOMEM, with what is free, where the GPU has not so much. */
    nw_status (*alloc)(size_t bytes, void **out);
    void (*free)(void *memory); /* NULL is fine; waits for the GPU */
    void (*drop)(
        void *memory); /* no work uses it any more: waits for nothing */
    /* Between GPU memory and any host memory; done, on the GPU too, when they
     * return. They come after the work that the program put into the default
     * stream before, and wait for no other stream of the program's. */
    nw_status (*copy_in)(void *gpu, const void *host, size_t bytes);
    nw_status (*copy_out)(void *host, const void *gpu, size_t bytes);
    /* Host memory that GPUs reach at the same address. */
    nw_status (*alloc_pinned)(size_t bytes, void **out);
    void (*free_pinned)(void *memory); /* NULL is fine */
    /* Whether memory is a GPU's, and whose (-1 where it is not). Managed memory
     * counts as a GPU's. */
    bool (*holds)(const void *memory, int32_t *gpu);
    nw_status (*range)(const void *memory, struct nw_gpu_range *out);
    /* Its id alone, 0 where it has none: what is known of an allocation still
     * holds where this has not changed. */
    uint64_t (*id)(const void *memory);
    /* From now on synchronous copies into that allocation are done when they
     * return: for memory that others than the driver read and write, too. */
    nw_status (*keep_in_step)(void *memory);

    /* Whether kernels and copies of one GPU reach another's memory; opens the
     * way from the current one, where asked again is fine. */
    bool (*reaches)(int32_t from, int32_t to);
    nw_status (*reach)(int32_t to);

    /* A stream of the library's on the current GPU, for work that is waited for
     * at once. That comes after the work that the program put into the default
     * stream before, and waits for no other stream of the program's. */
    nw_gpu_stream (*own)(void);
    nw_status (*stream_new)(nw_gpu_stream *out); /* waits for no other stream */
    void (*stream_free)(nw_gpu_stream stream);
    /* Whether all its work is done; the error of any of it. */
    nw_status (*stream_test)(nw_gpu_stream stream, bool *done);
    nw_status (*stream_wait)(nw_gpu_stream stream);
    nw_status (*event_new)(nw_gpu_event *out);
    nw_status (*event_new_shared)(nw_gpu_event *out); /* may be exported */
    void (*event_free)(nw_gpu_event event);
    nw_status (*event_record)(nw_gpu_event event, nw_gpu_stream stream);
    nw_status (*event_test)(nw_gpu_event event, bool *done);
    /* Work put into the stream from now on comes after the event as it was
     * last recorded, by whichever process. */
    nw_status (*event_join)(nw_gpu_event event, nw_gpu_stream stream);

    nw_status (*copy)(void *to, const void *from, size_t bytes,
                      nw_gpu_stream stream);
    nw_status (*copy_box)(const struct nw_gpu_copy *copy, nw_gpu_stream stream);
    nw_status (*fill)(void *to, int byte, size_t bytes, nw_gpu_stream stream);
    /* Makes an embedded kernel ready on the current GPU: a launch may then be
     * put into a graph, and takes no time to begin with. */
    nw_status (*load)(const char *kernel);
    /* One of the embedded kernels by its name, with one argument. */
    nw_status (*launch)(const char *kernel, uint32_t blocks, void *argument,
                        nw_gpu_stream stream);

    /* Work put into the stream between the two is not done but becomes a
     * graph, to be launched as one, any number of times. */
    nw_status (*graph_begin)(nw_gpu_stream stream);
    nw_status (*graph_end)(nw_gpu_stream stream, nw_gpu_graph *out);
    nw_status (*graph_launch)(nw_gpu_graph graph, nw_gpu_stream stream);
    void (*graph_free)(nw_gpu_graph graph);

    /* Memory from `alloc` opened in another process. `offset` is how far
     * inside its allocation, which is what a handle stands for, it begins.
     * Never in the process that exports. */
    nw_status (*memory_export)(void *memory, struct nw_gpu_handle *out,
                               size_t *offset);
    nw_status (*memory_import)(const struct nw_gpu_handle *handle, void **out);
    void (*memory_close)(void *memory);
    nw_status (*event_export)(nw_gpu_event event, struct nw_gpu_handle *out);
    nw_status (*event_import)(const struct nw_gpu_handle *handle,
                              nw_gpu_event *out);
};

extern const struct nw_gpu nw_gpu_cuda;
extern const struct nw_gpu nw_gpu_hip; /* never run */
/* after_reset.c: for things of a GPU that was reset; only what gives them back
 */
extern const struct nw_gpu nw_gpu_after_reset;
/* open.c: the one whose driver is here, CUDA first; NULL and its error where
 * there is none. */
NW_MUST_CHECK nw_status nw_gpu_open(const struct nw_gpu **out, int32_t *count);

#endif
