/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's mapping calls. Each passes the problem to the part of the
 * engine that handles its options: lost nodes, whole nodes, several ranks per
 * element, or the portfolio of algorithms for one rank per element. */
#include "map/capacity/map_several.h"
#include "map/portfolio/portfolio.h"

/* Maps several ranks per element. If the options turn out to allow only one and
 * no limit excludes a placement, calls the portfolio. `priced`: the costs are
 * computed, too. */
static nw_status map_several(const struct nw_map_call *call, bool priced,
                             struct nw_map_answer *out)
{
    struct nw_several_result result;
    struct nw_map_call plain = *call;
    nw_mapping *standard = NULL;
    nw_status status = nw_several_map(call, false, &result);

    if (status)
        return status;
    plain.options = &result.plain;
    if (!result.mapping)
        return nw_portfolio_map(&plain, priced, out);
    out->mapping = result.mapping;
    out->report = result.report;
    if (!priced)
        return NW_OK;
    status =
        nw_map_default(call->topology, call->pattern, call->options, &standard);
    if (!status)
        status = nw_cost_evaluate(call->topology, call->pattern, standard,
                                  &out->standard);
    if (!status)
        status = nw_cost_evaluate(call->topology, call->pattern, out->mapping,
                                  &out->cost);
    nw_mapping_free(standard);
    return status;
}

/* Passes a call to the part of the engine that handles its options. `priced`:
 * the costs of the mapping and of the default mapping are needed. */
static nw_status map_dispatch(const struct nw_map_call *call, bool priced,
                              struct nw_map_answer *out)
{
    struct nw_map_options options = nw_problem_options(call->options);

    if (options.lost_count)
        return nw_lost_nodes_map(call, out);
    if (options.whole_nodes)
        return nw_whole_nodes_map(call, out);
    if (nw_several_is_asked(call->options))
        return map_several(call, priced, out);
    return nw_portfolio_map(call, priced, out);
}

nw_status nw_map(const nw_topology *topology, const nw_pattern *pattern,
                 const struct nw_map_options *options, nw_mapping **out,
                 struct nw_map_report *report)
{
    struct nw_map_call call = {topology, pattern, options};
    struct nw_map_answer answer = {0};
    nw_status status = map_dispatch(&call, false, &answer);

    if (status)
        return status;
    *out = answer.mapping;
    answer.mapping = NULL;
    if (report)
        *report = answer.report;
    nw_map_answer_fini(&answer);
    return NW_OK;
}

nw_status nw_map_priced(const nw_topology *topology, const nw_pattern *pattern,
                        const struct nw_map_options *options,
                        struct nw_map_answer *out)
{
    struct nw_map_call call = {topology, pattern, options};
    struct nw_map_answer answer = {0};
    nw_status status = map_dispatch(&call, true, &answer);

    if (status)
        nw_map_answer_fini(&answer);
    else
        *out = answer;
    return status;
}

nw_status nw_map_default(const nw_topology *topology, const nw_pattern *pattern,
                         const struct nw_map_options *options, nw_mapping **out)
{
    struct nw_map_call call = {topology, pattern, options};
    struct nw_several_result result;
    nw_status status;

    if (!nw_several_is_asked(options))
        return nw_problem_default(&call, out);
    status = nw_several_map(&call, true, &result);
    if (status)
        return status;
    call.options = &result.plain;
    if (!result.mapping)
        return nw_problem_default(&call, out);
    *out = result.mapping;
    return NW_OK;
}
