/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the time of a pattern under a mapping: estimates it, and then
 * simulates it. The simulation is left out if the options ask for the estimate
 * only, or if there are too many flows and the options do not force it. The
 * phases of a training step are computed one by one, if the options set no
 * message size. */
#include "simulate/traffic.h"

#include <string.h>

/* Up to EXACT_FLOWS flows, each arrival is simulated by itself. With more
 * flows, arrivals that are close in time count as one. They form so few groups
 * that the number of groups times the number of link crossings is about
 * MOST_WORK, but at least FEWEST_STEPS groups. */
#define EXACT_FLOWS 2048
#define MOST_WORK 5e7
#define FEWEST_STEPS 128.0

/* Returns the time in s within which arrivals count as one; 0: each arrival is
 * simulated by itself. */
static double simulate_resolution(const struct nw_traffic *traffic,
                                  double estimate)
{
    double steps = MOST_WORK / (double)traffic->row[traffic->flow_count];

    if (traffic->flow_count <= EXACT_FLOWS)
        return 0;
    return estimate / (steps < FEWEST_STEPS ? FEWEST_STEPS : steps);
}

static nw_status simulate_play(const struct nw_exchange *exchange,
                               const struct nw_simulate_options *options,
                               struct nw_simulation *result)
{
    struct nw_traffic traffic;
    struct nw_play play = {.unit = result->estimate,
                           .progress = options->progress};
    double time = 0;
    nw_status status =
        nw_traffic_collect(exchange, (size_t)result->flows, &traffic);

    if (status)
        return status;
    status = nw_traffic_prune(&traffic);
    play.resolution = simulate_resolution(&traffic, play.unit);
    if (!status && traffic.flow_count)
        status = nw_helper_play(&traffic, &play, &time);
    if (!status) {
        result->time = time > traffic.waiting ? time : traffic.waiting;
        result->resolution = play.resolution;
        result->simulated = true;
    }
    nw_traffic_fini(&traffic);
    return status;
}

static nw_status simulate_exchange(const nw_topology *topology,
                                   const nw_pattern *pattern,
                                   const nw_mapping *mapping,
                                   const struct nw_simulate_options *options,
                                   struct nw_simulation *out)
{
    struct nw_exchange exchange;
    nw_status status = nw_exchange_init(&exchange, topology, pattern, mapping);

    if (status)
        return status;
    nw_exchange_scale(&exchange, options);
    status = nw_exchange_estimate(&exchange, out);
    if (!status && !options->estimate &&
        (options->force || out->flows <= NW_SIMULATE_MOST_FLOWS))
        status = simulate_play(&exchange, options, out);
    nw_exchange_fini(&exchange);
    return status;
}

/* Adds a phase of a training step: `rounds` times the time of one round, or its
 * estimate if the step is not simulated. */
static void simulate_add_phase(const struct nw_simulation *round, int phase,
                               uint64_t rounds, struct nw_simulation *step)
{
    double time = step->simulated ? round->time : round->estimate;

    step->phase[phase] = (double)rounds * time;
    step->time += step->phase[phase];
    step->estimate += (double)rounds * round->estimate;
    step->flows += round->flows;
    step->bytes += round->bytes;
    if (step->simulated && round->resolution > step->resolution)
        step->resolution = round->resolution;
}

/* Computes the time of a training step. The step counts as simulated only if
 * all its phases are. */
static nw_status simulate_phases(const nw_topology *topology,
                                 const struct nw_pattern_phases *phases,
                                 const nw_mapping *mapping,
                                 const struct nw_simulate_options *options,
                                 struct nw_simulation *out)
{
    struct nw_simulation step = {.has_phases = true, .simulated = true};
    struct nw_simulation round[NW_PHASE_COUNT];
    nw_status status = NW_OK;

    for (int p = 0; !status && p < NW_PHASE_COUNT; p++) {
        if (!phases->rounds[p])
            continue;
        status = simulate_exchange(topology, phases->pattern[p], mapping,
                                   options, &round[p]);
        step.simulated = !status && step.simulated && round[p].simulated;
    }
    for (int p = 0; !status && p < NW_PHASE_COUNT; p++)
        if (phases->rounds[p])
            simulate_add_phase(&round[p], p, phases->rounds[p], &step);
    *out = step;
    return status;
}

nw_status nw_simulate(const nw_topology *topology, const nw_pattern *pattern,
                      const nw_mapping *mapping,
                      const struct nw_simulate_options *options,
                      struct nw_simulation *out)
{
    struct nw_simulate_options mine = NW_SIMULATE_OPTIONS_INIT;
    const struct nw_pattern_phases *phases = NULL;
    struct nw_simulation result = {0};
    nw_status status = NW_OK;

    if (options)
        memcpy(&mine, options,
               options->size < sizeof mine ? options->size : sizeof mine);
    if (!mine.bytes && !mine.total)
        status = nw_pattern_find_phases(pattern, &phases);
    if (!status && phases && phases->found)
        status = simulate_phases(topology, phases, mapping, &mine, &result);
    else if (!status)
        status = simulate_exchange(topology, pattern, mapping, &mine, &result);
    if (!status)
        *out = result;
    return status;
}
