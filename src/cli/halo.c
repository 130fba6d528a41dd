/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise halo plan: prints the partition, the placement and each pair's
 * method of a halo exchange, for any machine and domain, without running it.
 * nodewise halo tune measures methods (halo_tune.c). */
#include <nodewise/halo.h>

#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/halo_tune.h"
#include "cli/halo_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_FACES 0x2001
#define KEY_BORDER 0x2002
#define KEY_QUANTITIES 0x2003
#define KEY_ELEMENT 0x2004
#define KEY_NODES 0x2005
#define KEY_SLOTS 0x2006
#define KEY_PER_RANK 0x2007
#define KEY_PARTITION 0x2008
#define KEY_PLACEMENT 0x2009
#define KEY_SEED 0x200a
#define KEY_INTERVAL 0x200b
#define KEY_SVG 0x200c
#define KEY_PATTERN 0x200d
#define KEY_MAPPING 0x200e
#define KEY_PAIRS 0x200f
#define KEY_SHOW 0x2010
#define KEY_CLEAR 0x2011
#define KEY_CACHE 0x2012
#define KEY_CHOOSE 0x2013

#define MOST_QUANTITIES 256
#define MOST_NODES (1 << 20)

/* The parsed command line. `show`, `clear`, `cache` and `launcher` belong to
 * `tune`. */
struct halo_arguments {
    struct nw_common common;
    struct nw_halo_options plan;
    struct nw_halo_quantity quantity[MOST_QUANTITIES];
    int32_t radius, quantities, element, nodes, slots, per_rank;
    bool faces, pairs;
    const char *svg, *pattern, *mapping;
    bool tune, show, clear, given_cells;
    const char *cache;
    char **launcher;
};

static const struct argp_option options[] = {
    {"cells", 'n', "XxYxZ", 0, "Cells of the domain, such as 1440x1452x700", 0},
    {"radius", 'r', "N", 0, "Ghost layers on every side (default: 1)", 0},
    {"faces", KEY_FACES, NULL, 0, "Exchange only faces, not edges and corners",
     0},
    {"border", KEY_BORDER, "KIND", 0,
     "Border of the domain: periodic (default), open or mirror; or one for "
     "each axis, separated by commas",
     0},
    {"quantities", KEY_QUANTITIES, "N", 0, "Number of arrays (default: 1)", 0},
    {"element", KEY_ELEMENT, "BYTES", 0, "Bytes of an element (default: 8)", 0},
    {"interval", KEY_INTERVAL, "S", 0,
     "Exchange every S steps, with halos S times as deep (default: 1)", 0},
    {"topology", 't', "SOURCE", 0,
     "The machine; pieces are placed on its GPUs, or its cores if it has none",
     0},
    {"nodes", KEY_NODES, "N", 0,
     "Number of nodes to use (default: all, or 1 without a machine)", 0},
    {"slots", KEY_SLOTS, "N", 0,
     "GPUs or cores of each node to use (default: all, or 1 without a machine)",
     0},
    {"slots-per-rank", KEY_PER_RANK, "N", 0,
     "GPUs or cores of each rank (default: 1)", 0},
    {"partition", KEY_PARTITION, "KIND", 0,
     "How to divide the domain: best (default) or paper", 0},
    {"placement", KEY_PLACEMENT, "KIND", 0,
     "How to place the pieces: best (default), trivial, random or worst", 0},
    {"seed", KEY_SEED, "N", 0, "Random seed of --placement random (default: 1)",
     0},
    {"choose", KEY_CHOOSE, "HOW", 0,
     "How to choose methods: order (fixed order, default) or model (by "
     "predicted time)",
     0},
    {"pairs", KEY_PAIRS, NULL, 0,
     "List every pair of pieces that exchange data: bytes, predicted time and "
     "method",
     0},
    {"svg", KEY_SVG, "FILE", 0, "Write a picture of the pieces to FILE as SVG",
     0},
    {"pattern", KEY_PATTERN, "FILE", 0, "Write the exchange as a pattern", 0},
    {"mapping", KEY_MAPPING, "FILE", 0, "Write the placement as a mapping", 0},
    {"show", KEY_SHOW, NULL, 0, "With tune: print the stored choices", 0},
    {"clear", KEY_CLEAR, NULL, 0, "With tune: delete all stored choices", 0},
    {"cache", KEY_CACHE, "FILE", 0,
     "With tune: file of the measured choices (default: one per user)", 0},
    {0},
};

