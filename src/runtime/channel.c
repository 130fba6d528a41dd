/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens a channel between the ranks of a communicator. The ranks exchange
 * addresses by MPI calls on a duplicate of the communicator, so that no message
 * of the program is received here. */
#include "runtime/mpi_symbols.h"

#include "base/status.h"

#include <limits.h>
#include <nodewise/channel_mpi.h>
#include <stdbool.h>

/* State of one opening. `over` becomes true at the first step that fails on any
 * rank; after that no rank makes a collective call. */
struct channel_opening {
    MPI_Comm comm;
    bool over;
};

/* Returns an error on all ranks if `mine` is an error on any rank. Collective:
 * a rank that failed between two steps calls this function once, while the
 * other ranks call it at the start of the next step. */
static nw_status runtime_channel_agree(struct channel_opening *opening,
                                       nw_status mine)
{
    int bad = mine != NW_OK, any = 1;

    if (opening->over)
        return mine;
    if (NW_PMPI(Allreduce)(&bad, &any, 1, MPI_INT, MPI_MAX, opening->comm)) {
        opening->over = true;
        return nw_fail(NW_EMPI, "the ranks cannot exchange addresses by MPI");
    }
    opening->over = any;
    if (!mine && any)
        return nw_fail(NW_EIO, "the channel did not open on another rank");
    return mine;
}

static nw_status runtime_channel_gather(void *context, const void *mine,
                                        size_t bytes, void *all)
{
    struct channel_opening *opening = context;
    nw_status status = runtime_channel_agree(opening, NW_OK);

    if (status)
        return status;
    if (bytes > INT_MAX ||
        NW_PMPI(Allgather)(mine, (int)bytes, MPI_BYTE, all, (int)bytes,
                           MPI_BYTE, opening->comm))
        return nw_fail(NW_EMPI, "the ranks cannot exchange addresses by MPI");
    return NW_OK;
}

nw_status nw_channel_open_mpi(MPI_Comm comm,
                              const struct nw_channel_options *options,
                              nw_channel **out)
{
    struct nw_channel_options how = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;
    struct channel_opening own = {MPI_COMM_NULL, false};
    int rank, size;
    nw_status status;

    if (NW_PMPI(Comm_dup)(comm, &own.comm))
        return nw_fail(NW_EMPI, "the communicator cannot be duplicated");
    NW_PMPI(Comm_set_errhandler)(own.comm, MPI_ERRORS_RETURN);
    NW_PMPI(Comm_rank)(own.comm, &rank);
    NW_PMPI(Comm_size)(own.comm, &size);
    if (options && options->size == how.size)
        how = *options;
    else if (options)
        how.size = options->size; /* nw_channel_open reports the wrong size */
    how.rank = rank;
    how.count = size;
    how.file = NULL;
    how.allgather = runtime_channel_gather;
    how.context = &own;
    status = runtime_channel_agree(&own, nw_channel_open(&how, &channel));
    NW_PMPI(Comm_free)(&own.comm);
    if (status)
        nw_channel_close(channel);
    else
        *out = channel;
    return status;
}
