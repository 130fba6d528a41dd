/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_map: the table of algorithms, and the promise that no answer is worse
 * than the default. */
#include "map/portfolio/algorithm.h"
#include "map/common/budget.h"
#include "map/phases/all_units.h"
#include "map/capacity/several.h"
#include "map/portfolio/named_searches.h"
#include "base/status.h"
#include "cost/pricing.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct algorithms_named {
    const char *name;
    nw_placer *placer;
};

static const struct algorithms_named algorithms_placers[] = {
    {"block", nw_place_block},         {"cyclic", nw_place_cyclic},
    {"random", nw_place_random},       {"greedy", nw_place_greedy},
    {"partition", nw_place_partition}, {"scotch", nw_place_scotch},
    {"rashti", nw_place_rashti},       {NULL, NULL},
};

/* These need a budget: they stand in no phase. */
static const struct algorithms_named algorithms_searches[] = {
    {"multilevel", nw_place_multilevel},
    {"section", nw_place_section},
    {"tile", nw_place_tile},
    {"refine", nw_place_refine},
    {NULL, NULL},
};

static nw_placer *algorithms_find_named(const struct algorithms_named *list,
                                        const char *name)
{
    while (list->name && strcmp(name, list->name))
        list++;
    return list->placer;
}

nw_placer *nw_placer_find(const char *name)
{
    if (!strcmp(name, "magc"))
        name = nw_scotch_is_here() ? "scotch" : "greedy";
    if (!strncmp(name, "magc-", 5))
        name += 5;
    return algorithms_find_named(algorithms_placers, name);
}

#define PHASE_NAMES "block, cyclic, random, scotch, rashti, greedy, partition"

const char *nw_map_phase_names(void)
{
    return PHASE_NAMES;
}

