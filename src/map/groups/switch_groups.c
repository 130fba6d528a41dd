/* SPDX-License-Identifier: BSD-3-Clause */
/* Grouping by distance, where being near is an equivalence, or as a dragonfly
 * says: its gateways are as near to other groups as to their own. */
#include "map/groups/switch_groups.h"
#include "topology/networks.h"
#include "topology/topology.h"

#include <math.h>
#include <string.h>

static double distance(const struct nw_seats *seats, int32_t a, int32_t b)
{
    return nw_topology_distance(seats->problem->topology,
                                seats->end[seats->first[a]],
                                seats->end[seats->first[b]]);
}

static double least_distance(const struct nw_seats *seats)
{
    int32_t hosts = seats->problem->host_count;
    double least = INFINITY;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < a; b++)
            least = fmin(least, distance(seats, a, b));
    return least;
}

static void count_seats(const struct nw_seats *seats, struct nw_pens *pens)
{
    memset(pens->first, 0, sizeof pens->first);
    for (int32_t h = 0; h < seats->problem->host_count; h++)
        pens->first[pens->pen[h] + 1] += seats->first[h + 1] - seats->first[h];
    for (int32_t p = 0; p < pens->parts; p++)
        pens->first[p + 1] += pens->first[p];
}

/* False where a part has no seats. */
static bool finish(const struct nw_seats *seats, struct nw_pens *pens)
{
    if (pens->parts < 2 || pens->parts > NW_PENS_MOST)
        return false;
    count_seats(seats, pens);
    for (int32_t p = 0; p < pens->parts; p++)
        if (pens->first[p] == pens->first[p + 1])
            return false;
    return true;
}

bool nw_pens_nearest(const struct nw_seats *seats, struct nw_pens *pens)
{
    int32_t hosts = seats->problem->host_count, *pen = pens->pen;
    double reach = least_distance(seats);

    pens->parts = 0;
    for (int32_t h = 0; h < hosts; h++) {
        int32_t k = 0;

        while (k < h && distance(seats, h, k) > reach)
            k++;
        pen[h] = k < h ? pen[k] : pens->parts++;
        for (k = 0; k < h; k++)
            if ((distance(seats, h, k) <= reach) != (pen[h] == pen[k]))
                return false;
    }
    return finish(seats, pens);
}

bool nw_pens_dragonfly(const struct nw_seats *seats, struct nw_pens *pens)
{
    const nw_topology *topology = seats->problem->topology;
    const struct nw_network *network = topology->network;
    const struct nw_dragonfly *shape;

    if (!network || strcmp(network->ops->name, "dragonfly") != 0)
        return false;
    shape = network->ops->shape(network);
    pens->parts = shape->groups;
    if (pens->parts > NW_PENS_MOST)
        return false;
    for (int32_t h = 0; h < seats->problem->host_count; h++) {
        int32_t card = nw_end_card(topology, seats->end[seats->first[h]]);

        pens->pen[h] =
            nw_topology_switch_of(topology, seats->problem->host[h], card) /
            shape->routers;
    }
    return finish(seats, pens);
}

void nw_pens_measure(const struct nw_seats *seats, const struct nw_pens *pens,
                     double *far)
{
    int32_t hosts = seats->problem->host_count;

    for (int32_t a = 0; a < hosts; a++)
        for (int32_t b = 0; b < hosts; b++)
            if (pens->pen[a] != pens->pen[b])
                far[pens->pen[a] * pens->parts + pens->pen[b]] =
                    distance(seats, a, b);
}

void nw_pens_sit(struct nw_seats *seats, const struct nw_pens *pens,
                 const int32_t *part)
{
    int32_t seat[NW_PENS_MOST] = {0};

    for (int32_t r = 0; r < seats->rank_count; r++) {
        int32_t *s = &seat[part[r]];

        while (pens->pen[seats->host[*s]] != part[r])
            ++*s;
        seats->seat[r] = (*s)++;
    }
    nw_seats_sit(seats, seats->seat);
}
