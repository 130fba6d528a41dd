/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs an exchange. The connections of a phase start when the ghost cells of
 * the earlier phases are filled. All started connections are tested until they
 * are done. */
#include "halo/exchange/connections.h"
#include "halo/exchange/gpus.h"
#include "halo/exchange/trace.h"

#include "base/backoff.h"
#include "base/clock.h"

#include <string.h>

#define CLOCK_EVERY 8 /* polls between two readings of the clock */
/* Intervals in ns. They are not numbers of polls, since a poll may yield the
 * core and then takes long on a busy machine. */
#define LISTEN_NS ((uint64_t)1000000) /* between checks for sent failures */
#define WATCH_NS ((uint64_t)20000000) /* between checks for ended peers */

static nw_status start_phase(nw_halo *halo)
{
    nw_status status = NW_OK;

    for (; !status && halo->started < halo->connection_count; halo->started++) {
        struct nw_halo_connection *connection =
            &halo->connection[halo->started];

        if (connection->phase > halo->phase)
            break;
        connection->started_ns = nw_halo_trace_now(halo);
        status = connection->ops->start(connection);
        connection->started = true;
        nw_halo_trace_add(halo, NW_HALO_ACT_START, connection,
                          connection->started_ns);
    }
    return status;
}

/* Calls `post` of all connections that have it, in their sorted order, and
 * marks all connections as neither started nor done. */
static nw_status post_all(nw_halo *halo)
{
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < halo->connection_count; i++) {
        struct nw_halo_connection *connection = &halo->connection[i];

        connection->done = connection->started = false;
        if (connection->ops->post)
            status = connection->ops->post(connection);
    }
    return status;
}

static nw_status run_activate(nw_halo *halo, const int32_t *subset,
                              int32_t count)
{
    int32_t alone = halo->field_count - halo->quantity_count;

    if (!subset) {
        halo->active_count = halo->joined_count;
        for (int32_t i = 0; i < halo->joined_count; i++)
            halo->active[i] = i;
        return NW_OK;
    }
    if (count < 1 || count > halo->quantity_count)
        return nw_fail(NW_EINVAL,
                       "cannot exchange %d quantities: the plan has %d", count,
                       halo->quantity_count);
    for (int32_t i = 0; i < count; i++) {
        if (subset[i] < 0 || subset[i] >= halo->quantity_count)
            return nw_fail(NW_EINVAL, "unknown quantity %d", subset[i]);
        for (int32_t j = 0; j < i; j++)
            if (subset[j] == subset[i])
                return nw_fail(NW_EINVAL, "quantity %d is named twice",
                               subset[i]);
        halo->active[i] = alone + subset[i];
    }
    halo->active_count = count;
    return NW_OK;
}

static nw_status fail_for_good(nw_halo *halo, nw_status status)
{
    if (status) {
        nw_halo_failure_tell(halo, status);
        halo->broken = true;
        halo->running = false;
    }
    return status;
}

/* Returns the caller's current GPU context (NULL for a halo in host memory);
 * halo_run_leave makes it current again. */
static void *halo_run_enter(const nw_halo *halo)
{
    return halo->gpus ? halo->gpus->gpu->context() : NULL;
}

static nw_status halo_run_leave(const nw_halo *halo, void *context,
                                nw_status status)
{
    if (halo->gpus)
        halo->gpus->gpu->restore(context);
    return status;
}

static nw_status halo_run_begin(nw_halo *halo)
{
    nw_status status = halo->gpus ? nw_halo_gpus_begin(halo) : NW_OK;

    if (!status)
        status = post_all(halo);
    return status ? status : start_phase(halo);
}

nw_status nw_halo_start(nw_halo *halo, const int32_t *subset, int32_t count)
{
    nw_status status;
    void *context;

    if (halo->broken)
        return nw_fail(NW_EMPI, "an exchange of this halo failed before");
    if (halo->running)
        return nw_fail(
            NW_EINVAL,
            "an exchange of this halo has started already; finish it first");
    status = run_activate(halo, subset, count);
    if (status)
        return status;
    halo->running = true;
    halo->exchange++;
    halo->phase = 0;
    halo->started = 0;
    context = halo_run_enter(halo);
    status = halo_run_begin(halo);
    halo->left_ns = nw_halo_trace_now(halo);
    return fail_for_good(halo, halo_run_leave(halo, context, status));
}

