/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise launch: writes the files and the command line with which a launcher
 * places the ranks of a program by a mapping. It does not start the program. */
#include <nodewise/launch.h>

#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/hosts.h"
#include "cli/launch_find.h"
#include "cli/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FOR 0x2001
#define KEY_EXEC 0x2002
#define KEY_VISIBILITY 0x2003
#define KEY_ELEMENTS 0x2004
#define KEY_LIST 0x2005
#define KEY_MEMORY 0x2006
#define KEY_HOSTS 0x2007
#define KEY_HOSTFILE 0x2008
#define KEY_MPI 0x2009
#define KEY_PLACE 0x200a
#define KEY_CONSECUTIVE 0x200b

struct launch_arguments {
    struct nw_common common;
    struct nw_launch_options launch;
    struct nw_topology_options topology;
    const char *hosts, *hostfile;
    bool list;
};

static const struct argp_option options[] = {
    {"topology", 't', "SOURCE", 0, "The machine for which the mapping was made",
     0},
    {"output", 'o', "PREFIX", 0,
     "Write the launcher's files, PREFIX.rankfile and so on, and print the "
     "command line",
     100},
    {"for", KEY_FOR, "LAUNCHER", 0,
     "Target launcher: a name of --list, or auto for the launcher of this job "
     "or machine",
     0},
    {"list", KEY_LIST, NULL, 0, "List the launchers", 0},
    {"exec", KEY_EXEC, "WHEN", 0,
     "Put nodewise exec in front of the program: auto (default), always, never",
     0},
    {"gpu-visibility", KEY_VISIBILITY, "WHAT", 0,
     "GPUs visible to a rank: one (default: its own), or permuted (all; its "
     "own is device LOCAL_RANK)",
     0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "Meaning of the mapping's cores: core (default) or pu (hardware threads)",
     0},
    {"memory", KEY_MEMORY, "HOW", 0,
     "How nodewise exec binds memory to the NUMA nodes of the rank's cores: "
     "bind (default), prefer, leave",
     0},
    {"hosts", KEY_HOSTS, "LIST", 0,
     "Check that the mapping fits on these hosts, such as n[1-4]:8,x "
     "(default: those of the batch job)",
     0},
    {"hostfile", KEY_HOSTFILE, "FILE", 0,
     "As --hosts, from a file with one host per line", 0},
    {"mpi", KEY_MPI, "TYPE", 0,
     "Value of srun's --mpi (default: by the MPI of the program)", 0},
    {"consecutive", KEY_CONSECUTIVE, NULL, 0,
     "Give each host consecutive ranks, as MPICH up to 4.3 needs for shared "
     "memory; ranks then run in the places of other ranks",
     0},
    {"place-only", KEY_PLACE, NULL, 0,
     "Only place the ranks on the hosts; do not bind them or select their GPUs",
     0},
    {0},
};

static error_t launch_parse_choice(int key, char *value,
                                   struct argp_state *state)
{
    static const char *const exec[] = {"auto", "always", "never", NULL};
    static const char *const visibility[] = {"one", "permuted", NULL};
    static const char *const memory[] = {"bind", "prefer", "leave", NULL};
    struct launch_arguments *arguments = state->input;

