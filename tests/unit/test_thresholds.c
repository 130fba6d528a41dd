/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the thresholds of the channel. The choice is never far from the best
 * by the same model, and crossovers are those worked out by hand. The file of
 * thresholds is read, and bad files are refused. The locality of a GPU and an
 * adapter is found. */
#include "channel/tune/thresholds.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static double cost(const void *context, struct nw_protocol_copy way,
                   uint64_t bytes)
{
    return nw_cost_of_protocol(context, way, bytes);
}

static double least(const struct nw_ends *ends, uint64_t bytes)
{
    double best = INFINITY;

    for (int p = NW_CHANNEL_GATHER; p < NW_CHANNEL_PROTOCOLS; p++)
        for (int c = 0; c < NW_CHANNEL_COPIES; c++)
            best =
                fmin(best, nw_cost_of_protocol(ends,
                                               (struct nw_protocol_copy){
                                                   (enum nw_channel_protocol)p,
                                                   (enum nw_channel_copy)c},
                                               bytes));
    return best;
}

static struct nw_ends ends_of(unsigned bits, double factor)
{
    struct nw_ends ends = {.gpu = {bits & 1, bits & 2},
                           .adapter = bits & 4,
                           .mapping = bits & 8,
                           .regime =
                               bits & 16 ? NW_REGIME_FLOOD : NW_REGIME_LATENCY,
                           .reads = bits & 64,
                           .opens = bits & 64,
                           .whole = bits & 64 ? 4064 : 0};

    nw_costs_default(&ends.costs);
    ends.costs.latency_s[NW_COST_COPY] =
        6e-6; /* as in the cases computed by hand */
    ends.costs.rate[NW_COST_COPY] = 12e9;
    ends.costs.latency_s[NW_COST_STORE] = 0.1e-6;
    ends.costs.rate[NW_COST_STORE] = 10e9;
    if (bits & 32)
        nw_costs_of_provider(&ends.costs, "tcp;ofi_rxm");
    for (int i = 0; i < NW_COSTS; i++) {
        ends.costs.latency_s[i] *= factor;
        ends.costs.rate[i] /= factor;
    }
    return ends;
}

static void within_five_percent_everywhere(void **state)
{
    const double factors[] = {0.5, 1, 2};

    (void)state;
    for (unsigned bits = 0; bits < 128; bits++)
        for (int f = 0; f < 3; f++) {
            struct nw_ends ends = ends_of(bits, factors[f]);
            struct nw_choice choice;

            nw_choice_make(cost, &ends, 65536, &choice);
            assert_in_range(choice.count, 1, NW_STEPS);
            for (uint64_t n = 0; n <= 65536; n += 1 + n / 40)
                assert_true(nw_cost_of_protocol(&ends,
                                                nw_choice_find(&choice, n),
                                                n) <= 1.05 * least(&ends, n));
        }
}

/* n bytes go from the host into a GPU without a mapping. Eager by loopback
 * takes 1.9 us + n (1/10 + 1/2) ns, and rendezvous takes 2.7 us + n (1/10 +
 * 1/6) ns. Both are equal at 2400 bytes. With many messages under way, eager
 * also takes n/6 ns for the third crossing, and both are equal at 1600
 * bytes. */
static void many_under_way_leave_loopback_earlier(void **state)
{
    struct nw_ends ends = ends_of(2 | 4, 1);
    struct nw_choice choice;

    (void)state;
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 2000).copy, NW_CHANNEL_LOOPBACK);
    assert_int_equal(nw_choice_find(&choice, 4000).protocol,
                     NW_CHANNEL_RENDEZVOUS);
    ends.regime = NW_REGIME_FLOOD;
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 8).copy, NW_CHANNEL_LOOPBACK);
    assert_int_equal(nw_choice_find(&choice, 2000).protocol,
                     NW_CHANNEL_RENDEZVOUS);
}

/* 8 KiB from GPU to GPU inside a host: the driver's copy takes the sender 6.68
 * us, and storing takes the receiver 0.92. Packed and in parts, 0.7 + 2 * 0.82
 * us are added for both; if the receiver reads the bytes, their header takes
 * 0.7 us and the read 1.61 us. One message at a time takes 9.94 us and 9.91 us,
 * near enough to stay with packing; with eight in flight, the receiver's work
 * is hidden except for one message: 9.13 and 7.70 us. */
