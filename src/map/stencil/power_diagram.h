/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A balanced power diagram: points are divided into compact parts of given
 * sizes. Each point goes to the nearest center of a part, and centers move to
 * the mean of their points (Lloyd 1982, Least squares quantization in PCM). The
 * power of a part is subtracted from squared distances to its center; it grows
 * while the part is too small (Aurenhammer, Hoffmann and Aronov 1998,
 * Minkowski-type theorems and least-squares clustering).
 */
#ifndef NW_MAP_STENCIL_POWER_DIAGRAM_H
#define NW_MAP_STENCIL_POWER_DIAGRAM_H

#include "map/stencil/grid.h"

/* The points and their parts. */
struct nw_power_diagram {
    int32_t n, parts; /* number of points, about one per unit of volume; number
                         of parts */
    int dims;         /* number of dimensions */
    const float *at[NW_STENCIL_DIMS]; /* [n] coordinates of the points */
    float ring[NW_STENCIL_DIMS]; /* length of a periodic dimension; 0: open */
    uint64_t seed;               /* seed of the random moves of centers */
    int32_t threads;             /* at least 1; does not change the answer */
    int32_t *part; /* [n] part of each point, in and out; the sizes of the parts
                      do not change */
};

/* Moves points between the parts so that these form a balanced power diagram.
 * No part may be empty on input. */
NW_MUST_CHECK nw_status nw_power_diagram(const struct nw_power_diagram *round);

#endif
