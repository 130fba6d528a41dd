/* SPDX-License-Identifier: BSD-3-Clause */
/* The wire format of the channel's messages. Both ends run this library and
 * have one byte order. nw_wire_read must check each message before its fields
 * are used. */
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
    NW_WIRE_WORDS = 64,  /* words of a sender's board (proto/cma.c) */
};

enum nw_wire_kind {
    NW_WIRE_EAGER = 1, /* the payload follows in this message */
    NW_WIRE_HEAD,      /* the payload comes as the next message */
    NW_WIRE_PART,      /* a part of the payload; later messages have the rest */
    /* The sender could not read the payload and sends none. */
    NW_WIRE_FAILED,
    /* An RTS whose receiver may instead read the bytes at `address` and confirm
     * the read in word `key` of the sender's board. */
    NW_WIRE_FETCH,
    /* An RTS whose sender asks the receiver to offer GPU memory (OPEN). */
    NW_WIRE_ASK,
    NW_WIRE_RTS,    /* the sender has `bytes` bytes to send */
    NW_WIRE_CTS,    /* the sender may write `bytes` bytes at `address` */
    NW_WIRE_DONE,   /* the sender has written these bytes */
    NW_WIRE_CREDIT, /* returns credits and has no other content */
    NW_WIRE_BYE,    /* the sender closes its channel */
    NW_WIRE_OPEN,   /* the sender may open this GPU memory */
    NW_WIRE_ABORT,  /* the sender of this cannot finish the rendezvous */
    NW_WIRE_KINDS
};

/* The header of a message. Every message has the first 40 bytes. A rendezvous
 * message has the bytes up to `handle`. An OPEN, which offers GPU memory, has
 * all bytes: `address` is then an offset in the memory that `handle`
 * identifies, and `key` is the id of the buffer. */
struct nw_wire {
    uint16_t magic;
    uint8_t version, kind;
    int32_t source;
    int32_t tag;
    uint16_t credits; /* receive slots that this message gives back */
    /* In EAGER to RTS: the sequence number of the message between these two
     * ranks. In CTS: not 0 if the receiver cannot read the offered memory. In a
     * DONE of 0 bytes: not 0 if no memory of the receiver can be opened. */
    uint16_t order;
    uint64_t bytes; /* DONE: 0 if the offered memory could not be opened */
    /* The request that the message belongs to. RTS, FETCH, CTS, OPEN: the id of
     * the sender's request; DONE: of the receiver's; ABORT: of the request at
     * the rank that gets the ABORT. */
    uint64_t id;
    uint64_t nonce;  /* the receiver's nonce; it refuses any other nonce */
    uint64_t to;     /* CTS, OPEN: id of the receiver's request */
    uint64_t offset; /* FETCH: not 0 to ask for the duration of the read */
    uint64_t address, key;
    char handle[64];
};

static inline bool nw_wire_is_rts(const struct nw_wire *wire)
{
    return wire->kind >= NW_WIRE_FETCH && wire->kind <= NW_WIRE_RTS;
}

/* The header of a small message, in the 64-bit word that libfabric carries
 * beside the payload (FI_REMOTE_CQ_DATA). The payload is then the whole
 * message. From the top, the word has a mark, 31 bits of tag, 16 of source, 8
 * of order and 8 of credits. All ranks agreed on version, rank count and
 * credits at open. A word without the mark belongs to a payload that follows
 * its HEAD or PART. */
enum { NW_WIRE_WORD_RANKS = 1 << 16, NW_WIRE_WORD_CREDITS = 1 << 8 };
#define NW_WIRE_WORD (UINT64_C(1) << 63)

static inline uint64_t nw_wire_word(const struct nw_wire *wire)
{
    return NW_WIRE_WORD | (uint64_t)wire->tag << 32 |
           (uint64_t)wire->source << 16 |
           (uint64_t)(wire->order & UINT8_MAX) << 8 | wire->credits;
}

/* Decodes the word beside a payload of `length` bytes into the header of an
 * EAGER message, with only the lower 8 bits of the order. Returns false if the
 * source rank is not below `count`. */
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

/* Returns the word beside a payload that follows its HEAD or PART: 31 bits of
 * the receiver's nonce, then the rank of the sender. A provider that carries
 * only 32 bits carries only the rank. */
static inline uint64_t nw_wire_payload_word(uint64_t nonce, int32_t rank)
{
    return (nonce & INT32_MAX) << 32 | (uint32_t)rank;
}

/* Returns the bytes of a message of this kind without its payload. */
size_t nw_wire_size(enum nw_wire_kind kind);
/* Checks a message of `length` bytes in a channel of `count` ranks and copies
 * its header to *out; NW_EFORMAT if the message is invalid. The payload of an
 * EAGER message must fill the bytes after the header; that of a PART must be
 * shorter than the message. Only the header fields of this kind of message are
 * written. */
NW_MUST_CHECK nw_status nw_wire_read(const void *data, size_t length,
                                     int32_t count, struct nw_wire *out);

/* Checks an EAGER message and copies its header to *out, faster than
 * nw_wire_read. Returns false if the message is not a valid EAGER message; then
 * call nw_wire_read. */
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
