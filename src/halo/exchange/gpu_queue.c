/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of one end of a connection on one GPU. It consists of:
 * - a stream;
 * - kernels that copy the cells: one launch for all fields, or one per field;
 * - a copy of the dense buffer, for methods that have one;
 * - a CUDA graph of the kernel and the copy. */
#include "halo/exchange/gpus.h"

#include <stdlib.h>

nw_status nw_halo_gpu_queue_open(const nw_halo *halo, int32_t piece,
                                 bool shared, struct nw_halo_gpu_queue *queue)
{
    const struct nw_gpu *gpu = nw_halo_gpu(halo);
    nw_status status;

    queue->device = nw_halo_device(halo, piece);
    status = gpu->select(queue->device);
    if (!status)
        status = gpu->stream_new(&queue->stream);
    if (!status)
        status = shared ? gpu->event_new_shared(&queue->done)
                        : gpu->event_new(&queue->done);
    if (!status)
        status = nw_alloc((size_t)halo->field_count, sizeof *queue->one,
                          &queue->one);
    return status;
}

void nw_halo_gpu_queue_close(const nw_halo *halo,
                             struct nw_halo_gpu_queue *queue)
{
    const struct nw_gpu *gpu = nw_halo_gpu(halo);

    if (!queue->stream || gpu->select(queue->device))
        return;
    (void)gpu->stream_wait(queue->stream);
    gpu->graph_free(queue->graph);
    halo->gpus->graphs -= queue->graph != NULL;
    halo->gpus->queues -= queue->recorded;
    nw_gpu_copy_job_free(queue->all);
    for (int32_t f = 0; queue->one && f < halo->field_count; f++)
        nw_gpu_copy_job_free(queue->one[f]);
    free(queue->one);
    /* after a peer has ended, others may still use the event */
    if (!halo->peer_lost)
        gpu->event_free(queue->done);
    gpu->stream_free(queue->stream);
    *queue = (struct nw_halo_gpu_queue){.device = 0};
}

/* --- kernels --- */

/* One transfer in `count` fields with the same layout, from field `first` on.
 * One part of a kernel launch (struct nw_gpu_piece) copies it. */
struct gpu_queue_run {
    const struct nw_halo_connection *connection;
    const struct nw_halo_task *task;
    const struct nw_halo_transfer *transfer;
    int32_t first, count;
    size_t before; /* bytes of earlier transfers in the first field */
};

static struct nw_halo_view gpu_queue_view_of(const struct gpu_queue_run *run,
                                             bool target, int32_t field)
{
    struct nw_halo_ending ending = {
        run->transfer, &run->connection->halo->field[field], target};

    return nw_halo_view_of(run->connection->halo, &ending,
                           target ? run->task->whose : NW_HALO_OWN);
}

/* Returns the address of the transfer's cells in the array of the run's first
 * field. Sets `step` to the distances in bytes between cells along each axis,
 * and shift[i] to the distance from this array to that of the i-th field. */
static void *set_array(const struct gpu_queue_run *run, bool target,
                       int64_t step[3], int64_t *shift)
{
    struct nw_halo_view view = gpu_queue_view_of(run, target, run->first);

    for (int axis = 0; axis < 3; axis++)
        step[axis] = view.step[axis];
    for (int32_t i = 0; i < run->count; i++)
        shift[i] = gpu_queue_view_of(run, target, run->first + i).at - view.at;
    return view.at;
}

static void *set_dense(const struct gpu_queue_run *run, int64_t *shift)
{
    size_t start = nw_halo_dense_offset(run->connection, run->first);

    for (int32_t i = 0; i < run->count; i++)
        shift[i] =
            (int64_t)(nw_halo_dense_offset(run->connection, run->first + i) -
                      start);
    return (char *)run->task->buffer + start + run->before;
}

static void fill_piece(const struct gpu_queue_run *run,
                       struct nw_gpu_piece *piece, int64_t *shifts)
{
    int64_t to[3] = {0}, from[3] = {0};
    int64_t *to_shift = shifts, *from_shift = shifts + run->count;

