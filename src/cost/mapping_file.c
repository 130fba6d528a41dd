/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the mapping format of nodewise-formats(5). It has one line for each
 * rank, `rank node cores gpus [nic]`, with `*` for open fields. */
#include <nodewise/mapping.h>

#include "base/array.h"
#include "base/file.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/mapping_file.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#define MAX_INDEX 1000000000
#define MAX_LIST 1000001 /* most cores or GPUs of a rank */

/* The state of the reader. */
struct reader {
    struct nw_lines lines;
    const nw_topology *topology;
    nw_mapping *mapping;
    size_t core_count, core_capacity;
    size_t gpu_count, gpu_capacity;
    size_t name_capacity;
    struct hsearch_data names; /* finds the index of a node name; used only
                                  if `topology` is NULL */
};

/* Appends the indexes of a word such as "3-4,8" to a growing array. count[0] is
 * the number of its values, count[1] its capacity. */
static nw_status add_indexes(struct reader *reader, char *word,
                             int32_t **values, size_t count[2])
{
    size_t first = count[0];
    char *item;

    while ((item = strsep(&word, ","))) {
        char *last = strchr(item, '-');
        int32_t from, to;
        nw_status status;

        if (last)
            *last++ = '\0';
        if (!nw_parse_i32(item, &from) || from < 0 || from > MAX_INDEX)
            return nw_lines_fail(
                &reader->lines,
                "'%s%s%s' is not a core or GPU number such as 3 or 0-5", item,
                last ? "-" : "", last ? last : "");
        to = from;
        if (last && (!nw_parse_i32(last, &to) || to < from || to > MAX_INDEX ||
                     to - from >= MAX_LIST))
            return nw_lines_fail(&reader->lines, "'%s-%s' is not a range", item,
                                 last);
        if (count[0] - first + (size_t)(to - from) >= MAX_LIST)
            return nw_lines_fail(&reader->lines,
                                 "more than %d cores or GPUs for one rank",
                                 MAX_LIST);
        status = nw_grow(values, &count[1], count[0] + (size_t)(to - from) + 1,
                         sizeof **values);
        if (status)
            return status;
        while (from <= to)
            (*values)[count[0]++] = from++;
    }
    return NW_OK;
}

/* Returns an error if a value occurs twice. It sorts a copy, because the order
 * of GPUs matters. */
static nw_status check_doubles(struct reader *reader, const char *what,
                               const int32_t *values, size_t count)
{
    int32_t *sorted;
    nw_status status;

    if (count < 2)
        return NW_OK;
    status = nw_alloc(count, sizeof *sorted, &sorted);
    if (status)
        return status;
    memcpy(sorted, values, count * sizeof *sorted);
    qsort(sorted, count, sizeof *sorted, nw_compare_int32);
    for (size_t i = 1; !status && i < count; i++)
        if (sorted[i] == sorted[i - 1])
            status = nw_lines_fail(&reader->lines, "%s %d is named twice", what,
                                   sorted[i]);
    free(sorted);
    return status;
}

static nw_status check_set(struct reader *reader, const char *what,
                           const int32_t *values, size_t count, int32_t limit)
{
    for (size_t i = 0; i < count; i++)
        if (limit >= 0 && values[i] >= limit)
            return nw_lines_fail(&reader->lines,
                                 "%s %d: the node has %ss 0 to %d", what,
                                 values[i], what, limit - 1);
    return check_doubles(reader, what, values, count);
}

/* Reads the cores of a rank. An open field ('*') is kept as the one value
 * -1. */
static nw_status mapping_file_read_cores(struct reader *reader, char *word,
                                         int32_t node)
{
    nw_mapping *mapping = reader->mapping;
    size_t count[2] = {reader->core_count, reader->core_capacity};
    size_t first = reader->core_count;
    int32_t limit = -1;
    nw_status status;

    if (!strcmp(word, "*")) {
        status = nw_grow(&mapping->core, &reader->core_capacity, first + 1,
                         sizeof *mapping->core);
        if (!status)
            mapping->core[reader->core_count++] = -1;
        return status;
    }
    if (node < 0)
        return nw_lines_fail(&reader->lines,
                             "cores need a node, but the node is open ('*')");
    if (reader->topology)
        limit = nw_topology_node_elements(reader->topology, node).count;
    status = add_indexes(reader, word, &mapping->core, count);
    reader->core_count = count[0];
    reader->core_capacity = count[1];
    if (!status)
        status = check_set(reader, "core", mapping->core + first,
                           reader->core_count - first, limit);
    return status;
}

static nw_status mapping_file_add_name(struct reader *reader, const char *word,
                                       int32_t *node)
{
    nw_mapping *mapping = reader->mapping;
    size_t index = (size_t)mapping->node_count;
    ENTRY *found, entry;
    nw_status status;

    entry.key = (char *)(uintptr_t)word;
    if (hsearch_r(entry, FIND, &found, &reader->names)) {
        *node = (int32_t)(intptr_t)found->data;
        return NW_OK;
    }
    status = nw_grow(&mapping->node_name, &reader->name_capacity, index + 1,
                     sizeof *mapping->node_name);
    if (!status)
        status = nw_strdup(word, &mapping->node_name[index]);
    if (status)
        return status;
    mapping->node_count++;
    entry.key = mapping->node_name[index];
    entry.data = (void *)(intptr_t)index;
    if (!hsearch_r(entry, ENTER, &found, &reader->names))
        return nw_fail(NW_ENOMEM, "out of memory for node names");
    *node = (int32_t)index;
    return NW_OK;
}

