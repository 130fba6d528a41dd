/* SPDX-License-Identifier: BSD-3-Clause */
/* Anneals by swaps with a table of costs; see anneal_swaps.h. */
#include "map/hierarchy/anneal_swaps.h"
#include "base/array.h"
#include "map/common/metropolis.h"
#include "map/common/simd4.h"
#include "map/common/parameters.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINE 16 /* floats in a cache line */
/* Number of random bits that choose the level of a subtree. */
#define LOOKS 31
#define NEVER 1e30F   /* cost of a swap with a fixed process, or with no slot */
#define COST_MAX 1e27 /* largest real cost, far below NEVER */
#define ROUNDING 1e-4 /* relative rounding error of float sums */

/* Added to the costs of a vector of slots: NEVER for slots beyond the end of a
 * window, so that they are not chosen. */
static const float swaps_table_beyond[2 * NW_SIMD4_WIDTH] = {
    0, 0, 0, 0, NEVER, NEVER, NEVER, NEVER};

/* State of one annealing. */
struct swaps_table_work {
    struct nw_assignment *assignment;
    float *price; /* [count + 1][stride] hop-bytes of each process if it were on
                     each slot; the last row stands for a free slot and is 0 */
    size_t stride;
    float *here;  /* [slots] hop-bytes of the process now on the slot; 0: free;
                     -NEVER: the slot is fixed */
    int32_t *who; /* [slots] row in `price` of the process now on the slot;
                     `count`: free */
    /* [stride: padded length of a row of `price`] by how much the present move
     * changes the distance between each slot and the moved process */
    float *change;
    const float *thresholds; /* nw_metropolis_thresholds */
    double *within; /* [slots] for one process: bytes to its peers in each
                       cluster of a level */
    int32_t *list;  /* processes that may move, of which a trial draws one */
    int32_t list_count;
    int32_t *best, *begun; /* [count] slot of each process, in the best
                              assignment so far (best) and in the first one
                              (begun) */
    int8_t level[64]; /* level of the smallest subtree that contains two slots,
                         indexed by 1 + the highest bit in which their codes
                         differ */
    int base;         /* highest level of subtrees inside which swaps change no
                         distance */
    uint64_t spent;   /* number of vectors (NW_SIMD4_WIDTH floats) in table rows
                         that were updated */
};

/* Consecutive slots first .. first + count - 1, with which a process may swap
 * or whose table entries change. */
struct swaps_table_window {
    int32_t first, count;
};

bool nw_anneal_swaps_table_fits(const struct nw_assignment *assignment)
{
    return !assignment->load && assignment->hierarchy->levels >= 3 &&
           (double)(assignment->count + 1) * assignment->hierarchy->slots <=
               nw_tuned.swaps.table_cells_max &&
           nw_assignment_cost_bound(assignment) < COST_MAX;
}

/* Returns the table row of a process; process number `count` stands for a free
 * slot. */
static float *swaps_table_row_of(const struct swaps_table_work *work,
                                 int32_t process)
{
    return work->price + (size_t)process * work->stride;
}

/* Returns the level of the smallest subtree that contains slots a and b. */
static inline int swaps_table_common_level(const struct swaps_table_work *work,
                                           int32_t a, int32_t b)
{
    const uint64_t *code = work->assignment->hierarchy->code;

    return work->level[63 - __builtin_clzll(((code[a] ^ code[b]) << 1) | 1)];
}

/* Returns the slots of the cluster of level `level` that contains `slot`,
 * extended to whole vectors (NW_SIMD4_WIDTH floats). */
static struct swaps_table_window
swaps_table_around(const struct nw_hierarchy *hierarchy, int32_t slot,
                   int level)
{
    int32_t c = hierarchy->cluster[level][slot];
    int32_t first =
        hierarchy->first[level][c] / NW_SIMD4_WIDTH * NW_SIMD4_WIDTH;
    int32_t count = hierarchy->first[level][c + 1] - first;

    return (struct swaps_table_window){
        first, (count + NW_SIMD4_WIDTH - 1) / NW_SIMD4_WIDTH * NW_SIMD4_WIDTH};
}

