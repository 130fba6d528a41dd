/* SPDX-License-Identifier: BSD-3-Clause */
/* Starts (initial assignments) for patterns that are not grids: recursive
 * bisections, most of them with k-way annealing on each level. */
#include "map/multilevel/multilevel_internal.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>

/* Number of starts bisected only at the root; the best are annealed. */
#define TOP_CUTS 24

/* Returns how many times a start without annealing bisects each piece (a set of
 * processes and the clusters they go to), to keep the bisection with the best
 * cut. Patterns with few edges get more, because each takes less time. */
static int multilevel_repeats_of(const struct multilevel_search *search)
{
    const struct nw_assignment *assignment = search->assignment;
    size_t edges = assignment->row[assignment->count] + 1,
           most = nw_tuned.multilevel.repeated_edges;
    enum nw_effort effort = search->budget->effort;

    most = most / nw_tuned.effort.steps_divided[effort] *
           nw_tuned.effort.repeats_times[effort];
    if (most < edges)
        return 1;
    return most / edges < (size_t)nw_tuned.multilevel.repeats_max
               ? (int)(most / edges)
               : nw_tuned.multilevel.repeats_max;
}

/* How many starts are annealed, and how many trials each of them gets, as a
 * fraction of the trials of a full annealing. A start is a recursive bisection
 * with its own seed. The first start gets the fraction `first`. If the pattern
 * has small separators, `more` further starts get the fraction `others` each.
 * If there are only two starts (nw_multilevel_has_two_starts), `more` is 0 and
 * the second start gets the fraction `others`. If the pattern is expander-like
 * (has no small separators), one further start gets the fraction 1 - `first`,
 * unless this is 0. */
struct multilevel_anneals {
    uint64_t more;
    double first, others;
};

/* Returns true if there are few processes (nw_tuned.multilevel.few) and the
 * effort is not "fast": then many starts are annealed. */
static bool multilevel_are_few(const struct multilevel_search *search)
{
    return search->assignment->count <= nw_tuned.multilevel.few &&
           search->budget->effort != NW_EFFORT_FAST;
}

/* Returns how many starts are annealed for this assignment, and how long. */
static struct multilevel_anneals
multilevel_anneals_of(const struct multilevel_search *search)
{
    bool deep =
        search->assignment->hierarchy->levels > nw_tuned.multilevel.levels_few;

    if (!multilevel_are_few(search))
        return (struct multilevel_anneals){
            0, 1, nw_tuned.multilevel.second_start_share};
    return (struct multilevel_anneals){
        nw_tuned.multilevel.starts_more - (uint64_t)deep,
        nw_tuned.multilevel.start_share, nw_tuned.multilevel.start_share};
}

bool nw_multilevel_has_two_starts(const struct multilevel_search *search)
{
    return search->assignment->count > nw_tuned.multilevel.few &&
           search->assignment->count < nw_tuned.multilevel.many &&
           search->budget->effort != NW_EFFORT_FAST;
}

/* If there are few processes, makes more swaps and divides them among several
 * cycles of swap annealing, so that swaps of processes alternate with swaps of
 * subtrees. Later cycles begin at a low temperature and so keep the
 * improvements of earlier ones. */
static void multilevel_share_out_cycles(struct multilevel_search *search)
{
    if (!multilevel_are_few(search))
        return;
    search->cycles = nw_tuned.multilevel.cycles;
    if (search->assignment->hierarchy->levels > nw_tuned.multilevel.levels_few)
        search->cycles *= 2;
    search->steps = search->steps * nw_tuned.multilevel.cycle_steps /
                    (uint64_t)search->cycles;
    search->swaps_table_temperature = nw_tuned.multilevel.cycle_temperature;
}

/* Returns the annealing trials per process and level: the fraction `share` of a
 * full annealing, which has fewer trials per process if there are many
 * processes, or if they are few and have many edges. */
static uint64_t multilevel_anneal_tries(const struct multilevel_search *search,
                                        double share)
{
    enum nw_effort effort = search->budget->effort;
    uint64_t tries = nw_tuned.multilevel.anneal_tries_max /
                     (uint64_t)(search->assignment->count + 1);
    double cost = nw_tuned.pairwise.cost_each +
                  nw_multilevel_degree_of(search->assignment);

    if (tries > nw_tuned.multilevel.anneal_tries_each)
        tries = nw_tuned.multilevel.anneal_tries_each;
    tries = nw_budget_scale(effort, tries);
    if (multilevel_are_few(search))
        share *= fmin(1, nw_tuned.multilevel.anneal_cost_max / cost);
    return (uint64_t)(share * (double)tries);
}

