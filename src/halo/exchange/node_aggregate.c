/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the aggregates of a node: the traffic of all its ranks with other nodes
 * (nodes.h). Both nodes of an aggregate sort its shares in the same order. */
#include "halo/exchange/nodes.h"

#include <stdlib.h>
#include <string.h>

#define FIELDS 6 /* number of integers in a struct nw_halo_share */

bool nw_halo_aggregates_wanted(const nw_halo *halo)
{
    const uint32_t *methods = halo->scheme.methods;
    uint32_t earlier = NW_HALO_BIT(NW_HALO_PACKED) | NW_HALO_BIT(NW_HALO_TYPES);
    bool wanted = false;

    for (int kind = NW_HALO_CLASS_NETWORK; kind < NW_HALO_CLASS_COUNT; kind++) {
        uint32_t bits = halo->methods & methods[kind];

        bits = bits ? bits : halo->methods;
        wanted =
            wanted || (bits & NW_HALO_BIT(NW_HALO_NODES) && !(bits & earlier));
    }
    return wanted;
}

static int node_aggregate_compare(const void *a, const void *b)
{
    return nw_halo_share_compare(a, b, NW_HALO_SHARE_KEYS);
}

static size_t own_shares(const nw_halo *halo, struct nw_halo_share *out)
{
    size_t count = 0;

    for (size_t i = 0; i < halo->connection_count; i++)
        if (halo->connection[i].ops == &nw_halo_nodes)
            out[count++] = nw_halo_share_of(&halo->connection[i]);
    return count;
}

/* Gathers how many integers each rank of the node contributes (counts) and
 * where they start in the result (starts), for MPI_Allgatherv. Sets the number
 * of shares of the node. */
static nw_status count_shares(nw_halo *halo, int own, int *counts, int *starts)
{
    int code = NW_PMPI(Allgather)(&own, 1, MPI_INT, counts, 1, MPI_INT,
                                  halo->node_comm);
    int sum = 0;

    for (int i = 0; i < halo->node_size; i++) {
        starts[i] = sum;
        sum += counts[i];
    }
    halo->aggregates->share_count = (size_t)sum / FIELDS;
    return nw_halo_mpi(code, "list what goes between nodes");
}

/* Gathers the shares of all ranks of the node into aggregates->share. */
static nw_status node_aggregate_gather(nw_halo *halo,
                                       const struct nw_halo_share *own,
                                       size_t count)
{
    struct nw_halo_aggregates *aggregates = halo->aggregates;
    int *counts = NULL;
    nw_status status =
        nw_alloc(2 * (size_t)halo->node_size, sizeof *counts, &counts);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = count_shares(halo, (int)count * FIELDS, counts,
                              counts + halo->node_size);
    if (!status)
        status = nw_alloc(aggregates->share_count + 1,
                          sizeof *aggregates->share, &aggregates->share);
    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status =
            nw_halo_mpi(NW_PMPI(Allgatherv)(own, (int)count * FIELDS,
                                            MPI_INT64_T, aggregates->share,
                                            counts, counts + halo->node_size,
                                            MPI_INT64_T, halo->node_comm),
                        "list what goes between nodes");
    free(counts);
    return status;
}

static nw_status gather_own(nw_halo *halo)
{
    struct nw_halo_share *own = NULL;
    size_t count = 0;
    nw_status status = nw_alloc(halo->connection_count + 1, sizeof *own, &own);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status) {
        count = own_shares(halo, own);
        status = node_aggregate_gather(halo, own, count);
    }
    free(own);
    return status;
}

/* Returns the rank of `node` that leads its aggregates with the node `other`.
 */
static int leader_of(const nw_halo *halo, int node, int other)
{
    int size = 0;

    for (int i = 0; i < halo->size; i++)
        size += halo->node_of[i] == node;
    for (int i = 0; i < halo->size; i++)
        if (halo->node_of[i] == node && halo->node_rank_of[i] == other % size)
            return i;
    return -1;
}

