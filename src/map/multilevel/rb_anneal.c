/* SPDX-License-Identifier: BSD-3-Clause */
/* Anneals between two levels of a recursive bisection: moves processes between
 * the children of each cluster, before these children are bisected. */
#include "map/multilevel/rb_internal.h"
#include "base/array.h"
#include "map/graph/pairwise_refine.h"
#include "map/common/parameters.h"

#include <stdlib.h>
#include <string.h>

#define PAIRWISE_SEED 7

/* Returns the number of annealing trials for a cluster with this many children:
 * `tries` if there are more than three, else a share of `tries`. */
static uint64_t rb_anneal_tries_among(int32_t parts, uint64_t tries)
{
    double share = parts > 2 ? nw_tuned.multilevel.three_parts_share
                             : nw_tuned.multilevel.two_parts_share;

    return parts > 3 ? tries : (uint64_t)((double)tries * share);
}

/* A group: the pieces held[first] .. held[end - 1], one for each child of one
 * cluster that has processes. */
struct rb_anneal_group {
    int32_t first, end;
    bool expander_like;
};

/* All groups of one level, which threads anneal independently. */
struct rb_anneal_work {
    struct sectioning *work;
    struct rb_anneal_group *group; /* [count] the groups */
    int32_t count;
};

/* Compares pieces for qsort by the positions of their processes in the list. */
static int rb_anneal_by_first(const void *left, const void *right)
{
    const struct piece *a = left, *b = right;

    return (a->first > b->first) - (a->first < b->first);
}

/* Returns the cluster that is the parent of the piece's cluster. */
static int32_t rb_anneal_parent_of(const struct sectioning *work,
                                   const struct piece *piece)
{
    const struct nw_hierarchy *hierarchy = work->hierarchy;

    return hierarchy->cluster[piece->level + 1]
                             [hierarchy->first[piece->level][piece->from]];
}

/* Sorts the held pieces so that those on children of the same cluster are
 * consecutive, and makes a group of them. The processes of group i are
 * consecutive in the list of processes; work->now[i] gets their range. */
static void rb_anneal_group_pieces(struct rb_anneal_work *all)
{
    struct sectioning *work = all->work;
    const struct piece *held = work->held;

    qsort(work->held, (size_t)work->held_count, sizeof *work->held,
          rb_anneal_by_first);
    for (int32_t i = 0; i < work->held_count; i++) {
        struct rb_anneal_group *group =
            &all->group[all->count ? all->count - 1 : 0];

        if (!i || held[i].level != held[i - 1].level ||
            rb_anneal_parent_of(work, &held[i]) !=
                rb_anneal_parent_of(work, &held[i - 1])) {
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

/* Sets part[k] to the piece of the group's k-th process, numbered from 0 within
 * the group. */
static void rb_anneal_read_parts(const struct sectioning *work,
                                 const struct rb_anneal_group *group,
                                 int32_t *part)
{
    int32_t begin = work->held[group->first].first;

    for (int32_t i = group->first; i < group->end; i++)
        for (int32_t k = work->held[i].first; k < work->held[i].end; k++)
            part[k - begin] = i - group->first;
}

/* Sorts the processes of a group in the list by their parts, so that each piece
 * gets the processes of one part. */
static nw_status rb_anneal_write_parts(struct sectioning *work,
                                       const struct rb_anneal_group *group,
                                       const int32_t *part)
{
    int32_t begin = work->held[group->first].first;
    int32_t count = work->held[group->end - 1].end - begin, *old = NULL;
    int32_t *at = NULL;
    nw_status status =
        NW_ALLOC_ALL(NW_ARRAY((size_t)count, old),
                     NW_ARRAY((size_t)(group->end - group->first), at));

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

/* Returns true if pairs of parts are refined after annealing: there are more
 * than two parts, and the annealing was made. Two parts were already refined by
 * the bisection. */
static bool rb_anneal_is_refined_pairwise(const struct sectioning *work,
                                          const struct nw_anneal_kway *anneal)
{
    bool left = anneal->expander_like ? anneal->only_separable
                                      : anneal->only_expander_like;

    return work->bisection->pairwise && anneal->parts > 2 && !left;
}

/* Anneals the processes of group `number`: moves them among its pieces. `user`
 * is a struct rb_anneal_work; a task for threads. */
static nw_status rb_anneal_cluster(void *user, int32_t number)
{
    struct rb_anneal_work *all = user;
    struct sectioning *work = all->work;
    struct rb_anneal_group *group = &all->group[number];
    struct nw_graph graph = {0};
    struct nw_anneal_kway anneal = {
        .graph = &graph,
        .parts = group->end - group->first,
        .threads = all->count > 1 ? 1 : work->bisection->threads,
        .tries = work->bisection->anneal,
        .near = work->bisection->rounded,
        .seed = work->bisection->seed * 1000003 +
                (uint64_t)work->now[number].first * 64 + 63};
    int32_t count = work->now[number].end - work->now[number].first;
    nw_status status;

    if (count < nw_tuned.multilevel.anneal_full)
        anneal.tries =
            anneal.tries * (uint64_t)count / nw_tuned.multilevel.anneal_full;
    anneal.tries = rb_anneal_tries_among(anneal.parts, anneal.tries);
    if (anneal.parts < 2 || anneal.parts == count ||
        !nw_anneal_kway_fits(count, anneal.parts))
        return NW_OK;
    if (all->count == 1) {
        anneal.budget = work->bisection->budget;
        anneal.only_expander_like =
            work->bisection->only_expander_like && !work->annealed;
        anneal.only_separable =
            work->bisection->only_separable && !work->annealed;
    }
    status =
        nw_graph_subgraph(&work->graph, work->list + work->now[number].first,
                          count, work->place, &graph);
    if (!status)
        status = nw_alloc((size_t)count, sizeof *anneal.part, &anneal.part);
    if (!status) {
        rb_anneal_read_parts(work, group, anneal.part);
        if (work->bisection->rounded)
            status = nw_rb_power_diagram(work, &work->now[number], &anneal);
    }
    if (!status)
        status = nw_anneal_kway(&anneal);
    if (!status && rb_anneal_is_refined_pairwise(work, &anneal))
        status = nw_pairwise_refine(&graph, anneal.parts, anneal.part,
                                    anneal.seed + PAIRWISE_SEED);
    if (!status)
        status = rb_anneal_write_parts(work, group, anneal.part);
    group->expander_like = anneal.expander_like;
    free(anneal.part);
    nw_graph_fini(&graph);
    return status;
}

nw_status nw_rb_anneal(struct sectioning *work)
{
    struct rb_anneal_work all = {.work = work};
    nw_status status =
        nw_alloc((size_t)work->held_count, sizeof *all.group, &all.group);

    if (!status) {
        rb_anneal_group_pieces(&all);
        status = nw_rb_share_out(work, rb_anneal_cluster, &all);
        if (!work->annealed)
            work->bisection->expander_like = all.group[0].expander_like;
        work->annealed = true;
    }
    free(all.group);
    return status;
}