/* Parses the value of an option that is a number from 1 to `most`. */
static int32_t halo_number(struct argp_state *state, const char *name,
                           const char *value, int32_t most)
{
    int32_t out = 0;

    if (!nw_parse_i32(value, &out) || out < 1 || out > most)
        nw_argfail(state, "--%s is 1 to %d, not '%s'", name, most, value);
    return out;
}

static void parse_cells(struct halo_arguments *arguments, char *value,
                        struct argp_state *state)
{
    int64_t *extent = arguments->plan.extent;
    char *copy = strdup(value), *rest = copy, *word;
    int axis = 0;

    arguments->given_cells = true;
    extent[1] = extent[2] = 1; /* an earlier -n may have set more axes */
    while (copy && axis <= 3 && (word = strsep(&rest, "x")))
        if (axis == 3 || !nw_parse_i64(word, &extent[axis++]))
            axis = 4;
    free(copy);
    if (!axis || axis > 3)
        nw_argfail(state, "--cells is XxYxZ, XxY or X, not '%s'", value);
}

static void parse_border(struct halo_arguments *arguments, char *value,
                         struct argp_state *state)
{
    static const char *const names[] = {"periodic", "open", "mirror"};
    char *rest = value, *word = NULL;
    int commas = 0;

    for (const char *at = value; *at; at++)
        commas += *at == ',';
    if (commas && commas != 2)
        nw_argfail(state,
                   "--border is one kind, or three with commas, not "
                   "'%s'",
                   value);
    for (int axis = 0; axis < 3; axis++) {
        int kind = 0;

        /* a single word applies to all axes */
        word = rest ? strsep(&rest, ",") : word;
        while (kind < 3 && strcmp(word, names[kind]))
            kind++;
        if (kind == 3)
            nw_argfail(state,
                       "unknown border '%s'; use periodic, open or mirror",
                       word);
        arguments->plan.border[axis][0] = arguments->plan.border[axis][1] =
            (enum nw_halo_border)kind;
    }
}

static void halo_parse_kind(struct halo_arguments *arguments, int key,
                            const char *value, struct argp_state *state)
{
    static const char *const partitions[] = {"best", "paper", NULL};
    static const char *const placements[] = {"best", "trivial", "random",
                                             "worst", NULL};

    if (key == KEY_PARTITION)
        arguments->plan.partition = (enum nw_halo_partition)nw_argchoose(
            state, "--partition", value, partitions);
    else
        arguments->plan.placement = (enum nw_halo_placement)nw_argchoose(
            state, "--placement", value, placements);
}

static void halo_parse_choice(struct halo_arguments *arguments,
                              const char *value, struct argp_state *state)
{
    static const char *const choices[] = {"model", "order", NULL};

    arguments->plan.choice = nw_argchoose(state, "--choose", value, choices)
                                 ? NW_HALO_CHOOSE_ORDER
                                 : NW_HALO_CHOOSE_MODEL;
}

/* Parses the options whose value is a number; returns false for other
 * options. */
static bool parse_number(struct halo_arguments *arguments, int key,
                         const char *value, struct argp_state *state)
{
    const struct {
        int key;
        const char *name;
        int32_t *out, most;
    } numbers[] = {
        {'r', "radius", &arguments->radius, 1 << 20},
        {KEY_QUANTITIES, "quantities", &arguments->quantities, MOST_QUANTITIES},
        {KEY_ELEMENT, "element", &arguments->element, 1 << 20},
        {KEY_NODES, "nodes", &arguments->nodes, MOST_NODES},
        {KEY_SLOTS, "slots", &arguments->slots, 1 << 16},
        {KEY_PER_RANK, "slots-per-rank", &arguments->per_rank, 1 << 16},
        {KEY_INTERVAL, "interval", &arguments->plan.interval, 1024},
    };

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (numbers[i].key == key) {
            *numbers[i].out =
                halo_number(state, numbers[i].name, value, numbers[i].most);
            return true;
        }
    return false;
}

