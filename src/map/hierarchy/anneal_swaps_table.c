/* SPDX-License-Identifier: BSD-3-Clause */
/* Annealing of swaps with a table of prices; see anneal_swaps_table.h. */
#include "map/hierarchy/anneal_swaps_table.h"
#include "base/array.h"
#include "map/common/metropolis.h"
#include "map/hierarchy/partition_crossover.h"
#include "map/common/simd4.h"
#include "map/graph/anneal_gain_table.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLDEST 0.1      /* the last round's heat, of the first's */
#define CELLS_MOST 1.1e6 /* of the table */
#define LINE 16          /* floats in a cache line */
#define WIDE 16          /* seats looked at together */
#define CROSSING 3       /* heat at most, in mean bonds between subtrees */
#define SPENT_EACH 300   /* vectors of rows that change, for a try at most */
#define PEER 8           /* vectors that take as long as to find a row */
#define LOOKS 31         /* bits that choose how far up the tree */
#define NEVER 1e30F      /* what it costs to move what is fixed */
#define PRICE_MOST 1e27  /* far below that */
#define ROUNDING 1e-4    /* of sums of floats, of what all cost far apart */

/* What seats beyond the last one looked at cost more. */
static const float beyond[2 * NW_LANES] = {0,     0,     0,     0,
                                           NEVER, NEVER, NEVER, NEVER};

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
    int32_t *best, *begun, *last; /* [count] seats */
    int8_t level[64]; /* of the smallest subtree of two seats by the highest
                         bit in which their codes differ, plus 1 */
    int base;         /* level of subtrees without distances inside that swaps
                         would change */
    uint64_t spent;   /* vectors of rows that changed */
};

/* The seats of a subtree that are looked at. */
struct window {
    int32_t first, count;
};

