/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Merges the part files of a run that did not reach MPI_Finalize. Every field
 * is checked, since a file may be truncated or come from another program.
 */
#include <nodewise/profile.h>

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "runtime/profile/merge_records.h"

#include <fcntl.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* If the number of ranks is higher, the file is damaged. */
#define MOST_RANKS (1 << 26)

struct merge_part_files_part {
    const char *path; /* borrowed */
    char *data;
    const struct nw_part_header *header; /* NULL: the file is empty or not a
                                            regular file */
    const struct nw_part_record *record;
};

struct merge_part_files_parts {
    glob_t found;
    struct merge_part_files_part *part;
    size_t count;
    bool mixed;
};

/* Finds the files whose names are `path` followed by the glob pattern `end`.
 * Special characters in `path` are taken literally. */
static nw_status find_files(const char *path, const char *end, glob_t *found)
{
    struct nw_text text = {0};
    nw_status status;
    char *pattern;

    nw_text_add_glob(&text, path);
    nw_text_add(&text, end);
    status = nw_text_take(&text, &pattern);
    if (status)
        return status;
    if (glob(pattern, 0, NULL, found))
        status = nw_fail(NW_ENODEV, "no part files %s.part.* were found", path);
    free(pattern);
    return status;
}

#define DIGITS "0123456789"
#define PART ".part."
#define LAUNCH_DIGITS 16
/* Time for ranks to end after their launcher, in ns. */
#define ENDING_NS UINT64_C(2000000000)

/* Returns the launch number in the name of a part file, or "" if the name has
 * none. Returns NULL if the name is not that of a part file, which ends in
 * ".part.RANK" or ".part.RANK.LAUNCH". */
static const char *launch_of(const char *path)
{
    const char *at = NULL, *next = path;
    size_t rank;

    while ((next = strstr(next, PART)))
        at = next += strlen(PART);
    rank = at ? strspn(at, DIGITS) : 0;
    if (!rank)
        return NULL;
    at += rank;
    if (!*at)
        return at;
    if (*at++ != '.' || strlen(at) != LAUNCH_DIGITS ||
        strspn(at, DIGITS "abcdef") != LAUNCH_DIGITS)
        return NULL;
    return at;
}

/* Stores the properties of a regular file in *info. Returns false for other
 * kinds: in a shared folder, anybody can make a pipe with the name of a part.
 */
static bool is_file(const char *path, struct stat *info)
{
    return !stat(path, info) && S_ISREG(info->st_mode);
}

/* Returns the launch number of the newest part file; NULL if `found` lists no
 * part file. Several programs may have left part files. */
static const char *last_launch(const glob_t *found)
{
    const char *launch = NULL;
    struct timespec last = {0};

    for (size_t i = 0; i < found->gl_pathc; i++) {
        const char *its = launch_of(found->gl_pathv[i]);
        struct stat info;

        if (!its || !is_file(found->gl_pathv[i], &info))
            continue;
        if (launch && (info.st_mtim.tv_sec < last.tv_sec ||
                       (info.st_mtim.tv_sec == last.tv_sec &&
                        info.st_mtim.tv_nsec <= last.tv_nsec)))
            continue;
        launch = its;
        last = info.st_mtim;
    }
    return launch;
}

static nw_status check_header(const struct merge_part_files_part *part,
                              size_t length)
{
    const struct nw_part_header *header = part->header;
    size_t room = length - NW_PART_HEADER;

    if (memcmp(header->magic, NW_PART_MAGIC, sizeof header->magic))
        return nw_fail(NW_EFORMAT, "%s:1: not a part of a profile", part->path);
    if (header->order != NW_PART_ORDER)
        return nw_fail(NW_EFORMAT, "%s:1: of a machine of other byte order",
                       part->path);
    if (header->rank_count < 1 || header->rank_count > MOST_RANKS ||
        header->rank < 0 || header->rank >= header->rank_count)
        return nw_fail(NW_EFORMAT, "%s:1: rank %d of %d", part->path,
                       header->rank, header->rank_count);
    if (header->state < NW_PART_RUNNING || header->state > NW_PART_FINALIZED ||
        header->program_length >= NW_PART_PROGRAM ||
        header->record_count > room / sizeof *part->record)
        return nw_fail(NW_EFORMAT, "%s:1: cut short or damaged", part->path);
    return NW_OK;
}

