/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns GPUs to ranks whose cores were chosen without regard to GPUs. If a
 * node has more ranks with GPUs than its GPUs take, some of these ranks move to
 * other nodes. Such a rank is exchanged for a rank without a GPU or goes to a
 * free core, within the limits of load and near its peers. Then phase 3 of MAGC
 * assigns the GPUs of each node. */
#include "map/capacity/several.h"
#include "map/phases/phases.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

/* State of one call of nw_several_assign_gpus. */
struct assign_gpus_work {
    const struct nw_several *several;
    const struct nw_problem *problem;
    struct nw_answer *answer;
    int32_t *host_of; /* [core units] host of each core unit */
    int32_t *owner;   /* [core units] rank on each core unit; -1: free */
    int32_t *ranks;   /* [hosts] number of ranks on each host */
    /* [hosts] number of ranks on each host that need a GPU unit */
    int32_t *gpus;
    int64_t *gpu_most; /* [hosts] number of ranks that the GPU units of each
                          host take */
};

/* A possible move of `rank`, which needs a GPU, to core unit `unit` of another
 * host. The rank on that unit, if there is one, takes the unit that `rank`
 * leaves. */
struct assign_gpus_exchange {
    int32_t rank, unit;
    double change; /* change of the sum of weight x distance over all pairs of
                      ranks */
};

/* Returns true if a rank is not fixed and has a core unit, so that it may move.
 */
static bool assign_gpus_may_move(const struct assign_gpus_work *work,
                                 int32_t rank)
{
    const struct nw_problem *problem = work->problem;

    return work->answer->core[rank] >= 0 &&
           (!problem->fixed_host || problem->fixed_host[rank] < 0);
}

/* Returns the point where routes end at the first core of a core unit. */
static struct nw_end assign_gpus_end_of(const struct assign_gpus_work *work,
                                        int32_t unit)
{
    struct nw_ints cores = nw_units_members(&work->problem->core, unit);

    return nw_problem_core_end(work->problem, work->host_of[unit],
                               cores.values[0]);
}

/* Returns the sum of weight x distance between a rank, if it were on core unit
 * `unit`, and its peers. The rank `other` and ranks without a core unit (their
 * cores are fixed) are left out. */
static double assign_gpus_cost_at(const struct assign_gpus_work *work,
                                  int32_t rank, int32_t unit, int32_t other)
{
    const struct nw_graph *graph = &work->several->graph;
    struct nw_end here = assign_gpus_end_of(work, unit);
    double sum = 0;

    for (size_t e = graph->row[rank]; e < graph->row[rank + 1]; e++) {
        int32_t peer = graph->arc[e].to, there = work->answer->core[peer];

        if (peer != other && there >= 0)
            sum += (double)graph->arc[e].weight *
                   nw_topology_distance(work->problem->topology, here,
                                        assign_gpus_end_of(work, there));
    }
    return sum;
}

/* Returns the change of the sum of weight x distance over all pairs of ranks if
 * a rank exchanges its core unit with the rank on `unit`, or goes to `unit` if
 * that is free. Ranks without a core unit do not count. */
static double assign_gpus_change_of(const struct assign_gpus_work *work,
                                    int32_t rank, int32_t unit)
{
    int32_t from = work->answer->core[rank], other = work->owner[unit];
    double change = assign_gpus_cost_at(work, rank, unit, other) -
                    assign_gpus_cost_at(work, rank, from, other);

    if (other >= 0)
        change += assign_gpus_cost_at(work, other, from, rank) -
                  assign_gpus_cost_at(work, other, unit, rank);
    return change;
}

/* Returns true if `rank` may exchange its core unit with the rank on `unit`, or
 * may move to `unit` if that unit is free. All limits must be kept, and the
 * host of `unit` must have a free GPU for `rank`. The other rank must not be
 * fixed and must not use a GPU. */
static bool assign_gpus_may_exchange(const struct assign_gpus_work *work,
                                     int32_t rank, int32_t unit)
{
    const struct nw_problem *problem = work->problem;
    int32_t other = work->owner[unit], host = work->host_of[unit];

    if (work->gpus[host] >= work->gpu_most[host] ||
        !nw_problem_within_limit(problem, unit, rank))
        return false;
    if (other < 0)
        return problem->core.capacity[unit] > 0 &&
               work->ranks[host] < problem->capacity[host];
    return !problem->wants_gpu[other] && assign_gpus_may_move(work, other) &&
           nw_problem_within_limit(problem, work->answer->core[rank], other);
}

/* Replaces *best by the best allowed exchange of `rank` if that has a smaller
 * change of cost, or if *best is empty. */
