/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of the ways to put a grid on a tree: boxes, cuts of
 * several kinds, columns and snakes, of which none is the best where sizes do
 * not divide. Small grids try many of them, large ones as many as cost little
 * beside reading the grid. */
#include "map/stencil/grid.h"
#include "base/array.h"
#include "base/crew.h"

#include <stdlib.h>

#define EVENLY NW_TILE_EVENLY
/* The most useful first, as far as they were tried on grids of many sizes. */
static const uint16_t ways[] = {
    0,  EVENLY, 4, EVENLY | 4, 3, EVENLY | 1, 6,  14, 2,  EVENLY | 12,
    12, 26,     8, 10,         7, 11,         28, 20, 24, 30};
#define WAYS (sizeof ways / sizeof *ways)
/* The first ones, and that part of the looks, where sections follow. */
static const uint16_t few_ways[] = {0, 3, EVENLY, 4};
#define FEW_WAYS (sizeof few_ways / sizeof *few_ways)
#define FEW_LEAST 4
#define FEW_PART 4
#define LOOKS 2500000 /* at cells and bonds, all ways together */
#define LOOKS_LARGE 9000000
#define LARGE 32768        /* cells beyond which more looks are worth it */
#define PAIRED_LEAST 4096  /* cells, for a cut to outlast a thread's start */
#define SNAKES_ALWAYS 4096 /* cells at most */
#define COLUMNS_MOST 8
#define COLUMNS_SHARE 8   /* of what the other ways may cost */
#define LOOKS_OF_CELL 4   /* what a cell costs beside a bond */
#define DOUBTFUL_MOST 125 /* cells: three dimensions of five */

static bool any_fixed(const struct nw_layout *layout)
{
    for (int32_t s = 0; s < layout->tree->seats; s++)
        if (layout->fixed[s])
            return true;
    return false;
}

/* Nothing but twos and threes, no seat free: boxes are near to cubes. */
static bool divides_well(const struct nw_layout *layout)
{
    int32_t left = layout->count;

    while (left % 2 == 0)
        left /= 2;
    while (left % 3 == 0)
        left /= 3;
    return left == 1 && layout->count == layout->tree->seats;
}

/* So many answers may be looked at. */
static size_t looks_of(const struct nw_layout *layout)
{
    size_t looks =
        layout->row[layout->count] + LOOKS_OF_CELL * (size_t)layout->count;

    return (layout->count > LARGE ? LOOKS_LARGE : LOOKS) / looks;
}

static bool are_few(const struct nw_tile_try *try)
{
    return try->few && try->tiling.dims > 2 && !try->boxed;
}

static size_t ways_of(const struct nw_layout *layout,
                      const struct nw_tile_try *try)
{
    size_t most = looks_of(layout);

    if (try->once || most < 1 || (most < WAYS && try->boxed))
        return 1;
    if (are_few(try))
        return most / FEW_PART > FEW_LEAST ? most / FEW_PART : FEW_LEAST;
    return most;
}

/* Way number i; 0 beyond the last. */
static uint16_t way_at(const struct nw_tile_try *try, size_t i)
{
    size_t few = are_few(try) ? FEW_WAYS : 0;

    if (i < few)
        return few_ways[i];
    return i - few < WAYS ? ways[i - few] : 0;
}

/* Large grids only along what outweighs the rest. */
static int snakes_of(const struct nw_layout *layout,
                     const struct nw_tiling *tiling)
{
    int all = nw_tiling_snakes(tiling);
    size_t most = looks_of(layout);

    if (layout->count > SNAKES_ALWAYS)
        most = nw_tiling_is_level(tiling) ? 0 : most + 1;
    return most < (size_t)all ? (int)most : all;
}

static nw_status take_snakes(struct nw_layout *layout, int32_t *seat,
                             struct nw_tile_try *try)
{
    int count = snakes_of(layout, &try->tiling);
    nw_status status = NW_OK;

    for (int i = 0; !status && i < count; i++) {
        nw_tiling_snake(&try->tiling, i, layout->count, seat);
        status = nw_layout_take_if_better(layout, seat, &try->cost);
    }
    return status;
}

