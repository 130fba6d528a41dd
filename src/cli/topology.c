/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise topology: discover, convert, show. */
#include <nodewise/topology.h>

#include "cli/command.h"

#include <stdio.h>

struct arguments {
    struct nw_common common;
    const char *source;
};

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num)
            argp_error(state, "one SOURCE at a time");
        arguments->source = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_child children[] = {{&nw_common_argp, 0, NULL, 0},
                                             {0}};
static const struct argp argp = {
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc = "Discover, convert and show the machine.\v"
           "Example:\n  nodewise topology hierarchy:4:8:16@1:10:100\n",
    .children = children,
};

static int run(int argc, char **argv)
{
    struct arguments arguments = {.source = "live"};
    nw_topology *topology;
    nw_status status;
    char text[128];

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    status = nw_topology_load(arguments.source, NULL, &topology);
    if (status)
        return nw_cli_fail("topology", status);
    snprintf(text, sizeof text, "%d nodes, %d elements, %d GPUs\n",
             nw_topology_node_count(topology),
             nw_topology_element_count(topology),
             nw_topology_gpu_count(topology));
    nw_topology_free(topology);
    return nw_cli_output("topology", &arguments.common, text, NULL, NULL);
}

const struct nw_command nw_command_topology = {
    "topology", "discover, convert and show the machine", &argp, run};
