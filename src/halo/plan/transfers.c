/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the source of every ghost cell, except those outside an open border,
 * which have none. A box of ghost cells is split at the sides of the domain:
 * cells outside the domain come from its opposite side, or are mirrored. The
 * parts are then intersected with the boxes of the pieces that own the source
 * cells. */
#include "halo/plan/layout.h"
#include "halo/plan/neighbour_grid.h"

#include "base/array.h"

#include <stdlib.h>

/* A run of ghost cells low <= c < high along one axis, and its source cells in
 * the domain. Ghost cell low + i comes from cell source + i, or from source - i
 * if `mirror` is true. */
struct transfers_run {
    int64_t low, high, source;
    bool mirror;
};

struct runs {
    struct transfers_run run[3];
    int count;
};

static void transfers_add_run(struct runs *runs, struct transfers_run run)
{
    if (run.low < run.high)
        runs->run[runs->count++] = run;
}

static int64_t transfers_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t transfers_most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Splits the ghost cells low <= c < high along an axis into runs below, inside
 * and above the domain. Adds no run outside an open border. */
static void find_runs(const struct nw_halo_domain *domain, int axis,
                      int64_t low, int64_t high, struct runs *out)
{
    int64_t n = domain->extent[axis];
    enum nw_halo_border below = domain->border[axis][0];
    enum nw_halo_border above = domain->border[axis][1];

    out->count = 0;
    if (below == NW_HALO_PERIODIC)
        transfers_add_run(out,
                          (struct transfers_run){low, transfers_least(high, 0),
                                                 low + n, false});
    else if (below == NW_HALO_MIRROR)
        transfers_add_run(out,
                          (struct transfers_run){low, transfers_least(high, 0),
                                                 -1 - low, true});
    transfers_add_run(out, (struct transfers_run){
                               transfers_most(low, 0), transfers_least(high, n),
                               transfers_most(low, 0), false});
    if (above == NW_HALO_PERIODIC)
        transfers_add_run(
            out, (struct transfers_run){transfers_most(low, n), high,
                                        transfers_most(low, n) - n, false});
    else if (above == NW_HALO_MIRROR)
        transfers_add_run(out, (struct transfers_run){
                                   transfers_most(low, n), high,
                                   2 * n - 1 - transfers_most(low, n), true});
}

/* Sets *out to the part of a run whose source cells are in first <= c < last.
 * Returns false if it is empty. */
static bool transfers_meet(const struct transfers_run *run, int64_t first,
                           int64_t last, struct transfers_run *out)
{
    int64_t count = run->high - run->low;
    int64_t skip = run->mirror ? run->source - (last - 1) : first - run->source;
    int64_t end = run->mirror ? run->source - first + 1 : last - run->source;

    skip = transfers_most(skip, 0);
    end = transfers_least(end, count);
    if (skip >= end)
        return false;
    *out = *run;
    out->low = run->low + skip;
    out->high = run->low + end;
    out->source = run->mirror ? run->source - skip : run->source + skip;
    return true;
}

struct finder {
    const struct nw_halo_wanted *wanted;
    struct nw_halo_transfers *out;
    struct nw_halo_neighbour_grid nearby;
    int32_t target;
    uint8_t phase;
};

static void set_axis(struct nw_halo_transfer *transfer, int axis,
                     const struct transfers_run *part,
                     const struct nw_halo_piece *ends[2])
{
    int64_t count = part->high - part->low;
    int64_t source = part->mirror ? part->source - count + 1 : part->source;

    transfer->source[axis] =
        source - ends[0]->box.low[axis] + ends[0]->low_ghost[axis];
    transfer->target[axis] =
        part->low - ends[1]->box.low[axis] + ends[1]->low_ghost[axis];
    transfer->extent[axis] = count;
    transfer->mirror |= (uint8_t)(part->mirror << axis);
}

/* Adds a transfer for the intersection of the runs with the source piece's box.
 * Along axes in `whole` (bits), the transfer also includes ghost cells; there,
 * the boxes of both pieces must begin at the same cell. Adds nothing if they do
 * not, or if the intersection is empty. */
