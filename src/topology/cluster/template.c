/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes a cluster file for a machine that a few numbers describe. The user
 * then edits this file: its structure is complete, and comments in the file
 * name the figures that the user should add. */
#include <nodewise/topology.h>

#include "base/array.h"
#include "base/nearest.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 100000, DIMENSIONS = 16 };

struct template
{
    int32_t nodes, sockets, numa, cores, threads, gpus, nics;
    char *network; /* borrowed from the specification */
};

/* The keys whose value is a number, and the lowest and highest value
 * allowed. */
static const struct template_key {
    const char *name;
    size_t offset;
    int32_t least, most;
} template_keys[] = {
    {"nodes", offsetof(struct template, nodes), 1, MOST},
    {"sockets", offsetof(struct template, sockets), 1, 64},
    {"numa", offsetof(struct template, numa), 1, 64},
    {"cores", offsetof(struct template, cores), 1, 4096},
    {"threads", offsetof(struct template, threads), 1, 16},
    {"gpus", offsetof(struct template, gpus), 0, 128},
    {"nics", offsetof(struct template, nics), 0, 128},
};
enum { KEYS = sizeof template_keys / sizeof *template_keys };

static nw_status template_refuse_key(const char *key)
{
    struct nw_nearest nearest;

    nw_nearest_start(&nearest, key, strlen(key));
    for (size_t i = 0; i < KEYS; i++)
        nw_nearest_try(&nearest, template_keys[i].name);
    nw_nearest_try(&nearest, "network");
    return nw_fail(NW_EINVAL, "--new: unknown key '%s'; %s", key,
                   nw_nearest_say(&nearest,
                                  "the keys are nodes, sockets, numa, cores, "
                                  "threads, gpus, nics and network"));
}

/* Reads one pair KEY=VALUE into `template`. Bit i of *given is set if
 * template_keys[i] was given, and bit KEYS if `network` was. A repeated key is
 * an error. */
static nw_status template_take_pair(struct template *template, char *pair,
                                    uint32_t *given)
{
    char *value = strchr(pair, '=');
    int32_t *number;
    size_t i = 0;

    if (value)
        *value++ = '\0';
    while (i < KEYS && strcmp(template_keys[i].name, pair))
        i++;
    if (i == KEYS && strcmp(pair, "network"))
        return template_refuse_key(pair);
    if (*given & 1u << i)
        return nw_fail(NW_EINVAL, "--new: '%s' occurs twice", pair);
    *given |= 1u << i;
    if (!value || !*value)
        return nw_fail(NW_EINVAL, "--new: '%s' needs a value, such as %s", pair,
                       i < KEYS ? "nodes=4" : "network=fat-tree:16:8");
    if (i == KEYS) {
        template->network = value;
        return NW_OK;
    }
    number = (int32_t *)((char *)template + template_keys[i].offset);
    if (!nw_parse_i32(value, number) || *number < template_keys[i].least ||
        *number > template_keys[i].most)
        return nw_fail(NW_EINVAL,
                       "--new: %s is a number from %d to %d, not '%s'", pair,
                       template_keys[i].least, template_keys[i].most, value);
    return NW_OK;
}

static nw_status template_check_even(const char *what, int32_t count,
                                     int32_t sockets)
{
    if (count <= sockets || count % sockets == 0)
        return NW_OK;
    return nw_fail(NW_EINVAL,
                   "--new: %s=%d cannot be divided evenly between %d socket%s",
                   what, count, sockets, nw_plural((uint64_t)sockets));
}

static nw_status template_take_pairs(struct template *template,
                                     char *specification)
{
    nw_status status = NW_OK;
    uint32_t given = 0;
    char *rest = specification, *pair;

    while (!status && (pair = strsep(&rest, ",")))
        status = template_take_pair(template, pair, &given);
    if (status)
        return status;
    if (!template->cores)
        return nw_fail(NW_EINVAL,
                       "--new needs cores=N, the cores of a socket (of a NUMA "
                       "node with numa=N)");
    if (template->nics < 0)
        template->nics = template->nodes > 1;
    status = template_check_even("gpus", template->gpus, template->sockets);
    return status
               ? status
               : template_check_even("nics", template->nics, template->sockets);
}

/* Reads positive numbers that `by` (':' or 'x') separates into size[], and
 * their number into *count. Also appends them to `out`, separated by ", ".
 * Returns false if the word is invalid or has more than DIMENSIONS numbers. */
