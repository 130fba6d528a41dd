/* SPDX-License-Identifier: BSD-3-Clause */
/* A table with the functions of each protocol. */
#ifndef NW_CHANNEL_PROTO_PROTOCOLS_H
#define NW_CHANNEL_PROTO_PROTOCOLS_H

#include "channel/state.h"

struct nw_protocol {
    /* Passes a send to libfabric. The caller has checked that the peer has
     * given enough credits. Returns 0 or a negative libfabric error code. */
    ssize_t (*post)(nw_channel_request *request);
    /* Frees the resources that the protocol holds for a request. Called after
     * the request is done and libfabric no longer uses it. */
    void (*cleanup)(nw_channel_request *request);
    /* Unregisters the memory that the request has granted to a peer, after that
     * peer was given up as lost. */
    void (*revoke)(nw_channel_request *request);
    /* Frees the resources of a request that was still in flight when libfabric
     * was closed. */
    void (*abandon)(nw_channel_request *request);
};

/* Indexed by enum nw_channel_protocol. The row for NW_CHANNEL_AUTO is used for
 * receives that have not matched a message yet, so that their protocol is open.
 */
extern const struct nw_protocol nw_protocols[NW_CHANNEL_PROTOCOLS];

/* Functions of proto/eager.c: eager messages. */
ssize_t nw_eager_post(nw_channel_request *request);
ssize_t nw_two_post(nw_channel_request *request);
void nw_eager_cleanup(nw_channel_request *request);
/* Functions of proto/cma.c: messages that the receiver reads. */
ssize_t nw_cma_post(nw_channel_request *request);
void nw_cma_cleanup(nw_channel_request *request);
/* Functions of proto/rendezvous_receive.c: rendezvous. */
ssize_t nw_rendezvous_post(nw_channel_request *request);
void nw_rendezvous_drop(nw_channel_request *request);
void nw_rendezvous_revoke(nw_channel_request *request);

#endif
