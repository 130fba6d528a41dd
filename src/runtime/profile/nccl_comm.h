/* SPDX-License-Identifier: BSD-3-Clause */
/* The NCCL communicators of this process, and the traffic in each. */
#ifndef NW_PROFILE_NCCL_COMM_H
#define NW_PROFILE_NCCL_COMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_nccl_traffic {
    int peer, bucket; /* rank in the communicator; messages of a size class */
    uint64_t bytes, messages;
};

struct nw_nccl_comm {
    const void *handle; /* NULL once it was destroyed */
    uint64_t id;        /* the same in all its ranks */
    int rank, size;
    uint64_t splits; /* how often it was split */
    struct nw_nccl_traffic *traffic;
    size_t count, capacity;
};

/* Adds a new communicator, or silently drops it if memory is short. */
void nw_nccl_comm_made(const void *handle, uint64_t id, int rank, int size);
void nw_nccl_comm_gone(const void *handle);
/* Runs `use` on the communicator under the lock; false if it is unknown. */
bool nw_nccl_comm_with(const void *handle,
                       void (*use)(struct nw_nccl_comm *comm, void *context),
                       void *context);
void nw_nccl_comm_add(struct nw_nccl_comm *comm, int peer, uint64_t bytes);

/* All communicators so far. No other thread may create or use one meanwhile. */
struct nw_nccl_comm *nw_nccl_comms(size_t *count);

#endif
