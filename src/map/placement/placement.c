/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of a placing and what they send each other, out of the
 * pattern; and the three placers that look at neither. */
#include "map/placement/placement.h"
#include "base/array.h"
#include "base/crew.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define THREADED 100000   /* edges that are worth several threads */
#define SORTED_BY_HAND 64 /* arcs; a 27-point stencil has 52, both ways */

/* Calls the emitter for both ends of each edge inside the set. */
struct edges {
    const nw_pattern *pattern;
    struct nw_ints ranks;
    const int32_t *local;
    unsigned kinds;
    int32_t threads;
};

static int32_t inside(const struct edges *edges, int32_t rank)
{
    int32_t p = edges->local ? edges->local[rank] : rank;

    if (p < 0 || (size_t)p >= edges->ranks.count ||
        edges->ranks.values[p] != rank)
        return -1;
    return p;
}

static int32_t peer_of(const struct edges *edges, size_t e, int32_t process)
{
    int32_t peer;

    if (!(edges->kinds & 1u << edges->pattern->kind[e]))
        return -1;
    peer = inside(edges, edges->pattern->dst[e]);
    return peer == process ? -1 : peer;
}

static void count_arcs(const struct edges *edges, size_t *count)
{
    for (int32_t p = 0; (size_t)p < edges->ranks.count; p++) {
        const size_t *row = edges->pattern->row + edges->ranks.values[p];

        for (size_t e = row[0]; e < row[1]; e++) {
            int32_t peer = peer_of(edges, e, p);

            if (peer < 0)
                continue;
            count[p]++;
            count[peer]++;
        }
    }
}

static void add_arcs(const struct edges *edges, size_t *at, struct nw_arc *arc)
{
    for (int32_t p = 0; (size_t)p < edges->ranks.count; p++) {
        const size_t *row = edges->pattern->row + edges->ranks.values[p];

        for (size_t e = row[0]; e < row[1]; e++) {
            int32_t peer = peer_of(edges, e, p);
            double bytes = (double)edges->pattern->bytes[e];

            if (peer < 0)
                continue;
            arc[at[p]++] = (struct nw_arc){peer, bytes, 0};
            arc[at[peer]++] = (struct nw_arc){p, 0, bytes};
        }
    }
}

static int by_peer(const void *left, const void *right)
{
    const struct nw_arc *a = left, *b = right;

    return (a->peer > b->peer) - (a->peer < b->peer);
}

static void sort_arcs(struct nw_arc *arc, size_t n)
{
    if (n > SORTED_BY_HAND) {
        qsort(arc, n, sizeof *arc, by_peer);
        return;
    }
    for (size_t i = 1; i < n; i++) {
        struct nw_arc moving = arc[i];
        size_t at = i;

        for (; at && arc[at - 1].peer > moving.peer; at--)
            arc[at] = arc[at - 1];
        arc[at] = moving;
    }
}

/* Sums what goes to one peer; returns how many are left. */
static size_t merge_arcs(struct nw_arc *arc, size_t n)
{
    size_t kept = 0;

    for (size_t i = 0; i < n; i++) {
        if (kept && arc[kept - 1].peer == arc[i].peer) {
            arc[kept - 1].out += arc[i].out;
            arc[kept - 1].in += arc[i].in;
        } else {
            arc[kept++] = arc[i];
        }
    }
    return kept;
}

static void compact(struct nw_placing *placing)
{
    size_t at = 0, begin = 0;

    for (int32_t p = 0; p < placing->count; p++) {
        size_t end = placing->row[p + 1], n = end - begin;

        sort_arcs(placing->arc + begin, n);
        n = merge_arcs(placing->arc + begin, n);
        memmove(placing->arc + at, placing->arc + begin,
                n * sizeof(struct nw_arc));
        at += n;
        begin = end;
        placing->row[p + 1] = at;
    }
}

/* Peers of a process, each once, with what it sends; returns how many. Sums
 * kinds; `arc` NULL counts. Peers ascend as ranks do. */
static size_t list_peers(const struct edges *edges, int32_t p,
                         struct nw_arc *arc)
{
    const size_t *row = edges->pattern->row + edges->ranks.values[p];
    int32_t last = -1;
    size_t count = 0;

