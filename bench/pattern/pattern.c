/* SPDX-License-Identifier: BSD-3-Clause */
/* The micro-benchmarks of the MAGC paper as an MPI program: a stencil or a
 * collective in sub-communicators between hosts, another between GPUs, or both
 * at once. Everything that is received in the first and the last exchange is
 * checked. */
#include "layer.h"
#include "../parse.h"

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"

#include <argp.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_ABSENT = 4 };
enum path { PATH_AUTO, PATH_DIRECT, PATH_STAGED };

#define KEY_HOST 0x2001
#define KEY_GPU 0x2002
#define KEY_JSON 0x2003
#define KEY_PATH 0x2004

struct arguments {
    enum shape shape[2]; /* host, GPU */
    enum path path;
    bool weighted, json;
    size_t bytes;
    int iterations;
};

static const char *const shape_names[] = {"none", "2d", "3d", "col"};

static const struct argp_option options[] = {
    {"host", KEY_HOST, "SHAPE", 0,
     "Messages between hosts: 2d (default), 3d, col or none", 0},
    {"gpu", KEY_GPU, "SHAPE", 0,
     "Messages between GPUs: 2d, 3d, col or none (default)", 0},
    {"weighted", 'w', NULL, 0,
     "Stencils send three times as much along the first dimension", 0},
    {"bytes", 'b', "SIZE", 0, "Size of a message, such as 64KiB (1MB)", 0},
    {"iterations", 'i', "N", 0, "Timed exchanges (10)", 0},
    {"path", KEY_PATH, "HOW", 0,
     "How MPI sends GPU memory: direct (MPI gets GPU addresses), staged "
     "(copied through host memory) or auto (default: direct if MPI says that "
     "it can)",
     0},
    {"json", KEY_JSON, NULL, 0, "Print JSON", 0},
    {0},
};

/* The index of `value` in the list; -1 if it is not there. */
static int find_name(const char *const *names, int count, const char *value)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], value))
            return i;
    return -1;
}

static bool parse_path(const char *value, enum path *out)
{
    static const char *const names[] = {"auto", "direct", "staged"};
    int i = find_name(names, 3, value);

    *out = i < 0 ? PATH_AUTO : (enum path)i;
    return i >= 0;
}

static bool parse_shape(const char *value, enum shape *out)
{
    int i = find_name(shape_names, 4, value);

    *out = i < 0 ? SHAPE_NONE : (enum shape)i;
    return i >= 0;
}

/* Parses the size of a message. Counts of MPI are int, and a message may be
 * three times as long. */
static bool parse_size(const char *value, size_t *out)
{
    double bytes;

    if (!nw_parse_quantity(value, NW_UNIT_BYTES, &bytes) || bytes > 700e6)
        return false;
    *out = (size_t)bytes;
    return true;
}

static bool parse_count(const char *value, int *out)
{
    int32_t number;

    if (!nw_parse_i32(value, &number) || number < 1)
        return false;
    *out = number;
    return true;
}

static bool parse_value(int key, const char *value, struct arguments *arguments)
{
    switch (key) {
    case KEY_HOST:
        return parse_shape(value, &arguments->shape[0]);
    case KEY_GPU:
        return parse_shape(value, &arguments->shape[1]);
    case 'b':
        return parse_size(value, &arguments->bytes);
    case 'i':
        return parse_count(value, &arguments->iterations);
    case KEY_PATH:
        return parse_path(value, &arguments->path);
    default:
        return false;
    }
}

static void refuse(int key, const char *value, struct argp_state *state)
{
    const char *values = key == 'b'        ? "a size up to 700MB"
                         : key == 'i'      ? "a number from 1"
                         : key == KEY_PATH ? "direct, staged or auto"
                                           : "2d, 3d, col or none";

    for (const struct argp_option *one = options; one->name; one++)
        if (one->key == key)
            argp_error(state, "--%s is %s, not '%s'", one->name, values, value);
    if (key == ARGP_KEY_ARG)
        argp_error(state, "'%s' is not an option", value);
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 'w':
        arguments->weighted = true;
        return 0;
    case KEY_JSON:
        arguments->json = true;
        return 0;
    case KEY_HOST:
    case KEY_GPU:
    case KEY_PATH:
    case 'b':
    case 'i':
    case ARGP_KEY_ARG:
        if (parse_value(key, value, arguments))
            return 0;
        refuse(key, value, state);
        return EINVAL; /* ranks that print no message return here */
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .doc = "Exchange messages between hosts and between GPUs, and tell how "
           "long that takes.\v"
           "Example:\n  mpirun -n 64 nodewise-bench-pattern --host 3d --gpu "
           "col --bytes 1MB\n",
};

/* Ends all ranks with the same code if one has failed; only rank 0 prints its
 * message, if it has failed. */
static void end_if(bool failed, int code)
{
    int rank, any = failed;

    MPI_Allreduce(MPI_IN_PLACE, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!any)
        return;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (failed && rank == 0)
        fprintf(stderr, "bench pattern: %s\n", nw_error_text());
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    exit(code);
}

/* Whether the MPI library accepts addresses of GPU memory, as Open MPI and
 * MPICH report by these functions. */
static bool mpi_takes_gpu_memory(void)
{
    int (*query)(void) =
        (int (*)(void))dlsym(RTLD_DEFAULT, "MPIX_Query_cuda_support");

    return query && query() == 1;
}

