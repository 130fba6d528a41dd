/* SPDX-License-Identifier: BSD-3-Clause */
/* Identifies the MPI library, for files with measured times. */
#include "runtime/messages/library.h"

#include "base/hash.h"
#include "runtime/mpi_symbols.h"

uint64_t nw_mpi_hash(uint64_t start)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;

    NW_PMPI(Get_library_version)(version, &length);
    return nw_hash_text(start, version);
}
