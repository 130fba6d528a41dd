/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the traffic of each process with each peer in both directions: merges
 * the pattern's edges that leave a process with those that enter it. Each row
 * of the pattern is sorted by destination. The rows are read in ascending order
 * of their sources, so the edges that enter a process are sorted by source,
 * too. */
#include "map/problem/arcs.h"
#include "base/array.h"

#include <stdlib.h>

/* An edge of the pattern that enters a process: the process where the edge
 * begins, and its bytes or messages. */
struct arcs_incoming {
    int32_t from;
    double amount;
};

/* The edges of the pattern that enter each process from another one. */
struct arcs_work {
    const struct nw_arcs_of *of;
    size_t *first; /* [processes + 2] after arcs_spread with `write`, the edges
                      that enter process p are incoming[first[p]] ..
                      incoming[first[p + 1] - 1] */
    struct arcs_incoming *incoming;
};

static int32_t arcs_rank_of(const struct nw_arcs_of *of, int32_t process)
{
    return of->ranks.values ? of->ranks.values[process] : process;
}

/* Returns the process at which edge e of `process` ends. Returns -1 if the edge
 * must be skipped, for one of these reasons:
 * - its kind is not in of->kinds;
 * - the rank at which it ends is not one of the processes;
 * - it ends at `process` itself. */
static int32_t arcs_peer_of(const struct nw_arcs_of *of, size_t e,
                            int32_t process)
{
    int32_t rank = of->pattern->dst[e], peer;

    if (!(of->kinds & 1u << of->pattern->kind[e]))
        return -1;
    peer = of->local ? of->local[rank] : rank;
    if (peer < 0 || (size_t)peer >= of->ranks.count ||
        arcs_rank_of(of, peer) != rank || peer == process)
        return -1;
    return peer;
}

static double arcs_amount_of(const struct nw_arcs_of *of, size_t e)
{
    return (double)(of->messages ? of->pattern->messages[e]
                                 : of->pattern->bytes[e]);
}

/* Counts the edges that enter each process in work->first. If `write` is set,
 * writes these edges to work->incoming instead. */
static void arcs_spread(struct arcs_work *work, bool write)
{
    const struct nw_arcs_of *of = work->of;

    for (int32_t p = 0; (size_t)p < of->ranks.count; p++) {
        const size_t *row = of->pattern->row + arcs_rank_of(of, p);

        for (size_t e = row[0]; e < row[1]; e++) {
            int32_t peer = arcs_peer_of(of, e, p);

            if (peer >= 0 && write)
                work->incoming[work->first[peer + 1]++] =
                    (struct arcs_incoming){p, arcs_amount_of(of, e)};
            else if (peer >= 0)
                work->first[peer + 2]++;
        }
    }
}

/* Writes the arcs of process p to arc[], one for each peer, in ascending order
 * of the peers. Returns the number of arcs. */
static size_t arcs_merge(const struct arcs_work *work, int32_t p,
                         struct nw_arc *arc)
{
    const struct nw_arcs_of *of = work->of;
    const size_t *row = of->pattern->row + arcs_rank_of(of, p);
    const struct arcs_incoming *in = work->incoming + work->first[p];
    const struct arcs_incoming *end = work->incoming + work->first[p + 1];
    size_t e = row[0], count = 0;

    for (;;) {
        int32_t out = -1, peer;

        while (e < row[1] && (out = arcs_peer_of(of, e, p)) < 0)
            e++;
        if (out < 0 && in == end)
            return count;
        peer = out < 0 || (in < end && in->from < out) ? in->from : out;
        if (!count || arc[count - 1].peer != peer)
            arc[count++] = (struct nw_arc){peer, 0, 0};
        if (peer == out)
            arc[count - 1].out += arcs_amount_of(of, e++);
        else
            arc[count - 1].in += in++->amount;
    }
}

nw_status nw_arcs_read(const struct nw_arcs_of *of, size_t **row,
                       struct nw_arc **arc)
{
    struct arcs_work work = {.of = of};
    size_t n = of->ranks.count, *first = NULL;
    struct nw_arc *less;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n + 2, first), NW_ARRAY(n + 1, *row));

    *arc = NULL;
    work.first = first;
    if (!status)
        arcs_spread(&work, false);
    for (size_t p = 0; !status && p < n; p++)
        first[p + 2] += first[p + 1];
    if (!status)
        status =
            nw_alloc_raw(first[n + 1], sizeof *work.incoming, &work.incoming);
    if (!status)
        status = nw_alloc_raw(2 * first[n + 1], sizeof **arc, arc);
    if (!status)
        arcs_spread(&work, true);
    for (size_t p = 0; !status && p < n; p++)
        (*row)[p + 1] =
            (*row)[p] + arcs_merge(&work, (int32_t)p, *arc + (*row)[p]);
    less =
        !status && (*row)[n] ? realloc(*arc, (*row)[n] * sizeof **arc) : NULL;
    *arc = less ? less : *arc;
    free(first);
    free(work.incoming);
    return status;
}
