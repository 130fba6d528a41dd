/* SPDX-License-Identifier: BSD-3-Clause */
/* Annealing of swaps in groups of subtrees; see anneal_swaps.h. */
#include "map/hierarchy/anneal_swaps.h"
#include "base/array.h"
#include "map/common/metropolis.h"
#include "base/crew.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROUP_LEAST 1024 /* processes in a group */
#define COLDEST 0.02     /* the last round's heat, of the first's */

/* A swap of a hub costs as much as thousands of others: of those over so many
 * arcs fewer are tried where that is asked for, so that they take no longer. */
#define ARCS_LONG 64
#define ARCS_LONG_MEANS 2

/* What a round's groups share. */
struct round {
    struct nw_layout *layout;
    uint64_t long_arcs;
    const double *chance; /* [NW_CHANCES] -log of evenly spread numbers */
    const int32_t *group; /* [seats] */
    const int32_t *first; /* [groups + 1] into list */
    const int32_t *list;  /* processes that may move, by group */
    uint64_t seed, steps;
    double heat;
    double *change; /* [groups] of the cost */
};

/* Codes of a process in another group may be written meanwhile: any value of
 * it gives the same distance from here. */
static inline uint64_t code_of(const struct nw_layout *layout, int32_t p)
{
    return __atomic_load_n(&layout->at[p], __ATOMIC_RELAXED);
}

/* What the hop-bytes rise by when p goes from one code to another, its bond
 * with `but` left out. */
static inline double shift(const struct nw_layout *layout, int32_t p,
                           const uint64_t way[2], int32_t but)
{
    const struct nw_bond *bond = layout->bond + layout->row[p];
    const struct nw_bond *end = layout->bond + layout->row[p + 1];
    const struct nw_tree *tree = layout->tree;
    double sum = 0;

    for (; bond < end; bond++) {
        uint64_t there = code_of(layout, bond->peer);

        if (bond->peer != but)
            sum += bond->bytes * (nw_tree_apart(tree, way[1], there) -
                                  nw_tree_apart(tree, way[0], there));
    }
    return sum;
}

/* A seat near a peer of p, in the smallest subtree more often than in larger
 * ones; -1 for none in this group. */
static int32_t propose(const struct round *round, int32_t p, int32_t group,
                       struct nw_random *random)
{
    const struct nw_layout *layout = round->layout;
    const struct nw_tree *tree = layout->tree;
    size_t row = layout->row[p];
    int32_t degree = (int32_t)(layout->row[p + 1] - row);
    uint64_t bits = nw_random_next(random);
    int32_t level = 1, near, cluster;

    if (!degree)
        return -1;
    near = __atomic_load_n(
        &layout
             ->seat[layout
                        ->bond[row + (size_t)nw_chance_pick(bits >> 32, degree)]
                        .peer],
        __ATOMIC_RELAXED);
    if (round->group[near] != group)
        return -1;
    while (level < tree->levels - 2 && (bits >> level & 3) == 0)
        level++;
    cluster = tree->cluster[level][near];
    return tree->first[level][cluster] +
           nw_chance_pick(nw_random_next(random),
                          tree->first[level][cluster + 1] -
                              tree->first[level][cluster]);
}

static void store_swap(struct nw_layout *layout, int32_t a, int32_t b)
{
    int32_t u = layout->process[a], v = layout->process[b];

    layout->process[a] = v;
    layout->process[b] = u;
    __atomic_store_n(&layout->seat[u], b, __ATOMIC_RELAXED);
    __atomic_store_n(&layout->at[u], layout->tree->code[b], __ATOMIC_RELAXED);
    if (v < 0)
        return;
    __atomic_store_n(&layout->seat[v], a, __ATOMIC_RELAXED);
    __atomic_store_n(&layout->at[v], layout->tree->code[a], __ATOMIC_RELAXED);
}

/* A swap in a smallest subtree changes nothing but what the seats bear. */
static inline bool may_swap(const struct nw_layout *layout, int32_t a,
                            int32_t b)
{
    const struct nw_tree *tree = layout->tree;

    if (!layout->load)
        return tree->cluster[1][a] != tree->cluster[1][b];
    return a != b && nw_layout_bears(layout, b, layout->process[a]) &&
           nw_layout_bears(layout, a, layout->process[b]);
}

