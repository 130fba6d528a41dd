/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that sender and receiver of a rendezvous share: for staging pieces,
 * for registered GPU memory, and for failure. */
#include "channel/proto/rendezvous.h"

struct nw_piece *nw_piece_unused(struct nw_piece *pieces)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (!pieces[i].request)
            return &pieces[i];
    return NULL;
}

/* Takes a staging piece from a request that filled it before its grant arrived,
 * since another request needs a piece now. The former request will copy its
 * bytes again later. Returns NULL if no request has such a piece. */
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
