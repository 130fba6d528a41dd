/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads and writes METIS graphs: "n m [fmt [ncon]]", then a line per vertex
 * with its neighbours, numbered from 1. Each edge is on the lines of both ends
 * and so counts in both directions. Plain graphs are read on several threads
 * (rows.h); this file reads all others, and reports errors. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "pattern/format.h"
#include "pattern/rows.h"

#include <stdlib.h>

/* The state of the reader. */
struct metis {
    struct nw_scan scan;
    uint64_t vertices, edges;
    /* how many vertex sizes and weights begin each line */
    uint64_t sizes, weights;
    uint64_t *weight; /* [vertices] the first weight of each vertex; or NULL */
    bool weighted;    /* edges have weights */
    nw_pattern_builder *builder;
};

/* Returns the number of words that must follow a header with these numbers;
 * SIZE_MAX if the header is invalid. */
static size_t body_words(const size_t *number, size_t count)
{
    size_t format = count > 2 ? number[2] : 0;
    size_t weights = format / 10 % 10 ? (count > 3 ? number[3] : 1) : 0;
    size_t limit = (size_t)1 << 31;

    if (format > 111 || format % 10 > 1 || format / 10 % 10 > 1 ||
        number[0] > limit || number[1] > limit || weights > 1000)
        return SIZE_MAX;
    return 2 * number[1] * (1 + format % 10) +
           number[0] * (weights + format / 100);
}

bool nw_fits_metis(const struct nw_shape *shape)
{
    return shape->numeric && shape->number_count >= 2 &&
           shape->number_count == shape->first_words && shape->number[0] &&
           shape->later_lines >= shape->number[0] &&
           shape->later_filled <= shape->number[0] &&
           body_words(shape->number, shape->number_count) ==
               shape->words - shape->first_words;
}

/* Advances to the next line that is not a comment; the line may be blank. */
static bool next_line(struct nw_scan *scan)
{
    while (nw_scan_next_line(scan))
        if (*scan->at != '%')
            return true;
    return false;
}

static nw_status read_header(struct metis *in, size_t length)
{
    struct nw_scan *scan = &in->scan;
    uint64_t format = 0, weights = 1;
    nw_status status;

    do
        if (!next_line(scan))
            return nw_scan_fail(scan, "expected 'vertices edges [format]'");
    while (nw_scan_is_done(scan));
    if (!nw_scan_u64(scan, &in->vertices))
        return nw_scan_expected(scan, "a number of vertices");
    if (!nw_scan_u64(scan, &in->edges))
        return nw_scan_expected(scan, "a number of edges");
    if (!nw_scan_is_done(scan) &&
        (!nw_scan_u64(scan, &format) || format > 111 || format % 10 > 1 ||
         format / 10 % 10 > 1))
        return nw_scan_expected(scan, "a format of three digits 0 or 1");
    if (!nw_scan_is_done(scan) &&
        (!nw_scan_u64(scan, &weights) || !weights || weights > 1000))
        return nw_scan_expected(scan, "a number of weights from 1 to 1000");
    if (!nw_scan_is_done(scan))
        return nw_scan_expected(scan, "the end of the line");
    status = nw_check_rank_count(scan, length, in->vertices);
    in->weighted = format % 10;
    in->sizes = format / 100;
    in->weights = format / 10 % 10 ? weights : 0;
    if (!status && in->weights)
        status = nw_alloc(in->vertices, sizeof *in->weight, &in->weight);
    return status;
}

static nw_status read_neighbour(struct metis *in, int32_t vertex)
{
    struct nw_scan *scan = &in->scan;
    uint64_t to, weight = 1;

    if (!nw_scan_u64(scan, &to))
        return nw_scan_expected(scan, "a vertex");
    if (!to || to > in->vertices)
        return nw_scan_fail(scan, "vertex %llu is outside 1 to %llu",
                            (unsigned long long)to,
                            (unsigned long long)in->vertices);
    if (to == (uint64_t)vertex + 1)
        return nw_scan_fail(scan, "vertex %llu is its own neighbour",
                            (unsigned long long)to);
    if (in->weighted && !nw_scan_u64(scan, &weight))
        return nw_scan_expected(scan, "the weight of an edge");
    if (!weight)
        return nw_scan_fail(scan,
                            "the weight of an edge is 0, it is at least 1");
    return nw_pattern_builder_add(in->builder, vertex, (int32_t)to - 1,
                                  NW_KIND_HH, weight, (uint64_t)scan->line);
}

static nw_status read_vertex(struct metis *in, int32_t vertex)
{
    nw_status status = NW_OK;
    uint64_t number;

    if (!next_line(&in->scan))
        return nw_scan_fail(&in->scan, "the file ends after %d of %llu vert%s",
                            vertex, (unsigned long long)in->vertices,
                            nw_by_count((uint64_t)in->vertices, "ex", "ices"));
    for (uint64_t i = 0; i < in->sizes + in->weights; i++) {
        if (!nw_scan_u64(&in->scan, &number))
            return nw_scan_expected(&in->scan, "the weight of a vertex");
        if (i == in->sizes)
            in->weight[vertex] = number;
    }
    while (!status && !nw_scan_is_done(&in->scan))
        status = read_neighbour(in, vertex);
    return status;
}

static nw_status read_vertices(struct metis *in)
{
    nw_status status = NW_OK;

    for (uint64_t v = 0; !status && v < in->vertices; v++)
        status = read_vertex(in, (int32_t)v);
    while (!status && next_line(&in->scan))
        if (!nw_scan_is_done(&in->scan))
            status =
                nw_scan_fail(&in->scan, "more than %llu vert%s",
                             (unsigned long long)in->vertices,
                             nw_by_count((uint64_t)in->vertices, "ex", "ices"));
    return status;
}

