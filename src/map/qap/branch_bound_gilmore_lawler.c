/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Branch and bound with the bound of Gilmore and Lawler. For every free item
 * and place, it computes a lower bound of the item's cost there. This is its
 * cost with the placed items, plus the products of its flows to the other free
 * items, largest first, and the distances to the other free places, shortest
 * first. The linear assignment problem of these costs gives a lower bound of
 * the whole. Its reduced costs exclude places before they are tried.
 */
#include "map/qap/qap.h"
#include "base/array.h"
#include "base/status.h"
#include "map/qap/linear_assignment.h"

#include <math.h>
#include <string.h>

/* State of one search. */
struct gilmore_lawler_search {
    const struct nw_qap *qap;
    struct nw_qap_exact_search *exact;
    int32_t *best; /* [n] place of each item in the best solution so far */
    double best_cost;
    int32_t *at;       /* [n] place of each item at the present node; -1: the
                          item is free */
    bool *taken;       /* [n] an item is on this place at the present node */
    double *cost;      /* [n + 1][n x n] for each depth of the tree, the matrix
                          of a node's costs */
    double *flows;     /* [n x n] for each free item, its flows to other free
                          items, largest first */
    double *distances; /* [n x n] for each free place, its distances to other
                          free places, shortest first */
};

/* A node of the search tree: its free items and places. */
struct gilmore_lawler_node {
    int32_t item[NW_LINEAR_ASSIGNMENT_MAX], place[NW_LINEAR_ASSIGNMENT_MAX];
    int items, places;
    double *cost; /* [items x places] lower bound of each item's cost on each
                     place; after bounding, reduced costs */
    double bound; /* lower bound of the cost of all solutions below this node */
};

/* Lists the real items without a place and the places without an item in *node.
 */
static void gilmore_lawler_list_free(const struct gilmore_lawler_search *search,
                                     struct gilmore_lawler_node *node)
{
    node->items = node->places = 0;
    for (int32_t i = 0; i < search->qap->real; i++)
        if (search->at[i] < 0)
            node->item[node->items++] = i;
    for (int32_t p = 0; p < search->qap->n; p++)
        if (!search->taken[p])
            node->place[node->places++] = p;
}

/* Inserts a value into the array values[count], which is sorted: in descending
 * order if `descending` is set, otherwise in ascending order. */
static void gilmore_lawler_insert(double *values, int count, double value,
                                  bool descending)
{
    int at = count;

    for (; at && (values[at - 1] < value) == descending &&
           values[at - 1] != value;
         at--)
        values[at] = values[at - 1];
    values[at] = value;
}

/* Fills rows[count x n]: row i becomes the sorted values of matrix[n x n] from
 * index[i] to the other indexes. */
static void gilmore_lawler_sort_rows(const double *matrix, size_t n,
                                     const int32_t *index, int count,
                                     bool descending, double *rows)
{
    for (int i = 0; i < count; i++)
        for (int j = 0, k = 0; j < count; j++)
            if (j != i)
                gilmore_lawler_insert(
                    rows + (size_t)i * n, k++,
                    matrix[(size_t)index[i] * n + (size_t)index[j]],
                    descending);
}

/* Returns the cost of `item` on `place` that does not depend on the free items:
 * its flows to and from the placed items, and its flow to itself. */
static double
gilmore_lawler_fixed_part(const struct gilmore_lawler_search *search,
                          int32_t item, int32_t place)
{
    const double *flow = search->qap->flow, *distance = search->qap->distance;
    int32_t n = search->qap->n;
    double sum = flow[item * n + item] * distance[place * n + place];

    for (int32_t k = 0; k < n; k++) {
        int32_t at = search->at[k];

        if (at >= 0)
            sum += flow[item * n + k] * distance[place * n + at] +
                   flow[k * n + item] * distance[at * n + place];
    }
    return sum;
}

/* Fills node->cost with a lower bound of the cost of each free item on each
 * free place. */
static void gilmore_lawler_fill_costs(struct gilmore_lawler_search *search,
                                      const struct gilmore_lawler_node *node)
{
    size_t n = (size_t)search->qap->n;

    gilmore_lawler_sort_rows(search->qap->flow, n, node->item, node->items,
                             true, search->flows);
    gilmore_lawler_sort_rows(search->qap->distance, n, node->place,
                             node->places, false, search->distances);
    for (int i = 0; i < node->items; i++)
        for (int j = 0; j < node->places; j++) {
            const double *flows = search->flows + (size_t)i * n;
            const double *distances = search->distances + (size_t)j * n;
            double sum = gilmore_lawler_fixed_part(search, node->item[i],
                                                   node->place[j]);

            for (int k = 0; k + 1 < node->items; k++)
                sum += flows[k] * distances[k];
            node->cost[i * node->places + j] = sum;
        }
}

