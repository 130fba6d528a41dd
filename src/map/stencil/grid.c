/* SPDX-License-Identifier: BSD-3-Clause */
/* The grid behind a stencil. Numbered along a grid, neighbours differ by few
 * numbers, and the strides of the dimensions are among them: each chain of
 * differences that divide one another is tried on a sample of the bonds, and
 * of those with the fewest dimensions the one of the shortest steps is taken:
 * the fewest that leave no bonds out, if any do. */
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"

#include <stdlib.h>
#include <string.h>

#define GAPS_MOST 96 /* different numbers between neighbours */
#define SAMPLE 4000
#define REACH 2 /* longest step in a dimension */

struct gaps {
    int count;
    int32_t gap[GAPS_MOST];
};

static bool note_gap(struct gaps *gaps, int32_t gap)
{
    int at = 0;

    while (at < gaps->count && gaps->gap[at] != gap)
        at++;
    if (at == GAPS_MOST)
        return false;
    if (at == gaps->count)
        gaps->gap[gaps->count++] = gap;
    for (; at && gaps->gap[at - 1] > gap; at--) {
        gaps->gap[at] = gaps->gap[at - 1];
        gaps->gap[at - 1] = gap;
    }
    return true;
}

#define JOBS 64        /* a large layout is looked at in so many parts */
#define JOBS_FROM 4096 /* processes */

/* What a part of the processes tells, on any thread. */
struct part {
    const struct nw_layout *layout;
    int32_t begin, end;
    bool found;
    struct gaps gaps;
    struct nw_tiling tiling; /* its steps */
    struct tally {           /* of each step */
        size_t count[NW_TILE_STEPS];
        double first[NW_TILE_STEPS]; /* bytes of its first bond */
        bool differ;
        double squares; /* of the bytes of all bonds */
    } tally;
};

struct parts {
    int32_t count, threads;
    struct part *part;
};

static nw_status cut_parts(const struct nw_layout *layout, struct parts *parts)
{
    nw_status status;

    parts->count = layout->count < JOBS_FROM ? 1 : JOBS;
    parts->threads = layout->threads;
    status = nw_alloc((size_t)parts->count, sizeof *parts->part, &parts->part);
    for (int32_t i = 0; !status && i < parts->count; i++) {
        struct part *part = &parts->part[i];
        int64_t n = layout->count;

        part->layout = layout;
        part->begin = (int32_t)(n * i / parts->count);
        part->end = (int32_t)(n * (i + 1) / parts->count);
    }
    return status;
}

static void read_part(void *user, int32_t i)
{
    struct part *part = &((struct parts *)user)->part[i], mine = *part;
    const struct nw_layout *layout = part->layout;
    int32_t last = 0;

    mine.found = true;
    for (int32_t p = mine.begin; mine.found && p < mine.end; p++)
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            int32_t gap = layout->bond[b].peer - p;

            if (gap <= 0 || gap == last)
                continue;
            last = gap;
            mine.found = mine.found && note_gap(&mine.gaps, gap);
        }
    *part = mine;
}

static bool read_gaps(struct parts *parts, struct gaps *gaps)
{
    nw_crew_run(read_part, parts, parts->count, parts->threads);
    for (int32_t i = 0; i < parts->count; i++) {
        const struct part *part = &parts->part[i];

        if (!part->found)
            return false;
        for (int k = 0; k < part->gaps.count; k++)
            if (!note_gap(gaps, part->gaps.gap[k]))
                return false;
    }
    return gaps->count > 0;
}

/* The step from p to q; marks borders crossed where asked. False where it is
 * longer than a neighbour's. */
static bool step_between(const struct nw_tiling *tiling, int32_t p, int32_t q,
                         int32_t *step, bool *wraps)
{
    for (int d = 0; d < tiling->dims; d++) {
        int32_t size = tiling->size[d];
        int32_t move = nw_tiling_at(tiling, q, d) - nw_tiling_at(tiling, p, d);

        if (size >= 2 * REACH && (move < -size / 2 || move > size / 2)) {
            move += move < 0 ? size : -size;
            wraps[d] = true;
        }
        if (move < -REACH || move > REACH)
            return false;
        step[d] = move;
    }
    return true;
}

/* How far the bonds of a sample go in all, or -1 where some go too far. */
static int64_t measure_sample(const struct nw_layout *layout,
                              const struct nw_tiling *tiling)
{
    size_t bonds = layout->row[layout->count];
    int32_t every = (int32_t)(bonds / SAMPLE / 2) + 1;
    int32_t step[NW_TILE_DIMS];
    bool wraps[NW_TILE_DIMS];
    int64_t length = 0;

    for (int32_t p = 0; p < layout->count; p += every)
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
            if (!step_between(tiling, p, layout->bond[b].peer, step, wraps))
                return -1;
            for (int d = 0; d < tiling->dims; d++)
                length += abs(step[d]);
        }
    return length;
}

