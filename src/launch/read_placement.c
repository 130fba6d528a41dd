/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a rankfile of Open MPI, or a list of hosts in the order of ranks, and
 * makes a mapping of it. The mapping has no NICs; its GPUs, and for a list of
 * hosts its cores, are open, which means not yet chosen. Also reads a file in
 * the format of mappings. */
#include "launch/job.h"

#include "base/array.h"
#include "base/file.h"
#include "base/hostfile.h"
#include "base/status.h"
#include "base/text.h"
#include "cost/mapping_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* maximum number of slots in a line */
#define SLOTS_MOST 65536

struct placed_rank {
    int32_t node; /* -1: no line has placed this rank yet */
    char *cores;  /* cores in a rankfile, or NULL; borrowed */
    int line;
};

struct placement {
    struct nw_lines lines;
    const nw_topology *topology;
    struct placed_rank *rank;
    /* ranks_most: maximum number of ranks that a file of this size can contain
     */
    int32_t ranks, ranks_most;
    size_t capacity;
    nw_mapping *mapping;
    size_t core_count, core_capacity;
    bool is_rankfile;
};

static nw_status placement_add(struct placement *placement, int32_t rank,
                               const char *host, char *cores)
{
    int32_t node = nw_topology_node_find(placement->topology, host);
    nw_status status;

    if (node < 0)
        return nw_fail(NW_EFORMAT, "node '%s' is not in the topology %s", host,
                       nw_topology_name(placement->topology));
    status = nw_grow(&placement->rank, &placement->capacity, (size_t)rank + 1,
                     sizeof *placement->rank);
    if (status)
        return status;
    while (placement->ranks <= rank)
        placement->rank[placement->ranks++].node = -1;
    if (placement->rank[rank].node >= 0)
        return nw_fail(NW_EFORMAT, "rank %d is placed twice", rank);
    placement->rank[rank] =
        (struct placed_rank){node, cores, placement->lines.line};
    return NW_OK;
}

/* Reads a line of a rankfile such as "rank 3=a slot=1:0-3,0:2". Version 5 of
 * Open MPI writes this as "1:0-3;0:2", and takes "1:0,1" for two cores of
 * package 1. There may be blanks around '='. */
static nw_status placement_read_rank(struct placement *placement, char *line)
{
    char *number = line + 4, *host = strchr(line, '='), *cores, *word;
    int32_t rank;

    if (!host)
        return nw_fail(NW_EFORMAT, "expected 'rank N=HOST slot=CORES'");
    *host++ = '\0';
    word = nw_word_next(&number);
    if (!word || nw_word_next(&number))
        return nw_fail(NW_EFORMAT, "expected 'rank N=HOST slot=CORES'");
    if (!nw_parse_i32(word, &rank) || rank < 0)
        return nw_fail(NW_EFORMAT, "a rank is a whole number from 0, not '%s'",
                       word);
    if (rank >= placement->ranks_most)
        return nw_fail(NW_EFORMAT,
                       "rank %d, but the file has too few lines for as many "
                       "ranks",
                       rank);
    cores = strchr(host, '=');
    if (cores)
        *cores++ = '\0';
    number = host;
    host = nw_word_next(&number);
    word = nw_word_next(&number);
    cores = cores ? nw_word_next(&cores) : NULL;
    if (!host || !word || !cores ||
        (strcmp(word, "slot") && strcmp(word, "slots")))
        return nw_fail(NW_EFORMAT, "expected 'rank N=HOST slot=CORES'");
    return placement_add(placement, rank, host, cores);
}

/* Places the next ranks, as many as the host has slots (1 if not given), on
 * this host. */
static nw_status placement_add_host(void *user, const char *name, int32_t slots)
{
    struct placement *placement = user;
    nw_status status = NW_OK;

    if (slots > SLOTS_MOST)
        return nw_fail(NW_EFORMAT,
                       "host '%s' has %d slot%s; at most %d are read", name,
                       slots, nw_plural((uint64_t)slots), SLOTS_MOST);
    for (int32_t s = 0; !status && s < (slots ? slots : 1); s++)
        status = placement_add(placement, placement->ranks, name, NULL);
    return status;
}

/* Reads a line of a host list, such as "a", "a:4", "n[1-4]:4" or "a slots=4".
 */
static nw_status placement_read_host(struct placement *placement, char *line)
{
    return nw_hostfile_line(line, placement_add_host, placement);
}

static nw_status placement_read_lines(struct placement *placement)
{
    nw_status status = NW_OK;
    bool first = true;
    char *line;

    while (!status && (line = nw_lines_next(&placement->lines))) {
        bool is_rank =
            !strncmp(line, "rank ", 5) || !strncmp(line, "rank\t", 5);

        if (first)
            placement->is_rankfile = is_rank;
        first = false;
        if (is_rank != placement->is_rankfile)
            return nw_lines_fail(&placement->lines,
                                 "a rankfile and a list of hosts in one file");
        status = is_rank ? placement_read_rank(placement, line)
                         : placement_read_host(placement, line);
        if (status == NW_EFORMAT)
            status = nw_lines_fail(&placement->lines, "%s", nw_error_text());
    }
    if (!status && !placement->ranks)
        status = nw_fail(NW_EFORMAT, "%s: no ranks", placement->lines.file);
    for (int32_t r = 0; !status && r < placement->ranks; r++)
        if (placement->rank[r].node < 0)
            status = nw_fail(NW_EFORMAT, "%s: rank %d of %d is missing",
                             placement->lines.file, r, placement->ranks);
    return status;
}

