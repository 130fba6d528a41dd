/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides the domain between the nodes, then each node's part between its
 * slots. Uses the recursive bisection with sorted prime factors of Pearson et
 * al., "Node-aware stencil communication" (section III-A), or the factorisation
 * with the smallest halo. Nodes with different numbers of slots get parts of
 * different sizes (divide_uneven). */
#include "halo/plan/layout.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <string.h>

static int64_t partition_width(const struct nw_halo_box *box, int axis)
{
    return box->high[axis] - box->low[axis];
}

static bool partition_spans(const struct nw_halo_domain *domain,
                            const struct nw_halo_box *box, int axis)
{
    return partition_width(box, axis) == domain->extent[axis];
}

/* Returns the number of cells along one axis that take part in the transfers of
 * a direction. If the direction has a component along the axis, these are the
 * ghost layers of all parts with a neighbour there; otherwise all cells. */
static double partition_share(const struct nw_halo_domain *domain,
                              const struct nw_halo_box *box,
                              const struct nw_halo_grid *grid, int direction,
                              int axis)
{
    bool wraps = partition_spans(domain, box, axis) &&
                 domain->border[axis][0] == NW_HALO_PERIODIC;
    int32_t parts = grid->parts[axis];

    if (!nw_halo_component(direction, axis))
        return (double)partition_width(box, axis);
    return (double)(wraps ? parts : parts - 1) * domain->radius[direction];
}

static bool partition_leaves(const struct nw_halo_grid *grid, int direction)
{
    for (int axis = 0; axis < 3; axis++)
        if (nw_halo_component(direction, axis) && grid->parts[axis] > 1)
            return true;
    return false;
}

double nw_halo_grid_cells(const struct nw_halo_domain *domain,
                          const struct nw_halo_box *box,
                          const struct nw_halo_grid *grid)
{
    double sum = 0;

    for (int d = 0; d < 27; d++) {
        double cells = 1;

        if (!domain->radius[d] || !partition_leaves(grid, d))
            continue;
        for (int axis = 0; axis < 3; axis++)
            cells *= partition_share(domain, box, grid, d, axis);
        sum += cells;
    }
    return sum;
}

/* Sorts the axes by the width of the box, longest first. Of equally long axes,
 * the lower one comes first. */
static void order_axes(const struct nw_halo_box *box, int axis[3])
{
    for (int i = 0; i < 3; i++) {
        int j = i;

        for (; j > 0 &&
               partition_width(box, axis[j - 1]) < partition_width(box, i);
             j--)
            axis[j] = axis[j - 1];
        axis[j] = i;
    }
}

/* Returns true if grid `a` is preferred to a grid `b` with an equal halo: if it
 * has more parts along the longest axis on which they differ. */
static bool is_ahead(const struct nw_halo_grid *a, const struct nw_halo_grid *b,
                     const int axis[3])
{
    for (int i = 0; i < 3; i++)
        if (a->parts[axis[i]] != b->parts[axis[i]])
            return a->parts[axis[i]] > b->parts[axis[i]];
    return false;
}

static bool partition_fits(const struct nw_halo_box *box,
                           const struct nw_halo_grid *grid)
{
    for (int axis = 0; axis < 3; axis++)
        if (grid->parts[axis] > partition_width(box, axis))
            return false;
    return true;
}

struct partition_search {
    const struct nw_halo_domain *domain;
    const struct nw_halo_box *box;
    int axis[3];
    bool found;
    double least;
    struct nw_halo_grid best;
};

static void partition_try_grid(struct partition_search *search,
                               const struct nw_halo_grid *grid)
{
    double cells;

    if (!partition_fits(search->box, grid))
        return;
    cells = nw_halo_grid_cells(search->domain, search->box, grid);
    if (search->found && cells > search->least)
        return;
    if (search->found && cells == search->least &&
        !is_ahead(grid, &search->best, search->axis))
        return;
    search->found = true;
    search->least = cells;
    search->best = *grid;
}

static void factor_best(struct partition_search *search, int32_t count)
{
    for (int32_t x = 1; x <= count; x++) {
        int32_t rest = count / x;

        if (count % x)
            continue;
        for (int32_t y = 1; y <= rest; y++)
            if (rest % y == 0)
                partition_try_grid(search,
                                   &(struct nw_halo_grid){{x, y, rest / y}});
    }
}

static int32_t largest_prime(int32_t n)
{
    int32_t largest = 1;

    for (int32_t p = 2; p <= n / p; p++)
        for (; n % p == 0; n /= p)
            largest = p;
    return n > largest ? n : largest;
}

/* Factors `count` as Pearson et al. do: each step divides the longest axis of a
 * part (of equal axes the lower one) by the largest prime factor that is left.
 */
static void factor_paper(struct partition_search *search, int32_t count)
{
    struct nw_halo_grid grid = {{1, 1, 1}};

    while (count > 1) {
        int32_t prime = largest_prime(count);
        int longest = 0;

        for (int axis = 1; axis < 3; axis++)
            if ((double)partition_width(search->box, axis) / grid.parts[axis] >
                (double)partition_width(search->box, longest) /
                    grid.parts[longest])
                longest = axis;
        grid.parts[longest] *= prime;
        count /= prime;
    }
    partition_try_grid(search, &grid);
}

nw_status nw_halo_factor(const struct nw_halo_domain *domain,
                         const struct nw_halo_box *box,
                         enum nw_halo_partition kind, int32_t count,
                         struct nw_halo_grid *out)
{
    struct partition_search search = {.domain = domain, .box = box};

