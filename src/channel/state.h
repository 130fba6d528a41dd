/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of an open channel, for the files of this folder. `lock` protects
 * it; functions declared here expect that the caller holds `lock`. */
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
    NW_PIECES = 4, /* staging pieces of each direction */
    NW_PIECE_BYTES = 262144,
    NW_BOUNCES = 16,      /* buffers for packed messages in flight */
    NW_SPARE_SLOTS = 8,   /* slots of each peer for messages without credits */
    NW_ENDPOINTS = 2,     /* one to ranks of this host, one to others */
    NW_IPC_MAPPINGS = 32, /* maximum number of opened allocations */
    /* The sender opens the receiver's GPU memory for messages of at least this
     * many bytes. */
    NW_OPEN_BYTES = 65536,
    /* A message travels alone if at most this many requests are in flight: the
     * message and its answer. */
    NW_ALONE = 2,
    NW_ERROR_TEXT = 192,
    NW_PARTS = 5,      /* maximum parts of an eager message */
    NW_CONTROLS = 32,  /* control messages that are allocated together */
    NW_TAKE_SIZES = 32 /* classes of message sizes, by powers of two */
};

/* The context of a libfabric operation; libfabric returns it on completion. It
 * must be the first field of the struct that owns the operation. */
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

/* A receive slot: either posted to libfabric, or holding a message that is not
 * delivered yet. */
struct nw_slot {
    struct nw_op op;
    struct nw_slot *next;
    struct nw_endpoint *fabric;
    struct nw_wire wire;
    struct nw_slot *data;      /* slot of the payload if `wire` is a HEAD */
    nw_channel_request *match; /* receive that waits for the rest */
    bool looping;              /* the adapter reads from this slot */
    char *memory;
    char *payload;   /* start of the payload, here or in `data` */
    uint64_t filled; /* payload bytes of a HEAD or PART received so far */
};

/* A piece of pinned host memory through which a large GPU message is copied. */
struct nw_piece {
    char *memory;
    struct fid_mr *region[NW_ENDPOINTS];
    nw_channel_request *request; /* NULL: free */
    uint64_t offset, bytes;
};

/* Memory that a receiver granted to a send of this process, which writes into
 * it in one or more writes. */
struct nw_grant {
    struct nw_grant *next;
    struct nw_wire wire;     /* the CTS that granted the memory */
    uint64_t begun, done;    /* bytes whose writes have started, ended */
    struct nw_flight *ready; /* next write, not accepted by libfabric yet */
};

/* One remote write of a granted piece of memory, prepared or in flight. */
struct nw_flight {
    struct nw_op op;
    struct nw_flight *next; /* next flight of the same request */
    nw_channel_request *request;
    struct nw_grant *grant;
    struct nw_piece *piece; /* source piece; NULL: the message's buffer */
    const char *from;
    void *descriptor;
    uint64_t bytes;
};

