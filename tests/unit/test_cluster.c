/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/text.h"
#include "topology/topology.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static nw_topology *load(const char *source)
{
    nw_topology *topology = NULL;

    if (nw_topology_load(source, NULL, &topology))
        fail_msg("%s", nw_error_text());
    return topology;
}

/* Reads `text` as a cluster file. */
static nw_status load_text(const char *text, nw_topology **out)
{
    char path[] = "/tmp/nodewise-cluster-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    nw_status status;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    status = nw_topology_load(path, NULL, out);
    unlink(path);
    return status;
}

static double between(const nw_topology *topology, int32_t a, int32_t b)
{
    return nw_topology_distance(topology, nw_topology_element_end(topology, a),
                                nw_topology_element_end(topology, b));
}

static double between_gpus(const nw_topology *topology, int32_t a, int32_t b)
{
    return nw_topology_distance(topology, nw_topology_gpu_end(topology, a),
                                nw_topology_gpu_end(topology, b));
}

/* Distances counted by hand in the picture at the beginning of magc-a.yaml. */
static void magc_a_is_the_machine_of_the_paper(void **state)
{
    nw_topology *t = load("magc-a");

    (void)state;
    assert_string_equal(nw_topology_name(t), "magc-a");
    assert_int_equal(nw_topology_node_count(t), 4);
    assert_int_equal(nw_topology_element_count(t), 96);
    assert_int_equal(nw_topology_gpu_count(t), 64);
    assert_string_equal(nw_topology_node_name(t, 3), "a4");
    assert_string_equal(nw_topology_gpu_info(t, 63).name, "Tesla K80");
    assert_string_equal(nw_topology_nic_info(t, 2, 0).name, "mlx4_0");
    assert_int_equal(nw_topology_gpu_package(t, 7), 0);
    assert_int_equal(nw_topology_gpu_package(t, 8), 1);
    assert_int_equal(between(t, 0, 11), 2);
    assert_int_equal(between(t, 0, 12), 4);
    assert_int_equal(between(t, 0, 24), 6);
    assert_int_equal(between(t, 12, 24), 8);
    assert_int_equal(between_gpus(t, 0, 1), 2);
    assert_int_equal(between_gpus(t, 0, 2), 4);
    assert_int_equal(between_gpus(t, 0, 4), 6);
    assert_int_equal(between_gpus(t, 0, 8), 8);
    assert_int_equal(between_gpus(t, 0, 16), 10);
    nw_topology_free(t);
}

static void figures_are_those_written(void **state)
{
    nw_topology *t = load("magc-a");
    uint32_t *hops = malloc(nw_topology_route_max(t) * sizeof *hops);
    size_t count = nw_topology_route(t, nw_topology_gpu_end(t, 0),
                                     nw_topology_gpu_end(t, 16), hops);
    static const double bandwidth[] = {12e9,  12e9,  12e9, 6.4e9, 3.4e9,
                                       3.4e9, 6.4e9, 12e9, 12e9,  12e9};

    (void)state;
    assert_int_equal(count, 10);
    for (size_t i = 0; i < count; i++) {
        struct nw_link_info link = nw_topology_link(t, (int32_t)(hops[i] / 2));

        assert_true(link.bandwidth[hops[i] & 1] == bandwidth[i]);
        assert_false(link.assumed);
    }
    free(hops);
    nw_topology_free(t);
}

#define HEAD                                                                   \
    "nodewise: cluster 1\n"                                                    \
    "node_types:\n"                                                            \
    "  t:\n"                                                                   \
    "    cpu: {cores: 2}\n"

static void small_files(void **state)
{
    nw_topology *t = NULL;

    (void)state;
    assert_int_equal(load_text(HEAD "nodes: [{name: x}]\n", &t), NW_OK);
    assert_int_equal(nw_topology_element_count(t), 2);
    assert_int_equal(between(t, 0, 1), 2);
    nw_topology_free(t);

    assert_int_equal(
        load_text(HEAD "nodes: [{name: 'n[1-4]', switch: 'leaf[0-1]'}]\n"
                       "network: {tree: {switch: top, link: 10GB/s, switches: "
                       "[{switch: 'leaf[0-1]'}]}}\n",
                  &t),
        NW_OK);
    /* core, package, node and the same down again */
    assert_int_equal(between(t, 0, 2), 6);
    assert_int_equal(between(t, 0, 4), 8);
    assert_true(nw_topology_link(t, 0).bandwidth[0] == 10e9);
    assert_false(nw_topology_link(t, 0).assumed);
    nw_topology_free(t);
}

