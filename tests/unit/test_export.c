/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the export to files of other programs: each file is written, read by
 * our reader, and compared as a cluster file with the machine from which it was
 * written. */
#include "base/text.h"
#include "topology/topology.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* `kind` is a prefix such as "slurm:", `suffix` one such as ".yaml". */
static nw_status load_text(const char *kind, const char *suffix,
                           const char *text, nw_topology **out)
{
    char path[80], source[96];
    int fd;
    nw_status status;

    snprintf(path, sizeof path, "/tmp/nodewise-export-XXXXXX%s", suffix);
    fd = mkstemps(path, (int)strlen(suffix));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    snprintf(source, sizeof source, "%s%s", kind, path);
    status = nw_topology_load(source, NULL, out);
    unlink(path);
    return status;
}

static nw_topology *machine(const char *kind, const char *suffix,
                            const char *text)
{
    nw_topology *topology = NULL;

    if (load_text(kind, suffix, text, &topology))
        fail_msg("%s, in: %s", nw_error_text(), text);
    return topology;
}

/* A cluster file without its name. */
static char *describe(const nw_topology *topology)
{
    char *text, *name, *end;

    if (nw_topology_write(topology, &text))
        fail_msg("%s", nw_error_text());
    name = strstr(text, "name: ");
    end = strchr(name, '\n');
    memmove(name, end, strlen(end) + 1);
    return text;
}

static void check_same(const nw_topology *a, const nw_topology *b)
{
    char *x = describe(a), *y = describe(b);

    assert_string_equal(x, y);
    free(x);
    free(y);
}

static char *export_as(const nw_topology *topology, const char *format,
                       const char *lost)
{
    struct nw_topology_export_options options = NW_TOPOLOGY_EXPORT_OPTIONS_INIT;
    char *text = NULL, *notes = NULL;

    options.format = format;
    if (nw_topology_export(topology, &options, &text, &notes))
        fail_msg("%s", nw_error_text());
    if (lost ? !strstr(notes, lost) : *notes)
        fail_msg("note of %s: '%s'", format, notes);
    free(notes);
    return text;
}

/* Checks that a file of the format contains the whole machine. */
static void check_round(const nw_topology *topology, const char *format,
                        const char *kind, const char *suffix)
{
    char *text = export_as(topology, format, NULL);
    nw_topology *back = machine(kind, suffix, text);

    check_same(topology, back);
    nw_topology_free(back);
    free(text);
}

static void refuses(const nw_topology *topology, const char *format,
                    const char *says)
{
    struct nw_topology_export_options options = NW_TOPOLOGY_EXPORT_OPTIONS_INIT;
    char *text = NULL, *notes = NULL;

    options.format = format;
    assert_int_not_equal(nw_topology_export(topology, &options, &text, &notes),
                         NW_OK);
    if (!strstr(nw_error_text(), says))
        fail_msg("%s", nw_error_text());
    assert_null(text);
    assert_null(notes);
}

static void trees_read_back(void **state)
{
    nw_topology *t = machine("slurm:", ".conf",
                             "SwitchName=top Switches=mid[0-1]\n"
                             "SwitchName=mid0 Switches=leaf[0-1]\n"
                             "SwitchName=mid1 Switches=leaf2\n"
                             "SwitchName=leaf0 Nodes=n[1-3]\n"
                             "SwitchName=leaf1 Nodes=n[4,9]\n"
                             "SwitchName=leaf2 Nodes=n10\n");

    (void)state;
    check_round(t, "slurm", "slurm:", ".conf");
    check_round(t, "slurm-yaml", "slurm:", ".yaml");
    check_round(t, "k8s", "k8s:", ".yaml");
    nw_topology_free(t);
}

/* Parts of the network that no switch connects: the "(top)" that the reader
 * adds is not one of their switches. */
static void parts_read_back(void **state)
{
    nw_topology *t = machine("slurm:", ".conf",
                             "SwitchName=a Nodes=n[1-2]\n"
                             "SwitchName=b Nodes=n[3-4]\n");

    (void)state;
    check_round(t, "slurm", "slurm:", ".conf");
    check_round(t, "slurm-yaml", "slurm:", ".yaml");
    check_round(t, "k8s", "k8s:", ".yaml");
    nw_topology_free(t);
}

