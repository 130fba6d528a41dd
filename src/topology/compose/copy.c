/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies a node type from one topology into another. */
#include "base/array.h"
#include "base/status.h"
#include "topology/compose/compose.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_compose_class(struct nw_compose *compose, const nw_topology *from,
                           int32_t class, int32_t *out)
{
    *out = -1;
    if (class < 0)
        return NW_OK;
    return nw_topology_class(compose->whole, &from->class[class], out);
}

static nw_status topology_copy_word(const char *word, char **out)
{
    return word ? nw_strdup(word, out) : NW_OK;
}

static nw_status copy_device(const struct nw_device *from, struct nw_device *to)
{
    nw_status status = topology_copy_word(from->name, &to->name);

    if (!status)
        status = topology_copy_word(from->uuid, &to->uuid);
    if (!status)
        status = topology_copy_word(from->pci, &to->pci);
    return status;
}

/* A copy, `to`, of the type `type` of the topology `from`. */
struct copy {
    struct nw_compose *compose;
    const nw_topology *from;
    const struct nw_node_type *type;
    const bool *drop;
    struct nw_node_type *to;
    /* [vertex of `type`] vertex of `to`; -1 if it is dropped */
    int32_t *place;
};

static nw_status copy_devices(const struct copy *copy, enum nw_vertex_kind kind)
{
    bool gpu = kind == NW_VERTEX_GPU;
    const struct nw_device *from =
        gpu ? copy->type->gpu_device : copy->type->nic_device;
    struct nw_device **to = gpu ? &copy->to->gpu_device : &copy->to->nic_device;
    int32_t *count = gpu ? &copy->to->gpu_count : &copy->to->nic_count;
    nw_status status = NW_OK;

    if (!from)
        return NW_OK;
    status = nw_alloc((size_t)copy->type->vertex_count, sizeof **to, to);
    for (int32_t v = 0; !status && v < copy->type->vertex_count; v++)
        if (copy->type->kind[v] == kind && copy->place[v] >= 0)
            status =
                copy_device(&from[copy->type->index[v]], &(*to)[(*count)++]);
    return status;
}

static nw_status copy_numbers(const int32_t *from, size_t count, int32_t **to)
{
    nw_status status;

    if (!from)
        return NW_OK;
    status = nw_alloc(count, sizeof **to, to);
    if (!status && count)
        memcpy(*to, from, count * sizeof *from);
    return status;
}

static nw_status copy_threads(const struct copy *copy)
{
    const struct nw_node_type *type = copy->type;
    size_t cores = (size_t)type->core_count;
    size_t threads = type->core_pu ? (size_t)type->core_pu[cores] : 0;
    nw_status status = copy_numbers(type->core_os, cores, &copy->to->core_os);

    if (!status)
        status = copy_numbers(type->core_pu, type->core_pu ? cores + 1 : 0,
                              &copy->to->core_pu);
    if (!status)
        status = copy_numbers(type->core_pu ? type->pu_os : NULL, threads,
                              &copy->to->pu_os);
    return status;
}

static nw_status copy_vertices(const struct copy *copy)
{
    const struct nw_node_type *type = copy->type;
    nw_status status = NW_OK;

    copy->place[0] = 0;
    for (int32_t v = 1; !status && v < type->vertex_count; v++) {
        int32_t class;

        copy->place[v] = -1;
        if (copy->drop && copy->drop[v])
            continue;
        status =
            nw_compose_class(copy->compose, copy->from, type->class[v], &class);
        if (!status)
            status = nw_node_type_add(copy->to, copy->place[type->parent[v]],
                                      (enum nw_vertex_kind)type->kind[v], class,
                                      &copy->place[v]);
    }
    return status;
}

static nw_status copy_direct(const struct copy *copy)
{
    nw_status status = NW_OK;

    for (int32_t d = 0; !status && d < copy->type->direct_count; d++) {
        const struct nw_direct_link *link = &copy->type->direct[d];
        int32_t a = copy->place[link->a], b = copy->place[link->b], class;

        if (a < 0 || b < 0)
            continue;
        status =
            nw_compose_class(copy->compose, copy->from, link->class, &class);
        if (!status)
            status = nw_node_type_add_direct(copy->to, a, b, class);
    }
    return status;
}

/* Makes a name that no type of `whole` has: `name` or `name` with a number,
 * such as "node-2". The caller frees *out. */
static nw_status free_name(const nw_topology *whole, const char *name,
                           char **out)
{
    struct nw_text text = {0};

    for (int32_t n = 1; n < whole->type_count + 2; n++) {
        int32_t t = 0;

        text.length = 0;
        nw_text_add(&text, name);
        if (n > 1)
            nw_text_format(&text, "-%d", n);
        while (t < whole->type_count && text.data &&
               strcmp(whole->type[t]->name, text.data))
            t++;
        if (t == whole->type_count)
            break;
    }
    return nw_text_take(&text, out);
}

nw_status nw_compose_copy(struct nw_compose *compose, const nw_topology *from,
                          const struct nw_node_type *type, const bool *drop,
                          struct nw_node_type **out)
{
    struct copy copy = {
        .compose = compose, .from = from, .type = type, .drop = drop};
    char *name = NULL;
    nw_status status = free_name(compose->whole, type->name, &name);

    if (!status)
        status = nw_alloc((size_t)type->vertex_count, sizeof *copy.place,
                          &copy.place);
    if (!status)
        status = nw_node_type_new(compose->whole, name, &copy.to);
    if (!status) {
        copy.to->staged = type->staged;
        copy.to->pxn = type->pxn;
        status = copy_vertices(&copy);
    }
    if (!status)
        status = copy_devices(&copy, NW_VERTEX_GPU);
    if (!status)
        status = copy_devices(&copy, NW_VERTEX_NIC);
    if (!status)
        status = copy_threads(&copy);
    if (!status)
        status = copy_direct(&copy);
    if (!status)
        *out = copy.to;
    free(copy.place);
    free(name);
    return status;
}
