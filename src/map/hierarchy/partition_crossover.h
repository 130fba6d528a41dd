/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two seatings of the same processes, of which one came from the other by a
 * search: the moves between them fall into parts that do not feel each other,
 * and of each part the better one is taken.
 */
#ifndef NW_MAP_HIERARCHY_PARTITION_CROSSOVER_H
#define NW_MAP_HIERARCHY_PARTITION_CROSSOVER_H

#include "map/hierarchy/assignment.h"

/* The layout's seats become the better parts of its own and of `slot`, never
 * worse than either; *cost, the layout's, with them. */
NW_MUST_CHECK nw_status nw_partition_crossover(struct nw_assignment *assignment,
                                               const int32_t *slot,
                                               double *cost);

#endif
