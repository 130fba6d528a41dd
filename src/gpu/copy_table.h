/* SPDX-License-Identifier: BSD-3-Clause */
/* From copies as a caller thinks of them, elements at distances, to the tables
 * of words that the kernels read. */
#ifndef NW_GPU_COPY_TABLE_H
#define NW_GPU_COPY_TABLE_H

#include "gpu/kernels.h"

#include <nodewise/status.h>

/* x * y * z elements of `bytes`, for each of some quantities. Distances are in
 * bytes and may be negative, which mirrors. Quantity q begins to_shift[q] and
 * from_shift[q] further; NULL on a dense side is quantity after quantity. When
 * packing the `to` side, when unpacking the `from` side is dense: x fastest,
 * and its distances are not read. Borrowed for the call. */
struct nw_gpu_piece {
    void *to;
    const void *from;
    size_t bytes;
    int64_t to_step, to_row, to_plane;
    int64_t from_step, from_row, from_plane;
    uint32_t x, y, z;
    uint32_t quantities;
    const int64_t *to_shift, *from_shift;
};

/* One launch: boxes of words of one width. */
struct nw_gpu_group {
    enum nw_gpu_work work;
    int width; /* 2^width bytes a word */
    uint32_t blocks;
    struct nw_gpu_box *box;
    size_t box_count, box_capacity;
};

struct nw_gpu_copy_table {
    struct nw_gpu_group group[2 * NW_GPU_WIDTHS];
    int group_count;
    int64_t *shift;
    size_t shift_count, shift_capacity;
};

/* Words are as wide as lengths, distances and addresses allow; the order on the
 * dense side does not depend on them. Pieces without elements are skipped. */
NW_MUST_CHECK nw_status
nw_gpu_copy_table_make(enum nw_gpu_work work, const struct nw_gpu_piece *pieces,
                       size_t count, struct nw_gpu_copy_table *out);
void nw_gpu_copy_table_fini(struct nw_gpu_copy_table *table);
/* All of it by the host twins, on host memory. */
void nw_gpu_copy_table_host_reference(const struct nw_gpu_copy_table *table);

#endif
