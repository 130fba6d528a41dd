/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI's topology functions, done for real. **Vertex semantics**: the process
 * with new rank k takes vertex k of the graph that was given. So the program
 * finds, under its new rank, the neighbours that the graph gives to that rank,
 * and heavy edges are short. (Renumbering the lists so that each process keeps
 * its neighbours moves the same bytes between the same places.)
 *
 * Each function here stands in for the MPI call of that name, runs inside the
 * guard, and falls back to the MPI library's own call in any trouble of ours.
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
/* Keeps the info key nodewise_cart_weights, which MPI libraries drop; says on
 * rank 0 if another begins with nodewise_. */
void nw_reorder_note_info(MPI_Comm comm, MPI_Info info);
/* Replaces the info that the duplicate has inherited. */
void nw_reorder_note_copy(MPI_Comm comm, MPI_Info info);

/* --- what the six share (start.c, call.c) --- */

/* The members of a communicator, from an earlier creation on it or computed
 * now; NULL if some are not of MPI_COMM_WORLD. The communicator owns them. */
struct nw_members *nw_reorder_members(MPI_Comm comm);
const struct nw_reorder_settings *nw_reorder_settings(void);
/* For one call that asks for a new order by itself, with weights of the grid's
 * dimensions or NULL: reads the machine if that was not done yet, and changes
 * the settings until nw_reorder_settle. False if the machine could not be read.
 * The first time collective over MPI_COMM_WORLD. */
bool nw_reorder_ask(const double *weights, int count,
                    struct nw_reorder_settings *before);
void nw_reorder_settle(const struct nw_reorder_settings *before);
/* The pattern of NODEWISE_PROFILE, or NULL. */
const nw_pattern *nw_reorder_profile(void);
/* The weights noted on a communicator, or NULL. */
const char *nw_reorder_noted(MPI_Comm comm);

/* One creation of a communicator. */
struct nw_call {
    const char *name;
    MPI_Comm comm;
    int rank, size;
    struct nw_members *members; /* of the communicator; NULL: not for us */
    bool wanted;                /* to be reordered at all */
    bool settled;               /* decided, and said */
    bool knows_all;             /* who takes which vertex, as all ranks do */
    bool bad;                   /* arguments that MPI refuses, on this rank */
    bool refused;               /* the same on some ranks, not on all */
    bool moved;                 /* some process has another rank than before */
    double begun;               /* s */
    struct nw_decision decision;
    const double *weight; /* of a grid's dimensions, or NULL */
    int mine;             /* the vertex of this process, -1 for none */
    int giver;            /* that of the process whose rank was `mine` */
};

/* False if the call is not ours to handle: an intercommunicator, or members
 * outside of MPI_COMM_WORLD. Local, and the same on all: whatever else is
 * wrong on one rank is found by nw_call_tell. */
bool nw_call_open(struct nw_call *call, const char *name, MPI_Comm comm,
                  int reorder);
void nw_call_close(struct nw_call *call);
/* Computes the decision on this rank; false, after one warning, if that failed.
 */
bool nw_call_decide(struct nw_call *call, const nw_pattern *graph);
/* The decision of rank 0, on all ranks. */
bool nw_call_share(struct nw_call *call, bool good);
/* Whether there is one, its costs and whether it changes anything, without the
 * vertices. */
bool nw_call_verdict(struct nw_call *call, bool good);
/* On rank 0, whether all ranks are well and hold the same, for it to share; on
 * the others true. Collective. */
bool nw_call_tell(struct nw_call *call, bool good, uint64_t hash);
/* The same for every rank to know, and adds up over all ranks what each has of
 * the costs. */
bool nw_call_sum(struct nw_call *call, bool good, uint64_t hash,
                 uint64_t cost[2]);
/* If only some ranks' arguments are bad, MPI libraries return an error there
 * and the other ranks wait for ever. This function raises an error on all ranks
 * by the communicator's handler, and returns its code. */
int nw_call_refuse(const struct nw_call *call, int error);
/* Says what was decided on rank 0; true if it is to be done. */
bool nw_call_report(struct nw_call *call, const char *shape);
/* The reorder argument for the MPI library if the order stays: 0 if we decided,
 * because Open MPI's own search is known to give wrong neighbours and to end
 * jobs. */
int nw_call_reorder(const struct nw_call *call, int reorder);
/* The members in the order of their vertices; MPI_COMM_NULL for those without
 * one. Collective; an MPI error code. */
int nw_call_permute(const struct nw_call *call, MPI_Comm *out);
/* With NODEWISE_CHECK=1: whether both ends of every edge of the new
 * communicator know it, whoever made it; says so. With NODEWISE_GPU=assign the
 * first one's edges choose devices. Collective over it. */
void nw_call_finish(const struct nw_call *call, MPI_Comm made);

/* rank_asked.c: with NODEWISE_CHECK=1, watches on the process of rank 0 whether
 * the program asks for its rank in a reordered communicator, and warns if it
 * never does. Local. */
void nw_asked_watch(const struct nw_call *call, MPI_Comm made);
void nw_asked_note(MPI_Comm comm); /* the program asked */
void nw_asked_finish(void);

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count);

#endif
