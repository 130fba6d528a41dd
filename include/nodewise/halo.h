/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The halo exchange of a stencil code: a domain is divided into pieces, the
 * pieces are placed on a machine, and each pair of pieces gets the fastest way
 * to hand its cells over. The kernels that compute stay the caller's.
 *
 * Everything above "Exchanging" is local, needs no MPI and is in libnodewise.
 * The rest is in libnodewise-openmpi and libnodewise-mpich (pkg-config
 * nodewise-openmpi, nodewise-mpich): include <mpi.h> before this header.
 *
 * Storage of a piece, for each quantity: C order, x fastest, ghost layers
 * outside the piece's own cells; the base pointer is at the first allocated
 * cell. A cell at local index (x, y, z), 0 being the first allocated one, is at
 * base + z * rows * pitch + y * pitch + x * stride, where rows is the number of
 * allocated cells along y.
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

/* What lies beyond a side of the domain. Periodic: the other end. Open:
 * nothing, those ghost cells are never touched. Mirror: the cell at distance
 * k beyond the side is the one at distance k before it. */
enum nw_halo_border {
    NW_HALO_PERIODIC,
    NW_HALO_OPEN,
    NW_HALO_MIRROR,
};

/* One array a piece. `stride` is the distance of two cells along x in bytes,
 * 0 for `bytes`; quantities interleaved in one array have base pointers some
 * bytes apart and the whole cell as their stride. */
struct nw_halo_quantity {
    size_t bytes; /* of one element, from 1 */
    size_t stride;
};

/* Index of a direction, each component -1, 0 or 1, into radius[]. */
#define NW_HALO_DIRECTION(dx, dy, dz)                                          \
    ((size_t)(((dz) + 1) * 9 + ((dy) + 1) * 3 + ((dx) + 1)))

/* name, the fixed order's words: methods in the order of the paper's priority
 * (the first that fits is taken), those for GPU memory after those for host
 * memory */
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
/* "direct", and its sentence; static. */
NW_API const char *nw_halo_method_name(enum nw_halo_method method);
NW_API const char *nw_halo_method_text(enum nw_halo_method method);
/* False where no method has the name. */
NW_API bool nw_halo_method_find(const char *name, enum nw_halo_method *out);

enum nw_halo_partition {
    NW_HALO_PARTITION_BEST,  /* least weighted halo, nodes first */
    NW_HALO_PARTITION_PAPER, /* longest axis by sorted prime factors */
};
enum nw_halo_placement {
    NW_HALO_PLACE_BEST,
    NW_HALO_PLACE_TRIVIAL, /* piece i of a node on its slot i */
    NW_HALO_PLACE_RANDOM,
    NW_HALO_PLACE_WORST,
};
/* All pieces at once, or x, then y, then z with the ghosts before included. */
enum nw_halo_schedule {
    NW_HALO_SCHEDULE_AUTO,
    NW_HALO_SCHEDULE_ONCE,
    NW_HALO_SCHEDULE_PHASES,
};
enum nw_halo_choice {
    NW_HALO_CHOOSE_MEASURE, /* at plan time, remembered per machine and shape */
    NW_HALO_CHOOSE_MODEL,   /* pair by pair, as nw_halo_layout_predict */
    NW_HALO_CHOOSE_ORDER,   /* the first method that fits, as in the paper */
};
enum nw_halo_memory { NW_HALO_MEMORY_HOST, NW_HALO_MEMORY_GPU };

/* One piece of the domain and where it is. */
struct nw_halo_piece {
    struct nw_halo_box box;
    int64_t low_ghost[3], high_ghost[3]; /* layers outside, each side */
    int64_t allocated[3];                /* cells along x, y, z with them */
    int32_t node;
    int32_t slot; /* inside the node: a GPU, or a rank's place */
    int32_t rank; /* -1 in layouts made without MPI */
};

struct nw_halo; /* a planned halo; below, with mpi.h */

struct nw_halo_options {
    size_t size;       /* sizeof of this struct */
    int64_t extent[3]; /* cells of the domain; 1 for axes that are not there */
    /* ghost layers by direction, NW_HALO_DIRECTION; along each axis of the
     * direction a piece's ghost cells on that side are filled so deep */
    int32_t radius[27];
    enum nw_halo_border border[3][2]; /* axis; low side, high side */
    const struct nw_halo_quantity *quantity;
    int32_t quantity_count;
    int32_t interval; /* radii are made so many times as deep, to exchange only
                         every so many steps; 0 is 1 */

    enum nw_halo_partition partition;
    enum nw_halo_placement placement;
    uint64_t seed;           /* of random placement */
    const char *topology;    /* SOURCE of nodewise-topology(5), or NULL */
    int32_t pieces_per_rank; /* 0 is 1; may differ between ranks */
    int32_t ranks_per_node;  /* to try several nodes on one: so many ranks are
                                taken as a node; 0: as they are */