    for (size_t e = row[0]; e < row[1]; e++) {
        int32_t peer = peer_of(edges, e, p);

        if (peer < 0)
            continue;
        if (peer != last && arc)
            arc[count] = (struct nw_arc){peer, 0, 0};
        count += peer != last;
        last = peer;
        if (arc)
            arc[count - 1].out += (double)edges->pattern->bytes[e];
    }
    return count;
}

#define JOBS 64 /* a pattern is shared out to so many */
#define MATCHERS_MOST 8
#define RANGES_EACH 4 /* of several matchers */

/* The same on several threads. */
struct mirror {
    const struct edges *edges;
    struct nw_placing *placing;
    int32_t matchers, ranges;
    size_t *next[MATCHERS_MOST]; /* [count], of a matcher */
    bool taken[MATCHERS_MOST];
    bool failed; /* somewhere */
};

static int32_t part_of(const struct nw_placing *placing, int32_t i,
                       int32_t parts)
{
    return (int32_t)((int64_t)placing->count * i / parts);
}

static void count_part(void *user, int32_t i)
{
    struct mirror *mirror = user;
    struct nw_placing *placing = mirror->placing;
    int32_t end = part_of(placing, i + 1, JOBS);

    for (int32_t p = part_of(placing, i, JOBS); p < end; p++)
        placing->row[p + 1] = list_peers(mirror->edges, p, NULL);
}

static void fill_part(void *user, int32_t i)
{
    struct mirror *mirror = user;
    struct nw_placing *placing = mirror->placing;
    int32_t end = part_of(placing, i + 1, JOBS);

    for (int32_t p = part_of(placing, i, JOBS); p < end; p++)
        list_peers(mirror->edges, p, placing->arc + placing->row[p]);
}

