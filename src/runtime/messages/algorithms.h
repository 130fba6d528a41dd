/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second form of six collective calls: point to point through the channel,
 * instead of the whole buffer through the host and MPI. All ranks of a
 * communicator must take the same form, although some may have host memory and
 * others GPU memory. So the choice depends only on values that all ranks know:
 * the number of calls, the number of bytes, and agreements.
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

enum { NW_CLASSES = 32 /* size classes: powers of two */ };

/* The calls of one size class so far; `device` is what the ranks agreed on. */
struct nw_algorithm_kind {
    uint64_t calls;
    bool device; /* a rank has GPU memory */
};

/* algorithm_comm.c: a communicator that may have a channel. */
struct nw_algorithm_comm {
    struct nw_algorithm_comm *next;
    MPI_Comm comm;
    int rank, size;
    bool fits, tried;
    nw_channel *channel; /* NULL if `tried`: it did not open */
    int tag;             /* of the next call */
    struct nw_algorithm_kind kind[NW_CALLS][NW_CLASSES];
};
/* NULL if MPI must make the call. */
struct nw_algorithm_comm *nw_algorithm_comm_of(MPI_Comm comm);
/* Collective: true if `mine` is true on any rank. */
bool nw_algorithm_comm_any(struct nw_algorithm_comm *record, bool mine);
/* Collective: opens the channel at the first call, on all ranks or on none. */
bool nw_algorithm_comm_open(struct nw_algorithm_comm *record);
void nw_algorithm_comms_close(void); /* collective: closes all channels */
/* algorithm_choice.c, collective: whether the channel transfers blocks of
 * `bytes`. `device` is true if this rank has a block in GPU memory. */
bool nw_algorithm_chooses(struct nw_algorithm_comm *record,
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
void nw_algorithm_comm_next(struct nw_algorithm_comm *record,
                            struct nw_channel_collective *collect);

#endif
