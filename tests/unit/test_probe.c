/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the tournament against its definition, of the tree of switches
 * against generated networks whose figures do not say where the switches are,
 * and of damaged records. */
#include <nodewise/probe.h>
#include <nodewise/topology.h>

#include "base/file.h"
#include "base/random.h"
#include "probe/groups.h"
#include "probe/schedule.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Each rank meets each other rank once, and meets no two in one round. */
static void test_tournament(void **state)
{
    (void)state;
    for (int32_t n = 2; n < 40; n++) {
        unsigned char met[40][40] = {{0}};

        assert_int_equal(nw_probe_rounds(n), n % 2 ? n : n - 1);
        for (int32_t r = 0; r < nw_probe_rounds(n); r++)
            for (int32_t a = 0; a < n; a++) {
                int32_t b = nw_probe_opponent(n, r, a);

                if (b < 0)
                    continue;
                assert_int_not_equal(a, b);
                assert_int_equal(nw_probe_opponent(n, r, b), a);
                met[a][b]++;
            }
        for (int32_t a = 0; a < n; a++)
            for (int32_t b = 0; b < n; b++)
                assert_int_equal(met[a][b], a != b);
    }
}

static void test_waves(void **state)
{
    /* pairs of hosts: 0-1, 2-3, 0-0, 1-2, 3-0 */
    int32_t host[] = {0, 1, 2, 3, 0, 0, 1, 2, 3, 0}, wave[5];
    unsigned char busy[5 * 4];
    struct nw_probe_waves waves = {host, 5, 4, busy};
    int32_t count = nw_probe_share_out(&waves, wave);

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_true(wave[i] >= 0 && wave[i] < count);
        for (int j = 0; j < i; j++)
            if (wave[i] == wave[j])
                for (int k = 0; k < 4; k++)
                    assert_int_not_equal(host[2 * i + k / 2],
                                         host[2 * j + k % 2]);
    }
    assert_int_equal(count, 3); /* host 0 is in three pairs */
}

static void take(nw_probe *probe, const char *format, ...)
{
    char line[512] = "@nodewise-probe ";
    va_list arguments;
    bool taken;

    va_start(arguments, format);
    vsnprintf(line + strlen(line), sizeof line - strlen(line), format,
              arguments);
    va_end(arguments);
    assert_int_equal(nw_probe_take_line(probe, line, &taken), NW_OK);
    assert_true(taken);
}

/* A network of hosts in random order on leaf switches, two of which form a pod;
 * measured rates have 8 % of noise. */
struct network {
    int hosts, leaves;
    int leaf[64];
    double rate[3];    /* within a leaf, within a pod, between pods */
    double latency[3]; /* likewise */
};

static int level(const struct network *net, int a, int b)
{
    return net->leaf[a] == net->leaf[b]           ? 0
           : net->leaf[a] / 2 == net->leaf[b] / 2 ? 1
                                                  : 2;
}

static nw_probe *measure(const struct network *net, struct nw_random *random)
{
    nw_probe *probe;

    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks %d", net->hosts);
    for (int h = 0; h < net->hosts; h++)
        take(probe, "rank %d h%d 2 8 0 -1 -1 0", h, h);
    for (int a = 0; a < net->hosts; a++)
        for (int b = 0; b < net->hosts; b++) {
            double noise = 0.96 + 0.08 * nw_random_unit(random);
            int l = level(net, a, b);

            if (a == b)
                continue;
            take(probe, "stream host 0 %d %d %g", a, b, net->rate[l] * noise);
            if (a < b)
                take(probe,
                     "pair host %d %d 0.01 %g 1e-7 1e-7 2e-5 1e-7 1e-7 4e-5 "
                     "1e-7 1e-7 1e-4 1e-7 1e-7",
                     a, b, net->latency[l] * noise);
        }
    take(probe, "done");
    return probe;
}

static void make_network(struct network *net, int per_leaf,
                         struct nw_random *random)
{
    int32_t order[64];