static nw_status test_connection(struct nw_halo_connection *connection)
{
    nw_halo *halo = connection->halo;
    uint64_t since = nw_halo_trace_now(halo);
    nw_status status = connection->ops->test(connection, &connection->done);

    if (connection->done) {
        nw_halo_trace_add(halo, NW_HALO_ACT_FINISH, connection, since);
        nw_halo_trace_add(halo, NW_HALO_ACT_WAY, connection,
                          connection->started_ns);
    }
    return status;
}

/* Tests all started connections that are not done. Sets *open to the number of
 * those that are still not done, and *missing to the number of receiving ones
 * among them. */
static nw_status halo_run_drive(nw_halo *halo, size_t *open, size_t *missing)
{
    nw_status status = NW_OK;

    *open = *missing = 0;
    for (size_t i = 0; !status && i < halo->started; i++) {
        struct nw_halo_connection *connection = &halo->connection[i];

        if (connection->done)
            continue;
        status = test_connection(connection);
        *open += !connection->done;
        *missing += connection->receives && !connection->done;
    }
    return status;
}

static nw_status run_advance(nw_halo *halo, bool *done)
{
    size_t open, missing;
    nw_status status = halo_run_drive(halo, &open, &missing);

    while (!status && !missing && halo->phase < halo->phase_count - 1) {
        halo->phase++;
        status = start_phase(halo);
        if (!status)
            status = halo_run_drive(halo, &open, &missing);
    }
    *done = !status && !open && halo->started == halo->connection_count;
    return status;
}

/* Checks, at intervals, whether a peer has sent a failure and whether a peer
 * has ended. */
static nw_status look_around(nw_halo *halo)
{
    uint64_t now = nw_clock_ns();
    nw_status status = NW_OK;

    if (now - halo->listened_ns > LISTEN_NS) {
        halo->listened_ns = now;
        status = nw_halo_failure_hear(halo);
    }
    if (!status && now - halo->watched_ns > WATCH_NS) {
        halo->watched_ns = now;
        status = nw_halo_watch_check(halo);
    }
    return status;
}

nw_status nw_halo_test(nw_halo *halo, bool *done)
{
    bool finished = false;
    nw_status status;
    void *context;

    if (halo->broken)
        return nw_fail(NW_EMPI, "an exchange of this halo failed before");
    if (!halo->running) {
        *done = true;
        return NW_OK;
    }
    if (halo->left_ns) {
        nw_halo_trace_add(halo, NW_HALO_ACT_CALLER, NULL, halo->left_ns);
        halo->left_ns = 0;
    }
    context = halo_run_enter(halo);
    status = halo_run_leave(halo, context, run_advance(halo, &finished));
    if (!status && !finished && ++halo->polls % CLOCK_EVERY == 0)
        status = look_around(halo);
    if (finished)
        halo->running = false;
    else
        halo->left_ns = nw_halo_trace_now(halo);
    if (!status)
        *done = finished;
    return fail_for_good(halo, status);
}

static nw_status check_time(nw_halo *halo, uint64_t since)
{
    double seconds = (double)(nw_clock_ns() - since) * 1e-9;

    if (halo->timeout <= 0 || seconds < halo->timeout)
        return NW_OK;
    for (size_t i = 0; i < halo->started; i++)
        if (!halo->connection[i].done)
            return fail_for_good(
                halo, nw_fail(NW_EMPI,
                              "rank %d is silent for %.3g s in a halo "
                              "exchange",
                              halo->connection[i].peer, seconds));
    return NW_OK;
}

nw_status nw_halo_wait(nw_halo *halo)
{
    uint64_t since = halo->timeout > 0 ? nw_clock_ns() : 0;
    struct nw_backoff backoff = {0};
    bool done = false;
    nw_status status = nw_halo_test(halo, &done);

    while (!status && !done) {
        nw_backoff_yield(&backoff);
        if (backoff.idle % CLOCK_EVERY == 0)
            status = check_time(halo, since);
        /* no trace event for the time between two polls, since the caller does
         * not run */
        halo->left_ns = 0;
        if (!status)
            status = nw_halo_test(halo, &done);
    }
    return status;
}
