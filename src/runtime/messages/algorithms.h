/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The second form of six collective calls: point to point through the channel,
 * instead of the whole buffer through the host and MPI. All ranks of a
 * communicator must take the same form, although some may have host memory and
 * others GPU memory. So the choice depends only on values that all ranks know:
 * how often they made the call, with how many bytes, and what they agreed on.
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

/* One communicator whose ranks may meet in a channel. */
struct nw_algorithm_choice;
/* NULL where the call is MPI's alone. */
struct nw_algorithm_choice *nw_algorithm_choice_of(MPI_Comm comm);
int nw_algorithm_choice_rank(const struct nw_algorithm_choice *meet);
int nw_algorithm_choice_size(const struct nw_algorithm_choice *meet);
MPI_Comm nw_algorithm_choice_comm(const struct nw_algorithm_choice *meet);
/* Collective: whether any rank says so. */
bool nw_algorithm_choice_any(struct nw_algorithm_choice *meet, bool mine);
/* Collective: whether blocks of `bytes` go by the channel; `device` is whether
 * this rank has any of them in GPU memory. */
bool nw_algorithm_choice_chooses(struct nw_algorithm_choice *meet,
                                 enum nw_collective_call form, int64_t bytes,
                                 bool device);

/* A buffer as bytes one after the other, in whichever memory. */
struct nw_contiguous {
    struct nw_stage stage;
    int way;
    char *memory;
    /* where the bytes are of a datatype with gaps, in host memory */
    void *spread;
    int64_t count;
    MPI_Datatype type;
    char *packed;
};
/* An area without blocks is no memory. */
NW_MUST_CHECK nw_status nw_contiguous_open(struct nw_contiguous *flat, int way,
                                           const struct nw_area *area);
/* Puts what was written where it belongs, unless `status` is bad. */
nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status);
bool nw_area_is_on_gpu(const struct nw_area *area);

/* channel_collectives.c: the calls themselves on bytes, between all ranks of
 * the channel. `from` and `into` have a block of each rank where the call says
 * so. */
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
/* The channel of a meeting, and the tag of its next call. */
void nw_algorithm_choice_next(struct nw_algorithm_choice *meet,
                              struct nw_channel_collective *collect);

/* algorithm_choice.c, collective over the world: measures all forms and sizes
 * again, for the programs to come. */
void nw_algorithms_tune(void);

/* algorithm_benchmark.c, collective: whether the channel is the faster form; 1
 * or 0, -1 where that could not be measured. */
int nw_algorithm_benchmark(struct nw_algorithm_choice *meet,
                           enum nw_collective_call form, size_t bytes);

#endif
