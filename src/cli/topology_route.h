/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of nodewise topology --distance and --route. */
#ifndef NW_CLI_TOPOLOGY_ROUTE_H
#define NW_CLI_TOPOLOGY_ROUTE_H

#include <nodewise/topology.h>

struct nw_cli_route {
    const char *end[2]; /* the two ends: number of an element, or gpuN */
    /* print each link of the route: in a table instead of the distance, in JSON
     * beside it */
    bool links;
    bool json;
};

/* Makes the text of the output. Returns NW_EINVAL if an end is neither a number
 * nor gpuN, or if the machine lacks it. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cli_route(const nw_topology *topology,
                                     const struct nw_cli_route *route,
                                     char **out);

#endif
