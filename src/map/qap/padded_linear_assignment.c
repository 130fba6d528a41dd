/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Solves the linear assignment problem that dual_ascent.c needs, by the
 * Hungarian method with shortest augmenting paths (Jonker and Volgenant,
 * Computing 38, 1987). A proof of optimality solves millions of these problems.
 * So rows are padded to a fixed width, and the loops over a row have no
 * branches. The result has the same bits with and without vector registers.
 */
#include "map/qap/dual_ascent.h"

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#define WIDE NW_QAP_WIDE
#define HUGE 1e300 /* cost in the padding after the last column */

#if defined(__x86_64__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

struct matching {
    double *cost; /* [n][WIDE] reduced costs, not negative */
    int n;
    uint32_t free;    /* bit mask of the columns without a row; only place_first
                         uses it */
    int row_of[WIDE]; /* row assigned to each column; -1: none */
};

/* reduce_columns fills the padding and subtracts from each column its least
 * number; reduce_rows subtracts from each row its least number. Both return the
 * sum of the subtracted numbers. */
INLINE double reduce_columns(double *cost, int n)
{
    double least[WIDE], sum = 0;

    for (int i = 0; i < n; i++)
        for (int k = n; k < WIDE; k++)
            cost[i * WIDE + k] = HUGE;
    for (int k = 0; k < WIDE; k++)
        least[k] = k < n ? cost[k] : 0;
    for (int i = 1; i < n; i++)
        for (int k = 0; k < WIDE; k++) {
            double now = cost[i * WIDE + k];

            least[k] = now < least[k] ? now : least[k];
        }
    for (int k = 0; k < n; k++)
        sum += least[k];
    for (int i = 0; i < n; i++)
        for (int k = 0; k < WIDE; k++)
            cost[i * WIDE + k] -= least[k];
    return sum;
}

INLINE double least_of(const double *row)
{
    double least[4] = {row[0], row[1], row[2], row[3]}, a, b;

    for (int k = 4; k < WIDE; k += 4)
        for (int j = 0; j < 4; j++)
            least[j] = row[k + j] < least[j] ? row[k + j] : least[j];
    a = least[0] < least[1] ? least[0] : least[1];
    b = least[2] < least[3] ? least[2] : least[3];
    return a < b ? a : b;
}

INLINE double reduce_rows(double *cost, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++) {
        double least = least_of(cost + i * WIDE);

        sum += least;
        for (int k = 0; k < WIDE; k++)
            cost[i * WIDE + k] -= least;
    }
    return sum;
}

/* Returns the bit mask of the columns in which the row has at most the cost
 * `most`. */
INLINE uint32_t columns_within(const double *row, double most)
{
    uint32_t bits = 0;

    for (int k = 0; k < WIDE; k++)
        bits |= (uint32_t)(row[k] <= most) << k;
    return bits;
}

/* Assigns rows at zero cost: to a free column, or to a column whose present row
 * can move to a free column at zero cost. Returns the bit mask of the rows that
 * stay unassigned. */
INLINE uint32_t place_first(struct matching *work)
{
    uint32_t nothing[WIDE], left = 0;

    for (int i = 0; i < work->n; i++) {
        uint32_t fit;

        nothing[i] = columns_within(work->cost + i * WIDE, 0);
        fit = nothing[i] & work->free;
        for (uint32_t taken = fit ? 0 : nothing[i]; taken; taken &= taken - 1) {
            int column = __builtin_ctz(taken), row = work->row_of[column];
            uint32_t other = nothing[row] & work->free;

            if (!other)
                continue;
            work->row_of[__builtin_ctz(other)] = row;
            work->free &= ~(other & -other);
            work->row_of[column] = i;
            break;
        }
        left |= (uint32_t)!fit << i;
        if (fit) {
            work->row_of[__builtin_ctz(fit)] = i;
            work->free &= ~(fit & -fit);
        }
    }
    for (int k = 0; k < work->n; k++)
        if (work->row_of[k] >= 0)
            left &= ~(1u << work->row_of[k]);
    return left;
}

/* Types for vectors of four columns. They are used because the compiler does
 * not vectorise the loop of `shorten` itself. */
