/* SPDX-License-Identifier: BSD-3-Clause */
/* Stages the arguments of MPI calls: replaces GPU memory by host memory. */
#include "runtime/messages/staging.h"

#include "base/array.h"
#include "base/status.h"
#include "gpu/gpu.h"
#include "runtime/messages/passthrough.h"

#include <stdlib.h>

void nw_stage_drop(struct nw_stage *stage)
{
    for (int i = 0; i < stage->count; i++)
        nw_buffer_free(stage->buffer[i]);
    stage->count = 0;
}

/* Allocates the host memory of a staged buffer. Fills it from the GPU if MPI
 * reads the buffer in this call. */
static nw_status messages_stage_fill(struct nw_stage *stage,
                                     struct nw_buffer *buffer)
{
    nw_status status = nw_pinned_cache_take(buffer->bytes, &buffer->host);

    if (!status && buffer->access & NW_READ && !stage->persistent)
        status = nw_buffer_fill(buffer, true);
    return status;
}

/* Adds a buffer to the stage of the call. Returns the address that MPI gets in
 * its place; NULL after an error. */
static void *messages_stage_enter(struct nw_stage *stage,
                                  struct nw_buffer *buffer)
{
    stage->status = nw_messages_open_gpu();
    if (!stage->status)
        stage->status = messages_stage_fill(stage, buffer);
    if (stage->status) {
        nw_buffer_free(buffer);
        return NULL; // the MPI call will not be made
    }
    stage->buffer[stage->count++] = buffer;
    return buffer->packed ? buffer->host->memory
                          : (void *)((uintptr_t)buffer->host->memory -
                                     (uintptr_t)buffer->low);
}

static nw_status buffer_new(const void *device, const struct nw_pointer *owner,
                            size_t parts, struct nw_buffer **out)
{
    struct nw_buffer *buffer = NULL;
    nw_status status = nw_alloc_raw(1, sizeof *buffer, &buffer);

    if (status)
        return status;
    *buffer = (struct nw_buffer){.device = (char *)(uintptr_t)device,
                                 .owner = *owner,
                                 .part = &buffer->only};
    if (parts > 1)
        status = nw_alloc(parts, sizeof *buffer->part, &buffer->part);
    if (status) {
        free(buffer);
        return status;
    }
    *out = buffer;
    return NW_OK;
}

/* Sets buffer->low and buffer->bytes to the range in the program's buffer from
 * the lowest to the highest byte of all parts. */
static void set_room(struct nw_buffer *buffer)
{
    MPI_Aint low = 0, high = 0;

    for (size_t i = 0; i < buffer->parts; i++) {
        const struct nw_part *part = &buffer->part[i];
        MPI_Aint first =
            part->offset + nw_typemap_low(part->layout, part->count);
        MPI_Aint last =
            first + (MPI_Aint)nw_typemap_span(part->layout, part->count);

        low = !i || first < low ? first : low;
        high = !i || last > high ? last : high;
    }
    buffer->low = low;
    buffer->bytes = (size_t)(high - low);
}

/* If the datatype has gaps that the host memory can do without, lets it hold
 * packed data, which MPI sends as elements of the basic type; sets count and
 * datatype accordingly and returns true. Returns false if the host memory must
 * have the same layout as the program's buffer. */
static bool stage_packs(struct nw_buffer *buffer, int access,
                        const struct nw_triple *triple)
{
    const struct nw_part *part = buffer->part;
    const struct nw_typemap *layout = part->layout;
    uint64_t each = layout->size / layout->unit_size;

    if (access & NW_FIXED || layout->dense || layout->gaps ||
        each * (uint64_t)*triple->count > (uint64_t)triple->most)
        return false;
    buffer->packed = true;
    buffer->bytes = (size_t)part->count * layout->size;
    *triple->count *= (int64_t)each;
    *triple->type = layout->unit;
    return true;
}

static nw_status fail_mixed(void)
{
    return nw_fail(NW_EUNSUPPORTED, "host and GPU memory in one argument");
}

