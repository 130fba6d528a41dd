/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of generated patterns against counts by hand, and of layers and
 * scaling. */
#include <nodewise/pattern.h>

#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Bytes from one rank to another, 0 where there is no edge. */
static uint64_t bytes_of(const nw_pattern *p, int32_t src, int32_t dst)
{
    uint64_t sum = 0;

    for (size_t e = p->row[src]; e < p->row[src + 1]; e++)
        sum += p->dst[e] == dst ? p->bytes[e] : 0;
    return sum;
}

static uint64_t sent_by(const nw_pattern *p, int32_t src)
{
    uint64_t sum = 0;

    for (size_t e = p->row[src]; e < p->row[src + 1]; e++)
        sum += p->bytes[e];
    return sum;
}

static void assert_same_edges(const nw_pattern *a, const nw_pattern *b)
{
    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(a->edge_count, b->edge_count);
    assert_memory_equal(a->row, b->row,
                        (size_t)(a->rank_count + 1) * sizeof *a->row);
    assert_memory_equal(a->dst, b->dst, a->edge_count * sizeof *a->dst);
    assert_memory_equal(a->kind, b->kind, a->edge_count);
    assert_memory_equal(a->bytes, b->bytes, a->edge_count * sizeof *a->bytes);
    assert_memory_equal(a->messages, b->messages,
                        a->edge_count * sizeof *a->messages);
}

/* MAGC, section VI: 8x8 ranks in row-major order, with messages that are 3
 * times larger along the first dimension. */
static void makes_the_weighted_2d_benchmark(void **state)
{
    nw_pattern *p = generate("stencil2d5:dims=8x8,weights=3:1,bytes=10,"
                             "messages=2,iterations=5,kind=gg");

    (void)state;
    assert_int_equal(p->rank_count, 64);
    assert_int_equal(p->edge_count, 2 * 2 * 7 * 8);
    assert_int_equal(bytes_of(p, 9, 1), 150);
    assert_int_equal(bytes_of(p, 9, 17), 150);
    assert_int_equal(bytes_of(p, 9, 8), 50);
    assert_int_equal(bytes_of(p, 9, 10), 50);
    assert_int_equal(bytes_of(p, 7, 8), 0);
    assert_int_equal(nw_pattern_total(p, NW_KIND_GG).messages, 224 * 10);
    assert_int_equal(nw_pattern_total(p, NW_KIND_HH).edges, 0);
    nw_pattern_free(p);
}

/* Checks every pair of ranks by itself. */
static void makes_27_points_with_classes(void **state)
{
    static const uint64_t class[] = {0, 100, 10, 1};
    nw_pattern *p = generate("stencil3d27:dims=3x4x5,bytes=1,classes=100:10:1");

    (void)state;
    for (int32_t a = 0; a < 60; a++)
        for (int32_t b = 0; b < 60; b++) {
            int x = abs(a / 20 - b / 20), y = abs(a / 5 % 4 - b / 5 % 4),
                z = abs(a % 5 - b % 5);
            bool near = x <= 1 && y <= 1 && z <= 1;

            assert_int_equal(bytes_of(p, a, b), near ? class[x + y + z] : 0);
        }
    nw_pattern_free(p);
}

static void wraps_periodic_borders(void **state)
{
    nw_pattern *p = generate("stencil2d5:dims=2x5,bytes=1,periodic=1:0");

    (void)state;
    assert_int_equal(bytes_of(p, 0, 5), 2); /* both neighbours are the same
                                               rank */
    assert_int_equal(bytes_of(p, 0, 4), 0);
    nw_pattern_free(p);
    p = generate("stencil3d7:dims=4x4x4,bytes=1,periodic=1");
    assert_int_equal(p->edge_count, 64 * 6);
    nw_pattern_free(p);
    p = generate("stencil3d7:dims=4x4x4,bytes=1");
    assert_int_equal(p->edge_count, 3 * 2 * 3 * 16);
    nw_pattern_free(p);
}

