/* SPDX-License-Identifier: BSD-3-Clause */
/* GPU operations in one table, equal for NVIDIA and AMD GPUs. Operations with a
 * stream argument do not wait for the GPU, except stream_wait; those that copy,
 * fill, launch, record or join only add work to the stream. All others are
 * complete when they return, except `drop`. Operations that create an object
 * use the current GPU of the calling thread. */
#ifndef NW_GPU_GPU_H
#define NW_GPU_GPU_H

#include <nodewise/gpu.h>
#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Handles of the driver, such as the stream that cuStreamCreate or
 * cudaStreamCreate makes. NULL is the default stream. */
typedef struct nw_gpu_stream *nw_gpu_stream;
typedef struct nw_gpu_event *nw_gpu_event;
typedef struct nw_gpu_graph *nw_gpu_graph;

/* Handle by which another process opens memory or an event. */
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
 * the distance between planes is a multiple of that between rows. */
struct nw_gpu_copy {
    void *to;
    const void *from;
    size_t row_bytes, rows, planes;
    size_t to_row, to_plane, from_row, from_plane;
    int32_t to_gpu, from_gpu; /* GPU of each memory; if they differ, both
                                 memories are on GPUs */
};

/* Identifies the context that the library uses on a GPU, until that context is
 * destroyed. */
struct nw_gpu_life {
    int32_t gpu;
    uint64_t id; /* 0: unknown, treated as alive */
};

/* Maximum number of GPUs of a process, as in the driver. */
enum { NW_GPUS = 64 };

/* The operations of one driver. Functions that return bool return false on
 * failure, but `serves` and `lives` return true if the answer is unknown. HIP
 * has no `range`, `id` and `keep_in_step`; they are NULL. */
struct nw_gpu {
    const char *name;
    /* Loads the driver and sets *count to the number of GPUs (at least one).
     * Returns NW_ENODEV if the driver or a GPU is missing. Call it before all
     * other functions. */
    nw_status (*open)(int32_t *count);
    /* Makes `gpu` the current GPU of the calling thread. */
    nw_status (*select)(int32_t gpu);
    /* `context` returns the current context of the calling thread, and
     * `restore` makes it current again. They are called around library code in
     * a thread whose program may have its own context. */
    void *(*context)(void);
    void (*restore)(void *context);
    /* Returns whether kernels of this library may access the memory. They may
     * not if the program allocated it in another context than the library
     * uses. */
    bool (*serves)(const void *memory);
    /* `life` returns the life of the current context. A life ends when the
     * program resets the GPU or destroys the context. Objects of that context
     * must then not be used or freed. `lives` returns whether a life goes on.
     */
    struct nw_gpu_life (*life)(void);
    bool (*lives)(const struct nw_gpu_life *life);
    nw_status (*properties)(int32_t gpu, struct nw_gpu_properties *out);

    /* `alloc` returns NW_ENOMEM, with the amount of free memory in the message,
     * if memory is short. */
    nw_status (*alloc)(size_t bytes, void **out);
    void (*free)(void *memory); /* NULL is allowed; waits for the GPU */
    void (*drop)(void *memory); /* frees unused memory, without waiting if the
                                   driver can */
    /* Synchronous copies between GPU memory and any host memory. They run after
     * earlier work in the program's default stream, and do not wait for the
     * program's other streams. */
    nw_status (*copy_in)(void *gpu, const void *host, size_t bytes);
    nw_status (*copy_out)(void *host, const void *gpu, size_t bytes);
    /* Allocates host memory that GPUs can access at the same address. */
    nw_status (*alloc_pinned)(size_t bytes, void **out);
    void (*free_pinned)(void *memory); /* NULL is allowed */
    /* Returns whether the memory is on a GPU, and sets *gpu to the number of
     * this GPU (-1: none, or unknown). With CUDA, managed memory counts as GPU
     * memory. */
    bool (*holds)(const void *memory, int32_t *gpu);
    nw_status (*range)(const void *memory, struct nw_gpu_range *out);
    /* Returns the id of the allocation that contains an address, or 0 if the
     * driver did not allocate this memory. Cached facts about an allocation are
     * valid as long as its id is the same. */
    uint64_t (*id)(const void *memory);
    /* Makes later synchronous copies into the allocation complete when they
     * return. Needed for memory that is also accessed without the driver, for
     * example by a NIC. */
    nw_status (*keep_in_step)(void *memory);

