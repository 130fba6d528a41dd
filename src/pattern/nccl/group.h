/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers the ranks of an NCCL job, and finds which ranks of the job belong to
 * each communicator. */
#ifndef NW_PATTERN_NCCL_GROUP_H
#define NW_PATTERN_NCCL_GROUP_H

#include "pattern/nccl/model.h"

#include <stddef.h>

/* A process; the members are those of struct nw_nccl_process. `index` is its
 * number in the job. */
struct nccl_process {
    char *host;
    uint64_t pid;
    int32_t rank, world, index;
    const char *file;
};

/* One rank of a communicator; the members are those of struct nw_nccl_member.
 * `index` is its number in the job. */
struct nccl_member {
    uint64_t comm;
    int32_t process, rank, size;
    int64_t device;
    size_t index;
    size_t gpu; /* index of the member's GPU, among the GPUs of all
                   processes */
};

/* NCCL's ring of one channel of a communicator. */
struct nccl_ring {
    uint64_t comm;
    int32_t size;
    int32_t *order; /* [size] ranks along the ring */
};

/* All that was read from the files. */
struct nccl_lists {
    struct nccl_process *const *process;
    size_t process_count;
    struct nccl_member *const *member;
    size_t member_count;
    const struct nccl_ring *ring;
    size_t ring_count;
};

/* A communicator with all its ranks. */
struct nccl_group {
    uint64_t comm;
    struct nw_nccl_group shape;
    int32_t *rank; /* [shape.size] rank in the job */
};

/* The communicators of a job. */
struct nccl_groups {
    /* [count] sorted by comm; only communicators whose ranks are all known.
     * `incomplete` is the number of the others */
    struct nccl_group *group;
    size_t count, incomplete;
    int32_t rank_count;
    /* the ranks of the job are numbered by host, process id and GPU, because
     * the files do not tell their order */
    bool is_guessed;
};

/* Numbers the GPUs of all members as ranks of the job, then makes a group of
 * each communicator whose ranks are all known: the ranks of its members in the
 * job, and its rings. NW_EFORMAT if two
 * processes claim the same rank of the job, or two members the same rank of a
 * communicator. */
NW_MUST_CHECK nw_status nw_nccl_groups_init(struct nccl_groups *groups,
                                            const struct nccl_lists *lists);
void nw_nccl_groups_fini(struct nccl_groups *groups);
/* Finds a communicator by its id. NULL if not all of its ranks are known. */
const struct nccl_group *nw_nccl_group_of(const struct nccl_groups *groups,
                                          uint64_t comm);

#endif
