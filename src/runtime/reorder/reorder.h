/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's topology functions with reordering. **Vertex semantics**: the process
 * with new rank k takes vertex k of the given graph. So under its new rank the
 * program finds the neighbours that the graph gives to that rank, and heavy
 * edges are short. (If each process kept its neighbours under new numbers, the
 * same bytes would move between the same places.)
 *
 * Each function here replaces the MPI function of its name. The generated
 * wrapper calls it with nw_depth raised, so that inner MPI calls are not
 * replaced. If Nodewise fails, the MPI library's own function is called.
 */
#ifndef NW_REORDER_REORDER_H
#define NW_REORDER_REORDER_H

#include "runtime/reorder/decide.h"
#include "runtime/wrap.h"

#include <stdint.h>

int nw_cart_create(MPI_Comm comm, int count, const int *dims,
                   const int *periods, int reorder, MPI_Comm *out);
int nw_cart_map(MPI_Comm comm, int count, const int *dims, const int *periods,
                int *rank);
int nw_graph_create(MPI_Comm comm, int count, const int *index,
                    const int *edges, int reorder, MPI_Comm *out);
int nw_graph_map(MPI_Comm comm, int count, const int *index, const int *edges,
                 int *rank);
int nw_dist_graph_create(MPI_Comm comm, int count, const int *sources,
                         const int *degrees, const int *destinations,
                         const int *weights, MPI_Info info, int reorder,
                         MPI_Comm *out);
int nw_dist_graph_create_adjacent(MPI_Comm comm, int indegree,
                                  const int *sources, const int *source_weights,
                                  int outdegree, const int *destinations,
                                  const int *destination_weights, MPI_Info info,
                                  int reorder, MPI_Comm *out);
/* Stores the info key nodewise_cart_weights with the communicator, since MPI
 * libraries drop unknown keys. Rank 0 warns about other keys that begin with
 * nodewise_. */
void nw_reorder_note_info(MPI_Comm comm, MPI_Info info);
/* Replaces the info keys that a duplicate inherited by those of `info`. */
void nw_reorder_note_copy(MPI_Comm comm, MPI_Info info);

/* --- functions common to the six calls (start.c, call.c) --- */

/* Returns the members of a communicator, computed at the first call and then
 * stored with the communicator, which owns them. Returns NULL if some members
 * are not in MPI_COMM_WORLD. */
struct nw_members *nw_reorder_members(MPI_Comm comm);
const struct nw_reorder_settings *nw_reorder_settings(void);
/* Turns reordering on for one call, with weights of the grid's dimensions or
 * NULL. Reads the machine if that has not been done, which is collective over
 * MPI_COMM_WORLD. Stores the old settings in *before, for nw_reorder_settle.
 * Returns false if the machine could not be read. */
bool nw_reorder_ask(const double *weights, int count,
                    struct nw_reorder_settings *before);
void nw_reorder_settle(const struct nw_reorder_settings *before);
/* Returns the pattern of NODEWISE_PROFILE, or NULL. */
const nw_pattern *nw_reorder_profile(void);
/* Returns the value of nodewise_cart_weights stored with a communicator, or
 * NULL. */
const char *nw_reorder_noted(MPI_Comm comm);

/* State of one call that creates a communicator. */
struct nw_call {
    const char *name;
    MPI_Comm comm;
    int rank, size;
    struct nw_members *members; /* of `comm`; NULL: MPI handles the call */
    bool wanted;                /* reordering was requested */
    bool settled;               /* decided and reported */
    bool knows_all;             /* decision.vertex is valid on all ranks */
    bool bad;                   /* this rank's arguments are invalid for MPI */
    bool refused;               /* invalid on some ranks, valid on others */
    bool moved;                 /* some process gets another rank */
    double begun;               /* s */
    struct nw_decision decision;
    const double *weight; /* of the grid's dimensions, or NULL */
    int mine;             /* vertex of this process; -1: none */
    int giver;            /* vertex of the process whose old rank is `mine` */
};

/* Begins a call. Returns false if Nodewise cannot handle it: the communicator
 * is an intercommunicator, or has members outside MPI_COMM_WORLD. Local, and
 * equal on all ranks. Errors on single ranks are found later by nw_call_tell
 * and nw_call_sum. */
bool nw_call_open(struct nw_call *call, const char *name, MPI_Comm comm,
                  int reorder);
void nw_call_close(struct nw_call *call);
/* Computes call->decision on this rank. Returns false after a warning if that
 * failed. */
bool nw_call_decide(struct nw_call *call, const nw_pattern *graph);
/* Broadcasts rank 0's decision. Returns false on all ranks if `good` is false
 * on rank 0. Collective. */
bool nw_call_share(struct nw_call *call, bool good);
/* Broadcasts rank 0's decision without the vertices: the costs, and whether the
 * order changes. Returns false on all ranks if `good` is false on rank 0.
 * Collective. */
bool nw_call_verdict(struct nw_call *call, bool good);
/* Checks on rank 0 that `good` is true and `hash` is equal on all ranks.
 * Returns the result on rank 0, and true on the other ranks; rank 0 broadcasts
 * it later with nw_call_share. Collective. */
bool nw_call_tell(struct nw_call *call, bool good, uint64_t hash);
/* Checks that `good` is true and `hash` is equal on all ranks, and sums cost[]
 * over all ranks. Returns the result on all ranks. Collective. */
bool nw_call_sum(struct nw_call *call, bool good, uint64_t hash,
                 uint64_t cost[2]);
/* Raises an error on all ranks by the communicator's error handler, and returns
 * the error code. Used if the arguments are invalid on some ranks only: the MPI
 * library would return an error there, and the other ranks would wait for
 * ever. */
int nw_call_refuse(const struct nw_call *call, int error);
/* Reports the decision on rank 0. Returns true if the ranks are to be
 * reordered. */
bool nw_call_report(struct nw_call *call, const char *shape);
/* Returns the argument `reorder` for the MPI library's own call if the order
 * stays. This is 0 if Nodewise decided, because Open MPI's own reordering is
 * known to give wrong neighbours and to crash. */
int nw_call_reorder(const struct nw_call *call, int reorder);
/* Creates a communicator of the members in the order of their vertices; *out is
 * MPI_COMM_NULL on members without a vertex. Returns an MPI error code.
 * Collective. */
int nw_call_permute(const struct nw_call *call, MPI_Comm *out);
/* Ends a call that created `made`. With NODEWISE_CHECK=1, checks and reports
 * whether both ends of every edge of `made` know the edge. With
 * NODEWISE_GPU=assign, chooses GPUs by the edges of the first communicator.
 * Collective over `made`. */
void nw_call_finish(const struct nw_call *call, MPI_Comm made);

/* In rank_asked.c. With NODEWISE_CHECK=1, rank 0 of `made` watches whether the
 * program asks for its rank in the reordered communicator, and warns at the end
 * if it never does. Local. */
void nw_asked_watch(const struct nw_call *call, MPI_Comm made);
void nw_asked_note(MPI_Comm comm); /* a call gave the program its rank */
void nw_asked_finish(void);

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count);

#endif
