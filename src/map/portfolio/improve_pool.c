/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Few elements are searched as a dense problem, or all their seatings tried.
 * Else every cheap answer has its nodes exchanged for a while, which finds out
 * whose nodes hold what belongs together; from the best of these all is
 * searched. Where links count, the least hop-bytes are found first, and the
 * search keeps near them.
 */
#include "map/portfolio/improve_pool.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/congestion/qap_bridge.h"
#include "map/congestion/branch_bound.h"
#include "map/congestion/digit_embedding.h"
#include "map/groups/dragonfly.h"
#include "map/groups/min_max_cut.h"
#include "map/portfolio/named_searches.h"

#include <math.h>

#define HOP_BYTES_MORE 1.045 /* for less congestion */
#define LIKENED_MORE 1.04    /* where the least is known less well */
#define FAR_BEYOND 1.05      /* of that, what may come near */
#define LEADS 2              /* where links count, else one */
#define FAR_BEHIND 1.1       /* of the first lead's figure */
/* Of the time that is left, where it is given: for the least hop-bytes, and for
 * less congestion before a step less is sought; of that for nodes, and for
 * divisions. */
#define NEAREST_PART 0.25
#define NODES_PART 0.65
#define POOL_PART 0.25
#define DIVIDE_PART 0.4

/* --- the pool --- */

/* Neither is better, which is seldom so of two that are not the same. */
static bool are_like(const struct nw_candidate *a, const struct nw_candidate *b)
{
    return a->mapping && b->mapping && !nw_candidate_better(a, b) &&
           !nw_candidate_better(b, a);
}

void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate)
{
    bool full = pool->count == NW_POOL_MOST || !candidate->mapping;

    for (int i = 0; i < pool->count; i++)
        full |= are_like(candidate, &pool->member[i]);
    if (full)
        nw_candidate_fini(candidate);
    else
        pool->member[pool->count++] = *candidate;
    *candidate = (struct nw_candidate){0};
}

void nw_pool_fini(struct nw_pool *pool)
{
    while (pool->count)
        nw_candidate_fini(&pool->member[--pool->count]);
}

/* --- one candidate out of another --- */

struct improving {
    const struct nw_problem *problem;
    struct nw_map_report *report;
    const double *guard; /* or NULL */
    double hop_limit;
    double hop_bytes;              /* of what is searched from */
    double standard;               /* the pool's */
    struct nw_candidate near, far; /* the best that were not taken */
    double below;                  /* the first lead's, as far as it is near */
    nw_status (*run)(struct improving *, struct nw_seats *);
    const char *name;
};

static struct nw_aim aim_of(const struct improving *work)
{
    struct nw_aim aim = nw_aim_of(work->problem);

    aim.hop_limit = work->hop_limit;
    if (work->guard && aim.first != NW_OBJECTIVE_CONGESTION)
        aim.most_limit = work->guard[1];
    return aim;
}

static nw_status try_all(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = nw_aim_of(work->problem);

    work->name = "exact";
    return nw_seats_exhaust(seats, &aim, NW_EXACT_NODES, &work->report->proven);
}

static nw_status exchange_nodes(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = aim_of(work);

    work->name = "anneal";
    return nw_bundles_search(seats, &aim, NW_SEARCH_BRIEF);
}

/* The name stays empty where there is nothing to fold. */
static nw_status fold(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = aim_of(work);
    bool found = false;
    nw_status status = nw_seats_fold(seats, &aim, &found);

    work->name = found ? "fold" : NULL;
    return status;
}

/* Over groups that have links of their own, or else over switches; the name
 * stays empty where no such division is better. */
static nw_status divide(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = aim_of(work);
    enum nw_paired paired;
    bool found;
    nw_status status = nw_seats_pair(seats, &aim, work->below, &paired);

    found = paired == NW_PAIRED;
    if (!status && paired == NW_PAIRED_NOT)
        status = nw_seats_part(seats, &aim, &found);

    work->name = found ? "anneal" : NULL;
    return status;
}

static nw_status improve_dense(struct improving *work, struct nw_seats *seats)
{
    struct nw_map_report *report = work->report;
    bool second = work->problem->options.has_second;
    struct nw_dense dense;
    nw_status status = nw_dense_init(&dense, seats);

    if (status)
        return status;
    if (seats->count <= NW_EXACT_MOST && !second)
        status = nw_dense_exact(&dense, NW_EXACT_NODES, &report->proven);
    if (!status && !report->proven)
        status = nw_dense_tabu(&dense);
    if (!status)
        nw_dense_finish(&dense);
    nw_dense_fini(&dense);
    work->name = report->proven ? "exact" : "tabu";
    return status;
}

