/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies boxes of cells between two arrays, or between an array and a dense
 * buffer. A copy is prepared once, when its shape is known: runs of bytes that
 * are adjacent at both ends are joined, so that the copy needs fewer loops.
 */
#ifndef NW_HALO_PLAN_COPY_H
#define NW_HALO_PLAN_COPY_H

#include <stddef.h>
#include <stdint.h>

/* A box of cells in an array: the address of its first cell, and the distance
 * in bytes to the next cell along x, y and z. A negative distance reverses the
 * order. */
struct nw_halo_view {
    char *at;
    ptrdiff_t step[3];
};

struct nw_halo_copy {
    struct nw_halo_view to, from;
    int64_t n[3]; /* number of elements along each axis */
    size_t bytes; /* size of one element, or of a joined run */
};

/* Returns the view of a dense array at `at` with n[0] x n[1] x n[2] cells of
 * `bytes` bytes, where x varies fastest. */
struct nw_halo_view nw_halo_dense(const int64_t n[3], size_t bytes, void *at);
/* Joins runs of bytes that are adjacent in both views of the copy, and axes
 * whose elements follow each other with a constant step in both views. */
void nw_halo_copy_prepare(struct nw_halo_copy *copy);
/* Runs a prepared copy; the two views must not overlap. */
void nw_halo_copy_run(const struct nw_halo_copy *copy);
/* Runs `count` prepared copies, in any order. Consecutive copies with the same
 * number of slabs (along the last axis) run in turns of a few slabs, so that
 * cache lines that they share (ends of rows, interleaved quantities) are
 * fetched only once. */
void nw_halo_copy_run_all(const struct nw_halo_copy *copy, size_t count);
size_t nw_halo_copy_bytes(const struct nw_halo_copy *copy);

/* --- copy_gather.c --- */

/* A gather: copies `n` elements of `bytes` bytes, which are `step` bytes apart
 * at `from`, to contiguous memory at `to`. */
struct nw_halo_gather {
    char *to;
    const char *from;
    ptrdiff_t step;
    int64_t n;
    size_t bytes;
};
/* Copies elements with vector instructions, beginning with the first. Returns
 * the number of elements that it has copied; the caller copies the rest.
 * Returns 0 if the processor, the element size or a long step is unsupported.
 */
int64_t nw_halo_gather(const struct nw_halo_gather *line);

#endif