static nw_status read_part(struct merge_part_files_part *part)
{
    struct stat info;
    size_t length;
    nw_status status;

    if (!is_file(part->path, &info)) /* no rank made it */
        return NW_OK;
    status = nw_file_read(part->path, &part->data, &length);
    /* empty: the rank was killed before its first write */
    if (status || !length)
        return status;
    if (length < NW_PART_HEADER)
        return nw_fail(NW_EFORMAT, "%s:1: cut short", part->path);
    part->header = (const struct nw_part_header *)part->data;
    part->record = (const struct nw_part_record *)(part->data + NW_PART_HEADER);
    return check_header(part, length);
}

static void free_parts(struct merge_part_files_parts *parts)
{
    for (size_t i = 0; i < parts->count; i++)
        free(parts->part[i].data);
    free(parts->part);
    globfree(&parts->found);
}

static nw_status read_next(struct merge_part_files_parts *parts,
                           const char *path)
{
    struct merge_part_files_part *part = &parts->part[parts->count];
    nw_status status;

    part->path = path;
    status = read_part(part);
    for (size_t r = 0;
         !status && part->header && r < part->header->record_count; r++)
        parts->mixed |= nw_part_is_gpu_end(part->record[r].class);
    if (status || part->header)
        parts->count++;
    else
        free(part->data);
    return status;
}

static nw_status read_parts(const char *path,
                            struct merge_part_files_parts *parts)
{
    const char *launch = last_launch(&parts->found);
    nw_status status =
        nw_alloc(parts->found.gl_pathc, sizeof *parts->part, &parts->part);

    for (size_t i = 0; !status && launch && i < parts->found.gl_pathc; i++) {
        const char *its = launch_of(parts->found.gl_pathv[i]);

        if (its && !strcmp(its, launch))
            status = read_next(parts, parts->found.gl_pathv[i]);
    }
    if (!status && !parts->count)
        status = nw_fail(NW_ENODEV, "no part files %s.part.* were found", path);
    return status;
}

/* Checks that all parts belong to one program, and that each rank has only one
 * part. */
static nw_status check_together(const struct merge_part_files_parts *parts)
{
    const struct nw_part_header *first = parts->part->header;
    nw_status status;
    char *seen;

    status = nw_alloc((size_t)first->rank_count, 1, &seen);
    if (status)
        return status;
    for (size_t i = 0; !status && i < parts->count; i++) {
        const struct nw_part_header *header = parts->part[i].header;

        if (header->rank_count != first->rank_count || seen[header->rank])
            status = nw_fail(NW_EFORMAT, "%s:1: of another run than %s",
                             parts->part[i].path, parts->part->path);
        else
            seen[header->rank] = 1;
    }
    free(seen);
    return status;
}

static nw_status merge_part(struct nw_merge *merge,
                            const struct merge_part_files_part *part)
{
    const struct nw_part_header *header = part->header;

    nw_merge_add_outside(merge, header->outside_bytes,
                         header->outside_messages);
    for (size_t r = 0; r < header->record_count; r++) {
        /* class 0: the rank was killed while it created the record */
        if (part->record[r].class &&
            nw_merge_add(merge, header->rank, &part->record[r]))
            return nw_fail(NW_EFORMAT, "%s:1: damaged", part->path);
    }
    return NW_OK;
}

/* Returns the header of the rank whose end explains the failure best: a rank
 * that called MPI_Abort, or else one that exited without MPI_Finalize. NULL if
 * there is neither. */
static const struct nw_part_header *
merge_part_files_culprit(const struct merge_part_files_parts *parts)
{
    const struct nw_part_header *worst = NULL;

    for (size_t i = 0; i < parts->count; i++) {
        const struct nw_part_header *header = parts->part[i].header;

        if (header->state == NW_PART_ABORTED)
            return header;
        if (header->state == NW_PART_EXITED && !worst)
            worst = header;
    }
    return worst;
}

/* Appends how many ranks were killed. If several were killed, it is unknown
 * which was the first, because a launcher kills the other ranks when one ends.
 */
