/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables, trees, pictures and reports. All calls build texts in memory and
 * print nothing. All calls are local.
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

/* A table, or a tree whose first column is indented. The caller fills it row by
 * row, cell by cell. If an allocation fails, nw_table_text returns the error,
 * so the calls that fill the table need no checks. */
typedef struct nw_table nw_table;

enum nw_align { NW_ALIGN_LEFT, NW_ALIGN_RIGHT };

NW_API NW_MUST_CHECK nw_status nw_table_new(nw_table **out);
NW_API void nw_table_free(nw_table *table); /* NULL is fine */
/* Adds a column; call it before the first row. `title` is copied. If all titles
 * are "", the table has no heading. */
NW_API void nw_table_column(nw_table *table, const char *title,
                            enum nw_align align);
/* Begins a row and returns its number. `parent` is the row above it in the
 * tree, or -1. If any row has a parent, the first column is drawn as a tree. */
NW_API int32_t nw_table_row(nw_table *table, int32_t parent);
/* Adds the next cell of the newest row. Missing cells are empty. */
NW_API void nw_table_cell(nw_table *table, const char *format, ...)
    NW_PRINTF(2, 3);
/* Makes the text of the table, with a newline after each line and without
 * spaces at line ends. The locale's LC_CTYPE decides column widths and the
 * characters of tree lines (UTF-8 or ASCII). The text has no colours. The
 * caller frees *out with free(). NW_ENODEV: libsmartcols is missing. */
NW_API NW_MUST_CHECK nw_status nw_table_text(const nw_table *table, char **out);

/* A machine as a tree: first the network with its nodes, then one node of each
 * type. Equal objects share a line. The caller frees *out with free(), as in
 * all calls below. */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_tree(const nw_topology *topology, char **out);
/* The whole machine as JSON with the schema nodewise.topology/1; see
 * nodewise-topology(1). */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_json(const nw_topology *topology, char **out);

/* The machine as an SVG picture, with switches at the top and nodes as nested
 * boxes below. The width of a line grows with the bandwidth of its link. A
 * machine of more than 64 nodes shows one node of each type. */
NW_API NW_MUST_CHECK nw_status
nw_report_topology_svg(const nw_topology *topology, char **out);

/* A pattern as text: totals of each kind, and a heat map of each layer (host,
 * GPU, mixed) with a logarithmic scale. `width` is the maximum width in
 * columns, from 40 to 200. */
NW_API NW_MUST_CHECK nw_status nw_report_pattern_text(const nw_pattern *pattern,
                                                      int width, char **out);
/* The heat maps of all layers side by side as an SVG picture. Each map has at
 * most 256 x 256 cells. */
NW_API NW_MUST_CHECK nw_status nw_report_pattern_svg(const nw_pattern *pattern,
                                                     char **out);

/* The gain of a mapping over the default mapping. Every command prints it. */
struct nw_headline {
    bool total;           /* true: figures of the whole run, false: of one
                             exchange. Set by the caller; becomes true for a
                             training step that was recorded from a run */
    bool has_phases;      /* one exchange is one training step */
    bool has_domains;     /* an NVLink domain joins several nodes */
    bool has_time;        /* false: the machine has no bandwidths, and the
                             figures are hop-bytes */
    const char *metric;   /* exchange-time, step-time, run-time or hop-bytes;
                             static */
    double before, after; /* s by the model of nw_cost.time, or hop-bytes */
    double percent_less;
    double inside[2];  /* percentage of bytes inside nodes and NVLink domains:
                          before, after */
    char verdict[160]; /* one sentence without a full stop */
};
/* Computes the headline. cost[0] is that of the default mapping, cost[1] that
 * of the new mapping, both of this topology and pattern. One exchange is the
 * run divided by the largest message count of an edge (by 1 if no messages are
 * counted). The caller sets out->total before the call. */
NW_API void nw_report_headline(const nw_topology *topology,
                               const nw_pattern *pattern,
                               const struct nw_cost *const cost[2],
                               struct nw_headline *out);
/* The verdict and the figures on which it is based, one line each. The caller
 * frees *out with free(). */
NW_API NW_MUST_CHECK nw_status
nw_report_headline_text(const struct nw_headline *headline, char **out);

/* One mapping in a report. All pointers are borrowed. */
struct nw_report_mapping {
    const char *name;
    const nw_mapping *mapping; /* node indexes are the topology's */
    double seconds; /* simulated time of one exchange; negative: not known */
    const struct nw_cost *cost; /* result of nw_cost_evaluate, or NULL: the
                                   report evaluates it */
};

/* The input of a report. All pointers are borrowed; strings may be NULL. */
struct nw_report_input {
    size_t size; /* sizeof of this struct */
    const nw_topology *topology;
    const nw_pattern *pattern;
    const struct nw_report_mapping *mapping; /* the others are compared with the
                                                first mapping */
    size_t mapping_count;                    /* at least 1 */
    const char *topology_source, *pattern_source;
    const char *command; /* command that made the report */
    const char *seed;    /* random seed of the computations */
};
#define NW_REPORT_INPUT_INIT                                                   \
    {                                                                          \
        .size = sizeof(struct nw_report_input)                                 \
    }

/* Makes one HTML page that loads no other files. The page shows the machine,
 * the pattern, the location of the traffic and of the ranks under each mapping,
 * the congestion of links, and all costs side by side. It contains the last
 * mapping as files to download. Equal input gives equal bytes. NW_EINVAL: a
 * mapping does not fit the topology or the pattern. */
NW_API NW_MUST_CHECK nw_status
nw_report_html(const struct nw_report_input *input, char **out);
/* The heat maps of that page as one SVG picture, with one column for each
 * mapping and one row for each layer. */
NW_API NW_MUST_CHECK nw_status
nw_report_before_after_svg(const struct nw_report_input *input, char **out);

#ifdef __cplusplus
}
#endif
#endif
