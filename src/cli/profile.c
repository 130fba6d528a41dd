/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise profile: runs the user's MPI command with a library preloaded into
 * its ranks that counts messages, and writes the recorded pattern to a file. */
#include <nodewise/profile.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/preload.h"
#include "cli/profile_nccl.h"
#include "cli/profile_output.h"

#include <glob.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define KEY_MPI 0x2001
#define KEY_COLLECTIVES 0x2002
#define KEY_MERGE 0x2003
#define KEY_NCCL 0x2004
#define KEY_PHASES 0x2005

struct profile_arguments {
    struct nw_common common;
    const char *mpi;
    const char *collectives;
    const char *merge;
    const char *phases; /* value of --phases; NULL: not given */
    bool nccl;
    char **command;
};

static const struct argp_option options[] = {
    {"mpi", KEY_MPI, "FLAVOUR", 0,
     "MPI of the program: openmpi, mpich or mpiabi (default: found from "
     "launcher "
     "and program)",
     0},
    {"collectives", KEY_COLLECTIVES, "MODELS", 0,
     "Algorithms that turn collective calls into messages, such as "
     "allreduce:ring,bcast:binomial; off: leave collective calls out",
     0},
    {"merge", KEY_MERGE, "FILE", 0,
     "Run nothing: join the part files that ranks left beside FILE when their "
     "program failed",
     0},
    {"nccl", KEY_NCCL, NULL, 0,
     "Record the NCCL calls of a program without MPI, such as a job of "
     "torchrun, by NCCL's profiler plug-in",
     0},
    {"phases", KEY_PHASES, "DURATION", OPTION_ARG_OPTIONAL,
     "Also write a pattern of each phase, FILE.phase-N: MPI_Pcontrol(N) begins "
     "phase N, or each phase lasts DURATION",
     0},
    {0},
};

static void take_phases(struct profile_arguments *arguments, const char *value,
                        struct argp_state *state)
{
    double seconds;

    if (value && (!nw_parse_duration(value, &seconds) || seconds < 1e-6))
        nw_argfail(state, "--phases is a time such as 10s or 500ms, not '%s'",
                   value);
    arguments->phases = value ? value : "pcontrol";
}

static const struct nw_common_help profile_help = {
    .output = "Write the pattern to FILE (not to stdout)",
    .quiet = "No summary of the profile",
};

static error_t profile_parse(int key, char *value, struct argp_state *state)
{
    struct profile_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &profile_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_MPI:
        arguments->mpi = nw_preload_flavour(state, value);
        return 0;
    case KEY_COLLECTIVES:
        if (nw_profile_check_models(value))
            nw_argfail(state, "--collectives: %s", nw_error_text());
        arguments->collectives = value;
        return 0;
    case KEY_MERGE:
        arguments->merge = value;
        return 0;
    case KEY_PHASES:
        take_phases(arguments, value, state);
        return 0;
    case KEY_NCCL:
        arguments->nccl = true;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->command && !arguments->merge)
            nw_argfail(state, "the program is missing; for example: nodewise "
                              "profile -o FILE -- mpirun -n 8 ./app");
        if (arguments->command && arguments->merge)
            nw_argfail(state, "--merge runs no program");
        if (arguments->nccl &&
            (arguments->mpi || arguments->collectives || arguments->phases))
            nw_argfail(state, "--nccl records programs without MPI; leave out "
                              "--mpi, --collectives and --phases");
        if (arguments->phases && arguments->merge)
            nw_argfail(state, "--merge joins no phases; leave out --phases");
        if (arguments->merge &&
            (arguments->nccl || arguments->mpi || arguments->collectives))
            nw_argfail(state, "--merge joins the parts of an MPI program as "
                              "they are; leave out --nccl, --mpi and "
                              "--collectives");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = profile_parse,
    .args_doc = "-- LAUNCHER [ARGUMENT...]\n--merge FILE",
    .doc = "Run an MPI program and write its communication pattern.\v"
           "Example:\n  nodewise profile -o app.pattern -- mpirun -n 8 ./app\n"
           "  nodewise profile --nccl -o app.pattern -- torchrun app.py\n",
    .children = nw_common_children,
};

/* The state of one profiled run. */
struct profile_run {
    const char *output; /* absolute path of the pattern */
    const char *named;  /* path as the user gave it; NULL: do not print it */
    bool phases;
    struct nw_preload preload;
    struct stat before; /* state of the output file before the run; st_ino is 0
                           if it did not exist */
    char seen[80];      /* `before` as the value of NODEWISE_RECORD_BEFORE,
                           by which ranks recognise a file of an earlier run */
    char said[48];      /* name of an abstract socket, on which ranks report
                           warnings */
    int hears;          /* descriptor of the socket `said`; -1: none */
};

