/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the best tiling of a grid on a tree: nested boxes, recursive bisections
 * of several kinds, and columns. If the sizes of the grid and of the clusters
 * do not divide each other, none of these is always the best. On small grids,
 * many are tried; on large grids, only as many as cost little time compared
 * with reading the grid. */
#include "map/stencil/grid.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

/* Kinds of cuts (bits of nw_stencil_cut_kind). The first are the most useful on
 * grids of many sizes. */
static const uint16_t best_tiling_kinds[] = {0, 4,  3, 6,  14, 2,  12, 26,
                                             8, 10, 7, 11, 28, 20, 24, 30};
#define KINDS (sizeof best_tiling_kinds / sizeof *best_tiling_kinds)
/* The kinds that are tried first if only few are tried (nw_best_tiling.few). */
static const uint16_t best_tiling_few_kinds[] = {0, 3, 4};
#define FEW_KINDS (sizeof best_tiling_few_kinds / sizeof *best_tiling_few_kinds)
#define COLUMNS_MAX 8 /* most divisions into columns that are tried */

/* Returns true if any slot is fixed. */
static bool best_tiling_any_fixed(const struct nw_assignment *assignment)
{
    for (int32_t s = 0; s < assignment->hierarchy->slots; s++)
        if (assignment->fixed[s])
            return true;
    return false;
}

/* Returns true if the number of cells has only the prime factors 2 and 3 and
 * the grid fills all slots. Then nested boxes can be nearly cubes. */
static bool best_tiling_divides_well(const struct nw_assignment *assignment)
{
    int32_t left = assignment->count;

    while (left % 2 == 0)
        left /= 2;
    while (left % 3 == 0)
        left /= 3;
    return left == 1 && assignment->count == assignment->hierarchy->slots;
}

/* Returns how many tilings may be tried. One tiling reads all edges and cells,
 * and the reads of all tilings together are limited. */
static size_t best_tiling_looks_of(const struct nw_assignment *assignment)
{
    size_t looks = assignment->row[assignment->count] +
                   nw_tuned.tiling.cell_looks * (size_t)assignment->count;

    return (assignment->count > nw_tuned.tiling.large
                ? nw_tuned.tiling.looks_large
                : nw_tuned.tiling.looks) /
           looks;
}

/* Returns true if fewer kinds of cuts are tried; see nw_best_tiling.few. */
static bool best_tiling_are_few(const struct nw_best_tiling *try)
{
    return try->few && try->stencil.dims > 2 && !try->boxed;
}

/* Returns how many kinds of cuts to try. */
static size_t best_tiling_kinds_of(const struct nw_assignment *assignment,
                                   const struct nw_best_tiling *try)
{
    size_t most = best_tiling_looks_of(assignment);

    if (try->once || most < 1 || (most < KINDS && try->boxed))
        return 1;
    if (best_tiling_are_few(try))
        return most / nw_tuned.tiling.few_part > nw_tuned.tiling.few_min
                   ? most / nw_tuned.tiling.few_part
                   : nw_tuned.tiling.few_min;
    return most;
}

/* Returns the i-th kind of cuts to try; 0 after the last one. */
static uint16_t best_tiling_kind_at(const struct nw_best_tiling *try, size_t i)
{
    size_t few = best_tiling_are_few(try) ? FEW_KINDS : 0;

    if (i < few)
        return best_tiling_few_kinds[i];
    return i - few < KINDS ? best_tiling_kinds[i - few] : 0;
}

/* Returns false if an earlier kind gives the same tiling as kind i. If every
 * slot is taken, NW_STENCIL_PACKED changes nothing, so kinds that differ only
 * in it are equal.
 */
static bool best_tiling_is_new(const struct nw_assignment *assignment,
                               const struct nw_best_tiling *try, size_t i)
{
    bool full = assignment->count == assignment->hierarchy->slots;
    int mask = full ? ~NW_STENCIL_PACKED : ~0,
        kind = best_tiling_kind_at(try, i);

    for (size_t k = 0; k < i; k++)
        if (((best_tiling_kind_at(try, k) ^ kind) & mask) == 0)
            return false;
    return true;
}

/* Returns the mean number of cells per child of the root, if as few children as
 * possible hold the grid. */
static double best_tiling_cells_of_child(const struct nw_assignment *assignment)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int level = hierarchy->levels > 1 ? hierarchy->levels - 2 : 0;
    int32_t last = hierarchy->cluster[level][assignment->count - 1];

    return (double)assignment->count / (last + 1);
}

