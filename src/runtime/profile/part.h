/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The counts of one rank as its part file FILE.part.RANK.LAUNCH stores them: a
 * page of header, then records of 512 bytes. LAUNCH is 16 hexadecimal digits,
 * equal on all ranks of a program. The file is written while the program runs,
 * so that it survives any end of the program. It is in host byte order, since
 * the machines that wrote it also read it.
 */
#ifndef NW_PROFILE_PART_H
#define NW_PROFILE_PART_H

#include <stddef.h>
#include <stdint.h>

#define NW_PART_MAGIC "nwpart 1"
#define NW_PART_ORDER 0x01020304u
#define NW_PART_HEADER 4096
#define NW_PART_PROGRAM 3072

/* How the rank's part of the run ended. */
enum nw_part_state {
    NW_PART_RUNNING = 1, /* killed, or still there */
    NW_PART_ABORTED,     /* it called MPI_Abort */
    NW_PART_EXITED,      /* left without MPI_Finalize */
    NW_PART_FINALIZED,   /* counted to the end */
};

/* The kind of messages in a record. The first four are whole edges, in the
 * order of enum nw_kind. The sender of a message between two calls records the
 * side of its buffer; a receiver records the message only if it arrives in GPU
 * memory. */
enum nw_part_class {
    NW_PART_HH = 1,
    NW_PART_GG,
    NW_PART_HG,
    NW_PART_GH,
    NW_PART_SENT_HOST,
    NW_PART_SENT_GPU,
    NW_PART_RECEIVED_GPU, /* peer is the source */
    NW_PART_TIME,         /* no message: time in one MPI function */
    NW_PART_CLASS_END
};

/* True if the record is one end of messages that the other end counts, too. */
static inline int nw_part_is_gpu_end(int class)
{
    return class == NW_PART_SENT_GPU || class == NW_PART_RECEIVED_GPU;
}

#define NW_PART_SIZES 60
#define NW_PART_NO_TAG (-1)
/* Bytes of a function's name with its NUL, and how many a size word holds. */
#define NW_PART_NAME 42
#define NW_PART_NAME_STEP 7

struct nw_part_record {
    int32_t peer;   /* rank in MPI_COMM_WORLD */
    int16_t tag;    /* NW_PART_NO_TAG where it plays no part */
    uint16_t phase; /* phases.h */
    uint8_t class;  /* 0 while the record is being made */
    uint8_t inward; /* whole edges: 1 where the bytes flow from peer to us */
    uint8_t is_new; /* since it was last written */
    uint8_t origin; /* enum nw_origin plus 1; 0 if unknown */
    uint32_t index; /* of the record */
    uint64_t bytes, messages; /* NW_PART_TIME: nanoseconds, calls */
    /* messages by size: 0, then from 2^(b-1) to 2^b - 1; the last holds all
     * that is larger. NW_PART_TIME: the name of the function, 7 bytes a word,
     * since a gathered word has room for no more */
    uint64_t sizes[NW_PART_SIZES];
};
_Static_assert(sizeof(struct nw_part_record) == 512, "8 records a page");

struct nw_part_header {
    char magic[8];
    uint32_t order;
    int32_t rank, rank_count;
    uint32_t state; /* enum nw_part_state */
    int32_t abort_code;
    uint32_t program_length;
    uint64_t record_count;
    /* to processes outside MPI_COMM_WORLD */
    uint64_t outside_bytes, outside_messages;
    char program[NW_PART_PROGRAM]; /* arguments, joined by blanks */
};
_Static_assert(sizeof(struct nw_part_header) <= NW_PART_HEADER, "one page");

/* `name` is shorter than NW_PART_NAME. */
static inline void nw_part_set_name(struct nw_part_record *record,
                                    const char *name)
{
    for (int i = 0; name[i] && i < NW_PART_NAME - 1; i++)
        record->sizes[i / NW_PART_NAME_STEP] |= (uint64_t)(unsigned char)name[i]
                                                << 8 * (i % NW_PART_NAME_STEP);
}

static inline void nw_part_get_name(const struct nw_part_record *record,
                                    char name[NW_PART_NAME])
{
    for (int i = 0; i < NW_PART_NAME; i++)
        name[i] = (char)(record->sizes[i / NW_PART_NAME_STEP] >>
                         8 * (i % NW_PART_NAME_STEP));
    name[NW_PART_NAME - 1] = '\0';
}

static inline int nw_part_size_class(uint64_t bytes)
{
    int bucket = bytes ? 64 - __builtin_clzll(bytes) : 0;

    return bucket < NW_PART_SIZES ? bucket : NW_PART_SIZES - 1;
}

#endif
