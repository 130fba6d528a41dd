/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of patterns: the builder, totals, and writing and reading the native
 * format. */
#include <nodewise/pattern.h>

#include "base/file.h"
#include "base/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* Reads the words as a file of that format. */
static nw_status read_words(const char *format, const char *words,
                            nw_pattern **out)
{
    char path[] = "/tmp/nodewise-pattern-XXXXXX", input[128];
    int fd = mkstemp(path);
    nw_status status;

    assert_true(fd >= 0);
    assert_int_equal(write(fd, words, strlen(words)), strlen(words));
    close(fd);
    snprintf(input, sizeof input, "%s%s%s", format, *format ? ":" : "", path);
    status = nw_pattern_read(input, NULL, out);
    unlink(path);
    return status;
}

static void assert_refused(const char *words, const char *what)
{
    nw_pattern *pattern = NULL;

    assert_int_equal(read_words("native", words, &pattern), NW_EFORMAT);
    assert_null(pattern);
    if (!strstr(nw_error_text(), what))
        fail_msg("'%s' lacks '%s'", nw_error_text(), what);
}

static void assert_same(const nw_pattern *a, const nw_pattern *b)
{
    size_t n = a->edge_count;

    assert_int_equal(a->rank_count, b->rank_count);
    assert_int_equal(n, b->edge_count);
    assert_memory_equal(a->row, b->row,
                        (size_t)(a->rank_count + 1) * sizeof *a->row);
    if (!n)
        return;
    assert_memory_equal(a->dst, b->dst, n * sizeof *a->dst);
    assert_memory_equal(a->kind, b->kind, n);
    assert_memory_equal(a->bytes, b->bytes, n * sizeof *a->bytes);
    assert_memory_equal(a->messages, b->messages, n * sizeof *a->messages);
    assert_int_equal(!a->size_row, !b->size_row);
    if (!a->size_row)
        return;
    assert_memory_equal(a->size_row, b->size_row,
                        (n + 1) * sizeof *a->size_row);
    assert_memory_equal(a->size_bucket, b->size_bucket, a->size_row[n]);
    assert_memory_equal(a->size_count, b->size_count,
                        a->size_row[n] * sizeof *a->size_count);
}

static nw_pattern_builder *new_builder(int32_t ranks)
{
    nw_pattern_builder *builder;

    assert_int_equal(nw_pattern_builder_new(ranks, &builder), NW_OK);
    return builder;
}

static void builder_sorts_and_sums(void **state)
{
    nw_pattern_builder *builder = new_builder(3);
    nw_pattern *p;

    (void)state;
    assert_int_equal(nw_pattern_builder_add(builder, 2, 1, NW_KIND_GG, 5, 1),
                     NW_OK);
    assert_int_equal(nw_pattern_builder_add(builder, 0, 2, NW_KIND_HH, 7, 2),
                     NW_OK);
    assert_int_equal(nw_pattern_builder_add(builder, 2, 1, NW_KIND_HH, 1, 1),
                     NW_OK);
    assert_int_equal(nw_pattern_builder_add(builder, 2, 1, NW_KIND_GG, 10, 3),
                     NW_OK);
    assert_int_equal(nw_pattern_builder_add(builder, 3, 1, NW_KIND_GG, 10, 3),
                     NW_EINVAL);
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_OK);
    assert_int_equal(p->edge_count, 3);
    assert_int_equal(p->row[1], 1);
    assert_int_equal(p->row[2], 1);
    assert_int_equal(p->kind[1], NW_KIND_HH);
    assert_int_equal(p->bytes[2], 15);
    assert_int_equal(p->messages[2], 4);
    assert_null(p->size_row);
    assert_int_equal(nw_pattern_total(p, NW_KIND_GG).bytes, 15);
    assert_int_equal(nw_pattern_total(p, NW_KIND_HH).edges, 2);
    assert_true(nw_pattern_has_gpu(p));
    nw_pattern_free(p);
    nw_pattern_builder_free(builder);
}

/* A pattern in which row r has r + 1 records, of which four go to each rank,
 * one of each kind. With a `step` that has no common factor with their number,
 * they are added in another order. */
static nw_pattern *rows_of_all_lengths(int32_t ranks, int32_t step)
{
    nw_pattern_builder *builder = new_builder(ranks);
    nw_pattern *p;

    for (int32_t r = 0; r < ranks; r++)
        for (int32_t i = 0; i <= r; i++) {
            int32_t at = step % (r + 1) ? i * step % (r + 1) : i;

            assert_int_equal(
                nw_pattern_builder_add(builder, r, at / NW_KIND_COUNT,
                                       (enum nw_kind)(at % NW_KIND_COUNT),
                                       (uint64_t)at + 1, 1),
                NW_OK);
        }
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_OK);
    nw_pattern_builder_free(builder);
    return p;
}

