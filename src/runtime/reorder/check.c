/* SPDX-License-Identifier: BSD-3-Clause */
/* With NODEWISE_CHECK=1, checks every communicator with a topology when it is
 * created: the source and the target must agree about each edge. Also assigns
 * GPUs by these edges (gpus.h). */
#include "runtime/reorder/gpus.h"
#include "runtime/reorder/reorder.h"

#include "base/array.h"
#include "runtime/warn.h"

#include <stdlib.h>

/* The edges of this rank as pairs (from, to): `leaving` are outgoing, `coming`
 * incoming. */
struct check_ends {
    int leaving_count, coming_count;
    int (*leaving)[2], (*coming)[2];
    int *weight; /* weights of `leaving`; NULL: all 1 */
    int *back;   /* in a grid: weights of the edges from this rank back to the
                    sources of `coming` */
};

/* The ask_ functions return false if MPI fails or memory is exhausted. */
static bool ask_dist_graph(MPI_Comm comm, int rank, struct check_ends *ends)
{
    int weighted, in, out, *peer = NULL;

    if (NW_PMPI(Dist_graph_neighbors_count)(comm, &in, &out, &weighted))
        return false;
    if (NW_ALLOC_ALL(NW_ARRAY((size_t)(in + out), peer),
                     NW_ARRAY((size_t)(in + out), ends->weight),
                     NW_ARRAY((size_t)out, ends->leaving),
                     NW_ARRAY((size_t)in, ends->coming))) {
        free(peer);
        return false;
    }
    NW_PMPI(Dist_graph_neighbors)
    (comm, in, peer, ends->weight, out, peer + in, ends->weight + in);
    for (int i = 0; i < in; i++) {
        ends->coming[i][0] = peer[i];
        ends->coming[i][1] = rank;
    }
    for (int i = 0; i < out; i++) {
        ends->leaving[i][0] = rank;
        ends->leaving[i][1] = peer[in + i];
    }
    ends->coming_count = in;
    ends->leaving_count = out;
    for (int i = 0; i < out; i++) /* after the weights of the incoming edges */
        ends->weight[i] = weighted ? ends->weight[in + i] : 1;
    free(peer);
    return true;
}

static bool ask_cart(const struct nw_call *call, MPI_Comm comm, int rank,
                     struct check_ends *ends)
{
    int dims = 0, in = 0, out = 0;

    if (NW_PMPI(Cartdim_get)(comm, &dims) ||
        NW_ALLOC_ALL(NW_ARRAY((size_t)dims, ends->leaving),
                     NW_ARRAY((size_t)dims, ends->coming),
                     NW_ARRAY((size_t)dims, ends->weight),
                     NW_ARRAY((size_t)dims, ends->back)))
        return false;
    for (int d = 0; d < dims; d++) {
        int from = MPI_PROC_NULL, to = MPI_PROC_NULL;
        int weight = call->weight ? (int)call->weight[d] : 1;

        NW_PMPI(Cart_shift)(comm, d, 1, &from, &to);
        if (from != MPI_PROC_NULL) {
            ends->back[in] = weight;
            ends->coming[in][0] = from;
            ends->coming[in++][1] = rank;
        }
        if (to != MPI_PROC_NULL) {
            ends->weight[out] = weight;
            ends->leaving[out][0] = rank;
            ends->leaving[out++][1] = to;
        }
    }
    ends->coming_count = in;
    ends->leaving_count = out;
    return true;
}

/* Reads the outgoing edges from MPI's list for this rank, and the incoming
 * edges from the whole graph. */
static bool ask_graph(MPI_Comm comm, int rank, struct check_ends *ends)
{
    int size, count, in = 0, out = 0;
    int *index = NULL, *edge = NULL, *peer = NULL;
    bool good;

    if (NW_PMPI(Graphdims_get)(comm, &size, &count) ||
        NW_PMPI(Graph_neighbors_count)(comm, rank, &out))
        return false;
    good = !NW_ALLOC_ALL(
        NW_ARRAY((size_t)size, index), NW_ARRAY((size_t)count, edge),
        NW_ARRAY((size_t)out, peer), NW_ARRAY((size_t)out, ends->leaving),
        NW_ARRAY((size_t)count, ends->coming));
    if (!good)
        goto out;
    NW_PMPI(Graph_get)(comm, size, count, index, edge);
    NW_PMPI(Graph_neighbors)(comm, rank, out, peer);
    for (int i = 0; i < out; i++) {
        ends->leaving[i][0] = rank;
        ends->leaving[i][1] = peer[i];
    }
    for (int v = 0, e = 0; v < size; v++)
        for (; e < index[v]; e++)
            if (edge[e] == rank) {
                ends->coming[in][0] = v;
                ends->coming[in++][1] = rank;
            }
    ends->leaving_count = out;
    ends->coming_count = in;
out:
    free(index);
    free(edge);
    free(peer);
    return good;
}

