/* SPDX-License-Identifier: BSD-3-Clause */
/* The best of the cheap ones. Every candidate is priced by the same figures
 * as evaluate shows; the default is the first of them. */
#include "map/portfolio/algorithm.h"
#include "map/common/budget.h"
#include "map/phases/all_units.h"
#include "map/portfolio/improve_pool.h"
#include "map/portfolio/named_searches.h"
#include "base/crew.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where it stops being cheap: trials of Algorithm 1, ranks for Scotch. */
#define GREEDY_TRIALS_MOST 4e6
#define SCOTCH_RANKS_MOST 32768
#define LIST_MOST 10
#define FEW_BONDS 4000
/* Ranks without a grid: so many are started in many ways by the search. */
#define STARTED_LEAST 256
#define STARTED_MOST 1024
#define FEW_EDGES 65536 /* not worth a thread */
#define ALIKE 1e-3      /* of two figures */
#define ALIKE_TIME 1e-2 /* the same of a sum of means */
#define ALIKE_RANKS_MOST 256

/* A row beside the named ones. */
static const struct nw_algorithm by_distance = {
    "partition",   "",
    nw_run_phases, {"partition", "partition", "partition"},
    NW_KINDS_ALL,  .by_distance = true};

static bool greedy_is_cheap(const struct nw_problem *problem)
{
    double most = 0;

    for (int32_t h = 0; h < problem->host_count; h++) {
        double units = problem->core.first[h + 1] - problem->core.first[h];

        most += units * (units < problem->pattern->rank_count
                             ? units
                             : problem->pattern->rank_count);
    }
    return most <= GREEDY_TRIALS_MOST;
}

struct choosing {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    struct nw_candidate best;
    double standard[3];  /* the default's hop-bytes and congestion, and when
                            MAGC's exchange ends */
    const double *guard; /* the same where nothing may pass them */
    const struct nw_algorithm *magc; /* that of MAGC's two ends first */
    struct nw_candidate magc_answer; /* its figures, without a mapping */
    struct nw_pool pool;
};

struct running {
    const struct nw_algorithm *algorithm;
    const struct nw_problem *problem;
    struct nw_map_report *report;
    struct nw_candidate candidate;
};

/* The first is the default. MAGC's answers, where they are allowed, set when an
 * exchange has to end. */
static void raise_standard(struct choosing *choosing,
                           const struct nw_candidate *candidate,
                           const struct nw_algorithm *magc)
{
    double *standard = choosing->standard;

    if (!choosing->best.mapping) {
        memcpy(standard, candidate->guard, sizeof candidate->guard);
        choosing->pool.standard = candidate->figure[0];
        if (choosing->problem->options.careful)
            choosing->guard = standard;
    } else if (magc && nw_candidate_within(candidate, choosing->guard)) {
        if (candidate->guard[2] < standard[2])
            standard[2] = candidate->guard[2];
        if (!choosing->magc ||
            candidate->guard[2] < choosing->magc_answer.guard[2]) {
            choosing->magc = magc;
            choosing->magc_answer = *candidate;
            choosing->magc_answer.mapping = NULL;
            choosing->magc_answer.cost = (struct nw_cost){0};
        }
    }
}

static bool is_taken(const struct choosing *choosing,
                     const struct nw_candidate *candidate)
{
    if (!choosing->best.mapping)
        return true;
    return nw_candidate_within(candidate, choosing->guard) &&
           (nw_candidate_better(candidate, &choosing->best) ||
            !nw_candidate_within(&choosing->best, choosing->guard));
}

static nw_status run_candidate(void *user)
{
    struct running *running = user;

    return nw_candidate_run(running->algorithm, running->problem,
                            running->report, &running->candidate);
}

/* What is asked for by name is not to be better than what is chosen. */
static void lower_standard(struct choosing *choosing,
                           const struct nw_candidate *candidate,
                           const struct nw_algorithm *algorithm)
{
    double *standard = &choosing->pool.standard;

    if (!choosing->guard && strcmp(algorithm->name, "partition") != 0)
        *standard = fmin(*standard, candidate->figure[0]);
}