/* Whole nodes first, once; then ranks. */
static nw_status search_seats(struct improving *work, struct nw_seats *seats)
{
    struct nw_budget *budget = work->problem->budget;
    bool fast = budget->effort == NW_EFFORT_FAST, endless = budget->endless;
    struct nw_aim aim = aim_of(work);
    nw_status status = NW_OK;

    work->name = "anneal";
    budget->endless = false;
    if (!fast)
        status = nw_bundles_search(seats, &aim, NW_SEARCH_FULL);
    budget->endless = endless;
    if (status)
        return status;
    return nw_seats_search(seats, &aim,
                           fast ? NW_SEARCH_DESCENT : NW_SEARCH_FULL);
}

/* With latency second, which holds to fewer places than hop-bytes do. */
static nw_status search_wide(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = aim_of(work);

    aim.second = NW_OBJECTIVE_LATENCY;
    work->name = "anneal";
    return nw_seats_search(seats, &aim, NW_SEARCH_FULL);
}

static nw_status seek(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = aim_of(work);

    work->name = "anneal";
    return nw_seats_search(seats, &aim, NW_SEARCH_SEEK);
}

/* Fewer hop-bytes at the same congestion; less of that as far as it is near. */
static nw_status settle(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = nw_aim_of(work->problem);

    aim.hop_limit = fmax(work->hop_limit, work->hop_bytes);
    work->name = "anneal";
    return nw_seats_search(seats, &aim, NW_SEARCH_SETTLE);
}

/* The same at any congestion below the standard, towards what is near. */
static nw_status yield(struct improving *work, struct nw_seats *seats)
{
    struct nw_aim aim = nw_aim_of(work->problem);

    aim.hop_limit = work->hop_limit;
    aim.settle_at = work->standard * (1 - 1e-9);
    work->name = "anneal";
    return nw_seats_search(seats, &aim, NW_SEARCH_SETTLE);
}

/* What a dense search may end with, a guard may refuse; what comes second it
 * does not know. */
static nw_status search(struct improving *work, struct nw_seats *seats)
{
    const struct nw_problem *problem = work->problem;
    nw_status status = NW_OK;

    if (!work->guard && !problem->lean && nw_search_is_small(problem) &&
        nw_search_is_dense_first(seats)) {
        status = improve_dense(work, seats);
        if (!problem->options.has_second)
            return status;
    }
    return status ? status : search_seats(work, seats);
}

/* The answer that a candidate's mapping is. */
static nw_status answer_of(const struct nw_problem *problem,
                           const struct nw_candidate *candidate,
                           struct nw_answer *answer)
{
    struct nw_problem mine = *problem;
    nw_status status;

    mine.options.start = candidate->mapping;
    status = nw_answer_begin(&mine, answer);
    return status ? status : nw_search_let_remote(problem, answer);
}

/* --- which is better --- */

static bool is_near(const struct improving *work,
                    const struct nw_candidate *candidate)
{
    return work->hop_limit <= 0 ||
           candidate->guard[0] <= work->hop_limit * (1 + 1e-9);
}

/* Among the near ones the best, before all that are not; but none that is
 * worse than the standard. Where only far ones are as good as that, the nearest
 * of them. Time is worth any hop-bytes. */
static bool is_taken(const struct improving *work,
                     const struct nw_candidate *candidate,
                     const struct nw_candidate *best)
{
    bool near = is_near(work, candidate), was_near = is_near(work, best);

    if (!nw_candidate_within(candidate, work->guard))
        return false;
    if ((near && was_near) ||
        work->problem->options.objective == NW_OBJECTIVE_TIME)
        return nw_candidate_better(candidate, best);
    return !was_near && candidate->figure[0] <= work->standard * (1 + 1e-9) &&
           (near || candidate->guard[0] < best->guard[0]);
}

static bool has_remote_gpus(const nw_mapping *mapping)
{
    for (int32_t r = 0; mapping->gpu_node && r < mapping->rank_count; r++)
        if (mapping->gpu_node[r] >= 0 &&
            mapping->gpu_node[r] != mapping->node[r])
            return true;
    return false;
}

static void swap_candidates(struct nw_candidate *a, struct nw_candidate *b)
{
    struct nw_candidate c = *a;

    *a = *b;
    *b = c;
}

