/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions nw_algorithm.run of the algorithms that place ranks in phases, on
 * all units at once, or as the launcher does. */
#include "map/portfolio/algorithm.h"
#include "map/phases/all_units.h"
#include "base/status.h"
#include "topology/topology.h"

nw_status nw_algorithm_phases(const struct nw_algorithm *algorithm,
                              const struct nw_map_options *options,
                              struct nw_phases *out)
{
    struct nw_phases phases = {.kinds = algorithm->host_only ? NW_KINDS_HOST
                                                             : NW_KINDS_ALL,
                               .by_distance = algorithm->by_distance};

    for (int i = 0; i < 3; i++) {
        const char *name = options->phase[i];

        phases.placer[i] = name ? nw_placer_find(name) : algorithm->phase[i];
        if (name && !phases.placer[i])
            return nw_fail(
                NW_EINVAL,
                "phase %d: algorithm '%s' cannot do a phase; known: %s", i + 1,
                name, nw_map_phase_names());
    }
    *out = phases;
    return NW_OK;
}

nw_status nw_run_phases(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    struct nw_phases phases;
    nw_status status =
        nw_algorithm_phases(algorithm, &problem->options, &phases);

    if (status)
        return status;
    return nw_answer_by_phases(problem, &phases, answer, report);
}

nw_status nw_run_default(const struct nw_algorithm *algorithm,
                         const struct nw_problem *problem,
                         struct nw_answer *answer, struct nw_map_report *report)
{
    (void)algorithm;
    (void)report;
    return nw_answer_default(problem, answer);
}

/* Assigns the ranks in ascending order to the hosts in sorted order
 * (sorted_nodes.h). With fixed ranks the nodes are not sorted: the result is
 * the default mapping. */
nw_status nw_run_sorted(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    nw_status status = nw_run_default(algorithm, problem, answer, report);

    return status || problem->fixed_host ? status
                                         : nw_sorted_nodes(problem, answer);
}

/* Without GPUs, runs one placer on all cores at once. With GPUs, runs the
 * placer on the pairs of a free core and a free GPU of all nodes, then the
 * placer of phase 3 on the GPUs of each node. If the options name phases, or
 * only some ranks have a GPU, places in phases instead. */
nw_status nw_run_all_units(const struct nw_algorithm *algorithm,
                           const struct nw_problem *problem,
                           struct nw_answer *answer,
                           struct nw_map_report *report)
{
    struct nw_all_units flat = {algorithm->placer, NW_KINDS_ALL,
                                .paired = true};
    struct nw_phases phases = {.placer[2] = algorithm->phase[2]};
    struct nw_answer start = {0};
    const char *const *phase = problem->options.phase;
    bool by_phases = phase[0] || phase[1] || phase[2];
    nw_status status;

    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        by_phases |= problem->uses_gpus && !problem->wants_gpu[r];
    if (by_phases)
        return nw_run_phases(algorithm, problem, answer, report);
    status = nw_answer_from_mapping(problem, &start);
    flat.start = start.host ? &start : NULL;
    if (!status)
        status = nw_all_units_place(problem, &flat, answer, report);
    nw_answer_fini(&start);
    if (status || !problem->uses_gpus)
        return status;
    return nw_phase_units(problem, &phases, answer, report, true);
}

/* Refines hop-bytes by swaps within the machine's hierarchy, if they are the
 * only objective, no rank uses a GPU and no load is limited. All other
 * problems, including all distance matrices, are refined by moves between
 * slots. */
nw_status nw_run_refine(const struct nw_algorithm *algorithm,
                        const struct nw_problem *problem,
                        struct nw_answer *answer, struct nw_map_report *report)
{
    nw_status status = NW_EUNSUPPORTED;

    if (problem->options.objective == NW_OBJECTIVE_HOP_BYTES &&
        !problem->options.has_second && !problem->uses_gpus &&
        !problem->topology->matrix && !problem->limit)
        status = nw_run_all_units(algorithm, problem, answer, report);
    if (status == NW_EUNSUPPORTED)
        status = nw_run_search(algorithm, problem, answer, report);
    return status;
}
