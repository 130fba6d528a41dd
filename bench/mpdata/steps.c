/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * nodewise bench mpdata: measures the time of a step of the divided solver. The
 * variants take turns: with and without overlap of the exchange, with the 17
 * stages one after the other, in single precision, and with the faster
 * division. Each turn consists of a barrier and a few steps, and the time of
 * the slowest rank counts. Every variant begins and ends with the same sum of h
 * x.
 */
#include "mpdata/program/job.h"
#include "../parse.h"
#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <argp.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_SIZE 0x2001
#define KEY_ROUNDS 0x2002
#define KEY_THREADS 0x2003
#define KEY_JSON 0x2004

struct arguments {
    int64_t size[3];
    int32_t steps, rounds, threads;
    bool json;
};

static const struct argp_option options[] = {
    {"size", KEY_SIZE, "NxMxL", 0, "Cells of the whole grid (128x128x64)", 0},
    {"steps", 's', "N", 0, "Steps of each round (2)", 0},
    {"rounds", KEY_ROUNDS, "N", 0,
     "Timed rounds, after one that is not timed (11)", 0},
    {"threads", KEY_THREADS, "N", 0,
     "Threads of each rank (its share of cores)", 0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {0},
};

static bool parse_size(char *words, int64_t out[3])
{
    for (int a = 0; a < 3; a++) {
        char *word = strsep(&words, "x");

        if (!word || !nw_parse_i64(word, &out[a]) || out[a] < 1)
            return false;
    }
    return !words;
}

static int32_t *number_of(int key, struct arguments *arguments)
{
    switch (key) {
    case 's':
        return &arguments->steps;
    case KEY_ROUNDS:
        return &arguments->rounds;
    case KEY_THREADS:
        return &arguments->threads;
    default:
        return NULL;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    int32_t *number = number_of(key, arguments);

    if (key == KEY_JSON) {
        arguments->json = true;
        return 0;
    }
    if (key != KEY_SIZE && !number)
        return ARGP_ERR_UNKNOWN;
    if (key == KEY_SIZE ? parse_size(strdupa(value), arguments->size)
                        : nw_parse_i32(value, number) && *number > 0)
        return 0;
    for (const struct argp_option *one = options; one->name; one++)
        if (one->key == key)
            argp_error(state, "--%s is %s, not '%s'", one->name,
                       key == KEY_SIZE ? "three numbers such as 64x64x32"
                                       : "a number from 1",
                       value);
    return EINVAL; /* ranks that print no message return here */
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Time steps of MPDATA on a grid that is divided over the ranks: "
           "periodic, limited, two passes.\v"
           "Example:\n  nodewise bench mpdata --size 256x256x64 -- mpirun -n "
           "4\n",
};

struct way {
    const char *name;
    bool blocking, single, fast;
    enum nw_mpdata_path path;
    struct nw_mp_settings settings;
    struct nw_mp_job job;
    double *seconds;               /* time of a step in each turn */
    double median, quartile[2];    /* in ns per cell and step */
    struct nw_mpdata_summary sums; /* sums at the beginning */
};

static struct way ways[] = {
    {.name = "overlapped"},
    {.name = "not overlapped", .blocking = true},
    {.name = "17 stages", .path = NW_MPDATA_STAGES},
    {.name = "single", .single = true},
    {.name = "fast", .fast = true},
};
enum { WAYS = sizeof ways / sizeof *ways };

static nw_status begin(struct way *way, const struct arguments *arguments)
{
    struct nw_mp_settings *s = &way->settings;
    nw_status status;

    *s = (struct nw_mp_settings){
        .options = NW_MPDATA_OPTIONS_INIT,
        .name = "wave",
        .steps = -1,
        .arrange = "none",
        .blocking = way->blocking,
    };
    memcpy(s->size, arguments->size, sizeof s->size);
    s->options.limited = true;
    s->options.single = way->single;
    s->options.fast = way->fast;
    s->options.path = way->path;
    s->options.threads = arguments->threads;
    status = nw_mp_begin(&way->job, s);
    if (status)
        return status;
    way->seconds = calloc((size_t)arguments->rounds, sizeof *way->seconds);
    status =
        nw_mp_agree(MPI_COMM_WORLD,
                    way->seconds ? NW_OK : nw_fail(NW_ENOMEM, "out of memory"));
    way->sums = nw_mp_sum(&way->job);
    return status;
}

/* The time in seconds of a step on the slowest rank. */
static double turn(struct way *way, int32_t steps)
{
    MPI_Barrier(MPI_COMM_WORLD);
    double seconds = MPI_Wtime();
    for (int32_t i = 0; i < steps; i++)
        if (nw_mp_step(&way->job)) {
            fprintf(stderr, "nodewise bench mpdata: %s\n", nw_error_text());
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
    seconds = (MPI_Wtime() - seconds) / steps;
    MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    return seconds;
}

/* Checks that the steps kept the sum; with single precision, only up to
 * rounding. */
static nw_status check(const struct way *way)
{
    struct nw_mpdata_summary now = nw_mp_sum(&way->job);
    double error = fabs(now.mass / way->sums.mass - 1);

    return error < (way->single ? 1e-4 : 1e-11)
               ? NW_OK
               : nw_fail(NW_EMPI, "%s: the sum of h x was %.17g and is %.17g",
                         way->name, way->sums.mass, now.mass);
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return (difference > 0) - (difference < 0);
}

static void summarise(struct way *way, int32_t rounds)
{
    const int64_t *n = way->job.grid.n;
    double scale = 1e9 / ((double)n[0] * (double)n[1] * (double)n[2]);

    qsort(way->seconds, (size_t)rounds, sizeof *way->seconds, by_value);
    way->median = scale * way->seconds[rounds / 2];
    way->quartile[0] = scale * way->seconds[rounds / 4];
    way->quartile[1] = scale * way->seconds[rounds - 1 - rounds / 4];
}

static nw_status measure(const struct arguments *arguments)
{
    nw_status status = NW_OK;

    for (int i = 0; i < WAYS && !status; i++)
        status = begin(&ways[i], arguments);
    for (int32_t round = -1; round < arguments->rounds && !status; round++)
        for (int i = 0; i < WAYS; i++) {
            double seconds = turn(&ways[i], arguments->steps);
            if (round >= 0)
                ways[i].seconds[round] = seconds;
        }
    for (int i = 0; i < WAYS && !status; i++) {
        summarise(&ways[i], arguments->rounds);
        status = nw_mp_agree(MPI_COMM_WORLD, check(&ways[i]));
    }
    return status;
}

static void print_text(const struct arguments *arguments)
{
    const struct nw_mp_job *job = &ways[0].job;
    const struct nw_mp_grid *g = &job->grid;

    printf("%lld x %lld x %lld cells, %d rank%s as %d x %d, %d thread%s each, "
           "median of %d turns of %d step%s%s%s\n",
           (long long)g->n[0], (long long)g->n[1], (long long)g->n[2], g->size,
           g->size == 1 ? "" : "s", g->parts[0], g->parts[1],
           job->solver->threads, job->solver->threads == 1 ? "" : "s",
           arguments->rounds, arguments->steps,
           arguments->steps == 1 ? "" : "s", job->halo ? "; exchange " : "",
           job->halo ? nw_halo_words(job->halo) : "");
    printf("%-16s %10s %21s %8s\n", "", "ns a cell", "quartiles", "times");
    for (int i = 0; i < WAYS; i++)
        printf("%-16s %10.2f %10.2f %10.2f %8.2f\n", ways[i].name,
               ways[i].median, ways[i].quartile[0], ways[i].quartile[1],
               ways[i].median / ways[0].median);
}

static void print_json(const struct arguments *arguments)
{
    const struct nw_mp_job *job = &ways[0].job;
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.bench.mpdata/1");
    nw_json_flat_array(&json, "cells");
    for (int a = 0; a < 3; a++)
        nw_json_integer(&json, NULL, job->grid.n[a]);
    nw_json_end_array(&json);
    nw_json_integer(&json, "ranks", job->grid.size);
    nw_json_integer(&json, "threads", job->solver->threads);
    nw_json_integer(&json, "rounds", arguments->rounds);
    nw_json_integer(&json, "steps", arguments->steps);
    if (job->halo)
        nw_json_string(&json, "exchange", nw_halo_words(job->halo));
    nw_json_array(&json, "ways");
    for (int i = 0; i < WAYS; i++) {
        nw_json_flat_object(&json, NULL);
        nw_json_string(&json, "name", ways[i].name);
        nw_json_number(&json, "ns_per_cell_and_step", ways[i].median);
        nw_json_number(&json, "lower_quartile", ways[i].quartile[0]);
        nw_json_number(&json, "upper_quartile", ways[i].quartile[1]);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    fputs(text.data ? text.data : "", stdout);
    nw_text_fini(&text);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .size = {128, 128, 64}, .steps = 2, .rounds = 11};
    nw_status status;
    int level;

    bench_parse(&argp, "nodewise bench mpdata", argc, argv, &arguments);
    MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level);
    status = measure(&arguments);
    if (!status && !ways[0].job.grid.rank)
        (arguments.json ? print_json : print_text)(&arguments);
    fflush(stdout);
    for (int i = 0; i < WAYS; i++) {
        if (ways[i].settings.name)
            nw_mp_end(&ways[i].job);
        free(ways[i].seconds);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return status ? nw_mp_exit_code(status) : 0;
}
