/* SPDX-License-Identifier: BSD-3-Clause */
/* Sections of the HTML report, one file each, and the data that several
 * sections use. */
#ifndef NW_REPORT_PAGE_PAGE_H
#define NW_REPORT_PAGE_PAGE_H

#include <nodewise/cost.h>
#include <nodewise/report.h>

#include "base/text.h"
#include "report/heat_map.h"

/* Largest number of ranks for which the report has downloads, and the ranks of
 * each cell of a heat map. */
#define NW_PAGE_MOST_RANKS 65536

/* The ranks sorted by their GPUs (for the GPU layer) or first cores under a
 * mapping, and the traffic of one layer in this order. */
struct nw_page_order {
    int32_t *place; /* [ranks] position in the sorted order */
    int32_t *block; /* [block_count] positions at which a node (or package)
                       begins, without the first */
    int32_t block_count;
    /* all bytes of the layer, and those between ranks that the order puts into
     * the same node (or package) */
    double bytes, inside;
    bool one_node;       /* true if the machine has one node; `block` and
                            `inside` then refer to packages */
    struct nw_heat heat; /* heat map of the layer in this order */
};

struct nw_page {
    const struct nw_report_input *input;
    struct nw_cost *cost; /* [mapping_count] cost of each mapping */
    /* [mapping_count x NW_LAYER_COUNT], see nw_page_order */
    struct nw_page_order *order;
    /* highest congestion of a link in s, over all mappings: the top of the
     * colour scale */
    double most_congestion;
    bool used[NW_LAYER_COUNT];
};

/* Computes the costs that `input` does not give, and heat maps of at most
 * `most_cells` rows. NW_EINVAL if `input` has no mapping, or if a mapping
 * without a given cost does not match the pattern or topology. The caller calls
 * nw_page_fini, even after a failure. */
NW_MUST_CHECK nw_status nw_page_init(struct nw_page *page,
                                     const struct nw_report_input *input,
                                     int32_t most_cells);
void nw_page_fini(struct nw_page *page);

static inline const struct nw_page_order *
nw_page_order(const struct nw_page *page, size_t mapping, enum nw_layer layer)
{
    return &page->order[mapping * NW_LAYER_COUNT + (size_t)layer];
}

/* One heat map of a mapping, in the page or in a picture file. */
struct nw_page_panel {
    size_t mapping;
    enum nw_layer layer;
    double x, y;
    bool difference; /* show the difference from the heat map of the first
                        mapping */
};
/* Appends the attributes from which the page's script describes the cells of a
 * heat map: the rank at each position, and bytes and lengths of routes of the
 * cells. For a difference of two maps, they name these maps instead. */
NW_MUST_CHECK nw_status nw_page_heat_data(struct nw_text *text,
                                          const struct nw_page *page,
                                          const struct nw_page_panel *what);

/* --- sections, in page order --- */

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

/* Appends <tag>text</tag> with the text escaped; `tag` may include attributes.
 */
void nw_page_element(struct nw_text *text, const char *tag, const char *format,
                     ...) NW_PRINTF(3, 4);
/* Appends a table cell with a value and its unit. */
void nw_page_cell(struct nw_text *text, double value, enum nw_unit unit);
/* Appends a table cell with `words`, and a bar of length value / all; no bar if
 * `all` is 0. */
void nw_page_share(struct nw_text *text, const char *words, double value,
                   double all);
/* Begin and end a box with a horizontal scroll bar that the keyboard can reach.
 * `label` is for screen readers; it is not escaped. */
void nw_page_wide(struct nw_text *text, const char *label);
void nw_page_wide_end(struct nw_text *text);

/* Alternative views, of which the reader selects one by buttons; they work
 * without a script. After nw_page_views, the caller appends the views, each an
 * element of class "panel v0", "panel v1" and so on, then calls
 * nw_page_views_end. */
struct nw_page_views {
    const char *name;         /* HTML name of the buttons, unique in the page */
    const char *label;        /* aria-label, for screen readers */
    const char *const *title; /* [count] button texts */
    size_t count;
    size_t shown; /* index of the view that is shown at first; if it is
                     `count`, an additional button shows all views side by
                     side, and is selected at first */
};
void nw_page_views(struct nw_text *text, const struct nw_page_views *views);
void nw_page_views_end(struct nw_text *text);
/* Appends the CSS rules by which the buttons of views 0 to count - 1 hide the
 * other views. */
void nw_page_views_style(struct nw_text *text, size_t count);

/* contents of page.css and page.js */
extern const char nw_page_style[], nw_page_script[];

/* Returns true if the congestion of links is known for all mappings. */
bool nw_page_has_links(const struct nw_page *page);
/* Returns the congestion of a link, in s, in the direction that has more. */
static inline double nw_page_busier(const struct nw_page *page, size_t mapping,
                                    int32_t link)
{
    const double *both = &page->cost[mapping].link_congestion[2 * (size_t)link];

    return both[0] > both[1] ? both[0] : both[1];
}

#endif
