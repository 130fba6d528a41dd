/* SPDX-License-Identifier: BSD-3-Clause */
/* Bisects the union of two parts again, for all pairs of adjacent parts, those
 * with the most bytes between them first; see pairwise_refine.h. */
#include "map/graph/pairwise_refine.h"
#include "map/common/parameters.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Two adjacent parts p < q. */
struct pairwise_pair {
    int32_t p, q;
    double bytes; /* bytes between the two parts */
};

/* State of one call of nw_pairwise_refine. */
struct pairwise_work {
    const struct nw_graph *graph;
    int32_t parts;
    int32_t *part; /* [vertices] part of each vertex; the caller's */
    /* [vertices] vertices, part by part; [parts + 2] index in `list` of the
     * first vertex of each part */
    int32_t *list, *begin;
    int32_t *member;    /* [vertices] vertices of the present pair of parts */
    int32_t *place;     /* [vertices] scratch of nw_graph_subgraph */
    int8_t *side, *was; /* [vertices] side of each vertex of the pair, 0 or 1:
                           after the new bisection; before it */
    struct pairwise_pair *pair; /* [pairs] pairs to refine in this round */
    int32_t pairs;
    /* [parts] bytes from the part under examination to each part with a higher
     * number; 0 for all other parts, and all 0 between uses */
    double *bytes;
    int32_t *peer; /* [parts] numbers of the parts whose `bytes` is not 0 */
    int *changed;  /* [parts] last round in which each part changed; 0: none */
    double left;   /* work that is left for bisections, in arcs
                      (pairwise_cost_of) */
    struct nw_random random;
};

/* --- pairs --- */

/* Compares pairs for qsort: the one with more bytes between its parts comes
 * first. */
static int pairwise_by_bytes(const void *left, const void *right)
{
    const struct pairwise_pair *a = left, *b = right;

    if (a->bytes != b->bytes)
        return a->bytes > b->bytes ? -1 : 1;
    return a->p != b->p ? (a->p > b->p) - (a->p < b->p)
                        : (a->q > b->q) - (a->q < b->q);
}

/* Fills `bytes` with the bytes from part p to each part with a higher number,
 * and `peer` with those parts that have any. Returns the number of such parts.
 */
static int32_t pairwise_weigh_peers(struct pairwise_work *work, int32_t p)
{
    const struct nw_graph *graph = work->graph;
    int32_t count = 0;

    for (int32_t i = work->begin[p]; i < work->begin[p + 1]; i++) {
        int32_t v = work->list[i];

        for (size_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t q = work->part[graph->arc[a].to];

            if (q <= p)
                continue;
            if (work->bytes[q] <= 0)
                work->peer[count++] = q;
            work->bytes[q] += (double)graph->arc[a].weight;
        }
    }
    return count;
}

/* Lists the adjacent pairs of which at least one part changed in the last
 * round, or in the first round all adjacent pairs, sorted by descending bytes.
 */
static void pairwise_list_pairs(struct pairwise_work *work, int round)
{
    work->pairs = 0;
    for (int32_t p = 0; p < work->parts; p++) {
        int32_t count = pairwise_weigh_peers(work, p);

        for (int32_t i = 0; i < count; i++) {
            int32_t q = work->peer[i];

            if (work->changed[p] >= round - 1 || work->changed[q] >= round - 1)
                work->pair[work->pairs++] =
                    (struct pairwise_pair){p, q, work->bytes[q]};
            work->bytes[q] = 0;
        }
    }
    qsort(work->pair, (size_t)work->pairs, sizeof *work->pair,
          pairwise_by_bytes);
}

/* --- bisecting one pair --- */

/* Appends the vertices of a part to work->member, from index `at` on. Returns
 * the new end. */
static int32_t pairwise_take_part(struct pairwise_work *work, int32_t part,
                                  int32_t at)
{
    int32_t count = work->begin[part + 1] - work->begin[part];

    memcpy(work->member + at, work->list + work->begin[part],
           (size_t)count * sizeof *work->member);
    return at + count;
}