/* Parses the words "plan", or "tune" and a launcher after "--". */
static void halo_parse_word(struct halo_arguments *arguments, char *value,
                            struct argp_state *state)
{
    if (!state->arg_num && !strcmp(value, "tune")) {
        arguments->tune = true;
    } else if (state->arg_num && arguments->tune) {
        arguments->launcher = &state->argv[state->next - 1];
        state->next = state->argc;
    } else if (state->arg_num || strcmp(value, "plan")) {
        nw_argfail(state, "unknown word '%s'; use plan or tune", value);
    }
}

static void halo_check_words(const struct halo_arguments *arguments,
                             struct argp_state *state)
{
    if (!state->arg_num)
        nw_argfail(state, "plan or tune is missing; for example: nodewise halo "
                          "plan -n 64x64x64");
    if (!arguments->tune && !arguments->given_cells)
        nw_argfail(state, "the domain is missing; give -n XxYxZ");
    if (arguments->show && arguments->clear)
        nw_argfail(state, "--show and --clear exclude each other");
    if (arguments->tune && (arguments->common.output || arguments->common.json))
        nw_argfail(state, "-o and --json belong to plan; what tune measures is "
                          "kept in --cache");
    if (arguments->tune && (arguments->svg || arguments->pattern ||
                            arguments->mapping || arguments->pairs))
        nw_argfail(state, "--svg, --pattern, --mapping and --pairs belong to "
                          "plan");
    if (!arguments->tune &&
        (arguments->show || arguments->clear || arguments->cache))
        nw_argfail(state, "--show, --clear and --cache belong to tune");
    if (arguments->tune && !arguments->show && !arguments->clear &&
        !arguments->launcher)
        nw_argfail(state, "the launcher is missing; for example: nodewise halo "
                          "tune -n 64x64x64 -- mpirun -n 2");
}

static const struct nw_common_help halo_help = {
    .output = "plan: write the result to FILE (- is stdout)",
    .json = "plan: print JSON",
    .progress = "plan: show progress: auto, always or never",
    .quiet = "plan: no progress on stderr",
};

static error_t halo_parse(int key, char *value, struct argp_state *state)
{
    struct halo_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &halo_help;
        state->child_inputs[0] = &arguments->common;
        return 0;
    case 'n':
        parse_cells(arguments, value, state);
        return 0;
    case 't':
        arguments->plan.topology = value;
        return 0;
    case KEY_FACES:
        arguments->faces = true;
        return 0;
    case KEY_PAIRS:
        arguments->pairs = true;
        return 0;
    case KEY_BORDER:
        parse_border(arguments, value, state);
        return 0;
    case KEY_PARTITION:
    case KEY_PLACEMENT:
        halo_parse_kind(arguments, key, value, state);
        return 0;
    case KEY_CHOOSE:
        halo_parse_choice(arguments, value, state);
        return 0;
    case KEY_SEED:
        if (!nw_parse_u64(value, &arguments->plan.seed))
            nw_argfail(state, "--seed is a number, not '%s'", value);
        return 0;
    case KEY_SVG:
        arguments->svg = value;
        return 0;
    case KEY_PATTERN:
        arguments->pattern = value;
        return 0;
    case KEY_MAPPING:
        arguments->mapping = value;
        return 0;
    case KEY_SHOW:
        arguments->show = true;
        return 0;
    case KEY_CLEAR:
        arguments->clear = true;
        return 0;
    case KEY_CACHE:
        arguments->cache = value;
        return 0;
    case ARGP_KEY_ARG:
        halo_parse_word(arguments, value, state);
        return 0;
    case ARGP_KEY_END:
        halo_check_words(arguments, state);
        return 0;
    default:
        return parse_number(arguments, key, value, state) ? 0
                                                          : ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = halo_parse,
    .args_doc = "plan\ntune -- LAUNCHER [ARGUMENT...]\ntune --show|--clear",
    .doc = "Plan a halo exchange without running it: partition, placement, "
           "method of each pair; or measure its methods for this machine, once "
           "for all programs.\v"
           "Examples:\n  nodewise halo tune -n 64x64x128 -- mpirun -n 2\n"
           "  nodewise halo plan -t summit:1 -n 1440x1452x700 -r 3 "
           "--quantities 4 --element 4\n",
    .children = nw_common_children,
};

