/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the grid of a stencil if processes are numbered along it. Then the
 * numbers of neighbours differ by only a few values, and the strides of the
 * dimensions are among these. A chain is a list of such values in which each
 * divides the next. Every chain is tried as the strides of a grid, on a sample
 * of the edges. Among chains of the same length, that with the shortest edges,
 * in cells, is taken. Among the lengths, the shortest is taken for which every
 * edge along the offsets exists, or else the one for which the largest fraction
 * of these edges exists. Lengths after the first one whose best chain does not
 * fit all edges are not tried. */
#include "map/stencil/grid.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

/* Most different values of differences between neighbours. */
#define GAPS_MAX 96
#define REACH 2 /* longest edge in one dimension, in cells */

/* The different positive values by which the numbers of neighbours differ, in
 * ascending order. */
struct grid_gaps {
    int count;
    int32_t gap[GAPS_MAX];
};

/* Adds a value if it is new. Returns false if there are more than GAPS_MAX. */
static bool grid_note_gap(struct grid_gaps *gaps, int32_t gap)
{
    int at = 0;

    while (at < gaps->count && gaps->gap[at] != gap)
        at++;
    if (at == GAPS_MAX)
        return false;
    if (at == gaps->count)
        gaps->gap[gaps->count++] = gap;
    for (; at && gaps->gap[at - 1] > gap; at--) {
        gaps->gap[at] = gaps->gap[at - 1];
        gaps->gap[at - 1] = gap;
    }
    return true;
}

/* A range of the processes. One thread reads the range and stores here what it
 * finds out about the edges of these processes. */
struct grid_part {
    const struct nw_assignment *assignment;
    int32_t begin, end;        /* processes begin .. end - 1 */
    bool found;                /* no edge contradicts a grid so far */
    struct grid_gaps gaps;     /* differences along the edges of the processes
                                  in this range */
    struct nw_stencil stencil; /* the grid, with the offsets of the edges of the
                                  processes in this range */
    struct tally {             /* sums over the edges of the processes in this
                                  range */
        size_t count[NW_STENCIL_OFFSETS]; /* number of edges along each
                                             offset */
        double first[NW_STENCIL_OFFSETS]; /* bytes of one edge along each
                                             offset */
        bool differ;    /* edges along the same offset have different bytes */
        double squares; /* sum of the squared bytes of all these edges */
    } tally;
};

/* All ranges of the processes. */
struct grid_parts {
    int32_t count, threads;
    struct grid_part *part;
};

/* Divides the processes into ranges of nearly equal size; the caller frees
 * parts->part. */
static nw_status grid_cut_parts(const struct nw_assignment *assignment,
                                struct grid_parts *parts)
{
    int64_t n = assignment->count;
    nw_status status;

    parts->count = assignment->row[n] < nw_tuned.threads.edges_min
                       ? 1
                       : NW_PARALLEL_RANGES;
    parts->threads = assignment->threads;
    status = nw_alloc((size_t)parts->count, sizeof *parts->part, &parts->part);
    for (int32_t i = 0; !status && i < parts->count; i++) {
        struct grid_part *part = &parts->part[i];

        part->assignment = assignment;
        part->begin = (int32_t)(n * i / parts->count);
        part->end = (int32_t)(n * (i + 1) / parts->count);
    }
    return status;
}

/* Collects the differences between neighbours' numbers in range i; a task for
 * threads. Works on a copy, since neighbouring elements of part[] share cache
 * lines. */
static void grid_read_part(void *user, int32_t i)
{
    struct grid_part *part = &((struct grid_parts *)user)->part[i],
                     mine = *part;
    const struct nw_assignment *assignment = part->assignment;
    int32_t last = 0;

    mine.found = true;
    for (int32_t p = mine.begin; mine.found && p < mine.end; p++)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++) {
            int32_t gap = assignment->edge[b].peer - p;

            if (gap <= 0 || gap == last)
                continue;
            last = gap;
            mine.found = mine.found && grid_note_gap(&mine.gaps, gap);
        }
    *part = mine;
}

/* Collects the differences between the numbers of all neighbours in *gaps.
 * Returns false if it finds no difference or more than GAPS_MAX. */
static bool grid_read_gaps(struct grid_parts *parts, struct grid_gaps *gaps)
{
    nw_parallel_run(grid_read_part, parts, parts->count, parts->threads);
    for (int32_t i = 0; i < parts->count; i++) {
        const struct grid_part *part = &parts->part[i];

        if (!part->found)
            return false;
        for (int k = 0; k < part->gaps.count; k++)
            if (!grid_note_gap(gaps, part->gaps.gap[k]))
                return false;
    }
    return gaps->count > 0;
}

