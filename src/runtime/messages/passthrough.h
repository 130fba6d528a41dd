/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Together with an MPI that takes GPU memory itself: point-to-point messages
 * are staged in the sizes for which staging is faster. All other calls go to
 * MPI.
 * The two ends of a message may decide differently, since MPI carries the same
 * bytes in both cases.
 */
#ifndef NW_MESSAGES_PASSTHROUGH_H
#define NW_MESSAGES_PASSTHROUGH_H

#include "runtime/mpi_symbols.h"

#include <nodewise/status.h>
#include <stdbool.h>
#include <stdint.h>

enum { NW_ROUNDS = 7, NW_PASSTHROUGH_CLASSES = 32 };

/* Half a round trip between two GPU buffers of one size, in microseconds. */
struct nw_round_trip {
    uint64_t bytes;
    double ours, theirs;
};

/* passthrough_benchmark.c, collective over MPI_COMM_WORLD: measures between
 * ranks 0 and 1 on GPU 0, or reads earlier results. False on failure. */
bool nw_passthrough_start(void);
/* True after a successful start: MPI handles what we do not stage. */
extern bool nw_passthrough;
/* One bit for each power of two: messages up to this size are staged. */
void nw_passthrough_set(uint32_t classes);
bool nw_passthrough_is_ours(uint64_t bytes);

/* Waits until the address is known as GPU memory, which takes a moment after a
 * context is created. False after a timeout. */
bool nw_passthrough_sees(const void *memory);

/* passthrough_cache.c: results in the user's cache folder, per host and MPI
 * library (near: ranks 0 and 1 are on the same host). */
NW_MUST_CHECK nw_status
nw_passthrough_cache_read(bool near, struct nw_round_trip rounds[NW_ROUNDS]);
NW_MUST_CHECK nw_status nw_passthrough_cache_write(
    bool near, const struct nw_round_trip rounds[NW_ROUNDS]);

#endif
