/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs libotf2 in a helper program. libotf2 trusts the numbers in a damaged
 * archive: it reads past its buffers and allocates any amount of memory. The
 * helper prints its status as one byte, and then the pattern in Nodewise's own
 * format or the error. */
#include "pattern/otf2_helper.h"

#include "base/spawn.h"
#include "base/status.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>

static nw_status take_answer(const struct nw_text *text, const char *path,
                             nw_pattern **out)
{
    struct nw_pattern_text file = {
        .file = path, .data = text->data + 1, .length = text->length - 1};
    nw_status status = (nw_status)text->data[0];

    return status ? nw_fail(status, "%s", file.data)
                  : nw_native_read(&file, out);
}

nw_status nw_otf2_helper_open(const char *path, unsigned seconds,
                              nw_pattern **out)
{
    const char *const arguments[] = {"otf2", path, NULL};
    const struct nw_spawn spawn = {.program = "nodewise-reader",
                                   .arguments = arguments,
                                   .seconds = seconds};
    struct nw_text answer = {0};
    int how = 0;
    nw_status status = nw_spawn_run(&spawn, &answer, &how);

    if (!status && how == NW_SPAWN_TIMED_OUT)
        status = nw_fail(NW_EFORMAT,
                         "%s: not read within %u s; the trace is damaged, or "
                         "its file system too slow",
                         path, seconds);
    else if (!status && WIFSIGNALED(how) && WTERMSIG(how) == SIGKILL)
        status = nw_fail(NW_EHELPER,
                         "%s: the program that reads the trace was killed; was "
                         "there too little memory?",
                         path);
    else if (!status && (how || answer.failed || !answer.length))
        status = nw_fail(NW_EFORMAT,
                         "%s: the library for OTF2 cannot read the trace: it "
                         "is damaged",
                         path);
    if (!status)
        status = take_answer(&answer, path, out);
    nw_text_fini(&answer);
    return status;
}
