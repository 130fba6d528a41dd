/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the output of ibnetdiscover: a block for each switch, adapter and
 * router, with a line for each port that has a cable. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/infiniband/ibnet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct parse_reader {
    struct nw_ib_subnet *subnet;
    int line;
    uint64_t system; /* system guid of the next block */
};

static nw_status parse_bad(const struct parse_reader *reader, const char *what)
{
    return nw_fail(NW_EFORMAT, "%s:%d: %s", reader->subnet->file, reader->line,
                   what);
}

double nw_ib_rate(const char *word)
{
    /* Gbit/s of a lane after line encoding */
    static const struct {
        const char *name;
        double rate;
    } speeds[] = {{"SDR", 2},    {"DDR", 4},     {"QDR", 8},
                  {"FDR10", 10}, {"FDR", 13.64}, {"EDR", 25},
                  {"HDR", 50},   {"NDR", 100},   {"XDR", 200}};
    char *end;
    long width = strtol(word, &end, 10);

    if (width < 1 || width > 12 || *end != 'x')
        return 0;
    for (size_t i = 0; i < sizeof speeds / sizeof *speeds; i++)
        if (!strcmp(end + 1, speeds[i].name))
            return (double)width * speeds[i].rate * 1e9 / 8;
    return 0;
}

const char *nw_ib_guid(const char *text, uint64_t *guid)
{
    size_t length;

    if (!strncmp(text, "0x", 2))
        text += 2;
    length = strspn(text, "0123456789abcdefABCDEF");
    if (!length || length > 16 || isalnum((unsigned char)text[length]))
        return NULL;
    *guid = strtoull(text, NULL, 16);
    return text + length;
}

bool nw_ib_is_warning(const char *line)
{
    size_t word = strcspn(line, " \t\n");
    const char *source = memmem(line, word, ".c:", 3);

    return !strncmp(line, "ibwarn:", 7) || !strncmp(line, "***", 3) ||
           (source && line[word - 1] == ';');
}

nw_status nw_ib_keep_id(struct nw_ib_subnet *subnet, const char *id,
                        const char **out)
{
    struct nw_hostlist *made = &subnet->made;
    nw_status status = nw_grow(&made->name, &made->capacity, made->count + 1,
                               sizeof *made->name);

    if (!status)
        status = nw_strdup(id, &made->name[made->count]);
    if (!status)
        *out = made->name[made->count++];
    return status;
}

/* Returns the text between the next pair of quotes and moves *at past it.
 * Returns NULL if no pair of quotes follows. */
static char *take_quoted(char **at)
{
    char *start = strchr(*at, '"'), *end;

    end = start ? strchr(start + 1, '"') : NULL;
    if (!end)
        return NULL;
    *end = '\0';
    *at = end + 1;
    return start + 1;
}

/* Returns the number after `word` in `text`, or -1 if `text` has no such
 * number. */
static int32_t number_after(const char *text, const char *word)
{
    const char *found = strstr(text, word);
    int32_t value = -1;
    char digits[16];
    size_t length;

    if (!found)
        return -1;
    found += strlen(word);
    length = strspn(found, "0123456789");
    if (!length || length >= sizeof digits)
        return -1;
    memcpy(digits, found, length);
    digits[length] = '\0';
    return nw_parse_i32(digits, &value) ? value : -1;
}

static bool is_id(const char *id)
{
    return (*id == 'S' || *id == 'H' || *id == 'R') && id[1] == '-' &&
           strlen(id) == 18 && strspn(id + 2, "0123456789abcdef") == 16;
}

/* Returns true if the line has a number of ports before the quoted name. The
 * number itself is not used, because adapters inside switches add ports. */
static bool counts_ports(const char *rest)
{
    size_t digits;

    rest += strspn(rest, " \t");
    digits = strspn(rest, "0123456789");
    return digits > 0 && digits < 6 &&
           rest[digits + strspn(rest + digits, " \t")] == '"';
}

static nw_status parse_add_node(struct parse_reader *reader, char *rest)
{
    struct nw_ib_subnet *subnet = reader->subnet;
    bool counted = counts_ports(rest);
    char *id = take_quoted(&rest);
    char *text = id ? strchr(rest, '#') : NULL;
    nw_status status;

    if (!id || !is_id(id))
        return parse_bad(reader,
                         "no name such as \"S-0008f10500200b50\" of a switch "
                         "or adapter");
    if (!counted)
        return parse_bad(reader, "no number of ports before the name");
    text = text ? take_quoted(&text) : NULL;
    status = nw_grow(&subnet->node, &subnet->node_capacity,
                     subnet->node_count + 1, sizeof *subnet->node);
    if (status)
        return status;
    subnet->node[subnet->node_count++] = (struct nw_ib_node){
        .kind = *id,
        .id = id,
        .text = text ? text : id + strlen(id),
        .guid = strtoull(id + 2, NULL, 16),
        .system = reader->system,
        .line = reader->line,
        .first = subnet->port_count,
        .lid = text ? number_after(text + strlen(text) + 1, "lid ") : -1,
        .number = -1,
    };
    reader->system = 0;
    return NW_OK;
}

