/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise simulate: predicts the time of an exchange or of a training step for
 * several mappings. */
#include <nodewise/map.h>
#include <nodewise/report.h>
#include <nodewise/simulate.h>

#include "base/array.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/cost_view.h"
#include "cli/hosts.h"
#include "cli/mapping_arguments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_BYTES 0x2001
#define KEY_ESTIMATE 0x2004
#define KEY_FORCE 0x2005
#define KEY_TOTAL 0x2006

struct arguments {
    struct nw_common common;
    struct nw_priced priced;
    struct nw_simulate_options options;
};

static const struct argp_option options[] = {
    {"bytes", KEY_BYTES, "SIZE", 0,
     "Scale all messages so that the largest has SIZE, such as 4KiB or 1MB", 0},
    {"total", KEY_TOTAL, NULL, 0,
     "Send all bytes of the run at once (default: one message per edge)", 0},
    {"estimate", KEY_ESTIMATE, NULL, 0,
     "Estimate the time from congestion instead of simulating", 0},
    {"force", KEY_FORCE, NULL, 0,
     "Simulate even if there are very many messages", 0},
    {0},
};

static void parse_bytes(const char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;
    double bytes;

    if (!nw_parse_quantity(value, NW_UNIT_BYTES, &bytes) || bytes < 1 ||
        bytes >= 0x1p62)
        nw_argfail(state, "--bytes is a size from 1 byte, not '%s'", value);
    arguments->options.bytes = (uint64_t)bytes;
}

static error_t parse_sizes(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case KEY_BYTES:
        parse_bytes(value, state);
        return 0;
    case KEY_TOTAL:
        arguments->options.total = true;
        return 0;
    case KEY_ESTIMATE:
        arguments->options.estimate = true;
        return 0;
    case KEY_FORCE:
        arguments->options.force = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct nw_common_help simulate_help = {
    .output = NW_COMMON_OUTPUT,
    .json = NW_COMMON_JSON,
    .progress = NW_COMMON_PROGRESS,
    .quiet = "No notes and no progress on stderr",
};

static error_t simulate_parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &simulate_help;
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->priced;
        return 0;
    case ARGP_KEY_END:
        if (arguments->options.estimate && arguments->options.force)
            nw_argfail(state, "--estimate and --force exclude each other");
        return 0;
    default:
        return parse_sizes(key, value, state);
    }
}

static const struct argp argp = {
    .options = options,
    .parser = simulate_parse,
    .args_doc = "[MAPPING...]",
    .doc = "Predict the time of one exchange (all messages at once) or of a "
           "training step (phase by phase) under each mapping. The default "
           "mapping comes first.\v"
           "Example:\n  nodewise simulate -t cluster.yaml -p app.pattern "
           "--bytes 1MB app.mapping\n",
    .children = nw_priced_children,
};

/* A mapping and its figures; a row of the table. */
struct simulate_row {
    const char *name;
    nw_mapping *mapping;
    struct nw_simulation result;
    struct nw_cost cost;
    struct nw_headline headline; /* unused for the default */
};

struct prediction {
    nw_topology *topology;
    nw_pattern *pattern;
    struct simulate_row *row; /* [count], the default first */
    size_t count;
    struct nw_hosts hosts;
};

/* Simulates or estimates one mapping. */
static nw_status simulate_play_row(struct prediction *work,
                                   struct arguments *arguments,
                                   struct simulate_row *row)
{
    nw_status status;

    arguments->options.progress = nw_cli_progress(&arguments->common);
    status = nw_simulate(work->topology, work->pattern, row->mapping,
                         &arguments->options, &row->result);
    nw_cli_progress_finish();
    return status;
}

static nw_status play_all(struct prediction *work, struct arguments *arguments)
{
    nw_status status = simulate_play_row(work, arguments, &work->row[0]);

    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_blame_mapping(
            work->row[i].name,
            simulate_play_row(work, arguments, &work->row[i]));
    return status;
}

static void note_hosts(const struct prediction *work,
                       const struct nw_common *common)
{
    const struct simulate_row *row = work->row;

    for (size_t i = 1; i < work->count; i++)
        if (row[i].headline.percent_less < 0 &&
            nw_priced_note_hosts(
                &(struct nw_priced_set){"simulate", common, work->topology, 0,
                                        NULL, 0},
                &work->hosts,
                &(struct nw_priced_worse){row[0].mapping, row[i].mapping,
                                          row[i].name}))
            return;
}

/* Computes the costs of all mappings and the headlines. `total`: compare the
 * time of all bytes of the run at once. */
static nw_status judge_all(struct prediction *work, bool total)
{
    struct simulate_row *row = work->row;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < work->count; i++)
        status = nw_cost_evaluate(work->topology, work->pattern, row[i].mapping,
                                  &row[i].cost);
    for (size_t i = 1; !status && i < work->count; i++) {
        const struct nw_cost *const cost[2] = {&row[0].cost, &row[i].cost};

        row[i].headline.total = total;
        nw_report_headline(work->topology, work->pattern, cost,
                           &row[i].headline);
    }
    return status;
}