/* Sets offset[] to the offset, in cells, from process p to q. Sets wraps[d] to
 * true if the edge goes around the ends of dimension d, which is then periodic.
 * Returns false if the offset is longer than REACH in a dimension. */
static bool grid_offset_between(const struct nw_stencil *stencil, int32_t p,
                                int32_t q, int32_t *offset, bool *wraps)
{
    for (int d = 0; d < stencil->dims; d++) {
        int32_t size = stencil->size[d];
        int32_t move = nw_stencil_coordinate(stencil, q, d) -
                       nw_stencil_coordinate(stencil, p, d);

        if (size >= 2 * REACH && (move < -size / 2 || move > size / 2)) {
            move += move < 0 ? size : -size;
            wraps[d] = true;
        }
        if (move < -REACH || move > REACH)
            return false;
        offset[d] = move;
    }
    return true;
}

/* Returns the sum of the lengths of the edges, in cells, over a sample of
 * processes; -1 if an edge is longer than REACH in a dimension. */
static int64_t grid_measure_sample(const struct nw_assignment *assignment,
                                   const struct nw_stencil *stencil)
{
    size_t edges = assignment->row[assignment->count];
    int32_t every = (int32_t)(edges / nw_tuned.tiling.sample / 2) + 1;
    int32_t offset[NW_STENCIL_DIMS];
    bool wraps[NW_STENCIL_DIMS];
    int64_t length = 0;

    for (int32_t p = 0; p < assignment->count; p += every)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++) {
            if (!grid_offset_between(stencil, p, assignment->edge[b].peer,
                                     offset, wraps))
                return -1;
            for (int d = 0; d < stencil->dims; d++)
                length += abs(offset[d]);
        }
    return length;
}

/* Sets the dimensions, sizes and strides of a grid of n cells whose strides are
 * stride[0] = 1 < stride[1] < ... < stride[dims - 1]. In *stencil the
 * dimensions are in the opposite order, with descending strides. */
static void grid_set_grid(struct nw_stencil *stencil, const int32_t *stride,
                          int dims, int32_t n)
{
    stencil->dims = dims;
    for (int d = 0; d < dims; d++) {
        int32_t next = d + 1 < dims ? stride[d + 1] : n;

        stencil->stride[dims - 1 - d] = stride[d];
        stencil->size[dims - 1 - d] = next / stride[d];
    }
}

/* A search over all chains of `wanted` strides, in which each stride divides
 * the next one. */
struct grid_chains {
    const struct nw_assignment *assignment;
    const struct grid_gaps *gaps;
    int wanted;
    int32_t stride[NW_STENCIL_DIMS]; /* strides of the present chain,
                                        ascending */
    int64_t least; /* sum of edge lengths for the best chain so far; -1: no
                      chain yet */
    struct nw_stencil *best; /* out: the grid of the best chain */
};

/* Keeps the grid of a complete chain if the edges fit it and are shorter than
 * for the best chain so far. */
static void grid_end_chain(struct grid_chains *chains)
{
    struct nw_stencil stencil = {0};
    int64_t length;

    grid_set_grid(&stencil, chains->stride, chains->wanted,
                  chains->assignment->count);
    length = grid_measure_sample(chains->assignment, &stencil);
    if (length < 0 || (chains->least >= 0 && length >= chains->least))
        return;
    chains->least = length;
    *chains->best = stencil;
}

/* Tries every chain of chains->wanted strides that begins with the first `dims`
 * strides, and keeps the grid with the shortest edges. A stride between
 * diagonal neighbours may also give a grid, a slanted one, but its edges are
 * longer, so it is not kept. */
static void grid_try_chain(struct grid_chains *chains, int dims)
{
    int32_t last = chains->stride[dims - 1];

    if (dims == chains->wanted) {
        grid_end_chain(chains);
        return;
    }
    for (int i = 0; i < chains->gaps->count; i++) {
        int32_t gap = chains->gaps->gap[i];

        if (gap <= last || gap % last || chains->assignment->count % gap)
            continue;
        chains->stride[dims] = gap;
        grid_try_chain(chains, dims + 1);
    }
}

/* Returns the index of an offset in stencil->offset. Adds the offset if it is
 * new; returns -1 if the stencil would then have too many offsets. The stencil
 * stores only one of two opposite offsets. For this reason the function
 * reverses offset[] if its first coordinate other than 0 is negative. It tries
 * index `last` + 1 first, because nearly all cells have their neighbours in the
 * same order. */
