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

bool nw_many_is_asked(const struct nw_map_options *options)
{
    struct nw_map_options mine = NW_MAP_OPTIONS_INIT;

    if (!options)
        return false;
    memcpy(&mine, options,
           options->size < sizeof mine ? options->size : sizeof mine);
    return mine.capacity > 1 || mine.imbalance >= 0;
}

static void many_fini(struct nw_many *many)
{
    nw_kgraph_fini(&many->graph);
    nw_kmachine_fini(&many->machine);
    free(many->table);
    free(many->host);
    free(many->slots);
    free(many->order);
    free(many->first);
    free(many->element);
    free(many->end);
}

static nw_status check_options(const struct nw_many *many)
{
    const struct nw_map_options *options = &many->options;

    if (options->capacity < 0 || !(options->imbalance < 1e6))
        return nw_fail(NW_EINVAL, "capacities are counted from 1, imbalance is "
                                  "a fraction from 0");
    if (options->cores_per_rank > 1 || options->gpus_per_rank > 1)
        return nw_fail(NW_EINVAL, "several cores or GPUs per rank and several "
                                  "ranks per element exclude each other");
    if (nw_pattern_has_gpu(many->pattern) && !nw_many_is_single(options))
        return nw_fail(NW_EUNSUPPORTED,
                       "several ranks per element are mapped by host traffic "
                       "alone, and the pattern has a GPU layer; 'nodewise "
                       "pattern --kind hh' leaves it out");
    for (int i = 0; i < 3; i++)
        if (options->phase[i])
            return nw_fail(NW_EINVAL, "phases place one rank on an element");
    return nw_objectives_check(many->topology, options);
}

static nw_status many_init(struct nw_many *many, const nw_topology *topology,
                           const nw_pattern *pattern,
                           const struct nw_map_options *options)
{
    struct nw_map_options *mine = &many->options;
    nw_status status;

    *many = (struct nw_many){.topology = topology, .pattern = pattern};
    *mine = (struct nw_map_options)NW_MAP_OPTIONS_INIT;
    memcpy(mine, options,
           options->size < sizeof *mine ? options->size : sizeof *mine);
    nw_budget_init(&many->budget, mine); /* the time runs from here */
    status = check_options(many);
    if (!status)
        status = nw_many_choose_hosts(many);
    if (!status)
        status = nw_many_make_graph(many);
    if (!status)
        status = nw_many_make_machine(many);
    return status;
}

static nw_status to_mapping(const struct nw_many *many, const int32_t *part,
                            nw_mapping **out)
{
    nw_mapping *mapping;
    nw_status status = nw_mapping_new(many->topology, many->graph.n, &mapping);

    if (status)
        return status;
    for (int32_t v = 0; v < many->graph.n; v++) {
        int32_t node = many->end[part[v]].node;

        mapping->node[v] = node;
        mapping->core[v] =
            many->element[part[v]] -
            nw_topology_node_elements(many->topology, node).first;
        mapping->gpu[v] = -1;
    }
    *out = mapping;
    return NW_OK;
}

/* The elements in the order of the caller's hosts. */
static nw_status elements_in_order(const struct nw_many *many, int32_t **out)
{
    int32_t *order, at = 0;
    nw_status status = nw_alloc((size_t)many->machine.k, sizeof *order, &order);

    if (status)
        return status;
    for (int32_t i = 0; i < many->host_count; i++) {
        int32_t h = many->order[i];

        for (int32_t q = many->first[h]; q < many->first[h + 1]; q++)
            order[at++] = q;
    }
    *out = order;
    return NW_OK;
}

