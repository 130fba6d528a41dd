/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps of the traffic between ranks, in a bounded number of cells. */
#ifndef NW_REPORT_HEAT_MAP_H
#define NW_REPORT_HEAT_MAP_H

#include <nodewise/pattern.h>

#include "base/text.h"

/* The layers that a person can distinguish. */
enum nw_layer { NW_LAYER_HOST, NW_LAYER_GPU, NW_LAYER_MIXED, NW_LAYER_COUNT };
const char *nw_layer_name(enum nw_layer layer);
enum nw_layer nw_layer_of(enum nw_kind kind);
/* True where the pattern has an edge there. */
bool nw_layer_is_used(const nw_pattern *pattern, enum nw_layer layer);

struct nw_heat {
    int32_t ranks;
    int32_t bin;      /* ranks a cell stands for, in each direction */
    int32_t cells;    /* in each direction */
    double *bytes;    /* [cells x cells], row = sender */
    double low, high; /* least and most of the cells that are not empty */
    double total;     /* bytes of the layer */
    bool difference;  /* bytes may be negative; low and high are of |bytes| */
};

/* Adds up one layer. Rank r stands at place[r]; NULL: at r. At most
 * `most_cells` cells a side. The caller calls nw_heat_fini. */
struct nw_heat_what {
    const nw_pattern *pattern;
    enum nw_layer layer;
    const int32_t *place;
    int32_t most_cells;
};
NW_MUST_CHECK nw_status nw_heat_bin(const struct nw_heat_what *what,
                                    struct nw_heat *heat);
void nw_heat_fini(struct nw_heat *heat);
/* `heat` less a map of as many cells. The caller calls nw_heat_fini. */
NW_MUST_CHECK nw_status nw_heat_subtract(const struct nw_heat *heat,
                                         const struct nw_heat *before,
                                         struct nw_heat *out);

/* The map as a square of `side` units at x, y, without words. `block` are
 * places where something begins (a node), drawn as thin lines, or NULL. */
struct nw_heat_square {
    double x, y, side;
    const int32_t *block;
    int32_t block_count;
};
void nw_heat_draw(struct nw_text *text, const struct nw_heat *heat,
                  const struct nw_heat_square *square);

/* The map in letters, a line for a row of cells; wide enough is `width`. */
void nw_heat_letters(struct nw_text *text, const struct nw_heat *heat);

#endif
