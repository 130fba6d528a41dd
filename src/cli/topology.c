/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise topology: discover, convert, show. */
#include <nodewise/report.h>
#include <nodewise/topology.h>

#include "base/json.h"
#include "cli/command.h"
#include "cli/topology_route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_TREE = 0x2001,
    KEY_SVG,
    KEY_LIST,
    KEY_ELEMENTS,
    KEY_DISTANCE,
    KEY_ROUTE
};

struct arguments {
    struct nw_common common;
    struct nw_topology_options options;
    const char *source;
    int what; /* one of the keys; 0: the tree */
    const char *end[2];
};

static const struct argp_option options[] = {
    {"tree", KEY_TREE, NULL, 0, "Show the machine as a tree (the default)", 0},
    {"svg", KEY_SVG, NULL, 0, "Write a picture as SVG", 0},
    {"list", KEY_LIST, NULL, 0, "List the bundled clusters", 0},
    {"elements", KEY_ELEMENTS, "WHAT", 0,
     "What ranks are placed on: core (the default) or pu, a hardware thread",
     0},
    {"distance", KEY_DISTANCE, "A B", 0,
     "Print the distance of two ends: an element's number, or gpuN", 0},
    {"route", KEY_ROUTE, "A B", 0, "Print the links from A to B in order", 0},
    {0},
};

/* An option of two words: "A B" in one, or the next word as well. */
static void take_ends(struct arguments *arguments, char *value,
                      struct argp_state *state)
{
    char *space = strpbrk(value, " ,");

    arguments->end[0] = value;
    if (space) {
        *space = '\0';
        arguments->end[1] = space + 1;
    } else if (state->next < state->argc) {
        arguments->end[1] = state->argv[state->next++];
    } else {
        argp_error(state, "two ends are needed, such as: 0 gpu1");
    }
}

static void choose(struct arguments *arguments, int what,
                   struct argp_state *state)
{
    if (arguments->what && arguments->what != what)
        argp_error(state, "one of --tree, --svg, --list, --distance and "
                          "--route at a time");
    arguments->what = what;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_DISTANCE:
    case KEY_ROUTE:
        choose(arguments, key, state);
        take_ends(arguments, value, state);
        return 0;
    case KEY_TREE:
    case KEY_SVG:
    case KEY_LIST:
        choose(arguments, key, state);
        return 0;
    case KEY_ELEMENTS:
        if (strcmp(value, "core") && strcmp(value, "pu"))
            argp_error(state, "--elements is core or pu, not '%s'", value);
        arguments->options.elements =
            *value == 'p' ? NW_ELEMENTS_PU : NW_ELEMENTS_CORE;
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
    .options = options,
    .parser = parse,
    .args_doc = "[SOURCE]",
    .doc = "Discover, convert and show the machine. SOURCE is live (the "
           "default), FILE.yaml, FILE.xml, hwloc:..., hierarchy:..., "
           "matrix:FILE or the name of a bundled cluster.\v"
           "Example:\n  nodewise topology hierarchy:4:8:16@1:10:100\n",
    .children = children,
};

static nw_status list_table(char **out)
{
    const char *name, *summary;
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "name", NW_ALIGN_LEFT);
    nw_table_column(table, "what it is", NW_ALIGN_LEFT);
    for (size_t i = 0; nw_topology_bundled(i, &name, &summary); i++) {
        nw_table_row(table, -1);
        nw_table_cell(table, "%s", name);
        nw_table_cell(table, "%s", summary);
    }
    status = nw_table_text(table, out);
    nw_table_free(table);
    return status;
}

static nw_status list_json(char **out)
{
    const char *name, *summary;
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.topology-list/1");
    nw_json_array(&json, "clusters");
    for (size_t i = 0; nw_topology_bundled(i, &name, &summary); i++) {
        nw_json_object(&json, NULL);
        nw_json_string(&json, "name", name);
        nw_json_string(&json, "summary", summary);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static nw_status show(const struct arguments *arguments,
                      const nw_topology *topology, char **out)
{
    switch (arguments->what) {
    case KEY_SVG:
        return nw_report_topology_svg(topology, out);
    case KEY_DISTANCE:
    case KEY_ROUTE:
        return nw_cli_route(
            topology,
            &(struct nw_cli_route){{arguments->end[0], arguments->end[1]},
                                   arguments->what == KEY_ROUTE,
                                   arguments->common.json},
            out);
    default:
        return arguments->common.json ? nw_report_topology_json(topology, out)
                                      : nw_report_topology_tree(topology, out);
    }
}

static nw_status make(const struct arguments *arguments, char **out)
{
    nw_topology *topology;
    nw_status status;

    if (arguments->what == KEY_LIST)
        return arguments->common.json ? list_json(out) : list_table(out);
    status =
        nw_topology_load(arguments->source, &arguments->options, &topology);
    if (status)
        return status;
    status = show(arguments, topology, out);
    nw_topology_free(topology);
    return status;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {.source = "live",
                                  .options = NW_TOPOLOGY_OPTIONS_INIT};
    char *text;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.common.json && arguments.what == KEY_SVG) {
        fputs("nodewise topology: --svg is a picture, not JSON\n", stderr);
        return NW_EXIT_USAGE;
    }
    status = make(&arguments, &text);
    if (status)
        return nw_cli_fail("topology", status);
    arguments.common.json = false; /* the text is the result already */
    code = nw_cli_output("topology", &arguments.common, text, NULL, NULL);
    free(text);
    return code;
}

const struct nw_command nw_command_topology = {
    "topology", "discover, convert and show the machine", &argp, run};
