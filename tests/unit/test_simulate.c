/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of simulated times against results worked by hand, and of random
 * instances against a small solver of the test: progressive filling between
 * arrivals. */
#include "base/array.h"
#include "base/random.h"
#include "simulate/traffic.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_FLOWS 40
#define MOST_LINKS 12
#define MOST_HOPS 5

/* An instance in plain arrays; link -1 ends a route. */
struct instance {
    int links, flows;
    double bandwidth[MOST_LINKS];
    double latency[MOST_FLOWS], bytes[MOST_FLOWS];
    int route[MOST_FLOWS][MOST_HOPS];
};

static int crossings(const struct instance *given, int f, int link)
{
    int count = 0;

    for (int i = 0; i < MOST_HOPS && given->route[f][i] >= 0; i++)
        count += given->route[f][i] == link;
    return count;
}

/* The share of link l for each of its flows that has no rate yet, or -1. */
static double share(const struct instance *given, const bool *active,
                    const double *rate, int l)
{
    double left = given->bandwidth[l];
    int open = 0;

    for (int f = 0; f < given->flows; f++)
        if (active[f] && rate[f] >= 0)
            left -= crossings(given, f, l) * rate[f];
        else if (active[f])
            open += crossings(given, f, l);
    return open ? left / open : -1;
}

/* Max-min fair rates: the tightest link gives equal shares to its flows, and so
 * on with the remaining capacity. */
static void fill(const struct instance *given, const bool *active, double *rate)
{
    for (int f = 0; f < given->flows; f++)
        rate[f] = -1;
    for (;;) {
        double least = INFINITY;
        int tightest = -1;

        for (int l = 0; l < given->links; l++) {
            double its = share(given, active, rate, l);

            if (its >= 0 && its < least) {
                least = its;
                tightest = l;
            }
        }
        if (tightest < 0)
            return;
        for (int f = 0; f < given->flows; f++)
            if (active[f] && rate[f] < 0 && crossings(given, f, tightest))
                rate[f] = least;
    }
}

/* Advances to the next start or arrival; false when nothing is left. */
static bool advance(const struct instance *given, double *now, double *left)
{
    bool active[MOST_FLOWS];
    double rate[MOST_FLOWS], step = INFINITY;

    for (int f = 0; f < given->flows; f++) {
        active[f] = left[f] > 0 && given->latency[f] <= *now;
        if (left[f] > 0 && !active[f])
            step = fmin(step, given->latency[f] - *now);
    }
    fill(given, active, rate);
    for (int f = 0; f < given->flows; f++)
        if (active[f])
            step = fmin(step, left[f] / rate[f]);
    if (isinf(step))
        return false;
    for (int f = 0; f < given->flows; f++)
        if (active[f])
            left[f] = left[f] / rate[f] <= step * (1 + 1e-12)
                          ? 0
                          : left[f] - rate[f] * step;
    *now += step;
    return true;
}

static double oracle(const struct instance *given)
{
    double left[MOST_FLOWS], now = 0;

    memcpy(left, given->bytes, sizeof left);
    while (advance(given, &now, left))
        ;
    return now;
}

static void build(const struct instance *given, struct nw_traffic *traffic)
{
    *traffic = (struct nw_traffic){.link_count = given->links,
                                   .flow_count = (size_t)given->flows};
    assert_int_equal(nw_alloc(MOST_LINKS, sizeof(double), &traffic->bandwidth),
                     NW_OK);
    assert_int_equal(nw_alloc(MOST_FLOWS, sizeof(double), &traffic->bytes),
                     NW_OK);
    assert_int_equal(nw_alloc(MOST_FLOWS, sizeof(double), &traffic->latency),
                     NW_OK);
    assert_int_equal(nw_alloc(MOST_FLOWS + 1, sizeof(size_t), &traffic->row),
                     NW_OK);
    assert_int_equal(
        nw_alloc(MOST_FLOWS * MOST_HOPS, sizeof(int32_t), &traffic->link),
        NW_OK);
    memcpy(traffic->bandwidth, given->bandwidth, sizeof given->bandwidth);
    memcpy(traffic->bytes, given->bytes, sizeof given->bytes);
    memcpy(traffic->latency, given->latency, sizeof given->latency);
    for (int f = 0; f < given->flows; f++) {
        size_t at = traffic->row[f];

        for (int i = 0; i < MOST_HOPS && given->route[f][i] >= 0; i++)
            traffic->link[at++] = given->route[f][i];
        traffic->row[f + 1] = at;
    }
}

