/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the k-way engine found, made better by moves of ranks between seats.
 * One rank on an element, within limits of load: where any rank may be on any
 * element the limits are dropped and all algorithms answer; else GPUs are given
 * beside what was found, and moves keep the limits. Several on an element,
 * where they are few and weigh the same: an element has a seat for each.
 */
#include "map/portfolio/algorithm.h"
#include "map/common/budget.h"
#include "map/congestion/branch_bound.h"
#include "map/capacity/several.h"
#include "map/portfolio/named_searches.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What moves between seats are made for where elements have several. */
#define RANKS_MOST 512
#define SEATS_MOST 8192

bool nw_many_is_single(const struct nw_map_options *options)
{
    return options->capacity == 1 && options->imbalance >= 0;
}

bool nw_many_uses_gpus(const struct nw_many *many)
{
    return many->options.gpus_per_rank || nw_pattern_has_gpu(many->pattern);
}

/* Elements that take no rank for want of slots count by their speed. */
bool nw_many_binds(const struct nw_many *many)
{
    const struct nw_kmachine *m = &many->machine;
    const double *speeds = many->options.speeds;
    double least = HUGE_VAL;
    bool binds = false;

    for (int32_t q = 0; q < m->k; q++)
        if (m->capacity[q]) {
            binds |= m->limit[q] < many->heaviest;
            if (speeds && speeds[many->element[q]] < least)
                least = speeds[many->element[q]];
        }
    for (int32_t q = 0; speeds && q < m->k; q++)
        binds |= speeds[many->element[q]] < least;
    return binds;
}

struct nw_map_options nw_many_without_limits(const struct nw_many *many)
{
    struct nw_map_options options = many->options;

    options.capacity = 0;
    options.imbalance = -1;
    options.weights = NULL;
    options.speeds = NULL;
    return options;
}

/* --- the problem --- */

struct seating {
    struct nw_many *many;
    bool several; /* ranks on an element */
    struct nw_problem problem;
    int64_t *limit; /* [core units] where not several */
    const nw_mapping *start;
    nw_mapping *found; /* it, where none was given */
    struct nw_map_report report;
};

static int64_t whole(nw_kload limit)
{
    return limit > INT64_MAX ? INT64_MAX : (int64_t)limit;
}

bool nw_many_is_even(const struct nw_many *many)
{
    const int64_t *load = many->graph.load;

    for (int32_t v = 1; v < many->graph.n; v++)
        if (load[v] != load[0])
            return false;
    return true;
}

static int32_t most_of_all(const struct nw_many *many)
{
    int32_t most = many->options.capacity;

    return most && most < many->graph.n ? most : many->graph.n;
}

/* How many ranks element q takes; that of slots is said by the host. */
static int32_t most_on(const struct nw_many *many, int32_t q)
{
    int32_t most = most_of_all(many);
    int64_t load = many->graph.load[0];
    int64_t borne = load ? whole(many->machine.limit[q] / load) : most;

    return borne < most ? (int32_t)borne : most;
}

bool nw_many_has_seats(const struct nw_many *many)
{
    int64_t seats = 0;

    if (many->graph.n > RANKS_MOST || !nw_many_is_even(many))
        return false;
    for (int32_t q = 0; q < many->machine.k; q++)
        seats += most_on(many, q);
    return seats <= SEATS_MOST;
}

/* A unit has lost a place for each rank that is fixed there. */
static void lower_room(struct seating *work, int32_t q, int32_t unit)
{
    int32_t *room = &work->problem.core.room[unit];
    int32_t less = most_of_all(work->many) - most_on(work->many, q);

    *room = *room > less ? *room - less : 0;
}