typedef double four __attribute__((vector_size(32), aligned(8)));
typedef int64_t fours __attribute__((vector_size(32), aligned(8)));

/* The shortest paths from one row to all columns. */
struct ways {
    double length[WIDE];
    int64_t before[WIDE]; /* row before each column on the path */
    double shut[WIDE];    /* HUGE if the path to the column is final, else 0 */
    uint32_t known;
};

/* Replaces paths to columns by shorter ones that pass through `row`, which is
 * at the distance `length`. Sets open[] to the lengths of the paths, at least
 * HUGE for those that are final. */
INLINE void shorten(const double *cost, struct ways *ways, int row,
                    double length, double *open)
{
    for (int k = 0; k < WIDE; k += 4) {
        four *to = (four *)&ways->length[k];
        fours *before = (fours *)&ways->before[k];
        four now = *(const four *)&cost[k] + length;
        fours shorter = now < *to;

        *to = (four)(((fours)now & shorter) | ((fours)*to & ~shorter));
        *before =
            ((fours){row, row, row, row} & shorter) | (*before & ~shorter);
        *(four *)&open[k] = *to + *(four *)&ways->shut[k];
    }
}

/* Extends the paths through a row. Returns the nearest column whose path was
 * not final yet, and makes its path final. */
INLINE int extend(const struct matching *work, struct ways *ways, int row,
                  double length)
{
    double open[WIDE];
    int column;

    shorten(work->cost + row * WIDE, ways, row, length, open);
    column = __builtin_ctz(columns_within(open, least_of(open)));
    ways->shut[column] = HUGE;
    ways->known |= 1u << column;
    return column;
}

/* Changes the reduced costs so that the found path costs zero. This is the
 * change of the dual variables of rows and columns. */
INLINE void reprice(struct matching *work, const struct ways *ways, int row,
                    double length)
{
    double on_column[WIDE] = {0}, off_row[WIDE] = {0};

    off_row[row] = length;
    for (uint32_t known = ways->known; known; known &= known - 1) {
        int k = __builtin_ctz(known);

        on_column[k] = length - ways->length[k];
        if (work->row_of[k] >= 0)
            off_row[work->row_of[k]] = on_column[k];
    }
    for (int i = 0; i < work->n; i++)
        for (int k = 0; k < WIDE; k++) {
            double left = work->cost[i * WIDE + k] - off_row[i] + on_column[k];

            /* rounding could make the reduced cost negative */
            work->cost[i * WIDE + k] = left > 0 ? left : 0;
        }
}

/* Assigns a column to a row along the shortest augmenting path; other rows on
 * the path get other columns. Returns the added cost. */
INLINE double add_row(struct matching *work, int row)
{
    struct ways ways = {.known = 0};
    int column, at = row;
    double length = 0;

    for (int k = 0; k < WIDE; k++)
        ways.length[k] = HUGE;
    for (;;) {
        column = extend(work, &ways, at, length);
        length = ways.length[column];
        at = work->row_of[column];
        if (at < 0)
            break;
    }
    reprice(work, &ways, row, length);
    do {
        int before = (int)ways.before[column], next = -1;

        for (int k = 0; before != row && k < work->n; k++)
            next = work->row_of[k] == before ? k : next;
        work->row_of[column] = before;
        column = next;
    } while (column >= 0);
    return length;
}

INLINE double solve(double *cost, int n)
{
    struct matching work = {.cost = cost, .n = n, .free = (1u << n) - 1};
    double sum = reduce_columns(cost, n) + reduce_rows(cost, n);
    uint32_t left;

    for (int k = 0; k < WIDE; k++)
        work.row_of[k] = -1;
    for (left = place_first(&work); left; left &= left - 1)
        sum += add_row(&work, __builtin_ctz(left));
    return sum;
}

#if defined(__x86_64__)
__attribute__((target("avx2"))) static double solve_wide(double *cost, int n)
{
    return solve(cost, n);
}
#endif

double nw_qap_padded_assignment(double *cost, int n)
{
    assert(n > 0 && n <= WIDE);
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2"))
        return solve_wide(cost, n);
#endif
    return solve(cost, n);
}
