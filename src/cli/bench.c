/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise bench: starts a micro-benchmark, built for the MPI whose launcher is
 * given. */
#include <nodewise/status.h>

#include "base/status.h"
#include "base/own.h"
#include "cli/bench_channel.h"
#include "cli/bench_comb.h"
#include "cli/command.h"
#include "cli/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const benchmarks[] = {"pattern", "halo"};

/* Told here, read by the benchmark. */
static const struct argp_option options[] = {
    {"host", 1, "SHAPE", 0, "pattern: between hosts, 2d, 3d, col or none", 0},
    {"gpu", 2, "SHAPE", 0, "pattern: between GPUs", 0},
    {"weighted", 'w', NULL, 0, "pattern: more along the first dimension", 0},
    {"bytes", 'b', "SIZE", 0, "pattern: size of a message", 0},
    {"iterations", 'i', "N", 0, "pattern: exchanges that are timed", 0},
    {"path", 3, "PATH", 0, "pattern: GPU messages direct or staged", 0},
    {"cells", 'n', "LIST", 0, "halo: cells a side of each rank", 0},
    {"radius", 'r', "LIST", 0, "halo: radii", 0},
    {"rounds", 5, "N", 0, "halo: turns of five exchanges", 0},
    {"forced", 6, NULL, 0, "halo: each of our methods as well", 0},
    {"memory", 'm', "HH|HD|DH|DD", 0, "channel: sender's and receiver's", 0},
    {"protocol", 'p', "NAME", 0, "channel: how messages are sent", 0},
    {"copy", 'c', "NAME", 0, "channel: how they come into GPU memory", 0},
    {"provider", 'f', "NAME", 0, "channel: libfabric's provider", 0},
    {"json", 4, NULL, 0, "Print JSON (not channel)", 0},
    {0},
};

static const struct argp argp = {
    .options = options,
    .args_doc = "NAME [OPTION...] -- LAUNCHER [ARGUMENT...]",
    .doc = "Run a micro-benchmark under the launcher's MPI; NAME is pattern, "
           "halo or channel (which needs no launcher). "
           "The options are those of the benchmark (nodewise bench NAME "
           "--help).\v"
           "Example:\n  nodewise bench pattern --host 3d --bytes 1MB -- mpirun "
           "-n 64\n",
};

static nw_status find_program(const char *name, const char *flavour,
                              char path[PATH_MAX])
{
    char program[96], beside[160];

    snprintf(program, sizeof program, "nodewise-bench-%.30s-%.30s", name,
             flavour);
    snprintf(beside, sizeof beside, "bench/%.30s/%s", name, program);
    if (nw_own_find(beside, program, X_OK, path))
        return NW_OK;
    return nw_fail(NW_ENODEV, "nodewise-bench-%s-%s is not installed", name,
                   flavour);
}

/* The launcher's words, then the program, then its options and the last two. */
static int start(const char *path, char **own, char **launcher,
                 const char *figures)
{
    char comb[] = "--comb";
    size_t words = 0, count = 0;
    char **argv;

    while (launcher[words])
        words++;
    while (own[count] && strcmp(own[count], "--"))
        count++;
    argv = calloc(words + count + 4, sizeof *argv);
    if (!argv)
        return nw_cli_fail("bench", nw_fail(NW_ENOMEM, "out of memory"));
    memcpy(argv, launcher, words * sizeof *argv);
    argv[words] = (char *)path;
    memcpy(argv + words + 1, own, count * sizeof *argv);
    if (figures) {
        argv[words + count + 1] = comb;
        argv[words + count + 2] = (char *)figures;
    }
    fflush(NULL);
    execvp(argv[0], argv);
    fprintf(stderr, "nodewise bench: cannot run '%s': %s\n", argv[0],
            strerror(errno));
    free(argv);
    return NW_EXIT_FAILED;
}

/* Help comes from the benchmark itself, of either flavour. */
static int help(const char *name)
{
    char path[PATH_MAX], option[] = "--help";

    if (find_program(name, "openmpi", path) &&
        find_program(name, "mpich", path))
        return nw_cli_fail("bench", NW_ENODEV);
    fflush(NULL);
    execv(path, (char *[]){path, option, NULL});
    return nw_cli_fail("bench", nw_fail(NW_ENODEV, "cannot run '%s': %s", path,
                                        strerror(errno)));
}

static bool is_benchmark(const char *name)
{
    for (size_t i = 0; i < sizeof benchmarks / sizeof *benchmarks; i++)
        if (!strcmp(benchmarks[i], name))
            return true;
    return false;
}

static nw_status find_flavour(char **launcher, const char **out)
{
    enum nw_launcher kind;
    nw_status status = nw_launcher_find(launcher[0], &kind);

    if (status)
        return status;
    *out =
        kind == NW_LAUNCHER_NONE ? NULL : nw_launcher_flavour(kind, launcher);
    if (!*out)
        return nw_fail(NW_EINVAL,
                       "'%s' is no launcher that tells its MPI; name mpirun or "
                       "mpiexec",
                       launcher[0]);
    return NW_OK;
}

/* Comb goes first, since the benchmark tells of all in one table. */
static int start_beside(const char *name, char *path, char **own,
                        char **launcher)
{
    int code;
    struct nw_comb comb = {path, own, launcher, NULL};

    if (!strcmp(name, "halo") && nw_bench_comb(&comb))
        fprintf(stderr, "nodewise bench: %s\n", nw_error_text());
    code = start(path, own, launcher, comb.figures);
    free(comb.figures);
    return code;
}

static int run(int argc, char **argv)
{
    char path[PATH_MAX], **launcher = argv + 1;
    const char *flavour = NULL;
    nw_status status;

    /* the options belong to the benchmark: argp sees only its own */
    if (argc < 2 || argv[1][0] == '-') {
        argp_parse(&argp, argc < 2 ? argc : 2, argv, 0, NULL, NULL);
        fputs("nodewise bench: which one? nodewise bench pattern -- mpirun -n "
              "64\n",
              stderr);
        return NW_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "channel"))
        return nw_bench_channel(argc - 1, argv + 1); /* needs no launcher */
    if (!is_benchmark(argv[1]))
        return nw_cli_fail("bench", nw_fail(NW_EINVAL,
                                            "there is no benchmark '%s'; there "
                                            "is pattern, halo, channel",
                                            argv[1]));
    if (argc == 3 && !strcmp(argv[2], "--help"))
        return help(argv[1]);
    while (*launcher && strcmp(*launcher, "--"))
        launcher++;
    if (!*launcher || !*++launcher)
        return nw_cli_fail("bench",
                           nw_fail(NW_EINVAL, "under which launcher? -- mpirun "
                                              "-n 64"));
    status = find_flavour(launcher, &flavour);
    if (!status)
        status = find_program(argv[1], flavour, path);
    return status ? nw_cli_fail("bench", status)
                  : start_beside(argv[1], path, argv + 2, launcher);
}

const struct nw_command nw_command_bench = {
    "bench", "run a micro-benchmark under the launcher's MPI", &argp, run};