static nw_status profile_make_absolute(const char *path, char **out)
{
    struct nw_text text = {0};

    nw_file_add_absolute(path, &text);
    return nw_text_take(&text, out);
}

/* Opens the socket run->hears. A rank on this host sends a byte to it after it
 * printed a warning, so that this process does not print another one. */
static void open_socket(struct profile_run *run)
{
    struct sockaddr_un here = {.sun_family = AF_UNIX};
    struct timespec now;
    size_t length;

    (void)clock_gettime(CLOCK_REALTIME, &now);
    snprintf(run->said, sizeof run->said, "nodewise-profile-%ld-%lx%lx",
             (long)getpid(), (unsigned long)now.tv_sec,
             (unsigned long)now.tv_nsec);
    length = strlen(run->said);
    memcpy(here.sun_path + 1, run->said, length);
    run->hears = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (run->hears >= 0)
        (void)bind(
            run->hears, (const struct sockaddr *)&here,
            (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length));
}

/* Returns true if a rank on this machine has reported that it printed a warning
 * with the reason why it wrote no profile. */
static bool was_reason_said(const struct profile_run *run)
{
    char byte;

    return run->hears >= 0 && recv(run->hears, &byte, 1, 0) >= 0;
}

#define VARIABLES 7
/* Lists the variables that the ranks must have on every host: those of this
 * run, and settings of the profiler from the command line or the
 * environment. */
static void profile_list_variables(const struct profile_arguments *arguments,
                                   const struct profile_run *run,
                                   struct nw_variables *variables)
{
    static const char *const ours[] = {"NODEWISE_PARTS", "NODEWISE_COLLECTIVES",
                                       "NODEWISE_NCCL", "NODEWISE_PHASES"};

    variables->name[variables->count] = NW_ENV_RECORD;
    variables->value[variables->count++] = run->output;
    variables->name[variables->count] = "NODEWISE_RECORD_BEFORE";
    variables->value[variables->count++] = run->seen;
    variables->name[variables->count] = "NODEWISE_RECORD_SAID";
    variables->value[variables->count++] = run->said;
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        const char *value = getenv(ours[i]);

        if (i == 1 && arguments->collectives)
            value = arguments->collectives;
        if (i == 3 && arguments->phases)
            value = arguments->phases;
        if (!value)
            continue;
        variables->name[variables->count] = ours[i];
        variables->value[variables->count++] = value;
    }
}

/* Returns true if the output file was written since the run began. */
static bool is_written(const struct profile_run *run)
{
    struct stat now;

    return !stat(run->output, &now) &&
           (now.st_ino != run->before.st_ino ||
            now.st_mtim.tv_sec != run->before.st_mtim.tv_sec ||
            now.st_mtim.tv_nsec != run->before.st_mtim.tv_nsec);
}

/* Merges the parts of the profile `from`, which ranks wrote to separate files,
 * to the file `to`. If both are the same path, then removes the parts. *is_read
 * becomes true when the parts have been read; a later error is one of writing.
 */
static nw_status merge_to(const char *from, const char *to, bool *is_read)
{
    nw_pattern *pattern;
    nw_status status = nw_profile_merge(from, &pattern);

    *is_read = !status;
    if (status)
        return status;
    status = nw_pattern_write(pattern, to);
    if (!status && !strcmp(from, to))
        nw_profile_remove_parts(from);
    nw_pattern_free(pattern);
    return status;
}

/* Merges the parts unless a rank already wrote the pattern, and prints the
 * summary, or why no profile exists. Returns the exit status of the program, or
 * a failure if the program succeeded but parts cannot be read or written. */
static int profile_conclude(const struct profile_run *run, int code)
{
    nw_status status = NW_OK;
    bool is_read;

    if (!is_written(run))
        status = merge_to(run->output, run->output, &is_read);
    if (!status && run->named)
        nw_profile_tell(run->named, run->phases);
    if (!status)
        return code;
    if (status == NW_ENODEV && run->preload.launcher == NW_LAUNCHER_NONE &&
        code > 125)
        return code; /* the program did not start or was killed, and has
                        reported this */
    if (status == NW_ENODEV) {
        if (!was_reason_said(run))
            fprintf(stderr,
                    "nodewise profile: no profile: %sno process of '%s' called "
                    "MPI_Init of %s through its dynamic library; %suse the "
                    "launcher of the program's own MPI, and link the program "
                    "dynamically\n",
                    code ? "the command failed, and " : "",
                    run->preload.argv[0], run->preload.mpi,
                    code ? "if the program was started, " : "");
        return code;
    }
    nw_cli_fail_output("profile", status);
    return code ? code : NW_EXIT_FAILED;
}

