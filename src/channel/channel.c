/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens and closes channels: checks the options, allocates the buffers, and
 * ends the communication with all peers. */
#include "channel/proto/cma.h"
#include "channel/proto/ipc.h"
#include "channel/proto/nonce.h"

#include "base/array.h"
#include "base/backoff.h"
#include "base/environment.h"
#include "base/status.h"
#include "base/text.h"
#include "channel/tune/thresholds.h"
#include "channel/memory/vulkan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT_BYTES = 8192, CREDITS = 16, TIMEOUT_MS = 30000 };

static nw_status find_word(const char *variable, const char *const *words,
                           int count, int *out)
{
    const char *value = getenv(variable);

    if (!value || !*value || *out)
        return NW_OK;
    for (int i = 0; i < count; i++)
        if (!strcmp(value, words[i])) {
            *out = i;
            return NW_OK;
        }
    return nw_fail(
        NW_EINVAL,
        "%s: unknown value '%s'; 'nodewise doctor --env' lists the values",
        variable, value);
}

/* Checks the words in environment variables that other files read later. Those
 * files would silently ignore an unknown word. */
static nw_status channel_check_words(void)
{
    static const char *const variable[] = {
        "NODEWISE_CHANNEL_MAPPING", "NODEWISE_CHANNEL_REACH",
        "NODEWISE_CHANNEL_FETCH", "NODEWISE_CHANNEL_IPC"};

    for (size_t i = 0; i < sizeof variable / sizeof *variable; i++) {
        const char *value = getenv(variable[i]);

        if (value && *value && !nw_environment_takes(variable[i], value))
            return nw_fail(NW_EINVAL,
                           "%s: unknown value '%s'; 'nodewise doctor --env' "
                           "lists the values",
                           variable[i], value);
    }
    return NW_OK;
}

static nw_status read_environment(struct nw_channel_options *options)
{
    int protocol = (int)options->protocol, copy = (int)options->copy;
    nw_status status = find_word("NODEWISE_CHANNEL_PROTOCOL", nw_protocol_words,
                                 NW_CHANNEL_PROTOCOLS, &protocol);

    if (!status)
        status = find_word("NODEWISE_CHANNEL_COPY", nw_copy_words,
                           NW_CHANNEL_COPIES, &copy);
    if (!status)
        status = channel_check_words();
    options->protocol = (enum nw_channel_protocol)protocol;
    options->copy = (enum nw_channel_copy)copy;
    if (!options->provider)
        options->provider = getenv("NODEWISE_CHANNEL_PROVIDER");
    if (options->provider &&
        (!*options->provider || !strcmp(options->provider, "auto")))
        options->provider = NULL;
    return status;
}

/* If the options give neither a file nor an allgather function, the channel
 * connects the processes of the PMIx job, unless it has only one rank. The rank
 * and the number of ranks come from PMIx; options that differ are an error. */
static nw_status channel_find_group(struct nw_channel_options *options)
{
    int32_t rank, count;
    nw_status status;

    if (options->file || options->allgather || options->count == 1)
        return NW_OK;
    status = nw_pmix_join(&rank, &count);
    if (!status && options->count &&
        (rank != options->rank || count != options->count))
        status =
            nw_fail(NW_EINVAL, "the job has us as rank %d of %d", rank, count);
    if (status)
        return status;
    options->rank = rank;
    options->count = count;
    return NW_OK;
}

static nw_status channel_check(struct nw_channel_options *options)
{
    nw_status status = channel_find_group(options);

    if (status)
        return status;
    if (!options->slot_bytes)
        options->slot_bytes = SLOT_BYTES;
    if (!options->credits)
        options->credits = CREDITS;
    if (!options->timeout_ms)
        options->timeout_ms = TIMEOUT_MS;
    if (options->count < 1 || options->rank < 0 ||
        options->rank >= options->count)
        return nw_fail(
            NW_EINVAL, "rank %d is out of range: the channel has %d rank%s",
            options->rank, options->count, nw_plural((uint64_t)options->count));
    if (options->credits < 2 || options->credits > 65535 ||
        options->slot_bytes > NW_PIECE_BYTES)
        return nw_fail(NW_EINVAL,
                       "a channel has 2 to 65535 credits and slots of at most "
                       "%d bytes",
                       NW_PIECE_BYTES);
    if ((unsigned)options->protocol >= NW_CHANNEL_PROTOCOLS ||
        (unsigned)options->copy >= NW_CHANNEL_COPIES)
        return nw_fail(NW_EINVAL, "unknown protocol or kind of copy");
    return read_environment(options);
}