static void keep(struct nw_candidate *candidate, struct nw_candidate *kept)
{
    if (candidate->mapping &&
        (!kept->mapping || nw_candidate_better(candidate, kept)))
        swap_candidates(candidate, kept);
}

/* The better one is the best, from the other a search may go on. */
static void take(struct improving *work, struct nw_candidate *candidate,
                 struct nw_candidate *best)
{
    if (is_taken(work, candidate, best))
        swap_candidates(candidate, best);
    if (is_near(work, candidate))
        keep(candidate, &work->near);
    else if (candidate->guard[0] <= FAR_BEYOND * work->hop_limit)
        keep(candidate, &work->far);
}

static bool is_start(const struct improving *work,
                     const struct nw_candidate *candidate)
{
    return work->problem->options.remote_gpus ||
           !has_remote_gpus(candidate->mapping);
}

static nw_status derive(struct improving *work,
                        const struct nw_candidate *start,
                        struct nw_candidate *out)
{
    struct nw_answer answer = {0};
    struct nw_seats seats = {0};
    nw_status status = answer_of(work->problem, start, &answer);

    work->hop_bytes = start->guard[0];
    if (!status)
        status = nw_seats_init(&seats, work->problem, &answer);
    if (!status)
        status = work->run(work, &seats);
    if (!status) {
        nw_seats_finish(&seats, &answer);
        status = nw_candidate_finish(work->problem, &answer, work->name, out);
    }
    nw_seats_fini(&seats);
    nw_answer_fini(&answer);
    return status;
}

/* One more candidate out of `start`; `best` where it is better. */
static nw_status improve_from(struct improving *work,
                              const struct nw_candidate *start,
                              struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status;

    if (!is_start(work, start))
        return NW_OK;
    status = derive(work, start, &other);
    if (status)
        return status;
    if (!is_taken(work, &other, best) && work->report->proven)
        best->algorithm = other.algorithm;
    take(work, &other, best);
    nw_candidate_fini(&other);
    return NW_OK;
}

/* --- where to begin --- */

struct leads {
    struct nw_candidate lead[LEADS]; /* the best first */
    int count, most;
};

static bool is_ahead(const struct improving *work, const struct nw_candidate *a,
                     const struct nw_candidate *b)
{
    if (is_near(work, a) && is_near(work, b))
        return nw_candidate_better(a, b);
    return a->guard[0] < b->guard[0];
}

/* Takes the candidate, unless its like leads. */
static void add_lead(const struct improving *work, struct leads *leads,
                     struct nw_candidate *candidate)
{
    bool known = false;

    for (int i = 0; i < leads->count; i++)
        known |= are_like(candidate, &leads->lead[i]);
    for (int i = 0; i < leads->count && !known; i++)
        if (is_ahead(work, candidate, &leads->lead[i]))
            swap_candidates(candidate, &leads->lead[i]);
    if (leads->count < leads->most && !known)
        swap_candidates(candidate, &leads->lead[leads->count++]);
    nw_candidate_fini(candidate);
}

/* What is far behind the first leads nowhere. */
static void drop_stragglers(const struct improving *work, struct leads *leads)
{
    const struct nw_candidate *first = &leads->lead[0];

    while (leads->count > 1 && is_near(work, first) &&
           leads->lead[leads->count - 1].figure[0] >
               FAR_BEHIND * first->figure[0])
        nw_candidate_fini(&leads->lead[--leads->count]);
}

static nw_status try_nodes(struct improving *work,
                           const struct nw_candidate *start,
                           struct leads *leads)
{
    struct nw_candidate other = {0};
    nw_status status;

    if (!start->mapping || !is_start(work, start) ||
        work->problem->budget->stopped)
        return NW_OK;
    work->run = exchange_nodes;
    status = derive(work, start, &other);
    if (!status)
        add_lead(work, leads, &other);
    return status;
}

/* What `run` makes of the best, where it makes something, is a lead, and an
 * answer as it is. */
static nw_status try_run(struct improving *work, struct leads *leads,
                         nw_status (*run)(struct improving *,
                                          struct nw_seats *),
                         struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status;

    if (!is_start(work, best) || work->problem->budget->stopped)
        return NW_OK;
    work->run = run;
    status = derive(work, best, &other);
    if (!status && other.algorithm) {
        status = try_nodes(work, &other, leads);
        if (!status)
            take(work, &other, best);
    }
    nw_candidate_fini(&other);
    return status;
}

