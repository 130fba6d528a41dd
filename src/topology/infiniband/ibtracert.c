/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads recorded output of ibtracert, that is, paths from adapter to adapter.
 * The devices on the paths become the subnet, and the paths become its routes.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/infiniband/ibnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HOPS 64

/* One end of a cable: a port of a node, and the port at the other end. */
struct ibtracert_cable {
    int32_t node, number, peer, peer_number;
    int line;
};

struct hop {
    /* a switch, and the port by which the path leaves it */
    int32_t node, out;
};

/* The state of the reader. */
struct ibtracert_reader {
    struct nw_ib_subnet *subnet;
    struct nw_ib_tables *tables;
    int line;
    int32_t *by_guid; /* nodes, sorted by guid */
    size_t guid_capacity;
    struct ibtracert_cable *cable;
    size_t cable_count, cable_capacity;
    /* the current path */
    struct hop hop[MAX_HOPS];
    int hop_count;
    int32_t at, out, in; /* node reached so far, and the ports at the near and
                            far end of the last cable */
};

bool nw_ib_is_trace(const char *text)
{
    text += strspn(text, " \t\r\n");
    while (*text == '#' || nw_ib_is_warning(text)) {
        text += strcspn(text, "\n");
        text += strspn(text, " \t\r\n");
    }
    return !strncmp(text, "From ", 5);
}

static nw_status ibtracert_bad(const struct ibtracert_reader *reader,
                               const char *what)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s", reader->subnet->file, reader->line,
                   what);
}

static nw_status ibtracert_add_node(struct ibtracert_reader *reader, char kind,
                                    uint64_t guid, char *text)
{
    struct nw_ib_subnet *subnet = reader->subnet;
    const char *copy;
    char id[24];
    nw_status status;

    snprintf(id, sizeof id, "%c-%016llx", kind, (unsigned long long)guid);
    status = nw_ib_keep_id(subnet, id, &copy);
    if (status)
        return status;
    status = nw_grow(&subnet->node, &subnet->node_capacity,
                     subnet->node_count + 1, sizeof *subnet->node);
    if (!status)
        subnet->node[subnet->node_count++] =
            (struct nw_ib_node){.kind = kind,
                                .id = copy,
                                .text = text,
                                .guid = guid,
                                .line = reader->line,
                                .lid = -1,
                                .number = -1};
    return status;
}

static nw_status ibtracert_find_node(struct ibtracert_reader *reader, char kind,
                                     uint64_t guid, char *text)
{
    struct nw_ib_subnet *subnet = reader->subnet;
    size_t low = 0, high = subnet->node_count;
    nw_status status;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (subnet->node[reader->by_guid[middle]].guid < guid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < subnet->node_count &&
        subnet->node[reader->by_guid[low]].guid == guid) {
        reader->at = reader->by_guid[low];
        return subnet->node[reader->at].kind == kind
                   ? NW_OK
                   : ibtracert_bad(reader,
                                   "a switch and an adapter have one guid");
    }
    status = nw_grow(&reader->by_guid, &reader->guid_capacity,
                     subnet->node_count + 1, sizeof *reader->by_guid);
    if (!status)
        status = ibtracert_add_node(reader, kind, guid, text);
    if (status)
        return status;
    memmove(reader->by_guid + low + 1, reader->by_guid + low,
            (subnet->node_count - 1 - low) * sizeof *reader->by_guid);
    reader->by_guid[low] = (int32_t)subnet->node_count - 1;
    reader->at = reader->by_guid[low];
    return NW_OK;
}

static nw_status add_cable(struct ibtracert_reader *reader, int32_t from)
{
    struct ibtracert_cable ends[2] = {
        {from, reader->out, reader->at, reader->in, reader->line},
        {reader->at, reader->in, from, reader->out, reader->line}};
    nw_status status = nw_grow(&reader->cable, &reader->cable_capacity,
                               reader->cable_count + 2, sizeof *reader->cable);

    for (int i = 0; !status && i < 2; i++)
        reader->cable[reader->cable_count++] = ends[i];
    return status;
}

