/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an open channel, shared by the files of src/channel. The member
 * `lock` protects the state. Functions declared here require that the caller
 * holds the lock, except nw_channel_lock and the functions that serve only to
 * open or close a channel. */
#ifndef NW_CHANNEL_STATE_H
#define NW_CHANNEL_STATE_H

#include "base/selector.h"
#include "channel/tune/cost_model.h"
#include "channel/fabric/endpoint.h"
#include "channel/memory/mapping.h"
#include "channel/memory/memory.h"
#include "channel/memory/hmem.h"
#include "channel/memory/registration_cache.h"
#include "channel/tune/thresholds.h"
#include "channel/proto/wire.h"

#include <nodewise/channel.h>

#include <pthread.h>
#include <sys/single_threaded.h>

enum {
    NW_PIECES = 4, /* staging pieces (struct nw_piece) for sends, and as many
                      for receives */
    NW_PIECE_BYTES = 262144,
    /* bounce buffers, one for each packed message in flight */
    NW_BOUNCES = 16,
    /* slots for each peer's messages that need no credit */
    NW_SPARE_SLOTS = 8,
    /* Endpoint 0 (shm) is for ranks of this host, endpoint 1 for ranks of other
     * hosts. Endpoint 1 is for all ranks if the user names a provider or if shm
     * is not available. */
    NW_ENDPOINTS = 2,
    NW_IPC_MAPPINGS = 32, /* maximum number of allocations opened by CUDA IPC */
    /* If a message of at least this many bytes goes into GPU memory of another
     * process of this host, the sender opens this memory by CUDA IPC. */
    NW_OPEN_BYTES = 65536,
    /* A message is timed only if at most this many requests are in flight: the
     * message itself and the receive of its reply. */
    NW_ALONE = 2,
    NW_ERROR_TEXT = 192,
    NW_PARTS = 5,      /* maximum parts of an eager message */
    NW_CONTROLS = 32,  /* control messages in one allocation */
    NW_TAKE_SIZES = 32 /* classes of message sizes, by powers of two */
};

/* Marks a function of rare events. If it were inlined, its caller would save
 * more registers for each message. */
#define NW_RARE __attribute__((noinline))

/* struct nw_op is the operation context that this library passes to libfabric
 * and gets back with the completion. It must be the first member of the struct
 * that owns the operation, and its `kind` tells which struct that is. */
enum nw_op_kind {
    NW_OP_SLOT,
    NW_OP_SEND,
    NW_OP_CONTROL,
    NW_OP_WRITE,
    NW_OP_DRAIN
};
struct nw_op {
    struct fi_context2 context;
    enum nw_op_kind kind;
};

/* A receive buffer of one message ("slot"). It is posted to libfabric, or will
 * be posted in the next round of progress, or holds a message that has not been
 * delivered yet. */
struct nw_slot {
    struct nw_op op;
    struct nw_slot *next;
    struct nw_endpoint *fabric;
    struct nw_wire wire;
    struct nw_slot *data; /* slot with the payload, if `wire` is a HEAD */
    /* The receive that matched the message, while it waits for the rest of the
     * message or for the copy to GPU memory; or NULL. */
    nw_channel_request *match;
    /* the adapter copies from this slot to the GPU */
    bool looping;
    char *memory;
    char *payload;   /* start of the payload, in this slot or in `data` */
    uint64_t filled; /* payload bytes of a HEAD or PART received so far */
};

/* A staging buffer of pinned host memory. A large message is copied through
 * such pieces if the adapter cannot move it to or from GPU memory, or if it
 * reads GPU memory more slowly. */
struct nw_piece {
    char *memory;
    struct fid_mr *region[NW_ENDPOINTS];
    nw_channel_request *request; /* request that uses the piece; NULL: none */
    uint64_t offset, bytes;
};

/* Memory that a receiver granted for a send of this process by one CTS message.
 * The send writes into it by one or more remote writes. */