/* strides ascend here, the first is 1 */
static void set_grid(struct nw_tiling *tiling, const int32_t *stride, int dims,
                     int32_t n)
{
    tiling->dims = dims;
    for (int d = 0; d < dims; d++) {
        int32_t next = d + 1 < dims ? stride[d + 1] : n;

        tiling->stride[dims - 1 - d] = stride[d];
        tiling->size[dims - 1 - d] = next / stride[d];
    }
}

/* Chains of strides, all of so many dimensions. */
struct chains {
    const struct nw_layout *layout;
    const struct gaps *gaps;
    int wanted;
    int32_t stride[NW_TILE_DIMS];
    int64_t least; /* length of the best chain's bonds, -1 for none */
    struct nw_tiling *best;
};

static void end_chain(struct chains *chains)
{
    struct nw_tiling tiling = {0};
    int64_t length;

    set_grid(&tiling, chains->stride, chains->wanted, chains->layout->count);
    length = measure_sample(chains->layout, &tiling);
    if (length < 0 || (chains->least >= 0 && length >= chains->least))
        return;
    chains->least = length;
    *chains->best = tiling;
}

/* Adds a dimension. A slanted grid may fit too, where a diagonal's gap divides
 * the number of processes: its bonds are longer. */
static void try_chain(struct chains *chains, int dims)
{
    int32_t last = chains->stride[dims - 1];

    if (dims == chains->wanted) {
        end_chain(chains);
        return;
    }
    for (int i = 0; i < chains->gaps->count; i++) {
        int32_t gap = chains->gaps->gap[i];

        if (gap <= last || gap % last || chains->layout->count % gap)
            continue;
        chains->stride[dims] = gap;
        try_chain(chains, dims + 1);
    }
}

/* The step's index, or that of its opposite; a new one where room is left.
 * Tried first: the one after the last, neighbours standing in the same order
 * for nearly all cells. */
static int find_step(struct nw_tiling *tiling, int32_t *step, int last)
{
    int d = 0, i = last + 1;

    while (d < tiling->dims && !step[d])
        d++;
    if (d < tiling->dims && step[d] < 0)
        for (; d < tiling->dims; d++)
            step[d] = -step[d];
    if (i < tiling->steps &&
        !memcmp(tiling->step[i], step, sizeof tiling->step[i]))
        return i;
    for (i = 0; i < tiling->steps; i++)
        if (!memcmp(tiling->step[i], step, sizeof tiling->step[i]))
            return i;
    if (i == NW_TILE_STEPS)
        return -1;
    memcpy(tiling->step[i], step, sizeof tiling->step[i]);
    tiling->steps++;
    return i;
}

/* Pairs of cells of a box that are that step apart. */
static double count_pairs(const struct nw_tiling *tiling, int i,
                          const int32_t *shape)
{
    double pairs = 1;

    for (int d = 0; d < tiling->dims; d++) {
        int32_t step = abs(tiling->step[i][d]);
        bool round = tiling->periodic[d] && shape[d] == tiling->size[d];
        int32_t count = round ? shape[d] : shape[d] - step;

        pairs *= count > 0 ? count : 0;
    }
    return pairs;
}

double nw_tiling_inside(const struct nw_tiling *tiling, const int32_t *shape)
{
    double sum = 0;

    for (int i = 0; i < tiling->steps; i++)
        sum += count_pairs(tiling, i, shape) * tiling->bytes[i];
    return sum;
}

static bool add_bond(struct part *part, int i, double bytes)
{
    struct tally *tally = &part->tally;

    if (i < 0)
        return false;
    if (!tally->count[i]++)
        tally->first[i] = bytes;
    tally->differ |= tally->first[i] != bytes;
    tally->squares += bytes * bytes;
    part->tiling.bytes[i] += bytes;
    return true;
}

static void finish_steps(struct nw_tiling *tiling, const struct tally *tally)
{
    double bonds = 0, all = 0, explained = 0;

    tiling->uniform = !tally->differ;
    for (int i = 0; i < tiling->steps; i++) {
        double pairs = count_pairs(tiling, i, tiling->size);

        tiling->bytes[i] /= (double)tally->count[i];
        explained +=
            (double)tally->count[i] * tiling->bytes[i] * tiling->bytes[i];
        if ((double)tally->count[i] != pairs)
            tiling->uniform = false;
        bonds += (double)tally->count[i];
        all += pairs;
    }
    tiling->filled = bonds / all;
    tiling->uneven = tally->squares > 0 ? 1 - explained / tally->squares : 0;
}

