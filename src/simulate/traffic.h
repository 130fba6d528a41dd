/* SPDX-License-Identifier: BSD-3-Clause */
/* All flows of an exchange in memory, over only the links they use. */
#ifndef NW_SIMULATE_TRAFFIC_H
#define NW_SIMULATE_TRAFFIC_H

#include "simulate/exchange.h"

/* Flow f crosses link[row[f]] .. link[row[f + 1] - 1]; a link named twice
 * carries its bytes twice. */
struct nw_traffic {
    int32_t link_count;
    double *bandwidth; /* [link_count] bytes/s, of one direction */
    size_t flow_count;
    double *bytes;   /* [flow_count], more than 0 */
    double *latency; /* [flow_count] s */
    size_t *row;     /* [flow_count + 1] */
    int32_t *link;
    double waiting; /* s: the longest latency of messages without bytes */
};

/* `flows` as nw_exchange_estimate counted them. */
NW_MUST_CHECK nw_status nw_traffic_collect(const struct nw_exchange *exchange,
                                           size_t flows,
                                           struct nw_traffic *out);
void nw_traffic_fini(struct nw_traffic *traffic);

/* Leaves out links that can never limit a flow: all flows of such a link also
 * cross another link that is at most as fast. The rates, and so the times, stay
 * exactly the same. */
NW_MUST_CHECK nw_status nw_traffic_prune(struct nw_traffic *traffic);

/* Parameters for the helper. */
struct nw_play {
    double unit;       /* s: about how long it takes, its unit of time */
    double resolution; /* s: arrivals closer than this are taken as one */
    struct nw_progress *progress;
};
/* Plays the traffic in the helper; *time is when the last flow arrived. */
NW_MUST_CHECK nw_status nw_helper_play(const struct nw_traffic *traffic,
                                       const struct nw_play *play,
                                       double *time);

#endif
