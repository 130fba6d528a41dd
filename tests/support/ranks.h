/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs of a few processes for the tests of channels. Each rank is a forked
 * process with an open channel, and it ends with a failure if a MUST or SHOULD
 * in it fails. Files in shared memory that are left by ranks which were killed
 * or ended early are removed. Include this file after <cmocka.h>. */
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

/* Describes the work of the ranks of a job, and the options of their
 * channels. */
struct job {
    int32_t count;
    const char *provider; /* NULL: the channel chooses */
    enum nw_channel_protocol protocol;
    enum nw_channel_copy copy;
    size_t slot_bytes;
    uint32_t credits;
    bool gpu;
    bool staged;   /* GPU memory is accessible only by copies of the driver */
    bool second;   /* the second of two GPUs is current and is the only one
                      used */
    bool resident; /* a resident kernel makes their GPU memory accessible to
                      the host */
    void (*work)(nw_channel *channel, const struct job *job, int32_t rank);
    int messages; /* this and the following members are used only by `work` */
    uint64_t largest;
    const void *more;
};

/* Prints the failed condition and ends the process unless it is `good`. */
static inline void ranks_must(bool good, const char *file, int line,
                              const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s:%d: not %s (%s)\n", file, line, what, nw_error_text());
    _exit(1);
}

/* Removes the files in shared memory that the process left. It is called for
 * ranks only when all of them have ended, since libfabric's shm provider fails
 * if the files are removed earlier. */
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

/* Starts a process that calls `work` and then exits with 0; returns its id. */
static inline pid_t ranks_start(void (*work)(const void *about, int32_t rank),
                                const void *about, int32_t rank)
{
    pid_t child = fork();

    if (child < 0)
        abort();
    if (child)
        return child;
    signal(SIGSEGV, SIG_DFL); /* cmocka's handler would continue with the
                                 next test */
    alarm(getenv("NW_LONG") || getenv("NW_SHARE")
              ? 900
              : 300);      /* a rank that hangs fails after this time in
                              seconds */
    ranks_sweep(getpid()); /* left by an earlier process with this id */
    work(about, rank);
    exit(0);
}

/* Initialises libfabric in the parent process, once for all ranks of a test.
 * The first use of libfabric takes a tenth of a second to look for devices. Its
 * PSM provider also waits on core 0 while it measures a clock, which takes
 * seconds on a busy machine. */
static inline void ranks_load(void)
{
    static const char *const shared[] = {"shm", NULL};
    static bool loaded;
    struct nw_endpoint fabric = {0};

    if (!loaded && !nw_endpoint_open(shared, false, &fabric))
        nw_endpoint_close(&fabric);
    loaded = true;
}

/* The stage that a job has reached: a number that all its ranks see, 0 at the
 * start. Ranks wait for a stage instead of a fixed time, which a slow machine
 * may need for something else. */
static int *ranks_stage;

/* Says that the job has reached the stage. */
static inline void ranks_reach(int stage)
{
    __atomic_store_n(ranks_stage, stage, __ATOMIC_RELEASE);
}

/* Whether the job has reached the stage. */
static inline bool ranks_reached(int stage)
{
    return __atomic_load_n(ranks_stage, __ATOMIC_ACQUIRE) >= stage;
}

/* Waits until the job has reached the stage. */
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

/* Runs every rank in a process of its own; returns how many of them failed. */
static inline int ranks_fork(int32_t count,
                             void (*work)(const void *about, int32_t rank),
                             const void *about)
{
    pid_t child[RANKS_MOST];
    int failures = 0;

    ranks_load();
    ranks_begin_stages();
    fflush(NULL); /* otherwise each process writes the buffered output again */
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
    char file[NW_FILE_UNNAMED_PATH]; /* the file by which the ranks find each
                                        other */
};

/* Opens the channel of a rank, calls the job's work, and closes the channel. */
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
    options.timeout_ms = 120000; /* a busy machine may run other processes
                                    first */
    options.provider = job->provider;
    options.protocol = job->protocol;
    options.copy = job->copy;
    options.slot_bytes = job->slot_bytes;
    options.credits = job->credits;
    MUST(nw_channel_open(&options, &channel));
    job->work(channel, job, rank);
    nw_channel_close(channel);
}

/* Runs every rank with a channel to all others; returns how many of them
 * failed. */
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
