/* SPDX-License-Identifier: BSD-3-Clause */
/* nodewise evaluate: prints costs of given mappings beside those of the default
 * mapping. */
#include <nodewise/cost.h>
#include <nodewise/map.h>
#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include "base/array.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/cost_view.h"
#include "cli/group_view.h"
#include "cli/hosts.h"
#include "cli/mapping_arguments.h"

#include <stdlib.h>
#include <string.h>

#define KEY_OBJECTIVE 0x2003

struct evaluate_arguments {
    struct nw_common common;
    struct nw_priced priced;
    enum nw_objective objective;
};

static const struct argp_option options[] = {
    {"objective", KEY_OBJECTIVE, "NAME", 0,
     "Cost that the last column compares: hop-bytes (default), congestion, "
     "latency or time",
     0},
    {0},
};

static const struct nw_common_help evaluate_help = {
    .output = NW_COMMON_OUTPUT,
    .json = NW_COMMON_JSON,
    .quiet = "No notes on stderr",
};

static error_t evaluate_parse(int key, char *value, struct argp_state *state)
{
    struct evaluate_arguments *arguments = state->input;

    switch (key) {
    case ARGP_KEY_INIT:
        arguments->common.help = &evaluate_help;
        state->child_inputs[0] = &arguments->common;
        state->child_inputs[1] = &arguments->priced;
        return 0;
    case KEY_OBJECTIVE:
        if (!nw_objective_find(value, &arguments->objective))
            nw_argfail(
                state,
                "unknown objective '%s'; use hop-bytes, congestion, latency or "
                "time",
                value);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    .options = options,
    .parser = evaluate_parse,
    .args_doc = "[MAPPING...]",
    .doc = "Compare the costs of mappings, the default first.\v"
           "Example:\n  nodewise evaluate -t cluster.yaml -p app.pattern "
           "app.mapping\n",
    .children = nw_priced_children,
};

struct evaluate_work {
    nw_topology *topology;
    nw_pattern *pattern;
    size_t count; /* number of mappings, the default mapping included */
    struct nw_cost *cost;
    struct nw_cost_column *column;
    nw_mapping **mapping;         /* [count] owned */
    struct nw_headline *headline; /* [count] comparison of each mapping with
                                     the default; the first is unused */
    struct nw_hosts hosts;
};

/* Computes the costs of mapping i and names its column. */
static nw_status evaluate_price(struct evaluate_work *work, size_t i,
                                const char *name)
{
    work->column[i] = (struct nw_cost_column){name, &work->cost[i]};
    return nw_cost_evaluate(work->topology, work->pattern, work->mapping[i],
                            &work->cost[i]);
}

/* Makes the headline that compares mapping i with the default mapping. */
static void evaluate_judge(struct evaluate_work *work, size_t i)
{
    const struct nw_cost *const cost[2] = {&work->cost[0], &work->cost[i]};

    nw_report_headline(work->topology, work->pattern, cost, &work->headline[i]);
}

/* Reads the given mappings into mapping[1] and following, then makes the
 * default mapping, whose nodes may depend on those of the given ones. */
static nw_status evaluate_read(struct evaluate_work *work,
                               const struct evaluate_arguments *arguments)
{
    const struct nw_priced *priced = &arguments->priced;
    const struct nw_priced_set set = {
        "evaluate",        &arguments->common,
        work->topology,    work->pattern->rank_count,
        work->mapping + 1, priced->mapping_count};
    struct nw_map_options map = NW_MAP_OPTIONS_INIT;
    nw_status status = NW_OK;

    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_read_priced(priced->mapping[i - 1], work->topology,
                                    &work->mapping[i]);
    if (!status)
        status = nw_priced_hosts(priced, &set, &work->hosts, &map);
    return status ? status
                  : nw_map_reference(work->topology, work->pattern, &map,
                                     &work->mapping[0]);
}

static nw_status price_all(struct evaluate_work *work,
                           const struct evaluate_arguments *arguments)
{
    char *const *name = arguments->priced.mapping;
    nw_status status = evaluate_read(work, arguments);

    if (!status)
        status = evaluate_price(work, 0, "default");
    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_blame_mapping(name[i - 1],
                                      evaluate_price(work, i, name[i - 1]));
    for (size_t i = 1; !status && i < work->count; i++)
        evaluate_judge(work, i);
    for (size_t i = 1; !status && i < work->count; i++)
        if (work->headline[i].percent_less < 0 &&
            nw_priced_note_hosts(
                &(struct nw_priced_set){"evaluate", &arguments->common,
                                        work->topology, 0, NULL, 0},
                &work->hosts,
                &(struct nw_priced_worse){work->mapping[0], work->mapping[i],
                                          name[i - 1]}))
            break;
    return status;
}

static nw_status evaluate_load(struct evaluate_work *work,
                               const struct evaluate_arguments *arguments)
{
    size_t count = arguments->priced.mapping_count + 1;
    nw_status status = nw_priced_load(&arguments->priced, &arguments->common,
                                      &work->topology, &work->pattern);

    if (!status)
        status = nw_alloc(count, sizeof *work->cost, &work->cost);
    if (!status)
        status = nw_alloc(count, sizeof *work->column, &work->column);
    if (!status)
        status = nw_alloc(count, sizeof *work->mapping, &work->mapping);
    if (!status)
        status = nw_alloc(count, sizeof *work->headline, &work->headline);
    work->count = status ? 0 : count;
    return status;
}

static nw_status evaluate_make_json(const struct evaluate_work *work,
                                    char **out)
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
        nw_cli_groups_json(&json, work->topology, work->column[i].cost);
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

static nw_status evaluate_make_table(const struct evaluate_work *work,
                                     enum nw_objective objective, char **out)
{
    struct nw_text text = {0};
    char *words = NULL;
    nw_status status = nw_cli_cost_table(work->topology, objective,
                                         work->column, work->count, &words);

    nw_text_add(&text, words ? words : "");
    free(words);
    if (!status)
        status =
            nw_cli_groups_add(&text, work->topology, work->column, work->count);
    for (size_t i = 1; !status && i < work->count; i++)
        status = nw_cli_headline_add(&text, work->column[i].name,
                                     &work->headline[i]);
    return nw_text_take_if(status, &text, out);
}

static int evaluate_show(const struct evaluate_work *work,
                         const struct evaluate_arguments *arguments)
{
    char *table = NULL, *json = NULL;
    int code;
    nw_status status = evaluate_make_table(work, arguments->objective, &table);

    if (!status)
        status = evaluate_make_json(work, &json);
    code = status ? nw_cli_fail("evaluate", status)
                  : nw_cli_output_table("evaluate", &arguments->common, table,
                                        json);
    free(table);
    free(json);
    return code;
}

static int evaluate_run(int argc, char **argv)
{
    struct evaluate_arguments arguments = {.priced = NW_PRICED_INIT};
    struct evaluate_work work = {0};
    nw_status status;
    int code;

    argp_parse(&argp, argc, argv, 0, NULL, &arguments);
    code = nw_cli_check_output("evaluate", &arguments.common);
    if (code)
        return code;
    status = evaluate_load(&work, &arguments);
    if (!status)
        status = nw_cli_blame_pattern(arguments.priced.pattern,
                                      price_all(&work, &arguments));
    /* with a pattern, NW_EINVAL is an error in the files, not in the command
     * line */
    if (status == NW_EINVAL && work.pattern) {
        nw_cli_fail("evaluate", status);
        code = NW_EXIT_INPUT;
    } else {
        code = status ? nw_cli_fail("evaluate", status)
                      : evaluate_show(&work, &arguments);
    }
    for (size_t i = 0; i < work.count; i++) {
        nw_cost_fini(&work.cost[i]);
        nw_mapping_free(work.mapping[i]);
    }
    nw_cli_hosts_fini(&work.hosts);
    free(work.mapping);
    free(work.headline);
    free(work.cost);
    free(work.column);
    nw_pattern_free(work.pattern);
    nw_topology_free(work.topology);
    return code;
}

const struct nw_command nw_command_evaluate = {
    "evaluate", "compare the costs of mappings", &argp, evaluate_run};
