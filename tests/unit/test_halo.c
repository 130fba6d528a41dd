/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the partition, the placement and the copies of halo exchanges,
 * against the paper's examples, formulas derived by hand, and brute force. */
#include "halo/plan/assignment.h"
#include "map/qap/dual_ascent.h"
#include "halo/plan/copy.h"
#include "halo/plan/model.h"

#include "base/random.h"
#include "support/nugent.h"
#include "support/share.h"

#include <nodewise/pattern.h>
#include <nodewise/topology.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(a);
}

static const struct nw_halo_quantity one_byte = {1, 0};

static struct nw_halo_options domain(int64_t x, int64_t y, int64_t z)
{
    struct nw_halo_options options = NW_HALO_OPTIONS_INIT;

    options.extent[0] = x;
    options.extent[1] = y;
    options.extent[2] = z;
    nw_halo_radius(&options, 1, true);
    options.quantity = &one_byte;
    options.quantity_count = 1;
    return options;
}

static nw_halo_layout *layout_of(const struct nw_halo_options *options,
                                 int32_t nodes, int32_t slots)
{
    int32_t each[64];
    struct nw_halo_places places = {nodes, each};
    nw_halo_layout *layout = NULL;

    for (int32_t i = 0; i < nodes; i++)
        each[i] = slots;
    assert_int_equal(nw_halo_layout_make(options, &places, &layout), NW_OK);
    return layout;
}

static int64_t wide(const struct nw_halo_piece *piece, int axis)
{
    return piece->box.high[axis] - piece->box.low[axis];
}

/* Section III-A and figure 4: y is divided by 3, then y by 2, then x by 2. */
static void paper_example(void **state)
{
    struct nw_halo_options options = domain(4, 24, 2);
    struct nw_halo_summary sum;
    nw_halo_layout *layout;

    (void)state;
    options.partition = NW_HALO_PARTITION_PAPER;
    layout = layout_of(&options, 12, 4);
    nw_halo_layout_summary(layout, &sum);
    assert_memory_equal(sum.node_grid, ((int32_t[]){2, 6, 1}), 12);
    assert_memory_equal(sum.slot_grid, ((int32_t[]){2, 2, 1}), 12);
    for (int32_t i = 0; i < 48; i++) {
        const struct nw_halo_piece *piece = nw_halo_layout_piece(layout, i);

        assert_int_equal(wide(piece, 0), 1);
        assert_int_equal(wide(piece, 1), 2);
        assert_int_equal(wide(piece, 2), 2);
    }
    nw_halo_layout_free(layout);
}

/* Figure 3: volumes of 2 x 2, 4 x 1, 3 x 3 and 9 x 1. A piece of a x b cells
 * receives (a + 2r)(b + 2r) - ab. */
static void figure_3(void **state)
{
    static const struct {
        int32_t x, y;
    } cuts[] = {{2, 2}, {4, 1}, {3, 3}, {9, 1}};
    int64_t n = 36;

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct nw_halo_options options = domain(n, n, 1);
        int64_t a = n / cuts[i].x, b = n / cuts[i].y;
        struct nw_halo_grid grid = {{cuts[i].x, cuts[i].y, 1}};
        struct nw_halo_box whole = {{0, 0, 0}, {n, n, 1}};
        int32_t pieces = cuts[i].x * cuts[i].y;
        nw_halo_layout *layout = layout_of(&options, 1, pieces);
        struct nw_halo_transfers found = {0};
        struct nw_halo_wanted all = {.layout = layout, .rank = -1};
        int64_t cells = 0;

        for (int32_t k = 0; k < pieces; k++)
            layout->piece[k].box = nw_halo_grid_box(&whole, &grid, k);
        assert_int_equal(nw_halo_transfers_find(&all, &found), NW_OK);
        for (size_t k = 0; k < found.count; k++)
            cells += found.item[k].extent[0] * found.item[k].extent[1];
        assert_int_equal(cells, pieces * ((a + 2) * (b + 2) - a * b));
        nw_halo_transfers_fini(&found);
        nw_halo_layout_free(layout);
    }
}

/* No factorisation of 2 to 60 parts has less halo than the chosen one, if the
 * halo is counted transfer by transfer. */
