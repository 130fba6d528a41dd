/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds a tree of groups that explains the measurements: hosts with equal
 * figures between them form a group, and groups form larger groups. A group
 * stands for a switch. Also estimates the bandwidth of single links. */
#ifndef NW_PROBE_GROUPS_H
#define NW_PROBE_GROUPS_H

#include "probe/records.h"

/* A node of the tree. Node i < host_count is host i; the other nodes are
 * groups, children before parents. The last node is the root; a single host is
 * its own root. */
struct nw_probe_group {
    int32_t parent; /* number of the parent node; -1 at the root */
    int32_t hosts;  /* number of hosts in the subtree of the node */
    double rate;    /* bytes/s of a single stream between two hosts below
                       different children of the node, as a median; 0:
                       unknown */
    double latency; /* time in s of the smallest message between two hosts below
                       different children of the node, as a median; 0:
                       unknown */
    double up[2];   /* bytes/s of the link to the parent, the highest that was
                       measured: up[0] to the parent, up[1] from it */
    bool shared;    /* for a group; true: simultaneous streams over the link to
                       the parent had less than 3/4 of the sum of the rates of
                       single streams between the same hosts */
};

/* The tree and the figures that it was built from. */
struct nw_probe_groups {
    int32_t host_count, count;
    struct nw_probe_group *group;
    double *rate; /* [host_count x host_count] bytes/s of a single stream from
                     host (row) to host (column), estimated from round trips if
                     no stream between hosts was measured; 0: unknown */
    double *latency;       /* [host_count x host_count] latency in s between two
                              hosts; 0: not measured */
    double inside, across; /* latency in s between two ranks of a host, as
                              medians: not known to be in two packages, known to
                              be in two; 0: not measured */
    double inside_rate, across_rate; /* rates in bytes/s between the same ranks
                                        as for `inside` and `across` */
    double untidy; /* share of the pairs of hosts of one group whose figures
                      contradict the tree */
};

/* Finds the tree from the measurements of host memory or of GPU memory, as
 * `memory` says. The caller calls nw_probe_groups_fini. NW_EFORMAT: no rank has
 * described itself. */
NW_MUST_CHECK nw_status nw_probe_groups_find(const struct nw_probe *probe,
                                             enum nw_probe_memory memory,
                                             struct nw_probe_groups *out);
void nw_probe_groups_fini(struct nw_probe_groups *groups);

/* Returns true if `node` is in the subtree of `above`, which may be `node`
 * itself. */
bool nw_probe_groups_below(const struct nw_probe_groups *groups, int32_t node,
                           int32_t above);
/* Returns the lowest group that contains both hosts. */
int32_t nw_probe_groups_meet(const struct nw_probe_groups *groups, int32_t a,
                             int32_t b);

#endif
