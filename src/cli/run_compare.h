/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the default placement and the mapping in turns and measures both. */
#ifndef NW_CLI_RUN_COMPARE_H
#define NW_CLI_RUN_COMPARE_H

#include "cli/run_plan.h"

struct nw_comparison {
    size_t wanted, rounds; /* number of rounds: requested, completed */
    double *seconds[2];    /* [0] duration of each default run, [1] of each
                              mapped run, in s, with start and end of the
                              launcher */
    /* duration of the default run divided by that of the mapped run: median,
     * minimum and maximum of the rounds */
    double speedup, least, most;
    bool quiet; /* print neither rounds nor the result, only a failed run */
};

/* Runs out->wanted rounds. Each round runs the default placement and the
 * mapping once; the one that runs first alternates. A failed run or a signal
 * ends the comparison. Returns the exit status of the failed run, 128 + the
 * signal's number after a signal, or an error's exit status if the comparison
 * itself fails; else 0. */
int nw_run_compare(const struct nw_job *job, const struct nw_run_plan *plan,
                   struct nw_comparison *out);
/* Prints the measured times and speed-up beside the prediction of the plan, in
 * one sentence. Prints nothing if no round was completed or comparison->quiet
 * is true. */
void nw_comparison_print(const struct nw_comparison *comparison,
                         const struct nw_run_plan *plan);
void nw_comparison_fini(struct nw_comparison *comparison);

#endif
