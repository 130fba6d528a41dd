/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads plain lines of Nodewise's own format in parallel; see rows.h. */
#include "pattern/rows.h"
#include "base/parallel.h"
#include "pattern/chunks.h"

#include <string.h>

/* The reading of all chunks; done[i] is true if chunk i was read without an
 * error. */
struct rows_edges_work {
    const struct nw_chunks *chunks;
    nw_pattern *pattern;
    /* source of each chunk's first and last edge */
    int32_t first[NW_CHUNKS_MOST], last[NW_CHUNKS_MOST];
    bool done[NW_CHUNKS_MOST];
};

static bool take_char(const char **at, char c)
{
    if (**at != c)
        return false;
    ++*at;
    return true;
}

static bool take_rank(const char **at, int32_t ranks, int32_t *out)
{
    uint64_t value;

    if (!nw_take_number(at, &value) || value >= (uint64_t)ranks)
        return false;
    *out = (int32_t)value;
    return take_char(at, ' ');
}

static bool take_kind(const char **at, uint8_t *out)
{
    const char *word = *at;

    if ((word[0] != 'h' && word[0] != 'g') ||
        (word[1] != 'h' && word[1] != 'g') || word[2] != ' ')
        return false;
    if (word[0] == word[1])
        *out = word[0] == 'h' ? NW_KIND_HH : NW_KIND_GG;
    else
        *out = word[0] == 'h' ? NW_KIND_HG : NW_KIND_GH;
    *at += 3;
    return true;
}

static bool take_end(const char **at, const char *end)
{
    return *at == end || take_char(at, '\n');
}

static bool is_after(const nw_pattern *p, size_t e)
{
    return p->dst[e - 1] < p->dst[e] ||
           (p->dst[e - 1] == p->dst[e] && p->kind[e - 1] < p->kind[e]);
}

static bool take_line(const struct nw_chunk *chunk, const char **at,
                      nw_pattern *p, size_t e, int32_t *src)
{
    return take_rank(at, p->rank_count, src) &&
           take_rank(at, p->rank_count, &p->dst[e]) &&
           take_kind(at, &p->kind[e]) && nw_take_number(at, &p->bytes[e]) &&
           take_char(at, ' ') && nw_take_number(at, &p->messages[e]) &&
           take_end(at, chunk->end);
}

/* Reads the edges of chunk i, and sets row[] for all sources of the chunk
 * except the first one, whose edges may begin in an earlier chunk. Returns
 * false if a line is invalid or out of order. */
static bool rows_edges_read_chunk(struct rows_edges_work *work, int32_t i)
{
    const struct nw_chunk *chunk = &work->chunks->chunk[i];
    nw_pattern *p = work->pattern;
    const char *at = chunk->begin;
    size_t e = chunk->first_line;
    int32_t last = -1, src;

    for (; at < chunk->end; e++) {
        if (!take_line(chunk, &at, p, e, &src))
            return false;
        if (last < 0)
            work->first[i] = last = src;
        else if (src < last || (src == last && !is_after(p, e)))
            return false;
        while (last < src)
            p->row[++last] = e;
    }
    work->last[i] = last;
    return true;
}

static void rows_edges_read_one(void *user, int32_t i)
{
    struct rows_edges_work *work = user;

    work->done[i] = rows_edges_read_chunk(work, i);
}

/* Sets row[] for the sources that rows_edges_read_chunk left out. Returns false
 * if a chunk was not read or two chunks are out of order. */
static bool join_chunks(struct rows_edges_work *work)
{
    nw_pattern *p = work->pattern;
    int32_t last = 0;

    p->row[0] = 0;
    for (int32_t i = 0; i < work->chunks->count; i++) {
        size_t e = work->chunks->chunk[i].first_line;

        if (!work->done[i] || work->first[i] < last ||
            (i && work->first[i] == last && !is_after(p, e)))
            return false;
        while (last < work->first[i])
            p->row[++last] = e;
        last = work->last[i];
    }
    while (last < p->rank_count)
        p->row[++last] = p->edge_count;
    return true;
}

bool nw_rows_of_edges(const struct nw_body *body, nw_pattern *pattern)
{
    struct nw_chunks chunks;
    struct rows_edges_work work = {.chunks = &chunks, .pattern = pattern};
    size_t lines = 0;

    nw_chunks_cut_lines(&chunks, body->begin, body->end, body->threads);
    for (int32_t i = 0; i < chunks.count; i++)
        lines += chunks.chunk[i].lines;
    if (lines != pattern->edge_count)
        return false;
    nw_parallel_run(rows_edges_read_one, &work, chunks.count, body->threads);
    return join_chunks(&work);
}
