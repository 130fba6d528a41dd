/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Dist_graph_create and MPI_Dist_graph_create_adjacent: the edges are
 * gathered on rank 0, which decides the order. For
 * MPI_Dist_graph_create_adjacent, the lists of neighbours of a vertex are then
 * sent to the process that takes the vertex. */
#include "runtime/reorder/gather.h"

#include "base/array.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The edges that a rank passed to MPI. edge[i] contains the source, the
 * target and the weight of edge i. The weight -1 means that the rank passed no
 * weights. */
struct edges {
    int (*edge)[3];
    int count;
};

static bool is_unweighted(const int *weights)
{
/* in Open MPI and in the standard ABI, MPI_UNWEIGHTED is a constant; in MPICH
 * it is a variable */
#if defined OPEN_MPI || defined NW_MODEL_MPIABI
    return weights == MPI_UNWEIGHTED;
#else
    int **value = NW_CACHED(nw_mpi_data, "MPI_UNWEIGHTED");

    return value && weights == *value;
#endif
}

static bool dist_add_edge(struct edges *edges, size_t *capacity, int from,
                          int to, int weight)
{
    if (nw_grow(&edges->edge, capacity, (size_t)edges->count + 1,
                sizeof *edges->edge))
        return false;
    edges->edge[edges->count][0] = from;
    edges->edge[edges->count][1] = to;
    edges->edge[edges->count++][2] = weight;
    return true;
}

/* Returns true if `rank` is valid in a list of neighbours: a rank of the
 * communicator, or MPI_PROC_NULL, which MPI libraries accept. */
static bool dist_is_peer(const struct nw_call *call, int rank)
{
    return rank == MPI_PROC_NULL || (rank >= 0 && rank < call->size);
}

static bool all_between(const int *values, int count, int low, int end)
{
    if (count > 0 && !values)
        return false;
    for (int i = 0; i < count; i++)
        if (values[i] < low || values[i] >= end)
            return false;
    return count >= 0;
}

/* Returns the weight of an edge that has no weight from the program: its bytes
 * in the profile, or 1 without a profile. */
static uint64_t dist_profiled(const struct nw_call *call, int from, int to)
{
    const nw_pattern *profile = nw_reorder_profile();
    int a = call->members->world[from], b = call->members->world[to];
    uint64_t bytes = 0;

    if (!profile)
        return 1;
    for (size_t e = profile->row[a]; e < profile->row[a + 1]; e++)
        if (profile->dst[e] == b)
            bytes += profile->bytes[e];
    return bytes;
}

/* Decides the order on rank 0 from the edges of all ranks. If any edge leads to
 * MPI_PROC_NULL, the order stays: MPI 4.0 (section 8.5.4) forbids such edges,
 * MPICH 4.0 hangs and Open MPI 4.1 writes out of bounds. */
static bool dist_decide(struct nw_call *call, const int *edge, int count)
{
    nw_pattern_builder *builder = NULL;
    nw_pattern *pattern = NULL;
    nw_status status;
    bool good;

    for (int i = 0; i < count; i++)
        if (edge[3 * i + 1] == MPI_PROC_NULL)
            return true;
    status = nw_pattern_builder_new(call->size, &builder);
    for (int i = 0; !status && i < count; i++, edge += 3) {
        uint64_t weight = edge[2] < 0 ? dist_profiled(call, edge[0], edge[1])
                                      : (uint64_t)edge[2];

        if (edge[0] != edge[1] && weight)
            status = nw_pattern_builder_add(builder, edge[0], edge[1],
                                            NW_KIND_HH, weight, 1);
    }
    good = !status && !nw_pattern_builder_build(builder, &pattern) &&
           (!pattern->edge_count || nw_call_decide(call, pattern));
    nw_pattern_free(pattern);
    nw_pattern_builder_free(builder);
    return good;
}

/* For each rank r, lists two ranks: the vertex that r takes, and the vertex of
 * the process whose old rank is this vertex. That process sends its lists of
 * neighbours to r. */
static bool list_pairs(const struct nw_call *call, int **out)
{
    const int *vertex = call->decision.vertex;

    if (nw_alloc((size_t)call->size * 2, sizeof **out, out))
        return false;
    for (int r = 0; call->decision.changes && r < call->size; r++) {
        (*out)[2 * r] = vertex[r];
        (*out)[2 * r + 1] = vertex[vertex[r]];
    }
    return true;
}

