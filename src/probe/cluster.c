/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes the measured machine as a cluster file: the types of nodes from the
 * hosts' own descriptions, the network from the groups of hosts that the
 * measurements suggest. */
#include "probe/groups.h"

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/topology.h"

#include <math.h>
#include <stdlib.h>

#define SMALLEST_LATENCY 1e-9
/* Largest ratio of two figures that still count as equal. */
#define EQUAL 1.15

/* A link inside hosts: bandwidth in bytes/s and latency in s. `guessed`:
 * nothing was measured over such a link, so that the bandwidth is an
 * assumption. */
struct inner {
    double rate, latency;
    bool guessed;
};

/* The data of the functions that write a cluster file. */
struct sheet {
    const struct nw_probe *probe;
    struct nw_probe_groups host, gpu;
    struct inner core, socket; /* links from a core to its package and from a
                                  package to the node */
    struct nw_text text;
    int32_t *type;          /* [hosts] number of the first host of the same
                               type */
    int32_t *entry;         /* [hosts] number of the first host in the same
                               entry of the file */
    int32_t *switch_number; /* [groups] number of the switch that stands for
                               a group */
};

static void add_rate(struct nw_text *text, double rate)
{
    nw_text_format(text, "%.4gMB/s", rate * 1e-6);
}

/* Adds "{bandwidth: ..., latency: ...}". rate[0] and rate[1] are the rates out
 * and in. They are listed separately if they differ by more than the factor
 * EQUAL; otherwise their mean is written. A latency of 0 is unknown and not
 * written. */
static void probe_cluster_add_figures(struct nw_text *text,
                                      const double rate[2], double latency)
{
    bool differ = rate[0] > EQUAL * rate[1] || rate[1] > EQUAL * rate[0];

    nw_text_add(text, differ ? "{bandwidth: [" : "{bandwidth: ");
    add_rate(text, differ ? rate[0] : (rate[0] + rate[1]) / 2);
    if (differ) {
        nw_text_add(text, ", ");
        add_rate(text, rate[1]);
        nw_text_add(text, "]");
    }
    if (latency > 0)
        nw_text_format(text, ", latency: %.4gus", latency * 1e6);
    nw_text_add(text, "}");
}

static const struct nw_probe_rank *of_host(const struct sheet *sheet,
                                           int32_t host)
{
    return &sheet->probe->rank[nw_probe_first_rank(sheet->probe, host)];
}

/* Returns the number of cores of a host, or its number of ranks if there are
 * more ranks: each rank then counts as having a core of its own. */
static int32_t cluster_elements(const struct sheet *sheet, int32_t host)
{
    int32_t ranks = nw_probe_ranks_on(sheet->probe, host);
    int32_t cores = of_host(sheet, host)->cores;

    return ranks > cores ? ranks : cores;
}

static bool has_more_ranks_than_cores(const struct sheet *sheet, int32_t host)
{
    return cluster_elements(sheet, host) > of_host(sheet, host)->cores;
}

/* Returns the number of packages of a host; 1 if the cores cannot be divided
 * evenly among packages, or if the host has more ranks than cores. */
static int32_t cluster_packages(const struct sheet *sheet, int32_t host)
{
    int32_t count = of_host(sheet, host)->packages;

    return has_more_ranks_than_cores(sheet, host) ||
                   cluster_elements(sheet, host) % count
               ? 1
               : count;
}

static bool probe_cluster_same_type(const struct sheet *sheet, int32_t a,
                                    int32_t b)
{
    return cluster_elements(sheet, a) == cluster_elements(sheet, b) &&
           cluster_packages(sheet, a) == cluster_packages(sheet, b) &&
           of_host(sheet, a)->gpus == of_host(sheet, b)->gpus;
}

static nw_status find_types(struct sheet *sheet)
{
    int32_t n = sheet->host.host_count;
    nw_status status = nw_alloc((size_t)n, sizeof *sheet->type, &sheet->type);

    if (status)
        return status;
    for (int32_t h = 0; h < n; h++)
        while (!probe_cluster_same_type(sheet, sheet->type[h], h))
            sheet->type[h]++;
    return NW_OK;
}

/* Returns the fastest rate of a single stream between two hosts, or between
 * packages of a host. */
