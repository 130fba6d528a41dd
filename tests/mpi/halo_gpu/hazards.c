/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests what a program may do with a GPU beside a halo: reset it before the
 * halo is freed, or have its arrays in a context of its own, or in two. It
 * works with the test double of the driver and on a GPU. */
#include <mpi.h>

#include <nodewise/halo.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 12, RADIUS = 2 };

typedef int call();
static int rank;

static call *driver(const char *name)
{
    static void *library;
    call *found = NULL;

    if (!library)
        library = dlopen("libcuda.so.1", RTLD_NOW);
    if (library)
        *(void **)&found = dlsym(library, name);
    if (!found) {
        fprintf(stderr, "%s was not found\n", name);
        MPI_Abort(MPI_COMM_WORLD, 77);
    }
    return found;
}

static void must(int failed, const char *what)
{
    if (!failed)
        return;
    fprintf(stderr, "rank %d: %s: %s\n", rank, what, nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static struct nw_halo_options options_of(const struct nw_halo_quantity *two)
{
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;

    options.extent[0] = options.extent[1] = options.extent[2] = SIDE;
    nw_halo_radius(&options, RADIUS, true);
    nw_halo_borders(&options, NW_HALO_PERIODIC);
    options.quantity = two;
    options.quantity_count = 2;
    options.memory_kind = NW_HALO_MEMORY_GPU;
    options.choice = NW_HALO_CHOOSE_ORDER;
    options.cache = "";
    return options;
}

static nw_halo *plan(void)
{
    static const struct nw_halo_quantity two[2] = {{.bytes = 4}, {.bytes = 8}};
    struct nw_halo_options options = options_of(two);
    nw_halo *halo = NULL;

    must(nw_halo_plan(MPI_COMM_WORLD, &options, &halo), "plan");
    return halo;
}

/* Exchanges with all bytes of an array equal, so that its ghost cells must have
 * the same value. */
static void exchange(nw_halo *halo, int value)
{
    for (int32_t q = 0; q < 2; q++) {
        const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
        size_t bytes = nw_halo_pitch(halo, 0, q) *
                       (size_t)(piece->allocated[1] * piece->allocated[2]);
        char *host = malloc(bytes);

        must(!host, "malloc");
        memset(host, value, bytes);
        must(driver("cuMemcpyHtoD_v2")((uintptr_t)nw_halo_base(halo, 0, q),
                                       host, bytes),
             "cuMemcpyHtoD");
        free(host);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    must(nw_halo_start(halo, NULL, 0), "start");
    must(nw_halo_wait(halo), "wait");
}

static bool is_filled(nw_halo *halo, int value)
{
    const struct nw_halo_piece *piece = nw_halo_piece(halo, 0);
    size_t bytes = (size_t)piece->allocated[0] * 4;
    char *row = malloc(bytes);
    bool right = true;

    must(!row, "malloc");
    must(driver("cuMemcpyDtoH_v2")(row, (uintptr_t)nw_halo_base(halo, 0, 0),
                                   bytes),
         "cuMemcpyDtoH");
    for (size_t i = 0; i < bytes; i++)
        right = right && row[i] == value;
    free(row);
    return right;
}

static void *primary(void)
{
    void *context = NULL;

    must(driver("cuDevicePrimaryCtxRetain")(&context, 0) ||
             driver("cuCtxSetCurrent")(context),
         "a context");
    return context;
}

/* Resets the device. Then an exchange returns an error, and freeing the halo
 * touches nothing of the GPU. A new halo works with memory and streams that are
 * made after the reset. */
static void reset(void)
{
    nw_halo *halo, *idle, *late;

    primary();
    halo = plan();
    idle = plan();
    exchange(halo, 5);
    MPI_Barrier(MPI_COMM_WORLD);
    must(driver("cuDevicePrimaryCtxReset_v2")(0), "reset");
    must(nw_halo_start(halo, NULL, 0) != NW_ECUDA ||
             !strstr(nw_error_text(), "was reset after the halo was planned"),
         "an exchange after a reset");
    nw_halo_free(halo);
    primary();
    late = plan();
    exchange(late, 6);
    must(!is_filled(late, 6), "ghost cells after a reset");
    nw_halo_free(idle); /* a halo from before the reset, freed while there is
                           a new context */
    exchange(late, 7);
    must(!is_filled(late, 7), "ghost cells after the old halo was freed");
    nw_halo_free(late);
}

/* The program has only a context of its own, as with PyCUDA. */
static void own_context(void)
{
    void *context = NULL;
    nw_halo *halo;

    must(driver("cuCtxCreate_v2")(&context, 0, 0), "cuCtxCreate");
    halo = plan();
    exchange(halo, 5);
    must(!is_filled(halo, 5), "ghost cells");
    nw_halo_free(halo);
}

/* The arrays are in a context while the library already works in another. */
static void foreign(void)
{
    static const struct nw_halo_quantity two[2] = {{.bytes = 4}, {.bytes = 8}};
    struct nw_halo_options options = options_of(two);
    void *context = NULL, *base[2];
    uintptr_t memory[2];
    nw_halo *halo = NULL;

    primary();
    nw_halo_free(plan());
    must(driver("cuCtxCreate_v2")(&context, 0, 0), "cuCtxCreate");
    for (int i = 0; i < 2; i++) {
        must(driver("cuMemAlloc_v2")(&memory[i], (size_t)1 << 20), "memory");
        base[i] = (void *)memory[i];
    }
    options.base = base;
    must(nw_halo_plan(MPI_COMM_WORLD, &options, &halo) != NW_EUNSUPPORTED ||
             !strstr(nw_error_text(), "allocated in another CUDA context"),
         "arrays of another context");
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (driver("cuInit")(0))
        MPI_Abort(MPI_COMM_WORLD, 77);
    if (!strcmp(what, "reset"))
        reset();
    else if (!strcmp(what, "context"))
        own_context();
    else
        foreign();
    MPI_Finalize();
    if (!rank)
        printf("right\n");
    return 0;
}
