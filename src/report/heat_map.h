/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps of the traffic between ranks, with a limited number of cells. */
#ifndef NW_REPORT_HEAT_MAP_H
#define NW_REPORT_HEAT_MAP_H

#include <nodewise/pattern.h>

#include "base/text.h"

/* The layers of traffic that a report shows separately. */
enum nw_layer { NW_LAYER_HOST, NW_LAYER_GPU, NW_LAYER_MIXED, NW_LAYER_COUNT };
const char *nw_layer_name(enum nw_layer layer);
enum nw_layer nw_layer_of(enum nw_kind kind);
/* Whether the pattern has an edge of this layer. */
bool nw_layer_is_used(const nw_pattern *pattern, enum nw_layer layer);

struct nw_heat {
    int32_t ranks;
    int32_t bin;      /* ranks per row of cells, and per column */
    int32_t cells;    /* rows of cells, and columns */
    double *bytes;    /* [cells x cells], one row per sender */
    double low, high; /* extremes of the cells that are not zero */
    double total;     /* bytes of the layer */
    bool difference;  /* bytes may be negative; low and high are of |bytes| */
};

/* Sums the bytes of one layer in at most `most_cells` rows and columns of
 * cells. Rank r is at position place[r], or at r if `place` is NULL. The caller
 * must call nw_heat_fini. */
struct nw_heat_what {
    const nw_pattern *pattern;
    enum nw_layer layer;
    const int32_t *place;
    int32_t most_cells;
};
NW_MUST_CHECK nw_status nw_heat_bin(const struct nw_heat_what *what,
                                    struct nw_heat *heat);
void nw_heat_fini(struct nw_heat *heat);
/* Computes `heat` minus `before`, which must have as many cells. The caller
 * must call nw_heat_fini. */
NW_MUST_CHECK nw_status nw_heat_subtract(const struct nw_heat *heat,
                                         const struct nw_heat *before,
                                         struct nw_heat *out);

/* Draws the cells as a square of `side` units at (x, y), without labels.
 * `block` lists positions where a node (or package) begins, drawn as thin
 * lines; or NULL. */
struct nw_heat_square {
    double x, y, side;
    const int32_t *block;
    int32_t block_count;
};
void nw_heat_draw(struct nw_text *text, const struct nw_heat *heat,
                  const struct nw_heat_square *square);

/* Prints the map as text, one line per row of cells. */
void nw_heat_letters(struct nw_text *text, const struct nw_heat *heat);

#endif
