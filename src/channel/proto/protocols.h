/* SPDX-License-Identifier: BSD-3-Clause */
/* One table with the functions of each protocol for its requests. */
#ifndef NW_CHANNEL_PROTO_PROTOCOLS_H
#define NW_CHANNEL_PROTO_PROTOCOLS_H

#include "channel/state.h"

struct nw_protocol {
    /* Hands a send that has its credits to libfabric; a libfabric code. */
    ssize_t (*post)(nw_channel_request *request);
    /* Once it is done and libfabric holds nothing of it: frees what is the
     * protocol's. */
    void (*cleanup)(nw_channel_request *request);
    /* Its peer is given up: what was granted to it is granted no more. */
    void (*revoke)(nw_channel_request *request);
    /* libfabric is closed, and was not done with it. */
    void (*abandon)(nw_channel_request *request);
};

/* By enum nw_channel_protocol; a receive that is not matched has AUTO's. */
extern const struct nw_protocol nw_protocols[NW_CHANNEL_PROTOCOLS];

/* proto/eager.c */
ssize_t nw_eager_post(nw_channel_request *request);
ssize_t nw_two_post(nw_channel_request *request);
void nw_eager_cleanup(nw_channel_request *request);
/* proto/cma.c */
ssize_t nw_cma_post(nw_channel_request *request);
void nw_cma_cleanup(nw_channel_request *request);
/* proto/rendezvous.c */
ssize_t nw_rendezvous_post(nw_channel_request *request);
void nw_rendezvous_drop(nw_channel_request *request);
void nw_rendezvous_revoke(nw_channel_request *request);

#endif
