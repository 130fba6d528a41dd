/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of NVLink domains that span nodes, of rails and of PXN: the routes were
 * counted by hand. */
#include "base/text.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* A cluster file of four nodes with two GPUs and two cards each; `more` is
 * inserted in the node type and `nodes` in the item of nodes. */
#define MACHINE(more, nodes)                                                   \
    "nodewise: cluster 1\n"                                                    \
    "node_types:\n"                                                            \
    "  t:\n" more "    cpu: {packages: 2, cores: 1}\n"                         \
    "    devices: [{package: [0, 1], parts: [{gpu: 1}, {nic: 1}]}]\n"          \
    "nodes:\n"                                                                 \
    "  - {name: 'n[1-4]'" nodes "}\n"                                          \
    "network: {fat_tree: {leaf_nodes: 2, rails: 2, levels: [{up: 2}]}}\n"
#define SWITCHED "    direct: [{switch: [gpu 0-1], link: 90GB/s}]\n"
#define PXN "    gpu_messages: pxn\n"

static nw_status load_text(const char *text, nw_topology **out)
{
    char path[] = "/tmp/nodewise-domain-XXXXXX.yaml";
    int fd = mkstemps(path, 5);
    nw_status status;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    status = nw_topology_load(path, NULL, out);
    unlink(path);
    return status;
}

static nw_topology *machine(const char *text)
{
    nw_topology *topology = NULL;

    if (load_text(text, &topology))
        fail_msg("%s", nw_error_text());
    return topology;
}

static void refuses(const char *text, const char *says)
{
    nw_topology *topology = NULL;

    assert_int_equal(load_text(text, &topology), NW_EFORMAT);
    if (!strstr(nw_error_text(), says))
        fail_msg("%s", nw_error_text());
}

/* The names of the links on the route of one part of a message from one GPU to
 * another; '<' marks a link that is used downwards. */
static const char *part(const nw_topology *t, int32_t a, int32_t b,
                        int32_t stripe)
{
    static char text[1024];
    struct nw_end from = nw_end_stripe(nw_topology_gpu_end(t, a), stripe);
    struct nw_end to = nw_end_stripe(nw_topology_gpu_end(t, b), stripe);
    uint32_t hops[64];
    size_t count = nw_topology_route(t, from, to, hops);
    size_t length = 0;

    assert_true(count <= nw_topology_route_max(t));
    assert_int_equal(nw_topology_distance(t, from, to), count);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        char name[128];

        nw_topology_link_name(t, (int32_t)(hops[i] / 2), name, sizeof name);
        length +=
            (size_t)snprintf(text + length, sizeof text - length, "%s%s%s",
                             i ? "; " : "", name, hops[i] & 1 ? " <" : "");
    }
    return text;
}

static const char *way(const nw_topology *t, int32_t a, int32_t b)
{
    return part(t, a, b, 0);
}

static int32_t stripes(const nw_topology *t, int32_t a, int32_t b)
{
    return nw_topology_stripe_count(t, nw_topology_gpu_end(t, a),
                                    nw_topology_gpu_end(t, b));
}

static const char *level(const nw_topology *t, int32_t a, int32_t b)
{
    return nw_topology_level_name(
        t, nw_topology_level(t, nw_topology_gpu_end(t, a),
                             nw_topology_gpu_end(t, b)));
}

static void domains_share_their_switch(void **state)
{
    nw_topology *t = machine(MACHINE(SWITCHED, ", domain: 'd[1-2]'"));

    (void)state;
    assert_string_equal(way(t, 0, 1), "n1: gpu 0 - gpu-switch 0; "
                                      "n1: gpu 1 - gpu-switch 0 <");
    assert_string_equal(way(t, 0, 3), "n1: gpu 0 - gpu-switch 0; "
                                      "n2: gpu 1 - gpu-switch 0 <");
    assert_string_equal(way(t, 3, 0), "n2: gpu 1 - gpu-switch 0; "
                                      "n1: gpu 0 - gpu-switch 0 <");
    assert_string_equal(level(t, 0, 3), "direct link");
    /* n3 is in the other domain; its GPU 0 is on leaf switch 2, that of n1 on
     * leaf switch 0 */
    assert_string_equal(way(t, 0, 4),
                        "n1: gpu 0 - package 0; n1: nic 0 - package 0 <; "
                        "n1: nic 0 - leaf0; leaf0 - up1-0; leaf2 - up1-0 <; "
                        "n3: nic 0 - leaf2 <; n3: nic 0 - package 0; "
                        "n3: gpu 0 - package 0 <");
    assert_string_equal(level(t, 0, 4), "3 switches");
    nw_topology_free(t);
}

