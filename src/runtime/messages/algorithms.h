/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A second implementation of six collective calls, for buffers in GPU memory:
 * point-to-point messages through the channel (libfabric), instead of copying
 * the whole buffer to host memory and calling MPI. All ranks of a communicator
 * must use the same implementation, although some may pass host memory and
 * others GPU memory. So the choice depends only on values that are equal on all
 * ranks: the number of calls, the number of bytes, and the results of
 * all-reduces.
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

/* The calls so far in one size class. */
struct nw_algorithm_kind {
    uint64_t calls;
    bool device; /* in the last all-reduce, a rank had GPU memory */
};

/* A communicator that may have a channel (algorithm_comm.c). `fits` is true if
 * its ranks can use a channel, `tried` if opening was tried. */
struct nw_algorithm_comm {
    struct nw_algorithm_comm *next;
    MPI_Comm comm;
    int rank, size;
    bool fits, tried;
    /* NULL: not opened yet; if `tried` is true, opening has failed */
    nw_channel *channel;
    int tag; /* tag of the next call */
    struct nw_algorithm_kind kind[NW_CALLS][NW_CLASSES];
};
/* Returns the record of a communicator, which is stored with it as an
 * attribute. Returns NULL if the communicator is unsuitable for a channel, so
 * that MPI must make the call. */
struct nw_algorithm_comm *nw_algorithm_comm_of(MPI_Comm comm);
/* Returns true if `mine` is true on any rank. Collective. */
bool nw_algorithm_comm_any(struct nw_algorithm_comm *record, bool mine);
/* Opens the channel at the first call, on all ranks or on none. Returns true if
 * the channel is open. Collective. */
bool nw_algorithm_comm_open(struct nw_algorithm_comm *record);
void nw_algorithm_comms_close(void); /* closes all channels; collective */
/* In algorithm_choice.c: returns true if the channel makes a call whose blocks
 * have `bytes` bytes. `device` is true if this rank passes a block in GPU
 * memory. Collective. */
bool nw_algorithm_chooses(struct nw_algorithm_comm *record,
                          enum nw_collective_call form, int64_t bytes,
                          bool device);

/* A buffer of the program, as contiguous bytes in host or GPU memory for the
 * channel. `memory` is their address. */
struct nw_contiguous {
    struct nw_stage stage;
    int way;
    char *memory;
    /* the host memory with the gaps of the datatype, if `memory` is packed */
    void *spread;
    int64_t count;
    MPI_Datatype type;
    char *packed;
};
/* Sets flat->memory to the contiguous bytes of the area, or to NULL if the area
 * has no blocks. `way` is NW_READ, NW_WRITE or NW_BOTH. */
NW_MUST_CHECK nw_status nw_contiguous_open(struct nw_contiguous *flat, int way,
                                           const struct nw_area *area);
/* Copies written bytes back to the area, unless `status` is an error, and frees
 * all memory. Returns `status` or the error of the copy. */
nw_status nw_contiguous_close(struct nw_contiguous *flat, nw_status status);
bool nw_area_is_on_gpu(const struct nw_area *area);

/* In channel_collectives.c: a collective call on contiguous bytes between all
 * ranks of the channel. `from` and `into` have one block, or one block for each
 * rank, as in the MPI call. */
struct nw_channel_collective {
    nw_channel *channel;
    int rank, size, root, tag;
    char *from, *into;
    size_t bytes; /* size of a block */
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
