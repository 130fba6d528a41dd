/* SPDX-License-Identifier: BSD-3-Clause */
/* Combines sources. Each host of the network gets the node type that another
 * source has for the host's name. Each NIC of this node type gets its port of
 * the network. */
#include "topology/compose/compose.h"
#include "base/array.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool compose_is_known(const struct nw_host_index *hosts,
                             const char *host)
{
    return nw_host_index_find(hosts, host) != NW_HOST_NONE;
}

/* Returns true if all hosts of the network get the same node type. This is so
 * if there is only one source, given without HOSTS=, which has one node type,
 * and either one node or no node that is a host of the network. */
static bool compose_is_alike(const struct nw_compose *compose)
{
    const struct nw_inside *from = compose->inside;

    if (compose->inside_count != 1 || from->hosts ||
        from->topology->type_count != 1)
        return false;
    for (int32_t n = 0;
         from->topology->node_count > 1 && n < from->topology->node_count; n++)
        if (compose_is_known(&compose->joined, from->topology->node_name[n]))
            return false;
    return true;
}

/* Finds the source and the node type for a host. It is the first source whose
 * list HOSTS= or, without a list, whose nodes have the host's name, or else the
 * only source if compose->is_alike. A source with a list gives the type of its
 * node of this name or, without such a node, of its node 0. Fails if no source
 * fits, or if several nodes of the source do. */
static nw_status find_inside(const struct nw_compose *compose, const char *host,
                             struct nw_combined *wanted)
{
    for (size_t i = 0; i < compose->inside_count; i++) {
        const struct nw_inside *from = &compose->inside[i];
        int32_t node = nw_host_index_find(&from->nodes, host);

        if (from->hosts ? !compose_is_known(&from->listed, host)
                        : node == NW_HOST_NONE)
            continue;
        if (node == NW_HOST_SEVERAL)
            return nw_fail(NW_EFORMAT,
                           "%s:1: '%s', a host of this network, may be any of "
                           "several nodes of %s, whose names are longer",
                           compose->network->name, host, from->source);
        wanted->inside = (int32_t)i;
        wanted->type = from->topology->node_type[node < 0 ? 0 : node];
        return NW_OK;
    }
    if (compose->is_alike)
        return NW_OK; /* wanted->inside and wanted->type stay 0 */
    return nw_fail(NW_EFORMAT,
                   "%s:1: no source describes the inside of host '%s'; add one "
                   "with --node",
                   compose->network->name, host);
}

static const char *compose_card_name(const struct nw_node_type *type, int32_t c)
{
    return type->nic_device ? type->nic_device[c].name : NULL;
}

static int32_t card_named(const struct nw_node_type *type, const char *name)
{
    for (int32_t c = 0; c < type->nic_count; c++)
        if (name && compose_card_name(type, c) &&
            !strcmp(compose_card_name(type, c), name))
            return c;
    return -1;
}

/* Sets port_of[c] to the network port of NIC c, or to -1. NICs and ports are
 * matched by name if the node type has a NIC with the name of each port,
 * otherwise by number. If the network has no NICs for the host, all NICs get
 * port 0. */
static void match_cards(const struct nw_node_type *inside,
                        const struct nw_node_type *ports, int32_t *port_of)
{
    bool by_name = ports->nic_count > 0;

    for (int32_t p = 0; p < ports->nic_count; p++)
        by_name &= card_named(inside, compose_card_name(ports, p)) >= 0;
    for (int32_t c = 0; c < inside->nic_count; c++) {
        port_of[c] = by_name ? card_named(ports, compose_card_name(inside, c))
                     : c < ports->nic_count ? c
                                            : -1;
        if (!ports->nic_count)
            port_of[c] = 0; /* the network has no NICs of this host: all NICs
                               use its port */
    }
}

static void note_cards(struct nw_compose *compose, const char *host,
                       const struct nw_inside *from, const int32_t counts[2])
{
    nw_text_format(
        &compose->notes, "%s: %d card%s in %s, %d in the network: %s\n", host,
        counts[0], nw_plural((uint64_t)counts[0]), from->source, counts[1],
        counts[0] > counts[1] ? "the others are left out"
                              : "the others are added to the node");
}

/* Copies the node type of a host, without the NICs that the network lacks, and
 * fills combined->port_of. Adds a note if the numbers of NICs differ. */
