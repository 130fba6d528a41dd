/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds and routes dragonflies (Kim et al. 2008): local links join all routers
 * of a group, and global links join the groups. The global ports of a group are
 * numbered router by router. They lead to the other groups in order, and then
 * to the same groups again, round by round. Routes are minimal: at most one
 * local, one global and one local link.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"

#include <limits.h>
#include <stdlib.h>

/* The state of a dragonfly. */
struct dragonfly {
    struct nw_dragonfly shape;
    int32_t rounds;       /* global links between two groups */
    int32_t locals;       /* local links in a group */
    int32_t first_global; /* number of the first global link */
};

int32_t nw_dragonfly_rounds(const struct nw_dragonfly *shape)
{
    int64_t ports = (int64_t)shape->routers * shape->global_links;

    if (shape->groups < 2)
        return 1;
    ports /= shape->groups - 1;
    return (int32_t)(ports < INT32_MAX ? ports : INT32_MAX);
}

/* Returns the number, from 0, of the pair (i, j), i < j, among all pairs of n
 * items in lexicographic order. The number of (n - 1, n) is the count of pairs.
 */
static int32_t pair_number(int32_t i, int32_t j, int32_t n)
{
    return (int32_t)((int64_t)i * n - (int64_t)i * (i + 1) / 2 + j - i - 1);
}

/* Returns the router of group `from` that has the link number `round` to group
 * `to`. */
static int32_t dragonfly_gateway(const struct dragonfly *fly, int32_t from,
                                 int32_t to, int32_t round)
{
    int32_t port = round * (fly->shape.groups - 1) + (to < from ? to : to - 1);

    return from * fly->shape.routers + port / fly->shape.global_links;
}

/* A path between routers of two groups, by the global link number `round` of
 * these groups. */
struct dragonfly_path {
    int32_t out, in; /* routers at both ends of the global link, in the
                        direction of the path */
    int32_t round, length;
};

/* Returns the path from one router to another by the global link number
 * `round`. */
static struct dragonfly_path dragonfly_path_by(const struct dragonfly *fly,
                                               int32_t from, int32_t to,
                                               int32_t round)
{
    int32_t a = from / fly->shape.routers, b = to / fly->shape.routers;
    struct dragonfly_path path = {.out = dragonfly_gateway(fly, a, b, round),
                                  .in = dragonfly_gateway(fly, b, a, round),
                                  .round = round};

    path.length = (path.out != from) + 1 + (path.in != to);
    return path;
}

/* Returns the shortest path between routers of two groups. If several global
 * links give equally short paths, the destination node selects one. */
static struct dragonfly_path dragonfly_best_path(const struct dragonfly *fly,
                                                 int32_t from,
                                                 struct nw_network_end to)
{
    struct dragonfly_path path = {.length = INT_MAX};
    int32_t ties = 0, turn;

    for (int32_t r = 0; r < fly->rounds; r++) {
        struct dragonfly_path this = dragonfly_path_by(fly, from, to.at, r);

        ties =
            this.length < path.length ? 1 : ties + (this.length == path.length);
        path = this.length < path.length ? this : path;
    }
    turn = to.node % ties;
    for (int32_t r = path.round; turn; r++) {
        struct dragonfly_path this = dragonfly_path_by(fly, from, to.at, r + 1);

        if (this.length == path.length && --turn == 0)
            path = this;
    }
    return path;
}

static int32_t dragonfly_distance(const struct nw_network *network,
                                  int32_t from, struct nw_network_end to)
{
    const struct dragonfly *fly = network->state;

    if (from / fly->shape.routers == to.at / fly->shape.routers)
        return from != to.at;
    return dragonfly_best_path(fly, from, to).length;
}

/* Writes the hop over the local link between two routers of a group. Returns
 * the number of hops: 0 if both are the same router, else 1. */
