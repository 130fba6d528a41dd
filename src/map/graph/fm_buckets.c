/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves of single vertices between two parts where bytes are few whole numbers:
 * vertices wait by gain in stacks, so that the next one is found at once. Of
 * equal ones the last that came goes first, which leaves smoother cuts (L.
 * Hagen, J. Huang and A. Kahng, On implementation choices for iterative
 * improvement partitioning algorithms, 1997). */
#include "map/graph/bisect_multilevel.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define WORD 64
#define WORDS (2 * NW_FM_BUCKETS_MAX / WORD + 1)

enum fm_buckets_state { OUTSIDE, WAITING, MOVED };

/* The vertices of a side that may move, by gain. */
struct fm_buckets_stacks {
    uint64_t any;         /* words of `some` that are not 0 */
    uint64_t some[WORDS]; /* gains that have any */
    int32_t *first;       /* [gains] */
};

struct fm_buckets_work {
    const struct nw_bisect_graph *graph;
    int32_t most;
    int8_t *side;
    struct fm_buckets_stacks stacks[2];
    int32_t *gain, *bytes;   /* [n] bytes: in all */
    int32_t *after, *before; /* [n] in a stack; -1 at its ends */
    int32_t *moved;
    int8_t *state;
    int32_t imbalance; /* of side 0 over its target */
    int64_t cut;       /* each edge from both its ends */
};

/* --- stacks --- */

static void fm_buckets_push(struct fm_buckets_work *work, int32_t v)
{
    struct fm_buckets_stacks *stacks = &work->stacks[(int)work->side[v]];
    uint32_t at = (uint32_t)(work->gain[v] + work->most);
    uint64_t bit = UINT64_C(1) << at % WORD, *some = &stacks->some[at / WORD];

    work->after[v] = *some & bit ? stacks->first[at] : -1;
    work->before[v] = -1;
    if (work->after[v] >= 0)
        work->before[work->after[v]] = v;
    stacks->first[at] = v;
    *some |= bit;
    stacks->any |= UINT64_C(1) << at / WORD;
}

static void fm_buckets_take(struct fm_buckets_work *work, int32_t v)
{
    struct fm_buckets_stacks *stacks = &work->stacks[(int)work->side[v]];
    uint32_t at = (uint32_t)(work->gain[v] + work->most);
    int32_t before = work->before[v], after = work->after[v];

    if (after >= 0)
        work->before[after] = before;
    if (before >= 0) {
        work->after[before] = after;
        return;
    }
    stacks->first[at] = after;
    if (after >= 0)
        return;
    stacks->some[at / WORD] &= ~(UINT64_C(1) << at % WORD);
    if (!stacks->some[at / WORD])
        stacks->any &= ~(UINT64_C(1) << at / WORD);
}

/* The vertex of most gain, or -1. */
static int32_t fm_buckets_top_of(const struct fm_buckets_stacks *stacks)
{
    int word;

    if (!stacks->any)
        return -1;
    word = WORD - 1 - __builtin_clzll(stacks->any);
    return stacks
        ->first[word * WORD + WORD - 1 - __builtin_clzll(stacks->some[word])];
}

/* --- moves --- */

static void fm_buckets_cross(struct fm_buckets_work *work, int32_t v)
{
    work->cut -= 2 * (int64_t)work->gain[v];
    work->imbalance += work->side[v] ? 1 : -1;
    work->side[v] ^= 1;
    work->gain[v] = -work->gain[v];
}

static int32_t fm_buckets_change_of(const struct fm_buckets_work *work,
                                    int32_t v, const struct nw_bisect_arc *arc)
{
    int32_t change = 2 * (int32_t)arc->bytes;

    return work->side[arc->to] == work->side[v] ? -change : change;
}

/* Neighbours that have not moved come up at the border. */
static void fm_buckets_move(struct fm_buckets_work *work, int32_t v)
{
    const struct nw_bisect_graph *graph = work->graph;

    fm_buckets_take(work, v);
    work->state[v] = MOVED;
    fm_buckets_cross(work, v);
    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
        int32_t u = graph->arc[a].to;

        if (work->state[u] == WAITING)
            fm_buckets_take(work, u);
        work->gain[u] += fm_buckets_change_of(work, v, &graph->arc[a]);
        if (work->state[u] == MOVED)
            continue;
        work->state[u] = WAITING;
        fm_buckets_push(work, u);
    }
}

