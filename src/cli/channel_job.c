/* SPDX-License-Identifier: BSD-3-Clause */
/* An MPI job with our library preloaded, which measures in MPI_Init and leaves
 * a table in a file; the program is nodewise probe's, asked for nothing. */
#include "cli/channel_job.h"

#include <nodewise/channel.h>
#include <nodewise/profile.h>

#include "base/array.h"
#include "base/file.h"
#include "base/install_path.h"
#include "base/status.h"
#include "cli/child.h"
#include "cli/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct job {
    char **launcher;
    enum nw_launcher_kind kind;
    const char *flavour;
    char *library;
    char program[PATH_MAX];
    char file[NW_FILE_UNNAMED_PATH]; /* what rank 0 writes */
    char **argv;
};

static nw_status find_all(struct job *job)
{
    char name[64];
    nw_status status = nw_launcher_find(job->launcher[0], &job->kind);

    if (!status && job->kind == NW_LAUNCHER_NONE)
        status = nw_fail(NW_ENODEV,
                         "'%s' is not an MPI launcher; use mpirun or mpiexec",
                         job->launcher[0]);
    if (!status && !job->flavour)
        job->flavour = nw_launcher_flavour(job->kind, job->launcher);
    if (!status && !job->flavour)
        status = nw_fail(NW_ENODEV,
                         "cannot find out which MPI '%s' starts; give --mpi "
                         "openmpi or --mpi mpich",
                         job->launcher[0]);
    if (!status)
        status = nw_profile_library(job->flavour, &job->library);
    if (status)
        return status;
    snprintf(name, sizeof name, "nodewise-probe-%s", job->flavour);
    if (!nw_install_path_find(name, name, X_OK, job->program))
        status = nw_fail(NW_ENODEV, "%s is not installed", name);
    return status;
}

/* The launcher's words, the program and the program's arguments. */
static nw_status add_program(struct job *job, char ***out)
{
    static char describe[] = "--describe";
    size_t n = 0;
    nw_status status;

    while (job->launcher[n])
        n++;
    status = nw_alloc(n + 3, sizeof **out, out);
    if (status)
        return status;
    memcpy(*out, job->launcher, n * sizeof **out);
    (*out)[n] = job->program;
    (*out)[n + 1] = describe;
    return NW_OK;
}

/* A user's own word for the first two is his programs', too. */
static nw_status make_line(struct job *job)
{
    const char *mode = getenv("NODEWISE_GPU_MESSAGES");
    const char *name[] = {NW_ENV_PRELOAD, "NODEWISE_GPU_TUNE",
                          "NODEWISE_GPU_MESSAGES"};
    const char *value[] = {job->library, job->file,
                           mode && *mode ? mode : "auto"};
    struct nw_variables variables = {name, value, 3};
    char **words = NULL;
    nw_status status = add_program(job, &words);

    if (!status)
        status = nw_launcher_argv(job->kind, words, &variables, &job->argv);
    free(words);
    return status;
}

static void be_deaf(void *user)
{
    dup2(*(const int *)user, STDIN_FILENO);
}

static nw_status run(const struct job *job)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC), code;

    if (nowhere < 0)
        return nw_fail(NW_EIO, "/dev/null: %s", strerror(errno));
    code = nw_child_run(&(struct nw_child){.command = "channel",
                                           .argv = job->argv,
                                           .out = nowhere,
                                           .prepare = be_deaf,
                                           .user = &nowhere});
    (void)close(nowhere);
    return code ? nw_fail(NW_EIO, "'%s' ended with status %d", job->launcher[0],
                          code)
                : NW_OK;
}

nw_status nw_cli_channel_table(const char *path, char **out)
{
    size_t length;
    char *text = NULL;
    nw_status status = nw_file_read_text(path, &text, &length);

    if (!status)
        status = nw_channel_table_check(path, text);
    if (status)
        free(text);
    else
        *out = text;
    return status;
}

static nw_status take(const char *file, char **table)
{
    if (!nw_file_has_bytes(file))
        return nw_fail(NW_ENODEV,
                       "nothing was measured: it takes two ranks on this "
                       "machine, a GPU, and an MPI that takes no GPU memory "
                       "itself");
    return nw_cli_channel_table(file, table);
}

nw_status nw_cli_channel_job(char **launcher, const char *mpi, char **table)
{
    struct job job = {.launcher = launcher, .flavour = mpi};
    char own[NW_FILE_UNNAMED_PATH];
    int fd = -1;
    nw_status status = nw_file_unnamed(own, &fd);

    if (status)
        return status;
    snprintf(job.file, sizeof job.file, "/proc/%d/fd/%d", (int)getpid(), fd);
    status = find_all(&job);
    if (!status)
        status = make_line(&job);
    if (!status)
        status = run(&job);
    if (!status)
        status = take(job.file, table);
    (void)close(fd);
    nw_argv_free(job.argv);
    free(job.library);
    return status;
}
