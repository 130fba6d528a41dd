/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Methods between GPUs of any two ranks by MPI, as state machines (Pearson et
 * al., "Node-aware stencil communication", section III-D):
 * - `staged` packs on the GPU and copies to pinned host memory;
 * - `pinned` packs directly into pinned host memory;
 * - `aware` passes the packed buffer on the GPU to MPI.
 * The sender does not block: it sends when a test finds that the event after
 * the packing has completed. The receiver does the reverse steps: it receives,
 * copies for `staged`, and unpacks.
 */
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"

#include <stdlib.h>

#define PART ((size_t)1 << 30) /* most bytes of an MPI message */

/* MOVING: the MPI messages of the cells are pending. */
enum state { IDLE, PACKING, MOVING, UNPACKING };

struct messages {
    struct nw_halo_gpu_queue queue;
    void *device, *pinned;
    char *wire; /* the buffer for MPI: `pinned`, or `device` without it */
    MPI_Request *request;
    int request_count;
    enum state state;
};

static bool gpus_messages_fits(const nw_halo *halo,
                               const struct nw_halo_pair *pair)
{
    (void)halo;
    return !pair->same_rank;
}

static bool aware_here(nw_halo *halo)
{
    return halo->gpus->aware;
}

static nw_status
gpus_messages_make_buffers(struct nw_halo_connection *connection,
                           struct messages *messages)
{
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    size_t bytes = nw_halo_dense_bytes(connection);
    nw_status status = NW_OK;

    if (connection->ops->id != NW_HALO_PINNED)
        status = gpu->alloc(bytes, &messages->device);
    if (!status && connection->ops->id != NW_HALO_AWARE)
        status = gpu->alloc_pinned(bytes, &messages->pinned);
    messages->wire = messages->pinned ? messages->pinned : messages->device;
    if (!messages->device || !messages->pinned)
        return status;
    messages->queue.copy_to =
        connection->sends ? messages->pinned : messages->device;
    messages->queue.copy_from =
        connection->sends ? messages->device : messages->pinned;
    return status;
}

static nw_status gpus_messages_open(struct nw_halo_connection *connection,
                                    struct nw_halo_offer *own)
{
    struct messages *messages = NULL;
    const nw_halo *halo = connection->halo;
    struct nw_halo_task task = {.work = connection->sends ? NW_GPU_PACK
                                                          : NW_GPU_UNPACK};
    int32_t piece = connection->sends ? connection->transfer->from
                                      : connection->transfer->to;
    size_t parts = nw_halo_dense_bytes(connection) / PART + 1;
    nw_status status = nw_alloc(1, sizeof *messages, &messages);

    (void)own;
    connection->state = messages;
    if (!status)
        status = nw_halo_gpu_queue_open(halo, piece, false, &messages->queue);
    if (!status)
        status = gpus_messages_make_buffers(connection, messages);
    task.buffer = messages->device ? messages->device : messages->pinned;
    if (!status)
        status = nw_halo_gpu_queue_prepare(connection, &task, &messages->queue);
    if (!status)
        nw_halo_gpu_queue_record(connection, &messages->queue);
    if (!status)
        status = nw_alloc(parts + (size_t)halo->field_count,
                          sizeof *messages->request, &messages->request);
    return status;
}

static int move_span(struct nw_halo_connection *connection,
                     struct nw_halo_span span)
{
    struct messages *messages = connection->state;
    MPI_Comm comm = connection->halo->comm;
    int code = MPI_SUCCESS;

    for (size_t at = 0; code == MPI_SUCCESS && at < span.bytes; at += PART) {
        int part = (int)(span.bytes - at < PART ? span.bytes - at : PART);
        char *start = messages->wire + span.offset + at;
        MPI_Request *request = &messages->request[messages->request_count++];

        code = connection->sends
                   ? MPI_Isend(start, part, MPI_BYTE, connection->peer,
                               connection->tag, comm, request)
                   : MPI_Irecv(start, part, MPI_BYTE, connection->peer,
                               connection->tag, comm, request);
        if (code != MPI_SUCCESS)
            messages->request_count--;
    }
    return code;
}

