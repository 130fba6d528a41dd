/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise map: computes a mapping, and prints its costs beside those of the
 * default mapping. */
#include <nodewise/map.h>

#include "base/parallel.h"
#include "base/file.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/cost_view.h"
#include "cli/hosts.h"
#include "cli/list.h"
#include "cli/map_restart.h"
#include "cli/map_start.h"
#include "cli/numbers.h"
#include "cli/parameters.h"
#include "cli/rowcol.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    KEY_ALGORITHM = 0x2001,
    KEY_OBJECTIVE,
    KEY_SEED,
    KEY_AFFINITY,
    KEY_PHASE1,
    KEY_PHASE2,
    KEY_PHASE3,
    KEY_CORES,
    KEY_GPUS,
    KEY_SHARE,
    KEY_HOSTS,
    KEY_HOSTFILE,
    KEY_FIX,
    KEY_FORMAT,
    KEY_LIST,
    KEY_PARAMETERS,
    KEY_COMPACT,
    KEY_ELEMENTS,
    KEY_REMOTE,
    KEY_QAPLIB,
    KEY_EFFORT,
    KEY_TIME,
    KEY_STEPS,
    KEY_THREADS,
    KEY_FROM,
    KEY_CAPACITY,
    KEY_IMBALANCE,
    KEY_WEIGHTS,
    KEY_SPEEDS,
    KEY_WHOLE,
    KEY_SPARE,
    KEY_WITHOUT,
    KEY_MOVE_COST,
};

struct map_arguments {
    struct nw_common common;
    const char *source, *pattern, *qaplib;
    const char *hosts, *hostfile, *fix, *from;
    const char *weights, *speeds;
    bool compact, list, parameters, elements_out, objective_given;
    bool keeps; /* --steps 0: the mapping of --from is the result */
    struct nw_objective_choice choice; /* the objective that was chosen if no
                                          --objective is given */
    enum nw_elements elements;
    struct nw_map_options map;
    struct nw_cli_rowcol rowcol;
    struct nw_cli_restart restart;
    const char *not_rowcol; /* name of an option that --algorithm rowcol
                               would ignore; NULL: none */
};

/* Returns true for the algorithm rowcol, which maps a grid instead of a
 * pattern. */
static bool is_rowcol(const struct map_arguments *arguments)
{
    return arguments->map.algorithm &&
           !strcmp(arguments->map.algorithm, "rowcol");
}