static size_t local_hop(const struct dragonfly *fly, int32_t from, int32_t to,
                        uint32_t *hops)
{
    int32_t n = fly->shape.routers, group = from / n;
    int32_t i = from % n, j = to % n;

    if (i == j)
        return 0;
    hops[0] =
        2 * (uint32_t)(group * fly->locals +
                       (i < j ? pair_number(i, j, n) : pair_number(j, i, n))) +
        (i > j);
    return 1;
}

static size_t dragonfly_route(const struct nw_network *network, int32_t from,
                              struct nw_network_end to, uint32_t *hops)
{
    const struct dragonfly *fly = network->state;
    int32_t n = fly->shape.groups;
    int32_t a = from / fly->shape.routers, b = to.at / fly->shape.routers;
    struct dragonfly_path path;
    size_t count;

    if (a == b)
        return local_hop(fly, from, to.at, hops);
    path = dragonfly_best_path(fly, from, to);
    count = local_hop(fly, from, path.out, hops);
    hops[count++] =
        2 * (uint32_t)(fly->first_global +
                       (a < b ? pair_number(a, b, n) : pair_number(b, a, n)) *
                           fly->rounds +
                       path.round) +
        (a > b);
    return count + local_hop(fly, path.in, to.at, hops + count);
}

static const void *dragonfly_shape_of(const struct nw_network *network)
{
    const struct dragonfly *dragonfly = network->state;

    return &dragonfly->shape;
}

static void dragonfly_visit_classes(struct nw_network *network,
                                    void (*meet)(void *user, int32_t *class),
                                    void *user)
{
    struct dragonfly *dragonfly = network->state;

    meet(user, &dragonfly->shape.local_class);
    meet(user, &dragonfly->shape.global_class);
}

static const struct nw_network_ops dragonfly_ops = {
    .name = "dragonfly",
    .distance = dragonfly_distance,
    .route = dragonfly_route,
    .free_state = free,
    .shape = dragonfly_shape_of,
    .visit = dragonfly_visit_classes,
};

static nw_status link_groups(const struct dragonfly *fly,
                             struct nw_network *network)
{
    int32_t link;
    nw_status status = NW_OK;

    for (int32_t a = 0; !status && a < fly->shape.groups; a++)
        for (int32_t b = a + 1; !status && b < fly->shape.groups; b++)
            for (int32_t r = 0; !status && r < fly->rounds; r++)
                status = nw_network_add_link(network,
                                             dragonfly_gateway(fly, a, b, r),
                                             dragonfly_gateway(fly, b, a, r),
                                             fly->shape.global_class, &link);
    return status;
}

static nw_status link_routers(const struct dragonfly *fly,
                              struct nw_network *network)
{
    int32_t n = fly->shape.routers, link;
    nw_status status = NW_OK;

    for (int32_t s = 0; !status && s < network->switch_count; s++) {
        status = nw_network_name(network, s, "g%dr%d", s / n, s % n);
        for (int32_t j = s % n + 1; !status && j < n; j++)
            status = nw_network_add_link(network, s, s / n * n + j,
                                         fly->shape.local_class, &link);
    }
    return status;
}

nw_status nw_network_dragonfly(const struct nw_dragonfly *shape,
                               struct nw_network **out)
{
    struct nw_network *network = NULL;
    struct dragonfly *fly;
    int32_t n = shape->routers;
    nw_status status = nw_alloc(1, sizeof *fly, &fly);

    if (status)
        return status;
    *fly = (struct dragonfly){.shape = *shape,
                              .rounds = nw_dragonfly_rounds(shape),
                              .locals = pair_number(n - 1, n, n)};
    fly->first_global = shape->groups * fly->locals;
    status = nw_network_new(shape->groups * n, &network);
    if (status) {
        free(fly);
        return status;
    }
    network->ops = &dragonfly_ops;
    network->state = fly;
    network->diameter = 3;
    status = link_routers(fly, network);
    if (!status)
        status = link_groups(fly, network);
    if (status)
        nw_network_free(network);
    else
        *out = network;
    return status;
}
