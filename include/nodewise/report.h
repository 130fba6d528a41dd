/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Showing: tables, and later everything a person looks at. Calls build texts
 * in memory; nothing here prints.
 */
#ifndef NODEWISE_REPORT_H
#define NODEWISE_REPORT_H

#include <nodewise/cost.h>
#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A table of words, or a tree whose first column is indented. Filled row by
 * row, cell by cell; a failed allocation is kept and answered by
 * nw_table_text, so that filling needs no checks. */
typedef struct nw_table nw_table;

enum nw_align { NW_ALIGN_LEFT, NW_ALIGN_RIGHT };

NW_API NW_MUST_CHECK nw_status nw_table_new(nw_table **out);
NW_API void nw_table_free(nw_table *table); /* NULL is fine */
/* Columns come before rows. `title` is copied. Where all titles are "" no
 * heading is shown. */
NW_API void nw_table_column(nw_table *table, const char *title,
                            enum nw_align align);
/* Begins a row below row `parent`, -1 for a row of its own; as soon as one row
 * has a parent the first column is drawn as a tree. Returns its number. */
NW_API int32_t nw_table_row(nw_table *table, int32_t parent);
/* The next cell of the row begun last; cells left out are empty. */
NW_API void nw_table_cell(nw_table *table, const char *format, ...)
    NW_PRINTF(2, 3);
/* The whole table, no blanks at line ends, a newline after each line. Widths
 * and tree lines follow the locale's LC_CTYPE: UTF-8 or plain ASCII. Never
 * coloured. The caller frees *out. NW_ENODEV where libsmartcols is missing. */
NW_API NW_MUST_CHECK nw_status nw_table_text(const nw_table *table, char **out);

/* A machine as a tree of words: the network with its nodes, then the inside of
 * one node of each type; things that are alike share a line. The caller frees
 * *out, here and below. */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_tree(const nw_topology *topology, char **out);
/* The whole machine, schema nodewise.topology/1 (nodewise-topology(1)). */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_json(const nw_topology *topology, char **out);

/* The machine as an SVG picture: switches above, nodes as nested boxes below,
 * lines as thick as links are fast; beyond 64 nodes one of each type. */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_svg(const nw_topology *topology, char **out);

/* A pattern in words: totals by kind, and a heat map of each layer (host,
 * GPU, mixed) in shades on a logarithmic scale, at most `width` columns wide
 * (40 to 200). The caller frees *out. */
NW_API NW_MUST_CHECK nw_status nw_report_pattern_text(const nw_pattern *pattern,
                                                      int width, char **out);
/* The same heat maps side by side as an SVG picture, at most 256 x 256 cells
 * each. The caller frees *out. */
NW_API NW_MUST_CHECK nw_status nw_report_pattern_svg(const nw_pattern *pattern,
                                                     char **out);

/* A mapping and its cost for the pattern; both borrowed. */
struct nw_headline_side {
    const nw_mapping *mapping; /* may be NULL if all edges have as many messages
                                  or the topology states no bandwidths */
    const struct nw_cost *cost;
};
/* The gain of a mapping over the default: the one number that every command
 * prints. */
struct nw_headline {
    bool total; /* set by the caller: of the whole run, not of one exchange */
    bool has_time;        /* false: hop-bytes, the machine has no bandwidths */
    const char *metric;   /* exchange-time, run-time or hop-bytes; static */
    double before, after; /* s by the model of nw_cost.time, or hop-bytes */
    double percent_less;
    double inside[2];  /* percent of the bytes inside nodes, before and after */
    char verdict[160]; /* one sentence without its full stop */
};
/* side[0] is the default, side[1] the mapping. One exchange is one message of
 * mean size for each edge. Of *out, `total` is read. */
NW_API NW_MUST_CHECK nw_status nw_report_headline(
    const nw_topology *topology, const nw_pattern *pattern,
    const struct nw_headline_side side[2], struct nw_headline *out);
/* The verdict and the figures behind it, a line each; free() *out. */
NW_API NW_MUST_CHECK nw_status
nw_report_headline_text(const struct nw_headline *headline, char **out);

/* One mapping in a report. Borrowed, all of it. */
struct nw_report_mapping {
    const char *name;
    const nw_mapping *mapping; /* its nodes are the topology's */
    double seconds; /* simulated time of one exchange; negative: not known */
};

/* What a report is about. Borrowed; words may be NULL. */
struct nw_report_input {
    size_t size; /* sizeof of this struct */
    const nw_topology *topology;
    const nw_pattern *pattern;
    const struct nw_report_mapping *mapping; /* the first is the one before */
    size_t mapping_count;                    /* from 1 */
    const char *topology_source, *pattern_source;
    const char *command; /* that made the report */
    const char *seed;    /* of what was computed for it */
};
#define NW_REPORT_INPUT_INIT                                                   \
    {                                                                          \
        .size = sizeof(struct nw_report_input)                                 \
    }

/* One HTML page that needs nothing but itself: machine, pattern, where the
 * traffic lies under each mapping, congestion of links, costs side by side. The
 * same input gives the same bytes. NW_EINVAL where a mapping does not fit. */
NW_API NW_MUST_CHECK nw_status
nw_report_html(const struct nw_report_input *input, char **out);
/* The heat maps of the page alone, as one SVG picture: a column for each
 * mapping, a row for each layer. */
NW_API NW_MUST_CHECK nw_status
nw_report_before_after_svg(const struct nw_report_input *input, char **out);

#ifdef __cplusplus
}
#endif
#endif
