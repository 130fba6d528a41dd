/* SPDX-License-Identifier: BSD-3-Clause */
/* The linear assignment problem of the bound: the Hungarian method by shortest
 * augmenting paths (Jonker and Volgenant 1987). */
#include "halo/plan/assign.h"

#include <assert.h>
#include <float.h>
#include <stdbool.h>

#define MOST 32

struct hungarian {
    const double *price;
    int n;
    double row_price[MOST + 1], column_price[MOST + 1];
    int row_of[MOST + 1]; /* of a column; both from 1, 0 is none */
};

/* The column on the shortest way that is not visited yet; prices follow. */
static int step(struct hungarian *work, double *least, int *before, bool *seen,
                int column)
{
    int row = work->row_of[column], next = 0;
    double delta = DBL_MAX;

    seen[column] = true;
    for (int j = 1; j <= work->n; j++) {
        double now;

        if (seen[j])
            continue;
        now = work->price[(row - 1) * work->n + j - 1] - work->row_price[row] -
              work->column_price[j];
        if (now < least[j]) {
            least[j] = now;
            before[j] = column;
        }
        if (least[j] < delta) {
            delta = least[j];
            next = j;
        }
    }
    for (int j = 0; j <= work->n; j++)
        if (seen[j]) {
            work->row_price[work->row_of[j]] += delta;
            work->column_price[j] -= delta;
        } else {
            least[j] -= delta;
        }
    return next;
}

static void add_row(struct hungarian *work, int row)
{
    double least[MOST + 1];
    int before[MOST + 1] = {0}, column = 0;
    bool seen[MOST + 1] = {false};

    for (int j = 0; j <= work->n; j++)
        least[j] = DBL_MAX;
    work->row_of[0] = row;
    do
        column = step(work, least, before, seen, column);
    while (work->row_of[column]);
    for (; column; column = before[column])
        work->row_of[column] = work->row_of[before[column]];
}

/* The least of each row, then of each column is taken out; rows that then cost
 * nothing somewhere are placed. */
static void begin(struct hungarian *work, bool *placed)
{
    int n = work->n;

    for (int i = 1; i <= n; i++) {
        const double *row = work->price + (i - 1) * n;

        work->row_price[i] = row[0];
        for (int j = 1; j < n; j++)
            if (row[j] < work->row_price[i])
                work->row_price[i] = row[j];
    }
    for (int j = 1; j <= n; j++) {
        int tight = 0;

        work->column_price[j] = DBL_MAX;
        for (int i = 1; i <= n; i++) {
            double left = work->price[(i - 1) * n + j - 1] - work->row_price[i];

            if (left < work->column_price[j] ||
                (left == work->column_price[j] && placed[tight])) {
                work->column_price[j] = left;
                tight = i;
            }
        }
        if (!placed[tight])
            work->row_of[j] = tight;
        placed[tight] = true;
    }
}

double nw_halo_linear_assignment(const double *price, int n, double *reduced)
{
    struct hungarian work = {.price = price, .n = n};
    bool placed[MOST + 1] = {false};
    double sum = 0;

    assert(n <= MOST);
    begin(&work, placed);
    for (int row = 1; row <= n; row++)
        if (!placed[row])
            add_row(&work, row);
    for (int i = 0; i < n; i++) {
        sum += work.row_price[i + 1] + work.column_price[i + 1];
        for (int j = 0; j < n; j++) {
            double left = price[i * n + j] - work.row_price[i + 1] -
                          work.column_price[j + 1];

            reduced[i * n + j] = left > 0 ? left : 0; /* rounding */
        }
    }
    return sum;
}
