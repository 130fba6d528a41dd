/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes a lower bound on the hop-bytes of a grid whose edges are only across
 * the faces of cells. The cells that are assigned to one cluster (a subtree of
 * the machine) form a set. If a set of cells is projected along each dimension,
 * the product of the areas of the projections is at least that of a cube of
 * equal volume (L. H. Loomis and H. Whitney, An inequality related to the
 * isoperimetric inequality, 1949). The areas give the least number of edges
 * that leave the set, and so the least bytes that leave it. On each level of
 * the tree, the least bytes between the clusters are multiplied by the distance
 * that this level adds. The sum of these products is the bound. */
#include "map/stencil/grid.h"

#include <math.h>
#include <stdlib.h>

/* Returns the dimension in which an offset leads one cell across a face; -1 for
 * other offsets. */
static int lower_bound_face_of(const struct nw_stencil *stencil, int offset)
{
    int face = -1, length = 0;

    for (int d = 0; d < stencil->dims; d++) {
        length += abs(stencil->offset[offset][d]);
        face = stencil->offset[offset][d] ? d : face;
    }
    return length == 1 ? face : -1;
}

/* Fills bytes[dims] with the bytes of an edge across a face in each dimension.
 * Returns false if the grid has other edges, missing edges or periodic
 * dimensions. */
static bool lower_bound_read_faces(const struct nw_stencil *stencil,
                                   double *bytes)
{
    if (!stencil->uniform || stencil->offsets != stencil->dims)
        return false;
    for (int i = 0; i < stencil->offsets; i++) {
        int d = lower_bound_face_of(stencil, i);

        if (d < 0 || stencil->periodic[d])
            return false;
        bytes[d] = stencil->bytes[i];
    }
    return true;
}

double nw_stencil_lower_bound(const struct nw_assignment *assignment,
                              const struct nw_stencil *stencil)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    double bytes[NW_STENCIL_DIMS], whole = 0, product = 1, sum = 0;
    double part = 1 - 1.0 / stencil->dims;

    if (!lower_bound_read_faces(stencil, bytes) ||
        assignment->count != hierarchy->slots)
        return 0;
    for (int d = 0; d < stencil->dims; d++) {
        whole += bytes[d] * assignment->count / stencil->size[d];
        product *= bytes[d];
    }
    for (int l = 1; l < hierarchy->levels; l++) {
        double roots = 0, across;

        for (int32_t c = 0; c < hierarchy->count[l - 1]; c++)
            roots +=
                pow(hierarchy->first[l - 1][c + 1] - hierarchy->first[l - 1][c],
                    part);
        across = roots * stencil->dims * pow(product, 1 - part) - whole;
        sum += (hierarchy->distance[l] - hierarchy->distance[l - 1]) *
               fmax(0, across);
    }
    return sum;
}
