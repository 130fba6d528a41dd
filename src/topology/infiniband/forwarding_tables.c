/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads linear forwarding tables. They give, for each switch, the port that
 * leads to each local identifier (lid). With them, the topology's routes are
 * those of the real fabric. */
#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/infiniband/ibnet.h"
#include "topology/network/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TABLE ((size_t)1 << 28) /* largest number of entries */
#define NO_ENTRY                                                               \
    (-2) /* value of an entry that the tables do not have; -1 is an            \
            entry without a link */

/* The state of the reader. */
struct forwarding_tables_reader {
    const struct nw_ib_subnet *subnet;
    struct nw_ib_tables *tables;
    size_t *by_guid, *by_lid; /* ports of adapters, sorted by GUID and by LID */
    size_t count;
    int32_t node; /* the current switch; -1 before the first one */
    int line;
};

static int compare_guids(const void *a, const void *b, void *ports)
{
    const struct nw_ib_port *port = ports;
    uint64_t x = port[*(const size_t *)a].guid;
    uint64_t y = port[*(const size_t *)b].guid;

    return (x > y) - (x < y);
}

static int compare_lids(const void *a, const void *b, void *ports)
{
    const struct nw_ib_port *port = ports;

    return port[*(const size_t *)a].lid - port[*(const size_t *)b].lid;
}

static nw_status index_ports(struct forwarding_tables_reader *reader)
{
    const struct nw_ib_subnet *subnet = reader->subnet;
    nw_status status =
        nw_alloc(subnet->port_count, sizeof *reader->by_guid, &reader->by_guid);

    if (!status)
        status = nw_alloc(subnet->port_count, sizeof *reader->by_lid,
                          &reader->by_lid);
    for (size_t p = 0; !status && p < subnet->port_count; p++)
        if (subnet->node[subnet->port[p].node].kind == 'H') {
            reader->by_guid[reader->count] = p;
            reader->by_lid[reader->count++] = p;
        }
    if (status || !reader->count)
        return status;
    qsort_r(reader->by_guid, reader->count, sizeof *reader->by_guid,
            compare_guids, subnet->port);
    qsort_r(reader->by_lid, reader->count, sizeof *reader->by_lid, compare_lids,
            subnet->port);
    return NW_OK;
}

/* Returns the port of an adapter whose guid is `value`, or whose lid is `value`
 * if `guid` is false. Returns (size_t)-1 if no port has this guid or lid. */
static size_t find_port(const struct forwarding_tables_reader *reader,
                        uint64_t value, bool guid)
{
    const size_t *order = guid ? reader->by_guid : reader->by_lid;
    size_t low = 0, high = reader->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct nw_ib_port *port = &reader->subnet->port[order[middle]];
        uint64_t here = guid ? port->guid : (uint64_t)(int64_t)port->lid;
        bool unknown = !guid && port->lid < 0;

        if (!unknown && here == value)
            return order[middle];
        if (unknown || here < value)
            low = middle + 1;
        else
            high = middle;
    }
    return (size_t)-1;
}

/* How a table begins in the file opensm.fdbs, which OpenSM writes with the
 * option -D 0x43. */
static const char opensm_head[] = "dump_ucast_routes: Switch ";

static nw_status take_head(struct forwarding_tables_reader *reader,
                           const char *line)
{
    const char *guid = strstr(line, "guid ");
    uint64_t value;
    char id[32];

    if (!strncmp(line, opensm_head, strlen(opensm_head)))
        guid = line + strlen(opensm_head) - strlen("guid ");
    if (!guid || !nw_ib_guid(guid + strlen("guid "), &value))
        return nw_fail(NW_EFORMAT, "%s:%d: the head of a table has no guid",
                       reader->tables->file, reader->line);
    snprintf(id, sizeof id, "S-%016llx", (unsigned long long)value);
    reader->node = nw_ib_find(reader->subnet, id);
    if (reader->node < 0)
        return nw_fail(
            NW_EFORMAT, "%s:%d: a table of '%s', which is not a switch of %s",
            reader->tables->file, reader->line, id, reader->subnet->file);
    return NW_OK;
}

