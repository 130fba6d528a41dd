/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second implementation of six collective calls: point-to-point messages
 * through the channel (libfabric), instead of copying the whole buffer to the
 * host and calling MPI. All ranks of a communicator must use the same
 * implementation, although some may have host memory and others GPU memory. So
 * the choice depends only on values that are equal on all ranks: the number of
 * calls, the number of bytes, and the results of all-reduces.
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

/* The calls in one size class so far. */
struct nw_algorithm_kind {
    uint64_t calls;
    bool device; /* in the last all-reduce, some rank had GPU memory */
};

/* In algorithm_comm.c: a communicator that may have a channel. */
struct nw_algorithm_comm {
    struct nw_algorithm_comm *next;
    MPI_Comm comm;
    int rank, size;
    bool fits, tried;
    /* NULL: not opened yet, or if `tried`, opening failed */
    nw_channel *channel;
    int tag; /* tag of the next call */
    struct nw_algorithm_kind kind[NW_CALLS][NW_CLASSES];
};
/* Returns the record of a communicator, stored with it; NULL if MPI must make
 * the call, since the communicator is unsuitable for a channel. */
struct nw_algorithm_comm *nw_algorithm_comm_of(MPI_Comm comm);
/* Returns true if `mine` is true on any rank. Collective. */
bool nw_algorithm_comm_any(struct nw_algorithm_comm *record, bool mine);
/* Opens the channel at the first call, on all ranks or on none. Returns whether
 * it is open. Collective. */
bool nw_algorithm_comm_open(struct nw_algorithm_comm *record);
void nw_algorithm_comms_close(void); /* closes all channels; collective */
/* In algorithm_choice.c: returns whether the channel makes a call with blocks
 * of `bytes` bytes. `device` is true if this rank has a block in GPU memory.
 * Collective. */
bool nw_algorithm_chooses(struct nw_algorithm_comm *record,
                          enum nw_collective_call form, int64_t bytes,
                          bool device);

/* A buffer as contiguous bytes in host or GPU memory, for the channel. */
struct nw_contiguous {
    struct nw_stage stage;
    int way;
    char *memory;
    /* host memory in which the datatype keeps its gaps */
    void *spread;
    int64_t count;
    MPI_Datatype type;
    char *packed;
};
/* Sets flat->memory to the contiguous bytes of the area, or to NULL if
 * area->blocks is 0. `way` is NW_READ, NW_WRITE or NW_BOTH. */
NW_MUST_CHECK nw_status nw_contiguous_open(struct nw_contiguous *flat, int way,
                                           const struct nw_area *area);
/* Copies written bytes back to the area, unless `status` is an error, and frees
 * all memory. Returns `status` or the error of the copy. */
nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status);
bool nw_area_is_on_gpu(const struct nw_area *area);

/* In channel_collectives.c: the collective calls on contiguous bytes, between
 * all ranks of the channel. `from` and `into` have one block, or one block per
 * rank, as in the MPI call. */
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
/* Sets the channel, rank, size and tag for the next call of the
 * communicator. */
void nw_algorithm_comm_next(struct nw_algorithm_comm *record,
                            struct nw_channel_collective *collect);

#endif
