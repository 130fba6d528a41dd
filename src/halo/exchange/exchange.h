/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A halo inside an MPI job: the plan of its exchanges, divided into
 * connections. A connection holds all transfers of one phase from one rank to
 * another; in GPU memory, those from one piece to another. Each connection has
 * one method. Each of the two ranks has an object for its end of the
 * connection. A connection of a rank to itself has only one object. A method is
 * a table of functions. A connection is a state machine: `start` begins its
 * work and `test` advances it.
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

/* A position in the memory that the ranks of a node share: the rank whose
 * segment it is in, and the offset in bytes in this segment. It is valid at
 * both ends. */
struct nw_halo_spot {
    int32_t rank; /* owner's rank in halo->comm */
    int32_t reserved;
    uint64_t offset;
};

/* The data that the two ends exchange when a connection is opened. Each method
 * stores its own struct in these bytes. */
struct nw_halo_offer {
    _Alignas(8) unsigned char bytes[256];
};

/* The ends of a connection: the source and target piece of its first transfer,
 * and their ranks. All zeros in the connection of an aggregate's leader. */
struct nw_halo_pair {
    int32_t from, to; /* source piece, target piece */
    int from_rank, to_rank;
    bool same_rank, same_node;
    bool same_gpu; /* the arrays of both pieces are in memory of one GPU */
};

/* Classes of connections, by the hardware between their ends. A scheme chooses
 * the method of each class separately. A connection of a class *_LIGHT carries
 * less than an eighth of the bytes of the heaviest connection of any rank (of
 * those between two GPUs of one rank, or of those between two ranks). Each
 * class *_LIGHT comes directly after the class of heavier connections over the
 * same hardware. */
enum nw_halo_class {
    NW_HALO_CLASS_ALONE, /* one rank, in host memory or on one GPU */
    NW_HALO_CLASS_GPUS,  /* one rank, on two GPUs */
    NW_HALO_CLASS_GPUS_LIGHT,
    NW_HALO_CLASS_PACKAGE, /* one node, and one package or both unknown */
    NW_HALO_CLASS_PACKAGE_LIGHT,
    NW_HALO_CLASS_NODE, /* one node, but not one package */
    NW_HALO_CLASS_NODE_LIGHT,
    NW_HALO_CLASS_NETWORK,
    NW_HALO_CLASS_NETWORK_LIGHT,
    NW_HALO_CLASS_COUNT
};

struct nw_halo_method_ops {
    enum nw_halo_method id;
    bool for_gpu; /* true: for GPU memory; false: for host memory */
    /* Returns true if this rank can use the method. Called once for each plan
     * that allows the method, on all ranks, so it may be collective. The method
     * is used only if all ranks return true. NULL means true. */
    bool (*here)(nw_halo *halo);
    /* Returns true if the method can serve a connection with these ends, if all
     * ranks can use it. Both ranks must get the same result. */
    bool (*fits)(const nw_halo *halo, const struct nw_halo_pair *pair);
    /* Allocates the connection's state, reserves shared memory and fills the
     * offer to the other end. */
    nw_status (*open)(struct nw_halo_connection *connection,
                      struct nw_halo_offer *own);
    /* Takes the offer of the other end. Called after the segments of shared
     * memory are made, but not for a connection of a rank to itself. May be
     * NULL. */
    nw_status (*join)(struct nw_halo_connection *connection,
                      const struct nw_halo_offer *other);
    /* Called once per exchange before the first phase, for example to post
     * receives early. May be NULL. */
    nw_status (*post)(struct nw_halo_connection *connection);
    /* Called when the connection's phase begins: this rank's source cells are
     * ready, and its ghost cells of the earlier phases are filled. */
    nw_status (*start)(struct nw_halo_connection *connection);
    /* Makes the next step of the connection, if possible. Sets *done to true
     * when the work of this end is done: a receiving end has filled its ghost
     * cells, or the source cells of a sending end may change again. */
    nw_status (*test)(struct nw_halo_connection *connection, bool *done);
    /* `leave` releases resources that the other end owns; it may be NULL.
     * `close` releases all others. `leave` has returned on all ends before
     * `close` is called on any end. Both are called even if `open` failed. */
    void (*leave)(struct nw_halo_connection *connection);
    void (*close)(struct nw_halo_connection *connection);
};

