/* SPDX-License-Identifier: BSD-3-Clause */
/* One layer of the benchmark: who sends how much to whom, from which memory. */
#ifndef BENCH_PATTERN_LAYER_H
#define BENCH_PATTERN_LAYER_H

#include <mpi.h>

#include "gpu/gpu.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum shape { SHAPE_NONE, SHAPE_2D, SHAPE_3D, SHAPE_COL };

#define MAX_PEERS 6

/* What the user asked for. */
struct request {
    enum shape shape;
    const struct nw_gpu *gpu; /* NULL for host memory */
    bool staged;              /* GPU messages pass host memory */
    bool weighted;
    size_t bytes; /* of a message; three times it along the first dimension */
    int seed;     /* tells the layers' bytes apart */
};

/* A stencil has up to six peers with a message each way; a collective has the
 * ranks of its line, one block of equal size for each. */
struct layer {
    struct request request;
    int rank;
    int dims[3], dim_count;
    MPI_Comm line; /* of a collective */
    int peer_count;
    int *peer;            /* [peer_count] ranks of MPI_COMM_WORLD */
    size_t *offset;       /* [peer_count + 1] into send and receive buffers */
    char *send, *receive; /* where the messages are: host or GPU memory */
    char *host_send, *host_receive; /* the same for hosts; else their twins */
    int request_count;
    MPI_Request requests[2 * MAX_PEERS];
};

/* The grid, the peers, the buffers. False after a failure of the GPU's, whose
 * sentence is in nw_error_text(). Collective over MPI_COMM_WORLD. */
bool layer_init(struct layer *layer, const struct request *request);
void layer_fini(struct layer *layer);

/* New bytes to send, other ones in each `round`; what arrived is forgotten. */
bool layer_fill(struct layer *layer, int round);
/* Starts a stencil's messages; does a collective's exchange. */
bool layer_start(struct layer *layer);
bool layer_finish(struct layer *layer);
/* The number of bytes that are not what the peers sent, -1 after a failure of
 * the GPU's. */
int64_t layer_check(struct layer *layer, int round);

#endif