static bool dist_answer(struct nw_call *call, const struct nw_gather *gather,
                        bool good)
{
    int *pairs = NULL, mine[2] = {0};

    if (!call->rank)
        good = good && list_pairs(call, &pairs);
    good = nw_call_verdict(call, good);
    if (good && call->decision.changes)
        good = nw_gather_answer(gather, pairs, mine);
    free(pairs);
    call->mine = mine[0];
    call->giver = mine[1];
    return good;
}

static bool dist_share(struct nw_call *call, const struct nw_gather *gather,
                       bool good)
{
    if (gather->stages > 1)
        return dist_answer(call, gather, good);
    if (!nw_call_share(call, good))
        return false;
    if (call->decision.changes)
        call->giver = call->decision.vertex[call->mine];
    return true;
}

/* Decides the order of the ranks. Returns true if the order changes.
 * Collective. */
static bool dist_settle(struct nw_call *call, const struct edges *mine,
                        bool good)
{
    struct nw_gather gather;
    const int *words = NULL;
    int total = 0;
    char shape[48];

    good = good && call->wanted && nw_call_reserve(call);
    if (nw_gather_lists(&gather, call, good, (const int *)mine->edge,
                        3 * mine->count, &words, &total)) {
        good = call->rank || dist_decide(call, words, total / 3);
        good = dist_share(call, &gather, good);
        snprintf(shape, sizeof shape, "of %d edge%s", total / 3,
                 nw_plural((uint64_t)(total / 3)));
        good = good && nw_call_report(call, shape);
    } else {
        good = false;
    }
    nw_gather_close(&gather);
    return good;
}

static bool list_edges(struct nw_call *call, int count, const int *sources,
                       const int *degrees, const int *destinations,
                       const int *weights, struct edges *out)
{
    bool plain = is_unweighted(weights);
    size_t capacity = 0;
    int at = 0;

    call->bad = !all_between(sources, count, 0, call->size) ||
                !all_between(degrees, count, 0, INT32_MAX);
    if (call->bad)
        return false;
    for (int i = 0; i < count; i++)
        for (int k = 0; k < degrees[i]; k++, at++) {
            call->bad = !destinations || !(plain || weights) ||
                        !dist_is_peer(call, destinations[at]) ||
                        (!plain && weights[at] < 0);
            if (call->bad ||
                !dist_add_edge(out, &capacity, sources[i], destinations[at],
                               plain ? -1 : weights[at]))
                return false;
        }
    return true;
}

int nw_dist_graph_create(MPI_Comm comm, int count, const int *sources,
                         const int *degrees, const int *destinations,
                         const int *weights, MPI_Info info, int reorder,
                         MPI_Comm *out)
{
    struct nw_call call;
    struct edges mine = {0};
    MPI_Comm permuted;
    bool ours = nw_call_open(&call, "MPI_Dist_graph_create", comm, reorder);
    int code;

    if (ours) {
        bool good = list_edges(&call, count, sources, degrees, destinations,
                               weights, &mine);

        ours = dist_settle(&call, &mine, good);
    }
    free(mine.edge);
    code = call.refused ? nw_call_refuse(&call, MPI_ERR_ARG)
           : ours       ? nw_call_permute(&call, &permuted)
                        : MPI_SUCCESS;
    /* The edges are given by vertex numbers, so any process may pass any edge.
     */
    if (!code)
        code = NW_PMPI(Dist_graph_create)(
            ours ? permuted : comm, count, sources, degrees, destinations,
            weights, info, ours ? 0 : nw_call_reorder(&call, reorder), out);
    if (ours && !code)
        NW_PMPI(Comm_free)(&permuted);
    if (!code && call.opened)
        nw_call_finish(&call, *out);
    nw_call_close(&call);
    return code;
}

/* The lists of neighbours of one vertex. */
struct lists {
    int in, out;
    int *words; /* sources, destinations, weights of sources, of destinations */
};

static bool dist_pack(struct lists *lists, const int *sources,
                      const int *source_weights, const int *destinations,
                      const int *destination_weights)
{
    size_t in = (size_t)lists->in, out = (size_t)lists->out;
    bool plain =
        is_unweighted(source_weights) || is_unweighted(destination_weights);

    if (nw_alloc(2 * (in + out), sizeof *lists->words, &lists->words))
        return false;
    if (in)
        memcpy(lists->words, sources, in * sizeof *sources);
    if (out)
        memcpy(lists->words + in, destinations, out * sizeof *destinations);
    if (in && !plain)
        memcpy(lists->words + in + out, source_weights,
               in * sizeof *source_weights);
    if (out && !plain)
        memcpy(lists->words + 2 * in + out, destination_weights,
               out * sizeof *destination_weights);
    return true;
}

