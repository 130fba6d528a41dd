/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes VTK files and checkpoints, and reads checkpoints. Rank 0 writes to a
 * temporary file and renames it when all data is on the disk, so that a full
 * disk leaves an earlier file unchanged. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/status.h"
#include "base/target.h"
#include "base/text.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { HEAD = 512 };

/* A file of values that is written or read. */
struct store {
    const char *path;
    char target[PATH_MAX], temporary[PATH_MAX + 32];
    int file, held; /* `held`: descriptor that has the lock */
    const char *magic;
    const struct nw_mp_job *job;
    size_t head; /* bytes of the header */
    bool single, swapped;
};

static nw_status program_store_trouble(const struct store *s)
{
    return nw_fail(NW_EIO, "%s: %s", s->path, strerror(errno));
}

static nw_status store_put(const struct store *s, const void *bytes,
                           size_t count, uint64_t at)
{
    while (count) {
        ssize_t done = pwrite(s->file, bytes, count, (off_t)at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return program_store_trouble(s);
        bytes = (const char *)bytes + done;
        count -= (size_t)done;
        at += (uint64_t)done;
    }
    return NW_OK;
}

/* Reads `count` bytes, or fewer if the file ends before. Returns the number of
 * bytes read, or -1 with errno. */
static ssize_t store_get(const struct store *s, void *bytes, size_t count,
                         uint64_t at)
{
    size_t done = 0;

    while (done < count) {
        ssize_t got = pread(s->file, (char *)bytes + done, count - done,
                            (off_t)(at + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        done += (size_t)got;
    }
    return (ssize_t)done;
}

static void program_store_swap(char *bytes, size_t count, size_t size)
{
    for (size_t i = 0; i < count; i++, bytes += size)
        for (size_t low = 0, high = size - 1; low < high; low++, high--) {
            char kept = bytes[low];
            bytes[low] = bytes[high];
            bytes[high] = kept;
        }
}

/* Writes a part of the field x, as nw_mp_gather passes it, to its position in
 * the file. Rows are whole, so that those of a plane are consecutive in the
 * file. */
static nw_status store_put_part(void *context, const int64_t first[3],
                                const int64_t extent[3], const double *values)
{
    const struct store *s = context;
    const int64_t *n = s->job->grid.n;
    size_t run = (size_t)(extent[1] * extent[2]), size = s->single ? 4 : 8;
    char *bytes = NULL;
    nw_status status = nw_alloc(run, size, &bytes);

    for (int64_t i = 0; i < extent[0] && !status; i++, values += run) {
        int64_t at = ((first[0] + i) * n[1] + first[1]) * n[2] + first[2];
        for (size_t k = 0; k < run; k++)
            if (s->single)
                ((float *)(void *)bytes)[k] = (float)values[k];
            else
                ((double *)(void *)bytes)[k] = values[k];
        if (s->swapped)
            program_store_swap(bytes, run, size);
        status = store_put(s, bytes, run * size, s->head + (uint64_t)at * size);
    }
    free(bytes);
    return status;
}

static nw_status store_begin(struct store *s, const char *head)
{
    nw_status status = nw_target_find(s->path, s->target);

    if (status)
        return status;
    snprintf(s->temporary, sizeof s->temporary, "%s.%ld.new", s->target,
             (long)getpid());
    nw_mp_sweep_beside(s->target, s->magic);
    s->held = nw_mp_create_beside(s->temporary);
    s->file = s->held < 0 ? -1 : fcntl(s->held, F_DUPFD_CLOEXEC, 0);
    if (s->file < 0)
        return program_store_trouble(s);
    return store_put(s, head, s->head, 0);
}

static nw_status store_finish(struct store *s, nw_status status)
{
    if (s->held < 0)
        return status;
    if (!status && fsync(s->file) && errno != EINVAL && errno != EROFS)
        status = program_store_trouble(s);
    if (s->file >= 0 && close(s->file) && !status)
        status = program_store_trouble(s);
    if (!status && !nw_mp_name_beside(s->held, s->temporary, s->target))
        status = program_store_trouble(s);
    if (status)
        unlink(s->temporary);
    (void)close(s->held);
    return status;
}

static nw_status write_store(struct store *s, const char *head)
{
    const struct nw_mp_job *job = s->job;
    nw_status status = nw_mp_agree(
        job->grid.comm, job->grid.rank ? NW_OK : store_begin(s, head));

    if (status) {
        if (!job->grid.rank)
            store_finish(s, status);
        return status;
    }
    status = nw_mp_gather(job, NW_MPDATA_X, store_put_part, s);
    return nw_mp_agree(job->grid.comm,
                       job->grid.rank ? NW_OK : store_finish(s, status));
}

nw_status nw_mp_vtk_write(const struct nw_mp_job *job)
{
    const int64_t *n = job->grid.n;
    char head[HEAD];
    struct store s = {.path = job->settings->vtk,
                      .file = -1,
                      .held = -1,
                      .magic = "# vtk DataFile",
                      .job = job,
                      .single = job->options.single,
                      .swapped = htobe16(1) != 1}; // VTK is big-endian

    s.head = (size_t)snprintf(
        head, sizeof head,
        "# vtk DataFile Version 3.0\nx after %lld step%s of "
        "nodewise-mpdata\nBINARY\nDATASET STRUCTURED_POINTS\nDIMENSIONS %lld "
        "%lld %lld\nORIGIN 0 0 0\nSPACING 1 1 1\nCELL_DATA %lld\nSCALARS x %s "
        "1\nLOOKUP_TABLE default\n",
        (long long)job->step, nw_plural((uint64_t)job->step),
        (long long)n[2] + 1, (long long)n[1] + 1, (long long)n[0] + 1,
        (long long)(n[0] * n[1] * n[2]), s.single ? "float" : "double");
    return write_store(&s, head);
}

/* --- checkpoints --- */

static void store_describe(const struct nw_mp_job *job, char *out)
{
    const struct nw_mpdata_options *o = &job->options;
    int length = snprintf(
        out, HEAD,
        "nodewise mpdata checkpoint 1\nsize %lld %lld %lld\nbytes %d\n"
        "variant %d %d %d %d %d %d\nborders",
        (long long)job->grid.n[0], (long long)job->grid.n[1],
        (long long)job->grid.n[2], o->single ? 4 : 8, o->passes, o->limited,
        o->infinite_gauge, o->third_order, o->divergent, o->fast);

    for (int side = 0; side < 6; side++)
        length += snprintf(out + length, (size_t)(HEAD - length), " %d",
                           (int)o->border[side / 2][side % 2]);
    snprintf(out + length, (size_t)(HEAD - length), "\ninputs %016llx\n",
             (unsigned long long)job->fingerprint);
}

const char *nw_mp_checkpoint_path(const struct nw_mp_settings *s)
{
    return s->checkpoint ? s->checkpoint : "nodewise-mpdata.checkpoint";
}

/* Returns true if the hash in the header matches the header. Headers of older
 * versions have no hash and are accepted. */
static bool is_head_whole(const char *head)
{
    const char *own = strstr(head, "\nhead ");
    unsigned long long hash;

    return !own ||
           (sscanf(own, "\nhead %llx\n", &hash) == 1 &&
            hash == nw_hash(NW_HASH_START, head, (size_t)(own + 1 - head)));
}

nw_status nw_mp_checkpoint_write(const struct nw_mp_job *job, const char *path)
{
    char head[HEAD] = {0};
    struct store s = {.path = path,
                      .file = -1,
                      .held = -1,
                      .magic = "nodewise mpdata",
                      .job = job,
                      .head = HEAD,
                      .single = job->options.single};
    uint64_t hash = nw_mp_hash(job, NW_MPDATA_X);

    store_describe(job, head);
    size_t length = strlen(head);
    length += (size_t)snprintf(head + length, HEAD - length,
                               "step %lld\nvalues %016llx\n",
                               (long long)job->step, (unsigned long long)hash);
    length += (size_t)snprintf(
        head + length, HEAD - length, "head %016llx\n",
        (unsigned long long)nw_hash(NW_HASH_START, head, length));
    memset(head + length, '\n', HEAD - length);
    return write_store(&s, head);
}

/* Returns an error unless the header of the checkpoint equals the one that this
 * run would write, except for the step and for the hashes of values and header,
 * which are moved to the beginning of `head`. */
static nw_status check_head(const struct nw_mp_job *job, const char *path,
                            char *head)
{
    char own[HEAD] = {0};
    char *mine = own, *theirs = head, *line, *other;

    store_describe(job, own);
    for (int number = 1; (line = strsep(&mine, "\n")) && *line; number++) {
        other = strsep(&theirs, "\n");
        if (!other || strcmp(line, other))
            return nw_fail(
                NW_EFORMAT,
                "%s:%d: the checkpoint has '%.60s', but this run '%s'", path,
                number, other ? other : "", line);
    }
    if (theirs)
        memmove(head, theirs, strlen(theirs) + 1);
    else /* the checkpoint's header ends with the compared lines */
        *head = '\0';
    return NW_OK;
}

static nw_status open_checkpoint(const struct nw_mp_job *job, struct store *s,
                                 char *head)
{
    struct stat about;
    const int64_t *n = job->grid.n;
    off_t bytes = HEAD + (off_t)(n[0] * n[1] * n[2]) * (s->single ? 4 : 8);

    s->file = open(s->path, O_RDONLY | O_CLOEXEC);
    if (s->file < 0 || fstat(s->file, &about))
        return program_store_trouble(s);
    if (!S_ISREG(about.st_mode))
        return nw_fail(NW_EFORMAT, "%s: not a checkpoint", s->path);
    ssize_t got = store_get(s, head, HEAD, 0);
    if (got < 0)
        return program_store_trouble(s);
    head[got] = '\0';
    if (strncmp(head, "nodewise mpdata checkpoint 1\n", 29) != 0)
        return nw_fail(NW_EFORMAT, "%s: not a checkpoint", s->path);
    bool whole = is_head_whole(head);
    nw_status status = check_head(job, s->path, head);
    if (!status && !whole)
        status = nw_fail(NW_EFORMAT, "%s:7: the head is damaged", s->path);
    if (!status && about.st_size != bytes)
        status = nw_fail(NW_EFORMAT, "%s: %lld bytes, expected %lld", s->path,
                         (long long)about.st_size, (long long)bytes);
    return status;
}

/* Reads this rank's part of x. The values are not checked, because rounding may
 * have left values that an input must not have. */
static nw_status store_read_rows(struct nw_mp_job *job, const struct store *s)
{
    const int64_t *n = job->grid.n, *own = job->grid.own;
    nw_mpdata *solver = job->solver;
    size_t row = (size_t)n[2] * solver->bytes;

    for (int64_t i = 0; i < own[0]; i++)
        for (int64_t j = 0; j < own[1]; j++) {
            int64_t at = (job->grid.first[0] + i) * n[1] + job->grid.first[1];
            char *to = (char *)solver->field[NW_MPDATA_X] +
                       nw_mpdata_at(solver, i, j) * (ptrdiff_t)solver->bytes;
            ssize_t got = store_get(s, to, row,
                                    HEAD + (uint64_t)row * (uint64_t)(at + j));
            if (got < 0)
                return program_store_trouble(s);
            if ((size_t)got != row)
                return nw_fail(NW_EFORMAT, "%s: ends too early", s->path);
        }
    return NW_OK;
}

nw_status nw_mp_checkpoint_read(struct nw_mp_job *job)
{
    char head[HEAD + 1];
    struct store s = {.path = job->settings->restart,
                      .file = -1,
                      .single = job->options.single};
    long long step = -1;
    unsigned long long hash = 0;
    nw_status status = open_checkpoint(job, &s, head);

    if (!status &&
        (sscanf(head, "step %lld\nvalues %llx\n", &step, &hash) != 2 ||
         step < 0))
        status = nw_fail(NW_EFORMAT, "%s:7: no step and values", s.path);
    if (!status && step > nw_mp_last(job))
        status = nw_fail(
            NW_EFORMAT,
            "%s: the checkpoint is of step %lld, but --steps ends at %lld",
            s.path, step, (long long)nw_mp_last(job));
    if (!status)
        status = store_read_rows(job, &s);
    if (s.file >= 0)
        close(s.file);
    status = nw_mp_agree(job->grid.comm, status);
    if (status)
        return status;
    job->step = step;
    nw_mpdata_fill(job->solver, NW_MPDATA_X);
    if (nw_mp_hash(job, NW_MPDATA_X) != hash)
        status = nw_fail(NW_EFORMAT, "%s: values are damaged", s.path);
    return nw_mp_agree(job->grid.comm, status);
}
