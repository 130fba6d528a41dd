/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reads a node type that is written as one tree: `parts` instead of `cpu` and
 * `devices`. The tree can express what the short forms cannot: parts that
 * differ, numbers of the operating system, and GPUs whose numbers differ from
 * their order in the tree.
 */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/cluster/cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PART_KEYS                                                              \
    "package die numa l3 l2 core pcie-switch board gpu nic link parts pus "    \
    "number"

/* A GPU or NIC that was read. After all other parts, GPUs and NICs are added to
 * the node type in the order of their numbers. */
struct device {
    const struct nw_yaml *part;
    enum nw_vertex_kind kind;
    int32_t number, parent, class;
};

/* The state of the reader of `parts`. */
struct parts_parts {
    struct nw_cluster *cluster;
    struct nw_node_type *type;
    struct device *device;
    size_t count, capacity;
    /* next number of a GPU [0] or NIC [1] that has no 'number' */
    int32_t next[2];
    int32_t *pus; /* [core] its number of hardware threads */
    size_t cores, pus_capacity;
};

static const struct {
    enum nw_vertex_kind vertex;
    enum nw_link_kind link;
} kinds[] = {
    {NW_VERTEX_PACKAGE, NW_LINK_SOCKET}, {NW_VERTEX_DIE, NW_LINK_MEMORY},
    {NW_VERTEX_NUMA, NW_LINK_MEMORY},    {NW_VERTEX_L3, NW_LINK_CACHE},
    {NW_VERTEX_L2, NW_LINK_CACHE},       {NW_VERTEX_CORE, NW_LINK_CORE},
    {NW_VERTEX_BRIDGE, NW_LINK_PCIE},    {NW_VERTEX_BOARD, NW_LINK_PCIE},
    {NW_VERTEX_GPU, NW_LINK_PCIE},       {NW_VERTEX_NIC, NW_LINK_PCIE},
};
#define KIND_COUNT (sizeof kinds / sizeof *kinds)

static bool parts_is_device(enum nw_vertex_kind kind)
{
    return kind == NW_VERTEX_GPU || kind == NW_VERTEX_NIC;
}

static bool holds_nothing(enum nw_vertex_kind kind)
{
    return parts_is_device(kind) || kind == NW_VERTEX_CORE;
}

static bool parts_is_bridge(enum nw_vertex_kind kind)
{
    return kind == NW_VERTEX_BRIDGE || kind == NW_VERTEX_BOARD;
}

/* Finds the key of a part that names its kind. Sets *out to an index into
 * kinds[] and *count to the number of equal parts that the key gives. Fails if
 * the part has no such key or several. */
static nw_status find_kind(const struct nw_yaml *part, size_t *out,
                           int32_t *count)
{
    const struct nw_yaml *found = NULL;
    nw_status status = nw_yaml_check_map(part, "a part", PART_KEYS);

    for (size_t k = 0; !status && k < KIND_COUNT; k++) {
        const struct nw_yaml *is =
            nw_yaml_get(part, nw_vertex_kind_name(kinds[k].vertex));

        if (!is)
            continue;
        if (found)
            return nw_yaml_fail(is,
                                "a part has one kind, not both '%s' and '%s'",
                                found->key, is->key);
        found = is;
        *out = k;
    }
    if (!status && !found)
        status = nw_yaml_fail(part, "a part must be one of: package die numa "
                                    "l3 l2 core pcie-switch board gpu nic");
    return status ? status
                  : nw_yaml_count(found, 1, NW_CLUSTER_MAX_PARTS, count);
}

static nw_status check_keys(const struct nw_yaml *part,
                            enum nw_vertex_kind kind)
{
    const char *name = nw_vertex_kind_name(kind);

    if (holds_nothing(kind) && nw_yaml_get(part, "parts"))
        return nw_yaml_fail(part, "nothing hangs below a '%s'", name);
    if (kind != NW_VERTEX_CORE && nw_yaml_get(part, "pus"))
        return nw_yaml_fail(part, "only a 'core' has 'pus'");
    if (!parts_is_device(kind) && nw_yaml_get(part, "number"))
        return nw_yaml_fail(part, "only a 'gpu' or 'nic' has a 'number'");
    return NW_OK;
}

/* Records `count` devices that are like `device`. They are numbered from
 * 'number' on. If this key is missing, they are numbered from one above the
 * highest number so far of this kind (GPU or NIC). */
static nw_status note_devices(struct parts_parts *parts,
                              const struct nw_yaml *part,
                              const struct device *device, int32_t count)
{
    const struct nw_yaml *number = nw_yaml_get(part, "number");
    int32_t *next = &parts->next[device->kind == NW_VERTEX_NIC];
    int32_t first = *next;
    nw_status status = NW_OK;

    if (number)
        status = nw_yaml_count(number, 0, NW_CLUSTER_MAX_CARDS, &first);
    if (!status && first + count > NW_CLUSTER_MAX_CARDS)
        status = nw_yaml_fail(part, "more than %d of a kind in a node",
                              NW_CLUSTER_MAX_CARDS);
    for (int32_t i = 0; !status && i < count; i++) {
        status = nw_grow(&parts->device, &parts->capacity, parts->count + 1,
                         sizeof *parts->device);
        if (status)
            break;
        parts->device[parts->count] = *device;
        parts->device[parts->count++].number = first + i;
    }
    *next = first + count > *next ? first + count : *next;
    return status;
}

