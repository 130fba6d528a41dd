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
    NW_WIRE_HEADER = 40, /* size in bytes of the header before an eager
                            payload */
    NW_WIRE_WORDS = 64,  /* words of an acknowledgement page (cma.c) */
};

enum nw_wire_kind {
    NW_WIRE_EAGER = 1, /* the payload follows the header in this message */
    NW_WIRE_HEAD,      /* the payload comes in one or more later messages */
    NW_WIRE_PART,      /* the first part of the payload follows the header; the
                          other parts come as later messages */
    /* Replaces a message whose payload the sender could not read from GPU
     * memory. */
    NW_WIRE_FAILED,
    /* An RTS whose receiver may also read the payload at `address` in the
     * sender's memory, and then confirms the read in word `key` of the sender's
     * acknowledgement page. */
    NW_WIRE_CMA,
    /* An RTS whose sender asks the receiver to offer its GPU memory (OPEN). */
    NW_WIRE_ASK,
    NW_WIRE_RTS,    /* announces a message of `bytes` bytes */
    NW_WIRE_CTS,    /* grants `bytes` bytes of memory at `address` for remote
                       writes */
    NW_WIRE_DONE,   /* reports that `bytes` bytes were written to granted or
                       offered memory */
    NW_WIRE_CREDIT, /* returns credits and has no other content */
    NW_WIRE_BYE,    /* says that this rank closes its channel */
    NW_WIRE_OPEN,   /* offers GPU memory, which the peer may open by CUDA IPC */
    NW_WIRE_ABORT,  /* says that this rank cannot finish the rendezvous */
    NW_WIRE_KINDS
};

/* The header of a message. Messages of all kinds have its first 40 bytes, which
 * end with `nonce`. CTS, DONE and CMA also have the bytes before `handle`. OPEN
 * has all bytes: `handle` is a CUDA IPC handle, `address` the offset in that
 * allocation, and `key` the buffer id of CUDA. */
struct nw_wire {
    uint16_t magic;
    uint8_t version, kind;
    int32_t source;
    int32_t tag;      /* the message's tag; in CTS: 1 if it grants the last
                         bytes, else 0 */
    uint16_t credits; /* number of credits that the message's sender returns to
                         its receiver */
    /* In kinds EAGER to RTS: the message's number in the sequence from this
     * sender to this receiver. In CTS: not 0 if the receiver cannot read memory
     * offered by CMA. In a DONE of 0 bytes: not 0 if the sender can open no
     * memory of the receiver. */
    uint16_t order;
    uint64_t bytes; /* size of the message, grant or write; in DONE, 0 if the
                       offered memory could not be opened */
    /* Id of the request to which the message belongs. In RTS, CMA, CTS and
     * OPEN: of the sending request. In DONE: of the receive. In ABORT: of the
     * request at the rank that gets the ABORT. */
    uint64_t id;
    uint64_t nonce;  /* of the rank that gets the message (nonce.h) */
    uint64_t to;     /* in CTS and OPEN: the id of the receive */
    uint64_t offset; /* in CMA: not 0 if the receiver is to report the
                        duration of its read; in CTS, DONE: first byte of the
                        message in the grant or write */
    uint64_t address, key;
    char handle[64];
};

static inline bool nw_wire_is_rts(const struct nw_wire *wire)
{
    return wire->kind >= NW_WIRE_CMA && wire->kind <= NW_WIRE_RTS;
}

/* The header of a small message, packed into the 64-bit word that libfabric
 * carries beside the payload (FI_REMOTE_CQ_DATA). The payload is then the whole
 * message. From the highest bit on, the word has 1 bit as a mark, 31 bits of
 * tag, 16 of source rank, 8 of sequence number and 8 of credits. The version
 * need not be sent, since all ranks compared it at open. A word without the
 * mark accompanies a payload that follows its HEAD or PART. */
enum { NW_WIRE_WORD_RANKS = 1 << 16, NW_WIRE_WORD_CREDITS = 1 << 8 };
#define NW_WIRE_WORD (UINT64_C(1) << 63)

static inline uint64_t nw_wire_word(const struct nw_wire *wire)
{
    return NW_WIRE_WORD | (uint64_t)wire->tag << 32 |
           (uint64_t)wire->source << 16 |
           (uint64_t)(wire->order & UINT8_MAX) << 8 | wire->credits;
}

/* Decodes the word beside a payload of `length` bytes into the header of an
 * EAGER message. out->order gets only the lower 8 bits of the sequence number.
 * Returns false if the source rank is not below `count`. */
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

/* Returns the size in bytes of a message of this kind, without its payload. */
size_t nw_wire_size(enum nw_wire_kind kind);
/* Checks a received message of `length` bytes in a channel of `count` ranks,
 * and copies its header to *out; only the fields that its kind uses are set.
 * Returns NW_EFORMAT if the message is invalid. The payload of an EAGER must
 * fill all bytes after the header; that of a PART must be shorter than the
 * whole payload. */
NW_MUST_CHECK nw_status nw_wire_read(const void *data, size_t length,
                                     int32_t count, struct nw_wire *out);

/* Checks a received EAGER message and copies its header to *out. This is a fast
 * path for the most common messages: if it returns false, call nw_wire_read. */
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
