/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The first halo of a process must be exchanged by graphs: its kernels must not
 * be loaded while the graph is captured. This program's dlsym, which the
 * library then uses, too, counts the launches of graphs and of kernels.
 */
#include "hazard.h"

#include <nodewise/halo.h>

enum { GRAPHS_TURNS = 5 };

static unsigned long graphs, kernels, instantiated;
static int (*launch_graph)(void *graph, void *stream);
static int (*make_graph)(void **out, void *graph, unsigned long long flags);
static int (*launch_kernel)(void *function, unsigned x, unsigned y, unsigned z,
                            unsigned thread_x, unsigned thread_y,
                            unsigned thread_z, unsigned shared, void *stream,
                            void **arguments, void **more);

static int counted_graph(void *graph, void *stream)
{
    graphs++;
    return launch_graph(graph, stream);
}

static int counted_make(void **out, void *graph, unsigned long long flags)
{
    int code = make_graph(out, graph, flags);

    instantiated += !code;
    return code;
}

static int counted_kernel(void *function, unsigned x, unsigned y, unsigned z,
                          unsigned thread_x, unsigned thread_y,
                          unsigned thread_z, unsigned shared, void *stream,
                          void **arguments, void **more)
{
    kernels++;
    return launch_kernel(function, x, y, z, thread_x, thread_y, thread_z,
                         shared, stream, arguments, more);
}

/* The next definition after that of the caller's library: that of libc, or of
 * MPI. */
static void *next_symbol(void *(*real)(void *, const char *), const char *name)
{
    static const char *const libraries[] = {"libc.so.6", "libmpich.so.12",
                                            "libmpi.so.40"};
    void *found = NULL;

    for (int i = 0; i < 3 && !found; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        found = library ? real(library, name) : NULL;
    }
    return found;
}

/* Replaces the function of libc; the version is that of the first glibc for
 * x86-64. */
__attribute__((visibility("default"))) void *dlsym(void *handle,
                                                   const char *name)
{
    static void *(*real)(void *, const char *);
    void *found;

    if (!real)
        *(void **)&real = dlvsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD),
                                 "dlsym", "GLIBC_2.2.5");
    found = handle == RTLD_NEXT ? next_symbol(real, name) : real(handle, name);
    if (found && !strcmp(name, "cuGraphLaunch")) {
        *(void **)&launch_graph = found;
        return (void *)counted_graph;
    }
    if (found && !strcmp(name, "cuGraphInstantiateWithFlags")) {
        *(void **)&make_graph = found;
        return (void *)counted_make;
    }
    if (found && !strcmp(name, "cuLaunchKernel")) {
        *(void **)&launch_kernel = found;
        return (void *)counted_kernel;
    }
    return found;
}

static void halo_must(nw_status status)
{
    if (!status)
        return;
    printf("FAULT graphs: rank %d: %s\n", hazard.rank, nw_error_text());
    fflush(stdout);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void halo_turns(nw_halo *halo)
{
    for (int i = 0; i < GRAPHS_TURNS; i++) {
        halo_must(nw_halo_start(halo, NULL, 0));
        halo_must(nw_halo_wait(halo));
    }
}

int main(void)
{
    static const struct nw_halo_quantity quantity[2] = {{.bytes = 4},
                                                        {.bytes = 8}};
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;
    nw_halo *halo = NULL;
    int few;

    hazard_begin("graphs", MPI_THREAD_SINGLE);
    hazard_primary();
    for (int a = 0; a < 3; a++)
        options.extent[a] = 24;
    nw_halo_radius(&options, 2, true);
    nw_halo_borders(&options, NW_HALO_PERIODIC);
    options.quantity = quantity;
    options.quantity_count = 2;
    options.pieces_per_rank = 2;
    options.memory_kind = NW_HALO_MEMORY_GPU;
    options.cache = "";
    options.choice = NW_HALO_CHOOSE_ORDER;
    halo_must(nw_halo_plan(MPI_COMM_WORLD, &options, &halo));
    graphs = kernels = 0;
    halo_turns(halo);
    few = graphs < GRAPHS_TURNS || kernels;
    if (few || !hazard.rank)
        printf("%sgraphs: rank %d: %lu made; in %d exchanges %lu launches of "
               "graphs, %lu of kernels [%s]\n",
               few ? "FAULT " : "", hazard.rank, instantiated, GRAPHS_TURNS,
               graphs, kernels, nw_halo_words(halo));
    nw_halo_free(halo);
    return hazard_end(few);
}
