/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Measures the time per cell of the solver's normal path and of the same 17
 * stages as sweeps over whole arrays, in turns. The stages are compiled in
 * three ways: as in a textbook (with fmin and fmax, without hints to the
 * compiler), as in the library, and with all optimisation flags. The memory and
 * arithmetic rates of the machine are measured in the same minute. The case is
 * periodic, with h of cells, uneven velocities, limited, and two passes.
 */
#include "mpdata/solver.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void nw_mpdata_stages_double_textbook(const struct nw_mpdata_view *view);
void nw_mpdata_stages_double_native_textbook(const struct nw_mpdata_view *view);
void nw_mpdata_stages_double_plain(const struct nw_mpdata_view *view);
void nw_mpdata_stages_double_native(const struct nw_mpdata_view *view);

static const struct nw_mpdata_kernels textbook = {
    .stages = nw_mpdata_stages_double_textbook};
static const struct nw_mpdata_kernels fast_textbook = {
    .stages = nw_mpdata_stages_double_native_textbook};
static const struct nw_mpdata_kernels plain = {
    .stages = nw_mpdata_stages_double_plain};
static const struct nw_mpdata_kernels native = {
    .stages = nw_mpdata_stages_double_native};

struct contender {
    const char *name;
    const struct nw_mpdata_kernels *kernels; /* NULL: those of the library */
    bool stages, single, fast;
    int32_t threads;
    nw_mpdata *solver;
    double wall, cpu; /* best time in ns per cell and step */
};

