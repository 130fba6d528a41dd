/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums the times of each MPI function, first within a rank, then over the
 * ranks. */
#include "runtime/profile/call_times.h"

#include "base/array.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

/* No MPI library has this number of functions: a part file with more names is
 * damaged. */
#define MOST_CALLS 4096
#define NAME_CHARACTERS                                                        \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

/* Returns the index of `name`, or the index at which `name` must be inserted.
 */
static size_t find_call(const struct nw_call_times *times, const char *name)
{
    size_t low = 0, high = times->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(times->call[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static nw_status insert_call(struct nw_call_times *times, size_t at,
                             const char *name)
{
    nw_status status = nw_grow(&times->call, &times->capacity, times->count + 1,
                               sizeof *times->call);

    if (status)
        return status;
    memmove(&times->call[at + 1], &times->call[at],
            (times->count - at) * sizeof *times->call);
    times->call[at] = (struct nw_call_time){0};
    strcpy(times->call[at].name, name);
    times->count++;
    return NW_OK;
}

/* Adds the time of the last rank to the sum, the minimum and the maximum. */
static void close_rank(struct nw_call_time *call)
{
    if (!call->rank_count)
        return;
    if (call->rank_count == 1 || call->ns < call->min)
        call->min = call->ns;
    if (call->ns > call->max)
        call->max = call->ns;
    call->sum += call->ns;
    call->ns = 0;
}

static void add_time(struct nw_call_time *call, int32_t rank,
                     const struct nw_part_record *record)
{
    if (!call->rank_count || call->rank != rank) {
        close_rank(call);
        call->rank = rank;
        call->rank_count++;
    }
    if (__builtin_add_overflow(call->ns, record->bytes, &call->ns))
        call->ns = UINT64_MAX; /* the part file is damaged */
    call->calls += record->messages;
}

nw_status nw_call_times_add(struct nw_call_times *times, int32_t rank,
                            const struct nw_part_record *record)
{
    char name[NW_PART_NAME];
    nw_status status = NW_OK;
    size_t at;

    nw_part_get_name(record, name);
    /* the rank was killed while it created the record */
    if (!record->messages && !name[0])
        return NW_OK;
    if (!name[0] || name[strspn(name, NAME_CHARACTERS)])
        return nw_fail(NW_EINVAL, "rank %d has an invalid name of a call",
                       rank);
    at = find_call(times, name);
    if (at == times->count || strcmp(times->call[at].name, name))
        status = times->count < MOST_CALLS
                     ? insert_call(times, at, name)
                     : nw_fail(NW_EINVAL, "rank %d has too many calls", rank);
    if (status)
        return status;
    add_time(&times->call[at], rank, record);
    if (strcmp(name, NW_PATTERN_RUN))
        add_time(&times->all, rank, record);
    return NW_OK;
}

static nw_status call_times_give(struct nw_call_time *call, const char *name,
                                 nw_pattern *pattern)
{
    struct nw_pattern_time *time = &pattern->time[pattern->time_count];
    nw_status status = nw_strdup(name, &time->call);

    if (status)
        return status;
    close_rank(call);
    time->calls = call->calls;
    time->min_ns = call->rank_count < pattern->rank_count ? 0 : call->min;
    time->mean_ns = (uint64_t)(call->sum / (uint64_t)pattern->rank_count);
    time->max_ns = call->max;
    pattern->time_count++;
    return NW_OK;
}

static int call_times_place_of(const char *name)
{
    if (!strcmp(name, NW_PATTERN_RUN))
        return 0;
    return !strcmp(name, NW_PATTERN_MPI) ? 1 : 2;
}

/* Compares two times for sorting: the whole run comes first, then all of MPI,
 * then the functions by decreasing time. */
static int compare_times(const void *a, const void *b)
{
    const struct nw_pattern_time *x = a, *y = b;
    int place = call_times_place_of(x->call) - call_times_place_of(y->call);

    if (place)
        return place;
    if (x->mean_ns != y->mean_ns)
        return x->mean_ns > y->mean_ns ? -1 : 1;
    return strcmp(x->call, y->call);
}

nw_status nw_call_times_build(struct nw_call_times *times, nw_pattern *pattern)
{
    nw_status status;

    if (!times->count)
        return NW_OK;
    status = nw_alloc(times->count + 1, sizeof *pattern->time, &pattern->time);
    if (!status)
        status = call_times_give(&times->all, NW_PATTERN_MPI, pattern);
    for (size_t i = 0; !status && i < times->count; i++)
        status = call_times_give(&times->call[i], times->call[i].name, pattern);
    if (!status)
        qsort(pattern->time, pattern->time_count, sizeof *pattern->time,
              compare_times);
    return status;
}

void nw_call_times_fini(struct nw_call_times *times)
{
    free(times->call);
    *times = (struct nw_call_times){0};
}
