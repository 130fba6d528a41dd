/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench: starts a micro-benchmark, built for the MPI whose launcher is
 * given, or runs the benchmark of the channel, which needs no launcher. */
#include <nodewise/status.h>

#include "base/file.h"
#include "base/nearest.h"
#include "base/status.h"
#include "cli/bench_channel.h"
#include "cli/bench_comb.h"
#include "cli/child.h"
#include "cli/command.h"
#include "cli/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const benchmarks[] = {"pattern", "halo", "mpdata"};

/* The command line of nodewise bench, in parts. */
struct request {
    const char *name;
    char **own;          /* options of the benchmark, up to "--" */
    char **launcher;     /* words after "--" */
    char *output;        /* file of -o; NULL: standard output */
    char path[PATH_MAX]; /* path of the benchmark's program */
    char *figures; /* results of Comb for the option --comb of the benchmark
                      halo; NULL: none */
};

/* argp prints these options; the benchmark parses them. */
static const struct argp_option options[] = {
    {"host", 1, "SHAPE", 0,
     "With pattern: shape of the messages between hosts: 2d (default), 3d, col "
     "or none",
     0},
    {"gpu", 2, "SHAPE", 0,
     "With pattern: shape of the messages between GPUs: 2d, 3d, col or none "
     "(default)",
     0},
    {"weighted", 'w', NULL, 0,
     "With pattern: send more bytes along the first dimension", 0},
    {"bytes", 'b', "SIZE", 0, "With pattern: size of a message", 0},
    {"iterations", 'i', "N", 0,
     "With pattern: timed exchanges; with channel: iterations at each size; "
     "with halo, -i means --rounds",
     0},
    {"path", 3, "HOW", 0,
     "With pattern: how messages leave GPU memory: direct (by MPI), staged "
     "(copied through host memory) or auto (default: direct if MPI can)",
     0},
    {"cells", 'n', "LIST", 0,
     "With halo: cells along each side of a rank's cube", 0},
    {"radius", 'r', "LIST", 0, "With halo: numbers of ghost layers to measure",
     0},
    {"rounds", 5, "N", 0, "With halo or mpdata: number of repetitions", 0},
    {"forced", 6, NULL, 0,
     "With halo: also measure each method of Nodewise separately", 0},
    {"memory", 'm', "HH|HD|DH|DD", 0,
     "With channel: memory of sender and receiver: host (H) or GPU (D)", 0},
    {"protocol", 'p', "NAME", 0,
     "With channel: how messages are sent: auto (default), gather, pack, two, "
     "rendezvous or fetch",
     0},
    {"copy", 'c', "NAME", 0,
     "With channel: method that copies messages into GPU memory", 0},
    {"provider", 'f', "NAME", 0, "With channel: libfabric provider", 0},
    {"size", 7, "NxMxL", 0, "With mpdata: cells of the grid", 0},
    {"steps", 's', "N", 0, "With mpdata: steps of each repetition", 0},
    {"threads", 8, "N", 0, "With mpdata: threads of each rank", 0},
    {"output", 'o', "FILE", 0, "Write the result to FILE (- is stdout)", 1},
    {"json", 4, NULL, 0, "Print JSON", 1},
    {0},
};

/* Refuses all words: an option that stands before the benchmark's name, or a
 * missing name. bench_run() passes the command line on if a name comes first.
 */
static error_t bench_parse(int key, char *value, struct argp_state *state)
{
    (void)value;
    if (key > UCHAR_MAX && key != ARGP_KEY_NO_ARGS)
        return ARGP_ERR_UNKNOWN;
    nw_argfail(state, "the benchmark comes first, then its options; for "
                      "example: nodewise bench pattern -- mpirun -n 64");
    return EINVAL;
}

