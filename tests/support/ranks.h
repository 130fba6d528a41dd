/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a few processes for the tests of channels: each rank is a fork with
 * its channel open, and ends where a MUST or SHOULD of it fails. What a rank
 * left in shared memory that was killed, or went without a word, is swept.
 * Include it behind <cmocka.h>. */
#ifndef NW_TESTS_SUPPORT_RANKS_H
#define NW_TESTS_SUPPORT_RANKS_H

#include "base/file.h"
#include "channel/fabric/endpoint.h"
#include "gpu/gpu.h"

#include <nodewise/channel.h>

#include <glob.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MUST(call) ranks_must((call) == NW_OK, __FILE__, __LINE__, #call)
#define SHOULD(condition) ranks_must(condition, __FILE__, __LINE__, #condition)

enum { RANKS_MOST = 8 };

struct job {
    int32_t count;
    const char *provider; /* NULL: as the channel chooses */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    size_t slot_bytes;
    uint32_t credits;
    bool gpu;
    bool staged;   /* nothing reaches GPUs but the driver's copies */
    bool second;   /* of two GPUs is current, and the only one in use */
    bool resident; /* a kernel that stays there maps their memory */
    void (*work)(nw_channel *channel, const struct job *job, int32_t rank);
    int messages; /* this and the rest is for the work alone */
    uint64_t largest;
    const void *more;
};

static inline void ranks_must(bool good, const char *file, int line,
                              const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not %s (%s)\n", file, line, what, nw_error_text());
    _exit(1);
}

/* What they shared is taken away only when nobody is left: libfabric's shm
 * cannot bear it earlier. */
static inline void ranks_sweep(pid_t child)
{
    char pattern[64];
    glob_t found;

    snprintf(pattern, sizeof pattern, "/dev/shm/nodewise-%ld-*", (long)child);
    if (glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc; i++)
        (void)unlink(found.gl_pathv[i]);
    globfree(&found);
}

/* A process that ends by itself, after `work`, with 0. */
static inline pid_t ranks_start(void (*work)(const void *about, int32_t rank),
                                const void *about, int32_t rank)
{
    pid_t child = fork();

    if (child < 0)
        abort();
    if (child)
        return child;
    signal(SIGSEGV, SIG_DFL); /* cmocka's would go on with the next test */
    alarm(getenv("NW_LONG") || getenv("NW_SHARE")
              ? 900
              : 300);      /* a hang is a failure */
    ranks_sweep(getpid()); /* of another one that had this number */
    work(about, rank);
    exit(0);
}

/* libfabric takes a tenth of a second to look around when it is first used, and
 * its PSM waits on core 0 while it measures a clock: seconds on a busy machine.
 * Once for all ranks of a test, not once for each. */
static inline void ranks_load(void)
{
    static const char *const shared[] = {"shm", NULL};
    static bool loaded;
    struct nw_endpoint fabric = {0};

    if (!loaded && !nw_endpoint_open(shared, false, &fabric))
        nw_endpoint_close(&fabric);
    loaded = true;
}

/* How far a job is: a number that all its ranks see, 0 at its start. Ranks wait
 * for it, not for a time that a slow machine needs for something else. */
static int *ranks_stage;

static inline void ranks_reach(int stage)
{
    __atomic_store_n(ranks_stage, stage, __ATOMIC_RELEASE);
}

static inline bool ranks_reached(int stage)
{
    return __atomic_load_n(ranks_stage, __ATOMIC_ACQUIRE) >= stage;
}

static inline void ranks_await(int stage)
{
    while (!ranks_reached(stage))
        (void)usleep(1000);
}

static inline void ranks_begin_stages(void)
{
    if (!ranks_stage)
        ranks_stage = mmap(NULL, sizeof *ranks_stage, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (ranks_stage == MAP_FAILED)
        abort();
    ranks_reach(0);
}

/* Every rank a process; how many did not end well. */
static inline int ranks_fork(int32_t count,
                             void (*work)(const void *about, int32_t rank),
                             const void *about)
{
    pid_t child[RANKS_MOST];
    int failures = 0;

    ranks_load();
    ranks_begin_stages();
    fflush(NULL); /* or each says it again */
    for (int32_t i = 0; i < count; i++)
        child[i] = ranks_start(work, about, i);
    for (int32_t i = 0; i < count; i++) {
        int how = -1;

        if (waitpid(child[i], &how, 0) != child[i] || how)
            fprintf(stderr, "rank %d of %d: status %x\n", i, count, how);
        failures += how != 0;
    }
    for (int32_t i = 0; i < count; i++)
        ranks_sweep(child[i]);
    return failures;
}

struct ranks_run {
    const struct job *job;
    char file[NW_FILE_UNNAMED_PATH]; /* by which they meet */
};

static inline void ranks_work(const void *about, int32_t rank)
{
    const struct ranks_run *run = about;
    const struct job *job = run->job;
    struct nw_channel_options options = NW_CHANNEL_OPTIONS_INIT;
    nw_channel *channel = NULL;

    if (!job->gpu)
        setenv("FAKE_CUDA_DEVICES", "0", 1);
    if (job->second) {
        int32_t count = 0;

        setenv("FAKE_CUDA_DEVICES", "2", 1);
        MUST(nw_gpu_cuda.open(&count));
        MUST(nw_gpu_cuda.select(1));
    }
    if (job->staged)
        setenv("NODEWISE_CHANNEL_REACH", "no", 1);
    if (job->resident) {
        setenv("NODEWISE_CHANNEL_MAPPING", "resident", 1);
        setenv("FAKE_CUDA_STAY", "100", 1);
    }
    options.rank = rank;
    options.count = job->count;
    options.file = run->file;
    options.timeout_ms = 120000; /* a loaded machine may run others first */
    options.provider = job->provider;
    options.protocol = job->protocol;
    options.copy = job->copy;
    options.slot_bytes = job->slot_bytes;
    options.credits = job->credits;
    MUST(nw_channel_open(&options, &channel));
    job->work(channel, job, rank);
    nw_channel_close(channel);
}

/* Every rank with a channel to all; how many did not end well. */
static inline int ranks_run(const struct job *job)
{
    struct ranks_run run = {.job = job};
    int failures, fd = -1;

    assert_int_equal(nw_file_unnamed(run.file, &fd), NW_OK);
    failures = ranks_fork(job->count, ranks_work, &run);
    close(fd);
    return failures;
}

#endif
