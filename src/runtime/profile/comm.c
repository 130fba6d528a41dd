/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Translates ranks of communicators to ranks of MPI_COMM_WORLD. A communicator
 * that is congruent to MPI_COMM_WORLD needs no table. Other communicators store
 * each translated rank in a table that is read without a lock. Each thread also
 * remembers the communicators that it used last.
 */
#include "runtime/profile/comm.h"

#include "base/hash.h"
#include "runtime/gpu_memory.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A hash table with open addressing, at most half full. An entry is rank << 32
 * | (world rank + 2); 0 means unused. */
struct ranks {
    struct ranks *older; /* smaller tables that threads may still read */
    size_t mask, used;
    uint64_t slot[];
};

struct comm_entry {
    /* must be the first member, so that a pointer to it is also a pointer to
     * the entry */
    struct nw_comm comm;
    struct comm_entry *next;
    uint64_t handle;
    bool window;
    bool same; /* ranks equal those of MPI_COMM_WORLD */
    MPI_Group group;
    struct ranks *ranks;
};

#define BUCKETS 256
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct comm_entry *bucket[BUCKETS];
static MPI_Comm world_comm;
static MPI_Group world_group;
static unsigned generation = 1; /* incremented when an entry is freed */

#define REMEMBERED 4
struct comm_memory {
    unsigned generation;
    struct {
        uint64_t handle;
        bool window;
        struct comm_entry *entry;
    } known[REMEMBERED];
};
static _Thread_local struct comm_memory memory;

static uint64_t comm_handle(MPI_Comm comm)
{
    return (uint64_t)(uintptr_t)comm;
}

static uint64_t win_handle(MPI_Win win)
{
    return (uint64_t)(uintptr_t)win;
}

static size_t comm_place(uint64_t handle)
{
    return nw_hash_word(0, handle);
}

static bool describe_comm(struct comm_entry *entry, MPI_Comm comm)
{
    int inter = 0, same = MPI_UNEQUAL;
    int failed = NW_PMPI(Comm_test_inter)(comm, &inter) ||
                 NW_PMPI(Comm_rank)(comm, &entry->comm.rank);

    if (failed)
        return false;
    entry->comm.inter = inter;
    if (inter)
        return !NW_PMPI(Comm_remote_size)(comm, &entry->comm.size) &&
               !NW_PMPI(Comm_remote_group)(comm, &entry->group);
    if (NW_PMPI(Comm_compare)(comm, world_comm, &same))
        return false;
    entry->same = same == MPI_IDENT || same == MPI_CONGRUENT;
    return !NW_PMPI(Comm_size)(comm, &entry->comm.size) &&
           !NW_PMPI(Comm_group)(comm, &entry->group);
}

static bool describe_win(struct comm_entry *entry, MPI_Win win)
{
    void *base = NULL;
    int found = 0, same = MPI_UNEQUAL;

    if (NW_PMPI(Win_get_group)(win, &entry->group))
        return false;
    if (NW_PMPI(Group_rank)(entry->group, &entry->comm.rank) ||
        NW_PMPI(Group_size)(entry->group, &entry->comm.size) ||
        NW_PMPI(Group_compare)(entry->group, world_group, &same) ||
        NW_PMPI(Win_get_attr)(win, MPI_WIN_BASE, &base, &found))
        return false;
    entry->same = same == MPI_IDENT;
    entry->comm.gpu_window = found && nw_gpu_holds(base);
    return true;
}

static void free_entry(struct comm_entry *entry)
{
    while (entry->ranks) {
        struct ranks *older = entry->ranks->older;

        free(entry->ranks);
        entry->ranks = older;
    }
    if (entry->group != MPI_GROUP_NULL)
        NW_PMPI(Group_free)(&entry->group);
    free(entry->comm.target);
    free(entry);
}

static struct comm_entry *find_known(uint64_t handle, bool window)
{
    struct comm_entry *entry = bucket[comm_place(handle) % BUCKETS];

    while (entry && (entry->handle != handle || entry->window != window))
        entry = entry->next;
    return entry;
}

/* Returns the entry of an MPI_Comm or MPI_Win, to which `value` points. Returns
 * NULL if MPI fails or memory is exhausted. The caller holds the lock. */
static struct comm_entry *find_or_make(uint64_t handle, bool window,
                                       const void *value)
{
    struct comm_entry *entry = find_known(handle, window);
    bool known;

    if (entry)
        return entry;
    entry = calloc(1, sizeof *entry);
    if (!entry)
        return NULL;
    entry->handle = handle;
    entry->window = window;
    entry->group = MPI_GROUP_NULL;
    known = window ? describe_win(entry, *(const MPI_Win *)value)
                   : describe_comm(entry, *(const MPI_Comm *)value);
    if (!known) {
        free_entry(entry);
        return NULL;
    }
    entry->next = bucket[comm_place(handle) % BUCKETS];
    bucket[comm_place(handle) % BUCKETS] = entry;
    return entry;
}