struct nw_grant {
    struct nw_grant *next;
    struct nw_wire wire;     /* the CTS that granted the memory */
    uint64_t begun, done;    /* bytes of its writes that have started; that have
                                ended */
    struct nw_flight *ready; /* next write, not accepted by libfabric yet */
};

/* One remote write into granted memory ("flight"): prepared, or in flight. */
struct nw_flight {
    struct nw_op op;
    struct nw_flight *next; /* next flight of the same request */
    nw_channel_request *request;
    struct nw_grant *grant;
    /* staging piece from which the write reads; NULL: it reads from the
     * message's buffer */
    struct nw_piece *piece;
    const char *from;
    void *descriptor;
    uint64_t bytes;
};

/* GPU memory of another process of this host, which this process opened by CUDA
 * IPC to copy into it. */
struct nw_ipc_mapping {
    void *memory; /* NULL: this entry is free */
    char handle[64];
    uint64_t id, used_ns;
    int32_t peer, at;        /* owner's rank; GPU that copies into the memory */
    struct nw_gpu_life life; /* life of the context that opened it */
};

struct nw_control {
    struct nw_op op;
    struct nw_control *next;
    struct nw_controls *among;
    struct nw_peer *peer;
    struct nw_wire wire;
};

struct nw_controls {
    struct nw_controls *older;
    struct fid_mr *region[NW_ENDPOINTS];
    struct nw_control control[NW_CONTROLS];
};

/* A bounce buffer. It holds the header and then the payload of a packed
 * message. */
struct nw_bounce {
    struct nw_bounce *next;
    char *memory;
};

struct nw_list {
    nw_channel_request *head, *tail;
};

struct nw_channel_request {
    struct nw_op op;
    nw_channel *channel;
    nw_channel_request *next, *previous;
    struct nw_channel_message message;
    /* The fields from here to `payload` are cleared for a new request. */
    struct nw_channel_result result;
    struct nw_list *list; /* the list that contains this request, or NULL */
    struct nw_peer *peer; /* NULL if a receive has not matched a message */
    int32_t gpu;
    /* `detached`: the caller already has the result; the request is freed as
     * soon as libfabric no longer uses it. `head_sent`: the HEAD or the first
     * part of this send was sent. */
    bool is_send, done, detached, head_sent;
    bool cannot_read; /* this process cannot read the sender's memory */
    bool weighs;      /* timed to compare sending in parts with CMA */
    int32_t word; /* 1 + index of the send's word on our acknowledgement page;
                     0: none */
    bool offered; /* the receive's memory was offered by OPEN */
    bool staged;  /* the GPU memory could not be registered, so the data
                     go through staging pieces */
    unsigned flights; /* number of libfabric operations in flight */
    nw_status status;
    struct nw_bounce *bounce;
    const void *payload; /* payload of an eager send; NULL: not prepared yet */
    /* The fields from here to `asked_ns` belong to a rendezvous or a message of
     * NW_CHANNEL_CMA; eager messages also use `moved` and `kept`. They are
     * reset when a rendezvous starts and ends, so that small messages do not
     * pay for them. */
    uint64_t id, remote; /* id of this request, and of the peer's request */
    uint64_t abort;      /* id of the peer's request to end by ABORT; 0: none */
    uint64_t total, granted; /* bytes of the message; bytes granted by CTS */
    uint64_t moved; /* bytes moved so far, also by an eager send in parts */
    struct nw_grant *grants;
    struct nw_flight *aloft; /* writes in flight */
    struct fid_mr *region;
    struct nw_region *kept; /* cached registration of the GPU memory */
    nw_status failing;      /* error of a receive, which ends when the sender's
                               writes have ended */
    /* `chosen`: the sender has decided whether to copy. `copied`: the GPU
     * memory is copied to staging pieces before the writes. `timed`: the
     * duration of the message goes into channel->takes. */
    bool chosen, copied, timed;
    struct nw_piece *ahead; /* staging piece with the message's first bytes,
                               which were copied before the CTS came */
    uint64_t began_ns, ahead_ns; /* for `timed`: time of the start; ns that the
                                    copy into `ahead` took */
    /* `opening`: the sender asks to open the receiver's GPU memory. `weighed`:
     * the duration of the message goes into channel->openings. */
    bool opening, weighed;
    uint64_t asked_ns;
    /* The header of a send. Its first NW_WIRE_HEADER bytes must lie in one
     * cache line, because the kernel sends them as a separate iovec element. An
     * element in two cache lines would cost more than packing header and
     * payload into one buffer. */
    _Alignas(64) struct nw_wire wire;
    char text[NW_ERROR_TEXT];
};

