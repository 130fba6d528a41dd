/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise halo tune: measured choices of halo methods, made, shown, cleared.
 */
#ifndef NW_CLI_HALO_TUNE_H
#define NW_CLI_HALO_TUNE_H

#include <nodewise/halo.h>

struct nw_cli_halo_tuning {
    const struct nw_halo_options *plan; /* extent, radii, borders, interval */
    int32_t quantities, element, per_rank;
    const char *file; /* of choices; NULL: the user's own */
    bool show, clear;
    char **launcher; /* words after --; NULL where none */
};

/* Exit status. */
int nw_cli_halo_tune(const struct nw_cli_halo_tuning *tuning);

#endif
