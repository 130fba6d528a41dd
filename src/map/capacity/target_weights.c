/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the machine of the k-way engine: the elements of the nodes that take
 * part, their distances, and for each element the wanted load (its share) and
 * the largest allowed load. With a limit of load, shares are proportional to
 * the speeds of the elements, unless an element takes too few ranks for its
 * share. Without one, the elements are filled in order.
 */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "map/capacity/several.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* most elements for which the table of all distances is made */
enum { TABLE_MAX = 2048 };

/* Returns how many ranks with a GPU host h takes: its slots, but at most its
 * GPUs times the ranks that may share a GPU. */
static int32_t
target_weights_slots_beside_gpus(const struct nw_several *several, int32_t h)
{
    int64_t share =
        several->options.ranks_per_gpu ? several->options.ranks_per_gpu : 1;
    int64_t most =
        share *
        nw_topology_node_gpus(several->topology, several->host[h]).count;

    return most < several->slots[h] ? (int32_t)most : several->slots[h];
}

/* With one rank per element and ranks that use GPUs, limits the slots of each
 * host to the number of ranks that its GPUs take. If the hosts have too few
 * GPUs for all ranks, some ranks use none, and the slots stay. */
static void target_weights_limit_to_gpus(struct nw_several *several)
{
    int64_t total = 0;

    if (!nw_several_is_single(&several->options) ||
        !nw_several_uses_gpus(several))
        return;
    for (int32_t h = 0; h < several->host_count; h++) {
        int32_t cores =
            nw_topology_node_elements(several->topology, several->host[h])
                .count;
        int32_t slots = target_weights_slots_beside_gpus(several, h);

        total += slots < cores ? slots : cores;
    }
    for (int32_t h = 0;
         total >= several->pattern->rank_count && h < several->host_count; h++)
        several->slots[h] = target_weights_slots_beside_gpus(several, h);
}

/* Fills the arrays of hosts, in the order of the topology. place[i]: index of
 * node i in the list of hosts of the options; -1: the node is not in it.
 * Returns NW_EINVAL if a host has a negative number of slots. */
static nw_status target_weights_list_hosts(struct nw_several *several,
                                           const int32_t *place)
{
    const int32_t *slots = several->options.slots;
    int32_t h = 0;

    for (int32_t i = 0; h < several->host_count; i++) {
        several->host_of[i] = place[i] < 0 ? -1 : h;
        if (place[i] < 0)
            continue;
        several->host[h] = i;
        several->slots[h] = slots ? slots[place[i]] : INT32_MAX;
        several->order[place[i]] = h;
        if (several->slots[h] < 0)
            return nw_fail(NW_EINVAL,
                           "node '%s' has a negative number of slots",
                           nw_topology_node_name(several->topology, i));
        several->first[h + 1] =
            several->first[h] +
            nw_topology_node_elements(several->topology, i).count;
        h++;
    }
    return NW_OK;
}

int32_t nw_several_host_find(const struct nw_several *several, const char *name)
{
    int32_t node = nw_topology_node_find(several->topology, name);

    return node < 0 ? -1 : several->host_of[node];
}

nw_status nw_several_choose_hosts(struct nw_several *several)
{
    const struct nw_map_options *options = &several->options;
    size_t nodes = (size_t)nw_topology_node_count(several->topology);
    size_t count = options->hosts ? options->host_count : nodes;
    int32_t *place = NULL;
    nw_status status = nw_problem_check_hosts(several->topology, options);

    if (!status && !count)
        status = nw_fail(NW_EINVAL, "no hosts to map onto");
    if (!status)
        status = NW_ALLOC_ALL(
            NW_ARRAY(count, several->host), NW_ARRAY(count, several->slots),
            NW_ARRAY(count, several->order), NW_ARRAY(nodes, several->host_of),
            NW_ARRAY(count + 1, several->first), NW_ARRAY(nodes, place));
    if (status)
        return status;
    several->host_count = (int32_t)count;
    for (size_t i = 0; i < nodes; i++)
        place[i] = options->hosts ? -1 : (int32_t)i;
    for (size_t i = 0; options->hosts && i < count; i++)
        place[options->hosts[i]] = (int32_t)i;
    status = target_weights_list_hosts(several, place);
    if (!status)
        target_weights_limit_to_gpus(several);
    free(place);
    return status;
}

/* Returns the distance from a to b by which the objective weighs traffic:
 * - hop-bytes, or a machine without links: nw_topology_distance (the number of
 *   links, or the distance that the topology gives);
 * - latency: the latency of the route in seconds;
 * - objectives that depend on link loads: the sum of the times in ns that a
 *   byte takes on each link.
 * `hops`: scratch for one route. */
