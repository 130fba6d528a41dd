/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise probe: measures between the ranks of a job, and writes a machine
 * with the measured figures. */
#include <nodewise/probe.h>

#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/probe_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MPI 0x2001
#define KEY_TIME 0x2002
#define KEY_PATIENCE 0x2003
#define KEY_MATRIX 0x2004
#define KEY_HOST_ONLY 0x2005

struct probe_arguments {
    struct nw_common common;
    struct nw_probe_run run;
    const char *matrix;
};

static const struct argp_option options[] = {
    {"mpi", KEY_MPI, "FLAVOUR", 0,
     "MPI of the launcher, openmpi or mpich (default: found from its version)",
     0},
    {"time", KEY_TIME, "TIME", 0,
     "Measure for at most this long (default: 60s); links that are left over "
     "get the median figures of their level",
     0},
    {"patience", KEY_PATIENCE, "TIME", 0,
     "Leave out ranks that do not answer within this time (default: 10s)", 0},
    {"matrix", KEY_MATRIX, "FILE", 0,
     "Also write a matrix of the time in microseconds for 1 MiB between each "
     "two ranks, for at most 1024 ranks",
     0},
    {"host-only", KEY_HOST_ONLY, NULL, 0, "Do not measure GPU memory", 0},
    {0},
};

static double parse_time(const char *name, const char *value,
                         struct argp_state *state)
{
    double seconds;

    if (!nw_parse_duration(value, &seconds) || seconds <= 0 || seconds > 1e6)
        nw_argfail(state, "%s is a time such as 30s, not '%s'", name, value);
    return seconds;
}

static const struct nw_common_help probe_help = {
    .output = "Write the cluster file to FILE (- is stdout)",
    .json = NW_COMMON_JSON,
    .progress = NW_COMMON_PROGRESS,
    .quiet = "No table and no progress",
    .verbose = "Print each step on stderr",
};

static error_t probe_parse(int key, char *value, struct argp_state *state)
{
    static const char *const flavours[] = {"openmpi", "mpich", NULL};
    struct probe_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &probe_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_MPI:
        nw_argchoose(state, "--mpi", value, flavours);
        arguments->run.flavour = value;
        return 0;
    case KEY_TIME:
        arguments->run.seconds = parse_time("--time", value, state);
        return 0;
    case KEY_PATIENCE:
        arguments->run.patience = parse_time("--patience", value, state);
        return 0;
    case KEY_MATRIX:
        arguments->matrix = value;
        return 0;
    case KEY_HOST_ONLY:
        arguments->run.host_only = true;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->run.launcher = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->run.launcher)
            nw_argfail(state, "the launcher is missing; for example: nodewise "
                              "probe -- mpirun -n 8");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = probe_parse,
    .args_doc = "-- LAUNCHER [ARGUMENT...]",
    .doc = "Measure latency and bandwidth between all ranks of a job and write "
           "the cluster file that they describe. The launcher is given "
           "without a program.\v"
           "Example:\n  nodewise probe -o cluster.yaml -- mpirun -n 64 "
           "--hostfile hosts\n",
    .children = nw_common_children,
};

#define MOST_RANKS 1024

/* Writes the matrix of --matrix, if given. */
static nw_status write_matrix(const struct probe_arguments *arguments,
                              const nw_probe *probe)
{
    char *text;
    nw_status status;

    if (!arguments->matrix)
        return NW_OK;
    if (nw_probe_rank_count(probe) > MOST_RANKS)
        return nw_fail(NW_EINVAL, "a matrix has up to %d ranks, the job has %d",
                       MOST_RANKS, nw_probe_rank_count(probe));
    status = nw_probe_matrix(probe, &text);
    if (status)
        return status;
    status = nw_file_write(arguments->matrix, text, strlen(text));
    free(text);
    return status;
}

/* Prints which measurements are missing and why. */
static void say_troubles(const nw_probe *probe)
{
    char *text = NULL, *line, *end;

    if (!nw_probe_is_done(probe))
        fputs("nodewise probe: the job ended early; the results use the "
              "measurements that were finished\n",
              stderr);
    if (nw_probe_troubles(probe, &text) || !text)
        return;
    for (line = text; (end = strchr(line, '\n')); line = end + 1)
        fprintf(stderr, "nodewise probe: %.*s\n", (int)(end - line), line);
    free(text);
}

static int probe_tell(const struct probe_arguments *arguments,
                      const nw_probe *probe)
{
    char *cluster = NULL, *summary = NULL, *json = NULL;
    nw_status status = nw_probe_cluster(probe, &cluster);
    int code;

    if (!status)
        status = nw_probe_summary(probe, &summary);
    if (!status)
        status = nw_probe_json(probe, &json);
    if (!status)
        say_troubles(probe);
    if (status)
        code = nw_cli_fail("probe", status);
    else
        code =
            nw_cli_output("probe", &arguments->common, cluster, summary, json);
    if (!code) {
        status = write_matrix(arguments, probe);
        code = status ? nw_cli_fail_output("probe", status) : NW_EXIT_DONE;
    }
    free(cluster);
    free(summary);
    free(json);
    return code;
}

/* Writes the results of the job, if there are any. `code` is the launcher's
 * exit status. */
static int probe_conclude(const struct probe_arguments *arguments,
                          const nw_probe *probe, int code)
{
    if (!nw_probe_host_count(probe)) {
        fprintf(stderr,
                "nodewise probe: nothing was measured: '%s' ended with status "
                "%d%s\n",
                arguments->run.launcher[0], code,
                code ? "" : " (the launcher is given without a program)");
        return NW_EXIT_FAILED;
    }
    return probe_tell(arguments, probe);
}

/* Checks the output files before measuring, which takes minutes. */
static nw_status check_outputs(const struct probe_arguments *arguments)
{
    bool shown = !arguments->common.output && !arguments->common.json;
    const struct nw_cli_file file[] = {{"the machine", shown ? "-" : NULL},
                                       {"--matrix", arguments->matrix}};
    nw_status status = nw_cli_apart(&arguments->common, file, 2);

    for (char **word = arguments->run.launcher; !status && *word; word++) {
        status = nw_cli_output_spares(&arguments->common, *word);
        if (!status)
            status = nw_cli_spares("--matrix", arguments->matrix, *word);
    }
    return status;
}

static int probe_run(int argc, char **argv)
{
    struct probe_arguments arguments = {.run = {.seconds = 60, .patience = 10}};
    nw_probe *probe = NULL;
    nw_status status;
    int code = 0;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    status = check_outputs(&arguments);
    if (status)
        return status == NW_EIO ? nw_cli_fail_output("probe", status)
                                : nw_cli_fail("probe", status);
    arguments.run.verbose = arguments.common.verbose;
    arguments.run.progress = nw_cli_progress(&arguments.common);
    status = nw_probe_new(&probe);
    if (!status)
        status = nw_probe_run_job(&arguments.run, probe, &code);
    nw_cli_progress_finish();
    code = status ? nw_cli_fail("probe", status)
                  : probe_conclude(&arguments, probe, code);
    nw_probe_free(probe);
    return code;
}

const struct nw_command nw_command_probe = {
    "probe", "measure the links between the ranks of a job", &argp, probe_run};
