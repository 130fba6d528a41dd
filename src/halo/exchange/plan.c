/* SPDX-License-Identifier: BSD-3-Clause */
/* nw_halo_plan makes a halo: it finds the node of each rank and the rank of
 * each piece, takes or allocates the arrays, and opens the connections. If a
 * step fails on one rank, it fails on all. */
#include "halo/exchange/agree.h"
#include "halo/exchange/connections.h"
#include "halo/exchange/choose.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"
#include "halo/exchange/trace.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>

/* --- ranks and nodes --- */

/* Splits the communicator of a node if its ranks see different /dev/shm, for
 * example in private mount namespaces. On the undivided communicator,
 * MPI_Win_allocate_shared of Open MPI 4.1 would succeed and return NULL. After
 * the split, ranks that share no memory exchange messages, as if they were on
 * different nodes. */
static int plan_split_by_memory(MPI_Comm *node)
{
    struct stat about;
    int own = 0, code;
    bool same;
    MPI_Comm part;

    if (!stat("/dev/shm", &about))
        own = (int)(about.st_dev & INT_MAX);
    code = nw_halo_is_equal(*node, (uint64_t)own, &same);
    if (code != MPI_SUCCESS || same)
        return code;
    code = NW_PMPI(Comm_split)(*node, own, 0, &part);
    if (code == MPI_SUCCESS) {
        NW_PMPI(Comm_free)(node);
        *node = part;
    }
    return code;
}

static int split_nodes(nw_halo *halo, int32_t ranks_per_node)
{
    MPI_Comm node = MPI_COMM_NULL;
    int code = NW_PMPI(Comm_split_type)(halo->comm, MPI_COMM_TYPE_SHARED, 0,
                                        MPI_INFO_NULL, &node);

    if (code == MPI_SUCCESS)
        code = nw_halo_find_oversubscribed(node, &halo->oversubscribed);
    if (code == MPI_SUCCESS)
        code = plan_split_by_memory(&node);
    if (code != MPI_SUCCESS || !ranks_per_node) {
        halo->node_comm = node;
        return code;
    }
    code = NW_PMPI(Comm_split)(node, halo->rank / ranks_per_node, 0,
                               &halo->node_comm);
    NW_PMPI(Comm_free)(&node);
    return code;
}

static int open_comm(nw_halo *halo, MPI_Comm comm)
{
    int code = NW_PMPI(Comm_dup)(comm, &halo->comm);

    if (code != MPI_SUCCESS)
        return code;
    NW_PMPI(Comm_set_errhandler)(halo->comm, MPI_ERRORS_RETURN);
    NW_PMPI(Comm_rank)(halo->comm, &halo->rank);
    return NW_PMPI(Comm_size)(halo->comm, &halo->size);
}

static int open_node(nw_halo *halo, int32_t ranks_per_node)
{
    int code = split_nodes(halo, ranks_per_node);

    if (code != MPI_SUCCESS)
        return code;
    NW_PMPI(Comm_set_errhandler)(halo->node_comm, MPI_ERRORS_RETURN);
    NW_PMPI(Comm_rank)(halo->node_comm, &halo->node_rank);
    return NW_PMPI(Comm_size)(halo->node_comm, &halo->node_size);
}

/* The node, the rank inside the node and the package of a rank, which it sends
 * to all ranks. */
struct plan_location {
    int lowest, node_rank, package; /* lowest: the lowest rank of its node */
};

static nw_status make_tables(nw_halo *halo, struct plan_location **location)
{
    size_t size = (size_t)halo->size;
    nw_status status = nw_alloc(size, sizeof(int), &halo->node_of);

    if (!status)
        status = nw_alloc(size, sizeof(int), &halo->node_rank_of);
    if (!status)
        status = nw_alloc(size, sizeof(int), &halo->package_of);
    if (!status)
        status = nw_alloc(size, sizeof **location, location);
    return nw_halo_agree(halo->comm, status);
}

/* Fills the tables with an entry for each rank, such as halo->node_of. Nodes
 * are numbered in the order of their lowest ranks: in a loop over the ranks,
 * the lowest rank of a node comes first and defines its number. */