static void best_is_least(void **state)
{
    static const int32_t counts[] = {6, 8, 12, 30};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        struct nw_halo_options options = domain(40, 33, 35);
        struct nw_halo_box whole = {{0, 0, 0}, {40, 33, 35}};
        struct nw_halo_domain checked;
        struct nw_halo_grid best, grid;
        double least;

        nw_halo_borders(&options, i & 1 ? NW_HALO_OPEN : NW_HALO_PERIODIC);
        assert_int_equal(nw_halo_domain_make(&options, &checked), NW_OK);
        assert_int_equal(nw_halo_factor(&checked, &whole,
                                        NW_HALO_PARTITION_BEST, counts[i],
                                        &best),
                         NW_OK);
        least = nw_halo_grid_cells(&checked, &whole, &best);
        for (int32_t x = 1; x <= counts[i]; x++)
            for (int32_t y = 1; counts[i] % x == 0 && y <= counts[i] / x; y++) {
                grid = (struct nw_halo_grid){{x, y, counts[i] / x / y}};
                if (counts[i] / x % y == 0)
                    assert_true(nw_halo_grid_cells(&checked, &whole, &grid) >=
                                least);
            }
    }
}

/* The formula by which partitions are compared gives the sum of the transfers
 * between different pieces. */
static void cells_agree(void **state)
{
    struct nw_halo_options options = domain(12, 15, 10);
    struct nw_halo_box whole = {{0, 0, 0}, {12, 15, 10}};
    struct nw_halo_summary sum;
    nw_halo_layout *layout;
    struct nw_halo_grid grid;

    (void)state;
    nw_halo_radius(&options, 2, true);
    options.border[1][0] = NW_HALO_OPEN;
    options.border[1][1] = NW_HALO_OPEN;
    layout = layout_of(&options, 1, 12);
    nw_halo_layout_summary(layout, &sum);
    memcpy(grid.parts, sum.slot_grid, sizeof grid.parts);
    assert_true(nw_halo_grid_cells(&layout->domain, &whole, &grid) ==
                (double)(sum.bytes - sum.bytes_self));
    nw_halo_layout_free(layout);
}

/* --- assignment --- */

struct enumeration {
    const struct nw_halo_assignment *problem;
    int32_t at[8];
    double least, most;
    long count;
};

static double cost_of(const struct nw_halo_assignment *problem,
                      const int32_t *at)
{
    double cost = 0;

    for (int i = 0; i < problem->n; i++)
        for (int j = 0; j < problem->n; j++)
            cost += problem->flow[i * problem->n + j] *
                    problem->distance[at[i] * problem->n + at[j]];
    return cost;
}

static void enumerate(struct enumeration *work, int depth)
{
    int n = work->problem->n;

    if (depth == n) {
        double cost = cost_of(work->problem, work->at);

        work->count++;
        if (cost < work->least)
            work->least = cost;
        if (cost > work->most)
            work->most = cost;
    }
    for (int a = 0; a < n && depth < n; a++) {
        bool taken = false;

        for (int k = 0; k < depth; k++)
            taken = taken || work->at[k] == a;
        work->at[depth] = a;
        if (!taken)
            enumerate(work, depth + 1);
    }
}

/* Problems in which places are interchangeable: flows of a ring, and boards of
 * two or three places. */
static void make_alike(int32_t n, int round, double *flow, double *distance)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            int32_t apart = i < j ? j - i : i - j;

            if (round % 4 == 1)
                flow[i * n + j] = apart == 1 || apart == n - 1;
            distance[i * n + j] = i == j ? 0
                                  : i / (2 + round % 3) == j / (2 + round % 3)
                                      ? 1
                                      : 3;
        }
}

static double sum_of(const double *cost, const int *column, int n)
{
    double sum = 0;

    for (int i = 0; i < n; i++)
        sum += cost[i * NW_QAP_WIDE + column[i]];
    return sum;
}

static double least_sum(const double *cost, int *column, int n, int at)
{
    double least = at == n ? sum_of(cost, column, n) : 1e300;

    for (int i = at; i < n; i++) {
        int held = column[at];
        double now;

        column[at] = column[i];
        column[i] = held;
        now = least_sum(cost, column, n, at + 1);
        least = now < least ? now : least;
        held = column[at];
        column[at] = column[i];
        column[i] = held;
    }
    return least;
}

/* If there are few orders, the result is the minimum of all orders. The
 * function subtracts the same sum from the cost of every order, and no entry of
 * the reduced matrix is below 0. */
