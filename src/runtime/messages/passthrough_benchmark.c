/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures round trips between ranks 0 and 1 with buffers in GPU memory: with
 * staging, and by MPI itself. */
#include "runtime/messages/passthrough.h"

#include "base/clock.h"
#include "gpu/gpu.h"
#include "base/selector.h"
#include "runtime/messages/staging.h"

#include <nodewise/channel.h>

#include <limits.h>
#include <string.h>

/* Numbers of round trips. At first WARM with staging, or WARM_THEIRS by MPI
 * itself, are made and not timed. Then TURNS are timed. After WARM messages,
 * copy_path.c has chosen its path. */
enum {
    WARM = 12,
    WARM_THEIRS = 2,
    TURNS = 8,
    TAG = 1,
    CLASSES = NW_PASSTHROUGH_CLASSES,
};
static const uint64_t sizes[NW_ROUNDS] = {8,     64,     512,    4096,
                                          32768, 262144, 2097152};
/* Staging is used if its time is below this fraction of MPI's time. */
static const double worth = 0.9;

struct passthrough_benchmark_pair {
    MPI_Comm comm;
    int rank, peer;
    void *memory;
};

/* Returns the size classes for which staging is faster: bit b for messages of
 * more than 2^(b-1) and up to 2^b bytes. A measured size stands for all smaller
 * ones down to the next measured size, the largest also for all larger ones. */
static uint32_t
passthrough_benchmark_won(const struct nw_round_trip rounds[NW_ROUNDS])
{
    uint32_t bits = 0;

    for (int class = 0; class < CLASSES; class ++) {
        int i = 0;

        while (i < NW_ROUNDS - 1 && rounds[i].bytes < (uint64_t)1 << class)
            i++;
        if (rounds[i].ours < worth * rounds[i].theirs)
            bits |= (uint32_t)1 << class;
    }
    return bits;
}

/* --- one message --- */

static void
passthrough_benchmark_call(const struct passthrough_benchmark_pair *c,
                           bool send, void *memory, int bytes)
{
    MPI_Status status;

    if (send)
        NW_PMPI(Send)(memory, bytes, MPI_BYTE, c->peer, TAG, c->comm);
    else
        NW_PMPI(Recv)(memory, bytes, MPI_BYTE, c->peer, TAG, c->comm, &status);
}

static void
passthrough_benchmark_pass(const struct passthrough_benchmark_pair *c,
                           bool send, bool staged, int bytes)
{
    struct nw_stage stage = {.call = "MPI_Init", .whole = true};
    int64_t count = bytes;
    MPI_Datatype type = MPI_BYTE;
    void *memory = c->memory;

    if (staged)
        memory = nw_stage_triple(&stage, send ? NW_READ : NW_WRITE, memory,
                                 (struct nw_triple){&count, INT_MAX, &type, 1});
    passthrough_benchmark_call(c, send, memory, bytes);
    if (staged)
        (void)nw_stage_end(&stage, MPI_SUCCESS, NULL, NW_OF_COMM(c->comm));
}

/* Returns the shortest of TURNS round trips, as microseconds for one direction.
 */
static double
passthrough_benchmark_time(const struct passthrough_benchmark_pair *c,
                           bool staged, int bytes)
{
    double least = 1e9;

    for (int i = staged ? -WARM : -WARM_THEIRS; i < TURNS; i++) {
        uint64_t start = nw_clock_ns();
        double us;

        passthrough_benchmark_pass(c, !c->rank, staged, bytes);
        passthrough_benchmark_pass(c, c->rank, staged, bytes);
        us = (double)(nw_clock_ns() - start) * 0.5e-3;
        if (i >= 0 && us < least)
            least = us;
    }
    return least;
}

static void
passthrough_benchmark_measure(const struct passthrough_benchmark_pair *c,
                              struct nw_round_trip rounds[NW_ROUNDS])
{
    for (int i = 0; i < NW_ROUNDS; i++) {
        rounds[i].bytes = sizes[i];
        rounds[i].ours = passthrough_benchmark_time(c, true, (int)sizes[i]);
        rounds[i].theirs = passthrough_benchmark_time(c, false, (int)sizes[i]);
    }
}

/* --- all ranks --- */

/* Allocates GPU memory on ranks 0 and 1. Returns true on all ranks if both
 * ranks have it, else false on all. Collective. */
static bool
passthrough_benchmark_take_memory(struct passthrough_benchmark_pair *c)
{
    bool ready = c->rank > 1;

    if (c->rank < 2)
        ready = !nw_messages_open_gpu() &&
                !nw_channel_memory_new(true, (size_t)sizes[NW_ROUNDS - 1],
                                       &c->memory) &&
                nw_passthrough_sees(c->memory);
    return nw_all_ranks(c->comm, ready);
}

static bool is_near(const struct passthrough_benchmark_pair *c)
{
    char mine[MPI_MAX_PROCESSOR_NAME] = "", other[MPI_MAX_PROCESSOR_NAME];
    int length;

    NW_PMPI(Get_processor_name)(mine, &length);
    memcpy(other, mine, sizeof other);
    NW_PMPI(Bcast)(other, sizeof other, MPI_CHAR, 1, c->comm);
    return !strcmp(mine, other);
}

/* Sets the times on rank 0, from the cache or by measurement; those of other
 * ranks are not used. Returns true on all ranks if that succeeded, else false
 * on all. Collective. */
static bool find_rounds(struct passthrough_benchmark_pair *c,
                        struct nw_round_trip rounds[NW_ROUNDS])
{
    bool near = is_near(c), ready;
    int known = c->rank ? 0 : !nw_passthrough_cache_read(near, rounds);
    void *before;

    NW_PMPI(Bcast)(&known, 1, MPI_INT, 0, c->comm);
    if (known)
        return true;
    before = nw_messages_open_gpu() ? NULL : nw_gpu_cuda.context();
    ready = passthrough_benchmark_take_memory(c);
    if (ready && c->rank < 2)
        passthrough_benchmark_measure(c, rounds);
    if (c->memory)
        nw_channel_memory_free(true, c->memory);
    if (!nw_messages_open_gpu())
        nw_gpu_cuda.restore(before);
    if (ready && !c->rank) // if this fails, the next program measures again
        (void)!nw_passthrough_cache_write(near, rounds);
    return ready;
}

bool nw_passthrough_start(void)
{
    struct nw_round_trip rounds[NW_ROUNDS] = {{0, 0, 0}};
    struct passthrough_benchmark_pair c = {.memory = NULL};
    uint32_t bits = 0;
    int size;

    NW_PMPI(Comm_size)(MPI_COMM_WORLD, &size);
    if (size < 2 || NW_PMPI(Comm_dup)(MPI_COMM_WORLD, &c.comm))
        return false;
    NW_PMPI(Comm_rank)(c.comm, &c.rank);
    c.peer = !c.rank;
    nw_passthrough = find_rounds(&c, rounds);
    if (nw_passthrough)
        bits = passthrough_benchmark_won(rounds);
    NW_PMPI(Bcast)(&bits, 1, MPI_UINT32_T, 0, c.comm);
    NW_PMPI(Comm_free)(&c.comm);
    nw_passthrough_set(bits);
    return nw_passthrough;
}
