/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a node type: its tree of parts, its hardware threads, devices and
 * direct links. Consecutive equal siblings of the tree are written once, with
 * their number. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/write.h"

#include <stdlib.h>
#include <string.h>

/* The node type that is written, and the text to which it is appended. */
struct write_node_type_view {
    const nw_topology *topology;
    const struct nw_node_type *type;
    /* [vertex] first child and next sibling, without GPU switches and hardware
     * threads; -1: none */
    int32_t *first, *next;
    /* whether the numbers of GPUs [0] or NICs [1] must be written, because they
     * differ from the order in the tree */
    bool told[2];
    struct nw_text *text;
};

/* Returns the kind of link that a vertex usually has to its parent. */
static enum nw_link_kind usual_link(enum nw_vertex_kind kind)
{
    switch (kind) {
    case NW_VERTEX_PACKAGE:
        return NW_LINK_SOCKET;
    case NW_VERTEX_DIE:
    case NW_VERTEX_NUMA:
        return NW_LINK_MEMORY;
    case NW_VERTEX_L3:
    case NW_VERTEX_L2:
        return NW_LINK_CACHE;
    case NW_VERTEX_CORE:
        return NW_LINK_CORE;
    default:
        return NW_LINK_PCIE;
    }
}

static nw_status
write_node_type_list_children(struct write_node_type_view *view)
{
    size_t n = (size_t)view->type->vertex_count;
    nw_status status = nw_alloc(n, sizeof *view->first, &view->first);

    if (!status)
        status = nw_alloc(n, sizeof *view->next, &view->next);
    if (status)
        return status;
    for (size_t v = 0; v < n; v++)
        view->first[v] = view->next[v] = -1;
    for (size_t v = n; v-- > 1;) {
        int32_t parent = view->type->parent[v];

        if (view->type->kind[v] == NW_VERTEX_GPU_SWITCH ||
            view->type->kind[v] == NW_VERTEX_PU)
            continue;
        view->next[v] = view->first[parent];
        view->first[parent] = (int32_t)v;
    }
    return NW_OK;
}

/* Finds out whether the GPUs or NICs below v are numbered in another order than
 * that of the tree, and sets the view's flags if they are. `expect` holds the
 * next number of each kind. */
static void write_node_type_find_order(struct write_node_type_view *view,
                                       int32_t v, int32_t expect[2])
{
    for (int32_t c = view->first[v]; c >= 0; c = view->next[c]) {
        bool nic = view->type->kind[c] == NW_VERTEX_NIC;

        if ((nic || view->type->kind[c] == NW_VERTEX_GPU) &&
            view->type->index[c] != expect[nic]++)
            view->told[nic] = true;
        write_node_type_find_order(view, c, expect);
    }
}

/* Returns the number of hardware threads of core vertex v. The threads may be
 * vertices, or only have numbers of the operating system. */
static int32_t threads_of(const struct write_node_type_view *view, int32_t v)
{
    const struct nw_node_type *type = view->type;
    int32_t core = type->index[v], count = 0;

    if (type->core_pu)
        return type->core_pu[core + 1] - type->core_pu[core];
    for (int32_t p = 0; p < type->pu_count; p++)
        count += type->parent[type->pu[p]] == v;
    return count;
}

static bool says_number(const struct write_node_type_view *view, int32_t v)
{
    return (view->type->kind[v] == NW_VERTEX_GPU && view->told[0]) ||
           (view->type->kind[v] == NW_VERTEX_NIC && view->told[1]);
}

static nw_status add_children(const struct write_node_type_view *view,
                              struct nw_text *text, int32_t v, int indent);

/* Writes the lines of part v after its first line. The caller writes the first
 * line, which has the number of equal parts. */
static nw_status add_body(const struct write_node_type_view *view,
                          struct nw_text *text, int32_t v, int indent)
{
    enum nw_vertex_kind kind = (enum nw_vertex_kind)view->type->kind[v];
    enum nw_link_kind link = usual_link(kind);

