/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the layout of a datatype from the arguments of its constructor, and
 * stores it as an attribute of the datatype. */
#include "runtime/messages/typemap.h"

#include "base/array.h"
#include "base/status.h"
#include "runtime/messages/datatype_contents.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
static uint64_t given;
enum { NAMED = 64 };
static struct nw_typemap *named[NAMED];

static nw_status typemap_flatten(MPI_Datatype type, struct nw_typemap *out);

void nw_typemap_drop(struct nw_typemap *layout)
{
    if (!layout || __atomic_sub_fetch(&layout->users, 1, __ATOMIC_ACQ_REL))
        return;
    free(layout->run);
    free(layout);
}

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint lb, extent = 0;

    NW_PMPI(Type_get_extent)(type, &lb, &extent);
    return extent;
}

static nw_status flatten_named(MPI_Datatype type, struct nw_typemap *out)
{
    struct nw_run run = {.n = {1, 1}};
    MPI_Count size = 0;

    NW_PMPI(Type_size_x)(type, &size);
    run.bytes = size ? (size_t)extent_of(type) : 0;
    out->gaps |= run.bytes != (size_t)size;
    if (size && !out->unit_size) {
        out->unit = type;
        out->unit_size = (size_t)size;
    } else if (size && out->unit != type) {
        out->unit = MPI_BYTE;
        out->unit_size = 1;
        out->mixed = true;
    }
    return nw_runs_add(out, &run);
}

/* Computes the layout of a datatype that is part of another one in *part, and
 * merges its properties into those of `out`. The caller adds the runs of `part`
 * to `out`. */
static nw_status typemap_open_part(MPI_Datatype type, struct nw_typemap *out,
                                   struct nw_typemap *part)
{
    nw_status status;

    *part = (struct nw_typemap){.unit = out->unit, .unit_size = out->unit_size};
    status = typemap_flatten(type, part);
    out->unit = part->unit;
    out->unit_size = part->unit_size;
    out->mixed |= part->mixed;
    out->gaps |= part->gaps;
    return status;
}

/* A set of `count` blocks, each of `length` contiguous elements. They begin at
 * the byte offsets `offset`, `offset` + `step`, `offset` + 2 * `step`, ... */
struct blocks {
    int64_t count, length;
    MPI_Aint offset, step;
};

static nw_status add_blocks(MPI_Datatype type, const struct blocks *blocks,
                            struct nw_typemap *out)
{
    struct nw_typemap part, row = {.users = 0};
    nw_status status = typemap_open_part(type, out, &part);

    if (!status)
        status = nw_runs_repeat(&row, &part, blocks->length,
                                (MPI_Aint[]){0, extent_of(type)});
    if (!status)
        status = nw_runs_repeat(out, &row, blocks->count,
                                (MPI_Aint[]){blocks->offset, blocks->step});
    free(part.run);
    free(row.run);
    return status;
}

/* Adds blocks that each have their own displacement. Block i has lengths[i *
 * pace] elements; with `pace` 0, all blocks have lengths[0] elements. */
static nw_status add_places(const struct nw_datatype_contents *r,
                            const int64_t *lengths, int pace,
                            struct nw_typemap *out)
{
    int64_t count = r->number[0];
    bool in_bytes = r->addresses > 0;
    const int64_t *places = in_bytes ? NULL : r->number + r->numbers - count;
    MPI_Aint step = extent_of(r->type[0]);
    struct nw_typemap part;
    nw_status status = typemap_open_part(r->type[0], out, &part);

    for (int64_t i = 0; i < count && !status; i++) {
        MPI_Aint place = in_bytes ? r->address[i] : places[i] * step;

        status = nw_runs_repeat(out, &part, lengths[i * pace],
                                (MPI_Aint[]){place, step});
    }
    free(part.run);
    return status;
}

static nw_status add_struct(const struct nw_datatype_contents *r,
                            struct nw_typemap *out)
{
    nw_status status = NW_OK;

    for (int64_t i = 0; i < r->number[0] && !status; i++)
        status = add_blocks(r->type[i],
                            &(struct blocks){.count = 1,
                                             .length = r->number[1 + i],
                                             .offset = r->address[i]},
                            out);
    return status;
}

/* --- subarrays and distributed arrays --- */

/* The elements of one array dimension that are selected: blocks of `length`
 * elements at `start`, `start` + `step`, ..., as far as they are below `size`.
 */
struct dimension {
    int64_t size, start, length, step;
};

/* Values of MPI_ORDER_C, MPI_DISTRIBUTE_CYCLIC and MPI_DISTRIBUTE_NONE in the
 * mpi.h of Open MPI. Open MPI 6.0.0rc2 also returns them to programs of the
 * standard ABI. In other headers, no constant for orders or distributions has
 * one of these values. */
enum { OPENMPI_ORDER_C, OPENMPI_CYCLIC = 1, OPENMPI_NONE = 2 };

