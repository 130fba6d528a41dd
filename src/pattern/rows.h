/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the edges of the two formats for large patterns directly into the
 * pattern's arrays, on several threads. Each function returns false without a
 * message if the text is not plain (chunks.h), has an error, such as edges out
 * of order, or if memory runs out. The caller's line-by-line reader then reads
 * the text again, and reports an error if there is one.
 */
#ifndef NW_PATTERN_ROWS_H
#define NW_PATTERN_ROWS_H

#include <nodewise/pattern.h>

/* The lines to read. */
struct nw_body {
    const char *begin, *end; /* begin is the start of a line */
    int32_t threads;
};

/* Reads pattern->edge_count lines "src dst kind bytes messages". All arrays of
 * the pattern must exist. True on success. */
bool nw_rows_of_edges(const struct nw_body *body, nw_pattern *pattern);

/* Describes the lines of a METIS graph, one line per vertex. A line begins with
 * `numbers` numbers about the vertex; number `kept` of them (from 0) is the
 * vertex weight if the pattern stores weights. The neighbours follow, numbered
 * from 1, in any order; each has an edge weight if `weighted` is set. Each edge
 * is on the lines of both ends. */
struct nw_vertex_lines {
    uint64_t numbers, kept;
    bool weighted;
};
/* Reads the lines of a METIS graph. The pattern's arrays of ranks and edges
 * must exist; each edge gets 1 message. True on success. */
bool nw_rows_of_vertices(const struct nw_body *body,
                         const struct nw_vertex_lines *lines,
                         nw_pattern *pattern);

#endif
