/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that take the next job until there is none. */
#include "base/crew.h"
#include "base/array.h"

#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CREW_MOST 64

struct crew {
    void (*job)(void *user, int32_t i);
    void *user;
    int32_t count, next;
};

static void *work(void *user)
{
    struct crew *crew = user;

    for (;;) {
        int32_t i = __atomic_fetch_add(&crew->next, 1, __ATOMIC_RELAXED);

        if (i >= crew->count)
            return NULL;
        crew->job(crew->user, i);
    }
}

void nw_crew_run(void (*job)(void *user, int32_t i), void *user, int32_t count,
                 int32_t threads)
{
    struct crew crew = {job, user, count, 0};
    pthread_t thread[CREW_MOST];
    int32_t started = 0;

    threads = threads > count ? count : threads;
    threads = threads > CREW_MOST ? CREW_MOST : threads;
    while (started < threads - 1 &&
           !pthread_create(&thread[started], NULL, work, &crew))
        started++;
    work(&crew);
    while (started > 0)
        pthread_join(thread[--started], NULL);
}

#define LONG ((size_t)1 << 21)

struct clearing {
    char *memory;
    size_t bytes;
};

static void clear_part(void *user, int32_t part)
{
    const struct clearing *clearing = user;
    struct nw_crew_part mine = nw_crew_part((int64_t)clearing->bytes, part);

    memset(clearing->memory + mine.first, 0, (size_t)(mine.end - mine.first));
}

nw_status nw_crew_alloc(size_t count, size_t size, int32_t threads, void *out)
{
    struct clearing clearing = {.bytes = count * size};
    nw_status status;

    if (size && (count > SIZE_MAX / size || clearing.bytes < LONG))
        return nw_alloc(count, size, out);
    status = nw_alloc_raw(count, size, &clearing.memory);
    if (status)
        return status;
    nw_crew_run(clear_part, &clearing, NW_CREW_PARTS, threads);
    memcpy(out, &clearing.memory, sizeof clearing.memory);
    return NW_OK;
}

static bool inside_mpi(void)
{
    static const char *const signs[] = {"OMPI_COMM_WORLD_SIZE", "PMI_RANK",
                                        "PMIX_RANK", "SLURM_PROCID"};

    for (size_t i = 0; i < sizeof signs / sizeof *signs; i++)
        if (getenv(signs[i]))
            return true;
    return false;
}

int32_t nw_crew_size(int32_t asked)
{
    cpu_set_t here;
    long cores;

    if (asked > 0)
        return asked;
    if (inside_mpi())
        return 1;
    cores = sched_getaffinity(0, sizeof here, &here)
                ? sysconf(_SC_NPROCESSORS_ONLN) /* more than a set holds */
                : CPU_COUNT(&here);
    return cores < 1 ? 1 : cores > CREW_MOST ? CREW_MOST : (int32_t)cores;
}
