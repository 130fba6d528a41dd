/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes graphs of Cartesian grids, without MPI. */
#ifndef NW_REORDER_GRID_H
#define NW_REORDER_GRID_H

#include <nodewise/pattern.h>
#include <nodewise/status.h>

/* A Cartesian grid. Its vertices are numbered row-major, the last dimension
 * fastest, as in MPI_Cart_create. */
struct nw_cart {
    int count;
    const int *dims;
    const int *periods;
};

/* Returns the number of vertices; 0 if a dimension is not positive or the
 * product exceeds `most`. */
int nw_cart_vertices(const struct nw_cart *cart, int most);
/* Returns the neighbour of vertex v in dimension d, in the direction `step` (1
 * or -1); -1 beyond a border. `stride` is the difference between the numbers of
 * neighbours in dimension d. */
int nw_cart_neighbour(const struct nw_cart *cart, int d, int stride, int v,
                      int step);
/* Scales the weights to integers from 0 to 1000 with nearly the same ratios.
 * Returns false if no weight is positive. */
bool nw_cart_scale(double *weight, int count);
/* Builds the graph in which each vertex sends weight[d] bytes to each of its
 * two neighbours in dimension d. A vertex at a non-periodic border has only one
 * neighbour there. Weights must be whole numbers. The caller frees *out. */
NW_MUST_CHECK nw_status nw_cart_graph(const struct nw_cart *cart,
                                      const double *weight, nw_pattern **out);
/* Sets weight[d] to the mean number of bytes between neighbours in dimension d
 * in the profile. Vertex i is rank world[i] of the profile. Returns false if
 * the profile has no bytes between neighbours. */
bool nw_cart_profiled(const struct nw_cart *cart, const nw_pattern *profile,
                      const int *world, double *weight);

#endif
