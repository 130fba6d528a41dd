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
    NW_PIECES = 4, /* staging pieces, of each direction */
    NW_PIECE_BYTES = 262144,
    NW_BOUNCES = 16,       /* packed messages in flight */
    NW_SPARE_SLOTS = 8,    /* of each peer, for messages that cost no credit */
    NW_ENDPOINTS = 2,      /* to this host, to others */
    NW_IPC_MAPPINGS = 32,  /* allocations of other processes, kept open */
    NW_OPEN_BYTES = 65536, /* messages for which GPU memory is opened */
    NW_ALONE = 2,          /* requests in flight: a message and its answer */
    NW_ERROR_TEXT = 192,
    NW_PARTS = 5,      /* into which an eager message may be divided */
    NW_CONTROLS = 32,  /* allocated together */
    NW_TAKE_SIZES = 32 /* powers of two */
};

/* The context of an operation, which libfabric returns on completion. It must
 * be the first field of its owner. */
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

/* A receive slot: posted, or holding a message that is not delivered yet. */
struct nw_slot {
    struct nw_op op;
    struct nw_slot *next;
    struct nw_endpoint *fabric;
    struct nw_wire wire;
    struct nw_slot *data;      /* of a HEAD: the slot of its payload */
    nw_channel_request *match; /* waits for the payload or the loopback */
    bool looping;              /* the adapter reads from it */
    char *memory;
    char *payload;   /* start of the payload, in this or the other slot */
    uint64_t filled; /* of a HEAD or PART: payload bytes received */
};

/* Staging memory of a large GPU message. */
struct nw_piece {
    char *memory;
    struct fid_mr *region[NW_ENDPOINTS];
    nw_channel_request *request; /* NULL: free */
    uint64_t offset, bytes;
};

/* Memory that a receiver granted; the sender fills it piece by piece. */
struct nw_grant {
    struct nw_grant *next;
    struct nw_wire wire;     /* the CTS */
    uint64_t begun, done;    /* bytes */
    struct nw_flight *ready; /* prepared, but not accepted by libfabric yet */
};

/* One remote write in flight. */
struct nw_flight {
    struct nw_op op;
    struct nw_flight *next; /* in flight, of the same request */
    nw_channel_request *request;
    struct nw_grant *grant;
    struct nw_piece *piece; /* NULL: straight from the buffer */
    const char *from;
    void *descriptor;
    uint64_t bytes;
};

/* GPU memory of another process of this host. */
struct nw_ipc_mapping {
    void *memory; /* NULL: free */
    char handle[64];
    uint64_t id, used_ns;
    int32_t peer, at;        /* `at`: the GPU whose copies it was opened for */
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

/* A packed message: header and payload side by side. */
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
    /* from here on cleared for a new request */
    struct nw_channel_result result;
    struct nw_list *list; /* that contains it; NULL: none */
    struct nw_peer *peer; /* NULL: a receive that is not matched */
    int32_t gpu;
    bool is_send, done, orphan, head_sent;
    bool cannot_read; /* the memory that its sender offers */
    bool weighs;      /* timed, to compare parts with a read */
    int32_t word;     /* of our board, counted from 1; 0: none */
    bool offered;     /* to the sender, which may open its memory */
    bool staged;      /* its GPU memory could not be registered */
    unsigned flights; /* libfabric operations in flight */
    nw_status status;
    struct nw_bounce *bounce;
    const void *payload; /* of an eager send: ready to send if not NULL */
    /* Up to here. The fields below belong to a rendezvous and are cleared when
     * it starts and ends, so that small messages do not pay for them. */
    uint64_t id, remote; /* ours, theirs */
    uint64_t abort;      /* theirs: gets an ABORT because ours failed */
    uint64_t total, granted;
    uint64_t moved; /* also of an eager send in parts */
    struct nw_grant *grants;
    struct nw_flight *aloft; /* writes that libfabric took */
    struct fid_mr *region;
    struct nw_region *kept;     /* the same for GPU memory */
    nw_status failing;          /* reported after the last granted write */
    bool chosen, copied, timed; /* copied: out of the GPU into pieces first */
    struct nw_piece *ahead;     /* its first bytes, copied before the grant */
    uint64_t began_ns, ahead_ns;
    bool opening, weighed; /* opens the receiver's memory; is timed */
    uint64_t asked_ns;
    /* The header of a send. It stays within one cache line: the kernel sends it
     * as a separate piece, and a piece in two lines would cost more than
     * packing. */
    _Alignas(64) struct nw_wire wire;
    char text[NW_ERROR_TEXT];
};

