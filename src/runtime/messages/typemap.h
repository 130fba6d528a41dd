/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where the bytes of a datatype lie, in the order in which MPI packs them: what
 * copies between GPU and host memory need to know. Found once for each derived
 * datatype and kept with it.
 */
#ifndef NW_MESSAGES_TYPEMAP_H
#define NW_MESSAGES_TYPEMAP_H

#include "runtime/flavour.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes in one piece, repeated n[0] times `step[0]` apart, and all that n[1]
 * times: in this order they are packed. */
struct nw_run {
    MPI_Aint offset;
    size_t bytes;
    int64_t n[2];
    MPI_Aint step[2];
};

struct nw_typemap {
    int users;
    MPI_Datatype of;   /* what it was found for; may be freed by now */
    uint64_t id;       /* never given twice */
    size_t size;       /* packed bytes of one */
    MPI_Aint extent;   /* from one to the next */
    MPI_Aint lb;       /* of the first byte */
    size_t span;       /* from the first byte to the last of one */
    MPI_Datatype unit; /* all of it is of this type; MPI_BYTE where mixed */
    size_t unit_size;
    bool mixed; /* of several basic types */
    bool dense; /* one after the other without a gap */
    bool gaps;  /* runs hold bytes that MPI does not pack (MPI_DOUBLE_INT) */
    struct nw_run *run;
    size_t count, capacity;
};

/* One user more; to be dropped. */
NW_MUST_CHECK nw_status nw_typemap_of(MPI_Datatype type,
                                      struct nw_typemap **out);
/* A named datatype, one of those that were met before. */
bool nw_typemap_is_plain(MPI_Datatype type);
struct nw_typemap *nw_typemap_bytes(void); /* of MPI_BYTE, without a datatype */
void nw_typemap_drop(struct nw_typemap *layout);
void nw_typemaps_close(void);

/* What is told each piece, in packing order; false stops. */
typedef bool (*nw_typemap_visit)(void *context, MPI_Aint offset, size_t bytes);
void nw_typemap_walk(const struct nw_typemap *layout, int64_t count,
                     nw_typemap_visit visit, void *context);
/* The bytes from the first to the last of `count`, and where they begin. */
MPI_Aint nw_typemap_low(const struct nw_typemap *layout, int64_t count);
size_t nw_typemap_span(const struct nw_typemap *layout, int64_t count);

/* typemap_runs.c: a list of runs as it grows. */
NW_MUST_CHECK nw_status nw_runs_add(struct nw_typemap *out,
                                    const struct nw_run *run);
/* `n` times what `part` has, `step` apart, from `offset` on. */
NW_MUST_CHECK nw_status nw_runs_repeat(struct nw_typemap *out,
                                       const struct nw_typemap *part, int64_t n,
                                       const MPI_Aint at[2]);

#endif
