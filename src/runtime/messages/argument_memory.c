/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether a buffer argument is in host or GPU memory. A datatype may
 * refer to any address: by absolute addresses from MPI_BOTTOM, or by
 * displacements that lead from a buffer into other memory. MPI forbids the
 * latter, but Nodewise must not crash the program because of it. */
#include "runtime/messages/staging.h"

enum { PAGE = 4096 };

/* State while the pieces of an area are examined: the kinds of memory found so
 * far, and the number of the page examined last. One query per page suffices,
 * since all bytes of a page are in one kind of memory. */
struct look {
    uintptr_t base, page;
    bool gpu, host;
};

static bool argument_memory_look_at(void *context, MPI_Aint offset,
                                    size_t bytes)
{
    struct look *look = context;
    uintptr_t at = look->base + (uintptr_t)offset;

    if (bytes && at / PAGE != look->page) {
        look->page = at / PAGE;
        if (nw_gpu_holds((const void *)at))
            look->gpu = true;
        else
            look->host = true;
    }
    return !look->gpu || !look->host;
}

/* Examines the first byte of every contiguous piece of the area and returns
 * their kind of memory. Returns `side` if the datatype's layout is unknown. */
static enum nw_side look_through(const struct nw_area *area, enum nw_side side)
{
    struct look look = {.base = (uintptr_t)area->buffer, .page = UINTPTR_MAX};
    struct nw_typemap *layout = NULL;

    if (nw_typemap_of(area->type, &layout))
        return side;
    nw_typemap_walk(layout, area->count, argument_memory_look_at, &look);
    nw_typemap_drop(layout);
    return !look.gpu ? NW_SIDE_HOST : look.host ? NW_SIDE_MIXED : NW_SIDE_GPU;
}

/* The bytes from the lowest to the highest address of an area. */
struct argument_memory_span {
    const char *first;
    size_t bytes;
};

static struct argument_memory_span span_of(const struct nw_area *area)
{
    MPI_Aint lb = 0, bytes = 0, start, extent, last;

    NW_PMPI(Type_get_true_extent)(area->type, &lb, &bytes);
    NW_PMPI(Type_get_extent)(area->type, &start, &extent);
    last = (area->count - 1) * extent;
    return (struct argument_memory_span){
        (const char *)((uintptr_t)area->buffer + (uintptr_t)lb +
                       (uintptr_t)(last < 0 ? last : 0)),
        (size_t)(bytes + (last < 0 ? -last : last))};
}

/* For predefined datatypes in the table of nw_typemap_is_plain, examines only
 * the first byte. For others, returns NONE if the area has no bytes, GPU if it
 * lies within one GPU allocation, and host if its first and last byte are in
 * host memory and the buffer is not MPI_BOTTOM. Otherwise examines every
 * piece. */
enum nw_side nw_area_side(const struct nw_area *area, struct nw_pointer *owner)
{
    struct argument_memory_span span;

    if (area->type == MPI_DATATYPE_NULL || nw_typemap_is_plain(area->type))
        return nw_pointer_find(area->buffer, owner) ? NW_SIDE_GPU
                                                    : NW_SIDE_HOST;
    span = span_of(area);
    if (!span.bytes)
        return NW_SIDE_NONE;
    if (nw_pointer_find(span.first, owner))
        return nw_pointer_holds(owner, span.first, span.bytes)
                   ? NW_SIDE_GPU
                   : look_through(area, NW_SIDE_GPU);
    if (area->buffer != MPI_BOTTOM &&
        !nw_gpu_holds(span.first + span.bytes - 1))
        return NW_SIDE_HOST;
    return look_through(area, NW_SIDE_HOST);
}
