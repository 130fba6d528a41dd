/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints the costs of a mapping in the same form in tables and in JSON. */
#include "cli/cost_view.h"

#include "cli/command.h"

#include <stdlib.h>

static void add_sum(struct nw_json *json, const char *key,
                    const struct nw_sum *sum)
{
    if (sum->integral)
        nw_json_wide(json, key, sum->exact);
    else
        nw_json_number(json, key, sum->value);
}

/* Adds a time in s, or null if the topology has no links to predict it from. */
static void add_seconds(struct nw_json *json, const char *key,
                        const struct nw_cost *cost, double value)
{
    if (cost->has_congestion)
        nw_json_number(json, key, value);
    else
        nw_json_null(json, key);
}

/* Returns true if a level of the machine, such as a package, carries messages.
 * The first index 0 stands for host memory, 1 for GPU memory. */
static bool level_is_used(const struct nw_cost *cost, int32_t level)
{
    return cost->level_messages[0][level] || cost->level_messages[1][level] ||
           cost->level_bytes[0][level] || cost->level_bytes[1][level];
}

static void add_levels(struct nw_json *json, const nw_topology *topology,
                       const struct nw_cost *cost)
{
    nw_json_array(json, "levels");
    for (int32_t l = 0; l < cost->level_count; l++) {
        if (!level_is_used(cost, l))
            continue;
        nw_json_object(json, NULL);
        nw_json_string(json, "name", nw_topology_level_name(topology, l));
        nw_json_unsigned(json, "host_bytes", cost->level_bytes[0][l]);
        nw_json_unsigned(json, "gpu_bytes", cost->level_bytes[1][l]);
        nw_json_unsigned(json, "host_messages", cost->level_messages[0][l]);
        nw_json_unsigned(json, "gpu_messages", cost->level_messages[1][l]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

void nw_cli_cost_json(struct nw_json *json, const nw_topology *topology,
                      const struct nw_cost *cost)
{
    add_sum(json, "hop_bytes", &cost->hop_bytes);
    add_sum(json, "host_hop_bytes", &cost->host_hop_bytes);
    add_sum(json, "gpu_hop_bytes", &cost->gpu_hop_bytes);
    add_seconds(json, "max_congestion", cost, cost->max_congestion);
    add_seconds(json, "max_congestion_host", cost, cost->max_congestion_host);
    add_seconds(json, "max_congestion_gpu", cost, cost->max_congestion_gpu);
    nw_json_number(json, "latency", cost->latency);
    add_seconds(json, "time", cost, cost->time);
    nw_json_integer(json, "remote_gpus", cost->remote_gpus);
    add_levels(json, topology, cost);
}

void nw_cli_headline_json(struct nw_json *json,
                          const struct nw_headline *headline)
{
    nw_json_object(json, "headline");
    nw_json_string(json, "metric", headline->metric);
    nw_json_number(json, "default", headline->before);
    nw_json_number(json, "mapped", headline->after);
    nw_json_number(json, "percent_less", headline->percent_less);
    nw_json_string(json, "verdict", headline->verdict);
    nw_json_end_object(json);
}

nw_status nw_cli_headline_add(struct nw_text *text, const char *name,
                              const struct nw_headline *headline)
{
    char *words = NULL;
    nw_status status = nw_report_headline_text(headline, &words);

    if (status)
        return status;
    if (name) {
        nw_text_add_shown(text, name);
        nw_text_add(text, ": ");
    }
    nw_text_add(text, words);
    free(words);
    return NW_OK;
}

static void sum_cell(nw_table *table, const struct nw_sum *sum)
{
    char text[32];

    nw_table_cell(
        table, "%s",
        nw_format_quantity(sum->value, NW_UNIT_BYTES, text, sizeof text));
}

static void seconds_cell(nw_table *table, const struct nw_cost *cost,
                         double value)
{
    char text[32];

    if (cost->has_congestion)
        nw_table_cell(
            table, "%s",
            nw_format_quantity(value, NW_UNIT_TIME, text, sizeof text));
    else
        nw_table_cell(table, "-");
}

/* Adds a cell with the improvement from `before` to `after` in percent; "-" if
 * `before` is 0. */
static void percent_cell(nw_table *table, double before, double after)
{
    if (before > 0)
        nw_table_cell(table, "%.1f %%", (1 - after / before) * 100);
    else
        nw_table_cell(table, "-");
}

static nw_status add_figures(struct nw_text *text, enum nw_objective objective,
                             const struct nw_cost_column *columns, size_t count)
{
    static const char *const less[] = {
        [NW_OBJECTIVE_HOP_BYTES] = "LESS HOP-BYTES",
        [NW_OBJECTIVE_CONGESTION] = "LESS CONGESTION",
        [NW_OBJECTIVE_LATENCY] = "LESS LATENCY",
        [NW_OBJECTIVE_TIME] = "LESS TIME"};
    const char *const titles[] = {"HOP-BYTES",      "HOST",         "GPU",
                                  "MAX CONGESTION", "HOST",         "GPU",
                                  "LATENCY",        less[objective]};
    double before = nw_cost_objective(columns[0].cost, objective);
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "MAPPING", NW_ALIGN_LEFT);
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        nw_table_column(table, titles[i], NW_ALIGN_RIGHT);
    for (size_t i = 0; i < count; i++) {
        const struct nw_cost *cost = columns[i].cost;
        char latency[32];

        nw_table_row(table, -1);
        nw_table_cell(table, "%s", columns[i].name);
        sum_cell(table, &cost->hop_bytes);
        sum_cell(table, &cost->host_hop_bytes);
        sum_cell(table, &cost->gpu_hop_bytes);
        seconds_cell(table, cost, cost->max_congestion);
        seconds_cell(table, cost, cost->max_congestion_host);
        seconds_cell(table, cost, cost->max_congestion_gpu);
        nw_table_cell(table, "%s",
                      nw_format_quantity(cost->latency, NW_UNIT_TIME, latency,
                                         sizeof latency));
        percent_cell(table, before, nw_cost_objective(cost, objective));
    }
    return nw_cli_add_table(table, text);
}

static bool any_uses(const struct nw_cost_column *columns, size_t count,
                     int32_t level)
{
    for (size_t i = 0; i < count; i++)
        if (level_is_used(columns[i].cost, level))
            return true;
    return false;
}

static nw_status add_level_rows(struct nw_text *text,
                                const nw_topology *topology,
                                const struct nw_cost_column *columns,
                                size_t count)
{
    nw_table *table;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_table_column(table, "BYTES WITHIN", NW_ALIGN_LEFT);
    for (size_t i = 0; i < count; i++)
        nw_table_column(table, columns[i].name, NW_ALIGN_RIGHT);
    for (int32_t l = 0; l < columns[0].cost->level_count; l++) {
        if (!any_uses(columns, count, l))
            continue;
        nw_table_row(table, -1);
        nw_table_cell(table, "%s", nw_topology_level_name(topology, l));
        for (size_t i = 0; i < count; i++) {
            const struct nw_cost *cost = columns[i].cost;
            char bytes[32];

            nw_table_cell(
                table, "%s",
                nw_format_quantity((double)cost->level_bytes[0][l] +
                                       (double)cost->level_bytes[1][l],
                                   NW_UNIT_BYTES, bytes, sizeof bytes));
        }
    }
    return nw_cli_add_table(table, text);
}

static struct nw_text *add_name(struct nw_text *text,
                                const struct nw_cost_column *column)
{
    nw_text_add_shown(text, column->name);
    nw_text_add(text, ": ");
    return text;
}

/* Appends sentences for each mapping: its most congested link, and the number
 * of ranks with a GPU on another node, if there are any. The directions of a
 * link have the numbers 2 * link (outward) and 2 * link + 1 (inward). */
static void add_worst_links(struct nw_text *text, const nw_topology *topology,
                            const struct nw_cost_column *columns, size_t count)
{
    char name[160];

    for (size_t i = 0; i < count; i++) {
        const struct nw_cost *cost = columns[i].cost;

        if (cost->has_congestion && cost->max_congestion_link >= 0)
            nw_text_format(
                add_name(text, &columns[i]),
                "the most congested link of the whole run is %s (%s)\n",
                nw_topology_link_name(topology, cost->max_congestion_link / 2,
                                      name, sizeof name),
                cost->max_congestion_link & 1 ? "inward" : "outward");
        if (cost->remote_gpus)
            nw_text_format(add_name(text, &columns[i]),
                           "%d rank%s GPU on another node\n", cost->remote_gpus,
                           cost->remote_gpus == 1 ? " has its"
                                                  : "s have their");
    }
}

nw_status nw_cli_cost_table(const nw_topology *topology,
                            enum nw_objective objective,
                            const struct nw_cost_column *columns, size_t count,
                            char **out)
{
    struct nw_text text = {0};
    nw_status status = add_figures(&text, objective, columns, count);
    bool has_bytes = false;

    for (int32_t l = 0; l < columns[0].cost->level_count; l++)
        has_bytes |= any_uses(columns, count, l);
    if (!status && has_bytes) {
        nw_text_add(&text, "\n");
        status = add_level_rows(&text, topology, columns, count);
    }
    if (status) {
        nw_text_fini(&text);
        return status;
    }
    nw_text_add(&text, "\n");
    add_worst_links(&text, topology, columns, count);
    return nw_text_take(&text, out);
}