    net->hosts = net->leaves * per_leaf;
    for (int h = 0; h < net->hosts; h++)
        order[h] = h;
    nw_random_shuffle(random, order, (size_t)net->hosts);
    for (int h = 0; h < net->hosts; h++)
        net->leaf[order[h]] = h / per_leaf;
}

/* Checks that two hosts are in one group exactly if they are below one
 * switch. */
static void compare(const struct network *net,
                    const struct nw_probe_groups *groups)
{
    for (int a = 0; a < net->hosts; a++)
        for (int b = 0; b < net->hosts; b++)
            for (int c = 0; c < net->hosts; c++) {
                int32_t x, y;

                if (a == b || a == c)
                    continue;
                x = nw_probe_groups_meet(groups, a, b);
                y = nw_probe_groups_meet(groups, a, c);
                assert_int_equal(level(net, a, b) == level(net, a, c), x == y);
                assert_int_equal(level(net, a, b) < level(net, a, c),
                                 x != y && nw_probe_groups_below(groups, x, y));
            }
}

static void test_groups_by_rate(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int i = 0; i < 20; i++) {
        struct network net = {.leaves = 4,
                              .rate = {120e6, 60e6, 12e6},
                              .latency = {2e-5, 2e-5, 2e-5}};
        struct nw_probe_groups groups;
        nw_probe *probe;

        make_network(&net, 2 + i % 4, &random);
        probe = measure(&net, &random);
        assert_int_equal(nw_probe_groups_find(probe, NW_PROBE_HOST, &groups),
                         NW_OK);
        compare(&net, &groups);
        assert_true(groups.untidy == 0);
        nw_probe_groups_fini(&groups);
        nw_probe_free(probe);
    }
}

/* With full bandwidth everywhere, only latency shows the groups. */
static void test_groups_by_latency(void **state)
{
    struct network net = {
        .leaves = 4, .rate = {12e9, 12e9, 12e9}, .latency = {1e-6, 2e-6, 4e-6}};
    struct nw_probe_groups groups;
    struct nw_random random;
    nw_probe *probe;

    (void)state;
    nw_random_init(&random, 8);
    make_network(&net, 4, &random);
    probe = measure(&net, &random);
    assert_int_equal(nw_probe_groups_find(probe, NW_PROBE_HOST, &groups),
                     NW_OK);
    compare(&net, &groups);
    nw_probe_groups_fini(&groups);
    nw_probe_free(probe);
}

static nw_topology *load(const nw_probe *probe)
{
    char path[] = "/tmp/nw-probe-XXXXXX.yaml", *text;
    nw_topology *topology;
    int file = mkstemps(path, 5);

    assert_true(file >= 0);
    close(file);
    assert_int_equal(nw_probe_cluster(probe, &text), NW_OK);
    assert_int_equal(nw_file_write(path, text, strlen(text)), NW_OK);
    if (nw_topology_load(path, NULL, &topology))
        fail_msg("%s\n%s", nw_error_text(), text);
    unlink(path);
    free(text);
    return topology;
}

/* The smallest bandwidth on the route. */
static double narrowest(const nw_topology *topology, const char *a,
                        const char *b)
{
    uint32_t hops[64];
    int32_t from =
        nw_topology_node_elements(topology, nw_topology_node_find(topology, a))
            .first;
    int32_t to =
        nw_topology_node_elements(topology, nw_topology_node_find(topology, b))
            .first;
    size_t count =
        nw_topology_route(topology, nw_topology_element_end(topology, from),
                          nw_topology_element_end(topology, to), hops);
    double least = 1e30;

    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(topology, (int32_t)(hops[i] / 2));

        if (link.bandwidth[hops[i] % 2] < least)
            least = link.bandwidth[hops[i] % 2];
    }
    return least;
}

/* The network has two leaf switches with two hosts each. If two flows run at
 * once, they share the bandwidth that a single flow would have. */
