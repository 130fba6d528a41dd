/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear assignment by shortest augmenting paths (the augmentation of Jonker
 * and Volgenant, Computing 38, 1987). */
#include "map/qap/linear_assignment.h"

#include <math.h>
#include <stdbool.h>

/* State of the algorithm; see Jonker and Volgenant for its terms. */
struct linear_assignment_work {
    const double *cost; /* [rows x columns] cost of assigning a column to a
                           row */
    int columns;
    double left[NW_LINEAR_ASSIGNMENT_MAX],
        /* dual variables of the rows (`left`) and of the columns (`right`) */
        right[NW_LINEAR_ASSIGNMENT_MAX];
    int32_t row_of[NW_LINEAR_ASSIGNMENT_MAX]; /* [column] row to which the
                                                 column is assigned; -1: none */
    double far[NW_LINEAR_ASSIGNMENT_MAX];     /* [column] length of the shortest
                                                 path from the row being
                                                 assigned */
    int32_t from[NW_LINEAR_ASSIGNMENT_MAX];   /* [column] previous column on the
                                                 shortest path to this one; -1:
                                                 none */
    bool done[NW_LINEAR_ASSIGNMENT_MAX];      /* [column] the length of the
                                                 shortest path to it is final */
};

/* Extends shortest paths over the columns by way of `row`, which is at distance
 * `at` from the row being assigned; `by` is the column from which `row` was
 * reached, or -1. Returns the nearest column whose path is not final. */
static int32_t linear_assignment_look_on(struct linear_assignment_work *work,
                                         int row, int32_t by, double at)
{
    int32_t nearest = -1;

    for (int32_t j = 0; j < work->columns; j++) {
        double length;

        if (work->done[j])
            continue;
        length = at + work->cost[row * work->columns + j] - work->left[row] -
                 work->right[j];
        if (length < work->far[j]) {
            work->far[j] = length;
            work->from[j] = by;
        }
        if (nearest < 0 || work->far[j] < work->far[nearest])
            nearest = j;
    }
    return nearest;
}

/* Assigns a column to `row` by the shortest augmenting path, which may give
 * other rows other columns, and updates the dual variables. */
static void linear_assignment_augment(struct linear_assignment_work *work,
                                      int row)
{
    int32_t j, by = -1;
    int at = row;
    double length = 0;

    for (j = 0; j < work->columns; j++) {
        work->far[j] = INFINITY;
        work->done[j] = false;
    }
    for (;;) {
        j = linear_assignment_look_on(work, at, by, length);
        length = work->far[j];
        if (work->row_of[j] < 0)
            break;
        work->done[j] = true;
        by = j;
        at = work->row_of[j];
    }
    work->left[row] += length;
    for (int32_t k = 0; k < work->columns; k++)
        if (work->done[k]) {
            work->left[work->row_of[k]] += length - work->far[k];
            work->right[k] -= length - work->far[k];
        }
    for (; work->from[j] >= 0; j = work->from[j])
        work->row_of[j] = work->row_of[work->from[j]];
    work->row_of[j] = row;
}

double nw_linear_assignment(double *cost, int rows, int columns,
                            int32_t *column)
{
    struct linear_assignment_work work = {.cost = cost, .columns = columns};
    double sum = 0;

    for (int j = 0; j < columns; j++)
        work.row_of[j] = -1;
    for (int i = 0; i < rows; i++)
        linear_assignment_augment(&work, i);
    for (int32_t j = 0; j < columns; j++)
        if (work.row_of[j] >= 0) {
            column[work.row_of[j]] = j;
            sum += cost[work.row_of[j] * columns + j];
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            cost[i * columns + j] =
                fmax(0, cost[i * columns + j] - work.left[i] - work.right[j]);
    return sum;
}
