/* SPDX-License-Identifier: BSD-3-Clause */
/* The protocol NW_CHANNEL_CMA ("fetch" in options and tables), for two ranks of
 * one host. The sender sends only a header, and the receiver reads the payload
 * directly from the sender's memory by one system call (cross-memory attach).
 * The sender must learn that the read has ended. So each process has an
 * acknowledgement page: a shared page of words, which peers map. A send
 * occupies one word of its acknowledgement page; after the read, the receiver
 * writes the send's id into this word, which the sender polls. A receiver that
 * cannot read the memory answers with a CTS or an OPEN as in a rendezvous.
 */
#include "channel/proto/cma.h"
#include "channel/proto/protocols.h"

#include "base/clock.h"
#include "base/status.h"

#include <rdma/fi_errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CMA_READ_BYTES = 1 << 30 }; /* most bytes of one system call */

/* An acknowledgement page: NW_WIRE_WORDS entries ("words") of shared memory,
 * each in a cache line of its own, because different processes write to them.
 */
struct nw_ack_page {
    struct {
        _Alignas(64) uint64_t read; /* id of the send whose payload was read */
        uint64_t took_ns; /* duration of the read in ns, if requested */
    } word[NW_WIRE_WORDS];
};

/* -- the acknowledgement page -- */

static struct nw_ack_page *map_ack_page(int file)
{
    void *page = mmap(NULL, sizeof(struct nw_ack_page), PROT_READ | PROT_WRITE,
                      MAP_SHARED, file, 0);

    return page == MAP_FAILED ? NULL : page;
}

/* If the acknowledgement page cannot be created, channel->ack_page stays NULL,
 * and this process never offers its memory to be read. */
void nw_cma_open(nw_channel *channel)
{
    const char *how = getenv("NODEWISE_CHANNEL_FETCH");

    channel->cma_on = !how || strcmp(how, "off");
    channel->ack_file = -1;
    if (!channel->cma_on)
        return;
    channel->ack_file = memfd_create("nodewise", MFD_CLOEXEC);
    if (channel->ack_file >= 0 &&
        !ftruncate(channel->ack_file, sizeof(struct nw_ack_page)))
        channel->ack_page = map_ack_page(channel->ack_file);
}

static void unmap_ack_page(struct nw_ack_page *ack_page)
{
    if (ack_page)
        (void)munmap(ack_page, sizeof *ack_page);
}

void nw_cma_close(nw_channel *channel)
{
    for (int32_t i = 0; channel->peer && i < channel->options.count; i++)
        unmap_ack_page(channel->peer[i].ack_page);
    unmap_ack_page(channel->ack_page);
    if (channel->ack_file >= 0)
        (void)close(channel->ack_file);
}

/* -- the sender -- */

bool nw_cma_may(const nw_channel_request *request)
{
    const nw_channel *channel = request->channel;
    const struct nw_peer *peer = request->peer;
    bool gpu = request->gpu >= 0;

    return channel->ack_page && peer->at_once && !peer->unread[gpu] &&
           channel->words != UINT64_MAX && request->message.bytes &&
           (!gpu || request->message.bytes <= channel->options.slot_bytes);
}

/* Returns true if a word of this process's acknowledgement page is free for the
 * send. The word is needed only when the send is posted, which may be long
 * after the protocol was chosen. If none is free by then, turns the send into a
 * rendezvous and returns false. */
static bool cma_begin(nw_channel_request *request)
{
    if (request->channel->words != UINT64_MAX)
        return true;
    request->result.protocol = NW_CHANNEL_RENDEZVOUS;
    request->wire.kind = NW_WIRE_RTS;
    return false;
}

static ssize_t post_offer(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    struct nw_peer *peer = request->peer;
    struct nw_wire *wire = &request->wire;
    int word = __builtin_ctzll(~channel->words);
    ssize_t code;

    wire->address = (uintptr_t)request->payload;
    wire->key = (uint64_t)word;
    wire->offset = request->weighs;
    code = fi_inject(nw_fabric_of(channel, peer)->ep, wire,
                     nw_wire_size(NW_WIRE_CMA), peer->address);
    if (code)
        return code;
    channel->words |= UINT64_C(1) << word;
    channel->cma_sends[word] = request;
    request->word = word + 1;
    return 0;
}

ssize_t nw_cma_post(nw_channel_request *request)
{
    if (cma_begin(request))
        return post_offer(request);
    return nw_protocols[NW_CHANNEL_RENDEZVOUS].post(request);
}

/* Releases the word of the acknowledgement page that a send occupies. If the
 * peer is lost, the word stays in use forever, because this peer may still
 * write to it. */
static void cma_release_word(nw_channel_request *request)
{
    nw_channel *channel = request->channel;
    int word = request->word - 1;

    request->word = 0;
    channel->cma_sends[word] = NULL;
    if (!request->peer->lost)
        channel->words &= ~(UINT64_C(1) << word);
}

void nw_cma_cleanup(nw_channel_request *request)
{
    if (request->word)
        cma_release_word(request);
    nw_rcache_give(request->kept);
    request->kept = NULL;
}