static const struct argp_option options[] = {
    {"topology", 't', "SOURCE", 0,
     "The machine: a cluster file or another SOURCE of nodewise topology", 1},
    {"pattern", 'p', "PATTERN", 0, "Communication pattern of the program", 1},
    {"qaplib", KEY_QAPLIB, "FILE", 0,
     "Read pattern and distances from one QAPLIB file", 1},
    {"compact", KEY_COMPACT, NULL, 0,
     "Renumber the ranks of a pattern list:FILE from 0 if numbers are missing",
     1},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "Place ranks on core (default) or pu, hardware threads", 1},
    {"algorithm", KEY_ALGORITHM, "NAME", 0,
     "Mapping algorithm (default: auto); see --list", 2},
    {"list", KEY_LIST, NULL, 0, "List the algorithms", 2},
    {"show-parameters", KEY_PARAMETERS, NULL, 0,
     "Print every tuned number of the searches with its meaning", 2},
    {"objective", KEY_OBJECTIVE, "NAME", 0,
     "What to minimise: hop-bytes, congestion, latency, time or auto "
     "(default: auto, by bytes per message); NAME,NAME: the second decides "
     "between equals",
     2},
    {"effort", KEY_EFFORT, "HOW", 0,
     "How much to search: fast, default or strong (default: default)", 2},
    {"time", KEY_TIME, "TIME", 0,
     "Search for this long instead of a fixed number of steps", 2},
    {"steps", KEY_STEPS, "N", 0,
     "Search exactly this many steps, to repeat an earlier result; 0: keep the "
     "mapping of --from",
     2},
    {"threads", KEY_THREADS, "N", 0, "Number of threads (default: all cores)",
     2},
    {"from", KEY_FROM, "FILE", 0,
     "Initial mapping, rankfile or list of hosts (default: the launcher's "
     "own placement)",
     2},
    {"seed", KEY_SEED, "NUMBER", 0, "Random seed (default: 1)", 2},
    {"affinity", KEY_AFFINITY, "WEIGHT", 0,
     "How strongly to keep a rank's core, GPU and NIC close to each other "
     "(default: 0, off)",
     2},
    {"phase1", KEY_PHASE1, "ALGORITHM", 0,
     "Algorithm that puts ranks on nodes; --list names all", 2},
    {"phase2", KEY_PHASE2, "ALGORITHM", 0,
     "Algorithm that puts ranks on the cores of a node", 2},
    {"phase3", KEY_PHASE3, "ALGORITHM", 0,
     "Algorithm that puts ranks on the GPUs of a node", 2},
    {"cores-per-rank", KEY_CORES, "N", 0, "Cores of each rank (default: 1)", 3},
    {"gpus-per-rank", KEY_GPUS, "N", 0,
     "GPUs of each rank (default: 1 if the pattern has a GPU layer)", 3},
    {"ranks-per-gpu", KEY_SHARE, "N", 0,
     "Maximum number of ranks that share a GPU (default: 1); gives GPUs to the "
     "ranks of any pattern",
     3},
    {"capacity", KEY_CAPACITY, "N", 0,
     "Maximum number of ranks on one element (default: 1)", 3},
    {"imbalance", KEY_IMBALANCE, "FRACTION", 0,
     "How far an element's load may exceed the mean: 0.03 or 3%", 3},
    {"weights", KEY_WEIGHTS, "FILE", 0, "Load of each rank, one per line", 3},
    {"speeds", KEY_SPEEDS, "FILE", 0, "Speed of each element, one per line", 3},
    {"remote-gpus", KEY_REMOTE, NULL, 0,
     "Let a rank have a GPU of another node", 3},
    {"whole-nodes", KEY_WHOLE, NULL, 0,
     "Give each node consecutive ranks, as torchrun and DeepSpeed number them",
     3},
    {"spare", KEY_SPARE, "N", 0,
     "Leave the last N nodes without ranks, for a restart, and print all "
     "unused nodes",
     3},
    {"without", KEY_WITHOUT, "NODES", 0,
     "Restart the mapping of --from without these lost nodes: n3,n[7-8]", 3},
    {"move-cost", KEY_MOVE_COST, "TIME", 0,
     "How much faster one exchange must get for each additional rank that "
     "moves, with --without (default: 1 % of its time)",
     3},
    {"hosts", KEY_HOSTS, "LIST", 0,
     "Nodes to use, with optional slots: n[1-4],x:8", 3},
    {"hostfile", KEY_HOSTFILE, "FILE", 0, "Nodes to use, one per line", 3},
    {"fix", KEY_FIX, "FILE", 0,
     "Mapping of ranks that keep their place; a node, core or GPU written as * "
     "is not fixed",
     3},
    {"output-format", KEY_FORMAT, "FORMAT", 0,
     "Format of the result: mapping (default), or pe (one element number per "
     "line)",
     4},
    {0},
};

static void parse_count(const char *option, const char *value, int32_t *out,
                        struct argp_state *state)
{
    if (!nw_parse_i32(value, out) || *out < 1)
        nw_argfail(state, "%s is a number from 1, not '%s'", option, value);
}

static void map_parse_algorithm(const char *value,
                                struct map_arguments *arguments,
                                struct argp_state *state)
{
    struct nw_nearest nearest;
    const char *name, *summary;

    arguments->map.algorithm = value;
    if (!strcmp(value, "rowcol"))
        return;
    nw_nearest_start(&nearest, value, strlen(value));
    for (size_t i = 0; nw_map_algorithm(i, &name, &summary); i++) {
        if (!strcmp(name, value))
            return;
        nw_nearest_try(&nearest, name);
    }
    nw_argfail(state, "unknown algorithm '%s'; %s", value,
               nw_nearest_say(&nearest, "--list shows all algorithms"));
}

static enum nw_objective objective_of(const char *name,
                                      struct argp_state *state)
{
    enum nw_objective objective = NW_OBJECTIVE_HOP_BYTES;

