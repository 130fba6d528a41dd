/* SPDX-License-Identifier: BSD-3-Clause */
/* Prints a machine as a tree: the network with its nodes, then the contents of
 * one node of each type. */
#include <nodewise/report.h>

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "report/topology_parts.h"

#include <stdlib.h>

static void topology_tree_add_columns(nw_table *table,
                                      const nw_topology *topology)
{
    nw_table_column(table, "part", NW_ALIGN_LEFT);
    nw_table_column(table, "count", NW_ALIGN_RIGHT);
    if (topology->depth_distance) {
        nw_table_column(table, "distance inside", NW_ALIGN_RIGHT);
        return;
    }
    nw_table_column(table, "link", NW_ALIGN_LEFT);
    nw_table_column(table, "bandwidth", NW_ALIGN_RIGHT);
    nw_table_column(table, "latency", NW_ALIGN_RIGHT);
    nw_table_column(table, "note", NW_ALIGN_LEFT);
}

static nw_status add_parts(nw_table *table, const nw_topology *topology)
{
    nw_status status = NW_OK;

    if (topology->network)
        status = nw_parts_of_network(table, topology);
    if (!status && topology->upper)
        status = nw_parts_of_domains(table, topology);
    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_parts_of_type(table, topology, t);
    return status;
}

static void add_assumed(struct nw_text *text, const nw_topology *topology)
{
    int32_t links = nw_topology_link_count(topology), assumed = 0;

    if (!nw_topology_has_links(topology))
        return;
    for (int32_t link = 0; link < links; link++) {
        int32_t class = nw_topology_link_class_of(topology, link);

        assumed += class >= 0 && topology->class[class].assumed;
    }
    nw_text_format(text, ", %d link%s", links, nw_plural((uint64_t)links));
    if (assumed)
        nw_text_format(text, " (%d with assumed figures)", assumed);
}

nw_status nw_report_topology_tree(const nw_topology *topology, char **out)
{
    struct nw_text text = {0};
    nw_table *table;
    char *words = NULL;
    nw_status status = nw_table_new(&table);

    if (status)
        return status;
    nw_text_format(&text, "%s: ", topology->name);
    nw_words_counts(&text, topology);
    add_assumed(&text, topology);
    nw_text_add(&text, "\n");
    topology_tree_add_columns(table, topology);
    status = add_parts(table, topology);
    if (!status)
        status = nw_table_text(table, &words);
    if (!status)
        nw_text_add(&text, words);
    free(words);
    nw_table_free(table);
    return nw_text_take_if(status, &text, out);
}
