/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads live, FILE.xml and hwloc:"...": one node, as hwloc reports it. */
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "topology/hwloc/node.h"
#include "topology/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The machine to read, and the name of the resulting node. */
struct source_request {
    enum nw_hwloc_from from;
    const char *what;
    const char *node; /* name of the node */
};

static nw_status source_build(nw_topology *topology,
                              const struct source_request *request,
                              enum nw_elements elements)
{
    struct nw_node_type *type;
    nw_status status;

    topology->elements = elements;
    status = nw_hwloc_node_type(topology, request->node, request->from,
                                request->what, &type);
    if (!status)
        status = nw_topology_set_nodes(topology, 1, 0);
    if (!status)
        status = nw_strdup(request->node, &topology->node_name[0]);
    if (!status)
        status = nw_topology_finish(topology, elements);
    return status;
}

static nw_status one_node(const char *name,
                          const struct source_request *request,
                          enum nw_elements elements, nw_topology **out)
{
    nw_topology *topology;
    nw_status status = nw_topology_new(name, &topology);

    if (status)
        return status;
    status = source_build(topology, request, elements);
    if (status)
        nw_topology_free(topology);
    else
        *out = topology;
    return status;
}

nw_status nw_source_live(const char *what, enum nw_elements elements,
                         nw_topology **out)
{
    char name[256] = "localhost";
    struct source_request request = {NW_HWLOC_LIVE, NULL, name};

    (void)what;
    if (gethostname(name, sizeof name - 1) || !*name)
        snprintf(name, sizeof name, "localhost");
    return one_node("live", &request, elements, out);
}

nw_status nw_source_synthetic(const char *what, enum nw_elements elements,
                              nw_topology **out)
{
    struct source_request request = {NW_HWLOC_SYNTHETIC, what, "machine"};
    char name[128];

    snprintf(name, sizeof name, "hwloc:%s", what);
    return one_node(name, &request, elements, out);
}

nw_status nw_source_xml(const char *what, enum nw_elements elements,
                        nw_topology **out)
{
    char *node;
    nw_status status = nw_hwloc_host_name(what, &node);

    if (!status && !(node && nw_host_is_listable(node))) {
        free(node);
        status = nw_host_name_after(what, &node);
    }
    if (!status) {
        struct source_request request = {NW_HWLOC_XML, what, node};

        status = one_node(what, &request, elements, out);
        free(node);
    }
    return status;
}

nw_status nw_source_hwloc(const char *what, enum nw_elements elements,
                          nw_topology **out)
{
    if (nw_text_ends_with(what, ".xml") || nw_text_ends_with(what, ".xml.zst"))
        return nw_source_xml(what, elements, out);
    return nw_source_synthetic(what, elements, out);
}
