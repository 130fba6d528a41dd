/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts nodewise-probe, the program that measures, under a launcher. */
#ifndef NW_CLI_PROBE_RUN_H
#define NW_CLI_PROBE_RUN_H

#include <nodewise/probe.h>
#include <nodewise/progress.h>

struct nw_probe_run {
    char **launcher;     /* words of the launcher, NULL at the end; no
                            program */
    const char *flavour; /* openmpi or mpich; NULL: that of the launcher */
    double seconds;      /* longest time for the measurements */
    double patience;     /* seconds without a message from a rank until it
                            counts as failed */
    double start;        /* seconds in which the first rank must answer; 0: 30 s
                            + 8 x patience */
    bool describe;       /* collect only hosts and cores; measure nothing */
    bool host_only;      /* measure no GPU memory */
    bool verbose;        /* print each step to standard error */
    struct nw_progress *progress; /* or NULL */
};

/* Runs the measurements and stores their records in `probe`; *code is the
 * launcher's exit status. Returns NW_ENODEV if launcher or program is missing.
 * A job that failed returns NW_OK, but nw_probe_is_done is then false. */
NW_MUST_CHECK nw_status nw_probe_run_job(const struct nw_probe_run *run,
                                         nw_probe *probe, int *code);

#endif
