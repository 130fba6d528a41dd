/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads k8s:FILE, which has Node objects of Kubernetes. Their labels, which
 * topograph sets, name the switch of each tier and the NVLink domain. */
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/name_index.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/slurm/slurm.h"
#include "topology/source.h"

#include <stdlib.h>
#include <string.h>

#define MAX_TIERS 16

/* A label that names a switch. The entries of a node are consecutive, from the
 * lowest tier on, so the next entry names the switch above. The name is
 * borrowed. */
struct labels_entry {
    const char *name;
    int line, tier;
    bool last; /* the node's highest tier */
    /* index of the first entry that names this switch */
    int32_t first;
    /* number of the switch; only set in the first entry that names the
     * switch */
    int32_t number;
};

/* The labels of one node; all pointers are borrowed. */
struct labels_node {
    const char *name, *domain;
    int line; /* line of the name */
    const struct nw_yaml *tier[MAX_TIERS];
    int32_t entry; /* index in labels->entry of the node's lowest tier */
};

/* The state of the reader. */
struct labels {
    struct nw_slurm slurm;
    struct labels_entry *entry;
    size_t entry_count, entry_capacity;
    struct labels_node *node;
    size_t node_count, node_capacity, skipped;
};

/* Keys of topograph 0; topograph 1 has fabric.topograph.run/tier-N. */
static const char *const tier_keys[] = {"network.topology.nvidia.com/leaf",
                                        "network.topology.nvidia.com/spine",
                                        "network.topology.nvidia.com/core"};
static const char *const domain_keys[] = {
    "accelerator.topograph.run/domain",
    "network.topology.nvidia.com/accelerator"};

/* Returns the tier of a label's key: 0 for the lowest tier, MAX_TIERS for any
 * tier that is too high, -1 if the key does not name a tier. */
static int labels_tier_of(const char *key)
{
    static const char prefix[] = "fabric.topograph.run/tier-";
    int32_t tier;

    for (int i = 0; i < 3; i++)
        if (!strcmp(key, tier_keys[i]))
            return i;
    if (strncmp(key, prefix, strlen(prefix)) ||
        !nw_parse_i32(key + strlen(prefix), &tier) || tier < 0)
        return -1;
    return tier < MAX_TIERS ? tier : MAX_TIERS;
}

static nw_status labels_take(const struct nw_yaml *label,
                             struct labels_node *node)
{
    int tier = labels_tier_of(label->key);
    nw_status status = NW_OK;

    for (int i = 0; !status && i < 2; i++)
        if (!strcmp(label->key, domain_keys[i]))
            status = nw_yaml_text(label, &node->domain);
    if (status || tier < 0)
        return status;
    if (tier == MAX_TIERS)
        return nw_yaml_fail(label, "more than %d tiers of switches", MAX_TIERS);
    if (node->tier[tier])
        return nw_yaml_fail(label, "two labels of one node name tier %d", tier);
    node->tier[tier] = label;
    return NW_OK;
}

static nw_status labels_add_entry(struct labels *labels,
                                  const struct nw_yaml *label, int tier)
{
    const char *name;
    nw_status status = nw_yaml_text(label, &name);

    if (!status && !nw_host_is_listable(name))
        status =
            nw_yaml_fail(label, "'%s' is not a valid name of a switch", name);
    if (!status)
        status = nw_grow(&labels->entry, &labels->entry_capacity,
                         labels->entry_count + 1, sizeof *labels->entry);
    if (!status)
        labels->entry[labels->entry_count++] = (struct labels_entry){
            .name = name, .line = label->line, .tier = tier};
    return status;
}

/* Adds a node and its labels. Nodes without a label of a switch, such as those
 * of the control plane, are skipped. Fails if a node has a label for a tier but
 * none for a tier below it. */
static nw_status labels_add_node(struct labels *labels,
                                 const struct nw_yaml *item,
                                 struct labels_node *node)
{
    int tiers = 0;
    nw_status status;

    node->entry = (int32_t)labels->entry_count;
    for (int t = 0; t < MAX_TIERS; t++)
        tiers = node->tier[t] ? t + 1 : tiers;
    if (!tiers) {
        labels->skipped++;
        return NW_OK;
    }
    status = nw_grow(&labels->node, &labels->node_capacity,
                     labels->node_count + 1, sizeof *labels->node);
    for (int t = 0; !status && t < tiers; t++)
        status = node->tier[t]
                     ? labels_add_entry(labels, node->tier[t], t)
                     : nw_yaml_fail(item,
                                    "node '%s' has a label for tier %d and "
                                    "none for tier %d below it",
                                    node->name, tiers - 1, t);
    if (status)
        return status;
    labels->entry[labels->entry_count - 1].last = true;
    labels->node[labels->node_count++] = *node;
    return NW_OK;
}

