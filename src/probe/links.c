/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes figures of links from those of pairs of ranks: first medians between
 * hosts, then the largest rate that was seen on each host's link and on each
 * group's link. */
#include "probe/groups.h"

#include "base/array.h"
#include "base/median.h"
#include "base/status.h"

#include <stdlib.h>

nw_status nw_probe_tree(struct nw_probe_groups *groups);

/* A sum of simultaneous rates that is higher than the rate of a single stream
 * by this factor is more than measuring noise. */
#define NOISE 1.2

/* A value that belongs to a cell of a matrix. */
struct links_sample {
    size_t cell;
    double value;
};

static int by_cell(const void *a, const void *b)
{
    const struct links_sample *x = a, *y = b;

    if (x->cell != y->cell)
        return x->cell < y->cell ? -1 : 1;
    return (x->value > y->value) - (x->value < y->value);
}

/* Sets each cell of the matrix that has samples to their median. */
static void probe_links_fill(double *matrix, struct links_sample *sample,
                             size_t count)
{
    qsort(sample, count, sizeof *sample, by_cell);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i; end < count && sample[end].cell == sample[i].cell;)
            end++;
        matrix[sample[i].cell] =
            (sample[(i + end) / 2].value + sample[(i + end - 1) / 2].value) / 2;
    }
}

/* Returns the cell (host of a, host of b). */
static size_t cell_of(const struct nw_probe *probe, int32_t a, int32_t b)
{
    return (size_t)probe->rank[a].host * (size_t)probe->host_count +
           (size_t)probe->rank[b].host;
}

/* Sets groups->rate from the streams that were not simultaneous with others;
 * *any is true if there is such a stream between hosts. */
static nw_status fill_rates(const struct nw_probe *probe,
                            enum nw_probe_memory memory,
                            struct nw_probe_groups *groups, bool *any)
{
    struct links_sample *sample;
    size_t count = 0;
    nw_status status =
        nw_alloc(probe->stream_count + 1, sizeof *sample, &sample);

    if (status)
        return status;
    for (size_t i = 0; i < probe->stream_count; i++) {
        const struct nw_probe_stream *it = &probe->stream[i];

        if (it->memory == memory && nw_probe_is_alone(it))
            sample[count++] = (struct links_sample){
                cell_of(probe, it->from, it->to), it->rate};
    }
    probe_links_fill(groups->rate, sample, count);
    free(sample);
    *any = false;
    for (size_t i = 0, n = (size_t)probe->host_count; i < n * n; i++)
        *any |= i / n != i % n && groups->rate[i] > 0;
    return NW_OK;
}

/* Returns a rate in bytes/s computed from the times of the two largest classes
 * of sizes; 0 if it cannot be computed. Used only if no stream was measured. It
 * would mislead beside streams, since short messages may pass a link's buffer
 * faster than the link. */
static double slope_rate(const struct nw_probe_pair *pair)
{
    int last = NW_PROBE_CLASSES - 1;
    double time = pair->class[last].time - pair->class[last - 1].time;
    double bytes =
        (double)(nw_probe_class_bytes(last) - nw_probe_class_bytes(last - 1));

    return time > 0 ? bytes / time : 0;
}

/* Sets groups->latency from the round trips, and groups->rate, too, if no
 * stream between hosts was measured (`any` is false). */
static nw_status fill_pairs(const struct nw_probe *probe,
                            enum nw_probe_memory memory,
                            struct nw_probe_groups *groups, bool any)
{
    struct links_sample *times, *rates = NULL;
    size_t count = 0, slopes = 0, most = 2 * probe->pair_count + 1;
    nw_status status = nw_alloc(most, sizeof *times, &times);

    if (!status)
        status = nw_alloc(most, sizeof *rates, &rates);
    for (size_t i = 0; !status && i < probe->pair_count; i++) {
        const struct nw_probe_pair *it = &probe->pair[i];
        size_t cell[2] = {cell_of(probe, it->a, it->b),
                          cell_of(probe, it->b, it->a)};

        if (it->memory != memory)
            continue;
        for (int direction = 0; direction < 2; direction++) {
            times[count++] =
                (struct links_sample){cell[direction], it->class[0].time};
            if (!any && slope_rate(it) > 0)
                rates[slopes++] =
                    (struct links_sample){cell[direction], slope_rate(it)};
        }
    }
    if (!status) {
        probe_links_fill(groups->latency, times, count);
        probe_links_fill(groups->rate, rates, slopes);
    }
    free(times);
    free(rates);
    return status;
}

/* Returns true if both ranks are in the same host: in two packages if `across`,
 * else not known to be in two packages. */
static bool probe_links_is_inside(const struct nw_probe *probe, int32_t a,
                                  int32_t b, int across)
{
    return probe->rank[a].host == probe->rank[b].host &&
           nw_probe_crosses(probe, a, b) == across;
}

/* Sets the figures inside hosts, which are medians over all hosts: in a package
 * and between packages. A rate is computed from round trips if no stream was
 * measured. */
static nw_status probe_links_find_inside(const struct nw_probe *probe,
                                         enum nw_probe_memory memory,
                                         struct nw_probe_groups *groups)
{
    size_t most = probe->pair_count + probe->stream_count + 1;
    double *values, *out[2][2] = {{&groups->inside, &groups->across},
                                  {&groups->inside_rate, &groups->across_rate}};
    nw_status status = nw_alloc(2 * most, sizeof *values, &values);