static double play(const struct instance *given, double unit)
{
    struct nw_play how = {.unit = unit};
    struct nw_traffic traffic;
    double time = -1;

    build(given, &traffic);
    assert_int_equal(nw_traffic_prune(&traffic), NW_OK);
    assert_int_equal(nw_helper_play(&traffic, &how, &time), NW_OK);
    nw_traffic_fini(&traffic);
    return time;
}

static void assert_near(double value, double expected)
{
    if (fabs(value - expected) > 1e-6 * expected)
        fail_msg("%.12g instead of %.12g", value, expected);
}

static bool helper_is_here(void)
{
    const char *path = getenv("NODEWISE_SIMGRID");

    return path && !access(path, X_OK);
}

#define NEED_HELPER()                                                          \
    if (!helper_is_here())                                                     \
    skip()

/* 1 us + 1 MB at 1 GB/s. */
static void plays_one_flow(void **state)
{
    static const struct instance one = {1, 1, {1e9}, {1e-6}, {1e6}, {{0, -1}}};

    (void)state;
    NEED_HELPER();
    assert_near(play(&one, 1e-3), 1001e-6);
}

/* 1 and 3 MB share 1 GB/s: the short one arrives after 2 ms, the long one has
 * 2 MB left and the link for itself. */
static void shares_a_link(void **state)
{
    static const struct instance two = {1,      2,          {1e9},
                                        {0, 0}, {1e6, 3e6}, {{0, -1}, {0, -1}}};

    (void)state;
    NEED_HELPER();
    assert_near(play(&two, 4e-3), 4e-3);
}

/* The line of two links of textbooks: the long flow gets half of the slow link,
 * 0.5 GB/s; the short flows get 0.5 GB/s on that link and 1.5 GB/s on the fast
 * one. The bytes are chosen so that all flows end after 1 s if the shares are
 * max-min fair. */
static void shares_max_min_fairly(void **state)
{
    static const struct instance line = {2,
                                         3,
                                         {1e9, 2e9},
                                         {0, 0, 0},
                                         {0.5e9, 0.5e9, 1.5e9},
                                         {{0, 1, -1}, {0, -1}, {1, -1}}};

    (void)state;
    NEED_HELPER();
    assert_near(play(&line, 1), 1);
}

/* A flow's latency does not change its share of a link, as it would with
 * TCP. */
static void shares_whatever_the_latency(void **state)
{
    static const struct instance two = {
        1, 2, {1e9}, {1e-3, 2e-3}, {2e6, 2e6}, {{0, -1}, {0, -1}}};

    (void)state;
    NEED_HELPER();
    assert_near(play(&two, 4e-3), 5e-3);
}

/* A flow that crosses the same half-duplex link twice uses it twice. */
static void counts_a_link_twice(void **state)
{
    static const struct instance twice = {
        2, 2, {1e9, 1e12}, {0, 0}, {1e6, 1e6}, {{0, 1, 0, -1}, {0, -1}}};

    (void)state;
    NEED_HELPER();
    assert_near(play(&twice, 3e-3), 3e-3);
}

static void make_random(struct nw_random *random, struct instance *out)
{
    *out = (struct instance){0};
    out->links = 1 + (int)nw_random_below(random, MOST_LINKS);
    out->flows = 1 + (int)nw_random_below(random, MOST_FLOWS);
    for (int l = 0; l < out->links; l++)
        out->bandwidth[l] = (double)(1 + nw_random_below(random, 4)) * 1e9;
    for (int f = 0; f < out->flows; f++) {
        int hops = 1 + (int)nw_random_below(random, MOST_HOPS - 1);

        out->bytes[f] = (double)(1 + nw_random_below(random, 8)) * 1e5;
        out->latency[f] = (double)nw_random_below(random, 4) * 1e-6;
        for (int i = 0; i < MOST_HOPS; i++)
            out->route[f][i] =
                i < hops ? (int)nw_random_below(random, (uint64_t)out->links)
                         : -1;
    }
}

static void agrees_with_the_oracle(void **state)
{
    struct nw_random random;
    struct instance given;

    (void)state;
    NEED_HELPER();
    nw_random_init(&random, 7);
    for (int i = 0; i < 60; i++) {
        double expected;

        make_random(&random, &given);
        expected = oracle(&given);
        assert_near(play(&given, expected), expected);
    }
}

