/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the CUDA driver that this library uses. The list
 * CUDA_SYMBOLS gives their names and types; struct nw_cuda is made from it and
 * is filled when the driver is loaded. */
#ifndef NW_GPU_CUDA_H
#define NW_GPU_CUDA_H

#include "gpu/gpu.h"

/* The driver's type of a GPU memory address: an integer of pointer size. */
typedef uintptr_t cu_memory;
typedef struct cu_context *cu_context;
typedef struct cu_module *cu_module;
typedef struct cu_function *cu_function;
typedef struct cu_graph *cu_graph;

/* CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER, which differ only in the use of
 * `context`. */
struct cu_side {
    size_t x, y, z, level;
    unsigned kind;
    const void *host;
    cu_memory memory;
    void *array, *context;
    size_t pitch, height;
};
struct cu_copy {
    struct cu_side from, to;
    size_t row_bytes, rows, planes;
};

#define CUDA_SYMBOLS(X)                                                        \
    X(init, "cuInit", (unsigned flags))                                        \
    X(error_text, "cuGetErrorString", (int code, const char **text))           \
    X(get_count, "cuDeviceGetCount", (int *count))                             \
    X(get_device, "cuDeviceGet", (int *device, int ordinal))                   \
    X(get_name, "cuDeviceGetName", (char *name, int size, int device))         \
    X(get_uuid, "cuDeviceGetUuid", (void *uuid, int device))                   \
    X(get_pci, "cuDeviceGetPCIBusId", (char *id, int size, int device))        \
    X(get_memory, "cuDeviceTotalMem_v2", (size_t * bytes, int device))         \
    X(retain, "cuDevicePrimaryCtxRetain", (cu_context * context, int device))  \
    X(set_current, "cuCtxSetCurrent", (cu_context context))                    \
    X(get_current, "cuCtxGetCurrent", (cu_context * context))                  \
    X(context_device, "cuCtxGetDevice", (int *device))                         \
    X(device_about, "cuDeviceGetAttribute", (int *out, int what, int device))  \
    X(context_state, "cuDevicePrimaryCtxGetState",                             \
      (int device, unsigned *flags, int *active))                              \
    X(capture_mode, "cuThreadExchangeStreamCaptureMode", (int *mode))          \
    X(can_access_peer, "cuDeviceCanAccessPeer", (int *can, int from, int to))  \
    X(enable_peer_access, "cuCtxEnablePeerAccess",                             \
      (cu_context to, unsigned flags))                                         \
    X(alloc, "cuMemAlloc_v2", (cu_memory * memory, size_t bytes))              \
    X(free, "cuMemFree_v2", (cu_memory memory))                                \
    X(free_async, "cuMemFreeAsync", (cu_memory memory, nw_gpu_stream stream))  \
    X(memory_left, "cuMemGetInfo_v2", (size_t * left, size_t * all))           \
    X(range, "cuMemGetAddressRange_v2",                                        \
      (cu_memory * base, size_t * bytes, cu_memory memory))                    \
    X(alloc_host, "cuMemHostAlloc", (void **host, size_t bytes, unsigned how)) \
    X(free_host, "cuMemFreeHost", (void *host))                                \
    X(pin, "cuMemHostRegister_v2", (void *host, size_t bytes, unsigned how))   \
    X(unpin, "cuMemHostUnregister", (void *host))                              \
    X(attribute, "cuPointerGetAttribute", (void *out, int what, cu_memory at)) \
    X(set_attribute, "cuPointerSetAttribute",                                  \
      (const void *value, int what, cu_memory at))                             \
    X(copy_in, "cuMemcpyHtoDAsync_v2",                                         \
      (cu_memory gpu, const void *host, size_t bytes, nw_gpu_stream stream))   \
    X(copy_out, "cuMemcpyDtoHAsync_v2",                                        \
      (void *host, cu_memory gpu, size_t bytes, nw_gpu_stream stream))         \
    X(copy, "cuMemcpyAsync",                                                   \
      (cu_memory to, cu_memory from, size_t bytes, nw_gpu_stream stream))      \
    X(copy_box, "cuMemcpy3DAsync_v2",                                          \
      (const struct cu_copy *copy, nw_gpu_stream stream))                      \
    X(copy_peer, "cuMemcpy3DPeerAsync",                                        \
      (const struct cu_copy *copy, nw_gpu_stream stream))                      \
    X(fill, "cuMemsetD8Async",                                                 \
      (cu_memory to, unsigned char byte, size_t bytes, nw_gpu_stream stream))  \
    X(stream_new, "cuStreamCreate", (nw_gpu_stream * stream, unsigned flags))  \
    X(stream_free, "cuStreamDestroy_v2", (nw_gpu_stream stream))               \
    X(stream_test, "cuStreamQuery", (nw_gpu_stream stream))                    \
    X(stream_wait, "cuStreamSynchronize", (nw_gpu_stream stream))              \
    X(event_join, "cuStreamWaitEvent",                                         \
      (nw_gpu_stream stream, nw_gpu_event event, unsigned flags))              \
    X(event_new, "cuEventCreate", (nw_gpu_event * event, unsigned flags))      \
    X(event_free, "cuEventDestroy_v2", (nw_gpu_event event))                   \
    X(event_record, "cuEventRecord",                                           \
      (nw_gpu_event event, nw_gpu_stream stream))                              \
    X(event_test, "cuEventQuery", (nw_gpu_event event))                        \
    X(module_load, "cuModuleLoadData", (cu_module * module, const void *text)) \
    X(module_get, "cuModuleGetFunction",                                       \
      (cu_function * function, cu_module module, const char *name))            \
    X(launch, "cuLaunchKernel",                                                \
      (cu_function function, unsigned x, unsigned y, unsigned z,               \
       unsigned thread_x, unsigned thread_y, unsigned thread_z,                \
       unsigned shared, nw_gpu_stream stream, void **arguments, void **more))  \
    X(capture_begin, "cuStreamBeginCapture_v2",                                \
      (nw_gpu_stream stream, int mode))                                        \
    X(capture_end, "cuStreamEndCapture",                                       \
      (nw_gpu_stream stream, cu_graph * graph))                                \
    X(graph_make, "cuGraphInstantiateWithFlags",                               \
      (nw_gpu_graph * made, cu_graph graph, unsigned long long flags))         \
    X(graph_drop, "cuGraphDestroy", (cu_graph graph))                          \
    X(graph_launch, "cuGraphLaunch",                                           \
      (nw_gpu_graph graph, nw_gpu_stream stream))                              \
    X(graph_free, "cuGraphExecDestroy", (nw_gpu_graph graph))                  \
    X(memory_export, "cuIpcGetMemHandle",                                      \
      (struct nw_gpu_handle * handle, cu_memory memory))                       \
    X(memory_import, "cuIpcOpenMemHandle_v2",                                  \
      (cu_memory * memory, struct nw_gpu_handle handle, unsigned flags))       \
    X(memory_close, "cuIpcCloseMemHandle", (cu_memory memory))                 \
    X(event_export, "cuIpcGetEventHandle",                                     \
      (struct nw_gpu_handle * handle, nw_gpu_event event))                     \
    X(event_import, "cuIpcOpenEventHandle",                                    \
      (nw_gpu_event * event, struct nw_gpu_handle handle))

