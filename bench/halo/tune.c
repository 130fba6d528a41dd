/* SPDX-License-Identifier: BSD-3-Clause */
/* The program that nodewise halo tune starts with a launcher: it makes a plan
 * for the shape that it gets as numbers, which measures methods and stores the
 * choice. */
#include <mpi.h>

#include <nodewise/halo_mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_QUANTITIES 256

struct shape {
    struct nw_halo_options plan;
    struct nw_halo_quantity quantity[MOST_QUANTITIES];
};

/* The next number of a list; -1 where there is none. */
static long long next(char **at)
{
    char *end;
    long long value = strtoll(*at, &end, 10);

    if (end == *at)
        return -1;
    *at = *end == ',' ? end + 1 : end;
    return value;
}

/* Reads the shape as src/cli/halo_tune.c writes it. */
static int read_shape(char *words, struct shape *shape)
{
    struct nw_halo_options *plan = &shape->plan;
    long long element;

    for (int axis = 0; axis < 3; axis++)
        plan->extent[axis] = next(&words);
    for (int d = 0; d < 27; d++)
        plan->radius[d] = (int32_t)next(&words);
    for (int axis = 0; axis < 3; axis++)
        plan->border[axis][0] = plan->border[axis][1] =
            (enum nw_halo_border)next(&words);
    plan->quantity_count = (int32_t)next(&words);
    element = next(&words);
    plan->interval = (int32_t)next(&words);
    plan->pieces_per_rank = (int32_t)next(&words);
    if (plan->quantity_count < 1 || plan->quantity_count > MOST_QUANTITIES ||
        element < 1 || plan->pieces_per_rank < 1)
        return 0;
    for (int32_t i = 0; i < plan->quantity_count; i++)
        shape->quantity[i].bytes = (size_t)element;
    plan->quantity = shape->quantity;
    return 1;
}

/* Whether the choice was written to the file; if not, prints the reason. */
static int is_kept(const char *path)
{
    const char *why = nw_error_text();
    size_t length = strlen(path);

    if (!strncmp(why, path, length) && why[length] == ':')
        fprintf(stderr, "nodewise halo: not kept: %s\n", why);
    else if (access(path, F_OK))
        fprintf(stderr, "nodewise halo: not kept: %s could not be written\n",
                path);
    else
        return 1;
    return 0;
}

int main(int argc, char **argv)
{
    struct shape shape = {.plan = NW_HALO_OPTIONS_INIT};
    nw_halo *halo = NULL;
    int rank, failed;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (argc < 2 || !read_shape(argv[1], &shape)) {
        if (!rank)
            fputs("this is started by nodewise halo tune\n", stderr);
        MPI_Finalize();
        return 2;
    }
    shape.plan.cache = argc > 2 ? argv[2] : NULL;
    failed = nw_halo_plan(MPI_COMM_WORLD, &shape.plan, &halo) != NW_OK;
    if (!rank && failed)
        fprintf(stderr, "nodewise halo: %s\n", nw_error_text());
    else if (!rank)
        puts(nw_halo_words(halo));
    if (!rank && !failed && shape.plan.cache)
        failed = !is_kept(shape.plan.cache);
    nw_halo_free(halo);
    MPI_Finalize();
    return failed;
}
