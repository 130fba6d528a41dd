/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second implementation of six collective calls, for buffers in GPU memory:
 * point-to-point messages through the channel (libfabric), instead of copying
 * the whole buffer to host memory and calling MPI. All ranks of a communicator
 * must use the same implementation, although some may pass host memory and
 * others GPU memory. So the choice depends only on values that are equal on all
 * ranks: the number of calls, the number of bytes, the environment of rank 0,
 * and the results of all-reduces.
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

enum { NW_CLASSES = 32 /* message sizes by powers of two */ };

/* The calls of one kind (enum nw_collective_call) in one size class so far. */
struct nw_algorithm_kind {
    uint64_t calls;
    bool device; /* result of the last all-reduce: a rank passed GPU memory */
};

/* The record of a communicator that may have a channel (algorithm_comm.c).
 * fits: its ranks can use a channel; tried: opening the channel was tried. */
struct nw_algorithm_comm {
    struct nw_algorithm_comm *next;
    MPI_Comm comm;
    int rank, size;
    bool fits, tried;
    /* NULL: the channel is not open; if `tried` is true, opening it has failed
     */
    nw_channel *channel;
    int tag; /* tag of the channel's messages in the next call */
    struct nw_algorithm_kind kind[NW_CALLS][NW_CLASSES];
};
/* Returns the record of a communicator, which is stored with it as an
 * attribute. Returns NULL on all ranks if the communicator is unsuitable for a
 * channel, or if a rank has no memory for the record, so that MPI must make the
 * call. Collective. */
struct nw_algorithm_comm *nw_algorithm_comm_of(MPI_Comm comm);
/* Opens the communicator's channel at the first call for this record, on all
 * ranks or on none. Returns true if the channel is open. Collective. */
bool nw_algorithm_comm_open(struct nw_algorithm_comm *record);
void nw_algorithm_comms_close(void); /* closes all channels; collective */
/* In algorithm_choice.c: returns the record of the communicator if a collective
 * call is made through its channel, or NULL if MPI must make the call. `bytes`:
 * size of a block. `device`: this rank passes GPU memory. Collective. */
struct nw_algorithm_comm *nw_algorithm_chooses(MPI_Comm comm,
                                               enum nw_collective_call form,
                                               int64_t bytes, bool device);

/* A buffer of the program as contiguous bytes for the channel. memory: their
 * address, in host or GPU memory. */
struct nw_contiguous {
    struct nw_stage stage;
    int access;
    char *memory;
    /* if `memory` is packed: host memory with the gaps of the datatype, from
     * which it was packed or into which it is unpacked */
    void *spread;
    int64_t count;
    MPI_Datatype type;
    char *packed;
};
/* Sets flat->memory to the contiguous bytes of the area; NULL if the area has
 * no blocks. The caller calls nw_contiguous_close, even after an error.
 * `access` says what the call does with the buffer: NW_READ, NW_WRITE or
 * NW_BOTH. */
NW_MUST_CHECK nw_status nw_contiguous_open(struct nw_contiguous *flat,
                                           int access,
                                           const struct nw_area *area);
/* Copies the bytes back to the area if the call writes the buffer and `status`
 * is NW_OK. Frees all memory. Returns `status` or the error of the copy. */
nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status);
bool nw_area_is_on_gpu(const struct nw_area *area);

/* In channel_collectives.c: a collective call between all ranks of the channel,
 * on contiguous bytes. `from` and `into` have one block, or one block per rank,
 * like the buffers of the MPI call. If this rank has failed before the call,
 * `status` is its error, which the call returns. The ranks that need a block of
 * this rank then return an error, too. */
struct nw_channel_collective {
    nw_channel *channel;
    int rank, size, root, tag;
    char *from, *into;
    size_t bytes; /* size of a block in bytes */
    int64_t count;
    MPI_Datatype type;
    MPI_Op op;
};
NW_MUST_CHECK nw_status nw_channel_collective(
    enum nw_collective_call form, const struct nw_channel_collective *collect,
    nw_status status);
/* Lets the channel allocate as many requests as one collective call needs, so
 * that no rank lacks one in the call. Call it before the first collective call.
 * Local. */
NW_MUST_CHECK nw_status nw_channel_collective_reserve(nw_channel *channel,
                                                      int rank, int size);
/* Sets the channel, rank, size and tag of *collect for the next collective call
 * on the communicator. */
void nw_algorithm_comm_next(struct nw_algorithm_comm *record,
                            struct nw_channel_collective *collect);

#endif
