/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a network of the switches of slurm:FILE: a tree if one switch is above
 * all others and each of these has one parent, otherwise a graph. */
#include "topology/slurm/slurm.h"
#include "base/array.h"
#include "base/name_index.h"
#include "base/status.h"
#include "topology/network/networks.h"

#include <stdlib.h>
#include <string.h>

static nw_status slurm_fail_at(const struct nw_slurm_switch *at,
                               const char *what, const char *name)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s '%s'", at->file, at->line, what,
                   name);
}

nw_status nw_slurm_add(struct nw_slurm *slurm, char *name, int line)
{
    nw_status status = nw_grow(&slurm->at, &slurm->capacity, slurm->count + 1,
                               sizeof *slurm->at);

    if (status) {
        free(name);
        return status;
    }
    slurm->at[slurm->count++] = (struct nw_slurm_switch){
        .name = name, .file = slurm->file, .line = line, .parent = -1};
    return NW_OK;
}

void nw_slurm_fini(struct nw_slurm *slurm)
{
    for (size_t i = 0; i < slurm->count; i++) {
        free(slurm->at[i].name);
        nw_hostlist_fini(&slurm->at[i].below);
        nw_hostlist_fini(&slurm->at[i].nodes);
    }
    nw_hostlist_fini(&slurm->included);
    free(slurm->at);
    free(slurm->by_name);
}

static struct nw_names slurm_names(const struct nw_slurm *slurm)
{
    return NW_NAMES(slurm->at, name, slurm->named_count);
}

static nw_status slurm_index_names(struct nw_slurm *slurm)
{
    const struct nw_slurm_switch *at;
    size_t again;
    nw_status status;

    slurm->named_count = slurm->count;
    status = nw_names_sort(slurm_names(slurm), &slurm->by_name);
    if (status)
        return status;
    again = nw_names_repeated(slurm_names(slurm), slurm->by_name);
    at = &slurm->at[slurm->by_name[again]];
    return again ? slurm_fail_at(at, "there is a second switch", at->name)
                 : NW_OK;
}

static int32_t slurm_find(const struct nw_slurm *slurm, const char *name)
{
    return nw_names_find(slurm_names(slurm), slurm->by_name, name);
}

static nw_status slurm_join(struct nw_slurm *slurm, int32_t above,
                            const char *name)
{
    int32_t i = slurm_find(slurm, name);

    if (i < 0)
        return slurm_fail_at(&slurm->at[above], "unknown switch", name);
    if (slurm->at[i].parent < 0)
        slurm->at[i].parent = above;
    slurm->link_count++;
    return NW_OK;
}

static nw_status join_all(struct nw_slurm *slurm)
{
    nw_status status = NW_OK;

    for (size_t i = 0; i < slurm->count; i++)
        for (size_t k = 0; !status && k < slurm->at[i].below.count; k++)
            status = slurm_join(slurm, (int32_t)i, slurm->at[i].below.name[k]);
    return status;
}

enum { UNSEEN, OPEN, DONE };

/* A switch on the current path, and the index of the next switch below it to
 * visit. */
struct step {
    int32_t at;
    size_t next;
};

static nw_status say_loop(const struct nw_slurm *slurm, int32_t at,
                          const char *below)
{
    return nw_fail(
        NW_EFORMAT, "%s:%d: a loop: switch '%s' is below '%s' and above it",
        slurm->at[at].file, slurm->at[at].line, below, slurm->at[at].name);
}

/* Looks for loops below `top`, depth first. It uses `stack`, which has an entry
 * for each switch, instead of recursion, because files may be deep. */
static nw_status walk_down(struct nw_slurm *slurm, int32_t top,
                           struct step *stack)
{
    size_t depth = 1;

    stack[0] = (struct step){top, 0};
    slurm->at[top].look = OPEN;
    while (depth) {
        struct step *step = &stack[depth - 1];
        struct nw_slurm_switch *at = &slurm->at[step->at];
        int32_t below;

        if (step->next == at->below.count) {
            at->look = DONE;
            depth--;
            continue;
        }
        below = slurm_find(slurm, at->below.name[step->next++]);
        if (slurm->at[below].look == OPEN)
            return say_loop(slurm, step->at, slurm->at[below].name);
        if (slurm->at[below].look == UNSEEN) {
            slurm->at[below].look = OPEN;
            stack[depth++] = (struct step){below, 0};
        }
    }
    return NW_OK;
}

