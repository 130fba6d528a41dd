/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * AMD GPUs through the HIP runtime library, which is loaded at first use.
 * Written from HIP's documentation and never tested on a GPU. The embedded
 * kernels are PTX code for NVIDIA GPUs, so `launch` is not supported; boxes are
 * copied plane by plane instead.
 *
 * HIP keeps the last error of each thread for hipGetLastError, with which many
 * programs check their kernels. Errors that this file expects are therefore
 * taken away again.
 */
#include "gpu/gpu.h"

#include "base/library.h"
#include "base/status.h"

#include <dlfcn.h>

typedef struct hip_graph *hip_graph;

enum {
    OUT_OF_MEMORY = 2,
    NOT_READY = 600,
    ALREADY_REACHED = 704,
    STREAM_NON_BLOCKING = 1,
    EVENT_NO_TIMING = 2,
    EVENT_SHARED = 4,
    HOST_PORTABLE_MAPPED = 3,
    COPY_IN = 1,
    COPY_OUT = 2,
    COPY_BY_ADDRESS = 4,
    ABOUT_KIND = 2,
    ABOUT_GPU = 9,
    KIND_GPU = 2,
    /* HIP 5 numbers the kinds of memory otherwise; VERSION_6 is the first
     * version of HIP 6 as hipRuntimeGetVersion returns it */
    KIND_GPU_IN_5 = 1,
    VERSION_6 = 60000000,
    CAPTURE_THREAD = 1,
    IPC_REACH_PEER = 1,
};

#define HIP_SYMBOLS(X)                                                         \
    X(error_text, const char *, "hipGetErrorString", (int code))               \
    X(last_error, int, "hipGetLastError", (void))                              \
    X(version, int, "hipRuntimeGetVersion", (int *version))                    \
    X(get_count, int, "hipGetDeviceCount", (int *count))                       \
    X(set_gpu, int, "hipSetDevice", (int gpu))                                 \
    X(get_gpu, int, "hipGetDevice", (int *gpu))                                \
    X(get_name, int, "hipDeviceGetName", (char *name, int size, int gpu))      \
    X(get_pci, int, "hipDeviceGetPCIBusId", (char *id, int size, int gpu))     \
    X(get_memory, int, "hipDeviceTotalMem", (size_t * bytes, int gpu))         \
    X(alloc, int, "hipMalloc", (void **memory, size_t bytes))                  \
    X(free, int, "hipFree", (void *memory))                                    \
    X(range, int, "hipMemGetAddressRange",                                     \
      (void **base, size_t *bytes, void *memory))                              \
    X(alloc_host, int, "hipHostMalloc",                                        \
      (void **host, size_t bytes, unsigned how))                               \
    X(free_host, int, "hipHostFree", (void *host))                             \
    X(attribute, int, "hipPointerGetAttribute",                                \
      (void *out, int what, const void *at))                                   \
    X(copy_now, int, "hipMemcpy",                                              \
      (void *to, const void *from, size_t bytes, int kind))                    \
    X(copy, int, "hipMemcpyAsync",                                             \
      (void *to, const void *from, size_t bytes, int kind,                     \
       nw_gpu_stream stream))                                                  \
    X(copy_plane, int, "hipMemcpy2DAsync",                                     \
      (void *to, size_t to_row, const void *from, size_t from_row,             \
       size_t bytes, size_t rows, int kind, nw_gpu_stream stream))             \
    X(fill, int, "hipMemsetAsync",                                             \
      (void *to, int byte, size_t bytes, nw_gpu_stream stream))                \
    X(can_access_peer, int, "hipDeviceCanAccessPeer",                          \
      (int *can, int from, int to))                                            \
    X(enable_peer_access, int, "hipDeviceEnablePeerAccess",                    \
      (int to, unsigned flags))                                                \
    X(stream_new, int, "hipStreamCreateWithFlags",                             \
      (nw_gpu_stream * stream, unsigned flags))                                \
    X(stream_free, int, "hipStreamDestroy", (nw_gpu_stream stream))            \
    X(stream_test, int, "hipStreamQuery", (nw_gpu_stream stream))              \
    X(stream_wait, int, "hipStreamSynchronize", (nw_gpu_stream stream))        \
    X(event_join, int, "hipStreamWaitEvent",                                   \
      (nw_gpu_stream stream, nw_gpu_event event, unsigned flags))              \
    X(event_new, int, "hipEventCreateWithFlags",                               \
      (nw_gpu_event * event, unsigned flags))                                  \
    X(event_free, int, "hipEventDestroy", (nw_gpu_event event))                \
    X(event_record, int, "hipEventRecord",                                     \
      (nw_gpu_event event, nw_gpu_stream stream))                              \
    X(event_test, int, "hipEventQuery", (nw_gpu_event event))                  \
    X(capture_begin, int, "hipStreamBeginCapture",                             \
      (nw_gpu_stream stream, int mode))                                        \
    X(capture_end, int, "hipStreamEndCapture",                                 \
      (nw_gpu_stream stream, hip_graph * graph))                               \
    X(graph_make, int, "hipGraphInstantiate",                                  \
      (nw_gpu_graph * made, hip_graph graph, void *node, char *log,            \
       size_t size))                                                           \
    X(graph_drop, int, "hipGraphDestroy", (hip_graph graph))                   \
    X(graph_launch, int, "hipGraphLaunch",                                     \
      (nw_gpu_graph graph, nw_gpu_stream stream))                              \
    X(graph_free, int, "hipGraphExecDestroy", (nw_gpu_graph graph))            \
    X(memory_export, int, "hipIpcGetMemHandle",                                \
      (struct nw_gpu_handle * handle, void *memory))                           \
    X(memory_import, int, "hipIpcOpenMemHandle",                               \
      (void **memory, struct nw_gpu_handle handle, unsigned flags))            \
    X(memory_close, int, "hipIpcCloseMemHandle", (void *memory))               \
    X(event_export, int, "hipIpcGetEventHandle",                               \
      (struct nw_gpu_handle * handle, nw_gpu_event event))                     \
    X(event_import, int, "hipIpcOpenEventHandle",                              \
      (nw_gpu_event * event, struct nw_gpu_handle handle))

