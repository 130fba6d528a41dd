/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads plain lines of METIS graphs in parallel; see rows.h. */
#include "pattern/rows.h"
#include "base/array.h"
#include "base/parallel.h"
#include "pattern/chunks.h"
#include "pattern/format.h"

#include <stdlib.h>

/* The reading of all chunks; done[i] is true if chunk i was read without an
 * error. */
struct rows_vertices_work {
    const struct nw_chunks *chunks;
    const struct nw_vertex_lines *lines;
    nw_pattern *pattern;
    size_t first_edge[NW_CHUNKS_MOST + 1];
    bool done[NW_CHUNKS_MOST];
    /* [chunk] edges whose destination is greater than the source */
    size_t later[NW_CHUNKS_MOST];
};

static void pass_blanks(const char **at)
{
    while (**at == ' ')
        ++*at;
}

static bool take_own(const struct rows_vertices_work *work, const char **at,
                     size_t vertex)
{
    uint64_t number;

    for (uint64_t i = 0; i < work->lines->numbers; i++) {
        pass_blanks(at);
        if (!nw_take_number(at, &number))
            return false;
        if (work->pattern->weight && i == work->lines->kept)
            work->pattern->weight[vertex] = number;
    }
    return true;
}

static bool take_neighbour(const struct rows_vertices_work *work,
                           const char **at, size_t vertex, size_t e)
{
    nw_pattern *p = work->pattern;
    uint64_t to;

    if (!nw_take_number(at, &to) || !to || to > (uint64_t)p->rank_count ||
        to == vertex + 1)
        return false;
    p->dst[e] = (int32_t)(to - 1);
    p->kind[e] = NW_KIND_HH;
    p->bytes[e] = p->messages[e] = 1;
    if (!work->lines->weighted)
        return true;
    pass_blanks(at);
    return nw_take_number(at, &p->bytes[e]) && p->bytes[e];
}

#define SHORT 32 /* up to this many edges: insertion sort */

static void sort_short(nw_pattern *p, size_t first, size_t end)
{
    for (size_t i = first + 1; i < end; i++) {
        int32_t dst = p->dst[i];
        uint64_t bytes = p->bytes[i];
        size_t at = i;

        for (; at > first && p->dst[at - 1] > dst; at--) {
            p->dst[at] = p->dst[at - 1];
            p->bytes[at] = p->bytes[at - 1];
        }
        p->dst[at] = dst;
        p->bytes[at] = bytes;
    }
}

struct edge {
    int32_t dst;
    uint64_t bytes;
};

static int by_dst(const void *left, const void *right)
{
    const struct edge *a = left, *b = right;

    return (a->dst > b->dst) - (a->dst < b->dst);
}

/* Sorts a long row with temporary memory. Returns false if memory runs out. */
static bool sort_long(nw_pattern *p, size_t first, size_t end)
{
    size_t count = end - first;
    struct edge *edge = malloc(count * sizeof *edge);

    if (!edge)
        return false;
    for (size_t i = 0; i < count; i++)
        edge[i] = (struct edge){p->dst[first + i], p->bytes[first + i]};
    qsort(edge, count, sizeof *edge, by_dst);
    for (size_t i = 0; i < count; i++) {
        p->dst[first + i] = edge[i].dst;
        p->bytes[first + i] = edge[i].bytes;
    }
    free(edge);
    return true;
}

/* Returns the first edge after `first` whose destination is not larger than the
 * destination of the edge before. Returns `end` if each destination is larger
 * than the one before. */
static size_t next_fall(const nw_pattern *p, size_t first, size_t end)
{
    size_t e = first + 1;

    while (e < end && p->dst[e - 1] < p->dst[e])
        e++;
    return e;
}

/* Sorts the neighbours of a vertex. Returns false if a neighbour occurs twice
 * or memory runs out. */
static bool rows_vertices_sort_row(nw_pattern *p, size_t first, size_t end)
{
    if (next_fall(p, first, end) >= end)
        return true;
    if (end - first <= SHORT)
        sort_short(p, first, end);
    else if (!sort_long(p, first, end))
        return false;
    return next_fall(p, first, end) >= end;
}