/* Rows that are already in order are not sorted. */
static void rows_of_any_length_are_sorted(void **state)
{
    nw_pattern *in_order = rows_of_all_lengths(70, 1);

    (void)state;
    assert_int_equal(in_order->bytes[in_order->row[70] - 1], 70);
    for (int32_t step = 71; step <= 97; step += 26) {
        nw_pattern *p = rows_of_all_lengths(70, step);

        assert_same(in_order, p);
        nw_pattern_free(p);
    }
    nw_pattern_free(in_order);
}

static void builder_refuses_a_sum_that_overflows(void **state)
{
    nw_pattern_builder *builder = new_builder(1);
    nw_pattern *p = NULL;

    (void)state;
    for (int i = 0; i < 2; i++)
        assert_int_equal(
            nw_pattern_builder_add(builder, 0, 0, NW_KIND_HH, UINT64_MAX, 1),
            NW_OK);
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_EFORMAT);
    assert_null(p);
    nw_pattern_builder_free(builder);
}

static void reads_the_example_of_the_page(void **state)
{
    char path[512];
    nw_pattern *p;

    (void)state;
    snprintf(path, sizeof path, "%s/pattern/valid/small.pattern",
             getenv("NW_FIXTURES"));
    assert_int_equal(nw_pattern_read(path, NULL, &p), NW_OK);
    assert_int_equal(p->rank_count, 4);
    assert_int_equal(p->edge_count, 5);
    assert_string_equal(p->program, "./jacobi -n 512");
    assert_null(p->partial);
    assert_int_equal(p->row[1], 1);
    assert_int_equal(p->row[2], 4);
    assert_int_equal(p->row[3], 4);
    assert_int_equal(p->row[4], 5);
    assert_int_equal(p->size_row[2], 2);
    assert_int_equal(p->size_row[3], 4);
    assert_int_equal(p->size_row[4], 4);
    assert_int_equal(p->size_bucket[2], 10);
    assert_int_equal(p->size_count[3], 16);
    assert_int_equal(p->kind[4], NW_KIND_GH);
    nw_pattern_free(p);
}