static void makes_col_along_the_first_dimension(void **state)
{
    nw_pattern *p = generate("col:dims=4x4x4,bytes=7");

    (void)state;
    for (int32_t a = 0; a < 64; a++)
        for (int32_t b = 0; b < 64; b++)
            assert_int_equal(bytes_of(p, a, b),
                             a != b && a % 16 == b % 16 ? 7 : 0);
    nw_pattern_free(p);
}

static void makes_graphs_without_a_grid(void **state)
{
    nw_pattern *p = generate("hypercube:ranks=16,bytes=3");

    (void)state;
    for (int32_t a = 0; a < 16; a++)
        for (int32_t b = 0; b < 16; b++)
            assert_int_equal(bytes_of(p, a, b),
                             __builtin_popcount((unsigned)(a ^ b)) == 1 ? 3
                                                                        : 0);
    nw_pattern_free(p);
    p = generate("alltoall:ranks=5,bytes=1KiB");
    assert_int_equal(p->edge_count, 20);
    assert_int_equal(sent_by(p, 3), 4096);
    nw_pattern_free(p);
    p = generate("random:ranks=50,degree=9,seed=3,bytes=1");
    assert_int_equal(p->edge_count, 450);
    for (int32_t r = 0; r < 50; r++) {
        assert_int_equal(sent_by(p, r), 9);
        assert_int_equal(bytes_of(p, r, r), 0);
    }
    nw_pattern_free(p);
}

static void draws_the_same_for_the_same_seed(void **state)
{
    nw_pattern *a = generate("random:ranks=50,degree=9,seed=3");
    nw_pattern *b = generate("random:ranks=50,degree=9,seed=3");
    nw_pattern *c = generate("random:ranks=50,degree=9,seed=4");

    (void)state;
    assert_same_edges(a, b);
    assert_int_not_equal(memcmp(a->dst, c->dst, a->edge_count * sizeof *a->dst),
                         0);
    nw_pattern_free(a);
    nw_pattern_free(b);
    nw_pattern_free(c);
}

static void refuses_bad_specifications(void **state)
{
    static const char *const bad[] = {
        "",
        "nothing",
        "stencil2d5",
        "stencil2d5:",
        "stencil2d5:dims",
        "stencil2d5:dims=8",
        "stencil2d5:dims=8x8x8",
        "stencil2d5:dims=0x8",
        "stencil2d5:dims=65536x65536",
        "stencil2d5:dims=8x8,dims=8x8",
        "stencil2d5:dims=8x8,colour=red",
        "stencil2d5:dims=8x8,weights=1",
        "stencil2d5:dims=8x8,weights=1:-1",
        "stencil2d5:dims=8x8,classes=1:1",
        "stencil2d5:dims=8x8,bytes=nan",
        "stencil2d5:dims=8x8,bytes=-1",
        "stencil2d5:dims=8x8,messages=0",
        "stencil2d5:dims=8x8,periodic=2",
        "stencil2d5:dims=2x2,bytes=18446744073709551615,weights=2:2",
        "stencil2d5:dims=2x2,kind=xx",
        "hypercube:ranks=6",
        "alltoall:ranks=2000000000",
        "random:ranks=4,degree=4",
        "training:tp=0",
        "training:layers=7,pp=2",
        "training:dp=2,batch=3",
        "training:precision=int4",
        "training:data=star",
        "training:bytes=5",
        "training:tp=65536,pp=65536",
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nw_pattern *p = NULL;

        if (nw_pattern_generate(bad[i], &p) != NW_EINVAL || p)
            fail_msg("'%s' is taken", bad[i]);
    }
}

/* Narayanan and others 2021, section 3.2: tensor parallelism moves
 * 8 b s h (t - 1) / t numbers a layer and device. */
