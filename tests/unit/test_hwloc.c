/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of machines that hwloc reads, against published facts about these
 * machines and against the XML read as plain text. */
#include "base/file.h"
#include "base/text.h"
#include "topology/hwloc/node.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* The path of a file of a real machine, which is beside the checkout if it
 * exists. */
static const char *shared(const char *name, char *out, size_t size)
{
    const char *folder = getenv("NW_SHARED"), *source = getenv("NW_SOURCE");

    snprintf(out, size, "%s%s/data/hwloc/%s",
             folder   ? folder
             : source ? source
                      : "..",
             folder ? "" : "/../shared", name);
    if (access(out, R_OK)) {
        print_message("# skipped: %s is not here\n", out);
        skip();
    }
    return out;
}

static nw_topology *load(const char *source, enum nw_elements elements)
{
    struct nw_topology_options options = NW_TOPOLOGY_OPTIONS_INIT;
    nw_topology *topology = NULL;

    options.elements = elements;
    if (nw_topology_load(source, &options, &topology))
        fail_msg("%s", nw_error_text());
    return topology;
}

static nw_topology *load_shared(const char *name)
{
    char path[512];

    return load(shared(name, path, sizeof path), NW_ELEMENTS_CORE);
}

/* Lassen: a node of two POWER9 with 20 cores each for users and four V100;
 * two double-port EDR cards. */
static void lassen_has_four_gpus(void **state)
{
    static const char *const pci[] = {"0004:04:00.0", "0004:05:00.0",
                                      "0035:03:00.0", "0035:04:00.0"};
    static const char *const cards[] = {"mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"};
    nw_topology *topology = load_shared("coral-lassen.xml");

    (void)state;
    assert_string_equal(nw_topology_node_name(topology, 0), "lassen28");
    assert_int_equal(nw_topology_element_count(topology), 40);
    assert_int_equal(nw_topology_node_package_count(topology, 0), 2);
    assert_int_equal(nw_topology_gpu_count(topology), 4);
    assert_int_equal(nw_topology_node_nic_count(topology, 0), 4);
    for (int32_t i = 0; i < 4; i++) {
        assert_string_equal(nw_topology_gpu_info(topology, i).pci, pci[i]);
        assert_int_equal(nw_topology_gpu_package(topology, i), i / 2);
        assert_string_equal(nw_topology_nic_info(topology, 0, i).name,
                            cards[i]);
    }
    assert_int_equal(nw_topology_element_package(topology, 19), 0);
    assert_int_equal(nw_topology_element_package(topology, 20), 1);
    nw_topology_free(topology);
}

/* Two GPUs below one PCIe switch are two links apart. The route across packages
 * leads over the switch, the host bridge and the package, and down again. Two
 * cores share an L3 cache. */
static void lassen_distances_follow_its_tree(void **state)
{
    nw_topology *topology = load_shared("coral-lassen.xml");
    struct nw_end gpu[4], core[4];

    (void)state;
    for (int32_t i = 0; i < 4; i++) {
        gpu[i] = nw_topology_gpu_end(topology, i);
        core[i] = nw_topology_element_end(topology, i);
    }
    assert_true(nw_topology_distance(topology, gpu[0], gpu[1]) == 2);
    assert_true(nw_topology_distance(topology, gpu[0], gpu[2]) == 8);
    assert_true(nw_topology_distance(topology, core[0], core[1]) == 2);
    assert_true(nw_topology_distance(topology, core[1], core[2]) == 4);
    nw_topology_free(topology);
}

/* Corona: two EPYC 7402 of 24 cores, three to an L3, and eight MI50. */
static void corona_has_eight_gpus(void **state)
{
    nw_topology *topology = load_shared("epyc-corona-p2.xml");

    (void)state;
    assert_int_equal(nw_topology_element_count(topology), 48);
    assert_int_equal(nw_topology_node_package_count(topology, 0), 2);
    assert_int_equal(nw_topology_gpu_count(topology), 8);
    assert_string_equal(nw_topology_gpu_info(topology, 0).pci, "0000:03:00.0");
    assert_string_equal(nw_topology_gpu_info(topology, 7).pci, "0000:e3:00.0");
    assert_int_equal(nw_topology_node_nic_count(topology, 0), 1);
    assert_true(
        nw_topology_distance(topology, nw_topology_element_end(topology, 0),
                             nw_topology_element_end(topology, 2)) == 2);
    assert_true(
        nw_topology_distance(topology, nw_topology_element_end(topology, 2),
                             nw_topology_element_end(topology, 3)) == 4);
    nw_topology_free(topology);
}