/* What came of it, in the order of the list. */
static void weigh(struct choosing *choosing, struct running *running)
{
    struct nw_candidate candidate = running->candidate;
    const struct nw_algorithm *algorithm = running->algorithm;

    raise_standard(choosing, &candidate,
                   strncmp(algorithm->name, "magc-", 5) ? NULL : algorithm);
    lower_standard(choosing, &candidate, algorithm);
    if (is_taken(choosing, &candidate)) {
        struct nw_candidate worse = choosing->best;

        choosing->best = candidate;
        candidate = worse;
    }
    nw_pool_take(&choosing->pool, &candidate);
}

static struct running runner(const struct choosing *choosing,
                             const struct nw_algorithm *algorithm)
{
    return (struct running){
        algorithm, choosing->problem, choosing->report, {0}};
}

static nw_status consider(struct choosing *choosing,
                          const struct nw_algorithm *algorithm)
{
    struct running running = runner(choosing, algorithm);
    nw_status status = run_candidate(&running);

    if (!status)
        weigh(choosing, &running);
    return status;
}

/* Dense searches need longer than haste allows but for the smallest. */
static bool suits_dense(const struct nw_problem *problem)
{
    return nw_search_is_small(problem) &&
           (problem->options.effort != NW_EFFORT_FAST ||
            problem->core.first[problem->host_count] <= NW_EXACT_MOST);
}

/* Whether the search on trees knows all that counts. The smallest machines are
 * proven instead, and matrices may have a diagonal. */
static bool is_searchable(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;
    bool elsewhere =
        suits_dense(problem) &&
        (problem->topology->matrix ||
         problem->core.first[problem->host_count] <= NW_EXACT_MOST);

    return options->objective == NW_OBJECTIVE_HOP_BYTES && !options->careful &&
           !problem->uses_gpus && options->affinity == 0 && !elsewhere;
}

/* The default, and beside it the search that needs nothing of its. */
static nw_status run_both(struct choosing *choosing, struct running *standard,
                          struct running *search)
{
    const struct nw_problem *problem = choosing->problem;
    struct nw_crew_task both[] = {{.run = run_candidate, .user = standard},
                                  {.run = run_candidate, .user = search}};
    bool few = problem->pattern->edge_count < FEW_EDGES;
    nw_status status = nw_crew_pair(both, few ? 1 : problem->budget->threads);

    if (!both[0].status)
        weigh(choosing, standard);
    if (!both[1].status && !both[0].status)
        weigh(choosing, search);
    else
        nw_candidate_fini(&search->candidate);
    return status;
}

/* The search alone where the machine is a tree: it begins with what ranks in
 * order give, and looks at more than the others do. Small machines are then
 * searched as dense problems, too, but for grids, which that does not lower. A
 * second objective it does not know. */
static nw_status search_tree(struct choosing *choosing,
                             struct running *standard, bool *done)
{
    const struct nw_problem *problem = choosing->problem;
    struct running search = runner(choosing, nw_algorithm_find("multilevel"));
    bool endless = problem->budget->endless;
    bool second = problem->options.has_second;
    nw_status status;

    if (suits_dense(problem) || second)
        problem->budget->endless = false;
    status = run_both(choosing, standard, &search);
    problem->budget->endless = endless;
    *done = status == NW_OK && !second && !problem->budget->likened &&
            (!suits_dense(problem) || problem->budget->gridded);
    return status == NW_EUNSUPPORTED && choosing->best.mapping ? NW_OK : status;
}

/* The default first: nothing may be worse. */
static nw_status begin(struct choosing *choosing, bool *done)
{
    const struct nw_algorithm *first = nw_algorithm_find("default");
    struct running standard = runner(choosing, first);

    *done = false;
    if (is_searchable(choosing->problem))
        return search_tree(choosing, &standard, done);
    return consider(choosing, first);
}

static bool is_started_enough(const struct nw_problem *problem)
{
    int32_t ranks = problem->pattern->rank_count;

    return !problem->budget->gridded && ranks >= STARTED_LEAST &&
           ranks <= STARTED_MOST;
}

