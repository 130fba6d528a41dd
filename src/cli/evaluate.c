/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise evaluate: costs of given mappings, beside the default's. */
#include <nodewise/cost.h>
#include <nodewise/map.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include "base/array.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/cost_view.h"
#include "cli/hosts.h"
#include "cli/priced.h"

#include <stdlib.h>
#include <string.h>

#define KEY_COMPACT 0x2001
#define KEY_ELEMENTS 0x2002
#define KEY_OBJECTIVE 0x2003

struct arguments {
    struct nw_common common;
    const char *source, *pattern;
    bool compact;
    enum nw_elements elements;
    enum nw_objective objective;
    char **mapping;
    size_t mapping_count;
};

static const struct argp_option options[] = {
    {"topology", 't', "SOURCE", 0,
     "The machine: a cluster file or another SOURCE of nodewise topology", 0},
    {"pattern", 'p', "PATTERN", 0, "Communication pattern of the program", 0},
    {"compact", KEY_COMPACT, NULL, 0, "Renumber sparse ids of a list", 0},
    {"elements", KEY_ELEMENTS, "KIND", 0,
     "Place on core (default) or pu, hardware threads", 0},
    {"objective", KEY_OBJECTIVE, "NAME", 0,
     "Cost that the last column compares: hop-bytes (default), congestion, "
     "latency or time",
     0},
    {0},
};

static void parse_elements(const char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    if (strcmp(value, "core") && strcmp(value, "pu"))
        nw_argfail(state, "--elements is core or pu, not '%s'", value);
    arguments->elements =
        strcmp(value, "pu") ? NW_ELEMENTS_CORE : NW_ELEMENTS_PU;
}

static error_t parse(int key, char *value, struct argp_state *state)
{
    struct arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &arguments->common;
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
    case KEY_ELEMENTS:
        parse_elements(value, state);
        return 0;
    case KEY_OBJECTIVE:
        if (!nw_objective_find(value, &arguments->objective))
            nw_argfail(
                state,
                "unknown objective '%s'; use hop-bytes, congestion, latency or "
                "time",
                value);
        return 0;
    case ARGP_KEY_ARGS:
        arguments->mapping = state->argv + state->next;
        arguments->mapping_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_END:
        if (!arguments->source || !arguments->pattern)
            nw_argfail(state, "-t SOURCE and -p PATTERN are needed");
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
    .args_doc = "[MAPPING...]",
    .doc = "Compare the costs of mappings, the default first.\v"
           "Example:\n  nodewise evaluate -t cluster.yaml -p app.pattern "
           "app.mapping\n",
    .children = children,
};

struct evaluation {
    nw_topology *topology;
    nw_pattern *pattern;
    size_t count; /* mappings with the default */
    struct nw_cost *cost;
    struct nw_cost_column *column;
    nw_mapping **mapping;         /* [count] owned */
    struct nw_headline *headline; /* [count]; the first is unused */
};

static nw_status price(struct evaluation *work, const char *name,
                       nw_mapping *mapping)
{
    nw_status status = nw_cost_evaluate(work->topology, work->pattern, mapping,
                                        &work->cost[work->count]);

    if (status) {
        nw_mapping_free(mapping);
        return status;
    }
    work->mapping[work->count] = mapping;
    work->column[work->count] =
        (struct nw_cost_column){name, &work->cost[work->count]};
    work->count++;
    return NW_OK;
}

static void judge(struct evaluation *work, size_t i)
{
    const struct nw_cost *const cost[2] = {&work->cost[0], &work->cost[i]};

    nw_report_headline(work->topology, work->pattern, cost, &work->headline[i]);
}

static nw_status price_all(struct evaluation *work,
                           const struct arguments *arguments)
{
    struct nw_map_options map = NW_MAP_OPTIONS_INIT;
    nw_mapping *mapping;
    nw_status status =
        nw_cli_default_beside(work->topology, work->pattern, map, &mapping);

    if (!status)
        status = price(work, "default", mapping);
    for (size_t i = 0; !status && i < arguments->mapping_count; i++) {
        status =
            nw_cli_read_priced(arguments->mapping[i], work->topology, &mapping);
        if (!status)
            status = nw_cli_blame_mapping(
                arguments->mapping[i],
                price(work, arguments->mapping[i], mapping));
    }
    for (size_t i = 1; !status && i < work->count; i++)
        judge(work, i);
    return status;
}

