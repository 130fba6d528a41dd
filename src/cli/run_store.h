/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of `nodewise run`. It has patterns with their entries, which are
 * found by program, arguments, working folder and number of ranks. Its
 * subfolder NW_STORE_MACHINES has what was learnt about machines: topologies
 * that were measured, and hashes of launches that worked. Each run has a
 * subfolder run.*, which it removes at its end; --dry-run leaves a subfolder
 * dry.*. All files are text files. Except for the subfolders of running jobs,
 * all may be removed at any time. */
#ifndef NW_CLI_RUN_STORE_H
#define NW_CLI_RUN_STORE_H

#include "cli/run_job.h"

#include <nodewise/pattern.h>

#define NW_STORE_MACHINES "machines"

struct nw_store {
    char *folder;
    char *pattern, *entry; /* paths of this job's pattern and of its
                              description */
    char *topology;        /* path of the cluster file for the job's hosts */
    char *tried;           /* path of the file with the hash of the last
                              launch that worked */
    char *run;             /* folder of this run; NULL until nw_store_begin_run
                              makes it */
    char *fresh;           /* path of the pattern that the profiler records,
                              in `run` */
    char *measured;        /* path of the cluster file that this run measures,
                              in `run` */
    char *prefix;          /* prefix of the launcher's files, in `run` */
    int lock;              /* descriptor of a lock held during this run; -1:
                              none */
    char content[33];      /* hash of the program and its input files */
    char identity[33];     /* hash of the program alone, without its arguments;
                              "" if the program is not linked with an MPI, since
                              it may be an interpreter, whose arguments name the
                              actual program */
};

/* Stores the path of the store in *out: `folder`, or if NULL, that of the
 * environment (see nw_store_open). The caller frees *out. */
NW_MUST_CHECK nw_status nw_store_folder(const char *folder, char **out);
/* Stores the hash of a file's size and content, for a file above 64 MiB of its
 * size and mtime, as 32 hexadecimal digits. Returns false if the file cannot be
 * read. */
bool nw_store_hash(const char *path, char out[33]);

/* Sets the paths of the store for this job. If `folder` is NULL, the store is
 * $NODEWISE_STORE, else nodewise/ in $XDG_CACHE_HOME or ~/.cache. Creates the
 * folder and its subfolder for machines. Returns NW_EIO if that is impossible
 * or if the store is open to other users, see make_folder(). */
NW_MUST_CHECK nw_status nw_store_open(struct nw_store *store,
                                      const char *folder,
                                      const struct nw_job *job);
/* Ends the previous run, if any, and removes the folders of killed runs.
 * Creates the folder of this run with mode 0700. If `keep`, nw_store_fini does
 * not remove this folder. */
NW_MUST_CHECK nw_status nw_store_begin_run(struct nw_store *store, bool keep);
/* Removes the folders of killed runs and of dry runs from the store `folder`.
 */
void nw_store_remove_runs(const char *folder);
/* Removes the folder of the run unless it is kept, and frees the paths. */
void nw_store_fini(struct nw_store *store);

/* Reads the stored pattern of the job. *out is NULL if the pattern or its entry
 * is missing, if the program, its input files or the pattern's file have
 * changed, or if the pattern has another number of ranks. *why is then the
 * reason (static), or NULL if nothing was stored. */
NW_MUST_CHECK nw_status nw_store_pattern(const struct nw_store *store,
                                         const struct nw_job *job,
                                         nw_pattern **out, const char **why);
/* Returns true if this launch equals the one that nw_store_set_tried stored
 * last as accepted by the launcher. Compares the words, the variables, and the
 * content of their files in the folder of the run. Also compares size and time
 * of the launcher's file, and the environment variables that configure Open
 * MPI, PMIx, Hydra, Intel MPI or srun. */
bool nw_store_is_tried(const struct nw_store *store,
                       const struct nw_words *word,
                       const struct nw_words *variable);
/* If `takes`, stores that the launcher accepts these words and variables;
 * otherwise removes the stored launch, so that the next one is tried first. */
void nw_store_set_tried(const struct nw_store *store,
                        const struct nw_words *word,
                        const struct nw_words *variable, bool takes);
/* Moves the pattern that the profiler wrote from store->fresh to the store, and
 * writes its entry. */
NW_MUST_CHECK nw_status nw_store_keep(const struct nw_store *store,
                                      const struct nw_job *job);

#endif
