/* SPDX-License-Identifier: BSD-3-Clause */
/* The copies of the double of the CUDA driver that are put into streams, and
 * the graphs of such copies. */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

/* One of the two sides of CUDA_MEMCPY3D or CUDA_MEMCPY3D_PEER, in the layout of
 * the real driver. */
struct copy_side {
    size_t x, y, z, level;
    unsigned kind;
    const void *host;
    uint64_t memory;
    void *array, *context;
    size_t pitch, height;
};
struct copy_box {
    struct copy_side from, to;
    size_t row_bytes, rows, planes;
};

/* Values of CUmemorytype. */
enum { KIND_DEVICE = 2, KIND_UNIFIED = 4 };

void fake_do_copy(const struct op *op)
{
    for (size_t z = 0; z < op->planes; z++)
        for (size_t y = 0; y < op->rows; y++)
            memcpy((char *)fake_real(op->to.at) + z * op->to.plane +
                       y * op->to.row,
                   (const char *)fake_real(op->from.at) + z * op->from.plane +
                       y * op->from.row,
                   op->row_bytes);
    if (getenv("FAKE_CUDA_SPOIL") && fake_is_device(op->from.at) &&
        !fake_is_device(op->to.at))
        *(char *)fake_real(op->to.at) ^= 1;
}

/* Whether the side of the copy is valid. Device memory must be within one
 * allocation; any other address is assumed to be memory of the host. */
static bool is_good(const struct op *op, const struct side *side)
{
    size_t last = (op->planes - 1) * side->plane + (op->rows - 1) * side->row +
                  op->row_bytes;
    int gpu;

    return !fake_is_device(side->at) || fake_holds(side->at, last, &gpu);
}

/* Puts a copy of boxes into the stream, after a check of both its sides. */
static int push_copy(struct op *op, struct stream *stream)
{
    if (!op->row_bytes || !op->rows || !op->planes)
        return SUCCESS;
    if (!is_good(op, &op->to) || !is_good(op, &op->from))
        return INVALID_VALUE;
    return fake_push(stream, op);
}

/* Puts a copy of contiguous bytes into the stream. */
static int push_line(uint64_t to, uint64_t from, size_t bytes,
                     struct stream *stream)
{
    struct op op = {.work = WORK_COPY,
                    .to = {.at = to},
                    .from = {.at = from},
                    .row_bytes = bytes,
                    .rows = 1,
                    .planes = 1};

    return push_copy(&op, stream);
}

API int cuMemcpyAsync(uint64_t to, uint64_t from, size_t bytes,
                      struct stream *stream)
{
    FAULT();
    return push_line(to, from, bytes, stream);
}

API int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t bytes,
                             struct stream *stream)
{
    int gpu, code = fake_fault("copy-in");

    if (code)
        return code;
    if (bytes && (!fake_holds(to, bytes, &gpu) || gpu < 0))
        return INVALID_VALUE;
    return push_line(to, (uintptr_t)from, bytes, stream);
}

API int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t bytes,
                             struct stream *stream)
{
    int gpu, code = fake_fault("copy-out");

    if (code)
        return code;
    if (bytes && (!fake_holds(from, bytes, &gpu) || gpu < 0))
        return INVALID_VALUE;
    return push_line((uintptr_t)to, from, bytes, stream);
}

/* Puts a copy of a three-dimensional box into the stream. */
static int push_box(const struct copy_box *box, struct stream *stream)
{
    struct op op = {
        .work = WORK_COPY,
        .to = {box->to.memory, box->to.pitch, box->to.pitch * box->to.height},
        .from = {box->from.memory, box->from.pitch,
                 box->from.pitch * box->from.height},
        .row_bytes = box->row_bytes,
        .rows = box->rows,
        .planes = box->planes,
    };

    if ((box->to.pitch | box->from.pitch) >> 31)
        return INVALID_VALUE; /* CU_DEVICE_ATTRIBUTE_MAX_PITCH */
    if ((box->rows > 1 && (box->to.pitch < box->row_bytes ||
                           box->from.pitch < box->row_bytes)) ||
        (box->planes > 1 &&
         (box->to.height < box->rows || box->from.height < box->rows)))
        return INVALID_VALUE;
    return push_copy(&op, stream);
}