static void refuses_malformed_native_files(void **state)
{
    static const char *const bad[][2] = {
        {"nodewise pattern 2\nranks 1 edges 0\n", ":1: pattern version 2"},
        {"nodewise mapping 1\n", ":1: expected 'nodewise pattern 1'"},
        {"nodewise pattern 1\n", ":1: expected 'ranks N edges M'"},
        {"nodewise pattern 1\nranks 0 edges 0\n", ":2: a pattern needs"},
        {"nodewise pattern 1\nranks 2000000000 edges 0\n", ":2: 2000000000"},
        {"nodewise pattern 1\nranks 99999999999999999999 edges 0\n", ":2: "},
        {"nodewise pattern 1\nranks 2 edges 999999999999\n", ":2: 9999999999"},
        {"nodewise pattern 1\nranks -2 edges 1\n", "not '-2'"},
        {"nodewise pattern 1\nranks 2 edges 1\n", ":2: the file ends after 0"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 2 hh 1 1\n",
         ":3: rank 2 is outside 0 to 1"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 xx 1 1\n", "not 'xx'"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh nan 1\n", "not 'nan'"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1e3 1\n", "not '1e3'"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh -1 1\n", "not '-1'"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 5\n", "the line ends"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 1 1:1 x\n", "not 'x'"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 1 1:2\n",
         "more message sizes"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 3 2:1,1:1\n",
         "message sizes like"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 3 65:1\n",
         "message sizes like"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 3 5:1,\n",
         "message sizes like"},
        {"nodewise pattern 1\nranks 2 edges 2\n0 1 hh 1 1\n0 1 hh 1 1\n",
         ":4: edge 0 -> 1 hh occurs twice"},
        {"nodewise pattern 1\nranks 2 edges 2\n0 1 hh 1 1\n0 0 hh 1 1\n",
         ":4: edge 0 -> 0 hh is not in order"},
        {"nodewise pattern 1\nranks 2 edges 2\n1 1 hh 1 1\n0 0 hh 1 1\n",
         ":4: source 0 after 1"},
        {"nodewise pattern 1\nranks 2 edges 1\n0 1 hh 1 1\n1 1 hh 1 1\n",
         ":4: more than the 1 edge"},
        {"nodewise pattern 1\nranks 2 edges 0\nnote: a\nnote: b\n",
         ":4: 'note:' occurs twice"},
        {"nodewise pattern 1\nranks 2 edges 1\nphases: tp\nphases: tp\n",
         ":4: 'phases:' occurs twice"},
        {"nodewise pattern 1\nranks 2 edges 0\nnote: \\q\n", ":3: a backslash"},
        {"", "empty"},
        {"nodewise pattern 1\nranks 2 edges 0\nnote: \xff\n", "not UTF-8"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_refused(bad[i][0], bad[i][1]);
}

static nw_pattern *random_pattern(struct nw_random *random)
{
    int32_t ranks = 1 + (int32_t)nw_random_below(random, 20);
    nw_pattern_builder *builder = new_builder(ranks);
    size_t adds = nw_random_below(random, 60);
    nw_pattern *p;

    for (size_t i = 0; i < adds; i++) {
        int32_t src = (int32_t)nw_random_below(random, (uint64_t)ranks);
        int32_t dst = (int32_t)nw_random_below(random, (uint64_t)ranks);
        enum nw_kind kind = (enum nw_kind)nw_random_below(random, 4);
        uint64_t count = 1 + nw_random_below(random, 1000);

        assert_int_equal(nw_pattern_builder_add(builder, src, dst, kind,
                                                nw_random_next(random) >> 8,
                                                count),
                         NW_OK);
        if (nw_random_below(random, 2))
            assert_int_equal(nw_pattern_builder_add_size(
                                 builder, src, dst, kind,
                                 (int)nw_random_below(random, 65), count),
                             NW_OK);
    }
    assert_int_equal(nw_pattern_builder_build(builder, &p), NW_OK);
    nw_pattern_builder_free(builder);
    return p;
}

static void native_files_come_back_whole(void **state)
{
    struct nw_random random;

    (void)state;
    nw_random_init(&random, 11);
    for (int i = 0; i < 200; i++) {
        char path[] = "/tmp/nodewise-pattern-XXXXXX";
        nw_pattern *p = random_pattern(&random), *back;
        int fd = mkstemp(path);

        assert_true(fd >= 0);
        close(fd);
        p->program = strdup(" ./a \\x # b\n\xff Zürich ");
        p->note = strdup("");
        assert_int_equal(nw_pattern_write(p, path), NW_OK);
        assert_int_equal(nw_pattern_read(path, NULL, &back), NW_OK);
        assert_same(p, back);
        assert_string_equal(back->program, p->program);
        assert_string_equal(back->note, "");
        nw_pattern_free(p);
        nw_pattern_free(back);
        unlink(path);
    }
}

/* A pattern with enough lines for several threads. */
static nw_pattern *large_pattern(void)
{
    nw_pattern *p;

    assert_int_equal(
        nw_pattern_generate("stencil3d27:dims=27x24x24,bytes=1000000", &p),
        NW_OK);
    return p;
}

static nw_status read_file(const char *format, const char *path,
                           int32_t threads, nw_pattern **out)
{
    struct nw_pattern_read_options how = NW_PATTERN_READ_OPTIONS_INIT;
    char input[128];

    how.threads = threads;
    snprintf(input, sizeof input, "%s%s%s", format, *format ? ":" : "", path);
    *out = NULL;
    return nw_pattern_read(input, &how, out);
}

static void large_files_come_back_on_any_threads(void **state)
{
    static const char *const formats[] = {"native", "metis"};

    (void)state;
    for (int f = 0; f < 2; f++) {
        char path[] = "/tmp/nodewise-pattern-XXXXXX";
        nw_pattern *p = large_pattern(), *back;

        for (size_t e = 0; f && e < p->edge_count; e++)
            p->messages[e] = 1; /* a graph format has no other number of
                                   messages */
        close(mkstemp(path));
        assert_int_equal(nw_pattern_write_as(p, formats[f], path), NW_OK);
        for (int32_t threads = 1; threads <= 3; threads++)
            for (int named = 0; named < 2; named++) {
                assert_int_equal(
                    read_file(named ? formats[f] : "", path, threads, &back),
                    NW_OK);
                assert_same(p, back);
                nw_pattern_free(back);
            }
        nw_pattern_free(p);
        unlink(path);
    }
}

/* The weight of an edge of a ring with chords. */
static uint64_t chord_bytes(int32_t a, int32_t b)
{
    return (uint64_t)(a < b ? a * 1000 + b : b * 1000 + a) + 1;
}

#define RING 101 /* a prime: any step goes through all chords */

/* Writes the graph that connects each vertex with the next `reach` vertices on
 * either side. `step` sets the order of the neighbours. If `twice`, one
 * neighbour of rank 50 is written twice and its last neighbour is left out. */
static char *write_chords(int32_t reach, int32_t step, bool twice)
{
    char *words = NULL;
    size_t length;
    FILE *out = open_memstream(&words, &length);

    fprintf(out, "%d %d 1\n", RING, RING * reach);
    for (int32_t r = 0; r < RING; r++) {
        for (int32_t at = step, left = 2 * reach; left > 0;
             at = (at + step) % RING) {
            int32_t to = (r + at) % RING;

            if (!at || (at > reach && at < RING - reach))
                continue;
            if (!--left && twice && r == 50)
                to = (r + (at == 1 ? 2 : 1)) % RING;
            fprintf(out, " %d %d", to + 1, (int)chord_bytes(r, to));
        }
        fputc('\n', out);
    }
    fclose(out);
    return words;
}

/* Rows of ten and of eighty entries, in order and in another one. */
static void graphs_are_read_in_any_order(void **state)
{
    (void)state;
    for (int32_t reach = 5; reach <= 40; reach += 35)
        for (int32_t step = 1; step < RING; step += 33) {
            char *words = write_chords(reach, step, false);
            nw_pattern *p;

            assert_int_equal(read_words("metis", words, &p), NW_OK);
            assert_int_equal(p->edge_count, 2 * reach * RING);
            for (size_t e = 0; e < p->edge_count; e++) {
                int32_t r = (int32_t)e / (2 * reach);

                assert_int_equal(p->row[r], (size_t)r * 2 * (size_t)reach);
                assert_true(e == p->row[r] || p->dst[e - 1] < p->dst[e]);
                assert_int_equal(p->bytes[e], chord_bytes(r, p->dst[e]));
            }
            nw_pattern_free(p);
            free(words);
            words = write_chords(reach, step, true);
            p = NULL;
            assert_int_equal(read_words("metis", words, &p), NW_EFORMAT);
            assert_non_null(strstr(nw_error_text(), "occurs twice"));
            free(words);
        }
}

/* The offset at which the line before the middle of the text ends, and the
 * number of that line. */
static size_t middle_line(const char *text, size_t length, int *number)
{
    size_t at = length / 2;

    while (text[at - 1] != '\n')
        at++;
    *number = 1;
    for (size_t i = 0; i < at; i++)
        *number += text[i] == '\n';
    return at;
}

/* Writes the text with other words inserted before a line. */
static void write_with(const char *path, const char *text, size_t at,
                       const char *words)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fwrite(text, 1, at, file);
    fputs(words, file);
    fputs(text + at, file);
    assert_int_equal(fclose(file), 0);
}

/* Unusual lines in the middle of a large file are read correctly, or refused
 * with their line number. */
static void large_files_tell_the_line(void **state)
{
    static const struct {
        const char *format, *words, *what; /* NULL: right */
    } cases[] = {
        {"native", "# a remark\n\n", NULL},
        {"native", "x\n", "expected a rank, not 'x'"},
        {"native", "99999 0 hh 1 1\n", "rank 99999 is outside"},
        {"native", "0 1 hh 1 1\n", "not in order"},
        {"native", "15551 1 hh 1 99999999999999999999\n",
         "expected a number of messages"},
        {"native", "# M\xc3\xbcll\n", NULL},
        {"native", "\xff\n", "not UTF-8"},
        {"metis", "% a remark\n", NULL},
        {"metis", "1 2 z\n", "expected a vertex, not 'z'"},
        {"metis", "0 1\n", "vertex 0 is outside"},
    };
    nw_pattern *p = large_pattern();

    (void)state;
    for (size_t e = 0; e < p->edge_count; e++)
        p->messages[e] = 1;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[] = "/tmp/nodewise-pattern-XXXXXX", *text, what[160];
        nw_pattern *back;
        size_t length, at;
        int line;

        close(mkstemp(path));
        assert_int_equal(nw_pattern_write_as(p, cases[i].format, path), NW_OK);
        assert_int_equal(nw_file_read_text(path, &text, &length), NW_OK);
        at = middle_line(text, length, &line);
        write_with(path, text, at, cases[i].words);
        free(text);
        if (!cases[i].what) {
            assert_int_equal(read_file(cases[i].format, path, 2, &back), NW_OK);
            assert_same(p, back);
            nw_pattern_free(back);
        } else {
            assert_int_equal(read_file(cases[i].format, path, 2, &back),
                             NW_EFORMAT);
            snprintf(what, sizeof what, "%s:%d: ", path, line);
            assert_memory_equal(nw_error_text(), what, strlen(what));
            if (!strstr(nw_error_text(), cases[i].what))
                fail_msg("'%s' lacks '%s'", nw_error_text(), cases[i].what);
        }
        unlink(path);
    }
    nw_pattern_free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(builder_sorts_and_sums),
        cmocka_unit_test(rows_of_any_length_are_sorted),
        cmocka_unit_test(builder_refuses_a_sum_that_overflows),
        cmocka_unit_test(reads_the_example_of_the_page),
        cmocka_unit_test(refuses_malformed_native_files),
        cmocka_unit_test(native_files_come_back_whole),
        cmocka_unit_test(large_files_come_back_on_any_threads),
        cmocka_unit_test(graphs_are_read_in_any_order),
        cmocka_unit_test(large_files_tell_the_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