struct nw_peer {
    struct nw_op op;          /* write that ends the connection (drain.c) */
    int32_t rank, pid, watch; /* watch: pidfd of the process, or -1 */
    /* `here`: it is on this host. `used`: a message was sent to it or received
     * from it. `bye`: it has sent BYE. `lost`: this process has given it up. */
    bool here, used, bye, lost;
    bool reaped;            /* the requests with this lost peer have ended */
    bool at_once;           /* reached by shm, and we may access its memory by
                               system calls */
    bool refuses;           /* the peer's GPU cannot open our GPU memory */
    bool draining, drained; /* the connection to the peer is ending; it has
                               ended */
    uint64_t died_ns; /* time at which we found that its process has ended;
                         0: it has not */
    uint64_t lost_ns; /* time at which `lost` was set */
    int fabric;
    fi_addr_t address;
    /* `credits`: eager messages that we may still send to the peer. `owed`:
     * credits that we must return to the peer. `held`: our slots that contain
     * undelivered messages of the peer. */
    uint32_t credits, owed, held;
    bool credit_queued;
    struct nw_list waiting; /* sends that wait, in the order of their calls */
    struct nw_control *control, *control_tail;
    struct nw_slot *head;    /* slot of a HEAD or PART without full payload */
    struct nw_slot *early;   /* messages that overtook earlier messages */
    uint16_t sent, expected; /* next sequence numbers to send, to receive */
    /* A send of protocol NW_CHANNEL_TWO whose payload later messages could
     * overtake: no other send to this peer starts before it has completed.
     * NULL: none. */
    nw_channel_request *two;
    bool unread[2]; /* peer cannot read our [0] host, [1] GPU memory */
    int ack_file;   /* descriptor of the peer's acknowledgement page; -1:
                       none */
    struct nw_ack_page *ack_page; /* the peer's page, mapped at first use */
    uint64_t nonce;               /* of the peer (proto/nonce.h) */
    uint64_t nonce_at;            /* address of `nonce` in the peer's memory */
};

