/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the layout of a connection's dense buffer. It contains the cells of
 * one field after the other, and in each field of one transfer after the other.
 * The start of each transfer is aligned for the widest loads and stores of the
 * kernels. */
#include "halo/exchange/gpus.h"

#define ALIGN ((size_t)16)

static size_t gpu_dense_layout_block(const struct nw_halo_transfer *transfer,
                                     size_t bytes)
{
    size_t cells = (size_t)(transfer->extent[0] * transfer->extent[1] *
                            transfer->extent[2]);

    return (cells * bytes + ALIGN - 1) / ALIGN * ALIGN;
}

static size_t field_bytes(const struct nw_halo_connection *connection,
                          int32_t field)
{
    size_t bytes = 0;

    for (size_t i = 0; i < connection->count; i++)
        bytes += gpu_dense_layout_block(&connection->transfer[i],
                                        connection->halo->field[field].bytes);
    return bytes;
}

/* The list of fields has two parts: joined fields, then one field for each
 * quantity if these differ. An exchange uses only one part, so the offsets of
 * both parts begin at 0. */
size_t nw_halo_dense_offset(const struct nw_halo_connection *connection,
                            int32_t field)
{
    const nw_halo *halo = connection->halo;
    size_t offset = 0;

    for (int32_t f = field < halo->joined_count ? 0 : halo->joined_count;
         f < field; f++)
        offset += field_bytes(connection, f);
    return offset;
}

size_t nw_halo_dense_bytes(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    size_t joined = 0, alone = 0;

    for (int32_t f = 0; f < halo->joined_count; f++)
        joined += field_bytes(connection, f);
    for (int32_t f = halo->joined_count; f < halo->field_count; f++)
        alone += field_bytes(connection, f);
    return joined > alone ? joined : alone;
}

bool nw_halo_all_active(const nw_halo *halo)
{
    for (int32_t i = 0; i < halo->active_count; i++)
        if (halo->active[i] >= halo->joined_count)
            return false;
    return halo->active_count == halo->joined_count;
}

int32_t nw_halo_spans(const struct nw_halo_connection *connection)
{
    return nw_halo_all_active(connection->halo)
               ? 1
               : connection->halo->active_count;
}

struct nw_halo_span nw_halo_span(const struct nw_halo_connection *connection,
                                 int32_t index)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_span span = {0, 0};

    if (nw_halo_all_active(halo)) {
        for (int32_t f = 0; f < halo->joined_count; f++)
            span.bytes += field_bytes(connection, f);
        return span;
    }
    span.offset = nw_halo_dense_offset(connection, halo->active[index]);
    span.bytes = field_bytes(connection, halo->active[index]);
    return span;
}
