/* SPDX-License-Identifier: BSD-3-Clause */
/* The receiver's side of a rendezvous. The receiver grants memory by a CTS; the
 * sender writes into it (proto/rendezvous_send.c) and sends a DONE. If the NIC
 * can write to the receive buffer, the whole buffer is granted at once. If it
 * cannot write to GPU memory, staging pieces (pinned host memory) are granted
 * one by one, and their bytes are copied to GPU memory when they have arrived.
 */
#include "channel/proto/rendezvous.h"
#include "channel/proto/ipc.h"
#include "channel/proto/protocols.h"

#include "base/status.h"
#include "base/text.h"

#include <stdio.h>

void nw_rendezvous_aborted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *abort)
{
    nw_channel_request *request = nw_request_by_id(channel, abort->id);

    if (request && request->peer == peer)
        nw_request_finish(
            request,
            nw_fail(NW_EIO, "rank %d failed during this message", peer->rank));
}

/* -- the receiver -- */

/* Sets the address and key in a CTS that grants `memory`, a part of the memory
 * that the request has registered with libfabric. */
static void name_room(const nw_channel_request *request, const void *memory,
                      struct nw_wire *cts)
{
    struct nw_endpoint *fabric = nw_rendezvous_fabric(request);

    if (request->kept) {
        cts->address = nw_region_address(fabric, request->kept, memory);
        cts->key = fi_mr_key(request->kept->mr);
    } else if (request->region) {
        cts->address = nw_endpoint_address(fabric, memory);
        cts->key = fi_mr_key(request->region);
    }
}

static void send_cts(nw_channel_request *request, struct nw_wire *cts)
{
    cts->kind = NW_WIRE_CTS;
    cts->id = request->remote;
    cts->to = request->id;
    cts->offset = request->granted;
    cts->order = request->cannot_read;
    cts->tag = request->granted + cts->bytes == request->total;
    request->granted += cts->bytes;
    nw_send_control(request->peer, request->channel, cts);
}

static void send_grant(nw_channel_request *request, uint64_t bytes,
                       const void *memory)
{
    struct nw_wire cts = {.bytes = bytes};

    name_room(request, memory, &cts);
    send_cts(request, &cts);
}

static nw_status grant_whole(nw_channel_request *request)
{
    /* the buffer of an empty message may be an invalid pointer */
    void *memory = request->total ? request->message.buffer : NULL;
    nw_status status = NW_OK;

    if (request->total && request->gpu < 0)
        status = nw_endpoint_register(nw_rendezvous_fabric(request), memory,
                                      request->total, &request->region);
    if (!status)
        send_grant(request, request->total, memory);
    return status;
}

static nw_status grant_piece(nw_channel_request *request,
                             struct nw_piece *piece)
{
    struct fid_mr **region = &piece->region[request->peer->fabric];
    uint64_t left = request->total - request->granted;
    struct nw_wire cts = {0};
    nw_status status = NW_OK;

    if (!*region)
        status = nw_endpoint_register(nw_rendezvous_fabric(request),
                                      piece->memory, NW_PIECE_BYTES, region);
    if (status) {
        piece->request = NULL;
        return status;
    }
    piece->offset = request->granted;
    piece->bytes = left < NW_PIECE_BYTES ? left : NW_PIECE_BYTES;
    cts.bytes = piece->bytes;
    cts.address =
        nw_endpoint_address(nw_rendezvous_fabric(request), piece->memory);
    cts.key = fi_mr_key(*region);
    send_cts(request, &cts);
    return NW_OK;
}

static bool has_pieces(const nw_channel_request *request)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (request->channel->in[i].request == request)
            return true;
    return false;
}

/* Notes the error of a receive through staging pieces. The receive ends with
 * this error when the sender has filled all pieces granted so far. */
static void fail_staged(nw_channel_request *request, nw_status status)
{
    if (!request->failing)
        snprintf(request->text, sizeof request->text, "%s", nw_error_text());
    if (!request->failing)
        request->failing = status;
    nw_list_remove(request);
    if (has_pieces(request))
        return;
    (void)nw_fail(request->failing, "%s", request->text);
    nw_rendezvous_fail(request, request->remote, request->failing);
}

/* Grants free staging pieces to the sender until the whole message is granted.
 * If too few are free, the request waits for more in the list channel->starved.
 */
static void grant_pieces(nw_channel_request *request)
{
    struct nw_piece *piece = NULL;
    nw_status status = NW_OK;

    while (!status && !request->peer->lost &&
           request->granted < request->total &&
           (piece = nw_piece_take(request->channel->in, request)))
        status = grant_piece(request, piece);
    if (status) {
        fail_staged(request, status);
        return;
    }
    if (request->peer->lost)
        return;
    if (request->granted < request->total && !request->list)
        nw_list_add(&request->channel->starved, request);
    else if (request->granted == request->total)
        nw_list_remove(request);
}

static void rendezvous_receive_grant(nw_channel_request *request)
{
    bool gpu = request->total && request->gpu >= 0;
    nw_status status = NW_OK;

    if (gpu && !nw_rendezvous_is_staged(request))
        status = nw_rendezvous_keep_region(request);
    if (!status && gpu && nw_rendezvous_is_staged(request)) {
        grant_pieces(request);
        return;
    }
    if (!status)
        status = grant_whole(request);
    if (status)
        nw_rendezvous_fail(request, request->remote, status);
}

