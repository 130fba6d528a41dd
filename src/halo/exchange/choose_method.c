/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the methods that all ranks can use, and selects the scheme: by
 * measurement, by the model, or by taking the first usable method in a fixed
 * order. */
#include "halo/exchange/choose.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/yielding_collectives.h"

#include "base/hash.h"
#include "base/text.h"

#include <stdio.h>

nw_status nw_halo_methods_find(nw_halo *halo, uint32_t allowed)
{
    uint32_t own = 0, all = 0;
    int code;

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        const struct nw_halo_method_ops *ops = nw_halo_methods[i];

        if (!ops || ops->for_gpu != halo->gpu_memory ||
            (allowed && !(allowed & NW_HALO_BIT(i)) && i != NW_HALO_SELF))
            continue;
        if (!ops->here || ops->here(halo))
            own |= NW_HALO_BIT(i);
    }
    code = nw_halo_allreduce(halo->comm, &own, &all, 1, MPI_UINT32_T, MPI_BAND);
    halo->methods = all;
    return nw_halo_mpi(code, "compare methods");
}

/* Writes halo->words: the schedule, and the bytes that this rank receives by
 * each method, for example "phases: self 12 kB, direct 40 kB". */
static void choose_method_describe(nw_halo *halo)
{
    size_t used = (size_t)snprintf(halo->words, sizeof halo->words, "%s",
                                   halo->scheme.phased ? "phases" : "once");

    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        double bytes = 0;
        char figure[32];

        for (size_t k = 0; k < halo->connection_count; k++)
            if (halo->connection[k].ops->id == (enum nw_halo_method)i &&
                halo->connection[k].receives)
                bytes += (double)halo->connection[k].bytes;
        if (bytes <= 0 || used >= sizeof halo->words)
            continue;
        used += (size_t)snprintf(
            halo->words + used, sizeof halo->words - used, "%s %s %s",
            used < 8 ? ":" : ",", nw_halo_method_name((enum nw_halo_method)i),
            nw_format_quantity(bytes, NW_UNIT_BYTES, figure, sizeof figure));
    }
    if (halo->gpus && halo->gpus->queues && used < sizeof halo->words)
        snprintf(halo->words + used, sizeof halo->words - used,
                 halo->gpus->graphs < halo->gpus->queues ? ", %d of %d graphs"
                                                         : ", %d graphs",
                 halo->gpus->graphs, halo->gpus->queues);
}

/* --- by the model --- */

/* Returns a hash of the parameters of these paths: from piece 0 to every piece,
 * and from every piece to the next one. If two ranks have different hashes,
 * their topologies differ. */
static uint64_t choose_method_hash_of(const nw_halo *halo,
                                      const struct nw_halo_paths *paths)
{
    uint64_t hash = NW_HASH_START;
    int32_t count = halo->layout->piece_count;

    for (int32_t i = 0; paths->topology && i < count; i++) {
        struct nw_halo_path_parameters path = nw_halo_path_of(paths, 0, i);

        hash = nw_hash(hash, &path, sizeof path);
        path = nw_halo_path_of(paths, i, (i + 1) % count);
        hash = nw_hash(hash, &path, sizeof path);
    }
    return hash;
}

/* Opens the description of the machine for the model. If the ranks see
 * different machines, the model works without a description. */
static nw_status open_paths(const nw_halo *halo, const char *source,
                            struct nw_halo_paths *out)
{
    struct nw_halo_paths paths = {0}, none = {.layout = halo->layout};
    uint64_t own[2] = {0}, most[2];
    nw_status status = nw_halo_agree(
        halo->comm, nw_halo_paths_open(halo->layout, source, &paths));
    int code;

    if (!status) {
        own[0] = choose_method_hash_of(halo, &paths);
        own[1] = ~own[0];
        code =
            nw_halo_allreduce(halo->comm, own, most, 2, MPI_UINT64_T, MPI_MAX);
        status = nw_halo_mpi(code, "compare machines");
    }
    if (status || most[0] != ~most[1]) {
        nw_halo_paths_close(&paths);
        paths = none;
    }
    *out = paths;
    return status;
}

/* Returns the predicted seconds of this rank's part of an exchange: the sum
 * over its connections. */
