/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds the GPU links of another source to a node type. The GPUs of both sources
 * are matched by PCI address if each GPU of the other source has the address of
 * another GPU of the node type, otherwise by number. */
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "topology/compose/compose.h"

#include <stdlib.h>
#include <string.h>

/* The type of the source of GPU links (`theirs`), and the type of the result to
 * which they are added (`ours`). */
struct match {
    struct nw_compose *compose;
    const nw_topology *from;
    const struct nw_node_type *theirs;
    struct nw_node_type *ours;
    const char *source;
    int32_t *gpu;    /* [GPU of `theirs`] its vertex in `ours` */
    int32_t *number; /* [GPU of `theirs`] its GPU number in `ours` */
};

/* Returns the part "3b:00.0" of a PCI address such as "0000:3b:00.0", and sets
 * *domain to the number before it. The domain may have more than four digits;
 * without one, *domain is -1. */
static const char *split_address(const char *address, long *domain)
{
    const char *bus = strchr(address, ':');

    *domain = -1;
    if (!bus || !strchr(bus + 1, ':'))
        return address;
    *domain = strtol(address, NULL, 16);
    return bus + 1;
}

/* Returns true if two PCI addresses are equal; one of them may lack the domain
 * ("0000:3b:00.0" and "3b:00.0"). */
static bool same_address(const char *a, const char *b)
{
    long x, y;

    return !strcasecmp(split_address(a, &x), split_address(b, &y)) &&
           (x == y || x < 0 || y < 0);
}

static const char *gpus_address(const struct nw_device *device, int32_t count,
                                int32_t i)
{
    return device && i < count ? device[i].pci : NULL;
}

/* Sets number[] and gpu[] for all GPUs of the other source: by PCI address if
 * every GPU has a match of its own, otherwise by number. Two addresses may
 * match one that lacks the domain. */
static void match_gpus(struct match *match, int32_t count)
{
    bool whole = true;

    for (int32_t i = 0; i < count; i++) {
        const char *pci = gpus_address(match->theirs->gpu_device, count, i);

        match->number[i] = -1;
        for (int32_t j = 0; pci && j < count; j++) {
            const char *mine = gpus_address(match->ours->gpu_device,
                                            match->ours->gpu_count, j);

            if (mine && same_address(pci, mine))
                match->number[i] = j;
        }
        whole &= match->number[i] >= 0;
        for (int32_t j = 0; j < i; j++)
            whole &= match->number[j] != match->number[i];
    }
    for (int32_t i = 0; i < count; i++) {
        if (!whole)
            match->number[i] = i;
        match->gpu[i] =
            nw_node_type_nth(match->ours, NW_VERTEX_GPU, match->number[i]);
    }
}

static int32_t gpus_package_of(const struct nw_node_type *type, int32_t v)
{
    while (v >= 0 && type->kind[v] != NW_VERTEX_PACKAGE)
        v = type->parent[v];
    return v;
}

/* Adds a note on the first pair of GPUs that are near the same processor in one
 * source and near different ones in the other. */
static void compare_packages(struct match *match, int32_t count)
{
    const struct nw_node_type *a = match->ours, *b = match->theirs;

    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++) {
            bool here = gpus_package_of(a, match->gpu[i]) ==
                        gpus_package_of(a, match->gpu[j]);
            bool there =
                gpus_package_of(b, b->gpu[i]) == gpus_package_of(b, b->gpu[j]);

            if (here == there)
                continue;
            nw_text_format(&match->compose->notes,
                           "GPUs %d and %d share a processor in %s, not in "
                           "%s; the first is kept\n",
                           match->number[j], match->number[i],
                           here ? match->source : match->compose->gpus_source,
                           here ? match->compose->gpus_source : match->source);
            return;
        }
}

/* Returns the number of hardware threads of v's package, and the lowest of
 * their numbers in *lowest; returns 0 if the type does not know them. */
