/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Counts messages. For each message, the partner's record is found in this
 * thread's table, and three numbers in it are increased. All other work is done
 * only once for each partner.
 */
#include "runtime/profile/count.h"

#include "base/hash.h"
#include "runtime/profile/storage.h"

#include <pthread.h>
#include <stdlib.h>

/* Number of counts by a thread between two looks at the clock. The clock
 * decides whether to write the part file. */
enum { SAVE_CALLS = 16 };

/* The hash table of a thread, with open addressing, at most half full. When the
 * thread has ended, a later thread reuses the table. */
struct table {
    struct table *next;
    bool taken;
    size_t mask, used;
    struct nw_part_record **slot;
    struct nw_part_record *last; /* the record that was found last */
    unsigned generation, calls;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct table *tables;
static unsigned generation = 1; /* incremented when the counts are freed */
static pthread_key_t thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local struct table *mine;
static bool is_short;
static uint16_t current_phase;

static void release_table(void *table)
{
    pthread_mutex_lock(&lock);
    ((struct table *)table)->taken = false;
    pthread_mutex_unlock(&lock);
}

static void make_key(void)
{
    pthread_key_create(&thread_end, release_table);
}

static struct table *find_free_table(void)
{
    struct table *table = tables;

    while (table && table->taken)
        table = table->next;
    if (table)
        return table;
    table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->next = tables;
    tables = table;
    return table;
}

static struct table *count_take_table(void)
{
    struct table *table;

    pthread_once(&once, make_key);
    pthread_mutex_lock(&lock);
    table = find_free_table();
    if (table)
        table->taken = true;
    pthread_mutex_unlock(&lock);
    if (table)
        pthread_setspecific(thread_end, table);
    return table;
}

/* Empties a table whose records belong to counts that nw_count_close has
 * freed. */
static void count_renew(struct table *table)
{
    free(table->slot);
    table->slot = NULL;
    table->last = NULL;
    table->mask = table->used = 0;
    table->generation = generation;
}

static struct table *this_table(void)
{
    if (!mine)
        mine = count_take_table();
    if (mine && mine->generation != generation)
        count_renew(mine);
    return mine;
}

static size_t count_hash(struct nw_count_key key)
{
    return nw_hash_word((uint64_t)(uint32_t)key.peer << 32 | (uint32_t)key.tag,
                        (uint64_t)(key.class << 1 | key.inward) << 57 ^
                            key.origin ^ (uint64_t)key.phase << 40);
}

static bool count_matches(const struct nw_part_record *record,
                          struct nw_count_key key)
{
    return record->peer == key.peer && record->class == key.class &&
           record->tag == key.tag && record->inward == key.inward &&
           record->origin == key.origin && record->phase == key.phase;
}

static struct nw_count_key key_of(const struct nw_part_record *record)
{
    return (struct nw_count_key){record->peer,   record->tag,    record->class,
                                 record->inward, record->origin, record->phase};
}

static void count_insert(struct table *table, struct nw_part_record *record)
{
    size_t at = count_hash(key_of(record)) & table->mask;

    while (table->slot[at])
        at = (at + 1) & table->mask;
    table->slot[at] = record;
}

static bool count_grow(struct table *table)
{
    size_t old = table->slot ? table->mask + 1 : 0, size = old ? 2 * old : 64;
    struct nw_part_record **slot = table->slot;

    table->slot = calloc(size, sizeof *slot);
    if (!table->slot) {
        table->slot = slot;
        return false;
    }
    table->mask = size - 1;
    for (size_t i = 0; i < old; i++)
        if (slot[i])
            count_insert(table, slot[i]);
    free(slot);
    return true;
}

static struct nw_part_record *make_record(struct table *table,
                                          struct nw_count_key key)
{
    struct nw_part_record *record;

