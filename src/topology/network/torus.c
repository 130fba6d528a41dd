/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds and routes tori and meshes of any number of dimensions. Routes follow
 * one dimension after the other, the first one first. */
#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The state of a torus. */
struct torus {
    struct nw_torus shape;
    int32_t stride[NW_TORUS_MAX_DIMENSIONS];
    int32_t *link; /* [switch][dimension] link to the next switch up; -1:
                      none */
};

static int32_t torus_coordinate(const struct torus *torus, int32_t s, int d)
{
    return s / torus->stride[d] % torus->shape.size[d];
}

/* Returns the number of steps from a to b along dimension d; it is positive
 * towards higher coordinates. If both directions of a ring are equally long,
 * messages from even coordinates go up and those from odd ones go down, so that
 * both directions carry the same load. */
static int32_t torus_steps(const struct torus *torus, int32_t a, int32_t b,
                           int d)
{
    int32_t n = torus->shape.size[d];
    int32_t from = torus_coordinate(torus, a, d);
    int32_t up = torus_coordinate(torus, b, d) - from;

    if (!torus->shape.wrap[d])
        return up;
    up = up < 0 ? up + n : up;
    if (2 * up < n || (2 * up == n && from % 2 == 0))
        return up;
    return up - n;
}

static int32_t torus_distance(const struct nw_network *network, int32_t from,
                              struct nw_network_end to)
{
    const struct torus *torus = network->state;
    int32_t count = 0;

    for (int d = 0; d < torus->shape.dimension_count; d++)
        count += abs(torus_steps(torus, from, to.at, d));
    return count;
}

/* Returns the neighbour of s along dimension d, up (by = 1) or down (by = -1).
 * The last switch is followed by the first one. */
static int32_t torus_neighbour(const struct torus *torus, int32_t s, int d,
                               int by)
{
    int32_t n = torus->shape.size[d], at = torus_coordinate(torus, s, d);

    return s + ((at + by + n) % n - at) * torus->stride[d];
}

static size_t torus_route(const struct nw_network *network, int32_t from,
                          struct nw_network_end to, uint32_t *hops)
{
    const struct torus *torus = network->state;
    int count = torus->shape.dimension_count;
    size_t length = 0;

    for (int d = 0; d < count; d++) {
        int32_t left = torus_steps(torus, from, to.at, d);
        int by = left < 0 ? -1 : 1;

        for (; left; left -= by) {
            int32_t next = torus_neighbour(torus, from, d, by);
            int32_t low = by > 0 ? from : next;
            uint32_t link = (uint32_t)torus->link[low * count + d];

            hops[length++] = 2 * link + (by < 0);
            from = next;
        }
    }
    return length;
}

static void free_torus(void *state)
{
    struct torus *torus = state;

    free(torus->link);
    free(torus);
}

static const void *torus_shape_of(const struct nw_network *network)
{
    const struct torus *torus = network->state;

    return &torus->shape;
}

static void torus_visit_classes(struct nw_network *network,
                                void (*meet)(void *user, int32_t *class),
                                void *user)
{
    struct torus *torus = network->state;

    for (int d = 0; d < torus->shape.dimension_count; d++)
        meet(user, &torus->shape.class[d]);
}

static const struct nw_network_ops torus_ops = {
    .name = "torus",
    .distance = torus_distance,
    .route = torus_route,
    .free_state = free_torus,
    .shape = torus_shape_of,
    .visit = torus_visit_classes,
};

static nw_status torus_name_switch(const struct torus *torus,
                                   struct nw_network *network, int32_t s)
{
    char name[NW_TORUS_MAX_DIMENSIONS * 12] = "";
    size_t used = 0;

    for (int d = 0; d < torus->shape.dimension_count; d++)
        used += (size_t)snprintf(name + used, sizeof name - used, "%s%d",
                                 d ? "." : "t", torus_coordinate(torus, s, d));
    return nw_network_name(network, s, "%s", name);
}

/* Returns true if s has a link to the next higher coordinate in dimension d, or
 * from the last to the first. A ring of two switches has one link, not two. */
static bool has_next(const struct torus *torus, int32_t s, int d)
{
    int32_t n = torus->shape.size[d], at = torus_coordinate(torus, s, d);

    return at < n - 1 || (torus->shape.wrap[d] && n > 2);
}

static nw_status link_switches(struct torus *torus, struct nw_network *network)
{
    int count = torus->shape.dimension_count;
    nw_status status = nw_alloc((size_t)network->switch_count * (size_t)count,
                                sizeof *torus->link, &torus->link);

    for (int32_t s = 0; !status && s < network->switch_count; s++) {
        status = torus_name_switch(torus, network, s);
        for (int d = 0; !status && d < count; d++) {
            int32_t *link = &torus->link[s * count + d];

            *link = -1;
            if (has_next(torus, s, d))
                status = nw_network_add_link(network, s,
                                             torus_neighbour(torus, s, d, 1),
                                             torus->shape.class[d], link);
        }
    }
    return status;
}

nw_status nw_network_torus(const struct nw_torus *shape,
                           struct nw_network **out)
{
    struct nw_network *network = NULL;
    struct torus *torus;
    int32_t count = 1, diameter = 0;
    nw_status status = nw_alloc(1, sizeof *torus, &torus);

    if (status)
        return status;
    torus->shape = *shape;
    for (int d = shape->dimension_count - 1; d >= 0; d--) {
        torus->stride[d] = count;
        count *= shape->size[d];
        diameter += shape->wrap[d] ? shape->size[d] / 2 : shape->size[d] - 1;
    }
    status = nw_network_new(count, &network);
    if (status) {
        free_torus(torus);
        return status;
    }
    network->ops = &torus_ops;
    network->state = torus;
    network->diameter = diameter;
    status = link_switches(torus, network);
    if (status)
        nw_network_free(network);
    else
        *out = network;
    return status;
}
