/* SPDX-License-Identifier: BSD-3-Clause */
/* Phase 1 of MAGC: assigns ranks to nodes. Each node is one place, at its NIC;
 * if the machine has a network, several NICs of a node count as one NIC with
 * the sum of their bandwidths. */
#include "map/phases/phases.h"
#include "base/array.h"
#include "base/status.h"
#include "base/clock.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

/* Returns the sum of the bandwidths of all NICs of a node, divided by the
 * bandwidth of NIC `card`, in one direction of the links to the switches. The
 * quotient is exactly the number of NICs if they are equal. */
static double phase1_nics_per(const nw_topology *topology, int32_t node,
                              int32_t card, int direction)
{
    const int32_t *class = topology->port_class + topology->port_first[node];
    double own = topology->class[class[card]].bandwidth[direction], sum = 0;

    for (int32_t c = 0; c < nw_topology_node_nic_count(topology, node); c++)
        sum += topology->class[class[c]].bandwidth[direction] / own;
    return sum;
}

/* Gives the link from each NIC of a node to its switch the bandwidth of all
 * NICs of the node together. Multiplies the bandwidths of all other links of
 * the node by its number of NICs. */
static void phase1_widen_node(const nw_topology *topology, int32_t node,
                              struct nw_places *places)
{
    const struct nw_node_type *type = nw_topology_type_of(topology, node);
    int32_t first = topology->link_first[node];
    int32_t ports = first + type->vertex_count + type->direct_count;

    for (int32_t link = first; link < ports; link++) {
        places->bandwidth[2 * link] *= type->nic_count;
        places->bandwidth[2 * link + 1] *= type->nic_count;
    }
    for (int32_t c = 0; c < type->nic_count; c++)
        for (int i = 0; i < 2; i++)
            places->bandwidth[2 * (ports + c) + i] *=
                phase1_nics_per(topology, node, c, i);
}

/* If the machine has a network, multiplies the bandwidths of the links of each
 * host by its number of NICs, or sets the sum if its NICs differ. Multiplies
 * the bandwidths of network links by the largest number of NICs of a host,
 * because each NIC may have its own part of the network (a rail), but all
 * routes between two places take the same part. */
static void phase1_widen_links(const struct nw_problem *problem,
                               struct nw_places *places)
{
    const nw_topology *topology = problem->topology;
    int32_t rails = nw_problem_most(problem, nw_topology_node_nic_count);

    if (!topology->network)
        return;
    for (int32_t h = 0; h < problem->host_count; h++)
        if (nw_topology_node_nic_count(topology, problem->host[h]) > 1)
            phase1_widen_node(topology, problem->host[h], places);
    for (int32_t link = 0; link < 2 * topology->network->link_count; link++)
        places->bandwidth[link] *= rails;
}

nw_status nw_places_of_hosts(const struct nw_problem *problem,
                             struct nw_places *places)
{
    struct nw_end *end;
    int32_t hosts = problem->host_count;
    nw_status status = nw_alloc((size_t)hosts, sizeof *end, &end);

    if (status)
        return status;
    for (int32_t h = 0; h < hosts; h++)
        end[h] = nw_problem_nic_end(problem, h, 0);
    status = nw_places_init(places, problem->topology, end, hosts, -1);
    if (!status && places->bandwidth)
        phase1_widen_links(problem, places);
    return status;
}

/* Sets the free slots of all hosts, and for each rank whether it needs a GPU.
 */
static nw_status phase1_prepare_free_slots(const struct nw_problem *problem,
                                           struct nw_placement *placement)
{
    int64_t gpu_ranks = 0;
    nw_status status;

    for (int32_t r = 0; r < placement->count; r++)
        gpu_ranks += problem->wants_gpu[r];
    status = nw_free_slots_init(&placement->free_slots, problem->host_count,
                                problem->capacity,
                                gpu_ranks ? problem->gpu_capacity : NULL);
    if (status || !gpu_ranks)
        return status;
    nw_free_slots_expect(&placement->free_slots, gpu_ranks);
    placement->gpu = problem->wants_gpu;
    return NW_OK;
}