static double clock_of(clockid_t id)
{
    struct timespec t;

    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void fail(void)
{
    fprintf(stderr, "bench-mpdata: %s\n", nw_error_text());
    exit(1);
}

/* Values that vary, and are equal at both ends of each axis. */
static double vary(size_t i, double low, double high)
{
    return low + (high - low) * (double)((i * 2654435761u) % 1024) / 1024;
}

static void put(nw_mpdata *s, const int64_t n[3])
{
    for (int f = 0; f < NW_MPDATA_FIELD_COUNT; f++) {
        enum nw_mpdata_field field = (enum nw_mpdata_field)f;
        int64_t m[3];
        nw_mpdata_extent(s, field, m);
        double *v = malloc(nw_mpdata_count(s, field) * sizeof *v), *next = v;
        if (!v)
            exit(1);
        for (int64_t i = 0; i < m[0]; i++)
            for (int64_t j = 0; j < m[1]; j++)
                for (int64_t k = 0; k < m[2]; k++) {
                    size_t at = (size_t)(((i % n[0]) * n[1] + j % n[1]) * n[2] +
                                         k % n[2]);
                    bool cell = field == NW_MPDATA_X || field == NW_MPDATA_H;
                    *next++ = cell ? vary(at, 1, 2) : vary(at, -0.15, 0.15);
                }
        if (nw_mpdata_put(s, field, v))
            fail();
        free(v);
    }
}

static void make(struct contender *c, const int64_t n[3])
{
    struct nw_mpdata_options o = NW_MPDATA_OPTIONS_INIT;

    o.limited = true;
    o.single = c->single;
    o.fast = c->fast;
    o.path = c->stages ? NW_MPDATA_STAGES : NW_MPDATA_AUTO;
    o.threads = c->threads;
    if (nw_mpdata_new(n, &o, &c->solver))
        fail();
    if (c->kernels)
        c->solver->kernels = c->kernels;
    put(c->solver, n);
    c->wall = c->cpu = 1e300;
}

static void step(struct contender *c, double cells)
{
    omp_set_num_threads(c->threads);
    nw_mpdata_step(c->solver, 1); // warms the cache and the threads, which
                                  // another contender used before
    double cpu = clock_of(CLOCK_PROCESS_CPUTIME_ID);
    double wall = clock_of(CLOCK_MONOTONIC);
    nw_mpdata_step(c->solver, 1);
    wall = (clock_of(CLOCK_MONOTONIC) - wall) / cells * 1e9;
    cpu = (clock_of(CLOCK_PROCESS_CPUTIME_ID) - cpu) / cells * 1e9;
    if (wall < c->wall)
        c->wall = wall;
    if (cpu < c->cpu)
        c->cpu = cpu;
}

/* The rate in GB/s of a = b + s c with 24 bytes per element, the best of
 * five. */
static double triad(void)
{
    enum { N = 1 << 22 };
    double *a = calloc(3 * (size_t)N, sizeof *a), best = 0;

    if (!a)
        return 0;
    for (int turn = 0; turn < 5; turn++) {
        double t = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        for (size_t i = 0; i < N; i++)
            a[i] = a[N + i] + 3 * a[2 * N + i];
        __asm__ volatile("" ::"r"(a) : "memory");
        t = clock_of(CLOCK_PROCESS_CPUTIME_ID) - t;
        if (24e-9 * N / t > best)
            best = 24e-9 * N / t;
    }
    free(a);
    return best;
}

/* The rate in Gflop/s of multiply-adds on 96 independent sums. */
static double multiply_add(void)
{
    enum { N = 96, TURNS = 1 << 19 };
    double sum[N], best = 0;

    for (int turn = 0; turn < 5; turn++) {
        for (int i = 0; i < N; i++)
            sum[i] = i;
        double t = clock_of(CLOCK_PROCESS_CPUTIME_ID);
        for (int n = 0; n < TURNS; n++)
            for (int i = 0; i < N; i++)
                sum[i] = sum[i] * 0.999 + 0.5;
        t = clock_of(CLOCK_PROCESS_CPUTIME_ID) - t;
        __asm__ volatile("" ::"r"(sum) : "memory");
        if (2e-9 * N * TURNS / t > best)
            best = 2e-9 * N * TURNS / t;
    }
    return best;
}

static void run(const int64_t n[3], int turns)
{
    struct contender all[] = {
        {"blocked, double, fast", NULL, false, false, true, 1},
        {"17 sweeps, textbook, -O3", &textbook, true, false, false, 1},
        {"17, textbook, all flags", &fast_textbook, true, false, false, 1},
        {"17 sweeps, -O3", &plain, true, false, false, 1},
        {"17 sweeps, all flags", &native, true, false, false, 1},
        {"blocked, double, strict", NULL, false, false, false, 1},
        {"blocked, single, fast", NULL, false, true, true, 1},
        {"blocked, double, 2 threads", NULL, false, false, true, 2},
    };
    enum { COUNT = sizeof all / sizeof *all };
    double cells = (double)n[0] * (double)n[1] * (double)n[2];

    for (int i = 0; i < COUNT; i++)
        make(&all[i], n);
    for (int turn = 0; turn < turns; turn++)
        for (int i = 0; i < COUNT; i++)
            step(&all[i], cells);
    printf("%lld x %lld x %lld, best of %d turns; triad %.1f GB/s, "
           "multiply-add %.1f Gflop/s\n",
           (long long)n[0], (long long)n[1], (long long)n[2], turns, triad(),
           multiply_add());
    printf("%-28s %10s %10s %8s\n", "", "cpu ns", "wall ns", "times");
    for (int i = 0; i < COUNT; i++) {
        printf("%-28s %10.2f %10.2f %8.2f\n", all[i].name, all[i].cpu,
               all[i].wall, all[i].wall / all[0].wall);
        nw_mpdata_free(all[i].solver);
    }
    // about 246 operations and 48 bytes a cell and step
    printf("blocked: %.1f Gflop/s, %.1f GB/s\n\n", 246 / all[0].wall,
           48 / all[0].wall);
}

/* For bench/mpdata/peers/run: reads a line, makes a step, and prints its
 * time. */
static void serve(char **size)
{
    const int64_t n[3] = {atoi(size[0]), atoi(size[1]), atoi(size[2])};
    struct contender c = {.fast = true, .threads = 1};

    make(&c, n);
    while (getchar() == '\n') {
        c.wall = 1e300;
        step(&c, (double)n[0] * (double)n[1] * (double)n[2]);
        printf("ns %.2f\n", c.wall);
    }
    nw_mpdata_free(c.solver);
}

int main(int argc, char **argv)
{
    int turns = argc > 1 ? atoi(argv[1]) : 11;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 5 && strcmp(argv[1], "step") == 0) {
        serve(argv + 2);
        return 0;
    }
    run((const int64_t[3]){128, 128, 64}, turns);
    run((const int64_t[3]){256, 256, 64}, turns);
    return 0;
}
