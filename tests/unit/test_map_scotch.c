/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the use of Scotch. Scotch prints nothing while it maps and does not
 * end the process. The program's own symbols stay unchanged. The result is the
 * same each time, and each element has one rank. */
#include <nodewise/map.h>

#include "base/random.h"
#include "map/placement/rashti_weights.h"
#include "map/placement/placement.h"
#include "support/machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <dlfcn.h>
#include <link.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void skip_without_scotch(void)
{
    if (!nw_scotch_is_here()) {
        print_message("no 64-bit Scotch here\n");
        skip();
    }
}

/* Runs `call` with stderr redirected to a pipe; returns whether nothing was
 * written. */
static bool is_silent(void (*call)(void *), void *argument)
{
    int ends[2], kept = dup(2);
    char byte;
    ssize_t count;

    assert_int_equal(pipe(ends), 0);
    fflush(stderr);
    dup2(ends[1], 2);
    close(ends[1]);
    call(argument);
    fflush(stderr);
    dup2(kept, 2);
    close(kept);
    count = read(ends[0], &byte, 1);
    close(ends[0]);
    return count == 0;
}

/* Uses an invalid strategy, which Scotch reports through its error function. */
static void provoke(void *library)
{
    int (*parse)(void *, const char *);
    int (*init)(void *);
    void (*fini)(void *);
    double strategy[64];
    void *found = dlsym(library, "SCOTCH_stratGraphMap");

    memcpy(&parse, &found, sizeof parse);
    found = dlsym(library, "SCOTCH_stratInit");
    memcpy(&init, &found, sizeof init);
    found = dlsym(library, "SCOTCH_stratExit");
    memcpy(&fini, &found, sizeof fini);
    init(strategy);
    assert_int_not_equal(parse(strategy, "no such strategy {"), 0);
    fini(strategy);
}

/* Opens the library that is named libscotch*, without "err", if it is loaded.
 */
static int open_scotch(struct dl_phdr_info *loaded, size_t size, void *library)
{
    const char *name = strstr(loaded->dlpi_name, "/libscotch");

    (void)size;
    if (name && !strstr(name, "err"))
        *(void **)library = dlopen(loaded->dlpi_name, RTLD_NOW | RTLD_NOLOAD);
    return 0;
}

/* The symbols that Scotch calls stay as the loader has resolved them. */
static void test_scotch_is_not_patched(void **state)
{
    void *library = NULL;

    (void)state;
    skip_without_scotch();
    dl_iterate_phdr(open_scotch, &library);
    assert_non_null(library);
    assert_false(is_silent(provoke, library));
    assert_null(dlsym(RTLD_DEFAULT, "SCOTCH_graphMap"));
    dlclose(library);
}

static nw_topology *load_torus(void)
{
    nw_topology *topology;
    char path[512];

    snprintf(path, sizeof path, "%s/topology/valid/torus_4x4x4.yaml",
             getenv("NW_FIXTURES"));
    MUST(nw_topology_load(path, NULL, &topology));
    return topology;
}

/* For a network that is not a tree, Scotch searches on several threads of its
 * own. SCOTCH_PTHREAD_NUMBER sets their number, which is otherwise that of the
 * cores. The result must not depend on this number. */
static void test_same_answer_each_time(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_topology *topology = load_torus();
    nw_mapping *first = NULL, *again;
    struct nw_random random;
    nw_pattern *pattern;

    (void)state;
    skip_without_scotch();
    nw_random_init(&random, 1);
    pattern = random_graph(&random, 64, 300);
    options.algorithm = "scotch";
    MUST(nw_map(topology, pattern, &options, &first, NULL));
    for (int i = 0; i < 12; i++) {
        char threads[] = {(char)('1' + i % 4), 0};

        setenv("SCOTCH_PTHREAD_NUMBER", threads, 1);
        MUST(nw_map(topology, pattern, &options, &again, NULL));
        assert_memory_equal(first->node, again->node, 64 * sizeof *first->node);
        nw_mapping_free(again);
    }
    unsetenv("SCOTCH_PTHREAD_NUMBER");
    nw_mapping_free(first);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

static void map_suite(void *topology)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern *pattern = suite_pattern(1, 0, 3);
    nw_mapping *mapping;

    options.algorithm = "magc-scotch";
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    nw_mapping_free(mapping);
    options.algorithm = "scotch";
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
}

static void test_mapping_is_silent(void **state)
{
    nw_topology *topology = machine_new(SHAPE_A);

    (void)state;
    skip_without_scotch();
    assert_true(is_silent(map_suite, topology));
    nw_topology_free(topology);
}

