/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise topology: discovers, converts and shows machines. */
#include <nodewise/report.h>
#include <nodewise/topology.h>

#include "base/file.h"
#include "base/json.h"
#include "base/status.h"
#include "cli/command.h"
#include "cli/picture.h"
#include "cli/topology_route.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    KEY_TREE = 0x2001,
    KEY_SVG,
    KEY_YAML,
    KEY_LIST,
    KEY_NEW,
    KEY_ELEMENTS,
    KEY_DISTANCE,
    KEY_ROUTE,
    KEY_NETWORK,
    KEY_NODE,
    KEY_GPUS,
    KEY_TO,
    KEY_HOST,
    KEY_ADDRESSES
};

#define MAX_NODES 64 /* largest number of options --node */

struct topology_arguments {
    struct nw_common common;
    struct nw_topology_options options;
    const char *source;
    int what; /* key of the option for the output; 0: the tree */
    const char *end[2];
    const char *template; /* value of --new */
    struct nw_topology_parts parts;
    const char *node[MAX_NODES];
    struct nw_topology_export_options export;
    const char *addresses;
};

static const struct argp_option options[] = {
    {"tree", KEY_TREE, NULL, 0, "Show the machine as a tree (the default)", 0},
    {"svg", KEY_SVG, NULL, 0, "Write a picture as SVG", 0},
    {"yaml", KEY_YAML, NULL, 0,
     "Write a cluster file (also chosen by -o FILE.yaml)", 0},
    {"to", KEY_TO, "FORMAT", 0,
     "Write a file of another program: hwloc, k8s, nccl, slurm, slurm-block, "
     "slurm-yaml or slurm-yaml-block",
     0},
    {"host", KEY_HOST, "NAME", 0,
     "Describe the host NAME (with --to hwloc or nccl)", 0},
    {"addresses", KEY_ADDRESSES, "SOURCE", 0,
     "Take the PCI addresses of GPUs and NICs from SOURCE, such as live in a "
     "virtual machine (with --to nccl)",
     0},
    {"network", KEY_NETWORK, "SOURCE", 0,
     "Take the hosts and the switches between them from SOURCE", 0},
    {"node", KEY_NODE, "[HOSTS=]SOURCE", 0,
     "Take the inside of hosts (cores, GPUs, NICs) from SOURCE; may be "
     "repeated",
     0},
    {"gpus", KEY_GPUS, "SOURCE", 0, "Take the direct links of GPUs from SOURCE",
     0},
    {"new", KEY_NEW, "SPEC", 0,
     "Write a first cluster file from a few numbers, such as "
     "nodes=4,sockets=2,cores=8,gpus=4,network=fat-tree:16:8",
     0},
    {"list", KEY_LIST, NULL, 0, "List the bundled clusters", 0},
    {"elements", KEY_ELEMENTS, "WHAT", 0,
     "Place ranks on: core (default) or pu (hardware threads)", 0},
    {"distance", KEY_DISTANCE, "A B", 0,
     "Print the distance (number of links, or as given) between A and B: each "
     "the number "
     "of a core of the machine, or gpuN",
     0},
    {"route", KEY_ROUTE, "A B", 0,
     "Print the links from A to B in order; A and B as for --distance", 0},
    {0},
};

/* Parses the two ends of --distance or --route: "A B" or "A,B" in one word, or
 * in two words. An end may be written "gpu N". */
static void take_ends(struct topology_arguments *arguments, char *value,
                      struct argp_state *state)
{
    char *space = strpbrk(value + 4 * !strncmp(value, "gpu ", 4), " ,");

    arguments->end[0] = value;
    if (space) {
        *space = '\0';
        arguments->end[1] = space + 1 + strspn(space + 1, " ,");
    } else if (state->next < state->argc) {
        arguments->end[1] = state->argv[state->next++];
    } else {
        nw_argfail(state, "two ends are needed, such as: 0 gpu1");
    }
}

/* Stores which output is requested; only one is possible. */
static void topology_choose(struct topology_arguments *arguments, int what,
                            struct argp_state *state)
{
    if (arguments->what && arguments->what != what)
        nw_argfail(state, "--tree, --svg, --yaml, --to, --list, --new, "
                          "--distance and --route exclude each other");
    arguments->what = what;
}

