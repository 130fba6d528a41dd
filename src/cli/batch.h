/* SPDX-License-Identifier: BSD-3-Clause */
/* What a batch system has given the job we are in, by the variables and files
 * that it leaves there: hosts and the ranks that each has room for. */
#ifndef NW_CLI_BATCH_H
#define NW_CLI_BATCH_H

#include "base/hostlist.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_batch {
    const char *variable;    /* that told it; NULL: we are in no such job */
    struct nw_hostlist host; /* each once, in the batch system's order */
    int32_t *slots;          /* [host.count] most ranks; 0: it does not say */
    bool counts_parts;       /* slots are parts of the job, that may hold more
                                ranks than one (PBS) */
};

/* Slurm's, where it is there, else that of LSF, Grid Engine, PBS, OAR,
 * Cobalt or Flux. A list that cannot be read fails, with the variable's name.
 */
NW_MUST_CHECK nw_status nw_batch_find(struct nw_batch *out);
void nw_batch_fini(struct nw_batch *batch);

#endif
