/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes forwarding tables: for each switch, link and number of a NIC, one line
 * with the nodes whose NIC of this number is reached by this link. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/write.h"
#include "topology/network/networks.h"

#include <stdlib.h>

/* An entry of a switch's table: messages to NIC number `card` of the node leave
 * the switch by `link`. */
struct write_forwarding_tables_entry {
    int32_t link, card, node;
};

static int write_forwarding_tables_compare(const void *a, const void *b)
{
    const struct write_forwarding_tables_entry *x = a, *y = b;

    if (x->link != y->link)
        return x->link < y->link ? -1 : 1;
    if (x->card != y->card)
        return x->card < y->card ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node;
}

static size_t
write_forwarding_tables_gather(const nw_topology *topology, int32_t s,
                               struct write_forwarding_tables_entry *entry)
{
    const struct nw_graph_ports *ports;
    const int32_t *via = nw_graph_tables(topology->network, &ports);
    size_t count = 0;

    for (int32_t n = 0; n < ports->nodes; n++)
        for (int32_t c = ports->first[n]; c < ports->first[n + 1]; c++) {
            int32_t link = via[(size_t)s * ports->count + (size_t)c];

            if (link >= 0)
                entry[count++] = (struct write_forwarding_tables_entry){
                    link, c - ports->first[n], n};
        }
    qsort(entry, count, sizeof *entry, write_forwarding_tables_compare);
    return count;
}

/* Returns the index of the link among the parallel links between its two
 * switches, from 0. */
static int32_t cable_of(const struct nw_network *network, int32_t link)
{
    int32_t a = network->link_a[link], b = network->link_b[link], count = 0;
    const int32_t *links;

    (void)nw_graph_links(network, a, &links);
    for (; *links != link; links++)
        count += network->link_a[*links] == b || network->link_b[*links] == b;
    return count;
}

static nw_status write_item(struct nw_text *text, const nw_topology *topology,
                            int32_t s,
                            const struct write_forwarding_tables_entry *entry,
                            const char *const *names, size_t count)
{
    const struct nw_network *network = topology->network;
    int32_t cable = cable_of(network, entry->link);
    int32_t other = network->link_a[entry->link] == s
                        ? network->link_b[entry->link]
                        : network->link_a[entry->link];
    nw_status status;

    nw_text_add(text, "      - {at: ");
    nw_write_word(text, network->switch_name[s]);
    nw_text_add(text, ", by: ");
    nw_write_word(text, network->switch_name[other]);
    if (cable)
        nw_text_format(text, ", cable: %d", cable);
    if (entry->card)
        nw_text_format(text, ", card: %d", entry->card);
    nw_text_add(text, ", to: ");
    status = nw_write_names(text, names, count);
    nw_text_add(text, "}\n");
    return status;
}

static nw_status write_switch(struct nw_text *text, const nw_topology *topology,
                              int32_t s,
                              struct write_forwarding_tables_entry *entry,
                              const char **names)
{
    size_t count = write_forwarding_tables_gather(topology, s, entry), end;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i = end) {
        for (end = i; end < count && entry[end].link == entry[i].link &&
                      entry[end].card == entry[i].card;
             end++)
            names[end - i] = topology->node_name[entry[end].node];
        status = write_item(text, topology, s, &entry[i], names, end - i);
    }
    return status;
}

nw_status nw_write_tables(struct nw_text *text, const nw_topology *topology)
{
    const struct nw_graph_ports *ports;
    struct write_forwarding_tables_entry *entry = NULL;
    const char **names = NULL;
    nw_status status;

    if (!nw_graph_tables(topology->network, &ports))
        return NW_OK;
    nw_text_add(text, "    tables:\n");
    status = nw_alloc(ports->count, sizeof *entry, &entry);
    if (!status)
        status = nw_alloc(ports->count, sizeof *names, &names);
    for (int32_t s = 0; !status && s < topology->network->switch_count; s++)
        status = write_switch(text, topology, s, entry, names);
    free(entry);
    free(names);
    return status;
}
