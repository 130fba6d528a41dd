/* SPDX-License-Identifier: BSD-3-Clause */
/* Annealing of swaps with a table of prices; see simmer.h. */
#include "map/simmer.h"
#include "base/array.h"
#include "map/chance.h"
#include "map/sift_near.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLDEST 0.1      /* the last round's heat, of the first's */
#define CELLS_MOST 1.1e6 /* of the table */
#define LANES 4
#define LINE 16         /* floats in a cache line */
#define WIDE 16         /* seats looked at together */
#define NEVER 1e30F     /* what it costs to move what is fixed */
#define PRICE_MOST 1e27 /* far below that */
#define ROUNDING 1e-4   /* of sums of floats, of what all cost far apart */

typedef float vector __attribute__((vector_size(16), aligned(4), may_alias));

struct simmering {
    struct nw_layout *layout;
    float *price; /* [count + 1][stride] hop-bytes of a process on a seat; of
                     nobody: none */
    size_t stride;
    float *here;   /* [seats] of who sits there */
    int32_t *who;  /* [seats] rows of the table */
    float *change; /* [stride] of the distances to all seats, by a move */
    float *noise;
    double *within; /* [seats] bytes with what sits in each subtree */
    int32_t *list;  /* processes that may move */
    int32_t list_count;
    int32_t *best, *begun; /* [count] seats */
    int base;              /* level of subtrees without distances inside that
                              swaps would change */
};

/* The seats of a subtree that are looked at. */
struct window {
    int32_t first, count;
};

bool nw_simmer_fits(const struct nw_layout *layout)
{
    return !layout->load && layout->tree->levels >= 3 &&
           (double)(layout->count + 1) * layout->tree->seats <= CELLS_MOST &&
           nw_layout_most(layout) < PRICE_MOST;
}

static float *row_of(const struct simmering *work, int32_t process)
{
    return work->price + (size_t)process * work->stride;
}

/* --- swaps --- */

static int common_level(const struct nw_tree *tree, int32_t a, int32_t b)
{
    int level = 0;

    while (tree->cluster[level][a] != tree->cluster[level][b])
        level++;
    return level;
}

/* Adds sign x the distances from a seat to all others in the subtree of a level
 * around it: to what is in that, but not in the next smaller one. */
static void add_distances(struct simmering *work, int32_t seat, int level,
                          float sign)
{
    const struct nw_tree *tree = work->layout->tree;

    for (; level > 0; level--) {
        int32_t c = tree->cluster[level][seat];
        int32_t inner = tree->cluster[level - 1][seat];
        float far = sign * (float)tree->distance[level];

        for (int32_t s = tree->first[level][c];
             s < tree->first[level - 1][inner]; s++)
            work->change[s] += far;
        for (int32_t s = tree->first[level - 1][inner + 1];
             s < tree->first[level][c + 1]; s++)
            work->change[s] += far;
    }
}

/* Peers of a process see it on another seat. */
static void enter(struct simmering *work, int32_t process, struct window reach)
{
    const struct nw_layout *layout = work->layout;

    for (size_t b = layout->row[process]; b < layout->row[process + 1]; b++) {
        int32_t peer = layout->bond[b].peer, seat = layout->seat[peer];
        float bytes = (float)layout->bond[b].bytes, *row = row_of(work, peer);

        for (int32_t s = reach.first; s < reach.first + reach.count; s += LANES)
            *(vector *)(row + s) += bytes * *(vector *)(work->change + s);
        if (work->here[seat] > -NEVER)
            work->here[seat] = row[seat];
    }
}

/* Whole vectors around a subtree: what is beyond it does not change. */
static struct window reach_of(const struct nw_tree *tree, int32_t seat,
                              int level)
{
    int32_t c = tree->cluster[level][seat];
    int32_t first = tree->first[level][c] / LANES * LANES;
    int32_t count = tree->first[level][c + 1] - first;

    return (struct window){first, (count + LANES - 1) / LANES * LANES};
}

