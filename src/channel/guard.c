/* SPDX-License-Identifier: BSD-3-Clause */
/* Of the memory that `shm` shares only the beginning is looked at, and only
 * where it is of the one form that we know: 16 bits of version and flags, the
 * process, and at byte 24 a spin lock of glibc's, which on x86-64 is 1 when it
 * is free and less when it is held. Later versions have no lock there. */
#include "channel/guard.h"

#include "channel/patience.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { FORM = 4, PAGE = 4096, LOOK_TURNS = 1024 };
/* A holder that lives may have to wait for a core. */
static const uint64_t patience_ns = 2000000000;

struct region {
    uint8_t form, unused;
    uint16_t flags;
    int32_t pid;
    uint64_t more[2];
    int lock;
};

static bool is_known(const struct region *region, int32_t pid)
{
#if defined __x86_64__ && defined __GLIBC__
    return region->form == FORM && region->pid == pid;
#else
    (void)region, (void)pid;
    return false;
#endif
}

const int *nw_guard_open(const char *name, int32_t pid)
{
    const char *own = strstr(name, "://");
    struct region *region;
    char path[300];
    int file;

    snprintf(path, sizeof path, "/dev/shm/%s", own ? own + 3 : name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return NULL;
    region = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, file, 0);
    (void)close(file);
    if (region == MAP_FAILED)
        return NULL;
    if (is_known(region, pid))
        return &region->lock;
    (void)munmap(region, PAGE);
    return NULL;
}

void nw_guard_close(const int *lock)
{
    if (lock)
        (void)munmap((char *)(uintptr_t)lock - offsetof(struct region, lock),
                     PAGE);
}

/* A process that is dead, which may hold it; or the peer that is sent to. */
static bool is_given_up(nw_channel *channel, const struct nw_peer *peer,
                        uint64_t since_ns)
{
    if (nw_peer_is_dead(channel, peer))
        return true;
    if (nw_clock_ns() - since_ns < patience_ns)
        return false;
    for (int32_t i = 0; i < channel->options.count; i++)
        if (nw_peer_is_dead(channel, &channel->peer[i]))
            return true;
    return false;
}

bool nw_guard_wait(nw_channel *channel, const struct nw_peer *peer)
{
    uint64_t since_ns = 0;

    for (unsigned turn = 1; !nw_guard_is_free(peer->lock); turn++) {
        nw_breathe();
        if (turn % LOOK_TURNS)
            continue;
        (void)sched_yield();
        if (!since_ns)
            since_ns = nw_clock_ns();
        else if (is_given_up(channel, peer, since_ns))
            return nw_guard_is_free(peer->lock);
    }
    return true;
}