/* Where every seat is taken, packing changes nothing: such ways come down to
 * others. False for what was tried before. */
static bool is_new(const struct nw_layout *layout, bool even,
                   const struct nw_tile_try *try, size_t i)
{
    bool full = layout->count == layout->tree->seats;
    int mask = full ? ~NW_TILE_PACKED : ~0, way = way_at(try, i);

    if (way & EVENLY)
        mask = ~0;
    for (size_t k = 0; k < i; k++)
        if (((way_at(try, k) ^ way) & mask) == 0)
            return false;
    return even || !(way & EVENLY);
}

/* As few children of the root as hold all of the grid. */
static double cells_of_child(const struct nw_layout *layout)
{
    const struct nw_tree *tree = layout->tree;
    int level = tree->levels > 1 ? tree->levels - 2 : 0;
    int32_t last = tree->cluster[level][layout->count - 1];

    return (double)layout->count / (last + 1);
}

static int columns_of(const struct nw_layout *layout,
                      const struct nw_tile_try *try,
                      struct nw_tile_columns *columns)
{
    double each = cells_of_child(layout);
    size_t most = looks_of(layout) / COLUMNS_SHARE;

    if (layout->count > LARGE || each <= 1 || each >= layout->count ||
        (try->boxed && most < COLUMNS_MOST))
        return 0;
    if (most > COLUMNS_MOST)
        most = COLUMNS_MOST;
    return nw_tiling_columns(&try->tiling, each, (int)most, columns);
}

/* One of the cuts to take: a way or, where sizes do not divide, columns, of
 * which pieces reach round a corner. */
struct cut {
    int way;
    const struct nw_tile_columns *columns;
    const struct nw_layout *layout;
    const struct nw_tiling *tiling;
    int32_t *seat;
};

static nw_status run_cut(void *user)
{
    const struct cut *cut = user;

    if (cut->columns)
        return nw_tiling_cut_columns(cut->layout, cut->tiling, cut->columns,
                                     cut->seat);
    return nw_tiling_cut(cut->layout, cut->tiling, cut->way, cut->seat);
}

static size_t list_ways(const struct nw_layout *layout,
                        const struct nw_tile_try *try, struct cut *list)
{
    size_t most = ways_of(layout, try), count = 0;
    bool even = nw_tiling_may_even(layout);

    for (size_t i = 0; count < most && i < FEW_WAYS + WAYS; i++)
        if (is_new(layout, even, try, i))
            list[count++] = (struct cut){.way = way_at(try, i)};
    return count;
}

static nw_status take_cut(struct nw_layout *layout, const struct cut *cut,
                          struct nw_tile_try *try)
{
    double before = try->cost;
    nw_status status = nw_layout_take_if_better(layout, cut->seat, &try->cost);

    if (cut->way & NW_TILE_LAYERS && try->cost < before)
        try->layered = true;
    return status;
}

/* Two at once: a large grid is shared out within each. */
static nw_status take_two(struct nw_layout *layout, struct cut cut[2],
                          struct nw_tile_try *try)
{
    struct nw_crew_task task[] = {{.run = run_cut, .user = &cut[0]},
                                  {.run = run_cut, .user = &cut[1]}};
    bool small = layout->count < PAIRED_LEAST || layout->count > LARGE;
    nw_status status = nw_crew_pair(task, small ? 1 : layout->threads);

    if (!status)
        status = take_cut(layout, &cut[0], try);
    return status ? status : take_cut(layout, &cut[1], try);
}

static nw_status take_listed(struct nw_layout *layout, int32_t *seat[2],
                             struct cut *list, size_t count,
                             struct nw_tile_try *try)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < count; i++) {
        list[i].layout = layout;
        list[i].tiling = &try->tiling;
        list[i].seat = seat[i % 2];
    }
    for (size_t i = 0; !status && i + 1 < count; i += 2)
        status = take_two(layout, &list[i], try);
    if (status || count % 2 == 0)
        return status;
    status = run_cut(&list[count - 1]);
    return status ? status : take_cut(layout, &list[count - 1], try);
}

