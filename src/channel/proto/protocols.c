/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of protocols. No other file knows all protocols. */
#include "channel/proto/protocols.h"

#include "channel/proto/rendezvous.h"

static void protocols_nothing(nw_channel_request *request)
{
    (void)request;
}

const struct nw_protocol nw_protocols[NW_CHANNEL_PROTOCOLS] = {
    [NW_CHANNEL_AUTO] = {nw_eager_post, nw_eager_cleanup, protocols_nothing,
                         protocols_nothing},
    [NW_CHANNEL_GATHER] = {nw_eager_post, nw_eager_cleanup, protocols_nothing,
                           protocols_nothing},
    [NW_CHANNEL_PACK] = {nw_eager_post, nw_eager_cleanup, protocols_nothing,
                         protocols_nothing},
    [NW_CHANNEL_TWO] = {nw_two_post, nw_eager_cleanup, protocols_nothing,
                        protocols_nothing},
    [NW_CHANNEL_RENDEZVOUS] = {nw_rendezvous_post, nw_rendezvous_drop,
                               nw_rendezvous_revoke, nw_rendezvous_drop_grants},
    [NW_CHANNEL_CMA] = {nw_cma_post, nw_cma_cleanup, protocols_nothing,
                        protocols_nothing},
};
