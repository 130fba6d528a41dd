/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the parts of the reordering that need no MPI: the machine that
 * follows from the locations of ranks, boxes of grids, and weights from
 * strings. */
#include "base/cpus.h"
#include "base/random.h"
#include "runtime/reorder/decide.h"
#include "runtime/reorder/machine.h"
#include "runtime/reorder/rank_location.h"
#include "runtime/reorder/plan.h"
#include "runtime/reorder/settings.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <nodewise/topology.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 64

static struct nw_rank_location locations[MOST];
static int32_t above[MOST * NW_SWITCH_DEPTH];

/* A machine of `nodes` nodes with two packages of `cores` cores each, with a
 * rank on each core; each leaf switch below the root switch has `leaf`
 * nodes. */
static struct nw_job_location even_job(int nodes, int cores, int leaf)
{
    struct nw_job_location job = {
        .location = locations, .above = above, .node_count = nodes};

    memset(above, -1, sizeof above);
    for (int n = 0; n < nodes; n++) {
        above[n * NW_SWITCH_DEPTH] = 0;
        above[n * NW_SWITCH_DEPTH + 1] = 1 + n / leaf;
        for (int c = 0; c < 2 * cores; c++)
            locations[job.rank_count++] = (struct nw_rank_location){
                .node = n, .depth = 2, .at = {1 + c / cores, 10 + c}};
    }
    return job;
}

static struct nw_members *members_of(const struct nw_job_location *job,
                                     const int *ranks, int count)
{
    struct nw_members *members;
    int *world = malloc((size_t)count * sizeof *world);

    for (int i = 0; i < count; i++)
        world[i] = ranks ? ranks[i] : i;
    assert_int_equal(nw_members_new(job, world, count, &members), NW_OK);
    assert_int_equal(nw_members_locate(members), NW_OK);
    return members;
}

/* Returns the distance between the locations of members a and b in links. */
static double distance_of(const struct nw_members *members, int a, int b)
{
    const nw_topology *machine = members->machine;

    return nw_topology_distance(
        machine, nw_topology_element_end(machine, members->element[a]),
        nw_topology_element_end(machine, members->element[b]));
}

/* Rashti et al., figure 1: d1 (through the spine) > d2 (one leaf switch) > d3
 * (other socket) > d4 (same socket). */
static void test_figure_one(void **state)
{
    struct nw_job_location job = even_job(4, 4, 2);
    struct nw_members *members = members_of(&job, NULL, 32);
    double d1 = distance_of(members, 0, 16);
    double d2 = distance_of(members, 0, 8);
    double d3 = distance_of(members, 0, 4);
    double d4 = distance_of(members, 0, 1);

    (void)state;
    assert_true(d1 > d2 && d2 > d3 && d3 > d4 && d4 > 0);
    /* node depth plus network hops: 3 links to the top of a node; a node's
     * own link and those of its leaf switch on either side */
    assert_true(d4 == 4 && d3 == 6 && d2 == 2 * 3 + 2 && d1 == 2 * 3 + 4);
    assert_true(distance_of(members, 5, 5) == 0);
    nw_members_drop(members);
}

static void expect_location(const struct nw_rank_location *location, int depth,
                            const int32_t *at)
{
    assert_int_equal(location->depth, depth);
    for (int i = 0; i < depth; i++)
        assert_int_equal(location->at[i], at[i]);
}

/* Ranks on a node with 1,792 CPUs, more than cpu_set_t holds: one on CPU 1500,
 * one on the second package, one on two packages, one unbound. The vertices of
 * hwloc's tree are numbered package by package, each package before its
 * cores. */
