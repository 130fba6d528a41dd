/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens GPU memory of other processes of the node. The processes exchange the
 * handles of all their arrays and events once. A connection opens the arrays
 * that it needs; they are closed with the halo. */
#include "halo/exchange/gpus.h"

#include "runtime/aware.h"
#include "halo/exchange/yielding_collectives.h"

#include "runtime/warn.h"

#include <string.h>

static void export_array(nw_halo *halo, int32_t own, int32_t quantity)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    size_t offset = 0;
    struct nw_halo_export *out =
        &gpus->array[(size_t)halo->own[own] * (size_t)halo->quantity_count +
                     (size_t)quantity];

    out->given = !gpus->gpu->memory_export(
        halo->base[own * halo->quantity_count + quantity], &out->handle,
        &offset);
    out->offset = offset;
    gpus->ipc_arrays &= out->given;
}

static void export_all(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;

    gpus->ipc_arrays = gpus->ipc;
    for (int32_t i = 0; gpus->ipc && i < halo->own_count; i++) {
        struct nw_halo_export *event = &gpus->event[halo->own[i]];

        if (gpus->gpu->select(gpus->device[i]) ||
            gpus->gpu->event_export(gpus->ready[i], &event->handle)) {
            strncpy(gpus->why, nw_error_text(), sizeof gpus->why - 1);
            gpus->ipc = false;
        }
        event->given = gpus->ipc;
        for (int32_t q = 0; gpus->ipc && q < halo->quantity_count; q++)
            export_array(halo, i, q);
    }
}

/* Exchanges handles between the ranks of the node by a bitwise or: every rank
 * has filled its own entries, and all others are zero. All handles together may
 * have more bytes than an int can count. */
static int gpus_peers_tell(const nw_halo *halo, struct nw_halo_export *handle,
                           size_t count)
{
    const size_t most = ((size_t)1 << 30) / sizeof *handle;
    int code = MPI_SUCCESS;

    for (size_t at = 0; code == MPI_SUCCESS && at < count; at += most) {
        size_t part = count - at < most ? count - at : most;

        code = NW_PMPI(Allreduce)(MPI_IN_PLACE, handle + at,
                                  (int)(part * sizeof *handle), MPI_BYTE,
                                  MPI_BOR, halo->node_comm);
    }
    return code;
}

/* Sets *out to the address of an array of another process for the GPU `gpu`,
 * which must be current. Each allocation is opened only once for each GPU, and
 * closed with the halo. */
static nw_status gpus_peers_open(nw_halo *halo,
                                 const struct nw_halo_export *from, int32_t gpu,
                                 void **out)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    struct nw_halo_opened *opened = gpus->opened;
    nw_status status;

    for (size_t i = 0; i < gpus->opened_count; i++)
        if (opened[i].gpu == gpu &&
            !memcmp(&opened[i].handle, &from->handle, sizeof from->handle)) {
            *out = (char *)opened[i].memory + from->offset;
            return NW_OK;
        }
    status = nw_grow(&gpus->opened, &gpus->opened_capacity,
                     gpus->opened_count + 1, sizeof *gpus->opened);
    if (status)
        return status;
    opened = &gpus->opened[gpus->opened_count];
    *opened = (struct nw_halo_opened){.handle = from->handle, .gpu = gpu};
    status = gpus->gpu->memory_import(&from->handle, &opened->memory);
    if (status)
        return status;
    gpus->opened_count++;
    *out = (char *)opened->memory + from->offset;
    return NW_OK;
}

/* Tries to open the event and the first array of every piece of other ranks of
 * the node, as far as they are offered. Returns true if all succeed, or if this
 * rank has no piece; the other arrays are then expected to succeed. */
