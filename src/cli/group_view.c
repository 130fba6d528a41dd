/* SPDX-License-Identifier: BSD-3-Clause */
/* Prices the traffic of each kind of group of a training step alone, as a phase
 * of the step. */
#include "cli/group_view.h"
#include "base/array.h"
#include "base/text.h"

#include <nodewise/pattern.h>
#include <nodewise/report.h>
#include <stdlib.h>

static const char *const group_titles[NW_PHASE_COUNT] = {
    [NW_PHASE_TENSOR] = "tensor (tp)",
    [NW_PHASE_CONTEXT] = "context (cp)",
    [NW_PHASE_EXPERT] = "experts (ep)",
    [NW_PHASE_DATA] = "data (dp)",
    [NW_PHASE_EXPERT_DATA] = "expert data (edp)",
    [NW_PHASE_PIPELINE] = "pipeline (pp)"};

static nw_status group_price(const nw_topology *topology,
                             const nw_pattern *pattern,
                             nw_mapping *const *mapping, struct nw_cost **cost,
                             size_t count)
{
    nw_status status = NW_OK;

    if (!pattern)
        return NW_OK;
    status = nw_alloc(count, sizeof **cost, cost);
    for (size_t i = 0; !status && i < count; i++)
        status = nw_cost_evaluate(topology, pattern, mapping[i], &(*cost)[i]);
    return status;
}

nw_status nw_cli_groups_price(const nw_topology *topology,
                              const nw_pattern *pattern,
                              nw_mapping *const *mapping, size_t count,
                              struct nw_cli_groups *out)
{
    struct nw_pattern_phases phases;
    nw_status status = nw_pattern_find_phases(pattern, &phases);

    *out = (struct nw_cli_groups){.count = count};
    for (int g = 0; !status && phases.found && g < NW_PHASE_COUNT; g++)
        status = group_price(topology, phases.pattern[g], mapping,
                             &out->cost[g], count);
    nw_pattern_phases_fini(&phases);
    return status;
}

size_t nw_cli_groups_report(const struct nw_cli_groups *groups,
                            struct nw_report_group out[NW_PHASE_COUNT])
{
    size_t count = 0;

    for (int g = 0; g < NW_PHASE_COUNT; g++)
        if (groups->cost[g])
            out[count++] =
                (struct nw_report_group){group_titles[g], groups->cost[g]};
    return count;
}

void nw_cli_groups_fini(struct nw_cli_groups *groups)
{
    for (int g = 0; g < NW_PHASE_COUNT; g++) {
        for (size_t i = 0; groups->cost[g] && i < groups->count; i++)
            nw_cost_fini(&groups->cost[g][i]);
        free(groups->cost[g]);
    }
    *groups = (struct nw_cli_groups){0};
}

static bool group_is_empty(const struct nw_cli_groups *groups)
{
    for (int g = 0; g < NW_PHASE_COUNT; g++)
        if (groups->cost[g])
            return false;
    return true;
}

/* --- the table --- */

static double group_level_bytes(const struct nw_cost *cost, int32_t level)
{
    return (double)cost->level_bytes[0][level] +
           (double)cost->level_bytes[1][level];
}

static void group_add_level(nw_table *table, const struct nw_cli_groups *groups,
                            int g, int32_t level)
{
    for (size_t i = 0; i < groups->count; i++) {
        char words[32];

        nw_table_cell(
            table, "%s",
            nw_format_quantity(group_level_bytes(&groups->cost[g][i], level),
                               NW_UNIT_BYTES, words, sizeof words));
    }
}

static bool group_uses(const struct nw_cli_groups *groups, int g, int32_t level)
{
    for (size_t i = 0; i < groups->count; i++)
        if (group_level_bytes(&groups->cost[g][i], level) > 0)
            return true;
    return false;
}

static void group_add_time(nw_table *table, const struct nw_cli_groups *groups,
                           int g)
{
    nw_table_row(table, -1);
    nw_table_cell(table, "%s", "");
    nw_table_cell(table, "time");
    for (size_t i = 0; i < groups->count; i++) {
        char words[32];

        nw_table_cell(table, "%s",
                      nw_format_quantity(groups->cost[g][i].time, NW_UNIT_TIME,
                                         words, sizeof words));
    }
}

static void group_add_rows(nw_table *table, const nw_topology *topology,
                           const struct nw_cli_groups *groups, int g)
{
    bool first = true;

    for (int32_t l = 0; l < groups->cost[g][0].level_count; l++) {
        if (!group_uses(groups, g, l))
            continue;
        nw_table_row(table, -1);
        nw_table_cell(table, "%s", first ? group_titles[g] : "");
        nw_table_cell(table, "%s", nw_topology_level_name(topology, l));
        group_add_level(table, groups, g, l);
        first = false;
    }
    if (groups->cost[g][0].has_congestion)
        group_add_time(table, groups, g);
}

nw_status nw_cli_groups_add(struct nw_text *text, const nw_topology *topology,
                            const struct nw_cli_groups *groups,
                            const struct nw_cost_column *columns)
{
    nw_table *table;
    char *words = NULL;
    nw_status status;

    if (group_is_empty(groups))
        return NW_OK;
    status = nw_table_new(&table);
    if (status)
        return status;
    nw_table_column(table, "BYTES OF GROUP", NW_ALIGN_LEFT);
    nw_table_column(table, "WITHIN", NW_ALIGN_LEFT);
    for (size_t i = 0; i < groups->count; i++)
        nw_table_column(table, columns[i].name, NW_ALIGN_RIGHT);
    for (int g = 0; g < NW_PHASE_COUNT; g++)
        if (groups->cost[g])
            group_add_rows(table, topology, groups, g);
    status = nw_table_text(table, &words);
    if (!status)
        nw_text_format(text, "\n%s\n", words);
    free(words);
    nw_table_free(table);
    return status;
}

/* --- JSON --- */

void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cli_groups *groups, size_t mapping)
{
    if (group_is_empty(groups))
        return;
    nw_json_array(json, "groups");
    for (int g = 0; g < NW_PHASE_COUNT; g++) {
        if (!groups->cost[g])
            continue;
        nw_json_object(json, NULL);
        nw_json_string(json, "name", nw_phase_name(g));
        nw_cli_cost_json(json, topology, &groups->cost[g][mapping]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}
