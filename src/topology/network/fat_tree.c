/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builds and routes extended generalized fat trees (Ohring et al. 1995) with
 * the parallel links and the D-mod-K routing of Zahavi 2010. Routes are
 * computed without tables.
 *
 * Level 0 has the leaves. Each level l has W = up_1 x ... x up_l switches above
 * each group of leaves, where up_i is the number of switches of level i above
 * one of level i - 1. A switch is number x * W + y of its level. There, x is
 * the number of its group of leaves, and y is its number among the W switches
 * above this group.
 */
#include "base/array.h"
#include "base/status.h"
#include "topology/network/networks.h"

#include <stdlib.h>

#define LIMIT ((int64_t)1 << 30)

/* The links from a level to the level above. */
struct fat_tree_level {
    int64_t down, up, parallel;
    int64_t width;      /* switches of the level above for each of its groups of
                           leaves */
    int32_t first_link; /* number of the first link to the level above */
};

struct fat_tree {
    struct nw_fat_tree shape;
    int level_count;
    struct fat_tree_level level[NW_FAT_TREE_MAX_LEVELS];
};

int32_t nw_fat_tree_leaves(const struct nw_fat_tree *shape)
{
    int64_t leaves = 1;

    for (int l = 0; l < shape->level_count && leaves < LIMIT; l++)
        leaves *= shape->level[l].down;
    return (int32_t)(leaves < LIMIT ? leaves : LIMIT);
}

/* Returns the number of switches in a level, but at most LIMIT. */
static int64_t switches_at(const struct nw_fat_tree *shape, int level)
{
    int64_t count = 1;

    for (int l = 0; l < shape->level_count && count < LIMIT; l++)
        count *= l < level ? shape->level[l].up : shape->level[l].down;
    return count < LIMIT ? count : LIMIT;
}

int64_t nw_fat_tree_switches(const struct nw_fat_tree *shape)
{
    int64_t total = 0;

    for (int l = 0; l <= shape->level_count; l++)
        total += switches_at(shape, l);
    return total < LIMIT ? total : -1;
}

int64_t nw_fat_tree_links(const struct nw_fat_tree *shape)
{
    int64_t total = 0;

    for (int l = 0; l < shape->level_count && total < LIMIT; l++) {
        int64_t each = (int64_t)shape->level[l].up * shape->level[l].parallel;

        if (each >= LIMIT)
            return -1;
        total += switches_at(shape, l) * each;
    }
    return total < LIMIT ? total : -1;
}

/* Returns the lowest level that has a switch above both leaves; 0 if they are
 * the same. */
static int meeting_level(const struct fat_tree *tree, int64_t a, int64_t b)
{
    int l = 0;

    while (a != b) {
        a /= tree->level[l].down;
        b /= tree->level[l].down;
        l++;
    }
    return l;
}

static int32_t fat_tree_distance(const struct nw_network *network, int32_t from,
                                 struct nw_network_end to)
{
    return 2 * meeting_level(network->state, from, to.at);
}

/* Returns the number, among the up x parallel links of a switch of level l, of
 * the link by which the switch sends towards a node (D-mod-K). */
static int64_t port_of(const struct fat_tree *tree, int l, int32_t node)
{
    int64_t below = l ? tree->level[l - 1].width : 1;

    return node / below % (tree->level[l].up * tree->level[l].parallel);
}

/* Returns the number of a link from switch `child` of a level to the level
 * above. `port` is the number of this link among the switch's up x parallel
 * links; port modulo up selects the upper switch. */
static uint32_t link_by(const struct fat_tree_level *level, int64_t child,
                        int64_t port)
{
    int64_t above = port % level->up, strand = port / level->up;

    return (uint32_t)(level->first_link +
                      (child * level->up + above) * level->parallel + strand);
}

static size_t fat_tree_route(const struct nw_network *network, int32_t from,
                             struct nw_network_end to, uint32_t *hops)
{
    const struct fat_tree *tree = network->state;
    int top = meeting_level(tree, from, to.at);
    int64_t a = from, b = to.at, width = 1, y = 0;

