/* SPDX-License-Identifier: BSD-3-Clause */
/* What a mapping costs, from scratch: every edge once, its distance and the
 * links of its route. The figures every search must agree with. */
#include <nodewise/cost.h>

#include "base/array.h"
#include "base/status.h"
#include "cost/ends.h"
#include "cost/flows.h"
#include "topology/topology.h"

#include <stdlib.h>
#include <string.h>

static const char *const objective_names[] = {
#define OBJECTIVE_TEXT(name, text) text,
    NW_OBJECTIVE_LIST(OBJECTIVE_TEXT)
#undef OBJECTIVE_TEXT
};

const char *nw_objective_name(enum nw_objective objective)
{
    return objective_names[objective];
}

bool nw_objective_find(const char *name, enum nw_objective *out)
{
    for (int i = 0; i < NW_OBJECTIVE_COUNT; i++)
        if (!strcmp(name, objective_names[i])) {
            *out = (enum nw_objective)i;
            return true;
        }
    return false;
}

enum layer { LAYER_ALL, LAYER_HOST, LAYER_GPU, LAYER_COUNT };

/* What is neither on a host alone nor on GPUs alone counts in the sum only. */
static const enum layer layer_of[NW_FLOW_LAYERS] = {LAYER_HOST, LAYER_GPU,
                                                    LAYER_ALL};

struct evaluation {
    const nw_topology *topology;
    struct nw_ends places;
    bool has_links;
    struct nw_flows flows;
    double *load[LAYER_COUNT]; /* [2 x links] bytes, in the end */
    uint32_t *hops;
    struct nw_cost *cost;
    bool integral;
    nw_uint128 exact[NW_FLOW_LAYERS]; /* hop-bytes */
    double value[NW_FLOW_LAYERS];
    int32_t ranks;
};

static nw_status add_hop_bytes(struct evaluation *work, int layer,
                               uint64_t bytes, double distance)
{
    nw_uint128 product;

    if (!work->integral) {
        work->value[layer] += (double)bytes * distance;
        return NW_OK;
    }
    product = (nw_uint128)bytes * (uint64_t)distance;
    if (__builtin_add_overflow(work->exact[layer], product,
                               &work->exact[layer]))
        return nw_fail(NW_EFORMAT, "hop-bytes pass 2^128");
    return NW_OK;
}

static nw_status add_level(struct evaluation *work, int layer, int32_t level,
                           const uint64_t amount[2])
{
    uint64_t *sum[2] = {&work->cost->level_bytes[layer][level],
                        &work->cost->level_messages[layer][level]};

    for (int i = 0; i < 2; i++)
        if (__builtin_add_overflow(*sum[i], amount[i], sum[i]))
            return nw_fail(NW_EFORMAT, "%s of one level pass 2^64",
                           i ? "the messages" : "the bytes");
    return NW_OK;
}

static nw_status add_edge(struct evaluation *work, const nw_pattern *pattern,
                          int32_t src, size_t e)
{
    static const int layers[] = {NW_FLOW_HOST, NW_FLOW_GPU, NW_FLOW_MIXED,
                                 NW_FLOW_MIXED};
    int layer = layers[pattern->kind[e]];
    uint64_t bytes = pattern->bytes[e], messages = pattern->messages[e];
    double latency = 0;
    struct nw_end ends[2];
    struct nw_trail trail;
    nw_status status = nw_ends_of_edge(&work->places, pattern, src, e, ends);

    if (status)
        return status;
    nw_topology_trail(work->topology, ends, &trail, work->hops);
    status = add_hop_bytes(work, layer, bytes, trail.distance);
    if (!status)
        status = add_level(work, layer != NW_FLOW_HOST, trail.level,
                           (const uint64_t[]){bytes, messages});
    if (status)
        return status;
    if (work->has_links)
        latency = nw_flows_add(&work->flows, layer, &trail, work->hops, bytes);
    if (work->topology->matrix || work->topology->depth_distance)
        latency = trail.distance;
    work->cost->latency += (double)messages * latency;
    return NW_OK;
}

static nw_status alloc_links(struct evaluation *work, size_t links)
{
    nw_status status = nw_flows_init(&work->flows, work->topology);

    work->has_links = true;
    for (int layer = 0; !status && layer < LAYER_COUNT; layer++)
        status = nw_alloc(2 * links, sizeof(double), &work->load[layer]);
    return status;
}

static nw_status alloc_cost(struct evaluation *work)
{
    struct nw_cost *cost = work->cost;
    size_t levels = (size_t)nw_topology_level_count(work->topology);
    nw_status status = NW_OK;

    cost->level_count = (int32_t)levels;
    for (int i = 0; !status && i < 2; i++) {
        status = nw_alloc(levels, sizeof(uint64_t), &cost->level_bytes[i]);
        if (!status)
            status =
                nw_alloc(levels, sizeof(uint64_t), &cost->level_messages[i]);
    }
    return status;
}