struct dealing {
    const struct nw_many *many;
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
static bool is_fixed(const struct nw_many *many, int32_t v)
{
    const struct nw_krange *range = many->graph.range;

    return range && range[v].high - range[v].low < many->machine.k;
}

static bool may_deal(const struct dealing *d, int32_t v, int32_t q)
{
    return d->count[q] < d->many->machine.capacity[q] &&
           nw_kmay(&d->many->graph, v, q) &&
           (!d->spare || is_fixed(d->many, v) || d->spare[d->host[q]] > 0);
}

/* Elements in order take ranks in order, each until its share is had. */
static int32_t deal(struct dealing *d, int32_t v)
{
    const struct nw_kmachine *m = &d->many->machine;
    double load = (double)d->many->graph.load[v];

    while (d->at < m->k - 1 &&
           (d->dealt + load / 2 > d->due * (1 + 1e-12) ||
            d->count[d->order[d->at]] >= m->capacity[d->order[d->at]])) {
        d->at++;
        d->due += m->share[d->order[d->at]];
    }
    d->dealt += load;
    for (int32_t i = 0; i < m->k; i++) {
        int32_t q = d->order[(d->at + i) % m->k];

        if (may_deal(d, v, q))
            return q;
    }
    return -1;
}

/* What those need who are fixed, to one element or to a host, is kept for
 * them. */
static nw_status keep_places(struct dealing *d, int32_t *part)
{
    const struct nw_many *many = d->many;
    const struct nw_krange *range = many->graph.range;
    nw_status status;

    for (int32_t v = 0; v < many->graph.n; v++)
        part[v] = -1;
    if (!range)
        return NW_OK;
    status = nw_alloc((size_t)many->machine.k, sizeof *d->host, &d->host);
    if (!status)
        status =
            nw_alloc((size_t)many->host_count, sizeof *d->spare, &d->spare);
    for (int32_t h = 0; !status && h < many->host_count; h++)
        for (int32_t q = many->first[h]; q < many->first[h + 1]; q++) {
            d->host[q] = h;
            d->spare[h] += many->machine.capacity[q];
        }
    for (int32_t v = 0; !status && v < many->graph.n; v++) {
        if (is_fixed(many, v))
            d->spare[d->host[range[v].low]]--;
        if (range[v].high == range[v].low + 1) {
            part[v] = range[v].low;
            d->count[part[v]]++;
        }
    }
    return status;
}

static nw_status deal_all(struct dealing *d, int32_t *part)
{
    const struct nw_kgraph *g = &d->many->graph;

    for (int32_t v = 0; v < g->n; v++) {
        if (part[v] >= 0) {
            d->dealt += (double)g->load[v];
            continue;
        }
        part[v] = deal(d, v);
        if (part[v] < 0)
            return nw_fail_about(NW_FIXED(-1), NW_EINVAL,
                                 "the fixed ranks leave no room for rank %d",
                                 v);
        d->count[part[v]]++;
        if (d->spare && !is_fixed(d->many, v))
            d->spare[d->host[part[v]]]--;
    }
    return NW_OK;
}

static nw_status default_parts(const struct nw_many *many, int32_t *part)
{
    struct dealing d = {.many = many};
    int32_t *order = NULL;
    nw_status status = elements_in_order(many, &order);

    if (!status)
        status = nw_alloc((size_t)many->machine.k, sizeof *d.count, &d.count);
    if (!status)
        status = keep_places(&d, part);
    if (!status) {
        d.order = order;
        d.due = many->machine.share[order[0]];
        status = deal_all(&d, part);
    }
    free(order);
    free(d.count);
    free(d.host);
    free(d.spare);
    return status;
}

/* What is only refined is gone over once at least. */
static struct nw_keffort choose_effort(const struct nw_many *many, bool refined)
{
    static const struct nw_keffort efforts[] = {
        [NW_EFFORT_FAST] = {1, 0, 3, 4, 1, 15},
        [NW_EFFORT_DEFAULT] = {4, 2, 3, 4, 2, 30},
        [NW_EFFORT_STRONG] = {16, 4, 5, 8, 3, 50},
    };
    /* every second start goes by groups, and takes as long as several */
    static const struct nw_keffort grouped[] = {
        [NW_EFFORT_FAST] = {1, 0, 3, 4, 1, 15},
        [NW_EFFORT_DEFAULT] = {3, 1, 3, 4, 2, 30, 6},
        [NW_EFFORT_STRONG] = {8, 4, 5, 8, 3, 50, 16},
    };
    bool groups = many->options.imbalance >= 0 &&
                  nw_kgroups_apply(&many->machine, 0, many->machine.k);
    struct nw_keffort effort =
        (groups ? grouped : efforts)[many->options.effort];

