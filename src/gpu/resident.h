/* SPDX-License-Identifier: BSD-3-Clause */
/* Protocol between the CPU and a resident kernel, which stays on the GPU until
 * the CPU stops it or its time ends. The CPU writes orders and payload into one
 * memory (inbox), and the GPU writes results into another (outbox). Neither
 * side reads the memory that it writes. */
#ifndef NW_GPU_RESIDENT_H
#define NW_GPU_RESIDENT_H

#include <stdint.h>

enum {
    NW_RESIDENT_DEPTH = 16,       /* maximum number of orders in the inbox */
    NW_RESIDENT_PIECE = 8192,     /* maximum bytes that an order copies */
    NW_RESIDENT_ROOM = 8192 + 64, /* bytes for the payload of an order, with
                                     space for its alignment */
    NW_RESIDENT_ALIGN = 16,       /* bytes that a thread copies at once */
    NW_RESIDENT_LINE = 64,
};

/* The name of the kernel in nw_gpu_resident_ptx. */
#define NW_RESIDENT_KERNEL "nw_resident"

/* Kinds of orders: copy into GPU memory, copy out of GPU memory, stop. */
enum nw_resident_work { NW_RESIDENT_IN, NW_RESIDENT_OUT, NW_RESIDENT_LEAVE };

/* An order: copy bytes between the payload and a GPU address. Each word has
 * half of the GPU address in its low 32 bits and the low 16 bits of the order's
 * number in its top 16 bits. In the bits between, `low` has the number of bytes
 * and `high` the kind of work. The words may be read in any order: if both have
 * the order's number, the order is complete. */
struct nw_resident_order {
    uint64_t low, high;
    uint64_t rest[6]; /* fills the 64-byte line */
};

struct nw_resident_inbox {
    struct nw_resident_order order[NW_RESIDENT_DEPTH];
    char payload[NW_RESIDENT_DEPTH][NW_RESIDENT_ROOM];
};

struct nw_resident_outbox {
    uint64_t alive; /* `epoch` of the kernel's argument, once it runs */
    uint64_t gone;  /* `epoch` of the kernel's argument, once it has stopped */
    uint64_t done;  /* number of the last completed order */
    uint64_t rest[5];
    char payload[NW_RESIDENT_DEPTH][NW_RESIDENT_ROOM];
};

/* The argument of the kernel; addresses are valid on the GPU. */
struct nw_resident {
    uint64_t inbox, outbox;
    /* number of this launch, and of the first order that it executes */
    uint64_t epoch, turn;
    uint64_t idle_ns;  /* ns without an order after which the kernel stops */
    uint64_t lease_ns; /* ns after which the kernel stops in any case */
};

/* Makes a word of an order from half of the address, the value for the bits
 * between, and the order's number. */
static inline uint64_t nw_resident_word(uint64_t half, uint64_t middle,
                                        uint64_t turn)
{
    return (half & 0xffffffffu) | middle << 32 | turn << 48;
}

#endif
