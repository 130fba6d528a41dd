/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of how ranks find each other by PMIx, with its test double: a fence
 * that ends at once, in time, with an error, or just after the wait has timed
 * out. */
#include "base/clock.h"
#include "channel/state.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { SOON_MS = 30, LATE_MS = 20000, NOT_FOUND = -46 };

static void (*at_once)(int), (*end)(int);
static bool ends_late; /* the fence ends after the next unlock of a mutex */
static uint64_t until_ns;

int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*next)(pthread_mutex_t *);
    int rc;

    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    rc = next(mutex);
    if (ends_late && nw_clock_ns() > until_ns) {
        ends_late = false;
        end(0);
    }
    return rc;
}

static void *end_soon(void *status)
{
    (void)usleep(1000 * SOON_MS);
    end(*(int *)status);
    return NULL;
}

static nw_status gather(uint32_t word, uint32_t all[2], uint64_t ms)
{
    until_ns = nw_clock_ns() + ms * 1000000;
    return nw_pmix_gather(&word, sizeof word, until_ns, all);
}

static int join(void **state)
{
    int32_t rank = -1, count = 0;
    void *pmix = dlopen("libpmix.so.2", RTLD_NOW);

    (void)state;
    assert_non_null(pmix);
    *(void **)&at_once = dlsym(pmix, "fake_pmix_at_once");
    *(void **)&end = dlsym(pmix, "fake_pmix_end");
    assert_true(at_once && end);
    setenv("PMIX_NAMESPACE", "fake", 1);
    setenv("FAKE_PMIX_SIZE", "2", 1);
    assert_int_equal(nw_pmix_join(&rank, &count), NW_OK);
    assert_true(rank == 0 && count == 2);
    return 0;
}

static void at_once_or_soon(void **state)
{
    pthread_t thread;
    int status = 0;

    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t all[2] = {0};

        at_once(!i);
        if (i)
            assert_int_equal(pthread_create(&thread, NULL, end_soon, &status),
                             0);
        assert_int_equal(gather(7 + i, all, LATE_MS), NW_OK);
        assert_true(all[0] == 7 + i && all[1] == 7 + i);
        if (i)
            pthread_join(thread, NULL);
    }
}

static void it_ends_in_an_error(void **state)
{
    pthread_t thread;
    int status = NOT_FOUND;
    uint32_t all[2];

    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, end_soon, &status), 0);
    assert_int_equal(gather(1, all, LATE_MS), NW_EIO);
    assert_string_equal(nw_error_text(), "PMIx fails to meet: NOT-FOUND");
    pthread_join(thread, NULL);
}

/* The fence ends long after the timeout, or as soon as the waiting function has
 * given up: from then on it may not use the state of that function. */
static void it_ends_too_late(void **state)
{
    uint32_t all[2];

    (void)state;
    for (int i = 0; i < 2; i++) {
        ends_late = i;
        assert_int_equal(gather(1, all, SOON_MS), NW_EIO);
        assert_string_equal(nw_error_text(), "not all ranks arrived in time");
        assert_false(ends_late);
        end(0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_once_or_soon),
        cmocka_unit_test(it_ends_in_an_error),
        cmocka_unit_test(it_ends_too_late),
    };

    return cmocka_run_group_tests(tests, join, NULL);
}
