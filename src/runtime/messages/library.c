/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the MPI library in tables and files of measurements. */
#include "runtime/messages/library.h"

#include "base/hash.h"
#include "channel/tune/thresholds.h"
#include "runtime/flavour.h"

#include <stdio.h>

#ifdef NW_MODEL_MPIABI
#define FLAVOUR "mpiabi"
#elif defined OPEN_MPI
#define FLAVOUR "openmpi"
#else
#define FLAVOUR "mpich"
#endif

uint64_t nw_mpi_hash(uint64_t start)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    NW_PMPI(Get_library_version)(version, &length);
    return nw_hash_text(start, version);
}

void nw_mpi_name(char out[NW_MPI_NAME])
{
    snprintf(out, NW_MPI_NAME, NW_MPI_PROVIDER FLAVOUR ":%016llx",
             (unsigned long long)nw_mpi_hash(NW_HASH_START));
}