/* Whether step i leads from a cell to the one `gap` numbers on, inside the
 * grid: nearly always known without a division. */
static bool leads(const struct nw_tiling *tiling, int i, const int32_t *cell,
                  int32_t gap)
{
    int64_t sum = 0;

    if (i >= tiling->steps)
        return false;
    for (int d = 0; d < tiling->dims; d++) {
        int32_t to = cell[d] + tiling->step[i][d];

        if (to < 0 || to >= tiling->size[d])
            return false;
        sum += (int64_t)tiling->step[i][d] * tiling->stride[d];
    }
    return sum == gap;
}

static bool sum_cell(struct part *part, int32_t p)
{
    const struct nw_layout *layout = part->layout;
    struct nw_tiling *tiling = &part->tiling;
    int32_t cell[NW_TILE_DIMS];
    int last = -1;

    for (int d = 0; d < tiling->dims; d++)
        cell[d] = nw_tiling_at(tiling, p, d);
    for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++) {
        int32_t step[NW_TILE_DIMS] = {0}, peer = layout->bond[b].peer;

        if (peer < p)
            continue;
        if (leads(tiling, last + 1, cell, peer - p))
            last++;
        else if (step_between(tiling, p, peer, step, tiling->periodic))
            last = find_step(tiling, step, last);
        else
            return false;
        if (!add_bond(part, last, layout->bond[b].bytes))
            return false;
    }
    return true;
}

/* On its own stack: parts that stand side by side would share cache lines. */
static void sum_part(void *user, int32_t number)
{
    struct part *part = &((struct parts *)user)->part[number], mine = *part;

    for (int32_t p = mine.begin; mine.found && p < mine.end; p++)
        mine.found = sum_cell(&mine, p);
    *part = mine;
}

/* Adds up one part's steps. */
static bool merge_part(struct nw_tiling *tiling, struct tally *tally,
                       struct part *part)
{
    for (int d = 0; d < tiling->dims; d++)
        tiling->periodic[d] |= part->tiling.periodic[d];
    for (int k = 0; part->found && k < part->tiling.offsets; k++) {
        int i = find_step(tiling, part->tiling.offset[k], k - 1);

        if (i < 0)
            return false;
        if (!tally->count[i])
            tally->first[i] = part->tally.first[k];
        tally->differ |= tally->first[i] != part->tally.first[k];
        tally->count[i] += part->tally.count[k];
        tiling->bytes[i] += part->tiling.bytes[k];
    }
    tally->differ |= part->tally.differ;
    tally->squares += part->tally.squares;
    return part->found;
}

/* Round four cells every move is a neighbour's: a stencil fills its steps,
 * what only happens to fit does not. */
static bool fills_rings(const struct nw_tiling *tiling)
{
    bool rings = false;

    for (int d = 0; d < tiling->dims; d++)
        rings |= tiling->periodic[d] && tiling->size[d] <= 2 * REACH;
    return !rings || tiling->filled >= 0.5;
}

static bool sum_steps(struct parts *parts, struct nw_tiling *tiling)
{
    struct tally tally = {.differ = false};

    for (int32_t i = 0; i < parts->count; i++) {
        parts->part[i].tiling = *tiling;
        parts->part[i].tally = tally;
    }
    nw_crew_run(sum_part, parts, parts->count, parts->threads);
    for (int32_t i = 0; i < parts->count; i++)
        if (!merge_part(tiling, &tally, &parts->part[i]))
            return false;
    finish_steps(tiling, &tally);
    return fills_rings(tiling);
}

/* Two cells side by side look like a longer dimension with every second bond
 * missing: more dimensions count where they leave fewer out. */
static bool find_tiling(const struct nw_layout *layout, struct parts *parts,
                        struct nw_tiling *out)
{
    struct gaps gaps = {0};
    struct nw_tiling tiling;
    struct chains chains = {
        .layout = layout, .gaps = &gaps, .stride = {1}, .best = &tiling};
    bool fits = true;

    if (!read_gaps(parts, &gaps))
        return false;
    out->filled = 0;
    while (fits && out->filled < 1 && chains.wanted++ < NW_TILE_DIMS) {
        chains.least = -1;
        try_chain(&chains, 1);
        fits = chains.least < 0 || sum_steps(parts, &tiling);
        if (fits && chains.least >= 0 && tiling.filled > out->filled)
            *out = tiling;
    }
    return out->filled > 0;
}

nw_status nw_tiling_find(const struct nw_layout *layout, struct nw_tiling *out,
                         bool *found)
{
    struct parts parts;
    nw_status status;

    *found = false;
    if (layout->count < 4)
        return NW_OK;
    status = cut_parts(layout, &parts);
    if (!status)
        *found = find_tiling(layout, &parts, out);
    free(parts.part);
    return status;
}
