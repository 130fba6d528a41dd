/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The state that all methods for GPU memory share:
 * - the GPU of each piece;
 * - events that order an exchange after the caller's work;
 * - the opened memory of other processes of the node;
 * - the prepared kernels of connections.
 *
 * Each connection accesses ghost cells and buffers in streams of its own. When
 * the exchange starts, the event `ready` of each piece is recorded in the
 * caller's stream, and a connection's stream waits for the events of the pieces
 * that it accesses. An end of a connection is done when its last event, or its
 * last MPI message, has completed; then the caller's stream may continue.
 */
#ifndef NW_HALO_EXCHANGE_GPUS_H
#define NW_HALO_EXCHANGE_GPUS_H

#include "gpu/copy_job.h"
#include "halo/exchange/exchange.h"

/* A handle of an array, a buffer or an event of a rank, by which other ranks of
 * the node can open it (CUDA IPC). */
struct nw_halo_export {
    struct nw_gpu_handle handle;
    uint64_t offset; /* of the array or buffer in its allocation, in bytes */
    uint64_t given;  /* in nw_halo_gpus: 1 if the rank offers it, else 0 */
};

/* An allocation of another process that this process has opened. */
struct nw_halo_opened {
    struct nw_gpu_handle handle;
    int32_t gpu; /* GPU that was current at opening */
    void *memory;
};

/* Bytes of a GPU's cache line. In arrays that the library allocates, the first
 * own cell (not a ghost cell) of the first row is aligned to this, and of each
 * row if the pitch is a multiple of it. */
#define NW_HALO_GPU_LINE ((size_t)128)

struct nw_halo_gpus {
    const struct nw_gpu *gpu;
    int32_t count;   /* number of GPUs that this process sees */
    void *context;   /* context that was current before planning */
    int32_t *device; /* [own_count] GPU of each piece */
    /* [piece_count] hash that identifies each piece's GPU in the job */
    uint64_t *where;
    nw_gpu_stream *user;      /* [own_count] the caller's streams, or NULL */
    nw_gpu_event *ready;      /* [own_count] events after the caller's work */
    struct nw_gpu_life *life; /* [own_count] to detect a reset of the GPU */
    /* Number of queues for which a graph was tried; number of queues that have
     * one. */
    int32_t queues, graphs;
    struct nw_halo_export *array; /* [piece_count * quantity_count] handles */
    struct nw_halo_export *event; /* [piece_count] handles of `ready` */
    struct nw_halo_opened *opened;
    size_t opened_count, opened_capacity;
    /* [piece_count] `ready` of other ranks; NULL: not opened yet */
    nw_gpu_event *peer_ready;
    /* [own_count * quantity_count] allocations of the arrays; NULL: the arrays
     * are the caller's */
    void **owned;
    bool told; /* the handles have been exchanged */
    /* Features that are available on every rank: events of other processes,
     * arrays of other processes, an MPI that accepts GPU memory. */
    bool ipc, ipc_arrays, aware;
    char why[200]; /* reason why `ipc` is false */
};

/* Fills halo->gpus. Allocates the arrays if the caller gives none; otherwise
 * checks them. Collective. */
nw_status nw_halo_gpus_open(nw_halo *halo,
                            const struct nw_halo_options *options);
/* Frees halo->gpus and makes `context` current again. Does nothing for a halo
 * in host memory. Collective over the node. */
void nw_halo_gpus_close(nw_halo *halo, void *context);
/* Returns true if the program has reset the GPU of a piece of this rank. Then
 * halo->gpus->gpu becomes a table of functions that do nothing, since the
 * resources of the GPU no longer exist. Call it before GPU resources are
 * released. */
bool nw_halo_gpus_lost(nw_halo *halo);
/* Records the `ready` events in the caller's streams. Returns NW_ECUDA if the
 * program has reset the GPU of a piece since the plan was made. */
nw_status nw_halo_gpus_begin(nw_halo *halo);
/* For a halo in host memory: returns NW_EINVAL if an array of this rank is in
 * GPU memory. */
nw_status nw_halo_gpus_refuse(const nw_halo *halo);

/* --- gpus_peers.c: GPU memory of other processes --- */
/* Exchanges the handles of arrays and events, and finds out whether the
 * processes of each node can open each other's GPU memory, and whether the MPI
 * accepts GPU memory. Sets `ipc`, `ipc_arrays` and `aware`. Collective. */
nw_status nw_halo_peers_find(nw_halo *halo);
/* Opens the target arrays of a connection to another process, so that
 * nw_halo_view_of can address them by NW_HALO_MAPPED. */
nw_status nw_halo_peers_map(const struct nw_halo_connection *connection);
/* Sets *out to the `ready` event of another rank's piece; opens it if needed.
 */
