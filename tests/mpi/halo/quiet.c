/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What an exchange must not do, counted: allocate (calls of the allocator that
 * come from the library itself; MPI's own are its affair), and send more
 * messages than its method promises.
 *
 *   quiet METHODS RANKS-PER-NODE [MESSAGES]
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

static uint32_t parse_methods(char *words)
{
    uint32_t methods = 0;
    enum nw_halo_method method;

    for (char *word = strtok(words, ","); word; word = strtok(NULL, ","))
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
    options.methods = parse_methods(words[1]);
    options.ranks_per_node = atoi(words[2]);
    options.choice = NW_HALO_CHOOSE_ORDER;
    options.schedule = NW_HALO_SCHEDULE_ONCE;
    return nw_halo_plan(MPI_COMM_WORLD, &options, out);
}

/* Not in the library: the planning of the halo must be seen to count. */
static int sees_allocations(char **words)
{
    char copy[256];
    char *again[3] = {words[0], copy, words[2]};
    nw_halo *halo = NULL;
    long before = allocations;

    snprintf(copy, sizeof copy, "%s", words[1]);
    counting = 1;
    if (plan(again, &halo))
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

int main(int argc, char **argv)
{
    nw_halo *halo = NULL;
    long sums[2] = {0, 0}, all[2];
    long promised = argc > 3 ? atol(argv[3]) * EXCHANGES : -1;
    int rank, seen;

    if (argc < 3)
        return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    seen = sees_allocations(argv);
    if (plan(argv, &halo)) {
        fprintf(stderr, "%s\n", nw_error_text());
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    for (int i = 0; i < EXCHANGES + 1; i++) {
        counting = i > 0; /* the first touches what is made at first use */
        if (nw_halo_start(halo, NULL, 0) || nw_halo_wait(halo))
            MPI_Abort(MPI_COMM_WORLD, 1);
    }
    counting = 0;
    sums[0] = allocations;
    sums[1] = messages;
    MPI_Allreduce(sums, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    nw_halo_free(halo);
    if (!rank)
        printf("%s: %ld allocations, %ld messages in %d exchanges\n",
               !all[0] && seen && (promised < 0 || all[1] == promised)
                   ? "right"
                   : "wrong",
               all[0], all[1], EXCHANGES);
    MPI_Finalize();
    return 0;
}
