/* SPDX-License-Identifier: BSD-3-Clause */
/* Down to a small graph, a first cut there, and up again. */
#include "map/graph/bisect_multilevel.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define COARSEST 40
#define SHRINK 0.92 /* stop where a level is not smaller than this */

nw_status nw_halve_graph_init(struct nw_halve_graph *graph, int32_t n,
                              size_t arcs)
{
    nw_status status;

    *graph = (struct nw_halve_graph){.n = n};
    status = nw_alloc((size_t)n + 1, sizeof *graph->row, &graph->row);
    if (!status)
        status = nw_alloc_raw(arcs, sizeof *graph->arc, &graph->arc);
    if (!status)
        status = nw_alloc((size_t)n, sizeof *graph->size, &graph->size);
    if (status)
        nw_halve_graph_fini(graph);
    return status;
}

void nw_halve_graph_fini(struct nw_halve_graph *graph)
{
    free(graph->row);
    free(graph->arc);
    free(graph->size);
    *graph = (struct nw_halve_graph){0};
}

double nw_halve_cut(const struct nw_halve_graph *graph, const int8_t *side)
{
    double sum = 0;

    for (int32_t v = 0; v < graph->n; v++)
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            if (side[graph->arc[a].to] != side[v])
                sum += (double)graph->arc[a].bytes;
    return sum;
}

/* --- coarsening --- */

/* Each vertex, in random order, with the neighbour that is bound to it most,
 * for its size. mate[v] is v for those left over. */
static void match(const struct nw_halve_graph *graph, struct nw_random *random,
                  int32_t *order, int32_t *mate)
{
    for (int32_t v = 0; v < graph->n; v++) {
        order[v] = v;
        mate[v] = -1;
    }
    nw_random_shuffle(random, order, (size_t)graph->n);
    for (int32_t i = 0; i < graph->n; i++) {
        int32_t v = order[i], best = v;
        float most = 0;

        if (mate[v] >= 0)
            continue;
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t u = graph->arc[a].to;
            float pull = graph->arc[a].bytes / (float)graph->size[u];

            if (mate[u] < 0 && pull > most) {
                most = pull;
                best = u;
            }
        }
        mate[v] = best;
        mate[best] = v;
    }
}

/* The arcs of both members of a coarse vertex, summed by coarse end; slot is
 * -1 everywhere before and after. */
static int32_t join(const struct nw_halve_graph *graph, const int32_t *member,
                    const int32_t *into, int32_t *slot,
                    struct nw_halve_graph *out, int32_t at)
{
    int32_t self = into[member[0]], begin = at;

    for (int i = 0; i < 2 && (!i || member[1] != member[0]); i++) {
        int32_t v = member[i];

        out->size[self] += graph->size[v];
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++) {
            int32_t to = into[graph->arc[a].to];

            if (to == self)
                continue;
            if (slot[to] < 0) {
                slot[to] = at;
                out->arc[at++] = (struct nw_halve_arc){to, 0};
            }
            out->arc[slot[to]].bytes += graph->arc[a].bytes;
        }
    }
    for (int32_t a = begin; a < at; a++)
        slot[out->arc[a].to] = -1;
    return at;
}

static int32_t heaviest(const struct nw_halve_graph *graph, int32_t v)
{
    int32_t best = graph->n;
    float most = 0;

    for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
        if (graph->arc[a].bytes > most) {
            most = graph->arc[a].bytes;
            best = graph->arc[a].to;
        }
    return best;
}

/* Those left over around a hub pair up with each other, and those that talk
 * to nobody. waiting[n + 1] is room. */
static void match_rest(const struct nw_halve_graph *graph, int32_t *waiting,
                       int32_t *mate)
{
    for (int32_t v = 0; v <= graph->n; v++)
        waiting[v] = -1;
    for (int32_t v = 0; v < graph->n; v++) {
        int32_t hub = mate[v] == v ? heaviest(graph, v) : -1;

        if (hub < 0)
            continue;
        if (waiting[hub] < 0) {
            waiting[hub] = v;
            continue;
        }
        mate[v] = waiting[hub];
        mate[waiting[hub]] = v;
        waiting[hub] = -1;
    }
}