/* GPU memory of another process of this host, opened for copies. */
struct nw_ipc_mapping {
    void *memory; /* NULL: this entry is free */
    char handle[64];
    uint64_t id, used_ns;
    int32_t peer, at;        /* owner's rank; GPU that copies into the memory */
    struct nw_gpu_life life; /* of the context that opened it */
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

/* A buffer for a packed message: the header, then the payload. */
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
    struct nw_list *list; /* list that contains this request, or NULL */
    struct nw_peer *peer; /* NULL if a receive has not matched a message */
    int32_t gpu;
    bool is_send, done, orphan, head_sent;
    bool cannot_read; /* this process cannot read the sender's memory */
    bool weighs;      /* the send is timed, to compare parts with a read */
    int32_t word;     /* our board's word for the send, from 1; 0: none */
    bool offered;     /* the receive's memory was offered to the sender */
    bool staged;      /* its GPU memory could not be registered */
    unsigned flights; /* number of libfabric operations in flight */
    nw_status status;
    struct nw_bounce *bounce;
    const void *payload; /* payload of an eager send; NULL: not prepared yet */
    /* The fields from here to `asked_ns` belong to a rendezvous. They are
     * cleared when a rendezvous starts and ends, so that small messages do not
     * pay for them. */
    uint64_t id, remote; /* ids of this request and of the peer's */
    uint64_t abort;      /* peer's request that gets an ABORT; 0: none */
    uint64_t total, granted;
    uint64_t moved; /* bytes moved, also of an eager send in parts */
    struct nw_grant *grants;
    struct nw_flight *aloft; /* writes that libfabric has accepted */
    struct fid_mr *region;
    struct nw_region *kept; /* registration of GPU memory, in the cache */
    nw_status failing;      /* error, reported after the last write */
    /* `chosen`: the path was chosen. `copied`: the GPU memory is copied to
     * staging pieces before the writes. `timed`: the message is timed. */
    bool chosen, copied, timed;
    struct nw_piece *ahead; /* first bytes, copied before the CTS */
    uint64_t began_ns, ahead_ns;
    /* `opening`: the sender asks to open the receiver's GPU memory. `weighed`:
     * the message is timed to compare this with other protocols. */
    bool opening, weighed;
    uint64_t asked_ns;
    /* The header of a send. It must lie in one cache line: the kernel sends the
     * header as a separate piece, and a piece in two cache lines would cost
     * more than to pack the message. */
    _Alignas(64) struct nw_wire wire;
    char text[NW_ERROR_TEXT];
};

struct nw_peer {
    struct nw_op op;          /* operation that ends the connection (drain.c) */
    int32_t rank, pid, watch; /* watch: descriptor of the process, or -1 */
    bool here, used, bye, lost;
    bool reaped;          /* all requests with this lost peer were ended */
    bool at_once;         /* the kernel lets us access the peer's memory */
    bool refuses;         /* the peer's GPU cannot open our GPU memory */
    bool parting, parted; /* the connection is being ended; it has ended */
    uint64_t died_ns;     /* when the peer's process was seen dead; 0: alive */
    uint64_t lost_ns;
    int fabric;
    fi_addr_t address;
    /* Credits that we have for sends to the peer; credits that we have not
     * returned yet; our slots that hold messages of the peer. */
    uint32_t credits, owed, held;
    bool credit_queued;
    struct nw_list waiting; /* sends that wait, in the order of the calls */
    struct nw_control *control, *control_tail;
    struct nw_slot *head;    /* slot of a HEAD or PART that misses payload */
    struct nw_slot *early;   /* slots that arrived before earlier messages */
    uint16_t sent, expected; /* next sequence numbers, sent and received */
    nw_channel_request *two; /* send that blocks the next until it is sent */
    bool unread[2];          /* peer cannot read our host memory, GPU memory */
    int board_file;          /* descriptor of the board in the peer; -1: none */
    struct nw_board *board;  /* the peer's board, mapped at first use */
    uint64_t nonce;          /* all messages to the peer need this nonce */
    uint64_t nonce_at;       /* address of `nonce` in the peer's memory */
};