    /* pieces of the caller's own making instead: this rank's */
    const struct nw_halo_box *box;
    int32_t box_count;

    /* The caller's arrays: base[piece * quantity_count + quantity], pitches in
     * bytes likewise (NULL: no padding); or a function that gives each, which
     * may raise *pitch; with neither the library allocates, shared inside the
     * node where that is possible, freed by nw_halo_free. */
    void *const *base;
    const size_t *pitch;
    void *(*memory)(void *context, const struct nw_halo_piece *piece,
                    int32_t quantity, size_t *pitch);
    void *context;
    /* or the arrays of another halo, which has the same pieces and quantities
     * and is freed later: two plans for one field */
    const struct nw_halo *arrays;
    size_t row_align; /* library's arrays: pitch a multiple of so many bytes; 0:
                         rows without gaps, in GPU memory 128 where cells
                         divide that */
    enum nw_halo_memory memory_kind;
    /* GPU memory: of each piece its GPU (NULL: the slot's) and the stream in
     * which the caller computes (NULL: the default one, cudaStreamLegacy; code
     * compiled with per-thread default streams passes CU_STREAM_PER_THREAD,
     * which is (void *)0x2). An exchange comes after the work that is in that
     * stream when it starts, and waits for no other stream. */
    const int32_t *gpu;
    void *const *stream;

    uint32_t methods; /* NW_HALO_BIT of those allowed; 0 is all */
    enum nw_halo_schedule schedule;
    enum nw_halo_choice choice;
    const char *cache; /* file of measured choices; NULL: the user's own,
                          "" none; where it cannot be written the plan is made
                          all the same, and nw_error_text() says why */
    double timeout; /* seconds after which a silent peer is an error; 0 never,
                       a peer that ended is always found */
    /* of nw_halo_layout_make, or NULL; nw_halo_plan passes it over, since all
     * ranks must find the same placement */
    struct nw_progress *progress;
};
#ifdef __cplusplus /* which has no designators before C++20 */
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
/* Sets all 26 radii, those along axes of extent 1 to 0: faces alone where
 * `corners` is false. */
NW_API void nw_halo_radius(struct nw_halo_options *options, int32_t radius,
                           bool corners);
NW_API void nw_halo_borders(struct nw_halo_options *options,
                            enum nw_halo_border border);

/* --- Planning without running --- */

typedef struct nw_halo_layout nw_halo_layout;

/* Where pieces may be: slots (GPUs, or ranks) a node. */
struct nw_halo_places {
    int32_t node_count;
    const int32_t *slots; /* [node_count], each from 1 */
};

/* Divides options->extent over the places and places the pieces; `places` may
 * be NULL where options->topology names a machine: then each GPU of it, or
 * each core where it has none, is a slot. NW_EINVAL for domains that cannot be
 * divided so, zero extents, a domain smaller than its radius. The caller frees
 * *out. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_make(const struct nw_halo_options *options,
                    const struct nw_halo_places *places, nw_halo_layout **out);
NW_API void nw_halo_layout_free(nw_halo_layout *layout); /* NULL is fine */

NW_API int32_t nw_halo_layout_count(const nw_halo_layout *layout);
/* Borrowed. Pieces are numbered node by node of the partition. */
NW_API const struct nw_halo_piece *
nw_halo_layout_piece(const nw_halo_layout *layout, int32_t piece);

/* What was decided, for people. Bytes are those of one exchange; costs are
 * sums of bytes x distance (1 / bandwidth: seconds), 0 without a topology. */
struct nw_halo_summary {
    int32_t node_grid[3], slot_grid[3]; /* 0 where nodes are uneven */
    uint64_t bytes, bytes_between_nodes, bytes_self;
    double slot_cost, slot_cost_trivial; /* placement inside the nodes */
    double node_cost, node_cost_trivial; /* nodes on the network */
    bool exact;     /* both proven: best, or worst where that was asked for */
    uint64_t steps; /* of the searches */
};
NW_API void nw_halo_layout_summary(const nw_halo_layout *layout,
                                   struct nw_halo_summary *out);

/* Who sends how much to whom in one exchange: ranks are pieces; kind gg, or hh
 * where the layout is of a machine without GPUs. The caller frees *out. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_pattern(const nw_halo_layout *layout, nw_pattern **out);

/* The same places as a mapping of ranks to GPUs (or cores) of the machine that
 * the layout was made for. The caller frees *out with nw_mapping_free. */
NW_API NW_MUST_CHECK nw_status
nw_halo_layout_mapping(const nw_halo_layout *layout,
                       const nw_topology *topology, nw_mapping **out);

/* The method the fixed order gives two pieces, with `slots_per_rank` slots in
 * each rank; fewer than one is one. */
NW_API enum nw_halo_method nw_halo_layout_method(const nw_halo_layout *layout,
                                                 int32_t from, int32_t to,
                                                 int32_t slots_per_rank);