    piece->to = run->task->work == NW_GPU_PACK
                    ? set_dense(run, to_shift)
                    : set_array(run, true, to, to_shift);
    piece->from = run->task->work == NW_GPU_UNPACK
                      ? set_dense(run, from_shift)
                      : set_array(run, false, from, from_shift);
    piece->to_step = to[0];
    piece->to_row = to[1];
    piece->to_plane = to[2];
    piece->from_step = from[0];
    piece->from_row = from[1];
    piece->from_plane = from[2];
    piece->to_shift = to_shift;
    piece->from_shift = from_shift;
    piece->bytes = run->connection->halo->field[run->first].bytes;
    piece->x = run->transfer->extent[0];
    piece->y = run->transfer->extent[1];
    piece->z = run->transfer->extent[2];
    piece->quantities = (uint32_t)run->count;
}

static bool same_steps(const struct gpu_queue_run *run, bool target,
                       int32_t field)
{
    struct nw_halo_view a = gpu_queue_view_of(run, target, run->first);
    struct nw_halo_view b = gpu_queue_view_of(run, target, field);

    return a.step[0] == b.step[0] && a.step[1] == b.step[1] &&
           a.step[2] == b.step[2];
}

/* Returns true if one part of a launch can copy `field` and the run's first
 * field, because both have the same layout. */
static bool lies_alike(const struct gpu_queue_run *run, int32_t field)
{
    const struct nw_halo_field *fields = run->connection->halo->field;

    return fields[run->first].bytes == fields[field].bytes &&
           (run->task->work == NW_GPU_UNPACK ||
            same_steps(run, false, field)) &&
           (run->task->work == NW_GPU_PACK || same_steps(run, true, field));
}

static size_t dense_block(const struct gpu_queue_run *run)
{
    const int64_t *n = run->transfer->extent;
    size_t bytes = run->connection->halo->field[run->first].bytes;

    return ((size_t)(n[0] * n[1] * n[2]) * bytes + 15) / 16 * 16;
}

/* Makes a kernel launch ("job") that copies all transfers in the fields first
 * <= f < last. */
static nw_status gpu_queue_make_job(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    int32_t first, int32_t last,
                                    struct nw_gpu_copy_job **out)
{
    size_t fields = (size_t)(last - first), count = 0, shifts = 0;
    struct nw_gpu_piece *piece = NULL;
    int64_t *shift = NULL;
    nw_status status =
        nw_alloc(connection->count * fields, sizeof *piece, &piece);

    if (!status)
        status =
            nw_alloc(2 * connection->count * fields, sizeof *shift, &shift);
    for (int32_t f = first; !status && f < last;) {
        struct gpu_queue_run run = {
            .connection = connection, .task = task, .first = f};

        run.transfer = connection->transfer;
        run.count = 1;
        while (f + run.count < last && lies_alike(&run, f + run.count))
            run.count++;
        for (size_t i = 0; i < connection->count; i++) {
            run.transfer = &connection->transfer[i];
            fill_piece(&run, &piece[count++], shift + shifts);
            shifts += 2 * (size_t)run.count;
            run.before += dense_block(&run);
        }
        f += run.count;
    }
    if (!status)
        status = nw_gpu_copy_job_new(nw_halo_gpu(connection->halo), task->work,
                                     piece, count, out);
    free(shift);
    free(piece);
    return status;
}

nw_status nw_halo_gpu_queue_prepare(const struct nw_halo_connection *connection,
                                    const struct nw_halo_task *task,
                                    struct nw_halo_gpu_queue *queue)
{
    const nw_halo *halo = connection->halo;
    int32_t alone = halo->field_count - halo->quantity_count;
    nw_status status = nw_halo_gpu(halo)->select(queue->device);

    if (!status)
        status = gpu_queue_make_job(connection, task, 0, halo->joined_count,
                                    &queue->all);
    for (int32_t f = alone; !status && f < halo->field_count; f++)
        status = gpu_queue_make_job(connection, task, f, f + 1, &queue->one[f]);
    return status;
}

