/* SPDX-License-Identifier: BSD-3-Clause */
/* Records when connections start and finish, and writes these events when the
 * halo is freed. They show which connections of an exchange overlap. */
#include "halo/exchange/trace.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/text.h"
#include "runtime/warn.h"

#include <stdlib.h>

#define MOST ((size_t)65536) /* events of a halo */

struct event {
    uint64_t begin, end, exchange; /* times in ns; nw_halo.exchange */
    enum nw_halo_act act;
    enum nw_halo_method method;
    int peer, phase; /* both -1 for the time between two calls */
    uint64_t bytes;
    bool sends, receives;
};

struct nw_halo_trace {
    char *file; /* a copy, since setenv may free the variable's value */
    int number; /* number of this halo among those with a trace, from 1 */
    size_t count;
    uint64_t left_out;
    struct event event[MOST];
};

nw_status nw_halo_trace_open(nw_halo *halo)
{
    static _Atomic int planned;
    const char *file = getenv("NODEWISE_HALO_TRACE");
    nw_status status;

    if (!file || !*file)
        return NW_OK;
    status = nw_alloc(1, sizeof *halo->trace, &halo->trace);
    if (status)
        return status;
    status = nw_strdup(file, &halo->trace->file);
    if (status) {
        free(halo->trace);
        halo->trace = NULL;
        return status;
    }
    halo->trace->number = ++planned;
    return NW_OK;
}

uint64_t nw_halo_trace_now(const nw_halo *halo)
{
    return halo->trace ? nw_clock_ns() : 0;
}

void nw_halo_trace_add(nw_halo *halo, enum nw_halo_act act,
                       struct nw_halo_connection *connection, uint64_t since)
{
    struct nw_halo_trace *trace = halo->trace;
    struct event *event;

    if (!trace)
        return;
    if (trace->count == MOST) {
        trace->left_out++;
        return;
    }
    event = &trace->event[trace->count++];
    *event = (struct event){.begin = since,
                            .end = nw_clock_ns(),
                            .exchange = halo->exchange,
                            .act = act,
                            .peer = -1,
                            .phase = -1};
    if (!connection)
        return;
    event->method = connection->ops->id;
    event->peer = connection->peer;
    event->phase = connection->phase;
    event->bytes = nw_halo_active_bytes(connection);
    event->sends = connection->sends;
    event->receives = connection->receives;
}

static void trace_add_line(struct nw_text *text, int rank,
                           const struct event *event)
{
    static const char *const acts[NW_HALO_ACT_COUNT] = {"start", "finish",
                                                        "way", "caller"};
    const char *to = event->sends && event->receives ? "self"
                     : event->sends                  ? "to"
                     : event->receives               ? "from"
                                                     : "-";

    nw_text_format(
        text, "%llu %d %s %s %d %s %d %llu %llu %llu\n",
        (unsigned long long)event->exchange, rank, acts[event->act], to,
        event->peer, event->peer < 0 ? "-" : nw_halo_method_name(event->method),
        event->phase, (unsigned long long)event->bytes,
        (unsigned long long)event->begin, (unsigned long long)event->end);
}

/* Appends the file's name. It contains the rank in MPI_COMM_WORLD, since ranks
 * in other communicators are not unique. The second and later halos of a
 * process also append their number. */
static void trace_add_name(const struct nw_halo_trace *trace,
                           struct nw_text *name)
{
    int rank = 0;

    NW_PMPI(Comm_rank)(MPI_COMM_WORLD, &rank);
    nw_text_format(name, "%s.%d", trace->file, rank);
    if (trace->number > 1)
        nw_text_format(name, ".%d", trace->number);
}

void nw_halo_trace_close(nw_halo *halo)
{
    struct nw_halo_trace *trace = halo->trace;
    struct nw_text text = {0}, name = {0};

    if (!trace)
        return;
    nw_text_add(&text, "# exchange rank act end peer method phase bytes begin "
                       "end, in ns\n");
    for (size_t i = 0; i < trace->count; i++)
        trace_add_line(&text, halo->rank, &trace->event[i]);
    if (trace->left_out)
        nw_text_format(&text, "# the trace is full: %llu later ones left out\n",
                       (unsigned long long)trace->left_out);
    trace_add_name(trace, &name);
    if (!name.failed && nw_file_write_text(name.data, &text))
        nw_warn("NODEWISE_HALO_TRACE: %s", nw_error_text());
    nw_text_fini(&text);
    nw_text_fini(&name);
    free(trace->file);
    free(trace);
    halo->trace = NULL;
}
