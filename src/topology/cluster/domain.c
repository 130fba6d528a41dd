/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the NVLink domains of the items of `nodes`, and the upper domains that
 * `domains` joins them to. */
#include "base/array.h"
#include "base/name_index.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdlib.h>
#include <string.h>

/* Allocates topology->domain, with no node in a domain, unless this array
 * exists already. */
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
        status = nw_yaml_fail(
            where, "%zu node%s cannot be shared out evenly over %zu domain%s",
            n, nw_plural((uint64_t)n), added, nw_plural((uint64_t)added));
    for (size_t i = 0; !status && i < n; i++)
        cluster->topology->domain[(size_t)first + i] =
            (int32_t)(before + i / (n / added));
    return status;
}

static struct nw_names domain_names(char **name, size_t count)
{
    return (struct nw_names){name, sizeof *name, 0, count};
}

/* Sets first[i] to the lowest index of a name that is equal to name i. */
static nw_status find_first(const struct nw_hostlist *list, int32_t *first)
{
    struct nw_names names = domain_names(list->name, list->count);
    int32_t *order;
    nw_status status = nw_names_sort(names, &order);

    if (status)
        return status;
    for (size_t i = 0; i < list->count; i++)
        first[i] = nw_names_find(names, order, list->name[i]);
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

/* --- the second level --- */

/* The state of reading `domains`. */
struct domain_joining {
    struct nw_cluster *cluster;
    int32_t *by_name;         /* numbers of the NVLink domains, sorted by their
                                 names */
    struct nw_hostlist upper; /* names of upper domains, item by item */
};

/* Returns the number of the NVLink domain of the first level that has this
 * name, or -1. */
static int32_t domain_find(const struct domain_joining *joining,
                           const char *name)
{
    const nw_topology *topology = joining->cluster->topology;

    return nw_names_find(
        domain_names(topology->domain_name, (size_t)topology->domain_count),
        joining->by_name, name);
}

/* Puts the NVLink domain `name` into the upper domain with index `upper` in
 * joining->upper. Fails if the domain is unknown or has an upper domain
 * already. `class` is the link class of its uplink. */
static nw_status domain_join(struct domain_joining *joining,
                             const struct nw_yaml *members, const char *name,
                             int32_t upper, int32_t class)
{
    nw_topology *topology = joining->cluster->topology;
    int32_t domain = domain_find(joining, name);

    if (domain < 0)
        return nw_yaml_fail(members,
                            "unknown NVLink domain '%s': 'members' must be "
                            "domains that 'nodes' names",
                            name);
    if (topology->upper[domain] >= 0)
        return nw_yaml_fail(members,
                            "NVLink domain '%s' already belongs to '%s'", name,
                            joining->upper.name[topology->upper[domain]]);
    topology->upper[domain] = upper;
    topology->uplink_class[domain] = class;
    return NW_OK;
}

/* Returns an error if a name in joining->upper, from index `first` on, is also
 * the name of an NVLink domain of the first level. */
static nw_status domain_check_upper(const struct domain_joining *joining,
                                    const struct nw_yaml *name, size_t first)
{
    for (size_t u = first; u < joining->upper.count; u++)
        if (domain_find(joining, joining->upper.name[u]) >= 0)
            return nw_yaml_fail(name,
                                "'%s' is an NVLink domain of nodes, so it "
                                "cannot join domains",
                                joining->upper.name[u]);
    return NW_OK;
}

/* Reads one item of `domains`. Its members are distributed evenly over the
 * upper domains that it names: the first members belong to the first one. */
static nw_status domain_read_item(struct domain_joining *joining,
                                  const struct nw_yaml *item)
{
    const struct nw_yaml *name, *members, *link;
    struct nw_hostlist list = {0};
    size_t first = joining->upper.count, uppers = 0;
    int32_t class = -1;
    nw_status status =
        nw_yaml_check_map(item, "an item of 'domains'", "name members link");

    if (!status)
        status = nw_yaml_need(item, "name", &name);
    if (!status)
        status = nw_yaml_need(item, "members", &members);
    if (!status)
        status = nw_yaml_need(item, "link", &link);
    if (!status)
        status =
            nw_cluster_figures(joining->cluster, link, NW_LINK_NVLINK, &class);
    if (!status)
        status = nw_cluster_names(name, &joining->upper);
    if (!status)
        status = domain_check_upper(joining, name, first);
    if (!status)
        status = nw_cluster_resized_names(joining->cluster, members, &list);
    uppers = joining->upper.count - first;
    if (!status && list.count % uppers)
        status = nw_yaml_fail(members,
                              "%zu domain%s cannot be shared out evenly over "
                              "%zu domain%s of the second level",
                              list.count, nw_plural((uint64_t)list.count),
                              uppers, nw_plural((uint64_t)uppers));
    for (size_t i = 0; !status && i < list.count; i++)
        status =
            domain_join(joining, members, list.name[i],
                        (int32_t)(first + i / (list.count / uppers)), class);
    nw_hostlist_fini(&list);
    return status;
}

/* Numbers the upper domains in the order of their first domain. Equal names are
 * one upper domain. */
static nw_status domain_number_upper(struct domain_joining *joining)
{
    nw_topology *topology = joining->cluster->topology;
    struct nw_hostlist *names = &joining->upper;
    int32_t *first = NULL, *number = NULL;
    nw_status status = NW_ALLOC_ALL(
        NW_ARRAY(names->count, first), NW_ARRAY(names->count, number),
        NW_ARRAY(names->count, topology->upper_name));

    if (!status)
        status = find_first(names, first);
    for (size_t u = 0; !status && u < names->count; u++)
        number[u] = -1;
    for (int32_t d = 0; !status && d < topology->domain_count; d++) {
        int32_t upper = topology->upper[d];

        if (upper < 0)
            continue;
        upper = first[upper];
        if (number[upper] < 0) {
            number[upper] = topology->upper_count++;
            topology->upper_name[number[upper]] = names->name[upper];
            names->name[upper] = NULL; /* the topology owns the name */
        }
        topology->upper[d] = number[upper];
    }
    free(first);
    free(number);
    return status;
}

static nw_status domain_begin_upper(struct domain_joining *joining)
{
    nw_topology *topology = joining->cluster->topology;
    size_t n = (size_t)topology->domain_count;
    nw_status status = NW_ALLOC_ALL(NW_ARRAY(n, topology->upper),
                                    NW_ARRAY(n, topology->uplink_class));

    for (size_t d = 0; !status && d < n; d++)
        topology->upper[d] = topology->uplink_class[d] = -1;
    return status ? status
                  : nw_names_sort(domain_names(topology->domain_name, n),
                                  &joining->by_name);
}

nw_status nw_cluster_join_upper(struct nw_cluster *cluster,
                                const struct nw_yaml *domains)
{
    struct domain_joining joining = {.cluster = cluster};
    nw_status status = nw_yaml_check_list(domains, "'domains'");

    if (!status)
        status = domain_begin_upper(&joining);
    for (const struct nw_yaml *item = domains->first; !status && item;
         item = item->next)
        status = domain_read_item(&joining, item);
    if (!status)
        status = domain_number_upper(&joining);
    free(joining.by_name);
    nw_hostlist_fini(&joining.upper);
    return status;
}
