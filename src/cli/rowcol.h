/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map --algorithm rowcol: its options and its function. */
#ifndef NW_CLI_ROWCOL_H
#define NW_CLI_ROWCOL_H

#include "cli/command.h"

#include <nodewise/rowcol.h>

/* The summary of rowcol in the list of algorithms. rowcol arranges a grid, not
 * a pattern. */
#define NW_ROWCOL_SUMMARY                                                      \
    "the rows and columns of a divided grid, by bandwidths"

/* The argp parser of rowcol's options; its input is a struct nw_cli_rowcol. */
extern const struct argp nw_rowcol_argp;

struct nw_cli_rowcol {
    const char *bandwidths; /* file of bandwidths, or NULL: those of the
                               topology */
    int32_t grid[3];        /* cells of the grid in each dimension; 0: not
                               given */
    int32_t halo;           /* width of the halo in cells; 0: not given */
    const char *speeds;     /* file of speeds, or NULL: all equal */
    bool single, periodic, all_shapes, paper, slowest;
    const char *option; /* name of the last of rowcol's options on the command
                           line */
};

/* Arranges a grid of processes, one on each node of the machine `source`, and
 * writes the mapping, the costs and, with --json, JSON. With --json but without
 * -o, the mapping is not written. `seed` is the seed of the search. Returns the
 * exit status. */
int nw_cli_rowcol(const struct nw_cli_rowcol *rowcol,
                  const struct nw_common *common, const char *source,
                  uint64_t seed);

#endif
