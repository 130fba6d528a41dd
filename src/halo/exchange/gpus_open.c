/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a halo in GPU memory: opens the driver, finds the GPU of each piece,
 * allocates arrays, and makes the events for the caller's streams. */
#include "halo/exchange/gpus.h"

#include "base/hash.h"
#include "runtime/aware.h"
#include "runtime/warn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* --- the GPU of each piece --- */

static nw_status check_gpu(const nw_halo *halo, int32_t own)
{
    const struct nw_halo_gpus *gpus = halo->gpus;

    if (gpus->device[own] < 0 || gpus->device[own] >= gpus->count)
        return nw_fail(NW_EINVAL, "piece %d is to be on GPU %d of %d", own,
                       gpus->device[own], gpus->count);
    return NW_OK;
}

/* Finds the GPU of each piece of this rank. It comes from the options, or else
 * from the caller's arrays. Otherwise it is the GPU with the number of the
 * piece's slot, modulo the number of GPUs. */
static nw_status find_devices(nw_halo *halo,
                              const struct nw_halo_options *options)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    nw_status status = NW_OK;
    int32_t whose = -1;

    for (int32_t i = 0; !status && i < halo->own_count; i++) {
        const struct nw_halo_piece *piece = &halo->layout->piece[halo->own[i]];

        gpus->user[i] =
            options->stream ? (nw_gpu_stream)options->stream[i] : NULL;
        gpus->device[i] =
            options->gpu ? options->gpu[i] : piece->slot % gpus->count;
        if (!options->gpu &&
            gpus->gpu->holds(halo->base[i * halo->quantity_count], &whose) &&
            whose >= 0)
            gpus->device[i] = whose;
        status = check_gpu(halo, i);
    }
    return status;
}

static nw_status check_arrays(const nw_halo *halo)
{
    const struct nw_halo_gpus *gpus = halo->gpus;

    for (int32_t i = 0; i < halo->own_count * halo->quantity_count; i++) {
        int32_t piece = i / halo->quantity_count, whose = -1;

        if (!gpus->gpu->serves(halo->base[i]))
            return nw_fail(NW_EUNSUPPORTED,
                           "quantity %d of piece %d was allocated in another "
                           "CUDA context than the one in use on its GPU: "
                           "allocate all arrays in one context",
                           i % halo->quantity_count, piece);
        if (!gpus->gpu->holds(halo->base[i], &whose))
            return nw_fail(NW_EINVAL,
                           "quantity %d of piece %d is not GPU memory",
                           i % halo->quantity_count, piece);
        if (whose >= 0 && whose != gpus->device[piece])
            return nw_fail(NW_EINVAL,
                           "quantity %d of piece %d is on GPU %d, its piece "
                           "on GPU %d",
                           i % halo->quantity_count, piece, whose,
                           gpus->device[piece]);
        /* Makes synchronous copies by the program complete before they return,
         * so that the exchange's streams see their bytes. Memory of pools and
         * mapped memory do not support this. */
        if (gpus->gpu->keep_in_step)
            (void)!gpus->gpu->keep_in_step(halo->base[i]);
    }
    return NW_OK;
}

/* Returns how many bytes to leave free before array i, so that its first own
 * cell (not a ghost cell) starts at a cache line. The kernels can then use
 * their widest loads along x. */
static size_t lead_of(const nw_halo *halo, size_t i)
{
    const struct nw_halo_piece *piece =
        &halo->layout->piece[halo->own[i / halo->quantity_count]];
    size_t ghosts = (size_t)piece->low_ghost[0] *
                    halo->quantity[i % halo->quantity_count].stride;

    return (NW_HALO_GPU_LINE - ghosts % NW_HALO_GPU_LINE) % NW_HALO_GPU_LINE;
}

