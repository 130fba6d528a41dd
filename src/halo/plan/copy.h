/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of boxes of cells between arrays, or between an array and a dense
 * buffer. A copy is prepared once, when its shape is known: runs of bytes that
 * follow each other are joined, so that carrying it out is one loop.
 */
#ifndef NW_HALO_PLAN_COPY_H
#define NW_HALO_PLAN_COPY_H

#include <stddef.h>
#include <stdint.h>

/* An array's cells: the first one, and the distance to the next along x, y, z
 * in bytes (negative where it is walked backwards). */
struct nw_halo_view {
    char *at;
    ptrdiff_t step[3];
};

struct nw_halo_copy {
    struct nw_halo_view to, from;
    int64_t n[3];
    size_t bytes; /* of one element, or of a joined run */
};

/* A dense view of n cells of so many bytes, x fastest. */
struct nw_halo_view nw_halo_dense(const int64_t n[3], size_t bytes, void *at);
/* Joins what lies together in both views. */
void nw_halo_copy_prepare(struct nw_halo_copy *copy);
/* Carries out a prepared copy; the two ends must not overlap. */
void nw_halo_copy_run(const struct nw_halo_copy *copy);
/* Copies that may be done in any order: those in a row with as many planes go
 * some planes at a time in turn, so that cache lines they share (both ends of
 * rows, quantities interleaved) are fetched once. */
void nw_halo_copy_run_all(const struct nw_halo_copy *copy, size_t count);
size_t nw_halo_copy_bytes(const struct nw_halo_copy *copy);

/* --- copy_gather.c --- */

/* Elements `step` bytes apart, to be stored one behind the other. */
struct nw_halo_gather {
    char *to;
    const char *from;
    ptrdiff_t step;
    int64_t n;
    size_t bytes;
};
/* How many of them, from the first, were moved by vector instructions: 0 where
 * the machine or the size has none. */
int64_t nw_halo_gather(const struct nw_halo_gather *line);

#endif
