/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format. Both ends run this library and have one byte order.
 * nw_wire_read must check each message before its fields are used. */
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
    NW_WIRE_PART,      /* some payload follows, more in later messages */
    NW_WIRE_FAILED,    /* no payload: the sender could not read it */
    NW_WIRE_FETCH,     /* RTS; or read at `address` and confirm in word `key` */
    NW_WIRE_ASK,       /* RTS; prefers GPU memory that the sender opens */
    NW_WIRE_RTS,       /* ready to send `bytes` */
    NW_WIRE_CTS,       /* clear to write bytes at address */
    NW_WIRE_DONE,      /* these bytes are there */
    NW_WIRE_CREDIT,    /* only credits */
    NW_WIRE_BYE,       /* closes */
    NW_WIRE_OPEN,      /* open this GPU memory and copy into it */
    NW_WIRE_ABORT,     /* the other end cannot finish the rendezvous */
    NW_WIRE_KINDS
};

/* The header of a message. Every message has its first 40 bytes. A rendezvous
 * has the bytes up to `handle`. An offer of GPU memory (OPEN) has all bytes:
 * its address is an offset in the memory of the handle, and its key is the id
 * of the buffer. */
struct nw_wire {
    uint16_t magic;
    uint8_t version, kind;
    int32_t source;
    int32_t tag;
    uint16_t credits; /* slots given back */
    /* EAGER to RTS: sequence number for each peer; CTS: not 0 if the receiver
     * cannot read the offered memory; DONE of no bytes: not 0 if no memory of
     * the receiver can be opened. */
    uint16_t order;
    uint64_t bytes; /* DONE: 0 if the memory offered could not be opened */
    /* RTS, FETCH, CTS, OPEN: the sender's request; DONE: the receiver's; ABORT:
     * that of the rank that gets the ABORT. */
    uint64_t id;
    uint64_t nonce;  /* the receiver's, which refuses other nonces */
    uint64_t to;     /* CTS, OPEN: the receiver's request */
    uint64_t offset; /* FETCH: not 0 to ask for the time of the read */
    uint64_t address, key;
    char handle[64];
};

static inline bool nw_wire_is_rts(const struct nw_wire *wire)
{
    return wire->kind >= NW_WIRE_FETCH && wire->kind <= NW_WIRE_RTS;
}

/* The header of a small message, in the word that libfabric carries beside the
 * payload (FI_REMOTE_CQ_DATA). The payload is then the whole message. From the
 * top, the word has a mark, 31 bits of tag, 16 of source, 8 of order and 8 of
 * credits. All ranks agreed on version, rank count and credits at open. A word
 * without the mark belongs to a payload that follows its HEAD or PART. */
enum { NW_WIRE_WORD_RANKS = 1 << 16, NW_WIRE_WORD_CREDITS = 1 << 8 };
#define NW_WIRE_WORD (UINT64_C(1) << 63)

static inline uint64_t nw_wire_word(const struct nw_wire *wire)
{
    return NW_WIRE_WORD | (uint64_t)wire->tag << 32 |
           (uint64_t)wire->source << 16 |
           (uint64_t)(wire->order & UINT8_MAX) << 8 | wire->credits;
}

/* Reads the word beside a payload of `length` bytes as the header of an EAGER
 * message, with only the lower bits of the order. False: the rank is out of
 * range. */
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
/* Checks a message in a channel of `count` ranks, without knowing the peer. The
 * payload of an eager message must be all bytes that follow the header, that of
 * a part less. Only the fields that messages of this kind have are written. */
NW_MUST_CHECK nw_status nw_wire_read(const void *data, size_t length,
                                     int32_t count, struct nw_wire *out);

/* Reads a whole eager message at the cost of copying its header; false: call
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
