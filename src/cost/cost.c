/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the cost of a mapping from scratch. Several threads add up parts
 * (shares) of the edges; the figures are computed from the sums. The costs that
 * searches update step by step must agree with these figures. */
#include <nodewise/cost.h>

#include "base/array.h"
#include "base/parallel.h"
#include "base/status.h"
#include "cost/pricing.h"
#include "cost/edge_cost.h"

#include <stdlib.h>
#include <string.h>

static const char *const objective_names[] = {
#define OBJECTIVE_TEXT(name, text) text,
    NW_OBJECTIVE_LIST(OBJECTIVE_TEXT)
#undef OBJECTIVE_TEXT
};

const char *nw_objective_name(enum nw_objective objective)
{
    return objective_names[objective];
}

bool nw_objective_find(const char *name, enum nw_objective *out)
{
    for (int i = 0; i < NW_OBJECTIVE_COUNT; i++)
        if (!strcmp(name, objective_names[i])) {
            *out = (enum nw_objective)i;
            return true;
        }
    return false;
}

enum layer { LAYER_ALL, LAYER_HOST, LAYER_GPU, LAYER_COUNT };

/* The layer to which each kind of flow belongs. Messages between a host and a
 * GPU count only in the sum of all layers. */
static const enum layer layer_of[NW_FLOW_LAYERS] = {LAYER_HOST, LAYER_GPU,
                                                    LAYER_ALL};

/* Maximum number of shares, since each share has sums for every link. */
#define SHARES_MOST 8

/* The evaluation of one exchange. A thread claims a share by taken[t] and adds
 * slices of the edges to it. */
struct evaluation {
    struct nw_edge_cost_common of;
    int32_t shares;
    bool taken[SHARES_MOST];
    struct nw_edge_cost share[SHARES_MOST];
    nw_status status[SHARES_MOST];
    double *load[LAYER_COUNT]; /* [2 x links] load: first in bytes, then in s */
    struct nw_cost *cost;
    double value[NW_FLOW_LAYERS]; /* fractional hop-bytes of each layer */
};

/* Adds one slice of the edges to a share (sums over some of the edges) to which
 * no other thread adds at present. A share is initialised at its first use,
 * with the latencies of the first share; a share that no thread claims stays
 * empty. */
static void take_slice(void *user, int32_t slice)
{
    struct evaluation *work = user;
    int32_t t = nw_parallel_claim(work->taken, work->shares);
    struct nw_edge_cost *share = &work->share[t];
    nw_status *status = &work->status[t];

    if (!*status && !share->of)
        *status = nw_edge_cost_init(share, &work->of, &work->share[0]);
    if (!*status)
        *status = nw_edge_cost_add(share, slice);
    nw_parallel_release(work->taken, t);
}

static nw_status take_shares(struct evaluation *work)
{
    nw_status status = nw_edge_cost_init(&work->share[0], &work->of, NULL);

    if (!status)
        nw_parallel_run(take_slice, work, work->of.slices, work->shares);
    for (int32_t t = 0; !status && t < work->shares; t++)
        status = work->status[t];
    for (int32_t t = 1; !status && t < work->shares; t++)
        if (work->share[t].of)
            status = nw_edge_cost_merge(&work->share[0], &work->share[t]);
    return status ? status : nw_edge_cost_finish(&work->share[0]);
}

static void drop_shares(struct evaluation *work)
{
    for (int32_t t = work->shares; t-- > 0;) {
        nw_edge_cost_fini(&work->share[t]);
        work->status[t] = NW_OK;
    }
    memset(work->of.value, 0, sizeof work->of.value);
    memset(work->of.latency, 0, sizeof work->of.latency);
}

/* Adds up all edges. If a share fails, this thread repeats all work with one
 * share and without the 64-bit sums of intranode.h. That succeeds if only such
 * a sum overflowed. Otherwise the remaining error is that of this thread, so
 * its message is available. */
static nw_status share_all(struct evaluation *work)
{
    nw_status status;

    work->shares =
        work->of.threads < work->of.slices ? work->of.threads : work->of.slices;
    if (work->shares > SHARES_MOST)
        work->shares = SHARES_MOST;
    status = take_shares(work);
    if (!status)
        return NW_OK;
    drop_shares(work);
    work->shares = 1;
    work->of.each_edge = true;
    return take_shares(work);
}

/* Moves the sums of the first share, into which all others were merged, to the
 * cost. */
