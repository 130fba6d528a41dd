/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Recursive bisection along the elements: a range of elements is cut in two at
 * one of its widest gaps, and the vertices of the range are bisected
 * accordingly, until each range is one element. If multisection is wanted
 * (nw_kway_effort.group_starts), a range may be divided into several groups
 * instead. A half may get more load than its share, but not so much that the
 * bisections below it could not keep the elements' limits.
 */
#include "base/array.h"
#include "base/parallel.h"
#include "map/graph/bisect_multilevel.h"
#include "map/kway/kway.h"
#include "map/common/parameters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* State of one call of nw_kway_bisect_elements. */
struct bisect_elements_work {
    const struct nw_graph *graph;
    const struct nw_kway_machine *machine;
    const struct nw_kway_effort *effort;
    uint64_t seed;
    int32_t *part;   /* [vertices] out: element of each vertex */
    int32_t *place;  /* [vertices] scratch of nw_graph_subgraph */
    int32_t threads; /* number of threads; bisections of different ranges are
                        independent */
    struct nw_time_shares pace; /* time shares of the bisections; the unit of
                                   work is one vertex in one repeat of one
                                   bisection */
};

/* A range: the elements low .. high - 1 and the vertices that are to be divided
 * among them. */
struct bisect_elements_range {
    int32_t low, high;
    int32_t *vertex; /* [count] vertices of the graph to divide among the
                        elements */
    int32_t count;
    int32_t depth; /* number of divisions by which this range was made from all
                      elements */
};

/* Returns the element of a range at which its second half begins: at one of the
 * widest gaps, so that both halves have about the same share of the load. From
 * depth nw_tuned.kway.lopsided_depth on, all gaps are considered, because the
 * widest gaps then seem to separate single elements only. */
static int32_t
bisect_elements_choose_middle(const struct nw_kway_machine *m,
                              const struct bisect_elements_range *here)
{
    int32_t low = here->low, high = here->high;
    double widest = -1, all = 0, before = 0, best = HUGE_VAL;
    int32_t middle = low + 1;

    for (int32_t i = low; i < high; i++) {
        all += m->share[i];
        if (i > low && m->step[i] > widest)
            widest = m->step[i];
    }
    for (int32_t i = low + 1; i < high; i++) {
        double off;

        before += m->share[i - 1];
        off =
            fabs(before - all / 2) + fabs(i - low - (high - low) / 2.0) * 1e-9;
        if ((m->step[i] == widest ||
             here->depth >= nw_tuned.kway.lopsided_depth) &&
            off < best) {
            best = off;
            middle = i;
        }
    }
    return middle;
}

/* Returns the sum of the loads of the vertices of a range. */
static double bisect_elements_load_of(const struct bisect_elements_work *s,
                                      const struct bisect_elements_range *here)
{
    double load = 0;

    for (int32_t i = 0; i < here->count; i++)
        load += (double)s->graph->load[here->vertex[i]];
    return load;
}

/* Returns the parameters of the bisection of a range at element `middle`. The
 * target of a side is its share of the load of the range's vertices. The limit
 * of a side lies above its target. If d bisections lead from this range down to
 * single elements, it does so by the d-th root of the factor that the elements'
 * limits allow. Each of the d bisections may then use an equal part of that
 * factor. */
