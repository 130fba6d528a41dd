/* SPDX-License-Identifier: BSD-3-Clause */
/* Cartesian grids as graphs, without MPI. */
#ifndef NW_REORDER_GRID_H
#define NW_REORDER_GRID_H

#include <nodewise/pattern.h>
#include <nodewise/status.h>

/* Row-major, the last dimension fastest, as MPI numbers them. */
struct nw_cart {
    int count;
    const int *dims;
    const int *periods;
};

/* The number of vertices; 0 if a dimension is not positive or the product
 * passes `most`. */
int nw_cart_vertices(const struct nw_cart *cart, int most);
/* The neighbour of v one step up or down dimension d, whose vertices are
 * `stride` apart; -1 beyond a border. */
int nw_cart_neighbour(const struct nw_cart *cart, int d, int stride, int v,
                      int step);
/* Scales the weights to integers up to 1000 that keep their ratios. Returns
 * whether any is above 0. */
bool nw_cart_scale(double *weight, int count);
/* Each vertex sends weight[d] to both neighbours along dimension d; a border
 * that is not periodic has none. Weights are whole numbers. */
NW_MUST_CHECK nw_status nw_cart_graph(const struct nw_cart *cart,
                                      const double *weight, nw_pattern **out);
/* Mean bytes between neighbours along each dimension in a profile, vertex i
 * being rank world[i] there. False if it has no such traffic. */
bool nw_cart_profiled(const struct nw_cart *cart, const nw_pattern *profile,
                      const int *world, double *weight);

#endif
