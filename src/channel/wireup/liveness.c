/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whether the processes of peers are alive. A peer that has died, or
 * that breaks the protocol, is only marked here; the progress loop then ends
 * its requests (proto/reap.c). */
#include "channel/state.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { GRACE_NS = 100000000 };

void nw_peer_lose(nw_channel *channel, struct nw_peer *peer)
{
    if (peer->lost)
        return;
    peer->lost = true;
    peer->lost_ns = nw_clock_ns();
    channel->lost++;
    channel->unreaped = true;
    /* a peer without any messages, or one that has sent its BYE, may end at any
     * time */
    if (peer->used && !peer->bye)
        channel->counts.lost_peers++;
}

/* Returns true if the process has ended. The caller uses this function if it
 * has no pidfd for the process. There are three reasons for that: Linux is
 * older than 5.3, a container forbids pidfd_open, or the process had already
 * ended. */
static bool liveness_has_ended(int32_t pid)
{
    char path[32], text[64] = "", *name;
    int file;

    if (kill(pid, 0))
        return errno == ESRCH;
    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    if (read(file, text, sizeof text - 1) < 0)
        text[0] = '\0';
    (void)close(file);
    name = strrchr(text, ')');
    return name && name[1] && name[2] == 'Z';
}

static bool is_dead(const struct nw_peer *peer)
{
    struct pollfd watch = {peer->watch, POLLIN, 0};

    return peer->watch >= 0 ? poll(&watch, 1, 0) == 1
                            : liveness_has_ended(peer->pid);
}

bool nw_peers_has_died(const nw_channel *channel, int32_t pid)
{
    for (int32_t i = 0; i < channel->options.count; i++) {
        const struct nw_peer *peer = &channel->peer[i];

        if (peer->here && peer->pid == pid && pid != getpid())
            return is_dead(peer);
    }
    return false;
}

/* Marks peers of this host whose processes have died as lost. Waits GRACE_NS
 * after a death was found, since messages that the process had sent may still
 * arrive. */
void nw_peers_look(nw_channel *channel)
{
    int32_t me = channel->peer[channel->options.rank].pid;
    uint64_t now = nw_clock_ns();

    for (int32_t i = 0; i < channel->options.count; i++) {
        struct nw_peer *peer = &channel->peer[i];

        if (!peer->here || peer->lost || peer->pid == me)
            continue;
        if (!peer->died_ns && is_dead(peer))
            peer->died_ns = now;
        else if (peer->died_ns && now - peer->died_ns > GRACE_NS)
            nw_peer_lose(channel, peer);
    }
}
