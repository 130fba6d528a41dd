/* SPDX-License-Identifier: BSD-3-Clause */
/* NVIDIA GPUs through the CUDA driver library only, which is loaded at first
 * use, with our own declarations instead of CUDA's header. This file has the
 * table of operations, streams, events, graphs and objects shared with other
 * processes; the other files cuda_*.c have the rest. */
#include "gpu/cuda.h"

#include "base/library.h"
#include "base/status.h"

#include <stdio.h>

/* the driver's error codes and constants */
enum {
    NOT_READY = 600,
    NO_PEER = 217,
    ALREADY_REACHED = 704,
    NOT_SUPPORTED = 801,
    STREAM_NON_BLOCKING = 1,
    EVENT_NO_TIMING = 2,
    EVENT_SHARED = 4,
    CAPTURE_THREAD = 1,
    IPC_REACH_PEER = 1,
    ABOUT_MPS = 133, /* asks whether MPS is used; driver 12.5 or later */
};

static nw_status cuda_open(int32_t *count)
{
    const struct nw_symbol symbols[] = {
#define CUDA_SYMBOL(member, symbol, arguments) {symbol, &nw_cuda.member},
        CUDA_SYMBOLS(CUDA_SYMBOL)
#undef CUDA_SYMBOL
    };
    int n = 0, code;
    nw_status status =
        nw_library_load("libcuda.so.1", symbols,
                        sizeof symbols / sizeof *symbols, "to use GPUs");

    if (status)
        return status;
    code = nw_cuda.init(0);
    if (!code)
        code = nw_cuda.get_count(&n);
    if (code || n < 1)
        return nw_fail(NW_ENODEV, "the CUDA driver finds no GPU (error %d)",
                       code);
    *count = n;
    return NW_OK;
}

static nw_status cuda_select_gpu(int32_t gpu)
{
    cu_context context = NULL;
    int code = nw_cuda_context(gpu, &context);

    if (!code)
        code = nw_cuda.set_current(context);
    return nw_cuda_check(code, "select a GPU");
}

bool nw_cuda_has_mps(int32_t gpu, bool *out)
{
    int device = 0, has = 0;

    if (nw_cuda.get_device(&device, gpu) ||
        nw_cuda.device_about(&has, ABOUT_MPS, device))
        return false;
    *out = has != 0;
    return true;
}

static void *cuda_context_here(void)
{
    cu_context current = NULL;

    return nw_cuda.get_current(&current) ? NULL : current;
}

static void cuda_restore(void *context)
{
    (void)nw_cuda.set_current(context);
}

static void write_uuid(const unsigned char *bytes,
                       struct nw_gpu_properties *out)
{
    char *at = out->uuid + sprintf(out->uuid, "GPU-");

