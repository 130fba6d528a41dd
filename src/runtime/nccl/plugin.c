/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tables that NCCL looks for, one for each version of the interface; all of
 * them lead to the same counters. Every function returns success, so that NCCL
 * and the program behave as without the plug-in.
 */
#include "runtime/nccl/interface.h"

#include "pattern/nccl/datatype.h"
#include "runtime/nccl/record.h"

#include <stdlib.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* --- events of versions 1 to 6 --- */

/* Returns the bytes of an element by the first digits in the name of its type:
 * 2 for "ncclBfloat16", 1 for "ncclFloat8e4m3". Returns 1 for a name without
 * digits, or if the digits are not a number from 8 to 64. */
static uint64_t plugin_type_bytes(const char *type)
{
    const char *digits = type ? strpbrk(type, "0123456789") : NULL;
    unsigned long bits = digits ? strtoul(digits, NULL, 10) : 8;

    return bits >= 8 && bits <= 64 ? bits / 8 : 1;
}

static const char *plugin_function_v1(uint8_t function)
{
    static const char *const names[] = {
        "Broadcast", "Reduce",   "AllGather", "ReduceScatter",
        "AllReduce", "SendRecv", "Send",      "Recv"};

    return function < sizeof names / sizeof *names ? names[function] : NULL;
}

static const char *plugin_algorithm_v1(uint8_t algorithm)
{
    static const char *const names[] = {
        "TREE",      "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS",
        "NVLS_TREE", "PAT"};

    return algorithm < sizeof names / sizeof *names ? names[algorithm] : NULL;
}

static int plugin_start_v1(void *context, void **handle, const void *data)
{
    const struct nw_nccl_event_v1 *event = data;
    const struct nw_nccl_coll_v1 *coll = &event->coll_v1;
    const struct nw_nccl_p2p_v1 *p2p = &event->p2p_v1;

    *handle = NULL;
    if (event->type == NW_NCCL_EVENT_COLL) {
        nw_nccl_record_comm(context, coll->comm, event->rank);
        nw_nccl_record_call(
            context, &(struct nw_nccl_seen){
                         plugin_function_v1(coll->function),
                         plugin_algorithm_v1(coll->algorithm), coll->root,
                         coll->count * nw_nccl_type_bytes(coll->type)});
    } else if (event->type == NW_NCCL_EVENT_P2P) {
        nw_nccl_record_comm(context, p2p->comm, event->rank);
        nw_nccl_record_call(
            context, &(struct nw_nccl_seen){
                         plugin_function_v1(p2p->function), NULL, p2p->peer,
                         p2p->count * nw_nccl_type_bytes(p2p->type)});
    }
    return NW_NCCL_SUCCESS;
}

static void plugin_p2p_v2(void *context, const struct nw_nccl_event_v1 *event)
{
    const struct nw_nccl_p2p_v2 *p2p = &event->p2p_v2;

    nw_nccl_record_comm(context, p2p->comm, event->rank);
    nw_nccl_record_call(
        context,
        &(struct nw_nccl_seen){p2p->function, NULL, p2p->peer,
                               p2p->count * plugin_type_bytes(p2p->type)});
}

static int plugin_start_v2(void *context, void **handle, const void *data)
{
    const struct nw_nccl_event_v1 *event = data;
    const struct nw_nccl_coll_v2 *coll = &event->coll_v2;

    *handle = NULL;
    if (event->type == NW_NCCL_EVENT_COLL) {
        nw_nccl_record_comm(context, coll->comm, event->rank);
        nw_nccl_record_call(context,
                            &(struct nw_nccl_seen){
                                coll->function, coll->algorithm, coll->root,
                                coll->count * plugin_type_bytes(coll->type)});
    } else if (event->type == NW_NCCL_EVENT_P2P) {
        plugin_p2p_v2(context, event);
    }
    return NW_NCCL_SUCCESS;
}

static int plugin_start_v3(void *context, void **handle, const void *data)
{
    const struct nw_nccl_event_v1 *event = data;
    const struct nw_nccl_coll_v3 *coll = &event->coll_v3;

    *handle = NULL;
    if (event->type == NW_NCCL_EVENT_COLL) {
        nw_nccl_record_comm(context, coll->comm, event->rank);
        nw_nccl_record_call(context,
                            &(struct nw_nccl_seen){
                                coll->function, coll->algorithm, coll->root,
                                coll->count * plugin_type_bytes(coll->type)});
    } else if (event->type == NW_NCCL_EVENT_P2P) {
        plugin_p2p_v2(context, event);
    }
    return NW_NCCL_SUCCESS;
}

