/* SPDX-License-Identifier: BSD-3-Clause */
/* A staged buffer, which is GPU memory and the host memory that replaces it.
 * Only the files of this folder use these declarations. */
#ifndef NW_MESSAGES_STAGING_H
#define NW_MESSAGES_STAGING_H

#include "gpu/gpu.h"
#include "runtime/messages/pointer_cache.h"
#include "runtime/messages/typemap.h"
#include "runtime/messages/messages.h"

/* In pinned_cache.c: a piece of host memory, pinned if possible and if it is at
 * most 64 MiB. Pinned memory that is given back is kept for later messages, up
 * to a limit. */
struct nw_host {
    struct nw_host *next;
    char *memory;
    size_t bytes;
    bool pinned;
    struct nw_gpu_life life; /* the context in which the memory was pinned, to
                                check whether it still exists */
};
NW_MUST_CHECK nw_status nw_pinned_cache_take(size_t bytes,
                                             struct nw_host **out);
void nw_pinned_cache_give(struct nw_host *host); /* NULL is allowed */
void nw_pinned_cache_close(void);

/* A part of a staged buffer: `count` elements, the first at byte `offset`. */
struct nw_part {
    struct nw_typemap *layout;
    MPI_Aint offset;
    int64_t count;
};

struct nw_buffer {
    char *device;
    /* allocation that contained `device` when the buffer was staged */
    struct nw_pointer owner;
    int access;
    bool small;   /* allocated by nw_buffer_small */
    bool packed;  /* the host memory holds packed data (in the order of
                     MPI_Pack) */
    MPI_Aint low; /* if not packed: offset of the first staged byte in the
                     program's buffer */
    size_t bytes; /* number of staged bytes; of a persistent send by envelopes:
                     size of its payload in bytes; of other envelopes: 0 */
    struct nw_host *host;
    struct nw_part *part;
    size_t parts;
    struct nw_part only; /* storage for a single part */
    /* If the buffer is an envelope: the slot of the pool that holds the
     * payload, or index NW_SLOTS (direct.h). NULL: it is not an envelope */
    struct nw_pool_slot *slot;
    int peer; /* peer number (direct.h) of a persistent send's receiver */
};

/* In argument_memory.c: nw_area_side returns the kind of memory of an area with
 * at least one element: none (the datatype is empty), host, managed, GPU (or
 * GPU and managed), or host and GPU. Host and managed memory together count as
 * host memory, since the CPU can access both. Ignores `blocks`. If it is
 * managed or GPU memory, sets *owner to the allocation of its first byte.
 * nw_side_join returns the kind of two areas together. nw_side_is_staged
 * returns true for managed and GPU memory. */
enum nw_side {
    NW_SIDE_NONE,
    NW_SIDE_HOST,
    NW_SIDE_MANAGED,
    NW_SIDE_GPU,
    NW_SIDE_MIXED
};
enum nw_side nw_side_join(enum nw_side a, enum nw_side b);
static inline bool nw_side_is_staged(enum nw_side side)
{
    return side == NW_SIDE_MANAGED || side == NW_SIDE_GPU;
}
enum nw_side nw_area_side(const struct nw_area *area, struct nw_pointer *owner);

/* In copies.c: copies the program's buffer from the GPU to its host memory.
 * at_once: the MPI call was staged just now, so that buffer->owner is still
 * valid. Leaves the current GPU unchanged. */
NW_MUST_CHECK nw_status nw_buffer_fill(const struct nw_buffer *buffer,
                                       bool at_once);
/* Copies the first `most` bytes, counted in the order of MPI_Pack, from the
 * host memory back to the program's buffer on the GPU. Leaves the current GPU
 * unchanged. */
NW_MUST_CHECK nw_status nw_buffer_empty(const struct nw_buffer *buffer,
                                        uint64_t most);
/* In copy_bytes.c: copies bytes between any two memories, of the host or of
 * GPUs. */
NW_MUST_CHECK nw_status nw_buffer_copy(void *to, const void *from,
                                       size_t bytes);
/* In buffer.c: returns a buffer with NW_ENVELOPE bytes of host memory; NULL if
 * out of memory. */
struct nw_buffer *nw_buffer_small(void);
void nw_buffer_free(struct nw_buffer *buffer);
void nw_buffers_close(void); /* frees the spare small buffer */
void nw_copies_close(void);

/* In state.c: opens the GPU driver, which Nodewise needs to copy, at the first
 * call. Later calls return the result of the first. */
