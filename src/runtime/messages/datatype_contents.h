/* SPDX-License-Identifier: BSD-3-Clause */
/* How a datatype was made: what its constructor was given, the same for those
 * that take large counts and those that do not. */
#ifndef NW_MESSAGES_DATATYPE_CONTENTS_H
#define NW_MESSAGES_DATATYPE_CONTENTS_H

#include "runtime/flavour.h"

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

/* Named by MPI itself, or one of Fortran's by precision: made of nothing. */
bool nw_datatype_contents_is_basic(const struct nw_datatype_contents *recipe);
/* To be freed, also where it fails. */
NW_MUST_CHECK nw_status
nw_datatype_contents_read(MPI_Datatype type, struct nw_datatype_contents *out);
void nw_datatype_contents_free(struct nw_datatype_contents *recipe);
/* Whether MPI names it; what is no datatype has no name. */
bool nw_type_is_named(MPI_Datatype type);

#endif
