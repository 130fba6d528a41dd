/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that all creations have in common. */
#include "runtime/reorder/reorder.h"

#include "runtime/warn.h"

#include <nodewise/cost.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool nw_call_open(struct nw_call *call, const char *name, MPI_Comm comm,
                  int reorder)
{
    int inter = 1, mode = nw_reorder_settings()->mode;

    memset(call, 0, sizeof *call);
    call->name = name;
    call->comm = comm;
    call->wanted =
        (reorder && mode != NW_REORDER_OFF) || mode == NW_REORDER_FORCE;
    if (comm == MPI_COMM_NULL || NW_PMPI(Comm_test_inter)(comm, &inter) ||
        inter)
        return false;
    call->begun = NW_PMPI(Wtime)();
    NW_PMPI(Comm_rank)(comm, &call->rank);
    NW_PMPI(Comm_size)(comm, &call->size);
    call->mine = -1;
    call->members = nw_reorder_members(comm);
    return call->members != NULL;
}

void nw_call_close(struct nw_call *call)
{
    free(call->decision.vertex);
    call->decision.vertex = NULL;
}

bool nw_call_decide(struct nw_call *call, const nw_pattern *graph)
{
    if (!nw_decide(call->members, graph, nw_reorder_settings(),
                   &call->decision))
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
    if (NW_PMPI(Bcast)(call->decision.vertex, call->size, MPI_INT, 0,
                       call->comm))
        return false;
    call->mine = call->decision.vertex[call->rank];
    return true;
}

/* Numbers are all the same where n times the sum of their squares is the
 * square of their sum (Cauchy and Schwarz): one addition over all ranks tells,
 * with whatever else is to be added up. */
#define HASH_BITS 20

static bool all_same(uint64_t count, uint64_t sum, uint64_t squares)
{
    return (nw_uint128)count * squares == (nw_uint128)sum * sum;
}

bool nw_call_sum(const struct nw_call *call, bool good, uint64_t hash,
                 uint64_t cost[2])
{
    uint64_t low = hash & ((1u << HASH_BITS) - 1), high = hash >> 44;
    uint64_t mine[] = {good,        low,     high,   low * low,
                       high * high, cost[0], cost[1]};
    uint64_t all[7] = {0}, count = (uint64_t)call->size;

    if (NW_PMPI(Allreduce)(mine, all, 7, MPI_UINT64_T, MPI_SUM, call->comm))
        return false;
    cost[0] = all[5];
    cost[1] = all[6];
    return all[0] == count && all_same(count, all[1], all[3]) &&
           all_same(count, all[2], all[4]);
}

bool nw_call_agree(const struct nw_call *call, bool good, uint64_t hash)
{
    return nw_call_sum(call, good, hash, (uint64_t[2]){0});
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
    return NW_PMPI(Comm_split)(call->comm, call->mine < 0 ? MPI_UNDEFINED : 0,
                               call->mine, out);
}

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hash = (hash ^ (uint64_t)(uint32_t)values[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}
