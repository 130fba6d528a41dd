/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of the direct path: checks whether a received message is
 * an envelope, and copies its payload to the program's buffer. */
#include "runtime/messages/direct.h"

#include "base/array.h"
#include "base/status.h"
#include "gpu/gpu.h"
#include "runtime/messages/pack_kernels.h"
#include "runtime/messages/copy_path.h"

#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t self_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local bool receiving_again; /* true while receive_again runs */

/* Packs the first NW_ENVELOPE bytes of a receive buffer with gaps, so that they
 * can be compared with an envelope. Returns false if that fails. */
static bool envelope_pack(const struct nw_catch *caught,
                          struct nw_envelope *out)
{
    MPI_Count size = 0;
    int at = 0, n;
    char *packed;
    bool good;

    NW_PMPI(Type_size_x)(caught->as, &size);
    if (size <= 0 || size > INT_MAX / 2)
        return false;
    n = (int)((NW_ENVELOPE + size - 1) / size);
    packed = malloc((size_t)(n * size));
    good = packed && n <= caught->n &&
           !NW_PMPI(Pack)(caught->at, n, caught->as, packed, (int)(n * size),
                          &at, MPI_COMM_SELF) &&
           at >= NW_ENVELOPE;
    if (good)
        memcpy(out, packed, NW_ENVELOPE);
    free(packed);
    return good;
}

static bool read_envelope(const struct nw_catch *caught,
                          struct nw_envelope *out)
{
    struct nw_typemap *layout = NULL;
    bool dense, good = true;

    if (nw_typemap_of(caught->as, &layout))
        return false;
    dense = layout->dense && !layout->gaps;
    if (dense)
        memcpy(out, (const char *)caught->at + layout->lb, NW_ENVELOPE);
    nw_typemap_drop(layout);
    if (!dense)
        good = envelope_pack(caught, out);
    return good && nw_envelope_is(out);
}

/* --- from the pool to the receive buffer --- */

static int32_t envelope_gpu_of(const void *memory)
{
    int32_t gpu = nw_memory_gpu(memory);

    return gpu < 0 ? 0 : gpu;
}

/* Copies a payload from a pool to host memory, *host. The caller gives *host
 * back to the cache of pinned memory, even after an error. */
static nw_status envelope_fetch(const char *payload, size_t bytes,
                                struct nw_host **host)
{
    nw_status status = nw_pinned_cache_take(bytes, host);

    return status ? status
                  : nw_memory_copy_out(envelope_gpu_of(payload),
                                       (*host)->memory, payload, bytes);
}

/* Copies a payload to GPU memory at `to` through host memory, since one GPU may
 * not have access to the memory of the other. */
static nw_status copy_twice(char *to, const char *payload, size_t bytes)
{
    struct nw_host *host = NULL;
    nw_status status = envelope_fetch(payload, bytes, &host);

    if (!status)
        status =
            nw_memory_copy_in(envelope_gpu_of(to), to, host->memory, bytes);
    nw_pinned_cache_give(host);
    return status;
}

static nw_status copy_dense(char *to, const char *payload, size_t bytes)
{
    if (!nw_gpu_holds(to))
        return nw_memory_copy_out(envelope_gpu_of(payload), to, payload, bytes);
    if (!nw_memory_copy_over(envelope_gpu_of(to), to, payload, bytes))
        return NW_OK;
    return copy_twice(to, payload, bytes);
}

/* Unpacks `bytes` packed bytes in host memory into the program's buffer, for
 * any datatype: this process sends them to itself, so that MPI unpacks them. */
static nw_status receive_again(const struct nw_catch *caught, const char *from,
                               size_t bytes)
{
    int count = caught->count < INT_MAX ? (int)caught->count : INT_MAX;
    MPI_Request request = MPI_REQUEST_NULL;
    int rc;

    pthread_mutex_lock(&self_lock);
    nw_depth++;
    receiving_again = true;
    rc = NW_PMPI(Isend)(from, (int)bytes, MPI_BYTE, 0, 0, nw_local_peer_self(),
                        &request);
    if (!rc)
        rc = MPI_Recv(caught->buffer, count, caught->type, 0, 0,
                      nw_local_peer_self(), MPI_STATUS_IGNORE);
    NW_PMPI(Wait)(&request, MPI_STATUS_IGNORE);
    receiving_again = false;
    nw_depth--;
    pthread_mutex_unlock(&self_lock);
    return rc ? NW_EMPI : NW_OK;
}

/* Unpacks a payload of whole elements into the program's GPU memory by a pack
 * kernel. Returns false if that is impossible or has failed. */
static bool envelope_unpack(const struct nw_catch *caught,
                            const struct nw_typemap *layout,
                            const char *payload, size_t bytes)
{
    struct nw_pieces what = {.layout = layout, .device = caught->buffer};
    struct nw_pointer owner;
    bool near;

    if (layout->gaps || caught->buffer == MPI_BOTTOM || !bytes ||
        bytes % layout->size)
        return false;
    what.count = (int64_t)(bytes / layout->size);
    if (!nw_side_is_staged(nw_area_side(
            &NW_AREA(what.device, what.count, caught->type), &owner)) ||
        nw_messages_open_gpu())
        return false;
    what.gpu = owner.gpu;
    near = nw_memory_gpu(payload) == owner.gpu;
    what.dense = near ? (char *)(uintptr_t)payload : NULL;
    return !nw_pack_kernel_do(&what, near ? NULL : payload);
}

