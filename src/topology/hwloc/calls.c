/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads libhwloc when it is first needed. For each function of libhwloc that
 * this folder calls, this file has a function that calls it. */
#include "topology/hwloc/calls.h"

#include "base/status.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

static struct {
    hwloc_bitmap_t (*bitmap_alloc)(void);
    void (*bitmap_free)(hwloc_bitmap_t bitmap);
    int (*bitmap_isequal)(hwloc_const_bitmap_t a, hwloc_const_bitmap_t b);
    int (*bitmap_iszero)(hwloc_const_bitmap_t bitmap);
    int (*distances_get_by_name)(hwloc_topology_t machine, const char *name,
                                 unsigned *count,
                                 struct hwloc_distances_s **distances,
                                 unsigned long flags);
    void (*distances_release)(hwloc_topology_t machine,
                              struct hwloc_distances_s *distances);
    unsigned (*get_api_version)(void);
    int (*get_cpubind)(hwloc_topology_t machine, hwloc_cpuset_t set, int flags);
    unsigned (*get_nbobjs_by_depth)(hwloc_topology_t machine, int depth);
    hwloc_obj_t (*get_obj_by_depth)(hwloc_topology_t machine, int depth,
                                    unsigned index);
    int (*get_type_depth)(hwloc_topology_t machine, hwloc_obj_type_t type);
    int (*obj_type_is_normal)(hwloc_obj_type_t type);
    void (*topology_check)(hwloc_topology_t machine);
    void (*topology_destroy)(hwloc_topology_t machine);
    int (*topology_export_xmlbuffer)(hwloc_topology_t machine, char **text,
                                     int *length, unsigned long flags);
    int (*topology_init)(hwloc_topology_t *machine);
    int (*topology_is_thissystem)(hwloc_topology_t machine);
    int (*topology_load)(hwloc_topology_t machine);
    int (*topology_restrict)(hwloc_topology_t machine, hwloc_const_bitmap_t set,
                             unsigned long flags);
    int (*topology_set_components)(hwloc_topology_t machine,
                                   unsigned long flags, const char *name);
    int (*topology_set_io_types_filter)(hwloc_topology_t machine,
                                        enum hwloc_type_filter_e filter);
    int (*topology_set_synthetic)(hwloc_topology_t machine, const char *text);
    int (*topology_set_xmlbuffer)(hwloc_topology_t machine, const char *text,
                                  int length);
    int (*type_sscanf)(const char *text, hwloc_obj_type_t *type,
                       union hwloc_obj_attr_u *attributes, size_t size);
} calls;

static const struct {
    const char *name;
    void *address;
} table[] = {
    {"hwloc_bitmap_alloc", &calls.bitmap_alloc},
    {"hwloc_bitmap_free", &calls.bitmap_free},
    {"hwloc_bitmap_isequal", &calls.bitmap_isequal},
    {"hwloc_bitmap_iszero", &calls.bitmap_iszero},
    {"hwloc_distances_get_by_name", &calls.distances_get_by_name},
    {"hwloc_distances_release", &calls.distances_release},
    {"hwloc_get_api_version", &calls.get_api_version},
    {"hwloc_get_cpubind", &calls.get_cpubind},
    {"hwloc_get_nbobjs_by_depth", &calls.get_nbobjs_by_depth},
    {"hwloc_get_obj_by_depth", &calls.get_obj_by_depth},
    {"hwloc_get_type_depth", &calls.get_type_depth},
    {"hwloc_obj_type_is_normal", &calls.obj_type_is_normal},
    {"hwloc_topology_check", &calls.topology_check},
    {"hwloc_topology_destroy", &calls.topology_destroy},
    {"hwloc_topology_export_xmlbuffer", &calls.topology_export_xmlbuffer},
    {"hwloc_topology_init", &calls.topology_init},
    {"hwloc_topology_is_thissystem", &calls.topology_is_thissystem},
    {"hwloc_topology_load", &calls.topology_load},
    {"hwloc_topology_restrict", &calls.topology_restrict},
    {"hwloc_topology_set_components", &calls.topology_set_components},
    {"hwloc_topology_set_io_types_filter", &calls.topology_set_io_types_filter},
    {"hwloc_topology_set_synthetic", &calls.topology_set_synthetic},
    {"hwloc_topology_set_xmlbuffer", &calls.topology_set_xmlbuffer},
    {"hwloc_type_sscanf", &calls.type_sscanf},
};

static bool is_loaded;