/* Amazon's g4dn.metal: two packages of 24 cores, and eight T4. Its fabric card
 * (EFA) is used instead of the Ethernet card beside it. */
static void g4dn_metal_has_eight_gpus(void **state)
{
    nw_topology *topology = load_shared("g4dnmetal.xml");

    (void)state;
    assert_int_equal(nw_topology_element_count(topology), 48);
    assert_int_equal(nw_topology_gpu_count(topology), 8);
    assert_int_equal(nw_topology_node_nic_count(topology, 0), 1);
    assert_string_equal(nw_topology_nic_info(topology, 0, 0).pci,
                        "0000:c5:00.0");
    for (int32_t i = 0; i < 8; i++)
        assert_int_equal(nw_topology_gpu_package(topology, i), i / 4);
    nw_topology_free(topology);
}

/* Each of the four P100 has two NVLinks (40 GB/s together) to its processor and
 * two to its neighbour, but none across processors. */
static void power8_gpus_use_nvlink(void **state)
{
    nw_topology *topology = load_shared("power8gpudistances.xml");
    struct nw_end gpu[4];
    uint32_t hops[64];

    (void)state;
    assert_true(nw_topology_route_max(topology) <= 64);
    for (int32_t i = 0; i < 4; i++)
        gpu[i] = nw_topology_gpu_end(topology, i);
    for (int32_t i = 0; i < 4; i++)
        for (int32_t j = 0; j < 4; j++) {
            size_t expected = i == j ? 0 : i / 2 == j / 2 ? 1 : 4;
            size_t count = nw_topology_route(topology, gpu[i], gpu[j], hops);
            struct nw_link_info link;

            assert_int_equal(count, expected);
            if (!count)
                continue;
            link = nw_topology_link(topology, (int32_t)(hops[0] / 2));
            assert_int_equal(link.kind, NW_LINK_NVLINK);
            assert_true(link.bandwidth[0] == 40e9);
            assert_false(link.assumed);
        }
    nw_topology_free(topology);
}

/* Three of Cisco's cards with usNIC, without their virtual functions and
 * without the Ethernet ports. */
static void virtual_functions_are_left_out(void **state)
{
    nw_topology *topology = load_shared("16intel64-manyVFs.xml");

    (void)state;
    assert_int_equal(nw_topology_node_nic_count(topology, 0), 3);
    assert_string_equal(nw_topology_nic_info(topology, 0, 0).name, "usnic_0");
    assert_int_equal(nw_topology_gpu_count(topology), 0);
    nw_topology_free(topology);
}

/* The machine has 16 packages of 6 cores on 4 NUMA nodes; its display chip does
 * not count as a GPU. */
static void old_display_chips_are_no_gpus(void **state)
{
    nw_topology *topology = load_shared("96em64t-4n4d3ca2co-pci.xml");

    (void)state;
    assert_int_equal(nw_topology_element_count(topology), 96);
    assert_int_equal(nw_topology_node_package_count(topology, 0), 16);
    assert_int_equal(nw_topology_gpu_count(topology), 0);
    nw_topology_free(topology);
}