struct nw_peer {
    struct nw_op op;          /* ends the connection: wireup/drain.c */
    int32_t rank, pid, watch; /* watch: descriptor of the process, -1 none */
    bool here, used, bye, lost;
    bool reaped;          /* its requests were ended */
    bool at_once;         /* the kernel lets us write to its memory */
    bool refuses;         /* its GPU cannot open our GPU memory */
    bool parting, parted; /* ending the connection; it has ended */
    uint64_t died_ns;     /* 0: alive */
    uint64_t lost_ns;
    int fabric;
    fi_addr_t address;
    uint32_t credits, owed, held; /* to send; to return; used in our slots */
    bool credit_queued;
    struct nw_list waiting; /* sends, in order */
    struct nw_control *control, *control_tail;
    struct nw_slot *head;  /* a HEAD or PART without its whole payload */
    struct nw_slot *early; /* arrived before messages that were sent earlier */
    uint16_t sent, expected; /* the next sequence number, in each direction */
    nw_channel_request *two; /* blocks others until its payload is sent */
    bool unread[2];          /* it cannot read our host memory, GPU memory */
    int board_file;          /* its descriptor of the board; -1: none or used */
    struct nw_board *board;  /* its board, mapped at first use */
    uint64_t nonce;          /* every message to it must have this nonce */
    uint64_t nonce_at;       /* in its memory */
};

struct nw_channel {
    pthread_mutex_t lock;
    bool alone; /* the lock is skipped: no other threads exist */
    struct nw_channel_options options;
    struct nw_costs costs;
    struct nw_choice choice[NW_ENDPOINTS][NW_LOCALITIES][NW_REGIMES][2][2];
    /* Smaller host messages are gathered; a provider that copies does so during
     * our call. */
    uint64_t small[NW_ENDPOINTS][NW_REGIMES];
    enum nw_locality locality[NW_ENDPOINTS][NW_GPUS];
    int32_t gpu_count;
    enum nw_regime regime;
    uint32_t pending; /* requests that are not done */
    struct nw_endpoint fabric[NW_ENDPOINTS];
    int fabric_count;
    fi_addr_t self[NW_ENDPOINTS];
    size_t head[NW_ENDPOINTS]; /* bytes before a gathered payload: 0 if a word
                                  beside it has the header (proto/wire.h) */
    uint64_t word_mask[NW_ENDPOINTS]; /* bits of the word that the provider
                                         carries */
    struct nw_peer *peer;
    struct nw_slot *slot;
    size_t slot_count;
    char *slot_memory;
    struct nw_slot *unposted, *loops;
    struct nw_slot *unexpected, *unexpected_tail;
    struct nw_list posted, flying, movers, starved;
    struct nw_list parting; /* of lost peers: wireup/drain.c */
    struct nw_list leaving; /* freed, but used by libfabric */
    nw_channel_request *spare;
    struct nw_control *spare_control;
    struct nw_controls *controls_made;
    struct nw_bounce bounce[NW_BOUNCES], *bounces;
    char *bounce_memory, *piece_memory;
    size_t slots_bytes, bounces_bytes;
    struct fid_mr *slots_region[NW_ENDPOINTS], *bounces_region[NW_ENDPOINTS];
    struct nw_piece in[NW_PIECES], out[NW_PIECES];
    nw_channel_request **known; /* rendezvous by id */
    size_t known_count;
    uint32_t generation;
    uint64_t words;   /* of our board, in use */
    int32_t controls; /* in flight */
    int32_t stuck;    /* peers with messages to send */
    const struct nw_gpu_mapping *mapping;
    bool has_gpu, reaches; /* GPU memory without the driver, if possible */
    bool opens;            /* GPU memory of other processes */
    struct nw_ipc_mapping opened[NW_IPC_MAPPINGS];
    struct nw_rcache regions[NW_ENDPOINTS];
    /* Whether the adapter reads large messages from GPU memory, or they are
     * copied to pinned memory first. */
    struct nw_selector takes[NW_ENDPOINTS][NW_TAKE_SIZES];
    /* Whether the receiver's GPU memory is opened. */
    struct nw_selector openings[NW_TAKE_SIZES];
    /* Whether the receiver reads a message that shm would send in parts. A
     * measured table replaces this selector. */
    struct nw_selector reads[NW_TAKE_SIZES];
    bool tabled[NW_ENDPOINTS];
    struct nw_channel_counts counts;
    uint64_t turns, looked_ns;
    int32_t lost;
    bool unreaped; /* a peer was lost whose requests have not ended yet */
    bool fetches;  /* reads memory that peers offer */
    int board_file;
    struct nw_board *board; /* where peers confirm reads; or NULL */
    uint64_t nonce;
    nw_channel_request *fetched[NW_WIRE_WORDS];
};

