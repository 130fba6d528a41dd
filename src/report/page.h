/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of the report's page, each a file; what they share is worked out
 * once. */
#ifndef NW_REPORT_PAGE_H
#define NW_REPORT_PAGE_H

#include <nodewise/cost.h>
#include <nodewise/report.h>

#include "base/text.h"
#include "report/heat.h"

/* The order of ranks by the place they are mapped to, and the share of traffic
 * that stays inside a node. */
struct nw_page_order {
    int32_t *place; /* [ranks] */
    int32_t *block; /* places where a node (or package) begins */
    int32_t block_count;
    double bytes, inside; /* of the layer; of them inside a node */
    bool one_node;        /* then blocks and `inside` are packages */
};

struct nw_page {
    const struct nw_report_input *input;
    struct nw_cost *cost;        /* [mapping_count] */
    struct nw_page_order *order; /* [mapping_count x NW_LAYER_COUNT] */
    bool used[NW_LAYER_COUNT];
};

/* NW_EINVAL where a mapping does not fit. The caller calls nw_page_fini, after
 * a failure too. */
NW_MUST_CHECK nw_status nw_page_init(struct nw_page *page,
                                     const struct nw_report_input *input);
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
    int32_t most_cells;
};
NW_MUST_CHECK nw_status nw_page_panel(struct nw_text *text,
                                      const struct nw_page *page,
                                      const struct nw_page_panel *what);

/* Sections of the page. */
void nw_page_head(struct nw_text *text, const struct nw_page *page);
void nw_page_tiles(struct nw_text *text, const struct nw_page *page);
void nw_page_costs(struct nw_text *text, const struct nw_page *page);
void nw_page_levels(struct nw_text *text, const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_maps(struct nw_text *text,
                                     const struct nw_page *page);
NW_MUST_CHECK nw_status nw_page_links(struct nw_text *text,
                                      const struct nw_page *page);
void nw_page_origin(struct nw_text *text, const struct nw_page *page);

/* <tag>escaped words</tag>; `tag` may carry attributes. */
void nw_page_element(struct nw_text *text, const char *tag, const char *format,
                     ...) NW_PRINTF(3, 4);

#endif