static void take_sums(struct evaluation *work)
{
    struct nw_cost *cost = work->cost;
    struct nw_edge_cost *share = &work->share[0];

    cost->level_count = nw_topology_level_count(work->of.topology);
    for (int i = 0; i < 2; i++) {
        cost->level_bytes[i] = share->level_bytes[i];
        cost->level_messages[i] = share->level_messages[i];
        share->level_bytes[i] = share->level_messages[i] = NULL;
    }
    for (int32_t s = 0; s < work->of.slices; s++) {
        cost->latency += work->of.latency[s];
        for (int i = 0; i < NW_FLOW_LAYERS; i++)
            work->value[i] += work->of.value[s][i];
    }
}

/* An input with fewer links and fewer edges than this is small. */
#define LITTLE 65536

/* The largest load of each part of the links, in seconds, and the link and
 * direction that has it. */
struct congesting {
    const nw_topology *topology;
    double *load;
    double most[NW_PARALLEL_RANGES];
    int32_t where[NW_PARALLEL_RANGES];
};

static void congest_part(void *user, int32_t part)
{
    struct congesting *work = user;
    struct nw_parallel_range mine =
        nw_parallel_range(nw_topology_link_count(work->topology), part);
    double *load = work->load;

    work->where[part] = -1;
    for (int32_t l = (int32_t)mine.first; l < mine.end; l++) {
        struct nw_link_info link;

        if (load[2 * l] == 0 && load[2 * l + 1] == 0)
            continue;
        link = nw_topology_link(work->topology, l);
        for (int d = 0; d < 2; d++) {
            load[2 * l + d] /= link.bandwidth[d];
            if (load[2 * l + d] > work->most[part]) {
                work->most[part] = load[2 * l + d];
                work->where[part] = 2 * l + d;
            }
        }
    }
}

/* Converts link loads from bytes to seconds in place. Returns the largest load.
 * *where is the first link that has it, as 2 x link + direction, or -1 if all
 * loads are 0. */
static double cost_congest(const struct evaluation *work, double *load,
                           int32_t *where)
{
    struct congesting parts = {.topology = work->of.topology, .load = load};
    double most = 0;

    *where = -1;
    nw_parallel_run(congest_part, &parts, NW_PARALLEL_RANGES, work->of.threads);
    for (int i = 0; i < NW_PARALLEL_RANGES; i++)
        if (parts.most[i] > most) {
            most = parts.most[i];
            *where = parts.where[i];
        }
    return most;
}

/* Computes link loads and their maximum for each layer and for all layers
 * together. If only one layer is used, its loads are those of all layers, so
 * that they are not computed twice. */
static void congest_layers(struct evaluation *work)
{
    struct nw_link_bytes *link_bytes = &work->share[0].link_bytes;
    struct nw_cost *cost = work->cost;
    int only = nw_link_bytes_only(link_bytes);
    double **load = work->load;
    int32_t ignored;

    if (only >= 0) {
        nw_link_bytes_load(link_bytes, only, load[LAYER_ALL]);
    } else {
        for (int i = 0; i < NW_FLOW_LAYERS; i++)
            nw_link_bytes_load(link_bytes, i, load[layer_of[i]]);
        nw_link_bytes_load(link_bytes, NW_FLOW_LAYERS, load[LAYER_ALL]);
    }
    cost->max_congestion =
        cost_congest(work, load[LAYER_ALL], &cost->max_congestion_link);
    if (only >= 0) {
        if (layer_of[only] == LAYER_HOST)
            cost->max_congestion_host = cost->max_congestion;
        if (layer_of[only] == LAYER_GPU)
            cost->max_congestion_gpu = cost->max_congestion;
        return;
    }
    cost->max_congestion_host = cost_congest(work, load[LAYER_HOST], &ignored);
    cost->max_congestion_gpu = cost_congest(work, load[LAYER_GPU], &ignored);
}

/* Adds up the hop-bytes of each layer, and of all layers. */
static nw_status sum_layers(struct evaluation *work)
{
    struct nw_cost *cost = work->cost;
    struct nw_sum *sums[LAYER_COUNT] = {&cost->hop_bytes, &cost->host_hop_bytes,
                                        &cost->gpu_hop_bytes};
    const nw_uint128 *exact = work->share[0].exact;

    for (int layer = 0; layer < NW_FLOW_LAYERS; layer++) {
        struct nw_sum *mine = sums[layer_of[layer]], *all = &cost->hop_bytes;

        if (mine != all)
            *mine = (struct nw_sum){.exact = exact[layer],
                                    .value = work->value[layer]};
        all->value += work->value[layer];
        if (__builtin_add_overflow(all->exact, exact[layer], &all->exact))
            return nw_fail_about(NW_SUMMED, NW_EFORMAT, "hop-bytes pass 2^128");
    }
    for (int i = 0; i < LAYER_COUNT; i++) {
        sums[i]->integral = work->of.integral;
        if (work->of.integral)
            sums[i]->value = (double)sums[i]->exact;
    }
    return NW_OK;
}