static int grid_find_offset(struct nw_stencil *stencil, int32_t *offset,
                            int last)
{
    int d = 0, i = last + 1;

    while (d < stencil->dims && !offset[d])
        d++;
    if (d < stencil->dims && offset[d] < 0)
        for (; d < stencil->dims; d++)
            offset[d] = -offset[d];
    if (i < stencil->offsets &&
        !memcmp(stencil->offset[i], offset, sizeof stencil->offset[i]))
        return i;
    for (i = 0; i < stencil->offsets; i++)
        if (!memcmp(stencil->offset[i], offset, sizeof stencil->offset[i]))
            return i;
    if (i == NW_STENCIL_OFFSETS)
        return -1;
    memcpy(stencil->offset[i], offset, sizeof stencil->offset[i]);
    stencil->offsets++;
    return i;
}

/* Returns how many pairs of cells in a box of size shape[dims] differ by offset
 * number i. */
static double grid_count_pairs(const struct nw_stencil *stencil, int i,
                               const int32_t *shape)
{
    double pairs = 1;

    for (int d = 0; d < stencil->dims; d++) {
        int32_t offset = abs(stencil->offset[i][d]);
        bool round = stencil->periodic[d] && shape[d] == stencil->size[d];
        int32_t count = round ? shape[d] : shape[d] - offset;

        pairs *= count > 0 ? count : 0;
    }
    return pairs;
}

double nw_stencil_inside(const struct nw_stencil *stencil, const int32_t *shape)
{
    double sum = 0;

    for (int i = 0; i < stencil->offsets; i++)
        sum += grid_count_pairs(stencil, i, shape) * stencil->bytes[i];
    return sum;
}

double nw_stencil_cut_layers(const struct nw_stencil *stencil,
                             const int32_t *box, int32_t layers, int d)
{
    int32_t side[NW_STENCIL_DIMS];
    double sum = nw_stencil_inside(stencil, box);

    memcpy(side, box, sizeof side);
    side[d] = layers;
    sum -= nw_stencil_inside(stencil, side);
    side[d] = box[d] - layers;
    return sum - nw_stencil_inside(stencil, side);
}

double nw_stencil_across(const struct nw_stencil *stencil, int d)
{
    double sum = 0;

    for (int i = 0; i < stencil->offsets; i++)
        sum += stencil->bytes[i] * abs(stencil->offset[i][d]);
    return sum;
}

/* Adds an edge along offset number i to the sums of its range. Returns false if
 * i is negative, which means that the stencil does not have the offset. */
static bool grid_add_edge(struct grid_part *part, int i, double bytes)
{
    struct tally *tally = &part->tally;

    if (i < 0)
        return false;
    if (!tally->count[i]++)
        tally->first[i] = bytes;
    tally->differ |= tally->first[i] != bytes;
    tally->squares += bytes * bytes;
    part->stencil.bytes[i] += bytes;
    return true;
}

/* Sets `uniform`, `filled` and `uneven` of the stencil, and divides its sums of
 * bytes by the numbers of edges. */
static void grid_finish_offsets(struct nw_stencil *stencil,
                                const struct tally *tally)
{
    double edges = 0, all = 0, explained = 0;

    stencil->uniform = !tally->differ;
    for (int i = 0; i < stencil->offsets; i++) {
        double pairs = grid_count_pairs(stencil, i, stencil->size);

        stencil->bytes[i] /= (double)tally->count[i];
        explained +=
            (double)tally->count[i] * stencil->bytes[i] * stencil->bytes[i];
        if ((double)tally->count[i] != pairs)
            stencil->uniform = false;
        edges += (double)tally->count[i];
        all += pairs;
    }
    stencil->filled = edges / all;
    stencil->uneven = tally->squares > 0 ? 1 - explained / tally->squares : 0;
}

/* Returns true if offset number i leads from the cell with coordinates
 * cell[dims] to the cell whose number is higher by `gap`, without going around
 * the ends of a dimension. This is faster than grid_offset_between, as it needs
 * no division. */
static bool grid_leads(const struct nw_stencil *stencil, int i,
                       const int32_t *cell, int32_t gap)
{
    int64_t sum = 0;

    if (i >= stencil->offsets)
        return false;
    for (int d = 0; d < stencil->dims; d++) {
        int32_t to = cell[d] + stencil->offset[i][d];

        if (to < 0 || to >= stencil->size[d])
            return false;
        sum += (int64_t)stencil->offset[i][d] * stencil->stride[d];
    }
    return sum == gap;
}

/* Adds the edges of process p to processes with higher numbers to the sums of
 * its range. Returns false if an edge does not fit the grid. */
