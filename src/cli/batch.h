/* SPDX-License-Identifier: BSD-3-Clause */
/* The hosts of the batch job that this process belongs to, and the most ranks
 * on each host. The batch system describes both in variables and files; Flux is
 * asked by its command. */
#ifndef NW_CLI_BATCH_H
#define NW_CLI_BATCH_H

#include "base/hostlist.h"
#include "base/name_index.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

struct nw_batch {
    const char *variable;    /* the variable that describes the job; NULL
                                outside a batch job */
    struct nw_hostlist host; /* names of the hosts, each once, in the batch
                                system's order */
    int32_t *slots;          /* [host.count] most ranks on each host; 0:
                                unknown */
    /* [host.count] number of tasks (Slurm) or chunks (PBS) of the job on each
     * host, as the launcher of the batch system counts them; 0: unknown. The
     * job may run more ranks than tasks if `slots` permit. */
    int32_t *tasks;
    /* while the hosts are read: */
    struct nw_name_table table; /* of the host names */
    size_t slot_capacity, task_capacity;
};

/* Returns the name of the variable that describes the batch job of this
 * process, or NULL outside a batch job. */
const char *nw_batch_variable(void);
/* Finds the batch job of this process: that of Slurm, LSF, Grid Engine, PBS,
 * OAR, Cobalt or Flux, in this order. Outside a batch job, out->variable is
 * NULL. Returns an error that names the variable if the hosts cannot be found.
 * The caller releases *out with nw_batch_fini. */
NW_MUST_CHECK nw_status nw_batch_find(struct nw_batch *out);
/* Returns true if there are hosts, the tasks of all of them, tasks[count], are
 * known, and their sum is at least `ranks`. */
bool nw_batch_tasks_hold(const int32_t *tasks, size_t count, int32_t ranks);
void nw_batch_fini(struct nw_batch *batch);

#endif