static void synthetic_machines_have_threads(void **state)
{
    nw_topology *cores = load("hwloc:package:2 core:12 pu:2", NW_ELEMENTS_CORE);
    nw_topology *threads = load("hwloc:package:2 core:12 pu:2", NW_ELEMENTS_PU);
    const int32_t *os;

    (void)state;
    assert_int_equal(nw_topology_element_count(cores), 24);
    assert_int_equal(nw_topology_element_count(threads), 48);
    assert_true(nw_topology_distance(cores, nw_topology_element_end(cores, 0),
                                     nw_topology_element_end(cores, 1)) == 2);
    assert_true(nw_topology_distance(cores, nw_topology_element_end(cores, 0),
                                     nw_topology_element_end(cores, 23)) == 4);
    assert_true(
        nw_topology_distance(threads, nw_topology_element_end(threads, 0),
                             nw_topology_element_end(threads, 47)) == 6);
    assert_int_equal(nw_topology_element_threads(cores, 3, &os), 2);
    assert_int_equal(os[0], 6);
    assert_int_equal(os[1], 7);
    assert_int_equal(nw_topology_element_threads(threads, 7, &os), 1);
    assert_int_equal(os[0], 7);
    nw_topology_free(cores);
    nw_topology_free(threads);
}

static void synthetic_machines_need_not_name_threads(void **state)
{
    nw_topology *topology = load("hwloc:package:2 core:12", NW_ELEMENTS_CORE);

    (void)state;
    assert_int_equal(nw_topology_element_count(topology), 24);
    assert_int_equal(nw_topology_node_package_count(topology, 0), 2);
    nw_topology_free(topology);
}

/* If hwloc finds hardware threads without cores, each thread is a core. */
static void threads_without_cores_are_cores(void **state)
{
    nw_topology *topology = load("hwloc:package:2 pu:4", NW_ELEMENTS_CORE);

    (void)state;
    assert_int_equal(nw_topology_element_count(topology), 8);
    assert_int_equal(nw_topology_element_package(topology, 4), 1);
    nw_topology_free(topology);
}

static void live_has_the_cores_this_process_may_use(void **state)
{
    cpu_set_t before, one;
    nw_topology *topology;
    const int32_t *os;
    int first = 0;

    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    while (!CPU_ISSET(first, &before))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    topology = load("live", NW_ELEMENTS_CORE);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
    assert_int_equal(nw_topology_element_count(topology), 1);
    assert_int_equal(nw_topology_element_threads(topology, 0, &os), 1);
    assert_int_equal(os[0], first);
    nw_topology_free(topology);
    topology = load("live", NW_ELEMENTS_PU);
    assert_int_equal(nw_topology_element_count(topology), CPU_COUNT(&before));
    nw_topology_free(topology);
}

static void several_types_in_one_topology(void **state)
{
    struct nw_node_type *a, *b;
    nw_topology *topology;

    (void)state;
    assert_int_equal(nw_topology_new("two", &topology), NW_OK);
    assert_int_equal(nw_hwloc_node_type(topology, "a", NW_HWLOC_SYNTHETIC,
                                        "package:1 core:2 pu:1", &a),
                     NW_OK);
    assert_int_equal(nw_hwloc_node_type(topology, "b", NW_HWLOC_SYNTHETIC,
                                        "package:2 core:4 pu:1", &b),
                     NW_OK);
    assert_int_equal(topology->type_count, 2);
    assert_int_equal(a->vertex_count, 4);
    assert_int_equal(b->vertex_count, 11);
    nw_topology_free(topology);
}

struct bad {
    const char *text, *error; /* after "file:" */
};