static void test_many_cpus(void **state)
{
    enum { PER_PACKAGE = 448, WORDS = 4 * PER_PACKAGE / 64, RANKS = 4 };
    unsigned long bound[RANKS][NW_CPU_WORDS] = {{0}}, sent[RANKS * WORDS];
    struct nw_rank_location location[RANKS] = {{0}};
    const int32_t last = 1 + 3 * (1 + PER_PACKAGE), second = 2 + PER_PACKAGE;

    (void)state;
    nw_cpus_add(bound[0], 1500);
    for (int c = PER_PACKAGE; c < 2 * PER_PACKAGE; c++)
        nw_cpus_add(bound[1], c);
    nw_cpus_add(bound[2], 0);
    nw_cpus_add(bound[2], 4 * PER_PACKAGE - 1);
    for (int i = 0; i < RANKS; i++)
        memcpy(sent + i * WORDS, bound[i], WORDS * sizeof *sent);
    setenv("HWLOC_SYNTHETIC", "package:4 core:448 pu:1", 1);
    assert_int_equal(nw_rank_location_local(sent, WORDS, RANKS, location),
                     NW_OK);
    expect_location(&location[0], 2,
                    (int32_t[]){last, last + 1 + 1500 - 3 * PER_PACKAGE});
    expect_location(&location[1], 1, &second);
    expect_location(&location[2], 0, NULL);
    expect_location(&location[3], 0, NULL);
    /* one word for each rank: only CPU 0 is left of the third rank's */
    for (int i = 0; i < RANKS; i++)
        sent[i] = bound[i][0];
    assert_int_equal(nw_rank_location_local(sent, 1, RANKS, location), NW_OK);
    expect_location(&location[0], 0, NULL);
    expect_location(&location[2], 2, (int32_t[]){1, 2});
    unsetenv("HWLOC_SYNTHETIC");
}

/* Ranks within a node are nearer to each other than to others, however some are
 * bound and others are not. */
static void test_inside_is_nearer(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int round = 0; round < 200; round++) {
        struct nw_job_location job = even_job(4, 2, 1 + round % 4);
        struct nw_members *members;
        double inside = 0, outside = 1e9;

        for (int r = 0; r < job.rank_count; r++)
            locations[r].depth = (int32_t)nw_random_below(&random, 3);
        members = members_of(&job, NULL, job.rank_count);
        for (int a = 0; a < job.rank_count; a++)
            for (int b = 0; b < job.rank_count; b++) {
                double apart = distance_of(members, a, b);

                if (locations[a].node != locations[b].node)
                    outside = apart < outside ? apart : outside;
                else if (apart > inside)
                    inside = apart;
                assert_true(apart == distance_of(members, b, a));
            }
        assert_true(inside < outside);
        nw_members_drop(members);
    }
}

/* Distances do not depend on who else is in the communicator. */
static void test_sub_communicator(void **state)
{
    struct nw_job_location job = even_job(4, 4, 2);
    struct nw_members *all = members_of(&job, NULL, 32);
    const int some[] = {30, 1, 7, 8, 17, 0, 31};
    struct nw_members *few = members_of(&job, some, 7);

    (void)state;
    for (int a = 0; a < 7; a++)
        for (int b = 0; b < 7; b++)
            assert_true(distance_of(few, a, b) ==
                        distance_of(all, some[a], some[b]));
    assert_false(few->even);
    assert_true(all->even);
    nw_members_drop(few);
    nw_members_drop(all);
}

static struct nw_end node_end(const nw_topology *topology, int32_t node)
{
    return nw_topology_element_end(
        topology, nw_topology_node_elements(topology, node).first);
}

/* A network with several routes: the distance is the number of links between
 * nodes in the source, plus the depths of both ranks, which are the same for
 * all. */
static void test_irregular_network(void **state)
{
    struct nw_node_words words[6] = {{.host = "n01"}, {.host = "n07.cluster"},
                                     {.host = "n09"}, {.host = "n16"},
                                     {.host = "n13"}, {.host = "n02"}};
    struct nw_job_location job = even_job(6, 1, 1);
    nw_topology *source;
    struct nw_members *members;
    double constant = -1;

    (void)state;
    assert_int_equal(nw_rank_location_network("rashti-192", words, &job),
                     NW_OK);
    assert_non_null(job.source);
    assert_int_equal(nw_topology_load("rashti-192", NULL, &source), NW_OK);
    members = members_of(&job, NULL, 12);
    for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
            double apart = distance_of(members, 2 * a, 2 * b);
            double there =
                nw_topology_distance(source, node_end(source, job.number[a]),
                                     node_end(source, job.number[b]));

            if (a == b)
                continue;
            if (constant < 0)
                constant = there - apart;
            assert_true(there - apart == constant);
            assert_true(apart > distance_of(members, 0, 1));
        }
    nw_members_drop(members);
    nw_topology_free(source);
    free(job.source);
    free(job.number);
}

static void test_absent_host(void **state)
{
    struct nw_node_words words[2] = {{.host = "n01"}, {.host = "elsewhere"}};
    struct nw_job_location job = even_job(2, 1, 1);

    (void)state;
    assert_int_equal(nw_rank_location_network("rashti-192", words, &job),
                     NW_EINVAL);
}