/* Returns the parameters of annealed start `number`, whose annealing gets the
 * fraction `share` of the full number of trials. Each piece is bisected once in
 * start 0 and several times in other starts. */
static struct nw_recursive_bisection
multilevel_start(const struct multilevel_search *search, uint64_t number,
                 double share)
{
    bool few = search->assignment->count <= nw_tuned.multilevel.few;

    return (struct nw_recursive_bisection){
        .assignment = search->assignment,
        .seed = search->seed + 7919 * number,
        .repeats = number ? nw_tuned.multilevel.start_repeats : 1,
        .tries = number && few ? 1 : 2,
        .threads = search->budget->threads,
        .anneal = multilevel_anneal_tries(search, share),
        .pairwise = search->assignment->count < nw_tuned.multilevel.many,
        .budget = search->budget};
}

/* Runs one of two bisections; a function nw_start.run. */
static nw_status multilevel_run_start(void *user, struct nw_budget *budget)
{
    struct nw_recursive_bisection *bisection = user;

    bisection->budget = budget;
    return nw_recursive_bisection(bisection);
}

/* Returns true if the first bisection found the pattern to be expander-like: a
 * second one then gains nothing. A function first_suffices of
 * nw_budget_run_starts. */
static bool multilevel_first_suffices(const void *user)
{
    const struct nw_recursive_bisection *first = user;

    return first->expander_like;
}

/* Runs both bisections at the same time if possible, because a single one has
 * too little parallelism on the upper levels of the tree, which have few
 * clusters. */
nw_status nw_multilevel_take_two(struct multilevel_search *search,
                                 bool *expander_like)
{
    const struct multilevel_anneals anneals = multilevel_anneals_of(search);
    struct nw_recursive_bisection bisect[2] = {
        multilevel_start(search, 0, anneals.first),
        multilevel_start(search, 1, anneals.others)};
    struct nw_start start[2] = {{multilevel_run_start, &bisect[0]},
                                {multilevel_run_start, &bisect[1]}};
    nw_status status;

    bisect[1].only_separable = true;
    status =
        nw_budget_run_starts(search->budget, start, multilevel_first_suffices);
    *expander_like = bisect[0].expander_like;
    if (!status)
        status = nw_assignment_take_if_better(search->assignment,
                                              bisect[0].slot, &search->cost);
    if (!status && start[1].ran && !bisect[0].expander_like &&
        !bisect[1].expander_like)
        status = nw_assignment_take_if_better(search->assignment,
                                              bisect[1].slot, &search->cost);
    free(bisect[0].slot);
    free(bisect[1].slot);
    return status;
}

nw_status nw_multilevel_take(struct multilevel_search *search,
                             struct nw_recursive_bisection *bisect)
{
    nw_status status;

    bisect->assignment = search->assignment;
    bisect->budget = search->budget;
    bisect->threads = bisect->budget->threads;
    status = nw_recursive_bisection(bisect);
    if (!status && (bisect->expander_like || !bisect->only_expander_like))
        status = nw_assignment_take_if_better(search->assignment, bisect->slot,
                                              &search->cost);
    free(bisect->slot);
    return status;
}

nw_status nw_multilevel_take_annealed(struct multilevel_search *search,
                                      bool *expander_like)
{
    struct nw_recursive_bisection bisect =
        multilevel_start(search, 0, multilevel_anneals_of(search).first);
    nw_status status;

    bisect.only_expander_like =
        search->assignment->count >= nw_tuned.multilevel.many;
    status = nw_multilevel_take(search, &bisect);
    *expander_like = bisect.expander_like;
    return status;
}

nw_status nw_multilevel_take_bisection(struct multilevel_search *search,
                                       uint64_t seed, int repeats)
{
    struct nw_recursive_bisection bisect = {.seed = seed,
                                            .repeats = repeats ? repeats : 1,
                                            .tries = repeats ? 4 : 1};

    return nw_multilevel_take(search, &bisect);
}

