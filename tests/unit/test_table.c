/* SPDX-License-Identifier: BSD-3-Clause */
#include <nodewise/report.h>

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static nw_table *two_columns(const char *first, const char *second)
{
    nw_table *table;

    assert_int_equal(nw_table_new(&table), NW_OK);
    nw_table_column(table, first, NW_ALIGN_LEFT);
    nw_table_column(table, second, NW_ALIGN_RIGHT);
    return table;
}

static void is(nw_table *table, const char *expected)
{
    char *text;

    assert_int_equal(nw_table_text(table, &text), NW_OK);
    assert_string_equal(text, expected);
    free(text);
    nw_table_free(table);
}

static void aligns_columns(void **state)
{
    nw_table *table = two_columns("name", "bytes");

    (void)state;
    nw_table_row(table, -1);
    nw_table_cell(table, "%s", "magc");
    nw_table_cell(table, "%d", 7);
    nw_table_row(table, -1);
    nw_table_cell(table, "left out");
    is(table, "name     bytes\nmagc         7\nleft out\n");
}

static void draws_trees(void **state)
{
    nw_table *table = two_columns("", "");
    int32_t root;

    (void)state;
    root = nw_table_row(table, -1);
    nw_table_cell(table, "root");
    nw_table_row(table, root);
    nw_table_cell(table, "a");
    nw_table_cell(table, "1");
    nw_table_row(table, root);
    nw_table_cell(table, "b");
    nw_table_cell(table, "10");
    is(table, "root\n├─a   1\n└─b  10\n");
}

static void follows_the_locale(void **state)
{
    nw_table *table = two_columns("", "");
    int32_t root;

    (void)state;
    setlocale(LC_CTYPE, "C");
    root = nw_table_row(table, -1);
    nw_table_cell(table, "root");
    nw_table_row(table, root);
    nw_table_cell(table, "a");
    nw_table_cell(table, "1");
    is(table, "root\n`-a  1\n");
    setlocale(LC_CTYPE, "C.UTF-8");
}

/* A hundred characters are wider than a terminal, and all of them stay; a line
 * end inside a cell must not begin a second line. */
static void keeps_all_words(void **state)
{
    nw_table *table = two_columns("", "");
    char *text;

    (void)state;
    nw_table_row(table, -1);
    nw_table_cell(table, "%0100d", 7);
    nw_table_cell(table, "a\nb");
    assert_int_equal(nw_table_text(table, &text), NW_OK);
    assert_true(strlen(text) > 100);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    free(text);
    nw_table_free(table);
}

static void may_be_empty(void **state)
{
    (void)state;
    is(two_columns("name", "bytes"), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(aligns_columns),     cmocka_unit_test(draws_trees),
        cmocka_unit_test(follows_the_locale), cmocka_unit_test(keeps_all_words),
        cmocka_unit_test(may_be_empty),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