/* The first arc of a process to `peer` or beyond. */
static size_t first_arc(const struct nw_placing *placing, int32_t p,
                        int32_t peer)
{
    size_t low = placing->row[p], high = placing->row[p + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (placing->arc[middle].peer < peer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `next` of the processes from reach[0] to reach[1]. */
static bool match_range(struct nw_placing *placing, size_t *next,
                        const int32_t range[2], const int32_t reach[2])
{
    for (int32_t p = range[0]; p < range[1]; p++)
        for (size_t a = placing->row[p]; a < placing->row[p + 1]; a++) {
            int32_t peer = placing->arc[a].peer;
            size_t back;

            if (peer < reach[0] || peer > reach[1])
                return false;
            back = next[peer]++;
            if (back >= placing->row[peer + 1] || placing->arc[back].peer != p)
                return false;
            placing->arc[back].in = placing->arc[a].out;
        }
    return true;
}

/* The least and the greatest process that a range sends to. */
static void find_reach(const struct nw_placing *placing, const int32_t range[2],
                       int32_t reach[2])
{
    reach[0] = placing->count;
    reach[1] = -1;
    for (int32_t p = range[0]; p < range[1]; p++) {
        const size_t *row = placing->row + p;

        if (row[0] == row[1])
            continue;
        if (placing->arc[row[0]].peer < reach[0])
            reach[0] = placing->arc[row[0]].peer;
        if (placing->arc[row[1] - 1].peer > reach[1])
            reach[1] = placing->arc[row[1] - 1].peer;
    }
}

/* Where each process sends to those it receives from, the arcs back come up in
 * the order of the processes, and nothing is sorted. Each arc then has its own
 * one back, so none is left over. */
static void match_next(struct mirror *mirror, int32_t i, size_t *next)
{
    struct nw_placing *placing = mirror->placing;
    int32_t range[2] = {part_of(placing, i, mirror->ranges),
                        part_of(placing, i + 1, mirror->ranges)};
    int32_t reach[2];

    find_reach(placing, range, reach);
    for (int32_t p = reach[0]; p <= reach[1]; p++)
        next[p] = first_arc(placing, p, range[0]);
    if (!match_range(placing, next, range, reach))
        __atomic_store_n(&mirror->failed, true, __ATOMIC_RELAXED);
}

static void match_part(void *user, int32_t i)
{
    struct mirror *mirror = user;
    int32_t m = nw_crew_claim(mirror->taken, mirror->matchers);

    match_next(mirror, i, mirror->next[m]);
    nw_crew_release(mirror->taken, m);
}

static nw_status match_arcs(struct mirror *mirror, int32_t threads, bool *done)
{
    size_t n = (size_t)mirror->placing->count;
    nw_status status = NW_OK;

    mirror->matchers = threads < 1 ? 1 : threads;
    if (mirror->matchers > MATCHERS_MOST)
        mirror->matchers = MATCHERS_MOST;
    mirror->ranges = mirror->matchers > 1 ? RANGES_EACH * mirror->matchers : 1;
    for (int32_t i = 0; !status && i < mirror->matchers; i++)
        status = nw_alloc_raw(n, sizeof *mirror->next[i], &mirror->next[i]);
    if (!status)
        nw_crew_run(match_part, mirror, mirror->ranges, mirror->matchers);
    *done = !status && !mirror->failed;
    for (int32_t i = 0; i < mirror->matchers; i++)
        free(mirror->next[i]);
    return status;
}

/* Arcs of a symmetric pattern; none where it is not. */
static nw_status read_mirrored(struct nw_placing *placing,
                               const struct edges *edges, bool *done)
{
    struct mirror mirror = {.edges = edges, .placing = placing};
    size_t n = (size_t)placing->count;
    nw_status status = nw_alloc(n + 1, sizeof *placing->row, &placing->row);

    *done = false;
    if (status)
        return status;
    nw_crew_run(count_part, &mirror, JOBS, edges->threads);
    for (size_t p = 0; p < n; p++)
        placing->row[p + 1] += placing->row[p];
    status = nw_alloc_raw(placing->row[n], sizeof *placing->arc, &placing->arc);
    if (status)
        return status;
    nw_crew_run(fill_part, &mirror, JOBS, edges->threads);
    status = match_arcs(&mirror, edges->threads, done);
    if (status || *done)
        return status;
    free(placing->row);
    free(placing->arc);
    placing->row = NULL;
    placing->arc = NULL;
    return NW_OK;
}

static nw_status read_arcs(struct nw_placing *placing,
                           const struct edges *edges)
{
    size_t n = (size_t)placing->count, *at = NULL;
    nw_status status = nw_alloc(n + 1, sizeof *at, &at);

    if (!status)
        status = nw_alloc(n + 1, sizeof *placing->row, &placing->row);
    if (status)
        goto out;
    count_arcs(edges, at);
    for (size_t p = 0; p < n; p++) {
        placing->row[p + 1] = placing->row[p] + at[p];
        at[p] = placing->row[p];
    }
    status = nw_alloc_raw(placing->row[n], sizeof *placing->arc, &placing->arc);
    if (status)
        goto out;
    add_arcs(edges, at, placing->arc);
    compact(placing);
out:
    free(at);
    return status;
}

nw_status nw_placing_init(struct nw_placing *placing,
                          const struct nw_placing_of *of)
{
    struct nw_ints ranks = of->ranks;
    struct edges edges = {of->pattern, ranks, of->local, of->kinds,
                          of->pattern->edge_count < THREADED ? 1 : of->threads};
    bool done = false;
    nw_status status;

    *placing = (struct nw_placing){.count = (int32_t)ranks.count};
    status = nw_alloc_raw(ranks.count, sizeof *placing->place, &placing->place);
    for (size_t p = 0; !status && p < ranks.count; p++)
        placing->place[p] = -1;
    if (!status)
        status = read_mirrored(placing, &edges, &done);
    if (!status && !done)
        status = read_arcs(placing, &edges);
    if (status)
        nw_placing_fini(placing);
    return status;
}

void nw_placing_fini(struct nw_placing *placing)
{
    free(placing->row);
    free(placing->arc);
    nw_rooms_fini(&placing->rooms);
    free(placing->gpu);
    free(placing->place);
    free(placing->fixed);
    *placing = (struct nw_placing){0};
}

bool nw_placing_fits(const struct nw_placing *placing, int32_t process,
                     int32_t place)
{
    return nw_rooms_fits(&placing->rooms, place,
                         nw_placing_wants_gpu(placing, process));
}

void nw_placing_put(struct nw_placing *placing, int32_t process, int32_t place)
{
    placing->place[process] = place;
    nw_rooms_take(&placing->rooms, place,
                  nw_placing_wants_gpu(placing, process));
}