static const struct bad bad_files[] = {
    {"", "1: the file is empty"},
    {"hello\n", "1: no XML: a tag was expected, not 'h'"},
    {"<?xml version=\"1.0\"?>\n<system version=\"1\"/>\n",
     "2: nccl:FILE reads NCCL's files; hwloc XML begins with <topology>, "
     "not 'system'"},
    {"<?xml version=\"1.0\"?>\n<machine version=\"1\"/>\n",
     "2: hwloc XML begins with <topology>, not 'machine'"},
    {"<?xml version=\"1.0\"?>\n<topology version=\"2.0\">\n  <object ty",
     "3: no value for attribute 'ty'"},
    {"<topology version=\"2.0\">\n<object type=\"Machine\">\n",
     "3: the file ends inside 'object'"},
    {"<topology version=\"4.0\">\n</topology>\n",
     "1: hwloc XML version 4.0, which the hwloc 2 here cannot read; hwloc 4 "
     "can, and its 'lstopo --export-xml-flags v2 FILE.xml' writes what this "
     "reads"},
    {"<topology version=\"2.0\">\n<object type=\"Machine\"></topology>\n",
     "2: the tag closed is not the one open: 'topology'"},
    {"<topology version=\"2.0\"></topology>\n<topology/>\n",
     "2: a second tree of tags"},
    {"<topology version=\"2.0\" version=\"2.0\"/>\n",
     "1: doubled attribute 'version'"},
    {"<topology version=\"2.0\">\n<object",
     "2: an attribute was expected at 'end of file'"},
    {"<topology version=\"2.0\">\n<object type=\"PU\" "
     "os_index=\"4294967295\"/>",
     "2: os_index is a number from 0 to 65535, not '4294967295'"},
    {"<topology version=\"2.0\">\n<object type=\"PU\" os_index=\"-1\"/>",
     "2: os_index is a number from 0 to 65535, not '-1'"},
    {"<topology>\n<object os_index=\"70000\" type=\"NUMANode\"/>",
     "2: os_index is a number from 0 to 65535, not '70000'"},
    {"<topology>\n<object type=\"PCIDev\" os_index=\"4294967296\"/>",
     "2: os_index is not a number: '4294967296'"},
    {"<topology version=\"2.0\">\n\xff\n</topology>\n", "2: not UTF-8 text"},
};

/* Checks that the file is refused; nw_error_text() has the reason. */
static void assert_refused(const char *path, const char *text)
{
    nw_topology *topology = NULL;

    assert_int_equal(nw_file_write(path, text, strlen(text)), NW_OK);
    assert_int_equal(nw_topology_load(path, NULL, &topology), NW_EFORMAT);
    assert_null(topology);
}

static void bad_files_are_told_by_line(void **state)
{
    char path[] = "/tmp/nodewise-test-XXXXXX.xml", expected[256];
    nw_topology *topology = NULL;
    int fd = mkstemps(path, 4);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        assert_refused(path, bad_files[i].text);
        snprintf(expected, sizeof expected, "%s:%s", path, bad_files[i].error);
        assert_string_equal(nw_error_text(), expected);
    }
    unlink(path);
    assert_int_equal(nw_topology_load(path, NULL, &topology), NW_EIO);
}

/* The reason is hwloc's own message, or how the child that tried to read the
 * file ended. */
static void what_hwloc_refuses_has_a_cause(void **state)
{
    static const struct bad bad[] = {
        {"<object type=\"Zebra\"/>", "Zebra"},
        {"<object type=\"Machine\" os_index=\"0\"/>", "cpuset"},
        {"<object type=\"Machine\" os_index=\"0\" cpuset=\"0x1\" "
         "complete_cpuset=\"0x1\" nodeset=\"0x1\" complete_nodeset=\"0x1\">\n"
         "<object type=\"Core\" cpuset=\"0x2\" complete_cpuset=\"0x2\" "
         "nodeset=\"0x1\" complete_nodeset=\"0x1\"/>\n"
         "</object>",
         "NUMA"}};
    static const char beginning[] =
        "1: hwloc can make no machine of this XML: ";
    char path[] = "/tmp/nodewise-test-XXXXXX.xml", text[512];
    int fd = mkstemps(path, 4);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text,
                 "<topology version=\"2.0\">\n%s\n</topology>\n", bad[i].text);
        assert_refused(path, text);
        assert_non_null(strstr(nw_error_text(), beginning));
        assert_non_null(strstr(nw_error_text(), bad[i].error));
    }
    unlink(path);
}

