/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The arrangement of p processes as r rows and c columns of a divided grid,
 * where links differ: the cost and the heuristic of Szustak, Wyrzykowski, Malik
 * and Lastovetsky (2016), and a search of our own. A grid of n x m columns of
 * cells gives each process n / r rows and m / c columns; it exchanges with its
 * neighbour in the row (horizontal) and in the column (vertical).
 *
 * What the paper leaves open is decided so: the neighbours are a chain, not a
 * ring (a ring cannot give the paper's figures); the vertical index runs over
 * rows; among equals the first stands, by columns before by rows as in the
 * paper's picture; shapes of one row or column are left out
 * unless asked for; what an iteration hands to the next is read column by
 * column.
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

/* Bandwidths between all pairs of processes, in bytes/s, and the groups that
 * follow one another in the given order. */
struct nw_bandwidths {
    int32_t count;
    int32_t *group;                /* [count], from 0, ascending */
    double *horizontal, *vertical; /* [count * count], from x to y at x, y */
};
NW_API void nw_bandwidths_fini(struct nw_bandwidths *bandwidths);
/* Reads a file of nodewise-formats(5), `nodewise bandwidths 1`. NW_EFORMAT
 * where a pair is missing or not positive. */
NW_API NW_MUST_CHECK nw_status nw_bandwidths_read(const char *path,
                                                  struct nw_bandwidths *out);
/* One process a node, the slowest link of each route both ways; groups are
 * nodes next to each other whose names differ in a number only. */
NW_API NW_MUST_CHECK nw_status nw_bandwidths_of(const nw_topology *topology,
                                                struct nw_bandwidths *out);

enum nw_rowcol_objective {
    NW_ROWCOL_SUM,     /* the paper's: all links, one after the other */
    NW_ROWCOL_SLOWEST, /* the rank whose exchange takes longest */
};

struct nw_rowcol_problem {
    const struct nw_bandwidths *bandwidths;
    double row_bytes;    /* what a whole side of n cells hands over */
    double column_bytes; /* and one of m cells */
    bool periodic;
    bool all_shapes; /* those of one row or column too */
    int32_t most[2]; /* rows and columns that a shape may have; 0: any. Where
                        none is left, NW_EINVAL */
    enum nw_rowcol_objective objective;
    uint64_t seed;
    const double *speed; /* of each process, above 0; NULL: all equal. Rows and
                            columns then have the heights and widths of
                            nw_rowcol_shares instead of n / r and m / c */
};

/* Costs in microseconds: with bandwidths in bytes/s, one unit of the paper. */
struct nw_rowcol_cost {
    double horizontal, vertical; /* the paper's two sums */
    double slowest;              /* of all ranks */
};

struct nw_rowcol {
    int32_t rows, columns;
    int32_t *process; /* [rows * columns], row by row; free() */
    struct nw_rowcol_cost cost;
    int32_t iterations; /* of the heuristic */
};

/* The height of each row and the width of each column as parts of 1, so that
 * the slowest process is done as early as rows and columns allow. */
NW_API void nw_rowcol_shares(const struct nw_rowcol_problem *problem,
                             const struct nw_rowcol *arrangement,
                             double *height, double *width);
NW_API void nw_rowcol_evaluate(const struct nw_rowcol_problem *problem,
                               const struct nw_rowcol *arrangement,
                               struct nw_rowcol_cost *out);
/* The figure that the objective lowers. */
NW_API double nw_rowcol_figure(const struct nw_rowcol_problem *problem,
                               const struct nw_rowcol_cost *cost);

/* The heuristic as printed, both steps to their fixed point, by the sum.
 * Orders of more than 8 groups or columns, which it would enumerate, are
 * swapped to a minimum instead. */
NW_API NW_MUST_CHECK nw_status
nw_rowcol_paper(const struct nw_rowcol_problem *problem, struct nw_rowcol *out);
/* Our search: the least sum of each shape, proven, up to 14 processes and for
 * wide shapes beyond; the slowest rank's and that of unequal speeds where all
 * orders can be tried (10 processes; 8 with speeds); else from many beginnings
 * swaps, reversals and moves until none helps. Never worse than the heuristic.
 * The same seed gives the same answer. */
NW_API NW_MUST_CHECK nw_status
nw_rowcol_best(const struct nw_rowcol_problem *problem, struct nw_rowcol *out);

#ifdef __cplusplus
}
#endif
#endif
