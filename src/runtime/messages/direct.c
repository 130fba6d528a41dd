/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender: copies a payload into the pool and sends an envelope if the
 * receiver can open it. All other messages are staged. */
#include "runtime/messages/direct.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "channel/tune/thresholds.h"
#include "runtime/messages/pack_kernels.h"
#include "runtime/messages/library.h"
#include "runtime/warn.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A message of this size opens the pool, and then the threshold is measured.
 * Whether the direct path is faster than staging depends on the machine
 * (bench/results/gpu-messages-2026-11-22.txt). */
enum { FROM_BYTES = 65536, LEAST_BYTES = 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t from_bytes; /* 0: not known yet */
static bool looked_up;      /* in the table of nodewise channel tune */

uint64_t nw_direct_setting(const char *name, uint64_t standard, uint64_t least,
                           uint64_t most)
{
    const char *word = getenv(name);
    uint64_t value = standard;

    if (word && *word &&
        (!nw_parse_u64(word, &value) || value < least || value > most)) {
        nw_warn_once("%s=%s is not a number from %" PRIu64 " to %" PRIu64, name,
                     word, least, most);
        value = standard;
    }
    return value;
}

static void read_threshold(void)
{
    from_bytes =
        nw_direct_setting("NODEWISE_GPU_DIRECT_FROM", 0, LEAST_BYTES, INT_MAX);
}

void nw_direct_set(uint64_t from)
{
    (void)pthread_once(&once, read_threshold);
    __atomic_store_n(&from_bytes, from, __ATOMIC_RELAXED);
}

/* The table has an entry per GPU, so the driver must be open. */
static void look_up(void)
{
    char name[NW_MPI_NAME];
    uint64_t from;

    nw_mpi_name(name);
    if (nw_mpi_rows_find(name, &from))
        nw_direct_set(from < LEAST_BYTES ? LEAST_BYTES : from);
    __atomic_store_n(&looked_up, true, __ATOMIC_RELAXED);
}

/* Until a threshold is measured or found in the table, FROM_BYTES is used. */
static bool is_large(uint64_t bytes, const char *first)
{
    uint64_t from = __atomic_load_n(&from_bytes, __ATOMIC_RELAXED);

    if (!from && bytes >= LEAST_BYTES &&
        !__atomic_load_n(&looked_up, __ATOMIC_RELAXED) && nw_gpu_holds(first) &&
        !nw_messages_open_gpu()) {
        look_up();
        from = __atomic_load_n(&from_bytes, __ATOMIC_RELAXED);
    }
    return bytes >= (from ? from : FROM_BYTES) && bytes <= INT_MAX;
}

void nw_direct_measure(int32_t gpu, char *pool, size_t bytes)
{
    if (!__atomic_load_n(&from_bytes, __ATOMIC_RELAXED))
        __atomic_store_n(&from_bytes,
                         nw_direct_threshold(gpu, pool, bytes, FROM_BYTES),
                         __ATOMIC_RELAXED);
}

/* True if an envelope has a whole number of elements. Otherwise MPICH would
 * report the envelope as truncated. */
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

    (void)pthread_once(&once, read_threshold);
    *out = (struct nw_load){.device = (char *)(uintptr_t)area->buffer,
                            .count = area->count};
    if (area->count <= 0 || area->buffer == MPI_BOTTOM ||
        area->type == MPI_DATATYPE_NULL ||
        nw_typemap_of(area->type, &out->layout))
        return false;
    layout = out->layout;
    first = out->device + nw_typemap_low(layout, area->count);
    out->bytes = (uint64_t)area->count * layout->size;
    if (!is_large(out->bytes, first) || layout->gaps || !ends_between(layout) ||
        nw_area_side(area, &owner) != NW_SIDE_GPU || nw_messages_open_gpu() ||
        !nw_memory_open())
        return false;
    out->gpu = nw_memory_gpu(first);
    return true;
}

/* Copies a payload into the pool. */
static nw_status put(const struct nw_load *load,
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

/* Whether `peer` accepts envelopes. */
bool nw_direct_suits(int peer)
{
    return peer >= 0 && (nw_direct_to_all ||
                         !__atomic_load_n(&nw_shared_page->peer[peer].probes,
                                          __ATOMIC_RELAXED));
}

static bool is_open(int peer)
{
    return nw_direct_suits(peer) &&
           __atomic_load_n(nw_local_peer_opens(nw_local_peer_mine(), peer),
                           __ATOMIC_ACQUIRE) == NW_OPENS_YES;
}

uint64_t nw_envelope_check(const struct nw_envelope *envelope)
{
    return nw_hash(NW_HASH_START, envelope,
                   offsetof(struct nw_envelope, check));
}

void nw_envelope_write(struct nw_envelope *envelope, uint64_t bytes,
                       const struct nw_pool_slot *slot)
{
    memset(envelope, 0, sizeof *envelope);
    memcpy(envelope->nonce, nw_shared_page->nonce, NW_NONCE);
    envelope->owner = (uint32_t)nw_local_peer_mine();
    envelope->slot = slot->index;
    envelope->at = slot->at;
    envelope->bytes = bytes;
    envelope->generation = slot->generation;
    envelope->check = nw_envelope_check(envelope);
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
    buffer->way = NW_READ;
    nw_envelope_write((struct nw_envelope *)(void *)buffer->host->memory, bytes,
                      slot);
    return buffer;
}

bool nw_load_slot(const struct nw_load *load, int peer,
                  struct nw_pool_slot *slot)
{
    nw_pool_look();
    if (!nw_pool_open(load->gpu) || !is_open(peer) ||
        !nw_pool_slot_take((size_t)load->bytes, slot))
        return false;
    if (!put(load, slot))
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
