/* SPDX-License-Identifier: BSD-3-Clause */
/* Every kind of error in a cluster file, with the number of the line and the
 * message. */
#include <nodewise/topology.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/nodewise-cluster-XXXXXX.yaml";

static nw_status load_bytes(const char *text, size_t length)
{
    nw_topology *topology = NULL;
    nw_status status;
    int fd;

    memcpy(path, "/tmp/nodewise-cluster-XXXXXX", 28);
    fd = mkstemps(path, 5);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, length), length);
    close(fd);
    status = nw_topology_load(path, NULL, &topology);
    unlink(path);
    if (status)
        assert_null(topology);
    nw_topology_free(topology);
    return status;
}

/* Checks that the text is refused; `says` is the message after the name of the
 * file. */
static void refuses(const char *text, const char *says)
{
    assert_int_equal(load_bytes(text, strlen(text)), NW_EFORMAT);
    assert_memory_equal(nw_error_text(), path, strlen(path));
    assert_string_equal(nw_error_text() + strlen(path), says);
}

/* A complete file around the lines of one part; the part begins at line 2. */
#define TYPE(lines)                                                            \
    "nodewise: cluster 1\n" lines "nodes: [{name: 'n[1-4]', switch: s}]\n"     \
    "network: {tree: {switch: s}}\n"
#define CPU(cpu) TYPE("node_types: {t: {cpu: " cpu "}}\n")
#define DEVICES(list)                                                          \
    TYPE("node_types: {t: {cpu: {packages: 2, cores: 2},\n"                    \
         "  devices: " list "}}\n")
#define DIRECT(list)                                                           \
    TYPE("node_types: {t: {cpu: {cores: 2}, devices: [{parts: [{gpu: 4}]}],\n" \
         "  direct: " list "}}\n")
#define NODES(lines)                                                           \
    "nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 2}}}\n" lines
#define NETWORK(network)                                                       \
    NODES("nodes: [{name: 'n[1-4]'}]\nnetwork: " network "\n")
#define JOINED(network)                                                        \
    NODES("nodes: [{name: 'n[1-4]', switch: a}]\nnetwork: " network "\n")

static void no_cluster_file(void **state)
{
    (void)state;
    refuses("", ":1: the file is empty");
    refuses("# nothing\n", ":1: no YAML value in the file");
    refuses("ranks 4\n", ":1: a cluster file is a mapping that has "
                         "'nodewise: cluster 1'");
    refuses("- 1\n", ":1: a cluster file is a mapping that has "
                     "'nodewise: cluster 1'");
    refuses("a: 1\n", ":1: no 'nodewise: cluster 1': not a cluster file");
    refuses("a: 1\nnodewise: cluster 2\n",
            ":2: 'nodewise' is 'cluster 2'; this reads 'cluster 1'");
    refuses("nodewise: [cluster 1]\n", ":1: 'nodewise' must be a word");
    refuses("nodewise: cluster 1\nfoo: 1\n",
            ":2: unknown key 'foo' in a cluster; known are: nodewise name "
            "gpu_messages node_types nodes domains network");
    refuses("nodewise: cluster 1\n", ":1: 'node_types' is missing");
}

static void bad_yaml(void **state)
{
    (void)state;
    refuses("nodewise: cluster 1\nname: a\nname: b\n",
            ":3: key 'name' is given twice");
    refuses("nodewise: &a cluster 1\n",
            ":1: anchors, aliases and tags are not used here");
    refuses("a: 1\nb: *a\n", ":2: anchors, aliases and tags are not used here");
    refuses("a: !!str x\n", ":1: anchors, aliases and tags are not used here");
    refuses("a: 1\n---\nb: 1\n", ":2: a second document in the file");
    refuses("a: [1, 2\n", ":2: did not find expected ',' or ']'");
    refuses("a: 1\n b: 2\n", ":2: mapping values are not allowed in this "
                             "context");
    refuses("{[1]: 2}\n", ":1: a key must be a plain word");
    refuses("a: \"x\\0y\"\n",
            ":1: a control character or line break in a value");
    refuses("a: |\n  x\n  y\n",
            ":1: a control character or line break in a value");
    refuses("a: 1\nb: \x01\n", ":2: control characters are not allowed");
    refuses("a: 1\nb: \xff\xfe\n", ":2: not UTF-8 text");
}