static void halo_plan_take_locations(nw_halo *halo,
                                     const struct plan_location *location)
{
    int nodes = 0;

    for (int i = 0; i < halo->size; i++) {
        halo->node_rank_of[i] = location[i].node_rank;
        halo->package_of[i] = location[i].package;
        halo->node_of[i] = location[i].lowest == i
                               ? nodes++
                               : halo->node_of[location[i].lowest];
    }
}

static nw_status halo_plan_find_nodes(nw_halo *halo)
{
    struct plan_location own = {halo->rank, halo->node_rank,
                                nw_halo_own_package()};
    struct plan_location *location = NULL;
    int code, bytes = sizeof own;
    nw_status status = make_tables(halo, &location);

    if (status) {
        free(location);
        return status;
    }
    code = NW_PMPI(Bcast)(&own.lowest, 1, MPI_INT, 0, halo->node_comm);
    if (code == MPI_SUCCESS)
        code = NW_PMPI(Allgather)(&own, bytes, MPI_BYTE, location, bytes,
                                  MPI_BYTE, halo->comm);
    if (code == MPI_SUCCESS)
        halo_plan_take_locations(halo, location);
    free(location);
    return nw_halo_mpi(code, "find nodes");
}

/* --- pieces --- */

/* The numbers of pieces. Each piece of a node is in a slot of its own. */
struct shares {
    int32_t *count; /* [size] number of pieces of each rank */
    int32_t *slots; /* [node_count] number of pieces of each node */
    int32_t node_count, total;
};

static nw_status find_shares(nw_halo *halo, int32_t own, struct shares *out)
{
    nw_status status =
        nw_alloc((size_t)halo->size, sizeof(int32_t), &out->count);

    if (!status)
        status = nw_alloc((size_t)halo->size, sizeof(int32_t), &out->slots);
    if (!status && own < 0)
        status = nw_fail(
            NW_EINVAL, "the number of pieces of a rank, %d, is negative", own);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status =
            nw_halo_mpi(NW_PMPI(Allgather)(&own, 1, MPI_INT32_T, out->count, 1,
                                           MPI_INT32_T, halo->comm),
                        "count pieces");
    for (int i = 0; !status && i < halo->size; i++) {
        if (out->count[i] > NW_HALO_PIECES_MOST - out->total)
            return nw_fail(NW_EINVAL,
                           "the ranks ask for more than %d pieces together",
                           NW_HALO_PIECES_MOST);
        out->slots[halo->node_of[i]] += out->count[i];
        out->total += out->count[i];
        if (halo->node_of[i] >= out->node_count)
            out->node_count = halo->node_of[i] + 1;
    }
    return status;
}

/* Gives the pieces of a node to its ranks, in the order of slots and ranks.
 * Each rank gets the number of pieces that it asked for. */
static nw_status give_ranks(nw_halo *halo, const struct shares *shares)
{
    nw_halo_layout *layout = halo->layout;
    int32_t *first = NULL, *owner = NULL, *filled = NULL;
    nw_status status =
        nw_alloc((size_t)shares->node_count + 1, sizeof *first, &first);

    if (!status)
        status = nw_alloc((size_t)shares->total, sizeof *owner, &owner);
    if (!status)
        status = nw_alloc((size_t)shares->node_count, sizeof *filled, &filled);
    for (int32_t i = 0; !status && i < shares->node_count; i++)
        first[i + 1] = first[i] + shares->slots[i];
    for (int rank = 0; !status && rank < halo->size; rank++)
        for (int32_t k = 0; k < shares->count[rank]; k++) {
            int node = halo->node_of[rank];

            owner[first[node] + filled[node]++] = rank;
        }
    for (int32_t i = 0; !status && i < layout->piece_count; i++) {
        struct nw_halo_piece *piece = &layout->piece[i];

        piece->rank = owner[first[piece->node] + piece->slot];
    }
    free(first);
    free(owner);
    free(filled);
    return status;
}