static nw_status check_loops(struct nw_slurm *slurm)
{
    struct step *stack;
    nw_status status = nw_alloc(slurm->count, sizeof *stack, &stack);

    for (size_t i = 0; !status && i < slurm->count; i++)
        if (slurm->at[i].look == UNSEEN)
            status = walk_down(slurm, (int32_t)i, stack);
    free(stack);
    return status;
}

static nw_status find_parts(const struct nw_slurm *slurm, int32_t **out)
{
    int32_t *part;
    nw_status status = nw_alloc(slurm->count, sizeof *part, &part);

    if (status)
        return status;
    for (size_t i = 0; i < slurm->count; i++)
        part[i] = (int32_t)i;
    for (size_t i = 0; i < slurm->count; i++)
        for (size_t k = 0; k < slurm->at[i].below.count; k++) {
            int32_t below = slurm_find(slurm, slurm->at[i].below.name[k]);

            part[nw_group_root(part, below)] = nw_group_root(part, (int32_t)i);
        }
    *out = part;
    return NW_OK;
}

/* If the file has several unconnected parts, adds a switch "(top)" above them:
 * above every switch that has no parent. */
static nw_status join_parts(struct nw_slurm *slurm)
{
    int32_t *part, parts = 0, top = (int32_t)slurm->count;
    char *name;
    nw_status status = find_parts(slurm, &part);

    if (status)
        return status;
    for (int32_t i = 0; i < top; i++)
        parts += part[i] == i;
    if (parts > 1) {
        status = nw_strdup("(top)", &name);
        if (!status)
            status = nw_slurm_add(slurm, name, 0);
    }
    for (int32_t i = 0; !status && parts > 1 && i < top; i++)
        if (slurm->at[i].parent < 0) {
            slurm->at[i].parent = top;
            slurm->link_count++;
        }
    free(part);
    return status;
}

/* Numbers the switches depth first, in the order in which a cluster file lists
 * them. (*out)[n] is the index of the switch with number n. The caller frees
 * *out. */
static nw_status slurm_number(struct nw_slurm *slurm, int32_t **out)
{
    int32_t *order = NULL, *first = NULL, *next = NULL, count = 0;
    size_t n = slurm->count;
    nw_status status = nw_alloc(n, sizeof *order, &order);

    if (!status)
        status = nw_alloc(n + 1, sizeof *first, &first);
    if (!status)
        status = nw_alloc(n, sizeof *next, &next);
    for (size_t i = 0; !status && i <= n; i++)
        first[i] = -1;
    for (size_t i = n; !status && i-- > 0;) {
        /* switches without a parent are children of entry n */
        size_t above =
            slurm->at[i].parent < 0 ? n : (size_t)slurm->at[i].parent;

        next[i] = first[above];
        first[above] = (int32_t)i;
    }
    for (int32_t at = status ? -1 : first[n]; at >= 0;) {
        order[count] = at;
        slurm->at[at].number = count++;
        if (first[at] >= 0) {
            at = first[at];
            continue;
        }
        while (at >= 0 && next[at] < 0)
            at = slurm->at[at].parent;
        at = at < 0 ? -1 : next[at];
    }
    free(first);
    free(next);
    if (status)
        free(order);
    else
        *out = order;
    return status;
}

static nw_status finish_tree(const struct nw_slurm *slurm, int32_t class)
{
    struct nw_network *network = slurm->topology->network;
    nw_status status;

    status = nw_alloc(slurm->count, sizeof *network->parent, &network->parent);
    if (!status)
        status =
            nw_alloc(slurm->count, sizeof *network->uplink, &network->uplink);
    for (size_t i = 0; !status && i < slurm->count; i++) {
        int32_t s = slurm->at[i].number, parent = slurm->at[i].parent;

        network->uplink[s] = network->parent[s] = -1;
        if (parent >= 0)
            network->parent[s] = slurm->at[parent].number;
    }
    for (int32_t s = 1; !status && s < network->switch_count; s++)
        status = nw_network_add_link(network, s, network->parent[s], class,
                                     &network->uplink[s]);
    return status ? status : nw_network_finish_tree(network);
}