    if (!strcmp(name, "auto"))
        nw_argfail(state, "auto chooses one objective: it stands alone");
    if (strchr(name, ','))
        nw_argfail(state, "at most two objectives: no third in '%s'", name);
    if (!nw_objective_find(name, &objective))
        nw_argfail(
            state,
            "unknown objective '%s'; use auto, hop-bytes, congestion, latency "
            "or time",
            name);
    return objective;
}

/* Parses NAME, NAME,NAME or auto. */
static void parse_objective(char *value, struct map_arguments *arguments,
                            struct argp_state *state)
{
    struct nw_map_options *map = &arguments->map;
    char *comma = strchr(value, ',');

    arguments->objective_given = strcmp(value, "auto") != 0;
    map->has_second = false;
    if (!arguments->objective_given)
        return;
    if (comma)
        *comma = '\0';
    map->objective = objective_of(value, state);
    map->has_second = comma != NULL;
    if (comma)
        map->second = objective_of(comma + 1, state);
    if (comma && map->second == map->objective)
        nw_argfail(state, "the two objectives are the same");
}

static void parse_imbalance(char *value, struct nw_map_options *map,
                            struct argp_state *state)
{
    size_t length = strlen(value);
    bool percent = length && value[length - 1] == '%';

    if (percent)
        value[length - 1] = '\0';
    if (!nw_parse_double(value, &map->imbalance) || map->imbalance < 0 ||
        map->imbalance / (percent ? 100 : 1) >= 1e6)
        nw_argfail(state,
                   "--imbalance is a fraction such as 0.03 or 3%%, from 0 and "
                   "less than 1000000, not '%s%s'",
                   value, percent ? "%" : "");
    if (percent)
        map->imbalance /= 100;
}

/* Parses the options for the search: its effort, time, steps and threads, and
 * the limits of capacity and imbalance. */
