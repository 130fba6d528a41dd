/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates the traffic of each group of a training step again, from the note
 * of the pattern, and prices it alone, as a phase of the step. */
#include "cli/group_view.h"
#include "base/array.h"
#include "base/text.h"

#include <nodewise/pattern.h>
#include <nodewise/report.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *title;
} group_names[NW_CLI_GROUPS] = {{"tp", "tensor (tp)"},
                                {"cp", "context (cp)"},
                                {"ep", "experts (ep)"},
                                {"dp", "data (dp)"},
                                {"pp", "pipeline (pp)"}};

/* The number behind a key of a specification; 1 without the key. */
static double group_size(const char *specification, const char *key)
{
    size_t length = strlen(key);
    const char *at = specification;

    while ((at = strstr(at, key))) {
        if (at > specification && (at[-1] == ':' || at[-1] == ',') &&
            at[length] == '=')
            return strtod(at + length + 1, NULL);
        at += length;
    }
    return 1;
}

/* The note of a file may say anything: groups that cannot be the pattern's are
 * not generated. */
static bool group_is_training(const nw_pattern *pattern)
{
    const char *note = pattern->note;
    double ranks = 1, edges;

    if (!note || strncmp(note, "training:", 9) || strstr(note, "only="))
        return false;
    ranks = group_size(note, "tp") * group_size(note, "cp") *
            group_size(note, "dp") * group_size(note, "pp");
    edges = ranks * (group_size(note, "ep") - 1);
    return ranks == pattern->rank_count && edges <= (double)pattern->edge_count;
}

static nw_status group_generate(const nw_pattern *pattern, int group,
                                nw_pattern **out)
{
    struct nw_text text = {0};
    char *words = NULL;
    nw_status status;

    nw_text_format(&text, "%s,only=%s", pattern->note, group_names[group].name);
    status = nw_text_take(&text, &words);
    if (!status)
        status = nw_pattern_generate(words, out);
    free(words);
    return status;
}

static double group_sum_bytes(const nw_pattern *pattern)
{
    double sum = 0;

    for (size_t e = 0; e < pattern->edge_count; e++)
        sum += (double)pattern->bytes[e];
    return sum;
}

/* A pattern may have another note than its traffic: it was combined, or edited.
 */
static bool group_is_whole(const nw_pattern *pattern,
                           nw_pattern *const group[NW_CLI_GROUPS])
{
    double sum = 0, whole = group_sum_bytes(pattern), difference;

    for (int g = 0; g < NW_CLI_GROUPS; g++) {
        if (group[g]->rank_count != pattern->rank_count)
            return false;
        sum += group_sum_bytes(group[g]);
    }
    difference = sum < whole ? whole - sum : sum - whole;
    return difference <= 1e-9 * whole;
}

static nw_status group_price(const nw_topology *topology,
                             const nw_pattern *pattern,
                             nw_mapping *const *mapping, struct nw_cost **cost,
                             size_t count)
{
    nw_status status = NW_OK;

    if (!pattern->edge_count)
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
    nw_pattern *group[NW_CLI_GROUPS] = {NULL};
    nw_status status = NW_OK;
    int g = 0;

    *out = (struct nw_cli_groups){.count = count};
    if (!group_is_training(pattern))
        return NW_OK;
    while (!status && g < NW_CLI_GROUPS) {
        status = group_generate(pattern, g, &group[g]);
        g += !status;
    }
    /* a note of people that only looks like a specification */
    if (status == NW_EINVAL || status == NW_EFORMAT)
        status = NW_OK;
    else if (!status && group_is_whole(pattern, group))
        for (g = 0; !status && g < NW_CLI_GROUPS; g++)
            status =
                group_price(topology, group[g], mapping, &out->cost[g], count);
    for (g = 0; g < NW_CLI_GROUPS; g++)
        nw_pattern_free(group[g]);
    return status;
}

size_t nw_cli_groups_report(const struct nw_cli_groups *groups,
                            struct nw_report_group out[NW_CLI_GROUPS])
{
    size_t count = 0;

    for (int g = 0; g < NW_CLI_GROUPS; g++)
        if (groups->cost[g])
            out[count++] =
                (struct nw_report_group){group_names[g].title, groups->cost[g]};
    return count;
}

void nw_cli_groups_fini(struct nw_cli_groups *groups)
{
    for (int g = 0; g < NW_CLI_GROUPS; g++) {
        for (size_t i = 0; groups->cost[g] && i < groups->count; i++)
            nw_cost_fini(&groups->cost[g][i]);
        free(groups->cost[g]);
    }
    *groups = (struct nw_cli_groups){0};
}

static bool group_is_empty(const struct nw_cli_groups *groups)
{
    for (int g = 0; g < NW_CLI_GROUPS; g++)
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
        nw_table_cell(table, "%s", first ? group_names[g].title : "");
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
    for (int g = 0; g < NW_CLI_GROUPS; g++)
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
    for (int g = 0; g < NW_CLI_GROUPS; g++) {
        if (!groups->cost[g])
            continue;
        nw_json_object(json, NULL);
        nw_json_string(json, "name", group_names[g].name);
        nw_cli_cost_json(json, topology, &groups->cost[g][mapping]);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}
