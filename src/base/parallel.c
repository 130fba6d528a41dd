/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that take the next job until all jobs are taken. */
#include "base/parallel.h"
#include "base/array.h"
#include "base/cpus.h"
#include "base/status.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define PARALLEL_MOST 64

/* The number of threads that may still be started by this thread's parallel
 * runs. It points to a count that all threads of a run share; NULL: no limit
 * yet. */
static _Thread_local int32_t *spare;

/* Takes one thread from the limit; returns false if no thread is left. */
static bool take_spare(void)
{
    int32_t left = spare ? __atomic_load_n(spare, __ATOMIC_RELAXED) : 1;

    while (spare && left > 0 &&
           !__atomic_compare_exchange_n(spare, &left, left - 1, true,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    return left > 0;
}

static void add_spare(int32_t count)
{
    if (spare)
        __atomic_fetch_add(spare, count, __ATOMIC_RELAXED);
}

/* The state of nw_parallel_run: `next` is the next job to take, `started` the
 * number of threads in `thread`, and `most` the maximum of `started`. */
struct parallel_run {
    void (*job)(void *user, int32_t i);
    void *user;
    int32_t count, next;
    int32_t *spare;
    pthread_t thread[PARALLEL_MOST];
    int32_t started, most;
};

/* Does the next job; returns false if no job is left. */
static bool do_next(struct parallel_run *run)
{
    int32_t i = __atomic_fetch_add(&run->next, 1, __ATOMIC_RELAXED);

    if (i < run->count)
        run->job(run->user, i);
    return i < run->count;
}

static void *parallel_help(void *user)
{
    struct parallel_run *run = user;

    spare = run->spare;
    while (do_next(run))
        ;
    add_spare(1);
    return NULL;
}

/* Starts as many threads as the limit and the number of jobs allow. */
static void start_threads(struct parallel_run *run)
{
    while (run->started < run->most &&
           __atomic_load_n(&run->next, __ATOMIC_RELAXED) < run->count - 1 &&
           take_spare()) {
        if (pthread_create(&run->thread[run->started], NULL, parallel_help,
                           run)) {
            add_spare(1);
            run->most = run->started;
        } else {
            run->started++;
        }
    }
}

/* Other runs may need or release threads at any time. So each run tries to
 * start more threads between jobs, and a waiting thread gives its slot to
 * another run. */
void nw_parallel_run(void (*job)(void *user, int32_t i), void *user,
                     int32_t count, int32_t threads)
{
    struct parallel_run run = {.job = job, .user = user, .count = count};
    int32_t left = threads - 1, *outer = spare;

    if (!spare && threads > 1)
        spare = &left;
    run.spare = spare;
    threads = threads > count ? count : threads;
    run.most = threads > PARALLEL_MOST ? PARALLEL_MOST - 1 : threads - 1;
    do
        start_threads(&run);
    while (do_next(&run));
    if (run.started > 0) {
        add_spare(1);
        while (run.started > 0)
            pthread_join(run.thread[--run.started], NULL);
        add_spare(-1);
    }
    spare = outer;
}

struct trying {
    nw_status (*job)(void *user, int32_t i);
    void *user;
    pthread_mutex_t lock;
    int32_t failed; /* index of the first failed job; the number of jobs if none
                       failed */
    nw_status status;
    struct nw_error error;
};

static void try_one(void *user, int32_t i)
{
    struct trying *trying = user;
    nw_status status;

    if (__atomic_load_n(&trying->failed, __ATOMIC_RELAXED) < i)
        return;
    status = trying->job(trying->user, i);
    if (!status)
        return;
    pthread_mutex_lock(&trying->lock);
    if (i < trying->failed) {
        __atomic_store_n(&trying->failed, i, __ATOMIC_RELAXED);
        trying->status = status;
        nw_error_keep(&trying->error);
    }
    pthread_mutex_unlock(&trying->lock);
}

nw_status nw_parallel_try(nw_status (*job)(void *user, int32_t i), void *user,
                          int32_t count, int32_t threads)
{
    struct trying trying = {.job = job,
                            .user = user,
                            .lock = PTHREAD_MUTEX_INITIALIZER,
                            .failed = count};

    nw_parallel_run(try_one, &trying, count, threads);
    return trying.status ? nw_error_pass(trying.status, &trying.error) : NW_OK;
}

int32_t nw_parallel_claim(bool *taken, int32_t count)
{
    int32_t i = 0;

    while (__atomic_test_and_set(&taken[i], __ATOMIC_ACQUIRE))
        i = (i + 1) % count;
    return i;
}

void nw_parallel_release(bool *taken, int32_t which)
{
    __atomic_clear(&taken[which], __ATOMIC_RELEASE);
}

static nw_status do_task(void *user, int32_t i)
{
    struct nw_parallel_task *task = user;

    task[i].status = task[i].run(task[i].user);
    return task[i].status;
}

nw_status nw_parallel_pair(struct nw_parallel_task task[2], int32_t threads)
{
    task[0].status = task[1].status = NW_OK;
    return nw_parallel_try(do_task, task, 2, threads);
}

#define LONG ((size_t)1 << 21)

struct clearing {
    char *memory;
    size_t bytes;
};

static void clear_part(void *user, int32_t part)
{
    const struct clearing *clearing = user;
    struct nw_parallel_range mine =
        nw_parallel_range((int64_t)clearing->bytes, part);

    memset(clearing->memory + mine.first, 0, (size_t)(mine.end - mine.first));
}

nw_status nw_parallel_alloc(size_t count, size_t size, int32_t threads,
                            void *out)
{
    struct clearing clearing = {.bytes = count * size};
    nw_status status;

    if (size && (count > SIZE_MAX / size || clearing.bytes < LONG))
        return nw_alloc(count, size, out);
    status = nw_alloc_raw(count, size, &clearing.memory);
    if (status)
        return status;
    nw_parallel_run(clear_part, &clearing, NW_PARALLEL_RANGES, threads);
    memcpy(out, &clearing.memory, sizeof clearing.memory);
    return NW_OK;
}

/* Returns true if a launcher's variables say that this process is an MPI rank.
 */
static bool inside_mpi(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                                        "PMIX_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

int32_t nw_parallel_size(int32_t asked)
{
    unsigned long cpus[NW_CPU_WORDS];
    int cores;

    if (asked > 0)
        return asked;
    if (inside_mpi())
        return 1;
    cores = nw_cpus_count(cpus, nw_cpus_read(0, cpus));
    return cores < 1 ? 1 : cores > PARALLEL_MOST ? PARALLEL_MOST : cores;
}
