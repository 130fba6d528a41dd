/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between a call and its tally, partners become ranks of MPI_COMM_WORLD and
 * buffers become sides. The messages of a persistent request are first recorded
 * into a plan; each start then counts the plan.
 */
#ifndef NW_PROFILE_RECORD_H
#define NW_PROFILE_RECORD_H

#include "runtime/profile/comm.h"
#include "runtime/profile/count.h"

/* A buffer as MPI calls give it. */
struct nw_data {
    const void *at;
    int64_t count;
    MPI_Datatype type;
};
#define NW_DATA(at, count, type)                                               \
    ((struct nw_data){(at), (int64_t)(count), (type)})

struct nw_planned {
    struct nw_count_key key; /* peer NW_RANK_OUTSIDE: counted apart */
    uint64_t bytes, messages;
};
struct nw_plan {
    struct nw_planned *entry;
    size_t count, capacity;
};

/* Until nw_plan_end, the records of this thread go to `plan`. */
void nw_plan_begin(struct nw_plan *plan);
void nw_plan_end(void);
void nw_plan_count(const struct nw_plan *plan);

/* True if recording is wanted now: the region is on, or a plan is made. */
bool nw_record_wanted(void);
/* `messages` messages of `bytes` each with `rank` of `comm`; key.peer is
 * filled here. Nothing for MPI_PROC_NULL. */
void nw_record(struct nw_comm *comm, int rank, struct nw_count_key key,
               uint64_t bytes, uint64_t messages);
/* A whole edge of class `class` to `rank`, of a collective call. */
void nw_record_edge(struct nw_comm *comm, int rank, int class, uint64_t bytes);

/* 0 if the type is invalid. */
uint64_t nw_data_bytes(struct nw_data data);
uint64_t nw_type_bytes(MPI_Datatype type);
bool nw_data_is_gpu(struct nw_data data);
/* The class of an edge between two sides. */
int nw_edge_class(bool from_gpu, bool to_gpu);

#endif