    for (int i = 0; i < 16; i++)
        at +=
            sprintf(at, "%s%02x",
                    i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
}

static nw_status cuda_properties(int32_t gpu, struct nw_gpu_properties *out)
{
    struct nw_gpu_properties found = {{0}, {0}, {0}, 0};
    unsigned char uuid[16];
    int device = 0;
    int code = nw_cuda.get_device(&device, gpu);

    if (!code)
        code = nw_cuda.get_name(found.name, sizeof found.name, device);
    if (!code)
        code = nw_cuda.get_pci(found.pci_id, sizeof found.pci_id, device);
    if (!code)
        code = nw_cuda.get_memory(&found.memory, device);
    if (code)
        return nw_cuda_check(code, "describe a GPU");
    if (!nw_cuda.get_uuid(uuid, device))
        write_uuid(uuid, &found);
    *out = found;
    return NW_OK;
}

static bool cuda_can_access_peer(int32_t from, int32_t to)
{
    int a = 0, b = 0, can = 0;

    return from == to ||
           (!nw_cuda.get_device(&a, from) && !nw_cuda.get_device(&b, to) &&
            !nw_cuda.can_access_peer(&can, a, b) && can);
}

static nw_status cuda_enable_peer_access(int32_t to)
{
    cu_context context = NULL;
    int code = nw_cuda_context(to, &context);

    if (!code)
        code = nw_cuda.enable_peer_access(context, 0);
    return code == ALREADY_REACHED
               ? NW_OK
               : nw_cuda_check(code, "enable access to another GPU");
}

static nw_status cuda_stream_new(nw_gpu_stream *out)
{
    return nw_cuda_check(nw_cuda.stream_new(out, STREAM_NON_BLOCKING),
                         "make a stream");
}

static void cuda_stream_free(nw_gpu_stream stream)
{
    if (stream)
        (void)nw_cuda.stream_free(stream);
}

static nw_status cuda_tested(int code, bool *done)
{
    if (code && code != NOT_READY)
        return nw_cuda_check(code, "finish the work of a stream");
    *done = !code;
    return NW_OK;
}

static nw_status cuda_stream_test(nw_gpu_stream stream, bool *done)
{
    return cuda_tested(nw_cuda.stream_test(stream), done);
}

static nw_status cuda_stream_wait(nw_gpu_stream stream)
{
    return nw_cuda_check(nw_cuda.stream_wait(stream),
                         "finish the work of a stream");
}

static nw_status cuda_event_new(nw_gpu_event *out)
{
    return nw_cuda_check(nw_cuda.event_new(out, EVENT_NO_TIMING),
                         "make an event");
}

static nw_status cuda_event_new_shared(nw_gpu_event *out)
{
    return nw_cuda_check(nw_cuda.event_new(out, EVENT_NO_TIMING | EVENT_SHARED),
                         "make an event for other processes");
}

static void cuda_event_free(nw_gpu_event event)
{
    if (event)
        (void)nw_cuda.event_free(event);
}

static nw_status cuda_event_record(nw_gpu_event event, nw_gpu_stream stream)
{
    return nw_cuda_check(nw_cuda.event_record(event, stream),
                         "record an event");
}

static nw_status cuda_event_test(nw_gpu_event event, bool *done)
{
    return cuda_tested(nw_cuda.event_test(event), done);
}

static nw_status cuda_event_join(nw_gpu_event event, nw_gpu_stream stream)
{
    return nw_cuda_check(nw_cuda.event_join(stream, event, 0),
                         "let a stream wait for an event");
}

static nw_status cuda_graph_begin(nw_gpu_stream stream)
{
    return nw_cuda_check(nw_cuda.capture_begin(stream, CAPTURE_THREAD),
                         "begin a graph");
}

static nw_status cuda_graph_end(nw_gpu_stream stream, nw_gpu_graph *out)
{
    cu_graph graph = NULL;
    int code = nw_cuda.capture_end(stream, &graph);

    if (!code)
        code = nw_cuda.graph_make(out, graph, 0);
    if (graph)
        (void)nw_cuda.graph_drop(graph);
    return nw_cuda_check(code, "make a graph");
}

static nw_status cuda_graph_launch(nw_gpu_graph graph, nw_gpu_stream stream)
{
    return nw_cuda_check(nw_cuda.graph_launch(graph, stream), "launch a graph");
}

static void cuda_graph_free(nw_gpu_graph graph)
{
    if (graph)
        (void)nw_cuda.graph_free(graph);
}

static nw_status cuda_memory_export(void *memory, struct nw_gpu_handle *out,
                                    size_t *offset)
{
    cu_memory base = 0;
    size_t bytes;
    int code = nw_cuda.range(&base, &bytes, (cu_memory)memory);

    if (!code)
        code = nw_cuda.memory_export(out, base);
    if (!code)
        *offset = (cu_memory)memory - base;
    return nw_cuda_check(code, "offer memory to other processes");
}

static nw_status cuda_memory_import(const struct nw_gpu_handle *handle,
                                    void **out)
{
    cu_memory memory = 0;
    int code = nw_cuda.memory_import(&memory, *handle, IPC_REACH_PEER);

    if (code == NO_PEER || code == NOT_SUPPORTED)
        return nw_fail(NW_EUNSUPPORTED,
                       "this GPU cannot reach another process's memory "
                       "(error %d)",
                       code);
    if (!code)
        *out = (void *)memory;
    return nw_cuda_check(code, "open another process's memory");
}

static void cuda_memory_close(void *memory)
{
    struct nw_cuda_stay stay;

    if (!memory)
        return;
    if (!nw_cuda_enter(&stay))
        (void)nw_cuda.memory_close((cu_memory)memory);
    nw_cuda_leave(&stay);
}

static nw_status cuda_event_export(nw_gpu_event event,
                                   struct nw_gpu_handle *out)
{
    return nw_cuda_check(nw_cuda.event_export(out, event),
                         "offer an event to other processes");
}

static nw_status cuda_event_import(const struct nw_gpu_handle *handle,
                                   nw_gpu_event *out)
{
    return nw_cuda_check(nw_cuda.event_import(out, *handle),
                         "open another process's event");
}

const struct nw_gpu nw_gpu_cuda = {
    .name = "cuda",
    .open = cuda_open,
    .select = cuda_select_gpu,
    .context = cuda_context_here,
    .restore = cuda_restore,
    .serves = nw_cuda_serves,
    .life = nw_cuda_life,
    .lives = nw_cuda_lives,
    .properties = cuda_properties,
    .alloc = nw_cuda_alloc,
    .free = nw_cuda_free,
    .drop = nw_cuda_drop,
    .copy_in = nw_cuda_copy_in,
    .copy_out = nw_cuda_copy_out,
    .alloc_pinned = nw_cuda_alloc_pinned,
    .free_pinned = nw_cuda_free_pinned,
    .holds = nw_cuda_holds,
    .range = nw_cuda_range,
    .id = nw_cuda_id,
    .keep_in_step = nw_cuda_keep_in_step,
    .can_access_peer = cuda_can_access_peer,
    .enable_peer_access = cuda_enable_peer_access,
    .own = nw_cuda_own,
    .stream_new = cuda_stream_new,
    .stream_free = cuda_stream_free,
    .stream_test = cuda_stream_test,
    .stream_wait = cuda_stream_wait,
    .event_new = cuda_event_new,
    .event_new_shared = cuda_event_new_shared,
    .event_free = cuda_event_free,
    .event_record = cuda_event_record,
    .event_test = cuda_event_test,
    .event_join = cuda_event_join,
    .copy = nw_cuda_copy,
    .copy_box = nw_cuda_copy_box,
    .fill = nw_cuda_fill,
    .load = nw_cuda_load,
    .launch = nw_cuda_launch,
    .graph_begin = cuda_graph_begin,
    .graph_end = cuda_graph_end,
    .graph_launch = cuda_graph_launch,
    .graph_free = cuda_graph_free,
    .memory_export = cuda_memory_export,
    .memory_import = cuda_memory_import,
    .memory_close = cuda_memory_close,
    .event_export = cuda_event_export,
    .event_import = cuda_event_import,
};