static bool grid_sum_cell(struct grid_part *part, int32_t p)
{
    const struct nw_assignment *assignment = part->assignment;
    struct nw_stencil *stencil = &part->stencil;
    int32_t cell[NW_STENCIL_DIMS];
    int last = -1;

    for (int d = 0; d < stencil->dims; d++)
        cell[d] = nw_stencil_coordinate(stencil, p, d);
    for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++) {
        int32_t offset[NW_STENCIL_DIMS] = {0}, peer = assignment->edge[b].peer;

        if (peer < p)
            continue;
        if (grid_leads(stencil, last + 1, cell, peer - p))
            last++;
        else if (grid_offset_between(stencil, p, peer, offset,
                                     stencil->periodic))
            last = grid_find_offset(stencil, offset, last);
        else
            return false;
        if (!grid_add_edge(part, last, assignment->edge[b].bytes))
            return false;
    }
    return true;
}

/* Computes the sums over the edges of one range; a task for threads. Works on a
 * copy, since neighbouring elements of part[] share cache lines. */
static void grid_sum_part(void *user, int32_t number)
{
    struct grid_part *part = &((struct grid_parts *)user)->part[number],
                     mine = *part;

    for (int32_t p = mine.begin; mine.found && p < mine.end; p++)
        mine.found = grid_sum_cell(&mine, p);
    *part = mine;
}

/* Adds the sums of one range to the stencil and to `tally`. Returns false if an
 * edge did not fit the grid or there are too many offsets. */
static bool grid_merge_part(struct nw_stencil *stencil, struct tally *tally,
                            struct grid_part *part)
{
    for (int d = 0; d < stencil->dims; d++)
        stencil->periodic[d] |= part->stencil.periodic[d];
    for (int k = 0; part->found && k < part->stencil.offsets; k++) {
        int i = grid_find_offset(stencil, part->stencil.offset[k], k - 1);

        if (i < 0)
            return false;
        if (!tally->count[i])
            tally->first[i] = part->tally.first[k];
        tally->differ |= tally->first[i] != part->tally.first[k];
        tally->count[i] += part->tally.count[k];
        stencil->bytes[i] += part->stencil.bytes[k];
    }
    tally->differ |= part->tally.differ;
    tally->squares += part->tally.squares;
    return part->found;
}

/* Returns true if a stencil may be taken as found. In a periodic dimension of
 * at most four cells no two cells are more than REACH apart, so every edge fits
 * it, perhaps by chance. A stencil with such a dimension is only taken if at
 * least half of the edges along its offsets exist. */
static bool grid_fills_rings(const struct nw_stencil *stencil)
{
    bool rings = false;

    for (int d = 0; d < stencil->dims; d++)
        rings |= stencil->periodic[d] && stencil->size[d] <= 2 * REACH;
    return !rings || stencil->filled >= 0.5;
}

/* Computes the offsets of all edges on the grid of `stencil`, and their mean
 * bytes. Returns false if edges do not fit the grid. */
static bool grid_sum_offsets(struct grid_parts *parts,
                             struct nw_stencil *stencil)
{
    struct tally tally = {.differ = false};

    for (int32_t i = 0; i < parts->count; i++) {
        parts->part[i].stencil = *stencil;
        parts->part[i].tally = tally;
    }
    nw_parallel_run(grid_sum_part, parts, parts->count, parts->threads);
    for (int32_t i = 0; i < parts->count; i++)
        if (!grid_merge_part(stencil, &tally, &parts->part[i]))
            return false;
    grid_finish_offsets(stencil, &tally);
    return grid_fills_rings(stencil);
}

/* Finds the best grid for the edges of all processes; returns false if no grid
 * fits. A dimension of two cells also fits as part of the next dimension, twice
 * as long, in which every second edge is missing. So a grid with more
 * dimensions is better if a larger fraction of its edges exists. */
static bool grid_find_stencil(const struct nw_assignment *assignment,
                              struct grid_parts *parts, struct nw_stencil *out)
{
    struct grid_gaps gaps = {0};
    struct nw_stencil stencil;
    struct grid_chains chains = {.assignment = assignment,
                                 .gaps = &gaps,
                                 .stride = {1},
                                 .best = &stencil};
    bool fits = true;

    if (!grid_read_gaps(parts, &gaps))
        return false;
    out->filled = 0;
    while (fits && out->filled < 1 && chains.wanted++ < NW_STENCIL_DIMS) {
        chains.least = -1;
        grid_try_chain(&chains, 1);
        fits = chains.least < 0 || grid_sum_offsets(parts, &stencil);
        if (fits && chains.least >= 0 && stencil.filled > out->filled)
            *out = stencil;
    }
    return out->filled > 0;
}

nw_status nw_stencil_find(const struct nw_assignment *assignment,
                          struct nw_stencil *out, bool *found)
{
    struct grid_parts parts;
    nw_status status;

    *found = false;
    if (assignment->count < 4)
        return NW_OK;
    status = grid_cut_parts(assignment, &parts);
    if (!status)
        *found = grid_find_stencil(assignment, &parts, out);
    free(parts.part);
    return status;
}
