/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the tables of the kernels: chooses the widest possible words for each
 * copy, prepares the divisions that find a word's coordinates, and joins copies
 * of the same kind and width into one launch. */
#include "gpu/copy_table.h"

#include "base/array.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Finds the reciprocal for a division without a divide instruction: n / divisor
 * = n * magic >> shift for n < 2^31. With the smallest s for which 2^s >=
 * divisor, shift is 31 + s and magic is 2^shift / divisor rounded up. The error
 * of n * magic / 2^shift then stays below 1 / divisor, so that the quotient is
 * exact. */
static void prepare_division(uint32_t divisor, uint32_t *magic, uint32_t *shift)
{
    uint32_t s = 0;

    while ((UINT64_C(1) << s) < divisor)
        s++;
    *shift = 31 + s;
    *magic = (uint32_t)(((UINT64_C(1) << *shift) + divisor - 1) / divisor);
}

/* Returns the bitwise OR of the address of one side of a copy and of the
 * distances between its rows, planes and quantities. A dense side leaves out
 * rows and planes, whose distances follow from the row's bytes. The
 * lowest bit that is 1 limits the width of a word, because all addresses must
 * be multiples of the width. */
static uint64_t loose_bits(const struct nw_gpu_piece *p, bool to, bool dense)
{
    const int64_t *shift = to ? p->to_shift : p->from_shift;
    uint64_t bits = (uint64_t)(uintptr_t)(to ? p->to : p->from);

    if (p->y > 1 && !dense)
        bits |= (uint64_t)(to ? p->to_row : p->from_row);
    if (p->z > 1 && !dense)
        bits |= (uint64_t)(to ? p->to_plane : p->from_plane);
    for (uint32_t q = 0; q < p->quantities && shift; q++)
        bits |= (uint64_t)shift[q];
    return bits;
}

/* Returns log2 of the widest word that the bits of loose_bits allow. */
static int width_of(uint64_t loose)
{
    int width = 0;

    while (width < NW_GPU_WIDTHS - 1 && !(loose >> width & 1))
        width++;
    return width;
}

/* How one piece is divided into boxes. */
struct copy_table_cut {
    enum nw_gpu_work work;
    int width;
    uint32_t parts; /* number of boxes: 1, or the number of words of an element;
                       box i then has word i of every element */
    /* true: the elements of a row have no gaps between them on either side, so
     * that a word may contain several elements */
    bool rows;
};

/* Chooses the width of the words of a piece, and how the piece is divided. */
static struct copy_table_cut cut_of(enum nw_gpu_work work,
                                    const struct nw_gpu_piece *p)
{
    bool to = work != NW_GPU_PACK, from = work != NW_GPU_UNPACK;
    int64_t bytes = (int64_t)p->bytes;
    struct copy_table_cut cut = {.work = work, .parts = 1};
    uint64_t loose = loose_bits(p, true, !to) | loose_bits(p, false, !from);

    cut.rows = (!to || p->to_step == bytes) && (!from || p->from_step == bytes);
    if (cut.rows) {
        cut.width = width_of(loose | p->bytes * (uint64_t)p->x);
        return cut;
    }
    if (p->x > 1)
        loose |= (to ? (uint64_t)p->to_step : 0) |
                 (from ? (uint64_t)p->from_step : 0);
    cut.width = width_of(loose | p->bytes);
    cut.parts = (uint32_t)(p->bytes >> cut.width);
    if (cut.parts > 1)
        cut.work = NW_GPU_MOVE; /* a box now skips the words of other boxes on
                                   the dense side too */
    return cut;
}

static struct nw_gpu_group *group_for(struct nw_gpu_copy_table *table,
                                      const struct copy_table_cut *cut)
{
    struct nw_gpu_group *group = table->group;

    for (int i = 0; i < table->group_count; i++, group++)
        if (group->work == cut->work && group->width == cut->width)
            return group;
    table->group_count++;
    *group = (struct nw_gpu_group){.work = cut->work, .width = cut->width};
    return group;
}

/* Appends the shifts of one side and sets *at to the index of the first. On a
 * dense side without shifts, the quantities follow one another. */
