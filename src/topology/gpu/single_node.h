/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions for all sources that describe one node: its cores, its name, and
 * sets of CPU numbers in the kernel's notation. */
#ifndef NW_TOPOLOGY_GPU_SINGLE_NODE_H
#define NW_TOPOLOGY_GPU_SINGLE_NODE_H

#include "topology/topology.h"

/* The hardware threads of a package, as ascending numbers of the operating
 * system. */
struct nw_threads {
    int32_t *os; /* owned */
    size_t count, capacity;
    bool elsewhere;   /* the package had threads, but a smaller package has and
                         keeps all of them */
    bool bare;        /* the package had no threads, but another package has
                         some */
    int32_t per_core; /* number of threads of a core, which have consecutive
                         numbers; 0: unknown */
    int32_t offset;   /* number of a core's second thread minus that of its
                         first one; 0: unknown */
    bool guessed;     /* `offset` comes from ranges of unequal length, and no
                         other package has threads that could confirm it */
};

/* Appends the numbers of an ascending list such as "0-19,40-59" to *out; *good
 * is false if the list is invalid or empty. */
NW_MUST_CHECK nw_status nw_threads_list(const char *text,
                                        struct nw_threads *out, bool *good);
/* Appends the numbers of the bits of a mask such as
 * "000000ff,ffff0000,00ffffff" to *out: words of 32 bits, the highest first.
 * *good is false if the mask is invalid or empty. */
NW_MUST_CHECK nw_status nw_threads_mask(const char *text,
                                        struct nw_threads *out, bool *good);

/* Sorts packages as hwloc does, by their lowest thread: order[k] is the k-th
 * package; packages without threads are last. A thread that several packages
 * list stays only in the smallest of them. Sets `elsewhere`, `bare`, `guessed`,
 * and `offset` if the ranges of threads of a package show it and it fits all
 * packages. */
NW_MUST_CHECK nw_status nw_threads_share(struct nw_threads *threads,
                                         int32_t count, int32_t *order);

/* Adds the cores of a package below vertex `parent`. If per_core is set, it
 * defines the threads of a core. Otherwise, if the numbers of its threads are
 * two ranges of equal length, the second range has the second thread of each
 * core; else `offset` defines the second thread. If `offset` is 0, too, each
 * thread is a core. A package without threads gets no core if another package
 * has some; otherwise it gets one core without a number, with a note. A guessed
 * offset gets a note, too. Call it once for each package, before any device is
 * added. */
NW_MUST_CHECK nw_status nw_single_cores(nw_topology *topology,
                                        struct nw_node_type *type,
                                        int32_t parent,
                                        const struct nw_threads *threads);
/* Makes the only node, named after the file ("x" for dir/x.txt), and finishes
 * the topology. */
NW_MUST_CHECK nw_status nw_single_finish(nw_topology *topology,
                                         const char *file,
                                         enum nw_elements elements);

#endif
