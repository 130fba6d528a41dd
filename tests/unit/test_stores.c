/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of copies into and out of mapped memory: every offset within a cache
 * line and every length around one are copied, and no byte beside them
 * changes. */
#include "channel/memory/mapping.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROOM = 1024, MOST = 300 };

static void check(void (*copy)(void *, const void *, size_t))
{
    _Alignas(64) char from[ROOM], to[ROOM], expected[ROOM];

    for (int i = 0; i < ROOM; i++)
        from[i] = (char)(i * 7 + i / 256);
    for (size_t at = 0; at < 70; at++)
        for (size_t bytes = 0; bytes < MOST; bytes += 1 + bytes / 40) {
            size_t other = at * 13 % 67;

            memset(to, 0x55, ROOM);
            memset(expected, 0x55, ROOM);
            memcpy(expected + at, from + other, bytes);
            copy(to + at, from + other, bytes);
            assert_memory_equal(to, expected, ROOM);
        }
}

static void test_stores(void **state)
{
    (void)state;
    check(nw_stores);
}

static void test_loads(void **state)
{
    (void)state;
    check(nw_loads);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stores),
        cmocka_unit_test(test_loads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
