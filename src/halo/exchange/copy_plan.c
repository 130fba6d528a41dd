/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares and runs the copies of a connection's cells, between two arrays or
 * between arrays and a dense buffer. Both ends of a connection use the same
 * order of cells. */
#include "halo/exchange/exchange.h"

#include <stdlib.h>

struct nw_halo_view nw_halo_view_of(const nw_halo *halo,
                                    const struct nw_halo_ending *ending,
                                    enum nw_halo_whose whose)
{
    const struct nw_halo_transfer *transfer = ending->transfer;
    int32_t id = ending->target ? transfer->to : transfer->from;
    const struct nw_halo_piece *piece = &halo->layout->piece[id];
    const int64_t *index = ending->target ? transfer->target : transfer->source;
    size_t at = (size_t)(whose ? id : halo->own_at[id]) * halo->quantity_count +
                ending->field->first;
    size_t pitch = whose ? halo->remote[at].pitch : halo->pitch[at];
    struct nw_halo_view view = {
        .at = whose == NW_HALO_OWN ? halo->base[at]
              : whose == NW_HALO_MAPPED
                  ? halo->remote[at].mapped
                  : (char *)(uintptr_t)halo->remote[at].address,
        .step = {(ptrdiff_t)ending->field->stride, (ptrdiff_t)pitch,
                 (ptrdiff_t)pitch * (ptrdiff_t)piece->allocated[1]},
    };

    for (int axis = 0; axis < 3; axis++) {
        bool back = !ending->target && transfer->mirror & 1u << axis;
        int64_t first = index[axis] + (back ? transfer->extent[axis] - 1 : 0);

        view.at += first * view.step[axis];
        if (back)
            view.step[axis] = -view.step[axis];
    }
    return view;
}

size_t nw_halo_active_bytes(const struct nw_halo_connection *connection)
{
    const nw_halo *halo = connection->halo;
    size_t bytes = 0;

    for (int32_t i = 0; i < halo->active_count; i++)
        bytes += halo->field[halo->active[i]].bytes;
    /* connection->bytes counts all quantities, so the quotient is the number of
     * cells */
    return bytes * (connection->bytes / halo->layout->domain.cell_bytes);
}

static nw_status copy_plan_make(const struct nw_halo_connection *connection,
                                struct nw_halo_copy_plan *out)
{
    out->transfer_count = connection->count;
    return nw_alloc((size_t)connection->halo->field_count * connection->count,
                    sizeof *out->copy, &out->copy);
}

/* Returns a copy with the extent of the transfer and the cell size of the
 * field. The caller sets source and target. */
static struct nw_halo_copy
copy_plan_begin(const struct nw_halo_transfer *transfer,
                const struct nw_halo_field *field)
{
    return (struct nw_halo_copy){
        .n = {transfer->extent[0], transfer->extent[1], transfer->extent[2]},
        .bytes = field->bytes};
}

nw_status nw_halo_copy_plan_make(const struct nw_halo_connection *connection,
                                 bool target, struct nw_halo_copy_plan *out)
{
    const nw_halo *halo = connection->halo;
    nw_status status = copy_plan_make(connection, out);

    for (int32_t f = 0; !status && f < halo->field_count; f++)
        for (size_t i = 0; i < connection->count; i++) {
            struct nw_halo_ending ending = {&connection->transfer[i],
                                            &halo->field[f], target};
            struct nw_halo_copy copy =
                copy_plan_begin(ending.transfer, ending.field);
            struct nw_halo_view dense = nw_halo_dense(copy.n, copy.bytes, NULL);
            struct nw_halo_view array =
                nw_halo_view_of(halo, &ending, NW_HALO_OWN);

            copy.to = target ? array : dense;
            copy.from = target ? dense : array;
            nw_halo_copy_prepare(&copy);
            out->copy[(size_t)f * connection->count + i] = copy;
        }
    return status;
}

void nw_halo_copy_plan_fini(struct nw_halo_copy_plan *packs)
{
    free(packs->copy);
    packs->copy = NULL;
}

#define BATCH 32 /* maximum number of copies that run together */

/* Packs the cells into the buffer, or unpacks them from it. Up to BATCH copies
 * run in turns of a few rows, because the interleaved fields of a transfer
 * share cache lines. */
static void run_packs(const struct nw_halo_connection *connection,
                      const struct nw_halo_copy_plan *packs, char *buffer,
                      bool unpack)
{
    const nw_halo *halo = connection->halo;
    struct nw_halo_copy batch[BATCH];
    size_t count = 0;

    for (size_t i = 0; i < packs->transfer_count; i++)
        for (int32_t a = 0; a < halo->active_count; a++) {
            struct nw_halo_copy *copy = &batch[count++];

            *copy =
                packs
                    ->copy[(size_t)halo->active[a] * packs->transfer_count + i];
            *(unpack ? &copy->from.at : &copy->to.at) = buffer;
            buffer += nw_halo_copy_bytes(copy);
            if (count == BATCH) {
                nw_halo_copy_run_all(batch, count);
                count = 0;
            }
        }
    nw_halo_copy_run_all(batch, count);
}

void nw_halo_copy_plan_pack(const struct nw_halo_connection *connection,
                            const struct nw_halo_copy_plan *packs, char *buffer)
{
    run_packs(connection, packs, buffer, false);
}

void nw_halo_copy_plan_unpack(const struct nw_halo_connection *connection,
                              const struct nw_halo_copy_plan *packs,
                              const char *buffer)
{
    run_packs(connection, packs, (char *)buffer, true);
}

nw_status nw_halo_moves_make(const struct nw_halo_connection *connection,
                             enum nw_halo_whose source,
                             struct nw_halo_copy_plan *out)
{
    const nw_halo *halo = connection->halo;
    nw_status status = copy_plan_make(connection, out);

    for (int32_t f = 0; !status && f < halo->field_count; f++)
        for (size_t i = 0; i < connection->count; i++) {
            struct nw_halo_ending ending = {&connection->transfer[i],
                                            &halo->field[f], false};
            struct nw_halo_copy copy =
                copy_plan_begin(ending.transfer, ending.field);

            copy.from = nw_halo_view_of(halo, &ending, source);
            ending.target = true;
            copy.to = nw_halo_view_of(halo, &ending, NW_HALO_OWN);
            nw_halo_copy_prepare(&copy);
            out->copy[(size_t)f * connection->count + i] = copy;
        }
    return status;
}

void nw_halo_moves_run(const struct nw_halo_connection *connection,
                       const struct nw_halo_copy_plan *packs)
{
    const nw_halo *halo = connection->halo;

    for (int32_t a = 0; a < halo->active_count; a++)
        nw_halo_copy_run_all(packs->copy + (size_t)halo->active[a] *
                                               packs->transfer_count,
                             packs->transfer_count);
}