static nw_status read_node(struct reader *reader, const char *word,
                           int32_t *node)
{
    *node = -1;
    if (!strcmp(word, "*"))
        return NW_OK;
    if (!reader->topology)
        return mapping_file_add_name(reader, word, node);
    *node = nw_topology_node_find(reader->topology, word);
    if (*node < 0)
        return nw_lines_fail(&reader->lines,
                             "node '%s' is not in the topology %s", word,
                             nw_topology_name(reader->topology));
    return NW_OK;
}

/* If the word names GPUs of another node, as "NODE:0,1", stores this node and
 * cuts its name off the word. Otherwise *node is unchanged. */
static nw_status read_gpu_node(struct reader *reader, char **word,
                               int32_t *node)
{
    char *colon = strrchr(*word, ':');
    nw_status status;

    if (!colon)
        return NW_OK;
    *colon = '\0';
    status = read_node(reader, *word, node);
    *word = colon + 1;
    return status;
}

static nw_status read_gpus(struct reader *reader, char *word, int32_t node)
{
    nw_mapping *mapping = reader->mapping;
    size_t count[2] = {reader->gpu_count, reader->gpu_capacity};
    size_t first = reader->gpu_count;
    int32_t limit = -1;
    bool none = !strcmp(word, "-");
    nw_status status;

    if (none || !strcmp(word, "*")) {
        status = nw_grow(&mapping->gpu, &reader->gpu_capacity, first + 1,
                         sizeof *mapping->gpu);
        if (!status)
            mapping->gpu[reader->gpu_count++] = none ? -1 : -2;
        return status;
    }
    if (node < 0)
        return nw_lines_fail(&reader->lines,
                             "GPUs need a node, but the node is open ('*')");
    if (reader->topology)
        limit = nw_topology_node_gpus(reader->topology, node).count;
    status = add_indexes(reader, word, &mapping->gpu, count);
    reader->gpu_count = count[0];
    reader->gpu_capacity = count[1];
    if (!status && limit == 0)
        return nw_lines_fail(&reader->lines, "node '%s' has no GPUs",
                             mapping->node_name[node]);
    if (!status)
        status = check_set(reader, "GPU", mapping->gpu + first,
                           reader->gpu_count - first, limit);
    return status;
}

static nw_status read_nic(struct reader *reader, const char *word, int32_t node,
                          int32_t *nic)
{
    int32_t limit = MAX_INDEX;

    *nic = -1;
    if (!word || !strcmp(word, "*"))
        return NW_OK;
    if (node < 0)
        return nw_lines_fail(
            &reader->lines,
            "a network card needs a node, but the node is open ('*')");
    if (reader->topology)
        limit = nw_topology_node_nic_count(reader->topology, node);
    if (!nw_parse_i32(word, nic) || *nic < 0 || *nic >= limit)
        return nw_lines_fail(&reader->lines,
                             "invalid network card '%s': not on this node",
                             word);
    return NW_OK;
}

static nw_status mapping_file_read_rank(struct reader *reader, char *line,
                                        int32_t rank)
{
    nw_mapping *mapping = reader->mapping;
    char *word[6] = {NULL};
    int32_t number, node;
    nw_status status;

    for (int i = 0; i < 6 && (word[i] = nw_word_next(&line)); i++)
        ;
    if (!word[3] || word[5])
        return nw_lines_fail(&reader->lines,
                             "expected 'rank node cores gpus [nic]'");
    if (!nw_parse_i32(word[0], &number) || number != rank)
        return nw_lines_fail(&reader->lines, "expected rank %d, not '%s'", rank,
                             word[0]);
    status = read_node(reader, word[1], &node);
    if (!status)
        status = mapping_file_read_cores(reader, word[2], node);
    mapping->gpu_node[rank] = node;
    if (!status)
        status = read_gpu_node(reader, &word[3], &mapping->gpu_node[rank]);
    if (!status)
        status = read_gpus(reader, word[3], mapping->gpu_node[rank]);
    if (!status)
        status = read_nic(reader, word[4], node, &mapping->nic[rank]);
    mapping->node[rank] = node;
    mapping->core_row[rank + 1] = reader->core_count;
    mapping->gpu_row[rank + 1] = reader->gpu_count;
    return status;
}

