/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the size of the grid, loads the five fields into the solver, each rank
 * its own part, and fills the ghosts of velocities and h, which never change.
 * Neighbours exchange whole slabs of ghosts: first rows, then planes including
 * the ghosts of their rows, so that corners and the faces of open sides arrive,
 * too. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

static int64_t common_divisor(int64_t a, int64_t b)
{
    return b ? common_divisor(b, a % b) : a;
}

/* Finds the case and sets the size of the grid. A case that allows any size has
 * periodic fields; their period is the greatest common divisor of the first two
 * sizes. */
static nw_status size_case(struct nw_mp_job *job)
{
    const struct nw_mp_settings *s = job->settings;
    struct nw_mpdata_case *c = &job->made;

    if (!nw_mpdata_case_find(s->name, c))
        return nw_fail(NW_EINVAL, "unknown case '%s'; --help lists the cases",
                       s->name);
    if (c->size[0] && s->size[0] &&
        memcmp(c->size, s->size, sizeof c->size) != 0)
        return nw_fail(NW_EINVAL, "the case %s has %lld x %lld x %lld cells",
                       s->name, (long long)c->size[0], (long long)c->size[1],
                       (long long)c->size[2]);
    for (int a = 0; a < 3; a++)
        job->grid.n[a] = c->size[a] ? c->size[a] : s->size[a] ? s->size[a] : 64;
    if (!c->size[0])
        c->scale = (double)common_divisor(job->grid.n[0], job->grid.n[1]);
    if (s->courant > 0 && !(c->courant > 0))
        return nw_fail(NW_EINVAL, "the case %s has velocities of its own",
                       s->name);
    if (s->courant > 0)
        c->courant = s->courant;
    return NW_OK;
}

nw_status nw_mp_size(struct nw_mp_job *job)
{
    const struct nw_mp_settings *s = job->settings;
    nw_status status =
        s->name ? size_case(job) : nw_mp_netcdf_size(s->input, job->grid.n);

    job->options = s->options;
    if (s->name && !s->bordered)
        for (int a = 0; a < 6; a++)
            job->options.border[a / 2][a % 2] = job->made.border;
    return nw_mp_agree(MPI_COMM_WORLD, status);
}

int64_t nw_mp_last(const struct nw_mp_job *job)
{
    const struct nw_mp_settings *s = job->settings;

    return s->steps >= 0 ? s->steps : s->name ? job->made.steps : 1;
}

/* A box of cells or faces. */
struct part {
    int64_t first[3], extent[3];
};

static size_t part_cells(const struct part *p)
{
    return (size_t)(p->extent[0] * p->extent[1] * p->extent[2]);
}

static void load_make(const struct nw_mp_job *job, enum nw_mpdata_field field,
                      const struct part *p, double *values)
{
    const int64_t *n = job->grid.n;

    for (int64_t i = 0; i < p->extent[0]; i++)
        for (int64_t j = 0; j < p->extent[1]; j++)
            for (int64_t k = 0; k < p->extent[2]; k++) {
                int64_t at[3] = {p->first[0] + i, p->first[1] + j,
                                 p->first[2] + k};
                for (int a = 0; a < 3; a++)
                    if (job->settings->options.border[a][0] ==
                        NW_MPDATA_PERIODIC)
                        at[a] %= n[a];
                *values++ = job->made.value(&job->made, field, at);
            }
}

static nw_status load_read_part(const struct nw_mp_job *job,
                                enum nw_mpdata_field field,
                                const struct part *p, double *values)
{
    int64_t size[3];

    for (int a = 0; a < 3; a++)
        size[a] = job->grid.n[a] + ((int)field == NW_MPDATA_U1 + a);
    if (job->settings->input)
        return nw_mp_netcdf_read(job->settings->input, field, size, p->first,
                                 p->extent, values);
    load_make(job, field, p, values);
    return NW_OK;
}

/* Returns true if the values are equal as numbers, since a zero may have either
 * sign. */
static bool load_same(const double *a, const double *b, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        if (!(a[i] == b[i]))
            return false;
    return true;
}

/* Returns an error if the first and the last face of a periodic axis that is
 * divided between ranks have different velocities: both are the same face. */
static nw_status check_wrap(const struct nw_mp_job *job, int axis,
                            const struct part *whole, const double *values)
{
    const struct nw_mp_grid *g = &job->grid;
    enum nw_mpdata_field field = (enum nw_mpdata_field)(NW_MPDATA_U1 + axis);
    struct part slab = *whole;
    double *first = NULL;
    nw_status status;

    if (axis == 2 || g->parts[axis] < 2 ||
        job->settings->options.border[axis][0] != NW_MPDATA_PERIODIC ||
        g->part[axis] + 1 < g->parts[axis])
        return NW_OK;
    slab.first[axis] = 0;
    slab.extent[axis] = 1;
    status = nw_alloc(part_cells(&slab), sizeof *first, &first);
    if (!status)
        status = load_read_part(job, field, &slab, first);
    int64_t width = whole->extent[2], m = whole->extent[1];
    for (int64_t i = 0; i < slab.extent[0] && !status; i++)
        for (int64_t j = 0; j < slab.extent[1] && !status; j++) {
            int64_t at = axis ? i * m + m - 1 : (whole->extent[0] - 1) * m + j;
            if (!load_same(values + at * width,
                           first + (i * slab.extent[1] + j) * width, width))
                status = nw_fail(NW_EFORMAT,
                                 "u%d of the last face of a periodic axis is "
                                 "not that of the first at (%lld, %lld)",
                                 axis + 1, (long long)(slab.first[0] + i),
                                 (long long)(slab.first[1] + j));
        }
    free(first);
    return status;
}

