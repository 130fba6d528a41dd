/* SPDX-License-Identifier: BSD-3-Clause */
/* Names the switches and hosts of a subnet. The name comes from a map of guids,
 * if the user gives one that has the guid. Otherwise it comes from the node's
 * description, such as "n001 mlx5_0". If the description is that of the
 * manufacturer or has another form, the guid becomes the name. */
#include "base/array.h"
#include "base/file.h"
#include "base/hostlist.h"
#include "base/status.h"
#include "topology/infiniband/ibnet.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* A line of a map: "H-0002c90300080e84 r510gluster1", or in OpenSM's node name
 * map: 0x0002c90300080e84 "r510gluster1 HCA-1". */
struct name_entry {
    uint64_t guid;
    char *name;
    int line;
};

struct map {
    struct name_entry *entry;
    size_t count, capacity;
};

static int by_guid(const void *a, const void *b)
{
    const struct name_entry *x = a, *y = b;

    if (x->guid != y->guid)
        return (x->guid > y->guid) - (x->guid < y->guid);
    return x->line - y->line;
}

static bool parse_guid(const char *word, uint64_t *guid)
{
    if (*word && strchr("SHR", *word) && word[1] == '-')
        word += 2;
    word = nw_ib_guid(word, guid);
    return word && !*word;
}

/* Returns the name without leading blanks and without its quotes. */
static char *name_unquote(char *rest)
{
    size_t length;

    rest += strspn(rest, " \t");
    length = strlen(rest);
    if (length > 1 && *rest == '"' && rest[length - 1] == '"') {
        rest[length - 1] = '\0';
        rest++;
    }
    return rest;
}

static nw_status name_add_entry(struct map *map, const struct nw_lines *lines,
                                char *line)
{
    char *word = nw_word_next(&line), *name = line ? name_unquote(line) : NULL;
    uint64_t guid;
    nw_status status;

    if (!word || !parse_guid(word, &guid) || !name || !*name)
        return nw_lines_fail(lines, "expected a guid and a name, such as "
                                    "0x0002c90300080e84 n001");
    status = nw_grow(&map->entry, &map->capacity, map->count + 1,
                     sizeof *map->entry);
    if (!status)
        map->entry[map->count++] = (struct name_entry){guid, name, lines->line};
    return status;
}

static nw_status name_read_map(const char *file, struct map *map, char **text)
{
    struct nw_lines lines;
    size_t length;
    char *line;
    nw_status status = nw_file_read_text(file, text, &length);

    if (status)
        return status;
    nw_lines_init(&lines, file, *text);
    while (!status && (line = nw_lines_next(&lines)))
        status = name_add_entry(map, &lines, line);
    if (status || !map->count)
        return status;
    qsort(map->entry, map->count, sizeof *map->entry, by_guid);
    for (size_t i = 1; i < map->count; i++)
        if (map->entry[i].guid == map->entry[i - 1].guid)
            return nw_fail(NW_EFORMAT,
                           "%s:%d: this guid has a name in line %d already",
                           file, map->entry[i].line, map->entry[i - 1].line);
    return NW_OK;
}