struct nw_halo_connection {
    const struct nw_halo_method_ops *ops;
    nw_halo *halo;
    struct nw_halo_pair pair;
    enum nw_halo_class class;
    uint32_t fits;  /* bits of the methods that can serve it */
    uint32_t model; /* bit of the method in `fits` that the model predicts to be
                       fastest; 0: the model can predict none of them */
    int peer;       /* rank at the other end; may be this rank itself */
    bool sends, receives; /* both are true within a rank; both are false in the
                             connection of an aggregate's leader */
    uint8_t phase;
    int tag; /* tag of the messages, equal at both ends */
    /* [count] transfers, in the same order at both ends */
    const struct nw_halo_transfer *transfer;
    size_t count;
    size_t bytes; /* bytes of all transfers in all quantities */
    bool done, started;
    /* the aggregate that this connection sends or receives as its leader; NULL
     * for all other connections */
    struct nw_halo_aggregate *aggregate;
    void *state; /* state of the connection, whose type the method defines */
    /* time at which ops->start was last called for this connection, in ns; 0 if
     * no trace is written */
    uint64_t started_ns;
};

/* A field: the quantities that an exchange copies together from one array of
 * each piece. It is one quantity, or several interleaved ones that all ranks
 * store in the same way. `bytes` is the size of its part of a cell, `stride`
 * the distance between two cells along x in bytes. */
struct nw_halo_field {
    int32_t first; /* the quantity whose array is the field's start */
    size_t bytes, stride;
};

/* An array of a rank of this node, as this rank sees it. */
struct nw_halo_remote {
    char *mapped;     /* address in this process; NULL: not mapped here */
    uint64_t address; /* address in the process of its owner */
    uint64_t pitch;   /* bytes from one row to the next */
};

/* Two values for `methods` of a scheme. NW_HALO_MODELLED: for each connection,
 * the method that the model predicts to be fastest. NW_HALO_ANY: the first
 * method that fits, in the order of enum nw_halo_method. */
#define NW_HALO_MODELLED NW_HALO_BIT(NW_HALO_METHOD_COUNT)
#define NW_HALO_ANY (NW_HALO_MODELLED - 1)

/* A scheme: a choice of methods for all connections. Measurements compare
 * schemes. `methods` has the bits of each class. The method of a connection
 * comes from the first of these rules that gives one:
 * - with the bit NW_HALO_MODELLED: the model's method;
 * - without this bit: the first method that fits and is in `methods`;
 * - the first method that fits and is in halo->methods.
 * "First" refers to the order of enum nw_halo_method. `phased` is true if
 * exchanges run axis by axis, in phases. */
struct nw_halo_scheme {
    bool phased;
    uint32_t methods[NW_HALO_CLASS_COUNT];
};

struct nw_halo {
    MPI_Comm comm, node_comm;
    int rank, size, node_rank, node_size;
    int *node_of;      /* [size] number of each rank's node */
    int *node_rank_of; /* [size] each rank's index within its node */
    int *package_of;   /* [size] package of each rank; -1: several, unknown */
    nw_halo_layout *layout;
    int32_t own_count;
    int32_t *own;    /* [own_count] numbers of this rank's pieces, ascending */
    int32_t *own_at; /* [piece_count] index in `own`; -1: other rank */
    bool gpu_memory;
    bool oversubscribed; /* the host has more ranks than CPUs for them */
    double timeout;      /* seconds; 0: no limit */
    uint32_t methods; /* bits of the methods that all ranks allow and can use */

    int32_t quantity_count;
    struct nw_halo_quantity *quantity;
    char **base;   /* [own_count * quantity_count] starts of arrays */
    size_t *pitch; /* [own_count * quantity_count] bytes from row to row */
    void *memory;  /* struct memory of memory.c; NULL: the caller's arrays */
    /* [piece_count * quantity_count] arrays of the ranks of this node */
    struct nw_halo_remote *remote;
    /* [node_size] process ids on this node; 0: another PID namespace */
    int32_t *pid;

    /* The first `joined_count` fields contain all quantities; interleaved
     * quantities share one field. If any of these fields has several
     * quantities, one field for each quantity follows. Exchanges of a subset of
     * the quantities use the last `quantity_count` fields. */
    struct nw_halo_field *field;
    int32_t field_count, joined_count;
    int32_t *active; /* [active_count] indices of the exchange's fields */
    int32_t active_count;