static nw_status gather_boxes(nw_halo *halo,
                              const struct nw_halo_options *options,
                              const struct shares *shares,
                              struct nw_halo_box **out)
{
    int *bytes = NULL, *at = NULL, total = 0, unit = sizeof **out;
    int code = MPI_SUCCESS;
    nw_status status = nw_alloc((size_t)halo->size, sizeof(int), &bytes);

    if (!status)
        status = nw_alloc((size_t)halo->size, sizeof(int), &at);
    if (!status)
        status = nw_alloc((size_t)shares->total, sizeof **out, out);
    for (int i = 0; !status && i < halo->size; i++) {
        bytes[i] = shares->count[i] * unit;
        at[i] = total;
        total += bytes[i];
    }
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        code = NW_PMPI(Allgatherv)(options->box, options->box_count * unit,
                                   MPI_BYTE, *out, bytes, at, MPI_BYTE,
                                   halo->comm);
    free(bytes);
    free(at);
    return status ? status : nw_halo_mpi(code, "gather pieces");
}

/* Makes the pieces from the caller's boxes, numbered rank by rank. */
static nw_status take_boxes(nw_halo *halo,
                            const struct nw_halo_options *options,
                            const struct shares *shares)
{
    struct nw_halo_places places = {shares->node_count, shares->slots};
    struct nw_halo_box *box = NULL;
    int32_t piece = 0, *slot = NULL;
    nw_status status = gather_boxes(halo, options, shares, &box);

    if (!status)
        status = nw_alloc((size_t)shares->node_count, sizeof *slot, &slot);
    if (!status)
        status = nw_halo_layout_new(options, &places, &halo->layout);
    for (int rank = 0; !status && rank < halo->size; rank++)
        for (int32_t k = 0; k < shares->count[rank]; k++, piece++)
            halo->layout->piece[piece] = (struct nw_halo_piece){
                .box = box[piece],
                .node = halo->node_of[rank],
                .slot = slot[halo->node_of[rank]]++,
                .rank = rank,
            };
    if (!status)
        status = nw_halo_layout_finish(halo->layout);
    free(slot);
    free(box);
    return status;
}

static nw_status halo_plan_divide(nw_halo *halo,
                                  const struct nw_halo_options *options,
                                  const struct shares *shares)
{
    struct nw_halo_places places = {shares->node_count, shares->slots};
    struct nw_halo_options alike = *options;
    nw_status status;

    /* without progress, since a rank that cancels the search would place the
     * pieces differently from the other ranks */
    alike.progress = NULL;
    status = nw_halo_layout_make(&alike, &places, &halo->layout);
    if (!status)
        status = give_ranks(halo, shares);
    return status;
}

static nw_status halo_plan_find_own(nw_halo *halo)
{
    size_t count = (size_t)halo->layout->piece_count;
    nw_status status = nw_alloc(count, sizeof *halo->own, &halo->own);

    if (!status)
        status = nw_alloc(count, sizeof *halo->own_at, &halo->own_at);
    for (int32_t i = 0; !status && i < halo->layout->piece_count; i++) {
        bool mine = halo->layout->piece[i].rank == halo->rank;

        halo->own_at[i] = mine ? halo->own_count : -1;
        if (mine)
            halo->own[halo->own_count++] = i;
    }
    return status;
}

static nw_status make_pieces(nw_halo *halo,
                             const struct nw_halo_options *options)
{
    struct shares shares = {0};
    int32_t own = options->box               ? options->box_count
                  : options->pieces_per_rank ? options->pieces_per_rank
                                             : 1;
    nw_status status = find_shares(halo, own, &shares);

    if (!status)
        status = options->box ? take_boxes(halo, options, &shares)
                              : halo_plan_divide(halo, options, &shares);
    if (!status)
        status = halo_plan_find_own(halo);
    free(shares.count);
    free(shares.slots);
    return nw_halo_agree(halo->comm, status);
}

/* --- fields --- */

static bool halo_plan_is_joined(const nw_halo *halo, int32_t quantity)
{
    const struct nw_halo_quantity *a = &halo->quantity[quantity - 1];
    const struct nw_halo_quantity *b = &halo->quantity[quantity];
    bool joined = a->stride == b->stride;

    for (int32_t i = 0; i < halo->own_count; i++) {
        int32_t at = i * halo->quantity_count + quantity;

        joined = joined && halo->base[at] == halo->base[at - 1] + a->bytes &&
                 halo->pitch[at] == halo->pitch[at - 1];
    }
    return joined;
}