static const struct argp argp = {
    .options = options,
    .parser = bench_parse,
    .args_doc = "NAME [OPTION...] -- LAUNCHER [ARGUMENT...]",
    .doc = "Run a micro-benchmark under the launcher's MPI; NAME is pattern, "
           "halo, mpdata, or channel (which needs no launcher). "
           "The options are those of the benchmark (nodewise bench NAME "
           "--help).\v"
           "Example:\n  nodewise bench pattern --host 3d --bytes 1MB -- mpirun "
           "-n 64\n",
};

static nw_status bench_find_program(const char *name, const char *flavour,
                                    char path[PATH_MAX])
{
    char folder[64], stem[64];

    snprintf(folder, sizeof folder, "bench/%.30s/", name);
    snprintf(stem, sizeof stem, "nodewise-bench-%.30s", name);
    return nw_cli_find_program(folder, stem, flavour, path);
}

/* Removes `-o FILE` from the benchmark's options and stores FILE in
 * request->output. This process writes the file, because rank 0 may run on
 * another host. The freed words at the end become "--", which ends the
 * options. */
static nw_status take_output(struct request *request)
{
    static const char *const names[] = {"--output=", "-o"};
    char **from = request->own, **to = request->own;

    for (; *from && strcmp(*from, "--"); from++) {
        char *word = *from, *value = NULL;

        if (!strcmp(word, "-o") || !strcmp(word, "--output")) {
            value = *++from;
            if (!value || !strcmp(value, "--"))
                return nw_fail(NW_EINVAL, "%s needs a file", word);
        }
        for (int i = 0; i < 2 && !value; i++)
            if (!strncmp(word, names[i], strlen(names[i])))
                value = word + strlen(names[i]);
        if (value)
            request->output = value;
        else
            *to++ = word;
    }
    for (; to < from; to++)
        *to = (char *)"--";
    return nw_file_writable(request->output);
}

/* Returns the command to run: the launcher's words, the benchmark, its options,
 * and "--comb FIGURES" if request->figures is set; NULL if memory is exhausted.
 * The caller frees the array but not its words. */
static char **words_of(const struct request *request)
{
    static char comb[] = "--comb";
    size_t words = 0, count = 0;
    char **argv;

    while (request->launcher[words])
        words++;
    while (request->own[count] && strcmp(request->own[count], "--"))
        count++;
    argv = calloc(words + count + 4, sizeof *argv);
    if (!argv)
        return NULL;
    memcpy(argv, request->launcher, words * sizeof *argv);
    argv[words] = (char *)request->path;
    memcpy(argv + words + 1, request->own, count * sizeof *argv);
    if (request->figures) {
        argv[words + count + 1] = comb;
        argv[words + count + 2] = request->figures;
    }
    return argv;
}

struct bench_work {
    char **argv;
    int code;
};

/* Runs the command with its output to `fd`, the file for nw_file_write_by;
 * stores its exit status in work->code. */
static nw_status bench_run_into(void *user, int fd, const char *path)
{
    struct bench_work *work = user;

    work->code = nw_child_run(
        &(struct nw_child){.command = "bench", .argv = work->argv, .out = fd});
    if (!work->code && nw_child_signal())
        work->code = 128 + nw_child_signal();
    return work->code ? nw_fail(NW_EMPI,
                                "the benchmark failed: %s is not written", path)
                      : NW_OK;
}

static int bench_start(const struct request *request)
{
    struct bench_work work = {words_of(request), NW_EXIT_FAILED};
    nw_status status;

    if (!work.argv)
        return nw_cli_fail("bench", nw_fail(NW_ENOMEM, "out of memory"));
    status = nw_file_write_by(request->output ? request->output : "-",
                              bench_run_into, &work);
    free(work.argv);
    if (status && (request->output || !work.code))
        nw_cli_fail_output("bench", status);
    return status && !work.code ? NW_EXIT_FAILED : work.code;
}

/* Prints the help of the benchmark built for Open MPI, or else of that for
 * MPICH, and the option -o of nodewise bench. */