/* Loads libhwloc with RTLD_GLOBAL, since its plugins look up its symbols in the
 * whole program. */
static void calls_load(void)
{
    void *library = dlopen("libhwloc.so.15", RTLD_NOW | RTLD_GLOBAL);

    for (size_t i = 0; library && i < sizeof table / sizeof *table; i++) {
        void *found = dlsym(library, table[i].name);

        if (!found)
            return;
        memcpy(table[i].address, &found, sizeof found);
    }
    is_loaded = library != NULL;
}

nw_status nw_hwloc_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, calls_load);
    return is_loaded ? NW_OK
                     : nw_fail(NW_ENODEV, "libhwloc.so.15 is needed to see "
                                          "machines and was not found");
}

hwloc_bitmap_t hwloc_bitmap_alloc(void)
{
    return calls.bitmap_alloc();
}

void hwloc_bitmap_free(hwloc_bitmap_t bitmap)
{
    calls.bitmap_free(bitmap);
}

int hwloc_bitmap_isequal(hwloc_const_bitmap_t a, hwloc_const_bitmap_t b)
{
    return calls.bitmap_isequal(a, b);
}

int hwloc_bitmap_iszero(hwloc_const_bitmap_t bitmap)
{
    return calls.bitmap_iszero(bitmap);
}

int hwloc_distances_get_by_name(hwloc_topology_t machine, const char *name,
                                unsigned *count,
                                struct hwloc_distances_s **distances,
                                unsigned long flags)
{
    return calls.distances_get_by_name(machine, name, count, distances, flags);
}

void hwloc_distances_release(hwloc_topology_t machine,
                             struct hwloc_distances_s *distances)
{
    calls.distances_release(machine, distances);
}

unsigned hwloc_get_api_version(void)
{
    return calls.get_api_version();
}

int hwloc_get_cpubind(hwloc_topology_t machine, hwloc_cpuset_t set, int flags)
{
    return calls.get_cpubind(machine, set, flags);
}

unsigned hwloc_get_nbobjs_by_depth(hwloc_topology_t machine, int depth)
{
    return calls.get_nbobjs_by_depth(machine, depth);
}

hwloc_obj_t hwloc_get_obj_by_depth(hwloc_topology_t machine, int depth,
                                   unsigned index)
{
    return calls.get_obj_by_depth(machine, depth, index);
}

int hwloc_get_type_depth(hwloc_topology_t machine, hwloc_obj_type_t type)
{
    return calls.get_type_depth(machine, type);
}

int hwloc_obj_type_is_normal(hwloc_obj_type_t type)
{
    return calls.obj_type_is_normal(type);
}

void hwloc_topology_check(hwloc_topology_t machine)
{
    calls.topology_check(machine);
}

void hwloc_topology_destroy(hwloc_topology_t machine)
{
    calls.topology_destroy(machine);
}

int hwloc_topology_export_xmlbuffer(hwloc_topology_t machine, char **text,
                                    int *length, unsigned long flags)
{
    return calls.topology_export_xmlbuffer(machine, text, length, flags);
}

int hwloc_topology_init(hwloc_topology_t *machine)
{
    return calls.topology_init(machine);
}

int hwloc_topology_is_thissystem(hwloc_topology_t machine)
{
    return calls.topology_is_thissystem(machine);
}

int hwloc_topology_load(hwloc_topology_t machine)
{
    return calls.topology_load(machine);
}

int hwloc_topology_restrict(hwloc_topology_t machine, hwloc_const_bitmap_t set,
                            unsigned long flags)
{
    return calls.topology_restrict(machine, set, flags);
}

int hwloc_topology_set_components(hwloc_topology_t machine, unsigned long flags,
                                  const char *name)
{
    return calls.topology_set_components(machine, flags, name);
}

int hwloc_topology_set_io_types_filter(hwloc_topology_t machine,
                                       enum hwloc_type_filter_e filter)
{
    return calls.topology_set_io_types_filter(machine, filter);
}

int hwloc_topology_set_synthetic(hwloc_topology_t machine, const char *text)
{
    return calls.topology_set_synthetic(machine, text);
}

int hwloc_topology_set_xmlbuffer(hwloc_topology_t machine, const char *text,
                                 int length)
{
    return calls.topology_set_xmlbuffer(machine, text, length);
}

int hwloc_type_sscanf(const char *text, hwloc_obj_type_t *type,
                      union hwloc_obj_attr_u *attributes, size_t size)
{
    return calls.type_sscanf(text, type, attributes, size);
}