static nw_status make_bounces(nw_channel *channel)
{
    size_t bytes = NW_WIRE_HEADER + channel->options.slot_bytes;
    nw_status status = nw_memory_pinned_new(NW_BOUNCES * bytes,
                                            (void **)&channel->bounce_memory);

    channel->bounces_bytes = NW_BOUNCES * bytes;
    for (size_t i = 0; i < NW_BOUNCES && !status; i++) {
        channel->bounce[i].memory = channel->bounce_memory + i * bytes;
        channel->bounce[i].next = channel->bounces;
        channel->bounces = &channel->bounce[i];
    }
    if (status || !channel->has_gpu)
        return status;
    status = nw_memory_pinned_new(2 * NW_PIECES * (size_t)NW_PIECE_BYTES,
                                  (void **)&channel->piece_memory);
    for (size_t i = 0; i < NW_PIECES && !status; i++) {
        channel->in[i].memory = channel->piece_memory + i * NW_PIECE_BYTES;
        channel->out[i].memory =
            channel->piece_memory + (NW_PIECES + i) * NW_PIECE_BYTES;
    }
    return status;
}

static nw_status make_slots(nw_channel *channel)
{
    size_t each = channel->options.credits + NW_SPARE_SLOTS;
    size_t bytes = channel->options.slot_bytes + sizeof(struct nw_wire);
    size_t count = each * (size_t)channel->options.count;
    nw_status status = nw_alloc(count, sizeof *channel->slot, &channel->slot);

    channel->slots_bytes = count * bytes;
    if (!status)
        status = nw_memory_pinned_new(channel->slots_bytes,
                                      (void **)&channel->slot_memory);
    for (size_t i = 0; i < count && !status; i++) {
        struct nw_slot *slot = &channel->slot[i];

        slot->fabric = &channel->fabric[channel->peer[i / each].fabric];
        slot->memory = channel->slot_memory + i * bytes;
        nw_slot_post(channel, slot);
    }
    channel->slot_count = count;
    return status;
}

static nw_status open_parts(nw_channel *channel)
{
    nw_status status = nw_alloc((size_t)channel->options.count,
                                sizeof *channel->peer, &channel->peer);

    if (!status) {
        const char *reach = getenv("NODEWISE_CHANNEL_REACH");
        const char *open = getenv("NODEWISE_CHANNEL_IPC");

        channel->bypasses_driver = !reach || strcmp(reach, "no");
        nw_costs_default(&channel->costs);
        channel->has_gpu = nw_memory_open();
        channel->gpu_count = nw_memory_gpus();
        channel->mapping =
            channel->bypasses_driver ? nw_gpu_mapping_open() : NULL;
        nw_gpu_mapping_prepare(channel->mapping);
        if (channel->mapping)
            nw_costs_of_mapping(&channel->costs, channel->mapping->name);
        channel->opens = channel->has_gpu && (!open || strcmp(open, "off"));
        nw_nonce_draw(channel);
        nw_cma_open(channel);
        status = nw_peers_meet(channel);
    }
    if (!status)
        nw_selection_open(channel);
    if (!status)
        status = make_bounces(channel);
    if (!status)
        status = make_slots(channel);
    if (!status)
        status = nw_controls_new(channel);
    return status;
}

static void channel_unregister(nw_channel *channel, int f)
{
    for (int i = 0; i < NW_PIECES; i++) {
        nw_endpoint_unregister(channel->in[i].region[f]);
        nw_endpoint_unregister(channel->out[i].region[f]);
    }
    for (struct nw_controls *c = channel->controls_made; c; c = c->older)
        nw_endpoint_unregister(c->region[f]);
    nw_endpoint_unregister(channel->slots_region[f]);
    nw_endpoint_unregister(channel->bounces_region[f]);
    nw_rcache_close(&channel->regions[f]);
}

static void channel_free_parts(nw_channel *channel)
{
    for (int f = 0; f < NW_ENDPOINTS; f++)
        channel_unregister(channel, f);
    nw_ipc_close(channel);
    nw_cma_close(channel);
    nw_gpu_mapping_close(channel->mapping);
    for (int f = 0; f < NW_ENDPOINTS; f++)
        nw_endpoint_close(&channel->fabric[f]);
    nw_requests_free(channel);
    /* libfabric is closed, so even control messages in flight may be freed */
    while (channel->controls_made) {
        struct nw_controls *older = channel->controls_made->older;

        free(channel->controls_made);
        channel->controls_made = older;
    }
    if (channel->peer)
        nw_peers_leave(channel);
    nw_memory_pinned_free(channel->bounce_memory);
    nw_memory_pinned_free(channel->piece_memory);
    nw_memory_pinned_free(channel->slot_memory);
    free(channel->known);
    free(channel->slot);
    free(channel->peer);
    (void)pthread_mutex_destroy(&channel->lock);
    free(channel);
}

