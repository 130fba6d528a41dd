/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The method with one message for each pair of nodes. An aggregate is the
 * traffic in one direction between this node and another node in one phase. One
 * rank of each of the two nodes is the leader of the aggregate. The ranks of
 * the sending node pack their cells side by side into the leader's buffer. The
 * leader sends one message to the leader of the other node, and the ranks of
 * that node unpack from its buffer. Both nodes list the same ranks in the same
 * order, so they agree on the buffer's layout without a message. All aggregates
 * between two nodes have the same leaders. The number of the other node, modulo
 * the number of ranks of a node, is the leader's rank inside its node. This
 * distributes the aggregates of a node over its ranks.
 */
#ifndef NW_HALO_EXCHANGE_NODES_H
#define NW_HALO_EXCHANGE_NODES_H

#include "halo/exchange/exchange.h"

#include <stdatomic.h>

/* A part of an aggregate: the traffic from one rank to another in one phase.
 * One of them is on this node and the other one on another node. */
struct nw_halo_share {
    /* Sort key. `node`: the other node; `out`: 1 if this node sends; `from` and
     * `to`: ranks in halo->comm. */
    int64_t node, out, phase, from, to;
    int64_t cells;
};

#define NW_HALO_SHARE_KEYS 5  /* integers in the sort key of a share */
#define NW_HALO_SHARE_GROUP 3 /* integers in the sort key of an aggregate */
/* Compares the first `count` integers of the sort keys. Returns -1, 0 or 1. */
int nw_halo_share_compare(const struct nw_halo_share *a,
                          const struct nw_halo_share *b, int count);
struct nw_halo_share
nw_halo_share_of(const struct nw_halo_connection *connection);

/* Counters of an aggregate on this node, over all exchanges. `members` counts
 * how often connections have packed into the buffer (on the receiving node:
 * unpacked from it). `leader` counts the messages that were sent (on the
 * receiving node: that have arrived). */
struct nw_halo_aggregate_flags {
    _Alignas(64) _Atomic uint64_t members;
    _Alignas(64) _Atomic uint64_t leader;
};

struct nw_halo_aggregate {
    const struct nw_halo_share *share; /* [count] shares of the aggregate */
    size_t count;
    size_t cells;
    int leader, other;        /* ranks of the leaders on this node and on the
                                 other node */
    struct nw_halo_spot spot; /* position of the counters and buffer of the
                                 leader on this node, in shared memory */
};

struct nw_halo_aggregates {
    struct nw_halo_share *share; /* shares of all ranks of this node */
    size_t share_count;
    struct nw_halo_aggregate *item;
    size_t count;
};

/* Returns true if halo->scheme may use NW_HALO_NODES for a class of connections
 * between nodes. The result is equal on all ranks. */
bool nw_halo_aggregates_wanted(const nw_halo *halo);
/* Finds the node's aggregates, and adds a connection for each one that this
 * rank leads. Collective over the node. */
nw_status nw_halo_aggregates_make(nw_halo *halo);
/* Exchanges the positions of all leaders' buffers between the ranks of the
 * node. Collective over the node. */
nw_status nw_halo_aggregates_share(nw_halo *halo);
void nw_halo_aggregates_free(nw_halo *halo);

/* The functions of a connection by which a leader sends or receives an
 * aggregate. */
extern const struct nw_halo_method_ops nw_halo_aggregate_end;
/* Returns the aggregate whose message contains the cells of a connection; NULL
 * if these cells are sent without an aggregate. Sets *before to the number of
 * cells that come before the connection's cells in the aggregate's buffer. */
const struct nw_halo_aggregate *
nw_halo_aggregate_of(const struct nw_halo_connection *connection,
                     size_t *before);

#endif