static void blocks_read_back(void **state)
{
    static const char *const sizes[] = {"2", "2,4", "2,4,8", "2,8"};
    char text[400];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        nw_topology *t;

        snprintf(text, sizeof text,
                 "BlockName=b1 Nodes=n[01-02]\nBlockName=b2 Nodes=n[03-04]\n"
                 "BlockName=b3 Nodes=n[05-06]\nBlockName=b4 Nodes=n[07-08]\n"
                 "BlockName=b5 Nodes=n[09-10]\nBlockName=b6 Nodes=n[11-12]\n"
                 "BlockName=b7 Nodes=n[13-14]\nBlockName=b8 Nodes=n[15-16]\n"
                 "BlockSizes=%s\n",
                 sizes[i]);
        t = machine("slurm:", ".conf", text);
        check_round(t, "slurm-block", "slurm:", ".conf");
        check_round(t, "slurm-yaml-block", "slurm:", ".yaml");
        nw_topology_free(t);
    }
}

/* Three racks of two nodes, each an NVLink domain, on two rails. */
#define RACKS                                                                  \
    "nodewise: cluster 1\n"                                                    \
    "node_types:\n"                                                            \
    "  t:\n    cpu: {packages: 2, cores: 1}\n"                                 \
    "    devices: [{package: [0, 1], parts: [{gpu: 1}, {nic: 1}]}]\n"          \
    "    direct: [{switch: [gpu 0-1], link: 90GB/s}]\n"                        \
    "nodes:\n"                                                                 \
    "  - {name: 'n[1-6]', domain: 'rack[1-3]'}\n"                              \
    "network: {fat_tree: {leaf_nodes: 2, rails: 2, levels: [{up: 2}]}}\n"

static void domains_are_blocks(void **state)
{
    nw_topology *t = machine("", ".yaml", RACKS);
    char *text = export_as(t, "slurm-block", "the inside of nodes");

    (void)state;
    assert_string_equal(text, "BlockName=rack1 Nodes=n[1,2]\n"
                              "BlockName=rack2 Nodes=n[3,4]\n"
                              "BlockName=rack3 Nodes=n[5,6]\n"
                              "BlockSizes=2\n");
    free(text);
    text = export_as(t, "slurm", "the NVLink domains");
    assert_string_equal(text, "SwitchName=leaf0 Nodes=n[1,2]\n"
                              "SwitchName=leaf2 Nodes=n[3,4]\n"
                              "SwitchName=leaf4 Nodes=n[5,6]\n"
                              "SwitchName=up1-0 Switches=leaf[0,2,4]\n");
    free(text);
    nw_topology_free(t);
}

/* A group of a dragonfly becomes a switch above its routers; a torus has no
 * such switches. */
static void links_beyond_a_tree_are_lost(void **state)
{
    nw_topology *t =
        machine("", ".yaml",
                "nodewise: cluster 1\n"
                "node_types: {t: {cpu: {cores: 1}}}\n"
                "nodes: [{name: 'n[1-6]'}]\n"
                "network: {dragonfly: {groups: 3, routers: 2, global_links: 1, "
                "router_nodes: 1}}\n");
    char *text = export_as(t, "slurm", "the network (dragonfly) is not a tree");

    (void)state;
    assert_string_equal(text, "SwitchName=g0r0 Nodes=n1\n"
                              "SwitchName=g0r1 Nodes=n2\n"
                              "SwitchName=g1r0 Nodes=n3\n"
                              "SwitchName=g1r1 Nodes=n4\n"
                              "SwitchName=g2r0 Nodes=n5\n"
                              "SwitchName=g2r1 Nodes=n6\n"
                              "SwitchName=g0r0-up Switches=g0r[0,1]\n"
                              "SwitchName=g1r0-up Switches=g1r[0,1]\n"
                              "SwitchName=g2r0-up Switches=g2r[0,1]\n"
                              "SwitchName=g0r0-up-up "
                              "Switches=g0r0-up,g1r0-up,g2r0-up\n");
    free(text);
    nw_topology_free(t);
    t = machine("", ".yaml",
                "nodewise: cluster 1\n"
                "node_types: {t: {cpu: {cores: 1}}}\n"
                "nodes: [{name: 'n[1-4]'}]\n"
                "network: {torus: {dimensions: [4]}}\n");
    free(export_as(t, "k8s", "the network (torus) is not a tree"));
    nw_topology_free(t);
}

