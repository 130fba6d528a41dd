/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Profiles of running MPI programs. The counting is done by the library that
 * nw_profile_library names, preloaded under the program with NW_ENV_PRELOAD
 * and with NW_ENV_RECORD set to the profile's file; nodewise-profile(1) says
 * what is counted and how.
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

/* The library for an MPI flavour, "openmpi" or "mpich": beside the running
 * program or where it was installed. NW_ENODEV where there is none. The
 * caller frees *path. Local. */
NW_API NW_MUST_CHECK nw_status nw_profile_library(const char *flavour,
                                                  char **path);

/* Puts together what the ranks of a program that came to no good end left
 * beside the profile `path`, of several programs the last one, and names the
 * reason in (*out)->partial. NW_ENODEV where there are no such files;
 * NW_EFORMAT where one is none of ours. Local.
 */
NW_API NW_MUST_CHECK nw_status nw_profile_merge(const char *path,
                                                nw_pattern **out);
/* Removes those files, and those of worlds spawned by the program, by their
 * names and contents; files of living ranks stay. Local. */
NW_API void nw_profile_remove_parts(const char *path);

/* NW_EINVAL, with the word, where `models` is nothing that NODEWISE_COLLECTIVES
 * may hold: "off", or "bcast:binomial,allreduce:ring". Local. */
NW_API NW_MUST_CHECK nw_status nw_profile_check_models(const char *models);

/* --- inside an MPI program, by the preloaded libraries --- */

#ifdef MPI_VERSION
#define NW_MPI_API NW_API
/* A region with a profile of its own: begins here, on this rank. NW_ENODEV if
 * the program is not recorded, NW_EINVAL if a region is open already. Local. */
NW_MPI_API NW_MUST_CHECK nw_status nw_profile_begin(void);
/* Writes what all ranks sent since their nw_profile_begin to `path`, on rank 0.
 * The profile of the whole run does not change. NW_EINVAL if no region is open,
 * NW_EIO if the file could not be written. Collective over MPI_COMM_WORLD. */
NW_MPI_API NW_MUST_CHECK nw_status nw_profile_end(const char *path);
/* Closes the region of this rank and writes nothing; without an open region it
 * does nothing. The profile of the whole run does not change. Local. */
NW_MPI_API void nw_profile_discard(void);
#endif

#ifdef __cplusplus
}
#endif
#endif