/* Reads an entry. ibroute writes "0x0005 001 : (Channel Adapter portguid
 * 0x0000000000100003: 'n1 HCA-1')"; OpenSM writes "0x0005 : 001 : 02 : yes" or
 * "0x0005 : UNREACHABLE". The destination is found by its guid if the line has
 * one, otherwise by its lid. Ignores an unreachable destination, and one that
 * is not a port of a host. */
static nw_status take_entry(struct forwarding_tables_reader *reader, char *line)
{
    struct nw_ib_tables *tables = reader->tables;
    const char *guid = strstr(line, "portguid ");
    char *end, *word;
    unsigned long lid = strtoul(line, &word, 16), out;
    uint64_t value = 0;
    size_t port;
    nw_status status;

    word += strspn(word, " \t:");
    if (!strncmp(word, "UNREACHABLE", 11))
        return NW_OK;
    out = strtoul(word, &end, 10);
    if (lid > 65535 || end == word || out > 255 ||
        (*end && !strchr(" \t\r", *end)))
        return nw_fail(NW_EFORMAT,
                       "%s:%d: expected a lid and a port, such as 0x0005 001",
                       tables->file, reader->line);
    if (reader->node < 0)
        return nw_fail(NW_EFORMAT, "%s:%d: an entry before any switch",
                       tables->file, reader->line);
    if (guid && !nw_ib_guid(guid + strlen("portguid "), &value))
        return nw_fail(NW_EFORMAT, "%s:%d: the port's guid is invalid",
                       tables->file, reader->line);
    port =
        guid ? find_port(reader, value, true) : find_port(reader, lid, false);
    if (port == (size_t)-1)
        return NW_OK; /* the lid belongs to a switch, or to an adapter that
                         is not a host */
    status = nw_grow(&tables->entry, &tables->capacity, tables->count + 1,
                     sizeof *tables->entry);
    if (!status)
        tables->entry[tables->count++] = (struct nw_ib_entry){
            reader->node, (int32_t)out, port, reader->line};
    return status;
}

static nw_status
forwarding_tables_take_line(struct forwarding_tables_reader *reader, char *line)
{
    line += strspn(line, " \t\r");
    if (!strncmp(line, "Unicast lids", 12) ||
        !strncmp(line, opensm_head, strlen(opensm_head)))
        return take_head(reader, line);
    if (!strncmp(line, "0x", 2))
        return take_entry(reader, line);
    if (!*line || *line == '#' || nw_ib_is_warning(line) ||
        !strncmp(line, "Lid", 3) || !strncmp(line, "LID", 3) ||
        !strncmp(line, "Port", 4) || strstr(line, "lids dumped"))
        return NW_OK;
    return nw_fail(NW_EFORMAT, "%s:%d: not a line of a forwarding table",
                   reader->tables->file, reader->line);
}

nw_status nw_ib_read_tables(const struct nw_ib_subnet *subnet, const char *file,
                            struct nw_ib_tables *tables)
{
    struct forwarding_tables_reader reader = {
        .subnet = subnet, .tables = tables, .node = -1};
    char *text = NULL, *next, *line;
    size_t length;
    nw_status status = nw_file_read_text(file, &text, &length);

    tables->is_dump = true;
    if (!status)
        status = index_ports(&reader);
    next = text;
    while (!status && (line = strsep(&next, "\n"))) {
        reader.line++;
        status = forwarding_tables_take_line(&reader, line);
    }
    if (!status && !tables->count)
        status = nw_fail(NW_EFORMAT,
                         "%s:1: no entry for any adapter of the fabric", file);
    free(reader.by_guid);
    free(reader.by_lid);
    free(text);
    return status;
}

/* Sets (*column_of)[p] to the topology's port that corresponds to port p of the
 * subnet; -1 if port p does not belong to a host. The caller frees the array.
 */
