/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For an MPI that accepts GPU memory itself: stages point-to-point messages of
 * those sizes for which staging is faster, and passes GPU memory to MPI in all
 * other calls. Sender and receiver of a message may decide differently, because
 * MPI transfers the same bytes in both cases.
 */
#ifndef NW_MESSAGES_PASSTHROUGH_H
#define NW_MESSAGES_PASSTHROUGH_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

enum { NW_ROUNDS = 7, NW_PASSTHROUGH_CLASSES = 32 };

/* The time of a message of `bytes` bytes between GPU buffers, which is half
 * that of a round trip, in microseconds: `ours` with staging, `theirs` by MPI
 * itself. */
struct nw_round_trip {
    uint64_t bytes;
    double ours, theirs;
};

/* In passthrough_benchmark.c: finds the sizes for which staging is faster, from
 * measurements between ranks 0 and 1 on GPU 0 or from stored results. Returns
 * false if that failed or if there is only one rank. Collective over
 * MPI_COMM_WORLD. */
bool nw_passthrough_start(void);
/* True after nw_passthrough_start has succeeded: MPI gets GPU memory itself,
 * except in point-to-point messages for which nw_passthrough_is_ours returns
 * true. */
extern bool nw_passthrough;
/* Sets the size classes to stage: bit b is for messages of more than 2^(b-1)
 * and up to 2^b bytes. */
void nw_passthrough_set(uint32_t classes);
bool nw_passthrough_is_ours(uint64_t bytes);

/* Waits until the driver reports `memory` as GPU memory, which takes some
 * milliseconds after its context was created. Returns false after 50 ms. */
bool nw_passthrough_sees(const void *memory);

/* In passthrough_cache.c: read and write measured times in the user's cache
 * folder, in one file per host, MPI library and value of `near`. near: ranks 0
 * and 1 are on the same host. */
NW_MUST_CHECK nw_status
nw_passthrough_cache_read(bool near, struct nw_round_trip rounds[NW_ROUNDS]);
NW_MUST_CHECK nw_status nw_passthrough_cache_write(
    bool near, const struct nw_round_trip rounds[NW_ROUNDS]);

#endif
