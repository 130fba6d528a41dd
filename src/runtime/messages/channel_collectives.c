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

static nw_status channel_collectives_wait_for(nw_channel_request **request)
{
    nw_status status = NW_OK;
    bool done = false;

    for (unsigned turns = 1; !done; turns++) {
        status = nw_channel_test(request, &done, NULL);
        if (!done && turns % IDLE_TURNS == 0)
            turn_mpi();
    }
    return status;
}

static nw_status
channel_collectives_begin(const struct nw_channel_collective *c, bool send,
                          int peer, char *memory, nw_channel_request **out)
{
    struct nw_channel_message message = {memory, c->bytes, peer, c->tag};

    return send ? nw_channel_send(c->channel, &message, out)
                : nw_channel_receive(c->channel, &message, out);
}

static nw_status channel_collectives_pass(const struct nw_channel_collective *c,
                                          bool send, int peer, char *memory)
{
    nw_channel_request *request = NULL;
    nw_status status =
        channel_collectives_begin(c, send, peer, memory, &request);

    return status ? status : channel_collectives_wait_for(&request);
}

/* --- one block between each pair of ranks --- */

struct exchange {
    const struct nw_channel_collective *collect;
    nw_channel_request **request;
    size_t count;
};

static nw_status channel_collectives_add(struct exchange *x, bool send,
                                         int peer, char *memory)
{
    nw_status status = channel_collectives_begin(x->collect, send, peer, memory,
                                                 &x->request[x->count]);

    x->count += !status;
    return status;
}

static nw_status channel_collectives_finish(struct exchange *x,
                                            nw_status status)
{
    for (size_t i = 0; i < x->count; i++) {
        nw_status one = channel_collectives_wait_for(&x->request[i]);

        status = status ? status : one;
    }
    free(x->request);
    return status;
}

/* Copies this rank's own block from `from` to its position in the output
 * buffer. */
static nw_status keep_own(const struct nw_channel_collective *c, char *from)
{
    char *into = c->into + (size_t)c->rank * c->bytes;

    return from == into ? NW_OK : nw_buffer_copy(into, from, c->bytes);
}

static nw_status receive_blocks(struct exchange *x)
{
    const struct nw_channel_collective *c = x->collect;
    nw_status status = NW_OK;

    for (int i = 1; i < c->size && !status; i++) {
        int peer = (c->rank + c->size - i) % c->size;

        status = channel_collectives_add(x, false, peer,
                                         c->into + (size_t)peer * c->bytes);
    }
    return status;
}

static nw_status send_blocks(struct exchange *x, size_t step)
{
    const struct nw_channel_collective *c = x->collect;
    nw_status status = NW_OK;

    for (int i = 1; i < c->size && !status; i++) {
        int peer = (c->rank + i) % c->size;

        status = channel_collectives_add(x, true, peer,
                                         c->from + (size_t)peer * step);
    }
    return status;
}

static nw_status exchange_open(const struct nw_channel_collective *c,
                               struct exchange *out)
{
    *out = (struct exchange){.collect = c};
    return nw_alloc(2 * (size_t)c->size, sizeof *out->request, &out->request);
}

static nw_status
channel_collectives_gather(const struct nw_channel_collective *c)
{
    struct exchange x;
    nw_status status;

    if (c->rank != c->root)
        return channel_collectives_pass(c, true, c->root, c->from);
    status = exchange_open(c, &x);
    if (!status)
        status = receive_blocks(&x);
    if (!status)
        status = keep_own(c, c->from);
    return channel_collectives_finish(&x, status);
}

static nw_status
channel_collectives_all_blocks(const struct nw_channel_collective *c,
                               size_t step)
{
    struct exchange x;
    nw_status status = exchange_open(c, &x);

    if (!status)
        status = receive_blocks(&x);
    if (!status)
        status = send_blocks(&x, step);
    if (!status)
        status = keep_own(c, c->from + (size_t)c->rank * step);
    return channel_collectives_finish(&x, status);
}

/* --- trees --- */