static bool rows_vertices_read_chunk(const struct rows_vertices_work *work,
                                     int32_t i)
{
    const struct nw_chunk *chunk = &work->chunks->chunk[i];
    nw_pattern *p = work->pattern;
    size_t vertex = chunk->first_line, e = work->first_edge[i];
    const char *at = chunk->begin;

    for (; at < chunk->end; vertex++) {
        p->row[vertex] = e;
        if (!take_own(work, &at, vertex))
            return false;
        for (pass_blanks(&at); at < chunk->end && *at != '\n'; e++) {
            if (e == work->first_edge[i + 1] ||
                !take_neighbour(work, &at, vertex, e))
                return false;
            pass_blanks(&at);
        }
        if (!rows_vertices_sort_row(p, p->row[vertex], e))
            return false;
        at++;
    }
    return e == work->first_edge[i + 1];
}

static void rows_vertices_read_one(void *user, int32_t i)
{
    struct rows_vertices_work *work = user;

    work->done[i] = rows_vertices_read_chunk(work, i);
}

/* Checks for the edges of a chunk that each edge from a lower to a higher
 * vertex is also on the higher vertex's line with the same weight, and counts
 * these edges. Sets done[i] to false if an edge is not. If they are half of all
 * edges, every edge from a higher to a lower vertex is on both lines too. */
static void check_one(void *user, int32_t i)
{
    struct rows_vertices_work *work = user;
    const struct nw_chunk *chunk = &work->chunks->chunk[i];
    const nw_pattern *p = work->pattern;
    size_t end = chunk->first_line + chunk->lines, later = 0;

    for (size_t v = chunk->first_line; v < end; v++)
        for (size_t e = p->row[v + 1]; e-- > p->row[v];) {
            size_t back;

            if (p->dst[e] < (int32_t)v)
                break;
            later++;
            back = nw_pattern_find(p, p->dst[e], (int32_t)v);
            if (back == SIZE_MAX || p->bytes[back] != p->bytes[e]) {
                work->done[i] = false;
                return;
            }
        }
    work->later[i] = later;
}

static bool all_done(const struct rows_vertices_work *work)
{
    for (int32_t i = 0; i < work->chunks->count; i++)
        if (!work->done[i])
            return false;
    return true;
}

static bool are_both_ways(struct rows_vertices_work *work, int32_t threads)
{
    size_t later = 0;

    nw_parallel_run(check_one, work, work->chunks->count, threads);
    for (int32_t i = 0; i < work->chunks->count; i++)
        later += work->later[i];
    return all_done(work) && 2 * later == work->pattern->edge_count;
}

/* Computes from its number of words how many edges each chunk has. Returns
 * false if a chunk is not plain, or if the numbers of lines or edges differ
 * from those of the pattern. */
static bool rows_vertices_count_edges(struct rows_vertices_work *work)
{
    const struct nw_chunks *chunks = work->chunks;
    size_t words = work->lines->weighted ? 2 : 1, lines = 0;

    for (int32_t i = 0; i < chunks->count; i++) {
        const struct nw_chunk *chunk = &chunks->chunk[i];
        size_t own = chunk->lines * work->lines->numbers;

        if (!chunk->plain || chunk->words < own)
            return false;
        lines += chunk->lines;
        work->first_edge[i + 1] =
            work->first_edge[i] + (chunk->words - own) / words;
    }
    return lines == (size_t)work->pattern->rank_count &&
           work->first_edge[chunks->count] == work->pattern->edge_count;
}

bool nw_rows_of_vertices(const struct nw_body *body,
                         const struct nw_vertex_lines *lines,
                         nw_pattern *pattern)
{
    struct nw_chunks chunks;
    struct rows_vertices_work work = {
        .chunks = &chunks, .lines = lines, .pattern = pattern};

    nw_chunks_cut(&chunks, body->begin, body->end, body->threads);
    if (!rows_vertices_count_edges(&work))
        return false;
    nw_parallel_run(rows_vertices_read_one, &work, chunks.count, body->threads);
    pattern->row[pattern->rank_count] = pattern->edge_count;
    return all_done(&work) && are_both_ways(&work, body->threads);
}
