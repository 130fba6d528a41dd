/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The byte layout of a datatype, in MPI's packing order. Copies between GPU and
 * host memory use it. It is computed once for each derived datatype and stored
 * with the datatype.
 */
#ifndef NW_MESSAGES_TYPEMAP_H
#define NW_MESSAGES_TYPEMAP_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of contiguous bytes, repeated n[0] times at a distance of step[0],
 * and this row n[1] times at step[1], in packing order. */
struct nw_run {
    MPI_Aint offset;
    size_t bytes;
    int64_t n[2];
    MPI_Aint step[2];
};

struct nw_typemap {
    int users;
    MPI_Datatype of;   /* the datatype; may be freed by now */
    uint64_t id;       /* never reused */
    size_t size;       /* packed bytes of one element */
    MPI_Aint extent;   /* from one element to the next */
    MPI_Aint lb;       /* offset of the first byte */
    size_t span;       /* bytes from first to last of one element */
    MPI_Datatype unit; /* the only basic type; MPI_BYTE if mixed */
    size_t unit_size;
    bool mixed; /* has several basic types */
    bool dense; /* elements are contiguous */
    bool gaps;  /* runs hold bytes that MPI does not pack (MPI_DOUBLE_INT) */
    struct nw_run *run;
    size_t count, capacity;
};

/* Adds a user. The caller drops the layout. */
NW_MUST_CHECK nw_status nw_typemap_of(MPI_Datatype type,
                                      struct nw_typemap **out);
/* True if the datatype is predefined and was looked up before. */
bool nw_typemap_is_plain(MPI_Datatype type);
struct nw_typemap *nw_typemap_bytes(void); /* of MPI_BYTE, without a datatype */
void nw_typemap_drop(struct nw_typemap *layout);
void nw_typemaps_close(void);

/* Called for each piece in packing order. False stops the walk. */
typedef bool (*nw_typemap_visit)(void *context, MPI_Aint offset, size_t bytes);
void nw_typemap_walk(const struct nw_typemap *layout, int64_t count,
                     nw_typemap_visit visit, void *context);
/* The offset of the lowest byte of `count` elements, and the bytes from there
 * to the highest. */
MPI_Aint nw_typemap_low(const struct nw_typemap *layout, int64_t count);
size_t nw_typemap_span(const struct nw_typemap *layout, int64_t count);

/* typemap_runs.c: appends a run to a list of runs. */
NW_MUST_CHECK nw_status nw_runs_add(struct nw_typemap *out,
                                    const struct nw_run *run);
/* Appends `part` `n` times. at[0] is the first offset, at[1] the step. */
NW_MUST_CHECK nw_status nw_runs_repeat(struct nw_typemap *out,
                                       const struct nw_typemap *part, int64_t n,
                                       const MPI_Aint at[2]);

#endif
