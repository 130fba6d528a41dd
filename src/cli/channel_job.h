/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise channel tune -- LAUNCHER: what the ranks of an MPI measure. */
#ifndef NW_CLI_CHANNEL_JOB_H
#define NW_CLI_CHANNEL_JOB_H

#include <nodewise/status.h>

/* `launcher` ends with NULL and contains no program; `mpi` is openmpi, mpich or
 * NULL (the launcher's MPI). *table receives only the messages' lines; the
 * caller frees it. NW_ENODEV if nothing can be measured. */
NW_MUST_CHECK nw_status nw_cli_channel_job(char **launcher, const char *mpi,
                                           char **table);

/* A table of thresholds out of a file, checked; free it. NW_EFORMAT and NW_EIO
 * with file and line. */
NW_MUST_CHECK nw_status nw_cli_channel_table(const char *path, char **out);

#endif
