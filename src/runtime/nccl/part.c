/* SPDX-License-Identifier: BSD-3-Clause */
/* Each line is written by one write of 128 bytes, so that the file has only
 * whole lines whenever it is read or the process is killed. */
#include "runtime/nccl/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE 128
/* Counts are written once a second, or less often if writing takes more than 1
 * % of the time. */
#define PERIOD_NS UINT64_C(1000000000)
#define PERIOD_FACTOR 100

static int part_file = -1;
static struct stat part_info;
static long part_lines;
static uint64_t part_due_ns, part_began_ns;

static uint64_t part_clock(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Creates a new file and returns its descriptor, or -1. Appends a number to the
 * name if the file exists, since two containers may have the same host name and
 * process number. */
static int part_create(const struct nw_nccl_self *self)
{
    char path[4096];
    int file = -1;

    for (int i = 0; i < 10; i++) {
        int length =
            snprintf(path, sizeof path, "%s.nccl.%s.%ld%s%.0d", self->record,
                     self->host, (long)getpid(), i ? "." : "", i);

        if (length < 0 || (size_t)length >= sizeof path)
            return -1;
        file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    0600);
        if (file >= 0 || errno != EEXIST)
            break;
    }
    return file;
}

bool nw_nccl_part_open(const struct nw_nccl_self *self)
{
    part_file = part_create(self);
    if (part_file < 0)
        return false;
    if (fstat(part_file, &part_info)) {
        nw_nccl_part_close();
        return false;
    }
    part_due_ns = part_clock() + PERIOD_NS;
    return true;
}

/* Returns true if the descriptor is still ours. The program may have closed it
 * and opened another file with the same number. */
bool nw_nccl_part_is_open(void)
{
    struct stat now;

    if (part_file >= 0 &&
        (fstat(part_file, &now) || now.st_ino != part_info.st_ino ||
         now.st_dev != part_info.st_dev))
        part_file = -1;
    return part_file >= 0;
}

/* Returns false if the file would exceed the process's size limit, since then a
 * write ends the program with SIGXFSZ. */
static bool part_is_allowed(off_t end)
{
    struct rlimit most;

    return getrlimit(RLIMIT_FSIZE, &most) || most.rlim_cur == RLIM_INFINITY ||
           (rlim_t)end <= most.rlim_cur;
}

long nw_nccl_part_put(long line, const char *format, ...)
{
    char text[LINE + 1];
    va_list arguments;
    ssize_t done = -1;
    long at = line < 0 ? part_lines : line;
    int length;

    if (!nw_nccl_part_is_open())
        return line;
    va_start(arguments, format);
    length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length < 0 || length >= LINE)
        return line;
    memset(text + length, ' ', (size_t)(LINE - 1 - length));
    text[LINE - 1] = '\n';
    if (part_is_allowed((off_t)(at + 1) * LINE))
        do
            done = pwrite(part_file, text, LINE, (off_t)at * LINE);
        while (done < 0 && errno == EINTR);
    if (done != LINE) {
        nw_nccl_part_close();
        return line;
    }
    part_lines += line < 0;
    return at;
}

bool nw_nccl_part_is_due(void)
{
    if (part_file < 0)
        return false;
    part_began_ns = part_clock();
    return part_began_ns >= part_due_ns;
}

void nw_nccl_part_saved(void)
{
    uint64_t now = part_clock();
    uint64_t rest = PERIOD_FACTOR * (now - part_began_ns);

    part_due_ns = now + (rest > PERIOD_NS ? rest : PERIOD_NS);
}

void nw_nccl_part_close(void)
{
    if (nw_nccl_part_is_open())
        close(part_file);
    part_file = -1;
}