/* Fills reach[] with the slots whose distances to a and b may differ; the
 * second window may be empty. `level`: level of the smallest subtree that
 * contains both. */
static void swaps_table_find_reach(const struct nw_hierarchy *hierarchy,
                                   int32_t a, int32_t b, int level,
                                   struct swaps_table_window reach[2])
{
    int inner = level ? level - 1 : 0;

    reach[0] = swaps_table_around(hierarchy, a < b ? a : b, inner);
    reach[1] = swaps_table_around(hierarchy, a < b ? b : a, inner);
    if (reach[0].first + reach[0].count < reach[1].first)
        return;
    reach[0].count = reach[1].first + reach[1].count - reach[0].first;
    reach[1].count = 0;
}

/* Fills change[] for a process that moves from slot a to slot b: change[s] is
 * the distance of slot s from b minus that from a, for the slots in `window`.
 */
static void swaps_table_fill_change(struct swaps_table_work *work, int32_t a,
                                    int32_t b, struct swaps_table_window window)
{
    const struct nw_hierarchy *hierarchy = work->assignment->hierarchy;
    const uint64_t *code = hierarchy->code;
    int32_t end = window.first + window.count;

    for (int32_t s = window.first; s < end && s < hierarchy->slots; s++)
        work->change[s] =
            (float)nw_hierarchy_distance(hierarchy, code[s], code[b]) -
            (float)nw_hierarchy_distance(hierarchy, code[s], code[a]);
}

/* After a process has moved, adds the effect of the move to the table rows of
 * its peers: `sign` times change[]. */
static void swaps_table_enter(struct swaps_table_work *work, int32_t process,
                              float sign,
                              const struct swaps_table_window reach[2])
{
    const struct nw_assignment *assignment = work->assignment;

    for (size_t b = assignment->row[process]; b < assignment->row[process + 1];
         b++) {
        int32_t peer = assignment->edge[b].peer, slot = assignment->slot[peer];
        float bytes = sign * (float)assignment->edge[b].bytes,
              *row = swaps_table_row_of(work, peer);

        for (int i = 0; i < 2; i++)
            for (int32_t s = reach[i].first;
                 s < reach[i].first + reach[i].count; s += NW_SIMD4_WIDTH)
                *(nw_simd4 *)(row + s) +=
                    bytes * *(nw_simd4 *)(work->change + s);
        if (work->here[slot] > -NEVER)
            work->here[slot] = row[slot];
    }
}

/* Returns the number of edges of a process; 0 for a free slot. */
static uint64_t swaps_table_degree_of(const struct nw_assignment *assignment,
                                      int32_t process)
{
    return process < assignment->count
               ? assignment->row[process + 1] - assignment->row[process]
               : 0;
}

/* Swaps the contents of slots a and b, of which b may be free, and updates the
 * table rows of the peers. */
static void swaps_table_swap(struct swaps_table_work *work, int32_t a,
                             int32_t b)
{
    struct nw_assignment *assignment = work->assignment;
    int level = swaps_table_common_level(work, a, b);
    struct swaps_table_window reach[2];
    int32_t u = work->who[a], v = work->who[b];

    swaps_table_find_reach(assignment->hierarchy, a, b, level, reach);
    work->spent +=
        (swaps_table_degree_of(assignment, u) +
         swaps_table_degree_of(assignment, v)) *
        ((uint64_t)(reach[0].count + reach[1].count) / NW_SIMD4_WIDTH +
         nw_tuned.swaps.table_row_cost);
    nw_assignment_swap(assignment, a, b);
    work->who[a] = v;
    work->who[b] = u;
    for (int i = 0; i < 2; i++)
        swaps_table_fill_change(work, a, b, reach[i]);
    swaps_table_enter(work, u, 1, reach);
    if (v < assignment->count)
        swaps_table_enter(work, v, -1, reach);
    work->here[a] = swaps_table_row_of(work, v)[a];
    work->here[b] = swaps_table_row_of(work, u)[b];
}

/* Returns the slots with which the process on `from` may swap in this trial: a
 * window in a subtree around slot `near`, that of one of its peers. `bits` are
 * random and choose the subtree, small ones more often than large ones, but
 * never one that contains `from`. The window is empty if the peer is as near as
 * possible. */