static void tensor_traffic_follows_the_formula(void **state)
{
    nw_pattern *p = generate("training:tp=4,hidden=64,layers=3,seq=32,batch=2,"
                             "precision=bf16");

    (void)state;
    assert_int_equal(p->rank_count, 4);
    for (int32_t r = 0; r < 4; r++) {
        assert_int_equal(sent_by(p, r), 3 * 2 * (8 * 2 * 32 * 64 * 3 / 4));
        assert_int_equal(bytes_of(p, r, (r + 1) % 4), sent_by(p, r));
    }
    nw_pattern_free(p);
}

/* Data parallelism: a ring reduce-scatter and all-gather of 12 h^2 weights per
 * layer. */
static void data_traffic_follows_the_formula(void **state)
{
    nw_pattern *p =
        generate("training:dp=8,hidden=64,layers=2,seq=32,precision=fp32");

    (void)state;
    for (int32_t r = 0; r < 8; r++) {
        assert_int_equal(sent_by(p, r), 2 * 7 * (2 * 12 * 64 * 64 * 4 / 8));
        assert_int_equal(bytes_of(p, r, (r + 1) % 8), sent_by(p, r));
    }
    nw_pattern_free(p);
}

/* The phase of a pattern with the traffic of one kind of group, wherever the
 * specification names that kind. */
static void one_phase_is_found_at_any_place(void **state)
{
    static const char *const words[] = {"training:tp=4,dp=4,pp=2,only=tp",
                                        "training:only=tp,tp=4,dp=4,pp=2"};

    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const struct nw_pattern_phases *phases;
        nw_pattern *p = generate(words[i]);

        assert_int_equal(nw_pattern_find_phases(p, &phases), NW_OK);
        assert_true(phases->found);
        for (int k = 0; k < NW_PHASE_COUNT; k++)
            assert_int_equal(!!phases->pattern[k], k == NW_PHASE_TENSOR);
        nw_pattern_free(p);
    }
}

/* The double binary tree for n ranks: the first tree is given by hand, the
 * second one is its mirror image. Each edge carries half of 12 h^2 weights per
 * layer up, and the same down; all ranks together send 2 (n - 1) times the
 * weights, as a ring does. There is one step for each level up, and one
 * down. */
static void trees_are_those_of_nccl(void **state)
{
    static const struct {
        int n, steps;
        int edge[7][2]; /* n - 1 */
    } trees[] = {
        {4, 2 * 2, {{0, 2}, {2, 1}, {2, 3}}},
        {8, 2 * 3, {{0, 4}, {4, 2}, {4, 6}, {2, 1}, {2, 3}, {6, 5}, {6, 7}}}};
    const uint64_t half = 2 * 12 * 64 * 64 * 4 / 2;

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const struct nw_pattern_phases *phases;
        uint64_t wanted[8][8] = {{0}};
        int n = trees[i].n;
        nw_pattern *p = generate(n == 4 ? "training:dp=4,hidden=64,layers=2,"
                                          "precision=fp32,data=tree"
                                        : "training:dp=8,hidden=64,layers=2,"
                                          "precision=fp32,data=tree");

        for (int e = 0; e < n - 1; e++) {
            int a = trees[i].edge[e][0], b = trees[i].edge[e][1];

            wanted[a][b] += half;
            wanted[b][a] += half;
            wanted[n - 1 - a][n - 1 - b] += half;
            wanted[n - 1 - b][n - 1 - a] += half;
        }
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                assert_int_equal(bytes_of(p, a, b), wanted[a][b]);
        assert_int_equal(nw_pattern_total(p, NW_KIND_GG).bytes,
                         2 * (uint64_t)(n - 1) * 2 * half);
        for (size_t e = 0; e < p->edge_count; e++)
            assert_int_equal(p->messages[e], trees[i].steps);
        assert_int_equal(nw_pattern_find_phases(p, &phases), NW_OK);
        assert_true(phases->found);
        assert_int_equal(phases->rounds[NW_PHASE_DATA], trees[i].steps);
        nw_pattern_free(p);
    }
}

