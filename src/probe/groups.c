/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the tree of groups. The rates between hosts form classes with gaps
 * between them. Beginning with the fastest class, hosts between which a rate
 * belongs to the class or to a faster one are joined to a group (single
 * linkage). If the rates give only one group and there are more than three
 * hosts, latencies are used instead, where they divide the hosts without
 * contradictions. */
#include "probe/groups.h"

#include "base/array.h"
#include "base/status.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Smallest ratio of two successive rates that separates two classes. */
#define RATE_GAP 1.35
/* Smallest ratio of two successive latencies that separates two classes. */
#define LATENCY_GAP 1.5

/* The partition of the hosts into groups before and after the pairs of hosts of
 * one more class of rates are joined. A group has the number of its node in the
 * tree. */
struct sets {
    int32_t *of;      /* [hosts] group of each host before */
    int32_t *next_of; /* [hosts] group of each host after */
};

/* Returns the geometric mean of both directions between two hosts, or the one
 * that was measured; 0 if none was. */
static double both_ways(const double *matrix, int32_t n, int32_t a, int32_t b)
{
    double x = matrix[(size_t)a * n + b], y = matrix[(size_t)b * n + a];

    return x > 0 && y > 0 ? sqrt(x * y) : x > 0 ? x : y;
}

static int groups_descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x < y) - (x > y);
}

/* Finds the classes of the values in the matrix, which are rates or 1 /
 * latency. Stores in limit[] the values below which a new class begins, from
 * the fastest class on; the last one is 0. Returns their number. limit[] needs
 * space for as many values as there are pairs of hosts, and for one at least.
 */
static size_t find_limits(const double *matrix, int32_t n, double gap,
                          double *limit)
{
    size_t count = 0, classes = 0;

    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++) {
            double value = both_ways(matrix, n, a, b);

            if (value > 0)
                limit[count++] = value;
        }
    qsort(limit, count, sizeof *limit, groups_descending);
    for (size_t i = 0; i + 1 < count; i++)
        if (limit[i] > gap * limit[i + 1])
            limit[classes++] = sqrt(limit[i] * limit[i + 1]);
    limit[classes++] = 0;
    return classes;
}

static void rename_all(int32_t *of, int32_t n, int32_t from, int32_t to)
{
    for (int32_t h = 0; h < n; h++)
        if (of[h] == from)
            of[h] = to;
}

/* Sets next_of: for each pair of hosts whose value in the matrix is above the
 * limit, joins the two groups of `of` that the hosts are in. A joined group
 * keeps the number of one of the groups that it was joined from. */
static void probe_groups_join(const double *matrix, int32_t n, double limit,
                              struct sets *sets)
{
    memcpy(sets->next_of, sets->of, (size_t)n * sizeof *sets->of);
    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++)
            if (both_ways(matrix, n, a, b) > limit &&
                sets->next_of[a] != sets->next_of[b])
                rename_all(sets->next_of, n, sets->next_of[b],
                           sets->next_of[a]);
}

/* Makes a new node of the tree for each group of next_of that joins several
 * groups of `of`, which become its children. Then `of` is the new partition. */
static void make_groups(struct nw_probe_groups *groups, struct sets *sets)
{
    int32_t n = groups->host_count;

    for (int32_t h = 0; h < n; h++) {
        int32_t name = sets->next_of[h], made = groups->count;
        bool several = false;

        for (int32_t i = 0; i < n; i++)
            several |= sets->next_of[i] == name && sets->of[i] != sets->of[h];
        if (name < 0 || !several)
            continue;
        groups->group[made] = (struct nw_probe_group){.parent = -1};
        for (int32_t i = 0; i < n; i++)
            if (sets->next_of[i] == name) {
                groups->group[sets->of[i]].parent = made;
                groups->group[made].hosts++;
                sets->next_of[i] = ~made; /* ~made marks a host whose group is
                                             made */
            }
        groups->count++;
    }
    for (int32_t h = 0; h < n; h++)
        sets->of[h] = sets->next_of[h] < 0 ? ~sets->next_of[h] : sets->of[h];
}

/* Returns how badly a partition fits the limit: of all measured pairs of hosts
 * in the same group, the share whose value is not above the limit. Returns 1 if
 * no group has a measured pair. */
static double groups_exceptions(const double *matrix, int32_t n, double limit,
                                const int32_t *of)
{
    size_t together = 0, wrong = 0;

    for (int32_t a = 0; a < n; a++)
        for (int32_t b = a + 1; b < n; b++) {
            double value = both_ways(matrix, n, a, b);

            if (of[a] != of[b] || value <= 0)
                continue;
            together++;
            wrong += value <= limit;
        }
    return together ? (double)wrong / (double)together : 1;
}

