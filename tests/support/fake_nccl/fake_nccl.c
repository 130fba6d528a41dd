/* SPDX-License-Identifier: BSD-3-Clause */
/* A test double of NCCL, libnccl.so.2: it accepts every call and moves nothing,
 * so that code which only observes the calls can be tested without a GPU. The
 * signatures are those of the real library. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define API __attribute__((visibility("default")))

enum { SUCCESS = 0, INVALID_ARGUMENT = 4 };

struct ncclComm {
    int rank, size;
};
typedef struct ncclComm *comm_t;
typedef struct {
    char internal[128];
} id_t_;

/* All ids are equal; the caller makes its id unique. */
API int ncclGetUniqueId(id_t_ *id)
{
    memset(id, 7, sizeof *id);
    return SUCCESS;
}

API int ncclCommInitRank(comm_t *comm, int size, id_t_ id, int rank)
{
    (void)id;
    if (rank < 0 || rank >= size)
        return INVALID_ARGUMENT;
    *comm = malloc(sizeof **comm);
    (*comm)->rank = rank;
    (*comm)->size = size;
    return SUCCESS;
}

/* Splits into even and odd ranks in their order, which is what the test
 * needs. */
API int ncclCommSplit(comm_t comm, int color, int key, comm_t *out,
                      void *config)
{
    (void)key;
    (void)config;
    *out = malloc(sizeof **out);
    (*out)->rank = comm->rank / 2;
    (*out)->size = (comm->size + 1 - color) / 2;
    return SUCCESS;
}

API int ncclCommUserRank(comm_t comm, int *rank)
{
    *rank = comm->rank;
    return SUCCESS;
}

API int ncclCommCount(comm_t comm, int *count)
{
    *count = comm->size;
    return SUCCESS;
}

API int ncclCommDestroy(comm_t comm)
{
    free(comm);
    return SUCCESS;
}

/* The result of a call: success if its buffer and its data type are valid. */
static int take(const void *data, int type)
{
    return data && type >= 0 && type < 12 ? SUCCESS : INVALID_ARGUMENT;
}

API int ncclAllReduce(const void *from, void *to, size_t n, int type, int op,
                      comm_t comm, void *stream)
{
    (void)to, (void)n, (void)op, (void)comm, (void)stream;
    return take(from, type);
}

API int ncclReduce(const void *from, void *to, size_t n, int type, int op,
                   int root, comm_t comm, void *stream)
{
    (void)to, (void)n, (void)op, (void)root, (void)comm, (void)stream;
    return take(from, type);
}

API int ncclBroadcast(const void *from, void *to, size_t n, int type, int root,
                      comm_t comm, void *stream)
{
    (void)to, (void)n, (void)root, (void)comm, (void)stream;
    return take(from, type);
}

/* Calls another function of the library, as the real one does, and must be
 * counted as one call. */
API int ncclBcast(void *data, size_t n, int type, int root, comm_t comm,
                  void *stream)
{
    return ncclBroadcast(data, data, n, type, root, comm, stream);
}

API int ncclAllGather(const void *from, void *to, size_t n, int type,
                      comm_t comm, void *stream)
{
    (void)to, (void)n, (void)comm, (void)stream;
    return take(from, type);
}

API int ncclReduceScatter(const void *from, void *to, size_t n, int type,
                          int op, comm_t comm, void *stream)
{
    (void)to, (void)n, (void)op, (void)comm, (void)stream;
    return take(from, type);
}

API int ncclSend(const void *from, size_t n, int type, int peer, comm_t comm,
                 void *stream)
{
    (void)n, (void)peer, (void)comm, (void)stream;
    return take(from, type);
}

API int ncclRecv(void *to, size_t n, int type, int peer, comm_t comm,
                 void *stream)
{
    (void)n, (void)peer, (void)comm, (void)stream;
    return take(to, type);
}

API int ncclGroupStart(void)
{
    return SUCCESS;
}

API int ncclGroupEnd(void)
{
    return SUCCESS;
}
