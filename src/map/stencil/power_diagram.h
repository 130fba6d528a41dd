/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Divides points into compact parts and keeps the number of points of each
 * part. In each round, every point goes to the part with the nearest center;
 * then each center moves to the mean of its points (Lloyd 1982, Least squares
 * quantization in PCM). A part that gets too few points must attract more
 * points, so each part has a number, its power. The power is subtracted from
 * the squared distances to the center of the part, and grows while points are
 * missing. Such a division is a balanced power diagram (Aurenhammer, Hoffmann
 * and Aronov 1998, Minkowski-type theorems and least-squares clustering).
 */
#ifndef NW_MAP_STENCIL_POWER_DIAGRAM_H
#define NW_MAP_STENCIL_POWER_DIAGRAM_H

#include "map/stencil/grid.h"

/* The input and the result: points and their parts. */
struct nw_power_diagram {
    int32_t n, parts; /* n: number of points, about one per unit of volume;
                         parts: number of parts */
    int dims;         /* number of dimensions */
    const float *at[NW_STENCIL_DIMS]; /* [n] coordinates of the points */
    float ring[NW_STENCIL_DIMS]; /* length of each periodic dimension; 0: the
                                    dimension is not periodic */
    uint64_t seed;               /* seed of the random moves of centers */
    int32_t threads;             /* number of threads, at least 1; does not
                                    change the result */
    int32_t *part; /* [n] part of each point, in and out; every part keeps its
                      number of points */
};

/* Moves points between parts so that the parts form a balanced power diagram.
 * No part may be empty on input. Does nothing for fewer than two parts or four
 * points. */
NW_MUST_CHECK nw_status nw_power_diagram(const struct nw_power_diagram *round);

#endif
