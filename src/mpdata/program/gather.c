/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines the data of all ranks: gathers the parts of a field on rank 0, and
 * computes sums and hashes. The hashes are the same for every division of the
 * grid, the sums nearly always. */
#include "mpdata/program/job.h"
#include "base/array.h"
#include "base/hash.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TAG_BOX = 71, TAG_VALUES };

static size_t mpdata_gather_cells(const int64_t extent[3])
{
    return (size_t)extent[0] * (size_t)extent[1] * (size_t)extent[2];
}

/* Returns the number of planes of a part that fit into a message of 64 MiB, but
 * at least one if the part has any. */
static int64_t planes_at_once(const int64_t extent[3])
{
    int64_t plane = extent[1] * extent[2];
    int64_t planes = plane ? (8 << 20) / plane : 1;

    return planes < 1 ? 1 : planes > extent[0] ? extent[0] : planes;
}

/* Computes which cells or faces of a field's array this rank writes. Of faces,
 * these are the upper faces of its cells, and at the low side of the grid also
 * the lower ones. */
static void mpdata_gather_part(const struct nw_mp_job *job,
                               enum nw_mpdata_field field, int64_t first[3],
                               int64_t extent[3])
{
    nw_mpdata_extent(job->solver, field, extent);
    memcpy(first, job->grid.first, 3 * sizeof *first);
    for (int a = 0; a < 2; a++)
        if ((int)field == NW_MPDATA_U1 + a && job->grid.part[a] > 0) {
            first[a]++;
            extent[a]--;
        }
}

/* Copies the part that mpdata_gather_part describes out of the solver. */
static void mpdata_gather_take(const struct nw_mp_job *job,
                               enum nw_mpdata_field field, double *out)
{
    const nw_mpdata *s = job->solver;
    int64_t first[3], extent[3], low[3] = {0};

    mpdata_gather_part(job, field, first, extent);
    for (int a = 0; a < 3; a++) // the solver stores a face with the cell below
        low[a] =
            first[a] - job->grid.first[a] - ((int)field == NW_MPDATA_U1 + a);
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++)
            for (int64_t k = 0; k < extent[2]; k++)
                *out++ = nw_mpdata_value(
                    s, s->field[field],
                    nw_mpdata_at(s, low[0] + i, low[1] + j) + low[2] + k);
}

/* Makes the type of a row of values. A plane may have more values than an int
 * can count, but not more rows. */
