/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the messages of NCCL's algorithms. The bytes of equal calls are
 * first added up and then divided, so that rounding up happens once.
 */
#include "pattern/nccl/model.h"

#include "base/json.h"
#include "pattern/nccl/tree.h"

#include <strings.h>

/* Below this mean size of its calls, in bytes, an all-reduce uses trees if the
 * calls name no algorithm, as NCCL chooses. nodewise-profile(1) has the same
 * limit for MPI. */
#define NCCL_TREE_BELOW (UINT64_C(1) << 20)

bool nw_nccl_function_find(const char *name, enum nw_nccl_function *out)
{
#define NCCL_NAME(name, text) text,
    static const char *const names[] = {NW_NCCL_FUNCTION_LIST(NCCL_NAME)};

    for (int i = 0; i < NW_NCCL_FUNCTIONS; i++)
        if (!strcasecmp(name, names[i])) {
            *out = (enum nw_nccl_function)i;
            return true;
        }
    return false;
}

bool nw_nccl_algorithm_find(const char *name, enum nw_nccl_algorithm *out)
{
    static const char *const names[] = {NW_NCCL_ALGORITHM_LIST(NCCL_NAME)};
#undef NCCL_NAME

    for (int i = 0; i < NW_NCCL_ALGORITHMS; i++)
        if (!strcasecmp(name, names[i])) {
            *out = (enum nw_nccl_algorithm)i;
            return true;
        }
    return false;
}

/* A rank with the call whose messages it sends. */
struct nccl_sender {
    const struct nw_nccl_group *group;
    const struct nw_nccl_call *call;
    const struct nw_nccl_sink *sink;
    int32_t rank, node, local, locals; /* locals: ranks on the same node */
};

/* The fraction times / parts of the data of each call, sent in `messages`
 * messages per call. */
struct nccl_portion {
    uint64_t times, parts, messages;
};

static nw_status nccl_send(const struct nccl_sender *from, int32_t to,
                           struct nccl_portion portion)
{
    const struct nw_nccl_call *call = from->call;
    nw_uint128 bytes =
        ((nw_uint128)call->bytes * portion.times + portion.parts - 1) /
        portion.parts;
    nw_uint128 messages = (nw_uint128)call->calls * portion.messages;

    /* a root may come from a damaged file */
    if (to == from->rank || to < 0 || to >= from->group->size)
        return NW_OK;
    return from->sink->send(from->sink->context, to,
                            bytes > UINT64_MAX ? UINT64_MAX : (uint64_t)bytes,
                            messages > UINT64_MAX ? UINT64_MAX
                                                  : (uint64_t)messages);
}

/* Returns the rank of `node` with the same local index as the sender, or the
 * node's last rank if the node has fewer ranks. */
static int32_t nccl_at_node(const struct nccl_sender *from, int32_t node)
{
    const struct nw_nccl_group *group = from->group;
    int32_t count = group->first[node + 1] - group->first[node];
    int32_t local = from->local < count ? from->local : count - 1;

    return group->member[group->first[node] + local];
}

/* Adds sends to the next rank on each ring. The rings share the data equally.
 * If `last` is not -1, each ring is a chain: it ends at `last`, which sends
 * nothing, or, if `before` is set, begins at `last`, which receives nothing. */
static nw_status nccl_ring(const struct nccl_sender *from,
                           struct nccl_portion portion, int32_t last,
                           bool before)
{
    const struct nw_nccl_group *group = from->group;
    int32_t rings = group->next ? group->channel_count : 1;
    nw_status status = NW_OK;

    portion.parts *= (uint64_t)rings;
    for (int32_t c = 0; !status && c < rings; c++) {
        int32_t to =
            group->next
                ? group->next[(size_t)c * (size_t)group->size + from->rank]
                : (from->rank + 1) % group->size;

        if ((before ? to : from->rank) != last)
            status = nccl_send(from, to, portion);
    }
    return status;
}

/* Adds a send to each other rank of the sender's node. */
static nw_status nccl_to_locals(const struct nccl_sender *from,
                                struct nccl_portion portion)
{
    const struct nw_nccl_group *group = from->group;
    nw_status status = NW_OK;

    for (int32_t i = group->first[from->node];
         !status && i < group->first[from->node + 1]; i++)
        status = nccl_send(from, group->member[i], portion);
    return status;
}

static nw_status nccl_to_all(const struct nccl_sender *from)
{
    nw_status status = NW_OK;

    for (int32_t to = 0; !status && to < from->group->size; to++)
        status = nccl_send(from, to, (struct nccl_portion){1, 1, 1});
    return status;
}

/* Adds the sends up and down NCCL's two trees of nodes. Each tree carries half
 * of the fraction 1 / `parts` of the data. */
static nw_status nccl_node_trees(const struct nccl_sender *from, uint64_t parts)
{
    int peer[NW_NCCL_TREE_PEERS];
    nw_status status = NW_OK;

    for (int tree = 0; tree < 2; tree++) {
        size_t count =
            nw_nccl_tree_peers(from->node, from->group->node_count, tree, peer);

        for (size_t i = 0; !status && i < count; i++)
            status = nccl_send(from, nccl_at_node(from, peer[i]),
                               (struct nccl_portion){1, 2 * parts, 1});
    }
    return status;
}

/* Adds the sends of all data along the chain of a node's ranks, to its first
 * rank and back. */
static nw_status nccl_chain(const struct nccl_sender *from)
{
    const int32_t *local = from->group->member + from->group->first[from->node];
    struct nccl_portion whole = {1, 1, 1};
    nw_status status = NW_OK;

    if (from->local)
        status = nccl_send(from, local[from->local - 1], whole);
    if (!status && from->local + 1 < from->locals)
        status = nccl_send(from, local[from->local + 1], whole);
    return status;
}

