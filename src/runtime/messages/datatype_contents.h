/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes how a datatype was constructed: the arguments of its constructor.
 * Constructors with and without large counts give the same form. */
#ifndef NW_MESSAGES_DATATYPE_CONTENTS_H
#define NW_MESSAGES_DATATYPE_CONTENTS_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nw_datatype_contents {
    int combiner;
    /* integer arguments in the order of MPI_Type_get_contents */
    int64_t *number;
    MPI_Aint *address;
    MPI_Datatype *type;
    size_t numbers, addresses, types;
};

/* Returns true if a datatype is predefined or was made by
 * MPI_Type_create_f90_real, MPI_Type_create_f90_complex or
 * MPI_Type_create_f90_integer. */
bool nw_datatype_contents_is_basic(const struct nw_datatype_contents *recipe);
/* Reads the arguments with which a datatype was constructed. The caller frees
 * *out with nw_datatype_contents_free, even after an error. */
NW_MUST_CHECK nw_status
nw_datatype_contents_read(MPI_Datatype type, struct nw_datatype_contents *out);
void nw_datatype_contents_free(struct nw_datatype_contents *recipe);
/* Returns true if the datatype is predefined; false if it is derived or
 * invalid. */
bool nw_type_is_named(MPI_Datatype type);

#endif