static double target_weights_apart(const struct nw_several *several,
                                   struct nw_end a, struct nw_end b,
                                   uint32_t *hops)
{
    enum nw_objective objective = several->options.objective;
    double sum = 0;
    size_t count;

    if (objective == NW_OBJECTIVE_HOP_BYTES ||
        !nw_topology_has_links(several->topology))
        return nw_topology_distance(several->topology, a, b);
    count = nw_topology_route(several->topology, a, b, hops);
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(several->topology, (int32_t)(hops[i] / 2));

        sum += objective == NW_OBJECTIVE_LATENCY
                   ? link.latency
                   : 1e9 / link.bandwidth[hops[i] % 2];
    }
    return sum;
}

/* Function nw_kway_machine.distance for machines with too many elements for a
 * table. Returns nw_topology_distance for every objective, as the mean of both
 * directions. The directions may differ if distances come from a matrix, or
 * from the given routes of a network. */
static double target_weights_ask(const struct nw_kway_machine *machine,
                                 int32_t a, int32_t b)
{
    const struct nw_several *several = machine->user;
    const nw_topology *topology = several->topology;
    struct nw_end ends[2] = {several->end[a], several->end[b]};
    bool given = topology->network && !topology->network->parent;
    double there = nw_topology_distance(topology, ends[0], ends[1]);

    if (!topology->matrix && (!given || ends[0].node == ends[1].node))
        return there;
    return (there + nw_topology_distance(topology, ends[1], ends[0])) / 2;
}

/* Fills the table with the distance of each two elements by which the objective
 * weighs traffic: the mean of both directions. */
static nw_status target_weights_fill_table(struct nw_several *several)
{
    size_t k = (size_t)several->machine.k;
    uint32_t *hops = NULL;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(k * k, several->table),
        NW_ARRAY(nw_topology_route_max(several->topology) + 1, hops));

    for (size_t a = 0; !status && a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double there = target_weights_apart(several, several->end[a],
                                                several->end[b], hops);
            double back = target_weights_apart(several, several->end[b],
                                               several->end[a], hops);

            several->table[a * k + b] = several->table[b * k + a] =
                (there + back) / 2;
        }
    free(hops);
    several->machine.table = several->table;
    return status;
}

/* Allocates the arrays of elements and fills `element` and `end`. */
static nw_status target_weights_list_elements(struct nw_several *several)
{
    struct nw_kway_machine *m = &several->machine;
    size_t k = (size_t)several->first[several->host_count];
    nw_status status = nw_kway_machine_alloc(m, (int32_t)k);

    m->user = several;
    m->distance = target_weights_ask;
    if (!status)
        status = NW_ALLOC_ALL(NW_ARRAY(k, several->element),
                              NW_ARRAY(k, several->end));
    for (int32_t h = 0; !status && h < several->host_count; h++) {
        int32_t element =
            nw_topology_node_elements(several->topology, several->host[h])
                .first;

        for (int32_t q = several->first[h]; q < several->first[h + 1]; q++) {
            several->element[q] = element;
            several->end[q] =
                nw_topology_element_end(several->topology, element++);
        }
    }
    return status;
}

/* Compares two elements for sorting: the faster one comes first; of equal
 * speeds, the one with the lower number. `context`: the struct nw_several. */
static int target_weights_faster_first(const void *a, const void *b,
                                       void *context)
{
    const struct nw_several *several = context;
    const double *speeds = several->options.speeds;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    double p = speeds ? speeds[several->element[x]] : 1;
    double q = speeds ? speeds[several->element[y]] : 1;

    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* Distributes `left` slots of host h among its elements: one to each element in
 * turn, the fastest element first. Elements that already have slots for fixed
 * ranks get further ones later. `most`: most slots of an element. */
static nw_status target_weights_distribute_in_turn(struct nw_several *several,
                                                   int32_t h, int32_t most,
                                                   int64_t left)
{
    int32_t *capacity = several->machine.capacity, *order = NULL;
    int32_t low = several->first[h], count = several->first[h + 1] - low;
    nw_status status = nw_alloc((size_t)count, sizeof *order, &order);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++)
        order[i] = low + i;
    qsort_r(order, (size_t)count, sizeof *order, target_weights_faster_first,
            several);
    for (int32_t least = 0; left > 0 && least < most; least++)
        for (int32_t i = 0; left > 0 && i < count; i++)
            if (capacity[order[i]] == least) {
                capacity[order[i]]++;
                left--;
            }
    free(order);
    return NW_OK;
}