static nw_status find_columns(const struct nw_ib_subnet *subnet,
                              const struct nw_fabric *fabric,
                              int32_t **column_of)
{
    const nw_topology *topology = fabric->topology;
    nw_status status =
        nw_alloc(subnet->port_count, sizeof **column_of, column_of);

    if (status)
        return status;
    for (size_t p = 0; p < subnet->port_count; p++)
        (*column_of)[p] = -1;
    for (size_t h = 0; h < fabric->host_count; h++)
        for (int32_t c = 0; c < fabric->host[h].count; c++)
            (*column_of)[fabric->card[fabric->host[h].first + c].origin] =
                topology->port_first[h] + c;
    return NW_OK;
}

/* Sets *link to the link of an entry's port; -1 if the port leads to an adapter
 * or to the switch itself. Fails if the port has no cable. */
static nw_status forwarding_tables_link_of(const struct nw_ib_subnet *subnet,
                                           const struct nw_ib_tables *tables,
                                           const struct nw_ib_entry *entry,
                                           int32_t *link)
{
    const struct nw_ib_port *port = nw_ib_port(subnet, entry->node, entry->out);

    *link = port ? port->link : -1;
    if (!port && entry->out)
        return nw_fail(NW_EFORMAT, "%s:%d: port %d of '%s' has no cable",
                       tables->file, entry->line, entry->out,
                       subnet->node[entry->node].id);
    return NW_OK;
}

static nw_status forwarding_tables_fill(const struct nw_ib_subnet *subnet,
                                        const struct nw_ib_tables *tables,
                                        const int32_t *column_of,
                                        size_t columns, int32_t *via)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < tables->count; i++) {
        const struct nw_ib_entry *entry = &tables->entry[i];
        size_t s = (size_t)subnet->node[entry->node].number;
        int32_t column = column_of[entry->port], link;

        status = forwarding_tables_link_of(subnet, tables, entry, &link);
        if (!status && column >= 0)
            via[s * columns + (size_t)column] = link;
    }
    return status;
}

/* Replaces each NO_ENTRY by -1, which stands for the shortest path. Adds a note
 * if there are any and the tables are a dump, since an interrupted dump lacks
 * entries. */
static void forwarding_tables_note_missing(const struct nw_ib_tables *tables,
                                           nw_topology *topology, size_t size,
                                           int32_t *via)
{
    size_t missing = 0;

    for (size_t i = 0; i < size; i++)
        if (via[i] == NO_ENTRY) {
            via[i] = -1;
            missing++;
        }
    if (missing && tables->is_dump)
        nw_text_format(&topology->notes,
                       "%s lacks %zu of %zu entr%s for the adapters of hosts: "
                       "their routes are assumed to be shortest paths\n",
                       tables->file, missing, size,
                       nw_by_count((uint64_t)size, "y", "ies"));
}

nw_status nw_ib_set_tables(const struct nw_ib_subnet *subnet,
                           const struct nw_ib_tables *tables,
                           const struct nw_fabric *fabric)
{
    struct nw_network *network = fabric->topology->network;
    struct nw_graph_ports ports = {0};
    int32_t *column_of = NULL, *via = NULL;
    size_t size;
    nw_status status = nw_graph_copy_ports(fabric->topology, &ports);

    size = (size_t)network->switch_count * ports.count;
    if (!status && size > MAX_TABLE)
        status = nw_fail(NW_EFORMAT, "%s:1: tables of more than 2^28 entries",
                         tables->file);
    if (!status)
        status = find_columns(subnet, fabric, &column_of);
    if (!status)
        status = nw_alloc(size, sizeof *via, &via);
    if (!status) {
        for (size_t i = 0; i < size; i++)
            via[i] = NO_ENTRY;
        status =
            forwarding_tables_fill(subnet, tables, column_of, ports.count, via);
        forwarding_tables_note_missing(tables, fabric->topology, size, via);
    }
    free(column_of);
    if (status) {
        free(ports.first);
        free(ports.at);
        free(via);
        return status;
    }
    return nw_fabric_blame(tables->file,
                           nw_graph_set_tables(network, &ports, via));
}
