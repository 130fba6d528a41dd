/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the measuring program under its launcher, and reads the program's
 * records from its standard output. Every launcher forwards standard output, so
 * that no shared folder is needed, and the records before a failure are
 * kept. */
#include "cli/probe_run.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/launcher.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Buffers for the words that are added to the launcher's command. */
struct probe_run_line {
    char time[64], patience[64], path[PATH_MAX];
};

/* Returns the option with which the launcher does not end the job when a rank
 * dies; NULL if it has none. */
static const char *probe_run_survival(enum nw_launcher_kind launcher)
{
    return launcher == NW_LAUNCHER_OPENMPI ? "--enable-recovery"
           : launcher == NW_LAUNCHER_HYDRA ? "-disable-auto-cleanup"
                                           : NULL;
}

/* Makes the command: the launcher's words, the measuring program and its
 * options. Some words are in `line`. The caller frees the array *out. */
static nw_status make_line(const struct nw_probe_run *run, char ***out,
                           struct probe_run_line *line)
{
    enum nw_launcher_kind launcher = NW_LAUNCHER_NONE;
    const char *flavour = run->flavour;
    size_t words = 0, n = 0;
    nw_status status = nw_launcher_find(run->launcher[0], &launcher);

    if (!status && !flavour)
        flavour = nw_launcher_flavour(launcher, run->launcher);
    if (!status && !flavour)
        status = nw_fail(NW_ENODEV,
                         "cannot find out which MPI '%s' starts; give --mpi "
                         "openmpi or --mpi mpich",
                         run->launcher[0]);
    if (!status)
        status = nw_cli_find_program("", "nodewise-probe", flavour, line->path);
    while (run->launcher[words])
        words++;
    if (!status)
        status = nw_alloc(words + 8, sizeof **out, out);
    if (status)
        return status;
    (*out)[n++] = run->launcher[0];
    if (probe_run_survival(launcher))
        (*out)[n++] = (char *)probe_run_survival(launcher);
    for (size_t i = 1; i < words; i++)
        (*out)[n++] = run->launcher[i];
    snprintf(line->time, sizeof line->time, "--time=%.3fs", run->seconds);
    snprintf(line->patience, sizeof line->patience, "--patience=%.3fs",
             run->patience);
    (*out)[n++] = line->path;
    (*out)[n++] = line->time;
    (*out)[n++] = line->patience;
    if (run->host_only)
        (*out)[n++] = "--host-only";
    if (run->describe)
        (*out)[n++] = "--describe";
    return NW_OK;
}

/* Starts the command; *out is a descriptor of its standard output. */
static nw_status probe_run_start(char **argv, pid_t *child, int *out)
{
    pid_t parent = getpid();
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        return nw_fail(NW_EIO, "pipe: %s", strerror(errno));
    fflush(NULL);
    *child = fork();
    if (*child < 0) {
        nw_status status = nw_fail(NW_EIO, "fork: %s", strerror(errno));

        close(ends[0]);
        close(ends[1]);
        return status;
    }
    if (!*child) {
        int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC), why;

        nw_child_follow(parent);
        /* give the launcher no input: it would read text ahead that is for the
         * program that nodewise run starts next */
        if (nothing >= 0)
            dup2(nothing, STDIN_FILENO);
        dup2(ends[1], STDOUT_FILENO);
        execvp(argv[0], argv);
        why = errno;
        fprintf(stderr, "nodewise probe: '%s' cannot be started: %s\n", argv[0],
                strerror(why));
        _exit(why == ENOENT ? 127 : 126);
    }
    close(ends[1]);
    *out = ends[0];
    return NW_OK;
}

/* Shows how far the measurements are; `is_step` says that the last record began
 * a step. */