/* 8 x 4 on four nodes of eight: with equal weights, tiles of 4 x 2 cut 16 + 8
 * edges between nodes; the edges of a heavy dimension stay inside nodes. */
static void test_hand_worked_grid(void **state)
{
    struct nw_job_location job = even_job(4, 4, 2);
    struct nw_members *members = members_of(&job, NULL, 32);
    const int dims[] = {8, 4}, periods[] = {0, 0};
    struct nw_cart cart = {2, dims, periods};
    struct nw_boxes boxes;
    double weight[2] = {1, 1}, heavy[2] = {1, 1000};

    (void)state;
    assert_true(nw_boxes_find(&members->levels, &cart, weight, &boxes));
    assert_int_equal(boxes.levels.count, 5);
    /* the sizes are 1, 4, 8, 16, 32; dimension 0 is the last one given */
    assert_int_equal(boxes.shape[2][0] * boxes.shape[2][1], 8);
    assert_int_equal(abs(boxes.shape[2][0] - boxes.shape[2][1]), 2);
    assert_int_equal(boxes.shape[1][0], 2);
    assert_int_equal(boxes.shape[1][1], 2);
    assert_true(nw_boxes_find(&members->levels, &cart, heavy, &boxes));
    assert_int_equal(boxes.shape[1][0], 4);
    assert_int_equal(boxes.shape[1][1], 1);
    nw_members_drop(members);
}

static double price(const struct nw_members *members, const nw_pattern *graph,
                    const struct nw_boxes *boxes)
{
    double sum = 0;

    for (int v = 0; v < graph->rank_count; v++)
        for (size_t e = graph->row[v]; e < graph->row[v + 1]; e++) {
            int32_t a = nw_boxes_element(boxes, v);
            int32_t b = nw_boxes_element(boxes, graph->dst[e]);

            sum += (double)graph->bytes[e] *
                   distance_of(members, members->member[a], members->member[b]);
        }
    return sum;
}

/* Maps random grids onto even machines. Each vertex has one element, and each
 * element has one vertex. The costs of the ranks sum to the cost of the graph.
 * The result is not much worse than that of the engine's search. If everything
 * can be divided, boxes are found. */
static void test_random_boxes(void **state)
{
    static const int sizes[] = {1, 2, 3, 4, 6, 8};
    struct nw_reorder_settings settings = {.algorithm = "auto"};
    struct nw_random random;
    int found = 0, better = 0;

    (void)state;
    nw_random_init(&random, 3);
    for (int round = 0; round < 150; round++) {
        int nodes = 1 + (int)nw_random_below(&random, 6);
        struct nw_job_location job =
            even_job(nodes, 1 + (int)nw_random_below(&random, 4), 2);
        int dims[3], periods[3], count = 1 + (int)nw_random_below(&random, 3);
        struct nw_cart cart = {count, dims, periods};
        struct nw_members *members = members_of(&job, NULL, job.rank_count);
        struct nw_cart_plan plan;
        struct nw_decision decision;
        double weight[3];
        uint64_t cost[2] = {0, 0};
        nw_pattern *graph;
        int vertices, seen[MOST] = {0};

        for (int d = 0; d < count; d++) {
            dims[d] = sizes[nw_random_below(&random, 6)];
            periods[d] = (int)nw_random_below(&random, 2);
            weight[d] = 1 + (double)nw_random_below(&random, 9);
        }
        vertices = nw_cart_vertices(&cart, job.rank_count);
        if (vertices < 2 || !nw_cart_scale(weight, count) ||
            !nw_cart_plan(members, &cart, weight, 0, &plan)) {
            nw_members_drop(members);
            continue;
        }
        found++;
        assert_int_equal(nw_cart_graph(&cart, weight, &graph), NW_OK);
        for (int m = 0; m < job.rank_count; m++) {
            assert_true(nw_cart_plan(members, &cart, weight, m, &plan));
            cost[0] += plan.cost[0];
            cost[1] += plan.cost[1];
            if (plan.vertex < 0)
                continue;
            assert_int_equal(seen[plan.vertex]++, 0);
            assert_int_equal(nw_boxes_element(&plan.boxes, plan.vertex),
                             members->element[m]);
        }
        for (int v = 0; v < vertices; v++)
            assert_int_equal(seen[v], 1);
        assert_true(price(members, graph, &plan.boxes) == (double)cost[1]);
        nw_cart_plan_total(members, &cart, weight, &plan);
        assert_true(plan.cost[0] == cost[0] && plan.cost[1] == cost[1]);
        assert_int_equal(nw_decide(members, graph, &settings, &decision),
                         NW_OK);
        assert_true(decision.before == (double)cost[0]);
        better += (double)cost[1] <= decision.after * 1.0001;
        free(decision.vertex);
        nw_pattern_free(graph);
        nw_members_drop(members);
    }
    assert_true(found > 40);
    /* boxes are the best of their kind, and mostly the best of all */
    printf("# boxes as good as the search in %d of %d grids\n", better, found);
    assert_true(2 * better > found);
}

