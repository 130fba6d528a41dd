/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures the time that the library itself takes to create a communicator,
 * without messages of MPI. It measures the part of one rank for a Cartesian
 * grid, and the decision for a graph. Grids and graphs have 32 to 65,536
 * vertices. Nodes have 2 x 16 cores, and leaf switches have 16 nodes. */
#include "base/random.h"
#include "runtime/reorder/decide.h"
#include "runtime/reorder/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ROUNDS 101

/* The CPU time of this process in seconds, since other processes share the
 * machine. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return x < y ? -1 : x > y;
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return values[count / 2];
}

static struct nw_job_location make_job(int ranks)
{
    struct nw_job_location job = {.rank_count = ranks,
                                  .node_count = (ranks + 31) / 32};
    size_t words = (size_t)job.node_count * NW_SWITCH_DEPTH;

    job.location = calloc((size_t)ranks, sizeof *job.location);
    job.above = malloc(words * sizeof *job.above);
    memset(job.above, -1, words * sizeof *job.above);
    for (int n = 0; n < job.node_count; n++) {
        job.above[n * NW_SWITCH_DEPTH] = 0;
        job.above[n * NW_SWITCH_DEPTH + 1] = 1 + n / 16;
    }
    for (int r = 0; r < ranks; r++)
        job.location[r] = (struct nw_rank_location){
            r / 32, 2, {1 + r % 32 / 16, 10 + r % 32}};
    return job;
}

static struct nw_members *make_members(const struct nw_job_location *job)
{
    int *world = malloc((size_t)job->rank_count * sizeof *world);
    struct nw_members *members;

    for (int i = 0; i < job->rank_count; i++)
        world[i] = i;
    if (nw_members_new(job, world, job->rank_count, &members))
        abort();
    return members;
}

/* Divides the ranks into dimensions that are powers of two, as equal as
 * possible. */
static void make_dims(int ranks, int count, int *dims)
{
    for (int d = 0; d < count; d++)
        dims[d] = 1;
    for (int d = 0; ranks > 1; d = (d + 1) % count, ranks /= 2)
        dims[d] *= 2;
}

static void measure_grid(struct nw_members *members, int count)
{
    int dims[3], periods[3] = {1, 1, 1};
    struct nw_cart cart = {count, dims, periods};
    double weight[3] = {1000, 250, 250}, taken[ROUNDS];
    struct nw_cart_plan plan;

    make_dims(members->count, count, dims);
    for (int i = 0; i < ROUNDS; i++) {
        double begun = now();

        if (!nw_cart_plan(members, &cart, weight, i % members->count, &plan))
            abort();
        taken[i] = now() - begun;
    }
    printf("%8d  grid %d-D      %10.3f ms\n", members->count, count,
           1e3 * median(taken, ROUNDS));
}

/* A graph in which each vertex has eight edges, mostly to vertices with near
 * numbers. */
static nw_pattern *make_graph(int ranks)
{
    nw_pattern_builder *builder;
    struct nw_random random;
    nw_pattern *graph;

    nw_random_init(&random, 1);
    if (nw_pattern_builder_new(ranks, &builder))
        abort();
    for (int v = 0; v < ranks; v++)
        for (int k = 0; k < 4; k++) {
            int to =
                (v + 1 + (int)nw_random_below(&random, k ? 40 : 4000)) % ranks;

            if (to != v &&
                (nw_pattern_builder_add(builder, v, to, NW_KIND_HH, 1 + k, 1) ||
                 nw_pattern_builder_add(builder, to, v, NW_KIND_HH, 1 + k, 1)))
                abort();
        }
    if (nw_pattern_builder_build(builder, &graph))
        abort();
    nw_pattern_builder_free(builder);
    return graph;
}

static nw_pattern *make_stencil(int ranks)
{
    int dims[3], periods[3] = {0};
    nw_pattern *graph;

    make_dims(ranks, 3, dims);
    if (nw_cart_graph(&(struct nw_cart){3, dims, periods},
                      (double[]){1000, 250, 250}, &graph))
        abort();
    return graph;
}

static void measure_graph(struct nw_members *members, const char *name,
                          nw_pattern *graph)
{
    struct nw_reorder_settings settings = {.algorithm = "auto"};
    double taken[5];
    struct nw_decision decision;

    for (int i = 0; i < 5; i++) {
        double begun = now();

        if (nw_decide(members, graph, &settings, &decision))
            abort();
        taken[i] = now() - begun;
        free(decision.vertex);
    }
    printf("%8d  %-12s  %10.3f ms  %5.1f %% less\n", members->count, name,
           1e3 * median(taken, 5),
           100 * (1 - decision.after / decision.before));
    nw_pattern_free(graph);
}

int main(void)
{
    static const int ranks[] = {32, 128, 1024, 4096, 65536, 1 << 20};

    printf("   ranks  what                  median, CPU time\n");
    for (int i = 0; i < 6; i++) {
        struct nw_job_location job = make_job(ranks[i]);
        struct nw_members *members = make_members(&job);
        double begun = now();

        if (nw_members_locate(members))
            abort();
        printf("%8d  machine, once  %9.3f ms\n", ranks[i],
               1e3 * (now() - begun));
        for (int d = 1; d <= 3; d++)
            measure_grid(members, d);
        if (ranks[i] <= 65536) {
            measure_graph(members, "stencil", make_stencil(ranks[i]));
            measure_graph(members, "irregular", make_graph(ranks[i]));
        }
        fflush(stdout);
        nw_members_drop(members);
        free(job.location);
        free(job.above);
    }
    return 0;
}