static nw_status copy_inside(struct nw_compose *compose,
                             struct nw_combined *combined, const char *host,
                             struct nw_node_type **out)
{
    const struct nw_inside *from = &compose->inside[combined->inside];
    const struct nw_node_type *type = from->topology->type[combined->type];
    const struct nw_node_type *ports = compose->network->type[combined->ports];
    const int32_t counts[2] = {type->nic_count, ports->nic_count};
    bool *drop;
    nw_status status =
        nw_alloc((size_t)type->vertex_count, sizeof *drop, &drop);

    if (!status)
        status = nw_alloc((size_t)(counts[0] + counts[1] + 1),
                          sizeof *combined->port_of, &combined->port_of);
    if (!status) {
        match_cards(type, ports, combined->port_of);
        for (int32_t c = 0; c < counts[0]; c++) {
            drop[type->nic[c]] = combined->port_of[c] < 0;
            if (combined->port_of[c] >= 0)
                combined->port_of[combined->cards++] = combined->port_of[c];
        }
        if (counts[0] && counts[1] && counts[0] != counts[1])
            note_cards(compose, host, from, counts);
        status = nw_compose_copy(compose, from->topology, type, drop, out);
    }
    free(drop);
    return status;
}

static bool is_taken(const struct nw_combined *combined, int32_t port)
{
    for (int32_t c = 0; c < combined->cards; c++)
        if (combined->port_of[c] == port)
            return true;
    return false;
}

/* Adds a NIC to the node type for each network port to which no NIC is
 * connected. A node without NICs that has only one port, or to which the
 * network gives no NICs, gets none; its port then connects the node itself. */
static nw_status compose_add_cards(struct nw_compose *compose,
                                   struct nw_combined *combined,
                                   struct nw_node_type *type)
{
    const struct nw_node_type *ports = compose->network->type[combined->ports];
    struct nw_link_class pcie = nw_link_assumed(NW_LINK_PCIE);
    size_t capacity = (size_t)type->nic_count;
    int32_t class, vertex;
    nw_status status = nw_topology_class(compose->whole, &pcie, &class);

    if (ports->nic_count == 1 && !combined->cards) {
        combined->port_of[combined->cards++] = 0;
        return status; /* the host has one port, which needs no NIC */
    }
    for (int32_t p = 0; !status && p < ports->nic_count; p++) {
        if (is_taken(combined, p))
            continue;
        if (compose_card_name(ports, p) && type->nic_count == combined->cards) {
            status =
                nw_grow(&type->nic_device, &capacity,
                        (size_t)type->nic_count + 1, sizeof *type->nic_device);
            if (!status) {
                type->nic_device[type->nic_count++] = (struct nw_device){0};
                status = nw_strdup(compose_card_name(ports, p),
                                   &type->nic_device[type->nic_count - 1].name);
            }
        }
        combined->port_of[combined->cards++] = p;
        if (!status)
            status = nw_node_type_add(type, 0, NW_VERTEX_NIC, class, &vertex);
    }
    if (!combined->cards)
        combined->port_of[combined->cards++] = 0;
    return status;
}

static int32_t compose_count_cards(const struct nw_node_type *type)
{
    int32_t count = 0;

    for (int32_t v = 0; v < type->vertex_count; v++)
        count += type->kind[v] == NW_VERTEX_NIC;
    return count;
}

/* Adds the direct links of the source of GPU links, and its GPUs if needed
 * (nw_compose_gpus). Also adds that source's NICs if neither the node type nor
 * the network has NICs; then every NIC uses the host's port. */
static nw_status compose_take_gpus(struct nw_compose *compose,
                                   struct nw_combined *combined,
                                   struct nw_node_type *type)
{
    const struct nw_node_type *ports = compose->network->type[combined->ports];
    bool cardless = !compose_count_cards(type) && !ports->nic_count;
    int32_t cards;
    nw_status status = nw_compose_gpus(
        compose, type, compose->inside[combined->inside].source, cardless);

    cards = cardless ? compose_count_cards(type) : 0;
    if (!status && cards) {
        free(combined->port_of);
        combined->cards = cards;
        status = nw_alloc((size_t)cards, sizeof *combined->port_of,
                          &combined->port_of);
    }
    return status;
}

static nw_status compose_combine(struct nw_compose *compose,
                                 struct nw_combined *combined, const char *host)
{
    struct nw_node_type *type = NULL;
    nw_status status =
        nw_grow(&compose->combined, &compose->combined_capacity,
                compose->combined_count + 1, sizeof *compose->combined);

    if (status)
        return status;
    combined->result = compose->whole->type_count;
    status = copy_inside(compose, combined, host, &type);
    if (!status)
        status = compose_add_cards(compose, combined, type);
    if (!status && compose->gpus)
        status = compose_take_gpus(compose, combined, type);
    if (status)
        free(combined->port_of);
    else
        compose->combined[compose->combined_count++] = *combined;
    return status;
}