/* Sets the capacities (numbers of ranks) of the elements of host h so that they
 * sum to its slots, but none exceeds `most`. On entry they count the ranks that
 * are fixed to one element. Returns NW_EINVAL if these are more than the slots.
 */
static nw_status target_weights_distribute_slots(struct nw_several *several,
                                                 int32_t h, int32_t most)
{
    int32_t *capacity = several->machine.capacity;
    int32_t low = several->first[h], high = several->first[h + 1];
    int64_t left = several->slots[h], total = (int64_t)most * (high - low);

    for (int32_t q = low; q < high; q++)
        left -= capacity[q];
    if (left < 0)
        return nw_fail_about(
            NW_FIXED(-1), NW_EINVAL,
            "node '%s' has %d slot%s and %lld fixed rank%s",
            nw_topology_node_name(several->topology, several->host[h]),
            several->slots[h], nw_plural((uint64_t)several->slots[h]),
            (long long)(several->slots[h] - left),
            nw_plural((uint64_t)(several->slots[h] - left)));
    if (several->slots[h] == INT32_MAX || several->slots[h] >= total) {
        for (int32_t q = low; q < high; q++)
            capacity[q] = most;
        return NW_OK;
    }
    return target_weights_distribute_in_turn(several, h, most, left);
}

/* Sets how many ranks each element takes. Returns NW_EINVAL if the ranks do not
 * fit on all elements together, or fixed ranks on one element or host. */
static nw_status target_weights_set_capacities(struct nw_several *several)
{
    const struct nw_graph *g = &several->graph;
    int32_t *capacity = several->machine.capacity,
            most = several->options.capacity;
    int64_t total = 0;
    nw_status status = NW_OK;

    if (!most || most > g->n)
        most = g->n;
    for (int32_t v = 0; g->range && v < g->n; v++) {
        int32_t q = g->range[v].low;

        if (g->range[v].high == q + 1 && ++capacity[q] > most)
            return nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "more than %d rank%s fixed to one element of node '%s'", most,
                nw_by_count((uint64_t)most, " is", "s are"),
                nw_topology_node_name(several->topology, several->end[q].node));
    }
    for (int32_t h = 0; !status && h < several->host_count; h++)
        status = target_weights_distribute_slots(several, h, most);
    for (int32_t q = 0; !status && q < several->machine.k; q++)
        total += capacity[q];
    if (!status && total < g->n)
        return nw_fail_about(
            NW_HOSTS, NW_EINVAL,
            "%d rank%s not fit: %d element%s %lld; use more nodes, more slots "
            "on each or a larger --capacity",
            g->n, nw_by_count((uint64_t)g->n, " does", "s do"),
            several->machine.k,
            nw_by_count((uint64_t)several->machine.k, " takes", "s take"),
            (long long)total);
    return status;
}

/* Sets the shares of all elements for a level (load of an element of speed 1)
 * and returns their sum. A share is the speed times `level`, but at most the
 * load of as many ranks of mean load `mean` as the element takes. If it takes
 * only one rank, the bound is the load of the heaviest rank. */
static double target_weights_share_out(struct nw_several *several, double level,
                                       double mean)
{
    struct nw_kway_machine *m = &several->machine;
    const double *speeds = several->options.speeds;
    double sum = 0;

    for (int32_t q = 0; q < m->k; q++) {
        double speed = speeds ? speeds[several->element[q]] : 1;
        double most = m->capacity[q] == 1 ? (double)several->heaviest
                                          : m->capacity[q] * mean;

        sum += m->share[q] = fmin(speed * level, most);
    }
    return sum;
}

/* Sets the shares for the level (load of an element of speed 1) at which they
 * sum to `all`, the load of all ranks. Finds it by doubling, then by bisection.
 * `mean`: mean load of a rank. */
static void target_weights_share_by_speed(struct nw_several *several,
                                          double all, double mean)
{
    double low = 0, high = 1e-300;

    while (target_weights_share_out(several, high, mean) < all * (1 - 1e-12) &&
           high < 1e300) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60; i++) {
        double level = (low + high) / 2;

        if (target_weights_share_out(several, level, mean) < all)
            low = level;
        else
            high = level;
    }
    target_weights_share_out(several, high, mean);
}

/* Sets the shares if load is not limited: each element in order takes as many
 * ranks as it can, so that the fewest elements are used. `all`: load of all
 * ranks; `mean`: mean load of a rank. */