static void test_cluster(void **state)
{
    struct network net = {.leaves = 2,
                          .hosts = 4,
                          .leaf = {0, 2, 0, 2},
                          .rate = {120e6, 60e6, 12e6},
                          .latency = {2e-5, 2e-5, 3e-5}};
    struct nw_random random;
    nw_topology *topology;
    nw_probe *probe;
    char *text;
    double rate;

    (void)state;
    nw_random_init(&random, 9);
    probe = measure(&net, &random);
    take(probe, "stream host 1 0 1 6.1e6");
    take(probe, "stream host 1 2 3 5.9e6");
    assert_int_equal(nw_probe_summary(probe, &text), NW_OK);
    assert_non_null(strstr(text, "shared by its flows"));
    free(text);
    topology = load(probe);
    assert_int_equal(nw_topology_node_count(topology), 4);
    assert_int_equal(nw_topology_element_count(topology), 32);
    rate = narrowest(topology, "h0", "h2");
    assert_true(rate > 110e6 && rate < 130e6);
    rate = narrowest(topology, "h0", "h1");
    assert_true(rate > 11e6 && rate < 13e6);
    nw_topology_free(topology);
    nw_probe_free(probe);
}

/* Bandwidths of ports where adjacent ones are nearly equal but the lowest and
 * the highest are not: every host is named once, in any order. */
static void test_uneven_ports(void **state)
{
    static const double port[] = {100e6, 112e6, 125e6, 125e6};

    (void)state;
    for (int turn = 0; turn < 4 * 3; turn++) {
        int place[4] = {0, 1, 2, 3}, other = turn / 4 + 1;
        nw_topology *topology;
        nw_probe *probe;

        place[turn % 4] = place[(turn % 4 + other) % 4];
        place[(turn % 4 + other) % 4] = turn % 4;
        assert_int_equal(nw_probe_new(&probe), NW_OK);
        take(probe, "ranks 4");
        for (int h = 0; h < 4; h++)
            take(probe, "rank %d h%d 1 8 0 -1 -1 0", h, h);
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                if (a != b)
                    take(probe, "stream host 0 %d %d %g", a, b,
                         fmin(port[place[a]], port[place[b]]));
        take(probe, "done");
        topology = load(probe);
        assert_int_equal(nw_topology_node_count(topology), 4);
        for (int h = 0; h < 4; h++) {
            char name[] = {'h', (char)('0' + h), '\0'};

            assert_true(nw_topology_node_find(topology, name) >= 0);
        }
        nw_topology_free(topology);
        nw_probe_free(probe);
    }
}

/* The network has a link with four times the bandwidth of a single flow. */
static void test_wide_link(void **state)
{
    struct network net = {.leaves = 2,
                          .hosts = 8,
                          .leaf = {0, 0, 0, 0, 2, 2, 2, 2},
                          .rate = {120e6, 60e6, 12e6},
                          .latency = {2e-5, 2e-5, 3e-5}};
    struct nw_probe_groups groups;
    struct nw_random random;
    nw_probe *probe;

    (void)state;
    nw_random_init(&random, 10);
    probe = measure(&net, &random);
    for (int h = 0; h < 4; h++)
        take(probe, "stream host 1 %d %d 12e6", h, h + 4);
    assert_int_equal(nw_probe_groups_find(probe, NW_PROBE_HOST, &groups),
                     NW_OK);
    assert_int_equal(groups.count, 8 + 3);
    for (int g = 8; g < 10; g++)
        assert_false(groups.group[g].shared);
    assert_true(groups.group[8].up[0] == 48e6 || groups.group[9].up[0] == 48e6);
    nw_probe_groups_fini(&groups);
    nw_probe_free(probe);
}

static void assert_near(double value, double wanted, double within)
{
    if (!(fabs(value - wanted) <= within))
        fail_msg("%g, not %g", value, wanted);
}

static void take_inside(nw_probe *probe, int a, int b, double latency)
{
    take(probe,
         "pair host %d %d 0.01 %g 1e-7 1e-7 2e-5 1e-7 1e-7 4e-5 1e-7 1e-7 "
         "54.336e-6 1e-7 1e-7",
         a, b, latency); /* the last two times: 114688 bytes in 14.336 us are
                            8 GB/s */
}

/* Two hosts with two packages each; ranks alternate between the packages after
 * each two ranks or after each rank. */