static nw_status load(struct evaluation *work,
                      const struct arguments *arguments)
{
    struct nw_topology_options topology = NW_TOPOLOGY_OPTIONS_INIT;
    struct nw_pattern_read_options pattern = NW_PATTERN_READ_OPTIONS_INIT;
    size_t count = arguments->mapping_count + 1;
    nw_status status =
        nw_cli_spare(&arguments->common, arguments->source, arguments->pattern,
                     arguments->mapping, arguments->mapping_count);

    topology.elements = arguments->elements;
    pattern.compact = arguments->compact;
    if (!status)
        status =
            nw_topology_load(arguments->source, &topology, &work->topology);
    if (!status)
        status = nw_pattern_read(arguments->pattern, &pattern, &work->pattern);
    if (!status)
        status = nw_alloc(count, sizeof *work->cost, &work->cost);
    if (!status)
        status = nw_alloc(count, sizeof *work->column, &work->column);
    if (!status)
        status = nw_alloc(count, sizeof *work->mapping, &work->mapping);
    if (!status)
        status = nw_alloc(count, sizeof *work->headline, &work->headline);
    return status;
}

static nw_status make_json(const struct evaluation *work, char **out)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};

    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.evaluate/1");
    nw_json_array(&json, "mappings");
    for (size_t i = 0; i < work->count; i++) {
        nw_json_object(&json, NULL);
        nw_json_string(&json, "name", work->column[i].name);
        nw_cli_cost_json(&json, work->topology, work->column[i].cost);
        if (i)
            nw_cli_headline_json(&json, &work->headline[i]);
        nw_json_end_object(&json);
    }
    nw_json_end_array(&json);
    if (work->count > 1)
        nw_cli_headline_json(&json, &work->headline[1]);
    nw_json_end_object(&json);
    return nw_text_take(&text, out);
}

static nw_status make_table(const struct evaluation *work,
                            enum nw_objective objective, char **out)
{
    struct nw_text text = {0};
    char *words = NULL;
    nw_status status = nw_cli_cost_table(work->topology, objective,
                                         work->column, work->count, &words);

    nw_text_add(&text, words ? words : "");
    free(words);
    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_headline_add(&text, work->column[i].name,
                                     &work->headline[i]);
    if (status) {
        nw_text_fini(&text);
        return status;
    }
    return nw_text_take(&text, out);
}

static int show(const struct evaluation *work,
                const struct arguments *arguments)
{
    char *table = NULL, *json = NULL;
    int code;
    nw_status status = make_table(work, arguments->objective, &table);

    if (!status)
        status = make_json(work, &json);
    code = status ? nw_cli_fail("evaluate", status)
                  : nw_cli_output("evaluate", &arguments->common,
                                  arguments->common.json ? json : table, NULL,
                                  json);
    free(table);
    free(json);
    return code;
}

static int run(int argc, char **argv)
{
    struct arguments arguments = {0};
    struct evaluation work = {0};
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    code = nw_cli_check_output("evaluate", &arguments.common);
    if (code)
        return code;
    status = load(&work, &arguments);
    if (!status)
        status = nw_cli_blame_pattern(arguments.pattern,
                                      price_all(&work, &arguments));
    /* contradictory files, not a wrong call */
    if (status == NW_EINVAL && work.pattern) {
        nw_cli_fail("evaluate", status);
        code = NW_EXIT_INPUT;
    } else {
        code =
            status ? nw_cli_fail("evaluate", status) : show(&work, &arguments);
    }
    for (size_t i = 0; i < work.count; i++) {
        nw_cost_fini(&work.cost[i]);
        nw_mapping_free(work.mapping[i]);
    }
    free(work.mapping);
    free(work.headline);
    free(work.cost);
    free(work.column);
    nw_pattern_free(work.pattern);
    nw_topology_free(work.topology);
    return code;
}

const struct nw_command nw_command_evaluate = {
    "evaluate", "price given mappings side by side", &argp, run};