static void bundled_are_listed_and_load(void **state)
{
    const char *name, *summary;
    size_t count = 0;

    (void)state;
    for (; nw_topology_bundled(count, &name, &summary); count++) {
        nw_topology *t = load(name);

        assert_true(strlen(summary) > 10);
        assert_string_equal(nw_topology_name(t), name);
        nw_topology_free(t);
    }
    assert_int_equal(count, 15);
    assert_false(nw_topology_bundled(count, &name, &summary));
    assert_false(nw_topology_bundled(count + 5, &name, &summary));
}

/* Hops counted by hand in figure 1 of the paper: one switch to the nearest
 * node, three to the farthest. */
static void rashti_clusters(void **state)
{
    nw_topology *t = load("rashti-32");

    (void)state;
    assert_int_equal(nw_topology_element_count(t), 32);
    assert_int_equal(between(t, 0, 3), 2);
    assert_int_equal(between(t, 0, 4), 4);
    assert_int_equal(between(t, 0, 8), 6);
    assert_int_equal(between(t, 8, 16), 8);
    assert_string_equal(
        nw_topology_level_name(
            t, nw_topology_level(t, nw_topology_element_end(t, 8),
                                 nw_topology_element_end(t, 16))),
        "3 switches");
    nw_topology_free(t);
    t = load("rashti-192");
    assert_int_equal(nw_topology_element_count(t), 192);
    assert_int_equal(between(t, 0, 12), 6);
    assert_int_equal(between(t, 0, 96), 8);
    nw_topology_free(t);
}

static void summit_has_triads(void **state)
{
    nw_topology *t = load("summit:36");
    uint32_t hops[16];

    (void)state;
    assert_int_equal(nw_topology_node_count(t), 36);
    assert_int_equal(nw_topology_gpu_count(t), 216);
    assert_string_equal(nw_topology_node_name(t, 35), "summit0036");
    assert_int_equal(between_gpus(t, 0, 1), 1);
    assert_int_equal(between_gpus(t, 3, 5), 1);
    assert_int_equal(between_gpus(t, 0, 3), 4);
    assert_int_equal(nw_topology_route(t, nw_topology_gpu_end(t, 2),
                                       nw_topology_gpu_end(t, 0), hops),
                     1);
    assert_int_equal(nw_topology_link(t, (int32_t)(hops[0] / 2)).kind,
                     NW_LINK_NVLINK);
    /* GPU, card, switch, and two more links between two racks */
    assert_int_equal(between_gpus(t, 0, 6), 6);
    assert_int_equal(between_gpus(t, 0, 17 * 6), 6);
    assert_int_equal(between_gpus(t, 0, 18 * 6), 8);
    assert_int_equal(nw_topology_gpu_end(t, 0).nic, -1);
    nw_topology_free(t);
}

static void dgx_has_rails(void **state)
{
    nw_topology *t = load("dgx-h100:3");

    (void)state;
    assert_int_equal(nw_topology_gpu_count(t), 24);
    assert_int_equal(between_gpus(t, 0, 7), 2); /* by NVSwitch */
    for (int32_t g = 0; g < 8; g++)             /* its own card and rail */
        assert_int_equal(between_gpus(t, g, 8 + g), 6);
    assert_int_equal(between_gpus(t, 0, 9), 8); /* by the spine */
    nw_topology_free(t);
}

/* The bandwidths must reproduce the published costs to which they were
 * fitted. */
static void mpdata_is_as_fitted(void **state)
{
    const double face = 512.0 * 64 * 8 * 3; /* bytes of three planes */
    nw_topology *t = load("mpdata-inter");
    double site, between_sites;
    uint32_t hops[16];
    size_t count;

    (void)state;
    count = nw_topology_route(t, nw_topology_element_end(t, 0),
                              nw_topology_element_end(t, 3 * 8), hops);
    assert_int_equal(count, 7);
    between_sites = nw_topology_link(t, (int32_t)(hops[3] / 2)).bandwidth[0];
    site = nw_topology_link(t, (int32_t)(hops[2] / 2)).bandwidth[0];
    assert_true(fabs(face / site * 1e6 - 1125.71) < 0.2);
    assert_true(fabs(face / between_sites * 1e6 - 909622) < 60);
    nw_topology_free(t);
}

static void names_with_a_number(void **state)
{
    nw_topology *t = NULL;

    (void)state;
    assert_int_equal(nw_topology_load("magc-a:5", NULL, &t), NW_EINVAL);
    assert_int_equal(nw_topology_load("summit:0", NULL, &t), NW_EINVAL);
    assert_int_equal(nw_topology_load("summit:-1", NULL, &t), NW_EINVAL);
    assert_int_equal(nw_topology_load("summit:100001", NULL, &t), NW_EINVAL);
    assert_int_equal(nw_topology_load("summi", NULL, &t), NW_EINVAL);
    assert_null(t);
    t = load("summit:40000");
    assert_string_equal(nw_topology_node_name(t, 39999), "summit40000");
    nw_topology_free(t);
}

