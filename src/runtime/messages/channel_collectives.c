/* SPDX-License-Identifier: BSD-3-Clause */
/* Collective calls by messages of the channel between host or GPU buffers. In
 * allgather and alltoall, each rank posts the receives from all others, then
 * the sends to all others, beginning with the next rank. In gather, all ranks
 * send to the root. Broadcasts and reductions use binomial trees. Each subtree
 * contains consecutive ranks, so that the operands of a reduction keep their
 * order. */
#include "runtime/messages/algorithms.h"

#include "base/array.h"
#include "base/status.h"

#include <sched.h>
#include <stdlib.h>

enum { IDLE_TURNS = 64 };

/* Lets MPI make progress by a probe, because another rank may be waiting for
 * this one inside an MPI call. Probes MPI_COMM_WORLD, since MPICH makes no
 * progress in a probe of MPI_COMM_SELF. The caller tests the channel IDLE_TURNS
 * times between two calls, since a probe and a yield take longer than a test.
 */
static void turn_mpi(void)
{
    MPI_Status status;
    int flag;

    NW_PMPI(Iprobe)
    (MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &status);
    (void)sched_yield();
}

/* One collective call on this rank. After an error, the rank still takes part
 * in all messages of the call, so that no other rank waits for it: it sends
 * empty messages, by which the receivers learn of the failure, and receives
 * nothing. `status` and `error` are its first error. */
struct collective_run {
    const struct nw_channel_collective *collect;
    nw_status status;
    struct nw_error error;
};

static void run_note(struct collective_run *run, nw_status status)
{
    if (!status || run->status)
        return;
    run->status = status;
    nw_error_keep(&run->error);
}

/* Starts to send or to receive one block. If that fails, *out stays NULL. */
static void run_begin(struct collective_run *run, bool send, int peer,
                      char *memory, nw_channel_request **out)
{
    const struct nw_channel_collective *c = run->collect;
    struct nw_channel_message message = {memory, c->bytes, peer, c->tag};

    if (run->status)
        message.bytes = 0;
    run_note(run, send ? nw_channel_send(c->channel, &message, out)
                       : nw_channel_receive(c->channel, &message, out));
}

static void run_wait_for(struct collective_run *run,
                         nw_channel_request **request)
{
    struct nw_channel_result result;
    nw_status status = NW_OK;
    bool done = !*request;

    for (unsigned turns = 1; !done; turns++) {
        status = nw_channel_test(request, &done, &result);
        if (done && !status && result.bytes < run->collect->bytes)
            status = nw_fail(NW_EIO, "rank %d has failed", result.peer);
        if (!done && turns % IDLE_TURNS == 0)
            turn_mpi();
    }
    run_note(run, status);
}

static void run_pass(struct collective_run *run, bool send, int peer,
                     char *memory)
{
    nw_channel_request *request = NULL;

    run_begin(run, send, peer, memory, &request);
    run_wait_for(run, &request);
}

/* Copies a block on this rank, unless it has failed. */
static void run_copy(struct collective_run *run, char *into, const char *from)
{
    if (!run->status && from != into)
        run_note(run, nw_buffer_copy(into, from, run->collect->bytes));
}

/* --- one block between each pair of ranks --- */

/* A rank that has failed before the call may have no buffers. */
static char *block_at(char *memory, int index, size_t step)
{
    return memory ? memory + (size_t)index * step : NULL;
}

struct exchange {
    struct collective_run *run;
    nw_channel_request *request[2 * NW_MOST_RANKS];
    size_t count;
};

static void exchange_add(struct exchange *x, bool send, int peer, char *memory)
{
    nw_channel_request **request = &x->request[x->count++];

    *request = NULL;
    run_begin(x->run, send, peer, memory, request);
}

static void receive_blocks(struct exchange *x)
{
    const struct nw_channel_collective *c = x->run->collect;

    for (int i = 1; i < c->size; i++) {
        int peer = (c->rank + c->size - i) % c->size;

        exchange_add(x, false, peer, block_at(c->into, peer, c->bytes));
    }
}

static void send_blocks(struct exchange *x, size_t step)
{
    const struct nw_channel_collective *c = x->run->collect;

    for (int i = 1; i < c->size; i++) {
        int peer = (c->rank + i) % c->size;

        exchange_add(x, true, peer, block_at(c->from, peer, step));
    }
}

/* Copies this rank's own block to its position in the output buffer, and ends
 * the exchange. */
static void exchange_finish(struct exchange *x, const char *own)
{
    const struct nw_channel_collective *c = x->run->collect;

    run_copy(x->run, block_at(c->into, c->rank, c->bytes), own);
    for (size_t i = 0; i < x->count; i++)
        run_wait_for(x->run, &x->request[i]);
}

static void channel_collectives_gather(struct collective_run *run)
{
    const struct nw_channel_collective *c = run->collect;
    struct exchange x = {.run = run};

    if (c->rank != c->root) {
        run_pass(run, true, c->root, c->from);
        return;
    }
    receive_blocks(&x);
    exchange_finish(&x, c->from);
}

