/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of launchers' files against lines written by hand. The meaning of these
 * lines was checked with the launchers, and tests/mpi/launch checks it again.
 * The order of visible GPUs is tested against its definition, and binding
 * against the kernel. */
#include <nodewise/launch.h>

#include "base/cpus.h"
#include "base/random.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define NODES 3
#define CORES 4 /* of each of two packages */
#define GPUS 4

static void fill_node(struct nw_node_type *type, int32_t class, bool known)
{
    int32_t package, v;

    for (int p = 0; p < 2; p++) {
        assert_int_equal(
            nw_node_type_add(type, 0, NW_VERTEX_PACKAGE, class, &package), 0);
        for (int c = 0; c < CORES; c++)
            assert_int_equal(
                nw_node_type_add(type, package, NW_VERTEX_CORE, class, &v), 0);
        for (int g = 0; g < GPUS / 2; g++)
            assert_int_equal(
                nw_node_type_add(type, package, NW_VERTEX_GPU, class, &v), 0);
    }
    if (!known)
        return;
    /* the operating system numbers the cores of the packages alternately */
    type->core_pu = calloc(2 * CORES + 1, sizeof *type->core_pu);
    type->pu_os = calloc(2 * CORES, sizeof *type->pu_os);
    for (int32_t i = 0; i < 2 * CORES; i++) {
        type->core_pu[i + 1] = i + 1;
        type->pu_os[i] = 2 * (i % CORES) + i / CORES;
    }
}

/* Three nodes n0, n1, n2 on one switch; `known`: with UUIDs and the operating
 * system's numbers. */
static nw_topology *make_cluster(bool known)
{
    struct nw_link_class figures = nw_link_assumed(NW_LINK_NIC);
    struct nw_network *network;
    struct nw_node_type *type;
    nw_topology *topology;
    int32_t class;

    assert_int_equal(nw_topology_new("test", &topology), 0);
    assert_int_equal(nw_topology_class(topology, &figures, &class), 0);
    assert_int_equal(nw_node_type_new(topology, "t", &type), 0);
    fill_node(type, class, known);
    type->gpu_count = known ? GPUS : 0;
    type->gpu_device = known ? calloc(GPUS, sizeof *type->gpu_device) : NULL;
    for (int i = 0; known && i < GPUS; i++)
        assert_true(asprintf(&type->gpu_device[i].uuid, "GPU-%d", i) > 0);
    assert_int_equal(nw_network_new(1, &network), 0);
    network->parent = malloc(sizeof *network->parent);
    network->uplink = malloc(sizeof *network->uplink);
    network->parent[0] = network->uplink[0] = -1;
    network->switch_name[0] = strdup("switch");
    assert_int_equal(nw_network_finish_tree(network), 0);
    nw_topology_take_network(topology, network);
    assert_int_equal(nw_topology_set_nodes(topology, NODES, NODES), 0);
    for (int32_t n = 0; n < NODES; n++) {
        assert_true(asprintf(&topology->node_name[n], "n%d", n) > 0);
        topology->node_type[n] = 0;
        topology->port_first[n] = n;
        topology->port[n] = 0;
        topology->port_class[n] = class;
    }
    topology->port_first[NODES] = NODES;
    assert_int_equal(nw_topology_finish(topology, NW_ELEMENTS_CORE), 0);
    return topology;
}

struct place {
    int32_t node, core, gpu;
};

static nw_mapping *make_mapping(const nw_topology *topology,
                                const struct place *places, int32_t count)
{
    nw_mapping *mapping;

    assert_int_equal(nw_mapping_new(topology, count, &mapping), 0);
    for (int32_t r = 0; r < count; r++) {
        mapping->node[r] = places[r].node;
        mapping->core[r] = places[r].core;
        mapping->gpu[r] = places[r].gpu;
    }
    return mapping;
}

static char *command_of(const nw_launch *launch)
{
    static char text[1000];

    text[0] = '\0';
    for (size_t i = 0; i < launch->word_count; i++) {
        strcat(text, i ? " " : "");
        strcat(text, launch->word[i]);
    }
    return text;
}

