/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages between two cores of one node, nearly all of them: where every core
 * of a node is equally deep and nothing but the tree joins them, the common
 * vertex says distance, level and latency. So a message is noted at that vertex
 * and where it ends, and everything else is found once for each vertex. The
 * depth of the common vertex is in the first bit that differs of two codes, the
 * ways down to the cores.
 */
#ifndef NW_COST_INTRANODE_H
#define NW_COST_INTRANODE_H

#include "topology/topology.h"

#define NW_INTRANODE_DEPTHS 40

struct nw_intranode_type {
    uint64_t *code;       /* [vertices]; NULL: cores are not as said above */
    uint8_t depth_of[64]; /* of the common vertex, by the bit */
};

struct nw_intranode_types {
    int32_t count;
    struct nw_intranode_type *type;
};
NW_MUST_CHECK nw_status nw_intranode_types_init(
    struct nw_intranode_types *types, const nw_topology *topology);
void nw_intranode_types_fini(struct nw_intranode_types *types);

/* By link number, the vertex's own. */
struct nw_intranode {
    const nw_topology *topology;
    const struct nw_intranode_types *types;
    uint64_t *bytes, *messages; /* [links] that turn at a vertex */
    uint64_t *begun, *ended;    /* [links] bytes */
    bool overflows;
};

NW_MUST_CHECK nw_status
nw_intranode_init(struct nw_intranode *near, const nw_topology *topology,
                  const struct nw_intranode_types *types, int32_t threads);
void nw_intranode_fini(struct nw_intranode *near);
void nw_intranode_merge(struct nw_intranode *to,
                        const struct nw_intranode *from, int32_t threads);

/* Messages of one core inside its node. All fields are 0 before the first core,
 * and nw_intranode_end resets them for the next. */
struct nw_intranode_row {
    struct nw_intranode *near;
    struct nw_end from;
    const struct nw_intranode_type *type; /* its code NULL: not for this */
    uint64_t *ended;                      /* of its node */
    uint64_t code;
    uint64_t bytes[NW_INTRANODE_DEPTHS],
        messages[NW_INTRANODE_DEPTHS]; /* by depth */
    bool overflows;
};
void nw_intranode_begin(struct nw_intranode *near, struct nw_end from,
                        struct nw_intranode_row *row);
void nw_intranode_end(struct nw_intranode_row *row);

/* False if the message goes to another node or to the core itself. */
static inline bool nw_intranode_suits(const struct nw_intranode_row *row,
                                      struct nw_end to)
{
    return row->type->code && to.node == row->from.node &&
           to.vertex != row->from.vertex;
}

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