struct nw_channel {
    pthread_mutex_t lock;
    bool alone; /* the lock is skipped because no other thread exists */
    struct nw_channel_options options;
    struct nw_costs costs;
    struct nw_choice choice[NW_ENDPOINTS][NW_LOCALITIES][NW_REGIMES][2][2];
    /* Host messages of fewer bytes are sent by NW_CHANNEL_GATHER; if the
     * provider copies, it does so during our call. */
    uint64_t small[NW_ENDPOINTS][NW_REGIMES];
    enum nw_locality locality[NW_ENDPOINTS][NW_GPUS];
    int32_t gpu_count;
    enum nw_regime regime;
    uint32_t pending; /* number of requests that are not done */
    struct nw_endpoint fabric[NW_ENDPOINTS];
    int fabric_count;
    fi_addr_t self[NW_ENDPOINTS];
    /* Bytes of the header before a gathered payload; 0 if the header is in the
     * word beside the payload (proto/wire.h). */
    size_t head[NW_ENDPOINTS];
    /* Bits of the word beside a payload that the provider carries. */
    uint64_t word_mask[NW_ENDPOINTS];
    struct nw_peer *peer;
    struct nw_slot *slot;
    size_t slot_count;
    char *slot_memory;
    struct nw_slot *unposted, *loops;
    struct nw_slot *unexpected, *unexpected_tail;
    struct nw_list posted, flying, movers, starved;
    struct nw_list parting; /* requests with lost peers (wireup/drain.c) */
    struct nw_list leaving; /* requests that the owner no longer uses */
    nw_channel_request *spare;
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
    uint64_t words;   /* bit mask of the words of our board in use */
    int32_t controls; /* number of control messages in flight */
    int32_t stuck;    /* not 0 if messages wait to be sent */
    const struct nw_gpu_mapping *mapping;
    bool has_gpu, reaches; /* `reaches`: GPU memory can bypass the driver */
    bool opens;            /* the channel opens GPU memory of other processes */
    struct nw_ipc_mapping opened[NW_IPC_MAPPINGS];
    struct nw_rcache regions[NW_ENDPOINTS];
    /* Choice for large messages in GPU memory: the adapter reads the GPU memory
     * (0), or the bytes are copied to pinned memory first (1). */
    struct nw_selector takes[NW_ENDPOINTS][NW_TAKE_SIZES];
    /* Choice for messages between GPUs of one host: the sender opens the
     * receiver's GPU memory (1) or not (0). */
    struct nw_selector openings[NW_TAKE_SIZES];
    /* Choice for messages that shm would send in parts (0): the receiver reads
     * them instead (1). A measured table replaces this selector; `tabled` is
     * then true. */
    struct nw_selector reads[NW_TAKE_SIZES];
    bool tabled[NW_ENDPOINTS];
    struct nw_channel_counts counts;
    uint64_t turns, looked_ns;
    int32_t lost;
    bool unreaped; /* a peer was lost and its requests have not ended */
    bool fetches;  /* this process reads memory that peers offer */
    int board_file;
    struct nw_board *board; /* page where peers confirm reads; or NULL */
    uint64_t nonce;
    nw_channel_request *fetched[NW_WIRE_WORDS];
};

static inline struct nw_endpoint *nw_fabric_of(nw_channel *channel,
                                               const struct nw_peer *peer)
{
    return &channel->fabric[peer->fabric];
}

/* The library starts no threads, and the program starts none inside our calls.
 * So a process that has one thread at the lock still has one at the unlock. */
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

/* proto/list.c */
void nw_list_add(struct nw_list *list, nw_channel_request *request);
void nw_list_remove(nw_channel_request *request);

/* proto/request.c */
/* Keeps the memory of a request for a later request. */
void nw_request_free(nw_channel_request *request);
/* Frees all requests; libfabric must be closed. */
void nw_requests_free(nw_channel *channel);
/* Ends a request with `status`; on an error, nw_error_text() must hold its
 * message. */
void nw_request_finish(nw_channel_request *request, nw_status status);
/* Ends a request without error. The request must be in no list and hold no
 * resources, like most small messages. */
static inline void nw_request_over(nw_channel_request *request)
{
    request->done = true;
    request->channel->pending--;
}
/* Counts one operation of a request in flight less. */
void nw_request_landed(nw_channel_request *request);
NW_MUST_CHECK nw_status nw_request_know(nw_channel_request *request);
nw_channel_request *nw_request_by_id(nw_channel *channel, uint64_t id);
void nw_request_forget(nw_channel_request *request);

/* proto/send.c */
void nw_send_start(nw_channel_request *request);
void nw_send_push(nw_channel *channel); /* Repeats sends that had to wait. */
void nw_send_done(nw_channel_request *request);

/* proto/control.c: nw_control_for returns a new control message to a peer, or
 * NULL if memory is exhausted. */
struct nw_control *nw_control_for(nw_channel *channel, struct nw_peer *peer,
                                  const struct nw_wire *wire);
/* Sends a control message immediately, or not at all. Returns a libfabric code;
 * a message that libfabric refuses is dropped. */
ssize_t nw_control_now(nw_channel *channel, struct nw_peer *peer,
                       const struct nw_wire *wire);