static nw_status copy_spread(const struct nw_catch *caught, const char *payload,
                             size_t bytes)
{
    struct nw_host *host = NULL;
    nw_status status = envelope_fetch(payload, bytes, &host);

    if (!status)
        status = receive_again(caught, host->memory, bytes);
    nw_pinned_cache_give(host);
    return status;
}

static int envelope_deliver(const struct nw_catch *caught,
                            const struct nw_envelope *envelope,
                            const char *payload)
{
    size_t bytes = (size_t)envelope->bytes;
    struct nw_typemap *layout = NULL;
    nw_status status = nw_typemap_of(caught->type, &layout);
    int rc = MPI_SUCCESS;

    if (status)
        return MPI_ERR_BUFFER;
    if (bytes > (uint64_t)caught->count * layout->size)
        rc = MPI_ERR_TRUNCATE;
    else if (layout->dense && !layout->gaps && caught->buffer != MPI_BOTTOM)
        status =
            copy_dense((char *)caught->buffer + layout->lb, payload, bytes);
    else if (!envelope_unpack(caught, layout, payload, bytes))
        status = copy_spread(caught, payload, bytes);
    nw_typemap_drop(layout);
    return status ? MPI_ERR_BUFFER : rc;
}

/* --- receive buffers smaller than an envelope --- */

bool nw_catch_is_small(const struct nw_catch *caught)
{
    MPI_Count size = 0;

    return !receiving_again && caught->count >= 0 &&
           caught->count < NW_ENVELOPE && caught->type != MPI_DATATYPE_NULL &&
           !NW_PMPI(Type_size_x)(caught->type, &size) &&
           size * (MPI_Count)caught->count < NW_ENVELOPE;
}

void *nw_stage_small(struct nw_stage *stage)
{
    struct nw_buffer *buffer = stage->status ? NULL : nw_buffer_small();

    if (!buffer) {
        stage->status = nw_fail(NW_ENOMEM, "out of memory for a small message");
        return NULL;
    }
    stage->buffer[stage->count++] = buffer;
    stage->caught.small = true;
    return buffer->host->memory;
}

static nw_status copy_host(char *to, const char *from, size_t bytes)
{
    struct nw_pointer owner;
    nw_status status;

    if (!nw_pointer_find(to, &owner)) {
        memcpy(to, from, bytes);
        return NW_OK;
    }
    status = nw_messages_open_gpu();
    return status ? status
                  : nw_copy_path_move(
                        &(struct nw_path_copy){.device = to,
                                               .host = (char *)(uintptr_t)from,
                                               .bytes = bytes,
                                               .owner = &owner});
}

/* Unpacks packed data in host memory into the program's buffer. Returns an MPI
 * error code. */
static int deliver_host(const struct nw_catch *caught, const char *from,
                        uint64_t bytes)
{
    struct nw_typemap *layout = NULL;
    nw_status status = bytes ? nw_typemap_of(caught->type, &layout) : NW_OK;
    int rc = MPI_SUCCESS;

    if (!bytes || status)
        return status ? MPI_ERR_BUFFER : MPI_SUCCESS;
    if (bytes > (uint64_t)caught->count * layout->size)
        rc = MPI_ERR_TRUNCATE;
    else if (layout->dense && !layout->gaps && caught->buffer != MPI_BOTTOM)
        status =
            copy_host((char *)caught->buffer + layout->lb, from, (size_t)bytes);
    else
        status = receive_again(caught, from, (size_t)bytes);
    nw_typemap_drop(layout);
    return status ? MPI_ERR_BUFFER : rc;
}

/* Receives a payload that is sent after its envelope (late_payload.c), and
 * copies it into the program's buffer. Uses pinned memory only if the program
 * uses a GPU. Returns an MPI error code. */
static int deliver_late(const struct nw_catch *caught,
                        const struct nw_envelope *envelope)
{
    size_t bytes = (size_t)envelope->bytes;
    bool pins = nw_gpu_is_used() && !nw_messages_open_gpu();
    struct nw_host *host = NULL;
    char *memory = NULL;
    int rc = MPI_ERR_OTHER;

    if (pins && !nw_pinned_cache_take(bytes, &host))
        memory = host->memory;
    else if (!pins)
        memory = malloc(bytes);
    if (memory && !nw_late_receive(envelope, memory))
        rc = deliver_host(caught, memory, envelope->bytes);
    if (!host)
        free(memory);
    nw_pinned_cache_give(host);
    return rc;
}

static int deliver_slot(const struct nw_catch *caught,
                        const struct nw_envelope *envelope)
{
    const char *payload = nw_pool_slot_payload(envelope);
    int rc =
        payload ? envelope_deliver(caught, envelope, payload) : MPI_ERR_OTHER;

    if (payload)
        nw_pool_slot_free(envelope);
    return rc;
}

bool nw_envelope_open(const struct nw_catch *caught, MPI_Status *status,
                      int *rc)
{
    struct nw_envelope envelope;
    uint64_t bytes = nw_stage_received(status);

    if (bytes != NW_ENVELOPE || !read_envelope(caught, &envelope)) {
        if (caught->small)
            *rc = deliver_host(caught, caught->at, bytes);
        return caught->small;
    }
    *rc = envelope.slot == NW_SLOTS ? deliver_late(caught, &envelope)
                                    : deliver_slot(caught, &envelope);
    NW_PMPI(Status_set_elements_x)
    (status, MPI_BYTE, (MPI_Count)envelope.bytes);
    return true;
}
