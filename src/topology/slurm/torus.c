/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the rings and three-dimensional tori of a topology.yaml. Each node has
 * its own switch at its coordinate; the first coordinate varies fastest. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"
#include "topology/network/networks.h"
#include "topology/slurm/slurm.h"

#include <stdlib.h>

#define MOST_CELLS (1 << 20)

/* A torus, or several rings, whose nodes are being placed. Several rings use
 * neither `size` nor `taken`. */
struct cells {
    struct nw_slurm *slurm;
    int32_t size[3]; /* number of nodes along x, y and z */
    bool *taken;     /* whether [x + size[0] * (y + size[1] * z)] has a node */
    /* names of all nodes, which the fabric borrows */
    struct nw_hostlist names;
    struct nw_fabric fabric;
    struct nw_fabric_card card;
};

/* A region of a torus: its lowest coordinate, its size, and the item of the
 * file that lists its nodes. */
struct box {
    const struct nw_yaml *item;
    int32_t anchor[3], size[3];
};

static int64_t count_cells(const int32_t size[3])
{
    return (int64_t)size[0] * size[1] * size[2];
}

/* Makes the torus network. The last dimension of a torus network varies
 * fastest, so the dimensions have the order z, y, x. */
static nw_status torus_make_network(struct cells *cells, int dimensions)
{
    nw_topology *topology = cells->slurm->topology;
    struct nw_link_class cable = nw_link_assumed(NW_LINK_NETWORK);
    struct nw_link_class port = nw_link_assumed(NW_LINK_NIC);
    struct nw_torus shape = {.dimension_count = dimensions};
    struct nw_network *network;
    int32_t class;
    nw_status status = nw_topology_class(topology, &cable, &class);

    if (!status)
        status = nw_topology_class(topology, &port, &cells->card.class);
    for (int d = 0; d < dimensions; d++) {
        shape.size[d] = cells->size[dimensions - 1 - d];
        shape.wrap[d] = true;
        shape.class[d] = class;
    }
    if (!status)
        status = nw_network_torus(&shape, &network);
    if (!status)
        nw_topology_take_network(topology, network);
    return status;
}

static nw_status torus_take_node(struct cells *cells, const struct box *box,
                                 const char *name, int64_t i)
{
    int64_t x = box->anchor[0] + i % box->size[0];
    int64_t y = box->anchor[1] + i / box->size[0] % box->size[1];
    int64_t z = box->anchor[2] + i / box->size[0] / box->size[1];
    int64_t cell = x + cells->size[0] * (y + cells->size[1] * z);
    nw_status status;

    if (cells->taken[cell])
        return nw_yaml_fail(box->item, "two nodes at one coordinate: '%s'",
                            name);
    cells->taken[cell] = true;
    cells->card.at = (int32_t)cell;
    status = nw_fabric_add_host(&cells->fabric, name, box->item->line);
    return status ? status : nw_fabric_add_card(&cells->fabric, &cells->card);
}

static nw_status torus_fill(struct cells *cells, const struct box *box,
                            const struct nw_yaml *nodes)
{
    struct nw_hostlist *names = &cells->names;
    size_t first = names->count;
    nw_status status = nw_cluster_names(nodes, names);

    if (!status && (int64_t)(names->count - first) != count_cells(box->size))
        status = nw_yaml_fail(nodes, "%zu node%s for %d x %d x %d coordinates",
                              names->count - first,
                              nw_plural((uint64_t)(names->count - first)),
                              box->size[0], box->size[1], box->size[2]);
    for (size_t i = first; !status && i < names->count; i++)
        status =
            torus_take_node(cells, box, names->name[i], (int64_t)(i - first));
    return status;
}

/* Reads a vector such as {x: 4, y: 4, z: 2} into out[]. Fails if a number is
 * below `least` or above 65535. */
static nw_status read_vector(const struct nw_yaml *item, const char *key,
                             int32_t least, int32_t out[3])
{
    static const char *const axis[3] = {"x", "y", "z"};
    const struct nw_yaml *vector, *one;
    nw_status status = nw_yaml_need(item, key, &vector);

    if (!status)
        status = nw_yaml_check_map(vector, key, "x y z");
    for (int i = 0; !status && i < 3; i++) {
        status = nw_yaml_need(vector, axis[i], &one);
        if (!status)
            status = nw_yaml_count(one, least, UINT16_MAX, &out[i]);
    }
    return status;
}

