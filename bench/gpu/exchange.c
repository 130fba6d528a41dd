/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The exchange in GPU memory, timed as in the paper: a barrier, MPI_Wtime
 * around the exchange, the slowest rank, the mean of so many and their spread.
 * Every ghost cell is verified once.
 *
 *   exchange SIZE PIECES METHODS|auto|order [REPEATS]
 *
 * SIZE cells a side of the whole domain, PIECES a rank; four quantities of
 * single precision, radius 3, periodic.
 */
#include <mpi.h>

#include <nodewise/halo.h>

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

static void must(nw_status status)
{
    if (!status)
        return;
    fprintf(stderr, "exchange: rank %d: %s\n", rank, nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

/* The library's contexts are the GPUs' primary ones: one is current here. */
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
    if (init(0) || retain(&context, 0) || set(context))
        MPI_Abort(MPI_COMM_WORLD, 77);
}

static uint32_t value(const int64_t cell[3], int32_t quantity)
{
    const int64_t *n = options.extent;
    uint64_t id = (uint64_t)((cell[2] * n[1] + cell[1]) * n[0] + cell[0]);

    return (uint32_t)(id * 2654435761u + (uint64_t)quantity * 40503u) | 1;
}

/* Fills own cells (ghosts zero), or counts cells that are not as they must be
 * when all ghost cells are filled. */
static long visit(int32_t p, int32_t q, uint32_t *host, bool fill)
{
    const struct nw_halo_piece *piece = nw_halo_piece(halo, p);
    const int64_t *n = piece->allocated;
    int64_t pitch = (int64_t)(nw_halo_pitch(halo, p, q) / 4), at[3], cell[3];
    long wrong = 0;

    for (at[2] = 0; at[2] < n[2]; at[2]++)
        for (at[1] = 0; at[1] < n[1]; at[1]++)
            for (at[0] = 0; at[0] < n[0]; at[0]++) {
                uint32_t *here = host + (at[2] * n[1] + at[1]) * pitch + at[0];
                bool own = true;

                for (int a = 0; a < 3; a++) {
                    cell[a] = piece->box.low[a] + at[a] - piece->low_ghost[a];
                    own = own && cell[a] >= piece->box.low[a] &&
                          cell[a] < piece->box.high[a];
                    cell[a] = (cell[a] + options.extent[a]) % options.extent[a];
                }
                if (fill)
                    *here = own ? value(cell, q) : 0;
                else
                    wrong += *here != value(cell, q);
            }
    return wrong;
}

static long for_arrays(bool fill)
{
    long wrong = 0;

    for (int32_t p = 0; p < nw_halo_piece_count(halo); p++)
        for (int32_t q = 0; q < QUANTITIES; q++) {
            const int64_t *n = nw_halo_piece(halo, p)->allocated;
            uintptr_t gpu = (uintptr_t)nw_halo_base(halo, p, q);
            size_t bytes =
                nw_halo_pitch(halo, p, q) * (size_t)n[1] * (size_t)n[2];
            uint32_t *host = calloc(bytes, 1);

            if (!host || (!fill && copy_out(host, gpu, bytes)))
                MPI_Abort(MPI_COMM_WORLD, 1);
            wrong += visit(p, q, host, fill);
            if (fill && copy_in(gpu, host, bytes))
                MPI_Abort(MPI_COMM_WORLD, 1);
            free(host);
        }
    return wrong;
}

static double exchange(void)
{
    double own, slowest, since;

    MPI_Barrier(MPI_COMM_WORLD);
    since = MPI_Wtime();
    must(nw_halo_start(halo, NULL, 0));
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

static void report(const char *methods, int repeats, long wrong)
{
    double sum = 0, squares = 0, mean;

    for (int i = 0; i < 3; i++)
        exchange();
    for (int i = 0; i < repeats; i++) {
        double seconds = exchange();

        sum += seconds;
        squares += seconds * seconds;
    }
    mean = sum / repeats;
    if (!rank)
        printf("%d ranks x %d pieces  %-28s %10.1f us +- %-8.1f %s  [%s]\n",
               size, options.pieces_per_rank, methods, mean * 1e6,
               sqrt(fmax(squares / repeats - mean * mean, 0)) * 1e6,
               wrong ? "WRONG" : "every ghost cell right", nw_halo_words(halo));
}

int main(int argc, char **argv)
{
    int repeats = argc > 4 ? atoi(argv[4]) : 30;
    char methods[64] = "";
    long wrong, all = 0;

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
    exchange();
    wrong = for_arrays(false);
    MPI_Allreduce(&wrong, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    report(methods, repeats, all);
    nw_halo_free(halo);
    MPI_Finalize();
    return all != 0;
}
