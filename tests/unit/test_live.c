/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the data about the running machine that do not come from hwloc: PCIe
 * rates from the kernel's files, and GPU links from the test doubles of NVML
 * and ROCm SMI. */
#include "topology/gpu/links.h"
#include "topology/gpu/pcie.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Generation 1 to 6 by 16 lanes: 4, 8, 15.76, 31.5, 63, 121 GB/s one way. */
static void pcie_rates_are_those_of_the_standard(void **state)
{
    (void)state;
    assert_true(nw_pcie_rate(2.5, 16) == 4e9);
    assert_true(nw_pcie_rate(8, 16) == 15.76e9);
    assert_true(nw_pcie_rate(32, 4) > 15.7e9 && nw_pcie_rate(32, 4) < 15.8e9);
    assert_true(nw_pcie_rate(3, 16) == 0);
    assert_true(nw_pcie_rate(8, 0) == 0);
    assert_true(nw_pcie_rate(8, 33) == 0);
}

static void put(const char *folder, const char *name, const char *text)
{
    char path[512];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

/* An idle GPU runs its link at generation 1; its rate must be the highest that
 * it can run at. */
static void idle_links_have_their_full_rate(void **state)
{
    char root[] = "/tmp/nodewise-sys-XXXXXX", folder[256] = "", command[300];
    static const char *const below[] = {"/bus", "/pci", "/devices",
                                        "/0000:3b:00.0"};

    (void)state;
    assert_non_null(mkdtemp(root));
    strcpy(folder, root);
    for (size_t i = 0; i < sizeof below / sizeof *below; i++) {
        strcat(folder, below[i]);
        assert_int_equal(mkdir(folder, 0700), 0);
    }
    put(folder, "current_link_speed", "2.5 GT/s PCIe\n");
    put(folder, "max_link_speed", "16.0 GT/s PCIe\n");
    put(folder, "max_link_width", "16\n");
    put(folder, "current_link_width", "8\n");
    assert_true(nw_pcie_read(root, "0000:3b:00.0") == nw_pcie_rate(16, 8));
    put(folder, "max_link_speed", "Unknown\n");
    assert_true(nw_pcie_read(root, "0000:3b:00.0") == 0);
    assert_true(nw_pcie_read(root, "0000:3c:00.0") == 0);
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}

static struct nw_gpu_links *find(nw_status (*reader)(struct nw_gpu_links *))
{
    struct nw_gpu_links *links = calloc(1, sizeof *links);

    assert_non_null(links);
    assert_int_equal(reader(links), NW_OK);
    return links;
}

static void let_go(struct nw_gpu_links *links)
{
    free(links->link);
    free(links);
}

/* Two V100: two NVLinks between them, two to the processor, and one that is
 * down. */
static void nvml_counts_the_links_that_are_up(void **state)
{
    char file[] = "/tmp/nodewise-nvml-XXXXXX";
    int fd = mkstemp(file);
    FILE *out = fdopen(fd, "w");
    struct nw_gpu_links *links;

    (void)state;
    assert_non_null(out);
    fputs("gpu 0004:04:00.0 GPU-a\ngpu 0004:05:00.0 GPU-b\nnear 0 1 40\n"
          "link 0 gpu 0004:05:00.0 2 2.0\nlink 1 gpu 0004:04:00.0 2 2.0\n"
          "link 0 npu 0004:00:00.0 2 2.2\nlink 1 switch 0004:0a:00.0 6 3.0\n",
          out);
    fclose(out);
    setenv("FAKE_NVML", file, 1);
    links = find(nw_nvml_find);
    assert_int_equal(links->gpu_count, 2);
    assert_string_equal(links->gpu[1].uuid, "GPU-b");
    assert_string_equal(links->gpu[1].pci, "0004:05:00.0");
    assert_int_equal(links->near[1][0], 40);
    assert_int_equal(links->link_count, 4);
    assert_int_equal(links->link[0].far, NW_FAR_GPU);
    assert_int_equal(links->link[0].count, 2);
    assert_true(links->link[0].rate == 25e9);
    assert_int_equal(links->link[1].far, NW_FAR_PROCESSOR);
    assert_int_equal(links->link[3].far, NW_FAR_SWITCH);
    assert_int_equal(links->link[3].count, 6);
    let_go(links);
    unsetenv("FAKE_NVML");
    links = find(nw_nvml_find); /* a driver that does not start */
    assert_int_equal(links->gpu_count, 0);
    let_go(links);
    unlink(file);
}

/* The rates of NVIDIA's data sheets for P100, V100, A100, A40, H100 and B200:
 * the four links of an A40 have 112.5 GB/s in both directions, so one has 14
 * GB/s in one. An H100 may report the version 4.0 or 5.0. */
static void nvml_rates_are_those_of_the_generation(void **state)
{
    static const struct {
        const char *capability, *version;
        double rate;
    } gpus[] = {{"6.0", "1.0", 20e9}, {"7.0", "2.2", 25e9},
                {"8.0", "3.0", 25e9}, {"8.0", "3.1", 25e9},
                {"8.6", "3.0", 14e9}, {"9.0", "4.0", 25e9},
                {"9.0", "5.0", 25e9}, {"10.0", "5.0", 50e9}};

    (void)state;
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        char file[] = "/tmp/nodewise-nvml-XXXXXX";
        FILE *out = fdopen(mkstemp(file), "w");
        struct nw_gpu_links *links;

        assert_non_null(out);
        fprintf(out,
                "gpu 0004:04:00.0 GPU-a %s\n"
                "link 0 switch 0004:0a:00.0 1 %s\n",
                gpus[i].capability, gpus[i].version);
        fclose(out);
        setenv("FAKE_NVML", file, 1);
        links = find(nw_nvml_find);
        assert_int_equal(links->link_count, 1);
        assert_true(links->link[0].rate == gpus[i].rate);
        let_go(links);
        unlink(file);
    }
    unsetenv("FAKE_NVML");
}

