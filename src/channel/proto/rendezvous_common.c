/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for both the sender and the receiver of a rendezvous: staging
 * pieces, registered GPU memory, and failure. */
#include "channel/proto/rendezvous.h"

struct nw_piece *nw_piece_unused(struct nw_piece *pieces)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (!pieces[i].request)
            return &pieces[i];
    return NULL;
}

/* Takes back a piece that was filled in advance, for a request that needs one
 * now. */
static struct nw_piece *piece_ahead(struct nw_piece *pieces)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (pieces[i].request->ahead == &pieces[i]) {
            pieces[i].request->ahead = NULL;
            return &pieces[i];
        }
    return NULL;
}

struct nw_piece *nw_piece_take(struct nw_piece *pieces,
                               nw_channel_request *request)
{
    struct nw_piece *piece = nw_piece_unused(pieces);

    if (!piece)
        piece = piece_ahead(pieces);
    if (piece)
        piece->request = request;
    return piece;
}

void nw_rendezvous_fail(nw_channel_request *request, uint64_t theirs,
                        nw_status status)
{
    request->abort = theirs;
    nw_request_finish(request, status);
}

nw_status nw_rendezvous_keep_region(nw_channel_request *request)
{
    int f = request->peer->fabric;
    nw_status status = NW_OK;

    if (!request->kept)
        status = nw_rcache_take(&request->channel->regions[f],
                                nw_rendezvous_fabric(request),
                                &request->message, &request->kept);
    request->staged = status == NW_EIO;
    return request->staged ? NW_OK : status;
}