static void plugin_coll_v4(void *context, const struct nw_nccl_coll_v4 *coll)
{
    nw_nccl_record_call(
        context,
        &(struct nw_nccl_seen){coll->function, coll->algorithm, coll->root,
                               coll->count * plugin_type_bytes(coll->type)});
}

static void plugin_p2p_v4(void *context, const struct nw_nccl_p2p_v4 *p2p)
{
    nw_nccl_record_call(
        context,
        &(struct nw_nccl_seen){p2p->function, NULL, p2p->peer,
                               p2p->count * plugin_type_bytes(p2p->type)});
}

static int plugin_start_v4(void *context, void **handle, const void *data)
{
    const struct nw_nccl_event_v1 *event = data;

    *handle = NULL;
    if (event->type == NW_NCCL_EVENT_COLL)
        plugin_coll_v4(context, &event->coll_v4);
    else if (event->type == NW_NCCL_EVENT_P2P)
        plugin_p2p_v4(context, &event->p2p_v4);
    return NW_NCCL_SUCCESS;
}

/* Used for version 6 too, whose events have one more type. */
static int plugin_start_v5(void *context, void **handle, const void *data)
{
    const struct nw_nccl_event_v5 *event = data;
    const struct nw_nccl_ce_coll_v6 *ce = &event->ce_coll_v6;

    *handle = NULL;
    if (event->type == NW_NCCL_EVENT_COLL)
        plugin_coll_v4(context, &event->coll_v4);
    else if (event->type == NW_NCCL_EVENT_P2P)
        plugin_p2p_v4(context, &event->p2p_v4);
    else if (event->type == NW_NCCL_EVENT_CE_COLL)
        nw_nccl_record_call(
            context,
            &(struct nw_nccl_seen){ce->function, "CE", ce->root,
                                   ce->count * plugin_type_bytes(ce->type)});
    return NW_NCCL_SUCCESS;
}

/* --- functions common to the versions --- */

/* Begins a communicator. If nothing is recorded, *context is NULL and NCCL is
 * asked for no events. */
static int plugin_begin(void **context, int *mask, int events)
{
    *context = nw_nccl_record_open();
    *mask = *context ? events : 0;
    return NW_NCCL_SUCCESS;
}

static int plugin_init_v1(void **context, int *mask)
{
    return plugin_begin(context, mask, NW_NCCL_EVENT_COLL | NW_NCCL_EVENT_P2P);
}

static int plugin_init_v4(void **context, int *mask, const char *name,
                          uint64_t comm, int nodes, int size, int rank,
                          void *log)
{
    (void)name;
    (void)nodes;
    (void)log;
    plugin_begin(context, mask, NW_NCCL_EVENT_COLL | NW_NCCL_EVENT_P2P);
    nw_nccl_record_comm(*context, comm, rank);
    nw_nccl_record_size(*context, size);
    return NW_NCCL_SUCCESS;
}

static int plugin_init_v5(void **context, uint64_t comm, int *mask,
                          const char *name, int nodes, int size, int rank,
                          void *log)
{
    return plugin_init_v4(context, mask, name, comm, nodes, size, rank, log);
}

static int plugin_init_v6(void **context, uint64_t comm, int *mask,
                          const char *name, int nodes, int size, int rank,
                          void *log)
{
    plugin_init_v4(context, mask, name, comm, nodes, size, rank, log);
    *mask |= *context ? NW_NCCL_EVENT_CE_COLL : 0;
    return NW_NCCL_SUCCESS;
}

static int plugin_stop(void *handle)
{
    (void)handle;
    return NW_NCCL_SUCCESS;
}

static int plugin_record(void *handle, int state, const void *arguments)
{
    (void)handle;
    (void)state;
    (void)arguments;
    return NW_NCCL_SUCCESS;
}

static int plugin_finalize(void *context)
{
    nw_nccl_record_close(context);
    return NW_NCCL_SUCCESS;
}

#define TABLE(version, init_version, start_version)                            \
    extern const NW_NCCL_PROFILER(nw_nccl_init_v##init_version)                \
        ncclProfiler_v##version EXPORTED;                                      \
    __typeof__(ncclProfiler_v##version) ncclProfiler_v##version = {            \
        "nodewise",  plugin_init_v##version, plugin_start_v##start_version,    \
        plugin_stop, plugin_record,          plugin_finalize}

#define plugin_init_v2 plugin_init_v1
#define plugin_init_v3 plugin_init_v1
TABLE(1, 1, 1);
TABLE(2, 1, 2);
TABLE(3, 1, 3);
TABLE(4, 4, 4);
TABLE(5, 5, 5);
TABLE(6, 5, 5);
