/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes files. A file is written beside its target and then renamed, so that a
 * full disk leaves the old file intact. Also finds the folder of cached files.
 */
#include "base/file.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "base/target.h"
#include "base/text.h"
#include "base/zstd.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool file_refuses_pipes;

void nw_file_refuse_pipes(void)
{
    __atomic_store_n(&file_refuses_pipes, true, __ATOMIC_RELAXED);
}

nw_status nw_file_check_pipe(const char *path)
{
    struct stat info;

    if (!__atomic_load_n(&file_refuses_pipes, __ATOMIC_RELAXED) ||
        stat(path, &info) || !S_ISFIFO(info.st_mode))
        return NW_OK;
    return nw_fail(
        NW_EIO,
        "%s: this is a pipe, which could block the program; name a file", path);
}

/* Both signals are sent to the thread that writes. So the signal is blocked in
 * this thread, and taken if the write has raised it. */
ssize_t nw_file_write_without(int number, int fd, const void *data,
                              size_t length)
{
    struct timespec none = {0};
    sigset_t held, before, pending;
    ssize_t done;
    int why;

    sigemptyset(&held);
    sigaddset(&held, number);
    (void)pthread_sigmask(SIG_BLOCK, &held, &before);
    (void)sigpending(&pending);
    done = write(fd, data, length);
    why = errno;
    if (done < 0 && !sigismember(&pending, number))
        (void)sigtimedwait(&held, NULL, &none);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = why;
    return done;
}

nw_status nw_file_put(int fd, const char *path, const char *data, size_t length)
{
    while (length) {
        ssize_t done = nw_file_write_without(SIGXFSZ, fd, data, length);

        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
        data += done;
        length -= (size_t)done;
    }
    return NW_OK;
}

/* Returns the mode that the umask gives to new files. The umask comes from
 * /proc, because umask(2) can only be asked by changing it, which would affect
 * other threads. */
static mode_t new_mode(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    unsigned mask = 077;
    char line[128];

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "Umask: %o", &mask) == 1)
            break;
    if (status)
        fclose(status);
    return 0666 & ~(mode_t)mask;
}

mode_t nw_file_mode(const char *path)
{
    struct stat info;

    return stat(path, &info) ? new_mode() : info.st_mode & 0777;
}

/* Lets fill() write a new file beside `target`, and renames this file to
 * `target`. On failure, removes it. */
static nw_status write_beside(const char *path, const char *target,
                              nw_file_filler *fill, void *user)
{
    struct nw_text name = {0};
    nw_status status;
    char *temporary;
    int fd;

    nw_text_format(&name, "%s.XXXXXX", target);
    status = nw_text_take(&name, &temporary);
    if (status)
        return status;
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
        free(temporary);
        return status;
    }
    status = fill(user, fd, path);
    if (!status && (fchmod(fd, nw_file_mode(target)) || fsync(fd)))
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (close(fd) && !status)
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (!status && rename(temporary, target))
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (status)
        unlink(temporary);
    free(temporary);
    return status;
}

/* A process that waits for the lock gets it on the old file if the file was
 * replaced, and then locks the new one. */
bool nw_file_lock_until(int fd, int how, uint64_t until_ns)
{
    while (flock(fd, how | LOCK_NB) &&
           (errno == EWOULDBLOCK || errno == EINTR)) {
        if (nw_clock_ns() > until_ns)
            return false;
        (void)usleep(1000);
    }
    return true;
}

int nw_file_lock(const char *path)
{
    uint64_t until = nw_clock_ns() + UINT64_C(10000000000);
    int fd = -1;

    do {
        if (fd >= 0)
            close(fd);
        fd = open(path, O_RDWR | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                  0666);
        if (fd < 0)
            return -1;
        (void)nw_file_lock_until(fd, LOCK_EX, until);
    } while (!nw_target_is_file(fd, path) && nw_clock_ns() < until);
    return fd;
}

nw_status nw_file_writable(const char *path)
{
    struct stat info;
    char target[PATH_MAX], *slash;
    nw_status status;

    if (!path || !strcmp(path, "-"))
        return NW_OK;
    status = nw_target_find(path, target);
    if (status || nw_target_is_open(target) >= 0)
        return status;
    if (!stat(target, &info) && !S_ISREG(info.st_mode))
        return S_ISDIR(info.st_mode)
                   ? nw_fail(NW_EIO, "%s: is a directory", path)
                   : NW_OK;
    /* the file is replaced, so its folder must be writable */
    slash = strrchr(target, '/');
    if (slash)
        slash[slash == target] = '\0';
    if (access(slash ? target : ".", W_OK | X_OK))
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    return NW_OK;
}