    order_axes(box, search.axis);
    if (kind == NW_HALO_PARTITION_PAPER)
        factor_paper(&search, count);
    else
        factor_best(&search, count);
    if (!search.found)
        return nw_fail(
            NW_EINVAL,
            "%lld x %lld x %lld cells cannot be divided into %d part%s",
            (long long)partition_width(box, 0),
            (long long)partition_width(box, 1),
            (long long)partition_width(box, 2), count,
            nw_plural((uint64_t)count));
    *out = search.best;
    return NW_OK;
}

/* Sets *out to part `index` of `parts` parts of the box along an axis. The
 * first parts are one cell wider if the width is not divisible. */
static void partition_cut(const struct nw_halo_box *box, int axis,
                          int32_t parts, int32_t index, struct nw_halo_box *out)
{
    int64_t each = partition_width(box, axis) / parts,
            rest = partition_width(box, axis) % parts;
    int64_t low = box->low[axis] + index * each + (index < rest ? index : rest);

    out->low[axis] = low;
    out->high[axis] = low + each + (index < rest);
}

struct nw_halo_box nw_halo_grid_box(const struct nw_halo_box *box,
                                    const struct nw_halo_grid *grid,
                                    int32_t index)
{
    struct nw_halo_box out;

    for (int axis = 0; axis < 3; axis++) {
        partition_cut(box, axis, grid->parts[axis], index % grid->parts[axis],
                      &out);
        index /= grid->parts[axis];
    }
    return out;
}

/* Divides the part of one node between its slots. The summary shows the grid of
 * node 0. */
static nw_status divide_node(nw_halo_layout *layout, int32_t node,
                             const struct nw_halo_box *box,
                             enum nw_halo_partition kind)
{
    int32_t first = layout->first[node];
    int32_t count = layout->first[node + 1] - first;
    struct nw_halo_grid grid;
    nw_status status = nw_halo_factor(&layout->domain, box, kind, count, &grid);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++) {
        layout->piece[first + i].box = nw_halo_grid_box(box, &grid, i);
        layout->piece[first + i].node = node;
        layout->piece[first + i].slot = i;
    }
    if (!node)
        for (int axis = 0; axis < 3; axis++)
            layout->summary.slot_grid[axis] = grid.parts[axis];
    return NW_OK;
}

static nw_status divide_even(nw_halo_layout *layout,
                             const struct nw_halo_box *whole,
                             enum nw_halo_partition kind)
{
    struct nw_halo_grid grid;
    nw_status status =
        nw_halo_factor(&layout->domain, whole, kind, layout->node_count, &grid);

    for (int32_t node = 0; !status && node < layout->node_count; node++) {
        struct nw_halo_box box = nw_halo_grid_box(whole, &grid, node);

        status = divide_node(layout, node, &box, kind);
    }
    for (int axis = 0; !status && axis < 3; axis++)
        layout->summary.node_grid[axis] = grid.parts[axis];
    return status;
}

/* Divides the box between the nodes first <= i < last, which have different
 * numbers of slots. Splits the nodes into two groups with about equal numbers
 * of slots, splits the longest axis of the box in the ratio of these numbers,
 * and repeats this for each group. */
static nw_status divide_uneven(nw_halo_layout *layout, int32_t first,
                               int32_t last, const struct nw_halo_box *box,
                               enum nw_halo_partition kind)
{
    int32_t low = layout->first[first], all = layout->first[last] - low;
    int32_t middle = first + 1;
    int axis = 0;
    struct nw_halo_box half = *box, other = *box;
    int64_t at;
    nw_status status;

    if (last - first == 1)
        return divide_node(layout, first, box, kind);
    while (middle < last - 1 && 2 * (layout->first[middle] - low) < all)
        middle++;
    for (int i = 1; i < 3; i++)
        if (partition_width(box, i) > partition_width(box, axis))
            axis = i;
    at = (int64_t)((double)partition_width(box, axis) *
                       (layout->first[middle] - low) / all +
                   0.5);
    if (at < 1 || at >= partition_width(box, axis))
        return nw_fail(NW_EINVAL,
                       "a part of %lld cell%s cannot be divided over %d node%s",
                       (long long)partition_width(box, axis),
                       nw_plural((uint64_t)partition_width(box, axis)),
                       last - first, nw_plural((uint64_t)(last - first)));
    half.high[axis] = other.low[axis] = box->low[axis] + at;
    status = divide_uneven(layout, first, middle, &half, kind);
    return status ? status : divide_uneven(layout, middle, last, &other, kind);
}

nw_status nw_halo_divide(nw_halo_layout *layout,
                         const struct nw_halo_places *places,
                         enum nw_halo_partition kind)
{
    struct nw_halo_box whole = {{0, 0, 0}, {0, 0, 0}};
    bool even = true;
    nw_status status;

    for (int axis = 0; axis < 3; axis++)
        whole.high[axis] = layout->domain.extent[axis];
    for (int32_t i = 1; i < places->node_count; i++)
        even = even && places->slots[i] == places->slots[0];
    if (even)
        return divide_even(layout, &whole, kind);
    status = divide_uneven(layout, 0, layout->node_count, &whole, kind);
    /* the grid of node 0 does not hold for the other nodes */
    memset(layout->summary.slot_grid, 0, sizeof layout->summary.slot_grid);
    return status;
}
