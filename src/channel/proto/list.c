/* SPDX-License-Identifier: BSD-3-Clause */
/* Doubly linked lists of requests, in the order of insertion. A request is in
 * at most one list. */
#include "channel/state.h"

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