    if ((!table->slot || 2 * (table->used + 1) > table->mask) &&
        !count_grow(table))
        return NULL;
    pthread_mutex_lock(&lock);
    record = nw_storage_next();
    if (record) {
        record->peer = key.peer;
        record->tag = key.tag;
        record->inward = key.inward;
        record->origin = key.origin;
        record->phase = key.phase;
        __atomic_store_n(&record->class, key.class, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
    if (!record)
        return NULL;
    count_insert(table, record);
    table->used++;
    return record;
}

static struct nw_part_record *count_find(struct table *table,
                                         struct nw_count_key key)
{
    size_t at = count_hash(key) & table->mask;

    for (; table->slot && table->slot[at]; at = (at + 1) & table->mask)
        if (count_matches(table->slot[at], key))
            return table->slot[at];
    return make_record(table, key);
}

/* Increases a counter without an atomic read-modify-write instruction, since
 * only this thread writes it. Loads and stores are atomic, so readers never see
 * a half-written value. */
static void count_add(uint64_t *counter, uint64_t value)
{
    uint64_t old = __atomic_load_n(counter, __ATOMIC_RELAXED);

    __atomic_store_n(counter, old + value, __ATOMIC_RELAXED);
}

/* Returns the record of `key`. If memory is exhausted, returns NULL and sets
 * is_short. */
static struct nw_part_record *find_or_note(struct table *table,
                                           struct nw_count_key key)
{
    struct nw_part_record *record = table ? count_find(table, key) : NULL;

    if (!record)
        __atomic_store_n(&is_short, true, __ATOMIC_RELAXED);
    return record;
}

static void count_in(struct table *table, struct nw_part_record *record,
                     uint64_t amount, uint64_t count)
{
    uint64_t before = record->messages;

    count_add(&record->bytes, amount);
    count_add(&record->messages, count);
    __atomic_store_n(&record->is_new, 1, __ATOMIC_RELAXED);
    /* write the record whenever `messages` reaches or passes a power of two */
    if (__builtin_expect((before ^ record->messages) > before, 0))
        nw_storage_put(record);
    else if (!(++table->calls % SAVE_CALLS))
        nw_storage_save_at_times();
}

void nw_count_add(struct nw_count_key key, uint64_t bytes, uint64_t messages)
{
    struct table *table = this_table();
    struct nw_part_record *record = table ? table->last : NULL;

    key.phase = __atomic_load_n(&current_phase, __ATOMIC_RELAXED);
    if (!record || !count_matches(record, key))
        record = find_or_note(table, key);
    if (!record)
        return;
    table->last = record;
    count_add(&record->sizes[nw_part_size_class(bytes)], messages);
    count_in(table, record, bytes * messages, messages);
}

void nw_count_add_time(int id, const char *name, uint64_t ns)
{
    struct nw_count_key key = {
        .peer = id,
        .tag = NW_PART_NO_TAG,
        .class = NW_PART_TIME,
        .phase = __atomic_load_n(&current_phase, __ATOMIC_RELAXED)};
    struct table *table = this_table();
    struct nw_part_record *record = find_or_note(table, key);

    if (!record)
        return;
    if (!record->messages)
        nw_part_set_name(record, name);
    count_in(table, record, ns, 1);
}

void nw_count_set_phase(uint16_t phase)
{
    __atomic_store_n(&current_phase, phase, __ATOMIC_RELAXED);
}

void nw_count_add_outside(uint64_t bytes, uint64_t messages)
{
    struct nw_part_header *header = nw_storage_header();

    __atomic_fetch_add(&header->outside_bytes, bytes * messages,
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&header->outside_messages, messages, __ATOMIC_RELAXED);
}

void nw_count_open(const char *path, int rank, int rank_count)
{
    nw_storage_open(path, rank, rank_count);
    is_short = false;
    nw_count_set_phase(0);
}

struct nw_part_header *nw_count_header(void)
{
    return nw_storage_header();
}

void nw_count_set_state(enum nw_part_state state)
{
    nw_storage_header()->state = state;
    nw_storage_save();
}

size_t nw_count_count(void)
{
    return __atomic_load_n(&nw_storage_header()->record_count,
                           __ATOMIC_ACQUIRE);
}

const struct nw_part_record *nw_count_record(size_t index)
{
    return nw_storage_at(index);
}

bool nw_count_is_short(void)
{
    return __atomic_load_n(&is_short, __ATOMIC_RELAXED);
}

void nw_count_close(bool remove)
{
    pthread_mutex_lock(&lock);
    generation++;
    nw_storage_close(remove);
    pthread_mutex_unlock(&lock);
}
