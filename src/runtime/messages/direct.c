/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's side: a payload goes into the pool and an envelope into the
 * call, where the receiver can open it; all else is staged. */
#include "runtime/messages/direct.h"

#include "base/array.h"
#include "base/text.h"
#include "gpu/gpu.h"
#include "runtime/warn.h"

#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* From where on it takes less time than staging, on the double of the driver
 * and two processes (bench/gpu/points: 65536 bytes still took longer). */
enum { FROM_BYTES = 131072, LEAST_BYTES = 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t from_bytes = FROM_BYTES;

uint64_t nw_direct_setting(const char *name, uint64_t standard, uint64_t least,
                           uint64_t most)
{
    const char *word = getenv(name);
    uint64_t value = standard;

    if (word && *word &&
        (!nw_parse_u64(word, &value) || value < least || value > most)) {
        nw_warn_once("%s=%s is no number from %" PRIu64 " to %" PRIu64, name,
                     word, least, most);
        value = standard;
    }
    return value;
}

static void read_threshold(void)
{
    from_bytes = nw_direct_setting("NODEWISE_GPU_DIRECT_FROM", FROM_BYTES,
                                   LEAST_BYTES, INT_MAX);
}

/* Its first byte, where `bytes` follow one another in GPU memory; else NULL. */
static char *find_dense(const struct nw_area *area, uint64_t *bytes)
{
    struct nw_typemap *layout = NULL;
    char *first = NULL;

    if (area->count <= 0 || area->buffer == MPI_BOTTOM ||
        area->type == MPI_DATATYPE_NULL || nw_typemap_of(area->type, &layout))
        return NULL;
    *bytes = (uint64_t)area->count * layout->size;
    if (*bytes >= from_bytes && *bytes <= INT_MAX && layout->dense &&
        !layout->gaps)
        first = (char *)(uintptr_t)area->buffer + layout->lb;
    nw_typemap_drop(layout);
    return first && nw_gpu_holds(first) ? first : NULL;
}

/* Whether that seat opens envelopes of ours. */
static bool is_open(int seat)
{
    return seat >= 0 &&
           (nw_direct_to_all ||
            !__atomic_load_n(&nw_board->seat[seat].probes, __ATOMIC_RELAXED)) &&
           __atomic_load_n(nw_seat_opens(nw_seat_mine(), seat),
                           __ATOMIC_ACQUIRE) == NW_OPENS_YES;
}

uint64_t nw_envelope_check(const struct nw_envelope *envelope)
{
    const unsigned char *byte = (const void *)envelope;
    uint64_t sum = 0xcbf29ce484222325; // FNV-1a

    for (size_t i = 0; i < offsetof(struct nw_envelope, check); i++)
        sum = (sum ^ byte[i]) * 0x100000001b3;
    return sum;
}

static void write_envelope(struct nw_envelope *envelope, uint64_t bytes,
                           const struct nw_slot *slot)
{
    memset(envelope, 0, sizeof *envelope);
    memcpy(envelope->nonce, nw_board->nonce, NW_NONCE);
    envelope->owner = (uint32_t)nw_seat_mine();
    envelope->slot = slot->index;
    envelope->at = slot->at;
    envelope->bytes = bytes;
    envelope->generation = slot->generation;
    envelope->check = nw_envelope_check(envelope);
}

/* A buffer of the stage's, that has a slot and the envelope. */
static struct nw_buffer *buffer_new(uint64_t bytes, const struct nw_slot *slot)
{
    struct nw_buffer *buffer = NULL;

    if (nw_alloc(1, sizeof *buffer, &buffer))
        return NULL;
    if (nw_alloc(1, sizeof *buffer->slot, &buffer->slot) ||
        nw_host_take(NW_ENVELOPE, &buffer->host)) {
        nw_buffer_free(buffer);
        return NULL;
    }
    *buffer->slot = *slot;
    buffer->way = NW_READ;
    write_envelope((struct nw_envelope *)(void *)buffer->host->memory, bytes,
                   slot);
    return buffer;
}

void *nw_direct_send(struct nw_stage *stage, struct nw_area area, int dest,
                     MPI_Comm comm)
{
    struct nw_buffer *buffer = NULL;
    struct nw_slot slot;
    uint64_t bytes = 0;
    char *first;
    int32_t gpu;

    (void)pthread_once(&once, read_threshold);
    first = stage->status ? NULL : find_dense(&area, &bytes);
    if (!first || !nw_memory_open())
        return NULL;
    gpu = nw_memory_gpu(first);
    nw_slots_look();
    if (!nw_slots_open(gpu) || !is_open(nw_seat_of(comm, dest)) ||
        !nw_slot_take((size_t)bytes, &slot))
        return NULL;
    if (!nw_memory_copy_over(gpu, nw_slots_memory() + slot.at, first,
                             (size_t)bytes))
        buffer = buffer_new(bytes, &slot);
    if (!buffer) {
        nw_slot_drop(&slot);
        return NULL;
    }
    stage->buffer[stage->count++] = buffer;
    return buffer->host->memory;
}

void nw_direct_unsent(struct nw_buffer *const *buffer, int count)
{
    for (int i = 0; i < count; i++)
        if (buffer[i]->slot)
            nw_slot_drop(buffer[i]->slot);
}