static int bench_help(const char *name)
{
    char path[PATH_MAX], option[] = "--help";
    char *argv[] = {path, option, NULL};
    int code;

    if (bench_find_program(name, "openmpi", path) &&
        bench_find_program(name, "mpich", path))
        return nw_cli_fail("bench", NW_ENODEV);
    code = nw_child_run(
        &(struct nw_child){.command = "bench", .argv = argv, .out = -1});
    if (!code)
        puts("\nnodewise bench itself takes -o, --output=FILE: the result goes "
             "there.");
    return code;
}

static nw_status check_benchmark(const char *name)
{
    struct nw_nearest nearest;

    nw_nearest_start(&nearest, name, strlen(name));
    nw_nearest_try(&nearest, "channel");
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++) {
        if (!strcmp(benchmarks[i], name))
            return NW_OK;
        nw_nearest_try(&nearest, benchmarks[i]);
    }
    return nw_fail(
        NW_EINVAL, "unknown benchmark '%s'; %s", name,
        nw_nearest_say(&nearest, "use pattern, halo, mpdata or channel"));
}

static nw_status find_flavour(char **launcher, const char **out)
{
    enum nw_launcher_kind kind;
    nw_status status = nw_launcher_find(launcher[0], &kind);

    if (status)
        return status;
    *out =
        kind == NW_LAUNCHER_NONE ? NULL : nw_launcher_flavour(kind, launcher);
    if (!*out)
        return nw_fail(NW_EINVAL,
                       "cannot find out which MPI the launcher '%s' belongs "
                       "to; use mpirun or mpiexec",
                       launcher[0]);
    return NW_OK;
}

/* Runs the benchmark, and before it Comb if the benchmark is halo, because the
 * benchmark prints the figures of both in one table. A failure of Comb is only
 * reported. */
static int start_beside(struct request *request)
{
    int code;
    struct nw_comb comb = {request->path, request->own, request->launcher,
                           NULL};

    if (!strcmp(request->name, "halo") && nw_bench_comb(&comb))
        fprintf(stderr, "nodewise bench: %s\n", nw_error_text());
    request->figures = comb.figures;
    code = bench_start(request);
    free(comb.figures);
    return code;
}

static int run_benchmark(struct request *request)
{
    const char *flavour = NULL;
    nw_status status;

    request->launcher = request->own;
    while (*request->launcher && strcmp(*request->launcher, "--"))
        request->launcher++;
    if (!*request->launcher || !*++request->launcher)
        return nw_cli_fail(
            "bench",
            nw_fail(NW_EINVAL, "the launcher is missing; for example: nodewise "
                               "bench pattern -- mpirun -n 64"));
    status = take_output(request);
    for (char **word = request->launcher; !status && *word; word++)
        status = nw_cli_spares("-o", request->output, *word);
    if (status == NW_EIO)
        return nw_cli_fail_output("bench", status);
    if (!status)
        status = find_flavour(request->launcher, &flavour);
    if (!status)
        status = bench_find_program(request->name, flavour, request->path);
    return status ? nw_cli_fail("bench", status) : start_beside(request);
}

static int bench_run(int argc, char **argv)
{
    struct request request = {.own = argv + 2};

    if (argc < 2 || argv[1][0] == '-') {
        argp_parse(&argp, argc, argv, 0, NULL, NULL);
        return NW_EXIT_USAGE;
    }
    request.name = argv[1];
    if (!strcmp(request.name, "channel"))
        return nw_bench_channel(argc - 1, argv + 1); /* needs no launcher */
    if (check_benchmark(request.name))
        return nw_cli_fail("bench", NW_EINVAL);
    if (argc == 3 && !strcmp(argv[2], "--help"))
        return bench_help(request.name);
    return run_benchmark(&request);
}

const struct nw_command nw_command_bench = {
    "bench", "run a micro-benchmark under the launcher's MPI", &argp,
    bench_run};