static nw_status gpus_messages_move(struct nw_halo_connection *connection)
{
    struct messages *messages = connection->state;
    int code = MPI_SUCCESS;

    messages->request_count = 0;
    for (int32_t i = 0; code == MPI_SUCCESS && i < nw_halo_spans(connection);
         i++)
        code = move_span(connection, nw_halo_span(connection, i));
    messages->state = MOVING;
    return nw_halo_mpi(code, "move a halo between GPUs");
}

static nw_status gpus_messages_post(struct nw_halo_connection *connection)
{
    return connection->receives ? gpus_messages_move(connection) : NW_OK;
}

static nw_status run_lane(struct nw_halo_connection *connection, int32_t piece,
                          enum state state)
{
    struct messages *messages = connection->state;
    const nw_halo *halo = connection->halo;
    nw_status status = nw_halo_gpu(halo)->select(messages->queue.device);

    if (!status)
        status = nw_halo_gpu_queue_join(halo, &messages->queue, piece);
    if (!status)
        status = nw_halo_gpu_queue_run(connection, &messages->queue);
    if (!status)
        status = nw_halo_gpu_queue_finish(halo, &messages->queue);
    messages->state = state;
    return status;
}

static nw_status gpus_messages_start(struct nw_halo_connection *connection)
{
    return connection->sends
               ? run_lane(connection, connection->transfer->from, PACKING)
               : NW_OK;
}

static nw_status test_messages(struct messages *messages, bool *arrived)
{
    int flag = 0;
    int code = MPI_Testall(messages->request_count, messages->request, &flag,
                           MPI_STATUSES_IGNORE);

    *arrived = flag;
    return nw_halo_mpi(code, "move a halo between GPUs");
}

/* Makes the next step if the current one has ended: sends after packing, or
 * unpacks after the message has arrived. */
static nw_status gpus_messages_test(struct nw_halo_connection *connection,
                                    bool *done)
{
    struct messages *messages = connection->state;
    bool reached = false;
    nw_status status = messages->state == MOVING
                           ? test_messages(messages, &reached)
                           : nw_halo_gpu_queue_test(connection->halo,
                                                    &messages->queue, &reached);

    if (status || !reached)
        return status;
    if (messages->state == PACKING)
        return gpus_messages_move(connection);
    if (messages->state == MOVING && connection->receives)
        return run_lane(connection, connection->transfer->to, UNPACKING);
    messages->state = IDLE;
    *done = true;
    return NW_OK;
}

static void
gpus_messages_close_connection(struct nw_halo_connection *connection)
{
    struct messages *messages = connection->state;
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    bool ended;

    if (!messages)
        return;
    ended = messages->state != MOVING ||
            nw_halo_give_up(connection, messages->request_count,
                            messages->request, connection->receives);
    nw_halo_gpu_queue_close(connection->halo, &messages->queue);
    if (ended) {
        gpu->free(messages->device);
        gpu->free_pinned(messages->pinned);
    }
    free(messages->request);
    free(messages);
    connection->state = NULL;
}

#define METHOD(name, number, may)                                              \
    const struct nw_halo_method_ops name = {                                   \
        .id = number,                                                          \
        .for_gpu = true,                                                       \
        .here = may,                                                           \
        .fits = gpus_messages_fits,                                            \
        .open = gpus_messages_open,                                            \
        .post = gpus_messages_post,                                            \
        .start = gpus_messages_start,                                          \
        .test = gpus_messages_test,                                            \
        .close = gpus_messages_close_connection,                               \
    }

METHOD(nw_halo_aware, NW_HALO_AWARE, aware_here);
METHOD(nw_halo_pinned, NW_HALO_PINNED, NULL);
METHOD(nw_halo_staged, NW_HALO_STAGED, NULL);
