/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bodies of the two formats that large patterns come in, straight into
 * rows, on several threads. Each is false where the text is not plain
 * (chunks.h) or not right in any way, edges out of order included: then nothing
 * is said, and the reader line by line reads it again or says what is wrong.
 */
#ifndef NW_PATTERN_ROWS_H
#define NW_PATTERN_ROWS_H

#include <nodewise/pattern.h>

struct nw_body {
    const char *begin, *end; /* from the beginning of a line */
    int32_t threads;
};

/* Lines "src dst kind bytes messages", the pattern's edge_count of them; all
 * arrays are there. */
bool nw_rows_of_edges(const struct nw_body *body, nw_pattern *pattern);

/* A line a vertex: so many numbers of its own, the one numbered `kept` to be
 * its weight where the pattern has room for weights; then neighbours from 1, in
 * any order, with weights or without, each edge on both lines. The pattern has
 * the arrays of its ranks and its edges; its messages are 1 each. */
struct nw_vertex_lines {
    uint64_t numbers, kept;
    bool weighted;
};
bool nw_rows_of_vertices(const struct nw_body *body,
                         const struct nw_vertex_lines *lines,
                         nw_pattern *pattern);

#endif
