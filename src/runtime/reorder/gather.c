/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers lists on rank 0, in one stage or in two. In each stage, the lengths
 * of the lists are gathered first. Then all ranks learn whether to go on or to
 * fail. Then the lists are gathered. */
#include "runtime/reorder/gather.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* Number of ranks from which NW_GATHER_AUTO gathers in two stages. */
#define LARGE 4096

static int reorder_gather_node_of(const struct nw_call *call, int rank)
{
    const struct nw_members *members = call->members;

    return members->job->location[members->world[rank]].node;
}

static bool is_leader(const struct nw_gather *gather)
{
    return gather->stages > 1 && !gather->stage[0].rank;
}

/* --- opening and closing of stages --- */

/* Returns false if memory is exhausted. */
static bool open_stage(struct nw_gather_stage *stage)
{
    size_t size;

    NW_PMPI(Comm_rank)(stage->comm, &stage->rank);
    NW_PMPI(Comm_size)(stage->comm, &stage->size);
    size = (size_t)stage->size;
    return stage->rank || !NW_ALLOC_ALL(NW_ARRAY(size, stage->count),
                                        NW_ARRAY(size, stage->place));
}

/* Opens two stages: the ranks of each node, and the leaders of the nodes. The
 * lowest rank of a node is its leader, so rank 0 is also rank 0 of the leaders.
 * Also allocates the arrays of nw_gather_answer, which may not fail alone.
 * Returns false if memory is exhausted on this rank. */
static bool open_nodes(struct nw_gather *gather)
{
    const struct nw_call *call = gather->call;
    struct nw_gather_stage *local = &gather->stage[0],
                           *leaders = &gather->stage[1];

    bool good;

    NW_PMPI(Comm_split)
    (call->comm, nw_reorder_own_node(), call->rank, &local->comm);
    good = open_stage(local);
    NW_PMPI(Comm_split)
    (call->comm, local->rank ? MPI_UNDEFINED : 0, call->rank, &leaders->comm);
    if (local->rank)
        return good;
    good &= open_stage(leaders) &&
            !nw_alloc(2 * (size_t)local->size, sizeof(int), &gather->ours);
    if (!call->rank && call->members)
        good &= !NW_ALLOC_ALL(
            NW_ARRAY(2 * (size_t)call->size, gather->sorted),
            NW_ARRAY((size_t)call->members->job->node_count, gather->leader));
    return good;
}

/* Returns false on all ranks if memory is exhausted on any rank. Collective. */
static bool open_stages(struct nw_gather *gather, const struct nw_call *call)
{
    int how = nw_reorder_settings()->gather;
    bool by_node =
        how == NW_GATHER_AUTO ? call->size >= LARGE : how == NW_GATHER_NODE;

    memset(gather, 0, sizeof *gather);
    gather->call = call;
    gather->stages = by_node ? 2 : 1;
    gather->stage[0].comm = call->comm;
    gather->stage[1].comm = MPI_COMM_NULL;
    return nw_all_ranks(call->comm, by_node ? open_nodes(gather)
                                            : open_stage(&gather->stage[0]));
}

void nw_gather_close(struct nw_gather *gather)
{
    for (int i = 0; i < gather->stages; i++) {
        struct nw_gather_stage *stage = &gather->stage[i];

        if (gather->stages > 1 && stage->comm != MPI_COMM_NULL)
            NW_PMPI(Comm_free)(&stage->comm);
        free(stage->count);
        free(stage->place);
        free(stage->words);
    }
    free(gather->ours);
    free(gather->sorted);
    free(gather->leader);
    memset(gather, 0, sizeof *gather);
}

/* --- from the ranks to rank 0 --- */

/* Codes that a rank sends instead of the length of its list. TROUBLE: Nodewise
 * has failed, or reordering is not requested, on this rank or on a rank whose
 * list it has gathered ("below it"). ALL_BAD: the arguments are invalid on all
 * ranks below it. SOME_BAD: they are invalid on some of them. */
enum { TROUBLE = -1, ALL_BAD = -2, SOME_BAD = -3 };

static int trouble_below(const struct nw_gather_stage *stage)
{
    int bad = 0, trouble = 0;

    for (int i = 0; i < stage->size; i++) {
        if (stage->count[i] == SOME_BAD)
            return SOME_BAD;
        bad += stage->count[i] == ALL_BAD;
        trouble |= stage->count[i] < 0;
    }
    return bad == stage->size ? ALL_BAD
           : bad              ? SOME_BAD
           : trouble          ? TROUBLE
                              : 0;
}