    /* The route goes up from one leaf and down to the other. At each level,
     * both switches have the same y, because the link numbers on the way up
     * from both leaves are the same. */
    for (int l = 0; l < top; l++) {
        const struct fat_tree_level *level = &tree->level[l];
        int64_t port = port_of(tree, l, to.node);

        hops[l] = 2 * link_by(level, a * width + y, port);
        hops[2 * top - 1 - l] = 2 * link_by(level, b * width + y, port) + 1;
        y += width * (port % level->up);
        width = level->width;
        a /= level->down;
        b /= level->down;
    }
    return 2 * (size_t)top;
}

static const void *fat_tree_shape_of(const struct nw_network *network)
{
    const struct fat_tree *fat_tree = network->state;

    return &fat_tree->shape;
}

static void fat_tree_visit_classes(struct nw_network *network,
                                   void (*meet)(void *user, int32_t *class),
                                   void *user)
{
    struct fat_tree *fat_tree = network->state;

    for (int l = 0; l < fat_tree->shape.level_count; l++)
        meet(user, &fat_tree->shape.level[l].class);
}

static const struct nw_network_ops fat_tree_ops = {
    .name = "fat_tree",
    .distance = fat_tree_distance,
    .route = fat_tree_route,
    .free_state = free,
    .shape = fat_tree_shape_of,
    .visit = fat_tree_visit_classes,
};

static nw_status name_level(const struct nw_fat_tree *shape,
                            struct nw_network *network, int level,
                            int32_t first)
{
    int32_t count = (int32_t)switches_at(shape, level);
    nw_status status = NW_OK;

    for (int32_t s = 0; !status && s < count; s++)
        status = level
                     ? nw_network_name(network, first + s, "up%d-%d", level, s)
                     : nw_network_name(network, first + s, "leaf%d", s);
    return status;
}

/* Adds the links from a level, which has `width` switches for each group of
 * leaves, to the level above. first[] has the first switch of each of these
 * levels, and the link class. */
static nw_status link_level(const struct fat_tree_level *level, int64_t width,
                            struct nw_network *network, const int32_t first[3])
{
    int32_t below = first[0], above = first[1], class = first[2], link;
    nw_status status = NW_OK;

    for (int64_t child = 0; !status && child < above - below; child++) {
        int64_t x = child / width, y = child % width;

        for (int64_t up = 0; !status && up < level->up; up++)
            for (int64_t p = 0; !status && p < level->parallel; p++)
                status = nw_network_add_link(
                    network, below + (int32_t)child,
                    above + (int32_t)(x / level->down * level->width + y +
                                      width * up),
                    class, &link);
    }
    return status;
}

static nw_status fat_tree_build(const struct nw_fat_tree *shape,
                                struct fat_tree *tree,
                                struct nw_network *network)
{
    int64_t width = 1;
    int32_t below = 0;
    nw_status status = name_level(shape, network, 0, 0);

    for (int l = 0; !status && l < shape->level_count; l++) {
        const struct nw_fat_tree_level *given = &shape->level[l];
        int32_t above = below + (int32_t)switches_at(shape, l);

        tree->level[l] = (struct fat_tree_level){
            .down = given->down,
            .up = given->up,
            .parallel = given->parallel,
            .width = width * given->up,
            .first_link = network->link_count,
        };
        status = name_level(shape, network, l + 1, above);
        if (!status)
            status = link_level(&tree->level[l], width, network,
                                (int32_t[]){below, above, given->class});
        width *= given->up;
        below = above;
    }
    return status;
}

nw_status nw_network_fat_tree(const struct nw_fat_tree *shape,
                              struct nw_network **out)
{
    struct nw_network *network;
    struct fat_tree *tree;
    nw_status status =
        nw_network_new((int32_t)nw_fat_tree_switches(shape), &network);

    if (status)
        return status;
    status = nw_alloc(1, sizeof *tree, &tree);
    if (!status) {
        network->ops = &fat_tree_ops;
        network->state = tree;
        network->diameter = 2 * shape->level_count;
        tree->shape = *shape;
        tree->level_count = shape->level_count;
        status = fat_tree_build(shape, tree, network);
    }
    if (status)
        nw_network_free(network);
    else
        *out = network;
    return status;
}
