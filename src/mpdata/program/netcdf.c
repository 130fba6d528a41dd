/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes NetCDF files through libnetcdf, which is loaded at first
 * use. Every rank reads its own part. Rank 0 writes the parts of all ranks to a
 * temporary file and renames it when it is complete. */
#include "mpdata/program/job.h"
#include "base/library.h"
#include "base/status.h"
#include "base/target.h"
#include "base/text.h"
#include "config.h"

#include <math.h>
#include <netcdf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const char *const field_name[NW_MPDATA_FIELD_COUNT] = {"x", "u1", "u2",
                                                              "u3", "h"};

enum { MISSING = 16 };

#define CALL(name) __typeof__(nc_##name) *name
static struct {
    CALL(open);
    CALL(create);
    CALL(close);
    CALL(strerror);
    CALL(inq_varid);
    CALL(inq_varndims);
    CALL(inq_vardimid);
    CALL(inq_dimlen);
    CALL(inq_vartype);
    CALL(inq_attlen);
    CALL(get_att_double);
    CALL(get_vara_double);
    CALL(put_vara_double);
    CALL(def_dim);
    CALL(def_var);
    CALL(put_att_text);
    CALL(enddef);
} nc;
#undef CALL

static nw_status netcdf_load(void)
{
#define SYMBOL(name)                                                           \
    {                                                                          \
        "nc_" #name, (void *)&nc.name                                          \
    }
    const struct nw_symbol symbols[] = {
        SYMBOL(open),
        SYMBOL(create),
        SYMBOL(close),
        SYMBOL(strerror),
        SYMBOL(inq_varid),
        SYMBOL(inq_varndims),
        SYMBOL(inq_vardimid),
        SYMBOL(inq_dimlen),
        SYMBOL(inq_vartype),
        SYMBOL(inq_attlen),
        SYMBOL(get_att_double),
        SYMBOL(get_vara_double),
        SYMBOL(put_vara_double),
        SYMBOL(def_dim),
        SYMBOL(def_var),
        SYMBOL(put_att_text),
        SYMBOL(enddef),
    };
#undef SYMBOL
    return nw_library_load(NW_NETCDF_LIBRARY, symbols,
                           sizeof symbols / sizeof *symbols,
                           "for NetCDF files");
}

static nw_status netcdf_opened(const char *path, int *file)
{
    nw_status status = netcdf_load();
    int code;

    if (status)
        return status;
    code = nc.open(path, NC_NOWRITE, file);
    return code ? nw_fail(code > 0 ? NW_EIO : NW_EFORMAT, "%s: %s", path,
                          nc.strerror(code))
                : NW_OK;
}

/* Finds a variable and stores its sizes; returns an error unless it has three
 * dimensions. */
static nw_status netcdf_find(const char *path, int file, const char *name,
                             size_t size[3])
{
    int variable, count = 0, dims[NC_MAX_VAR_DIMS];

    if (nc.inq_varid(file, name, &variable))
        return nw_fail(NW_EFORMAT, "%s: no variable '%s'", path, name);
    if (nc.inq_varndims(file, variable, &count) || count != 3)
        return nw_fail(NW_EFORMAT,
                       "%s: variable '%s' has %d dimension%s, not 3", path,
                       name, count, nw_plural((uint64_t)count));
    nc.inq_vardimid(file, variable, dims);
    for (int a = 0; a < 3; a++)
        if (nc.inq_dimlen(file, dims[a], &size[a]))
            return nw_fail(NW_EFORMAT, "%s: variable '%s' is damaged", path,
                           name);
    return NW_OK;
}

nw_status nw_mp_netcdf_size(const char *path, int64_t size[3])
{
    size_t found[3];
    int file;
    nw_status status = nw_mp_classic_check(path);

    if (!status)
        status = netcdf_opened(path, &file);
    if (status)
        return status;
    status = netcdf_find(path, file, "x", found);
    nc.close(file);
    for (int a = 0; a < 3 && !status; a++) {
        size[a] = (int64_t)found[a];
        if (!found[a] || found[a] > 1 << 28)
            status = nw_fail(
                NW_EFORMAT, "%s: variable 'x' has %zu cell%s along axis %d",
                path, found[a], nw_plural((uint64_t)found[a]), a + 1);
    }
    return status;
}

static nw_status netcdf_check_size(const char *path, const char *name,
                                   const size_t found[3], const int64_t size[3])
{
    for (int a = 0; a < 3; a++)
        if ((int64_t)found[a] != size[a])
            return nw_fail(NW_EFORMAT,
                           "%s: variable '%s' is %zu x %zu x %zu, expected "
                           "%lld x %lld x %lld",
                           path, name, found[0], found[1], found[2],
                           (long long)size[0], (long long)size[1],
                           (long long)size[2]);
    return NW_OK;
}

