/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the processors of a node: packages, cores, and the dies, NUMA nodes and
 * caches of hwloc's tree that divide the cores into smaller sets. */
#include "topology/hwloc/node.h"
#include "base/array.h"
#include "base/status.h"
#include "topology/hwloc/parts.h"

#include <stdint.h>

/* Returns true for a core, and for a hardware thread without a core above it.
 */
static bool is_core(hwloc_obj_t obj)
{
    if (obj->type != HWLOC_OBJ_PU)
        return obj->type == HWLOC_OBJ_CORE;
    while ((obj = obj->parent))
        if (obj->type == HWLOC_OBJ_CORE)
            return false;
    return true;
}

/* Returns the number of cores in an object if it has less than two; otherwise
 * any number from 2. */
static int some_cores(hwloc_obj_t obj)
{
    int count = is_core(obj);

    for (hwloc_obj_t child = obj->first_child; child && count < 2;
         child = child->next_sibling)
        count += some_cores(child);
    return count;
}

/* Returns true if a die, NUMA node or cache becomes a vertex: it has several
 * cores, and fewer than the nearest object above that has a vertex (`around`).
 */
static bool parts_cores(hwloc_obj_t obj, hwloc_obj_t around)
{
    return !hwloc_bitmap_isequal(obj->cpuset, around->cpuset) &&
           some_cores(obj) > 1;
}

/* Returns true if the memory object contains exactly one package. In files of
 * hwloc 1, memory is above its package; then only the package becomes a vertex,
 * as in hwloc 2. */
static bool is_around_package(hwloc_obj_t obj)
{
    while (obj->arity == 1 && obj->first_child->type != HWLOC_OBJ_PACKAGE)
        obj = obj->first_child;
    return obj->arity == 1;
}

/* The kinds of the vertex for an object, and of the link to its parent. */
struct node_part {
    enum nw_vertex_kind kind;
    enum nw_link_kind link;
};

/* Sets *part to the kinds for an object that becomes a vertex. Returns false if
 * it does not become one. */
static bool find_part(hwloc_obj_t obj, hwloc_obj_t around,
                      struct node_part *part)
{
    bool level;

    if (obj->type == HWLOC_OBJ_PU || obj->type == HWLOC_OBJ_CORE) {
        *part = (struct node_part){NW_VERTEX_CORE, NW_LINK_CORE};
        return is_core(obj);
    }
    if (obj->type == HWLOC_OBJ_PACKAGE) {
        *part = (struct node_part){NW_VERTEX_PACKAGE, NW_LINK_SOCKET};
        return true;
    }
    level = parts_cores(obj, around);
    if (obj->type == HWLOC_OBJ_DIE)
        *part = (struct node_part){NW_VERTEX_DIE, NW_LINK_MEMORY};
    else if (obj->memory_arity && !is_around_package(obj))
        *part = (struct node_part){NW_VERTEX_NUMA, NW_LINK_MEMORY};
    else if (obj->type == HWLOC_OBJ_L3CACHE)
        *part = (struct node_part){NW_VERTEX_L3, NW_LINK_CACHE};
    else if (obj->type == HWLOC_OBJ_L2CACHE)
        *part = (struct node_part){NW_VERTEX_L2, NW_LINK_CACHE};
    else
        return false;
    return level;
}

/* Records the operating system's number of a hardware thread, and adds a vertex
 * for the thread if hardware threads are the elements. */
static nw_status node_add_thread(struct nw_hwloc_build *build, hwloc_obj_t pu,
                                 int32_t core)
{
    int32_t class, vertex;
    nw_status status;

    build->type->pu_os[build->threads++] = (int32_t)pu->os_index;
    if (build->topology->elements != NW_ELEMENTS_PU)
        return NW_OK;
    status = nw_hwloc_class(build, NW_LINK_CORE, NULL, &class);
    if (!status)
        status =
            nw_node_type_add(build->type, core, NW_VERTEX_PU, class, &vertex);
    return status;
}

