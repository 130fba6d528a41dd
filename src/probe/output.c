/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the results of the measurement as texts: a summary, JSON, a matrix,
 * and the ranks that were lost or are slow. */
#include "probe/groups.h"

#include "base/array.h"
#include "base/json.h"
#include "base/median.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>

#define MATRIX_BYTES 1048576.0
/* Fewest measured pairs with which a rank can be called slow. */
#define FEWEST_PAIRS 3
/* A rank is called slow if its messages take more than this many times as long
 * as those of similar pairs. */
#define SLOW 3.0

struct output_view {
    const struct nw_probe *probe;
    struct nw_probe_groups host;
};

/* Returns the text of `value`, which is in `out`. A bandwidth of 0 was not
 * measured, because the time ended before. */
static const char *output_quantity(double value, enum nw_unit unit,
                                   char out[32])
{
    if (unit == NW_UNIT_BANDWIDTH && !(value > 0))
        return "bandwidth not measured";
    return nw_format_quantity(value, unit, out, 32);
}

/* Adds the names of a group's hosts, such as "n1 n2"; of more than eight hosts,
 * the first eight and "...". */
static void add_hosts(const struct output_view *view, int32_t group,
                      struct nw_text *text)
{
    int32_t told = 0;

    for (int32_t h = 0; h < view->host.host_count; h++) {
        if (!nw_probe_groups_below(&view->host, h, group))
            continue;
        if (told++ == 8) {
            nw_text_add(text, " ...");
            return;
        }
        nw_text_format(
            text, "%s%s", told > 1 ? " " : "",
            view->probe->rank[nw_probe_first_rank(view->probe, h)].name);
    }
}

static void output_add_group(const struct output_view *view, int32_t g,
                             struct nw_text *text)
{
    const struct nw_probe_group *it = &view->host.group[g];
    char rate[32], time[32], up[32];

    nw_text_format(text, "  s%d: ", view->host.count - 1 - g);
    add_hosts(view, g, text);
    nw_text_format(text, ": %s, %s between its parts",
                   output_quantity(it->rate, NW_UNIT_BANDWIDTH, rate),
                   output_quantity(it->latency, NW_UNIT_TIME, time));
    if (it->parent >= 0)
        nw_text_format(
            text, "; %s to the rest%s",
            output_quantity((it->up[0] + it->up[1]) / 2, NW_UNIT_BANDWIDTH, up),
            it->shared ? ", shared by its flows" : "");
    nw_text_add(text, "\n");
}

/* Adds a table with medians of the host-memory messages. */
static void add_classes(const struct output_view *view, struct nw_text *text)
{
    double *time, *overhead, *gap;
    size_t most = view->probe->pair_count;

    if (!most || nw_alloc(3 * most, sizeof *time, &time))
        return;
    overhead = time + most;
    gap = overhead + most;
    nw_text_add(text, "  bytes     time      overhead  gap       (medians of "
                      "all pairs)\n");
    for (int c = 0; c < NW_PROBE_CLASSES; c++) {
        char words[3][32];
        size_t n = 0;

        for (size_t i = 0; i < most; i++) {
            const struct nw_probe_pair *it = &view->probe->pair[i];

            if (it->memory != NW_PROBE_HOST)
                continue;
            time[n] = it->class[c].time;
            overhead[n] = it->class[c].overhead;
            gap[n++] = it->class[c].gap;
        }
        nw_text_format(
            text, "  %-9zu %-9s %-9s %s\n", nw_probe_class_bytes(c),
            output_quantity(nw_median(time, n), NW_UNIT_TIME, words[0]),
            output_quantity(nw_median(overhead, n), NW_UNIT_TIME, words[1]),
            output_quantity(nw_median(gap, n), NW_UNIT_TIME, words[2]));
    }
    free(time);
}

nw_status nw_probe_summary(const nw_probe *probe, char **out)
{
    struct output_view view = {.probe = probe};
    struct nw_text text = {0};
    char rate[32], time[32];
    nw_status status = nw_probe_groups_find(probe, NW_PROBE_HOST, &view.host);

    if (status)
        return status;
    nw_text_format(&text, "%d rank%s on %d host%s, %zu pair%s, %zu stream%s\n",
                   probe->rank_count, nw_plural((uint64_t)probe->rank_count),
                   view.host.host_count,
                   nw_plural((uint64_t)view.host.host_count), probe->pair_count,
                   nw_plural(probe->pair_count), probe->stream_count,
                   nw_plural(probe->stream_count));
    if (view.host.inside > 0)
        nw_text_format(
            &text, "  in a host: %s, %s\n",
            output_quantity(view.host.inside_rate, NW_UNIT_BANDWIDTH, rate),
            output_quantity(view.host.inside, NW_UNIT_TIME, time));
    for (int32_t g = view.host.host_count; g < view.host.count; g++)
        output_add_group(&view, g, &text);
    if (view.host.untidy > 0.05)
        nw_text_format(&text,
                       "  a tree does not explain %.0f %% of the pairs\n",
                       100 * view.host.untidy);
    add_classes(&view, &text);
    nw_probe_groups_fini(&view.host);
    return nw_text_take(&text, out);
}

