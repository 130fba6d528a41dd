/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides a rank's transfers into connections, in the same way at both ends.
 * Opens the connections; the two ends of each exchange the data that its method
 * needs (offers). */
#include "halo/exchange/choose.h"
#include "halo/exchange/yielding_collectives.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/nodes.h"

#include <stdlib.h>

/* A transfer with its sort key. */
struct connections_entry {
    int64_t key[5];
    struct nw_halo_transfer transfer;
};

/* Transfers share a connection if the first KEYS numbers are equal: the phase,
 * the two ranks, and in GPU memory the two pieces. */
enum { KEYS = 4 };

bool nw_halo_fits_node(const nw_halo *halo, const struct nw_halo_pair *pair)
{
    (void)halo;
    return pair->same_node && !pair->same_rank;
}

static int connections_compare(const void *a, const void *b)
{
    const struct connections_entry *x = a, *y = b;

    return nw_halo_keys_compare(x->key, y->key, KEYS + 1);
}

static struct connections_entry connections_entry_of(const nw_halo *halo,
                                                     size_t number)
{
    const struct nw_halo_transfer *transfer = &halo->transfers.item[number];
    const struct nw_halo_piece *piece = halo->layout->piece;
    int64_t pieces =
        (int64_t)transfer->from * halo->layout->piece_count + transfer->to;

    return (struct connections_entry){
        .key = {transfer->phase, piece[transfer->from].rank,
                piece[transfer->to].rank, halo->gpu_memory ? pieces : 0,
                (int64_t)number},
        .transfer = *transfer,
    };
}

static struct nw_halo_pair
connections_pair_of(const nw_halo *halo,
                    const struct nw_halo_transfer *transfer)
{
    int32_t from = transfer->from, to = transfer->to;
    int from_rank = halo->layout->piece[from].rank;
    int to_rank = halo->layout->piece[to].rank;

    return (struct nw_halo_pair){
        .from = from,
        .to = to,
        .from_rank = from_rank,
        .to_rank = to_rank,
        .same_rank = from_rank == to_rank,
        .same_node = halo->node_of[from_rank] == halo->node_of[to_rank],
        .same_gpu = halo->gpu_memory &&
                    halo->gpus->where[from] == halo->gpus->where[to],
    };
}

static void begin_connection(nw_halo *halo,
                             const struct nw_halo_transfer *transfer)
{
    struct nw_halo_pair pair = connections_pair_of(halo, transfer);
    struct nw_halo_connection *connection =
        &halo->connection[halo->connection_count];

    *connection = (struct nw_halo_connection){
        .halo = halo,
        .pair = pair,
        .peer = pair.from_rank == halo->rank ? pair.to_rank : pair.from_rank,
        .sends = pair.from_rank == halo->rank,
        .receives = pair.to_rank == halo->rank,
        .phase = transfer->phase,
        .transfer = transfer,
    };
    /* the tag counts the earlier connections between the same two ranks in the
     * same direction */
    for (size_t i = 0; i < halo->connection_count; i++)
        connection->tag += halo->connection[i].peer == connection->peer &&
                           halo->connection[i].sends == connection->sends &&
                           halo->connection[i].receives == connection->receives;
    halo->connection_count++;
}

static void connections_cut(nw_halo *halo,
                            const struct connections_entry *entry)
{
    size_t cell = halo->layout->domain.cell_bytes;

    halo->connection_count = 0;
    halo->phase_count = 1;
    for (size_t i = 0; i < halo->transfers.count; i++) {
        struct nw_halo_transfer *transfer = &halo->transfers.item[i];
        struct nw_halo_connection *connection;

        *transfer = entry[i].transfer;
        if (!i || nw_halo_keys_compare(entry[i - 1].key, entry[i].key, KEYS))
            begin_connection(halo, transfer);
        connection = &halo->connection[halo->connection_count - 1];
        connection->count++;
        connection->bytes +=
            cell * (size_t)(transfer->extent[0] * transfer->extent[1] *
                            transfer->extent[2]);
        if (transfer->phase >= halo->phase_count)
            halo->phase_count = transfer->phase + 1;
    }
}

static nw_status make_connections(nw_halo *halo)
{
    size_t count = halo->transfers.count;
    struct connections_entry *entry = NULL;
    nw_status status = nw_alloc(count, sizeof *entry, &entry);

    if (!status)
        status = nw_alloc(count, sizeof *halo->connection, &halo->connection);
    if (!status) {
        for (size_t i = 0; i < count; i++)
            entry[i] = connections_entry_of(halo, i);
        qsort(entry, count, sizeof *entry, connections_compare);
        connections_cut(halo, entry);
    }
    free(entry);
    return status;
}

/* Exchanges the offers between both ends of all connections. Each direction has
 * its own tag. */
