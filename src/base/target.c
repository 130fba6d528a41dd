/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/target.h"

#include "base/status.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { MOST_LINKS = 40 }; /* the kernel follows no more links in one path */

/* Returns true if the link is in /proc, which has links to open files of
 * processes. */
static bool is_of_process(const char *link)
{
    int fd = open(link, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    struct statfs info;
    bool is = fd >= 0 && !fstatfs(fd, &info) && info.f_type == PROC_SUPER_MAGIC;

    if (fd >= 0)
        close(fd);
    return is;
}

/* Replaces the path by the target of the symbolic link, relative to the link's
 * folder. Returns false if the path is not a link, if it is a link to an open
 * file of a process, or if its target is too long. */
static bool target_follow(char at[PATH_MAX])
{
    char said[PATH_MAX];
    ssize_t length = readlink(at, said, sizeof said - 1);
    char *name = strrchr(at, '/');
    size_t folder = name ? (size_t)(name - at) + 1 : 0;

    if (length < 0 || is_of_process(at))
        return false;
    said[length] = '\0';
    if (said[0] == '/')
        folder = 0;
    if (folder + (size_t)length >= PATH_MAX)
        return false; /* too long for `at`, so the link counts as a file */
    memcpy(at + folder, said, (size_t)length + 1);
    return true;
}

nw_status nw_target_find(const char *path, char out[PATH_MAX])
{
    int links = 0;

    if (!*path)
        return nw_fail(NW_EINVAL, "the name of the output file is empty");
    if (snprintf(out, PATH_MAX, "%s", path) >= PATH_MAX)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(ENAMETOOLONG));
    while (links <= MOST_LINKS && target_follow(out))
        links++;
    return links <= MOST_LINKS
               ? NW_OK
               : nw_fail(NW_EIO, "%s: %s", path, strerror(ELOOP));
}

bool nw_target_is_file(int fd, const char *path)
{
    struct stat mine, there;

    return !fstat(fd, &mine) && !stat(path, &there) &&
           mine.st_dev == there.st_dev && mine.st_ino == there.st_ino;
}

int nw_target_is_open(const char *target)
{
    const char *name = strrchr(target, '/');
    char *end;
    long fd;

    if (!name || !is_of_process(target))
        return -1;
    fd = strtol(name + 1, &end, 10);
    if (end == name + 1 || *end || fd < 0 || fd > INT_MAX)
        return -1;
    return nw_target_is_file((int)fd, target) ? (int)fd : -1;
}