static nw_status mapping_file_read_head(struct reader *reader, size_t length,
                                        int32_t *ranks)
{
    char *line = nw_lines_next(&reader->lines), *word;

    if (!line || strcmp(line, "nodewise mapping 1")) {
        if (line && !strncmp(line, "nodewise mapping ", 17))
            return nw_lines_fail(
                &reader->lines,
                "unknown mapping version '%.20s'; this program reads version 1",
                line + 17);
        if (line && !strncmp(line, "rank ", 5))
            return nw_lines_fail(&reader->lines,
                                 "this is a rankfile; nodewise map --from FILE "
                                 "--steps 0 makes a mapping of it");
        return nw_lines_fail(&reader->lines, "expected 'nodewise mapping 1'");
    }
    line = nw_lines_next(&reader->lines);
    word = line ? nw_word_next(&line) : NULL;
    if (!word || strcmp(word, "ranks") || !(word = nw_word_next(&line)) ||
        !nw_parse_i32(word, ranks) || *ranks < 1 || nw_word_next(&line))
        return nw_lines_fail(&reader->lines, "expected 'ranks N', N from 1");
    if ((size_t)*ranks > length / 8 + 1) /* a line has 8 characters or more */
        return nw_lines_fail(&reader->lines,
                             "the file is too short for the lines of %d rank%s",
                             *ranks, nw_plural((uint64_t)*ranks));
    return NW_OK;
}

static nw_status alloc_rows(nw_mapping *mapping, int32_t ranks)
{
    size_t n = (size_t)ranks;
    nw_status status = nw_alloc(n, sizeof *mapping->node, &mapping->node);

    mapping->rank_count = ranks;
    if (!status)
        status = nw_alloc(n, sizeof *mapping->gpu_node, &mapping->gpu_node);
    if (!status)
        status = nw_alloc(n, sizeof *mapping->nic, &mapping->nic);
    if (!status)
        status = nw_alloc(n + 1, sizeof *mapping->core_row, &mapping->core_row);
    if (!status)
        status = nw_alloc(n + 1, sizeof *mapping->gpu_row, &mapping->gpu_row);
    return status;
}

/* Removes the arrays that the mapping does not need: core_row if every rank has
 * one core, gpu_row if every rank has at most one GPU, gpu_node without remote
 * GPUs, and nic without NICs. */
static void mapping_file_simplify(nw_mapping *mapping)
{
    size_t n = (size_t)mapping->rank_count;
    bool has_nic = false, has_remote = false;

    for (size_t r = 0; r < n; r++) {
        has_nic = has_nic || mapping->nic[r] >= 0;
        has_remote = has_remote || mapping->gpu_node[r] != mapping->node[r];
    }
    if (!has_remote) {
        free(mapping->gpu_node);
        mapping->gpu_node = NULL;
    }
    if (!has_nic) {
        free(mapping->nic);
        mapping->nic = NULL;
    }
    if (mapping->core_row[n] == n) {
        free(mapping->core_row);
        mapping->core_row = NULL;
    }
    if (mapping->gpu_row[n] == n) {
        free(mapping->gpu_row);
        mapping->gpu_row = NULL;
    }
}

static nw_status copy_names(nw_mapping *mapping, const nw_topology *topology)
{
    int32_t count = nw_topology_node_count(topology);
    nw_status status = nw_alloc((size_t)count, sizeof *mapping->node_name,
                                &mapping->node_name);

    for (int32_t n = 0; !status && n < count; n++) {
        status = nw_strdup(nw_topology_node_name(topology, n),
                           &mapping->node_name[n]);
        mapping->node_count = n + 1;
    }
    return status;
}

static nw_status mapping_file_read_body(struct reader *reader, int32_t ranks)
{
    nw_status status = alloc_rows(reader->mapping, ranks);
    char *line;

    if (!status && reader->topology)
        status = copy_names(reader->mapping, reader->topology);
    else if (!status && !hcreate_r((size_t)ranks * 2 + 16, &reader->names))
        status = nw_fail(NW_ENOMEM, "out of memory for node names");
    for (int32_t r = 0; !status && r < ranks; r++) {
        line = nw_lines_next(&reader->lines);
        status = line ? mapping_file_read_rank(reader, line, r)
                      : nw_lines_fail(&reader->lines,
                                      "the file ends before rank %d of %d", r,
                                      ranks);
    }
    if (!status && nw_lines_next(&reader->lines))
        status = nw_lines_fail(&reader->lines, "more than %d rank%s", ranks,
                               nw_plural((uint64_t)ranks));
    return status;
}

nw_status nw_mapping_parse(const char *path, char *data, size_t length,
                           const nw_topology *topology, nw_mapping **out)
{
    struct reader reader = {.topology = topology};
    int32_t ranks;
    nw_status status;

    nw_lines_init(&reader.lines, path, data);
    status = nw_alloc(1, sizeof *reader.mapping, &reader.mapping);
    if (!status)
        status = mapping_file_read_head(&reader, length, &ranks);
    if (!status)
        status = mapping_file_read_body(&reader, ranks);
    hdestroy_r(&reader.names);
    if (status) {
        nw_mapping_free(reader.mapping);
        return status;
    }
    mapping_file_simplify(reader.mapping);
    *out = reader.mapping;
    return NW_OK;
}

nw_status nw_mapping_read(const char *path, const nw_topology *topology,
                          nw_mapping **out)
{
    size_t length;
    char *data;
    nw_status status = nw_file_read_text(path, &data, &length);

    if (status)
        return status;
    status = nw_mapping_parse(path, data, length, topology, out);
    free(data);
    return status;
}