static nw_status labels_read_node(struct labels *labels,
                                  const struct nw_yaml *item)
{
    struct labels_node node = {0};
    const struct nw_yaml *about = NULL, *name = NULL, *list;
    nw_status status = nw_yaml_need(item, "metadata", &about);

    if (!status)
        status = nw_yaml_need(about, "name", &name);
    if (!status)
        status = nw_yaml_text(name, &node.name);
    if (!status && !nw_host_is_listable(node.name))
        status =
            nw_yaml_fail(name, "'%s' is not a valid name of a node", node.name);
    node.line = status ? 0 : name->line;
    list = status ? NULL : nw_yaml_get(about, "labels");
    if (list && list->kind != NW_YAML_MAP)
        return nw_yaml_fail(list, "'labels' must be a mapping");
    for (const struct nw_yaml *label = list ? list->first : NULL;
         !status && label; label = label->next)
        status = labels_take(label, &node);
    return status ? status : labels_add_node(labels, item, &node);
}

static nw_status labels_read(struct labels *labels, const struct nw_yaml *root)
{
    const struct nw_yaml *items;
    nw_status status;

    if (root->kind != NW_YAML_MAP)
        return nw_yaml_fail(root, "expected what 'kubectl get nodes -o yaml' "
                                  "prints");
    if (nw_yaml_get(root, "metadata") && !nw_yaml_get(root, "items"))
        return labels_read_node(labels, root);
    status = nw_yaml_need(root, "items", &items);
    if (!status)
        status = nw_yaml_check_list(items, "'items'");
    for (const struct nw_yaml *item = status ? NULL : items->first;
         !status && item; item = item->next)
        status = item->kind == NW_YAML_MAP
                     ? labels_read_node(labels, item)
                     : nw_yaml_fail(item, "an item must be a Node");
    if (!status && !labels->node_count)
        status = nw_yaml_fail(root, "no node has a label of a switch such as "
                                    "fabric.topograph.run/tier-0");
    return status;
}

static int labels_by_node(const void *a, const void *b)
{
    const struct labels_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->name, (*y)->name);

    return order ? order : (*x)->line - (*y)->line;
}

static nw_status labels_check_nodes(const struct labels *labels)
{
    const struct labels_node **node;
    nw_status status = nw_alloc(labels->node_count, sizeof *node, &node);

    for (size_t n = 0; !status && n < labels->node_count; n++)
        node[n] = &labels->node[n];
    if (!status)
        qsort(node, labels->node_count, sizeof *node, labels_by_node);
    for (size_t n = 1; !status && n < labels->node_count; n++)
        if (!strcmp(node[n]->name, node[n - 1]->name))
            status =
                nw_fail(NW_EFORMAT, "%s:%d: node '%s' is named in line %d, too",
                        labels->slurm.file, node[n]->line, node[n]->name,
                        node[n - 1]->line);
    free(node);
    return status;
}

/* --- switches --- */

/* Sets `first` of each entry to the first entry with the same name. */
static nw_status labels_find_first(struct labels *labels)
{
    struct labels_entry *entry = labels->entry;
    struct nw_names names = NW_NAMES(entry, name, labels->entry_count);
    int32_t *order;
    nw_status status = nw_names_sort(names, &order);

    if (status)
        return status;
    for (size_t i = 0; i < labels->entry_count; i++)
        entry[i].first = nw_names_find(names, order, entry[i].name);
    free(order);
    return NW_OK;
}

/* Fails if entry i and the first entry of the same switch have different tiers,
 * or different switches above. */
static nw_status labels_check(const struct labels *labels, size_t i)
{
    const struct labels_entry *here = &labels->entry[i];
    const struct labels_entry *first = &labels->entry[here->first];
    const char *file = labels->slurm.file;

    if (here->tier != first->tier)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: switch '%s' is of tier %d here and of tier %d "
                       "in line %d",
                       file, here->line, here->name, here->tier, first->tier,
                       first->line);
    if (here->last == first->last &&
        (here->last || here[1].first == first[1].first))
        return NW_OK;
    return nw_fail(NW_EFORMAT,
                   "%s:%d: switch '%s' is below '%s' here and below '%s' in "
                   "line %d",
                   file, here->line, here->name,
                   here->last ? "none" : here[1].name,
                   first->last ? "none" : first[1].name, first->line);
}

static nw_status labels_append(struct nw_hostlist *list, const char *name)
{
    nw_status status = nw_grow(&list->name, &list->capacity, list->count + 1,
                               sizeof *list->name);

    if (!status)
        status = nw_strdup(name, &list->name[list->count]);
    if (!status)
        list->count++;
    return status;
}

