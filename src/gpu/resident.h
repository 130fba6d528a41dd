/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol between the CPU and the resident kernel. The CPU writes orders and
 * payload into one memory, and the GPU writes answers into another. Neither
 * reads the memory that it writes. */
#ifndef NW_GPU_RESIDENT_H
#define NW_GPU_RESIDENT_H

#include <stdint.h>

enum {
    NW_RESIDENT_DEPTH = 16,       /* orders, in turn */
    NW_RESIDENT_PIECE = 8192,     /* bytes of each */
    NW_RESIDENT_ROOM = 8192 + 64, /* so that it begins as its target does */
    NW_RESIDENT_ALIGN = 16,       /* bytes that a thread moves at once */
    NW_RESIDENT_LINE = 64,
};

/* The only kernel of its text. */
#define NW_RESIDENT_KERNEL "nw_resident"

enum nw_resident_work { NW_RESIDENT_IN, NW_RESIDENT_OUT, NW_RESIDENT_LEAVE };

/* Half of the GPU's address in each word, and the turn's low 16 bits on top:
 * an order is there once both words are of its turn, in whatever order they
 * are read. Between them, the bytes in one and the work in the other. */
struct nw_resident_order {
    uint64_t low, high;
    uint64_t rest[6]; /* of its line */
};

struct nw_resident_inbox {
    struct nw_resident_order order[NW_RESIDENT_DEPTH];
    char payload[NW_RESIDENT_DEPTH][NW_RESIDENT_ROOM];
};

struct nw_resident_outbox {
    uint64_t alive; /* the epoch of the kernel that has begun */
    uint64_t gone;  /* of the one that looks at no order any more */
    uint64_t done;  /* the last turn whose bytes are in place */
    uint64_t rest[5];
    char payload[NW_RESIDENT_DEPTH][NW_RESIDENT_ROOM];
};

/* The argument of the kernel; addresses are the GPU's. */
struct nw_resident {
    uint64_t inbox, outbox;
    uint64_t epoch, turn; /* who it is, and the first turn it takes */
    uint64_t idle_ns;     /* it leaves after so long without an order */
    uint64_t lease_ns;    /* and after so long in any case */
};

static inline uint64_t nw_resident_word(uint64_t half, uint64_t middle,
                                        uint64_t turn)
{
    return (half & 0xffffffffu) | middle << 32 | turn << 48;
}

#endif
