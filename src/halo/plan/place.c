/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Places the parts of the partition on the nodes of the machine, then the
 * pieces of each node on its slots. Both are quadratic assignment problems: the
 * flows are the exchanged bytes, and the distances are sums of reciprocal
 * bandwidths along the routes, or distances that the topology states.
 */
#include "halo/plan/assignment.h"
#include "halo/plan/busiest_link.h"
#include "halo/plan/layout.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct placing {
    nw_halo_layout *layout;
    const struct nw_halo_options *options;
    const nw_topology *topology; /* NULL: all nodes and slots are equal */
    uint32_t *hops;              /* space for one route */
    struct nw_halo_transfers transfers;
    /* The matrices and the result of the last node whose pieces were placed. A
     * later node with equal matrices gets the same result. */
    int32_t known_count;
    double *known; /* flow matrix, then distance matrix */
    int32_t *known_at;
    struct nw_halo_assigned known_report;
    /* [node_count] machine node of each partition node */
    int32_t *machine_node;
};

/* Returns the distance of two ends: the sum of the reciprocal bandwidths of all
 * links on their route. So a route through the processors is longer than a
 * single link with the same bandwidth, because other traffic shares the
 * processors. If the topology has no links, returns the distance that the
 * topology states. */
static double place_far(struct placing *work, struct nw_end a, struct nw_end b)
{
    double sum = 0;
    size_t count;

    if (!nw_topology_has_links(work->topology))
        return nw_topology_distance(work->topology, a, b);
    count = nw_topology_route(work->topology, a, b, work->hops);
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(work->topology, (int32_t)(work->hops[i] / 2));

        sum += 1 / link.bandwidth[work->hops[i] & 1];
    }
    return sum;
}

/* Returns the GPU of a slot, or its core if the node has no GPU. A slot number
 * is taken modulo the number of GPUs or cores. */
static struct nw_end slot_end(const struct placing *work, int32_t node,
                              int32_t slot)
{
    struct nw_range gpus = nw_topology_node_gpus(work->topology, node);
    struct nw_range range =
        gpus.count ? gpus : nw_topology_node_elements(work->topology, node);
    int32_t at = range.first + slot % (range.count ? range.count : 1);

    return gpus.count ? nw_topology_gpu_end(work->topology, at)
                      : nw_topology_element_end(work->topology, at);
}

static double bytes_of(const struct placing *work,
                       const struct nw_halo_transfer *transfer)
{
    return (double)work->layout->domain.cell_bytes *
           (double)transfer->extent[0] * (double)transfer->extent[1] *
           (double)transfer->extent[2];
}

/* --- nodes on the network --- */

static void node_matrices(struct placing *work, double *flow, double *distance)
{
    const nw_halo_layout *layout = work->layout;
    int32_t n = layout->node_count;

    for (size_t i = 0; i < work->transfers.count; i++) {
        const struct nw_halo_transfer *transfer = &work->transfers.item[i];
        int32_t a = layout->piece[transfer->from].node;
        int32_t b = layout->piece[transfer->to].node;

        if (a != b)
            flow[(size_t)a * n + b] += bytes_of(work, transfer);
    }
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++)
            if (a != b)
                distance[(size_t)a * n + b] =
                    place_far(work, slot_end(work, a, 0), slot_end(work, b, 0));
}

static bool place_even(const nw_halo_layout *layout)
{
    for (int32_t i = 0; i < layout->node_count; i++)
        if (layout->first[i + 1] - layout->first[i] != layout->first[1])
            return false;
    return true;
}

/* Restores the trivial placement of nodes if its most loaded link is busy for a
 * shorter time than that of the solved placement. The reason is that the most
 * loaded link, not the sum of distances, determines the time of an exchange.
 * All nodes must have the same number of slots. */
static nw_status place_doubt(struct placing *work,
                             struct nw_halo_assigned *report)
{
    const nw_halo_layout *layout = work->layout;
    struct nw_halo_network network = {layout, work->topology, &work->transfers,
                                      layout->first[1], NULL};
    size_t count = (size_t)layout->node_count * (size_t)network.slots;
    struct nw_end *end = NULL;
    int32_t *order = NULL;
    double placed = 0, trivial = 0;
    nw_status status = nw_alloc(count, sizeof *end, &end);

    if (!status)
        status = nw_alloc((size_t)layout->node_count, sizeof *order, &order);
    for (size_t i = 0; !status && i < count; i++)
        end[i] = slot_end(work, (int32_t)i / network.slots,
                          (int32_t)i % network.slots);
    for (int32_t i = 0; !status && i < layout->node_count; i++)
        order[i] = i;
    network.end = end;
    if (!status)
        status = nw_halo_busiest(&network, work->machine_node, &placed);
    if (!status)
        status = nw_halo_busiest(&network, order, &trivial);
    if (!status && trivial < placed) {
        memcpy(work->machine_node, order,
               (size_t)layout->node_count * sizeof *order);
        report->exact = report->exact && report->cost >= report->trivial_cost;
        report->cost = report->trivial_cost;
    }
    free(end);
    free(order);
    return status;
}

static nw_status halo_place_nodes(struct placing *work)
{
    nw_halo_layout *layout = work->layout;
    size_t n = (size_t)layout->node_count;
    double *flow = NULL, *distance = NULL;
    struct nw_halo_assigned report = {.exact = true};
    nw_status status = nw_alloc(n * n, sizeof *flow, &flow);

    if (!status)
        status = nw_alloc(n * n, sizeof *distance, &distance);
    if (!status) {
        struct nw_halo_assignment problem = {
            .n = layout->node_count,
            .flow = flow,
            .distance = distance,
            .placement = work->options->placement,
            .seed = work->options->seed,
            .progress = work->options->progress,
        };

        node_matrices(work, flow, distance);
        status = nw_halo_assign(&problem, work->machine_node, &report);
        if (!status && problem.placement == NW_HALO_PLACE_BEST &&
            nw_topology_has_links(work->topology))
            status = place_doubt(work, &report);
    }
    layout->summary.node_cost = report.cost;
    layout->summary.node_cost_trivial = report.trivial_cost;
    layout->summary.exact = report.exact;
    layout->summary.steps += report.steps;
    free(flow);
    free(distance);
    return status;
}

