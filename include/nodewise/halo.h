/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Halo exchange of a stencil code. A domain is divided into pieces, the pieces
 * are placed on a machine, and each pair of pieces gets the fastest method to
 * pass its cells. The caller keeps his own compute kernels. "The paper" in this
 * header is Pearson et al., "Node-aware stencil communication".
 *
 * These calls are local, need no MPI and are in libnodewise. halo_mpi.h has the
 * exchange itself, in libnodewise-openmpi and libnodewise-mpich (pkg-config
 * nodewise-openmpi, nodewise-mpich).
 *
 * Each quantity of a piece is stored in C order, x fastest, with ghost layers
 * outside the piece's own cells. The base pointer is the address of the first
 * allocated cell. Local index (0, 0, 0) is that cell. The cell at local index
 * (x, y, z) has the address base + z * rows * pitch + y * pitch + x * stride.
 * There, rows is the number of allocated cells along y.
 */
#ifndef NODEWISE_HALO_H
#define NODEWISE_HALO_H

#include <nodewise/mapping.h>
#include <nodewise/pattern.h>
#include <nodewise/progress.h>
#include <nodewise/status.h>
#include <nodewise/topology.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Cells low <= c < high of the domain, axes x, y, z. */
struct nw_halo_box {
    int64_t low[3], high[3];
};

/* The ghost cells beyond a side of the domain. Periodic: cells of the opposite
 * side. Open: these ghost cells are never written. Mirror: the cell at distance
 * k beyond the side is the cell at distance k before it. */
enum nw_halo_border {
    NW_HALO_PERIODIC,
    NW_HALO_OPEN,
    NW_HALO_MIRROR,
};

/* A quantity, such as a pressure, which has one array in each piece. `stride`
 * is the distance in bytes of two cells along x; 0 means `bytes`. To interleave
 * quantities in one array, use base pointers that are a few bytes apart and the
 * size of the whole cell as stride. */
struct nw_halo_quantity {
    size_t bytes; /* of one element, at least 1 */
    size_t stride;
};

/* Index into radius[] of a direction, whose components are -1, 0 or 1. */
#define NW_HALO_DIRECTION(dx, dy, dz)                                          \
    ((size_t)(((dz) + 1) * 9 + ((dy) + 1) * 3 + ((dx) + 1)))

/* Methods that pass cells from one piece to another. Each entry is name, word,
 * sentence. Methods for host memory come before those for GPU memory. The order
 * is that of the paper: NW_HALO_CHOOSE_ORDER uses the first method that fits a
 * pair of pieces. */
#define NW_HALO_METHOD_LIST(X)                                                 \
    X(SELF, "self", "copy inside a rank")                                      \
    X(DIRECT, "direct", "read the neighbour's memory, a shared window")        \
    X(SHARED, "shared", "pack into shared memory, unpack from it")             \
    X(ATTACH, "attach", "read the neighbour's memory by the kernel")           \
    X(PACKED, "packed", "one packed MPI message a neighbour rank")             \
    X(TYPES, "types", "derived types, nothing packed")                         \
    X(NODES, "nodes", "one MPI message a pair of nodes")                       \
    X(KERNEL, "kernel", "one kernel inside a GPU")                             \
    X(PEER, "peer", "pack, copy to the peer GPU, unpack")                      \
    X(COLOCATED, "colocated", "the same to another process by IPC")            \
    X(AWARE, "aware", "pack, MPI on device memory, unpack")                    \
    X(STAGED, "staged", "pack, copy to pinned host memory, MPI")               \
    X(WRITE, "write", "one kernel writes the peer GPU's ghost cells")          \
    X(PEER3D, "peer3d", "3-D copies between GPUs, nothing packed")             \
    X(PINNED, "pinned", "pack straight into pinned host memory, MPI")

enum nw_halo_method {
#define NW_HALO_METHOD_ENUM(name, word, sentence) NW_HALO_##name,
    NW_HALO_METHOD_LIST(NW_HALO_METHOD_ENUM)
#undef NW_HALO_METHOD_ENUM
        NW_HALO_METHOD_COUNT
};
#define NW_HALO_BIT(method) (1u << (method))
/* The word ("direct") and the sentence of a method. Static strings. */
NW_API const char *nw_halo_method_name(enum nw_halo_method method);
NW_API const char *nw_halo_method_text(enum nw_halo_method method);
/* Finds a method by its word; returns false if the word is unknown. */
NW_API bool nw_halo_method_find(const char *name, enum nw_halo_method *out);