static void add_field(nw_halo *halo, int32_t quantity, bool joined)
{
    const struct nw_halo_quantity *own = &halo->quantity[quantity];

    if (joined)
        halo->field[halo->field_count - 1].bytes += own->bytes;
    else
        halo->field[halo->field_count++] =
            (struct nw_halo_field){quantity, own->bytes, own->stride};
}

/* Makes the fields: quantities that are interleaved on all ranks are joined to
 * one field. */
static nw_status make_fields(nw_halo *halo)
{
    size_t count = (size_t)halo->quantity_count;
    int *joined = NULL, code = MPI_SUCCESS;
    nw_status status = nw_alloc(count, sizeof *joined, &joined);

    if (!status)
        status = nw_alloc(2 * count, sizeof *halo->field, &halo->field);
    if (!status)
        status = nw_alloc(count, sizeof *halo->active, &halo->active);
    for (int32_t i = 1; !status && i < halo->quantity_count; i++)
        joined[i] = halo_plan_is_joined(halo, i);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        code = NW_PMPI(Allreduce)(MPI_IN_PLACE, joined, (int)count, MPI_INT,
                                  MPI_MIN, halo->comm);
    for (int32_t i = 0; !status && i < halo->quantity_count; i++)
        add_field(halo, i, joined[i]);
    halo->joined_count = halo->field_count;
    for (int32_t i = 0; !status && halo->joined_count < halo->quantity_count &&
                        i < halo->quantity_count;
         i++)
        add_field(halo, i, false);
    free(joined);
    return status ? status : nw_halo_mpi(code, "compare arrays");
}

/* --- all together --- */

static nw_status copy_options(nw_halo *halo,
                              const struct nw_halo_options *options)
{
    struct nw_halo_domain checked;
    nw_status status = nw_halo_domain_make(options, &checked);

    if (status)
        return status;
    halo->quantity_count = options->quantity_count;
    halo->timeout = options->timeout;
    halo->gpu_memory = options->memory_kind == NW_HALO_MEMORY_GPU;
    status = nw_alloc((size_t)halo->quantity_count, sizeof *halo->quantity,
                      &halo->quantity);
    for (int32_t i = 0; !status && i < halo->quantity_count; i++) {
        halo->quantity[i] = options->quantity[i];
        if (!halo->quantity[i].stride)
            halo->quantity[i].stride = halo->quantity[i].bytes;
    }
    return status;
}

static nw_status open_ears(nw_halo *halo)
{
    nw_status status = nw_halo_watch_open(halo);

    return status ? status : nw_halo_trace_open(halo);
}

static nw_status halo_plan(nw_halo *halo, const struct nw_halo_options *options)
{
    nw_status status = nw_halo_agree_options(halo->comm, options);

    if (!status)
        status = nw_halo_agree(halo->comm, copy_options(halo, options));
    if (!status)
        status = nw_halo_mpi(open_node(halo, options->ranks_per_node),
                             "split the ranks by node");
    if (!status)
        status = halo_plan_find_nodes(halo);
    if (!status)
        status = make_pieces(halo, options);
    if (!status)
        status = nw_halo_memory_make(halo, options);
    if (!status)
        status = halo->gpu_memory
                     ? nw_halo_gpus_open(halo, options)
                     : nw_halo_agree(halo->comm, nw_halo_gpus_refuse(halo));
    if (!status)
        status = make_fields(halo);
    if (!status)
        status = nw_halo_agree(halo->comm, nw_halo_memory_tell(halo));
    if (!status)
        status = nw_halo_methods_find(halo, options->methods);
    if (!status)
        status = nw_halo_choose(halo, options);
    if (!status)
        status = nw_halo_agree(halo->comm, open_ears(halo));
    return status;
}