nw_status nw_file_writable_in_parts(const char *path)
{
    char target[PATH_MAX];
    struct stat info;
    nw_status status;

    if (!path)
        return NW_OK;
    status = nw_target_find(path, target);
    if (!status && (nw_target_is_open(target) >= 0 ||
                    (!stat(target, &info) && !S_ISREG(info.st_mode) &&
                     !S_ISDIR(info.st_mode))))
        status = nw_fail(NW_EIO, "%s: is not a regular file", path);
    return status ? status : nw_file_writable(path);
}

nw_status nw_file_write_by(const char *path, nw_file_filler *fill, void *user)
{
    char target[PATH_MAX];
    struct stat info;
    nw_status status;
    int fd;

    if (!strcmp(path, "-"))
        return fill(user, STDOUT_FILENO, "standard output");
    status = nw_target_find(path, target);
    if (status)
        return status;
    fd = nw_target_is_open(target);
    if (fd >= 0)
        return fill(user, fd, path);
    if (stat(target, &info) || S_ISREG(info.st_mode))
        return write_beside(path, target, fill, user);
    if (S_ISDIR(info.st_mode))
        return nw_fail(NW_EIO, "%s: is a directory", path);
    status = nw_file_check_pipe(path);
    if (status)
        return status;
    fd = open(target, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    status = fill(user, fd, path);
    if (close(fd) && !status)
        status = nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    return status;
}

struct bytes {
    const char *data;
    size_t length;
};

static nw_status put_bytes(void *user, int fd, const char *path)
{
    const struct bytes *bytes = user;

    return nw_file_put(fd, path, bytes->data, bytes->length);
}

nw_status nw_file_write(const char *path, const char *data, size_t length)
{
    struct bytes bytes = {data, length};
    char *packed;
    nw_status status;

    if (!nw_text_ends_with(path, ".zst"))
        return nw_file_write_by(path, put_bytes, &bytes);
    status = nw_zstd_pack(data, length, &packed, &bytes.length);
    if (status)
        return status;
    bytes.data = packed;
    status = nw_file_write_by(path, put_bytes, &bytes);
    free(packed);
    return status;
}

nw_status nw_file_end_output(void)
{
    bool failed = ferror(stdout); /* a failed write was earlier, so errno may be
                                     that of another call */

    if (!fflush(stdout) && !failed)
        return NW_OK;
    return nw_fail(NW_EIO, "standard output: %s",
                   failed ? "not all of it could be written" : strerror(errno));
}

nw_status nw_file_write_text(const char *path, struct nw_text *text)
{
    size_t length = text->length;
    char *data = NULL;
    nw_status status = nw_text_take(text, &data);

    if (!status)
        status = nw_file_write(path, data, length);
    free(data);
    return status;
}

nw_status nw_file_unnamed(char path[NW_FILE_UNNAMED_PATH], int *fd)
{
    int made = memfd_create("nodewise", MFD_CLOEXEC);

    if (made < 0)
        return nw_fail(NW_EIO, "a file in memory: %s", strerror(errno));
    snprintf(path, NW_FILE_UNNAMED_PATH, "/proc/self/fd/%d", made);
    *fd = made;
    return NW_OK;
}

bool nw_file_cache(struct nw_text *out)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache && *cache == '/') /* the XDG standard says to ignore relative
                                   paths */
        nw_text_format(out, "%s/nodewise", cache);
    else if (home && *home)
        nw_text_format(out, "%s/.cache/nodewise", home);
    else
        return false;
    return true;
}

nw_status nw_file_cache_path(const char *file, const char *name, char **out)
{
    struct nw_text text = {0};

    if (file)
        nw_text_add(&text, file);
    else if (nw_file_cache(&text))
        nw_text_format(&text, "/%s", name);
    else
        return nw_fail(NW_EINVAL, "neither XDG_CACHE_HOME nor HOME is set");
    return nw_text_take(&text, out);
}

void nw_file_add_absolute(const char *path, struct nw_text *out)
{
    char *here = path[0] == '/' ? NULL : getcwd(NULL, 0);

    if (here)
        nw_text_format(out, "%s/", here);
    nw_text_add(out, path);
    free(here);
}

nw_status nw_file_folders(const char *path, unsigned mode)
{
    char *folder, *slash;
    nw_status status = nw_strdup(path, &folder);

    if (status)
        return status;
    for (slash = strchr(folder + (*folder == '/'), '/'); slash && !status;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(folder, mode) && errno != EEXIST) {
            int why = errno;

            if (access(folder, F_OK))
                status = nw_fail(NW_EIO, "%s: %s", folder, strerror(why));
        }
        *slash = '/';
    }
    free(folder);
    return status;
}