/* Allocates the arrays and fills them with zeros. */
static nw_status gpus_open_make_arrays(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    size_t count = (size_t)halo->own_count * halo->quantity_count;
    nw_status status = nw_alloc(count, sizeof *gpus->owned, &gpus->owned);

    for (size_t i = 0; !status && i < count; i++) {
        size_t own = i / halo->quantity_count;
        const struct nw_halo_piece *piece =
            &halo->layout->piece[halo->own[own]];
        size_t bytes = halo->pitch[i] *
                       (size_t)(piece->allocated[1] * piece->allocated[2]);
        size_t lead = lead_of(halo, i);
        nw_gpu_stream stream;

        status = gpus->gpu->select(gpus->device[own]);
        if (!status)
            status = gpus->gpu->alloc(lead + bytes, &gpus->owned[i]);
        if (status)
            break;
        stream = gpus->gpu->own();
        halo->base[i] = (char *)gpus->owned[i] + lead;
        status = gpus->gpu->fill(halo->base[i], 0, bytes, stream);
        if (!status)
            status = gpus->gpu->stream_wait(stream);
    }
    return status;
}

/* --- hashes that identify the GPUs of all nodes --- */

static nw_status tell_where(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    nw_status status = NW_OK;

    for (int32_t i = 0; !status && i < halo->own_count; i++) {
        struct nw_gpu_properties properties = {{0}, {0}, {0}, 0};
        int node = halo->node_of[halo->rank];

        status = gpus->gpu->properties(gpus->device[i], &properties);
        gpus->where[halo->own[i]] =
            nw_hash_text(
                nw_hash_text(nw_hash(NW_HASH_START, &node, sizeof node),
                             properties.uuid),
                properties.pci_id) |
            1;
    }
    status = nw_halo_agree(halo->comm, status);
    if (status)
        return status;
    return nw_halo_mpi(NW_PMPI(Allreduce)(MPI_IN_PLACE, gpus->where,
                                          halo->layout->piece_count,
                                          MPI_UINT64_T, MPI_MAX, halo->comm),
                       "share the numbers of GPUs");
}

/* Makes the `ready` events. Other processes can wait for them if the driver
 * supports this. */
static nw_status make_events(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    nw_status status = NW_OK;

    gpus->ipc = true;
    for (int32_t i = 0; !status && i < halo->own_count; i++) {
        status = gpus->gpu->select(gpus->device[i]);
        gpus->life[i] = gpus->gpu->life();
        if (!status && gpus->gpu->event_new_shared(&gpus->ready[i])) {
            strncpy(gpus->why, nw_error_text(), sizeof gpus->why - 1);
            gpus->ipc = false;
            status = gpus->gpu->event_new(&gpus->ready[i]);
        }
    }
    return status;
}

/* If the options name the method `aware`, but the MPI does not accept GPU
 * memory: warns if they also name `staged` or `pinned`, else returns an error.
 */
static nw_status check_aware(const nw_halo *halo, uint32_t methods)
{
    uint32_t others = NW_HALO_BIT(NW_HALO_STAGED) | NW_HALO_BIT(NW_HALO_PINNED);

    if (halo->gpus->aware || halo->size == 1 ||
        !(methods & NW_HALO_BIT(NW_HALO_AWARE)))
        return NW_OK;
    if (!(methods & others))
        return nw_fail(NW_EUNSUPPORTED,
                       "this MPI does not take GPU memory "
                       "(MPIX_Query_cuda_support denies it): method 'aware' "
                       "cannot be used");
    if (!halo->rank)
        nw_warn_once("halo: this MPI does not take GPU memory, halos are "
                     "staged instead");
    return NW_OK;
}

static nw_status gpus_open_allocate(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = NULL;
    size_t own = (size_t)halo->own_count;
    size_t pieces = (size_t)halo->layout->piece_count;
    size_t arrays = pieces * halo->quantity_count;
    nw_status status = nw_alloc(1, sizeof *gpus, &gpus);

    halo->gpus = gpus;
    if (!status)
        status = nw_alloc(own, sizeof *gpus->device, &gpus->device);
    if (!status)
        status = nw_alloc(own, sizeof *gpus->user, &gpus->user);
    if (!status)
        status = nw_alloc(own, sizeof *gpus->ready, &gpus->ready);
    if (!status)
        status = nw_alloc(own, sizeof *gpus->life, &gpus->life);
    if (!status)
        status = nw_alloc(pieces, sizeof *gpus->where, &gpus->where);
    if (!status)
        status = nw_alloc(pieces, sizeof *gpus->event, &gpus->event);
    if (!status)
        status = nw_alloc(pieces, sizeof *gpus->peer_ready, &gpus->peer_ready);
    if (!status)
        status = nw_alloc(arrays, sizeof *gpus->array, &gpus->array);
    return status;
}