/* Finds the combined type with the members inside, type and ports of `wanted`,
 * or makes it for `host`, the first host that needs it. */
static nw_status find_combined(struct nw_compose *compose,
                               struct nw_combined wanted, const char *host,
                               const struct nw_combined **out)
{
    nw_status status;

    for (size_t i = 0; i < compose->combined_count; i++) {
        const struct nw_combined *one = &compose->combined[i];

        if (one->inside == wanted.inside && one->type == wanted.type &&
            one->ports == wanted.ports) {
            *out = one;
            return NW_OK;
        }
    }
    status = compose_combine(compose, &wanted, host);
    if (!status)
        *out = &compose->combined[compose->combined_count - 1];
    return status;
}

/* Finds or makes the combined type of each host. Sets which[n] to the index in
 * compose->combined of the type of host n. */
static nw_status combine_all(struct nw_compose *compose, int32_t *which)
{
    const nw_topology *network = compose->network;
    nw_status status = NW_OK;

    for (int32_t n = 0; !status && n < network->node_count; n++) {
        struct nw_combined wanted = {.ports = network->node_type[n]};
        const struct nw_combined *found = NULL;

        status = find_inside(compose, network->node_name[n], &wanted);
        if (!status)
            status =
                find_combined(compose, wanted, network->node_name[n], &found);
        if (!status)
            which[n] = (int32_t)(found - compose->combined);
    }
    return status;
}

static nw_status compose_place(struct nw_compose *compose, int32_t n,
                               const struct nw_combined *combined,
                               int32_t *port)
{
    const nw_topology *network = compose->network;
    nw_topology *whole = compose->whole;
    nw_status status = nw_strdup(network->node_name[n], &whole->node_name[n]);

    whole->node_type[n] = combined->result;
    if (!network->network)
        return status;
    whole->port_first[n] = *port;
    for (int32_t c = 0; !status && c < combined->cards; c++, ++*port) {
        int32_t from = network->port_first[n] + combined->port_of[c];

        whole->port[*port] = network->port[from];
        status = nw_compose_class(compose, network, network->port_class[from],
                                  &whole->port_class[*port]);
    }
    whole->port_first[n + 1] = *port;
    return status;
}

/* Copies the second level of NVLink domains. */
static nw_status copy_upper(struct nw_compose *compose)
{
    const nw_topology *network = compose->network;
    nw_topology *whole = compose->whole;
    size_t domains = (size_t)network->domain_count;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(domains, whole->upper), NW_ARRAY(domains, whole->uplink_class),
        NW_ARRAY((size_t)network->upper_count, whole->upper_name));

    for (size_t d = 0; !status && d < domains; d++) {
        whole->upper[d] = network->upper[d];
        whole->uplink_class[d] = -1;
        if (network->upper[d] >= 0)
            status =
                nw_compose_class(compose, network, network->uplink_class[d],
                                 &whole->uplink_class[d]);
    }
    for (int32_t u = 0; !status && u < network->upper_count; u++) {
        status = nw_strdup(network->upper_name[u], &whole->upper_name[u]);
        whole->upper_count++;
    }
    return status;
}

/* Copies the NVLink domains of the network's nodes. */
static nw_status copy_domains(struct nw_compose *compose)
{
    const nw_topology *network = compose->network;
    nw_topology *whole = compose->whole;
    size_t nodes = (size_t)network->node_count;
    size_t count = (size_t)network->domain_count;
    nw_status status;

    if (!network->domain)
        return NW_OK;
    status = nw_alloc(nodes, sizeof *whole->domain, &whole->domain);
    if (!status)
        status =
            nw_alloc(count, sizeof *whole->domain_name, &whole->domain_name);
    if (status)
        return status;
    memcpy(whole->domain, network->domain, nodes * sizeof *whole->domain);
    for (size_t d = 0; !status && d < count; d++) {
        status = nw_strdup(network->domain_name[d], &whole->domain_name[d]);
        whole->domain_count++;
    }
    return status || !network->upper ? status : copy_upper(compose);
}

