/* SPDX-License-Identifier: BSD-3-Clause */
/* All flows of an exchange that have bytes, with only the links that they use.
 */
#ifndef NW_SIMULATE_TRAFFIC_H
#define NW_SIMULATE_TRAFFIC_H

#include "simulate/exchange.h"

/* Flow f crosses link[row[f]] to link[row[f + 1] - 1]; a link that occurs twice
 * carries the flow's bytes twice. */
struct nw_traffic {
    int32_t link_count;
    double *bandwidth; /* [link_count] bytes/s; a "link" is one direction of
                          a link of the machine */
    size_t flow_count;
    double *bytes;   /* [flow_count], more than 0 */
    double *latency; /* [flow_count] latency of the flow's route in s */
    size_t *row;     /* [flow_count + 1] */
    int32_t *link;
    double waiting; /* longest latency in s of messages without bytes */
};

/* Collects the flows. `flows` is their number, as nw_exchange_estimate counted
 * them. The caller calls nw_traffic_fini. */
NW_MUST_CHECK nw_status nw_traffic_collect(const struct nw_exchange *exchange,
                                           size_t flows,
                                           struct nw_traffic *out);
void nw_traffic_fini(struct nw_traffic *traffic);

/* Removes links that can never limit a flow, because they have no flows, or all
 * their flows cross another link that is at most as fast. Rates and times do
 * not change. */
NW_MUST_CHECK nw_status nw_traffic_prune(struct nw_traffic *traffic);

/* Parameters of the simulation for the helper program. */
struct nw_play {
    double unit;       /* estimated duration in s, which the helper uses as its
                          unit of time */
    double resolution; /* in s; arrivals that are closer in time than this
                          count as one */
    struct nw_progress *progress;
};
/* Simulates the traffic in the program nodewise-simgrid; *time is the time in s
 * at which the last flow arrives. */
NW_MUST_CHECK nw_status nw_helper_play(const struct nw_traffic *traffic,
                                       const struct nw_play *play,
                                       double *time);

#endif
