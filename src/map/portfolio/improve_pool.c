/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Improves the mappings that the fast algorithms have found (the pool). A small
 * problem is searched, or solved exactly, as a quadratic assignment problem. In
 * a larger one, each mapping of the pool is first improved for a short time by
 * swaps of whole nodes, which keep the ranks of a node together. The best one
 * or two mappings after these swaps ("leads") are then searched with all moves.
 * Hop-bytes have an upper limit (the cap) by the option `careful`, or if they
 * are the second objective and the first one depends on the loads of links. A
 * mapping within the cap is called near, any other one far.
 */
#include "map/portfolio/improve_internal.h"
#include "map/common/budget.h"
#include "map/congestion/node_swaps.h"
#include "map/common/parameters.h"

#include <math.h>

/* Largest number of candidates from which the long search begins; only one is
 * used if the objective does not depend on links. */
#define LEADS 2

/* --- the pool --- */

/* Returns true if neither candidate is better in objective and second
 * objective. Such candidates are treated as equal mappings, because different
 * mappings rarely agree in both values. */
static bool improve_are_like(const struct nw_candidate *a,
                             const struct nw_candidate *b)
{
    return a->mapping && b->mapping && !nw_candidate_better(a, b) &&
           !nw_candidate_better(b, a);
}

void nw_pool_take(struct nw_pool *pool, struct nw_candidate *candidate)
{
    bool full = pool->count == NW_POOL_MOST || !candidate->mapping;

    for (int i = 0; i < pool->count; i++)
        full |= improve_are_like(candidate, &pool->member[i]);
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
    nw_candidate_fini(&pool->nearest);
}

/* --- which is better --- */

/* Returns true if the hop-bytes of a candidate are within the cap, or if they
 * have no cap. */
static bool improve_is_near(const struct improve_work *work,
                            const struct nw_candidate *candidate)
{
    return work->hop_limit <= 0 ||
           candidate->guard[0] <= work->hop_limit * (1 + 1e-9);
}

/* Returns true if a candidate replaces the best one. It must be within the
 * limits of the option `careful`. If the hop-bytes of both are within the cap,
 * or the objective is time, the better one wins. Otherwise a candidate beyond
 * the cap never replaces one within it. A best one beyond the cap is replaced
 * by a candidate whose objective is at most work->standard and which is within
 * the cap or has fewer hop-bytes. */
static bool improve_is_taken(const struct improve_work *work,
                             const struct nw_candidate *candidate,
                             const struct nw_candidate *best)
{
    bool near = improve_is_near(work, candidate),
         was_near = improve_is_near(work, best);

    if (!nw_candidate_within(candidate, work->guard))
        return false;
    if ((near && was_near) ||
        work->problem->options.objective == NW_OBJECTIVE_TIME)
        return nw_candidate_better(candidate, best);
    return !was_near && candidate->figure[0] <= work->standard * (1 + 1e-9) &&
           (near || candidate->guard[0] < best->guard[0]);
}

/* Exchanges *candidate with *kept if the candidate is better or *kept is empty.
 */
static void improve_keep(struct nw_candidate *candidate,
                         struct nw_candidate *kept)
{
    if (candidate->mapping &&
        (!kept->mapping || nw_candidate_better(candidate, kept)))
        nw_candidate_swap(candidate, kept);
}

/* Makes a candidate the best one if improve_is_taken. Whichever of the two is
 * not the best one goes to work->near (hop-bytes within the cap) or work->far
 * (beyond it by at most the factor far_beyond) if it is better than the one
 * there. A later search may begin from it. */
static void improve_take(struct improve_work *work,
                         struct nw_candidate *candidate,
                         struct nw_candidate *best)
{
    if (improve_is_taken(work, candidate, best)) {
        nw_candidate_swap(candidate, best);
        nw_candidate_tell(best, work->problem);
    }
    if (improve_is_near(work, candidate))
        improve_keep(candidate, &work->near);
    else if (candidate->guard[0] <=
             nw_tuned.portfolio.far_beyond * work->hop_limit)
        improve_keep(candidate, &work->far);
}

/* Runs a search on a copy of the assignment of `start` and makes the candidate
 * *out of the result. */
