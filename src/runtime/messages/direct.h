/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct path, for large messages in GPU memory to a process of the same
 * node. The sender copies the payload, from GPU to GPU, into a pool in GPU
 * memory that the receiver has mapped (CUDA IPC). MPI sends a small message
 * instead, the envelope, so that MPI still does matching and progress. The
 * receiver of an envelope copies the payload from the pool.
 */
#ifndef NW_MESSAGES_DIRECT_H
#define NW_MESSAGES_DIRECT_H

#include "channel/memory/memory.h"
#include "runtime/messages/staging.h"

enum { NW_NONCE = 16, NW_SLOTS = 64 };

/* In local_peers.c: one struct for each process of this node, in host memory
 * that these processes share. slot[i] is the state of slot i of the process's
 * pool. It is the sum of these numbers:
 * - 4 times the slot's generation;
 * - 1 while the slot holds a payload that its receiver has not begun to copy;
 * - 2 while the receiver copies the payload. */
struct nw_local_peer {
    uint32_t probes;    /* 1: the process has called a probe at least once */
    uint32_t announced; /* 1: the process has a pool that other processes can
                           map */
    struct nw_memory_offer offer;
    uint64_t slot[NW_SLOTS];
};
struct nw_shared_page {
    unsigned char nonce[NW_NONCE]; /* the first bytes of every envelope */
    uint32_t announced;            /* number of pools that exist so far */
    struct nw_local_peer peer[];
};
enum nw_opens { NW_OPENS_UNKNOWN, NW_OPENS_YES, NW_OPENS_NO };
extern struct nw_shared_page *nw_shared_page;
extern bool nw_direct_to_all; /* send envelopes even to processes that have
                                 called a probe */
int nw_local_peer_mine(void);
int nw_local_peer_count(void);
/* Returns the address of the word in shared memory that says whether process
 * `reader` has mapped the pool of process `owner` (enum nw_opens). Both are
 * peer numbers. */
uint32_t *nw_local_peer_opens(int owner, int reader);
/* Returns the peer number of a rank of `comm`: the index of its process among
 * those of this node. Returns -1 if the process is on another node, if `rank`
 * is not a rank of `comm`, for an intercommunicator, and if out of memory. */
int nw_local_peer_of(MPI_Comm comm, int rank);
/* Returns a communicator of this process alone, by which it sends messages to
 * itself. */
MPI_Comm nw_local_peer_self(void);
/* Returns a communicator of all processes of this node. Its ranks are the peer
 * numbers. */
MPI_Comm nw_local_peer_comm(void);
void nw_local_peers_close(void); /* called in MPI_Finalize; collective */

/* An envelope: the message that MPI carries instead of a payload of `bytes`
 * bytes. It says where the payload is: in slot `slot` of the pool of process
 * `owner` (a peer number), at byte offset `at` of the pool; or in a later
 * message, if `slot` is NW_SLOTS (late_payload.c). */
struct nw_envelope {
    unsigned char nonce[NW_NONCE];
    uint32_t owner, slot;
    uint64_t at, bytes, generation;
    uint64_t check; /* hash of the members above */
    char rest[NW_ENVELOPE - NW_NONCE - 2 * 4 - 4 * 8];
};

/* In gpu_pool.c: this process's pool in GPU memory, and the mapped pools of
 * other processes. A slot is a part of a pool for one payload; `at` is its
 * offset in the pool in bytes. */
struct nw_pool_slot {
    uint32_t index;
    uint64_t at, generation;
};
/* Creates this process's pool on `gpu` at the first call. Returns true if the
 * pool exists and is on `gpu`. */
bool nw_pool_open(int32_t gpu);
/* Takes a slot of `bytes` bytes from this process's pool. Also returns false if
 * the program has reset the pool's GPU. */
bool nw_pool_slot_take(
    size_t bytes, struct nw_pool_slot *out); /* false if the pool is full */
char *nw_pool_memory(void);
/* Withdraws the payload in a slot, so that the slot is free again. Has no
 * effect if the receiver has begun to copy the payload. */
void nw_pool_slot_drop(const struct nw_pool_slot *slot);
/* Returns the address of the payload of a received envelope, in the sender's
 * pool; it is valid until nw_pool_slot_free, and can no longer be withdrawn.
 * Returns NULL if this process has not mapped the sender's pool or if the
 * payload was withdrawn. */
const char *nw_pool_slot_payload(const struct nw_envelope *envelope);
void nw_pool_slot_free(const struct nw_envelope *envelope);
void nw_pool_unmap(void);
void nw_pool_close(void);

/* In direct.c: the payload of a message in the program's GPU memory, contiguous
 * or with the gaps of its datatype. */
struct nw_load {
    struct nw_typemap *layout;
    int64_t count;
    char *device;
    uint64_t bytes;
    int32_t gpu;
};
/* Describes the area as a payload in *out. Returns true if it can be sent by an
 * envelope. It must be in GPU memory, large enough, and at most INT_MAX bytes.
 * Its datatype must have no `gaps` (typemap.h) and pass ends_between
 * (direct.c); its address must not be MPI_BOTTOM. Even if it returns false, the
 * caller drops out->layout, which may be NULL. */
bool nw_load_find(const struct nw_area *area, struct nw_load *out);
/* Takes a slot of this process's pool and copies the payload into it, for
 * process `peer` to read. Returns false, and takes no slot, if the pool is on
 * another GPU or full, if `peer` gets no envelopes (nw_direct_suits) or has not
 * mapped the pool, or if the copy fails. */
bool nw_load_slot(const struct nw_load *load, int peer,
                  struct nw_pool_slot *slot);
/* Returns true if envelopes may be sent to process `peer`, a peer number. */
bool nw_direct_suits(int peer);
/* Returns a new buffer with the slot and its envelope; NULL if out of memory.
 * The caller frees it by nw_buffer_free. */
struct nw_buffer *nw_envelope_new(uint64_t bytes,
                                  const struct nw_pool_slot *slot);

/* In envelope_header.c: nw_envelope_write writes an envelope for a payload of
 * `bytes` bytes in a slot; nw_envelope_is returns true if a message is an
 * envelope. */
void nw_envelope_write(struct nw_envelope *envelope, uint64_t bytes,
                       const struct nw_pool_slot *slot);
bool nw_envelope_is(const struct nw_envelope *envelope);

/* In late_payload.c: if nw_load_slot fails for a persistent send, the payload
 * is sent after its envelope, as an MPI message between the two processes. Such
 * an envelope has `slot` = NW_SLOTS, and its `generation` is the number of the
 * payload. */
NW_MUST_CHECK nw_status nw_late_send(struct nw_buffer *buffer);
void nw_late_reap(void); /* frees payloads whose send has completed */
void nw_late_cancel(uint64_t number);
nw_status nw_late_receive(const struct nw_envelope *envelope, char *to);
/* collective; waits until all payloads are received */
void nw_late_finish(void);

#endif
