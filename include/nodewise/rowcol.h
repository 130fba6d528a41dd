/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Arrangement of p processes as r rows and c columns of a divided grid on a
 * machine whose links differ. Cost and heuristic are from Szustak, Wyrzykowski,
 * Malik and Lastovetsky (2016); a search of our own is added. A grid of n x m
 * columns of cells gives each process n / r rows and m / c columns. A process
 * exchanges data with its neighbour in the row (horizontal) and in the column
 * (vertical).
 *
 * The paper leaves some points open. This library decides them as follows:
 *
 * - Neighbours form a chain, not a ring; a ring cannot give the paper's
 *   figures.
 * - The vertical index runs over rows.
 * - Of equal solutions the first is taken. As in the paper's figure, columns
 *   come before rows.
 * - Shapes of one row or one column are used only if all_shapes is set.
 * - The next iteration of the heuristic takes the processes in the order of the
 *   last arrangement, read column by column.
 */
#ifndef NODEWISE_ROWCOL_H
#define NODEWISE_ROWCOL_H

#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bandwidths between all pairs of processes, in bytes/s, and the groups of
 * processes. Processes of a group follow one another in the given order. */
struct nw_bandwidths {
    int32_t count;
    int32_t *group;                /* [count] group of each process; the numbers
                                      start at 0 and ascend */
    double *horizontal, *vertical; /* [count * count] bandwidth from process x
                                      to process y at index x * count + y */
};
NW_API void nw_bandwidths_fini(struct nw_bandwidths *bandwidths);
/* Reads the format `nodewise bandwidths 1` of nodewise-formats(5). NW_EFORMAT:
 * a pair is missing or not positive. The caller releases *out with
 * nw_bandwidths_fini. */
NW_API NW_MUST_CHECK nw_status nw_bandwidths_read(const char *path,
                                                  struct nw_bandwidths *out);
/* Bandwidths of a machine with one process on each node. Both bandwidths of a
 * pair are those of the slowest link on its route. Adjacent nodes whose names
 * differ only in a number form a group. The caller releases *out with
 * nw_bandwidths_fini. */
NW_API NW_MUST_CHECK nw_status nw_bandwidths_of(const nw_topology *topology,
                                                struct nw_bandwidths *out);

enum nw_rowcol_objective {
    NW_ROWCOL_SUM,     /* sum of the times of all links, as in the paper */
    NW_ROWCOL_SLOWEST, /* time of the rank whose exchange takes longest */
};

/* The grid, the processes and the objective of an arrangement. */
struct nw_rowcol_problem {
    const struct nw_bandwidths *bandwidths;
    double row_bytes;    /* bytes that a whole side of n cells sends */
    double column_bytes; /* bytes that a whole side of m cells sends */
    bool periodic;
    bool all_shapes; /* also shapes of one row or one column */
    int32_t most[2]; /* maximum rows and columns of a shape; 0: no limit.
                        NW_EINVAL if no shape remains */
    enum nw_rowcol_objective objective;
    uint64_t seed;
    const double *speed; /* speed of each process, above 0; NULL: all equal.
                            With speeds, rows and columns have the heights and
                            widths of nw_rowcol_shares instead of n / r and m /
                            c */
};

/* Costs in microseconds, as in the paper. */
struct nw_rowcol_cost {
    double horizontal, vertical; /* the paper's two sums */
    double slowest;              /* time of the rank whose exchange takes
                                    longest */
};

/* An arrangement of processes. */
struct nw_rowcol {
    int32_t rows, columns;
    int32_t *process; /* [rows * columns], row by row; free() */
    struct nw_rowcol_cost cost;
    int32_t iterations; /* iterations of the heuristic */
};

/* Computes the height of each row and the width of each column as fractions of
 * 1, so that the slowest process finishes as early as rows and columns allow.
 */
NW_API void nw_rowcol_shares(const struct nw_rowcol_problem *problem,
                             const struct nw_rowcol *arrangement,
                             double *height, double *width);
NW_API void nw_rowcol_evaluate(const struct nw_rowcol_problem *problem,
                               const struct nw_rowcol *arrangement,
                               struct nw_rowcol_cost *out);
/* The figure that the objective minimises. */
NW_API double nw_rowcol_figure(const struct nw_rowcol_problem *problem,
                               const struct nw_rowcol_cost *cost);

/* The heuristic as printed in the paper. It repeats both steps until neither
 * changes the arrangement, and it minimises the sum. More than 8 groups or
 * columns are not enumerated; swaps minimise their order instead. The caller
 * frees out->process with free(). */
NW_API NW_MUST_CHECK nw_status
nw_rowcol_paper(const struct nw_rowcol_problem *problem, struct nw_rowcol *out);
/* Our search, never worse than the heuristic. Equal seeds give equal results.
 * The caller frees out->process with free().
 *
 * - The sum of a shape is minimal, with a proof, for up to 14 processes and for
 *   wide shapes also beyond.
 * - The slowest rank, and unequal speeds, are minimal if all orders can be
 *   tried: 10 processes, or 8 with speeds.
 * - Otherwise the search starts from many arrangements and applies swaps,
 *   reversals and moves until none improves the result. */
NW_API NW_MUST_CHECK nw_status
nw_rowcol_best(const struct nw_rowcol_problem *problem, struct nw_rowcol *out);

#ifdef __cplusplus
}
#endif
#endif
