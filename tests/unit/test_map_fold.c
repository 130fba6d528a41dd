/* SPDX-License-Identifier: BSD-3-Clause */
/* Stencils folded onto tori: embeddings in which all neighbours are one hop
 * apart, known by hand, are found; what is no grid or not alike is left alone;
 * divisions over switches are the best of all; and less congestion does not
 * cost more hop-bytes than it may. */
#include <nodewise/map.h>

#include "map/fold.h"
#include "map/parts.h"
#include "support/seated.h"
#include "support/share.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

static bool fold(struct seated *bench)
{
    struct nw_aim aim = nw_aim_of(&bench->problem);
    bool found = false;

    MUST(nw_seats_fold(&bench->seats, &aim, &found));
    return found;
}

/* Hop-bytes over the sum of bytes: the mean way, links of nodes included. */
static double mean_way(const struct seated *bench)
{
    struct nw_ledger ledger;
    double bytes = 0, value;

    MUST(nw_ledger_init(&ledger, &bench->seats,
                        (struct nw_ledger_wants){.hop_bytes = true}));
    for (size_t e = 0; e < bench->pattern->row[bench->pattern->rank_count]; e++)
        bytes += (double)bench->pattern->bytes[e];
    value = ledger.now.hop_bytes / bytes;
    nw_ledger_fini(&ledger);
    return value;
}

static void check_embedding(const char *machine, const char *specification)
{
    struct seated bench;
    double nearest;

    seated_begin(&bench, machine, generate(specification));
    assert_true(fold(&bench));
    seated_check(&bench.seats);
    nearest = nw_topology_distance(bench.topology,
                                   nw_topology_element_end(bench.topology, 0),
                                   nw_topology_element_end(bench.topology, 1));
    assert_float_equal(mean_way(&bench), nearest, 1e-9);
    seated_end(&bench);
}

/* A ring of four is a square: a torus of 4 x 4 x 4 is a cube of six
 * dimensions, and any grid of powers of two lies in it. */
static void grids_lie_in_a_cube(void **state)
{
    (void)state;
    check_embedding("torus_4x4x4.yaml", "stencil2d5:dims=8x8,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil2d5:dims=16x4,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil3d7:dims=4x4x4,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil3d7:dims=8x4x2,bytes=1000");
}

/* Sizes that are not powers, and a path along the whole torus. */
static void grids_lie_in_a_torus(void **state)
{
    (void)state;
    check_embedding("torus_3x6.yaml", "stencil2d5:dims=6x3,bytes=1000");
    check_embedding("torus_3x6.yaml", "stencil2d5:dims=18x1,bytes=1000");
}

static void others_are_left_alone(void **state)
{
    struct seated bench;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 1);
    seated_begin(&bench, "torus_4x4x4.yaml", random_graph(&random, 64, 256));
    assert_false(fold(&bench));
    seated_check(&bench.seats);
    seated_end(&bench);
    seated_begin(&bench, "torus_4x4x4.yaml",
                 generate("stencil2d5:dims=8x7,bytes=1000"));
    assert_false(fold(&bench));
    seated_end(&bench);
}

/* Bytes to and from the fullest of three parts. */
static double fullest(const struct nw_seats *seats, const int *part)
{
    double leaving[3] = {0, 0, 0};

    for (int r = 0; r < 12; r++)
        for (size_t t = seats->row[r]; t < seats->row[r + 1]; t++)
            if (part[seats->tie[t].peer] != part[r])
                leaving[part[r]] += seats->tie[t].out + seats->tie[t].in;
    return fmax(leaving[0], fmax(leaving[1], leaving[2]));
}

/* The least of all divisions of 12 ranks into three parts. */
static double least_fullest(const struct nw_seats *seats, int *part, int rank,
                            const int room[3])
{
    double least = INFINITY;

    if (rank == 12)
        return fullest(seats, part);
    for (int p = 0; p < 3; p++) {
        int left[3] = {room[0], room[1], room[2]};

        if (!left[p]--)
            continue;
        part[rank] = p;
        least = fmin(least, least_fullest(seats, part, rank + 1, left));
    }
    return least;
}

static double fullest_seated(const struct nw_seats *seats, const int *switch_of)
{
    int part[12];

    for (int r = 0; r < 12; r++)
        part[r] = switch_of[seats->host[seats->seat[r]]];
    return fullest(seats, part);
}

struct switches {
    const char *machine;
    int switch_of[6], room[3]; /* of six nodes; ranks below each */
};