static void linear_assignment(void **state)
{
    double cost[NW_QAP_WIDE * NW_QAP_WIDE], left[NW_QAP_WIDE * NW_QAP_WIDE];
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 8);
    for (int round = 0; round < 400; round++) {
        int n = 1 + (int)nw_random_below(&random, NW_QAP_WIDE);
        int column[NW_QAP_WIDE];
        double sum;

        for (int i = 0; i < NW_QAP_WIDE * NW_QAP_WIDE; i++)
            left[i] = cost[i] =
                round % 2 ? (double)nw_random_below(&random, 1 + round / 20)
                          : nw_random_unit(&random);
        sum = nw_qap_padded_assignment(left, n);
        for (int i = 0; i < n; i++)
            column[i] = i;
        if (n <= 6)
            assert_true(fabs(sum - least_sum(cost, column, n, 0)) < 1e-9);
        for (int i = n - 1; i > 0; i--) {
            int j = (int)nw_random_below(&random, (uint64_t)i + 1);
            int held = column[i];

            column[i] = column[j];
            column[j] = held;
        }
        for (int i = 0; i < n * n; i++)
            assert_true(left[i / n * NW_QAP_WIDE + i % n] >= 0);
        assert_true(fabs(sum + sum_of(left, column, n) -
                         sum_of(cost, column, n)) < 1e-9);
    }
}

static void nugent(void **state)
{
    double flow[NUGENT * NUGENT], distance[NUGENT * NUGENT];
    int32_t at[NUGENT];
    struct nw_halo_assignment problem = {
        .n = NUGENT, .flow = flow, .distance = distance, .seed = 1};
    struct nw_halo_assigned report;

    (void)state;
    nugent_fill(flow, distance);
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_true(report.exact && same(report.cost, NUGENT_OPTIMUM));
    /* a result that is not proven within the limit of steps is not reported as
     * exact */
    problem.step_limit = 20;
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_false(report.exact);
    problem.placement = NW_HALO_PLACE_RANDOM;
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_false(report.exact);
}

static void assign_is_exact(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 5);
    for (int round = 0; round < 40; round++) {
        double flow[49], distance[49];
        int32_t at[7];
        struct nw_halo_assignment problem = {
            .n = 3 + (int32_t)nw_random_below(&random, 5),
            .flow = flow,
            .distance = distance,
            .seed = 1};
        struct enumeration all = {.problem = &problem, .least = 1e300};
        struct nw_halo_assigned report;

        for (int i = 0; i < 49; i++) {
            flow[i] = (double)nw_random_below(&random, 9);
            distance[i] = (double)nw_random_below(&random, 9);
        }
        if (round % 2)
            make_alike(problem.n, round, flow, distance);
        enumerate(&all, 0);
        assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
        assert_true(report.exact);
        assert_true(same(report.cost, all.least));
        assert_true(same(cost_of(&problem, at), all.least));
        problem.placement = NW_HALO_PLACE_WORST;
        assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
        assert_true(same(cost_of(&problem, at), all.most));
    }
}

/* 16 GPUs on four boards of four, with the flows of a periodic 4 x 4 grid. The
 * best assignment puts one row (or column) on each board; computed by hand, it
 * costs 16 pairs x 2 directions inside boards at distance 1, and as many
 * between boards at 5. */
static void sixteen(void **state)
{
    double flow[256] = {0}, distance[256];
    int32_t at[16];
    struct nw_halo_assignment problem = {
        .n = 16, .flow = flow, .distance = distance, .seed = 1};
    struct nw_halo_assigned report;

    (void)state;
    for (int i = 0; i < 16; i++) {
        int x = i % 4, y = i / 4;

        flow[i * 16 + y * 4 + (x + 1) % 4] += 3;
        flow[(y * 4 + (x + 1) % 4) * 16 + i] += 3;
        flow[i * 16 + (y + 1) % 4 * 4 + x] += 1;
        flow[((y + 1) % 4 * 4 + x) * 16 + i] += 1;
        for (int j = 0; j < 16; j++)
            distance[i * 16 + j] = i == j ? 0 : i % 4 == j % 4 ? 1 : 5;
    }
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_true(report.exact);
    assert_true(same(report.cost, 32 * 3 * 1 + 32 * 1 * 5));
}

#define LEAVES 27

/* Three nodes of nine GPUs, which is too many for a proof. Each nine that
 * communicate belong on one node; this is found without the long search for
 * distances that are not those of a tree, which would take seconds. */
static void trees(void **state)
{
    double flow[LEAVES * LEAVES], distance[LEAVES * LEAVES];
    int32_t at[LEAVES];
    struct nw_halo_assignment problem = {
        .n = LEAVES, .flow = flow, .distance = distance, .seed = 1};
    struct nw_halo_assigned report;
    clock_t begun = clock();

    (void)state;
    for (int i = 0; i < LEAVES * LEAVES; i++) {
        int a = i / LEAVES, b = i % LEAVES;

        flow[i] = a == b ? 0 : a % 3 == b % 3 ? 10 : 1;
        distance[i] = a == b ? 0 : a / 9 == b / 9 ? 2 : 4;
    }
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_true(same(report.cost, LEAVES * (8 * 10 * 2 + 18 * 1 * 4)));
    assert_true(clock() - begun < CLOCKS_PER_SEC);
}

