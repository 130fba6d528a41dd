/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Branch and bound with the bound of Gilmore and Lawler: for every free item
 * and place, what the item costs there at least (to the items placed, and its
 * largest flows on the shortest distances left); the best assignment of these
 * costs is a bound. Its reduced costs rule places out before they are tried.
 */
#include "map/qap/qap.h"
#include "base/array.h"
#include "base/status.h"
#include "map/qap/linear_assignment.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct nw_qap *qap;
    struct nw_exact *exact;
    int32_t *best; /* [n] */
    double best_cost;
    int32_t *at;       /* [n] where an item is, -1 free */
    bool *taken;       /* [n] */
    double *cost;      /* [n + 1][n x n] a matrix for each depth */
    double *flows;     /* [n x n] of free items, largest first */
    double *distances; /* [n x n] between free places, shortest first */
};

/* What is free at a node of the tree. */
struct node {
    int32_t item[NW_LAP_MOST], place[NW_LAP_MOST];
    int items, places;
    double *cost; /* [items x places], later what is beyond the bound */
    double bound;
};

static double flow_of(const struct search *search, int32_t i, int32_t j)
{
    return search->qap->flow[(size_t)i * (size_t)search->qap->n + (size_t)j];
}

static double distance_of(const struct search *search, int32_t a, int32_t b)
{
    return search->qap
        ->distance[(size_t)a * (size_t)search->qap->n + (size_t)b];
}

static void list_free(const struct search *search, struct node *node)
{
    node->items = node->places = 0;
    for (int32_t i = 0; i < search->qap->real; i++)
        if (search->at[i] < 0)
            node->item[node->items++] = i;
    for (int32_t p = 0; p < search->qap->n; p++)
        if (!search->taken[p])
            node->place[node->places++] = p;
}

static void insert(double *values, int count, double value, bool descending)
{
    int at = count;

    for (; at && (values[at - 1] < value) == descending &&
           values[at - 1] != value;
         at--)
        values[at] = values[at - 1];
    values[at] = value;
}

static void sort_rows(struct search *search, const struct node *node)
{
    size_t n = (size_t)search->qap->n;

    for (int i = 0; i < node->items; i++)
        for (int j = 0, k = 0; j < node->items; j++)
            if (j != i)
                insert(search->flows + (size_t)i * n, k++,
                       flow_of(search, node->item[i], node->item[j]), true);
    for (int i = 0; i < node->places; i++)
        for (int j = 0, k = 0; j < node->places; j++)
            if (j != i)
                insert(search->distances + (size_t)i * n, k++,
                       distance_of(search, node->place[i], node->place[j]),
                       false);
}

/* Between an item on a place and all items placed, and with itself. */
static double fixed_part(const struct search *search, int32_t item,
                         int32_t place)
{
    double sum =
        flow_of(search, item, item) * distance_of(search, place, place);

    for (int32_t k = 0; k < search->qap->n; k++) {
        int32_t at = search->at[k];

        if (at >= 0)
            sum += flow_of(search, item, k) * distance_of(search, place, at) +
                   flow_of(search, k, item) * distance_of(search, at, place);
    }
    return sum;
}

static void fill_costs(struct search *search, const struct node *node)
{
    size_t n = (size_t)search->qap->n;

    sort_rows(search, node);
    for (int i = 0; i < node->items; i++)
        for (int j = 0; j < node->places; j++) {
            const double *flows = search->flows + (size_t)i * n;
            const double *distances = search->distances + (size_t)j * n;
            double sum = fixed_part(search, node->item[i], node->place[j]);

            for (int k = 0; k + 1 < node->items; k++)
                sum += flows[k] * distances[k];
            node->cost[i * node->places + j] = sum;
        }
}

/* No solution of at least this cost is of any use. */
static double limit(const struct search *search)
{
    double step = search->qap->step;

    return search->best_cost -
           (step > 0 ? step - 0.25 : 1e-12 * fabs(search->best_cost));
}

