/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of every kind of network against a breadth-first search of its
 * links. */
#include "base/text.h"
#include "topology/network/networks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define FAR 1000000

/* The number of links on the shortest route from `from` to each switch,
 * computed by relaxation: slow, but independent of the tested code. */
static int32_t *shortest(const struct nw_network *n, int32_t from)
{
    int32_t *far = malloc((size_t)n->switch_count * sizeof *far);
    bool changed = true;

    for (int32_t s = 0; s < n->switch_count; s++)
        far[s] = s == from ? 0 : FAR;
    while (changed) {
        changed = false;
        for (int32_t l = 0; l < n->link_count; l++) {
            int32_t a = n->link_a[l], b = n->link_b[l];

            if (far[a] + 1 < far[b] || far[b] + 1 < far[a]) {
                changed = true;
                if (far[a] < far[b])
                    far[b] = far[a] + 1;
                else
                    far[a] = far[b] + 1;
            }
        }
    }
    return far;
}

/* Returns the first port of a node, which is connected to switch `at`. */
static struct nw_network_end end_at(int32_t at, int32_t node)
{
    return (struct nw_network_end){at, node, 0};
}

/* Checks that the route is a chain of links from a to b that visits no switch
 * twice; returns its length. */
static size_t check_route(const struct nw_network *n, int32_t a, int32_t b,
                          int32_t key)
{
    uint32_t *hops = malloc(((size_t)n->diameter + 1) * sizeof *hops);
    bool *seen = calloc((size_t)n->switch_count, sizeof *seen);
    size_t count = n->ops->route(n, a, end_at(b, key), hops);

    assert_true(count <= (size_t)n->diameter);
    seen[a] = true;
    for (size_t i = 0; i < count; i++) {
        int32_t link = (int32_t)(hops[i] / 2);
        bool back = hops[i] & 1;

        assert_true(link < n->link_count);
        assert_int_equal(back ? n->link_b[link] : n->link_a[link], a);
        a = back ? n->link_a[link] : n->link_b[link];
        assert_false(seen[a]);
        seen[a] = true;
    }
    assert_int_equal(a, b);
    free(hops);
    free(seen);
    return count;
}

/* Checks the routes of all pairs of the first `ends` switches. `minimal`: also
 * checks that no shorter route exists. */
static void check_all(const struct nw_network *n, int32_t ends, bool minimal)
{
    int32_t longest = 0;

    for (int32_t a = 0; a < ends; a++) {
        int32_t *far = shortest(n, a);

        for (int32_t b = 0; b < ends; b++)
            for (int32_t key = 0; key < 7; key++) {
                int32_t distance = n->ops->distance(n, a, end_at(b, key));

                assert_int_equal(check_route(n, a, b, key), distance);
                assert_int_equal(distance,
                                 n->ops->distance(n, b, end_at(a, key)));
                if (minimal)
                    assert_int_equal(distance, far[b]);
                else
                    assert_true(distance >= far[b]);
                longest = distance > longest ? distance : longest;
            }
        free(far);
    }
    assert_true(longest <= n->diameter);
}

static struct nw_network *fat_tree(const struct nw_fat_tree *shape)
{
    struct nw_network *n = NULL;

    assert_int_equal(nw_network_fat_tree(shape, &n), NW_OK);
    assert_int_equal(n->switch_count, nw_fat_tree_switches(shape));
    assert_int_equal(n->link_count, nw_fat_tree_links(shape));
    return n;
}

