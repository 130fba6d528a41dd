/* SPDX-License-Identifier: BSD-3-Clause */
/* LLNL's Comb beside nodewise bench halo, where it is installed. */
#ifndef NW_CLI_BENCH_COMB_H
#define NW_CLI_BENCH_COMB_H

#include <nodewise/status.h>

struct nw_comb {
    const char *benchmark; /* nodewise-bench-halo-FLAVOUR */
    char **own;            /* its options, up to "--" or NULL */
    char **launcher;       /* and NULL */
    char *figures; /* out, owned: rows for --comb; NULL where there are none */
};

/* Times the same halos by the Comb on the PATH, under the same launcher, and
 * gives what it says in comb->figures. Where there is no Comb, nothing. */
NW_MUST_CHECK nw_status nw_bench_comb(struct nw_comb *comb);

#endif