static nw_status labels_add_switches(struct labels *labels)
{
    struct nw_slurm *slurm = &labels->slurm;
    struct labels_entry *entry = labels->entry;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < labels->entry_count; i++) {
        char *name;

        status = labels_check(labels, i);
        if (status || entry[i].first != (int32_t)i)
            continue;
        entry[i].number = (int32_t)slurm->count;
        status = nw_strdup(entry[i].name, &name);
        if (!status)
            status = nw_slurm_add(slurm, name, entry[i].line);
    }
    for (size_t i = 0; !status && i < labels->entry_count; i++)
        if (entry[i].first == (int32_t)i && !entry[i].last)
            status = labels_append(
                &slurm->at[entry[entry[i + 1].first].number].below,
                entry[i].name);
    for (size_t n = 0; !status && n < labels->node_count; n++) {
        const struct labels_entry *leaf = &entry[labels->node[n].entry];

        status = labels_append(&slurm->at[entry[leaf->first].number].nodes,
                               labels->node[n].name);
    }
    return status;
}

/* --- NVLink domains --- */

static int labels_by_domain(const void *a, const void *b)
{
    const struct labels_node *const *x = a, *const *y = b;

    return strcmp((*x)->domain, (*y)->domain);
}

/* Lists the nodes that have an NVLink domain, sorted by domain. The caller
 * frees *out, also after an error. */
static nw_status labels_sort_domains(const struct labels *labels,
                                     const struct labels_node ***out,
                                     size_t *count)
{
    nw_status status = nw_alloc(labels->node_count, sizeof **out, out);

    *count = 0;
    for (size_t n = 0; !status && n < labels->node_count; n++)
        if (labels->node[n].domain)
            (*out)[(*count)++] = &labels->node[n];
    if (!status)
        qsort(*out, *count, sizeof **out, labels_by_domain);
    return status;
}

static nw_status labels_add_domains(const struct labels *labels)
{
    nw_topology *t = labels->slurm.topology;
    const struct labels_node **node = NULL;
    size_t count;
    nw_status status = labels_sort_domains(labels, &node, &count);

    if (!status && count) {
        status = nw_alloc((size_t)t->node_count, sizeof *t->domain, &t->domain);
        for (int32_t n = 0; !status && n < t->node_count; n++)
            t->domain[n] = -1;
    }
    if (!status && count)
        status = nw_alloc(count, sizeof *t->domain_name, &t->domain_name);
    for (size_t i = 0; !status && i < count; i++) {
        if (!i || strcmp(node[i]->domain, node[i - 1]->domain)) {
            status =
                nw_strdup(node[i]->domain, &t->domain_name[t->domain_count]);
            t->domain_count += !status;
        }
        if (!status)
            t->domain[nw_topology_node_find(t, node[i]->name)] =
                t->domain_count - 1;
    }
    free(node);
    return status;
}

static nw_status labels_build(struct labels *labels, const struct nw_yaml *root,
                              enum nw_elements elements)
{
    nw_status status = labels_read(labels, root);

    if (!status)
        status = labels_check_nodes(labels);
    if (!status)
        status = labels_find_first(labels);
    if (!status)
        status = labels_add_switches(labels);
    if (!status)
        status = nw_slurm_build(&labels->slurm, elements);
    if (!status)
        status = labels_add_domains(labels);
    if (!status && labels->skipped)
        nw_text_format(&labels->slurm.topology->notes,
                       "%s: %zu node%s without labels of switches %s left "
                       "out\n",
                       labels->slurm.file, labels->skipped,
                       nw_plural(labels->skipped),
                       nw_by_count(labels->skipped, "was", "were"));
    return status;
}

nw_status nw_source_kubernetes(const char *what, enum nw_elements elements,
                               nw_topology **out)
{
    /* long, and with texts of several lines */
    static const char *const unused[] = {"spec", "status", "annotations",
                                         "managedFields", NULL};
    struct labels labels = {.slurm = {.file = what}};
    struct nw_yaml *root = NULL;
    char *text = NULL;
    size_t length;
    nw_status status = nw_file_read_text(what, &text, &length);

    if (!status)
        status = nw_yaml_parse_without(what, text, length, unused, &root);
    if (!status)
        status = nw_topology_new(what, &labels.slurm.topology);
    if (!status)
        status = labels_build(&labels, root, elements);
    if (status)
        nw_topology_free(labels.slurm.topology);
    else
        *out = labels.slurm.topology;
    nw_slurm_fini(&labels.slurm);
    free(labels.entry);
    free(labels.node);
    nw_yaml_free(root);
    free(text);
    return status;
}
