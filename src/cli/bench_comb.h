/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs LLNL's Comb beside nodewise bench halo, if Comb is installed. */
#ifndef NW_CLI_BENCH_COMB_H
#define NW_CLI_BENCH_COMB_H

#include <nodewise/status.h>

struct nw_comb {
    const char *benchmark; /* path of nodewise-bench-halo-openmpi or
                              nodewise-bench-halo-mpich */
    char **own;            /* options of the benchmark; end at "--" or NULL */
    char **launcher;       /* words of the launcher; end at NULL */
    char *figures;         /* output, freed by the caller: the value of
                              --comb for the benchmark; NULL without Comb */
};

/* Times the same halos with the Comb on the PATH, under the same launcher, and
 * stores its figures in comb->figures. Does nothing if Comb is not installed.
 * NW_EIO: Comb was found but gave no figures. */
NW_MUST_CHECK nw_status nw_bench_comb(struct nw_comb *comb);

#endif