    /* `can_access_peer` returns whether kernels and copies of GPU `from` can
     * access the memory of GPU `to`. `enable_peer_access` enables this for the
     * current GPU; repeated calls are allowed. */
    bool (*can_access_peer)(int32_t from, int32_t to);
    nw_status (*enable_peer_access)(int32_t to);

    /* Returns the library's own stream on the current GPU, for work that the
     * caller waits for at once; NULL, the default stream, if there is none. The
     * work runs after earlier work in the program's default stream, and does
     * not wait for the program's other streams. */
    nw_gpu_stream (*own)(void);
    nw_status (*stream_new)(nw_gpu_stream *out); /* its work waits for no other
                                                    stream */
    void (*stream_free)(nw_gpu_stream stream);
    /* Sets *done to whether all work of the stream is complete. Returns the
     * error of that work, if any. */
    nw_status (*stream_test)(nw_gpu_stream stream, bool *done);
    nw_status (*stream_wait)(nw_gpu_stream stream);
    nw_status (*event_new)(nw_gpu_event *out);
    nw_status (*event_new_shared)(nw_gpu_event *out); /* may be exported */
    void (*event_free)(nw_gpu_event event);
    nw_status (*event_record)(nw_gpu_event event, nw_gpu_stream stream);
    nw_status (*event_test)(nw_gpu_event event, bool *done);
    /* Makes later work in the stream wait for the last recording of the event,
     * even if another process recorded it. */
    nw_status (*event_join)(nw_gpu_event event, nw_gpu_stream stream);

    nw_status (*copy)(void *to, const void *from, size_t bytes,
                      nw_gpu_stream stream);
    nw_status (*copy_box)(const struct nw_gpu_copy *copy, nw_gpu_stream stream);
    nw_status (*fill)(void *to, int byte, size_t bytes, nw_gpu_stream stream);
    /* Loads an embedded kernel on the current GPU, so that it can be launched
     * during graph capture and its first launch is not slower. */
    nw_status (*load)(const char *kernel);
    /* Launches an embedded kernel by its name, with one argument. */
    nw_status (*launch)(const char *kernel, uint32_t blocks, void *argument,
                        nw_gpu_stream stream);

    /* Between graph_begin and graph_end, work that is added to the stream is
     * recorded instead of run. The graph can be launched any number of
     * times. */
    nw_status (*graph_begin)(nw_gpu_stream stream);
    nw_status (*graph_end)(nw_gpu_stream stream, nw_gpu_graph *out);
    nw_status (*graph_launch)(nw_gpu_graph graph, nw_gpu_stream stream);
    void (*graph_free)(nw_gpu_graph graph);

    /* Share memory with another process. memory_export makes a handle for
     * memory that came from `alloc`. The handle stands for the whole
     * allocation, and *offset is the offset of `memory` inside it.
     * memory_import opens the handle, in another process than the one that
     * exported it. NW_EUNSUPPORTED: this GPU cannot access that memory. */
    nw_status (*memory_export)(void *memory, struct nw_gpu_handle *out,
                               size_t *offset);
    nw_status (*memory_import)(const struct nw_gpu_handle *handle, void **out);
    void (*memory_close)(void *memory);
    nw_status (*event_export)(nw_gpu_event event, struct nw_gpu_handle *out);
    nw_status (*event_import)(const struct nw_gpu_handle *handle,
                              nw_gpu_event *out);
};

extern const struct nw_gpu nw_gpu_cuda;
extern const struct nw_gpu nw_gpu_hip; /* never tested on a GPU */
/* In after_reset.c: the table for objects on a GPU that was reset. Its
 * functions do nothing, so that objects can be freed without the driver. */
extern const struct nw_gpu nw_gpu_after_reset;
/* In open.c: sets *out to the table of the driver that is present, CUDA first,
 * and *count to the number of GPUs. Without a driver, *out is NULL and an error
 * is returned. */
NW_MUST_CHECK nw_status nw_gpu_open(const struct nw_gpu **out, int32_t *count);

#endif
