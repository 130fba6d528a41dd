/* SPDX-License-Identifier: BSD-3-Clause */
/* Ends and frees requests. A request moves between lists until it is done. It
 * is freed when its owner has its result and libfabric no longer uses it. */
#include "channel/proto/protocols.h"

#include "base/array.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Removes the id of a request; later messages with this id are ignored. */
static void request_forget(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    size_t i = request->id & UINT32_MAX;

    if (request->id && channel->known[i] == request)
        channel->known[i] = NULL;
    request->id = 0;
}

static void request_let_go(nw_channel_request *request)
{
    nw_channel *channel = request->channel;

    if (request->flights)
        return;
    nw_protocols[request->result.protocol].cleanup(request);
    if (request->bounce) {
        request->bounce->next = channel->bounces;
        channel->bounces = request->bounce;
        request->bounce = NULL;
    }
    request_forget(request);
    if (!request->detached)
        return;
    nw_list_remove(request);
    nw_request_free(request);
}

void nw_requests_free(nw_channel *channel)
{
    nw_channel_request *next;

    while (channel->leaving.head) {
        next = channel->leaving.head;
        nw_list_remove(next);
        nw_protocols[next->result.protocol].abandon(next);
        nw_request_free(next);
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
    request_let_go(request);
}

void nw_request_landed(nw_channel_request *request)
{
    request->flights--;
    if (request->done)
        request_let_go(request);
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
    /* no request has the id 0 */
    channel->generation += channel->generation == UINT32_MAX ? 2 : 1;
    request->id = (uint64_t)channel->generation << 32 | i;
    return NW_OK;
}

nw_channel_request *nw_request_by_id(nw_channel *channel, uint64_t id)
{
    size_t i = id & UINT32_MAX;
    nw_channel_request *request =
        i < channel->known_count ? channel->known[i] : NULL;

    return request && request->id == id && !request->done ? request : NULL;
}
