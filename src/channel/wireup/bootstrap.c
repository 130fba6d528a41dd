/* SPDX-License-Identifier: BSD-3-Clause */
/* Exchanges data between the ranks of a channel before they are connected. The
 * means are the caller's allgather function, or a file that all ranks can reach
 * and append lines to, or the launcher's PMIx. */
#include "channel/state.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "base/target.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

struct nw_meeting {
    const struct nw_channel_options *how;
    int file; /* descriptor of the common file; -1: no file is used */
    int round;
    bool removes; /* true: closing removes the file. Never true while the file
                     may be one of the user's that has other content. */
    uint64_t until_ns;
};

static nw_status file_fail(const struct nw_meeting *meeting, const char *what)
{
    return nw_fail(NW_EIO, "%s: cannot %s: %s", meeting->how->file, what,
                   strerror(errno));
}

/* Opens the path. Follows a link only if it belongs to this user: in a shared
 * folder, another user can make a link to one of this user's files. */
static int bootstrap_open_path(const char *path)
{
    const int flags = O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC;
    int file = open(path, flags | O_NOFOLLOW, 0600);
    struct stat link;

    if (file < 0 && errno == ELOOP && !lstat(path, &link) &&
        link.st_uid == geteuid())
        file = open(path, flags, 0600);
    return file;
}

/* Opens the file. Refuses a device or a pipe, because ranks would read from it
 * forever, and would remove it at the end. Refuses a file of another user. Only
 * the owner may read the file, since it contains the nonces by which ranks
 * recognise each other. A rank that writes the first line has protected the
 * file before, so a file that is not empty needs no protection, or it has other
 * content and stays as it is. */
static nw_status bootstrap_open_file(struct nw_meeting *meeting)
{
    const struct nw_channel_options *how = meeting->how;
    struct stat about;

    meeting->file = bootstrap_open_path(how->file);
    if (meeting->file < 0 || fstat(meeting->file, &about))
        return file_fail(meeting, "open it");
    if (!S_ISREG(about.st_mode))
        return nw_fail(NW_EIO,
                       "%s: not a regular file; name a file in which the ranks "
                       "can exchange addresses",
                       how->file);
    if (about.st_uid != geteuid())
        return nw_fail(NW_EIO,
                       "%s: another user owns this file and could read the "
                       "addresses and nonces of the ranks; name another file",
                       how->file);
    if (!about.st_size && fchmod(meeting->file, 0600))
        return file_fail(meeting, "protect it");
    meeting->removes = !how->rank && !about.st_size;
    return NW_OK;
}

nw_status nw_meeting_open(const struct nw_channel_options *how,
                          struct nw_meeting **out)
{
    struct nw_meeting *meeting = NULL;
    nw_status status = nw_alloc(1, sizeof *meeting, &meeting);

    if (status)
        return status;
    meeting->how = how;
    meeting->file = -1;
    meeting->until_ns = nw_clock_ns() + how->timeout_ms * UINT64_C(1000000);
    if (!how->allgather && how->file && how->count > 1)
        status = bootstrap_open_file(meeting);
    if (status)
        nw_meeting_close(meeting);
    else
        *out = meeting;
    return status;
}

void nw_meeting_close(struct nw_meeting *meeting)
{
    if (!meeting)
        return;
    if (meeting->file >= 0) {
        if (meeting->removes &&
            nw_target_is_file(meeting->file, meeting->how->file))
            (void)unlink(meeting->how->file);
        (void)close(meeting->file);
    }
    free(meeting);
}

/* Locks the file; returns NW_OK without a lock if the file system has no locks.
 * Returns NW_EIO if another process, for example a stopped one, holds the lock
 * beyond the time limit. */
static nw_status bootstrap_lock(const struct nw_meeting *meeting, int how)
{
    if (nw_file_lock_until(meeting->file, how, meeting->until_ns))
        return NW_OK;
    return nw_fail(NW_EIO, "%s: another process keeps it locked",
                   meeting->how->file);
}

/* Appends the line "ROUND RANK DATA" to the file, with the data in hexadecimal.
 * Writes it in one call while it holds the file lock. */
static nw_status bootstrap_say(struct nw_meeting *meeting,
                               const unsigned char *mine, size_t bytes)
{
    struct nw_text line = {0};
    char *words = NULL;
    nw_status status;

    nw_text_format(&line, "%d %d ", meeting->round, meeting->how->rank);
    for (size_t i = 0; i < bytes; i++)
        nw_text_format(&line, "%02x", mine[i]);
    nw_text_add(&line, "\n");
    status = nw_text_take(&line, &words);
    if (!status)
        status = bootstrap_lock(meeting, LOCK_EX);
    if (!status &&
        write(meeting->file, words, strlen(words)) != (ssize_t)strlen(words))
        status = file_fail(meeting, "write it");
    (void)flock(meeting->file, LOCK_UN);
    free(words);
    return status;
}

static nw_status fail_no_meeting(struct nw_meeting *meeting)
{
    meeting->removes = false;
    return nw_fail(NW_EFORMAT,
                   "%s: does not hold the addresses of %d rank%s; delete the "
                   "file before the start",
                   meeting->how->file, meeting->how->count,
                   nw_plural((uint64_t)meeting->how->count));
}

/* Reads the whole file. The lock that writers hold ensures that no line is
 * incomplete. */
