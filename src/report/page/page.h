/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report's page, each a file; what they share is worked out
 * once. */
#ifndef NW_REPORT_PAGE_PAGE_H
#define NW_REPORT_PAGE_PAGE_H

#include <nodewise/cost.h>
#include <nodewise/report.h>

#include "base/text.h"
#include "report/heat_map.h"

/* Pages of more ranks carry no list of them. */
#define NW_PAGE_MOST_RANKS 65536

/* The order of ranks by the place they are mapped to, and the share of traffic
 * that stays inside a node. */
struct nw_page_order {
    int32_t *place; /* [ranks] */
    int32_t *block; /* places where a node (or package) begins */
    int32_t block_count;
    double bytes, inside; /* of the layer; of them inside a node */
    bool one_node;        /* then blocks and `inside` are packages */
    struct nw_heat heat;  /* the layer in this order */
};

struct nw_page {
    const struct nw_report_input *input;
    struct nw_cost *cost;        /* [mapping_count] */
    struct nw_page_order *order; /* [mapping_count x NW_LAYER_COUNT] */
    double most_congestion;      /* of all mappings: the end of the scales */
    bool used[NW_LAYER_COUNT];
};

/* Heat maps have at most `most_cells` cells a side. NW_EINVAL where a mapping
 * does not fit. The caller calls nw_page_fini, after a failure too. */
NW_MUST_CHECK nw_status nw_page_init(struct nw_page *page,
                                     const struct nw_report_input *input,
                                     int32_t most_cells);
void nw_page_fini(struct nw_page *page);

static inline const struct nw_page_order *
nw_page_order(const struct nw_page *page, size_t mapping, enum nw_layer layer)
{
    return &page->order[mapping * NW_LAYER_COUNT + (size_t)layer];
}

/* One heat map of a mapping, for the page or as a picture of its own. */
struct nw_page_panel {
    size_t mapping;
    enum nw_layer layer;
    double x, y;
    bool difference; /* to the first mapping */
};
/* Attributes of a heat map that let the script name each cell: the ranks in
 * their order, and bytes and links of the cells. */
NW_MUST_CHECK nw_status nw_page_heat_data(struct nw_text *text,
                                          const struct nw_page *page,
                                          const struct nw_page_panel *what);

/* --- sections, in the order of the page --- */

void nw_page_tiles(struct nw_text *text, const struct nw_page *page);
void nw_page_costs(struct nw_text *text, const struct nw_page *page);
void nw_page_groups(struct nw_text *text, const struct nw_page *page);
void nw_page_levels(struct nw_text *text, const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_messages(struct nw_text *text,
                                         const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_maps(struct nw_text *text,
                                     const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_links(struct nw_text *text,
                                      const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_histogram(struct nw_text *text,
                                          const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_switches(struct nw_text *text,
                                         const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_ranks(struct nw_text *text,
                                      const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_downloads(struct nw_text *text,
                                          const struct nw_page *page);
void nw_page_glossary(struct nw_text *text);

/* --- elements --- */

/* <tag>escaped words</tag>; `tag` may carry attributes. */
void nw_page_element(struct nw_text *text, const char *tag, const char *format,
                     ...) NW_PRINTF(3, 4);
/* A cell of a table with a quantity. */
void nw_page_cell(struct nw_text *text, double value, enum nw_unit unit);
/* A cell with a count and a bar of its share of `all`. */
void nw_page_share(struct nw_text *text, const char *words, double value,
                   double all);
/* A box that scrolls sideways, which the keyboard reaches, and its end. */
void nw_page_wide(struct nw_text *text, const char *label);
void nw_page_wide_end(struct nw_text *text);

/* Views of which the reader chooses one, by buttons that need no script. The
 * panels follow, each of class "panel v0", "panel v1", ... as its view is. */
struct nw_page_views {
    const char *name;         /* of the group of buttons, unique in the page */
    const char *label;        /* for people who cannot see it */
    const char *const *title; /* [count] */
    size_t count;
    size_t shown; /* at first; `count`: all side by side, which is then one
                     more view */
};
void nw_page_views(struct nw_text *text, const struct nw_page_views *views);
void nw_page_views_end(struct nw_text *text);
/* The rules that show the view of the pressed button. */
void nw_page_views_style(struct nw_text *text, size_t count);

/* page.css and page.js */
extern const char nw_page_style[], nw_page_script[];

/* Links have congestion under all mappings. */
bool nw_page_has_links(const struct nw_page *page);
/* Congestion of a link in its busier direction. */
static inline double nw_page_busier(const struct nw_page *page, size_t mapping,
                                    int32_t link)
{
    const double *both = &page->cost[mapping].link_congestion[2 * (size_t)link];

    return both[0] > both[1] ? both[0] : both[1];
}

#endif