static nw_status fill_region(struct cells *cells, const struct nw_yaml *item)
{
    struct box box = {.item = item};
    const struct nw_yaml *nodes;
    nw_status status = nw_yaml_check_map(item, "a region", "anchor dims nodes");

    if (!status)
        status = read_vector(item, "anchor", 0, box.anchor);
    if (!status)
        status = read_vector(item, "dims", 1, box.size);
    if (!status)
        status = nw_yaml_need(item, "nodes", &nodes);
    for (int i = 0; !status && i < 3; i++)
        if (box.anchor[i] + box.size[i] > cells->size[i])
            status = nw_yaml_fail(item, "the region reaches out of the torus");
    return status ? status : torus_fill(cells, &box, nodes);
}

static nw_status fill_regions(struct cells *cells, const struct nw_yaml *list)
{
    nw_status status = nw_yaml_check_list(list, "'regions'");

    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = fill_region(cells, item);
    return status;
}

/* Places the nodes, which the file lists for the whole torus or for regions. */
static nw_status fill_all(struct cells *cells, const struct nw_yaml *torus)
{
    const struct nw_yaml *nodes = nw_yaml_get(torus, "nodes");
    const struct nw_yaml *regions = nw_yaml_get(torus, "regions");
    struct box all = {.item = torus,
                      .size = {cells->size[0], cells->size[1], cells->size[2]}};

    if (!nodes == !regions)
        return nw_yaml_fail(torus, "a torus has either nodes or regions");
    return nodes ? torus_fill(cells, &all, nodes)
                 : fill_regions(cells, regions);
}

static nw_status torus_build(struct nw_slurm *slurm,
                             const struct nw_yaml *torus, struct cells *cells,
                             enum nw_elements elements)
{
    int dimensions = cells->size[1] > 1 || cells->size[2] > 1 ? 3 : 1;
    nw_status status;

    if (count_cells(cells->size) > MOST_CELLS)
        return nw_yaml_fail(torus, "more than %d coordinates", MOST_CELLS);
    cells->slurm = slurm;
    cells->fabric = (struct nw_fabric){
        .file = slurm->file, .topology = slurm->topology, .cardless = true};
    status = nw_alloc((size_t)count_cells(cells->size), sizeof *cells->taken,
                      &cells->taken);
    if (!status)
        status = torus_make_network(cells, dimensions);
    if (!status)
        status = fill_all(cells, torus);
    if (!status)
        status = nw_fabric_finish(&cells->fabric, elements);
    nw_fabric_fini(&cells->fabric);
    nw_hostlist_fini(&cells->names);
    free(cells->taken);
    return status;
}

/* Sets *out to the only item of a list, or to the value itself if it is not a
 * list, as Slurm accepts. */
static nw_status only_item(const struct nw_yaml *node, const char *key,
                           const struct nw_yaml **out)
{
    const struct nw_yaml *list;
    nw_status status = nw_yaml_check_map(node, node->key, key);

    if (!status)
        status = nw_yaml_need(node, key, &list);
    if (status)
        return status;
    if (list->kind == NW_YAML_LIST && list->count != 1)
        return nw_yaml_fail(list, "%zu %s, but no link joins them", list->count,
                            key);
    *out = list->kind == NW_YAML_LIST ? list->first : list;
    return NW_OK;
}

nw_status nw_slurm_torus(struct nw_slurm *slurm, const struct nw_yaml *node,
                         enum nw_elements elements)
{
    struct cells cells = {.size = {1, 1, 1}};
    const struct nw_yaml *torus = NULL;
    nw_status status = only_item(node, "toruses", &torus);

    if (!status)
        status = nw_yaml_check_map(torus, "a torus",
                                   "name dims nodes regions placements");
    if (!status)
        status = read_vector(torus, "dims", 1, cells.size);
    return status ? status : torus_build(slurm, torus, &cells, elements);
}

/* --- several rings --- */

/* Adds a ring of switches, whose numbers begin at `at`, with one node each.
 * Adds a link from its first switch to switch 0, which connects the rings. */