/* What knows no grid is seldom better, and dear where there are many bonds. */
static nw_status cut_few_bonds(struct choosing *choosing)
{
    const struct nw_problem *problem = choosing->problem;
    const struct nw_budget *budget = problem->budget;
    nw_status status;

    if (budget->stopped || budget->endless ||
        problem->options.effort == NW_EFFORT_FAST ||
        problem->pattern->edge_count > FEW_BONDS || is_started_enough(problem))
        return NW_OK;
    status = consider(choosing, nw_algorithm_find("partition"));
    if (!status && nw_scotch_is_here())
        status = consider(choosing, nw_algorithm_find("scotch"));
    return status;
}

static size_t list_candidates(const struct nw_problem *problem,
                              const struct nw_algorithm *list[LIST_MOST])
{
    bool greedy = greedy_is_cheap(problem);
    bool scotch;
    size_t count = 0;

    if (problem->options.effort == NW_EFFORT_FAST) {
        list[count++] = nw_algorithm_find(greedy ? "magc-greedy" : "partition");
        return count;
    }
    scotch = nw_scotch_is_here() && !problem->topology->matrix &&
             problem->pattern->rank_count <= SCOTCH_RANKS_MOST;
    if (greedy)
        list[count++] = nw_algorithm_find("magc-greedy");
    if (scotch) {
        list[count++] = nw_algorithm_find("magc-scotch");
        list[count++] = nw_algorithm_find("scotch");
    }
    list[count++] = nw_algorithm_find("block");
    list[count++] = nw_algorithm_find("partition");
    if (!problem->topology->matrix) /* which loads no link */
        list[count++] = &by_distance;
    if (problem->uses_gpus)
        list[count++] = nw_algorithm_find("independent-remap");
    if (problem->options.remote_gpus)
        list[count++] = nw_algorithm_find("independent");
    return count;
}

static bool is_below(double figure, double other, double alike)
{
    return figure < other * (1 - alike);
}

/* Answers that the model holds for alike need not take the same time: MAGC's
 * own then, so that none of its answers ends before ours. */
static nw_status keep_magc(struct choosing *choosing)
{
    const struct nw_candidate *best = &choosing->best;
    const struct nw_candidate *magc = &choosing->magc_answer;
    struct nw_candidate other = {0};
    enum nw_objective objective = choosing->problem->options.objective;
    bool time = objective == NW_OBJECTIVE_TIME;
    nw_status status;

    if (!choosing->guard || !choosing->magc ||
        choosing->problem->pattern->rank_count > ALIKE_RANKS_MOST ||
        (objective != NW_OBJECTIVE_CONGESTION && !time) ||
        is_below(best->figure[0], magc->figure[0], time ? ALIKE_TIME : ALIKE) ||
        is_below(best->guard[2], magc->guard[2], ALIKE))
        return NW_OK;
    status = nw_candidate_run(choosing->magc, choosing->problem,
                              choosing->report, &other);
    if (status)
        return status;
    nw_candidate_fini(&choosing->best);
    choosing->best = other;
    return NW_OK;
}

nw_status nw_choose_best(const struct nw_problem *problem,
                         struct nw_map_report *report, struct nw_candidate *out)
{
    struct choosing choosing = {.problem = problem, .report = report};
    const struct nw_algorithm *list[LIST_MOST];
    size_t count = 0;
    bool done;
    nw_status status = begin(&choosing, &done);

    if (!status && done)
        status = cut_few_bonds(&choosing);
    else if (!status)
        count = list_candidates(problem, list);
    for (size_t i = 0;
         !status && i < count && !nw_budget_is_overdue(problem->budget); i++) {
        struct nw_progress *progress = problem->options.progress;

        if (progress && progress->update)
            progress->update(progress, i + 1, count + 1, list[i]->name);
        status = consider(&choosing, list[i]);
    }
    if (!status && !done && !nw_budget_is_overdue(problem->budget))
        status = nw_candidate_improve(problem, report, choosing.guard,
                                      &choosing.pool, &choosing.best);
    if (!status && problem->options.effort != NW_EFFORT_FAST &&
        !nw_budget_is_overdue(problem->budget))
        status = keep_magc(&choosing);
    nw_pool_fini(&choosing.pool);
    if (status)
        nw_candidate_fini(&choosing.best);
    else
        *out = choosing.best;
    return status;
}