static void many_under_way_leave_the_reading_to_the_receiver(void **state)
{
    struct nw_ends ends = ends_of(1 | 2 | 4 | 8 | 64, 1);
    const struct nw_protocol_copy pack = {NW_CHANNEL_PACK, NW_CHANNEL_FASTCOPY},
                                  cma = {NW_CHANNEL_CMA, NW_CHANNEL_FASTCOPY};
    struct nw_choice choice;

    (void)state;
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 8192).protocol, NW_CHANNEL_PACK);
    assert_float_equal(nw_cost_of_protocol(&ends, pack, 8192), 9.94e-6, 5e-9);
    assert_float_equal(nw_cost_of_protocol(&ends, cma, 8192), 9.91e-6, 5e-9);
    ends.regime = NW_REGIME_FLOOD;
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 8192).protocol, NW_CHANNEL_CMA);
    assert_int_equal(nw_choice_find(&choice, 4000).protocol, NW_CHANNEL_GATHER);
    assert_float_equal(nw_cost_of_protocol(&ends, pack, 8192), 9.13e-6, 1e-8);
    assert_float_equal(nw_cost_of_protocol(&ends, cma, 8192), 7.70e-6, 1e-8);
}

/* The adapter reads 8 KiB from a GPU in 0.6 us + 8192 / 0.8 ns, and the driver
 * in 6 us + 8192 / 12 ns. An adapter below the same switch as the GPU reads
 * them in 0.6 us + 8192 / 2.2 ns. */
static void the_adapter_reads_faster_behind_a_switch(void **state)
{
    struct nw_ends ends = ends_of(1 | 2 | 4 | 8, 1);
    struct nw_choice choice;

    (void)state;
    nw_costs_of_locality(&ends.costs, NW_LOCAL_SOCKET);
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 8192).protocol, NW_CHANNEL_PACK);
    nw_costs_of_locality(&ends.costs, NW_LOCAL_SWITCH);
    nw_choice_make(cost, &ends, 8192, &choice);
    assert_int_equal(nw_choice_find(&choice, 8192).protocol, NW_CHANNEL_GATHER);
}

/* Between host memories of one host, parts take 0.7 us + 3 n / 10 ns. A read by
 * the receiver takes 0.7 + 1.2 us + n / 20 ns. Both are equal at 4800 bytes.
 * Between GPUs beyond 8 KiB, rendezvous takes 2.1 us + n / 10 ns and one copy
 * of 6 us + n / 12 ns. Fetch with a store takes 1.9 us + n / 20 ns, the same
 * copy, and 0.1 us + n / 10 ns. Both are equal at 2000 bytes and differ by 0.05
 * ns for each further byte. */
static void inside_a_host_the_receiver_reads(void **state)
{
    struct nw_ends ends = ends_of(64, 1);
    struct nw_choice choice;

    (void)state;
    nw_choice_make(cost, &ends, 65536, &choice);
    assert_int_equal(nw_choice_find(&choice, 4700).protocol, NW_CHANNEL_GATHER);
    assert_int_equal(nw_choice_find(&choice, 5500).protocol, NW_CHANNEL_CMA);
    assert_int_equal(nw_choice_find(&choice, 65536).protocol, NW_CHANNEL_CMA);
    ends = ends_of(1 | 2 | 4 | 8 | 64, 1);
    nw_choice_make(cost, &ends, 65536, &choice);
    assert_int_not_equal(nw_choice_find(&choice, 8192).protocol,
                         NW_CHANNEL_RENDEZVOUS);
    assert_int_equal(nw_choice_find(&choice, 20000).protocol,
                     NW_CHANNEL_RENDEZVOUS);
}

static void a_regime_stays_until_it_is_clear(void **state)
{
    enum nw_regime regime = NW_REGIME_LATENCY;

    (void)state;
    assert_int_equal(regime = nw_regime_next(regime, 7), NW_REGIME_LATENCY);
    assert_int_equal(regime = nw_regime_next(regime, 8), NW_REGIME_FLOOD);
    assert_int_equal(regime = nw_regime_next(regime, 3), NW_REGIME_FLOOD);
    assert_int_equal(regime = nw_regime_next(regime, 2), NW_REGIME_LATENCY);
}

/* Costs of two ways that alternately differ by less than 4 %: the first way is
 * kept. */
