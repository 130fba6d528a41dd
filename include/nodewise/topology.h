/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A topology describes a machine: nodes with cores, GPUs and NICs, and the
 * links between them. Distances and routes are computed from two endpoints, by
 * trees and routing rules in O(depth). Only explicit matrices store an n x n
 * table.
 *
 * Handles are not locked: several threads may make const calls at the same
 * time, but all other calls need exclusive access. All calls are local; none
 * calls MPI.
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

/* The unit on which ranks are placed: a core or a hardware thread (PU). */
enum nw_elements { NW_ELEMENTS_CORE, NW_ELEMENTS_PU };

/* Options of the calls that read a topology. Initialise with
 * NW_TOPOLOGY_OPTIONS_INIT. */
struct nw_topology_options {
    size_t size; /* sizeof of this struct */
    enum nw_elements elements;
};
#define NW_TOPOLOGY_OPTIONS_INIT                                               \
    {                                                                          \
        .size = sizeof(struct nw_topology_options)                             \
    }

/* Reads a SOURCE: "live", FILE.yaml, FILE.xml, "hwloc:...", "hierarchy:...",
 * "matrix:FILE" or the name of a bundled cluster; see nodewise-topology(5).
 * `options` may be NULL. *out is set only on success; the caller frees it with
 * nw_topology_free. NW_EFORMAT and NW_EIO: the sentence names file and line.
 * NW_EINVAL: invalid source. */
NW_API NW_MUST_CHECK nw_status
nw_topology_load(const char *source, const struct nw_topology_options *options,
                 nw_topology **out);
/* Describes a machine by several SOURCEs. Hosts are matched by name; a short
 * host name matches its long form. */
struct nw_topology_parts {
    size_t size; /* sizeof of this struct */
    /* SOURCE that gives hosts and switches; NULL: nodes[0] gives them */
    const char *network;
    /* Sources that describe the inside of hosts. "HOSTS=SOURCE" applies to
     * those hosts. "SOURCE" applies to the hosts that it names, or to all hosts
     * if it is the only source and describes one node. */
    const char *const *nodes;
    size_t node_count;
    const char *gpus; /* SOURCE of one node, which gives the GPU links; or NULL.
                         Without `nodes`, it also gives the inside of hosts */
};
#define NW_TOPOLOGY_PARTS_INIT                                                 \
    {                                                                          \
        .size = sizeof(struct nw_topology_parts)                               \
    }
/* Builds the machine that `parts` describe. *notes has one line for each
 * contradiction between the sources, with the decision that was made. *notes is
 * "" if the sources do not contradict each other. The caller frees *out with
 * nw_topology_free and *notes with free(). NW_EFORMAT: the sources cannot
 * describe one machine. */
NW_API NW_MUST_CHECK nw_status nw_topology_compose(
    const struct nw_topology_parts *parts,
    const struct nw_topology_options *options, nw_topology **out, char **notes);
/* Builds a machine of n elements and no links from n x n distances, row by row.
 * Each distance is finite and at least 0. `distances` is borrowed for the call.
 * The caller frees *out with nw_topology_free. */
NW_API NW_MUST_CHECK nw_status nw_topology_from_distances(
    const char *name, const double *distances, size_t n, nw_topology **out);
NW_API void nw_topology_free(nw_topology *topology); /* NULL is fine */

/* Writes the machine as the text of a cluster file, which describes the same
 * machine when it is read again. The caller frees *out with free(). NW_EINVAL:
 * the topology is a hierarchy or a matrix. NW_EUNSUPPORTED: the format cannot
 * express this machine. */
NW_API NW_MUST_CHECK nw_status nw_topology_write(const nw_topology *topology,
                                                 char **out);

/* Makes a commented cluster file that a user can adapt. The specification is
 * "key=value,..." with the keys nodes, sockets, numa, cores, threads, gpus,
 * nics and network; see nodewise-topology(1). The caller frees *out with
 * free(). NW_EINVAL: a key or value is invalid. */
NW_API NW_MUST_CHECK nw_status nw_topology_template(const char *specification,
                                                    char **out);

/* Options of nw_topology_export, which writes the machine as a file of another
 * program. Formats: "nccl" (topology file of NCCL), "hwloc" (XML), "slurm" and
 * "slurm-yaml" (topology.conf and topology.yaml, a tree), "slurm-block" and
 * "slurm-yaml-block", "k8s" (Node objects with the labels of topograph). */