nw_status nw_halo_peers_event(nw_halo *halo, int32_t piece, nw_gpu_event *out);
/* Closes all events and memory of other processes that are in halo->gpus. */
void nw_halo_peers_close(nw_halo *halo);
/* A barrier of the node's ranks, after each has closed the memory of others,
 * since the owners must not free it earlier. Does nothing in host memory, if
 * the handles were not exchanged, or if a peer has ended. Collective over the
 * node. */
void nw_halo_peers_part(const nw_halo *halo);

static inline const struct nw_gpu *nw_halo_gpu(const nw_halo *halo)
{
    return halo->gpus->gpu;
}

/* Returns the GPU of a piece of this rank. */
static inline int32_t nw_halo_device(const nw_halo *halo, int32_t piece)
{
    return halo->gpus->device[halo->own_at[piece]];
}

/* --- queues: the work of one end of a connection, on one GPU --- */

/* The task of a queue: to pack cells into `buffer`, to unpack cells from it, or
 * to move cells from array to array. `whose` says how the array with the ghost
 * cells is addressed. */
struct nw_halo_task {
    enum nw_gpu_work work;
    enum nw_halo_whose whose;
    void *buffer;
};

struct nw_halo_gpu_queue {
    int32_t device;
    nw_gpu_stream stream;
    nw_gpu_event done;
    struct nw_gpu_copy_job *all; /* one kernel launch for all fields */
    /* [field_count] a kernel launch for each field */
    struct nw_gpu_copy_job **one;
    nw_gpu_graph graph; /* graph of `all` and the copy; NULL: no graph */
    bool recorded;      /* nw_halo_gpu_queue_record was called */
    /* Addresses of the copy of the buffer, which comes after packing or before
     * unpacking. NULL: no copy. */
    void *copy_to;
    const void *copy_from;
};

/* Makes the queue's stream and event on the GPU of `piece`, and makes this GPU
 * current. `shared` is true if other processes will wait for the event. */
nw_status nw_halo_gpu_queue_open(const nw_halo *halo, int32_t piece,
                                 bool shared, struct nw_halo_gpu_queue *queue);
/* Prepares the kernel launches of a queue for its task. */
nw_status nw_halo_gpu_queue_prepare(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    struct nw_halo_gpu_queue *queue);
/* Records the queue's kernels and copy as a CUDA graph, if the driver can do
 * this. Call it after copy_to is set. */
void nw_halo_gpu_queue_record(const struct nw_halo_connection *connection,
                              struct nw_halo_gpu_queue *queue);
void nw_halo_gpu_queue_close(const nw_halo *halo,
                             struct nw_halo_gpu_queue *queue);
/* Makes the queue's stream wait for the caller's earlier work on a piece of
 * this rank. */
nw_status nw_halo_gpu_queue_join(const nw_halo *halo,
                                 struct nw_halo_gpu_queue *queue,
                                 int32_t piece);
/* Launches the kernels and the copy for the fields of the current exchange. */
nw_status nw_halo_gpu_queue_run(const struct nw_halo_connection *connection,
                                struct nw_halo_gpu_queue *queue);
/* Records queue->done after the work that was launched; nw_halo_gpu_queue_test
 * sets *done to true if this event has completed. */
nw_status nw_halo_gpu_queue_finish(const nw_halo *halo,
                                   struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_test(const nw_halo *halo,
                                 const struct nw_halo_gpu_queue *queue,
                                 bool *done);

/* --- the dense buffer of a connection --- */

/* Returns the offset in bytes of a field in the buffer. It does not depend on
 * which fields are active. nw_halo_dense_bytes returns the buffer's size. */
size_t nw_halo_dense_offset(const struct nw_halo_connection *connection,
                            int32_t field);
size_t nw_halo_dense_bytes(const struct nw_halo_connection *connection);
struct nw_halo_span {
    size_t offset, bytes;
};
/* Returns the number of contiguous spans in the buffer that contain the active
 * fields: 1 if all quantities are exchanged, else one for each active field.
 * nw_halo_span returns one of them. */
int32_t nw_halo_spans(const struct nw_halo_connection *connection);
struct nw_halo_span nw_halo_span(const struct nw_halo_connection *connection,
                                 int32_t index);
/* Returns true if the current exchange uses the joined fields, all of them: the
 * first joined_count fields (struct nw_halo). */
bool nw_halo_all_active(const nw_halo *halo);

extern const struct nw_halo_method_ops nw_halo_kernel, nw_halo_write,
    nw_halo_peer3d, nw_halo_peer, nw_halo_colocated, nw_halo_aware,
    nw_halo_pinned, nw_halo_staged;

#endif