/* Returns true if a partition by latencies, which are noisy, must not be
 * trusted: if a group has only one host, or if a pair contradicts the partition
 * (`wrong` > 0, see groups_exceptions()). */
static bool is_doubtful(double wrong, int32_t n, const int32_t *of)
{
    for (int32_t a = 0; a < n; a++) {
        int32_t mates = 0;

        for (int32_t b = 0; b < n; b++)
            mates += of[a] == of[b];
        if (mates < 2)
            return true;
    }
    return wrong > 0;
}

/* Builds the tree from the classes of the matrix, one class after the other. If
 * the matrix is of latencies (`gap` is LATENCY_GAP), leaves out classes that
 * give a doubtful partition. Raises groups->untidy to the largest share of
 * pairs that contradict a partition. */
static nw_status groups_cluster(struct nw_probe_groups *groups,
                                const double *matrix, double gap,
                                struct sets *sets)
{
    int32_t n = groups->host_count;
    bool by_latency = gap == LATENCY_GAP;
    double *limit = NULL;
    size_t classes;
    nw_status status =
        nw_alloc((size_t)n * (size_t)n + 1, sizeof *limit, &limit);

    if (status)
        return status;
    classes = find_limits(matrix, n, gap, limit);
    for (size_t c = 0; c < classes; c++) {
        double wrong;

        probe_groups_join(matrix, n, limit[c], sets);
        wrong = groups_exceptions(matrix, n, limit[c], sets->next_of);
        if (by_latency && limit[c] > 0 && is_doubtful(wrong, n, sets->next_of))
            continue;
        if (limit[c] > 0 && wrong > groups->untidy)
            groups->untidy = wrong;
        make_groups(groups, sets);
    }
    free(limit);
    return NW_OK;
}

/* Makes the root of the tree. All groups that are not yet joined, since nothing
 * was measured between them, become its children. Does nothing if all hosts are
 * in one group already. */
static void make_root(struct nw_probe_groups *groups, struct sets *sets)
{
    for (int32_t h = 0; h < groups->host_count; h++)
        sets->next_of[h] = 0;
    make_groups(groups, sets);
}

/* Builds the tree again, from the latencies. Called if the rates gave only one
 * group, and there are more than three hosts. */
static nw_status try_latency(struct nw_probe_groups *groups, struct sets *sets)
{
    size_t n = (size_t)groups->host_count;
    double *speed;
    nw_status status = nw_alloc(n * n, sizeof *speed, &speed);

    if (status)
        return status;
    for (size_t i = 0; i < n * n; i++)
        speed[i] = groups->latency[i] > 0 ? 1 / groups->latency[i] : 0;
    for (size_t h = 0; h < n; h++)
        sets->of[h] = (int32_t)h;
    groups->count = groups->host_count;
    status = groups_cluster(groups, speed, LATENCY_GAP, sets);
    free(speed);
    return status;
}

nw_status nw_probe_tree(struct nw_probe_groups *groups);
nw_status nw_probe_tree(struct nw_probe_groups *groups)
{
    size_t n = (size_t)groups->host_count;
    struct sets sets = {0};
    nw_status status = nw_alloc(n, sizeof *sets.of, &sets.of);

    if (!status)
        status = nw_alloc(n, sizeof *sets.next_of, &sets.next_of);
    if (!status)
        status = nw_alloc(2 * n, sizeof *groups->group, &groups->group);
    if (status)
        goto out;
    groups->count = groups->host_count;
    for (size_t h = 0; h < n; h++) {
        sets.of[h] = (int32_t)h;
        groups->group[h] = (struct nw_probe_group){.parent = -1, .hosts = 1};
    }
    status = groups_cluster(groups, groups->rate, RATE_GAP, &sets);
    if (!status && groups->count == groups->host_count + 1 && n > 3)
        status = try_latency(groups, &sets);
    if (!status)
        make_root(groups, &sets);
out:
    free(sets.of);
    free(sets.next_of);
    return status;
}

bool nw_probe_groups_below(const struct nw_probe_groups *groups, int32_t node,
                           int32_t above)
{
    while (node >= 0 && node != above)
        node = groups->group[node].parent;
    return node == above;
}

int32_t nw_probe_groups_meet(const struct nw_probe_groups *groups, int32_t a,
                             int32_t b)
{
    while (!nw_probe_groups_below(groups, b, a))
        a = groups->group[a].parent;
    return a;
}

void nw_probe_groups_fini(struct nw_probe_groups *groups)
{
    free(groups->group);
    free(groups->rate);
    free(groups->latency);
    *groups = (struct nw_probe_groups){0};
}
