/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise report: makes one HTML page that shows machine, pattern and
 * mappings. */
#include <nodewise/map.h>
#include <nodewise/report.h>
#include <nodewise/simulate.h>

#include "base/array.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/cost_view.h"
#include "cli/group_view.h"
#include "cli/hosts.h"
#include "cli/picture.h"
#include "cli/mapping_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { KEY_ALGORITHM = 0x2001, KEY_SEED, KEY_SIMULATE, KEY_SVG };

/* A pattern with more edges than this is not simulated by default, because its
 * simulation takes long. */
#define QUICK_EDGES 20000

struct report_arguments {
    struct nw_common common;
    struct nw_priced priced;
    const char *simulate; /* value of --simulate: auto, always or never */
    bool svg, computes;   /* svg: write only the heat maps; computes: an
                             option says how to compute the mapping */
    struct nw_map_options map;
};

static const struct argp_option options[] = {
    {"algorithm", KEY_ALGORITHM, "NAME", 0,
     "Algorithm that computes the mapping if none is given (default: auto)", 0},
    {"seed", KEY_SEED, "NUMBER", 0, "Random seed of --algorithm (default: 1)",
     0},
    {"simulate", KEY_SIMULATE, "WHEN", 0,
     "Simulate an exchange: always, never, or auto (default: auto, only if the "
     "simulation is quick)",
     0},
    {"svg", KEY_SVG, NULL, 0, "Write only the heat maps, as SVG", 0},
    {0},
};

static void parse_algorithm(const char *value, struct argp_state *state)
{
    struct report_arguments *arguments = state->input;
    struct nw_nearest nearest;
    const char *name, *summary;

    arguments->map.algorithm = value;
    nw_nearest_start(&nearest, value, strlen(value));
    for (size_t i = 0; nw_map_algorithm(i, &name, &summary); i++) {
        if (!strcmp(name, value))
            return;
        nw_nearest_try(&nearest, name);
    }
    nw_argfail(state, "unknown algorithm '%s'; %s", value,
               nw_nearest_say(&nearest, "nodewise map --list shows all"));
}

