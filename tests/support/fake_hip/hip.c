/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of the HIP runtime, libamdhip64, with two GPUs. Its memory is
 * that of the host. Streams do their work at once, but answer "not ready" to
 * the first question after it. Like the real runtime, it numbers the kinds of
 * memory by its version (FAKE_HIP_VERSION: 5, or 6 by default), and keeps the
 * last error of each thread. It refuses copies that leave an allocation, and
 * rows that are farther apart than their distance says. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum {
    INVALID_VALUE = 1,
    OUT_OF_MEMORY = 2,
    INVALID_PITCH = 12,
    INVALID_DEVICE = 101,
    NOT_READY = 600,
    ALREADY_REACHED = 704,
    STREAM_CAPTURE_INVALID = 901,
    GPUS = 2,
    BLOCKS = 64,
    OPS = 16,
    MOST = 1 << 30
};

struct block {
    char *start;
    size_t bytes;
    int gpu; /* -1: pinned memory of the host */
};

/* A copy of rows, or a fill with a byte if `from` is NULL. */
struct op {
    char *to;
    const char *from;
    size_t to_row, from_row, bytes, rows;
    int byte;
};

struct graph {
    struct op op[OPS];
    int count;
};

struct stream {
    struct graph *captures;
    bool busy;
};

struct event {
    bool busy;
};

struct handle {
    void *start;
    char rest[64 - sizeof(void *)];
};

static struct block blocks[BLOCKS];
static bool reached[GPUS][GPUS];
static _Thread_local int gpu, last;
static struct stream default_stream;

static int fail(int code)
{
    if (code)
        last = code;
    return code;
}

static struct block *block_of(const void *at)
{
    for (int i = 0; i < BLOCKS; i++)
        if (blocks[i].start && (const char *)at >= blocks[i].start &&
            (const char *)at < blocks[i].start + blocks[i].bytes)
            return &blocks[i];
    return NULL;
}

/* Returns false if the bytes begin in memory of a GPU and leave it. */
static bool is_inside(const void *at, size_t bytes)
{
    const struct block *block = block_of(at);

    return !block ||
           bytes <= block->bytes - (size_t)((const char *)at - block->start);
}

static bool is_on_gpu(const void *at)
{
    const struct block *block = block_of(at);

    return block && block->gpu >= 0;
}

static int version(void)
{
    const char *word = getenv("FAKE_HIP_VERSION");

    return word ? atoi(word) : 6;
}

API const char *hipGetErrorString(int code)
{
    return code == OUT_OF_MEMORY ? "out of memory" : "an error";
}

API int hipGetLastError(void)
{
    int code = last;

    last = 0;
    return code;
}

API int hipRuntimeGetVersion(int *out)
{
    *out = version() * 10000000 + 100000;
    return 0;
}

API int hipGetDeviceCount(int *count)
{
    *count = GPUS;
    return 0;
}

API int hipSetDevice(int which)
{
    if (which < 0 || which >= GPUS)
        return fail(INVALID_DEVICE);
    gpu = which;
    return 0;
}

API int hipGetDevice(int *which)
{
    *which = gpu;
    return 0;
}

API int hipDeviceGetName(char *name, int size, int which)
{
    snprintf(name, (size_t)size, "AMD Instinct %d", which);
    return 0;
}

API int hipDeviceGetPCIBusId(char *id, int size, int which)
{
    snprintf(id, (size_t)size, "0000:c%d:00.0", which);
    return 0;
}

API int hipDeviceTotalMem(size_t *bytes, int which)
{
    *bytes = (size_t)(which + 1) << 36;
    return 0;
}

static int allocate(void **out, size_t bytes, int where)
{
    if (bytes > MOST)
        return fail(OUT_OF_MEMORY);
    for (int i = 0; i < BLOCKS; i++)
        if (!blocks[i].start) {
            blocks[i] = (struct block){malloc(bytes), bytes, where};
            *out = blocks[i].start;
            return *out ? 0 : fail(OUT_OF_MEMORY);
        }
    return fail(OUT_OF_MEMORY);
}

