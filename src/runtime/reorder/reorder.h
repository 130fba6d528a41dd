/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's topology functions with reordering. The meaning of an order ("vertex
 * semantics") is: the process with the new rank k takes vertex k of the given
 * graph. So the program finds, under its new rank, the neighbours that the
 * graph gives to this rank, and edges with much traffic are short. (If each
 * process kept its neighbours under new numbers, the same bytes would move
 * between the same cores.)
 *
 * Each function here replaces the MPI function of its name. The generated
 * wrapper calls it with nw_depth raised, so that MPI calls inside are not
 * replaced. If Nodewise fails, the MPI library's own function is called. */
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
/* Stores the value of the info key nodewise_cart_weights with the communicator,
 * because MPI libraries drop unknown keys. Rank 0 warns about other keys that
 * begin with "nodewise_". */
void nw_reorder_note_info(MPI_Comm comm, MPI_Info info);
/* In a duplicate of a communicator, replaces the inherited info keys by those
 * of `info`. */
void nw_reorder_note_copy(MPI_Comm comm, MPI_Info info);

/* --- functions common to the six calls (start.c, call.c) --- */

/* Sets *out to the members of a communicator. They are computed at the first
 * call and then stored with the communicator, which owns them. Sets *out to
 * NULL if memory is exhausted or MPI fails, possibly on this rank only. Returns
 * false on all ranks if a member is not in MPI_COMM_WORLD. */
bool nw_reorder_members(MPI_Comm comm, struct nw_members **out);
/* Returns the number of this rank's node. */
int nw_reorder_own_node(void);
const struct nw_reorder_settings *nw_reorder_settings(void);
/* Turns reordering on for one call, without a report, unless NODEWISE_REORDER
 * has set another mode than "off". `weights`: those of the grid's dimensions,
 * or NULL. Reads the machine if that has not been done yet, which is collective
 * over MPI_COMM_WORLD. Stores the old settings in *before, which
 * nw_reorder_settle restores. Returns false if the machine could not be read.
 */
bool nw_reorder_ask(const double *weights, int count,
                    struct nw_reorder_settings *before);
void nw_reorder_settle(const struct nw_reorder_settings *before);
/* Returns the pattern that NODEWISE_PROFILE names, or NULL. */
const nw_pattern *nw_reorder_profile(void);
/* Returns the value of nodewise_cart_weights stored with a communicator, or
 * NULL. */
const char *nw_reorder_noted(MPI_Comm comm);

/* The state of one call that creates a communicator. */
struct nw_call {
    const char *name;
    MPI_Comm comm;
    int rank, size;
    bool opened;                /* result of nw_call_open, equal on all ranks */
    struct nw_members *members; /* of `comm`; NULL: this rank has failed */
    bool wanted;                /* reordering was requested and is possible */
    bool settled;               /* the order was decided and, unless
                                   settings->quiet, reported */
    bool knows_all;             /* decision.vertex is valid on all ranks */
    bool bad;                   /* MPI would reject this rank's arguments */
    bool refused;               /* arguments are invalid on some ranks only */
    bool moved;                 /* at least one process gets another rank */
    double begun;               /* start of the call in s */
    struct nw_decision decision;
    int *order;           /* [size] room for nw_call_permute, or NULL */
    const double *weight; /* weights of the grid's dimensions, or NULL */
    int mine;  /* vertex of the graph or grid that this process takes, its
                  new rank; -1: none */
    int giver; /* vertex of the process whose old rank is `mine`; it
                  sends its lists of neighbours to this process
                  (dist.c) */
};

/* Begins a call. Returns false if Nodewise cannot handle it, because the
 * communicator is an intercommunicator or has members outside MPI_COMM_WORLD.
 * Local; the result is equal on all ranks. A rank on which memory is exhausted
 * sets call->wanted to false: the other ranks learn this later, by
 * nw_call_tell, nw_call_sum or nw_gather_lists. */