/* A variable to read, and how its numbers are to be interpreted by the
 * conventions of NetCDF's users' guide and of CF. */
struct netcdf_reading {
    const char *path, *name;
    int file, variable;
    nc_type type;
    double scale, offset;
    double none[MISSING]; /* values that mark a missing value */
    size_t none_count;
};

/* Reads at most `most` numbers of an attribute; *count is 0 if the attribute is
 * missing. */
static nw_status netcdf_numbers(const struct netcdf_reading *r,
                                const char *attribute, size_t most, double *out,
                                size_t *count)
{
    size_t length = 0;
    int code = nc.inq_attlen(r->file, r->variable, attribute, &length);

    if (!code && length > most)
        return nw_fail(
            NW_EFORMAT,
            "%s: variable '%s': %s has %zu value%s, at most %zu are known",
            r->path, r->name, attribute, length, nw_plural((uint64_t)length),
            most);
    if (!code && length)
        code = nc.get_att_double(r->file, r->variable, attribute, out);
    if (code && code != NC_ENOTATT)
        return nw_fail(NW_EFORMAT, "%s: variable '%s': %s: %s", r->path,
                       r->name, attribute, nc.strerror(code));
    *count = code ? 0 : length;
    return NW_OK;
}

/* Adds the library's default fill value for the variable's type to the values
 * that mark a missing value, because cells that were never written contain it.
 * Types of one byte have no such value. A 64-bit integer and its fill value are
 * compared as doubles. */
static void add_default(struct netcdf_reading *r)
{
    static const double fill[] = {
        [NC_SHORT] = NC_FILL_SHORT,
        [NC_INT] = NC_FILL_INT,
        [NC_FLOAT] = NC_FILL_FLOAT,
        [NC_DOUBLE] = NC_FILL_DOUBLE,
        [NC_USHORT] = NC_FILL_USHORT,
        [NC_UINT] = NC_FILL_UINT,
        [NC_INT64] = (double)NC_FILL_INT64,
        [NC_UINT64] = (double)NC_FILL_UINT64,
    };

    if (r->type >= 0 && (size_t)r->type < sizeof fill / sizeof *fill &&
        fill[r->type] != 0)
        r->none[r->none_count++] = fill[r->type];
}

/* Reads the attributes that say how numbers are packed and which ones are
 * missing. */
static nw_status find_meaning(struct netcdf_reading *r)
{
    size_t told = 0, more = 0, count = 0;
    nw_status status = netcdf_numbers(r, "_FillValue", 1, r->none, &told);

    r->scale = 1;
    r->offset = 0;
    r->none_count = told;
    if (nc.inq_vartype(r->file, r->variable, &r->type))
        r->type = NC_NAT;
    if (!status && !told)
        add_default(r);
    if (!status)
        status = netcdf_numbers(r, "missing_value", MISSING - 1,
                                r->none + r->none_count, &more);
    r->none_count += more;
    if (!status)
        status = netcdf_numbers(r, "scale_factor", 1, &r->scale, &count);
    if (!status)
        status = netcdf_numbers(r, "add_offset", 1, &r->offset, &count);
    if (!status && !nc.inq_attlen(r->file, r->variable, "_Unsigned", &count))
        status = nw_fail(NW_EFORMAT,
                         "%s: variable '%s': _Unsigned numbers are not read",
                         r->path, r->name);
    return status;
}

/* Returns true if `value` marks a missing value. Compares in the variable's
 * precision, because an attribute may have more digits. */
static bool is_none(const struct netcdf_reading *r, double value)
{
    for (size_t i = 0; i < r->none_count; i++) {
        double none = r->none[i];

        if (value == none || (isnan(value) && isnan(none)) ||
            (r->type == NC_FLOAT && (float)value == (float)none))
            return true;
    }
    return false;
}

static nw_status netcdf_unpack(const struct netcdf_reading *r,
                               const size_t from[3], const size_t count[3],
                               double *values)
{
    size_t all = count[0] * count[1] * count[2];

    for (size_t at = 0; at < all; at++) {
        if (is_none(r, values[at]))
            return nw_fail(NW_EFORMAT,
                           "%s: %s at (%zu, %zu, %zu) is missing: %g stands "
                           "for no value",
                           r->path, r->name,
                           from[0] + at / (count[1] * count[2]),
                           from[1] + at / count[2] % count[1],
                           from[2] + at % count[2], values[at]);
        if (r->scale != 1 || r->offset != 0)
            values[at] = values[at] * r->scale + r->offset;
    }
    return NW_OK;
}

