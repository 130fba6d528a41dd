/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds a node type: its tree, its direct links, and the tables computed from
 * them: depths, nearest NICs, direct routes. */
#include "base/array.h"
#include "base/status.h"
#include "topology/topology.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH 250

nw_status nw_node_type_new(nw_topology *topology, const char *name,
                           struct nw_node_type **out)
{
    struct nw_node_type *type;
    int32_t root;
    nw_status status =
        nw_grow(&topology->type, &topology->type_capacity,
                (size_t)topology->type_count + 1, sizeof *topology->type);

    if (!status)
        status = nw_alloc(1, sizeof *type, &type);
    if (status)
        return status;
    topology->type[topology->type_count++] = type;
    status = nw_strdup(name, &type->name);
    if (!status)
        status = nw_node_type_add(type, -1, NW_VERTEX_NODE, -1, &root);
    if (!status)
        *out = type;
    return status;
}

static nw_status grow_vertices(struct nw_node_type *type, size_t need)
{
    size_t capacity[4] = {type->capacity, type->capacity, type->capacity,
                          type->capacity};
    nw_status status =
        nw_grow(&type->parent, &capacity[0], need, sizeof *type->parent);

    if (!status)
        status = nw_grow(&type->kind, &capacity[1], need, sizeof *type->kind);
    if (!status)
        status = nw_grow(&type->class, &capacity[2], need, sizeof *type->class);
    if (!status)
        status = nw_grow(&type->index, &capacity[3], need, sizeof *type->index);
    if (!status)
        type->capacity = capacity[0];
    return status;
}

nw_status nw_node_type_add(struct nw_node_type *type, int32_t parent,
                           enum nw_vertex_kind kind, int32_t class,
                           int32_t *vertex)
{
    int32_t v = type->vertex_count;

    if (v == INT32_MAX / 4)
        return nw_fail(NW_EFORMAT, "node type %s has more than %d parts",
                       type->name, INT32_MAX / 4);
    if ((size_t)v >= type->capacity) {
        nw_status status = grow_vertices(type, (size_t)v + 1);

        if (status)
            return status;
    }
    type->parent[v] = parent;
    type->kind[v] = (uint8_t)kind;
    type->class[v] = class;
    type->vertex_count++;
    *vertex = v;
    return NW_OK;
}

nw_status nw_node_type_add_direct(struct nw_node_type *type, int32_t a,
                                  int32_t b, int32_t class)
{
    nw_status status =
        nw_grow(&type->direct, &type->direct_capacity,
                (size_t)type->direct_count + 1, sizeof *type->direct);

    if (status)
        return status;
    type->direct[type->direct_count++] = (struct nw_direct_link){a, b, class};
    return NW_OK;
}

static nw_status compute_depths(struct nw_node_type *type)
{
    nw_status status =
        nw_alloc((size_t)type->vertex_count, sizeof *type->depth, &type->depth);

    if (status)
        return status;
    for (int32_t v = 1; v < type->vertex_count; v++) {
        int depth = type->depth[type->parent[v]] + 1;

        if (depth > MAX_DEPTH)
            return nw_fail(NW_EFORMAT, "node type %s is deeper than %d levels",
                           type->name, MAX_DEPTH);
        type->depth[v] = (uint8_t)depth;
    }
    return NW_OK;
}

/* Extends the array of devices from `known` to `count` entries; the new devices
 * have no name. A missing array stays missing. */
static nw_status extend_devices(struct nw_device **devices, int32_t known,
                                int32_t count)
{
    size_t capacity = (size_t)known;
    nw_status status;

    if (!*devices || known >= count)
        return NW_OK;
    status = nw_grow(devices, &capacity, (size_t)count, sizeof **devices);
    if (!status)
        memset(*devices + known, 0, (size_t)(count - known) * sizeof **devices);
    return status;
}

/* Numbers the vertices of each kind, and fills the lists core, pu, gpu, nic and
 * package. Extends the arrays of devices to the numbers of GPUs and NICs. */
