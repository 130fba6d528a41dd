/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several ranks on an element: nw_map for options that allow it. The answer is
 * what the k-way engine finds, or the default where that is within the limits
 * and better.
 */
#include "map/capacity/several.h"
#include "map/portfolio/algorithm.h"
#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

bool nw_several_is_asked(const struct nw_map_options *options)
{
    struct nw_map_options mine = NW_MAP_OPTIONS_INIT;

    if (!options)
        return false;
    memcpy(&mine, options,
           options->size < sizeof mine ? options->size : sizeof mine);
    return mine.capacity > 1 || mine.imbalance >= 0;
}

static void several_fini(struct nw_several *several)
{
    nw_kway_graph_fini(&several->graph);
    nw_kway_machine_fini(&several->machine);
    free(several->table);
    free(several->host);
    free(several->slots);
    free(several->order);
    free(several->first);
    free(several->element);
    free(several->end);
}

static nw_status several_check_options(const struct nw_several *several)
{
    const struct nw_map_options *options = &several->options;

    if (options->capacity < 0 || !(options->imbalance < 1e6))
        return nw_fail(NW_EINVAL, "capacities are counted from 1, imbalance is "
                                  "a fraction from 0");
    if (options->cores_per_rank > 1 || options->gpus_per_rank > 1)
        return nw_fail(NW_EINVAL, "several cores or GPUs per rank and several "
                                  "ranks per element exclude each other");
    if (nw_pattern_has_gpu(several->pattern) && !nw_several_is_single(options))
        return nw_fail(NW_EUNSUPPORTED,
                       "several ranks per element are mapped by host traffic "
                       "alone, and the pattern has a GPU layer; 'nodewise "
                       "pattern --kind hh' leaves it out");
    for (int i = 0; i < 3; i++)
        if (options->phase[i])
            return nw_fail(NW_EINVAL, "phases place one rank on an element");
    return nw_objectives_need_links(several->topology, options);
}

static nw_status several_init(struct nw_several *several,
                              const nw_topology *topology,
                              const nw_pattern *pattern,
                              const struct nw_map_options *options)
{
    struct nw_map_options *mine = &several->options;
    nw_status status;

    *several = (struct nw_several){.topology = topology, .pattern = pattern};
    *mine = (struct nw_map_options)NW_MAP_OPTIONS_INIT;
    memcpy(mine, options,
           options->size < sizeof *mine ? options->size : sizeof *mine);
    nw_budget_init(&several->budget, mine); /* the time runs from here */
    status = several_check_options(several);
    if (!status)
        status = nw_several_choose_hosts(several);
    if (!status)
        status = nw_several_to_graph(several);
    if (!status)
        status = nw_several_to_machine(several);
    return status;
}

static nw_status several_to_mapping(const struct nw_several *several,
                                    const int32_t *part, nw_mapping **out)
{
    nw_mapping *mapping;
    nw_status status =
        nw_mapping_new(several->topology, several->graph.n, &mapping);

    if (status)
        return status;
    for (int32_t v = 0; v < several->graph.n; v++) {
        int32_t node = several->end[part[v]].node;

        mapping->node[v] = node;
        mapping->core[v] =
            several->element[part[v]] -
            nw_topology_node_elements(several->topology, node).first;
        mapping->gpu[v] = -1;
    }
    *out = mapping;
    return NW_OK;
}

/* The elements in the order of the caller's hosts. */
static nw_status several_elements_in_order(const struct nw_several *several,
                                           int32_t **out)
{
    int32_t *order, at = 0;
    nw_status status =
        nw_alloc((size_t)several->machine.k, sizeof *order, &order);

    if (status)
        return status;
    for (int32_t i = 0; i < several->host_count; i++) {
        int32_t h = several->order[i];

        for (int32_t q = several->first[h]; q < several->first[h + 1]; q++)
            order[at++] = q;
    }
    *out = order;
    return NW_OK;
}

struct several_work {
    const struct nw_several *several;
    const int32_t *order;
    int32_t *count; /* [k] ranks so far */
    int32_t *host;  /* [k] of an element, and */
    int64_t *spare; /* [hosts] places there that none fixed to the host needs;
                       NULL where no rank is fixed */
    double dealt;   /* load */
    double due;     /* load of the elements up to this one */
    int32_t at;     /* in order */
};

