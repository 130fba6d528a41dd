/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes nodes from hosts with NICs. Hosts with the same number and names of
 * NICs share a node type, which has one core. If sources are combined
 * (compose), the real node type replaces this one. */
#include "topology/network/fabric.h"
#include "base/array.h"
#include "base/hostlist.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

nw_status nw_fabric_add_host(struct nw_fabric *fabric, const char *name,
                             int line)
{
    nw_status status = nw_grow(&fabric->host, &fabric->host_capacity,
                               fabric->host_count + 1, sizeof *fabric->host);

    if (!status)
        fabric->host[fabric->host_count++] =
            (struct nw_fabric_host){.name = name,
                                    .file = fabric->file,
                                    .line = line,
                                    .first = (int32_t)fabric->card_count};
    return status;
}

nw_status nw_fabric_add_card(struct nw_fabric *fabric,
                             const struct nw_fabric_card *card)
{
    nw_status status = nw_grow(&fabric->card, &fabric->card_capacity,
                               fabric->card_count + 1, sizeof *fabric->card);

    if (status)
        return status;
    fabric->card[fabric->card_count++] = *card;
    fabric->host[fabric->host_count - 1].count++;
    return NW_OK;
}

void nw_fabric_fini(struct nw_fabric *fabric)
{
    free(fabric->host);
    free(fabric->card);
}

static int fabric_by_name(const void *a, const void *b)
{
    const struct nw_fabric_host *x = a, *y = b;
    int order = strverscmp(x->name, y->name);

    return order ? order : x->line - y->line;
}

/* Reports that a host has the name of the host before it in the array. */
static nw_status say_twice(const struct nw_fabric_host *host)
{
    return nw_fail(NW_EFORMAT,
                   "%s:%d: two nodes are named '%s'; the other is in line %d",
                   host->file, host->line, host->name, host[-1].line);
}

static bool fabric_has_switch(const struct nw_fabric_card *card,
                              const struct nw_fabric_host *host, int32_t at)
{
    for (int32_t c = 0; c < host->count; c++)
        if (card[host->first + c].at == at)
            return true;
    return false;
}

/* Adds a note that several leaf switches list a node. The note has the words of
 * Slurm's warning. Slurm then uses the node on all these switches. */
static void fabric_note_several(const struct nw_fabric *fabric,
                                const struct nw_fabric_host *host)
{
    nw_text_format(&fabric->topology->notes,
                   "%s:%d: Multiple leaf switches contain nodes: %s\n",
                   host->file, host->line, host->name);
}

/* Merges hosts of the same name, as in Slurm files, into one host with a NIC
 * for each of its switches, and adds a note on it. The hosts must be sorted and
 * have one NIC each. */
static nw_status fabric_merge_repeated(struct nw_fabric *fabric)
{
    struct nw_fabric_card *card;
    struct nw_fabric_host *host = fabric->host;
    size_t hosts = 0, cards = 0;
    nw_status status = nw_alloc(fabric->card_count, sizeof *card, &card);

    for (size_t i = 0; !status && i < fabric->host_count; i++) {
        const struct nw_fabric_card *here = &fabric->card[host[i].first];
        bool again = hosts && !strcmp(host[hosts - 1].name, host[i].name);

        if (!again) {
            host[hosts] = host[i];
            host[hosts].first = (int32_t)cards;
            host[hosts++].count = 0;
        } else if (fabric_has_switch(card, &host[hosts - 1], here->at)) {
            continue;
        } else {
            fabric_note_several(fabric, &host[i]);
        }
        card[cards++] = *here;
        host[hosts - 1].count++;
    }
    if (status)
        return status;
    free(fabric->card);
    fabric->card = card;
    fabric->host_count = hosts;
    fabric->card_count = cards;
    return NW_OK;
}

static nw_status sort_hosts(struct nw_fabric *fabric)
{
    if (!fabric->host_count)
        return nw_fail(NW_EFORMAT, "%s:1: no host found in this file",
                       fabric->file);
    qsort(fabric->host, fabric->host_count, sizeof *fabric->host,
          fabric_by_name);
    if (fabric->cardless)
        return fabric_merge_repeated(fabric);
    for (size_t i = 1; i < fabric->host_count; i++)
        if (!strcmp(fabric->host[i - 1].name, fabric->host[i].name))
            return say_twice(&fabric->host[i]);
    return NW_OK;
}

static bool same_name(const char *a, const char *b)
{
    return (!a && !b) || (a && b && !strcmp(a, b));
}

/* Returns the number of NICs of the node for a host: 0 for a host with one
 * switch if the source does not name NICs. */