static nw_status load_field(struct nw_mp_job *job, enum nw_mpdata_field field)
{
    const char *input = job->settings->input;
    struct part p;
    double *values = NULL;
    nw_status status, read;

    memcpy(p.first, job->grid.first, sizeof p.first);
    nw_mpdata_extent(job->solver, field, p.extent);
    status = nw_alloc(part_cells(&p), sizeof *values, &values);
    if (!status)
        status = load_read_part(job, field, &p, values);
    read = status;
    if (!status)
        status = nw_mpdata_put(job->solver, field, values);
    if (!status && field >= NW_MPDATA_U1 && field <= NW_MPDATA_U3)
        status = check_wrap(job, (int)field - NW_MPDATA_U1, &p, values);
    free(values);
    if (!read && status == NW_EFORMAT && input) /* names no file yet */
        return nw_fail(status, "%s: %s", input, nw_error_text());
    return status;
}

/* Sends slabs of cells, as deep as the ghosts, to both neighbours along an axis
 * and receives theirs. Message lengths are counted in rows, because a plane may
 * have more bytes than an int can hold. */
static void hand_over(const struct nw_mp_job *job, int axis, char *field)
{
    const nw_mpdata *s = job->solver;
    ptrdiff_t unit = (axis ? s->pitch : s->plane) * (ptrdiff_t)s->bytes;
    ptrdiff_t n = s->n[axis], g = s->ghost;
    MPI_Datatype row, slab;

    MPI_Type_contiguous((int)s->pitch,
                        s->options.single ? MPI_FLOAT : MPI_DOUBLE, &row);
    MPI_Type_create_hvector((int)(axis ? s->n[0] + 2 * g : g),
                            (int)(axis ? g : s->plane / s->pitch),
                            s->plane * (ptrdiff_t)s->bytes, row, &slab);
    MPI_Type_free(&row);
    MPI_Type_commit(&slab);
    MPI_Sendrecv(field + g * unit, 1, slab, job->grid.low_rank[axis], 81,
                 field + (g + n) * unit, 1, slab, job->grid.high_rank[axis], 81,
                 job->grid.comm, MPI_STATUS_IGNORE);
    MPI_Sendrecv(field + n * unit, 1, slab, job->grid.high_rank[axis], 82,
                 field, 1, slab, job->grid.low_rank[axis], 82, job->grid.comm,
                 MPI_STATUS_IGNORE);
    MPI_Type_free(&slab);
}

static void share_ghosts(const struct nw_mp_job *job)
{
    for (int f = NW_MPDATA_U1; f < NW_MPDATA_FIELD_COUNT; f++) {
        if (job->grid.parts[1] > 1)
            hand_over(job, 1, job->solver->field[f]);
        nw_mpdata_fill(job->solver, (enum nw_mpdata_field)f);
        if (job->grid.parts[0] > 1)
            hand_over(job, 0, job->solver->field[f]);
    }
}

/* Returns an error if the flow is unstable; the rank with the highest Courant
 * number reports the position. */
static nw_status check_stable(const struct nw_mp_job *job)
{
    struct {
        double value;
        int rank;
    } most = {0, job->grid.rank};
    nw_status status = nw_mpdata_check(job->solver, &most.value);

    MPI_Allreduce(MPI_IN_PLACE, &most, 1, MPI_DOUBLE_INT, MPI_MAXLOC,
                  job->grid.comm);
    return nw_mp_agree(job->grid.comm,
                       most.rank == job->grid.rank ? status : NW_OK);
}

nw_status nw_mp_load(struct nw_mp_job *job)
{
    struct nw_mpdata_options own = job->options;
    const struct nw_mp_grid *g = &job->grid;
    nw_status status;

    for (int a = 0; a < 2; a++) {
        if (g->parts[a] > 1 && g->low_rank[a] != MPI_PROC_NULL)
            own.border[a][0] = NW_MPDATA_NEIGHBOUR;
        if (g->parts[a] > 1 && g->high_rank[a] != MPI_PROC_NULL)
            own.border[a][1] = NW_MPDATA_NEIGHBOUR;
    }
    status = nw_mpdata_new(g->own, &own, &job->solver);
    for (int f = 0; f < NW_MPDATA_FIELD_COUNT && !status; f++) {
        memcpy(job->solver->origin, g->first, sizeof g->first);
        status = load_field(job, (enum nw_mpdata_field)f);
    }
    status = nw_mp_agree(g->comm, status);
    if (status)
        return status;
    share_ghosts(job);
    return check_stable(job);
}