nw_status nw_halve_coarsen(const struct nw_halve_graph *graph,
                           struct nw_random *random, struct nw_halve_graph *out,
                           int32_t *into)
{
    size_t n = (size_t)graph->n;
    int32_t *mate = NULL, *slot = NULL, count = 0, at = 0;
    nw_status status = nw_alloc(n, sizeof *mate, &mate);

    *out = (struct nw_halve_graph){0};
    if (!status)
        status = nw_alloc(n + 1, sizeof *slot, &slot);
    if (status)
        goto out;
    match(graph, random, slot, mate);
    match_rest(graph, slot, mate);
    for (int32_t v = 0; v < graph->n; v++)
        into[v] = mate[v] < v ? into[mate[v]] : count++;
    status = nw_halve_graph_init(out, count, (size_t)graph->row[graph->n]);
    out->hasty = graph->hasty;
    out->coarsest = graph->coarsest;
    for (int32_t v = 0; v < graph->n; v++)
        slot[v] = -1;
    for (int32_t v = 0; !status && v < graph->n; v++) {
        int32_t member[2] = {v, mate[v]};

        if (mate[v] < v)
            continue;
        at = join(graph, member, into, slot, out, at);
        out->row[into[v] + 1] = at;
    }
out:
    free(mate);
    free(slot);
    return status;
}

/* --- first cuts --- */

/* Grows side 0 around a vertex: always the vertex outside that is bound to it
 * most, less what binds it to the rest. O(n^2) for small n. */
static void grow(const struct nw_halve_graph *graph, int32_t target,
                 struct nw_random *random, double *pull, int8_t *side)
{
    int32_t v = (int32_t)nw_random_below(random, (uint64_t)graph->n);
    int32_t size = 0;

    for (int32_t u = 0; u < graph->n; u++) {
        side[u] = 1;
        pull[u] = 0;
        for (int32_t a = graph->row[u]; a < graph->row[u + 1]; a++)
            pull[u] -= graph->arc[a].bytes;
    }
    while (v >= 0 && size < target) {
        int32_t next = -1;

        side[v] = 0;
        size += graph->size[v];
        for (int32_t a = graph->row[v]; a < graph->row[v + 1]; a++)
            pull[graph->arc[a].to] += 2 * (double)graph->arc[a].bytes;
        for (int32_t u = 0; u < graph->n; u++)
            if (side[u] && size + graph->size[u] / 2 <= target &&
                (next < 0 || pull[u] > pull[next]))
                next = u;
        v = next;
    }
}

static int32_t largest(const struct nw_halve_graph *graph)
{
    int32_t most = 0;

    for (int32_t v = 0; v < graph->n; v++)
        most = graph->size[v] > most ? graph->size[v] : most;
    return most > 1 ? most : 0;
}

static nw_status cut_first(const struct nw_halve_graph *graph, int32_t target,
                           int tries, struct nw_random *random, int8_t *side)
{
    size_t n = (size_t)graph->n;
    double *pull = NULL, best = -1;
    int8_t *mine = NULL;
    nw_status status = nw_alloc(n, sizeof *pull, &pull);

    if (!status)
        status = nw_alloc(n, sizeof *mine, &mine);
    for (int i = 0; !status && i < tries; i++) {
        double cut;

        grow(graph, target, random, pull, mine);
        status = nw_halve_refine(graph, target, largest(graph), mine, &cut);
        if (!status && (best < 0 || cut < best)) {
            best = cut;
            memcpy(side, mine, n);
        }
    }
    free(pull);
    free(mine);
    return status;
}

/* --- the way down and up --- */

nw_status nw_halve(const struct nw_halve_graph *graph, int32_t target,
                   int tries, struct nw_random *random, int8_t *side)
{
    struct nw_halve_graph coarse = {0};
    size_t n = (size_t)graph->n;
    int32_t *into = NULL;
    int8_t *above = NULL;
    int32_t coarsest = graph->coarsest ? graph->coarsest : COARSEST;
    double cut;
    nw_status status = NW_OK;

    if (graph->n <= coarsest)
        return cut_first(graph, target, tries, random, side);
    status = nw_alloc(n, sizeof *into, &into);
    if (!status)
        status = nw_halve_coarsen(graph, random, &coarse, into);
    if (!status)
        status = nw_alloc((size_t)coarse.n, 1, &above);
    if (!status && coarse.n < SHRINK * graph->n) {
        status = nw_halve(&coarse, target, tries, random, above);
        for (size_t v = 0; !status && v < n; v++)
            side[v] = above[into[v]];
        if (!status)
            status = nw_halve_refine(graph, target, largest(graph), side, &cut);
    } else if (!status) {
        status = cut_first(graph, target, 2, random, side);
    }
    free(into);
    free(above);
    nw_halve_graph_fini(&coarse);
    return status;
}
