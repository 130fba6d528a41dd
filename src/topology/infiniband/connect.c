/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds both ends of each cable of a subnet. ibnetdiscover lists each cable
 * twice, once for each end. A cable that is listed once is an error. */
#include "base/array.h"
#include "base/name_index.h"
#include "base/status.h"
#include "topology/infiniband/ibnet.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_ib_add_port(struct nw_ib_subnet *subnet,
                         const struct nw_ib_port *port)
{
    nw_status status = nw_grow(&subnet->port, &subnet->port_capacity,
                               subnet->port_count + 1, sizeof *subnet->port);

    if (status)
        return status;
    subnet->port[subnet->port_count++] = *port;
    subnet->node[port->node].count++;
    return NW_OK;
}

static struct nw_names connect_ids(const struct nw_ib_subnet *subnet)
{
    return NW_NAMES(subnet->node, id, subnet->node_count);
}

static nw_status index_ids(struct nw_ib_subnet *subnet)
{
    const struct nw_ib_node *node = subnet->node;
    nw_status status = nw_names_sort(connect_ids(subnet), &subnet->by_id);
    size_t again =
        status ? 0 : nw_names_repeated(connect_ids(subnet), subnet->by_id);
    const int32_t *at = subnet->by_id + again;

    return again ? nw_fail(NW_EFORMAT,
                           "%s:%d: '%s' is described twice; first in line %d",
                           subnet->file, node[*at].line, node[*at].id,
                           node[at[-1]].line)
                 : status;
}

int32_t nw_ib_find(const struct nw_ib_subnet *subnet, const char *id)
{
    return nw_names_find(connect_ids(subnet), subnet->by_id, id);
}

static int connect_by_number(const void *a, const void *b)
{
    const struct nw_ib_port *x = a, *y = b;

    return x->number != y->number
               ? (x->number > y->number) - (x->number < y->number)
               : x->line - y->line;
}

static nw_status sort_ports(struct nw_ib_subnet *subnet)
{
    for (size_t n = 0; n < subnet->node_count; n++) {
        const struct nw_ib_node *node = &subnet->node[n];
        struct nw_ib_port *port;

        if (!node->count)
            continue;
        port = subnet->port + node->first;
        qsort(port, node->count, sizeof *port, connect_by_number);
        for (size_t i = 1; i < node->count; i++)
            if (port[i].number == port[i - 1].number)
                return nw_fail(NW_EFORMAT,
                               "%s:%d: port %d of '%s' is given twice; first "
                               "in line %d",
                               subnet->file, port[i].line, port[i].number,
                               node->id, port[i - 1].line);
    }
    return NW_OK;
}

struct nw_ib_port *nw_ib_port(const struct nw_ib_subnet *subnet, int32_t node,
                              int32_t number)
{
    struct nw_ib_port wanted = {.number = number};
    size_t low = subnet->node[node].first;
    size_t high = low + subnet->node[node].count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (subnet->port[middle].number == wanted.number)
            return &subnet->port[middle];
        if (subnet->port[middle].number < wanted.number)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

static nw_status connect_port(const struct nw_ib_subnet *subnet,
                              struct nw_ib_port *port)
{
    const char *id = subnet->node[port->node].id;
    struct nw_ib_port *peer;

    port->peer_node = nw_ib_find(subnet, port->peer);
    if (port->peer_node < 0)
        return nw_fail(NW_EFORMAT,
                       "%s:%d: a dangling port: [%d] of '%s' leads to '%s', "
                       "which the file does not describe",
                       subnet->file, port->line, port->number, id, port->peer);
    peer = nw_ib_port(subnet, port->peer_node, port->peer_number);
    if (!peer || peer->peer_number != port->number || strcmp(peer->peer, id))
        return nw_fail(NW_EFORMAT,
                       "%s:%d: a dangling port: [%d] of '%s' leads to '%s'[%d],"
                       " which leads elsewhere",
                       subnet->file, port->line, port->number, id, port->peer,
                       port->peer_number);
    if (peer->rate > 0 && (port->rate <= 0 || peer->rate < port->rate))
        port->rate = peer->rate;
    return NW_OK;
}

nw_status nw_ib_connect(struct nw_ib_subnet *subnet)
{
    nw_status status = index_ids(subnet);

    if (!status)
        status = sort_ports(subnet);
    for (size_t p = 0; !status && p < subnet->port_count; p++)
        status = connect_port(subnet, &subnet->port[p]);
    return status;
}
