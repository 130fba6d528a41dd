/* SPDX-License-Identifier: BSD-3-Clause */
/* The size from which a message uses the direct path: from a variable, from the
 * table of nodewise channel tune, or measured. */
#include "runtime/messages/direct.h"

#include "channel/tune/thresholds.h"
#include "runtime/messages/library.h"

#include <limits.h>
#include <pthread.h>

/* A message of this size opens the pool, and then the threshold is measured.
 * Whether the direct path is faster than staging depends on the machine
 * (bench/results/gpu-messages-2026-11-22.txt). */
enum { FROM_BYTES = 65536, LEAST_BYTES = 1024 };

static pthread_once_t once = PTHREAD_ONCE_INIT;
static uint64_t from_bytes; /* 0: not known yet */
static bool looked_up;      /* in the table of nodewise channel tune */

static void read_threshold(void)
{
    from_bytes = nw_messages_setting("NODEWISE_GPU_DIRECT_FROM", 0, LEAST_BYTES,
                                     INT_MAX);
}

void nw_direct_set(uint64_t from)
{
    (void)pthread_once(&once, read_threshold);
    __atomic_store_n(&from_bytes, from, __ATOMIC_RELAXED);
}

/* The table has an entry per GPU, so the driver must be open. */
static void direct_threshold_look_up(void)
{
    char name[NW_MPI_NAME];
    uint64_t from;

    nw_mpi_name(name);
    if (nw_mpi_rows_find(name, &from))
        nw_direct_set(from < LEAST_BYTES ? LEAST_BYTES : from);
    __atomic_store_n(&looked_up, true, __ATOMIC_RELAXED);
}

/* Until a threshold is measured or found in the table, FROM_BYTES is used. */
bool nw_direct_is_large(uint64_t bytes, const char *first)
{
    uint64_t from;

    (void)pthread_once(&once, read_threshold);
    from = __atomic_load_n(&from_bytes, __ATOMIC_RELAXED);
    if (!from && bytes >= LEAST_BYTES &&
        !__atomic_load_n(&looked_up, __ATOMIC_RELAXED) && nw_gpu_holds(first) &&
        !nw_messages_open_gpu()) {
        direct_threshold_look_up();
        from = __atomic_load_n(&from_bytes, __ATOMIC_RELAXED);
    }
    return bytes >= (from ? from : FROM_BYTES) && bytes <= INT_MAX;
}

void nw_direct_measure(int32_t gpu, char *pool, size_t bytes)
{
    if (!__atomic_load_n(&from_bytes, __ATOMIC_RELAXED))
        __atomic_store_n(&from_bytes,
                         nw_direct_threshold(gpu, pool, bytes, FROM_BYTES),
                         __ATOMIC_RELAXED);
}
