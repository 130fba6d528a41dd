/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the kinds of pairs in the job, and the fraction of an exchange that
 * each takes. A measurement compares methods for the kinds with large shares.
 * Each rank reports only the few kinds with its largest shares. */
#include "halo/exchange/groups.h"

#include <stdlib.h>
#include <string.h>

static int by_share(const void *a, const void *b)
{
    const struct nw_halo_kind *x = a, *y = b;

    if (x->share != y->share)
        return x->share > y->share ? -1 : 1;
    return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Merges `kind` into the list's entry of the same kind, or appends it. The
 * shares are added if `sum` is true; otherwise the larger one is kept. */
static void pair_kinds_merge(struct nw_halo_kind *list, size_t *count,
                             const struct nw_halo_kind *kind, bool sum)
{
    size_t i = 0;

    while (i < *count && list[i].kind != kind->kind)
        i++;
    if (i == *count) {
        list[(*count)++] = *kind;
        return;
    }
    list[i].methods |= kind->methods;
    list[i].current |= kind->current;
    if (sum)
        list[i].share += kind->share;
    else if (kind->share > list[i].share)
        list[i].share = kind->share;
}

/* Lists the kinds of this rank's groups, with their predicted seconds as
 * shares. Returns the number of kinds. The array `list` must have at least one
 * element per group. */
static size_t pair_kinds_list_own(const struct nw_halo_groups *groups,
                                  struct nw_halo_kind *list)
{
    size_t count = 0;

    for (size_t i = 0; i < groups->count; i++) {
        const struct nw_halo_group *group = &groups->item[i];
        enum nw_halo_method id = group->current->id;
        struct nw_halo_kind kind = {
            .kind = group->kind,
            .methods = group->methods,
            .current = NW_HALO_BIT(id),
            .class = (int32_t)group->class,
            .share = nw_halo_model(id, &group->traffic),
        };

        pair_kinds_merge(list, &count, &kind, true);
    }
    return count;
}

/* Copies the kinds with the largest shares to `out`, and converts the shares to
 * fractions of the total time. Unused entries become zero. */
static void tell_greatest(struct nw_halo_kind *list, size_t count,
                          struct nw_halo_kind out[NW_HALO_KINDS_TOLD])
{
    double sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += list[i].share;
    qsort(list, count, sizeof *list, by_share);
    memset(out, 0, NW_HALO_KINDS_TOLD * sizeof *out);
    for (size_t i = 0; i < count && i < NW_HALO_KINDS_TOLD; i++) {
        out[i] = list[i];
        out[i].share /= sum;
    }
}

static nw_status
pair_kinds_find_own(const nw_halo *halo,
                    struct nw_halo_kind out[NW_HALO_KINDS_TOLD])
{
    struct nw_halo_groups groups = {.count = 0};
    struct nw_halo_kind *list = NULL;
    nw_status status = nw_halo_groups_make(halo, &groups);

    if (!status)
        status = nw_alloc(groups.count + 1, sizeof *list, &list);
    if (!status)
        tell_greatest(list, pair_kinds_list_own(&groups, list), out);
    nw_halo_groups_fini(&groups);
    free(list);
    return status;
}

nw_status nw_halo_kinds_find(const nw_halo *halo, struct nw_halo_kind **out,
                             size_t *count)
{
    struct nw_halo_kind own[NW_HALO_KINDS_TOLD], *all = NULL;
    size_t told = (size_t)halo->size * NW_HALO_KINDS_TOLD, merged = 0;
    int bytes = sizeof own;
    nw_status status = pair_kinds_find_own(halo, own);

    if (!status)
        status = nw_alloc(told, sizeof *all, &all);
    status = nw_halo_agree(halo->comm, status);
    if (!status)
        status = nw_halo_mpi(NW_PMPI(Allgather)(own, bytes, MPI_BYTE, all,
                                                bytes, MPI_BYTE, halo->comm),
                             "compare the pairs of a halo");
    if (status) {
        free(all);
        return status;
    }
    for (size_t i = 0; i < told; i++) {
        struct nw_halo_kind kind = all[i];

        if (kind.methods)
            pair_kinds_merge(all, &merged, &kind, false);
    }
    qsort(all, merged, sizeof *all, by_share);
    *out = all;
    *count = merged;
    return NW_OK;
}