/* Between two pipeline stages, b s h numbers are sent in each direction in a
 * step. */
static void pipeline_traffic_follows_the_formula(void **state)
{
    nw_pattern *p = generate("training:pp=4,hidden=64,layers=4,seq=32,batch=6,"
                             "micro=2,precision=fp16");

    (void)state;
    assert_int_equal(p->edge_count, 6);
    for (int32_t r = 0; r < 3; r++) {
        assert_int_equal(bytes_of(p, r, r + 1), 6 * 32 * 64 * 2);
        assert_int_equal(bytes_of(p, r + 1, r), 6 * 32 * 64 * 2);
    }
    assert_int_equal(nw_pattern_total(p, NW_KIND_GG).messages, 6 * 3);
    nw_pattern_free(p);
}

/* Every token is sent to its top-k experts and back, forward and backward; 1/ep
 * of the tokens stay. The dense part has 4 h^2 weights, an expert 8 h^2, and
 * each rank has experts of its own. */
static void expert_traffic_follows_the_formula(void **state)
{
    uint64_t tokens = 32 * 2 /* sequences of 32 on each rank */;
    uint64_t exchange = 4 * tokens * 2 * 64 / 4 * 2;
    uint64_t dense = 2 * 3 * (4 * 64 * 64 * 2 / 4);
    nw_pattern *p = generate("training:dp=4,ep=4,topk=2,hidden=64,layers=1,"
                             "seq=32,batch=8,precision=bf16");

    (void)state;
    for (int32_t r = 0; r < 4; r++) {
        assert_int_equal(sent_by(p, r), 3 * exchange + dense);
        assert_int_equal(bytes_of(p, r, (r + 2) % 4), exchange);
    }
    nw_pattern_free(p);
}

/* Blocks of keys and values are passed in c - 1 steps forward and c - 1 steps
 * back, and their gradients in c steps. */
static void context_traffic_follows_the_formula(void **state)
{
    uint64_t block = 2 * (32 / 4) * 64 * 2;
    uint64_t dense = 2 * 3 * (12 * 64 * 64 * 2 / 4);
    nw_pattern *p =
        generate("training:cp=4,hidden=64,layers=1,seq=32,precision=bf16");

    (void)state;
    for (int32_t r = 0; r < 4; r++)
        assert_int_equal(sent_by(p, r), (3 + 3 + 4) * block + dense);
    nw_pattern_free(p);
}

/* The messages inside each group do not depend on the other groups, so that the
 * totals of a combined run are products. */
static void groups_keep_to_themselves(void **state)
{
    nw_pattern *p = generate("training:tp=2,cp=2,dp=4,ep=2,pp=2,layers=2,"
                             "hidden=64,seq=32,batch=4");

    (void)state;
    assert_int_equal(p->rank_count, 32);
    for (int32_t r = 0; r < 32; r++)
        for (size_t e = p->row[r]; e < p->row[r + 1]; e++) {
            int32_t to = p->dst[e];
            bool stage = r / 16 != to / 16, tensor = r % 2 != to % 2;

            /* the stage and the tensor index never change together with
             * another */
            assert_true(!stage || r % 16 == to % 16);
            assert_true(!tensor || r / 2 == to / 2);
        }
    nw_pattern_free(p);
}

static void lays_layers_together_and_apart(void **state)
{
    nw_pattern *host = generate("stencil2d5:dims=4x4,kind=gg");
    nw_pattern *gpu = generate("col:dims=4x4,messages=3");
    nw_pattern *both, *part, *other = generate("col:dims=4x5");

    (void)state;
    assert_int_equal(nw_pattern_combine(host, gpu, &both), NW_OK);
    assert_int_equal(nw_pattern_total(both, NW_KIND_HH).edges, 48);
    assert_int_equal(nw_pattern_total(both, NW_KIND_GG).messages, 48 * 3);
    assert_int_equal(nw_pattern_select(both, NW_KIND_HH, &part), NW_OK);
    assert_int_equal(part->edge_count, 48);
    assert_false(nw_pattern_has_gpu(part));
    nw_pattern_free(part);
    part = NULL;
    assert_int_equal(nw_pattern_combine(host, other, &part), NW_EINVAL);
    assert_null(part);
    nw_pattern_free(host);
    nw_pattern_free(gpu);
    nw_pattern_free(both);
    nw_pattern_free(other);
}

