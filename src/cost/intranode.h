/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sums messages between two cores of one node, which are the most frequent. If
 * all cores of a node have the same depth and only its tree joins them, then
 * the common vertex of two cores determines distance, level and latency. So
 * each message is counted at its common vertex and at its destination, and
 * costs are computed once for each vertex. Each core has a code that encodes
 * its path from the root; the first bit in which two codes differ gives the
 * depth of the common vertex.
 */
#ifndef NW_COST_INTRANODE_H
#define NW_COST_INTRANODE_H

#include "topology/topology.h"

#define NW_INTRANODE_DEPTHS 40

/* The codes of the cores of a node type. */
struct nw_intranode_type {
    uint64_t *code; /* [vertices] code of each core, and the common first bits
                       of its cores for any other vertex; NULL: this node
                       type is not even enough for the method */
    uint8_t depth_of[64]; /* depth of the common vertex, by the highest bit that
                             differs */
};

struct nw_intranode_types {
    int32_t count;
    struct nw_intranode_type *type;
};
NW_MUST_CHECK nw_status nw_intranode_types_init(
    struct nw_intranode_types *types, const nw_topology *topology);
void nw_intranode_types_fini(struct nw_intranode_types *types);

/* Sums for all nodes, indexed by the link number of each vertex. */
struct nw_intranode {
    const nw_topology *topology;
    const struct nw_intranode_types *types;
    uint64_t *bytes, *messages; /* [links] bytes and messages whose common
                                   vertex is this vertex */
    uint64_t *begun, *ended;    /* [links] bytes that the core with this link
                                   number sent and received */
    bool overflows;
};

NW_MUST_CHECK nw_status
nw_intranode_init(struct nw_intranode *sums, const nw_topology *topology,
                  const struct nw_intranode_types *types, int32_t threads);
void nw_intranode_fini(struct nw_intranode *sums);
void nw_intranode_merge(struct nw_intranode *to,
                        const struct nw_intranode *from, int32_t threads);

/* The sums for one source core while its messages to other cores of its node
 * are added. All members are 0 before the first core; nw_intranode_end resets
 * the sums for the next core. */
struct nw_intranode_row {
    struct nw_intranode *sums;
    struct nw_end from;
    const struct nw_intranode_type *type; /* of the core's node; its code is
                                             NULL if the method does not fit */
    uint64_t *ended;                      /* [vertices] bytes received by each
                                             vertex of the node */
    uint64_t code;
    uint64_t bytes[NW_INTRANODE_DEPTHS],
        messages[NW_INTRANODE_DEPTHS]; /* sums of the core's messages, by the
                                          depth of the common vertex */
    bool overflows;
};
void nw_intranode_begin(struct nw_intranode *sums, struct nw_end from,
                        struct nw_intranode_row *row);
void nw_intranode_end(struct nw_intranode_row *row);

/* Returns true if nw_intranode_add can count the message: it must go to another
 * core of the same node, and the node's type must fit the method. */
static inline bool nw_intranode_suits(const struct nw_intranode_row *row,
                                      struct nw_end to)
{
    return row->type->code && to.node == row->from.node &&
           to.vertex != row->from.vertex;
}

/* Counts messages to the core `to`, for which nw_intranode_suits must be true.
 */
static inline void nw_intranode_add(struct nw_intranode_row *row,
                                    struct nw_end to, uint64_t bytes,
                                    uint64_t messages)
{
    uint64_t apart = row->code ^ row->type->code[to.vertex];
    int depth = row->type->depth_of[63 - __builtin_clzll(apart)];
    bool over =
        __builtin_add_overflow(row->bytes[depth], bytes, &row->bytes[depth]);

    over |= __builtin_add_overflow(row->messages[depth], messages,
                                   &row->messages[depth]);
    over |= __builtin_add_overflow(row->ended[to.vertex], bytes,
                                   &row->ended[to.vertex]);
    row->overflows |= over;
}

#endif
