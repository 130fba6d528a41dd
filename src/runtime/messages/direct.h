/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct path: large messages in GPU memory to a process of the same node.
 * The sender copies the payload, GPU to GPU, into a pool in GPU memory that the
 * receiver has mapped (CUDA IPC). MPI carries an envelope instead, in the same
 * call, so that MPI still does matching and progress. The receiver of an
 * envelope fetches the payload.
 */
#ifndef NW_MESSAGES_DIRECT_H
#define NW_MESSAGES_DIRECT_H

#include "channel/memory/memory.h"
#include "runtime/messages/staging.h"

enum { NW_NONCE = 16, NW_SLOTS = 64 };

/* local_peers.c: the host memory that the processes of this node share, with
 * one struct nw_local_peer for each process. The word of a slot is four times
 * its generation, plus 1 while it has a payload, plus 2 while the receiver
 * fetches the payload. */
struct nw_local_peer {
    uint32_t probes;    /* it has called a probe */
    uint32_t announced; /* other processes can map its pool */
    struct nw_memory_offer offer;
    uint64_t slot[NW_SLOTS];
};
struct nw_shared_page {
    unsigned char nonce[NW_NONCE]; /* begins every envelope */
    uint32_t announced;            /* number of announced pools */
    struct nw_local_peer peer[];
};
enum nw_opens { NW_OPENS_UNKNOWN, NW_OPENS_YES, NW_OPENS_NO };
extern struct nw_shared_page *nw_shared_page;
extern bool nw_direct_to_all; /* also to processes that probe */
int nw_local_peer_mine(void);
int nw_local_peer_count(void);
/* Whether `reader` has mapped the pool of `owner` (an enum nw_opens). */
uint32_t *nw_local_peer_opens(int owner, int reader);
/* The peer number of a rank of `comm`, or -1 if it is on another node. */
int nw_local_peer_of(MPI_Comm comm, int rank);
/* A communicator for messages to ourselves, one message at a time. */
MPI_Comm nw_local_peer_self(void);
/* A communicator of all peers. The rank is the peer number. */
MPI_Comm nw_local_peer_comm(void);
void nw_local_peers_close(void); /* in MPI_Finalize; collective */

/* The message that MPI carries instead of a payload. */
struct nw_envelope {
    unsigned char nonce[NW_NONCE];
    uint32_t owner, slot;
    uint64_t at, bytes, generation;
    uint64_t check; /* hash of the fields above */
    char rest[NW_ENVELOPE - NW_NONCE - 2 * 4 - 4 * 8];
};

/* pool.c: this process's pool, and the pools of the other processes. */
struct nw_pool_slot {
    uint32_t index;
    uint64_t at, generation;
};
/* Creates the pool at the first call. True if the pool is on `gpu`. */
bool nw_pool_open(int32_t gpu);
bool nw_pool_slot_take(
    size_t bytes, struct nw_pool_slot *out); /* false if the pool is full */
char *nw_pool_memory(void);
/* Withdraws a payload. No effect once the receiver has begun to fetch it. */
void nw_pool_slot_drop(const struct nw_pool_slot *slot);
/* For the receiver: the payload of an envelope, valid until nw_pool_slot_free.
 * NULL if its pool is not mapped or the payload was withdrawn. */
const char *nw_pool_slot_payload(const struct nw_envelope *envelope);
void nw_pool_slot_free(const struct nw_envelope *envelope);
void nw_pool_unmap(void);
void nw_pool_close(void);

/* direct.c: a payload in the program's GPU memory, contiguous or not. */
struct nw_load {
    struct nw_typemap *layout;
    int64_t count;
    char *device;
    uint64_t bytes;
    int32_t gpu;
};
/* True if the area is in GPU memory and at least as large as the threshold. The
 * caller drops out->layout in either case; it may be NULL. */
bool nw_load_find(const struct nw_area *area, struct nw_load *out);
/* Copies the payload into a pool slot for `peer`. False on failure. */
bool nw_load_slot(const struct nw_load *load, int peer,
                  struct nw_pool_slot *slot);
/* Whether `peer` accepts envelopes. */
bool nw_direct_suits(int peer);
/* A buffer with the slot and its envelope, or NULL if out of memory. */
struct nw_buffer *nw_envelope_new(uint64_t bytes,
                                  const struct nw_pool_slot *slot);

/* envelope_header.c */
void nw_envelope_write(struct nw_envelope *envelope, uint64_t bytes,
                       const struct nw_pool_slot *slot);
bool nw_envelope_is(const struct nw_envelope *envelope);

/* late_payload.c: a payload that follows its envelope as a message between
 * the peers. In the envelope, `slot` is NW_SLOTS and `generation` is the
 * payload's number. */
NW_MUST_CHECK nw_status nw_late_send(struct nw_buffer *buffer);
void nw_late_reap(void); /* frees payloads whose send has ended */
void nw_late_cancel(uint64_t number);
nw_status nw_late_receive(const struct nw_envelope *envelope, char *to);
void nw_late_finish(void); /* collective; waits for all payloads */

#endif