/* Assigns the `count` vertices of a pair to its two parts by `side`. */
static void pairwise_give(struct pairwise_work *work,
                          const struct pairwise_pair *pair, int32_t count)
{
    int32_t part[2] = {pair->p, pair->q};
    int32_t at[2] = {work->begin[pair->p], work->begin[pair->q]};

    for (int32_t i = 0; i < count; i++) {
        int side = work->side[i];

        work->part[work->member[i]] = part[side];
        work->list[at[side]++] = work->member[i];
    }
}

/* Returns the work of bisecting a graph: its arcs, plus a constant for each
 * vertex. */
static double pairwise_cost_of(const struct nw_graph *graph)
{
    return (double)graph->row[graph->n] +
           nw_tuned.pairwise.cost_each * (double)graph->n;
}

/* Bisects the graph of two parts, of which the first has `first` vertices. Sets
 * *better to true if the cut is smaller than before by more than the fraction
 * gain_min. */
static nw_status pairwise_bisect(struct pairwise_work *work,
                                 const struct nw_graph *both, int32_t first,
                                 bool *better)
{
    double least;
    struct nw_bisection to = nw_bisection_exact(both, first);
    nw_status status;

    to.tries = nw_tuned.pairwise.first_cuts;
    to.coarsest = nw_tuned.pairwise.coarsest;
    to.reduced_effort = true;
    status = nw_bisect_multilevel(both, &to, &work->random, work->side);
    work->left -= pairwise_cost_of(both);
    for (int32_t i = 0; i < both->n; i++)
        work->was[i] = i >= first;
    least = nw_bisect_cut(both, work->was) * (1 - nw_tuned.pairwise.gain_min);
    *better = !status && nw_bisect_cut(both, work->side) < least;
    return status;
}

/* Bisects a pair of parts again. If the cut becomes smaller, moves the vertices
 * to their new parts and sets *better. */
static nw_status pairwise_refine_pair(struct pairwise_work *work,
                                      const struct pairwise_pair *pair,
                                      bool *better)
{
    struct nw_graph both = {0};
    int32_t first = pairwise_take_part(work, pair->p, 0);
    int32_t count = pairwise_take_part(work, pair->q, first);
    nw_status status =
        nw_graph_subgraph(work->graph, work->member, count, work->place, &both);

    if (!status)
        status = pairwise_bisect(work, &both, first, better);
    if (*better)
        pairwise_give(work, pair, count);
    nw_graph_fini(&both);
    return status;
}

/* --- rounds --- */

/* Bisects again all pairs of which a part changed in the last round, until the
 * limit of the work is reached. */
static nw_status pairwise_run_round(struct pairwise_work *work, int round)
{
    nw_status status = NW_OK;

    pairwise_list_pairs(work, round);
    for (int32_t i = 0; !status && i < work->pairs && work->left > 0; i++) {
        const struct pairwise_pair *pair = &work->pair[i];
        bool better = false;

        status = pairwise_refine_pair(work, pair, &better);
        if (better)
            work->changed[pair->p] = work->changed[pair->q] = round;
    }
    return status;
}

nw_status nw_pairwise_refine(const struct nw_graph *graph, int32_t parts,
                             int32_t *part, uint64_t seed)
{
    struct pairwise_work work = {.graph = graph, .parts = parts, .part = part};
    size_t n = (size_t)graph->n, k = (size_t)parts;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(graph->row[n] / 2, work.pair), NW_ARRAY(k, work.bytes),
        NW_ARRAY(k, work.peer), NW_ARRAY(k, work.changed),
        NW_ARRAY(k + 2, work.begin), NW_ARRAY(n, work.list),
        NW_ARRAY(n, work.member), NW_ARRAY(n, work.place),
        NW_ARRAY(n, work.side), NW_ARRAY(n, work.was));

    if (!status)
        nw_list_by_group(part, graph->n, parts, work.begin, work.list);
    work.left = nw_tuned.pairwise.cost_max * pairwise_cost_of(graph);
    nw_random_init(&work.random, seed);
    for (int round = 1;
         !status && round <= nw_tuned.pairwise.rounds && work.left > 0;
         round++) {
        status = pairwise_run_round(&work, round);
        if (!work.pairs)
            break;
    }
    NW_FREE_ALL(work.bytes, work.peer, work.pair, work.changed, work.begin,
                work.list, work.member, work.place, work.side, work.was);
    return status;
}
