/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the output of ibnetdiscover -p, which has a line for each port, with
 * both ends of its cable. The lines of a switch's ports are consecutive. Each
 * port of an adapter becomes a node of the subnet. */
#include "base/array.h"
#include "base/status.h"
#include "topology/infiniband/ibnet.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One end of a cable: "SW    16  5 0x000000000020000a". */
struct parse_ports_end {
    char kind; /* 'S', 'H' or 'R', as in nw_ib_node */
    int32_t lid, number;
    uint64_t guid;
};

static char parse_ports_kind_of(const char *word)
{
    static const char *const words[] = {"SW", "CA", "RT"};

    for (int i = 0; i < 3; i++)
        if (!strcmp(word, words[i]))
            return "SHR"[i];
    return '\0';
}

/* Reads one end of a cable. Returns the number of bytes of its text, or 0 if
 * the text is invalid. */
static int parse_ports_read_end(const char *text, struct parse_ports_end *end)
{
    char word[4] = "";
    const char *rest = NULL;
    int length = 0;

    if (sscanf(text, "%3s %6d %6d %n", word, &end->lid, &end->number,
               &length) == 3 &&
        end->lid >= 0 && end->number >= 0 && !strncmp(text + length, "0x", 2))
        rest = nw_ib_guid(text + length, &end->guid);
    end->kind = parse_ports_kind_of(word);
    return rest && end->kind ? (int)(rest - text) : 0;
}

bool nw_ib_is_ports(const char *text)
{
    struct parse_ports_end end;

    while (*text == '#' || *text == '\n' || nw_ib_is_warning(text)) {
        text += strcspn(text, "\n");
        text += *text == '\n';
    }
    return parse_ports_read_end(text, &end);
}

static nw_status parse_ports_bad(const struct nw_ib_subnet *subnet, int line)
{
    return nw_fail(NW_EFORMAT, "%s:%d: not a line of ibnetdiscover -p",
                   subnet->file, line);
}

static nw_status make_id(struct nw_ib_subnet *subnet,
                         const struct parse_ports_end *end, const char **out)
{
    char id[24];

    snprintf(id, sizeof id, "%c-%016llx", end->kind,
             (unsigned long long)end->guid);
    return nw_ib_keep_id(subnet, id, out);
}

/* Adds the node of a line, unless the line before has the same node. For an
 * adapter, the line has the guid of the port. Ports of one adapter have
 * consecutive guids, so guid - port number identifies the adapter's system. */
static nw_status parse_ports_take_node(struct nw_ib_subnet *subnet,
                                       const struct parse_ports_end *end,
                                       char *text, int line)
{
    struct nw_ib_node *last =
        subnet->node_count ? &subnet->node[subnet->node_count - 1] : NULL;
    struct nw_ib_node node = {.kind = end->kind,
                              .text = text,
                              .guid = end->guid,
                              .line = line,
                              .first = subnet->port_count,
                              .lid = end->kind == 'H' ? -1 : end->lid,
                              .number = -1};
    nw_status status;

    if (last && last->kind == end->kind && last->guid == end->guid)
        return NW_OK;
    if (end->kind == 'H')
        node.system = end->guid - (uint64_t)end->number;
    status = make_id(subnet, end, &node.id);
    if (!status)
        status = nw_grow(&subnet->node, &subnet->node_capacity,
                         subnet->node_count + 1, sizeof *subnet->node);
    if (!status)
        subnet->node[subnet->node_count++] = node;
    return status;
}

static nw_status parse_ports_add_port(struct nw_ib_subnet *subnet,
                                      const struct parse_ports_end ends[2],
                                      double rate, int line)
{
    struct nw_ib_port port = {.number = ends[0].number,
                              .peer_number = ends[1].number,
                              .node = (int32_t)subnet->node_count - 1,
                              .guid = ends[0].guid,
                              .lid = ends[0].kind == 'H' ? ends[0].lid : -1,
                              .rate = rate,
                              .line = line,
                              .link = -1};
    nw_status status = make_id(subnet, &ends[1], &port.peer);

    return status ? status : nw_ib_add_port(subnet, &port);
}

/* Reads a line such as "CA 23 1 0x15 4x SDR - SW 16 5 0xa ( 'node-10 mlx5_0' -
 * 't22' )". The line of a port without a cable ends before the "-". */
static nw_status parse_ports_take_line(struct nw_ib_subnet *subnet, char *line,
                                       int number)
{
    char width[8], speed[8], word[16], *text, *stop;
    struct parse_ports_end ends[2];
    int length = parse_ports_read_end(line, &ends[0]), more = 0, far;
    nw_status status;

    if (!length ||
        sscanf(line + length, " %7s %7s%n", width, speed, &more) != 2)
        return parse_ports_bad(subnet, number);
    line += length + more;
    line += strspn(line, " \t");
    if (*line != '-')
        return NW_OK;
    far = parse_ports_read_end(line + 1, &ends[1]);
    text = far ? strstr(line + 1 + far, "( '") : NULL;
    stop = text ? strstr(text + 3, "' - '") : NULL;
    if (!stop)
        return parse_ports_bad(subnet, number);
    *stop = '\0';
    snprintf(word, sizeof word, "%s%s", width, speed);
    status = parse_ports_take_node(subnet, &ends[0], text + 3, number);
    return status
               ? status
               : parse_ports_add_port(subnet, ends, nw_ib_rate(word), number);
}

nw_status nw_ib_parse_ports(struct nw_ib_subnet *subnet, char *text)
{
    nw_status status = NW_OK;
    char *line;

    for (int n = 1; !status && (line = strsep(&text, "\n")); n++) {
        line[strcspn(line, "\r")] = '\0';
        if (line[strspn(line, " \t")] && *line != '#' &&
            !nw_ib_is_warning(line))
            status = parse_ports_take_line(subnet, line, n);
    }
    if (!status && !subnet->node_count)
        status = nw_fail(NW_EFORMAT, "%s:1: no port in this file has a cable",
                         subnet->file);
    return status;
}
