/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the traffic of a training step for each kind of group of ranks. Each
 * kind is one phase of the pattern. */
#include "cli/group_view.h"
#include "base/text.h"
#include "cli/command.h"

#include <nodewise/pattern.h>
#include <nodewise/report.h>
#include <stdlib.h>

/* --- the table --- */

static double group_level_bytes(const struct nw_cost *cost, int32_t level)
{
    return (double)cost->level_bytes[0][level] +
           (double)cost->level_bytes[1][level];
}

struct group_view {
    nw_table *table;
    const nw_topology *topology;
    const struct nw_cost_column *column;
    size_t count;
};

/* Adds the cells of a row: the bytes of phase g on a level, for each
 * mapping. */
static void group_add_level(const struct group_view *view, int g, int32_t level)
{
    for (size_t i = 0; i < view->count; i++) {
        char words[32];

        nw_table_cell(
            view->table, "%s",
            nw_format_quantity(
                group_level_bytes(&view->column[i].cost->phase[g], level),
                NW_UNIT_BYTES, words, sizeof words));
    }
}

/* Returns true if phase g sends bytes on this level in one of the mappings. */
static bool group_uses(const struct group_view *view, int g, int32_t level)
{
    for (size_t i = 0; i < view->count; i++)
        if (group_level_bytes(&view->column[i].cost->phase[g], level) > 0)
            return true;
    return false;
}

static void group_add_time(const struct group_view *view, int g)
{
    nw_table_row(view->table, -1);
    nw_table_cell(view->table, "%s", "");
    nw_table_cell(view->table, "time");
    for (size_t i = 0; i < view->count; i++) {
        char words[32];

        nw_table_cell(view->table, "%s",
                      nw_format_quantity(view->column[i].cost->phase[g].time,
                                         NW_UNIT_TIME, words, sizeof words));
    }
}

static void group_add_rows(const struct group_view *view, int g)
{
    const struct nw_cost *phase = &view->column[0].cost->phase[g];
    bool first = true;

    for (int32_t l = 0; l < phase->level_count; l++) {
        if (!group_uses(view, g, l))
            continue;
        nw_table_row(view->table, -1);
        nw_table_cell(view->table, "%s", first ? nw_phase_title(g) : "");
        nw_table_cell(view->table, "%s",
                      nw_topology_level_name(view->topology, l));
        group_add_level(view, g, l);
        first = false;
    }
    if (phase->has_congestion)
        group_add_time(view, g);
}

nw_status nw_cli_groups_add(struct nw_text *text, const nw_topology *topology,
                            const struct nw_cost_column *column, size_t count)
{
    struct group_view view = {NULL, topology, column, count};
    nw_status status;

    if (!column[0].cost->phase)
        return NW_OK;
    status = nw_table_new(&view.table);
    if (status)
        return status;
    nw_table_column(view.table, "BYTES OF GROUP", NW_ALIGN_LEFT);
    nw_table_column(view.table, "WITHIN", NW_ALIGN_LEFT);
    for (size_t i = 0; i < count; i++)
        nw_table_column(view.table, column[i].name, NW_ALIGN_RIGHT);
    for (int g = 0; g < NW_PHASE_COUNT; g++)
        group_add_rows(&view, g);
    nw_text_add(text, "\n");
    status = nw_cli_add_table(view.table, text);
    nw_text_add(text, "\n");
    return status;
}

/* --- JSON --- */

void nw_cli_groups_json(struct nw_json *json, const nw_topology *topology,
                        const struct nw_cost *cost)
{
    if (!cost->phase)
        return;
    nw_json_array(json, "groups");
    for (int g = 0; g < NW_PHASE_COUNT; g++) {
        if (!cost->phase[g].level_count)
            continue;
        nw_json_object(json, NULL);
        nw_json_string(json, "name", nw_phase_name(g));
        nw_cli_cost_json(json, topology, &cost->phase[g]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}