static void domains_are_labels(void **state)
{
    nw_topology *t = machine("", ".yaml", RACKS), *back;
    char *text = export_as(t, "k8s", "6 nodes whose cards are at several");

    (void)state;
    back = machine("k8s:", ".yaml", text);
    assert_int_equal(back->domain_count, 3);
    for (int32_t n = 0; n < 6; n++) {
        assert_string_equal(back->node_name[n], t->node_name[n]);
        assert_string_equal(back->domain_name[back->domain[n]],
                            t->domain_name[t->domain[n]]);
    }
    check_round(back, "k8s", "k8s:", ".yaml");
    nw_topology_free(back);
    nw_topology_free(t);
    free(text);
}

#define NODE(name, labels)                                                     \
    "  - {kind: Node, metadata: {name: " name ", labels: {" labels "}}}\n"
#define TIER "fabric.topograph.run/tier-"

/* Labels with the four keys of topograph 0, in JSON, with a node of the control
 * plane. */
static void labels_of_topograph_0(void **state)
{
    nw_topology *t = machine(
        "k8s:", ".json",
        "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n"
        "{\"metadata\": {\"name\": \"control\", \"labels\": {\"a\": \"b\"}}},\n"
        "{\"metadata\": {\"name\": \"n1\", \"labels\": {\n"
        "\"network.topology.nvidia.com/accelerator\": \"nvl1\",\n"
        "\"network.topology.nvidia.com/leaf\": \"s1\",\n"
        "\"network.topology.nvidia.com/spine\": \"s2\",\n"
        "\"network.topology.nvidia.com/core\": \"s3\"}}}]}\n");

    (void)state;
    assert_int_equal(t->node_count, 1);
    assert_string_equal(t->domain_name[t->domain[0]], "nvl1");
    assert_int_equal(t->network->switch_count, 3);
    assert_string_equal(t->network->switch_name[0], "s3");
    assert_non_null(strstr(t->notes.data, "1 node without labels"));
    check_round(t, "k8s", "k8s:", ".yaml");
    nw_topology_free(t);
}

/* The value of topograph's own hash function, 64-bit FNV-1a, which was computed
 * by an independent program. */
static void long_labels_are_hashed(void **state)
{
    nw_topology *t = machine(
        "slurm:", ".conf",
        "SwitchName=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
        "aaaaaaaa Nodes=n1\n");
    char *text = export_as(t, "k8s", NULL);

    (void)state;
    assert_non_null(strstr(text, TIER "0: \"xdb007849f35ebbe5\"\n"));
    free(text);
    nw_topology_free(t);
}

static void labels_must_agree(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"items:\n" NODE("n1", TIER "0: a, " TIER "1: b")
             NODE("n2", TIER "0: a, " TIER "1: c"),
         ":3: switch 'a' is below 'c' here and below 'b' in line 2"},
        {"items:\n" NODE("n1", TIER "0: a, " TIER "1: b")
             NODE("n2", TIER "0: a"),
         ":3: switch 'a' is below 'none' here and below 'b' in line 2"},
        {"items:\n" NODE("n1", TIER "0: a, " TIER "1: b")
             NODE("n2", TIER "0: b"),
         ":3: switch 'b' is of tier 0 here and of tier 1 in line 2"},
        {"items:\n" NODE("n1", TIER "0: a, " TIER "1: a"),
         "switch 'a' is of tier 1 here and of tier 0"},
        {"items:\n" NODE("n1", TIER "0: a, " TIER "2: b"),
         ":2: node 'n1' has a label for tier 2 and none for tier 1 below it"},
        {"items:\n" NODE("n1", TIER "0: a, "
                                    "network.topology.nvidia.com/leaf: a"),
         "two labels of one node name tier 0"},
        {"items:\n" NODE("n1", TIER "99: a"), "more than 16 tiers"},
        {"items:\n" NODE("n1", TIER "0: a") NODE("n1", TIER "0: a"),
         ":3: node 'n1' is named in line 2"},
        {"items:\n" NODE("n1", "a: b"), "no node has a label of a switch"},
        {"items: []\n", "'items'"},
        {"items: [1]\n", "an item must be a Node"},
        {"items: [{kind: Node}]\n", "metadata"},
        {"- a\n", "kubectl get nodes -o yaml"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nw_topology *t = NULL;

        assert_int_equal(load_text("k8s:", ".yaml", cases[i].text, &t),
                         NW_EFORMAT);
        if (!strstr(nw_error_text(), cases[i].says))
            fail_msg("%s", nw_error_text());
    }
}

