/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise exec: binds one rank and selects its devices, then becomes the
 * program. If a step fails, it prints a warning and continues unless --strict
 * is given, because a slow program is better than none. */
#include <nodewise/launch.h>

#include "base/hostlist.h"
#include "base/slurm_node.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/exec_show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_VISIBILITY 0x2001
#define KEY_ELEMENTS 0x2002
#define KEY_STRICT 0x2003
#define KEY_MEMORY 0x2004
#define KEY_SHOW 0x2005
#define KEY_JSON 0x2006

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 }; /* as env(1) returns */

struct exec_arguments {
    const char *source, *mapping;
    char **program;
    enum nw_gpu_visibility visibility;
    enum nw_elements elements;
    enum nw_memory_binding memory;
    bool strict, quiet, show, json;
};

static const struct argp_option options[] = {
    {"topology", 't', "SOURCE", 0,
     "Description of the nodes' GPUs and network cards (default: as the kernel "
     "of this node reports them)",
     0},
    {"gpu-visibility", KEY_VISIBILITY, "WHAT", 0,
     "GPUs visible to the rank: one (default: its own), or permuted (all; its "
     "own is device LOCAL_RANK)",
     0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "Meaning of the mapping's cores: core (default) or pu (hardware threads)",
     0},
    {"memory", KEY_MEMORY, "HOW", 0,
     "Where the rank gets memory: bind (default: only on the NUMA nodes of its "
     "cores), prefer (there first) or leave (anywhere)",
     0},
    {"strict", KEY_STRICT, NULL, 0, "Treat warnings as errors", 0},
    {"show", KEY_SHOW, NULL, 0,
     "Print the CPUs, memory nodes and GPUs of the rank; start no program", 0},
    {"json", KEY_JSON, NULL, 0, "With --show: print JSON", 0},
    {"quiet", 'q', NULL, 0, "No warnings", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    static const char *const visibility[] = {"one", "permuted", NULL};
    static const char *const memory[] = {"bind", "prefer", "leave", NULL};
    struct exec_arguments *arguments = state->input;

    switch (key) {
    case 't':
        arguments->source = value;
        return 0;
    case KEY_VISIBILITY:
        arguments->visibility = (enum nw_gpu_visibility)nw_argchoose(
            state, "--gpu-visibility", value, visibility);
        return 0;
    case KEY_ELEMENTS:
        arguments->elements = nw_argelements(state, value);
        return 0;
    case KEY_MEMORY:
        arguments->memory = (enum nw_memory_binding)nw_argchoose(
            state, "--memory", value, memory);
        return 0;
    case KEY_STRICT:
        arguments->strict = true;
        return 0;
    case KEY_JSON:
    case KEY_SHOW:
        arguments->json = arguments->json || key == KEY_JSON;
        arguments->show = true;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t exec_parse(int key, char *value, struct argp_state *state)
{
    struct exec_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        arguments->mapping = value;
        if (state->next < state->argc &&
            !strcmp(state->argv[state->next], "--"))
            state->next++;
        if (state->next < state->argc)
            arguments->program = state->argv + state->next;
        state->next = state->argc;
        return 0;
    case ARGP_KEY_END:
        if (!arguments->mapping || !arguments->program == !arguments->show)
            nw_argfail(state, arguments->mapping && arguments->show
                                  ? "--show starts no program"
                                  : "MAPPING and a program are needed");
        return 0;
    default:
        return parse_option(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = exec_parse,
    .args_doc = "MAPPING [--] PROGRAM [ARGUMENT...]\n--show MAPPING",
    .doc = "Bind this rank to its cores and their memory, choose its GPUs and "
           "network card as the mapping says, then become PROGRAM.\v"
           "Example:\n  mpirun -rf app.rankfile nodewise exec app.mapping -- "
           "./app\n",
};

/* Prints a warning unless --quiet. With --strict, prints it in any case and
 * returns a failure. */
static int exec_warn(const struct exec_arguments *arguments, int32_t rank,
                     const char *what)
{
    if (!arguments->quiet || arguments->strict)
        fprintf(stderr, "nodewise exec: rank %d: %s\n", rank, what);
    return arguments->strict ? NW_EXIT_FAILED : NW_EXIT_DONE;
}

/* Sets *is_here to whether the mapping places the rank on this host; prints a
 * warning if not. */
static int check_host(const struct exec_arguments *arguments,
                      const struct nw_launch_place *place, int32_t rank,
                      bool *is_here)
{
    const nw_mapping *mapping = place->mapping;
    const char *node = mapping->node_name[mapping->node[place->index]];
    char host[256] = "", slurm[256], what[600];

    gethostname(host, sizeof host - 1);
    /* Slurm's name of a node may differ from the host name */
    *is_here =
        nw_host_is_same(host, node) ||
        (nw_slurm_node(slurm, sizeof slurm) && nw_host_is_same(slurm, node));
    if (*is_here)
        return NW_EXIT_DONE;
    snprintf(what, sizeof what,
             "runs on %s, the mapping says %s: not bound, GPUs left as they "
             "are",
             host, node);
    return exec_warn(arguments, rank, what);
}

/* Loads the topology of -t, if given, and finds the rank's node in it. *node is
 * -1 without -t or if the topology lacks the node. */
static nw_status exec_describe(const struct exec_arguments *arguments,
                               const struct nw_launch_place *place,
                               nw_topology **topology, int32_t *node)
{
    const nw_mapping *mapping = place->mapping;
    const char *name = mapping->node_name[mapping->node[place->index]];
    nw_status status;

    *node = -1;
    if (!arguments->source)
        return NW_OK;
    status = nw_topology_load(arguments->source, NULL, topology);
    if (!status)
        *node = nw_topology_node_find(*topology, name);
    return status;
}

/* Sets the environment variables that select the rank's GPUs and network
 * card. */
static nw_status set_devices(const struct exec_arguments *arguments,
                             const struct nw_launch_place *place)
{
    const nw_mapping *mapping = place->mapping;
    nw_topology *topology = NULL;
    char *gpus = NULL, *nic = NULL;
    int32_t node;
    nw_status status = exec_describe(arguments, place, &topology, &node);

    if (!status)
        status = nw_launch_granted_gpus(topology, node, mapping, place->index,
                                        arguments->visibility, &gpus);
    if (!status && gpus)
        status = nw_launch_choose_gpus(gpus);
    if (!status)
        status = nw_launch_nic(topology, node, mapping, place->index, &nic);
    if (!status && nic)
        status = nw_launch_choose_nic(nic);
    free(gpus);
    free(nic);
    nw_topology_free(topology);
    return status;
}

/* Called after the process is bound to its cores: checks the binding, and binds
 * the memory. */
static int exec_stay(const struct exec_arguments *arguments, int32_t rank)
{
    int code = NW_EXIT_DONE;

    if (nw_launch_check_cores())
        code = exec_warn(arguments, rank, nw_error_text());
    if (!code && nw_launch_bind_memory(arguments->memory))
        code = exec_warn(arguments, rank, nw_error_text());
    return code;
}

/* Prints a warning if the rank's GPU is on another node. */
static int look_for_gpu(const struct exec_arguments *arguments,
                        const struct nw_launch_place *place, int32_t rank)
{
    const nw_mapping *mapping = place->mapping;
    char what[400];

    if (!nw_launch_has_far_gpu(mapping, place->index))
        return NW_EXIT_DONE;
    snprintf(what, sizeof what,
             "its GPU is on %s: only a middleware that lends GPUs over the "
             "network gives it",
             mapping->node_name[mapping->gpu_node[place->index]]);
    return exec_warn(arguments, rank, what);
}

/* Binds this process and selects its devices, if the mapping places the rank on
 * this host. Prints a warning for each step that fails; with --strict, stops at
 * the first one. */
static int exec_take(const struct exec_arguments *arguments,
                     const struct nw_launch_place *place, int32_t rank)
{
    bool is_here;
    int code = check_host(arguments, place, rank, &is_here);

    if (!is_here)
        return code;
    if (nw_launch_bind_cores(place->mapping, place->index, arguments->elements))
        code = exec_warn(arguments, rank, nw_error_text());
    else
        code = exec_stay(arguments, rank);
    if (!code && set_devices(arguments, place))
        code = exec_warn(arguments, rank, nw_error_text());
    if (!code)
        code = look_for_gpu(arguments, place, rank);
    return code;
}

/* Returns true if the mapping leaves the rank's node or cores open or does not
 * have the rank. */
static bool is_open(const struct nw_launch_place *place)
{
    struct nw_ints cores;

    if (place->index < 0 || place->mapping->node[place->index] < 0)
        return true;
    cores = nw_mapping_cores(place->mapping, place->index);
    return !cores.count;
}

/* Binds the rank if the mapping fits to the job; otherwise prints a warning. */
static int take_place(const struct exec_arguments *arguments,
                      const struct nw_launch_place *place,
                      const struct nw_launch_rank *me)
{
    char what[200];

    if (me->size >= 0 && me->size != place->rank_count) {
        snprintf(what, sizeof what,
                 "the job has %d rank%s, the mapping is for %d: the rank is "
                 "not bound",
                 me->size, nw_plural((uint64_t)me->size), place->rank_count);
        return exec_warn(arguments, me->rank, what);
    }
    if (me->rank >= place->rank_count) {
        snprintf(what, sizeof what,
                 "the mapping is for %d rank%s: the rank is not bound",
                 place->rank_count, nw_plural((uint64_t)place->rank_count));
        return exec_warn(arguments, me->rank, what);
    }
    if (is_open(place))
        return exec_warn(
            arguments, me->rank,
            "the mapping leaves this rank open: the rank is not bound");
    return exec_take(arguments, place, me->rank);
}

static int exec_become(const struct exec_arguments *arguments)
{
    int why;

    fflush(NULL);
    execvp(arguments->program[0], arguments->program);
    why = errno;
    fprintf(stderr, "nodewise exec: cannot run '%s': %s\n",
            arguments->program[0], strerror(why));
    return why == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int exec_run(int argc, char **argv)
{
    struct exec_arguments arguments = {0};
    struct nw_launch_place place = {0};
    struct nw_launch_rank me;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    status = nw_launch_find_rank(&me);
    if (!status)
        status = nw_launch_place_read(arguments.mapping, me.rank,
                                      arguments.visibility == NW_GPU_PERMUTED ||
                                          nw_launch_granted(),
                                      &place);
    code = status ? nw_cli_fail("exec", status)
                  : take_place(&arguments, &place, &me);
    nw_mapping_free(place.mapping);
    if (code)
        return code;
    return arguments.show ? nw_exec_show(me.rank, arguments.json)
                          : exec_become(&arguments);
}

const struct nw_command nw_command_exec = {
    "exec", "bind one rank, select its GPUs and NIC, run the program", &argp,
    exec_run};
