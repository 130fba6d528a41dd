/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps several ranks per element by the k-way engine, whose parts are elements.
 * The answer is the engine's result, or the default or initial mapping if that
 * is within the limits and better. If the objective depends on links or latency
 * and all ranks have the same load, `auto` also tries two algorithms that map
 * in phases. */
#include "map/capacity/several.h"
#include "map/common/parameters.h"
#include "map/portfolio/algorithm.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>

/* Returns how many starts, cycles and searches the k-way engine makes with the
 * effort of the options. If load is limited and the machine has groups of near
 * elements (`grouped`), every second start partitions among these groups first,
 * except with effort fast. Such a start takes several times as long, so there
 * are fewer starts. `refined`: the engine only refines the given partition, in
 * at least one V-cycle. */
static struct nw_kway_effort
by_kway_choose_effort(const struct nw_several *several, bool refined)
{
    enum nw_effort index = several->options.effort;
    bool grouped =
        several->options.imbalance >= 0 &&
        nw_kway_multisection_apply(&several->machine, 0, several->machine.k);
    struct nw_kway_effort effort = {
        .starts = grouped ? nw_tuned.kway.grouped_starts[index]
                          : nw_tuned.kway.starts[index],
        .cycles = grouped ? nw_tuned.kway.grouped_cycles[index]
                          : nw_tuned.kway.cycles[index],
        .repeats = nw_tuned.kway.repeats[index],
        .tries = nw_tuned.kway.tries[index],
        .searches = nw_tuned.kway.searches[index],
        .patience = nw_tuned.kway.patience[index],
        .group_starts = grouped ? nw_tuned.kway.group_starts[index] : 0};

    if (refined) {
        effort.starts = 0;
        effort.cycles += !effort.cycles;
    } else if (effort.starts < 2 && several->options.imbalance < 0) {
        effort.starts = 2;
    }
    return effort;
}

/* Sets *out to the load of each element if all elements are used evenly,
 * relative to their capacities; the caller frees it. Without a limit of load,
 * every second start of the engine aims at these loads, and the other starts
 * use as few elements as possible. With a limit, *out is not set. */
static nw_status by_kway_share_evenly(const struct nw_several *several,
                                      double **out)
{
    const struct nw_kway_machine *m = &several->machine;
    double load = 0, room = 0;
    nw_status status;

    if (several->options.imbalance >= 0)
        return NW_OK;
    status = nw_alloc((size_t)m->k, sizeof **out, out);
    for (int32_t v = 0; v < several->graph.n; v++)
        load += (double)several->graph.load[v];
    for (int32_t q = 0; q < m->k; q++)
        room += m->capacity[q];
    for (int32_t q = 0; !status && q < m->k; q++)
        (*out)[q] = load * m->capacity[q] / room;
    return status;
}

/* Computes the values by which mappings are compared: figure[0] is the
 * objective; figure[1] is the second objective, which decides if the first ones
 * are equal (0 without a second objective). */
static nw_status by_kway_judge(const struct nw_several *several,
                               const nw_mapping *mapping, double figure[2])
{
    struct nw_cost cost;
    nw_status status =
        nw_cost_evaluate(several->topology, several->pattern, mapping, &cost);

    if (status)
        return status;
    figure[0] = nw_cost_objective(&cost, several->options.objective);
    figure[1] = several->options.has_second
                    ? nw_cost_objective(&cost, several->options.second)
                    : 0;
    nw_cost_fini(&cost);
    return NW_OK;
}

/* Returns true if every element is within its limits of load and of ranks;
 * false also if memory is short. part[v] is the element of rank v. */
static bool by_kway_is_within(const struct nw_several *several,
                              const int32_t *part)
{
    struct nw_kway_state state;
    bool within = true;

    if (nw_kway_state_init(&state, &several->graph, &several->machine,
                           (int32_t *)part))
        return false;
    for (int32_t q = 0; q < several->machine.k; q++)
        within &= !nw_kway_state_over(&state, q);
    nw_kway_state_fini(&state);
    return within;
}

nw_status nw_several_match(const struct nw_several *several, nw_mapping *other,
                           nw_mapping **best, bool *won)
{
    double figure[2][2] = {{0}};
    nw_status status = by_kway_judge(several, *best, figure[0]);

    if (!status)
        status = by_kway_judge(several, other, figure[1]);
    *won = !status &&
           (figure[1][0] < figure[0][0] ||
            (figure[1][0] == figure[0][0] && figure[1][1] < figure[0][1]));
    if (*won) {
        nw_mapping *worse = *best;

        *best = other;
        other = worse;
    }
    nw_mapping_free(other);
    return status;
}