/* Searches from the leads, longest from the first where time is left. */
static nw_status follow(struct improving *work, struct leads *leads,
                        struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool endless = budget->endless;
    nw_status status = NW_OK;

    drop_stragglers(work, leads);
    work->run = search;
    for (int i = leads->count; !status && i-- > 0;) {
        uint64_t former = nw_budget_share(budget, 1.0 / (i + 1));

        budget->endless = endless && i == 0;
        status = improve_from(work, &leads->lead[i], best);
        nw_budget_end_share(budget, former);
    }
    budget->endless = endless;
    for (int i = 0; i < leads->count; i++)
        nw_candidate_fini(&leads->lead[i]);
    return status;
}

/* Each of the cheap answers, and what folding makes of the best. `nearest` may
 * be empty. */
static nw_status try_pool(struct improving *work, const struct nw_pool *pool,
                          const struct nw_candidate *nearest,
                          struct leads *leads, struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    uint64_t former = nw_budget_share(budget, POOL_PART);
    nw_status status = try_nodes(work, best, leads);

    if (!status && !are_like(nearest, best))
        status = try_nodes(work, nearest, leads);
    for (int i = 0; !status && i < pool->count; i++)
        if (!are_like(&pool->member[i], best) &&
            !are_like(&pool->member[i], nearest))
            status = try_nodes(work, &pool->member[i], leads);
    if (!status)
        status = try_run(work, leads, fold, best);
    nw_budget_end_share(budget, former);
    return status;
}

static nw_status try_divide(struct improving *work, struct leads *leads,
                            struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    uint64_t former = nw_budget_share(budget, DIVIDE_PART);
    nw_status status = try_run(work, leads, divide, best);

    nw_budget_end_share(budget, former);
    return status;
}

static nw_status improve_nodes(struct improving *work,
                               const struct nw_pool *pool,
                               const struct nw_candidate *nearest,
                               struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool endless = budget->endless;
    struct leads leads = {.most = nearest->mapping ? LEADS : 1};
    nw_status status;

    budget->endless = false;
    status = try_pool(work, pool, nearest, &leads, best);
    work->below = leads.count && is_near(work, &leads.lead[0])
                      ? leads.lead[0].figure[0]
                      : INFINITY;
    if (!status)
        status = try_divide(work, &leads, best);
    budget->endless = endless;
    if (status)
        leads.count = 0;
    return status ? status : follow(work, &leads, best);
}

/* --- objectives that look at links --- */

static bool looks_at_links(enum nw_objective objective)
{
    return objective == NW_OBJECTIVE_CONGESTION ||
           objective == NW_OBJECTIVE_TIME;
}

/* The best in hop-bytes, by the same means: where congestion is lowered from,
 * and what hop-bytes are held near. Small machines are not searched as dense
 * problems, which would take longer than the rest. */
static nw_status find_nearest(const struct nw_problem *problem,
                              struct nw_map_report *report,
                              struct nw_candidate *out)
{
    struct nw_problem mine = *problem;
    bool endless = problem->budget->endless;
    uint64_t former = nw_budget_share(problem->budget, NEAREST_PART);
    nw_status status;

    mine.options.objective = NW_OBJECTIVE_HOP_BYTES;
    mine.options.has_second = nw_search_is_small(problem);
    mine.options.second = problem->options.objective;
    mine.options.careful = false;
    mine.lean = true;
    problem->budget->endless = false;
    status = nw_choose_best(&mine, report, out);
    problem->budget->endless = endless;
    nw_budget_end_share(problem->budget, former);
    report->proven = false;
    return status;
}

/* Unless something else is to come second. */
static bool holds_hop_bytes(const struct nw_problem *problem)
{
    return !problem->options.has_second ||
           problem->options.second == NW_OBJECTIVE_HOP_BYTES;
}

/* From the least congested, which is far, down in congestion wherever that
 * leads, then towards what is near. */
static nw_status approach(struct improving *work, struct nw_candidate *best)
{
    double limit = work->hop_limit;
    nw_status status;

    work->hop_limit = 0;
    work->run = search_wide;
    status = improve_from(work, best, best);
    work->hop_limit = limit;
    if (status || is_near(work, best))
        return status;
    work->run = search_seats;
    return improve_from(work, best, best);
}

