/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests in a program whose locale writes numbers with a comma (setlocale,
 * de_DE): what is read and written must be the same, byte by byte, as in the C
 * locale. */
#include "base/json.h"
#include "base/text.h"

#include <locale.h>
#include <nodewise/map.h>
#include <nodewise/report.h>
#include <nodewise/topology.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/nodewise-locale-XXXXXX";

/* glibc's compiled LC_NUMERIC: the magic number and six offsets; then the
 * decimal comma, the point between thousands, their grouping, both signs again
 * as characters, and the name of the encoding. */
static const unsigned char numeric[] =
    "\x14\x11\x03\x20\6\0\0\0\x20\0\0\0\x22\0\0\0\x24\0\0\0\x28\0\0\0\x2c\0\0\0"
    "\x30\0\0\0,\0.\0\3\3\0\0,\0\0\0.\0\0\0UTF-8";

static int write_locale(void **state)
{
    char path[64];
    FILE *file;

    (void)state;
    if (!mkdtemp(folder) || setenv("LOCPATH", folder, 1))
        return -1;
    snprintf(path, sizeof path, "%s/comma", folder);
    if (mkdir(path, 0700))
        return -1;
    strcat(path, "/LC_NUMERIC");
    file = fopen(path, "wb");
    if (!file || !fwrite(numeric, sizeof numeric, 1, file))
        return -1;
    return fclose(file);
}

static int remove_locale(void **state)
{
    char path[64];

    (void)state;
    snprintf(path, sizeof path, "%s/comma/LC_NUMERIC", folder);
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
    return rmdir(folder);
}

static void with_commas(bool commas)
{
    char sample[8];

    assert_non_null(setlocale(LC_NUMERIC, commas ? "comma" : "C"));
    snprintf(sample, sizeof sample, "%.1f", 1.5);
    assert_string_equal(sample, commas ? "1,5" : "1.5");
}

/* --- words --- */

static char *words(void)
{
    struct nw_text text = {0};
    struct nw_json json = {.text = &text};
    char quantity[64], *out;
    double value = 0;

    assert_true(nw_parse_double("2.75e3", &value) && value == 2750);
    assert_false(nw_parse_double("2,75", &value));
    nw_text_format(&text, "%g %.3f\n", 0.5, 1.25);
    nw_json_number(&json, NULL, 0.1);
    for (int unit = 0; unit < 3; unit++)
        nw_text_add(&text, nw_format_quantity(1536e-4, (enum nw_unit)unit,
                                              quantity, sizeof quantity));
    assert_int_equal(nw_text_take(&text, &out), NW_OK);
    return out;
}

/* --- a machine, what runs on it, and a report --- */

static nw_topology *machine(const char *source)
{
    nw_topology *topology;

    if (nw_topology_load(source, NULL, &topology))
        fail_msg("%s: %s", source, nw_error_text());
    return topology;
}

static char *machines(void)
{
    nw_topology *bundled = machine("magc-a");
    char *out;

    nw_topology_free(machine("hierarchy:2:2@1.5:10"));
    nw_topology_free(machine("summit:1"));
    assert_int_equal(nw_topology_write(bundled, &out), NW_OK);
    nw_topology_free(bundled);
    return out;
}

static char *report(void)
{
    nw_topology *topology = machine("magc-a");
    struct nw_report_input input = NW_REPORT_INPUT_INIT;
    struct nw_map_options options = NW_MAP_OPTIONS_INIT;
    struct nw_report_mapping shown = {.name = "mapped", .seconds = 0.0015};
    nw_mapping *mapping;
    nw_pattern *pattern;
    char *out;

    options.effort = NW_EFFORT_FAST;
    assert_int_equal(
        nw_pattern_generate("stencil2d5:dims=4x4,bytes=1500", &pattern), NW_OK);
    assert_int_equal(nw_map(topology, pattern, &options, &mapping, NULL),
                     NW_OK);
    shown.mapping = mapping;
    input.topology = topology;
    input.pattern = pattern;
    input.mapping = &shown;
    input.mapping_count = 1;
    input.topology_source = input.pattern_source = input.command = input.seed =
        "none";
    assert_int_equal(nw_report_html(&input, &out), NW_OK);
    nw_mapping_free(mapping);
    nw_pattern_free(pattern);
    nw_topology_free(topology);
    return out;
}

static void the_same(char *(*make)(void))
{
    char *points, *commas;

    with_commas(false);
    points = make();
    with_commas(true);
    commas = make();
    with_commas(true); // the locale of the library must not change
    with_commas(false);
    assert_string_equal(commas, points);
    assert_non_null(strchr(points, '.'));
    free(points);
    free(commas);
}

static void words_have_points(void **state)
{
    (void)state;
    the_same(words);
}

static void machines_have_points(void **state)
{
    (void)state;
    the_same(machines);
}

static void reports_have_points(void **state)
{
    (void)state;
    the_same(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_have_points),
        cmocka_unit_test(machines_have_points),
        cmocka_unit_test(reports_have_points),
    };

    return cmocka_run_group_tests(tests, write_locale, remove_locale);
}
