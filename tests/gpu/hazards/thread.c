/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread without a current context gives GPU memory to MPI, as threads of a
 * pool do; after the calls it still has none. */
#include "exchange.h"

#include <pthread.h>

static long wrong;

static void *work(void *unused)
{
    void *context = NULL;

    (void)unused;
    /* not exchange_all, whose checks need a context; messages do not */
    for (long turn = 0; turn < 20; turn++) {
        size_t bytes = (size_t)64 << turn % 14;

        hazard_must(hazard.set(hazard.context), "cuCtxSetCurrent");
        exchange_fill(turn, bytes);
        hazard_must(hazard.set(NULL), "cuCtxSetCurrent");
        hazard_must(MPI_Sendrecv((void *)(uintptr_t)exchange_out, (int)bytes,
                                 MPI_CHAR, !hazard.rank, 1,
                                 (void *)(uintptr_t)exchange_in, (int)bytes,
                                 MPI_CHAR, !hazard.rank, 1, MPI_COMM_WORLD,
                                 MPI_STATUS_IGNORE),
                    "MPI_Sendrecv");
        hazard_must(hazard.get(&context), "cuCtxGetCurrent");
        if (context) {
            printf("FAULT thread: rank %d: MPI left a context current\n",
                   hazard.rank);
            wrong++;
        }
        hazard_must(hazard.set(hazard.context), "cuCtxSetCurrent");
        wrong += exchange_wrong(turn, bytes, bytes, bytes);
    }
    hazard_must(hazard.set(NULL), "cuCtxSetCurrent");
    return NULL;
}

int main(void)
{
    pthread_t thread;

    hazard_begin("thread", MPI_THREAD_MULTIPLE);
    hazard_primary();
    exchange_buffers(hazard_memory(EXCHANGE_MOST),
                     hazard_memory(EXCHANGE_MOST));
    hazard_must(pthread_create(&thread, NULL, work, NULL), "pthread_create");
    pthread_join(thread, NULL);
    return hazard_end(wrong);
}