/* Checks that each edge is on the lines of both its ends, with equal bytes. The
 * error names the line of the edge, so `messages` must still hold the line
 * numbers. Also checks the number of edges in the header. */
static nw_status check_both_ways(const struct metis *in, const nw_pattern *p)
{
    for (int32_t v = 0; v < p->rank_count; v++)
        for (size_t e = p->row[v]; e < p->row[v + 1]; e++) {
            size_t back = nw_pattern_find(p, p->dst[e], v);

            if (back == SIZE_MAX || p->bytes[back] != p->bytes[e])
                return nw_fail(NW_EFORMAT,
                               "%s:%llu: edge %d - %d is %s on the line of "
                               "vertex %d",
                               in->scan.file,
                               (unsigned long long)p->messages[e], v + 1,
                               p->dst[e] + 1,
                               back == SIZE_MAX ? "missing" : "another weight",
                               p->dst[e] + 1);
        }
    if (p->edge_count != 2 * in->edges)
        return nw_fail(NW_EFORMAT, "%s:1: %zu edge%s, the header says %llu",
                       in->scan.file, p->edge_count / 2,
                       nw_plural((uint64_t)(p->edge_count / 2)),
                       (unsigned long long)in->edges);
    return NW_OK;
}

static nw_status read_lines(struct metis *in, nw_pattern **out)
{
    nw_pattern *pattern = NULL;
    nw_status status =
        nw_pattern_builder_new((int32_t)in->vertices, &in->builder);

    if (!status)
        status = read_vertices(in);
    if (!status)
        status = nw_build_lines(in->builder, in->scan.file, &pattern);
    if (!status)
        status = check_both_ways(in, pattern);
    nw_pattern_builder_free(in->builder);
    if (status) {
        nw_pattern_free(pattern);
        return status;
    }
    nw_pattern_one_message(pattern);
    *out = pattern;
    return NW_OK;
}

/* Reads the edges with rows.h. *out is NULL if the text is not plain or has an
 * error. */
static nw_status metis_read_rows(const struct metis *in, int32_t threads,
                                 nw_pattern **out)
{
    struct nw_body body = {in->scan.next, in->scan.end, threads};
    struct nw_vertex_lines lines = {in->sizes + in->weights, in->sizes,
                                    in->weighted};
    nw_pattern *pattern = NULL;
    nw_status status = NW_OK;
    bool plain = false;

    *out = NULL;
    if (in->edges <= (size_t)(body.end - body.begin)) {
        status = nw_pattern_new((int32_t)in->vertices, 2 * (size_t)in->edges,
                                &pattern);
        if (status)
            return status;
        pattern->weight = in->weight;
        plain = nw_rows_of_vertices(&body, &lines, pattern);
        pattern->weight = NULL;
    }
    if (plain)
        *out = pattern;
    else
        nw_pattern_free(pattern);
    return NW_OK;
}

nw_status nw_metis_read(const struct nw_pattern_text *text, nw_pattern **out)
{
    struct metis in = {0};
    nw_pattern *pattern = NULL;
    nw_status status;

    nw_scan_init(&in.scan, text->file, text->data, text->length);
    in.scan.comment = '%';
    status = read_header(&in, text->length);
    if (!status)
        status = metis_read_rows(&in, text->threads, &pattern);
    if (!status && !pattern)
        status = read_lines(&in, &pattern);
    if (status) {
        free(in.weight);
        return status;
    }
    pattern->weight = in.weight;
    *out = pattern;
    return NW_OK;
}

/* Adds up the bytes of all kinds from src to dst. */
static nw_status bytes_between(const nw_pattern *p, int32_t src, int32_t dst,
                               uint64_t *bytes)
{
    size_t e = nw_pattern_find(p, src, dst);

    *bytes = 0;
    return e == SIZE_MAX ? NW_OK : nw_pair_next(p, src, &e, bytes);
}

/* Appends the line of vertex v, and adds the number of its edges to *edges. An
 * edge needs a positive weight, so edges without bytes are left out.
 * NW_EUNSUPPORTED: v has an edge to itself, or both directions of an edge
 * differ. */
static nw_status render_vertex(const nw_pattern *p, int32_t v,
                               struct nw_text *out, size_t *edges)
{
    nw_status status = NW_OK;
    size_t before = *edges;

    for (size_t e = p->row[v]; !status && e < p->row[v + 1];) {
        char words[48], *at = words;
        int32_t to = p->dst[e];
        uint64_t bytes, back;

        status = nw_pair_next(p, v, &e, &bytes);
        if (!status)
            status = bytes_between(p, to, v, &back);
        if (!status && (to == v || bytes != back))
            return nw_fail(NW_EUNSUPPORTED,
                           "a METIS graph has one weight for both directions "
                           "and no edge to itself, unlike ranks %d and %d: "
                           "write mm or list",
                           v, to);
        if (status || !bytes)
            continue;
        *at = ' ';
        at = nw_put_u64(at + (*edges > before), (uint64_t)to + 1);
        *at++ = ' ';
        at = nw_put_u64(at, bytes);
        nw_text_add_bytes(out, words, (size_t)(at - words));
        ++*edges;
    }
    nw_text_add(out, "\n");
    return status;
}

nw_status nw_metis_render(const nw_pattern *p, struct nw_text *out)
{
    struct nw_text body = {0};
    size_t edges = 0;
    nw_status status = NW_OK;

    for (int32_t v = 0; !status && v < p->rank_count; v++)
        status = render_vertex(p, v, &body, &edges);
    nw_text_format(out, "%d %zu 1\n", p->rank_count, edges / 2);
    if (body.length)
        nw_text_add_bytes(out, body.data, body.length);
    out->failed |= body.failed;
    nw_text_fini(&body);
    return status;
}