static void fat_trees_are_shortest(void **state)
{
    static const struct nw_fat_tree shapes[] = {
        {1, {{2, 2, 1, 0}}},
        {1, {{5, 3, 2, 0}}},
        {2, {{3, 2, 1, 0}, {4, 3, 2, 0}}},
        {3, {{2, 2, 1, 0}, {2, 3, 1, 0}, {3, 1, 3, 0}}},
        {1, {{1, 4, 1, 0}}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct nw_network *n = fat_tree(&shapes[i]);

        check_all(n, nw_fat_tree_leaves(&shapes[i]), true);
        nw_network_free(n);
    }
}

/* Zahavi 2010: with D-mod-K, on a tree of full bandwidth no two messages of a
 * shift permutation share a link. 4 nodes a leaf, 4 up everywhere. */
static void shifts_do_not_collide(void **state)
{
    struct nw_fat_tree shape = {2, {{4, 4, 1, 0}, {4, 4, 1, 0}}};
    struct nw_network *n = fat_tree(&shape);
    int *load = malloc(2 * (size_t)n->link_count * sizeof *load);

    (void)state;
    for (int32_t shift = 1; shift < 64; shift++) {
        memset(load, 0, 2 * (size_t)n->link_count * sizeof *load);
        for (int32_t i = 0; i < 64; i++) {
            int32_t to = (i + shift) % 64;
            uint32_t hops[4];
            size_t count = n->ops->route(n, i / 4, end_at(to / 4, to), hops);

            for (size_t h = 0; h < count; h++)
                assert_int_equal(load[hops[h]]++, 0);
        }
    }
    free(load);
    nw_network_free(n);
}

static void tori_are_shortest(void **state)
{
    static const struct nw_torus shapes[] = {
        {1, {7}, {true}, {0}},
        {1, {6}, {false}, {0}},
        {2, {4, 4}, {true, true}, {0}},
        {3, {2, 3, 5}, {true, false, true}, {0}},
        {3, {1, 4, 2}, {true, true, false}, {0}},
        {5, {2, 2, 3, 2, 2}, {true, true, true, true, true}, {0}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct nw_network *n;

        assert_int_equal(nw_network_torus(&shapes[i], &n), NW_OK);
        check_all(n, n->switch_count, true);
        nw_network_free(n);
    }
}

/* On a ring of even length, messages of all nodes to the opposite node load
 * both directions equally. */
static void half_way_round_is_balanced(void **state)
{
    struct nw_torus shape = {1, {8}, {true}, {0}};
    struct nw_network *n;
    int load[16] = {0};

    (void)state;
    assert_int_equal(nw_network_torus(&shape, &n), NW_OK);
    for (int32_t s = 0; s < 8; s++) {
        uint32_t hops[4];

        assert_int_equal(n->ops->route(n, s, end_at((s + 4) % 8, 0), hops), 4);
        for (int h = 0; h < 4; h++)
            load[hops[h]]++;
    }
    for (int i = 0; i < 16; i++)
        assert_int_equal(load[i], 2);
    nw_network_free(n);
}

static void torus_names_its_coordinates(void **state)
{
    struct nw_torus shape = {3, {2, 3, 4}, {true, true, true}, {0}};
    struct nw_network *n;

    (void)state;
    assert_int_equal(nw_network_torus(&shape, &n), NW_OK);
    assert_string_equal(n->switch_name[0], "t0.0.0");
    assert_string_equal(n->switch_name[1 * 12 + 2 * 4 + 3], "t1.2.3");
    nw_network_free(n);
}

/* The least number of links of a route with at most one global link. */
static int32_t by_one_global(const struct nw_network *n,
                             const struct nw_dragonfly *shape, int32_t a,
                             int32_t b)
{
    int32_t least = FAR;

    if (a / shape->routers == b / shape->routers)
        return a != b;
    for (int32_t l = 0; l < n->link_count; l++) {
        int32_t x = n->link_a[l], y = n->link_b[l];
        int32_t length;

        if (x / shape->routers != a / shape->routers) {
            x = n->link_b[l];
            y = n->link_a[l];
        }
        if (x / shape->routers != a / shape->routers ||
            y / shape->routers != b / shape->routers)
            continue;
        length = (x != a) + 1 + (y != b);
        least = length < least ? length : least;
    }
    return least;
}

static void dragonflies_are_minimal(void **state)
{
    static const struct nw_dragonfly shapes[] = {
        {9, 4, 2, 0, 0}, {3, 4, 2, 0, 0}, {5, 2, 2, 0, 0},
        {1, 6, 1, 0, 0}, {2, 3, 5, 0, 0}, {4, 1, 3, 0, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct nw_network *n;

        assert_int_equal(nw_network_dragonfly(&shapes[i], &n), NW_OK);
        check_all(n, n->switch_count, false);
        for (int32_t a = 0; a < n->switch_count; a++)
            for (int32_t b = 0; b < n->switch_count; b++)
                assert_int_equal(n->ops->distance(n, a, end_at(b, a + b)),
                                 by_one_global(n, &shapes[i], a, b));
        nw_network_free(n);
    }
}

/* No router has more global links than the shape gives it, and each two groups
 * are connected by the same number. */
static void dragonflies_use_their_ports(void **state)
{
    struct nw_dragonfly shape = {5, 4, 3, 0, 0};
    struct nw_network *n;
    int ports[20] = {0}, pairs[5][5] = {{0}};

    (void)state;
    assert_int_equal(nw_dragonfly_rounds(&shape), 3);
    assert_int_equal(nw_network_dragonfly(&shape, &n), NW_OK);
    for (int32_t l = 0; l < n->link_count; l++) {
        int32_t a = n->link_a[l], b = n->link_b[l];

        if (a / 4 == b / 4)
            continue;
        ports[a]++;
        ports[b]++;
        pairs[a / 4][b / 4]++;
        pairs[b / 4][a / 4]++;
    }
    for (int i = 0; i < 20; i++)
        assert_true(ports[i] <= 3);
    for (int i = 0; i < 5; i++)
        for (int j = 0; j < 5; j++)
            assert_int_equal(pairs[i][j], i == j ? 0 : 3);
    nw_network_free(n);
}

static struct nw_network *bare(int32_t switches)
{
    struct nw_network *n;

    assert_int_equal(nw_network_new(switches, &n), NW_OK);
    for (int32_t s = 0; s < switches; s++)
        assert_int_equal(nw_network_name(n, s, "s%d", s), NW_OK);
    return n;
}

static void add(struct nw_network *n, int32_t a, int32_t b)
{
    int32_t link;

    assert_int_equal(nw_network_add_link(n, a, b, 0, &link), NW_OK);
}

static void graphs_are_shortest(void **state)
{
    struct nw_network *n = bare(10);

    (void)state;
    for (int32_t s = 0; s < 5; s++) { /* Petersen's graph: diameter 2 */
        add(n, s, (s + 1) % 5);
        add(n, s, s + 5);
        add(n, s + 5, (s + 2) % 5 + 5);
    }
    assert_int_equal(nw_network_finish_graph(n, true), NW_OK);
    assert_int_equal(n->diameter, 2);
    check_all(n, 10, true);
    nw_network_free(n);
}

/* Two leaf switches with three shortest routes between them: routes are spread
 * by destination, or the first is always taken. */
static void ties_go_as_asked(void **state)
{
    (void)state;
    for (int spread = 0; spread < 2; spread++) {
        struct nw_network *n = bare(5);

        for (int32_t s = 2; s < 5; s++) {
            add(n, 0, s);
            add(n, s, 1);
        }
        assert_int_equal(nw_network_finish_graph(n, spread), NW_OK);
        for (int32_t key = 0; key < 6; key++) {
            uint32_t hops[2];

            assert_int_equal(n->ops->route(n, 0, end_at(1, key), hops), 2);
            assert_int_equal(hops[0] / 2, spread ? 2 * (key % 3) : 0);
        }
        nw_network_free(n);
    }
}

static void graphs_may_fall_apart_but_not_be_endless(void **state)
{
    struct nw_network *n = bare(3);

    (void)state;
    add(n, 0, 1);
    assert_int_equal(nw_network_finish_graph(n, true), NW_OK);
    assert_int_equal(n->component_count, 2);
    assert_int_equal(n->component[0], n->component[1]);
    assert_int_not_equal(n->component[0], n->component[2]);
    assert_int_equal(n->diameter, 1);
    nw_network_free(n);
    n = bare(300);
    for (int32_t s = 1; s < 300; s++)
        add(n, s - 1, s);
    assert_int_equal(nw_network_finish_graph(n, true), NW_EFORMAT);
    nw_network_free(n);
}

/* Reads the coordinates of all ranks of a route file: five of the torus, then
 * the core. */
static int read_coordinates(FILE *file, int coordinates[][5], int count)
{
    char line[256];
    int largest = -1;

    while (fgets(line, sizeof line, file)) {
        char *at = strchr(line, ']');

        for (int end = 0; at && end < 2; end++) {
            int rank, c[5], used = 0;

            if (sscanf(at + (end ? 3 : 1), "%d (%d %d %d %d %d %*d)%n", &rank,
                       &c[0], &c[1], &c[2], &c[3], &c[4], &used) != 6)
                break;
            assert_true(rank < count);
            memcpy(coordinates[rank], c, sizeof c);
            largest = rank > largest ? rank : largest;
            at = strstr(at, "->");
        }
    }
    return largest + 1;
}

static int32_t switch_at(const struct nw_torus *shape, const int *coordinates)
{
    int32_t s = 0;

    for (int d = 0; d < 5; d++)
        s = s * shape->size[d] + coordinates[d];
    return s;
}

static FILE *open_shared(const char *name)
{
    const char *folder = getenv("NW_SHARED"), *source = getenv("NW_SOURCE");
    char path[512];

    snprintf(path, sizeof path, "%s%s/data/patterns/%s",
             folder ? folder : (source ? source : "."),
             folder ? "" : "/../shared", name);
    return fopen(path, "r");
}

/* The numbers of hops that Blue Gene/Q recorded are our distances. */
static void vesta_counted_the_same_hops(void **state)
{
    int coordinates[1024][5], src, dst, hops, edges = 0;
    struct nw_torus shape = {5, {0}, {1, 1, 1, 1, 1}, {0}};
    struct nw_network *n;
    char line[128];
    FILE *file;
    int ranks;

    (void)state;
    file = open_shared("route_MiniAMR_Vesta_n32_c4_s1_route.txt");
    if (!file) {
        print_message("no recorded routes here\n");
        skip();
    }
    memset(coordinates, 0, sizeof coordinates);
    ranks = read_coordinates(file, coordinates, 1024);
    fclose(file);
    for (int r = 0; r < ranks; r++)
        for (int d = 0; d < 5; d++)
            if (coordinates[r][d] >= shape.size[d])
                shape.size[d] = coordinates[r][d] + 1;
    assert_int_equal(nw_network_torus(&shape, &n), NW_OK);
    assert_int_equal(n->switch_count, 32);
    file = open_shared("hopbyte_MiniAMR_Vesta_n32_c4_s1_hopbyte.txt");
    assert_non_null(file);
    while (fgets(line, sizeof line, file)) {
        assert_int_equal(sscanf(line, "%d %d %*f %d", &src, &dst, &hops), 3);
        assert_int_equal(
            n->ops->distance(n, switch_at(&shape, coordinates[src]),
                             end_at(switch_at(&shape, coordinates[dst]), 0)),
            hops);
        edges++;
    }
    assert_int_equal(edges, 2222);
    fclose(file);
    nw_network_free(n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fat_trees_are_shortest),
        cmocka_unit_test(shifts_do_not_collide),
        cmocka_unit_test(tori_are_shortest),
        cmocka_unit_test(half_way_round_is_balanced),
        cmocka_unit_test(torus_names_its_coordinates),
        cmocka_unit_test(dragonflies_are_minimal),
        cmocka_unit_test(dragonflies_use_their_ports),
        cmocka_unit_test(graphs_are_shortest),
        cmocka_unit_test(ties_go_as_asked),
        cmocka_unit_test(graphs_may_fall_apart_but_not_be_endless),
        cmocka_unit_test(vesta_counted_the_same_hops),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