/* Finds the nodes of the default mapping, see nw_priced_hosts. */
static nw_status simulate_choose_hosts(struct prediction *work,
                                       const struct arguments *arguments,
                                       struct nw_map_options *map)
{
    struct nw_priced_set set = {"simulate",     &arguments->common,
                                work->topology, work->pattern->rank_count,
                                NULL,           work->count - 1};
    nw_mapping **mapping = NULL;
    nw_status status = nw_alloc(work->count, sizeof *mapping, &mapping);

    for (size_t i = 0; !status && i < set.count; i++)
        mapping[i] = work->row[i + 1].mapping;
    set.mapping = mapping;
    if (!status)
        status = nw_priced_hosts(&arguments->priced, &set, &work->hosts, map);
    free(mapping);
    return status;
}

/* Reads the given mappings and makes the default mapping. All are read before
 * the first simulation, which may take a minute. */
static nw_status load_mappings(struct prediction *work,
                               const struct arguments *arguments)
{
    struct nw_map_options map = NW_MAP_OPTIONS_INIT;
    nw_status status = nw_alloc(arguments->priced.mapping_count + 1,
                                sizeof *work->row, &work->row);

    if (status)
        return status;
    work->row[0].name = "default";
    work->count = arguments->priced.mapping_count + 1;
    for (size_t i = 1; !status && i < work->count; i++) {
        work->row[i].name = arguments->priced.mapping[i - 1];
        status = nw_cli_read_priced(work->row[i].name, work->topology,
                                    &work->row[i].mapping);
    }
    if (!status)
        status = simulate_choose_hosts(work, arguments, &map);
    return status ? status
                  : nw_map_reference(work->topology, work->pattern, &map,
                                     &work->row[0].mapping);
}

static nw_status simulate_load(struct prediction *work,
                               const struct arguments *arguments)
{
    nw_status status = nw_priced_load(&arguments->priced, &arguments->common,
                                      &work->topology, &work->pattern);

    return status ? status : load_mappings(work, arguments);
}

/* Returns true if all mappings were simulated, not only estimated. */
static bool is_simulated(const struct prediction *work)
{
    for (size_t i = 0; i < work->count; i++)
        if (!work->row[i].result.simulated)
            return false;
    return true;
}

/* Returns by how many percent the time of mapping i is shorter than that of the
 * default: the simulated times, or the estimates if one was not simulated. */
static double simulate_improvement(const struct prediction *work, size_t i)
{
    const struct nw_simulation *before = &work->row[0].result;
    const struct nw_simulation *after = &work->row[i].result;
    bool simulated = is_simulated(work);
    double from = simulated ? before->time : before->estimate;
    double to = simulated ? after->time : after->estimate;

    return from > 0 ? (1 - to / from) * 100 : 0;
}

static void make_rows(const struct prediction *work, nw_table *table)
{
    char text[32];

    nw_table_column(table, "MAPPING", NW_ALIGN_LEFT);
    nw_table_column(table, is_simulated(work) ? "SIMULATED" : "NOT SIMULATED",
                    NW_ALIGN_RIGHT);
    nw_table_column(table, "ESTIMATE", NW_ALIGN_RIGHT);
    nw_table_column(table,
                    is_simulated(work) ? "LESS SIMULATED" : "LESS ESTIMATE",
                    NW_ALIGN_RIGHT);
    for (size_t i = 0; i < work->count; i++) {
        const struct nw_simulation *result = &work->row[i].result;

        nw_table_row(table, -1);
        nw_table_cell(table, "%s", work->row[i].name);
        if (result->simulated)
            nw_format_quantity(result->time, NW_UNIT_TIME, text, sizeof text);
        else
            snprintf(text, sizeof text, "-");
        nw_table_cell(table, "%s", text);
        nw_table_cell(table, "%s",
                      nw_format_quantity(result->estimate, NW_UNIT_TIME, text,
                                         sizeof text));
        nw_table_cell(table, "%.1f %%", simulate_improvement(work, i));
    }
}

static bool uses_phase(const struct prediction *work, int phase)
{
    for (size_t i = 0; i < work->count; i++)
        if (work->row[i].result.phase[phase] > 0)
            return true;
    return false;
}