static void fm_buckets_move_back(struct fm_buckets_work *work, int32_t v)
{
    const struct nw_bisect_graph *graph = work->graph;

    fm_buckets_cross(work, v);
    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        work->gain[graph->arc[a].to] +=
            fm_buckets_change_of(work, v, &graph->arc[a]);
}

/* The better top of both sides, or that of the side that is too large. */
static int32_t fm_buckets_choose(const struct fm_buckets_work *work)
{
    int32_t top[2] = {fm_buckets_top_of(&work->stacks[0]),
                      fm_buckets_top_of(&work->stacks[1])};

    if (work->imbalance > 0 && top[0] >= 0)
        return top[0];
    if (work->imbalance < 0 && top[1] >= 0)
        return top[1];
    if (top[0] < 0 || top[1] < 0)
        return top[0] < 0 ? top[1] : top[0];
    return work->gain[top[0]] >= work->gain[top[1]] ? top[0] : top[1];
}

static void fm_buckets_look_at_all(struct fm_buckets_work *work)
{
    const struct nw_bisect_graph *graph = work->graph;

    for (int32_t v = 0; v < graph->n; v++) {
        int32_t outside = 0, bytes = 0;

        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t here = (int32_t)graph->arc[a].bytes;

            bytes += here;
            outside += work->side[graph->arc[a].to] == work->side[v] ? 0 : here;
        }
        work->bytes[v] = bytes;
        work->gain[v] = 2 * outside - bytes;
        work->cut += outside;
        work->imbalance += !work->side[v];
    }
}

static void fm_buckets_fill_stacks(struct fm_buckets_work *work)
{
    int32_t n = work->graph->n;
    bool all = work->imbalance || (!work->graph->reduced_effort && n < 200);

    for (int s = 0; s < 2; s++) {
        work->stacks[s].any = 0;
        memset(work->stacks[s].some, 0,
               (size_t)(2 * work->most / WORD + 1) * sizeof(uint64_t));
    }
    memset(work->state, OUTSIDE, (size_t)n);
    for (int32_t v = 0; v < n; v++)
        if (all || work->gain[v] > -work->bytes[v]) {
            work->state[v] = WAITING;
            fm_buckets_push(work, v);
        }
}

static bool fm_buckets_pass(struct fm_buckets_work *work)
{
    int64_t begun = work->cut, best = begun;
    int32_t count = 0, kept = 0, v;
    int32_t best_off = abs(work->imbalance), begun_off = best_off;
    int32_t n = work->graph->n, patience = nw_tuned.bisection.patience + n / 32;

    if (work->graph->reduced_effort &&
        patience > nw_tuned.bisection.patience_reduced + n / 4)
        patience = nw_tuned.bisection.patience_reduced + n / 4;
    fm_buckets_fill_stacks(work);
    while ((v = fm_buckets_choose(work)) >= 0 &&
           (count - kept < patience || best_off > 0)) {
        int32_t now;

        fm_buckets_move(work, v);
        work->moved[count++] = v;
        now = abs(work->imbalance);
        if (now < best_off || (now == best_off && work->cut < best)) {
            best = work->cut;
            best_off = now;
            kept = count;
        }
    }
    while (count > kept)
        fm_buckets_move_back(work, work->moved[--count]);
    return best_off < begun_off || best < begun;
}

static nw_status fm_buckets_prepare(struct fm_buckets_work *work)
{
    size_t n = (size_t)work->graph->n, gains = 2 * (size_t)work->most + 1;
    nw_status status =
        nw_alloc_raw(5 * n + 2 * gains, sizeof *work->gain, &work->gain);

    if (!status)
        status = nw_alloc_raw(n, 1, &work->state);
    if (status)
        return status;
    work->bytes = work->gain + n;
    work->after = work->bytes + n;
    work->before = work->after + n;
    work->moved = work->before + n;
    work->stacks[0].first = work->moved + n;
    work->stacks[1].first = work->stacks[0].first + gains;
    return NW_OK;
}

nw_status nw_fm_buckets(const struct nw_bisect_graph *graph, int32_t target,
                        int32_t most, int8_t *side, double *cut)
{
    struct fm_buckets_work work = {
        .graph = graph, .most = most, .side = side, .imbalance = -target};
    int passes = graph->reduced_effort
                     ? nw_tuned.bisection.bucket_passes_reduced
                     : nw_tuned.bisection.passes;
    nw_status status = fm_buckets_prepare(&work);

    if (!status) {
        fm_buckets_look_at_all(&work);
        for (int i = 0; i < passes && fm_buckets_pass(&work); i++)
            ;
        *cut = (double)work.cut;
    }
    free(work.gain);
    free(work.state);
    return status;
}
