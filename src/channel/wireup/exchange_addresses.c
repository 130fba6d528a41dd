/* SPDX-License-Identifier: BSD-3-Clause */
/* When a channel opens, all ranks exchange their host names, process ids and
 * endpoint addresses. Each rank then selects the provider that reaches each
 * other rank. */
#include "channel/proto/cma.h"

#include "base/array.h"
#include "base/host.h"
#include "base/status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The first data that each rank sends to all others. */
struct peers_card {
    char host[160];
    uint32_t version, credits;
    uint64_t slot_bytes;
    /* nonce_at: address of the nonce, which peers try to read */
    uint64_t nonce, nonce_at;
    int32_t pid, ack_file;
};

/* The second data that each rank sends to all others, once for each endpoint:
 * the provider, and the endpoint's address of `bytes` bytes. `bytes` is 0 if
 * the endpoint does not exist. */
struct endpoint_address {
    char provider[64];
    uint32_t bytes;
    char name[NW_ENDPOINT_NAME];
};

/* Makes a name of the host. Processes with equal names share a kernel, a PID
 * namespace and /dev/shm. */
static void peers_name_host(char host[160])
{
    char boot[64], space[48];
    struct stat about = {0};

    nw_host_boot(boot);
    nw_host_pid_space(space);
    (void)stat("/dev/shm", &about);
    snprintf(host, 160, "%s %s %lx", boot, space, (unsigned long)about.st_dev);
}

/* Returns true if this process may access the peer's memory by system calls;
 * the provider shm makes the same test. If so, shm writes by one system call,
 * which fails if the process is dead. Otherwise shm waits for an answer from
 * the peer, and would wait forever for a dead one. */
static bool may_write(const struct nw_peer *peer)
{
    return nw_cma_read(peer, 0, NULL, 0);
}

static nw_status peers_compare(nw_channel *channel,
                               const struct peers_card *cards)
{
    const struct peers_card *mine = &cards[channel->options.rank];

    for (int32_t i = 0; i < channel->options.count; i++) {
        struct nw_peer *peer = &channel->peer[i];

        if (cards[i].version != mine->version)
            return nw_fail(NW_EFORMAT,
                           "rank %d speaks version %u of the channel, we "
                           "speak %u",
                           i, cards[i].version, mine->version);
        if (cards[i].credits != mine->credits ||
            cards[i].slot_bytes != mine->slot_bytes)
            return nw_fail(NW_EINVAL,
                           "rank %d has other credits or slots than rank %d", i,
                           channel->options.rank);
        peer->rank = i;
        peer->pid = cards[i].pid;
        peer->here = !strcmp(cards[i].host, mine->host);
        peer->credits = mine->credits;
        peer->nonce = cards[i].nonce;
        if (peer->here && peer->pid != getpid()) {
            peer->watch = (int)syscall(SYS_pidfd_open, peer->pid, 0);
            peer->nonce_at = cards[i].nonce_at;
            peer->ack_file = cards[i].ack_file;
            peer->at_once = may_write(peer);
        }
    }
    return NW_OK;
}

static nw_status exchange_addresses_introduce(nw_channel *channel,
                                              struct nw_meeting *meeting)
{
    struct peers_card mine, *cards = NULL;
    nw_status status =
        nw_alloc((size_t)channel->options.count, sizeof *cards, &cards);

    memset(&mine, 0, sizeof mine);
    peers_name_host(mine.host);
    mine.version = NW_WIRE_VERSION;
    mine.credits = channel->options.credits;
    mine.slot_bytes = channel->options.slot_bytes;
    mine.nonce = channel->nonce;
    mine.nonce_at = (uintptr_t)&channel->nonce;
    mine.pid = getpid();
    mine.ack_file = channel->ack_page ? channel->ack_file : -1;
    if (!status)
        status = nw_meeting_gather(meeting, &mine, sizeof mine, cards);
    if (!status)
        status = peers_compare(channel, cards);
    free(cards);
    return status;
}

/* Opens the endpoints: shm for ranks of this host, and the first usable network
 * provider if there are ranks of other hosts or if shm fails. If the options
 * name a provider, opens an endpoint of that provider only. */
static nw_status open_fabrics(nw_channel *channel)
{
    static const char *const shared[] = {"shm", NULL};
    static const char *const networks[] = {"verbs;ofi_rxm", "efa", "cxi",
                                           "tcp;ofi_rxm", NULL};
    const char *asked[] = {channel->options.provider, NULL};
    bool others = false, gpu = channel->has_gpu && channel->bypasses_driver;
    nw_status status = NW_OK;

    channel->fabric_count = NW_ENDPOINTS;
    if (asked[0])
        return nw_endpoint_open(asked, gpu, &channel->fabric[1]);
    for (int32_t i = 0; i < channel->options.count; i++)
        others |= !channel->peer[i].here;
    status = nw_endpoint_open(shared, gpu, &channel->fabric[0]);
    if (others || status)
        status = nw_endpoint_open(networks, gpu, &channel->fabric[1]);
    return status;
}

static nw_status meet_one(nw_channel *channel, struct nw_peer *peer,
                          const struct endpoint_address *mine,
                          const struct endpoint_address *theirs)
{
    peer->fabric = peer->here && mine[0].bytes && theirs[0].bytes ? 0 : 1;
    if (!theirs[peer->fabric].bytes || !mine[peer->fabric].bytes ||
        strcmp(theirs[peer->fabric].provider, mine[peer->fabric].provider))
        return nw_fail(NW_ENODEV, "no provider reaches rank %d", peer->rank);
    peer->at_once &= channel->fabric[peer->fabric].copies;
    return nw_endpoint_meet(&channel->fabric[peer->fabric],
                            theirs[peer->fabric].name, &peer->address);
}