static struct nw_bisection
bisect_elements_make_cut(const struct bisect_elements_work *s,
                         const struct bisect_elements_range *here,
                         int32_t middle)
{
    const struct nw_kway_machine *m = s->machine;
    struct nw_bisection cut = {.coarsest = nw_tuned.bisection.coarsest,
                               .tries = s->effort->tries,
                               .repeats = 1,
                               .budget = s->effort->budget};
    double share[2] = {0}, limit[2] = {0},
           load = bisect_elements_load_of(s, here), ease;

    for (int32_t i = here->low; i < here->high; i++) {
        share[i >= middle] += m->share[i];
        limit[i >= middle] += (double)m->limit[i];
        cut.capacity[i >= middle] += m->capacity[i];
    }
    /* Ranges of few elements are bisected once: refinement repairs them
     * cheaply. */
    if (here->high - here->low > nw_tuned.kway.elements_few)
        cut.repeats = s->effort->repeats;
    for (int side = 0; side < 2; side++) {
        int32_t below = side ? here->high - middle : middle - here->low;
        double depth = ceil(log2((double)below)) + 1, room, target;

        target = share[0] + share[1] > 0
                     ? load * share[side] / (share[0] + share[1])
                     : load / 2;
        room = target > 0 ? limit[side] / target : 1;
        ease = room > 1 ? pow(room, 1 / depth) : room;
        cut.limit[side] = (nw_graph_load)(target * ease + 1e-6);
        /* If a side has no wanted load or is a single element, or its limit is
         * below its target, its limit is that of its elements. */
        if (below == 1 || target <= 0 ||
            cut.limit[side] < (nw_graph_load)ceil(target))
            cut.limit[side] = (nw_graph_load)limit[side];
        if ((double)cut.limit[side] > limit[side])
            cut.limit[side] = (nw_graph_load)limit[side];
        if (!side)
            cut.target = target;
    }
    cut.merged_max = (int64_t)(load / nw_tuned.kway.merged_max) + 1;
    return cut;
}

static uint64_t
bisect_elements_seed_of(const struct bisect_elements_work *s,
                        const struct bisect_elements_range *here)
{
    return s->seed ^ ((uint64_t)here->low << 32) ^ (uint64_t)here->high;
}

static nw_status bisect_elements_bisect(struct bisect_elements_work *s,
                                        struct bisect_elements_range here);

/* Argument of the parallel tasks that divide the ranges below[]. */
struct bisect_elements_descent {
    struct bisect_elements_work *s;
    const struct bisect_elements_range *below;
};

/* Task for threads: divides range below[i] down to single elements. */
static nw_status bisect_elements_bisect_below(void *user, int32_t i)
{
    const struct bisect_elements_descent *descent = user;

    return bisect_elements_bisect(descent->s, descent->below[i]);
}

/* Divides each of the ranges below[count], which one division has made, down to
 * single elements. `vertices`: total number of vertices of these ranges; if
 * there are many, several threads divide the ranges. */
static nw_status
bisect_elements_bisect_all(struct bisect_elements_work *s,
                           const struct bisect_elements_range *below,
                           int32_t count, int32_t vertices)
{
    struct bisect_elements_descent descent = {s, below};

    return nw_parallel_try(
        bisect_elements_bisect_below, &descent, count,
        vertices < nw_tuned.kway.cut_beside_min ? 1 : s->threads);
}

/* Sorts the vertices of a range by side, then divides both halves further. */
static nw_status bisect_elements_descend(struct bisect_elements_work *s,
                                         struct bisect_elements_range here,
                                         int32_t middle, const int8_t *side)
{
    int32_t *sorted, zeros = 0, at[2] = {0};
    nw_status status = nw_alloc((size_t)here.count, sizeof *sorted, &sorted);

    if (status)
        return status;
    for (int32_t i = 0; i < here.count; i++)
        zeros += !side[i];
    at[1] = zeros;
    for (int32_t i = 0; i < here.count; i++)
        sorted[at[(int)side[i]]++] = here.vertex[i];
    for (int32_t i = 0; i < here.count; i++)
        here.vertex[i] = sorted[i];
    free(sorted);
    return bisect_elements_bisect_all(
        s,
        (struct bisect_elements_range[]){
            {here.low, middle, here.vertex, zeros, here.depth + 1},
            {middle, here.high, here.vertex + zeros, here.count - zeros,
             here.depth + 1}},
        2, here.count);
}

/* Bisects the vertices of a range at element `middle`; side[i] becomes 0 or 1
 * for vertex here->vertex[i]. */
