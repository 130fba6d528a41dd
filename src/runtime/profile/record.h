/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The step between an MPI call and its counts: translates partners to ranks of
 * MPI_COMM_WORLD, and finds out whether buffers are in host or GPU memory. The
 * messages of a persistent request are first recorded into a plan; each start
 * then counts the plan.
 */
#ifndef NW_PROFILE_RECORD_H
#define NW_PROFILE_RECORD_H

#include "runtime/profile/comm.h"
#include "runtime/profile/count.h"

/* A buffer with the count and the datatype that the program passed. */
struct nw_data {
    const void *at;
    int64_t count;
    MPI_Datatype type;
};
#define NW_DATA(at, count, type)                                               \
    ((struct nw_data){(at), (int64_t)(count), (type)})

struct nw_planned {
    /* if its peer is NW_RANK_OUTSIDE, nw_count_add_outside counts the messages
     */
    struct nw_count_key key;
    uint64_t bytes, messages;
};
struct nw_plan {
    struct nw_planned *entry;
    size_t count, capacity;
};

/* Between nw_plan_begin and nw_plan_end, messages that this thread records are
 * added to `plan` instead of the counts. nw_plan_count adds a plan to the
 * counts. */
void nw_plan_begin(struct nw_plan *plan);
void nw_plan_end(void);
void nw_plan_count(const struct nw_plan *plan);

/* Returns true if messages must be recorded: recording is on, or this thread
 * fills the plan of a persistent request (nw_plan_begin). */
bool nw_record_wanted(void);
/* Records `messages` messages of `bytes` bytes each to or from `rank` of
 * `comm`; sets key.peer to its rank in MPI_COMM_WORLD. Does nothing for
 * MPI_PROC_NULL, an invalid rank, or if `comm` is NULL. */
void nw_record(struct nw_comm *comm, int rank, struct nw_count_key key,
               uint64_t bytes, uint64_t messages);
/* Records a message of a collective call to `rank`; `class` (nw_edge_class)
 * says which of its two buffers are in GPU memory. */
void nw_record_edge(struct nw_comm *comm, int rank, int class, uint64_t bytes);

/* Returns the bytes of the buffer's data, or 0 if the datatype is invalid. */
uint64_t nw_data_bytes(struct nw_data data);
uint64_t nw_type_bytes(MPI_Datatype type);
bool nw_data_is_gpu(struct nw_data data);
/* Returns the class (enum nw_part_class) of a message by the memory of its send
 * and receive buffers. */
int nw_edge_class(bool from_gpu, bool to_gpu);

#endif