void nw_send_control(struct nw_peer *peer, nw_channel *channel,
                     const struct nw_wire *wire);
/* Sends the control messages that wait for a peer; returns false if some must
 * still wait. */
bool nw_push_controls(nw_channel *channel, struct nw_peer *peer);
void nw_control_done(nw_channel *channel, struct nw_control *control);

/* proto/receive_slot.c */
void nw_slot_post(nw_channel *channel, struct nw_slot *slot);
void nw_slot_release(nw_channel *channel, struct nw_slot *slot, uint32_t n);

/* proto/receive.c */
void nw_slot_arrived(nw_channel *channel, struct nw_slot *slot,
                     const struct fi_cq_data_entry *entry);
void nw_receive_start(nw_channel_request *request);

/* proto/eager_deliver.c */
void nw_deliver(nw_channel *channel, struct nw_slot *slot,
                nw_channel_request *request);
void nw_deliver_looped(nw_channel *channel, struct nw_slot *slot,
                       nw_status status);
void nw_deliver_retry(nw_channel *channel);

/* wireup/drain.c: a lost peer may still live, and libfabric may still use the
 * memory of a request with that peer. Such a request ends when libfabric no
 * longer uses its memory. */
static inline bool nw_request_is_draining(const nw_channel_request *request)
{
    return request->list && request->list == &request->channel->parting;
}
bool nw_drain_keeps(nw_channel_request *request, nw_status status);
/* Returns true if a request that nw_drain_keeps keeps may end. Otherwise asks
 * the peer to end the connection and returns false. */
bool nw_drain_is_over(nw_channel_request *request);
/* Reports that libfabric refused the write that ends the connection; `error` is
 * libfabric's code. */
void nw_drain_refused(struct nw_peer *peer, int error);

/* tune/selection.c */
/* Fills the tables channel->choice; call it when the providers are known. */
void nw_selection_open(nw_channel *channel);
enum nw_locality nw_selection_locality(const nw_channel *channel, int fabric,
                                       int32_t gpu);
struct nw_way_of nw_choose_way(nw_channel *channel,
                               const nw_channel_request *request,
                               uint64_t bytes);
/* Returns true if the model predicts that a large message leaves GPU memory
 * faster by a copy to host memory than by the adapter's reads, else false. */
bool nw_choose_to_copy(const nw_channel_request *request);

/* proto/progress.c */
/* Makes one round of progress; returns true if anything happened. */
bool nw_progress(nw_channel *channel);

/* proto/reap.c: ends the requests of peers that are marked as lost. */
void nw_peers_reap(nw_channel *channel);

/* wireup/liveness.c */
/* Marks a peer as lost. */
void nw_peer_lose(nw_channel *channel, struct nw_peer *peer);
void nw_peers_look(nw_channel *channel);
/* Returns true if the process `pid` of a peer on this host has ended. */
bool nw_peers_has_died(const nw_channel *channel, int32_t pid);
/* wireup/exchange_addresses.c: exchanges hosts and endpoints of all ranks at
 * open. All ranks must call it. */
NW_MUST_CHECK nw_status nw_peers_meet(nw_channel *channel);
void nw_peers_leave(nw_channel *channel);

/* pmix.c: returns this process's rank and the number of ranks in the job that
 * the launcher started; NW_ENODEV if the launcher has no PMIx. */
NW_MUST_CHECK nw_status nw_pmix_join(int32_t *rank, int32_t *count);
NW_MUST_CHECK nw_status nw_pmix_gather(const void *mine, size_t bytes,
                                       uint64_t until_ns, void *all);

/* bootstrap.c: a meeting exchanges the first data between all ranks. */
struct nw_meeting;
NW_MUST_CHECK nw_status nw_meeting_open(const struct nw_channel_options *how,
                                        struct nw_meeting **out);
NW_MUST_CHECK nw_status nw_meeting_gather(struct nw_meeting *meeting,
                                          const void *mine, size_t bytes,
                                          void *all);
void nw_meeting_close(struct nw_meeting *meeting);

#endif