/* Flows and distances are dense and random, without any symmetry. The result is
 * proven within few steps, and many descents find nothing better. */
static void dense(void **state)
{
    double flow[144], distance[144];
    int32_t at[12], other[12];
    struct nw_halo_assignment problem = {
        .n = 12, .flow = flow, .distance = distance, .seed = 1};
    struct nw_halo_assigned report;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 11);
    for (int i = 0; i < 144; i++) {
        flow[i] = i % 13 ? (double)nw_random_below(&random, 100) : 0;
        distance[i] = i % 13 ? 1 + (double)nw_random_below(&random, 99) : 0;
    }
    assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
    assert_true(report.exact && report.steps < 20000);
    for (int i = 0; i < 12; i++)
        other[i] = i;
    for (int i = 0; i < 300; i++) {
        nw_random_shuffle(&random, other, 12);
        nw_halo_assignment_descend(&problem, other);
        assert_true(nw_halo_assignment_cost(&problem, other) >=
                    report.cost * (1 - 1e-9));
    }
}

/* Distances as those between 16 GPUs of a machine, with dense random flows:
 * four boards on two sockets, and a 4 x 4 torus. The result is proven in at
 * most as many steps as take a second, and many descents find nothing
 * better. */
static void dense_machines(void **state)
{
    struct nw_random random;
    int step = share_step(300, "descents among 16 GPUs");

    (void)state;
    nw_random_init(&random, 3);
    for (int kind = 0; kind < 2; kind++) {
        double flow[256], distance[256];
        int32_t at[16], other[16];
        struct nw_halo_assignment problem = {.n = 16,
                                             .flow = flow,
                                             .distance = distance,
                                             .seed = 1,
                                             .step_limit = 20000};
        struct nw_halo_assigned report;

        for (int i = 0; i < 256; i++) {
            int a = i / 16, b = i % 16, x = abs(a % 4 - b % 4);
            int y = abs(a / 4 - b / 4);
            int ring = (x > 2 ? 4 - x : x) + (y > 2 ? 4 - y : y);
            int tree = a / 4 == b / 4 ? 1 : a / 8 == b / 8 ? 2 : 5;

            flow[i] = a == b ? 0 : (double)nw_random_below(&random, 100);
            distance[i] = a == b ? 0 : kind ? ring : tree;
            other[a] = a;
        }
        assert_int_equal(nw_halo_assign(&problem, at, &report), NW_OK);
        assert_true(report.exact);
        for (int i = 0; i < 300; i += step) {
            nw_random_shuffle(&random, other, 16);
            nw_halo_assignment_descend(&problem, other);
            assert_true(nw_halo_assignment_cost(&problem, other) >=
                        report.cost * (1 - 1e-9));
        }
    }
}

/* The paper's case of placement: the answer is the least of all 720, and the
 * busiest link of the node carries at least a fifth less than with ranks in
 * order. */
static double route_cost(const nw_topology *machine, int32_t a, int32_t b)
{
    uint32_t hops[64];
    size_t count;
    double sum = 0;

    assert_true(nw_topology_route_max(machine) <= 64);
    count = nw_topology_route(machine, nw_topology_gpu_end(machine, a),
                              nw_topology_gpu_end(machine, b), hops);
    for (size_t i = 0; i < count; i++)
        sum += 1 / nw_topology_link(machine, (int32_t)(hops[i] / 2))
                       .bandwidth[hops[i] & 1];
    return sum;
}

