/* SPDX-License-Identifier: BSD-3-Clause */
/* One exchange from the three nouns to its time: estimate, and where it is
 * wanted and not too much, simulate. */
#include "simulate/traffic.h"

#include <string.h>

/* Up to here every arrival is played by itself; beyond, the cost of a
 * simulation (arrivals times crossings of a link) is bounded. */
#define EXACT_FLOWS 2048
#define MOST_WORK 5e7
#define FEWEST_STEPS 128.0

static double resolution(const struct nw_traffic *traffic, double estimate)
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
    play.resolution = resolution(&traffic, play.unit);
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

nw_status nw_simulate(const nw_topology *topology, const nw_pattern *pattern,
                      const nw_mapping *mapping,
                      const struct nw_simulate_options *options,
                      struct nw_simulation *out)
{
    struct nw_simulate_options mine = NW_SIMULATE_OPTIONS_INIT;
    struct nw_exchange exchange;
    struct nw_simulation result;
    nw_status status;

    if (options)
        memcpy(&mine, options,
               options->size < sizeof mine ? options->size : sizeof mine);
    status = nw_exchange_init(&exchange, topology, pattern, mapping);
    if (status)
        return status;
    nw_exchange_scale(&exchange, &mine);
    status = nw_exchange_estimate(&exchange, &result);
    if (!status && !mine.estimate &&
        (mine.force || result.flows <= NW_SIMULATE_MOST_FLOWS))
        status = simulate_play(&exchange, &mine, &result);
    nw_exchange_fini(&exchange);
    if (!status)
        *out = result;
    return status;
}