void nw_cma_refused(nw_channel_request *request, bool always)
{
    if (always)
        request->peer->unread[request->gpu >= 0] = true;
    request->result.protocol = NW_CHANNEL_RENDEZVOUS;
    cma_release_word(request);
}

/* Returns the selector that compares a read by the receiver with sending in
 * parts. Only the copies are timed: the duration of the read, or twice the
 * duration of the sender's copy into shm's memory, because the receiver's copy
 * out of it takes as long. Both protocols send the header by the same path. */
struct nw_selector *nw_cma_selector(const nw_channel_request *request)
{
    return &request->channel->reads[nw_selector_class(request->message.bytes,
                                                      NW_TAKE_SIZES)];
}

bool nw_cma_weigh(nw_channel_request *request, bool *reads)
{
    nw_channel *channel = request->channel;
    struct nw_selector *selector = nw_cma_selector(request);

    if (request->gpu >= 0 || channel->tabled[request->peer->fabric] ||
        request->message.bytes <= nw_fabric_of(channel, request->peer)->whole ||
        !nw_cma_may(request))
        return false;
    if (channel->pending <= NW_ALONE)
        *reads = nw_selector_pick(selector, &request->weighs);
    else if (selector->least_ns[0] && selector->least_ns[1])
        *reads = nw_selector_best(selector);
    else
        return false;
    return true;
}

bool nw_cma_poll(nw_channel *channel)
{
    bool any = false;

    for (uint64_t left = channel->words; left; left &= left - 1) {
        int word = __builtin_ctzll(left);
        nw_channel_request *request = channel->cma_sends[word];

        if (!request || __atomic_load_n(&channel->ack_page->word[word].read,
                                        __ATOMIC_ACQUIRE) != request->id)
            continue;
        if (request->weighs)
            nw_selector_took(nw_cma_selector(request), 1,
                             channel->ack_page->word[word].took_ns);
        nw_request_finish(request, NW_OK);
        any = true;
    }
    return any;
}

/* -- the receiver -- */

bool nw_cma_read(const struct nw_peer *peer, uint64_t address, void *to,
                 size_t bytes)
{
    uint64_t nonce = 0;
    char *at = to;

    do {
        size_t part = bytes < CMA_READ_BYTES ? bytes : CMA_READ_BYTES;
        struct iovec here[] = {{&nonce, sizeof nonce}, {at, part}};
        struct iovec there[] = {
            {(void *)(uintptr_t)peer->nonce_at, sizeof nonce},
            {(void *)(uintptr_t)address, part}};
        ssize_t n = process_vm_readv(peer->pid, here, 2, there, 2, 0);

        if (n < (ssize_t)sizeof nonce || nonce != peer->nonce)
            return false;
        part = (size_t)n - sizeof nonce;
        if (bytes && !part)
            return false;
        at += part;
        address += part;
        bytes -= part;
    } while (bytes);
    return true;
}

/* Maps the acknowledgement page of a peer by opening the peer's file descriptor
 * in /proc. The kernel permits this to every process that may read the peer's
 * memory. Returns false if the acknowledgement page cannot be mapped. */
static bool cma_map_peer(struct nw_peer *peer)
{
    char path[64];
    int file;

    if (peer->ack_page || peer->ack_file < 0)
        return peer->ack_page != NULL;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", peer->pid, peer->ack_file);
    peer->ack_file = -1;
    file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0)
        return false;
    peer->ack_page = map_ack_page(file);
    (void)close(file);
    return peer->ack_page != NULL;
}

/* Returns the memory into which the receiver reads the message. For a host
 * buffer it is the buffer itself. For a GPU buffer it is the slot of the
 * header, from which the message is then delivered like an eager message.
 * Returns NULL if a message for a GPU buffer does not fit into the slot. */
static void *cma_target(const nw_channel *channel, const struct nw_slot *slot,
                        const nw_channel_request *request, uint64_t bytes)
{
    if (request->gpu < 0)
        return request->message.buffer;
    return bytes <= channel->options.slot_bytes ? slot->payload : NULL;
}

bool nw_cma_receive(nw_channel *channel, struct nw_slot *slot,
                    nw_channel_request *request)
{
    const struct nw_wire *wire = &slot->wire;
    struct nw_peer *peer = request->peer;
    uint64_t bytes = wire->bytes < request->message.bytes
                         ? wire->bytes
                         : request->message.bytes;
    void *room = cma_target(channel, slot, request, bytes);
    uint64_t start = wire->offset ? nw_clock_ns() : 0;

    if (!room && bytes)
        return false;
    if (!channel->cma_on || !peer->at_once || !cma_map_peer(peer) ||
        !nw_cma_read(peer, wire->address, room, bytes)) {
        request->cannot_read = true;
        return false;
    }
    if (wire->offset)
        peer->ack_page->word[wire->key].took_ns = nw_clock_ns() - start;
    __atomic_store_n(&peer->ack_page->word[wire->key].read, wire->id,
                     __ATOMIC_RELEASE);
    request->result.protocol = NW_CHANNEL_CMA;
    nw_deliver(channel, slot, request);
    return true;
}
