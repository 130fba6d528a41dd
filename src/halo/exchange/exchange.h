/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo inside an MPI job: the plan of its exchanges, divided into
 * connections. A connection holds all transfers from one rank to another that
 * use one method in one phase. Each end of a connection has its own object (a
 * rank's connection to itself has one object). A method is a table of
 * functions. A connection is a state machine: `start` begins its work and
 * `test` advances it.
 */
#ifndef NW_HALO_EXCHANGE_EXCHANGE_H
#define NW_HALO_EXCHANGE_EXCHANGE_H

#include "runtime/mpi_symbols.h" /* mpi.h; MPI is not linked */

#include "base/array.h"
#include "base/status.h"
#include "halo/plan/copy.h"
#include "halo/plan/layout.h"

#include <nodewise/halo_mpi.h>

struct nw_halo_connection;
struct nw_halo_paths;

/* A position in the memory that the ranks of a node share, valid at both ends:
 * the rank that owns the segment, and the offset in the segment. */
struct nw_halo_spot {
    int32_t rank; /* owner's rank in halo->comm */
    int32_t reserved;
    uint64_t offset;
};

/* The data that the two ends exchange when a connection is opened; each method
 * stores its own struct in these bytes. */
struct nw_halo_offer {
    _Alignas(8) unsigned char bytes[256];
};

/* Two pieces and their ranks; a method is chosen for each pair. */
struct nw_halo_pair {
    int32_t from, to; /* source piece, target piece */
    int from_rank, to_rank;
    bool same_rank, same_node;
    bool same_gpu; /* both pieces are in memory of one GPU */
};

struct nw_halo_method_ops {
    enum nw_halo_method id;
    bool for_gpu;     /* for GPU memory; false: for host memory */
    bool each_pieces; /* a connection for each pair of pieces, not of ranks */
    /* Returns true if this rank can use the method; called once per plan. A
     * method is used only if it returns true on all ranks. NULL means true. */
    bool (*here)(nw_halo *halo);
    bool (*fits)(const nw_halo *halo, const struct nw_halo_pair *pair);
    /* Allocates the connection's state and fills the offer to the other end. */
    nw_status (*open)(struct nw_halo_connection *connection,
                      struct nw_halo_offer *own);
    /* Receives the other end's offer; not called for connections of a rank to
     * itself. NULL if the method does not need the offer. */
    nw_status (*join)(struct nw_halo_connection *connection,
                      const struct nw_halo_offer *other);
    /* Called once per exchange before the first phase, for example to post
     * receives early. May be NULL. */
    nw_status (*post)(struct nw_halo_connection *connection);
    /* Called when the connection's phase begins: the source cells are ready,
     * and the ghost cells of the earlier phases are filled. */
    nw_status (*start)(struct nw_halo_connection *connection);
    /* Makes the next step of the connection if possible. Sets *done to true if
     * a receiving end has filled its ghost cells, or if the cells of a sending
     * end may change again. */
    nw_status (*test)(struct nw_halo_connection *connection, bool *done);
    /* Releases resources that the other end owns; `leave` has returned on all
     * ends before `close` is called on any. `leave` may be NULL. Both are
     * called after a failed open too. */
    void (*leave)(struct nw_halo_connection *connection);
    void (*close)(struct nw_halo_connection *connection);
};

struct nw_halo_connection {
    const struct nw_halo_method_ops *ops;
    nw_halo *halo;
    int peer; /* rank at the other end, or this rank if it has both ends */
    bool sends, receives;
    uint8_t phase;
    int tag; /* tag of the messages, equal at both ends */
    const struct nw_halo_transfer *transfer; /* [count], same order both ends */
    size_t count;
    size_t bytes; /* bytes of all transfers and quantities */
    bool done, started;
    struct nw_halo_aggregate *aggregate; /* of a leader's end, else NULL */
    void *state;                         /* private to the method */
    uint64_t started_ns;                 /* start of the connection's work */
};

/* One quantity, or several quantities that every rank stores interleaved, as
 * one array per piece. */
struct nw_halo_field {
    int32_t first; /* quantity whose array gives the base address */
    size_t bytes, stride;
};

/* An array of a piece on this node, as the other ranks of the node see it. */
struct nw_halo_remote {
    char *mapped;     /* address here; NULL if not shared */
    uint64_t address; /* address in the owner's process */
    uint64_t pitch;
};

/* Classes of pairs of ranks by their path; each class has its own choice of a
 * method. A "light" pair exchanges far fewer bytes than the pair with the most
 * bytes. */
enum nw_halo_class {
    NW_HALO_CLASS_ALONE, /* two pieces of a rank, in host memory or on a GPU */
    NW_HALO_CLASS_GPUS,  /* two pieces of a rank, on two GPUs */
    NW_HALO_CLASS_PACKAGE,
    NW_HALO_CLASS_PACKAGE_LIGHT,
    NW_HALO_CLASS_NODE, /* on one node, not both bound to one package */
    NW_HALO_CLASS_NODE_LIGHT,
    NW_HALO_CLASS_NETWORK,
    NW_HALO_CLASS_NETWORK_LIGHT,
    NW_HALO_CLASS_COUNT
};

/* The methods for the pairs of one kind (groups.h); they override the methods
 * of the class. */
struct nw_halo_wish {
    uint64_t kind;
    uint32_t methods, reserved;
};
#define NW_HALO_WISHES 8

/* A choice of methods for all pairs; measurements compare schemes. The method
 * of a pair is taken from the first of these that gives one:
 * - `wish`, if it has the pair's kind;
 * - the model, if `modelled` is set;
 * - `methods` of the class: the first that fits, in the fixed order;
 * - all allowed methods, in the fixed order. */
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
    int *node_rank_of; /* [size] index of each rank in its node */
    int *package_of;   /* [size] -1: not bound to one package */
    uint64_t *weight;  /* [2 * size] cells received from, sent to each rank */
    uint64_t heaviest; /* greatest weight of all pairs of ranks */
    nw_halo_layout *layout;
    int32_t own_count;
    int32_t *own;    /* [own_count] pieces of this rank, ascending */
    int32_t *own_at; /* [piece_count] index in `own`, or -1 */
    bool gpu_memory;
    bool crowded; /* this rank's node has more ranks than cores */
    size_t row_align;
    double timeout;
    uint32_t methods; /* bits of methods allowed and possible on all ranks */

    int32_t quantity_count;
    struct nw_halo_quantity *quantity;
    char **base;   /* [own_count * quantity_count] arrays */
    size_t *pitch; /* [own_count * quantity_count] bytes of a row */
    void *memory;  /* the arrays that the library allocated (memory.c) */
    struct nw_halo_remote *remote; /* [piece_count * quantity_count] */
    int32_t *pid;                  /* [node_size] processes of this node */

    /* The first `joined_count` fields have all quantities, where interleaved
     * quantities share one field. If any quantities share a field, a field for
     * each quantity follows; exchanges of a subset use these. */
    struct nw_halo_field *field;
    int32_t field_count, joined_count;
    int32_t *active; /* [active_count] fields of the current exchange */
    int32_t active_count;

    const struct nw_halo_paths *paths; /* set only while methods are chosen */
    struct nw_halo_scheme scheme;
    struct nw_halo_transfers transfers; /* of this rank, sorted by connection */
    struct nw_halo_connection *connection; /* sorted by phase */
    size_t connection_count;
    int phase_count, phase;
    size_t started; /* number of connections whose phase has begun */
    bool running, broken;
    bool bereft;       /* a peer has ended: collective calls would hang */
    char failure[256]; /* the reason of a failure, as sent to the peers */
    uint64_t exchange; /* number of the current exchange, from 1 */
    uint64_t polls;    /* number of tests that found the exchange unfinished */
    /* Times of the last checks whether a peer has sent a failure, and whether a
     * peer process has ended. */
    uint64_t listened_ns, watched_ns;
    void *segment; /* shared memory of the connections (shm_segment.c) */
    struct nw_halo_aggregates
        *aggregates;             /* pairs of nodes (nodes.h), or NULL */
    void *watch;                 /* watched peers of this node (peer_watch.c) */
    struct nw_halo_gpus *gpus;   /* NULL: host memory */
    struct nw_halo_trace *trace; /* NULL: NODEWISE_HALO_TRACE is unset */
    uint64_t left_ns;            /* when the last call returned, for trace */
    char words[256];
};

