/* SPDX-License-Identifier: BSD-3-Clause */
/* First tries whether the edges are all-to-all among equally spaced ranks. Then
 * tries each layout of the ranks as a row-major grid of 1 to 3 dimensions.
 * Keeps the first layout in which the edges form a stencil, see check_tally.
 * Most wrong layouts fail at one of their first edges. */
#include "pattern/grid.h"

#include <string.h>

#define TOLERANCE 0.1

/* Statistics of the edges with each offset code: their number, the smallest and
 * largest bytes of an edge, and the sums of bytes and messages. */
struct grid_tally {
    size_t count[NW_GRID_CODES];
    uint64_t least[NW_GRID_CODES], most[NW_GRID_CODES];
    double bytes[NW_GRID_CODES], messages[NW_GRID_CODES]; /* sums over the edges
                                                             with each offset
                                                             code */
};

int nw_grid_codes(const struct nw_grid *grid)
{
    return grid->dims == 1 ? 3 : grid->dims == 2 ? 9 : 27;
}

void nw_grid_offset(const struct nw_grid *grid, int code, int32_t *offset)
{
    for (int32_t d = grid->dims - 1; d >= 0; d--, code /= 3)
        offset[d] = code % 3 - 1;
}

void nw_grid_coordinates(const struct nw_grid *grid, int32_t rank, int32_t *at)
{
    for (int32_t d = grid->dims - 1; d >= 0; d--) {
        at[d] = rank % grid->size[d];
        rank /= grid->size[d];
    }
}

int32_t nw_grid_neighbour(const struct nw_grid *grid, const bool *periodic,
                          const int32_t *at, const int32_t *offset)
{
    int32_t rank = 0;

    for (int32_t d = 0; d < grid->dims; d++) {
        int32_t size = grid->size[d], to = at[d] + offset[d];

        if ((to < 0 || to >= size) && !periodic[d])
            return -1;
        rank = rank * size + (to + size) % size;
    }
    return rank;
}

/* Returns the offset code of the step between two positions, or -1 if the step
 * is longer than 1 in a dimension. In a dimension of more than 2 positions, a
 * step from the first to the last position, or back, counts as a step of 1 and
 * sets found->periodic. */
static int code_of(struct nw_grid_found *found, const int32_t *from,
                   const int32_t *to)
{
    int code = 0;

    for (int32_t d = 0; d < found->grid.dims; d++) {
        int32_t step = to[d] - from[d], size = found->grid.size[d];

        if (size > 2 && (step == size - 1 || step == 1 - size)) {
            found->periodic[d] = true;
            step = step > 0 ? -1 : 1;
        }
        if (step < -1 || step > 1)
            return -1;
        code = code * 3 + step + 1;
    }
    return code;
}

/* Adds the edges of one kind to the tally. Returns false if an edge does not
 * lead to a neighbour in this layout. */
static bool take_edges(const nw_pattern *p, enum nw_kind kind,
                       struct nw_grid_found *found, struct grid_tally *tally)
{
    for (int32_t r = 0; r < p->rank_count; r++) {
        int32_t from[NW_SPEC_DIMS], to[NW_SPEC_DIMS];

        nw_grid_coordinates(&found->grid, r, from);
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++) {
            int code;

            if (p->kind[e] != kind)
                continue;
            nw_grid_coordinates(&found->grid, p->dst[e], to);
            code = code_of(found, from, to);
            if (code < 0)
                return false;
            if (!tally->count[code]++)
                tally->least[code] = p->bytes[e];
            if (p->bytes[e] < tally->least[code])
                tally->least[code] = p->bytes[e];
            if (p->bytes[e] > tally->most[code])
                tally->most[code] = p->bytes[e];
            tally->bytes[code] += (double)p->bytes[e];
            tally->messages[code] += (double)p->messages[e];
        }
    }
    return true;
}

/* Returns how many ranks have a neighbour at the offset of this code in the
 * grid, with the periodic dimensions that were found. */
static size_t expected_count(const struct nw_grid_found *found, int code)
{
    int32_t offset[NW_SPEC_DIMS];
    size_t count = 1;

    nw_grid_offset(&found->grid, code, offset);
    for (int32_t d = 0; d < found->grid.dims; d++)
        count *=
            (size_t)(found->grid.size[d] - (offset[d] && !found->periodic[d]));
    return count;
}

