/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores in a record, as an attribute of each communicator, its channel and the
 * results of all-reduces between its ranks. */
#include "runtime/messages/algorithms.h"

#include "base/status.h"
#include "runtime/warn.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int keyval = MPI_KEYVAL_INVALID;
/* A list of all records; those with a channel are in the order in which their
 * channels were opened. Closing a channel waits for the other ranks. All ranks
 * close their channels in this order, so that no two ranks wait for each other.
 */
static struct nw_algorithm_comm *records;

void nw_algorithm_comm_next(struct nw_algorithm_comm *record,
                            struct nw_channel_collective *collect)
{
    collect->channel = record->channel;
    collect->rank = record->rank;
    collect->size = record->size;
    collect->tag = record->tag;
    record->tag = (record->tag + 1) & 0xffffff;
}

static void list_remove(struct nw_algorithm_comm *record)
{
    struct nw_algorithm_comm **at = &records;

    pthread_mutex_lock(&lock);
    while (*at && *at != record)
        at = &(*at)->next;
    if (*at)
        *at = record->next;
    pthread_mutex_unlock(&lock);
}

static void list_append(struct nw_algorithm_comm *record)
{
    struct nw_algorithm_comm **at = &records;

    pthread_mutex_lock(&lock);
    while (*at)
        at = &(*at)->next;
    *at = record;
    record->next = NULL;
    pthread_mutex_unlock(&lock);
}

static int algorithm_comm_drop(MPI_Comm comm, int key, void *value, void *extra)
{
    struct nw_algorithm_comm *record = value;

    (void)comm;
    (void)key;
    (void)extra;
    list_remove(record);
    nw_channel_close(record->channel);
    free(record);
    return MPI_SUCCESS;
}

/* Returns true if all ranks of `comm` are in MPI_COMM_WORLD. Only these ranks
 * agreed on the implementation in MPI_Init. */
static bool is_of_our_world(MPI_Comm comm, int size)
{
    int ranks[NW_MOST_RANKS], in_world[NW_MOST_RANKS];
    MPI_Group group, world;
    bool all = true;

    for (int i = 0; i < size; i++)
        ranks[i] = i;
    NW_PMPI(Comm_group)(comm, &group);
    NW_PMPI(Comm_group)(MPI_COMM_WORLD, &world);
    NW_PMPI(Group_translate_ranks)(group, size, ranks, world, in_world);
    for (int i = 0; i < size; i++)
        all &= in_world[i] != MPI_UNDEFINED;
    NW_PMPI(Group_free)(&group);
    NW_PMPI(Group_free)(&world);
    return all;
}

/* Returns NULL on all ranks if memory is exhausted on any rank. */
static struct nw_algorithm_comm *record_new(MPI_Comm comm)
{
    struct nw_algorithm_comm *record = calloc(1, sizeof *record);
    int between = 0, size = 0, rank = 0;
    bool fits, stored;

    NW_PMPI(Comm_test_inter)(comm, &between);
    NW_PMPI(Comm_size)(comm, &size);
    NW_PMPI(Comm_rank)(comm, &rank);
    fits = !between && size > 1 && size <= NW_MOST_RANKS &&
           is_of_our_world(comm, size);
    if (record)
        *record = (struct nw_algorithm_comm){
            .comm = comm, .size = size, .rank = rank, .fits = fits};
    stored = record && !NW_PMPI(Comm_set_attr)(comm, keyval, record);
    if (stored)
        list_append(record);
    else
        free(record);
    if (!fits || nw_all_ranks(comm, stored))
        return stored ? record : NULL;
    if (stored)
        NW_PMPI(Comm_delete_attr)(comm, keyval);
    return NULL;
}

struct nw_algorithm_comm *nw_algorithm_comm_of(MPI_Comm comm)
{
    struct nw_algorithm_comm *record = NULL;
    int found = 0;

    if (comm == MPI_COMM_NULL)
        return NULL;
    pthread_mutex_lock(&lock);
    if (keyval == MPI_KEYVAL_INVALID)
        NW_PMPI(Comm_create_keyval)
    (nw_shape_not_copied, algorithm_comm_drop, &keyval, NULL);
    pthread_mutex_unlock(&lock);
    if (NW_PMPI(Comm_get_attr)(comm, keyval, &record, &found))
        return NULL;
    if (!found)
        record = record_new(comm);
    return record && record->fits ? record : NULL;
}

/* Opens the channel with the requests that a collective call needs, on all
 * ranks or on none. Collective. */
static nw_status channel_open(struct nw_algorithm_comm *record)
{
    nw_channel *channel = NULL;
    nw_status status = nw_channel_open_mpi(record->comm, NULL, &channel);

    if (status)
        return status;
    status = nw_channel_collective_reserve(channel, record->rank, record->size);
    if (nw_all_ranks(record->comm, !status)) {
        record->channel = channel;
        return NW_OK;
    }
    nw_channel_close(channel);
    return status ? status
                  : nw_fail(NW_ENOMEM, "memory is exhausted on another rank");
}

bool nw_algorithm_comm_open(struct nw_algorithm_comm *record)
{
    if (!record->tried) {
        record->tried = true;
        if (channel_open(record) && nw_algorithm_call == NW_FORMING_CHANNEL &&
            !record->rank)
            nw_warn_once("collective calls go through the host: %s",
                         nw_error_text());
        list_remove(record);
        list_append(record);
    }
    return record->channel != NULL;
}

void nw_algorithm_comms_close(void)
{
    if (keyval == MPI_KEYVAL_INVALID)
        return;
    while (records)
        NW_PMPI(Comm_delete_attr)(records->comm, keyval);
    NW_PMPI(Comm_free_keyval)(&keyval);
}