static void probe_run_show(const struct nw_probe_run *run,
                           const nw_probe *probe, bool is_step)
{
    struct nw_probe_stage stage = nw_probe_stage_of(probe);

    if (run->verbose && stage.total && is_step)
        fprintf(stderr, "nodewise probe: %s %" PRIu64 " of %" PRIu64 "\n",
                stage.what, stage.done, stage.total);
    if (run->progress && run->progress->update && stage.total)
        run->progress->update(run->progress, stage.done, stage.total,
                              stage.what);
}

/* Adds the record in a line to `probe`. A line that is not a record comes from
 * the launcher and is printed to standard error. */
static nw_status probe_run_take(const struct nw_probe_run *run, nw_probe *probe,
                                const char *line)
{
    bool taken;
    nw_status status = nw_probe_take_line(probe, line, &taken);

    if (!status && !taken && line[0])
        fprintf(stderr, "%s\n", line);
    probe_run_show(run, probe, strstr(line, " stage "));
    return status;
}

/* Processes and removes the whole lines in `text`; an incomplete line stays. */
static nw_status take_lines(const struct nw_probe_run *run, nw_probe *probe,
                            struct nw_text *text)
{
    char *line = text->data, *end;
    nw_status status = NW_OK;

    while (!status && line && (end = strchr(line, '\n'))) {
        *end = '\0';
        status = probe_run_take(run, probe, line);
        line = end + 1;
    }
    if (line && line != text->data) {
        text->length = strlen(line);
        memmove(text->data, line, text->length + 1);
    }
    return status;
}

/* Returns seconds as milliseconds for poll(), at most INT_MAX (24 days). */
static int probe_run_milliseconds(double seconds)
{
    return seconds < INT_MAX / 1000 ? (int)(1000 * seconds) : INT_MAX;
}

/* Reads records until one of these events:
 *
 * - The launcher closes its output.
 * - The user cancels.
 * - Nothing arrives for too long. The limit is run->start before the first
 *   rank answers, 30 s + 8 x patience while ranks measure, and 2 s + 1 x
 *   patience when the job is done or rank 0 has died. */
static nw_status probe_run_listen(const struct nw_probe_run *run,
                                  nw_probe *probe, int from)
{
    int usual = probe_run_milliseconds(30 + 8 * run->patience);
    int limit = run->start > 0 ? probe_run_milliseconds(run->start) : usual;
    struct nw_text text = {0};
    struct pollfd wait = {.fd = from, .events = POLLIN};
    nw_status status = NW_OK;

    while (!status) {
        char bytes[65536];
        int ready = poll(&wait, 1, limit);
        ssize_t count = ready > 0 ? read(from, bytes, sizeof bytes) : 0;

        if (run->progress &&
            __atomic_load_n(&run->progress->cancelled, __ATOMIC_RELAXED))
            break;
        if ((ready < 0 || count < 0) && errno == EINTR)
            continue;
        if (ready <= 0 || count <= 0)
            break;
        for (ssize_t i = 0; i < count; i++) /* a NUL would end the text */
            bytes[i] = bytes[i] ? bytes[i] : '?';
        nw_text_add_bytes(&text, bytes, (size_t)count);
        status = take_lines(run, probe, &text);
        if (nw_probe_rank_count(probe))
            limit = usual;
        if (nw_probe_is_done(probe) || nw_probe_is_headless(probe))
            limit = probe_run_milliseconds(2 + run->patience);
    }
    nw_text_fini(&text);
    return status;
}

nw_status nw_probe_run_job(const struct nw_probe_run *run, nw_probe *probe,
                           int *code)
{
    struct probe_run_line line;
    char **argv = NULL;
    pid_t child = 0;
    int from = -1;
    nw_status status = make_line(run, &argv, &line);

    if (!status)
        status = probe_run_start(argv, &child, &from);
    if (!status) {
        nw_child_take_along(child);
        status = probe_run_listen(run, probe, from);
        close(from);
        /* the launcher may be waiting for a failed rank */
        *code = nw_child_end(child, 3);
        nw_child_take_along(0);
    }
    free(argv);
    return status;
}