static struct comm_entry *comm_find(uint64_t handle, bool window,
                                    const void *value)
{
    unsigned now = __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    size_t at = comm_place(handle) % REMEMBERED;
    struct comm_entry *entry;

    if (memory.generation != now)
        memset(&memory, 0, sizeof memory);
    memory.generation = now;
    if (memory.known[at].entry && memory.known[at].handle == handle &&
        memory.known[at].window == window)
        return memory.known[at].entry;
    pthread_mutex_lock(&lock);
    entry = find_or_make(handle, window, value);
    pthread_mutex_unlock(&lock);
    memory.known[at].handle = handle;
    memory.known[at].window = window;
    memory.known[at].entry = entry;
    return entry;
}

struct nw_comm *nw_comm_find(MPI_Comm comm)
{
    struct comm_entry *entry = comm_find(comm_handle(comm), false, &comm);

    return entry ? &entry->comm : NULL;
}

struct nw_comm *nw_win_find(MPI_Win win)
{
    struct comm_entry *entry = comm_find(win_handle(win), true, &win);

    return entry ? &entry->comm : NULL;
}

static int look_up(const struct ranks *ranks, int rank)
{
    size_t at;

    if (!ranks)
        return NW_RANK_NONE;
    at = comm_place((uint64_t)rank) & ranks->mask;
    for (;; at = (at + 1) & ranks->mask) {
        uint64_t slot = __atomic_load_n(&ranks->slot[at], __ATOMIC_ACQUIRE);

        if (!slot)
            return NW_RANK_NONE;
        if (slot >> 32 == (uint64_t)rank)
            return (int)(uint32_t)slot - 2;
    }
}

static void comm_keep(struct ranks *ranks, uint64_t value)
{
    size_t at = comm_place(value >> 32) & ranks->mask;

    while (ranks->slot[at])
        at = (at + 1) & ranks->mask;
    __atomic_store_n(&ranks->slot[at], value, __ATOMIC_RELEASE);
    ranks->used++;
}

static bool comm_make_room(struct comm_entry *entry)
{
    struct ranks *old = entry->ranks, *ranks;
    size_t size = old ? 2 * (old->mask + 1) : 16;

    if (old && 2 * (old->used + 1) <= old->mask)
        return true;
    ranks = calloc(1, sizeof *ranks + size * sizeof *ranks->slot);
    if (!ranks)
        return false;
    ranks->mask = size - 1;
    ranks->older = old;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (old->slot[i])
            comm_keep(ranks, old->slot[i]);
    __atomic_store_n(&entry->ranks, ranks, __ATOMIC_RELEASE);
    return true;
}

static int comm_translate(struct comm_entry *entry, int rank)
{
    int world = NW_RANK_NONE;

    pthread_mutex_lock(&lock);
    world = look_up(entry->ranks, rank);
    if (world == NW_RANK_NONE &&
        !NW_PMPI(Group_translate_ranks)(entry->group, 1, &rank, world_group,
                                        &world)) {
        if (world == MPI_UNDEFINED)
            world = NW_RANK_OUTSIDE;
        if (comm_make_room(entry))
            comm_keep(entry->ranks,
                      (uint64_t)rank << 32 | (uint32_t)(world + 2));
    }
    pthread_mutex_unlock(&lock);
    return world;
}

int nw_comm_world_rank(struct nw_comm *comm, int rank)
{
    struct comm_entry *entry = (struct comm_entry *)comm;
    int world;

    if (!comm || rank < 0 || rank >= comm->size)
        return NW_RANK_NONE;
    if (entry->same)
        return rank;
    world = look_up(__atomic_load_n(&entry->ranks, __ATOMIC_ACQUIRE), rank);
    return world != NW_RANK_NONE ? world : comm_translate(entry, rank);
}

static void comm_drop(uint64_t handle, bool window)
{
    struct comm_entry **at = &bucket[comm_place(handle) % BUCKETS], *entry;

    pthread_mutex_lock(&lock);
    while (*at && ((*at)->handle != handle || (*at)->window != window))
        at = &(*at)->next;
    entry = *at;
    if (entry) {
        *at = entry->next;
        __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
        free_entry(entry);
    }
    pthread_mutex_unlock(&lock);
}

void nw_comm_gone(MPI_Comm comm)
{
    comm_drop(comm_handle(comm), false);
}

void nw_win_gone(MPI_Win win)
{
    comm_drop(win_handle(win), true);
}

void nw_comm_open(MPI_Comm world)
{
    world_comm = world;
    NW_PMPI(Comm_group)(world, &world_group);
}

void nw_comm_close(void)
{
    for (size_t b = 0; b < BUCKETS; b++)
        while (bucket[b]) {
            struct comm_entry *entry = bucket[b];

            bucket[b] = entry->next;
            free_entry(entry);
        }
    __atomic_add_fetch(&generation, 1, __ATOMIC_RELEASE);
    NW_PMPI(Group_free)(&world_group);
}
