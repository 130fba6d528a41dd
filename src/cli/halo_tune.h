/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise halo tune: measures, prints or removes the choices of halo
 * methods. */
#ifndef NW_CLI_HALO_TUNE_H
#define NW_CLI_HALO_TUNE_H

#include <nodewise/halo.h>

struct nw_cli_halo_tuning {
    const struct nw_halo_options *plan; /* extent, radii, borders and interval
                                           of the exchange */
    /* number of arrays, bytes of an element, subdomains per rank */
    int32_t quantities, element, per_rank;
    const char *file; /* file of choices; NULL: the user's own file */
    bool show, clear;
    char **launcher; /* words after --, NULL at the end; NULL if not given */
};

/* Runs `nodewise halo tune`; returns the exit status. */
int nw_cli_halo_tune(const struct nw_cli_halo_tuning *tuning);

#endif
