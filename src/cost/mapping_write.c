/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the mapping format of nodewise-formats(5), and lists of element
 * numbers. Large files are written in pieces, which several threads make. */
#include <nodewise/mapping.h>

#include "cost/mapping_file.h"

#include "base/parallel.h"
#include "base/chunked_file.h"
#include "base/status.h"
#include "base/text.h"

#include <string.h>

#define PIECE 4096 /* ranks of a piece */

/* Appends indexes such as "3-4,8" in their order, with ranges for ascending
 * runs. */
static void mapping_write_add_set(struct nw_text *text, struct nw_ints set)
{
    for (size_t i = 0; i < set.count;) {
        size_t last = i;

        while (last + 1 < set.count &&
               set.values[last + 1] == set.values[last] + 1)
            last++;
        if (i)
            nw_text_add(text, ",");
        nw_text_add_number(text, set.values[i]);
        if (last > i) {
            nw_text_add(text, "-");
            nw_text_add_number(text, set.values[last]);
        }
        i = last + 1;
    }
}

static void mapping_write_add_rank(struct nw_text *text,
                                   const nw_mapping *mapping, int32_t r)
{
    struct nw_ints cores = nw_mapping_cores(mapping, r);
    struct nw_ints gpus = nw_mapping_gpus(mapping, r);

    nw_text_add_number(text, r);
    nw_text_add(text, " ");
    nw_text_add(text, mapping->node[r] < 0
                          ? "*"
                          : mapping->node_name[mapping->node[r]]);
    nw_text_add(text, " ");
    if (!cores.count)
        nw_text_add(text, "*");
    else
        mapping_write_add_set(text, cores);
    nw_text_add(text, " ");
    if (!gpus.count)
        nw_text_add(text, "-");
    else if (gpus.values[0] == -2)
        nw_text_add(text, "*");
    else {
        if (mapping->gpu_node && mapping->gpu_node[r] != mapping->node[r])
            nw_text_format(text,
                           "%s:", mapping->node_name[mapping->gpu_node[r]]);
        mapping_write_add_set(text, gpus);
    }
    if (mapping->nic && mapping->nic[r] >= 0)
        nw_text_format(text, " %d", mapping->nic[r]);
    nw_text_add(text, "\n");
}

/* Appends a rank that has one core and nothing else, and returns true. Returns
 * false for any other rank. Nearly all ranks of large files are of this kind,
 * and the files are then written in a third of the time. */
static bool add_plain_rank(struct nw_text *text, const nw_mapping *mapping,
                           int32_t r)
{
    struct nw_ints cores = nw_mapping_cores(mapping, r);
    struct nw_ints gpus = nw_mapping_gpus(mapping, r);
    char line[128], *at;
    const char *name;
    size_t length;

    if (mapping->node[r] < 0 || cores.count != 1 || gpus.count ||
        (mapping->nic && mapping->nic[r] >= 0))
        return false;
    name = mapping->node_name[mapping->node[r]];
    length = strlen(name);
    if (length > 64)
        return false;
    at = nw_put_u64(line, (uint64_t)r);
    *at++ = ' ';
    memcpy(at, name, length);
    at += length;
    *at++ = ' ';
    at = nw_put_u64(at, (uint64_t)cores.values[0]);
    memcpy(at, " -\n", 3);
    nw_text_add_bytes(text, line, (size_t)(at + 3 - line));
    return true;
}

struct listing {
    const nw_mapping *mapping;
    const nw_topology *topology;
};

static int32_t mapping_write_end_of(const nw_mapping *mapping, int32_t piece)
{
    int64_t end = ((int64_t)piece + 1) * PIECE;

    return end < mapping->rank_count ? (int32_t)end : mapping->rank_count;
}

static nw_status write_pieces(const struct listing *listing, const char *path,
                              void (*make)(const void *, int32_t,
                                           struct nw_text *),
                              int32_t threads)
{
    int32_t count = (listing->mapping->rank_count + PIECE - 1) / PIECE;

    return nw_chunked_file_write(
        path, &(struct nw_file_chunks){count, make, listing}, threads);
}

static void make_ranks(const void *user, int32_t piece, struct nw_text *text)
{
    const struct listing *listing = user;
    const nw_mapping *mapping = listing->mapping;
    int32_t end = mapping_write_end_of(mapping, piece);

    if (!piece)
        nw_text_format(text, "nodewise mapping 1\nranks %d\n",
                       mapping->rank_count);
    for (int32_t r = piece * PIECE; r < end; r++)
        if (!add_plain_rank(text, mapping, r))
            mapping_write_add_rank(text, mapping, r);
}

nw_status nw_mapping_write_by(const nw_mapping *mapping, const char *path,
                              int32_t threads)
{
    return write_pieces(&(struct listing){mapping, NULL}, path, make_ranks,
                        nw_parallel_size(threads));
}

nw_status nw_mapping_text(const nw_mapping *mapping, char **out)
{
    struct listing listing = {mapping, NULL};
    struct nw_text text = {0};

    for (int32_t piece = 0; piece <= mapping->rank_count / PIECE; piece++)
        make_ranks(&listing, piece, &text);
    return nw_text_take(&text, out);
}

nw_status nw_mapping_write(const nw_mapping *mapping, const char *path)
{
    return nw_mapping_write_by(mapping, path, 1);
}

static void make_elements(const void *user, int32_t piece, struct nw_text *text)
{
    const struct listing *listing = user;
    const nw_mapping *mapping = listing->mapping;
    int32_t end = mapping_write_end_of(mapping, piece);

    for (int32_t r = piece * PIECE; r < end; r++) {
        int32_t node = mapping->node[r];

        nw_text_add_number(
            text, nw_topology_node_elements(listing->topology, node).first +
                      nw_mapping_cores(mapping, r).values[0]);
        nw_text_add(text, "\n");
    }
}

nw_status nw_mapping_write_elements(const nw_mapping *mapping,
                                    const nw_topology *topology,
                                    const char *path)
{
    for (int32_t r = 0; r < mapping->rank_count; r++) {
        struct nw_ints cores = nw_mapping_cores(mapping, r);

        if (mapping->node[r] < 0 || !cores.count)
            return nw_fail(NW_EINVAL, "rank %d has no core yet", r);
    }
    return write_pieces(&(struct listing){mapping, topology}, path,
                        make_elements, 1);
}
