/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes hardware threads and GPUs in the forms that launchers expect: lists
 * and masks with the operating system's numbers, and lists for the ranks of a
 * node. */
#include "launch/job.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Sets *cpus to the operating system's numbers of the hardware threads of a
 * rank's i-th core. Returns how many there are; 0 if unknown. */
static size_t lists_threads(const struct nw_launch_job *job, int32_t rank,
                            size_t i, const int32_t **cpus)
{
    int32_t core = nw_mapping_cores(job->mapping, rank).values[i];

    return nw_topology_element_cpus(job->topology,
                                    nw_launch_element(job, rank, core), cpus);
}

/* Returns the number of a rank's hardware threads. Returns 0 if those of any
 * core are unknown. */
static size_t count_cpus(const struct nw_launch_job *job, int32_t rank)
{
    size_t cores = nw_mapping_cores(job->mapping, rank).count, sum = 0;

    for (size_t i = 0; i < cores; i++) {
        const int32_t *cpus;
        size_t count = lists_threads(job, rank, i, &cpus);

        if (!count)
            return 0;
        sum += count;
    }
    return sum;
}

bool nw_launch_add_cpus(const struct nw_launch_job *job, int32_t rank,
                        const char *joint, struct nw_text *text)
{
    size_t cores = nw_mapping_cores(job->mapping, rank).count;
    const char *between = "";

    if (!count_cpus(job, rank))
        return false;
    for (size_t i = 0; i < cores; i++) {
        const int32_t *cpus;
        size_t count = lists_threads(job, rank, i, &cpus);

        for (size_t c = 0; c < count; c++, between = joint)
            nw_text_format(text, "%s%d", between, cpus[c]);
    }
    return true;
}

static int32_t highest_cpu(const struct nw_launch_job *job, int32_t rank)
{
    size_t cores = nw_mapping_cores(job->mapping, rank).count;
    int32_t highest = -1;

    for (size_t i = 0; i < cores; i++) {
        const int32_t *cpus;
        size_t count = lists_threads(job, rank, i, &cpus);

        for (size_t c = 0; c < count; c++)
            highest = cpus[c] > highest ? cpus[c] : highest;
    }
    return highest;
}

/* Appends a rank's hardware threads as a hexadecimal mask without "0x". If a
 * number is unknown or memory is exhausted, appends nothing and returns false.
 */
static bool lists_add_mask(const struct nw_launch_job *job, int32_t rank,
                           struct nw_text *text)
{
    size_t cores = nw_mapping_cores(job->mapping, rank).count, digits;
    char *hex = NULL;
    const int32_t *cpus;

    if (!count_cpus(job, rank))
        return false;
    digits = (size_t)highest_cpu(job, rank) / 4 + 1;
    if (nw_alloc(digits + 1, 1, &hex))
        return false;
    for (size_t i = 0; i < cores; i++) {
        size_t count = lists_threads(job, rank, i, &cpus);

        for (size_t c = 0; c < count; c++)
            hex[digits - 1 - (size_t)cpus[c] / 4] |= (char)(1 << cpus[c] % 4);
    }
    for (size_t d = 0; d < digits; d++)
        hex[d] = "0123456789abcdef"[(int)hex[d]];
    nw_text_add(text, hex);
    free(hex);
    return true;
}

bool nw_launch_cpus_known(const struct nw_launch_job *job)
{
    for (int32_t r = 0; r < job->mapping->rank_count; r++)
        if (!count_cpus(job, r))
            return false;
    return true;
}

bool nw_launch_single_cpus(const struct nw_launch_job *job)
{
    for (int32_t r = 0; r < job->mapping->rank_count; r++)
        if (count_cpus(job, r) != 1)
            return false;
    return true;
}