/* Returns true if MPI gets this argument unchanged: the MPI library accepts GPU
 * memory itself, and this is not a point-to-point message of a size for which
 * staging is faster. */
static bool is_mpis(const struct nw_stage *stage,
                    const struct nw_triple *triple)
{
    MPI_Count bytes = 0;

    if (!nw_passthrough || stage->ours || !stage->between)
        return nw_passthrough && !stage->ours;
    NW_PMPI(Type_size_x)(*triple->type, &bytes);
    return !nw_passthrough_is_ours((uint64_t)bytes * (uint64_t)*triple->count);
}

void *nw_stage_triple(struct nw_stage *stage, int access, const void *buffer,
                      struct nw_triple triple)
{
    int64_t count = *triple.count * triple.blocks;
    struct nw_buffer *made = NULL;
    struct nw_pointer owner;
    enum nw_side side;

    if (stage->status || count <= 0 || buffer == MPI_IN_PLACE ||
        is_mpis(stage, &triple))
        return (void *)(uintptr_t)buffer;
    side = nw_area_side(&(struct nw_area){.buffer = buffer,
                                          .count = count,
                                          .type = *triple.type},
                        &owner);
    if (side == NW_SIDE_MIXED)
        stage->status = fail_mixed();
    if (!nw_side_is_staged(side))
        return (void *)(uintptr_t)buffer;
    stage->status = buffer_new(buffer, &owner, 1, &made);
    if (!stage->status)
        stage->status = nw_typemap_of(*triple.type, &made->part[0].layout);
    if (stage->status || !made->part[0].layout->size) {
        nw_buffer_free(made);
        return (void *)(uintptr_t)buffer;
    }
    made->parts = 1;
    made->part[0].count = count;
    made->access = access;
    if (!stage_packs(made, access, &triple))
        set_room(made);
    return messages_stage_enter(stage, made);
}

/* Sets *part to the elements of block i of a call such as MPI_Alltoallv. */
static nw_status set_part(const struct nw_block_places *places, int64_t i,
                          struct nw_part *part)
{
    MPI_Datatype type = places->types ? places->types[i] : places->type;
    nw_status status = nw_typemap_of(type, &part->layout);

    if (status)
        return status;
    part->count = nw_number_at(places->counts, places->count_size, i);
    part->offset = nw_number_at(places->places, places->place_size, i);
    if (!places->types)
        part->offset *= part->layout->extent;
    return NW_OK;
}

static bool is_empty(const struct nw_block_places *places, int64_t i)
{
    return nw_number_at(places->counts, places->count_size, i) <= 0;
}

static struct nw_area area_of(const void *buffer,
                              const struct nw_block_places *places, int64_t i)
{
    MPI_Datatype type = places->types ? places->types[i] : places->type;
    MPI_Aint lb, extent = 1;

    if (!places->types)
        NW_PMPI(Type_get_extent)(type, &lb, &extent);
    extent *= (MPI_Aint)nw_number_at(places->places, places->place_size, i);
    return (struct nw_area){
        .buffer = (const void *)((uintptr_t)buffer + (uintptr_t)extent),
        .count = nw_number_at(places->counts, places->count_size, i),
        .type = type};
}

/* Returns the kind of memory that the blocks are in. With one datatype for all
 * blocks, only the first block that is not empty is examined, since all are in
 * the same memory. With several datatypes, or with MPI_BOTTOM as buffer, each
 * block may be in other memory. */
static enum nw_side places_side(const void *buffer,
                                const struct nw_block_places *places,
                                struct nw_pointer *owner)
{
    bool alike = !places->types && buffer != MPI_BOTTOM;
    enum nw_side side = NW_SIDE_NONE;

    for (int64_t i = 0; i < places->blocks && (!side || !alike); i++) {
        struct nw_area area = area_of(buffer, places, i);
        struct nw_pointer other;
        enum nw_side one = is_empty(places, i)
                               ? NW_SIDE_NONE
                               : nw_area_side(&area, side ? &other : owner);

        side = nw_side_join(side, one);
    }
    return side;
}

