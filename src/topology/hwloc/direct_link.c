/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads direct links (NVLink, xGMI and Xe Link) from the bandwidth matrices
 * that hwloc has if it was built with NVML, ROCm SMI or Level Zero. */
#include "base/array.h"
#include "base/status.h"
#include "topology/hwloc/devices.h"

#include <stdlib.h>
#include <string.h>

/* Bandwidths are lower, in hwloc's unit; only the diagonal has larger values.
 */
#define MAX_RATE 1000000000u

static const struct {
    const char *name;
    enum nw_link_kind kind;
} matrices[] = {
    {"NVLinkBandwidth", NW_LINK_NVLINK},
    {"XGMIBandwidth", NW_LINK_XGMI},
    {"XeLinkBandwidth", NW_LINK_XELINK},
};

static struct hwloc_distances_s *matrix_of(hwloc_topology_t machine, size_t m)
{
    struct hwloc_distances_s *matrix = NULL;
    unsigned count = 1;

    if (hwloc_distances_get_by_name(machine, matrices[m].name, &count, &matrix,
                                    0) ||
        !count)
        return NULL;
    return matrix;
}

static double direct_link_rate(const struct hwloc_distances_s *matrix,
                               enum nw_link_kind kind, unsigned from,
                               unsigned to)
{
    hwloc_uint64_t value = matrix->values[from * matrix->nbobjs + to];

    return value < MAX_RATE ? (double)value * nw_link_hwloc_unit(kind) : 0;
}

/* Returns the object whose vertex stands for an object of a matrix. For an
 * operating system device without a vertex, this is the nearest ancestor that
 * has a vertex or another type, in most cases the PCI device. It may be two
 * levels up: the operating system device of a tile of an Intel GPU is below
 * that of the whole GPU. All other objects stand for themselves. */
static hwloc_obj_t direct_link_device_of(hwloc_obj_t obj)
{
    while (obj && obj->type == HWLOC_OBJ_OS_DEVICE && !obj->userdata)
        obj = obj->parent;
    return obj;
}

static bool is_normal(hwloc_obj_t obj)
{
    return obj && hwloc_obj_type_is_normal(obj->type);
}

static bool is_below(hwloc_obj_t obj, hwloc_obj_t above)
{
    while (obj && obj != above)
        obj = obj->parent;
    return obj == above;
}

static void hwloc_direct_link_join(struct nw_hwloc_device *gpu,
                                   const struct hwloc_distances_s *matrix,
                                   enum nw_link_kind kind)
{
    for (unsigned i = 0; i < matrix->nbobjs; i++) {
        if (direct_link_device_of(matrix->objs[i]) != gpu->obj)
            continue;
        for (unsigned j = 0; j < matrix->nbobjs; j++)
            if (is_normal(matrix->objs[j]) &&
                direct_link_rate(matrix, kind, i, j) > 0 &&
                is_below(gpu->obj, matrix->objs[j])) {
                gpu->parent = nw_hwloc_vertex(matrix->objs[j]);
                gpu->speed = direct_link_rate(matrix, kind, i, j);
                gpu->link = kind;
            }
    }
}

nw_status nw_hwloc_join_processors(struct nw_hwloc_build *build,
                                   struct nw_hwloc_devices *devices)
{
    for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++) {
        struct hwloc_distances_s *matrix = matrix_of(build->machine, m);

        for (size_t d = 0; matrix && d < devices->count; d++)
            if (devices->device[d].kind == NW_VERTEX_GPU)
                hwloc_direct_link_join(&devices->device[d], matrix,
                                       matrices[m].kind);
        if (matrix)
            hwloc_distances_release(build->machine, matrix);
    }
    return NW_OK;
}

/* Returns true for an NVSwitch. Some can only be recognised by their subtype,
 * because the file does not have their class. */
static bool direct_link_is_switch(hwloc_obj_t obj)
{
    return obj->attr->pcidev.class_id == 0x0680 ||
           (obj->subtype && !strcmp(obj->subtype, "NVSwitch"));
}

/* Sets the vertex of an NVSwitch to the type's only GPU switch, which is added
 * if it is missing; see gpu/switch.c. The switch's place in the tree has no
 * meaning: only its direct links are used. */
static nw_status direct_link_add_switch(struct nw_hwloc_build *build,
                                        hwloc_obj_t obj)
{
    int32_t class, vertex = build->type->vertex_count - 1;
    nw_status status = nw_hwloc_class(build, NW_LINK_PCIE, NULL, &class);

    if (!status && build->type->kind[vertex] != NW_VERTEX_GPU_SWITCH)
        status = nw_node_type_add(build->type, 0, NW_VERTEX_GPU_SWITCH, class,
                                  &vertex);
    if (!status)
        nw_hwloc_set_vertex(obj, vertex);
    return status;
}