/* Finds library and launcher, opens the socket for warnings, and makes the
 * command. Checks that the output can be written and is not a file named in the
 * command. Removes files of an earlier run. */
static nw_status profile_prepare(const struct profile_arguments *arguments,
                                 struct profile_run *run,
                                 struct nw_variables *variables)
{
    nw_status status =
        nw_preload_find(arguments->mpi, arguments->command, &run->preload);

    if (status)
        return status;
    if (stat(run->output, &run->before))
        run->before = (struct stat){0};
    snprintf(run->seen, sizeof run->seen, "%llu:%lld.%09ld",
             (unsigned long long)run->before.st_ino,
             (long long)run->before.st_mtim.tv_sec,
             run->before.st_mtim.tv_nsec);
    open_socket(run);
    profile_list_variables(arguments, run, variables);
    status = nw_preload_prepare(&run->preload, arguments->command, variables);
    if (!status)
        status = nw_file_writable_in_parts(run->output);
    /* -o must not name a file of the command, such as ./app */
    for (char **word = arguments->command; !status && *word; word++)
        status = nw_cli_output_spares(&arguments->common, *word);
    if (status)
        return status;
    nw_profile_remove_parts(run->output);
    return arguments->phases ? nw_profile_remove_phases(run->output) : NW_OK;
}

static int run_program(const struct profile_arguments *arguments)
{
    const char *name[VARIABLES], *value[VARIABLES];
    struct nw_variables variables = {name, value, 0};
    struct profile_run run = {.hears = -1};
    char *output = NULL;
    int code = NW_EXIT_FAILED;
    nw_status status = profile_make_absolute(arguments->common.output, &output);

    run.output = output;
    run.phases = arguments->phases;
    run.named = arguments->common.quiet ? NULL : arguments->common.output;
    if (!status)
        status = profile_prepare(arguments, &run, &variables);
    if (!status)
        code = nw_preload_run(&run.preload, "profile", &variables);
    if (status == NW_EIO) /* an error of the output, since no input is read
                             here */
        code = nw_cli_fail_output("profile", status);
    else
        code = status ? nw_cli_fail("profile", status)
                      : profile_conclude(&run, code);
    if (run.hears >= 0)
        (void)close(run.hears);
    nw_preload_fini(&run.preload);
    free(output);
    return code;
}

/* Returns an error if -o names one of the parts to combine. */
static nw_status spare_parts(const struct profile_arguments *arguments)
{
    struct nw_text pattern = {0};
    glob_t found = {0};
    nw_status status = NW_OK;

    nw_text_add_glob(&pattern, arguments->merge);
    nw_text_add(&pattern, ".part.[0-9]*");
    if (pattern.data && !glob(pattern.data, 0, NULL, &found))
        for (size_t i = 0; !status && i < found.gl_pathc; i++)
            status =
                nw_cli_output_spares(&arguments->common, found.gl_pathv[i]);
    globfree(&found);
    nw_text_fini(&pattern);
    return status;
}

static int profile_merge(const struct profile_arguments *arguments)
{
    const char *to = arguments->common.output;
    bool is_read = false;
    nw_status status = spare_parts(arguments);

    if (!status)
        status =
            merge_to(arguments->merge, to ? to : arguments->merge, &is_read);
    if (!status)
        return NW_EXIT_DONE;
    return is_read ? nw_cli_fail_output("profile", status)
                   : nw_cli_fail("profile", status);
}

static int cli_profile_run(int argc, char **argv)
{
    struct profile_arguments arguments = {0};

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.merge)
        return profile_merge(&arguments);
    if (!arguments.common.output || !strcmp(arguments.common.output, "-")) {
        fprintf(stderr, "nodewise profile: which file? standard output is the "
                        "program's; give -o FILE\n");
        return NW_EXIT_USAGE;
    }
    return arguments.nccl
               ? nw_profile_nccl(&arguments.common, arguments.command)
               : run_program(&arguments);
}

const struct nw_command nw_command_profile = {
    "profile", "run an MPI program and write its pattern", &argp,
    cli_profile_run};