static nw_status list_kinds(struct nw_node_type *type)
{
    int32_t count[NW_VERTEX_KIND_COUNT] = {0};
    struct {
        enum nw_vertex_kind kind;
        int32_t *count, **list;
    } lists[] = {
        {NW_VERTEX_CORE, &type->core_count, &type->core},
        {NW_VERTEX_PU, &type->pu_count, &type->pu},
        {NW_VERTEX_GPU, &type->gpu_count, &type->gpu},
        {NW_VERTEX_NIC, &type->nic_count, &type->nic},
        {NW_VERTEX_PACKAGE, &type->package_count, &type->package},
    };
    nw_status status;

    for (int32_t v = 0; v < type->vertex_count; v++)
        type->index[v] = count[type->kind[v]]++;
    status = extend_devices(&type->gpu_device, type->gpu_count,
                            count[NW_VERTEX_GPU]);
    if (!status)
        status = extend_devices(&type->nic_device, type->nic_count,
                                count[NW_VERTEX_NIC]);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        if (!status)
            status = nw_alloc((size_t)count[lists[i].kind],
                              sizeof **lists[i].list, lists[i].list);
        if (status)
            return status;
        *lists[i].count = count[lists[i].kind];
        for (int32_t v = 0; v < type->vertex_count; v++)
            if (type->kind[v] == lists[i].kind)
                (*lists[i].list)[type->index[v]] = v;
    }
    return NW_OK;
}

int32_t nw_node_type_common(const struct nw_node_type *type, int32_t a,
                            int32_t b)
{
    while (type->depth[a] > type->depth[b])
        a = type->parent[a];
    while (type->depth[b] > type->depth[a])
        b = type->parent[b];
    while (a != b) {
        a = type->parent[a];
        b = type->parent[b];
    }
    return a;
}

/* Returns the number of links of the tree between two vertices. */
static int links_apart(const struct nw_node_type *type, int32_t a, int32_t b)
{
    return type->depth[a] + type->depth[b] -
           2 * type->depth[nw_node_type_common(type, a, b)];
}

/* Returns how many vertices of list[count] have the fewest tree links to
 * `vertex`, and stores their indexes in the list in near[]. */
static int32_t find_nearest(const struct nw_node_type *type, int32_t vertex,
                            const int32_t *list, int32_t count, int32_t *near)
{
    int32_t found = 0;
    int best = INT_MAX;

    for (int32_t i = 0; i < count; i++) {
        int length = links_apart(type, vertex, list[i]);

        if (length < best)
            found = 0;
        if (length <= best) {
            best = length;
            near[found++] = i;
        }
    }
    return found;
}

/* Returns over how many of `count` equally near NICs a GPU stripes its
 * messages. `nic` is the vertex of the first of these NICs. Like in NCCL
 * (ncclTopoGetLocalNet), the GPUs nearest to this NIC share them: the result is
 * `count` divided by the number of these GPUs, rounded up. `near` is scratch.
 */
static int32_t count_stripes(const struct nw_node_type *type, int32_t nic,
                             int32_t count, int32_t *near)
{
    int32_t users = find_nearest(type, nic, type->gpu, type->gpu_count, near);

    return (count + users - 1) / users;
}

/* Returns the vertex of the only GPU switch; -1 for none or several. */
static int32_t only_switch(const struct nw_node_type *type)
{
    int32_t found = -1;

    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->kind[v] == NW_VERTEX_GPU_SWITCH) {
            if (found >= 0)
                return -1;
            found = v;
        }
    return found;
}

/* Sets stripe_count to the largest number of NICs that a GPU uses, or to 1.
 * `near` is scratch. */
static void find_stripe_count(struct nw_node_type *type, int32_t *near)
{
    type->stripe_count = 1;
    for (int32_t g = 0; type->nic_count && g < type->gpu_count; g++) {
        int32_t ties =
            find_nearest(type, type->gpu[g], type->nic, type->nic_count, near);
        int32_t mine = count_stripes(type, type->nic[near[0]], ties, near);

        if (mine > type->stripe_count)
            type->stripe_count = mine;
    }
}

/* Sets the NICs of a vertex for all stripes. If several NICs are equally near,
 * the vertices of a kind use them in turn by logical index, a GPU as many at a
 * time as it stripes over. `near` is scratch. */
static void take_cards(struct nw_node_type *type, int32_t vertex, int32_t *near)
{
    int32_t ties, stripes = 1, first = 0;
    int32_t *mine =
        type->nearest_nic + (size_t)vertex * (size_t)type->stripe_count;

    ties = find_nearest(type, vertex, type->nic, type->nic_count, near);
    if (type->kind[vertex] == NW_VERTEX_GPU && type->stripe_count > 1) {
        stripes = count_stripes(type, type->nic[near[0]], ties, near);
        find_nearest(type, vertex, type->nic, type->nic_count, near);
    }
    first = (int32_t)((int64_t)type->index[vertex] * stripes % ties);
    for (int32_t i = 0; i < type->stripe_count; i++)
        mine[i] = near[(first + i % stripes) % ties];
}