nw_status nw_halo_gpus_open(nw_halo *halo,
                            const struct nw_halo_options *options)
{
    bool given = options->base || options->memory || options->arrays;
    nw_status status = gpus_open_allocate(halo);

    if (!status)
        status = nw_gpu_open(&halo->gpus->gpu, &halo->gpus->count);
    if (!status) {
        halo->gpus->context = halo->gpus->gpu->context();
        status = find_devices(halo, options);
    }
    if (!status)
        status = given ? check_arrays(halo) : gpus_open_make_arrays(halo);
    if (!status)
        status = make_events(halo);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status = tell_where(halo);
    if (!status)
        status = nw_halo_peers_find(halo);
    return status ? status : check_aware(halo, options->methods);
}

static void free_arrays(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;

    for (int32_t i = 0; i < halo->own_count; i++) {
        if (!gpus->ready || gpus->gpu->select(gpus->device[i]))
            continue;
        gpus->gpu->event_free(gpus->ready[i]);
        for (int32_t q = 0; gpus->owned && q < halo->quantity_count; q++)
            gpus->gpu->free(gpus->owned[i * halo->quantity_count + q]);
    }
}

void nw_halo_gpus_close(nw_halo *halo, void *context)
{
    struct nw_halo_gpus *gpus = halo->gpus;

    if (!gpus)
        return;
    if (gpus->gpu) {
        nw_halo_peers_close(halo);
        nw_halo_peers_part(halo);
        /* after a peer has ended, other processes may still use the arrays */
        if (!halo->peer_lost && !halo->has_pending)
            free_arrays(halo);
        gpus->gpu->restore(context);
    }
    free(gpus->device);
    free(gpus->where);
    free(gpus->user);
    free(gpus->ready);
    free(gpus->life);
    free(gpus->array);
    free(gpus->event);
    free(gpus->peer_ready);
    free(gpus->opened);
    free(gpus->owned);
    free(gpus);
    halo->gpus = NULL;
}

/* Returns a piece of this rank whose GPU was reset, or -1 if no GPU was reset.
 */
static int32_t find_lost(const nw_halo *halo)
{
    const struct nw_halo_gpus *gpus = halo->gpus;

    for (int32_t i = 0; i < halo->own_count; i++)
        if (gpus->ready[i] && !gpus->gpu->lives(&gpus->life[i]))
            return i;
    return -1;
}

bool nw_halo_gpus_lost(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;

    if (!gpus || !gpus->gpu || !gpus->life || find_lost(halo) < 0)
        return false;
    gpus->gpu = &nw_gpu_after_reset;
    return true;
}

nw_status nw_halo_gpus_begin(nw_halo *halo)
{
    struct nw_halo_gpus *gpus = halo->gpus;
    int32_t lost = find_lost(halo);
    nw_status status = NW_OK;

    if (lost >= 0)
        return nw_fail(NW_ECUDA,
                       "GPU %d was reset after the halo was planned: free the "
                       "halo and plan another",
                       gpus->device[lost]);
    for (int32_t i = 0; !status && i < halo->own_count; i++) {
        status = gpus->gpu->select(gpus->device[i]);
        if (!status)
            status = gpus->gpu->event_record(gpus->ready[i], gpus->user[i]);
    }
    return status;
}

nw_status nw_halo_gpus_refuse(const nw_halo *halo)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    int32_t count, whose;

    if (!driver)
        return NW_OK; /* without the driver no memory is on a GPU */
    dlclose(driver);
    if (nw_gpu_cuda.open(&count))
        return NW_OK;
    for (int32_t i = 0; i < halo->own_count * halo->quantity_count; i++)
        if (nw_gpu_cuda.holds(halo->base[i], &whose))
            return nw_fail(NW_EINVAL,
                           "quantity %d of piece %d is memory of GPU %d: "
                           "plan the halo with memory_kind "
                           "NW_HALO_MEMORY_GPU",
                           i % halo->quantity_count, i / halo->quantity_count,
                           whose);
    return NW_OK;
}
