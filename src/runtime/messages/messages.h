/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions that the rows of calls.table call. They let a program pass GPU
 * memory to an MPI that does not accept it. Most buffers in GPU memory are
 * "staged": host memory replaces them, which is filled before the call, copied
 * back after it, or both. Some calls refuse GPU memory (NW_REFUSE); some
 * messages go as envelopes (direct.h) or through the channel (algorithms.h).
 */
#ifndef NW_MESSAGES_MESSAGES_H
#define NW_MESSAGES_MESSAGES_H

#include "runtime/gpu_memory.h"
#include "runtime/wrap.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* True from MPI_Init to MPI_Finalize if buffers in GPU memory are staged:
 * always if NODEWISE_GPU_MESSAGES is "on", never if it is "off". Otherwise true
 * if the MPI library does not accept GPU memory, or accepts it but
 * nw_passthrough is true (passthrough.h). */
extern bool nw_messaging;
void nw_messages_start(void);
void nw_messages_finish(void);

/* Returns true if buffers in GPU memory may have to be staged. In a program
 * without a GPU, such a check is the only cost of an MPI call. */
static inline bool nw_is_messaging(void)
{
    return __builtin_expect(__atomic_load_n(&nw_messaging, __ATOMIC_RELAXED),
                            0) &&
           nw_gpu_is_used();
}

/* True if large messages in GPU memory may be sent as envelopes (direct.h).
 * Then every receive must check whether it gets an envelope. */
extern bool nw_direct;

/* True if several threads may call MPI concurrently (state.c). */
extern bool nw_threaded;

static inline bool nw_is_catching(void)
{
    return nw_is_messaging() ||
           __builtin_expect(__atomic_load_n(&nw_direct, __ATOMIC_RELAXED), 0);
}

/* The communicator of a request or of a message. If the program frees the
 * communicator before that is complete, a shadow communicator with the same
 * error handler replaces it (shadow_comm.c). */
struct nw_shadow_comm;
struct nw_comm_owner {
    MPI_Comm comm;
    struct nw_shadow_comm *shadow; /* NULL: the communicator was not freed */
};

/* The object whose error handler is called for an error: a communicator, a
 * window or a file. If `owner` is not NULL, it is the communicator in *owner.
 */
struct nw_errhandler_scope {
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    struct nw_comm_owner *owner;
};

/* NW_LARGE calls an MPI function by its name; if the count does not fit into an
 * int, the large-count function. The program's MPI library may be older than
 * the header and lack the latter. NW_LARGE_BELOW calls the MPI library's own
 * function. */
#if MPI_VERSION >= 4
typedef MPI_Count nw_units;
#define NW_BY_COUNT(small, large, buffer, count, ...)                          \
    ((count) != (int)(count) ? large(buffer, (MPI_Count)(count), __VA_ARGS__)  \
                             : small(buffer, (int)(count), __VA_ARGS__))
#else
typedef int nw_units;
#define NW_BY_COUNT(small, large, buffer, count, ...)                          \
    small(buffer, (int)(count), __VA_ARGS__)
