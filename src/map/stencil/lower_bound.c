/* SPDX-License-Identifier: BSD-3-Clause */
/* Hop-bytes that no seating of a grid of face neighbours is below: the shadows
 * of a part's cells along the dimensions multiply to at least those of a cube
 * as large (L. H. Loomis and H. Whitney, An inequality related to the
 * isoperimetric inequality, 1949), and so the bytes across its borders. */
#include "map/stencil/grid.h"

#include <math.h>
#include <stdlib.h>

/* The dimension of a step to a face, or -1. */
static int face_of(const struct nw_tiling *tiling, int step)
{
    int face = -1, length = 0;

    for (int d = 0; d < tiling->dims; d++) {
        length += abs(tiling->step[step][d]);
        face = tiling->step[step][d] ? d : face;
    }
    return length == 1 ? face : -1;
}

/* Bytes across the face of a cell of each dimension; false where there are
 * other borders. */
static bool read_faces(const struct nw_tiling *tiling, double *bytes)
{
    if (!tiling->uniform || tiling->steps != tiling->dims)
        return false;
    for (int i = 0; i < tiling->steps; i++) {
        int d = face_of(tiling, i);

        if (d < 0 || tiling->periodic[d])
            return false;
        bytes[d] = tiling->bytes[i];
    }
    return true;
}

double nw_tiling_least(const struct nw_layout *layout,
                       const struct nw_tiling *tiling)
{
    const struct nw_tree *tree = layout->tree;
    double bytes[NW_TILE_DIMS], whole = 0, product = 1, sum = 0;
    double part = 1 - 1.0 / tiling->dims;

    if (!read_faces(tiling, bytes) || layout->count != tree->seats)
        return 0;
    for (int d = 0; d < tiling->dims; d++) {
        whole += bytes[d] * layout->count / tiling->size[d];
        product *= bytes[d];
    }
    for (int l = 1; l < tree->levels; l++) {
        double roots = 0, across;

        for (int32_t c = 0; c < tree->count[l - 1]; c++)
            roots +=
                pow(tree->first[l - 1][c + 1] - tree->first[l - 1][c], part);
        across = roots * tiling->dims * pow(product, 1 - part) - whole;
        sum += (tree->distance[l] - tree->distance[l - 1]) * fmax(0, across);
    }
    return sum;
}