static void open_gpu(const struct arguments *arguments)
{
    MPI_Comm node;
    int32_t count = 0;
    int local;
    bool failed;

    if (arguments->shape[1] == SHAPE_NONE)
        return;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &node);
    MPI_Comm_rank(node, &local);
    MPI_Comm_free(&node);
    failed = nw_gpu_cuda.open(&count);
    end_if(failed, EXIT_ABSENT);
    end_if(nw_gpu_cuda.select(local % count), EXIT_FAILURE);
}

static void make_layers(const struct arguments *arguments,
                        struct layer layer[2])
{
    bool staged = arguments->path == PATH_STAGED ||
                  (arguments->path == PATH_AUTO && !mpi_takes_gpu_memory());

    for (int i = 0; i < 2; i++) {
        struct request request = {
            .shape = arguments->shape[i],
            .gpu = i ? &nw_gpu_cuda : NULL,
            .staged = i && staged && arguments->shape[i],
            .weighted = arguments->weighted,
            .bytes = arguments->bytes,
            .seed = i + 1,
        };

        end_if(!layer_init(&layer[i], &request), EXIT_FAILURE);
    }
}

/* Exchanges in both layers at once; stencils are started first, since a
 * collective blocks. A rank that fails here ends the others, which would wait
 * for it. */
static void exchange(struct layer layer[2])
{
    int first = layer[0].request.shape == SHAPE_COL;

    if (layer_start(&layer[first]) && layer_start(&layer[!first]) &&
        layer_finish(&layer[0]) && layer_finish(&layer[1]))
        return;
    fprintf(stderr, "bench pattern: %s\n", nw_error_text());
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

static void exchange_and_check(struct layer layer[2], int round)
{
    int64_t wrong = 0;
    bool failed =
        !layer_fill(&layer[0], round) || !layer_fill(&layer[1], round);

    end_if(failed, EXIT_FAILURE);
    exchange(layer);
    for (int i = 0; i < 2; i++) {
        int64_t count = layer_check(&layer[i], round);

        end_if(count < 0, EXIT_FAILURE);
        wrong += count;
    }
    MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM,
                  MPI_COMM_WORLD);
    if (wrong)
        (void)nw_fail(NW_EMPI, "%lld bytes arrived wrong in round %d",
                      (long long)wrong, round);
    end_if(wrong, EXIT_FAILURE);
}

static double run(const struct arguments *arguments, struct layer layer[2])
{
    double begun, seconds;

    exchange_and_check(layer, 0);
    MPI_Barrier(MPI_COMM_WORLD);
    /* so that a profiler records only what is timed */
    MPI_Pcontrol(1);
    begun = MPI_Wtime();
    for (int i = 0; i < arguments->iterations; i++)
        exchange(layer);
    seconds = (MPI_Wtime() - begun) / arguments->iterations;
    MPI_Pcontrol(0);
    exchange_and_check(layer, 1);
    return seconds;
}

static int by_value(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;

    return (difference > 0) - (difference < 0);
}

struct times {
    double min, median, max;
};

static void print_text(const struct arguments *arguments,
                       const struct layer layer[2], int size,
                       const struct times *times)
{
    printf("%d ranks, %zu bytes a message%s, %d iterations\n", size,
           arguments->bytes,
           arguments->weighted ? ", three times it along the first dimension"
                               : "",
           arguments->iterations);
    for (int i = 0; i < 2; i++)
        if (arguments->shape[i])
            printf("%s: %s on %d x %d x %d%s\n", i ? "GPUs" : "hosts",
                   shape_names[arguments->shape[i]], layer[i].dims[0],
                   layer[i].dims[1], layer[i].dims[2],
                   layer[i].request.staged ? ", staged through host memory"
                                           : "");
    printf("seconds per iteration over the ranks: min %.6g, median %.6g, max "
           "%.6g\n",
           times->min, times->median, times->max);
}

static void print_json(const struct arguments *arguments,
                       const struct layer layer[2], int size,
                       const struct times *times)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.bench.pattern/1");
    nw_json_integer(&json, "ranks", size);
    nw_json_string(&json, "host", shape_names[arguments->shape[0]]);
    nw_json_string(&json, "gpu", shape_names[arguments->shape[1]]);
    nw_json_bool(&json, "staged", layer[1].request.staged);
    nw_json_bool(&json, "weighted", arguments->weighted);
    nw_json_unsigned(&json, "bytes", arguments->bytes);
    nw_json_integer(&json, "iterations", arguments->iterations);
    nw_json_number(&json, "min", times->min);
    nw_json_number(&json, "median", times->median);
    nw_json_number(&json, "max", times->max);
    nw_json_end_object(&json);
    fputs(text.data, stdout);
    nw_text_fini(&text);
}

static void report(const struct arguments *arguments,
                   const struct layer layer[2], double seconds)
{
    int rank, size;
    double *all;
    struct times times;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    all = calloc((size_t)size, sizeof *all);
    if (!all)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    MPI_Gather(&seconds, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    qsort(all, (size_t)size, sizeof *all, by_value);
    times = (struct times){all[0], all[size / 2], all[size - 1]};
    if (rank == 0)
        (arguments->json ? print_json : print_text)(arguments, layer, size,
                                                    &times);
    free(all);
}

int main(int argc, char **argv)
{
    struct arguments arguments = {
        .shape = {SHAPE_2D, SHAPE_NONE}, .bytes = 1000000, .iterations = 10};
    struct layer layer[2];

    bench_parse(&argp, "nodewise bench pattern", argc, argv, &arguments);
    MPI_Init(NULL, NULL);
    MPI_Pcontrol(0);
    open_gpu(&arguments);
    make_layers(&arguments, layer);
    report(&arguments, layer, run(&arguments, layer));
    layer_fini(&layer[0]);
    layer_fini(&layer[1]);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