static nw_status add_ring(struct cells *cells, const struct nw_yaml *ring,
                          int32_t at, int32_t class)
{
    struct nw_network *network = cells->slurm->topology->network;
    const struct nw_yaml *nodes = nw_yaml_get(ring, "nodes");
    size_t first = cells->names.count;
    nw_status status = nw_cluster_names(nodes, &cells->names);
    int32_t count = (int32_t)(cells->names.count - first), link;

    for (int32_t i = 0; !status && i < count; i++) {
        const char *name = cells->names.name[first + (size_t)i];

        status = nw_strdup(name, &network->switch_name[at + i]);
        cells->card.at = at + i;
        if (!status)
            status = nw_fabric_add_host(&cells->fabric, name, ring->line);
        if (!status)
            status = nw_fabric_add_card(&cells->fabric, &cells->card);
        if (!status && (i + 1 < count || count > 2))
            status = nw_network_add_link(network, at + i, at + (i + 1) % count,
                                         class, &link);
    }
    if (!status) /* switch 0 connects the rings */
        status = nw_network_add_link(network, at, 0, class, &link);
    return status;
}

static nw_status count_ring(const struct nw_yaml *ring, int32_t *sum)
{
    const struct nw_yaml *nodes;
    struct nw_hostlist names = {0};
    nw_status status = nw_yaml_check_map(ring, "a ring", "ring nodes");

    if (!status)
        status = nw_yaml_need(ring, "nodes", &nodes);
    if (!status)
        status = nw_cluster_names(nodes, &names);
    if (!status && names.count + (size_t)*sum > MOST_CELLS)
        status = nw_yaml_fail(ring, "more than %d nodes in rings", MOST_CELLS);
    *sum += (int32_t)names.count;
    nw_hostlist_fini(&names);
    return status;
}

static nw_status fill_rings(struct cells *cells, const struct nw_yaml *list,
                            int32_t count)
{
    nw_topology *topology = cells->slurm->topology;
    struct nw_link_class cable = nw_link_assumed(NW_LINK_NETWORK);
    struct nw_link_class port = nw_link_assumed(NW_LINK_NIC);
    struct nw_network *network;
    int32_t class, at = 1;
    nw_status status = nw_topology_class(topology, &cable, &class);

    if (!status)
        status = nw_topology_class(topology, &port, &cells->card.class);
    if (!status)
        status = nw_network_new(count + 1, &network);
    if (status)
        return status;
    nw_topology_take_network(topology, network);
    status = nw_strdup("(top)", &network->switch_name[0]);
    for (const struct nw_yaml *ring = list->first; !status && ring;
         ring = ring->next) {
        status = add_ring(cells, ring, at, class);
        at = 1 + (int32_t)cells->names.count;
    }
    return status ? status
                  : nw_fabric_blame(cells->slurm->file,
                                    nw_network_finish_graph(network, true));
}

static nw_status read_rings(struct nw_slurm *slurm, const struct nw_yaml *list,
                            enum nw_elements elements)
{
    struct cells cells = {.slurm = slurm};
    int32_t count = 0;
    nw_status status = NW_OK;

    for (const struct nw_yaml *ring = list->first; !status && ring;
         ring = ring->next)
        status = count_ring(ring, &count);
    cells.fabric = (struct nw_fabric){
        .file = slurm->file, .topology = slurm->topology, .cardless = true};
    if (!status)
        status = fill_rings(&cells, list, count);
    if (!status)
        status = nw_fabric_finish(&cells.fabric, elements);
    nw_fabric_fini(&cells.fabric);
    nw_hostlist_fini(&cells.names);
    return status;
}

nw_status nw_slurm_ring(struct nw_slurm *slurm, const struct nw_yaml *node,
                        enum nw_elements elements)
{
    struct cells cells = {.size = {1, 1, 1}};
    const struct nw_yaml *list = nw_yaml_get(node, "rings"), *ring = NULL;
    nw_status status = nw_yaml_check_map(node, node->key, "rings");

    if (!status && list && list->kind == NW_YAML_LIST && list->count > 1)
        return read_rings(slurm, list, elements);
    cells.size[0] = 0;
    if (!status)
        status = only_item(node, "rings", &ring);
    if (!status)
        status = count_ring(ring, &cells.size[0]);
    return status ? status : torus_build(slurm, ring, &cells, elements);
}
