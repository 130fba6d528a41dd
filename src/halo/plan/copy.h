/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of boxes of cells between arrays, or between an array and a dense
 * buffer. A copy is prepared once, when its shape is known: adjacent runs of
 * bytes are joined, so that the copy needs fewer loops.
 */
#ifndef NW_HALO_PLAN_COPY_H
#define NW_HALO_PLAN_COPY_H

#include <stddef.h>
#include <stdint.h>

/* Cells of an array: the first cell, and the distance in bytes to the next cell
 * along x, y, z (negative: reverse order). */
struct nw_halo_view {
    char *at;
    ptrdiff_t step[3];
};

struct nw_halo_copy {
    struct nw_halo_view to, from;
    int64_t n[3];
    size_t bytes; /* bytes of one element, or of a joined run */
};

/* Returns a dense view of n cells of `bytes` each, x fastest. */
struct nw_halo_view nw_halo_dense(const int64_t n[3], size_t bytes, void *at);
/* Joins runs of bytes that are adjacent in both views of the copy. */
void nw_halo_copy_prepare(struct nw_halo_copy *copy);
/* Runs a prepared copy; the two views must not overlap. */
void nw_halo_copy_run(const struct nw_halo_copy *copy);
/* Runs `count` prepared copies, whose order must not matter. Consecutive copies
 * with the same number of planes alternate every few planes, so that cache
 * lines that they share (ends of rows, interleaved quantities) are fetched
 * once. */
void nw_halo_copy_run_all(const struct nw_halo_copy *copy, size_t count);
size_t nw_halo_copy_bytes(const struct nw_halo_copy *copy);

/* --- copy_gather.c --- */

/* `n` elements that are `step` bytes apart at `from` and contiguous at `to`. */
struct nw_halo_gather {
    char *to;
    const char *from;
    ptrdiff_t step;
    int64_t n;
    size_t bytes;
};
/* Copies elements from the first one on with vector instructions. Returns the
 * number of copied elements, which is 0 if the machine or the element size is
 * unsupported. */
int64_t nw_halo_gather(const struct nw_halo_gather *line);

#endif
