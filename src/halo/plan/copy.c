/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loops that copy cells in host memory. Faces at the ends of x are the
 * slowest, since they use only a few bytes of each cache line. So elements of
 * common sizes are copied by a few instructions without a call, and cache lines
 * are prefetched.
 */
#include "halo/plan/copy.h"

#include <stdbool.h>
#include <string.h>

#define AHEAD 12 /* number of elements between a prefetch and its use */
/* distance of elements in bytes from which prefetching helps */
#define FAR 64
/* About the number of runs of bytes that a copy makes before the next copy has
 * its turn; the cache lines that the copies share are then still in the
 * cache. */
#define BLOCK 512

struct nw_halo_view nw_halo_dense(const int64_t n[3], size_t bytes, void *at)
{
    ptrdiff_t step = (ptrdiff_t)bytes;

    return (struct nw_halo_view){
        at, {step, step * (ptrdiff_t)n[0], step * (ptrdiff_t)(n[0] * n[1])}};
}

/* Removes axis `axis` from the loops, because its extent is 1 or it was joined
 * to another axis. */
static void drop_axis(struct nw_halo_copy *copy, int axis)
{
    for (int i = axis; i < 2; i++) {
        copy->n[i] = copy->n[i + 1];
        copy->to.step[i] = copy->to.step[i + 1];
        copy->from.step[i] = copy->from.step[i + 1];
    }
    copy->n[2] = 1;
}

void nw_halo_copy_prepare(struct nw_halo_copy *copy)
{
    for (int axis = 2; axis >= 0; axis--)
        if (copy->n[axis] == 1)
            drop_axis(copy, axis);
    for (int axis = 0; axis < 3; axis++) {
        if (copy->n[0] == 1 || copy->to.step[0] != (ptrdiff_t)copy->bytes ||
            copy->from.step[0] != (ptrdiff_t)copy->bytes)
            break;
        copy->bytes *= (size_t)copy->n[0];
        drop_axis(copy, 0);
    }
    /* join two adjacent axes if their elements form one sequence with a
     * constant step */
    for (int axis = 1; axis >= 0; axis--)
        if (copy->n[axis + 1] > 1 &&
            copy->to.step[axis + 1] == copy->to.step[axis] * copy->n[axis] &&
            copy->from.step[axis + 1] ==
                copy->from.step[axis] * copy->n[axis]) {
            copy->n[axis] *= copy->n[axis + 1];
            drop_axis(copy, axis + 1);
        }
}

size_t nw_halo_copy_bytes(const struct nw_halo_copy *copy)
{
    return copy->bytes * (size_t)(copy->n[0] * copy->n[1] * copy->n[2]);
}

/* A line of `n` elements to copy, each of `bytes` bytes. The steps are the
 * distances in bytes between consecutive elements. */
struct plan_copy_line {
    char *to;
    const char *from;
    ptrdiff_t to_step, from_step;
    int64_t n;
    size_t bytes;
};

static inline void move_line(const struct plan_copy_line *line, size_t bytes)
{
    char *to = line->to;
    const char *from = line->from;
    bool far_to = line->to_step >= FAR || line->to_step <= -FAR;
    bool far_from = line->from_step >= FAR || line->from_step <= -FAR;
    int64_t i = 0, eager = line->n - AHEAD;

    for (; i < eager; i++) {
        if (far_from)
            __builtin_prefetch(from + AHEAD * line->from_step, 0);
        if (far_to)
            __builtin_prefetch(to + AHEAD * line->to_step, 1);
        memcpy(to, from, bytes);
        to += line->to_step;
        from += line->from_step;
    }
    for (; i < line->n; i++) {
        memcpy(to, from, bytes);
        to += line->to_step;
        from += line->from_step;
    }
}

#define CASES(X)                                                               \
    X(1) X(2) X(4) X(8) X(12) X(16) X(20) X(24) X(32) X(36) X(40) X(48) X(64)

