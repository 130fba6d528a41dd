/* SPDX-License-Identifier: BSD-3-Clause */
/* The answer beside a serial run's, to the last bit, and the file. */
#include "heat.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

double start_at(int64_t x, int64_t y, int64_t z)
{
    return (double)((x * 73 + y * 151 + z * 283) % 101) / 7;
}

/* The same on one rank: a periodic box whose ghost cells are set by hand. */
static void wrap(double *u, int64_t n)
{
    int64_t m = n + 2;

    for (int64_t z = 0; z < m; z++)
        for (int64_t y = 0; y < m; y++)
            for (int64_t x = 0; x < m; x++)
                u[(z * m + y) * m + x] =
                    u[(((z + n - 1) % n + 1) * m + (y + n - 1) % n + 1) * m +
                      (x + n - 1) % n + 1];
}

static double *run_serially(const struct run *run)
{
    int64_t n = run->n, m = n + 2;
    struct nw_halo_box box = {{1, 1, 1}, {n + 1, n + 1, n + 1}};
    double *u[2];

    for (int i = 0; i < 2; i++) {
        u[i] = calloc((size_t)(m * m * m), sizeof(double));
        if (!u[i])
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int64_t z = 0; z < n; z++)
        for (int64_t y = 0; y < n; y++)
            for (int64_t x = 0; x < n; x++)
                u[0][((z + 1) * m + y + 1) * m + x + 1] = start_at(x, y, z);
    for (int s = 0; s < run->steps; s++) {
        wrap(u[s & 1], n);
        step(run, &box, (struct field){u[~s & 1], m, m * m},
             (struct field){u[s & 1], m, m * m});
    }
    free(u[~run->steps & 1]);
    return u[run->steps & 1];
}

long compare(const struct run *run, const struct nw_halo_piece *piece,
             struct field field)
{
    double *serial = run_serially(run);
    int64_t m = run->n + 2;
    long wrong = 0, sum;

    FOR_OWN(piece, x, y, z)
    wrong +=
        memcmp(cell(field, piece, x, y, z),
               &serial[((z + 1) * m + y + 1) * m + x + 1], sizeof(double)) != 0;
    free(serial);
    MPI_Allreduce(&wrong, &sum, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

/* VTK's binary values have their first byte first. */
static double reversed(double value)
{
    unsigned char bytes[8], other[8];

    memcpy(bytes, &value, 8);
    for (int i = 0; i < 8; i++)
        other[i] = bytes[7 - i];
    memcpy(&value, other, 8);
    return value;
}

/* Each rank adds its cells to a field of zeros; rank 0 writes the sum. */
int write_vtk(const struct run *run, const struct nw_halo_piece *piece,
              struct field field)
{
    int64_t n = run->n;
    int cells = (int)(n * n * n), bad = 0;
    double *whole = calloc((size_t)cells, sizeof(double));
    FILE *file;

    if (!whole)
        MPI_Abort(MPI_COMM_WORLD, 1);
    FOR_OWN(piece, x, y, z)
    whole[(z * n + y) * n + x] = *cell(field, piece, x, y, z);
    MPI_Reduce(run->rank ? whole : MPI_IN_PLACE, whole, cells, MPI_DOUBLE,
               MPI_SUM, 0, MPI_COMM_WORLD);
    if (!run->rank && (file = fopen(run->file, "wb"))) {
        fprintf(file,
                "# vtk DataFile Version 3.0\nheat\nBINARY\nDATASET "
                "STRUCTURED_POINTS\nDIMENSIONS %lld %lld %lld\nORIGIN 0 0 0\n"
                "SPACING 1 1 1\nPOINT_DATA %d\nSCALARS u double 1\n"
                "LOOKUP_TABLE default\n",
                (long long)n, (long long)n, (long long)n, cells);
        for (int i = 0; i < cells; i++)
            whole[i] = reversed(whole[i]);
        bad =
            fwrite(whole, sizeof(double), (size_t)cells, file) != (size_t)cells;
        bad = fclose(file) || bad;
    } else if (!run->rank) {
        bad = 1;
    }
    if (bad)
        perror(run->file);
    free(whole);
    return bad;
}