static nw_status node_aggregate_cut(nw_halo *halo)
{
    struct nw_halo_aggregates *aggregates = halo->aggregates;
    int here = halo->node_of[halo->rank];
    nw_status status = nw_alloc(aggregates->share_count + 1,
                                sizeof *aggregates->item, &aggregates->item);

    if (status)
        return status;
    qsort(aggregates->share, aggregates->share_count, sizeof *aggregates->share,
          node_aggregate_compare);
    for (size_t i = 0; i < aggregates->share_count; i++) {
        const struct nw_halo_share *share = &aggregates->share[i];
        struct nw_halo_aggregate *aggregate =
            &aggregates->item[aggregates->count];

        if (i &&
            !nw_halo_share_compare(share - 1, share, NW_HALO_SHARE_GROUP)) {
            aggregate--;
        } else {
            aggregates->count++;
            aggregate->share = share;
            aggregate->leader = leader_of(halo, here, (int)share->node);
            aggregate->other = leader_of(halo, (int)share->node, here);
        }
        aggregate->count++;
        aggregate->cells += (size_t)share->cells;
    }
    return NW_OK;
}

/* Inserts the leader's connection for an aggregate. Connections stay sorted by
 * phase. */
static void insert_connection(nw_halo *halo,
                              struct nw_halo_aggregate *aggregate)
{
    uint8_t phase = (uint8_t)aggregate->share->phase;
    size_t at = halo->connection_count++;

    for (; at > 0 && halo->connection[at - 1].phase > phase; at--)
        halo->connection[at] = halo->connection[at - 1];
    halo->connection[at] = (struct nw_halo_connection){
        .ops = &nw_halo_aggregate_end,
        .halo = halo,
        .peer = aggregate->other,
        .phase = phase,
        .bytes = aggregate->cells * halo->layout->domain.cell_bytes,
        .aggregate = aggregate,
    };
}

static nw_status add_connections(nw_halo *halo)
{
    struct nw_halo_aggregates *aggregates = halo->aggregates;
    struct nw_halo_connection *connection = NULL;
    nw_status status = nw_alloc(halo->connection_count + aggregates->count + 1,
                                sizeof *connection, &connection);

    if (status)
        return status;
    memcpy(connection, halo->connection,
           halo->connection_count * sizeof *connection);
    free(halo->connection);
    halo->connection = connection;
    for (size_t i = 0; i < aggregates->count; i++)
        if (aggregates->item[i].leader == halo->rank) {
            insert_connection(halo, &aggregates->item[i]);
            /* a leader takes part in the phases of its aggregates, even without
             * a connection of its own in them */
            if (aggregates->item[i].share->phase >= halo->phase_count)
                halo->phase_count = (int)aggregates->item[i].share->phase + 1;
        }
    return NW_OK;
}

nw_status nw_halo_aggregates_make(nw_halo *halo)
{
    nw_status status = nw_alloc(1, sizeof *halo->aggregates, &halo->aggregates);

    status = nw_halo_agree(halo->node_comm, status);
    if (!status)
        status = gather_own(halo);
    if (!status)
        status = node_aggregate_cut(halo);
    return status ? status : add_connections(halo);
}

nw_status nw_halo_aggregates_share(nw_halo *halo)
{
    struct nw_halo_aggregates *aggregates = halo->aggregates;
    uint64_t *own = NULL;
    nw_status status = nw_alloc(2 * aggregates->count + 1, sizeof *own, &own);

    status = nw_halo_agree(halo->node_comm, status);
    for (size_t i = 0; !status && i < aggregates->count; i++)
        own[i] = aggregates->item[i].spot.offset;
    if (!status)
        status =
            nw_halo_mpi(NW_PMPI(Allreduce)(own, own + aggregates->count,
                                           (int)aggregates->count, MPI_UINT64_T,
                                           MPI_MAX, halo->node_comm),
                        "share buffers between nodes");
    for (size_t i = 0; !status && i < aggregates->count; i++)
        aggregates->item[i].spot =
            (struct nw_halo_spot){.rank = aggregates->item[i].leader,
                                  .offset = own[aggregates->count + i]};
    free(own);
    return status;
}

void nw_halo_aggregates_free(nw_halo *halo)
{
    if (halo->aggregates) {
        free(halo->aggregates->share);
        free(halo->aggregates->item);
    }
    free(halo->aggregates);
    halo->aggregates = NULL;
}
