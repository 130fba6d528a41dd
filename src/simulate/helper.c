/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the program nodewise-simgrid, which reads the traffic and writes the
 * simulated time. If the program crashes, the caller gets an error message and
 * no signal. */
#include "simulate/traffic.h"

#include "base/c_locale.h"
#include "base/install_path.h"
#include "base/spawn.h"
#include "base/status.h"
#include "base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define HELPER "nodewise-simgrid"

/* Finds the program: the one that NODEWISE_SIMGRID names, or the one beside the
 * running program (in the build tree), or the installed one. */
static nw_status find_helper(char path[PATH_MAX])
{
    const char *named = getenv("NODEWISE_SIMGRID");

    if (named) {
        /* a slash keeps posix_spawnp from searching the PATH */
        snprintf(path, PATH_MAX, "%s%s", strchr(named, '/') ? "" : "./", named);
        if (!access(path, X_OK))
            return NW_OK;
        return nw_fail(NW_ENODEV, "NODEWISE_SIMGRID: '%s' cannot be started",
                       named);
    }
    if (nw_install_path_find(HELPER, HELPER, X_OK, path))
        return NW_OK;
    return nw_fail(NW_ENODEV,
                   HELPER " is not installed: build nodewise where SimGrid "
                          "is (Debian: libsimgrid-dev), or ask for the "
                          "congestion estimate (--estimate)");
}

/* Writes the traffic in the form that simgrid.cpp describes. */
static void helper_describe(const struct nw_traffic *traffic,
                            const struct nw_play *play, struct nw_text *text)
{
    nw_text_format(text, HELPER " 1\nunit %.17g\nresolution %.17g\nlinks %d\n",
                   play->unit, play->resolution, traffic->link_count);
    for (int32_t l = 0; l < traffic->link_count; l++)
        nw_text_format(text, "%.17g\n", traffic->bandwidth[l]);
    nw_text_format(text, "flows %zu\n", traffic->flow_count);
    for (size_t f = 0; f < traffic->flow_count; f++) {
        nw_text_format(text, "%.17g %.17g %zu", traffic->latency[f],
                       traffic->bytes[f],
                       traffic->row[f + 1] - traffic->row[f]);
        for (size_t i = traffic->row[f]; i < traffic->row[f + 1]; i++)
            nw_text_format(text, " %d", traffic->link[i]);
        nw_text_add(text, "\n");
    }
    nw_text_add(text, "end\n");
}

/* Finds the last complete line that begins with `word`, and returns the text
 * after `word`. Returns NULL if no complete line begins with `word`. */
static const char *last_line(const struct nw_text *answer, const char *word)
{
    const char *found = NULL;

    for (const char *line = answer->data; line && *line;) {
        const char *end = strchr(line, '\n');

        if (!end)
            break;
        if (!strncmp(line, word, strlen(word)))
            found = line + strlen(word);
        line = end + 1;
    }
    return found;
}

static bool is_cancelled(const struct nw_play *play)
{
    return play->progress &&
           __atomic_load_n(&play->progress->cancelled, __ATOMIC_RELAXED);
}

/* Shows the progress. Returns false if the user has cancelled the simulation.
 */
static bool helper_watch(void *user, const struct nw_text *answer)
{
    const struct nw_play *play = user;
    const char *at = last_line(answer, "at ");
    double done = at ? nw_strtod(at, NULL) / play->unit : 0;

    /* play->unit is only an estimate of the duration, so that the simulation
     * may last longer */
    if (play->progress && play->progress->update)
        play->progress->update(play->progress,
                               done < 0.99 ? (uint64_t)(done * 1000) : 990,
                               1000, "simulating");
    return !is_cancelled(play);
}

static nw_status read_answer(const struct nw_text *text, double *time)
{
    const char *error = last_line(text, "error ");
    const char *answer = last_line(text, "time ");
    char *end;

    if (error)
        return nw_fail(NW_EHELPER, HELPER ": %.*s", (int)strcspn(error, "\n"),
                       error);
    if (!answer)
        return nw_fail(NW_EHELPER, HELPER " ended without an answer");
    *time = nw_strtod(answer, &end);
    if (end == answer || *end != '\n')
        return nw_fail(NW_EHELPER, HELPER " gave an answer that is not a time");
    return NW_OK;
}

nw_status nw_helper_play(const struct nw_traffic *traffic,
                         const struct nw_play *play, double *time)
{
    static const char *const none[] = {NULL};
    struct nw_text text = {0}, answer = {0};
    char path[PATH_MAX];
    struct nw_spawn spawn = {.program = path,
                             .arguments = none,
                             .from_path = true,
                             .watch = helper_watch,
                             .user = (void *)(uintptr_t)play};
    nw_status status = find_helper(path);
    int how = 0;

    if (status)
        return status;
    helper_describe(traffic, play, &text);
    spawn.input = text.data;
    spawn.length = text.length;
    status = text.failed ? nw_fail(NW_ENOMEM, "no memory for %zu flows",
                                   traffic->flow_count)
                         : nw_spawn_run(&spawn, &answer, &how);
    if (!status && is_cancelled(play))
        status = nw_fail(NW_ECANCELLED, "the simulation was cancelled");
    if (!status && WIFSIGNALED(how))
        status = nw_fail(NW_EHELPER, HELPER " was ended by signal %d (%s)",
                         WTERMSIG(how), strsignal(WTERMSIG(how)));
    if (!status)
        status = read_answer(&answer, time);
    nw_text_fini(&text);
    nw_text_fini(&answer);
    return status;
}
