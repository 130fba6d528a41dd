/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kernels that pack, unpack and move boxes of words: any number of boxes, each
 * with any number of quantities, in one launch. Moving is used for exchanges
 * inside a GPU and for writes into the ghost cells of a peer GPU. A thread
 * copies four words, at the same offsets for every quantity, so that the
 * offsets are computed once and four loads run at a time; consecutive threads
 * copy consecutive words.
 */
#include "gpu/copy_box.h"
#include "gpu/kernels/device.h"

/* Returns n / divisor for n < 2^31, by the reciprocal that copy_table.c
 * prepares. */
NW_INLINE uint32_t divide(uint32_t n, uint32_t magic, uint32_t shift)
{
    return (uint32_t)(((uint64_t)n * magic) >> shift);
}

struct place {
    int64_t to, from;
};

NW_INLINE struct place place_of(const struct nw_gpu_box *box, uint32_t word)
{
    uint32_t row = divide(word, box->x_magic, box->x_shift);
    uint32_t x = word - row * box->x;
    uint32_t plane = divide(row, box->y_magic, box->y_shift);
    uint32_t y = row - plane * box->y;
    struct place place = {
        x * box->to_step + y * box->to_row + plane * box->to_plane,
        x * box->from_step + y * box->from_row + plane * box->from_plane};

    return place;
}

/* A compiler for the CPU may define LOAD and STORE itself. */
#ifndef LOAD
#define LOAD(word_type, at) (*(const NW_FAR word_type *)(at))
#define STORE(word_type, at, value) (*(NW_FAR word_type *)(at) = (value))
#endif

#define NW_BOXES(name, word_type, dense_to, dense_from, blocks)                \
    NW_KERNEL(blocks) name(struct nw_gpu_boxes boxes)                               \
    {                                                                          \
        const struct nw_gpu_box *box = boxes.box + boxes.owner[NW_BLOCK];      \
        uint32_t total = box->x * box->y * box->z;                             \
        uint32_t first =                                                       \
            (NW_BLOCK - box->first_block) * NW_GPU_BLOCK_WORDS + NW_THREAD;    \
        uint32_t quantities = box->quantities;                                 \
        struct place at[NW_GPU_ITEMS];                                         \
        word_type held[NW_GPU_ITEMS];                                          \
                                                                               \
        for (uint32_t i = 0; i < NW_GPU_ITEMS; i++) {                          \
            uint32_t word = first + i * NW_GPU_THREADS;                        \
            at[i] = place_of(box, word < total ? word : 0);                    \
            if (dense_to)                                                      \
                at[i].to = (int64_t)word * (int64_t)sizeof(word_type);         \
            if (dense_from)                                                    \
                at[i].from = (int64_t)word * (int64_t)sizeof(word_type);       \
        }                                                                      \
        for (uint32_t q = 0; q < quantities; q++) {                            \
            uint64_t to = box->to + boxes.shift[box->to_shift + q];            \
            uint64_t from = box->from + boxes.shift[box->from_shift + q];      \
            for (uint32_t i = 0; i < NW_GPU_ITEMS; i++)                        \
                if (first + i * NW_GPU_THREADS < total)                        \
                    held[i] = LOAD(word_type, from + at[i].from);              \
            for (uint32_t i = 0; i < NW_GPU_ITEMS; i++)                        \
                if (first + i * NW_GPU_THREADS < total)                        \
                    STORE(word_type, to + at[i].to, held[i]);                  \
        }                                                                      \
    }

/* `blocks` is the number of thread blocks that must fit on a multiprocessor at
 * the same time in the kernel for 16-byte words; it is 5 for smaller words.
 * When moving 16-byte words, the addresses need so many registers that only
 * four blocks fit without spills. */
#define NW_WIDTHS(name, dense_to, dense_from, blocks)                          \
    NW_BOXES(name##_1, uint8_t, dense_to, dense_from, 5)                       \
    NW_BOXES(name##_2, uint16_t, dense_to, dense_from, 5)                      \
    NW_BOXES(name##_4, uint32_t, dense_to, dense_from, 5)                      \
    NW_BOXES(name##_8, uint64_t, dense_to, dense_from, 5)                      \
    NW_BOXES(name##_16, nw_word16, dense_to, dense_from, blocks)

NW_WIDTHS(nw_pack, 1, 0, 5)
NW_WIDTHS(nw_unpack, 0, 1, 5)
NW_WIDTHS(nw_move, 0, 0, 4)