/* Checks what a launcher gets: its first file and its command line. */
static void expect(const nw_topology *topology, const nw_mapping *mapping,
                   const char *launcher, const char *const texts[2])
{
    struct nw_launch_options options = NW_LAUNCH_OPTIONS_INIT;
    nw_launch *launch = NULL;

    options.launcher = launcher;
    options.prefix = "p";
    options.mapping_path = "m";
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch), 0);
    assert_string_equal(launch->file[0].text, texts[0]);
    assert_string_equal(command_of(launch), texts[1]);
    nw_launch_free(launch);
}

static void test_rankfile(void **state)
{
    static const struct place places[] = {{2, 4, -1}, {0, 3, -1}, {2, 7, -1}};
    static const char *const four[] = {
        "rank 0=n2 slot=1:0\nrank 1=n0 slot=0:3\nrank 2=n2 slot=1:3\n",
        "mpirun -rf p.rankfile PROGRAM"};
    static const char *const five[] = {
        "rank 0=n2 slot=4\nrank 1=n0 slot=3\nrank 2=n2 slot=7\n",
        "mpirun --hostfile p.hostfile --map-by rankfile:file=p.rankfile "
        "--bind-to core:overload-allowed PROGRAM"};
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, places, 3);

    (void)state;
    expect(topology, mapping, "openmpi4", four);
    expect(topology, mapping, "openmpi5", five);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

/* Every range of cores names its socket, since Open MPI refuses "0:1,2". */
static void test_rankfile_sets(void **state)
{
    static const struct place places[] = {{1, 0, -1}, {1, 0, -1}};
    static const int32_t cores[] = {2, 3, 4, 0, 2};
    static const char *const texts[] = {
        "rank 0=n1 slot=0:2-3,1:0\nrank 1=n1 slot=0:0,0:2\n",
        "mpirun -rf p.rankfile PROGRAM"};
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, places, 2);

    (void)state;
    mapping->core = realloc(mapping->core, sizeof cores);
    memcpy(mapping->core, cores, sizeof cores);
    mapping->core_row = calloc(3, sizeof *mapping->core_row);
    mapping->core_row[1] = 3;
    mapping->core_row[2] = 5;
    expect(topology, mapping, "openmpi4", texts);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

/* Reads a placement. Cores 4 and 1 of a node are CPUs 1 and 2 of the operating
 * system. */
static nw_status read_text(const char *text, const nw_topology *topology,
                           nw_mapping **out)
{
    char path[] = "/tmp/nodewise-test-XXXXXX";
    int file = mkstemp(path);
    nw_status status;

    assert_int_equal(write(file, text, strlen(text)), strlen(text));
    close(file);
    status = nw_launch_placement_read(path, topology, out);
    unlink(path);
    return status;
}

/* A random mapping of up to 2 x CORES ranks on each node; each rank has `width`
 * adjacent cores of one package. */
static nw_mapping *random_mapping(const nw_topology *topology, int32_t width,
                                  struct nw_random *random)
{
    int32_t most = NODES * 2 * CORES / width, slot[NODES * 2 * CORES];
    int32_t count = 1 + (int32_t)nw_random_below(random, (uint64_t)most);
    nw_mapping *mapping;

    for (int32_t i = 0; i < most; i++) {
        int32_t k = (int32_t)nw_random_below(random, (uint64_t)i + 1);

        slot[i] = slot[k];
        slot[k] = i;
    }
    assert_int_equal(nw_mapping_new(topology, count, &mapping), 0);
    free(mapping->core);
    mapping->core = calloc((size_t)(count * width), sizeof *mapping->core);
    mapping->core_row = calloc((size_t)count + 1, sizeof *mapping->core_row);
    for (int32_t r = 0; r < count; r++) {
        mapping->node[r] = slot[r] * width / (2 * CORES);
        mapping->gpu[r] = -1;
        mapping->core_row[r + 1] = (size_t)((r + 1) * width);
        for (int32_t i = 0; i < width; i++)
            mapping->core[r * width + i] = slot[r] * width % (2 * CORES) + i;
    }
    return mapping;
}

/* Checks that the written mapping is read back, or only its nodes if `cores` is
 * false. */