static bool template_read_sizes(const char *word, char by, struct nw_text *out,
                                int32_t size[DIMENSIONS], int *count)
{
    char part[12];

    for (*count = 0; *count < DIMENSIONS; ++*count) {
        size_t length = strcspn(word, by == ':' ? ":" : "x");

        if (length >= sizeof part)
            return false;
        memcpy(part, word, length);
        part[length] = '\0';
        if (!nw_parse_i32(part, &size[*count]) || size[*count] < 1)
            return false;
        nw_text_format(out, "%s%d", *count ? ", " : "", size[*count]);
        word += length;
        if (!*word++) {
            ++*count;
            return true;
        }
    }
    return false;
}

static nw_status template_write_fat_tree(const char *sizes, struct nw_text *out)
{
    struct nw_text unused = {0};
    int32_t size[DIMENSIONS];
    int count;
    bool good = template_read_sizes(sizes, ':', &unused, size, &count);

    nw_text_fini(&unused);
    if (!good || count % 2)
        return nw_fail(
            NW_EINVAL,
            "--new: network=fat-tree:NODES:UP[:DOWN:UP...], nodes of "
            "a leaf, switches above it, leaves below each of them "
            "and so on, not '%s'",
            sizes);
    nw_text_format(out, "  fat_tree:\n    leaf_nodes: %d\n    levels:\n",
                   size[0]);
    for (int i = 1; i < count; i += 2) {
        nw_text_format(out, "      - {up: %d", size[i]);
        if (i + 1 < count)
            nw_text_format(out, ", down: %d", size[i + 1]);
        nw_text_add(out, "}   # add parallel: cables between two switches\n");
    }
    return NW_OK;
}

static nw_status template_write_grid(const struct template *template,
                                     const char *sizes, struct nw_text *out)
{
    struct nw_text list = {0};
    int32_t size[DIMENSIONS];
    int64_t product = 1;
    int count;
    bool good =
        template_read_sizes(sizes, 'x', &list, size, &count) && !list.failed;

    for (int i = 0; good && i < count && product <= MOST; i++)
        product *= size[i];
    if (good && template->nodes % product == 0)
        nw_text_format(
            out, "  torus:\n    dimensions: [%s]\n    switch_nodes: %lld\n",
            list.data, (long long)(template->nodes / product));
    else
        good = false;
    nw_text_fini(&list);
    return good ? NW_OK
                : nw_fail(NW_EINVAL,
                          "--new: network=torus:AxBxC, sizes whose product "
                          "divides %d node%s, not '%s'",
                          template->nodes,
                          nw_plural((uint64_t) template->nodes), sizes);
}

static nw_status template_write_dragonfly(const struct template *template,
                                          const char *sizes,
                                          struct nw_text *out)
{
    struct nw_text unused = {0};
    int32_t size[DIMENSIONS];
    int count;
    bool good = template_read_sizes(sizes, 'x', &unused, size, &count) &&
                count == 3 && size[0] <= MOST && size[1] <= MOST &&
                template->nodes % ((int64_t)size[0] * size[1]) == 0;

    nw_text_fini(&unused);
    if (!good)
        return nw_fail(NW_EINVAL,
                       "--new: network=dragonfly:GROUPSxROUTERSxLINKS, groups "
                       "and routers whose product divides %d node%s and global "
                       "links of a router, not '%s'",
                       template->nodes, nw_plural((uint64_t) template->nodes),
                       sizes);
    nw_text_format(out,
                   "  dragonfly:\n    groups: %d\n    routers: %d\n"
                   "    global_links: %d\n    router_nodes: %lld\n",
                   size[0], size[1], size[2],
                   (long long)(template->nodes / ((int64_t)size[0] * size[1])));
    return NW_OK;
}

static nw_status template_write_network(const struct template *template,
                                        struct nw_text *out)
{
    static const char *const kinds[] = {"switch", "fat-tree", "torus",
                                        "dragonfly"};
    const char *word = template->network ? template->network : "switch";
    size_t length = strcspn(word, ":");
    const char *sizes = word[length] ? word + length + 1 : "";
    struct nw_nearest nearest;

    if (template->nodes == 1 && !template->network)
        return NW_OK;
    nw_text_add(out, "# The links between switches are assumed until they have "
                     "figures, such as\n"
                     "# link: {bandwidth: 100Gbit/s, latency: 150ns}\n"
                     "network:\n");
    if (!strcmp(word, "switch")) {
        nw_text_add(out, "  tree:\n    switch: switch0\n");
        return NW_OK;
    }
    if (length == 8 && !strncmp(word, "fat-tree", length))
        return template_write_fat_tree(sizes, out);
    if (length == 5 && !strncmp(word, "torus", length))
        return template_write_grid(template, sizes, out);
    if (length == 9 && !strncmp(word, "dragonfly", length))
        return template_write_dragonfly(template, sizes, out);
    nw_nearest_start(&nearest, word, length);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        nw_nearest_try(&nearest, kinds[i]);
    return nw_fail(NW_EINVAL, "--new: unknown network '%s'; %s", word,
                   nw_nearest_say(&nearest, "it is switch, fat-tree:..., "
                                            "torus:... or dragonfly:..."));
}

