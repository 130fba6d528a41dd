/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes the processes of a placement and their traffic from the pattern. */
#include "map/placement/placement.h"
#include "map/common/parameters.h"
#include "base/array.h"
#include "base/parallel.h"
#include "base/status.h"

#include <stdlib.h>
#include <string.h>

#define SORTED_BY_HAND 64 /* arcs; a 27-point stencil has 52, both ways */

/* Calls the emitter for both ends of each edge inside the set. */
struct placement_edges {
    const nw_pattern *pattern;
    struct nw_ints ranks;
    const int32_t *local;
    unsigned kinds;
    int32_t threads;
};

static int32_t placement_inside(const struct placement_edges *edges,
                                int32_t rank)
{
    int32_t p = edges->local ? edges->local[rank] : rank;

    if (p < 0 || (size_t)p >= edges->ranks.count ||
        edges->ranks.values[p] != rank)
        return -1;
    return p;
}

static int32_t placement_peer_of(const struct placement_edges *edges, size_t e,
                                 int32_t process)
{
    int32_t peer;

    if (!(edges->kinds & 1u << edges->pattern->kind[e]))
        return -1;
    peer = placement_inside(edges, edges->pattern->dst[e]);
    return peer == process ? -1 : peer;
}

static void placement_count_arcs(const struct placement_edges *edges,
                                 size_t *count)
{
    for (int32_t p = 0; (size_t)p < edges->ranks.count; p++) {
        const size_t *row = edges->pattern->row + edges->ranks.values[p];

        for (size_t e = row[0]; e < row[1]; e++) {
            int32_t peer = placement_peer_of(edges, e, p);

            if (peer < 0)
                continue;
            count[p]++;
            count[peer]++;
        }
    }
}

static void placement_add_arcs(const struct placement_edges *edges, size_t *at,
                               struct nw_arc *arc)
{
    for (int32_t p = 0; (size_t)p < edges->ranks.count; p++) {
        const size_t *row = edges->pattern->row + edges->ranks.values[p];

        for (size_t e = row[0]; e < row[1]; e++) {
            int32_t peer = placement_peer_of(edges, e, p);
            double bytes = (double)edges->pattern->bytes[e];

            if (peer < 0)
                continue;
            arc[at[p]++] = (struct nw_arc){peer, bytes, 0};
            arc[at[peer]++] = (struct nw_arc){p, 0, bytes};
        }
    }
}

static int placement_by_peer(const void *left, const void *right)
{
    const struct nw_arc *a = left, *b = right;

    return (a->peer > b->peer) - (a->peer < b->peer);
}

