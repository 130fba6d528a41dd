/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology is a machine: nodes with cores, GPUs and network cards, and the
 * links between them. Distances and routes are functions of two ends, computed
 * from trees and routing rules in O(depth), never from an n x n table (only
 * explicit matrices hold one).
 *
 * A handle is not locked: const calls may run concurrently, others not.
 * All calls are local: none is an MPI call.
 */
#ifndef NODEWISE_TOPOLOGY_H
#define NODEWISE_TOPOLOGY_H

#include <nodewise/status.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct nw_topology nw_topology;

/* What ranks are placed on. */
enum nw_elements { NW_ELEMENTS_CORE, NW_ELEMENTS_PU };

struct nw_topology_options {
    size_t size; /* sizeof of this struct */
    enum nw_elements elements;
};
#define NW_TOPOLOGY_OPTIONS_INIT                                               \
    {                                                                          \
        .size = sizeof(struct nw_topology_options)                             \
    }

/* Reads a SOURCE: "live", FILE.yaml, FILE.xml, "hwloc:...", "hierarchy:...",
 * "matrix:FILE" or a bundled cluster's name; see nodewise-topology(5).
 * `options` may be NULL. The caller frees *out with nw_topology_free.
 * NW_EFORMAT and NW_EIO name file and line; NW_EINVAL is a bad source;
 * *out is set only on success. */
NW_API NW_MUST_CHECK nw_status
nw_topology_load(const char *source, const struct nw_topology_options *options,
                 nw_topology **out);
/* A machine put together from several SOURCEs. Hosts are matched by name, a
 * short name with its long form too. */
struct nw_topology_parts {
    size_t size;         /* sizeof of this struct */
    const char *network; /* of which the hosts and switches are; or NULL */
    /* what is inside hosts: "SOURCE", of those it names, or of all where it is
     * the only one and describes one node; or "HOSTS=SOURCE" */
    const char *const *nodes;
    size_t node_count;
    const char *gpus; /* one node, whose GPU links are taken; or NULL */
};
#define NW_TOPOLOGY_PARTS_INIT                                                 \
    {                                                                          \
        .size = sizeof(struct nw_topology_parts)                               \
    }
/* *notes has a line for each contradiction between the sources and what was
 * done about it, "" for none; the caller frees both. NW_EFORMAT where they
 * cannot be of one machine. */
NW_API NW_MUST_CHECK nw_status nw_topology_compose(
    const struct nw_topology_parts *parts,
    const struct nw_topology_options *options, nw_topology **out, char **notes);
/* A machine of n elements from n x n distances, row by row, each a finite
 * number from 0; it has no links. `distances` is borrowed for the call. */
NW_API NW_MUST_CHECK nw_status nw_topology_from_distances(
    const char *name, const double *distances, size_t n, nw_topology **out);
NW_API void nw_topology_free(nw_topology *topology); /* NULL is fine */

/* The machine as a cluster file, which reads back as the same machine; free()
 * *out. NW_EINVAL for a hierarchy or a matrix, NW_EUNSUPPORTED for what the
 * file cannot say. */
NW_API NW_MUST_CHECK nw_status nw_topology_write(const nw_topology *topology,
                                                 char **out);

/* The bundled clusters: name and one sentence for index 0, 1, ...; false past
 * the last. Static strings. */
NW_API bool nw_topology_bundled(size_t index, const char **name,
                                const char **summary);

/* What the machine calls itself: the source, or the cluster file's name. */
NW_API const char *nw_topology_name(const nw_topology *topology);

/* Borrowed: a line for each doubt about the source, such as a node that Slurm
 * has on two switches, or cores that a file does not name; "" if none. */
NW_API const char *nw_topology_notes(const nw_topology *topology);

NW_API int32_t nw_topology_node_count(const nw_topology *topology);
NW_API int32_t nw_topology_element_count(const nw_topology *topology);
NW_API int32_t nw_topology_gpu_count(const nw_topology *topology);
NW_API int32_t nw_topology_link_count(const nw_topology *topology);

/* Borrowed. Nodes are numbered from 0 in the topology's order. */
NW_API const char *nw_topology_node_name(const nw_topology *topology,
                                         int32_t node);
/* The node of that name, or -1. Where there is none, "n1.site" is the node
 * "n1", and "n1" the one node whose name is "n1." and a domain. */
NW_API int32_t nw_topology_node_find(const nw_topology *topology,
                                     const char *name);

/* Elements are numbered from 0, node by node, inside a node by logical core
 * index; GPUs likewise in PCI bus order. First number and count of a node. */
struct nw_range {
    int32_t first, count;
};
NW_API struct nw_range nw_topology_node_elements(const nw_topology *topology,
                                                 int32_t node);
NW_API struct nw_range nw_topology_node_gpus(const nw_topology *topology,
                                             int32_t node);
NW_API int32_t nw_topology_node_package_count(const nw_topology *topology,
                                              int32_t node);
NW_API int32_t nw_topology_node_nic_count(const nw_topology *topology,
                                          int32_t node);
NW_API int32_t nw_topology_element_node(const nw_topology *topology,
                                        int32_t element);
NW_API int32_t nw_topology_gpu_node(const nw_topology *topology, int32_t gpu);
/* Package of an element or GPU inside its node, from 0; -1 where it is below
 * none. */