static void what_no_file_can_express(void **state)
{
    nw_topology *t = machine("", ".yaml",
                             "nodewise: cluster 1\n"
                             "node_types: {t: {cpu: {cores: 1}}}\n"
                             "nodes: [{name: N1, switch: a}, "
                             "{name: n2, switch: 'b=1'}]\n"
                             "network:\n  tree:\n    switch: a\n"
                             "    switches: [{switch: 'b=1'}]\n");

    (void)state;
    refuses(t, "slurm", "switch 'a' has nodes and switches below it");
    refuses(t, "slurm-block", "block 'b=1': Slurm's files cannot contain");
    refuses(t, "k8s", "'N1' is not a valid name of a node of Kubernetes");
    refuses(t, "slurm-yml", "did you mean");
    nw_topology_free(t);
    assert_int_equal(nw_topology_load("hwloc:core:2", NULL, &t), NW_OK);
    refuses(t, "slurm", "has no network");
    refuses(t, "k8s", "has no network");
    nw_topology_free(t);
    assert_int_equal(nw_topology_load("hierarchy:2:2", NULL, &t), NW_OK);
    refuses(t, "slurm", "has distances but no parts");
    nw_topology_free(t);
}

/* Two packages with two threads a core; a switch with two GPUs and a NIC, two
 * GPUs without a switch, NVLinks to a GPU switch. */
#define GPU(address)                                                           \
    "<pci busid='" address "' class='0x030200' link_speed='32 GT/s' "          \
    "link_width='16'><gpu sm='90'><nvlink target='fffffff:ffff:ff' "           \
    "count='18' tclass='0x068000'/></gpu></pci>"
#define NIC(address)                                                           \
    "<pci busid='" address "' class='0x020700' link_speed='16 GT/s' "          \
    "link_width='8'/>"
#define SWITCHED                                                               \
    "<system version='1'>"                                                     \
    "<cpu numaid='0' affinity='000f000f'>"                                     \
    "<pci busid='0000:01:00.0' class='0x060400' link_speed='32 GT/s' "         \
    "link_width='16'>" GPU("0000:02:00.0") GPU("0000:03:00.0")                 \
        NIC("0000:04:00.0") "</pci></cpu>"                                     \
                            "<cpu numaid='1' affinity='00f000f0'>" GPU(        \
                                "0000:82:00.0") GPU("0000:83:00.0")            \
                                NIC("0000:84:00.0") "</cpu></system>"
#define PAIR(sm, count, target, c2c)                                           \
    "<gpu sm='" sm "'><nvlink target='" target "' count='" count               \
    "' tclass='0x030200'/>" c2c "</gpu>"

/* Files of one node are named after the file. */
static void check_nccl(const char *text)
{
    nw_topology *t = machine("nccl:", ".xml", text), *back;
    char *written = export_as(t, "nccl", NULL);

    back = machine("nccl:", ".xml", written);
    free(back->node_name[0]);
    back->node_name[0] = strdup(t->node_name[0]);
    check_same(t, back);
    nw_topology_free(back);
    nw_topology_free(t);
    free(written);
}

static void nccl_reads_back(void **state)
{
    static const char *const pairs[][2] = {
        {"90", "6"}, {"60", "2"}, {"86", "4"}, {"100", "18"}};
    char text[1200];

    (void)state;
    check_nccl(SWITCHED);
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        snprintf(text, sizeof text,
                 "<system version='1'><cpu numaid='0' affinity='f'>"
                 "<pci busid='0000:02:00.0' class='0x030200'>" PAIR(
                     "%s", "%s", "0000:03:00.0",
                     "") "</pci>"
                         "<pci busid='0000:03:00.0' class='0x030200'>" PAIR(
                             "%s", "%s", "0000:02:00.0",
                             "<c2c bw='44000' count='10'/>") "</pci>"
                                                             "</cpu></system>",
                 pairs[i][0], pairs[i][1], pairs[i][0], pairs[i][1]);
        check_nccl(text);
    }
}

/* Checks the rules of NCCL's parser. The root comes first, one blank precedes
 * each attribute, and tabs do not occur. Each tag has the attributes that
 * topo.cc requires. */