/* Repeats `part` for the selected elements of one dimension. `unit` is the
 * distance in bytes between neighbouring elements of the dimension. */
static nw_status typemap_add_dimension(const struct dimension *d, MPI_Aint unit,
                                       struct nw_typemap *part)
{
    struct nw_typemap next = {.users = 0};
    nw_status status = NW_OK;

    for (int64_t at = d->start; at < d->size && !status; at += d->step) {
        int64_t left = d->size - at;

        status =
            nw_runs_repeat(&next, part, d->length < left ? d->length : left,
                           (MPI_Aint[]){at * unit, unit});
    }
    free(part->run);
    *part = next;
    return status;
}

static nw_status add_array(
    const struct nw_datatype_contents *r,
    struct dimension (*of)(const struct nw_datatype_contents *r, int64_t i),
    int64_t n, struct nw_typemap *out)
{
    int64_t order = r->number[r->numbers - 1];
    bool c_order = order == MPI_ORDER_C || order == OPENMPI_ORDER_C;
    MPI_Aint unit = extent_of(r->type[0]);
    struct nw_typemap part;
    nw_status status = typemap_open_part(r->type[0], out, &part);

    for (int64_t i = 0; i < n && !status; i++) {
        struct dimension d = of(r, c_order ? n - 1 - i : i);

        status = typemap_add_dimension(&d, unit, &part);
        unit *= d.size;
    }
    if (!status)
        status = nw_runs_repeat(out, &part, 1, (MPI_Aint[]){0, 0});
    free(part.run);
    return status;
}

/* Reads dimension i of a subarray. Its integer arguments are ndims, sizes,
 * subsizes, starts, order. */
static struct dimension of_subarray(const struct nw_datatype_contents *r,
                                    int64_t i)
{
    int64_t n = r->number[0];
    const int64_t *number = r->number + 1 + i;

    return (struct dimension){number[0], number[2 * n], number[n], number[0]};
}

/* Reads dimension i of a distributed array. Its integer arguments are size,
 * rank, ndims, sizes, distributions, distribution arguments, processes, order.
 * In the process grid the last dimension varies fastest, independent of
 * `order`. */
static struct dimension of_darray(const struct nw_datatype_contents *r,
                                  int64_t i)
{
    int64_t n = r->number[2], below = 1, kind = r->number[3 + n + i];
    const int64_t *number = r->number + 3 + i,
                  *processes = r->number + 3 + 3 * n;
    struct dimension d = {.size = number[0], .length = number[2 * n]};

    if (kind == MPI_DISTRIBUTE_NONE || kind == OPENMPI_NONE)
        return (struct dimension){d.size, 0, d.size, d.size};
    for (int64_t k = i + 1; k < n; k++)
        below *= processes[k];
    if (d.length == MPI_DISTRIBUTE_DFLT_DARG || d.length < 1)
        d.length = kind == MPI_DISTRIBUTE_CYCLIC || kind == OPENMPI_CYCLIC
                       ? 1
                       : (d.size + processes[i] - 1) / processes[i];
    d.start = r->number[1] / below % processes[i] * d.length;
    d.step = processes[i] * d.length;
    return d;
}

static nw_status typemap_follow(const struct nw_datatype_contents *r,
                                struct nw_typemap *out)
{
    struct blocks blocks = {.count = 1, .length = 1};

    switch (r->combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
        return add_blocks(r->type[0], &blocks, out);
    case MPI_COMBINER_CONTIGUOUS:
        blocks.length = r->number[0];
        return add_blocks(r->type[0], &blocks, out);
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
        blocks.count = r->number[0];
        blocks.length = r->number[1];
        blocks.step = r->combiner == MPI_COMBINER_HVECTOR
                          ? r->address[0]
                          : r->number[2] * extent_of(r->type[0]);
        return add_blocks(r->type[0], &blocks, out);
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
        return add_places(r, r->number + 1, 1, out);
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return add_places(r, r->number + 1, 0, out);
    case MPI_COMBINER_STRUCT:
        return add_struct(r, out);
    case MPI_COMBINER_SUBARRAY:
        return add_array(r, of_subarray, r->number[0], out);
    case MPI_COMBINER_DARRAY:
        return add_array(r, of_darray, r->number[2], out);
    default:
        return nw_fail(NW_EUNSUPPORTED,
                       "a datatype made by a constructor that is not known "
                       "(combiner %d)",
                       r->combiner);
    }
}

static nw_status typemap_flatten(MPI_Datatype type, struct nw_typemap *out)
{
    struct nw_datatype_contents recipe;
    nw_status status = nw_datatype_contents_read(type, &recipe);

    if (!status)
        status = nw_datatype_contents_is_basic(&recipe)
                     ? flatten_named(type, out)
                     : typemap_follow(&recipe, out);
    nw_datatype_contents_free(&recipe);
    return status;
}

