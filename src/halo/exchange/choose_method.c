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
 * each method, for example "phases: self 12 kB, direct 40 kB". For GPU memory,
 * adds the number of CUDA graphs. */
static void choose_method_describe(nw_halo *halo)
{
    const struct nw_halo_gpus *gpus = halo->gpus;
    const char *mark = ":";
    struct nw_text text = {0};

    nw_text_add(&text, halo->scheme.phased ? "phases" : "once");
    for (int i = 0; i < NW_HALO_METHOD_COUNT; i++) {
        double bytes = 0;
        char figure[32];

        for (size_t k = 0; k < halo->connection_count; k++)
            if (halo->connection[k].ops == nw_halo_methods[i] &&
                halo->connection[k].receives)
                bytes += (double)halo->connection[k].bytes;
        if (bytes <= 0)
            continue;
        nw_format_quantity(bytes, NW_UNIT_BYTES, figure, sizeof figure);
        nw_text_format(&text, "%s %s %s", mark,
                       nw_halo_method_name((enum nw_halo_method)i), figure);
        mark = ",";
    }
    if (gpus && gpus->queues && gpus->graphs < gpus->queues)
        nw_text_format(&text, ", %d of %d graphs", gpus->graphs, gpus->queues);
    else if (gpus && gpus->queues)
        nw_text_format(&text, ", %d graphs", gpus->graphs);
    snprintf(halo->words, sizeof halo->words, "%s", text.data ? text.data : "");
    nw_text_fini(&text);
}

/* --- by the model --- */

/* Returns a hash of the parameters of these paths: from piece 0 to every piece,
 * and from every piece to the next one. If two ranks have different hashes,
 * their topologies differ, or only one of them has a topology. */
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

/* Opens the topology from which the model takes bandwidths and latencies. If
 * the topologies of the ranks differ, closes it again; the model then uses its
 * default parameters. Collective. */
static nw_status open_paths(const nw_halo *halo, const char *source,
                            struct nw_halo_paths *paths)
{
    bool same = false;
    nw_status status = nw_halo_agree(
        halo->comm, nw_halo_paths_open(halo->layout, source, paths));

    if (!status)
        status = nw_halo_mpi(
            nw_halo_is_equal(halo->comm, choose_method_hash_of(halo, paths),
                             &same),
            "compare machines");
    if (!same)
        nw_halo_paths_close(paths);
    paths->layout = halo->layout;
    return status;
}

/* Opens the connections with the methods that the model chooses. If both
 * schedules are allowed ([0] at once, [1] in phases), uses the one with the
 * lower predicted time of the slowest rank. */
static nw_status choose_by_model(nw_halo *halo, const bool allowed[2])
{
    struct nw_halo_scheme scheme =
        nw_halo_scheme_all(!allowed[0], NW_HALO_MODELLED);
    double seconds[2], slowest[2];
    nw_status status = NW_OK;

    if (allowed[0] && allowed[1]) {
        for (int phased = 0; !status && phased < 2; phased++) {
            scheme.phased = phased;
            status = nw_halo_connections_open(halo, &scheme);
            seconds[phased] = halo->predicted;
            nw_halo_connections_close(halo);
        }
        if (!status)
            status = nw_halo_mpi(nw_halo_allreduce(halo->comm, seconds, slowest,
                                                   2, MPI_DOUBLE, MPI_MAX),
                                 "compare predictions");
        scheme.phased = !status && slowest[1] < slowest[0];
    }
    return status ? status : nw_halo_connections_open(halo, &scheme);
}

/* --- by measurement, or as the options demand --- */

/* Opens the earlier choice from the cache, if there is one and its schedule is
 * allowed. Otherwise measures the methods and writes the result to the cache.
 * An empty name in `cache` means no cache. */
static nw_status measure_or_remember(nw_halo *halo, const bool allowed[2],
                                     const char *cache)
{
    bool cached = !cache || *cache, found = false;
    struct nw_halo_scheme scheme;
    nw_status status =
        cached ? nw_halo_cache_read(halo, cache, &scheme, &found) : NW_OK;

    if (status)
        return status;
    if (found && allowed[scheme.phased])
        return nw_halo_connections_open(halo, &scheme);
    status = nw_halo_measure(halo, allowed);
    if (!status && cached && !halo->rank) {
        choose_method_describe(halo);
        nw_halo_cache_write(halo, cache);
    }
    return status;
}

/* Opens the connections of the scheme that the options ask for. */
static nw_status open_chosen(nw_halo *halo, const bool allowed[2],
                             const struct nw_halo_options *options)
{
    struct nw_halo_scheme first = nw_halo_scheme_all(allowed[1], NW_HALO_ANY);

    if (options->choice == NW_HALO_CHOOSE_MEASURE)
        return measure_or_remember(halo, allowed, options->cache);
    if (options->choice == NW_HALO_CHOOSE_MODEL)
        return choose_by_model(halo, allowed);
    return nw_halo_connections_open(halo, &first);
}

/* Removes the methods that keep packed halos in shared memory from
 * halo->methods, for a node without enough shared memory, such as a container.
 * Returns false without a change if it removes nothing, or if no other method
 * between ranks would be left. */
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
    halo->schedule = can ? options->schedule : NW_HALO_SCHEDULE_AUTO;
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
