/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the best embedding of a grid on a tree: an assignment of cells to
 * slots. Tries nested boxes, recursive bisections of several kinds, and
 * columns. If the sizes of the grid and of the clusters do not divide each
 * other, none of these is always the best. On small grids many are tried, on
 * large grids only as many as cost little time compared with reading the grid.
 */
#include "map/stencil/grid.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"

#include <stdlib.h>

/* Kinds of coordinate bisection to try, as bits of nw_stencil_cut_kind. The
 * first ones are the most useful on grids of many sizes. */
static const uint16_t best_embedding_kinds[] = {0, 4,  3, 6,  14, 2,  12, 26,
                                                8, 10, 7, 11, 28, 20, 24, 30};
#define KINDS (sizeof best_embedding_kinds / sizeof *best_embedding_kinds)
/* The kinds to try first if nw_best_embedding.few is set. */
static const uint16_t best_embedding_few_kinds[] = {0, 3, 4};
#define FEW_KINDS                                                              \
    (sizeof best_embedding_few_kinds / sizeof *best_embedding_few_kinds)
#define COLUMNS_MAX 8 /* most divisions into columns to try */

/* Returns true if any slot is fixed. */
static bool best_embedding_any_fixed(const struct nw_assignment *assignment)
{
    for (int32_t s = 0; s < assignment->hierarchy->slots; s++)
        if (assignment->fixed[s])
            return true;
    return false;
}

/* Returns true if the number of cells has only the prime factors 2 and 3, and
 * every slot gets a cell. Then nested boxes can be nearly cubes. */
static bool best_embedding_divides_well(const struct nw_assignment *assignment)
{
    int32_t left = assignment->count;

    while (left % 2 == 0)
        left /= 2;
    while (left % 3 == 0)
        left /= 3;
    return left == 1 && assignment->count == assignment->hierarchy->slots;
}

/* Returns how many embeddings may be tried. Each of them reads all edges and
 * cells once, and the number of reads of all embeddings together is limited. */
static size_t best_embedding_looks_of(const struct nw_assignment *assignment)
{
    size_t looks = assignment->row[assignment->count] +
                   nw_tuned.tiling.cell_looks * (size_t)assignment->count;

    return (assignment->count > nw_tuned.tiling.large
                ? nw_tuned.tiling.looks_large
                : nw_tuned.tiling.looks) /
           looks;
}

/* Returns true if few kinds of bisection are tried: the caller has set
 * try->few, the grid has three or more dimensions, and boxes do not fit it
 * well. */
static bool best_embedding_are_few(const struct nw_best_embedding *try)
{
    return try->few && try->stencil.dims > 2 && !try->boxed;
}

/* Returns how many kinds of bisection to try. */
static size_t best_embedding_kinds_of(const struct nw_assignment *assignment,
                                      const struct nw_best_embedding *try)
{
    size_t most = best_embedding_looks_of(assignment);

    if (try->once || most < 1 || (most < KINDS && try->boxed))
        return 1;
    if (best_embedding_are_few(try))
        return most / nw_tuned.tiling.few_part > nw_tuned.tiling.few_min
                   ? most / nw_tuned.tiling.few_part
                   : nw_tuned.tiling.few_min;
    return most;
}

/* Returns the i-th kind of bisection to try, as bits of nw_stencil_cut_kind; 0
 * after the last one. */
static uint16_t best_embedding_kind_at(const struct nw_best_embedding *try,
                                       size_t i)
{
    size_t few = best_embedding_are_few(try) ? FEW_KINDS : 0;

    if (i < few)
        return best_embedding_few_kinds[i];
    return i - few < KINDS ? best_embedding_kinds[i - few] : 0;
}

/* Returns true if no earlier kind gives the same embedding as the i-th kind of
 * bisection. If every slot gets a cell, NW_STENCIL_PACKED changes nothing. */
static bool best_embedding_is_new(const struct nw_assignment *assignment,
                                  const struct nw_best_embedding *try, size_t i)
{
    bool full = assignment->count == assignment->hierarchy->slots;
    int mask = full ? ~NW_STENCIL_PACKED : ~0,
        kind = best_embedding_kind_at(try, i);

    for (size_t k = 0; k < i; k++)
        if (((best_embedding_kind_at(try, k) ^ kind) & mask) == 0)
            return false;
    return true;
}

/* Returns the mean number of cells on a child of the root, if the grid uses as
 * few children as possible. */
static double
best_embedding_cells_of_child(const struct nw_assignment *assignment)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int level = hierarchy->levels > 1 ? hierarchy->levels - 2 : 0;
    int32_t last = hierarchy->cluster[level][assignment->count - 1];

    return (double)assignment->count / (last + 1);
}

