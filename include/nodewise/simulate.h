/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicted time of one exchange: the messages of a pattern start together
 * and share the links of the machine fairly. A training step is a sequence of
 * such exchanges. SimGrid plays them, in a helper
 * program of its own; without it there is still an estimate from congestion.
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

/* More flows than this are estimated instead of simulated, unless forced:
 * 16,384 ranks with six neighbours on host and GPU stay below it. */
#define NW_SIMULATE_MOST_FLOWS 200000

struct nw_simulate_options {
    size_t size;    /* sizeof of this struct */
    uint64_t bytes; /* scale all messages so that the largest has this size;
                       0: as in the pattern */
    bool total;     /* all bytes of the run at once, instead of one message
                       of mean size an edge */
    bool estimate;  /* do not simulate */
    bool force;     /* simulate whatever the number of flows */
    struct nw_progress *progress; /* or NULL; cancelling gives NW_ECANCELLED */
};
#define NW_SIMULATE_OPTIONS_INIT                                               \
    {                                                                          \
        .size = sizeof(struct nw_simulate_options)                             \
    }

struct nw_simulation {
    double time;       /* s until the last message has arrived */
    double estimate;   /* s: the most, over all messages, of route latency plus
                          the largest congestion among the route's links */
    bool simulated;    /* false: time is the estimate */
    double resolution; /* s: arrivals closer than this were taken as one; 0
                          where each was played by itself */
    uint64_t flows;    /* messages that cross a link */
    uint64_t bytes;    /* of these */
    bool has_phases;   /* the pattern is a training step, and `time` and
                          `estimate` are sums over its phases; `resolution` is
                          the largest, `flows` and `bytes` are those of one round
                          of each phase */
    double phase[NW_PHASE_COUNT]; /* s: time of all rounds of each phase */
};

/* Every edge with an end on a GPU goes to or from the rank's first GPU, every
 * other end is the rank's first core. Messages within one core or GPU cost
 * nothing. The phases of a training step (nw_pattern_find_phases) are simulated
 * one after the other, each as its rounds times one exchange; with `bytes` or
 * `total`, the step is one exchange. The same input gives the same answer to
 * the last bit. `options` may be NULL. NW_EUNSUPPORTED where the topology has
 * no links, NW_ENODEV where the helper is not installed, NW_EHELPER where it
 * failed, NW_EINVAL where mapping, pattern and topology do not fit. */
NW_API NW_MUST_CHECK nw_status nw_simulate(
    const nw_topology *topology, const nw_pattern *pattern,
    const nw_mapping *mapping, const struct nw_simulate_options *options,
    struct nw_simulation *out);

#ifdef __cplusplus
}
#endif
#endif