/* Routes between cores of a domain's nodes do not use NVLink. */
static void cores_stay_on_the_network(void **state)
{
    nw_topology *t = machine(MACHINE(SWITCHED, ", domain: d"));

    (void)state;
    assert_int_equal(nw_topology_distance(t, nw_topology_element_end(t, 0),
                                          nw_topology_element_end(t, 2)),
                     6);
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                          nw_topology_element_end(t, 2)),
                     6);
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                          nw_topology_gpu_end(t, 7)),
                     2);
    nw_topology_free(t);
}

/* Card i of a node is on leaf i of its group of two nodes. */
static void rails_without_and_with_pxn(void **state)
{
    nw_topology *t = machine(MACHINE(SWITCHED, ""));

    (void)state;
    assert_string_equal(way(t, 0, 3),
                        "n1: gpu 0 - package 0; n1: nic 0 - package 0 <; "
                        "n1: nic 0 - leaf0; leaf0 - up1-1; leaf1 - up1-1 <; "
                        "n2: nic 1 - leaf1 <; n2: nic 1 - package 1; "
                        "n2: gpu 1 - package 1 <");
    nw_topology_free(t);
    t = machine(MACHINE(PXN SWITCHED, ""));
    assert_string_equal(way(t, 0, 3),
                        "n1: gpu 0 - gpu-switch 0; n1: gpu 1 - gpu-switch 0 <; "
                        "n1: gpu 1 - package 1; n1: nic 1 - package 1 <; "
                        "n1: nic 1 - leaf1; n2: nic 1 - leaf1 <; "
                        "n2: nic 1 - package 1; n2: gpu 1 - package 1 <");
    assert_string_equal(level(t, 0, 3), "1 switch");
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                          nw_topology_gpu_end(t, 2)),
                     6); /* its own rail */
    nw_topology_free(t);
    t = machine(MACHINE(PXN, "")); /* no GPU can be reached by NVLink */
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                          nw_topology_gpu_end(t, 3)),
                     8);
    nw_topology_free(t);
}

/* The same machine with two cards for each GPU, on four rails. */
#define STRIPED(more, network)                                                 \
    "nodewise: cluster 1\n"                                                    \
    "node_types:\n"                                                            \
    "  t:\n" more "    cpu: {packages: 2, cores: 1}\n"                         \
    "    devices: [{package: [0, 1], parts: [{gpu: 1}, {nic: 2}]}]\n"          \
    "nodes:\n" network
#define JOINED                                                                 \
    "  - {name: 'n[1-4]'}\n"                                                   \
    "network: {fat_tree: {leaf_nodes: 2, rails: 4, levels: [{up: 2}]}}\n"
#define APART                                                                  \
    "  - {name: 'n[1-4]', switch: [leaf0, leaf1, leaf2, leaf3]}\n"             \
    "network: {graph: {switches: 'leaf[0-3]'}}\n"

