/* SPDX-License-Identifier: BSD-3-Clause */
/* Shows the parts of one type of node as lines of the topology's tree. */
#include "base/array.h"
#include "base/hash.h"
#include "report/outline.h"
#include "report/topology_parts.h"

#include <stdlib.h>

struct parts_type_view {
    nw_table *table;
    const nw_topology *topology;
    const struct nw_node_type *type;
    const char *title; /* title of the first line */
};

void nw_parts_count(nw_table *table, size_t count, size_t each)
{
    if (count != each)
        nw_table_cell(table, "%zu each", each);
    else if (each > 1)
        nw_table_cell(table, "%zu", each);
    else
        nw_table_cell(table, "%s", "");
}

void nw_parts_figures(nw_table *table, const nw_topology *topology,
                      int32_t class)
{
    const struct nw_link_class *figures;
    char words[64], latency[32];

    if (class < 0)
        return;
    figures = &topology->class[class];
    nw_table_cell(table, "%s",
                  nw_link_kind_name((enum nw_link_kind)figures->kind));
    nw_table_cell(table, "%s", nw_words_bandwidth(figures, words));
    nw_table_cell(table, "%s",
                  nw_format_quantity(figures->latency, NW_UNIT_TIME, latency,
                                     sizeof latency));
    nw_table_cell(table, "%s%s", figures->assumed ? "assumed" : "",
                  !figures->half_duplex ? ""
                  : figures->assumed    ? ", half duplex"
                                        : "half duplex");
}

/* Returns the description of a GPU or NIC. Returns NULL for other parts, and if
 * the type has no descriptions. */
static const struct nw_device *device_of(const struct nw_node_type *type,
                                         int32_t vertex)
{
    int32_t index = type->index[vertex];

    if (type->kind[vertex] == NW_VERTEX_GPU && type->gpu_device)
        return &type->gpu_device[index];
    if (type->kind[vertex] == NW_VERTEX_NIC && type->nic_device)
        return &type->nic_device[index];
    return NULL;
}

static void add_label(const struct parts_type_view *view,
                      const struct nw_outline_line *line)
{
    const struct nw_node_type *type = view->type;
    int32_t vertex = line->item[0], *index;
    const struct nw_device *device = device_of(type, vertex);
    struct nw_text text = {0};

    /* groups of different levels may have the same numbers */
    if (type->kind[vertex] == NW_VERTEX_GROUP) {
        nw_table_cell(view->table, "group");
        return;
    }
    if (nw_alloc(line->count, sizeof *index, &index))
        return;
    for (size_t i = 0; i < line->count; i++)
        index[i] = type->index[line->item[i]];
    nw_words_ranges(&text, index, line->count);
    if (line->count == 1 && device && device->name)
        nw_text_format(&text, " %s", device->name);
    if (line->count == 1 && device && device->pci)
        nw_text_format(&text, " %s", device->pci);
    nw_table_cell(view->table, "%s %s",
                  nw_vertex_kind_name((enum nw_vertex_kind)type->kind[vertex]),
                  text.data ? text.data : "");
    nw_text_fini(&text);
    free(index);
}

static void add_distance(const struct parts_type_view *view, int32_t vertex)
{
    int depth = view->type->depth[vertex];

    if (depth < view->topology->depth_count)
        nw_table_cell(view->table, "%g", view->topology->depth_distance[depth]);
}

static int32_t parts_type_show(void *user, int32_t above,
                               const struct nw_outline_line *line)
{
    const struct parts_type_view *view = user;
    int32_t row = nw_table_row(view->table, above), vertex = line->item[0];

    if (vertex == 0)
        nw_table_cell(view->table, "%s", view->title);
    else
        add_label(view, line);
    nw_parts_count(view->table, line->count, line->each);
    if (view->topology->depth_distance)
        add_distance(view, vertex);
    else
        nw_parts_figures(view->table, view->topology,
                         vertex ? view->type->class[vertex] : -1);
    return row;
}

/* Sets the hash of each part, and which parts are shown one by one: packages,
 * NUMA nodes, and devices with a name or a PCI address. */
