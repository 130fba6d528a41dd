/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts the measuring program under a launcher. */
#ifndef NW_CLI_PROBER_H
#define NW_CLI_PROBER_H

#include <nodewise/probe.h>
#include <nodewise/progress.h>

struct nw_prober {
    char **launcher;     /* words, NULL at the end; no program */
    const char *flavour; /* openmpi, mpich; NULL: the launcher's */
    double seconds;      /* that measuring may take */
    double patience;     /* to wait for a rank that says nothing */
    double start;        /* for the launcher to start them all; 0: 30 s and
                            more with `patience` */
    bool describe;       /* hosts and cores only, nothing is measured */
    bool host_only;      /* no GPU memory */
    bool verbose;        /* say each step on stderr */
    struct nw_progress *progress; /* or NULL */
};

/* Stores the records in `probe`. *code is the launcher's exit status. NW_ENODEV
 * if launcher or program is missing. A job that failed gives NW_OK, but
 * nw_probe_is_done is false. */
NW_MUST_CHECK nw_status nw_prober_run(const struct nw_prober *prober,
                                      nw_probe *probe, int *code);

#endif
