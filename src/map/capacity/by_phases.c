/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps several ranks per element by the phases of MAGC. The phases count ranks
 * and ignore their loads, so all ranks must have the same load. */
#include "map/capacity/slots_problem.h"
#include "map/portfolio/candidate.h"
#include "base/status.h"
#include "base/text.h"

nw_status nw_several_by_phases(struct nw_several *several,
                               const struct nw_algorithm *algorithm,
                               nw_mapping **out, struct nw_map_report *report)
{
    struct nw_slots_problem work = {.several = several,
                                    .per_element_several = true};
    struct nw_candidate found = {0};
    int64_t capacity = 0;
    nw_status status;

    if (!nw_several_is_even(several))
        return nw_fail(NW_EINVAL,
                       "algorithm %s cannot map ranks of different weights; "
                       "use multilevel, refine or block",
                       algorithm->name);
    status = nw_slots_problem_init(&work);
    for (int32_t h = 0; !status && h < work.problem.host_count; h++)
        capacity += work.problem.capacity[h];
    if (!status && capacity < several->graph.n)
        status = nw_fail(
            NW_EINVAL, "%d rank%s not fit: the limits of load allow %lld",
            several->graph.n,
            nw_by_count((uint64_t)several->graph.n, " does", "s do"),
            (long long)capacity);
    if (!status)
        status = nw_candidate_run(algorithm, &work.problem, report, &found);
    if (!status) {
        *out = found.mapping;
        found.mapping = NULL;
        report->algorithm = found.algorithm;
    }
    nw_candidate_fini(&found);
    nw_slots_problem_fini(&work);
    return status;
}