static nw_status
bisect_elements_cut_range(struct bisect_elements_work *s,
                          const struct bisect_elements_range *here,
                          int32_t middle, int8_t *side)
{
    struct nw_bisection cut = bisect_elements_make_cut(s, here, middle);
    const struct nw_graph_range *range = s->graph->range;
    struct nw_graph graph = {0};
    struct nw_random random;
    int8_t *fixed = NULL;
    nw_status status = NW_OK;

    if (range)
        status = nw_alloc((size_t)here->count, 1, &fixed);
    for (int32_t i = 0; !status && range && i < here->count; i++) {
        int32_t v = here->vertex[i];

        fixed[i] = range[v].high <= middle  ? 0
                   : range[v].low >= middle ? 1
                                            : -1;
    }
    cut.fixed = fixed;
    cut.until =
        nw_time_shares_until(&s->pace, (double)here->count * cut.repeats);
    nw_random_init(&random, bisect_elements_seed_of(s, here));
    if (!status)
        status = nw_graph_subgraph(s->graph, here->vertex, here->count,
                                   s->place, &graph);
    if (!status)
        status = nw_bisect_multilevel(&graph, &cut, &random, side);
    nw_graph_fini(&graph);
    free(fixed);
    return status;
}

/* State while the listed vertices of a range fill one element after the other.
 */
struct bisect_elements_filling {
    int32_t at;          /* element that is being filled */
    double load, share;  /* over the vertices and elements from this element on:
                            load of the vertices, share of the elements */
    double target, mine; /* target: load that the element should get; mine: load
                            that it has */
    int64_t held;        /* number of vertices (of the finest graph) on the
                            element so far */
};

/* Begins to fill element fill->at: its target is its share of the load that is
 * left. */
static void bisect_elements_open_element(const struct nw_kway_machine *m,
                                         struct bisect_elements_filling *fill)
{
    fill->target = fill->share > 0
                       ? fill->load * m->share[fill->at] / fill->share
                       : fill->load;
    fill->mine = 0;
    fill->held = 0;
}

/* Ends the element that is being filled and begins the next one. */
static void bisect_elements_close_element(const struct nw_kway_machine *m,
                                          struct bisect_elements_filling *fill)
{
    fill->load -= fill->mine;
    fill->share -= m->share[fill->at++];
    bisect_elements_open_element(m, fill);
}

/* Assigns the vertices of a range, in the order of the list, to its elements,
 * one element after the other. A vertex that may not be on the present element
 * goes to the first one on which it may be. Used if time is over. */
static void
bisect_elements_fill_in_order(struct bisect_elements_work *s,
                              const struct bisect_elements_range *here)
{
    const struct nw_graph *g = s->graph;
    const struct nw_kway_machine *m = s->machine;
    struct bisect_elements_filling fill = {
        .at = here->low, .load = bisect_elements_load_of(s, here)};

    for (int32_t q = here->low; q < here->high; q++)
        fill.share += m->share[q];
    bisect_elements_open_element(m, &fill);
    for (int32_t i = 0; i < here->count; i++) {
        int32_t v = here->vertex[i];

        while (fill.at + 1 < here->high &&
               (fill.mine + (double)g->load[v] / 2 > fill.target ||
                fill.held + g->size[v] > m->capacity[fill.at]))
            bisect_elements_close_element(m, &fill);
        s->part[v] = nw_kway_allows(g, v, fill.at) ? fill.at : g->range[v].low;
        fill.mine += (double)g->load[v];
        fill.held += g->size[v];
    }
}

/* Makes graph->range: for each vertex of the range `here`, the groups that
 * contain the elements on which the vertex may be. Does nothing if vertices may
 * be on all elements. */
static nw_status
bisect_elements_take_ranges(const struct bisect_elements_work *s,
                            const struct bisect_elements_range *here,
                            const struct nw_kway_multisection *groups,
                            struct nw_graph *graph)
{
    nw_status status;