static nw_status meet_piece(struct finder *finder, int32_t source,
                            const struct transfers_run *run[3], unsigned whole)
{
    const nw_halo_layout *layout = finder->wanted->layout;
    const struct nw_halo_piece *ends[2] = {&layout->piece[source],
                                           &layout->piece[finder->target]};
    struct nw_halo_transfer transfer = {
        .from = source, .to = finder->target, .phase = finder->phase};
    struct nw_halo_transfers *out = finder->out;
    nw_status status;

    for (int axis = 0; axis < 3; axis++) {
        struct transfers_run part = *run[axis];
        bool same = ends[0]->box.low[axis] == ends[1]->box.low[axis];

        if (whole & 1u << axis
                ? !same
                : !transfers_meet(run[axis], ends[0]->box.low[axis],
                                  ends[0]->box.high[axis], &part))
            return NW_OK;
        set_axis(&transfer, axis, &part, ends);
    }
    status =
        nw_grow(&out->item, &out->capacity, out->count + 1, sizeof *out->item);
    if (!status)
        out->item[out->count++] = transfer;
    return status;
}

/* Returns the box of the source cells of three runs. Along axes in `whole`
 * (bits), it is the box of the run's own cells. */
static struct nw_halo_box box_behind(const struct transfers_run *run[3],
                                     unsigned whole)
{
    struct nw_halo_box box;

    for (int axis = 0; axis < 3; axis++) {
        int64_t count = run[axis]->high - run[axis]->low;
        bool back = run[axis]->mirror;

        box.low[axis] = whole & 1u << axis ? run[axis]->low
                        : back             ? run[axis]->source - count + 1
                                           : run[axis]->source;
        box.high[axis] = box.low[axis] + count;
    }
    return box;
}

/* Adds the transfers from all pieces that own source cells of the runs. */
static nw_status meet_pieces(struct finder *finder,
                             const struct transfers_run *run[3], unsigned whole)
{
    const struct nw_halo_wanted *wanted = finder->wanted;
    const nw_halo_layout *layout = wanted->layout;
    struct nw_halo_box box = box_behind(run, whole);
    bool all =
        wanted->rank < 0 || layout->piece[finder->target].rank == wanted->rank;
    int32_t count = nw_halo_neighbour_grid_find(&finder->nearby, &box);
    nw_status status = NW_OK;

    for (int32_t i = 0; !status && i < count; i++) {
        int32_t piece = finder->nearby.found[i];

        if (all || layout->piece[piece].rank == wanted->rank)
            status = meet_piece(finder, piece, run, whole);
    }
    return status;
}

static nw_status meet_runs(struct finder *finder, const struct runs runs[3],
                           unsigned whole)
{
    nw_status status = NW_OK;

    for (int k = 0; k < runs[2].count; k++)
        for (int j = 0; j < runs[1].count; j++)
            for (int i = 0; !status && i < runs[0].count; i++) {
                const struct transfers_run *run[3] = {
                    &runs[0].run[i], &runs[1].run[j], &runs[2].run[k]};

                status = meet_pieces(finder, run, whole);
            }
    return status;
}

static void ghost_range(const struct nw_halo_piece *piece, int axis, int side,
                        int64_t depth, int64_t out[2])
{
    int64_t low = piece->box.low[axis], high = piece->box.high[axis];

    out[0] = side < 0 ? low - depth : side > 0 ? high : low;
    out[1] = side < 0 ? low : side > 0 ? high + depth : high;
}

static nw_status find_direction(struct finder *finder, int direction)
{
    const nw_halo_layout *layout = finder->wanted->layout;
    const struct nw_halo_domain *domain = &layout->domain;
    struct runs runs[3];

    if (!domain->radius[direction])
        return NW_OK;
    for (int axis = 0; axis < 3; axis++) {
        int64_t range[2];

        ghost_range(&layout->piece[finder->target], axis,
                    nw_halo_component(direction, axis),
                    domain->radius[direction], range);
        find_runs(domain, axis, range[0], range[1], &runs[axis]);
    }
    return meet_runs(finder, runs, 0);
}