static char *name_mapped(const struct map *map, uint64_t guid)
{
    struct name_entry wanted = {.guid = guid, .line = 0};
    size_t low = 0, high = map->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (map->entry[middle].guid == wanted.guid)
            return map->entry[middle].name;
        if (map->entry[middle].guid < wanted.guid)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

/* Returns true if the word is the name of a device, such as HCA-1, mlx5_0,
 * hfi1_0 or ibp1s0. In descriptions, it follows the host's name. */
static bool name_is_device(const char *word)
{
    static const char *const begins[] = {"HCA-", "mlx",  "hfi",  "qib", "mthca",
                                         "ib",   "roce", "cxgb", "bnxt"};

    if (!*word || word[strcspn(word, " \t")])
        return false;
    if (!isdigit((unsigned char)word[strlen(word) - 1]))
        return false;
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (!strncmp(word, begins[i], strlen(begins[i])))
            return true;
    return strchr(word, '_');
}

/* Returns true if the description comes from the manufacturer, and so does not
 * name the host. */
static bool is_makers(const char *text)
{
    static const char *const words[] = {
        "Mellanox", "ConnectX", "InfiniHost", "Infiniscale", "Voltaire",
        "QLogic",   "Topspin",  "InfiniPath", "localhost"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(text, words[i]))
            return true;
    return false;
}

/* Splits a description such as "n001 mlx5_0" into the node's name and its
 * device. Changes neither if the text has another form or comes from the
 * manufacturer. */
static void name_by_text(struct nw_ib_node *node, char *text)
{
    size_t length = strcspn(text, " \t");
    char *rest = text + length + strspn(text + length, " \t");
    char end = text[length];

    if (is_makers(text) || (*rest && !name_is_device(rest)))
        return;
    text[length] = '\0';
    if (!nw_host_is_listable(text)) {
        text[length] = end;
        return;
    }
    node->name = text;
    node->device = *rest ? rest : NULL;
}

static bool is_aggregation(const struct nw_ib_node *node)
{
    return strstr(node->text, "Aggregation Node");
}

static void name_host(struct nw_ib_subnet *subnet, struct nw_ib_node *node,
                      const struct map *map)
{
    char *name = name_mapped(map, node->guid);

    for (size_t p = 0; !name && p < node->count; p++)
        name = name_mapped(map, subnet->port[node->first + p].guid);
    name_by_text(node, node->text);
    if (name && strpbrk(name, " \t"))
        name_by_text(node, name);
    else if (name && nw_host_is_listable(name))
        node->name = name;
    if (!node->name)
        node->name = node->id;
}

/* Names a switch by the map, otherwise by its description, otherwise by its
 * guid. A name that several switches share is replaced in part_switches. */
static void infiniband_name_switch(struct nw_ib_node *node,
                                   const struct map *map)
{
    const char *name = name_mapped(map, node->guid);

    if (name && nw_host_is_listable(name))
        node->name = name;
    else if (nw_host_is_listable(node->text) && !is_makers(node->text))
        node->name = node->text;
    else
        node->name = node->id;
}

static int name_compare_names(const void *a, const void *b)
{
    return strcmp((*(struct nw_ib_node *const *)a)->name,
                  (*(struct nw_ib_node *const *)b)->name);
}

/* Replaces a name that several switches share by the guid of each. An example
 * are the parts of one large switch. */
static nw_status part_switches(struct nw_ib_subnet *subnet)
{
    struct nw_ib_node **order;
    size_t count = 0;
    nw_status status = nw_alloc(subnet->node_count, sizeof *order, &order);

    if (status)
        return status;
    for (size_t n = 0; n < subnet->node_count; n++)
        if (subnet->node[n].kind != 'H')
            order[count++] = &subnet->node[n];
    if (count)
        qsort(order, count, sizeof *order, name_compare_names);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1;
             end < count && !strcmp(order[i]->name, order[end]->name); end++)
            ;
        for (size_t k = i; end > i + 1 && k < end; k++)
            order[k]->device = order[k]->id; /* not yet `name`, because the loop
                                                compares names */
    }
    for (size_t i = 0; i < count; i++)
        if (order[i]->device)
            order[i]->name = order[i]->device;
    free(order);
    return NW_OK;
}

nw_status nw_ib_name(struct nw_ib_subnet *subnet, const char *file,
                     char **map_text)
{
    struct map map = {0};
    nw_status status = NW_OK;

    if (file)
        status = name_read_map(file, &map, map_text);
    for (size_t n = 0; !status && n < subnet->node_count; n++) {
        struct nw_ib_node *node = &subnet->node[n];

        if (node->kind != 'H')
            infiniband_name_switch(node, &map);
        else if (!is_aggregation(node))
            name_host(subnet, node, &map);
    }
    if (!status)
        status = part_switches(subnet);
    free(map.entry);
    return status;
}
