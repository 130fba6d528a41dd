/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Wraps the functions of NCCL. Each wrapper calls the next definition of the
 * function, and counts the messages that this rank sends to other GPUs in
 * NCCL's algorithm. NCCL's header is not used, since it may be missing when
 * Nodewise is built.
 */
#include "runtime/profile/nccl.h"

#include "base/hash.h"
#include "pattern/nccl/datatype.h"
#include "runtime/profile/nccl_comm.h"
#include "runtime/profile/nccl_tree.h"
#include "runtime/profile/profile.h"
#include "runtime/warn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct ncclComm *nccl_comm;
typedef void *gpu_stream;
typedef struct {
    char internal[128];
} nccl_id;

enum { NCCL_SUCCESS = 0, NCCL_SYSTEM_ERROR = 2 };
/* for an all-reduce, CHOOSE assumes trees below this size in bytes and the ring
 * from it on; other calls never use trees */
#define TREE_BELOW (1u << 20)

static enum { CHOOSE, RING, TREE } algorithm;

void nw_nccl_open(void)
{
    const char *word = getenv("NODEWISE_NCCL");

    algorithm = CHOOSE;
    if (word && !strcmp(word, "ring"))
        algorithm = RING;
    else if (word && !strcmp(word, "tree"))
        algorithm = TREE;
    else if (word && strcmp(word, "auto"))
        nw_warn_once("NODEWISE_NCCL is ring, tree or auto, not '%s'", word);
}

/* --- the program's NCCL library --- */

static int answer_no_such_call(void)
{
    return NCCL_SYSTEM_ERROR;
}

/* Returns the next definition of an NCCL function. If the program loaded NCCL
 * with RTLD_LOCAL, RTLD_NEXT does not find it, so the library is searched by
 * its name. */
static void *next_nccl(const char *name)
{
    static const char *const libraries[] = {"libnccl.so.2", "librccl.so.1",
                                            "libnccl.so"};
    void *found = dlsym(RTLD_NEXT, name);

    for (size_t i = 0; !found && i < sizeof libraries / sizeof *libraries;
         i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_NOLOAD);

        if (!library)
            continue;
        found = dlsym(library, name);
        dlclose(library);
    }
    return found ? found : (void *)answer_no_such_call;
}

#define NEXT(name) ((__typeof__(&name))NW_CACHED(next_nccl, #name))

/* --- communicators --- */

NW_API int ncclCommInitRank(nccl_comm *comm, int size, nccl_id id, int rank);
int ncclCommInitRank(nccl_comm *comm, int size, nccl_id id, int rank)
{
    int code;

    nw_depth++;
    code = NEXT(ncclCommInitRank)(comm, size, id, rank);
    nw_depth--;
    if (code == NCCL_SUCCESS && !nw_depth)
        nw_nccl_comm_made(*comm, nw_hash(NW_HASH_START, &id, sizeof id), rank,
                          size);
    return code;
}

NW_API int ncclCommInitRankConfig(nccl_comm *comm, int size, nccl_id id,
                                  int rank, void *config);
int ncclCommInitRankConfig(nccl_comm *comm, int size, nccl_id id, int rank,
                           void *config)
{
    int code;

    nw_depth++;
    code = NEXT(ncclCommInitRankConfig)(comm, size, id, rank, config);
    nw_depth--;
    if (code == NCCL_SUCCESS && !nw_depth)
        nw_nccl_comm_made(*comm, nw_hash(NW_HASH_START, &id, sizeof id), rank,
                          size);
    return code;
}

NW_API int ncclCommInitRankScalable(nccl_comm *comm, int size, int rank,
                                    int count, nccl_id *ids, void *config);
int ncclCommInitRankScalable(nccl_comm *comm, int size, int rank, int count,
                             nccl_id *ids, void *config)
{
    int code;

    nw_depth++;
    code = NEXT(ncclCommInitRankScalable)(comm, size, rank, count, ids, config);
    nw_depth--;
    if (code == NCCL_SUCCESS && !nw_depth)
        nw_nccl_comm_made(
            *comm, nw_hash(NW_HASH_START, ids, (size_t)count * sizeof *ids),
            rank, size);
    return code;
}

