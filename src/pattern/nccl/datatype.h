/* SPDX-License-Identifier: BSD-3-Clause */
/* The sizes of NCCL's data types, by their numbers in nccl.h. */
#ifndef NW_PATTERN_NCCL_DATATYPE_H
#define NW_PATTERN_NCCL_DATATYPE_H

#include <stdint.h>

/* Bytes of one element; 1 for a type of a later NCCL. */
static inline uint64_t nw_nccl_type_bytes(uint64_t type)
{
    static const uint8_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

    return type < sizeof bytes ? bytes[type] : 1;
}

#endif