/* Returns the cells that a transfer covers along an axis that an earlier phase
 * has exchanged: the piece's own cells and the ghost cells that the earlier
 * phase has filled. */
static struct transfers_run with_ghosts(const nw_halo_layout *layout,
                                        const struct nw_halo_piece *piece,
                                        int axis)
{
    const enum nw_halo_border *border = layout->domain.border[axis];
    int64_t low = piece->box.low[axis], high = piece->box.high[axis];

    low -= piece->low_ghost[axis];
    high += piece->high_ghost[axis];
    if (border[0] == NW_HALO_OPEN)
        low = transfers_most(low, 0);
    if (border[1] == NW_HALO_OPEN)
        high = transfers_least(high, layout->domain.extent[axis]);
    return (struct transfers_run){low, high, low, false};
}

static nw_status find_phase(struct finder *finder, int side)
{
    const nw_halo_layout *layout = finder->wanted->layout;
    const struct nw_halo_piece *piece = &layout->piece[finder->target];
    struct runs runs[3];
    unsigned whole = 0;

    for (int axis = 0; axis < 3; axis++) {
        int64_t range[2];
        int64_t depth =
            side < 0 ? piece->low_ghost[axis] : piece->high_ghost[axis];

        if (axis < finder->phase) {
            whole |= 1u << axis;
            runs[axis] = (struct runs){
                .run = {with_ghosts(layout, piece, axis)}, .count = 1};
            continue;
        }
        ghost_range(piece, axis, axis == finder->phase ? side : 0, depth,
                    range);
        find_runs(&layout->domain, axis, range[0], range[1], &runs[axis]);
    }
    return meet_runs(finder, runs, whole);
}

static nw_status find_target(struct finder *finder)
{
    nw_status status = NW_OK;

    if (!finder->wanted->phased) {
        for (int d = 0; !status && d < 27; d++)
            status = find_direction(finder, d);
        return status;
    }
    for (finder->phase = 0; !status && finder->phase < 3; finder->phase++) {
        status = find_phase(finder, -1);
        if (!status)
            status = find_phase(finder, 1);
    }
    return status;
}

nw_status nw_halo_transfers_find(const struct nw_halo_wanted *wanted,
                                 struct nw_halo_transfers *out)
{
    struct finder finder = {.wanted = wanted, .out = out};
    nw_status status =
        nw_halo_neighbour_grid_make(wanted->layout, &finder.nearby);

    for (int32_t i = 0; !status && i < wanted->layout->piece_count; i++) {
        finder.target = i;
        finder.phase = 0;
        status = find_target(&finder);
    }
    nw_halo_neighbour_grid_fini(&finder.nearby);
    return status;
}

void nw_halo_transfers_fini(struct nw_halo_transfers *transfers)
{
    free(transfers->item);
    *transfers = (struct nw_halo_transfers){0};
}

/* Returns true if the ghost box of an edge or corner has the same depth as
 * those of the adjacent faces, apart from axes with only one cell. True for
 * faces. */
static bool is_full(const struct nw_halo_domain *domain, int direction)
{
    static const int power[3] = {1, 3, 9};

    for (int axis = 0; axis < 3; axis++) {
        int side = nw_halo_component(direction, axis);

        if (side && domain->extent[axis] > 1 &&
            domain->radius[13 + side * power[axis]] !=
                domain->radius[direction])
            return false;
    }
    return true;
}

bool nw_halo_can_phase(const nw_halo_layout *layout)
{
    static const int power[3] = {1, 3, 9};

    if (!layout->tensor)
        return false;
    for (int d = 0; d < 27; d++) {
        bool here = d != 13;

        /* skip unused directions along an axis without ghosts */
        for (int axis = 0; axis < 3; axis++) {
            int side = nw_halo_component(d, axis);

            if (side && !layout->domain.radius[13 + side * power[axis]])
                here = here && layout->domain.radius[d];
        }
        if (here && !is_full(&layout->domain, d))
            return false;
    }
    return true;
}
