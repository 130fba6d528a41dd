/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Times the exchange of ghost cells in GPU memory as in the paper: a barrier,
 * and MPI_Wtime around the exchange on the slowest rank. Prints the mean of all
 * repeats, its spread, the median, the 99th percentile, and the median time of
 * the call that starts the exchange (launches). Every ghost cell is verified
 * once.
 *
 *     exchange SIZE PIECES METHODS|auto|order [REPEATS]
 *
 * The whole domain has SIZE cells along each side, and each rank has PIECES
 * pieces. There are four quantities of single precision. The radius is 3, and
 * the borders are periodic.
 */
#include <mpi.h>

#include <nodewise/halo_mpi.h>

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTITIES = 4, RADIUS = 3, MOST = 1000 };

static int rank, size;
static nw_halo *halo;
static struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
static int (*copy_in)(uintptr_t, const void *, size_t);
static int (*copy_out)(void *, uintptr_t, size_t);
static int (*wait_for)(void *stream);

static void must(nw_status status)
{
    if (!status)
        return;
    fprintf(stderr, "exchange: rank %d: %s\n", rank, nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* Opens the driver and makes a primary context current, as the library uses
 * primary contexts. */
static void open_driver(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
    int (*init)(unsigned), (*retain)(void **, int), (*set)(void *);

    if (!driver) {
        if (!rank)
            fprintf(stderr, "exchange: libcuda.so.1 was not found\n");
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    *(void **)&init = dlsym(driver, "cuInit");
    *(void **)&retain = dlsym(driver, "cuDevicePrimaryCtxRetain");
    *(void **)&set = dlsym(driver, "cuCtxSetCurrent");
    *(void **)&copy_in = dlsym(driver, "cuMemcpyHtoD_v2");
    *(void **)&copy_out = dlsym(driver, "cuMemcpyDtoH_v2");
    *(void **)&wait_for = dlsym(driver, "cuStreamSynchronize");
    if (init(0) || retain(&context, 0) || set(context))
        MPI_Abort(MPI_COMM_WORLD, 77);
}

static uint32_t value(uint64_t cell, int32_t quantity)
{
    return (uint32_t)(cell * 2654435761u + (uint64_t)quantity * 40503u) | 1;
}

/* The index of the domain's cell at an index of the allocated array along an
 * axis. */
static uint64_t cell_of(const struct nw_halo_piece *piece, int axis, int64_t at)
{
    int64_t n = options.extent[axis];

    return (uint64_t)((piece->box.low[axis] + at - piece->low_ghost[axis] + n) %
                      n);
}

static bool owns(const struct nw_halo_piece *piece, int axis, int64_t at)
{
    int64_t length = piece->box.high[axis] - piece->box.low[axis];

    return at >= piece->low_ghost[axis] && at < piece->low_ghost[axis] + length;
}

struct row {
    uint64_t first; /* number of the domain's cell at x = 0 */
    bool own;
    const uint64_t *column; /* x in the domain of each column */
    int64_t low, high;      /* own cells along x */
    int64_t cells;
    int32_t quantity;
};

/* Fills a row: own cells with their values, ghost cells with zeros. */
static void fill_row(const struct row *row, uint32_t *host)
{
    for (int64_t x = 0; x < row->cells; x++)
        host[x] = row->own && x >= row->low && x < row->high
                      ? value(row->first + row->column[x], row->quantity)
                      : 0;
}

/* The number of cells with wrong values after all ghost cells were filled. */
static long wrong_in_row(const struct row *row, const uint32_t *host)
{
    long wrong = 0;

    for (int64_t x = 0; x < row->cells; x++)
        wrong += host[x] != value(row->first + row->column[x], row->quantity);
    return wrong;
}

static long visit(int32_t p, int32_t q, uint32_t *host, bool fill)
{
    const struct nw_halo_piece *piece = nw_halo_piece_of(halo, p);
    const int64_t *n = piece->allocated, *extent = options.extent;
    int64_t pitch = (int64_t)(nw_halo_pitch(halo, p, q) / 4);
    uint64_t *column = malloc((size_t)n[0] * sizeof *column);
    struct row row = {.column = column, .cells = n[0], .quantity = q};
    long wrong = 0;

    if (!column)
        MPI_Abort(MPI_COMM_WORLD, 1);
    row.low = piece->low_ghost[0];
    row.high = row.low + piece->box.high[0] - piece->box.low[0];
    for (int64_t x = 0; x < n[0]; x++)
        column[x] = cell_of(piece, 0, x);
    for (int64_t z = 0; z < n[2]; z++)
        for (int64_t y = 0; y < n[1]; y++) {
            uint32_t *here = host + (z * n[1] + y) * pitch;

            row.own = owns(piece, 1, y) && owns(piece, 2, z);
            row.first = (cell_of(piece, 2, z) * (uint64_t)extent[1] +
                         cell_of(piece, 1, y)) *
                        (uint64_t)extent[0];
            if (fill)
                fill_row(&row, here);
            else
                wrong += wrong_in_row(&row, here);
        }
    free(column);
    return wrong;
}

static long for_arrays(bool fill)
{
    long wrong = 0;

    for (int32_t p = 0; p < nw_halo_piece_count(halo); p++)
        for (int32_t q = 0; q < QUANTITIES; q++) {
            const int64_t *n = nw_halo_piece_of(halo, p)->allocated;
            uintptr_t gpu = (uintptr_t)nw_halo_base(halo, p, q);
            size_t bytes =
                nw_halo_pitch(halo, p, q) * (size_t)n[1] * (size_t)n[2];
            uint32_t *host = calloc(bytes, 1);

            if (!host || (!fill && copy_out(host, gpu, bytes)))
                MPI_Abort(MPI_COMM_WORLD, 1);
            wrong += visit(p, q, host, fill);
            /* the copy may still be in progress, since the memory is
             * pageable */
            if (fill && (copy_in(gpu, host, bytes) || wait_for(NULL)))
                MPI_Abort(MPI_COMM_WORLD, 1);
            free(host);
        }
    return wrong;
}

/* The time in seconds of one exchange on the slowest rank; *launches gets the
 * time of the first call on this rank. */
static double exchange(double *launches)
{
    double own, slowest, since;

    MPI_Barrier(MPI_COMM_WORLD);
    since = MPI_Wtime();
    must(nw_halo_start(halo, NULL, 0));
    *launches = MPI_Wtime() - since;
    must(nw_halo_wait(halo));
    own = MPI_Wtime() - since;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void set_options(char **argv)
{
    static const struct nw_halo_quantity quantity[QUANTITIES] = {
        {.bytes = 4}, {.bytes = 4}, {.bytes = 4}, {.bytes = 4}};
    enum nw_halo_method method;
    char *words = argv[3];

    for (int a = 0; a < 3; a++)
        options.extent[a] = atoll(argv[1]);
    nw_halo_radius(&options, RADIUS, true);
    nw_halo_borders(&options, NW_HALO_PERIODIC);
    options.quantity = quantity;
    options.quantity_count = QUANTITIES;
    options.pieces_per_rank = atoi(argv[2]);
    options.memory_kind = NW_HALO_MEMORY_GPU;
    options.cache = "";
    options.choice =
        strcmp(words, "auto") ? NW_HALO_CHOOSE_ORDER : NW_HALO_CHOOSE_MEASURE;
    for (char *word = strtok(words, ","); word; word = strtok(NULL, ","))
        if (nw_halo_method_find(word, &method))
            options.methods |= NW_HALO_BIT(method);
}

static int compare_times(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double percentile(double *times, int count, int percent)
{
    qsort(times, (size_t)count, sizeof *times, compare_times);
    return times[count * percent / 100] * 1e6;
}

static void report(const char *methods, int repeats, long wrong)
{
    static double times[MOST], starts[MOST];
    double sum = 0, squares = 0, mean, unused;

    for (int i = 0; i < 3; i++)
        exchange(&unused);
    for (int i = 0; i < repeats; i++) {
        times[i] = exchange(&starts[i]);
        sum += times[i];
        squares += times[i] * times[i];
    }
    mean = sum / repeats;
    if (rank)
        return;
    printf("%d ranks x %d pieces  %-28s %10.1f us +- %-8.1f %s  [%s]\n", size,
           options.pieces_per_rank, methods, mean * 1e6,
           sqrt(fmax(squares / repeats - mean * mean, 0)) * 1e6,
           wrong ? "WRONG" : "every ghost cell right", nw_halo_words(halo));
    printf("p50 %.1f us, p99 %.1f us, launches p50 %.1f us\n",
           percentile(times, repeats, 50), percentile(times, repeats, 99),
           percentile(starts, repeats, 50));
}

int main(int argc, char **argv)
{
    int repeats = argc > 4 ? atoi(argv[4]) : 30;
    char methods[64] = "";
    long wrong, all = 0;
    double unused;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 4 || repeats < 1 || repeats > MOST)
        MPI_Abort(MPI_COMM_WORLD, 2);
    strncpy(methods, argv[3], sizeof methods - 1);
    open_driver();
    set_options(argv);
    must(nw_halo_plan(MPI_COMM_WORLD, &options, &halo));
    for_arrays(true);
    exchange(&unused);
    wrong = for_arrays(false);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    report(methods, repeats, all);
    nw_halo_free(halo);
    MPI_Finalize();
    return all != 0;
}