static inline struct swaps_table_window
swaps_table_evaluate(const struct swaps_table_work *work, int32_t from,
                     int32_t near, uint64_t bits)
{
    const struct nw_hierarchy *hierarchy = work->assignment->hierarchy;
    int most = swaps_table_common_level(work, from, near) - 1;
    int up = __builtin_ctzll(bits >> work->base >> 1 | (uint64_t)1 << LOOKS);
    int level = work->base + (up ? up : 1);
    int32_t cluster;
    struct swaps_table_window window;

    if (most < work->base)
        return (struct swaps_table_window){0};
    level = level < most ? level : most;
    cluster = hierarchy->cluster[level][near];
    window.first = hierarchy->first[level][cluster];
    window.count = hierarchy->first[level][cluster + 1] - window.first;
    if (window.count > nw_tuned.swaps.table_window) {
        window.first += nw_random_index(
            bits >> 32, window.count - nw_tuned.swaps.table_window + 1);
        window.count = nw_tuned.swaps.table_window;
    }
    return window;
}

/* Fills change[] for each slot of a window: the change of the cost if the
 * process on `from` swaps with that slot, plus its present cost here[from],
 * minus a random threshold. Takes no account of an edge between the two
 * processes. Returns the least value. Slots beyond the window get NEVER. */
static inline float
swaps_table_weigh(const struct swaps_table_work *work, int32_t from,
                  struct swaps_table_window window, const float *thresholds,
                  float temperature, float change[nw_tuned.swaps.table_window])
{
    const int32_t *who = work->who + window.first;
    const float *row = swaps_table_row_of(work, work->who[from]) + window.first;
    const float *here = work->here + window.first;
    const float *price = work->price + from;
    size_t stride = work->stride;
    nw_simd4 least = {NEVER, NEVER, NEVER, NEVER};

    for (int32_t i = 0; i < window.count; i += NW_SIMD4_WIDTH) {
        nw_simd4 there = {price[(size_t)who[i] * stride],
                          price[(size_t)who[i + 1] * stride],
                          price[(size_t)who[i + 2] * stride],
                          price[(size_t)who[i + 3] * stride]};
        int32_t over = i + NW_SIMD4_WIDTH > window.count
                           ? i + NW_SIMD4_WIDTH - window.count
                           : 0;
        nw_simd4 now = *(const nw_simd4 *)(row + i) -
                       *(const nw_simd4 *)(here + i) + there -
                       temperature * *(const nw_simd4 *)(thresholds + i) +
                       *(const nw_simd4 *)(swaps_table_beyond + over);

        *(nw_simd4 *)(change + i) = now;
        least = nw_simd4_min(now, least);
    }
    return nw_simd4_least(least);
}

/* Corrects change[] for peers of process u in the window: if u swaps with a
 * peer, the distance between the two does not change. */
static inline void swaps_table_keep_between(const struct swaps_table_work *work,
                                            int32_t u,
                                            struct swaps_table_window window,
                                            float *change)
{
    const struct nw_assignment *assignment = work->assignment;

    for (size_t b = assignment->row[u]; b < assignment->row[u + 1]; b++) {
        int32_t peer = assignment->edge[b].peer, s = assignment->slot[peer];

        if (s >= window.first && s < window.first + window.count)
            change[s - window.first] +=
                2 * (float)(assignment->edge[b].bytes *
                            nw_hierarchy_distance(assignment->hierarchy,
                                                  assignment->at[u],
                                                  assignment->at[peer]));
    }
}

/* Makes one trial: takes a random process and swaps it with the best slot of a
 * window if annealing accepts that. Returns the change of the cost, 0 without a
 * swap. */
static inline double swaps_table_try_one(struct swaps_table_work *work,
                                         float temperature,
                                         struct nw_random *random)
{
    const struct nw_assignment *assignment = work->assignment;
    uint64_t whom = nw_random_next(random), where = nw_random_next(random);
    int32_t u = work->list[nw_random_index(whom, work->list_count)], best = 0;
    int32_t degree = (int32_t)(assignment->row[u + 1] - assignment->row[u]);
    int32_t from = assignment->slot[u], peer;
    const float *thresholds =
        work->thresholds + (where >> 32) % NW_METROPOLIS_SIZE;
    float change[nw_tuned.swaps.table_window + NW_SIMD4_WIDTH], least;
    struct swaps_table_window window;

