/* SPDX-License-Identifier: BSD-3-Clause */
/* Reproduces a limitation of libfabric's `shm` provider (1.17, x86-64): if a
 * process is killed while it holds the spin lock in the memory of another
 * process, that other process spins for ever. The program prints what it found
 * and exits with 0 in any case. It is not a test, since a later libfabric may
 * not have the limitation. */
#include "channel/state.h"

#include <nodewise/channel.h>

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

enum { FORM = 4, LOCK_WORD = 6, PATIENCE_S = 20 };

/* Passes one byte from rank 1 to rank 0. */
static void pass(nw_channel *channel, int32_t rank)
{
    nw_channel_request *request = NULL;
    char byte = 0;
    struct nw_channel_message message = {&byte, 1, !rank, 1};

    MUST(rank ? nw_channel_send(channel, &message, &request)
              : nw_channel_receive(channel, &message, &request));
    if (nw_channel_wait(&request, NULL))
        printf("rank %d: %s\n", rank, nw_error_text());
}

/* The lock in the memory that the `shm` provider shares of the process `pid`.
 * This memory begins with the number of its format and has the lock at byte 24.
 * Returns NULL if the format is another one. */
static int *lock_of(int32_t pid)
{
    char name[64], line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int *words = NULL;

    snprintf(name, sizeof name, "/dev/shm/nodewise-%d-", pid);
    while (maps && !words && fgets(line, sizeof line, maps))
        if (strstr(line, name))
            words = (int *)strtoul(line, NULL, 16);
    if (maps)
        (void)fclose(maps);
    return words && (words[0] & 0xff) == FORM ? words + LOCK_WORD : NULL;
}

/* Rank 1 takes the lock of rank 0 and kills itself; rank 0 then tries to
 * receive another message. */
static void die_with_lock(nw_channel *channel, const struct job *job,
                          int32_t rank)
{
    (void)job;
    alarm(PATIENCE_S);
    pass(channel, rank);
    if (rank) {
        int *lock = lock_of(channel->peer[0].pid);

        if (!lock)
            fprintf(stderr, "this libfabric has its lock elsewhere\n");
        else
            (void)pthread_spin_lock((pthread_spinlock_t *)lock);
        (void)kill(getpid(), SIGKILL);
    }
    pass(channel, rank);
}

int main(void)
{
    struct job job = {.count = 2, .provider = "shm", .work = die_with_lock};

    printf("%s\n", ranks_run(&job) == 1
                       ? "the other process was told that its peer is gone"
                       : "the other process did not end");
    return 0;
}