static void nested_and_long(void **state)
{
    char text[8192] = "a: ";

    (void)state;
    for (int i = 0; i < 41; i++)
        strcat(text, "[");
    refuses(text, ":1: nested deeper than 40");
    memset(text, '[', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuses(text, ":1: nested deeper than 40");
    text[0] = '\0';
    for (int i = 0; i < 1001; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%d:\n", i);
    refuses(text, ":1001: more than 1000 keys in one mapping");
}

static void cut_short(void **state)
{
    static const char whole[] =
        CPU("{packages: 2, cores: 4}") "name: the end\n";

    (void)state;
    assert_int_equal(load_bytes(whole, strlen(whole)), NW_OK);
    /* in the last line, a shorter name is valid, and so is a file without that
     * line */
    for (size_t n = 0; n < strlen(whole) - strlen("\nname: the end\n"); n++)
        assert_int_equal(load_bytes(whole, n), NW_EFORMAT);
}

static void bad_types(void **state)
{
    (void)state;
    refuses(TYPE("node_types: 4\n"),
            ":2: 'node_types' must be a mapping of a name to a node type");
    refuses(TYPE("node_types: {}\n"),
            ":2: 'node_types' must be a mapping of a name to a node type");
    refuses(TYPE("node_types:\n  t: {}\n"), ":3: 'cpu' is missing");
    refuses(TYPE("node_types:\n  t: {cpu: {cores: 1}, cards: 1}\n"),
            ":3: unknown key 'cards' in a node type; known are: cpu parts "
            "threads gpu_messages devices direct nic_names gpus nics");
    refuses(TYPE("node_types:\n  t: {cpu: {cores: 1},\n  gpu_messages: x}\n"),
            ":4: 'gpu_messages' must be direct, staged or pxn, not 'x'");
    refuses(CPU("4"), ":2: 'cpu' must be a mapping");
    refuses(CPU("{packages: 2}"), ":2: 'cores' is missing");
    refuses(CPU("{cores: 0}"),
            ":2: 'cores' must be a whole number from 1 to 131072");
    refuses(CPU("{cores: -1}"),
            ":2: 'cores' must be a whole number from 1 to 131072");
    refuses(CPU("{cores: nan}"),
            ":2: 'cores' must be a whole number from 1 to 131072");
    refuses(CPU("{cores: 1e3}"),
            ":2: 'cores' must be a whole number from 1 to 131072");
    refuses(CPU("{cores: 99999999999999999999}"),
            ":2: 'cores' must be a whole number from 1 to 131072");
    refuses(CPU("{packages: 131072, cores: 131072}"),
            ":2: a node has more than 131072 parts");
    refuses(CPU("{cores: 1, xml: a.xml}"),
            ":2: unknown key 'cores' in 'cpu' by hwloc; known are: xml links");
    refuses(CPU("{cores: 1, links: {gpu: 1}}"),
            ":2: unknown key 'gpu' in 'links'; known are: core cache memory "
            "socket");
    assert_int_equal(
        load_bytes(CPU("{xml: none.xml}"), strlen(CPU("{xml: none.xml}"))),
        NW_EIO);
    assert_non_null(strstr(nw_error_text(),
                           ":2: /tmp/none.xml: No such file or directory"));
}

#define CORE(link) CPU("{cores: 1, links: {core: " link "}}")

static void bad_figures(void **state)
{
    (void)state;
    refuses(CORE("fast"), ":2: 'fast' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("12us"), ":2: '12us' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("-1GB/s"), ":2: '-1GB/s' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("nan"), ":2: 'nan' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("inf"), ":2: 'inf' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("''"), ":2: '' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("0"), ":2: bandwidth '0' is out of range");
    refuses(CORE("1e30"), ":2: bandwidth '1e30' is out of range");
    refuses(CORE("1e999"), ":2: '1e999' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("{latency: 1GB/s}"),
            ":2: '1GB/s' is not a latency such as 1.2us");
    refuses(CORE("{latency: 5000}"), ":2: latency '5000' is out of range");
    refuses(CORE("{speed: 1}"),
            ":2: unknown key 'speed' in a link; known are: bandwidth latency "
            "half_duplex kind assumed");
    refuses(CORE("[1, 2, 3]"),
            ":2: a list of bandwidths has two, there and back");
    refuses(CORE("{bandwidth: {a: 1}}"),
            ":2: 'this' is not a bandwidth such as 12.5GB/s");
    refuses(CORE("{half_duplex: yes}"),
            ":2: 'half_duplex' must be true or false");
    refuses(CORE("{half_duplex: true, bandwidth: [1, 2]}"),
            ":2: a half-duplex link has one bandwidth");
    refuses(CORE("{kind: rope}"), ":2: unknown kind of link 'rope'; "
                                  "nodewise-topology(5) lists the kinds");
}

#define PARTS(list) "node_types:\n  t: {parts: " list "}\n"

static void bad_parts(void **state)
{
    (void)state;
    refuses(TYPE(PARTS("[]")), ":3: 'parts' must be a list that is not empty");
    refuses(TYPE(PARTS("[{core: 1, gpu: 1}]")),
            ":3: a part has one kind, not both 'core' and 'gpu'");
    refuses(TYPE(PARTS("[{link: 1GB/s}]")),
            ":3: a part must be one of: package die numa l3 l2 core "
            "pcie-switch board gpu nic");
    refuses(TYPE(PARTS("[{core: 1, parts: [{gpu: 1}]}]")),
            ":3: nothing hangs below a 'core'");
    refuses(TYPE(PARTS("[{package: 1, pus: 2}]")),
            ":3: only a 'core' has 'pus'");
    refuses(TYPE(PARTS("[{core: 1, number: 2}]")),
            ":3: only a 'gpu' or 'nic' has a 'number'");
    refuses(TYPE(PARTS("[{pcie-switch: 1, parts: [{core: 1}]}]")),
            ":3: no processor hangs below a bridge");
    refuses(TYPE(PARTS("[{core: 1}, {gpu: 1, number: 1}]")),
            ":3: numbers of a 'gpu' run from 0, each once");
    refuses(TYPE(PARTS("[{core: 1}, {gpu: 200}]")),
            ":3: more than 128 of a kind in a node");
    refuses(TYPE(PARTS("[{core: 2, pus: 2}], threads: ['0-1']")),
            ":3: cores have more threads than numbers");
    refuses(TYPE(PARTS("[{core: 2, pus: 1}], threads: ['0-2']")),
            ":3: more numbers than cores that have such a thread");
    refuses(TYPE(PARTS("[{core: 2, pus: 1}], threads: ['0']")),
            ":3: 1 number for 2 cores");
    refuses(TYPE(PARTS("[{core: 2, pus: 1}], threads: ['1-0']")),
            ":3: '1-0' is not a list such as 0-3,8");
    refuses(TYPE(PARTS("[{core: 1}], cpu: {cores: 1}")),
            ":3: 'cpu' and 'parts' exclude each other");
    refuses(TYPE(PARTS("[{core: 1}, {gpu: 2}], gpus: [{name: x}]")),
            ":3: 'gpus' has 1 item, but a node has 2 of these");
}

static void bad_devices(void **state)
{
    (void)state;
    refuses(DEVICES("4"), ":3: 'devices' must be a list that is not empty");
    refuses(DEVICES("[]"), ":3: 'devices' must be a list that is not empty");
    refuses(DEVICES("[{package: 0}]"), ":3: 'parts' is missing");
    refuses(DEVICES("[{package: 2, parts: [{gpu: 1}]}]"),
            ":3: unknown package 2: this node has fewer");
    refuses(DEVICES("[{numa: 0, parts: [{gpu: 1}]}]"),
            ":3: unknown numa 0: this node has fewer");
    refuses(DEVICES("[{numa: 0, package: 0, parts: [{gpu: 1}]}]"),
            ":3: 'package' and 'numa' exclude each other");
    refuses(DEVICES("[{package: -1, parts: [{gpu: 1}]}]"),
            ":3: 'package' must be a whole number from 0 to 131072");
    refuses(DEVICES("[{parts: [{}]}]"),
            ":3: a part must be a 'pcie-switch', 'board', 'gpu' or 'nic'");
    refuses(DEVICES("[{parts: [{gpu: 1, nic: 1}]}]"),
            ":3: a part has one kind, not both 'gpu' and 'nic'");
    refuses(DEVICES("[{parts: [{gpu: 0}]}]"),
            ":3: 'gpu' must be a whole number from 1 to 1024");
    refuses(DEVICES("[{parts: [{gpu: 1, port: 1}]}]"),
            ":3: only a 'nic' has a 'port'");
    refuses(DEVICES("[{parts: [{nic: 1, model: x}]}]"),
            ":3: only a 'gpu' has a 'model'");
    refuses(DEVICES("[{parts: [{gpu: 1, parts: [{gpu: 1}]}]}]"),
            ":3: nothing hangs below a 'gpu'");
    refuses(DEVICES("[{parts: [{gpu: 129}]}]"),
            ":3: more than 128 GPUs in a node");
    refuses(DEVICES("[{parts: [{nic: 129}]}]"),
            ":3: more than 128 network cards in a node");
    refuses(DEVICES("[{parts: [{board: 1024, parts: [{board: 1024}]}]}]"),
            ":3: a node has more than 131072 parts");
    refuses(DEVICES("[{parts: [{nic: 2}]}], nic_names: mlx5_0"),
            ":3: 'nic_names' has 1 name, but the node has 2 network cards");
}

static void bad_direct_links(void **state)
{
    (void)state;
    refuses(
        DIRECT("[{link: 1}]"),
        ":3: a direct link needs exactly one of 'pairs', 'mesh' and 'switch'");
    refuses(DIRECT("[{mesh: [gpu 0-4]}]"),
            ":3: unknown gpu 4: this node has fewer");
    refuses(DIRECT("[{mesh: [gpu 0-99999999]}]"),
            ":3: unknown gpu 4: this node has fewer");
    refuses(DIRECT("[{mesh: [gpu]}]"),
            ":3: an end is written as 'gpu 0' or 'gpu 0-3'");
    refuses(DIRECT("[{mesh: [gpu 3-1]}]"),
            ":3: an end is written as 'gpu 0' or 'gpu 0-3'");
    refuses(DIRECT("[{mesh: [gpu 0x]}]"),
            ":3: an end is written as 'gpu 0' or 'gpu 0-3'");
    refuses(DIRECT("[{mesh: [core 0]}]"),
            ":3: an end is a gpu, nic, package or numa, not 'core'");
    refuses(DIRECT("[{mesh: [gpu 0]}]"), ":3: a direct link has two ends");
    refuses(DIRECT("[{mesh: [gpu 0, gpu 0]}]"),
            ":3: 'gpu 0' names an end twice");
    refuses(DIRECT("[{pairs: [[gpu 0, gpu 1], [gpu 1, gpu 0]]}]"),
            ":3: a direct link is given twice");
    refuses(DIRECT("[{pairs: [[gpu 0]]}]"), ":3: a pair is a list of two ends");
    refuses(DIRECT("[{mesh: [gpu 0-1], count: 2}]"),
            ":3: 'count' belongs to 'switch'");
    refuses(DIRECT("[{switch: [gpu 0-1], count: 99}]"),
            ":3: 'count' must be a whole number from 1 to 32");
}

static void bad_nodes(void **state)
{
    (void)state;
    refuses(NODES("name: x\n"), ":1: 'nodes' is missing");
    refuses(NODES("nodes: []\n"), ":3: 'nodes' must be a list that is not "
                                  "empty");
    refuses(NODES("nodes: [{type: t}]\n"), ":3: 'name' is missing");
    refuses(NODES("nodes:\n\t- name: x\n"),
            ":4: a tab indents this line; YAML needs blanks");
    refuses(NODES("nodes:\n- name: n[1-\n"),
            ":4: host list 'n[1-': a '[' without ']'");
    refuses(NODES("nodes: [{name: a b}]\n"),
            ":3: host list 'a b': a character no name can have");
    refuses(NODES("nodes: [{name: 'n[1-9999999]'}]\n"),
            ":3: host list 'n[1-9999999]': more than 1048576 names");
    refuses(NODES("nodes: [{name: x, type: u}]\n"),
            ":3: unknown node type 'u': not in node_types");
    refuses(NODES("nodes: [{name: 'x,y'}]\n"), ":3: 2 nodes need a 'network'");
    refuses(NODES("nodes: [{name: x, switch: s}]\n"),
            ":3: 'switch' without a 'network'");
    refuses(NODES("nodes:\n- name: x\n  port: {bandwidth: 1GB/s}\n"),
            ":5: 'port' without a 'network'");
    refuses(NODES("nodes:\n- name: x\n  ports: [1, 2]\n"),
            ":5: 'ports' without a 'network'");
    refuses(NETWORK("{tree: {switch: s}}"), ":3: 'switch' is missing");
    refuses(NODES("nodes: [{name: x, switch: t}]\n"
                  "network: {tree: {switch: s}}\n"),
            ":3: unknown switch 't': not in the network of this file");
    refuses(NODES("nodes: [{name: x, switch: [s, s]}]\n"
                  "network: {tree: {switch: s}}\n"),
            ":3: 'switch' has 2 items, but the node has 1 network card");
    refuses(NODES("nodes: [{name: 'n[1-3]', switch: 's,t'}]\n"
                  "network: {tree: {switch: s, switches: [{switch: t}]}}\n"),
            ":3: 3 nodes cannot be shared out evenly over 2 switches");
    refuses("nodewise: cluster 1\nnode_types: {t: {cpu: {cores: 2}}, u: {cpu: "
            "{cores: 1}}}\nnodes: [{name: x}]\n",
            ":3: 'type' is missing; the file has 2 node types");
}

/* The message of the topology, with the line number before it. */
static void doubled_node_names(void **state)
{
    (void)state;
    refuses(NODES("name: twins\nnodes: [{name: 'x,x', switch: s}]\n"
                  "network: {tree: {switch: s}}\n"),
            ":4: two nodes of twins are named 'x'");
}

static void bad_networks(void **state)
{
    (void)state;
    refuses(NETWORK("{}"), ":4: 'network' needs exactly one of tree, fat_tree, "
                           "torus, dragonfly and graph");
    refuses(NETWORK("{ring: 1}"),
            ":4: unknown key 'ring' in 'network'; known are: tree fat_tree "
            "torus dragonfly graph");
    refuses(JOINED("{tree: {switch: a}, torus: {dimensions: [2]}}"),
            ":4: 'network' needs exactly one of tree, fat_tree, torus, "
            "dragonfly and graph");
    refuses(JOINED("{tree: {}}"), ":4: 'switch' is missing");
    refuses(JOINED("{tree: {switch: 'a,b'}}"),
            ":4: a tree has one switch at its root");
    refuses(JOINED("{tree: {switch: a, switches: [{switch: a}]}}"),
            ":4: two switches are named 'a'");
    refuses(JOINED("{tree: {switch: a, switches: [{switch: 'b,c', switches: "
                   "[{switch: 'd,e,f'}]}]}}"),
            ":4: 3 switches cannot be shared out evenly over 2");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1}}"), ":4: 'levels' is missing");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1, levels: [{up: 1}, {up: 1}]}}"),
            ":4: 'down' is missing");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1, levels: [{down: 2}]}}"),
            ":3: 2 switches of 1 node each have no port for node 3");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1, levels: [{up: 1048576}, ]}}"),
            ":4: more than 1048576 switches");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 4, levels: [{up: 1048576, "
                    "parallel: 1024}]}}"),
            ":4: more than 1048576 switches");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1, levels: [{down: 900, up: 900, "
                    "parallel: 1024}]}}"),
            ":4: more than 16777216 links");
    refuses(NETWORK("{fat_tree: {leaf_nodes: 1, levels: [{down: 1048576, up: "
                    "1048576}, {down: 1048576, up: 1048576}, {down: 1048576, "
                    "up: 1048576}]}}"),
            ":4: more than 1048576 switches");
    refuses(JOINED("{fat_tree: {leaf_nodes: 4, levels: [{up: 1}]}}"),
            ":3: unknown switch 'a': not in the network of this file");
    refuses(NODES("nodes: [{name: x, switch: up1-0}]\n"
                  "network: {fat_tree: {leaf_nodes: 4, levels: [{up: 1}]}}\n"),
            ":3: 'up1-0' is not a leaf switch");
}