static void expect_back(const nw_topology *topology, const nw_mapping *mapping,
                        const char *launcher, bool cores)
{
    struct nw_launch_options options = NW_LAUNCH_OPTIONS_INIT;
    nw_launch *launch = NULL;
    nw_mapping *back = NULL;

    options.launcher = launcher;
    options.mapping_path = "m";
    options.place_only = !cores;
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch), 0);
    assert_int_equal(read_text(launch->file[0].text, topology, &back), 0);
    assert_int_equal(back->rank_count, mapping->rank_count);
    for (int32_t r = 0; r < back->rank_count; r++) {
        struct nw_ints was = nw_mapping_cores(mapping, r);
        struct nw_ints is = nw_mapping_cores(back, r);

        assert_int_equal(back->node[r], mapping->node[r]);
        assert_int_equal(back->gpu[r], -2);
        assert_int_equal(is.count, cores ? was.count : 0);
        if (cores)
            assert_memory_equal(is.values, was.values,
                                was.count * sizeof *was.values);
    }
    nw_mapping_free(back);
    nw_launch_free(launch);
}

static void test_placements_come_back(void **state)
{
    nw_topology *topology = make_cluster(true);
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 6);
    for (int i = 0; i < 200; i++) {
        nw_mapping *mapping = random_mapping(topology, 1 << i % 3, &random);

        expect_back(topology, mapping, "openmpi4", true);
        expect_back(topology, mapping, "openmpi5", true);
        expect_back(topology, mapping, "openmpi4", false);
        expect_back(topology, mapping, "mpich", false);
        nw_mapping_free(mapping);
    }
    nw_topology_free(topology);
}

static void test_placements_by_hand(void **state)
{
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping;

    (void)state;
    /* ranks in any order; blanks; several pieces; core 1 of package 1 is 5 */
    assert_int_equal(read_text("# by hand\nrank 1 = n2 slot=1:1,0:0-1\n"
                               "rank 0=n0 slots=6\n",
                               topology, &mapping),
                     0);
    assert_int_equal(mapping->rank_count, 2);
    assert_int_equal(mapping->node[0], 0);
    assert_int_equal(mapping->node[1], 2);
    assert_int_equal(nw_mapping_cores(mapping, 0).values[0], 6);
    assert_int_equal(nw_mapping_cores(mapping, 1).count, 3);
    assert_int_equal(nw_mapping_cores(mapping, 1).values[0], 5);
    assert_int_equal(nw_mapping_cores(mapping, 1).values[2], 1);
    nw_mapping_free(mapping);
    /* as the manual of Open MPI describes lists: a package holds for the cores
     * after it, up to the next package or ';' */
    assert_int_equal(
        read_text("rank 0=n0 slot=1:0,2-3;0\n", topology, &mapping), 0);
    assert_int_equal(nw_mapping_cores(mapping, 0).count, 4);
    assert_memory_equal(nw_mapping_cores(mapping, 0).values,
                        ((int32_t[]){4, 6, 7, 0}), 4 * sizeof(int32_t));
    nw_mapping_free(mapping);
    assert_int_equal(read_text("n1 slots=2\nn0:1\nn1\n", topology, &mapping),
                     0);
    assert_int_equal(mapping->rank_count, 4);
    assert_memory_equal(mapping->node, ((int32_t[]){1, 1, 0, 1}),
                        4 * sizeof(int32_t));
    nw_mapping_free(mapping);
    /* in the forms of host files */
    assert_int_equal(read_text("me@n2 max_slots=4\nn[0-1]:2\nn2 cpu = 2\n",
                               topology, &mapping),
                     0);
    assert_int_equal(mapping->rank_count, 7);
    assert_memory_equal(mapping->node, ((int32_t[]){2, 0, 0, 1, 1, 2, 2}),
                        7 * sizeof(int32_t));
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

static void test_bad_placements(void **state)
{
    static const char *const bad[][2] = {
        {"# none\n", ": no ranks"},
        {"rank 0=n9 slot=0\n", ":1: node 'n9' is not in the topology"},
        {"rank 0=n0 slot=0\nrank 0=n1 slot=0\n", ":2: rank 0 is placed twice"},
        {"rank 0=n0 slot=0\nrank 2=n1 slot=0\n", ": rank 1 of 3 is missing"},
        {"rank 0=n0\n", ":1: expected 'rank N=HOST slot=CORES'"},
        {"rank 0\n", ":1: expected 'rank N=HOST slot=CORES'"},
        {"rank x=n0 slot=0\n", ":1: a rank is a whole number from 0, not 'x'"},
        {"rank -1=n0 slot=0\n", ":1: a rank is a whole number from 0"},
        {"rank 1 2=n0 slot=0\n", ":1: expected 'rank N=HOST slot=CORES'"},
        {"rank 99999=n0 slot=0\n",
         ":1: rank 99999, but the file has too few lines"},
        {"n0\nn1:0\n", ":2: host 'n1': slots are a number from 1, not '0'"},
        {"n0 slots=x\n", ":1: host 'n0': slots are a number from 1, not 'x'"},
        {"n0 max=2\n", ":1: expected slots=N, not 'max=2'"},
        {"n0:70000\n", ":1: host 'n0' has 70000 slots; at most 65536"},
        {"fe80::1\n", ":1: 'fe80::1' is an IPv6 address"},
        {"n0\nrank 1=n0 slot=0\n", ":2: a rankfile and a list of hosts"},
        {"\nrank 0=n0 slot=2:0\n", ":2: node 'n0' has no core 2:0"},
        {"rank 0=n0 slot=0:4\n", ":1: node 'n0' has no core 0:4"},
        {"rank 0=n0 slot=8\n", ":1: node 'n0' has no core 8"},
        {"rank 0=n0 slot=1:0,4\n", ":1: node 'n0' has no core 1:4"},
        {"rank 0=n0 slot=3-1\n", ":1: invalid cores"},
        {"rank 0=n0 slot=0,\n", ":1: invalid cores"},
    };
    nw_topology *topology = make_cluster(true);

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        nw_mapping *mapping = NULL;

        assert_int_equal(read_text(bad[i][0], topology, &mapping), NW_EFORMAT);
        if (!strstr(nw_error_text(), bad[i][1]))
            fail_msg("%s: %s", bad[i][1], nw_error_text());
    }
    nw_topology_free(topology);
}

