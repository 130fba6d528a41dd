/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat in a box, by the 7-point or the 27-point stencil: interior cells are
 * computed while ghost cells travel, the shell after them. The answer is
 * compared with a serial run to the last bit and written for ParaView.
 *
 *   mpirun -n 4 heat [-27] [-n CELLS] [-s STEPS] [-o FILE.vtk] [-b]
 *
 * -b computes after the exchange instead of during it.
 */
#include <mpi.h>

#include <nodewise/halo.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct run {
    int64_t n;
    int steps;
    bool corners, blocking;
    const char *file;
    int rank, size;
};

/* A field with one layer around it: strides of y and z in elements. */
struct field {
    double *at;
    int64_t y, z;
};

static double start_at(int64_t x, int64_t y, int64_t z)
{
    return (double)((x * 73 + y * 151 + z * 283) % 101) / 7;
}

static double faces(const double *u, int64_t y, int64_t z)
{
    return 0.4 * u[0] + 0.1 * (u[-1] + u[1] + u[-y] + u[y] + u[-z] + u[z]);
}

static double all(const double *u, int64_t y, int64_t z)
{
    double sum = 0;

    for (int k = -1; k <= 1; k++)
        for (int j = -1; j <= 1; j++)
            for (int i = -1; i <= 1; i++)
                sum += u[k * z + j * y + i];
    return 0.25 * u[0] + 0.75 / 27 * sum;
}

/* The caller's kernel: any box of cells. */
static void step(const struct run *run, const struct nw_halo_box *box,
                 struct field to, struct field from)
{
    for (int64_t z = box->low[2]; z < box->high[2]; z++)
        for (int64_t y = box->low[1]; y < box->high[1]; y++)
            for (int64_t x = box->low[0]; x < box->high[0]; x++) {
                const double *u = from.at + z * from.z + y * from.y + x;

                to.at[z * to.z + y * to.y + x] = run->corners
                                                     ? all(u, from.y, from.z)
                                                     : faces(u, from.y, from.z);
            }
}

static struct field field_of(const nw_halo *halo, int32_t quantity)
{
    const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
    int64_t y = (int64_t)(nw_halo_pitch(halo, 0, quantity) / sizeof(double));

    return (struct field){nw_halo_base(halo, 0, quantity), y,
                          y * piece->allocated[1]};
}

/* One layer of ghost cells on every side: cell c of the domain is at local
 * index c - low + 1. */
static double *cell(struct field field, const struct nw_halo_piece *piece,
                    int64_t x, int64_t y, int64_t z)
{
    return field.at + (z - piece->box.low[2] + 1) * field.z +
           (y - piece->box.low[1] + 1) * field.y + x - piece->box.low[0] + 1;
}

static void fail(void)
{
    fprintf(stderr, "heat: %s\n", nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void march(const struct run *run, nw_halo *halo)
{
    struct nw_halo_box inside = nw_halo_interior(halo, 0), shell[6];
    int32_t count = nw_halo_shell(halo, 0, shell);

    for (int s = 0; s < run->steps; s++) {
        int32_t now = s & 1;
        struct field from = field_of(halo, now), to = field_of(halo, !now);

        if (nw_halo_start(halo, &now, 1))
            fail();
        if (!run->blocking)
            step(run, &inside, to, from);
        if (nw_halo_wait(halo))
            fail();
        if (run->blocking)
            step(run, &inside, to, from);
        for (int32_t i = 0; i < count; i++)
            step(run, &shell[i], to, from);
    }
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

/* Visits own cells in order. */
#define FOR_OWN(piece, x, y, z)                                                \
    for (int64_t z = (piece)->box.low[2]; z < (piece)->box.high[2]; z++)       \
        for (int64_t y = (piece)->box.low[1]; y < (piece)->box.high[1]; y++)   \
            for (int64_t x = (piece)->box.low[0]; x < (piece)->box.high[0]; x++)

static long compare(const struct run *run, const nw_halo *halo)
{
    const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
    struct field field = field_of(halo, run->steps & 1);
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
static int write_vtk(const struct run *run, const nw_halo *halo)
{
    const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
    struct field field = field_of(halo, run->steps & 1);
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

static nw_halo *plan(const struct run *run)
{
    struct nw_halo_quantity both[2] = {{sizeof(double), 0},
                                       {sizeof(double), 0}};
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
    nw_halo *halo = NULL;

    for (int axis = 0; axis < 3; axis++)
        options.extent[axis] = run->n;
    nw_halo_radius(&options, 1, run->corners);
    options.quantity = both;
    options.quantity_count = 2;
    if (nw_halo_plan(MPI_COMM_WORLD, &options, &halo))
        fail();
    return halo;
}

static bool parse(struct run *run, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        bool more = i + 1 < argc;

        if (!strcmp(argv[i], "-27"))
            run->corners = true;
        else if (!strcmp(argv[i], "-b"))
            run->blocking = true;
        else if (!strcmp(argv[i], "-n") && more)
            run->n = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-s") && more)
            run->steps = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-o") && more)
            run->file = argv[++i];
        else
            return false;
    }
    return run->n > 0 && run->n <= 1024 && run->steps >= 0;
}

int main(int argc, char **argv)
{
    struct run run = {.n = 48, .steps = 20};
    nw_halo *halo;
    double seconds;
    long wrong;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &run.rank);
    if (!parse(&run, argc, argv)) {
        fprintf(stderr, "heat [-27] [-b] [-n CELLS] [-s STEPS] [-o FILE]\n");
        MPI_Finalize();
        return 2;
    }
    halo = plan(&run);
    const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
    FOR_OWN(piece, x, y, z)
    *cell(field_of(halo, 0), piece, x, y, z) = start_at(x, y, z);
    seconds = MPI_Wtime();
    march(&run, halo);
    seconds = MPI_Wtime() - seconds;
    wrong = compare(&run, halo);
    if (!run.rank)
        printf("%ld of %lld cells differ from the serial run; %d steps, %.3g "
               "s; %s\n",
               wrong, (long long)(run.n * run.n * run.n), run.steps, seconds,
               nw_halo_words(halo));
    if (run.file && write_vtk(&run, halo))
        wrong = 1;
    nw_halo_free(halo);
    MPI_Finalize();
    return wrong != 0;
}