/* A GPU divides its messages over the two cards of its own. */
static void messages_are_striped(void **state)
{
    nw_topology *t = machine(STRIPED("", JOINED));

    (void)state;
    assert_int_equal(stripes(t, 0, 2), 2);
    assert_string_equal(part(t, 0, 2, 0),
                        "n1: gpu 0 - package 0; n1: nic 0 - package 0 <; "
                        "n1: nic 0 - leaf0; n2: nic 0 - leaf0 <; "
                        "n2: nic 0 - package 0; n2: gpu 0 - package 0 <");
    assert_string_equal(part(t, 0, 2, 1),
                        "n1: gpu 0 - package 0; n1: nic 1 - package 0 <; "
                        "n1: nic 1 - leaf1; n2: nic 1 - leaf1 <; "
                        "n2: nic 1 - package 0; n2: gpu 0 - package 0 <");
    assert_string_equal(part(t, 0, 3, 1),
                        "n1: gpu 0 - package 0; n1: nic 1 - package 0 <; "
                        "n1: nic 1 - leaf1; leaf1 - up1-1; leaf3 - up1-1 <; "
                        "n2: nic 3 - leaf3 <; n2: nic 3 - package 1; "
                        "n2: gpu 1 - package 1 <");
    /* not inside a node, not between cores, not over a given card */
    assert_int_equal(stripes(t, 0, 1), 1);
    assert_int_equal(nw_topology_stripe_count(t, nw_topology_element_end(t, 0),
                                              nw_topology_gpu_end(t, 2)),
                     1);
    assert_int_equal(nw_topology_stripe_count(t, (struct nw_end){0, 1, 1},
                                              nw_topology_gpu_end(t, 2)),
                     1);
    nw_topology_free(t);
    t = machine(STRIPED(SWITCHED PXN, JOINED));
    assert_string_equal(part(t, 0, 3, 1),
                        "n1: gpu 0 - gpu-switch 0; n1: gpu 1 - gpu-switch 0 <; "
                        "n1: gpu 1 - package 1; n1: nic 3 - package 1 <; "
                        "n1: nic 3 - leaf3; n2: nic 3 - leaf3 <; "
                        "n2: nic 3 - package 1; n2: gpu 1 - package 1 <");
    nw_topology_free(t);
    t = machine(STRIPED("", APART)); /* four separate networks */
    for (int32_t i = 0; i < 2; i++) {
        char text[64];

        snprintf(text, sizeof text,
                 "n1: nic %d - leaf%d; n2: nic %d - leaf%d <", i, i, i, i);
        if (!strstr(part(t, 0, 3, i), text))
            fail_msg("%s", part(t, 0, 3, i));
    }
    nw_topology_free(t);
}

/* GPUs that are equally near to some cards share them, as in NCCL. */
static void cards_are_shared(void **state)
{
    static const struct {
        const char *parts;
        int32_t stripes, card[4]; /* cards of GPU 0, then those of GPU 1 */
    } cases[] = {{"{gpu: 2}, {nic: 2}", 1, {0, 1}},
                 {"{gpu: 2}, {nic: 4}", 2, {0, 1, 2, 3}},
                 {"{gpu: 2}, {nic: 3}", 2, {0, 1, 2, 0}},
                 {"{gpu: 2}, {nic: 1}", 1, {0, 0}}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[512];
        nw_topology *t;

        snprintf(
            text, sizeof text,
            "nodewise: cluster 1\n"
            "node_types: {t: {cpu: {cores: 1}, devices: [{parts: [%s]}]}}\n"
            "nodes: [{name: 'n[1-2]', switch: s}]\n"
            "network: {tree: {switch: s}}\n",
            cases[i].parts);
        t = machine(text);
        assert_int_equal(stripes(t, 0, 2), cases[i].stripes);
        for (int32_t g = 0, k = 0; g < 2; g++)
            for (int32_t s = 0; s < cases[i].stripes; s++)
                assert_int_equal(
                    nw_end_card(t, nw_end_stripe(nw_topology_gpu_end(t, g), s)),
                    cases[i].card[k++]);
        nw_topology_free(t);
    }
}

/* One rack is one domain; two racks are connected by the rails. */
static void racks_of_72(void **state)
{
    nw_topology *t;

    (void)state;
    assert_int_equal(nw_topology_load("gb200-nvl72:3", NULL, &t), NW_OK);
    assert_int_equal(nw_topology_node_count(t), 54);
    assert_int_equal(nw_topology_gpu_count(t), 216);
    assert_string_equal(nw_topology_node_name(t, 18), "rack002n01");
    for (int32_t g = 1; g < 72; g++)
        assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                              nw_topology_gpu_end(t, g)),
                         2);
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                          nw_topology_gpu_end(t, 72)),
                     8);
    assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 71),
                                          nw_topology_gpu_end(t, 72)),
                     10); /* by NVLink to the GPU on that rail */
    nw_topology_free(t);
}

static void wrong_domains(void **state)
{
    (void)state;
    refuses(MACHINE("", ", domain: d"),
            "node 'n1' is in domain 'd', so its type 't' needs one GPU switch");
    refuses(MACHINE(SWITCHED, ", domain: 'd[1-3]'"),
            ":8: 4 nodes cannot be shared out evenly over 3 domains");
    refuses(MACHINE(SWITCHED, ", domain: [d]"), ":8: 'domain' must be a word");
    refuses(MACHINE("    gpu_messages: rail\n", ""),
            ":4: 'gpu_messages' must be direct, staged or pxn, not 'rail'");
}