static void summit_case(void **state)
{
    struct nw_halo_options options = domain(1440, 1452, 700);
    struct nw_halo_quantity four[4] = {{4, 0}, {4, 0}, {4, 0}, {4, 0}};
    struct nw_halo_summary sum;
    double flow[36] = {0}, distance[36];
    struct nw_halo_assignment problem = {
        .n = 6, .flow = flow, .distance = distance};
    struct enumeration all = {.problem = &problem, .least = 1e300};
    nw_topology *machine;
    nw_halo_layout *layout;
    nw_pattern *pattern;

    (void)state;
    assert_int_equal(nw_topology_load("summit:1", NULL, &machine), NW_OK);
    nw_halo_radius(&options, 3, true);
    options.quantity = four;
    options.quantity_count = 4;
    options.topology = "summit:1";
    assert_int_equal(nw_halo_layout_make(&options, NULL, &layout), NW_OK);
    nw_halo_layout_summary(layout, &sum);
    assert_memory_equal(sum.slot_grid, ((int32_t[]){2, 3, 1}), 12);
    assert_int_equal(nw_halo_layout_pattern(layout, &pattern), NW_OK);
    for (int32_t i = 0; i < 6; i++)
        for (size_t e = pattern->row[i]; e < pattern->row[i + 1]; e++)
            if (pattern->dst[e] != i)
                flow[i * 6 + pattern->dst[e]] = (double)pattern->bytes[e];
    for (int32_t i = 0; i < 36; i++)
        distance[i] = i / 6 == i % 6 ? 0 : route_cost(machine, i / 6, i % 6);
    enumerate(&all, 0);
    assert_int_equal(all.count, 720);
    assert_true(sum.exact);
    assert_true(same(sum.slot_cost, all.least));
    assert_true(sum.slot_cost < sum.slot_cost_trivial);
    /* the fixed order of methods, for ranks with one GPU and with all GPUs; the
     * trivial layout has none */
    assert_int_equal(nw_halo_layout_method(layout, 0, 1, 1), NW_HALO_COLOCATED);
    assert_int_equal(nw_halo_layout_method(layout, 0, 1, 6), NW_HALO_PEER);
    assert_int_equal(nw_halo_layout_method(layout, 0, 1, 0), NW_HALO_COLOCATED);
    nw_pattern_free(pattern);
    nw_halo_layout_free(layout);
    nw_topology_free(machine);
}

/* --- the model --- */

static struct nw_halo_prediction
find_pair(const struct nw_halo_options *options, int32_t nodes, int32_t from,
          int32_t to)
{
    nw_halo_layout *layout = layout_of(options, nodes, 4);
    struct nw_halo_prediction *all, found = {.from = -1};
    size_t count;

    assert_int_equal(nw_halo_layout_predict(layout, options, &all, &count),
                     NW_OK);
    for (size_t i = 0; i < count; i++) {
        assert_true(
            !i || all[i - 1].from < all[i].from ||
            (all[i - 1].from == all[i].from && all[i - 1].to < all[i].to));
        if (all[i].from == from && all[i].to == to)
            found = all[i];
    }
    assert_int_equal(found.from, from);
    free(all);
    nw_halo_layout_free(layout);
    return found;
}

/* In pairs.yaml, GPUs 0 and 1 and GPUs 2 and 3 are connected by 450 GB/s, other
 * GPUs by 25 GB/s, and the cores of two nodes by 10 GB/s and 1.6 us. The times
 * in microseconds were computed by hand from the figures in nw_halo(3). */
static void model_chooses(void **state)
{
    static const struct {
        int32_t nodes, to;
        uint64_t bytes;
        enum nw_halo_method model, order;
        double us;
    } pairs[] = {
        /* an x face in sectors of 32 bytes: 6.5 + 2 + 2097152 / 360e3 */
        {1, 1, 524288, NW_HALO_WRITE, NW_HALO_COLOCATED, 14.3254},
        /* a y face: 8 + 2 + 524288 / 25e3 */
        {1, 2, 524288, NW_HALO_PEER3D, NW_HALO_COLOCATED, 30.9715},
        /* an edge, 256 sectors: 6.5 + 2 + 8192 / 20e3 */
        {1, 3, 2048, NW_HALO_WRITE, NW_HALO_COLOCATED, 8.9096},
        /* an x face to the other node: 2 (6.5 + 2.5 + 2621440 / 4300e3 + 524288
         * / 25e3) + 2 + 1.6 + 524288 / 10e3 */
        {2, 4, 524288, NW_HALO_STAGED, NW_HALO_STAGED, 117.191},
        /* an edge: 2 (6.5 + 2048 / 20e3) + 2 + 1.6 + 2048 / 10e3 */
        {2, 5, 2048, NW_HALO_PINNED, NW_HALO_STAGED, 17.0096},
    };
    struct nw_halo_quantity element = {8, 0};
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s/topology/valid/pairs.yaml",
             getenv("NW_FIXTURES"));
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        struct nw_halo_options options = domain(512, 512, 256);
        struct nw_halo_prediction pair;

        options.extent[2] *= pairs[i].nodes;
        options.quantity = &element;
        options.topology = path;
        options.placement = NW_HALO_PLACE_TRIVIAL;
        nw_halo_borders(&options, NW_HALO_OPEN);
        options.choice = NW_HALO_CHOOSE_MODEL;
        pair = find_pair(&options, pairs[i].nodes, 0, pairs[i].to);
        assert_int_equal(pair.bytes, pairs[i].bytes);
        assert_int_equal(pair.method, pairs[i].model);
        assert_true(fabs(pair.seconds * 1e6 / pairs[i].us - 1) < 1e-4);
        options.choice = NW_HALO_CHOOSE_ORDER;
        pair = find_pair(&options, pairs[i].nodes, 0, pairs[i].to);
        assert_int_equal(pair.method, pairs[i].order);
        assert_true(pair.seconds * 1e6 > pairs[i].us * (1 - 1e-4));
    }
}