#endif
#define NW_LARGE(name, ...) NW_BY_COUNT(MPI_##name, MPI_##name##_c, __VA_ARGS__)
#define NW_LARGE_BELOW(name, ...)                                              \
    NW_BY_COUNT(NW_PMPI(name), NW_PMPI(name##_c), __VA_ARGS__)

enum {
    NW_READ = 1,  /* MPI reads the buffer */
    NW_WRITE = 2, /* MPI writes to the buffer */
    NW_BOTH = 3,
    NW_FIXED = 4, /* added to NW_READ, NW_WRITE or NW_BOTH: staging must not
                     change count and datatype, since MPI gets those of the
                     program */
};
enum { NW_STAGE_BUFFERS = 3 };
/* Size of an envelope (direct.h) in bytes; a rare size of other messages. */
enum { NW_ENVELOPE = 160 };

struct nw_buffer;

/* A buffer argument of an MPI call: `count` elements of `type`. In the
 * collective calls of algorithms.c, `blocks` blocks of this size; other
 * functions ignore `blocks`, which NW_AREA sets to 0. */
struct nw_area {
    const void *buffer;
    int64_t count;
    MPI_Datatype type;
    int64_t blocks;
};

/* The source, tag and communicator that a receive or a probe matches. */
struct nw_match {
    int source, tag;
    MPI_Comm comm;
};

/* A receive whose message may be an envelope, if `on` is true; otherwise no
 * member is used but `from`. The program's buffer is `buffer`, for `count`
 * elements of `type`. MPI receives the message into `at`, as `n` elements of
 * `as`. */
struct nw_catch {
    bool on;
    void *buffer;
    int64_t count;
    MPI_Datatype type;
    void *at;
    int64_t n;
    MPI_Datatype as;
    /* `buffer` is smaller than an envelope, so `at` is other memory */
    bool small;
    struct nw_unexpected *from; /* record of the message if this is a receive of
                                   a matched message (MPI_Mrecv); NULL: no
                                   record */
    /* source, tag and communicator of a persistent receive */
    struct nw_match match;
};

/* The staged buffers of one MPI call. Each is GPU memory and the host memory
 * that replaces it. */
struct nw_stage {
    const char *call;
    bool persistent; /* persistent request: buffers are filled at each start */
    bool between;    /* the call is a point-to-point call */
    bool whole;      /* all bytes of the buffers are copied back to the GPU,
                        whatever the status says */
    bool ours;       /* stage GPU memory even if nw_passthrough is true */
    bool posting;    /* nw_post_begin was called, but not yet nw_post_end */
    nw_status status;
    int count;
    struct nw_buffer *buffer[NW_STAGE_BUFFERS];
    struct nw_catch caught;
    struct nw_tracked_request *kept; /* memory from nw_stage_reserve */
};

/* The count and datatype arguments of a buffer. The buffer consists of `blocks`
 * equal blocks, such as one for each rank in MPI_Alltoall; each block has
 * *count elements of *type. If the buffer must be staged (replaced by host
 * memory), nw_stage_triple does this and may change *count and *type. It
 * returns the address for MPI: that of the host memory, or `buffer` itself if
 * the buffer is not staged. `access` says whether MPI reads or writes the
 * buffer (NW_READ, ...). An error is stored in stage->status. */
struct nw_triple {
    int64_t *count;
    int64_t most; /* largest value that the count argument's type can hold */
    MPI_Datatype *type;
    int64_t blocks;
};
void *nw_stage_triple(struct nw_stage *stage, int access, const void *buffer,
                      struct nw_triple triple);
/* The blocks of a call such as MPI_Alltoallv or MPI_Alltoallw. The elements of
 * the arrays have count_size and place_size bytes: counts are int or MPI_Count;
 * `places`, the displacements, are int, MPI_Aint or MPI_Count. */
struct nw_block_places {
    int64_t blocks;
    const void *counts, *places;
    size_t count_size, place_size;
    /* One datatype per block; displacements are in bytes. NULL: all blocks have
     * `type`, and the unit of displacements is the extent of `type`. */
    const MPI_Datatype *types;
    MPI_Datatype type;
};
void *nw_stage_places(struct nw_stage *stage, int access, const void *buffer,
                      struct nw_block_places places);
void *nw_stage_bytes(struct nw_stage *stage, int access, const void *buffer,
                     int64_t bytes);
/* For an argument that cannot be staged: returns true if the call must fail,
 * because `buffer` is in GPU memory that is not managed, and MPI does not get
 * GPU memory itself (nw_passthrough is false). In this case, nw_stage_refuse
 * and nw_stage_refuse_area store an error in stage->status. */
bool nw_is_refused(const void *buffer);
void nw_stage_refuse(struct nw_stage *stage, const void *buffer);
void nw_stage_refuse_area(struct nw_stage *stage, struct nw_area area);

/* Records the buffer that MPI gets for a receive. */
static inline void nw_catch_set(struct nw_catch *caught, struct nw_area area)
{
    caught->at = (void *)(uintptr_t)area.buffer;
    caught->n = area.count;
    caught->as = area.type;
}
/* In envelope.c: a receive buffer that is smaller than an envelope is replaced
 * by other memory. Otherwise MPI would truncate an envelope, and its slot in
 * the pool would never be freed. nw_catch_is_small returns true for such a
 * buffer; nw_stage_small allocates the memory and returns its address, or NULL
 * with an error in stage->status. */
bool nw_catch_is_small(const struct nw_catch *caught);
void *nw_stage_small(struct nw_stage *stage);
void nw_stage_drop(struct nw_stage *stage); /* frees the buffers of the call */
/* For a call that could not be staged: calls the error handler of `whose` with
 * MPI_ERR_BUFFER, and returns this error code. */
int nw_stage_fail(struct nw_stage *stage, struct nw_errhandler_scope whose);
/* Ends a blocking call whose result is `rc`: if it succeeded, copies the
 * buffers that MPI has written back to the GPU, as many bytes as `status` says
 * (NULL: all). Frees the staged buffers. Returns the MPI error code of the
 * call. */
int nw_stage_end(struct nw_stage *stage, int rc, MPI_Status *status,
                 struct nw_errhandler_scope whose);
/* Allocates the memory that nw_stage_keep needs, before the call: after it, MPI
 * uses the staged buffers. Returns false with an error in stage->status if
 * memory is exhausted. */
bool nw_stage_reserve(struct nw_stage *stage);
/* Ends a call that returned a request: keeps the staged buffers until the
 * request is complete (a persistent request: until it is freed). If the call
 * failed, frees them. Returns the MPI error code of the call. */
int nw_stage_keep(struct nw_stage *stage, int rc, MPI_Request request,
                  struct nw_errhandler_scope whose);

/* The implementation of collective calls: MPI on staged host memory, the
 * channel (algorithms.c), or a choice by size. The channel is used only if
 * NODEWISE_GPU_COLLECTIVES or NODEWISE_GPU_MESSAGES is set. */
enum nw_algorithm_call { NW_FORMING_HOST, NW_FORMING_AUTO, NW_FORMING_CHANNEL };
extern enum nw_algorithm_call nw_algorithm_call;

static inline bool nw_is_algorithm_call(void)
{
    return __builtin_expect(nw_algorithm_call != NW_FORMING_HOST, 0);
}

struct nw_reduction {
    MPI_Op op;
    int root;
    MPI_Comm comm;
};
/* Each function nw_algorithm_*, from bcast to allreduce, makes the collective
 * call of its name. Returns true if the channel made the call, with the result
 * in *rc; false if MPI must make it. */
bool nw_algorithm_bcast(int *rc, struct nw_area data, int root, MPI_Comm comm);
bool nw_algorithm_gather(int *rc, struct nw_area from, struct nw_area into,
                         int root, MPI_Comm comm);
bool nw_algorithm_allgather(int *rc, struct nw_area from, struct nw_area into,
                            MPI_Comm comm);
bool nw_algorithm_alltoall(int *rc, struct nw_area from, struct nw_area into,
                           MPI_Comm comm);
bool nw_algorithm_reduce(int *rc, const void *from, struct nw_area into,
                         struct nw_reduction how);
bool nw_algorithm_allreduce(int *rc, const void *from, struct nw_area into,
                            struct nw_reduction how);

/* In direct.c: copies the area's bytes into this process's pool, for rank
 * `dest`. Returns the envelope that MPI must send instead; NULL: the area must
 * be staged. */
void *nw_direct_send(struct nw_stage *stage, struct nw_area area, int dest,
                     MPI_Comm comm);
/* In direct_persistent_send.c: returns the envelope that a persistent send of
 * this area sends, or NULL if the area must be staged. Each start copies the
 * payload into a slot of the pool; if none is free, it sends the payload in a
 * message of its own. direct.h explains envelopes. */
void *nw_direct_init(struct nw_stage *stage, struct nw_area area, int dest,
                     MPI_Comm comm);
/* In unexpected.c: probes, and the messages that probes took out of MPI's queue
 * and keep in a list. */
#define NW_MATCH(source, tag, comm) ((struct nw_match){(source), (tag), (comm)})
struct nw_found {
    MPI_Message *message;
    MPI_Status *status;
};
/* nw_unexpected_count: number of messages in the list of unexpected.c.
 * nw_matched: number of records of messages that are matched, but not yet
 * received (matched.h). */
extern int nw_unexpected_count, nw_matched;
int nw_probe(struct nw_match match, bool wait, int *flag, MPI_Status *status);
int nw_mprobe(struct nw_match match, bool wait, int *flag,
              struct nw_found found);
/* Removes the first matching message from the list of messages that probes took
 * out of MPI's queue, and sets *message to it. Returns false if none matches.
 */
bool nw_unexpected_take(struct nw_match match, MPI_Message *message);
/* Calls nw_unexpected_take if the list is not empty. Called before each
 * receive; it costs one load if the list is empty. */
static inline bool nw_is_set_aside(struct nw_match match, MPI_Message *message)
{
    return __atomic_load_n(&nw_unexpected_count, __ATOMIC_RELAXED) &&
           nw_unexpected_take(match, message);
}
/* For programs in which several threads receive: like nw_unexpected_take, but
 * if no message matches, it blocks the probes of other threads until
 * nw_post_end and returns false. The caller posts its receive before
 * nw_post_end, so that this receive gets the next message, and no probe does.
 */
bool nw_post_begin(struct nw_match match, MPI_Message *message);
void nw_post_end(void);
/* Returns true if a probe of another thread could take the message between the
 * macro NW_RECEIVE and the receive. Then nw_post_begin must be called. */
static inline bool nw_stage_posts(const struct nw_stage *stage)
{
    return nw_threaded && stage->caught.on && !stage->status;
}
/* Calls nw_post_begin, if that is needed, for a call that returns a request.
 * Returns true if the message was in the list of unexpected.c; the staged
 * buffers are then freed. If it returns false, nw_stage_keep calls nw_post_end,
 * or nw_stage_reserve if it fails. */
static inline bool nw_stage_post(struct nw_stage *stage, struct nw_match match,
                                 MPI_Message *message)
{
    stage->posting = nw_stage_posts(stage);
    if (!stage->posting || !nw_post_begin(match, message))
        return false;
    nw_stage_drop(stage);
    return true;
}
/* Makes an MPI_Recv for which nw_stage_posts returned true: receives a message
 * of the list in unexpected.c, or else by a nonblocking receive and a wait. */
int nw_post_receive(struct nw_stage *stage, struct nw_match match,
                    MPI_Status *status);
/* In sendrecv.c: makes an MPI_Isendrecv of a send and a receive. For
 * MPI_Isendrecv_replace, `into` is the only buffer. */
struct nw_sendrecv_pair {
    struct nw_area from, into;
    struct nw_match to, match;
};
int nw_sendrecv_start(struct nw_sendrecv_pair exchange, MPI_Request *request);
int nw_sendrecv_replace(struct nw_sendrecv_pair exchange, MPI_Request *request);
/* nw_is_apart returns true if an MPI_Sendrecv_replace of this area must be made
 * by a send and a receive. nw_sendrecv_through then makes it, and returns the
 * MPI error code. */
bool nw_is_apart(
    struct nw_area area); /* true if MPI's own function must not be used */
int nw_sendrecv_through(struct nw_sendrecv_pair exchange, MPI_Status *status);
/* In matched.c: returns the record of a matched message that the program now
 * receives; NULL if the message has no record. The caller frees the record by
 * nw_matched_drop. */
struct nw_unexpected *nw_matched_take(MPI_Message message);
/* Returns the communicator whose error handler reports errors of a matched
 * message: the calls that receive such a message have no communicator argument.
 */
struct nw_errhandler_scope nw_matched_whose(struct nw_unexpected *one,
                                            MPI_Message message);
/* Corrects the status of a received message that a probe had taken out of MPI's
 * queue. Returns true if the probe had received the message to examine it, and
 * this process had then sent it to itself (`forwarded` in matched.h). `one` may
 * be NULL here and in nw_matched_drop. */
bool nw_matched_see(struct nw_unexpected *one, MPI_Status *status);
void nw_matched_drop(struct nw_unexpected *one);

/* In gpu_pool.c: maps the pools that other processes have announced since the
 * last call. */
void nw_pool_look(void);

#define NW_AREA(buffer, count, type)                                           \
    ((struct nw_area){(buffer), (int64_t)(count), (type), 0})
#define NW_REDUCTION(op, root, comm)                                           \
    ((struct nw_reduction){(op), (root), (comm)})

/* Calls that start, complete or free requests (wait_one.c, wait_many.c,
 * persistent_start.c, detached_requests.c), and calls that free communicators.
 * `next` is the MPI function. nw_requests_are_tracked returns true if the table
 * of requests (request_table.h) has entries. */
bool nw_requests_are_tracked(void);
int nw_message_wait(__typeof__(&MPI_Wait) next, MPI_Request *request,
                    MPI_Status *status);
int nw_message_test(__typeof__(&MPI_Test) next, MPI_Request *request, int *flag,
                    MPI_Status *status);
int nw_message_waitall(__typeof__(&MPI_Waitall) next, int count,
                       MPI_Request *requests, MPI_Status *statuses);
int nw_message_testall(__typeof__(&MPI_Testall) next, int count,
                       MPI_Request *requests, int *flag, MPI_Status *statuses);
int nw_message_waitany(__typeof__(&MPI_Waitany) next, int count,
                       MPI_Request *requests, int *index, MPI_Status *status);
int nw_message_testany(__typeof__(&MPI_Testany) next, int count,
                       MPI_Request *requests, int *index, int *flag,
                       MPI_Status *status);
int nw_message_some(__typeof__(&MPI_Waitsome) next, int count,
                    MPI_Request *requests, int *done, int *indices,
                    MPI_Status *statuses);
int nw_message_waitsome(__typeof__(&MPI_Waitsome) next, int count,
                        MPI_Request *requests, int *done, int *indices,
                        MPI_Status *statuses);
int nw_message_look(__typeof__(&MPI_Request_get_status) next,
                    MPI_Request request, int *flag, MPI_Status *status);
#if MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)
int nw_message_look_all(__typeof__(&MPI_Request_get_status_all) next, int count,
                        MPI_Request *requests, int *flag, MPI_Status *statuses);
int nw_message_look_any(__typeof__(&MPI_Request_get_status_any) next, int count,
                        MPI_Request *requests, int *index, int *flag,
                        MPI_Status *status);
int nw_message_look_some(__typeof__(&MPI_Request_get_status_some) next,
                         int count, MPI_Request *requests, int *done,
                         int *indices, MPI_Status *statuses);
#endif
int nw_message_part(__typeof__(&MPI_Comm_free) next,
                    MPI_Comm *comm); // in comm_free.c
int nw_message_free(__typeof__(&MPI_Request_free) next, MPI_Request *request);
int nw_message_start(__typeof__(&MPI_Start) next, MPI_Request *request);
int nw_message_startall(__typeof__(&MPI_Startall) next, int count,
                        MPI_Request *requests);

/* Ends an MPI_Win_create whose memory is on a GPU, which is not supported. This
 * rank has created an empty window, so that the other ranks do not hang.
 * Returns the error code of this rank. */
int nw_window_refused(int rc, MPI_Comm comm);

/* Returns element i of an array of counts or displacements, whose elements have
 * `size` bytes. */
static inline int64_t nw_number_at(const void *array, size_t size, int64_t i)
{
    return size == sizeof(int) ? ((const int *)array)[i]
                               : ((const int64_t *)array)[i];
}

/* In collective_shape.c: the numbers of blocks in the buffers of a collective
 * call. An array of counts or displacements has elements of `count_size` or
 * `size` bytes. */
/* size of the communicator; of the remote group if it is an intercommunicator
 */
int64_t nw_shape_size(MPI_Comm comm);
int64_t nw_shape_group(MPI_Comm comm); /* size of the local group */
bool nw_shape_is_root(MPI_Comm comm, int root);
/* Returns true if `root` is MPI_PROC_NULL: this process takes no part */
bool nw_shape_is_outside(MPI_Comm comm, int root);
/* numbers of sources and of destinations in a neighbourhood collective */
int64_t nw_shape_in(MPI_Comm comm);
int64_t nw_shape_out(MPI_Comm comm);
int64_t nw_shape_sum(MPI_Comm comm, const void *counts, size_t count_size);
/* Attribute copy callback: an attribute with this callback is not copied by
 * MPI_Comm_dup. */
int nw_shape_not_copied(MPI_Comm comm, int key, void *extra, void *in,
                        void *out, int *flag);
int64_t nw_shape_rank_count(MPI_Comm comm, const void *counts, size_t size);
/* Returns the address of the first block of a call such as MPI_Alltoallv. */
void *nw_shape_place(const void *buffer, const void *places, size_t size,
                     MPI_Datatype type);

/* Replaces a buffer argument in GPU memory by host memory, and its count and
 * datatype by those that the host memory has. */
#define NW_STAGE(access, buffer, count, datatype, blocks)                      \
    do {                                                                       \
        int64_t nw_n_ = (int64_t)(count);                                      \
        MPI_Datatype nw_type_ = (datatype);                                    \
        buffer = nw_stage_triple(                                              \
            &nw_stage_, (access), (buffer),                                    \
            (struct nw_triple){&nw_n_,                                         \
                               sizeof(count) > 4 ? INT64_MAX : INT_MAX,        \
                               &nw_type_, (blocks)});                          \
        count = (__typeof__(count))nw_n_;                                      \
        datatype = nw_type_;                                                   \
    } while (0)
/* Replaces a buffer argument in GPU memory by host memory with the same layout.
 * Count and datatype stay unchanged, for example because another buffer
 * argument uses them, too. */
#define NW_STAGE_FIXED(access, buffer, count, datatype, blocks)                \
    do {                                                                       \
        int64_t nw_n_ = (int64_t)(count);                                      \
        MPI_Datatype nw_type_ = (datatype);                                    \
        buffer = nw_stage_triple(                                              \
            &nw_stage_, (access) | NW_FIXED, (buffer),                         \
            (struct nw_triple){&nw_n_, INT64_MAX, &nw_type_, (blocks)});       \
    } while (0)
#define NW_STAGE_BLOCKS(access, buffer, n, counts_, places_, ...)              \
    buffer = nw_stage_places(                                                  \
        &nw_stage_, (access), (buffer),                                        \
        (struct nw_block_places){.blocks = (n),                                \
                                 .counts = (counts_),                          \
                                 .places = (places_),                          \
                                 .count_size = sizeof(counts_[0]),             \
                                 .place_size = sizeof(places_[0]),             \
                                 __VA_ARGS__})
#define NW_STAGE_PLACES(access, buffer, n, counts, places, datatype)           \
    NW_STAGE_BLOCKS(access, buffer, n, counts, places, .type = (datatype))
/* In a communicator of one process, replaces the buffer by the address of its
 * only block, and the displacement of this block by 0. MPICH 4.0 ignores the
 * displacement and would write before the staged memory. */
#define NW_ONE_PLACE(buffer, places, type, comm)                               \
    static const int64_t nw_zero_displacement_;                                \
    if (nw_shape_size(comm) == 1 && buffer != MPI_IN_PLACE) {                  \
        buffer = nw_shape_place(buffer, places, sizeof(places[0]), type);      \
        places = (const void *)&nw_zero_displacement_;                         \
    }
#define NW_STAGE_TYPED(access, buffer, n, counts, places, datatypes)           \
    NW_STAGE_BLOCKS(access, buffer, n, counts, places, .types = (datatypes))
#define NW_STAGE_BYTES(access, buffer, bytes)                                  \
    buffer = nw_stage_bytes(&nw_stage_, (access), (buffer), (int64_t)(bytes))
/* NW_SEND_BY, NW_SEND, NW_SEND_INIT and NW_RECEIVE replace the send or receive
 * buffer of a point-to-point call by an envelope or by host memory. */
#define NW_SEND_BY(put, buf, count, type, dest, comm)                          \
    do {                                                                       \
        void *nw_envelope_ =                                                   \
            nw_direct                                                          \
                ? put(&nw_stage_, NW_AREA(buf, count, type), (dest), (comm))   \
                : NULL;                                                        \
        if (nw_envelope_) {                                                    \
            buf = nw_envelope_;                                                \
            count = NW_ENVELOPE;                                               \
            type = MPI_BYTE;                                                   \
        } else {                                                               \
            NW_STAGE(NW_READ, buf, count, type, (dest) != MPI_PROC_NULL);      \
        }                                                                      \
    } while (0)
#define NW_SEND(buf, count, type, dest, comm)                                  \
    NW_SEND_BY(nw_direct_send, buf, count, type, dest, comm)
#define NW_SEND_INIT(buf, count, type, dest, comm)                             \
    NW_SEND_BY(nw_direct_init, buf, count, type, dest, comm)
#define NW_RECEIVE(access, buf, count_, type_, real)                           \
    do {                                                                       \
        nw_stage_.caught = (struct nw_catch){.on = nw_direct && (real),        \
                                             .buffer = (buf),                  \
                                             .count = (int64_t)(count_),       \
                                             .type = (type_)};                 \
        if (nw_stage_.caught.on)                                               \
            nw_pool_look();                                                    \
        if (nw_stage_.caught.on && nw_catch_is_small(&nw_stage_.caught)) {     \
            buf = nw_stage_small(&nw_stage_);                                  \
            count_ = NW_ENVELOPE;                                              \
            type_ = MPI_BYTE;                                                  \
        } else {                                                               \
            NW_STAGE(access, buf, count_, type_, real);                        \
        }                                                                      \
        nw_catch_set(&nw_stage_.caught, NW_AREA(buf, count_, type_));          \
    } while (0)
/* Used after NW_RECEIVE in receives of a matched message (MPI_Mrecv): finds the
 * record of the message. */
#define NW_GIVEN(message)                                                      \
    do {                                                                       \
        if (!nw_stage_.status &&                                               \
            __atomic_load_n(&nw_matched, __ATOMIC_RELAXED))                    \
            nw_stage_.caught.from = nw_matched_take(*(message));               \
        if (!nw_stage_.count && !nw_stage_.caught.on) {                        \
            nw_matched_drop(nw_stage_.caught.from);                            \
            nw_stage_.caught.from = NULL;                                      \
        }                                                                      \
    } while (0)
/* Makes a send-receive call by a send and a receive, because a probe has taken
 * the message out of MPI's queue. The value of the macro is the error code. */
#define NW_SEND_AND(send, receive)                                             \
    __extension__({                                                            \
        MPI_Request nw_sent_;                                                  \
        int nw_one_ = (send), nw_other_ = nw_one_ ? nw_one_ : (receive);       \
        if (!nw_one_)                                                          \
            nw_one_ = MPI_Wait(&nw_sent_, MPI_STATUS_IGNORE);                  \
        nw_other_ ? nw_other_ : nw_one_;                                       \
    })
#define NW_REPLACED(buf, count_, type_, dest, stag, source, rtag, comm)        \
    ((struct nw_sendrecv_pair){.into = NW_AREA(buf, count_, type_),            \
                               .to = NW_MATCH(dest, stag, comm),               \
                               .match = NW_MATCH(source, rtag, comm)})
#define NW_REFUSE(buffer) nw_stage_refuse(&nw_stage_, (buffer))
#define NW_REFUSE_AREA(buffer, count, type)                                    \
    nw_stage_refuse_area(&nw_stage_, NW_AREA(buffer, count, type))

#define NW_OF_COMM(comm)                                                       \
    ((struct nw_errhandler_scope){(comm), MPI_WIN_NULL, MPI_FILE_NULL, NULL})
#define NW_OF_WIN(win)                                                         \
    ((struct nw_errhandler_scope){MPI_COMM_NULL, (win), MPI_FILE_NULL, NULL})
#define NW_OF_FILE(file)                                                       \
    ((struct nw_errhandler_scope){MPI_COMM_NULL, MPI_WIN_NULL, (file), NULL})
#define NW_OF_MESSAGE(message)                                                 \
    nw_matched_whose(nw_stage_.caught.from, *(message))

#define NW_ONCE .whole = false
#define NW_EACH .persistent = true
#define NW_PAIR .between = true
#define NW_PAIR_EACH .between = true, .persistent = true
#define NW_WHOLE .whole = true
#define NW_WHOLE_EACH .whole = true, .persistent = true

/* The wrapper that generate.py writes for a row of calls.table. `end` makes and
 * ends the call. `gate` returns true if buffers may have to be staged. `formed`
 * is true if the channel has made the call, with the result nw_rc_. */
#define NW_MESSAGE(name, entry, args, shared, passed, stage, whose, how, end,  \
                   gate, formed)                                               \
    NW_SHARED nw_staged_##name shared                                          \
    {                                                                          \
        struct nw_stage nw_stage_ = {.call = #name, how};                      \
        int nw_rc;                                                             \
                                                                               \
        stage;                                                                 \
        if (nw_stage_.status)                                                  \
            return nw_stage_fail(&nw_stage_, whose);                           \
        if (!nw_stage_.count && !nw_stage_.caught.on)                          \
            return nw_next args;                                               \
        end;                                                                   \
        return nw_rc;                                                          \
    }                                                                          \
    static inline int nw_message_##name shared                                 \
    {                                                                          \
        int nw_rc_ = MPI_SUCCESS;                                              \
                                                                               \
        if (formed)                                                            \
            return nw_rc_;                                                     \
        if (!gate())                                                           \
            return nw_next args;                                               \
        return nw_staged_##name passed;                                        \
    }
#define NW_MESSAGE_END(args, whose)                                            \
    nw_rc = nw_next args;                                                      \
    nw_rc = nw_stage_end(&nw_stage_, nw_rc, NULL, whose)
#define NW_MESSAGE_STATUS(args, whose)                                         \
    MPI_Status nw_own_;                                                        \
    if (status == MPI_STATUS_IGNORE)                                           \
        status = &nw_own_;                                                     \
    nw_rc = nw_next args;                                                      \
    nw_rc = nw_stage_end(&nw_stage_, nw_rc, status, whose)
#define NW_MESSAGE_KEEP(args, whose)                                           \
    if (!nw_stage_reserve(&nw_stage_))                                         \
        return nw_stage_fail(&nw_stage_, whose);                               \
    nw_rc = nw_next args;                                                      \
    nw_rc = nw_stage_keep(&nw_stage_, nw_rc, *request, whose)
#define NW_MESSAGE_WHERE(is_ours, name, args, shared, call)                    \
    static inline int nw_message_##name shared                                 \
    {                                                                          \
        if (!(is_ours))                                                        \
            return nw_next args;                                               \
        return call;                                                           \
    }
/* Calls that start, complete or free requests. Nodewise's version runs only
 * while Nodewise tracks a request. */
#define NW_MESSAGE_BY(name, entry, args, shared, passed, call)                 \
    NW_MESSAGE_WHERE(nw_requests_are_tracked(), name, args, shared, call)
#define NW_MESSAGE_OWN(name, entry, args, shared, passed, call)                \
    NW_MESSAGE_WHERE(nw_is_messaging(), name, args, shared, call)
#define NW_MESSAGE_DIRECT(name, entry, args, shared, passed, call)             \
    NW_MESSAGE_WHERE(                                                          \
        __builtin_expect(__atomic_load_n(&nw_direct, __ATOMIC_RELAXED), 0),    \
        name, args, shared, call)
#define NW_MESSAGE_CATCHING(name, entry, args, shared, passed, call)           \
    NW_MESSAGE_WHERE(nw_is_catching(), name, args, shared, call)
/* The MPI entry points of a function with a row only in
 * messages/calls.table. */
#define NW_WRAP_MESSAGE(name, entry, args, shared, passed)                     \
    NW_ENTRIES(name, entry, return nw_message_##name passed)

#endif