    switch (key) {
    case KEY_EXEC:
        arguments->launch.exec =
            (enum nw_launch_exec)nw_argchoose(state, "--exec", value, exec);
        return 0;
    case KEY_VISIBILITY:
        arguments->launch.visibility = (enum nw_gpu_visibility)nw_argchoose(
            state, "--gpu-visibility", value, visibility);
        return 0;
    case KEY_ELEMENTS:
        arguments->topology.elements = nw_argelements(state, value);
        return 0;
    case KEY_MEMORY:
        arguments->launch.memory = (enum nw_memory_binding)nw_argchoose(
            state, "--memory", value, memory);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void check_launcher(const char *word, struct argp_state *state)
{
    struct nw_nearest nearest;
    const char *name, *summary;

    if (nw_launch_is_alias(word))
        return;
    nw_nearest_start(&nearest, word, strlen(word));
    nw_nearest_try(&nearest, "openmpi");
    for (size_t i = 0; nw_launch_launcher(i, &name, &summary); i++) {
        if (!strcmp(name, word))
            return;
        nw_nearest_try(&nearest, name);
    }
    nw_argfail(state, "unknown launcher '%s'; %s", word,
               nw_nearest_say(&nearest, "--list shows all launchers"));
}

/* Refuses options that are missing, contradict each other or have no effect. */
static void launch_check_words(const struct launch_arguments *arguments,
                               struct argp_state *state)
{
    const struct nw_launch_options *launch = &arguments->launch;
    const char *name = launch->launcher;

    if (!launch->topology_source || !name || !launch->mapping_path)
        nw_argfail(state, "-t SOURCE, MAPPING and --for LAUNCHER are needed");
    if (launch->place_only && launch->exec == NW_LAUNCH_EXEC_ALWAYS)
        nw_argfail(state, "--place-only and --exec=always exclude each other");
    if (launch->memory &&
        (launch->place_only || launch->exec == NW_LAUNCH_EXEC_NEVER))
        nw_argfail(state, "--memory is for nodewise exec, which %s leaves out",
                   launch->place_only ? "--place-only" : "--exec=never");
    if (launch->visibility && launch->place_only)
        nw_argfail(state,
                   "--place-only and --gpu-visibility exclude each other");
    if (launch->srun_mpi && strcmp(name, "auto") && strcmp(name, "slurm") &&
        strcmp(name, "slurm22"))
        nw_argfail(state, "--mpi is for --for slurm, slurm22 or auto, not %s",
                   name);
    if (arguments->hosts && arguments->hostfile)
        nw_argfail(state, "--hosts and --hostfile exclude each other");
}

static const struct nw_common_help launch_help = {
    .json = NW_COMMON_JSON,
    .quiet = "No notes on stderr",
};

static error_t launch_parse(int key, char *value, struct argp_state *state)
{
    struct launch_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &launch_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case 'o':
        if (!*value)
            nw_argfail(state, "-o names no file");
        arguments->common.output = value;
        return 0;
    case 't':
        arguments->launch.topology_source = value;
        return 0;
    case KEY_FOR:
        check_launcher(value, state);
        arguments->launch.launcher = value;
        return 0;
    case KEY_LIST:
        arguments->list = true;
        return 0;
    case KEY_MPI:
        if (!*value)
            nw_argfail(state, "--mpi names no type; leave out --mpi");
        arguments->launch.srun_mpi = value;
        return 0;
    case KEY_CONSECUTIVE:
        arguments->launch.consecutive = true;
        return 0;
    case KEY_PLACE:
        arguments->launch.place_only = true;
        return 0;
    case KEY_HOSTS:
        arguments->hosts = value;
        return 0;
    case KEY_HOSTFILE:
        arguments->hostfile = value;
        return 0;
    case ARGP_KEY_ARG:
        if (!arguments->launch.mapping_path) {
            if (state->quoted)
                nw_argfail(state, "the mapping is missing before '--'; write "
                                  "MAPPING -- PROGRAM");
            arguments->launch.mapping_path = value;
            return 0;
        }
        /* this and the remaining words are the program and its options */
        arguments->launch.program =
            (const char *const *)state->argv + state->next - 1;
        arguments->launch.program_words =
            (size_t)(state->argc - state->next + 1);
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->list)
            launch_check_words(arguments, state);
        return 0;
    default:
        return launch_parse_choice(key, value, state);
    }
}