static double fastest_alone(const struct nw_probe_groups *found)
{
    size_t n = (size_t)found->host_count;
    double most = found->across_rate;

    for (size_t i = 0; i < n * n; i++)
        if (i / n != i % n)
            most = fmax(most, found->rate[i]);
    return most;
}

/* Returns the highest rate of any host's link to the network, in either
 * direction. */
static double fastest_port(const struct nw_probe_groups *found)
{
    double most = 0;

    for (int32_t h = 0; h < found->host_count; h++)
        most = fmax(most, fmax(found->group[h].up[0], found->group[h].up[1]));
    return most;
}

/* Sets the links inside hosts. Every route out of a host crosses both links, so
 * that neither may be slower than the fastest single stream between hosts. A
 * figure that was not measured is an assumption; the assumed link of a package
 * is at least as fast as the fastest link of a host to the network, so that it
 * never limits that link. */
static void find_inner(struct sheet *sheet)
{
    const struct nw_probe_groups *found = &sheet->host;
    struct nw_link_class core = nw_link_assumed(NW_LINK_CORE);
    struct nw_link_class socket = nw_link_assumed(NW_LINK_SOCKET);
    double alone = fastest_alone(found);
    double across = fmax(found->across_rate, sheet->gpu.across_rate);

    sheet->core.guessed = found->inside_rate <= 0;
    sheet->core.rate = fmax(alone, sheet->core.guessed ? core.bandwidth[0]
                                                       : found->inside_rate);
    sheet->core.latency = found->inside > 0 ? found->inside / 2
                          : found->across > 0
                              ? fmin(core.latency, found->across / 4)
                              : core.latency;
    sheet->socket.guessed = found->across_rate <= 0;
    sheet->socket.rate =
        fmax(across, sheet->socket.guessed
                         ? fmax(socket.bandwidth[0], fastest_port(found))
                         : alone);
    sheet->socket.latency =
        found->across > 0
            ? fmax(found->across / 2 - sheet->core.latency, SMALLEST_LATENCY)
            : socket.latency;
}

static void add_inner(struct nw_text *text, const char *name,
                      const struct inner *it)
{
    nw_text_format(text, "        %s: {bandwidth: ", name);
    add_rate(text, it->rate);
    nw_text_format(text, ", latency: %.4gus%s}\n", it->latency * 1e6,
                   it->guessed ? ", assumed: true" : "");
}

static void probe_cluster_add_links(struct sheet *sheet)
{
    nw_text_add(&sheet->text, "      links:\n");
    add_inner(&sheet->text, "core", &sheet->core);
    add_inner(&sheet->text, "socket", &sheet->socket);
}

static void add_gpus(struct sheet *sheet, int32_t host)
{
    int32_t count = of_host(sheet, host)->gpus,
            sockets = cluster_packages(sheet, host);
    const struct nw_probe_groups *found = &sheet->gpu;
    double rate[2] = {found->inside_rate, found->inside_rate};
    double latency = found->inside / 2;
    struct nw_text *text = &sheet->text;

    if (!count)
        return;
    if (of_host(sheet, host)->staged)
        nw_text_add(text, "    gpu_messages: staged\n");
    if (count % sockets)
        sockets = 1;
    nw_text_add(text, "    devices:\n      - package: [0");
    for (int32_t p = 1; p < sockets; p++)
        nw_text_format(text, ", %d", p);
    nw_text_format(text, "]\n        parts:\n          - gpu: %d\n",
                   count / sockets);
    if (rate[0] <= 0) {
        double socket = sockets > 1 ? sheet->socket.latency : 0;

        rate[0] = rate[1] = found->across_rate;
        latency = fmax(found->across / 2 - socket, SMALLEST_LATENCY);
    }
    if (rate[0] <= 0)
        return;
    nw_text_add(text, "            link: ");
    probe_cluster_add_figures(text, rate, latency);
    nw_text_add(text, "\n");
}