/* Lists the divisions into columns to try in columns[COLUMNS_MAX] and returns
 * their number. It is 0 if each child of the root gets one cell, one child gets
 * all cells, the grid is large, or boxes fit well and time is short. */
static int best_embedding_columns_of(const struct nw_assignment *assignment,
                                     const struct nw_best_embedding *try,
                                     struct nw_stencil_columns *columns)
{
    double each = best_embedding_cells_of_child(assignment);
    size_t most =
        best_embedding_looks_of(assignment) / nw_tuned.tiling.columns_share;

    if (assignment->count > nw_tuned.tiling.large || each <= 1 ||
        each >= assignment->count || (try->boxed && most < COLUMNS_MAX))
        return 0;
    if (most > COLUMNS_MAX)
        most = COLUMNS_MAX;
    return nw_stencil_columns(&try->stencil, each, (int)most, columns);
}

/* An embedding to try: a division into columns if `columns` is not NULL, else a
 * recursive bisection of the kind `kind`. */
struct best_embedding_cut {
    int kind;
    const struct nw_stencil_columns *columns;
    const struct nw_assignment *assignment;
    const struct nw_stencil *stencil;
    int32_t *slot; /* [count] out: slot of each process in the embedding */
};

/* Computes the embedding of the struct best_embedding_cut `user`; a task for
 * threads.
 */
static nw_status best_embedding_run_cut(void *user)
{
    const struct best_embedding_cut *cut = user;

    if (cut->columns)
        return nw_stencil_bisect_columns(cut->assignment, cut->stencil,
                                         cut->columns, cut->slot);
    return nw_stencil_coordinate_bisection(cut->assignment, cut->stencil,
                                           cut->kind, cut->slot);
}

/* Lists the kinds of bisection to try in list[] and returns their number. */
static size_t best_embedding_list_kinds(const struct nw_assignment *assignment,
                                        const struct nw_best_embedding *try,
                                        struct best_embedding_cut *list)
{
    size_t most = best_embedding_kinds_of(assignment, try), count = 0;

    for (size_t i = 0; count < most && i < FEW_KINDS + KINDS; i++)
        if (best_embedding_is_new(assignment, try, i))
            list[count++] = (struct best_embedding_cut){
                .kind = best_embedding_kind_at(try, i)};
    return count;
}

/* Moves the processes to the embedding in cut->slot if it lowers the cost. */
static nw_status best_embedding_take_cut(struct nw_assignment *assignment,
                                         const struct best_embedding_cut *cut,
                                         struct nw_best_embedding *try)
{
    double before = try->cost;
    nw_status status =
        nw_assignment_take_if_better(assignment, cut->slot, &try->cost);

    if (cut->kind & NW_STENCIL_LAYERS && try->cost < before)
        try->layered = true;
    return status;
}

/* Computes two embeddings and takes each if it lowers the cost. On grids of
 * medium size both are computed at the same time. On a small grid that does not
 * pay; on a large grid each embedding uses all threads itself. */
static nw_status best_embedding_take_two(struct nw_assignment *assignment,
                                         struct best_embedding_cut cut[2],
                                         struct nw_best_embedding *try)
{
    struct nw_parallel_task task[] = {
        {.run = best_embedding_run_cut, .user = &cut[0]},
        {.run = best_embedding_run_cut, .user = &cut[1]}};
    bool small = assignment->count < nw_tuned.tiling.paired_min ||
                 assignment->count > nw_tuned.tiling.large;
    nw_status status = nw_parallel_pair(task, small ? 1 : assignment->threads);

    if (!status)
        status = best_embedding_take_cut(assignment, &cut[0], try);
    return status ? status : best_embedding_take_cut(assignment, &cut[1], try);
}

/* Computes the embeddings list[count] in pairs and takes each that lowers the
 * cost. slot[0] and slot[1] are scratch arrays, each with a slot for every
 * process. */
static nw_status best_embedding_take_listed(struct nw_assignment *assignment,
                                            int32_t *slot[2],
                                            struct best_embedding_cut *list,
                                            size_t count,
                                            struct nw_best_embedding *try)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < count; i++) {
        list[i].assignment = assignment;
        list[i].stencil = &try->stencil;
        list[i].slot = slot[i % 2];
    }
    for (size_t i = 0; !status && i + 1 < count; i += 2)
        status = best_embedding_take_two(assignment, &list[i], try);
    if (status || count % 2 == 0)
        return status;
    status = best_embedding_run_cut(&list[count - 1]);
    return status ? status
                  : best_embedding_take_cut(assignment, &list[count - 1], try);
}

/* Tries the bisections and the columns, and takes the best. slot[] is scratch
 * for the slot of every process. */