NW_MUST_CHECK nw_status nw_messages_open_gpu(void);
/* Returns the numeric value of the environment variable `name`; `standard` if
 * it is not set. If it is not a number from `least` to `most`, warns once and
 * returns `standard`. If `unit` is not 0, the value is a number of bytes, which
 * may have a unit ("64k", "1MiB"); a number without one is multiplied by
 * `unit`. */
uint64_t nw_messages_setting(const char *name, uint64_t unit, uint64_t standard,
                             uint64_t least, uint64_t most);
/* In algorithm_choice.c: start and end the use of the channel for collective
 * calls, in MPI_Init and MPI_Finalize. Collective if NODEWISE_GPU_COLLECTIVES
 * or NODEWISE_GPU_MESSAGES is set. */
void nw_algorithms_start(bool messaging);
void nw_algorithms_finish(void);
/* In local_peers.c and direct.c: start and end the use of the direct path, in
 * MPI_Init and MPI_Finalize. Collective if NODEWISE_GPU_DIRECT or
 * NODEWISE_GPU_MESSAGES is set. */
void nw_direct_start(bool messaging);
void nw_direct_finish(void);
/* In detached_requests.c: called in MPI_Finalize. Completes requests that the
 * program has freed by MPI_Request_free: waits for sends; of receives,
 * completes only those that MPI has finished. */
void nw_requests_finish(void);
/* In wait_one.c: the work that Nodewise does when a request completes. `found`:
 * the table has been searched. `kept`: list of the request's entries, which
 * were taken out of the table. `persistent`: the entry of a persistent request,
 * which stays in the table. If the process has several threads,
 * nw_request_begin takes the work out of the table before the call that may
 * complete the request. This order is necessary: as soon as MPI has freed the
 * request, another thread may get the same handle for a new one. */
struct nw_ending {
    MPI_Request request;
    bool found;
    struct nw_tracked_request *kept, *persistent;
};
void nw_request_begin(MPI_Request request, struct nw_ending *out);
int nw_request_end(struct nw_ending *ending,
                   MPI_Status *status); /* called after the request completed */
/* Called if the call that should complete the request failed. `left` is the
 * request's handle after the call. If it is not MPI_REQUEST_NULL, the entries
 * go back into the table; a persistent request becomes inactive. Otherwise all
 * entries are freed. */
void nw_request_fail(struct nw_ending *ending, MPI_Request left);
/* Puts the work back into the table. Called after a call that left the request
 * incomplete. */
void nw_request_back(struct nw_ending *ending);
/* Completes the first request of the array that nw_request_table_hold has
 * marked. Returns its index in the array; -1 if no request is marked. */
int nw_request_held(int count, const MPI_Request *requests, MPI_Status *status);

/* In sendrecv.c: requests of MPI_Isendrecv that are not complete. These
 * functions cost almost nothing while no such request exists.
 * - nw_sendrecvs_look tests all of them for progress.
 * - nw_sendrecvs_are_busy returns true if any of the given requests is one of
 *   them.
 * - nw_sendrecvs_await waits until all given requests of MPI_Isendrecv are
 *   complete. */
void nw_sendrecvs_look(void);
bool nw_sendrecvs_are_busy(int count, const MPI_Request *requests);
void nw_sendrecvs_await(int count, const MPI_Request *requests);

/* In envelope.c: if the received message is an envelope, copies its payload to
 * the program's buffer, sets the payload's size in the status and the MPI error
 * code in *rc, and returns true. Also copies any other message that was
 * received into memory of nw_stage_small. Returns false in all other cases. */
bool nw_envelope_open(const struct nw_catch *caught, MPI_Status *status,
                      int *rc);
/* In direct.c: withdraws the payloads of envelopes that MPI did not send. */
void nw_direct_unsent(struct nw_buffer *const *buffer, int count);
/* In direct_persistent_send.c: called at each start of a persistent send.
 * Copies the payload and writes the envelope. */
NW_MUST_CHECK nw_status nw_direct_persistent(struct nw_buffer *buffer);
/* Returns the number of bytes of the received message; UINT64_MAX if the status
 * does not define it. */
static inline uint64_t nw_stage_received(const MPI_Status *status)
{
    MPI_Count bytes = -1;

    NW_PMPI(Get_elements_x)(status, MPI_BYTE, &bytes);
    return bytes < 0 ? UINT64_MAX : (uint64_t)bytes;
}

/* In error_handler.c: prints a warning with the reason `why`, calls the error
 * handler of `whose` with MPI_ERR_BUFFER, and returns the error code. */
int nw_stage_error(struct nw_errhandler_scope whose, const char *call,
                   const char *why);
int nw_stage_raise(struct nw_errhandler_scope whose,
                   int code); /* calls the error handler */

#endif