static void topology_add_node(struct topology_arguments *arguments,
                              const char *value, struct argp_state *state)
{
    if (arguments->parts.node_count == MAX_NODES)
        nw_argfail(state, "--node is given more than %d times", MAX_NODES);
    arguments->node[arguments->parts.node_count++] = value;
}

static error_t parse_part(int key, const char *value, struct argp_state *state)
{
    struct topology_arguments *arguments = state->input;

    switch (key) {
    case KEY_NETWORK:
        arguments->parts.network = value;
        return 0;
    case KEY_NODE:
        topology_add_node(arguments, value, state);
        return 0;
    case KEY_GPUS:
        arguments->parts.gpus = value;
        return 0;
    case KEY_TO:
        topology_choose(arguments, key, state);
        arguments->export.format = value;
        return 0;
    case KEY_NEW:
        topology_choose(arguments, key, state);
        arguments->template = value;
        return 0;
    case KEY_HOST:
        arguments->export.host = value;
        return 0;
    case KEY_ADDRESSES:
        arguments->addresses = value;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct nw_common_help topology_help = {
    .output = NW_COMMON_OUTPUT,
    .json = NW_COMMON_JSON,
    .quiet = "No notes on stderr",
};

static error_t topology_parse(int key, char *value, struct argp_state *state)
{
    struct topology_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &topology_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case KEY_DISTANCE:
    case KEY_ROUTE:
        topology_choose(arguments, key, state);
        take_ends(arguments, value, state);
        return 0;
    case KEY_TREE:
    case KEY_SVG:
    case KEY_YAML:
    case KEY_LIST:
        topology_choose(arguments, key, state);
        return 0;
    case KEY_ELEMENTS:
        arguments->options.elements = nw_argelements(state, value);
        return 0;
    case ARGP_KEY_ARG:
        if (state->arg_num)
            nw_argfail(state, "more than one SOURCE; --network, --node and "
                              "--gpus join sources");
        arguments->source = value;
        return 0;
    default:
        return parse_part(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = topology_parse,
    .args_doc = "[SOURCE]",
    .doc = "Discover, convert and show the machine. SOURCE is live (the "
           "default), FILE.yaml, FILE.xml, ibnet:FILE, slurm:FILE, k8s:FILE, "
           "nccl:FILE, nvidia-smi:FILE, hwloc:..., hierarchy:..., matrix:FILE "
           "or the name "
           "of a bundled cluster.\v"
           "Examples:\n  nodewise topology hierarchy:4:8:16@1:10:100\n"
           "  nodewise topology --network ibnet:fabric.txt --node "
           "hwloc:node.xml --gpus nvidia-smi:topo.txt -o cluster.yaml\n",
    .children = nw_common_children,
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

/* Makes the text of a file for another program (--to), and prints what its
 * format cannot express. */
static nw_status topology_export(const struct topology_arguments *arguments,
                                 const nw_topology *topology, char **out)
{
    struct nw_topology_export_options form = arguments->export;
    nw_topology *addresses = NULL;
    char *notes = NULL;
    nw_status status = NW_OK;

    if (arguments->addresses)
        status = nw_topology_load(arguments->addresses, &arguments->options,
                                  &addresses);
    form.addresses = addresses;
    if (!status)
        status = nw_topology_export(topology, &form, out, &notes);
    if (!status)
        nw_cli_notes("topology", &arguments->common, notes);
    free(notes);
    nw_topology_free(addresses);
    return status;
}

static nw_status topology_show(const struct topology_arguments *arguments,
                               const nw_topology *topology, char **out)
{
    switch (arguments->what) {
    case KEY_SVG:
        return nw_report_topology_svg(topology, out);
    case KEY_YAML:
        return nw_topology_write(topology, out);
    case KEY_TO:
        return topology_export(arguments, topology, out);
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

static bool has_parts(const struct topology_arguments *arguments)
{
    return arguments->parts.network || arguments->parts.node_count ||
           arguments->parts.gpus;
}

static nw_status cli_topology_load(const struct topology_arguments *arguments,
                                   nw_topology **out)
{
    struct nw_topology_parts parts = arguments->parts;
    char *notes;
    nw_status status;

    if (!has_parts(arguments)) {
        status =
            nw_topology_load(arguments->source ? arguments->source : "live",
                             &arguments->options, out);
        if (!status)
            nw_cli_notes("topology", &arguments->common,
                         nw_topology_notes(*out));
        return status;
    }
    parts.nodes = arguments->node;
    status = nw_topology_compose(&parts, &arguments->options, out, &notes);
    if (status)
        return status;
    nw_cli_notes("topology", &arguments->common, notes);
    free(notes);
    return NW_OK;
}

static nw_status
topology_spare_inputs(const struct topology_arguments *arguments)
{
    nw_status status = nw_cli_spare(
        &arguments->common, arguments->source, arguments->parts.network,
        (char *const *)arguments->node, arguments->parts.node_count);

    if (!status)
        status =
            nw_cli_output_spares(&arguments->common, arguments->parts.gpus);
    return status
               ? status
               : nw_cli_output_spares(&arguments->common, arguments->addresses);
}

static nw_status topology_make(const struct topology_arguments *arguments,
                               char **out)
{
    nw_topology *topology;
    nw_status status;

    if (arguments->what == KEY_LIST)
        return arguments->common.json ? list_json(out) : list_table(out);
    if (arguments->what == KEY_NEW)
        return nw_topology_template(arguments->template, out);
    status = topology_spare_inputs(arguments);
    if (!status)
        status = cli_topology_load(arguments, &topology);
    if (status)
        return status;
    status = topology_show(arguments, topology, out);
    nw_topology_free(topology);
    return status;
}

/* Returns true if the file's name ends in `ending` or in `ending`.zst. */
static bool is_called(const char *file, const char *ending)
{
    char packed[16];

    snprintf(packed, sizeof packed, "%s.zst", ending);
    return nw_text_ends_with(file, ending) || nw_text_ends_with(file, packed);
}

/* If no option selects the output's format, selects it by the ending of the
 * file of -o. The ending .json also selects JSON for --list, --distance and
 * --route. */
static void heed_name(struct topology_arguments *arguments)
{
    const char *file = arguments->common.output;

    if (!file || arguments->common.json)
        return;
    if (!arguments->what &&
        (is_called(file, ".yaml") || is_called(file, ".yml")))
        arguments->what = KEY_YAML;
    else if (!arguments->what &&
             (is_called(file, ".svg") || nw_cli_is_converted(file)))
        arguments->what = KEY_SVG;
    else if (arguments->what != KEY_SVG && arguments->what != KEY_YAML &&
             arguments->what != KEY_NEW && arguments->what != KEY_TREE &&
             arguments->what != KEY_TO && is_called(file, ".json"))
        arguments->common.json = true;
}

/* Returns true if the options fit together; if not, prints why. */
static bool cli_topology_check(const struct topology_arguments *arguments)
{
    int what = arguments->what;
    bool other = what == KEY_SVG || what == KEY_YAML || what == KEY_TO ||
                 what == KEY_NEW;

    if (arguments->common.json && other)
        fprintf(stderr,
                "nodewise topology: --json cannot be combined with --%s\n",
                what == KEY_SVG    ? "svg"
                : what == KEY_YAML ? "yaml"
                : what == KEY_NEW  ? "new"
                                   : "to");
    else if (arguments->source && has_parts(arguments))
        fputs("nodewise topology: either a SOURCE or --network, --node and "
              "--gpus\n",
              stderr);
    else if (what == KEY_NEW && (arguments->source || has_parts(arguments)))
        fputs("nodewise topology: --new reads no machine; leave out SOURCE, "
              "--network, --node and --gpus\n",
              stderr);
    else if (what != KEY_TO && (arguments->export.host || arguments->addresses))
        fprintf(stderr, "nodewise topology: --%s needs --to\n",
                arguments->export.host ? "host" : "addresses");
    else
        return true;
    return false;
}

static int topology_run(int argc, char **argv)
{
    struct topology_arguments arguments = {.options = NW_TOPOLOGY_OPTIONS_INIT,
                                           .parts = NW_TOPOLOGY_PARTS_INIT,
                                           .export =
                                               NW_TOPOLOGY_EXPORT_OPTIONS_INIT};
    char *text;
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (!cli_topology_check(&arguments))
        return NW_EXIT_USAGE;
    code = nw_cli_check_output("topology", &arguments.common);
    if (code)
        return code;
    heed_name(&arguments);
    status = topology_make(&arguments, &text);
    if (status)
        return nw_cli_fail("topology", status);
    arguments.common.json = false; /* the text is already the result */
    code = nw_cli_output("topology", &arguments.common, text, NULL, NULL);
    free(text);
    return code;
}

const struct nw_command nw_command_topology = {
    "topology", "discover, convert and show the machine", &argp, topology_run};
