/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The channel's public functions as libnodewise.so exports them. Their code is
 * in libnodewise-channel.so, which the first call loads. That library stores
 * error texts in its own thread-local buffer, so after a failure the text is
 * copied to the buffer of libnodewise.so.
 */
#include <nodewise/channel.h>

#include "base/install_path.h"
#include "base/library.h"
#include "base/status.h"

#include <limits.h>
#include <unistd.h>

static struct {
    const char *(*error_text)(void);
    __typeof__(&nw_channel_open) open;
    __typeof__(&nw_channel_job) job;
    __typeof__(&nw_channel_close) close;
    __typeof__(&nw_channel_send) send;
    __typeof__(&nw_channel_receive) receive;
    __typeof__(&nw_channel_test) test;
    __typeof__(&nw_channel_wait) wait;
    __typeof__(&nw_channel_cancel) cancel;
    __typeof__(&nw_channel_flush) flush;
    __typeof__(&nw_channel_force) force;
    __typeof__(&nw_channel_count) count;
    __typeof__(&nw_channel_provider) provider;
    __typeof__(&nw_channel_reach) reach;
    __typeof__(&nw_channel_mapping) mapping;
    __typeof__(&nw_channel_tune) tune;
    __typeof__(&nw_channel_table_path) table_path;
    __typeof__(&nw_channel_table_check) table_check;
    __typeof__(&nw_channel_memory_new) memory_new;
    __typeof__(&nw_channel_memory_free) memory_free;
    __typeof__(&nw_channel_memory_copy) memory_copy;
} loaded;

static const struct nw_symbol loaded_symbols[] = {
    {"nw_error_text", &loaded.error_text},
    {"nw_channel_open", &loaded.open},
    {"nw_channel_job", &loaded.job},
    {"nw_channel_close", &loaded.close},
    {"nw_channel_send", &loaded.send},
    {"nw_channel_receive", &loaded.receive},
    {"nw_channel_test", &loaded.test},
    {"nw_channel_wait", &loaded.wait},
    {"nw_channel_cancel", &loaded.cancel},
    {"nw_channel_flush", &loaded.flush},
    {"nw_channel_force", &loaded.force},
    {"nw_channel_count", &loaded.count},
    {"nw_channel_provider", &loaded.provider},
    {"nw_channel_reach", &loaded.reach},
    {"nw_channel_mapping", &loaded.mapping},
    {"nw_channel_tune", &loaded.tune},
    {"nw_channel_table_path", &loaded.table_path},
    {"nw_channel_table_check", &loaded.table_check},
    {"nw_channel_memory_new", &loaded.memory_new},
    {"nw_channel_memory_free", &loaded.memory_free},
    {"nw_channel_memory_copy", &loaded.memory_copy},
};

/* Loads libnodewise-channel.so at the first call. Functions that take a channel
 * need not call it, since the library was loaded when that channel was opened.
 */
static nw_status loaded_load(void)
{
    static const char name[] = "libnodewise-channel.so.0";
    char path[PATH_MAX];

    return nw_library_load(
        nw_install_path_find(name, name, R_OK, path) ? path : name,
        loaded_symbols, sizeof loaded_symbols / sizeof *loaded_symbols,
        "for channels");
}

static nw_status loaded_result(nw_status status)
{
    return status ? nw_fail(status, "%s", loaded.error_text()) : NW_OK;
}

/* Context of loaded_allgather, which wraps the caller's allgather function. The
 * caller's function sets its error text in libnodewise.so itself; `failed`
 * records its failure, so that this text is not overwritten. */
struct loaded_meeting {
    const struct nw_channel_options *options;
    bool failed;
};

static nw_status loaded_allgather(void *context, const void *mine, size_t bytes,
                                  void *all)
{
    struct loaded_meeting *meeting = context;
    nw_status status = meeting->options->allgather(meeting->options->context,
                                                   mine, bytes, all);

    meeting->failed |= status != NW_OK;
    return status;
}