static void bad_tori(void **state)
{
    (void)state;
    refuses(NETWORK("{torus: {dimensions: 4}}"),
            ":4: 'dimensions' must be a list that is not empty");
    refuses(NETWORK("{torus: {dimensions: [0]}}"),
            ":4: an item of the list must be a whole number from 1 to 1048576");
    refuses(NETWORK("{torus: {dimensions: [1048576, 1048576]}}"),
            ":4: more than 1048576 switches");
    refuses(NETWORK("{torus: {dimensions: "
                    "[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]}}"),
            ":4: more than 16 dimensions");
    refuses(NETWORK("{torus: {dimensions: [2, 2], wrap: [true]}}"),
            ":4: 'wrap' has 1 item for 2 dimensions");
    refuses(NETWORK("{torus: {dimensions: [2, 2], link: [1, 1, 1]}}"),
            ":4: 'link' has 3 items for 2 dimensions");
    refuses(NETWORK("{torus: {dimensions: [3]}}"),
            ":3: 3 switches of 1 node each have no port for node 4");
}

#define FLY(g, r, l)                                                           \
    NETWORK("{dragonfly: {groups: " g ", routers: " r ", global_links: " l     \
            ", router_nodes: 1}}")

static void bad_dragonflies_and_graphs(void **state)
{
    (void)state;
    refuses(NETWORK("{dragonfly: {groups: 2}}"), ":4: 'routers' is missing");
    refuses(FLY("9", "2", "3"),
            ":4: 2 routers of 3 global links cannot reach 8 other groups");
    refuses(FLY("2", "65536", "65536"), ":4: more than 16777216 links");
    refuses(FLY("65536", "65536", "1"), ":4: more than 1048576 switches");
    refuses(JOINED("{graph: {links: []}}"), ":4: 'switches' is missing");
    refuses(JOINED("{graph: {switches: 'a[1-9000]'}}"),
            ":4: a graph of more than 8192 switches");
    refuses(JOINED("{graph: {switches: 'a,a'}}"),
            ":4: two switches are named 'a'");
    refuses(JOINED("{graph: {switches: 'a,b', links: [{between: [a, c]}]}}"),
            ":4: unknown switch 'c': not in the network of this file");
    refuses(JOINED("{graph: {switches: 'a,b', links: [{between: [a, a]}]}}"),
            ":4: 'a' is joined to itself");
    refuses(JOINED("{graph: {switches: 'a,b', links: [{between: a}]}}"),
            ":4: 'between' is a list of two ends");
    refuses(JOINED("{graph: {switches: a, routing: fastest}}"),
            ":4: 'routing' must be shortest, not 'fastest'");
    refuses(JOINED("{graph: {switches: a, ties: random}}"),
            ":4: 'ties' must be spread or first, not 'random'");
}

