/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of libhwloc that this folder calls. Include this header instead
 * of <hwloc.h>. nw_hwloc_load loads the library, so that programs that read no
 * machine start without it, such as nodewise exec before every rank. Each name
 * stands for a function in hwloc/calls.c. So these functions never conflict
 * with those of the library in a program that uses hwloc itself. A new function
 * must be added to both files.
 */
#ifndef NW_TOPOLOGY_HWLOC_CALLS_H
#define NW_TOPOLOGY_HWLOC_CALLS_H

#define hwloc_bitmap_alloc nw_hwloc_bitmap_alloc
#define hwloc_bitmap_free nw_hwloc_bitmap_free
#define hwloc_bitmap_isequal nw_hwloc_bitmap_isequal
#define hwloc_bitmap_iszero nw_hwloc_bitmap_iszero
#define hwloc_distances_get_by_name nw_hwloc_distances_get_by_name
#define hwloc_distances_release nw_hwloc_distances_release
#define hwloc_get_api_version nw_hwloc_get_api_version
#define hwloc_get_cpubind nw_hwloc_get_cpubind
#define hwloc_get_nbobjs_by_depth nw_hwloc_get_nbobjs_by_depth
#define hwloc_get_obj_by_depth nw_hwloc_get_obj_by_depth
#define hwloc_get_type_depth nw_hwloc_get_type_depth
#define hwloc_obj_type_is_normal nw_hwloc_obj_type_is_normal
#define hwloc_topology_check nw_hwloc_topology_check
#define hwloc_topology_destroy nw_hwloc_topology_destroy
#define hwloc_topology_export_xmlbuffer nw_hwloc_topology_export_xmlbuffer
#define hwloc_topology_init nw_hwloc_topology_init
#define hwloc_topology_is_thissystem nw_hwloc_topology_is_thissystem
#define hwloc_topology_load nw_hwloc_topology_load
#define hwloc_topology_restrict nw_hwloc_topology_restrict
#define hwloc_topology_set_components nw_hwloc_topology_set_components
#define hwloc_topology_set_io_types_filter nw_hwloc_topology_set_io_types_filter
#define hwloc_topology_set_synthetic nw_hwloc_topology_set_synthetic
#define hwloc_topology_set_xmlbuffer nw_hwloc_topology_set_xmlbuffer
#define hwloc_type_sscanf nw_hwloc_type_sscanf

#include <hwloc.h>
#include <hwloc/distances.h>

#include <nodewise/status.h>

/* Loads the library at the first call; call it before all other functions.
 * Returns NW_ENODEV if the library is not installed or lacks one of the
 * functions. */
NW_MUST_CHECK nw_status nw_hwloc_load(void);

#endif