/* At rank 0 of the stage, gathers the lengths, allocates memory for all lists,
 * and returns the total length, or a negative code (TROUBLE, ALL_BAD or
 * SOME_BAD). Returns 0 on the other ranks. Collective. */
static int count_up(struct nw_gather_stage *stage, int mine)
{
    int trouble;

    NW_PMPI(Gather)
    (&mine, 1, MPI_INT, stage->count, 1, MPI_INT, 0, stage->comm);
    if (stage->rank)
        return 0;
    trouble = trouble_below(stage);
    for (int i = 0; !trouble && i < stage->size; i++) {
        if (stage->total > INT32_MAX - stage->count[i])
            return TROUBLE;
        stage->place[i] = stage->total;
        stage->total += stage->count[i];
    }
    if (!trouble &&
        nw_alloc((size_t)stage->total, sizeof *stage->words, &stage->words))
        return TROUBLE;
    return trouble ? trouble : stage->total;
}

static int reorder_gather_agree(struct nw_gather *gather, int count)
{
    int sum = count_up(&gather->stage[0], count), verdict;

    if (is_leader(gather))
        sum = count_up(&gather->stage[1], sum);
    verdict = sum < 0 ? sum : 0;
    if (is_leader(gather))
        NW_PMPI(Bcast)(&verdict, 1, MPI_INT, 0, gather->stage[1].comm);
    NW_PMPI(Bcast)(&verdict, 1, MPI_INT, 0, gather->stage[0].comm);
    return verdict;
}

static void move_up(const struct nw_gather_stage *stage, const int *words,
                    int count)
{
    NW_PMPI(Gatherv)
    (words, count, MPI_INT, stage->words, stage->count, stage->place, MPI_INT,
     0, stage->comm);
}

bool nw_gather_lists(struct nw_gather *gather, struct nw_call *call, bool good,
                     const int *words, int count, const int **all, int *total)
{
    const struct nw_gather_stage *stage = gather->stage;
    int trouble;

    if (!open_stages(gather, call))
        return false;
    trouble = reorder_gather_agree(gather, call->bad ? ALL_BAD
                                           : good    ? count
                                                     : TROUBLE);
    call->refused = trouble == SOME_BAD;
    if (trouble)
        return false;
    move_up(&stage[0], words, count);
    if (is_leader(gather))
        move_up(&stage[1], stage[0].words, stage[0].total);
    *all = stage[gather->stages - 1].words;
    *total = stage[gather->stages - 1].total;
    return true;
}

/* --- from rank 0 to the ranks --- */

/* Copies `pairs`, sorted by node, to gather->sorted. The nodes are in the order
 * of their lowest ranks, which is the order of the leaders; the ranks of a node
 * are in ascending order. Sets the leaders' counts and offsets for
 * MPI_Scatterv. */
static void by_nodes(const struct nw_gather *gather, const int *pairs)
{
    const struct nw_call *call = gather->call;
    const struct nw_gather_stage *leaders = &gather->stage[1];
    int *sorted = gather->sorted, *leader = gather->leader, found = 0;

    memset(leaders->count, 0, (size_t)leaders->size * sizeof(int));
    for (int r = 0; r < call->size; r++) {
        int *number = &leader[reorder_gather_node_of(call, r)];

        if (!*number)
            *number = ++found;
        leaders->count[*number - 1] += 2;
    }
    for (int l = 1; l < leaders->size; l++)
        leaders->place[l] = leaders->place[l - 1] + leaders->count[l - 1];
    for (int r = 0; r < call->size; r++) {
        int *place =
            &leaders->place[leader[reorder_gather_node_of(call, r)] - 1];

        memcpy(sorted + *place, pairs + 2 * r, 2 * sizeof *sorted);
        *place += 2;
    }
    for (int l = 0; l < leaders->size; l++)
        leaders->place[l] -= leaders->count[l];
}

bool nw_gather_answer(const struct nw_gather *gather, const int *pairs,
                      int mine[2])
{
    const struct nw_gather_stage *local = &gather->stage[0];
    const struct nw_gather_stage *leaders = &gather->stage[1];

    if (is_leader(gather)) {
        if (!leaders->rank)
            by_nodes(gather, pairs);
        NW_PMPI(Scatterv)
        (gather->sorted, leaders->count, leaders->place, MPI_INT, gather->ours,
         2 * local->size, MPI_INT, 0, leaders->comm);
    }
    return !NW_PMPI(Scatter)(gather->ours ? gather->ours : (const void *)pairs,
                             2, MPI_INT, mine, 2, MPI_INT, 0, local->comm);
}