    if (says_number(view, v))
        nw_text_format(text, "%*snumber: %d\n", indent, "",
                       view->type->index[v]);
    if (kind == NW_VERTEX_CORE && threads_of(view, v))
        nw_text_format(text, "%*spus: %d\n", indent, "", threads_of(view, v));
    if (!nw_write_is_assumed(view->topology, view->type->class[v], link)) {
        nw_text_format(text, "%*slink: ", indent, "");
        nw_write_figures(text, view->topology, view->type->class[v], link);
        nw_text_add(text, "\n");
    }
    if (view->first[v] < 0)
        return NW_OK;
    nw_text_format(text, "%*sparts:\n", indent, "");
    return add_children(view, text, v, indent);
}

static void write_node_type_add_run(const struct write_node_type_view *view,
                                    struct nw_text *text, int32_t v,
                                    int32_t count, int indent, const char *body)
{
    nw_text_format(
        text, "%*s- %s: %d\n%s", indent, "",
        nw_vertex_kind_name((enum nw_vertex_kind)view->type->kind[v]), count,
        body);
}

/* Writes the children of v; consecutive children with the same text are written
 * once, with their number. */
static nw_status add_children(const struct write_node_type_view *view,
                              struct nw_text *text, int32_t v, int indent)
{
    char *last = NULL;
    int32_t of = -1, count = 0;
    nw_status status = NW_OK;

    for (int32_t c = view->first[v]; !status && c >= 0; c = view->next[c]) {
        struct nw_text body = {0};
        char *words = NULL;

        nw_text_add(&body, "");
        status = add_body(view, &body, c, indent + 2);
        if (!status)
            status = nw_text_take(&body, &words);
        nw_text_fini(&body);
        if (status)
            break;
        if (last && view->type->kind[of] == view->type->kind[c] &&
            !strcmp(last, words)) {
            count++;
            free(words);
            continue;
        }
        if (last)
            write_node_type_add_run(view, text, of, count, indent, last);
        free(last);
        last = words;
        of = c;
        count = 1;
    }
    if (last && !status)
        write_node_type_add_run(view, text, of, count, indent, last);
    free(last);
    return status;
}

/* Adds a number to an ascending list such as "0-19,40". run[] holds the first
 * and last number of the range that is not yet written; -1: none. */
static void add_number(struct nw_text *text, int32_t run[2], int32_t number)
{
    if (run[0] >= 0 && number == run[1] + 1) {
        run[1] = number;
        return;
    }
    if (run[0] >= 0)
        nw_text_format(text, run[1] > run[0] ? "%d-%d," : "%d,", run[0],
                       run[1]);
    run[0] = run[1] = number;
}

static int32_t
write_node_type_add_thread(const struct write_node_type_view *view,
                           int32_t thread)
{
    const struct nw_node_type *type = view->type;
    int32_t run[2] = {-1, -1}, met = 0;
    struct nw_text line = {0};

    for (int32_t c = 0; c < type->core_count; c++)
        if (type->core_pu[c] + thread < type->core_pu[c + 1]) {
            add_number(&line, run, type->pu_os[type->core_pu[c] + thread]);
            met++;
        }
    if (met) {
        add_number(&line, run, -1);
        nw_text_format(view->text, "      - \"%.*s\"\n", (int)line.length - 1,
                       line.data ? line.data : " ");
    }
    nw_text_fini(&line);
    return met;
}

static void write_node_type_add_threads(const struct write_node_type_view *view)
{
    const struct nw_node_type *type = view->type;

    if (!type->core_pu || !type->pu_os || !type->core_count ||
        !type->core_pu[type->core_count])
        return;
    nw_text_add(view->text, "    threads:\n");
    for (int32_t t = 0; write_node_type_add_thread(view, t); t++)
        ;
}

static void add_word(const struct write_node_type_view *view, const char *key,
                     const char *value, const char **comma)
{
    if (!value || !*value)
        return;
    nw_text_format(view->text, "%s%s: ", *comma, key);
    nw_write_word(view->text, value);
    *comma = ", ";
}

static void add_info(const struct write_node_type_view *view, const char *key,
                     const struct nw_device *device, int32_t count)
{
    bool any = false;

    for (int32_t i = 0; device && i < count; i++)
        any |= device[i].name || device[i].uuid || device[i].pci;
    if (!any)
        return;
    nw_text_format(view->text, "    %s:\n", key);
    for (int32_t i = 0; i < count; i++) {
        const char *comma = "";

        nw_text_add(view->text, "      - {");
        add_word(view, "name", device[i].name, &comma);
        add_word(view, "uuid", device[i].uuid, &comma);
        add_word(view, "pci", device[i].pci, &comma);
        nw_text_add(view->text, "}\n");
    }
}