/* Writes `count` devices: one below each of the first `count` sockets, or, if
 * there are more devices than sockets, equally many below every socket. */
static void template_write_devices(const struct template *template,
                                   const char *kind, int32_t count,
                                   struct nw_text *out)
{
    int32_t sockets = count < template->sockets ? count : template->sockets;

    if (!count)
        return;
    nw_text_add(out, "      - package: [");
    for (int32_t s = 0; s < sockets; s++)
        nw_text_format(out, "%s%d", s ? ", " : "", s);
    nw_text_format(
        out,
        "]\n        parts:\n          - %s: %d   # below each of "
        "these packages\n"
        "            # link: {bandwidth: 25GB/s, latency: 250ns}   # "
        "PCIe\n",
        kind, count / sockets);
    if (!strcmp(kind, "nic"))
        nw_text_add(out, "            # port: {bandwidth: 100Gbit/s, latency: "
                         "500ns}   # to the network\n");
}

static void template_write_type(const struct template *template,
                                struct nw_text *out)
{
    nw_text_format(out, "node_types:\n  node:\n    cpu:\n      packages: %d\n",
                   template->sockets);
    if (template->numa)
        nw_text_format(out, "      numa: %d   # in each package\n",
                       template->numa);
    nw_text_format(out, "      cores: %d   # in each %s\n", template->cores,
                   template->numa ? "NUMA node" : "package");
    if (template->threads)
        nw_text_format(out, "      pus: %d   # hardware threads of a core\n",
                       template->threads);
    nw_text_add(out, "      # links: {core: {bandwidth: 12GB/s}, socket: "
                     "{bandwidth: 40GB/s}}\n");
    if (template->gpus || template->nics)
        nw_text_add(out, "    devices:\n");
    template_write_devices(template, "gpu", template->gpus, out);
    template_write_devices(template, "nic", template->nics, out);
    if (template->gpus > 1)
        nw_text_format(out,
                       "    # NVLink of each GPU with each other one:\n"
                       "    # direct:\n    #   - mesh: [gpu 0-%d]\n"
                       "    #     link: {bandwidth: 50GB/s, latency: 300ns}\n",
                       template->gpus - 1);
}

static void template_write_nodes(const struct template *template,
                                 struct nw_text *out)
{
    bool has_tree = template->network ? !strcmp(template->network, "switch")
                                      : template->nodes > 1;

    nw_text_add(out, "# The names as hostname(1) prints them.\nnodes:\n");
    if (template->nodes > 1)
        nw_text_format(out, "  - name: n[1-%d]\n", template->nodes);
    else
        nw_text_add(out, "  - name: n1\n");
    nw_text_add(out, "    type: node\n");
    if (has_tree)
        nw_text_add(out, "    switch: switch0\n");
}

static nw_status template_write(const struct template *template,
                                const char *specification, struct nw_text *out)
{
    nw_text_add(out, "# Made by nodewise topology --new ");
    nw_text_add_shown(out, specification);
    nw_text_add(out,
                "\n# nodewise-formats(5) describes all keys. Links without "
                "figures have assumed\n"
                "# ones: replace the examples behind # by those of the "
                "machine, or measure\n"
                "# them with nodewise probe.\n"
                "nodewise: cluster 1\n");
    if (template->gpus)
        nw_text_add(out, "# staged if messages of GPUs pass host memory, pxn "
                         "for NCCL on rails\n"
                         "gpu_messages: direct\n");
    template_write_type(template, out);
    template_write_nodes(template, out);
    return template_write_network(template, out);
}

/* Returns an error if the reader of cluster files would refuse this file, for
 * example because it has too many switches. */
static nw_status template_check_readable(const char *file)
{
    struct nw_cluster_text text = {
        .file = "--new", .text = file, .length = strlen(file)};
    nw_topology *topology;
    nw_status status = nw_cluster_read(&text, &topology);

    if (!status)
        nw_topology_free(topology);
    return status;
}

nw_status nw_topology_template(const char *specification, char **out)
{
    struct template template = {.nodes = 1, .sockets = 1, .nics = -1};
    struct nw_text text = {0};
    char *words = NULL, *file = NULL;
    nw_status status = nw_strdup(specification, &words);

    if (!status)
        status = template_take_pairs(&template, words);
    if (!status)
        status = template_write(&template, specification, &text);
    if (!status)
        status = nw_text_take(&text, &file);
    if (!status)
        status = template_check_readable(file);
    nw_text_fini(&text);
    free(words);
    if (status)
        free(file);
    else
        *out = file;
    return status;
}