static nw_status add_core_threads(struct parts_parts *parts,
                                  const struct nw_yaml *part, int32_t core)
{
    int32_t pus = 0, class, vertex;
    nw_status status = nw_yaml_count_at(part, "pus", 1024, &pus);

    if (!status)
        status = nw_grow(&parts->pus, &parts->pus_capacity, parts->cores + 1,
                         sizeof *parts->pus);
    if (!status)
        status = nw_cluster_figures(parts->cluster, NULL, NW_LINK_CORE, &class);
    if (status)
        return status;
    parts->pus[parts->cores++] = pus;
    for (int32_t i = 0;
         !status && i < pus && parts->cluster->elements == NW_ELEMENTS_PU;
         i++) {
        status = nw_cluster_room(part, parts->type);
        if (!status)
            status = nw_node_type_add(parts->type, core, NW_VERTEX_PU, class,
                                      &vertex);
    }
    return status;
}

static nw_status parts_add_parts(struct parts_parts *parts,
                                 const struct nw_yaml *list, int32_t parent);

static nw_status parts_add_part(struct parts_parts *parts,
                                const struct nw_yaml *part, int32_t parent)
{
    const struct nw_yaml *below = nw_yaml_get(part, "parts");
    struct device device = {.part = part, .parent = parent};
    int32_t count = 0, vertex;
    size_t k = 0;
    nw_status status = find_kind(part, &k, &count);

    if (!status)
        status = check_keys(part, kinds[k].vertex);
    if (!status &&
        parts_is_bridge((enum nw_vertex_kind)parts->type->kind[parent]) &&
        !parts_is_bridge(kinds[k].vertex) && !parts_is_device(kinds[k].vertex))
        status = nw_yaml_fail(part, "no processor hangs below a bridge");
    if (!status)
        status = nw_cluster_figures(parts->cluster, nw_yaml_get(part, "link"),
                                    kinds[k].link, &device.class);
    device.kind = kinds[k].vertex;
    if (!status && parts_is_device(device.kind))
        return note_devices(parts, part, &device, count);
    for (int32_t i = 0; !status && i < count; i++) {
        status = nw_cluster_room(part, parts->type);
        if (!status)
            status = nw_node_type_add(parts->type, parent, device.kind,
                                      device.class, &vertex);
        if (!status && device.kind == NW_VERTEX_CORE)
            status = add_core_threads(parts, part, vertex);
        if (!status && below)
            status = parts_add_parts(parts, below, vertex);
    }
    return status;
}

static nw_status parts_add_parts(struct parts_parts *parts,
                                 const struct nw_yaml *list, int32_t parent)
{
    nw_status status = nw_yaml_check_list(list, "'parts'");

    for (const struct nw_yaml *part = list->first; !status && part;
         part = part->next)
        status = parts_add_part(parts, part, parent);
    return status;
}

static int parts_by_number(const void *a, const void *b)
{
    const struct device *x = a, *y = b;

    if (x->kind != y->kind)
        return (int)x->kind - (int)y->kind;
    return (x->number > y->number) - (x->number < y->number);
}

static nw_status parts_add_devices(struct parts_parts *parts)
{
    int32_t expect[2] = {0, 0}, vertex;
    nw_status status = NW_OK;

    if (parts->count)
        qsort(parts->device, parts->count, sizeof *parts->device,
              parts_by_number);
    for (size_t i = 0; !status && i < parts->count; i++) {
        const struct device *device = &parts->device[i];
        int32_t *number = &expect[device->kind == NW_VERTEX_NIC];

        if (device->number != (*number)++)
            return nw_yaml_fail(device->part,
                                "numbers of a '%s' run from 0, each once",
                                nw_vertex_kind_name(device->kind));
        status = nw_node_type_add(parts->type, device->parent, device->kind,
                                  device->class, &vertex);
    }
    return status;
}

/* Reads lists such as "0-19", "0,4,8" or "0-152:8" into `out`, in the order
 * written. Fails if the list has more or fewer numbers than `out` has entries.
 */
static nw_status take_numbers(const struct nw_yaml *node, int32_t *out,
                              size_t room)
{
    const char *text, *at;
    size_t count = 0;
    nw_status status = nw_yaml_text(node, &text);

    at = status ? "" : text;
    while (!status && *at) {
        int first, last, step = 1, length = 0;

        if (sscanf(at, "%6d%n", &first, &length) != 1 || first < 0)
            return nw_yaml_fail(node, "'%s' is not a list such as 0-3,8", text);
        at += length;
        last = first;
        if (sscanf(at, "-%6d%n", &last, &length) == 1)
            at += length;
        if (sscanf(at, ":%6d%n", &step, &length) == 1)
            at += length;
        if (last < first || step < 1 || (*at && *at++ != ','))
            return nw_yaml_fail(node, "'%s' is not a list such as 0-3,8", text);
        for (; first <= last; first += step) {
            if (count == room)
                return nw_yaml_fail(node, "more numbers than cores that have "
                                          "such a thread");
            out[count++] = first;
        }
    }
    if (!status && count != room)
        status = nw_yaml_fail(node, "%zu number%s for %zu core%s", count,
                              nw_plural((uint64_t)count), room,
                              nw_plural((uint64_t)room));
    return status;
}