/* Lists the divisions into columns to try in columns[COLUMNS_MAX] and returns
 * their number. There are none if a child of the root gets one cell or all
 * cells, the grid is large, or boxes fit well and time is short. */
static int best_tiling_columns_of(const struct nw_assignment *assignment,
                                  const struct nw_best_tiling *try,
                                  struct nw_stencil_columns *columns)
{
    double each = best_tiling_cells_of_child(assignment);
    size_t most =
        best_tiling_looks_of(assignment) / nw_tuned.tiling.columns_share;

    if (assignment->count > nw_tuned.tiling.large || each <= 1 ||
        each >= assignment->count || (try->boxed && most < COLUMNS_MAX))
        return 0;
    if (most > COLUMNS_MAX)
        most = COLUMNS_MAX;
    return nw_stencil_columns(&try->stencil, each, (int)most, columns);
}

/* A tiling to try: recursive bisection of a kind or, if `columns` is not NULL,
 * a division into columns, in which a piece may continue in the next column. */
struct best_tiling_cut {
    int kind;
    const struct nw_stencil_columns *columns;
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *slot; /* [count] out: the slot of each process */
};

/* Computes the tiling of a struct best_tiling_cut. */
static nw_status best_tiling_run_cut(void *user)
{
    const struct best_tiling_cut *cut = user;

    if (cut->columns)
        return nw_stencil_bisect_columns(cut->assignment, cut->stencil,
                                         cut->columns, cut->slot);
    return nw_stencil_coordinate_bisection(cut->assignment, cut->stencil,
                                           cut->kind, cut->slot);
}

/* Lists the kinds of cuts to try and returns their number. */
static size_t best_tiling_list_kinds(const struct nw_assignment *assignment,
                                     const struct nw_best_tiling *try,
                                     struct best_tiling_cut *list)
{
    size_t most = best_tiling_kinds_of(assignment, try), count = 0;

    for (size_t i = 0; count < most && i < FEW_KINDS + KINDS; i++)
        if (best_tiling_is_new(assignment, try, i))
            list[count++] =
                (struct best_tiling_cut){.kind = best_tiling_kind_at(try, i)};
    return count;
}

/* Moves the processes to a computed tiling if it lowers the cost. */
static nw_status best_tiling_take_cut(struct nw_assignment *assignment,
                                      const struct best_tiling_cut *cut,
                                      struct nw_best_tiling *try)
{
    double before = try->cost;
    nw_status status =
        nw_assignment_take_if_better(assignment, cut->slot, &try->cost);

    if (cut->kind & NW_STENCIL_LAYERS && try->cost < before)
        try->layered = true;
    return status;
}

/* Tries two tilings, at the same time on grids of medium size. On a small grid
 * that does not pay; on a large grid, each tiling uses all threads itself. */
static nw_status best_tiling_take_two(struct nw_assignment *assignment,
                                      struct best_tiling_cut cut[2],
                                      struct nw_best_tiling *try)
{
    struct nw_parallel_task task[] = {
        {.run = best_tiling_run_cut, .user = &cut[0]},
        {.run = best_tiling_run_cut, .user = &cut[1]}};
    bool small = assignment->count < nw_tuned.tiling.paired_min ||
                 assignment->count > nw_tuned.tiling.large;
    nw_status status = nw_parallel_pair(task, small ? 1 : assignment->threads);

    if (!status)
        status = best_tiling_take_cut(assignment, &cut[0], try);
    return status ? status : best_tiling_take_cut(assignment, &cut[1], try);
}

/* Tries list[count] in pairs. slot[2] are two arrays of `count` slots as
 * scratch. */
static nw_status best_tiling_take_listed(struct nw_assignment *assignment,
                                         int32_t *slot[2],
                                         struct best_tiling_cut *list,
                                         size_t count,
                                         struct nw_best_tiling *try)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < count; i++) {
        list[i].assignment = assignment;
        list[i].stencil = &try->stencil;
        list[i].slot = slot[i % 2];
    }
    for (size_t i = 0; !status && i + 1 < count; i += 2)
        status = best_tiling_take_two(assignment, &list[i], try);
    if (status || count % 2 == 0)
        return status;
    status = best_tiling_run_cut(&list[count - 1]);
    return status ? status
                  : best_tiling_take_cut(assignment, &list[count - 1], try);
}

/* Tries the bisections and the columns; slot[count] is scratch. */
static nw_status best_tiling_take_cuts(struct nw_assignment *assignment,
                                       int32_t *slot,
                                       struct nw_best_tiling *try)
{
    struct nw_stencil_columns columns[COLUMNS_MAX];
    struct best_tiling_cut list[FEW_KINDS + KINDS + COLUMNS_MAX];
    size_t count = best_tiling_list_kinds(assignment, try, list);
    int wide = try->once ? 0 : best_tiling_columns_of(assignment, try, columns);
    int32_t *two[2] = {slot, NULL};
    nw_status status;