static const struct argp_child launch_children[] = {
    {&nw_common_rest_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = launch_parse,
    .args_doc = "MAPPING [-- PROGRAM [ARGUMENT...]]",
    .doc = "Write what a launcher needs to place ranks as a mapping says.\v"
           "With -o PREFIX the files it needs are written beside that name and "
           "the command line is printed. Example:\n"
           "  nodewise launch -t cluster.yaml --for openmpi4 -o app "
           "app.mapping -- ./app\n",
    .children = launch_children,
};

/* Appends the command line with its variables, quoted for a shell. */
static void add_command(struct nw_text *text, const nw_launch *launch)
{
    for (size_t i = 0; i < launch->variable_count; i++) {
        nw_text_add_variable(text, launch->variable[i]);
        nw_text_add(text, " ");
    }
    for (size_t i = 0; i < launch->word_count; i++) {
        nw_text_add(text, i ? " " : "");
        nw_text_add_word(text, launch->word[i]);
    }
    nw_text_add(text, "\n");
}

/* Adds the lines of `note` as an array. */
static void add_notes(struct nw_json *json, const char *note)
{
    nw_json_array(json, "notes");
    while (note && *note) {
        size_t length = strcspn(note, "\n");
        char *line = strndup(note, length);

        nw_json_string(json, NULL, line ? line : "");
        free(line);
        note += length + (note[length] == '\n');
    }
    nw_json_end_array(json);
}

static void launch_add_json(struct nw_text *text, const nw_launch *launch)
{
    struct nw_json json = {.text = text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.launch/1");
    nw_json_string(&json, "launcher", launch->launcher);
    nw_json_array(&json, "files");
    for (size_t i = 0; i < launch->file_count; i++) {
        nw_json_object(&json, NULL);
        nw_json_string(&json, "path", launch->file[i].path);
        nw_json_string(&json, "text", launch->file[i].text);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    nw_json_flat_array(&json, "environment");
    for (size_t i = 0; i < launch->variable_count; i++)
        nw_json_string(&json, NULL, launch->variable[i]);
    nw_json_end_array(&json);
    nw_json_flat_array(&json, "command");
    for (size_t i = 0; i < launch->word_count; i++)
        nw_json_string(&json, NULL, launch->word[i]);
    nw_json_end_array(&json);
    nw_json_bool(&json, "exec", launch->uses_exec);
    add_notes(&json, launch->note);
    nw_json_end_object(&json);
}

/* Checks, before the first file is written, that all can be written and that
 * none is an input. */
static nw_status launch_check_files(const struct launch_arguments *arguments,
                                    const nw_launch *launch)
{
    const char *const input[] = {arguments->launch.topology_source,
                                 arguments->launch.mapping_path,
                                 arguments->hostfile};
    nw_status status = NW_OK;

    for (size_t f = 0; !status && f < launch->file_count; f++) {
        status = nw_file_writable(launch->file[f].path);
        for (size_t i = 0; !status && i < sizeof input / sizeof *input; i++)
            status = nw_cli_spares("-o", launch->file[f].path, input[i]);
    }
    return status;
}

/* Writes the files of the launch, and prints the command line. Without -o, the
 * first file is printed too, because only this file says where each rank runs.
 * With -o -, and with --json but without -o FILE, no file is written. */
static int launch_show(const struct launch_arguments *arguments,
                       const nw_launch *launch, const char *command,
                       const char *json)
{
    struct nw_common plain = arguments->common;
    nw_status status;

    if (plain.output ? !strcmp(plain.output, "-") : plain.json)
        return nw_cli_output("launch", &plain, launch->file[0].text, command,
                             json);
    status = launch_check_files(arguments, launch);
    if (status == NW_EINVAL)
        return nw_cli_fail("launch", status);
    if (!status)
        status = nw_launch_write(launch);
    if (status)
        return nw_cli_fail_output("launch", status);
    if (!plain.output)
        return nw_cli_output("launch", &plain, launch->file[0].text, command,
                             json);
    plain.output = NULL;
    return nw_cli_output("launch", &plain, command, NULL, json);
}

static int launch_print(const struct launch_arguments *arguments,
                        const nw_launch *launch)
{
    struct nw_text command = {0}, json = {0};
    char *command_text = NULL, *json_text = NULL;
    nw_status status;
    int code;

    add_command(&command, launch);
    launch_add_json(&json, launch);
    status = nw_text_take(&command, &command_text);
    if (!status)
        status = nw_text_take(&json, &json_text);
    if (launch->note && !arguments->common.quiet)
        fputs(launch->note, stderr);
    code = status ? nw_cli_fail("launch", status)
                  : launch_show(arguments, launch, command_text, json_text);
    nw_text_fini(&command);
    nw_text_fini(&json);
    free(command_text);
    free(json_text);
    return code;
}

static int list_launchers(const struct nw_common *common)
{
    static const struct nw_cli_list list = {
        .command = "launch", .key = "launchers", .name = nw_launch_launcher};

    return nw_cli_list(&list, common);
}

/* Returns the absolute path of this program if it was called by a path, so that
 * ranks use the same program. Otherwise returns NULL, and ranks find the
 * program on the PATH. The caller frees the result. */
static char *own_path(void)
{
    return strchr(program_invocation_name, '/')
               ? realpath(program_invocation_name, NULL)
               : NULL;
}

/* Checks that the mapping fits on the hosts of --hosts, --hostfile or the batch
 * job. Prints a warning if the machine has no host of the batch job. */
static nw_status check_job(const struct launch_arguments *arguments,
                           const nw_topology *topology,
                           const nw_mapping *mapping)
{
    struct nw_map_options map = NW_MAP_OPTIONS_INIT;
    struct nw_hosts hosts = {0};
    nw_status status =
        nw_cli_hosts(topology, arguments->hosts, arguments->hostfile, &hosts);

    if (status)
        return nw_cli_blame_hosts(arguments->launch.topology_source,
                                  arguments->hostfile, status);
    if (hosts.elsewhere)
        nw_cli_hosts_say("launch", &arguments->common, topology, &hosts);
    nw_cli_hosts_use(&hosts, mapping->rank_count, &map);
    status = nw_cli_hosts_fit(&hosts, mapping, arguments->launch.mapping_path);
    nw_cli_hosts_fini(&hosts);
    return status;
}

/* Makes the files and the command line. The command begins with the launcher as
 * it was found, for example mpirun.openmpi. */
static nw_status cli_launch_make(struct launch_arguments *arguments,
                                 const nw_topology *topology,
                                 const nw_mapping *mapping, nw_launch **launch)
{
    struct nw_launch_options *chosen = &arguments->launch;
    char *command = NULL;
    nw_status status = nw_launch_resolve(chosen, &command);

    if (!chosen->srun_mpi)
        chosen->srun_mpi = nw_launch_srun_mpi(chosen);
    if (!status)
        status = nw_launch_new(topology, mapping, chosen, launch);
    if (!status && command) {
        free((*launch)->word[0]);
        (*launch)->word[0] = command;
        command = NULL;
    }
    free(command);
    return status;
}

static int launch_run(int argc, char **argv)
{
    struct launch_arguments arguments = {.launch = NW_LAUNCH_OPTIONS_INIT,
                                         .topology = NW_TOPOLOGY_OPTIONS_INIT};
    nw_topology *topology = NULL;
    nw_mapping *mapping = NULL;
    nw_launch *launch = NULL;
    char *path;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    if (arguments.list)
        return list_launchers(&arguments.common);
    path = own_path();
    arguments.launch.exec_path = path;
    if (arguments.common.output && strcmp(arguments.common.output, "-"))
        arguments.launch.prefix = arguments.common.output;
    status = nw_topology_load(arguments.launch.topology_source,
                              &arguments.topology, &topology);
    if (!status)
        status =
            nw_mapping_read(arguments.launch.mapping_path, topology, &mapping);
    if (!status)
        status = check_job(&arguments, topology, mapping);
    if (!status)
        status = cli_launch_make(&arguments, topology, mapping, &launch);
    code = status ? nw_cli_fail("launch", status)
                  : launch_print(&arguments, launch);
    nw_launch_free(launch);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
    free(path);
    return code;
}

const struct nw_command nw_command_launch = {
    "launch", "write the files and options of a launcher", &argp, launch_run};
