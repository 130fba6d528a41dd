/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adds the devices of a node. Finds the GPUs and NICs among the PCI devices,
 * and adds the bridges above them. Host bridges above a device always become
 * vertices. A PCIe switch becomes a vertex if devices are below at least two of
 * its children.
 */
#include "topology/hwloc/devices.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/gpu/links.h"
#include "topology/gpu/pcie.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static nw_status note_part(struct nw_hwloc_devices *devices, hwloc_obj_t obj,
                           hwloc_obj_t part, enum nw_vertex_kind kind)
{
    const struct hwloc_pcidev_attr_s *pci = &obj->attr->pcidev;
    nw_status status = nw_grow(&devices->device, &devices->capacity,
                               devices->count + 1, sizeof *devices->device);

    if (status)
        return status;
    devices->device[devices->count++] = (struct nw_hwloc_device){
        .obj = obj,
        .part = part,
        .kind = kind,
        .order = (uint64_t)pci->domain << 16 | (uint64_t)pci->bus << 8 |
                 (uint64_t)pci->dev << 3 | pci->func,
    };
    return NW_OK;
}

/* Adds a device to the list. A GPU in several partitions becomes one device for
 * each partition. */
static nw_status devices_note_device(struct nw_hwloc_devices *devices,
                                     hwloc_obj_t obj, enum nw_vertex_kind kind)
{
    nw_status status = NW_OK;

    if (kind != NW_VERTEX_GPU || !nw_hwloc_partition(obj, 1))
        return note_part(devices, obj, NULL, kind);
    for (int n = 0; !status && nw_hwloc_partition(obj, n); n++)
        status = note_part(devices, obj, nw_hwloc_partition(obj, n), kind);
    return status;
}

static int by_order(const void *a, const void *b)
{
    const struct nw_hwloc_device *one = a, *two = b;
    uint64_t x = one->order, y = two->order;

    if (x == y && one->part && two->part) {
        x = one->part->logical_index;
        y = two->part->logical_index;
    }
    return (x > y) - (x < y);
}

static struct nw_hwloc_device *
devices_find_device(struct nw_hwloc_devices *devices, hwloc_obj_t obj)
{
    for (size_t i = 0; i < devices->count; i++)
        if (devices->device[i].obj == obj)
            return &devices->device[i];
    return NULL;
}

static nw_status list_devices(struct nw_hwloc_build *build,
                              struct nw_hwloc_devices *devices)
{
    hwloc_obj_t obj = NULL;
    bool fabric = nw_hwloc_has_fabric(build->machine);
    nw_status status = NW_OK;

    while (!status && (obj = hwloc_get_next_pcidev(build->machine, obj))) {
        if (nw_hwloc_is_gpu(obj))
            status = devices_note_device(devices, obj, NW_VERTEX_GPU);
        else if (nw_hwloc_is_card(obj, fabric))
            status = devices_note_device(devices, obj, NW_VERTEX_NIC);
    }
    if (!status && devices->count)
        qsort(devices->device, devices->count, sizeof *devices->device,
              by_order);
    return status;
}

/* Returns the bandwidth of two links in series in bytes/s: the lower of `speed`
 * (bytes/s) and `linkspeed` (GB/s). A value of 0 is unknown and ignored. */
static double devices_slower(double speed, float linkspeed)
{
    double bytes = (double)linkspeed * 1e9;

    if (!isfinite(bytes) || bytes <= 0 || bytes > 1e15)
        return speed;
    return speed > 0 && speed < bytes ? speed : bytes;
}

static bool holds_devices(struct nw_hwloc_devices *devices, hwloc_obj_t obj)
{
    if (devices_find_device(devices, obj))
        return true;
    for (hwloc_obj_t child = obj->io_first_child; child;
         child = child->next_sibling)
        if (holds_devices(devices, child))
            return true;
    return false;
}

/* Returns true if a bridge above a device becomes a vertex: a host bridge, or a
 * PCIe bridge with devices below at least two of its children. */
static bool is_level(struct nw_hwloc_devices *devices, hwloc_obj_t bridge)
{
    int children = 0;

    if (bridge->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST)
        return true;
    for (hwloc_obj_t child = bridge->io_first_child; child;
         child = child->next_sibling)
        children += holds_devices(devices, child);
    return children > 1;
}

/* The parent vertex of a device, and the bandwidth of the slowest link of the
 * bridges between this parent and the device. */
struct devices_spot {
    int32_t vertex;
    double speed; /* bandwidth in bytes/s; 0: unknown */
};