static nw_status typemap_find(MPI_Datatype type, struct nw_typemap **out)
{
    struct nw_typemap *layout = NULL;
    MPI_Aint span;
    MPI_Count size = 0;
    nw_status status = nw_alloc(1, sizeof *layout, &layout);

    if (status)
        return status;
    layout->users = 1;
    layout->of = type;
    layout->id = __atomic_add_fetch(&given, 1, __ATOMIC_RELAXED);
    layout->unit = MPI_BYTE;
    status = typemap_flatten(type, layout);
    if (status) {
        nw_typemap_drop(layout);
        return status;
    }
    NW_PMPI(Type_size_x)(type, &size);
    NW_PMPI(Type_get_true_extent)(type, &layout->lb, &span);
    layout->size = (size_t)size;
    layout->span = (size_t)span;
    layout->extent = extent_of(type);
    layout->dense = layout->count == 1 && layout->run[0].n[0] == 1 &&
                    layout->run[0].n[1] == 1 &&
                    layout->extent == (MPI_Aint)layout->run[0].bytes;
    if (layout->dense)
        layout->span = layout->run[0].bytes;
    *out = layout;
    return NW_OK;
}

static int drop_attribute(MPI_Datatype type, int key, void *value, void *extra)
{
    (void)type, (void)key, (void)extra;
    nw_typemap_drop(value);
    return MPI_SUCCESS;
}

/* Attribute copy callback: a duplicated datatype shares the layout of the
 * original. */
static int typemap_share(MPI_Datatype type, int key, void *extra, void *in,
                         void *out, int *flag)
{
    struct nw_typemap *layout = in;

    (void)type, (void)key, (void)extra;
    (void)__atomic_add_fetch(&layout->users, 1, __ATOMIC_RELAXED);
    memcpy(out, &in, sizeof in);
    *flag = 1;
    return MPI_SUCCESS;
}

static struct nw_typemap **named_cell(MPI_Datatype type)
{
    uint64_t key = (uint64_t)(uintptr_t)type;

    return &named[(key ^ key >> 6 ^ key >> 12) % NAMED];
}

/* Returns the layout of a predefined datatype from the table, or NULL if the
 * table does not have it. Handles of predefined datatypes are never freed or
 * reused, so the table need not be updated. */
static struct nw_typemap *typemap_find_known(MPI_Datatype type)
{
    struct nw_typemap *layout =
        __atomic_load_n(named_cell(type), __ATOMIC_ACQUIRE);

    return layout && layout->of == type ? layout : NULL;
}

bool nw_typemap_is_plain(MPI_Datatype type)
{
    return typemap_find_known(type) != NULL;
}

static struct nw_typemap *typemap_known(MPI_Datatype type)
{
    struct nw_typemap *layout = typemap_find_known(type);

    if (layout)
        (void)__atomic_add_fetch(&layout->users, 1, __ATOMIC_RELAXED);
    return layout;
}

/* Stores the layout in the table of predefined datatypes. Does nothing if
 * another datatype occupies its entry. */
static void typemap_know(struct nw_typemap *layout)
{
    struct nw_typemap *none = NULL;

    (void)__atomic_add_fetch(&layout->users, 1, __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(named_cell(layout->of), &none, layout,
                                     false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        nw_typemap_drop(layout);
}

static nw_status typemap_keep(MPI_Datatype type, struct nw_typemap **out)
{
    int found = 0;
    nw_status status = NW_OK;

    if (keyval == MPI_KEYVAL_INVALID)
        NW_PMPI(Type_create_keyval)
    (typemap_share, drop_attribute, &keyval, NULL);
    if (!NW_PMPI(Type_get_attr)(type, keyval, out, &found) && !found) {
        status = typemap_find(type, out);
        if (!status && NW_PMPI(Type_set_attr)(type, keyval, *out))
            /* The layout could not be stored, so the caller is its only user.
             */
            return NW_OK;
    }
    if (!status)
        (void)__atomic_add_fetch(&(*out)->users, 1, __ATOMIC_RELAXED);
    return status;
}

nw_status nw_typemap_of(MPI_Datatype type, struct nw_typemap **out)
{
    struct nw_typemap *layout;
    nw_status status;

    if (type == MPI_DATATYPE_NULL)
        return nw_fail(NW_EINVAL, "not an MPI datatype");
    layout = typemap_known(type);
    if (layout) {
        *out = layout;
        return NW_OK;
    }
    if (nw_type_is_named(type)) {
        status = typemap_find(type, out);
        if (!status)
            typemap_know(*out);
        return status;
    }
    pthread_mutex_lock(&lock);
    status = typemap_keep(type, out);
    pthread_mutex_unlock(&lock);
    return status;
}

void nw_typemaps_close(void)
{
    if (keyval != MPI_KEYVAL_INVALID)
        NW_PMPI(Type_free_keyval)(&keyval);
    for (int i = 0; i < NAMED; i++) {
        nw_typemap_drop(named[i]);
        named[i] = NULL;
    }
}
