/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a bundled cluster by its name and reads it like any cluster file. */
#include "topology/cluster/bundled.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/source.h"

#include <string.h>

#define MAX_NODES 100000

bool nw_topology_bundled(size_t index, const char **name, const char **summary)
{
    for (size_t i = 0; i <= index; i++)
        if (!nw_bundled_clusters[i].name)
            return false;
    *name = nw_bundled_clusters[index].name;
    *summary = nw_bundled_clusters[index].summary;
    return true;
}

static const struct nw_bundled *bundled_find(const char *source)
{
    size_t length = strcspn(source, ":");
    const struct nw_bundled *cluster = nw_bundled_clusters;

    while (cluster->name && (strlen(cluster->name) != length ||
                             strncmp(cluster->name, source, length)))
        cluster++;
    return cluster->name ? cluster : NULL;
}

bool nw_bundled_has(const char *source)
{
    return bundled_find(source);
}

nw_status nw_source_bundled(const char *what, enum nw_elements elements,
                            nw_topology **out)
{
    const struct nw_bundled *cluster = bundled_find(what);
    const char *count = strchr(what, ':');
    struct nw_cluster_text text = {.file = cluster->name,
                                   .text = cluster->text,
                                   .length = strlen(cluster->text),
                                   .elements = elements};

    if (count && !cluster->resizable)
        return nw_fail(NW_EINVAL, "'%s': the number of nodes of %s is fixed",
                       what, cluster->name);
    if (count && (!nw_parse_i32(count + 1, &text.resize) || text.resize < 1 ||
                  text.resize > MAX_NODES))
        return nw_fail(NW_EINVAL, "'%s': the number of nodes must be 1 to %d",
                       what, MAX_NODES);
    return nw_cluster_read(&text, out);
}