/* Reads the guid and the description of a line such as "... ca {0x..} ... "n1
 * HCA-1"". */
static nw_status ibtracert_take_end(struct ibtracert_reader *reader, char *line,
                                    char **text, uint64_t *guid)
{
    char *brace = strchr(line, '{'), *quote = strchr(line, '"'), *end;

    end = quote ? strrchr(quote + 1, '"') : NULL;
    if (!brace || !end || !nw_ib_guid(brace + 1, guid))
        return ibtracert_bad(reader,
                             "expected {guid} and a description in quotes");
    *end = '\0';
    *text = quote + 1;
    return NW_OK;
}

/* Returns the kind of the node whose type begins at `type`, such as
 * "switch {0x..} ...". */
static char ibtracert_kind(const char *type)
{
    return strncmp(type, "switch ", 7) ? 'H' : 'S';
}

static nw_status take_start(struct ibtracert_reader *reader, char *line)
{
    uint64_t guid;
    char *text;
    nw_status status = ibtracert_take_end(reader, line, &text, &guid);

    reader->hop_count = 0;
    reader->out = -1;
    return status ? status
                  : ibtracert_find_node(reader,
                                        ibtracert_kind(line + strlen("From ")),
                                        guid, text);
}

/* Reads the last line of a path. Adds a table entry for each switch of the
 * path: the port that leads to the adapter at the path's end. */
static nw_status take_finish(struct ibtracert_reader *reader, char *line)
{
    struct nw_ib_tables *tables = reader->tables;
    int32_t from = reader->at;
    uint64_t guid;
    char *text;
    nw_status status = ibtracert_take_end(reader, line, &text, &guid);

    if (!status && (from < 0 || reader->out < 0))
        status = ibtracert_bad(reader, "a route without a start or a hop");
    if (!status)
        status = ibtracert_find_node(
            reader, ibtracert_kind(line + strlen("To ")), guid, text);
    if (!status && reader->at != from)
        status = add_cable(reader, from);
    for (int i = 0; !status && i < reader->hop_count; i++) {
        status = nw_grow(&tables->entry, &tables->capacity, tables->count + 1,
                         sizeof *tables->entry);
        if (!status) /* node and port number for now; nw_ib_find_trace_ports
                        replaces them by the port */
            tables->entry[tables->count++] = (struct nw_ib_entry){
                reader->hop[i].node, reader->hop[i].out,
                ((size_t)reader->at << 16) | (size_t)reader->in, reader->line};
    }
    reader->at = -1;
    return status;
}

static nw_status take_hop(struct ibtracert_reader *reader, char *line)
{
    char *bracket = strstr(line, "}["), *text;
    int32_t from = reader->at;
    uint64_t guid;
    nw_status status;
    int out, in, type = 0;

    if (from < 0)
        return ibtracert_bad(reader, "a hop before any start");
    if (sscanf(line, "[%6d] -> %n", &out, &type) != 1 || !type || out < 0 ||
        out > 255 || !bracket || sscanf(bracket, "}[%6d]", &in) != 1 ||
        in < 0 || in > 255)
        return ibtracert_bad(reader,
                             "a hop looks like [1] -> switch port {0x..}[12]");
    if (reader->hop_count == MAX_HOPS)
        return ibtracert_bad(reader, "a route of more than 64 hops");
    if (reader->subnet->node[from].kind == 'S')
        reader->hop[reader->hop_count++] = (struct hop){from, out};
    reader->out = out;
    reader->in = in;
    if (ibtracert_kind(line + type) != 'S')
        return NW_OK; /* the last line of the path names the adapter */
    status = ibtracert_take_end(reader, line, &text, &guid);
    if (!status)
        status = ibtracert_find_node(reader, 'S', guid, text);
    return status ? status : add_cable(reader, from);
}

