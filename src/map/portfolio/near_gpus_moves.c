/* SPDX-License-Identifier: BSD-3-Clause */
/* Evaluates moves of ranks inside a node: how much nearer core, GPU and NIC of
 * a rank come to each other, and whether a cost figure of the mapping gets
 * worse. */
#include "map/portfolio/near_gpus_internal.h"
#include "base/array.h"
#include "topology/topology.h"

/* Weight of a link to a NIC, if a link between core and GPU has weight 1. It is
 * so small that all links from a rank's core and GPU to their NICs count less
 * than one link between core and GPU. */
#define CARD (1. / 1024)

struct near_gpus_slot_range
nw_near_gpus_slots_of(const struct near_gpus_work *work, int32_t host,
                      bool gpus)
{
    const int32_t *first =
        work->slots.first + host + (gpus ? work->problem->host_count + 1 : 0);

    return (struct near_gpus_slot_range){first[0], first[1]};
}

static bool near_gpus_holds(struct near_gpus_slot_range range, int32_t slot)
{
    return slot >= range.first && slot < range.end;
}

/* Returns the mean number of links between the cores of a core slot and the
 * GPUs of a GPU slot. If one of them is the slot of a fixed rank, only the
 * first core and the first GPU count. */
static double near_gpus_links_between(const struct near_gpus_work *work,
                                      int32_t core, int32_t gpu)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_slots *slots = &work->slots;

    if (slots->unit[core] < 0 || slots->unit[gpu] < 0)
        return nw_topology_distance(problem->topology, slots->end[core],
                                    slots->end[gpu]);
    return nw_problem_gpu_distance(
        problem, slots->host[core],
        nw_units_members(&problem->core, slots->unit[core]),
        nw_units_members(&problem->gpu, slots->unit[gpu]));
}

double nw_near_gpus_links_to_card(const nw_topology *topology,
                                  struct nw_end end)
{
    int32_t card = nw_end_card(topology, end);

    if (card < 0)
        return 0;
    return nw_topology_distance(topology, end,
                                nw_topology_nic_end(topology, end.node, card));
}

void nw_near_gpus_measure_host(struct near_gpus_work *work, int32_t host)
{
    struct near_gpus_slot_range cores =
        nw_near_gpus_slots_of(work, host, false);
    struct near_gpus_slot_range gpus = nw_near_gpus_slots_of(work, host, true);
    double *near = work->near;

    for (int32_t c = cores.first; c < cores.end; c++)
        for (int32_t g = gpus.first; g < gpus.end; g++)
            *near++ = near_gpus_links_between(work, c, g);
}

double nw_near_gpus_distance_of(const struct near_gpus_work *work, int32_t core,
                                int32_t gpu)
{
    struct near_gpus_slot_range cores, gpus;
    double links;

    cores = nw_near_gpus_slots_of(work, work->slots.host[core], false);
    gpus = nw_near_gpus_slots_of(work, work->slots.host[core], true);
    if (near_gpus_holds(cores, core) && near_gpus_holds(gpus, gpu))
        links = work->near[(size_t)(core - cores.first) *
                               (size_t)(gpus.end - gpus.first) +
                           (size_t)(gpu - gpus.first)];
    else
        links = near_gpus_links_between(work, core, gpu);
    return links + CARD * (work->card[core] + work->card[gpu]);
}

/* Returns the distance of a rank's core, GPU and NIC from each other if its
 * endpoint `endpoint` (core or GPU) were on `slot`. */
static double near_gpus_distance_at(const struct near_gpus_work *work,
                                    int32_t endpoint, int32_t slot)
{
    int32_t n = work->slots.rank_count;

    if (endpoint < n && work->slots.slot[n + endpoint] < 0)
        return work->leaves[endpoint] ? CARD * work->card[slot] : 0;
    if (endpoint < n)
        return nw_near_gpus_distance_of(work, slot,
                                        work->slots.slot[n + endpoint]);
    return nw_near_gpus_distance_of(work, work->slots.slot[endpoint - n], slot);
}

double nw_near_gpus_gain_of_part(const struct near_gpus_work *work,
                                 const struct nw_moving *part)
{
    return near_gpus_distance_at(work, part->endpoint, part->from) -
           near_gpus_distance_at(work, part->endpoint, part->to);
}

double nw_near_gpus_gain_of(const struct near_gpus_work *work,
                            const struct nw_move *move)
{
    double gain = 0;

    for (int i = 0; i < move->count; i++)
        gain += nw_near_gpus_gain_of_part(work, &move->part[i]);
    return gain;
}

bool nw_near_gpus_is_worse(const struct near_gpus_work *work,
                           const struct near_gpus_figures *now,
                           const struct near_gpus_figures *before)
{
    const struct nw_load_figures *are = &now->sums, *were = &before->sums;
    double limit = 1 + NEAR_GPUS_EQUAL;

    return are->hop_bytes > were->hop_bytes * limit ||
           are->latency > were->latency * limit ||
           are->busy > were->busy * limit ||
           (work->strict && are->power > were->power * limit) ||
           now->most > before->most * limit;
}

/* Returns true if an endpoint of the move has messages. If none has, the move
 * changes no cost figure. */
static bool near_gpus_has_edges(const struct nw_slots *slots,
                                const struct nw_move *move)
{
    for (int i = 0; i < move->count; i++) {
        int32_t endpoint = move->part[i].endpoint;

        if (slots->row[endpoint + 1] > slots->row[endpoint])
            return true;
    }
    return false;
}

/* Computes the link loads if that has not been done yet. */
static nw_status near_gpus_count_loads(struct near_gpus_work *work)
{
    nw_status status;

    if (work->has_loads)
        return NW_OK;
    status = nw_link_loads_init(&work->loads, &work->slots,
                                (struct nw_link_loads_wants){true, true, true});
    work->has_loads = !status;
    return status;
}

nw_status nw_near_gpus_figures(struct near_gpus_work *work,
                               struct near_gpus_figures *out)
{
    nw_status status = near_gpus_count_loads(work);

    if (!status)
        *out = (struct near_gpus_figures){work->loads.now,
                                          nw_link_loads_max(&work->loads)};
    return status;
}

nw_status nw_near_gpus_try_move(struct near_gpus_work *work,
                                const struct nw_move *move, bool *fits)
{
    struct near_gpus_figures before, after;
    nw_status status;

    *fits = true;
    if (!near_gpus_has_edges(&work->slots, move))
        return NW_OK;
    status = nw_near_gpus_figures(work, &before);
    if (status)
        return status;
    nw_link_loads_try(&work->loads, move);
    after = (struct near_gpus_figures){before.sums, work->loads.touched_most};
    nw_load_figures_add(&after.sums, &work->loads.change);
    *fits = !nw_near_gpus_is_worse(work, &after, &before);
    nw_link_loads_end(&work->loads, false);
    return NW_OK;
}

nw_status nw_near_gpus_make_move(struct near_gpus_work *work,
                                 const struct nw_move *move)
{
    struct nw_slots *slots = &work->slots;

    if (near_gpus_has_edges(slots, move)) {
        nw_status status = near_gpus_count_loads(work);

        if (status)
            return status;
        nw_link_loads_try(&work->loads, move);
        nw_link_loads_end(&work->loads, true);
    }
    for (int i = 0; i < move->count; i++) {
        if (move->part[i].endpoint < slots->rank_count)
            continue;
        work->gpu_ranks[slots->unit[move->part[i].from]]--;
        work->gpu_ranks[slots->unit[move->part[i].to]]++;
    }
    nw_slots_apply(slots, move);
    return NW_OK;
}
