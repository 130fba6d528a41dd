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
    const struct nw_kway_run *run;
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
    struct bisect_elements_work *work; /* for tasks of threads */
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
        load += (double)s->run->graph->load[here->vertex[i]];
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
    const struct nw_kway_machine *m = s->run->machine;
    struct nw_bisection cut = {.coarsest = nw_tuned.bisection.coarsest,
                               .tries = s->run->effort.tries,
                               .repeats = 1,
                               .budget = s->run->budget};
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
        cut.repeats = s->run->effort.repeats;
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
    return s->run->seed ^ ((uint64_t)here->low << 32) ^ (uint64_t)here->high;
}

static nw_status bisect_elements_bisect(struct bisect_elements_work *s,
                                        struct bisect_elements_range here);

/* Task for threads: divides a range of the array `user` to single elements. */
static nw_status bisect_elements_bisect_below(void *user, int32_t i)
{
    const struct bisect_elements_range *below = user;

    return bisect_elements_bisect(below[i].work, below[i]);
}

/* Sorts the vertices of a range by group, then divides each of the `count`
 * groups further, down to single elements. part[i] is the group of vertex
 * here.vertex[i], and group g has the elements first[g] .. first[g + 1] - 1. If
 * the range has many vertices, several threads divide the groups. */
static nw_status bisect_elements_descend(struct bisect_elements_work *s,
                                         struct bisect_elements_range here,
                                         int32_t count, const int32_t *first,
                                         const int32_t *part)
{
    struct bisect_elements_range *below = NULL;
    int32_t *at = NULL, *sorted = NULL;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)count, below),
                                    NW_ARRAY((size_t)count + 2, at),
                                    NW_ARRAY_RAW((size_t)here.count, sorted));

    if (!status) {
        nw_list_by_group(part, here.count, count, at, sorted);
        for (int32_t i = 0; i < here.count; i++)
            sorted[i] = here.vertex[sorted[i]];
        memcpy(here.vertex, sorted, (size_t)here.count * sizeof *sorted);
    }
    free(sorted);
    for (int32_t g = 0; !status && g < count; g++)
        below[g] = (struct bisect_elements_range){
            first[g],          first[g + 1],   here.vertex + at[g],
            at[g + 1] - at[g], here.depth + 1, s};
    free(at);
    if (!status)
        status = nw_parallel_try(
            bisect_elements_bisect_below, below, count,
            here.count < nw_tuned.kway.cut_beside_min ? 1 : s->threads);
    free(below);
    return status;
}

/* Bisects the vertices of a range at element `middle`; part[i] becomes 0 or 1
 * for vertex here->vertex[i]. */
static nw_status
bisect_elements_cut_range(struct bisect_elements_work *s,
                          const struct bisect_elements_range *here,
                          int32_t middle, int32_t *part)
{
    struct nw_bisection cut = bisect_elements_make_cut(s, here, middle);
    const struct nw_graph_range *range = s->run->graph->range;
    size_t count = (size_t)here->count;
    struct nw_graph graph = {0};
    struct nw_random random;
    int8_t *side = NULL, *fixed = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(count, side), NW_ARRAY(range ? count : 0, fixed));

    for (int32_t i = 0; !status && range && i < here->count; i++) {
        int32_t v = here->vertex[i];

        fixed[i] = range[v].high <= middle  ? 0
                   : range[v].low >= middle ? 1
                                            : -1;
    }
    cut.fixed = range ? fixed : NULL;
    cut.until =
        nw_time_shares_until(&s->pace, (double)here->count * cut.repeats);
    nw_random_init(&random, bisect_elements_seed_of(s, here));
    if (!status)
        status = nw_graph_subgraph(s->run->graph, here->vertex, here->count,
                                   s->place, &graph);
    if (!status)
        status = nw_bisect_multilevel(&graph, &cut, &random, side);
    for (int32_t i = 0; !status && i < here->count; i++)
        part[i] = side[i];
    nw_graph_fini(&graph);
    free(side);
    free(fixed);
    return status;
}

/* Assigns the vertices of a range, in the order of the list, to its elements,
 * one element q after the other. The next element follows when q has its share
 * of the load that the elements from q on have to take. A vertex that may not
 * be on q goes to the first element on which it may be. Used if time is over.
 */
