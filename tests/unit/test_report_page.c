/* SPDX-License-Identifier: BSD-3-Clause */
#include <nodewise/map.h>
#include <nodewise/report.h>

#include "report/page/page.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct setting {
    nw_topology *topology;
    nw_pattern *pattern;
    nw_mapping *mapping[2];
    struct nw_report_mapping shown[2];
    struct nw_report_input input;
};

/* Two ranks on a machine of two groups of two cores: the default puts them into
 * the same group, the other mapping into different ones; 300 bytes are sent in
 * one direction. */
static void set_up(struct setting *set, const char *source)
{
    nw_pattern_builder *builder;

    assert_int_equal(nw_topology_load(source, NULL, &set->topology), NW_OK);
    assert_int_equal(nw_pattern_builder_new(2, &builder), NW_OK);
    assert_int_equal(nw_pattern_builder_add(builder, 0, 1, NW_KIND_HH, 300, 3),
                     NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &set->pattern), NW_OK);
    nw_pattern_builder_free(builder);
    for (int m = 0; m < 2; m++) {
        assert_int_equal(nw_mapping_new(set->topology, 2, &set->mapping[m]),
                         NW_OK);
        for (int32_t r = 0; r < 2; r++) {
            set->mapping[m]->node[r] = 0;
            set->mapping[m]->core[r] = m ? 2 * (1 - r) : r;
            set->mapping[m]->gpu[r] = -1;
        }
        set->shown[m] = (struct nw_report_mapping){m ? "after" : "before",
                                                   set->mapping[m], -1};
    }
    set->input = (struct nw_report_input)NW_REPORT_INPUT_INIT;
    set->input.topology = set->topology;
    set->input.pattern = set->pattern;
    set->input.mapping = set->shown;
    set->input.mapping_count = 2;
}

static void tear_down(struct setting *set)
{
    nw_mapping_free(set->mapping[0]);
    nw_mapping_free(set->mapping[1]);
    nw_pattern_free(set->pattern);
    nw_topology_free(set->topology);
}

static char *page_of(const struct setting *set)
{
    char *text;

    assert_int_equal(nw_report_html(&set->input, &text), NW_OK);
    return text;
}

static void shows_figures_by_hand(void **state)
{
    struct setting set;
    char *text;

    (void)state;
    set_up(&set, "hierarchy:2:2@1:10");
    text = page_of(&set);
    /* 300 bytes at distance 1 become 10: nine times more */
    assert_non_null(strstr(text, "<b>+900 %</b><span>hop-bytes</span>"
                                 "<small>300 B to 3 kB</small>"));
    /* links of a hierarchy have 1 byte/s */
    assert_non_null(strstr(text, "<td>300 B</td><td>300 s</td>"));
    assert_null(strstr(text, "congestion, GPU"));
    assert_null(strstr(text, ">simulated</th>"));
    free(text);
    set.shown[0].seconds = 2;
    set.shown[1].seconds = 1;
    text = page_of(&set);
    assert_non_null(strstr(text, "<b>-50 %</b><span>simulated</span>"
                                 "<small>2 s to 1 s</small>"));
    free(text);
    tear_down(&set);
}

/* With the mapping `after`, rank 0 is on core 2 and rank 1 on core 0, so that
 * their order changes. */
static void orders_ranks_by_core(void **state)
{
    struct setting set;
    struct nw_page page;

    (void)state;
    set_up(&set, "hierarchy:2:2@1:10");
    assert_int_equal(nw_page_init(&page, &set.input, 16), NW_OK);
    assert_int_equal(nw_page_order(&page, 0, NW_LAYER_HOST)->place[0], 0);
    assert_int_equal(nw_page_order(&page, 1, NW_LAYER_HOST)->place[0], 1);
    assert_int_equal(nw_page_order(&page, 1, NW_LAYER_HOST)->place[1], 0);
    assert_true(nw_page_order(&page, 0, NW_LAYER_HOST)->bytes == 300);
    nw_page_fini(&page);
    tear_down(&set);
}

