/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of the batch job that this process belongs to, and the most ranks
 * on each host. The batch system describes both in variables and files. */
#ifndef NW_CLI_BATCH_H
#define NW_CLI_BATCH_H

#include "base/hostlist.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_batch {
    const char *variable;    /* describes the job; NULL: not in a batch job */
    struct nw_hostlist host; /* each once, in the batch system's order */
    int32_t *slots;          /* [host.count] most ranks; 0: unknown */
    bool counts_parts;       /* slots are parts of the job, that may hold more
                                ranks than one (PBS) */
};

/* Reads the job of Slurm or, in this order, of LSF, Grid Engine, PBS, OAR,
 * Cobalt or Flux. A list that cannot be read is an error that names the
 * variable. */
NW_MUST_CHECK nw_status nw_batch_find(struct nw_batch *out);
void nw_batch_fini(struct nw_batch *batch);

#endif
