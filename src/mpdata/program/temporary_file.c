/* SPDX-License-Identifier: BSD-3-Clause */
/* Manages temporary files in the folder of a result, which is written to such a
 * file first. Each process has its own file and holds a lock on it. A file
 * without a lock was left by a process that was killed. */
#include "base/file.h"
#include "base/c_locale.h"
#include "mpdata/program/job.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAGIC = 16 };

/* Returns true if `name` is the name of a temporary file for `target`, such as
 * "ck.123.new" for "ck". */
static bool temporary_file_is_ours(const char *name, const char *target)
{
    size_t length = strlen(target), digits;

    if (strncmp(name, target, length) || name[length] != '.')
        return false;
    digits = strspn(name + length + 1, "0123456789");
    return digits && !strcmp(name + length + 1 + digits, ".new");
}

/* Removes the file if it belongs to this user, begins with `magic` and is not
 * locked. */
static void temporary_file_remove(int folder, const char *name,
                                  const char *magic)
{
    char begins[MAGIC] = "";
    struct stat info;
    int file =
        openat(folder, name, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (file < 0)
        return;
    if (!fstat(file, &info) && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid() && !flock(file, LOCK_EX | LOCK_NB) &&
        read(file, begins, strlen(magic)) == (ssize_t)strlen(magic) &&
        !memcmp(begins, magic, strlen(magic)))
        (void)unlinkat(folder, name, 0);
    (void)close(file);
}

void nw_mp_sweep_beside(const char *target, const char *magic)
{
    char path[PATH_MAX];
    const char *name = strrchr(target, '/');
    struct dirent *entry;
    DIR *folder;

    nw_snprintf(path, sizeof path, "%.*s", name ? (int)(name - target) + 1 : 1,
                name ? target : ".");
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (temporary_file_is_ours(entry->d_name, name ? name + 1 : target))
            temporary_file_remove(dirfd(folder), entry->d_name, magic);
    if (folder)
        (void)closedir(folder);
}

int nw_mp_create_beside(const char *temporary)
{
    int file = open(temporary,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);

    if (file >= 0)
        (void)flock(file, LOCK_SH | LOCK_NB);
    return file;
}

bool nw_mp_name_beside(int held, const char *temporary, const char *target)
{
    return !fchmod(held, nw_file_mode(target)) && !rename(temporary, target);
}
