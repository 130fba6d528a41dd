/* SPDX-License-Identifier: BSD-3-Clause */
/* Validates incoming messages: their length, kind and ranks are checked before
 * anything else in them is used. */
#include "channel/proto/wire.h"

#include "base/status.h"
#include "base/text.h"

#include <string.h>

size_t nw_wire_size(enum nw_wire_kind kind)
{
    if (kind == NW_WIRE_OPEN)
        return sizeof(struct nw_wire);
    if (kind == NW_WIRE_CTS || kind == NW_WIRE_DONE || kind == NW_WIRE_CMA)
        return offsetof(struct nw_wire, handle);
    return NW_WIRE_HEADER;
}

static nw_status wire_check(const struct nw_wire *wire, size_t length,
                            int32_t count)
{
    if (wire->magic != NW_WIRE_MAGIC)
        return nw_fail(NW_EFORMAT, "a message of another program arrived");
    if (wire->version != NW_WIRE_VERSION)
        return nw_fail(NW_EFORMAT,
                       "a peer speaks version %d of the channel, we speak %d",
                       wire->version, NW_WIRE_VERSION);
    if (!wire->kind || wire->kind >= NW_WIRE_KINDS)
        return nw_fail(NW_EFORMAT, "a message of unknown kind %d arrived",
                       wire->kind);
    if (wire->source < 0 || wire->source >= count)
        return nw_fail(
            NW_EFORMAT,
            "a message of rank %d arrived, but there are only %d rank%s",
            wire->source, count, nw_plural((uint64_t)count));
    if (wire->kind <= NW_WIRE_RTS && wire->tag < 0)
        return nw_fail(NW_EFORMAT, "a message with tag %d arrived", wire->tag);
    if (length < nw_wire_size(wire->kind))
        return nw_fail(NW_EFORMAT, "a message of only %zu byte%s arrived",
                       length, nw_plural((uint64_t)length));
    length -= nw_wire_size(wire->kind);
    if (wire->kind == NW_WIRE_PART && length && length < wire->bytes)
        return NW_OK;
    if (length != (wire->kind == NW_WIRE_EAGER ? wire->bytes : 0))
        return nw_fail(NW_EFORMAT,
                       "a message announces %llu byte%s and has %zu",
                       (unsigned long long)wire->bytes,
                       nw_plural((uint64_t)wire->bytes), length);
    return NW_OK;
}

nw_status nw_wire_read(const void *data, size_t length, int32_t count,
                       struct nw_wire *out)
{
    struct nw_wire wire;
    size_t bytes;
    nw_status status;

    if (length < NW_WIRE_HEADER)
        return nw_fail(NW_EFORMAT, "a message of only %zu byte%s arrived",
                       length, nw_plural((uint64_t)length));
    memcpy(&wire, data, NW_WIRE_HEADER);
    status = wire_check(&wire, length, count);
    if (status)
        return status;
    memcpy(out, &wire, NW_WIRE_HEADER);
    bytes = nw_wire_size(wire.kind);
    if (bytes > NW_WIRE_HEADER)
        memcpy((char *)out + NW_WIRE_HEADER,
               (const char *)data + NW_WIRE_HEADER, bytes - NW_WIRE_HEADER);
    if (wire.kind == NW_WIRE_CMA && out->key >= NW_WIRE_WORDS)
        return nw_fail(NW_EFORMAT,
                       "a damaged message names entry %llu of the sender's "
                       "acknowledgement page, which has only %d",
                       (unsigned long long)out->key, NW_WIRE_WORDS);
    return NW_OK;
}
