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
struct nw_bond {
    int32_t peer;
    double bytes;
};

struct nw_layout {
    const struct nw_tree *tree;
    int32_t threads; /* that may work on it; 0 for one */
    int32_t count;
    size_t *row;          /* [count + 1] */
    struct nw_bond *bond; /* each pair stands with both; none of 0 bytes */
    int32_t *seat;        /* [count] */
    int32_t *process;     /* [seats] or -1 where the seat is free */
    uint64_t *at;         /* [count] code of the seat */
    bool *fixed;          /* [seats] what is there stays, free or not */
    int32_t *name;        /* [count] its number in the placing; NULL: itself */
    const int64_t *load;  /* [count] borrowed; NULL: not limited */
    int64_t *limit;       /* [seats] most load */
};

/* From a complete placing on the places of `tree`. */
NW_MUST_CHECK nw_status nw_layout_init(struct nw_layout *layout,
                                       const struct nw_tree *tree,
                                       const struct nw_placing *placing);
void nw_layout_fini(struct nw_layout *layout);
/* The same processes on seats of their own; what they exchange is borrowed. */
NW_MUST_CHECK nw_status nw_layout_copy(const struct nw_layout *layout,
                                       struct nw_layout *out);
void nw_layout_copy_fini(struct nw_layout *copy);
/* Moves the processes of a placing to their places here. */
void nw_layout_store(const struct nw_layout *layout,
                     struct nw_placing *placing);

/* Process i becomes what order[i] was; nothing may be fixed or loaded. */
NW_MUST_CHECK nw_status nw_layout_renumber(struct nw_layout *layout,
                                           const int32_t *order);

/* Hop-bytes over all ordered pairs, from scratch. */
double nw_layout_cost(const struct nw_layout *layout);
/* Of all bonds, from both ends; and what they would cost at most, each as far
 * as can be: what rounding in search of less is relative to. */
double nw_layout_bytes(const struct nw_layout *layout);
double nw_layout_most(const struct nw_layout *layout);

/* Puts processes on seats given, each seat once; fixed ones keep theirs. */
void nw_layout_seat(struct nw_layout *layout, const int32_t *seat);

/* Takes seats given where they cost less than *cost, which becomes theirs. */
NW_MUST_CHECK nw_status nw_layout_take_if_better(struct nw_layout *layout,
                                                 const int32_t *seat,
                                                 double *cost);

/* Whether a seat bears a process; -1 is none. */
static inline bool nw_layout_bears(const struct nw_layout *layout, int32_t seat,
                                   int32_t process)
{
    return process < 0 || layout->load[process] <= layout->limit[seat];
}

/* Swaps what is on two seats, free or not. */
static inline void nw_layout_swap(struct nw_layout *layout, int32_t a,
                                  int32_t b)
{
    int32_t u = layout->process[a], v = layout->process[b];

    layout->process[a] = v;
    layout->process[b] = u;
    if (u >= 0) {
        layout->seat[u] = b;
        layout->at[u] = layout->tree->code[b];
    }
    if (v >= 0) {
        layout->seat[v] = a;
        layout->at[v] = layout->tree->code[a];
    }
}

/* The layout of the clusters of a level: its processes are those of
 * `layout` by cluster. Clusters that hold something fixed, or that have
 * another size than most, are fixed. `tree` is made for it. */
NW_MUST_CHECK nw_status nw_layout_lift(const struct nw_layout *layout,
                                       int32_t level, struct nw_layout *out,
                                       struct nw_tree *tree);
/* Moves whole clusters of `layout` as those of `lifted` were moved. */
NW_MUST_CHECK nw_status nw_layout_drop(struct nw_layout *layout, int32_t level,
                                       const struct nw_layout *lifted);

#endif