static void play_pruned_by_oracle(struct instance *given, double expected)
{
    struct nw_traffic traffic;
    struct instance less = *given;

    build(given, &traffic);
    assert_int_equal(nw_traffic_prune(&traffic), NW_OK);
    less.links = traffic.link_count;
    memcpy(less.bandwidth, traffic.bandwidth, sizeof less.bandwidth);
    for (int f = 0; f < less.flows; f++) {
        size_t count = traffic.row[f + 1] - traffic.row[f];

        assert_true(count > 0);
        for (size_t i = 0; i < MOST_HOPS; i++)
            less.route[f][i] =
                i < count ? traffic.link[traffic.row[f] + i] : -1;
    }
    nw_traffic_fini(&traffic);
    assert_near(oracle(&less), expected);
}

/* Pruning leaves some links out, and changes no time. */
static void prunes_exactly(void **state)
{
    static const struct instance line = {
        3, 2, {3e9, 2e9, 2e9}, {0}, {1e6, 2e6}, {{0, 1, 2, -1}, {1, 2, -1}}};
    struct nw_random random;
    struct instance given;
    struct nw_traffic traffic;

    (void)state;
    build(&line, &traffic);
    assert_int_equal(nw_traffic_prune(&traffic), NW_OK);
    assert_int_equal(traffic.link_count, 1);
    nw_traffic_fini(&traffic);
    nw_random_init(&random, 11);
    for (int i = 0; i < 300; i++) {
        make_random(&random, &given);
        play_pruned_by_oracle(&given, oracle(&given));
    }
}

/* Simulates with a helper that is the given shell script. */
static nw_status play_with(const char *script)
{
    static const struct instance one = {1, 1, {1e9}, {1e-6}, {1e6}, {{0, -1}}};
    struct nw_play how = {.unit = 1};
    char path[] = "/tmp/nodewise-helper-XXXXXX";
    const char *before = getenv("NODEWISE_SIMGRID");
    char *kept = before ? strdup(before) : NULL;
    int file = mkstemp(path);
    struct nw_traffic traffic;
    nw_status status;
    double time;

    assert_true(file >= 0);
    assert_true(dprintf(file, "#!/bin/sh\n%s\n", script) > 0);
    fchmod(file, 0700);
    close(file);
    setenv("NODEWISE_SIMGRID", path, 1);
    build(&one, &traffic);
    status = nw_helper_play(&traffic, &how, &time);
    nw_traffic_fini(&traffic);
    unlink(path);
    if (kept)
        setenv("NODEWISE_SIMGRID", kept, 1);
    else
        unsetenv("NODEWISE_SIMGRID");
    free(kept);
    return status;
}

static void survives_a_bad_helper(void **state)
{
    (void)state;
    assert_int_equal(play_with("cat >/dev/null; echo time 1"), NW_OK);
    assert_int_equal(play_with("kill -SEGV $$"), NW_EHELPER);
    assert_non_null(strstr(nw_error_text(), "signal 11"));
    assert_int_equal(play_with("exec <&- >&-; exit 0"), NW_EHELPER);
    assert_int_equal(play_with("echo time soon"), NW_EHELPER);
    assert_int_equal(play_with("echo error no memory"), NW_EHELPER);
    assert_string_equal(nw_error_text(), "nodewise-simgrid: no memory");
    assert_int_equal(play_with("printf 'time 1'"), NW_EHELPER);
}

static void says_that_the_helper_is_missing(void **state)
{
    struct nw_traffic traffic = {0};
    struct nw_play how = {.unit = 1};
    const char *before = getenv("NODEWISE_SIMGRID");
    char *kept = before ? strdup(before) : NULL;
    double time;

    (void)state;
    setenv("NODEWISE_SIMGRID", "/nowhere", 1);
    assert_int_equal(nw_helper_play(&traffic, &how, &time), NW_ENODEV);
    if (kept)
        setenv("NODEWISE_SIMGRID", kept, 1);
    else
        unsetenv("NODEWISE_SIMGRID");
    free(kept);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plays_one_flow),
        cmocka_unit_test(shares_a_link),
        cmocka_unit_test(shares_max_min_fairly),
        cmocka_unit_test(shares_whatever_the_latency),
        cmocka_unit_test(counts_a_link_twice),
        cmocka_unit_test(agrees_with_the_oracle),
        cmocka_unit_test(prunes_exactly),
        cmocka_unit_test(survives_a_bad_helper),
        cmocka_unit_test(says_that_the_helper_is_missing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