static nw_status improve_derive(struct improve_work *work,
                                improve_search *search,
                                const struct nw_candidate *start,
                                struct nw_candidate *out)
{
    struct nw_problem begun = *work->problem;
    struct nw_answer answer = {0};
    struct nw_slots slots = {0};
    nw_status status;

    begun.options.start = start->mapping;
    status = nw_search_initial(&begun, &answer);
    work->hop_bytes = start->guard[0];
    work->name = "anneal";
    if (!status)
        status = nw_slots_init(&slots, work->problem, &answer);
    if (!status)
        status = search(work, &slots);
    if (!status) {
        nw_slots_to_answer(&slots, &answer);
        status =
            nw_candidate_from_answer(work->problem, &answer, work->name, out);
    }
    nw_slots_fini(&slots);
    nw_answer_fini(&answer);
    return status;
}

/* Runs a search from `start` and makes the result the best candidate if
 * improve_is_taken. If the search proves that nothing is better, `best` gets
 * the name of the proof as its algorithm. */
static nw_status improve_from(struct improve_work *work, improve_search *search,
                              const struct nw_candidate *start,
                              struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status = improve_derive(work, search, start, &other);

    if (status)
        return status;
    if (!improve_is_taken(work, &other, best) && work->report->proven)
        best->algorithm = other.algorithm;
    improve_take(work, &other, best);
    nw_candidate_fini(&other);
    return NW_OK;
}

/* --- leads: the candidates from which the long search begins --- */

struct improve_leads {
    struct nw_candidate lead[LEADS]; /* the best one first */
    int count, most;
};

/* Inserts a candidate into the leads (starts of the long search), unless an
 * equal one is among them. The leads are sorted from best to worst: by their
 * objectives if the hop-bytes of both are within the cap, otherwise by their
 * hop-bytes. Frees the candidate that is not kept. */
static void improve_add_lead(const struct improve_work *work,
                             struct improve_leads *leads,
                             struct nw_candidate *candidate)
{
    bool known = false;

    for (int i = 0; i < leads->count; i++)
        known |= improve_are_like(candidate, &leads->lead[i]);
    for (int i = 0; i < leads->count && !known; i++) {
        struct nw_candidate *lead = &leads->lead[i];

        if (improve_is_near(work, candidate) && improve_is_near(work, lead)
                ? nw_candidate_better(candidate, lead)
                : candidate->guard[0] < lead->guard[0])
            nw_candidate_swap(candidate, lead);
    }
    if (leads->count < leads->most && !known)
        nw_candidate_swap(candidate, &leads->lead[leads->count++]);
    nw_candidate_fini(candidate);
}

/* Swaps whole nodes in `start` for a short time and adds the resulting
 * candidate to the leads (starts of the long search). */
static nw_status improve_try_nodes(struct improve_work *work,
                                   const struct nw_candidate *start,
                                   struct improve_leads *leads)
{
    struct nw_candidate other = {0};
    nw_status status;

    if (!start->mapping || work->problem->budget->stopped)
        return NW_OK;
    status = improve_derive(work, nw_improve_exchange_nodes, start, &other);
    if (!status)
        improve_add_lead(work, leads, &other);
    return status;
}

/* Runs a search from the best candidate. If it found a mapping, swaps whole
 * nodes in it and adds the result to the leads (starts of the long search); the
 * mapping itself may become the best candidate. */
static nw_status improve_try_search(struct improve_work *work,
                                    struct improve_leads *leads,
                                    improve_search *search,
                                    struct nw_candidate *best)
{
    struct nw_candidate other = {0};
    nw_status status;

    if (work->problem->budget->stopped)
        return NW_OK;
    status = improve_derive(work, search, best, &other);
    if (!status && other.algorithm) {
        status = improve_try_nodes(work, &other, leads);
        if (!status)
            improve_take(work, &other, best);
    }
    nw_candidate_fini(&other);
    return status;
}

/* Runs the long search from each lead, from the worst lead to the best. With
 * --time the leads share the time, and the search from the best lead restarts
 * until the end. Leaves out leads whose objective is more than far_behind times
 * that of the first one, if the first one is within the cap on hop-bytes. */
