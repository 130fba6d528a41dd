/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the functions that read the machine on which they run:
 * - logical numbers that are computed from the kernel's files, against hwloc's
 *   numbers, on machines that hwloc makes up and whose files the test writes;
 * - the lookup of a rank's line in a large file, against reading the whole
 *   file;
 * - network cards in a simulated /sys. */
#include "launch/local_cpus.h"

#include "base/cpus.h"
#include "base/file.h"
#include "base/random.h"
#include "topology/topology.h"

#include <nodewise/launch.h>

#include <errno.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char root[] = "/tmp/nw-here-XXXXXX";

static int unlink_one(const char *path, const struct stat *info, int kind,
                      struct FTW *at)
{
    (void)info;
    (void)kind;
    (void)at;
    return remove(path);
}

static int make_root(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int drop_root(void **state)
{
    (void)state;
    return nftw(root, unlink_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void make_folders(char *path)
{
    for (char *at = path + strlen(root) + 1; (at = strchr(at, '/')); at++) {
        *at = '\0';
        assert_true(!mkdir(path, 0755) || errno == EEXIST);
        *at = '/';
    }
}

static void put(const char *text, const char *format, ...)
{
    char path[300], name[200];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(name, sizeof name, format, arguments);
    va_end(arguments);
    snprintf(path, sizeof path, "%s/%s", root, name);
    make_folders(path);
    assert_int_equal(nw_file_write(path, text, strlen(text)), 0);
}

/* Returns the vertex of the kind `kind` that is above vertex `v` of an element
 * or is `v` itself; -1 if no such vertex exists. */
static int32_t above(const struct nw_node_type *type, int32_t v,
                     enum nw_vertex_kind kind)
{
    while (v >= 0 && type->kind[v] != kind)
        v = type->parent[v];
    return v;
}

/* Writes the CPUs of all cores below the vertex, such as "1,3,". */
static void list_below(const nw_topology *machine, enum nw_vertex_kind kind,
                       int32_t vertex, char *out)
{
    const struct nw_node_type *type = machine->type[0];
    const int32_t *cpus;
    char *at = out;

    *out = '\0';
    for (int32_t number = 0; number < 512; number++)
        for (int32_t e = 0; e < nw_topology_element_count(machine); e++) {
            size_t count = nw_topology_element_cpus(machine, e, &cpus);
            int32_t v = nw_topology_element_end(machine, e).vertex;

            for (size_t c = 0; c < count; c++)
                if (cpus[c] == number && above(type, v, kind) == vertex)
                    at += sprintf(at, "%s%d", at > out ? "," : "", number);
        }
    strcpy(at, "\n");
}

static void put_cpu(const nw_topology *machine, int32_t element, int32_t cpu)
{
    static const struct {
        enum nw_vertex_kind kind;
        const char *file;
    } files[] = {{NW_VERTEX_PACKAGE, "topology/package_cpus_list"},
                 {NW_VERTEX_CORE, "topology/core_cpus_list"},
                 {NW_VERTEX_L3, "cache/index3/shared_cpu_list"},
                 {NW_VERTEX_L2, "cache/index2/shared_cpu_list"}};
    int32_t v = nw_topology_element_end(machine, element).vertex;
    char list[4096];

    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        int32_t group = above(machine->type[0], v, files[f].kind);

        if (group < 0)
            continue;
        list_below(machine, files[f].kind, group, list);
        put(list, "devices/system/cpu/cpu%d/%s", cpu, files[f].file);
    }
}

static void put_numa(const nw_topology *machine)
{
    const struct nw_node_type *type = machine->type[0];
    char list[4096], online[32];
    int32_t count = 0;

    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->kind[v] == NW_VERTEX_NUMA) {
            list_below(machine, NW_VERTEX_NUMA, v, list);
            put(list, "devices/system/node/node%d/cpulist", count++);
        }
    snprintf(online, sizeof online, "0-%d\n", count - 1);
    if (count) {
        put(online, "devices/system/node/online");
        put(online, "devices/system/node/has_memory");
    }
}

static void check_machine(const char *source)
{
    unsigned long allowed[NW_CPU_WORDS] = {0};
    struct nw_local_cpus here = {0};
    nw_topology *machine = NULL;
    const int32_t *cpus;
    int32_t count, at = 0;

    make_root(NULL);
    assert_int_equal(nw_topology_load(source, NULL, &machine), 0);
    count = nw_topology_element_count(machine);
    for (int32_t e = 0; e < count; e++) {
        size_t threads = nw_topology_element_cpus(machine, e, &cpus);

        for (size_t c = 0; c < threads; c++) {
            put_cpu(machine, e, cpus[c]);
            nw_cpus_add(allowed, cpus[c]);
        }
    }
    put_numa(machine);
    assert_int_equal(nw_local_cpus_read(root, allowed, &here), 0);
    assert_int_equal(here.core_count, count);
    for (int32_t e = 0; e < count; e++) {
        size_t threads = nw_topology_element_cpus(machine, e, &cpus);

        assert_int_equal(here.first[e], at);
        for (size_t c = 0; c < threads; c++)
            assert_int_equal(here.cpu[at++], cpus[c]);
    }
    assert_int_equal(here.cpu_count, at);
    nw_local_cpus_fini(&here);
    nw_topology_free(machine);
    drop_root(NULL);
}

/* Sockets and threads in the orders of common machines: sockets alternately or
 * one after the other, threads last; NUMA nodes inside sockets and across
 * them. */
static void test_order(void **state)
{
    (void)state;
    check_machine("hwloc:package:2 core:4 pu:1");
    check_machine("hwloc:package:2 core:4 pu:1(indexes=package:core)");
    check_machine("hwloc:package:2 core:4 pu:2(indexes=8*2:1*8)");
    check_machine("hwloc:package:2 numa:2 l3:2 l2:2 core:2 pu:2");
    check_machine("hwloc:package:2 [numa] l3:2 l2:2 core:2 "
                  "pu:2(indexes=1*2:2*8:16*2)");
    check_machine("hwloc:package:2 l3:2 l2:2 core:2 pu:1(indexes=l2:package)");
    check_machine("hwloc:package:2 l3:4 core:3 "
                  "pu:2(indexes=6*4:1*2:2*3:24*2)");
    check_machine("hwloc:package:4 [numa] l2:2 core:2 "
                  "pu:1(indexes=l2:core:package)");
}

/* CPUs that may not be used do not change the order of the others. */
static void test_allowed(void **state)
{
    unsigned long allowed[NW_CPU_WORDS] = {0};
    struct nw_local_cpus here = {0};

    (void)state;
    for (int c = 0; c < 8; c++) {
        put(c % 2 ? "1,3,5,7" : "0,2,4,6",
            "devices/system/cpu/cpu%d/topology/package_cpus_list", c);
        if (c != 2 && c != 1)
            nw_cpus_add(allowed, c);
    }
    put("0", "devices/system/cpu/smt/active");
    assert_int_equal(nw_local_cpus_read(root, allowed, &here), 0);
    assert_int_equal(here.core_count, 6);
    assert_memory_equal(here.cpu, ((int32_t[]){0, 4, 6, 3, 5, 7}),
                        6 * sizeof(int32_t));
    nw_local_cpus_fini(&here);
    assert_int_equal(nw_local_cpus_read("/nowhere", allowed, &here),
                     NW_EUNSUPPORTED);
}

/* Two packages whose CPUs alternate, with more CPUs than cpu_set_t holds. Their
 * lists are longer than a page. */
static void test_many(void **state)
{
    enum { CPUS = 4000, HALF = CPUS / 2 };
    static char list[2][6 * HALF];
    unsigned long allowed[NW_CPU_WORDS] = {0};
    struct nw_local_cpus here = {0};
    int length[2] = {0, 0};

    (void)state;
    for (int c = 0; c < CPUS; c++) {
        nw_cpus_add(allowed, c);
        length[c % 2] += sprintf(list[c % 2] + length[c % 2], "%d%c", c,
                                 c < CPUS - 2 ? ',' : '\n');
    }
    for (int p = 0; p < 2; p++)
        put(list[p], "devices/system/cpu/cpu%d/topology/package_cpus_list", p);
    put("0", "devices/system/cpu/smt/active");
    assert_int_equal(nw_local_cpus_read(root, allowed, &here), 0);
    assert_int_equal(here.core_count, CPUS);
    for (int i = 0; i < CPUS; i++)
        assert_int_equal(here.cpu[i], i % HALF * 2 + i / HALF);
    nw_local_cpus_fini(&here);
}

static void test_numa(void **state)
{
    unsigned long cpus[NW_CPU_WORDS] = {0};
    struct nw_numa_set nodes;
    int32_t count;

    (void)state;
    put("0,2\n", "devices/system/node/has_memory"); /* node 1 has no memory */
    put("0-3\n", "devices/system/node/node0/cpulist");
    put("4-7\n", "devices/system/node/node1/cpulist");
    put("8-11\n", "devices/system/node/node2/cpulist");
    nw_cpus_add(cpus, 9);
    assert_int_equal(nw_local_cpus_numa(root, cpus, &nodes, &count), 1);
    assert_int_equal(nodes.bits[0], 4);
    assert_int_equal(count, 2);
    nw_cpus_add(cpus, 3);
    nw_cpus_add(cpus, 5);
    assert_int_equal(nw_local_cpus_numa(root, cpus, &nodes, &count), 2);
    assert_int_equal(nodes.bits[0], 5);
}

static void put_link(const char *class, const char *name, const char *target)
{
    char path[300];

    snprintf(path, sizeof path, "%s/class/%s/%s", root, class, name);
    make_folders(path);
    assert_int_equal(symlink(target, path), 0);
}

static void expect_nic(int32_t index, const char *name)
{
    char got[64];

    assert_int_equal(nw_local_cpus_nic(root, index, got, sizeof got), 0);
    assert_string_equal(got, name);
}

/* Cards are in PCI order whatever their names are; virtual interfaces do not
 * count; adapters of a fabric come before Ethernet cards. */
static void test_cards(void **state)
{
    char got[64];

    (void)state;
    put_link("net", "lo", "../../devices/virtual/net/lo");
    put_link("net", "eth0", "../../devices/pci0/0000:af:00.0/net/eth0");
    put_link("net", "eth1",
             "../../devices/pci0/0000:00:02.0/0000:3b:00.0/virtio1/net/eth1");
    expect_nic(0, "eth1");
    expect_nic(1, "eth0");
    assert_int_equal(nw_local_cpus_nic(root, 2, got, sizeof got), NW_ENODEV);
    put_link("infiniband", "mlx5_0",
             "../../devices/pci1/0000:d8:00.0/infiniband/mlx5_0");
    put_link("infiniband", "mlx5_1",
             "../../devices/pci1/0000:5e:00.1/infiniband/mlx5_1");
    expect_nic(0, "mlx5_1");
    expect_nic(1, "mlx5_0");
}

static void expect_variable(const char *name, const char *value)
{
    assert_non_null(getenv(name));
    assert_string_equal(getenv(name), value);
}

static void test_choose(void **state)
{
    (void)state;
    assert_int_equal(nw_launch_choose_nic("mlx5_1"), 0);
    expect_variable("UCX_NET_DEVICES", "mlx5_1:1");
    expect_variable("NCCL_IB_HCA", "=mlx5_1");
    assert_int_equal(nw_launch_choose_nic("hsn2"), 0);
    expect_variable("UCX_NET_DEVICES", "hsn2");
    expect_variable("FI_CXI_DEVICE_NAME", "cxi2");
    unsetenv("ZE_AFFINITY_MASK");
    assert_int_equal(nw_launch_choose_gpus("GPU-a,GPU-b"), 0);
    expect_variable("CUDA_VISIBLE_DEVICES", "GPU-a,GPU-b");
    expect_variable("HIP_VISIBLE_DEVICES", "0,1");
    assert_null(getenv("ZE_AFFINITY_MASK"));
    assert_int_equal(nw_launch_choose_gpus(""), 0);
    expect_variable("CUDA_VISIBLE_DEVICES", "");
    expect_variable("HIP_VISIBLE_DEVICES", "");
}

/* Counts GPUs on a machine where AMD's processors, which have no SIMD units,
 * are listed with the GPUs. */
static void test_gpu_count(void **state)
{
    (void)state;
    assert_int_equal(nw_local_cpus_gpu_count(root), 0);
    put("cpu_cores_count 64\nsimd_count 0\n",
        "sys/class/kfd/kfd/topology/nodes/0/properties");
    put("cpu_cores_count 0\nsimd_count 440\n",
        "sys/class/kfd/kfd/topology/nodes/1/properties");
    assert_int_equal(nw_local_cpus_gpu_count(root), 1);
    put("", "proc/driver/nvidia/gpus/0000:17:00.0/information");
    put("", "proc/driver/nvidia/gpus/0000:65:00.0/information");
    assert_int_equal(nw_local_cpus_gpu_count(root), 2);
}

#define MANY 20000

/* Looks up every hundredth rank, and compares it with the whole file. */
static void test_lookup(void **state)
{
    struct nw_launch_place one, whole;
    struct nw_random random;
    char path[100];
    FILE *out;

    (void)state;
    nw_random_init(&random, 3);
    snprintf(path, sizeof path, "%s/m", root);
    out = fopen(path, "w");
    assert_non_null(out);
    fprintf(out, "nodewise mapping 1\nranks %d\n# by hand\n", MANY);
    for (int r = 0; r < MANY; r++)
        fprintf(out, "%s%d n%u %u,%u %s%s\n", r % 7 ? "" : " ", r,
                (unsigned)nw_random_below(&random, 9),
                (unsigned)nw_random_below(&random, 8),
                (unsigned)nw_random_below(&random, 8) + 8,
                r == 1234 ? "2 1" : "-", r % 5 ? "" : " # note\n");
    fclose(out);
    assert_int_equal(nw_launch_place_read(path, 0, true, &whole), 0);
    for (int32_t r = 0; r < MANY; r += r ? 97 : 1234) {
        struct nw_ints a, b;

        assert_int_equal(nw_launch_place_read(path, r, false, &one), 0);
        assert_int_equal(one.index, 0);
        assert_int_equal(one.rank_count, MANY);
        a = nw_mapping_cores(one.mapping, 0);
        b = nw_mapping_cores(whole.mapping, r);
        assert_string_equal(one.mapping->node_name[one.mapping->node[0]],
                            whole.mapping->node_name[whole.mapping->node[r]]);
        assert_int_equal(a.count, b.count);
        assert_memory_equal(a.values, b.values, a.count * sizeof *a.values);
        /* a rank without GPU also gets a line of another rank: this line shows
         * that other ranks have GPUs */
        assert_int_equal(one.mapping->rank_count, r == 1234 ? 1 : 2);
        nw_mapping_free(one.mapping);
    }
    assert_int_equal(nw_launch_place_read(path, MANY, false, &one), 0);
    assert_int_equal(one.index, -1);
    nw_mapping_free(one.mapping);
    nw_mapping_free(whole.mapping);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test_setup_teardown(test_allowed, make_root, drop_root),
        cmocka_unit_test_setup_teardown(test_many, make_root, drop_root),
        cmocka_unit_test_setup_teardown(test_numa, make_root, drop_root),
        cmocka_unit_test_setup_teardown(test_cards, make_root, drop_root),
        cmocka_unit_test_setup_teardown(test_gpu_count, make_root, drop_root),
        cmocka_unit_test_setup_teardown(test_lookup, make_root, drop_root),
        cmocka_unit_test(test_choose),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
