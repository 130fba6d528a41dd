/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a communicator and their machine, computed once for all
 * creations on it. */
#ifndef NW_REORDER_COMM_CACHE_H
#define NW_REORDER_COMM_CACHE_H

#include "runtime/reorder/boxes.h"
#include "runtime/reorder/node_seats.h"

struct nw_members {
    int users; /* communicators that have it */
    const struct nw_site *site;
    int count;
    int *world;           /* [count] ranks in MPI_COMM_WORLD */
    nw_topology *machine; /* NULL until it is asked for */
    int32_t *member;      /* [count] of each element */
    int32_t *element;     /* [count] of each member */
    bool even;            /* its levels are known */
    struct nw_levels levels;
};

/* With one user. Takes `world`, from malloc, whatever happens. */
NW_MUST_CHECK nw_status nw_members_new(const struct nw_site *site, int *world,
                                       int count, struct nw_members **out);
struct nw_members *nw_members_use(struct nw_members *members);
void nw_members_drop(struct nw_members *members);
/* Builds the machine if it is missing. Threads may call it at the same time on
 * duplicates, which share their members. */
NW_MUST_CHECK nw_status nw_members_seat(struct nw_members *members);
/* The links between two members. */
double nw_members_distance(const struct nw_members *members, int a, int b);

#endif