/* Reads a port such as "[15]", and the texts in brackets that follow it, and
 * moves *at past them. A text in round brackets is the port's guid. Returns
 * false if the text is invalid. */
static bool take_port(char **at, int32_t *number, uint64_t *guid)
{
    char *end;
    long value;

    *at += strspn(*at, " \t");
    if (**at != '[')
        return false;
    value = strtol(*at + 1, &end, 10);
    if (end == *at + 1 || *end != ']' || value < 0 || value > 65535)
        return false;
    *number = (int32_t)value;
    *at = end + 1;
    while (**at == '(' || !strncmp(*at, "[ext", 4)) {
        end = strchr(*at, **at == '(' ? ')' : ']');
        if (!end)
            return false;
        if (**at == '(' && nw_ib_guid(*at + 1, guid) != end)
            return false;
        *at = end + 1;
    }
    return true;
}

/* Returns the bandwidth in bytes/s of the last word that is a rate, such as
 * 4xQDR in "... lid 4 4xQDR". Returns 0 if no word is a rate. */
static double last_rate(const char *comment)
{
    double rate = 0;
    char word[24];

    while (*(comment += strspn(comment, " \t"))) {
        size_t length = strcspn(comment, " \t");

        if (length < sizeof word) {
            memcpy(word, comment, length);
            word[length] = '\0';
            if (nw_ib_rate(word) > 0)
                rate = nw_ib_rate(word);
        }
        comment += length;
    }
    return rate;
}

static nw_status parse_add_port(struct parse_reader *reader, char *at)
{
    struct nw_ib_subnet *subnet = reader->subnet;
    struct nw_ib_port port = {.line = reader->line, .lid = -1, .link = -1};
    uint64_t far = 0;
    char *comment;

    if (!subnet->node_count)
        return parse_bad(reader, "a port before any switch or adapter");
    if (!take_port(&at, &port.number, &port.guid))
        return parse_bad(reader, "a port looks like [1] or [1](8f10500200b51)");
    port.peer = take_quoted(&at);
    if (!port.peer || !is_id(port.peer) ||
        !take_port(&at, &port.peer_number, &far))
        return parse_bad(reader, "a port leads to a name like "
                                 "\"S-0008f10500200b50\"[15]");
    comment = strchr(at, '#');
    if (comment) {
        port.rate = last_rate(comment);
        /* a lid after the first quoted name is not that of the port */
        if (comment[strcspn(comment, "l\"")] == 'l')
            port.lid = number_after(comment, "lid ");
    }
    port.node = (int32_t)subnet->node_count - 1;
    return nw_ib_add_port(subnet, &port);
}

/* Returns true for lines about the chassis, which ibnetdiscover -g writes. They
 * have no cables. */
static bool is_about_chassis(const char *line)
{
    static const char *const words[] = {"Chassis",     "Spine", "Line",
                                        "Non-Chassis", "DevId", "-"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strncmp(line, words[i], strlen(words[i])))
            return true;
    return false;
}

static nw_status parse_take_line(struct parse_reader *reader, char *line)
{
    static const char *const heads[] = {"Switch", "Ca", "Rt"};
    char *value;

    line += strspn(line, " \t\r");
    if (!*line || *line == '#' || nw_ib_is_warning(line))
        return NW_OK;
    if (*line == '[')
        return parse_add_port(reader, line);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++) {
        size_t length = strlen(heads[i]);

        if (!strncmp(line, heads[i], length) && strchr(" \t", line[length]))
            return parse_add_node(reader, line + length);
    }
    value = strchr(line, '=');
    if (value && !strncmp(line, "sysimgguid", 10) &&
        !nw_ib_guid(value + 1, &reader->system))
        return parse_bad(reader, "a guid has 1 to 16 hexadecimal digits");
    if ((value && line[strcspn(line, " \t=")] == '=') || is_about_chassis(line))
        return NW_OK;
    return parse_bad(reader, "not a line of ibnetdiscover");
}

nw_status nw_ib_parse(struct nw_ib_subnet *subnet, char *text)
{
    struct parse_reader reader = {.subnet = subnet};
    nw_status status = NW_OK;

    while (!status && text && *text) {
        char *end = strchr(text, '\n');

        reader.line++;
        if (end)
            *end = '\0';
        text[strcspn(text, "\r")] = '\0';
        status = parse_take_line(&reader, text);
        text = end ? end + 1 : NULL;
    }
    if (!status && !subnet->node_count)
        status = nw_fail(NW_EFORMAT,
                         "%s:1: no switch and no adapter: not what "
                         "ibnetdiscover writes",
                         subnet->file);
    return status;
}

void nw_ib_fini(struct nw_ib_subnet *subnet)
{
    free(subnet->node);
    free(subnet->port);
    free(subnet->by_id);
    nw_hostlist_fini(&subnet->made);
}