/* For each endpoint, finds out whether a header fits into the word that the
 * provider carries beside a payload. Over tcp, any process can connect, so each
 * message must carry the nonce, which needs a whole header. */
static void find_heads(nw_channel *channel)
{
    for (int f = 0; f < NW_ENDPOINTS; f++) {
        const struct fi_info *info = channel->fabric[f].info;
        bool whole =
            info && info->domain_attr->cq_data_size >= sizeof(uint64_t);
        bool fits = whole && !channel->fabric[f].streams &&
                    channel->options.count <= NW_WIRE_WORD_RANKS &&
                    channel->options.credits < NW_WIRE_WORD_CREDITS;

        channel->head[f] = fits ? 0 : NW_WIRE_HEADER;
        channel->word_mask[f] = whole ? UINT64_MAX : UINT32_MAX;
    }
}

/* Adds the endpoints of all ranks, whose addresses are in `all`. */
static nw_status
exchange_addresses_meet_all(nw_channel *channel,
                            const struct endpoint_address mine[NW_ENDPOINTS],
                            const struct endpoint_address *all)
{
    const struct nw_peer *self = &channel->peer[channel->options.rank];
    nw_status status = NW_OK;

    for (int32_t i = 0; i < channel->options.count && !status; i++)
        status = meet_one(channel, &channel->peer[i], mine,
                          all + (size_t)i * NW_ENDPOINTS);
    for (int f = 0; f < NW_ENDPOINTS && !status; f++)
        if (f == self->fabric)
            channel->self[f] = self->address;
        else if (channel->fabric[f].ep)
            status = nw_endpoint_meet(&channel->fabric[f], mine[f].name,
                                      &channel->self[f]);
    return status;
}

/* An error of this rank, with its text, which the exchanges may overwrite. */
struct peers_own {
    nw_status status;
    char why[512];
};

/* Exchanges the addresses of the endpoints. *own is an earlier error of this
 * rank, or gets its error if it cannot reach a rank. Returns an error only if
 * the exchange itself fails. */
static nw_status exchange_doors(nw_channel *channel, struct nw_meeting *meeting,
                                struct peers_own *own)
{
    struct endpoint_address mine[NW_ENDPOINTS], *all = NULL;
    nw_status status =
        nw_alloc((size_t)channel->options.count, sizeof mine, &all);

    memset(mine, 0, sizeof mine);
    for (int f = 0; f < NW_ENDPOINTS; f++) {
        memcpy(mine[f].provider, channel->fabric[f].provider,
               sizeof mine[f].provider);
        mine[f].bytes = (uint32_t)channel->fabric[f].name_bytes;
        memcpy(mine[f].name, channel->fabric[f].name, sizeof mine[f].name);
    }
    if (!status)
        status = nw_meeting_gather(meeting, mine, sizeof mine, all);
    if (!status && !own->status) {
        own->status = exchange_addresses_meet_all(channel, mine, all);
        snprintf(own->why, sizeof own->why, "%s", nw_error_text());
    }
    free(all);
    return status;
}

/* Waits until all ranks have added each other's endpoints; then hides the
 * endpoints' files (nw_endpoint_hide). Returns an error on all ranks if one has
 * failed. */
static nw_status exchange_addresses_hide(nw_channel *channel,
                                         struct nw_meeting *meeting,
                                         const struct peers_own *own)
{
    char mine = !own->status, *all = NULL;
    nw_status status = nw_alloc((size_t)channel->options.count, 1, &all);

    if (!status)
        status = nw_meeting_gather(meeting, &mine, 1, all);
    for (int32_t i = 0; i < channel->options.count && !status; i++)
        if (!all[i])
            status = nw_fail(NW_EIO, "rank %d cannot open its channel", i);
    for (int f = 0; f < NW_ENDPOINTS && !status; f++)
        nw_endpoint_hide(&channel->fabric[f]);
    free(all);
    return status;
}

/* Opens the endpoints and adds those of all ranks. A rank that fails still
 * takes part in both exchanges, since the others would wait for it. */
static nw_status peers_connect(nw_channel *channel, struct nw_meeting *meeting)
{
    struct peers_own own = {open_fabrics(channel), ""};
    nw_status status;

    find_heads(channel);
    snprintf(own.why, sizeof own.why, "%s", nw_error_text());
    status = exchange_doors(channel, meeting, &own);
    if (!status)
        status = exchange_addresses_hide(channel, meeting, &own);
    return own.status ? nw_fail(own.status, "%s", own.why) : status;
}

nw_status nw_peers_meet(nw_channel *channel)
{
    struct nw_meeting *meeting = NULL;
    nw_status status = nw_meeting_open(&channel->options, &meeting);

    /* nw_peers_leave closes all other numbers, even if a step below fails */
    for (int32_t i = 0; i < channel->options.count; i++)
        channel->peer[i].watch = channel->peer[i].ack_file = -1;
    if (!status)
        status = exchange_addresses_introduce(channel, meeting);
    if (!status)
        status = peers_connect(channel, meeting);
    nw_meeting_close(meeting);
    return status;
}

void nw_peers_leave(nw_channel *channel)
{
    for (int32_t i = 0; i < channel->options.count; i++)
        if (channel->peer[i].watch >= 0)
            (void)close(channel->peer[i].watch);
}