static void nccl_is_valid(void **state)
{
    nw_topology *t = machine("nccl:", ".xml", SWITCHED);
    char *text = export_as(t, "nccl", NULL);

    (void)state;
    assert_memory_equal(text, "<system version=\"1\">\n", 21);
    assert_null(strchr(text, '\t'));
    assert_null(strstr(text, "  <pci  "));
    assert_null(strstr(text, " />"));
    assert_null(strstr(text, " >"));
    /* without this attribute, NCCL asks the GPU for its generation, which is
     * right at 25 GB/s per link */
    assert_null(strstr(text, "sm="));
    assert_non_null(strstr(text, "<cpu numaid=\"0\" affinity=\"000f000f\">"));
    /* a switch has an address that no device has, and its rate */
    assert_non_null(strstr(text, "<pci busid=\"ffff:ff:01.0\" "
                                 "class=\"0x060400\" link_speed=\"32 GT/s\" "
                                 "link_width=\"16\">\n"));
    free(text);
    nw_topology_free(t);
}

/* A virtual machine has the same devices at other addresses and without the
 * switches. */
static void nccl_takes_addresses(void **state)
{
    nw_topology *host = machine("nccl:", ".xml", SWITCHED);
    nw_topology *guest = machine(
        "nccl:", ".xml",
        "<system version='1'><cpu numaid='-1'>" GPU("0000:05:00.0")
            GPU("0000:06:00.0") GPU("0000:07:00.0") GPU("0000:08:00.0")
                NIC("0000:09:00.0") NIC("0000:0A:00.0") "</cpu></system>");
    struct nw_topology_export_options options = NW_TOPOLOGY_EXPORT_OPTIONS_INIT;
    char *text = NULL, *notes = NULL;

    (void)state;
    options.format = "nccl";
    options.addresses = guest;
    assert_int_equal(nw_topology_export(host, &options, &text, &notes), NW_OK);
    assert_non_null(strstr(text, "\"0000:05:00.0\""));
    assert_non_null(strstr(text, "\"0000:0a:00.0\""));
    assert_null(strstr(text, "\"0000:02:00.0\""));
    assert_non_null(strstr(text, "\"ffff:ff:01.0\""));
    free(text);
    free(notes);
    nw_topology_free(guest);
    guest = machine("nccl:", ".xml",
                    "<system version='1'><cpu numaid='-1'>" GPU(
                        "0000:05:00.0") "</cpu></system>");
    options.addresses = guest;
    text = notes = NULL;
    assert_int_equal(nw_topology_export(host, &options, &text, &notes),
                     NW_EINVAL);
    assert_non_null(strstr(nw_error_text(), "has 1 GPU, and the node has 4"));
    nw_topology_free(guest);
    nw_topology_free(host);
}

/* Cluster files may have no addresses, or several types of node. */
static void nccl_needs_one_node(void **state)
{
    nw_topology *t = machine("", ".yaml", RACKS);

    (void)state;
    refuses(t, "nccl", "GPU 0 has no PCI address");
    nw_topology_free(t);
    t = machine("", ".yaml",
                "nodewise: cluster 1\n"
                "node_types: {t: {cpu: {cores: 1}}, u: {cpu: {cores: 2}}}\n"
                "nodes: [{name: n1, type: t}, {name: n2, type: u}]\n"
                "network: {fat_tree: {leaf_nodes: 2, levels: [{up: 1}]}}\n");
    refuses(t, "nccl", "of 2 types and format nccl describes one node");
    nw_topology_free(t);
}

/* NVLink between a GPU and a POWER processor, in the words of NCCL's own table
 * of classes. */
static void power_ends_are_processors(void **state)
{
    nw_topology *t = machine(
        "nccl:", ".xml",
        "<system version='1'><cpu numaid='0' affinity='f'>"
        "<pci busid='0004:04:00.0' class='0x030200'><gpu sm='70'><nvlink "
        "target='0004:00:00.0' count='3' tclass='0x068001'/></gpu></pci>"
        "</cpu></system>");
    const struct nw_node_type *type = t->type[0];

    (void)state;
    assert_int_equal(type->direct_count, 0);
    assert_int_equal(t->class[type->class[type->gpu[0]]].kind, NW_LINK_NVLINK);
    assert_true(t->class[type->class[type->gpu[0]]].bandwidth[0] == 75e9);
    nw_topology_free(t);
}

static const char *const hwloc_files[] = {
    "node.xml", "partitions.xml", "gpu-memory.v2.xml", "two-boards.xml"};

/* libhwloc must read what is written, both in the helper nodewise-reader and in
 * this program. */
