/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole launcher line behind `nodewise run --`: mpirun -n 4 ./app. */
#ifndef NW_CLI_RUN_PASTE_H
#define NW_CLI_RUN_PASTE_H

#include "cli/run_job.h"

/* If job->program begins with a launcher, moves the launcher, its options,
 * ranks and hosts into the job, and leaves the program alone there. Otherwise
 * changes nothing. NW_EUNSUPPORTED: a launcher line that only the launcher
 * understands (several programs, an unknown option); job->program is then still
 * the whole line. NW_EINVAL: the line contradicts our own options. */
NW_MUST_CHECK nw_status nw_job_paste(struct nw_job *job);

#endif