/* Finds the number of slots of each node to use: --slots, else the node's GPUs,
 * else its cores; 1 without a machine. NW_EINVAL: the machine has fewer nodes
 * or slots than the options say. The caller frees *slots, which *out refers to,
 * also after a failure. */
static nw_status find_places(const struct halo_arguments *arguments,
                             const nw_topology *topology, int32_t **slots,
                             struct nw_halo_places *out)
{
    int32_t nodes = arguments->nodes ? arguments->nodes
                    : topology       ? nw_topology_node_count(topology)
                                     : 1;
    bool gpus = topology && nw_topology_gpu_count(topology) > 0;

    if (topology && nodes > nw_topology_node_count(topology))
        return nw_fail(
            NW_EINVAL, "'%s' has %d node%s, not %d", nw_topology_name(topology),
            nw_topology_node_count(topology),
            nw_plural((uint64_t)nw_topology_node_count(topology)), nodes);
    *slots = calloc((size_t)nodes + 1, sizeof **slots);
    if (!*slots)
        return nw_fail(NW_ENOMEM, "out of memory");
    for (int32_t i = 0; i < nodes; i++) {
        int32_t most = !topology ? arguments->slots ? arguments->slots : 1
                       : gpus    ? nw_topology_node_gpus(topology, i).count
                                 : nw_topology_node_elements(topology, i).count;

        if (topology && arguments->slots > most)
            return nw_fail(NW_EINVAL,
                           "node %d has only %d slot%s; --slots is %d", i, most,
                           nw_plural((uint64_t)most), arguments->slots);
        (*slots)[i] = arguments->slots ? arguments->slots : most;
    }
    *out = (struct nw_halo_places){nodes, *slots};
    return NW_OK;
}

/* Sets the options of the plan that depend on several options of the command
 * line. */
static void halo_complete(struct halo_arguments *arguments)
{
    nw_halo_radius(&arguments->plan, arguments->radius, !arguments->faces);
    for (int32_t i = 0; i < arguments->quantities; i++)
        arguments->quantity[i].bytes = (size_t)arguments->element;
    arguments->plan.pieces_per_rank = arguments->per_rank;
    arguments->plan.quantity = arguments->quantity;
    arguments->plan.quantity_count = arguments->quantities;
}

/* Checks that all output files can be written, and that none of them overwrites
 * the topology or another output file. */
static nw_status spare_topology(const struct halo_arguments *arguments)
{
    const struct nw_cli_file file[] = {{"--svg", arguments->svg},
                                       {"--pattern", arguments->pattern},
                                       {"--mapping", arguments->mapping}};
    size_t count = sizeof file / sizeof *file;
    nw_status status = nw_cli_apart(&arguments->common, file, count);

    if (!status)
        status =
            nw_cli_output_spares(&arguments->common, arguments->plan.topology);
    for (size_t i = 0; !status && i < count; i++)
        status = nw_cli_spares(file[i].option, file[i].path,
                               arguments->plan.topology);
    return status;
}

/* Loads the machine and plans the exchange; makes the layouts of `view`. */
static nw_status halo_make(struct halo_arguments *arguments,
                           struct nw_halo_view_of *view)
{
    struct nw_halo_options other;
    struct nw_halo_places places = {0};
    int32_t *slots = NULL;
    nw_status status = NW_OK;

    halo_complete(arguments);
    if (arguments->plan.topology)
        status =
            nw_topology_load(arguments->plan.topology, NULL, &view->topology);
    if (!status)
        status = find_places(arguments, view->topology, &slots, &places);
    arguments->plan.progress = nw_cli_progress(&arguments->common);
    if (!status)
        status = nw_halo_layout_make(&arguments->plan, &places, &view->layout);
    nw_cli_progress_finish();
    arguments->plan.progress = NULL;
    /* for comparison: a layout placed in rank order, and one that exchanges at
     * every step */
    other = arguments->plan;
    other.placement = NW_HALO_PLACE_TRIVIAL;
    if (!status)
        status = nw_halo_layout_make(&other, &places, &view->trivial);
    other.interval = 1;
    if (!status && arguments->plan.interval > 1)
        status = nw_halo_layout_make(&other, &places, &view->each_step);
    free(slots);
    return status;
}

