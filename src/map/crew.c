/* SPDX-License-Identifier: BSD-3-Clause */
/* Threads that take the next job until there is none. */
#include "map/crew.h"

#include <pthread.h>
#include <stddef.h>

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