/* Hosts take no more than their units do, and those that are fixed on them. */
static nw_status lower_hosts(struct nw_problem *problem)
{
    int64_t *room;
    nw_status status =
        nw_alloc((size_t)problem->host_count, sizeof *room, &room);

    for (int32_t r = 0;
         !status && problem->fixed_host && r < problem->pattern->rank_count;
         r++)
        if (problem->fixed_host[r] >= 0)
            room[problem->fixed_host[r]] += !nw_problem_needs_core(problem, r);
    for (int32_t h = 0; !status && h < problem->host_count; h++) {
        for (int32_t u = problem->core.first[h]; u < problem->core.first[h + 1];
             u++)
            room[h] += problem->core.room[u];
        if (room[h] < problem->room[h])
            problem->room[h] = (int32_t)room[h];
    }
    free(room);
    return status;
}

/* Units are the elements of each host; the machine of parts has its hosts in
 * the topology's order. */
static void fill_limits(struct seating *work)
{
    const struct nw_many *many = work->many;
    const struct nw_problem *problem = &work->problem;

    for (int32_t i = 0; i < problem->host_count; i++) {
        int32_t low = many->first[many->order[i]];

        for (int32_t u = problem->core.first[i]; u < problem->core.first[i + 1];
             u++) {
            int32_t q = low + problem->core.member[u];

            if (work->several)
                lower_room(work, q, u);
            else
                work->limit[u] = whole(many->machine.limit[q]);
        }
    }
}

static nw_status make_problem(struct seating *work)
{
    struct nw_problem *problem = &work->problem;
    struct nw_map_options options = nw_many_without_limits(work->many);
    nw_status status;

    options.start = work->start;
    options.careful = false;
    if (work->several)
        options.capacity = most_of_all(work->many);
    status = nw_problem_init(problem, work->many->topology, work->many->pattern,
                             &options);
    if (!status && !work->several)
        status = nw_alloc((size_t)problem->core.first[problem->host_count],
                          sizeof *work->limit, &work->limit);
    if (status)
        return status;
    fill_limits(work);
    if (work->several)
        status = lower_hosts(problem);
    problem->budget = &work->many->budget;
    problem->load = work->several ? NULL : work->many->graph.load;
    problem->limit = work->limit;
    return status;
}

/* --- where to begin --- */

static nw_status check_given(const struct seating *work,
                             const struct nw_answer *answer)
{
    const struct nw_problem *problem = &work->problem;

    for (int32_t r = 0; r < problem->pattern->rank_count; r++)
        if (answer->core[r] >= 0 &&
            !nw_problem_bears(problem, answer->core[r], r))
            return nw_fail(NW_EINVAL,
                           "the mapping to begin from has rank %d on an "
                           "element that bears %lld, and its weight is %lld",
                           r, (long long)problem->limit[answer->core[r]],
                           (long long)problem->load[r]);
    return NW_OK;
}

static nw_status begin(struct seating *work, const char *name,
                       struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    nw_status status;

    if (work->found) {
        status = nw_answer_begin(&work->problem, &answer);
        if (!status && work->problem.uses_gpus)
            status = nw_many_give_gpus(work->many, &work->problem, &answer,
                                       &work->report);
    } else {
        status = nw_answer_init(&answer, work->problem.pattern->rank_count);
        if (!status)
            status = nw_search_begin(&work->problem, &answer);
        if (!status)
            status = check_given(work, &answer);
    }
    if (!status)
        status = nw_candidate_finish(&work->problem, &answer, name, out);
    nw_answer_fini(&answer);
    return status;
}

static bool keeps_limits(const struct seating *work,
                         const struct nw_answer *answer)
{
    for (int32_t r = 0; r < work->problem.pattern->rank_count; r++)
        if (!nw_problem_bears(&work->problem, answer->core[r], r))
            return false;
    return true;
}

/* With GPUs the parts were not compared with what a launcher would do: it may
 * be within the limits, and better. */
static nw_status try_default(const struct seating *work,
                             struct nw_candidate *best)
{
    struct nw_answer answer = {0};
    struct nw_candidate other = {0};
    nw_status status =
        nw_answer_init(&answer, work->problem.pattern->rank_count);

