/* SPDX-License-Identifier: BSD-3-Clause */
/* The store of `nodewise run`: patterns by program, arguments, working folder
 * and ranks; topologies by hosts. Text files in one folder, safe to remove at
 * any time. */
#ifndef NW_CLI_RUN_STORE_H
#define NW_CLI_RUN_STORE_H

#include "cli/run_job.h"

#include <nodewise/pattern.h>

struct nw_store {
    char *folder;
    char *pattern, *entry; /* paths of this job's pattern */
    char *topology;        /* path of these hosts' cluster file */
    char *tried;           /* path of the launch accepted before */
    char *run;             /* this run's own folder; NULL before it is made */
    char *fresh;           /* path of a new pattern, in it */
    char *prefix;          /* of the launcher's files, in it */
    int lock;              /* held while this run lives; -1 */
    char content[33];      /* of the program and its input files */
    char identity[33]; /* of the program alone; "" if it may be an interpreter,
                          which runs other programs by other arguments */
};

/* The path of the store that `folder` or, if NULL, the environment names; the
 * caller frees *out. */
NW_MUST_CHECK nw_status nw_store_folder(const char *folder, char **out);
/* The hash of a file's content in hexadecimal digits; false if the file is
 * missing. */
bool nw_store_hash(const char *path, char out[33]);

/* `folder` NULL: $NODEWISE_STORE, else nodewise/ in $XDG_CACHE_HOME or
 * ~/.cache. Makes the folder where `write`. */
NW_MUST_CHECK nw_status nw_store_open(struct nw_store *store,
                                      const char *folder,
                                      const struct nw_job *job, bool write);
/* Makes the folder of this run with mode 0700, and removes the folders of
 * killed runs. `keep` keeps this folder, too. Ends the run before it, if any.
 * */
NW_MUST_CHECK nw_status nw_store_begin_run(struct nw_store *store, bool keep);
/* Removes the folder of the run unless it is kept. */
void nw_store_fini(struct nw_store *store);

/* The stored pattern; *out is NULL if it is missing, or if program, input files
 * or pattern have changed. *why then says so (static; NULL if nothing was
 * stored). */
NW_MUST_CHECK nw_status nw_store_pattern(const struct nw_store *store,
                                         const struct nw_job *job,
                                         nw_pattern **out, const char **why);
/* Whether the launcher took these words, variables and the files of this run
 * that they name when it was tried last. */
bool nw_store_is_tried(const struct nw_store *store,
                       const struct nw_words *word,
                       const struct nw_words *variable);
/* Stores that the launcher accepts them, or that it must be tried again. */
void nw_store_set_tried(const struct nw_store *store,
                        const struct nw_words *word,
                        const struct nw_words *variable, bool takes);
/* Takes what the profiler left at store->fresh. */
NW_MUST_CHECK nw_status nw_store_keep(const struct nw_store *store,
                                      const struct nw_job *job);

#endif
