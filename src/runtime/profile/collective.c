/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Records collective calls: calls the model of the chosen algorithm with the
 * arguments of the call. In intercommunicators, algorithms differ most between
 * MPI libraries; there, each rank with data is assumed to send it directly to
 * each rank of the other group that gets it. In an all-reduce or
 * MPI_Reduce_scatter_block, it sends only to rank 0 of the other group.
 * MPI_Barrier and MPI_Reduce_scatter are not recorded there.
 */
#include "runtime/profile/collective.h"

#include "runtime/profile/choice.h"
#include "runtime/gpu_memory.h"
#include "runtime/warn.h"

#include <stdlib.h>

/* One collective call on one rank. */
struct collective_call {
    struct nw_comm *comm;
    int class;
};

void nw_collective_open(void)
{
    const char *bad;

    nw_choice_set(getenv("NODEWISE_COLLECTIVES"), &bad);
    if (bad)
        nw_warn_once("NODEWISE_COLLECTIVES: no such model at '%s'", bad);
}

static void collective_send(void *context, int to, uint64_t bytes)
{
    const struct collective_call *call = context;

    nw_record_edge(call->comm, to, call->class, bytes);
}

/* Fills `call` and `model`. Returns false if the call must not be recorded. */
static bool collective_begin(struct collective_call *call,
                             struct nw_model *model, MPI_Comm comm)
{
    if (!nw_choice_is_on() || !nw_record_wanted())
        return false;
    call->comm = nw_comm_find(comm);
    call->class = NW_PART_HH;
    if (!call->comm || call->comm->size < 1)
        return false;
    *model = (struct nw_model){call->comm->rank, call->comm->size,
                               collective_send, call};
    return true;
}

/* Returns true if this rank is the root. In an intercommunicator, a `root` of 0
 * or more is a rank of the other group. */
static bool collective_is_root(const struct collective_call *call, int root)
{
    return root == (call->comm->inter ? MPI_ROOT : call->comm->rank);
}

static bool is_gpu(const void *at, const void *instead)
{
    return nw_gpu_holds(at == MPI_IN_PLACE ? instead : at);
}

static void take_sides(struct collective_call *call, const void *from,
                       const void *to)
{
    if (nw_gpu_is_used())
        call->class = nw_edge_class(is_gpu(from, to), is_gpu(to, from));
}

/* Records a message of `bytes` bytes to every rank of the other group of an
 * intercommunicator. */
static void send_across(const struct nw_model *model, uint64_t bytes)
{
    for (int rank = 0; rank < model->size; rank++)
        model->send(model->context, rank, bytes);
}

/* Records a message to the root of the other group of an intercommunicator. In
 * the root's own group, `root` is negative and no rank sends; the datatype may
 * be MPI_DATATYPE_NULL there. */
static void send_to_root(const struct nw_model *model, int root,
                         struct nw_data data)
{
    if (root >= 0)
        model->send(model->context, root, nw_data_bytes(data));
}

static enum nw_collective_algorithm
collective_choose(enum nw_collective collective, const struct nw_model *model,
                  uint64_t bytes)
{
    return nw_choice(collective, model->size, bytes);
}

void nw_barrier(MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;

    if (collective_begin(&call, &model, comm) && !call.comm->inter)
        nw_model_barrier(&model,
                         collective_choose(NW_COLLECTIVE_BARRIER, &model, 0));
}

void nw_bcast(struct nw_data data, int root, MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes;

    if (!collective_begin(&call, &model, comm) || root == MPI_PROC_NULL)
        return;
    bytes = nw_data_bytes(data);
    take_sides(&call, data.at, data.at);
    if (!call.comm->inter)
        nw_model_bcast(&model,
                       collective_choose(NW_COLLECTIVE_BCAST, &model, bytes),
                       root, bytes);
    else if (root == MPI_ROOT)
        send_across(&model, bytes);
}

void nw_reduced(struct nw_data sent, const void *result, int root,
                MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes;

    if (!collective_begin(&call, &model, comm))
        return;
    /* only the root has a result buffer */
    take_sides(&call, sent.at,
               collective_is_root(&call, root) ? result : sent.at);
    if (call.comm->inter) {
        send_to_root(&model, root, sent);
        return;
    }
    bytes = nw_data_bytes(sent);
    nw_model_reduce(&model,
                    collective_choose(NW_COLLECTIVE_REDUCE, &model, bytes),
                    root, bytes);
}

