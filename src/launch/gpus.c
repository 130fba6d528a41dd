/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects the GPUs of its node that a rank can see. */
#include <nodewise/launch.h>

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "launch/gpus.h"
#include "launch/local_cpus.h"
#include "launch/job.h"

#include <stdlib.h>

/* The order of the node's GPUs in which the program sees them as devices 0, 1,
 * ... */
struct order {
    int32_t count;
    int32_t *gpu; /* [count] GPU with each device number; -1: none yet */
    /* [count] true if the GPU has a device number */
    bool *is_used;
};

/* Gives a GPU the device number `slot`, if both are still free and the node has
 * this GPU. */
static void launch_gpus_put(struct order *order, int32_t slot, int32_t gpu)
{
    if (gpu >= order->count || order->is_used[gpu] || order->gpu[slot] >= 0)
        return;
    order->gpu[slot] = gpu;
    order->is_used[gpu] = true;
}

/* Gives a GPU the first free device number from `slot` on, modulo the number of
 * GPUs. Does nothing if the GPU already has a device number. */
static void put_next(struct order *order, int32_t slot, int32_t gpu)
{
    for (int32_t i = 0; i < order->count; i++)
        if (order->gpu[(slot + i) % order->count] < 0) {
            launch_gpus_put(order, (slot + i) % order->count, gpu);
            return;
        }
}

/* Orders the node's GPUs so that a program that calls cudaSetDevice(local_rank)
 * uses its own GPU. For this, the first GPU of local rank l gets device number
 * l, modulo the number of GPUs. This rank's first GPU is placed first. The
 * first GPUs of the other ranks follow, if their device number is free, so that
 * ranks with different GPUs have the same order. Then follow this rank's other
 * GPUs, then all GPUs that are left. */
static void launch_gpus_arrange(struct order *order,
                                const struct nw_launch_node_rank *place)
{
    const nw_mapping *mapping = place->mapping;
    struct nw_ints own = nw_launch_own_gpus(mapping, place->rank);
    int32_t slot = nw_launch_node_rank_index(place) % order->count;

    if (own.count)
        launch_gpus_put(order, slot, own.values[0]);
    for (size_t i = 0; i < place->mates.count; i++) {
        int32_t mate = place->mates.values[i];

        if (nw_launch_has_gpu(mapping, mate))
            launch_gpus_put(order, (int32_t)i % order->count,
                            nw_launch_own_gpus(mapping, mate).values[0]);
    }
    for (size_t i = 1; i < own.count; i++)
        put_next(order, slot, own.values[i]);
    for (int32_t gpu = 0; gpu < order->count; gpu++)
        put_next(order, 0, gpu);
}

static nw_status launch_gpus_permute(const struct nw_launch_node_rank *place,
                                     struct order *order)
{
    nw_status status =
        nw_alloc((size_t)order->count, sizeof *order->gpu, &order->gpu);

    if (!status)
        status = nw_alloc((size_t)order->count, sizeof *order->is_used,
                          &order->is_used);
    if (status)
        return status;
    for (int32_t i = 0; i < order->count; i++)
        order->gpu[i] = -1;
    launch_gpus_arrange(order, place);
    return NW_OK;
}

/* Returns true if the topology knows the node (-1: unknown) and the UUIDs of
 * all these GPUs of it. In CUDA_VISIBLE_DEVICES, UUIDs and numbers must not be
 * mixed. */
static bool have_uuids(const nw_topology *topology, int32_t node,
                       struct nw_ints gpus)
{
    struct nw_range here;

    if (node < 0)
        return false;
    here = nw_topology_node_gpus(topology, node);
    for (size_t i = 0; i < gpus.count; i++)
        if (gpus.values[i] >= here.count ||
            !nw_topology_gpu_info(topology, here.first + gpus.values[i]).uuid)
            return false;
    return true;
}

static nw_status launch_gpus_write_list(const nw_topology *topology,
                                        int32_t node, struct nw_ints gpus,
                                        char **out)
{
    struct nw_text text = {0};
    bool uuids = have_uuids(topology, node, gpus);
    int32_t first = uuids ? nw_topology_node_gpus(topology, node).first : 0;

    nw_text_add(&text, "");
    for (size_t i = 0; i < gpus.count; i++) {
        int32_t gpu = gpus.values[i];

        nw_text_add(&text, i ? "," : "");
        if (uuids)
            nw_text_add(&text,
                        nw_topology_gpu_info(topology, first + gpu).uuid);
        else
            nw_text_format(&text, "%d", gpu);
    }
    return nw_text_take(&text, out);
}

nw_status nw_launch_gpu_order(const struct nw_launch_node_rank *place,
                              int32_t count, int32_t **out)
{
    struct order order = {.count = count};
    nw_status status = launch_gpus_permute(place, &order);

    free(order.is_used);
    if (status)
        free(order.gpu);
    else
        *out = order.gpu;
    return status;
}

static bool node_has_gpus(const struct nw_launch_node_rank *place)
{
    for (size_t i = 0; i < place->mates.count; i++)
        if (nw_launch_has_gpu(place->mapping, place->mates.values[i]))
            return true;
    return false;
}

nw_status nw_launch_node_rank_gpus(const nw_topology *topology, int32_t node,
                                   const struct nw_launch_node_rank *place,
                                   enum nw_gpu_visibility visibility,
                                   char **out)
{
    struct nw_ints gpus = nw_launch_own_gpus(place->mapping, place->rank);
    int32_t *order = NULL, count;
    nw_status status = NW_OK;

    *out = NULL;
    if (visibility == NW_GPU_PERMUTED) {
        count = node < 0 ? nw_local_cpus_gpu_count("")
                         : nw_topology_node_gpus(topology, node).count;
        if (!count && node_has_gpus(place))
            return nw_fail(NW_ENODEV, "the GPUs of this node are not known; "
                                      "name a topology with -t");
        if (count)
            status = nw_launch_gpu_order(place, count, &order);
        gpus = (struct nw_ints){order, (size_t)count};
    }
    if (!status)
        status = launch_gpus_write_list(topology, node, gpus, out);
    free(order);
    return status;
}

nw_status nw_launch_node_rank_find(const nw_mapping *mapping, int32_t rank,
                                   struct nw_launch_node_rank *out)
{
    int32_t *mates;
    size_t count = 0;
    nw_status status =
        nw_alloc((size_t)mapping->rank_count, sizeof *mates, &mates);

    if (status)
        return status;
    for (int32_t r = 0; r < mapping->rank_count; r++)
        if (mapping->node[r] == mapping->node[rank])
            mates[count++] = r;
    *out = (struct nw_launch_node_rank){mapping, rank, {mates, count}};
    return NW_OK;
}

int32_t nw_launch_node_rank_index(const struct nw_launch_node_rank *place)
{
    int32_t local = 0;

    while (place->mates.values[local] != place->rank)
        local++;
    return local;
}

nw_status nw_launch_gpus(const nw_topology *topology, int32_t node,
                         const nw_mapping *mapping, int32_t rank,
                         enum nw_gpu_visibility visibility, char **out)
{
    struct nw_launch_node_rank place;
    nw_status status;

    *out = NULL;
    if (!nw_launch_has_gpus(mapping))
        return NW_OK;
    status = nw_launch_node_rank_find(mapping, rank, &place);
    if (status)
        return status;
    status = nw_launch_node_rank_gpus(topology, node, &place, visibility, out);
    free((void *)(uintptr_t)place.mates.values);
    return status;
}