/* Creates communicators of `count` GPUs of this process. Their common id is
 * made from host, process and address, so that no other process makes the same
 * id. */
NW_API int ncclCommInitAll(nccl_comm *comm, int count, const int *devices);
int ncclCommInitAll(nccl_comm *comm, int count, const int *devices)
{
    struct {
        const void *at;
        long pid;
        int host[64];
    } own = {comm, (long)getpid(), {0}};
    int code;

    nw_depth++;
    code = NEXT(ncclCommInitAll)(comm, count, devices);
    nw_depth--;
    gethostname((char *)own.host, sizeof own.host);
    for (int i = 0; code == NCCL_SUCCESS && !nw_depth && i < count; i++)
        nw_nccl_comm_made(comm[i], nw_hash(NW_HASH_START, &own, sizeof own), i,
                          count);
    return code;
}

NW_API int ncclCommUserRank(nccl_comm comm, int *rank);
int ncclCommUserRank(nccl_comm comm, int *rank)
{
    return NEXT(ncclCommUserRank)(comm, rank);
}

NW_API int ncclCommCount(nccl_comm comm, int *count);
int ncclCommCount(nccl_comm comm, int *count)
{
    return NEXT(ncclCommCount)(comm, count);
}

struct split {
    int color;
    uint64_t id;
};

static void name_split(struct nw_nccl_comm *comm, void *context)
{
    struct split *split = context;
    uint64_t words[3] = {comm->id, ++comm->splits, (uint64_t)split->color};

    split->id = nw_hash(NW_HASH_START, words, sizeof words);
}

NW_API int ncclCommSplit(nccl_comm comm, int color, int key, nccl_comm *out,
                         void *config);
int ncclCommSplit(nccl_comm comm, int color, int key, nccl_comm *out,
                  void *config)
{
    struct split split = {.color = color};
    int code, rank, size;

    nw_depth++;
    code = NEXT(ncclCommSplit)(comm, color, key, out, config);
    nw_depth--;
    if (code != NCCL_SUCCESS || nw_depth ||
        !nw_nccl_comm_with(comm, name_split, &split) || !*out)
        return code;
    if (NEXT(ncclCommUserRank)(*out, &rank) == NCCL_SUCCESS &&
        NEXT(ncclCommCount)(*out, &size) == NCCL_SUCCESS)
        nw_nccl_comm_made(*out, split.id, rank, size);
    return code;
}

NW_API int ncclCommDestroy(nccl_comm comm);
int ncclCommDestroy(nccl_comm comm)
{
    nw_nccl_comm_gone(comm);
    return NEXT(ncclCommDestroy)(comm);
}

NW_API int ncclCommAbort(nccl_comm comm);
int ncclCommAbort(nccl_comm comm)
{
    nw_nccl_comm_gone(comm);
    return NEXT(ncclCommAbort)(comm);
}

/* --- calls --- */

enum nccl_what {
    ALLREDUCE,
    REDUCE,
    BROADCAST,
    ALLGATHER,
    REDUCE_SCATTER,
    ALLTOALL,
    GATHER,
    SCATTER,
    SEND
};

struct profile_nccl_call {
    enum nccl_what what;
    size_t count; /* number of elements, as the program passed it */
    int type, root;
};

static void nccl_add_message(void *context, int to, uint64_t bytes)
{
    nw_nccl_comm_add(context, to, bytes);
}

static uint64_t nccl_same_block(const void *context, int rank)
{
    (void)rank;
    return *(const uint64_t *)context;
}

/* Records a message to the next rank of the ring, unless this rank is the last
 * one of a chain. */
static void send_along(const struct nw_model *model, int last, uint64_t bytes)
{
    if (model->rank != last)
        model->send(model->context, (model->rank + 1) % model->size, bytes);
}

static void send_to_all(const struct nw_model *model, uint64_t bytes)
{
    for (int to = 0; to < model->size; to++)
        if (to != model->rank)
            model->send(model->context, to, bytes);
}