    if (!status)
        status = nw_answer_default(&work->problem, &answer);
    if (!status && keeps_limits(work, &answer))
        status =
            nw_candidate_finish(&work->problem, &answer, "default", &other);
    if (other.mapping && nw_candidate_better(&other, best)) {
        nw_candidate_fini(best);
        *best = other;
    } else {
        nw_candidate_fini(&other);
    }
    nw_answer_fini(&answer);
    return status;
}

/* --- auto --- */

/* Where swaps on a tree know all that is asked. */
static bool is_flat(const struct nw_problem *problem)
{
    const struct nw_map_options *options = &problem->options;

    for (int32_t h = 0; h < problem->host_count; h++)
        if (problem->room[h] <
            problem->core.first[h + 1] - problem->core.first[h])
            return false;
    return options->objective == NW_OBJECTIVE_HOP_BYTES &&
           !options->has_second && !problem->uses_gpus &&
           !problem->fixed_host && !problem->topology->matrix;
}

/* What the k-way engine did for several was lowering sums over pairs. */
static enum nw_search_depth depth_of(const struct seating *work)
{
    const struct nw_map_options *options = &work->problem.options;

    if (options->effort == NW_EFFORT_FAST)
        return NW_SEARCH_DESCENT;
    return work->several && options->objective == NW_OBJECTIVE_HOP_BYTES
               ? NW_SEARCH_BRIEF
               : NW_SEARCH_FULL;
}

static nw_status search(struct seating *work, struct nw_seats *seats,
                        const char **name)
{
    struct nw_aim aim = nw_aim_of(&work->problem);
    nw_status status = NW_OK;

    *name = "exact";
    if (nw_search_is_tiny(&work->problem))
        status =
            nw_seats_exhaust(seats, &aim, NW_EXACT_NODES, &work->report.proven);
    if (status || work->report.proven)
        return status;
    *name = "anneal";
    return nw_seats_search(seats, &aim, depth_of(work));
}

static nw_status search_seats(struct seating *work, struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    struct nw_seats seats = {0};
    const char *name = "";
    nw_status status =
        nw_answer_init(&answer, work->problem.pattern->rank_count);

    if (!status)
        status = nw_search_begin(&work->problem, &answer);
    if (!status)
        status = nw_seats_init(&seats, &work->problem, &answer);
    if (!status)
        status = search(work, &seats, &name);
    if (!status) {
        nw_seats_finish(&seats, &answer);
        status = nw_candidate_finish(&work->problem, &answer, name, out);
    }
    nw_seats_fini(&seats);
    nw_answer_fini(&answer);
    return status;
}

static const struct nw_algorithm on_tree = {
    "refine",
    "",
    nw_run_flat,
    {"partition", "partition", "partition"},
    NW_KINDS_ALL};

static const struct nw_algorithm by_seats = {
    "refine",
    "",
    nw_run_search,
    {"partition", "partition", "partition"},
    NW_KINDS_ALL};

static nw_status run_auto(struct seating *work, struct nw_candidate *out)
{
    nw_status status = NW_EUNSUPPORTED;

    if (!work->several && is_flat(&work->problem) &&
        !nw_search_is_tiny(&work->problem))
        status = nw_candidate_run(&on_tree, &work->problem, &work->report, out);
    return status == NW_EUNSUPPORTED ? search_seats(work, out) : status;
}

/* --- all of it --- */

static bool is_one_of(const char *name, const char *const list[])
{
    while (*list && strcmp(*list, name))
        list++;
    return *list;
}

/* The better of the beginning and what a search makes of it. */
static nw_status improve(struct seating *work, const char *name,
                         struct nw_candidate *best)
{
    static const char *const whole[] = {"auto", "multilevel", NULL};
    const struct nw_algorithm *algorithm = nw_algorithm_find(name);
    struct nw_candidate other = {0};
    nw_status status;

