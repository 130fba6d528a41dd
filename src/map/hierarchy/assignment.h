/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An assignment of processes to the slots of a hierarchy, with the undirected
 * edges between processes. The change of hop-bytes by a swap follows from the
 * edges of the two swapped processes alone. An assignment may also place whole
 * subtrees: each process is then a cluster with all processes in it.
 */
#ifndef NW_MAP_HIERARCHY_ASSIGNMENT_H
#define NW_MAP_HIERARCHY_ASSIGNMENT_H

#include "map/hierarchy/hierarchy.h"

/* An edge of one process: its other end, and the bytes of both directions
 * together. */
struct nw_undirected_edge {
    int32_t peer;
    double bytes;
};

/* The processes, the edges between them, and the slot of each. */
struct nw_assignment {
    const struct nw_hierarchy *hierarchy;
    int32_t threads; /* most threads for loops over processes; 0: one */
    int32_t count;   /* number of processes */
    size_t *row;     /* [count + 1] index in edge[] of a process's first edge */
    struct nw_undirected_edge *edge; /* each edge is stored at both its ends; no
                                        edge has 0 bytes */
    int32_t *slot;                   /* [count] slot of a process */
    int32_t *process;                /* [slots] process of a slot, -1: free */
    uint64_t *at;  /* [count] code (path in the tree) of the process's
                      slot */
    bool *fixed;   /* [slots] what is on the slot stays there, even if it is
                      free */
    int32_t *name; /* [count] number of each process in the placement; NULL: the
                      numbers are the same */
    const int64_t *load; /* [count] load of each process; borrowed; NULL: loads
                            are not limited */
    int64_t *limit;      /* [slots] largest load of a process on the slot; not
                            read if `load` is NULL */
};

/* Makes an assignment from a placement on the places of `hierarchy`, in which
 * every process has a place. The caller calls nw_assignment_fini, also after a
 * failure. */
NW_MUST_CHECK nw_status nw_assignment_init(
    struct nw_assignment *assignment, const struct nw_hierarchy *hierarchy,
    const struct nw_placement *placement);
void nw_assignment_fini(struct nw_assignment *assignment);
/* Copies the slots of an assignment; the copy borrows all other arrays. The
 * caller frees the copy with nw_assignment_copy_fini. */
NW_MUST_CHECK nw_status nw_assignment_copy(
    const struct nw_assignment *assignment, struct nw_assignment *out);
void nw_assignment_copy_fini(struct nw_assignment *copy);
/* Writes the place of each process's slot to the placement. */
void nw_assignment_store(const struct nw_assignment *assignment,
                         struct nw_placement *placement);

/* Renumbers the processes: the process that had number order[i] gets number i.
 * No slot may be fixed and loads may not be limited. */
NW_MUST_CHECK nw_status nw_assignment_renumber(struct nw_assignment *assignment,
                                               const int32_t *order);

/* Returns the hop-bytes of the assignment, computed from scratch. */
double nw_assignment_cost(const struct nw_assignment *assignment);
/* nw_assignment_bytes returns the bytes of all edges, counted at both ends.
 * nw_assignment_cost_bound returns twice the hop-bytes that there would be if
 * every edge spanned the largest distance; rounding errors are measured against
 * it. */
double nw_assignment_bytes(const struct nw_assignment *assignment);
double nw_assignment_cost_bound(const struct nw_assignment *assignment);

/* Moves every process p to slot[p]. All entries must differ, and processes on
 * fixed slots must stay. */
void nw_assignment_set(struct nw_assignment *assignment, const int32_t *slot);

/* Moves every process p to slot[p] if that costs less than *cost hop-bytes, and
 * then sets *cost to the new cost. */
NW_MUST_CHECK nw_status nw_assignment_take_if_better(
    struct nw_assignment *assignment, const int32_t *slot, double *cost);

/* Returns true if the load of `process` is at most the limit of `slot`; always
 * true for process -1 (a free slot). Loads must be limited. */
static inline bool
nw_assignment_within_limit(const struct nw_assignment *assignment, int32_t slot,
                           int32_t process)
{
    return process < 0 || assignment->load[process] <= assignment->limit[slot];
}

/* Swaps the contents of slots a and b; each may be free. Uses atomic stores,
 * because threads that swap other slots (anneal_swaps.c) may read the slots of
 * processes at the same time. */
static inline void nw_assignment_swap(struct nw_assignment *assignment,
                                      int32_t a, int32_t b)
{
    int32_t u = assignment->process[a], v = assignment->process[b];

    assignment->process[a] = v;
    assignment->process[b] = u;
    if (u >= 0) {
        __atomic_store_n(&assignment->slot[u], b, __ATOMIC_RELAXED);
        __atomic_store_n(&assignment->at[u], assignment->hierarchy->code[b],
                         __ATOMIC_RELAXED);
    }
    if (v >= 0) {
        __atomic_store_n(&assignment->slot[v], a, __ATOMIC_RELAXED);
        __atomic_store_n(&assignment->at[v], assignment->hierarchy->code[a],
                         __ATOMIC_RELAXED);
    }
}

/* Makes *out, an assignment whose processes are the clusters of a level, each
 * on its own slot, with the sums of their edges. Fills *hierarchy with the tree
 * above these clusters. Clusters are fixed if they contain a fixed slot or have
 * another number of slots than most. The caller frees both results by
 * nw_assignment_fini and nw_hierarchy_fini; after a failure both are empty. */
NW_MUST_CHECK nw_status nw_assignment_contract(
    const struct nw_assignment *assignment, int32_t level,
    struct nw_assignment *out, struct nw_hierarchy *hierarchy);
/* Moves whole clusters of the level: the processes of cluster c go to the slots
 * of the cluster on which `contracted` has process c. */
NW_MUST_CHECK nw_status
nw_assignment_project(struct nw_assignment *assignment, int32_t level,
                      const struct nw_assignment *contracted);

#endif
