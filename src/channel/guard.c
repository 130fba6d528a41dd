/* SPDX-License-Identifier: BSD-3-Clause */
/* glibc's spin lock is 1 when it is free, on x86-64, and 0 or less when it is
 * held; so a process is a number below 0, which is none of those that come of
 * others' waiting. Only the lock of the memory that `shm` shares is taken from
 * anybody, and only of the one form that we know. */
#include "channel/guard.h"

#include "base/library.h"
#include "channel/patience.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>

enum { FORM = 4, QUEUE = 128, PAGE = 4096, LOOK_TURNS = 1024, FREE = 1 };
enum { HOLDER = 256, MARK = 128 };

struct region {
    uint8_t form, unused;
    uint16_t flags;
    int32_t pid;
    uint64_t more[2];
    int lock, signal;
    uint64_t map, bytes;
    uint64_t room; /* for messages */
    uint64_t pieces;
    uint64_t queue; /* where it is: at QUEUE; in 1.18 all is elsewhere, though
                       it calls that the same form */
};

/* What was sent to it and not seen yet: words of messages, and those of writes
 * and the like, which are two. */
struct queue {
    uint64_t size, mask, seen, written;
    struct {
        uint64_t number, sender;
        uint32_t kind, more;
        char rest[232];
    } word[];
};
enum { TWO_WORDS = 1 << 2 | 1 << 4 | 1 << 6 | 1 << 7 | 1 << 8, KINDS = 16 };

static int own;
static pthread_mutex_t joined_lock = PTHREAD_MUTEX_INITIALIZER;
static nw_channel *joined;

void nw_guard_join(nw_channel *channel)
{
    (void)pthread_mutex_lock(&joined_lock);
    channel->joined_before = joined;
    joined = channel;
    (void)pthread_mutex_unlock(&joined_lock);
}

void nw_guard_leave(nw_channel *channel)
{
    (void)pthread_mutex_lock(&joined_lock);
    for (nw_channel **at = &joined; *at; at = &(*at)->joined_before)
        if (*at == channel) {
            *at = channel->joined_before;
            break;
        }
    (void)pthread_mutex_unlock(&joined_lock);
}

static struct region *region_of(volatile int *lock)
{
    struct region *region =
        (void *)((uintptr_t)lock - offsetof(struct region, lock));

    return (uintptr_t)region % PAGE || region->form != FORM ||
                   region->queue != QUEUE
               ? NULL
               : region;
}

static bool is_of_the_dead(volatile int *lock, int seen)
{
    unsigned holder = 0U - (unsigned)seen;
    bool dead = false;

    if (seen >= 0 || holder % HOLDER != MARK || !region_of(lock))
        return false;
    (void)pthread_mutex_lock(&joined_lock);
    for (nw_channel *c = joined; c && !dead; c = c->joined_before)
        dead = nw_peers_has_died(c, (int32_t)(holder / HOLDER));
    (void)pthread_mutex_unlock(&joined_lock);
    return dead;
}

/* Of two words whose second is missing the first would take the next message
 * for it, and all that was ever sent would be seen again behind the end. */
static void take_back(struct queue *queue)
{
    uint64_t at = queue->seen;

    if (queue->written - at > queue->size || queue->mask != queue->size - 1)
        return;
    while (at < queue->written) {
        uint32_t kind = queue->word[at & queue->mask].kind;

        at += kind < KINDS && TWO_WORDS >> kind & 1 ? 2 : 1;
    }
    if (at > queue->written)
        queue->written--;
}

/* What it did not finish is not seen by anybody. But whether it had counted the
 * memory of a message that it took is not known: it counts now. */
static void put_right(volatile int *lock)
{
    struct region *region = region_of(lock);

    if (region->room)
        region->room--;
    take_back((struct queue *)(void *)((char *)region + QUEUE));
}

static bool swap(volatile int *lock, int from)
{
    return __atomic_compare_exchange_n(lock, &from, own, false,
                                       __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static void await(volatile int *lock)
{
    for (unsigned turn = 1;; turn++) {
        int seen = __atomic_load_n(lock, __ATOMIC_RELAXED);

        if (seen == FREE && swap(lock, FREE))
            return;
        nw_breathe();
        if (turn % LOOK_TURNS)
            continue;
        (void)sched_yield();
        if (is_of_the_dead(lock, seen) && swap(lock, seen)) {
            put_right(lock);
            return;
        }
    }
}

int nw_guard_take(pthread_spinlock_t *lock)
{
    if (__builtin_expect(!swap(lock, FREE), 0))
        await(lock);
    return 0;
}

static int try_to_take(pthread_spinlock_t *lock)
{
    return swap(lock, FREE) ? 0 : EBUSY;
}

static int give_back(pthread_spinlock_t *lock)
{
    __atomic_store_n(lock, FREE, __ATOMIC_RELEASE);
    return 0;
}

void nw_guard_load(void)
{
    const struct nw_symbol functions[] = {
        {"pthread_spin_lock", (void *)(uintptr_t)nw_guard_take},
        {"pthread_spin_trylock", (void *)(uintptr_t)try_to_take},
        {"pthread_spin_unlock", (void *)(uintptr_t)give_back},
    };

    own = -(getpid() * HOLDER + MARK);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        (void)nw_library_redirect("libfabric.so.1", &functions[i]);
}