static nw_status devices_add_bridge(struct nw_hwloc_build *build,
                                    hwloc_obj_t bridge,
                                    struct devices_spot *spot)
{
    bool host = bridge->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
    /* a host bridge is connected to the processor's internal fabric */
    enum nw_link_kind kind = host ? NW_LINK_MEMORY : NW_LINK_PCIE;
    double speed[2] = {spot->speed, spot->speed};
    int32_t class;
    nw_status status = nw_hwloc_class(build, kind, speed, &class);

    if (!status)
        status = nw_node_type_add(build->type, spot->vertex, NW_VERTEX_BRIDGE,
                                  class, &spot->vertex);
    spot->speed = 0;
    return status;
}

/* Finds the parents of the devices below an object of the PCI tree, and adds
 * the bridges that become vertices. */
static nw_status walk_io(struct nw_hwloc_build *build,
                         struct nw_hwloc_devices *devices, hwloc_obj_t obj,
                         struct devices_spot spot)
{
    struct nw_hwloc_device *device = devices_find_device(devices, obj);
    nw_status status = NW_OK;

    for (size_t i = 0; device && i < devices->count; i++)
        if (devices->device[i].obj == obj) {
            devices->device[i].parent = spot.vertex;
            devices->device[i].speed =
                devices_slower(spot.speed, obj->attr->pcidev.linkspeed);
        }
    if (device)
        return NW_OK;
    if (obj->type != HWLOC_OBJ_BRIDGE || !holds_devices(devices, obj))
        return NW_OK;
    if (obj->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_PCI)
        spot.speed = devices_slower(spot.speed,
                                    obj->attr->bridge.upstream.pci.linkspeed);
    if (is_level(devices, obj))
        status = devices_add_bridge(build, obj, &spot);
    for (hwloc_obj_t child = obj->io_first_child; !status && child;
         child = child->next_sibling)
        status = walk_io(build, devices, child, spot);
    return status;
}

static nw_status devices_walk(struct nw_hwloc_build *build,
                              struct nw_hwloc_devices *devices, hwloc_obj_t obj)
{
    struct devices_spot spot = {nw_hwloc_vertex(obj), 0};
    nw_status status = NW_OK;

    for (hwloc_obj_t io = obj->io_first_child; !status && io;
         io = io->next_sibling)
        status = walk_io(build, devices, io, spot);
    for (hwloc_obj_t child = obj->first_child; !status && child;
         child = child->next_sibling)
        status = devices_walk(build, devices, child);
    return status;
}

static nw_status devices_add_device(struct nw_hwloc_build *build,
                                    const struct nw_hwloc_device *device,
                                    struct nw_device *info)
{
    enum nw_link_kind kind = device->link ? device->link : NW_LINK_PCIE;
    double rate = device->speed;
    double speed[2] = {rate, rate};
    int32_t class, vertex;
    nw_status status = nw_hwloc_describe(device, info);

    /* hwloc reports the current speed, which idle GPUs reduce */
    if (!status && build->live && !device->link)
        rate = nw_pcie_read("/sys", info->pci);
    if (rate > speed[0])
        speed[0] = speed[1] = rate;
    if (!status)
        status = nw_hwloc_class(build, kind, speed, &class);
    if (!status)
        status = nw_node_type_add(build->type, device->parent, device->kind,
                                  class, &vertex);
    if (!status)
        nw_hwloc_set_vertex(device->part ? device->part : device->obj, vertex);
    return status;
}

static nw_status devices_add_kind(struct nw_hwloc_build *build,
                                  const struct nw_hwloc_devices *devices,
                                  enum nw_vertex_kind kind,
                                  struct nw_device **info, int32_t *count)
{
    nw_status status = nw_alloc(devices->count, sizeof **info, info);

    for (size_t i = 0; !status && i < devices->count; i++)
        if (devices->device[i].kind == kind)
            status = devices_add_device(build, &devices->device[i],
                                        &(*info)[(*count)++]);
    return status;
}

nw_status nw_hwloc_add_devices(struct nw_hwloc_build *build)
{
    struct nw_node_type *type = build->type;
    struct nw_hwloc_devices devices = {0};
    nw_status status = list_devices(build, &devices);

    if (!status)
        status =
            devices_walk(build, &devices, hwloc_get_root_obj(build->machine));
    if (!status)
        status = nw_hwloc_join_processors(build, &devices);
    if (!status)
        status = devices_add_kind(build, &devices, NW_VERTEX_GPU,
                                  &type->gpu_device, &type->gpu_count);
    if (!status)
        status = devices_add_kind(build, &devices, NW_VERTEX_NIC,
                                  &type->nic_device, &type->nic_count);
    if (!status)
        status = nw_hwloc_add_direct(build);
    if (!status && build->live)
        status = nw_gpu_links_apply(build->topology, type);
    free(devices.device);
    return status;
}
