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
        return most / nw_tuned.tiling.few > nw_tuned.tiling.few
                   ? most / nw_tuned.tiling.few
                   : nw_tuned.tiling.few;
    return most;
}

/* The embeddings to try, and scratch for two of them. */
struct best_embedding_cuts {
    struct nw_assignment *assignment;
    struct nw_best_embedding *try;
    struct nw_stencil_columns columns[COLUMNS_MAX];
    struct nw_stencil_cut cut[FEW_KINDS + KINDS + COLUMNS_MAX];
    size_t count; /* number of entries of cut[] */
    size_t first; /* the first of the two embeddings that are computed */
    /* [count] slot of each process in each of the two */
    int32_t *slot[2];
};

/* Computes embedding cuts->first + i in slot[i]; a task for threads. */
static nw_status best_embedding_run_cut(void *user, int32_t i)
{
    const struct best_embedding_cuts *cuts = user;

    return nw_stencil_coordinate_bisection(
        cuts->assignment, &cuts->try->stencil,
        cuts->cut[cuts->first + (size_t)i], cuts->slot[i]);
}

/* Lists the kinds of bisection to try. Leaves out a kind that gives the same
 * embedding as an earlier one: if every slot gets a cell, NW_STENCIL_PACKED
 * changes nothing. */
static void best_embedding_list_kinds(struct best_embedding_cuts *cuts)
{
    const struct nw_assignment *assignment = cuts->assignment;
    size_t most = best_embedding_kinds_of(assignment, cuts->try);
    size_t few = best_embedding_are_few(cuts->try) ? FEW_KINDS : 0;
    bool full = assignment->count == assignment->hierarchy->slots;
    int mask = full ? ~NW_STENCIL_PACKED : ~0;

    for (size_t i = 0; cuts->count < most && i < few + KINDS; i++) {
        int kind = i < few ? best_embedding_few_kinds[i]
                           : best_embedding_kinds[i - few];
        size_t k = 0;

        while (k < cuts->count && (cuts->cut[k].kind ^ kind) & mask)
            k++;
        if (k == cuts->count)
            cuts->cut[cuts->count++].kind = kind;
    }
}

/* Lists the divisions into columns to try. There are none if each child of the
 * root gets one cell, one child gets all cells, the grid is large, or boxes fit
 * well and time is short. */
static void best_embedding_list_columns(struct best_embedding_cuts *cuts)
{
    const struct nw_assignment *assignment = cuts->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    int level = hierarchy->levels > 1 ? hierarchy->levels - 2 : 0;
    int32_t last = hierarchy->cluster[level][assignment->count - 1];
    /* mean number of cells on a child of the root, if the grid uses as few
     * children as possible */
    double each = (double)assignment->count / (last + 1);
    size_t most =
        best_embedding_looks_of(assignment) / nw_tuned.tiling.columns_share;
    int count;

    if (assignment->count > nw_tuned.tiling.large || each <= 1 ||
        each >= assignment->count || (cuts->try->boxed && most < COLUMNS_MAX))
        return;
    count = nw_stencil_columns(&cuts->try->stencil, each,
                               most < COLUMNS_MAX ? (int)most : COLUMNS_MAX,
                               cuts->columns);
    for (int i = 0; i < count; i++)
        cuts->cut[cuts->count++].columns = &cuts->columns[i];
}

/* Computes the listed embeddings in pairs and takes each that lowers the cost.
 * On grids of medium size both of a pair are computed at the same time. On a
 * small grid that does not pay; on a large grid each embedding uses all threads
 * itself. */
static nw_status best_embedding_take_listed(struct best_embedding_cuts *cuts)
{
    const struct nw_assignment *assignment = cuts->assignment;
    bool small = assignment->count < nw_tuned.threads.slots_min ||
                 assignment->count > nw_tuned.tiling.large;
    struct nw_best_embedding *try = cuts->try;
    nw_status status = NW_OK;

    for (; !status && cuts->first < cuts->count; cuts->first += 2) {
        int32_t two = cuts->count - cuts->first > 1 ? 2 : 1;

        status = nw_parallel_try(best_embedding_run_cut, cuts, two,
                                 small ? 1 : assignment->threads);
        for (int32_t i = 0; !status && i < two; i++) {
            double before = try->cost;

            status = nw_assignment_take_if_better(cuts->assignment,
                                                  cuts->slot[i], &try->cost);
            if (cuts->cut[cuts->first + (size_t)i].kind & NW_STENCIL_LAYERS &&
                try->cost < before)
                try->layered = true;
        }
    }
    return status;
}

/* Tries all embeddings of the grid try->stencil and takes the best. */
static nw_status best_embedding_take_best(struct nw_assignment *assignment,
                                          struct nw_best_embedding *try)
{
    struct best_embedding_cuts cuts = {.assignment = assignment, .try = try};
    size_t n = (size_t)assignment->count;
    bool boxes = false;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY_RAW(n, cuts.slot[0]),
                                    NW_ARRAY_RAW(n, cuts.slot[1]));

    if (!status)
        status = nw_stencil_nested_boxes(assignment, &try->stencil,
                                         cuts.slot[0], &boxes);
    try->boxed = boxes && best_embedding_divides_well(assignment);
    if (!status && boxes)
        status =
            nw_assignment_take_if_better(assignment, cuts.slot[0], &try->cost);
    /* bisections may be better even if boxes were found: if sizes are prime,
     * the boxes are only slabs */
    best_embedding_list_kinds(&cuts);
    if (!try->once)
        best_embedding_list_columns(&cuts);
    if (!status)
        status = best_embedding_take_listed(&cuts);
    free(cuts.slot[0]);
    free(cuts.slot[1]);
    return status;
}

/* Looks for a grid under any numbering of the processes. Renumbers them if that
 * grid explains the edges better than the grid in `try`: a larger fraction of
 * its edges exists, and it has no more dimensions. Otherwise they have their
 * old numbers afterwards. */
static nw_status
best_embedding_find_renumbered(struct nw_assignment *assignment,
                               struct nw_best_embedding *try)
{
    size_t n = (size_t)assignment->count;
    struct nw_stencil stencil = {0};
    int32_t *order = NULL, *back = NULL;
    bool found = false;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, order), NW_ARRAY(n, back));

    if (!status)
        status = nw_stencil_find_unordered(assignment, order, &found);
    for (size_t i = 0; found && i < n; i++)
        back[order[i]] = (int32_t)i;
    if (!status && found)
        status = nw_assignment_renumber(assignment, order);
    if (!status && found) {
        status = nw_stencil_find(assignment, &stencil, &found);
        if (!status && found &&
            (!try->found || (stencil.dims <= try->stencil.dims &&
                             stencil.filled > try->stencil.filled))) {
            try->stencil = stencil;
            try->found = true;
        } else if (!status) {
            status = nw_assignment_renumber(assignment, back);
        }
    }
    free(order);
    free(back);
    return status;
}

nw_status nw_assignment_best_embedding(struct nw_assignment *assignment,
                                       struct nw_best_embedding *try)
{
    nw_status status;

    try->found = false;
    for (int32_t s = 0; s < assignment->hierarchy->slots; s++)
        if (assignment->fixed[s])
            return NW_OK;
    status = nw_stencil_find(assignment, &try->stencil, &try->found);
    /* A grid that lacks some edges may fit few cells by chance. */
    if (!status &&
        (!try->found || (assignment->count <= nw_tuned.tiling.doubtful_max &&
                         try->stencil.filled < 1)))
        status = best_embedding_find_renumbered(assignment, try);
    if (status || !try->found)
        return status;
    return best_embedding_take_best(assignment, try);
}
