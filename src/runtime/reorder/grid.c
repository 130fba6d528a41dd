/* SPDX-License-Identifier: BSD-3-Clause */
#include "runtime/reorder/grid.h"

#include <stddef.h>

int nw_cart_vertices(const struct nw_cart *cart, int most)
{
    long long product = 1;

    for (int d = 0; d < cart->count; d++) {
        if (cart->dims[d] <= 0)
            return 0;
        product *= cart->dims[d];
        if (product > most)
            return 0;
    }
    return (int)product;
}

int nw_cart_neighbour(const struct nw_cart *cart, int d, int stride, int v,
                      int step)
{
    int size = cart->dims[d], at = v / stride % size, to = at + step;

    if ((to < 0 || to >= size) && !cart->periods[d])
        return -1;
    return v + ((to + size) % size - at) * stride;
}

static nw_status reorder_grid_add_dimension(nw_pattern_builder *builder,
                                            const struct nw_cart *cart, int d,
                                            int stride, uint64_t bytes)
{
    int vertices = nw_cart_vertices(cart, INT32_MAX);
    nw_status status = NW_OK;

    for (int v = 0; !status && v < vertices; v++)
        for (int step = -1; !status && step <= 1; step += 2) {
            int to = nw_cart_neighbour(cart, d, stride, v, step);

            if (to >= 0 && to != v)
                status = nw_pattern_builder_add(builder, v, to, NW_KIND_HH,
                                                bytes, 1);
        }
    return status;
}

bool nw_cart_scale(double *weight, int count)
{
    double most = 0;

    for (int d = 0; d < count; d++)
        if (weight[d] > most)
            most = weight[d];
    for (int d = 0; most > 0 && d < count; d++)
        weight[d] = (double)(int)(weight[d] / most * 1000 + 0.5);
    return most > 0;
}

nw_status nw_cart_graph(const struct nw_cart *cart, const double *weight,
                        nw_pattern **out)
{
    nw_pattern_builder *builder;
    nw_status status =
        nw_pattern_builder_new(nw_cart_vertices(cart, INT32_MAX), &builder);
    int stride = 1;

    if (status)
        return status;
    for (int d = cart->count - 1; !status && d >= 0; d--) {
        if (weight[d] > 0)
            status = reorder_grid_add_dimension(builder, cart, d, stride,
                                                (uint64_t)weight[d]);
        stride *= cart->dims[d];
    }
    if (!status)
        status = nw_pattern_builder_build(builder, out);
    nw_pattern_builder_free(builder);
    return status;
}

static double reorder_grid_bytes_between(const nw_pattern *profile, int from,
                                         int to)
{
    double bytes = 0;

    for (size_t e = profile->row[from]; e < profile->row[from + 1]; e++)
        if (profile->dst[e] == to)
            bytes += (double)profile->bytes[e];
    return bytes;
}

bool nw_cart_profiled(const struct nw_cart *cart, const nw_pattern *profile,
                      const int *world, double *weight)
{
    int vertices = nw_cart_vertices(cart, INT32_MAX), stride = 1;
    bool any = false;

    for (int d = cart->count - 1; d >= 0; d--) {
        double sum = 0, pairs = 0;

        for (int v = 0; v < vertices; v++)
            for (int step = -1; step <= 1; step += 2) {
                int to = nw_cart_neighbour(cart, d, stride, v, step);

                if (to < 0 || to == v)
                    continue;
                sum += reorder_grid_bytes_between(profile, world[v], world[to]);
                pairs++;
            }
        weight[d] = pairs > 0 ? sum / pairs : 0;
        any = any || weight[d] > 0;
        stride *= cart->dims[d];
    }
    return any;
}