struct nw_topology_export_options {
    size_t size; /* sizeof of this struct */
    const char *format;
    const char *host; /* the node that "nccl" and "hwloc" describe; NULL: any
                         node, if all are of one type */
    /* "nccl": the PCI addresses of GPUs and NICs are taken from the first node
     * of this topology, for example as a virtual machine sees them. NULL: from
     * `topology`. */
    const nw_topology *addresses;
};
#define NW_TOPOLOGY_EXPORT_OPTIONS_INIT                                        \
    {                                                                          \
        .size = sizeof(struct nw_topology_export_options)                      \
    }
/* Writes the text of the file to *out. *notes names in one line the properties
 * of the machine that the format cannot express; "" if nothing is lost. The
 * caller frees *out and *notes with free(). NW_EUNSUPPORTED: the format cannot
 * describe this machine at all. */
NW_API NW_MUST_CHECK nw_status nw_topology_export(
    const nw_topology *topology,
    const struct nw_topology_export_options *options, char **out, char **notes);

/* Sets *name and *summary to the name and the one-sentence summary of the
 * bundled cluster with this index, which starts at 0. Returns false if the
 * index is too large. The strings are static. */
NW_API bool nw_topology_bundled(size_t index, const char **name,
                                const char **summary);

/* The machine's name: the source, or the name that the cluster file gives. */
NW_API const char *nw_topology_name(const nw_topology *topology);

/* One line for each doubtful statement of the source, for example a node that
 * Slurm lists on two switches; "" if all statements are clear. Borrowed. */
NW_API const char *nw_topology_notes(const nw_topology *topology);

NW_API int32_t nw_topology_node_count(const nw_topology *topology);
NW_API int32_t nw_topology_element_count(const nw_topology *topology);
NW_API int32_t nw_topology_gpu_count(const nw_topology *topology);
NW_API int32_t nw_topology_link_count(const nw_topology *topology);

/* The name of a node; borrowed. Nodes are numbered from 0 in the topology's
 * order. */
NW_API const char *nw_topology_node_name(const nw_topology *topology,
                                         int32_t node);
/* The node with this name, or -1. If no name is equal, "n1.site" finds the node
 * "n1", and "n1" finds "n1.site" if only one such node exists. */
NW_API int32_t nw_topology_node_find(const nw_topology *topology,
                                     const char *name);

/* Consecutive elements or GPUs of a node: the number of the first one, and
 * their count. Elements are numbered from 0, node by node, and inside a node by
 * logical core index. GPUs are numbered from 0, node by node in PCI bus order.
 */
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
/* Package of an element or GPU, counted from 0 inside its node; -1 if the
 * element or GPU is not inside a package. */
NW_API int32_t nw_topology_element_package(const nw_topology *topology,
                                           int32_t element);
NW_API int32_t nw_topology_gpu_package(const nw_topology *topology,
                                       int32_t gpu);

/* An older name of nw_topology_element_cpus. */
NW_API size_t nw_topology_element_threads(const nw_topology *topology,
                                          int32_t element, const int32_t **os);

/* The operating system's numbers of an element's hardware threads, in logical
 * order. Sets *cpus to a borrowed array and returns its length; returns 0 if
 * the topology does not have these numbers. */
NW_API size_t nw_topology_element_cpus(const nw_topology *topology,
                                       int32_t element, const int32_t **cpus);

/* Names of a GPU or NIC. Borrowed; NULL if not known. */
struct nw_device_info {
    const char *name; /* model of a GPU, or name of a NIC (mlx5_0) */
    const char *uuid; /* GPU-... */
    const char *pci;  /* 0000:3b:00.0 */
};
NW_API struct nw_device_info nw_topology_gpu_info(const nw_topology *topology,
                                                  int32_t gpu);
NW_API struct nw_device_info nw_topology_nic_info(const nw_topology *topology,
                                                  int32_t node, int32_t nic);

/* One endpoint of a message: an element, a GPU or a NIC. `nic` is the NIC
 * through which its messages leave the node, or -1 for the nearest one. -1 - i
 * is the i-th of the NICs over which a GPU stripes its messages, from 0. Plain
 * data, passed by value. */
struct nw_end {
    int32_t node;
    int32_t vertex; /* number of the core, GPU or NIC inside the node, which has
                       no meaning for callers */
    int32_t nic;
};
NW_API struct nw_end nw_topology_element_end(const nw_topology *topology,
                                             int32_t element);
NW_API struct nw_end nw_topology_gpu_end(const nw_topology *topology,
                                         int32_t gpu);
NW_API struct nw_end nw_topology_nic_end(const nw_topology *topology,
                                         int32_t node, int32_t nic);

