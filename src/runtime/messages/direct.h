/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The direct way of large messages out of GPU memory to a process of the same
 * node. The payload is copied, GPU to GPU, into a pool in GPU memory that the
 * receiver has mapped (CUDA IPC); MPI carries an envelope in its place, by the
 * same call, so that matching and progress stay its own. Whoever receives an
 * envelope opens it.
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
    uint32_t probes;    /* it looks at messages before it receives them */
    uint32_t announced; /* its pool can be mapped */
    struct nw_memory_offer offer;
    uint64_t slot[NW_SLOTS];
};
struct nw_shared_page {
    unsigned char nonce[NW_NONCE]; /* begins every envelope */
    uint32_t announced;            /* how many pools are */
    struct nw_local_peer peer[];
};
enum nw_opens { NW_OPENS_UNKNOWN, NW_OPENS_YES, NW_OPENS_NO };
extern struct nw_shared_page *nw_shared_page;
extern bool nw_direct_to_all; /* to those that probe, too */
int nw_local_peer_mine(void);
int nw_local_peer_count(void);
/* Whether `reader` has mapped the pool of `owner`: an enum nw_opens. */
uint32_t *nw_local_peer_opens(int owner, int reader);
/* Where a rank of a communicator sits; -1: not on this node. */
int nw_local_peer_of(MPI_Comm comm, int rank);
/* For messages to oneself; one at a time. */
MPI_Comm nw_local_peer_self(void);
/* Between all peers, whose numbers are its ranks. */
MPI_Comm nw_local_peer_comm(void);

/* direct.c: a variable that is a whole number; `standard` where it is not set,
 * or makes no sense, which is said once. */
uint64_t nw_direct_setting(const char *name, uint64_t standard, uint64_t least,
                           uint64_t most);

/* What MPI carries in a payload's place. */
struct nw_envelope {
    unsigned char nonce[NW_NONCE];
    uint32_t owner, slot;
    uint64_t at, bytes, generation;
    uint64_t check; /* of what stands before it */
    char rest[NW_ENVELOPE - NW_NONCE - 2 * 4 - 4 * 8];
};

/* pool.c: this process's pool, and those of the others. */
struct nw_pool_slot {
    uint32_t index;
    uint64_t at, generation;
};
/* Makes it, on the GPU that asks first; whether that GPU has it. */
bool nw_pool_open(int32_t gpu);
bool nw_pool_slot_take(size_t bytes,
                       struct nw_pool_slot *out); /* false: no room */
char *nw_pool_memory(void);
/* The payload is not to be fetched any more; where it is being fetched, or was,
 * nothing is done. */
void nw_pool_slot_drop(const struct nw_pool_slot *slot);
/* The reader's side: a payload that waits, and stays until it is freed; NULL
 * where it is not here, or no more. */
const char *nw_pool_slot_payload(const struct nw_envelope *envelope);
void nw_pool_slot_free(const struct nw_envelope *envelope);
void nw_pool_unmap(void);
void nw_pool_close(void);

/* direct.c: a payload where the program has it, whatever lies between its
 * pieces. */
struct nw_load {
    struct nw_typemap *layout;
    int64_t count;
    char *device;
    uint64_t bytes;
    int32_t gpu;
};
/* From what size on they are large, where no variable says so: measured with
 * the pool that was just made. */
void nw_direct_measure(int32_t gpu, char *pool, size_t bytes);
/* It is so from now on; 0: to be found out. */
void nw_direct_set(uint64_t from);
/* direct_threshold.c: `standard` where it cannot be measured. */
uint64_t nw_direct_threshold(int32_t gpu, char *pool, size_t bytes,
                             uint64_t standard);
/* Whether it is large, and in GPU memory; its layout is to be dropped, also
 * where it is none. */
bool nw_load_find(const struct nw_area *area, struct nw_load *out);
/* Into a slot that `peer` can map; false: there is none. */
bool nw_load_slot(const struct nw_load *load, int peer,
                  struct nw_pool_slot *slot);
/* Whether that process may get envelopes. */
bool nw_direct_suits(int peer);
/* A buffer that has the slot and the envelope; NULL: no room. */
struct nw_buffer *nw_envelope_new(uint64_t bytes,
                                  const struct nw_pool_slot *slot);
void nw_envelope_write(struct nw_envelope *envelope, uint64_t bytes,
                       const struct nw_pool_slot *slot);

/* persistent_send.c: a payload that follows its envelope, of which the slot's
 * index is NW_SLOTS and the generation its number, as a message between the
 * peers. */
void nw_late_cancel(uint64_t number);
nw_status nw_late_receive(const struct nw_envelope *envelope, char *to);
void nw_late_finish(void); /* all have been received, and all are here */

uint64_t nw_envelope_check(const struct nw_envelope *envelope);
bool nw_envelope_is(const struct nw_envelope *envelope);

#endif