static nw_probe *measure_two(int of_package, bool streams)
{
    nw_probe *probe;
    int each = 2 * of_package;

    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks %d", 2 * each);
    for (int r = 0; r < 2 * each; r++)
        take(probe, "rank %d h%d 2 8 0 %d %d 0", r, r / each, r,
             r % each / of_package);
    for (int a = 0; a < 2 * each; a++)
        for (int b = a + 1; b < 2 * each; b++)
            take_inside(probe, a, b,
                        a / each != b / each               ? 2e-6
                        : a / of_package == b / of_package ? 4e-7
                                                           : 6e-7);
    take(probe, "stream host 0 0 %d 24e9", each);
    take(probe, "stream host 0 %d 0 24e9", each);
    for (int r = 1; streams && r < each; r++)
        take(probe, "stream host 0 0 %d %g", r, r < of_package ? 9e9 : 8e9);
    take(probe, "done");
    return probe;
}

static double latency_between(const nw_topology *topology, int32_t a, int32_t b)
{
    uint32_t hops[64];
    size_t count =
        nw_topology_route(topology, nw_topology_element_end(topology, a),
                          nw_topology_element_end(topology, b), hops);
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += nw_topology_link(topology, (int32_t)(hops[i] / 2)).latency;
    return sum;
}

/* A route in the written file has the measured figures, whichever pairs inside
 * hosts were measured: pairs within a package, across two, or both. */
static void test_inside(void **state)
{
    (void)state;
    for (int of_package = 1; of_package <= 2; of_package++) {
        nw_probe *probe = measure_two(of_package, true);
        nw_topology *topology = load(probe);

        if (of_package > 1)
            assert_near(latency_between(topology, 0, 1), 4e-7, 1e-10);
        assert_near(latency_between(topology, 0, 4), 6e-7, 1e-10);
        assert_near(latency_between(topology, 0, 8), 2e-6, 1e-10);
        assert_near(latency_between(topology, 0, 12), 2e-6, 1e-10);
        assert_near(narrowest(topology, "h0", "h1"), 24e9, 1e6);
        nw_topology_free(topology);
        nw_probe_free(probe);
    }
}

/* With one GPU and one rank per package, routes between the GPUs lead across
 * packages. */
static void test_gpus_across(void **state)
{
    uint32_t hops[64];
    nw_topology *topology;
    nw_probe *probe;
    double latency = 0, least = 1e30;
    size_t count;

    (void)state;
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks 2");
    for (int r = 0; r < 2; r++)
        take(probe, "rank %d h0 2 8 2 %d %d 0", r, 4 * r, r);
    take_inside(probe, 0, 1, 6e-7);
    take(probe, "stream host 0 0 1 8e9");
    take(probe, "pair gpu 0 1 0.01 5e-6 1e-7 1e-7 2e-5 1e-7 1e-7 4e-5 1e-7 "
                "1e-7 1e-4 1e-7 1e-7");
    take(probe, "stream gpu 0 0 1 11e9");
    take(probe, "stream gpu 0 1 0 11e9");
    take(probe, "done");
    topology = load(probe);
    assert_int_equal(nw_topology_gpu_count(topology), 2);
    count = nw_topology_route(topology, nw_topology_gpu_end(topology, 0),
                              nw_topology_gpu_end(topology, 1), hops);
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link =
            nw_topology_link(topology, (int32_t)(hops[i] / 2));

        latency += link.latency;
        least = fmin(least, link.bandwidth[hops[i] % 2]);
    }
    assert_near(latency, 5e-6, 1e-9);
    assert_near(least, 11e9, 1e6);
    nw_topology_free(topology);
    nw_probe_free(probe);
}

/* The time of 1 MiB between two packages does not apply to pairs within one;
 * without streams, the slope of the messages' own times gives it. */
