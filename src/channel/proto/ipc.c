/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Large messages into GPU memory of another process of one host. The receiver
 * offers its GPU memory (OPEN); the sender opens it by CUDA IPC, copies into
 * it, and reports the bytes (DONE). The receiver offers its memory for all
 * messages of NW_OPEN_BYTES or more. For smaller ones from GPU memory, down to
 * NW_WEIGH_BYTES, the sender times this protocol and a rendezvous without an
 * offer, and asks for an offer if this was faster.
 *
 * Opening takes longer than many copies, so up to NW_IPC_MAPPINGS allocations
 * stay open. A mapping is identified by its IPC handle and the buffer id,
 * because new memory may have the handle of freed memory. Memory that is open
 * here stays allocated even after its owner has freed it, and the driver cannot
 * open new memory at the same addresses (CUDA_ERROR_ALREADY_MAPPED). So
 * mappings that are not used are closed after a while. If the driver refuses to
 * open new memory, all mappings of its owner are closed and the call is
 * repeated once. If that fails, too, the receiver grants its memory as in a
 * rendezvous.
 */
#include "channel/proto/cma.h"
#include "channel/proto/ipc.h"

#include "base/clock.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A mapping is closed after 1 s without use. Opening it again takes about 100
 * us, which is a ten thousandth of this time. */
enum { IPC_CACHE_IDLE_NS = 1000000000 };

static bool may_offer(const nw_channel_request *request)
{
    const nw_channel *channel = request->channel;
    const struct nw_peer *peer = request->peer;

    return channel->opens && request->gpu >= 0 && peer->here &&
           peer->pid != getpid() && !peer->refuses && request->total &&
           (request->total >= NW_OPEN_BYTES || request->opening);
}

static struct nw_selector *ipc_pace_of(nw_channel_request *request)
{
    return &request->channel->openings[nw_selector_class(request->message.bytes,
                                                         NW_TAKE_SIZES)];
}

void nw_ipc_weigh(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    const struct nw_peer *peer = request->peer;

    if (!channel->opens || request->gpu < 0 || !peer->here ||
        peer->pid == getpid() || request->message.bytes <= NW_WEIGH_BYTES ||
        request->message.bytes >= NW_OPEN_BYTES)
        return;
    if (channel->pending > NW_ALONE) {
        request->opening = nw_selector_best(ipc_pace_of(request));
        return;
    }
    request->opening =
        nw_selector_pick(ipc_pace_of(request), &request->weighed);
    if (request->weighed)
        request->asked_ns = nw_clock_ns();
}

void nw_ipc_took(nw_channel_request *request)
{
    if (request->weighed)
        nw_selector_took(ipc_pace_of(request), request->opening,
                         nw_clock_ns() - request->asked_ns);
}

bool nw_ipc_offer(nw_channel_request *request)
{
    struct nw_wire open = {
        .kind = NW_WIRE_OPEN,
        .id = request->remote,
        .to = request->id,
        .bytes = request->total,
    };
    struct nw_memory_offer offer;

    if (!may_offer(request) ||
        nw_memory_offer(request->gpu, request->message.buffer, &offer) ||
        offer.bytes < request->total)
        return false;
    memcpy(open.handle, offer.handle, sizeof open.handle);
    open.address = offer.offset;
    open.key = offer.id;
    request->offered = true;
    nw_send_control(request->peer, request->channel, &open);
    return true;
}

static void ipc_cache_drop(struct nw_ipc_mapping *one)
{
    if (one->memory && nw_memory_lives(&one->life))
        nw_memory_close(one->at, one->memory);
    one->memory = NULL;
}

bool nw_ipc_forget(nw_channel *channel, const struct nw_peer *peer)
{
    bool any = false;

    for (int i = 0; i < NW_IPC_MAPPINGS; i++) {
        struct nw_ipc_mapping *one = &channel->ipc_cache[i];

        if (!one->memory || one->peer != peer->rank)
            continue;
        ipc_cache_drop(one);
        any = true;
    }
    return any;
}

