/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise reorder: runs an MPI program with a preloaded library, so that MPI's
 * topology functions such as MPI_Cart_create reorder the ranks. */
#include "cli/command.h"
#include "cli/preload.h"

#include <string.h>

#define KEY_MPI 0x2001
#define KEY_REPORT 0x2002
#define KEY_FORCE 0x2003
#define KEY_ALGORITHM 0x2004

/* Indexes of the variables that the command sets for the library. */
enum { MODE, TELL, TOPOLOGY, PROFILE, ALGORITHM, VARIABLES };

struct reorder_arguments {
    struct nw_common common;
    const char *mpi;
    const char *value[VARIABLES]; /* NULL: not set by this command */
    char **command;
};

static const struct argp_option options[] = {
    {"algorithm", KEY_ALGORITHM, "NAME", 0,
     "Algorithm of nodewise map that orders the ranks (default: auto)", 0},
    {"force", KEY_FORCE, NULL, 0,
     "Reorder also if the program passes reorder = 0", 0},
    {"mpi", KEY_MPI, "FLAVOUR", 0,
     "MPI of the program: openmpi, mpich or mpiabi (default: found from "
     "launcher "
     "and program)",
     0},
    {"pattern", 'p', "PATTERN", 0,
     "Earlier profile of the program, which gives the weights if the program "
     "gives none",
     0},
    {"report", KEY_REPORT, NULL, 0,
     "Only print what reordering would gain; change nothing", 0},
    {"topology", 't', "SOURCE", 0,
     "Network between the nodes (default: Slurm's, else all equally far)", 0},
    {0},
};

static const struct nw_common_help reorder_help = {0};

static error_t reorder_parse(int key, char *value, struct argp_state *state)
{
    struct reorder_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &reorder_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_MPI:
        arguments->mpi = nw_preload_flavour(state, value);
        return 0;
    case KEY_REPORT:
    case KEY_FORCE:
        if (strcmp(arguments->value[MODE], "on"))
            nw_argfail(state, "--report and --force exclude each other");
        arguments->value[MODE] = key == KEY_FORCE ? "force" : "report";
        return 0;
    case KEY_ALGORITHM:
        arguments->value[ALGORITHM] = value;
        return 0;
    case 'p':
        arguments->value[PROFILE] = value;
        return 0;
    case 't':
        arguments->value[TOPOLOGY] = value;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        nw_argfail(state, "the program is missing; for example: nodewise "
                          "reorder -- mpirun -n 8 ./app");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = reorder_parse,
    .args_doc = "-- LAUNCHER [ARGUMENT...]",
    .doc = "Run an MPI program whose topology functions, such as "
           "MPI_Cart_create, put neighbours close to each other.\v"
           "Example:\n  nodewise reorder -- mpirun -n 64 ./app\n",
    .children = nw_common_children,
};

static int reorder_run(int argc, char **argv)
{
    static const char *const names[VARIABLES] = {
        "NODEWISE_REORDER", "NODEWISE_REORDER_TELL", "NODEWISE_TOPOLOGY",
        "NODEWISE_PROFILE", "NODEWISE_ALGORITHM"};
    const char *name[VARIABLES], *value[VARIABLES];
    struct nw_variables variables = {name, value, 0};
    struct reorder_arguments arguments = {
        .value = {[MODE] = "on", [TELL] = "1"}};

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    for (int i = 0; i < VARIABLES; i++)
        if (arguments.value[i]) {
            name[variables.count] = names[i];
            value[variables.count++] = arguments.value[i];
        }
    return nw_preload_command("reorder", arguments.mpi, arguments.command,
                              &variables);
}

const struct nw_command nw_command_reorder = {
    "reorder", "run a program whose topology functions reorder ranks", &argp,
    reorder_run};
