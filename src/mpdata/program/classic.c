/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that a file of NetCDF's classic formats (1, 2 and 5) is complete.
 * libnetcdf 4.9 reads zeros past the end of a file. It also trusts the lengths
 * in a damaged header, and then crashes or takes half a minute. The formats
 * follow "The NetCDF classic format specification": big-endian, with names and
 * attributes padded to four bytes. HDF5 checks its own files.
 */
#include "mpdata/program/job.h"
#include "base/status.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { NAME = 256, DIMENSIONS = 1024 };

struct header {
    FILE *file;
    /* size in bytes of a count and of an offset, which depends on the version
     * of the format */
    int count_bytes, offset_bytes;
    uint64_t dimension[DIMENSIONS], dimensions;
    /* number of records; bytes of a record with the parts of all record
     * variables */
    uint64_t records, record_bytes;
    uint64_t bytes; /* length of the file */
    bool bad;
};

struct variable {
    char name[NAME];
    /* offset after the variable's data, or after its part of the first
     * record */
    uint64_t end;
    uint64_t bytes;
    bool grows; /* whether it is a record variable, which has a part in each
                   record; `bytes` is then the size of one part */
};

static uint64_t classic_number(struct header *h, int bytes)
{
    uint64_t value = 0;

    while (bytes-- > 0) {
        int c = getc(h->file);
        if (c == EOF)
            h->bad = true;
        value = value << 8 | (uint64_t)(c & 255);
    }
    return h->bad ? 0 : value;
}

static uint64_t classic_count_of(struct header *h)
{
    return classic_number(h, h->count_bytes);
}

/* Skips `bytes` bytes and the padding to a multiple of four. */
static void classic_skip(struct header *h, uint64_t bytes)
{
    if (bytes > h->bytes ||
        fseeko(h->file, (off_t)((bytes + 3) & ~3ULL), SEEK_CUR))
        h->bad = true;
}

static uint64_t type_bytes(uint64_t type)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};

    return type < sizeof bytes ? bytes[type] : 0;
}

/* Reads a name and cuts it to NAME - 1 bytes; the names that we look for are
 * shorter. */
static void read_name(struct header *h, char name[NAME])
{
    uint64_t length = classic_count_of(h),
             kept = length < NAME ? length : NAME - 1;
    off_t start = ftello(h->file);

    name[fread(name, 1, kept, h->file)] = '\0';
    if (fseeko(h->file, start, SEEK_SET))
        h->bad = true;
    classic_skip(h, length);
}

static void skip_attributes(struct header *h)
{
    char name[NAME];

    classic_number(h, 4);
    for (uint64_t n = classic_count_of(h); n > 0 && !h->bad; n--) {
        read_name(h, name);
        uint64_t each = type_bytes(classic_number(h, 4)),
                 count = classic_count_of(h);
        classic_skip(h, count > h->bytes ? count : each * count);
    }
}

static void read_dimensions(struct header *h)
{
    char name[NAME];

    classic_number(h, 4);
    h->dimensions = classic_count_of(h);
    if (h->dimensions > DIMENSIONS)
        h->bad = true;
    for (uint64_t i = 0; i < h->dimensions && !h->bad; i++) {
        read_name(h, name);
        h->dimension[i] = classic_count_of(h);
    }
}

/* Returns the number of values of a variable, or of one record of a record
 * variable, which has one unlimited dimension. Returns at most the length of
 * the file plus 1. */
static uint64_t read_cells(struct header *h, bool *grows)
{
    uint64_t cells = 1, most = h->bytes + 1;

    *grows = false;

    for (uint64_t n = classic_count_of(h); n > 0 && !h->bad; n--) {
        uint64_t which = classic_count_of(h);
        if (which >= h->dimensions)
            h->bad = true;
        else if (!h->dimension[which])
            *grows = true;
        else if (__builtin_mul_overflow(cells, h->dimension[which], &cells))
            cells = most;
    }
    return cells < most ? cells : most;
}

static void read_variable(struct header *h, struct variable *v)
{
    read_name(h, v->name);
    uint64_t cells = read_cells(h, &v->grows);
    skip_attributes(h);
    uint64_t each = type_bytes(classic_number(h, 4));
    /* skip the stored size, which is invalid for large variables */
    classic_count_of(h);
    uint64_t begin = classic_number(h, h->offset_bytes);
    v->bytes = cells * each;
    v->end = begin + v->bytes;
    if (!each || begin > h->bytes)
        v->end = h->bytes + 1;
    if (v->grows)
        h->record_bytes += (v->bytes + 3) & ~3ULL;
}

static bool is_classic(struct header *h)
{
    char magic[4] = "";

    if (fread(magic, 1, 4, h->file) < 4 || memcmp(magic, "CDF", 3) != 0)
        return false;
    h->count_bytes = magic[3] == 5 ? 8 : 4;
    h->offset_bytes = magic[3] == 1 ? 4 : 8;
    return magic[3] == 1 || magic[3] == 2 || magic[3] == 5;
}

static nw_status classic_cut(const struct header *h, const char *path,
                             const struct variable *v)
{
    return nw_fail(NW_EFORMAT, "%s: ends at byte %llu, within variable '%s'",
                   path, (unsigned long long)h->bytes, v->name);
}

/* Returns true if records are missing at the end of the file; false if the
 * header does not tell the number of records. Records are consecutive; each has
 * a part of every record variable. `last` is the record variable whose part
 * ends last. If it is the only record variable (`one`), its parts are not
 * padded to four bytes. */
static bool is_short(const struct header *h, const struct variable *last,
                     bool one)
{
    uint64_t each = one ? last->bytes : h->record_bytes, rest;
    bool streams =
        h->records == (h->count_bytes == 4 ? UINT32_MAX : UINT64_MAX);

    if (!last->grows || !h->records || streams)
        return false;
    return last->end > h->bytes ||
           __builtin_mul_overflow(h->records - 1, each, &rest) ||
           rest > h->bytes - last->end;
}

static nw_status check_variables(struct header *h, const char *path)
{
    struct variable v, last = {.end = 0};
    int growing = 0;

    h->records = classic_count_of(h);
    read_dimensions(h);
    skip_attributes(h);
    classic_number(h, 4);
    for (uint64_t n = classic_count_of(h); n > 0 && !h->bad; n--) {
        read_variable(h, &v);
        growing += v.grows;
        if (v.grows && v.end >= last.end)
            last = v;
        if (!h->bad && !v.grows && v.end > h->bytes)
            return classic_cut(h, path, &v);
    }
    if (!h->bad && is_short(h, &last, growing == 1))
        return classic_cut(h, path, &last);
    return h->bad ? nw_fail(NW_EFORMAT,
                            "%s: ends at byte %llu, within its "
                            "header",
                            path, (unsigned long long)h->bytes)
                  : NW_OK;
}

nw_status nw_mp_classic_check(const char *path)
{
    struct header h = {.file = fopen(path, "re")};
    nw_status status = NW_OK;

    if (!h.file)
        return nw_fail(NW_EIO, "%s: %s", path, strerror(errno));
    if (is_classic(&h) && !fseeko(h.file, 0, SEEK_END)) {
        h.bytes = (uint64_t)ftello(h.file);
        if (fseeko(h.file, 4, SEEK_SET) == 0)
            status = check_variables(&h, path);
    }
    fclose(h.file);
    return status;
}
