/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Points dealt to parts of given sizes so that parts become round, as bubbles
 * in a foam are: each point goes to the nearest of the parts' centers, which
 * move to the middle of their points (S. Lloyd, Least squares quantization in
 * PCM, 1982) and pull harder while their part is too small (F. Aurenhammer, F.
 * Hoffmann and B. Aronov, Minkowski-type theorems and least-squares clustering,
 * 1998).
 */
#ifndef NW_MAP_STENCIL_POWER_DIAGRAM_H
#define NW_MAP_STENCIL_POWER_DIAGRAM_H

#include "map/stencil/grid.h"

struct nw_power_diagram {
    int32_t n, parts; /* about one point in a unit of space */
    int dims;
    const float *at[NW_STENCIL_DIMS]; /* [n] */
    float ring[NW_STENCIL_DIMS];      /* its length; 0: no ring */
    uint64_t seed;
    int32_t threads; /* at least 1; the answer is the same */
    int32_t *part;   /* [n] in and out; the sizes of the parts stay */
};

/* No part may be empty. */
NW_MUST_CHECK nw_status nw_power_diagram(const struct nw_power_diagram *round);

#endif