struct nw_channel {
    pthread_mutex_t lock;
    bool alone; /* the lock was not taken, since the process has one thread */
    struct nw_channel_options options;
    struct nw_costs costs;
    struct nw_choice choice[NW_ENDPOINTS][NW_LOCALITIES][NW_REGIMES][2][2];
    /* Host messages below this size in bytes use the protocol
     * NW_CHANNEL_GATHER, unless the user forces another. If the provider copies
     * messages, it copies them within our call. */
    uint64_t small[NW_ENDPOINTS][NW_REGIMES];
    enum nw_locality locality[NW_ENDPOINTS][NW_GPUS];
    int32_t gpu_count;
    enum nw_regime regime;
    uint32_t pending; /* number of requests that are not done */
    struct nw_endpoint fabric[NW_ENDPOINTS];
    int fabric_count;
    fi_addr_t self[NW_ENDPOINTS];
    /* Bytes of the header before a gathered payload. 0 means that the header
     * travels in the 64-bit word that libfabric carries beside the payload
     * (proto/wire.h). */
    size_t head[NW_ENDPOINTS];
    /* Mask of the bits that the provider carries of the 64-bit word beside a
     * payload. */
    uint64_t word_mask[NW_ENDPOINTS];
    struct nw_peer *peer;
    struct nw_slot *slot;
    size_t slot_count;
    char *slot_memory;
    /* `unposted`: slots that the next round of progress gives to libfabric.
     * `loops`: slots whose copy to GPU memory libfabric could not take yet. */
    struct nw_slot *unposted, *loops;
    struct nw_slot *unexpected, *unexpected_tail;
    /* `posted`: receives without a matching message. `flying`: sends that
     * libfabric has accepted and not completed. `movers`: rendezvous sends with
     * a write that waits for libfabric or for a free staging piece. `starved`:
     * receives that wait for free staging pieces. */
    struct nw_list posted, flying, movers, starved;
    struct nw_list draining;   /* of lost peers, still in use by libfabric
                                  (drain.c) */
    struct nw_list leaving;    /* requests whose owners already have the
                                  result */
    nw_channel_request *spare; /* freed requests, to be used again */
    struct nw_control *spare_control;
    struct nw_controls *controls_made;
    struct nw_bounce bounce[NW_BOUNCES], *bounces;
    char *bounce_memory, *piece_memory;
    size_t slots_bytes, bounces_bytes;
    struct fid_mr *slots_region[NW_ENDPOINTS], *bounces_region[NW_ENDPOINTS];
    struct nw_piece in[NW_PIECES], out[NW_PIECES];
    nw_channel_request **known; /* rendezvous requests, indexed by their ids */
    size_t known_count;
    uint32_t generation;
    uint64_t words; /* bit i is set if word i of our acknowledgement page is in
                       use */
    int32_t controls; /* number of control messages in flight */
    int32_t stuck;    /* 1 if messages wait to be sent, else 0 */
    const struct nw_gpu_mapping *mapping;
    bool has_gpu;
    bool bypasses_driver; /* GPU memory may be accessed without the driver */
    bool opens;           /* GPU memory of other processes may be opened */
    struct nw_ipc_mapping ipc_cache[NW_IPC_MAPPINGS];
    struct nw_rcache regions[NW_ENDPOINTS];
    /* Choice by measured times for large messages in GPU memory: alternative 0,
     * the adapter reads the GPU memory; alternative 1, the bytes are first
     * copied to pinned host memory. */
    struct nw_selector takes[NW_ENDPOINTS][NW_TAKE_SIZES];
    /* Choice by measured times for messages between GPUs of one host:
     * alternative 1, the sender opens the receiver's GPU memory; alternative 0,
     * it does not. */
    struct nw_selector openings[NW_TAKE_SIZES];
    /* Choice by measured times for host messages that shm would send in parts:
     * alternative 0, in parts; alternative 1, the receiver reads them from the
     * sender's memory. If a measured table decides instead, `tabled` is true
     * for this endpoint. */
    struct nw_selector reads[NW_TAKE_SIZES];
    bool tabled[NW_ENDPOINTS];
    struct nw_channel_counts counts;
    uint64_t turns, looked_ns;
    int32_t lost;
    bool unreaped; /* a peer was lost and its requests have not ended */
    bool cma_on;   /* this process may use NW_CHANNEL_CMA */
    int ack_file;
    struct nw_ack_page *ack_page; /* where peers confirm their reads; or NULL */
    uint64_t nonce;               /* of this process (proto/nonce.h) */
    nw_channel_request *cma_sends[NW_WIRE_WORDS]; /* [i]: send that uses word i
                                                     of ack_page; or NULL */
};

static inline struct nw_endpoint *nw_fabric_of(nw_channel *channel,
                                               const struct nw_peer *peer)
{
    return &channel->fabric[peer->fabric];
}

/* Takes the channel's lock, unless the process has only one thread. The library
 * starts no threads, and the program starts none inside our calls. So if the
 * lock was not taken here, it is not needed until the unlock. */
static inline void nw_channel_lock(nw_channel *channel)
{
    bool alone = __libc_single_threaded;

    if (!alone)
        (void)pthread_mutex_lock(&channel->lock);
    channel->alone = alone;
}

static inline void nw_channel_unlock(nw_channel *channel)
{
    if (!channel->alone)
        (void)pthread_mutex_unlock(&channel->lock);
}

/* proto/list.c: nw_list_add appends a request to a list; nw_list_remove removes
 * it from the list that contains it, if any. */