nw_status nw_channel_open(const struct nw_channel_options *options,
                          nw_channel **out)
{
    nw_channel *channel = NULL;
    nw_status status;

    if (!options || options->size != sizeof *options)
        return nw_fail(NW_EINVAL, "the options of a channel have another size");
    status = nw_alloc(1, sizeof *channel, &channel);
    if (status)
        return status;
    (void)pthread_mutex_init(&channel->lock, NULL);
    channel->options = *options;
    channel->ack_file = -1;
    status = channel_check(&channel->options);
    if (!status)
        status = open_parts(channel);
    if (status)
        channel_free_parts(channel);
    else
        *out = channel;
    return status;
}

bool nw_channel_job(int32_t *rank, int32_t *count)
{
    return !nw_pmix_join(rank, count);
}

static bool is_with_us(const nw_channel *channel, const struct nw_peer *peer)
{
    return peer->used && !peer->lost &&
           peer->pid != channel->peer[channel->options.rank].pid;
}

static bool all_said_bye(const nw_channel *channel)
{
    for (int32_t i = 0; i < channel->options.count; i++)
        if (is_with_us(channel, &channel->peer[i]) &&
            (!channel->peer[i].bye || channel->peer[i].control))
            return false;
    return true;
}

/* Sends BYE to all other processes with which messages were exchanged and that
 * are not lost, and waits for their BYE. After that, no peer writes to this
 * process's memory or reads from it. Gives up after a tenth of the channel's
 * time limit. */
static void say_bye(nw_channel *channel)
{
    struct nw_wire bye = {.kind = NW_WIRE_BYE};
    struct nw_backoff backoff = {0};
    uint64_t until =
        nw_clock_ns() + channel->options.timeout_ms * UINT64_C(100000);

    for (int32_t i = 0; i < channel->options.count; i++)
        if (is_with_us(channel, &channel->peer[i]))
            nw_send_control(&channel->peer[i], channel, &bye);
    while ((!all_said_bye(channel) || channel->controls > 0) &&
           nw_clock_ns() < until)
        if (nw_backoff_ends(&backoff, nw_progress(channel)))
            nw_backoff_pause(&backoff);
}

void nw_channel_flush(nw_channel *channel)
{
    uint64_t until = nw_clock_ns() + UINT64_C(1000000000);
    struct nw_backoff backoff = {0};

    nw_channel_lock(channel);
    while ((channel->controls > 0 || channel->stuck || channel->flying.head) &&
           nw_clock_ns() < until) {
        if (!nw_backoff_ends(&backoff, nw_progress(channel)))
            continue;
        /* without the lock, other threads can use the channel meanwhile */
        nw_channel_unlock(channel);
        nw_backoff_pause(&backoff);
        nw_channel_lock(channel);
    }
    nw_channel_unlock(channel);
}

void nw_channel_close(nw_channel *channel)
{
    if (!channel)
        return;
    nw_channel_lock(channel);
    say_bye(channel);
    nw_channel_unlock(channel);
    channel_free_parts(channel);
}

void nw_channel_count(nw_channel *channel, struct nw_channel_counts *out)
{
    nw_channel_lock(channel);
    *out = channel->counts;
    nw_channel_unlock(channel);
}

const char *nw_channel_provider(nw_channel *channel, int32_t peer)
{
    if (peer < 0 || peer >= channel->options.count)
        return "";
    return channel->fabric[channel->peer[peer].fabric].provider;
}

const char *nw_channel_reach(nw_channel *channel, int32_t peer)
{
    static const char *const names[NW_HMEM_KINDS] = {"staged", "by dma-buf",
                                                     "by peer memory"};
    static _Thread_local char text[512];
    const struct nw_endpoint *fabric;

    if (peer < 0 || peer >= channel->options.count || !channel->has_gpu)
        return "none";
    fabric = &channel->fabric[channel->peer[peer].fabric];
    snprintf(text, sizeof text, "%s%s%s%s", names[fabric->hmem],
             fabric->why[0] ? " (" : "", fabric->why,
             fabric->why[0] ? ")" : "");
    return text;
}

const char *nw_channel_mapping(nw_channel *channel)
{
    static _Thread_local char name[64];
    const struct nw_gpu_mapping *mapping =
        channel ? channel->mapping : nw_gpu_mapping_open();
    bool also = nw_vulkan_is_used() && mapping != &nw_gpu_mapping_vulkan;

    if (!channel)
        nw_gpu_mapping_close(mapping);
    if (!mapping)
        return "none";
    snprintf(name, sizeof name, "%s%s", also ? "vulkan, " : "", mapping->name);
    return name;
}
