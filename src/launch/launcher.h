/* SPDX-License-Identifier: BSD-3-Clause */
/* What a launcher is to this room: a row of a table. A new one is a file with
 * a writer, and a row in launch.c. */
#ifndef NW_LAUNCH_LAUNCHER_H
#define NW_LAUNCH_LAUNCHER_H

#include <nodewise/launch.h>

#include "base/text.h"

/* A mapping being written for a launcher. */
struct nw_launch_job {
    const nw_topology *topology;
    const nw_mapping *mapping;
    const struct nw_launch_options *options;
    nw_launch *launch;    /* what is being made */
    struct nw_text note;  /* becomes launch->note */
    bool exec;            /* nodewise exec stands in front */
    size_t word_capacity; /* of launch->word */
};

struct nw_launcher {
    const char *name, *summary;
    /* Why this launcher cannot bind the ranks by itself, NULL where it can.
     * Static. */
    const char *(*lacks)(const struct nw_launch_job *job);
    /* Adds the files and the words before the program. */
    nw_status (*write)(struct nw_launch_job *job);
};

/* --- for the writers --- */

/* A word of the command line. */
NW_MUST_CHECK nw_status nw_launch_word(struct nw_launch_job *job,
                                       const char *format, ...) NW_PRINTF(2, 3);
/* A file PREFIX.SUFFIX; takes the text. *path is borrowed. */
NW_MUST_CHECK nw_status nw_launch_add_file(struct nw_launch_job *job,
                                           const char *suffix,
                                           struct nw_text *text,
                                           const char **path);
const char *nw_launch_host(const struct nw_launch_job *job, int32_t rank);
/* The element of core `core` of the rank's node. */
int32_t nw_launch_element(const struct nw_launch_job *job, int32_t rank,
                          int32_t core);

/* --- the writers, one file a family --- */

const char *nw_launch_openmpi_lacks(const struct nw_launch_job *job);
nw_status nw_launch_openmpi4_write(struct nw_launch_job *job);
nw_status nw_launch_openmpi5_write(struct nw_launch_job *job);
const char *nw_launch_mpich_lacks(const struct nw_launch_job *job);
nw_status nw_launch_mpich_write(struct nw_launch_job *job);

#endif