static nw_status find_nearest_cards(struct nw_node_type *type)
{
    size_t most = (size_t)(type->nic_count > type->gpu_count ? type->nic_count
                                                             : type->gpu_count);
    int32_t *near = NULL;
    nw_status status = nw_alloc(most, sizeof *near, &near);

    if (!status)
        find_stripe_count(type, near);
    if (!status && type->nic_count)
        status =
            nw_alloc((size_t)type->vertex_count * (size_t)type->stripe_count,
                     sizeof *type->nearest_nic, &type->nearest_nic);
    for (int32_t v = 0; !status && type->nic_count && v < type->vertex_count;
         v++)
        take_cards(type, v, near);
    free(near);
    return status;
}

static int32_t node_type_other_end(const struct nw_direct_link *link,
                                   int32_t vertex)
{
    return link->a == vertex ? link->b : link->a;
}

/* Sets next[] for the routes to `to`: for each vertex that reaches `to` over
 * direct links, the first link of the shortest route. Only GPU switches relay
 * messages. Of equally short routes, breadth-first search keeps the one found
 * first. `queue` is scratch for end_count vertices. */
static void route_to(struct nw_node_type *type, int32_t to, int32_t *queue)
{
    size_t n = (size_t)type->end_count, end = (size_t)type->end_of[to];
    int32_t count = 0;

    queue[count++] = to;
    for (int32_t q = 0; q < count; q++)
        for (int32_t d = 0; d < type->direct_count; d++) {
            const struct nw_direct_link *link = &type->direct[d];
            int32_t from = node_type_other_end(link, queue[q]), *next;

            if (link->a != queue[q] && link->b != queue[q])
                continue;
            next = &type->next[(size_t)type->end_of[from] * n + end];
            if (from == to || *next >= 0)
                continue;
            *next = d;
            if (type->kind[from] == NW_VERTEX_GPU_SWITCH)
                queue[count++] = from;
        }
}

/* Numbers the vertices that have direct links, and allocates next[]. */
static nw_status number_direct_ends(struct nw_node_type *type)
{
    nw_status status = nw_alloc((size_t)type->vertex_count,
                                sizeof *type->end_of, &type->end_of);

    if (status)
        return status;
    for (int32_t v = 0; v < type->vertex_count; v++)
        type->end_of[v] = -1;
    for (int32_t d = 0; d < type->direct_count; d++) {
        int32_t ends[2] = {type->direct[d].a, type->direct[d].b};

        for (int i = 0; i < 2; i++)
            if (type->end_of[ends[i]] < 0)
                type->end_of[ends[i]] = type->end_count++;
    }
    return nw_alloc((size_t)type->end_count * (size_t)type->end_count,
                    sizeof *type->next, &type->next);
}

static nw_status find_direct_routes(struct nw_node_type *type)
{
    int32_t *queue = NULL;
    size_t n;
    nw_status status;

    if (!type->direct_count)
        return NW_OK;
    status = number_direct_ends(type);
    if (!status)
        status = nw_alloc((size_t)type->end_count, sizeof *queue, &queue);
    if (status)
        return status;
    n = (size_t)type->end_count;
    for (size_t i = 0; i < n * n; i++)
        type->next[i] = -1;
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->end_of[v] >= 0)
            route_to(type, v, queue);
    free(queue);
    return NW_OK;
}

nw_status nw_node_type_finish(struct nw_node_type *type,
                              enum nw_elements elements)
{
    nw_status status = nw_node_type_order(type);

    if (!status)
        status = compute_depths(type);
    if (!status)
        status = list_kinds(type);
    if (!status)
        status = find_nearest_cards(type);
    if (!status)
        status = find_direct_routes(type);
    if (status)
        return status;
    type->gpu_switch = only_switch(type);
    type->element_count = type->core_count;
    type->element = type->core;
    if (elements == NW_ELEMENTS_PU && type->pu_count) {
        type->element_count = type->pu_count;
        type->element = type->pu;
    }
    return NW_OK;
}

int32_t nw_node_type_count(const struct nw_node_type *type,
                           enum nw_vertex_kind kind)
{
    int32_t count = 0;

    for (int32_t v = 0; v < type->vertex_count; v++)
        count += type->kind[v] == kind;
    return count;
}

int32_t nw_node_type_nth(const struct nw_node_type *type,
                         enum nw_vertex_kind kind, int32_t index)
{
    for (int32_t v = 0; v < type->vertex_count; v++)
        if (type->kind[v] == kind && index-- == 0)
            return v;
    return -1;
}