/* Several items may name a domain, in any order. */
static void domains_go_by_their_names(void **state)
{
    nw_topology *t = machine("nodewise: cluster 1\n"
                             "node_types:\n  t:\n    cpu: {cores: 1}\n"
                             "    devices: [{parts: [{gpu: 1}]}]\n"
                             "    direct: [{switch: [gpu 0]}]\n"
                             "nodes:\n"
                             "  - {name: a, domain: y, switch: s}\n"
                             "  - {name: b, switch: s}\n"
                             "  - {name: 'c[1-2]', domain: 'x,y', switch: s}\n"
                             "network: {tree: {switch: s}}\n");
    char *text = NULL;
    nw_topology *again;

    (void)state;
    for (int turn = 0; turn < 2; turn++) {
        assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                              nw_topology_gpu_end(t, 3)),
                         2);
        assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                              nw_topology_gpu_end(t, 2)),
                         4);
        assert_int_equal(nw_topology_distance(t, nw_topology_gpu_end(t, 0),
                                              nw_topology_gpu_end(t, 1)),
                         4);
        assert_int_equal(nw_topology_write(t, &text), NW_OK);
        again = machine(text);
        free(text);
        nw_topology_free(t);
        t = again;
    }
    nw_topology_free(t);
}

/* A cluster file of four domains of two nodes, d1 to d4; `domains` is a list
 * that joins them. */
#define TIERED(domains)                                                        \
    "nodewise: cluster 1\n"                                                    \
    "node_types:\n"                                                            \
    "  t:\n" SWITCHED "    cpu: {packages: 2, cores: 1}\n"                     \
    "    devices: [{package: [0, 1], parts: [{gpu: 1}, {nic: 1}]}]\n"          \
    "nodes: [{name: 'n[1-8]', domain: 'd[1-4]'}]\n"                            \
    "network: {fat_tree: {leaf_nodes: 2, rails: 2, levels: [{up: 2}]}}\n"      \
    "domains:\n" domains

static void a_second_level_joins_domains(void **state)
{
    nw_topology *t = machine(
        TIERED("  - {name: u, members: 'd[1-2]', link: [40GB/s, 30GB/s]}\n"));
    struct nw_link_info link;
    struct nw_path path;
    uint32_t hops[64];

    (void)state;
    assert_string_equal(way(t, 0, 2), "n1: gpu 0 - gpu-switch 0; "
                                      "n2: gpu 0 - gpu-switch 0 <");
    assert_string_equal(level(t, 0, 2), "direct link");
    assert_string_equal(way(t, 0, 5),
                        "n1: gpu 0 - gpu-switch 0; d1 - u; d2 - u <; "
                        "n3: gpu 1 - gpu-switch 0 <");
    assert_string_equal(way(t, 5, 0),
                        "n3: gpu 1 - gpu-switch 0; d2 - u; d1 - u <; "
                        "n1: gpu 0 - gpu-switch 0 <");
    assert_string_equal(level(t, 0, 5), "second NVLink level");
    /* d3 and d4 have no uplink; the first level of switches follows */
    assert_string_equal(way(t, 8, 12),
                        "n5: gpu 0 - package 0; n5: nic 0 - package 0 <; "
                        "n5: nic 0 - leaf4; leaf4 - up1-0; leaf6 - up1-0 <; "
                        "n7: nic 0 - leaf6 <; n7: nic 0 - package 0; "
                        "n7: gpu 0 - package 0 <");
    assert_string_equal(level(t, 8, 12), "3 switches");
    assert_string_equal(level(t, 0, 12), "3 switches");
    assert_int_equal(nw_topology_distance(t, nw_topology_element_end(t, 0),
                                          nw_topology_element_end(t, 4)),
                     8); /* cores stay on the network */

    /* the last four links are the uplinks of the domains */
    link = nw_topology_link(t, nw_topology_link_count(t) - 4);
    assert_int_equal(link.kind, NW_LINK_NVLINK);
    assert_true(link.bandwidth[0] == 40e9 && link.bandwidth[1] == 30e9);
    nw_topology_path(t,
                     (const struct nw_end[]){nw_topology_gpu_end(t, 0),
                                             nw_topology_gpu_end(t, 5)},
                     &path, hops);
    assert_int_equal(path.hop_count, 4);
    assert_int_equal(path.segment_count, 0);
    assert_int_equal(hops[1] / 2, nw_topology_link_count(t) - 4);
    nw_topology_free(t);
}