static double alike(const void *context, struct nw_protocol_copy way,
                    uint64_t bytes)
{
    double swing = bytes / 16 % 2 ? 1.03 : 1;

    (void)context;
    if (way.copy ||
        (way.protocol != NW_CHANNEL_GATHER && way.protocol != NW_CHANNEL_PACK))
        return INFINITY;
    return way.protocol == NW_CHANNEL_PACK ? 2.03 - swing : swing;
}

static void equal_ways_do_not_alternate(void **state)
{
    struct nw_choice choice;

    (void)state;
    nw_choice_make(alike, NULL, 8192, &choice);
    assert_int_equal(choice.count, 1);
}

/* The same costs; counts how often the cost of an impossible way is
 * requested. */
static double counted(const void *context, struct nw_protocol_copy way,
                      uint64_t bytes)
{
    if (way.protocol != NW_CHANNEL_RENDEZVOUS && isinf(alike(NULL, way, bytes)))
        ++*(int *)(uintptr_t)context;
    return alike(NULL, way, bytes);
}

/* Every channel makes this table when it opens, which must not take a
 * millisecond. */
static void what_cannot_be_is_asked_for_once(void **state)
{
    struct nw_choice choice;
    int asked = 0, ways = NW_CHANNEL_PROTOCOLS * NW_CHANNEL_COPIES;

    (void)state;
    nw_choice_make(counted, &asked, 65536, &choice);
    assert_in_range(asked, 1, 2 * ways);
}

#define HEAD "nodewise channel 1\n"
#define LINE "device host shm far flood 64 pack auto\n"

static nw_status parse(const char *text, struct nw_thresholds *out)
{
    char *copy = strdup(text);
    nw_status status = nw_thresholds_parse("t", copy, out);

    free(copy);
    return status;
}

static void what_is_written_reads_back(void **state)
{
    const char text[] =
        HEAD "# from to provider locality regime bytes protocol "
             "copy\n" LINE "device host shm far flood 8192 two auto\n"
             "host device shm switch latency 100 gather "
             "loopback\n";
    struct nw_situation of = {
        {true, false}, "shm", NW_LOCAL_SOCKET, NW_REGIME_FLOOD};
    struct nw_thresholds thresholds = {0};
    const struct nw_choice *found;
    char *again = NULL;

    (void)state;
    assert_int_equal(parse(text, &thresholds), NW_OK);
    assert_int_equal(thresholds.count, 2);
    assert_int_equal(nw_thresholds_write(&thresholds, &again), NW_OK);
    assert_string_equal(again, text);
    found = nw_thresholds_find(&thresholds, &of); /* an entry of another
                                                     locality */
    assert_non_null(found);
    assert_int_equal(nw_choice_find(found, 64).protocol, NW_CHANNEL_PACK);
    assert_int_equal(nw_choice_find(found, 65).protocol, NW_CHANNEL_TWO);
    assert_int_equal(nw_choice_find(found, UINT64_MAX).protocol,
                     NW_CHANNEL_TWO);
    of.regime = NW_REGIME_LATENCY;
    assert_null(nw_thresholds_find(&thresholds, &of));
    free(again);
    nw_thresholds_fini(&thresholds);
}

static void lines_of_an_mpi_are_ignored(void **state)
{
    struct nw_thresholds thresholds = {0};

    (void)state;
    assert_int_equal(
        parse(HEAD "device device mpi:openmpi:0ff30eb2f18648e1 socket latency "
                   "2147483647 direct auto\n" LINE,
              &thresholds),
        NW_OK);
    assert_int_equal(thresholds.count, 1);
    nw_thresholds_fini(&thresholds);
}