static bool can_open(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    nw_gpu_event event = NULL;
    void *memory = NULL;

    for (int32_t p = 0; p < halo->layout->piece_count; p++) {
        const struct nw_halo_export *array =
            &gpus->array[(size_t)p * (size_t)halo->quantity_count];

        if (!gpus->event[p].given ||
            halo->layout->piece[p].rank == halo->rank || !halo->own_count)
            continue;
        if (gpus->gpu->select(gpus->device[0]) ||
            nw_halo_peers_event(halo, p, &event))
            return false;
        if (array->given &&
            gpus_peers_open(halo, array, gpus->device[0], &memory))
            return false;
    }
    return true;
}

nw_status nw_halo_peers_find(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    size_t pieces = (size_t)halo->layout->piece_count;
    int able[3], code;

    gpus->told = true;
    export_all(halo);
    code = gpus_peers_tell(halo, gpus->event, pieces);
    if (code == MPI_SUCCESS)
        code = gpus_peers_tell(halo, gpus->array,
                               pieces * (size_t)halo->quantity_count);
    if (code == MPI_SUCCESS && gpus->ipc && !can_open(halo)) {
        strncpy(gpus->why, nw_error_text(), sizeof gpus->why - 1);
        gpus->ipc = false;
    }
    able[0] = gpus->ipc;
    able[1] = gpus->ipc_arrays;
    able[2] = nw_mpi_takes_gpu_memory();
    if (code == MPI_SUCCESS)
        code = NW_PMPI(Allreduce)(MPI_IN_PLACE, able, 3, MPI_INT, MPI_MIN,
                                  halo->comm);
    /* Only one rank prints the warning: the lowest one that knows the reason. A
     * rank that is alone on its node does not know it, but all must take part
     * in the call. */
    if (code == MPI_SUCCESS && !able[0]) {
        bool knows = !gpus->ipc && halo->node_size > 1;
        int own = knows ? halo->rank : halo->size, first = halo->size;

        code =
            NW_PMPI(Allreduce)(&own, &first, 1, MPI_INT, MPI_MIN, halo->comm);
        if (first == halo->rank)
            nw_warn_once("halo: processes cannot open each other's GPU memory "
                         "(%s), halos use another method",
                         gpus->why);
    }
    gpus->ipc = able[0];
    gpus->ipc_arrays = able[0] && able[1];
    gpus->aware = able[2];
    return nw_halo_agree(
        halo->comm, nw_halo_mpi(code, "share the addresses of GPU memory"));
}

nw_status nw_halo_peers_map(const struct nw_halo_connection *connection)
{
    nw_halo *halo = connection->halo;
    int32_t gpu = nw_halo_device(halo, connection->transfer->from);
    nw_status status = halo->gpus->gpu->select(gpu);

    for (size_t i = 0; !status && i < connection->count; i++)
        for (int32_t q = 0; !status && q < halo->quantity_count; q++) {
            size_t at =
                (size_t)connection->transfer[i].to * halo->quantity_count +
                (size_t)q;
            void *memory = NULL;

            status =
                gpus_peers_open(halo, &halo->gpus->array[at], gpu, &memory);
            halo->remote[at].mapped = memory;
        }
    return status;
}

nw_status nw_halo_peers_event(nw_halo *halo, int32_t piece, nw_gpu_event *out)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    nw_status status = NW_OK;

    if (!gpus->peer_ready[piece])
        status = gpus->gpu->event_import(&gpus->event[piece].handle,
                                         &gpus->peer_ready[piece]);
    *out = gpus->peer_ready[piece];
    return status;
}

void nw_halo_peers_close(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;

    for (int32_t p = 0; gpus->peer_ready && p < halo->layout->piece_count; p++)
        gpus->gpu->event_free(gpus->peer_ready[p]);
    for (size_t i = 0; i < gpus->opened_count; i++)
        if (!gpus->gpu->select(gpus->opened[i].gpu))
            gpus->gpu->memory_close(gpus->opened[i].memory);
    gpus->opened_count = 0;
}

void nw_halo_peers_part(const nw_halo *halo)
{
    if (halo->gpus && halo->gpus->told && halo->node_size > 1 &&
        !halo->peer_lost)
        nw_halo_barrier(halo->node_comm);
}
