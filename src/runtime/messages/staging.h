/* SPDX-License-Identifier: BSD-3-Clause */
/* A buffer in GPU memory and the host memory that replaces it: declarations
 * that the files of this folder share. */
#ifndef NW_MESSAGES_STAGING_H
#define NW_MESSAGES_STAGING_H

#include "gpu/gpu.h"
#include "runtime/messages/pointer_cache.h"
#include "runtime/messages/typemap.h"
#include "runtime/messages/messages.h"

/* pinned_cache.c: host memory, pinned if possible, kept for later messages. */
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
    bool small;   /* of nw_buffer_small */
    bool packed;  /* the host has the bytes as MPI packs them */
    MPI_Aint low; /* else: offset of the first staged byte */
    size_t bytes; /* of host memory */
    struct nw_host *host;
    struct nw_part *part;
    size_t parts;
    struct nw_part only;       /* storage for a single part */
    struct nw_pool_slot *slot; /* the slot of an envelope, or NULL */
    int peer;                  /* receiver of a persistent send */
};

/* argument_memory.c: the memory that holds an area of one block. For GPU
 * memory, *owner is the allocation of the first byte. */
enum nw_side { NW_SIDE_NONE, NW_SIDE_HOST, NW_SIDE_GPU, NW_SIDE_MIXED };
enum nw_side nw_area_side(const struct nw_area *area, struct nw_pointer *owner);

/* copies.c; these calls keep the current GPU. */
NW_MUST_CHECK nw_status nw_buffer_fill(const struct nw_buffer *buffer,
                                       bool at_once); /* true while staging */
/* Copies the first `most` bytes, in packing order, back to the GPU. */
NW_MUST_CHECK nw_status nw_buffer_empty(const struct nw_buffer *buffer,
                                        uint64_t most);
/* copy_bytes.c: a copy between any two memories. */
NW_MUST_CHECK nw_status nw_buffer_copy(void *to, const void *from,
                                       size_t bytes);
bool nw_is_on_gpu(const void *memory);
/* buffer.c: a buffer of NW_ENVELOPE bytes in host memory, or NULL. */
struct nw_buffer *nw_buffer_small(void);
void nw_buffer_free(struct nw_buffer *buffer);
void nw_buffers_close(void); /* frees the spare small buffer */
void nw_copies_close(void);

/* state.c: opens the driver for our own copies. */
NW_MUST_CHECK nw_status nw_messages_open_gpu(void);
/* The value of a numeric environment variable. `standard` if the variable is
 * not set, or is invalid (one warning). */
uint64_t nw_messages_setting(const char *name, uint64_t standard,
                             uint64_t least, uint64_t most);
/* algorithm_choice.c: collective calls through the channel. Called in MPI_Init
 * and MPI_Finalize; collective if NODEWISE_GPU_COLLECTIVES or
 * NODEWISE_GPU_MESSAGES is set. */
void nw_algorithms_start(bool messaging);
void nw_algorithms_finish(void);
/* The same for the direct path: local_peers.c, direct.c. */
void nw_direct_start(bool messaging);
void nw_direct_finish(void);
/* request_table.c: number of tracked requests. */
extern int nw_request_table_count;
/* detached_requests.c: waits for the remaining requests in MPI_Finalize. */
void nw_requests_finish(void);
/* wait_one.c: the work left at a request's end. It is looked up before the call
 * that may end the request: once MPI has freed a request, another thread may
 * get its handle. */
struct nw_ending {
    MPI_Request request;
    bool found;
    struct nw_tracked_request *kept, *persistent;
};
void nw_request_begin(MPI_Request request, struct nw_ending *out);
int nw_request_end(struct nw_ending *ending,
                   MPI_Status *status); /* the request has ended */
/* The call failed. `left` is the handle afterwards: if it is not
 * MPI_REQUEST_NULL, the work stays. */
void nw_request_fail(struct nw_ending *ending, MPI_Request left);
void nw_request_back(struct nw_ending *ending); /* the request has not ended */
/* Ends the first request that is done without MPI's knowledge. Returns its
 * index, or -1. */
int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status);

/* sendrecv.c: requests that nw_sendrecv_start began and that are not done.
 * Without such a request these calls cost almost nothing. nw_sendrecvs_look
 * tests them all. */
void nw_sendrecvs_look(void);
bool nw_sendrecvs_are_busy(int count, const MPI_Request *requests);
void nw_sendrecvs_await(int count, const MPI_Request *requests);

/* envelope.c: if the received message is an envelope, fetches its payload and
 * sets the size in the status. *rc is then the result. */
bool nw_envelope_open(const struct nw_catch *caught, MPI_Status *status,
                      int *rc);
/* direct.c: withdraws payloads whose envelopes will not arrive. */
void nw_direct_unsent(struct nw_buffer *const *buffer, int count);
/* persistent_send.c: fills the envelope at the start of a persistent send. */
NW_MUST_CHECK nw_status nw_direct_persistent(struct nw_buffer *buffer);
/* The bytes of a status, or UINT64_MAX if undefined. */
static inline uint64_t nw_stage_received(const MPI_Status *status)
{
    MPI_Count bytes = -1;

    NW_PMPI(Get_elements_x)(status, MPI_BYTE, &bytes);
    return bytes < 0 ? UINT64_MAX : (uint64_t)bytes;
}

/* stage.c */
int nw_stage_error(struct nw_errhandler_scope whose, const char *call,
                   const char *why);
int nw_stage_raise(struct nw_errhandler_scope whose,
                   int code); /* calls the error handler */

#endif
