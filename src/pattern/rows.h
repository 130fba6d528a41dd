/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads the bodies of the two formats of large patterns directly into rows, on
 * several threads. Each function returns false without a message if the text is
 * not plain (chunks.h) or has an error, such as edges out of order. The
 * line-by-line reader then reads the text again or reports the error.
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

/* One line per vertex: first `numbers` numbers of its own, of which number
 * `kept` is the weight if the pattern stores weights. Then neighbours from 1 in
 * any order, with or without weights; each edge is on both lines. The pattern's
 * arrays of ranks and edges exist; each edge gets 1 message. */
struct nw_vertex_lines {
    uint64_t numbers, kept;
    bool weighted;
};
bool nw_rows_of_vertices(const struct nw_body *body,
                         const struct nw_vertex_lines *lines,
                         nw_pattern *pattern);

#endif
