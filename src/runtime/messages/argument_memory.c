/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds out whether a buffer argument is in host or GPU memory. A datatype may
 * refer to any address: by absolute addresses from MPI_BOTTOM, or by
 * displacements that lead from a buffer into other memory. MPI forbids the
 * latter, but Nodewise must not crash the program because of it. */
#include "runtime/messages/staging.h"

enum { PAGE = 4096 };

enum nw_side nw_side_join(enum nw_side a, enum nw_side b)
{
    enum nw_side low = a < b ? a : b, high = a < b ? b : a;

    if (low == high || low == NW_SIDE_NONE)
        return high;
    if (low == NW_SIDE_HOST)
        return high == NW_SIDE_MANAGED ? NW_SIDE_HOST : NW_SIDE_MIXED;
    return high;
}

static enum nw_side argument_memory_side(const void *address)
{
    if (!nw_gpu_holds(address))
        return NW_SIDE_HOST;
    return nw_gpu_is_managed(address) ? NW_SIDE_MANAGED : NW_SIDE_GPU;
}

/* State while the pieces of an area are examined: the kind of memory found so
 * far, and the number of the page examined last. One query per page suffices,
 * since all bytes of a page are in one kind of memory. */
struct look {
    uintptr_t base, page;
    enum nw_side side;
};

static bool argument_memory_look_at(void *context, MPI_Aint offset,
                                    size_t bytes)
{
    struct look *look = context;
    uintptr_t at = look->base + (uintptr_t)offset;

    if (bytes && at / PAGE != look->page) {
        look->page = at / PAGE;
        look->side =
            nw_side_join(look->side, argument_memory_side((const void *)at));
    }
    return look->side != NW_SIDE_MIXED;
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
    return look.side ? look.side : NW_SIDE_HOST;
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

static enum nw_side argument_memory_within(const struct nw_pointer *owner)
{
    return owner->managed ? NW_SIDE_MANAGED : NW_SIDE_GPU;
}

/* For predefined datatypes in the table of nw_typemap_is_plain, examines only
 * the first byte. For other datatypes, returns NONE if the area has no bytes,
 * and GPU or MANAGED if the area lies within one allocation. Returns host if
 * the first and last byte are in host memory and the buffer is not MPI_BOTTOM.
 * Otherwise examines every piece. */
enum nw_side nw_area_side(const struct nw_area *area, struct nw_pointer *owner)
{
    struct argument_memory_span span;

    if (area->type == MPI_DATATYPE_NULL || nw_typemap_is_plain(area->type))
        return nw_pointer_find(area->buffer, owner)
                   ? argument_memory_within(owner)
                   : NW_SIDE_HOST;
    span = span_of(area);
    if (!span.bytes)
        return NW_SIDE_NONE;
    if (nw_pointer_find(span.first, owner))
        return nw_pointer_holds(owner, span.first, span.bytes)
                   ? argument_memory_within(owner)
                   : look_through(area, NW_SIDE_GPU);
    if (area->buffer != MPI_BOTTOM &&
        !nw_gpu_holds(span.first + span.bytes - 1))
        return NW_SIDE_HOST;
    return look_through(area, NW_SIDE_HOST);
}
