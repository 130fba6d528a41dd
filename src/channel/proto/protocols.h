/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with the functions of each protocol for its requests. */
#ifndef NW_CHANNEL_PROTO_PROTOCOLS_H
#define NW_CHANNEL_PROTO_PROTOCOLS_H

#include "channel/state.h"

struct nw_protocol {
    /* Passes a send that has its credits to libfabric; returns a libfabric
     * code. */
    ssize_t (*post)(nw_channel_request *request);
    /* Frees the resources of the protocol after the request is done and
     * libfabric no longer uses it. */
    void (*cleanup)(nw_channel_request *request);
    /* Revokes the memory that the request granted to a peer that was given up.
     */
    void (*revoke)(nw_channel_request *request);
    /* Frees the resources of a request that libfabric had not completed when
     * libfabric was closed. */
    void (*abandon)(nw_channel_request *request);
};

/* Indexed by enum nw_channel_protocol; the entry AUTO is for a receive that has
 * not matched a message. */
extern const struct nw_protocol nw_protocols[NW_CHANNEL_PROTOCOLS];

/* proto/eager.c */
ssize_t nw_eager_post(nw_channel_request *request);
ssize_t nw_two_post(nw_channel_request *request);
void nw_eager_cleanup(nw_channel_request *request);
/* proto/cma.c */
ssize_t nw_cma_post(nw_channel_request *request);
void nw_cma_cleanup(nw_channel_request *request);
/* proto/rendezvous_receive.c */
ssize_t nw_rendezvous_post(nw_channel_request *request);
void nw_rendezvous_drop(nw_channel_request *request);
void nw_rendezvous_revoke(nw_channel_request *request);

#endif