static error_t parse_search(int key, char *value, struct argp_state *state)
{
    static const char *const efforts[] = {"default", "fast", "strong", NULL};
    struct map_arguments *arguments = state->input;
    struct nw_map_options *map = &arguments->map;

    switch (key) {
    case KEY_EFFORT:
        map->effort =
            (enum nw_effort)nw_argchoose(state, "--effort", value, efforts);
        return 0;
    case KEY_TIME:
        if (!nw_parse_duration(value, &map->seconds) || !(map->seconds > 0))
            nw_argfail(state, "--time is a time such as 90s or 5m, not '%s'",
                       value);
        return 0;
    case KEY_STEPS:
        if (!nw_parse_u64(value, &map->steps))
            nw_argfail(state, "--steps is a whole number, not '%s'", value);
        arguments->keeps = !map->steps;
        return 0;
    case KEY_THREADS:
        parse_count("--threads", value, &map->threads, state);
        return 0;
    case KEY_CAPACITY:
        parse_count("--capacity", value, &map->capacity, state);
        return 0;
    case KEY_IMBALANCE:
        parse_imbalance(value, map, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_numbers(int key, char *value, struct argp_state *state)
{
    struct map_arguments *arguments = state->input;
    struct nw_map_options *map = &arguments->map;

    switch (key) {
    case KEY_SEED:
        if (!nw_parse_u64(value, &map->seed))
            nw_argfail(state, "--seed is a number from 0, not '%s'", value);
        return 0;
    case KEY_AFFINITY:
        if (!nw_parse_double(value, &map->affinity) || map->affinity < 0)
            nw_argfail(state, "--affinity is a weight from 0, not '%s'", value);
        return 0;
    case KEY_CORES:
        parse_count("--cores-per-rank", value, &map->cores_per_rank, state);
        return 0;
    case KEY_GPUS:
        parse_count("--gpus-per-rank", value, &map->gpus_per_rank, state);
        return 0;
    case KEY_SHARE:
        parse_count("--ranks-per-gpu", value, &map->ranks_per_gpu, state);
        return 0;
    case KEY_SPARE:
        if (!nw_parse_i32(value, &map->spare) || map->spare < 0)
            nw_argfail(state, "--spare is a number from 0, not '%s'", value);
        arguments->restart.spare = true;
        return 0;
    case KEY_MOVE_COST:
        if (!nw_parse_duration(value, &map->move_cost))
            nw_argfail(state, "--move-cost is a time such as 20us, not '%s'",
                       value);
        arguments->restart.moved_by = value;
        return 0;
    default:
        return parse_search(key, value, state);
    }
}

static error_t parse_choices(int key, char *value, struct argp_state *state)
{
    static const char *const formats[] = {"mapping", "pe", NULL};
    struct map_arguments *arguments = state->input;

    switch (key) {
    case KEY_ALGORITHM:
        map_parse_algorithm(value, arguments, state);
        return 0;
    case KEY_OBJECTIVE:
        parse_objective(value, arguments, state);
        return 0;
    case KEY_PHASE1:
    case KEY_PHASE2:
    case KEY_PHASE3:
        if (!nw_map_phase_known(value))
            nw_argfail(
                state,
                "algorithm '%s' cannot do a phase; --list shows those that can",
                value);
        arguments->map.phase[key - KEY_PHASE1] = value;
        return 0;
    case KEY_FORMAT:
        arguments->elements_out =
            nw_argchoose(state, "--output-format", value, formats);
        return 0;
    case KEY_ELEMENTS:
        arguments->elements = nw_argelements(state, value);
        return 0;
    default:
        return parse_numbers(key, value, state);
    }
}

/* Returns true if --phase1, --phase2 or --phase3 is given for an algorithm that
 * has no phases. */
static bool wants_phases(const struct nw_map_options *map)
{
    static const char *const without[] = {"auto",   "default", "sorted", "fold",
                                          "anneal", "tabu",    "exact"};
    bool found = false;

    if (map->algorithm && (map->phase[0] || map->phase[1] || map->phase[2]))
        for (size_t i = 0; i < sizeof without / sizeof *without; i++)
            found |= !strcmp(map->algorithm, without[i]);
    return found;
}

/* Returns the name of an option that --whole-nodes and --without exclude, or
 * NULL. */
static const char *map_excluded(const struct map_arguments *arguments)
{
    const struct nw_map_options *map = &arguments->map;

    return arguments->fix        ? "fix"
           : map->remote_gpus    ? "remote-gpus"
           : map->capacity       ? "capacity"
           : map->imbalance >= 0 ? "imbalance"
                                 : NULL;
}

static void check_restart(const struct map_arguments *arguments,
                          struct argp_state *state)
{
    const struct nw_cli_restart *restart = &arguments->restart;
    const char *other = map_excluded(arguments);

    if (arguments->map.whole_nodes && other)
        nw_argfail(state, "--whole-nodes and --%s exclude each other", other);
    if (restart->without && other)
        nw_argfail(state, "--without and --%s exclude each other", other);
    if (restart->without && !arguments->from)
        nw_argfail(state, "--without needs --from, the mapping to restart");
    if (restart->moved_by && !restart->without)
        nw_argfail(state, "--move-cost needs --without");
    if (restart->spare &&
        (arguments->map.capacity > 1 || arguments->map.imbalance >= 0))
        nw_argfail(state, "--spare excludes --capacity and --imbalance");
}

static void map_check(const struct map_arguments *arguments,
                      struct argp_state *state)
{
    if (arguments->list || arguments->parameters)
        return;
    if (is_rowcol(arguments)) {
        if (!arguments->source || arguments->pattern || arguments->qaplib ||
            !arguments->rowcol.grid[0])
            nw_argfail(state, "rowcol needs -t SOURCE and --grid NxMxL, and "
                              "no pattern");
        if (arguments->not_rowcol)
            nw_argfail(state, "--%s cannot be used with --algorithm rowcol",
                       arguments->not_rowcol);
        return;
    }
    if (arguments->rowcol.option)
        nw_argfail(state, "--%s is an option of --algorithm rowcol",
                   arguments->rowcol.option);
    if (arguments->qaplib ? arguments->source || arguments->pattern
                          : !arguments->source || !arguments->pattern)
        nw_argfail(state, "-t SOURCE and -p PATTERN are needed, or --qaplib "
                          "FILE alone");
    check_restart(arguments, state);
    if (arguments->hosts && arguments->hostfile)
        nw_argfail(state, "--hosts and --hostfile exclude each other");
    if (wants_phases(&arguments->map))
        nw_argfail(state, "algorithm %s has no phases to replace",
                   arguments->map.algorithm);
    if ((arguments->weights || arguments->speeds) &&
        arguments->map.imbalance < 0)
        nw_argfail(state, "--weights and --speeds need --imbalance");
    if (arguments->map.seconds > 0 &&
        (arguments->map.steps || arguments->keeps))
        nw_argfail(state, "--time and --steps exclude each other");
    if (arguments->keeps &&
        (!arguments->from || arguments->fix || arguments->map.algorithm ||
         arguments->map.whole_nodes || arguments->restart.without))
        nw_argfail(state,
                   "--steps 0 keeps the mapping of --from: give --from FILE, "
                   "without --algorithm, --fix, --whole-nodes and --without");
}

/* Returns true for the options that rowcol accepts. Other options are errors,
 * since rowcol would ignore them. */
static bool is_of_rowcol(int key)
{
    return key == 't' || key == KEY_ALGORITHM || key == KEY_SEED ||
           key == KEY_SPEEDS || key == KEY_LIST;
}

static const struct nw_common_help map_help = {
    .output = "Write the mapping to FILE (- is stdout)",
    .json = NW_COMMON_JSON,
    .progress = NW_COMMON_PROGRESS,
    .quiet = "No table, notes or progress",
};

static error_t map_parse(int key, char *value, struct argp_state *state)
{
    struct map_arguments *arguments = state->input;

    for (const struct argp_option *at = options; at->name; at++)
        if (at->key == key && !is_of_rowcol(key))
            arguments->not_rowcol = at->name;
    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &map_help;
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->rowcol;
        return 0;
    case 't':
        arguments->source = value;
        return 0;
    case 'p':
        arguments->pattern = value;
        return 0;
    case KEY_COMPACT:
        arguments->compact = true;
        return 0;
    case KEY_LIST:
        arguments->list = true;
        return 0;
    case KEY_PARAMETERS:
        arguments->parameters = true;
        return 0;
    case KEY_REMOTE:
        arguments->map.remote_gpus = true;
        return 0;
    case KEY_WHOLE:
        arguments->map.whole_nodes = true;
        return 0;
    case KEY_WITHOUT:
        arguments->restart.without = value;
        return 0;
    case KEY_HOSTS:
        arguments->hosts = value;
        return 0;
    case KEY_HOSTFILE:
        arguments->hostfile = value;
        return 0;
    case KEY_QAPLIB:
        arguments->qaplib = value;
        return 0;
    case KEY_FIX:
        arguments->fix = value;
        return 0;
    case KEY_FROM:
        arguments->from = value;
        return 0;
    case KEY_WEIGHTS:
        arguments->weights = value;
        return 0;
    case KEY_SPEEDS:
        arguments->speeds = value;
        return 0;
    case ARGP_KEY_ARG:
        nw_argfail(state, "'%s': patterns are given with -p", value);
        return 0;
    case ARGP_KEY_END:
        map_check(arguments, state);
        return 0;
    default:
        return parse_choices(key, value, state);
    }
}

static const struct argp_child children[] = {
    {&nw_common_argp, 0, NULL, 0}, {&nw_rowcol_argp, 0, NULL, 0}, {0}};
static const struct argp argp = {
    .options = options,
    .parser = map_parse,
    .doc = "Map a program onto a machine: a node, cores and GPUs for each "
           "rank.\v"
           "Example:\n  nodewise map -t magc-a -p app.pattern -o app.mapping\n",
    .children = children,
};

/* The data of a run after the options are parsed. */
struct map_work {
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *fixed, *start;
    struct nw_hosts hosts;
    uint64_t *weights;
    double *speeds;
    struct nw_map_answer answer;
    struct nw_headline headline;
};

static nw_status load_qaplib(struct map_work *work, const char *path)
{
    double *distances = NULL;
    size_t n;
    nw_status status = nw_qaplib_read(path, &work->pattern, &distances, &n);

    if (!status)
        status =
            nw_topology_from_distances(path, distances, n, &work->topology);
    free(distances);
    return status;
}

/* Argument of load_topology, which may run in another thread. */
struct map_source {
    const char *name;
    struct nw_topology_options options;
    nw_topology **out;
};

static nw_status load_topology(void *user)
{
    const struct map_source *source = user;

    return nw_topology_load(source->name, &source->options, source->out);
}

/* Argument of map_read_pattern, which may run in another thread. */
struct input {
    const char *name;
    struct nw_pattern_read_options options;
    nw_pattern **out;
};

static nw_status map_read_pattern(void *user)
{
    const struct input *input = user;

    return nw_pattern_read(input->name, &input->options, input->out);
}

/* Loads machine and pattern at the same time. If both fail, the error is that
 * of the machine. */
static nw_status load_both(struct map_work *work,
                           const struct map_arguments *arguments)
{
    struct map_source source = {arguments->source, NW_TOPOLOGY_OPTIONS_INIT,
                                &work->topology};
    struct input input = {arguments->pattern, NW_PATTERN_READ_OPTIONS_INIT,
                          &work->pattern};
    struct nw_parallel_task both[] = {
        {.run = load_topology, .user = &source},
        {.run = map_read_pattern, .user = &input}};

    if (arguments->qaplib)
        return load_qaplib(work, arguments->qaplib);
    source.options.elements = arguments->elements;
    input.options.compact = arguments->compact;
    input.options.threads = arguments->map.threads;
    return nw_parallel_pair(both, nw_parallel_size(arguments->map.threads));
}

/* Chooses the objective from the machine and the pattern. Called only if no
 * objective is given. */
static nw_status map_choose(const struct map_work *work,
                            struct map_arguments *arguments)
{
    struct nw_map_options *map = &arguments->map;
    nw_status status = nw_map_choose_objective(work->topology, work->pattern,
                                               &arguments->choice);

    if (status)
        return status;
    map->objective = arguments->choice.objective;
    map->careful = map->objective != NW_OBJECTIVE_HOP_BYTES;
    return NW_OK;
}

/* Checks that -o does not overwrite an input. A mapping (--from, --fix) may be
 * overwritten, since it may be improved in place. */
static nw_status map_spare_inputs(const struct map_arguments *arguments)
{
    const char *const inputs[] = {
        arguments->source,           arguments->pattern,  arguments->qaplib,
        arguments->weights,          arguments->hostfile, arguments->speeds,
        arguments->rowcol.bandwidths};
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < sizeof inputs / sizeof *inputs; i++)
        status = nw_cli_output_spares(&arguments->common, inputs[i]);
    return status;
}

/* Reads all inputs and sets the options that depend on them. */
static nw_status map_load(struct map_work *work,
                          struct map_arguments *arguments)
{
    struct nw_map_options *map = &arguments->map;
    nw_status status = load_both(work, arguments);

    if (!status)
        nw_cli_notes("map", &arguments->common,
                     nw_topology_notes(work->topology));
    if (!status)
        status = nw_cli_hosts(work->topology, arguments->hosts,
                              arguments->hostfile, &work->hosts);
    if (status)
        status =
            nw_cli_blame_hosts(arguments->source, arguments->hostfile, status);
    if (!status && arguments->fix)
        status = nw_mapping_read(arguments->fix, work->topology, &work->fixed);
    if (!status && arguments->weights)
        status = nw_cli_read_weights(arguments->weights,
                                     (size_t)work->pattern->rank_count,
                                     &work->weights);
    if (!status && arguments->speeds)
        status = nw_cli_read_speeds(
            arguments->speeds,
            (size_t)nw_topology_element_count(work->topology), &work->speeds);
    if (status)
        return status;
    if (map->ranks_per_gpu && !map->gpus_per_rank &&
        !nw_pattern_has_gpu(work->pattern))
        map->gpus_per_rank = 1;
    map->weights = work->weights;
    map->speeds = work->speeds;
    map->fixed = work->fixed;
    if (arguments->from)
        status = nw_cli_start_read(arguments->from, work->topology,
                                   work->pattern, map, &work->start);
    map->start = work->start;
    if (status || arguments->objective_given)
        return status;
    return map_choose(work, arguments);
}

/* Checks that the mapping of --from fits and computes its costs and those of
 * the default. All ranks are fixed, so the algorithm has nothing to choose. */
static nw_status map_keep(const struct map_work *work,
                          const struct map_arguments *arguments,
                          struct nw_map_answer *out)
{
    struct nw_map_options map = arguments->map;
    struct nw_map_answer standard = {0};
    nw_status status;

    map.algorithm = "default";
    map.start = NULL;
    status = nw_map_priced(work->topology, work->pattern, &map, &standard);
    if (status)
        return status;
    map.fixed = work->start;
    status = nw_map_priced(work->topology, work->pattern, &map, out);
    if (!status) {
        struct nw_cost same = out->standard;

        out->standard = standard.standard;
        standard.standard = same;
        out->report.algorithm = "from";
    }
    nw_map_answer_fini(&standard);
    return status ? nw_cli_blame_fix(arguments->from, status) : NW_OK;
}

static nw_status map_compute(struct map_work *work,
                             struct map_arguments *arguments)
{
    nw_status status;

    status = nw_cli_restart_read(&arguments->restart, work->topology,
                                 &arguments->map);
    if (status)
        return status;
    nw_cli_hosts_use(&work->hosts, work->pattern->rank_count, &arguments->map);
    nw_cli_hosts_say("map", &arguments->common, work->topology, &work->hosts);
    arguments->map.progress = nw_cli_progress(&arguments->common);
    if (arguments->keeps)
        status = map_keep(work, arguments, &work->answer);
    else
        status = nw_map_priced(work->topology, work->pattern, &arguments->map,
                               &work->answer);
    nw_cli_progress_finish();
    if (status && arguments->from)
        status = nw_cli_blame_mapping(arguments->from, status);
    if (status && arguments->fix)
        status = nw_cli_blame_fix(arguments->fix, status);
    return nw_cli_blame_pattern(
        arguments->qaplib ? arguments->qaplib : arguments->pattern, status);
}

static void make_headline(struct map_work *work)
{
    const struct nw_cost *const cost[2] = {&work->answer.standard,
                                           &work->answer.cost};

    nw_report_headline(work->topology, work->pattern, cost, &work->headline);
}

static nw_status map_make_table(const struct map_work *work,
                                const struct map_arguments *arguments,
                                char **out)
{
    struct nw_cost_column columns[] = {
        {"default", &work->answer.standard},
        {work->answer.report.algorithm, &work->answer.cost},
    };
    struct nw_text text = {0};
    char *words;
    nw_status status = nw_cli_cost_table(
        work->topology, arguments->map.objective, columns, 2, &words);

    if (status)
        return status;
    nw_text_add(&text, words);
    nw_text_format(&text, "seed %llu, %llu step%s%s, objective %s%s%s%s\n",
                   (unsigned long long)arguments->map.seed,
                   (unsigned long long)work->answer.report.steps,
                   nw_plural((uint64_t)work->answer.report.steps),
                   work->answer.report.hurried
                       ? " (the time or Ctrl-C had a part in it: --steps need "
                         "not repeat it)"
                       : "",
                   nw_objective_name(arguments->map.objective),
                   arguments->map.has_second ? "," : "",
                   arguments->map.has_second
                       ? nw_objective_name(arguments->map.second)
                       : "",
                   work->answer.report.proven ? ", proven the best" : "");
    if (!arguments->objective_given)
        nw_text_format(&text, "objective %s: %s\n",
                       nw_objective_name(arguments->map.objective),
                       arguments->choice.why);
    free(words);
    status = nw_cli_restart_add(&arguments->restart, &arguments->map,
                                &work->answer, &text);
    if (!status)
        status = nw_cli_headline_add(&text, NULL, &work->headline);
    return nw_text_take_if(status, &text, out);
}

static nw_status map_make_json(const struct map_work *work,
                               const struct map_arguments *arguments,
                               char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};
    nw_status status;

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.map/1");
    nw_json_string(&json, "algorithm", work->answer.report.algorithm);
    nw_json_string(&json, "objective",
                   nw_objective_name(arguments->map.objective));
    if (!arguments->objective_given)
        nw_json_string(&json, "objective_why", arguments->choice.why);
    nw_json_unsigned(&json, "seed", arguments->map.seed);
    nw_json_unsigned(&json, "steps", work->answer.report.steps);
    nw_json_bool(&json, "hurried", work->answer.report.hurried);
    nw_json_bool(&json, "proven", work->answer.report.proven);
    status = nw_cli_restart_json(&arguments->restart, &arguments->map,
                                 &work->answer, &json);
    if (status) {
        nw_text_fini(&text);
        return status;
    }
    nw_cli_cost_json(&json, work->topology, &work->answer.cost);
    nw_cli_headline_json(&json, &work->headline);
    nw_json_object(&json, "default");
    nw_cli_cost_json(&json, work->topology, &work->answer.standard);
    nw_json_end_object(&json);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static nw_status write_mapping(const struct map_work *work,
                               const struct map_arguments *arguments)
{
    const char *path =
        arguments->common.output ? arguments->common.output : "-";

    if (arguments->common.json && !arguments->common.output)
        return NW_OK;
    fflush(stdout);
    if (arguments->elements_out)
        return nw_mapping_write_elements(work->answer.mapping, work->topology,
                                         path);
    return nw_mapping_write_by(work->answer.mapping, path,
                               arguments->map.threads);
}

static int map_show(struct map_work *work,
                    const struct map_arguments *arguments)
{
    char *table = NULL, *json = NULL;
    int code;
    nw_status status;

    make_headline(work);
    status = map_make_table(work, arguments, &table);
    if (!status)
        status = map_make_json(work, arguments, &json);
    if (status) {
        code = nw_cli_fail("map", status);
    } else {
        status = write_mapping(work, arguments);
        code = status ? nw_cli_fail_output("map", status)
                      : nw_cli_output("map", &arguments->common, NULL, table,
                                      json);
    }
    free(table);
    free(json);
    return code;
}

/* Stores name and summary of algorithm i: those of the library, then rowcol,
 * which only this command has. Returns false if i is not the index of an
 * algorithm. */
static bool name_algorithm(size_t i, const char **name, const char **summary)
{
    if (nw_map_algorithm(i, name, summary))
        return true;
    if (i && !nw_map_algorithm(i - 1, name, summary))
        return false;
    *name = "rowcol";
    *summary = NW_ROWCOL_SUMMARY;
    return true;
}

static int list_algorithms(const struct nw_common *common)
{
    const struct nw_cli_list list = {.command = "map",
                                     .key = "algorithms",
                                     .name = name_algorithm,
                                     .more_key = "phases",
                                     .more = nw_map_phase_names()};

    return nw_cli_list(&list, common);
}

static void map_fini(struct map_work *work)
{
    nw_mapping_free(work->fixed);
    nw_mapping_free(work->start);
    nw_map_answer_fini(&work->answer);
    nw_cli_hosts_fini(&work->hosts);
    free(work->weights);
    free(work->speeds);
    nw_pattern_free(work->pattern);
    nw_topology_free(work->topology);
}

static int map_run(int argc, char **argv)
{
    struct map_arguments arguments = {.map = NW_MAP_OPTIONS_INIT};
    struct map_work work = {0};
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    if (arguments.list)
        return list_algorithms(&arguments.common);
    if (arguments.parameters)
        return nw_cli_parameters(&arguments.common);
    if (nw_file_writable(arguments.common.output))
        return nw_cli_fail_output("map", NW_EIO);
    status = map_spare_inputs(&arguments);
    if (status)
        return nw_cli_fail("map", status);
    arguments.rowcol.speeds = arguments.speeds;
    if (is_rowcol(&arguments))
        return nw_cli_rowcol(&arguments.rowcol, &arguments.common,
                             arguments.source, arguments.map.seed);
    status = map_load(&work, &arguments);
    if (status) {
        code = nw_cli_fail("map", status);
    } else {
        status = map_compute(&work, &arguments);
        if (status == NW_EINVAL)
            status = nw_cli_blame_hosts(arguments.source, arguments.hostfile,
                                        status);
        code =
            status ? nw_cli_fail("map", status) : map_show(&work, &arguments);
        /* an error in the files, not in the command line */
        if (status == NW_EINVAL)
            code = NW_EXIT_INPUT;
    }
    nw_cli_restart_fini(&arguments.restart);
    map_fini(&work);
    return code;
}

const struct nw_command nw_command_map = {
    "map", "compute a mapping of a program onto a machine", &argp, map_run};