    for (int i = 0; i < wide; i++)
        list[count++] = (struct best_tiling_cut){.columns = &columns[i]};
    status = nw_alloc_raw((size_t)assignment->count, sizeof *two[1], &two[1]);
    if (!status)
        status = best_tiling_take_listed(assignment, two, list, count, try);
    free(two[1]);
    return status;
}

/* Tries all tilings of the found grid; slot[count] is scratch. */
static nw_status best_tiling_take_best(struct nw_assignment *assignment,
                                       int32_t *slot,
                                       struct nw_best_tiling *try)
{
    const struct nw_stencil *stencil = &try->stencil;
    bool boxes = false;
    nw_status status =
        nw_stencil_nested_boxes(assignment, stencil, slot, &boxes);

    try->boxed = boxes && best_tiling_divides_well(assignment);
    if (!status && boxes)
        status = nw_assignment_take_if_better(assignment, slot, &try->cost);
    /* sizes that are primes allow only boxes that are slabs, so other tilings
     * may be better */
    if (!status)
        status = best_tiling_take_cuts(assignment, slot, try);
    return status;
}

/* Undoes nw_assignment_renumber(assignment, order). */
static nw_status best_tiling_restore_numbers(struct nw_assignment *assignment,
                                             const int32_t *order)
{
    int32_t *back = NULL;
    nw_status status = nw_alloc((size_t)assignment->count, sizeof *back, &back);

    for (int32_t i = 0; !status && i < assignment->count; i++)
        back[order[i]] = i;
    if (!status)
        status = nw_assignment_renumber(assignment, back);
    free(back);
    return status;
}

/* Returns true if a grid explains the edges better than the grid in `try`: more
 * of its edges exist, and it does not have more dimensions. */
static bool best_tiling_explains_more(const struct nw_stencil *stencil,
                                      const struct nw_best_tiling *try)
{
    return !try->found || (stencil->dims <= try->stencil.dims &&
                           stencil->filled > try->stencil.filled);
}

/* Looks for a grid after renumbering the processes by `order`. Keeps the new
 * numbers if that grid explains more edges. */
static nw_status best_tiling_read_renumbered(struct nw_assignment *assignment,
                                             int32_t *order,
                                             struct nw_best_tiling *try)
{
    struct nw_stencil stencil = {0};
    bool found;
    nw_status status = nw_assignment_renumber(assignment, order);

    if (!status)
        status = nw_stencil_find(assignment, &stencil, &found);
    if (status || !(found && best_tiling_explains_more(&stencil, try)))
        return status ? status : best_tiling_restore_numbers(assignment, order);
    try->stencil = stencil;
    try->found = true;
    return NW_OK;
}

/* Looks for a grid under any numbering of the processes. */
static nw_status best_tiling_find_renumbered(struct nw_assignment *assignment,
                                             struct nw_best_tiling *try)
{
    int32_t *order = NULL;
    bool ordered = false;
    nw_status status =
        nw_alloc((size_t)assignment->count, sizeof *order, &order);

    if (!status)
        status = nw_stencil_find_unordered(assignment, order, &ordered);
    if (!status && ordered)
        status = best_tiling_read_renumbered(assignment, order, try);
    free(order);
    return status;
}

/* Returns true if a grid under another numbering should be looked for: no grid
 * was found, or edges are missing and there are so few cells that they may fit
 * a wrong grid by chance. */
static bool best_tiling_is_doubtful(const struct nw_assignment *assignment,
                                    const struct nw_best_tiling *try)
{
    return !try->found || (assignment->count <= nw_tuned.tiling.doubtful_max &&
                           try->stencil.filled < 1);
}

nw_status nw_assignment_best_tiling(struct nw_assignment *assignment,
                                    struct nw_best_tiling *try)
{
    int32_t *slot = NULL;
    nw_status status;

    try->found = false;
    if (best_tiling_any_fixed(assignment))
        return NW_OK;
    status = nw_stencil_find(assignment, &try->stencil, &try->found);
    if (!status && best_tiling_is_doubtful(assignment, try))
        status = best_tiling_find_renumbered(assignment, try);
    if (status || !try->found)
        return status;
    status = nw_alloc((size_t)assignment->count, sizeof *slot, &slot);
    if (!status)
        status = best_tiling_take_best(assignment, slot, try);
    free(slot);
    return status;
}
