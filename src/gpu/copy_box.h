/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables of boxes of words to be copied, which are the arguments of the
 * kernels. The host reference uses the same tables. Only plain types are used,
 * since the CUDA compiler reads this file too. */
#ifndef NW_GPU_COPY_BOX_H
#define NW_GPU_COPY_BOX_H

#include <stdint.h>

/* A copy of a box of x * y * z words, for each of `quantities` arrays. `to` and
 * `from` are the addresses of the first word; for quantity q, shift[to_shift +
 * q] and shift[from_shift + q] bytes are added. The dense side is `to` when
 * packing and `from` when unpacking. It is a buffer in which x varies fastest
 * and words have no gaps; its distances are not read. */
struct nw_gpu_box {
    uint64_t to, from;
    int64_t to_step, to_row, to_plane; /* bytes to the next word, row, plane */
    int64_t from_step, from_row, from_plane;
    uint32_t x, y, z;
    /* the first thread block that works on this box */
    uint32_t first_block;
    /* reciprocals for the division by x and by y */
    uint32_t x_magic, x_shift, y_magic, y_shift;
    uint32_t quantities, to_shift, from_shift, unused;
};

/* The argument of the kernels that copy boxes, with addresses in GPU memory.
 * Thread block b works on box[owner[b]]. `shift` has the byte offsets of
 * quantities. */
struct nw_gpu_boxes {
    const struct nw_gpu_box *box;
    const uint32_t *owner;
    const int64_t *shift;
};

enum {
    NW_GPU_THREADS = 256, /* threads of a block */
    NW_GPU_ITEMS = 4,     /* words per thread and quantity */
    NW_GPU_BLOCK_WORDS = NW_GPU_THREADS * NW_GPU_ITEMS,
};

#endif
