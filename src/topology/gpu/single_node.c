/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the processors of a node from the lists of hardware threads in a file
 * about GPUs. */
#include "topology/gpu/single_node.h"
#include "base/array.h"
#include "base/status.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_THREADS 65536

static nw_status single_node_add_run(struct nw_threads *threads, int32_t first,
                                     int32_t last)
{
    size_t count = (size_t)(last - first) + 1;
    nw_status status = nw_grow(&threads->os, &threads->capacity,
                               threads->count + count, sizeof *threads->os);

    for (size_t i = 0; !status && i < count; i++)
        threads->os[threads->count++] = first + (int32_t)i;
    return status;
}

/* Parses "4" or "4-7" into run[]. Returns false if the text is invalid or
 * begins below `least`. */
static bool parse_run(char *word, int32_t least, int32_t run[2])
{
    char *dash = strchr(word, '-');

    if (dash)
        *dash++ = '\0';
    if (!nw_parse_i32(word, &run[0]) || run[0] < least)
        return false;
    run[1] = run[0];
    return !dash || (nw_parse_i32(dash, &run[1]) && run[1] >= run[0] &&
                     run[1] < MAX_THREADS);
}

nw_status nw_threads_list(const char *text, struct nw_threads *out, bool *good)
{
    char *copy = NULL, *at, *word;
    int32_t run[2], least = 0;
    nw_status status = nw_strdup(text, &copy);

    *good = true;
    at = copy;
    while (!status && *good && (word = strsep(&at, ","))) {
        *good = parse_run(word, least, run) && run[1] < MAX_THREADS;
        if (!*good)
            break;
        status = single_node_add_run(out, run[0], run[1]);
        least = run[1] + 1;
    }
    free(copy);
    return status;
}

static bool is_mask(const char *text)
{
    size_t length = strlen(text), words = 0;

    if (!length || strspn(text, "0123456789abcdefABCDEF,") != length)
        return false;
    for (const char *at = text; at; at = strchr(at, ','), words++) {
        at += *at == ',';
        if (strcspn(at, ",") < 1 || strcspn(at, ",") > 8)
            return false;
    }
    return words <= MAX_THREADS / 32;
}

nw_status nw_threads_mask(const char *text, struct nw_threads *out, bool *good)
{
    const char *end = text + strlen(text);
    nw_status status = NW_OK;
    int32_t base = 0;

    *good = is_mask(text);
    while (*good && !status && end > text) {
        const char *start = end;
        uint32_t word;

        while (start > text && start[-1] != ',')
            start--;
        word = (uint32_t)strtoul(start, NULL, 16);
        for (int32_t bit = 0; !status && bit < 32; bit++)
            if (word >> bit & 1)
                status = single_node_add_run(out, base + bit, base + bit);
        base += 32;
        end = start > text ? start - 1 : text;
    }
    return status;
}

static int by_size(const void *a, const void *b, void *threads)
{
    const struct nw_threads *all = threads;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;

    if (all[x].count != all[y].count)
        return all[x].count < all[y].count ? -1 : 1;
    return x - y;
}

static int by_lowest(const void *a, const void *b, void *threads)
{
    const struct nw_threads *all = threads;
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    int32_t low = all[x].count ? all[x].os[0] : MAX_THREADS;
    int32_t other = all[y].count ? all[y].os[0] : MAX_THREADS;

    return low != other ? (low > other) - (low < other) : x - y;
}

/* Removes from a package the threads that are already taken, and marks the
 * others as taken. */
static void take_free(struct nw_threads *threads, bool *taken)
{
    size_t kept = 0;

    for (size_t i = 0; i < threads->count; i++) {
        int32_t os = threads->os[i];

        if (!taken[os])
            threads->os[kept++] = os;
        taken[os] = true;
    }
    threads->elsewhere = threads->count && !kept;
    threads->count = kept;
}

nw_status nw_threads_share(struct nw_threads *threads, int32_t count,
                           int32_t *order)
{
    bool *taken;
    nw_status status = nw_alloc(MAX_THREADS, sizeof *taken, &taken);

    if (status)
        return status;
    for (int32_t i = 0; i < count; i++)
        order[i] = i;
    qsort_r(order, (size_t)count, sizeof *order, by_size, threads);
    for (int32_t k = 0; k < count; k++)
        take_free(&threads[order[k]], taken);
    qsort_r(order, (size_t)count, sizeof *order, by_lowest, threads);
    free(taken);
    for (int32_t k = 0; k < count; k++)
        threads[k].bare = !threads[k].count && !threads[k].elsewhere &&
                          threads[order[0]].count;
    return NW_OK;
}

/* Returns the number of hardware threads of a core. If the source does not give
 * it, returns 2 if the thread numbers are two ranges of equal length, otherwise
 * 1. */
static size_t threads_per_core(const struct nw_threads *threads)
{
    size_t half = threads->count / 2;

    if (threads->per_core)
        return (size_t)threads->per_core;
    if (threads->count < 2 || threads->count % 2)
        return 1;
    for (size_t i = 1; i < threads->count; i++)
        if ((i == half) == (threads->os[i] == threads->os[i - 1] + 1))
            return 1;
    return 2;
}