/* Sends the lists of this process's old rank v to the process with the new rank
 * v in `permuted`. Receives the lists for this process into `taken`. If memory
 * is exhausted on any rank, sets taken->words to NULL on all ranks. */
static int move_lists(const struct nw_call *call, MPI_Comm permuted,
                      const struct lists *mine, struct lists *taken)
{
    int from = call->giver, to = call->rank, room, all = 0;
    int code = NW_PMPI(Sendrecv)(mine, 2, MPI_INT, to, 0, taken, 2, MPI_INT,
                                 from, 0, permuted, MPI_STATUS_IGNORE);

    if (code)
        return code;
    taken->words = malloc((size_t)(taken->in + taken->out) * 2 * sizeof(int) +
                          sizeof(int));
    room = taken->words != NULL;
    code = NW_PMPI(Allreduce)(&room, &all, 1, MPI_INT, MPI_MIN, permuted);
    if (code || !all) {
        free(taken->words);
        taken->words = NULL;
        return code;
    }
    return NW_PMPI(Sendrecv)(mine->words, 2 * (mine->in + mine->out), MPI_INT,
                             to, 1, taken->words, 2 * (taken->in + taken->out),
                             MPI_INT, from, 1, permuted, MPI_STATUS_IGNORE);
}

/* Sets *out to MPI_COMM_NULL on all ranks if memory is exhausted on any. */
static int create_adjacent(const struct nw_call *call, const struct lists *mine,
                           const int *unweighted, MPI_Info info, MPI_Comm *out)
{
    struct lists taken = {0};
    MPI_Comm permuted;
    int code = nw_call_permute(call, &permuted), *weights;

    *out = MPI_COMM_NULL;
    if (code)
        return code;
    code = move_lists(call, permuted, mine, &taken);
    weights = taken.words ? taken.words + taken.in + taken.out : NULL;
    if (!code && taken.words)
        code = NW_PMPI(Dist_graph_create_adjacent)(
            permuted, taken.in, taken.words, unweighted ? unweighted : weights,
            taken.out, taken.words + taken.in,
            unweighted ? unweighted : weights + taken.in, info, 0, out);
    NW_PMPI(Comm_free)(&permuted);
    free(taken.words);
    return code;
}

static bool list_outgoing(const struct nw_call *call, const struct lists *lists,
                          const int *destinations, const int *weights,
                          struct edges *out)
{
    bool plain = is_unweighted(weights);
    size_t capacity = 0;

    for (int i = 0; i < lists->out; i++)
        if (destinations[i] != MPI_PROC_NULL &&
            !dist_add_edge(out, &capacity, call->rank, destinations[i],
                           plain ? -1 : weights[i]))
            return false;
    return true;
}

static bool dist_is_sound(const struct nw_call *call, int count,
                          const int *peers, const int *weights)
{
    for (int i = 0; i < count; i++)
        if (!peers || !dist_is_peer(call, peers[i]))
            return false;
    return count >= 0 && (is_unweighted(weights) ||
                          all_between(weights, count, 0, INT32_MAX));
}

int nw_dist_graph_create_adjacent(MPI_Comm comm, int indegree,
                                  const int *sources, const int *source_weights,
                                  int outdegree, const int *destinations,
                                  const int *destination_weights, MPI_Info info,
                                  int reorder, MPI_Comm *out)
{
    struct lists lists = {indegree, outdegree, NULL};
    struct nw_call call;
    struct edges mine = {0};
    bool ours =
        nw_call_open(&call, "MPI_Dist_graph_create_adjacent", comm, reorder);
    int code;

    if (ours) {
        bool good;

        call.bad =
            !dist_is_sound(&call, indegree, sources, source_weights) ||
            !dist_is_sound(&call, outdegree, destinations, destination_weights);
        good = !call.bad &&
               dist_pack(&lists, sources, source_weights, destinations,
                         destination_weights) &&
               list_outgoing(&call, &lists, destinations, destination_weights,
                             &mine);

        ours = dist_settle(&call, &mine, good);
    }
    free(mine.edge);
    code = call.refused ? nw_call_refuse(&call, MPI_ERR_ARG)
           : ours       ? create_adjacent(
                              &call, &lists,
                        is_unweighted(source_weights) ? source_weights : NULL,
                              info, out)
                  : MPI_SUCCESS;
    if (!code && (!ours || *out == MPI_COMM_NULL))
        code = NW_PMPI(Dist_graph_create_adjacent)(
            comm, indegree, sources, source_weights, outdegree, destinations,
            destination_weights, info, nw_call_reorder(&call, reorder), out);
    if (!code && call.opened)
        nw_call_finish(&call, *out);
    free(lists.words);
    nw_call_close(&call);
    return code;
}