static nw_topology *load_fixture(const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/topology/valid/%s", getenv("NW_FIXTURES"),
             name);
    return load(path);
}

static struct nw_link_info link_at(const nw_topology *topology, uint32_t hop)
{
    return nw_topology_link(topology, (int32_t)(hop / 2));
}

/* The links between two GPUs. */
static size_t gpu_route(const nw_topology *topology, int32_t a, int32_t b,
                        uint32_t hops[32])
{
    assert_true(nw_topology_route_max(topology) <= 32);
    return nw_topology_route(topology, nw_topology_gpu_end(topology, a),
                             nw_topology_gpu_end(topology, b), hops);
}

static void everything_that_hangs_on_a_node(void **state)
{
    nw_topology *t = load_fixture("devices.yaml");
    uint32_t hops[32];

    (void)state;
    assert_int_equal(nw_topology_element_count(t), 8 + 8 + 6);
    assert_int_equal(nw_topology_gpu_count(t), 8);
    assert_string_equal(nw_topology_nic_info(t, 1, 1).name, "mlx5_1");
    assert_string_equal(nw_topology_gpu_info(t, 5).name, "Some GPU");
    assert_int_equal(between_gpus(t, 0, 1), 1);
    assert_int_equal(between_gpus(t, 1, 3), 2);

    /* up to package 0, over to package 1, down: 12 GB/s up, 10 GB/s down */
    assert_int_equal(gpu_route(t, 0, 2, hops), 8);
    assert_true(link_at(t, hops[2]).bandwidth[hops[2] & 1] == 12e9);
    assert_true(link_at(t, hops[5]).bandwidth[hops[5] & 1] == 10e9);
    assert_true(link_at(t, hops[3]).half_duplex);
    assert_true(link_at(t, hops[3]).bandwidth[0] == 30e9);
    assert_true(link_at(t, hops[0]).assumed);
    assert_int_equal(link_at(t, hops[0]).kind, NW_LINK_PCIE);

    assert_int_equal(gpu_route(t, 1, 3, hops), 2);
    assert_int_equal(link_at(t, hops[0]).kind, NW_LINK_XGMI);
    nw_topology_free(t);
}

static void cards_stand_on_their_rails(void **state)
{
    nw_topology *t = load_fixture("devices.yaml");
    uint32_t hops[32];
    int32_t thin = nw_topology_node_find(t, "thin1");
    size_t count;

    (void)state;
    /* staged: GPU, board, switch, package, back to the switch's card, port */
    assert_int_equal(gpu_route(t, 0, 4, hops), 12);
    assert_true(link_at(t, hops[5]).bandwidth[0] == 12.5e9);
    assert_int_equal(link_at(t, hops[5]).kind, NW_LINK_NIC);
    assert_int_equal(gpu_route(t, 0, 6, hops), 14);
    assert_int_equal(link_at(t, hops[6]).kind, NW_LINK_NETWORK);
    assert_true(link_at(t, hops[6]).bandwidth[0] == 20e9);
    assert_true(link_at(t, hops[7]).bandwidth[0] == 25e9);
    /* a node without a card is connected by a port of its own */
    count = nw_topology_route(
        t, nw_topology_element_end(t, nw_topology_node_elements(t, thin).first),
        nw_topology_element_end(t, 0), hops);
    assert_true(link_at(t, hops[2]).bandwidth[0] == 1e9);
    assert_true(count > 4);
    nw_topology_free(t);
}

static void networks_by_rule(void **state)
{
    nw_topology *t = load_fixture("torus.yaml");
    int32_t last = 4 * nw_topology_node_find(t, "last");
    uint32_t hops[32];

    (void)state;
    assert_int_equal(last, 4 * 23);
    assert_int_equal(between(t, 0, last), 6 + 1 + 1 + 3);
    assert_int_equal(nw_topology_route(t, nw_topology_element_end(t, 0),
                                       nw_topology_element_end(t, last), hops),
                     11);
    assert_true(link_at(t, hops[4]).latency == 150e-9);
    assert_true(link_at(t, hops[5]).latency == 3e-6);
    assert_true(link_at(t, hops[8]).bandwidth[0] == 2e9);
    nw_topology_free(t);

    t = load_fixture("fat-tree.yaml"); /* 8 leaf switches: 30 nodes, 4 per
                                          leaf switch */
    assert_int_equal(between(t, 0, 16), between(t, 0, 3 * 16));
    assert_int_equal(between(t, 0, 4 * 16), between(t, 0, 16) + 2);
    assert_int_equal(between(t, 0, 29 * 16), between(t, 0, 16) + 4);
    nw_topology_free(t);

    t = load_fixture("dragonfly.yaml");
    assert_int_equal(between(t, 0, 4), 6);     /* the same router */
    assert_int_equal(between(t, 0, 2 * 4), 7); /* the next one */
    /* port 7 of group 0 is router 3's, port 0 of group 8 is router 0's */
    assert_int_equal(between(t, 0, 64 * 4), 8);
    nw_topology_free(t);

    t = load_fixture("graph.yaml");
    assert_int_equal(between(t, 0, 4 * 4), 6 + 2);
    assert_int_equal(nw_topology_route(t, nw_topology_element_end(t, 0),
                                       nw_topology_element_end(t, 8), hops),
                     8);
    assert_int_equal(hops[3], 0); /* leaf0 - spine0, which is one link for
                                     both directions */
    assert_int_equal(hops[4], 4); /* leaf1 - spine0, used in the other
                                     direction */
    nw_topology_free(t);
}

