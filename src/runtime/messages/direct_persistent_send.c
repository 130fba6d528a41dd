/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Persistent sends of large messages in GPU memory. MPI's request always sends
 * an envelope. Each start writes into the envelope where the payload is. If the
 * pool is full, or the receiver has not mapped it, the payload is sent from
 * host memory in a message between the two processes, which the receiver
 * receives when it reads the envelope.
 */
#include "runtime/messages/direct.h"

nw_status nw_direct_persistent(struct nw_buffer *buffer)
{
    const struct nw_part *part = buffer->part;
    const char *first =
        buffer->device + nw_typemap_low(part->layout, part->count);
    struct nw_load load = {.layout = part->layout,
                           .count = part->count,
                           .device = buffer->device,
                           .bytes = buffer->bytes,
                           .gpu = nw_memory_gpu(first)};
    nw_status status = NW_OK;

    nw_late_reap();
    if (load.gpu < 0 || !nw_load_slot(&load, buffer->peer, buffer->slot))
        status = nw_late_send(buffer);
    if (!status)
        nw_envelope_write((struct nw_envelope *)(void *)buffer->host->memory,
                          buffer->bytes, buffer->slot);
    return status;
}

/* Returns true if process `peer` has mapped this process's pool or may still do
 * so. */
static bool may_open(int peer)
{
    return nw_direct_suits(peer) &&
           __atomic_load_n(nw_local_peer_opens(nw_local_peer_mine(), peer),
                           __ATOMIC_ACQUIRE) != NW_OPENS_NO;
}

void *nw_direct_init(struct nw_stage *stage, struct nw_area area, int dest,
                     MPI_Comm comm)
{
    struct nw_buffer *buffer = NULL;
    struct nw_load load = {.bytes = 0};
    int peer = nw_local_peer_of(comm, dest);

    if (!stage->status && may_open(peer) && nw_load_find(&area, &load) &&
        nw_pool_open(load.gpu))
        buffer =
            nw_envelope_new(load.bytes, &(struct nw_pool_slot){NW_SLOTS, 0, 0});
    if (!buffer) {
        nw_typemap_drop(load.layout);
        return NULL;
    }
    buffer->device = load.device;
    (void)nw_pointer_find(load.device + nw_typemap_low(load.layout, load.count),
                          &buffer->owner);
    buffer->packed = true;
    buffer->bytes = (size_t)load.bytes;
    buffer->peer = peer;
    buffer->only = (struct nw_part){load.layout, 0, load.count};
    buffer->part = &buffer->only;
    buffer->parts = 1;
    stage->buffer[stage->count++] = buffer;
    return buffer->host->memory;
}