/* To an element or to a host, of several. */
static bool several_is_fixed(const struct nw_several *several, int32_t v)
{
    const struct nw_kway_range *range = several->graph.range;

    return range && range[v].high - range[v].low < several->machine.k;
}

static bool several_may_distribute(const struct several_work *d, int32_t v,
                                   int32_t q)
{
    return d->count[q] < d->several->machine.capacity[q] &&
           nw_kway_allows(&d->several->graph, v, q) &&
           (!d->spare || several_is_fixed(d->several, v) ||
            d->spare[d->host[q]] > 0);
}

/* Elements in order take ranks in order, each until its share is had. */
static int32_t several_distribute(struct several_work *d, int32_t v)
{
    const struct nw_kway_machine *m = &d->several->machine;
    double load = (double)d->several->graph.load[v];

    while (d->at < m->k - 1 &&
           (d->dealt + load / 2 > d->due * (1 + 1e-12) ||
            d->count[d->order[d->at]] >= m->capacity[d->order[d->at]])) {
        d->at++;
        d->due += m->share[d->order[d->at]];
    }
    d->dealt += load;
    for (int32_t i = 0; i < m->k; i++) {
        int32_t q = d->order[(d->at + i) % m->k];

        if (several_may_distribute(d, v, q))
            return q;
    }
    return -1;
}

/* Keeps what fixed ranks need, on one element or on a host. */
static nw_status several_keep_places(struct several_work *d, int32_t *part)
{
    const struct nw_several *several = d->several;
    const struct nw_kway_range *range = several->graph.range;
    nw_status status;

    for (int32_t v = 0; v < several->graph.n; v++)
        part[v] = -1;
    if (!range)
        return NW_OK;
    status = nw_alloc((size_t)several->machine.k, sizeof *d->host, &d->host);
    if (!status)
        status =
            nw_alloc((size_t)several->host_count, sizeof *d->spare, &d->spare);
    for (int32_t h = 0; !status && h < several->host_count; h++)
        for (int32_t q = several->first[h]; q < several->first[h + 1]; q++) {
            d->host[q] = h;
            d->spare[h] += several->machine.capacity[q];
        }
    for (int32_t v = 0; !status && v < several->graph.n; v++) {
        if (several_is_fixed(several, v))
            d->spare[d->host[range[v].low]]--;
        if (range[v].high == range[v].low + 1) {
            part[v] = range[v].low;
            d->count[part[v]]++;
        }
    }
    return status;
}

static nw_status several_distribute_all(struct several_work *d, int32_t *part)
{
    const struct nw_kway_graph *g = &d->several->graph;

    for (int32_t v = 0; v < g->n; v++) {
        if (part[v] >= 0) {
            d->dealt += (double)g->load[v];
            continue;
        }
        part[v] = several_distribute(d, v);
        if (part[v] < 0)
            return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                                 "the fixed ranks leave no room for rank %d",
                                 v);
        d->count[part[v]]++;
        if (d->spare && !several_is_fixed(d->several, v))
            d->spare[d->host[part[v]]]--;
    }
    return NW_OK;
}

static nw_status several_default_parts(const struct nw_several *several,
                                       int32_t *part)
{
    struct several_work d = {.several = several};
    int32_t *order = NULL;
    nw_status status = several_elements_in_order(several, &order);

    if (!status)
        status =
            nw_alloc((size_t)several->machine.k, sizeof *d.count, &d.count);
    if (!status)
        status = several_keep_places(&d, part);
    if (!status) {
        d.order = order;
        d.due = several->machine.share[order[0]];
        status = several_distribute_all(&d, part);
    }
    free(order);
    free(d.count);
    free(d.host);
    free(d.spare);
    return status;
}

/* A run that only refines makes at least one cycle. */
static struct nw_kway_effort
several_choose_effort(const struct nw_several *several, bool refined)
{
    static const struct nw_kway_effort efforts[] = {
        [NW_EFFORT_FAST] = {1, 0, 3, 4, 1, 15},
        [NW_EFFORT_DEFAULT] = {4, 2, 3, 4, 2, 30},
        [NW_EFFORT_STRONG] = {16, 4, 5, 8, 3, 50},
    };
    /* every second start goes by groups, and takes as long as several */
    static const struct nw_kway_effort grouped[] = {
        [NW_EFFORT_FAST] = {1, 0, 3, 4, 1, 15},
        [NW_EFFORT_DEFAULT] = {3, 1, 3, 4, 2, 30, 6},
        [NW_EFFORT_STRONG] = {8, 4, 5, 8, 3, 50, 16},
    };
    bool groups =
        several->options.imbalance >= 0 &&
        nw_kway_multisection_apply(&several->machine, 0, several->machine.k);
    struct nw_kway_effort effort =
        (groups ? grouped : efforts)[several->options.effort];

    if (refined) {
        effort.starts = 0;
        effort.cycles += !effort.cycles;
    } else if (effort.starts < 2 && several->options.imbalance < 0) {
        effort.starts = 2;
    }
    return effort;
}