void nw_list_add(struct nw_list *list, nw_channel_request *request);
void nw_list_remove(nw_channel_request *request);

/* proto/request.c: the states of a request. */
/* Ends the use of a request; its memory serves a later request. */
static inline void nw_request_free(nw_channel_request *request)
{
    request->next = request->channel->spare;
    request->channel->spare = request;
}
/* Frees all requests whose owners already have the result, and all spare
 * requests; libfabric must be closed. */
void nw_requests_free(nw_channel *channel);
/* Ends a request with `status`; on an error, nw_error_text() must hold its
 * message. If the peer is lost and libfabric still uses the request's memory,
 * the request ends later (nw_drain_keeps). Does nothing if the request is done.
 */
void nw_request_finish(nw_channel_request *request, nw_status status);
/* Ends a request without error. The request must be in no list and hold no
 * resources, like most small messages. */
static inline void nw_request_over(nw_channel_request *request)
{
    request->done = true;
    request->channel->pending--;
}
/* Records that a libfabric operation of this request has ended. If the request
 * is done and has no other operation in flight, releases its resources. */
void nw_request_landed(nw_channel_request *request);
/* Assigns an id to a request, by which messages of the peer refer to it, and
 * resets the members for a rendezvous. NW_ENOMEM is the only error. */
NW_MUST_CHECK nw_status nw_request_know(nw_channel_request *request);
/* Returns the request with this id, or NULL if it has ended or never existed.
 */
nw_channel_request *nw_request_by_id(nw_channel *channel, uint64_t id);

/* proto/send.c: sends messages. nw_send_start sends a new request or queues it.
 * nw_send_push retries the sends that wait. nw_send_done is called when
 * libfabric reports the end of an eager send. */
void nw_send_start(nw_channel_request *request);
void nw_send_push(nw_channel *channel);
void nw_send_done(nw_channel_request *request);

/* proto/control.c: control messages, which need no credit. */
/* Allocates control messages. Opening a channel allocates the first ones, so
 * that a process whose memory is exhausted later can still send some. */
NW_MUST_CHECK nw_status nw_controls_new(nw_channel *channel);
/* Passes a control message to libfabric immediately. Returns a libfabric code;
 * if it is not 0, the message was dropped. */
ssize_t nw_control_now(nw_channel *channel, struct nw_peer *peer,
                       const struct nw_wire *wire);
/* Sends a control message immediately, or queues it if libfabric cannot take it
 * now. Gives up the peer if memory is exhausted or if libfabric fails. Does
 * nothing if the peer is lost. */
void nw_send_control(struct nw_peer *peer, nw_channel *channel,
                     const struct nw_wire *wire);
/* Sends the control messages that are queued for a peer. Returns false if
 * libfabric cannot take all of them now. If libfabric fails, gives up the peer
 * and returns true. */
bool nw_push_controls(nw_channel *channel, struct nw_peer *peer);
void nw_control_done(nw_channel *channel, struct nw_control *control);

/* proto/receive_slot.c: nw_slot_post gives a slot to libfabric, which receives
 * a message into it. nw_slot_release is called after a message was delivered.
 * It lets the next round of progress post the slot, and returns n credits to
 * the sender. */
void nw_slot_post(nw_channel *channel, struct nw_slot *slot);
void nw_slot_release(nw_channel *channel, struct nw_slot *slot, uint32_t n);

/* proto/receive.c: nw_slot_arrived handles the message that libfabric received
 * into a slot. nw_receive_start matches a new receive with a message that
 * arrived earlier, or queues the receive. */
void nw_slot_arrived(nw_channel *channel, struct nw_slot *slot,
                     const struct fi_cq_data_entry *entry);
void nw_receive_start(nw_channel_request *request);

/* proto/eager_deliver.c: nw_deliver copies the message in a slot into the
 * receive's buffer. If the adapter does this copy, nw_deliver_looped is called
 * at its end, and nw_deliver_retry retries copies that libfabric could not
 * take. */
void nw_deliver(nw_channel *channel, struct nw_slot *slot,
                nw_channel_request *request);