static void swap(struct simmering *work, int32_t a, int32_t b)
{
    struct nw_layout *layout = work->layout;
    int level = common_level(layout->tree, a, b);
    struct window reach = reach_of(layout->tree, a, level);
    int32_t u = work->who[a], v = work->who[b];

    nw_layout_swap(layout, a, b);
    work->who[a] = v;
    work->who[b] = u;
    memset(work->change + reach.first, 0,
           (size_t)reach.count * sizeof *work->change);
    add_distances(work, a, level, -1);
    add_distances(work, b, level, 1);
    enter(work, u, reach);
    for (int32_t s = reach.first; s < reach.first + reach.count; s++)
        work->change[s] = -work->change[s];
    if (v < layout->count)
        enter(work, v, reach);
    work->here[a] = row_of(work, v)[a];
    work->here[b] = row_of(work, u)[b];
}

/* Seats near a peer, in small subtrees more often than in larger ones, but
 * none that holds the seat `from`; none where the peer is as near as can be. */
static struct window look(const struct simmering *work, int32_t from,
                          int32_t near, uint64_t bits)
{
    const struct nw_tree *tree = work->layout->tree;
    int most = common_level(tree, from, near) - 1, level = work->base + 1;
    int32_t cluster;
    struct window window;

    if (most < work->base)
        return (struct window){0};
    while (level < most && (bits >> level & 3) == 0)
        level++;
    level = level < most ? level : most;
    cluster = tree->cluster[level][near];
    window.first = tree->first[level][cluster];
    window.count = tree->first[level][cluster + 1] - window.first;
    if (window.count > WIDE) {
        window.first += nw_chance_pick(bits >> 32, window.count - WIDE + 1);
        window.count = WIDE;
    }
    return window;
}

/* What a swap with each of the seats changes, but for what stays on the seat
 * `from`. */
static inline void weigh(const struct simmering *work, int32_t from,
                         struct window window, float *change)
{
    const struct nw_layout *layout = work->layout;
    int32_t u = work->who[from];
    const float *row = row_of(work, u);

    for (int32_t i = 0; i < window.count; i++) {
        int32_t s = window.first + i;

        change[i] = row[s] + row_of(work, work->who[s])[from] - work->here[s];
    }
    for (size_t b = layout->row[u]; b < layout->row[u + 1]; b++) {
        int32_t peer = layout->bond[b].peer, s = layout->seat[peer];

        if (s >= window.first && s < window.first + window.count)
            change[s - window.first] +=
                2 * (float)(layout->bond[b].bytes *
                            nw_tree_apart(layout->tree, layout->at[u],
                                          layout->at[peer]));
    }
}

static double try_one(struct simmering *work, float heat,
                      struct nw_random *random)
{
    const struct nw_layout *layout = work->layout;
    uint64_t whom = nw_random_next(random), where = nw_random_next(random);
    int32_t u = work->list[nw_chance_pick(whom, work->list_count)], best = 0;
    int32_t degree = (int32_t)(layout->row[u + 1] - layout->row[u]);
    int32_t from = layout->seat[u], peer;
    const float *noise = work->noise + (where >> 32) % NW_CHANCES;
    float change[WIDE], least = NEVER;
    struct window window;

    if (!degree)
        return 0;
    peer =
        layout
            ->bond[layout->row[u] + (size_t)nw_chance_pick(whom >> 32, degree)]
            .peer;
    window = look(work, from, layout->seat[peer], where);
    weigh(work, from, window, change);
    for (int32_t i = 0; i < window.count; i++)
        if (change[i] - heat * noise[i] < least) {
            least = change[i] - heat * noise[i];
            best = i;
        }
    if (least >= work->here[from])
        return 0;
    least = change[best] - work->here[from];
    swap(work, from, window.first + best);
    return (double)least;
}

/* --- rounds --- */

/* A mean bond over the second smallest distance. */
static double unit_of(const struct nw_layout *layout)
{
    size_t bonds = layout->row[layout->count];

    return bonds ? nw_layout_bytes(layout) / (double)bonds *
                       layout->tree->distance[2]
                 : 0;
}

static void run_rounds(struct simmering *work, struct nw_simmer *simmer)
{
    size_t n = (size_t)simmer->layout->count;
    double heat = simmer->heat * unit_of(simmer->layout);
    double cool = pow(COLDEST, 1.0 / (simmer->rounds - 1));
    double cost = simmer->cost;
    struct nw_random random;

    nw_random_init(&random, simmer->seed);
    for (int32_t i = 0; i < simmer->rounds; i++, heat *= cool) {
        uint64_t slice = nw_budget_slice(
            simmer->budget, simmer->tries / (uint64_t)simmer->rounds + 1);
        float now = i == simmer->rounds - 1 ? 0 : (float)heat;

        for (uint64_t k = 0; k < slice; k++)
            cost += try_one(work, now, &random);
        if (cost < simmer->cost) {
            simmer->cost = cost;
            memcpy(work->best, simmer->layout->seat, n * sizeof *work->best);
        }
        if (!nw_budget_go(simmer->budget, slice, simmer->cost))
            break;
    }
}

