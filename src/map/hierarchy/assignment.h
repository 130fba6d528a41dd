/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An assignment of processes to the slots of a hierarchy, with the undirected
 * edges between processes. The change of hop-bytes by a swap follows from the
 * edges of the two processes alone. An assignment may also place whole
 * subtrees: each process is then a cluster with all processes in it.
 */
#ifndef NW_MAP_HIERARCHY_ASSIGNMENT_H
#define NW_MAP_HIERARCHY_ASSIGNMENT_H

#include "map/hierarchy/hierarchy.h"

/* Bytes exchanged with a peer, both directions together. */
struct nw_undirected_edge {
    int32_t peer;
    double bytes;
};

/* The processes, their edges and their slots. */
struct nw_assignment {
    const struct nw_hierarchy *hierarchy;
    int32_t threads; /* most threads; 0: one */
    int32_t count;   /* number of processes */
    size_t *row;     /* [count + 1] first edge of each process */
    struct nw_undirected_edge
        *edge;     /* each edge is stored with both its ends; none of 0 bytes */
    int32_t *slot; /* [count] slot of a process */
    int32_t *process; /* [slots] process of a slot, -1: free */
    uint64_t *at;     /* [count] code of the process's slot in the hierarchy */
    bool *fixed;      /* [slots] the content of the slot stays, even if it is
                         free */
    int32_t *name; /* [count] number of the process in the placement; NULL: its
                      own number */
    const int64_t *load; /* [count] load of a process; borrowed; NULL: loads are
                            not limited */
    int64_t *limit;      /* [slots] largest load allowed */
};

/* Makes an assignment from a complete placement on the places of `hierarchy`.
 * The caller calls nw_assignment_fini, also after a failure. */
NW_MUST_CHECK nw_status nw_assignment_init(
    struct nw_assignment *assignment, const struct nw_hierarchy *hierarchy,
    const struct nw_placement *placement);
void nw_assignment_fini(struct nw_assignment *assignment);
/* Copies the slots; the copy borrows the edges of `assignment`. The caller
 * frees it with nw_assignment_copy_fini. */
NW_MUST_CHECK nw_status nw_assignment_copy(
    const struct nw_assignment *assignment, struct nw_assignment *out);
void nw_assignment_copy_fini(struct nw_assignment *copy);
/* Writes the places back to the placement. */
void nw_assignment_store(const struct nw_assignment *assignment,
                         struct nw_placement *placement);

/* Renumbers the processes: the former process order[i] becomes process i. No
 * slot may be fixed and no load limited. */
NW_MUST_CHECK nw_status nw_assignment_renumber(struct nw_assignment *assignment,
                                               const int32_t *order);

/* Returns the hop-bytes of all ordered pairs of processes, computed from
 * scratch. */
double nw_assignment_cost(const struct nw_assignment *assignment);
/* nw_assignment_bytes returns the bytes of all edges, counted at both ends.
 * nw_assignment_cost_bound returns their hop-bytes if every edge spanned the
 * largest distance, a scale for rounding errors. */
double nw_assignment_bytes(const struct nw_assignment *assignment);
double nw_assignment_cost_bound(const struct nw_assignment *assignment);

/* Moves process p to slot[p], each slot once; fixed processes stay. */
void nw_assignment_set(struct nw_assignment *assignment, const int32_t *slot);

/* Moves the processes to the given slots and updates *cost if these slots cost
 * less than *cost. */
NW_MUST_CHECK nw_status nw_assignment_take_if_better(
    struct nw_assignment *assignment, const int32_t *slot, double *cost);

/* Returns true if the load of a process (-1: none) is within the limit of a
 * slot. */
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

/* Contracts the assignment to the clusters of a level, which become the
 * processes of *out; fills *hierarchy with the tree above them. Clusters with a
 * fixed slot, or of a size that differs from most others, are fixed. */
NW_MUST_CHECK nw_status nw_assignment_contract(
    const struct nw_assignment *assignment, int32_t level,
    struct nw_assignment *out, struct nw_hierarchy *hierarchy);
/* Moves whole clusters of the level to where the processes of `contracted` were
 * moved. */
NW_MUST_CHECK nw_status
nw_assignment_project(struct nw_assignment *assignment, int32_t level,
                      const struct nw_assignment *contracted);

#endif
