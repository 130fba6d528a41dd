/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a lower bound, layer by layer: if a grid is divided into equal
 * parts, the part that sends most sends at least so much. */
#ifndef NW_BENCH_LEAST_LAYERS_H
#define NW_BENCH_LEAST_LAYERS_H

#include <nodewise/status.h>

/* Raises *bound, the weight of the edges that leave the part that sends most of
 * so many parts, if the layers along dimension `up` show a larger one. Leaves
 * it unchanged if the grid is too large to compute the bound. */
NW_MUST_CHECK nw_status nw_least_layers(const int size[3], const int weight[3],
                                        int up, int parts, int *bound);

#endif
