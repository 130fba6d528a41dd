/* SPDX-License-Identifier: BSD-3-Clause */
/* Two counters in memory that the ranks of a node share. Each end of a
 * connection stores the number of the last exchange for which its event is
 * recorded in a stream. They do not show that the GPU has reached the event;
 * the other end makes its stream wait for it. */
#ifndef NW_HALO_EXCHANGE_GPUS_FLAGS_H
#define NW_HALO_EXCHANGE_GPUS_FLAGS_H

#include <stdatomic.h>
#include <stdint.h>

struct nw_halo_flags {
    /* number of the last exchange for which the sender may write */
    _Alignas(64) _Atomic uint64_t free;
    /* number of the last exchange whose writes are queued */
    _Alignas(64) _Atomic uint64_t written;
};

static inline int nw_halo_flag_is(_Atomic uint64_t *flag, uint64_t count)
{
    return atomic_load_explicit(flag, memory_order_acquire) >= count;
}

static inline void nw_halo_flag_set(_Atomic uint64_t *flag, uint64_t count)
{
    atomic_store_explicit(flag, count, memory_order_release);
}

#endif
