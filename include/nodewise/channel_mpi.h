/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Channels between the ranks of a communicator, in libnodewise-openmpi and
 * libnodewise-mpich. This header includes mpi.h itself, so its place among the
 * includes of a program does not matter.
 */
#ifndef NODEWISE_CHANNEL_MPI_H
#define NODEWISE_CHANNEL_MPI_H

#ifndef MPI_VERSION
#include <mpi.h>
#endif

#include <nodewise/channel.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens a channel between the ranks of `comm`. It ignores rank, count, file and
 * allgather of the options; `options` may be NULL. A failure on one rank is
 * returned on all ranks. Collective over comm. */
NW_MPI_API NW_MUST_CHECK nw_status nw_channel_open_mpi(
    MPI_Comm comm, const struct nw_channel_options *options, nw_channel **out);

#ifdef __cplusplus
}
#endif
#endif