    if (!degree)
        return 0;
    peer = assignment
               ->edge[assignment->row[u] +
                      (size_t)nw_random_index(whom >> 32, degree)]
               .peer;
    window = swaps_table_evaluate(work, from, assignment->slot[peer], where);
    if (swaps_table_weigh(work, from, window, thresholds, temperature,
                          change) >= work->here[from])
        return 0;
    swaps_table_keep_between(work, u, window, change);
    least = change[0];
    for (int32_t i = 1; i < window.count; i++)
        if (change[i] < least) {
            least = change[i];
            best = i;
        }
    if (least >= work->here[from])
        return 0;
    least += temperature * thresholds[best] - work->here[from];
    swaps_table_swap(work, from, window.first + best);
    return (double)least;
}

/* --- rounds --- */

/* Returns the unit of temperature: the mean bytes of an edge times the second
 * smallest distance. If heavy edges already lie inside the smallest subtrees,
 * the mean is limited by that of the edges between these subtrees. */
static double swaps_table_unit_of(const struct nw_assignment *assignment)
{
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    const int32_t *cluster = hierarchy->cluster[1], *slot = assignment->slot;
    size_t edges = assignment->row[assignment->count], crossing = 0;
    double across = 0, mean;

    if (!edges)
        return 0;
    for (int32_t p = 0; p < assignment->count; p++)
        for (size_t b = assignment->row[p]; b < assignment->row[p + 1]; b++)
            if (cluster[slot[p]] != cluster[slot[assignment->edge[b].peer]]) {
                across += assignment->edge[b].bytes;
                crossing++;
            }
    mean = nw_assignment_bytes(assignment) / (double)edges;
    if (crossing)
        mean = fmin(mean,
                    nw_tuned.swaps.table_crossing * across / (double)crossing);
    return mean * hierarchy->distance[2];
}

/* Runs all rounds. Limits the table updates of each round, because accepting
 * many swaps on dense graphs takes much time and gains little. */
static void swaps_table_run_rounds(struct swaps_table_work *work,
                                   struct nw_anneal_swaps *anneal_swaps)
{
    size_t n = (size_t)work->assignment->count;
    int32_t rounds = nw_tuned.multilevel.swap_rounds;
    double temperature =
        anneal_swaps->temperature * swaps_table_unit_of(work->assignment);
    double cool = pow(nw_tuned.swaps.table_coldest, 1.0 / (rounds - 1));
    double cost = anneal_swaps->cost;
    uint64_t each = anneal_swaps->steps / (uint64_t)rounds + 1;
    struct nw_random random;

    nw_random_init(&random, anneal_swaps->seed);
    for (int32_t i = 0; i < rounds; i++, temperature *= cool) {
        uint64_t slice = nw_budget_slice(anneal_swaps->budget, each), tries = 0;
        uint64_t spent_most =
            nw_tuned.swaps.table_updates_max * each * ((uint64_t)i + 1);
        float now = i == rounds - 1 ? 0 : (float)temperature;

        for (; tries < slice && work->spent < spent_most; tries++)
            cost += swaps_table_try_one(work, now, &random);
        if (cost < anneal_swaps->cost) {
            anneal_swaps->cost = cost;
            memcpy(work->best, work->assignment->slot, n * sizeof *work->best);
        }
        if (!nw_budget_spend(anneal_swaps->budget, tries))
            break;
    }
}

/* --- table of costs --- */

/* Computes the table row of a process. Adds up level by level: each level of
 * the tree adds the extra distance to the peers outside the slot's subtree. */