static nw_status direct_link_vertex_for(struct nw_hwloc_build *build,
                                        hwloc_obj_t obj, int32_t *vertex)
{
    nw_status status = NW_OK;

    *vertex = -1;
    if (!obj || (obj->type != HWLOC_OBJ_PCI_DEVICE && !obj->userdata) ||
        is_normal(obj))
        return NW_OK; /* an object without a vertex, or a processor, which the
                         tree already connects */
    if (!obj->userdata && direct_link_is_switch(obj))
        status = direct_link_add_switch(build, obj);
    if (!status && obj->userdata)
        *vertex = nw_hwloc_vertex(obj);
    return status;
}

/* Returns where the matrix has the rate between the two GPUs to which the
 * objects of values[k] belong. It is the rate between the first objects of
 * these GPUs, which are the whole GPUs. first[i] is the first object of the GPU
 * of object i. */
static hwloc_uint64_t *direct_link_whole(const struct hwloc_distances_s *matrix,
                                         const unsigned *first, size_t k)
{
    unsigned n = matrix->nbobjs;

    return &matrix->values[first[k / n] * n + first[k % n]];
}

/* Adds the rates between the tiles of two Intel GPUs to the rate between the
 * GPUs. hwloc 2.11 has already added them up: then the rates between tiles are
 * dropped. Either way the rates between tiles become 0. */
static nw_status direct_link_join_tiles(struct hwloc_distances_s *matrix)
{
    size_t n = matrix->nbobjs;
    hwloc_uint64_t *value = matrix->values, *whole;
    unsigned *first;
    nw_status status = nw_alloc(n, sizeof *first, &first);

    if (status)
        return status;
    for (size_t i = 0; i < n; i++)
        while (direct_link_device_of(matrix->objs[first[i]]) !=
               direct_link_device_of(matrix->objs[i]))
            first[i]++;
    for (size_t k = 0; k < n * n; k++) {
        whole = direct_link_whole(matrix, first, k);
        if (value[k] >= MAX_RATE || first[k / n] == first[k % n] ||
            (whole != &value[k] && *whole))
            value[k] = 0;
    }
    for (size_t k = 0; k < n * n; k++) {
        whole = direct_link_whole(matrix, first, k);
        if (whole != &value[k]) {
            *whole += value[k];
            value[k] = 0;
        }
    }
    free(first);
    return NW_OK;
}

/* Adds the link between objects i and j of the matrix. The first end of the
 * link is never a GPU switch: if object i is one, the ends are exchanged. Not
 * both ends can be GPU switches, because a node type has only one GPU switch.
 */
static nw_status direct_link_add_pair(struct nw_hwloc_build *build,
                                      const struct hwloc_distances_s *matrix,
                                      unsigned i, unsigned j,
                                      enum nw_link_kind kind)
{
    double speed[2] = {direct_link_rate(matrix, kind, i, j),
                       direct_link_rate(matrix, kind, j, i)};
    int32_t a, b, class;
    nw_status status;

    if (speed[0] <= 0 && speed[1] <= 0)
        return NW_OK;
    status = direct_link_vertex_for(build,
                                    direct_link_device_of(matrix->objs[i]), &a);
    if (!status)
        status = direct_link_vertex_for(
            build, direct_link_device_of(matrix->objs[j]), &b);
    if (status || a < 0 || b < 0 || a == b)
        return status;
    if (build->type->kind[a] == NW_VERTEX_GPU_SWITCH)
        return direct_link_add_pair(build, matrix, j, i, kind);
    status = nw_hwloc_class(build, kind, speed, &class);
    if (!status)
        status = nw_node_type_add_direct(build->type, a, b, class);
    return status;
}

nw_status nw_hwloc_add_direct(struct nw_hwloc_build *build)
{
    nw_status status = NW_OK;

    for (size_t m = 0; m < sizeof matrices / sizeof *matrices; m++) {
        struct hwloc_distances_s *matrix = matrix_of(build->machine, m);
        unsigned n = matrix ? matrix->nbobjs : 0;

        if (!status && n && matrices[m].kind == NW_LINK_XELINK)
            status = direct_link_join_tiles(matrix);
        for (unsigned i = 0; i < n; i++)
            for (unsigned j = i + 1; !status && j < n; j++)
                status =
                    direct_link_add_pair(build, matrix, i, j, matrices[m].kind);
        if (matrix)
            hwloc_distances_release(build->machine, matrix);
    }
    return status;
}