static nw_status take_cuts(struct nw_layout *layout, int32_t *seat,
                           struct nw_tile_try *try)
{
    struct nw_tile_columns columns[COLUMNS_MOST];
    struct cut list[FEW_WAYS + WAYS + COLUMNS_MOST];
    size_t count = list_ways(layout, try, list);
    int wide = try->once ? 0 : columns_of(layout, try, columns);
    int32_t *two[2] = {seat, NULL};
    nw_status status;

    for (int i = 0; i < wide; i++)
        list[count++] = (struct cut){.columns = &columns[i]};
    status = nw_alloc_raw((size_t)layout->count, sizeof *two[1], &two[1]);
    if (!status)
        status = take_listed(layout, two, list, count, try);
    free(two[1]);
    return status;
}

static nw_status take_best(struct nw_layout *layout, int32_t *seat,
                           struct nw_tile_try *try)
{
    const struct nw_tiling *tiling = &try->tiling;
    bool boxes = false;
    nw_status status = nw_tiling_boxes(layout, tiling, seat, &boxes);

    try->boxed = boxes && divides_well(layout);
    if (!status && boxes)
        status = nw_layout_take_if_better(layout, seat, &try->cost);
    /* boxes that divide may be slabs of a prime: cut in any case */
    if (!status)
        status = take_cuts(layout, seat, try);
    return status || try->once ? status : take_snakes(layout, seat, try);
}

static nw_status restore_numbers(struct nw_layout *layout, const int32_t *order)
{
    int32_t *back = NULL;
    nw_status status = nw_alloc((size_t)layout->count, sizeof *back, &back);

    for (int32_t i = 0; !status && i < layout->count; i++)
        back[order[i]] = i;
    if (!status)
        status = nw_layout_renumber(layout, back);
    free(back);
    return status;
}

/* Whether the same bonds are more of those that the grid would have, and not
 * because it has a dimension more. */
static bool explains_more(const struct nw_tiling *tiling,
                          const struct nw_tile_try *try)
{
    return !try->found || (tiling->dims <= try->tiling.dims &&
                           tiling->filled > try->tiling.filled);
}

/* Ranks dealt anew hide a grid from who looks at their numbers, or show
 * another one. */
static nw_status read_renumbered(struct nw_layout *layout, int32_t *order,
                                 struct nw_tile_try *try)
{
    struct nw_tiling tiling = {0};
    bool found;
    nw_status status = nw_layout_renumber(layout, order);

    if (!status)
        status = nw_tiling_find(layout, &tiling, &found);
    if (status || !(found && explains_more(&tiling, try)))
        return status ? status : restore_numbers(layout, order);
    try->tiling = tiling;
    try->found = true;
    return NW_OK;
}

static nw_status find_renumbered(struct nw_layout *layout,
                                 struct nw_tile_try *try)
{
    int32_t *order = NULL;
    bool ordered = false;
    nw_status status = nw_alloc((size_t)layout->count, sizeof *order, &order);

    if (!status)
        status = nw_tiling_order(layout, order, &ordered);
    if (!status && ordered)
        status = read_renumbered(layout, order, try);
    free(order);
    return status;
}

/* Few cells fit on some grid under any numbers. */
static bool is_doubtful(const struct nw_layout *layout,
                        const struct nw_tile_try *try)
{
    return !try->found ||
           (layout->count <= DOUBTFUL_MOST && try->tiling.filled < 1);
}

nw_status nw_layout_tile(struct nw_layout *layout, struct nw_tile_try *try)
{
    int32_t *seat = NULL;
    nw_status status;

    try->found = false;
    if (any_fixed(layout))
        return NW_OK;
    status = nw_tiling_find(layout, &try->tiling, &try->found);
    if (!status && is_doubtful(layout, try))
        status = find_renumbered(layout, try);
    if (status || !try->found)
        return status;
    status = nw_alloc((size_t)layout->count, sizeof *seat, &seat);
    if (!status)
        status = take_best(layout, seat, try);
    free(seat);
    return status;
}