static int32_t fabric_count_cards(const struct nw_fabric *fabric,
                                  const struct nw_fabric_host *host)
{
    return fabric->cardless && host->count == 1 ? 0 : host->count;
}

/* Returns true if the host's NICs have the number and, unless the source names
 * no NICs, also the names of the type's NICs. */
static bool fits_type(const struct nw_fabric *fabric,
                      const struct nw_fabric_host *host,
                      const struct nw_node_type *type)
{
    if (type->nic_count != fabric_count_cards(fabric, host))
        return false;
    if (fabric->cardless)
        return true;
    for (int32_t c = 0; c < host->count; c++)
        if (!same_name(fabric->card[host->first + c].name,
                       type->nic_device[c].name))
            return false;
    return true;
}

static nw_status fabric_add_cards(const struct nw_fabric *fabric,
                                  const struct nw_fabric_host *host,
                                  struct nw_node_type *type)
{
    struct nw_link_class pcie = nw_link_assumed(NW_LINK_PCIE);
    int32_t class, vertex;
    nw_status status = nw_topology_class(fabric->topology, &pcie, &class);

    if (!status)
        status = nw_alloc((size_t)host->count, sizeof *type->nic_device,
                          &type->nic_device);
    for (int32_t c = 0; !status && c < host->count; c++) {
        const char *name = fabric->card[host->first + c].name;

        type->nic_count++;
        status = nw_node_type_add(type, 0, NW_VERTEX_NIC, class, &vertex);
        if (!status && name)
            status = nw_strdup(name, &type->nic_device[c].name);
    }
    return status;
}

static nw_status fabric_add_type(const struct nw_fabric *fabric,
                                 const struct nw_fabric_host *host)
{
    struct nw_link_class core = nw_link_assumed(NW_LINK_CORE);
    struct nw_node_type *type;
    int32_t class, vertex;
    char name[32] = "host";
    nw_status status;

    if (fabric->topology->type_count)
        snprintf(name, sizeof name, "host%d", fabric->topology->type_count + 1);
    status = nw_node_type_new(fabric->topology, name, &type);
    if (!status)
        status = nw_topology_class(fabric->topology, &core, &class);
    if (!status)
        status = nw_node_type_add(type, 0, NW_VERTEX_CORE, class, &vertex);
    if (!status && fabric_count_cards(fabric, host))
        status = fabric_add_cards(fabric, host, type);
    return status;
}

static nw_status fabric_find_type(const struct nw_fabric *fabric,
                                  const struct nw_fabric_host *host,
                                  int32_t *out)
{
    nw_topology *topology = fabric->topology;

    for (*out = topology->type_count - 1; *out >= 0; --*out)
        if (fits_type(fabric, host, topology->type[*out]))
            return NW_OK;
    *out = topology->type_count;
    return fabric_add_type(fabric, host);
}

static nw_status fabric_place(const struct nw_fabric *fabric, int32_t node,
                              int32_t *port)
{
    const struct nw_fabric_host *host = &fabric->host[node];
    nw_topology *topology = fabric->topology;
    nw_status status =
        fabric_find_type(fabric, host, &topology->node_type[node]);

    if (!status)
        status = nw_strdup(host->name, &topology->node_name[node]);
    topology->port_first[node] = *port;
    for (int32_t c = 0; c < host->count; c++, ++*port) {
        topology->port[*port] = fabric->card[host->first + c].at;
        topology->port_class[*port] = fabric->card[host->first + c].class;
    }
    topology->port_first[node + 1] = *port;
    return status;
}

nw_status nw_fabric_blame(const char *file, nw_status status)
{
    return status == NW_EFORMAT
               ? nw_fail(NW_EFORMAT, "%s:1: %s", file, nw_error_text())
               : status;
}

nw_status nw_fabric_place(struct nw_fabric *fabric)
{
    int32_t port = 0;
    nw_status status = sort_hosts(fabric);

    if (!status)
        status =
            nw_topology_set_nodes(fabric->topology, (int32_t)fabric->host_count,
                                  (int32_t)fabric->card_count);
    for (size_t i = 0; !status && i < fabric->host_count; i++)
        status = fabric_place(fabric, (int32_t)i, &port);
    return status;
}

nw_status nw_fabric_close(const struct nw_fabric *fabric,
                          enum nw_elements elements)
{
    return nw_fabric_blame(fabric->file,
                           nw_topology_finish(fabric->topology, elements));
}

nw_status nw_fabric_finish(struct nw_fabric *fabric, enum nw_elements elements)
{
    nw_status status = nw_fabric_place(fabric);

    return status ? status : nw_fabric_close(fabric, elements);
}
