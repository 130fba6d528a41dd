/* SPDX-License-Identifier: BSD-3-Clause */
/* One layer of the benchmark: which rank sends how much to which rank, from
 * which memory. */
#ifndef BENCH_PATTERN_LAYER_H
#define BENCH_PATTERN_LAYER_H

#include <mpi.h>

#include "gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shape { SHAPE_NONE, SHAPE_2D, SHAPE_3D, SHAPE_COL };

#define MAX_PEERS 6

/* A layer as requested on the command line. */
struct request {
    enum shape shape;
    const struct nw_gpu *gpu; /* NULL for host memory */
    bool staged;              /* messages of GPU memory are copied through
                                 host memory */
    bool weighted;
    size_t bytes; /* size of a message; with `weighted`, three times as much
                     along the first dimension */
    int seed;     /* makes the bytes of layers differ */
};

/* A stencil has up to six peers with a message in each direction; a collective
 * has the ranks of its line, with one block of equal size for each. */
struct layer {
    struct request request;
    int rank;
    int dims[3], dim_count;
    MPI_Comm line; /* the communicator of a collective */
    int peer_count;
    int *peer;            /* [peer_count] ranks of MPI_COMM_WORLD */
    size_t *offset;       /* [peer_count + 1] into send and receive buffers */
    char *send, *receive; /* where the messages are: host or GPU memory */
    char *host_send, *host_receive; /* the same buffers if they are in host
                                       memory, otherwise their copies there */
    int request_count;
    MPI_Request requests[2 * MAX_PEERS];
};

/* Makes the grid, the peers and the buffers. Returns false after an error of
 * the GPU, whose message is in nw_error_text(). Collective over
 * MPI_COMM_WORLD. */
bool layer_init(struct layer *layer, const struct request *request);
void layer_fini(struct layer *layer);

/* Fills the send buffers with new bytes, which differ in each `round`, and
 * clears the receive buffers. */
bool layer_fill(struct layer *layer, int round);
/* Starts the messages of a stencil; makes the whole exchange of a
 * collective. */
bool layer_start(struct layer *layer);
bool layer_finish(struct layer *layer);
/* Returns the number of received bytes that differ from those that the peers
 * sent, or -1 after an error of the GPU. */
int64_t layer_check(struct layer *layer, int round);

#endif