static void say_killed(const struct merge_part_files_parts *parts,
                       struct nw_text *text)
{
    int killed = 0, last = 0;

    for (size_t i = 0; i < parts->count; i++)
        if (parts->part[i].header->state == NW_PART_RUNNING) {
            last = parts->part[i].header->rank;
            killed++;
        }
    if (killed == 1)
        nw_text_format(text, "rank %d was killed or left by _exit", last);
    else if (killed)
        nw_text_format(text,
                       "%d rank%s ended without MPI_Finalize; which rank was "
                       "the first is unknown",
                       killed, nw_plural((uint64_t)killed));
}

static nw_status give_reason(const struct merge_part_files_parts *parts,
                             nw_pattern *pattern)
{
    const struct nw_part_header *worst = merge_part_files_culprit(parts);
    struct nw_text text = {0};

    if (worst && worst->state == NW_PART_ABORTED)
        nw_text_format(&text, "rank %d called MPI_Abort with code %d",
                       worst->rank, worst->abort_code);
    else if (worst)
        nw_text_format(&text, "rank %d ended without MPI_Finalize",
                       worst->rank);
    else
        say_killed(parts, &text);
    if (parts->count < (size_t)pattern->rank_count)
        nw_text_format(&text, "%sonly %zu of %d rank%s left their part",
                       text.length ? ", " : "", parts->count,
                       pattern->rank_count,
                       nw_plural((uint64_t)pattern->rank_count));
    return text.data || text.failed ? nw_text_take(&text, &pattern->partial)
                                    : NW_OK;
}

static nw_status merge_parts(const struct merge_part_files_parts *parts,
                             nw_pattern **out)
{
    const struct nw_part_header *first = parts->part->header;
    struct nw_merge *merge = NULL;
    nw_pattern *pattern = NULL;
    nw_status status = nw_merge_new(first->rank_count, parts->mixed, &merge);

    for (size_t i = 0; !status && i < parts->count; i++)
        status = merge_part(merge, &parts->part[i]);
    if (!status)
        status = nw_merge_build(merge, &pattern);
    if (!status)
        status = nw_strdup(first->program, &pattern->program);
    if (!status)
        status = give_reason(parts, pattern);
    nw_merge_free(merge);
    if (status)
        nw_pattern_free(pattern);
    else
        *out = pattern;
    return status;
}

nw_status nw_profile_merge(const char *path, nw_pattern **out)
{
    struct merge_part_files_parts parts = {0};
    nw_status status = find_files(path, ".part.[0-9]*", &parts.found);

    if (!status)
        status = read_parts(path, &parts);
    if (!status)
        status = check_together(&parts);
    if (!status)
        status = merge_parts(&parts, out);
    free_parts(&parts);
    return status;
}

/* Returns true if this is a part file: its name is that of one, and it begins
 * with NW_PART_MAGIC, or it is empty and its name has a launch number. Without
 * this check, a file of the user could be removed. */
static bool is_part(int fd, const char *path)
{
    char magic[sizeof NW_PART_MAGIC - 1];
    const char *launch = launch_of(path);
    ssize_t length = launch ? pread(fd, magic, sizeof magic, 0) : -1;

    if (length == 0)
        return *launch;
    return length == (ssize_t)sizeof magic &&
           !memcmp(magic, NW_PART_MAGIC, sizeof magic);
}

/* Removes a part file unless a living rank still locks it at the time `until`
 * (ns). A launcher may end shortly before the ranks that it kills. */
static void remove_part(const char *path, uint64_t until)
{
    int fd = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

    if (fd < 0)
        return;
    if (is_part(fd, path) && nw_file_lock_until(fd, LOCK_EX, until))
        unlink(path);
    close(fd);
}

static void remove_files(const char *path, const char *end)
{
    uint64_t until = nw_clock_ns() + ENDING_NS;
    glob_t found = {0};

    if (!find_files(path, end, &found))
        for (size_t i = 0; i < found.gl_pathc; i++)
            remove_part(found.gl_pathv[i], until);
    globfree(&found);
}

void nw_profile_remove_parts(const char *path)
{
    remove_files(path, ".part.[0-9]*");
    remove_files(path, ".spawn.[0-9]*.part.[0-9]*");
}
