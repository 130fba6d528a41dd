/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs the program nodewise-simgrid: sends the traffic and reads the simulated
 * time over a socket that is standard input and output of the program. If the
 * program crashes, the caller gets an error message and no signal. */
#include "simulate/traffic.h"

#include "base/array.h"
#include "base/install_path.h"
#include "base/c_locale.h"
#include "base/status.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define HELPER "nodewise-simgrid"

/* Finds the program: the one that NODEWISE_SIMGRID names, or the one beside the
 * running program (in the build tree), or the installed one. */
static nw_status find_helper(char path[PATH_MAX])
{
    const char *named = getenv("NODEWISE_SIMGRID");

    if (named) {
        snprintf(path, PATH_MAX, "%s", named);
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
                          "congestion estimate");
}

struct helper {
    pid_t pid;
    int socket; /* connected to the program */
    struct nw_text answer;
};

static nw_status helper_start(struct helper *helper, char *path)
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = {path, NULL};
    int pair[2], error;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair))
        return nw_fail(NW_EHELPER, HELPER ": %s", strerror(errno));
    error = posix_spawn_file_actions_init(&actions);
    if (!error) {
        posix_spawn_file_actions_adddup2(&actions, pair[1], 0);
        posix_spawn_file_actions_adddup2(&actions, pair[1], 1);
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
        error =
            posix_spawn(&helper->pid, path, &actions, NULL, arguments, environ);
        posix_spawn_file_actions_destroy(&actions);
    }
    close(pair[1]);
    if (error) {
        close(pair[0]);
        return nw_fail(NW_ENODEV, "%s: %s", path, strerror(error));
    }
    helper->socket = pair[0];
    return NW_OK;
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

/* Sends the text. If the helper dies before it has read everything,
 * helper_listen_to later reports the error. */
static void helper_tell(struct helper *helper, const struct nw_text *text)
{
    size_t sent = 0;

    while (sent < text->length) {
        ssize_t count = send(helper->socket, text->data + sent,
                             text->length - sent, MSG_NOSIGNAL);

        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            break;
        sent += (size_t)count;
    }
    shutdown(helper->socket, SHUT_WR);
}

/* Finds the last complete line that begins with `word`, and returns the text
 * after `word`. Returns NULL if no complete line begins with `word`. */
static const char *last_line(const struct helper *helper, const char *word)
{
    const char *found = NULL;

    for (const char *line = helper->answer.data; line && *line;) {
        const char *end = strchr(line, '\n');

        if (!end)
            break;
        if (!strncmp(line, word, strlen(word)))
            found = line + strlen(word);
        line = end + 1;
    }
    return found;
}

static void show_progress(const struct helper *helper,
                          const struct nw_play *play)
{
    const char *at = last_line(helper, "at ");
    double done = at ? nw_strtod(at, NULL) / play->unit : 0;

    /* play->unit is only an estimate of the duration, so that the simulation
     * may last longer */
    if (play->progress && play->progress->update)
        play->progress->update(play->progress,
                               done < 0.99 ? (uint64_t)(done * 1000) : 990,
                               1000, "simulating");
}

static bool is_cancelled(const struct nw_play *play)
{
    return play->progress &&
           __atomic_load_n(&play->progress->cancelled, __ATOMIC_RELAXED);
}

/* Reads the answer until the helper closes its end of the socket or the user
 * cancels the simulation. */
static nw_status helper_listen_to(struct helper *helper,
                                  const struct nw_play *play)
{
    char bytes[4096];

    while (!is_cancelled(play)) {
        struct pollfd ready = {.fd = helper->socket, .events = POLLIN};
        ssize_t count;

        if (poll(&ready, 1, 100) <= 0) {
            show_progress(helper, play);
            continue;
        }
        count = read(helper->socket, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return NW_OK;
        nw_text_add_bytes(&helper->answer, bytes, (size_t)count);
        show_progress(helper, play);
    }
    return nw_fail(NW_ECANCELLED, "the simulation was cancelled");
}

static nw_status helper_end(struct helper *helper, bool at_once)
{
    int how = 0;

    close(helper->socket);
    if (at_once)
        kill(helper->pid, SIGKILL);
    while (waitpid(helper->pid, &how, 0) < 0 && errno == EINTR)
        ;
    if (!at_once && WIFSIGNALED(how))
        return nw_fail(NW_EHELPER, HELPER " was ended by signal %d (%s)",
                       WTERMSIG(how), strsignal(WTERMSIG(how)));
    return NW_OK;
}

static nw_status read_answer(const struct helper *helper, double *time)
{
    const char *error = last_line(helper, "error ");
    const char *answer = last_line(helper, "time ");
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
    struct helper helper = {0};
    struct nw_text text = {0};
    char path[PATH_MAX];
    nw_status status = find_helper(path), ended;

    if (status)
        return status;
    helper_describe(traffic, play, &text);
    if (text.failed)
        status =
            nw_fail(NW_ENOMEM, "no memory for %zu flows", traffic->flow_count);
    if (!status)
        status = helper_start(&helper, path);
    if (!status) {
        helper_tell(&helper, &text);
        status = helper_listen_to(&helper, play);
        ended = helper_end(&helper, status != NW_OK);
        status = status ? status : ended;
    }
    if (!status)
        status = read_answer(&helper, time);
    nw_text_fini(&text);
    nw_text_fini(&helper.answer);
    return status;
}
