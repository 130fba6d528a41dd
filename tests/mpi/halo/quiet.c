/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts in an exchange the calls of the allocator by the library itself (those
 * of MPI do not count), and the messages. The library must not allocate, and
 * must not send more messages than its method promises.
 *
 *   quiet METHODS RANKS-PER-NODE MESSAGES... (-1: as many as there are)
 */
#include <mpi.h>

#include <nodewise/halo.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXCHANGES 10

static int counting;
static long allocations, messages;

int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
              MPI_Comm comm, MPI_Request *request)
{
    messages += counting;
    return PMPI_Isend(buffer, count, type, to, tag, comm, request);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *old, size_t bytes);

static void note(void *caller)
{
    Dl_info info;

    if (!counting)
        return;
    counting = 0;
    allocations += dladdr(caller, &info) && info.dli_fname &&
                   strstr(info.dli_fname, "libnodewise");
    counting = 1;
}

void *malloc(size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_malloc(bytes);
}

void *calloc(size_t count, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_calloc(count, bytes);
}

void *realloc(void *old, size_t bytes)
{
    note(__builtin_return_address(0));
    return __libc_realloc(old, bytes);
}
#endif

static uint32_t parse_methods(const char *words)
{
    char copy[256];
    uint32_t methods = 0;
    enum nw_halo_method method;

    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok(copy, ","); word; word = strtok(NULL, ","))
        if (nw_halo_method_find(word, &method))
            methods |= NW_HALO_BIT(method);
    return methods;
}

static nw_status plan(char **words, nw_halo **out)
{
    static const struct nw_halo_quantity quantity[2] = {{4, 0}, {8, 0}};
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;

    for (int axis = 0; axis < 3; axis++)
        options.extent[axis] = 12;
    nw_halo_radius(&options, 1, true);
    options.quantity = quantity;
    options.quantity_count = 2;
    options.methods = parse_methods(words[0]);
    options.ranks_per_node = atoi(words[1]);
    options.choice = NW_HALO_CHOOSE_ORDER;
    options.schedule = NW_HALO_SCHEDULE_ONCE;
    return nw_halo_plan(MPI_COMM_WORLD, &options, out);
}

/* Checks that the counter works: the planning of the halo must be counted. */
static int sees_allocations(char **words)
{
    nw_halo *halo = NULL;
    long before = allocations;

    counting = 1;
    if (plan(words, &halo))
        return 0;
    counting = 0;
    nw_halo_free(halo);
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    before = -1;
#endif
    before = allocations - before;
    allocations = messages = 0;
    return before > 0;
}

/* Whether an exchange with these METHODS, RANKS-PER-NODE and MESSAGES fulfils
 * the promises. */
static int is_quiet(int rank, char **words)
{
    nw_halo *halo = NULL;
    long sums[2], all[2], promised = atol(words[2]) * EXCHANGES;
    int seen = sees_allocations(words), good;

    if (plan(words, &halo)) {
        fprintf(stderr, "%s\n", nw_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < EXCHANGES + 1; i++) {
        counting = i > 0; /* the first exchange allocates what is allocated
                             at first use */
        if (nw_halo_start(halo, NULL, 0) || nw_halo_wait(halo))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    counting = 0;
    sums[0] = allocations;
    sums[1] = messages;
    MPI_Allreduce(sums, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    nw_halo_free(halo);
    good = !all[0] && seen && (promised < 0 || all[1] == promised);
    if (!rank)
        printf("%s: %s: %ld allocations, %ld messages in %d exchanges\n",
               words[0], good ? "right" : "wrong", all[0], all[1], EXCHANGES);
    return good;
}

int main(int argc, char **argv)
{
    int rank, good = argc > 3;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 1; i + 2 < argc; i += 3)
        good &= is_quiet(rank, argv + i);
    MPI_Finalize();
    return !good;
}