static nw_status place_all(struct nw_compose *compose, const int32_t *which)
{
    const nw_topology *network = compose->network;
    int64_t ports = 0;
    int32_t port = 0;
    nw_status status;

    for (int32_t n = 0; n < network->node_count; n++)
        ports += compose->combined[which[n]].cards;
    if (ports > INT32_MAX / 4)
        return nw_fail(NW_EFORMAT, "%s:1: too many network cards",
                       network->name);
    status = nw_topology_set_nodes(compose->whole, network->node_count,
                                   network->network ? (int32_t)ports : 0);
    for (int32_t n = 0; !status && n < network->node_count; n++)
        status = compose_place(compose, n, &compose->combined[which[n]], &port);
    return status ? status : copy_domains(compose);
}

/* Adds a note on each name that is not a host of the network: names in HOSTS=
 * lists, and node names of sources without a list. If all hosts get the same
 * node type, only the first node of the source counts. The name may be
 * misspelt, or the network may lack the host. */
static void note_unused(struct nw_compose *compose)
{
    for (size_t i = 0; i < compose->inside_count; i++) {
        const struct nw_inside *from = &compose->inside[i];
        bool lone = compose->is_alike;
        int32_t count = from->topology->node_count;

        if (lone &&
            !compose_is_known(&compose->joined, from->topology->node_name[0]))
            nw_text_format(&compose->notes,
                           "'%s' of %s is not a host of the network: all its "
                           "hosts are assumed to look like it inside\n",
                           from->topology->node_name[0], from->source);
        for (int32_t n = 0; !lone && !from->hosts && n < count; n++)
            if (!compose_is_known(&compose->joined,
                                  from->topology->node_name[n]))
                nw_text_format(&compose->notes,
                               "'%s' of %s is not a host of the network\n",
                               from->topology->node_name[n], from->source);
        for (size_t k = 0; k < from->names.count; k++)
            if (!compose_is_known(&compose->joined, from->names.name[k]))
                nw_text_format(
                    &compose->notes,
                    "'%s', listed for %s, is not a host of the network\n",
                    from->names.name[k], from->source);
    }
}

static void take_class(void *user, int32_t *class)
{
    struct nw_compose *compose = user;
    int32_t out = 0;

    /* this cannot fail: take_network has made all classes */
    if (!nw_compose_class(compose, compose->network, *class, &out))
        *class = out;
}

static nw_status take_network(struct nw_compose *compose)
{
    struct nw_network *network = compose->network->network;
    nw_status status = NW_OK;

    if (!network)
        return NW_OK;
    for (int32_t c = 0; !status && c < compose->network->class_count; c++) {
        int32_t class;

        status = nw_compose_class(compose, compose->network, c, &class);
    }
    if (status)
        return status;
    nw_network_visit(network, take_class, compose);
    compose->network->network = NULL;
    nw_topology_take_network(compose->whole, network);
    return NW_OK;
}

/* Gives each NIC of the result the routes of its port in the network's
 * tables. */
static nw_status compose_take_tables(const struct nw_compose *compose,
                                     const int32_t *which)
{
    const nw_topology *whole = compose->whole;
    int32_t port = 0, *from;
    nw_status status;

    if (!whole->network || !whole->network->ops->move_ports)
        return NW_OK;
    status = nw_alloc((size_t)whole->port_first[whole->node_count],
                      sizeof *from, &from);
    for (int32_t n = 0; !status && n < whole->node_count; n++) {
        const struct nw_combined *combined = &compose->combined[which[n]];

        for (int32_t c = 0; c < combined->cards; c++)
            from[port++] =
                compose->network->port_first[n] + combined->port_of[c];
    }
    if (!status)
        status = whole->network->ops->move_ports(whole, from);
    free(from);
    return status;
}

static nw_status put_together(struct nw_compose *compose,
                              enum nw_elements elements)
{
    int32_t *which;
    nw_status status =
        nw_alloc((size_t)compose->network->node_count, sizeof *which, &which);

    if (!status)
        status = combine_all(compose, which);
    if (!status)
        status = place_all(compose, which);
    if (!status) {
        note_unused(compose);
        status = take_network(compose);
    }
    if (!status)
        status = compose_take_tables(compose, which);
    if (!status)
        status = nw_topology_finish(compose->whole, elements);
    free(which);
    return status;
}

/* Loads a source. Fails if it has only distances, since it then has no parts to
 * combine. */
static nw_status load_part(const char *source,
                           const struct nw_topology_options *options,
                           nw_topology **out)
{
    nw_status status = nw_topology_load(source, options, out);

    if (!status && ((*out)->matrix || (*out)->depth_distance))
        status = nw_fail(NW_EINVAL,
                         "'%s' has distances but no parts, so it cannot be "
                         "joined with other sources",
                         source);
    return status;
}