static void test_matrix_inside(void **state)
{
    (void)state;
    for (int streams = 0; streams < 2; streams++) {
        nw_probe *probe = measure_two(2, streams);
        double cell[8];
        char *text, *at;

        assert_int_equal(nw_probe_matrix(probe, &text), NW_OK);
        at = strchr(text, '\n'); /* the row of rank 1, which has no stream */
        for (int i = 0; i < 8; i++)
            cell[i] = strtod(at, &at);
        assert_near(cell[0], 0.4 + 1048576 / (streams ? 9e3 : 8e3), 1e-3);
        assert_near(cell[2], 0.6 + 1048576 / 8e3, 1e-3);
        assert_near(cell[4], 2 + 1048576 / 24e3, 1e-3);
        free(text);
        nw_probe_free(probe);
    }
}

static void test_matrix_and_troubles(void **state)
{
    struct network net = {.leaves = 1,
                          .hosts = 6,
                          .rate = {100e6, 100e6, 100e6},
                          .latency = {1e-5, 1e-5, 1e-5}};
    struct nw_random random;
    double first = -1, second = 0;
    nw_probe *probe;
    char *text;

    (void)state;
    nw_random_init(&random, 11);
    probe = measure(&net, &random);
    assert_int_equal(nw_probe_matrix(probe, &text), NW_OK);
    assert_int_equal(sscanf(text, "%lf %lf", &first, &second), 2);
    assert_true(first == 0 && second > 9900 && second < 11000);
    free(text);
    assert_int_equal(nw_probe_troubles(probe, &text), NW_OK);
    assert_null(text);
    for (int b = 0; b < 5; b++)
        for (int k = 0; k < 3; k++)
            take(probe,
                 "pair host %d 5 0.01 1e-4 1e-7 1e-7 2e-5 1e-7 1e-7 4e-5 1e-7 "
                 "1e-7 1e-4 1e-7 1e-7",
                 b);
    take(probe, "lost 2 does not answer any more");
    assert_int_equal(nw_probe_troubles(probe, &text), NW_OK);
    assert_non_null(strstr(text, "rank 2 on h2 was lost: does not answer"));
    assert_non_null(strstr(text, "rank 5 on h5 is slow"));
    assert_null(strstr(text, "rank 1 "));
    free(text);
    nw_probe_free(probe);
}

/* Messages between packages are slower than those inside; a rank that is alone
 * in its package is not slow for that, and a slow rank is found in either. */
static void test_slow_inside(void **state)
{
    (void)state;
    for (int alone = 0; alone < 2; alone++) {
        int ranks = alone ? 4 : 8;
        nw_probe *probe;
        char *text;

        assert_int_equal(nw_probe_new(&probe), NW_OK);
        take(probe, "ranks %d", ranks);
        for (int r = 0; r < ranks; r++)
            take(probe, "rank %d h0 2 8 0 %d %d 0", r, r,
                 alone ? r == 3 : r / 4);
        for (int a = 0; a < ranks; a++)
            for (int b = a + 1; b < ranks; b++)
                take_inside(probe, a, b,
                            !alone && b == 7                   ? 8e-6
                            : (alone ? b == 3 : b / 4 > a / 4) ? 2e-6
                                                               : 4e-7);
        assert_int_equal(nw_probe_troubles(probe, &text), NW_OK);
        if (alone && text)
            fail_msg("%s", text);
        assert_true(alone || (strstr(text, "rank 7 on h0 is slow") &&
                              !strchr(strchr(text, '\n') + 1, '\n')));
        free(text);
        nw_probe_free(probe);
    }
}

/* Times of GPU messages do not count among those of host messages. */
static void test_summary_memories(void **state)
{
    nw_probe *probe;
    char *text;

    (void)state;
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks 2");
    for (int r = 0; r < 2; r++)
        take(probe, "rank %d h0 1 8 2 %d 0 0", r, r);
    take_inside(probe, 0, 1, 4e-7);
    for (int i = 0; i < 2; i++)
        take(probe, "pair gpu 0 1 0.01 5e-3 1e-3 1e-3 5e-3 1e-3 1e-3 5e-3 1e-3 "
                    "1e-3 5e-3 1e-3 1e-3");
    assert_int_equal(nw_probe_summary(probe, &text), NW_OK);
    if (!strstr(text, "\n  8         400 ns "))
        fail_msg("%s", text);
    free(text);
    nw_probe_free(probe);
}

