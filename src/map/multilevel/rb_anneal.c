/* SPDX-License-Identifier: BSD-3-Clause */
/* Between two levels of recursive sections: what the children of each cluster
 * hold is annealed among them. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "map/graph/pairwise_refine.h"
#include "map/graph/anneal_gain_table.h"

#include <stdlib.h>
#include <string.h>

/* Vertices; smaller clusters are tried less for each. */
#define FULL_TRIES 256
#define RECUT_SEED 7
/* Between few parts, cuts are settled after a share of the tries. */
#define FEW_PARTS 3
static const double few_share[FEW_PARTS + 1] = {0, 0, 0.3, 0.5};

/* The pieces of a cluster are held[first .. end - 1]. */
struct group {
    int32_t first, end;
    bool formless;
};

struct sifting {
    struct sectioning *work;
    struct group *group;
    int32_t count;
    float *noise;
    nw_status status;
};

static int by_first(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

static int32_t parent_of(const struct sectioning *work,
                         const struct piece *piece)
{
    const struct nw_tree *tree = work->tree;

    return tree
        ->cluster[piece->level + 1][tree->first[piece->level][piece->from]];
}

/* Pieces of one parent stand together in the list of processes, too. */
static void group_pieces(struct sifting *all)
{
    struct sectioning *work = all->work;
    const struct piece *held = work->held;

    qsort(work->held, (size_t)work->held_count, sizeof *work->held, by_first);
    for (int32_t i = 0; i < work->held_count; i++) {
        struct group *group = &all->group[all->count ? all->count - 1 : 0];

        if (!i || held[i].level != held[i - 1].level ||
            parent_of(work, &held[i]) != parent_of(work, &held[i - 1])) {
            group = &all->group[all->count++];
            group->first = i;
        }
        group->end = i + 1;
        work->now[all->count - 1].end = held[i].end;
        if (group->first == i)
            work->now[all->count - 1].first = held[i].first;
    }
    work->count = all->count;
}

static void read_parts(const struct sectioning *work, const struct group *group,
                       int32_t *part)
{
    int32_t begin = work->held[group->first].first;

    for (int32_t i = group->first; i < group->end; i++)
        for (int32_t k = work->held[i].first; k < work->held[i].end; k++)
            part[k - begin] = i - group->first;
}

static nw_status write_parts(struct sectioning *work, const struct group *group,
                             const int32_t *part)
{
    int32_t begin = work->held[group->first].first;
    int32_t count = work->held[group->end - 1].end - begin, *old = NULL;
    int32_t *at = NULL;
    nw_status status = nw_alloc((size_t)count, sizeof *old, &old);

    if (!status)
        status = nw_alloc((size_t)(group->end - group->first), sizeof *at, &at);
    if (!status) {
        memcpy(old, work->list + begin, (size_t)count * sizeof *old);
        for (int32_t i = group->first; i < group->end; i++)
            at[i - group->first] = work->held[i].first;
        for (int32_t k = 0; k < count; k++)
            work->list[at[part[k]]++] = old[k];
    }
    free(old);
    free(at);
    return status;
}

/* The first cut has been searched enough where there are but two parts. */
static bool is_recut(const struct sectioning *work, const struct nw_sift *sift)
{
    bool left = sift->formless ? sift->only_shaped : sift->only_formless;

    return work->section->recut && sift->parts > 2 && !left;
}

static nw_status sift(struct sifting *all, int32_t number)
{
    struct sectioning *work = all->work;
    struct group *group = &all->group[number];
    struct nw_halve_graph graph = {0};
    struct nw_sift sift = {.graph = &graph,
                           .parts = group->end - group->first,
                           .threads =
                               all->count > 1 ? 1 : work->section->threads,
                           .tries = work->section->sift,
                           .near = work->section->rounded,
                           .noise = all->noise,
                           .seed = work->section->seed * 1000003 +
                                   (uint64_t)work->now[number].first * 64 + 63};
    int32_t count = work->now[number].end - work->now[number].first;
    nw_status status;

    if (count < FULL_TRIES)
        sift.tries = sift.tries * (uint64_t)count / FULL_TRIES;
    if (sift.parts <= FEW_PARTS)
        sift.tries = (uint64_t)((double)sift.tries * few_share[sift.parts]);
    if (sift.parts < 2 || sift.parts == count ||
        !nw_sift_fits(count, sift.parts))
        return NW_OK;
    if (all->count == 1) {
        sift.budget = work->section->budget;
        sift.only_formless = work->section->only_formless && !work->sifted;
        sift.only_shaped = work->section->only_shaped && !work->sifted;
    }
    status = nw_section_graph(work, number, &graph);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *sift.part, &sift.part);
    if (!status) {
        read_parts(work, group, sift.part);
        if (work->section->rounded)
            status = nw_section_round(work, &work->now[number], &sift);
    }
    if (!status)
        status = nw_sift(&sift);
    if (!status && is_recut(work, &sift))
        status = nw_recut(&(struct nw_recut){&graph, sift.parts, sift.part,
                                             sift.seed + RECUT_SEED});
    if (!status)
        status = write_parts(work, group, sift.part);
    group->formless = sift.formless;
    free(sift.part);
    nw_halve_graph_fini(&graph);
    return status;
}

static void sift_job(void *user, int32_t number)
{
    struct sifting *all = user;
    nw_status status = sift(all, number);

    if (status)
        __atomic_store_n(&all->status, status, __ATOMIC_RELAXED);
}

nw_status nw_section_sift(struct sectioning *work)
{
    struct sifting all = {.work = work};
    nw_status status =
        nw_alloc((size_t)work->held_count, sizeof *all.group, &all.group);

    if (!status)
        status = nw_sift_noise_new(&all.noise);
    if (!status) {
        group_pieces(&all);
        nw_section_number(work);
        status = nw_section_share_out(work, sift_job, &all);
        if (!work->sifted)
            work->section->formless = all.group[0].formless;
        work->sifted = true;
    }
    free(all.group);
    free(all.noise);
    return status ? status : all.status;
}