static void hardware_threads_where_asked(void **state)
{
    struct nw_topology_options options = NW_TOPOLOGY_OPTIONS_INIT;
    nw_topology *t = NULL;
    char path[512];

    (void)state;
    snprintf(path, sizeof path, "%s/topology/valid/fat-tree.yaml",
             getenv("NW_FIXTURES"));
    options.elements = NW_ELEMENTS_PU;
    assert_int_equal(nw_topology_load(path, &options, &t), NW_OK);
    assert_int_equal(nw_topology_element_count(t), 30 * 16 * 2);
    assert_int_equal(between(t, 0, 1), 2);
    nw_topology_free(t);
}

/* The first example of nodewise-formats(5), cut out of the page. */
static void the_example_of_the_page_is_one(void **state)
{
    char path[512], line[256], text[4096] = "";
    nw_topology *t = NULL;
    bool inside = false, before = false;
    FILE *file;

    (void)state;
    snprintf(path, sizeof path, "%s/man/nodewise-formats.5.scd",
             getenv("NW_SOURCE"));
    file = fopen(path, "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) && !(inside && line[0] == '`')) {
        if (inside)
            strcat(text, line);
        before = before || !strcmp(line, "# CLUSTER FILE\n");
        inside = inside || (before && line[0] == '`');
    }
    fclose(file);
    assert_memory_equal(text, "nodewise: cluster 1\n", 20);
    assert_int_equal(load_text(text, &t), NW_OK);
    assert_int_equal(nw_topology_node_count(t), 4);
    assert_int_equal(nw_topology_gpu_count(t), 64);
    nw_topology_free(t);
}

/* The row of a kind in the table of nodewise-topology(5). */
static bool find_row(const char *page, const char *kind, double figures[2])
{
    char path[512], line[256], first[64], bandwidth[64], latency[64];
    bool found = false;
    FILE *file;

    snprintf(path, sizeof path, "%s/man/%s", getenv("NW_SOURCE"), page);
    file = fopen(path, "r");
    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file))
        found =
            sscanf(line, "%63s %63s %63s", first, bandwidth, latency) == 3 &&
            !strcmp(first, kind) &&
            nw_parse_quantity(bandwidth, NW_UNIT_BANDWIDTH, &figures[0]) &&
            nw_parse_quantity(latency, NW_UNIT_TIME, &figures[1]);
    fclose(file);
    return found;
}

static void page_and_code_assume_the_same(void **state)
{
    (void)state;
    for (int k = 0; k < NW_LINK_KIND_COUNT; k++) {
        const char *kind = nw_link_kind_name((enum nw_link_kind)k);
        struct nw_link_class link = nw_link_assumed((enum nw_link_kind)k);
        double figures[2];

        if (!find_row("nodewise-topology.5.scd", kind, figures))
            fail_msg("no row for %s in nodewise-topology(5)", kind);
        assert_true(link.assumed && link.kind == k);
        assert_true(link.bandwidth[0] == figures[0]);
        assert_true(link.bandwidth[1] == figures[0]);
        assert_true(fabs(link.latency - figures[1]) < 1e-15);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(magc_a_is_the_machine_of_the_paper),
        cmocka_unit_test(figures_are_those_written),
        cmocka_unit_test(small_files),
        cmocka_unit_test(rashti_clusters),
        cmocka_unit_test(summit_has_triads),
        cmocka_unit_test(dgx_has_rails),
        cmocka_unit_test(mpdata_is_as_fitted),
        cmocka_unit_test(names_with_a_number),
        cmocka_unit_test(everything_that_hangs_on_a_node),
        cmocka_unit_test(cards_stand_on_their_rails),
        cmocka_unit_test(networks_by_rule),
        cmocka_unit_test(hardware_threads_where_asked),
        cmocka_unit_test(the_example_of_the_page_is_one),
        cmocka_unit_test(page_and_code_assume_the_same),
        cmocka_unit_test(bundled_are_listed_and_load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