void nw_allreduced(struct nw_data sent, const void *result, MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes = nw_data_bytes(sent);

    if (!collective_begin(&call, &model, comm))
        return;
    take_sides(&call, sent.at, result);
    if (call.comm->inter)
        send_to_root(&model, 0, sent);
    else
        nw_model_allreduce(
            &model, collective_choose(NW_COLLECTIVE_ALLREDUCE, &model, bytes),
            bytes);
}

void nw_scanned(struct nw_data sent, const void *result, MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes = nw_data_bytes(sent);

    if (!collective_begin(&call, &model, comm))
        return;
    take_sides(&call, sent.at, result);
    nw_model_scan(&model, collective_choose(NW_COLLECTIVE_SCAN, &model, bytes),
                  bytes);
}

/* Only the root knows whether the receive buffer is in GPU memory. The other
 * ranks assume that it is in the same kind of memory as their send buffers. */
void nw_gathered(struct nw_data sent, struct nw_data received, int root,
                 MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes;

    if (!collective_begin(&call, &model, comm))
        return;
    if (collective_is_root(&call, root))
        take_sides(&call, sent.at, received.at);
    else
        take_sides(&call, sent.at, sent.at);
    if (call.comm->inter) {
        send_to_root(&model, root, sent);
        return;
    }
    bytes = nw_data_bytes(sent.at == MPI_IN_PLACE ? received : sent);
    nw_model_gather(&model,
                    collective_choose(NW_COLLECTIVE_GATHER, &model, bytes),
                    root, bytes);
}

void nw_scattered(struct nw_data sent, struct nw_data received, int root,
                  MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    bool is_root;

    if (!collective_begin(&call, &model, comm))
        return;
    is_root = collective_is_root(&call, root);
    take_sides(&call, is_root ? sent.at : received.at,
               received.at == MPI_IN_PLACE || root == MPI_ROOT ? sent.at
                                                               : received.at);
    if (!call.comm->inter) {
        uint64_t bytes = nw_data_bytes(is_root ? sent : received);

        nw_model_scatter(
            &model, collective_choose(NW_COLLECTIVE_SCATTER, &model, bytes),
            root, bytes);
    } else if (is_root)
        send_across(&model, nw_data_bytes(sent));
}

static uint64_t collective_same_block(const void *context, int rank)
{
    (void)rank;
    return *(const uint64_t *)context;
}

int64_t nw_vector_count(const struct nw_vector *vector, int rank)
{
    if (!vector->counts)
        return vector->same;
    return vector->width == sizeof(int)
               ? ((const int *)vector->counts)[rank]
               : ((const MPI_Count *)vector->counts)[rank];
}

/* A vector with the size of its datatype. If all blocks have the same datatype,
 * MPI is asked for this size only once. */
struct sized_vector {
    const struct nw_vector *vector;
    uint64_t size;
};

static struct sized_vector size_vector(const struct nw_vector *vector)
{
    return (struct sized_vector){
        vector, vector->types ? 0 : nw_type_bytes(vector->type)};
}

static uint64_t vector_block(const void *context, int rank)
{
    const struct sized_vector *sized = context;
    const struct nw_vector *vector = sized->vector;
    int64_t count = nw_vector_count(vector, rank);

    if (count <= 0)
        return 0;
    return (uint64_t)count *
           (vector->types ? nw_type_bytes(vector->types[rank]) : sized->size);
}

void nw_gathered_vector(struct nw_data sent, struct nw_vector received,
                        int root, MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm))
        return;
    take_sides(&call, sent.at, sent.at == MPI_IN_PLACE ? received.at : sent.at);
    if (call.comm->inter)
        send_to_root(&model, root, sent);
    else if (call.comm->rank != root)
        nw_model_gather(&model, NW_ALGORITHM_LINEAR, root, nw_data_bytes(sent));
}

void nw_scattered_vector(struct nw_vector sent, struct nw_data received,
                         int root, MPI_Comm comm)
{
    struct sized_vector sized;
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm) ||
        !collective_is_root(&call, root))
        return;
    take_sides(&call, sent.at,
               received.at == MPI_IN_PLACE || root == MPI_ROOT ? sent.at
                                                               : received.at);
    sized = size_vector(&sent);
    for (int rank = 0; rank < model.size; rank++)
        if (call.comm->inter || rank != root)
            collective_send(&call, rank, vector_block(&sized, rank));
}

