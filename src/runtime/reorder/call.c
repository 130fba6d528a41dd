/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that all creations have in common. */
#include "runtime/reorder/reorder.h"

#include "runtime/warn.h"

#include <nodewise/status.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool find_members(struct nw_call *call)
{
    MPI_Group group;
    int *ranks = malloc((size_t)call->size * sizeof *ranks);
    bool good = ranks && !NW_PMPI(Comm_group)(call->comm, &group);

    call->world = malloc((size_t)call->size * sizeof *call->world);
    for (int i = 0; good && i < call->size; i++)
        ranks[i] = i;
    if (good) {
        good = call->world && !NW_PMPI(Group_translate_ranks)(
                                  group, call->size, ranks,
                                  nw_reorder_site()->world, call->world);
        NW_PMPI(Group_free)(&group);
    }
    for (int i = 0; good && i < call->size; i++)
        good = call->world[i] != MPI_UNDEFINED;
    free(ranks);
    return good;
}

bool nw_call_open(struct nw_call *call, const char *name, MPI_Comm comm,
                  int reorder)
{
    int inter = 1;

    memset(call, 0, sizeof *call);
    call->name = name;
    call->comm = comm;
    call->wanted = reorder || nw_reorder_settings()->mode == NW_REORDER_FORCE;
    if (comm == MPI_COMM_NULL || NW_PMPI(Comm_test_inter)(comm, &inter) ||
        inter)
        return false;
    call->begun = NW_PMPI(Wtime)();
    NW_PMPI(Comm_rank)(comm, &call->rank);
    NW_PMPI(Comm_size)(comm, &call->size);
    if (find_members(call))
        return true;
    nw_call_close(call);
    return false;
}

void nw_call_close(struct nw_call *call)
{
    free(call->world);
    free(call->decision.vertex);
    call->world = NULL;
    call->decision.vertex = NULL;
}

bool nw_call_decide(struct nw_call *call, const nw_pattern *graph)
{
    struct nw_members members = {nw_reorder_site(), call->world, call->size};

    if (!nw_decide(&members, graph, nw_reorder_settings(), &call->decision))
        return true;
    nw_warn_once("%s: not reordered: %s", call->name, nw_error_text());
    return false;
}

bool nw_call_share(struct nw_call *call, bool good)
{
    struct {
        double before, after;
        int good, changes;
    } head = {call->decision.before, call->decision.after, good,
              call->decision.changes};

    NW_PMPI(Bcast)(&head, sizeof head, MPI_BYTE, 0, call->comm);
    if (!head.good)
        return false;
    call->decision.before = head.before;
    call->decision.after = head.after;
    call->decision.changes = head.changes;
    if (!head.changes)
        return true;
    if (call->rank)
        call->decision.vertex =
            malloc((size_t)call->size * sizeof *call->decision.vertex);
    return !NW_PMPI(Bcast)(call->decision.vertex, call->size, MPI_INT, 0,
                           call->comm);
}

bool nw_call_agree(const struct nw_call *call, bool good, uint64_t hash)
{
    uint64_t mine[3] = {good, hash, ~hash}, all[3] = {0};

    if (NW_PMPI(Allreduce)(mine, all, 3, MPI_UINT64_T, MPI_MIN, call->comm))
        return false;
    return all[0] && all[1] == ~all[2];
}

bool nw_call_report(struct nw_call *call, const char *shape)
{
    const struct nw_decision *decision = &call->decision;
    bool report = nw_reorder_settings()->mode == NW_REORDER_REPORT;
    double gain = decision->before > 0
                      ? 100 * (1 - decision->after / decision->before)
                      : 0;

    call->settled = true;
    if (!call->rank)
        fprintf(stderr,
                "nodewise: %s %s on %d ranks: %.4g hop-bytes -> %.4g "
                "(%.1f %% less), %s, %.2f ms\n",
                call->name, shape, call->size, decision->before,
                decision->after, gain,
                !decision->changes ? "left as it is"
                : report           ? "would be reordered"
                                   : "reordered",
                1e3 * (NW_PMPI(Wtime)() - call->begun));
    return decision->changes && !report;
}

int nw_call_reorder(const struct nw_call *call, int reorder)
{
    bool report = nw_reorder_settings()->mode == NW_REORDER_REPORT;

    return call->settled && !report ? 0 : reorder;
}

int nw_call_permute(const struct nw_call *call, MPI_Comm *out)
{
    int vertex = call->decision.vertex[call->rank];

    return NW_PMPI(Comm_split)(call->comm, vertex < 0 ? MPI_UNDEFINED : 0,
                               vertex < 0 ? 0 : vertex, out);
}

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)(uint32_t)values[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}
