/* SPDX-License-Identifier: BSD-3-Clause */
/* The sender's side of a rendezvous. The sender writes into the memory that the
 * receiver grants, directly from the message's buffer or from staging pieces
 * (pinned host memory). It sends a DONE for each grant that it has filled. */
#include "channel/proto/rendezvous.h"
#include "channel/proto/ipc.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/status.h"
#include "channel/proto/cma.h"

#include <rdma/fi_errno.h>
#include <stdlib.h>

static struct nw_selector *rendezvous_send_pace_of(nw_channel_request *request)
{
    return &request->channel->takes[request->peer->fabric][nw_selector_class(
        request->message.bytes, NW_TAKE_SIZES)];
}

/* Decides whether GPU memory is copied to staging pieces before the writes,
 * although the NIC could read it: some NICs read GPU memory so slowly that the
 * copy is faster. If few messages are in flight, both paths are timed, and the
 * faster one is used. Otherwise, until both times are known, the cost model
 * decides. */
static void rendezvous_send_choose(nw_channel_request *request)
{
    struct nw_selector *selector = rendezvous_send_pace_of(request);

    if (request->chosen)
        return;
    request->chosen = true;
    if (request->gpu < 0 || nw_rendezvous_is_staged(request))
        return;
    if (request->channel->pending <= NW_ALONE)
        request->copied = nw_selector_pick(selector, &request->timed);
    else if (selector->least_ns[0] && selector->least_ns[1])
        request->copied = nw_selector_best(selector);
    else
        request->copied = nw_choose_to_copy(request);
}

static void rendezvous_send_begin(nw_channel_request *request)
{
    rendezvous_send_choose(request);
    if (request->timed && !request->began_ns)
        request->began_ns = nw_clock_ns();
}

static void rendezvous_send_finish(nw_channel_request *request)
{
    if (request->timed)
        nw_selector_took(rendezvous_send_pace_of(request), request->copied,
                         nw_clock_ns() - request->began_ns + request->ahead_ns);
    nw_ipc_took(request);
    nw_request_finish(request, NW_OK);
}

static void grant_over(nw_channel_request *request, struct nw_grant *grant)
{
    struct nw_grant **at = &request->grants;
    struct nw_wire done = {
        .kind = NW_WIRE_DONE,
        .id = grant->wire.to,
        .offset = grant->wire.offset,
        .bytes = grant->wire.bytes,
    };
    bool last = grant->wire.tag;

    while (*at && *at != grant)
        at = &(*at)->next;
    if (*at)
        *at = grant->next;
    free(grant);
    nw_send_control(request->peer, request->channel, &done);
    request->moved += done.bytes;
    if (last)
        request->total = done.offset + done.bytes;
    if (request->total != UINT64_MAX && request->moved == request->total)
        rendezvous_send_finish(request);
}

/* Sets flight->piece to a staging piece that holds the message's bytes from
 * `offset` on. That is the piece that was filled before the grant arrived, or
 * one from nw_piece_take, into which the bytes are copied. flight->piece stays
 * NULL if nw_piece_take finds none. */
static nw_status find_piece(nw_channel_request *request,
                            struct nw_flight *flight, uint64_t offset)
{
    bool ahead = request->ahead && !offset;
    struct nw_piece *piece =
        ahead ? request->ahead : nw_piece_take(request->channel->out, request);
    nw_status status;

    if (!piece)
        return NW_OK;
    flight->piece = piece;
    if (ahead)
        request->ahead = NULL;
    if (flight->bytes > NW_PIECE_BYTES)
        flight->bytes = NW_PIECE_BYTES;
    status = nw_endpoint_describe(
        nw_rendezvous_fabric(request), piece->memory, NW_PIECE_BYTES,
        &piece->region[request->peer->fabric], &flight->descriptor);
    if (status)
        return status;
    flight->from = piece->memory;
    return ahead ? NW_OK
                 : nw_memory_copy_out(request->gpu, piece->memory,
                                      (char *)request->message.buffer + offset,
                                      flight->bytes);
}

static bool is_opened(const nw_channel_request *request)
{
    return request->channel->opens && request->peer->here &&
           (request->message.bytes >= NW_OPEN_BYTES || request->opening);
}