struct nw_cuda {
#define CUDA_MEMBER(member, symbol, arguments) int(*member) arguments;
    CUDA_SYMBOLS(CUDA_MEMBER)
#undef CUDA_MEMBER
};

extern struct nw_cuda nw_cuda; /* filled by nw_gpu_cuda.open */

/* Returns NW_OK if the driver's result `code` is 0. Otherwise returns NW_ENOMEM
 * if memory was short, or NW_ECUDA, with the message "the CUDA driver fails to
 * `what`: ...". */
nw_status nw_cuda_check(int code, const char *what);

/* In cuda_context.c: sets *out to the context that this library uses on a GPU.
 * If that context was reset or destroyed, another context is chosen. Returns
 * the driver's error code. */
int nw_cuda_context(int32_t gpu, cu_context *out);
/* Returns the GPU that the caller probably uses: the GPU of the current
 * context, else the first GPU with an active primary context, else 0. Creating
 * a context on another GPU would take time and hundreds of megabytes. */
int32_t nw_cuda_home(void);
/* Sets *out to whether MPS shares the GPU among processes. Returns false if the
 * driver cannot tell. */
bool nw_cuda_has_mps(int32_t gpu, bool *out);
bool nw_cuda_serves(const void *memory);
struct nw_gpu_life nw_cuda_life(void);
bool nw_cuda_lives(const struct nw_gpu_life *life);
nw_gpu_stream nw_cuda_own(void);
/* The state that nw_cuda_enter saves and nw_cuda_leave restores. Between them,
 * the thread has a context, and the driver also allows calls that a stream
 * capture of another thread would forbid. */