static void test_uneven_nodes(void **state)
{
    struct nw_job_location job = even_job(3, 4, 3);
    const int ranks[] = {0, 8, 1, 9, 2, 16, 3, 17, 4};
    struct nw_members *members = members_of(&job, ranks, 9);
    const int dims[] = {3, 3}, periods[] = {1, 0};
    struct nw_cart cart = {2, dims, periods};
    struct nw_reorder_settings settings = {.algorithm = "auto", .gain = 0.01};
    struct nw_decision decision;
    struct nw_cart_plan plan;
    double weight[2] = {1000, 1000};
    nw_pattern *graph;
    int seen[9] = {0};

    (void)state;
    assert_false(nw_cart_plan(members, &cart, weight, 0, &plan));
    assert_int_equal(nw_cart_graph(&cart, weight, &graph), NW_OK);
    assert_int_equal(nw_decide(members, graph, &settings, &decision), NW_OK);
    for (int m = 0; m < 9; m++)
        seen[decision.vertex[m]]++;
    for (int v = 0; v < 9; v++)
        assert_int_equal(seen[v], 1);
    assert_true(decision.changes && decision.after < decision.before);
    free(decision.vertex);
    nw_pattern_free(graph);
    nw_members_drop(members);
}

static void test_weights_from_words(void **state)
{
    static const char *const bad[] = {
        "",    ",",   "1,", ",1",  "1,,2", "-1",
        "nan", "inf", "x",  "1;2", "1e10", "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1"};
    double weight[NW_CART_WEIGHTS];

    (void)state;
    assert_int_equal(nw_cart_weights_parse("3,1,0.5", weight), 3);
    assert_true(weight[0] == 3 && weight[1] == 1 && weight[2] == 0.5);
    assert_int_equal(nw_cart_weights_parse("0,2", weight), 2);
    assert_true(weight[0] == 0 && weight[1] == 2);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(nw_cart_weights_parse(bad[i], weight), 0);
}

static void test_bad_grids(void **state)
{
    const int dims[][2] = {{0, 4}, {-1, 4}, {65536, 65536}, {3, 3}};
    const int periods[2] = {0, 0};

    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(
            nw_cart_vertices(&(struct nw_cart){2, dims[i], periods}, 8), 0);
}

static pthread_barrier_t both;

static void *seat_them(void *members)
{
    pthread_barrier_wait(&both);
    if (nw_members_locate(members))
        return NULL;
    return ((struct nw_members *)members)->machine;
}

/* Duplicates of a communicator share its members, and threads may use them at
 * the same time: all must find the same complete machine. */
static void test_threads_seat(void **state)
{
    struct nw_job_location job = even_job(2, 8, 1);

    (void)state;
    pthread_barrier_init(&both, NULL, 2);
    for (int i = 0; i < 200; i++) {
        int *world = calloc(32, sizeof *world);
        struct nw_members *members;
        void *here, *there;
        pthread_t thread;

        for (int r = 0; r < 32; r++)
            world[r] = r;
        assert_int_equal(nw_members_new(&job, world, 32, &members), NW_OK);
        pthread_create(&thread, NULL, seat_them, members);
        here = seat_them(members);
        pthread_join(thread, &there);
        assert_non_null(here);
        assert_ptr_equal(here, there);
        nw_members_drop(members);
    }
    pthread_barrier_destroy(&both);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_figure_one),
        cmocka_unit_test(test_many_cpus),
        cmocka_unit_test(test_inside_is_nearer),
        cmocka_unit_test(test_sub_communicator),
        cmocka_unit_test(test_irregular_network),
        cmocka_unit_test(test_absent_host),
        cmocka_unit_test(test_hand_worked_grid),
        cmocka_unit_test(test_random_boxes),
        cmocka_unit_test(test_uneven_nodes),
        cmocka_unit_test(test_weights_from_words),
        cmocka_unit_test(test_bad_grids),
        cmocka_unit_test(test_threads_seat),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
