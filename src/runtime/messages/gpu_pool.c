/* SPDX-License-Identifier: BSD-3-Clause */
/* The pool of this process in GPU memory, in which payloads wait for their
 * receivers, and the mapped pools of other processes of the node. A receiver
 * that has copied a payload marks its slot as free in shared host memory. The
 * owner of the pool reads these marks when it needs space. */
#include "runtime/messages/direct.h"

#include "gpu/gpu.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGN = 512, POOL_MIB = 64 };

static struct {
    bool tried;
    char *memory; /* start of the pool; NULL before it exists */
    size_t bytes;
    int32_t gpu;
    /* context of `memory`, to check whether the context still exists */
    struct nw_gpu_life life;
    /* slots in use, sorted by address */
    struct extent {
        uint32_t index;
        size_t at, end;
    } used[NW_SLOTS];
    int count;
    uint64_t generation[NW_SLOTS];
    bool busy[NW_SLOTS];
} pool;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **mapped;       /* mapped[i]: address of peer i's pool here; or
                               NULL */
static int32_t mapper = -1; /* GPU on which the pools are mapped */
/* context in which the pools are mapped; its end is the end of the mappings */
static struct nw_gpu_life mapper_life;
static uint32_t looked_at;

static size_t wanted_bytes(void)
{
    uint64_t mib = 1 << 20;

    return (size_t)nw_messages_setting("NODEWISE_GPU_DIRECT_POOL", mib,
                                       POOL_MIB * mib, 0, mib * mib);
}

static nw_status pool_make(size_t bytes)
{
    void *before = nw_gpu_cuda.context(), *memory = NULL;
    nw_status status = nw_gpu_cuda.select(pool.gpu);

    if (!status)
        status = nw_gpu_cuda.alloc(bytes, &memory);
    if (!status)
        status =
            nw_memory_offer(pool.gpu, memory,
                            &nw_shared_page->peer[nw_local_peer_mine()].offer);
    if (status) {
        nw_gpu_cuda.free(memory);
    } else {
        pool.memory = memory;
        pool.bytes = bytes;
        pool.life = nw_gpu_cuda.life();
    }
    nw_gpu_cuda.restore(before);
    return status;
}

static bool have_room(void)
{
    if (!mapped)
        __atomic_store_n(&mapped,
                         calloc((size_t)nw_local_peer_count(), sizeof *mapped),
                         __ATOMIC_RELEASE);
    return mapped != NULL;
}

/* Creates this process's pool, on the GPU of its first large message. Called
 * once. */
static void open_pool(int32_t gpu)
{
    size_t bytes = wanted_bytes();
    int mine = nw_local_peer_mine();

    pool.tried = true;
    pool.gpu = gpu;
    if (!bytes || !have_room() || pool_make(bytes))
        return;
    __atomic_store_n(&mapped[mine], pool.memory, __ATOMIC_RELEASE);
    __atomic_store_n(nw_local_peer_opens(mine, mine), NW_OPENS_YES,
                     __ATOMIC_RELEASE);
    __atomic_store_n(&nw_shared_page->peer[mine].announced, 1,
                     __ATOMIC_RELEASE);
    __atomic_add_fetch(&nw_shared_page->announced, 1, __ATOMIC_RELEASE);
}

static uint64_t *pool_word_of(int owner, uint32_t index)
{
    return &nw_shared_page->peer[owner].slot[index];
}

enum { EMPTY, HELD, FETCHED, STATES = 4 };

static uint64_t pool_word(uint64_t generation, int state)
{
    return STATES * generation + (uint64_t)state;
}

