/* SPDX-License-Identifier: BSD-3-Clause */
/* Builds the processors of a node from the lists of hardware threads in a file
 * about GPUs. */
#include "topology/gpu/single_node.h"
#include "base/array.h"
#include "base/hostlist.h"
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

/* Parses "4" or "4-7" into run[], the first and last number. Returns false if
 * the text is invalid or begins below `least`. */
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
 * others as taken. Sets `elsewhere` if none of its threads stay. */
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

/* Returns the index of the first thread of the second range, if the numbers of
 * a package's threads form exactly two ranges; otherwise 0. */
static size_t single_second_range(const struct nw_threads *threads)
{
    size_t second = 0;

    for (size_t i = 1; i < threads->count; i++)
        if (threads->os[i] != threads->os[i - 1] + 1) {
            if (second)
                return 0;
            second = i;
        }
    return second;
}

/* Compares the two halves of a package's thread numbers. Returns how much
 * larger the second half is, if the difference is the same for each number and
 * the gap between the halves is wider than all other gaps. Otherwise
 * returns 0. */
static int32_t single_shift(const struct nw_threads *threads)
{
    size_t half = threads->count / 2;
    int32_t shift;

    if (!half || threads->count % 2)
        return 0;
    shift = threads->os[half] - threads->os[0];
    for (size_t i = 1; i < half; i++)
        if (threads->os[half + i] - threads->os[i] != shift ||
            threads->os[i] - threads->os[i - 1] >=
                threads->os[half] - threads->os[half - 1])
            return 0;
    return shift;
}

/* Returns the offset that the threads of a package suggest, or 0 if they
 * suggest no offset.
 *
 * Rule 0: the shift of the package's halves.
 *
 * Rules 1 and 2, if the package has two ranges of threads: the difference of
 * their first threads or of their last threads. Rule 1 assumes that the shorter
 * range lacks its first threads if it is the low range, and its last threads if
 * it is the high range. Rule 2 assumes the opposite. */
static int32_t single_suggest(const struct nw_threads *threads, int rule)
{
    size_t second = single_second_range(threads);
    bool low = second < threads->count - second;

    if (rule == 0)
        return single_shift(threads);
    if (!second)
        return 0;
    return low == (rule == 1)
               ? threads->os[threads->count - 1] - threads->os[second - 1]
               : threads->os[second] - threads->os[0];
}

/* Returns true if thread t + offset can be the second thread of the core of
 * thread t, for all threads of the node: Linux numbers the first threads of all
 * cores before the second ones, and a core belongs to one package. owner[t] is
 * 1 + the package of thread t, or 0. */
static bool single_offset_fits(const int32_t *owner, int32_t offset)
{
    for (int32_t t = offset; t < MAX_THREADS; t++)
        if (owner[t] && (t >= 2 * offset ||
                         (owner[t - offset] && owner[t - offset] != owner[t])))
            return false;
    return true;
}

/* Sets `offset` of all packages to the first one that a package suggests and
 * that fits all of them, or to 0. Equal halves are tried first, then two ranges
 * of unequal length, of which a cgroup may hide threads at either end. Sets
 * `guessed`. */
static nw_status single_find_offset(struct nw_threads *threads, int32_t count)
{
    int32_t *owner, offset = 0, with_threads = 0;
    bool guessed = false;
    nw_status status = nw_alloc(MAX_THREADS, sizeof *owner, &owner);

    if (status)
        return status;
    for (int32_t k = 0; k < count; k++) {
        with_threads += threads[k].count > 0;
        for (size_t i = 0; i < threads[k].count; i++)
            owner[threads[k].os[i]] = k + 1;
    }
    for (int rule = 0; rule < 3 && !offset; rule++)
        for (int32_t k = 0; k < count && !offset; k++) {
            int32_t suggested = single_suggest(&threads[k], rule);

            if (!suggested || !single_offset_fits(owner, suggested))
                continue;
            offset = suggested;
            guessed = rule > 0 && with_threads == 1;
        }
    for (int32_t k = 0; k < count; k++) {
        threads[k].offset = offset;
        threads[k].guessed = guessed && threads[k].count;
    }
    free(owner);
    return NW_OK;
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
    return single_find_offset(threads, count);
}

/* Returns the number of hardware threads of a core if the source gives it.
 * Otherwise returns 2 if the thread numbers are two ranges of equal length, and
 * 1 if they are not (`offset` may then give a second thread). */
static size_t threads_per_core(const struct nw_threads *threads)
{
    size_t second = single_second_range(threads);

    if (threads->per_core)
        return (size_t)threads->per_core;
    return second && 2 * second == threads->count ? 2 : 1;
}

/* Returns the index of a thread in threads->os[]; `count` if it is missing. */
static size_t single_find_thread(const struct nw_threads *threads, int32_t os)
{
    size_t low = 0, high = threads->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (threads->os[middle] < os)
            low = middle + 1;
        else
            high = middle;
    }
    return low < threads->count && threads->os[low] == os ? low
                                                          : threads->count;
}