static unsigned hip_kind_gpu; /* HIP's number for memory of a GPU */
static struct {
#define HIP_MEMBER(member, type, symbol, arguments) type(*member) arguments;
    HIP_SYMBOLS(HIP_MEMBER)
#undef HIP_MEMBER
} hip;

static nw_status hip_check(int code, const char *what)
{
    return code ? nw_fail(code == OUT_OF_MEMORY ? NW_ENOMEM : NW_ECUDA,
                          "HIP fails to %s: %s (error %d)", what,
                          hip.error_text(code), code)
                : NW_OK;
}

/* Loads HIP: the version that the program has loaded, if any, because two
 * versions in one process would not know each other's memory. Otherwise the
 * newest. The name without a version exists only where programs are built. */
static nw_status hip_load(const struct nw_symbol *symbols, size_t count)
{
    static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6",
                                        "libamdhip64.so.5", "libamdhip64.so"};
    enum { NAMES = sizeof names / sizeof *names };
    nw_status status = NW_ENODEV;

    for (int i = 0; i < NAMES; i++) {
        void *loaded = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

        if (!loaded)
            continue;
        (void)dlclose(loaded);
        return nw_library_load(names[i], symbols, count, "to use AMD GPUs");
    }
    for (int i = 0; i < NAMES && status; i++)
        status = nw_library_load(names[i], symbols, count, "to use AMD GPUs");
    return status;
}

static nw_status open_driver(int32_t *count)
{
    const struct nw_symbol symbols[] = {
#define HIP_SYMBOL(member, type, symbol, arguments) {symbol, &hip.member},
        HIP_SYMBOLS(HIP_SYMBOL)
#undef HIP_SYMBOL
    };
    int n = 0, version = 0, code;
    nw_status status = hip_load(symbols, sizeof symbols / sizeof *symbols);

    if (status)
        return status;
    code = hip.get_count(&n);
    if (code || n < 1)
        return nw_fail(NW_ENODEV, "HIP finds no GPU (error %d)", code);
    hip_kind_gpu = hip.version(&version) || version >= VERSION_6
                       ? KIND_GPU
                       : KIND_GPU_IN_5;
    *count = n;
    return NW_OK;
}

static nw_status select_gpu(int32_t gpu)
{
    return hip_check(hip.set_gpu(gpu), "select a GPU");
}

/* Returns the number of the current GPU plus 1, since HIP has a current GPU
 * instead of a context; NULL if that fails. */
static void *hip_context(void)
{
    int gpu = 0;

    return (void *)(hip.get_gpu(&gpu) ? (intptr_t)0 : (intptr_t)gpu + 1);
}

static void hip_restore(void *context)
{
    if (context)
        (void)hip.set_gpu((int)(intptr_t)context - 1);
}

static nw_status hip_properties(int32_t gpu, struct nw_gpu_properties *out)
{
    struct nw_gpu_properties found = {{0}, {0}, {0}, 0};
    int code = hip.get_name(found.name, sizeof found.name, gpu);

    if (!code)
        code = hip.get_pci(found.pci_id, sizeof found.pci_id, gpu);
    if (!code)
        code = hip.get_memory(&found.memory, gpu);
    if (!code)
        *out = found;
    return hip_check(code, "describe a GPU");
}