/* Returns true if a line packs separate elements into a dense buffer and is
 * long enough for nw_halo_gather to be faster. */
static bool is_gather(const struct plan_copy_line *line)
{
    return line->to_step == (ptrdiff_t)line->bytes && line->n >= 8 &&
           (line->bytes == 4 || line->bytes == 8);
}

static struct plan_copy_line rest_of(const struct plan_copy_line *line)
{
    struct nw_halo_gather gather = {line->to, line->from, line->from_step,
                                    line->n, line->bytes};
    int64_t moved = nw_halo_gather(&gather);
    struct plan_copy_line rest = *line;

    rest.to += moved * rest.to_step;
    rest.from += moved * rest.from_step;
    rest.n -= moved;
    return rest;
}

static void copy_line(const struct plan_copy_line *line)
{
    struct plan_copy_line rest;

    if (is_gather(line)) {
        rest = rest_of(line);
        line = &rest;
    }
    switch (line->bytes) {
#define CASE(n)                                                                \
    case n:                                                                    \
        move_line(line, n);                                                    \
        return;
        CASES(CASE)
#undef CASE
    default:
        move_line(line, line->bytes);
    }
}

static void copy_plane(const struct nw_halo_copy *copy, int64_t plane)
{
    struct plan_copy_line line = {
        .to_step = copy->to.step[0],
        .from_step = copy->from.step[0],
        .n = copy->n[0],
        .bytes = copy->bytes,
    };
    char *to = copy->to.at + plane * copy->to.step[2];
    const char *from = copy->from.at + plane * copy->from.step[2];

    for (int64_t j = 0; j < copy->n[1]; j++) {
        line.to = to + j * copy->to.step[1];
        line.from = from + j * copy->from.step[1];
        copy_line(&line);
    }
}

void nw_halo_copy_run(const struct nw_halo_copy *copy)
{
    for (int64_t k = 0; k < copy->n[2]; k++)
        copy_plane(copy, k);
}

/* --- several copies in turns, slab by slab --- */

/* Returns the axis along which a copy is divided into slabs: the last axis with
 * more than one element. */
static int slab_axis(const struct nw_halo_copy *copy)
{
    return copy->n[2] > 1 ? 2 : copy->n[1] > 1 ? 1 : 0;
}

static void copy_slabs(const struct nw_halo_copy *copy, int64_t first,
                       int64_t count)
{
    struct nw_halo_copy part = *copy;
    int axis = slab_axis(copy);

    part.to.at += first * part.to.step[axis];
    part.from.at += first * part.from.step[axis];
    part.n[axis] = count;
    nw_halo_copy_run(&part);
}

static int64_t slab_count(const struct nw_halo_copy *copy)
{
    return copy->n[slab_axis(copy)];
}

/* Returns the number of consecutive copies, from the first one on, that have
 * the same number of slabs. */
static size_t copy_agreeing(const struct nw_halo_copy *copy, size_t count)
{
    size_t i = 1;

    while (i < count && slab_count(&copy[i]) == slab_count(copy))
        i++;
    return i;
}

static void run_blocked(const struct nw_halo_copy *copy, size_t count)
{
    int64_t slabs = slab_count(copy), most = 1, block;

    for (size_t i = 0; i < count; i++) {
        int64_t lines = copy[i].n[0] * copy[i].n[1] * copy[i].n[2] / slabs;

        most = lines > most ? lines : most;
    }
    block = BLOCK / most + 1;
    for (int64_t at = 0; at < slabs; at += block)
        for (size_t i = 0; i < count; i++)
            copy_slabs(&copy[i], at, slabs - at < block ? slabs - at : block);
}

void nw_halo_copy_run_all(const struct nw_halo_copy *copy, size_t count)
{
    for (size_t i = 0, next; i < count; i = next) {
        next = i + copy_agreeing(copy + i, count - i);
        if (next == i + 1)
            nw_halo_copy_run(&copy[i]);
        else
            run_blocked(&copy[i], next - i);
    }
}
