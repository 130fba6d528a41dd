/* SPDX-License-Identifier: BSD-3-Clause */
/* Six collective calls of the program: converts their arguments to buffers of
 * bytes, chooses between MPI and the channel, and calls the channel. */
#include "runtime/messages/algorithms.h"

#include "base/status.h"
#include "runtime/warn.h"

#include <limits.h>

/* One collective call with its input and output buffers. */
struct algorithms_call {
    enum nw_collective_call form;
    const char *name;
    MPI_Comm comm;
    struct nw_area from, into;
    int rank, size;
    int into_access;
    struct nw_channel_collective collect;
};

/* Sets rank and size of the call. Returns false if MPI must make the call. */
static bool algorithms_open(struct algorithms_call *call)
{
    return call->comm != MPI_COMM_NULL &&
           !NW_PMPI(Comm_rank)(call->comm, &call->rank) &&
           !NW_PMPI(Comm_size)(call->comm, &call->size);
}

static bool is_simple(MPI_Datatype type, int64_t count)
{
    return type != MPI_DATATYPE_NULL && count > 0;
}

/* Returns the size of a block in bytes. Returns 0 if MPI must make the call,
 * because the block is empty or invalid, or `size` blocks exceed INT_MAX bytes.
 */
static int64_t block_of(MPI_Datatype type, int64_t count, int size)
{
    MPI_Count bytes = 0;

    if (!is_simple(type, count) || NW_PMPI(Type_size_x)(type, &bytes) ||
        bytes <= 0 || count > INT_MAX / bytes)
        return 0;
    bytes *= count;
    return bytes <= INT_MAX / size ? (int64_t)bytes : 0;
}

