/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps that all calls of this folder have in common: checks, agreement
 * between the ranks, the report, and the new communicator. */
#include "runtime/reorder/reorder.h"

#include "base/hash.h"
#include "base/text.h"
#include "runtime/warn.h"

#include <nodewise/cost.h>
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
    nw_unused_note(call);
    if (comm == MPI_COMM_NULL || NW_PMPI(Comm_test_inter)(comm, &inter) ||
        inter)
        return false;
    call->begun = NW_PMPI(Wtime)();
    NW_PMPI(Comm_rank)(comm, &call->rank);
    NW_PMPI(Comm_size)(comm, &call->size);
    call->mine = -1;
    call->opened = nw_reorder_members(comm, &call->members);
    call->wanted = call->wanted && call->members;
    return call->opened;
}

bool nw_call_reserve(struct nw_call *call)
{
    size_t bytes = (size_t)call->size * sizeof(int);

    call->order = malloc(bytes);
    if (call->rank) /* nw_call_decide allocates that of rank 0 */
        call->decision.vertex = malloc(bytes);
    return call->order && (!call->rank || call->decision.vertex);
}

void nw_call_close(struct nw_call *call)
{
    free(call->decision.vertex);
    call->decision.vertex = NULL;
    free(call->order);
    call->order = NULL;
}

bool nw_call_decide(struct nw_call *call, const nw_pattern *graph)
{
    if (!nw_decide(call->members, graph, nw_reorder_settings(),
                   &call->decision))
        return true;
    nw_warn_once("%s: not reordered: %s", call->name, nw_error_text());
    return false;
}

/* The message with which rank 0 sends its verdict to all ranks. */
struct call_verdict {
    double before, after;
    int good, changes, refused;
};

/* A rank that has no room for the vertices cannot receive them, so they come
 * in a message of their own after the verdict. */
bool nw_call_share(struct nw_call *call, bool good)
{
    if (!nw_call_verdict(call, good))
        return false;
    if (!call->decision.changes)
        return true;
    if (NW_PMPI(Bcast)(call->decision.vertex, call->size, MPI_INT, 0,
                       call->comm))
        return false;
    call->mine = call->decision.vertex[call->rank];
    call->knows_all = true;
    return true;
}

bool nw_call_verdict(struct nw_call *call, bool good)
{
    struct call_verdict share = {call->decision.before, call->decision.after,
                                 good, good && call->decision.changes,
                                 call->refused};

    if (NW_PMPI(Bcast)(&share, sizeof share, MPI_BYTE, 0, call->comm))
        return false;
    call->refused = share.refused;
    if (!share.good)
        return false;
    call->decision.before = share.before;
    call->decision.after = share.after;
    call->decision.changes = share.changes;
    return true;
}

/* all_same returns true if `count` numbers with this sum and this sum of
 * squares are all equal. They are equal exactly if count times the sum of their
 * squares is the square of their sum (Cauchy-Schwarz inequality). So the
 * all-reduce that sums the costs can also compare the hashes of all ranks. */
#define HASH_BITS 20

static bool all_same(uint64_t count, uint64_t sum, uint64_t squares)
{
    return (nw_uint128)count * squares == (nw_uint128)sum * sum;
}

/* The words of the all-reduce: `good` (1 if this rank has not failed), the
 * lowest and the highest HASH_BITS bits of the hash, the squares of these two
 * numbers, two costs of the caller, which are summed, and whether the arguments
 * are bad. */
#define WORDS 8

static void say_mine(const struct nw_call *call, uint64_t word[WORDS],
                     bool good, uint64_t hash, const uint64_t cost[2])
{
    uint64_t low = hash & ((1u << HASH_BITS) - 1), high = hash >> 44;
    uint64_t mine[WORDS] = {good,        low,     high,    low * low,
                            high * high, cost[0], cost[1], call->bad};

    memcpy(word, mine, sizeof mine);
}

static bool all_agree(struct nw_call *call, const uint64_t word[WORDS])
{
    uint64_t count = (uint64_t)call->size;

    call->refused = word[7] && word[7] < count;
    return word[0] == count && all_same(count, word[1], word[3]) &&
           all_same(count, word[2], word[4]);
}

