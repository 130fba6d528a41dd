/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the node that a format for a single node describes. */
#include "base/status.h"
#include "topology/export/export.h"

nw_status nw_export_one_node(struct nw_export *export,
                             const struct nw_node_type **out)
{
    const nw_topology *t = export->topology;
    const char *host = export->options->host;
    int32_t node = host ? nw_topology_node_find(t, host) : 0;

    if (node < 0)
        return nw_fail(NW_EINVAL, "'%s' has no host '%s'", t->name, host);
    for (int32_t n = 1; !host && n < t->node_count; n++)
        if (t->node_type[n] != t->node_type[0])
            return nw_fail(NW_EINVAL,
                           "the nodes of '%s' are of %d types and format %s "
                           "describes one node; choose it by --host, such as "
                           "--host %s",
                           t->name, t->type_count, export->options->format,
                           t->node_name[0]);
    if (t->network)
        nw_export_lose(export, "the network between nodes");
    *out = nw_topology_type_of(t, node);
    return NW_OK;
}