static nw_status cost_finish(struct evaluation *work)
{
    const nw_topology *topology = work->of.topology;
    size_t links = (size_t)nw_topology_link_count(topology);
    struct nw_cost *cost = work->cost;
    int layers =
        nw_link_bytes_only(&work->share[0].link_bytes) < 0 ? LAYER_COUNT : 1;
    nw_status status = NW_OK;

    cost->max_congestion_link = -1;
    cost->has_congestion = work->of.has_links;
    if (!cost->has_congestion)
        return NW_OK;
    for (int layer = 0; !status && layer < layers; layer++)
        status = nw_parallel_alloc(2 * links, sizeof(double), work->of.threads,
                                   &work->load[layer]);
    if (status)
        return status;
    congest_layers(work);
    cost->link_count = (int32_t)links;
    cost->link_congestion = work->load[LAYER_ALL];
    for (int32_t i = 0; i < 2 * cost->link_count; i++)
        cost->busy += cost->link_congestion[i];
    cost->time =
        cost->max_congestion +
        (cost->busy + cost->latency) / (double)work->of.pattern->rank_count;
    work->load[LAYER_ALL] = NULL;
    return NW_OK;
}

static void cost_release(struct evaluation *work)
{
    for (int layer = 0; layer < LAYER_COUNT; layer++)
        free(work->load[layer]);
    drop_shares(work);
    nw_edge_cost_common_fini(&work->of);
}

/* Returns the number of threads: one for small inputs, because starting threads
 * would take longer than the work. */
static int32_t threads_for(const struct nw_pricing *pricing)
{
    bool little = nw_topology_link_count(pricing->topology) < LITTLE &&
                  pricing->pattern->edge_count < LITTLE;

    return little ? 1 : nw_parallel_size(pricing->threads);
}

struct opening {
    const struct nw_pricing *pricing;
    struct nw_edge_cost_common *of;
};

static nw_status find_ends(void *user)
{
    const struct opening *opening = user;
    const struct nw_pricing *pricing = opening->pricing;

    return nw_endpoints_find(pricing->topology, pricing->pattern,
                             pricing->mapping, &opening->of->ends);
}

static nw_status init_shared(void *user)
{
    const struct opening *opening = user;

    return nw_edge_cost_common_init(opening->of);
}

static nw_status open_both(const struct nw_pricing *pricing,
                           struct nw_edge_cost_common *of)
{
    struct opening opening = {pricing, of};
    struct nw_parallel_task both[] = {{.run = find_ends, .user = &opening},
                                      {.run = init_shared, .user = &opening}};

    return nw_parallel_pair(both, of->threads);
}

static nw_status cost_price_exchange(const struct nw_pricing *pricing,
                                     struct nw_cost *out)
{
    struct nw_cost cost = {0};
    struct evaluation work = {.of = {.topology = pricing->topology,
                                     .pattern = pricing->pattern,
                                     .threads = threads_for(pricing)},
                              .cost = &cost};
    nw_status status = open_both(pricing, &work.of);

    cost.remote_gpus = work.of.ends.remote_gpus;
    if (!status)
        status = share_all(&work);
    if (!status) {
        take_sums(&work);
        status = sum_layers(&work);
    }
    if (!status)
        status = cost_finish(&work);
    if (status)
        nw_cost_fini(&cost);
    else
        *out = cost;
    cost_release(&work);
    return status;
}

/* Returns the model's time of a phase: the time in which the most loaded link
 * carries all its bytes, and the mean latency of a message for each round. */
static double cost_phase_time(const struct nw_cost *cost, uint64_t rounds)
{
    double messages = 0;

    for (int32_t l = 0; l < cost->level_count; l++)
        messages += (double)cost->level_messages[0][l] +
                    (double)cost->level_messages[1][l];
    return cost->max_congestion + (double)rounds * cost->latency / messages;
}

static nw_status cost_price_phase(const struct nw_pricing *pricing,
                                  const nw_pattern *pattern, uint64_t rounds,
                                  struct nw_cost *phase)
{
    struct nw_pricing mine = *pricing;
    nw_status status;

    mine.pattern = pattern;
    status = cost_price_exchange(&mine, phase);
    if (status)
        return status;
    free(phase->link_congestion); /* an array for each phase would take much
                                     memory */
    phase->link_congestion = NULL;
    phase->link_count = 0;
    if (phase->has_congestion)
        phase->time = cost_phase_time(phase, rounds);
    return NW_OK;
}