static nw_status node_add_threads(struct nw_hwloc_build *build, hwloc_obj_t obj,
                                  int32_t core)
{
    nw_status status = NW_OK;

    if (obj->type == HWLOC_OBJ_PU)
        return node_add_thread(build, obj, core);
    for (hwloc_obj_t child = obj->first_child; !status && child;
         child = child->next_sibling)
        status = node_add_threads(build, child, core);
    return status;
}

/* Sets the vertex of an object, and of the objects between it and `around` that
 * contain only this object, since devices may be attached to these. */
static void take_vertex(hwloc_obj_t obj, hwloc_obj_t around, int32_t vertex)
{
    do {
        nw_hwloc_set_vertex(obj, vertex);
        obj = obj->parent;
    } while (obj != around && obj->arity == 1);
}

static nw_status node_add_part(struct nw_hwloc_build *build, hwloc_obj_t obj,
                               hwloc_obj_t around, const struct node_part *part)
{
    struct nw_node_type *type = build->type;
    int32_t class, vertex;
    nw_status status = nw_hwloc_class(build, part->link, NULL, &class);

    if (!status)
        status = nw_node_type_add(type, nw_hwloc_vertex(around), part->kind,
                                  class, &vertex);
    if (status)
        return status;
    take_vertex(obj, around, vertex);
    if (part->kind != NW_VERTEX_CORE)
        return NW_OK;
    type->core_os[build->cores++] = (int32_t)obj->os_index;
    status = node_add_threads(build, obj, vertex);
    type->core_pu[build->cores] = build->threads;
    return status;
}

/* Adds the vertices below `obj` depth first, so that cores are numbered in
 * hwloc's logical order. `around` is the nearest object that has a vertex. */
static nw_status node_add_below(struct nw_hwloc_build *build, hwloc_obj_t obj,
                                hwloc_obj_t around)
{
    nw_status status = NW_OK;
    struct node_part part;

    for (hwloc_obj_t child = obj->first_child; !status && child;
         child = child->next_sibling) {
        bool is_part = find_part(child, around, &part);

        if (is_part)
            status = node_add_part(build, child, around, &part);
        if (!status)
            status = node_add_below(build, child, is_part ? child : around);
    }
    return status;
}

/* Allocates the arrays for the operating system's numbers of cores and
 * threads. */
static nw_status make_room(struct nw_hwloc_build *build)
{
    struct nw_node_type *type = build->type;
    int n = hwloc_get_nbobjs_by_type(build->machine, HWLOC_OBJ_PU);
    size_t count = n > 0 ? (size_t)n : 0;
    nw_status status = nw_alloc(count, sizeof *type->core_os, &type->core_os);

    if (!status)
        status = nw_alloc(count + 1, sizeof *type->core_pu, &type->core_pu);
    if (!status)
        status = nw_alloc(count, sizeof *type->pu_os, &type->pu_os);
    return status;
}

static nw_status build_type(struct nw_hwloc_build *build)
{
    hwloc_obj_t root = hwloc_get_root_obj(build->machine);
    nw_status status = make_room(build);

    nw_hwloc_set_vertex(root, 0);
    if (!status)
        status = node_add_below(build, root, root);
    if (!status)
        status = nw_hwloc_add_devices(build);
    return status;
}

nw_status nw_hwloc_node_type(nw_topology *topology, const char *name,
                             enum nw_hwloc_from from, const char *what,
                             struct nw_node_type **out)
{
    struct nw_hwloc_build build = {.topology = topology};
    nw_status status = nw_hwloc_open(from, what, &build.machine);

    if (status)
        return status;
    build.live =
        from == NW_HWLOC_LIVE && hwloc_topology_is_thissystem(build.machine);
    status = nw_node_type_new(topology, name, &build.type);
    if (!status)
        status = build_type(&build);
    if (!status)
        *out = build.type;
    hwloc_topology_destroy(build.machine);
    return status;
}
