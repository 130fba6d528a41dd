/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine as parts see it: the elements of the nodes that take part, how
 * far apart they are, what share of the load each should have and how much it
 * may have at most. Shares follow the speeds where the ranks an element takes
 * do not hold them down.
 */
#include "base/array.h"
#include "base/status.h"
#include "map/capacity/several.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

enum { TABLE_MOST = 2048 };

static int by_node(const void *a, const void *b, void *context)
{
    const struct nw_map_options *options = context;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int32_t p = options->hosts ? options->hosts[x] : x;
    int32_t q = options->hosts ? options->hosts[y] : y;

    return p < q ? -1 : p > q;
}

static nw_status alloc_hosts(struct nw_many *many, size_t count)
{
    nw_status status = nw_alloc(count, sizeof *many->host, &many->host);

    if (!status)
        status = nw_alloc(count, sizeof *many->slots, &many->slots);
    if (!status)
        status = nw_alloc(count, sizeof *many->order, &many->order);
    if (!status)
        status = nw_alloc(count + 1, sizeof *many->first, &many->first);
    many->host_count = (int32_t)count;
    return status;
}

/* Where every rank has a GPU a node takes as many as it has room there. */
static int32_t slots_beside_gpus(const struct nw_many *many, int32_t h)
{
    int64_t share =
        many->options.ranks_per_gpu ? many->options.ranks_per_gpu : 1;
    int64_t most =
        share * nw_topology_node_gpus(many->topology, many->host[h]).count;

    return most < many->slots[h] ? (int32_t)most : many->slots[h];
}

static int64_t ranks_beside(const struct nw_many *many, int32_t h)
{
    int32_t cores =
        nw_topology_node_elements(many->topology, many->host[h]).count;
    int32_t slots = slots_beside_gpus(many, h);

    return slots < cores ? slots : cores;
}

/* Where there are fewer GPUs than ranks not every rank has one. */
static void heed_gpus(struct nw_many *many)
{
    int64_t room = 0;

    if (!nw_many_is_single(&many->options) || !nw_many_uses_gpus(many))
        return;
    for (int32_t h = 0; h < many->host_count; h++)
        room += ranks_beside(many, h);
    for (int32_t h = 0;
         room >= many->pattern->rank_count && h < many->host_count; h++)
        many->slots[h] = slots_beside_gpus(many, h);
}

static nw_status check_host(const struct nw_many *many, int32_t h)
{
    if (many->host[h] < 0 ||
        many->host[h] >= nw_topology_node_count(many->topology))
        return nw_fail(NW_EINVAL, "there is no node %d", many->host[h]);
    if (h && many->host[h] == many->host[h - 1])
        return nw_fail(NW_EINVAL, "node '%s' is named twice",
                       nw_topology_node_name(many->topology, many->host[h]));
    if (many->slots[h] < 0)
        return nw_fail(NW_EINVAL, "node '%s' has fewer than no slots",
                       nw_topology_node_name(many->topology, many->host[h]));
    return NW_OK;
}

nw_status nw_many_choose_hosts(struct nw_many *many)
{
    struct nw_map_options *options = &many->options;
    size_t count = options->hosts
                       ? options->host_count
                       : (size_t)nw_topology_node_count(many->topology);
    int32_t *place = NULL;
    nw_status status;

    if (!count || count > INT32_MAX)
        return nw_fail(NW_EINVAL, "there is no host to map onto");
    status = alloc_hosts(many, count);
    if (!status)
        status = nw_alloc(count, sizeof *place, &place);
    for (size_t i = 0; !status && i < count; i++)
        place[i] = (int32_t)i;
    if (!status)
        qsort_r(place, count, sizeof *place, by_node, options);
    for (int32_t h = 0; !status && h < many->host_count; h++) {
        int32_t given = place[h];

        many->host[h] = options->hosts ? options->hosts[given] : given;
        many->slots[h] = options->slots ? options->slots[given] : INT32_MAX;
        many->order[given] = h;
        status = check_host(many, h);
        if (!status)
            many->first[h + 1] =
                many->first[h] +
                nw_topology_node_elements(many->topology, many->host[h]).count;
    }
    free(place);
    if (!status)
        heed_gpus(many);
    return status;
}

/* What lies between: as the objective prices a byte or a message. Congestion
 * is served by the time a byte takes on all links of its way. */
static double apart(const struct nw_many *many, struct nw_end a,
                    struct nw_end b, uint32_t *hops)
{
    enum nw_objective objective = many->options.objective;
    double sum = 0;
    size_t count;

    if (objective == NW_OBJECTIVE_HOP_BYTES ||
        !nw_topology_has_links(many->topology))
        return nw_topology_distance(many->topology, a, b);
    count = nw_topology_route(many->topology, a, b, hops);
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(many->topology, (int32_t)(hops[i] / 2));

        sum += objective == NW_OBJECTIVE_LATENCY
                   ? link.latency
                   : 1e9 / link.bandwidth[hops[i] % 2];
    }
    return sum;
}

static bool is_two_way(const nw_topology *topology, struct nw_end a,
                       struct nw_end b)
{
    bool given = topology->network && !topology->network->parent;

