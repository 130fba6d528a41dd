/* SPDX-License-Identifier: BSD-3-Clause */
/* What the fullest of equal parts of a grid sends at least, layer by layer. */
#ifndef NW_BENCH_LEAST_LAYERS_H
#define NW_BENCH_LEAST_LAYERS_H

#include <nodewise/status.h>

/* Raises *bound to the weight of the bonds that leave the fullest of so many
 * parts, at least, where the layers along dimension `up` show more. Leaves it
 * where the grid is too large to look at. */
NW_MUST_CHECK nw_status nw_least_layers(const int size[3], const int weight[3],
                                        int up, int parts, int *bound);

#endif
