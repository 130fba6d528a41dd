/* SPDX-License-Identifier: BSD-3-Clause */
/* libotf2 believes what a damaged archive says: it reads past its buffers and
 * asks for any amount of memory. It does so in a child, which answers with its
 * status and either the pattern in our own format or the error. */
#include "pattern/apart.h"

#include "base/status.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static bool send_bytes(int to, const char *bytes, size_t count)
{
    while (count) {
        ssize_t written = write(to, bytes, count);

        if (written < 0 && errno != EINTR)
            return false;
        if (written > 0) {
            bytes += written;
            count -= (size_t)written;
        }
    }
    return true;
}

__attribute__((noreturn)) static void
answer(nw_pattern_opener *open, const char *path, int to, unsigned seconds)
{
    nw_pattern *pattern = NULL;
    struct nw_text text = {0};
    nw_status status;
    char first;

    setrlimit(RLIMIT_CPU, &(struct rlimit){seconds, seconds});
    status = open(path, &pattern);
    first = (char)status;
    if (status)
        nw_text_add(&text, nw_error_text());
    else
        nw_native_render(pattern, &text);
    nw_pattern_free(pattern);
    /* no exit handlers: they are the parent's */
    _exit(text.failed || !send_bytes(to, &first, 1) ||
          !send_bytes(to, text.data ? text.data : "", text.length));
}

static bool receive(int from, struct nw_text *text)
{
    char block[65536];

    for (;;) {
        ssize_t count = read(from, block, sizeof block);

        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return !count && !text->failed && text->length;
        nw_text_add_bytes(text, block, (size_t)count);
    }
}

static bool ended_well(pid_t child)
{
    int state = 0;

    while (waitpid(child, &state, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(state) && !WEXITSTATUS(state);
}

static nw_status take_answer(const struct nw_text *text, const char *path,
                             nw_pattern **out)
{
    struct nw_pattern_text file = {
        .file = path, .data = text->data + 1, .length = text->length - 1};
    nw_status status = (nw_status)text->data[0];

    return status ? nw_fail(status, "%s", file.data)
                  : nw_native_read(&file, out);
}

nw_status nw_open_apart(nw_pattern_opener *open, const char *path,
                        unsigned seconds, nw_pattern **out)
{
    struct nw_text text = {0};
    int ends[2];
    nw_status status;
    pid_t child;
    bool whole;

    if (pipe(ends))
        return nw_fail(NW_EIO, "pipe: %s", strerror(errno));
    child = fork();
    if (!child) {
        close(ends[0]);
        answer(open, path, ends[1], seconds);
    }
    close(ends[1]);
    whole = child > 0 && receive(ends[0], &text);
    close(ends[0]);
    if (child < 0)
        status = nw_fail(NW_EIO, "fork: %s", strerror(errno));
    else if (!ended_well(child) || !whole)
        status =
            nw_fail(NW_EFORMAT,
                    "%s:0: damaged, the library that reads it gave up", path);
    else
        status = take_answer(&text, path, out);
    nw_text_fini(&text);
    return status;
}