/* Copies the first bytes of a message that goes through staging pieces while
 * the receiver answers the RTS, unless many messages are in flight or no piece
 * is free. A failure of the copy is ignored, because the bytes are then copied
 * after the grant. */
void nw_rendezvous_asked(nw_channel_request *request)
{
    size_t bytes = request->message.bytes;
    struct nw_piece *piece;
    uint64_t start;

    if (request->gpu < 0 || !bytes || is_opened(request) ||
        request->channel->regime != NW_REGIME_LATENCY)
        return;
    rendezvous_send_choose(request);
    piece = request->copied || nw_rendezvous_is_staged(request)
                ? nw_piece_unused(request->channel->out)
                : NULL;
    if (!piece)
        return;
    start = nw_clock_ns();
    if (nw_memory_copy_out(request->gpu, piece->memory, request->message.buffer,
                           bytes < NW_PIECE_BYTES ? bytes : NW_PIECE_BYTES))
        return;
    piece->request = request;
    request->ahead = piece;
    request->ahead_ns = nw_clock_ns() - start;
}

/* Sets *out to libfabric's descriptor of the message's memory, from which the
 * NIC reads. Registers the memory if it is not registered yet. */
static nw_status rendezvous_send_describe(nw_channel_request *request,
                                          void **out)
{
    nw_status status = NW_OK;

    if (request->gpu < 0)
        return nw_endpoint_describe(
            nw_rendezvous_fabric(request), request->message.buffer,
            request->message.bytes, &request->region, out);
    if (!nw_rendezvous_is_staged(request))
        status = nw_rendezvous_keep_region(request);
    if (!status && request->kept)
        *out = fi_mr_desc(request->kept->mr);
    return status;
}

/* Sets the source and length of the next remote write, which begins at byte
 * `offset` of the message. flight->from stays NULL if a staging piece is needed
 * and none is free. */
static nw_status find_source(nw_channel_request *request,
                             struct nw_flight *flight, uint64_t offset)
{
    nw_status status = NW_OK;

    rendezvous_send_begin(request);
    if (!request->copied)
        status = rendezvous_send_describe(request, &flight->descriptor);
    if (status)
        return status;
    if (request->copied || nw_rendezvous_is_staged(request))
        return find_piece(request, flight, offset);
    flight->from = (const char *)request->message.buffer + offset;
    return NW_OK;
}

static ssize_t post_write(nw_channel_request *request, struct nw_flight *flight)
{
    const struct nw_grant *grant = flight->grant;
    struct nw_endpoint_write write = {
        .from = flight->from,
        .descriptor = flight->descriptor,
        .bytes = flight->bytes,
        .peer = request->peer->address,
        .address = grant->wire.address + grant->begun,
        .key = grant->wire.key,
        .context = &flight->op,
        .at_once = request->peer->at_once,
    };

    return nw_endpoint_write(nw_rendezvous_fabric(request), &write);
}

static void flight_free(struct nw_flight *flight)
{
    if (!flight)
        return;
    if (flight->piece)
        flight->piece->request = NULL;
    free(flight);
}

/* Sets grant->ready to the next remote write of a grant. The write stays there
 * until libfabric takes it, so that it is prepared only once. grant->ready
 * stays NULL if a staging piece is needed and none is free. */
static nw_status rendezvous_send_make_ready(nw_channel_request *request,
                                            struct nw_grant *grant)
{
    struct nw_flight *flight = NULL;
    nw_status status = nw_alloc(1, sizeof *flight, &flight);
    uint64_t left = grant->wire.bytes - grant->begun;
    size_t limit = nw_rendezvous_fabric(request)->limit;

    if (status)
        return status;
    flight->op.kind = NW_OP_WRITE;
    flight->request = request;
    flight->grant = grant;
    flight->bytes = left < limit ? left : limit;
    status = find_source(request, flight, grant->wire.offset + grant->begun);
    if (status || !flight->from)
        flight_free(flight);
    else
        grant->ready = flight;
    return status;
}

/* Starts the next remote write of a grant. Returns false if the write must be
 * tried again later, if the request has ended with an error, or if the peer was
 * given up. */