static nw_status add_phases(const struct prediction *work, struct nw_text *text)
{
    char words[32];
    nw_table *table;
    nw_status status;

    if (!work->row[0].result.has_phases)
        return NW_OK;
    status = nw_table_new(&table);
    if (status)
        return status;
    nw_table_column(table, "TIME OF PHASE", NW_ALIGN_LEFT);
    for (size_t i = 0; i < work->count; i++)
        nw_table_column(table, work->row[i].name, NW_ALIGN_RIGHT);
    for (int p = 0; p < NW_PHASE_COUNT; p++) {
        if (!uses_phase(work, p))
            continue;
        nw_table_row(table, -1);
        nw_table_cell(table, "%s", nw_phase_name(p));
        for (size_t i = 0; i < work->count; i++)
            nw_table_cell(table, "%s",
                          nw_format_quantity(work->row[i].result.phase[p],
                                             NW_UNIT_TIME, words,
                                             sizeof words));
    }
    nw_text_add(text, "\n");
    status = nw_cli_add_table(table, text);
    nw_text_add(text, "\n");
    return status;
}

static nw_status simulate_make_table(const struct prediction *work, char **out)
{
    struct nw_text text = {0};
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    make_rows(work, table);
    status = nw_cli_add_table(table, &text);
    if (!status)
        status = add_phases(work, &text);
    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_headline_add(&text, work->row[i].name,
                                     &work->row[i].headline);
    return nw_text_take_if(status, &text, out);
}

static void add_phases_json(struct nw_json *json,
                            const struct nw_simulation *result)
{
    if (!result->has_phases)
        return;
    nw_json_object(json, "phases");
    for (int p = 0; p < NW_PHASE_COUNT; p++)
        if (result->phase[p] > 0)
            nw_json_number(json, nw_phase_name(p), result->phase[p]);
    nw_json_end_object(json);
}

static nw_status simulate_make_json(const struct prediction *work, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.simulate/1");
    nw_json_array(&json, "mappings");
    for (size_t i = 0; i < work->count; i++) {
        const struct nw_simulation *result = &work->row[i].result;

        nw_json_object(&json, NULL);
        nw_json_string(&json, "name", work->row[i].name);
        nw_json_string(&json, "method",
                       result->simulated ? "simulation" : "estimate");
        nw_json_number(&json, "time", result->time);
        nw_json_number(&json, "estimate", result->estimate);
        nw_json_number(&json, "improvement_percent",
                       simulate_improvement(work, i));
        nw_json_number(&json, "resolution", result->resolution);
        nw_json_unsigned(&json, "flows", result->flows);
        nw_json_unsigned(&json, "bytes", result->bytes);
        add_phases_json(&json, result);
        if (i)
            nw_cli_headline_json(&json, &work->row[i].headline);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    if (work->count > 1)
        nw_cli_headline_json(&json, &work->row[1].headline);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

/* If a mapping has too many messages to be simulated, prints that the figures
 * are estimates. Prints nothing with --quiet or --estimate. */
static void simulate_explain(const struct prediction *work,
                             const struct arguments *arguments)
{
    uint64_t flows = 0;

    if (arguments->common.quiet || arguments->options.estimate ||
        is_simulated(work))
        return;
    for (size_t i = 0; i < work->count; i++)
        if (work->row[i].result.flows > flows)
            flows = work->row[i].result.flows;
    fprintf(stderr,
            "nodewise simulate: %llu messages are more than the %d that are "
            "simulated in about a minute: this is the congestion estimate; "
            "--force simulates them\n",
            (unsigned long long)flows, NW_SIMULATE_MOST_FLOWS);
}

static int simulate_show(const struct prediction *work,
                         const struct arguments *arguments)
{
    const struct nw_common *common = &arguments->common;
    char *table = NULL, *json = NULL;
    nw_status status = simulate_make_json(work, &json);
    int code;

    if (!status && !common->json)
        status = simulate_make_table(work, &table);
    simulate_explain(work, arguments);
    code = status ? nw_cli_fail("simulate", status)
                  : nw_cli_output_table("simulate", common, table, json);
    free(table);
    free(json);
    return code;
}

static int simulate_run(int argc, char **argv)
{
    struct arguments arguments = {
        .priced = NW_PRICED_INIT,
        .options = NW_SIMULATE_OPTIONS_INIT,
    };
    struct prediction work = {0};
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    code = nw_cli_check_output("simulate", &arguments.common);
    if (code)
        return code;
    status = simulate_load(&work, &arguments);
    if (!status)
        status = play_all(&work, &arguments);
    if (!status)
        status = judge_all(&work, arguments.options.total);
    if (!status)
        note_hosts(&work, &arguments.common);
    code = status ? nw_cli_fail("simulate", status)
                  : simulate_show(&work, &arguments);
    /* an error in the files, not in the command line */
    if (status == NW_EINVAL && work.pattern)
        code = NW_EXIT_INPUT;
    for (size_t i = 0; i < work.count; i++) {
        nw_mapping_free(work.row[i].mapping);
        nw_cost_fini(&work.row[i].cost);
    }
    free(work.row);
    nw_cli_hosts_fini(&work.hosts);
    nw_pattern_free(work.pattern);
    nw_topology_free(work.topology);
    return code;
}

const struct nw_command nw_command_simulate = {
    "simulate", "predict the time of an exchange under mappings", &argp,
    simulate_run};