static int32_t threads_near(const struct nw_node_type *type, int32_t v,
                            int32_t *lowest)
{
    int32_t package = gpus_package_of(type, v), core = 0, count = 0;

    for (int32_t c = 0; c < type->vertex_count; c++) {
        if (type->kind[c] != NW_VERTEX_CORE)
            continue;
        if (package >= 0 && type->core_pu &&
            gpus_package_of(type, c) == package)
            for (int32_t t = type->core_pu[core]; t < type->core_pu[core + 1];
                 t++)
                if (!count++ || type->pu_os[t] < *lowest)
                    *lowest = type->pu_os[t];
        core++;
    }
    return count;
}

/* Adds a note on the first GPU whose package has another count of hardware
 * threads, or another lowest number of them, in one source than in the other.
 */
static void compare_threads(struct match *match, int32_t count)
{
    for (int32_t i = 0; i < count; i++) {
        int32_t low[2] = {0, 0};
        int32_t here = threads_near(match->ours, match->gpu[i], &low[0]);
        int32_t there =
            threads_near(match->theirs, match->theirs->gpu[i], &low[1]);

        if (!here || !there || (here == there && low[0] == low[1]))
            continue;
        nw_text_format(&match->compose->notes,
                       "GPU %d is near %d thread%s from %d on in %s, near %d "
                       "from %d on in %s; the first is kept\n",
                       match->number[i], here, nw_plural((uint64_t)here),
                       low[0], match->source, there, low[1],
                       match->compose->gpus_source);
        return;
    }
}

static void compare_cards(struct match *match)
{
    int32_t ours = nw_node_type_count(match->ours, NW_VERTEX_NIC);

    if (match->theirs->nic_count && ours != match->theirs->nic_count)
        nw_text_format(&match->compose->notes,
                       "a node here has %d of the network's cards, %s names "
                       "%d; the first are kept\n",
                       ours, match->compose->gpus_source,
                       match->theirs->nic_count);
}

static bool gpus_joins(const struct nw_direct_link *link, int32_t a, int32_t b)
{
    return (link->a == a && link->b == b) || (link->a == b && link->b == a);
}

/* Returns the bandwidth of the direct link between two vertices in bytes/s, or
 * 0 if no direct link joins them. */
static double rate_between(const nw_topology *topology,
                           const struct nw_node_type *type, int32_t a,
                           int32_t b)
{
    for (int32_t d = 0; d < type->direct_count; d++)
        if (gpus_joins(&type->direct[d], a, b))
            return topology->class[type->direct[d].class].bandwidth[0];
    return 0;
}

/* Adds a note on each pair of GPUs between which the two sources have direct
 * links of different bandwidth, or only one of them has a direct link. */
static void compare_links(struct match *match, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        for (int32_t j = 0; j < i; j++) {
            double here = rate_between(match->compose->whole, match->ours,
                                       match->gpu[i], match->gpu[j]);
            double there =
                rate_between(match->from, match->theirs, match->theirs->gpu[i],
                             match->theirs->gpu[j]);

            if (here == there)
                continue;
            nw_text_format(&match->compose->notes,
                           "GPUs %d and %d: a direct link of %.4g GB/s in %s, "
                           "of %.4g in %s; the second is taken\n",
                           match->number[j], match->number[i], here / 1e9,
                           match->source, there / 1e9,
                           match->compose->gpus_source);
        }
}

/* Removes all direct links whose ends both are GPUs or GPU switches. The GPU
 * switches stay in the type; without links they carry no messages. */
static void drop_links(struct nw_node_type *type)
{
    int32_t kept = 0;

    for (int32_t d = 0; d < type->direct_count; d++) {
        const struct nw_direct_link link = type->direct[d];
        uint8_t a = type->kind[link.a], b = type->kind[link.b];

        if ((a != NW_VERTEX_GPU && a != NW_VERTEX_GPU_SWITCH) ||
            (b != NW_VERTEX_GPU && b != NW_VERTEX_GPU_SWITCH))
            type->direct[kept++] = link;
    }
    type->direct_count = kept;
}

/* Sets *out to the vertex of `ours` that corresponds to vertex v of the other
 * source; -1 if v is neither a GPU nor a GPU switch. A GPU switch is added when
 * it is first needed; made[v] then has its vertex. */