static void count_call(struct nw_nccl_comm *comm, void *context)
{
    const struct profile_nccl_call *call = context;
    uint64_t bytes = call->count * nw_nccl_type_bytes((uint64_t)call->type);
    struct nw_blocks blocks = {nccl_same_block, &bytes};
    struct nw_model model = {comm->rank, comm->size, nccl_add_message, comm};
    int n = comm->size, root = call->root;

    if (call->what == SEND)
        nw_nccl_comm_add(comm, root, bytes);
    else if (n < 2)
        return;
    else if (call->what == ALLREDUCE &&
             (algorithm == TREE || (algorithm == CHOOSE && bytes < TREE_BELOW)))
        nw_nccl_tree_allreduce(&model, bytes);
    else if (call->what == ALLREDUCE)
        nw_model_allreduce(&model, NW_ALGORITHM_RING, bytes);
    else if (call->what == BROADCAST)
        send_along(&model, (root + n - 1) % n, bytes);
    else if (call->what == REDUCE)
        send_along(&model, root, bytes);
    else if (call->what == ALLGATHER)
        nw_model_allgather(&model, NW_ALGORITHM_RING, &blocks);
    else if (call->what == REDUCE_SCATTER)
        nw_model_reduce_scatter(&model, NW_ALGORITHM_RING, &blocks);
    else if (call->what == ALLTOALL ||
             (call->what == SCATTER && comm->rank == root))
        send_to_all(&model, bytes);
    else if (call->what == GATHER && comm->rank != root)
        nw_nccl_comm_add(comm, root, bytes);
}

static void nccl_count(nccl_comm comm, struct profile_nccl_call call)
{
    if (!nw_is_active() || nw_depth || !nw_profile_is_on())
        return;
    if (!nw_nccl_comm_with(comm, count_call, &call))
        nw_warn_once("NCCL calls in a communicator whose making was not seen "
                     "are not recorded");
}

/* Calls the next definition and counts the call if NCCL accepted it. */
#define NCCL_CALL(name, params, args, made)                                    \
    NW_API int name params;                                                    \
    int name params                                                            \
    {                                                                          \
        int code;                                                              \
                                                                               \
        nw_depth++;                                                            \
        code = NEXT(name) args;                                                \
        nw_depth--;                                                            \
        if (code == NCCL_SUCCESS)                                              \
            nccl_count(comm, made);                                            \
        return code;                                                           \
    }
#define CALL(...) ((struct profile_nccl_call){__VA_ARGS__})

NCCL_CALL(ncclAllReduce,
          (const void *from, void *to, size_t n, int type, int op,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, op, comm, stream), CALL(ALLREDUCE, n, type, 0))
NCCL_CALL(ncclReduce,
          (const void *from, void *to, size_t n, int type, int op, int root,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, op, root, comm, stream),
          CALL(REDUCE, n, type, root))
NCCL_CALL(ncclBroadcast,
          (const void *from, void *to, size_t n, int type, int root,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, root, comm, stream),
          CALL(BROADCAST, n, type, root))
NCCL_CALL(ncclBcast,
          (void *data, size_t n, int type, int root, nccl_comm comm,
           gpu_stream stream),
          (data, n, type, root, comm, stream), CALL(BROADCAST, n, type, root))
NCCL_CALL(ncclAllGather,
          (const void *from, void *to, size_t n, int type, nccl_comm comm,
           gpu_stream stream),
          (from, to, n, type, comm, stream), CALL(ALLGATHER, n, type, 0))
NCCL_CALL(ncclReduceScatter,
          (const void *from, void *to, size_t n, int type, int op,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, op, comm, stream),
          CALL(REDUCE_SCATTER, n, type, 0))
NCCL_CALL(ncclAlltoAll,
          (const void *from, void *to, size_t n, int type, nccl_comm comm,
           gpu_stream stream),
          (from, to, n, type, comm, stream), CALL(ALLTOALL, n, type, 0))
NCCL_CALL(ncclGather,
          (const void *from, void *to, size_t n, int type, int root,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, root, comm, stream), CALL(GATHER, n, type, root))
NCCL_CALL(ncclScatter,
          (const void *from, void *to, size_t n, int type, int root,
           nccl_comm comm, gpu_stream stream),
          (from, to, n, type, root, comm, stream), CALL(SCATTER, n, type, root))
NCCL_CALL(ncclSend,
          (const void *from, size_t n, int type, int peer, nccl_comm comm,
           gpu_stream stream),
          (from, n, type, peer, comm, stream), CALL(SEND, n, type, peer))