void nw_rendezvous_accept(nw_channel_request *request,
                          const struct nw_wire *rts)
{
    nw_status status = nw_request_know(request);

    request->remote = rts->id;
    request->total = rts->bytes < request->message.bytes
                         ? rts->bytes
                         : request->message.bytes;
    request->opening = rts->kind == NW_WIRE_ASK;
    if (status)
        nw_rendezvous_fail(request, request->remote, status);
    else if (!nw_ipc_offer(request))
        rendezvous_receive_grant(request);
}

static struct nw_piece *piece_at(nw_channel_request *request, uint64_t offset)
{
    struct nw_piece *pieces = request->channel->in;

    for (int i = 0; i < NW_PIECES; i++)
        if (pieces[i].request == request && pieces[i].offset == offset)
            return &pieces[i];
    return NULL;
}

/* For a DONE: if it reports that a staging piece was filled, copies the bytes
 * of the piece into GPU memory and frees the piece; *status gets the result of
 * the copy. Returns false if `done` matches no grant of the request. */
static bool rendezvous_take(nw_channel_request *request,
                            const struct nw_wire *done, nw_status *status)
{
    struct nw_piece *piece;

    if (request->offered)
        return !done->offset && done->bytes == request->total;
    if (!nw_rendezvous_is_staged(request) || !request->total)
        return !done->offset && done->bytes == request->total;
    piece = piece_at(request, done->offset);
    if (!piece || piece->bytes != done->bytes)
        return false;
    if (!request->failing)
        *status = nw_memory_copy_in(
            request->gpu, (char *)request->message.buffer + done->offset,
            piece->memory, done->bytes);
    piece->request = NULL;
    return true;
}

void nw_rendezvous_filled(nw_channel *channel, struct nw_peer *peer,
                          const struct nw_wire *done)
{
    nw_channel_request *request = nw_request_by_id(channel, done->id);
    nw_status status = NW_OK;

    if (!request)
        return; /* the receive has already ended with an error */
    if (request->offered && request->peer == peer && !done->bytes) {
        peer->refuses = done->order;
        request->offered = false;
        rendezvous_receive_grant(request);
        return;
    }
    if (request->is_send || request->peer != peer ||
        !rendezvous_take(request, done, &status)) {
        channel->counts.malformed++;
        nw_peer_lose(channel, peer);
        return;
    }
    request->moved += done->bytes;
    if (status || request->failing) {
        fail_staged(request, status);
        return;
    }
    if (request->moved < request->total) {
        grant_pieces(request);
        return;
    }
    if (request->result.bytes > request->message.bytes)
        status = nw_fail(
            NW_EINVAL,
            "a message of %zu byte%s does not fit into a buffer of %zu",
            request->result.bytes, nw_plural((uint64_t)request->result.bytes),
            request->message.bytes);
    nw_request_finish(request, status);
}
void nw_rendezvous_push(nw_channel *channel)
{
    nw_channel_request *next;

    nw_rendezvous_push_writes(channel);
    for (nw_channel_request *r = channel->starved.head; r; r = next) {
        next = r->next;
        grant_pieces(r);
    }
}

/* Unregisters the staging pieces that the request still holds and, if the
 * request is a receive that failed before all its granted memory was filled,
 * its receive buffer. So a peer that was given up but still runs cannot write
 * into this memory. */
void nw_rendezvous_revoke(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    int f = request->peer ? request->peer->fabric : 0;

    for (int i = 0; i < NW_PIECES; i++) {
        struct nw_piece *piece = &channel->in[i];

        if (piece->request != request)
            continue;
        nw_endpoint_unregister(piece->region[f]);
        piece->region[f] = NULL;
    }
    if (!request->is_send && request->status &&
        request->moved < request->granted) {
        nw_rcache_lose(&channel->regions[f], request->kept);
        nw_endpoint_unregister(request->region);
        request->kept = NULL;
        request->region = NULL;
    }
}

static void give_pieces(nw_channel_request *request)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (request->channel->in[i].request == request)
            request->channel->in[i].request = NULL;
}

/* Frees the resources of a request that is done and has no operation in flight.
 * If the peer is to get an ABORT, sends it first. */
void nw_rendezvous_drop(nw_channel_request *request)
{
    struct nw_wire abort = {.kind = NW_WIRE_ABORT, .id = request->abort};

    if (request->abort)
        nw_send_control(request->peer, request->channel, &abort);
    request->abort = 0;
    nw_rendezvous_drop_grants(request);
    nw_rendezvous_revoke(request);
    give_pieces(request);
    if (request->ahead)
        request->ahead->request = NULL;
    request->ahead = NULL;
    nw_endpoint_unregister(request->region);
    request->region = NULL;
    nw_rcache_give(request->kept);
    request->kept = NULL;
}

ssize_t nw_rendezvous_post(nw_channel_request *request)
{
    return nw_control_now(request->channel, request->peer, &request->wire);
}