static int give_back(void *memory, bool on_gpu)
{
    struct block *block = block_of(memory);

    if (!block || block->start != memory || (block->gpu >= 0) != on_gpu)
        return fail(INVALID_VALUE);
    block->start = NULL;
    free(memory);
    return 0;
}

API int hipMalloc(void **memory, size_t bytes)
{
    return allocate(memory, bytes, gpu);
}

API int hipFree(void *memory)
{
    return give_back(memory, true);
}

API int hipHostMalloc(void **memory, size_t bytes, unsigned how)
{
    return how == 3 ? allocate(memory, bytes, -1) : fail(INVALID_VALUE);
}

API int hipHostFree(void *memory)
{
    return give_back(memory, false);
}

API int hipMemGetAddressRange(void **base, size_t *bytes, void *memory)
{
    const struct block *block = block_of(memory);

    if (!block)
        return fail(INVALID_VALUE);
    *base = block->start;
    *bytes = block->bytes;
    return 0;
}

API int hipPointerGetAttribute(void *out, int what, const void *at)
{
    const struct block *block = block_of(at);
    int host = version() >= 6;

    if (!block || (what != 2 && (what != 9 || block->gpu < 0)))
        return fail(INVALID_VALUE);
    *(int *)out = what == 9 ? block->gpu : block->gpu < 0 ? host : host + 1;
    return 0;
}

/* -- work -- */

static void work(const struct op *op)
{
    for (size_t row = 0; row < op->rows; row++)
        if (op->from)
            memcpy(op->to + row * op->to_row, op->from + row * op->from_row,
                   op->bytes);
        else
            memset(op->to + row * op->to_row, op->byte, op->bytes);
}

static struct stream *stream_of(struct stream *stream)
{
    return stream ? stream : &default_stream;
}

static int add(struct stream *stream, struct op op)
{
    size_t to = op.rows ? (op.rows - 1) * op.to_row + op.bytes : 0;
    size_t from = op.rows ? (op.rows - 1) * op.from_row + op.bytes : 0;

    stream = stream_of(stream);
    if (!is_inside(op.to, to) || (op.from && !is_inside(op.from, from)))
        return fail(INVALID_VALUE);
    if (stream->captures && stream->captures->count == OPS)
        return fail(STREAM_CAPTURE_INVALID);
    if (stream->captures) {
        stream->captures->op[stream->captures->count++] = op;
        return 0;
    }
    stream->busy = true;
    work(&op);
    return 0;
}

API int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind,
                       struct stream *stream)
{
    if (kind != 4)
        return fail(INVALID_VALUE);
    return add(stream, (struct op){to, from, bytes, bytes, bytes, 1, 0});
}

API int hipMemcpy(void *to, const void *from, size_t bytes, int kind)
{
    if ((kind != 1 || !is_on_gpu(to)) && (kind != 2 || !is_on_gpu(from)))
        return fail(INVALID_VALUE);
    return add(NULL, (struct op){to, from, bytes, bytes, bytes, 1, 0});
}

API int hipMemcpy2DAsync(void *to, size_t to_row, const void *from,
                         size_t from_row, size_t bytes, size_t rows, int kind,
                         struct stream *stream)
{
    if (kind != 4)
        return fail(INVALID_VALUE);
    if (to_row < bytes || from_row < bytes || (to_row | from_row) >> 31)
        return fail(INVALID_PITCH);
    return add(stream, (struct op){to, from, to_row, from_row, bytes, rows, 0});
}

API int hipMemsetAsync(void *to, int byte, size_t bytes, struct stream *stream)
{
    return add(stream, (struct op){to, NULL, bytes, bytes, bytes, 1, byte});
}

API int hipDeviceCanAccessPeer(int *can, int from, int to)
{
    *can = from != to;
    return 0;
}

