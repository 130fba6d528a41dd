/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses the method for options that allow several ranks per element or limit
 * its load. If one rank per element is allowed and the limits exclude no
 * assignment, the result is not a mapping but options without limits, so that
 * the algorithms for one rank per element (portfolio/) map them.
 */
#include "map/capacity/map_several.h"
#include "map/capacity/several.h"
#include "map/portfolio/algorithm.h"
#include "base/status.h"

#include <stdlib.h>

/* Finds the algorithm that the options name (`auto` by default); `block` takes
 * the place of the default mapping. */
static nw_status map_several_find(const struct nw_several *several,
                                  const struct nw_algorithm **out)
{
    const char *name = several->options.algorithm;
    const struct nw_algorithm *found =
        name ? nw_algorithm_find(name) : nw_algorithm_get(NW_ALGORITHM_AUTO);

    if (!found)
        return nw_fail(
            NW_EINVAL,
            "unknown algorithm '%s'; 'nodewise map --list' lists all", name);
    *out = nw_algorithm_is(found, NW_ALGORITHM_DEFAULT)
               ? nw_algorithm_get(NW_ALGORITHM_BLOCK)
               : found;
    return NW_OK;
}

/* Maps by an algorithm that works in the phases of MAGC. The result is not
 * worse than the default mapping if that keeps the limits, unless the algorithm
 * is a baseline. */
static nw_status map_several_by_phases(struct nw_several *several,
                                       const struct nw_algorithm *algorithm,
                                       nw_mapping **out,
                                       struct nw_map_report *report)
{
    int32_t *standard = NULL;
    nw_mapping *found = NULL;
    nw_status status = nw_several_by_phases(several, algorithm, &found, report);

    if (!status && !algorithm->baseline)
        status = nw_several_default_parts(several, &standard);
    if (!status && standard)
        status = nw_several_try_other(several, standard, &found);
    free(standard);
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

/* Searches by moves between slots, from the best initial solution that `auto`
 * has. If the objective depends on links or latency, also searches from the
 * solution of the k-way engine alone, unless the first mapping is proven
 * optimal, --time or --steps is given, or time is over. Keeps the better
 * result. */
static nw_status map_several_move_all(struct nw_several *several,
                                      nw_mapping **out,
                                      struct nw_map_report *report)
{
    struct nw_map_report second = {0};
    nw_mapping *found = NULL, *other = NULL;
    bool won = false;
    nw_status status = nw_several_on_slots(
        several, nw_algorithm_get(NW_ALGORITHM_AUTO), &found, report);

    if (!status && several->options.objective != NW_OBJECTIVE_HOP_BYTES &&
        !report->proven && !several->budget.anytime &&
        !nw_budget_is_overdue(&several->budget))
        status = nw_several_on_slots(several,
                                     nw_algorithm_get(NW_ALGORITHM_MULTILEVEL),
                                     &other, &second);
    if (!status && other)
        status = nw_several_match(several, other, &found, &won);
    if (won)
        *report = second;
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

/* Maps by the method that the algorithm has for several ranks per element.
 * Returns NW_EINVAL if it has none, or none for this number of ranks or for
 * these loads. */
static nw_status map_several_run_method(struct nw_several *several,
                                        const struct nw_algorithm *algorithm,
                                        nw_mapping **out,
                                        struct nw_map_report *report)
{
    bool is_auto = nw_algorithm_is(algorithm, NW_ALGORITHM_AUTO);
    bool slots = nw_several_has_slots(several) &&
                 !nw_algorithm_is(algorithm, NW_ALGORITHM_BLOCK);

    if (algorithm->several == NW_SEVERAL_NONE)
        return nw_fail(NW_EINVAL,
                       "algorithm %s places one rank on an element; several "
                       "are placed by multilevel",
                       algorithm->name);
    if (algorithm->several == NW_SEVERAL_BY_PHASES)
        return map_several_by_phases(several, algorithm, out, report);
    if (algorithm->several == NW_SEVERAL_BY_SLOTS && !slots)
        return nw_fail(NW_EINVAL,
                       "%s can place several ranks on an element only for few "
                       "ranks of equal weight; use refine or multilevel",
                       algorithm->name);
    /* no work may last beyond the limit of time, since all of it reads the
     * clock often */
    several->budget.grace_ns = 0;
    if (slots && is_auto)
        return map_several_move_all(several, out, report);
    if (slots)
        return nw_several_on_slots(several, algorithm, out, report);
    report->algorithm = is_auto ? "multilevel" : algorithm->name;
    return nw_several_by_kway(several, algorithm, out);
}

/* Maps by the algorithm that the options name: several ranks per element, or
 * one within limits of load. */
static nw_status map_several_run(struct nw_several *several, nw_mapping **out,
                                 struct nw_map_report *report)
{
    const struct nw_algorithm *algorithm = NULL;
    nw_status status = map_several_find(several, &algorithm);

    if (status)
        return status;
    if (!nw_several_is_single(&several->options) ||
        (nw_algorithm_is(algorithm, NW_ALGORITHM_BLOCK) &&
         !nw_several_uses_gpus(several)))
        return map_several_run_method(several, algorithm, out, report);
    if (algorithm->several != NW_SEVERAL_BY_KWAY &&
        algorithm->several != NW_SEVERAL_BY_SLOTS)
        return nw_fail(NW_EINVAL,
                       "algorithm %s cannot limit the load of an element; use "
                       "auto, multilevel, anneal, tabu, exact, refine or block",
                       algorithm->name);
    return nw_several_on_slots(several, algorithm, out, report);
}

/* Makes the default mapping, which is what a launcher does: it knows no limits
 * of load. */
static nw_status map_several_default(const struct nw_several *several,
                                     nw_mapping **out)
{
    int32_t *part = NULL;
    nw_status status = nw_several_default_parts(several, &part);

    if (!status)
        status = nw_several_to_mapping(several, part, out);
    free(part);
    return status;
}

nw_status nw_several_map(const struct nw_map_call *call, bool is_default,
                         struct nw_several_result *out)
{
    struct nw_several_result result = {0};
    struct nw_several several;
    nw_status status = nw_several_init(&several, call);

    if (!status)
        status = nw_several_choose_hosts(&several);
    if (!status)
        status = nw_several_to_graph(&several);
    if (!status)
        status = nw_several_to_machine(&several);
    if (!status && (nw_several_is_plain(&several) ||
                    (is_default && nw_several_uses_gpus(&several))))
        result.plain = nw_several_without_limits(&several);
    else if (!status)
        status = is_default ? map_several_default(&several, &result.mapping)
                            : map_several_run(&several, &result.mapping,
                                              &result.report);
    result.report.steps = several.budget.steps;
    result.report.hurried = several.budget.hurried;
    if (!status)
        *out = result;
    nw_several_fini(&several);
    return status;
}