/* Returns the index, within the node, of the first element (core or hardware
 * thread) of a core. `core` is the core's logical number within the package, or
 * within the node if `package` is -1. Returns -1 if the node has no such core.
 */
static int32_t placement_find_core(const nw_topology *topology, int32_t node,
                                   int32_t package, int32_t core)
{
    struct nw_range elements = nw_topology_node_elements(topology, node);
    int32_t first = package < 0 ? 0 : -1;

    for (int32_t i = 0; i < elements.count; i++) {
        int32_t owner,
            number =
                nw_launch_core_number(topology, elements.first + i, &owner);

        if (package >= 0 && owner != package)
            continue;
        if (first < 0)
            first = number;
        if (number - first == core)
            return i;
    }
    return -1;
}

/* Adds cores such as "1:0-3" (with the package) or "0-3" to the mapping. If its
 * elements are hardware threads, adds the first one of each core. *package is
 * the package of the item before, or -1; an item without a package has the same
 * one. */
static nw_status placement_add_cores(struct placement *placement, int32_t node,
                                     char *item, int32_t *package)
{
    char *colon = strchr(item, ':'), *from = colon ? colon + 1 : item;
    char *to = strchr(from, '-'), prefix[16] = "";
    int32_t first, last;
    nw_status status = NW_OK;

    if (colon)
        *colon = '\0';
    if (to)
        *to++ = '\0';
    if ((colon && (!nw_parse_i32(item, package) || *package < 0)) ||
        !nw_parse_i32(from, &first) || first < 0 ||
        !nw_parse_i32(to ? to : from, &last) || last < first)
        return nw_lines_fail(&placement->lines,
                             "invalid cores: expected 'SOCKET:CORES' or "
                             "'CORES' with CORES like 3 or 0-3");
    if (*package >= 0)
        snprintf(prefix, sizeof prefix, "%d:", *package);
    for (; !status && first <= last; first++) {
        int32_t core =
            placement_find_core(placement->topology, node, *package, first);

        if (core < 0)
            return nw_lines_fail(
                &placement->lines, "node '%s' has no core %s%d",
                nw_topology_node_name(placement->topology, node), prefix,
                first);
        status = nw_grow(&placement->mapping->core, &placement->core_capacity,
                         placement->core_count + 1,
                         sizeof *placement->mapping->core);
        if (!status)
            placement->mapping->core[placement->core_count++] = core;
    }
    return status;
}

static nw_status placement_read_cores(struct placement *placement)
{
    nw_mapping *mapping = placement->mapping;
    nw_status status = nw_alloc((size_t)mapping->rank_count + 1,
                                sizeof *mapping->core_row, &mapping->core_row);

    placement->core_capacity = (size_t)mapping->rank_count;
    for (int32_t r = 0; !status && r < mapping->rank_count; r++) {
        char *part, *item, *rest = placement->rank[r].cores;

        placement->lines.line = placement->rank[r].line;
        while (!status && (part = strsep(&rest, ";"))) {
            int32_t package = -1;

            while (!status && (item = strsep(&part, ",")))
                status = placement_add_cores(placement, placement->rank[r].node,
                                             item, &package);
        }
        mapping->core_row[r + 1] = placement->core_count;
    }
    return status;
}

static nw_status placement_read(struct placement *placement)
{
    nw_status status = placement_read_lines(placement);

    if (!status)
        status = nw_mapping_new(placement->topology, placement->ranks,
                                &placement->mapping);
    for (int32_t r = 0; !status && r < placement->ranks; r++)
        placement->mapping->node[r] = placement->rank[r].node;
    if (!status && placement->is_rankfile)
        status = placement_read_cores(placement);
    return status;
}

nw_status nw_launch_placement_read(const char *path,
                                   const nw_topology *topology,
                                   nw_mapping **out)
{
    struct placement placement = {.topology = topology};
    size_t length;
    char *data;
    nw_status status = nw_file_read_text(path, &data, &length);

    if (status)
        return status;
    if (!strncmp(data, "nodewise mapping", 16)) {
        status = nw_mapping_parse(path, data, length, topology, out);
        free(data);
        return status;
    }
    nw_lines_init(&placement.lines, path, data);
    placement.ranks_most = length < INT32_MAX ? (int32_t)length : INT32_MAX;
    status = placement_read(&placement);
    free(placement.rank);
    free(data);
    if (status)
        nw_mapping_free(placement.mapping);
    else
        *out = placement.mapping;
    return status;
}
