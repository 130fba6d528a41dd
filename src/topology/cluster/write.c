/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a topology as a cluster file. */
#include "topology/cluster/write.h"
#include "base/status.h"

nw_status nw_topology_write(const nw_topology *topology, char **out)
{
    struct nw_text text = {0};
    nw_status status = NW_OK;

    if (!nw_topology_has_parts(topology))
        return nw_fail(NW_EINVAL,
                       "'%s' has distances but no parts, so a cluster file "
                       "cannot describe the machine",
                       topology->name);
    nw_text_add(&text, "nodewise: cluster 1\nname: ");
    nw_write_word(&text, topology->name);
    nw_text_add(&text, "\nnode_types:\n");
    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_write_type(&text, topology, topology->type[t]);
    if (!status && topology->network)
        status = nw_write_network(&text, topology);
    if (!status)
        status = nw_write_nodes(&text, topology);
    if (!status && topology->upper)
        status = nw_write_domains(&text, topology);
    if (!status)
        return nw_text_take(&text, out);
    nw_text_fini(&text);
    return status;
}
