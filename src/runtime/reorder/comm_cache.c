/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of communicators. A communicator and its duplicates share one
 * struct nw_members, whose uses are counted. */
#include "runtime/reorder/comm_cache.h"

#include "base/array.h"
#include "runtime/reorder/machine.h"

#include <pthread.h>
#include <stdlib.h>

nw_status nw_members_new(const struct nw_job_location *job, int *world,
                         int count, struct nw_members **out)
{
    struct nw_members *members;
    nw_status status = nw_alloc(1, sizeof *members, &members);

    if (status) {
        free(world);
        return status;
    }
    members->users = 1;
    members->job = job;
    members->count = count;
    members->world = world;
    *out = members;
    return NW_OK;
}

struct nw_members *nw_members_use(struct nw_members *members)
{
    __atomic_add_fetch(&members->users, 1, __ATOMIC_RELAXED);
    return members;
}

void nw_members_drop(struct nw_members *members)
{
    if (!members || __atomic_sub_fetch(&members->users, 1, __ATOMIC_ACQ_REL))
        return;
    nw_topology_free(members->machine);
    free(members->world);
    free(members->member);
    free(members->element);
    free(members);
}

static nw_status comm_cache_locate(struct nw_members *members)
{
    int32_t *element = NULL, *member = NULL;
    nw_topology *machine = NULL;
    nw_status status =
        nw_alloc((size_t)members->count, sizeof *element, &element);

    if (!status)
        status = nw_machine_of(members->job, members->world, members->count,
                               &machine, &member);
    if (status) {
        free(element);
        return status;
    }
    for (int32_t e = 0; e < members->count; e++)
        element[member[e]] = e;
    members->machine = machine;
    members->member = member;
    members->element = element;
    members->even =
        !members->job->source && nw_levels_of(machine, &members->levels);
    return NW_OK;
}

nw_status nw_members_locate(struct nw_members *members)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    nw_status status;

    pthread_mutex_lock(&lock);
    status = members->machine ? NW_OK : comm_cache_locate(members);
    pthread_mutex_unlock(&lock);
    return status;
}
