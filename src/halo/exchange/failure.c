/* SPDX-License-Identifier: BSD-3-Clause */
/* Spreads failures. If a rank's part of an exchange fails, for example by an
 * error of its GPU, the rank sends the reason to its neighbours, which send it
 * on to theirs. So no rank waits for a message that will not come. */
#include "halo/exchange/connections.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define TAG 32000 /* MPI tag of failures; connections use smaller tags */

static bool failure_is_told(const nw_halo *halo, size_t connection)
{
    for (size_t i = 0; i < connection; i++)
        if (halo->connection[i].peer == halo->connection[connection].peer)
            return true;
    return halo->connection[connection].peer == halo->rank;
}

static void failure_tell(nw_halo *halo, int rank)
{
    MPI_Request request;

    if (NW_PMPI(Isend)(halo->failure, sizeof halo->failure, MPI_BYTE, rank, TAG,
                       halo->comm, &request) == MPI_SUCCESS)
        NW_PMPI(Request_free)(&request);
}

/* Sends the failure to all other ranks of the node. This is necessary if
 * messages pass through a leader (nodes.h): a rank may have no connection to
 * its leader. */
static void tell_node(nw_halo *halo)
{
    for (int rank = 0; rank < halo->size; rank++)
        if (rank != halo->rank &&
            halo->node_of[rank] == halo->node_of[halo->rank])
            failure_tell(halo, rank);
}

/* The halos that have sent a failure, linked by halo->kept. */
static _Atomic(nw_halo *) failure_kept;

/* The sends of a failure are not waited for, so MPI may still read
 * halo->failure. */
void nw_halo_failure_free(nw_halo *halo)
{
    if (halo->failure[0])
        halo->kept = atomic_exchange(&failure_kept, halo);
    else
        free(halo);
}

void nw_halo_failure_tell(nw_halo *halo, nw_status status)
{
    if (halo->broken)
        return;
    memset(halo->failure, 0, sizeof halo->failure);
    halo->failure[0] = (char)status;
    strncpy(halo->failure + 1, nw_error_text(), sizeof halo->failure - 2);
    for (size_t i = 0; i < halo->connection_count; i++)
        if (!failure_is_told(halo, i))
            failure_tell(halo, halo->connection[i].peer);
    if (halo->aggregates)
        tell_node(halo);
}

nw_status nw_halo_failure_hear(const nw_halo *halo)
{
    char words[sizeof halo->failure];
    MPI_Status from;
    int there = 0;

    if (NW_PMPI(Iprobe)(MPI_ANY_SOURCE, TAG, halo->comm, &there, &from) !=
            MPI_SUCCESS ||
        !there ||
        NW_PMPI(Recv)(words, sizeof words, MPI_BYTE, from.MPI_SOURCE, TAG,
                      halo->comm, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return NW_OK;
    return nw_fail((nw_status)words[0], "%s%d: %s",
                   strncmp(words + 1, "rank ", 5) ? "rank " : "by rank ",
                   from.MPI_SOURCE, words + 1);
}