/* If the time ends before the first measurement, a line says that nothing was
 * measured. If there are no streams, and larger messages take no longer, the
 * summary names no bandwidth. */
static void test_no_time(void **state)
{
    nw_probe *probe;
    char *text;

    (void)state;
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks 2");
    for (int r = 0; r < 2; r++)
        take(probe, "rank %d h0 1 8 2 %d 0 0", r, r);
    assert_int_equal(nw_probe_troubles(probe, &text), NW_OK);
    assert_non_null(text);
    assert_non_null(strstr(text, "no link was measured"));
    free(text);
    take(probe, "pair host 0 1 0.01 4e-7 1e-7 1e-7 4e-7 1e-7 1e-7 4e-7 1e-7 "
                "1e-7 4e-7 1e-7 1e-7");
    assert_int_equal(nw_probe_troubles(probe, &text), NW_OK);
    assert_null(text);
    assert_int_equal(nw_probe_summary(probe, &text), NW_OK);
    assert_non_null(strstr(text, "in a host: bandwidth not measured, 400 ns"));
    free(text);
    nw_probe_free(probe);
}

/* If ranks end one after the other, the first is named; that the leader gives
 * it up later is not a second loss. */
static void test_dead(void **state)
{
    nw_probe *probe;

    (void)state;
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks 4");
    take(probe, "died 3 it ended without a word");
    take(probe, "died 0 it ended without a word");
    take(probe, "died 99 no such rank");
    take(probe, "lost 3 does not answer any more");
    assert_string_equal(probe->rank[3].lost, "it ended without a word");
    assert_null(probe->rank[0].lost);
    assert_false(nw_probe_is_headless(probe));
    nw_probe_free(probe);
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    take(probe, "ranks 2");
    take(probe, "died 0 it was stopped");
    assert_true(nw_probe_is_headless(probe));
    nw_probe_free(probe);
}

static void test_damaged(void **state)
{
    static const char *const bad[] = {
        "",
        "what",
        "ranks 3",
        "ranks 0",
        "rank 0 h0 1 1 0 -1 -1 0",
        "rank 7 h0 1 1 0 -1 -1 0",
        "rank 1 h0 9 1 0 -1 -1 0",
        "rank 1 h0 1",
        "pair host 0 0 1 1 1 1 1 1 1 1 1 1 1 1 1",
        "pair host 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1", /* rank 1 is unknown */
        "stream host 0 0 0 1e6",
        "stream disk 0 0 1 1e6",
        "stream host -1 0 1 1e6",
        "stream host 0 0 2 nan",
        "stage pairs 1",
        "lost 9 x"};
    nw_probe *probe;
    bool taken;
    char *text;

    (void)state;
    assert_int_equal(nw_probe_new(&probe), NW_OK);
    assert_int_equal(nw_probe_cluster(probe, &text), NW_EFORMAT);
    take(probe, "ranks 3");
    take(probe, "rank 0 h0 1 1 0 -1 -1 0");
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char line[256];

        snprintf(line, sizeof line, "@nodewise-probe %s", bad[i]);
        if (nw_probe_take_line(probe, line, &taken) != NW_EFORMAT)
            fail_msg("taken: %s", bad[i]);
    }
    assert_int_equal(nw_probe_take_line(probe, "hello", &taken), NW_OK);
    assert_false(taken);
    nw_probe_free(probe);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tournament),
        cmocka_unit_test(test_waves),
        cmocka_unit_test(test_groups_by_rate),
        cmocka_unit_test(test_groups_by_latency),
        cmocka_unit_test(test_cluster),
        cmocka_unit_test(test_uneven_ports),
        cmocka_unit_test(test_wide_link),
        cmocka_unit_test(test_inside),
        cmocka_unit_test(test_gpus_across),
        cmocka_unit_test(test_matrix_inside),
        cmocka_unit_test(test_matrix_and_troubles),
        cmocka_unit_test(test_slow_inside),
        cmocka_unit_test(test_summary_memories),
        cmocka_unit_test(test_no_time),
        cmocka_unit_test(test_dead),
        cmocka_unit_test(test_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