static error_t parse_words(int key, char *value, struct argp_state *state)
{
    static const char *const when[] = {"auto", "always", "never", NULL};
    struct report_arguments *arguments = state->input;

    switch (key) {
    case KEY_ALGORITHM:
        arguments->computes = true;
        parse_algorithm(value, state);
        return 0;
    case KEY_SIMULATE:
        nw_argchoose(state, "--simulate", value, when);
        arguments->simulate = value;
        return 0;
    case KEY_SEED:
        arguments->computes = true;
        if (!nw_parse_u64(value, &arguments->map.seed))
            nw_argfail(state, "--seed is a number from 0, not '%s'", value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct nw_common_help report_help = {
    .output = "Write the page to FILE (- is stdout)",
    .json = NW_COMMON_JSON,
    .progress = NW_COMMON_PROGRESS,
    .quiet = "No table beside the page, no notes and no progress",
};

/* Returns true if the file's name asks for a picture instead of the page. */
static bool report_is_picture(const char *file)
{
    return file &&
           (nw_text_ends_with(file, ".svg") || nw_cli_is_converted(file));
}

static error_t report_parse(int key, char *value, struct argp_state *state)
{
    struct report_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &report_help;
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->priced;
        return 0;
    case KEY_SVG:
        arguments->svg = true;
        return 0;
    case ARGP_KEY_END:
        arguments->svg |= report_is_picture(arguments->common.output);
        if (arguments->computes && arguments->priced.mapping_count)
            nw_argfail(state, "--algorithm and --seed compute a mapping if no "
                              "MAPPING is given");
        if (arguments->svg && !strcmp(arguments->simulate, "always"))
            nw_argfail(state, "--svg draws heat maps, which show nothing that "
                              "--simulate finds");
        return 0;
    default:
        return parse_words(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = report_parse,
    .args_doc = "[MAPPING...]",
    .doc = "Write one HTML page that shows the machine, the pattern, and the "
           "costs and congestion of mappings beside those of the default. The "
           "page needs no other file. Without MAPPING, one is computed.\v"
           "Example:\n  nodewise report -t magc-a -p app.pattern app.mapping "
           "-o report.html\n",
    .children = nw_priced_children,
};

/* The data of a run after the options are parsed. Mapping 0 is the default. */
struct report_work {
    nw_topology *topology;
    nw_pattern *pattern;
    struct nw_report_mapping *mapping;
    nw_mapping **owned; /* [count] the mappings to free */
    struct nw_cost *cost;
    size_t count;
    struct nw_hosts hosts; /* `map` points to these hosts */
    struct nw_map_options map;
};

static void report_add(struct report_work *work, const char *name,
                       nw_mapping *mapping)
{
    work->owned[work->count] = mapping;
    work->mapping[work->count++] =
        (struct nw_report_mapping){name, mapping, -1, NULL};
}

/* Computes a mapping with nodewise map's algorithms. Called if the user gave no
 * mapping. */
static nw_status report_compute(struct report_work *work,
                                const struct report_arguments *arguments)
{
    struct nw_map_report report;
    struct nw_map_options map = work->map;
    nw_mapping *mapping;
    nw_status status;

    map.progress = nw_cli_progress(&arguments->common);
    status = nw_map(work->topology, work->pattern, &map, &mapping, &report);
    nw_cli_progress_finish();
    if (!status) /* the name "default" belongs to mapping 0 */
        report_add(work,
                   strcmp(report.algorithm, "default") ? report.algorithm
                                                       : "mapped",
                   mapping);
    return status;
}

/* Chooses the objective as nodewise map does without --objective. */
static nw_status report_choose(const struct report_work *work,
                               struct report_arguments *arguments)
{
    struct nw_objective_choice choice = {NW_OBJECTIVE_HOP_BYTES, ""};
    nw_status status =
        nw_map_choose_objective(work->topology, work->pattern, &choice);

    arguments->map.objective = choice.objective;
    arguments->map.careful = choice.objective != NW_OBJECTIVE_HOP_BYTES;
    return status;
}

/* Reads the given mappings, then makes the default mapping, whose nodes may
 * depend on those of the given ones. Computes a mapping if none is given. */
static nw_status report_gather(struct report_work *work,
                               const struct report_arguments *arguments)
{
    const struct nw_priced *priced = &arguments->priced;
    const struct nw_priced_set set = {
        "report",        &arguments->common,
        work->topology,  work->pattern->rank_count,
        work->owned + 1, priced->mapping_count};
    nw_status status = NW_OK;

    report_add(work, "default", NULL);
    for (size_t i = 0; !status && i < priced->mapping_count; i++) {
        nw_mapping *mapping = NULL;

        status =
            nw_cli_read_priced(priced->mapping[i], work->topology, &mapping);
        report_add(work, priced->mapping[i], mapping);
    }
    work->map = arguments->map;
    if (!status)
        status = nw_priced_hosts(priced, &set, &work->hosts, &work->map);
    if (!status)
        status = priced->mapping_count
                     ? nw_map_reference(work->topology, work->pattern,
                                        &work->map, &work->owned[0])
                     : nw_map_default(work->topology, work->pattern, &work->map,
                                      &work->owned[0]);
    work->mapping[0].mapping = work->owned[0];
    if (!status && !arguments->priced.mapping_count)
        status = report_compute(work, arguments);
    return status;
}

/* Simulates an exchange under each mapping if the options ask for it; by
 * default only if SimGrid is installed, the topology has links and the pattern
 * is small. Simulates nothing for a picture. */
static nw_status report_simulate(struct report_work *work,
                                 const struct report_arguments *arguments)
{
    struct nw_simulate_options how = NW_SIMULATE_OPTIONS_INIT;
    bool wanted = !strcmp(arguments->simulate, "always");
    nw_status status = NW_OK;

    if (arguments->svg || !strcmp(arguments->simulate, "never") ||
        (!wanted && (work->pattern->edge_count > QUICK_EDGES ||
                     !nw_topology_has_links(work->topology))))
        return NW_OK;
    how.force = wanted;
    how.progress = nw_cli_progress(&arguments->common);
    for (size_t i = 0; !status && i < work->count; i++) {
        struct nw_simulation answer;

        status = nw_simulate(work->topology, work->pattern, work->owned[i],
                             &how, &answer);
        if (!status && answer.simulated)
            work->mapping[i].seconds = answer.time;
    }
    nw_cli_progress_finish();
    return status == NW_ENODEV && !wanted ? NW_OK : status;
}

static nw_status report_load(struct report_work *work,
                             const struct report_arguments *arguments)
{
    size_t most = arguments->priced.mapping_count + 2;
    nw_status status = nw_priced_load(&arguments->priced, &arguments->common,
                                      &work->topology, &work->pattern);

    if (!status)
        status = nw_alloc(most, sizeof *work->mapping, &work->mapping);
    if (!status)
        status = nw_alloc(most, sizeof *work->owned, &work->owned);
    return status;
}

static void free_work(struct report_work *work)
{
    for (size_t i = 0; i < work->count; i++)
        nw_mapping_free(work->owned[i]);
    nw_cli_hosts_fini(&work->hosts);
    for (size_t i = 0; work->cost && i < work->count; i++)
        nw_cost_fini(&work->cost[i]);
    free(work->cost);
    free(work->owned);
    free(work->mapping);
    nw_pattern_free(work->pattern);
    nw_topology_free(work->topology);
}

/* The results: the page for the file, a table, and JSON. */
struct answer {
    char *page, *table, *json;
    bool is_read; /* whether the inputs have been read: a later NW_EINVAL is
                     an error in these files */
};

/* Makes the headline that compares mapping i with the default. */
static void report_judge(const struct report_work *work,
                         const struct nw_cost_column *column, size_t i,
                         struct nw_headline *out)
{
    const struct nw_cost *const cost[2] = {column[0].cost, column[i].cost};

    *out = (struct nw_headline){0};
    nw_report_headline(work->topology, work->pattern, cost, out);
}

static void report_note_hosts(const struct report_work *work,
                              const struct report_arguments *arguments,
                              const struct nw_cost_column *column)
{
    for (size_t i = 1; i <= arguments->priced.mapping_count; i++) {
        struct nw_headline headline;

        report_judge(work, column, i, &headline);
        if (headline.percent_less < 0 &&
            nw_priced_note_hosts(
                &(struct nw_priced_set){"report", &arguments->common,
                                        work->topology, 0, NULL, 0},
                &work->hosts,
                &(struct nw_priced_worse){work->owned[0], work->owned[i],
                                          column[i].name}))
            return;
    }
}

static nw_status report_make_json(const struct report_work *work,
                                  const struct nw_cost_column *column,
                                  char **out)
{
    struct nw_headline headline;
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.report/1");
    nw_json_array(&json, "mappings");
    for (size_t i = 0; i < work->count; i++) {
        nw_json_object(&json, NULL);
        nw_json_string(&json, "name", column[i].name);
        nw_cli_cost_json(&json, work->topology, column[i].cost);
        nw_cli_groups_json(&json, work->topology, column[i].cost);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    if (work->count > 1) {
        report_judge(work, column, 1, &headline);
        nw_cli_headline_json(&json, &headline);
    }
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static nw_status report_make_table(const struct report_work *work,
                                   enum nw_objective objective,
                                   const struct nw_cost_column *column,
                                   char **out)
{
    struct nw_text text = {0};
    char *words = NULL;
    nw_status status = nw_cli_cost_table(work->topology, objective, column,
                                         work->count, &words);

    nw_text_add(&text, words ? words : "");
    free(words);
    if (!status)
        status = nw_cli_groups_add(&text, work->topology, column, work->count);
    for (size_t i = 1; !status && i < work->count; i++) {
        struct nw_headline headline;

        report_judge(work, column, i, &headline);
        status = nw_cli_headline_add(&text, column[i].name, &headline);
    }
    return nw_text_take_if(status, &text, out);
}

/* Computes the costs of all mappings, and makes the table or the JSON with the
 * same figures as nodewise evaluate. */
static nw_status make_figures(struct report_work *work,
                              const struct report_arguments *arguments,
                              struct answer *answer)
{
    struct nw_cost_column *column = NULL;
    nw_status status = nw_alloc(work->count, sizeof *column, &column);

    if (!status)
        status = nw_alloc(work->count, sizeof *work->cost, &work->cost);
    for (size_t i = 0; !status && i < work->count; i++) {
        status = nw_cost_evaluate(work->topology, work->pattern, work->owned[i],
                                  &work->cost[i]);
        if (i && arguments->priced.mapping_count)
            status = nw_cli_blame_mapping(work->mapping[i].name, status);
        work->mapping[i].cost = &work->cost[i];
        column[i] =
            (struct nw_cost_column){work->mapping[i].name, &work->cost[i]};
    }
    if (!status)
        report_note_hosts(work, arguments, column);
    if (!status && arguments->common.json)
        status = report_make_json(work, column, &answer->json);
    else if (!status)
        status = report_make_table(work, arguments->map.objective, column,
                                   &answer->table);
    free(column);
    return status;
}

static nw_status make_page(const struct report_work *work,
                           const struct report_arguments *arguments,
                           const char *command, char **out)
{
    struct nw_report_input input = NW_REPORT_INPUT_INIT;
    char seed[32];

    snprintf(seed, sizeof seed, "%llu",
             (unsigned long long)arguments->map.seed);
    input.topology = work->topology;
    input.pattern = work->pattern;
    input.mapping = work->mapping;
    input.mapping_count = work->count;
    input.topology_source = arguments->priced.source;
    input.pattern_source = arguments->priced.pattern;
    input.command = command;
    input.seed = arguments->priced.mapping_count ? NULL : seed;
    return arguments->svg ? nw_report_before_after_svg(&input, out)
                          : nw_report_html(&input, out);
}

static nw_status report_make(struct report_arguments *arguments,
                             const char *command, struct answer *answer)
{
    struct report_work work = {0};
    nw_status status = report_load(&work, arguments);

    answer->is_read = !status;
    if (!status && !arguments->priced.mapping_count)
        status = report_choose(&work, arguments);
    if (!status)
        status = report_gather(&work, arguments);
    /* before the page, since this step finds errors in a mapping */
    if (!status)
        status = make_figures(&work, arguments, answer);
    status = nw_cli_blame_pattern(arguments->priced.pattern, status);
    if (!status)
        status = report_simulate(&work, arguments);
    if (!status)
        status = make_page(&work, arguments, command, &answer->page);
    free_work(&work);
    return status;
}

/* Makes the command line that the page shows, with the words in the order in
 * which they were typed. Called before argp_parse, which may reorder argv. */
static nw_status command_line(int argc, char **argv, char **out)
{
    struct nw_text text = {0};

    for (int i = 0; i < argc; i++) {
        nw_text_add(&text, i ? " " : "");
        if (i)
            nw_text_add_word(&text, argv[i]);
        else
            nw_text_add(&text, argv[i]); /* nodewise report */
    }
    return nw_text_take(&text, out);
}

/* Writes the page or picture. If it would go to a terminal, prints the table
 * instead and, unless --quiet, says how to write the page. */
static int report_show(const struct report_arguments *arguments,
                       const struct answer *answer)
{
    const struct nw_common *common = &arguments->common;

    if (common->output || common->json || !isatty(STDOUT_FILENO))
        return nw_cli_output("report", common, answer->page, answer->table,
                             answer->json);
    if (!common->quiet)
        fprintf(stderr, "nodewise report: -o report.%s writes the %s\n",
                arguments->svg ? "svg" : "html",
                arguments->svg ? "picture" : "page");
    return nw_cli_output("report", common, answer->table, answer->table, NULL);
}

static int report_run(int argc, char **argv)
{
    struct report_arguments arguments = {.priced = NW_PRICED_INIT,
                                         .map = NW_MAP_OPTIONS_INIT,
                                         .simulate = "auto"};
    struct answer answer = {0};
    char *command = NULL;
    nw_status status = command_line(argc, argv, &command);
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    code = nw_cli_check_output("report", &arguments.common);
    if (!status && !code)
        status = report_make(&arguments, command, &answer);
    if (!code)
        code = status ? nw_cli_fail("report", status)
                      : report_show(&arguments, &answer);
    if (status == NW_EINVAL && answer.is_read)
        code = NW_EXIT_INPUT;
    free(answer.page);
    free(answer.table);
    free(answer.json);
    free(command);
    return code;
}

const struct nw_command nw_command_report = {
    "report", "write one HTML page: machine, pattern, mappings", &argp,
    report_run};