/* Items may name an upper domain again, and uplinks may differ. A file that is
 * written gives the same machine. */
static void a_second_level_is_written(void **state)
{
    nw_topology *t = machine(
        TIERED("  - {name: 'v,u', members: 'd[3,1]', link: 40GB/s}\n"
               "  - name: u\n    members: d2\n"
               "    link: {bandwidth: 30GB/s, latency: 1us, kind: xgmi}\n"));
    char *text = NULL, *again = NULL;

    (void)state;
    assert_string_equal(level(t, 0, 5), "second NVLink level");
    assert_string_equal(level(t, 0, 8), "3 switches");
    assert_int_equal(nw_topology_write(t, &text), NW_OK);
    nw_topology_free(t);
    if (!strstr(text, "domains:\n"
                      "  - name: u\n    members: d1\n    link: 40GB/s\n"
                      "  - name: u\n    members: d2\n    link: {kind: xgmi, "
                      "bandwidth: 30GB/s, latency: 1us}\n"
                      "  - name: v\n    members: d3\n    link: 40GB/s\n"))
        fail_msg("%s", text);
    t = machine(text);
    assert_int_equal(nw_topology_write(t, &again), NW_OK);
    assert_string_equal(text, again);
    assert_string_equal(way(t, 0, 5),
                        "n1: gpu 0 - gpu-switch 0; d1 - u; d2 - u <; "
                        "n3: gpu 1 - gpu-switch 0 <");
    free(text);
    free(again);
    nw_topology_free(t);
}

static void wrong_second_levels(void **state)
{
    (void)state;
    refuses(TIERED("  - {name: u, members: 'd[1-5]', link: 1GB/s}\n"),
            ":10: unknown NVLink domain 'd5': 'members' must be domains that "
            "'nodes' names");
    /* a third level */
    refuses(TIERED("  - {name: u, members: 'd[1-2]', link: 1GB/s}\n"
                   "  - {name: v, members: 'u', link: 1GB/s}\n"),
            ":11: unknown NVLink domain 'u'");
    refuses(TIERED("  - {name: u, members: 'd[1-2]', link: 1GB/s}\n"
                   "  - {name: v, members: 'd[2-3]', link: 1GB/s}\n"),
            ":11: NVLink domain 'd2' already belongs to 'u'");
    refuses(
        TIERED("  - {name: d3, members: 'd[1-2]', link: 1GB/s}\n"),
        ":10: 'd3' is an NVLink domain of nodes, so it cannot join domains");
    refuses(TIERED("  - {name: 'u[1-3]', members: 'd[1-4]', link: 1GB/s}\n"),
            ":10: 4 domains cannot be shared out evenly over 3 domains of the "
            "second level");
    refuses(TIERED("  - {name: u, members: 'd[1-2]', link: 0GB/s}\n"),
            ":10: bandwidth '0GB/s' is out of range");
    refuses(TIERED("  - {name: u, members: 'd[1-2]', link: -1GB/s}\n"),
            ":10: ");
    refuses(TIERED("  - {name: u, members: 'd[1-2]'}\n"), ":10: ");
    refuses(TIERED("  - {name: u, members: '', link: 1GB/s}\n"), ":10: ");
    refuses(TIERED("  []\n"), ":10: ");
    refuses(MACHINE("", "") "domains: [{name: u, members: d, link: 1GB/s}]\n",
            ":9: unknown NVLink domain 'd'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(domains_share_their_switch),
        cmocka_unit_test(cores_stay_on_the_network),
        cmocka_unit_test(rails_without_and_with_pxn),
        cmocka_unit_test(messages_are_striped),
        cmocka_unit_test(cards_are_shared),
        cmocka_unit_test(racks_of_72),
        cmocka_unit_test(wrong_domains),
        cmocka_unit_test(domains_go_by_their_names),
        cmocka_unit_test(a_second_level_joins_domains),
        cmocka_unit_test(a_second_level_is_written),
        cmocka_unit_test(wrong_second_levels),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