static nw_status improve_follow(struct improve_work *work,
                                struct improve_leads *leads,
                                struct nw_candidate *best)
{
    const struct nw_candidate *first = &leads->lead[0];
    struct nw_budget *budget = work->problem->budget;
    bool restarts = nw_budget_begin_starts(budget);
    nw_status status = NW_OK;

    while (leads->count > 1 && improve_is_near(work, first) &&
           leads->lead[leads->count - 1].figure[0] >
               nw_tuned.portfolio.far_behind * first->figure[0])
        nw_candidate_fini(&leads->lead[--leads->count]);
    for (int i = leads->count; !status && i-- > 0;) {
        uint64_t former = nw_budget_share(budget, 1.0 / (i + 1));

        if (!i)
            nw_budget_end_starts(budget, restarts);
        status = improve_from(work, nw_improve_search, &leads->lead[i], best);
        nw_budget_end_share(budget, former);
    }
    nw_budget_end_starts(budget, restarts);
    return status;
}

/* Makes leads (starts of the long search) of all results of the cheap
 * algorithms and of a digit embedding, each by a short search that swaps nodes.
 */
static nw_status improve_try_pool(struct improve_work *work,
                                  const struct nw_pool *pool,
                                  struct improve_leads *leads,
                                  struct nw_candidate *best)
{
    const struct nw_candidate *nearest = &pool->nearest;
    struct nw_budget *budget = work->problem->budget;
    uint64_t former = nw_budget_share(budget, nw_tuned.portfolio.first_part);
    nw_status status = improve_try_nodes(work, best, leads);

    if (!status && !improve_are_like(nearest, best))
        status = improve_try_nodes(work, nearest, leads);
    for (int i = 0; !status && i < pool->count; i++)
        if (!improve_are_like(&pool->member[i], best) &&
            !improve_are_like(&pool->member[i], nearest))
            status = improve_try_nodes(work, &pool->member[i], leads);
    if (!status)
        status = improve_try_search(work, leads, nw_improve_embed_digits, best);
    nw_budget_end_share(budget, former);
    return status;
}

/* Finds leads (starts of the long search) by swaps of nodes, and by a division
 * of the ranks over switches or dragonfly groups, and searches from them. */
static nw_status improve_nodes(struct improve_work *work,
                               const struct nw_pool *pool,
                               struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool restarts = nw_budget_begin_starts(budget);
    struct improve_leads leads = {.most = pool->nearest.mapping ? LEADS : 1};
    uint64_t former;
    nw_status status = improve_try_pool(work, pool, &leads, best);

    work->below = leads.count && improve_is_near(work, &leads.lead[0])
                      ? leads.lead[0].figure[0]
                      : INFINITY;
    former = nw_budget_share(budget, nw_tuned.portfolio.divide_part);
    if (!status)
        status = improve_try_search(work, &leads, nw_improve_divide, best);
    nw_budget_end_share(budget, former);
    nw_budget_end_starts(budget, restarts);
    if (!status)
        status = improve_follow(work, &leads, best);
    for (int i = 0; i < leads.count; i++)
        nw_candidate_fini(&leads.lead[i]);
    return status;
}

/* --- objectives that depend on link loads --- */

/* Runs a search as improve_from does, but without a cap on hop-bytes. */
static nw_status improve_uncapped(struct improve_work *work,
                                  improve_search *search,
                                  const struct nw_candidate *start,
                                  struct nw_candidate *best)
{
    double limit = work->hop_limit;
    nw_status status;

    work->hop_limit = 0;
    status = improve_from(work, search, start, best);
    work->hop_limit = limit;
    return status;
}

/* Called if the best candidate may exceed the cap on hop-bytes because no
 * candidate within the cap reaches work->standard. If the objective is
 * congestion, tries to find one that does: lowers congestion from the best
 * candidate within the cap (work->near), then from the best candidate, first
 * without the cap. If that fails, searches without the cap from `nearest`,
 * which usually gives fewer hop-bytes than the best candidate has. Does nothing
 * with the option `careful`. */
static nw_status improve_let_go(struct improve_work *work,
                                const struct nw_candidate *nearest,
                                struct nw_candidate *best)
{
    struct nw_budget *budget = work->problem->budget;
    bool seeks = work->problem->options.objective == NW_OBJECTIVE_CONGESTION;
    nw_status status = NW_OK;