bool nw_map_phase_known(const char *name)
{
    return nw_placer_find(name);
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

/* Without a GPU layer, one placer on all cores at once; otherwise one on the
 * nodes' pairs of free core and free GPU, then on the GPUs of each node. */
nw_status nw_run_all_units(const struct nw_algorithm *algorithm,
                           const struct nw_problem *problem,
                           struct nw_answer *answer,
                           struct nw_map_report *report)
{
    struct nw_all_units flat = {.kinds = algorithm->kinds, .paired = true};
    struct nw_phases phases = {.kinds = NW_KINDS_ALL};
    struct nw_answer start = {0};
    const char *const *phase = problem->options.phase;
    bool by_phases = phase[0] || phase[1] || phase[2];
    nw_status status;

    flat.placer = algorithms_find_named(algorithms_searches, algorithm->name);
    if (!flat.placer)
        flat.placer = nw_placer_find(algorithm->name);
    phases.placer[2] = nw_placer_find(algorithm->phase[2]);
    if (!flat.placer)
        return nw_fail(NW_EUNSUPPORTED, "%s is absent from this build",
                       algorithm->name);
    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        by_phases |= problem->uses_gpus && !problem->wants_gpu[r];
    if (by_phases)
        return nw_run_phases(algorithm, problem, answer, report);
    status = nw_answer_from_mapping(problem, &start);
    flat.start = start.host ? &start : NULL;
    if (!status)
        status = nw_all_units_place(problem, &flat, answer->host, answer->core,
                                    report);
    nw_answer_fini(&start);
    if (status || !problem->uses_gpus)
        return status;
    return nw_phase_units(problem, &phases, answer, report, true);
}

/* On trees by common ancestors, else by routes; those know the diagonal of a
 * matrix, too. */
static nw_status algorithms_run_refine(const struct nw_algorithm *algorithm,
                                       const struct nw_problem *problem,
                                       struct nw_answer *answer,
                                       struct nw_map_report *report)
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

/* clang-format off */
static const struct nw_algorithm algorithms[] = {
    {"auto", "the best of the cheap ones for the objective", NULL},
    {"magc",
     "magc-scotch where Scotch is present, else magc-greedy",
     nw_run_phases,
     {"partition", "magc", "magc"},
     NW_KINDS_ALL},
    {"magc-scotch",
     "MAGC: nodes by partition, cores and GPUs by Scotch",
     nw_run_phases,
     {"partition", "scotch", "scotch"},
     NW_KINDS_ALL},
    {"magc-greedy",
     "MAGC: nodes by partition, cores and GPUs by Algorithm 1",
     nw_run_phases,
     {"partition", "greedy", "greedy"},
     NW_KINDS_ALL},
    {"strategy1",
     "as magc, but nodes by host messages alone",
     nw_run_phases,
     {"partition", "magc", "magc"},
     NW_KINDS_HOST,
     .baseline = true},
    {"strategy2",
     "as strategy1, and GPUs in the order of local ranks",
     nw_run_phases,
     {"partition", "magc", NULL},
     NW_KINDS_HOST,
     .baseline = true},
    {"independent",
     "cores and GPUs each by themselves, GPUs anywhere",
     nw_run_independent,
     {NULL, "partition", "partition"},
     NW_KINDS_ALL,
     .baseline = true},
    {"independent-remap",
     "independent, then ranks moved to their GPU's node",
     nw_run_independent_remap,
     {NULL, "partition", "partition"},
     NW_KINDS_ALL,
     .baseline = true},
    {"scotch",
     "Scotch on all cores at once",
     nw_run_all_units,
     {"scotch", "scotch", "scotch"},
     NW_KINDS_ALL},
    {"rashti",
     "Scotch on the integer loads of the MPI topology functions",
     nw_run_all_units,
     {"rashti", "rashti", "rashti"},
     NW_KINDS_ALL},
    {"tile",
     "a stencil's grid cut into boxes, level by level",
     nw_run_all_units,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"section",
     "boxes of a grid, or recursive sections along the machine: quick",
     nw_run_all_units,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"multilevel",
     "recursive sections along the machine, then swaps of ranks and subtrees",
     nw_run_all_units,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"fold",
     "a stencil folded onto a torus, a dragonfly or any other network",
     nw_run_search,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"anneal",
     "simulated annealing of swaps",
     nw_run_search,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"tabu",
     "robust tabu search of swaps",
     nw_run_search,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"exact",
     "the proven best, for few ranks",
     nw_run_search,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"refine",
     "swaps that lower the objective, from --from or the default",
     algorithms_run_refine,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"partition",
     "recursive bisection and refinement in all phases",
     nw_run_phases,
     {"partition", "partition", "partition"},
     NW_KINDS_ALL},
    {"default", "what the launcher would do", nw_run_default},
    {"block",
     "ranks in order, node after node, core after core",
     nw_run_phases,
     {"block", "block", "block"},
     NW_KINDS_ALL},
    {"cyclic",
     "ranks in order, a node each in turn",
     nw_run_phases,
     {"cyclic", "block", "block"},
     NW_KINDS_ALL,
     .baseline = true},
    {"random",
     "any valid mapping, from the seed",
     nw_run_phases,
     {"random", "random", "random"},
     NW_KINDS_ALL,
     .baseline = true},
};
/* clang-format on */

const struct nw_algorithm *nw_algorithm_find(const char *name)
{
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (!strcmp(name, algorithms[i].name))
            return &algorithms[i];
    return NULL;
}

bool nw_map_algorithm(size_t index, const char **name, const char **summary)
{
    if (index >= sizeof algorithms / sizeof *algorithms)
        return false;
    *name = algorithms[index].name;
    *summary = algorithms[index].summary;
    return true;
}

nw_status nw_algorithm_phases(const struct nw_algorithm *algorithm,
                              const struct nw_map_options *options,
                              struct nw_phases *out)
{
    struct nw_phases phases = {.kinds = algorithm->kinds,
                               .by_distance = algorithm->by_distance};

    for (int i = 0; i < 3; i++) {
        const char *name =
            options->phase[i] ? options->phase[i] : algorithm->phase[i];

        if (!name)
            continue;
        phases.placer[i] = nw_placer_find(name);
        if (!phases.placer[i])
            return nw_fail(NW_EINVAL,
                           "phase %d: no algorithm '%s' (" PHASE_NAMES ")",
                           i + 1, name);
    }
    *out = phases;
    return NW_OK;
}

void nw_candidate_fini(struct nw_candidate *candidate)
{
    nw_mapping_free(candidate->mapping);
    nw_cost_fini(&candidate->cost);
    *candidate = (struct nw_candidate){0};
}

static void algorithms_judge(const struct nw_cost *cost,
                             const struct nw_map_options *options,
                             struct nw_candidate *candidate)
{
    double *figure = candidate->figure;
    enum nw_objective objective = options->objective;
    enum nw_objective second = objective == NW_OBJECTIVE_HOP_BYTES
                                   ? NW_OBJECTIVE_CONGESTION
                                   : NW_OBJECTIVE_HOP_BYTES;

    if (options->has_second)
        second = options->second;
    figure[0] = nw_cost_objective(cost, objective);
    figure[1] = second == NW_OBJECTIVE_CONGESTION && !cost->has_congestion
                    ? 0
                    : nw_cost_objective(cost, second);
    candidate->guard[0] = cost->hop_bytes.value;
    candidate->guard[1] = cost->has_congestion ? cost->max_congestion : 0;
}

static nw_status algorithms_price(const struct nw_problem *problem,
                                  struct nw_candidate *candidate)
{
    int32_t threads = problem->budget ? problem->budget->threads : 1;
    nw_status status =
        nw_cost_price(&(struct nw_pricing){problem->topology, problem->pattern,
                                           candidate->mapping, threads},
                      &candidate->cost);

    if (status)
        return status;
    algorithms_judge(&candidate->cost, &problem->options, candidate);
    if (!problem->options.careful || !candidate->cost.has_congestion)
        return NW_OK;
    return nw_exchange_makespan(problem, candidate->mapping, &candidate->cost,
                                &candidate->guard[2]);
}

nw_status nw_candidate_from_answer(const struct nw_problem *problem,
                                   const struct nw_answer *answer,
                                   const char *algorithm,
                                   struct nw_candidate *out)
{
    struct nw_candidate candidate = {.algorithm = algorithm};
    nw_status status =
        nw_answer_to_mapping(answer, problem, &candidate.mapping);

    if (!status)
        status = algorithms_price(problem, &candidate);
    if (status)
        nw_candidate_fini(&candidate);
    else
        *out = candidate;
    return status;
}

bool nw_candidate_better(const struct nw_candidate *a,
                         const struct nw_candidate *b)
{
    for (int i = 0; i < 2; i++) {
        double near = 1e-9 * fmax(fabs(a->figure[i]), fabs(b->figure[i]));

        if (fabs(a->figure[i] - b->figure[i]) > near)
            return a->figure[i] < b->figure[i];
    }
    return false;
}

bool nw_candidate_within(const struct nw_candidate *candidate,
                         const double guard[3])
{
    for (int i = 0; guard && i < 3; i++)
        if (candidate->guard[i] > guard[i] * (1 + 1e-9))
            return false;
    return true;
}

static bool algorithms_is_worse(const struct nw_candidate *a,
                                const struct nw_candidate *b)
{
    return a->figure[0] - b->figure[0] > 1e-9 * fabs(b->figure[0]);
}

nw_status nw_candidate_run(const struct nw_algorithm *algorithm,
                           const struct nw_problem *problem,
                           struct nw_map_report *report,
                           struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    nw_status status = nw_answer_init(&answer, problem->pattern->rank_count);

    if (!status)
        status = algorithm->run(algorithm, problem, &answer, report);
    if (!status)
        status =
            nw_candidate_from_answer(problem, &answer, algorithm->name, out);
    if (!status && algorithm->run == nw_run_default && problem->standard &&
        !problem->standard->level_count)
        status = nw_cost_copy(&out->cost, problem->standard);
    nw_answer_fini(&answer);
    return status;
}

/* Takes `other` as the best if it is better. */
static void algorithms_take_other(struct nw_candidate *best,
                                  struct nw_candidate *other, bool is_better)
{
    if (is_better) {
        struct nw_candidate worse = *best;

        *best = *other;
        *other = worse;
    }
    nw_candidate_fini(other);
}

/* The default's answer in place of a worse one. */
static nw_status algorithms_keep_promise(const struct nw_problem *problem,
                                         struct nw_map_report *report,
                                         struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status =
        nw_candidate_run(nw_algorithm_find("default"), problem, report, &other);

    if (!status)
        algorithms_take_other(best, &other, algorithms_is_worse(best, &other));
    return status;
}

static nw_status algorithms_run_start(const struct nw_algorithm *algorithm,
                                      const struct nw_problem *problem,
                                      struct nw_answer *answer,
                                      struct nw_map_report *report)
{
    (void)algorithm;
    (void)report;
    return nw_search_initial(problem, answer);
}

/* The start of a search stays the answer if the search made it worse, which an
 * approximation of the machine may cause. A start that is not a complete answer
 * is ignored. */
static nw_status algorithms_keep_start(const struct nw_algorithm *algorithm,
                                       const struct nw_problem *problem,
                                       struct nw_map_report *report,
                                       struct nw_candidate *best)
{
    struct nw_algorithm start = {.name = algorithm->name,
                                 .run = algorithms_run_start};
    struct nw_candidate other = {0};
    nw_status status;

    if (!problem->options.start ||
        (algorithm->run != nw_run_search &&
         !algorithms_find_named(algorithms_searches, algorithm->name)))
        return NW_OK;
    status = nw_candidate_run(&start, problem, report, &other);
    if (!status)
        algorithms_take_other(best, &other, nw_candidate_better(&other, best));
    return status == NW_EINVAL || status == NW_EUNSUPPORTED ? NW_OK : status;
}

static nw_status algorithms_find(const struct nw_map_options *options,
                                 const struct nw_algorithm **out)
{
    const char *name = options ? options->algorithm : NULL;
    bool phases = options &&
                  (options->phase[0] || options->phase[1] || options->phase[2]);
    const struct nw_algorithm *found;

    if (!name)
        name = phases ? "magc" : "auto";
    found = nw_algorithm_find(name);
    if (!found)
        return nw_fail(NW_EINVAL, "no algorithm '%s'", name);
    if (phases && !found->kinds)
        return nw_fail(NW_EINVAL, "%s has no phases to replace", name);
    *out = found;
    return NW_OK;
}

static bool algorithms_needs_link(enum nw_objective objective)
{
    return objective == NW_OBJECTIVE_CONGESTION ||
           objective == NW_OBJECTIVE_TIME;
}

static bool algorithms_needs_links(const struct nw_map_options *options)
{
    return algorithms_needs_link(options->objective) ||
           (options->has_second && algorithms_needs_link(options->second));
}

nw_status nw_objectives_need_links(const nw_topology *topology,
                                   const struct nw_map_options *options)
{
    if (!algorithms_needs_links(options) || nw_topology_has_links(topology))
        return NW_OK;
    return nw_fail(NW_EINVAL,
                   "%s is a matrix of distances: it has no links and no "
                   "congestion",
                   nw_topology_name(topology));
}

/* Orders that are asked for as they are. */
static bool algorithms_is_as_asked(const struct nw_algorithm *algorithm)
{
    return algorithm->baseline || algorithm->run == nw_run_default;
}

static nw_status algorithms_solve(const struct nw_algorithm *algorithm,
                                  const struct nw_problem *problem,
                                  struct nw_map_report *report,
                                  struct nw_candidate *best)
{
    nw_status status =
        nw_objectives_need_links(problem->topology, &problem->options);

    if (status)
        return status;
    if (!algorithm->run)
        status = nw_choose_best(problem, report, best);
    else
        status = nw_candidate_run(algorithm, problem, report, best);
    if (!status && algorithm->run && !algorithm->baseline)
        status = algorithms_keep_promise(problem, report, best);
    if (!status && algorithm->run)
        status = algorithms_keep_start(algorithm, problem, report, best);
    if (!status && !algorithms_is_as_asked(algorithm))
        status = nw_cores_near_gpus(problem, !strcmp(algorithm->name, "block"),
                                    best);
    return status;
}

static nw_status algorithms_price_default(const struct nw_problem *problem)
{
    struct nw_map_report ignored = {0};
    struct nw_candidate standard = {0};
    nw_status status;

    if (!problem->standard || problem->standard->level_count)
        return NW_OK;
    status = nw_candidate_run(nw_algorithm_find("default"), problem, &ignored,
                              &standard);
    nw_candidate_fini(&standard);
    return status;
}

/* The default's cost only where it is asked for. */
static nw_status algorithms_find_answer(const struct nw_algorithm *algorithm,
                                        struct nw_problem *problem,
                                        struct nw_map_answer *out)
{
    struct nw_candidate best = {0};
    struct nw_budget budget;
    nw_status status;

    nw_budget_init(&budget, &problem->options);
    problem->budget = &budget;
    status = algorithms_solve(algorithm, problem, &out->report, &best);
    if (!status)
        status = algorithms_price_default(problem);
    if (status) {
        nw_candidate_fini(&best);
        return status;
    }
    if (budget.steps)
        out->report.steps = budget.steps;
    out->report.hurried = budget.hurried;
    out->report.algorithm = best.algorithm;
    out->mapping = best.mapping;
    out->cost = best.cost;
    return NW_OK;
}

static nw_status algorithms_map_few(const nw_topology *topology,
                                    const nw_pattern *pattern,
                                    const struct nw_map_options *options,
                                    bool priced, struct nw_map_answer *out)
{
    const struct nw_algorithm *algorithm = NULL;
    struct nw_map_answer answer = {0};
    struct nw_problem problem;
    nw_status status = algorithms_find(options, &algorithm);

    if (!status)
        status = nw_problem_init(&problem, topology, pattern, options);
    if (status)
        return status;
    problem.standard = priced ? &answer.standard : NULL;
    status = algorithms_find_answer(algorithm, &problem, &answer);
    nw_problem_fini(&problem);
    if (status)
        nw_map_answer_fini(&answer);
    else
        *out = answer;
    return status;
}

nw_status nw_map(const nw_topology *topology, const nw_pattern *pattern,
                 const struct nw_map_options *options, nw_mapping **out,
                 struct nw_map_report *report)
{
    struct nw_map_answer answer = {0};
    nw_status status;

    if (nw_several_is_asked(options))
        return nw_several_map(topology, pattern, options, out, report);
    status = algorithms_map_few(topology, pattern, options, false, &answer);
    if (status)
        return status;
    *out = answer.mapping;
    answer.mapping = NULL;
    if (report)
        *report = answer.report;
    nw_map_answer_fini(&answer);
    return NW_OK;
}

static nw_status algorithms_map_many(const nw_topology *topology,
                                     const nw_pattern *pattern,
                                     const struct nw_map_options *options,
                                     struct nw_map_answer *out)
{
    struct nw_map_answer answer = {0};
    nw_mapping *standard = NULL;
    nw_status status = nw_several_map(topology, pattern, options,
                                      &answer.mapping, &answer.report);

    if (!status)
        status = nw_several_default(topology, pattern, options, &standard);
    if (!status)
        status =
            nw_cost_evaluate(topology, pattern, standard, &answer.standard);
    if (!status)
        status =
            nw_cost_evaluate(topology, pattern, answer.mapping, &answer.cost);
    nw_mapping_free(standard);
    if (status)
        nw_map_answer_fini(&answer);
    else
        *out = answer;
    return status;
}

nw_status nw_map_priced(const nw_topology *topology, const nw_pattern *pattern,
                        const struct nw_map_options *options,
                        struct nw_map_answer *out)
{
    if (nw_several_is_asked(options))
        return algorithms_map_many(topology, pattern, options, out);
    return algorithms_map_few(topology, pattern, options, true, out);
}

void nw_map_answer_fini(struct nw_map_answer *answer)
{
    nw_mapping_free(answer->mapping);
    nw_cost_fini(&answer->cost);
    nw_cost_fini(&answer->standard);
    *answer = (struct nw_map_answer){0};
}
