/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise exec: what a launcher starts for each rank. It binds, chooses GPUs
 * and becomes the program. What it cannot do it says in one line and goes on:
 * a slow program is better than none. */
#include <nodewise/launch.h>

#include "cli/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY_VISIBILITY 0x2001
#define KEY_ELEMENTS 0x2002
#define KEY_STRICT 0x2003

enum { EXIT_CANNOT_RUN = 126, EXIT_NOT_FOUND = 127 }; /* as env(1) */

struct arguments {
    const char *source, *mapping;
    char **program;
    enum nw_gpu_visibility visibility;
    struct nw_topology_options topology;
    bool strict, quiet;
};

static const struct argp_option options[] = {
    {"topology", 't', "SOURCE", 0,
     "Where the GPUs of the nodes are described, with UUIDs (this machine)", 0},
    {"gpu-visibility", KEY_VISIBILITY, "WHAT", 0,
     "See one (default: the rank's own GPUs) or permuted (all, its own as "
     "device LOCAL_RANK)",
     0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "The mapping's cores are core (default) or pu, hardware threads", 0},
    {"strict", KEY_STRICT, NULL, 0, "Fail where it would warn and go on", 0},
    {"quiet", 'q', NULL, 0, "No warnings", 0},
    {0},
};

static error_t parse_option(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case 't':
        arguments->source = value;
        return 0;
    case KEY_VISIBILITY:
        if (strcmp(value, "one") && strcmp(value, "permuted"))
            argp_error(state, "--gpu-visibility cannot be '%s'", value);
        arguments->visibility =
            strcmp(value, "one") ? NW_GPU_PERMUTED : NW_GPU_ONE;
        return 0;
    case KEY_ELEMENTS:
        if (strcmp(value, "core") && strcmp(value, "pu"))
            argp_error(state, "--elements cannot be '%s'", value);
        arguments->topology.elements =
            strcmp(value, "pu") ? NW_ELEMENTS_CORE : NW_ELEMENTS_PU;
        return 0;
    case KEY_STRICT:
        arguments->strict = true;
        return 0;
    case 'q':
        arguments->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

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
        if (!arguments->mapping || !arguments->program)
            argp_error(state, "MAPPING and a program are needed");
        return 0;
    default:
        return parse_option(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = parse,
    .args_doc = "MAPPING [--] PROGRAM [ARGUMENT...]",
    .doc = "Bind this rank and choose its GPUs as the mapping says, then "
           "become PROGRAM.\v"
           "Example:\n  mpirun -rf app.rankfile nodewise exec app.mapping -- "
           "./app\n",
};

/* One line of warning. */
static int warn(const struct arguments *arguments, int32_t rank,
                const char *what)
{
    if (!arguments->quiet || arguments->strict)
        fprintf(stderr, "nodewise exec: rank %d: %s\n", rank, what);
    return arguments->strict ? NW_EXIT_FAILED : NW_EXIT_DONE;
}

/* Equal, or equal up to the first dot where one name has none. */
static bool same_host(const char *a, const char *b)
{
    size_t n = strcspn(a, "."), m = strcspn(b, ".");

    if (!strcmp(a, b))
        return true;
    return n == m && !strncmp(a, b, n) && (!a[n] || !b[m]);
}

static int check_host(const struct arguments *arguments,
                      const nw_mapping *mapping, int32_t rank, bool *is_here)
{
    const char *node = mapping->node_name[mapping->node[rank]];
    char host[256] = "", what[600];

    gethostname(host, sizeof host - 1);
    *is_here = same_host(host, node);
    if (*is_here)
        return NW_EXIT_DONE;
    snprintf(what, sizeof what,
             "runs on %s, the mapping says %s: not bound, GPUs left as they "
             "are",
             host, node);
    return warn(arguments, rank, what);
}

static nw_status set_gpus(const struct arguments *arguments,
                          const nw_topology *machine, const nw_mapping *mapping,
                          int32_t rank)
{
    const char *name = mapping->node_name[mapping->node[rank]];
    nw_topology *described = NULL;
    const nw_topology *topology = machine;
    int32_t node = 0;
    char *gpus = NULL;
    nw_status status = NW_OK;

    if (arguments->source) {
        status = nw_topology_load(arguments->source, NULL, &described);
        topology = described;
        node = described ? nw_topology_node_find(described, name) : -1;
    }
    if (!status)
        status = nw_launch_gpus(topology, node, mapping, rank,
                                arguments->visibility, &gpus);
    if (!status && gpus) {
        setenv("CUDA_DEVICE_ORDER", "PCI_BUS_ID", 1);
        setenv("CUDA_VISIBLE_DEVICES", gpus, 1);
    }
    free(gpus);
    nw_topology_free(described);
    return status;
}

/* Binds and chooses, with a warning for each thing that cannot be done. */
static int place(const struct arguments *arguments, const nw_mapping *mapping,
                 int32_t rank)
{
    nw_topology *machine = NULL;
    bool is_here;
    int code = check_host(arguments, mapping, rank, &is_here);

    if (!is_here)
        return code;
    if (nw_launch_machine(&arguments->topology, &machine))
        return warn(arguments, rank, nw_error_text());
    if (nw_launch_bind(machine, mapping, rank))
        code = warn(arguments, rank, nw_error_text());
    if (set_gpus(arguments, machine, mapping, rank) && !code)
        code = warn(arguments, rank, nw_error_text());
    nw_topology_free(machine);
    return code;
}

static int find_place(const struct arguments *arguments,
                      const nw_mapping *mapping,
                      const struct nw_launch_rank *me)
{
    char what[200];

    if (me->size >= 0 && me->size != mapping->rank_count) {
        snprintf(what, sizeof what,
                 "the job has %d ranks, the mapping is for %d: left as it is",
                 me->size, mapping->rank_count);
        return warn(arguments, me->rank, what);
    }
    if (me->rank >= mapping->rank_count || mapping->node[me->rank] < 0 ||
        !nw_mapping_cores(mapping, me->rank).count ||
        nw_mapping_cores(mapping, me->rank).values[0] < 0)
        return warn(arguments, me->rank,
                    "the mapping has no place for it: left as it is");
    return place(arguments, mapping, me->rank);
}

static int become(const struct arguments *arguments)
{
    fflush(NULL);
    execvp(arguments->program[0], arguments->program);
    fprintf(stderr, "nodewise exec: cannot run '%s': %s\n",
            arguments->program[0], strerror(errno));
    return errno == ENOENT ? EXIT_NOT_FOUND : EXIT_CANNOT_RUN;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {.topology = NW_TOPOLOGY_OPTIONS_INIT};
    struct nw_launch_rank me;
    nw_mapping *mapping = NULL;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &arguments);
    status = nw_launch_find_rank(&me);
    if (!status)
        status = nw_mapping_read(arguments.mapping, NULL, &mapping);
    code = status ? nw_cli_fail("exec", status)
                  : find_place(&arguments, mapping, &me);
    nw_mapping_free(mapping);
    return code ? code : become(&arguments);
}

const struct nw_command nw_command_exec = {
    "exec", "be one rank: bind, choose GPUs, run the program", &argp, run};
