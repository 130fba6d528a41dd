/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partition crossover of two assignments, one of which was found from the
 * other: the moves between them fall into components that do not interact, and
 * the better version of each component is taken (Whitley, Hains and Howe 2009).
 */
#ifndef NW_MAP_HIERARCHY_PARTITION_CROSSOVER_H
#define NW_MAP_HIERARCHY_PARTITION_CROSSOVER_H

#include "map/hierarchy/assignment.h"

/* The assignment takes the better components of its own slots and of `slot`; it
 * is not worse than either. *cost is updated. */
NW_MUST_CHECK nw_status nw_partition_crossover(struct nw_assignment *assignment,
                                               const int32_t *slot,
                                               double *cost);

#endif
