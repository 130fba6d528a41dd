/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One message a pair of nodes. An aggregate is one direction between this node
 * and another in one phase: the ranks of the sending node pack side by side
 * into the buffer of a leader there, one message goes to a leader of the other
 * node, and the ranks there unpack from its buffer. Both nodes list the same
 * ranks in the same order, so they agree on the buffer's layout without
 * talking. Pairs of nodes are dealt out over the ranks of a node.
 */
#ifndef NW_HALO_EXCHANGE_NODES_H
#define NW_HALO_EXCHANGE_NODES_H

#include "halo/exchange/exchange.h"

#include <stdatomic.h>

/* What one rank sends to, or gets from, one of another node in one phase. */
struct nw_halo_share {
    int64_t node, out, phase, from, to; /* sorted so; node: the other one */
    int64_t cells;
};

#define NW_HALO_SHARE_KEYS 5  /* numbers of a share that it is sorted by */
#define NW_HALO_SHARE_GROUP 3 /* the first of them name the aggregate */
/* By the first `count` numbers. */
int nw_halo_share_compare(const struct nw_halo_share *a,
                          const struct nw_halo_share *b, int count);
struct nw_halo_share
nw_halo_share_of(const struct nw_halo_connection *connection);

/* Counted over exchanges: by the ranks, how many packed (or unpacked); by the
 * leader, how many were sent (or arrived). */
struct nw_halo_aggregate_flags {
    _Alignas(64) _Atomic uint64_t members;
    _Alignas(64) _Atomic uint64_t leader;
};

struct nw_halo_aggregate {
    const struct nw_halo_share *share; /* [count] */
    size_t count;
    size_t cells;
    int leader, other;        /* ranks: here, and on the other node */
    struct nw_halo_spot spot; /* flags, then the buffer: the leader's */
};

struct nw_halo_aggregates {
    struct nw_halo_share *share; /* of all ranks of this node */
    size_t share_count;
    struct nw_halo_aggregate *item;
    size_t count;
};

/* Whether the scheme sends one message a pair of nodes: the same everywhere. */
bool nw_halo_aggregates_wanted(const nw_halo *halo);
/* Finds the node's aggregates and gives this rank a connection for each that it
 * leads. Collective over the node. */
nw_status nw_halo_aggregates_make(nw_halo *halo);
/* Tells the node where its leaders' buffers are, once they are reserved.
 * Collective over the node. */
nw_status nw_halo_aggregates_share(nw_halo *halo);
void nw_halo_aggregates_free(nw_halo *halo);

/* A leader's end of an aggregate, as a connection of its own. */
extern const struct nw_halo_method_ops nw_halo_aggregate_end;
/* The aggregate a connection's cells go by, and how many cells come before
 * them. */
const struct nw_halo_aggregate *
nw_halo_aggregate_of(const struct nw_halo_connection *connection,
                     size_t *before);

#endif
