/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of GPU operations for objects on a GPU that was reset. It has the
 * operations that free objects or that callers use around freeing them; all
 * others are NULL. The operations do nothing: the driver has already freed the
 * objects, and may have reused their addresses and handles. */
#include "gpu/gpu.h"

static void *after_reset_context(void)
{
    return NULL;
}

static void leave_alone(void *thing)
{
    (void)thing;
}

static nw_status after_reset_select_gpu(int32_t gpu)
{
    (void)gpu;
    return NW_OK;
}

static void leave_stream(nw_gpu_stream stream)
{
    (void)stream;
}

static void leave_event(nw_gpu_event event)
{
    (void)event;
}

static void leave_graph(nw_gpu_graph graph)
{
    (void)graph;
}

static nw_status after_reset_wait(nw_gpu_stream stream)
{
    (void)stream;
    return NW_OK;
}

const struct nw_gpu nw_gpu_after_reset = {
    .name = "gone",
    .context = after_reset_context,
    .restore = leave_alone,
    .select = after_reset_select_gpu,
    .free = leave_alone,
    .drop = leave_alone,
    .free_pinned = leave_alone,
    .memory_close = leave_alone,
    .stream_free = leave_stream,
    .stream_wait = after_reset_wait,
    .event_free = leave_event,
    .graph_free = leave_graph,
};
