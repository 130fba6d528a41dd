/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Kills a process of a channel in the middle of its traffic, many times:
 *
 *     channel-kills COUNT PROVIDER SEED
 *
 * Three processes send messages of 1 byte to 300 kB to each other and check
 * what they receive. The program prints how many processes were killed during
 * traffic, how often a survivor received wrong data, hung, or left shared
 * memory behind, and where each survivor hung. `locked` is the number of
 * survivors that waited for a lock of the provider (tests/support/shm_lock),
 * and `slow` is the number of jobs in which no process was killed.
 * bench/reliability/run uses this program.
 */
#include "base/clock.h"
#include "base/random.h"

#include <nodewise/channel.h>

#include <dlfcn.h>
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

enum { RANKS = 3, MOST = 300000, PATIENCE_S = 120, LOOK_S = 20, FRAMES = 24 };
enum { WRONG = 2, LOCKED, HUNG };

struct trial {
    char file[NW_FILE_UNNAMED_PATH];
    const char *provider;
    uint64_t seed;
    int exchanged[RANKS], killed;
};

static const struct trial *kills_trial; /* the trial of this process */
static int kills_looks, kills_in_lock;  /* counts since its last exchange */

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

static bool is_in_spin_lock(void *const *frame, int count)
{
    for (int i = 0; i < count; i++) {
        Dl_info about;

        if (dladdr(frame[i], &about) && about.dli_sname &&
            !strcmp(about.dli_sname, "pthread_spin_lock"))
            return true;
    }
    return false;
}

/* Looks at a process that has exchanged nothing for some time. Only the
 * provider takes spin locks. If the process is in one twice, and another
 * process was killed, then that process held the lock. Prints the stack of a
 * process that hangs elsewhere. A CPU time far below the wait shows that the
 * machine was too busy. */
static void look(int number)
{
    struct timespec used;
    void *frame[FRAMES];
    int count = backtrace(frame, FRAMES);

    (void)number;
    alarm(LOOK_S);
    if (!__atomic_load_n(&kills_trial->killed, __ATOMIC_ACQUIRE))
        return;
    kills_in_lock = is_in_spin_lock(frame, count) ? kills_in_lock + 1 : 0;
    if (kills_in_lock == 2)
        _exit(LOCKED);
    if (++kills_looks < PATIENCE_S / LOOK_S)
        return;
    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    dprintf(STDERR_FILENO, "hung after %ld s of CPU time, at:\n",
            (long)used.tv_sec);
    backtrace_symbols_fd(frame, count, STDERR_FILENO);
    _exit(HUNG);
}

static void talk(const void *about, int32_t rank)
{
    struct trial *trial = (struct trial *)(uintptr_t)about;
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;
    struct nw_random sizes;

    kills_trial = trial;
    (void)signal(SIGALRM, look);
    alarm(LOOK_S);
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
        kills_looks = kills_in_lock = 0;
        alarm(LOOK_S);
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
    int landed, wrong, locked, hung, failed, left, slow;
};

static void count_end(struct counts *counts, int how)
{
    int code = WIFEXITED(how) ? WEXITSTATUS(how) : -1;

    counts->wrong += code == WRONG;
    counts->locked += code == LOCKED;
    counts->hung += code == HUNG;
    counts->failed +=
        code != 0 && code != WRONG && code != LOCKED && code != HUNG;
}

/* Waits until messages were exchanged; false if the machine was too busy for
 * that. */
static bool await_exchanges(const int *exchanged, int count)
{
    uint64_t until = nw_clock_ns() + PATIENCE_S * UINT64_C(1000000000);

    while (__atomic_load_n(exchanged, __ATOMIC_ACQUIRE) < count) {
        if (nw_clock_ns() > until)
            return false;
        (void)usleep(100);
    }
    return true;
}

static void kill_one(struct trial *trial, struct nw_random *random,
                     struct counts *counts)
{
    int32_t victim = (int32_t)nw_random_below(random, RANKS);
    int after = 1 + (int)nw_random_below(random, 100), how[RANKS];
    pid_t child[RANKS];
    bool traffic;

    memset(trial->exchanged, 0, sizeof trial->exchanged);
    trial->killed = 0;
    trial->seed = nw_random_next(random);
    for (int32_t i = 0; i < RANKS; i++)
        child[i] = ranks_start(talk, trial, i);
    traffic = await_exchanges(&trial->exchanged[victim], after);
    counts->slow += !traffic;
    (void)usleep((useconds_t)nw_random_below(random, 3000));
    for (int32_t i = 0; i < RANKS; i++)
        if (i == victim || !traffic)
            (void)kill(child[i], SIGKILL);
    __atomic_store_n(&trial->killed, 1, __ATOMIC_RELEASE);
    for (int32_t i = 0; i < RANKS; i++) {
        (void)waitpid(child[i], &how[i], 0);
        if (!WIFSIGNALED(how[i]) || WTERMSIG(how[i]) != SIGKILL)
            count_end(counts, how[i]);
        else
            counts->landed += traffic && i == victim;
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
    printf("landed %d wrong %d locked %d hung %d failed %d left %d "
           "slow %d\n",
           counts.landed, counts.wrong, counts.locked, counts.hung,
           counts.failed, counts.left, counts.slow);
    return 0;
}