static nw_status hip_alloc(size_t bytes, void **out)
{
    return hip_check(hip.alloc(out, bytes ? bytes : 1), "allocate memory");
}

static void free_memory(void *memory)
{
    if (memory)
        (void)hip.free(memory);
}

static nw_status copy_in(void *gpu, const void *host, size_t bytes)
{
    return hip_check(hip.copy_now(gpu, host, bytes, COPY_IN), "copy to a GPU");
}

static nw_status copy_out(void *host, const void *gpu, size_t bytes)
{
    return hip_check(hip.copy_now(host, gpu, bytes, COPY_OUT),
                     "copy from a GPU");
}

static nw_status alloc_pinned(size_t bytes, void **out)
{
    return hip_check(
        hip.alloc_host(out, bytes ? bytes : 1, HOST_PORTABLE_MAPPED),
        "allocate pinned host memory");
}

static void free_pinned(void *memory)
{
    if (memory)
        (void)hip.free_host(memory);
}

static bool hip_holds(const void *memory, int32_t *gpu)
{
    unsigned kind = 0;
    int ordinal = -1;
    bool known = !hip.attribute(&kind, ABOUT_KIND, memory);
    bool found = known && kind == hip_kind_gpu;

    if (!known)
        (void)hip.last_error();
    if (found && hip.attribute(&ordinal, ABOUT_GPU, memory))
        ordinal = -1;
    if (gpu)
        *gpu = ordinal;
    return found;
}

static bool hip_can_access_peer(int32_t from, int32_t to)
{
    int can = 0;

    return from == to || (!hip.can_access_peer(&can, from, to) && can);
}

static nw_status hip_enable_peer_access(int32_t to)
{
    int code = hip.enable_peer_access(to, 0);

    if (code != ALREADY_REACHED)
        return hip_check(code, "enable access to another GPU");
    (void)hip.last_error();
    return NW_OK;
}

/* With HIP the library has no own stream and does not check contexts, so
 * hip_own, hip_serves, hip_life and hip_lives have nothing to do. */
static nw_gpu_stream hip_own(void)
{
    return NULL;
}

static bool hip_serves(const void *memory)
{
    return memory != NULL;
}

static struct nw_gpu_life hip_life(void)
{
    return (struct nw_gpu_life){0, 0};
}

static bool hip_lives(const struct nw_gpu_life *life)
{
    return life != NULL;
}

static nw_status hip_load_kernel(const char *kernel)
{
    return nw_fail(NW_EUNSUPPORTED, "no kernel '%s' for AMD GPUs", kernel);
}

static nw_status stream_new(nw_gpu_stream *out)
{
    return hip_check(hip.stream_new(out, STREAM_NON_BLOCKING), "make a stream");
}

static void stream_free(nw_gpu_stream stream)
{
    if (stream)
        (void)hip.stream_free(stream);
}

static nw_status hip_tested(int code, bool *done)
{
    if (code == NOT_READY)
        (void)hip.last_error();
    else if (code)
        return hip_check(code, "finish the work of a stream");
    *done = !code;
    return NW_OK;
}

static nw_status stream_test(nw_gpu_stream stream, bool *done)
{
    return hip_tested(hip.stream_test(stream), done);
}

static nw_status stream_wait(nw_gpu_stream stream)
{
    return hip_check(hip.stream_wait(stream), "finish the work of a stream");
}

static nw_status event_new(nw_gpu_event *out)
{
    return hip_check(hip.event_new(out, EVENT_NO_TIMING), "make an event");
}

static nw_status event_new_shared(nw_gpu_event *out)
{
    return hip_check(hip.event_new(out, EVENT_NO_TIMING | EVENT_SHARED),
                     "make an event for other processes");
}

static void event_free(nw_gpu_event event)
{
    if (event)
        (void)hip.event_free(event);
}

static nw_status event_record(nw_gpu_event event, nw_gpu_stream stream)
{
    return hip_check(hip.event_record(event, stream), "record an event");
}

static nw_status event_test(nw_gpu_event event, bool *done)
{
    return hip_tested(hip.event_test(event), done);
}

static nw_status event_join(nw_gpu_event event, nw_gpu_stream stream)
{
    return hip_check(hip.event_join(stream, event, 0),
                     "let a stream wait for an event");
}

static nw_status hip_copy(void *to, const void *from, size_t bytes,
                          nw_gpu_stream stream)
{
    return hip_check(hip.copy(to, from, bytes, COPY_BY_ADDRESS, stream),
                     "copy");
}