static nw_status bootstrap_read_all(struct nw_meeting *meeting, char **out)
{
    nw_status status = bootstrap_lock(meeting, LOCK_SH);
    struct stat about;
    char *text = NULL;
    ssize_t n = -1;

    if (status)
        return status;
    status = fstat(meeting->file, &about)
                 ? file_fail(meeting, "read it")
                 : nw_alloc((size_t)about.st_size + 1, 1, &text);
    if (!status)
        n = pread(meeting->file, text, (size_t)about.st_size, 0);
    (void)flock(meeting->file, LOCK_UN);
    if (!status && n < 0)
        status = file_fail(meeting, "read it");
    if (!status && n > 0 && (text[n - 1] != '\n' || memchr(text, 0, (size_t)n)))
        status = fail_no_meeting(meeting);
    if (status) {
        free(text);
        return status;
    }
    text[n] = '\0';
    *out = text;
    return NW_OK;
}

static bool from_hex(const char *hex, size_t bytes, unsigned char *out)
{
    unsigned value;

    if (strlen(hex) != 2 * bytes)
        return false;
    for (size_t i = 0; i < bytes; i++) {
        if (sscanf(hex + 2 * i, "%2x", &value) != 1)
            return false;
        out[i] = (unsigned char)value;
    }
    return true;
}

/* The contents of the lines read so far. `seen` marks the ranks of each round;
 * `all` holds the data of the current round. */
struct heard {
    char *seen, *all;
    size_t bytes;
    int32_t count;
};

/* Takes one line of the file. Another rank may already be one round ahead, but
 * only after its line of this round. A rank that occurs twice in a round is an
 * error, and so is a rank out of range. */
static nw_status bootstrap_hear(struct nw_meeting *meeting, const char *line,
                                struct heard *heard)
{
    int32_t count = meeting->how->count;
    int round, rank, at = 0;
    char *seen;

    if (sscanf(line, "%d %d %n", &round, &rank, &at) != 2 || !at || rank < 0 ||
        rank >= count || round < 0 || round > meeting->round + 1)
        return fail_no_meeting(meeting);
    seen = &heard->seen[(size_t)round * (size_t)count + (size_t)rank];
    if (round && !seen[-count])
        return fail_no_meeting(meeting);
    if (*seen) {
        meeting->removes = !meeting->how->rank; /* an earlier run left it */
        return nw_fail(NW_EINVAL,
                       "%s: rank %d is here twice; the file must be absent or "
                       "empty at the start",
                       meeting->how->file, rank);
    }
    *seen = 1;
    if (round != meeting->round)
        return NW_OK;
    if (!from_hex(line + at, heard->bytes,
                  (unsigned char *)heard->all + (size_t)rank * heard->bytes)) {
        meeting->removes = false;
        return nw_fail(NW_EFORMAT,
                       "%s: rank %d uses another version of Nodewise, or the "
                       "file has other content; delete it, or name another",
                       meeting->how->file, rank);
    }
    heard->count++;
    return NW_OK;
}

/* Reads the file, sets *count to the number of ranks that have written their
 * line of this round, and copies their data to `all`. */
static nw_status listen_once(struct nw_meeting *meeting, size_t bytes,
                             char *all, int32_t *count)
{
    struct heard heard = {.all = all, .bytes = bytes};
    char *text = NULL, *next = NULL;
    nw_status status = bootstrap_read_all(meeting, &text);

    if (!status)
        status =
            nw_alloc((size_t)(meeting->round + 2) * (size_t)meeting->how->count,
                     1, &heard.seen);
    for (char *line = text; !status && *line; line = next) {
        next = strchr(line, '\n');
        *next++ = '\0';
        status = bootstrap_hear(meeting, line, &heard);
    }
    *count = heard.count;
    free(heard.seen);
    free(text);
    return status;
}

/* Fails after the time limit. This rank then removes the file on closing, since
 * the addresses in it are stale. */
static nw_status fail_late(struct nw_meeting *meeting, int32_t heard)
{
    meeting->removes = true;
    return nw_fail(NW_EIO, "%s: only %d of %d rank%s arrived in time",
                   meeting->how->file, heard, meeting->how->count,
                   nw_plural((uint64_t)meeting->how->count));
}

nw_status nw_meeting_gather(struct nw_meeting *meeting, const void *mine,
                            size_t bytes, void *all)
{
    int32_t heard = 0, count = meeting->how->count;
    nw_status status;

    if (meeting->how->allgather)
        return meeting->how->allgather(meeting->how->context, mine, bytes, all);
    if (count == 1) {
        memcpy(all, mine, bytes);
        return NW_OK;
    }
    if (!meeting->how->file)
        return nw_pmix_gather(mine, bytes, meeting->until_ns, all);
    /* read before writing, so that a file with other content is refused and
     * stays unchanged */
    status = listen_once(meeting, bytes, all, &heard);
    meeting->removes |= !status && !meeting->how->rank;
    if (!status)
        status = bootstrap_say(meeting, mine, bytes);
    while (!status) {
        status = listen_once(meeting, bytes, all, &heard);
        if (status || heard == count)
            break;
        if (nw_clock_ns() > meeting->until_ns)
            status = fail_late(meeting, heard);
        else
            (void)usleep(1000);
    }
    meeting->round++;
    return status;
}
