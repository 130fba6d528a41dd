/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses a whole launcher line after `nodewise run --`, such as mpirun -n 4
 * ./app. */
#ifndef NW_CLI_LAUNCHER_LINE_H
#define NW_CLI_LAUNCHER_LINE_H

#include "cli/run_job.h"

/* If job->program begins with a launcher, stores the launcher, its options, the
 * number of ranks and the hosts in the other fields of the job; job->program
 * then has only the program. Otherwise changes nothing. Returns NW_EUNSUPPORTED
 * for a line that only the launcher understands (several programs, an unknown
 * option); job->program then stays unchanged. Returns NW_EINVAL if the line
 * contradicts options of `nodewise run`. */
NW_MUST_CHECK nw_status nw_job_paste(struct nw_job *job);

/* Returns NW_EINVAL if the launcher's options of --launcher give ranks or
 * hosts, which are options of `nodewise run`. */
NW_MUST_CHECK nw_status nw_job_check_launcher(const struct nw_job *job);

/* Returns the number of words before the program in a launcher's line, or the
 * number of all words if an option is unknown or the line has several programs.
 */
size_t nw_launcher_words(enum nw_launcher_kind launcher, char **argv);

#endif