API int cuMemcpy3DAsync_v2(const struct copy_box *box, struct stream *stream)
{
    FAULT();
    if (box->to.kind != KIND_UNIFIED || box->from.kind != KIND_UNIFIED)
        return INVALID_VALUE;
    return push_box(box, stream);
}

static bool belongs(const struct copy_side *side)
{
    const struct context *context = side->context;
    int gpu = -1;

    return side->kind == KIND_DEVICE && context &&
           fake_holds(side->memory, 1, &gpu) && gpu == fake_gpu_of(context);
}

API int cuMemcpy3DPeerAsync(const struct copy_box *box, struct stream *stream)
{
    FAULT();
    if (!belongs(&box->to) || !belongs(&box->from))
        return INVALID_VALUE;
    return push_box(box, stream);
}

API int cuMemsetD8Async(uint64_t to, unsigned char byte, size_t bytes,
                        struct stream *stream)
{
    struct op op = {.work = WORK_FILL,
                    .to = {.at = to},
                    .row_bytes = bytes,
                    .rows = 1,
                    .planes = 1,
                    .byte = byte};
    int gpu;

    FAULT();
    return fake_holds(to, bytes, &gpu) ? fake_push(stream, &op) : INVALID_VALUE;
}

/* A graph: the operations that a capture recorded, in their order. */
struct graph {
    struct op *first;
    struct owner owner; /* set only for an executable graph */
};

API int cuStreamBeginCapture_v2(struct stream *stream, int mode)
{
    FAULT();
    return fake_capture_begin(stream, mode);
}

API int cuStreamEndCapture(struct stream *stream, struct graph **graph)
{
    struct graph *made;
    int code;

    FAULT();
    made = calloc(1, sizeof *made);
    if (!made)
        return OUT_OF_MEMORY;
    code = fake_capture_end(stream, &made->first);
    if (code)
        free(made);
    else
        *graph = made;
    return code;
}

API int cuGraphDestroy(struct graph *graph)
{
    struct op *next;

    for (struct op *op = graph->first; op; op = next) {
        next = op->next;
        free(op);
    }
    free(graph);
    return SUCCESS;
}

/* Number of executable graphs made so far. The real driver has no such
 * function. */
static unsigned long graphs;

API unsigned long fake_cuda_graphs(void)
{
    return __atomic_load_n(&graphs, __ATOMIC_RELAXED);
}

/* An executable graph is a copy of its graph, as with the real driver: a later
 * change of the graph does not affect it. */
API int cuGraphInstantiateWithFlags(struct graph **out, struct graph *graph,
                                    unsigned long long flags)
{
    struct graph *made;
    struct op **last;

    FAULT();
    (void)flags;
    made = calloc(1, sizeof *made);
    if (!made)
        return OUT_OF_MEMORY;
    last = &made->first;
    for (const struct op *op = graph->first; op; op = op->next) {
        *last = malloc(sizeof **last);
        if (!*last) {
            cuGraphDestroy(made);
            return OUT_OF_MEMORY;
        }
        **last = *op;
        (*last)->next = NULL;
        last = &(*last)->next;
    }
    made->owner = fake_owner();
    __atomic_add_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    if (made->owner.context)
        __atomic_add_fetch(&made->owner.context->things, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&graphs, 1, __ATOMIC_RELAXED);
    *out = made;
    return SUCCESS;
}

API int cuGraphLaunch(struct graph *graph, struct stream *stream)
{
    int code = SUCCESS;

    FAULT();
    fake_must_live(&graph->owner, "a graph");
    for (const struct op *op = graph->first; op && !code; op = op->next)
        code = fake_push(stream, op);
    return code;
}

API int cuGraphExecDestroy(struct graph *graph)
{
    fake_must_live(&graph->owner, "a graph");
    if (graph->owner.context)
        __atomic_sub_fetch(&graph->owner.context->things, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&fake_live, 1, __ATOMIC_RELAXED);
    return cuGraphDestroy(graph);
}