static double choose_method_predict(const nw_halo *halo)
{
    double seconds = halo->scheme.phased ? 2e-6 : 0;

    for (size_t i = 0; i < halo->connection_count; i++)
        if (halo->connection[i].count)
            seconds += nw_halo_connection_seconds(&halo->connection[i]);
    return seconds;
}

static nw_status open_modelled(nw_halo *halo, bool phased)
{
    struct nw_halo_scheme scheme = nw_halo_scheme_any(phased);

    scheme.modelled = true;
    return nw_halo_connections_open(halo, &scheme);
}

/* Opens the methods that the model chooses. If both schedules are allowed, uses
 * the one with the lower predicted time. */
static nw_status choose_by_model(nw_halo *halo, const bool allowed[2])
{
    double seconds[2] = {0, 0}, slowest[2];
    nw_status status = NW_OK;

    if (!allowed[0] || !allowed[1])
        return open_modelled(halo, allowed[1]);
    for (int phased = 0; !status && phased < 2; phased++) {
        status = open_modelled(halo, phased);
        if (!status) {
            seconds[phased] = choose_method_predict(halo);
            nw_halo_connections_close(halo);
        }
    }
    if (!status)
        status = nw_halo_mpi(nw_halo_allreduce(halo->comm, seconds, slowest, 2,
                                               MPI_DOUBLE, MPI_MAX),
                             "compare predictions");
    return status ? status : open_modelled(halo, slowest[1] < slowest[0]);
}

/* --- by measurement, or as the options demand --- */

static nw_status measure_or_remember(nw_halo *halo, const bool allowed[2],
                                     const struct nw_halo_options *options)
{
    bool cached = !options->cache || *options->cache, found = false;
    struct nw_halo_scheme scheme;
    nw_status status = NW_OK;

    if (cached)
        status = nw_halo_cache_read(halo, options->cache, &scheme, &found);
    if (status)
        return status;
    if (found && allowed[scheme.phased])
        return nw_halo_connections_open(halo, &scheme);
    status = nw_halo_measure(halo, allowed);
    if (!status)
        choose_method_describe(halo);
    if (!status && cached && !halo->rank)
        nw_halo_cache_write(halo, options->cache);
    return status;
}

static nw_status open_chosen(nw_halo *halo, const bool allowed[2],
                             const struct nw_halo_options *options)
{
    struct nw_halo_scheme first = nw_halo_scheme_any(allowed[1]);

    if (options->choice == NW_HALO_CHOOSE_MEASURE)
        return measure_or_remember(halo, allowed, options);
    if (options->choice == NW_HALO_CHOOSE_MODEL)
        return choose_by_model(halo, allowed);
    return nw_halo_connections_open(halo, &first);
}

/* Removes the methods that keep packed halos in shared memory from
 * halo->methods, for a node without enough shared memory, such as a container.
 * Returns false if no other method is available. */
static bool spare_room(nw_halo *halo)
{
    uint32_t large = NW_HALO_BIT(NW_HALO_SHARED) | NW_HALO_BIT(NW_HALO_NODES);
    uint32_t left = halo->methods & ~large;

    if (left == halo->methods || !(left & ~NW_HALO_BIT(NW_HALO_SELF)))
        return false;
    halo->methods = left;
    return true;
}

nw_status nw_halo_choose(nw_halo *halo, const struct nw_halo_options *options)
{
    bool can = nw_halo_can_phase(halo->layout) && !halo->gpu_memory;
    bool allowed[2] = {options->schedule != NW_HALO_SCHEDULE_PHASES,
                       options->schedule != NW_HALO_SCHEDULE_ONCE && can};
    struct nw_halo_paths paths = {.layout = halo->layout};
    nw_status status = NW_OK;

    if (!allowed[0] && !allowed[1])
        return nw_fail(NW_EINVAL, "these radii or pieces cannot be exchanged "
                                  "in phases");
    if (options->choice != NW_HALO_CHOOSE_ORDER)
        status = open_paths(halo, options->topology, &paths);
    halo->paths = &paths;
    if (!status)
        status = open_chosen(halo, allowed, options);
    if (status == NW_ENOMEM && spare_room(halo))
        status = open_chosen(halo, allowed, options);
    halo->paths = NULL;
    nw_halo_paths_close(&paths);
    if (!status)
        choose_method_describe(halo);
    return status;
}