/* Whether a swap is among those that are tried. */
static inline bool is_tried(const struct round *round, int32_t p, int32_t q,
                            struct nw_random *random)
{
    const size_t *row = round->layout->row;
    uint64_t arcs = row[p + 1] - row[p] + (q < 0 ? 0 : row[q + 1] - row[q]);

    return arcs <= round->long_arcs ||
           (nw_random_next(random) >> 32) * arcs < round->long_arcs << 32;
}

/* Swaps p with what is on a seat near a peer where that is accepted. */
static double try_one(const struct round *round, int32_t p, int32_t group,
                      struct nw_random *random)
{
    struct nw_layout *layout = round->layout;
    const struct nw_tree *tree = layout->tree;
    int32_t home = layout->seat[p];
    int32_t seat = propose(round, p, group, random);
    uint64_t way[2], back[2];
    double change;

    if (seat < 0 || layout->fixed[seat] || !may_swap(layout, home, seat) ||
        !is_tried(round, p, layout->process[seat], random))
        return 0;
    way[0] = back[1] = tree->code[home];
    way[1] = back[0] = tree->code[seat];
    change = shift(layout, p, way, layout->process[seat]);
    if (layout->process[seat] >= 0)
        change += shift(layout, layout->process[seat], back, p);
    if (change > 0 &&
        change >=
            round->heat * round->chance[nw_random_next(random) % NW_CHANCES])
        return 0;
    store_swap(layout, home, seat);
    return change;
}

static void run_group(void *user, int32_t group)
{
    const struct round *round = user;
    int32_t first = round->first[group];
    int32_t count = round->first[group + 1] - first;
    struct nw_random random;
    uint64_t steps;
    double sum = 0;

    nw_random_init(&random, round->seed + (uint64_t)group);
    steps =
        count ? round->steps * (uint64_t)count / (uint64_t)round->layout->count
              : 0;
    for (uint64_t i = 0; i < steps; i++) {
        int32_t p =
            round->list[first + nw_chance_pick(nw_random_next(&random), count)];

        sum += try_one(round, p, group, &random);
    }
    round->change[group] = sum;
}

/* --- rounds --- */

struct stirring {
    struct nw_stir *stir;
    double *chance;
    int32_t *deal;  /* subtrees below the root, shuffled */
    int32_t *group; /* [seats] */
    int32_t *first, *list;
    int32_t *best; /* [count] seats */
    double *change;
    double best_cost;
    int32_t groups;
};

static nw_status alloc_stirring(struct stirring *work)
{
    const struct nw_layout *layout = work->stir->layout;
    const struct nw_tree *tree = layout->tree;
    int32_t below = tree->count[tree->levels - 2];
    size_t n = (size_t)layout->count;
    nw_status status =
        nw_alloc(NW_CHANCES, sizeof *work->chance, &work->chance);

    if (!status)
        status = nw_alloc((size_t)below, sizeof *work->deal, &work->deal);
    if (!status)
        status =
            nw_alloc((size_t)tree->seats, sizeof *work->group, &work->group);
    if (!status)
        status = nw_alloc((size_t)below + 2, sizeof *work->first, &work->first);
    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);
    if (!status)
        status = nw_alloc(n, sizeof *work->best, &work->best);
    if (!status)
        status = nw_alloc((size_t)below, sizeof *work->change, &work->change);
    if (status)
        return status;
    nw_chances_fill(work->chance);
    for (int32_t i = 0; i < below; i++)
        work->deal[i] = i;
    work->groups = below / 2;
    if (work->groups > layout->count / GROUP_LEAST)
        work->groups = layout->count / GROUP_LEAST;
    if (work->groups < 1)
        work->groups = 1;
    return NW_OK;
}

static void free_stirring(struct stirring *work)
{
    free(work->chance);
    free(work->deal);
    free(work->group);
    free(work->first);
    free(work->list);
    free(work->best);
    free(work->change);
}

