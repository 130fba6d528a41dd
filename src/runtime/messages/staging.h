/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer in GPU memory and the host memory that stands for it: what the
 * files of this room share. */
#ifndef NW_MESSAGES_STAGING_H
#define NW_MESSAGES_STAGING_H

#include "gpu/gpu.h"
#include "runtime/messages/pointer_cache.h"
#include "runtime/messages/typemap.h"
#include "runtime/messages/messages.h"

/* pinned_cache.c: host memory that GPUs reach fast, kept for the next message.
 */
struct nw_host {
    struct nw_host *next;
    char *memory;
    size_t bytes;
    bool pinned;
    struct nw_gpu_life life; /* of the context in which it was pinned */
};
NW_MUST_CHECK nw_status nw_pinned_cache_take(size_t bytes,
                                             struct nw_host **out);
void nw_pinned_cache_give(struct nw_host *host); /* NULL is fine */
void nw_pinned_cache_close(void);

/* `count` elements that begin `offset` bytes into the buffer. */
struct nw_part {
    struct nw_typemap *layout;
    MPI_Aint offset;
    int64_t count;
};

struct nw_buffer {
    char *device;
    struct nw_pointer owner; /* as it was when the buffer was staged */
    int way;
    bool small;   /* of envelope.c */
    bool packed;  /* the host has the bytes as MPI packs them */
    MPI_Aint low; /* else: what byte of the buffer host memory begins with */
    size_t bytes; /* of host memory */
    struct nw_host *host;
    struct nw_part *part;
    size_t parts;
    struct nw_part only;       /* where there is no more than one */
    struct nw_pool_slot *slot; /* host memory is an envelope of it; else NULL */
    int peer;                  /* whose it is, of a persistent send */
};

/* argument_memory.c: whose memory an area's bytes are, of one block; where they
 * are a GPU's the owner is that of the first. */
enum nw_side { NW_SIDE_NONE, NW_SIDE_HOST, NW_SIDE_GPU, NW_SIDE_MIXED };
enum nw_side nw_area_side(const struct nw_area *area, struct nw_pointer *owner);

/* copies.c; whatever GPU is current stays so. */
NW_MUST_CHECK nw_status nw_buffer_fill(const struct nw_buffer *buffer,
                                       bool at_once); /* as it is staged */
/* The first `most` bytes, as MPI packs them. */
NW_MUST_CHECK nw_status nw_buffer_empty(const struct nw_buffer *buffer,
                                        uint64_t most);
/* copy_bytes.c: between any two memories. */
NW_MUST_CHECK nw_status nw_buffer_copy(void *to, const void *from,
                                       size_t bytes);
bool nw_is_on_gpu(const void *memory);
void nw_buffer_free(struct nw_buffer *buffer);
void nw_copies_close(void);

/* start.c: opens the driver for our own copies. */
NW_MUST_CHECK nw_status nw_messages_open_gpu(void);
/* algorithm_choice.c: the channel's form of collective calls, around MPI_Init
 * and MPI_Finalize; collective where NODEWISE_GPU_COLLECTIVES or _MESSAGES is
 * set.
 */
void nw_algorithms_start(bool messaging);
void nw_algorithms_finish(void);
/* local_peers.c: the direct way of messages, likewise. */
void nw_direct_start(bool messaging);
void nw_direct_finish(void);
/* tune.c: behind both, where NODEWISE_GPU_TUNE asks all ranks for it. */
void nw_messages_tune(void);
/* request_table.c: requests that the rows `by` are for. */
extern int nw_request_table_count;
/* detached_requests.c: the last of them, in MPI_Finalize. */
void nw_requests_finish(void);
/* wait_one.c: what is left to do at a request's end. It is found before the
 * call that may end it: as soon as MPI has freed a request another thread may
 * get its handle. */
struct nw_ending {
    MPI_Request request;
    bool found;
    struct nw_tracked_request *kept, *persistent;
    struct nw_sendrecv *pair;
};
void nw_request_begin(MPI_Request request, struct nw_ending *out);
int nw_request_end(struct nw_ending *ending, MPI_Status *status); /* done */
/* The call failed, and `left` is what it made of the handle: as long as that is
 * one there is something left to do. */
void nw_request_fail(struct nw_ending *ending, MPI_Request left);
void nw_request_back(struct nw_ending *ending); /* it is neither yet */
/* The first of several that is done without MPI's knowing, ended; -1: none. */
int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status);

/* sendrecv.c: the ends of requests that nw_sendrecv_start began. Without such a
 * request these calls cost next to nothing. nw_sendrecvs_look tests them. */
void nw_sendrecvs_look(void);
bool nw_sendrecvs_are_busy(int count, const MPI_Request *requests);
void nw_sendrecvs_await(int count, const MPI_Request *requests);
/* Whether that was one; its status (NULL: not wanted) and error code. */
bool nw_sendrecv_see(MPI_Request request, MPI_Status *status, int *rc);
/* Its handle is no longer looked for, until it is put back. */
struct nw_sendrecv *nw_sendrecv_take(MPI_Request request);
void nw_sendrecv_put(struct nw_sendrecv *pair);
int nw_sendrecv_end(struct nw_sendrecv *pair, MPI_Status *status);
bool nw_sendrecv_free(MPI_Request *request);
void nw_sendrecvs_finish(void);

/* envelope.c: fetches the payload where a receive brought an envelope, and says
 * its bytes in the status; *rc is then how that went. */
bool nw_envelope_open(const struct nw_catch *caught, MPI_Status *status,
                      int *rc);
/* What nw_stage_small took, given back; the last of it freed. */
void nw_small_give(struct nw_buffer *buffer);
void nw_small_close(void);
/* direct.c: payloads whose envelopes will not arrive. */
void nw_direct_unsent(struct nw_buffer *const *buffer, int count);
/* persistent_send.c: the envelope of a persistent send that starts (again). */
NW_MUST_CHECK nw_status nw_direct_persistent(struct nw_buffer *buffer);
/* stage.c: bytes that a status tells of; UINT64_MAX where it does not. */
uint64_t nw_stage_received(const MPI_Status *status);
int nw_stage_error(struct nw_errhandler_scope whose, const char *call,
                   const char *why);
int nw_stage_raise(struct nw_errhandler_scope whose,
                   int code); /* by the handler */
/* shadow_comm.c: the same for the communicator of an owner. */
void nw_comm_owner_report(const struct nw_comm_owner *owner, int code);

#endif
