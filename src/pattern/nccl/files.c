/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the files of a job, one for each process or each host. */
#include "pattern/nccl/files.h"

#include "base/status.h"
#include "base/text.h"

#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static nw_status files_find(const char *path, const char *suffix, glob_t *found)
{
    struct nw_text text = {0};
    char *words = NULL;
    nw_status status;

    nw_text_add_glob(&text, path);
    nw_text_add(&text, suffix);
    status = nw_text_take(&text, &words);
    if (!status && glob(words, 0, NULL, found) == GLOB_NOSPACE)
        status = nw_fail(NW_ENOMEM, "out of memory for names of files");
    else if (!status && !found->gl_pathc)
        status =
            nw_fail(NW_EIO, "%s: no file matches %s%s", path, path, suffix);
    free(words);
    return status;
}

static bool files_is_regular(const char *path)
{
    struct stat info;

    return !stat(path, &info) && S_ISREG(info.st_mode);
}

/* Reads all files. Their names must stay allocated until the pattern is built,
 * because error messages of the job use them. */
static nw_status files_read_all(struct nw_nccl_job *job, const char *path,
                                const struct nw_nccl_reader *reader,
                                glob_t *found)
{
    struct stat info;
    bool is_folder = !stat(path, &info) && S_ISDIR(info.st_mode);
    nw_status status;

    if (!is_folder && (!reader->suffix || files_is_regular(path)))
        return reader->read(job, path);
    status = files_find(path, is_folder ? "/*" : reader->suffix, found);
    for (size_t i = 0; !status && i < found->gl_pathc; i++)
        if (files_is_regular(found->gl_pathv[i]))
            status = reader->read(job, found->gl_pathv[i]);
    return status;
}

nw_status nw_nccl_files_read(const char *path,
                             const struct nw_nccl_reader *reader,
                             nw_pattern **out)
{
    struct nw_nccl_job *job;
    glob_t found = {0};
    nw_status status = nw_nccl_job_new(&job);

    if (!status)
        status = files_read_all(job, path, reader, &found);
    if (!status)
        status = nw_nccl_job_build(job, path, reader->remedy, out);
    globfree(&found);
    nw_nccl_job_free(job);
    return status;
}