/* Seats that are farther from one of two than from the other. */
struct reach {
    struct window window[2];
    int windows;
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

static inline int common_level(const struct simmering *work, int32_t a,
                               int32_t b)
{
    const uint64_t *code = work->layout->tree->code;

    return work->level[63 - __builtin_clzll(((code[a] ^ code[b]) << 1) | 1)];
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

/* Whole vectors around a subtree: what is beyond it does not change. */
static struct window around(const struct nw_tree *tree, int32_t seat, int level)
{
    int32_t c = tree->cluster[level][seat];
    int32_t first = tree->first[level][c] / NW_LANES * NW_LANES;
    int32_t count = tree->first[level][c + 1] - first;

    return (struct window){first, (count + NW_LANES - 1) / NW_LANES * NW_LANES};
}

/* What is as far as those two, and beyond, sees no difference. */
static struct reach reach_of(const struct nw_tree *tree, int32_t a, int32_t b,
                             int level)
{
    int inner = level ? level - 1 : 0;
    struct window left = around(tree, a < b ? a : b, inner);
    struct window right = around(tree, a < b ? b : a, inner);
    int32_t end = right.first + right.count;

    if (left.first + left.count < right.first)
        return (struct reach){{left, right}, 2};
    return (struct reach){{{left.first, end - left.first}}, 1};
}

static int32_t count_of(const struct reach *reach)
{
    return reach->window[0].count + reach->window[1].count;
}

/* By how much each seat is farther from b than from a: all beyond the reach are
 * as far from both. */
static void fill_change(struct simmering *work, int32_t a, int32_t b, int level,
                        const struct reach *reach)
{
    const struct nw_tree *tree = work->layout->tree;
    int32_t seat[2] = {a, b};

    for (int i = 0; i < reach->windows; i++)
        memset(work->change + reach->window[i].first, 0,
               (size_t)reach->window[i].count * sizeof *work->change);
    for (int i = 0; level && i < 2; i++) {
        int32_t other = tree->cluster[level - 1][seat[!i]];
        float sign = i ? 1 : -1, far = sign * (float)tree->distance[level];

        add_distances(work, seat[i], level - 1, sign);
        for (int32_t s = tree->first[level - 1][other];
             s < tree->first[level - 1][other + 1]; s++)
            work->change[s] += far;
    }
}

static void turn_change(struct simmering *work, const struct reach *reach)
{
    for (int i = 0; i < reach->windows; i++) {
        struct window window = reach->window[i];

        for (int32_t s = window.first; s < window.first + window.count; s++)
            work->change[s] = -work->change[s];
    }
}

static inline void add_change(const struct simmering *work, float *row,
                              float bytes, struct window window)
{
    for (int32_t s = window.first; s < window.first + window.count;
         s += NW_LANES)
        *(nw_lanes *)(row + s) += bytes * *(nw_lanes *)(work->change + s);
}

/* Peers of a process see it on another seat. */
static void enter(struct simmering *work, int32_t process,
                  const struct reach *reach)
{
    const struct nw_layout *layout = work->layout;

    for (size_t b = layout->row[process]; b < layout->row[process + 1]; b++) {
        int32_t peer = layout->bond[b].peer, seat = layout->seat[peer];
        float bytes = (float)layout->bond[b].bytes, *row = row_of(work, peer);

        for (int i = 0; i < reach->windows; i++)
            add_change(work, row, bytes, reach->window[i]);
        if (work->here[seat] > -NEVER)
            work->here[seat] = row[seat];
    }
}

/* Of nobody: none. */
static uint64_t degree_of(const struct nw_layout *layout, int32_t process)
{
    return process < layout->count
               ? layout->row[process + 1] - layout->row[process]
               : 0;
}

static void swap(struct simmering *work, int32_t a, int32_t b)
{
    struct nw_layout *layout = work->layout;
    int level = common_level(work, a, b);
    struct reach reach = reach_of(layout->tree, a, b, level);
    int32_t u = work->who[a], v = work->who[b];

    work->spent += (degree_of(layout, u) + degree_of(layout, v)) *
                   ((uint64_t)count_of(&reach) / NW_LANES + PEER);
    nw_layout_swap(layout, a, b);
    work->who[a] = v;
    work->who[b] = u;
    fill_change(work, a, b, level, &reach);
    enter(work, u, &reach);
    turn_change(work, &reach);
    if (v < layout->count)
        enter(work, v, &reach);
    work->here[a] = row_of(work, v)[a];
    work->here[b] = row_of(work, u)[b];
}

/* Seats near a peer, in small subtrees more often than in larger ones, but
 * none that holds the seat `from`; none where the peer is as near as can be. */
static inline struct window look(const struct simmering *work, int32_t from,
                                 int32_t near, uint64_t bits)
{
    const struct nw_tree *tree = work->layout->tree;
    int most = common_level(work, from, near) - 1;
    int up = __builtin_ctzll(bits >> work->base >> 1 | (uint64_t)1 << LOOKS);
    int level = work->base + (up ? up : 1);
    int32_t cluster;
    struct window window;

    if (most < work->base)
        return (struct window){0};
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
 * `from`, and as if the two were no peers, less what chance allows; the least
 * of it. Seats beyond the window cost more than any. */
static inline float weigh(const struct simmering *work, int32_t from,
                          struct window window, const float *noise, float heat,
                          float change[WIDE])
{
    const int32_t *who = work->who + window.first;
    const float *row = row_of(work, work->who[from]) + window.first;
    const float *here = work->here + window.first;
    const float *price = work->price + from;
    size_t stride = work->stride;
    nw_lanes least = {NEVER, NEVER, NEVER, NEVER};

    for (int32_t i = 0; i < window.count; i += NW_LANES) {
        nw_lanes there = {price[(size_t)who[i] * stride],
                          price[(size_t)who[i + 1] * stride],
                          price[(size_t)who[i + 2] * stride],
                          price[(size_t)who[i + 3] * stride]};
        int32_t over =
            i + NW_LANES > window.count ? i + NW_LANES - window.count : 0;
        nw_lanes now = *(const nw_lanes *)(row + i) -
                       *(const nw_lanes *)(here + i) + there -
                       heat * *(const nw_lanes *)(noise + i) +
                       *(const nw_lanes *)(beyond + over);

        *(nw_lanes *)(change + i) = now;
        least = nw_lanes_lesser(now, least);
    }
    return nw_lanes_least(least);
}

/* What two peers exchange stays when they swap. */
static inline void keep_between(const struct simmering *work, int32_t u,
                                struct window window, float *change)
{
    const struct nw_layout *layout = work->layout;

    for (size_t b = layout->row[u]; b < layout->row[u + 1]; b++) {
        int32_t peer = layout->bond[b].peer, s = layout->seat[peer];

        if (s >= window.first && s < window.first + window.count)
            change[s - window.first] +=
                2 * (float)(layout->bond[b].bytes *
                            nw_tree_apart(layout->tree, layout->at[u],
                                          layout->at[peer]));
    }
}

static inline double try_one(struct simmering *work, float heat,
                             struct nw_random *random)
{
    const struct nw_layout *layout = work->layout;
    uint64_t whom = nw_random_next(random), where = nw_random_next(random);
    int32_t u = work->list[nw_chance_pick(whom, work->list_count)], best = 0;
    int32_t degree = (int32_t)(layout->row[u + 1] - layout->row[u]);
    int32_t from = layout->seat[u], peer;
    const float *noise = work->noise + (where >> 32) % NW_CHANCES;
    float change[WIDE + NW_LANES], least;
    struct window window;

    if (!degree)
        return 0;
    peer =
        layout
            ->bond[layout->row[u] + (size_t)nw_chance_pick(whom >> 32, degree)]
            .peer;
    window = look(work, from, layout->seat[peer], where);
    if (weigh(work, from, window, noise, heat, change) >= work->here[from])
        return 0;
    keep_between(work, u, window, change);
    least = change[0];
    for (int32_t i = 1; i < window.count; i++)
        if (change[i] < least) {
            least = change[i];
            best = i;
        }
    if (least >= work->here[from])
        return 0;
    least += heat * noise[best] - work->here[from];
    swap(work, from, window.first + best);
    return (double)least;
}

/* --- rounds --- */

/* A mean bond over the second smallest distance; where few that outweigh all
 * others by far lie near already, no more than what those between subtrees
 * amount to. */
static double unit_of(const struct nw_layout *layout)
{
    const struct nw_tree *tree = layout->tree;
    const int32_t *cluster = tree->cluster[1], *seat = layout->seat;
    size_t bonds = layout->row[layout->count], crossing = 0;
    double across = 0, mean;

    if (!bonds)
        return 0;
    for (int32_t p = 0; p < layout->count; p++)
        for (size_t b = layout->row[p]; b < layout->row[p + 1]; b++)
            if (cluster[seat[p]] != cluster[seat[layout->bond[b].peer]]) {
                across += layout->bond[b].bytes;
                crossing++;
            }
    mean = nw_layout_bytes(layout) / (double)bonds;
    if (crossing)
        mean = fmin(mean, CROSSING * across / (double)crossing);
    return mean * tree->distance[2];
}

/* Takes its tries, fewer where all that was allowed to be spent is. */
static uint64_t run_slice(struct simmering *work, uint64_t tries,
                          uint64_t spent_most, float heat,
                          struct nw_random *random, double *cost)
{
    uint64_t k = 0;

    while (k < tries && work->spent < spent_most) {
        *cost += try_one(work, heat, random);
        k++;
    }
    return k;
}

/* What accepts nearly all of its tries, where all have many peers, would take
 * long and lower nothing. */
static void run_rounds(struct simmering *work, struct nw_simmer *simmer)
{
    size_t n = (size_t)simmer->layout->count;
    double heat = simmer->heat * unit_of(simmer->layout);
    double cool = pow(COLDEST, 1.0 / (simmer->rounds - 1));
    double cost = simmer->cost;
    uint64_t each = simmer->tries / (uint64_t)simmer->rounds + 1;
    struct nw_random random;

    nw_random_init(&random, simmer->seed);
    for (int32_t i = 0; i < simmer->rounds; i++, heat *= cool) {
        uint64_t slice = nw_budget_slice(simmer->budget, each);
        float now = i == simmer->rounds - 1 ? 0 : (float)heat;

        slice = run_slice(work, slice, SPENT_EACH * each * ((uint64_t)i + 1),
                          now, &random, &cost);
        if (cost < simmer->cost) {
            simmer->cost = cost;
            memcpy(work->best, simmer->layout->seat, n * sizeof *work->best);
        }
        if (!nw_budget_tell(simmer->budget, slice, simmer->cost))
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
    for (int bit = 1; bit < 64; bit++)
        for (int8_t level = 1; level < tree->levels; level++)
            if (tree->apart[bit] == tree->distance[level])
                work->level[bit] = level;
}

static nw_status ready(struct simmering *work)
{
    size_t n = (size_t)work->layout->count;
    size_t seats = (size_t)work->layout->tree->seats;
    nw_status status;

    work->stride = LINE * ((seats / LINE + 1) | 1);
    status = nw_alloc((n + 1) * work->stride + NW_LANES, sizeof *work->price,
                      &work->price);
    if (!status)
        status = nw_alloc(work->stride, sizeof *work->change, &work->change);
    if (!status)
        status = nw_alloc(seats + NW_LANES, sizeof *work->here, &work->here);
    if (!status)
        status = nw_alloc(seats + NW_LANES, sizeof *work->who, &work->who);
    if (!status)
        status = nw_alloc(seats, sizeof *work->within, &work->within);
    if (!status)
        status = nw_alloc(n, sizeof *work->list, &work->list);
    if (!status)
        status = nw_alloc(n, sizeof *work->best, &work->best);
    if (!status)
        status = nw_alloc(n, sizeof *work->begun, &work->begun);
    if (!status)
        status = nw_alloc(n, sizeof *work->last, &work->last);
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
    free(work->last);
    free(work->noise);
}

/* Floats added up again and again tell little of small differences: costs are
 * found again. What ended lower in one place and higher in another is taken
 * apart. */
static nw_status settle(struct simmering *work, struct nw_simmer *simmer,
                        double begun)
{
    struct nw_layout *layout = simmer->layout;
    nw_status status;

    memcpy(work->last, layout->seat,
           (size_t)layout->count * sizeof *work->last);
    nw_layout_seat(layout, work->best);
    assert(fabs(nw_layout_cost(layout) - simmer->cost) <=
           ROUNDING * nw_layout_most(layout));
    nw_layout_seat(layout, work->begun);
    simmer->cost = begun;
    status = nw_graft(layout, work->best, &simmer->cost);
    return status ? status : nw_graft(layout, work->last, &simmer->cost);
}

nw_status nw_simmer(struct nw_simmer *simmer)
{
    struct simmering work = {.layout = simmer->layout};
    double begun = simmer->cost;
    nw_status status = ready(&work);

    if (!status) {
        fill(&work);
        if (work.list_count)
            run_rounds(&work, simmer);
        status = settle(&work, simmer, begun);
    }
    free_simmering(&work);
    return status;
}