static void placement_sort_arcs(struct nw_arc *arc, size_t n)
{
    if (n > SORTED_BY_HAND) {
        qsort(arc, n, sizeof *arc, placement_by_peer);
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
static size_t placement_merge_arcs(struct nw_arc *arc, size_t n)
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

static void placement_compact(struct nw_placement *placement)
{
    size_t at = 0, begin = 0;

    for (int32_t p = 0; p < placement->count; p++) {
        size_t end = placement->row[p + 1], n = end - begin;

        placement_sort_arcs(placement->arc + begin, n);
        n = placement_merge_arcs(placement->arc + begin, n);
        memmove(placement->arc + at, placement->arc + begin,
                n * sizeof(struct nw_arc));
        at += n;
        begin = end;
        placement->row[p + 1] = at;
    }
}

/* Lists the peers of a process in ascending order with the bytes it sends,
 * summed over kinds; returns how many. `arc` NULL only counts. */
static size_t placement_list_peers(const struct placement_edges *edges,
                                   int32_t p, struct nw_arc *arc)
{
    const size_t *row = edges->pattern->row + edges->ranks.values[p];
    int32_t last = -1;
    size_t count = 0;

    for (size_t e = row[0]; e < row[1]; e++) {
        int32_t peer = placement_peer_of(edges, e, p);

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
#define MATCHERS_MAX 8
#define RANGES_EACH 4 /* of several matchers */

/* The same on several threads. */
struct placement_mirror {
    const struct placement_edges *edges;
    struct nw_placement *placement;
    int32_t matchers, ranges;
    size_t *next[MATCHERS_MAX]; /* [count], of a matcher */
    bool taken[MATCHERS_MAX];
    bool failed; /* somewhere */
};

static int32_t placement_part_of(const struct nw_placement *placement,
                                 int32_t i, int32_t parts)
{
    return (int32_t)((int64_t)placement->count * i / parts);
}

static void placement_count_part(void *user, int32_t i)
{
    struct placement_mirror *mirror = user;
    struct nw_placement *placement = mirror->placement;
    int32_t end = placement_part_of(placement, i + 1, JOBS);

    for (int32_t p = placement_part_of(placement, i, JOBS); p < end; p++)
        placement->row[p + 1] = placement_list_peers(mirror->edges, p, NULL);
}

static void placement_fill_part(void *user, int32_t i)
{
    struct placement_mirror *mirror = user;
    struct nw_placement *placement = mirror->placement;
    int32_t end = placement_part_of(placement, i + 1, JOBS);

    for (int32_t p = placement_part_of(placement, i, JOBS); p < end; p++)
        placement_list_peers(mirror->edges, p,
                             placement->arc + placement->row[p]);
}

/* The first arc of a process to `peer` or beyond. */
static size_t placement_first_arc(const struct nw_placement *placement,
                                  int32_t p, int32_t peer)
{
    size_t low = placement->row[p], high = placement->row[p + 1];

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (placement->arc[middle].peer < peer)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* `next` of the processes from reach[0] to reach[1]. */
static bool placement_match_range(struct nw_placement *placement, size_t *next,
                                  const int32_t range[2],
                                  const int32_t reach[2])
{
    for (int32_t p = range[0]; p < range[1]; p++)
        for (size_t a = placement->row[p]; a < placement->row[p + 1]; a++) {
            int32_t peer = placement->arc[a].peer;
            size_t back;

            if (peer < reach[0] || peer > reach[1])
                return false;
            back = next[peer]++;
            if (back >= placement->row[peer + 1] ||
                placement->arc[back].peer != p)
                return false;
            placement->arc[back].in = placement->arc[a].out;
        }
    return true;
}

/* The least and the greatest process that a range sends to. */
static void placement_find_reach(const struct nw_placement *placement,
                                 const int32_t range[2], int32_t reach[2])
{
    reach[0] = placement->count;
    reach[1] = -1;
    for (int32_t p = range[0]; p < range[1]; p++) {
        const size_t *row = placement->row + p;

        if (row[0] == row[1])
            continue;
        if (placement->arc[row[0]].peer < reach[0])
            reach[0] = placement->arc[row[0]].peer;
        if (placement->arc[row[1] - 1].peer > reach[1])
            reach[1] = placement->arc[row[1] - 1].peer;
    }
}

/* Where each process sends to those it receives from, the arcs back come up in
 * the order of the processes, and nothing is sorted. Each arc then has its own
 * one back, so none is left over. */
static void placement_match_next(struct placement_mirror *mirror, int32_t i,
                                 size_t *next)
{
    struct nw_placement *placement = mirror->placement;
    int32_t range[2] = {placement_part_of(placement, i, mirror->ranges),
                        placement_part_of(placement, i + 1, mirror->ranges)};
    int32_t reach[2];

    placement_find_reach(placement, range, reach);
    for (int32_t p = reach[0]; p <= reach[1]; p++)
        next[p] = placement_first_arc(placement, p, range[0]);
    if (!placement_match_range(placement, next, range, reach))
        __atomic_store_n(&mirror->failed, true, __ATOMIC_RELAXED);
}

static void placement_match_part(void *user, int32_t i)
{
    struct placement_mirror *mirror = user;
    int32_t m = nw_parallel_claim(mirror->taken, mirror->matchers);

    placement_match_next(mirror, i, mirror->next[m]);
    nw_parallel_release(mirror->taken, m);
}

static nw_status placement_match_arcs(struct placement_mirror *mirror,
                                      int32_t threads, bool *done)
{
    size_t n = (size_t)mirror->placement->count;
    nw_status status = NW_OK;

    mirror->matchers = threads < 1 ? 1 : threads;
    if (mirror->matchers > MATCHERS_MAX)
        mirror->matchers = MATCHERS_MAX;
    mirror->ranges = mirror->matchers > 1 ? RANGES_EACH * mirror->matchers : 1;
    for (int32_t i = 0; !status && i < mirror->matchers; i++)
        status = nw_alloc_raw(n, sizeof *mirror->next[i], &mirror->next[i]);
    if (!status)
        nw_parallel_run(placement_match_part, mirror, mirror->ranges,
                        mirror->matchers);
    *done = !status && !mirror->failed;
    for (int32_t i = 0; i < mirror->matchers; i++)
        free(mirror->next[i]);
    return status;
}

/* Arcs of a symmetric pattern; none where it is not. */
static nw_status placement_read_mirrored(struct nw_placement *placement,
                                         const struct placement_edges *edges,
                                         bool *done)
{
    struct placement_mirror mirror = {.edges = edges, .placement = placement};
    size_t n = (size_t)placement->count;
    nw_status status = nw_alloc(n + 1, sizeof *placement->row, &placement->row);

    *done = false;
    if (status)
        return status;
    nw_parallel_run(placement_count_part, &mirror, JOBS, edges->threads);
    for (size_t p = 0; p < n; p++)
        placement->row[p + 1] += placement->row[p];
    status = nw_alloc_raw(placement->row[n], sizeof *placement->arc,
                          &placement->arc);
    if (status)
        return status;
    nw_parallel_run(placement_fill_part, &mirror, JOBS, edges->threads);
    status = placement_match_arcs(&mirror, edges->threads, done);
    if (status || *done)
        return status;
    free(placement->row);
    free(placement->arc);
    placement->row = NULL;
    placement->arc = NULL;
    return NW_OK;
}

static nw_status placement_read_arcs(struct nw_placement *placement,
                                     const struct placement_edges *edges)
{
    size_t n = (size_t)placement->count, *at = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n + 1, at), NW_ARRAY(n + 1, placement->row));

    if (status)
        goto out;
    placement_count_arcs(edges, at);
    for (size_t p = 0; p < n; p++) {
        placement->row[p + 1] = placement->row[p] + at[p];
        at[p] = placement->row[p];
    }
    status = nw_alloc_raw(placement->row[n], sizeof *placement->arc,
                          &placement->arc);
    if (status)
        goto out;
    placement_add_arcs(edges, at, placement->arc);
    placement_compact(placement);
out:
    free(at);
    return status;
}

nw_status nw_placement_init(struct nw_placement *placement,
                            const struct nw_placement_of *of)
{
    struct nw_ints ranks = of->ranks;
    struct placement_edges edges = {of->pattern, ranks, of->local, of->kinds,
                                    of->pattern->edge_count <
                                            nw_tuned.threads.pattern_edges_min
                                        ? 1
                                        : of->threads};
    bool done = false;
    nw_status status;

    *placement = (struct nw_placement){.count = (int32_t)ranks.count};
    status =
        nw_alloc_raw(ranks.count, sizeof *placement->place, &placement->place);
    for (size_t p = 0; !status && p < ranks.count; p++)
        placement->place[p] = -1;
    if (!status)
        status = placement_read_mirrored(placement, &edges, &done);
    if (!status && !done)
        status = placement_read_arcs(placement, &edges);
    if (status)
        nw_placement_fini(placement);
    return status;
}

void nw_placement_fini(struct nw_placement *placement)
{
    free(placement->row);
    free(placement->arc);
    nw_free_slots_fini(&placement->free_slots);
    NW_FREE_ALL(placement->gpu, placement->place, placement->fixed);
    *placement = (struct nw_placement){0};
}

bool nw_placement_fits(const struct nw_placement *placement, int32_t process,
                       int32_t place)
{
    return nw_free_slots_fits(&placement->free_slots, place,
                              nw_placement_wants_gpu(placement, process));
}

void nw_placement_put(struct nw_placement *placement, int32_t process,
                      int32_t place)
{
    placement->place[process] = place;
    nw_free_slots_take(&placement->free_slots, place,
                       nw_placement_wants_gpu(placement, process));
}
