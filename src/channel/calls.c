/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls that send, receive, test, wait and cancel, and the call that forces
 * a protocol. Each takes the channel's lock. */
#include "channel/state.h"

#include "base/backoff.h"
#include "base/status.h"
#include "base/text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Sets *out to a request for a message: a spare one, or else a new one. On
 * success, the caller holds the channel's lock and must release it. */
static nw_status request_make(nw_channel *channel,
                              const struct nw_channel_message *message,
                              nw_channel_request **out)
{
    nw_channel_request *request;
    int32_t gpu = channel->has_gpu && message->bytes
                      ? nw_memory_gpu(message->buffer)
                      : -1;

    nw_channel_lock(channel);
    request = channel->spare;
    if (request) {
        channel->spare = request->next;
        memset(&request->result, 0,
               offsetof(nw_channel_request, id) -
                   offsetof(nw_channel_request, result));
    } else {
        request = aligned_alloc(_Alignof(nw_channel_request), sizeof *request);
        if (!request) {
            nw_channel_unlock(channel);
            return nw_fail(NW_ENOMEM, "no memory for a request");
        }
        memset(request, 0, sizeof *request);
    }
    request->op.kind = NW_OP_SEND;
    request->channel = channel;
    request->message = *message;
    request->gpu = gpu;
    channel->pending++;
    channel->regime = nw_regime_next(channel->regime, channel->pending);
    *out = request;
    return NW_OK;
}

static nw_status message_check(nw_channel *channel,
                               const struct nw_channel_message *message,
                               bool any)
{
    int32_t least = any ? NW_CHANNEL_ANY : 0;

    if (message->peer < least || message->peer >= channel->options.count)
        return nw_fail(NW_EINVAL,
                       "rank %d is out of range: the channel has ranks 0 to %d",
                       message->peer, channel->options.count - 1);
    if (message->tag < least)
        return nw_fail(NW_EINVAL, "tag %d is negative", message->tag);
    if (message->bytes && !message->buffer)
        return nw_fail(NW_EINVAL, "a message of %zu byte%s has no buffer",
                       message->bytes, nw_plural((uint64_t)message->bytes));
    return NW_OK;
}

nw_status nw_channel_send(nw_channel *channel,
                          const struct nw_channel_message *message,
                          nw_channel_request **out)
{
    nw_channel_request *request = NULL;
    nw_status status = message_check(channel, message, false);

    if (!status)
        status = request_make(channel, message, &request);
    if (status)
        return status;
    request->is_send = true;
    request->peer = &channel->peer[message->peer];
    nw_send_start(request);
    *out = request;
    nw_channel_unlock(channel);
    return NW_OK;
}

nw_status nw_channel_receive(nw_channel *channel,
                             const struct nw_channel_message *message,
                             nw_channel_request **out)
{
    nw_channel_request *request = NULL;
    nw_status status = message_check(channel, message, true);

    if (!status)
        status = request_make(channel, message, &request);
    if (status)
        return status;
    nw_receive_start(request);
    *out = request;
    nw_channel_unlock(channel);
    return NW_OK;
}

/* Copies the status, error text and result of a finished request to its owner,
 * and sets *request to NULL. Frees the request now, or later if libfabric still
 * uses it. */
static nw_status request_answer(nw_channel_request **request,
                                struct nw_channel_result *result)
{
    nw_channel_request *mine = *request;
    nw_status status = mine->status;

    if (result)
        *result = mine->result;
    if (status)
        (void)nw_fail(status, "%s", mine->text);
    mine->detached = true;
    if (mine->flights)
        nw_list_add(&mine->channel->leaving, mine);
    else
        nw_request_free(mine);
    *request = NULL;
    return status;
}

nw_status nw_channel_test(nw_channel_request **request, bool *done,
                          struct nw_channel_result *result)
{
    nw_channel *channel = (*request)->channel;
    nw_status status = NW_OK;

    nw_channel_lock(channel);
    if (!(*request)->done)
        (void)nw_progress(channel);
    *done = (*request)->done;
    if (*done)
        status = request_answer(request, result);
    nw_channel_unlock(channel);
    return status;
}

nw_status nw_channel_wait(nw_channel_request **request,
                          struct nw_channel_result *result)
{
    nw_channel *channel = (*request)->channel;
    struct nw_backoff backoff = {0};
    nw_status status;

    nw_channel_lock(channel);
    while (!(*request)->done) {
        if (!nw_backoff_ends(&backoff, nw_progress(channel)) ||
            (*request)->done)
            continue;
        /* without the lock, other threads can use the channel meanwhile */
        nw_channel_unlock(channel);
        nw_backoff_pause(&backoff);
        nw_channel_lock(channel);
    }
    status = request_answer(request, result);
    nw_channel_unlock(channel);
    return status;
}

void nw_channel_force(nw_channel *channel, enum nw_channel_protocol protocol,
                      enum nw_channel_copy copy)
{
    nw_channel_lock(channel);
    channel->options.protocol = protocol;
    channel->options.copy = copy;
    nw_channel_unlock(channel);
}

void nw_channel_cancel(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    bool can;

    nw_channel_lock(channel);
    if (request->is_send)
        can = request->list == &request->peer->waiting && !request->head_sent;
    else
        can = request->list == &channel->posted;
    if (can && !request->done)
        nw_request_finish(request, nw_fail(NW_ECANCELLED, "cancelled"));
    nw_channel_unlock(channel);
}
