/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of nw_hwloc_node_type: open the machine, add its cores, then its
 * devices. Private to the files of this folder. */
#ifndef NW_TOPOLOGY_HWLOC_PARTS_H
#define NW_TOPOLOGY_HWLOC_PARTS_H

#include "topology/hwloc/calls.h"
#include "topology/hwloc/node.h"

/* Loads a machine; the caller calls hwloc_topology_destroy for *out. */
NW_MUST_CHECK nw_status nw_hwloc_open(enum nw_hwloc_from from, const char *what,
                                      hwloc_topology_t *out);

/* Reads an XML file and checks it for errors that hwloc would not explain.
 * *host is the machine's name in the file or NULL; `host` itself may be NULL.
 * The caller frees *data and *host. */
NW_MUST_CHECK nw_status nw_hwloc_xml_read(const char *file, char **data,
                                          size_t *length, char **host);

/* Returns an error for a synthetic description that would crash hwloc, or whose
 * indexes hwloc would ignore. *threads is true if its last level is hardware
 * threads, or becomes hardware threads because it has no kind. */
NW_MUST_CHECK nw_status nw_hwloc_check_synthetic(const char *what,
                                                 bool *threads);

/* The state while a node type is built. */
struct nw_hwloc_build {
    nw_topology *topology;
    struct nw_node_type *type;
    hwloc_topology_t machine;
    int32_t cores, threads; /* number added so far */
    bool live; /* the source is `live`, and no variable of hwloc gives another
                  machine: the kernel's files and the vendors' libraries are
                  read, too */
};

/* Finds or adds the class of a link of kind `kind`. `bandwidth`, in bytes/s for
 * each direction, replaces the assumed one if it is positive; if only one
 * direction has a positive one, it is used for both. `bandwidth` may be NULL.
 */
NW_MUST_CHECK nw_status nw_hwloc_class(struct nw_hwloc_build *build,
                                       enum nw_link_kind kind,
                                       const double bandwidth[2], int32_t *out);

/* Returns the vertex of an object, or else of the nearest ancestor that has
 * one. */
int32_t nw_hwloc_vertex(hwloc_obj_t obj);
void nw_hwloc_set_vertex(hwloc_obj_t obj, int32_t vertex);

/* Adds GPUs, NICs and the bridges above them, then direct links. Call it when
 * the normal objects have their vertices. */
NW_MUST_CHECK nw_status nw_hwloc_add_devices(struct nw_hwloc_build *build);

/* Loads XML text (NUL-terminated) with hwloc in a child process first, since
 * hwloc may crash or print messages. *written is the same machine as XML of the
 * installed hwloc. The caller then loads *written instead of the file, and
 * frees it. */
NW_MUST_CHECK nw_status nw_hwloc_try_xml(const char *file, const char *data,
                                         size_t length, char **written);

#endif