static nw_status number_thread(struct nw_node_type *type, size_t *count,
                               int32_t os)
{
    int32_t *longer = realloc(type->pu_os, (*count + 1) * sizeof *longer);

    if (!longer)
        return nw_fail(NW_ENOMEM, "out of memory for threads");
    longer[(*count)++] = os;
    type->pu_os = longer;
    return NW_OK;
}

static nw_status number_core(struct nw_node_type *type, size_t core, int32_t os,
                             size_t threads)
{
    int32_t *first = realloc(type->core_pu, (core + 2) * sizeof *type->core_pu);
    int32_t *number;

    if (!first)
        return nw_fail(NW_ENOMEM, "out of memory for cores");
    type->core_pu = first;
    first[0] = core ? first[0] : 0;
    first[core + 1] = (int32_t)threads;
    number = realloc(type->core_os, (core + 1) * sizeof *type->core_os);
    if (!number)
        return nw_fail(NW_ENOMEM, "out of memory for cores");
    type->core_os = number;
    number[core] = os;
    return NW_OK;
}

static size_t single_node_cores_of(const struct nw_node_type *type)
{
    size_t count = 0;

    for (int32_t v = 0; v < type->vertex_count; v++)
        count += type->kind[v] == NW_VERTEX_CORE;
    return count;
}

/* Returns the index in threads->os[] of thread t of a core. */
static size_t single_thread_at(const struct nw_threads *threads, size_t core,
                               size_t t)
{
    size_t each = threads_per_core(threads);

    return threads->per_core ? core * each + t
                             : core + t * (threads->count / each);
}

static nw_status add_core(nw_topology *topology, struct nw_node_type *type,
                          int32_t parent, const struct nw_threads *threads,
                          size_t index)
{
    size_t each = threads_per_core(threads);
    size_t before = single_node_cores_of(type);
    bool numbered = !before || type->core_pu;
    size_t used = before && numbered ? (size_t)type->core_pu[before] : 0;
    int32_t class, vertex, pu;
    nw_status status = nw_single_class(topology, NW_LINK_CORE, 0, &class);

    if (!status)
        status = nw_node_type_add(type, parent, NW_VERTEX_CORE, class, &vertex);
    for (size_t t = 0; !status && t < each; t++) {
        if (numbered)
            status = number_thread(
                type, &used, threads->os[single_thread_at(threads, index, t)]);
        if (!status && topology->elements == NW_ELEMENTS_PU)
            status = nw_node_type_add(type, vertex, NW_VERTEX_PU, class, &pu);
    }
    return status || !numbered
               ? status
               : number_core(type, before,
                             threads->os[single_thread_at(threads, index, 0)],
                             used);
}

/* Removes the numbers of all cores of the node, because the numbers of one
 * package are unknown. */
static void forget_numbers(struct nw_node_type *type)
{
    free(type->core_os);
    free(type->core_pu);
    free(type->pu_os);
    type->core_os = type->core_pu = type->pu_os = NULL;
}

/* Adds a note that the source names no cores near the GPUs. If `some` is true,
 * only some packages lack cores; otherwise all packages lack them and got one
 * core each. */
static void note_no_cores(nw_topology *topology, bool some)
{
    if (!topology->notes.length)
        nw_text_format(&topology->notes,
                       "%s does not name the cores near %sits GPUs: %s; for "
                       "the true ones, join it to a node: nodewise topology "
                       "--node live --gpus SOURCE -o machine.yaml\n",
                       topology->name, some ? "some of " : "",
                       some ? "their package has none"
                            : "each package has one");
}

nw_status nw_single_cores(nw_topology *topology, struct nw_node_type *type,
                          int32_t parent, const struct nw_threads *threads)
{
    size_t count = threads->count / threads_per_core(threads);
    int32_t class, vertex;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < count; i++)
        status = add_core(topology, type, parent, threads, i);
    if (status || count)
        return status;
    note_no_cores(topology, threads->bare);
    if (threads->bare)
        return NW_OK;
    forget_numbers(type);
    status = nw_single_class(topology, NW_LINK_CORE, 0, &class);
    return status
               ? status
               : nw_node_type_add(type, parent, NW_VERTEX_CORE, class, &vertex);
}

nw_status nw_single_class(nw_topology *topology, enum nw_link_kind kind,
                          double bandwidth, int32_t *out)
{
    struct nw_link_class figures = nw_link_assumed(kind);

    if (bandwidth > 0) {
        figures.bandwidth[0] = figures.bandwidth[1] = bandwidth;
        figures.assumed = false;
    }
    return nw_topology_class(topology, &figures, out);
}

nw_status nw_single_finish(nw_topology *topology, const char *file,
                           enum nw_elements elements)
{
    const char *slash = strrchr(file, '/');
    const char *name = slash ? slash + 1 : file;
    size_t length = strcspn(name, ". \t#[],&");
    nw_status status = nw_topology_set_nodes(topology, 1, 0);

    if (status)
        return status;
    topology->node_name[0] = length ? strndup(name, length) : strdup("machine");
    if (!topology->node_name[0])
        return nw_fail(NW_ENOMEM, "out of memory for a name");
    return nw_topology_finish(topology, elements);
}