    /* the parameters of the machine's paths; set only while methods are chosen
     */
    const struct nw_halo_paths *paths;
    /* the schedule that the options demand of a halo that can use both; else
     * NW_HALO_SCHEDULE_AUTO */
    enum nw_halo_schedule schedule;
    struct nw_halo_scheme scheme;
    /* seconds that the model predicts for this rank's connections if they run
     * one after the other; set when they are opened */
    double predicted;
    struct nw_halo_transfers transfers; /* of this rank, sorted by connection */
    /* [connection_count], sorted by phase */
    struct nw_halo_connection *connection;
    size_t connection_count;
    int phase_count, phase;
    size_t started;       /* number of connections that have started */
    bool running, broken; /* broken: an exchange has failed */
    /* a peer process has ended, so collective calls would hang; set only when
     * the halo is freed after a failure */
    bool peer_lost;
    /* MPI may still use memory of the halo, because a message could not be
     * given up after a failure; the memory stays allocated */
    bool has_pending;
    char failure[256]; /* status and text of a failure, for the peers */
    nw_halo *kept;     /* used after nw_halo_free, by failure.c */
    uint64_t exchange; /* number of exchanges started, also by measurements */
    uint64_t polls;    /* number of tests without completion */
    /* Times of the last checks for failures that peers have sent, and for peers
     * that have ended. */
    uint64_t listened_ns, watched_ns;
    void *segment; /* shared memory of the connections (shm_segment.c) */
    struct nw_halo_aggregates
        *aggregates;             /* pairs of nodes (nodes.h), or NULL */
    void *watch;                 /* watched peers of this node (peer_watch.c) */
    struct nw_halo_gpus *gpus;   /* state for GPU memory; NULL: host memory */
    struct nw_halo_trace *trace; /* NULL: NODEWISE_HALO_TRACE is unset */
    /* time at which the last call returned during an exchange, for the trace;
     * 0: none */
    uint64_t left_ns;
    char words[256]; /* result of nw_halo_words */
};

/* One end of a transfer in one field: the source cells or the ghost cells. */
struct nw_halo_ending {
    const struct nw_halo_transfer *transfer;
    const struct nw_halo_field *field;
    bool target; /* true: the ghost cells; false: the source cells */
};
/* The owner of an array, and the way to address it. OWN: an array of this
 * process. MAPPED: an array of another process of this node, by its address in
 * this process. THEIRS: an array of another process of this node, by its
 * address in that process. */
enum nw_halo_whose { NW_HALO_OWN, NW_HALO_MAPPED, NW_HALO_THEIRS };
/* Returns the address of the first cell of an end and the steps between its
 * cells. Both ends of a transfer visit the cells in the same order. */
struct nw_halo_view nw_halo_view_of(const nw_halo *halo,
                                    const struct nw_halo_ending *ending,
                                    enum nw_halo_whose whose);
/* A method's `fits` for methods that connect two ranks of one node. */
bool nw_halo_fits_node(const nw_halo *halo, const struct nw_halo_pair *pair);
/* Compares the first `count` numbers of two sort keys; returns -1, 0 or 1. */
static inline int nw_halo_keys_compare(const int64_t *a, const int64_t *b,
                                       int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}
/* Returns the bytes of all transfers of a connection in the fields of the
 * current exchange. */
size_t nw_halo_active_bytes(const struct nw_halo_connection *connection);

/* --- copy_plan.c: a connection's cells to and from a dense buffer --- */

/* The copies of a connection, prepared for every field and transfer. They run
 * between its arrays and a dense buffer, whose address is set when they run, or
 * (nw_halo_moves_make) from array to array. */
struct nw_halo_copy_plan {
    struct nw_halo_copy *copy; /* [field][transfer], owned */
    size_t transfer_count;
};
/* Prepares the copies between arrays and a dense buffer. `target` is true for
 * the receiving end. The caller frees *out, also after an error. */
nw_status nw_halo_copy_plan_make(const struct nw_halo_connection *connection,
                                 bool target, struct nw_halo_copy_plan *out);
void nw_halo_copy_plan_fini(struct nw_halo_copy_plan *packs);
/* nw_halo_copy_plan_pack copies the cells of all active fields to the buffer,
 * one transfer after the other and, in each transfer, one field after the
 * other. nw_halo_copy_plan_unpack copies them from the buffer. */