static bool pool_change(int owner, uint32_t index, uint64_t from, uint64_t to)
{
    return __atomic_compare_exchange_n(pool_word_of(owner, index), &from, to,
                                       false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

static void gpu_pool_reclaim(void)
{
    int kept = 0;

    for (int i = 0; i < pool.count; i++) {
        uint32_t index = pool.used[i].index;

        if (__atomic_load_n(pool_word_of(nw_local_peer_mine(), index),
                            __ATOMIC_ACQUIRE) %
                STATES !=
            EMPTY)
            pool.used[kept++] = pool.used[i];
        else
            pool.busy[index] = false;
    }
    pool.count = kept;
}

/* Finds the first gap between used slots of at least `bytes` bytes, and sets
 * *at to its offset in the pool. Returns the index in pool.used at which the
 * new slot must be inserted; -1 if no gap is large enough. */
static int find_gap(size_t bytes, size_t *at)
{
    *at = 0;
    for (int i = 0; i < pool.count; i++) {
        if (pool.used[i].at - *at >= bytes)
            return i;
        *at = pool.used[i].end;
    }
    return pool.bytes - *at >= bytes ? pool.count : -1;
}

static void pool_enter(int place, size_t at, size_t bytes,
                       struct nw_pool_slot *out)
{
    uint32_t index = 0;

    while (pool.busy[index])
        index++;
    memmove(&pool.used[place + 1], &pool.used[place],
            (size_t)(pool.count - place) * sizeof *pool.used);
    pool.used[place] = (struct extent){index, at, at + bytes};
    pool.count++;
    pool.busy[index] = true;
    *out = (struct nw_pool_slot){index, at, ++pool.generation[index]};
    __atomic_store_n(pool_word_of(nw_local_peer_mine(), index),
                     pool_word(out->generation, HELD), __ATOMIC_RELEASE);
}

bool nw_pool_open(int32_t gpu)
{
    pthread_mutex_lock(&lock);
    if (!pool.tried)
        open_pool(gpu);
    pthread_mutex_unlock(&lock);
    return pool.memory && pool.gpu == gpu;
}

bool nw_pool_slot_take(size_t bytes, struct nw_pool_slot *out)
{
    size_t room = (bytes + ALIGN - 1) / ALIGN * ALIGN, at = 0;
    int place = -1;

    pthread_mutex_lock(&lock);
    if (room <= pool.bytes && nw_gpu_cuda.lives(&pool.life)) {
        gpu_pool_reclaim();
        if (pool.count < NW_SLOTS)
            place = find_gap(room, &at);
        if (place >= 0)
            pool_enter(place, at, room, out);
    }
    pthread_mutex_unlock(&lock);
    return place >= 0;
}

char *nw_pool_memory(void)
{
    return pool.memory;
}

void nw_pool_slot_drop(const struct nw_pool_slot *slot)
{
    (void)pool_change(nw_local_peer_mine(), slot->index,
                      pool_word(slot->generation, HELD),
                      pool_word(slot->generation, EMPTY));
}

/* --- pools of other processes --- */

/* Maps the pool of process `owner`. Writes the success or failure into shared
 * memory, where `owner` reads it before it sends from its pool. */
static void map_one(int owner)
{
    const struct nw_local_peer *peer = &nw_shared_page->peer[owner];
    void *memory = NULL;
    bool good = mapper >= 0 &&
                !nw_memory_open_offer(mapper, peer->offer.handle, &memory);

    __atomic_store_n(&mapped[owner],
                     good ? (char *)memory + peer->offer.offset : NULL,
                     __ATOMIC_RELEASE);
    __atomic_store_n(nw_local_peer_opens(owner, nw_local_peer_mine()),
                     good ? NW_OPENS_YES : NW_OPENS_NO, __ATOMIC_RELEASE);
}

static void map_new(int owner)
{
    if (owner == nw_local_peer_mine() ||
        !__atomic_load_n(&nw_shared_page->peer[owner].announced,
                         __ATOMIC_ACQUIRE) ||
        *nw_local_peer_opens(owner, nw_local_peer_mine()) != NW_OPENS_UNKNOWN)
        return;
    if (mapper < 0 && nw_memory_open()) {
        mapper = nw_memory_home();
        mapper_life = nw_memory_life(mapper);
    }
    map_one(owner);
}

/* Maps the pools again if the program has reset the GPU on which they were
 * mapped. */
static void pool_map_again(void)
{
    pthread_mutex_lock(&lock);
    if (mapped && mapper >= 0 && !nw_memory_lives(&mapper_life)) {
        mapper_life = nw_memory_life(mapper);
        for (int i = 0; i < nw_local_peer_count(); i++)
            if (i != nw_local_peer_mine() && mapped[i])
                map_one(i);
    }
    pthread_mutex_unlock(&lock);
}

void nw_pool_look(void)
{
    uint32_t announced =
        __atomic_load_n(&nw_shared_page->announced, __ATOMIC_ACQUIRE);

    if (announced == __atomic_load_n(&looked_at, __ATOMIC_ACQUIRE) ||
        !nw_gpu_is_used())
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < nw_local_peer_count() && have_room(); i++)
        map_new(i);
    __atomic_store_n(&looked_at, announced, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

const char *nw_pool_slot_payload(const struct nw_envelope *envelope)
{
    char **all = __atomic_load_n(&mapped, __ATOMIC_ACQUIRE), *memory = NULL;
    uint32_t owner = envelope->owner;

    pool_map_again();
    if (all && owner < (uint32_t)nw_local_peer_count())
        memory = __atomic_load_n(&all[owner], __ATOMIC_ACQUIRE);
    if (!memory || envelope->slot >= NW_SLOTS ||
        !pool_change((int)owner, envelope->slot,
                     pool_word(envelope->generation, HELD),
                     pool_word(envelope->generation, FETCHED)))
        return NULL;
    return memory + envelope->at;
}

void nw_pool_slot_free(const struct nw_envelope *envelope)
{
    __atomic_store_n(pool_word_of((int)envelope->owner, envelope->slot),
                     pool_word(envelope->generation, EMPTY), __ATOMIC_RELEASE);
}

void nw_pool_unmap(void)
{
    bool lives = nw_memory_lives(&mapper_life);

    for (int i = 0; mapped && i < nw_local_peer_count(); i++)
        if (mapped[i] && i != nw_local_peer_mine() && lives)
            nw_memory_close(mapper,
                            mapped[i] - nw_shared_page->peer[i].offer.offset);
    free(mapped);
    mapped = NULL;
}

void nw_pool_close(void)
{
    void *before;

    if (!pool.memory)
        return;
    before = nw_gpu_cuda.context();
    if (nw_gpu_cuda.lives(&pool.life) && !nw_gpu_cuda.select(pool.gpu))
        nw_gpu_cuda.free(pool.memory);
    nw_gpu_cuda.restore(before);
    memset(&pool, 0, sizeof pool);
    looked_at = 0;
}