/* CUDA's 3-D copies cannot copy cells with gaps between them, so a kernel
 * writes the y face of model_chooses: 6.5 + 2 + 524288 / 20e3. */
static void interleaved_are_written(void **state)
{
    struct nw_halo_quantity element = {8, 16};
    struct nw_halo_options options = domain(512, 512, 256);
    struct nw_halo_prediction pair;
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s/topology/valid/pairs.yaml",
             getenv("NW_FIXTURES"));
    options.quantity = &element;
    options.topology = path;
    options.placement = NW_HALO_PLACE_TRIVIAL;
    nw_halo_borders(&options, NW_HALO_OPEN);
    options.choice = NW_HALO_CHOOSE_MODEL;
    pair = find_pair(&options, 1, 0, 2);
    assert_int_equal(pair.bytes, 524288);
    assert_int_equal(pair.method, NW_HALO_WRITE);
    assert_true(fabs(pair.seconds * 1e6 / 34.7144 - 1) < 1e-4);
    element.stride = 8; /* no gaps */
    pair = find_pair(&options, 1, 0, 2);
    assert_int_equal(pair.method, NW_HALO_PEER3D);
}

/* The model chooses only methods that are allowed, and none if it knows none of
 * them. */
static void model_is_bound(void **state)
{
    struct nw_halo_traffic traffic = {
        .gpu = true,
        .same_node = true,
        .bytes = 1e6,
        .sector = 1e6,
        .rows = 1e3,
        .boxes = 1,
        .path = {50e9, 50e9, 50e9, 10e9, 1e-6},
    };
    enum nw_halo_method method = NW_HALO_METHOD_COUNT;

    (void)state;
    assert_false(
        nw_halo_model_best(NW_HALO_BIT(NW_HALO_DIRECT), &traffic, &method));
    assert_true(
        nw_halo_model_best(NW_HALO_BIT(NW_HALO_STAGED), &traffic, &method));
    assert_int_equal(method, NW_HALO_STAGED);
    traffic.gpu = false;
    assert_false(nw_halo_model_best(NW_HALO_BIT(NW_HALO_NODES) |
                                        NW_HALO_BIT(NW_HALO_STAGED),
                                    &traffic, &method));
    assert_true(nw_halo_model_best(~0u, &traffic, &method));
    assert_int_equal(method, NW_HALO_SELF);
}

/* Nodes without GPUs follow nodes that have some: the places on them are
 * cores. */
static void some_with_gpus(void **state)
{
    static const char text[] =
        "nodewise: cluster 1\n"
        "node_types:\n"
        "  gpu: {cpu: {cores: 4}, devices: [{package: 0, parts: [{gpu: 2}]}]}\n"
        "  cpu: {cpu: {cores: 4}}\n"
        "nodes:\n"
        "  - {name: \"g[0-1]\", type: gpu, switch: top}\n"
        "  - {name: \"c[0-1]\", type: cpu, switch: top}\n"
        "network: {tree: {switch: top}}\n";
    struct nw_halo_options options = domain(32, 32, 32);
    const int32_t slots[] = {2, 2, 2, 2};
    struct nw_halo_places places = {4, slots};
    char path[] = "halo_XXXXXX.yaml";
    int file = mkstemps(path, 5);
    nw_halo_layout *layout;
    nw_topology *machine;
    nw_mapping *mapping;

    (void)state;
    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    options.topology = path;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout), NW_OK);
    assert_int_equal(nw_topology_load(path, NULL, &machine), NW_OK);
    assert_int_equal(nw_halo_layout_mapping(layout, machine, &mapping), NW_OK);
    for (int32_t i = 0; i < 8; i++) {
        bool has = mapping->node[i] < 2;

        assert_int_equal(mapping->gpu[i] >= 0, has);
        assert_true(mapping->core[i] < 4);
    }
    nw_mapping_free(mapping);
    nw_topology_free(machine);
    nw_halo_layout_free(layout);
    unlink(path);
}