/* Down in congestion from the best that is near. */
static nw_status seek_near(struct improving *work, struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool endless = budget->endless;
    nw_status status = NW_OK;

    work->run = seek;
    budget->endless = false;
    if (work->near.mapping)
        status = improve_from(work, &work->near, best);
    budget->endless = endless;
    return status;
}

/* Where nothing near is as good as the standard, that holds no longer: what is
 * least congested of all needs fewer hop-bytes than it, as a rule. */
static nw_status let_go(struct improving *work,
                        const struct nw_candidate *nearest,
                        struct nw_candidate *best)
{
    double limit = work->hop_limit;
    nw_status status = NW_OK;

    if (is_near(work, best) || work->guard)
        return NW_OK;
    if (work->problem->options.objective == NW_OBJECTIVE_CONGESTION) {
        status = seek_near(work, best);
        if (status || is_near(work, best))
            return status;
        status = approach(work, best);
    }
    if (status || is_near(work, best))
        return status;
    work->hop_limit = 0;
    work->run = search_seats;
    status = improve_from(work, nearest, best);
    work->hop_limit = limit;
    return status;
}

/* Fewer hop-bytes, where there are too many, for congestion where the standard
 * has more; or less congestion at more. */
static nw_status come_near(struct improving *work, struct nw_candidate *best)
{
    const struct nw_candidate *far = &work->far;
    nw_status status = NW_OK;

    work->run = settle;
    if (!is_near(work, best))
        status = improve_from(work, best, best);
    work->run = yield;
    if (!status && !is_near(work, best))
        status = improve_from(work, best, best);
    work->run = settle;
    if (!status && far->mapping && nw_candidate_better(far, best))
        status = improve_from(work, far, best);
    return status;
}

/* From the least congested and from the nearest; hop-bytes come second, near
 * the least that is known. */
static nw_status improve_links(struct improving *work,
                               const struct nw_pool *pool,
                               struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool seeks = work->problem->options.objective == NW_OBJECTIVE_CONGESTION;
    bool endless = budget->endless;
    struct nw_candidate nearest = {0};
    uint64_t former;
    nw_status status;

    nw_budget_begin_shares(budget);
    status = find_nearest(work->problem, work->report, &nearest);

    if (status)
        return status;
    if (holds_hop_bytes(work->problem))
        work->hop_limit = (budget->likened ? LIKENED_MORE : HOP_BYTES_MORE) *
                          fmin(nearest.figure[0], best->guard[0]);
    if (work->guard)
        work->hop_limit = fmin(work->hop_limit > 0 ? work->hop_limit : INFINITY,
                               work->guard[0]);
    budget->endless = endless && !seeks;
    former = nw_budget_share(budget, seeks ? NODES_PART : 1);
    status = improve_nodes(work, pool, &nearest, best);
    nw_budget_end_share(budget, former);
    budget->endless = endless;
    if (!status)
        status = let_go(work, &nearest, best);
    work->run = seek;
    if (!status && seeks && is_near(work, best) && !budget->stopped)
        status = improve_from(work, best, best);
    if (!status && seeks && !budget->stopped)
        status = come_near(work, best);
    nw_candidate_fini(&nearest);
    return status;
}

static bool has_nodes(const struct nw_problem *problem)
{
    return problem->host_count >= NW_BUNDLES_HOSTS &&
           problem->options.effort != NW_EFFORT_FAST &&
           !nw_search_is_small(problem);
}

nw_status nw_candidate_improve(const struct nw_problem *problem,
                               struct nw_map_report *report,
                               const double guard[3],
                               const struct nw_pool *pool,
                               struct nw_candidate *best)
{
    static const struct nw_candidate none = {0};
    struct improving work = {
        .problem = problem, .report = report, .guard = guard, .run = search};
    nw_status status;

    work.standard = pool->standard;
    if (looks_at_links(problem->options.objective) &&
        problem->options.effort != NW_EFFORT_FAST) {
        status = improve_links(&work, pool, best);
    } else {
        work.hop_limit = guard ? guard[0] : 0;
        status = has_nodes(problem) ? improve_nodes(&work, pool, &none, best)
                                    : improve_from(&work, best, best);
    }
    work.run = try_all;
    work.hop_limit = 0; /* what is proven is not held near anything */
    if (!status && !guard && !report->proven && nw_search_is_tiny(problem))
        status = improve_from(&work, best, best);
    nw_candidate_fini(&work.near);
    nw_candidate_fini(&work.far);
    return status;
}