/* Returns the sum of the hashes of the edges. The sums over all ranks are equal
 * for outgoing and incoming edges if both ends of every edge know the edge. */
static uint64_t reorder_check_sum_of(int (*edge)[2], int count)
{
    uint64_t sum = 0;

    for (int i = 0; i < count; i++)
        /* skips MPI_PROC_NULL, which is negative */
        if (edge[i][0] >= 0 && edge[i][1] >= 0)
            sum += nw_hash_ints(1, edge[i], 2);
    return sum;
}

static bool reorder_check_ask(const struct nw_call *call, MPI_Comm made,
                              int rank, struct check_ends *ends)
{
    int kind = MPI_UNDEFINED;

    NW_PMPI(Topo_test)(made, &kind);
    return kind == MPI_DIST_GRAPH ? ask_dist_graph(made, rank, ends)
           : kind == MPI_CART     ? ask_cart(call, made, rank, ends)
           : kind == MPI_GRAPH    ? ask_graph(made, rank, ends)
                                  : true;
}

static void reorder_check(const struct nw_call *call, MPI_Comm made,
                          const struct check_ends *ends)
{
    uint64_t mine[2], all[2] = {0};
    int rank;

    NW_PMPI(Comm_rank)(made, &rank);
    mine[0] = reorder_check_sum_of(ends->leaving, ends->leaving_count);
    mine[1] = reorder_check_sum_of(ends->coming, ends->coming_count);
    NW_PMPI(Allreduce)(mine, all, 2, MPI_UINT64_T, MPI_SUM, made);
    if (!rank)
        nw_say("%s: %s", call->name,
               all[0] == all[1] ? "checked, both ends of every edge agree"
                                : "WRONG, the ends of an edge disagree");
}

/* Assigns GPUs by the bytes that this rank sends. In a grid and in a graph of
 * MPI_Graph_create, each edge is used in both directions, so the sources of the
 * incoming edges are peers, too. */
static void reorder_check_assign_gpus(MPI_Comm made,
                                      const struct check_ends *ends)
{
    int out = ends->leaving_count, in = ends->coming_count;
    struct nw_gpu_edge *edge = calloc((size_t)(out + in) + 1, sizeof *edge);

    for (int i = 0; edge && i < out; i++) {
        edge[i].peer = ends->leaving[i][1];
        edge[i].bytes = ends->weight ? ends->weight[i] : 1;
    }
    for (int i = 0; edge && i < in; i++) {
        edge[out + i].peer = ends->coming[i][0];
        edge[out + i].bytes = ends->back ? ends->back[i] : !ends->weight;
    }
    nw_gpus_assign(made, edge, edge ? out + in : 0);
    free(edge);
}

void nw_call_finish(const struct nw_call *call, MPI_Comm made)
{
    const struct nw_reorder_settings *settings = nw_reorder_settings();
    struct check_ends ends = {0};
    int rank;

    /* A graph that MPI should reject (call->bad) is not checked: Open MPI
     * accepts one with a decreasing index, and then returns neighbours from
     * beyond its edge list. */
    if (made == MPI_COMM_NULL || call->bad ||
        (!settings->check && !settings->gpus))
        return;
    NW_PMPI(Comm_rank)(made, &rank);
    /* a rank without memory for its edges could not be checked */
    if (nw_all_ranks(made, reorder_check_ask(call, made, rank, &ends))) {
        if (settings->check)
            reorder_check(call, made, &ends);
        if (settings->gpus)
            reorder_check_assign_gpus(made, &ends);
    } else if (!rank) {
        nw_warn_once("%s: not checked: a rank cannot read its edges",
                     call->name);
    }
    if (settings->check)
        nw_asked_watch(call, made, rank);
    free(ends.leaving);
    free(ends.coming);
    free(ends.weight);
    free(ends.back);
}
