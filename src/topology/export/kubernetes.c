/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes Node objects of Kubernetes with the labels of topograph: the switch
 * of each tier, closest first, and the NVLink domain. `kubectl apply
 * --server-side -f FILE` sets these labels. */
#include "base/hash.h"
#include "base/status.h"
#include "topology/export/switch_tree.h"

#include <stdio.h>
#include <string.h>

#define LABEL_MOST 63
#define NAME_MOST 253
#define LOWER "abcdefghijklmnopqrstuvwxyz0123456789"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"

/* Returns true if all characters are in `middle`, and the first and the last
 * one also in `ends`. */
static bool kubernetes_fits(const char *name, const char *ends,
                            const char *middle)
{
    size_t length = strlen(name);

    return length && strspn(name, middle) == length && strchr(ends, *name) &&
           strchr(ends, name[length - 1]);
}

/* Writes a label. A value of more than 63 characters is replaced by its hash,
 * as topograph does. Returns NW_EUNSUPPORTED if the value has characters that a
 * label cannot have. */
static nw_status kubernetes_label(struct nw_export *export, const char *key,
                                  const char *value)
{
    char hash[20];

    if (!kubernetes_fits(value, LOWER UPPER, LOWER UPPER "-_."))
        return nw_fail(NW_EUNSUPPORTED,
                       "'%s' is not a valid label of Kubernetes (letters, "
                       "digits, '-', '_' and '.'); rename it in a cluster file "
                       "(-o FILE.yaml)",
                       value);
    if (strlen(value) > LABEL_MOST) {
        snprintf(hash, sizeof hash, "x%llx",
                 (unsigned long long)nw_hash_text(NW_HASH_START, value));
        value = hash;
    }
    nw_text_format(&export->text, "        %s: \"%s\"\n", key, value);
    return NW_OK;
}

static nw_status kubernetes_node(struct nw_export *export,
                                 const struct nw_switch_tree *tree, int32_t n)
{
    const nw_topology *t = export->topology;
    const char *name = t->node_name[n];
    char key[48];
    int tier = 0;
    nw_status status = NW_OK;

    if (strlen(name) > NAME_MOST || !kubernetes_fits(name, LOWER, LOWER "-."))
        return nw_fail(NW_EUNSUPPORTED,
                       "'%s' is not a valid name of a node of Kubernetes "
                       "(lower case letters, digits, '-' and '.'); rename it "
                       "in a cluster file (-o FILE.yaml)",
                       name);
    nw_text_format(&export->text,
                   "  - apiVersion: v1\n    kind: Node\n    metadata:\n"
                   "      name: \"%s\"\n      labels:\n",
                   name);
    if (t->domain && t->domain[n] >= 0)
        status = kubernetes_label(export, "accelerator.topograph.run/domain",
                                  t->domain_name[t->domain[n]]);
    for (int32_t s = tree->node_at[n]; !status && s >= 0; s = tree->parent[s]) {
        snprintf(key, sizeof key, "fabric.topograph.run/tier-%d", tier++);
        status = kubernetes_label(export, key, tree->name[s]);
    }
    return status;
}

nw_status nw_export_kubernetes(struct nw_export *export)
{
    struct nw_switch_tree tree = {0};
    nw_status status = nw_switch_tree_make(export, &tree);

    nw_text_add(&export->text, "apiVersion: v1\nkind: List\nitems:\n");
    for (int32_t n = 0; !status && n < export->topology->node_count; n++)
        status = kubernetes_node(export, &tree, n);
    if (!status)
        nw_export_lose_inside(export);
    if (!status && export->topology->upper)
        nw_export_lose(export, "the second level of NVLink domains");
    nw_switch_tree_fini(&tree);
    return status;
}