nw_status nw_phase_put_fixed(struct nw_placement *placement,
                             const int32_t *place)
{
    nw_status status;

    if (!place)
        return NW_OK;
    status = nw_alloc((size_t)placement->count, sizeof *placement->fixed,
                      &placement->fixed);
    for (int32_t p = 0; !status && p < placement->count; p++)
        if (place[p] >= 0) {
            placement->fixed[p] = true;
            nw_placement_put(placement, p, place[p]);
        }
    return status;
}

/* State of phase 1: the places are hosts, the processes are ranks. */
struct phase1_work {
    const struct nw_problem *problem;
    const struct nw_phases *phases;
    struct nw_places places;
    struct nw_random random;
};

/* Places the ranks on hosts so that traffic of the given kinds is cheap.
 * `kinds`: mask of enum nw_kind. `initial`: host of each rank in an initial
 * placement, or NULL. */
static nw_status phase1_place_kinds(struct phase1_work *phase,
                                    struct nw_placement *placement,
                                    unsigned kinds, const int32_t *initial)
{
    const nw_pattern *pattern = phase->problem->pattern;
    struct nw_arcs_of of = {.pattern = pattern,
                            .ranks = {NULL, (size_t)pattern->rank_count},
                            .kinds = kinds};
    nw_status status = nw_placement_init(placement, &of);

    if (status)
        return status;
    placement->places = &phase->places;
    placement->random = &phase->random;
    placement->by_distance = phase->phases->by_distance;
    placement->budget = phase->problem->budget;
    placement->in_reduced_effort =
        phase->problem->options.effort == NW_EFFORT_FAST;
    placement->initial = initial;
    status = phase1_prepare_free_slots(phase->problem, placement);
    if (!status)
        status = nw_phase_put_fixed(placement, phase->problem->fixed_host);
    if (!status)
        status = phase->phases->placer[0](placement);
    return status;
}

/* Makes a place of each host and runs the placer on the places. The placer
 * nw_place_partition runs twice if all kinds of traffic count and the pattern
 * has host and GPU traffic. The first run counts only the traffic between host
 * memories. Its result is the initial placement of the second run. */
static nw_status phase1_place_on_hosts(struct phase1_work *phase,
                                       struct nw_placement *placement)
{
    const nw_pattern *pattern = phase->problem->pattern;
    bool twice = phase->phases->kinds == NW_KINDS_ALL &&
                 phase->phases->placer[0] == nw_place_partition &&
                 nw_pattern_has_gpu(pattern) &&
                 nw_pattern_total_of(pattern, NW_KIND_HH).bytes > 0;
    struct nw_placement host_layer = {0};
    nw_status status = nw_places_of_hosts(phase->problem, &phase->places);

    nw_random_init(&phase->random, phase->problem->options.seed);
    if (!status && twice)
        status = phase1_place_kinds(phase, &host_layer, NW_KINDS_HOST, NULL);
    if (!status)
        status = phase1_place_kinds(phase, placement, phase->phases->kinds,
                                    host_layer.place);
    placement->steps += host_layer.steps;
    nw_placement_fini(&host_layer);
    nw_places_fini(&phase->places);
    return status;
}

nw_status nw_phase_hosts(const struct nw_problem *problem,
                         const struct nw_phases *phases,
                         struct nw_answer *answer, struct nw_map_report *report)
{
    struct phase1_work phase = {.problem = problem, .phases = phases};
    struct nw_placement placement = {0};
    uint64_t begun = nw_clock_ns();
    size_t n = (size_t)problem->pattern->rank_count;
    nw_status status;

    if (problem->host_count == 1) {
        memset(answer->host, 0, n * sizeof *answer->host);
        return NW_OK;
    }
    status = phase1_place_on_hosts(&phase, &placement);
    if (!status)
        memcpy(answer->host, placement.place, n * sizeof *answer->host);
    report->steps += placement.steps;
    report->phase_seconds[0] += (double)(nw_clock_ns() - begun) * 1e-9;
    nw_placement_fini(&placement);
    return status;
}