static void channel_collectives_all_blocks(struct collective_run *run,
                                           size_t step)
{
    const struct nw_channel_collective *c = run->collect;
    struct exchange x = {.run = run};

    receive_blocks(&x);
    send_blocks(&x, step);
    exchange_finish(&x, block_at(c->from, c->rank, step));
}

/* --- trees --- */

/* Broadcasts the block at `memory` from `root` along a binomial tree. */
static void channel_collectives_broadcast(struct collective_run *run, int root,
                                          char *memory)
{
    const struct nw_channel_collective *c = run->collect;
    int mine = (c->rank - root + c->size) % c->size, mask = 1;

    while (mask < c->size && !(mine & mask))
        mask <<= 1;
    if (mine)
        run_pass(run, false, (c->rank - mask + c->size) % c->size, memory);
    for (mask >>= 1; mask > 0; mask >>= 1)
        if (mine + mask < c->size)
            run_pass(run, true, (c->rank + mask) % c->size, memory);
}

/* The partial result of a reduction on this rank. `now` is first its own input,
 * later one of the two host buffers. */
struct sum {
    char *now;
    char *host[2];
};

static void sum_open(struct collective_run *run, struct sum *sum)
{
    *sum = (struct sum){.now = run->collect->from};
    for (int i = 0; i < 2 && !run->status; i++)
        run_note(run, nw_alloc(run->collect->bytes, 1, &sum->host[i]));
}

static void sum_close(struct sum *sum)
{
    free(sum->host[0]);
    free(sum->host[1]);
}

/* Receives the partial result of `peer` and combines both: sum = sum op theirs.
 * The ranks that `theirs` comes from follow those of `sum`, so the operands
 * keep their order. */
static void sum_take(struct collective_run *run, struct sum *sum, int peer)
{
    const struct nw_channel_collective *c = run->collect;
    char *theirs = sum->host[1];

    if (sum->now == c->from) {
        run_copy(run, sum->host[0], c->from);
        sum->now = sum->host[0];
    }
    run_pass(run, false, peer, theirs);
    if (run->status)
        return;
    if (NW_PMPI(Reduce_local)(sum->now, theirs, (int)c->count, c->type, c->op))
        run_note(run, nw_fail(NW_EMPI, "MPI_Reduce_local fails"));
    sum->host[1] = sum->host[0];
    sum->host[0] = theirs;
    sum->now = theirs;
}

/* Reduces the blocks of all ranks on rank 0, which then sends the result to
 * rank `root`, or to all ranks if `root` is -1. */
static void channel_collectives_reduce(struct collective_run *run, int root)
{
    const struct nw_channel_collective *c = run->collect;
    struct sum sum;
    int mask = 1;

    sum_open(run, &sum);
    for (; mask < c->size && !(c->rank & mask); mask <<= 1)
        if (c->rank + mask < c->size)
            sum_take(run, &sum, c->rank + mask);
    if (c->rank)
        run_pass(run, true, c->rank - mask, sum.now);
    if (!c->rank && root > 0)
        run_pass(run, true, root, sum.now);
    if (c->rank && c->rank == root)
        run_pass(run, false, 0, c->into);
    if (root < 0)
        channel_collectives_broadcast(run, 0, c->rank ? c->into : sum.now);
    if (!c->rank && root <= 0)
        run_copy(run, c->into, sum.now);
    sum_close(&sum);
}

nw_status nw_channel_collective(enum nw_collective_call form,
                                const struct nw_channel_collective *c,
                                nw_status status)
{
    struct collective_run run;

    run.collect = c;
    run.status = NW_OK;
    run_note(&run, status);
    switch (form) {
    case NW_CALL_BCAST:
        channel_collectives_broadcast(&run, c->root, c->into);
        break;
    case NW_CALL_GATHER:
        channel_collectives_gather(&run);
        break;
    case NW_CALL_ALLGATHER:
        channel_collectives_all_blocks(&run, 0);
        break;
    case NW_CALL_ALLTOALL:
        channel_collectives_all_blocks(&run, c->bytes);
        break;
    case NW_CALL_REDUCE:
        channel_collectives_reduce(&run, c->root);
        break;
    case NW_CALL_ALLREDUCE:
        channel_collectives_reduce(&run, -1);
        break;
    case NW_CALLS:
        break;
    }
    nw_channel_flush(c->channel);
    return run.status ? nw_error_pass(run.status, &run.error) : NW_OK;
}

nw_status nw_channel_collective_reserve(nw_channel *channel, int rank, int size)
{
    /* no rank sends a message with this tag */
    struct nw_channel_message message = {NULL, 0, rank, INT32_MAX};
    nw_channel_request *request[2 * NW_MOST_RANKS];
    nw_status status = NW_OK, one;
    int count = 0;

    while (count < 2 * size && !status) {
        status = nw_channel_receive(channel, &message, &request[count]);
        count += !status;
    }
    while (count > 0) {
        nw_channel_cancel(request[--count]);
        one = nw_channel_wait(&request[count], NULL);
        status = status || one == NW_ECANCELLED ? status : one;
    }
    return status;
}
