/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map --algorithm rowcol: its options and its function. */
#ifndef NW_CLI_ROWCOL_H
#define NW_CLI_ROWCOL_H

#include "cli/command.h"

#include <nodewise/rowcol.h>

/* rowcol is listed as an algorithm, but arranges a grid instead of a pattern.
 * */
#define NW_ROWCOL_SUMMARY                                                      \
    "the rows and columns of a divided grid, by bandwidths"

/* The argp child that reads them; its input is a struct nw_cli_rowcol. */
extern const struct argp nw_rowcol_argp;

struct nw_cli_rowcol {
    const char *bandwidths; /* a file, or NULL: the topology's */
    int32_t grid[3];        /* 0 where not given */
    int32_t halo;
    const char *speeds; /* a file, or NULL: all equal */
    bool single, periodic, all_shapes, paper, slowest;
    const char *option; /* the last of these that was given; NULL */
};

/* Arranges one process a node of the SOURCE; the exit status. */
int nw_cli_rowcol(const struct nw_cli_rowcol *rowcol,
                  const struct nw_common *common, const char *source,
                  uint64_t seed);

#endif
