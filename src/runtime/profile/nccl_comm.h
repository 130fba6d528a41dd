/* SPDX-License-Identifier: BSD-3-Clause */
/* The NCCL communicators of this process, and the messages sent in each. */
#ifndef NW_PROFILE_NCCL_COMM_H
#define NW_PROFILE_NCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_nccl_traffic {
    /* destination (rank in the communicator); size class of the messages */
    int peer, bucket;
    uint64_t bytes, messages;
};

struct nw_nccl_comm {
    const void *handle; /* NULL after ncclCommDestroy or ncclCommAbort */
    uint64_t id;        /* equal on all ranks of the communicator */
    int rank, size;
    uint64_t splits; /* calls of ncclCommSplit so far */
    struct nw_nccl_traffic *traffic;
    size_t count, capacity;
};

/* Adds a new communicator; does nothing if memory is exhausted. */
void nw_nccl_comm_made(const void *handle, uint64_t id, int rank, int size);
void nw_nccl_comm_gone(const void *handle);
/* Calls `use` with the communicator while holding the lock. Returns false if
 * the communicator is unknown. */
bool nw_nccl_comm_with(const void *handle,
                       void (*use)(struct nw_nccl_comm *comm, void *context),
                       void *context);
void nw_nccl_comm_add(struct nw_nccl_comm *comm, int peer, uint64_t bytes);

/* Returns the array of all communicators, including destroyed ones. Until the
 * caller is done with it, no other thread may create or use a communicator. */
struct nw_nccl_comm *nw_nccl_comms(size_t *count);

#endif