nw_status nw_several_try_other(const struct nw_several *several,
                               const int32_t *part, nw_mapping **best)
{
    nw_mapping *other = NULL;
    bool won;
    nw_status status;

    if (!by_kway_is_within(several, part))
        return NW_OK;
    status = nw_several_to_mapping(several, part, &other);
    return status ? status : nw_several_match(several, other, best, &won);
}

/* Sets *out to the best of the engine's result `found`, the default mapping
 * others[0] and the initial mapping others[1] (NULL: none), of which the last
 * two must keep the limits. If ranks use GPUs, *out is the engine's result,
 * because costs cannot be compared before the GPUs are assigned. */
static nw_status by_kway_choose(const struct nw_several *several,
                                const int32_t *found,
                                const int32_t *const others[2],
                                nw_mapping **out)
{
    nw_mapping *best = NULL;
    nw_status status = nw_several_to_mapping(several, found, &best);

    for (int i = 0; !status && i < 2; i++)
        if (others[i] && !nw_several_uses_gpus(several))
            status = nw_several_try_other(several, others[i], &best);
    if (status)
        nw_mapping_free(best);
    else
        *out = best;
    return status;
}

/* Runs the k-way engine and sets *out to the best mapping (by_kway_choose). The
 * engine begins from the mapping of --from or, without one, from the default
 * mapping. If that exceeds the limits and bin packing keeps them, it begins
 * from bin packing. standard[v] is the element of rank v in the default
 * mapping. `refined`: the engine only refines the partition from which it
 * begins. */
static nw_status by_kway_find(struct nw_several *several,
                              const int32_t *standard, bool refined,
                              nw_mapping **out)
{
    struct nw_kway_run run = {.graph = &several->graph,
                              .machine = &several->machine,
                              .effort = by_kway_choose_effort(several, refined),
                              .seed = several->options.seed,
                              .budget = &several->budget,
                              .given = standard};
    size_t n = (size_t)several->graph.n;
    int32_t *found = NULL, *fitted = NULL, *start = NULL;
    double *share = NULL;
    bool fits = false;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, found), NW_ARRAY(n, fitted));

    if (!status)
        status = nw_several_from_mapping(several, &start);
    if (!status && !start && !by_kway_is_within(several, standard))
        status = nw_several_bin_packing(several, fitted, &fits);
    if (start || fits)
        run.given = start ? start : fitted;
    if (!status)
        status = by_kway_share_evenly(several, &share);
    run.share = share;
    if (!status)
        status = nw_kway(&run, found);
    if (!status)
        status = by_kway_choose(several, found,
                                (const int32_t *[2]){standard, start}, out);
    NW_FREE_ALL(found, fitted, start, share);
    return status;
}

/* If the objective depends on links or latency, and all ranks have the same
 * load, also tries the algorithms that map in phases, until time is over. The
 * k-way engine alone lowers only a sum over pairs of ranks. Replaces *best by a
 * better result. A method that finds no mapping within the limits is ignored.
 */
static nw_status by_kway_try_phases(struct nw_several *several,
                                    nw_mapping **best)
{
    static const enum nw_algorithm_id by_phases[] = {NW_ALGORITHM_PARTITION,
                                                     NW_ALGORITHM_MAGC};
    nw_status status = NW_OK;

    if (several->options.objective == NW_OBJECTIVE_HOP_BYTES ||
        !nw_several_is_even(several))
        return NW_OK;
    for (size_t i = 0; !status && i < sizeof by_phases / sizeof *by_phases;
         i++) {
        struct nw_map_report report = {0};
        nw_mapping *other = NULL;
        bool won;

        if (nw_budget_is_overdue(&several->budget))
            break;
        status = nw_several_by_phases(several, nw_algorithm_get(by_phases[i]),
                                      &other, &report);
        if (status == NW_EINVAL)
            status = NW_OK;
        else if (!status)
            status = nw_several_match(several, other, best, &won);
    }
    return status;
}

nw_status nw_several_by_kway(struct nw_several *several,
                             const struct nw_algorithm *algorithm,
                             nw_mapping **out)
{
    int32_t *standard = NULL;
    nw_status status = nw_several_default_parts(several, &standard);

    if (!status && nw_algorithm_is(algorithm, NW_ALGORITHM_BLOCK))
        status = by_kway_is_within(several, standard)
                     ? nw_several_to_mapping(several, standard, out)
                     : nw_fail(NW_EINVAL,
                               "ranks in order exceed the load limit of an "
                               "element; use multilevel");
    else if (!status)
        status =
            by_kway_find(several, standard,
                         nw_algorithm_is(algorithm, NW_ALGORITHM_REFINE), out);
    if (!status && nw_algorithm_is(algorithm, NW_ALGORITHM_AUTO)) {
        status = by_kway_try_phases(several, out);
        if (status) {
            nw_mapping_free(*out);
            *out = NULL; /* the caller frees it, too */
        }
    }
    free(standard);
    return status;
}
