/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts copies of elements at given distances into tables of boxes, which
 * the kernels copy word by word. A word has 1, 2, 4, 8 or 16 bytes. */
#ifndef NW_GPU_COPY_TABLE_H
#define NW_GPU_COPY_TABLE_H

#include "gpu/kernels.h"

#include <nodewise/status.h>

/* A copy of x * y * z elements of `bytes` bytes, for each of `quantities`
 * arrays. Distances are in bytes; negative distances mirror the box. For
 * quantity q, to_shift[q] and from_shift[q] bytes are added to the addresses.
 * The dense side is `to` when packing and `from` when unpacking. It is a buffer
 * in which x varies fastest and elements have no gaps. Its distances are not
 * read; if its shifts are NULL, its quantities follow one another. The arrays
 * are borrowed during the call. */
struct nw_gpu_piece {
    void *to;
    const void *from;
    size_t bytes;
    int64_t to_step, to_row, to_plane;
    int64_t from_step, from_row, from_plane;
    int64_t x, y, z;
    uint32_t quantities;
    const int64_t *to_shift, *from_shift;
};

/* One kernel launch: boxes with the same work, whose words have the same width.
 */
struct nw_gpu_group {
    enum nw_gpu_work work;
    int width; /* a word has 2^width bytes */
    uint32_t blocks;
    struct nw_gpu_box *box;
    size_t box_count, box_capacity;
};

/* The launches of a set of copies, and the shifts of their quantities. */
struct nw_gpu_copy_table {
    struct nw_gpu_group group[2 * NW_GPU_WIDTHS];
    int group_count;
    int64_t *shift;
    size_t shift_count, shift_capacity;
};

/* Makes the tables of `count` pieces. Words are as wide as sizes, distances and
 * addresses allow. The order of bytes on the dense side does not depend on this
 * width, so the sender of a message may pack with other words than the receiver
 * unpacks. Pieces without elements are skipped. NW_EUNSUPPORTED: a box would
 * have 2^31 words or more, or one launch too many thread blocks. The caller
 * frees the table with nw_gpu_copy_table_fini. */
NW_MUST_CHECK nw_status
nw_gpu_copy_table_make(enum nw_gpu_work work, const struct nw_gpu_piece *pieces,
                       size_t count, struct nw_gpu_copy_table *out);
void nw_gpu_copy_table_fini(struct nw_gpu_copy_table *table);

#endif
