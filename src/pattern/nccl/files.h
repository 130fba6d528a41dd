/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads several files of one job into one pattern. */
#ifndef NW_PATTERN_NCCL_FILES_H
#define NW_PATTERN_NCCL_FILES_H

#include "pattern/nccl/job.h"

/* How to read the files of one format. */
struct nw_nccl_reader {
    nw_status (*read)(struct nw_nccl_job *job, const char *path);
    /* glob(7) pattern of what follows a prefix in file names; NULL: a path
     * cannot be a prefix */
    const char *suffix;
    const char *remedy; /* end of the error message if the files have no
                           communicator: "" or "; ..." */
};

/* Reads the file `path`, all files of the folder `path`, or all files whose
 * name begins with the prefix `path`, in the order of their names. */
NW_MUST_CHECK nw_status nw_nccl_files_read(const char *path,
                                           const struct nw_nccl_reader *reader,
                                           nw_pattern **out);

#endif
