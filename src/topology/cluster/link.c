/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the properties of a link: bandwidth, latency, half duplex, kind, and
 * whether its figures are assumed. */
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <string.h>

static nw_status read_quantity(const struct nw_yaml *node, enum nw_unit unit,
                               double *out)
{
    static const struct {
        const char *name, *example;
        double least, most;
    } limits[] = {
        [NW_UNIT_BANDWIDTH] = {"bandwidth", "12.5GB/s", 1, 1e18},
        [NW_UNIT_TIME] = {"latency", "1.2us", 0, 1000},
    };
    double value;

    if (node->kind != NW_YAML_SCALAR ||
        !nw_parse_quantity(node->text, unit, &value))
        return nw_yaml_fail(node, "'%s' is not a %s such as %s",
                            node->text ? node->text : "this", limits[unit].name,
                            limits[unit].example);
    if (value < limits[unit].least || value > limits[unit].most)
        return nw_yaml_fail(node, "%s '%s' is out of range", limits[unit].name,
                            node->text);
    *out = value;
    return NW_OK;
}

static nw_status read_bandwidth(const struct nw_yaml *node, double out[2])
{
    nw_status status;

    if (node->kind != NW_YAML_LIST) {
        status = read_quantity(node, NW_UNIT_BANDWIDTH, &out[0]);
        out[1] = out[0];
        return status;
    }
    if (node->count != 2)
        return nw_yaml_fail(node, "a list of bandwidths has two, there and "
                                  "back");
    status = read_quantity(node->first, NW_UNIT_BANDWIDTH, &out[0]);
    if (!status)
        status = read_quantity(node->last, NW_UNIT_BANDWIDTH, &out[1]);
    return status;
}

static nw_status link_read_kind(const struct nw_yaml *node,
                                enum nw_link_kind *kind)
{
    const char *text;
    nw_status status = nw_yaml_text(node, &text);

    if (status)
        return status;
    for (int k = NW_LINK_CORE; k < NW_LINK_KIND_COUNT; k++)
        if (!strcmp(nw_link_kind_name((enum nw_link_kind)k), text)) {
            *kind = (enum nw_link_kind)k;
            return NW_OK;
        }
    return nw_yaml_fail(
        node, "unknown kind of link '%s'; nodewise-topology(5) lists the kinds",
        text);
}

static nw_status link_read_map(const struct nw_yaml *node,
                               struct nw_link_class *figures)
{
    const struct nw_yaml *bandwidth = nw_yaml_get(node, "bandwidth");
    const struct nw_yaml *latency = nw_yaml_get(node, "latency");
    const struct nw_yaml *half = nw_yaml_get(node, "half_duplex");
    const struct nw_yaml *assumed = nw_yaml_get(node, "assumed");
    nw_status status = nw_yaml_check_map(
        node, "a link", "bandwidth latency half_duplex kind assumed");

    if (!status && bandwidth) {
        status = read_bandwidth(bandwidth, figures->bandwidth);
        figures->assumed = false;
    }
    if (!status && latency)
        status = read_quantity(latency, NW_UNIT_TIME, &figures->latency);
    if (!status && half)
        status = nw_yaml_bool(half, &figures->half_duplex);
    if (!status && assumed)
        status = nw_yaml_bool(assumed, &figures->assumed);
    if (!status && figures->half_duplex &&
        figures->bandwidth[0] != figures->bandwidth[1])
        status = nw_yaml_fail(node, "a half-duplex link has one bandwidth");
    return status;
}

nw_status nw_cluster_figures(struct nw_cluster *cluster,
                             const struct nw_yaml *node, enum nw_link_kind kind,
                             int32_t *class)
{
    const struct nw_yaml *named = NULL;
    struct nw_link_class figures;
    nw_status status = NW_OK;

    if (node && node->kind == NW_YAML_MAP)
        named = nw_yaml_get(node, "kind");
    if (named)
        status = link_read_kind(named, &kind);
    figures = nw_link_assumed(kind);
    if (!status && node && node->kind == NW_YAML_MAP) {
        status = link_read_map(node, &figures);
    } else if (!status && node) {
        status = read_bandwidth(node, figures.bandwidth);
        figures.assumed = false;
    }
    if (status)
        return status;
    return nw_topology_class(cluster->topology, &figures, class);
}