static void swaps_table_fill_row(struct swaps_table_work *work, int32_t process)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    const struct nw_undirected_edge *end =
        assignment->edge + assignment->row[process + 1];
    float *row = swaps_table_row_of(work, process);

    for (int level = 0; level < hierarchy->levels - 1; level++) {
        double more =
            hierarchy->distance[level + 1] - hierarchy->distance[level];
        double all = 0;

        memset(work->within, 0,
               (size_t)hierarchy->count[level] * sizeof *work->within);
        for (const struct nw_undirected_edge *edge =
                 assignment->edge + assignment->row[process];
             edge < end; edge++) {
            work->within[hierarchy
                             ->cluster[level][assignment->slot[edge->peer]]] +=
                edge->bytes;
            all += edge->bytes;
        }
        for (int32_t s = 0; s < hierarchy->slots; s++)
            row[s] +=
                (float)(more *
                        (all - work->within[hierarchy->cluster[level][s]]));
    }
}

/* Fills the table, and the other arrays that depend on the present slots. */
static void swaps_table_fill(struct swaps_table_work *work)
{
    const struct nw_assignment *assignment = work->assignment;
    const struct nw_hierarchy *hierarchy = assignment->hierarchy;
    size_t n = (size_t)assignment->count;

    for (int32_t p = 0; p < assignment->count; p++)
        swaps_table_fill_row(work, p);
    for (int32_t s = 0; s < hierarchy->slots; s++) {
        int32_t p = assignment->process[s];

        work->who[s] = p < 0 ? assignment->count : p;
        work->here[s] = assignment->fixed[s]
                            ? -NEVER
                            : swaps_table_row_of(work, work->who[s])[s];
        if (p >= 0 && !assignment->fixed[s])
            work->list[work->list_count++] = p;
    }
    memcpy(work->best, assignment->slot, n * sizeof *work->best);
    memcpy(work->begun, assignment->slot, n * sizeof *work->begun);
    work->base = hierarchy->count[0] == hierarchy->slots;
    for (int bit = 1; bit < 64; bit++)
        for (int8_t level = 1; level < hierarchy->levels; level++)
            if (hierarchy->apart[bit] == hierarchy->distance[level])
                work->level[bit] = level;
}

/* Allocates the arrays. A table row is an odd number of cache lines long, so
 * that the values of one column are spread over the cache. */
static nw_status swaps_table_prepare(struct swaps_table_work *work)
{
    size_t n = (size_t)work->assignment->count;
    size_t slots = (size_t)work->assignment->hierarchy->slots;

    work->stride = LINE * ((slots / LINE + 1) | 1);
    work->thresholds = nw_metropolis_thresholds();
    return NW_ALLOC_ALL(
        NW_ARRAY((n + 1) * work->stride + NW_SIMD4_WIDTH, work->price),
        NW_ARRAY(work->stride, work->change),
        NW_ARRAY(slots + NW_SIMD4_WIDTH, work->here),
        NW_ARRAY(slots + NW_SIMD4_WIDTH, work->who),
        NW_ARRAY(slots, work->within), NW_ARRAY(n, work->list),
        NW_ARRAY(n, work->best), NW_ARRAY(n, work->begun));
}

/* Ends the annealing: takes the best assignment if its cost, computed from
 * scratch, is below `begun`, the cost of the first one; otherwise the first
 * assignment. The table has rounding errors of floats, so the best assignment
 * may cost more than it seemed. */
static void swaps_table_end(struct swaps_table_work *work,
                            struct nw_anneal_swaps *anneal_swaps, double begun)
{
    struct nw_assignment *assignment = work->assignment;
    double cost;

    nw_assignment_set(assignment, work->best);
    cost = nw_assignment_cost(assignment);
    assert(fabs(cost - anneal_swaps->cost) <=
           ROUNDING * nw_assignment_cost_bound(assignment));
    if (cost >= begun) {
        nw_assignment_set(assignment, work->begun);
        cost = begun;
    }
    anneal_swaps->cost = cost;
}

nw_status nw_anneal_swaps_table(struct nw_anneal_swaps *anneal_swaps)
{
    struct swaps_table_work work = {.assignment = anneal_swaps->assignment};
    double begun = anneal_swaps->cost;
    nw_status status = swaps_table_prepare(&work);

    if (!status) {
        swaps_table_fill(&work);
        if (work.list_count)
            swaps_table_run_rounds(&work, anneal_swaps);
        swaps_table_end(&work, anneal_swaps, begun);
    }
    NW_FREE_ALL(work.price, work.change, work.here, work.who, work.within,
                work.list, work.best, work.begun);
    return status;
}