static void test_hydra(void **state)
{
    static const struct place alike[] = {
        {2, 4, -1}, {2, 1, -1}, {0, 4, -1}, {0, 1, -1}, {1, 4, -1}};
    static const char *const texts[] = {
        "n2:2\nn0:2\nn1:1\n",
        "mpiexec -f p.hostfile -n 5 -bind-to user:1,2 PROGRAM"};
    static const char *const by_exec[] = {
        "n2:2\nn0:2\nn1:1\n", "mpiexec -f p.hostfile -n 5 -bind-to none "
                              "nodewise exec m -- PROGRAM"};
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, alike, 5);

    (void)state;
    expect(topology, mapping, "mpich", texts);
    mapping->core[3] = 2;
    expect(topology, mapping, "mpich", by_exec);
    nw_topology_free(topology);
    mapping->core[3] = 1;
    topology = make_cluster(false); /* numbers not known */
    expect(topology, mapping, "mpich", by_exec);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

static void test_gpus_need_exec(void **state)
{
    static const struct place places[] = {{1, 0, 3}, {0, 0, -1}};
    static const char *const texts[] = {
        "rank 0=n1 slot=0:0\nrank 1=n0 slot=0:0\n",
        "mpirun -rf p.rankfile nodewise exec m -- PROGRAM"};
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, places, 2);

    (void)state;
    expect(topology, mapping, "openmpi4", texts);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

static void test_refusals(void **state)
{
    static const struct place places[] = {{1, 0, -1}, {1, 1, -1}, {0, 5, -1}};
    struct nw_launch_options options = NW_LAUNCH_OPTIONS_INIT;
    nw_topology *topology = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, places, 3);
    nw_launch *launch = NULL;

    (void)state;
    options.launcher = "bproc";
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch),
                     NW_EINVAL);
    options.launcher = "mpich"; /* core 0 of one node, core 5 of the other */
    options.exec = NW_LAUNCH_EXEC_NEVER;
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch),
                     NW_EINVAL);
    options.launcher = "openmpi4";
    mapping->gpu[2] = -2;
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch),
                     NW_EFORMAT);
    assert_non_null(strstr(nw_error_text(), "GPU of rank 2"));
    mapping->gpu[2] = -1;
    mapping->node[1] = -1;
    assert_int_equal(nw_launch_new(topology, mapping, &options, &launch),
                     NW_EFORMAT);
    assert_null(launch);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

