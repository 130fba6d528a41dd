/* SPDX-License-Identifier: BSD-3-Clause */
/* Heat maps of the traffic between ranks, with a limited number of cells. */
#ifndef NW_REPORT_HEAT_MAP_H
#define NW_REPORT_HEAT_MAP_H

#include <nodewise/pattern.h>

#include "base/text.h"

/* The layers of traffic that a report shows separately: messages between host
 * memory, between GPU memory, and between host and GPU memory. */
enum nw_layer { NW_LAYER_HOST, NW_LAYER_GPU, NW_LAYER_MIXED, NW_LAYER_COUNT };
const char *nw_layer_name(enum nw_layer layer);
enum nw_layer nw_layer_of(enum nw_kind kind);
/* Returns true if the pattern has an edge of this layer. */
bool nw_layer_is_used(const nw_pattern *pattern, enum nw_layer layer);

/* A heat map. A cell stands for messages from `bin` senders to `bin` receivers;
 * cells of the last row or column may have fewer. */
struct nw_heat {
    int32_t ranks;
    int32_t bin;   /* ranks in each row and in each column of cells */
    int32_t cells; /* number of rows, and of columns */
    /* [cells x cells], one row for each group of `bin` senders */
    double *bytes;
    /* smallest and largest absolute value of the cells that are not zero; 0 if
     * all are */
    double low, high;
    /* sum of the absolute values of all cells: the bytes of the layer, unless
     * the map is a difference */
    double total;
    /* the map is a difference of two maps, and bytes may be negative */
    bool difference;
};

/* Arguments of nw_heat_bin, which sums the bytes of one layer in at most
 * `most_cells` rows and columns of cells. Ranks are arranged by place[r], the
 * position of rank r, or by their numbers if `place` is NULL. The caller calls
 * nw_heat_fini. */
struct nw_heat_what {
    const nw_pattern *pattern;
    enum nw_layer layer;
    const int32_t *place;
    int32_t most_cells;
};
NW_MUST_CHECK nw_status nw_heat_bin(const struct nw_heat_what *what,
                                    struct nw_heat *heat);
void nw_heat_fini(struct nw_heat *heat);
/* Computes the cells of `heat` minus those of `before`, which must have as many
 * cells. The caller calls nw_heat_fini. */
NW_MUST_CHECK nw_status nw_heat_subtract(const struct nw_heat *heat,
                                         const struct nw_heat *before,
                                         struct nw_heat *out);

/* Arguments of nw_heat_draw, which draws the cells as a square without labels.
 * The upper left corner is at (x, y), and a side has `side` units of SVG.
 * block[block_count] has the positions of ranks at which a node (or package)
 * begins. Thin lines are drawn there. */
struct nw_heat_square {
    double x, y, side;
    const int32_t *block;
    int32_t block_count;
};
void nw_heat_draw(struct nw_text *text, const struct nw_heat *heat,
                  const struct nw_heat_square *square);

/* Appends the map as text, one line for each row of cells, with two characters
 * for each cell. The map must not be a difference. */
void nw_heat_letters(struct nw_text *text, const struct nw_heat *heat);

#endif
