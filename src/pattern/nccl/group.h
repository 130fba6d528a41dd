/* SPDX-License-Identifier: BSD-3-Clause */
/* The ranks of the job, and its communicators in terms of them. */
#ifndef NW_PATTERN_NCCL_GROUP_H
#define NW_PATTERN_NCCL_GROUP_H

#include "pattern/nccl/model.h"

#include <stddef.h>

struct nccl_process {
    char *host;
    uint64_t pid;
    int32_t rank, world, index;
    const char *file;
};

struct nccl_member {
    uint64_t comm;
    int32_t process, rank, size;
    int64_t device;
    size_t index;
    size_t end; /* the process and GPU that it is */
};

struct nccl_ring {
    uint64_t comm;
    int32_t size;
    int32_t *order; /* [size] */
};

struct nccl_lists {
    struct nccl_process *const *process;
    size_t process_count;
    struct nccl_member *const *member;
    size_t member_count;
    const struct nccl_ring *ring;
    size_t ring_count;
};

struct nccl_group {
    uint64_t comm;
    struct nw_nccl_group shape;
    int32_t *rank; /* [shape.size] rank of the job */
};

struct nccl_groups {
    struct nccl_group *group; /* sorted by comm; complete ones only */
    size_t count, incomplete;
    int32_t rank_count;
    bool is_guessed; /* nothing gives the ranks of processes */
};

/* NW_EFORMAT if two processes claim the same rank. */
NW_MUST_CHECK nw_status nw_nccl_groups_init(struct nccl_groups *groups,
                                            const struct nccl_lists *lists);
void nw_nccl_groups_fini(struct nccl_groups *groups);
/* NULL if the communicator is incomplete. */
const struct nccl_group *nw_nccl_group_of(const struct nccl_groups *groups,
                                          uint64_t comm);

#endif
