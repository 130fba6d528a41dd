/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts an answer, in which ranks have hosts and units, to a mapping, in
 * which they have nodes, cores and GPUs. */
#include "map/problem/problem.h"
#include "base/array.h"
#include "base/parallel.h"
#include "map/common/budget.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

nw_status nw_answer_init(struct nw_answer *answer, int32_t rank_count)
{
    size_t n = (size_t)rank_count;
    nw_status status;

    *answer = (struct nw_answer){0};
    status = NW_ALLOC_ALL(NW_ARRAY_RAW(n, answer->host),
                          NW_ARRAY_RAW(n, answer->core),
                          NW_ARRAY_RAW(n, answer->gpu));
    for (size_t r = 0; !status && r < n; r++)
        answer->host[r] = answer->core[r] = answer->gpu[r] = -1;
    return status;
}

nw_status nw_answer_allow_remote(struct nw_answer *answer, int32_t rank_count)
{
    size_t n = (size_t)rank_count;
    nw_status status;

    if (answer->gpu_host)
        return NW_OK;
    status = nw_alloc(n, sizeof *answer->gpu_host, &answer->gpu_host);
    if (!status)
        memcpy(answer->gpu_host, answer->host, n * sizeof *answer->gpu_host);
    return status;
}

void nw_answer_fini(struct nw_answer *answer)
{
    NW_FREE_ALL(answer->host, answer->core, answer->gpu, answer->gpu_host);
    *answer = (struct nw_answer){0};
}

/* Arguments for filling either the cores or the GPUs of a mapping. */
struct to_mapping_work {
    const struct nw_problem *problem;
    const struct nw_units *units;
    const int32_t *unit; /* [ranks] unit of each rank; -1: none */
    bool gpus;           /* true: GPUs; false: cores */
    /* out: cores or GPUs of all ranks, in the order of the ranks */
    int32_t **values;
    size_t **row; /* out: [ranks + 1] index of each rank's first value in
                   *values; stays NULL if no rank has several values */
};

/* Returns the cores, or GPUs, of a rank: those to which it is fixed, otherwise
 * those of its unit. */
static struct nw_ints to_mapping_set_of(const struct to_mapping_work *fill,
                                        int32_t rank)
{
    struct nw_ints fixed = nw_problem_fixed(fill->problem, fill->gpus, rank);

    return fixed.count ? fixed
                       : nw_units_members(fill->units, fill->unit[rank]);
}

/* Writes the cores, or GPUs, of all ranks if some ranks have several. `total`
 * is the number over all ranks. */
static nw_status to_mapping_fill_rows(const struct to_mapping_work *fill,
                                      size_t total)
{
    size_t n = (size_t)fill->problem->pattern->rank_count, at = 0;
    int32_t *values;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY(n + 1, *fill->row), NW_ARRAY(total, values));

    if (status)
        return status;
    for (size_t r = 0; r < n; r++) {
        struct nw_ints set = to_mapping_set_of(fill, (int32_t)r);

        for (size_t i = 0; i < set.count; i++)
            values[at++] = set.values[i];
        (*fill->row)[r + 1] = at;
    }
    free(*fill->values);
    *fill->values = values;
    return NW_OK;
}

/* Job `part` of NW_PARALLEL_RANGES: writes the only core or GPU of each rank of
 * its range; -1 for a rank without one. `user` is a struct to_mapping_work. */
static void to_mapping_fill_single(void *user, int32_t part)
{
    const struct to_mapping_work *fill = user;
    struct nw_parallel_range mine =
        nw_parallel_range(fill->problem->pattern->rank_count, part);

    for (int64_t r = mine.first; r < mine.end; r++) {
        struct nw_ints set = to_mapping_set_of(fill, (int32_t)r);

        (*fill->values)[r] = set.count ? set.values[0] : -1;
    }
}

/* Writes the cores, or GPUs, of all ranks. */
static nw_status to_mapping_fill(struct to_mapping_work *fill)
{
    const struct nw_problem *problem = fill->problem;
    int32_t n = problem->pattern->rank_count;
    bool several = fill->units->size > 1 || problem->fixed_host;
    bool alone = n < nw_tuned.threads.slots_min || !problem->budget;
    size_t total = 0;
    bool single = true;

    for (int32_t r = 0; several && r < n; r++) {
        size_t count = to_mapping_set_of(fill, r).count;

        total += count;
        single = single && count <= 1;
    }
    if (!single)
        return to_mapping_fill_rows(fill, total);
    nw_parallel_run(to_mapping_fill_single, fill, NW_PARALLEL_RANGES,
                    alone ? 1 : problem->budget->threads);
    return NW_OK;
}

/* Writes the node of each rank's GPU if GPUs may be on other nodes. */
static nw_status to_mapping_fill_remote(const struct nw_answer *answer,
                                        const struct nw_problem *problem,
                                        nw_mapping *mapping)
{
    size_t n = (size_t)mapping->rank_count;
    nw_status status;

    if (!answer->gpu_host)
        return NW_OK;
    status = nw_alloc(n, sizeof *mapping->gpu_node, &mapping->gpu_node);
    for (size_t r = 0; !status && r < n; r++) {
        int32_t host = answer->gpu_host[r];

        mapping->gpu_node[r] = host < 0 ? -1 : problem->host[host];
    }
    return status;
}

nw_status nw_answer_to_mapping(const struct nw_answer *answer,
                               const struct nw_problem *problem,
                               nw_mapping **out)
{
    nw_mapping *mapping = NULL;
    int32_t n = problem->pattern->rank_count;
    nw_status status = nw_mapping_new(problem->topology, n, &mapping);

    if (status)
        return status;
    for (int32_t r = 0; r < n; r++)
        mapping->node[r] = problem->host[answer->host[r]];
    status = to_mapping_fill(
        &(struct to_mapping_work){problem, &problem->core, answer->core, false,
                                  &mapping->core, &mapping->core_row});
    if (!status)
        status = to_mapping_fill(
            &(struct to_mapping_work){problem, &problem->gpu, answer->gpu, true,
                                      &mapping->gpu, &mapping->gpu_row});
    if (!status)
        status = to_mapping_fill_remote(answer, problem, mapping);
    if (status)
        nw_mapping_free(mapping);
    else
        *out = mapping;
    return status;
}