static void add_types(struct sheet *sheet)
{
    struct nw_text *text = &sheet->text;

    nw_text_add(text, "node_types:\n");
    for (int32_t h = 0; h < sheet->host.host_count; h++) {
        if (sheet->type[h] != h)
            continue;
        if (has_more_ranks_than_cores(sheet, h))
            nw_text_format(text, "  # %d rank%s shared %d core%s here\n",
                           cluster_elements(sheet, h),
                           nw_plural((uint64_t)cluster_elements(sheet, h)),
                           of_host(sheet, h)->cores,
                           nw_plural((uint64_t)of_host(sheet, h)->cores));
        nw_text_format(text, "  type%d:\n    cpu:\n      packages: %d\n", h,
                       cluster_packages(sheet, h));
        nw_text_format(text, "      cores: %d\n",
                       cluster_elements(sheet, h) / cluster_packages(sheet, h));
        probe_cluster_add_links(sheet);
        add_gpus(sheet, h);
    }
}

/* --- nodes --- */

static bool is_equal(double a, double b)
{
    return a <= EQUAL * b && b <= EQUAL * a;
}

static bool same_port(const struct sheet *sheet, int32_t a, int32_t b)
{
    const struct nw_probe_group *x = &sheet->host.group[a];
    const struct nw_probe_group *y = &sheet->host.group[b];

    return sheet->type[a] == sheet->type[b] && x->parent == y->parent &&
           is_equal(x->up[0], y->up[0]) && is_equal(x->up[1], y->up[1]);
}

/* Returns the latency of a host's link to its switch: half of the latency
 * between hosts of the group, without the latency of the links inside the host.
 * Returns 0 if no latency between these hosts is known. */
static double port_latency(const struct sheet *sheet, int32_t host)
{
    const struct nw_probe_groups *found = &sheet->host;
    double here = found->group[found->group[host].parent].latency;

    return here > 0
               ? fmax(here / 2 - sheet->core.latency - sheet->socket.latency,
                      SMALLEST_LATENCY)
               : 0;
}

/* Sets entry[]: hosts with the same type and equal links share an entry of the
 * file. A host joins the first host that it is equal to and that begins an
 * entry. Being equal within a tolerance is not transitive, so that a host is
 * only compared with hosts that begin entries. */
static nw_status find_entries(struct sheet *sheet)
{
    int32_t n = sheet->host.host_count;
    nw_status status = nw_alloc((size_t)n, sizeof *sheet->entry, &sheet->entry);

    for (int32_t h = 0; !status && h < n; h++)
        while (sheet->entry[h] < h &&
               (sheet->entry[sheet->entry[h]] != sheet->entry[h] ||
                !same_port(sheet, sheet->entry[h], h)))
            sheet->entry[h]++;
    return status;
}

/* Writes the entry of all hosts that joined host `first`. */
static void probe_cluster_add_node(struct sheet *sheet, int32_t first)
{
    const struct nw_probe_group *group = sheet->host.group;
    struct nw_text *text = &sheet->text;
    double sum[2] = {0};
    int32_t count = 0;

    nw_text_add(text, "  - name: \"");
    for (int32_t h = first; h < sheet->host.host_count; h++) {
        if (sheet->entry[h] != first)
            continue;
        nw_text_format(text, "%s%s", count ? "," : "", of_host(sheet, h)->name);
        sum[0] += group[h].up[0];
        sum[1] += group[h].up[1];
        count++;
    }
    nw_text_format(text, "\"\n    type: type%d\n", sheet->type[first]);
    if (group[first].parent < 0)
        return;
    nw_text_format(text, "    switch: s%d\n",
                   sheet->switch_number[group[first].parent]);
    if (sum[0] <= 0 || sum[1] <= 0)
        return;
    sum[0] /= count;
    sum[1] /= count;
    nw_text_add(text, "    port: ");
    probe_cluster_add_figures(text, sum, port_latency(sheet, first));
    nw_text_add(text, "\n");
}

static void probe_cluster_add_nodes(struct sheet *sheet)
{
    nw_text_add(&sheet->text, "nodes:\n");
    for (int32_t h = 0; h < sheet->host.host_count; h++)
        if (sheet->entry[h] == h)
            probe_cluster_add_node(sheet, h);
}

/* --- the network --- */

/* Returns the latency between hosts of a group; 0 for a group that is a single
 * host. */
static double latency_below(const struct sheet *sheet, int32_t group)
{
    return group < sheet->host.host_count ? 0
                                          : sheet->host.group[group].latency;
}