void nw_deliver_looped(nw_channel *channel, struct nw_slot *slot,
                       nw_status status);
void nw_deliver_retry(nw_channel *channel);

/* wireup/drain.c: ends requests with peers that were given up ("lost"). Such a
 * peer may still be alive, and libfabric may still use the memory of a request.
 * The request then ends only after libfabric no longer uses its memory. */
static inline bool nw_request_is_draining(const nw_channel_request *request)
{
    return request->list && request->list == &request->channel->draining;
}
/* Returns true if a request that should end with `status` must wait because
 * libfabric still uses its memory. Keeps it in channel->draining then. */
bool nw_drain_keeps(nw_channel_request *request, nw_status status);
/* Returns true if libfabric no longer uses the memory of a request in
 * channel->draining, or if the time limit has passed. Otherwise posts the write
 * that ends the connection to the peer, if needed, and returns false. */
bool nw_drain_is_over(nw_channel_request *request);
/* Reports that libfabric refused the write that ends the connection; `error` is
 * libfabric's code. */
void nw_drain_refused(struct nw_peer *peer, int error);

/* tune/selection.c: chooses the protocol of each message. */
/* Fills the tables channel->choice. Call it after the endpoints are open. */
void nw_selection_open(nw_channel *channel);
/* Returns the protocol and copy method with the least expected time for a
 * message. */
struct nw_protocol_copy nw_choose_protocol(nw_channel *channel,
                                           const nw_channel_request *request,
                                           uint64_t bytes);
/* Returns true if the model predicts that a large message leaves GPU memory
 * faster by a copy to host memory than by the adapter's reads, else false. */
bool nw_choose_to_copy(const nw_channel_request *request);

/* proto/progress.c: the progress loop. */
/* Makes one round of progress. Returns true if libfabric reported a completion
 * or a peer confirmed a read. */
bool nw_progress(nw_channel *channel);

/* proto/reap.c: ends the requests of peers that are marked as lost. */
void nw_peers_reap(nw_channel *channel);

/* wireup/liveness.c: finds peers whose processes have died. */
/* Marks a peer as lost: it has died, or has broken the protocol. The next round
 * of progress ends its requests. */
void nw_peer_lose(nw_channel *channel, struct nw_peer *peer);
/* Checks the processes of all peers on this host. Marks a peer as lost 0.1 s
 * after its death was found. */
void nw_peers_look(nw_channel *channel);
/* Returns true if the process `pid` of a peer on this host has ended. */
bool nw_peers_has_died(const nw_channel *channel, int32_t pid);
/* wireup/exchange_addresses.c: when a channel opens, all ranks exchange their
 * host names and endpoint addresses. This call is collective. nw_peers_leave
 * closes the process descriptors of all peers. */
NW_MUST_CHECK nw_status nw_peers_meet(nw_channel *channel);
void nw_peers_leave(nw_channel *channel);

/* wireup/pmix.c: sets *rank and *count to this process's rank and the number of
 * ranks in the job that the launcher started. NW_ENODEV if the launcher has no
 * PMIx. */
NW_MUST_CHECK nw_status nw_pmix_join(int32_t *rank, int32_t *count);
/* Allgather through PMIx: `all` gets `bytes` bytes from each rank, in the order
 * of ranks. Fails if a rank is missing at the time `until_ns`. */
NW_MUST_CHECK nw_status nw_pmix_gather(const void *mine, size_t bytes,
                                       uint64_t until_ns, void *all);

/* wireup/bootstrap.c: a meeting is the object through which all ranks exchange
 * data before they are connected. nw_meeting_gather is an allgather of `bytes`
 * bytes from each rank. */
struct nw_meeting;
NW_MUST_CHECK nw_status nw_meeting_open(const struct nw_channel_options *how,
                                        struct nw_meeting **out);
NW_MUST_CHECK nw_status nw_meeting_gather(struct nw_meeting *meeting,
                                          const void *mine, size_t bytes,
                                          void *all);
void nw_meeting_close(struct nw_meeting *meeting);

#endif
