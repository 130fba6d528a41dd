/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the reader of a SOURCE by its prefix, its suffix, or its name. */
#include "topology/source.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/status.h"
#include "topology/cluster/bundled.h"
#include "topology/topology.h"

#include <string.h>
#include <unistd.h>

static const struct {
    const char *prefix, *suffix;
    nw_source_reader *read;
} sources[] = {
    {"hierarchy:", NULL, nw_source_hierarchy},
    {"matrix:", NULL, nw_source_matrix},
    {"ibnet:", NULL, nw_source_ibnet},
    {"slurm:", NULL, nw_source_slurm},
    {"k8s:", NULL, nw_source_kubernetes},
    {"nccl:", NULL, nw_source_nccl},
    {"nvidia-smi:", NULL, nw_source_smi},
    {"hwloc:", NULL, nw_source_hwloc},
    {NULL, ".xml", nw_source_xml},
    {NULL, ".xml.zst", nw_source_xml},
    {NULL, ".yaml", nw_source_cluster},
    {NULL, ".yml", nw_source_cluster},
    {NULL, ".yaml.zst", nw_source_cluster},
    {NULL, ".yml.zst", nw_source_cluster},
};

/* Reports an unknown source, with the most similar known name: a bundled
 * cluster or a prefix. */
static nw_status source_refuse(const char *source)
{
    struct nw_nearest nearest;

    nw_nearest_start(&nearest, source, strcspn(source, ":"));
    if (!source[nearest.length])
        nw_nearest_try(&nearest, "live");
    for (size_t i = 0; nw_bundled_clusters[i].name; i++)
        nw_nearest_try(&nearest, nw_bundled_clusters[i].name);
    nearest.length += source[nearest.length] == ':';
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
        if (sources[i].prefix)
            nw_nearest_try(&nearest, sources[i].prefix);
    return nw_fail(NW_EINVAL, "'%s' is not a topology source; %s", source,
                   nw_nearest_say(&nearest, "'nodewise topology --help' lists "
                                            "the kinds"));
}

nw_status nw_topology_load(const char *source,
                           const struct nw_topology_options *options,
                           nw_topology **out)
{
    enum nw_elements elements = options ? options->elements : NW_ELEMENTS_CORE;

    if (!strcmp(source, "live"))
        return nw_source_live(source, elements, out);
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const char *prefix = sources[i].prefix, *suffix = sources[i].suffix;

        if (prefix && !strncmp(source, prefix, strlen(prefix)))
            return sources[i].read(source + strlen(prefix), elements, out);
        if (suffix && nw_text_ends_with(source, suffix))
            return sources[i].read(source, elements, out);
    }
    if (nw_bundled_has(source))
        return nw_source_bundled(source, elements, out);
    if (!access(source, F_OK))
        return nw_fail(
            NW_EINVAL,
            "'%s' is not a topology source by its ending (.yaml, .xml); name "
            "its kind by a prefix such as ibnet: or slurm:",
            source);
    return source_refuse(source);
}