/* A board with two GPUs (NVML's level 0), and a GPU behind another processor
 * (level 50): only the first two get a common bridge. Without levels, no GPUs
 * do. */
static void gpus_of_one_board_have_a_bridge(void **state)
{
    (void)state;
    for (int known = 0; known < 2; known++) {
        char file[] = "/tmp/nodewise-nvml-XXXXXX";
        FILE *out = fdopen(mkstemp(file), "w");
        nw_topology *topology;
        struct nw_node_type *type;
        const int32_t *parent;

        assert_non_null(out);
        fprintf(out,
                "gpu 0000:06:00.0 GPU-a 3.7\ngpu 0000:07:00.0 GPU-b 3.7\n"
                "gpu 0000:86:00.0 GPU-c 3.7\n%s",
                known ? "near 0 1 0\nnear 0 2 50\nnear 1 2 50\n" : "");
        fclose(out);
        setenv("FAKE_NVML", file, 1);
        assert_int_equal(nw_topology_new("k80", &topology), NW_OK);
        assert_int_equal(nw_node_type_new(topology, "k80", &type), NW_OK);
        assert_int_equal(nw_gpu_links_apply(topology, type), NW_OK);
        assert_int_equal(type->gpu_count, 3);
        /* the node, the bridge, and three GPUs in their order */
        assert_int_equal(type->vertex_count, known ? 5 : 4);
        parent = type->parent + (known ? 2 : 1);
        assert_int_equal(parent[0], known);
        assert_int_equal(parent[1], known);
        assert_int_equal(parent[2], 0);
        nw_topology_free(topology);
        unlink(file);
    }
    unsetenv("FAKE_NVML");
}

static void rocm_tells_which_pairs_have_xgmi(void **state)
{
    struct nw_gpu_links *links;

    (void)state;
    setenv("FAKE_ROCM", "0000:03:00.0 0000:27:00.0 0000:43:00.0 0000:63:00.0",
           1);
    links = find(nw_rocm_find);
    assert_int_equal(links->gpu_count, 4);
    assert_string_equal(links->gpu[2].pci, "0000:43:00.0");
    assert_int_equal(links->link_count, 4); /* two pairs, both ways */
    assert_int_equal(links->link[0].kind, NW_LINK_XGMI);
    assert_string_equal(links->link[0].pci, "0000:27:00.0");
    assert_true(links->link[0].rate == 50e9);
    let_go(links);
    unsetenv("FAKE_ROCM");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pcie_rates_are_those_of_the_standard),
        cmocka_unit_test(idle_links_have_their_full_rate),
        cmocka_unit_test(nvml_counts_the_links_that_are_up),
        cmocka_unit_test(nvml_rates_are_those_of_the_generation),
        cmocka_unit_test(gpus_of_one_board_have_a_bridge),
        cmocka_unit_test(rocm_tells_which_pairs_have_xgmi),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