static uint64_t collective_sum(const struct nw_model *model,
                               const struct nw_blocks *blocks)
{
    uint64_t total = 0;

    for (int rank = 0; rank < model->size; rank++)
        total += blocks->bytes(blocks->context, rank);
    return total;
}

void nw_allgathered(struct nw_data sent, struct nw_data received, MPI_Comm comm)
{
    uint64_t bytes = nw_data_bytes(received);
    struct nw_blocks blocks = {collective_same_block, &bytes};
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm))
        return;
    take_sides(&call, sent.at, received.at);
    if (call.comm->inter)
        send_across(&model, nw_data_bytes(sent));
    else
        nw_model_allgather(&model,
                           collective_choose(NW_COLLECTIVE_ALLGATHER, &model,
                                             bytes * (uint64_t)model.size),
                           &blocks);
}

void nw_allgathered_vector(struct nw_data sent, struct nw_vector received,
                           MPI_Comm comm)
{
    struct sized_vector sized;
    struct nw_blocks blocks = {vector_block, &sized};
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm))
        return;
    sized = size_vector(&received);
    take_sides(&call, sent.at, received.at);
    if (call.comm->inter)
        send_across(&model, nw_data_bytes(sent));
    else
        nw_model_allgather(&model,
                           collective_choose(NW_COLLECTIVE_ALLGATHER, &model,
                                             collective_sum(&model, &blocks)),
                           &blocks);
}

void nw_exchanged(struct nw_data sent, struct nw_data received, MPI_Comm comm)
{
    struct nw_model model;
    struct collective_call call;
    uint64_t bytes;

    if (!collective_begin(&call, &model, comm))
        return;
    bytes = nw_data_bytes(sent.at == MPI_IN_PLACE ? received : sent);
    take_sides(&call, sent.at, received.at);
    if (call.comm->inter)
        send_across(&model, bytes);
    else
        nw_model_alltoall(
            &model, collective_choose(NW_COLLECTIVE_ALLTOALL, &model, bytes),
            bytes);
}

/* In MPI_Alltoallv and MPI_Alltoallw, each pair of ranks has a size of its own.
 * So each rank is assumed to send directly to every other rank. */
void nw_exchanged_vector(struct nw_vector sent, struct nw_vector received,
                         MPI_Comm comm)
{
    const struct nw_vector *from = sent.at == MPI_IN_PLACE ? &received : &sent;
    struct sized_vector sized;
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm))
        return;
    sized = size_vector(from);
    take_sides(&call, sent.at, received.at);
    for (int rank = 0; rank < model.size; rank++) {
        uint64_t bytes = vector_block(&sized, rank);

        if (bytes && (call.comm->inter || rank != model.rank))
            collective_send(&call, rank, bytes);
    }
}

static void reduce_scatter(const struct nw_model *model,
                           const struct nw_blocks *blocks)
{
    uint64_t total = collective_sum(model, blocks);

    nw_model_reduce_scatter(
        model, collective_choose(NW_COLLECTIVE_REDUCE_SCATTER, model, total),
        blocks);
}

void nw_reduce_scattered(const void *sent, struct nw_vector received,
                         MPI_Comm comm)
{
    struct sized_vector sized;
    struct nw_blocks blocks = {vector_block, &sized};
    struct nw_model model;
    struct collective_call call;

    if (!collective_begin(&call, &model, comm) || call.comm->inter)
        return;
    sized = size_vector(&received);
    take_sides(&call, sent, received.at);
    reduce_scatter(&model, &blocks);
}

void nw_reduce_scattered_block(const void *sent, struct nw_data received,
                               MPI_Comm comm)
{
    uint64_t bytes = nw_data_bytes(received);
    struct nw_blocks blocks = {collective_same_block, &bytes};
    struct nw_model model;
    struct collective_call call;
    int size = 0;

    if (!collective_begin(&call, &model, comm))
        return;
    take_sides(&call, sent, received.at);
    if (!call.comm->inter)
        reduce_scatter(&model, &blocks);
    /* a rank sends one block for each rank of its own group */
    else if (!NW_PMPI(Comm_size)(comm, &size))
        model.send(model.context, 0, (uint64_t)size * bytes);
}
