/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes a failure of one rank a failure of all ranks, and lets one rank print
 * it. */
#include "mpdata/program/job.h"

#include <stdio.h>

nw_status nw_mp_agree(MPI_Comm comm, nw_status status)
{
    int rank, size, who, code = (int)status;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    who = status ? rank : size;
    MPI_Allreduce(MPI_IN_PLACE, &who, 1, MPI_INT, MPI_MIN, comm);
    if (who == size)
        return NW_OK;
    if (who == rank)
        fprintf(stderr, "nodewise-mpdata: %s\n", nw_error_text());
    MPI_Bcast(&code, 1, MPI_INT, who, comm);
    return (nw_status)code;
}

int nw_mp_exit_code(nw_status status)
{
    switch (status) {
    case NW_OK:
        return 0;
    case NW_EINVAL:
        return 2;
    case NW_EFORMAT:
    case NW_EIO:
        return 3;
    case NW_ENODEV:
    case NW_EUNSUPPORTED:
        return 4;
    default:
        return 1;
    }
}