bool nw_launch_same_cpus(const struct nw_launch_job *job, int32_t a, int32_t b)
{
    struct nw_text text[2] = {0};
    bool same = nw_launch_add_cpus(job, a, ",", &text[0]) &&
                nw_launch_add_cpus(job, b, ",", &text[1]) &&
                !strcmp(text[0].data, text[1].data);

    nw_text_fini(&text[0]);
    nw_text_fini(&text[1]);
    return same;
}

static bool same_gpus(const struct nw_launch_job *job, int32_t a, int32_t b)
{
    struct nw_ints x = nw_launch_own_gpus(job->mapping, a),
                   y = nw_launch_own_gpus(job->mapping, b);

    return x.count == y.count &&
           (!x.count ||
            !memcmp(x.values, y.values, x.count * sizeof *x.values));
}

typedef bool same_ranks(const struct nw_launch_job *, int32_t, int32_t);

/* Returns true if, for every l, same() holds between local rank l of every node
 * that has one and local rank l of the node with the most ranks. */
static bool all_alike(const struct nw_launch_job *job, same_ranks *same)
{
    const struct nw_launch_node_ranks *places = &job->places;
    const int32_t *model = places->rank + places->first[places->fullest];

    for (int32_t i = 0; i < places->node_count; i++)
        for (int32_t l = 0; l < nw_launch_node_ranks_count(places, i); l++)
            if (!same(job, model[l], places->rank[places->first[i] + l]))
                return false;
    return true;
}

bool nw_launch_alike(const struct nw_launch_job *job)
{
    return all_alike(job, nw_launch_same_cpus);
}

bool nw_launch_gpus_alike(const struct nw_launch_job *job)
{
    return all_alike(job, same_gpus);
}

void nw_launch_add_cpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    int32_t first = places->first[places->fullest];

    for (int32_t l = 0; l < nw_launch_node_ranks_count(places, places->fullest);
         l++) {
        nw_text_add(text, l ? comma : "");
        nw_launch_add_cpus(job, places->rank[first + l], joint, text);
    }
}

void nw_launch_add_mask_list(const struct nw_launch_job *job,
                             const char *before, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    int32_t first = places->first[places->fullest];

    for (int32_t l = 0; l < nw_launch_node_ranks_count(places, places->fullest);
         l++) {
        nw_text_format(text, "%s%s", l ? "," : "", before);
        lists_add_mask(job, places->rank[first + l], text);
    }
}

void nw_launch_add_gpu_list(const struct nw_launch_job *job, const char *joint,
                            const char *comma, struct nw_text *text)
{
    const struct nw_launch_node_ranks *places = &job->places;
    int32_t first = places->first[places->fullest];

    for (int32_t l = 0; l < nw_launch_node_ranks_count(places, places->fullest);
         l++) {
        struct nw_ints gpus =
            nw_launch_own_gpus(job->mapping, places->rank[first + l]);

        nw_text_add(text, l ? comma : "");
        for (size_t g = 0; g < gpus.count; g++)
            nw_text_format(text, "%s%d", g ? joint : "", gpus.values[g]);
    }
}

bool nw_launch_has_far_gpu(const nw_mapping *mapping, int32_t rank)
{
    return mapping->gpu_node && mapping->gpu_node[rank] >= 0 &&
           mapping->gpu_node[rank] != mapping->node[rank];
}

struct nw_ints nw_launch_own_gpus(const nw_mapping *mapping, int32_t rank)
{
    struct nw_ints gpus = nw_mapping_gpus(mapping, rank);

    if (gpus.count && gpus.values[0] >= 0 &&
        !nw_launch_has_far_gpu(mapping, rank))
        return gpus;
    return (struct nw_ints){gpus.values, 0};
}

bool nw_launch_has_gpu(const nw_mapping *mapping, int32_t rank)
{
    return nw_launch_own_gpus(mapping, rank).count;
}

bool nw_launch_has_gpus(const nw_mapping *mapping)
{
    for (int32_t rank = 0; rank < mapping->rank_count; rank++)
        if (nw_launch_has_gpu(mapping, rank))
            return true;
    return false;
}
