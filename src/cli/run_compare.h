/* SPDX-License-Identifier: BSD-3-Clause */
/* The default placement and the mapping, run in turns and measured. */
#ifndef NW_CLI_RUN_COMPARE_H
#define NW_CLI_RUN_COMPARE_H

#include "cli/run_plan.h"

struct nw_comparison {
    size_t wanted, rounds; /* asked for; completed */
    double *seconds[2];    /* [rounds] of the default and of the mapped run,
                              with the launcher's start and end */
    /* default over mapped: median, least and most of the rounds */
    double speedup, least, most;
    bool quiet; /* print no rounds */
};

/* Runs both `out->wanted` times, each first in every other round. A run that
 * fails, or a signal, ends the comparison; the exit status of that run, else 0.
 */
int nw_run_compare(const struct nw_job *job, const struct nw_run_plan *plan,
                   struct nw_comparison *out);
/* Prints the measured speed-up beside the prediction of the plan, in one
 * sentence. Prints nothing if no round was completed. */
void nw_comparison_print(const struct nw_comparison *comparison,
                         const struct nw_run_plan *plan);
void nw_comparison_fini(struct nw_comparison *comparison);

#endif