    return !topology->matrix && (!given || a.node == b.node);
}

/* Of two ways that differ, the mean. */
static double ask(const struct nw_kmachine *machine, int32_t a, int32_t b)
{
    const struct nw_many *many = machine->user;
    const nw_topology *topology = many->topology;
    struct nw_end ends[2] = {many->end[a], many->end[b]};
    double there = nw_topology_distance(topology, ends[0], ends[1]);

    if (is_two_way(topology, ends[0], ends[1]))
        return there;
    return (there + nw_topology_distance(topology, ends[1], ends[0])) / 2;
}

/* Likewise. */
static nw_status fill_table(struct nw_many *many)
{
    size_t k = (size_t)many->machine.k;
    uint32_t *hops = NULL;
    nw_status status = nw_alloc(k * k, sizeof *many->table, &many->table);

    if (!status)
        status = nw_alloc(nw_topology_route_max(many->topology) + 1,
                          sizeof *hops, &hops);
    for (size_t a = 0; !status && a < k; a++)
        for (size_t b = 0; b <= a; b++) {
            double there = apart(many, many->end[a], many->end[b], hops);
            double back = apart(many, many->end[b], many->end[a], hops);

            many->table[a * k + b] = many->table[b * k + a] =
                (there + back) / 2;
        }
    free(hops);
    many->machine.table = many->table;
    return status;
}

static nw_status alloc_machine(struct nw_many *many)
{
    struct nw_kmachine *m = &many->machine;
    size_t k = (size_t)many->first[many->host_count];
    nw_status status = nw_kmachine_alloc(m, (int32_t)k);

    m->user = many;
    m->distance = ask;
    if (!status)
        status = nw_alloc(k, sizeof *many->element, &many->element);
    if (!status)
        status = nw_alloc(k, sizeof *many->end, &many->end);
    return status;
}

static void list_elements(struct nw_many *many)
{
    for (int32_t h = 0; h < many->host_count; h++) {
        struct nw_range elements =
            nw_topology_node_elements(many->topology, many->host[h]);

        for (int32_t i = 0; i < elements.count; i++) {
            int32_t at = many->first[h] + i;

            many->element[at] = elements.first + i;
            many->end[at] =
                nw_topology_element_end(many->topology, many->element[at]);
        }
    }
}

static int faster_first(const void *a, const void *b, void *context)
{
    const struct nw_many *many = context;
    const double *speeds = many->options.speeds;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    double p = speeds ? speeds[many->element[x]] : 1;
    double q = speeds ? speeds[many->element[y]] : 1;

    return p != q ? (p < q) - (p > q) : (x > y) - (x < y);
}

/* One more for each element in turn, the fastest first. */
static nw_status deal_in_turn(struct nw_many *many, int32_t h, int32_t most,
                              int64_t left)
{
    int32_t *capacity = many->machine.capacity, *order = NULL;
    int32_t low = many->first[h], count = many->first[h + 1] - low;
    nw_status status = nw_alloc((size_t)count, sizeof *order, &order);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++)
        order[i] = low + i;
    qsort_r(order, (size_t)count, sizeof *order, faster_first, many);
    for (int32_t least = 0; left > 0 && least < most; least++)
        for (int32_t i = 0; left > 0 && i < count; i++)
            if (capacity[order[i]] == least) {
                capacity[order[i]]++;
                left--;
            }
    free(order);
    return NW_OK;
}

/* A node's slots are dealt to its elements, after what is fixed to one of
 * them. */
static nw_status deal_slots(struct nw_many *many, int32_t h, int32_t most)
{
    int32_t *capacity = many->machine.capacity;
    int32_t low = many->first[h], high = many->first[h + 1];
    int64_t left = many->slots[h], room = (int64_t)most * (high - low);

    for (int32_t q = low; q < high; q++)
        left -= capacity[q];
    if (left < 0)
        return nw_fail_about(
            NW_FIXED(-1), NW_EINVAL,
            "node '%s' has %d slots and %lld fixed ranks",
            nw_topology_node_name(many->topology, many->host[h]),
            many->slots[h], (long long)(many->slots[h] - left));
    if (many->slots[h] == INT32_MAX || many->slots[h] >= room) {
        for (int32_t q = low; q < high; q++)
            capacity[q] = most;
        return NW_OK;
    }
    return deal_in_turn(many, h, most, left);
}

static nw_status set_capacities(struct nw_many *many)
{
    const struct nw_kgraph *g = &many->graph;
    int32_t *capacity = many->machine.capacity, most = many->options.capacity;
    int64_t room = 0;
    nw_status status = NW_OK;

    if (!most || most > g->n)
        most = g->n;
    for (int32_t v = 0; g->range && v < g->n; v++) {
        int32_t q = g->range[v].low;

        if (g->range[v].high == q + 1 && ++capacity[q] > most)
            return nw_fail_about(
                NW_FIXED(-1), NW_EINVAL,
                "more than %d ranks are fixed to one "
                "element of node '%s'",
                most, nw_topology_node_name(many->topology, many->end[q].node));
    }
    for (int32_t h = 0; !status && h < many->host_count; h++)
        status = deal_slots(many, h, most);
    for (int32_t q = 0; !status && q < many->machine.k; q++)
        room += capacity[q];
    if (!status && room < g->n)
        return nw_fail_about(NW_HOSTS, NW_EINVAL,
                             "%d ranks do not fit: %d elements take %lld", g->n,
                             many->machine.k, (long long)room);
    return status;
}

