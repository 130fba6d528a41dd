/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's side of the direct path: copies the payload of a message into
 * the pool and sends an envelope, if the pool has space for it and the receiver
 * has mapped the pool. Otherwise the message is staged. */
#include "runtime/messages/direct.h"

#include "base/array.h"
#include "gpu/gpu.h"
#include "runtime/messages/pack_kernels.h"

#include <limits.h>
#include <pthread.h>

/* FROM_BYTES is the default size in bytes from which messages use the direct
 * path. From this size on, it is faster for processes that have a GPU of their
 * own or use MPS (bench/results/gpu-h100-80gb-2026-11-27.txt: 28 us instead of
 * 63 us). LEAST_BYTES is the lowest value that the user may set. */
enum { FROM_BYTES = 65536, LEAST_BYTES = 1024 };

static pthread_once_t direct_once = PTHREAD_ONCE_INIT;
static uint64_t direct_from_bytes;

static void direct_read_threshold(void)
{
    direct_from_bytes = nw_messages_setting("NODEWISE_GPU_DIRECT_FROM", 1,
                                            FROM_BYTES, LEAST_BYTES, INT_MAX);
}

static bool direct_is_large(uint64_t bytes)
{
    (void)pthread_once(&direct_once, direct_read_threshold);
    return bytes >= direct_from_bytes && bytes <= INT_MAX;
}

/* Returns true if an envelope is a whole number of elements of the datatype's
 * basic type, or of the datatype itself if it has several basic types.
 * Otherwise MPICH would report that the envelope is truncated. */
static bool ends_between(const struct nw_typemap *layout)
{
    return NW_ENVELOPE % (layout->mixed ? layout->size : layout->unit_size) ==
           0;
}

bool nw_load_find(const struct nw_area *area, struct nw_load *out)
{
    struct nw_typemap *layout;
    struct nw_pointer owner;
    const char *first;

    *out = (struct nw_load){.device = (char *)(uintptr_t)area->buffer,
                            .count = area->count};
    if (area->count <= 0 || area->buffer == MPI_BOTTOM ||
        area->type == MPI_DATATYPE_NULL ||
        nw_typemap_of(area->type, &out->layout))
        return false;
    layout = out->layout;
    first = out->device + nw_typemap_low(layout, area->count);
    out->bytes = (uint64_t)area->count * layout->size;
    if (!direct_is_large(out->bytes) || layout->gaps || !ends_between(layout) ||
        !nw_side_is_staged(nw_area_side(area, &owner)) ||
        nw_messages_open_gpu() || !nw_memory_open())
        return false;
    out->gpu = nw_memory_gpu(first);
    return true;
}

/* Copies a payload from the program's buffer into the slot of this process's
 * pool. */
static nw_status messages_direct_put(const struct nw_load *load,
                                     const struct nw_pool_slot *slot)
{
    char *to = nw_pool_memory() + slot->at;

    if (load->layout->dense)
        return nw_memory_copy_over(load->gpu, to,
                                   load->device + load->layout->lb,
                                   (size_t)load->bytes);
    return nw_pack_kernel_do(&(struct nw_pieces){.layout = load->layout,
                                                 .count = load->count,
                                                 .device = load->device,
                                                 .gpu = load->gpu,
                                                 .out = true,
                                                 .dense = to},
                             NULL);
}

/* Returns true if envelopes may be sent to process `peer`: the number is not
 * -1, and the process has never called a probe or NODEWISE_GPU_DIRECT is
 * "on". */
bool nw_direct_suits(int peer)
{
    return peer >= 0 && (nw_direct_to_all ||
                         !__atomic_load_n(&nw_shared_page->peer[peer].probes,
                                          __ATOMIC_RELAXED));
}

static bool messages_direct_is_open(int peer)
{
    return nw_direct_suits(peer) &&
           __atomic_load_n(nw_local_peer_opens(nw_local_peer_mine(), peer),
                           __ATOMIC_ACQUIRE) == NW_OPENS_YES;
}

struct nw_buffer *nw_envelope_new(uint64_t bytes,
                                  const struct nw_pool_slot *slot)
{
    struct nw_buffer *buffer = NULL;

    if (nw_alloc(1, sizeof *buffer, &buffer))
        return NULL;
    if (nw_alloc(1, sizeof *buffer->slot, &buffer->slot) ||
        nw_pinned_cache_take(NW_ENVELOPE, &buffer->host)) {
        nw_buffer_free(buffer);
        return NULL;
    }
    *buffer->slot = *slot;
    buffer->access = NW_READ;
    nw_envelope_write((struct nw_envelope *)(void *)buffer->host->memory, bytes,
                      slot);
    return buffer;
}

bool nw_load_slot(const struct nw_load *load, int peer,
                  struct nw_pool_slot *slot)
{
    nw_pool_look();
    if (!nw_pool_open(load->gpu) || !messages_direct_is_open(peer) ||
        !nw_pool_slot_take((size_t)load->bytes, slot))
        return false;
    if (!messages_direct_put(load, slot))
        return true;
    nw_pool_slot_drop(slot);
    return false;
}

void *nw_direct_send(struct nw_stage *stage, struct nw_area area, int dest,
                     MPI_Comm comm)
{
    struct nw_buffer *buffer = NULL;
    struct nw_load load = {.bytes = 0};
    struct nw_pool_slot slot;

    if (!stage->status && nw_load_find(&area, &load) &&
        nw_load_slot(&load, nw_local_peer_of(comm, dest), &slot)) {
        buffer = nw_envelope_new(load.bytes, &slot);
        if (!buffer)
            nw_pool_slot_drop(&slot);
    }
    nw_typemap_drop(load.layout);
    if (!buffer)
        return NULL;
    stage->buffer[stage->count++] = buffer;
    return buffer->host->memory;
}

void nw_direct_unsent(struct nw_buffer *const *buffer, int count)
{
    for (int i = 0; i < count; i++)
        if (buffer[i]->slot && buffer[i]->slot->index == NW_SLOTS)
            nw_late_cancel(buffer[i]->slot->generation);
        else if (buffer[i]->slot)
            nw_pool_slot_drop(buffer[i]->slot);
}

/* Called in MPI_Finalize: unmaps the pools of other processes and frees this
 * process's pool. After the barrier, all processes have received their messages
 * and unmapped the pools of others. Collective over the processes of the node.
 */
void nw_direct_finish(void)
{
    if (!nw_direct)
        return;
    nw_late_finish();
    __atomic_store_n(&nw_direct, false, __ATOMIC_RELEASE);
    nw_pool_unmap();
    NW_PMPI(Barrier)(nw_local_peer_comm());
    nw_pool_close();
    nw_local_peers_close();
}