static void expect_gpus(const nw_topology *topology, const nw_mapping *mapping,
                        int32_t rank, const char *one, const char *permuted)
{
    int32_t node = mapping->node[rank];
    char *text = NULL;

    assert_int_equal(
        nw_launch_gpus(topology, node, mapping, rank, NW_GPU_ONE, &text), 0);
    assert_string_equal(text, one);
    free(text);
    assert_int_equal(
        nw_launch_gpus(topology, node, mapping, rank, NW_GPU_PERMUTED, &text),
        0);
    assert_string_equal(text, permuted);
    free(text);
}

/* Local ranks 0, 1, 2 of n1 have GPUs 2, 0, 3: cudaSetDevice(local rank)
 * selects the right GPU for each, and all ranks number the GPUs in the same
 * way. */
static void test_visible_gpus(void **state)
{
    static const struct place places[] = {
        {1, 0, 2}, {0, 0, 1}, {1, 1, 0}, {1, 2, 3}, {0, 1, -1}};
    nw_topology *topology = make_cluster(false);
    nw_topology *named = make_cluster(true);
    nw_mapping *mapping = make_mapping(topology, places, 5);

    (void)state;
    expect_gpus(topology, mapping, 0, "2", "2,0,3,1");
    expect_gpus(topology, mapping, 2, "0", "2,0,3,1");
    expect_gpus(topology, mapping, 3, "3", "2,0,3,1");
    expect_gpus(topology, mapping, 1, "1", "1,0,2,3");
    expect_gpus(topology, mapping, 4, "", "1,0,2,3");
    expect_gpus(named, mapping, 3, "GPU-3", "GPU-2,GPU-0,GPU-3,GPU-1");
    nw_mapping_free(mapping);
    nw_topology_free(topology);
    nw_topology_free(named);
}

static void test_no_gpus(void **state)
{
    static const struct place places[] = {{1, 0, -1}};
    nw_topology *topology = make_cluster(false);
    nw_mapping *mapping = make_mapping(topology, places, 1);
    char *text = (char *)"untouched";

    (void)state;
    assert_int_equal(
        nw_launch_gpus(topology, 1, mapping, 0, NW_GPU_PERMUTED, &text), 0);
    assert_null(text);
    mapping->gpu[0] = 1;
    if (access("/proc/driver/nvidia/gpus", F_OK) && access("/dev/kfd", F_OK) &&
        access("/dev/dri", F_OK))
        assert_int_equal(
            nw_launch_gpus(topology, -1, mapping, 0, NW_GPU_PERMUTED, &text),
            NW_ENODEV);
    nw_mapping_free(mapping);
    nw_topology_free(topology);
}

/* However ranks share the GPUs, the visible GPUs are a permutation in which the
 * rank's own GPU is where a program that takes its local rank modulo the count
 * looks. */
static void test_visible_property(void **state)
{
    nw_topology *topology = make_cluster(false);
    struct place places[12];
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int round = 0; round < 200; round++) {
        nw_mapping *mapping;
        int32_t n = 1 + (int32_t)nw_random_below(&random, 12);

        for (int32_t r = 0; r < n; r++)
            places[r] =
                (struct place){(int32_t)nw_random_below(&random, NODES), 0,
                               (int32_t)nw_random_below(&random, GPUS)};
        mapping = make_mapping(topology, places, n);
        for (int32_t r = 0; r < n; r++) {
            int32_t slot = nw_launch_local_rank(mapping, r) % GPUS, seen = 0;
            char *text = NULL;

            assert_int_equal(nw_launch_gpus(topology, mapping->node[r], mapping,
                                            r, NW_GPU_PERMUTED, &text),
                             0);
            assert_int_equal(strlen(text), 2 * GPUS - 1);
            for (int g = 0; g < GPUS; g++)
                seen |= 1 << (text[2 * g] - '0');
            assert_int_equal(seen, (1 << GPUS) - 1);
            assert_int_equal(text[2 * slot] - '0', places[r].gpu);
            free(text);
        }
        nw_mapping_free(mapping);
    }
    nw_topology_free(topology);
}