NW_API int32_t nw_topology_element_package(const nw_topology *topology,
                                           int32_t element);
NW_API int32_t nw_topology_gpu_package(const nw_topology *topology,
                                       int32_t gpu);

/* The operating system's numbers of an element's hardware threads: the count,
 * and *os borrowed; 0 where the source does not tell. */
NW_API size_t nw_topology_element_threads(const nw_topology *topology,
                                          int32_t element, const int32_t **os);

/* The operating system's numbers of an element's hardware threads, in logical
 * order. Returns their count and a borrowed array; 0 where the description
 * does not have them. */
NW_API size_t nw_topology_element_cpus(const nw_topology *topology,
                                       int32_t element, const int32_t **cpus);

/* What is known of a GPU or network card; borrowed, NULL where not known. */
struct nw_device_info {
    const char *name; /* model, or the card's name such as mlx5_0 */
    const char *uuid; /* GPU-... */
    const char *pci;  /* 0000:3b:00.0 */
};
NW_API struct nw_device_info nw_topology_gpu_info(const nw_topology *topology,
                                                  int32_t gpu);
NW_API struct nw_device_info nw_topology_nic_info(const nw_topology *topology,
                                                  int32_t node, int32_t nic);

/* One end of a message: an element, a GPU, or a network card. `nic` is the
 * card its messages leave by, -1 for the nearest. Plain data, by value. */
struct nw_end {
    int32_t node;
    int32_t vertex; /* inside the node; opaque */
    int32_t nic;
};
NW_API struct nw_end nw_topology_element_end(const nw_topology *topology,
                                             int32_t element);
NW_API struct nw_end nw_topology_gpu_end(const nw_topology *topology,
                                         int32_t gpu);
NW_API struct nw_end nw_topology_nic_end(const nw_topology *topology,
                                         int32_t node, int32_t nic);

/* distance(a, b): 0 for a = b (for matrices the diagonal as given); the number
 * given for hierarchies and matrices; otherwise the number of links on the
 * route, tree edges, network links and direct links counting 1 each. */
NW_API double nw_topology_distance(const nw_topology *topology, struct nw_end a,
                                   struct nw_end b);
/* The distances from one end to each of `count` ends, into out[count]. */
NW_API void nw_topology_distances(const nw_topology *topology,
                                  struct nw_end from, const struct nw_end *to,
                                  size_t count, double *out);
/* True where every distance is a whole number below 2^53. */
NW_API bool nw_topology_is_integral(const nw_topology *topology);

/* The links from a to b in order, each as 2 x link + direction (0 from child
 * to parent or as declared, 1 back; always 0 on half-duplex links, whose two
 * directions share one bandwidth). `hops` has room for
 * nw_topology_route_max() entries. Returns the count; 0 for a = b, and for
 * matrices, which have no links. */
NW_API size_t nw_topology_route(const nw_topology *topology, struct nw_end a,
                                struct nw_end b, uint32_t *hops);
NW_API size_t nw_topology_route_max(const nw_topology *topology);
NW_API bool nw_topology_has_links(const nw_topology *topology);

#define NW_LINK_KIND_LIST(X)                                                   \
    X(NW_LINK_GROUP, "group")   /* a level of a plain hierarchy */             \
    X(NW_LINK_CORE, "core")     /* core to cache or memory */                  \
    X(NW_LINK_CACHE, "cache")   /* cache to the level above */                 \
    X(NW_LINK_MEMORY, "memory") /* NUMA node to package */                     \
    X(NW_LINK_SOCKET, "socket") /* package to package: QPI, UPI, xGMI */       \
    X(NW_LINK_PCIE, "pcie")                                                    \
    X(NW_LINK_NVLINK, "nvlink")                                                \
    X(NW_LINK_XGMI, "xgmi")                                                    \
    X(NW_LINK_NIC, "nic")         /* node or card to its first switch */       \
    X(NW_LINK_NETWORK, "network") /* switch to switch */

enum nw_link_kind {
#define NW_LINK_ENUM(name, text) name,
    NW_LINK_KIND_LIST(NW_LINK_ENUM)
#undef NW_LINK_ENUM
        NW_LINK_KIND_COUNT
};
NW_API const char *nw_link_kind_name(enum nw_link_kind kind);

struct nw_link_info {
    enum nw_link_kind kind;
    double bandwidth[2]; /* bytes/s, by direction; the same one if shared */
    double latency;      /* s */
    bool half_duplex;
    bool assumed; /* figures by kind from the table in nodewise-topology(5) */
};
NW_API struct nw_link_info nw_topology_link(const nw_topology *topology,
                                            int32_t link);
/* "n001: package 1 - node", "leaf0 - spine1": written to out. Returns out. */
NW_API const char *nw_topology_link_name(const nw_topology *topology,
                                         int32_t link, char *out, size_t size);

/* The level at which two ends meet: the deepest thing that holds both, or the
 * number of switches between their nodes. Level 0 is the same element. */
NW_API int32_t nw_topology_level(const nw_topology *topology, struct nw_end a,
                                 struct nw_end b);
NW_API int32_t nw_topology_level_count(const nw_topology *topology);
NW_API const char *nw_topology_level_name(const nw_topology *topology,
                                          int32_t level);

#ifdef __cplusplus
}
#endif
#endif
