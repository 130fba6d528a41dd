/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the NVLink domains of the items of `nodes`. */
#include "base/array.h"
#include "base/status.h"
#include "topology/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

/* Allocates the array of domains; no node is in a domain yet. */
static nw_status begin_domains(nw_topology *topology)
{
    nw_status status;

    if (topology->domain)
        return NW_OK;
    status = nw_alloc((size_t)topology->node_count, sizeof *topology->domain,
                      &topology->domain);
    for (int32_t i = 0; !status && i < topology->node_count; i++)
        topology->domain[i] = -1;
    return status;
}

nw_status nw_cluster_join_domains(struct nw_cluster *cluster,
                                  const struct nw_yaml *item, int32_t first,
                                  int32_t end)
{
    const struct nw_yaml *where = nw_yaml_get(item, "domain");
    size_t before = cluster->domains.count, n = (size_t)(end - first), added;
    const char *text;
    nw_status status;

    if (!where)
        return NW_OK;
    status = nw_yaml_text(where, &text);
    if (!status)
        status = nw_cluster_resized_names(cluster, where, &cluster->domains);
    if (!status)
        status = begin_domains(cluster->topology);
    added = cluster->domains.count - before;
    if (!status && n % added)
        status = nw_yaml_fail(where,
                              "%zu nodes cannot be shared out evenly over %zu "
                              "domains",
                              n, added);
    for (size_t i = 0; !status && i < n; i++)
        cluster->topology->domain[(size_t)first + i] =
            (int32_t)(before + i / (n / added));
    return status;
}

static int domain_by_name(const void *left, const void *right, void *names)
{
    const int32_t *a = left, *b = right;
    char **name = names;
    int order = strcmp(name[*a], name[*b]);

    return order ? order : (*a > *b) - (*a < *b);
}

/* Sets first[i] to the lowest index of a name that is equal to name i. */
static nw_status find_first(const struct nw_hostlist *names, int32_t *first)
{
    int32_t *order;
    nw_status status = nw_alloc(names->count, sizeof *order, &order);

    if (status)
        return status;
    for (size_t i = 0; i < names->count; i++)
        order[i] = (int32_t)i;
    qsort_r(order, names->count, sizeof *order, domain_by_name, names->name);
    for (size_t i = 0; i < names->count; i++) {
        bool again =
            i && !strcmp(names->name[order[i]], names->name[order[i - 1]]);

        first[order[i]] = again ? first[order[i - 1]] : order[i];
    }
    free(order);
    return NW_OK;
}

nw_status nw_cluster_number_domains(struct nw_cluster *cluster)
{
    nw_topology *topology = cluster->topology;
    struct nw_hostlist *names = &cluster->domains;
    int32_t *number = NULL;
    nw_status status;

    if (!topology->domain)
        return NW_OK;
    status = nw_alloc(names->count, sizeof *number, &number);
    if (!status)
        status = nw_alloc(names->count, sizeof *topology->domain_name,
                          &topology->domain_name);
    if (!status)
        status = find_first(names, number);
    for (size_t i = 0; !status && i < names->count; i++) {
        if (number[i] != (int32_t)i) {
            number[i] = number[number[i]];
            continue;
        }
        number[i] = topology->domain_count++;
        topology->domain_name[number[i]] = names->name[i];
        names->name[i] = NULL; /* the topology owns the name from here on */
    }
    for (int32_t n = 0; !status && n < topology->node_count; n++)
        if (topology->domain[n] >= 0)
            topology->domain[n] = number[topology->domain[n]];
    free(number);
    return status;
}