static double speed_of(const struct nw_many *many, int32_t q)
{
    if (!many->machine.capacity[q])
        return 0;
    return many->options.speeds ? many->options.speeds[many->element[q]] : 1;
}

/* Elements share the load in proportion to their speeds; none more than the
 * ranks it takes, of mean load, amount to; a single one may be the heaviest.
 * `level` is load for speed 1. */
static double share_at(const struct nw_many *many, int32_t q, double level,
                       double mean)
{
    int32_t capacity = many->machine.capacity[q];
    double most = (double)capacity * mean;

    if (capacity == 1)
        most = (double)many->heaviest;
    return fmin(speed_of(many, q) * level, most);
}

static double share_out(struct nw_many *many, double level, double mean)
{
    struct nw_kmachine *m = &many->machine;
    double sum = 0;

    for (int32_t q = 0; q < m->k; q++)
        sum += m->share[q] = share_at(many, q, level, mean);
    return sum;
}

/* The level at which everything is shared out: doubled, then halved in. */
static void share_by_speed(struct nw_many *many, double all, double mean)
{
    double low = 0, high = 1e-300;

    while (share_out(many, high, mean) < all * (1 - 1e-12) && high < 1e300) {
        low = high;
        high *= 2;
    }
    for (int i = 0; i < 60; i++) {
        double level = (low + high) / 2;

        if (share_out(many, level, mean) < all)
            low = level;
        else
            high = level;
    }
    share_out(many, high, mean);
}

/* Without a limit on load the fewest elements are taken, from the first. */
static void share_by_order(struct nw_many *many, double all, double mean)
{
    struct nw_kmachine *m = &many->machine;

    for (int32_t q = 0; q < m->k; q++) {
        m->share[q] = fmin(all, m->capacity[q] * mean);
        all -= m->share[q];
    }
}

static nw_status check_loads(const struct nw_many *many)
{
    const struct nw_kgraph *g = &many->graph;
    const struct nw_kmachine *m = &many->machine;
    nw_kload most = 0;

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

static bool is_even(const struct nw_kmachine *m)
{
    for (int32_t q = 1; q < m->k; q++)
        if (m->share[q] != m->share[0])
            return false;
    return true;
}

/* What a share is rounded up to: exactly where all are the same, else with
 * what doubles leave out. */
static nw_kload round_up(const struct nw_kmachine *m, int32_t q,
                         nw_kload all_even)
{
    double share = m->share[q], whole = ceil(share * (1 - 1e-9));

    if (all_even)
        return (all_even + m->k - 1) / m->k;
    return (nw_kload)(whole < share - 1 ? ceil(share * (1 + 1e-15)) : whole);
}

static nw_status set_limits(struct nw_many *many)
{
    struct nw_kmachine *m = &many->machine;
    double imbalance = many->options.imbalance, mean;
    nw_kload all = 0, all_even;

    for (int32_t v = 0; v < many->graph.n; v++) {
        all += many->graph.load[v];
        if (many->graph.load[v] > many->heaviest)
            many->heaviest = many->graph.load[v];
    }
    mean = (double)all / many->graph.n;
    if (imbalance < 0)
        share_by_order(many, (double)all, mean);
    else
        share_by_speed(many, (double)all, mean);
    all_even = is_even(m) ? all : 0;
    for (int32_t q = 0; q < m->k; q++) {
        nw_kload load = round_up(m, q, all_even);

        m->limit[q] = imbalance < 0
                          ? all
                          : load + (nw_kload)(imbalance * (double)load + 1e-6);
    }
    return check_loads(many);
}

static nw_status check_speeds(const struct nw_many *many)
{
    const double *speeds = many->options.speeds;
    double sum = 0;

    for (int32_t q = 0; speeds && q < many->machine.k; q++) {
        double speed = speeds[many->element[q]];

        if (!(speed >= 0) || speed > 1e100)
            return nw_fail(NW_EINVAL,
                           "the speed of element %d is no number from 0 to "
                           "1e100",
                           many->element[q]);
        sum += speed;
    }
    return speeds && sum == 0
               ? nw_fail(NW_EINVAL, "the speeds of all elements are 0")
               : NW_OK;
}

nw_status nw_many_make_machine(struct nw_many *many)
{
    struct nw_kmachine *m = &many->machine;
    nw_status status = alloc_machine(many);

    if (status)
        return status;
    list_elements(many);
    for (int32_t q = 1; q < m->k; q++)
        m->step[q] = nw_topology_distance(many->topology, many->end[q - 1],
                                          many->end[q]);
    status = check_speeds(many);
    if (!status)
        status = set_capacities(many);
    if (!status)
        status = set_limits(many);
    if (!status && m->k <= TABLE_MOST)
        status = fill_table(many);
    return status;
}
