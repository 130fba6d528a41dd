/* SPDX-License-Identifier: BSD-3-Clause */
/* Layers with grids as in the paper: row-major, with open boundaries. Each
 * message is filled with bytes that depend on its sender, its receiver, the
 * layer and the round, so that a misdirected message is noticed. */
#include "layer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Makes the most balanced grid of all ranks, as MPI computes it. */
static void make_grid(struct layer *layer, int size)
{
    layer->dim_count = layer->request.shape == SHAPE_2D ? 2 : 3;
    memset(layer->dims, 0, sizeof layer->dims);
    MPI_Dims_create(size, layer->dim_count, layer->dims);
    for (int d = layer->dim_count; d < 3; d++)
        layer->dims[d] = 1;
}

static void add_peer(struct layer *layer, int rank, size_t bytes)
{
    int i = layer->peer_count++;

    layer->peer[i] = rank;
    layer->offset[i + 1] = layer->offset[i] + bytes;
}

static void find_neighbours(struct layer *layer)
{
    const int *dims = layer->dims;
    int step = dims[1] * dims[2], place[3];

    place[0] = layer->rank / step;
    place[1] = layer->rank / dims[2] % dims[1];
    place[2] = layer->rank % dims[2];
    for (int d = 0; d < layer->dim_count; d++) {
        size_t weight = layer->request.weighted && d == 0 ? 3 : 1;

        if (place[d] > 0)
            add_peer(layer, layer->rank - step, weight * layer->request.bytes);
        if (place[d] < dims[d] - 1)
            add_peer(layer, layer->rank + step, weight * layer->request.bytes);
        step /= d < 2 ? dims[d + 1] : 1;
    }
}

/* Finds the ranks that differ only in the first coordinate. */
static void find_line(struct layer *layer)
{
    int plane = layer->dims[1] * layer->dims[2];

    MPI_Comm_split(MPI_COMM_WORLD, layer->rank % plane, layer->rank,
                   &layer->line);
    for (int i = 0; i < layer->dims[0]; i++)
        add_peer(layer, layer->rank % plane + i * plane, layer->request.bytes);
}

static void *must_have(void *memory)
{
    if (!memory) {
        fprintf(stderr, "bench pattern: out of memory\n");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return memory;
}

static bool make_buffers(struct layer *layer)
{
    const struct nw_gpu *gpu = layer->request.gpu;
    size_t bytes = layer->offset[layer->peer_count] + 1;
    void *send = NULL, *receive = NULL;

    layer->host_send = must_have(malloc(bytes));
    layer->host_receive = must_have(malloc(bytes));
    if (gpu && (gpu->alloc(bytes, &send) || gpu->alloc(bytes, &receive))) {
        gpu->free(send);
        return false;
    }
    layer->send = gpu ? send : layer->host_send;
    layer->receive = gpu ? receive : layer->host_receive;
    return true;
}

bool layer_init(struct layer *layer, const struct request *request)
{
    int size;

    *layer = (struct layer){.request = *request, .line = MPI_COMM_NULL};
    if (request->shape == SHAPE_NONE)
        return true;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &layer->rank);
    make_grid(layer, size);
    layer->peer = must_have(calloc((size_t)size + 6, sizeof *layer->peer));
    layer->offset = must_have(calloc((size_t)size + 7, sizeof *layer->offset));
    if (request->shape == SHAPE_COL)
        find_line(layer);
    else
        find_neighbours(layer);
    return make_buffers(layer);
}

void layer_fini(struct layer *layer)
{
    if (layer->request.gpu && layer->send) {
        layer->request.gpu->free(layer->send);
        layer->request.gpu->free(layer->receive);
    }
    if (layer->line != MPI_COMM_NULL)
        MPI_Comm_free(&layer->line);
    free(layer->host_send);
    free(layer->host_receive);
    free(layer->peer);
    free(layer->offset);
}

static char byte_of(const struct layer *layer, int source, int target, size_t i)
{
    unsigned value = (unsigned)source * 31u + (unsigned)target * 17u +
                     (unsigned)layer->request.seed * 101u +
                     (unsigned)(i ^ i >> 8);

    return (char)(value & 0xff);
}

static size_t total(const struct layer *layer)
{
    return layer->peer_count ? layer->offset[layer->peer_count] : 0;
}

bool layer_fill(struct layer *layer, int round)
{
    const struct nw_gpu *gpu = layer->request.gpu;

    for (int p = 0; p < layer->peer_count; p++)
        for (size_t i = layer->offset[p]; i < layer->offset[p + 1]; i++)
            layer->host_send[i] =
                (char)(byte_of(layer, layer->rank, layer->peer[p],
                               i - layer->offset[p]) +
                       round);
    if (layer->host_receive)
        memset(layer->host_receive, ~round, total(layer));
    if (!gpu || !layer->send)
        return true;
    return !gpu->copy_in(layer->send, layer->host_send, total(layer)) &&
           !gpu->copy_in(layer->receive, layer->host_receive, total(layer));
}

/* The buffers from which MPI sends and into which it receives. */
static char *outgoing(const struct layer *layer)
{
    return layer->request.staged ? layer->host_send : layer->send;
}

static char *incoming(const struct layer *layer)
{
    return layer->request.staged ? layer->host_receive : layer->receive;
}

static void start_stencil(struct layer *layer)
{
    int n = 0, tag = layer->request.seed;

    for (int p = 0; p < layer->peer_count; p++)
        MPI_Irecv(incoming(layer) + layer->offset[p],
                  (int)(layer->offset[p + 1] - layer->offset[p]), MPI_BYTE,
                  layer->peer[p], tag, MPI_COMM_WORLD, &layer->requests[n++]);
    for (int p = 0; p < layer->peer_count; p++)
        MPI_Isend(outgoing(layer) + layer->offset[p],
                  (int)(layer->offset[p + 1] - layer->offset[p]), MPI_BYTE,
                  layer->peer[p], tag, MPI_COMM_WORLD, &layer->requests[n++]);
    layer->request_count = n;
}

bool layer_start(struct layer *layer)
{
    int block = (int)layer->request.bytes;

    if (layer->request.shape == SHAPE_NONE)
        return true;
    if (layer->request.staged &&
        layer->request.gpu->copy_out(layer->host_send, layer->send,
                                     total(layer)))
        return false;
    if (layer->request.shape == SHAPE_COL)
        MPI_Alltoall(outgoing(layer), block, MPI_BYTE, incoming(layer), block,
                     MPI_BYTE, layer->line);
    else
        start_stencil(layer);
    return true;
}

bool layer_finish(struct layer *layer)
{
    MPI_Status statuses[2 * MAX_PEERS];

    if (layer->request.shape == SHAPE_NONE)
        return true;
    MPI_Waitall(layer->request_count, layer->requests, statuses);
    layer->request_count = 0;
    return !layer->request.staged ||
           !layer->request.gpu->copy_in(layer->receive, layer->host_receive,
                                        total(layer));
}

int64_t layer_check(struct layer *layer, int round)
{
    const struct nw_gpu *gpu = layer->request.gpu;
    int64_t wrong = 0;

    if (gpu && layer->receive &&
        gpu->copy_out(layer->host_receive, layer->receive, total(layer)))
        return -1;
    for (int p = 0; p < layer->peer_count; p++)
        for (size_t i = layer->offset[p]; i < layer->offset[p + 1]; i++)
            wrong += layer->host_receive[i] !=
                     (char)(byte_of(layer, layer->peer[p], layer->rank,
                                    i - layer->offset[p]) +
                            round);
    return wrong;
}
