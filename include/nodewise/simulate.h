/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicted time of one exchange: the messages of a pattern start together and
 * share the links of the machine fairly. A training step is a sequence of such
 * exchanges. A separate helper program simulates them with SimGrid. The time
 * can also be estimated from congestion, without the helper.
 */
#ifndef NODEWISE_SIMULATE_H
#define NODEWISE_SIMULATE_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/progress.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* nw_simulate simulates at most this number of flows, unless `force` is set.
 * For more flows, it estimates the time. 16,384 ranks stay below this limit if
 * each has six neighbours and sends from host and GPU memory. */
#define NW_SIMULATE_MOST_FLOWS 200000

/* Options of nw_simulate. Initialise with NW_SIMULATE_OPTIONS_INIT. */
struct nw_simulate_options {
    size_t size;    /* sizeof of this struct */
    uint64_t bytes; /* scale all messages so that the largest has this size;
                       0: as in the pattern */
    bool total;     /* send all bytes of the run at once, instead of one message
                       of mean size on each edge */
    bool estimate;  /* do not simulate */
    bool force;     /* simulate whatever the number of flows */
    struct nw_progress *progress; /* or NULL; cancelling gives NW_ECANCELLED */
};
#define NW_SIMULATE_OPTIONS_INIT                                               \
    {                                                                          \
        .size = sizeof(struct nw_simulate_options)                             \
    }

/* The result of nw_simulate. */
struct nw_simulation {
    double time;       /* s until the last message has arrived */
    double estimate;   /* s: maximum over all messages of route latency plus the
                          largest congestion of the route's links */
    bool simulated;    /* false: time is the estimate */
    double resolution; /* s: arrivals that are closer than this count as
                          simultaneous; 0: all are separate */
    uint64_t flows;    /* messages that cross a link */
    uint64_t bytes;    /* sum over these messages */
    bool has_phases;   /* the pattern is a training step: `time` and `estimate`
                          are sums over its phases, `resolution` is the largest
                          of a phase, `flows` and `bytes` count one round of
                          each phase */
    double phase[NW_PHASE_COUNT]; /* s: time of all rounds of a phase */
};

/* Simulates one exchange of a pattern on a machine. GPU messages start and end
 * at a rank's first GPU, host messages at its first core. Messages within one
 * core or GPU take no time. The phases of a training step
 * (nw_pattern_find_phases) are simulated one after the other: the time of a
 * phase is that of one exchange times its number of rounds. With `bytes` or
 * `total`, the step is one exchange. The same input gives the same answer to
 * the last bit. `options` may be NULL. NW_EUNSUPPORTED: the topology has no
 * links. NW_ENODEV: the helper is not installed. NW_EHELPER: the helper failed.
 * NW_EINVAL: mapping, pattern and topology do not match. */
NW_API NW_MUST_CHECK nw_status nw_simulate(
    const nw_topology *topology, const nw_pattern *pattern,
    const nw_mapping *mapping, const struct nw_simulate_options *options,
    struct nw_simulation *out);

#ifdef __cplusplus
}
#endif
#endif