    if (refined) {
        effort.starts = 0;
        effort.cycles += !effort.cycles;
    } else if (effort.starts < 2 && many->options.imbalance < 0) {
        effort.starts = 2;
    }
    return effort;
}

/* Where loads have no limit the fewest elements are one way to begin, all of
 * them, each as full as the others, another. */
static nw_status share_evenly(const struct nw_many *many, double **out)
{
    const struct nw_kmachine *m = &many->machine;
    double load = 0, room = 0;
    nw_status status;

    if (many->options.imbalance >= 0)
        return NW_OK;
    status = nw_alloc((size_t)m->k, sizeof **out, out);
    for (int32_t v = 0; v < many->graph.n; v++)
        load += (double)many->graph.load[v];
    for (int32_t q = 0; q < m->k; q++)
        room += m->capacity[q];
    for (int32_t q = 0; !status && q < m->k; q++)
        (*out)[q] = load * m->capacity[q] / room;
    return status;
}

/* The figures a mapping is judged by: the objective, then what decides between
 * equals. */
static nw_status judge(const struct nw_many *many, const nw_mapping *mapping,
                       double figure[2])
{
    struct nw_cost cost;
    nw_status status =
        nw_cost_evaluate(many->topology, many->pattern, mapping, &cost);

    if (status)
        return status;
    figure[0] = nw_cost_objective(&cost, many->options.objective);
    figure[1] = many->options.has_second
                    ? nw_cost_objective(&cost, many->options.second)
                    : 0;
    nw_cost_fini(&cost);
    return NW_OK;
}

static bool is_within(const struct nw_many *many, const int32_t *part)
{
    struct nw_kstate state;
    bool within = true;

    if (nw_kstate_init(&state, &many->graph, &many->machine, (int32_t *)part))
        return false;
    for (int32_t q = 0; q < many->machine.k; q++)
        within &= !nw_kstate_over(&state, q);
    nw_kstate_fini(&state);
    return within;
}

/* Puts the other in the place of *best where that is better, and frees the
 * worse. */
static nw_status match(const struct nw_many *many, nw_mapping *other,
                       nw_mapping **best, bool *won)
{
    double figure[2][2] = {{0}};
    nw_status status = judge(many, *best, figure[0]);

    if (!status)
        status = judge(many, other, figure[1]);
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

/* The same of what other parts make, where they may be. */
static nw_status rival(const struct nw_many *many, const int32_t *part,
                       nw_mapping **best)
{
    nw_mapping *other = NULL;
    bool won;
    nw_status status;

    if (!is_within(many, part))
        return NW_OK;
    status = to_mapping(many, part, &other);
    return status ? status : match(many, other, best, &won);
}

/* Of the found, the default and the one to begin from the best. Links know no
 * cost before ranks have their GPUs: there the found stays. */
static nw_status choose(const struct nw_many *many, const int32_t *found,
                        const int32_t *const others[2], nw_mapping **out)
{
    nw_mapping *best = NULL;
    nw_status status = to_mapping(many, found, &best);

    for (int i = 0; !status && i < 2; i++)
        if (others[i] && !nw_many_uses_gpus(many))
            status = rival(many, others[i], &best);
    if (status)
        nw_mapping_free(best);
    else
        *out = best;
    return status;
}

/* What --from gives, else the default, or else what keeps every limit. */
static nw_status find(struct nw_many *many, const int32_t *standard,
                      bool refined, nw_mapping **out)
{
    struct nw_krun run = {.graph = &many->graph,
                          .machine = &many->machine,
                          .effort = choose_effort(many, refined),
                          .seed = many->options.seed,
                          .budget = &many->budget,
                          .given = standard};
    size_t n = (size_t)many->graph.n;
    int32_t *found = NULL, *fitted = NULL, *start = NULL;
    double *share = NULL;
    bool fits = false;
    nw_status status = nw_alloc(n, sizeof *found, &found);

    if (!status)
        status = nw_alloc(n, sizeof *fitted, &fitted);
    if (!status)
        status = nw_many_read_start(many, &start);
    if (!status && !start && !is_within(many, standard))
        status = nw_many_fit(many, fitted, &fits);
    if (start || fits)
        run.given = start ? start : fitted;
    if (!status)
        status = share_evenly(many, &share);
    run.share = share;
    if (!status)
        status = nw_kway(&run, found);
    if (!status)
        status =
            choose(many, found, (const int32_t *[2]){standard, start}, out);
    free(found);
    free(fitted);
    free(start);
    free(share);
    return status;
}

/* Phases know the links, and the k-way engine sums over pairs alone. One that
 * finds no room is no candidate. */
static nw_status try_phases(struct nw_many *many, nw_mapping **best)
{
    static const char *const name[] = {"partition", "magc"};
    nw_status status = NW_OK;

    if (many->options.objective == NW_OBJECTIVE_HOP_BYTES ||
        !nw_many_is_even(many))
        return NW_OK;
    for (size_t i = 0; !status && i < sizeof name / sizeof *name; i++) {
        struct nw_map_report report = {0};
        nw_mapping *other = NULL;
        bool won;

        if (nw_budget_is_overdue(&many->budget))
            break;
        status = nw_many_placed(many, name[i], &other, &report);
        if (status == NW_EINVAL)
            status = NW_OK;
        else if (!status)
            status = match(many, other, best, &won);
    }
    return status;
}

/* Ranks in order are asked for by name, and within the limits then. */
static nw_status in_order(const struct nw_many *many, const int32_t *standard,
                          nw_mapping **out)
{
    if (!is_within(many, standard))
        return nw_fail(NW_EINVAL, "ranks in order pass the limit of an "
                                  "element; multilevel would not");
    return to_mapping(many, standard, out);
}

nw_status nw_many_solve(struct nw_many *many, const char *name,
                        nw_mapping **out)
{
    size_t n = (size_t)many->graph.n;
    int32_t *standard = NULL;
    nw_status status = nw_alloc(n, sizeof *standard, &standard);

    if (!status)
        status = default_parts(many, standard);
    if (!status)
        status = strcmp(name, "block")
                     ? find(many, standard, !strcmp(name, "refine"), out)
                     : in_order(many, standard, out);
    if (!status && !strcmp(name, "auto")) {
        status = try_phases(many, out);
        if (status)
            nw_mapping_free(*out);
    }
    free(standard);
    return status;
}

/* How an algorithm answers where elements have parts. */
enum way { BY_PARTS, BY_SEATS, BY_PHASES, NO_WAY };

static const struct {
    const char *name;
    enum way way;
} ways[] = {
    {"auto", BY_PARTS},         {"multilevel", BY_PARTS},
    {"block", BY_PARTS},        {"refine", BY_PARTS},
    {"anneal", BY_SEATS},       {"tabu", BY_SEATS},
    {"exact", BY_SEATS},        {"cyclic", BY_PHASES},
    {"random", BY_PHASES},      {"scotch", BY_PHASES},
    {"rashti", BY_PHASES},      {"partition", BY_PHASES},
    {"magc", BY_PHASES},        {"magc-scotch", BY_PHASES},
    {"magc-greedy", BY_PHASES},
};

static enum way way_of(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (!strcmp(ways[i].name, name))
            return ways[i].way;
    return NO_WAY;
}

static const char *name_of(const struct nw_many *many)
{
    const char *asked = many->options.algorithm;

    if (!asked)
        return "auto";
    return strcmp(asked, "default") ? asked : "block";
}

/* Never worse than the default, but for what is asked for as it is. */
static nw_status place(struct nw_many *many, const char *name, nw_mapping **out,
                       struct nw_map_report *report)
{
    int32_t *standard = NULL;
    nw_mapping *found = NULL;
    nw_status status = nw_many_placed(many, name, &found, report);

    if (!status && !nw_algorithm_find(name)->baseline)
        status = nw_alloc((size_t)many->graph.n, sizeof *standard, &standard);
    if (!status && standard)
        status = default_parts(many, standard);
    if (!status && standard)
        status = rival(many, standard, &found);
    free(standard);
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

/* From the best of all beginnings, and from the k-way engine's. */
static nw_status move_all(struct nw_many *many, nw_mapping **out,
                          struct nw_map_report *report)
{
    struct nw_map_report second = {0};
    nw_mapping *found = NULL, *other = NULL;
    bool won = false;
    nw_status status = nw_many_several(many, "auto", &found, report);

    if (!status && many->options.objective != NW_OBJECTIVE_HOP_BYTES &&
        !report->proven && !many->budget.endless &&
        !nw_budget_is_overdue(&many->budget))
        status = nw_many_several(many, "multilevel", &other, &second);
    if (!status && other)
        status = match(many, other, &found, &won);
    if (won)
        *report = second;
    if (status)
        nw_mapping_free(found);
    else
        *out = found;
    return status;
}

static nw_status run_several(struct nw_many *many, const char *name,
                             nw_mapping **out, struct nw_map_report *report)
{
    enum way way = way_of(name);
    bool seats = nw_many_has_seats(many) && strcmp(name, "block");

    if (way == NO_WAY)
        return nw_fail(NW_EINVAL,
                       "algorithm %s places one rank on an element; several "
                       "are placed by multilevel",
                       name);
    if (way == BY_PHASES)
        return place(many, name, out, report);
    if (way == BY_SEATS && !seats)
        return nw_fail(NW_EINVAL,
                       "%s is for few ranks of one weight where elements take "
                       "several; refine and multilevel are for any",
                       name);
    many->budget.grace_ns = 0; /* all of it looks at the clock */
    if (seats && !strcmp(name, "auto"))
        return move_all(many, out, report);
    if (seats)
        return nw_many_several(many, name, out, report);
    report->algorithm = strcmp(name, "auto") ? name : "multilevel";
    return nw_many_solve(many, name, out);
}

static nw_status run(struct nw_many *many, nw_mapping **out,
                     struct nw_map_report *report)
{
    const char *name = name_of(many);

    if (!nw_many_is_single(&many->options) ||
        (!strcmp(name, "block") && !nw_many_uses_gpus(many)))
        return run_several(many, name, out, report);
    return nw_many_single(many, name, out, report);
}

/* Limits that bind nobody leave a problem like any other. */
static bool is_plain(const struct nw_many *many)
{
    return nw_many_is_single(&many->options) && !nw_many_binds(many);
}

nw_status nw_many_map(const nw_topology *topology, const nw_pattern *pattern,
                      const struct nw_map_options *options, nw_mapping **out,
                      struct nw_map_report *report)
{
    struct nw_map_report mine = {0};
    struct nw_many many;
    nw_status status = many_init(&many, topology, pattern, options);

    if (!status && is_plain(&many)) {
        struct nw_map_options plain = nw_many_without_limits(&many);

        status = nw_map(topology, pattern, &plain, out, report);
        many_fini(&many);
        return status;
    }
    if (!status)
        status = run(&many, out, &mine);
    mine.steps = many.budget.steps;
    mine.hurried = many.budget.hurried;
    if (!status && report)
        *report = mine;
    many_fini(&many);
    return status;
}

/* A launcher knows no limits: where it would give GPUs it is asked without. */
nw_status nw_many_default(const nw_topology *topology,
                          const nw_pattern *pattern,
                          const struct nw_map_options *options,
                          nw_mapping **out)
{
    struct nw_many many;
    int32_t *part = NULL;
    nw_status status = many_init(&many, topology, pattern, options);

    if (!status && (is_plain(&many) || nw_many_uses_gpus(&many))) {
        struct nw_map_options plain = nw_many_without_limits(&many);

        status = nw_map_default(topology, pattern, &plain, out);
        many_fini(&many);
        return status;
    }
    if (!status)
        status = nw_alloc((size_t)many.graph.n, sizeof *part, &part);
    if (!status)
        status = default_parts(&many, part);
    if (!status)
        status = to_mapping(&many, part, out);
    free(part);
    many_fini(&many);
    return status;
}