/* One end of a transfer in one field; both ends visit the cells in the same
 * order. */
struct nw_halo_ending {
    const struct nw_halo_transfer *transfer;
    const struct nw_halo_field *field;
    bool target; /* true: the ghost cells; false: the source cells */
};
/* Which array to address. OWN: an array of this process. MAPPED: an array of
 * another process of this node, by its mapped address in this process. THEIRS:
 * the address of that array in the other process. */
enum nw_halo_whose { NW_HALO_OWN, NW_HALO_MAPPED, NW_HALO_THEIRS };
struct nw_halo_view nw_halo_view_of(const nw_halo *halo,
                                    const struct nw_halo_ending *ending,
                                    enum nw_halo_whose whose);
/* Compares the first `count` numbers of two sort keys; returns -1, 0 or 1. */
static inline int nw_halo_keys_compare(const int64_t *a, const int64_t *b,
                                       int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}
/* Return the bytes of all transfers of a connection, in one field and in all
 * active fields. */
size_t nw_halo_connection_bytes(const struct nw_halo_connection *connection,
                                int32_t field);
size_t nw_halo_active_bytes(const struct nw_halo_connection *connection);

/* --- copy_plan.c: a connection's cells to and from a dense buffer --- */

/* Copies of a connection, prepared for every field and transfer; the buffer's
 * address is set when they run. `target` selects the receiving end. */
