/* SPDX-License-Identifier: BSD-3-Clause */
/* A channel between the ranks of a communicator: they meet through MPI, on a
 * duplicate that no message of the program can get into. */
#include "runtime/flavour.h"

#include "base/status.h"

#include <limits.h>
#include <nodewise/channel.h>

static nw_status gather(void *context, const void *mine, size_t bytes,
                        void *all)
{
    MPI_Comm comm = *(MPI_Comm *)context;

    if (bytes > INT_MAX || NW_PMPI(Allgather)(mine, (int)bytes, MPI_BYTE, all,
                                              (int)bytes, MPI_BYTE, comm))
        return nw_fail(NW_EMPI, "the ranks cannot meet through MPI");
    return NW_OK;
}

/* All ranks have opened it, or none has. */
static nw_status agree(MPI_Comm comm, nw_status mine)
{
    int bad = mine != NW_OK, any = 1;

    if (NW_PMPI(Allreduce)(&bad, &any, 1, MPI_INT, MPI_MAX, comm))
        return nw_fail(NW_EMPI, "the ranks cannot meet through MPI");
    if (!mine && any)
        return nw_fail(NW_EIO, "the channel did not open on another rank");
    return mine;
}

static nw_status check_size(const struct nw_channel_options *options)
{
    if (options && options->size != sizeof *options)
        return nw_fail(NW_EINVAL, "the options of a channel have another size");
    return NW_OK;
}

nw_status nw_channel_open_mpi(MPI_Comm comm,
                              const struct nw_channel_options *options,
                              nw_channel **out)
{
    struct nw_channel_options how = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;
    MPI_Comm own;
    int rank, size;
    nw_status status;

    if (NW_PMPI(Comm_dup)(comm, &own))
        return nw_fail(NW_EMPI, "the communicator cannot be duplicated");
    NW_PMPI(Comm_set_errhandler)(own, MPI_ERRORS_RETURN);
    NW_PMPI(Comm_rank)(own, &rank);
    NW_PMPI(Comm_size)(own, &size);
    status = agree(own, check_size(options));
    if (!status && options)
        how = *options;
    how.rank = rank;
    how.count = size;
    how.file = NULL;
    how.allgather = gather;
    how.context = &own;
    if (!status)
        status = agree(own, nw_channel_open(&how, &channel));
    NW_PMPI(Comm_free)(&own);
    if (status)
        nw_channel_close(channel);
    else
        *out = channel;
    return status;
}
