/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the methods for GPU memory share: whose GPU each piece is on, the events
 * that order an exchange after the caller's own work, what neighbours on the
 * node have opened to us, and kernels prepared for a connection's transfers.
 *
 * Ghost cells and buffers of a connection are written and read in streams of
 * its own. A stream joins the event of the piece it touches (`ready`, recorded
 * in the caller's stream when the exchange starts), and an end is done when its
 * last event is: the caller's stream may go on then.
 */
#ifndef NW_HALO_EXCHANGE_GPUS_H
#define NW_HALO_EXCHANGE_GPUS_H

#include "gpu/copy_job.h"
#include "halo/exchange/exchange.h"

/* An array or an event of a rank on this node, as it is told to the others. */
struct nw_halo_export {
    struct nw_gpu_handle handle;
    uint64_t offset;
    uint64_t given; /* 0: not offered */
};

struct nw_halo_opened {
    struct nw_gpu_handle handle;
    int32_t gpu; /* from which */
    void *memory;
};

/* Bytes of a line of a GPU's memory: rows of the library's own arrays begin
 * there with their own cells. */
#define NW_HALO_GPU_LINE ((size_t)128)

struct nw_halo_gpus {
    const struct nw_gpu *gpu;
    int32_t count;       /* GPUs this process sees */
    void *context;       /* that was current before the plan */
    int32_t *device;     /* [own_count] */
    uint64_t *where;     /* [piece_count] one number a GPU of the whole job */
    nw_gpu_stream *user; /* [own_count] the caller's */
    nw_gpu_event *ready; /* [own_count] */
    struct nw_gpu_life *life;     /* [own_count], of their contexts */
    int32_t queues, graphs;       /* open, that wanted a graph; that have one */
    struct nw_halo_export *array; /* [piece_count * quantity_count] */
    struct nw_halo_export *event; /* [piece_count], of ready */
    struct nw_halo_opened *opened;
    size_t opened_count, opened_capacity;
    nw_gpu_event *peer_ready;    /* [piece_count] opened when first needed */
    void **owned;                /* [own_count * quantity_count] ours to free */
    bool told;                   /* of arrays and events, by every rank */
    bool ipc, ipc_arrays, aware; /* on every rank */
    char why[200];               /* no ipc */
};

/* Everything but the methods' connections; where arrays are the library's they
 * are allocated. Collective. */
nw_status nw_halo_gpus_open(nw_halo *halo,
                            const struct nw_halo_options *options);
/* `context` becomes current again. */
void nw_halo_gpus_close(nw_halo *halo, void *context);
/* Before anything is given back: if the program has reset a GPU, nothing made
 * there is touched from now on, and true. */
bool nw_halo_gpus_lost(nw_halo *halo);
/* Records where the callers' streams are. NW_ECUDA where the program has reset
 * a GPU since. */
nw_status nw_halo_gpus_begin(nw_halo *halo);
/* NW_EINVAL where host memory was promised and a GPU's is given. */
nw_status nw_halo_gpus_refuse(const nw_halo *halo);

/* gpus_peers.c */
/* Finds out what processes of this node can open of each other. Collective. */
nw_status nw_halo_peers_find(nw_halo *halo);
/* Memory of another process, as seen from the current GPU `gpu`; opened once
 * and closed with the halo. */
nw_status nw_halo_peers_open(nw_halo *halo, const struct nw_halo_export *from,
                             int32_t gpu, void **out);
/* Makes the target arrays of a connection to another process known here, for
 * NW_HALO_MAPPED views. */
nw_status nw_halo_peers_map(const struct nw_halo_connection *connection);
nw_status nw_halo_peers_event(nw_halo *halo, int32_t piece, nw_gpu_event *out);
void nw_halo_peers_close(nw_halo *halo);
/* Waits until all of the node have let go of what they had opened: a GPU's
 * memory may not be freed before. Collective over the node. */
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

/* What a queue does with the cells: packs them into a buffer, unpacks them, or
 * moves them from array to array (whose the ghost cells are). */
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
    nw_gpu_graph graph; /* all fields, and a copy where there is one */
    bool recorded;      /* the graph, or tried to be */
    /* a copy of the buffer before unpacking or after packing; NULL: none */
    void *copy_to;
    const void *copy_from;
};

/* Selects the queue's GPU first. `shared`: others may join the event. */
nw_status nw_halo_gpu_queue_open(const nw_halo *halo, int32_t piece,
                                 bool shared, struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_prepare(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    struct nw_halo_gpu_queue *queue);
/* With the copy, in one graph; call it when copy_to is set. */
void nw_halo_gpu_queue_record(const struct nw_halo_connection *connection,
                              struct nw_halo_gpu_queue *queue);
void nw_halo_gpu_queue_close(const nw_halo *halo,
                             struct nw_halo_gpu_queue *queue);
/* Joins the caller's work on an own piece. */
nw_status nw_halo_gpu_queue_join(const nw_halo *halo,
                                 struct nw_halo_gpu_queue *queue,
                                 int32_t piece);
/* Kernels and the copy for the active fields; `first` is the copy's turn. */
nw_status nw_halo_gpu_queue_run(const struct nw_halo_connection *connection,
                                struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_finish(const nw_halo *halo,
                                   struct nw_halo_gpu_queue *queue);
nw_status nw_halo_gpu_queue_test(const nw_halo *halo,
                                 const struct nw_halo_gpu_queue *queue,
                                 bool *done);

/* --- the dense buffer of a connection --- */

/* Where a field begins in the buffer: each field is one run of bytes, so that
 * subsets have the same places. */
size_t nw_halo_dense_offset(const struct nw_halo_connection *connection,
                            int32_t field);
size_t nw_halo_dense_bytes(const struct nw_halo_connection *connection);
struct nw_halo_span {
    size_t offset, bytes;
};
/* The active fields' runs: one where all are. Returns their count. */
int32_t nw_halo_spans(const struct nw_halo_connection *connection);
struct nw_halo_span nw_halo_span(const struct nw_halo_connection *connection,
                                 int32_t index);
bool nw_halo_all_active(const nw_halo *halo);

extern const struct nw_halo_method_ops nw_halo_kernel, nw_halo_write,
    nw_halo_peer3d, nw_halo_peer, nw_halo_colocated, nw_halo_aware,
    nw_halo_pinned, nw_halo_staged;

#endif
