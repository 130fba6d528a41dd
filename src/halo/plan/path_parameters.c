/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the model's parameters of the path between two pieces: the smallest
 * bandwidth on the topology's route, or figures of common machines if no route
 * is known. */
#include "halo/plan/model.h"

#include "base/array.h"

#include <stdlib.h>

/* Default parameters: GPUs and pinned copies over PCIe 5, from published
 * measurements, and a network of 100 Gbit/s. */
static const struct nw_halo_path_parameters usual = {
    .link = 50e9, .out = 55e9, .in = 55e9, .wire = 12.5e9, .latency = 1.5e-6};

nw_status nw_halo_paths_open(const nw_halo_layout *layout, const char *source,
                             struct nw_halo_paths *out)
{
    struct nw_halo_paths paths = {.layout = layout};
    nw_status status = NW_OK;

    if (source)
        status = nw_topology_load(source, NULL, &paths.topology);
    if (!status && paths.topology)
        status = nw_alloc(nw_topology_route_max(paths.topology) + 1,
                          sizeof *paths.hops, &paths.hops);
    if (status)
        nw_halo_paths_close(&paths);
    else
        *out = paths;
    return status;
}

void nw_halo_paths_close(struct nw_halo_paths *paths)
{
    nw_topology_free(paths->topology);
    free(paths->hops);
    *paths = (struct nw_halo_paths){0};
}

/* Sets *rate to the smallest bandwidth (bytes/s) on the route, if any is known.
 * The bandwidths of links of cores and caches are ignored, since copies between
 * memories do not use them. Returns the sum of the latencies of all links of
 * the route in seconds. */
static double path_parameters_narrow(const struct nw_halo_paths *paths,
                                     struct nw_end from, struct nw_end to,
                                     double *rate)
{
    size_t count = nw_topology_route(paths->topology, from, to, paths->hops);
    double least = 0, latency = 0;

    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(paths->topology, (int32_t)(paths->hops[i] / 2));
        double bandwidth = link.bandwidth[paths->hops[i] & 1];

        latency += link.latency;
        if (link.kind != NW_LINK_CORE && link.kind != NW_LINK_CACHE &&
            bandwidth > 0 && (least <= 0 || bandwidth < least))
            least = bandwidth;
    }
    if (least > 0)
        *rate = least;
    return latency;
}

static bool on_map(const struct nw_halo_paths *paths, int32_t number)
{
    const struct nw_halo_piece *piece = &paths->layout->piece[number];

    return paths->topology && nw_topology_has_links(paths->topology) &&
           piece->node < nw_topology_node_count(paths->topology);
}

static struct nw_end host_end(const struct nw_halo_paths *paths,
                              const struct nw_halo_piece *piece)
{
    struct nw_range cores =
        nw_topology_node_elements(paths->topology, piece->node);

    return nw_topology_element_end(
        paths->topology,
        cores.first + nw_halo_core_of(paths->topology, piece->node, piece->slot,
                                      paths->layout->gpus));
}

static bool gpu_end(const struct nw_halo_paths *paths,
                    const struct nw_halo_piece *piece, struct nw_end *out)
{
    struct nw_range gpus = nw_topology_node_gpus(paths->topology, piece->node);

    if (piece->slot >= gpus.count)
        return false;
    *out = nw_topology_gpu_end(paths->topology, gpus.first + piece->slot);
    return true;
}

struct nw_halo_path_parameters
nw_halo_path_of(const struct nw_halo_paths *paths, int32_t from, int32_t to)
{
    const struct nw_halo_piece *a = &paths->layout->piece[from];
    const struct nw_halo_piece *b = &paths->layout->piece[to];
    struct nw_halo_path_parameters path = usual;
    struct nw_end gpu[2], host[2];

    if (!on_map(paths, from) || !on_map(paths, to))
        return path;
    host[0] = host_end(paths, a);
    host[1] = host_end(paths, b);
    if (a->node != b->node)
        path.latency =
            path_parameters_narrow(paths, host[0], host[1], &path.wire);
    if (!gpu_end(paths, a, &gpu[0]) || !gpu_end(paths, b, &gpu[1]))
        return path;
    path_parameters_narrow(paths, gpu[0], gpu[1], &path.link);
    path_parameters_narrow(paths, gpu[0], host[0], &path.out);
    path_parameters_narrow(paths, host[1], gpu[1], &path.in);
    return path;
}