/* Returns the number of dimensions in which an offset is not 0. */
static int dims_left(const struct nw_grid *grid, int code)
{
    int32_t offset[NW_SPEC_DIMS];
    int left = 0;

    nw_grid_offset(grid, code, offset);
    for (int32_t d = 0; d < grid->dims; d++)
        left += offset[d] != 0;
    return left;
}

static uint64_t mean_of(double sum, size_t count)
{
    return (uint64_t)(sum / (double)count + 0.5);
}

/* Checks that the edges form a stencil: all offsets in exactly one dimension
 * occur, and all or none of the offsets in several dimensions. Each offset must
 * occur on all ranks that have a neighbour there, with similar bytes. Fills
 * `active`, `bytes` and `messages` of *found. */
static bool check_tally(struct nw_grid_found *found,
                        const struct grid_tally *tally)
{
    int diagonals = 0, codes = nw_grid_codes(&found->grid);
    int all = codes - 1 - 2 * found->grid.dims;

    for (int code = 0; code < codes; code++) {
        int left = dims_left(&found->grid, code);
        double mean = tally->bytes[code] / (double)tally->count[code];

        if (!tally->count[code] && left == 1)
            return false;
        if (!tally->count[code])
            continue;
        if (tally->count[code] != expected_count(found, code) ||
            (double)(tally->most[code] - tally->least[code]) > TOLERANCE * mean)
            return false;
        diagonals += left > 1;
        found->active[code] = true;
        found->bytes[code] = mean_of(tally->bytes[code], tally->count[code]);
        found->messages[code] =
            mean_of(tally->messages[code], tally->count[code]);
    }
    return !diagonals || diagonals == all;
}

static bool try_grid(const nw_pattern *p, enum nw_kind kind,
                     struct nw_grid_found *out)
{
    struct nw_grid grid = out->grid;
    struct grid_tally tally = {0};

    *out = (struct nw_grid_found){.grid = grid};
    return take_edges(p, kind, out, &tally) && check_tally(out, &tally);
}

/* Tries stencils on all grids of 1, 2 and 3 dimensions. */
static bool try_stencils(const nw_pattern *p, enum nw_kind kind,
                         struct nw_grid_found *out)
{
    int32_t n = p->rank_count;

    out->grid = (struct nw_grid){1, {n}};
    if (try_grid(p, kind, out))
        return true;
    for (int32_t a = 2; a <= n / 2; a++) {
        out->grid = (struct nw_grid){2, {a, n / a}};
        if (n % a == 0 && try_grid(p, kind, out))
            return true;
    }
    for (int32_t a = 2; a <= n / 4; a++)
        for (int32_t b = 2; n % a == 0 && b <= n / a / 2; b++) {
            out->grid = (struct nw_grid){3, {a, b, n / a / b}};
            if (n / a % b == 0 && try_grid(p, kind, out))
                return true;
        }
    return false;
}

/* Tries all-to-all, with similar bytes, among the ranks that are equal modulo n
 * / group. `group`, the number of such ranks, follows from the number of edges
 * per rank. */
static bool try_col(const nw_pattern *p, enum nw_kind kind,
                    struct nw_grid_found *out)
{
    struct nw_pattern_total total = nw_pattern_total_of(p, kind);
    int32_t n = p->rank_count, group = (int32_t)(total.edges / (size_t)n) + 1;
    uint64_t least = UINT64_MAX, most = 0;

    if (n % group || total.edges != (size_t)n * (size_t)(group - 1))
        return false;
    for (int32_t r = 0; r < n; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++) {
            if (p->kind[e] != kind)
                continue;
            if (p->dst[e] == r || (p->dst[e] - r) % (n / group))
                return false;
            least = p->bytes[e] < least ? p->bytes[e] : least;
            most = p->bytes[e] > most ? p->bytes[e] : most;
        }
    *out = (struct nw_grid_found){.grid = {2, {group, n / group}}, .col = true};
    out->bytes[0] = mean_of((double)total.bytes, total.edges);
    out->messages[0] = mean_of((double)total.messages, total.edges);
    return (double)(most - least) <= TOLERANCE * (double)out->bytes[0];
}

bool nw_grid_find(const nw_pattern *pattern, enum nw_kind kind,
                  struct nw_grid_found *out)
{
    if (pattern->rank_count < 2 || !nw_pattern_total_of(pattern, kind).edges)
        return false;
    /* try_col first: a small all-to-all is also a stencil on a tiny torus */
    return try_col(pattern, kind, out) || try_stencils(pattern, kind, out);
}
