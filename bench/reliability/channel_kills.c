/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kills a process of a channel in the middle of its traffic, many times:
 *
 *     channel-kills COUNT PROVIDER SEED
 *
 * Three processes send messages of 1 byte to 300 kB to each other and compare
 * what comes. Prints how many kills landed, and how often a survivor got wrong
 * data, hung, or left shared memory behind, and where each survivor hung.
 * bench/reliability/run uses it.
 */
#include "base/random.h"

#include <nodewise/channel.h>

#include <execinfo.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/ranks.h"

enum { RANKS = 3, MOST = 300000, PATIENCE_S = 120, WRONG = 2 };

struct trial {
    char file[NW_FILE_UNNAMED_PATH];
    const char *provider;
    uint64_t seed;
    int exchanged[RANKS];
};

static nw_status exchange(nw_channel *channel, int32_t rank, size_t bytes,
                          int round)
{
    static char out[MOST], in[MOST];
    int from = (rank + RANKS - 1) % RANKS;
    struct nw_channel_message messages[2] = {
        {out, bytes, (rank + 1) % RANKS, 1}, {in, bytes, from, 1}};
    nw_channel_request *request[2] = {NULL, NULL};
    nw_status status, other;

    memset(out, 'a' + (rank + round) % 26, bytes);
    MUST(nw_channel_receive(channel, &messages[1], &request[0]));
    MUST(nw_channel_send(channel, &messages[0], &request[1]));
    status = nw_channel_wait(&request[0], NULL);
    other = nw_channel_wait(&request[1], NULL);
    if (status || other)
        return status ? status : other;
    for (size_t i = 0; i < bytes; i++)
        if (in[i] != 'a' + (from + round) % 26)
            _exit(WRONG);
    return NW_OK;
}

/* Prints the stack of a survivor that hangs: in our code, or in a lock of the
 * provider that the killed rank held. A CPU time far below the wait shows that
 * the machine was too busy. */
static void show_hang(int number)
{
    struct timespec used;
    void *frame[24];

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    dprintf(STDERR_FILENO, "hung after %ld s of CPU time, at:\n",
            (long)used.tv_sec);
    backtrace_symbols_fd(frame, backtrace(frame, 24), STDERR_FILENO);
    (void)signal(number, SIG_DFL);
    (void)raise(number);
}

static void talk(const void *about, int32_t rank)
{
    struct trial *trial = (struct trial *)(uintptr_t)about;
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;
    struct nw_random sizes;

    (void)signal(SIGALRM, show_hang);
    alarm(PATIENCE_S);
    nw_random_init(&sizes, trial->seed);
    options.rank = rank;
    options.count = RANKS;
    options.file = trial->file;
    options.provider = trial->provider;
    options.timeout_ms = PATIENCE_S * 1000;
    MUST(nw_channel_open(&options, &channel));
    for (int round = 0;; round++) {
        size_t most = nw_random_below(&sizes, 4) ? 4096 : MOST;

        if (exchange(channel, rank, 1 + nw_random_below(&sizes, most), round))
            break;
        alarm(PATIENCE_S);
        __atomic_add_fetch(&trial->exchanged[rank], 1, __ATOMIC_RELEASE);
    }
    nw_channel_close(channel);
}

static int count_left(pid_t child)
{
    char pattern[64];
    glob_t found = {0};
    int count;

    snprintf(pattern, sizeof pattern, "/dev/shm/nodewise-%ld-*", (long)child);
    count = glob(pattern, 0, NULL, &found) ? 0 : (int)found.gl_pathc;
    globfree(&found);
    return count;
}

struct counts {
    int landed, wrong, hung, failed, left;
};

static void kill_one(struct trial *trial, struct nw_random *random,
                     struct counts *counts)
{
    int32_t victim = (int32_t)nw_random_below(random, RANKS);
    int after = 1 + (int)nw_random_below(random, 100), how[RANKS];
    pid_t child[RANKS];

    memset(trial->exchanged, 0, sizeof trial->exchanged);
    trial->seed = nw_random_next(random);
    for (int32_t i = 0; i < RANKS; i++)
        child[i] = ranks_start(talk, trial, i);
    for (int i = 0;
         i < 10000 * PATIENCE_S &&
         __atomic_load_n(&trial->exchanged[victim], __ATOMIC_ACQUIRE) < after;
         i++)
        (void)usleep(100);
    (void)usleep((useconds_t)nw_random_below(random, 3000));
    (void)kill(child[victim], SIGKILL);
    for (int32_t i = 0; i < RANKS; i++) {
        (void)waitpid(child[i], &how[i], 0);
        if (i == victim)
            counts->landed +=
                WIFSIGNALED(how[i]) && WTERMSIG(how[i]) == SIGKILL;
        else if (WIFSIGNALED(how[i]) && WTERMSIG(how[i]) == SIGALRM)
            counts->hung++;
        else if (WIFEXITED(how[i]) && WEXITSTATUS(how[i]) == WRONG)
            counts->wrong++;
        else
            counts->failed += how[i] != 0;
    }
    for (int32_t i = 0; i < RANKS; i++) {
        counts->left += count_left(child[i]);
        ranks_sweep(child[i]);
    }
}

int main(int argc, char **argv)
{
    struct counts counts = {0};
    struct nw_random random;
    struct trial *trial;

    if (argc != 4)
        return 2;
    nw_random_init(&random, strtoull(argv[3], NULL, 10));
    trial = mmap(NULL, sizeof *trial, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trial == MAP_FAILED)
        return 1;
    trial->provider = argv[2];
    ranks_load();
    for (int i = 0; i < atoi(argv[1]); i++) {
        int fd = -1;

        if (nw_file_unnamed(trial->file, &fd))
            return 1;
        kill_one(trial, &random, &counts);
        (void)close(fd);
    }
    printf("landed %d wrong %d hung %d failed %d left %d\n", counts.landed,
           counts.wrong, counts.hung, counts.failed, counts.left);
    return 0;
}