/* Returns the cost below which a solution counts as better than the best one.
 */
static double gilmore_lawler_limit(const struct gilmore_lawler_search *search)
{
    double step = search->qap->step;

    return search->best_cost -
           (step > 0 ? step - 0.25 : 1e-12 * fabs(search->best_cost));
}

/* Completes the partial solution of a search-tree node: puts node->item[i] on
 * node->place[column[i]], and the movable items without flows on the remaining
 * places. Keeps the solution if its cost is the lowest so far, and takes the
 * items from their places again. */
static void gilmore_lawler_take_solution(struct gilmore_lawler_search *search,
                                         const struct gilmore_lawler_node *node,
                                         const int32_t *column)
{
    int32_t n = search->qap->n, *trial = search->at, next = 0;
    double cost;

    for (int i = 0; i < node->items; i++) {
        trial[node->item[i]] = node->place[column[i]];
        search->taken[node->place[column[i]]] = true;
    }
    for (int32_t i = search->qap->real; i < search->qap->movable; i++) {
        while (search->taken[next])
            next++;
        trial[i] = next++;
    }
    cost = nw_qap_cost(search->qap, trial);
    if (cost < gilmore_lawler_limit(search)) {
        search->best_cost = cost;
        memcpy(search->best, trial, (size_t)n * sizeof *trial);
    }
    for (int32_t i = search->qap->real; i < search->qap->movable; i++)
        trial[i] = -1;
    for (int i = 0; i < node->items; i++) {
        trial[node->item[i]] = -1;
        search->taken[node->place[column[i]]] = false;
    }
}

/* Returns true if places a and b are interchangeable in every solution: their
 * distances to all other places, and to each other in both directions, are
 * equal. */
static bool gilmore_lawler_are_twins(const struct gilmore_lawler_search *search,
                                     int32_t a, int32_t b)
{
    const double *distance = search->qap->distance;
    int32_t n = search->qap->n;

    if (distance[a * n + a] != distance[b * n + b] ||
        distance[a * n + b] != distance[b * n + a])
        return false;
    for (int32_t k = 0; k < n; k++)
        if (k != a && k != b &&
            (distance[a * n + k] != distance[b * n + k] ||
             distance[k * n + a] != distance[k * n + b]))
            return false;
    return true;
}

/* Returns true if `column` need not be tried, because its place is
 * interchangeable with the place of a column with a lower number, which is
 * tried or excluded itself. */
static bool
gilmore_lawler_has_earlier_twin(const struct gilmore_lawler_search *search,
                                const struct gilmore_lawler_node *node,
                                int column)
{
    for (int j = 0; j < column; j++)
        if (gilmore_lawler_are_twins(search, node->place[j],
                                     node->place[column]))
            return true;
    return false;
}

/* Returns the row of the item to branch on: the item with the fewest places
 * that are still possible. Among equal items, it is the one with the largest
 * sum of reduced costs over all places. An excluded place counts in this sum
 * with the lowest cost that excludes it. */
static int
gilmore_lawler_choose_item(const struct gilmore_lawler_search *search,
                           const struct gilmore_lawler_node *node)
{
    int best = 0, fewest = NW_LINEAR_ASSIGNMENT_MAX + 1;
    double most = -1, capacity = gilmore_lawler_limit(search) - node->bound;

    for (int i = 0; i < node->items; i++) {
        const double *row = node->cost + i * node->places;
        double sum = 0;
        int open = 0;

        for (int j = 0; j < node->places; j++) {
            open += row[j] < capacity;
            sum += row[j] < capacity ? row[j] : capacity;
        }
        if (open < fewest || (open == fewest && sum > most)) {
            best = i;
            fewest = open;
            most = sum;
        }
    }
    return best;
}