static void bad_tables_are_refused(void **state)
{
    static const struct {
        const char *text, *words;
    } bad[] = {
        {"", "t:1: expected 'nodewise channel 1'"},
        {"nodewise channel 2\n", "t:1: expected 'nodewise channel 1'"},
        {HEAD "gpu host shm far flood 64 pack auto\n",
         "t:2: expected host or device, twice"},
        {HEAD "host\n", "t:2: expected host or device, twice"},
        {HEAD "host host\n", "t:2: expected a provider"},
        {HEAD "host host 0123456789012345678901234567890123456789 far flood 6 "
              "pack auto\n",
         "t:2: expected a provider"},
        {HEAD "host host shm near flood 64 pack auto\n",
         "t:2: expected switch, socket or far"},
        {HEAD "host host shm far many 64 pack auto\n",
         "t:2: expected latency or flood"},
        {HEAD "host host shm far flood -1 pack auto\n", "t:2: expected bytes"},
        {HEAD "host host shm far flood nan pack auto\n", "t:2: expected bytes"},
        {HEAD "host host shm far flood 99999999999999999999 pack auto\n",
         "t:2: expected bytes"},
        {HEAD "host host shm far flood 64 auto auto\n",
         "t:2: expected gather, pack, two, rendezvous or fetch"},
        {HEAD "host host shm far flood 64 pack slow\n",
         "t:2: expected auto, naive, loopback or fastcopy"},
        {HEAD "host host shm far flood 64 pack auto x\n",
         "t:2: a word too many"},
        {HEAD "device device shm socket latency 64 direct auto\n",
         "t:2: expected gather, pack, two, rendezvous or fetch"},
        {HEAD LINE LINE, "t:3: sizes must ascend"},
        {HEAD LINE "host host shm far flood 64 pack auto\n" LINE,
         "t:4: lines for the same kind of message must follow each other"},
    };
    struct nw_thresholds thresholds = {0};

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(parse(bad[i].text, &thresholds), NW_EFORMAT);
        assert_string_equal(nw_error_text(), bad[i].words);
        assert_null(thresholds.row);
    }
}

/* -- localities: folders like those of the kernel -- */

static char root[] = "/tmp/nw-sys-XXXXXX";

static void make_folders(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/%s/", root, name);
    for (char *slash = strchr(path + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700);
        *slash = '/';
    }
}

static void write_number(const char *name, int number)
{
    char path[1024];
    FILE *file;

    snprintf(path, sizeof path, "%s/%.400s", root, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%d\n", number);
    fclose(file);
}

/* A device below `where`, at NUMA node `node`. */
static void make_device(const char *where, const char *pci, int node)
{
    char path[1024], link[1024];

    snprintf(path, 400, "devices/%s/%s", where, pci);
    make_folders(path);
    snprintf(path, 400, "devices/%s/%s/numa_node", where, pci);
    write_number(path, node);
    snprintf(path, sizeof path, "%s/devices/%.99s/%.99s", root, where, pci);
    snprintf(link, sizeof link, "%s/bus/pci/devices/%.99s", root, pci);
    assert_int_equal(symlink(path, link), 0);
}

static void switch_socket_or_two(void **state)
{
    const char *below = "pci0000:17/0000:17:00.0/0000:18:00.0";
    char command[64];

    (void)state;
    assert_non_null(mkdtemp(root));
    make_folders("bus/pci/devices");
    make_device(below, "0000:1b:00.0", 0); /* a GPU, below a switch */
    make_device(below, "0000:1c:00.0", 0); /* an adapter beside it */
    make_device("pci0000:17/0000:17:01.0", "0000:30:00.0", 0);
    make_device("pci0000:80/0000:80:00.0", "0000:81:00.0", 1);
    assert_int_equal(nw_locality_find(root, "0000:1B:00.0", "0000:1c:00.0"),
                     NW_LOCAL_SWITCH);
    assert_int_equal(nw_locality_find(root, "0000:1b:00.0", "0000:30:00.0"),
                     NW_LOCAL_SOCKET);
    assert_int_equal(nw_locality_find(root, "0000:1b:00.0", "0000:81:00.0"),
                     NW_LOCAL_FAR);
    assert_int_equal(nw_locality_find(root, "0000:1b:00.0", ""),
                     NW_LOCAL_SOCKET);
    assert_int_equal(nw_locality_find(root, "", ""), NW_LOCAL_SOCKET);
    assert_int_equal(nw_locality_find(root, "../../etc", "0000:1c:00.0"),
                     NW_LOCAL_SOCKET);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(within_five_percent_everywhere),
        cmocka_unit_test(many_under_way_leave_loopback_earlier),
        cmocka_unit_test(many_under_way_leave_the_reading_to_the_receiver),
        cmocka_unit_test(the_adapter_reads_faster_behind_a_switch),
        cmocka_unit_test(inside_a_host_the_receiver_reads),
        cmocka_unit_test(a_regime_stays_until_it_is_clear),
        cmocka_unit_test(equal_ways_do_not_alternate),
        cmocka_unit_test(what_cannot_be_is_asked_for_once),
        cmocka_unit_test(what_is_written_reads_back),
        cmocka_unit_test(lines_of_an_mpi_are_ignored),
        cmocka_unit_test(bad_tables_are_refused),
        cmocka_unit_test(switch_socket_or_two),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