/* A small pattern that is scaled equals the large one that is generated. */
static void scales_what_it_can_generate(void **state)
{
    static const char *const pairs[][2] = {
        {"stencil2d5:dims=8x8,weights=3:1",
         "stencil2d5:dims=16x16,weights=3:1"},
        {"stencil2d5:dims=4x8", "stencil2d5:dims=8x16"},
        {"stencil2d9:dims=6x4,classes=9:2", "stencil2d9:dims=12x8,classes=9:2"},
        {"stencil3d7:dims=4x4x4,weights=3:1:1,messages=4",
         "stencil3d7:dims=8x8x8,weights=3:1:1,messages=4"},
        {"stencil3d7:dims=3x4x5,periodic=1:0:1",
         "stencil3d7:dims=6x8x10,periodic=1:0:1"},
        {"stencil3d27:dims=4x4x4,classes=100:10:1,kind=gg",
         "stencil3d27:dims=4x4x4,classes=100:10:1,kind=gg"},
        {"col:dims=4x4x4,bytes=5", "col:dims=8x8x8,bytes=5"},
        {"alltoall:ranks=6,bytes=5", "alltoall:ranks=9,bytes=5"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        nw_pattern *small = generate(pairs[i][0]);
        nw_pattern *large = generate(pairs[i][1]), *scaled;
        char *how;

        if (nw_pattern_scale(small, large->rank_count, &scaled, &how))
            fail_msg("%s: %s", pairs[i][0], nw_error_text());
        assert_same_edges(large, scaled);
        assert_string_equal(how, scaled->note);
        free(how);
        nw_pattern_free(small);
        nw_pattern_free(large);
        nw_pattern_free(scaled);
    }
}

static void scales_no_pattern_without_a_grid(void **state)
{
    static const char *const specs[] = {"random:ranks=64,degree=3,seed=1",
                                        "hypercube:ranks=32",
                                        "stencil2d5:dims=8x8"};

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        nw_pattern *p = generate(specs[i]), *scaled = NULL;
        char *how = NULL;

        /* 127 is prime, so that it does not factor into a 2-D grid */
        assert_int_equal(nw_pattern_scale(p, 127, &scaled, &how),
                         NW_EUNSUPPORTED);
        assert_null(scaled);
        assert_null(how);
        nw_pattern_free(p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_the_weighted_2d_benchmark),
        cmocka_unit_test(makes_27_points_with_classes),
        cmocka_unit_test(wraps_periodic_borders),
        cmocka_unit_test(makes_col_along_the_first_dimension),
        cmocka_unit_test(makes_graphs_without_a_grid),
        cmocka_unit_test(draws_the_same_for_the_same_seed),
        cmocka_unit_test(refuses_bad_specifications),
        cmocka_unit_test(tensor_traffic_follows_the_formula),
        cmocka_unit_test(data_traffic_follows_the_formula),
        cmocka_unit_test(trees_are_those_of_nccl),
        cmocka_unit_test(pipeline_traffic_follows_the_formula),
        cmocka_unit_test(expert_traffic_follows_the_formula),
        cmocka_unit_test(context_traffic_follows_the_formula),
        cmocka_unit_test(groups_keep_to_themselves),
        cmocka_unit_test(one_phase_is_found_at_any_place),
        cmocka_unit_test(lays_layers_together_and_apart),
        cmocka_unit_test(scales_what_it_can_generate),
        cmocka_unit_test(scales_no_pattern_without_a_grid),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
