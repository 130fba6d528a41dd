/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counters of one process: for each communicator, equal calls are one line of
 * the process's file. All functions are for any thread, take NULL for a
 * context, and never fail.
 */
#ifndef NW_NCCL_RECORD_H
#define NW_NCCL_RECORD_H

#include <stdint.h>

/* One call as NCCL reports it. Texts may be NULL. */
struct nw_nccl_seen {
    const char *function, *algorithm;
    int root;       /* or the peer */
    uint64_t bytes; /* count times size of the type */
};

/* A new communicator; NULL if nothing is to be recorded. */
void *nw_nccl_record_open(void);
/* The id and the rank of this process; later calls change nothing. */
void nw_nccl_record_comm(void *context, uint64_t comm, int rank);
void nw_nccl_record_size(void *context, int size);
void nw_nccl_record_call(void *context, const struct nw_nccl_seen *seen);
/* Writes what is new and frees the context. */
void nw_nccl_record_close(void *context);

#endif
