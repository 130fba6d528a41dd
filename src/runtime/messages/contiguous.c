/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes contiguous bytes of a buffer argument, for the channel. If the datatype
 * has no gaps, they are the program's memory itself, on the host or a GPU.
 * Otherwise they are packed into host memory; GPU memory is staged for this
 * (stage.c). */
#include "runtime/messages/algorithms.h"

#include "base/status.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool nw_area_is_on_gpu(const struct nw_area *area)
{
    struct nw_pointer owner;

    return area->blocks && area->buffer != MPI_IN_PLACE && nw_is_messaging() &&
           nw_area_side(area, &owner) > NW_SIDE_HOST;
}

/* Returns the address of the area's first byte if the area has no gaps, else
 * NULL. If the layout of the datatype is unknown, it counts as having gaps. */
static char *find_dense(const struct nw_area *area)
{
    struct nw_typemap *layout = NULL;
    char *first = NULL;

    if (nw_typemap_of(area->type, &layout))
        return NULL;
    if (layout->dense)
        first = (char *)(uintptr_t)area->buffer + layout->lb;
    nw_typemap_drop(layout);
    return first;
}

/* Packs the host memory `spread`, which has the gaps of the datatype, into
 * flat->packed. Stores the address `spread`, so that the result of the call can
 * be unpacked into it. */
static nw_status contiguous_pack(struct nw_contiguous *flat, void *spread,
                                 const struct nw_area *area)
{
    MPI_Count size = 0;
    int at = 0;
    int64_t count = area->count * area->blocks;

    NW_PMPI(Type_size_x)(area->type, &size);
    if (count > INT_MAX || count * size > INT_MAX)
        return nw_fail(NW_EUNSUPPORTED, "more than 2 GiB with gaps");
    flat->packed = malloc((size_t)(count * size) + 1);
    if (!flat->packed)
        return nw_fail(NW_ENOMEM, "out of memory");
    flat->memory = flat->packed;
    flat->spread = spread;
    flat->count = count;
    flat->type = area->type;
    if (flat->access & NW_READ &&
        NW_PMPI(Pack)(spread, (int)count, area->type, flat->packed,
                      (int)(count * size), &at, MPI_COMM_SELF))
        return nw_fail(NW_EMPI, "MPI_Pack fails");
    return NW_OK;
}

nw_status nw_contiguous_open(struct nw_contiguous *flat, int access,
                             const struct nw_area *area)
{
    struct nw_area host = *area;

    *flat = (struct nw_contiguous){.stage = {.whole = true, .ours = true},
                                   .access = access};
    if (!area->blocks)
        return NW_OK;
    flat->memory = find_dense(area);
    if (flat->memory)
        return NW_OK;
    if (nw_area_is_on_gpu(area))
        host.buffer = nw_stage_triple(
            &flat->stage, access, area->buffer,
            (struct nw_triple){&host.count, INT_MAX, &host.type, area->blocks});
    if (flat->stage.status)
        return flat->stage.status;
    flat->memory = find_dense(&host);
    return flat->memory
               ? NW_OK
               : contiguous_pack(flat, (void *)(uintptr_t)host.buffer, &host);
}

nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status)
{
    int at = 0, size = 0;

    if (!status && flat->packed && flat->access & NW_WRITE) {
        NW_PMPI(Type_size)(flat->type, &size);
        if (NW_PMPI(Unpack)(flat->packed, (int)(flat->count * size), &at,
                            flat->spread, (int)flat->count, flat->type,
                            MPI_COMM_SELF))
            status = nw_fail(NW_EMPI, "MPI_Unpack fails");
    }
    free(flat->packed);
    for (int i = 0; i < flat->stage.count; i++) {
        if (!status && flat->access & NW_WRITE)
            status = nw_buffer_empty(flat->stage.buffer[i], UINT64_MAX);
        nw_buffer_free(flat->stage.buffer[i]);
    }
    return status;
}