/* A thin domain has as many pieces as a thick one and no more neighbours: this
 * takes 0.2 s here, where work that grows with the square of the number of
 * pieces took 18 s. */
static void many_in_a_row(void **state)
{
    enum { COUNT = 1 << 14 };
    static int32_t slots[COUNT];
    struct nw_halo_options options = domain(1 << 20, 2, 2);
    struct nw_halo_places places = {COUNT, slots};
    struct nw_halo_summary sum;
    nw_halo_layout *layout;
    clock_t since = clock();

    (void)state;
    for (int32_t i = 0; i < COUNT; i++)
        slots[i] = 1;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout), NW_OK);
    assert_true(clock() - since < 5 * CLOCKS_PER_SEC);
    nw_halo_layout_summary(layout, &sum);
    assert_int_equal(sum.node_grid[0], COUNT);
    nw_halo_layout_free(layout);
}

/* In a dragonfly, the placement of 8 nodes with the least sum of distances has
 * a more loaded link than the trivial one. So the trivial one is used, which is
 * not proven to have the least cost. */
static void trivial_is_not_proven(void **state)
{
    struct nw_halo_options options = domain(64, 64, 64);
    struct nw_halo_summary sum;
    nw_halo_layout *layout;
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s/topology/valid/dragonfly.yaml",
             getenv("NW_FIXTURES"));
    options.topology = path;
    layout = layout_of(&options, 8, 2);
    nw_halo_layout_summary(layout, &sum);
    assert_true(sum.node_cost > 0);
    assert_true(sum.node_cost == sum.node_cost_trivial);
    assert_false(sum.exact);
    nw_halo_layout_free(layout);
}

/* --- uneven domains, and refused options --- */

static void uneven(void **state)
{
    struct nw_halo_options options = domain(20, 18, 7);
    const int32_t slots[] = {1, 3, 2, 5};
    struct nw_halo_places places = {4, slots};
    nw_halo_layout *layout;

    (void)state;
    /* nw_halo_layout_make checks that the boxes are disjoint and complete */
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout), NW_OK);
    assert_int_equal(nw_halo_layout_count(layout), 11);
    nw_halo_layout_free(layout);
}

/* If nodes differ in slots, no grid describes the slots of all nodes. */
static void uneven_grids(void **state)
{
    static const int32_t slots[] = {2, 4}, none[3] = {0, 0, 0};
    struct nw_halo_options options = domain(64, 64, 64);
    struct nw_halo_places places = {2, slots};
    struct nw_halo_summary sum;
    nw_halo_layout *layout;

    (void)state;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout), NW_OK);
    nw_halo_layout_summary(layout, &sum);
    assert_memory_equal(sum.node_grid, none, sizeof none);
    assert_memory_equal(sum.slot_grid, none, sizeof none);
    nw_halo_layout_free(layout);
}

static void refused(void **state)
{
    struct nw_halo_options options = domain(3, 3, 3);
    int32_t slots = 64;
    struct nw_halo_places places = {1, &slots};
    nw_halo_layout *layout = NULL;

    (void)state;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout),
                     NW_EINVAL);
    options.extent[0] = 0;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout),
                     NW_EINVAL);
    options = domain(3, 3, 3);
    options.radius[NW_HALO_DIRECTION(0, 1, 0)] = 4;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout),
                     NW_EINVAL);
    /* 2^22 x 512 = 2^31 ghost layers are one more than an int32_t holds */
    options = domain((int64_t)1 << 33, 1, 1);
    nw_halo_radius(&options, 1 << 22, true);
    options.interval = 512;
    slots = 2;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout),
                     NW_EINVAL);
    options.interval = 1024;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout),
                     NW_EINVAL);
    assert_null(layout);
    options.interval = 511;
    assert_int_equal(nw_halo_layout_make(&options, &places, &layout), NW_OK);
    /* 2^31 - 2^22 */
    assert_int_equal(nw_halo_layout_piece(layout, 0)->high_ghost[0],
                     2143289344);
    nw_halo_layout_free(layout);
}

/* --- copies --- */

static void copy_by_hand(const struct nw_halo_copy *copy)
{
    for (int64_t k = 0; k < copy->n[2]; k++)
        for (int64_t j = 0; j < copy->n[1]; j++)
            for (int64_t i = 0; i < copy->n[0]; i++)
                memcpy(copy->to.at + i * copy->to.step[0] +
                           j * copy->to.step[1] + k * copy->to.step[2],
                       copy->from.at + i * copy->from.step[0] +
                           j * copy->from.step[1] + k * copy->from.step[2],
                       copy->bytes);
}

