/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for all sources that describe one node: its cores, its name, and
 * sets of numbers in the kernel's notation. */
#ifndef NW_TOPOLOGY_GPU_SINGLE_NODE_H
#define NW_TOPOLOGY_GPU_SINGLE_NODE_H

#include "topology/topology.h"

/* Numbers of hardware threads, ascending. */
struct nw_threads {
    int32_t *os; /* owned */
    size_t count, capacity;
    bool elsewhere;   /* it had some, and all are smaller packages' as well */
    bool bare;        /* it had none, and another package has some */
    int32_t per_core; /* that follow each other on a core; 0: not known */
};

/* Reads "0-19,40-59"; *good is false if the text is invalid or empty. */
NW_MUST_CHECK nw_status nw_threads_list(const char *text,
                                        struct nw_threads *out, bool *good);
/* "000000ff,ffff0000,00ffffff": 32 bits a word, the highest first. */
NW_MUST_CHECK nw_status nw_threads_mask(const char *text,
                                        struct nw_threads *out, bool *good);

/* Packages as hwloc counts them: order[k] is the k-th by its lowest thread,
 * those without threads last. A thread that several name is the smallest one's.
 */
NW_MUST_CHECK nw_status nw_threads_share(struct nw_threads *threads,
                                         int32_t count, int32_t *order);

/* Adds the cores of those threads below a vertex: if they are two runs of one
 * length, the second is the second thread of each core; else each is a core,
 * unless per_core says otherwise. A package without threads has no core if
 * another has some, else one without a number, with a note.
 * Called once for each package, before any device. */
NW_MUST_CHECK nw_status nw_single_cores(nw_topology *topology,
                                        struct nw_node_type *type,
                                        int32_t parent,
                                        const struct nw_threads *threads);
/* The class of a link: its bandwidth, else assumed. */
NW_MUST_CHECK nw_status nw_single_class(nw_topology *topology,
                                        enum nw_link_kind kind,
                                        double bandwidth, int32_t *out);
/* The one node, named after the file ("x" of dir/x.txt), and the finish. */
NW_MUST_CHECK nw_status nw_single_finish(nw_topology *topology,
                                         const char *file,
                                         enum nw_elements elements);

#endif