    if (work->guard)
        return NW_OK;
    if (seeks && work->near.mapping && !improve_is_near(work, best)) {
        bool restarts = nw_budget_begin_starts(budget);

        status = improve_from(work, nw_improve_tighten, &work->near, best);
        nw_budget_end_starts(budget, restarts);
    }
    if (!status && seeks && !improve_is_near(work, best))
        status = improve_uncapped(work, nw_improve_search_wide, best, best);
    if (!status && seeks && !improve_is_near(work, best))
        status = improve_from(work, nw_improve_search_slots, best, best);
    if (!status && !improve_is_near(work, best))
        status = improve_uncapped(work, nw_improve_search_slots, nearest, best);
    return status;
}

/* Improves the best candidate if the objective depends on links. If hop-bytes
 * are the second objective, they may exceed the fewest known hop-bytes only by
 * a small factor. The option `careful` also limits them. work->hop_limit
 * becomes the lower limit. */
static nw_status improve_links(struct improve_work *work,
                               const struct nw_pool *pool,
                               struct nw_candidate *best)
{
    const struct nw_candidate *nearest = &pool->nearest, *far = &work->far;
    const struct nw_map_options *options = &work->problem->options;
    struct nw_budget *budget = work->problem->budget;
    bool seeks = options->objective == NW_OBJECTIVE_CONGESTION;
    bool restarts = budget->anytime;
    uint64_t former;
    nw_status status;

    if (!options->has_second || options->second == NW_OBJECTIVE_HOP_BYTES)
        work->hop_limit =
            (pool->approximate ? nw_tuned.portfolio.approximate_more
                               : nw_tuned.portfolio.hop_bytes_more) *
            fmin(nearest->figure[0], best->guard[0]);
    if (work->guard)
        work->hop_limit = fmin(work->hop_limit > 0 ? work->hop_limit : INFINITY,
                               work->guard[0]);
    if (seeks)
        restarts = nw_budget_begin_starts(budget);
    former = nw_budget_share(budget, seeks ? nw_tuned.portfolio.nodes_part : 1);
    status = improve_nodes(work, pool, best);
    nw_budget_end_share(budget, former);
    nw_budget_end_starts(budget, restarts);
    if (!status)
        status = improve_let_go(work, nearest, best);
    if (!status && seeks && improve_is_near(work, best) && !budget->stopped)
        status = improve_from(work, nw_improve_tighten, best, best);
    if (status || !seeks || budget->stopped)
        return status;
    /* If the hop-bytes of the best candidate exceed the cap, lower them: first
     * at the candidate's congestion, then at any congestion below
     * work->standard. If work->far has less congestion than the best candidate,
     * also lower the hop-bytes of work->far at its congestion. */
    if (!improve_is_near(work, best))
        status = improve_from(work, nw_improve_cap_second, best, best);
    if (!status && !improve_is_near(work, best))
        status = improve_from(work, nw_improve_yield, best, best);
    if (!status && far->mapping && nw_candidate_better(far, best))
        status = improve_from(work, nw_improve_cap_second, far, best);
    return status;
}

nw_status nw_candidate_improve(const struct nw_problem *problem,
                               struct nw_map_report *report,
                               const struct nw_pool *pool,
                               struct nw_candidate *best)
{
    const double *guard = pool->guard;
    struct improve_work work = {.problem = problem,
                                .report = report,
                                .guard = guard,
                                .hop_limit = guard ? guard[0] : 0,
                                .standard = pool->standard};
    /* Swaps of whole nodes need enough nodes, and are not worth while for a
     * small problem or the effort "fast". */
    bool nodes = problem->host_count >= NW_NODE_SWAPS_HOSTS_MIN &&
                 problem->options.effort != NW_EFFORT_FAST &&
                 !nw_search_is_small(problem);
    nw_status status;

    if (pool->nearest.mapping)
        status = improve_links(&work, pool, best);
    else if (nodes)
        status = improve_nodes(&work, pool, best);
    else
        status = improve_from(&work, nw_improve_search, best, best);
    if (!status && !guard && !report->proven && nw_search_is_tiny(problem))
        status = improve_uncapped(&work, nw_improve_prove, best, best);
    nw_candidate_fini(&work.near);
    nw_candidate_fini(&work.far);
    return status;
}