static void hwloc_reads_back(void **state)
{
    char path[4096];

    (void)state;
    for (size_t i = 0; i < sizeof hwloc_files / sizeof *hwloc_files; i++) {
        nw_topology *t = NULL;

        snprintf(path, sizeof path, "%s/topology/valid/%s",
                 getenv("NW_FIXTURES"), hwloc_files[i]);
        if (nw_topology_load(path, NULL, &t))
            fail_msg("%s", nw_error_text());
        /* files without a host are named after the file */
        free(t->node_name[0]);
        free(t->type[0]->name);
        t->node_name[0] = strdup("n1");
        t->type[0]->name = strdup("n1");
        check_round(t, "hwloc", "", ".xml");
        nw_topology_free(t);
    }
}

/* The XML keeps all parts of a cluster file that hwloc can express. */
static void hwloc_takes_cluster_files(void **state)
{
    nw_topology *t =
        machine("", ".yaml",
                "nodewise: cluster 1\n"
                "node_types:\n"
                "  n1:\n"
                "    parts:\n"
                "      - package: 2\n"
                "        parts:\n"
                "          - numa: 2\n"
                "            parts:\n"
                "              - l3: 2\n"
                "                parts: [{core: 2, pus: 2}]\n"
                "          - pcie-switch: 1\n"
                "            link: 63GB/s\n"
                "            parts: [{gpu: 2, link: 63GB/s}, {nic: 1}]\n"
                "    threads: ['0-15', '16-31']\n"
                "    gpus: [{name: A<B, uuid: GPU-1, pci: '0000:01:00.0'},\n"
                "           {name: A<B, uuid: GPU-2, pci: '0000:02:00.0'},\n"
                "           {name: A<B, uuid: GPU-3, pci: '0000:81:00.0'},\n"
                "           {name: A<B, uuid: GPU-4, pci: '0000:82:00.0'}]\n"
                "    nics: [{name: mlx5_0, pci: '0000:03:00.0'},\n"
                "           {name: mlx5_1, pci: '0000:83:00.0'}]\n"
                "    direct: [{switch: [gpu 0-3], link: 450GB/s}]\n"
                "nodes: [{name: n1}]\n");

    (void)state;
    check_round(t, "hwloc", "", ".xml");
    nw_topology_free(t);
}

/* A NIC without a name has no operating system device in the XML; its direct
 * link to a GPU must still be there. */
static void hwloc_keeps_links_of_nameless_nics(void **state)
{
    nw_topology *t =
        machine("", ".yaml",
                "nodewise: cluster 1\n"
                "node_types:\n"
                "  n1:\n"
                "    parts:\n"
                "      - package: 1\n"
                "        parts: [{core: 2, pus: 2}, {gpu: 1, link: 63GB/s},\n"
                "                {nic: 2, link: 63GB/s}]\n"
                "    threads: ['0-1', '2-3']\n"
                "    gpus: [{name: A, uuid: GPU-1, pci: '0000:01:00.0'}]\n"
                "    nics: [{pci: '0000:02:00.0'},\n"
                "           {name: mlx5_0, pci: '0000:03:00.0'}]\n"
                "    direct: [{pairs: [[gpu 0, nic 0], [gpu 0, nic 1]],\n"
                "              link: 50GB/s}]\n"
                "nodes: [{name: n1}]\n");

    (void)state;
    assert_int_equal(t->type[0]->direct_count, 2);
    check_round(t, "hwloc", "", ".xml");
    nw_topology_free(t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_read_back),
        cmocka_unit_test(parts_read_back),
        cmocka_unit_test(blocks_read_back),
        cmocka_unit_test(domains_are_blocks),
        cmocka_unit_test(links_beyond_a_tree_are_lost),
        cmocka_unit_test(domains_are_labels),
        cmocka_unit_test(labels_of_topograph_0),
        cmocka_unit_test(long_labels_are_hashed),
        cmocka_unit_test(labels_must_agree),
        cmocka_unit_test(what_no_file_can_express),
        cmocka_unit_test(nccl_reads_back),
        cmocka_unit_test(nccl_is_valid),
        cmocka_unit_test(nccl_takes_addresses),
        cmocka_unit_test(nccl_needs_one_node),
        cmocka_unit_test(power_ends_are_processors),
        cmocka_unit_test(hwloc_reads_back),
        cmocka_unit_test(hwloc_takes_cluster_files),
        cmocka_unit_test(hwloc_keeps_links_of_nameless_nics),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
