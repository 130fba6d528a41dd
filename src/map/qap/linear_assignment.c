/* SPDX-License-Identifier: BSD-3-Clause */
/* Linear assignment by shortest augmenting paths (Jonker and Volgenant,
 * Computing 38, 1987, the augmentation alone). */
#include "map/qap/linear_assignment.h"

#include <math.h>
#include <stdbool.h>

struct lap {
    const double *cost;
    int rows, columns;
    double left[NW_LAP_MOST], right[NW_LAP_MOST]; /* duals */
    int32_t row_of[NW_LAP_MOST];                  /* of a column, -1 free */
    double far[NW_LAP_MOST]; /* length of the shortest path to a column */
    int32_t from[NW_LAP_MOST];
    bool done[NW_LAP_MOST];
};

/* Lengths of the paths on by `row`, which is `at` away; -1: by the row the
 * search began with. Returns the nearest column not done. */
static int32_t look_on(struct lap *lap, int row, int32_t by, double at)
{
    int32_t nearest = -1;

    for (int32_t j = 0; j < lap->columns; j++) {
        double length;

        if (lap->done[j])
            continue;
        length = at + lap->cost[row * lap->columns + j] - lap->left[row] -
                 lap->right[j];
        if (length < lap->far[j]) {
            lap->far[j] = length;
            lap->from[j] = by;
        }
        if (nearest < 0 || lap->far[j] < lap->far[nearest])
            nearest = j;
    }
    return nearest;
}

static void augment(struct lap *lap, int row)
{
    int32_t j, by = -1;
    int at = row;
    double length = 0;

    for (j = 0; j < lap->columns; j++) {
        lap->far[j] = INFINITY;
        lap->done[j] = false;
    }
    for (;;) {
        j = look_on(lap, at, by, length);
        length = lap->far[j];
        if (lap->row_of[j] < 0)
            break;
        lap->done[j] = true;
        by = j;
        at = lap->row_of[j];
    }
    lap->left[row] += length;
    for (int32_t k = 0; k < lap->columns; k++)
        if (lap->done[k]) {
            lap->left[lap->row_of[k]] += length - lap->far[k];
            lap->right[k] -= length - lap->far[k];
        }
    for (; lap->from[j] >= 0; j = lap->from[j])
        lap->row_of[j] = lap->row_of[lap->from[j]];
    lap->row_of[j] = row;
}

double nw_lap_solve(double *cost, int rows, int columns, int32_t *column)
{
    struct lap lap = {.cost = cost, .rows = rows, .columns = columns};
    double sum = 0;

    for (int j = 0; j < columns; j++)
        lap.row_of[j] = -1;
    for (int i = 0; i < rows; i++)
        augment(&lap, i);
    for (int32_t j = 0; j < columns; j++)
        if (lap.row_of[j] >= 0) {
            column[lap.row_of[j]] = j;
            sum += cost[lap.row_of[j] * columns + j];
        }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            cost[i * columns + j] =
                fmax(0, cost[i * columns + j] - lap.left[i] - lap.right[j]);
    return sum;
}
