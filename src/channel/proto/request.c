/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a request: in lists, done, and freed only once libfabric holds
 * nothing of it any more. */
#include "channel/proto/cma.h"

#include "base/array.h"
#include "base/status.h"
#include "channel/backoff.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void nw_list_add(struct nw_list *list, nw_channel_request *request)
{
    request->list = list;
    request->next = NULL;
    request->previous = list->tail;
    if (list->tail)
        list->tail->next = request;
    else
        list->head = request;
    list->tail = request;
}

void nw_list_remove(nw_channel_request *request)
{
    struct nw_list *list = request->list;

    if (!list)
        return;
    if (request->previous)
        request->previous->next = request->next;
    else
        list->head = request->next;
    if (request->next)
        request->next->previous = request->previous;
    else
        list->tail = request->previous;
    request->list = NULL;
}

static void free_request(nw_channel_request *request)
{
    nw_channel *channel = request->channel;

    request->next = channel->spare;
    channel->spare = request;
}

static void let_go(nw_channel_request *request)
{
    nw_channel *channel = request->channel;

    if (request->flights)
        return;
    if (request->word)
        nw_cma_forget(request);
    if (request->kept || request->result.protocol == NW_CHANNEL_RENDEZVOUS)
        nw_rendezvous_drop(request);
    if (request->bounce) {
        request->bounce->next = channel->bounces;
        channel->bounces = request->bounce;
        request->bounce = NULL;
    }
    nw_request_forget(request);
    if (!request->orphan)
        return;
    nw_list_remove(request);
    free_request(request);
}

void nw_requests_free(nw_channel *channel)
{
    nw_channel_request *next;

    while (channel->leaving.head) {
        next = channel->leaving.head;
        nw_list_remove(next);
        nw_rendezvous_drop_grants(next);
        free_request(next);
    }
    while (channel->spare) {
        next = channel->spare->next;
        free(channel->spare);
        channel->spare = next;
    }
}

void nw_request_finish(nw_channel_request *request, nw_status status)
{
    if (request->done || ((status || nw_request_is_draining(request)) &&
                          nw_drain_keeps(request, status)))
        return;
    nw_list_remove(request);
    request->done = true;
    request->channel->pending--;
    request->status = status;
    if (status)
        snprintf(request->text, sizeof request->text, "%s", nw_error_text());
    let_go(request);
}

void nw_request_landed(nw_channel_request *request)
{
    request->flights--;
    if (request->done)
        let_go(request);
}

nw_status nw_request_know(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    size_t i = 0, before = channel->known_count;
    nw_status status;

    while (i < channel->known_count && channel->known[i])
        i++;
    if (i == channel->known_count) {
        status = nw_grow(&channel->known, &channel->known_count, i + 1,
                         sizeof *channel->known);
        if (status)
            return status;
        memset(channel->known + before, 0,
               (channel->known_count - before) * sizeof *channel->known);
    }
    channel->known[i] = request;
    request->total = request->granted = request->moved = 0;
    request->chosen = request->copied = request->timed = false;
    request->opening = request->weighed = false;
    request->failing = NW_OK;
    request->ahead = NULL;
    request->began_ns = request->ahead_ns = 0;
    request->id = (uint64_t)++channel->generation << 32 | i;
    return NW_OK;
}

nw_channel_request *nw_request_by_id(nw_channel *channel, uint64_t id)
{
    size_t i = id & UINT32_MAX;
    nw_channel_request *request =
        i < channel->known_count ? channel->known[i] : NULL;

    return request && request->id == id && !request->done ? request : NULL;
}

void nw_request_forget(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    size_t i = request->id & UINT32_MAX;

    if (request->id && channel->known[i] == request)
        channel->known[i] = NULL;
    request->id = 0;
}

/* Under the lock on success. */
static nw_status make(nw_channel *channel,
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

static nw_status check(nw_channel *channel,
                       const struct nw_channel_message *message, bool any)
{
    int32_t least = any ? NW_CHANNEL_ANY : 0;

    if (message->peer < least || message->peer >= channel->options.count)
        return nw_fail(NW_EINVAL, "rank %d is none of 0 to %d", message->peer,
                       channel->options.count - 1);
    if (message->tag < least)
        return nw_fail(NW_EINVAL, "tag %d is negative", message->tag);
    if (message->bytes && !message->buffer)
        return nw_fail(NW_EINVAL, "a message of %zu bytes has no buffer",
                       message->bytes);
    return NW_OK;
}

nw_status nw_channel_send(nw_channel *channel,
                          const struct nw_channel_message *message,
                          nw_channel_request **out)
{
    nw_channel_request *request = NULL;
    nw_status status = check(channel, message, false);

    if (!status)
        status = make(channel, message, &request);
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
    nw_status status = check(channel, message, true);

    if (!status)
        status = make(channel, message, &request);
    if (status)
        return status;
    nw_receive_start(request);
    *out = request;
    nw_channel_unlock(channel);
    return NW_OK;
}

/* What a done request says, to its owner; the owner lets go of it. */
static nw_status answer(nw_channel_request **request,
                        struct nw_channel_result *result)
{
    nw_channel_request *mine = *request;
    nw_status status = mine->status;

    if (result)
        *result = mine->result;
    if (status)
        (void)nw_fail(status, "%s", mine->text);
    mine->orphan = true;
    if (mine->flights)
        nw_list_add(&mine->channel->leaving, mine);
    else
        free_request(mine);
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
        status = answer(request, result);
    nw_channel_unlock(channel);
    return status;
}

nw_status nw_channel_wait(nw_channel_request **request,
                          struct nw_channel_result *result)
{
    nw_channel *channel = (*request)->channel;
    struct nw_backoff patience = {0};
    nw_status status;

    nw_channel_lock(channel);
    while (!(*request)->done) {
        if (!nw_backoff_ends(&patience, nw_progress(channel)) ||
            (*request)->done)
            continue;
        /* others may have the core, and other threads the channel */
        nw_channel_unlock(channel);
        nw_give_way(&patience);
        nw_channel_lock(channel);
    }
    status = answer(request, result);
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