static void assign_gpus_look_around(const struct assign_gpus_work *work,
                                    int32_t rank,
                                    struct assign_gpus_exchange *best)
{
    int32_t units = work->problem->core.first[work->problem->host_count];

    for (int32_t u = 0; u < units; u++) {
        double change;

        if (!assign_gpus_may_exchange(work, rank, u))
            continue;
        change = assign_gpus_change_of(work, rank, u);
        if (best->rank < 0 || change < best->change)
            *best = (struct assign_gpus_exchange){rank, u, change};
    }
}

/* Makes the exchange *best and updates the counts. */
static void assign_gpus_exchange(struct assign_gpus_work *work,
                                 const struct assign_gpus_exchange *best)
{
    struct nw_answer *answer = work->answer;
    int32_t from = answer->core[best->rank], other = work->owner[best->unit];
    int32_t here = work->host_of[from], there = work->host_of[best->unit];

    answer->core[best->rank] = best->unit;
    answer->host[best->rank] = there;
    work->owner[best->unit] = best->rank;
    work->owner[from] = other;
    work->gpus[here]--;
    work->gpus[there]++;
    work->ranks[here] -= other < 0;
    work->ranks[there] += other < 0;
    if (other >= 0) {
        answer->core[other] = from;
        answer->host[other] = here;
    }
}

/* Moves ranks with GPUs away from a host, always by the best exchange, until
 * the host has GPUs for all its ranks that need one or no exchange is possible.
 */
static void assign_gpus_relieve(struct assign_gpus_work *work, int32_t host)
{
    int32_t n = work->problem->pattern->rank_count;

    while (work->gpus[host] > work->gpu_most[host]) {
        struct assign_gpus_exchange best = {.rank = -1};

        for (int32_t r = 0; r < n; r++)
            if (work->answer->host[r] == host &&
                assign_gpus_may_move(work, r) &&
                nw_problem_needs_gpu(work->problem, r))
                assign_gpus_look_around(work, r, &best);
        if (best.rank < 0)
            return;
        assign_gpus_exchange(work, &best);
    }
}

/* Fills the arrays of *work from the problem and the answer. */
static void assign_gpus_count(struct assign_gpus_work *work)
{
    const struct nw_problem *problem = work->problem;
    const struct nw_answer *answer = work->answer;

    for (int32_t h = 0; h < problem->host_count; h++) {
        for (int32_t u = problem->core.first[h]; u < problem->core.first[h + 1];
             u++) {
            work->host_of[u] = h;
            work->owner[u] = -1;
        }
        work->gpu_most[h] = nw_units_capacity(&problem->gpu, h);
    }
    for (int32_t r = 0; r < problem->pattern->rank_count; r++) {
        work->ranks[answer->host[r]]++;
        work->gpus[answer->host[r]] += nw_problem_needs_gpu(problem, r);
        if (answer->core[r] >= 0)
            work->owner[answer->core[r]] = r;
    }
}

/* Returns NW_EINVAL if a host still has too few GPUs for its ranks. */
static nw_status assign_gpus_check(const struct assign_gpus_work *work)
{
    const struct nw_problem *problem = work->problem;

    for (int32_t r = 0; r < problem->pattern->rank_count; r++) {
        int32_t host = work->answer->host[r];

        if (nw_problem_needs_gpu(problem, r) &&
            work->gpus[host] > work->gpu_most[host])
            return nw_fail(NW_EINVAL,
                           "no way was found to keep every element within "
                           "its limit and rank %d beside a GPU",
                           r);
    }
    return NW_OK;
}

nw_status nw_several_assign_gpus(const struct nw_several *several,
                                 const struct nw_problem *problem,
                                 struct nw_answer *answer,
                                 struct nw_map_report *report)
{
    struct assign_gpus_work work = {
        .several = several, .problem = problem, .answer = answer};
    struct nw_phases phases = {.placer = {NULL, NULL, nw_place_partition},
                               .by_distance = problem->options.objective ==
                                              NW_OBJECTIVE_HOP_BYTES};
    size_t hosts = (size_t)problem->host_count;
    size_t units = (size_t)problem->core.first[hosts];
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(units, work.host_of), NW_ARRAY(units, work.owner),
                     NW_ARRAY(hosts, work.ranks), NW_ARRAY(hosts, work.gpus),
                     NW_ARRAY(hosts, work.gpu_most));

    if (!status) {
        assign_gpus_count(&work);
        for (int32_t h = 0; h < problem->host_count; h++)
            assign_gpus_relieve(&work, h);
        status = assign_gpus_check(&work);
    }
    NW_FREE_ALL(work.host_of, work.owner, work.ranks, work.gpus, work.gpu_most);
    return status ? status
                  : nw_phase_units(problem, &phases, answer, report, true);
}