static void no_file(void **state)
{
    char folder[] = "/tmp/nodewise-cluster-XXXXXX", file[40], said[80];
    nw_topology *topology = NULL;

    (void)state;
    assert_int_equal(nw_topology_load("/nowhere/x.yaml", NULL, &topology),
                     NW_EIO);
    assert_string_equal(nw_error_text(),
                        "/nowhere/x.yaml: No such file or directory");
    assert_non_null(mkdtemp(folder));
    snprintf(file, sizeof file, "%s/x.yaml", folder);
    assert_int_equal(mkdir(file, 0700), 0);
    assert_int_equal(nw_topology_load(file, NULL, &topology), NW_EIO);
    snprintf(said, sizeof said, "%s: is a directory", file);
    assert_string_equal(nw_error_text(), said);
    rmdir(file);
    rmdir(folder);
    assert_null(topology);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_cluster_file),
        cmocka_unit_test(bad_yaml),
        cmocka_unit_test(nested_and_long),
        cmocka_unit_test(cut_short),
        cmocka_unit_test(bad_types),
        cmocka_unit_test(bad_figures),
        cmocka_unit_test(bad_parts),
        cmocka_unit_test(bad_devices),
        cmocka_unit_test(bad_direct_links),
        cmocka_unit_test(bad_nodes),
        cmocka_unit_test(doubled_node_names),
        cmocka_unit_test(bad_networks),
        cmocka_unit_test(bad_tori),
        cmocka_unit_test(bad_dragonflies_and_graphs),
        cmocka_unit_test(no_file),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
