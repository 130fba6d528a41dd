/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The byte layout of a datatype in the order of MPI_Pack, for copies between
 * GPU and host memory. It is computed once for each derived datatype and stored
 * with the datatype.
 */
#ifndef NW_MESSAGES_TYPEMAP_H
#define NW_MESSAGES_TYPEMAP_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A run: contiguous bytes that are repeated n[0] times, step[0] bytes apart.
 * This row is repeated n[1] times, step[1] bytes apart. The bytes are visited
 * in the order of MPI_Pack. */
struct nw_run {
    MPI_Aint offset;
    size_t bytes;
    int64_t n[2];
    MPI_Aint step[2];
};

struct nw_typemap {
    int users;
    MPI_Datatype of;   /* the datatype; the program may have freed it */
    uint64_t id;       /* number of this layout, never reused */
    size_t size;       /* packed size of one element in bytes */
    MPI_Aint extent;   /* distance in bytes from one element to the next */
    MPI_Aint lb;       /* offset of an element's first byte in bytes (MPI's
                          true lower bound) */
    size_t span;       /* bytes from the first to the last byte of one
                          element */
    MPI_Datatype unit; /* basic type, if all data has the same; else MPI_BYTE */
    size_t unit_size;
    bool mixed; /* contains several basic types */
    bool dense; /* consecutive elements form contiguous bytes */
    bool gaps;  /* runs include bytes that MPI_Pack skips (MPI_DOUBLE_INT) */
    struct nw_run *run;
    size_t count, capacity;
};

/* Sets *out to the layout of a datatype. The caller releases it with
 * nw_typemap_drop. */
NW_MUST_CHECK nw_status nw_typemap_of(MPI_Datatype type,
                                      struct nw_typemap **out);
/* Returns true if the datatype is predefined and its layout is in a table, to
 * which nw_typemap_of adds it unless the table's entry is taken. */
bool nw_typemap_is_plain(MPI_Datatype type);
void nw_typemap_drop(struct nw_typemap *layout);
void nw_typemaps_close(void);

/* A function that is called for each contiguous piece of data, in the order of
 * MPI_Pack, with its offset from the buffer's address. If it returns false, no
 * more pieces are visited. */
typedef bool (*nw_typemap_visit)(void *context, MPI_Aint offset, size_t bytes);
void nw_typemap_walk(const struct nw_typemap *layout, int64_t count,
                     nw_typemap_visit visit, void *context);
/* nw_typemap_low returns the offset of the lowest byte of `count` elements from
 * the buffer's address. nw_typemap_span returns the number of bytes from that
 * byte to the highest one. */
MPI_Aint nw_typemap_low(const struct nw_typemap *layout, int64_t count);
size_t nw_typemap_span(const struct nw_typemap *layout, int64_t count);

/* In typemap_runs.c: appends a run (struct nw_run) to the list of runs of
 * `out`. If the run continues the bytes of the last run in the list, joins
 * both. */
NW_MUST_CHECK nw_status nw_runs_add(struct nw_typemap *out,
                                    const struct nw_run *run);
/* Appends the runs of `part` n times to `out`, at byte offsets at[0], at[0] +
 * at[1], at[0] + 2 at[1], ... */
NW_MUST_CHECK nw_status nw_runs_repeat(struct nw_typemap *out,
                                       const struct nw_typemap *part, int64_t n,
                                       const MPI_Aint at[2]);

#endif
