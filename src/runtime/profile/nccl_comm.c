/* SPDX-License-Identifier: BSD-3-Clause */
/* The NCCL communicators of this process and their messages. They are in short
 * lists under one lock, since there are few communicators with few partners
 * each. */
#include "runtime/profile/nccl_comm.h"

#include "base/array.h"
#include "runtime/profile/part.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct nw_nccl_comm *comms;
static size_t comm_count, comm_capacity;

void nw_nccl_comm_made(const void *handle, uint64_t id, int rank, int size)
{
    pthread_mutex_lock(&lock);
    if (!nw_grow(&comms, &comm_capacity, comm_count + 1, sizeof *comms))
        comms[comm_count++] = (struct nw_nccl_comm){
            .handle = handle, .id = id, .rank = rank, .size = size};
    pthread_mutex_unlock(&lock);
}

static struct nw_nccl_comm *nccl_comm_find(const void *handle)
{
    for (size_t i = comm_count; handle && i-- > 0;)
        if (comms[i].handle == handle)
            return &comms[i];
    return NULL;
}

void nw_nccl_comm_gone(const void *handle)
{
    struct nw_nccl_comm *comm;

    pthread_mutex_lock(&lock);
    comm = nccl_comm_find(handle);
    if (comm)
        comm->handle = NULL;
    pthread_mutex_unlock(&lock);
}

bool nw_nccl_comm_with(const void *handle,
                       void (*use)(struct nw_nccl_comm *comm, void *context),
                       void *context)
{
    struct nw_nccl_comm *comm;

    pthread_mutex_lock(&lock);
    comm = nccl_comm_find(handle);
    if (comm)
        use(comm, context);
    pthread_mutex_unlock(&lock);
    return comm;
}

void nw_nccl_comm_add(struct nw_nccl_comm *comm, int peer, uint64_t bytes)
{
    int bucket = nw_part_size_class(bytes);
    size_t i = comm->count;

    while (i > 0 && (comm->traffic[i - 1].peer != peer ||
                     comm->traffic[i - 1].bucket != bucket))
        i--;
    if (!i) {
        if (nw_grow(&comm->traffic, &comm->capacity, comm->count + 1,
                    sizeof *comm->traffic))
            return;
        i = ++comm->count;
        comm->traffic[i - 1] =
            (struct nw_nccl_traffic){.peer = peer, .bucket = bucket};
    }
    comm->traffic[i - 1].bytes += bytes;
    comm->traffic[i - 1].messages++;
}

struct nw_nccl_comm *nw_nccl_comms(size_t *count)
{
    *count = comm_count;
    return comms;
}