    if (!s->graph->range)
        return NW_OK;
    status = nw_alloc((size_t)here->count, sizeof *graph->range, &graph->range);
    for (int32_t i = 0; !status && i < here->count; i++) {
        struct nw_graph_range range = s->graph->range[here->vertex[i]];
        int32_t k = groups->machine.k, low = 0, high = k;

        while (low < k - 1 && groups->first[low + 1] <= range.low)
            low++;
        while (high > low + 1 && groups->first[high - 1] >= range.high)
            high--;
        graph->range[i] = (struct nw_graph_range){low, high};
    }
    return status;
}

/* Returns the budget for dividing the vertices of a range among groups of
 * elements, which counts as `work` units of s->pace. The budget ends at the
 * time when these units should be finished; if the stage has no end, at the
 * time limit of the call. */
static struct nw_budget
bisect_elements_share_time(struct bisect_elements_work *s, double work)
{
    const struct nw_budget *outer = s->effort->budget;
    uint64_t until = nw_time_shares_until(&s->pace, work);
    struct nw_budget own = {.threads = s->threads, .steps_most = UINT64_MAX};

    if (!outer)
        return own;
    own.now = outer->now;
    own.progress = outer->progress;
    own.quiet = true;
    own.end_ns = until ? until : outer->end_ns;
    own.grace_ns = until ? 0 : outer->grace_ns;
    return own;
}

/* Partitions the vertices of a range among groups of elements: part[i] becomes
 * the group of vertex here->vertex[i]. */
static nw_status
bisect_elements_share_out(struct bisect_elements_work *s,
                          const struct bisect_elements_range *here,
                          struct nw_kway_multisection *groups, int32_t *part)
{
    double cuts = ceil(log2(groups->machine.k)) * s->effort->repeats;
    struct nw_budget budget = bisect_elements_share_time(s, here->count * cuts);
    struct nw_graph graph;
    struct nw_kway_run run = {.graph = &graph,
                              .machine = &groups->machine,
                              .effort = *s->effort,
                              .budget = &budget,
                              .per_part = nw_tuned.kway.vertices_per_group,
                              .wholes = 1};
    nw_status status = nw_graph_subgraph(s->graph, here->vertex, here->count,
                                         s->place, &graph);

    run.seed = bisect_elements_seed_of(s, here);
    run.effort.starts = s->effort->group_starts;
    run.effort.group_starts = 0;
    run.effort.cycles = 2;
    if (!status)
        status = bisect_elements_take_ranges(s, here, groups, &graph);
    if (!status)
        status = s->effort->partition(&run, part);
    nw_graph_fini(&graph);
    if (budget.hurried && s->effort->budget)
        __atomic_store_n(&s->effort->budget->hurried, true, __ATOMIC_RELAXED);
    return status;
}

/* Divides the vertices of each group further among the group's elements.
 * here.vertex is sorted by group; the vertices of group g begin at index at[g].
 */
static nw_status bisect_elements_bisect_each(
    struct bisect_elements_work *s, struct bisect_elements_range here,
    const struct nw_kway_multisection *groups, const int32_t *at)
{
    int32_t k = groups->machine.k;
    struct bisect_elements_range *below = NULL;
    nw_status status = nw_alloc((size_t)k, sizeof *below, &below);

    for (int32_t g = 0; !status && g < k; g++)
        below[g] = (struct bisect_elements_range){
            groups->first[g], groups->first[g + 1], here.vertex + at[g],
            at[g + 1] - at[g], here.depth + 1};
    if (!status)
        status = bisect_elements_bisect_all(s, below, k, here.count);
    free(below);
    return status;
}

/* Sorts the vertices of a range by group, then divides each group further. */
static nw_status bisect_elements_descend_groups(
    struct bisect_elements_work *s, struct bisect_elements_range here,
    const struct nw_kway_multisection *groups, const int32_t *part)
{
    int32_t k = groups->machine.k, *sorted, *at = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)here.count, sorted),
                                    NW_ARRAY((size_t)k + 2, at));

    for (int32_t i = 0; !status && i < here.count; i++)
        at[part[i] + 2]++;
    for (int32_t g = 0; !status && g < k; g++)
        at[g + 2] += at[g + 1];
    for (int32_t i = 0; !status && i < here.count; i++)
        sorted[at[part[i] + 1]++] = here.vertex[i];
    if (!status)
        memcpy(here.vertex, sorted, (size_t)here.count * sizeof *sorted);
    free(sorted);
    if (!status)
        status = bisect_elements_bisect_each(s, here, groups, at);
    free(at);
    return status;
}