static bool write_some(nw_channel_request *request, struct nw_grant *grant)
{
    nw_status status =
        grant->ready ? NW_OK : rendezvous_send_make_ready(request, grant);
    ssize_t code;

    if (status) {
        nw_rendezvous_fail(request, grant->wire.to, status);
        return false;
    }
    if (!grant->ready)
        return false;
    code = post_write(request, grant->ready);
    if (!code) {
        grant->begun += grant->ready->bytes;
        grant->ready->next = request->aloft;
        request->aloft = grant->ready;
        grant->ready = NULL;
        request->flights++;
        return true;
    }
    if (code != -FI_EAGAIN)
        nw_peer_lose(request->channel, request->peer);
    return false;
}

static void rendezvous_send_move(nw_channel_request *request)
{
    if (request->peer->lost)
        return;
    for (struct nw_grant *grant = request->grants; grant; grant = grant->next)
        while (grant->begun < grant->wire.bytes)
            if (!write_some(request, grant)) {
                if (!request->done && !request->list)
                    nw_list_add(&request->channel->movers, request);
                return;
            }
    nw_list_remove(request);
}

static bool rendezvous_send_is_sound(const nw_channel_request *request,
                                     const struct nw_wire *cts)
{
    uint64_t bytes = request->message.bytes;

    return request->is_send && cts->offset <= bytes &&
           cts->bytes <= bytes - cts->offset && cts->tag >= 0 &&
           (cts->bytes || !cts->offset);
}

void nw_rendezvous_granted(nw_channel *channel, struct nw_peer *peer,
                           const struct nw_wire *cts)
{
    nw_channel_request *request = nw_request_by_id(channel, cts->id);
    struct nw_grant *grant = NULL, **at;
    nw_status status;

    if (!request)
        return;
    if (request->peer != peer || !rendezvous_send_is_sound(request, cts)) {
        channel->counts.malformed++;
        nw_peer_lose(channel, peer);
        return;
    }
    if (request->word)
        nw_cma_refused(request, cts->order);
    status = nw_alloc(1, sizeof *grant, &grant);
    if (status) {
        nw_rendezvous_fail(request, cts->to, status);
        return;
    }
    if (!request->grants && !request->moved)
        /* UINT64_MAX: the total is unknown until the last grant */
        request->total = UINT64_MAX;
    grant->wire = *cts;
    for (at = &request->grants; *at; at = &(*at)->next)
        continue;
    *at = grant;
    if (cts->bytes)
        rendezvous_send_move(request);
    else
        grant_over(request, grant);
}

static void take_down(struct nw_flight *flight)
{
    struct nw_flight **at = &flight->request->aloft;

    while (*at != flight)
        at = &(*at)->next;
    *at = flight->next;
    flight_free(flight);
}

void nw_rendezvous_written(nw_channel *channel, struct nw_flight *flight,
                           nw_status status)
{
    nw_channel_request *request = flight->request;
    struct nw_grant *grant = flight->grant;

    (void)channel;
    if (!request->done && !request->peer->lost) {
        grant->done += flight->bytes;
        if (status)
            nw_peer_lose(request->channel, request->peer);
        else if (grant->done == grant->wire.bytes)
            grant_over(request, grant);
    }
    take_down(flight);
    nw_request_landed(request);
}
void nw_rendezvous_push_writes(nw_channel *channel)
{
    nw_channel_request *next;

    for (nw_channel_request *r = channel->movers.head; r; r = next) {
        next = r->next;
        rendezvous_send_move(r);
    }
}

void nw_rendezvous_peer_lost(nw_channel_request *request)
{
    for (int i = 0; i < NW_PIECES; i++)
        if (request->channel->out[i].request == request)
            request->channel->out[i].request = NULL;
    request->ahead = NULL;
    for (struct nw_flight *f = request->aloft; f; f = f->next)
        f->piece = NULL;
    for (struct nw_grant *grant = request->grants; grant; grant = grant->next)
        if (grant->ready)
            grant->ready->piece = NULL;
}

void nw_rendezvous_drop_grants(nw_channel_request *request)
{
    while (request->aloft)
        take_down(request->aloft);
    while (request->grants) {
        struct nw_grant *next = request->grants->next;

        flight_free(request->grants->ready);
        free(request->grants);
        request->grants = next;
    }
}