static nw_status gpus_vertex_for(struct match *match, int32_t v, int32_t *made,
                                 int32_t *out)
{
    int32_t class;
    nw_status status;

    *out = -1;
    if (match->theirs->kind[v] == NW_VERTEX_GPU)
        *out = match->gpu[match->theirs->index[v]];
    if (match->theirs->kind[v] != NW_VERTEX_GPU_SWITCH)
        return NW_OK;
    if (made[v] < 0) {
        status = nw_compose_class(match->compose, match->from,
                                  match->theirs->class[v], &class);
        if (!status)
            status = nw_node_type_add(match->ours, 0, NW_VERTEX_GPU_SWITCH,
                                      class, &made[v]);
        if (status)
            return status;
    }
    *out = made[v];
    return NW_OK;
}

static nw_status take_links(struct match *match)
{
    const struct nw_node_type *theirs = match->theirs;
    int32_t *made;
    nw_status status =
        nw_alloc((size_t)theirs->vertex_count, sizeof *made, &made);

    for (int32_t v = 0; !status && v < theirs->vertex_count; v++)
        made[v] = -1;
    for (int32_t d = 0; !status && d < theirs->direct_count; d++) {
        const struct nw_direct_link *link = &theirs->direct[d];
        int32_t a, b = -1, class;

        status = gpus_vertex_for(match, link->a, made, &a);
        if (!status)
            status = gpus_vertex_for(match, link->b, made, &b);
        if (status || a < 0 || b < 0)
            continue;
        status =
            nw_compose_class(match->compose, match->from, link->class, &class);
        if (!status)
            status = nw_node_type_add_direct(match->ours, a, b, class);
    }
    free(made);
    return status;
}

/* Sets *out to the vertex of `ours` below which a device is added, whose parent
 * in the other source is `theirs`. For a package, this is the package with the
 * same number; for a bridge or board, the vertex in made[], to which it is
 * copied first if made[] has none; else the root. */
static nw_status compose_parent(struct match *match, int32_t theirs,
                                int32_t *made, int32_t *out)
{
    const struct nw_node_type *type = match->theirs;
    int32_t class;
    nw_status status;

    *out = 0;
    if (type->kind[theirs] == NW_VERTEX_PACKAGE) {
        int32_t ours = nw_node_type_nth(match->ours, NW_VERTEX_PACKAGE,
                                        type->index[theirs]);

        *out = ours < 0 ? 0 : ours;
    }
    if (type->kind[theirs] != NW_VERTEX_BRIDGE &&
        type->kind[theirs] != NW_VERTEX_BOARD)
        return NW_OK;
    if (made[theirs] < 0) {
        status =
            compose_parent(match, type->parent[theirs], made, &made[theirs]);
        if (!status)
            status = nw_compose_class(match->compose, match->from,
                                      type->class[theirs], &class);
        if (!status)
            status = nw_node_type_add(match->ours, made[theirs],
                                      (enum nw_vertex_kind)type->kind[theirs],
                                      class, &made[theirs]);
        if (status)
            return status;
    }
    *out = made[theirs];
    return NW_OK;
}

static nw_status compose_copy_word(const char *from, char **to)
{
    return from ? nw_strdup(from, to) : NW_OK;
}

/* Copies the names, UUIDs and PCI addresses of devices to a type that has
 * none. */
static nw_status compose_copy_devices(const struct nw_device *from,
                                      int32_t count, struct nw_device **to,
                                      int32_t *to_count)
{
    nw_status status = NW_OK;

    if (!from || *to_count)
        return NW_OK;
    free(*to);
    status = nw_alloc((size_t)count, sizeof **to, to);
    for (int32_t i = 0; !status && i < count; i++) {
        ++*to_count;
        status = compose_copy_word(from[i].name, &(*to)[i].name);
        if (!status)
            status = compose_copy_word(from[i].uuid, &(*to)[i].uuid);
        if (!status)
            status = compose_copy_word(from[i].pci, &(*to)[i].pci);
    }
    return status;
}