struct nw_cuda_stay {
    nw_gpu_stream stream; /* the library's own; NULL if the context has none */
    int mode;
    bool moved;
};
/* The caller calls nw_cuda_leave even if this call fails. */
int nw_cuda_enter(struct nw_cuda_stay *stay);
void nw_cuda_leave(const struct nw_cuda_stay *stay);
/* nw_cuda_relax allows calls in spite of other threads' stream captures and
 * returns the previous mode, which nw_cuda_unrelax restores. */
int nw_cuda_relax(void);
void nw_cuda_unrelax(int mode);

/* cuda_memory.c */
nw_status nw_cuda_alloc(size_t bytes, void **out);
void nw_cuda_free(void *memory);
void nw_cuda_drop(void *memory);
nw_status nw_cuda_alloc_pinned(size_t bytes, void **out);
void nw_cuda_free_pinned(void *memory);
/* Pins whole pages of the caller's memory. The memory still belongs to the
 * caller after the program resets the GPU. */
nw_status nw_cuda_pin(void *memory, size_t bytes);
void nw_cuda_unpin(void *memory);
bool nw_cuda_holds(const void *memory, int32_t *gpu);
nw_status nw_cuda_range(const void *memory, struct nw_gpu_range *out);
uint64_t nw_cuda_id(const void *memory);
nw_status nw_cuda_keep_in_step(void *memory);
/* Exports whole pages of memory as a dma-buf; the caller closes the file
 * descriptor *out. Returns NW_ENODEV if the driver is older than 11.7. */
nw_status nw_cuda_dmabuf(void *memory, size_t bytes, int *out);
nw_status nw_cuda_copy_in(void *gpu, const void *host, size_t bytes);
nw_status nw_cuda_copy_out(void *host, const void *gpu, size_t bytes);
/* Copies inside a GPU or between GPUs, after the work that is in the default
 * streams of the contexts in which both memories were allocated. The copy is
 * complete on return. */
nw_status nw_cuda_copy_over(void *to, const void *from, size_t bytes);
nw_status nw_cuda_copy(void *to, const void *from, size_t bytes,
                       nw_gpu_stream stream);
nw_status nw_cuda_copy_box(const struct nw_gpu_copy *box, nw_gpu_stream stream);
nw_status nw_cuda_fill(void *to, int byte, size_t bytes, nw_gpu_stream stream);

/* cuda_kernels.c */
nw_status nw_cuda_load(const char *kernel);
void nw_cuda_forget_kernels(int32_t gpu);
nw_status nw_cuda_launch(const char *kernel, uint32_t blocks, void *argument,
                         nw_gpu_stream stream);

#endif