static int move_offers(nw_halo *halo, struct nw_halo_offer *own,
                       struct nw_halo_offer *other, MPI_Request *request)
{
    int code = MPI_SUCCESS, count = 0, bytes = sizeof *own;

    for (size_t i = 0; code == MPI_SUCCESS && i < halo->connection_count; i++) {
        const struct nw_halo_connection *connection = &halo->connection[i];
        int tag = 2 * connection->tag;

        if (connection->peer == halo->rank)
            continue;
        code = NW_PMPI(Irecv)(&other[i], bytes, MPI_BYTE, connection->peer,
                              tag + connection->sends, halo->comm,
                              &request[count++]);
        if (code == MPI_SUCCESS)
            code = NW_PMPI(Isend)(&own[i], bytes, MPI_BYTE, connection->peer,
                                  tag + connection->receives, halo->comm,
                                  &request[count++]);
    }
    return code == MPI_SUCCESS ? nw_halo_waitall(count, request) : code;
}

static nw_status connections_join_all(nw_halo *halo,
                                      const struct nw_halo_offer *other)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < halo->connection_count; i++)
        if (halo->connection[i].peer != halo->rank &&
            halo->connection[i].ops->join)
            status =
                halo->connection[i].ops->join(&halo->connection[i], &other[i]);
    return status;
}

static nw_status connections_open_all(nw_halo *halo, struct nw_halo_offer *own)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < halo->connection_count; i++)
        status = halo->connection[i].ops->open(&halo->connection[i], &own[i]);
    return status;
}

/* Makes the connections of a scheme. The aggregates of pairs of nodes (nodes.h)
 * come last, because each needs the connections of all ranks of the node. */
static nw_status make_all(nw_halo *halo)
{
    struct nw_halo_wanted wanted = {.layout = halo->layout,
                                    .rank = halo->rank,
                                    .phased = halo->scheme.phased};
    nw_status made = nw_halo_transfers_find(&wanted, &halo->transfers), status;

    if (!made)
        made = make_connections(halo);
    /* collective, so call it even after an error */
    status = nw_halo_give_methods(halo);
    status = made ? made : status;
    if (!nw_halo_aggregates_wanted(halo))
        return status;
    status = nw_halo_agree(halo->comm, status);
    return status ? status : nw_halo_aggregates_make(halo);
}

nw_status nw_halo_connections_open(nw_halo *halo,
                                   const struct nw_halo_scheme *scheme)
{
    struct nw_halo_offer *own = NULL, *other = NULL;
    MPI_Request *request = NULL;
    nw_status status;

    halo->scheme = *scheme;
    status = nw_halo_agree(halo->comm, make_all(halo));
    if (!status)
        status = nw_alloc(halo->connection_count, sizeof *own, &own);
    if (!status)
        status = nw_alloc(halo->connection_count, sizeof *other, &other);
    if (!status)
        status =
            nw_alloc(2 * halo->connection_count, sizeof *request, &request);
    if (!status)
        status = connections_open_all(halo, own);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status = nw_halo_segment_make(halo);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status = nw_halo_mpi(move_offers(halo, own, other, request),
                             "open the connections of a halo");
    if (!status && halo->aggregates)
        status = nw_halo_aggregates_share(halo);
    if (!status)
        status = connections_join_all(halo, other);
    status = nw_halo_agree(halo->comm, status);
    free(own);
    free(other);
    free(request);
    if (status)
        nw_halo_connections_close(halo);
    return status;
}

void nw_halo_connections_close(nw_halo *halo)
{
    for (size_t i = 0; i < halo->connection_count; i++)
        if (halo->connection[i].ops->leave)
            halo->connection[i].ops->leave(&halo->connection[i]);
    nw_halo_peers_part(halo);
    for (size_t i = 0; i < halo->connection_count; i++)
        halo->connection[i].ops->close(&halo->connection[i]);
    free(halo->connection);
    halo->connection = NULL;
    halo->connection_count = 0;
    nw_halo_transfers_fini(&halo->transfers);
    nw_halo_aggregates_free(halo);
    nw_halo_segment_free(halo);
}

void nw_halo_set_swap(nw_halo *halo, struct nw_halo_set *set)
{
    struct nw_halo_set held = {halo->scheme,      halo->transfers,
                               halo->connection,  halo->connection_count,
                               halo->phase_count, halo->segment,
                               halo->aggregates};

    halo->scheme = set->scheme;
    halo->transfers = set->transfers;
    halo->connection = set->connection;
    halo->connection_count = set->connection_count;
    halo->phase_count = set->phase_count;
    halo->segment = set->segment;
    halo->aggregates = set->aggregates;
    *set = held;
}

struct nw_halo_scheme nw_halo_scheme_all(bool phased, uint32_t methods)
{
    struct nw_halo_scheme scheme = {.phased = phased};

    for (int i = 0; i < NW_HALO_CLASS_COUNT; i++)
        scheme.methods[i] = methods;
    return scheme;
}
