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

/* The driver's own handles, such as one from cuStreamCreate or
 * cudaStreamCreate. NULL is the default stream. */
typedef struct nw_gpu_stream *nw_gpu_stream;
typedef struct nw_gpu_event *nw_gpu_event;
typedef struct nw_gpu_graph *nw_gpu_graph;

/* Handle with which another process opens memory or an event. */
struct nw_gpu_handle {
    char bytes[64];
};

/* The allocation that contains an address. */
struct nw_gpu_range {
    void *start;
    size_t bytes;
    uint64_t id; /* unique, also after the allocation is freed */
};

/* A copy of a box of bytes between any two memories. Distances are in bytes;
 * those of planes are multiples of those of rows. */
struct nw_gpu_copy {
    void *to;
    const void *from;
    size_t row_bytes, rows, planes;
    size_t to_row, to_plane, from_row, from_plane;
    int32_t to_gpu, from_gpu; /* if they differ, both memories are on GPUs */
};

/* Identifies the context in which the library works on a GPU, until that
 * context ends. */
struct nw_gpu_life {
    int32_t gpu;
    uint64_t id; /* 0: not known, treated as alive */
};

/* Maximum number of GPUs of a process; the driver shows no more. */
enum { NW_GPUS = 64 };

struct nw_gpu {
    const char *name;
    /* Loads the driver and counts the GPUs (at least one). NW_ENODEV without a
     * driver or a GPU. Call it before all other functions. */
    nw_status (*open)(int32_t *count);
    /* Makes a GPU current for the calling thread. */
    nw_status (*select)(int32_t gpu);
    /* Get the current context and restore it, around calls on behalf of a
     * caller that has a context of its own. */
    void *(*context)(void);
    void (*restore)(void *context);
    /* Whether kernels of this library may access the memory. They may not if
     * the program allocated it in another context than the library uses. */
    bool (*serves)(const void *memory);
    /* Life of the current context. It ends when the program resets the GPU or
     * destroys the context. Objects made in an ended life must not be used, not
     * even freed. */
    struct nw_gpu_life (*life)(void);
    bool (*lives)(const struct nw_gpu_life *life);
    nw_status (*facts)(int32_t gpu, struct nw_gpu_properties *out);

    /* NW_ENOMEM, with the free amount in the message, if memory is short. */
    nw_status (*alloc)(size_t bytes, void **out);
    void (*free)(void *memory); /* NULL is fine; waits for the GPU */
    void (*drop)(void *memory); /* frees unused memory without waiting */
    /* Synchronous copies between GPU memory and any host memory. They run after
     * the earlier work of the program's default stream, and do not wait for its
     * other streams. */
    nw_status (*copy_in)(void *gpu, const void *host, size_t bytes);
    nw_status (*copy_out)(void *host, const void *gpu, size_t bytes);
    /* Host memory that GPUs access at the same address. */
    nw_status (*alloc_pinned)(size_t bytes, void **out);
    void (*free_pinned)(void *memory); /* NULL is fine */
    /* Whether memory is on a GPU, and on which (-1: none). Managed memory
     * counts as GPU memory. */
    bool (*holds)(const void *memory, int32_t *gpu);
    nw_status (*range)(const void *memory, struct nw_gpu_range *out);
    /* The id of an allocation, 0 without one. Cached facts about an allocation
     * are valid as long as its id is the same. */
    uint64_t (*id)(const void *memory);
    /* Makes later synchronous copies into the allocation complete when they
     * return. Needed for memory that is also accessed without the driver. */
    nw_status (*keep_in_step)(void *memory);

    /* Whether kernels and copies of one GPU can access the memory of another.
     * Enables this for the current GPU; repeated calls are allowed. */
    bool (*reaches)(int32_t from, int32_t to);
    nw_status (*reach)(int32_t to);

    /* The library's own stream on the current GPU, for work that the caller
     * waits for at once. The work runs after the earlier work of the program's
     * default stream, and does not wait for its other streams. */
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
    /* Later work of the stream runs after the last recording of the event, in
     * whichever process that was. */
    nw_status (*event_join)(nw_gpu_event event, nw_gpu_stream stream);

    nw_status (*copy)(void *to, const void *from, size_t bytes,
                      nw_gpu_stream stream);
    nw_status (*copy_box)(const struct nw_gpu_copy *copy, nw_gpu_stream stream);
    nw_status (*fill)(void *to, int byte, size_t bytes, nw_gpu_stream stream);
    /* Loads an embedded kernel on the current GPU, so that it can be launched
     * inside a graph and its first launch is not slower. */
    nw_status (*load)(const char *kernel);
    /* Launches an embedded kernel by its name, with one argument. */
    nw_status (*launch)(const char *kernel, uint32_t blocks, void *argument,
                        nw_gpu_stream stream);

    /* Between graph_begin and graph_end, work put into the stream is recorded
     * instead of run. The graph can be launched any number of times. */
    nw_status (*graph_begin)(nw_gpu_stream stream);
    nw_status (*graph_end)(nw_gpu_stream stream, nw_gpu_graph *out);
    nw_status (*graph_launch)(nw_gpu_graph graph, nw_gpu_stream stream);
    void (*graph_free)(nw_gpu_graph graph);

    /* Opens memory from `alloc` in another process. A handle stands for the
     * whole allocation; `offset` is the place of the memory inside it. Do not
     * import in the process that exports. */
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
/* after_reset.c: for objects of a GPU that was reset; it only frees them. */
extern const struct nw_gpu nw_gpu_after_reset;
/* open.c: the table of the driver that is present, CUDA first. NULL and an
 * error without a driver. */
NW_MUST_CHECK nw_status nw_gpu_open(const struct nw_gpu **out, int32_t *count);

#endif
