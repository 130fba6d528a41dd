/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was constructed: the arguments of its constructor, in the same
 * form with and without large counts. */
#ifndef NW_MESSAGES_DATATYPE_CONTENTS_H
#define NW_MESSAGES_DATATYPE_CONTENTS_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_datatype_contents {
    int combiner;
    int64_t *number; /* in the order of MPI_Type_get_contents */
    MPI_Aint *address;
    MPI_Datatype *type;
    size_t numbers, addresses, types;
};

/* True for a predefined datatype or a Fortran datatype by precision. */
bool nw_datatype_contents_is_basic(const struct nw_datatype_contents *recipe);
/* The caller frees *out, also after an error. */
NW_MUST_CHECK nw_status
nw_datatype_contents_read(MPI_Datatype type, struct nw_datatype_contents *out);
void nw_datatype_contents_free(struct nw_datatype_contents *recipe);
/* True if the datatype is predefined. False for an invalid datatype. */
bool nw_type_is_named(MPI_Datatype type);

#endif