/* Adds a send to the same local rank of the next node. It stands for the
 * messages to a switch that reduces in the network, since each rank sends and
 * receives its data once. */
static nw_status nccl_next_node(const struct nccl_sender *from,
                                struct nccl_portion portion)
{
    int32_t nodes = from->group->node_count;

    if (nodes < 2)
        return NW_OK;
    return nccl_send(from, nccl_at_node(from, (from->node + 1) % nodes),
                     portion);
}

static nw_status nccl_tree(const struct nccl_sender *from)
{
    nw_status status = nccl_chain(from);

    if (!status && !from->local)
        status = nccl_node_trees(from, 1);
    return status;
}

/* Adds the sends of an all-reduce by the call's algorithm; if the call does not
 * name one, by trees for small calls and rings for large ones. */
static nw_status nccl_all_reduce(const struct nccl_sender *from)
{
    uint64_t n = (uint64_t)from->group->size, locals = (uint64_t)from->locals;
    struct nccl_portion slices = {2, locals, 2}, slice = {1, locals, 1};
    enum nw_nccl_algorithm algorithm = from->call->algorithm;
    nw_status status;

    if (algorithm == NW_NCCL_UNKNOWN &&
        from->call->bytes / (from->call->calls ? from->call->calls : 1) <
            NCCL_TREE_BELOW)
        algorithm = NW_NCCL_TREE;
    switch (algorithm) {
    case NW_NCCL_TREE:
        return nccl_tree(from);
    case NW_NCCL_COLLNET_CHAIN:
        status = nccl_chain(from);
        return status || from->local
                   ? status
                   : nccl_next_node(from, (struct nccl_portion){1, 1, 1});
    case NW_NCCL_NVLS_TREE:
        status = nccl_to_locals(from, slices);
        return status ? status : nccl_node_trees(from, locals);
    case NW_NCCL_NVLS:
    case NW_NCCL_COLLNET_DIRECT:
        status = nccl_to_locals(from, slices);
        return status ? status : nccl_next_node(from, slice);
    default:
        return nccl_ring(from,
                         (struct nccl_portion){2 * (n - 1), n, 2 * (n - 1)}, -1,
                         false);
    }
}

/* Adds the sends of the PAT algorithm. The distance doubles in each step, and
 * so does the number of blocks; the last step sends the remaining blocks. An
 * all-gather sends to higher ranks (`forwards`), a reduce-scatter to lower
 * ranks. */
static nw_status nccl_pat(const struct nccl_sender *from, bool forwards)
{
    int64_t n = from->group->size;
    nw_status status = NW_OK;

    for (int64_t step = 1; !status && step < n; step *= 2) {
        int64_t blocks = step < n - step ? step : n - step;
        int64_t to = (from->rank + (forwards ? step : n - step)) % n;

        status = nccl_send(from, (int32_t)to,
                           (struct nccl_portion){(uint64_t)blocks, 1, 1});
    }
    return status;
}

/* Adds the sends of an all-gather or reduce-scatter of one block of `bytes` per
 * rank. */
static nw_status nccl_blocks(const struct nccl_sender *from)
{
    uint64_t n = (uint64_t)from->group->size;
    uint64_t nodes = (uint64_t)from->group->node_count;
    bool gathers = from->call->function == NW_NCCL_ALL_GATHER;
    nw_status status;

    switch (from->call->algorithm) {
    case NW_NCCL_CE:
        return nccl_to_all(from);
    case NW_NCCL_PAT:
        return nccl_pat(from, gathers);
    case NW_NCCL_NVLS:
    case NW_NCCL_COLLNET_DIRECT:
        status = nccl_to_locals(from, (struct nccl_portion){nodes, 1, 1});
        return status ? status
                      : nccl_next_node(from,
                                       (struct nccl_portion){nodes - 1, 1, 1});
    default:
        return nccl_ring(from, (struct nccl_portion){n - 1, 1, n - 1}, -1,
                         false);
    }
}

nw_status nw_nccl_sends(const struct nw_nccl_group *group, int32_t rank,
                        const struct nw_nccl_call *call,
                        const struct nw_nccl_sink *sink)
{
    int32_t node = group->node[rank];
    struct nccl_sender from = {group,
                               call,
                               sink,
                               rank,
                               node,
                               group->local[rank],
                               group->first[node + 1] - group->first[node]};
    struct nccl_portion whole = {1, 1, 1};

    if (group->size < 2 && call->function != NW_NCCL_SEND)
        return NW_OK;
    switch (call->function) {
    case NW_NCCL_ALL_REDUCE:
        return nccl_all_reduce(&from);
    case NW_NCCL_ALL_GATHER:
    case NW_NCCL_REDUCE_SCATTER:
        return nccl_blocks(&from);
    case NW_NCCL_BROADCAST:
        return nccl_ring(&from, whole, call->root, true);
    case NW_NCCL_REDUCE:
        return nccl_ring(&from, whole, call->root, false);
    case NW_NCCL_ALL_TO_ALL:
        return nccl_to_all(&from);
    case NW_NCCL_SCATTER:
        return rank == call->root ? nccl_to_all(&from) : NW_OK;
    case NW_NCCL_GATHER:
        return rank != call->root ? nccl_send(&from, call->root, whole) : NW_OK;
    case NW_NCCL_SEND:
        return nccl_send(&from, call->root, whole);
    default:
        return NW_OK;
    }
}