/* Two pieces, and how the cells of one get into the other. */
struct nw_halo_prediction {
    int32_t from, to;
    enum nw_halo_method method;
    uint64_t bytes;
    double seconds; /* of this pair in one exchange, if it were alone */
};
/* What the model of NW_HALO_CHOOSE_MODEL says of every pair that exchanges
 * something, sorted by from, then to. The method is the model's, of
 * options->methods and not `aware`, or with NW_HALO_CHOOSE_ORDER that of the
 * fixed order; a rank has options->pieces_per_rank slots. Bandwidths and
 * latencies are those of options->topology, where it has links; else, and for
 * everything else, those of nw_halo(3). The caller frees *out. */
NW_API NW_MUST_CHECK nw_status nw_halo_layout_predict(
    const nw_halo_layout *layout, const struct nw_halo_options *options,
    struct nw_halo_prediction **out, size_t *count);

/* The quadratic assignment problem: facilities with flow[i * n + j] on
 * locations with distance[a * n + b]; out[i] is the location of i, minimising
 * (for WORST maximising) the sum of flow x distance. Up to 16 proven by branch
 * and bound, which `exact` says; false where the step limit came first, which
 * it does at the same step on any machine (the best found is given then), and
 * beyond 16, where the mapping engine searches. Deterministic. */
struct nw_halo_assignment {
    int32_t n;
    const double *flow, *distance; /* [n * n], borrowed */
    enum nw_halo_placement placement;
    uint64_t seed;
    uint64_t step_limit;          /* of branch and bound; 0 is two million */
    struct nw_progress *progress; /* or NULL; where it is cancelled the best
                                     found so far is given */
};
struct nw_halo_assigned {
    double cost, trivial_cost;
    bool exact;
    uint64_t steps;
};
NW_API NW_MUST_CHECK nw_status
nw_halo_assign(const struct nw_halo_assignment *problem, int32_t *out,
               struct nw_halo_assigned *report);

/* --- Exchanging: libnodewise-openmpi, libnodewise-mpich --- */

#ifdef MPI_VERSION
#define NW_MPI_API NW_API

typedef struct nw_halo nw_halo;

/* Collective over comm (which is duplicated): all ranks give the same domain,
 * radii, borders, quantities and methods; NW_EINVAL on every rank, with what
 * differs, where they do not. A failure of one rank is one of all. `options`
 * is borrowed for the call, the caller's arrays until nw_halo_free. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_plan(
    MPI_Comm comm, const struct nw_halo_options *options, nw_halo **out);
/* The same from Fortran, where comm is an integer: an MPI_Fint, which the
 * header of the standard ABI does not name. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_plan_fortran(
    int comm, const struct nw_halo_options *options, nw_halo **out);
/* Collective over comm. Waits for an exchange under way. NULL is fine. */
NW_MPI_API void nw_halo_free(nw_halo *halo);

/* Local. This rank's pieces, in the order of `base`. */
NW_MPI_API int32_t nw_halo_piece_count(const nw_halo *halo);
NW_MPI_API const struct nw_halo_piece *nw_halo_piece(const nw_halo *halo,
                                                     int32_t piece);
NW_MPI_API void *nw_halo_base(const nw_halo *halo, int32_t piece,
                              int32_t quantity);
NW_MPI_API size_t nw_halo_pitch(const nw_halo *halo, int32_t piece,
                                int32_t quantity);

/* Local. Local indexes (0: the first allocated cell) of the cells that may be
 * computed while an exchange runs, none of whose stencil touches a ghost cell;
 * and of the shell around them, at most six boxes that do not overlap. Returns
 * their count. */
NW_MPI_API struct nw_halo_box nw_halo_interior(const nw_halo *halo,
                                               int32_t piece);
NW_MPI_API int32_t nw_halo_shell(const nw_halo *halo, int32_t piece,
                                 struct nw_halo_box out[6]);

/* Starts filling ghost cells; own cells next to a border must not change and
 * ghost cells not be read until it is done. `subset` names `count` quantities,
 * the same on all ranks; NULL is all. NW_EINVAL while one is under way.
 * Nothing is allocated. Collective in that all ranks must call it in the same
 * order; it does not wait for them. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_start(nw_halo *halo,
                                                 const int32_t *subset,
                                                 int32_t count);
/* Makes progress; *done where this rank's ghost cells are filled and its own
 * cells are free to change. NW_EMPI where a peer is gone: the halo may then
 * only be freed. */
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_test(nw_halo *halo, bool *done);
NW_MPI_API NW_MUST_CHECK nw_status nw_halo_wait(nw_halo *halo);

/* Local. What was chosen: the whole layout, and in one line of words methods
 * with their bytes, such as "phases: self 12 kB, direct 40 kB". Borrowed. */
NW_MPI_API const nw_halo_layout *nw_halo_layout_of(const nw_halo *halo);
NW_MPI_API const char *nw_halo_words(const nw_halo *halo);
#endif

#ifdef __cplusplus
}
#endif
#endif