    if (!strcmp(name, "refine") && work->several)
        algorithm = &by_seats;
    else if (!strcmp(name, "refine") && is_flat(&work->problem))
        algorithm = &on_tree;
    work->problem.options.start = best->mapping;
    if (is_one_of(name, whole))
        status = run_auto(work, &other);
    else
        status =
            nw_candidate_run(algorithm, &work->problem, &work->report, &other);
    if (status)
        return status;
    if (nw_candidate_better(&other, best) || work->report.proven) {
        nw_candidate_fini(best);
        *best = other;
    } else {
        nw_candidate_fini(&other);
    }
    return NW_OK;
}

static bool is_block(const char *name)
{
    return !strcmp(name, "block");
}

/* The budget is one for what is found first and what is made of it; only the
 * last goes on until it is cut. */
static nw_status find_start(struct seating *work, const char *name)
{
    struct nw_budget *budget = &work->many->budget;
    bool endless = budget->endless;
    nw_status status;

    if (!work->several && work->many->options.start && !is_block(name)) {
        work->start = work->many->options.start;
        return NW_OK;
    }
    if (!is_block(name) &&
        (!work->several || (strcmp(name, "refine") && strcmp(name, "auto"))))
        name = "multilevel";
    budget->endless = false;
    status = nw_many_solve(work->many, name, &work->found);
    budget->endless = endless;
    work->start = work->found;
    return status;
}

static nw_status seat(struct nw_many *many, bool several, const char *name,
                      nw_mapping **out, struct nw_map_report *report)
{
    struct seating work = {.many = many, .several = several};
    struct nw_candidate best = {0};
    nw_status status;

    status = find_start(&work, name);
    if (!status)
        status = make_problem(&work);
    if (!status)
        status = begin(&work, is_block(name) ? name : "multilevel", &best);
    if (!status && work.problem.uses_gpus)
        status = try_default(&work, &best);
    if (!status && !is_block(name))
        status = improve(&work, name, &best);
    if (!status)
        status = nw_place_beside_gpus(&work.problem, is_block(name), &best);
    if (!status) {
        *out = best.mapping;
        best.mapping = NULL;
        *report = work.report;
        report->algorithm = best.algorithm;
    }
    nw_candidate_fini(&best);
    nw_problem_fini(&work.problem);
    nw_mapping_free(work.found);
    free(work.limit);
    return status;
}

nw_status nw_many_single(struct nw_many *many, const char *name,
                         nw_mapping **out, struct nw_map_report *report)
{
    static const char *const known[] = {"auto",  "multilevel", "anneal", "tabu",
                                        "exact", "refine",     "block",  NULL};

    if (!is_one_of(name, known))
        return nw_fail(NW_EINVAL,
                       "%s knows no limits of load; auto, multilevel, anneal, "
                       "tabu, exact, refine and block do",
                       name);
    return seat(many, false, name, out, report);
}

nw_status nw_many_several(struct nw_many *many, const char *name,
                          nw_mapping **out, struct nw_map_report *report)
{
    return seat(many, true, name, out, report);
}

nw_status nw_many_placed(struct nw_many *many, const char *name,
                         nw_mapping **out, struct nw_map_report *report)
{
    struct seating work = {.many = many, .several = true};
    struct nw_candidate found = {0};
    int64_t room = 0;
    nw_status status;

    if (!nw_many_is_even(many))
        return nw_fail(NW_EINVAL,
                       "%s knows no weights of ranks, and these differ; "
                       "multilevel, refine and block do",
                       name);
    status = make_problem(&work);
    for (int32_t h = 0; !status && h < work.problem.host_count; h++)
        room += work.problem.room[h];
    if (!status && room < many->graph.n)
        status = nw_fail(NW_EINVAL,
                         "%d ranks do not fit: the limits of load "
                         "leave room for %lld",
                         many->graph.n, (long long)room);
    if (!status)
        status = nw_candidate_run(nw_algorithm_find(name), &work.problem,
                                  &work.report, &found);
    if (!status) {
        *out = found.mapping;
        found.mapping = NULL;
        *report = work.report;
        report->algorithm = found.algorithm;
    }
    nw_candidate_fini(&found);
    nw_problem_fini(&work.problem);
    return status;
}