/* --- matrix --- */

/* Estimates the rate between two ranks in bytes/s from measurements between
 * their hosts or packages. Returns 0 without such measurements. */
static double usual_rate(const struct output_view *view, int32_t a, int32_t b)
{
    const struct nw_probe_groups *found = &view->host;
    int32_t x = view->probe->rank[a].host, y = view->probe->rank[b].host;
    bool crosses = nw_probe_crosses(view->probe, a, b);
    double rate;

    if (x != y) {
        rate = found->rate[(size_t)x * (size_t)found->host_count + (size_t)y];
        return rate > 0 ? rate
                        : found->group[nw_probe_groups_meet(found, x, y)].rate;
    }
    rate = crosses ? found->across_rate : found->inside_rate;
    return rate > 0 ? rate : crosses ? found->inside_rate : found->across_rate;
}

static nw_status fill_matrix(const struct output_view *view, double *cell)
{
    const struct nw_probe *probe = view->probe;
    int32_t n = probe->rank_count;

    for (int32_t r = 0; r < n; r++)
        if (!probe->rank[r].name)
            return nw_fail(NW_EFORMAT,
                           "no matrix: rank %d sent no measurements", r);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = 0; b < n; b++) {
            double rate = a == b ? 0 : usual_rate(view, a, b);

            *cell++ = rate > 0 ? MATRIX_BYTES / rate : 0;
        }
    return NW_OK;
}

/* Replaces the cells of the matrix for pairs of ranks between which a single
 * stream was measured, and adds the latency of pairs of ranks whose round trips
 * were measured. */
static void put_pairs(const struct output_view *view, double *cell)
{
    const struct nw_probe *probe = view->probe;
    size_t n = (size_t)probe->rank_count;

    for (size_t i = 0; i < probe->stream_count; i++) {
        const struct nw_probe_stream *it = &probe->stream[i];

        if (it->memory == NW_PROBE_HOST && nw_probe_is_alone(it))
            cell[(size_t)it->from * n + (size_t)it->to] =
                MATRIX_BYTES / it->rate;
    }
    for (size_t i = 0; i < probe->pair_count; i++) {
        const struct nw_probe_pair *it = &probe->pair[i];

        if (it->memory != NW_PROBE_HOST)
            continue;
        cell[(size_t)it->a * n + (size_t)it->b] += it->class[0].time;
        cell[(size_t)it->b * n + (size_t)it->a] += it->class[0].time;
    }
}

nw_status nw_probe_matrix(const nw_probe *probe, char **out)
{
    struct output_view view = {.probe = probe};
    size_t n = (size_t)probe->rank_count;
    struct nw_text text = {0};
    double *cell = NULL;
    nw_status status = nw_probe_groups_find(probe, NW_PROBE_HOST, &view.host);

    if (!status)
        status = nw_alloc(n * n, sizeof *cell, &cell);
    if (!status)
        status = fill_matrix(&view, cell);
    if (!status) {
        put_pairs(&view, cell);
        for (size_t i = 0; i < n * n; i++)
            nw_text_format(&text, "%.6g%s", cell[i] * 1e6,
                           (i + 1) % n ? " " : "\n");
        status = nw_text_take(&text, out);
    }
    nw_probe_groups_fini(&view.host);
    free(cell);
    return status;
}

/* --- JSON --- */