static nw_status add_shifts(struct nw_gpu_copy_table *table,
                            const struct nw_gpu_piece *p, const int64_t *shift,
                            uint32_t *at)
{
    int64_t bytes = (int64_t)p->bytes * p->x * p->y * p->z;
    nw_status status =
        nw_grow(&table->shift, &table->shift_capacity,
                table->shift_count + p->quantities, sizeof *table->shift);

    if (status)
        return status;
    *at = (uint32_t)table->shift_count;
    for (uint32_t q = 0; q < p->quantities; q++)
        table->shift[table->shift_count++] = shift ? shift[q] : q * bytes;
    return NW_OK;
}

static void set_distances(struct nw_gpu_box *box, enum nw_gpu_work work,
                          const struct nw_gpu_piece *p)
{
    int64_t step = (int64_t)p->bytes, row = step * p->x, plane = row * p->y;

    box->to_step = work == NW_GPU_PACK ? step : p->to_step;
    box->to_row = work == NW_GPU_PACK ? row : p->to_row;
    box->to_plane = work == NW_GPU_PACK ? plane : p->to_plane;
    box->from_step = work == NW_GPU_UNPACK ? step : p->from_step;
    box->from_row = work == NW_GPU_UNPACK ? row : p->from_row;
    box->from_plane = work == NW_GPU_UNPACK ? plane : p->from_plane;
}

static nw_status add_box(struct nw_gpu_group *group,
                         const struct nw_gpu_box *box)
{
    uint64_t words = (uint64_t)box->x * box->y * box->z;
    nw_status status = nw_grow(&group->box, &group->box_capacity,
                               group->box_count + 1, sizeof *group->box);
    struct nw_gpu_box *added;

    if (status)
        return status;
    added = &group->box[group->box_count++];
    *added = *box;
    added->first_block = group->blocks;
    prepare_division(box->x, &added->x_magic, &added->x_shift);
    prepare_division(box->y, &added->y_magic, &added->y_shift);
    group->blocks +=
        (uint32_t)((words + NW_GPU_BLOCK_WORDS - 1) / NW_GPU_BLOCK_WORDS);
    return NW_OK;
}

static nw_status add_piece(struct nw_gpu_copy_table *table,
                           enum nw_gpu_work work, const struct nw_gpu_piece *p)
{
    struct copy_table_cut cut = cut_of(work, p);
    struct nw_gpu_group *group = group_for(table, &cut);
    size_t size = (size_t)1 << cut.width;
    struct nw_gpu_box box = {
        .to = (uintptr_t)p->to,
        .from = (uintptr_t)p->from,
        .quantities = p->quantities,
    };
    uint64_t x =
        cut.rows ? (uint64_t)p->x * p->bytes >> cut.width : (uint64_t)p->x;
    uint64_t words;
    nw_status status;

    if (__builtin_mul_overflow(x, (uint64_t)p->y, &words) ||
        __builtin_mul_overflow(words, (uint64_t)p->z, &words) || words >> 31 ||
        group->blocks > INT32_MAX - (1 << 21))
        return nw_fail(NW_EUNSUPPORTED,
                       "a copy of %lld x %lld x %lld elements is too large "
                       "for one kernel",
                       (long long)p->x, (long long)p->y, (long long)p->z);
    box.x = (uint32_t)x;
    box.y = (uint32_t)p->y;
    box.z = (uint32_t)p->z;
    set_distances(&box, work, p);
    if (cut.rows)
        box.to_step = box.from_step = (int64_t)size;
    status = add_shifts(table, p, p->to_shift, &box.to_shift);
    if (!status)
        status = add_shifts(table, p, p->from_shift, &box.from_shift);
    for (uint32_t i = 0; i < cut.parts && !status; i++) {
        status = add_box(group, &box);
        box.to += size;
        box.from += size;
    }
    return status;
}

nw_status nw_gpu_copy_table_make(enum nw_gpu_work work,
                                 const struct nw_gpu_piece *pieces,
                                 size_t count, struct nw_gpu_copy_table *out)
{
    struct nw_gpu_copy_table table = {.group_count = 0};
    nw_status status = NW_OK;

    for (size_t i = 0; i < count && !status; i++) {
        const struct nw_gpu_piece *p = &pieces[i];

        if (p->bytes && p->x && p->y && p->z && p->quantities)
            status = add_piece(&table, work, p);
    }
    if (status)
        nw_gpu_copy_table_fini(&table);
    else
        *out = table;
    return status;
}

void nw_gpu_copy_table_fini(struct nw_gpu_copy_table *table)
{
    for (int i = 0; i < table->group_count; i++)
        free(table->group[i].box);
    free(table->shift);
    *table = (struct nw_gpu_copy_table){.group_count = 0};
}
