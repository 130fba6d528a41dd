/* SPDX-License-Identifier: BSD-3-Clause */
#include <nodewise/report.h>

#include "report/heat_map.h"
#include "report/svg.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* A ring: rank i sends 100 bytes to the next; rank 0 also sends 10,000 to
 * itself from GPU to GPU. */
static nw_pattern *ring(int32_t ranks)
{
    nw_pattern_builder *builder;
    nw_pattern *pattern;

    assert_int_equal(nw_pattern_builder_new(ranks, &builder), NW_OK);
    for (int32_t i = 0; i < ranks; i++)
        assert_int_equal(nw_pattern_builder_add(builder, i, (i + 1) % ranks,
                                                NW_KIND_HH, 100, 1),
                         NW_OK);
    assert_int_equal(
        nw_pattern_builder_add(builder, 0, 0, NW_KIND_GG, 10000, 4), NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &pattern), NW_OK);
    nw_pattern_builder_free(builder);
    return pattern;
}

/* Ten ranks in at most four cells: three ranks in each cell, and one in the
 * last. Each cell of three ranks has two messages inside and sends one to the
 * next. */
static void bins_add_up(void **state)
{
    nw_pattern *pattern = ring(10);
    struct nw_heat heat;

    (void)state;
    assert_int_equal(
        nw_heat_bin(&(struct nw_heat_what){pattern, NW_LAYER_HOST, NULL, 4},
                    &heat),
        NW_OK);
    assert_int_equal(heat.bin, 3);
    assert_int_equal(heat.cells, 4);
    assert_true(heat.total == 1000);
    assert_true(heat.bytes[0] == 200 && heat.bytes[1] == 100);
    assert_true(heat.bytes[3 * 4] == 100);
    assert_true(heat.low == 100 && heat.high == 200);
    nw_heat_fini(&heat);
    nw_pattern_free(pattern);
}

/* Placing rank r at 3 - r turns the ring around. */
static void places_move_cells(void **state)
{
    static const int32_t place[] = {3, 2, 1, 0};
    nw_pattern *pattern = ring(4);
    struct nw_heat heat;

    (void)state;
    assert_int_equal(
        nw_heat_bin(&(struct nw_heat_what){pattern, NW_LAYER_HOST, place, 8},
                    &heat),
        NW_OK);
    assert_true(heat.bytes[3 * 4 + 2] == 100 && heat.bytes[0 * 4 + 3] == 100);
    assert_true(heat.bytes[2 * 4 + 3] == 0);
    nw_heat_fini(&heat);
    nw_pattern_free(pattern);
}

static void steps_are_logarithmic(void **state)
{
    (void)state;
    assert_int_equal(nw_svg_step(1, 1, 1e9), 0);
    assert_int_equal(nw_svg_step(1e9, 1, 1e9), NW_SVG_STEPS - 1);
    assert_int_equal(nw_svg_step(3.2e4, 1, 1e9), NW_SVG_STEPS / 2);
    assert_int_equal(nw_svg_step(5, 5, 5), NW_SVG_STEPS - 1);
}

static void words_are_escaped(void **state)
{
    struct nw_text text = {0};

    (void)state;
    nw_svg_words(&text, "<a b='\"&\x01\xff\xc3\xa9\xef\xbf\xbf");
    assert_string_equal(text.data, "&lt;a b=&#39;&quot;&amp;"
                                   "\xef\xbf\xbd\xef\xbf\xbd\xc3\xa9"
                                   "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
    nw_text_fini(&text);
}

static void letters_show_the_ring(void **state)
{
    nw_pattern *pattern = ring(3);
    char *text;

    (void)state;
    pattern->program = strdup("./app <x>");
    assert_int_equal(nw_report_pattern_text(pattern, 80, &text), NW_OK);
    assert_string_equal(
        text, "3 ranks\nprogram: ./app <x>\n"
              "kind pairs most partners messages bytes mean message\n"
              "hh       3             1        3 300 B        100 B\n"
              "gg       1             0        4 10 kB       2.5 kB\n"
              "\nhost layer, senders down, receivers across; 100 B to 100 B a "
              "cell\n"
              "       0 ··██··\n       1 ····██\n       2 ██····\n"
              "\nGPU layer, senders down, receivers across; 10 kB to 10 kB a "
              "cell\n"
              "       0 ██····\n       1 ······\n       2 ······\n");
    free(text);
    nw_pattern_free(pattern);
}

/* A million ranks must not make a picture of a million squares. */
static void pictures_are_bounded(void **state)
{
    nw_pattern *pattern = ring(100000);
    char *text;

    (void)state;
    assert_int_equal(nw_report_pattern_svg(pattern, &text), NW_OK);
    assert_true(strlen(text) < 100000);
    assert_non_null(strstr(text, "a cell is 391 x 391 ranks"));
    free(text);
    nw_pattern_free(pattern);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bins_add_up),
        cmocka_unit_test(places_move_cells),
        cmocka_unit_test(steps_are_logarithmic),
        cmocka_unit_test(words_are_escaped),
        cmocka_unit_test(letters_show_the_ring),
        cmocka_unit_test(pictures_are_bounded),
    };

    setlocale(LC_CTYPE, "C.UTF-8");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