/* Returns `own`, a copy of the options whose allgather function records
 * failures in *meeting. Returns `options` unchanged if they have no such
 * function or another size, which the channel rejects. */
static const struct nw_channel_options *
loaded_options(const struct nw_channel_options *options,
               struct loaded_meeting *meeting, struct nw_channel_options *own)
{
    *meeting = (struct loaded_meeting){options, false};
    if (!options || options->size != sizeof *own || !options->allgather)
        return options;
    *own = *options;
    own->allgather = loaded_allgather;
    own->context = meeting;
    return own;
}

nw_status nw_channel_open(const struct nw_channel_options *options,
                          nw_channel **out)
{
    struct loaded_meeting meeting;
    struct nw_channel_options own;
    nw_status status = loaded_load();

    if (status)
        return status;
    status = loaded.open(loaded_options(options, &meeting, &own), out);
    return meeting.failed ? status : loaded_result(status);
}

bool nw_channel_job(int32_t *rank, int32_t *count)
{
    return !loaded_load() && loaded.job(rank, count);
}

void nw_channel_close(nw_channel *channel)
{
    if (channel)
        loaded.close(channel);
}

nw_status nw_channel_send(nw_channel *channel,
                          const struct nw_channel_message *message,
                          nw_channel_request **out)
{
    return loaded_result(loaded.send(channel, message, out));
}

nw_status nw_channel_receive(nw_channel *channel,
                             const struct nw_channel_message *message,
                             nw_channel_request **out)
{
    return loaded_result(loaded.receive(channel, message, out));
}

nw_status nw_channel_test(nw_channel_request **request, bool *done,
                          struct nw_channel_result *result)
{
    return loaded_result(loaded.test(request, done, result));
}

nw_status nw_channel_wait(nw_channel_request **request,
                          struct nw_channel_result *result)
{
    return loaded_result(loaded.wait(request, result));
}

void nw_channel_cancel(nw_channel_request *request)
{
    loaded.cancel(request);
}

void nw_channel_flush(nw_channel *channel)
{
    loaded.flush(channel);
}

void nw_channel_force(nw_channel *channel, enum nw_channel_protocol protocol,
                      enum nw_channel_copy copy)
{
    loaded.force(channel, protocol, copy);
}

void nw_channel_count(nw_channel *channel, struct nw_channel_counts *out)
{
    loaded.count(channel, out);
}

const char *nw_channel_provider(nw_channel *channel, int32_t peer)
{
    return loaded.provider(channel, peer);
}

const char *nw_channel_reach(nw_channel *channel, int32_t peer)
{
    return loaded.reach(channel, peer);
}

const char *nw_channel_mapping(nw_channel *channel)
{
    return loaded_load() ? "none" : loaded.mapping(channel);
}

nw_status nw_channel_tune(const struct nw_channel_options *options,
                          uint32_t rounds, struct nw_progress *progress,
                          char **table)
{
    struct loaded_meeting meeting;
    struct nw_channel_options own;
    nw_status status = loaded_load();

    if (status)
        return status;
    status = loaded.tune(loaded_options(options, &meeting, &own), rounds,
                         progress, table);
    return meeting.failed ? status : loaded_result(status);
}

nw_status nw_channel_table_path(char **out)
{
    nw_status status = loaded_load();

    return status ? status : loaded_result(loaded.table_path(out));
}

nw_status nw_channel_table_check(const char *file, const char *text)
{
    nw_status status = loaded_load();

    return status ? status : loaded_result(loaded.table_check(file, text));
}

nw_status nw_channel_memory_new(bool gpu, size_t bytes, void **out)
{
    nw_status status = loaded_load();

    return status ? status : loaded_result(loaded.memory_new(gpu, bytes, out));
}

void nw_channel_memory_free(bool gpu, void *memory)
{
    if (memory)
        loaded.memory_free(gpu, memory);
}

nw_status nw_channel_memory_copy(void *to, const void *from, size_t bytes)
{
    nw_status status = loaded_load();

    return status ? status : loaded_result(loaded.memory_copy(to, from, bytes));
}