static nw_status number_thread(struct nw_node_type *type, size_t *count,
                               int32_t os)
{
    int32_t *longer = realloc(type->pu_os, (*count + 1) * sizeof *longer);

    if (!longer)
        return nw_fail(NW_ENOMEM, "out of memory");
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
        return nw_fail(NW_ENOMEM, "out of memory");
    type->core_pu = first;
    first[0] = core ? first[0] : 0;
    first[core + 1] = (int32_t)threads;
    number = realloc(type->core_os, (core + 1) * sizeof *type->core_os);
    if (!number)
        return nw_fail(NW_ENOMEM, "out of memory");
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

/* Largest number of threads of a core. */
#define MAX_PER_CORE 4

/* The numbers of the threads of a core. */
struct single_core {
    int32_t os[MAX_PER_CORE];
    size_t count;
};

/* Finds the core whose first thread is threads->os[index]; its count is 0 if
 * that thread is not the first one of a core. `each` is the result of
 * threads_per_core(). */
static void single_core_at(const struct nw_threads *threads, size_t each,
                           size_t index, struct single_core *core)
{
    size_t other;
    size_t step = threads->per_core ? 1 : threads->count / each;

    core->count = 0;
    if (each > 1 || threads->per_core || !threads->offset) {
        if (threads->per_core ? index % each || index + each > threads->count
                              : index >= step)
            return;
        for (size_t t = 0; t < each; t++)
            core->os[core->count++] = threads->os[index + t * step];
        return;
    }
    other = single_find_thread(threads, threads->os[index] - threads->offset);
    if (other < threads->count)
        return;
    core->os[core->count++] = threads->os[index];
    other = single_find_thread(threads, threads->os[index] + threads->offset);
    if (other < threads->count)
        core->os[core->count++] = threads->os[other];
}

static nw_status add_core(nw_topology *topology, struct nw_node_type *type,
                          int32_t parent, const struct single_core *core)
{
    size_t before = single_node_cores_of(type);
    bool numbered = !before || type->core_pu;
    size_t used = before && numbered ? (size_t)type->core_pu[before] : 0;
    int32_t class, vertex, pu;
    nw_status status =
        nw_topology_class_of_rate(topology, NW_LINK_CORE, 0, &class);

    if (!status)
        status = nw_node_type_add(type, parent, NW_VERTEX_CORE, class, &vertex);
    for (size_t t = 0; !status && t < core->count; t++) {
        if (numbered)
            status = number_thread(type, &used, core->os[t]);
        if (!status && topology->elements == NW_ELEMENTS_PU)
            status = nw_node_type_add(type, vertex, NW_VERTEX_PU, class, &pu);
    }
    return status || !numbered ? status
                               : number_core(type, before, core->os[0], used);
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

#define NO_CORES "does not name the cores near"
#define REMEDY                                                                 \
    "for the true ones, join it to a node: nodewise topology --node live "     \
    "--gpus SOURCE -o machine.yaml\n"

/* Adds a note, once, that the source names no cores near the GPUs. If `some` is
 * true, only some packages lack cores; otherwise all packages lack them and got
 * one core each. */
static void note_no_cores(nw_topology *topology, bool some)
{
    const char *notes = topology->notes.data;

    if (!notes || !strstr(notes, NO_CORES))
        nw_text_format(
            &topology->notes, "%s " NO_CORES " %sits GPUs: %s; " REMEDY,
            topology->name, some ? "some of " : "",
            some ? "their package has none" : "each package has one");
}

/* Adds a note that the source does not show which threads share a core. */
static void note_guessed_cores(nw_topology *topology, size_t threads,
                               size_t cores)
{
    nw_text_format(&topology->notes,
                   "%s does not say which CPUs share a core: its %zu CPU%s "
                   "taken for %zu core%s; " REMEDY,
                   topology->name, threads,
                   nw_by_count(threads, " is", "s are"), cores,
                   nw_plural(cores));
}

nw_status nw_single_cores(nw_topology *topology, struct nw_node_type *type,
                          int32_t parent, const struct nw_threads *threads)
{
    int32_t class, vertex;
    size_t each = threads_per_core(threads), count = 0;
    nw_status status = NW_OK;

    for (size_t i = 0; !status && i < threads->count; i++) {
        struct single_core core;

        single_core_at(threads, each, i, &core);
        if (core.count)
            status = add_core(topology, type, parent, &core);
        count += core.count > 0;
    }
    if (!status && threads->guessed)
        note_guessed_cores(topology, threads->count, count);
    if (status || count)
        return status;
    note_no_cores(topology, threads->bare);
    if (threads->bare)
        return NW_OK;
    forget_numbers(type);
    status = nw_topology_class_of_rate(topology, NW_LINK_CORE, 0, &class);
    return status
               ? status
               : nw_node_type_add(type, parent, NW_VERTEX_CORE, class, &vertex);
}

nw_status nw_single_finish(nw_topology *topology, const char *file,
                           enum nw_elements elements)
{
    nw_status status = nw_topology_set_nodes(topology, 1, 0);

    if (!status)
        status = nw_host_name_after(file, &topology->node_name[0]);
    return status ? status : nw_topology_finish(topology, elements);
}