void nw_halo_copy_plan_pack(const struct nw_halo_connection *connection,
                            const struct nw_halo_copy_plan *packs,
                            char *buffer);
void nw_halo_copy_plan_unpack(const struct nw_halo_connection *connection,
                              const struct nw_halo_copy_plan *packs,
                              const char *buffer);
/* nw_halo_moves_make prepares the copies from source to target arrays, both
 * accessible in this process, for every field and transfer (box of cells).
 * nw_halo_moves_run runs those of the fields of the current exchange. */
nw_status nw_halo_moves_make(const struct nw_halo_connection *connection,
                             enum nw_halo_whose source,
                             struct nw_halo_copy_plan *out);
void nw_halo_moves_run(const struct nw_halo_connection *connection,
                       const struct nw_halo_copy_plan *packs);

/* The methods, indexed by enum nw_halo_method. */
extern const struct nw_halo_method_ops
    *const nw_halo_methods[NW_HALO_METHOD_COUNT];
extern const struct nw_halo_method_ops nw_halo_same_rank, nw_halo_direct,
    nw_halo_shared, nw_halo_cma, nw_halo_packed, nw_halo_types, nw_halo_nodes;

/* --- shm_space.c: free shared memory of a node --- */
struct nw_halo_shm_space {
    unsigned long long need, left; /* bytes needed, bytes free */
};
/* Sets out->need to the sum of `bytes` over the node's ranks, plus what MPI
 * itself needs, and out->left to the free shared memory (the greatest number if
 * it is unknown). Collective over the node; equal on all its ranks. */
nw_status nw_halo_shm_space_find(const nw_halo *halo, size_t bytes,
                                 struct nw_halo_shm_space *out);
/* Returns NW_ENOMEM if the node's free shared memory is less than the need that
 * nw_halo_shm_space_find computes. Collective over the node. */
nw_status nw_halo_shm_space_need(const nw_halo *halo, size_t bytes);

/* --- shm_segment.c: shared memory for the connections of a scheme --- */

/* Reserves `bytes` bytes, which share no cache line with others, in this rank's
 * segment. After nw_halo_segment_make, nw_halo_segment_at returns their
 * address. Local. */
nw_status nw_halo_segment_reserve(nw_halo *halo, size_t bytes,
                                  struct nw_halo_spot *out);
/* Allocates `bytes` bytes for this rank, filled with zeros, which the other
 * ranks of the node can map. The caller frees *window by nw_halo_unshare; it is
 * MPI_WIN_NULL on failure. Collective over the node. */
nw_status nw_halo_share(nw_halo *halo, size_t bytes, char **out,
                        MPI_Win *window);
/* Frees the memory of the node, unless a rank of the node has ended or
 * halo->has_pending is true on a rank. Collective over the node. */
void nw_halo_unshare(nw_halo *halo, MPI_Win *window);
/* Creates the segments, filled with zeros, if any rank of the node has reserved
 * bytes. Returns NW_ENOMEM if the node has too little shared memory. Collective
 * over the node. */
nw_status nw_halo_segment_make(nw_halo *halo);
void *nw_halo_segment_at(const nw_halo *halo, const struct nw_halo_spot *spot);
void nw_halo_segment_free(nw_halo *halo);

/* --- memory.c: the arrays --- */

/* Sets halo->base and halo->pitch. Takes the arrays of the caller or of another
 * halo, or allocates them, in memory that the ranks of the node share if
 * possible. For GPU memory, nw_halo_gpus_open allocates them. Collective. */
nw_status nw_halo_memory_make(nw_halo *halo,
                              const struct nw_halo_options *options);
void nw_halo_memory_free(nw_halo *halo);
/* Exchanges the addresses of all arrays, and the process ids, between the ranks
 * of the node. Fills halo->remote and halo->pid. Collective over the node. */
nw_status nw_halo_memory_tell(nw_halo *halo);

/* Returns NW_EMPI if `code` is an MPI error, else NW_OK. `what` names the
 * failed action in the error text. */
nw_status nw_halo_mpi(int code, const char *what);
/* Returns an error on all ranks if `status` is an error on any rank: the error
 * of the lowest such rank, with its text. Collective. */
nw_status nw_halo_agree(MPI_Comm comm, nw_status status);

#endif
