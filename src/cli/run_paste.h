/* SPDX-License-Identifier: BSD-3-Clause */
/* A whole launcher line behind `nodewise run --`: mpirun -n 4 ./app. */
#ifndef NW_CLI_RUN_PASTE_H
#define NW_CLI_RUN_PASTE_H

#include "cli/run_job.h"

/* If job->program begins with a launcher, moves the launcher, its options,
 * ranks and hosts into the job; job->program then has only the program.
 * Otherwise changes nothing. NW_EUNSUPPORTED: a line that only the launcher
 * understands (several programs, an unknown option); job->program stays
 * unchanged. NW_EINVAL: the line contradicts our own options. */
NW_MUST_CHECK nw_status nw_job_paste(struct nw_job *job);

#endif
