/* SPDX-License-Identifier: BSD-3-Clause */
/* Sizes of NCCL's data types, which nccl.h numbers. */
#ifndef NW_PATTERN_NCCL_DATATYPE_H
#define NW_PATTERN_NCCL_DATATYPE_H

#include <stdint.h>

/* Returns the bytes of one element. Returns 1 for an unknown type, which a
 * later version of NCCL may define. */
static inline uint64_t nw_nccl_type_bytes(uint64_t type)
{
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

    return type < sizeof bytes ? bytes[type] : 1;
}

#endif