/* --- the table --- */

/* Peers in the smallest subtree around a seat that holds them are as far as it
 * is wide: level by level, what is beyond. */
static void fill_row(struct simmering *work, int32_t process)
{
    const struct nw_layout *layout = work->layout;
    const struct nw_tree *tree = layout->tree;
    const struct nw_bond *end = layout->bond + layout->row[process + 1];
    float *row = row_of(work, process);

    for (int level = 0; level < tree->levels - 1; level++) {
        double more = tree->distance[level + 1] - tree->distance[level];
        double all = 0;

        memset(work->within, 0,
               (size_t)tree->count[level] * sizeof *work->within);
        for (const struct nw_bond *bond = layout->bond + layout->row[process];
             bond < end; bond++) {
            work->within[tree->cluster[level][layout->seat[bond->peer]]] +=
                bond->bytes;
            all += bond->bytes;
        }
        for (int32_t s = 0; s < tree->seats; s++)
            row[s] +=
                (float)(more * (all - work->within[tree->cluster[level][s]]));
    }
}

static void fill(struct simmering *work)
{
    const struct nw_layout *layout = work->layout;
    const struct nw_tree *tree = layout->tree;
    size_t n = (size_t)layout->count;

    for (int32_t p = 0; p < layout->count; p++)
        fill_row(work, p);
    for (int32_t s = 0; s < tree->seats; s++) {
        int32_t p = layout->process[s];

        work->who[s] = p < 0 ? layout->count : p;
        work->here[s] =
            layout->fixed[s] ? -NEVER : row_of(work, work->who[s])[s];
        if (p >= 0 && !layout->fixed[s])
            work->list[work->list_count++] = p;
    }
    memcpy(work->best, layout->seat, n * sizeof *work->best);
    memcpy(work->begun, layout->seat, n * sizeof *work->begun);
    work->base = tree->count[0] == tree->seats;
}

static nw_status ready(struct simmering *work)
{
    size_t n = (size_t)work->layout->count;
    size_t seats = (size_t)work->layout->tree->seats;
    nw_status status;

    work->stride = LINE * ((seats / LINE + 1) | 1);
    status =
        nw_alloc((n + 1) * work->stride, sizeof *work->price, &work->price);
    if (!status)
        status = nw_alloc(work->stride, sizeof *work->change, &work->change);
    if (!status)
        status = nw_alloc(seats, sizeof *work->here, &work->here);
    if (!status)
        status = nw_alloc(seats, sizeof *work->who, &work->who);
    if (!status)
        status = nw_alloc(seats, sizeof *work->within, &work->within);
    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);
    if (!status)
        status = nw_alloc(n, sizeof *work->best, &work->best);
    if (!status)
        status = nw_alloc(n, sizeof *work->begun, &work->begun);
    if (!status)
        status = nw_sift_noise_new(&work->noise);
    return status;
}

static void free_simmering(struct simmering *work)
{
    free(work->price);
    free(work->change);
    free(work->here);
    free(work->who);
    free(work->within);
    free(work->list);
    free(work->best);
    free(work->begun);
    free(work->noise);
}

/* Floats added up again and again tell little of small differences: the cost
 * is found again. */
nw_status nw_simmer(struct nw_simmer *simmer)
{
    struct simmering work = {.layout = simmer->layout};
    double begun = simmer->cost, found;
    nw_status status = ready(&work);

    if (!status) {
        fill(&work);
        if (work.list_count)
            run_rounds(&work, simmer);
        nw_layout_seat(simmer->layout, work.best);
        found = simmer->cost;
        simmer->cost = nw_layout_cost(simmer->layout);
        (void)found;
        assert(fabs(simmer->cost - found) <=
               ROUNDING * nw_layout_most(simmer->layout));
        if (simmer->cost > begun) {
            nw_layout_seat(simmer->layout, work.begun);
            simmer->cost = begun;
        }
    }
    free_simmering(&work);
    return status;
}