static void add_indent(struct nw_text *text, int depth)
{
    for (int i = 0; i < depth; i++)
        nw_text_add(text, "  ");
}

/* Writes the link from a group's switch to the switch above; nothing if its
 * rates are unknown. A message to another group crosses two such links and
 * therefore takes longer than a message inside the group. Half of this
 * additional time is the latency of one link. */
static void add_link_up(struct sheet *sheet, int32_t group, int depth)
{
    const struct nw_probe_group *it = &sheet->host.group[group];
    double more =
        latency_below(sheet, it->parent) - latency_below(sheet, group);

    if (it->up[0] <= 0 || it->up[1] <= 0)
        return;
    add_indent(&sheet->text, depth);
    nw_text_add(&sheet->text, "link: ");
    probe_cluster_add_figures(&sheet->text, it->up,
                              fmax(more / 2, SMALLEST_LATENCY));
    nw_text_add(&sheet->text, "\n");
}

/* Writes the switch of a group and the switches below it. */
static void probe_cluster_add_switch(struct sheet *sheet, int32_t group,
                                     int depth)
{
    struct nw_text *text = &sheet->text;
    bool first = true;

    nw_text_format(text, "switch: s%d\n", sheet->switch_number[group]);
    if (sheet->host.group[group].parent >= 0)
        add_link_up(sheet, group, depth);
    for (int32_t g = sheet->host.host_count; g < group; g++) {
        if (sheet->host.group[g].parent != group)
            continue;
        if (first) {
            add_indent(text, depth);
            nw_text_add(text, "switches:\n");
        }
        first = false;
        add_indent(text, depth + 1);
        nw_text_add(text, "- ");
        probe_cluster_add_switch(sheet, g, depth + 2);
    }
}

/* Numbers the switches; the root, which is the last group, gets number 0. */
static nw_status number_switches(struct sheet *sheet)
{
    int32_t count = sheet->host.count, hosts = sheet->host.host_count;
    nw_status status = nw_alloc((size_t)count, sizeof *sheet->switch_number,
                                &sheet->switch_number);

    for (int32_t g = hosts; !status && g < count; g++)
        sheet->switch_number[g] = count - 1 - g;
    return status;
}

static void probe_cluster_add_all(struct sheet *sheet)
{
    struct nw_text *text = &sheet->text;

    nw_text_format(
        text,
        "nodewise: cluster 1\nname: probed\n# measured by nodewise probe "
        "between %d rank%s on %d host%s\n",
        sheet->probe->rank_count, nw_plural((uint64_t)sheet->probe->rank_count),
        sheet->host.host_count, nw_plural((uint64_t)sheet->host.host_count));
    if (!sheet->probe->done)
        nw_text_add(text, "# the measurement did not come to its end\n");
    if (sheet->host.untidy > 0.05)
        nw_text_format(text, "# a tree does not explain %.0f %% of the pairs\n",
                       100 * sheet->host.untidy);
    add_types(sheet);
    probe_cluster_add_nodes(sheet);
    if (sheet->host.count == sheet->host.host_count)
        return;
    nw_text_add(text, "network:\n  tree:\n    ");
    probe_cluster_add_switch(sheet, sheet->host.count - 1, 2);
}

nw_status nw_probe_cluster(const nw_probe *probe, char **out)
{
    struct sheet sheet = {.probe = probe};
    nw_status status = nw_probe_groups_find(probe, NW_PROBE_HOST, &sheet.host);

    if (!status)
        status = nw_probe_groups_find(probe, NW_PROBE_GPU, &sheet.gpu);
    if (!status)
        status = find_types(&sheet);
    if (!status)
        status = find_entries(&sheet);
    if (!status)
        status = number_switches(&sheet);
    if (!status) {
        find_inner(&sheet);
        probe_cluster_add_all(&sheet);
        status = nw_text_take(&sheet.text, out);
    }
    nw_text_fini(&sheet.text);
    nw_probe_groups_fini(&sheet.host);
    nw_probe_groups_fini(&sheet.gpu);
    free(sheet.type);
    free(sheet.entry);
    free(sheet.switch_number);
    return status;
}