/* Two cliques of four on two groups of four: Scotch must find them. */
static void test_finds_the_obvious(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern_builder *builder;
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    skip_without_scotch();
    MUST(nw_topology_load("hierarchy:4:2@1:10", NULL, &topology));
    MUST(nw_pattern_builder_new(8, &builder));
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < i; j++)
            if (i % 2 == j % 2)
                pattern_pair(builder, i, j, NW_KIND_HH, 1000);
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    options.algorithm = "scotch";
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    for (int i = 2; i < 8; i++)
        assert_int_equal(mapping->core[i] / 4, mapping->core[i % 2] / 4);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Distances as in QAPLIB, from 1 to 50000, which differ by direction: Scotch,
 * which has one length for both directions, must end. */
static void test_lopsided_distances(void **state)
{
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    double distance[400];
    struct nw_random random;
    nw_topology *topology;
    nw_pattern_builder *builder;
    nw_mapping *mapping;
    nw_pattern *pattern;
    int32_t taken = 0;

    (void)state;
    skip_without_scotch();
    nw_random_init(&random, 1);
    for (int i = 0; i < 400; i++)
        distance[i] =
            i % 21
                ? floor(pow(10, (double)nw_random_below(&random, 4700) / 1000))
                : 0;
    MUST(nw_topology_from_distances("m", distance, 20, &topology));
    MUST(nw_pattern_builder_new(20, &builder));
    for (int i = 0; i < 20; i++)
        pattern_pair(builder, i, (i + 1) % 20, NW_KIND_HH, 100);
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    options.algorithm = "scotch";
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    for (int32_t r = 0; r < 20; r++)
        taken |= 1 << mapping->core[r];
    assert_int_equal(taken, (1 << 20) - 1);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* The same for loads: a machine of six elements and a pattern with a rank that
 * sends nothing. */
static void test_lopsided_loads(void **state)
{
    static const double distance[] = {
        0, 16, 16, 19, 13, 10, 2,  0,  12, 3, 18, 18, /* two elements a line */
        4, 14, 0,  16, 13, 0,  20, 14, 14, 0, 6,  2,
        5, 4,  3,  13, 0,  20, 8,  1,  6,  4, 9,  0};
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    nw_pattern_builder *builder;
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *mapping;

    (void)state;
    skip_without_scotch();
    MUST(nw_topology_from_distances("m", distance, 6, &topology));
    MUST(nw_pattern_builder_new(1, &builder));
    MUST(nw_pattern_builder_build(builder, &pattern));
    nw_pattern_builder_free(builder);
    options.algorithm = "rashti";
    alarm(200); /* the call once did not end */
    MUST(nw_map(topology, pattern, &options, &mapping, NULL));
    alarm(0);
    assert_in_range(mapping->core[0], 0, 5);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
}

/* Rashti et al., figure 1, with its machine: loads inside a socket, between
 * sockets, and between nodes of one switch and of two. The closest nodes get
 * the largest number of hops, 4, the farthest ones 1; cores of a node get more,
 * by their depth. */
static void loads_of_figure_one(void **state)
{
    static const int32_t core[] = {0, 1, 4, 8, 16};
    static const int64_t load[] = {6, 5, 4, 1};
    nw_topology *topology;
    struct nw_places places;
    struct nw_rashti_weights loads;
    struct nw_end *end;

    (void)state;
    MUST(nw_topology_load("rashti-32", NULL, &topology));
    MUST(nw_alloc(5, sizeof *end, &end));
    for (int i = 0; i < 5; i++)
        end[i] = nw_topology_element_end(topology, core[i]);
    MUST(nw_places_init(&places, topology, end, 5, -1));
    loads = nw_rashti_weights_init(&places);
    for (int i = 1; i < 5; i++) {
        assert_int_equal(nw_rashti_weights_get(&loads, 0, i), load[i - 1]);
        assert_int_equal(nw_rashti_weights_get(&loads, i, 0), load[i - 1]);
        assert_int_equal(nw_rashti_weights_length(&loads, 0, i),
                         7 - load[i - 1]);
    }
    nw_places_fini(&places);
    nw_topology_free(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loads_of_figure_one),
        cmocka_unit_test(test_scotch_is_not_patched),
        cmocka_unit_test(test_mapping_is_silent),
        cmocka_unit_test(test_same_answer_each_time),
        cmocka_unit_test(test_finds_the_obvious),
        cmocka_unit_test(test_lopsided_distances),
        cmocka_unit_test(test_lopsided_loads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