/* Where loads have no limit the fewest elements are one way to begin, all of
 * them, each as full as the others, another. */
static nw_status several_share_evenly(const struct nw_several *several,
                                      double **out)
{
    const struct nw_kway_machine *m = &several->machine;
    double load = 0, room = 0;
    nw_status status;

    if (several->options.imbalance >= 0)
        return NW_OK;
    status = nw_alloc((size_t)m->k, sizeof **out, out);
    for (int32_t v = 0; v < several->graph.n; v++)
        load += (double)several->graph.load[v];
    for (int32_t q = 0; q < m->k; q++)
        room += m->capacity[q];
    for (int32_t q = 0; !status && q < m->k; q++)
        (*out)[q] = load * m->capacity[q] / room;
    return status;
}

/* The figures a mapping is judged by: the objective, then what decides between
 * equals. */
static nw_status several_judge(const struct nw_several *several,
                               const nw_mapping *mapping, double figure[2])
{
    struct nw_cost cost;
    nw_status status =
        nw_cost_evaluate(several->topology, several->pattern, mapping, &cost);

    if (status)
        return status;
    figure[0] = nw_cost_objective(&cost, several->options.objective);
    figure[1] = several->options.has_second
                    ? nw_cost_objective(&cost, several->options.second)
                    : 0;
    nw_cost_fini(&cost);
    return NW_OK;
}

static bool several_is_within(const struct nw_several *several,
                              const int32_t *part)
{
    struct nw_kway_state state;
    bool within = true;

    if (nw_kway_state_init(&state, &several->graph, &several->machine,
                           (int32_t *)part))
        return false;
    for (int32_t q = 0; q < several->machine.k; q++)
        within &= !nw_kway_state_over(&state, q);
    nw_kway_state_fini(&state);
    return within;
}

/* Puts the other in the place of *best where that is better, and frees the
 * worse. */
static nw_status several_match(const struct nw_several *several,
                               nw_mapping *other, nw_mapping **best, bool *won)
{
    double figure[2][2] = {{0}};
    nw_status status = several_judge(several, *best, figure[0]);

    if (!status)
        status = several_judge(several, other, figure[1]);
    *won = !status &&
           (figure[1][0] < figure[0][0] ||
            (figure[1][0] == figure[0][0] && figure[1][1] < figure[0][1]));
    if (*won) {
        nw_mapping *worse = *best;

        *best = other;
        other = worse;
    }
    nw_mapping_free(other);
    return status;
}

/* Compares other parts with the best mapping, if they are within the limits. */
static nw_status several_try_other(const struct nw_several *several,
                                   const int32_t *part, nw_mapping **best)
{
    nw_mapping *other = NULL;
    bool won;
    nw_status status;

    if (!several_is_within(several, part))
        return NW_OK;
    status = several_to_mapping(several, part, &other);
    return status ? status : several_match(several, other, best, &won);
}

/* Keeps the best of the result, the default and the start. Link loads have no
 * cost before ranks have GPUs: then the result stays. */
static nw_status several_choose(const struct nw_several *several,
                                const int32_t *found,
                                const int32_t *const others[2],
                                nw_mapping **out)
{
    nw_mapping *best = NULL;
    nw_status status = several_to_mapping(several, found, &best);

    for (int i = 0; !status && i < 2; i++)
        if (others[i] && !nw_several_uses_gpus(several))
            status = several_try_other(several, others[i], &best);
    if (status)
        nw_mapping_free(best);
    else
        *out = best;
    return status;
}

/* The parts of --from, or of the default, or of bin packing, which keeps every
 * limit. */
