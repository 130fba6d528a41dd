/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second form of six collective calls: point to point through the channel,
 * instead of the whole buffer through the host and MPI. All ranks of a
 * communicator must take the same form, although some may have host memory and
 * others GPU memory. So the choice depends only on values that all ranks know:
 * the number of calls, the number of bytes, and earlier agreements.
 */
#ifndef NW_MESSAGES_ALGORITHMS_H
#define NW_MESSAGES_ALGORITHMS_H

#include "runtime/messages/staging.h"

#include <nodewise/channel.h>

enum nw_collective_call {
    NW_CALL_BCAST,
    NW_CALL_GATHER,
    NW_CALL_ALLGATHER,
    NW_CALL_ALLTOALL,
    NW_CALL_REDUCE,
    NW_CALL_ALLREDUCE,
    NW_CALLS
};

enum { NW_MOST_RANKS = 64 };

/* A communicator that may have a channel. */
struct nw_algorithm_choice;
/* NULL if MPI must make the call. */
struct nw_algorithm_choice *nw_algorithm_choice_of(MPI_Comm comm);
int nw_algorithm_choice_rank(const struct nw_algorithm_choice *meet);
int nw_algorithm_choice_size(const struct nw_algorithm_choice *meet);
MPI_Comm nw_algorithm_choice_comm(const struct nw_algorithm_choice *meet);
/* Collective: true if `mine` is true on any rank. */
bool nw_algorithm_choice_any(struct nw_algorithm_choice *meet, bool mine);
/* Collective: whether the channel transfers blocks of `bytes`. `device` is true
 * if this rank has a block in GPU memory. */
bool nw_algorithm_choice_chooses(struct nw_algorithm_choice *meet,
                                 enum nw_collective_call form, int64_t bytes,
                                 bool device);

/* A buffer as contiguous bytes, in host or GPU memory. */
struct nw_contiguous {
    struct nw_stage stage;
    int way;
    char *memory;
    /* host memory of a datatype with gaps */
    void *spread;
    int64_t count;
    MPI_Datatype type;
    char *packed;
};
/* For an area without blocks, `memory` is NULL. */
NW_MUST_CHECK nw_status nw_contiguous_open(struct nw_contiguous *flat, int way,
                                           const struct nw_area *area);
/* Copies written bytes back to the area, unless `status` is an error. */
nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status);
bool nw_area_is_on_gpu(const struct nw_area *area);

/* channel_collectives.c: the collective calls on bytes, between all ranks of
 * the channel. `from` and `into` have one block, or one block per rank, as in
 * the MPI call. */
struct nw_channel_collective {
    nw_channel *channel;
    int rank, size, root, tag;
    char *from, *into;
    size_t bytes; /* of a block */
    int64_t count;
    MPI_Datatype type;
    MPI_Op op;
};
NW_MUST_CHECK nw_status nw_channel_collective(
    enum nw_collective_call form, const struct nw_channel_collective *collect);
/* Sets the channel and the tag of the next call. */
void nw_algorithm_choice_next(struct nw_algorithm_choice *meet,
                              struct nw_channel_collective *collect);

/* algorithm_choice.c, collective over MPI_COMM_WORLD: measures all calls and
 * sizes again, for later programs. */
void nw_algorithms_tune(void);

/* algorithm_benchmark.c, collective: 1 if the channel is faster, 0 if MPI is,
 * -1 if the measurement failed. */
int nw_algorithm_benchmark(struct nw_algorithm_choice *meet,
                           enum nw_collective_call form, size_t bytes);

#endif
