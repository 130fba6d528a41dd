/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes over the wire. Both ends are ours and of one byte order; nothing
 * read here is trusted before nw_wire_read has seen it. */
#ifndef NW_CHANNEL_PROTO_WIRE_H
#define NW_CHANNEL_PROTO_WIRE_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    NW_WIRE_MAGIC = 0x574e,
    NW_WIRE_VERSION = 9,
    NW_WIRE_HEADER = 40, /* bytes before an eager payload */
    NW_WIRE_WORDS = 64,  /* of a sender's board */
};

enum nw_wire_kind {
    NW_WIRE_EAGER = 1, /* payload follows */
    NW_WIRE_HEAD,      /* payload comes as the next message */
    NW_WIRE_PART,      /* some payload follows, the rest in next messages */
    NW_WIRE_FAILED,    /* its payload could not be read: ends its receive */
    NW_WIRE_FETCH,     /* RTS, or to be read at address, told by word key */
    NW_WIRE_ASK,       /* RTS, and rather into GPU memory that is opened */
    NW_WIRE_RTS,       /* ready to send `bytes` */
    NW_WIRE_CTS,       /* clear to write bytes at address */
    NW_WIRE_DONE,      /* these bytes are there */
    NW_WIRE_CREDIT,    /* only credits */
    NW_WIRE_BYE,       /* closes */
    NW_WIRE_OPEN,      /* open this GPU memory and copy into it */
    NW_WIRE_ABORT,     /* of a rendezvous: the other end cannot go on */
    NW_WIRE_KINDS
};

/* The header of a message. Every message has its first 40 bytes. A rendezvous
 * has the bytes up to `handle`, and an offer of GPU memory (OPEN) has all of
 * them: its address is an offset in the memory of the handle, and its key is
 * the id of the buffer. */
struct nw_wire {
    uint16_t magic;
    uint8_t version, kind;
    int32_t source;
    int32_t tag;
    uint16_t credits; /* slots given back */
    uint16_t order;   /* EAGER to RTS: counts them, for each peer; CTS: not 0
                         where what was to be read cannot be; DONE of no bytes:
                         not 0 if no memory of the receiver can be opened */
    uint64_t bytes;   /* DONE: 0 if the memory offered could not be opened */
    uint64_t id;      /* RTS, FETCH: the sender's; CTS, OPEN: that; DONE: the
                         receiver's; ABORT: that of who hears it */
    uint64_t nonce;   /* of the receiver, who refuses any other */
    uint64_t to;      /* CTS, OPEN: the receiver's */
    uint64_t offset;  /* FETCH: whether the time of the read is asked for */
    uint64_t address, key;
    char handle[64];
};

static inline bool nw_wire_is_rts(const struct nw_wire *wire)
{
    return wire->kind >= NW_WIRE_FETCH && wire->kind <= NW_WIRE_RTS;
}

/* A small message's header in the word that libfabric carries beside a payload
 * (FI_REMOTE_CQ_DATA), which then is the whole message and one piece: from the
 * top a mark, 31 bits of tag, 16 of source, 8 of order, 8 of credits. All ends
 * agreed on the version, ranks and credits when they met; a word without the
 * mark belongs to a payload that comes behind its HEAD or PART. */
enum { NW_WIRE_WORD_RANKS = 1 << 16, NW_WIRE_WORD_CREDITS = 1 << 8 };
#define NW_WIRE_WORD (UINT64_C(1) << 63)

static inline uint64_t nw_wire_word(const struct nw_wire *wire)
{
    return NW_WIRE_WORD | (uint64_t)wire->tag << 32 |
           (uint64_t)wire->source << 16 |
           (uint64_t)(wire->order & UINT8_MAX) << 8 | wire->credits;
}

/* What the word says of a payload of `length` bytes, as an EAGER's header; the
 * order's lower bits. False: of a rank that there is not. */
static inline bool nw_wire_read_word(uint64_t word, size_t length,
                                     int32_t count, struct nw_wire *out)
{
    out->kind = NW_WIRE_EAGER;
    out->source = (int32_t)(word >> 16 & UINT16_MAX);
    out->tag = (int32_t)(word >> 32 & INT32_MAX);
    out->credits = (uint16_t)(word & UINT8_MAX);
    out->order = (uint16_t)(word >> 8 & UINT8_MAX);
    out->bytes = length;
    return out->source < count;
}

/* The word beside a payload that comes behind its HEAD or PART: 31 bits of the
 * receiver's nonce, and the rank that sends it. Some providers carry 32 bits,
 * so only the rank. */
static inline uint64_t nw_wire_payload_word(uint64_t nonce, int32_t rank)
{
    return (nonce & INT32_MAX) << 32 | (uint32_t)rank;
}

/* Bytes of a message of this kind, without payload. */
size_t nw_wire_size(enum nw_wire_kind kind);
/* Checks what can be checked without knowing the peer; `count` ranks. The
 * payload of an eager message must be all that follows, of a part less. Only
 * what messages of this kind have is written. */
NW_MUST_CHECK nw_status nw_wire_read(const void *data, size_t length,
                                     int32_t count, struct nw_wire *out);

/* The same of a whole eager message, for the price of its copy; false: ask
 * nw_wire_read. */
static inline bool nw_wire_read_eager(const void *data, size_t length,
                                      int32_t count, struct nw_wire *out)
{
    struct nw_wire wire;

    if (length < NW_WIRE_HEADER)
        return false;
    memcpy(&wire, data, NW_WIRE_HEADER);
    if (wire.magic != NW_WIRE_MAGIC || wire.version != NW_WIRE_VERSION ||
        wire.kind != NW_WIRE_EAGER || wire.source < 0 || wire.source >= count ||
        wire.tag < 0 || wire.bytes != length - NW_WIRE_HEADER)
        return false;
    memcpy(out, &wire, NW_WIRE_HEADER);
    return true;
}

#endif