API int hipDeviceEnablePeerAccess(int to, unsigned flags)
{
    if (flags || to == gpu || to < 0 || to >= GPUS)
        return fail(INVALID_VALUE);
    if (reached[gpu][to])
        return fail(ALREADY_REACHED);
    reached[gpu][to] = true;
    return 0;
}

/* -- streams, events and graphs -- */

static int test(bool *busy)
{
    bool was = *busy;

    *busy = false;
    return was ? fail(NOT_READY) : 0;
}

API int hipStreamCreateWithFlags(struct stream **out, unsigned flags)
{
    *out = flags == 1 ? calloc(1, sizeof **out) : NULL;
    return *out ? 0 : fail(INVALID_VALUE);
}

API int hipStreamDestroy(struct stream *stream)
{
    free(stream);
    return 0;
}

API int hipStreamQuery(struct stream *stream)
{
    return test(&stream_of(stream)->busy);
}

API int hipStreamSynchronize(struct stream *stream)
{
    stream_of(stream)->busy = false;
    return 0;
}

API int hipStreamWaitEvent(struct stream *stream, const struct event *event,
                           unsigned flags)
{
    stream_of(stream)->busy |= event->busy;
    return flags ? fail(INVALID_VALUE) : 0;
}

API int hipEventCreateWithFlags(struct event **out, unsigned flags)
{
    *out = flags & 2 ? calloc(1, sizeof **out) : NULL;
    return *out ? 0 : fail(INVALID_VALUE);
}

API int hipEventDestroy(struct event *event)
{
    free(event);
    return 0;
}

API int hipEventRecord(struct event *event, struct stream *stream)
{
    event->busy = stream_of(stream)->busy;
    return 0;
}

API int hipEventQuery(struct event *event)
{
    return test(&event->busy);
}

API int hipStreamBeginCapture(struct stream *stream, int mode)
{
    if (!stream || stream->captures || mode != 1)
        return fail(INVALID_VALUE);
    stream->captures = calloc(1, sizeof *stream->captures);
    return stream->captures ? 0 : fail(OUT_OF_MEMORY);
}

API int hipStreamEndCapture(struct stream *stream, struct graph **graph)
{
    *graph = stream->captures;
    stream->captures = NULL;
    return *graph ? 0 : fail(INVALID_VALUE);
}

API int hipGraphInstantiate(struct graph **out, const struct graph *graph,
                            void *node, char *log, size_t size)
{
    if (node || log || size)
        return fail(INVALID_VALUE);
    *out = malloc(sizeof **out);
    if (!*out)
        return fail(OUT_OF_MEMORY);
    **out = *graph;
    return 0;
}

API int hipGraphDestroy(struct graph *graph)
{
    free(graph);
    return 0;
}

API int hipGraphLaunch(const struct graph *graph, struct stream *stream)
{
    stream_of(stream)->busy = true;
    for (int i = 0; i < graph->count; i++)
        work(&graph->op[i]);
    return 0;
}

API int hipGraphExecDestroy(struct graph *graph)
{
    free(graph);
    return 0;
}

/* -- other processes; here the same process opens a handle -- */

API int hipIpcGetMemHandle(struct handle *handle, void *memory)
{
    const struct block *block = block_of(memory);

    if (!block || block->gpu < 0 || block->start != memory)
        return fail(INVALID_VALUE);
    *handle = (struct handle){.start = memory};
    return 0;
}

API int hipIpcOpenMemHandle(void **memory, struct handle handle, unsigned flags)
{
    *memory = handle.start;
    return flags == 1 ? 0 : fail(INVALID_VALUE);
}

API int hipIpcCloseMemHandle(void *memory)
{
    return is_on_gpu(memory) ? 0 : fail(INVALID_VALUE);
}

API int hipIpcGetEventHandle(struct handle *handle, struct event *event)
{
    *handle = (struct handle){.start = event};
    return 0;
}

API int hipIpcOpenEventHandle(struct event **event, struct handle handle)
{
    *event = calloc(1, sizeof **event);
    if (!*event)
        return fail(OUT_OF_MEMORY);
    **event = *(struct event *)handle.start;
    return 0;
}