/* How the domain is divided between nodes, and each node's part between slots.
 */
enum nw_halo_partition {
    NW_HALO_PARTITION_BEST,  /* minimises the bytes between nodes, then those
                                inside */
    NW_HALO_PARTITION_PAPER, /* as Pearson et al. do: divides the longest axis
                                by each prime factor, the largest first */
};
/* How pieces are placed on nodes and slots: at the lowest cost, in order, at
 * random, or at the highest cost. */
enum nw_halo_placement {
    NW_HALO_PLACE_BEST,
    NW_HALO_PLACE_TRIVIAL, /* piece i of a node on its slot i */
    NW_HALO_PLACE_RANDOM,
    NW_HALO_PLACE_WORST,
};
/* Order of the exchange: all directions at once (ONCE); or first x, then y,
 * then z, including the ghost cells of the axes before (PHASES). */
enum nw_halo_schedule {
    NW_HALO_SCHEDULE_AUTO,
    NW_HALO_SCHEDULE_ONCE,
    NW_HALO_SCHEDULE_PHASES,
};
/* How the method for each pair of pieces is chosen. */
enum nw_halo_choice {
    NW_HALO_CHOOSE_MEASURE, /* nw_halo_plan measures the methods and saves the
                               result for this machine and shape */
    NW_HALO_CHOOSE_MODEL,   /* for each pair of pieces, the fastest method by
                               the model of nw_halo_layout_predict */
    NW_HALO_CHOOSE_ORDER,   /* the first method of NW_HALO_METHOD_LIST that
                               fits, as in the paper */
};
enum nw_halo_memory { NW_HALO_MEMORY_HOST, NW_HALO_MEMORY_GPU };

/* One piece of the domain, and the node and slot on which it is placed. */
struct nw_halo_piece {
    struct nw_halo_box box;
    int64_t low_ghost[3], high_ghost[3]; /* ghost layers of each side */
    int64_t allocated[3];                /* cells along x, y, z with ghosts */
    int32_t node;
    int32_t slot; /* number of its slot (a GPU or a rank) inside the node */
    int32_t rank; /* -1 in layouts made without MPI */
};

struct nw_halo; /* a planned halo exchange; halo_mpi.h has its functions */

/* Options of a layout or an exchange. Initialise with NW_HALO_OPTIONS_INIT. */
struct nw_halo_options {
    size_t size;       /* sizeof of this struct */
    int64_t extent[3]; /* cells of the domain; 1 for unused axes */
    /* Ghost layers of each direction, indexed by NW_HALO_DIRECTION. A piece's
     * ghost cells in this direction are filled to this depth along each axis of
     * the direction. */
    int32_t radius[27];
    enum nw_halo_border border[3][2]; /* [axis][0: low side, 1: high side] */
    const struct nw_halo_quantity *quantity;
    int32_t quantity_count;
    int32_t interval; /* number of time steps for which one exchange is enough,
                         because all radii are multiplied by this number; 0
                         means 1 */

    enum nw_halo_partition partition;
    enum nw_halo_placement placement;
    uint64_t seed;           /* seed of random placement */
    const char *topology;    /* SOURCE of nodewise-topology(5), or NULL */
    int32_t pieces_per_rank; /* 0 means 1; may differ between ranks */
    int32_t ranks_per_node;  /* treats this many ranks as a node, to test
                                several nodes on one; 0: use the real nodes */

    /* Boxes of this rank's pieces if the caller divides the domain himself;
     * NULL: the library divides it. */
    const struct nw_halo_box *box;
    int32_t box_count;

