/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo inside an MPI job: the plan cut into connections. A connection holds
 * all transfers from one rank to another that go by one method in one phase;
 * each end has its own object of it (a rank's connection to itself has one).
 * Methods are tables of functions; each connection is a state machine that
 * start sets off and test drives.
 */
#ifndef NW_HALO_EXCHANGE_EXCHANGE_H
#define NW_HALO_EXCHANGE_EXCHANGE_H

#include "runtime/flavour.h" /* mpi.h, without linking it */

#include "base/array.h"
#include "base/status.h"
#include "halo/plan/copy.h"
#include "halo/plan/layout.h"

#include <nodewise/halo.h>

struct nw_halo_connection;
struct nw_halo_paths;

/* A place in the memory that the ranks of a node share, as both ends know it:
 * the rank's segment and the offset in it. */
struct nw_halo_spot {
    int32_t rank; /* of halo->comm */
    int32_t reserved;
    uint64_t offset;
};

/* What one end tells the other when a connection is opened; methods lay their
 * own struct over it. */
struct nw_halo_offer {
    _Alignas(8) unsigned char bytes[256];
};

/* Two pieces and their ranks: what a method is chosen for. */
struct nw_halo_pair {
    int32_t from, to; /* pieces */
    int from_rank, to_rank;
    bool same_rank, same_node;
    bool same_gpu; /* GPU memory: both on one device of one node */
};

struct nw_halo_method_ops {
    enum nw_halo_method id;
    bool for_gpu;     /* device memory, or host memory */
    bool each_pieces; /* a connection for each pair of pieces, not of ranks */
    /* Whether this rank could use it at all, once a plan: all ranks must. NULL
     * is yes. */
    bool (*here)(nw_halo *halo);
    bool (*fits)(const nw_halo *halo, const struct nw_halo_pair *pair);
    /* Allocates the connection's state and fills the offer to the other end. */
    nw_status (*open)(struct nw_halo_connection *connection,
                      struct nw_halo_offer *own);
    /* The other end's offer; not called for connections of a rank to itself.
     * NULL where there is nothing to be known. */
    nw_status (*join)(struct nw_halo_connection *connection,
                      const struct nw_halo_offer *other);
    /* Once an exchange, before any phase: posts what may be early. Or NULL. */
    nw_status (*post)(struct nw_halo_connection *connection);
    /* The connection's phase has come: source cells are ready, ghost cells of
     * the phases before are filled. */
    nw_status (*start)(struct nw_halo_connection *connection);
    /* Next step if it can be made; *done: a receiving end's ghost cells are
     * filled, a sending end's cells may change. */
    nw_status (*test)(struct nw_halo_connection *connection, bool *done);
    /* Lets go of what the other end owns: all ends do before any closes. NULL
     * where there is nothing of the kind. Both come after a failed open too. */
    void (*leave)(struct nw_halo_connection *connection);
    void (*close)(struct nw_halo_connection *connection);
};

struct nw_halo_connection {
    const struct nw_halo_method_ops *ops;
    nw_halo *halo;
    int peer; /* rank at the other end; own rank for both ends here */
    bool sends, receives;
    uint8_t phase;
    int tag; /* of its messages, the same at both ends */
    const struct nw_halo_transfer *transfer; /* [count], same order both ends */
    size_t count;
    size_t bytes; /* of all quantities */
    bool done, started;
    struct nw_halo_aggregate *aggregate; /* a leader's end of it; else NULL */
    void *state;                         /* the method's */
    uint64_t started_ns;                 /* for the trace */
};

/* One quantity, or several that lie interleaved on every rank, as one array a
 * piece. */
struct nw_halo_field {
    int32_t first; /* quantity whose base it has */
    size_t bytes, stride;
};

/* An array of a piece on this node as its neighbours know it. */
struct nw_halo_remote {
    char *mapped;     /* in this process; NULL where it is not shared */
    uint64_t address; /* in its owner's */
    uint64_t pitch;
};

/* Pairs of ranks that a method is chosen for apart; light: of far fewer bytes
 * than the heaviest pair. */
enum nw_halo_class {
    NW_HALO_CLASS_ALONE, /* a rank's pieces, in host memory or on one GPU */
    NW_HALO_CLASS_GPUS,  /* a rank's pieces, on two GPUs */
    NW_HALO_CLASS_PACKAGE,
    NW_HALO_CLASS_PACKAGE_LIGHT,
    NW_HALO_CLASS_NODE, /* of one node, not bound to the same package */
    NW_HALO_CLASS_NODE_LIGHT,
    NW_HALO_CLASS_NETWORK,
    NW_HALO_CLASS_NETWORK_LIGHT,
    NW_HALO_CLASS_COUNT
};

/* Methods for the pairs of one kind (groups.h), before their class's. */
struct nw_halo_wish {
    uint64_t kind;
    uint32_t methods, reserved;
};
#define NW_HALO_WISHES 8

/* A way to do everything: what a measurement compares. A pair goes by what is
 * wished for its kind; else by what the model says of it, where it is asked and
 * knows any; else by the first method of the fixed order among its class's, of
 * all allowed where none of them serves it. */
struct nw_halo_scheme {
    bool phased;
    bool modelled;
    uint32_t methods[NW_HALO_CLASS_COUNT];
    int32_t wish_count;
    struct nw_halo_wish wish[NW_HALO_WISHES];
};

struct nw_halo {
    MPI_Comm comm, node_comm;
    int rank, size, node_rank, node_size;
    int *node_of;      /* [size] node of each rank */
    int *node_rank_of; /* [size] its number there */
    int *package_of;   /* [size] -1: not bound to one */
    uint64_t *weight;  /* [2 * size] cells from and to each rank */
    uint64_t heaviest; /* of all pairs of ranks */
    nw_halo_layout *layout;
    int32_t own_count;
    int32_t *own;    /* [own_count] pieces of this rank, ascending */
    int32_t *own_at; /* [piece_count] their index in own, or -1 */
    bool gpu_memory;
    bool crowded; /* more ranks than cores, on this rank's node */
    size_t row_align;
    double timeout;
    uint32_t methods; /* allowed and possible on every rank */

    int32_t quantity_count;
    struct nw_halo_quantity *quantity;
    char **base;   /* [own_count * quantity_count] */
    size_t *pitch; /* likewise */
    void *memory;  /* what the library allocated for them, memory.c's */
    struct nw_halo_remote *remote; /* [piece_count * quantity_count] */
    int32_t *pid;                  /* [node_size] processes of this node */

    /* fields: all quantities, joined where they are interleaved; then, where
     * any is, each on its own, for subsets */
    struct nw_halo_field *field;
    int32_t field_count, joined_count;
    int32_t *active; /* [active_count] fields of the exchange under way */
    int32_t active_count;

    const struct nw_halo_paths *paths; /* while methods are chosen */
    struct nw_halo_scheme scheme;
    struct nw_halo_transfers transfers; /* those of this rank, by connection */
    struct nw_halo_connection *connection; /* by phase */
    size_t connection_count;
    int phase_count, phase;
    size_t started; /* connections whose phase has come */
    bool running, broken;
    bool bereft;       /* a peer is gone: nothing collective any more */
    char failure[256]; /* why, as it is told to the peers */
    uint64_t exchange; /* counts them, from 1 */
    uint64_t polls;    /* of exchanges that were not done */
    uint64_t listened_ns, watched_ns; /* when peers were last heeded */
    void *segment; /* shared memory of the connections, shm_segment.c's */
    struct nw_halo_aggregates
        *aggregates;             /* of pairs of nodes, nodes.h; or NULL */
    void *watch;                 /* of peers on this node, peer_watch.c's */
    struct nw_halo_gpus *gpus;   /* of GPU memory, else NULL */
    struct nw_halo_trace *trace; /* NODEWISE_HALO_TRACE's, or NULL */
    uint64_t left_ns;            /* when the caller last got control, for it */
    char words[256];
};

/* An end of a transfer in one field: the cells in the order that both ends
 * walk. */
struct nw_halo_ending {
    const struct nw_halo_transfer *transfer;
    const struct nw_halo_field *field;
    bool target; /* the ghost cells of the receiving piece; else the source */
};
/* Whose array: an own one; a neighbour's on this node as it is mapped here, or
 * by its address there. */
enum nw_halo_whose { NW_HALO_OWN, NW_HALO_MAPPED, NW_HALO_THEIRS };
struct nw_halo_view nw_halo_view_of(const nw_halo *halo,
                                    const struct nw_halo_ending *ending,
                                    enum nw_halo_whose whose);
/* Bytes of all of a connection's transfers in one field; in the active ones. */
size_t nw_halo_connection_bytes(const struct nw_halo_connection *connection,
                                int32_t field);
size_t nw_halo_active_bytes(const struct nw_halo_connection *connection);

/* --- copy_plan.c: a connection's cells to and from a dense buffer --- */

/* Copies prepared for every field, [field][transfer]; the buffer's side is
 * filled in when they run. `target`: the receiving end. */
struct nw_halo_copy_plan {
    struct nw_halo_copy *copy; /* owned */
    size_t transfer_count;
};
nw_status nw_halo_copy_plan_make(const struct nw_halo_connection *connection,
                                 bool target, struct nw_halo_copy_plan *out);
void nw_halo_copy_plan_fini(struct nw_halo_copy_plan *packs);
/* All active fields, one after the other. */
void nw_halo_copy_plan_pack(const struct nw_halo_connection *connection,
                            const struct nw_halo_copy_plan *packs,
                            char *buffer);
void nw_halo_copy_plan_unpack(const struct nw_halo_connection *connection,
                              const struct nw_halo_copy_plan *packs,
                              const char *buffer);
/* Copies between two arrays, both in this process: [field][transfer]. */
nw_status nw_halo_moves_make(const struct nw_halo_connection *connection,
                             enum nw_halo_whose source,
                             struct nw_halo_copy_plan *out);
void nw_halo_moves_run(const struct nw_halo_connection *connection,
                       const struct nw_halo_copy_plan *packs);

/* Tables in the order of nw_halo_method; NULL where this build has none. */
extern const struct nw_halo_method_ops
    *const nw_halo_methods[NW_HALO_METHOD_COUNT];
extern const struct nw_halo_method_ops nw_halo_same_rank, nw_halo_direct,
    nw_halo_shared, nw_halo_cma, nw_halo_packed, nw_halo_types, nw_halo_nodes;

/* --- shm_space.c: what a node has for memory that its ranks share --- */
struct nw_halo_shm_space {
    unsigned long long need, left; /* bytes */
};
/* `bytes` of this rank. Collective over the node, and alike on all of it. */
nw_status nw_halo_shm_space_find(const nw_halo *halo, size_t bytes,
                                 struct nw_halo_shm_space *out);
/* NW_ENOMEM where there is not so much. */
nw_status nw_halo_shm_space_need(const nw_halo *halo, size_t bytes);

/* --- shm_segment.c: shared memory of a node for the connections of a scheme
 * ---
 */

/* Asks for `bytes` (on cache lines of their own) in this rank's segment; the
 * address is known once all connections are open. Local. */
nw_status nw_halo_segment_reserve(nw_halo *halo, size_t bytes,
                                  struct nw_halo_spot *out);
/* Makes the segments, zeroed. Collective over the node. */
nw_status nw_halo_segment_make(nw_halo *halo);
void *nw_halo_segment_at(const nw_halo *halo, const struct nw_halo_spot *spot);
void nw_halo_segment_free(nw_halo *halo);

/* --- memory.c: the arrays --- */

/* Arrays that the library allocates, shared in the node if they can be. */
nw_status nw_halo_memory_make(nw_halo *halo,
                              const struct nw_halo_options *options);
void nw_halo_memory_free(nw_halo *halo);
/* Fills halo->remote. Collective over the node. */
nw_status nw_halo_memory_tell(nw_halo *halo);

/* NW_EMPI in words where an MPI call failed. */
nw_status nw_halo_mpi(int code, const char *what);
/* The failure of any rank is one of all: gives each the sentence of the lowest
 * failing rank. Collective. */
nw_status nw_halo_agree(MPI_Comm comm, nw_status status);

#endif