static void bad_strings_are_refused(void **state)
{
    static const char *const bad[] = {
        "hwloc:",
        "hwloc:zebra:3",
        "hwloc:package:0 pu:1",
        "hwloc:package:-1 pu:1",
        "hwloc:core:99999999999999999999 pu:1",
        "hwloc:package:1000 core:1000 pu:1000",
        "hwloc:1000000000",
        "hwloc:package:2 core:nan pu:1",
        "hwloc:pu:2 package:2",
        /* orders with which hwloc crashes or reads beyond its memory */
        "hwloc:package:2 core:2 pu:2(indexes=1*65536:1*65536:1*65536:1*65536)",
        "hwloc:package:2 core:2 pu:2(indexes=1*128:1*128:1*128:1*128)",
        "hwloc:package:2(indexes=core:numa) core:4 pu:2",
        "hwloc:package:2 core:2 pu:2(indexes=l2:core)",
        "hwloc:package:2 core:2 pu:2(indexes=core:pu)",
        "hwloc:package:2 [numa(indexes=l2)] core:2 pu:2",
        "hwloc:pu:1(indexes=4294967294)",
        "hwloc:pu:2(indexes=99999999999999999999,0)",
        /* and those that it ignores without a message */
        "hwloc:core:2 pu:2(indexes=0,1,2)",
        "hwloc:core:2 pu:2(indexes=0,1,2,3,4)",
        "hwloc:core:2 pu:2(indexes=0,1,2,2)",
        "hwloc:core:2 pu:2(indexes=0,1,,2)",
        "hwloc:core:2 pu:2(indexes=)",
        "hwloc:core:2 pu:2(indexes=2*)",
        "hwloc:core:2 pu:2(indexes=0*2:1*2)",
        "hwloc:core:2 pu:2(memory=1GB indexes=core:core)",
        "hwloc:core:2 pu:2(indexes=core:zebra)",
    };
    nw_topology *topology = NULL;

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(nw_topology_load(bad[i], NULL, &topology), NW_EFORMAT);
        assert_null(topology);
    }
}

/* The processors of a synthetic machine's cores, one after the other. */
static void assert_cpus(const char *source, const char *expected)
{
    nw_topology *topology = load(source, NW_ELEMENTS_CORE);
    char words[256] = "";
    const int32_t *cpus;

    for (int32_t e = 0; e < nw_topology_element_count(topology); e++) {
        size_t count = nw_topology_element_cpus(topology, e, &cpus);

        for (size_t c = 0; c < count; c++)
            snprintf(words + strlen(words), sizeof words - strlen(words),
                     "%s%d",
                     c   ? ","
                     : e ? " "
                         : "",
                     (int)cpus[c]);
    }
    assert_string_equal(words, expected);
    nw_topology_free(topology);
}

/* Computed by hand. The number of a processor counts first through the level
 * that is named first, then through the next level. If the order is given by
 * steps, the number of the nth processor is composed of (n / STEP) % COUNT for
 * each step in turn. hwloc sorts cores by their lowest processor. */
static void synthetic_numbers_follow_their_order(void **state)
{
    (void)state;
    assert_cpus("hwloc:package:2 core:2 pu:2", "0,1 2,3 4,5 6,7");
    assert_cpus("hwloc:package:2 core:2 pu:2(indexes=package:core)",
                "0,4 2,6 1,5 3,7");
    assert_cpus("hwloc:package:2 core:2 pu:2(indexes=2*4:1*2)",
                "0,4 1,5 2,6 3,7");
    assert_cpus("hwloc:core:2(indexes=1,0) pu:2(indexes=3,1,0,2)", "0,2 1,3");
    assert_cpus("hwloc:package:2 [numa(memory=1GB indexes=1,0)] core:2(indexes="
                "core:package)",
                "0 1 2 3");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        /* must be first: hwloc checks only once whether it may print
         * messages */
        cmocka_unit_test(what_hwloc_refuses_has_a_cause),
        cmocka_unit_test(lassen_has_four_gpus),
        cmocka_unit_test(lassen_distances_follow_its_tree),
        cmocka_unit_test(corona_has_eight_gpus),
        cmocka_unit_test(g4dn_metal_has_eight_gpus),
        cmocka_unit_test(power8_gpus_use_nvlink),
        cmocka_unit_test(virtual_functions_are_left_out),
        cmocka_unit_test(old_display_chips_are_no_gpus),
        cmocka_unit_test(synthetic_machines_have_threads),
        cmocka_unit_test(synthetic_numbers_follow_their_order),
        cmocka_unit_test(synthetic_machines_need_not_name_threads),
        cmocka_unit_test(threads_without_cores_are_cores),
        cmocka_unit_test(live_has_the_cores_this_process_may_use),
        cmocka_unit_test(several_types_in_one_topology),
        cmocka_unit_test(bad_files_are_told_by_line),
        cmocka_unit_test(bad_strings_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