static nw_status check_comm(MPI_Comm comm)
{
    int inter = 0;

    if (comm == MPI_COMM_NULL)
        return nw_fail(NW_EINVAL, "a halo on MPI_COMM_NULL");
    if (NW_PMPI(Comm_test_inter)(comm, &inter) != MPI_SUCCESS || inter)
        return nw_fail(
            NW_EINVAL,
            "a halo needs an intracommunicator, not an intercommunicator");
    return NW_OK;
}

static nw_status halo_plan_allocate(const struct nw_halo_options *options,
                                    nw_halo **out)
{
    nw_status status;

    if (options->size != sizeof *options)
        return nw_fail(NW_EINVAL,
                       "the halo options were not set by NW_HALO_OPTIONS_INIT");
    status = nw_alloc(1, sizeof **out, out);
    if (!status)
        (*out)->comm = (*out)->node_comm = MPI_COMM_NULL;
    return status;
}

nw_status nw_halo_plan(MPI_Comm comm, const struct nw_halo_options *options,
                       nw_halo **out)
{
    nw_halo *halo = NULL;
    nw_status status;
    int code;

    status = check_comm(comm);
    if (status)
        return status;
    status = nw_halo_agree(comm, halo_plan_allocate(options, &halo));
    if (status) {
        free(halo);
        return status;
    }
    code = open_comm(halo, comm);
    status = code == MPI_SUCCESS ? halo_plan(halo, options)
                                 : nw_halo_mpi(code, "open a halo");
    if (halo->gpus && halo->gpus->gpu)
        halo->gpus->gpu->restore(halo->gpus->context);
    if (status)
        nw_halo_free(halo);
    else
        *out = halo;
    return status;
}

/* MPI_Comm_f2c is a macro in MPICH and a function in Open MPI. */
static MPI_Comm from_fortran(int comm)
{
#ifdef NW_MODEL_MPIABI
    return NW_PMPI(Comm_fromint)(comm);
#elif defined MPI_Comm_f2c
    return MPI_Comm_f2c(comm);
#else
    return NW_PMPI(Comm_f2c)(comm);
#endif
}

nw_status nw_halo_plan_fortran(int comm, const struct nw_halo_options *options,
                               nw_halo **out)
{
    return nw_halo_plan(from_fortran(comm), options, out);
}

static bool halo_plan_has_messages(const nw_halo *halo)
{
    int there = 0;

    return NW_PMPI(Iprobe)(MPI_ANY_SOURCE, MPI_ANY_TAG, halo->comm, &there,
                           MPI_STATUS_IGNORE) != MPI_SUCCESS ||
           there;
}

void nw_halo_free(nw_halo *halo)
{
    void *context = NULL;

    if (!halo)
        return;
    if (nw_halo_gpus_lost(halo))
        halo->broken |= halo->running;
    else if (halo->running && nw_halo_wait(halo))
        halo->broken = true;
    /* if a process has ended, freeing windows and communicators would wait for
     * it */
    halo->peer_lost = halo->broken && nw_halo_watch_check(halo) != NW_OK;
    if (halo->gpus)
        context = halo->gpus->gpu ? halo->gpus->gpu->context() : NULL;
    nw_halo_trace_close(halo);
    nw_halo_connections_close(halo);
    nw_halo_watch_close(halo);
    nw_halo_gpus_close(halo, context);
    nw_halo_memory_free(halo);
    nw_halo_layout_free(halo->layout);
    free(halo->quantity);
    free(halo->field);
    free(halo->active);
    free(halo->own);
    free(halo->own_at);
    free(halo->node_of);
    free(halo->node_rank_of);
    free(halo->package_of);
    if (halo->node_comm != MPI_COMM_NULL && !halo->peer_lost)
        NW_PMPI(Comm_free)(&halo->node_comm);
    /* Keep the communicator after a failure: messages about the failure may
     * still arrive, and MPI may reuse the communicator's context id for another
     * halo, which would receive them. MPICH from 4.2 on also ends a process
     * that frees a communicator with unreceived messages. */
    if (halo->comm != MPI_COMM_NULL && !halo->peer_lost && !halo->broken &&
        !halo_plan_has_messages(halo))
        NW_PMPI(Comm_free)(&halo->comm);
    nw_halo_failure_free(halo);
}