static nw_status finish_graph(const struct nw_slurm *slurm, int32_t class)
{
    struct nw_network *network = slurm->topology->network;
    nw_status status = NW_OK;
    int32_t link;

    for (size_t i = 0; !status && i < slurm->count; i++) {
        const struct nw_slurm_switch *at = &slurm->at[i];

        for (size_t k = 0; !status && k < at->below.count; k++)
            status = nw_network_add_link(
                network, slurm->at[slurm_find(slurm, at->below.name[k])].number,
                at->number, class, &link);
        if (!status && at->parent >= 0 && !slurm->at[at->parent].line)
            status =
                nw_network_add_link(network, at->number,
                                    slurm->at[at->parent].number, class, &link);
    }
    return status ? status : nw_network_finish_graph(network, true);
}

/* Returns true if the switches form a tree. The number of links does not
 * suffice to decide this, because two switches may be without a parent. */
static bool is_tree(const struct nw_slurm *slurm)
{
    size_t roots = 0;

    for (size_t i = 0; i < slurm->count; i++)
        roots += slurm->at[i].parent < 0;
    return slurm->link_count + 1 == slurm->count && roots == 1;
}

static nw_status slurm_make_network(const struct nw_slurm *slurm,
                                    const int32_t *order)
{
    struct nw_link_class cable = nw_link_assumed(NW_LINK_NETWORK);
    struct nw_network *network;
    int32_t class;
    nw_status status = nw_topology_class(slurm->topology, &cable, &class);

    if (!status)
        status = nw_network_new((int32_t)slurm->count, &network);
    if (status)
        return status;
    nw_topology_take_network(slurm->topology, network);
    for (size_t i = 0; !status && i < slurm->count; i++)
        status = nw_strdup(slurm->at[order[i]].name, &network->switch_name[i]);
    if (status)
        return status;
    return nw_fabric_blame(slurm->file, is_tree(slurm)
                                            ? finish_tree(slurm, class)
                                            : finish_graph(slurm, class));
}

static nw_status make_nodes(const struct nw_slurm *slurm,
                            enum nw_elements elements)
{
    struct nw_fabric fabric = {
        .file = slurm->file, .topology = slurm->topology, .cardless = true};
    struct nw_link_class port = nw_link_assumed(NW_LINK_NIC);
    struct nw_fabric_card card = {0};
    nw_status status = nw_topology_class(slurm->topology, &port, &card.class);

    for (size_t i = 0; !status && i < slurm->count; i++) {
        const struct nw_slurm_switch *at = &slurm->at[i];

        card.at = at->number;
        fabric.file = at->file;
        for (size_t k = 0; !status && k < at->nodes.count; k++) {
            status = nw_fabric_add_host(&fabric, at->nodes.name[k], at->line);
            if (!status)
                status = nw_fabric_add_card(&fabric, &card);
        }
    }
    if (!status)
        status = nw_fabric_finish(&fabric, elements);
    nw_fabric_fini(&fabric);
    return status;
}

/* Returns true if the list contains the word ALL. Only slurm.conf says which
 * nodes ALL means. */
static bool is_all(const struct nw_hostlist *list)
{
    for (size_t i = 0; i < list->count; i++)
        if (!strcasecmp(list->name[i], "ALL"))
            return true;
    return false;
}

static nw_status slurm_check_words(const struct nw_slurm *slurm)
{
    for (size_t i = 0; i < slurm->count; i++) {
        const struct nw_slurm_switch *at = &slurm->at[i];

        if (is_all(&at->nodes))
            return nw_fail(NW_EFORMAT,
                           "%s:%d: 'ALL' stands for the nodes of slurm.conf, "
                           "which are not in this file: name them (scontrol "
                           "show hostlist)",
                           at->file, at->line);
        if (is_all(&at->below) && slurm_find(slurm, "ALL") < 0)
            return nw_fail(NW_EFORMAT,
                           "%s:%d: switches below a switch are named one by "
                           "one or as s[0-2], not 'ALL'",
                           at->file, at->line);
    }
    return NW_OK;
}

nw_status nw_slurm_build(struct nw_slurm *slurm, enum nw_elements elements)
{
    int32_t *order = NULL;
    nw_status status;

    if (!slurm->count)
        return nw_fail(NW_EFORMAT, "%s:1: no switch found in this file",
                       slurm->file);
    status = slurm_index_names(slurm);
    if (!status)
        status = slurm_check_words(slurm);
    if (!status)
        status = join_all(slurm);
    if (!status)
        status = check_loops(slurm);
    if (!status)
        status = join_parts(slurm);
    if (!status)
        status = slurm_number(slurm, &order);
    if (!status)
        status = slurm_make_network(slurm, order);
    if (!status)
        status = make_nodes(slurm, elements);
    free(order);
    return status;
}