/* Sorts the column numbers of a row by cost, cheapest first. */
static void gilmore_lawler_order_columns(const double *row, int count,
                                         int *order)
{
    for (int j = 0; j < count; j++) {
        int at = j;

        for (; at && row[order[at - 1]] > row[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
}

static void gilmore_lawler_visit(struct gilmore_lawler_search *search,
                                 int depth, double fixed);

/* Branches on one item of the node: tries its possible places, the cheapest
 * first. `fixed` is the cost of the placed items among themselves. */
static void gilmore_lawler_branch(struct gilmore_lawler_search *search,
                                  const struct gilmore_lawler_node *node,
                                  int depth, double fixed)
{
    int order[NW_LINEAR_ASSIGNMENT_MAX],
        i = gilmore_lawler_choose_item(search, node);
    const double *row = node->cost + i * node->places;
    int32_t item = node->item[i];

    gilmore_lawler_order_columns(row, node->places, order);
    for (int k = 0; k < node->places; k++) {
        int32_t place = node->place[order[k]];
        double more;

        if (node->bound + row[order[k]] >= gilmore_lawler_limit(search))
            return;
        if (gilmore_lawler_has_earlier_twin(search, node, order[k]))
            continue;
        more = gilmore_lawler_fixed_part(search, item, place);
        search->at[item] = place;
        search->taken[place] = true;
        gilmore_lawler_visit(search, depth + 1, fixed + more);
        search->at[item] = -1;
        search->taken[place] = false;
    }
}

/* Counts a node of the search tree. Returns false if the search must end: the
 * limit of nodes is reached or the caller ends it. Then nothing is proven. */
static bool gilmore_lawler_has_time(struct gilmore_lawler_search *search)
{
    struct nw_qap_exact_search *exact = search->exact;

    if (exact->nodes == exact->nodes_most)
        exact->proven = false;
    if (!exact->proven)
        return false;
    exact->nodes++;
    if (exact->nodes == exact->look && !exact->goes_on(exact))
        exact->proven = false;
    return exact->proven;
}

/* Bounds a node of the search tree. If its bound is below the cost of the best
 * solution, takes the assignment that gave the bound as a solution, and
 * branches if the bound is still lower. */
static void gilmore_lawler_visit(struct gilmore_lawler_search *search,
                                 int depth, double fixed)
{
    size_t n = (size_t)search->qap->n;
    int32_t column[NW_LINEAR_ASSIGNMENT_MAX];
    struct gilmore_lawler_node node;

    if (!gilmore_lawler_has_time(search))
        return;
    gilmore_lawler_list_free(search, &node);
    node.cost = search->cost + (size_t)depth * n * n;
    gilmore_lawler_fill_costs(search, &node);
    node.bound = fixed + nw_linear_assignment(node.cost, node.items,
                                              node.places, column);
    if (node.bound >= gilmore_lawler_limit(search))
        return;
    gilmore_lawler_take_solution(search, &node, column);
    if (node.items && node.bound < gilmore_lawler_limit(search))
        gilmore_lawler_branch(search, &node, depth, fixed);
}

/* Allocates the arrays and puts the items that may not move on their places. */
static nw_status gilmore_lawler_prepare(struct gilmore_lawler_search *search)
{
    size_t n = (size_t)search->qap->n;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(n, search->at), NW_ARRAY(n, search->taken),
        NW_ARRAY((n + 1) * n * n, search->cost), NW_ARRAY(n * n, search->flows),
        NW_ARRAY(n * n, search->distances));

    for (int32_t i = 0; !status && (size_t)i < n; i++)
        search->at[i] = i < search->qap->movable ? -1 : search->best[i];
    for (int32_t i = search->qap->movable; !status && (size_t)i < n; i++)
        search->taken[search->best[i]] = true;
    return status;
}

nw_status nw_qap_gilmore_lawler(const struct nw_qap *qap,
                                struct nw_qap_exact_search *exact,
                                int32_t *place)
{
    struct gilmore_lawler_search search = {
        .qap = qap, .exact = exact, .best = place};
    double fixed = 0; /* cost of the items that stay, among themselves */
    nw_status status;

    if (qap->n > NW_LINEAR_ASSIGNMENT_MAX)
        return nw_fail(NW_EINVAL,
                       "exact is for at most %d elements, these are %d",
                       NW_LINEAR_ASSIGNMENT_MAX, qap->n);
    status = gilmore_lawler_prepare(&search);
    if (!status) {
        search.best_cost = nw_qap_cost(qap, place);
        exact->nodes = 0;
        exact->proven = true;
        for (int32_t i = qap->movable; i < qap->n; i++)
            for (int32_t j = qap->movable; j < qap->n; j++)
                fixed += qap->flow[i * qap->n + j] *
                         qap->distance[place[i] * qap->n + place[j]];
        gilmore_lawler_visit(&search, 0, fixed);
    }
    NW_FREE_ALL(search.at, search.taken, search.cost, search.flows,
                search.distances);
    return status;
}
