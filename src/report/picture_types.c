/* SPDX-License-Identifier: BSD-3-Clause */
/* Creates the layouts of all node types in a picture. */
#include "report/picture.h"

#include "base/array.h"
#include "report/network_layout.h"
#include <stdlib.h>

nw_status nw_picture_types(const nw_topology *topology, double unit,
                           struct nw_node_layout **out)
{
    struct nw_node_layout *layouts;
    nw_status status =
        nw_alloc((size_t)topology->type_count, sizeof *layouts, &layouts);

    for (int32_t t = 0; !status && t < topology->type_count; t++)
        status = nw_node_layout_new(topology->type[t], unit, &layouts[t]);
    *out = layouts;
    return status;
}

void nw_picture_free_types(const nw_topology *topology,
                           struct nw_node_layout *layouts)
{
    for (int32_t t = 0; layouts && t < topology->type_count; t++)
        nw_node_layout_fini(&layouts[t]);
    free(layouts);
}