static struct nw_halo_view draw_view(struct nw_random *random,
                                     const int64_t n[3], size_t bytes, char *at)
{
    ptrdiff_t x = (ptrdiff_t)(bytes + nw_random_below(random, 3) * 4);
    ptrdiff_t y = x * n[0] + (ptrdiff_t)nw_random_below(random, 3) * 8;
    ptrdiff_t z = y * n[1] + (ptrdiff_t)nw_random_below(random, 2) * 16;
    struct nw_halo_view view = {at, {x, y, z}};

    if (nw_random_below(random, 4) == 0) {
        view.at += (n[0] - 1) * x;
        view.step[0] = -x;
    }
    return view;
}

static void copies(void **state)
{
    enum { ROOM = 1 << 18 };
    char *from = malloc(ROOM), *to = malloc(ROOM), *want = malloc(ROOM);
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 3);
    for (int i = 0; i < ROOM; i++)
        from[i] = (char)nw_random_next(&random);
    for (int round = 0; round < 300; round++) {
        struct nw_halo_copy copy;

        for (int axis = 0; axis < 3; axis++)
            copy.n[axis] = 1 + (int64_t)nw_random_below(&random, 12);
        copy.bytes = 1 + nw_random_below(&random, 17);
        copy.from = draw_view(&random, copy.n, copy.bytes, from);
        copy.to = draw_view(&random, copy.n, copy.bytes, want);
        memset(want, 0, ROOM);
        memset(to, 0, ROOM);
        copy_by_hand(&copy);
        copy.to.at = to + (copy.to.at - want);
        nw_halo_copy_prepare(&copy);
        nw_halo_copy_run(&copy);
        assert_memory_equal(to, want, ROOM);
    }
    free(from);
    free(to);
    free(want);
}

/* Lines that are long enough for vector instructions and are gathered into
 * dense buffers; several copies at once, in any order. */
static void columns(void **state)
{
    enum { ROOM = 1 << 20, COPIES = 9 };
    char *from = malloc(ROOM), *to = malloc(ROOM), *want = malloc(ROOM);
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 4);
    for (int i = 0; i < ROOM; i++)
        from[i] = (char)nw_random_next(&random);
    for (int round = 0; round < 60; round++) {
        struct nw_halo_copy copy[COPIES];
        size_t at = 0;

        memset(want, 0, ROOM);
        memset(to, 0, ROOM);
        for (int i = 0; i < COPIES; i++) {
            int64_t n[3] = {1, 1 + (int64_t)nw_random_below(&random, 40),
                            i % 3 ? 7
                                  : 1 + (int64_t)nw_random_below(&random, 9)};
            size_t bytes = round % 2 ? 4 : 8;
            ptrdiff_t pitch = 12 + (ptrdiff_t)nw_random_below(&random, 300);

            copy[i] =
                (struct nw_halo_copy){.n = {n[0], n[1], n[2]}, .bytes = bytes};
            copy[i].to = nw_halo_dense(n, bytes, want + at);
            copy[i].from = (struct nw_halo_view){
                from + ROOM / 2,
                {(ptrdiff_t)bytes, i % 2 ? pitch : -pitch, pitch * n[1]}};
            at += bytes * (size_t)(n[1] * n[2]) + 3;
            copy_by_hand(&copy[i]);
            copy[i].to.at = to + (copy[i].to.at - want);
            nw_halo_copy_prepare(&copy[i]);
        }
        nw_halo_copy_run_all(copy, COPIES);
        assert_memory_equal(to, want, ROOM);
    }
    free(from);
    free(to);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paper_example),
        cmocka_unit_test(figure_3),
        cmocka_unit_test(best_is_least),
        cmocka_unit_test(cells_agree),
        cmocka_unit_test(linear_assignment),
        cmocka_unit_test(nugent),
        cmocka_unit_test(assign_is_exact),
        cmocka_unit_test(sixteen),
        cmocka_unit_test(trees),
        cmocka_unit_test(dense_machines),
        cmocka_unit_test(dense),
        cmocka_unit_test(summit_case),
        cmocka_unit_test(some_with_gpus),
        cmocka_unit_test(many_in_a_row),
        cmocka_unit_test(trivial_is_not_proven),
        cmocka_unit_test(uneven),
        cmocka_unit_test(uneven_grids),
        cmocka_unit_test(refused),
        cmocka_unit_test(copies),
        cmocka_unit_test(columns),
        cmocka_unit_test(model_chooses),
        cmocka_unit_test(interleaved_are_written),
        cmocka_unit_test(model_is_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
