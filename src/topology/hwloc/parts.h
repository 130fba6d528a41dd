/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of nw_hwloc_node_type, private to its files: open the machine,
 * build its cores, then its devices. */
#ifndef NW_TOPOLOGY_HWLOC_PARTS_H
#define NW_TOPOLOGY_HWLOC_PARTS_H

#include "topology/hwloc/calls.h"
#include "topology/hwloc/node.h"

/* A loaded machine; the caller destroys *out. */
NW_MUST_CHECK nw_status nw_hwloc_open(enum nw_hwloc_from from, const char *what,
                                      hwloc_topology_t *out);

/* Reads an XML file and checks it for errors that hwloc would not explain.
 * *host is the machine's name in the file or NULL. The caller frees both;
 * `host` may be NULL. */
NW_MUST_CHECK nw_status nw_hwloc_xml_read(const char *file, char **data,
                                          size_t *length, char **host);

/* Refuses a synthetic description that hwloc would not survive, or whose order
 * of numbers it would not follow. *threads: whether its last level is that of
 * hardware threads. */
NW_MUST_CHECK nw_status nw_hwloc_check_synthetic(const char *what,
                                                 bool *threads);

struct nw_hwloc_build {
    nw_topology *topology;
    struct nw_node_type *type;
    hwloc_topology_t machine;
    int32_t cores, threads; /* added so far */
    bool live;              /* this machine: more can be asked */
};

/* The class of a link of that kind: its bandwidth where positive, else the
 * assumed figure. */
NW_MUST_CHECK nw_status nw_hwloc_class(struct nw_hwloc_build *build,
                                       enum nw_link_kind kind,
                                       const double bandwidth[2], int32_t *out);

/* The vertex made of an object or of the nearest object around it. */
int32_t nw_hwloc_vertex(hwloc_obj_t obj);
void nw_hwloc_set_vertex(hwloc_obj_t obj, int32_t vertex);

/* GPUs, network cards and the bridges above them; then direct links. Normal
 * objects have their vertices by now. */
NW_MUST_CHECK nw_status nw_hwloc_add_devices(struct nw_hwloc_build *build);

/* Lets a child process load these bytes (NUL-terminated) with hwloc, which may
 * crash or print. *written is the same machine as XML of the hwloc here, which
 * the caller loads instead and frees. */
NW_MUST_CHECK nw_status nw_hwloc_try_xml(const char *file, const char *data,
                                         size_t length, char **written);

#endif