/* Divides the elements of a range into groups instead of two halves, the
 * vertices among these groups, and then each group further. */
static nw_status bisect_elements_multisection(struct bisect_elements_work *s,
                                              struct bisect_elements_range here)
{
    struct nw_kway_multisection groups;
    int32_t *part = NULL;
    nw_status status =
        nw_kway_multisection_init(&groups, s->machine, here.low, here.high,
                                  bisect_elements_load_of(s, &here));

    if (!status)
        status = nw_alloc((size_t)here.count, sizeof *part, &part);
    if (!status)
        status = bisect_elements_share_out(s, &here, &groups, part);
    if (!status)
        status = bisect_elements_descend_groups(s, here, &groups, part);
    free(part);
    nw_kway_multisection_fini(&groups);
    return status;
}

/* Divides the vertices of a range among its elements: divides the range and
 * then its parts, down to single elements. */
static nw_status bisect_elements_bisect(struct bisect_elements_work *s,
                                        struct bisect_elements_range here)
{
    int32_t middle;
    int8_t *side;
    nw_status status;

    if (nw_budget_is_overdue(s->effort->budget)) {
        bisect_elements_fill_in_order(s, &here);
        return NW_OK;
    }

    if (here.high - here.low == 1 || !here.count) {
        for (int32_t i = 0; i < here.count; i++)
            s->part[here.vertex[i]] = here.low;
        return NW_OK;
    }
    if (s->effort->group_starts &&
        nw_kway_multisection_apply(s->machine, here.low, here.high))
        return bisect_elements_multisection(s, here);
    middle = bisect_elements_choose_middle(s->machine, &here);
    status = nw_alloc((size_t)here.count, 1, &side);
    if (status)
        return status;
    status = bisect_elements_cut_range(s, &here, middle, side);
    if (!status)
        status = bisect_elements_descend(s, here, middle, side);
    free(side);
    return status;
}

/* Estimates the work of all bisections, in vertices x repeats: each vertex
 * takes part in about log2(k) bisections for k elements. */
static double bisect_elements_work_of(const struct bisect_elements_work *s)
{
    double halvings = ceil(log2(s->machine->k)),
           plain = log2(nw_tuned.kway.elements_few);

    if (halvings <= plain)
        return s->graph->n * halvings;
    return s->graph->n * (plain + (halvings - plain) * s->effort->repeats);
}

/* Returns the number of threads for bisections. Without a budget it is 1; with
 * a time limit, too, because the stages that share the time must run one after
 * the other. */
static int32_t bisect_elements_threads_of(const struct nw_budget *budget)
{
    return budget && !budget->end_ns ? budget->threads : 1;
}

nw_status nw_kway_bisect_elements(const struct nw_graph *graph,
                                  const struct nw_kway_machine *machine,
                                  const struct nw_kway_effort *effort,
                                  uint64_t seed, int32_t *part)
{
    struct bisect_elements_work s = {
        .graph = graph,
        .machine = machine,
        .effort = effort,
        .seed = seed,
        .part = part,
        .threads = bisect_elements_threads_of(effort->budget)};
    struct bisect_elements_range all = {.high = machine->k, .count = graph->n};
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)graph->n, s.place),
                                    NW_ARRAY((size_t)graph->n, all.vertex));

    for (int32_t v = 0; !status && v < graph->n; v++)
        all.vertex[v] = v;
    nw_time_shares_begin(&s.pace, effort->budget, 0.5,
                         bisect_elements_work_of(&s));
    if (!status)
        status = bisect_elements_bisect(&s, all);
    free(s.place);
    free(all.vertex);
    return status;
}