static inline struct nw_endpoint *nw_fabric_of(nw_channel *channel,
                                               const struct nw_peer *peer)
{
    return &channel->fabric[peer->fabric];
}

/* Only the program starts threads, outside of our calls. So a process that has
 * one thread at the lock still has one at the unlock. */
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
void nw_request_free(nw_channel_request *request); /* reused later */
/* Frees all requests; libfabric must be closed. */
void nw_requests_free(nw_channel *channel);
/* Ends a request; `status` has its sentence in nw_error_text(). */
void nw_request_finish(nw_channel_request *request, nw_status status);
/* Ends a request without error. It is in no list and holds nothing, like most
 * small messages. */
static inline void nw_request_over(nw_channel_request *request)
{
    request->done = true;
    request->channel->pending--;
}
void nw_request_landed(nw_channel_request *request); /* one flight less */
NW_MUST_CHECK nw_status nw_request_know(nw_channel_request *request);
nw_channel_request *nw_request_by_id(nw_channel *channel, uint64_t id);
void nw_request_forget(nw_channel_request *request);

/* proto/send.c */
void nw_send_start(nw_channel_request *request);
void nw_send_push(nw_channel *channel); /* sends that had to wait */
void nw_send_done(nw_channel_request *request);

/* proto/control.c */
struct nw_control *nw_control_for(nw_channel *channel, struct nw_peer *peer,
                                  const struct nw_wire *wire); /* or NULL */
/* Sends a control message now. Returns a libfabric code; nothing is kept. */
ssize_t nw_control_now(nw_channel *channel, struct nw_peer *peer,
                       const struct nw_wire *wire);
void nw_send_control(struct nw_peer *peer, nw_channel *channel,
                     const struct nw_wire *wire);
bool nw_push_controls(nw_channel *channel,
                      struct nw_peer *peer); /* false: the rest must wait */
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
 * memory of a request with that peer. Such requests end when it no longer does.
 */
static inline bool nw_request_is_draining(const nw_channel_request *request)
{
    return request->list && request->list == &request->channel->parting;
}
bool nw_drain_keeps(nw_channel_request *request, nw_status status);
/* Whether a kept request may end; if not, it asks the peer to end the
 * connection. */
bool nw_drain_is_over(nw_channel_request *request);
void nw_drain_refused(struct nw_peer *peer, int error); /* of libfabric */

/* tune/selection.c */
void nw_selection_open(nw_channel *channel); /* once providers are known */
enum nw_locality nw_selection_locality(const nw_channel *channel, int fabric,
                                       int32_t gpu);
struct nw_way_of nw_choose_way(nw_channel *channel,
                               const nw_channel_request *request,
                               uint64_t bytes);
/* Whether the model predicts that a large message leaves GPU memory faster by a
 * copy than by the adapter's reads. */
bool nw_choose_to_copy(const nw_channel_request *request);

/* proto/progress.c */
bool nw_progress(nw_channel *channel); /* whether anything happened */

/* proto/reap.c: ends the requests of peers that are marked as lost. */
void nw_peers_reap(nw_channel *channel);

/* wireup/liveness.c */
void nw_peer_lose(nw_channel *channel, struct nw_peer *peer); /* marks it */
void nw_peers_look(nw_channel *channel);
/* Whether the process of a peer on this host has ended. */
bool nw_peers_has_died(const nw_channel *channel, int32_t pid);
/* wireup/exchange_addresses.c: exchanges hosts and endpoints at open. */
NW_MUST_CHECK nw_status nw_peers_meet(nw_channel *channel);
void nw_peers_leave(nw_channel *channel);

/* pmix.c: our rank in the job that the launcher started; NW_ENODEV if the
 * launcher has no PMIx. */
NW_MUST_CHECK nw_status nw_pmix_join(int32_t *rank, int32_t *count);
NW_MUST_CHECK nw_status nw_pmix_gather(const void *mine, size_t bytes,
                                       uint64_t until_ns, void *all);

/* bootstrap.c */
struct nw_meeting;
NW_MUST_CHECK nw_status nw_meeting_open(const struct nw_channel_options *how,
                                        struct nw_meeting **out);
NW_MUST_CHECK nw_status nw_meeting_gather(struct nw_meeting *meeting,
                                          const void *mine, size_t bytes,
                                          void *all);
void nw_meeting_close(struct nw_meeting *meeting);

#endif