void *nw_stage_places(struct nw_stage *stage, int access, const void *buffer,
                      struct nw_block_places places)
{
    struct nw_buffer *made = NULL;
    struct nw_pointer owner;
    enum nw_side side;

    if (stage->status || buffer == MPI_IN_PLACE || nw_passthrough)
        return (void *)(uintptr_t)buffer;
    side = places_side(buffer, &places, &owner);
    if (side == NW_SIDE_MIXED)
        stage->status = fail_mixed();
    if (!nw_side_is_staged(side))
        return (void *)(uintptr_t)buffer;
    stage->status = buffer_new(buffer, &owner, (size_t)places.blocks, &made);
    for (int64_t i = 0; i < places.blocks && !stage->status; i++)
        if (!is_empty(&places, i)) {
            stage->status = set_part(&places, i, &made->part[made->parts]);
            made->parts += !stage->status;
        }
    if (stage->status) {
        nw_buffer_free(made);
        return (void *)(uintptr_t)buffer;
    }
    made->access = access;
    set_room(made);
    return messages_stage_enter(stage, made);
}

void *nw_stage_bytes(struct nw_stage *stage, int access, const void *buffer,
                     int64_t bytes)
{
    MPI_Datatype type = MPI_BYTE;

    return nw_stage_triple(stage, access | NW_FIXED, buffer,
                           (struct nw_triple){&bytes, bytes, &type, 1});
}

bool nw_is_refused(const void *buffer)
{
    return !nw_passthrough && nw_gpu_holds(buffer) &&
           !nw_gpu_is_managed(buffer);
}

static nw_status fail_refused(void)
{
    return nw_fail(NW_EUNSUPPORTED, "GPU memory cannot be staged here");
}

void nw_stage_refuse(struct nw_stage *stage, const void *buffer)
{
    if (!stage->status && nw_is_refused(buffer))
        stage->status = fail_refused();
}

void nw_stage_refuse_area(struct nw_stage *stage, struct nw_area area)
{
    struct nw_pointer owner;

    if (!stage->status && !nw_passthrough && area.count > 0 &&
        nw_area_side(&area, &owner) >= NW_SIDE_GPU)
        stage->status = fail_refused();
}

int nw_stage_fail(struct nw_stage *stage, struct nw_errhandler_scope whose)
{
    nw_direct_unsent(stage->buffer, stage->count);
    nw_stage_drop(stage);
    return nw_stage_error(whose, stage->call, nw_error_text());
}

static int messages_stage_end(struct nw_stage *stage, int rc,
                              MPI_Status *status,
                              struct nw_errhandler_scope whose)
{
    uint64_t most = status && !rc ? nw_stage_received(status) : UINT64_MAX;

    (void)nw_matched_see(stage->caught.from, status);
    if (rc)
        nw_direct_unsent(stage->buffer, stage->count);
    else if (stage->caught.on &&
             nw_envelope_open(&stage->caught, status, &rc)) {
        nw_stage_drop(stage);
        return nw_stage_raise(whose, rc);
    }
    for (int i = 0; i < stage->count && !stage->status && !rc; i++)
        if (stage->buffer[i]->access & NW_WRITE)
            stage->status = nw_buffer_empty(stage->buffer[i], most);
    nw_stage_drop(stage);
    return stage->status ? nw_stage_fail(stage, whose) : rc;
}

int nw_stage_end(struct nw_stage *stage, int rc, MPI_Status *status,
                 struct nw_errhandler_scope whose)
{
    rc = messages_stage_end(stage, rc, status, whose);
    nw_matched_drop(stage->caught.from);
    return rc;
}

int nw_window_refused(int rc, MPI_Comm comm)
{
    return rc ? rc
              : nw_stage_error(NW_OF_COMM(comm), "MPI_Win_create",
                               "GPU memory cannot be staged here");
}