static nw_status ibtracert_take_line(struct ibtracert_reader *reader,
                                     char *line)
{
    line += strspn(line, " \t\r");
    if (!*line || *line == '#' || nw_ib_is_warning(line))
        return NW_OK;
    if (!strncmp(line, "From ", 5))
        return take_start(reader, line);
    if (!strncmp(line, "To ", 3))
        return take_finish(reader, line);
    if (*line == '[')
        return take_hop(reader, line);
    return ibtracert_bad(reader, "not a line of ibtracert");
}

static int by_port(const void *a, const void *b)
{
    const struct ibtracert_cable *x = a, *y = b;

    if (x->node != y->node)
        return x->node - y->node;
    if (x->number != y->number)
        return x->number - y->number;
    return x->line - y->line;
}

static nw_status ibtracert_add_port(struct nw_ib_subnet *subnet,
                                    const struct ibtracert_cable *cable)
{
    nw_status status = nw_grow(&subnet->port, &subnet->port_capacity,
                               subnet->port_count + 1, sizeof *subnet->port);

    if (status)
        return status;
    if (!subnet->node[cable->node].count++)
        subnet->node[cable->node].first = subnet->port_count;
    subnet->port[subnet->port_count++] =
        (struct nw_ib_port){.number = cable->number,
                            .peer_number = cable->peer_number,
                            .peer = subnet->node[cable->peer].id,
                            .node = cable->node,
                            .lid = -1,
                            .line = cable->line,
                            .link = -1};
    return NW_OK;
}

/* Adds the ports of both ends of each cable, without duplicates. Fails if two
 * paths disagree about the other end of a port's cable. */
static nw_status make_ports(struct ibtracert_reader *reader)
{
    const struct ibtracert_cable *last = NULL;
    nw_status status = NW_OK;

    if (reader->cable_count)
        qsort(reader->cable, reader->cable_count, sizeof *reader->cable,
              by_port);
    for (size_t i = 0; !status && i < reader->cable_count; i++) {
        const struct ibtracert_cable *cable = &reader->cable[i];
        bool same =
            last && last->node == cable->node && last->number == cable->number;

        reader->line = cable->line;
        if (!same)
            status = ibtracert_add_port(reader->subnet, cable);
        else if (last->peer != cable->peer ||
                 last->peer_number != cable->peer_number)
            status = ibtracert_bad(reader, "this port led elsewhere before");
        last = cable;
    }
    return status;
}

nw_status nw_ib_parse_traces(struct nw_ib_subnet *subnet, char *text,
                             struct nw_ib_tables *tables)
{
    struct ibtracert_reader reader = {
        .subnet = subnet, .tables = tables, .at = -1, .out = -1};
    nw_status status = NW_OK;
    char *line;

    while (!status && (line = strsep(&text, "\n"))) {
        reader.line++;
        status = ibtracert_take_line(&reader, line);
    }
    if (!status && reader.at >= 0)
        status = ibtracert_bad(&reader, "the file ends inside a route");
    if (!status)
        status = make_ports(&reader);
    free(reader.by_guid);
    free(reader.cable);
    return status;
}

nw_status nw_ib_find_trace_ports(const struct nw_ib_subnet *subnet,
                                 struct nw_ib_tables *tables)
{
    for (size_t i = 0; i < tables->count; i++) {
        struct nw_ib_entry *entry = &tables->entry[i];
        const struct nw_ib_port *port =
            nw_ib_port(subnet, (int32_t)(entry->port >> 16),
                       (int32_t)(entry->port & 0xffff));

        if (!port)
            return nw_fail(NW_EFORMAT,
                           "%s:%d: the route ends at a port without a cable",
                           subnet->file, entry->line);
        entry->port = (size_t)(port - subnet->port);
    }
    return NW_OK;
}