static int messages_algorithms_fail(const struct algorithms_call *call)
{
    nw_warn_once("%s: %s", call->name, nw_error_text());
    NW_PMPI(Comm_call_errhandler)(call->comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

/* If the program passed MPI_IN_PLACE as input: sets the input to this rank's
 * block of the output buffer in a gather or allgather, to the whole output
 * buffer in other calls. */
static void read_in_place(struct algorithms_call *call)
{
    bool blocks =
        call->form == NW_CALL_GATHER || call->form == NW_CALL_ALLGATHER;

    call->collect.from =
        call->collect.into +
        (blocks ? (size_t)call->collect.rank * call->collect.bytes : 0);
}

/* A rank that has no memory for its buffers takes part in the call, too, so
 * that the other ranks do not wait for it. */
static nw_status messages_algorithms_make(struct algorithms_call *call)
{
    bool in_place = call->from.buffer == MPI_IN_PLACE;
    struct nw_contiguous from, into;
    nw_status status;

    if (in_place)
        call->from.blocks = 0;
    status = nw_contiguous_open(
        &into, call->into_access | (in_place ? NW_READ : 0), &call->into);
    if (!status)
        status = nw_contiguous_open(&from, NW_READ, &call->from);
    else
        from = (struct nw_contiguous){.memory = NULL};
    call->collect.into = into.memory;
    call->collect.from = from.memory;
    if (in_place && into.memory)
        read_in_place(call);
    status = nw_channel_collective(call->form, &call->collect, status);
    status = nw_contiguous_close(&from, status);
    return nw_contiguous_close(&into, status);
}

/* Makes a collective call through the channel, with blocks of `bytes` bytes,
 * and sets *rc to its result. Returns false if MPI must make the call. */
static bool algorithms_form(struct algorithms_call *call, int64_t bytes,
                            int *rc)
{
    bool device =
        nw_area_is_on_gpu(&call->from) || nw_area_is_on_gpu(&call->into);
    struct nw_algorithm_comm *record =
        nw_algorithm_chooses(call->comm, call->form, bytes, device);

    if (!record)
        return false;
    call->collect.bytes = (size_t)bytes;
    nw_algorithm_comm_next(record, &call->collect);
    *rc = messages_algorithms_make(call) ? messages_algorithms_fail(call)
                                         : MPI_SUCCESS;
    return true;
}

static bool has_root(const struct algorithms_call *call, int root)
{
    return root >= 0 && root < call->size;
}

bool nw_algorithm_bcast(int *rc, struct nw_area data, int root, MPI_Comm comm)
{
    struct algorithms_call call = {NW_CALL_BCAST, "MPI_Bcast", comm};
    int64_t bytes;

    if (!algorithms_open(&call) || !has_root(&call, root))
        return false;
    bytes = block_of(data.type, data.count, 1);
    call.into = data;
    call.into.blocks = 1;
    call.into_access = call.rank == root ? NW_READ : NW_WRITE;
    call.collect.root = root;
    return bytes && algorithms_form(&call, bytes, rc);
}

bool nw_algorithm_gather(int *rc, struct nw_area from, struct nw_area into,
                         int root, MPI_Comm comm)
{
    struct algorithms_call call = {NW_CALL_GATHER, "MPI_Gather", comm};
    bool is_root;
    int64_t bytes;

    if (!algorithms_open(&call) || !has_root(&call, root))
        return false;
    is_root = call.rank == root;
    bytes = is_root ? block_of(into.type, into.count, call.size)
                    : block_of(from.type, from.count, call.size);
    call.from = from;
    call.from.blocks = 1;
    call.into = into;
    call.into.blocks = is_root ? call.size : 0;
    call.into_access = NW_WRITE;
    call.collect.root = root;
    return bytes && algorithms_form(&call, bytes, rc);
}

static bool messages_algorithms_all_blocks(struct algorithms_call *call,
                                           int64_t from_blocks, int *rc)
{
    int64_t bytes;

    if (!algorithms_open(call))
        return false;
    bytes = block_of(call->into.type, call->into.count, call->size);
    call->from.blocks = from_blocks ? call->size : 1;
    call->into.blocks = call->size;
    call->into_access = NW_WRITE;
    return bytes && algorithms_form(call, bytes, rc);
}

bool nw_algorithm_allgather(int *rc, struct nw_area from, struct nw_area into,
                            MPI_Comm comm)
{
    struct algorithms_call call = {NW_CALL_ALLGATHER, "MPI_Allgather", comm,
                                   from, into};

    return messages_algorithms_all_blocks(&call, 0, rc);
}

bool nw_algorithm_alltoall(int *rc, struct nw_area from, struct nw_area into,
                           MPI_Comm comm)
{
    struct algorithms_call call = {NW_CALL_ALLTOALL, "MPI_Alltoall", comm, from,
                                   into};

    return from.buffer != MPI_IN_PLACE &&
           messages_algorithms_all_blocks(&call, 1, rc);
}

static bool messages_algorithms_is_among(MPI_Datatype type,
                                         const MPI_Datatype *types, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (type == types[i])
            return true;
    return false;
}

#define IS_AMONG(type, ...)                                                    \
    messages_algorithms_is_among((type), (const MPI_Datatype[]){__VA_ARGS__},  \
                                 sizeof((const MPI_Datatype[]){__VA_ARGS__}) / \
                                     sizeof(MPI_Datatype))

static bool messages_algorithms_is_whole(MPI_Datatype type)
{
    return IS_AMONG(type, MPI_INT, MPI_LONG, MPI_SHORT, MPI_LONG_LONG,
                    MPI_SIGNED_CHAR, MPI_UNSIGNED, MPI_UNSIGNED_CHAR,
                    MPI_UNSIGNED_SHORT, MPI_UNSIGNED_LONG,
                    MPI_UNSIGNED_LONG_LONG, MPI_INT8_T, MPI_INT16_T,
                    MPI_INT32_T, MPI_INT64_T, MPI_UINT8_T, MPI_UINT16_T,
                    MPI_UINT32_T, MPI_UINT64_T, MPI_INTEGER);
}

static bool is_real(MPI_Datatype type)
{
    return IS_AMONG(type, MPI_FLOAT, MPI_DOUBLE, MPI_LONG_DOUBLE, MPI_REAL,
                    MPI_DOUBLE_PRECISION);
}

static bool is_complex(MPI_Datatype type)
{
    return IS_AMONG(type, MPI_C_FLOAT_COMPLEX, MPI_C_DOUBLE_COMPLEX,
                    MPI_COMPLEX, MPI_DOUBLE_COMPLEX);
}

/* Returns true if `op` and `type` are one of the pairs below, all of which
 * MPI predefines. MPI makes the calls with other pairs. If a pair is invalid,
 * MPI reports an error on every rank; in the channel's tree, only one rank
 * would notice it, and its neighbours would hang. */
static bool messages_algorithms_is_plain(MPI_Op op, MPI_Datatype type)
{
    if (op == MPI_SUM || op == MPI_PROD)
        return messages_algorithms_is_whole(type) || is_real(type) ||
               is_complex(type);
    if (op == MPI_MAX || op == MPI_MIN)
        return messages_algorithms_is_whole(type) || is_real(type);
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return messages_algorithms_is_whole(type) || type == MPI_BYTE;
    return (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) &&
           (messages_algorithms_is_whole(type) || type == MPI_C_BOOL);
}

static bool messages_algorithms_reduce(struct algorithms_call *call, MPI_Op op,
                                       int *rc)
{
    int64_t bytes;

    bytes = block_of(call->into.type, call->into.count, 1);
    if (!bytes || !messages_algorithms_is_plain(op, call->into.type))
        return false;
    call->collect.op = op;
    call->collect.type = call->into.type;
    call->collect.count = call->into.count;
    call->into_access = NW_WRITE;
    return algorithms_form(call, bytes, rc);
}

bool nw_algorithm_reduce(int *rc, const void *from, struct nw_area into,
                         struct nw_reduction how)
{
    struct algorithms_call call = {NW_CALL_REDUCE, "MPI_Reduce", how.comm};

    if (!algorithms_open(&call) || !has_root(&call, how.root))
        return false;
    call.into = into;
    call.into.blocks = call.rank == how.root;
    call.from = into;
    call.from.buffer = from;
    call.from.blocks = 1;
    call.collect.root = how.root;
    return messages_algorithms_reduce(&call, how.op, rc);
}

bool nw_algorithm_allreduce(int *rc, const void *from, struct nw_area into,
                            struct nw_reduction how)
{
    struct algorithms_call call = {NW_CALL_ALLREDUCE, "MPI_Allreduce",
                                   how.comm};

    if (!algorithms_open(&call))
        return false;
    call.into = into;
    call.into.blocks = 1;
    call.from = into;
    call.from.buffer = from;
    call.from.blocks = 1;
    return messages_algorithms_reduce(&call, how.op, rc);
}