bool nw_call_open(struct nw_call *call, const char *name, MPI_Comm comm,
                  int reorder);
void nw_call_close(struct nw_call *call);
/* Allocates the memory that this rank needs in nw_call_share and
 * nw_call_permute. Returns false if memory is exhausted. Must be called before
 * the ranks agree, because after that no rank may fail alone. Local. */
bool nw_call_reserve(struct nw_call *call);
/* Computes call->decision on this rank. Returns false after a warning if that
 * failed. */
bool nw_call_decide(struct nw_call *call, const nw_pattern *graph);
/* Broadcasts rank 0's decision and call->refused. If the order changes, all
 * ranks must have called nw_call_reserve with success. Sets call->mine if the
 * order changes. Returns false on all ranks if `good` is false on rank 0.
 * Collective.
 */
bool nw_call_share(struct nw_call *call, bool good);
/* Broadcasts rank 0's decision without the vertices: only the costs, and
 * whether the order changes. Returns false on all ranks if `good` is false on
 * rank 0. Collective. */
bool nw_call_verdict(struct nw_call *call, bool good);
/* Checks that `good` is true on all ranks and `hash` is equal on all ranks.
 * Only rank 0 returns the result and sets call->refused; it broadcasts both
 * later by nw_call_share. The other ranks return true. Collective. */
bool nw_call_tell(struct nw_call *call, bool good, uint64_t hash);
/* Checks that `good` is true on all ranks and `hash` is equal on all ranks.
 * Replaces cost[] by its sum over all ranks. Sets call->refused. Returns the
 * result on all ranks. Collective. */
bool nw_call_sum(struct nw_call *call, bool good, uint64_t hash,
                 uint64_t cost[2]);
/* Calls the communicator's error handler with `error` on all ranks, and returns
 * the error code. Used if the arguments are invalid on some ranks only: the MPI
 * library would return an error there, and the other ranks would wait forever.
 */
int nw_call_refuse(const struct nw_call *call, int error);
/* Reports the decision on rank 0, unless settings->quiet is true. Returns true
 * if the ranks must be reordered. */
bool nw_call_report(struct nw_call *call, const char *shape);
/* Returns the argument `reorder` that the MPI library's own function gets if
 * the order stays. It is 0 if Nodewise has decided (unless it only reports),
 * because Open MPI's own reordering is known to give wrong neighbours and to
 * crash. */
int nw_call_reorder(const struct nw_call *call, int reorder);
/* Creates a communicator of the members in the order of their vertices; *out is
 * MPI_COMM_NULL on members without a vertex. Returns an MPI error code.
 * Collective. */
int nw_call_permute(const struct nw_call *call, MPI_Comm *out);
/* Ends a call that created the communicator `made`. With NODEWISE_CHECK=1,
 * checks whether both ends of every edge of `made` know the edge, and reports
 * the result. With NODEWISE_GPU=assign, assigns GPUs by the edges of the first
 * communicator. Collective over `made`. */
void nw_call_finish(const struct nw_call *call, MPI_Comm made);

/* In rank_asked.c: with NODEWISE_CHECK=1, this process, whose rank in `made` is
 * `rank`, watches whether the program asks for its rank in `made` if the ranks
 * were reordered. If it never does, rank 0 of `made` warns when `made` is freed
 * or at the end. Local. */
void nw_asked_watch(const struct nw_call *call, MPI_Comm made, int rank);
void nw_asked_note(MPI_Comm comm); /* the program has asked for its rank */
void nw_asked_finish(void);

/* In unused.c: the line that `nodewise reorder` lets rank 0 print about a
 * program whose calls could not reorder anything. */
void nw_unused_start(int rank);
void nw_unused_note(const struct nw_call *call); /* a call has begun */
/* Prints the line on rank 0 if no call asked for reordering. Local. */
void nw_unused_finish(int rank_count);

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count);

#endif