static nw_status netcdf_read_values(struct netcdf_reading *r,
                                    const size_t from[3], const size_t count[3],
                                    double *values)
{
    int code = nc.inq_varid(r->file, r->name, &r->variable);
    nw_status status = code ? NW_OK : find_meaning(r);

    if (!code && !status)
        code = nc.get_vara_double(r->file, r->variable, from, count, values);
    if (code)
        return nw_fail(NW_EFORMAT, "%s: variable '%s': %s", r->path, r->name,
                       nc.strerror(code));
    return status ? status : netcdf_unpack(r, from, count, values);
}

nw_status nw_mp_netcdf_read(const char *path, enum nw_mpdata_field field,
                            const int64_t size[3], const int64_t first[3],
                            const int64_t extent[3], double *values)
{
    struct netcdf_reading r = {.path = path, .name = field_name[field]};
    size_t found[3], from[3], count[3];
    nw_status status = netcdf_opened(path, &r.file);

    if (status)
        return status;
    status = netcdf_find(path, r.file, r.name, found);
    if (!status)
        status = netcdf_check_size(path, r.name, found, size);
    for (int a = 0; a < 3; a++) {
        from[a] = (size_t)first[a];
        count[a] = (size_t)extent[a];
    }
    if (!status)
        status = netcdf_read_values(&r, from, count, values);
    nc.close(r.file);
    return status;
}

/* --- writing --- */

struct writer {
    const char *path;
    char target[PATH_MAX], temporary[PATH_MAX + 32];
    int file, held, code; /* held: descriptor that has the lock; code: the
                             first error of NetCDF */
    int variable[NW_MPDATA_FIELD_COUNT], axis[3], time;
    enum nw_mpdata_field now;
};

static void netcdf_keep(struct writer *w, int code)
{
    if (!w->code)
        w->code = code;
}

static void netcdf_attribute(struct writer *w, int variable, const char *name,
                             const char *text)
{
    netcdf_keep(w,
                nc.put_att_text(w->file, variable, name, strlen(text), text));
}

/* Defines the dimensions and the coordinates of the axes. A coordinate is the
 * centre of a cell, in cells. */
static void define_axes(struct writer *w, const struct nw_mp_job *job,
                        int dims[2][3])
{
    static const char *const name[3] = {"i", "j", "k"};
    static const char *const face[3] = {"i_face", "j_face", "k_face"};
    static const char *const axis[3] = {"X", "Y", "Z"};
    static const char *const standard[3] = {
        "projection_x_coordinate", "projection_y_coordinate", "height"};

    for (int a = 0; a < 3; a++) {
        size_t n = (size_t)job->grid.n[a];
        netcdf_keep(w, nc.def_dim(w->file, name[a], n, &dims[0][a]));
        if (job->settings->fields)
            netcdf_keep(w, nc.def_dim(w->file, face[a], n + 1, &dims[1][a]));
        netcdf_keep(w, nc.def_var(w->file, name[a], NC_DOUBLE, 1, &dims[0][a],
                                  &w->axis[a]));
        netcdf_attribute(w, w->axis[a], "standard_name", standard[a]);
        netcdf_attribute(w, w->axis[a], "long_name",
                         "middle of the cell, in cells");
        netcdf_attribute(w, w->axis[a], "units", "m");
        netcdf_attribute(w, w->axis[a], "axis", axis[a]);
    }
    netcdf_attribute(w, w->axis[2], "positive", "up");
    netcdf_keep(w,
                nc.def_var(w->file, "elapsed", NC_DOUBLE, 0, NULL, &w->time));
    netcdf_attribute(w, w->time, "standard_name", "forecast_period");
    netcdf_attribute(w, w->time, "long_name", "steps since the initial state");
    netcdf_attribute(w, w->time, "units", "s");
}

