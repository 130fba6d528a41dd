/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Processes on the seats of a tree, and what they send each other, laid out
 * for swaps that cost a few lookups each: the change of hop-bytes comes from
 * the bonds of the two processes alone. A layout may also be one of whole
 * subtrees: then a process is a cluster with all that sits in it.
 */
#ifndef NW_MAP_HIERARCHY_ASSIGNMENT_H
#define NW_MAP_HIERARCHY_ASSIGNMENT_H

#include "map/hierarchy/hierarchy.h"

/* What a process exchanges with a peer, both directions together. */
struct nw_undirected_edge {
    int32_t peer;
    double bytes;
};

struct nw_assignment {
    const struct nw_hierarchy *hierarchy;
    int32_t threads; /* that may work on it; 0 for one */
    int32_t count;
    size_t *row; /* [count + 1] */
    struct nw_undirected_edge
        *edge;           /* each pair stands with both; none of 0 bytes */
    int32_t *slot;       /* [count] */
    int32_t *process;    /* [seats] or -1 where the seat is free */
    uint64_t *at;        /* [count] code of the seat */
    bool *fixed;         /* [seats] what is there stays, free or not */
    int32_t *name;       /* [count] its number in the placing; NULL: itself */
    const int64_t *load; /* [count] borrowed; NULL: not limited */
    int64_t *limit;      /* [seats] most load */
};

/* From a complete placing on the places of `hierarchy`. */
NW_MUST_CHECK nw_status nw_assignment_init(
    struct nw_assignment *assignment, const struct nw_hierarchy *hierarchy,
    const struct nw_placement *placement);
void nw_assignment_fini(struct nw_assignment *assignment);
/* The same processes on seats of their own; what they exchange is borrowed. */
NW_MUST_CHECK nw_status nw_assignment_copy(
    const struct nw_assignment *assignment, struct nw_assignment *out);
void nw_assignment_copy_fini(struct nw_assignment *copy);
/* Moves the processes of a placing to their places here. */
void nw_assignment_store(const struct nw_assignment *assignment,
                         struct nw_placement *placement);

/* Process i becomes what order[i] was; nothing may be fixed or loaded. */
NW_MUST_CHECK nw_status nw_assignment_renumber(struct nw_assignment *assignment,
                                               const int32_t *order);

/* Hop-bytes over all ordered pairs, from scratch. */
double nw_assignment_cost(const struct nw_assignment *assignment);
/* Of all bonds, from both ends; and what they would cost at most, each as far
 * as can be: what rounding in search of less is relative to. */
double nw_assignment_bytes(const struct nw_assignment *assignment);
double nw_assignment_cost_bound(const struct nw_assignment *assignment);

/* Puts processes on seats given, each seat once; fixed ones keep theirs. */
void nw_assignment_set(struct nw_assignment *assignment, const int32_t *slot);

/* Takes seats given where they cost less than *cost, which becomes theirs. */
NW_MUST_CHECK nw_status nw_assignment_take_if_better(
    struct nw_assignment *assignment, const int32_t *slot, double *cost);

/* Whether a seat bears a process; -1 is none. */
static inline bool
nw_assignment_within_limit(const struct nw_assignment *assignment, int32_t slot,
                           int32_t process)
{
    return process < 0 || assignment->load[process] <= assignment->limit[slot];
}

/* Swaps what is on two seats, free or not. */
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

/* The layout of the clusters of a level: its processes are those of
 * `assignment` by cluster. Clusters that hold something fixed, or that have
 * another size than most, are fixed. `hierarchy` is made for it. */
NW_MUST_CHECK nw_status nw_assignment_contract(
    const struct nw_assignment *assignment, int32_t level,
    struct nw_assignment *out, struct nw_hierarchy *hierarchy);
/* Moves whole clusters of `assignment` as those of `contracted` were moved. */
NW_MUST_CHECK nw_status
nw_assignment_project(struct nw_assignment *assignment, int32_t level,
                      const struct nw_assignment *contracted);

#endif