/* --- running --- */

static nw_status gpu_queue_launch(const struct nw_halo_connection *connection,
                                  const struct nw_halo_gpu_queue *queue)
{
    const nw_halo *halo = connection->halo;
    nw_status status = NW_OK;

    if (!queue->all)
        return NW_OK;
    if (nw_halo_all_active(halo))
        return nw_gpu_copy_job_launch(queue->all, queue->stream);
    for (int32_t i = 0; !status && i < halo->active_count; i++)
        status =
            nw_gpu_copy_job_launch(queue->one[halo->active[i]], queue->stream);
    return status;
}

static nw_status gpu_queue_copy(const struct nw_halo_connection *connection,
                                const struct nw_halo_gpu_queue *queue)
{
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    nw_status status = NW_OK;

    for (int32_t i = 0; !status && i < nw_halo_spans(connection); i++) {
        struct nw_halo_span span = nw_halo_span(connection, i);

        status = gpu->copy((char *)queue->copy_to + span.offset,
                           (const char *)queue->copy_from + span.offset,
                           span.bytes, queue->stream);
    }
    return status;
}

/* Queues the kernels and the copy of the buffer in the stream. A sender packs
 * before the copy; a receiver unpacks after it. */
static nw_status run_both(const struct nw_halo_connection *connection,
                          const struct nw_halo_gpu_queue *queue)
{
    bool first = connection->receives && !connection->sends;
    nw_status status = NW_OK;

    if (queue->copy_to && first)
        status = gpu_queue_copy(connection, queue);
    if (!status)
        status = gpu_queue_launch(connection, queue);
    if (!status && queue->copy_to && !first)
        status = gpu_queue_copy(connection, queue);
    return status;
}

/* If recording fails, queue->graph stays NULL, and each exchange queues the
 * kernels and copies one by one, which is slower. */
void nw_halo_gpu_queue_record(const struct nw_halo_connection *connection,
                              struct nw_halo_gpu_queue *queue)
{
    nw_halo *halo = connection->halo;
    const struct nw_gpu *gpu = nw_halo_gpu(halo);
    int32_t count = halo->active_count;
    nw_status status;

    queue->recorded = true;
    halo->gpus->queues++;
    if (gpu->select(queue->device) || gpu->graph_begin(queue->stream))
        return;
    halo->active_count = halo->joined_count;
    for (int32_t i = 0; i < halo->joined_count; i++)
        halo->active[i] = i;
    status = run_both(connection, queue);
    halo->active_count = count;
    if (gpu->graph_end(queue->stream, &queue->graph))
        queue->graph = NULL;
    if (status) {
        gpu->graph_free(queue->graph);
        queue->graph = NULL;
    }
    halo->gpus->graphs += queue->graph != NULL;
}

nw_status nw_halo_gpu_queue_join(const nw_halo *halo,
                                 struct nw_halo_gpu_queue *queue, int32_t piece)
{
    return nw_halo_gpu(halo)->event_join(halo->gpus->ready[halo->own_at[piece]],
                                         queue->stream);
}

nw_status nw_halo_gpu_queue_run(const struct nw_halo_connection *connection,
                                struct nw_halo_gpu_queue *queue)
{
    const struct nw_gpu *gpu = nw_halo_gpu(connection->halo);
    nw_status status = gpu->select(queue->device);

    if (status)
        return status;
    return queue->graph && nw_halo_all_active(connection->halo)
               ? gpu->graph_launch(queue->graph, queue->stream)
               : run_both(connection, queue);
}

nw_status nw_halo_gpu_queue_finish(const nw_halo *halo,
                                   struct nw_halo_gpu_queue *queue)
{
    return nw_halo_gpu(halo)->event_record(queue->done, queue->stream);
}

nw_status nw_halo_gpu_queue_test(const nw_halo *halo,
                                 const struct nw_halo_gpu_queue *queue,
                                 bool *done)
{
    return nw_halo_gpu(halo)->event_test(queue->done, done);
}