    /* The arrays, by one of these:
     *
     * - `base` and `pitch`, in bytes, each at index [piece * quantity_count +
     *   quantity]; `pitch` may be NULL (no padding).
     * - `memory`, a function that returns the base of each array and may
     *   increase *pitch.
     * - neither: the library allocates, in memory shared inside the node if
     *   possible, and nw_halo_free frees. */
    void *const *base;
    const size_t *pitch;
    void *(*memory)(void *context, const struct nw_halo_piece *piece,
                    int32_t quantity, size_t *pitch);
    void *context;
    /* Another halo whose arrays this one uses, instead of `base`, `memory` or
     * arrays of the library: for two plans of one field; NULL: none. Both have
     * the same quantities and on this rank pieces of the same size, ghost
     * layers included; otherwise the plan fails with NW_EINVAL. Plans with
     * different radii may divide the domain differently: pass the boxes of the
     * other halo's pieces in `box`. The other halo must be freed after this
     * one. */
    const struct nw_halo *arrays;
    size_t row_align; /* bytes; pitch of the library's arrays is a multiple of
                         this. 0: rows without gaps, but 128 in GPU memory if
                         the cell size divides 128 */
    enum nw_halo_memory memory_kind;
    /* For GPU memory: the GPU of each piece (NULL: the GPU of its slot), and
     * the stream in which the caller computes on each piece. NULL means the
     * default stream, cudaStreamLegacy. Code compiled with per-thread default
     * streams passes CU_STREAM_PER_THREAD, which is (void *)0x2. An exchange
     * runs after all work that is in the piece's stream when the exchange
     * starts. It waits for no other stream. */
    const int32_t *gpu;
    void *const *stream;

    uint32_t methods; /* NW_HALO_BIT of allowed methods; 0: all */
    enum nw_halo_schedule schedule;
    enum nw_halo_choice choice;
    const char *cache; /* file of measured choices, which only rank 0 reads and
                          writes; NULL: the user's file; "": no file. Either all
                          ranks pass "" or none does. If it cannot be written,
                          planning succeeds; nw_error_text() gives the reason */
    double timeout; /* seconds until a silent peer is an error; 0: never. A peer
                       whose process ended is always an error */
    /* Used by nw_halo_layout_make; may be NULL. nw_halo_plan ignores it,
     * because all ranks must compute the same placement. */
    struct nw_progress *progress;
};
#ifdef __cplusplus /* C++ before C++20 has no designated initialisers */
static inline struct nw_halo_options nw_halo_options_init(void)
{
    struct nw_halo_options options = nw_halo_options();

    options.size = sizeof options;
    options.extent[0] = options.extent[1] = options.extent[2] = 1;
    options.interval = options.pieces_per_rank = 1;
    return options;
}
#define NW_HALO_OPTIONS_INIT nw_halo_options_init()
#else
#define NW_HALO_OPTIONS_INIT                                                   \
    {                                                                          \
        .size = sizeof(struct nw_halo_options), .extent = {1, 1, 1},           \
        .interval = 1, .pieces_per_rank = 1                                    \
    }
#endif
/* Sets the radii of all 26 directions to `radius`, or only those of the 6 faces
 * if `corners` is false. Directions along an axis of extent 1 get 0. */
NW_API void nw_halo_radius(struct nw_halo_options *options, int32_t radius,
                           bool corners);
/* Sets both sides of all axes to `border`. */
NW_API void nw_halo_borders(struct nw_halo_options *options,
                            enum nw_halo_border border);

/* --- Planning without running --- */

typedef struct nw_halo_layout nw_halo_layout;

/* The slots (GPUs or ranks) of each node on which pieces can be placed. */
struct nw_halo_places {
    int32_t node_count;
    const int32_t *slots; /* [node_count], each at least 1 */
};

/* Divides the domain into pieces and places them. `places` may be NULL if
 * options->topology names a machine. Then each GPU of the machine is a slot, or
 * each core if it has no GPUs. NW_EINVAL: an extent is 0 or smaller than a
 * radius along its axis, a radius times the interval is above 2^31 - 1, or the
 * domain cannot be divided into that many pieces. The caller frees *out with
 * nw_halo_layout_free. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_make(const struct nw_halo_options *options,
                    const struct nw_halo_places *places, nw_halo_layout **out);
NW_API void nw_halo_layout_free(nw_halo_layout *layout); /* NULL is fine */

NW_API int32_t nw_halo_layout_count(const nw_halo_layout *layout);
/* Describes piece number `piece`. Pieces are numbered from 0, node by node.
 * Borrowed. */
NW_API const struct nw_halo_piece *
nw_halo_layout_piece(const nw_halo_layout *layout, int32_t piece);

/* Summary of a layout, for people. Bytes are those of one exchange. Costs are
 * sums of bytes x distance, and 0 without a topology. The distance is 1 /
 * bandwidth, so costs are in seconds. */