/* Returns the number of cores that have more than `thread` threads. */
static size_t cores_with(const struct parts_parts *parts, int32_t thread)
{
    size_t count = 0;

    for (size_t c = 0; c < parts->cores; c++)
        count += parts->pus[c] > thread;
    return count;
}

static nw_status take_thread(struct parts_parts *parts,
                             const struct nw_yaml *item, int32_t thread)
{
    size_t room = cores_with(parts, thread), at = 0;
    int32_t *numbers;
    nw_status status = nw_alloc(room, sizeof *numbers, &numbers);

    if (!status)
        status = take_numbers(item, numbers, room);
    for (size_t c = 0; !status && c < parts->cores; c++)
        if (parts->pus[c] > thread)
            parts->type->pu_os[parts->type->core_pu[c] + thread] =
                numbers[at++];
    free(numbers);
    return status;
}

/* Reads 'threads': item k, from 0, lists the operating system's numbers of
 * hardware thread k of each core that has more than k threads. */
static nw_status parts_read_threads(struct parts_parts *parts,
                                    const struct nw_yaml *list)
{
    struct nw_node_type *type = parts->type;
    int32_t thread = 0;
    nw_status status = nw_yaml_check_list(list, "'threads'");

    if (!status)
        status =
            nw_alloc(parts->cores + 1, sizeof *type->core_pu, &type->core_pu);
    for (size_t c = 0; !status && c < parts->cores; c++)
        type->core_pu[c + 1] = type->core_pu[c] + parts->pus[c];
    if (!status)
        status = nw_alloc((size_t)type->core_pu[parts->cores],
                          sizeof *type->pu_os, &type->pu_os);
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next)
        status = take_thread(parts, item, thread++);
    if (!status && cores_with(parts, thread))
        status = nw_yaml_fail(list, "cores have more threads than numbers");
    return status;
}

nw_status nw_cluster_parts(struct nw_cluster *cluster,
                           const struct nw_yaml *node, const char *name,
                           struct nw_node_type **out)
{
    const struct nw_yaml *threads = nw_yaml_get(node, "threads");
    struct parts_parts parts = {.cluster = cluster};
    nw_status status = nw_node_type_new(cluster->topology, name, &parts.type);

    if (!status)
        status = parts_add_parts(&parts, nw_yaml_get(node, "parts"), 0);
    if (!status)
        status = parts_add_devices(&parts);
    if (!status && threads)
        status = parts_read_threads(&parts, threads);
    if (!status)
        *out = parts.type;
    free(parts.device);
    free(parts.pus);
    return status;
}

static nw_status parts_copy_word(const struct nw_yaml *item, const char *key,
                                 char **out)
{
    const struct nw_yaml *value = nw_yaml_get(item, key);
    const char *text;
    nw_status status;

    if (!value)
        return NW_OK;
    status = nw_yaml_text(value, &text);
    if (status)
        return status;
    free(*out);
    *out = NULL;
    return nw_strdup(text, out);
}

nw_status nw_cluster_device_info(const struct nw_yaml *list,
                                 const struct nw_node_type *type,
                                 enum nw_vertex_kind kind,
                                 struct nw_cluster_info *info)
{
    int32_t count = 0, i = 0;
    nw_status status = nw_yaml_check_list(list, "a list of devices");

    for (int32_t v = 0; v < type->vertex_count; v++)
        count += type->kind[v] == kind;
    if (!status && list->count != (size_t)count)
        status = nw_yaml_fail(
            list, "'%s' has %zu item%s, but a node has %d of these", list->key,
            list->count, nw_plural((uint64_t)list->count), count);
    if (!status && *info->count < count) {
        size_t capacity = (size_t)*info->count;

        status = nw_grow(info->device, &capacity, (size_t)count,
                         sizeof **info->device);
        if (!status)
            memset(*info->device + *info->count, 0,
                   (size_t)(count - *info->count) * sizeof **info->device);
        if (!status)
            *info->count = count;
    }
    for (const struct nw_yaml *item = list->first; !status && item;
         item = item->next, i++) {
        struct nw_device *device = &(*info->device)[i];

        status = nw_yaml_check_map(item, "a device", "name uuid pci");
        if (!status)
            status = parts_copy_word(item, "name", &device->name);
        if (!status)
            status = parts_copy_word(item, "uuid", &device->uuid);
        if (!status)
            status = parts_copy_word(item, "pci", &device->pci);
    }
    return status;
}
