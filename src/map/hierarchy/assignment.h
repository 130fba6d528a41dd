/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes on the slots of a hierarchy, with their undirected edges. The
 * change of hop-bytes by a swap follows from the edges of the two processes
 * alone. An assignment may also be one of whole subtrees: a process is then a
 * cluster with everything in it.
 */
#ifndef NW_MAP_HIERARCHY_ASSIGNMENT_H
#define NW_MAP_HIERARCHY_ASSIGNMENT_H

#include "map/hierarchy/hierarchy.h"

/* Bytes exchanged with a peer, both directions together. */
struct nw_undirected_edge {
    int32_t peer;
    double bytes;
};

struct nw_assignment {
    const struct nw_hierarchy *hierarchy;
    int32_t threads; /* most threads; 0: one */
    int32_t count;
    size_t *row; /* [count + 1] */
    struct nw_undirected_edge
        *edge;     /* each edge is stored with both its ends; none of 0 bytes */
    int32_t *slot; /* [count] */
    int32_t *process; /* [slots] process of a slot, -1: free */
    uint64_t *at;     /* [count] code of the process's slot */
    bool *fixed;      /* [slots] the slot does not change, even if free */
    int32_t *name; /* [count] number of the process in the placement; NULL: the
                      same */
    const int64_t *load; /* [count] borrowed; NULL: not limited */
    int64_t *limit;      /* [slots] most load */
};

/* Makes an assignment of a complete placement on the places of `hierarchy`. */
NW_MUST_CHECK nw_status nw_assignment_init(
    struct nw_assignment *assignment, const struct nw_hierarchy *hierarchy,
    const struct nw_placement *placement);
void nw_assignment_fini(struct nw_assignment *assignment);
/* A copy with slots of its own; the edges are borrowed. */
NW_MUST_CHECK nw_status nw_assignment_copy(
    const struct nw_assignment *assignment, struct nw_assignment *out);
void nw_assignment_copy_fini(struct nw_assignment *copy);
/* Writes the places back to the placement. */
void nw_assignment_store(const struct nw_assignment *assignment,
                         struct nw_placement *placement);

/* Renumbers: process i becomes what order[i] was. Nothing may be fixed or
 * limited. */
NW_MUST_CHECK nw_status nw_assignment_renumber(struct nw_assignment *assignment,
                                               const int32_t *order);

/* Hop-bytes over all ordered pairs, from scratch. */
double nw_assignment_cost(const struct nw_assignment *assignment);
/* The bytes of all edges, from both ends; and their cost if each spanned the
 * largest distance, as a scale for rounding errors. */
double nw_assignment_bytes(const struct nw_assignment *assignment);
double nw_assignment_cost_bound(const struct nw_assignment *assignment);

/* Moves processes to the given slots, each slot once; fixed ones stay. */
void nw_assignment_set(struct nw_assignment *assignment, const int32_t *slot);

/* Takes the given slots if they cost less than *cost, and updates *cost. */
NW_MUST_CHECK nw_status nw_assignment_take_if_better(
    struct nw_assignment *assignment, const int32_t *slot, double *cost);

/* Whether the load of a process (-1: none) is within the limit of a slot. */
static inline bool
nw_assignment_within_limit(const struct nw_assignment *assignment, int32_t slot,
                           int32_t process)
{
    return process < 0 || assignment->load[process] <= assignment->limit[slot];
}

/* Swaps the contents of two slots, free or not. */
static inline void nw_assignment_swap(struct nw_assignment *assignment,
                                      int32_t a, int32_t b)
{
    int32_t u = assignment->process[a], v = assignment->process[b];

    assignment->process[a] = v;
    assignment->process[b] = u;
    if (u >= 0) {
        assignment->slot[u] = b;
        assignment->at[u] = assignment->hierarchy->code[b];
    }
    if (v >= 0) {
        assignment->slot[v] = a;
        assignment->at[v] = assignment->hierarchy->code[a];
    }
}

/* Contracts to the clusters of a level: the new processes are clusters.
 * Clusters that hold something fixed, or whose size is unusual, are fixed.
 * Fills `hierarchy` for it. */
NW_MUST_CHECK nw_status nw_assignment_contract(
    const struct nw_assignment *assignment, int32_t level,
    struct nw_assignment *out, struct nw_hierarchy *hierarchy);
/* Projects: moves whole clusters as the processes of `contracted` were moved.
 */
NW_MUST_CHECK nw_status
nw_assignment_project(struct nw_assignment *assignment, int32_t level,
                      const struct nw_assignment *contracted);

#endif
