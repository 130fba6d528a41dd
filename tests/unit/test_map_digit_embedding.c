/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of embeddings of stencils in tori. The search finds the embeddings that
 * are known by hand, in which all neighbours are one hop apart. It leaves a
 * pattern unchanged if the pattern is not a uniform grid. Lower congestion does
 * not cost more hop-bytes than allowed. */
#include <nodewise/map.h>

#include "map/congestion/digit_embedding.h"
#include "support/slots.h"
#include "support/share.h"

#include <math.h>

#include <stdlib.h>
#include <string.h>

static bool fold(struct assigned *bench)
{
    struct nw_objectives objectives =
        nw_objectives_from_options(&bench->problem);
    bool found = false;

    MUST(nw_slots_embed_digits(&bench->slots, &objectives, &found));
    return found;
}

/* The mean distance of a byte: hop-bytes divided by the sum of bytes. It
 * includes the links of nodes. */
static double mean_way(const struct assigned *bench)
{
    struct nw_link_loads loads;
    double bytes = 0, value;

    MUST(nw_link_loads_init(&loads, &bench->slots,
                            (struct nw_link_loads_wants){.hop_bytes = true}));
    for (size_t e = 0; e < bench->pattern->row[bench->pattern->rank_count]; e++)
        bytes += (double)bench->pattern->bytes[e];
    value = loads.now.hop_bytes / bytes;
    nw_link_loads_fini(&loads);
    return value;
}

static void check_embedding(const char *machine, const char *specification)
{
    struct assigned bench;
    double nearest;

    assigned_begin(&bench, machine, generate(specification));
    assert_true(fold(&bench));
    assigned_check(&bench.slots);
    nearest = nw_topology_distance(bench.topology,
                                   nw_topology_element_end(bench.topology, 0),
                                   nw_topology_element_end(bench.topology, 1));
    assert_float_equal(mean_way(&bench), nearest, 1e-9);
    assigned_end(&bench);
}

/* A ring of four is a square, so that a torus of 4 x 4 x 4 is a cube of six
 * dimensions, in which any grid of powers of two can be embedded. */
static void grids_lie_in_a_cube(void **state)
{
    (void)state;
    check_embedding("torus_4x4x4.yaml", "stencil2d5:dims=8x8,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil2d5:dims=16x4,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil3d7:dims=4x4x4,bytes=1000");
    check_embedding("torus_4x4x4.yaml", "stencil3d7:dims=8x4x2,bytes=1000");
}

/* Sizes that are not powers of two, and a path through the whole torus. */
static void grids_lie_in_a_torus(void **state)
{
    (void)state;
    check_embedding("torus_3x6.yaml", "stencil2d5:dims=6x3,bytes=1000");
    check_embedding("torus_3x6.yaml", "stencil2d5:dims=18x1,bytes=1000");
}

static double distance(const nw_topology *topology, int32_t a, int32_t b)
{
    return nw_topology_distance(topology, nw_topology_element_end(topology, a),
                                nw_topology_element_end(topology, b));
}

/* Rings of 16 on 8 nodes of two cores each, and rings of 12 around 4 x 3 nodes:
 * one of the four neighbours is on the same node, the others are one hop
 * away. */
static void rings_pass_nodes_once(void **state)
{
    struct assigned bench;
    double mean;

    (void)state;
    assigned_begin(&bench, "torus_8x4x3.yaml",
                   generate("stencil2d5:dims=16x12,bytes=1000,periodic=1"));
    for (bench.problem.options.seed = 1; bench.problem.options.seed <= 3;
         bench.problem.options.seed++) {
        assert_true(fold(&bench));
        mean = (distance(bench.topology, 0, 1) +
                3 * distance(bench.topology, 0, 2)) /
               4;
        assert_true(mean_way(&bench) <= mean * (1 + 1e-9));
    }
    assigned_check(&bench.slots);
    assigned_end(&bench);
}

static void others_are_left_alone(void **state)
{
    struct assigned bench;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 1);
    assigned_begin(&bench, "torus_4x4x4.yaml", random_graph(&random, 64, 256));
    assert_false(fold(&bench));
    assigned_check(&bench.slots);
    assigned_end(&bench);
    assigned_begin(&bench, "torus_4x4x4.yaml",
                   generate("stencil2d5:dims=8x7,bytes=1000"));
    assert_false(fold(&bench));
    assigned_end(&bench);
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

/* Lower congestion keeps the hop-bytes near the least, unless no such mapping
 * is as good as the default, since no result may be worse than the default. */
static void congestion_keeps_near(void **state)
{
    nw_topology *topology = assigned_load("torus_3x6.yaml");
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
        cmocka_unit_test(rings_pass_nodes_once),
        cmocka_unit_test(others_are_left_alone),
        cmocka_unit_test(congestion_keeps_near),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