/* Computes the cost of each phase of a training step. The time of the step
 * becomes the sum of their times, since the phases follow one another. */
static nw_status cost_sum_phases(const struct nw_pricing *pricing,
                                 const struct nw_pattern_phases *phases,
                                 struct nw_cost *cost)
{
    nw_status status =
        nw_alloc(NW_PHASE_COUNT, sizeof *cost->phase, &cost->phase);

    cost->has_phases = cost->has_congestion;
    cost->time = 0;
    for (int p = 0; !status && p < NW_PHASE_COUNT; p++) {
        if (!phases->pattern[p])
            continue;
        status = cost_price_phase(pricing, phases->pattern[p],
                                  phases->rounds[p], &cost->phase[p]);
        cost->time += cost->phase[p].time;
    }
    return status;
}

nw_status nw_cost_price(const struct nw_pricing *pricing, struct nw_cost *out)
{
    const struct nw_pattern_phases *phases;
    struct nw_cost cost = {0};
    nw_status status = nw_pattern_find_phases(pricing->pattern, &phases);

    if (!status)
        status = cost_price_exchange(pricing, &cost);
    if (!status && phases->found)
        status = cost_sum_phases(pricing, phases, &cost);
    if (status)
        nw_cost_fini(&cost);
    else
        *out = cost;
    return status;
}

nw_status nw_cost_evaluate(const nw_topology *topology,
                           const nw_pattern *pattern, const nw_mapping *mapping,
                           struct nw_cost *out)
{
    return nw_cost_price(&(struct nw_pricing){topology, pattern, mapping, 0},
                         out);
}

void nw_cost_fini(struct nw_cost *cost)
{
    for (int i = 0; i < 2; i++) {
        free(cost->level_bytes[i]);
        free(cost->level_messages[i]);
    }
    free(cost->link_congestion);
    for (int p = 0; cost->phase && p < NW_PHASE_COUNT; p++)
        nw_cost_fini(&cost->phase[p]);
    free(cost->phase);
    *cost = (struct nw_cost){0};
}

/* Stores a copy of the array `from` in the pointer at `to`. Does nothing if
 * `from` is NULL. */
static nw_status copy_array(void *to, const void *from, size_t bytes)
{
    void *copy;
    nw_status status = from ? nw_alloc(bytes, 1, &copy) : NW_OK;

    if (status || !from)
        return status;
    memcpy(copy, from, bytes);
    memcpy(to, &copy, sizeof copy);
    return NW_OK;
}

nw_status nw_cost_copy(const struct nw_cost *cost, struct nw_cost *out)
{
    struct nw_cost copy = *cost;
    size_t levels = (size_t)cost->level_count * sizeof(uint64_t);
    size_t links = 2 * (size_t)cost->link_count * sizeof(double);
    nw_status status = NW_OK;

    copy.phase = NULL;
    copy.link_congestion = NULL;
    copy.level_bytes[0] = copy.level_bytes[1] = NULL;
    copy.level_messages[0] = copy.level_messages[1] = NULL;
    for (int i = 0; !status && i < 2; i++) {
        status = copy_array(&copy.level_bytes[i], cost->level_bytes[i], levels);
        if (!status)
            status = copy_array(&copy.level_messages[i],
                                cost->level_messages[i], levels);
    }
    if (!status)
        status =
            copy_array(&copy.link_congestion, cost->link_congestion, links);
    if (!status && cost->phase)
        status = nw_alloc(NW_PHASE_COUNT, sizeof *copy.phase, &copy.phase);
    for (int p = 0; !status && cost->phase && p < NW_PHASE_COUNT; p++)
        status = nw_cost_copy(&cost->phase[p], &copy.phase[p]);
    if (status)
        nw_cost_fini(&copy);
    else
        *out = copy;
    return status;
}

double nw_cost_objective(const struct nw_cost *cost,
                         enum nw_objective objective)
{
    switch (objective) {
    case NW_OBJECTIVE_CONGESTION:
        return cost->max_congestion;
    case NW_OBJECTIVE_LATENCY:
        return cost->latency;
    case NW_OBJECTIVE_TIME:
        return cost->time;
    default:
        return cost->hop_bytes.value;
    }
}

uint64_t nw_cost_exchanges(const nw_pattern *pattern,
                           const struct nw_cost *cost)
{
    uint64_t most = 1;

    for (size_t e = 0; !cost->has_phases && e < pattern->edge_count; e++)
        if (pattern->messages[e] > most)
            most = pattern->messages[e];
    return most;
}
