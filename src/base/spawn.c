/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts a helper by posix_spawn, feeds it from memory, and reads its answer
 * until it ends or its time is over. */
#include "base/spawn.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/install_path.h"
#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_ARGUMENTS = 8, ABOVE_STANDARD = 3, STEP_US = 1000, WATCH_MS = 100 };

/* Moves a descriptor above 2, since the helper gets new descriptors 0 to 2. */
static int spawn_raise(int fd)
{
    int raised = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_STANDARD);

    if (fd >= 0)
        (void)close(fd);
    return raised;
}

static int spawn_input(const struct nw_spawn *spawn)
{
    int fd = spawn->input
                 ? spawn_raise(memfd_create("nodewise-input", MFD_CLOEXEC))
                 : open("/dev/null", O_RDONLY | O_CLOEXEC);
    size_t written = 0;

    if (!spawn->input)
        return spawn_raise(fd);
    while (fd >= 0 && written < spawn->length) {
        ssize_t count =
            write(fd, spawn->input + written, spawn->length - written);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0) {
            (void)close(fd);
            return -1;
        }
        written += (size_t)count;
    }
    if (fd >= 0)
        (void)lseek(fd, 0, SEEK_SET);
    return fd;
}

/* Makes the environment of the helper: that with which this program started,
 * without preloaded libraries. The current environment cannot be used, because
 * another thread may be changing it. */
static nw_status spawn_environment(struct nw_text *text, char ***out)
{
    FILE *file = fopen("/proc/self/environ", "re");
    char block[4096];
    size_t count = 1, kept = 0, got;
    nw_status status;

    while (file && (got = fread(block, 1, sizeof block, file)))
        nw_text_add_bytes(text, block, got);
    if (file)
        (void)fclose(file);
    for (size_t i = 0; i < text->length; i++)
        count += !text->data[i];
    status = nw_alloc(count + 1, sizeof **out, out);
    for (size_t i = 0; !status && i < text->length;
         i += strlen(text->data + i) + 1)
        if (strncmp(text->data + i, "LD_PRELOAD=", 11))
            (*out)[kept++] = text->data + i;
    return status;
}

static int spawn_start(char *const *arguments, char *const *variables,
                       const int fds[2], pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    int error = posix_spawn_file_actions_init(&actions);

    if (error)
        return error;
    error = posix_spawnattr_init(&attributes);
    if (!error) {
        sigemptyset(&none);
        sigfillset(&all);
        posix_spawnattr_setsigmask(&attributes, &none);
        posix_spawnattr_setsigdefault(&attributes, &all);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK |
                                                  POSIX_SPAWN_SETSIGDEF);
        posix_spawn_file_actions_adddup2(&actions, fds[0], STDIN_FILENO);
        posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null",
                                         O_WRONLY, 0);
        error = posix_spawnp(pid, arguments[0], &actions, &attributes,
                             arguments, variables);
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Returns true if the helper closed its output before the time limit, and
 * spawn->watch did not end it. */
static bool spawn_read(const struct nw_spawn *spawn, int from,
                       uint64_t until_ns, struct nw_text *answer)
{
    struct pollfd wait = {.fd = from, .events = POLLIN};
    char block[65536];

    for (;;) {
        uint64_t now = nw_clock_ns();
        ssize_t count;

        if (now >= until_ns ||
            (spawn->watch && !spawn->watch(spawn->user, answer)))
            return false;
        if (poll(&wait, 1, WATCH_MS) <= 0)
            continue;
        count = read(from, block, sizeof block);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return true;
        nw_text_add_bytes(answer, block, (size_t)count);
    }
}

pid_t nw_spawn_await(pid_t pid, uint64_t until_ns, int *how)
{
    pid_t ended;

    while (!(ended = waitpid(pid, how, WNOHANG)) && nw_clock_ns() < until_ns)
        (void)usleep(STEP_US);
    return ended;
}

/* Waits for the helper until the time limit, then kills it. Returns its status
 * from waitpid, or NW_SPAWN_TIMED_OUT. If this program waits for any child
 * elsewhere, that call may already have received the helper's status. The
 * result is then 0 and nothing is killed, because the number may belong to
 * another process by now.
 */
static int spawn_end(pid_t pid, uint64_t until_ns)
{
    int how = 0;
    pid_t ended = nw_spawn_await(pid, until_ns, &how);

    if (ended)
        return ended == pid ? how : 0;
    (void)kill(pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0 && errno == EINTR)
        ;
    return NW_SPAWN_TIMED_OUT;
}

static nw_status spawn_talk(const struct nw_spawn *spawn, char *const *words,
                            struct nw_text *answer, int *how)
{
    uint64_t until_ns =
        spawn->seconds ? nw_clock_ns() + spawn->seconds * UINT64_C(1000000000)
                       : UINT64_MAX;
    int ends[2] = {-1, -1}, fds[2], error = ENOMEM;
    struct nw_text environment = {0};
    char **variables = NULL;
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC))
        return nw_fail(NW_EIO, "%s: no pipe: %s", words[0], strerror(errno));
    fds[0] = spawn_input(spawn);
    fds[1] = spawn_raise(ends[1]);
    if (fds[0] < 0 || fds[1] < 0)
        error = errno;
    else if (!spawn_environment(&environment, &variables))
        error = spawn_start(words, variables, fds, &pid);
    free(variables);
    nw_text_fini(&environment);
    for (int i = 0; i < 2; i++)
        if (fds[i] >= 0)
            (void)close(fds[i]);
    if (!error) {
        bool ended = spawn_read(spawn, ends[0], until_ns, answer);

        *how = spawn_end(pid, ended ? until_ns : 0);
    }
    (void)close(ends[0]);
    return error
               ? nw_fail(error == ENOENT ? NW_ENODEV : NW_EIO,
                         "%s cannot be started: %s", words[0], strerror(error))
               : NW_OK;
}

nw_status nw_spawn_run(const struct nw_spawn *spawn, struct nw_text *answer,
                       int *how)
{
    char path[PATH_MAX], *words[MOST_ARGUMENTS + 2] = {path};

    if (spawn->from_path)
        words[0] = (char *)(uintptr_t)spawn->program;
    else if (!nw_install_path_find(spawn->program, spawn->program, X_OK, path))
        return nw_fail(NW_ENODEV,
                       "the helper program %s is missing: install Nodewise "
                       "again",
                       spawn->program);
    for (int i = 0; spawn->arguments[i]; i++) {
        if (i == MOST_ARGUMENTS)
            return nw_fail(NW_EINVAL, "%s: more than %d arguments",
                           spawn->program, MOST_ARGUMENTS);
        words[i + 1] = (char *)(uintptr_t)spawn->arguments[i];
    }
    return spawn_talk(spawn, words, answer, how);
}