static nw_status copy_box(const struct nw_gpu_copy *c, nw_gpu_stream stream)
{
    /* one row has no next row; a distance of 2 GiB or more would be refused */
    size_t to_row = c->rows == 1 ? c->row_bytes : c->to_row;
    size_t from_row = c->rows == 1 ? c->row_bytes : c->from_row;
    int code = 0;

    for (size_t z = 0; z < c->planes && !code; z++)
        code =
            hip.copy_plane((char *)c->to + z * c->to_plane, to_row,
                           (const char *)c->from + z * c->from_plane, from_row,
                           c->row_bytes, c->rows, COPY_BY_ADDRESS, stream);
    return hip_check(code, "copy a box");
}

static nw_status hip_fill(void *to, int byte, size_t bytes,
                          nw_gpu_stream stream)
{
    return hip_check(hip.fill(to, byte, bytes, stream), "fill memory");
}

static nw_status hip_launch(const char *kernel, uint32_t blocks, void *argument,
                            nw_gpu_stream stream)
{
    (void)blocks, (void)argument, (void)stream;
    return nw_fail(NW_EUNSUPPORTED, "kernel '%s' is not for AMD GPUs", kernel);
}

static nw_status graph_begin(nw_gpu_stream stream)
{
    return hip_check(hip.capture_begin(stream, CAPTURE_THREAD),
                     "begin a graph");
}

static nw_status graph_end(nw_gpu_stream stream, nw_gpu_graph *out)
{
    hip_graph graph = NULL;
    int code = hip.capture_end(stream, &graph);

    if (!code)
        code = hip.graph_make(out, graph, NULL, NULL, 0);
    if (graph)
        (void)hip.graph_drop(graph);
    return hip_check(code, "make a graph");
}

static nw_status graph_launch(nw_gpu_graph graph, nw_gpu_stream stream)
{
    return hip_check(hip.graph_launch(graph, stream), "launch a graph");
}

static void graph_free(nw_gpu_graph graph)
{
    if (graph)
        (void)hip.graph_free(graph);
}

static nw_status memory_export(void *memory, struct nw_gpu_handle *out,
                               size_t *offset)
{
    void *base = NULL;
    size_t bytes;
    int code = hip.range(&base, &bytes, memory);

    if (!code)
        code = hip.memory_export(out, base);
    if (!code)
        *offset = (size_t)((char *)memory - (char *)base);
    return hip_check(code, "offer memory to other processes");
}

static nw_status memory_import(const struct nw_gpu_handle *handle, void **out)
{
    return hip_check(hip.memory_import(out, *handle, IPC_REACH_PEER),
                     "open another process's memory");
}

static void memory_close(void *memory)
{
    if (memory)
        (void)hip.memory_close(memory);
}

static nw_status event_export(nw_gpu_event event, struct nw_gpu_handle *out)
{
    return hip_check(hip.event_export(out, event),
                     "offer an event to other processes");
}

static nw_status event_import(const struct nw_gpu_handle *handle,
                              nw_gpu_event *out)
{
    return hip_check(hip.event_import(out, *handle),
                     "open another process's event");
}

const struct nw_gpu nw_gpu_hip = {
    .name = "hip",
    .open = open_driver,
    .select = select_gpu,
    .context = hip_context,
    .restore = hip_restore,
    .serves = hip_serves,
    .life = hip_life,
    .lives = hip_lives,
    .properties = hip_properties,
    .alloc = hip_alloc,
    .free = free_memory,
    .drop = free_memory,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .alloc_pinned = alloc_pinned,
    .free_pinned = free_pinned,
    .holds = hip_holds,
    .can_access_peer = hip_can_access_peer,
    .enable_peer_access = hip_enable_peer_access,
    .own = hip_own,
    .stream_new = stream_new,
    .stream_free = stream_free,
    .stream_test = stream_test,
    .stream_wait = stream_wait,
    .event_new = event_new,
    .event_new_shared = event_new_shared,
    .event_free = event_free,
    .event_record = event_record,
    .event_test = event_test,
    .event_join = event_join,
    .copy = hip_copy,
    .copy_box = copy_box,
    .fill = hip_fill,
    .load = hip_load_kernel,
    .launch = hip_launch,
    .graph_begin = graph_begin,
    .graph_end = graph_end,
    .graph_launch = graph_launch,
    .graph_free = graph_free,
    .memory_export = memory_export,
    .memory_import = memory_import,
    .memory_close = memory_close,
    .event_export = event_export,
    .event_import = event_import,
};