bool nw_call_sum(struct nw_call *call, bool good, uint64_t hash,
                 uint64_t cost[2])
{
    uint64_t mine[WORDS], all[WORDS] = {0};

    say_mine(call, mine, good, hash, cost);
    if (NW_PMPI(Allreduce)(mine, all, WORDS, MPI_UINT64_T, MPI_SUM, call->comm))
        return false;
    cost[0] = all[5];
    cost[1] = all[6];
    return all_agree(call, all);
}

bool nw_call_tell(struct nw_call *call, bool good, uint64_t hash)
{
    uint64_t mine[WORDS], all[WORDS] = {0};

    say_mine(call, mine, good, hash, (uint64_t[2]){0});
    good = !NW_PMPI(Reduce)(mine, all, WORDS, MPI_UINT64_T, MPI_SUM, 0,
                            call->comm);
    return good && (call->rank || all_agree(call, all));
}

int nw_call_refuse(const struct nw_call *call, int error)
{
    if (!call->rank)
        nw_warn_once(
            "%s: some ranks' arguments are bad, so the call fails on all ranks",
            call->name);
    NW_PMPI(Comm_call_errhandler)(call->comm, error);
    return error;
}

bool nw_call_report(struct nw_call *call, const char *shape)
{
    const struct nw_decision *decision = &call->decision;
    bool report = nw_reorder_settings()->mode == NW_REORDER_REPORT;
    double gain = decision->before > 0
                      ? 100 * (1 - decision->after / decision->before)
                      : 0;

    call->settled = true;
    if (!call->rank && !nw_reorder_settings()->quiet)
        nw_say("%s %s on %d rank%s: %.4g hop-bytes -> %.4g (%.1f %% less), "
               "%s, %.2f ms",
               call->name, shape, call->size, nw_plural((uint64_t)call->size),
               decision->before, decision->after, gain,
               !decision->changes ? "left as it is"
               : report           ? "would be reordered"
                                  : "reordered",
               1e3 * (NW_PMPI(Wtime)() - call->begun));
    call->moved = decision->changes && !report;
    return call->moved;
}

int nw_call_reorder(const struct nw_call *call, int reorder)
{
    bool report = nw_reorder_settings()->mode == NW_REORDER_REPORT;

    return call->settled && !report ? 0 : reorder;
}

/* Copies the error handler, because MPICH's MPI_Comm_create does not inherit
 * it. */
static void inherit_handler(MPI_Comm from, MPI_Comm to)
{
    MPI_Errhandler handler;

    if (NW_PMPI(Comm_get_errhandler)(from, &handler))
        return;
    NW_PMPI(Comm_set_errhandler)(to, handler);
    NW_PMPI(Errhandler_free)(&handler);
}

/* Creates the communicator from call->decision.vertex, which all ranks know. */
static int create_in_order(const struct nw_call *call, MPI_Comm *out)
{
    int *member = call->order, count = 0, code;
    MPI_Group all, ordered;

    for (int i = 0; i < call->size; i++)
        if (call->decision.vertex[i] >= 0) {
            member[call->decision.vertex[i]] = i;
            count++;
        }
    code = NW_PMPI(Comm_group)(call->comm, &all);
    if (!code) {
        code = NW_PMPI(Group_incl)(all, count, member, &ordered);
        NW_PMPI(Group_free)(&all);
    }
    if (code)
        return code;
    code = NW_PMPI(Comm_create)(call->comm, ordered, out);
    NW_PMPI(Group_free)(&ordered);
    if (!code && *out != MPI_COMM_NULL)
        inherit_handler(call->comm, *out);
    return code;
}

int nw_call_permute(const struct nw_call *call, MPI_Comm *out)
{
    if (call->knows_all)
        return create_in_order(call, out);
    return NW_PMPI(Comm_split)(call->comm, call->mine < 0 ? MPI_UNDEFINED : 0,
                               call->mine, out);
}

uint64_t nw_hash_ints(uint64_t hash, const int *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = nw_hash_word(hash, (uint32_t)values[i]);
    return hash;
}