/* Found where it is less than the default's, and then the least there is. */
static void check_division(struct nw_random *random,
                           const struct switches *switches)
{
    struct nw_aim aim = {.first = NW_OBJECTIVE_CONGESTION};
    struct seated bench;
    double before, after, least;
    int part[12];
    bool found;

    seated_begin(&bench, switches->machine, random_graph(random, 12, 48));
    before = fullest_seated(&bench.seats, switches->switch_of);
    MUST(nw_seats_part(&bench.seats, &aim, &found));
    seated_check(&bench.seats);
    after = fullest_seated(&bench.seats, switches->switch_of);
    least = least_fullest(&bench.seats, part, 0, switches->room);
    assert_float_equal(after, least, 1e-6);
    assert_true(found == (after < before));
    seated_end(&bench);
}

static void divisions_are_the_best(void **state)
{
    static const struct switches even = {
        "three_switches.yaml", {0, 0, 1, 1, 2, 2}, {4, 4, 4}};
    static const struct switches uneven = {
        "uneven_switches.yaml", {0, 1, 1, 2, 2, 2}, {2, 4, 6}};
    int step = share_step(2, "divisions");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 3);
    for (int i = 0; i < 2; i += step) {
        check_division(&random, &even);
        check_division(&random, &uneven);
    }
}

#define CLIQUES 4

/* Four of four ranks each, numbered in turn; much between two and two. */
static nw_pattern *cliques(const int partner[CLIQUES])
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    MUST(nw_pattern_builder_new(16, &builder));
    for (int a = 0; a < 16; a++)
        for (int b = 0; b < 16; b++) {
            int p = a % CLIQUES, q = b % CLIQUES;
            uint64_t bytes = p == q ? 10000 : q == partner[p] ? 100 : 1;

            if (a != b)
                MUST(nw_pattern_builder_add(builder, a, b, NW_KIND_HH, bytes,
                                            1));
        }
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    return pattern;
}

/* Two leaf switches, of two nodes of two ranks, in each of two pods: a clique
 * fills a switch, and its partner the other one there. */
static void partners_share_a_pod(void **state)
{
    static const int partner[3][CLIQUES] = {
        {1, 0, 3, 2}, {2, 3, 0, 1}, {3, 2, 1, 0}};
    struct nw_aim aim = {.first = NW_OBJECTIVE_CONGESTION};
    int step = share_step(3, "pairs of switches");

    (void)state;
    for (int i = 0; i < 3; i += step) {
        struct seated bench;
        const struct nw_seats *seats = &bench.seats;
        int leaf[16];
        bool found;

        seated_begin(&bench, "two_pods.yaml", cliques(partner[i]));
        MUST(nw_seats_part(&bench.seats, &aim, &found));
        assert_true(found);
        seated_check(seats);
        for (int r = 0; r < 16; r++)
            leaf[r] = seats->host[seats->seat[r]] / 2;
        for (int r = 0; r < 16; r++) {
            assert_int_equal(leaf[r], leaf[r % CLIQUES]);
            assert_int_equal(leaf[r] / 2, leaf[partner[i][r % CLIQUES]] / 2);
        }
        seated_end(&bench);
    }
}

struct figures {
    double hop_bytes, most;
};

static struct figures map_for(const nw_topology *topology,
                              const nw_pattern *pattern,
                              enum nw_objective objective,
                              const char *algorithm)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct figures figures;
    nw_mapping *mapping;
    struct nw_cost cost;

    options.objective = objective;
    options.algorithm = algorithm;
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    MUST(nw_cost_evaluate(topology, pattern, mapping, &cost));
    figures = (struct figures){cost.hop_bytes.value, cost.max_congestion};
    nw_cost_fini(&cost);
    nw_mapping_free(mapping);
    return figures;
}

/* Unless nothing near is as good as the default, which no answer is worse
 * than. */
static void congestion_keeps_near(void **state)
{
    nw_topology *topology = seated_load("torus_3x6.yaml");
    int step = share_step(2, "graphs on a torus");
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int i = 0; i < 2; i += step) {
        nw_pattern *pattern = random_graph(&random, 18, 72);
        struct figures near =
            map_for(topology, pattern, NW_OBJECTIVE_HOP_BYTES, "auto");
        struct figures plain =
            map_for(topology, pattern, NW_OBJECTIVE_HOP_BYTES, "default");
        struct figures ours =
            map_for(topology, pattern, NW_OBJECTIVE_CONGESTION, "auto");

        assert_true(ours.most <= plain.most * (1 + 1e-9));
        assert_true(ours.hop_bytes <= 1.05 * near.hop_bytes ||
                    near.most > plain.most);
        nw_pattern_free(pattern);
    }
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(grids_lie_in_a_cube),
        cmocka_unit_test(grids_lie_in_a_torus),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(divisions_are_the_best),
        cmocka_unit_test(partners_share_a_pod),
        cmocka_unit_test(congestion_keeps_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