static nw_status compose_index_nodes(const nw_topology *topology,
                                     struct nw_host_index *hosts)
{
    return nw_host_index_init(hosts, topology->node_name,
                              (size_t)topology->node_count);
}

/* Loads a source of the form [HOSTS=]SOURCE. A '=' after the first ':' or '/'
 * belongs to SOURCE. */
static nw_status load_inside(struct nw_inside *inside, const char *words,
                             const struct nw_topology_options *options)
{
    const char *equals = strchr(words, '=');
    nw_status status = NW_OK;

    inside->source = words;
    if (equals && strcspn(words, ":/") > (size_t)(equals - words)) {
        inside->hosts = strndup(words, (size_t)(equals - words));
        if (!inside->hosts)
            return nw_fail(NW_ENOMEM, "out of memory for a list of hosts");
        inside->source = equals + 1;
        status = nw_hostlist_expand(inside->hosts, &inside->names);
        if (status)
            return nw_fail(NW_EINVAL,
                           "'%s' is not a list of hosts such as n[1-4],x",
                           inside->hosts);
    }
    status = load_part(inside->source, options, &inside->topology);
    if (!status)
        status = compose_index_nodes(inside->topology, &inside->nodes);
    if (!status)
        status = nw_host_index_init(&inside->listed, inside->names.name,
                                    inside->names.count);
    return status;
}

static nw_status load_all(struct nw_compose *compose,
                          const struct nw_topology_parts *parts,
                          const struct nw_topology_options *options)
{
    const char *network = parts->network ? parts->network : parts->nodes[0];
    nw_status status;

    if (!parts->network && strchr(network, '=') &&
        strcspn(network, ":/") > strcspn(network, "="))
        network = strchr(network, '=') + 1;
    status =
        nw_alloc(parts->node_count, sizeof *compose->inside, &compose->inside);
    if (!status)
        status = load_part(network, options, &compose->network);
    if (!status)
        nw_text_add(&compose->notes, nw_topology_notes(compose->network));
    if (!status)
        status = compose_index_nodes(compose->network, &compose->joined);
    for (size_t i = 0; !status && i < parts->node_count; i++) {
        compose->inside_count = i + 1;
        status = load_inside(&compose->inside[i], parts->nodes[i], options);
    }
    compose->is_alike = !status && compose_is_alike(compose);
    if (!status && parts->gpus) {
        compose->gpus_source = parts->gpus;
        status = load_part(parts->gpus, options, &compose->gpus);
    }
    if (!status && compose->gpus && compose->gpus->node_count != 1)
        status = nw_fail(
            NW_EINVAL,
            "'%s' describes several nodes; GPUs come from a source of one node",
            parts->gpus);
    if (!status)
        status = nw_topology_new(compose->network->name, &compose->whole);
    return status;
}

static void compose_fini(struct nw_compose *compose)
{
    for (size_t i = 0; i < compose->inside_count; i++) {
        nw_topology_free(compose->inside[i].topology);
        nw_hostlist_fini(&compose->inside[i].names);
        nw_host_index_fini(&compose->inside[i].nodes);
        nw_host_index_fini(&compose->inside[i].listed);
        free(compose->inside[i].hosts);
    }
    for (size_t i = 0; i < compose->combined_count; i++)
        free(compose->combined[i].port_of);
    free(compose->combined);
    free(compose->inside);
    nw_host_index_fini(&compose->joined);
    nw_topology_free(compose->network);
    nw_topology_free(compose->gpus);
    nw_topology_free(compose->whole);
    nw_text_fini(&compose->notes);
}

nw_status nw_topology_compose(const struct nw_topology_parts *given,
                              const struct nw_topology_options *options,
                              nw_topology **out, char **notes)
{
    struct nw_topology_parts parts = *given;
    struct nw_compose compose = {0};
    char *text = NULL;
    nw_status status;

    if (!parts.node_count && parts.gpus) { /* the source of GPU links also gives
                                              the inside of nodes */
        parts.nodes = &given->gpus;
        parts.node_count = 1;
        parts.gpus = NULL;
    }
    if (!parts.node_count)
        return nw_fail(
            NW_EINVAL,
            "the nodes of the network are missing; add --node SOURCE");
    nw_text_add(&compose.notes, "");
    status = load_all(&compose, &parts, options);
    if (!status)
        status = put_together(&compose,
                              options ? options->elements : NW_ELEMENTS_CORE);
    if (!status)
        status = nw_text_take(&compose.notes, &text);
    if (!status) {
        *out = compose.whole;
        *notes = text;
        compose.whole = NULL;
    }
    compose_fini(&compose);
    return status;
}
