/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * State that all methods for GPU memory share. It has the GPU of each piece and
 * the events that order an exchange after the caller's own work. It also has
 * the opened memory of other processes of the node, and kernels prepared for a
 * connection's transfers. Each connection reads and writes ghost cells and
 * buffers in its own streams. A stream waits for the event `ready` of the piece
 * that it accesses, which is recorded in the caller's stream when the exchange
 * starts. An end of a connection is done when its last event has completed;
 * then the caller's stream may continue.
 */
#ifndef NW_HALO_EXCHANGE_GPUS_H
#define NW_HALO_EXCHANGE_GPUS_H

#include "gpu/copy_job.h"
#include "halo/exchange/exchange.h"

/* An array or an event of a rank, as the rank sends it to the other ranks of
 * the node. */
struct nw_halo_export {
    struct nw_gpu_handle handle;
    uint64_t offset;
    uint64_t given; /* 0: the rank does not offer it */
};

struct nw_halo_opened {
    struct nw_gpu_handle handle;
    int32_t gpu; /* the GPU that was current when it was opened */
    void *memory;
};

/* Bytes of a cache line of a GPU. The library aligns the first own cell (not a
 * ghost cell) of each row of its arrays to a multiple of this. */
#define NW_HALO_GPU_LINE ((size_t)128)

struct nw_halo_gpus {
    const struct nw_gpu *gpu;
    int32_t count;            /* number of GPUs that this process sees */
    void *context;            /* context that was current before the plan */
    int32_t *device;          /* [own_count] GPU of each piece */
    uint64_t *where;          /* [piece_count] GPU number, unique in the job */
    nw_gpu_stream *user;      /* [own_count] the caller's streams */
    nw_gpu_event *ready;      /* [own_count] event after the caller's work */
    struct nw_gpu_life *life; /* [own_count] lives of the contexts */
    /* Number of queues that need a graph; number of queues that have one. */
    int32_t queues, graphs;
    struct nw_halo_export *array; /* [piece_count * quantity_count] */
    struct nw_halo_export *event; /* [piece_count] exports of `ready` */
    struct nw_halo_opened *opened;
    size_t opened_count, opened_capacity;
    nw_gpu_event *peer_ready; /* [piece_count] `ready` of other ranks */
    void **owned;             /* [own_count * quantity_count] arrays */
    bool told;                /* every rank has sent its exports */
    /* Features that are available on every rank: events of other processes,
     * arrays of other processes, an MPI that accepts GPU memory. */
    bool ipc, ipc_arrays, aware;
    char why[200]; /* the reason why ipc is unavailable */
};

/* Fills halo->gpus, and allocates the arrays if the caller gives none.
 * Collective. */
nw_status nw_halo_gpus_open(nw_halo *halo,
                            const struct nw_halo_options *options);
/* Frees halo->gpus and makes `context` current again. */
void nw_halo_gpus_close(nw_halo *halo, void *context);
/* Call it before GPU resources are released. Returns true if the program has
 * reset a GPU; then the halo no longer uses the resources that it made on that
 * GPU. */
bool nw_halo_gpus_lost(nw_halo *halo);
/* Records the `ready` events in the caller's streams. Returns NW_ECUDA if the
 * program has reset a GPU since the plan was made. */
nw_status nw_halo_gpus_begin(nw_halo *halo);
/* Returns NW_EINVAL if the options say host memory and an array is in GPU
 * memory. */
nw_status nw_halo_gpus_refuse(const nw_halo *halo);

/* gpus_peers.c */
/* Finds out whether the processes of this node can open each other's GPU
 * memory, and sets ipc and ipc_arrays. Collective. */
nw_status nw_halo_peers_find(nw_halo *halo);
/* Opens memory that another process has exported, on the GPU `gpu`, which must
 * be current. Each allocation is opened once and closed with the halo. */
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

/* Returns the GPU of a piece of this rank. */
static inline int32_t nw_halo_device(const nw_halo *halo, int32_t piece)
{
    return halo->gpus->device[halo->own_at[piece]];
}

/* --- queues: the work of one end of a connection, on one GPU --- */

/* The task of a queue: to pack cells into a buffer, to unpack cells from a
 * buffer, or to move cells between arrays. `whose` says which process owns the
 * array of ghost cells. */
struct nw_halo_task {
    enum nw_gpu_work work;
    enum nw_halo_whose whose;
    void *buffer;
};

struct nw_halo_gpu_queue {
    int32_t device;
    nw_gpu_stream stream;
    nw_gpu_event done;
    struct nw_gpu_copy_job *all;  /* kernel for all fields in one launch */
    struct nw_gpu_copy_job **one; /* [field_count] kernel for each field */
    nw_gpu_graph graph;           /* kernel `all` and the copy, if any */
    bool recorded; /* the graph was recorded, or recording failed */
    /* A copy of the buffer before unpacking or after packing; NULL: no copy. */
    void *copy_to;
    const void *copy_from;
};

/* Makes the queue's stream and event on the GPU of `piece`, which becomes
 * current. `shared`: other processes may wait for the event. */
nw_status nw_halo_gpu_queue_open(const nw_halo *halo, int32_t piece,
                                 bool shared, struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_prepare(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    struct nw_halo_gpu_queue *queue);
/* Records the queue's kernels and copy in one graph; call it after copy_to is
 * set. */
void nw_halo_gpu_queue_record(const struct nw_halo_connection *connection,
                              struct nw_halo_gpu_queue *queue);
void nw_halo_gpu_queue_close(const nw_halo *halo,
                             struct nw_halo_gpu_queue *queue);
/* Makes the queue's stream wait for the caller's work on a piece of this rank.
 */
nw_status nw_halo_gpu_queue_join(const nw_halo *halo,
                                 struct nw_halo_gpu_queue *queue,
                                 int32_t piece);
/* Launches the kernels and the copy of a queue for the active fields. */
nw_status nw_halo_gpu_queue_run(const struct nw_halo_connection *connection,
                                struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_finish(const nw_halo *halo,
                                   struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_test(const nw_halo *halo,
                                 const struct nw_halo_gpu_queue *queue,
                                 bool *done);

/* --- the dense buffer of a connection --- */

/* Returns the offset in bytes of a field in the buffer. The cells of a field
 * are contiguous there, so subsets of the fields use the same offsets. */
size_t nw_halo_dense_offset(const struct nw_halo_connection *connection,
                            int32_t field);
size_t nw_halo_dense_bytes(const struct nw_halo_connection *connection);
struct nw_halo_span {
    size_t offset, bytes;
};
/* Returns the number of contiguous runs of bytes that the active fields have in
 * the buffer: 1 if all fields are active. */
int32_t nw_halo_spans(const struct nw_halo_connection *connection);
struct nw_halo_span nw_halo_span(const struct nw_halo_connection *connection,
                                 int32_t index);
bool nw_halo_all_active(const nw_halo *halo);

extern const struct nw_halo_method_ops nw_halo_kernel, nw_halo_write,
    nw_halo_peer3d, nw_halo_peer, nw_halo_colocated, nw_halo_aware,
    nw_halo_pinned, nw_halo_staged;

#endif