/* --- pieces of a node on its slots --- */

/* Returns the index of the first transfer to piece `to` or a later piece, by
 * bisection. The transfers are sorted by target piece. */
static size_t first_transfer(const struct placing *work, int32_t to)
{
    size_t low = 0, high = work->transfers.count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (work->transfers.item[middle].to < to)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void slot_matrices(struct placing *work, int32_t node, double *flow,
                          double *distance)
{
    const nw_halo_layout *layout = work->layout;
    int32_t first = layout->first[node], last = layout->first[node + 1];
    int32_t n = last - first, machine = work->machine_node[node];

    for (size_t i = first_transfer(work, first),
                end = first_transfer(work, last);
         i < end; i++) {
        const struct nw_halo_transfer *transfer = &work->transfers.item[i];
        int32_t a = transfer->from, b = transfer->to;

        if (a != b && a >= first && a < last)
            flow[(size_t)(a - first) * n + (b - first)] +=
                bytes_of(work, transfer);
    }
    for (int32_t a = 0; work->topology && a < n; a++)
        for (int32_t b = 0; b < n; b++)
            if (a != b)
                distance[(size_t)a * n + b] =
                    place_far(work, slot_end(work, machine, a),
                              slot_end(work, machine, b));
}

static bool halo_place_is_known(const struct placing *work, const double *both,
                                int32_t n)
{
    return work->known_count == n && work->known &&
           !memcmp(work->known, both, 2 * (size_t)n * n * sizeof *both);
}

static nw_status assign_slots(struct placing *work, double *both, int32_t n)
{
    size_t cells = (size_t)n * n;
    struct nw_halo_assignment problem = {
        .n = n,
        .flow = both,
        .distance = both + cells,
        .placement = work->options->placement,
        .seed = work->options->seed,
        .progress = work->options->progress,
    };
    nw_status status;

    free(work->known);
    work->known = both;
    work->known_count = n;
    status = nw_halo_assign(&problem, work->known_at, &work->known_report);
    work->layout->summary.steps += work->known_report.steps;
    return status;
}

static nw_status place_slots(struct placing *work, int32_t node)
{
    nw_halo_layout *layout = work->layout;
    int32_t first = layout->first[node], n = layout->first[node + 1] - first;
    double *both = NULL;
    nw_status status = nw_alloc(2 * (size_t)n * n, sizeof *both, &both);

    if (status)
        return status;
    slot_matrices(work, node, both, both + (size_t)n * n);
    if (halo_place_is_known(work, both, n))
        free(both);
    else
        status = assign_slots(work, both, n);
    for (int32_t i = 0; !status && i < n; i++) {
        layout->piece[first + i].node = work->machine_node[node];
        layout->piece[first + i].slot = work->known_at[i];
    }
    layout->summary.slot_cost += work->known_report.cost;
    layout->summary.slot_cost_trivial += work->known_report.trivial_cost;
    layout->summary.exact = layout->summary.exact && work->known_report.exact;
    return status;
}

static nw_status check_machine(const struct placing *work)
{
    const nw_halo_layout *layout = work->layout;

    if (work->topology &&
        nw_topology_node_count(work->topology) < layout->node_count)
        return nw_fail(
            NW_EINVAL, "'%s' has %d node%s, the layout %d",
            nw_topology_name(work->topology),
            nw_topology_node_count(work->topology),
            nw_plural((uint64_t)nw_topology_node_count(work->topology)),
            layout->node_count);
    return NW_OK;
}

static nw_status halo_place_prepare(struct placing *work)
{
    const nw_halo_layout *layout = work->layout;
    struct nw_halo_wanted all = {.layout = layout, .rank = -1};
    int32_t most = 1;
    nw_status status = check_machine(work);

    for (int32_t i = 0; i < layout->node_count; i++)
        if (layout->first[i + 1] - layout->first[i] > most)
            most = layout->first[i + 1] - layout->first[i];
    if (!status)
        status = nw_alloc((size_t)most, sizeof(int32_t), &work->known_at);
    if (!status)
        status = nw_alloc((size_t)layout->node_count, sizeof(int32_t),
                          &work->machine_node);
    for (int32_t i = 0; !status && i < layout->node_count; i++)
        work->machine_node[i] = i;
    if (!status && work->topology)
        status = nw_alloc(nw_topology_route_max(work->topology) + 1,
                          sizeof *work->hops, &work->hops);
    if (!status)
        status = nw_halo_transfers_find(&all, &work->transfers);
    return status;
}

nw_status nw_halo_place(nw_halo_layout *layout,
                        const struct nw_halo_options *options,
                        const nw_topology *topology)
{
    struct placing work = {
        .layout = layout, .options = options, .topology = topology};
    nw_status status;

    layout->summary.exact = true;
    layout->gpus = topology && nw_topology_gpu_count(topology) > 0;
    layout->cores = topology && !layout->gpus;
    status = halo_place_prepare(&work);
    if (!status && topology && layout->node_count > 1 && place_even(layout))
        status = halo_place_nodes(&work);
    for (int32_t node = 0; !status && node < layout->node_count; node++)
        status = place_slots(&work, node);
    nw_halo_transfers_fini(&work.transfers);
    free(work.known);
    free(work.known_at);
    free(work.machine_node);
    free(work.hops);
    return status;
}