static MPI_Datatype mpdata_gather_row(const int64_t extent[3])
{
    MPI_Datatype row;

    MPI_Type_contiguous((int)extent[2], MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    return row;
}

static void send_part(const struct nw_mp_job *job, const int64_t box[6],
                      const double *values)
{
    int64_t step = planes_at_once(&box[3]), plane = box[4] * box[5];
    MPI_Datatype row = mpdata_gather_row(&box[3]);

    MPI_Send(box, 6, MPI_INT64_T, 0, TAG_BOX, job->grid.comm);
    for (int64_t i = 0; i < box[3]; i += step) {
        int64_t count = box[3] - i < step ? box[3] - i : step;
        MPI_Send(values + i * plane, (int)(count * box[4]), row, 0, TAG_VALUES,
                 job->grid.comm);
    }
    MPI_Type_free(&row);
}

/* Receives the part of a rank and passes it to `sink` in pieces. Receives
 * everything even if `status` is a failure, so that no sender blocks. Aborts
 * the job if memory is exhausted. */
static nw_status take_part(const struct nw_mp_job *job, int rank,
                           nw_mp_sink *sink, void *context, nw_status status)
{
    int64_t box[6];
    double *values = NULL;

    MPI_Recv(box, 6, MPI_INT64_T, rank, TAG_BOX, job->grid.comm,
             MPI_STATUS_IGNORE);
    int64_t step = planes_at_once(&box[3]), plane = box[4] * box[5];
    MPI_Datatype row = mpdata_gather_row(&box[3]);
    nw_status room = nw_alloc((size_t)(step * plane), sizeof *values, &values);
    if (room)
        MPI_Abort(job->grid.comm, 1);
    for (int64_t i = 0; i < box[3]; i += step) {
        int64_t count = box[3] - i < step ? box[3] - i : step;
        int64_t first[3] = {box[0] + i, box[1], box[2]};
        int64_t extent[3] = {count, box[4], box[5]};
        MPI_Recv(values, (int)(count * box[4]), row, rank, TAG_VALUES,
                 job->grid.comm, MPI_STATUS_IGNORE);
        if (!status)
            status = sink(context, first, extent, values);
    }
    MPI_Type_free(&row);
    free(values);
    return status;
}

nw_status nw_mp_gather(const struct nw_mp_job *job, enum nw_mpdata_field field,
                       nw_mp_sink *sink, void *context)
{
    int64_t box[6];
    double *values = NULL;
    nw_status status;

    mpdata_gather_part(job, field, box, box + 3);
    status = nw_alloc(mpdata_gather_cells(box + 3), sizeof *values, &values);
    if (status)
        MPI_Abort(job->grid.comm, 1);
    mpdata_gather_take(job, field, values);
    if (job->grid.rank)
        send_part(job, box, values);
    else
        status = sink(context, box, box + 3, values);
    free(values);
    for (int rank = 1; !job->grid.rank && rank < job->grid.size; rank++)
        status = take_part(job, rank, sink, context, status);
    return status;
}

/* Adds a term to sum[0] and its rounding error to sum[1], so that the sum has
 * twice the digits of a double (Knuth's two-sum). */
static void mpdata_gather_add(double sum[2], double term)
{
    double next = sum[0] + term, back = next - sum[0];

    sum[1] += (sum[0] - (next - back)) + (term - back);
    sum[0] = next;
}

struct nw_mpdata_summary nw_mp_sum(const struct nw_mp_job *job)
{
    const nw_mpdata *s = job->solver;
    const void *x = s->field[NW_MPDATA_X], *h = s->field[NW_MPDATA_H];
    struct nw_mpdata_summary out = {0, INFINITY, -INFINITY};
    double sum[2] = {0}, all[2] = {0}, *each = NULL;
    int nan = 0; // 1: some value is not a number; fmin and fmax ignore it

    for (ptrdiff_t i = 0; i < s->n[0]; i++)
        for (ptrdiff_t j = 0; j < s->n[1]; j++)
            for (ptrdiff_t k = 0; k < s->n[2]; k++) {
                ptrdiff_t at = nw_mpdata_at(s, i, j) + k;
                double value = nw_mpdata_value(s, x, at);
                mpdata_gather_add(sum, value * nw_mpdata_value(s, h, at));
                if (isnan(value))
                    nan = 1;
                out.low = fmin(out.low, value);
                out.high = fmax(out.high, value);
            }
    if (nw_alloc(2 * (size_t)job->grid.size, sizeof *each, &each))
        MPI_Abort(job->grid.comm, 1);
    MPI_Allgather(sum, 2, MPI_DOUBLE, each, 2, MPI_DOUBLE, job->grid.comm);
    for (int i = 0; i < 2 * job->grid.size; i++)
        mpdata_gather_add(all, each[i]);
    free(each);
    out.mass = all[0] + all[1];
    MPI_Allreduce(MPI_IN_PLACE, &out.low, 1, MPI_DOUBLE, MPI_MIN,
                  job->grid.comm);
    MPI_Allreduce(MPI_IN_PLACE, &out.high, 1, MPI_DOUBLE, MPI_MAX,
                  job->grid.comm);
    MPI_Allreduce(MPI_IN_PLACE, &nan, 1, MPI_INT, MPI_MAX, job->grid.comm);
    if (nan)
        out.low = out.high = NAN;
    return out;
}

uint64_t nw_mp_hash(const struct nw_mp_job *job, enum nw_mpdata_field field)
{
    int64_t first[3], extent[3], n[3];
    uint64_t sum = 0, bits;
    double *values = NULL, *next;

    mpdata_gather_part(job, field, first, extent);
    for (int a = 0; a < 3; a++)
        n[a] = job->grid.n[a] + ((int)field == NW_MPDATA_U1 + a);
    if (nw_alloc(mpdata_gather_cells(extent), sizeof *values, &values))
        MPI_Abort(job->grid.comm, 1);
    mpdata_gather_take(job, field, values);
    next = values;
    for (int64_t i = 0; i < extent[0]; i++)
        for (int64_t j = 0; j < extent[1]; j++)
            for (int64_t k = 0; k < extent[2]; k++) {
                uint64_t at =
                    (uint64_t)(((first[0] + i) * n[1] + first[1] + j) * n[2] +
                               first[2] + k);
                memcpy(&bits, next++, sizeof bits);
                sum += nw_hash_word(nw_hash_word(0, at + 1), bits);
            }
    free(values);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_UINT64_T, MPI_SUM, job->grid.comm);
    return sum;
}