static void
bisect_elements_fill_in_order(struct bisect_elements_work *s,
                              const struct bisect_elements_range *here)
{
    const struct nw_graph *g = s->run->graph;
    const struct nw_kway_machine *m = s->run->machine;
    double load = bisect_elements_load_of(s, here), share = 0, mine = 0;
    int64_t held = 0; /* number of vertices (of the finest graph) on q */
    int32_t q = here->low;

    for (int32_t p = here->low; p < here->high; p++)
        share += m->share[p];
    for (int32_t i = 0; i < here->count; i++) {
        int32_t v = here->vertex[i];

        for (; q + 1 < here->high; q++) {
            double target = share > 0 ? load * m->share[q] / share : load;

            if (mine + (double)g->load[v] / 2 <= target &&
                held + g->size[v] <= m->capacity[q])
                break;
            load -= mine;
            share -= m->share[q];
            mine = 0;
            held = 0;
        }
        s->part[v] = nw_kway_allows(g, v, q) ? q : g->range[v].low;
        mine += (double)g->load[v];
        held += g->size[v];
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

    if (!s->run->graph->range)
        return NW_OK;
    status = nw_alloc((size_t)here->count, sizeof *graph->range, &graph->range);
    for (int32_t i = 0; !status && i < here->count; i++) {
        struct nw_graph_range range = s->run->graph->range[here->vertex[i]];
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
    const struct nw_budget *outer = s->run->budget;
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
    double cuts = ceil(log2(groups->machine.k)) * s->run->effort.repeats;
    struct nw_budget budget = bisect_elements_share_time(s, here->count * cuts);
    struct nw_graph graph;
    struct nw_kway_run run = {.graph = &graph,
                              .machine = &groups->machine,
                              .effort = s->run->effort,
                              .budget = &budget,
                              .per_part = nw_tuned.kway.vertices_per_group,
                              .wholes = 1};
    nw_status status = nw_graph_subgraph(s->run->graph, here->vertex,
                                         here->count, s->place, &graph);

    run.seed = bisect_elements_seed_of(s, here);
    run.effort.starts = s->run->effort.group_starts;
    run.effort.group_starts = 0;
    run.effort.cycles = 2;
    if (!status)
        status = bisect_elements_take_ranges(s, here, groups, &graph);
    if (!status)
        status = s->run->effort.partition(&run, part);
    nw_graph_fini(&graph);
    if (budget.hurried && s->run->budget)
        __atomic_store_n(&s->run->budget->hurried, true, __ATOMIC_RELAXED);
    return status;
}

/* Divides the elements of a range into groups instead of two halves, the
 * vertices among these groups, and then each group further. part[here.count] is
 * scratch. */
static nw_status bisect_elements_multisection(struct bisect_elements_work *s,
                                              struct bisect_elements_range here,
                                              int32_t *part)
{
    struct nw_kway_multisection groups;
    nw_status status =
        nw_kway_multisection_init(&groups, s->run->machine, here.low, here.high,
                                  bisect_elements_load_of(s, &here));

    if (!status)
        status = bisect_elements_share_out(s, &here, &groups, part);
    if (!status)
        status = bisect_elements_descend(s, here, groups.machine.k,
                                         groups.first, part);
    nw_kway_multisection_fini(&groups);
    return status;
}

/* Divides the vertices of a range among its elements: divides the range into
 * groups or into two halves, and then its parts, down to single elements. */
static nw_status bisect_elements_bisect(struct bisect_elements_work *s,
                                        struct bisect_elements_range here)
{
    int32_t *part, middle;
    nw_status status;

    if (nw_budget_is_overdue(s->run->budget)) {
        bisect_elements_fill_in_order(s, &here);
        return NW_OK;
    }
    if (here.high - here.low == 1 || !here.count) {
        for (int32_t i = 0; i < here.count; i++)
            s->part[here.vertex[i]] = here.low;
        return NW_OK;
    }
    status = nw_alloc((size_t)here.count, sizeof *part, &part);
    if (status)
        return status;
    if (s->run->effort.group_starts &&
        nw_kway_multisection_apply(s->run->machine, here.low, here.high)) {
        status = bisect_elements_multisection(s, here, part);
    } else {
        middle = bisect_elements_choose_middle(s->run->machine, &here);
        status = bisect_elements_cut_range(s, &here, middle, part);
        if (!status)
            status = bisect_elements_descend(
                s, here, 2, (const int32_t[]){here.low, middle, here.high},
                part);
    }
    free(part);
    return status;
}

nw_status nw_kway_bisect_elements(const struct nw_kway_run *run, int32_t *part)
{
    const struct nw_graph *graph = run->graph;
    const struct nw_budget *budget = run->budget;
    /* Without a budget, there is one thread; with a time limit, too, because
     * the stages that share the time must run one after the other. */
    struct bisect_elements_work s = {
        .run = run,
        .part = part,
        .threads = budget && !budget->end_ns ? budget->threads : 1};
    struct bisect_elements_range all = {.high = run->machine->k,
                                        .count = graph->n};
    /* Each vertex takes part in about `halvings` bisections; the last ones,
     * `plain`, have no repeats. */
    double halvings = ceil(log2(run->machine->k)),
           plain = fmin(halvings, log2(nw_tuned.kway.elements_few));
    nw_status status = NW_ALLOC_ALL(NW_ARRAY((size_t)graph->n, s.place),
                                    NW_ARRAY((size_t)graph->n, all.vertex));

    for (int32_t v = 0; !status && v < graph->n; v++)
        all.vertex[v] = v;
    nw_time_shares_begin(
        &s.pace, run->budget, 0.5,
        graph->n * (plain + (halvings - plain) * run->effort.repeats));
    if (!status)
        status = bisect_elements_bisect(&s, all);
    free(s.place);
    free(all.vertex);
    return status;
}
