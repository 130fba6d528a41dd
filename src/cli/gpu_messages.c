/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise gpu-messages: runs an MPI program that passes GPU memory to an MPI
 * built without GPU support. */
#include "cli/command.h"
#include "cli/preload.h"

#include <stdlib.h>

#define KEY_MPI 0x2001
#define KEY_FORCE 0x2002

struct gpu_messages_arguments {
    struct nw_common common;
    const char *mpi;
    bool is_forced;
    char **command;
};

static const struct argp_option options[] = {
    {"force", KEY_FORCE, NULL, 0,
     "Handle GPU memory also if the MPI says that it can", 0},
    {"mpi", KEY_MPI, "FLAVOUR", 0,
     "MPI of the program: openmpi, mpich or mpiabi (default: found from "
     "launcher "
     "and program)",
     0},
    {0},
};

static const struct nw_common_help gpu_messages_help = {0};

static error_t gpu_messages_parse(int key, char *value,
                                  struct argp_state *state)
{
    struct gpu_messages_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &gpu_messages_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_MPI:
        arguments->mpi = nw_preload_flavour(state, value);
        return 0;
    case KEY_FORCE:
        arguments->is_forced = true;
        return 0;
    case ARGP_KEY_ARGS:
        arguments->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        nw_argfail(state, "the program is missing; for example: nodewise "
                          "gpu-messages -- mpirun -n 8 ./app");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = gpu_messages_parse,
    .args_doc = "-- LAUNCHER [ARGUMENT...]",
    .doc = "Run an MPI program that passes GPU buffers to an MPI built without "
           "GPU support.\v"
           "Example:\n  nodewise gpu-messages -- mpirun -n 8 ./app\n",
    .children = nw_common_children,
};

static int gpu_messages_run(int argc, char **argv)
{
    const char *name[] = {"NODEWISE_GPU_MESSAGES"}, *value[] = {"auto"};
    struct nw_variables variables = {name, value, 1};
    struct gpu_messages_arguments arguments = {0};

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.is_forced)
        value[0] = "on";
    else if (getenv(name[0]))
        variables.count = 0;
    return nw_preload_command("gpu-messages", arguments.mpi, arguments.command,
                              &variables);
}

const struct nw_command nw_command_gpu_messages = {
    "gpu-messages", "run an MPI program that passes GPU memory to any MPI",
    &argp, gpu_messages_run};