static nw_status write_files(const struct halo_arguments *arguments,
                             const struct nw_halo_view_of *view)
{
    nw_pattern *pattern = NULL;
    nw_mapping *mapping = NULL;
    nw_status status = NW_OK;

    if (arguments->mapping && !view->topology)
        return nw_fail(NW_EINVAL, "--mapping needs a topology, -t");
    if (arguments->pattern)
        status = nw_halo_layout_pattern(view->layout, &pattern);
    if (!status && pattern)
        status = nw_pattern_write(pattern, arguments->pattern);
    if (!status && arguments->mapping)
        status = nw_halo_layout_mapping(view->layout, view->topology, &mapping);
    if (!status && mapping)
        status = nw_mapping_write(mapping, arguments->mapping);
    if (!status && arguments->svg)
        status = nw_cli_halo_svg(view, arguments->svg);
    nw_pattern_free(pattern);
    nw_mapping_free(mapping);
    return status;
}

/* Returns true if one of the files is standard output. */
static bool takes_stdout(const struct halo_arguments *arguments)
{
    const char *const file[] = {arguments->svg, arguments->pattern,
                                arguments->mapping};

    for (size_t i = 0; i < sizeof file / sizeof *file; i++)
        if (file[i] && !strcmp(file[i], "-"))
            return true;
    return false;
}

static int halo_show(const struct halo_arguments *arguments,
                     const struct nw_halo_view_of *view)
{
    char *table = NULL, *json = NULL;
    const char *result;
    int code;
    nw_status status = write_files(arguments, view);

    if (!status)
        status = nw_cli_halo_table(view, &table);
    if (!status)
        status = nw_cli_halo_json(view, &json);
    /* only one result may use standard output */
    result = !arguments->common.output && takes_stdout(arguments) ? NULL
             : arguments->common.json                             ? json
                                                                  : table;
    if (status == NW_EIO) /* a write error: all input has been read */
        code = nw_cli_fail_output("halo", status);
    else if (status)
        code = nw_cli_fail("halo", status);
    else
        code = nw_cli_output("halo", &arguments->common, result,
                             result ? NULL : table, result ? NULL : json);
    free(table);
    free(json);
    return code;
}

static int cli_halo_tune(struct halo_arguments *arguments)
{
    struct nw_cli_halo_tuning tuning = {
        .plan = &arguments->plan,
        .quantities = arguments->quantities,
        .element = arguments->element,
        .per_rank = arguments->per_rank,
        .file = arguments->cache,
        .show = arguments->show,
        .clear = arguments->clear,
        .launcher = arguments->launcher,
    };

    halo_complete(arguments);
    return nw_cli_halo_tune(&tuning);
}

static int halo_run(int argc, char **argv)
{
    struct halo_arguments arguments = {.plan = NW_HALO_OPTIONS_INIT,
                                       .radius = 1,
                                       .quantities = 1,
                                       .element = 8,
                                       .per_rank = 1};
    struct nw_halo_view_of view = {0};
    nw_status status;
    int code;

    arguments.plan.seed = 1;
    arguments.plan.choice = NW_HALO_CHOOSE_ORDER;
    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.tune)
        return cli_halo_tune(&arguments);
    status = spare_topology(&arguments);
    if (status)
        return status == NW_EIO ? nw_cli_fail_output("halo", status)
                                : nw_cli_fail("halo", status);
    view.plan = &arguments.plan;
    view.pairs = arguments.pairs;
    status = halo_make(&arguments, &view);
    code = status ? nw_cli_fail("halo", status) : halo_show(&arguments, &view);
    nw_halo_layout_free(view.layout);
    nw_halo_layout_free(view.trivial);
    nw_halo_layout_free(view.each_step);
    nw_topology_free(view.topology);
    return code;
}

const struct nw_command nw_command_halo = {
    "halo", "plan a halo exchange, or measure its methods", &argp, halo_run};
