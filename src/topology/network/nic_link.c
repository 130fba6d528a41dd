/* SPDX-License-Identifier: BSD-3-Clause */
/* Raises assumed PCIe bandwidths of NICs, because in real machines the PCIe
 * link of a NIC is not slower than its network port. */
#include "base/array.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* Raises assumed bandwidths below `rate` (bytes/s) to `rate`, on the PCIe links
 * from NIC vertex `card` up to the processor. */
static nw_status raise_path(nw_topology *topology, struct nw_node_type *type,
                            int32_t card, double rate)
{
    nw_status status = NW_OK;

    for (int32_t v = card; !status && v > 0; v = type->parent[v]) {
        struct nw_link_class figures = topology->class[type->class[v]];

        if (figures.kind != NW_LINK_PCIE)
            break;
        if (!figures.assumed)
            continue;
        for (int i = 0; i < 2; i++)
            figures.bandwidth[i] = fmax(figures.bandwidth[i], rate);
        status = nw_topology_class(topology, &figures, &type->class[v]);
    }
    return status;
}

/* Raises the PCIe links of each NIC of type t to the bandwidth of the fastest
 * port that this NIC has on any node. `card` lists the vertices of the NICs. */
static nw_status raise_cards(nw_topology *topology, int32_t t,
                             const int32_t *card, int32_t count)
{
    double *most = NULL;
    nw_status status = nw_alloc((size_t)count, sizeof *most, &most);

    for (int32_t n = 0; !status && n < topology->node_count; n++)
        for (int32_t c = 0; topology->node_type[n] == t && c < count; c++) {
            int32_t class = topology->port_class[topology->port_first[n] + c];

            for (int i = 0; i < 2; i++)
                most[c] = fmax(most[c], topology->class[class].bandwidth[i]);
        }
    for (int32_t c = 0; !status && c < count; c++)
        status = raise_path(topology, topology->type[t], card[c], most[c]);
    free(most);
    return status;
}

nw_status nw_topology_raise_cards(nw_topology *topology)
{
    nw_status status = NW_OK;

    for (int32_t t = 0;
         topology->network && !status && t < topology->type_count; t++) {
        const struct nw_node_type *type = topology->type[t];
        int32_t *card = NULL, count = 0;

        status = nw_alloc((size_t)type->vertex_count, sizeof *card, &card);
        for (int32_t v = 0; !status && v < type->vertex_count; v++)
            if (type->kind[v] == NW_VERTEX_NIC)
                card[count++] = v;
        if (!status && count)
            status = raise_cards(topology, t, card, count);
        free(card);
    }
    return status;
}
