/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of running MPI programs. The library whose path nw_profile_library
 * returns counts the messages. Preload it into the program with NW_ENV_PRELOAD,
 * and set NW_ENV_RECORD to the path of the profile. nodewise-profile(1)
 * explains what is counted.
 */
#ifndef NODEWISE_PROFILE_H
#define NODEWISE_PROFILE_H

#include <nodewise/pattern.h>
#include <nodewise/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define NW_ENV_PRELOAD "LD_PRELOAD"
#define NW_ENV_RECORD "NODEWISE_RECORD"

/* Finds the library for an MPI flavour, "openmpi" or "mpich", or NCCL's
 * profiler plug-in for "nccl", beside the running program or in the
 * installation. NW_ENODEV: not found. NW_EUNSUPPORTED: its path has a blank or
 * a colon, which LD_PRELOAD does not take. The caller frees *path with free().
 * Local. */
NW_API NW_MUST_CHECK nw_status nw_profile_library(const char *flavour,
                                                  char **path);

/* Builds a profile from the partial files that the ranks of a failed program
 * left beside the profile `path`. If several programs left files, the last
 * program is used. (*out)->partial gives the reason of the failure. NW_ENODEV:
 * no such files exist. NW_EFORMAT: a file was not written by this library.
 * The caller frees *out with nw_pattern_free. Local. */
NW_API NW_MUST_CHECK nw_status nw_profile_merge(const char *path,
                                                nw_pattern **out);
/* Removes the partial files of `path`, also those of MPI worlds that the
 * program spawned. Files are recognised by name and content. Files of ranks
 * that still run are kept. Local. */
NW_API void nw_profile_remove_parts(const char *path);

/* Checks a value for NODEWISE_COLLECTIVES, such as "off" or
 * "bcast:binomial,allreduce:ring". NW_EINVAL: the sentence names the invalid
 * word. Local. */
NW_API NW_MUST_CHECK nw_status nw_profile_check_models(const char *models);

/* --- inside an MPI program, by the preloaded libraries --- */

/* Begins a region on this rank. The region gets a profile of its own, which
 * nw_profile_end writes. NW_ENODEV: the program is not recorded. NW_EINVAL: a
 * region is already open. Local. */
NW_MPI_API NW_MUST_CHECK nw_status nw_profile_begin(void);
/* Ends the region: rank 0 writes the traffic of all ranks since their
 * nw_profile_begin to `path`. The profile of the whole run does not change.
 * NW_EINVAL: no region is open. NW_EIO: the file could not be written.
 * Collective over MPI_COMM_WORLD. */
NW_MPI_API NW_MUST_CHECK nw_status nw_profile_end(const char *path);
/* Closes the region of this rank without writing a file, if a region is open.
 * The profile of the whole run does not change. Local. */
NW_MPI_API void nw_profile_discard(void);

#ifdef __cplusplus
}
#endif
#endif