static nw_status several_find(struct nw_several *several,
                              const int32_t *standard, bool refined,
                              nw_mapping **out)
{
    struct nw_kway_run run = {.graph = &several->graph,
                              .machine = &several->machine,
                              .effort = several_choose_effort(several, refined),
                              .seed = several->options.seed,
                              .budget = &several->budget,
                              .given = standard};
    size_t n = (size_t)several->graph.n;
    int32_t *found = NULL, *fitted = NULL, *start = NULL;
    double *share = NULL;
    bool fits = false;
    nw_status status = nw_alloc(n, sizeof *found, &found);

    if (!status)
        status = nw_alloc(n, sizeof *fitted, &fitted);
    if (!status)
        status = nw_several_from_mapping(several, &start);
    if (!status && !start && !several_is_within(several, standard))
        status = nw_several_bin_packing(several, fitted, &fits);
    if (start || fits)
        run.given = start ? start : fitted;
    if (!status)
        status = several_share_evenly(several, &share);
    run.share = share;
    if (!status)
        status = nw_kway(&run, found);
    if (!status)
        status = several_choose(several, found,
                                (const int32_t *[2]){standard, start}, out);
    free(found);
    free(fitted);
    free(start);
    free(share);
    return status;
}

/* Phases know the links; the k-way engine knows sums over pairs only. A method
 * that finds no room is not a candidate. */
static nw_status several_try_phases(struct nw_several *several,
                                    nw_mapping **best)
{
    static const char *const name[] = {"partition", "magc"};
    nw_status status = NW_OK;

    if (several->options.objective == NW_OBJECTIVE_HOP_BYTES ||
        !nw_several_is_even(several))
        return NW_OK;
    for (size_t i = 0; !status && i < sizeof name / sizeof *name; i++) {
        struct nw_map_report report = {0};
        nw_mapping *other = NULL;
        bool won;

        if (nw_budget_is_overdue(&several->budget))
            break;
        status = nw_several_by_phases(several, name[i], &other, &report);
        if (status == NW_EINVAL)
            status = NW_OK;
        else if (!status)
            status = several_match(several, other, best, &won);
    }
    return status;
}

/* Ranks in order are asked for by name, and within the limits then. */
static nw_status several_in_order(const struct nw_several *several,
                                  const int32_t *standard, nw_mapping **out)
{
    if (!several_is_within(several, standard))
        return nw_fail(NW_EINVAL, "ranks in order pass the limit of an "
                                  "element; multilevel would not");
    return several_to_mapping(several, standard, out);
}

nw_status nw_several_solve(struct nw_several *several, const char *name,
                           nw_mapping **out)
{
    size_t n = (size_t)several->graph.n;
    int32_t *standard = NULL;
    nw_status status = nw_alloc(n, sizeof *standard, &standard);

    if (!status)
        status = several_default_parts(several, standard);
    if (!status)
        status =
            strcmp(name, "block")
                ? several_find(several, standard, !strcmp(name, "refine"), out)
                : several_in_order(several, standard, out);
    if (!status && !strcmp(name, "auto")) {
        status = several_try_phases(several, out);
        if (status)
            nw_mapping_free(*out);
    }
    free(standard);
    return status;
}

/* How an algorithm answers where elements have parts. */
enum several_method { BY_PARTS, BY_SLOTS, BY_PHASES, NO_METHOD };

static const struct {
    const char *name;
    enum several_method method;
} methods[] = {
    {"auto", BY_PARTS},         {"multilevel", BY_PARTS},
    {"block", BY_PARTS},        {"refine", BY_PARTS},
    {"anneal", BY_SLOTS},       {"tabu", BY_SLOTS},
    {"exact", BY_SLOTS},        {"cyclic", BY_PHASES},
    {"random", BY_PHASES},      {"scotch", BY_PHASES},
    {"rashti", BY_PHASES},      {"partition", BY_PHASES},
    {"magc", BY_PHASES},        {"magc-scotch", BY_PHASES},
    {"magc-greedy", BY_PHASES},
};

static enum several_method several_method_of(const char *name)
{
    for (size_t i = 0; i < sizeof methods / sizeof *methods; i++)
        if (!strcmp(methods[i].name, name))
            return methods[i].method;
    return NO_METHOD;
}

static const char *several_name_of(const struct nw_several *several)
{
    const char *asked = several->options.algorithm;

    if (!asked)
        return "auto";
    return strcmp(asked, "default") ? asked : "block";
}

/* Never worse than the default, except if the user asked for that order by
 * name. */