static void netcdf_define(struct writer *w, const struct nw_mp_job *job)
{
    static const char *const words[NW_MPDATA_FIELD_COUNT] = {
        "advected quantity", "courant number times h, first axis",
        "courant number times h, second axis",
        "courant number times h, third axis", "density times jacobian"};
    int dims[2][3] = {{0}};
    int last = job->settings->fields ? NW_MPDATA_FIELD_COUNT : 1;
    nc_type type = job->options.single ? NC_FLOAT : NC_DOUBLE;

    define_axes(w, job, dims);
    for (int f = 0; f < last; f++) {
        int own[3];
        for (int a = 0; a < 3; a++)
            own[a] = dims[f == NW_MPDATA_U1 + a][a];
        netcdf_keep(w, nc.def_var(w->file, field_name[f], type, 3, own,
                                  &w->variable[f]));
        netcdf_attribute(w, w->variable[f], "long_name", words[f]);
        netcdf_attribute(w, w->variable[f], "units", "1");
        netcdf_attribute(w, w->variable[f], "coordinates", "elapsed");
        if (f == NW_MPDATA_X)
            netcdf_attribute(w, w->variable[f], "cell_methods",
                             "i: j: k: mean");
    }
    netcdf_attribute(w, NC_GLOBAL, "Conventions", "CF-1.8");
    netcdf_attribute(w, NC_GLOBAL, "title", "advection by MPDATA");
    netcdf_attribute(w, NC_GLOBAL, "source", "nodewise-mpdata");
    netcdf_keep(w, nc.enddef(w->file));
}

static void put_axes(struct writer *w, const struct nw_mp_job *job)
{
    const size_t one = 1;
    double step = (double)job->step;

    for (int a = 0; a < 3; a++)
        for (size_t i = 0; i < (size_t)job->grid.n[a]; i++) {
            double middle = (double)i + 0.5;
            netcdf_keep(
                w, nc.put_vara_double(w->file, w->axis[a], &i, &one, &middle));
        }
    netcdf_keep(w, nc.put_vara_double(w->file, w->time, NULL, NULL, &step));
}

static nw_status netcdf_fault(const struct writer *w)
{
    return w->code ? nw_fail(NW_EIO, "%s: %s", w->path, nc.strerror(w->code))
                   : NW_OK;
}

static nw_status netcdf_put_part(void *context, const int64_t first[3],
                                 const int64_t extent[3], const double *values)
{
    struct writer *w = context;
    size_t from[3], count[3];

    for (int a = 0; a < 3; a++) {
        from[a] = (size_t)first[a];
        count[a] = (size_t)extent[a];
    }
    if (count[0] && count[1])
        netcdf_keep(w, nc.put_vara_double(w->file, w->variable[w->now], from,
                                          count, values));
    return netcdf_fault(w);
}

static nw_status netcdf_begin(struct writer *w, const struct nw_mp_job *job)
{
    nw_status status = netcdf_load();

    if (!status)
        status = nw_target_find(w->path, w->target);
    if (status)
        return status;
    snprintf(w->temporary, sizeof w->temporary, "%s.%ld.new", w->target,
             (long)getpid());
    nw_mp_sweep_beside(w->target, "CDF\5");
    w->held = nw_mp_create_beside(w->temporary);
    if (w->held < 0) {
        w->temporary[0] = '\0'; /* the file belongs to another process */
        return nw_fail(NW_EIO, "%s: %m", w->path);
    }
    w->code = nc.create(w->temporary, NC_64BIT_DATA, &w->file);
    if (!w->code) {
        netcdf_define(w, job);
        put_axes(w, job);
    }
    return netcdf_fault(w);
}

static nw_status netcdf_finish(struct writer *w, nw_status status)
{
    if (!w->temporary[0])
        return status;
    netcdf_keep(w, w->file >= 0 ? nc.close(w->file) : 0);
    if (!status)
        status = netcdf_fault(w);
    if (!status && !nw_mp_name_beside(w->held, w->temporary, w->target))
        status = nw_fail(NW_EIO, "%s: %m", w->path);
    if (status)
        unlink(w->temporary);
    if (w->held >= 0)
        (void)close(w->held);
    return status;
}

nw_status nw_mp_netcdf_write(const struct nw_mp_job *job)
{
    struct writer w = {.path = job->settings->output, .file = -1, .held = -1};
    int last = job->settings->fields ? NW_MPDATA_FIELD_COUNT : 1;
    nw_status status = nw_mp_agree(
        job->grid.comm, job->grid.rank ? NW_OK : netcdf_begin(&w, job));

    for (int f = 0; f < last && !status; f++) {
        w.now = (enum nw_mpdata_field)f;
        status = nw_mp_agree(job->grid.comm,
                             nw_mp_gather(job, w.now, netcdf_put_part, &w));
    }
    if (status) {
        if (!job->grid.rank)
            netcdf_finish(&w, status);
        return status;
    }
    return nw_mp_agree(job->grid.comm,
                       job->grid.rank ? NW_OK : netcdf_finish(&w, NW_OK));
}
