/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Finds the network's tree from the figures: hosts whose pairs have equal
 * figures make a group, groups make groups. Also finds what single links
 * carry.
 */
#ifndef NW_PROBE_GROUPS_H
#define NW_PROBE_GROUPS_H

#include "probe/figures.h"

/* Node i < host_count is host i; the others are groups, children before
 * parents; the last is the root (a single host is its own root). */
struct nw_probe_group {
    int32_t parent; /* -1 at the root */
    int32_t hosts;  /* below it */
    double rate;    /* bytes/s of a single flow between two of its children */
    double latency; /* s, smallest message between two of its children */
    double up[2];   /* bytes/s of its link to the parent: out, in */
    bool shared;    /* of a group: several flows filled the link, and each was
                       faster when it ran by itself */
};

struct nw_probe_groups {
    int32_t host_count, count;
    struct nw_probe_group *group;
    double
        *rate; /* [host_count x host_count] single flow, from row to column */
    double *latency;       /* the same, s; 0 where not measured */
    double inside, across; /* latency in a host: in a package, across two */
    double inside_rate, across_rate;
    double untidy; /* share of pairs that a tree does not explain */
};

/* `memory` says whose figures. The caller calls nw_probe_groups_fini. */
NW_MUST_CHECK nw_status nw_probe_groups_find(const struct nw_probe *probe,
                                             enum nw_probe_memory memory,
                                             struct nw_probe_groups *out);
void nw_probe_groups_fini(struct nw_probe_groups *groups);

/* Whether `node` is `above` or below it. */
bool nw_probe_groups_below(const struct nw_probe_groups *groups, int32_t node,
                           int32_t above);
/* The group at which two hosts meet. */
int32_t nw_probe_groups_meet(const struct nw_probe_groups *groups, int32_t a,
                             int32_t b);
/* The child of `above` that holds the host. */
int32_t nw_probe_groups_child(const struct nw_probe_groups *groups,
                              int32_t above, int32_t host);

#endif