static nw_status best_embedding_take_cuts(struct nw_assignment *assignment,
                                          int32_t *slot,
                                          struct nw_best_embedding *try)
{
    struct nw_stencil_columns columns[COLUMNS_MAX];
    struct best_embedding_cut list[FEW_KINDS + KINDS + COLUMNS_MAX];
    size_t count = best_embedding_list_kinds(assignment, try, list);
    int wide =
        try->once ? 0 : best_embedding_columns_of(assignment, try, columns);
    int32_t *two[2] = {slot, NULL};
    nw_status status;

    for (int i = 0; i < wide; i++)
        list[count++] = (struct best_embedding_cut){.columns = &columns[i]};
    status = nw_alloc_raw((size_t)assignment->count, sizeof *two[1], &two[1]);
    if (!status)
        status = best_embedding_take_listed(assignment, two, list, count, try);
    free(two[1]);
    return status;
}

/* Tries all embeddings of the grid try->stencil and takes the best. slot[] is
 * scratch for the slot of every process. */
static nw_status best_embedding_take_best(struct nw_assignment *assignment,
                                          int32_t *slot,
                                          struct nw_best_embedding *try)
{
    const struct nw_stencil *stencil = &try->stencil;
    bool boxes = false;
    nw_status status =
        nw_stencil_nested_boxes(assignment, stencil, slot, &boxes);

    try->boxed = boxes && best_embedding_divides_well(assignment);
    if (!status && boxes)
        status = nw_assignment_take_if_better(assignment, slot, &try->cost);
    /* bisections may be better even if boxes were found: if sizes are prime,
     * the boxes are only slabs */
    if (!status)
        status = best_embedding_take_cuts(assignment, slot, try);
    return status;
}

/* Restores the numbers that the processes had before
 * nw_assignment_renumber(assignment, order). */
static nw_status
best_embedding_restore_numbers(struct nw_assignment *assignment,
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

/* Returns true if `stencil` explains the edges better than the grid in `try`: a
 * larger fraction of its edges exists, and it has no more dimensions. */
static bool best_embedding_explains_more(const struct nw_stencil *stencil,
                                         const struct nw_best_embedding *try)
{
    return !try->found || (stencil->dims <= try->stencil.dims &&
                           stencil->filled > try->stencil.filled);
}

/* Renumbers the processes by `order` and looks for a grid along the new
 * numbers. Keeps the new numbers if that grid explains the edges better than
 * try->stencil, otherwise restores the old ones. */
static nw_status
best_embedding_read_renumbered(struct nw_assignment *assignment, int32_t *order,
                               struct nw_best_embedding *try)
{
    struct nw_stencil stencil = {0};
    bool found;
    nw_status status = nw_assignment_renumber(assignment, order);

    if (!status)
        status = nw_stencil_find(assignment, &stencil, &found);
    if (status || !(found && best_embedding_explains_more(&stencil, try)))
        return status ? status
                      : best_embedding_restore_numbers(assignment, order);
    try->stencil = stencil;
    try->found = true;
    return NW_OK;
}

/* Looks for a grid under any numbering of the processes and renumbers them if
 * it explains the edges better than the grid in `try`. */
static nw_status
best_embedding_find_renumbered(struct nw_assignment *assignment,
                               struct nw_best_embedding *try)
{
    int32_t *order = NULL;
    bool ordered = false;
    nw_status status =
        nw_alloc((size_t)assignment->count, sizeof *order, &order);

    if (!status)
        status = nw_stencil_find_unordered(assignment, order, &ordered);
    if (!status && ordered)
        status = best_embedding_read_renumbered(assignment, order, try);
    free(order);
    return status;
}

/* Returns true if a grid under another numbering should be looked for. That is
 * the case if no grid was found. It is also the case if some edges of the grid
 * are missing and the cells are so few that a wrong grid may fit them by
 * chance. */
static bool best_embedding_is_doubtful(const struct nw_assignment *assignment,
                                       const struct nw_best_embedding *try)
{
    return !try->found || (assignment->count <= nw_tuned.tiling.doubtful_max &&
                           try->stencil.filled < 1);
}

nw_status nw_assignment_best_embedding(struct nw_assignment *assignment,
                                       struct nw_best_embedding *try)
{
    int32_t *slot = NULL;
    nw_status status;

    try->found = false;
    if (best_embedding_any_fixed(assignment))
        return NW_OK;
    status = nw_stencil_find(assignment, &try->stencil, &try->found);
    if (!status && best_embedding_is_doubtful(assignment, try))
        status = best_embedding_find_renumbered(assignment, try);
    if (status || !try->found)
        return status;
    status = nw_alloc((size_t)assignment->count, sizeof *slot, &slot);
    if (!status)
        status = best_embedding_take_best(assignment, slot, try);
    free(slot);
    return status;
}
