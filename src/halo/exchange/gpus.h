/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that the methods for GPU memory share: the GPU of each piece, the
 * events that order an exchange after the caller's own work, memory of
 * neighbours on the node, and kernels prepared for a connection's transfers.
 *
 * Each connection reads and writes ghost cells and buffers in its own streams.
 * A stream waits for the event of the piece it accesses (`ready`, recorded in
 * the caller's stream when the exchange starts). An end is done when its last
 * event has completed; then the caller's stream may continue.
 */
#ifndef NW_HALO_EXCHANGE_GPUS_H
#define NW_HALO_EXCHANGE_GPUS_H

#include "gpu/copy_job.h"
#include "halo/exchange/exchange.h"

/* An array or an event of a rank, as sent to the other ranks of the node. */
struct nw_halo_export {
    struct nw_gpu_handle handle;
    uint64_t offset;
    uint64_t given; /* 0: not offered */
};

struct nw_halo_opened {
    struct nw_gpu_handle handle;
    int32_t gpu; /* the GPU that was current when it was opened */
    void *memory;
};

/* Bytes of a cache line of a GPU. The library aligns the first own cell of each
 * row of its arrays to it. */
#define NW_HALO_GPU_LINE ((size_t)128)

struct nw_halo_gpus {
    const struct nw_gpu *gpu;
    int32_t count;            /* GPUs that this process sees */
    void *context;            /* current before the plan was made */
    int32_t *device;          /* [own_count] */
    uint64_t *where;          /* [piece_count] GPU number, unique in the job */
    nw_gpu_stream *user;      /* [own_count] the caller's streams */
    nw_gpu_event *ready;      /* [own_count] */
    struct nw_gpu_life *life; /* [own_count], of the contexts */
    int32_t queues, graphs;   /* queues that need a graph; that have one */
    struct nw_halo_export *array; /* [piece_count * quantity_count] */
    struct nw_halo_export *event; /* [piece_count], of `ready` */
    struct nw_halo_opened *opened;
    size_t opened_count, opened_capacity;
    nw_gpu_event *peer_ready;    /* [piece_count] opened when first needed */
    void **owned;                /* [own_count * quantity_count] to be freed */
    bool told;                   /* every rank has sent its exports */
    bool ipc, ipc_arrays, aware; /* available on every rank */
    char why[200];               /* the reason why ipc is unavailable */
};

/* Fills halo->gpus, and allocates the arrays if the caller gives none.
 * Collective. */
nw_status nw_halo_gpus_open(nw_halo *halo,
                            const struct nw_halo_options *options);
/* Makes `context` current again. */
void nw_halo_gpus_close(nw_halo *halo, void *context);
/* Call before releasing GPU resources. Returns true if the program has reset a
 * GPU; then the halo no longer uses the resources that it made there. */
bool nw_halo_gpus_lost(nw_halo *halo);
/* Records the `ready` events in the caller's streams. Returns NW_ECUDA if the
 * program has reset a GPU since the plan. */
nw_status nw_halo_gpus_begin(nw_halo *halo);
/* Returns NW_EINVAL if the options say host memory and an array is in GPU
 * memory. */
nw_status nw_halo_gpus_refuse(const nw_halo *halo);

/* gpus_peers.c */
/* Finds out whether the processes of this node can open each other's memory.
 * Collective. */
nw_status nw_halo_peers_find(nw_halo *halo);
/* Opens memory of another process on the current GPU `gpu`. Each allocation is
 * opened once and closed with the halo. */
nw_status nw_halo_peers_open(nw_halo *halo, const struct nw_halo_export *from,
                             int32_t gpu, void **out);
/* Opens the target arrays of a connection to another process, for
 * NW_HALO_MAPPED views. */
nw_status nw_halo_peers_map(const struct nw_halo_connection *connection);
nw_status nw_halo_peers_event(nw_halo *halo, int32_t piece, nw_gpu_event *out);
void nw_halo_peers_close(nw_halo *halo);
/* Waits until all ranks of the node have closed the memory that they opened:
 * GPU memory must not be freed earlier. Collective over the node. */
void nw_halo_peers_part(const nw_halo *halo);

static inline const struct nw_gpu *nw_halo_gpu(const nw_halo *halo)
{
    return halo->gpus->gpu;
}

/* GPU of a piece of this rank. */
static inline int32_t nw_halo_device(const nw_halo *halo, int32_t piece)
{
    return halo->gpus->device[halo->own_at[piece]];
}

/* --- queues: the work of one end of a connection, on one GPU --- */

/* The task of a queue: to pack cells into a buffer, to unpack them, or to move
 * them between arrays; `whose` says which process has the ghost cells. */
struct nw_halo_task {
    enum nw_gpu_work work;
    enum nw_halo_whose whose;
    void *buffer;
};

struct nw_halo_gpu_queue {
    int32_t device;
    nw_gpu_stream stream;
    nw_gpu_event done;
    struct nw_gpu_copy_job *all;  /* every field in one launch */
    struct nw_gpu_copy_job **one; /* [field_count], for subsets */
    nw_gpu_graph graph;           /* all fields, and the copy if there is one */
    bool recorded; /* the graph was recorded, or recording failed */
    /* a copy of the buffer before unpacking or after packing; NULL: none */
    void *copy_to;
    const void *copy_from;
};

/* Selects the queue's GPU first. `shared`: other processes may wait for the
 * event. */
nw_status nw_halo_gpu_queue_open(const nw_halo *halo, int32_t piece,
                                 bool shared, struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_prepare(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    struct nw_halo_gpu_queue *queue);
/* Records the kernels and the copy in one graph; call it when copy_to is
 * set. */
void nw_halo_gpu_queue_record(const struct nw_halo_connection *connection,
                              struct nw_halo_gpu_queue *queue);
void nw_halo_gpu_queue_close(const nw_halo *halo,
                             struct nw_halo_gpu_queue *queue);
/* Makes the queue wait for the caller's work on a piece of this rank. */
nw_status nw_halo_gpu_queue_join(const nw_halo *halo,
                                 struct nw_halo_gpu_queue *queue,
                                 int32_t piece);
/* Launches the kernels and the copy for the active fields. */
nw_status nw_halo_gpu_queue_run(const struct nw_halo_connection *connection,
                                struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_finish(const nw_halo *halo,
                                   struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_test(const nw_halo *halo,
                                 const struct nw_halo_gpu_queue *queue,
                                 bool *done);

/* --- the dense buffer of a connection --- */

/* The offset of a field in the buffer. Each field is one run of bytes, so
 * subsets use the same offsets. */
size_t nw_halo_dense_offset(const struct nw_halo_connection *connection,
                            int32_t field);
size_t nw_halo_dense_bytes(const struct nw_halo_connection *connection);
struct nw_halo_span {
    size_t offset, bytes;
};
/* Returns the number of runs of the active fields: 1 if all are active. */
int32_t nw_halo_spans(const struct nw_halo_connection *connection);
struct nw_halo_span nw_halo_span(const struct nw_halo_connection *connection,
                                 int32_t index);
bool nw_halo_all_active(const nw_halo *halo);

extern const struct nw_halo_method_ops nw_halo_kernel, nw_halo_write,
    nw_halo_peer3d, nw_halo_peer, nw_halo_colocated, nw_halo_aware,
    nw_halo_pinned, nw_halo_staged;

#endif