struct nw_halo_summary {
    int32_t node_grid[3], slot_grid[3]; /* pieces along each axis: nodes of the
                                           domain, slots of a node; 0 if nodes
                                           differ in slots */
    uint64_t bytes, bytes_between_nodes, bytes_self;
    double slot_cost, slot_cost_trivial; /* cost of the placement inside
                                            nodes, and of the trivial
                                            placement there */
    double node_cost, node_cost_trivial; /* cost of the placement of nodes on
                                            the network, and of the trivial
                                            one */
    bool exact;     /* both placements are proven to be the best, or the worst
                       if that was requested */
    uint64_t steps; /* counted steps of the searches for placements */
};
NW_API void nw_halo_layout_summary(const nw_halo_layout *layout,
                                   struct nw_halo_summary *out);

/* The messages of one exchange as a pattern. Its ranks are the pieces. Their
 * kind is gg, or hh if the machine of the layout has no GPUs. The caller frees
 * *out with nw_pattern_free. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_pattern(const nw_halo_layout *layout, nw_pattern **out);

/* The layout as a mapping whose ranks are the pieces: each gets the GPU (or
 * core) of its slot on the machine for which the layout was made. The caller
 * frees *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_mapping(const nw_halo_layout *layout,
                       const nw_topology *topology, nw_mapping **out);

/* The first method in the order of NW_HALO_METHOD_LIST, without `aware`, that
 * fits two pieces if each rank has `slots_per_rank` slots. Values below 1 mean
 * 1. */
NW_API enum nw_halo_method nw_halo_layout_method(const nw_halo_layout *layout,
                                                 int32_t from, int32_t to,
                                                 int32_t slots_per_rank);

/* Predicted transfer of cells from one piece to another. */
struct nw_halo_prediction {
    int32_t from, to;
    enum nw_halo_method method;
    uint64_t bytes;
    double seconds; /* one exchange of this pair without other traffic */
};
/* Predicts method and time for each pair of pieces that exchanges cells, sorted
 * by `from`, then `to`. With NW_HALO_CHOOSE_ORDER, the method is that of
 * nw_halo_layout_method. Otherwise it is the fastest one of options->methods by
 * a model of their times; `aware` is left out. A rank has
 * options->pieces_per_rank slots. Bandwidths and latencies come from the links
 * of options->topology if it has links; all other figures are those of
 * nw_halo(3). The caller frees *out with free(). */
NW_API NW_MUST_CHECK nw_status nw_halo_layout_predict(
    const nw_halo_layout *layout, const struct nw_halo_options *options,
    struct nw_halo_prediction **out, size_t *count);

/* Solves a quadratic assignment problem: n facilities with flow[i * n + j] are
 * assigned to n locations with distance[a * n + b]. out[i] is the location of
 * facility i. The sum of flow x distance is minimised, or maximised for
 * NW_HALO_PLACE_WORST; the trivial and the random placement need no search.
 * NW_EINVAL: n is below 1, or a number is invalid. Up to n = 16, branch and
 * bound proves the result optimal and sets `exact`. If the step limit ends it
 * first, the best assignment found so far is returned and `exact` is false.
 * Beyond 16 the mapping engine searches and `exact` is false. Equal input gives
 * equal results on every machine. */
struct nw_halo_assignment {
    int32_t n;
    const double *flow, *distance; /* [n * n], borrowed */
    enum nw_halo_placement placement;
    uint64_t seed;
    uint64_t step_limit;          /* of branch and bound; 0: two million */
    struct nw_progress *progress; /* or NULL; if cancelled, the best assignment
                                     so far is returned */
};
/* Outcome of nw_halo_assign: the sums of flow x distance of the result and of
 * the trivial assignment i -> i, and the steps of the search. */
struct nw_halo_assigned {
    double cost, trivial_cost;
    bool exact;
    uint64_t steps;
};
NW_API NW_MUST_CHECK nw_status
nw_halo_assign(const struct nw_halo_assignment *problem, int32_t *out,
               struct nw_halo_assigned *report);

#ifdef __cplusplus
}
#endif

/* The functions with MPI types were once in this header. It still declares them
 * for programs that include mpi.h first. */
#ifdef MPI_VERSION
#include <nodewise/halo_mpi.h>
#endif
#endif