static void target_weights_share_by_order(struct nw_several *several,
                                          double all, double mean)
{
    struct nw_kway_machine *m = &several->machine;

    for (int32_t q = 0; q < m->k; q++) {
        m->share[q] = fmin(all, m->capacity[q] * mean);
        all -= m->share[q];
    }
}

/* Returns NW_EINVAL if a rank is heavier than the limit of every element. */
static nw_status target_weights_check_loads(const struct nw_several *several)
{
    const struct nw_graph *g = &several->graph;
    const struct nw_kway_machine *m = &several->machine;
    nw_graph_load most = 0;

    for (int32_t q = 0; q < m->k; q++)
        if (m->limit[q] > most)
            most = m->limit[q];
    for (int32_t v = 0; v < g->n; v++)
        if (g->load[v] > most)
            return nw_fail(NW_EINVAL,
                           "rank %d has weight %lld, and no element may have "
                           "more than %lld: a larger imbalance is needed",
                           v, (long long)g->load[v], (long long)most);
    return NW_OK;
}

/* Returns the share of element q, rounded up to a whole number. If all shares
 * are equal, `all_even` is the load of all ranks, from which the result is
 * exact. Otherwise it is 0: then a share above a whole number by less than 1e-9
 * of its value, and less than 1, becomes this number, because the excess is a
 * rounding error. */
static nw_graph_load target_weights_round_up(const struct nw_kway_machine *m,
                                             int32_t q, nw_graph_load all_even)
{
    double share = m->share[q], whole = ceil(share * (1 - 1e-9));

    if (all_even)
        return (all_even + m->k - 1) / m->k;
    return (nw_graph_load)(whole < share - 1 ? ceil(share * (1 + 1e-15))
                                             : whole);
}

/* Sets the share and the limit of load of each element, and several->heaviest.
 * The limit is the share, rounded up, plus the fraction --imbalance of it;
 * without --imbalance, the load of all ranks. Returns NW_EINVAL if a rank is
 * too heavy for every element. */
static nw_status target_weights_set_limits(struct nw_several *several)
{
    struct nw_kway_machine *m = &several->machine;
    double imbalance = several->options.imbalance, mean;
    nw_graph_load all = 0, all_even;

    for (int32_t v = 0; v < several->graph.n; v++) {
        all += several->graph.load[v];
        if (several->graph.load[v] > several->heaviest)
            several->heaviest = several->graph.load[v];
    }
    mean = (double)all / several->graph.n;
    if (imbalance < 0)
        target_weights_share_by_order(several, (double)all, mean);
    else
        target_weights_share_by_speed(several, (double)all, mean);
    all_even = all;
    for (int32_t q = 1; q < m->k; q++)
        if (m->share[q] != m->share[0])
            all_even = 0;
    for (int32_t q = 0; q < m->k; q++) {
        nw_graph_load load = target_weights_round_up(m, q, all_even);

        m->limit[q] =
            imbalance < 0
                ? all
                : load + (nw_graph_load)(imbalance * (double)load + 1e-6);
    }
    return target_weights_check_loads(several);
}

/* Returns NW_EINVAL if a speed is not a number from 0 to 1e100, or if all
 * speeds are 0. */
static nw_status target_weights_check_speeds(const struct nw_several *several)
{
    const double *speeds = several->options.speeds;
    double sum = 0;

    for (int32_t q = 0; speeds && q < several->machine.k; q++) {
        double speed = speeds[several->element[q]];

        if (!(speed >= 0) || speed > 1e100)
            return nw_fail(
                NW_EINVAL,
                "the speed of element %d is not a number from 0 to 1e100",
                several->element[q]);
        sum += speed;
    }
    return speeds && sum == 0
               ? nw_fail(NW_EINVAL, "the speeds of all elements are 0")
               : NW_OK;
}

nw_status nw_several_to_machine(struct nw_several *several)
{
    struct nw_kway_machine *m = &several->machine;
    nw_status status = target_weights_list_elements(several);

    if (status)
        return status;
    for (int32_t q = 1; q < m->k; q++)
        m->step[q] = nw_topology_distance(several->topology,
                                          several->end[q - 1], several->end[q]);
    status = target_weights_check_speeds(several);
    if (!status)
        status = target_weights_set_capacities(several);
    if (!status)
        status = target_weights_set_limits(several);
    if (!status && m->k <= TABLE_MAX)
        status = target_weights_fill_table(several);
    return status;
}