static nw_status compose_add_kind(struct match *match, enum nw_vertex_kind kind,
                                  int32_t *made)
{
    const struct nw_node_type *theirs = match->theirs;
    bool gpu = kind == NW_VERTEX_GPU;
    int32_t count = gpu ? theirs->gpu_count : theirs->nic_count;
    nw_status status = NW_OK;

    for (int32_t i = 0; !status && i < count; i++) {
        int32_t v = gpu ? theirs->gpu[i] : theirs->nic[i], parent, class,
                vertex;

        status = compose_parent(match, theirs->parent[v], made, &parent);
        if (!status)
            status = nw_compose_class(match->compose, match->from,
                                      theirs->class[v], &class);
        if (!status)
            status =
                nw_node_type_add(match->ours, parent, kind, class, &vertex);
    }
    if (status)
        return status;
    return gpu ? compose_copy_devices(theirs->gpu_device, count,
                                      &match->ours->gpu_device,
                                      &match->ours->gpu_count)
               : compose_copy_devices(theirs->nic_device, count,
                                      &match->ours->nic_device,
                                      &match->ours->nic_count);
}

/* Sets made[v] for each PCIe switch v directly above a matched GPU of the other
 * source: v corresponds to the parent of that GPU in `ours`. */
static void compose_match_bridges(const struct match *match, int32_t *made)
{
    for (int32_t i = 0; i < match->theirs->gpu_count; i++) {
        int32_t v = match->theirs->parent[match->theirs->gpu[i]];

        if (match->theirs->kind[v] == NW_VERTEX_BRIDGE && match->gpu[i] >= 0)
            made[v] = match->ours->parent[match->gpu[i]];
    }
}

/* Adds all GPUs or NICs of the other source to a node type that has none, below
 * the packages with the same number, and a note on this. */
static nw_status compose_graft(struct match *match, enum nw_vertex_kind kind,
                               int32_t *made)
{
    bool gpu = kind == NW_VERTEX_GPU;
    int32_t count = gpu ? match->theirs->gpu_count : match->theirs->nic_count;

    nw_text_format(&match->compose->notes,
                   "%s has no %s, %s has %d: they are put below the processors "
                   "that it names\n",
                   match->source, gpu ? "GPUs" : "network cards",
                   match->compose->gpus_source, count);
    return compose_add_kind(match, kind, made);
}

/* Returns true if a node type of some source of the inside of nodes has GPUs.
 * Nodes without GPUs are then complete, and get none from the source of GPU
 * links. */
static bool is_mixed(const struct nw_compose *compose)
{
    for (size_t i = 0; i < compose->inside_count; i++)
        for (int32_t t = 0; t < compose->inside[i].topology->type_count; t++)
            if (compose->inside[i].topology->type[t]->gpu_count)
                return true;
    return false;
}

nw_status nw_compose_gpus(struct nw_compose *compose, struct nw_node_type *type,
                          const char *source, bool cardless)
{
    struct match match = {.compose = compose,
                          .from = compose->gpus,
                          .theirs = compose->gpus->type[0],
                          .ours = type,
                          .source = source};
    int32_t count = match.theirs->gpu_count;
    int32_t ours = nw_node_type_count(type, NW_VERTEX_GPU), *made = NULL;
    nw_status status;

    if (!ours && is_mixed(compose))
        return NW_OK;
    if (ours && ours != count)
        return nw_fail(NW_EFORMAT,
                       "%s:1: there are %d GPU%s here and %d in a node of %s",
                       compose->gpus->name, count, nw_plural((uint64_t)count),
                       ours, source);
    status = nw_alloc((size_t)match.theirs->vertex_count, sizeof *made, &made);
    for (int32_t v = 0; !status && v < match.theirs->vertex_count; v++)
        made[v] = -1;
    if (!status && !ours && count)
        status = compose_graft(&match, NW_VERTEX_GPU, made);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *match.gpu, &match.gpu);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *match.number, &match.number);
    if (!status)
        match_gpus(&match, count);
    if (!status && cardless && match.theirs->nic_count) {
        compose_match_bridges(&match, made);
        status = compose_graft(&match, NW_VERTEX_NIC, made);
    }
    if (!status) {
        compare_packages(&match, count);
        compare_threads(&match, count);
        compare_cards(&match);
        if (type->direct_count && match.theirs->direct_count)
            compare_links(&match, count);
        if (match.theirs->direct_count) {
            drop_links(type);
            status = take_links(&match);
        }
    }
    free(made);
    free(match.gpu);
    free(match.number);
    return status;
}