void nw_ipc_look(nw_channel *channel, uint64_t now)
{
    for (int i = 0; i < NW_IPC_MAPPINGS; i++)
        if (channel->ipc_cache[i].memory &&
            now - channel->ipc_cache[i].used_ns > IPC_CACHE_IDLE_NS)
            ipc_cache_drop(&channel->ipc_cache[i]);
}

/* Returns the mapping of the GPU memory that a peer offers, or an unused entry
 * if that memory is not open. If all entries are in use, closes the least
 * recently used mapping first. */
static struct nw_ipc_mapping *ipc_cache_find(nw_channel *channel,
                                             const struct nw_peer *peer,
                                             int32_t at,
                                             const struct nw_wire *open)
{
    struct nw_ipc_mapping *best = channel->ipc_cache;

    for (struct nw_ipc_mapping *one = best;
         one < channel->ipc_cache + NW_IPC_MAPPINGS; one++)
        if (one->memory && !nw_memory_lives(&one->life))
            ipc_cache_drop(best = one);
        else if (one->memory && one->peer == peer->rank && one->at == at &&
                 one->id == open->key &&
                 !memcmp(one->handle, open->handle, sizeof one->handle))
            return one;
        else if (!one->memory || (best->memory && one->used_ns < best->used_ns))
            best = one;
    ipc_cache_drop(best);
    return best;
}

static nw_status open_memory(nw_channel *channel, const struct nw_peer *peer,
                             int32_t at, const struct nw_wire *open, char **out)
{
    struct nw_ipc_mapping *one = ipc_cache_find(channel, peer, at, open);
    nw_status status = NW_OK;

    if (!one->memory) {
        status = nw_memory_open_offer(at, open->handle, &one->memory);
        if (status && status != NW_EUNSUPPORTED && nw_ipc_forget(channel, peer))
            status = nw_memory_open_offer(at, open->handle, &one->memory);
        one->at = at;
        one->life = nw_memory_life(at);
        memcpy(one->handle, open->handle, sizeof one->handle);
        one->id = open->key;
        one->peer = peer->rank;
    }
    if (status)
        return status;
    one->used_ns = nw_clock_ns();
    *out = (char *)one->memory + open->address;
    return NW_OK;
}

static bool ipc_is_sound(const nw_channel_request *request,
                         const struct nw_peer *peer, const struct nw_wire *open)
{
    return request->is_send && request->peer == peer && peer->here &&
           !request->grants && open->bytes <= request->message.bytes;
}

void nw_ipc_asked(nw_channel *channel, struct nw_peer *peer,
                  const struct nw_wire *open)
{
    nw_channel_request *request = nw_request_by_id(channel, open->id);
    struct nw_wire done = {
        .kind = NW_WIRE_DONE, .id = open->to, .bytes = open->bytes};
    char *memory = NULL;
    int32_t at;
    nw_status status;

    if (!request)
        return;
    if (!ipc_is_sound(request, peer, open)) {
        channel->counts.malformed++;
        nw_peer_lose(channel, peer);
        return;
    }
    if (request->word)
        nw_cma_refused(request, false);
    at = request->gpu < 0 ? nw_memory_home() : request->gpu;
    status = open_memory(channel, peer, at, open, &memory);
    if (status) {
        done.bytes = 0;
        done.order = status == NW_EUNSUPPORTED;
        nw_send_control(peer, channel, &done);
        return;
    }
    status = nw_memory_copy_over(request->gpu, memory, request->message.buffer,
                                 open->bytes);
    if (!status) {
        channel->counts.opened++;
        nw_send_control(peer, channel, &done);
    } else {
        request->abort = open->to;
    }
    if (!status)
        nw_ipc_took(request);
    nw_request_finish(request, status);
}

void nw_ipc_close(nw_channel *channel)
{
    for (int i = 0; i < NW_IPC_MAPPINGS; i++)
        ipc_cache_drop(&channel->ipc_cache[i]);
}
