/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of this process. Each communicator has one counter for all calls
 * that are alike (record.c); the counter is a line of the process's file. All
 * functions are thread-safe, accept NULL as context, and never fail.
 */
#ifndef NW_NCCL_RECORD_H
#define NW_NCCL_RECORD_H

#include <stdint.h>

/* One call as NCCL reports it. Strings may be NULL. */
struct nw_nccl_seen {
    const char *function, *algorithm;
    int root;       /* or the peer of a send or receive */
    uint64_t bytes; /* count times size of the datatype */
};

/* Begins a communicator and returns its context, or NULL if nothing is
 * recorded. */
void *nw_nccl_record_open(void);
/* Sets the communicator's id and this process's rank in it; only the first call
 * for a context has an effect. */
void nw_nccl_record_comm(void *context, uint64_t comm, int rank);
void nw_nccl_record_size(void *context, int size);
void nw_nccl_record_call(void *context, const struct nw_nccl_seen *seen);
/* Writes the communicator's changed counts and frees the context. */
void nw_nccl_record_close(void *context);

#endif
