/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/hostlist.h"
#include "base/random.h"
#include "topology/compose/compose.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Checks the expansion; `expected` has its names separated by blanks. */
static void expands_to(const char *text, const char *expected)
{
    struct nw_hostlist list = {0};
    char joined[512] = "";

    assert_int_equal(nw_hostlist_expand(text, &list), NW_OK);
    for (size_t i = 0; i < list.count; i++)
        snprintf(joined + strlen(joined), sizeof joined - strlen(joined),
                 "%s%s", i ? " " : "", list.name[i]);
    assert_string_equal(joined, expected);
    nw_hostlist_fini(&list);
}

static void expands_what_slurm_writes(void **state)
{
    (void)state;
    expands_to("localhost", "localhost");
    expands_to("n[001-003]", "n001 n002 n003");
    expands_to("n[9-11]", "n9 n10 n11");
    expands_to("a[1-2,7]b[0-1]", "a1b0 a1b1 a2b0 a2b1 a7b0 a7b1");
    expands_to("gpu-x,cn[08-10].site,z",
               "gpu-x cn08.site cn09.site cn10.site z");
    expands_to("[1-2]", "1 2");
    expands_to("n[2],n[2]", "n2 n2");
    /* variables often end in a line feed */
    expands_to("n[1-2]\n", "n1 n2");
    expands_to(" a, n[1-2] ,b\t\r\n", "a n1 n2 b");
}

static void refuses_what_no_list_is(void **state)
{
    static const struct {
        const char *text, *why;
    } bad[] = {
        {"", "a name is empty"},
        {"a,", "a name is empty"},
        {",a", "a name is empty"},
        {"a,,b", "a name is empty"},
        {"a, ,b", "a name is empty"},
        {"n[1-3", "a '[' without ']'"},
        {"n1]", "a ']' without '['"},
        {"n[]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[1,]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[1-]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[-1]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[1-2-3]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[a-c]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[[1]]", "a bracket holds numbers and ranges such as 1-3"},
        {"n[3-1]", "a range runs from the smaller number to the larger"},
        {"n[1-9999999999999999999]", "a number has more than 18 digits"},
        {"n[0-999999999999]", "more than 1048576 names"},
        {"n[0-9999][0-9999]", "more than 1048576 names"},
        {"a b", "a character no name can have"},
        {"a#b", "a character no name can have"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct nw_hostlist list = {0};
        char expected[200];

        assert_int_equal(nw_hostlist_expand("kept", &list), NW_OK);
        assert_int_equal(nw_hostlist_expand(bad[i].text, &list), NW_EFORMAT);
        snprintf(expected, sizeof expected, "host list '%s': %s", bad[i].text,
                 bad[i].why);
        assert_string_equal(nw_error_text(), expected);
        assert_int_equal(list.count, 1);
        nw_hostlist_fini(&list);
    }
}

static void refuses_long_names(void **state)
{
    struct nw_hostlist list = {0};
    char name[300];

    (void)state;
    memset(name, 'a', sizeof name);
    name[NW_HOSTNAME_MAX] = '\0';
    assert_int_equal(nw_hostlist_expand(name, &list), NW_OK);
    name[NW_HOSTNAME_MAX] = 'a';
    name[NW_HOSTNAME_MAX + 1] = '\0';
    assert_int_equal(nw_hostlist_expand(name, &list), NW_EFORMAT);
    nw_hostlist_fini(&list);
}

static void compresses_to(const char *names, const char *expected)
{
    struct nw_hostlist list = {0};
    char *text;

    assert_int_equal(nw_hostlist_expand(names, &list), NW_OK);
    assert_int_equal(
        nw_hostlist_compress((const char *const *)list.name, list.count, &text),
        NW_OK);
    assert_string_equal(text, expected);
    free(text);
    nw_hostlist_fini(&list);
}

static void compresses(void **state)
{
    char *text;

    (void)state;
    compresses_to("a", "a");
    compresses_to("n1,n2", "n[1,2]");
    compresses_to("n1,n2,n3,n5", "n[1-3,5]");
    compresses_to("n08,n09,n10,n11", "n[08-11]");
    compresses_to("n8,n9,n10,n011", "n[8-10,011]");
    compresses_to("n3,n2,n1", "n[3,2,1]");
    compresses_to("x,n1.a,n2.a,n3.a,n4.b", "x,n[1-3].a,n4.b");
    compresses_to("a1b0,a1b1,a2b0", "a1b[0,1],a2b0");
    compresses_to("n1234567890123456789012", "n1234567890123456789012");
    assert_int_equal(nw_hostlist_compress(NULL, 0, &text), NW_OK);
    assert_string_equal(text, "");
    free(text);
}

/* Any names that are compressed and expanded again are the same. */
static void comes_back_the_same(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 7);
    for (int round = 0; round < 300; round++) {
        const char *name[40];
        char space[40][16], *text;
        struct nw_hostlist list = {0};
        size_t count = 1 + nw_random_below(&random, 40);

        for (size_t i = 0; i < count; i++) {
            snprintf(space[i], sizeof space[i], "%s%0*d%s",
                     nw_random_below(&random, 4) ? "n" : "",
                     (int)nw_random_below(&random, 4),
                     (int)nw_random_below(&random, 12),
                     nw_random_below(&random, 5) ? "" : "x");
            name[i] = space[i];
        }
        assert_int_equal(nw_hostlist_compress(name, count, &text), NW_OK);
        assert_int_equal(nw_hostlist_expand(text, &list), NW_OK);
        assert_int_equal(list.count, count);
        for (size_t i = 0; i < count; i++)
            assert_string_equal(list.name[i], name[i]);
        nw_hostlist_fini(&list);
        free(text);
    }
}

/* Searches one name after the other: the first one that is exactly the same,
 * otherwise the first that is the same host, if all that are the same host have
 * one name. */
static int32_t find_one_by_one(char *const *name, size_t many, const char *host)
{
    int32_t found = NW_HOST_NONE;

    for (size_t i = 0; i < many; i++)
        if (!strcmp(name[i], host))
            return (int32_t)i;
    for (size_t i = 0; i < many; i++) {
        if (!nw_host_is_same(name[i], host))
            continue;
        if (found >= 0 && strcmp(name[i], name[found]))
            return NW_HOST_SEVERAL;
        found = found < 0 ? (int32_t)i : found;
    }
    return found;
}

static void finds_hosts_as_one_by_one(void **state)
{
    static const char *const words[] = {"n1",    "n1.a", "n1.b",  "n1-x.a",
                                        "n10",   "n10.", "n1-x",  "n",
                                        "n.a.b", "n.a",  "1.2.3", "1.2.4"};
    int count = sizeof words / sizeof *words;
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 3);
    for (int turn = 0; turn < 300; turn++) {
        size_t many = (size_t)nw_random_below(&random, 12);
        struct nw_host_index hosts;
        char *name[12];

        for (size_t i = 0; i < many; i++)
            name[i] = strdup(words[nw_random_below(&random, (uint64_t)count)]);
        assert_int_equal(nw_host_index_init(&hosts, name, many), NW_OK);
        for (int w = 0; w < count; w++)
            assert_int_equal(nw_host_index_find(&hosts, words[w]),
                             find_one_by_one(name, many, words[w]));
        nw_host_index_fini(&hosts);
        for (size_t i = 0; i < many; i++)
            free(name[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expands_what_slurm_writes),
        cmocka_unit_test(refuses_what_no_list_is),
        cmocka_unit_test(refuses_long_names),
        cmocka_unit_test(compresses),
        cmocka_unit_test(comes_back_the_same),
        cmocka_unit_test(finds_hosts_as_one_by_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