static void write_node_type_add_end(const struct write_node_type_view *view,
                                    int32_t v)
{
    nw_text_format(
        view->text, "%s %d",
        nw_vertex_kind_name((enum nw_vertex_kind)view->type->kind[v]),
        view->type->index[v]);
}

static void write_node_type_add_link(const struct write_node_type_view *view,
                                     int32_t class)
{
    nw_text_add(view->text, ", link: ");
    nw_write_figures(view->text, view->topology, class, NW_LINK_NVLINK);
    nw_text_add(view->text, "}\n");
}

static bool to_switch(const struct write_node_type_view *view,
                      const struct nw_direct_link *link)
{
    return view->type->kind[link->a] == NW_VERTEX_GPU_SWITCH ||
           view->type->kind[link->b] == NW_VERTEX_GPU_SWITCH;
}

/* Writes one item that lists the ends of all direct links of GPU switch s, with
 * the class of the last of these links. Writes nothing if s has no links. */
static void write_node_type_add_switch(const struct write_node_type_view *view,
                                       int32_t s)
{
    const struct nw_node_type *type = view->type;
    int32_t class = -1;
    const char *comma = "";

    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_direct_link *link = &type->direct[d];

        if (link->a != s && link->b != s)
            continue;
        if (class < 0)
            nw_text_add(view->text, "      - {switch: [");
        class = link->class;
        nw_text_add(view->text, comma);
        write_node_type_add_end(view, link->a == s ? link->b : link->a);
        comma = ", ";
    }
    if (class < 0)
        return;
    nw_text_add(view->text, "]");
    write_node_type_add_link(view, class);
}

static nw_status check_switches(const struct write_node_type_view *view)
{
    const struct nw_node_type *type = view->type;

    for (int32_t d = 0; d < type->direct_count; d++)
        for (int32_t e = 0; e < d; e++) {
            const struct nw_direct_link *x = &type->direct[d];
            const struct nw_direct_link *y = &type->direct[e];

            if (to_switch(view, x) && to_switch(view, y) && x->b == y->b &&
                x->class != y->class)
                return nw_fail(NW_EUNSUPPORTED,
                               "node type %s: a cluster file gives all links "
                               "of a GPU switch one figure, and these differ",
                               type->name);
        }
    return NW_OK;
}

static nw_status
write_node_type_add_direct(const struct write_node_type_view *view)
{
    const struct nw_node_type *type = view->type;
    nw_status status = check_switches(view);

    if (status || !type->direct_count)
        return status;
    nw_text_add(view->text, "    direct:\n");
    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_direct_link *link = &type->direct[d];

        if (to_switch(view, link))
            continue;
        nw_text_add(view->text, "      - {pairs: [[");
        write_node_type_add_end(view, link->a);
        nw_text_add(view->text, ", ");
        write_node_type_add_end(view, link->b);
        nw_text_add(view->text, "]]");
        write_node_type_add_link(view, link->class);
    }
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->kind[v] == NW_VERTEX_GPU_SWITCH)
            write_node_type_add_switch(view, v);
    return NW_OK;
}

nw_status nw_write_type(struct nw_text *text, const nw_topology *topology,
                        const struct nw_node_type *type)
{
    struct write_node_type_view view = {
        .topology = topology, .type = type, .text = text};
    int32_t expect[2] = {0, 0};
    nw_status status = write_node_type_list_children(&view);

    if (!status) {
        write_node_type_find_order(&view, 0, expect);
        nw_text_add(text, "  ");
        nw_write_word(text, type->name);
        nw_text_add(text, ":\n");
        if (type->staged || type->pxn)
            nw_text_format(text, "    gpu_messages: %s\n",
                           type->pxn ? "pxn" : "staged");
        nw_text_add(text, "    parts:\n");
        status = add_children(&view, text, 0, 6);
    }
    if (!status) {
        write_node_type_add_threads(&view);
        add_info(&view, "gpus", type->gpu_device, type->gpu_count);
        add_info(&view, "nics", type->nic_device, type->nic_count);
        status = write_node_type_add_direct(&view);
    }
    free(view.first);
    free(view.next);
    return status;
}