static void take_solution(struct search *search, const struct node *node,
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
    if (cost < limit(search)) {
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

/* Two free places of which one is as good as the other, whatever comes. */
static bool are_twins(const struct search *search, int32_t a, int32_t b)
{
    if (distance_of(search, a, a) != distance_of(search, b, b) ||
        distance_of(search, a, b) != distance_of(search, b, a))
        return false;
    for (int32_t k = 0; k < search->qap->n; k++)
        if (k != a && k != b &&
            (distance_of(search, a, k) != distance_of(search, b, k) ||
             distance_of(search, k, a) != distance_of(search, k, b)))
            return false;
    return true;
}

static bool has_earlier_twin(const struct search *search,
                             const struct node *node, int column)
{
    for (int j = 0; j < column; j++)
        if (are_twins(search, node->place[j], node->place[column]))
            return true;
    return false;
}

/* The item that may go to the fewest places; among equals the one whose places
 * cost the most. */
static int choose_item(const struct search *search, const struct node *node)
{
    int best = 0, fewest = NW_LAP_MOST + 1;
    double most = -1, room = limit(search) - node->bound;

    for (int i = 0; i < node->items; i++) {
        const double *row = node->cost + i * node->places;
        double sum = 0;
        int open = 0;

        for (int j = 0; j < node->places; j++) {
            open += row[j] < room;
            sum += row[j] < room ? row[j] : room;
        }
        if (open < fewest || (open == fewest && sum > most)) {
            best = i;
            fewest = open;
            most = sum;
        }
    }
    return best;
}

/* Columns of a row, cheapest first. */
static void order_columns(const double *row, int count, int *order)
{
    for (int j = 0; j < count; j++) {
        int at = j;

        for (; at && row[order[at - 1]] > row[j]; at--)
            order[at] = order[at - 1];
        order[at] = j;
    }
}

static void visit(struct search *search, int depth, double fixed);

static void branch(struct search *search, const struct node *node, int depth,
                   double fixed)
{
    int order[NW_LAP_MOST], i = choose_item(search, node);
    const double *row = node->cost + i * node->places;
    int32_t item = node->item[i];

    order_columns(row, node->places, order);
    for (int k = 0; k < node->places; k++) {
        int32_t place = node->place[order[k]];
        double more;

        if (node->bound + row[order[k]] >= limit(search))
            return;
        if (has_earlier_twin(search, node, order[k]))
            continue;
        more = fixed_part(search, item, place);
        search->at[item] = place;
        search->taken[place] = true;
        visit(search, depth + 1, fixed + more);
        search->at[item] = -1;
        search->taken[place] = false;
    }
}

/* Counts a node; once it was refused nothing is proven any more. */
static bool has_time(struct search *search)
{
    struct nw_exact *exact = search->exact;

    if (exact->nodes == exact->nodes_most)
        exact->proven = false;
    if (!exact->proven)
        return false;
    exact->nodes++;
    if (exact->nodes == exact->look &&
        !exact->goes_on(exact, search->best_cost))
        exact->proven = false;
    return exact->proven;
}

static void visit(struct search *search, int depth, double fixed)
{
    size_t n = (size_t)search->qap->n;
    int32_t column[NW_LAP_MOST];
    struct node node;

    if (!has_time(search))
        return;
    list_free(search, &node);
    node.cost = search->cost + (size_t)depth * n * n;
    fill_costs(search, &node);
    node.bound =
        fixed + nw_lap_solve(node.cost, node.items, node.places, column);
    if (node.bound >= limit(search))
        return;
    take_solution(search, &node, column);
    if (node.items && node.bound < limit(search))
        branch(search, &node, depth, fixed);
}

/* Between the items that stay. */
static double fixed_cost(const struct search *search)
{
    const struct nw_qap *qap = search->qap;
    double sum = 0;

    for (int32_t i = qap->movable; i < qap->n; i++)
        for (int32_t j = qap->movable; j < qap->n; j++)
            sum += flow_of(search, i, j) *
                   distance_of(search, search->at[i], search->at[j]);
    return sum;
}

static nw_status prepare(struct search *search)
{
    size_t n = (size_t)search->qap->n;
    nw_status status = nw_alloc(n, sizeof *search->at, &search->at);

    if (!status)
        status = nw_alloc(n, sizeof *search->taken, &search->taken);
    if (!status)
        status = nw_alloc((n + 1) * n * n, sizeof(double), &search->cost);
    if (!status)
        status = nw_alloc(n * n, sizeof(double), &search->flows);
    if (!status)
        status = nw_alloc(n * n, sizeof(double), &search->distances);
    for (int32_t i = 0; !status && (size_t)i < n; i++)
        search->at[i] = i < search->qap->movable ? -1 : search->best[i];
    for (int32_t i = search->qap->movable; !status && (size_t)i < n; i++)
        search->taken[search->best[i]] = true;
    return status;
}

nw_status nw_qap_exact(const struct nw_qap *qap, struct nw_exact *exact,
                       int32_t *place)
{
    struct search search = {.qap = qap, .exact = exact, .best = place};
    nw_status status;

    if (qap->n > NW_LAP_MOST)
        return nw_fail(NW_EINVAL,
                       "exact is for at most %d elements, these are %d",
                       NW_LAP_MOST, qap->n);
    status = prepare(&search);
    if (!status) {
        search.best_cost = nw_qap_cost(qap, place);
        exact->nodes = 0;
        exact->proven = true;
        visit(&search, 0, fixed_cost(&search));
    }
    free(search.at);
    free(search.taken);
    free(search.cost);
    free(search.flows);
    free(search.distances);
    return status;
}
