/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a communicator and the machine that their locations form. They
 * are computed once for a communicator and all its duplicates. */
#ifndef NW_REORDER_COMM_CACHE_H
#define NW_REORDER_COMM_CACHE_H

#include "runtime/reorder/boxes.h"
#include "runtime/reorder/job_location.h"

struct nw_members {
    int users; /* number of communicators that use this struct */
    const struct nw_job_location *job;
    int count;
    int *world;           /* [count] ranks in MPI_COMM_WORLD */
    nw_topology *machine; /* NULL until nw_members_locate is called */
    int32_t *member;      /* [count] member at each element */
    int32_t *element;     /* [count] element of each member */
    bool even;            /* the machine has regular levels, in `levels` */
    struct nw_levels levels;
};

/* Creates the members, with one user. Takes ownership of `world`, which malloc
 * has allocated, even if it fails. */
NW_MUST_CHECK nw_status nw_members_new(const struct nw_job_location *job,
                                       int *world, int count,
                                       struct nw_members **out);
struct nw_members *nw_members_use(struct nw_members *members);
void nw_members_drop(struct nw_members *members);
/* Builds members->machine if it is NULL. Thread-safe, since duplicates of a
 * communicator share their members. */
NW_MUST_CHECK nw_status nw_members_locate(struct nw_members *members);

#endif