static nw_status several_place(struct nw_several *several, const char *name,
                               nw_mapping **out, struct nw_map_report *report)
{
    int32_t *standard = NULL;
    nw_mapping *found = NULL;
    nw_status status = nw_several_by_phases(several, name, &found, report);

    if (!status && !nw_algorithm_find(name)->baseline)
        status =
            nw_alloc((size_t)several->graph.n, sizeof *standard, &standard);
    if (!status && standard)
        status = several_default_parts(several, standard);
    if (!status && standard)
        status = several_try_other(several, standard, &found);
    free(standard);
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

/* From the best of all beginnings, and from the k-way engine's. */
static nw_status several_move_all(struct nw_several *several, nw_mapping **out,
                                  struct nw_map_report *report)
{
    struct nw_map_report second = {0};
    nw_mapping *found = NULL, *other = NULL;
    bool won = false;
    nw_status status = nw_several_on_slots(several, "auto", &found, report);

    if (!status && several->options.objective != NW_OBJECTIVE_HOP_BYTES &&
        !report->proven && !several->budget.anytime &&
        !nw_budget_is_overdue(&several->budget))
        status = nw_several_on_slots(several, "multilevel", &other, &second);
    if (!status && other)
        status = several_match(several, other, &found, &won);
    if (won)
        *report = second;
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

static nw_status several_run_several(struct nw_several *several,
                                     const char *name, nw_mapping **out,
                                     struct nw_map_report *report)
{
    enum several_method method = several_method_of(name);
    bool slots = nw_several_has_slots(several) && strcmp(name, "block");

    if (method == NO_METHOD)
        return nw_fail(NW_EINVAL,
                       "algorithm %s places one rank on an element; several "
                       "are placed by multilevel",
                       name);
    if (method == BY_PHASES)
        return several_place(several, name, out, report);
    if (method == BY_SLOTS && !slots)
        return nw_fail(NW_EINVAL,
                       "%s is for few ranks of one weight where elements take "
                       "several; refine and multilevel are for any",
                       name);
    several->budget.grace_ns = 0; /* all of it looks at the clock */
    if (slots && !strcmp(name, "auto"))
        return several_move_all(several, out, report);
    if (slots)
        return nw_several_on_slots(several, name, out, report);
    report->algorithm = strcmp(name, "auto") ? name : "multilevel";
    return nw_several_solve(several, name, out);
}

static nw_status several_run(struct nw_several *several, nw_mapping **out,
                             struct nw_map_report *report)
{
    const char *name = several_name_of(several);

    if (!nw_several_is_single(&several->options) ||
        (!strcmp(name, "block") && !nw_several_uses_gpus(several)))
        return several_run_several(several, name, out, report);
    return nw_several_single(several, name, out, report);
}

/* Limits that exclude no placement are dropped. */
static bool several_is_plain(const struct nw_several *several)
{
    return nw_several_is_single(&several->options) &&
           !nw_several_limits_matter(several);
}

nw_status nw_several_map(const nw_topology *topology, const nw_pattern *pattern,
                         const struct nw_map_options *options, nw_mapping **out,
                         struct nw_map_report *report)
{
    struct nw_map_report mine = {0};
    struct nw_several several;
    nw_status status = several_init(&several, topology, pattern, options);

    if (!status && several_is_plain(&several)) {
        struct nw_map_options plain = nw_several_without_limits(&several);

        status = nw_map(topology, pattern, &plain, out, report);
        several_fini(&several);
        return status;
    }
    if (!status)
        status = several_run(&several, out, &mine);
    mine.steps = several.budget.steps;
    mine.hurried = several.budget.hurried;
    if (!status && report)
        *report = mine;
    several_fini(&several);
    return status;
}

/* A launcher does not know limits: if it would assign GPUs, it is asked without
 * them. */
nw_status nw_several_default(const nw_topology *topology,
                             const nw_pattern *pattern,
                             const struct nw_map_options *options,
                             nw_mapping **out)
{
    struct nw_several several;
    int32_t *part = NULL;
    nw_status status = several_init(&several, topology, pattern, options);

    if (!status &&
        (several_is_plain(&several) || nw_several_uses_gpus(&several))) {
        struct nw_map_options plain = nw_several_without_limits(&several);

        status = nw_map_default(topology, pattern, &plain, out);
        several_fini(&several);
        return status;
    }
    if (!status)
        status = nw_alloc((size_t)several.graph.n, sizeof *part, &part);
    if (!status)
        status = several_default_parts(&several, part);
    if (!status)
        status = several_to_mapping(&several, part, out);
    free(part);
    several_fini(&several);
    return status;
}