/* Makes annealed start `number` and keeps it if it costs less than
 * search->assignment. */
static nw_status multilevel_anneal_again(struct multilevel_search *search,
                                         uint64_t number, double share)
{
    struct nw_recursive_bisection bisect =
        multilevel_start(search, number, share);

    return search->budget->stopped ? NW_OK
                                   : nw_multilevel_take(search, &bisect);
}

/* A start, and the bytes it cuts at the root. Starts are selected by this cut,
 * because annealing hardly improves it. */
struct multilevel_top_cut {
    uint64_t number; /* which start, as in multilevel_start_init */
    double cut;      /* bytes between the children of the root */
};

/* Compares starts for qsort: the smaller cut comes first. */
static int multilevel_by_cut(const void *left, const void *right)
{
    const struct multilevel_top_cut *a = left, *b = right;

    if (a->cut != b->cut)
        return a->cut < b->cut ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* Returns the bytes between the children of the root if process p is on
 * slot[p]. */
static double multilevel_cut_at_top(const struct nw_assignment *assignment,
                                    const int32_t *slot)
{
    const int32_t *child =
        assignment->hierarchy->cluster[assignment->hierarchy->levels - 2];
    double cut = 0;

    for (int32_t p = 0; p < assignment->count; p++)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            if (child[slot[p]] != child[slot[assignment->edge[b].peer]])
                cut += assignment->edge[b].bytes;
    return cut / 2;
}

/* Makes start top_cut->number down to the children of the root only, without
 * annealing, and sets top_cut->cut. */
static nw_status multilevel_draw(const struct multilevel_search *search,
                                 struct multilevel_top_cut *top_cut)
{
    struct nw_recursive_bisection bisect =
        multilevel_start(search, top_cut->number, 0);
    nw_status status;

    bisect.top_cut = true;
    status = nw_recursive_bisection(&bisect);
    if (!status)
        top_cut->cut = multilevel_cut_at_top(search->assignment, bisect.slot);
    free(bisect.slot);
    return status;
}

/* Makes TOP_CUTS starts down to the children of the root, and makes in full,
 * with annealing, those with the smallest cuts. */
static nw_status multilevel_anneal_chosen(struct multilevel_search *search)
{
    const struct multilevel_anneals anneals = multilevel_anneals_of(search);
    struct multilevel_top_cut top_cut[TOP_CUTS];
    nw_status status = NW_OK;

    for (uint64_t i = 0; !status && i < TOP_CUTS; i++) {
        top_cut[i].number = i + 1;
        status = multilevel_draw(search, &top_cut[i]);
    }
    if (status)
        return status;
    qsort(top_cut, TOP_CUTS, sizeof *top_cut, multilevel_by_cut);
    for (uint64_t i = 0; !status && i < anneals.more; i++)
        status =
            multilevel_anneal_again(search, top_cut[i].number, anneals.others);
    return status;
}

nw_status nw_multilevel_leave_expander_like(struct multilevel_search *search)
{
    double rest = 1 - multilevel_anneals_of(search).first;

    search->steps /= nw_tuned.multilevel.expander_swaps_less;
    search->temperature = nw_tuned.multilevel.expander_temperature;
    search->sparing = search->assignment->count > nw_tuned.multilevel.many;
    multilevel_share_out_cycles(search);
    return rest > 0 ? multilevel_anneal_again(search, 1, rest) : NW_OK;
}

nw_status nw_multilevel_take_more(struct multilevel_search *search)
{
    bool many = search->assignment->count >= nw_tuned.multilevel.many;
    bool few = multilevel_are_few(search);
    nw_status status;

    if (search->budget->stopped)
        return NW_OK;
    if (many || search->budget->effort == NW_EFFORT_FAST) {
        search->steps /= many ? 1 : 2;
        return nw_multilevel_take_bisection(search, search->seed,
                                            multilevel_repeats_of(search));
    }
    /* more annealed starts are better than bisections alone */
    status = few ? multilevel_anneal_chosen(search) : NW_OK;
    search->steps /= nw_tuned.multilevel.few_swaps_less * (few ? 1 : 2);
    search->temperature *= nw_tuned.multilevel.started_temperature;
    multilevel_share_out_cycles(search);
    return status;
}