static void test_find_rank(void **state)
{
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK",
                                        "OMPI_COMM_WORLD_SIZE",
                                        "PMI_RANK",
                                        "PMI_SIZE",
                                        "PMIX_RANK",
                                        "SLURM_PROCID",
                                        "SLURM_NTASKS"};
    struct nw_launch_rank me;

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        unsetenv(names[i]);
    assert_int_equal(nw_launch_find_rank(&me), NW_ENODEV);
    setenv("SLURM_PROCID", "0", 1); /* the variable of the batch script */
    setenv("SLURM_NTASKS", "1", 1);
    setenv("PMI_RANK", "5", 1);
    setenv("PMI_SIZE", "8", 1);
    assert_int_equal(nw_launch_find_rank(&me), 0);
    assert_int_equal(me.rank, 5);
    assert_int_equal(me.size, 8);
    setenv("PMI_RANK", "-1", 1);
    assert_int_equal(nw_launch_find_rank(&me), NW_EINVAL);
    setenv("PMI_RANK", "five", 1);
    assert_int_equal(nw_launch_find_rank(&me), NW_EINVAL);
}

/* A rank that its launcher has bound to one core still counts all cores. */
static void test_machine(void **state)
{
    nw_topology *machine = NULL;
    unsigned long before[NW_CPU_WORDS], after[NW_CPU_WORDS];
    unsigned long narrow[NW_CPU_WORDS] = {0};
    int32_t count;
    int32_t first = 0;

    (void)state;
    assert_int_equal(nw_launch_machine(NULL, &machine), 0);
    count = nw_topology_element_count(machine);
    nw_topology_free(machine);
    assert_true(nw_cpus_read(0, before));
    while (!nw_cpus_has(before, NW_CPU_WORDS, first))
        first++;
    nw_cpus_add(narrow, first);
    assert_true(nw_cpus_bind(narrow));
    assert_int_equal(nw_launch_machine(NULL, &machine), 0);
    assert_true(nw_cpus_read(0, after));
    assert_true(nw_cpus_bind(before));
    assert_int_equal(nw_topology_element_count(machine), count);
    assert_memory_equal(narrow, after, sizeof after);
    nw_topology_free(machine);
}

static void test_bind(void **state)
{
    nw_topology *live = NULL;
    nw_mapping *mapping;
    unsigned long before[NW_CPU_WORDS], after[NW_CPU_WORDS];
    const int32_t *cpus;
    size_t count;

    (void)state;
    assert_int_equal(nw_launch_machine(NULL, &live), 0);
    mapping =
        make_mapping(live, (struct place[]){{0, 0, -1}, {0, 99999, -1}}, 2);
    assert_true(nw_cpus_read(0, before));
    assert_int_equal(nw_launch_bind(live, mapping, 1), NW_ENODEV);
    assert_true(nw_cpus_read(0, after));
    assert_memory_equal(before, after, sizeof after);
    assert_int_equal(nw_launch_bind(live, mapping, 0), 0);
    assert_true(nw_cpus_read(0, after));
    count = nw_topology_element_cpus(live, 0, &cpus);
    assert_int_equal(nw_cpus_count(after, NW_CPU_WORDS), count);
    for (size_t i = 0; i < count; i++)
        assert_true(nw_cpus_has(after, NW_CPU_WORDS, cpus[i]));
    assert_true(nw_cpus_bind(before));
    nw_mapping_free(mapping);
    nw_topology_free(live);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rankfile),
        cmocka_unit_test(test_rankfile_sets),
        cmocka_unit_test(test_placements_come_back),
        cmocka_unit_test(test_placements_by_hand),
        cmocka_unit_test(test_bad_placements),
        cmocka_unit_test(test_hydra),
        cmocka_unit_test(test_gpus_need_exec),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_visible_gpus),
        cmocka_unit_test(test_no_gpus),
        cmocka_unit_test(test_visible_property),
        cmocka_unit_test(test_find_rank),
        cmocka_unit_test(test_machine),
        cmocka_unit_test(test_bind),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