static void parts_type_hash(const struct nw_node_type *type, uint64_t *hash,
                            bool *pinned)
{
    for (int32_t v = 0; v < type->vertex_count; v++) {
        const struct nw_device *device = device_of(type, v);

        hash[v] = nw_hash_word(type->kind[v], (uint32_t)type->class[v]);
        pinned[v] = type->kind[v] == NW_VERTEX_PACKAGE ||
                    type->kind[v] == NW_VERTEX_NUMA ||
                    (device && (device->name || device->pci));
    }
}

static nw_status show_tree(struct parts_type_view *view)
{
    const struct nw_node_type *type = view->type;
    size_t n = (size_t)type->vertex_count;
    uint64_t *hash = NULL;
    bool *pinned = NULL;
    nw_status status = nw_alloc(n, sizeof *hash, &hash);

    if (!status)
        status = nw_alloc(n, sizeof *pinned, &pinned);
    if (!status) {
        parts_type_hash(type, hash, pinned);
        status = nw_outline_show(&(struct nw_outline){
            .count = type->vertex_count,
            .parent = type->parent,
            .hash = hash,
            .pinned = pinned,
            .show = parts_type_show,
            .user = view,
        });
    }
    free(hash);
    free(pinned);
    return status;
}

/* If a node type has more direct links, they are counted, not listed. */
#define MOST_DIRECT 16

/* Adds a line for direct link `d`, or for the `count` links from `d` on. */
static void add_direct(const struct parts_type_view *view, int32_t root,
                       int32_t d, size_t count)
{
    const struct nw_node_type *type = view->type;
    const struct nw_direct_link *link = &type->direct[d];

    nw_table_row(view->table, root);
    if (count > 1)
        nw_table_cell(view->table, "direct links");
    else
        nw_table_cell(
            view->table, "%s %d - %s %d",
            nw_vertex_kind_name((enum nw_vertex_kind)type->kind[link->a]),
            type->index[link->a],
            nw_vertex_kind_name((enum nw_vertex_kind)type->kind[link->b]),
            type->index[link->b]);
    nw_parts_count(view->table, count, count);
    nw_parts_figures(view->table, view->topology, link->class);
}

/* Shows the direct links: one by one if they are at most MOST_DIRECT, else the
 * number of consecutive links of the same link class. */
static void show_direct(const struct parts_type_view *view, int32_t root)
{
    const struct nw_node_type *type = view->type;
    int32_t step;

    for (int32_t d = 0; d < type->direct_count; d += step) {
        step = 1;
        while (type->direct_count > MOST_DIRECT &&
               d + step < type->direct_count &&
               type->direct[d + step].class == type->direct[d].class)
            step++;
        add_direct(view, root, d, (size_t)step);
    }
}

/* Makes the title: the type's name, the names of its nodes, and how its GPU
 * messages are sent. The caller frees *out. */
static nw_status title_of(const nw_topology *topology, int32_t type, char **out)
{
    const struct nw_node_type *one = topology->type[type];
    const char **names;
    size_t count = 0;
    struct nw_text text = {0};
    nw_status status =
        nw_alloc((size_t)topology->node_count, sizeof *names, &names);

    if (status)
        return status;
    for (int32_t node = 0; node < topology->node_count; node++)
        if (topology->node_type[node] == type)
            names[count++] = topology->node_name[node];
    nw_text_format(&text, "%s: ", one->name ? one->name : "node");
    status = nw_words_names(&text, names, count);
    if (one->staged)
        nw_text_add(&text, ", GPU messages staged through host memory");
    if (one->pxn)
        nw_text_add(&text, ", GPU messages by PXN");
    free(names);
    return nw_text_take_if(status, &text, out);
}

nw_status nw_parts_of_type(nw_table *table, const nw_topology *topology,
                           int32_t type)
{
    struct parts_type_view view = {table, topology, topology->type[type], NULL};
    char *title;
    nw_status status = title_of(topology, type, &title);

    if (status)
        return status;
    view.title = title;
    status = show_tree(&view);
    if (!status && view.type->direct_count) {
        int32_t row = nw_table_row(table, -1);

        nw_table_cell(table, "direct links of a node");
        show_direct(&view, row);
    }
    free(title);
    return status;
}