/* Distance from a to b. Hierarchies and matrices give the distance that was
 * stated. Other machines count the links on the route: each tree edge, network
 * link and direct link counts 1. The distance is 0 for a = b, except in a
 * matrix, whose diagonal is used. */
NW_API double nw_topology_distance(const nw_topology *topology, struct nw_end a,
                                   struct nw_end b);
/* Stores the distance from one endpoint to each of `count` endpoints in
 * out[count]. */
NW_API void nw_topology_distances(const nw_topology *topology,
                                  struct nw_end from, const struct nw_end *to,
                                  size_t count, double *out);
/* True if every distance is a whole number below 2^53. */
NW_API bool nw_topology_is_integral(const nw_topology *topology);

/* Stores the links of the route from a to b, in order, and returns their count.
 * Each entry is 2 x link + direction. In a tree, direction 0 leads from child
 * to parent. On other links, direction 0 leads from the first declared end to
 * the second. Direction 1 is the opposite. Half-duplex links share one
 * bandwidth and always use direction 0. `hops` must have space for
 * nw_topology_route_max() entries, which suffice for all parts of a message
 * (nw_topology_stripe_count). The count is 0 for a = b and for matrices,
 * which have no links. */
NW_API size_t nw_topology_route(const nw_topology *topology, struct nw_end a,
                                struct nw_end b, uint32_t *hops);
NW_API size_t nw_topology_route_max(const nw_topology *topology);
/* Returns into how many equal parts a message from a to b is divided. The
 * result is above 1 only between GPUs of two nodes that have several NICs of
 * their own and no common NVLink domain, if neither end names its NIC. Part i
 * takes
 * the route between the ends with `nic` = -1 - i. nw_topology_distance and
 * nw_topology_level are those of part 0. */
NW_API int32_t nw_topology_stripe_count(const nw_topology *topology,
                                        struct nw_end a, struct nw_end b);
NW_API bool nw_topology_has_links(const nw_topology *topology);

/* Kinds of links, and their names. */
#define NW_LINK_KIND_LIST(X)                                                   \
    X(NW_LINK_GROUP, "group")   /* a level of a plain hierarchy */             \
    X(NW_LINK_CORE, "core")     /* core to cache or memory */                  \
    X(NW_LINK_CACHE, "cache")   /* cache to the level above */                 \
    X(NW_LINK_MEMORY, "memory") /* NUMA node to package */                     \
    X(NW_LINK_SOCKET, "socket") /* package to package: QPI, UPI, xGMI */       \
    X(NW_LINK_PCIE, "pcie")                                                    \
    X(NW_LINK_NVLINK, "nvlink")                                                \
    X(NW_LINK_XGMI, "xgmi")                                                    \
    X(NW_LINK_XELINK, "xelink")                                                \
    X(NW_LINK_NIC, "nic")         /* node or card to its first switch */       \
    X(NW_LINK_NETWORK, "network") /* switch to switch */

enum nw_link_kind {
#define NW_LINK_ENUM(name, text) name,
    NW_LINK_KIND_LIST(NW_LINK_ENUM)
#undef NW_LINK_ENUM
        NW_LINK_KIND_COUNT
};
NW_API const char *nw_link_kind_name(enum nw_link_kind kind);

/* The properties of a link. */
struct nw_link_info {
    enum nw_link_kind kind;
    double bandwidth[2]; /* bytes/s of direction 0 and 1; equal if
                            half_duplex */
    double latency;      /* s */
    bool half_duplex;
    bool assumed; /* bandwidth and latency are this kind's defaults, which
                     nodewise-topology(5) lists */
};
NW_API struct nw_link_info nw_topology_link(const nw_topology *topology,
                                            int32_t link);
/* Writes the link's name, for example "n001: package 1 - node" or "leaf0 -
 * spine1", to out and returns out. `size` is the size of out in bytes. */
NW_API const char *nw_topology_link_name(const nw_topology *topology,
                                         int32_t link, char *out, size_t size);

/* The level at which two endpoints meet, which nw_topology_level_name names.
 * Level 0 means the same element. Inside a node, the level is that of the
 * deepest object that contains both endpoints, or that of a direct link between
 * them. Between nodes, it is given by the number of switches on the route, or
 * by the level of NVLink that joins both endpoints.
 * Hierarchies have one level for each distance. */
NW_API int32_t nw_topology_level(const nw_topology *topology, struct nw_end a,
                                 struct nw_end b);
NW_API int32_t nw_topology_level_count(const nw_topology *topology);
NW_API const char *nw_topology_level_name(const nw_topology *topology,
                                          int32_t level);

#ifdef __cplusplus
}
#endif
#endif
