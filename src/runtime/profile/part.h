/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The format of a part file FILE.part.RANK.LAUNCH. It stores the counts of one
 * rank: a header of 4096 bytes, then records of 512 bytes. LAUNCH is a number
 * of 16 hexadecimal digits that is equal on all ranks of a program. The file is
 * written while the program runs, so that the counts survive a crash. It is in
 * the byte order of the host, since it is read on the machine that wrote it.
 */
#ifndef NW_PROFILE_PART_H
#define NW_PROFILE_PART_H

#include <stddef.h>
#include <stdint.h>

#define NW_PART_MAGIC "nwpart 1"
#define NW_PART_ORDER 0x01020304u
#define NW_PART_HEADER 4096
#define NW_PART_PROGRAM 3072

/* How the rank ended. */
enum nw_part_state {
    NW_PART_RUNNING = 1, /* still running, or killed */
    NW_PART_ABORTED,     /* called MPI_Abort */
    NW_PART_EXITED,      /* exited without MPI_Finalize */
    NW_PART_FINALIZED,   /* MPI_Finalize was reached */
};

/* The kind of messages in a record. In the first four classes, the kinds of
 * memory of both buffers are known; they are in the order of enum nw_kind. For
 * a point-to-point message, they are not. Its sender records it with the kind
 * of the send buffer. Its receiver records it, too, but only if the receive
 * buffer is in GPU memory. */
enum nw_part_class {
    NW_PART_HH = 1,
    NW_PART_GG,
    NW_PART_HG,
    NW_PART_GH,
    NW_PART_SENT_HOST,
    NW_PART_SENT_GPU,
    NW_PART_RECEIVED_GPU, /* received; `peer` is the source */
    NW_PART_TIME,         /* the time in one MPI function, not messages */
    NW_PART_CLASS_END
};

/* Returns true if messages are point-to-point messages whose buffer on the
 * recording rank is in GPU memory. If no rank has such a record, all
 * point-to-point messages are from host to host memory. */
static inline int nw_part_is_gpu_end(int class)
{
    return class == NW_PART_SENT_GPU || class == NW_PART_RECEIVED_GPU;
}

#define NW_PART_SIZES 60
#define NW_PART_NO_TAG (-1)
/* The bytes of a function's name with its NUL, and the number of bytes of the
 * name in each word of `sizes`. */
#define NW_PART_NAME 42
#define NW_PART_NAME_STEP 7

struct nw_part_record {
    int32_t peer;   /* rank in MPI_COMM_WORLD; NW_PART_TIME: number of the
                       function or NW_CALL_RUN (count.h) */
    int16_t tag;    /* made from tag and size class by point_to_point.c;
                       NW_PART_NO_TAG: no tag */
    uint16_t phase; /* number of the phase (phases.h) */
    uint8_t class;  /* enum nw_part_class; 0 while being created */
    /* in the first four classes: 1 if `peer` is the source, 0 if it is the
     * destination */
    uint8_t inward;
    uint8_t is_new;           /* changed since it was last written */
    uint8_t origin;           /* enum nw_origin plus 1; 0 if unknown */
    uint32_t index;           /* index of this record */
    uint64_t bytes, messages; /* NW_PART_TIME: nanoseconds, calls */
    /* The number of messages in each size class. Class 0 is 0 bytes, class b is
     * 2^(b-1) to 2^b - 1 bytes; the last class also contains all larger
     * messages. For NW_PART_TIME this is the name of the function, with 7 bytes
     * in each word, since gather_and_write.c sends only 56 bits of each word.
     */
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
    /* messages to processes outside MPI_COMM_WORLD */
    uint64_t outside_bytes, outside_messages;
    /* arguments of the program, joined by blanks */
    char program[NW_PART_PROGRAM];
};
_Static_assert(sizeof(struct nw_part_header) <= NW_PART_HEADER, "one page");

/* Stores the function's name in a record of class NW_PART_TIME. `name` is
 * shorter than NW_PART_NAME. */
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