    for (int direction = 0; !status && direction < 2; direction++) {
        size_t count = 0, slopes = 0;
        double *slope = values + most;

        for (size_t i = 0; i < probe->pair_count; i++) {
            const struct nw_probe_pair *it = &probe->pair[i];

            if (it->memory != memory ||
                !probe_links_is_inside(probe, it->a, it->b, direction))
                continue;
            values[count++] = it->class[0].time;
            if (slope_rate(it) > 0)
                slope[slopes++] = slope_rate(it);
        }
        *out[0][direction] = nw_median(values, count);
        count = 0;
        for (size_t i = 0; i < probe->stream_count; i++) {
            const struct nw_probe_stream *it = &probe->stream[i];

            if (it->memory == memory && nw_probe_is_alone(it) &&
                probe_links_is_inside(probe, it->from, it->to, direction))
                values[count++] = it->rate;
        }
        *out[1][direction] =
            count ? nw_median(values, count) : nw_median(slope, slopes);
    }
    free(values);
    return status;
}

/* Sets rate and latency of each group: medians over the pairs of hosts below
 * different children of the group. */
static nw_status probe_links_find_levels(struct nw_probe_groups *groups)
{
    size_t n = (size_t)groups->host_count;
    double *rates, *times = NULL;
    nw_status status = nw_alloc(n * n + 1, sizeof *rates, &rates);

    if (!status)
        status = nw_alloc(n * n + 1, sizeof *times, &times);
    for (int32_t g = groups->host_count; !status && g < groups->count; g++) {
        size_t rate_count = 0, time_count = 0;

        for (size_t i = 0; i < n * n; i++) {
            int32_t a = (int32_t)(i / n), b = (int32_t)(i % n);

            if (a == b || nw_probe_groups_meet(groups, a, b) != g)
                continue;
            if (groups->rate[i] > 0)
                rates[rate_count++] = groups->rate[i];
            if (groups->latency[i] > 0)
                times[time_count++] = groups->latency[i];
        }
        groups->group[g].rate = nw_median(rates, rate_count);
        groups->group[g].latency = nw_median(times, time_count);
    }
    free(rates);
    free(times);
    return status;
}

static double probe_links_most(double a, double b)
{
    return a > b ? a : b;
}

/* Raises up[] of the links between each two hosts to the rate of a single
 * stream between them. The stream is never faster than a link on its way, so
 * that its rate is a lower bound for the bandwidth of these links. */
static void bound_from_below(struct nw_probe_groups *groups)
{
    size_t n = (size_t)groups->host_count;

    for (size_t i = 0; i < n * n; i++) {
        int32_t a = (int32_t)(i / n), b = (int32_t)(i % n), top;

        if (a == b)
            continue;
        top = nw_probe_groups_meet(groups, a, b);
        for (; a != top; a = groups->group[a].parent)
            groups->group[a].up[0] =
                probe_links_most(groups->group[a].up[0], groups->rate[i]);
        for (; b != top; b = groups->group[b].parent)
            groups->group[b].up[1] =
                probe_links_most(groups->group[b].up[1], groups->rate[i]);
    }
}

/* Raises up[] of each group to the sum of the rates of simultaneous streams
 * that leave (or enter) it, if the sum is clearly higher. The sum is a lower
 * bound for the bandwidth of the group's link. The streams are those of
 * experiment `set`. Sets `shared`. */
static void add_experiment(const struct nw_probe *probe,
                           enum nw_probe_memory memory, int32_t set,
                           struct nw_probe_groups *groups)
{
    for (int32_t g = 0; g < groups->count; g++) {
        struct nw_probe_group *group = &groups->group[g];
        double sum[2] = {0}, alone = 0;
        int flows = 0;

        for (size_t i = 0; i < probe->stream_count; i++) {
            const struct nw_probe_stream *it = &probe->stream[i];
            int32_t a = probe->rank[it->from].host;
            int32_t b = probe->rank[it->to].host;
            bool out = nw_probe_groups_below(groups, a, g);
            bool in = nw_probe_groups_below(groups, b, g);

            if (it->set != set || it->memory != memory || out == in)
                continue;
            sum[in] += it->rate;
            alone += groups->rate[cell_of(probe, it->from, it->to)];
            flows++;
        }
        for (int direction = 0; direction < 2; direction++)
            if (sum[direction] > NOISE * group->up[direction])
                group->up[direction] = sum[direction];
        if (flows > 1 && g >= groups->host_count &&
            sum[0] + sum[1] < 0.75 * alone)
            group->shared = true;
    }
}

nw_status nw_probe_groups_find(const struct nw_probe *probe,
                               enum nw_probe_memory memory,
                               struct nw_probe_groups *out)
{
    struct nw_probe_groups groups = {.host_count = probe->host_count};
    size_t cells = (size_t)probe->host_count * (size_t)probe->host_count;
    nw_status status = NW_OK;
    bool any = false;

    if (probe->host_count < 1)
        return nw_fail(NW_EFORMAT, "no rank of the job answered");
    status = nw_alloc(cells, sizeof *groups.rate, &groups.rate);
    if (!status)
        status = nw_alloc(cells, sizeof *groups.latency, &groups.latency);
    if (!status)
        status = fill_rates(probe, memory, &groups, &any);
    if (!status)
        status = fill_pairs(probe, memory, &groups, any);
    if (!status)
        status = probe_links_find_inside(probe, memory, &groups);
    if (!status)
        status = nw_probe_tree(&groups);
    if (!status)
        status = probe_links_find_levels(&groups);
    if (!status) {
        bound_from_below(&groups);
        for (int32_t set = 1; set <= probe->set_count; set++)
            add_experiment(probe, memory, set, &groups);
        *out = groups;
    } else {
        nw_probe_groups_fini(&groups);
    }
    return status;
}
