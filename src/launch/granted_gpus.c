/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects GPUs in a job for which the batch system or the user has already set
 * a variable with the visible GPUs. Only GPUs of this list are used. If the
 * list contains all GPUs that the mapping uses on this node, by their numbers
 * on the node or by their UUIDs, its entries are taken as such names. Otherwise
 * the mapping's numbers are positions in the list; these are CUDA's rules for a
 * list inside a list. */
#include <nodewise/launch.h>

#include "base/array.h"
#include "base/status.h"
#include "base/text.h"
#include "launch/gpus.h"
#include "launch/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct granted {
    const char *variable;
    char *text; /* copy of the variable's value, owned */
    char **word;
    int32_t count;
    const nw_topology *topology;
    int32_t node; /* node in `topology`; -1: unknown */
};

const char *nw_launch_granted(void)
{
    static const char *const variables[] = {
        "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "ZE_AFFINITY_MASK"};

    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (getenv(variables[i]))
            return variables[i];
    return NULL;
}

/* Returns true if the word is the name of a GPU. CUDA ignores the first word
 * that is not, such as -1 or Slurm's NoDevFiles, and all words after it. */
static bool granted_gpus_is_gpu(const char *word)
{
    return (*word >= '0' && *word <= '9') || !strncmp(word, "GPU-", 4) ||
           !strncmp(word, "MIG-", 4);
}

static nw_status granted_gpus_split(struct granted *granted)
{
    char *rest, *word;
    size_t room = 0;
    nw_status status = nw_strdup(getenv(granted->variable), &granted->text);

    if (status)
        return status;
    for (word = strtok_r(granted->text, ", ", &rest);
         !status && word && granted_gpus_is_gpu(word);
         word = strtok_r(NULL, ", ", &rest)) {
        status = nw_grow(&granted->word, &room, (size_t)granted->count + 1,
                         sizeof *granted->word);
        if (!status)
            granted->word[granted->count++] = word;
    }
    return status;
}

static const char *granted_gpus_uuid_of(const struct granted *granted,
                                        int32_t gpu)
{
    struct nw_range here;

    if (granted->node < 0)
        return NULL;
    here = nw_topology_node_gpus(granted->topology, granted->node);
    return gpu < here.count
               ? nw_topology_gpu_info(granted->topology, here.first + gpu).uuid
               : NULL;
}

/* Searches the list for a GPU with the number `gpu` on the node, by this number
 * or by its UUID. Returns its position in the list; -1 if not found. */
static int32_t granted_gpus_find(const struct granted *granted, int32_t gpu)
{
    const char *uuid = granted_gpus_uuid_of(granted, gpu);
    char number[16];

    snprintf(number, sizeof number, "%d", gpu);
    for (int32_t i = 0; i < granted->count; i++)
        if (!strcmp(granted->word[i], number) ||
            (uuid && !strcmp(granted->word[i], uuid)))
            return i;
    return -1;
}

/* Converts the GPUs of all ranks on the rank's node to positions in the list,
 * and stores them in `place`, which has the form of mapping->gpu. If `by_name`
 * is true, a GPU is found by number or UUID; otherwise its number is the
 * position. Returns false and sets *missing to a GPU that is not in the list,
 * if there is one. */
static bool granted_gpus_translate(const struct granted *granted,
                                   const nw_mapping *mapping, int32_t rank,
                                   bool by_name, int32_t *place,
                                   int32_t *missing)
{
    for (int32_t r = 0; r < mapping->rank_count; r++) {
        struct nw_ints gpus = nw_launch_own_gpus(mapping, r);

        for (size_t i = 0; i < gpus.count; i++) {
            int32_t gpu = gpus.values[i],
                    *at = &place[&gpus.values[i] - mapping->gpu];

            if (mapping->node[r] != mapping->node[rank])
                continue;
            *at = by_name ? granted_gpus_find(granted, gpu) : gpu;
            if (*at < 0 || *at >= granted->count) {
                *missing = gpu;
                return false;
            }
        }
    }
    return true;
}

static nw_status granted_gpus_write_words(const struct granted *granted,
                                          const nw_mapping *placed,
                                          int32_t rank,
                                          enum nw_gpu_visibility visibility,
                                          char **out)
{
    struct nw_ints gpus = nw_launch_own_gpus(placed, rank);
    struct nw_launch_node_rank place = {0};
    struct nw_text text = {0};
    int32_t *order = NULL;
    nw_status status = NW_OK;

    if (visibility == NW_GPU_PERMUTED && granted->count) {
        status = nw_launch_node_rank_find(placed, rank, &place);
        if (!status)
            status = nw_launch_gpu_order(&place, granted->count, &order);
        gpus = (struct nw_ints){order, (size_t)granted->count};
        free((void *)(uintptr_t)place.mates.values);
    }
    if (status)
        return status;
    nw_text_add(&text, "");
    for (size_t i = 0; i < gpus.count; i++)
        nw_text_format(&text, "%s%s", i ? "," : "",
                       granted->word[gpus.values[i]]);
    free(order);
    return nw_text_take(&text, out);
}

static nw_status granted_gpus_choose(const struct granted *granted,
                                     const nw_mapping *mapping, int32_t rank,
                                     enum nw_gpu_visibility visibility,
                                     char **out)
{
    nw_mapping placed = *mapping;
    size_t count = mapping->gpu_row ? mapping->gpu_row[mapping->rank_count]
                                    : (size_t)mapping->rank_count;
    int32_t missing = 0;
    nw_status status = nw_alloc(count, sizeof *placed.gpu, &placed.gpu);

    if (status)
        return status;
    memcpy(placed.gpu, mapping->gpu, count * sizeof *placed.gpu);
    if (granted_gpus_translate(granted, mapping, rank, true, placed.gpu,
                               &missing) ||
        granted_gpus_translate(granted, mapping, rank, false, placed.gpu,
                               &missing))
        status =
            granted_gpus_write_words(granted, &placed, rank, visibility, out);
    else
        status = nw_fail(
            NW_ENODEV,
            "%s=%s grants %d GPU%s, but the mapping uses GPU %d of this node; "
            "the variable is not changed: request all GPUs of the node",
            granted->variable, getenv(granted->variable), granted->count,
            nw_plural((uint64_t)granted->count), missing);
    free(placed.gpu);
    return status;
}

nw_status nw_launch_granted_gpus(const nw_topology *topology, int32_t node,
                                 const nw_mapping *mapping, int32_t rank,
                                 enum nw_gpu_visibility visibility, char **out)
{
    struct granted granted = {
        nw_launch_granted(), NULL, NULL, 0, topology, node};
    nw_status status;

    if (!granted.variable)
        return nw_launch_gpus(topology, node, mapping, rank, visibility, out);
    *out = NULL;
    if (!nw_launch_has_gpus(mapping))
        return NW_OK;
    status = granted_gpus_split(&granted);
    if (!status)
        status = granted_gpus_choose(&granted, mapping, rank, visibility, out);
    free(granted.word);
    free(granted.text);
    return status;
}
