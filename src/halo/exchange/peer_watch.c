/* SPDX-License-Identifier: BSD-3-Clause */
/* Detects processes of this node that end during an exchange. Otherwise ranks
 * would wait forever for a flag in shared memory. A process descriptor (pidfd)
 * shows the end of a process even before the launcher has reaped it. */
#include "halo/exchange/connections.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

struct watch {
    struct pollfd *fd; /* [count] process descriptors */
    int *rank;         /* [count] ranks of these processes in halo->comm */
    nfds_t count;
};

static int peer_watch_rank_of(const nw_halo *halo, int node_rank)
{
    for (int rank = 0; rank < halo->size; rank++)
        if (halo->node_of[rank] == halo->node_of[halo->rank] &&
            halo->node_rank_of[rank] == node_rank)
            return rank;
    return -1;
}

static bool peer_watch_is_peer(const nw_halo *halo, int rank)
{
    for (size_t i = 0; i < halo->connection_count; i++)
        if (halo->connection[i].peer == rank)
            return rank != halo->rank;
    return false;
}

/* A peer is not watched if the kernel opens no process descriptor for its
 * process id. Then the kernel does not support descriptors, or the peer is in
 * another PID namespace and its process id is 0. */
nw_status nw_halo_watch_open(nw_halo *halo)
{
    struct watch *watch = NULL;
    nw_status status = nw_alloc(1, sizeof *watch, &watch);

    halo->watch = watch;
    if (!status)
        status =
            nw_alloc((size_t)halo->node_size, sizeof *watch->fd, &watch->fd);
    if (!status)
        status = nw_alloc((size_t)halo->node_size, sizeof *watch->rank,
                          &watch->rank);
    for (int i = 0; !status && i < halo->node_size; i++) {
        int rank = peer_watch_rank_of(halo, i), fd;

        if (!peer_watch_is_peer(halo, rank))
            continue;
        fd = (int)syscall(SYS_pidfd_open, halo->pid[i], 0);
        if (fd < 0)
            continue;
        watch->fd[watch->count] = (struct pollfd){.fd = fd, .events = POLLIN};
        watch->rank[watch->count++] = rank;
    }
    return status;
}

nw_status nw_halo_watch_ended(int rank)
{
    return nw_fail(NW_EMPI, "rank %d ended during a halo exchange", rank);
}

nw_status nw_halo_watch_check(const nw_halo *halo)
{
    const struct watch *watch = halo->watch;

    if (!watch || !watch->count || poll(watch->fd, watch->count, 0) <= 0)
        return NW_OK;
    for (nfds_t i = 0; i < watch->count; i++)
        if (watch->fd[i].revents)
            return nw_halo_watch_ended(watch->rank[i]);
    return NW_OK;
}

void nw_halo_watch_close(nw_halo *halo)
{
    struct watch *watch = halo->watch;

    for (nfds_t i = 0; watch && i < watch->count; i++)
        close(watch->fd[i].fd);
    if (watch) {
        free(watch->fd);
        free(watch->rank);
    }
    free(watch);
    halo->watch = NULL;
}