static void deal_groups(struct stirring *work, struct nw_random *random)
{
    const struct nw_layout *layout = work->stir->layout;
    const struct nw_tree *tree = layout->tree;
    int32_t level = tree->levels - 2, below = tree->count[level];
    int32_t at = 0;

    nw_random_shuffle(random, work->deal, (size_t)below);
    for (int32_t g = 0; g < work->groups; g++) {
        int32_t end = (int32_t)((int64_t)below * (g + 1) / work->groups);

        work->first[g] = at;
        for (int32_t i = (int32_t)((int64_t)below * g / work->groups); i < end;
             i++) {
            int32_t c = work->deal[i];

            for (int32_t s = tree->first[level][c];
                 s < tree->first[level][c + 1]; s++) {
                work->group[s] = g;
                if (layout->process[s] >= 0 && !layout->fixed[s])
                    work->list[at++] = layout->process[s];
            }
        }
    }
    work->first[work->groups] = at;
}

static uint64_t long_arcs(const struct nw_stir *stir)
{
    const struct nw_layout *layout = stir->layout;
    uint64_t count = (uint64_t)layout->count;
    uint64_t most = 2 * ARCS_LONG_MEANS * layout->row[count] / count;

    if (!stir->sparing)
        return UINT64_MAX;
    return most > ARCS_LONG ? most : ARCS_LONG;
}

static void run_round(struct stirring *work, struct nw_random *random,
                      double heat, uint64_t steps)
{
    struct nw_stir *stir = work->stir;
    struct round round = {
        stir->layout, long_arcs(stir), work->chance,           work->group,
        work->first,  work->list,      nw_random_next(random), steps,
        heat,         work->change};

    deal_groups(work, random);
    nw_crew_run(run_group, &round, work->groups,
                stir->layout->count < 2 * GROUP_LEAST ? 1
                                                      : stir->budget->threads);
    for (int32_t g = 0; g < work->groups; g++)
        stir->cost += work->change[g];
    if (stir->cost < work->best_cost) {
        work->best_cost = stir->cost;
        memcpy(work->best, stir->layout->seat,
               (size_t)stir->layout->count * sizeof *work->best);
    }
}

/* A mean bond. Over the second smallest distance it is what a small swap for
 * the worse costs: heat that melts more cannot be cooled in the steps there
 * are. */
static double unit_of(const struct nw_layout *layout)
{
    size_t bonds = layout->row[layout->count];

    return bonds ? nw_layout_bytes(layout) / (double)bonds : 0;
}

static void run_rounds(struct stirring *work)
{
    struct nw_stir *stir = work->stir;
    const struct nw_tree *tree = stir->layout->tree;
    double heat = stir->heat * unit_of(stir->layout) * tree->distance[2];
    double cool = pow(COLDEST, 1.0 / (stir->rounds > 1 ? stir->rounds - 1 : 1));
    struct nw_random random;

    nw_random_init(&random, stir->seed);
    for (int32_t i = 0; i < stir->rounds; i++, heat *= cool) {
        uint64_t slice = nw_budget_slice(
            stir->budget, stir->steps / (uint64_t)stir->rounds + 1);

        if (i == stir->rounds - 1)
            heat = 0;
        run_round(work, &random, heat, slice);
        if (!nw_budget_tell(stir->budget, slice, work->best_cost))
            break;
    }
}

nw_status nw_stir(struct nw_stir *stir)
{
    struct stirring work = {.stir = stir, .best_cost = stir->cost};
    double begun = stir->cost;
    nw_status status;

    if (stir->layout->tree->levels < 3 || !stir->layout->count)
        return NW_OK;
    status = alloc_stirring(&work);
    if (!status) {
        memcpy(work.best, stir->layout->seat,
               (size_t)stir->layout->count * sizeof *work.best);
        run_rounds(&work);
        nw_layout_seat(stir->layout, work.best);
        stir->cost = work.best_cost;
        (void)begun;
        assert(fabs(nw_layout_cost(stir->layout) - stir->cost) <=
               1e-9 * (1 + begun) + 1e-12 * nw_layout_most(stir->layout));
    }
    free_stirring(&work);
    return status;
}