static void json_pair(struct nw_json *json, const struct nw_probe_pair *pair)
{
    static const char *const memory[] = {"host", "gpu"};

    nw_json_object(json, NULL);
    nw_json_integer(json, "a", pair->a);
    nw_json_integer(json, "b", pair->b);
    nw_json_string(json, "memory", memory[pair->memory]);
    nw_json_array(json, "classes");
    for (int c = 0; c < NW_PROBE_CLASSES; c++) {
        const struct nw_probe_class *it = &pair->class[c];
        double more = c ? it->time - pair->class[c - 1].time : 0;

        nw_json_object(json, NULL);
        nw_json_integer(json, "bytes", (int64_t)nw_probe_class_bytes(c));
        nw_json_number(json, "time", it->time);
        nw_json_number(json, "overhead", it->overhead);
        nw_json_number(json, "gap", it->gap);
        if (c)
            nw_json_number(json, "gap_per_byte",
                           more / (double)(nw_probe_class_bytes(c) -
                                           nw_probe_class_bytes(c - 1)));
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
    nw_json_end_object(json);
}

static void json_streams(struct nw_json *json, const struct nw_probe *probe)
{
    static const char *const memory[] = {"host", "gpu"};

    nw_json_array(json, "streams");
    for (size_t i = 0; i < probe->stream_count; i++) {
        const struct nw_probe_stream *it = &probe->stream[i];

        nw_json_object(json, NULL);
        nw_json_integer(json, "from", it->from);
        nw_json_integer(json, "to", it->to);
        nw_json_string(json, "memory", memory[it->memory]);
        nw_json_integer(json, "together", it->set);
        nw_json_number(json, "rate", it->rate);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

static void json_groups(struct nw_json *json, const struct output_view *view)
{
    nw_json_array(json, "groups");
    for (int32_t g = view->host.host_count; g < view->host.count; g++) {
        const struct nw_probe_group *it = &view->host.group[g];

        nw_json_object(json, NULL);
        nw_json_flat_array(json, "hosts");
        for (int32_t h = 0; h < view->host.host_count; h++)
            if (nw_probe_groups_below(&view->host, h, g))
                nw_json_string(
                    json, NULL,
                    view->probe->rank[nw_probe_first_rank(view->probe, h)]
                        .name);
        nw_json_end_array(json);
        nw_json_number(json, "rate", it->rate);
        nw_json_number(json, "latency", it->latency);
        nw_json_number(json, "out", it->up[0]);
        nw_json_number(json, "in", it->up[1]);
        nw_json_bool(json, "shared", it->shared);
        nw_json_end_object(json);
    }
    nw_json_end_array(json);
}

nw_status nw_probe_json(const nw_probe *probe, char **out)
{
    struct output_view view = {.probe = probe};
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};
    nw_status status = nw_probe_groups_find(probe, NW_PROBE_HOST, &view.host);

    if (status)
        return status;
    nw_json_object(&json, NULL);
    nw_json_string(&json, "schema", "nodewise.probe/1");
    nw_json_integer(&json, "ranks", probe->rank_count);
    nw_json_bool(&json, "complete", probe->done);
    nw_json_flat_array(&json, "lost");
    for (int32_t r = 0; r < probe->rank_count; r++)
        if (probe->rank[r].lost || !probe->rank[r].name)
            nw_json_integer(&json, NULL, r);
    nw_json_end_array(&json);
    json_groups(&json, &view);
    nw_json_array(&json, "pairs");
    for (size_t i = 0; i < probe->pair_count; i++)
        json_pair(&json, &probe->pair[i]);
    nw_json_end_array(&json);
    json_streams(&json, probe);
    nw_json_end_object(&json);
    nw_probe_groups_fini(&view.host);
    return nw_text_take(&text, out);
}

/* --- troubles --- */

/* Returns how many times as long a rank's messages take as those of similar
 * pairs: pairs inside packages, pairs between packages of a host, or pairs
 * between hosts of the same groups. Returns the median over its pairs; 0 if
 * there are too few. `ratio` is working memory. */
static double output_slowness(const struct output_view *view, int32_t rank,
                              double *ratio)
{
    const struct nw_probe *probe = view->probe;
    size_t count = 0;

    for (size_t i = 0; i < probe->pair_count; i++) {
        const struct nw_probe_pair *it = &probe->pair[i];
        int32_t a = probe->rank[it->a].host, b = probe->rank[it->b].host;
        double usual = nw_probe_crosses(probe, it->a, it->b)
                           ? view->host.across
                           : view->host.inside;

        if ((it->a != rank && it->b != rank) || it->memory != NW_PROBE_HOST)
            continue;
        if (a != b)
            usual = view->host.group[nw_probe_groups_meet(&view->host, a, b)]
                        .latency;
        if (usual > 0)
            ratio[count++] = it->class[0].time / usual;
    }
    return count < FEWEST_PAIRS ? 0 : nw_median(ratio, count);
}

static void add_slow(const struct output_view *view, struct nw_text *text)
{
    const struct nw_probe *probe = view->probe;
    double *ratio;

    if (probe->rank_count < 4 ||
        nw_alloc(probe->pair_count + 1, sizeof *ratio, &ratio))
        return;
    for (int32_t r = 0; r < probe->rank_count; r++) {
        double times = output_slowness(view, r, ratio);

        if (times > SLOW)
            nw_text_format(text,
                           "rank %d on %s is slow: its messages take %.1f "
                           "times as long as others'\n",
                           r, probe->rank[r].name, times);
    }
    free(ratio);
}

nw_status nw_probe_troubles(const nw_probe *probe, char **out)
{
    struct output_view view = {.probe = probe};
    struct nw_text text = {0};
    nw_status status = nw_probe_groups_find(probe, NW_PROBE_HOST, &view.host);

    if (status)
        return status;
    for (int32_t r = 0; r < probe->rank_count; r++)
        if (!probe->rank[r].name)
            nw_text_format(&text, "rank %d sent no data: %s\n", r,
                           probe->rank[r].lost ? probe->rank[r].lost
                                               : "no answer");
        else if (probe->rank[r].lost)
            nw_text_format(&text, "rank %d on %s was lost: %s\n", r,
                           probe->rank[r].name, probe->rank[r].lost);
    add_slow(&view, &text);
    nw_probe_groups_fini(&view.host);
    if (probe->rank_count > 1 && !probe->pair_count && !probe->stream_count)
        nw_text_add(&text, "no link was measured in the given time: all links "
                           "are assumed\n");
    if (!text.length) {
        *out = NULL;
        return NW_OK;
    }
    return nw_text_take(&text, out);
}