/* Strings from files may contain anything, and must not become markup. */
static void escapes_every_word(void **state)
{
    static const char evil[] = "</title><script>x</script>\"'&\x01<b onx=1>";
    struct setting set;
    char *text;

    (void)state;
    set_up(&set, "hierarchy:2:2");
    set.pattern->program = strdup(evil);
    set.pattern->note = strdup(evil);
    set.pattern->partial = strdup(evil);
    set.shown[0].name = set.shown[1].name = evil;
    set.input.topology_source = set.input.pattern_source = evil;
    set.input.command = set.input.seed = evil;
    text = page_of(&set);
    /* only the script of the page itself */
    assert_non_null(strstr(text, "<script>/*<![CDATA[*/"));
    assert_null(strstr(strstr(text, "<script") + 1, "<script"));
    assert_null(strstr(text, "<b onx"));
    assert_null(strchr(text, '\x01'));
    assert_non_null(strstr(text, "&lt;script&gt;x&lt;/script&gt;&quot;&#39;"));
    free(text);
    assert_int_equal(nw_report_before_after_svg(&set.input, &text), NW_OK);
    assert_null(strstr(text, "<script"));
    free(text);
    tear_down(&set);
}

static void needs_nothing_else(void **state)
{
    struct setting set;
    char *text;

    (void)state;
    set_up(&set, "hierarchy:2:2");
    text = page_of(&set);
    assert_null(strstr(text, "http"));
    assert_null(strstr(text, "//"));
    assert_null(strstr(text, "src="));
    assert_null(strstr(text, "@import"));
    /* links lead to places in the page or to files that are contained in it */
    for (const char *at = text; (at = strstr(at, "href=")); at++)
        assert_true(!strncmp(at, "href=\"#", 7) ||
                    !strncmp(at, "href=\"data:text/plain;", 22));
    free(text);
    tear_down(&set);
}

/* Each link within the page has its target, also if the pattern is empty. */
static void links_have_targets(void **state)
{
    static const char *const sources[] = {"hierarchy:2:2", "magc-a"};

    (void)state;
    for (int i = 0; i < 4; i++) {
        struct setting set;
        char *text;

        set_up(&set, sources[i / 2]);
        set.pattern->messages[0] = i % 2 ? 0 : 3;
        text = page_of(&set);
        for (const char *at = text; (at = strstr(at, "href=\"#")); at++) {
            char target[64];

            assert_true(snprintf(target, sizeof target, " id=\"%.*s",
                                 (int)strcspn(at + 7, "\"") + 1, at + 7) < 64);
            assert_non_null(strstr(text, target));
        }
        free(text);
        tear_down(&set);
    }
}

static void the_same_input_gives_the_same_bytes(void **state)
{
    struct setting set;
    char *first, *second;

    (void)state;
    set_up(&set, "hierarchy:2:2");
    first = page_of(&set);
    second = page_of(&set);
    assert_string_equal(first, second);
    free(first);
    free(second);
    tear_down(&set);
}

static void refuses_what_does_not_fit(void **state)
{
    struct setting set;
    char *text = NULL;

    (void)state;
    set_up(&set, "hierarchy:2:2");
    set.input.mapping_count = 0;
    assert_int_equal(nw_report_html(&set.input, &text), NW_EINVAL);
    set.input.mapping_count = 2;
    set.mapping[1]->rank_count = 1;
    assert_int_equal(nw_report_html(&set.input, &text), NW_EINVAL);
    set.mapping[1]->rank_count = 2;
    assert_null(text);
    tear_down(&set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_figures_by_hand),
        cmocka_unit_test(orders_ranks_by_core),
        cmocka_unit_test(escapes_every_word),
        cmocka_unit_test(needs_nothing_else),
        cmocka_unit_test(links_have_targets),
        cmocka_unit_test(the_same_input_gives_the_same_bytes),
        cmocka_unit_test(refuses_what_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