/* Turns loads into seconds in place and gives the largest. */
static double congest(double *load, const nw_topology *topology, int32_t *where)
{
    int32_t links = nw_topology_link_count(topology);
    double most = 0;

    *where = -1;
    for (int32_t l = 0; l < links; l++) {
        struct nw_link_info link;

        if (load[2 * l] == 0 && load[2 * l + 1] == 0)
            continue;
        link = nw_topology_link(topology, l);
        for (int d = 0; d < 2; d++) {
            load[2 * l + d] /= link.bandwidth[d];
            if (load[2 * l + d] > most) {
                most = load[2 * l + d];
                *where = 2 * l + d;
            }
        }
    }
    return most;
}

/* Hop-bytes of each layer, and of all together. */
static nw_status sum_layers(struct evaluation *work)
{
    struct nw_cost *cost = work->cost;
    struct nw_sum *sums[LAYER_COUNT] = {&cost->hop_bytes, &cost->host_hop_bytes,
                                        &cost->gpu_hop_bytes};

    for (int layer = 0; layer < NW_FLOW_LAYERS; layer++) {
        struct nw_sum *mine = sums[layer_of[layer]], *all = &cost->hop_bytes;

        if (mine != all)
            *mine = (struct nw_sum){.exact = work->exact[layer],
                                    .value = work->value[layer]};
        all->value += work->value[layer];
        if (__builtin_add_overflow(all->exact, work->exact[layer], &all->exact))
            return nw_fail(NW_EFORMAT, "hop-bytes pass 2^128");
    }
    for (int i = 0; i < LAYER_COUNT; i++) {
        sums[i]->integral = work->integral;
        if (work->integral)
            sums[i]->value = (double)sums[i]->exact;
    }
    return NW_OK;
}

static void finish(struct evaluation *work)
{
    struct nw_cost *cost = work->cost;
    int32_t ignored;

    cost->max_congestion_link = -1;
    cost->has_congestion = work->has_links;
    if (!cost->has_congestion)
        return;
    for (int i = 0; i < NW_FLOW_LAYERS; i++)
        nw_flows_load(&work->flows, i, work->load[layer_of[i]]);
    nw_flows_load(&work->flows, NW_FLOW_LAYERS, work->load[LAYER_ALL]);
    cost->max_congestion = congest(work->load[LAYER_ALL], work->topology,
                                   &cost->max_congestion_link);
    cost->max_congestion_host =
        congest(work->load[LAYER_HOST], work->topology, &ignored);
    cost->max_congestion_gpu =
        congest(work->load[LAYER_GPU], work->topology, &ignored);
    cost->link_count = nw_topology_link_count(work->topology);
    cost->link_congestion = work->load[LAYER_ALL];
    for (int32_t i = 0; i < 2 * cost->link_count; i++)
        cost->busy += cost->link_congestion[i];
    cost->time = cost->max_congestion +
                 (cost->busy + cost->latency) / (double)work->ranks;
    work->load[LAYER_ALL] = NULL;
}

static void release(struct evaluation *work)
{
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        free(work->load[layer]);
    nw_ends_fini(&work->places);
    nw_flows_fini(&work->flows);
    free(work->hops);
}

nw_status nw_cost_evaluate(const nw_topology *topology,
                           const nw_pattern *pattern, const nw_mapping *mapping,
                           struct nw_cost *out)
{
    struct nw_cost cost = {0};
    struct evaluation work = {.topology = topology,
                              .cost = &cost,
                              .integral = nw_topology_is_integral(topology),
                              .ranks = pattern->rank_count};
    nw_status status = nw_ends_find(topology, pattern, mapping, &work.places);

    if (!status)
        status = alloc_cost(&work);
    if (!status)
        status = nw_alloc(nw_topology_route_max(topology), sizeof *work.hops,
                          &work.hops);
    if (!status && nw_topology_has_links(topology))
        status = alloc_links(&work, (size_t)nw_topology_link_count(topology));
    cost.remote_gpus = work.places.remote_gpus;
    for (int32_t r = 0; !status && r < pattern->rank_count; r++)
        for (size_t e = pattern->row[r]; !status && e < pattern->row[r + 1];
             e++)
            status = add_edge(&work, pattern, r, e);
    if (!status)
        status = sum_layers(&work);
    if (!status) {
        finish(&work);
        *out = cost;
    } else {
        nw_cost_fini(&cost);
    }
    release(&work);
    return status;
}

void nw_cost_fini(struct nw_cost *cost)
{
    for (int i = 0; i < 2; i++) {
        free(cost->level_bytes[i]);
        free(cost->level_messages[i]);
    }
    free(cost->link_congestion);
    *cost = (struct nw_cost){0};
}

double nw_cost_objective(const struct nw_cost *cost,
                         enum nw_objective objective)
{
    switch (objective) {
    case NW_OBJECTIVE_CONGESTION:
        return cost->max_congestion;
    case NW_OBJECTIVE_LATENCY:
        return cost->latency;
    case NW_OBJECTIVE_TIME:
        return cost->time;
    default:
        return cost->hop_bytes.value;
    }
}