struct nw_halo_copy_plan {
    struct nw_halo_copy *copy; /* owned */
    size_t transfer_count;
};
nw_status nw_halo_copy_plan_make(const struct nw_halo_connection *connection,
                                 bool target, struct nw_halo_copy_plan *out);
void nw_halo_copy_plan_fini(struct nw_halo_copy_plan *packs);
/* Pack copies the cells of all active fields to the buffer, one field after the
 * other; unpack copies them from the buffer. */
void nw_halo_copy_plan_pack(const struct nw_halo_connection *connection,
                            const struct nw_halo_copy_plan *packs,
                            char *buffer);
void nw_halo_copy_plan_unpack(const struct nw_halo_connection *connection,
                              const struct nw_halo_copy_plan *packs,
                              const char *buffer);
/* Prepares and runs copies between two arrays that are both mapped in this
 * process, for every field and transfer. */
nw_status nw_halo_moves_make(const struct nw_halo_connection *connection,
                             enum nw_halo_whose source,
                             struct nw_halo_copy_plan *out);
void nw_halo_moves_run(const struct nw_halo_connection *connection,
                       const struct nw_halo_copy_plan *packs);

/* The methods, indexed by enum nw_halo_method; NULL if this build lacks the
 * method. */
extern const struct nw_halo_method_ops
    *const nw_halo_methods[NW_HALO_METHOD_COUNT];
extern const struct nw_halo_method_ops nw_halo_same_rank, nw_halo_direct,
    nw_halo_shared, nw_halo_cma, nw_halo_packed, nw_halo_types, nw_halo_nodes;

/* --- shm_space.c: free shared memory of a node --- */
struct nw_halo_shm_space {
    unsigned long long need, left; /* bytes needed, bytes free */
};
/* Sets *out to the sum of `bytes` over the node's ranks and to the free shared
 * memory. Collective over the node; the result is equal on all its ranks. */
nw_status nw_halo_shm_space_find(const nw_halo *halo, size_t bytes,
                                 struct nw_halo_shm_space *out);
/* Returns NW_ENOMEM if the node has less than the sum of `bytes` over its ranks
 * left. Collective over the node. */
nw_status nw_halo_shm_space_need(const nw_halo *halo, size_t bytes);

/* --- shm_segment.c: shared memory for the connections of a scheme --- */

/* Reserves `bytes` bytes, on cache lines of their own, in this rank's segment.
 * nw_halo_segment_at returns the address after all connections are open. Local.
 */
nw_status nw_halo_segment_reserve(nw_halo *halo, size_t bytes,
                                  struct nw_halo_spot *out);
/* Creates the reserved segments, filled with zeros. Collective over the node.
 */
nw_status nw_halo_segment_make(nw_halo *halo);
void *nw_halo_segment_at(const nw_halo *halo, const struct nw_halo_spot *spot);
void nw_halo_segment_free(nw_halo *halo);

/* --- memory.c: the arrays --- */

/* Allocates the arrays that the library owns, in memory that the ranks of the
 * node share if possible. */
nw_status nw_halo_memory_make(nw_halo *halo,
                              const struct nw_halo_options *options);
void nw_halo_memory_free(nw_halo *halo);
/* Exchanges the addresses of arrays and fills halo->remote. Collective over the
 * node. */
nw_status nw_halo_memory_tell(nw_halo *halo);

/* Returns NW_EMPI with an error message if `code` is an MPI error; `what` names
 * the failed action. */
nw_status nw_halo_mpi(int code, const char *what);
/* Makes all ranks fail if any rank failed, with the error message of the lowest
 * rank that failed. Collective. */
nw_status nw_halo_agree(MPI_Comm comm, nw_status status);

#endif