/* Broadcasts the block at `memory` from `root` along a binomial tree. */
static nw_status
channel_collectives_broadcast(const struct nw_channel_collective *c, int root,
                              char *memory)
{
    int mine = (c->rank - root + c->size) % c->size, mask = 1;
    nw_status status = NW_OK;

    while (mask < c->size && !(mine & mask))
        mask <<= 1;
    if (mine)
        status = channel_collectives_pass(
            c, false, (c->rank - mask + c->size) % c->size, memory);
    for (mask >>= 1; mask > 0 && !status; mask >>= 1)
        if (mine + mask < c->size)
            status = channel_collectives_pass(
                c, true, (c->rank + mask) % c->size, memory);
    return status;
}

/* The partial result of a reduction on this rank. `now` is first its own input,
 * later one of the two host buffers. */
struct sum {
    char *now;
    char *host[2];
};

static nw_status sum_open(const struct nw_channel_collective *c,
                          struct sum *sum)
{
    nw_status status = NW_OK;

    *sum = (struct sum){.now = c->from};
    for (int i = 0; i < 2 && !status; i++)
        status = nw_alloc(c->bytes, 1, &sum->host[i]);
    return status;
}

static void sum_close(struct sum *sum)
{
    free(sum->host[0]);
    free(sum->host[1]);
}

/* Receives the partial result of `peer` and combines both: sum = sum op theirs.
 * The ranks that `theirs` comes from follow those of `sum`, so the operands
 * keep their order. */
static nw_status sum_take(const struct nw_channel_collective *c,
                          struct sum *sum, int peer)
{
    char *theirs = sum->host[1];
    nw_status status = NW_OK;

    if (sum->now == c->from) {
        status = nw_buffer_copy(sum->host[0], c->from, c->bytes);
        sum->now = sum->host[0];
    }
    if (!status)
        status = channel_collectives_pass(c, false, peer, theirs);
    if (!status &&
        NW_PMPI(Reduce_local)(sum->now, theirs, (int)c->count, c->type, c->op))
        status = nw_fail(NW_EMPI, "MPI_Reduce_local fails");
    if (status)
        return status;
    sum->host[1] = sum->host[0];
    sum->host[0] = theirs;
    sum->now = theirs;
    return NW_OK;
}

/* Reduces the blocks of all ranks on rank 0, which then sends the result to
 * rank `root`, or to all ranks if `root` is -1. */
static nw_status
channel_collectives_reduce(const struct nw_channel_collective *c, int root)
{
    struct sum sum;
    nw_status status = sum_open(c, &sum);
    int mask = 1;

    for (; mask < c->size && !(c->rank & mask) && !status; mask <<= 1)
        if (c->rank + mask < c->size)
            status = sum_take(c, &sum, c->rank + mask);
    if (!status && c->rank)
        status = channel_collectives_pass(c, true, c->rank - mask, sum.now);
    if (!status && !c->rank && root > 0)
        status = channel_collectives_pass(c, true, root, sum.now);
    if (!status && c->rank && c->rank == root)
        status = channel_collectives_pass(c, false, 0, c->into);
    if (!status && root < 0)
        status =
            channel_collectives_broadcast(c, 0, c->rank ? c->into : sum.now);
    if (!status && !c->rank && root <= 0 && sum.now != c->into)
        status = nw_buffer_copy(c->into, sum.now, c->bytes);
    sum_close(&sum);
    return status;
}

nw_status nw_channel_collective(enum nw_collective_call form,
                                const struct nw_channel_collective *c)
{
    nw_status status = NW_EINVAL;

    switch (form) {
    case NW_CALL_BCAST:
        status = channel_collectives_broadcast(c, c->root, c->into);
        break;
    case NW_CALL_GATHER:
        status = channel_collectives_gather(c);
        break;
    case NW_CALL_ALLGATHER:
        status = channel_collectives_all_blocks(c, 0);
        break;
    case NW_CALL_ALLTOALL:
        status = channel_collectives_all_blocks(c, c->bytes);
        break;
    case NW_CALL_REDUCE:
        status = channel_collectives_reduce(c, c->root);
        break;
    case NW_CALL_ALLREDUCE:
        status = channel_collectives_reduce(c, -1);
        break;
    case NW_CALLS:
        break;
    }
    nw_channel_flush(c->channel);
    return status;
}
